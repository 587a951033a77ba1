"""Two models that run on the same inputs in one process, and the first layer at which they differ.

Bisection over the corresponding layers finds this layer. After each layer, the tensors that later layers still read form a cut. If no
tensor of a cut differs, the layers before the cut are sound, and the fault is behind the cut. So halving finds a layer that differs
although none of its inputs does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence, Set
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from irshape.answers.matching import Matching
from irshape.api.inference import Inference
from irshape.api.reading import Reading
from irshape.editing.graph import Graph, edit
from irshape.editing.inputs import stateless
from irshape.editing.state import EditError
from irshape.files.writing import write_atomic
from irshape.model.finding import end_name
from irshape.model.model import SINKS, Model, Node, OutputPort
from irshape.model.public import Model as PublicModel
from irshape.model.public import published
from irshape.report.text import some
from irshape.running.inputs import Shapes
from irshape.running.results import FirstDifference, OutputDifference, Tolerance
from irshape.running.runner import RunFailure, Runner, RunningError
from irshape.xml.weights import Weights, WeightsError

if TYPE_CHECKING:
    from irshape.xml.source import Source

Runnable: TypeAlias = "Source | PublicModel | Graph | Inference"
"""What gives a model to run: a source of `irshape.read`, a model, a graph that was edited, or the answer of `irshape.reshape`."""
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
            except RunFailure as error:
                failures[side.letter] = str(error)
        if failures:
            return failures, []
        try:
            return {}, self.runner.ask(do="compare", a=runs["a"], b="b", pairs=pairs, group=feed.group)["differences"]
        except RunFailure as error:
            raise RunningError(f"the outputs cannot be compared: {error}") from None

    def begin(self, feed: Feed) -> str:
        """The fault of the first inference of the second model, whose new states are empty; an empty text without one."""
        import numpy

        b = self.b
        if b.graph is None or (self.a.graph is not None and _variables(b.graph) <= _variables(self.a.graph)):
            return ""
        model, paths = b.graph._draft.model, [os.path.join(self.folder, name) for name in ("begin.xml", "begin.npz")]
        write_atomic(paths[0], b.graph._draft.text()[0])
        places = {node.name: str(index) for index, node in enumerate(b.model.parameters)}
        with numpy.load(feed.other, allow_pickle=False) as arrays:
            numpy.savez(paths[1], **{str(index): arrays[places[node.name]] for index, node in enumerate(model.parameters)})
        outputs = [(index, index) for index in range(len(model.results))]
        try:
            self.runner.ask(do="read", model="begin", path=paths[0], weights=b._weights, modules=[])
            self.runner.ask(do="run", model="begin", outputs="begin", feeds=paths[1])
            found = self.runner.ask(do="compare", a=["begin"], b="begin", pairs=outputs)["differences"]
        except RunFailure as error:
            return f"the first inference, which begins with empty states, fails: {error}"
        empty = [end_name(node) for node, one in zip(model.results, found, strict=True) if 0 in one["shapes"][0]]
        return f"the first inference, which begins with empty states, gives no elements for {some(empty, 3)}" if empty else ""

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
            raise RunningError(f"the search for the first layer that differs ended, because model {letter} fails with more outputs: {why}")
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
    sources = ([port.source for port in node.inputs] for node in (a, b))
    inputs = [(one, two) for one, two in zip(*sources, strict=False) if one and two]
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


class Side:
    """A model that is run, as the file that OpenVINO reads; `name` is that of the source in messages."""

    def __init__(self, letter: str, source: Runnable, folder: str, reading: Reading) -> None:
        """Raises `RunningError` for a file that is not a whole IR, and the errors of `irshape.read`."""
        self.letter = letter
        self._folder = folder
        try:
            if isinstance(source, Inference):
                graph = edit(source.xml(), weights=source._inference.weights, opaque=source._inference.opaque)
            else:
                graph = source if isinstance(source, Graph) else edit(source, **reading)
            self._take(graph)
        except EditError as error:
            raise RunningError(str(error)) from None
        self.name = self.model.document.path or self.model.name
        self._weights = self._weights_file(self._graph._draft.original)
        self.graph: Graph | None = None  # the model with its states

    def _take(self, graph: Graph) -> None:
        """Run the model that a graph has become."""
        if graph._draft.state.journal:
            model, weights = graph._draft.built()
            model.document.weights = weights
            graph = edit(published(model), opaque=graph._draft.opaque)
        self._graph = graph
        self.model: Model = graph._draft.model
        self.opaque = graph._draft.opaque
        self._files: dict[tuple[OutputPort, ...], str] = {}

    def begun(self) -> Set[str]:
        """The ids of the variables to which the model gives a first value."""
        return {node.attributes["variable_id"] for node in self.model.of_type("ReadValue") if node.inputs}

    def open(self, kept: Set[str]) -> None:
        """Make an input of each variable but those `kept`, and an output of each. Raises `RunningError`."""
        if self.model.of_type("ReadValue"):
            graph = self._graph
            mark = graph.mark()
            try:
                stateless(graph._draft, kept)
                self._take(graph)
                self.graph = graph
            except EditError as error:
                raise RunningError(f"{self.name}: {error}") from None
            finally:
                graph.undo(mark)

    def read(self, runner: Runner, taps: Sequence[OutputPort] = ()) -> None:
        """Let a process read the model, with some tensors as further outputs. Raises `RunFailure`."""
        path = self._files.get(tuple(taps)) or self._written(tuple(taps))
        if runner.models.get(self.letter) == path:
            return
        modules = [name.replace("-", "_") for name in self.model.extensions if name]
        runner.ask(do="read", model=self.letter, path=path, weights=self._weights, modules=modules)
        runner.models[self.letter] = path

    def _written(self, taps: tuple[OutputPort, ...]) -> str:
        """The path of the model with further outputs."""
        graph = self._graph
        mark = graph.mark()
        try:
            for port in taps:
                graph.result(graph[port.node.id].outputs[port.index])
            text = graph._draft.text()[0]
        finally:
            graph.undo(mark)
        path = self._files[taps] = os.path.join(self._folder, f"{self.letter}{len(self._files)}.xml")
        write_atomic(path, text)
        return path

    def _weights_file(self, weights: Weights | None) -> str:
        """The path of the weights: their own, or a copy if they are no file; empty if there are none."""
        if weights is None or weights.are_unread:
            return ""
        try:
            weights.open()
            if type(weights) is Weights and weights.path is not None:
                return os.path.abspath(weights.path)
            path = os.path.join(self._folder, f"{self.letter}.bin")
            write_atomic(path, weights.copy_to)
            return path
        except WeightsError as error:
            if any(node.type == "Const" for graph in self.model.graphs() for node in graph.nodes):
                raise RunningError(f"{self.name}: {error.message}") from None
            return ""


class Ends(NamedTuple):
    """Which inputs and outputs of two models are compared.

    `inputs` has for each input of `b` the number of that of `a`, and `outputs` pairs of numbers with the name of the output. `taps` are
    tensors of `a` that only `b` gives as outputs: they come behind the outputs of `a`. `missing` are outputs of `a` that `b` does not give,
    and `renamed` those that have another name in `b`.
    """

    inputs: list[int]
    outputs: list[tuple[int, int, str]]
    taps: list[OutputPort]
    missing: list[str]
    renamed: dict[str, str]


def ends_of(a: Model, b: Model, matching: Matching) -> Ends:
    """Pair the inputs and the outputs of two models. Raises `RunningError` for an input of `b` that `a` does not have."""
    origin = matching.origin
    inputs: dict[Node, int] = {}
    _pair(inputs, a.parameters, b.parameters, (_share_names, lambda one, other: origin.get(other) is one))
    _pair_rest(inputs, a.parameters, b.parameters)
    if lacking := [node.name for node in b.parameters if node not in inputs]:
        raise RunningError(f"the first model has no input for {some(lacking, 3)} of the second one, so their inputs cannot be equal")
    results: dict[Node, int] = {}
    taps: list[OutputPort] = []
    sources = {node: (origin.get(source.node), source.index) for node in b.results if (source := _source(node)) is not None}
    rules = (
        _share_names,
        lambda one, other: one.name == other.name and bool(one.name),
        lambda one, other: (source := _source(one)) is not None and sources.get(other) == (source.node, source.index),
    )
    _pair(results, a.results, b.results, rules)
    for node, (producer, index) in sources.items():
        if node not in results and producer is not None:
            results[node] = len(a.results) + len(taps)
            taps.append(OutputPort(producer, index))
    _pair_rest(results, a.results, b.results)
    if not results:
        raise RunningError("the models have no output in common")
    outputs = [(results[node], number, end_name(node)) for number, node in enumerate(b.results) if node in results]
    missing = [end_name(node) for index, node in enumerate(a.results) if index not in results.values()]
    names = [(end_name(a.results[index]), name) for index, _, name in outputs if index < len(a.results)]
    return Ends([inputs[node] for node in b.parameters], outputs, taps, missing, {one: other for one, other in names if one != other})


def _variables(graph: Graph) -> set[str]:
    return {node.attributes["variable_id"] for node in graph._draft.model.of_type("ReadValue")}


def _pair(found: dict[Node, int], ours: Sequence[Node], theirs: Sequence[Node], rules: Sequence[Callable[[Node, Node], bool]]) -> None:
    """Give nodes of the second model the numbers of those of the first that a rule pairs with them, rule by rule, each number once."""
    for is_pair in rules:
        for node in theirs:
            if node not in found:
                taken = found.values()
                index = next((index for index, one in enumerate(ours) if index not in taken and is_pair(one, node)), None)
                if index is not None:
                    found[node] = index


def _pair_rest(found: dict[Node, int], ours: Sequence[Node], theirs: Sequence[Node]) -> None:
    """Pair what is left by the order, if as many are left in both models: then all have other names."""
    free = [index for index in range(len(ours)) if index not in found.values()]
    rest = [node for node in theirs if node not in found]
    if len(free) == len(rest):
        found |= zip(rest, free, strict=True)


def _share_names(a: Node, b: Node) -> bool:
    return not _names(a).isdisjoint(_names(b))


def _names(node: Node) -> set[str]:
    source = OutputPort(node, 0) if node.outputs else _source(node)
    return set(source.names) if source is not None and source.names else {node.name if node.outputs or source is None else source.node.name}


def _source(node: Node) -> OutputPort | None:
    return node.inputs[0].source if node.inputs else None
