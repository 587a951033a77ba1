"""Products of matrices and sums of products."""

import re
from collections.abc import Sequence
from typing import Annotated, Final

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out, static
from irshape.ops.registry import op
from irshape.shape.dim import Size, eq, product
from irshape.shape.element_type import FLOAT, INDEX, NUMERIC, ElementType
from irshape.shape.shape import Shape


@op("MatMul", "opset1")
class MatMul(Op):
    """The product of the matrices in the last two axes; the axes before them broadcast.

    A vector on the left is a row, and a vector on the right a column; the output leaves out its axis of size 1.
    """

    matrix_a = In(ranked=True)
    matrix_b = In(like="matrix_a", ranked=True)
    output = Out(like="matrix_a")
    ignores_surplus = True
    transpose_a: bool = False
    transpose_b: bool = False
    openvino_checks = static("S201", "S202")

    def infer(self, ctx: Context, matrix_a: Input, matrix_b: Input) -> Shape:
        for matrix in (matrix_a, matrix_b):
            if matrix.rank == 0:
                ctx.fail("S101", f"{matrix.name} must not be a scalar", port=matrix)
        is_row, is_column = matrix_a.rank == 1, matrix_b.rank == 1
        *batch_a, rows, depth = (1, *matrix_a.shape) if is_row else matrix_a.shape
        *batch_b, depth_b, columns = (*matrix_b.shape, 1) if is_column else matrix_b.shape
        if self.transpose_a and not is_row:
            rows, depth = depth, rows
        if self.transpose_b and not is_column:
            depth_b, columns = columns, depth_b
        ctx.require_eq(depth, depth_b, "the columns of matrix_a must be as many as the rows of matrix_b")
        batch = ctx.broadcast_shapes(tuple(batch_a), tuple(batch_b)) or ()
        return (*batch, *(() if is_row else (rows,)), *(() if is_column else (columns,)))

    def flow(self, flow: Flow, matrix_a: Input, matrix_b: Input) -> None:
        is_row, is_column = matrix_a.rank == 1, matrix_b.rank == 1
        flow.broadcast(matrix_a, matrix_b, last=2, behind=2 - is_row - is_column)
        if not is_row:
            flow.keep(matrix_a, -1 if self.transpose_a else -2, -1 if is_column else -2)
        if not is_column:
            flow.keep(matrix_b, -2 if self.transpose_b else -1, -1)
        flow.mixes(matrix_a, "sums over")
        flow.mixes(matrix_b, "sums over")

    def cost(self, out: Outputs, matrix_a: Input) -> Count:
        """For each element of the output, as many MACs as a row of `matrix_a` has elements."""
        is_transposed = self.transpose_a and matrix_a.rank > 1
        return Count(macs=out.elements * matrix_a.shape[-2 if is_transposed else -1])


