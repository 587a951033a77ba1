"""The two models of a comparison: their files, and which inputs and outputs of one are those of the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from irshape.answers.matching import Matching
from irshape.api.inference import Inference
from irshape.api.reading import Reading
from irshape.editing.graph import Graph, edit
from irshape.editing.state import EditError
from irshape.files.writing import write_atomic
from irshape.model.model import Model, Node, OutputPort
from irshape.model.public import Model as PublicModel
from irshape.model.public import published
from irshape.report.text import some
from irshape.running.runner import Runner, RunningError
from irshape.xml.weights import Weights, WeightsError

if TYPE_CHECKING:
    from irshape.xml.source import Source


class Side:
    """A model that is run, as the file that OpenVINO reads; `name` is that of the source in messages."""

    def __init__(self, letter: str, source: Source | PublicModel | Graph | Inference, folder: str, reading: Reading) -> None:
        """Raises `RunningError` for a file that is not a whole IR, and the errors of `irshape.read`."""
        self.letter = letter
        try:
            if isinstance(source, Inference):
                graph = edit(source.xml(), weights=source._inference.weights, opaque=source._inference.opaque)
            else:
                graph = source if isinstance(source, Graph) else edit(source, **reading)
            if graph._draft.state.journal:
                model, weights = graph._draft.built()
                model.document.weights = weights
                graph = edit(published(model), opaque=graph._draft.opaque)
        except EditError as error:
            raise RunningError(str(error)) from None
        self._graph = graph
        self.model: Model = graph._draft.model
        self.opaque = graph._draft.opaque
        self.name = self.model.document.path or self.model.name
        self._folder = folder
        self._weights = self._weights_file(graph._draft.original)
        self._files: dict[tuple[OutputPort, ...], str] = {}

    def read(self, runner: Runner, taps: Sequence[OutputPort] = ()) -> None:
        """Let a process read the model, with some tensors as further outputs. Raises `Refusal`."""
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
    tensors of `a` that only `b` gives as outputs: they come behind the outputs of `a`. `missing` are outputs of `a` that `b` does not give.
    """

    inputs: list[int]
    outputs: list[tuple[int, int, str]]
    taps: list[OutputPort]
    missing: list[str]


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
    _pair(results, a.results, b.results, (_share_names, lambda one, other: one.name == other.name and bool(one.name)))
    for node in b.results:
        source = _source(node)
        if node not in results and source is not None and source.node in origin:
            results[node] = len(a.results) + len(taps)
            taps.append(OutputPort(origin[source.node], source.index))
    _pair_rest(results, a.results, b.results)
    if not results:
        raise RunningError("the models have no output in common")
    outputs = [(results[node], number, output_name(node)) for number, node in enumerate(b.results) if node in results]
    missing = [output_name(node) for index, node in enumerate(a.results) if index not in results.values()]
    return Ends([inputs[node] for node in b.parameters], outputs, taps, missing)


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


def output_name(node: Node) -> str:
    """The name of an output: that of its tensor, or of the layer that gives it."""
    return next(iter(sorted(_names(node))), node.name)


def _share_names(a: Node, b: Node) -> bool:
    return not _names(a).isdisjoint(_names(b))


def _names(node: Node) -> set[str]:
    source = OutputPort(node, 0) if node.outputs else _source(node)
    return set(source.names) if source is not None and source.names else {node.name if node.outputs or source is None else source.node.name}


def _source(node: Node) -> OutputPort | None:
    return node.inputs[0].source if node.inputs else None
