"""Positions of windows, against OpenVINO's convolutions and poolings."""

from math import inf

import pytest

from irshape.shape.dim import Scope, Size, bounds, ceil_div, format_size
from irshape.shape.window import auto_padding, transposed_window, window
from tests.shape.recorder import Recorder

# Low and high of the data, kernel, stride, dilation, pads, rounding, the result, the decisions.
WINDOWS: tuple[tuple[float, float, int, int, int, int, int, str, str, list[str]], ...] = (
    (9, 9, 3, 1, 1, 1, 1, "floor", "9", []),
    (9, 9, 3, 2, 2, 0, 0, "floor", "3", []),
    (5, 5, 3, 2, 1, 0, 0, "ceil", "2", []),
    (6, 6, 3, 2, 1, 0, 0, "ceil", "3", []),
    (2, 2, 2, 3, 1, 1, 1, "ceil", "2", []),
    (2, 2, 2, 3, 1, 1, 1, "ceil_torch", "1", []),
    (6, 6, 1, 4, 1, 0, 0, "ceil_torch", "2", []),
    (2, 2, 3, 2, 1, 0, 0, "floor", "1", ["violated S203: 2 >= 3"]),
    (1, 2, 3, 2, 1, 0, 0, "floor", "1", ["never S203: X >= 3"]),
    (1, 3, 3, 2, 1, 0, 0, "floor", "1", ["guard S203: X >= 3"]),
    (1, 3, 3, 2, 1, 1, 1, "floor", "1..2", []),
    (0, inf, 3, 2, 1, 1, 1, "floor", "1..", ["guard S203: X >= 1"]),
    (3, inf, 3, 2, 1, 1, 1, "floor", "2..", []),
    (2, 9, 3, 2, 1, 0, 0, "floor", "1..4", ["guard S203: X >= 3"]),
    (0, 3, 3, 3, 1, 1, 1, "ceil", "1..2", ["guard S203: X >= 1"]),
    (3, 9, 1, 4, 1, 0, 0, "ceil_torch", "1..3", []),
    (5, 5, 0, 2, 1, 0, 0, "floor", "3", []),
    (7, 7, 3, 2, 1, -1, 0, "floor", "2", []),
    (2, 2, 3, 2, 1, -1, 0, "floor", "1", ["never S203: 1 >= 3"]),
    (4, 4, 3, 2, 1, -1, -1, "floor", "1", ["never S203: 2 >= 3"]),
    (2, 2, 3, 2, 1, -1, -1, "floor", "1", ["violated S203: 2 >= 3"]),
)


@pytest.mark.parametrize("row", WINDOWS, ids=[" ".join(map(str, row[:8])) for row in WINDOWS])
def test_window(row: tuple[float, float, int, int, int, int, int, str, str, list[str]]) -> None:
    low, high, kernel, stride, dilation, begin, end, rounding, text, story = row
    ctx = Recorder(Scope())
    size = window(ctx, ctx.scope.symbol("X", low, high), kernel, stride, dilation, begin, end, rounding)
    assert (format_size(size), ctx.story) == (text, story)


# Data, kernel, stride, dilation, pads, output padding, the result, the decisions.
TRANSPOSED: tuple[tuple[float, float, int, int, int, int, int, int, str, list[str]], ...] = (
    (5, 5, 3, 2, 1, 0, 0, 0, "11", []),
    (5, 5, 3, 2, 1, 1, 1, 1, "10", []),
    (0, 0, 3, 2, 1, 0, 0, 0, "3", []),
    (2, 9, 3, 2, 1, 0, 0, 0, "5..19", []),
    (2, 9, 3, 2, 1, -1, 0, 0, "6..20", []),
    (0, inf, 3, 2, 1, 1, 1, 1, "2..", []),
    (2, 9, 1, 1, 1, 2, 2, 0, "..5", ["guard S203: X >= 4"]),
    (1, 1, 1, 1, 1, 2, 2, 0, "0", ["never S203: -3 >= 0"]),
)


@pytest.mark.parametrize("row", TRANSPOSED, ids=[" ".join(map(str, row[:8])) for row in TRANSPOSED])
def test_transposed_window(row: tuple[float, float, int, int, int, int, int, int, str, list[str]]) -> None:
    low, high, kernel, stride, dilation, begin, end, output_padding, text, story = row
    ctx = Recorder(Scope())
    size = transposed_window(ctx, ctx.scope.symbol("X", low, high), kernel, stride, dilation, begin, end, output_padding)
    assert (format_size(size), ctx.story) == (text, story)


