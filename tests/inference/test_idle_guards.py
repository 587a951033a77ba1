"""No guard of a model holds for all sizes of its inputs: it would say nothing."""

from pathlib import Path
from random import Random

import pytest

import irshape
from irshape.inference.run import Guard
from irshape.shape.dim import Dim, Scope
from irshape.shape.formula import parse_formula, size_by
from irshape.shape.guard import Requirement, all_hold
from irshape.shape.polynomial import PolynomialTable
from irshape.shape.simplify import simplified
from tests.support.irs import PATHS, named

TRIES = 500


def table_of(guard: Guard) -> PolynomialTable:
    """The table of the formulas of a guard."""
    return next(side.scope.polynomials for side in (guard.requirement.a, guard.requirement.b) if isinstance(side, Dim))


def numbers(guard: Guard, random: Random) -> dict[str, int]:
    """Numbers for the symbols of a guard, in their ranges; now and then two are equal."""
    table = table_of(guard)
    found: dict[str, int] = {}
    for atom in table.atoms:
        if atom.kind == "symbol" and atom.name in guard.requirement.symbols():
            low, high, modulus, remainder = table.ranges[atom.index]
            least = int(max(low, -50))
            number = random.randint(least, int(min(high, least + random.choice((3, 8, 40, 300)))))
            found[atom.name] = number + (remainder - number) % modulus
    if len(found) > 1 and random.random() < 0.3:
        one, other = random.sample(sorted(found), 2)
        found[one] = found[other]
    return found


@pytest.mark.parametrize("path", PATHS, ids=named)
def test_no_guard_holds_always(path: Path) -> None:
    random = Random(path.stem)
    idle = []
    for guard in irshape.infer(path).guards:
        if guard.requirement.symbols():
            holds = all_hold([guard.requirement])
            if all(holds(numbers(guard, random)) for _ in range(TRIES)):
                idle.append(str(guard.requirement))
    assert idle == []


@pytest.mark.parametrize(
    ("kind", "a", "b", "left"),
    [
        ("eq", "A + max(B - A, 0)", "B + max(A - B, 0)", []),
        ("div", "A*B*min(C, 1)", "max(C, 1)", ["(A*B*min(C, 1)) % (max(C, 1)) == 0"]),
        ("div", "A*B*min(A*B, 1)", "max(A*B, 1)", []),
        ("eq", "A*min(A, 1)", "A", []),
        ("eq", "A*min(B, 1)", "A", ["A*min(B, 1) == A"]),
        ("broadcast", "7*min(A, 1) + 1", "8", []),
        ("ge", "max(A, 1)", "5", ["A >= 5"]),
        ("ge", "3", "min(A, 5)", ["A <= 3"]),
    ],
)
def test_cases(kind: str, a: str, b: str, left: list[str]) -> None:
    """A requirement that both cases of a `min` or `max` prove is left out."""
    scope = Scope()
    symbols = {name: scope.symbol(name) for name in "ABC"}
    sides = [size_by(parse_formula(text), symbols.__getitem__) for text in (a, b)]
    assert [str(one) for one in simplified(Requirement(kind, *sides, "", "S201", {}))] == left
