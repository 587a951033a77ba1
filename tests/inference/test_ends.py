"""The ends of the formulas of plans, and the conditions on numbers that leave questions about unknown sizes open."""

from itertools import product
from math import inf
from typing import Any

import pytest

from irshape.inference.plan.conditions import Conditions, NoEnd, ends
from irshape.inference.plan.formulas import Formulas, python
from irshape.shape.dim import Dim, Scope, Size, dim_max, dim_min, expression_of
from irshape.shape.limits import DEFAULT

S, T = 5, 7
# Formulas of the numbers s and t and of the unknown sizes c (0 and more), d and e (0 to 9), with their ends for s = 5 and t = 7.
ROWS: list[tuple[str, Any, Any]] = [
    ("s + d", 5, 14),
    ("s - d", -4, 5),
    ("c + s", 5, inf),
    ("s - c", -inf, 5),
    ("d - e", -9, 9),
    ("dim_min(s, c)", 0, 5),
    ("dim_min(s, s + c)", 5, 5),
    ("dim_max(d, s)", 5, 9),
    ("s + d - dim_min(t, s + c)", -2, 9),
    ("dim_min(d, c)", 0, 9),
    ("dim_max(d, c)", 0, inf),
    ("t - dim_max(e, c)", -inf, 7),
]


def sizes() -> tuple[Formulas, dict[str, Size]]:
    """Formulas of the numbers and of the unknown sizes, and the sizes by name; the engine has the unknown ones in a scope of its own."""
    plan, engine = Scope(DEFAULT), Scope(DEFAULT)
    found = {"s": plan.symbol("s", 1, 100), "t": plan.symbol("t", 1, 100)}
    formulas = Formulas(plan.polynomials, {"s": S, "t": T})
    for name, high in (("c", inf), ("d", 9), ("e", 9)):
        found[name] = plan.symbol(name, 0, high)
        formulas.example[name] = engine.symbol(name, 0, high)
    return formulas, found


def made(text: str, known: dict[str, Size]) -> Any:
    return eval(text, {"dim_min": dim_min, "dim_max": dim_max, **known})


@pytest.mark.parametrize(("text", "low", "high"), ROWS, ids=[row[0] for row in ROWS])
def test_the_ends_of_a_formula(text: str, low: Any, high: Any) -> None:
    formulas, known = sizes()
    found = ends(formulas, expression_of(made(text, known)))
    assert [one if isinstance(one, float) else formulas.value(one) for one in found] == [low, high]


@pytest.mark.parametrize(("text", "low", "high"), ROWS, ids=[row[0] for row in ROWS])
def test_a_formula_takes_every_number_between_its_ends(text: str, low: Any, high: Any) -> None:
    values = {made(text, {"s": S, "t": T, "c": c, "d": d, "e": e}) for c, d, e in product(range(30), range(10), range(10))}
    assert min(values) == (low if low > -inf else min(values))
    assert max(values) == (high if high < inf else max(values))
    assert values == set(range(min(values), max(values) + 1))


@pytest.mark.parametrize("text", ["2*d", "d + dim_min(d, s)", "d*s", "d*e", "d//2", "dim_max(d, e) - dim_min(d, e)"])
def test_formulas_without_known_ends(text: str) -> None:
    formulas, known = sizes()
    with pytest.raises(NoEnd):
        ends(formulas, expression_of(made(text, known)))


# A question, and the conditions on numbers that leave it open.
QUESTIONS: list[tuple[str, str, str, list[str]]] = [
    ("ge", "t", "s + c", ["-1*s + t >= 0"]),
    ("le", "s", "t + c", ["open"]),  # 5 is at most 7 whatever c is: no condition that leaves it open holds in the example
    ("le", "t", "s + c", ["-1*s + t >= 1"]),
    ("lt", "d", "s", ["-1*s >= -9"]),
    ("sign", "dim_min(s, c)", "0", []),
    ("eq", "s + c", "t", ["-1*s + t >= 0"]),
    ("eq", "t", "s + c", ["-1*s + t >= 0"]),
    ("eq", "s + d", "t", ["-1*s + t >= 0", "s - 1*t >= -8"]),
    ("broadcast", "s + c", "t", ["t != 1", "-1*s + t >= 0"]),
    ("stretch", "s + c", "t", ["-1*s + t >= 0"]),
    ("stretch", "2*d", "t", ["open"]),
    ("div", "s + c", "t", ["open"]),
]


@pytest.mark.parametrize(("kind", "a", "b", "conditions"), QUESTIONS, ids=[" ".join(row[:3]) for row in QUESTIONS])
def test_the_conditions_of_an_open_question(kind: str, a: str, b: str, conditions: list[str]) -> None:
    formulas, known = sizes()
    found = Conditions(formulas)
    found.add((kind, made(a, known), made(b, known)))
    texts = ["open" if tree[0] == "open" else python(tree).translate({ord("("): None, ord(")"): None}) for tree in found.trees()]
    assert sorted(texts) == sorted(conditions)


def test_two_names_of_one_size_are_one_size() -> None:
    formulas, known = sizes()
    formulas.example["e"] = formulas.example["d"]
    with pytest.raises(NoEnd):
        ends(formulas, expression_of(made("d - e", known)))


def test_a_number_by_chance_is_no_value() -> None:
    plan, engine = Scope(DEFAULT), Scope(DEFAULT)
    s, d = plan.symbol("s", 1, 100), plan.symbol("d", 4, 9)
    for number, is_known in ((3, False), (5, True)):
        formulas = Formulas(plan.polynomials, {"s": number, "d": engine.symbol("d", 4, 9)})
        assert isinstance(formulas.value(expression_of(dim_min(s, d))), Dim if is_known else type(None))