def test_formulas() -> None:
    ctx = Recorder(Scope())
    height = ctx.scope.symbol("H", 1)
    assert str(window(ctx, height, 3, 2, 1, 1, 1)) == "(H + 1)//2"
    assert str(window(ctx, height, 3, 2, 1, 0, 0)) == "(H + 1)//2 - 1"
    assert str(window(ctx, height, 2, 2, 1, 0, 0, "ceil_torch")) == "(H + 1)//2"
    assert str(window(ctx, height, 3, 2, 1, 1, 1, "ceil_torch")) == "H//2 + 1"
    assert str(transposed_window(ctx, height, 2, 2, 1, 0, 0)) == "2*H"
    begin, end = auto_padding(height, 3, 1, 1, upper=True)
    assert (begin, end) == (1, 1)
    size: Size = height
    for step in range(50):
        size = window(ctx, size, 3, 2 if step % 10 == 0 else 1, 1, 1, 1)
    assert str(size) == "(H + 31)//32"


def test_auto_padding_keeps_the_number_of_positions() -> None:
    ctx = Recorder(Scope())
    for size in range(1, 14):
        for kernel, stride, dilation in ((1, 1, 1), (3, 2, 1), (2, 3, 2), (4, 2, 1), (5, 3, 1)):
            begin, end = auto_padding(size, kernel, stride, dilation, upper=True)
            assert auto_padding(size, kernel, stride, dilation, upper=False) == (end, begin)
            assert window(ctx, size, kernel, stride, dilation, begin, end) == ceil_div(size, stride)
    assert ctx.decided == []


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["convolution", "pooling", "transposed"])
def test_openvino_agrees(kind: str) -> None:
    """Static sizes equal, bounds never wider, refusals the same."""
    from random import Random

    import numpy
    from openvino import PartialShape
    from openvino import opset14 as ops

    random = Random(kind)
    for _ in range(300):
        low = random.randint(0, 8)
        high = random.choice([low, low, low + random.randint(1, 9), inf])
        kernel, stride, dilation = random.randint(1, 4), random.randint(1, 4), random.randint(1, 2)
        begin, end = random.randint(0, kernel - 1), random.randint(0, kernel - 1)
        rounding = random.choice(["floor", "ceil", "ceil_torch"])
        extra = random.randint(0, stride - 1)
        text = f"{low}" if low == high else f"{low}..{'' if high == inf else high}"
        data = ops.parameter(PartialShape(f"[1,3,{text}]"), numpy.float32)
        weights = ops.parameter(PartialShape([3, 3, kernel]), numpy.float32)
        ctx = Recorder(Scope())
        size = ctx.scope.symbol("X", low, high)
        case = (kind, text, kernel, stride, dilation, begin, end, rounding, extra)
        if kind == "transposed":
            ours = transposed_window(ctx, size, kernel, stride, dilation, begin, end, extra)
        else:
            ours = window(ctx, size, kernel, stride, dilation, begin, end, rounding if kind == "pooling" else "floor")
        try:
            if kind == "convolution":
                node = ops.convolution(data, weights, [stride], [begin], [end], [dilation], "explicit")
            elif kind == "pooling":
                node = ops.max_pool(data, [stride], [dilation], [begin], [end], [kernel], rounding, "explicit", "i64", 0)
            else:
                node = ops.convolution_backprop_data(data, weights, [stride], None, [begin], [end], [dilation], "explicit", [extra])
        except RuntimeError:
            assert any(verdict == "violated" for verdict, _ in ctx.decided), case
            continue
        assert not any(verdict == "violated" for verdict, _ in ctx.decided), case
        theirs = node.output(0).get_partial_shape()[2]
        if theirs.min_length == -1 or ctx.refused:
            # An empty interval: no size is valid, which the context was told.
            assert ctx.refused, case
            continue
        our_low, our_high = bounds(ours)
        assert max(our_low, 0) >= theirs.min_length, case
        assert theirs.max_length == -1 or our_high <= theirs.max_length, case
