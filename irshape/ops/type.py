"""Changes of the element type."""

from math import inf, isfinite, trunc
from typing import Annotated, Literal

from irshape.ops.attribute import Exact, Stated
from irshape.ops.context import Context, Uncomputable
from irshape.ops.cost import Count, Outputs, each_element, elements, moved
from irshape.ops.elementwise import bounded, limits_of, unknown, wrapped
from irshape.ops.flow import Flow, alike
from irshape.ops.op import In, Input, Op, Out, as_first
from irshape.ops.registry import op
from irshape.shape.dim import INT64_MAX, Dim, eq, is_known
from irshape.shape.element_type import ANY, INDEX, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Element, Elements, Real, are_numbers, fits, limits


class Conversion(Op):
    """The same tensor in another element type."""

    ignores_surplus = True
    cost = each_element
    is_in_place = True

    @staticmethod
    def converted(ctx: Context, data: Input, target: ElementType) -> Elements:
        """The elements of `data` in the target type."""
        return tuple([_converted(ctx, element, target) for element in data.values])

    @staticmethod
    def bounds_seen(ctx: Context, elements: Elements, data: Input, target: ElementType) -> Elements | None:
        """The elements as OpenVINO sees them: it converts their bounds, which wrap around in small types."""
        result = []
        for element, source in zip(elements, data.values, strict=True):
            if not are_numbers((element, source)):
                ends = limits_of(source)
                if not target.is_real:
                    ends = wrapped(ends[0], target), wrapped(ends[1], target)
                element = bounded(ctx, (target, source), element, target, *ends)
            if element is None:
                return None
            result.append(element)
        return tuple(result)


def _converted(ctx: Context, element: Element, target: ElementType) -> Element:
    if target is ElementType.boolean:
        is_zero = None if isinstance(element, Real) else eq(element, 0) if isinstance(element, Dim) else element == 0
        return unknown(ctx, target) if is_zero is None else int(not is_zero)
    if target.is_real:
        return float(element) if isinstance(element, int) else element
    if isinstance(element, Real):
        least, most = limits(target)
        low, high = (end if abs(end) == inf else trunc(end) for end in limits_of(element))
        if element.size is not None and low >= 0 and least <= low and high <= most:
            return element.size // element.divisor
        return ctx.unknown(low, high) if least <= low and high <= most else unknown(ctx, target)
    if isinstance(element, float):
        if not isfinite(element):
            return unknown(ctx, target)
        element = trunc(element)
    if target is ElementType.i32 and element == INT64_MAX:
        return INT64_MAX >> 32  # it stands for no limit, and OpenVINO maps it to the largest i32
    return element if fits(element, target) else unknown(ctx, target)


@op("Convert", "opset1", also="opset17")
class Convert(Conversion):
    """The input in the element type `destination_type`."""

    data = In()
    output = Out(attribute="destination_type")
    destination_type: Annotated[ElementType, Stated] = ElementType.dynamic
    flow = alike
    infer = as_first

    def propagate(self, ctx: Context, data: Input) -> Elements | None:
        if self.destination_type is ElementType.dynamic:
            raise Uncomputable("T101", "OpenVINO computes no elements of the destination_type 'dynamic'", data)
        return self.converted(ctx, data, self.destination_type)

    def openvino_view(self, ctx: Context, elements: Elements, data: Input) -> Elements | None:
        return self.bounds_seen(ctx, elements, data, self.destination_type)


@op("ConvertLike", "opset1")
class ConvertLike(Conversion):
    """The first input in the element type of the second."""

    data = In()
    like = In()
    output = Out(like="like")
    demands = ("data",)
    unfollowed = ANY
    infer = as_first

    def flow(self, flow: Flow, data: Input, like: Input) -> None:
        flow.keep_all(data)
        flow.ignores(like)

    def propagate(self, ctx: Context, data: Input, like: Input) -> Elements | None:
        return self.converted(ctx, data, like.element_type)


_PROMOTED = ANY - {
    ElementType.u2, ElementType.u3, ElementType.u6, ElementType.nf4, ElementType.string, ElementType.f4e2m1, ElementType.f8e8m0,
}  # fmt: skip


