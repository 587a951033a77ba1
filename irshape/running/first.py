"""The first layer at which two models differ, by bisection over the layers that correspond.

After each layer, the tensors that later layers still read form a cut. If no tensor of a cut differs, the layers before it are sound, and
the fault is behind it; so halving finds a layer that differs although nothing that it reads does.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from irshape.model.model import SINKS, Node, OutputPort
from irshape.running.results import FirstDifference, OutputDifference
from irshape.running.runner import RunningError

if TYPE_CHECKING:
    from irshape.running.pair import Feed, Pair

_ENDS: Final = frozenset({"Parameter", "Const", *SINKS})


def first_difference(pair: Pair, feed: Feed) -> FirstDifference:
    """The first layer that differs for some inputs. Raises `RunningError` if there is none, or a model with more outputs fails."""
    layers = _layers(pair)
    last = _last_readers(pair, layers)
    runs = 0

    def differing(tapped: list[tuple[OutputPort, OutputPort]]) -> list[OutputDifference]:
        nonlocal runs
        runs += 1
        starts = len(pair.a.model.results), len(pair.b.model.results)
        pairs = [(starts[0] + index, starts[1] + index) for index in range(len(tapped))]
        failures, found = pair.run(feed, [one for one, _ in tapped], [one for _, one in tapped], pairs)
        for letter, why in failures.items():
            raise RunningError(f"the search ended: model {letter} fails with more outputs: {why}")
        return [OutputDifference.of(one.node.name, difference, pair.tolerance) for (one, _), difference in zip(tapped, found, strict=True)]

    def is_other(end: int) -> bool:
        """Whether a tensor that the layer at a position or one before it gives to a later layer differs."""
        ports = [ports for at in range(end + 1) if last[at] > end for ports in _outputs(*layers[at])]
        return not all(one.is_same for one in differing(ports))

    low, high = -1, len(layers) - 1
    if high < 0 or not is_other(high):
        raise RunningError("no layer that both models have differs: the difference comes from layers that only one of them has")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_other(middle) else (middle, high)
    a, b = layers[high]
    outputs = _outputs(a, b)
    inputs = [
        (one, two) for one, two in zip((port.source for port in a.inputs), (port.source for port in b.inputs), strict=False) if one and two
    ]
    found = differing([*outputs, *inputs])
    output = next((one for one in found[: len(outputs)] if not one.is_same), found[0])
    return FirstDifference(a.name, b.name, a.type, a.key, output, found[len(outputs) :], runs)


def _layers(pair: Pair) -> list[tuple[Node, Node]]:
    """The corresponding layers that compute something from the inputs, in the order of the first model."""
    computed: set[Node] = set()
    for node in pair.a.model:
        if node.type in ("Parameter", "ReadValue") or any(producer in computed for producer in node.producers):
            computed.add(node)
    return [(a, b) for a, b in pair.matching.pairs() if a in computed and a.type not in _ENDS and _outputs(a, b)]


def _outputs(a: Node, b: Node) -> list[tuple[OutputPort, OutputPort]]:
    """The outputs of two corresponding layers that layers of the first model read."""
    return [(one, two) for one, two in zip(a.outputs, b.outputs, strict=False) if one.readers]


def _last_readers(pair: Pair, layers: list[tuple[Node, Node]]) -> list[float]:
    """For each layer the position of the last one that reads it, directly or through layers that only one model has."""
    positions = {a: at for at, (a, _) in enumerate(layers)}
    reach: dict[Node, float] = {}
    for node in reversed(list(pair.a.model)):
        readers = node.consumers
        reach[node] = max((positions.get(one, reach.get(one, -1)) for one in readers), default=inf if node.type in SINKS else -1)
    return [reach[a] for a, _ in layers]
