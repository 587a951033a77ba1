"""Joining tensors along an axis and taking them apart."""

from collections.abc import Sequence
from typing import Annotated, Any

from irshape.ops.attribute import Ge, Stated
from irshape.ops.context import Context
from irshape.ops.flow import OWN, Factor, Flow
from irshape.ops.op import Assembling, In, Input, Moving, Out, static
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, is_known
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.guard import BOUNDS, STATIC, Looks, Requirement
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Pieces, concatenated, sliced

_WHOLE = "the sum of the lengths must be the size of axis {axis}"


@op("Concat", "opset1")
class Concat(Assembling):
    """Join tensors along an axis; their other axes must be equal."""

    data = In(variadic=True)
    output = Out(like="data")
    axis: Annotated[int, Stated] = 0

    def infer(self, ctx: Context, data: tuple[Input, ...]) -> Shape:
        shapes = [one.shape for one in data if one.is_ranked]
        if not shapes:
            return None
        rank = len(shapes[0])
        if any(len(shape) != rank for shape in shapes):
            for one in data:
                ctx.require_rank(one, (rank,), "S102")
        axis = ctx.axis(self.axis, rank, attribute="axis")
        total: Size = sum([one.shape[axis] if one.is_ranked else ctx.unknown() for one in data])
        merged: Shape = None
        for parts in shapes:
            shape = (*parts[:axis], total, *parts[axis + 1 :])
            if shape != merged:
                merged = ctx.merge_shapes(merged, shape, "the inputs must be equal on axis {axis}")
        return merged

    def flow(self, flow: Flow, data: tuple[Input, ...]) -> None:
        axis = self.axis % data[0].rank
        for one in data:
            flow.keep_all(one, but=[axis], why="concatenates")
        joined = {flow.trace(one)[axis] for one in data}
        if len(joined) == 1:  # the inputs lie outside of the axis that they share
            for one in data:
                flow.keep(one, axis, axis, factors=(Factor(len(data), len(data)), *flow.trace(one)[axis]))

    def propagate(self, ctx: Context, data: tuple[Input, ...]) -> Elements:
        return concatenated([(one.values, one.static_shape) for one in data], ctx.axis(self.axis, data[0].rank))

    def openvino_pieces(self, elements: Elements, *inputs: Any) -> Elements | None:
        return Pieces(elements) if all(one.count == 1 for one in inputs[0]) else None


class _Split(Moving):
    """Parts of a tensor along an axis."""

    data = In()

    @staticmethod
    def part(data: Input, axis: int, size: Size) -> Shape:
        """The shape of a part that has this size on the axis."""
        return (*data.shape[:axis], size, *data.shape[axis + 1 :])

    @staticmethod
    def anywhere(ctx: Context, data: Input) -> Shape:
        """The shape of a part if the axis is not known."""
        return tuple(ctx.unknown(0, bounds(size)[1]) for size in data.shape) if data.is_ranked else None

    @staticmethod
    def elements(data: Input, axis: int, lengths: Sequence[int]) -> list[Elements]:
        """The elements of parts of these lengths."""
        parts, start = [], 0
        for length in lengths:
            taken = [range(size) for size in data.static_shape]
            taken[axis] = range(start, start + length)
            parts.append(sliced(data.values, data.static_shape, taken))
            start += length
        return parts

    @staticmethod
    def parts(flow: Flow, data: Input, axis: Input, count: int) -> None:
        """The flow to `count` parts: only if these lie outside of the other factors of the axis, the axis stays whole."""
        along = flow.axes(axis, data.rank)[0]
        flow.keep_all(data, but=[along], why="splits")
        first, *rest = flow.trace(data)[along] or (OWN,)
        if first.size == count and count > 1:
            flow.keep(data, along, along, factors=tuple(rest))
        elif count == 1:
            flow.keep(data, along, along)


