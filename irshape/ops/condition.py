"""Selecting elements by a condition, and finding those that are not zero."""

from irshape.ops.attribute import IndexType
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, each
from irshape.ops.elementwise import Broadcasting, ends
from irshape.ops.flow import alike, mixing
from irshape.ops.op import In, Input, Op, Out, as_first
from irshape.ops.registry import op
from irshape.shape.dim import Dim, are_known, bounds, product
from irshape.shape.element_type import ANY, BOOLEAN, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Real


@op("Select", "opset1")
class Select(Broadcasting):
    """The element of the second input where the first is true, else that of the third."""

    unfollowed = frozenset()
    takes_unknown = True

    cond = In(BOOLEAN)
    then = In()
    otherwise = In(like="then")
    output = Out(like="then")

    def infer(self, ctx: Context, cond: Input, then: Input, otherwise: Input) -> Shape:
        return self.broadcast(ctx, then, otherwise, cond)

    def propagate(self, ctx: Context, cond: Input, then: Input, otherwise: Input) -> Elements | None:
        columns = self.aligned(ctx, then, otherwise, cond)
        if columns is None:
            return None
        result = []
        for index, (first, second, is_first) in enumerate(zip(*columns, strict=True)):
            if not isinstance(is_first, Dim):
                result.append(first if is_first else second)
            elif then.element_type.is_real:
                (low, high), (other_low, other_high) = ends(first), ends(second)
                result.append(Real(min(low, other_low), max(high, other_high)))
            else:
                ctx.is_unshared = True
                result.append(ctx.scope.hull((ctx.key, "choice", index), first, second))
        return tuple(result)

    def openvino_view(self, ctx: Context, elements: Elements, *inputs: Input) -> Elements | None:
        return elements if ctx.known(inputs[0]) is not None else None


@op("NonZero", "opset3")
class NonZero(Op):
    """The indices of the elements that are not zero, a row for each axis."""

    data = In(value=True)
    output = Out(attribute="output_type", rank=2)
    ignores_surplus = True
    output_type: IndexType = ElementType.i64
    cost = each("1 operation for each element of the data.", operations=1, of_input=True)
    flow = mixing("lists the places of elements along")

    def infer(self, ctx: Context, data: Input) -> Shape:
        if data.elements is not None and are_known(data.elements):
            count = sum(element != 0 for element in data.elements)
            return (data.rank or count, count)
        if not data.is_ranked or data.rank == 0:
            return ctx.unknown_shape(2)
        return (data.rank, ctx.unknown(0, bounds(product(data.shape))[1]))


@op("Bucketize", "opset3")
class Bucketize(Op):
    """The index of the bucket that each element belongs to."""

    data = In(ANY - BOOLEAN | {ElementType.dynamic})
    buckets = In(ANY - BOOLEAN | {ElementType.dynamic}, rank=1)
    output = Out(attribute="output_type")
    output_type: IndexType
    with_right_bound: bool = True
    flow = alike
    infer = as_first

    def cost(self, out: Outputs, buckets: Input) -> Count | None:
        """For each element, the comparisons of a binary search among the buckets."""
        return None if buckets.count is None else Count(operations=out.elements * buckets.count.bit_length())
