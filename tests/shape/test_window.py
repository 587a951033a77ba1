"""Positions of windows, against OpenVINO's convolutions and poolings."""

from math import inf

import pytest

from irshape.shape.dim import Scope, Size, format_size
from irshape.shape.window import Slide, transposed_window, window
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
    size = window(ctx, ctx.scope.symbol("X", low, high), kernel, Slide(stride, dilation, begin, end), rounding)
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
    size = transposed_window(ctx, ctx.scope.symbol("X", low, high), kernel, Slide(stride, dilation, begin, end), output_padding)
    assert (format_size(size), ctx.story) == (text, story)


def test_formulas() -> None:
    ctx = Recorder(Scope())
    height = ctx.scope.symbol("H", 1)
    assert str(window(ctx, height, 3, Slide(2, 1, 1, 1))) == "(H + 1)//2"
    assert str(window(ctx, height, 3, Slide(2, 1, 0, 0))) == "(H + 1)//2 - 1"
    assert str(window(ctx, height, 2, Slide(2, 1, 0, 0), "ceil_torch")) == "(H + 1)//2"
    assert str(window(ctx, height, 3, Slide(2, 1, 1, 1), "ceil_torch")) == "H//2 + 1"
    assert str(transposed_window(ctx, height, 2, Slide(2, 1, 0, 0))) == "2*H"
    size: Size = height
    for step in range(50):
        size = window(ctx, size, 3, Slide(2 if step % 10 == 0 else 1, 1, 1, 1))
    assert str(size) == "(H + 31)//32"
