"""The operations of openvino-tokenizers: those of `tokenizers.toml`, and here the ones whose rules depend on types or values.

StringTensorPack and StringTensorUnpack are in `irshape.ops.type`, because OpenVINO has them, too.
"""

from os.path import dirname, join

from irshape.ops.context import Context
from irshape.ops.declared.file import read_ops
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op, register
from irshape.shape.element_type import INDEX, INTEGER, ElementType
from irshape.shape.shape import Shape

with open(join(dirname(__file__), "tokenizers.toml"), "rb") as _file:
    for _declared in read_ops(_file.read(), _file.name, __name__):
        register(_declared)
        globals()[_declared.__name__] = _declared  # a pickle finds a class by its name in the module

_DYNAMIC = ElementType.dynamic
_I32 = frozenset({ElementType.i32})
_U8 = frozenset({ElementType.u8})
_PATTERN = _U8 | {_DYNAMIC}


class Tokenizing(Op):
    """The family of operations that the library openvino-tokenizers runs."""

    EXTENSION = "openvino-tokenizers"


@op("CharsMapNormalization", "extension")
class CharsMapNormalization(Tokenizing):
    """Normalise strings by a table of characters. `skips` is `boolean` where it is not followed by the table."""

    begins = In(_I32)
    ends = In(_I32)
    chars = In(_U8)
    skips = In(optional=True)
    table = In(optional=True)
    normal_begins = Out(like="begins")
    normal_ends = Out(like="ends")
    normal_chars = Out(like="chars")
    normal_skips = Out(like="skips")
    add_dummy_prefix: bool = False
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = False
    normalization_form: str = ""
    case_fold: bool = False
    nmt: bool = False

    def infer(self, ctx: Context, begins: Input, ends: Input, chars: Input, skips: Input | None, table: Input | None) -> list[Shape]:
        shapes: list[Shape] = [begins.partial_shape, begins.partial_shape, (ctx.unknown(),)]
        if skips is not None and (table is not None or skips.element_type is ElementType.boolean):
            shapes.append(skips.partial_shape)
        return shapes


@op("SpecialTokensSplit", "extension")
class SpecialTokensSplit(Tokenizing):
    """Split strings at special tokens, which later operations skip."""

    row_begins = In(_I32)
    row_ends = In(_I32)
    begins = In(_I32)
    ends = In(_I32)
    chars = In(_U8)
    skips = In(optional=True)
    split_pattern = In(_PATTERN, rank=1)
    split_row_begins = Out(ElementType.i32)
    split_row_ends = Out(ElementType.i32)
    split_begins = Out(ElementType.i32, rank=1)
    split_ends = Out(ElementType.i32, rank=1)
    split_chars = Out(ElementType.u8, rank=1)
    split_skips = Out()

    def infer(self, ctx: Context, row_begins: Input, begins: Input, skips: Input | None) -> list[Shape]:
        rows, marked = row_begins.partial_shape, begins if skips is None else skips
        return [rows, rows, (ctx.unknown(),), (ctx.unknown(),), (ctx.unknown(),), marked.partial_shape]

    def types(self, ctx: Context, skips: Input | None) -> list[ElementType]:
        return [*[ElementType.i32] * 4, ElementType.u8, ElementType.boolean if skips is None else skips.element_type]


@op("CombineSegments", "extension")
class CombineSegments(Tokenizing):
    """Join the rows of ragged tensors, and name the tensor that each value comes from. The rows of a scalar join every row."""

    begins = In(_I32, variadic=True, optional=True)
    ends = In(_I32, variadic=True, optional=True)
    values = In(rank=1, variadic=True, optional=True, mixed=True)
    segment_ids = In()
    joined_begins = Out(ElementType.i32)
    joined_ends = Out(ElementType.i32)
    joined_values = Out(like="begins", rank=1)
    id_begins = Out(ElementType.i32)
    id_ends = Out(ElementType.i32)
    joined_ids = Out(like="segment_ids", rank=1)

    def infer(self, ctx: Context, begins: tuple[Input, ...]) -> list[Shape]:
        rows: Shape = None
        for one in begins:
            if one.partial_shape != ():
                rows = ctx.merge_shapes(rows, one, "{name} must have as many rows as the other tensors", name=one.name)
        return [rows, rows, (ctx.unknown(),), rows, rows, (ctx.unknown(),)]


@op("RaggedToDense", "extension")
class RaggedToDense(Tokenizing):
    """A dense tensor of the values of a ragged one, cut or filled to `size`, and a mask of the values."""

    begins = In(_I32)
    ends = In(_I32)
    values = In(min_rank=1)
    size = In(INTEGER, value=True)
    default_value = In(rank=0, like="values")
    pad_right_input = In(INTEGER | {ElementType.boolean}, optional=True)
    dense = Out(like="values")
    mask = Out(ElementType.boolean)
    pad_right: bool = True
    m_pad_max_length: bool = False

    def infer(self, ctx: Context, begins: Input, values: Input, size: Input, pad_right_input: Input | None) -> tuple[Shape, Shape]:
        ctx.single(size)
        if pad_right_input is not None and pad_right_input.count is not None:
            ctx.require_rank(pad_right_input, (0,))
        rows, inner = begins.shape, values.shape[1:]
        shape = (*rows, ctx.limit(size), *inner)
        return shape, shape


@op("ContribStringJoin", "extension")
class ContribStringJoin(Tokenizing):
    """Join the strings along an axis, with a separator between them."""

    begins = In(_I32)
    ends = In(_I32)
    chars = In(_U8)
    separator = In(_PATTERN, rank=1)
    axis = In(INDEX, value=True)
    joined_begins = Out(ElementType.i32)
    joined_ends = Out(ElementType.i32)
    joined_chars = Out(ElementType.u8, rank=1)

    def infer(self, ctx: Context, begins: Input, ends: Input, chars: Input, separator: Input, axis: Input) -> tuple[Shape, Shape, Shape]:
        shape, known = begins.partial_shape, ctx.known(axis)
        if shape is not None:
            rank = len(shape)
            dropped = known[0] + (rank if known[0] < 0 else 0) if known else -1
            if known and rank > 1 and not 0 <= dropped < rank:
                ctx.warn("R201", f"axis must be in [{-rank}, {rank - 1}], got {known[0]}", port=axis)
            # The extension drops no axis where it does not know which.
            shape = () if rank < 2 else ctx.unknown_shape(rank) if dropped < 0 else (*shape[:dropped], *shape[dropped + 1 :])
        return shape, shape, (ctx.unknown(),)
