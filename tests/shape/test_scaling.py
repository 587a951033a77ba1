"""A size times a float is the same for a number, a formula and an unknown size."""

from math import inf
from random import Random

import pytest

from irshape.shape.dim import Scope, bounds, evaluate, symbols
from irshape.shape.window import float32, scaled

ROWS = [
    (2.0, 0, inf, "2*H"),
    (0.5, 0, inf, "H//2"),
    (2.0, 0, 2**60, "2*H"),
    (float32(1 / 3), 0, inf, "H//3"),
    (1.5, 1, 512, "H + H//2"),
    (float32(0.333), 1, 512, "(333*H)//1000"),
    (1.0, 0, inf, "H"),
]


@pytest.mark.parametrize(("scale", "low", "high", "formula"), ROWS)
def test_formula(scale: float, low: int, high: float, formula: str) -> None:
    """A scale gives the simplest equivalent fraction."""
    assert str(scaled(Scope().symbol("H", low, high), scale)) == formula


def test_a_scale_of_0() -> None:
    """The millionth gives a size of 1,000,000 an element, so a size without upper bound is not 0 for certain."""
    assert scaled(Scope().symbol("H", 0, 900_000), 0.0) == 0
    assert bounds(scaled(Scope().symbol("H", 0, inf), 0.0)) == (0, inf)
    assert scaled(1_100_000, 0.0) == 1


NUMBERS = [(10, 0.7, 7), (9, 1 / 3, 3), (1_200_000, 2.0, 2_400_001), (10, -2.0, -19), (0, 5.0, 0)]


@pytest.mark.parametrize(("size", "scale", "expected"), NUMBERS)
def test_number(size: int, scale: float, expected: int) -> None:
    """Numbers are computed as in OpenVINO: in float32, with a millionth added."""
    assert scaled(size, float32(scale)) == expected


def test_every_size_of_a_range() -> None:
    """Formula and bounds contain the result for each size up to the guaranteed limit."""
    random = Random(11)
    scales = [0.0, 0.1, 0.125, 0.25, 2 / 3, 0.7, 224 / 300, 1.1, 3.0, 7.3, 8.0, *(random.uniform(0.01, 10) for _ in range(20))]
    for scale in map(float32, scales):
        for low, high in ((0, inf), (1, 512), (0, 5_000), (3, 100_000), (0, 3_000_000), (10, 20)):
            size = scaled(Scope().symbol("H", low, high), scale)
            least, most = bounds(size)
            top = 100_000 if high == inf else int(high)
            for value in (low, top, top - 1, *(random.randint(low, top) for _ in range(60))):
                expected = scaled(value, scale)
                assert least <= expected <= most
                if symbols(size) <= {"H"}:
                    assert evaluate(size, {"H": value}) == expected, (scale, value, str(size))
