"""Diagnostics, their places and fixes, and text of a file as a report may print it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, Self

from irshape.report.catalogue import CATALOGUE
from irshape.shape.compilation import NamedTuple
from irshape.shape.limits import DEFAULT


def escape(text: str) -> str:
    """Text from a file with every character escaped that is not printable: controls, newlines, bidi marks, lone surrogates."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else character.encode("unicode_escape").decode() for character in text)


class Edit(NamedTuple):
    """Replace the bytes from `start` to `end` of a file by `text`. Lines and columns give the same range, counted from 1."""

    start: int
    end: int
    text: str
    line: int
    column: int
    end_line: int
    end_column: int


class Fix(NamedTuple):
    """The edits that mend a fault.

    A safe fix does not change what OpenVINO reads, or makes the file record what OpenVINO computes. For any other fix the author must
    decide whether it is right. `evidence` is why a safe fix is safe.
    """

    title: str
    edits: tuple[Edit, ...]
    is_safe: bool
    evidence: str = ""

    def __str__(self) -> str:
        """The title, and the evidence if there is any: `record [1,8] (the model computes it)`."""
        return f"{self.title} ({self.evidence})" if self.evidence else self.title


def compatible(fixes: Iterable[Fix]) -> tuple[list[Fix], list[Edit]]:
    """The fixes that can be applied together, and all their edits in order. Of fixes that overlap, the first is kept.

    Equal edits count as one; two insertions at the same place overlap.
    """
    chosen: list[Fix] = []
    taken: list[Edit] = []
    known: set[Edit] = set()
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in known]
        if not any(_overlaps(edit, taken) for edit in new):
            chosen.append(fix)
            known.update(new)
            for edit in new:
                insort(taken, edit)
    return chosen, taken


def _overlaps(edit: Edit, taken: list[Edit]) -> bool:
    """Whether an edit overlaps one of the taken edits. These do not overlap each other, so only the nearest two can."""
    at = bisect_left(taken, edit)
    return any(
        (edit.start < other.end and other.start < edit.end) or edit.start == edit.end == other.start == other.end
        for other in taken[max(at - 1, 0) : at + 1]
    )


ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)

# The rank of a fault that no search has found to be a cause.
LAST: Final = 9

# Names and messages are quoted up to this many characters, because a hostile file may give each layer a name of a megabyte.
_LONGEST: Final = 1_000


