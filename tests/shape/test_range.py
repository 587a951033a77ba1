"""Ranges against every integer that they contain."""

from collections.abc import Callable
from itertools import product
from math import inf
from random import Random

import pytest

from irshape.shape import range as ranges
from irshape.shape.range import Range, meet, reduced

# An operation, its function of integers, whether its bounds are the tightest for independent operands of congruence 1.
OPERATIONS: tuple[tuple[str, Callable[[int, int], int], bool], ...] = (
    ("add", lambda x, y: x + y, True),
    ("subtract", lambda x, y: x - y, True),
    ("multiply", lambda x, y: x * y, True),
    ("floor", lambda x, y: x // y, True),
    ("modulo", lambda x, y: x % y, False),
    ("minimum", min, True),
    ("maximum", max, True),
)


def random_range(random: Random, low: int) -> tuple[Range, list[int]]:
    start, modulus = random.randint(low, 8), random.choice([1, 1, 2, 3, 4])
    end, remainder = start + random.randint(modulus, 9), random.randrange(modulus)
    result = reduced(start, end, modulus, remainder)
    assert result is not None
    return result, [value for value in range(start, end + 1) if value % modulus == remainder]


def allows(known: Range, value: int) -> bool:
    if known.modulus == 0:
        return value == known.remainder
    return known.low <= value <= known.high and value % known.modulus == known.remainder


@pytest.mark.parametrize(("name", "operation", "is_tight"), OPERATIONS, ids=[row[0] for row in OPERATIONS])
def test_results_are_allowed_and_bounds_are_tight(name: str, operation: Callable[[int, int], int], is_tight: bool) -> None:
    random = Random(name)
    for _ in range(400):
        (a, xs), (b, ys) = random_range(random, -8), random_range(random, 1 if name in ("floor", "modulo") else -8)
        result = getattr(ranges, name)(a, b)
        values = [operation(x, y) for x, y in product(xs, ys)]
        assert all(allows(result, value) for value in values), (a, b, result)
        if is_tight and a.modulus < 2 and b.modulus < 2:
            assert (result.low, result.high) == (min(values), max(values)), (a, b, result)


def test_meeting_is_intersection_and_joining_holds_both() -> None:
    random = Random(1)
    for _ in range(800):
        (a, xs), (b, ys) = random_range(random, -8), random_range(random, -8)
        both, either = meet(a, b), ranges.join(a, b)
        common = [value for value in xs if value in ys]
        assert (both is None) == (not common)
        if both is not None:
            assert [value for value in range(-20, 40) if allows(both, value)] == common
        assert all(allows(either, value) for value in xs + ys)


# Operation, operands, result.
UNBOUNDED: tuple[tuple[str, Range, Range, Range], ...] = (
    ("add", Range(1, inf), Range(2, 5), Range(3, inf)),
    ("subtract", Range(1, 9), Range(2, inf), Range(-inf, 7)),
    ("multiply", Range(0, inf), Range(0, 5), Range(0, inf)),
    ("multiply", Range(-2, inf), Range(-1, 5), Range(-inf, inf)),
    ("multiply", Range(0, inf, 4, 2), Range(0, inf, 6, 3), Range(6, inf, 12, 6)),
    ("floor", Range(0, inf), Range(1, inf), Range(0, inf)),
    ("floor", Range(-8, -1), Range(1, inf), Range(-8, -1)),
    ("floor", Range(5, 9), Range(2, inf), Range(0, 4)),
    ("floor", Range(0, 9), Range(0, 3), Range(0, 9)),
    ("floor", Range(0, 9), Range(-1, 3), Range(-inf, inf)),
    ("floor", Range(0, inf, 12, 7), Range(3, 3, 0, 3), Range(2, inf, 4, 2)),
    ("modulo", Range(-inf, inf), Range(1, 7), Range(0, 6)),
    ("modulo", Range(0, 3), Range(1, inf), Range(0, 3)),
    ("modulo", Range(0, inf, 6, 5), Range(4, 4, 0, 4), Range(1, 3, 2, 1)),
    ("modulo", Range(0, 9), Range(0, 0, 0, 0), Range(-inf, inf)),
)


@pytest.mark.parametrize(("name", "a", "b", "result"), UNBOUNDED)
def test_unbounded(name: str, a: Range, b: Range, result: Range) -> None:
    assert getattr(ranges, name)(reduced(*a), reduced(*b)) == result


def test_huge_numbers_are_given_up() -> None:
    known = Range(2**200, 2**300)
    for _ in range(20):
        known = ranges.multiply(known, known)
    assert known == Range(2**256, inf)
    known = Range(0, inf, 2**100, 0)
    for _ in range(20):
        known = ranges.multiply(known, known)
    assert known == Range(0, inf)
