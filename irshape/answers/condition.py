"""A condition on sizes, as answers list it."""

from __future__ import annotations

from typing import Final, NamedTuple

from irshape.inference.forms import GUARD
from irshape.inference.run import Guard
from irshape.report.form import Form, described


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


CONDITION: Final = Form(
    condition=("text: a Python expression", "text"),
    symbols="texts",
    guards=described("the layers that demand it; empty for a condition of the given ranges", GUARD.list()),
)
