"""What irshape says of a file: one fault, with its code and its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Self

from irshape.report.catalogue import CATALOGUE
from irshape.shape.limits import DEFAULT

if TYPE_CHECKING:
    from irshape.report.fix import Fix

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)

# Names and messages are quoted up to so many characters, for a file may name each of its layers with a megabyte.
_LONGEST: Final = 1_000


def clipped(text: str) -> str:
    """A text from a file as a diagnostic quotes it: the middle of a very long one is left out."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}… {len(text) - _LONGEST:,} characters …{text[-_LONGEST // 2 :]}"


class Where:
    """A place in a file: as much of it as is known.

    `path` names the bodies around the layer, outermost first (`loop_3 / body`); `line` counts from 1, `column` from 1 in
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
        """The layer as reports say it; None if the place is in none."""
        if self.layer_id is None and self.layer_type is None:
            return None
        return {"id": self.layer_id, "name": self.layer_name, "type": self.layer_type, "path": self.path or None}

    def __repr__(self) -> str:
        known = ", ".join(f"{slot}={value!r}" for slot in self.__slots__ if (value := getattr(self, slot)))
        return f"Where({known})"


class Diagnostic:
    """One fault of a file.

    `code` stands in `irshape.report.CATALOGUE` with its meaning and cure; `severity` is `error`, `warning` or `note`;
    `related` are other places that explain this one; `hint` says what would mend it, where that is known; `fix` does it, where a
    check knows how. `count` is how many faults it stands for: 1, but for the line that counts those which are not listed.
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

    def __repr__(self) -> str:
        return f"Diagnostic({self.code}, {self.severity}, {self.message!r}, {self.where!r})"

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`; a place that is not known is null."""
        where = self.where
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": where.file,
            "layer": where.layer,
            "port": where.port,
            "line": where.line,
            "column": where.column,
            "offset": where.offset,
            "hint": self.hint,
            "fix": self.fix and self.fix.to_dict(),
        }


class Diagnostics(list[Diagnostic]):
    """What was found, in the order it was found: of each code and severity so many, and how many there were in all.

    Whoever reports asks for room first, so that a fault that will not be listed costs next to nothing.
    """

    __slots__ = ("counts", "most")

    def __init__(self, most: int = DEFAULT.faults) -> None:
        super().__init__()
        self.most = most
        self.counts: dict[tuple[str, str], int] = {}

    def has_room(self, code: str, severity: str | None = None) -> bool:
        """Count one more, by default of the code's own severity; whether it is to be listed."""
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

    def without(self, is_left_out: Callable[[str], bool]) -> Diagnostics:
        """Those whose code is not left out."""
        kept = Diagnostics(self.most)
        kept.extend(one for one in self if not is_left_out(one.code))
        kept.counts.update({kind: count for kind, count in self.counts.items() if not is_left_out(kind[0])})
        return kept

    def listed(self) -> list[Diagnostic]:
        """By their places, a line behind the last of its kind counting those that are not listed."""
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
    """What stands for the faults that are not listed, after the last one that is."""
    where = Where(last.where.file, line=last.where.line, column=last.where.column, offset=last.where.offset)
    return Diagnostic(last.code, f"… {count:,} more of {last.code} (limit faults)", where, last.severity, count=count)