def clipped(text: str) -> str:
    """A text from a file as a diagnostic quotes it: a very long text without its middle."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}… {len(text) - _LONGEST:,} characters …{text[-_LONGEST // 2 :]}"


class Where:
    """A place in a file; a part that is unknown is None.

    `file` is the path as it was given. `layer_id`, `layer_name` and `layer_type` are those of the layer, `port` is the id of the port, as
    text. `path` names the enclosing layers and bodies, outermost first (`loop_3 / body`). `line` counts from 1, `column` from 1 in
    characters, `offset` from 0 in bytes of the file.
    """

    __slots__ = ("column", "file", "layer_id", "layer_name", "layer_type", "line", "offset", "path", "port")

    def __init__(
        self,
        file: str | None = None,
        layer_id: str | None = None,
        layer_name: str | None = None,
        layer_type: str | None = None,
        port: str | None = None,
        line: int | None = None,
        column: int | None = None,
        offset: int | None = None,
        path: str = "",
    ) -> None:
        self.file = file
        self.layer_id = layer_id
        self.layer_name = layer_name and clipped(layer_name)
        self.layer_type = layer_type and clipped(layer_type)
        self.port = port
        self.line = line
        self.column = column
        self.offset = offset
        self.path = path

    @property
    def layer(self) -> dict[str, str | None] | None:
        """The layer as an object of the report; None if the place is in no layer."""
        if self.layer_id is None and self.layer_type is None:
            return None
        return {"id": self.layer_id, "name": self.layer_name, "type": self.layer_type, "path": self.path or None}

    def about(self) -> str:
        """The layer and port: `loop / Add add_1, port 0`; empty outside all layers."""
        if not self.layer_type and self.layer_id is None:
            return ""
        around = f"{escape(self.path)} / " if self.path else ""
        name = escape(self.layer_name) if self.layer_name else f"layer {self.layer_id}"
        return f"{around}{escape(self.layer_type or 'layer')} {name}{'' if self.port is None else f', port {self.port}'}"

    def _content(self) -> tuple[object, ...]:
        return tuple([getattr(self, slot) for slot in self.__slots__])

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Where) and self._content() == other._content())

    def __hash__(self) -> int:
        return hash((self.file, self.layer_id, self.port, self.offset, self.path))  # the line and the column may be set later

    def __str__(self) -> str:
        """The file, line and column: `model.xml:13:17`."""
        return ":".join([str(part) for part in (escape(self.file or "<input>"), self.line, self.column) if part is not None])

    def __repr__(self) -> str:
        known = ", ".join(f"{slot}={value!r}" for slot in self.__slots__ if (value := getattr(self, slot)))
        return f"Where({known})"


class Diagnostic:
    """A fault of a file.

    `code` is a key of `irshape.report.catalogue.CATALOGUE`, which has its meaning and remedy. `severity` is `error`, `warning` or `note`.
    `message` says what is wrong and `where` is the place. `related` are other places that explain this one. `hint` suggests a remedy and
    `fix` holds the edits of one, if known. `count` is the number of faults: 1, except for the diagnostic that stands for those beyond the
    limit. `caused_by` is the fault from which this one follows, None for a cause, and `consequences` are the numbers of faults that follow
    from this one, and of other layers that have them. Causes of a lower `rank` come first. Diagnostics with the same content are equal,
    also those of different runs. `str(diagnostic)` is the line of `irshape check`.
    """

    __slots__ = ("caused_by", "code", "consequences", "count", "fix", "hint", "message", "rank", "related", "severity", "where")

    def __init__(
        self,
        code: str,
        message: str,
        where: Where,
        severity: str | None = None,
        hint: str | None = None,
        related: tuple[Where, ...] = (),
        count: int = 1,
    ) -> None:
        self.code = code
        self.count = count
        self.severity = severity or CATALOGUE[code].severity
        self.message = clipped(message)
        self.where = where
        self.hint = hint
        self.related = related
        self.fix: Fix | None = None
        self.caused_by: Diagnostic | None = None
        self.consequences = (0, 0)
        self.rank = LAST

    def __getattr__(self, name: str) -> NoReturn:
        hint = f"; its place has it: where.{name}" if hasattr(Where, name) else ""
        raise AttributeError(f"'Diagnostic' has no attribute {name!r}{hint}", name=name, obj=self)

    @property
    def key(self) -> tuple[object, ...]:
        """What stays the same if the severity changes."""
        return self.code, self.where, self.message

    def _content(self) -> tuple[object, ...]:
        return tuple([getattr(self, slot) for slot in self.__slots__])

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Diagnostic) and self._content() == other._content())

    def __hash__(self) -> int:
        return hash((self.code, self.where))  # the message of a fault that others follow from grows

    def __str__(self) -> str:
        """The line of the command line: `model.xml:13:17: R302 warning: message [Parameter mask, port 0]`."""
        severity = "" if self.severity == ERROR else f"{self.severity}: "
        about = self.where.about()
        return f"{self.where}: {self.code} {severity}{escape(self.message)}{about and f' [{about}]'}"

    def __repr__(self) -> str:
        return f"Diagnostic({self.code}, {self.severity}, {self.message!r}, {self.where!r})"

    def _with_severity(self, severity: str) -> Diagnostic:
        other = Diagnostic(self.code, self.message, self.where, severity, self.hint, self.related, self.count)
        other.fix, other.caused_by, other.consequences, other.rank = self.fix, self.caused_by, self.consequences, self.rank
        return other

    def to_dict(self) -> dict[str, Any]:
        """The diagnostic as an object of `schemas/report.schema.json`; an unknown part of the place is null."""
        from irshape.report.form import DIAGNOSTIC

        return DIAGNOSTIC(self)


# The code that says the same of each layer: a formula that is cut short.
_ONE_FOR_ALL: Final = "N104"
# How the message begins that stands for the faults beyond a limit.
BEYOND: Final = "… "


class Diagnostics(list[Diagnostic]):
    """Diagnostics in the order of discovery, at most `most` of each code and severity, with a count of all.

    A caller asks `has_room` before it makes a diagnostic, so that a fault beyond the limit costs almost nothing.
    """

    __slots__ = ("counts", "most")

    def __init__(self, most: int = DEFAULT.faults) -> None:
        super().__init__()
        self.most = most
        self.counts: dict[tuple[str, str], int] = {}

    def has_room(self, code: str, severity: str | None = None) -> bool:
        """Count a fault and return whether to list it. The default severity is that of the code."""
        kind = (code, severity or CATALOGUE[code].severity)
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        return count <= self.most

    def __iadd__(self, others: Iterable[Diagnostic]) -> Self:  # type: ignore[override, misc]
        found = others if isinstance(others, Diagnostics) else list(others)
        if found or isinstance(found, Diagnostics):
            counts = found.counts if isinstance(found, Diagnostics) else Counter((one.code, one.severity) for one in found)
            for kind, count in counts.items():
                self.counts[kind] = self.counts.get(kind, 0) + count
            self.extend(found)
        return self

    def replaced(self, *others: Iterable[Diagnostic]) -> Diagnostics:
        """Other diagnostics, with the same limit."""
        found = Diagnostics(self.most)
        for one in others:
            found += one
        return found

    def soften(self, fault: Diagnostic) -> None:
        kind, softer = (fault.code, ERROR), (fault.code, WARNING)
        self.counts[kind] -= 1
        self.counts[softer] = self.counts.get(softer, 0) + 1
        fault.severity = WARNING

    def without(self, is_left_out: Callable[[str], bool]) -> Diagnostics:
        """The diagnostics without those of some codes."""
        return self.judged(lambda code, severity: None if is_left_out(code) else severity)

    def judged(self, severity_of: Callable[[str, str], str | None]) -> Diagnostics:
        """The diagnostics with other severities, by code and severity; None leaves a diagnostic out."""
        kept = Diagnostics(self.most)
        for one in self:
            if (severity := severity_of(one.code, one.severity)) is not None:
                kept.append(one if severity == one.severity else one._with_severity(severity))
        for (code, before), count in self.counts.items():
            if (severity := severity_of(code, before)) is not None:
                kept.counts[code, severity] = kept.counts.get((code, severity), 0) + count
        return kept

    def listed(self) -> list[Diagnostic]:
        """The diagnostics in order, linked. After the last of a code and severity, one more counts those beyond the limit."""
        if not self:
            return []
        ordered = linked(self)
        seen: Counter[tuple[str, str]] = Counter()
        found: list[Diagnostic] = []
        for one in ordered:
            kind = (one.code, one.severity)
            seen[kind] += 1
            most = 1 if one.code == _ONE_FOR_ALL else self.most
            if seen[kind] <= most:
                found.append(one)
            if seen[kind] == most < self.counts.get(kind, 0):
                found.append(_rest(one, self.counts[kind] - most))
        return found


def linked(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics by their causes, and by place: each cause, then what follows from it.

    A fault whose cause is not among them is a cause. A cause of errors is an error.
    """
    listed = list(found)
    roots: dict[int, Diagnostic] = {}
    if any(one.caused_by is not None for one in listed):
        listed, roots = _rooted(listed)

    def order(one: Diagnostic) -> tuple[object, ...]:
        root = roots.get(id(one), one)
        return root.rank, root.where.offset or 0, root.code, root.message, root is not one, one.where.offset or 0, one.code

    return sorted(listed, key=order)


