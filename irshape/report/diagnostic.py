"""What irshape says of a file: one fault, with its code and its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from irshape.report.catalogue import CATALOGUE

if TYPE_CHECKING:
    from irshape.report.fix import Fix

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)


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
        self.layer_name = layer_name
        self.layer_type = layer_type
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
    check knows how.
    """

    __slots__ = ("code", "fix", "hint", "message", "related", "severity", "where")

    def __init__(
        self,
        code: str,
        message: str,
        where: Where,
        severity: str | None = None,
        hint: str | None = None,
        related: tuple[Where, ...] = (),
    ) -> None:
        self.code = code
        self.severity = severity or CATALOGUE[code].severity
        self.message = message
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
