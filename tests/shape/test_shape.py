"""Merging and broadcasting shapes, and their text."""

import pytest

from irshape.shape.dim import Scope, product
from irshape.shape.notation import parse_shape, shape_text, size_of
from irshape.shape.reported import Reported
from irshape.shape.shape import Shape, broadcast_shapes, format_shape, merge_shapes
from tests.shape.recorder import Recorder


def shape_of(ctx: Recorder, text: str, side: str) -> Shape:
    described = parse_shape(text)
    return None if described is None else tuple(size_of(ctx.scope, size, (side, axis)) for axis, size in enumerate(described))


# Kind (`axis N` is pdpd), the two shapes, the result in OpenVINO's notation, the decisions.
ROWS: tuple[tuple[str, str, str, str, list[str]], ...] = (
    ("merge", "2,3", "2,3", "[2,3]", []),
    ("merge", "...", "2,3", "[2,3]", []),
    ("merge", "2,?", "...", "[2,?]", []),
    ("merge", "...", "...", "[...]", []),
    ("merge", "", "", "[]", []),
    ("merge", "2,3", "2,4", "[2,3]", ["violated S201: 3 == 4"]),
    ("merge", "2,3", "2,3,4", "[2,3]", ["violated S102: 2 == 3"]),
    ("merge", "N,1..8", "N,3..", "[?,3..8]", ["guard S201: d0 == d1"]),
    ("numpy", "2,3", "2,3", "[2,3]", []),
    ("numpy", "2,3", "...", "[...]", []),
    ("numpy", "", "2,3", "[2,3]", []),
    ("numpy", "8,1,6,1", "7,1,5", "[8,7,6,5]", []),
    ("numpy", "7,1,5", "8,1,6,1", "[8,7,6,5]", []),
    ("numpy", "2,3", "4,3", "[2,3]", ["violated S202: 2 == 4 or 1 in (2, 4)"]),
    ("numpy", "H,3", "H,1", "[?,3]", []),
    ("numpy", "1..8,3", "..5,1", "[..8,3]", ["guard S202: d0 == d1 or 1 in (d0, d1)"]),
    ("numpy", "0,3", "1,3", "[0,3]", []),
    ("none", "2,3", "2,3", "[2,3]", []),
    ("none", "2,3", "...", "[2,3]", []),
    ("none", "2,3", "2,1", "[2,3]", ["violated S202: 3 == 1"]),
    ("none", "2,3", "3", "[2,3]", ["violated S202: 2 == 1"]),
    ("explicit", "2,3", "2,3", "[2,3]", []),
    ("axis 0", "2,3,4", "2,3", "[2,3,4]", []),
    ("axis 1", "2,3,4", "3", "[2,3,4]", []),
    ("axis 1", "2,3,4", "3,4", "[2,3,4]", []),
    ("axis -1", "2,3,4", "3,4", "[2,3,4]", []),
    ("axis -1", "2,3,4", "1,3,1", "[2,3,4]", []),
    ("axis 0", "2,3,4", "", "[2,3,4]", []),
    ("axis 0", "2,3", "...", "[...]", []),
    ("axis 0", "2,3,4", "3,4", "[2,3,4]", ["violated S202: 2 >= 3", "violated S202: 3 >= 4"]),
    ("axis 0", "4,3", "2,3", "[4,3]", ["violated S202: 4 == 2 or 1 in (4, 2)"]),
    ("axis 0", "1,3", "2,3", "[1,3]", ["violated S202: 1 >= 2"]),
    ("axis 0", "1", "0", "[0]", []),
    ("axis 0", "0", "1", "[0]", ["violated S202: 0 >= 1"]),
    ("axis 0", "2,3", "2,3,4", "[2,3]", ["violated S202: 2 >= 3"]),
    ("axis 2", "2,3,4", "4,1", "[2,3,4]", ["violated S202: 3 >= 4"]),
    ("axis 0", "?,3,4", "2", "[2,3,4]", ["guard S202: d0 >= 2", "guard S202: d0 in (1, 2)"]),
    ("axis 0", "1..5,3", "..8", "[..8,3]", ["guard S202: d0 >= d1", "guard S202: d0 == d1 or 1 in (d0, d1)"]),
    ("axis 0", "1..5,3", "2..8", "[2..5,3]", ["guard S202: d0 >= d1", "guard S202: d0 == d1 or 1 in (d0, d1)"]),
)


def run(row: tuple[str, str, str, str, list[str]]) -> tuple[Recorder, Shape]:
    ctx = Recorder(Scope())
    kind, a, b = row[0], shape_of(ctx, row[1], "a"), shape_of(ctx, row[2], "b")
    if kind == "merge":
        return ctx, merge_shapes(ctx, a, b)
    if kind.startswith("axis"):
        return ctx, broadcast_shapes(ctx, a, b, "pdpd", int(kind.split()[1]))
    return ctx, broadcast_shapes(ctx, a, b, kind)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}: [{row[1]}] and [{row[2]}]" for row in ROWS])
def test_two_shapes(row: tuple[str, str, str, str, list[str]]) -> None:
    ctx, result = run(row)
    assert (format_shape(result), ctx.story) == row[3:]


@pytest.mark.oracle
@pytest.mark.parametrize("row", [row for row in ROWS if row[0] in ("numpy", "none", "axis 0")], ids=lambda row: f"{row[:3]}")
def test_openvino_agrees(row: tuple[str, str, str, str, list[str]]) -> None:
    import numpy
    from openvino import PartialShape
    from openvino import opset15 as ops

    a, b = (
        ops.parameter(PartialShape(f"[{text}]".replace("[...]", "...").replace("N", "?").replace("H", "?")), numpy.float32)
        for text in row[1:3]
    )
    ctx, result = run(row)
    if row[0].startswith("axis"):
        row = ("pdpd", *row[1:])
    try:
        shape = ops.add(a, b, row[0].upper()).output(0).get_partial_shape()
    except RuntimeError:
        assert any(verdict == "violated" for verdict, _ in ctx.decided)
    else:
        assert not ctx.refused
        ours = PartialShape(format_shape(result))
        assert ours == shape or (ours.rank.is_static and ours.refines(shape))


def test_texts() -> None:
    ctx = Recorder(Scope())
    height, width = ctx.scope.symbol("H", 32, 1024), ctx.scope.symbol("W")
    shape: Shape = (1, 64, (height + 1) // 2, width)
    assert format_shape(shape) == "[1,64,16..512,?]"
    assert shape_text(shape) == "[1,64,(H + 1)//2,W]"
    assert str(product(shape)) == "64*W*((H + 1)//2)"
    ctx.require_ge(width, 7, "")
    assert format_shape(shape, Reported(ctx.scope, ctx.guards).bounds) == "[1,64,16..512,7..]"
    assert (format_shape(None), shape_text(None)) == ("[...]", "[...]")
    assert (format_shape(()), shape_text(()), product(())) == ("[]", "[]", 1)