def _rooted(listed: list[Diagnostic]) -> tuple[list[Diagnostic], dict[int, Diagnostic]]:
    """The diagnostics, each linked to the first cause that is among them; and these causes, by the consequence."""
    present = {one.key: one for one in reversed(listed)}
    causes: dict[int, tuple[object, ...]] = {}
    for one in listed:
        cause, key = one.caused_by, None
        while cause is not None:
            if (there := present.get(cause.key)) is not None and there is not one:
                key = there.key
            cause = cause.caused_by
        if key is not None:
            causes[id(one)] = key
    errors = {causes[id(one)] for one in listed if id(one) in causes and one.severity == ERROR}
    kept = [one._with_severity(ERROR) if one.key in errors and one.severity != ERROR else one for one in listed]
    present = {one.key: one for one in reversed(kept)}
    roots: dict[int, Diagnostic] = {}
    followers: dict[int, list[Diagnostic]] = {}
    for before, one in zip(listed, kept, strict=True):
        key = causes.get(id(before))
        one.caused_by = None if key is None else present[key]
        one.consequences = (0, 0)
        if one.caused_by is not None:
            roots[id(one)] = one.caused_by
            followers.setdefault(id(one.caused_by), []).append(one)
    for one in kept:
        if own := followers.get(id(one)):
            places = {(each.where.path, each.where.layer_id) for each in own} - {(one.where.path, one.where.layer_id)}
            one.consequences = (sum(each.count for each in own), len(places))
    return kept, roots


def causes(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics that follow from no other one."""
    return [one for one in found if one.caused_by is None]


def _rest(last: Diagnostic, count: int) -> Diagnostic:
    """The diagnostic that stands for the faults beyond the limit, at the place of the last listed one."""
    where = Where(last.where.file, line=last.where.line, column=last.where.column, offset=last.where.offset)
    limit = "" if last.code == _ONE_FOR_ALL else " (limit faults)"
    rest = Diagnostic(last.code, f"{BEYOND}{count:,} more of {last.code}{limit}", where, last.severity, count=count)
    rest.caused_by = last.caused_by
    return rest
