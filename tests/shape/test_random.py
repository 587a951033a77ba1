"""Formulas, ranges and answers against plain integers, for random expressions."""

import pytest

from irshape.shape.dim import Size, bounds, congruence, dim_max, dim_min, eq, evaluate, le, lt, narrow
from irshape.shape.guard import all_hold
from irshape.shape.limits import Limits
from irshape.shape.polynomial import Polynomial
from irshape.shape.reported import Reported
from tests.shape.random_sizes import Meaning, RandomSizes, Values
from tests.shape.recorder import Recorder

LIMITS = {"as shipped": Limits(), "few terms": Limits(terms=2, levels=2), "few levels": Limits(terms=3, levels=1)}


@pytest.fixture(params=LIMITS)
def limits(request: pytest.FixtureRequest) -> Limits:
    return LIMITS[request.param]


def assert_facts(size: Size, meaning: Meaning, samples: list[Values]) -> None:
    (low, high), (modulus, remainder) = bounds(size), congruence(size)
    for values in samples:
        value = meaning(values)
        assert evaluate(size, values) == value, (str(size), values)
        assert low <= value <= high, (repr(size), values)
        assert (value - remainder) % modulus == 0 if modulus else value == remainder, (repr(size), values)


def combined(x: Size, f: Meaning, y: Size, g: Meaning) -> tuple[Size, Meaning]:
    return x * 2 - y // 3, lambda values: 2 * f(values) - g(values) // 3


@pytest.mark.slow("take long")
@pytest.mark.parametrize("block", range(6))
def test_expressions_mean_what_plain_integers_mean(limits: Limits, block: int) -> None:
    for seed in range(200 * block, 200 * (block + 1)):
        sizes = RandomSizes(seed, limits)
        f, x = sizes.expression(sizes.random.randint(2, 7))
        g, y = sizes.expression(sizes.random.randint(1, 3))
        samples = [sizes.values() for _ in range(25)]
        assert_facts(x, f, samples)
        assert_facts(y, g, samples)
        assert_facts(narrow(x, min(map(f, samples)), max(map(f, samples))), f, samples)
        for question, answer in ((le, lambda a, b: a <= b), (lt, lambda a, b: a < b), (eq, lambda a, b: a == b)):
            known = question(x, y)
            assert known is None or all(answer(f(values), g(values)) is known for values in samples), (question, str(x), str(y))