@op("Split", "opset1")
class Split(_Split):
    """Take a tensor apart into equal parts along an axis."""

    axis = In(INTEGER, rank=0, value=True)
    output = Out(like="data", variadic=True)
    num_splits: Annotated[int, Ge(1)]
    openvino_checks = static("S204")

    def infer(self, ctx: Context, data: Input, axis: Input) -> Sequence[Shape]:
        if self.num_splits > (limit := ctx.scope.limits.parts):
            ctx.fail("X111", f"num_splits is {self.num_splits}; at most {limit} parts are made (limit parts)", attribute="num_splits")
        along = ctx.axis_in(axis, data.known_rank)
        if along is None:
            return [self.anywhere(ctx, data)] * self.num_splits
        message = "axis {axis} must be a multiple of num_splits"
        most = bounds(data.shape[along])[1]
        if ctx.openvino_knows_same and not is_known(data.shape[along]) and most < self.num_splits:
            ctx.fail("S206", f"OpenVINO refuses to split axis {along}, of at most {most} elements, into {self.num_splits} parts", port=data)
        size = ctx.exact_div(data.shape[along], self.num_splits, message, axis=along)
        return [self.part(data, along, size)] * self.num_splits

    def flow(self, flow: Flow, data: Input, axis: Input) -> None:
        self.parts(flow, data, axis, self.num_splits)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, axis: Input) -> Sequence[Shape]:
        along = ctx.axis_in(axis, data.known_rank)
        if along is None:
            return [ctx.unknown_shape(data.rank)] * self.num_splits if data.is_ranked else shapes
        return [self.part(data, along, data.shape[along] // self.num_splits)] * self.num_splits

    def propagate(self, ctx: Context, data: Input, axis: Input) -> list[Elements] | None:
        along = ctx.axis_in(axis, data.rank)
        return None if along is None else self.elements(data, along, [data.static_shape[along] // self.num_splits] * self.num_splits)


@op("VariadicSplit", "opset1")
class VariadicSplit(_Split):
    """Take a tensor apart along an axis into parts of given lengths; one length may be -1, for the elements that the others leave."""

    axis = In(value=True)
    split_lengths = In(value=True)
    output = Out(like="data", variadic=True)

    def infer(self, ctx: Context, data: Input, axis: Input, split_lengths: Input) -> Sequence[Shape]:
        count = split_lengths.count
        if count is None and not ctx.kept:
            ctx.single(axis)
            return [None]
        along = ctx.axis_in(axis, data.known_rank)
        if count is None:
            return [self.anywhere(ctx, data) if along is None else self.part(data, along, ctx.unknown()) for _ in range(ctx.kept)]
        if not count:
            if along is not None and split_lengths.elements is not None:
                ctx.require_eq(0, data.shape[along], _WHOLE, axis=along)
            return [None]
        ctx.require_rank(split_lengths, (1,))
        lengths = ctx.values(split_lengths)
        if along is None:
            return [self.anywhere(ctx, data)] * count
        for length in lengths:
            ctx.require_ge(length, -1, "a length must be at least -1", code="V101")
        if lengths.count(-1) > 1 and ctx.known(split_lengths) is not None:
            ctx.fail("V101", f"only one length may be -1, got {list(lengths)}", port=split_lengths)
        size = data.shape[along]
        # Only running tells whether an unknown length is -1.
        parts = [length if bounds(length)[0] >= 0 else ctx.unknown(0, bounds(size)[1]) for length in lengths]
        if -1 in lengths:
            rest = lengths.index(-1)
            others = sum(parts[:rest] + parts[rest + 1 :])
            with ctx.assumes():
                ctx.require_ge(size, others, "axis {axis} must be at least the sum of the lengths", axis=along)
            parts[rest] = ctx.saturate(size - others)
        else:
            ctx.require_eq(sum(parts), size, _WHOLE, axis=along)
        return [self.part(data, along, part) for part in parts]

    def flow(self, flow: Flow, data: Input, axis: Input, split_lengths: Input) -> None:
        self.parts(flow, data, axis, len(flow.elements(split_lengths)))
        flow.sizes(split_lengths)

    def openvino_checks(self, ctx: Context, requirement: Requirement, split_lengths: Input) -> Looks:
        if requirement.template == _WHOLE:
            return STATIC
        return [split_lengths] if requirement.code == "V101" else BOUNDS

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, axis: Input, split_lengths: Input) -> Sequence[Shape]:
        along = ctx.axis_in(axis, data.known_rank)
        if not data.is_ranked or not split_lengths.count:
            return shapes
        if along is None:
            return [ctx.unknown_shape(data.rank) for _ in shapes]
        lengths = ctx.known(split_lengths)
        size = data.shape[along]
        is_whole = lengths is not None and is_known(size) and size >= sum(lengths) + lengths.count(-1)
        return [
            shape if lengths is not None and (lengths[index] != -1 or is_whole) else self.part(data, along, ctx.unknown())
            for index, shape in enumerate(shapes)
        ]

    def types(self, ctx: Context, data: Input, axis: Input, split_lengths: Input) -> ElementType:
        """The type of the data; if the number of outputs is 0 or was never known, OpenVINO has one output of unknown type."""
        is_known = split_lengths.count if split_lengths.count is not None else ctx.kept
        return data.element_type if is_known else ElementType.dynamic

    def propagate(self, ctx: Context, data: Input, axis: Input, split_lengths: Input) -> list[Elements] | None:
        along, lengths = ctx.axis_in(axis, data.rank), ctx.known(split_lengths)
        if along is None or lengths is None:
            return None
        rest = data.static_shape[along] - sum(length for length in lengths if length >= 0)
        if rest < 0:
            return None
        return self.elements(data, along, [length if length >= 0 else rest for length in lengths])
