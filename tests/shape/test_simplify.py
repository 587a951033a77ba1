"""A requirement is simplified to an equivalent one."""

import random
from math import inf

import pytest

from irshape.shape.dim import Dim, Scope, Size, dim_max, dim_min
from irshape.shape.guard import Requirement
from irshape.shape.limits import DEFAULT
from irshape.shape.remainders import Known
from irshape.shape.reported import Reported
from irshape.shape.simplify import simplified
from tests.shape.random_sizes import RandomSizes

ROWS = (
    ("ge", "(H + 3) // 4", "2", ["H >= 5"]),
    ("ge", "5", "(H + 3) // 4", ["H <= 20"]),
    ("ge", "H // 4 // 8", "1", ["H >= 32"]),
    ("ge", "3 * (H // 4)", "8", ["H >= 12"]),
    ("ge", "H", "(H + 1) // 2 + 1", ["H >= 2"]),
    ("ge", "H - H // 2", "W", ["H + 1 >= 2*W"]),
    ("ge", "(H + 1) // 2", "2 * ((H + 7) // 8) + 1", ["H >= 4*((H + 7)//8) + 1"]),
    ("ge", "B * ((H + 7) // 8) * (W // 2)", "1", ["B >= 1", "H >= 1", "W >= 2"]),
    ("ge", "B * H", "2", ["B*H >= 2"]),
    ("ge", "dim_min(H, W)", "7", ["H >= 7", "W >= 7"]),
    ("ge", "9", "dim_max(H, W)", ["H <= 9", "W <= 9"]),
    ("ge", "dim_max(H, W)", "7", ["max(H, W) >= 7"]),
    ("ge", "H + 1", "H", []),
    ("eq", "(H + 7) // 8", "H // 8", ["H % 8 == 0"]),
    ("eq", "(H + 12) // 16", "(H + 4) // 16", ["(H + 4) % 16 <= 7"]),
    ("eq", "2 * ((H + 15) // 16)", "(H + 7) // 8", ["((H + 7)//8) % 2 == 0"]),
    ("eq", "3 * (H // 3)", "H", ["H % 3 == 0"]),
    ("eq", "P * H", "P * W", ["H == W"]),
    ("eq", "B * H", "B * W", ["B*H == B*W"]),
    ("eq", "H", "5", ["H == 5"]),
    ("eq", "H", "dim_max(H - 1, 0) + 1", ["H >= 1"]),
    ("eq", "dim_min(H, 7)", "H", ["H <= 7"]),
    ("eq", "H", "P * (H // P)", ["H % P == 0"]),
    ("div", "6 * H", "4", ["H % 2 == 0"]),
    ("div", "6 * H + 4 * W", "8", ["(H + 2*W) % 4 == 0"]),
    ("div", "8 * H", "4", []),
    ("div", "H + 4", "2", ["H % 2 == 0"]),
    ("div", "H + 4 * W + 7", "4", ["(H + 3) % 4 == 0"]),
    ("div", "H", "W", ["H % W == 0"]),
    ("broadcast", "H", "3", ["H in (1, 3)"]),
    ("broadcast", "H", "W", ["H == W or 1 in (H, W)"]),
    ("broadcast", "2 * H", "4 * W", ["H == 2*W"]),
    ("stretch", "H", "3", ["H in (1, 3)"]),
    ("broadcast", "P", "dim_max(P, Q)", ["P == 1 or P >= Q"]),
    ("broadcast", "P", "dim_min(P, Q)", ["Q == 1 or Q >= P"]),
    ("broadcast", "P", "Q - dim_max(Q - P, 0)", ["Q == 1 or Q >= P"]),
    ("broadcast", "P", "dim_min(P + 3, Q + 6) - 3", ["Q + 3 >= P"]),
    ("stretch", "2 * H", "2", ["H == 1"]),
    ("stretch", "H", "dim_max(H, P)", ["H == 1 or H >= P"]),
    ("stretch", "H", "dim_max(H, 1)", ["H >= 1"]),
    ("stretch", "P", "dim_min(P, Q)", ["Q >= P"]),
    ("stretch", "dim_max(P, Q)", "P", ["P >= Q"]),
)


def requirement(kind: str, a: Size, b: Size) -> Requirement:
    return Requirement(kind, a, b, "{a} and {b}", "S201", {})


@pytest.mark.parametrize(("kind", "a", "b", "expected"), ROWS, ids=[f"{kind} {a}, {b}" for kind, a, b, _ in ROWS])
def test_words(kind: str, a: str, b: str, expected: list[str]) -> None:
    scope = Scope()
    names = {name: scope.symbol(name, low, inf) for name, low in (("B", 0), ("H", 0), ("W", 0), ("P", 1), ("Q", 1))}
    given = {"dim_min": dim_min, "dim_max": dim_max, **names}
    asked = requirement(kind, eval(a, {}, given), eval(b, {}, given))
    parts = simplified(asked)
    assert list(map(str, parts)) == expected
    assert {part.message for part in parts} <= {asked.message}


