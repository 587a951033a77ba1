"""Reasons: which layers tie the open axes of inputs and variables together."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from irshape.answers.signature.discovery import Discovery
from irshape.inference.forms import GUARD
from irshape.inference.run import Guard
from irshape.model.model import Node
from irshape.report.form import Form, word


class Because(NamedTuple):
    """An open axis of an input or a variable that is not a symbol of its own: its size, and the guards that demand it.

    `reason` is `demanded`, if the requirements leave no other size; else it is the choice that was made: `broadcast` (equal sizes, and
    not 1), `product`, `read` (as many elements as the model reads) or `carried` (what the variable is assigned).
    """

    name: str
    axis: int
    size: str
    reason: str
    guards: tuple[Guard, ...]


BECAUSE: Final = Form(
    name="text: an input or a variable",
    axis="count",
    size="text: its size in the signature",
    reason=word("demanded", "broadcast", "product", "read", "carried"),
    guards=GUARD.list("the layers that demand it"),
)


def because(found: Discovery) -> list[Because]:
    """Every replacement of an open axis, in the order of the inputs."""
    variables = {node.name: variable(node) for node in found.state}
    made: dict[tuple[int, int], Because] = {}
    for step in found.steps:
        for one in step.unifier.replacements:
            symbol = step.unifier.symbols.get(one.atom)
            if symbol is not None and symbol.axis >= 0 and not step.unifier.is_multiple(one):
                size = found.sizes.get((symbol.owner, symbol.axis), "?")
                guards = tuple(dict.fromkeys(demand.guard for demand in one.demands))
                name = variables.get(symbol.owner, symbol.owner)
                made.setdefault((symbol.order, symbol.axis), Because(name, symbol.axis, size, one.reason, guards))
    return [made[key] for key in sorted(made)]


def variable(node: Node) -> str:
    """The name of the variable that a ReadValue reads."""
    op: Any = node.op
    return str(getattr(op, "variable_id", "") or node.name)
