"""The two models of a comparison: their files, and which inputs and outputs of one are those of the other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from irshape.answers.matching import Matching
from irshape.editing.graph import Graph, edit
from irshape.editing.state import EditError
from irshape.files.writing import write_atomic
from irshape.model.model import Model, Node, OutputPort
from irshape.model.public import published
from irshape.running.runner import Runner, RunningError
from irshape.xml.weights import Weights, WeightsError

if TYPE_CHECKING:
    from irshape.api.reading import Reading
    from irshape.model.public import Model as PublicModel
    from irshape.xml.source import Source


class Side:
    """A model that is run, as the file that OpenVINO reads; `name` is that of the source in messages."""

    def __init__(self, letter: str, source: Source | PublicModel | Graph, folder: str, reading: Reading) -> None:
        """Raises `RunningError` for a file that is not a whole IR, and the errors of `irshape.read`."""
        self.letter = letter
        try:
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
    inputs = _paired(a.parameters, b.parameters, matching)
    if lacking := [node.name for node, index in zip(b.parameters, inputs, strict=True) if index is None]:
        raise RunningError(f"the first model has no input for {', '.join(map(repr, lacking))} of the second one, so no values can be equal")
    outputs: list[tuple[int, int, str]] = []
    taps: list[OutputPort] = []
    found = _paired(a.results, b.results, matching)
    for number, (node, index) in enumerate(zip(b.results, found, strict=True)):
        source = _source(node)
        if index is None and source is not None and (origin := matching.origin.get(source.node)) is not None:
            index = len(a.results) + len(taps)
            taps.append(OutputPort(origin, source.index))
        if index is not None:
            outputs.append((index, number, output_name(node)))
    if not outputs:
        raise RunningError("the models have no output in common")
    known = {index for index, _, _ in outputs}
    return Ends(
        [index for index in inputs if index is not None],
        outputs,
        taps,
        [output_name(node) for index, node in enumerate(a.results) if index not in known],
    )


def output_name(node: Node) -> str:
    """The name of an output: that of its tensor, or of the layer that gives it."""
    return next(iter(sorted(_names(node))), node.name)


def _paired(ours: Sequence[Node], theirs: Sequence[Node], matching: Matching) -> list[int | None]:
    """For each input or output of the second model the number of that of the first: by tensor names, by the graphs, and by the order."""
    found: dict[Node, int] = {}
    free = dict.fromkeys(range(len(ours)))
    by_name = [(index, node) for node in theirs for index in free if _names(ours[index]) & _names(node)]
    by_graph = [(ours.index(matching.origin[node]), node) for node in theirs if matching.origin.get(node) in ours]
    for pairs in (by_name, by_graph):
        for index, node in pairs:
            if node not in found and index in free:
                found[node] = index
                del free[index]
    rest = [node for node in theirs if node not in found]
    if len(rest) == len(free) and len(ours) == len(theirs):  # all have other names
        found |= zip(rest, free, strict=True)
    return [found.get(node) for node in theirs]


def _names(node: Node) -> set[str]:
    source = OutputPort(node, 0) if node.outputs else _source(node)
    return set(source.names) if source is not None and source.names else {node.name if node.outputs or source is None else source.node.name}


def _source(node: Node) -> OutputPort | None:
    return node.inputs[0].source if node.inputs else None
