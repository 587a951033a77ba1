"""Random edits of graphs, and the facts of a draft beside those of a fresh inference of its text."""

from collections.abc import Iterator
from random import Random
from typing import Any

import irshape
from irshape import EditError, Graph, Layer, Tensor
from irshape.editing.facts import BodyFacts, Facts
from irshape.editing.layers import Body, layer_of, tensor_of
from irshape.editing.state import State
from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.inputs import recorded_inputs
from irshape.inference.run import Run
from irshape.inference.verdict import infer
from irshape.model.model import Model
from irshape.shape.dim import Dim, bounds

_KEPT = ("Const", "Parameter", "Result", "ReadValue", "Assign")


def graphs_of(graph: Graph | Body) -> Iterator[Graph | Body]:
    """A graph and all bodies in it."""
    yield graph
    for layer in graph:
        for body in layer.bodies.values():
            yield from graphs_of(body)


class RandomEditor:
    """Edits a graph and the bodies in it at random; edits that make no graph are refused, and change nothing.

    `graph` is the one of these graphs that is edited next.
    """

    def __init__(self, graph: Graph, seed: int) -> None:
        self.whole = graph
        self.graph: Graph | Body = graph
        self.has_bodies = len(list(graphs_of(graph))) > 1
        self.random = Random(seed)
        self.refused = 0

    def edit(self, count: int) -> None:
        """Try so many edits."""
        for _ in range(count):
            self.graph = self.random.choice(list(graphs_of(self.whole))) if self.has_bodies else self.whole
            layers = list(self.graph)
            if not layers:
                continue
            text = None
            try:
                self.random.choice(EDITS)(self, self.random.choice(layers))
            except (EditError, irshape.WeightsError) as error:
                self.refused += 1
                text = str(error)
            assert text is None or len(text) > 10

    def tensor(self) -> Tensor | None:
        """Some tensor of the graph."""
        layer = self.random.choice(list(self.graph))
        return self.random.choice(layer.outputs) if layer.outputs else None

    def insert(self, layer: Layer) -> None:
        for tensor in layer.outputs[:1]:
            if tensor.element_type.is_real:
                new = self.graph.add(self.random.choice(["Relu", "Abs", "Sigmoid"]), tensor)
            elif tensor.element_type.name == "boolean":
                new = self.graph.add("LogicalNot", tensor)
            else:
                new = self.graph.add("Add", tensor, 1)
            tensor.replace_uses(new)

    def reshape(self, layer: Layer) -> None:
        for tensor in layer.outputs[:1]:
            if tensor.shape and len(tensor.shape) > 1:
                new = self.graph.add("Reshape", tensor, [0, -1], special_zero=True)
                if self.random.random() < 0.5:
                    tensor.replace_uses(
                        self.graph.add("Reshape", new, self.graph.add("ShapeOf", tensor, output_type="i64"), special_zero=False)
                    )

    def split(self, layer: Layer) -> None:
        for tensor in layer.outputs[:1]:
            self.give(self.graph.add("Split", tensor, 0, num_splits=2).outputs[0])

    def give(self, tensor: Tensor) -> None:
        """Make a tensor an output."""
        if isinstance(self.graph, Graph):
            self.graph.result(tensor)
            return
        draft = self.graph._draft
        others = [body for name, body in self.holder().bodies.items() if name != draft.model.name]
        inner = [other for layer in others[0] for other in layer.outputs] if others else []
        self.graph.add_output(tensor, *([self.random.choice(inner)] if inner else []), **self.slice())

    def holder(self) -> Layer:
        """The layer that holds the body."""
        assert isinstance(self.graph, Body)
        return layer_of(self.graph._draft.outer, self.graph._draft.holder)

    def slice(self) -> dict[str, int]:
        """Perhaps the attributes of a slice."""
        return {"axis": self.random.choice([0, 0, 1])} if self.random.random() < 0.3 else {}

    def set(self, layer: Layer) -> None:
        numbers = {name: value for name, value in layer.attributes.items() if isinstance(value, int | tuple | bool) and name != "offset"}
        if numbers and layer.type not in _KEPT:
            name = self.random.choice(sorted(numbers))
            value: Any = numbers[name]
            if isinstance(value, bool):
                layer.set(**{name: not value})
            elif isinstance(value, int):
                layer.set(**{name: value + self.random.choice([-1, 1])})
            elif all(isinstance(one, int) for one in value):
                layer.set(**{name: [one + 1 for one in value]})

    def bypass(self, layer: Layer) -> None:
        if layer.type not in _KEPT:
            layer.bypass()

    def remove(self, layer: Layer) -> None:
        if layer.type not in _KEPT or (isinstance(self.graph, Body) and self.random.random() < 0.3):
            layer.remove(cascade=self.random.random() < 0.1)

    def connect(self, layer: Layer) -> None:
        tensor = self.tensor()
        if layer.inputs and tensor is not None:
            layer.connect(self.random.randrange(len(layer.inputs)), tensor)

    def data(self, layer: Layer) -> None:
        if not self.whole._draft.weights.has_original:
            return
        if layer.type == "Const" and layer.attributes["element_type"] is irshape.ElementType.i64 and (layer.attributes["size"] or 99) <= 64:
            layer.data = layer.data + self.random.choice([-1, 1])

    def end(self, layer: Layer) -> None:
        if layer.outputs:
            self.give(layer.outputs[0])

    def begin(self, layer: Layer) -> None:
        if isinstance(self.graph, Body):
            outer = self.graph._draft.outer
            tensors = [tensor_of(outer, value) for item in outer.state.items.values() for value in item.outputs]
            own = self.graph.add_input(self.random.choice(tensors), **self.slice())
            if self.random.random() < 0.5 and (tensor := self.tensor()) is not None:
                self.graph.feed_back(tensor, own)
            else:
                self.give(own)
            return
        new = self.graph.parameter("new", self.random.choice(["[?,3]", "[1..8,?]", "[2,3]", "[...]"]))
        self.graph.result(self.graph.add("Relu", new))

    def name(self, layer: Layer) -> None:
        layer.rename(f"{layer.name} < & {self.random.random()}")
        if layer.outputs:
            layer.outputs[0].names = [f"a,b {self.random.random()}", "ü"]

    def move(self, layer: Layer) -> None:
        layer.move(before=self.random.choice(list(self.graph)))

    def prune(self, layer: Layer) -> None:
        self.graph.prune()


