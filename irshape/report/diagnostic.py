"""Diagnostics: the faults of a file, each with its code and its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Self

from irshape.report.catalogue import CATALOGUE
from irshape.report.printable import escape
from irshape.shape.limits import DEFAULT

if TYPE_CHECKING:
    from irshape.report.fix import Fix

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)

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

    def about(self, shown: Callable[[str], str] = str) -> str:
        """The layer and port: `loop / Add add_1, port 0`; empty outside all layers. `shown` shortens a name."""
        if not self.layer_type and self.layer_id is None:
            return ""
        name = shown(escape(self.layer_name) if self.layer_name else f"layer {self.layer_id}")
        text = f"{escape(self.layer_type or 'layer')} {name}"
        if self.path:
            text = f"{escape(self.path)} / {text}"
        return text if self.port is None else f"{text}, port {self.port}"

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
    limit. Diagnostics with the same content are equal, also those of different runs. `str(diagnostic)` is the line of `irshape check`.
    """

    __slots__ = ("code", "count", "fix", "hint", "message", "related", "severity", "where")

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

    def with_severity(self, severity: str) -> Diagnostic:
        """The same diagnostic with another severity."""
        other = Diagnostic(self.code, self.message, self.where, severity, self.hint, self.related, self.count)
        other.fix = self.fix
        return other

    def to_dict(self) -> dict[str, Any]:
        """The diagnostic as an object of `schemas/report.schema.json`; an unknown part of the place is null."""
        from irshape.report.form import DIAGNOSTIC

        return DIAGNOSTIC(self)


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

    def soften(self, fault: Diagnostic) -> None:
        """Make an error a warning."""
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
                kept.append(one if severity == one.severity else one.with_severity(severity))
        for (code, before), count in self.counts.items():
            if (severity := severity_of(code, before)) is not None:
                kept.counts[code, severity] = kept.counts.get((code, severity), 0) + count
        return kept

    def listed(self) -> list[Diagnostic]:
        """The diagnostics by place. After the last of a code and severity, one more counts those beyond the limit."""
        if not self:
            return []
        by_place = sorted(self, key=lambda one: (one.where.offset or 0, one.code))
        seen: Counter[tuple[str, str]] = Counter()
        found: list[Diagnostic] = []
        for one in by_place:
            kind = (one.code, one.severity)
            seen[kind] += 1
            if seen[kind] <= self.most:
                found.append(one)
            if seen[kind] == self.most < self.counts.get(kind, 0):
                found.append(_rest(one, self.counts[kind] - self.most))
        return found


def _rest(last: Diagnostic, count: int) -> Diagnostic:
    """The diagnostic that stands for the faults beyond the limit, at the place of the last listed one."""
    where = Where(last.where.file, line=last.where.line, column=last.where.column, offset=last.where.offset)
    return Diagnostic(last.code, f"… {count:,} more of {last.code} (limit faults)", where, last.severity, count=count)