@op("ConvertPromoteTypes", "opset14")
class ConvertPromoteTypes(Op):
    """Both inputs in the smallest element type that holds the values of both.

    A conversion that may lose values is refused unless `promote_unsafe` is true. With `pytorch_scalar_promotion` a scalar
    takes the type of a tensor of its kind, as in PyTorch.
    """

    in_0 = In(_PROMOTED)
    in_1 = In(_PROMOTED)
    out_0 = Out()
    out_1 = Out()
    ignores_surplus = True
    promote_unsafe: bool = False
    pytorch_scalar_promotion: bool = False
    u64_integer_promotion_target: ElementType = ElementType.f32

    def infer(self, ctx: Context, in_0: Input, in_1: Input) -> tuple[Shape, Shape]:
        return in_0.partial_shape, in_1.partial_shape

    def types(self, ctx: Context, in_0: Input, in_1: Input) -> ElementType:
        if not {in_0.element_type, in_1.element_type} <= _PROMOTED:
            return ElementType.dynamic
        target, is_safe = self._promoted(in_0, in_1)
        if not is_safe and not self.promote_unsafe:
            message = f"promote_unsafe must be true to convert {in_0.element_type} and {in_1.element_type} to {target}"
            ctx.error("T102", message, attribute="promote_unsafe")
        return target

    def _promoted(self, in_0: Input, in_1: Input) -> tuple[ElementType, bool]:
        """The common type, and whether it holds every value of both."""
        small, large = sorted((in_0, in_1), key=lambda port: (_kind(port.element_type), port.element_type.bits))
        a, b = small.element_type, large.element_type
        if ElementType.dynamic in (a, b):
            return ElementType.dynamic, True
        if a is b or a is ElementType.boolean:
            return b, True
        if a.is_real is not b.is_real:
            return b, 2 * a.bits <= b.bits
        if self.pytorch_scalar_promotion:
            if not (small.is_ranked and large.is_ranked):
                return ElementType.dynamic, True
            if bool(small.rank) is not bool(large.rank):
                tensor, scalar = (a, b) if small.rank else (b, a)
                # OpenVINO accepts an unsigned scalar with twice the bits of a signed tensor.
                bits = scalar.bits if scalar.is_signed or not tensor.is_signed else scalar.bits // 2
                return tensor, bits <= tensor.bits and tensor.is_signed >= scalar.is_signed
        if a.is_real:
            return (b, True) if a.bits < b.bits else (ElementType.f32 if a.bits == 16 else ElementType.f16, False)
        if a.is_signed is b.is_signed:
            return b, True
        unsigned, signed = (b, a) if a.is_signed else (a, b)
        if unsigned.bits < signed.bits:
            return signed, True
        if unsigned is ElementType.u64:
            return self.u64_integer_promotion_target, False
        return ElementType.BY_NAME[f"i{2 * unsigned.bits}"], False

    def cost(self, out: Outputs, in_0: Input, in_1: Input) -> Count:
        """1 operation for each element of the inputs."""
        return Count(operations=elements(in_0) + elements(in_1))


def _kind(element_type: ElementType) -> int:
    """0 for booleans, 1 for integers, 2 for reals."""
    return 0 if element_type is ElementType.boolean else 2 if element_type.is_real else 1


@op("StringTensorUnpack", "opset15")
class StringTensorUnpack(Op):
    """Where each string begins and ends, and the characters of all."""

    data = In(frozenset({ElementType.string}))
    begins = Out(ElementType.i32)
    ends = Out(ElementType.i32)
    symbols = Out(ElementType.u8)
    cost = moved

    def infer(self, ctx: Context, data: Input) -> tuple[Shape, Shape, Shape]:
        is_empty = data.is_ranked and any(is_known(size) and size == 0 for size in data.shape)
        return data.partial_shape, data.partial_shape, (0 if is_empty else ctx.unknown(),)


@op("StringTensorPack", "opset15")
class StringTensorPack(Op):
    """Strings from where each begins and ends in the characters of all."""

    begins = In(INDEX - {ElementType.dynamic})
    ends = In(INDEX - {ElementType.dynamic}, like="begins")
    symbols = In(frozenset({ElementType.u8}), rank=1)
    output = Out(ElementType.string)
    cost = moved

    def infer(self, ctx: Context, begins: Input, ends: Input, symbols: Input) -> Shape:
        return ctx.merge_shapes(begins, ends, "begins and ends must be equal on axis {axis}")


@op("StringTensorUnpack", "extension")
class StringTensorUnpackOfTokenizers(StringTensorUnpack):
    """The begin and the end of each string, and the characters of all strings; u8 data are strings packed by openvino-tokenizers."""

    EXTENSION = "openvino-tokenizers"
    data = In(frozenset({ElementType.string, ElementType.u8, ElementType.dynamic}))
    mode: Annotated[Literal["begins_ends"], Exact] = "begins_ends"

    def infer(self, ctx: Context, data: Input) -> tuple[Shape, Shape, Shape]:
        shape = data.partial_shape if data.element_type is ElementType.string else None
        if data.element_type is ElementType.u8:
            ctx.require_rank(data, (1,))
            shape = (ctx.unknown(),)
        return shape, shape, (ctx.unknown(),)


@op("StringTensorPack", "extension")
class StringTensorPackOfTokenizers(StringTensorPack):
    """Strings from where each begins and ends in the characters of all, as openvino-tokenizers has them."""

    EXTENSION = "openvino-tokenizers"
    mode: Annotated[Literal["begins_ends"], Exact] = "begins_ends"
