"""Two models that run on the same inputs in one process, and the first layer at which they differ.

Bisection over the corresponding layers finds this layer. After each layer, the tensors that later layers still read form a cut. If no
tensor of a cut differs, the layers before the cut are sound, and the fault is behind the cut. So halving finds a layer that differs
although none of its inputs does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final, NamedTuple

from irshape.answers.matching import Matching
from irshape.model.model import SINKS, Node, OutputPort
from irshape.running.inputs import Shapes
from irshape.running.results import FirstDifference, OutputDifference, Tolerance
from irshape.running.runner import Refusal, Runner, RunningError
from irshape.running.sides import Ends, Side, ends_of

# A random output of a few bits is the same by chance in some runs.
_REPEATS: Final = 4
_ENDS: Final = frozenset({"Parameter", "Const", *SINKS})


class Feed(NamedTuple):
    """The inputs of a run: the shapes for each model, the files for the runs of `a` (several for a batch), and the file for `b`.

    `group` is the batch of each run of `a` if all inputs have it, else 0: an output may hold the samples within its blocks.
    """

    shapes: Shapes
    shapes_of_b: Shapes
    own: list[str]
    other: str
    group: int = 0


class Pair:
    """Two models whose runs are compared, with the files and the process that this takes."""

    def __init__(self, a: Side, b: Side, folder: str, runner: Runner, tolerance: Tolerance) -> None:
        self.a = a
        self.b = b
        self.folder = folder
        self.runner = runner
        self.tolerance = tolerance
        self.matching = Matching(a.model, b.model)
        self.ends: Ends = ends_of(a.model, b.model, self.matching)

    def run(
        self, feed: Feed, taps: Sequence[OutputPort], others: Sequence[OutputPort], pairs: list[tuple[int, int]]
    ) -> tuple[dict[str, str], list[dict[str, Any]]]:
        """Run both models, with some tensors as further outputs, and compare pairs of outputs; or tell why each model that fails does."""
        failures: dict[str, str] = {}
        runs = {"a": [f"a{index}" for index in range(len(feed.own))], "b": ["b"]}
        for side, further, paths in ((self.a, taps, feed.own), (self.b, others, [feed.other])):
            try:
                side.read(self.runner, further)
                for name, path in zip(runs[side.letter], paths, strict=True):
                    self.runner.ask(do="run", model=side.letter, outputs=name, feeds=path)
            except Refusal as error:
                failures[side.letter] = str(error)
        if failures:
            return failures, []
        try:
            return {}, self.runner.ask(do="compare", a=runs["a"], b="b", pairs=pairs, group=feed.group)["differences"]
        except Refusal as error:
            raise RunningError(f"the outputs cannot be compared: {error}") from None

    def repeat(self, feed: Feed, pairs: list[tuple[int, int]], names: list[str]) -> None:
        """Raise `RunningError` if the first model gives other outputs in further runs with the same inputs."""
        mine = [(index, index) for index, _ in pairs]
        for _ in range(_REPEATS):
            self.runner.ask(do="run", model="a", outputs="again", feeds=feed.own[0])
            for name, one in zip(names, self.runner.ask(do="compare", a=["a0"], b="again", pairs=mine)["differences"], strict=True):
                if not OutputDifference.of(name, one, self.tolerance).is_same:
                    raise RunningError(f"the first model gives other numbers for output {name} in a second run, as with RandomUniform")


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
