"""A condition on sizes, as answers list it."""

from __future__ import annotations

from typing import Any, NamedTuple

from irshape.inference.run import Guard


class Condition(NamedTuple):
    """A condition on sizes, in Python's syntax, with its symbols and the guards that demand it.

    A condition without guards is the range that the question gave a symbol.
    """

    text: str
    symbols: tuple[str, ...]
    guards: tuple[Guard, ...]

    @property
    def branch(self) -> str:
        """The body that demands the condition, if this body need not run: `then_body of If_3`; else empty."""
        return self.guards[0].branch if self.guards else ""

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/sizes.schema.json`."""
        return {"condition": self.text, "symbols": list(self.symbols), "guards": [guard.to_dict() for guard in self.guards]}