EDITS = [
    *[RandomEditor.insert] * 3, *[RandomEditor.set] * 2, *[RandomEditor.data] * 2, RandomEditor.reshape, RandomEditor.split,
    RandomEditor.bypass, RandomEditor.remove, RandomEditor.connect, RandomEditor.end, RandomEditor.begin, RandomEditor.name,
    RandomEditor.prune, RandomEditor.move,
]  # fmt: skip


def differences(graph: Graph) -> Iterator[str]:
    """The tensors of which the draft knows other things than a fresh inference of its text."""
    draft = graph._draft
    model, weights = draft.built()
    engine = Engine(model, weights, draft.opaque)
    infer(engine, recorded_inputs(model)[0].question(engine))
    knows_values = draft.weights.has_original  # else a constant of the file is unknown in one of two ways
    pairs: dict[Any, Any] = {}
    back: dict[Any, Any] = {}

    def are_equal(ours: Any, theirs: Any) -> bool:
        if isinstance(ours, Dim) and isinstance(theirs, Dim):
            # One formula of the draft is one formula of the inference. Behind a fault, which of two equal formulas is taken is chance.
            is_paired = is_faulty or (pairs.setdefault(ours, theirs) is theirs and back.setdefault(theirs, ours) is ours)
            return is_paired and bounds(ours) == bounds(theirs)
        return type(ours) is type(theirs) and (str(ours) == str(theirs) or not isinstance(ours, int | float | str))

    is_faulty = False
    for state, model, slots, facts in _graphs(draft.state, draft.facts, engine.model, engine.current):
        behind: set[Any] = set()  # the items behind a fault
        for item in sorted(state.items.values(), key=lambda item: item.label):
            node = model.node(item.id)
            if any(value is not None and value.item in behind for value in item.inputs):
                behind.add(item)
            for value in item.outputs:
                ours, theirs = facts[value.slot], slots[node.first_slot + value.index]
                if theirs.is_poisoned:
                    behind.add(item)
                is_faulty = item in behind
                lists = [(ours.shape, theirs.shape)]
                if knows_values and (theirs.elements is not None or ours.elements is not None):
                    lists.append((ours.elements, theirs.elements))
                same = ours.element_type is theirs.element_type and all(
                    (a is None and b is None) or (a is not None and b is not None and len(a) == len(b) and all(map(are_equal, a, b)))
                    for a, b in lists
                )
                if not same or (knows_values and ours.is_poisoned != theirs.is_poisoned):
                    shown = [f"{one.element_type}{one.shape} {one.elements} {one.is_poisoned}" for one in (ours, theirs)]
                    yield f"{node.key}:{value.index} {item!r}: {shown[0]} instead of {shown[1]}"


def _graphs(state: State, facts: Facts | BodyFacts, model: Model, run: Run) -> Iterator[tuple[State, Model, list[Fact], dict[int, Fact]]]:
    """The graphs of a draft and of its bodies, each with the graph and the facts of a fresh inference, and the facts of the draft."""
    yield state, model, run.slots, facts.all()[0]
    for item in state.items.values():
        node = model.node(item.id)
        for name, body in node.bodies.items():
            inner = state.body(item, name)
            unknown = Run.of(body.slot_count, 0)  # in the body of an operation that is not known
            yield from _graphs(inner, BodyFacts(inner, facts), body, run.inner.get((node.index, name), unknown))
