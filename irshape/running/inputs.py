"""The inputs of a run: sizes that the model accepts, and random values within what its layers can take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import irshape.verbs as inner
from irshape.answers.signature.names import BATCH
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.model.finding import end_name
from irshape.model.model import InputPort, Model, Node, OutputPort
from irshape.report.diagnostic import ERROR
from irshape.running.runner import RunningError
from irshape.shape.dim import Size
from irshape.shape.range import Bound
from irshape.shape.shape import Shape

if TYPE_CHECKING:
    from numpy.random import Generator

Shapes: TypeAlias = dict[str, tuple[int, ...]]
"""The shape of each input, by the name of its Parameter."""
Bounds: TypeAlias = tuple[Bound, Bound]

# Open sizes are tried at the smallest valid ones that are at least so large, until enough of them run. At 70, tensors behind several
# strides have more than one element.
_LEAST: Final = (1, 3, 70, 6, 2, 8, 16, 32, 224, 320)
# A smallest valid size above 1 is the length of the steps to the next sizes, up to a widest step; there are at most so many steps.
_WIDEST_STEP: Final = 32
_MOST_STEPS: Final = 5
_MOST_SAMPLES: Final = 2
_WORDS: Final = ("", "a", "the cat sat on the mat", "Zürich 8001", "don't", "12.5 % of 1,000", "naïve 東京")
# Layers that give elements of their inputs, moved or repeated, by the inputs that they move; None is every input.
_MOVES: Final[dict[str, tuple[int, ...] | None]] = {
    **dict.fromkeys(("Broadcast", "Convert", "Gather", "Identity", "Pad", "Reshape", "Reverse", "ReverseSequence"), (0,)),
    **dict.fromkeys(("Slice", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose", "Unsqueeze", "VariadicSplit"), (0,)),
    **dict.fromkeys(("Maximum", "Minimum", "Concat"), None),
    "Select": (1, 2),
}
# Layers whose second input holds indices of elements of the first, with the input that gives the axis; -1 is an attribute, None any axis.
_INDICES: Final[dict[str, int | None]] = {
    **dict.fromkeys(("EmbeddingBagOffsets", "EmbeddingBagOffsetsSum", "EmbeddingBagPacked", "EmbeddingBagPackedSum"), -1),
    **dict.fromkeys(("EmbeddingSegmentsSum", "GatherElements"), -1),
    **dict.fromkeys(("GatherND", "ScatterNDUpdate")),
    "Gather": 2,
    **dict.fromkeys(("ScatterElementsUpdate", "ScatterUpdate"), 3),
}


def sizes_of(model: Model, shapes: Mapping[str, str], opaque: frozenset[str]) -> Iterator[Shapes]:
    """Sizes for the inputs of these shapes that the model accepts: the recorded ones, or for open sizes the smallest, then larger ones.

    Raises `RunningError` if irshape finds none.
    """
    signature = inner.signature(model, inputs=shapes, opaque=opaque)
    # A variable that has a first value begins empty.
    empty = {name: 0 for name, known in signature.symbols.items() if known.low == 0 and signature.state}
    found: list[Shapes] = []
    smallest: Mapping[str, int] = {}
    try:
        valid = inner.sizes(model, inputs=shapes, opaque=opaque) if signature._found.question.symbols else None
        for least in _LEAST if valid else (1,):
            asked = {
                name: min(least, _MOST_SAMPLES) if name == BATCH
                else max(least, size + min(least - 1, _MOST_STEPS) * min(size, _WIDEST_STEP))
                for name, size in ((name, smallest.get(name, 0)) for name in signature.symbols)
            }  # fmt: skip
            sizes = asked | ((valid and valid.nearest({name: asked[name] for name in valid.symbols if name in asked}).above) or {})
            smallest = smallest or sizes
            for chosen in (sizes | empty, sizes):
                assigned = signature.assign(chosen)
                if assigned is not None and assigned not in found:
                    found.append(assigned)
                    yield assigned
                    break
    except InputError as error:
        raise RunningError(f"{error}: give the inputs with --data") from None
    if not found:
        errors = [one.message for one in signature.diagnostics if one.severity == ERROR]
        which, why = f"{model.document.path or model.name} accepts", f": {errors[0]}" if errors else "; give inputs with --data"
        if errors and inner.infer(model, opaque=opaque).ok:  # the sizes are those of the other model
            which = "both models accept"
            why += (
                "; --batch compares models that differ in the batch, and irshape reshape --rewrite gives one model the sizes of the other"
            )
        raise RunningError(f"irshape finds no sizes of the inputs that {which}{why}")


def drawn(model: Model, shapes: Shapes, opaque: frozenset[str], random: Generator) -> list[Any]:
    """A random array for each input of the model."""
    inference = inner.infer(model, inputs={name: list(shape) for name, shape in shapes.items()}, opaque=opaque)
    return [_array(inference, node, shapes[end_name(node)], random) for node in model.parameters]


def _array(inference: Inference, node: Node, shape: tuple[int, ...], random: Generator) -> Any:
    import numpy

    kind = inference.view(node).outputs[0].element_type
    if kind.name == "string":
        return random.choice(numpy.array(_WORDS), shape)
    if kind.is_real:
        return random.standard_normal(shape).astype("f8" if kind.name == "f64" else "f4")
    if kind.name == "boolean":
        return random.integers(0, 2, shape).astype("?")
    low, high = bounds_of(inference, node.outputs[0])
    if high == inf:  # 0 and 1 are indices of anything, and values of a mask; bytes are mostly those of an image
        high = 255 if kind.name == "u8" else max(low, 1)
    return random.integers(int(low), int(max(low, high)) + 1, shape)


def bounds_of(inference: Inference, port: OutputPort) -> tuple[float, float]:
    """The bounds of the values that the layers which read an output can take, as far as they take its elements as indices or sizes."""
    low, high = 0.0, inf
    pending, seen = [port], {port.slot}
    while pending:
        for reader in pending.pop().readers:
            node = reader.node
            type = node.op_type
            if type == "OneHot" and reader.index == 0:
                high = min(high, _constant(node, 1) - 1)
            elif type in _INDICES and reader.index == 1:
                high = min(high, _length(inference, node, _INDICES[type]) - 1)
            elif type in _MOVES and reader.index in (_MOVES[type] or range(len(node.inputs))):
                pending += [one for one in node.outputs if one.slot not in seen]
                seen |= {one.slot for one in node.outputs}
            elif _is_size(reader):
                low, high = max(low, 1), min(high, 1)
    return low, max(high, low, 0)


def _length(inference: Inference, node: Node, axis: int | None) -> float:
    """The least size of the axis of its first input that a layer takes elements from; 1 if it is not known."""
    shape: Shape = inference.view(node).inputs[0].shape
    if shape is None:
        return 1
    if axis is not None:
        stated = node.attributes.get("axis", 0)
        place = int(_constant(node, axis, 0)) if axis > 0 else stated if isinstance(stated, int) else 0
        shape = shape[place : place + 1 or None] if -len(shape) <= place < len(shape) else ()
    return max(min((inference.bounds(size)[0] for size in shape), default=1), 1)


def _constant(node: Node, index: int, default: int = 1) -> float:
    """The only element of an input whose value is known."""
    source = node.inputs[index].source if index < len(node.inputs) else None
    const = None if source is None else source.node.const
    return float(const.data.item()) if const is not None and const.data.size == 1 else default


def _is_size(reader: InputPort) -> bool:
    """Whether a rule reads the elements of an input, as sizes, counts or steps."""
    op_class = reader.node.op_class
    ports = op_class.inputs if op_class else ()
    return reader.index < len(ports) and bool(ports[reader.index].value)


def met(a: Shape, b: Shape, bounds: Callable[[Size], Bounds], others: Callable[[Size], Bounds]) -> str:
    """The shapes that both shapes allow, as a text; those of `b` where they allow none in common."""
    ours, theirs = ([known(size) for size in shape or ()] for shape, known in ((a, bounds), (b, others)))
    if a is None and b is None:
        return "[...]"
    if a is None or b is None or len(a) != len(b):
        return _text(ours if b is None else theirs)
    both = [(max(low, least), min(high, most)) for (low, high), (least, most) in zip(ours, theirs, strict=True)]
    return _text([own if own[0] <= own[1] else other for own, other in zip(both, theirs, strict=True)])


def _text(axes: list[Bounds]) -> str:
    return f"[{','.join(str(low) if low == high else f'{low}..' if high == inf else f'{low}..{high}' for low, high in axes)}]"
