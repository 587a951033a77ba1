"""Formulas in a user's notation: each text gives a value, the text of the formula is read as the same formula, and faults have a place."""

import pytest

from irshape.shape.dim import Scope, evaluate
from irshape.shape.formula import FormulaSyntaxError, number_by, parse_formula, size_by, symbols_of, text_of
from irshape.shape.notation import Described, ShapeSyntaxError, parse_shape

SIZES = {"B": 2, "H": 10, "P": 7, "S": 5}
# A text, its shortest form, and its value.
FORMULAS = [
    ("P+S", "P + S", 12),
    ("P - S - 1", "P - S - 1", 1),
    ("P - (S - 1)", "P - (S - 1)", 3),
    ("H//2", "H//2", 5),
    ("(H + 1) // 4", "(H + 1)//4", 2),
    ("2*(H//4)", "2*(H//4)", 4),
    ("2*H//4", "2*H//4", 5),
    ("H % 4", "H % 4", 2),
    ("B*P + H", "B*P + H", 24),
    ("B*(P + H)", "B*(P + H)", 34),
    ("min(H, P)", "min(H, P)", 7),
    ("max(H - 4, P - S) + 1", "max(H - 4, P - S) + 1", 7),
    ("min(H, P, 2)", "min(min(H, P), 2)", 2),
    ("ceil_div(H, 4)", "ceil_div(H, 4)", 3),
    ("((P))", "P", 7),
    ("2*3", "2*3", 6),
]


@pytest.mark.parametrize(("text", "shortest", "value"), FORMULAS)
def test_a_formula_has_a_value_and_one_text(text: str, shortest: str, value: int) -> None:
    formula = parse_formula(text)
    assert text_of(formula) == shortest
    assert parse_formula(shortest) == formula
    assert number_by(formula, SIZES) == value
    scope = Scope()
    assert evaluate(size_by(formula, scope.symbol), SIZES) == value


def test_the_symbols_stand_in_order() -> None:
    assert list(symbols_of(parse_formula("S + min(B, P)*S"))) == ["S", "B", "P", "S"]


FAULTS = [
    ("P +", 3, "a number or a symbol is missing"),
    ("P S", 2, "'S' does not belong here"),
    ("(P + S", 6, "')' is missing"),
    ("min(P)", 5, "',' is missing"),
    ("ceil_div(P, 2, 3)", 13, "')' is missing"),
    ("P + *S", 4, "a number or a symbol is missing before '*'"),
    ("P / S", 2, "'/' is not part of a formula"),
    ("-P", 0, "a number or a symbol is missing before '-'"),
    ("P + 99999999999999999999", 4, "99999999999999999999 is larger than the largest size"),
    ("+".join("P" * 66), 131, "a formula may have at most 64 operations"),
    ("(" * 33 + "P" + ")" * 33, 32, "a formula may have at most 32 brackets inside each other"),
]


@pytest.mark.parametrize(("text", "position", "reason"), FAULTS, ids=[row[2] for row in FAULTS])
def test_a_fault_has_a_place(text: str, position: int, reason: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse_formula(text)
    assert (caught.value.position, caught.value.reason) == (position, reason)


# A shape, and its text.
SHAPES = [
    ("[B,P+S]", "[B,P + S]"),
    ("[B, min(H, 64), 3]", "[B,min(H, 64),3]"),
    ("(B, (H + 1)//2, W)", "[B,(H + 1)//2,W]"),
    ("[(2*H)]", "[2*H]"),
    ("[2*3, 1 + 0]", "[6,1]"),
]


@pytest.mark.parametrize(("text", "shown"), SHAPES)
def test_formulas_in_shapes(text: str, shown: str) -> None:
    shape = parse_shape(text)
    assert shape is not None
    assert f"[{','.join(map(str, shape))}]" == shown
    assert parse_shape(shown) == shape


def test_a_formula_of_one_symbol_is_the_plain_form() -> None:
    assert parse_shape("[(2*H)]") == (Described(0, float("inf"), "H", 2),)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("[B,P+]", 5, "a number or a symbol is missing"),
        ("[B,4//0]", 3, "'4//0' divides by 0"),
        ("[3 - 5]", 1, "'3 - 5' is -2, and a size is at least 0 and at most 9223372036854775807"),
    ],
)
def test_a_fault_in_a_shape_has_a_place(text: str, position: int, reason: str) -> None:
    with pytest.raises(ShapeSyntaxError) as caught:
        parse_shape(text)
    assert (caught.value.position, caught.value.reason) == (position, reason)
