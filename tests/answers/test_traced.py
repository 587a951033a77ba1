"""Numbers that remember how they were computed: still numbers, and their terms give them again."""

import math
import random
from typing import Any

import pytest

from irshape.answers.explain.traced import Leaf, Traced, leaves, names, numbers, plain, term_of, text, traced, value
from irshape.shape.dim import Dim, Scope, bounds, ceil_div, dim_max, dim_min, narrow, product


def named(number: Any, name: str) -> Any:
    return traced(number, Leaf(name, number))


A, B, C = named(10, "a"), named(3, "b"), named(2.5, "c")
TEXTS: list[tuple[Any, str, str]] = [
    (A + B + 1, "a + b + 1", "10 + 3 + 1"),
    (A - (B - 1), "a - (b - 1)", "10 - (3 - 1)"),
    (A * (B + 1), "a * (b + 1)", "10 * (3 + 1)"),
    (A // B * 2, "a // b * 2", "10 // 3 * 2"),
    (A // (B * 2), "a // (b * 2)", "10 // (3 * 2)"),
    (A * (B // 2), "a * (b // 2)", "10 * (3 // 2)"),
    (A * (B * 2), "a * b * 2", "10 * 3 * 2"),
    (2**A, "2 ** a", "2 ** 10"),
    (-A + B, "-a + b", "-10 + 3"),
    (ceil_div(A, B), "ceil(a / b)", "ceil(10 / 3)"),
    (ceil_div(A + B, 4), "ceil((a + b) / 4)", "ceil((10 + 3) / 4)"),
    (math.floor(A * C), "floor(a * c)", "floor(10 * 2.5)"),
    (math.prod([A, B, B]), "a * b * b", "10 * 3 * 3"),
    (sum([A, B]), "a + b", "10 + 3"),
    (product([A, B]), "a * b", "10 * 3"),
    # What stands in a rule and changes nothing is not shown.
    ((A - 0) * 1 // 1 + 0, "a", "10"),
    ((A - 1) + 1, "a", "10"),
    (0 + A, "a", "10"),
    # The branch that is taken.
    (dim_max(A, B), "a", "10"),
    (dim_min(A, 4) + B, "4 + b", "4 + 3"),
    (abs(A), "a", "10"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "by_name", "by_number"), TEXTS, ids=[row[1] for row in TEXTS])
def test_a_term_is_written_as_it_was_computed(number: Any, by_name: str, by_number: str) -> None:
    assert text(number.term if isinstance(number, Traced) else number, names) == by_name
    assert text(term_of(number), numbers) == by_number


def test_traced_numbers_are_numbers() -> None:
    assert A == 10
    assert isinstance(A, int)
    assert [1, 2, 3][named(1, "i")] == 2
    assert {A: 1}[10] == 1
    assert plain(A + B) == 13
    assert type(plain(A + B)) is int
    assert A < 11


def test_sizes_that_are_not_known_keep_their_facts_and_terms() -> None:
    scope = Scope()
    size = named(scope.symbol("H", 4, 100), "data[2]")
    half = (size + A) // 2
    assert isinstance(half, Dim)
    assert str(half) == "H//2 + 5"
    assert bounds(half) == (7, 55)
    assert text(half.term, names) == "(data[2] + a) // 2"  # type: ignore[attr-defined]
    assert text(half.term, numbers) == "(H + 10) // 2"  # type: ignore[attr-defined]
    assert text(narrow(half, 8).term, names) == "(data[2] + a) // 2"  # type: ignore[union-attr]
    assert text(dim_min(size, B + 20).term, names) == "min(data[2], b + 20)"  # type: ignore[union-attr]
    assert text((A * half).term, numbers) == "10 * ((H + 10) // 2)"


def test_long_sums_lose_their_middle() -> None:
    total = sum(named(1, f"x[{i}]") for i in range(1000))
    assert text(total.term, names).count("x[") == 12
    assert len(leaves(total.term)) == 1000
    assert value(total.term, lambda leaf: 2) == 2000


def test_a_term_of_too_many_parts_is_refused() -> None:
    number = A
    with pytest.raises(OverflowError):
        for _ in range(64):
            number = number * number % 7 + number


def test_terms_give_their_numbers_again() -> None:
    chance = random.Random(1)
    operations = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a // (abs(b) + 1), lambda a, b: ceil_div(a, abs(b) + 1),
        lambda a, b: a % (abs(b) + 1), dim_min, dim_max,
    ]  # fmt: skip
    for _ in range(2000):
        pool: list[Any] = [named(chance.randint(-9, 9), name) for name in "abcd"] + [0, 1, 2]
        for _ in range(6):
            pool.append(chance.choice(operations)(chance.choice(pool), chance.choice(pool)))
        number = pool[-1]
        if isinstance(number, Traced):
            assert value(number.term, lambda leaf: leaf.value) == number
            written = text(number.term, names)
            known = {leaf.name: leaf.value for leaf in leaves(number.term)}
            assert eval(written, {"ceil": math.ceil, "abs": abs, **known}) == number, written