_SUBSCRIPT: Final = re.compile(r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*")
_LABEL: Final = re.compile(r"\.\.\.|[A-Za-z]")
_ELLIPSIS: Final = "..."


def _axes(subscript: list[str], rank: int) -> list[tuple[str, int]]:
    """The label of each axis; those that an ellipsis covers are counted from the last one."""
    covered = rank - len(subscript) + 1
    return [(label, axis) for label in subscript for axis in (range(-covered, 0) if label == _ELLIPSIS else (0,))]


@op("Einsum", "opset7")
class Einsum(Op):
    """Sums of products over the axes whose labels are not in the output, as the equation says."""

    data = In(NUMERIC, variadic=True)
    output = Out()
    equation: Annotated[str, Stated] = ""

    def infer(self, ctx: Context, data: tuple[Input, ...]) -> Shape:
        inputs, output = self._subscripts(ctx)
        if len(inputs) != len(data):
            ctx.fail("A105", f"equation has {len(inputs)} subscripts for {len(data)} inputs", attribute="equation")
        sizes: dict[str, Shape] = {}
        for subscript, port in zip(inputs, data, strict=True):
            for label, part in self._labelled(ctx, subscript, port).items():
                what = "axis {axis} of the ellipsis" if label == _ELLIPSIS else "axis {label}"
                message = f"{what} of {{port}} must broadcast with the earlier inputs"
                sizes[label] = ctx.broadcast_shapes(sizes.get(label, part), part, message, label=label, port=port.name)
        shape: list[Size] = []
        for label in output:
            if label not in sizes and label != _ELLIPSIS:
                ctx.fail("A104", f"label {label!r} of the output is in no input subscript", attribute="equation")
            part = sizes.get(label, ())
            if part is None:
                return None
            shape += part
        return tuple(shape)

    def flow(self, flow: Flow, data: tuple[Input, ...]) -> None:
        inputs, output = self._subscripts(None)
        if len(inputs) != len(data):
            flow.unproven("the equation has not one subscript for each input")
        axes = [_axes(subscript, port.rank) for subscript, port in zip(inputs, data, strict=True)]
        covered = max(
            [len(own) - len(subscript) + 1 for own, subscript in zip(axes, inputs, strict=True) if _ELLIPSIS in subscript], default=0
        )
        places = _axes(output, len(output) - 1 + covered if _ELLIPSIS in output else len(output))
        for own, port in zip(axes, data, strict=True):
            for axis, label in enumerate(own):
                if label in places and own.count(label) == 1:
                    flow.keep(port, axis, places.index(label))
            flow.mixes(port, "sums over")

    def _subscripts(self, ctx: Context | None) -> tuple[list[list[str]], list[str]]:
        """The labels of each input and of the output; without `->`, the output has the labels of one input only, in alphabetical order.

        Without a context, the equation is known to have no error.
        """
        left, arrow, right = self.equation.partition("->")
        for subscript in (*left.split(","), right):
            if ctx is not None and not _SUBSCRIPT.fullmatch(subscript):
                ctx.fail("A102", f"subscript {subscript!r} must consist of letters and at most one ellipsis", attribute="equation")
        inputs = [_LABEL.findall(subscript) for subscript in left.split(",")]
        if arrow:
            return inputs, _LABEL.findall(right)
        labels = [label for subscript in inputs for label in subscript if label != _ELLIPSIS]
        single = [label for label in labels if sum(label in subscript for subscript in inputs) == 1]
        return inputs, [_ELLIPSIS, *sorted(single)]

    @staticmethod
    def _labelled(ctx: Context, subscript: list[str], port: Input) -> dict[str, Shape]:
        """The sizes that each label of a subscript stands for: one size, or all that an ellipsis covers."""
        if not port.is_ranked:
            return {label: None if label == _ELLIPSIS else (ctx.unknown(),) for label in subscript}
        covered = port.rank - len(subscript) + 1 if _ELLIPSIS in subscript else 1
        if covered < 0 or (_ELLIPSIS not in subscript and port.rank != len(subscript)):
            message = f"subscript {''.join(subscript)!r} must have a label for each axis of {port.name}, which has rank {port.rank}"
            ctx.fail("S101", message, port=port)
        sizes: dict[str, Shape] = {}
        start = 0
        for label in subscript:
            end = start + (covered if label == _ELLIPSIS else 1)
            part = port.shape[start:end]
            if label in sizes:
                message = "axes of {port} with the label {label} must be equal"
                part = tuple(ctx.merge(a, b, message, port=port.name, label=label) for a, b in zip(sizes[label] or (), part, strict=True))
            sizes[label] = part
            start = end
        return sizes

    def types(self, ctx: Context, data: tuple[Input, ...]) -> ElementType:
        return data[0].element_type

    def cost(self, out: Outputs, data: tuple[Input, ...]) -> Count:
        """For each combination of the labels 1 MAC for every input after the first, or 1 operation if there is one input only."""
        labels: dict[tuple[str, int], Size] = {}
        for subscript, port in zip(self.equation.partition("->")[0].split(","), data, strict=True):
            for label, size in zip(_axes(_LABEL.findall(subscript), port.rank), port.shape, strict=True):
                if labels.get(label, 1) == 1:  # a size of 1 broadcasts
                    labels[label] = size
        combinations = product(labels.values())
        return Count(macs=combinations * (len(data) - 1)) if len(data) > 1 else Count(operations=combinations)


@op("GroupedMatMul", "opset17")
class GroupedMatMul(Op):
    """The products of groups of rows with the transposed matrices of `mat_b` [groups, columns, depth].

    `mat_a` is [groups, rows, depth], or [rows, depth]; then `offsets` say where each group ends.
    """

    mat_a = In(ranked=True)
    mat_b = In(like="mat_a", ranked=True)
    offsets = In(INDEX, optional=True)
    output = Out(like="mat_a")

    def infer(self, ctx: Context, mat_a: Input, mat_b: Input, offsets: Input | None) -> Shape:
        ctx.require_rank(mat_a, (2, 3))
        ctx.require_rank(mat_b, (3,))
        *groups, rows, depth = mat_a.shape
        b_groups, columns, b_depth = mat_b.shape
        ctx.require_eq(depth, b_depth, "mat_a and mat_b must have the same last axis")
        if groups:
            groups = [ctx.merge(groups[0], b_groups, "mat_a and mat_b must have the same number of groups")]
        elif offsets is None:
            ctx.fail("G107", "input 2 (offsets) is missing, which mat_a of rank 2 needs")
        else:
            ctx.require_rank(offsets, (1,))
        return (*groups, rows, columns)

    def cost(self, out: Outputs, mat_a: Input) -> Count:
        """For each element of the output, as many MACs as a row of `mat_a` has elements."""
        return Count(macs=out.elements * mat_a.shape[-1])


@op("Inverse", "opset14")
class Inverse(Op):
    """The inverse, or with `adjoint` the adjoint, of the square matrices in the last two axes."""

    data = In(FLOAT, min_rank=2, ranked=True)
    output = Out(like="data")
    adjoint: bool = False
    openvino_checks = static("S201")

    def infer(self, ctx: Context, data: Input) -> Shape:
        *batch, rows, columns = data.shape
        side = ctx.merge(rows, columns, "the matrices must be square")
        return data.shape if eq(rows, columns) is False else (*batch, side, side)

    def flow(self, flow: Flow, data: Input) -> None:
        flow.keep_all(data, but=[-1, -2], why="inverts matrices along")

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input) -> Sequence[Shape]:
        return [data.partial_shape]

    def cost(self, out: Outputs, data: Input) -> Count:
        """For each element of the output, as many MACs as a row has elements, as in Gauss-Jordan elimination."""
        return Count(macs=out.elements * data.shape[-1])
