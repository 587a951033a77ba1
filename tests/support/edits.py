"""Random edits of graphs, and the facts of a draft beside those of a fresh inference of its text."""

from collections.abc import Iterator
from random import Random
from typing import Any

import irshape
from irshape import EditError, Graph, Layer, Tensor
from irshape.inference.engine import Engine
from irshape.inference.inputs import recorded_inputs
from irshape.inference.verdict import infer
from irshape.shape.dim import Dim, bounds

_KEPT = ("Const", "Parameter", "Result", "ReadValue", "Assign")


class RandomEditor:
    """Edits a graph at random; edits that make no graph are refused, and change nothing."""

    def __init__(self, graph: Graph, seed: int) -> None:
        self.graph = graph
        self.random = Random(seed)
        self.refused = 0

    def edit(self, count: int) -> None:
        """Try so many edits."""
        for _ in range(count):
            layers = list(self.graph)
            if not layers:
                return
            text = None
            try:
                self.random.choice(EDITS)(self, self.random.choice(layers))
            except EditError as error:
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
            self.graph.result(self.graph.add("Split", tensor, 0, num_splits=2).outputs[0])

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
        if layer.type not in _KEPT:
            layer.remove(cascade=self.random.random() < 0.1)

    def connect(self, layer: Layer) -> None:
        tensor = self.tensor()
        if layer.inputs and tensor is not None:
            layer.connect(self.random.randrange(len(layer.inputs)), tensor)

    def data(self, layer: Layer) -> None:
        if not self.graph._draft.weights.has_original:
            return
        if layer.type == "Const" and layer.attributes["element_type"] is irshape.ElementType.i64 and layer.attributes["size"] <= 64:
            layer.data = layer.data + self.random.choice([-1, 1])

    def end(self, layer: Layer) -> None:
        if layer.outputs:
            self.graph.result(layer.outputs[0])

    def begin(self, layer: Layer) -> None:
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
    facts, _ = draft.facts.all()
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
    for item in draft.state.items.values():
        node = model.node(item.id)
        for value in item.outputs:
            ours, theirs = facts[value.slot], engine.slots[node.first_slot + value.index]
            is_faulty = theirs.is_poisoned
            lists = [(ours.shape, theirs.shape)]
            if knows_values and (theirs.elements is not None or ours.elements is not None):
                lists.append((ours.elements, theirs.elements))
            same = ours.element_type is theirs.element_type and all(
                (a is None and b is None) or (a is not None and b is not None and len(a) == len(b) and all(map(are_equal, a, b)))
                for a, b in lists
            )
            if not same or (knows_values and ours.is_poisoned != theirs.is_poisoned):
                shown = [f"{one.element_type}{one.shape} {one.elements} {one.is_poisoned}" for one in (ours, theirs)]
                yield f"{item!r} {item.id}:{value.index}: {shown[0]} instead of {shown[1]}"
