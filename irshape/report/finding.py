"""Findings: faults that a rule reports, before the engine adds the layer and its place."""

from __future__ import annotations

from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.shape.compilation import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Finding:
    """A fault that an operation's rule reports; the engine adds layer, line and column.

    `port` is the position of a port of the layer, inputs before outputs; `attribute` is the XML name of one of its attributes; `offset` is
    the offset in bytes of another tag of the layer, for example an entry of a port map.
    """

    __slots__ = ("attribute", "code", "hint", "message", "offset", "port")

    def __init__(
        self,
        code: str,
        message: str,
        port: int | None = None,
        attribute: str | None = None,
        hint: str | None = None,
        *,
        offset: int | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.port = port
        self.attribute = attribute
        self.hint = hint
        self.offset = offset

    @property
    def is_error(self) -> bool:
        """Whether the fault is an error in a live layer."""
        return CATALOGUE[self.code].severity == ERROR

    def __repr__(self) -> str:
        return f"Finding({self.code}, {self.message!r})"
