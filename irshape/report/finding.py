"""A fault without its place: what a rule says, and which port or attribute it is about."""

from __future__ import annotations

from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR


class Finding:
    """A fault as an op's rule sees it; the engine adds layer, line and column.

    `port` is the index of a port of the layer, inputs before outputs, `attribute` the XML name of one of its attributes, `offset` the
    place of another tag of the layer, such as an entry of a port map, in bytes.
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
        """Whether it is an error in a layer that something depends on."""
        return CATALOGUE[self.code].severity == ERROR

    def __repr__(self) -> str:
        return f"Finding({self.code}, {self.message!r})"