@pytest.mark.parametrize("block", range(6))
def test_simpler_words_say_the_same(block: int) -> None:
    for seed in range(120 * block, 120 * (block + 1)):
        sizes = RandomSizes(seed)
        kind = sizes.random.choice(["ge", "ge", "eq", "eq", "div", "broadcast", "stretch"])
        _, a = sizes.expression(sizes.random.randint(1, 4))
        _, b = sizes.expression(sizes.random.randint(0, 2))
        asked = requirement(kind, a, sizes.random.randint(1, 12) if kind == "div" else b)
        parts = simplified(asked)
        for _ in range(30):
            values = sizes.values()
            assert asked.holds(values) == all(part.holds(values) for part in parts), (str(asked), [str(part) for part in parts], values)


def test_an_argument_that_is_resolved_in_turn_makes_new_atoms() -> None:
    """Where `S` is at most 64, the formula has a `max` and a `min` that no size had before."""
    scope = Scope()
    size, other, more = scope.symbol("S", 1), scope.symbol("T", 1), scope.symbol("U", 1)
    whole = dim_max(dim_min(dim_max(dim_min(size, 64), other), 100) + more, 64)
    known = Known(scope, [Requirement("ge", a, b, "", "S203", {}) for a, b in ((64, size), (more, 64))])
    assert str(known.simplest(whole)) == "U + min(max(S, T), 100)"


OPERATIONS = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a + b if isinstance(b, Dim) else a * b,
    lambda a, b: a - b if isinstance(b, Dim) else a // b, dim_min, dim_max,
]  # fmt: skip


def demand(kind: str, a: Size, b: Size) -> Requirement:
    return Requirement(kind, a, b, "", "S201", {})


def test_a_chain_of_guards_is_followed_to_its_end() -> None:
    """Each size is larger than the next one, and the last one is at least 5."""
    scope = Scope(DEFAULT)
    sizes = [scope.symbol(f"N{index}", 0) for index in range(100)]
    chain = [demand("ge", sizes[index], sizes[index + 1] + 1) for index in range(99)]
    for guards in ([*chain, demand("ge", sizes[-1], 5)], [demand("ge", sizes[-1], 5), *reversed(chain)]):
        assert Reported(scope, guards).bounds(sizes[0])[0] == 104


def test_guards_that_no_sizes_meet_take_little_work() -> None:
    """`N//2` and `N` are equal for 0 only, and `M` is at least 1: each round only doubles what they are at least."""
    scope = Scope(DEFAULT)
    first, other = scope.symbol("N", 1), scope.symbol("M", 1)
    assert Reported(scope, [demand("eq", first // 2, other), demand("eq", first, other)]).unfinished is None
    assert DEFAULT.work - scope.work.left < 3_000  # it was 11,000


def test_halves_of_halves_take_little_work() -> None:
    """The half of the half ... of `N` is even: `N` is a multiple of 2**50, which two rounds tell."""
    scope = Scope(DEFAULT)
    size = scope.symbol("N", 1)
    assert Reported(scope, [demand("div", size // 2**index, 2) for index in range(50)]).range(size) == (2**50, inf, 2**50, 0)
    assert DEFAULT.work - scope.work.left < 4_000  # it was 47,785, and the modulus was 2


def test_a_floor_that_a_question_replaces_is_counted_as_work() -> None:
    """Of `N - N//2` the floor is replaced by `N`; of `N - N//2 - M//3` two floors are, whichever is the last. Each takes 8 steps."""
    scope = Scope(DEFAULT)
    size, other = scope.symbol("N", 1), scope.symbol("M", 1)
    for total, replaced in ((size - size // 2, 1), (size - size // 2 - other // 3, 2)):
        before = scope.work.left
        scope.polynomials.bound_given(total.polynomial, {})
        assert before - scope.work.left == 8 * replaced


@pytest.mark.parametrize("seed", [*range(10), 111, 148, 174, 365, 461, 729, 755, 826, 1054, 2280])
def test_no_order_of_guards_changes_a_bound(seed: int) -> None:
    chance = random.Random(seed)
    scope = Scope(DEFAULT)
    sizes: list[Size] = [scope.symbol(name, chance.randint(0, 2), chance.choice((6, 10, 20))) for name in "ABCDE"]
    for _ in range(chance.choice((2, 4, 8))):
        made = chance.choice(OPERATIONS)(chance.choice(sizes), chance.choice([*sizes, 1, 2, 3, 7]))
        sizes += [made] if isinstance(made, Dim) else []
    guards = []
    for _ in range(chance.choice((2, 4, 7))):
        kind = chance.choice(("ge", "ge", "eq", "div", "broadcast", "stretch"))
        other = chance.choice((2, 3, 4)) if kind == "div" else chance.choice([*sizes, 1, 2, 3, 7])
        guards.append(demand(kind, chance.choice(sizes), other))
    found = []
    for _ in range(6):
        scope.work.renew()
        reported = Reported(scope, guards)
        found.append((reported.is_contradictory, [reported.range(size) for size in sizes]))
        chance.shuffle(guards)
    assert all(one == found[0] for one in found)
