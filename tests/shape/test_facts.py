"""Intervals and congruences against every integer they allow."""

from collections.abc import Callable
from itertools import product
from math import inf
from random import Random

import pytest

from irshape.shape import facts
from irshape.shape.facts import Facts, meet, settle

# An operation, what it does to integers, whether its bounds are the tightest for independent operands of congruence 1.
OPERATIONS: tuple[tuple[str, Callable[[int, int], int], bool], ...] = (
    ("add", lambda x, y: x + y, True),
    ("subtract", lambda x, y: x - y, True),
    ("multiply", lambda x, y: x * y, True),
    ("floor", lambda x, y: x // y, True),
    ("modulo", lambda x, y: x % y, False),
    ("minimum", min, True),
    ("maximum", max, True),
)


def random_facts(random: Random, low: int) -> tuple[Facts, list[int]]:
    start, modulus = random.randint(low, 8), random.choice([1, 1, 2, 3, 4])
    end, remainder = start + random.randint(modulus, 9), random.randrange(modulus)
    result = settle(start, end, modulus, remainder)
    assert result is not None
    return result, [value for value in range(start, end + 1) if value % modulus == remainder]


def allows(known: Facts, value: int) -> bool:
    if known.modulus == 0:
        return value == known.remainder
    return known.low <= value <= known.high and value % known.modulus == known.remainder


@pytest.mark.parametrize(("name", "operation", "is_tight"), OPERATIONS, ids=[row[0] for row in OPERATIONS])
def test_results_are_allowed_and_bounds_are_tight(name: str, operation: Callable[[int, int], int], is_tight: bool) -> None:
    random = Random(name)
    for _ in range(400):
        (a, xs), (b, ys) = random_facts(random, -8), random_facts(random, 1 if name in ("floor", "modulo") else -8)
        result = getattr(facts, name)(a, b)
        values = [operation(x, y) for x, y in product(xs, ys)]
        assert all(allows(result, value) for value in values), (a, b, result)
        if is_tight and a.modulus < 2 and b.modulus < 2:
            assert (result.low, result.high) == (min(values), max(values)), (a, b, result)


def test_meeting_is_intersection_and_joining_holds_both() -> None:
    random = Random(1)
    for _ in range(800):
        (a, xs), (b, ys) = random_facts(random, -8), random_facts(random, -8)
        both, either = meet(a, b), facts.join(a, b)
        common = [value for value in xs if value in ys]
        assert (both is None) == (not common)
        if both is not None:
            assert [value for value in range(-20, 40) if allows(both, value)] == common
        assert all(allows(either, value) for value in xs + ys)


# Operation, operands, result.
UNBOUNDED: tuple[tuple[str, Facts, Facts, Facts], ...] = (
    ("add", Facts(1, inf), Facts(2, 5), Facts(3, inf)),
    ("subtract", Facts(1, 9), Facts(2, inf), Facts(-inf, 7)),
    ("multiply", Facts(0, inf), Facts(0, 5), Facts(0, inf)),
    ("multiply", Facts(-2, inf), Facts(-1, 5), Facts(-inf, inf)),
    ("multiply", Facts(0, inf, 4, 2), Facts(0, inf, 6, 3), Facts(6, inf, 12, 6)),
    ("floor", Facts(0, inf), Facts(1, inf), Facts(0, inf)),
    ("floor", Facts(-8, -1), Facts(1, inf), Facts(-8, -1)),
    ("floor", Facts(5, 9), Facts(2, inf), Facts(0, 4)),
    ("floor", Facts(0, 9), Facts(0, 3), Facts(0, 9)),
    ("floor", Facts(0, 9), Facts(-1, 3), Facts(-inf, inf)),
    ("floor", Facts(0, inf, 12, 7), Facts(3, 3, 0, 3), Facts(2, inf, 4, 2)),
    ("modulo", Facts(-inf, inf), Facts(1, 7), Facts(0, 6)),
    ("modulo", Facts(0, 3), Facts(1, inf), Facts(0, 3)),
    ("modulo", Facts(0, inf, 6, 5), Facts(4, 4, 0, 4), Facts(1, 3, 2, 1)),
    ("modulo", Facts(0, 9), Facts(0, 0, 0, 0), Facts(-inf, inf)),
)


@pytest.mark.parametrize(("name", "a", "b", "result"), UNBOUNDED)
def test_unbounded(name: str, a: Facts, b: Facts, result: Facts) -> None:
    assert getattr(facts, name)(settle(*a), settle(*b)) == result


def test_huge_numbers_are_given_up() -> None:
    known = Facts(2**200, 2**300)
    for _ in range(20):
        known = facts.multiply(known, known)
    assert known == Facts(2**256, inf)
    known = Facts(0, inf, 2**100, 0)
    for _ in range(20):
        known = facts.multiply(known, known)
    assert known == Facts(0, inf)