@pytest.mark.slow("take long")
@pytest.mark.parametrize("block", range(6))
def test_requirements_hold_exactly_where_plain_integers_say(limits: Limits, block: int) -> None:
    for seed in range(200 * block, 200 * (block + 1)):
        sizes = RandomSizes(seed, limits)
        random = sizes.random
        ctx = Recorder(sizes.scope)
        samples = [sizes.values() for _ in range(40)]
        results: list[tuple[Size, Meaning]] = []
        for _ in range(random.randint(1, 3)):
            (f, x), (g, y) = sizes.expression(random.randint(1, 4)), sizes.expression(random.randint(0, 2))
            kind = random.choice(["ge", "eq", "merge", "div", "exact_div", "broadcast"])
            divisor = random.randint(2, 6)
            if kind == "ge":
                ctx.require_ge(x, y, "")
                samples = [values for values in samples if f(values) >= g(values)]
            elif kind == "eq":
                ctx.require_eq(x, y, "")
                samples = [values for values in samples if f(values) == g(values)]
            elif kind == "merge":
                results.append((ctx.merge(x, y, ""), f))
                samples = [values for values in samples if f(values) == g(values)]
            elif kind == "div":
                ctx.require_div(x, divisor, "")
                samples = [values for values in samples if f(values) % divisor == 0]
            elif kind == "exact_div":
                results.append((ctx.exact_div(x, divisor, ""), lambda values, f=f, d=divisor: f(values) // d))
                samples = [values for values in samples if f(values) % divisor == 0]
            else:
                results.append((ctx.broadcast(x, y, ""), lambda values, f=f, g=g: g(values) if f(values) == 1 else f(values)))
                samples = [values for values in samples if f(values) == g(values) or 1 in (f(values), g(values))]
        if ctx.refused:
            assert not samples, ctx.refused
        for values in samples:
            assert all(guard.holds(values) for guard in ctx.guards), (ctx.guards, values)
        (f, x) = sizes.expression(3)
        results += [(x, f), *((size, lambda values, name=name: values[name]) for name, size in sizes.symbols.items())]
        # The range of a merged size holds for all that is computed from it.
        results.append(combined(*results[0], *results[-1]))
        reported = Reported(sizes.scope, ctx.guards)
        assert not (reported.is_contradictory and samples), (ctx.guards, samples)
        for size, meaning in results:
            assert_facts(size, meaning, samples)
            low, high = reported.bounds(size)
            assert all(low <= meaning(values) <= high for values in samples), (str(size), low, high, ctx.guards)


def test_formulas_and_requirements_read_as_python() -> None:
    functions = {"min": min, "max": max, "broadcast": lambda a, b: b if a == 1 else a}
    for seed in range(400):
        sizes = RandomSizes(seed)
        ctx = Recorder(sizes.scope)
        (_, x), (_, y) = sizes.expression(4), sizes.expression(3)
        z = ctx.broadcast(x, y, "")
        ctx.require_eq(x, y, "")
        ctx.require_ge(x + 3, 2 * y, "")
        ctx.require_div(x, 4, "")
        ctx.require_eq(x, 5 * (x // 5) + 2, "")
        for _ in range(20):
            names = {**functions, **(values := sizes.values())}
            assert eval(str(x), {}, names) == evaluate(x, values)
            assert eval(str(z), {}, names) == evaluate(z, values)
            for guard in ctx.guards:
                assert eval(str(guard), {}, names) == guard.holds(values), (str(guard), values)
            for some in (ctx.guards, ctx.guards[:2], []):
                assert all_hold(some)(values) == all(guard.holds(values) for guard in some), (some, values)


@pytest.mark.parametrize("block", range(4))
def test_equal_mathematics_is_one_form(block: int) -> None:
    """The normal form does not depend on the order of operations, as far as it promises."""
    for seed in range(100 * block, 100 * (block + 1)):
        sizes = RandomSizes(seed)
        (_, x), (_, y), (_, z) = (sizes.expression(3) for _ in range(3))
        n: Size = sizes.random.randint(-20, 20)
        for name in "pqr"[: sizes.random.randint(1, 3)]:
            n += sizes.random.randint(-9, 9) * sizes.scope.symbol(name)
        for left, right in (
            (x + y, y + x),
            ((x + y) + z, x + (y + z)),
            (x * 2 + y * 2, (x + y) * 2),
            (x - y, -(y - x)),
            (x - x, 0),
            (dim_max(dim_min(n, 7), 3), dim_max(3, dim_min(7, n))),
            ((x + 6) // 3, x // 3 + 2),
            (-(-n // 4), (n + 3) // 4),
            ((n // 2) // 3, n // 6),
            (((n + 1) // 2 + 1) // 2, (n + 3) // 4),
            (n // 3 * 3 + n % 3, n),
            (6 * n // 4, 3 * n // 2),
            (n // -3, -n // 3),
        ):
            assert eq(left, right), (str(left), str(right))


@pytest.mark.parametrize("block", range(2))
def test_the_range_of_a_formula_is_the_one_that_all_replacements_of_atoms_give(limits: Limits, block: int) -> None:
    """Where the terms of a formula have no common symbol no atom is replaced, and formulas that differ in the constant share the work."""
    for seed in range(200 * block, 200 * (block + 1)):
        sizes = RandomSizes(seed, limits)
        for _ in range(3):
            sizes.expression(sizes.random.randint(2, 7))
        table = sizes.scope.polynomials
        ranges = list(table.ranges)  # with a list of its own, `bound` leaves out no replacement
        for known in table._polynomials.values():
            if isinstance(known, Polynomial):
                assert table.bound(known.constant, known.terms, ranges) == known.range, str(known)
