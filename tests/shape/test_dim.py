"""Formulas, bounds and text of single sizes."""

from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest

from irshape.shape import dim
from irshape.shape.dim import (
    Dim,
    Scope,
    Size,
    bounds,
    broadcast_of,
    ceil_div,
    congruence,
    dim_max,
    dim_min,
    eq,
    evaluate,
    format_size,
    is_filled,
    le,
    lt,
    narrow,
    product,
    symbols,
)

# Symbols of every row: name, low, high, modulus, remainder.
SYMBOLS = (
    ("H", 0, inf, 1, 0), ("P", 1, inf, 1, 0), ("W", 1, 8, 1, 0), ("N", 2, 5, 1, 0), ("T", 3, inf, 1, 0),
    ("K", 0, inf, 32, 0), ("R", 0, inf, 4, 3),
)  # fmt: skip

# An expression in Python, its formula, its bounds in OpenVINO's notation, its congruence.
ROWS = (
    ("H", "H", "?", (1, 0)),
    ("H + 1", "H + 1", "1..", (1, 0)),
    ("1 + H - 1", "H", "?", (1, 0)),
    ("H - H", "0", "0", (0, 0)),
    ("H * 0", "0", "0", (0, 0)),
    ("2 * H + 3 * W - H", "H + 3*W", "3..", (1, 0)),
    ("5 - W", "5 - W", "..4", (1, 0)),
    ("W + N", "W + N", "3..13", (1, 0)),
    ("W - N", "W - N", "..6", (1, 0)),
    ("W * N", "W*N", "2..40", (1, 0)),
    ("N * W * 2", "2*W*N", "4..80", (2, 0)),
    ("(H + 1) * (H - 1)", "H*H - 1", "?", (1, 0)),
    ("H * W // W", "H", "?", (1, 0)),
    ("(H * W + 2 * W) // W", "H + 2", "2..", (1, 0)),
    ("(H * W + 3) // W", "H + 3//W", "?", (1, 0)),
    ("(2 * H * P + 2) // (4 * P)", "(H*P + 1)//(2*P)", "?", (1, 0)),
    ("W // (W + P * W)", "W//(P*W + W)", "..4", (1, 0)),
    ("W // 3", "W//3", "..2", (1, 0)),
    ("N // 6", "0", "0", (0, 0)),
    ("(N + 18) // 7", "(N + 4)//7 + 2", "2..3", (1, 0)),
    ("(N + 19) // 7", "3", "3", (0, 3)),
    ("(6 * H + 9) // 4", "H + H//2 + 2", "2..", (1, 0)),
    ("(2 * H + 5) // 4", "H//2 + 1", "1..", (1, 0)),
    ("((H + 1) // 2 + 1) // 2", "(H + 3)//4", "?", (1, 0)),
    ("H // 2 // 3", "H//6", "?", (1, 0)),
    ("-(-H // 4)", "(H + 3)//4", "?", (1, 0)),
    ("H // -4", "-((H + 3)//4)", "0", (1, 0)),
    ("-H // 4", "-((H + 3)//4)", "0", (1, 0)),
    ("-(H // 4)", "-(H//4)", "0", (1, 0)),
    ("3 - H // 4", "3 - H//4", "..3", (1, 0)),
    ("5 + narrow(H, 4, 7) // -4", "5 - (H + 3)//4", "3..4", (1, 0)),
    ("H % 4", "H - 4*(H//4)", "..3", (1, 0)),
    ("H % -4", "H - 4*((H + 3)//4)", "0", (1, 0)),
    ("W % 16", "W", "1..8", (1, 0)),
    ("K // 32 * 32", "K", "?", (32, 0)),
    ("K // 8", "4*(K//32)", "?", (4, 0)),
    ("K % 16", "0", "0", (0, 0)),
    ("(K + 7) // 32", "K//32", "?", (1, 0)),
    ("R % 4", "3", "3", (0, 3)),
    ("R % 8", "R - 8*(R//8)", "3..7", (4, 3)),
    ("4 * (R // 4)", "R - 3", "?", (4, 0)),
    ("(R + K) // 4", "8*(K//32) + R//4", "?", (1, 0)),
    ("ceil_div(W, 3)", "(W + 2)//3", "1..3", (1, 0)),
    ("dim_min(H, 5)", "min(H, 5)", "..5", (1, 0)),
    ("dim_min(W, 9)", "W", "1..8", (1, 0)),
    ("dim_min(9, W)", "W", "1..8", (1, 0)),
    ("dim_min(H, H + 2)", "H", "?", (1, 0)),
    ("dim_min(dim_min(H, W), W)", "min(H, W)", "..8", (1, 0)),
    ("dim_max(H, W)", "max(H, W)", "1..", (1, 0)),
    ("dim_max(dim_min(H, 7), 3)", "max(min(H, 7), 3)", "3..7", (1, 0)),
    ("dim_min(H, 5) - H", "min(H, 5) - H", "0", (1, 0)),
    ("H - dim_min(H, 5)", "H - min(H, 5)", "?", (1, 0)),
    ("dim_max(T, 7) - T", "max(T, 7) - T", "..4", (1, 0)),
    ("H // 2 * 2 - H", "2*(H//2) - H", "0", (1, 0)),
    ("T - T // 2", "T - T//2", "2..", (1, 0)),
    ("product([2, H, W])", "2*H*W", "?", (2, 0)),
    ("product([])", "1", "1", (0, 1)),
    ("narrow(H, 2, 9)", "H", "2..9", (1, 0)),
    ("narrow(H, 0, W)", "H", "..8", (1, 0)),
    ("narrow(H, 7, 7)", "7", "7", (0, 7)),
    ("narrow(H, modulus=4, remainder=1)", "H", "1..", (4, 1)),
    ("narrow(W, 9, 12)", "W", "1..8", (1, 0)),
    ("narrow(H, 1, 3) + 1", "H + 1", "2..4", (1, 0)),
    ("narrow(H, 3, 6) // 2 + narrow(W, 2, 3)", "W + H//2", "3..6", (1, 0)),
    ("narrow(H, 5, 9, 2, 0) * 3", "3*H", "18..24", (6, 0)),
    ("narrow(H, high=4) - narrow(H, 2)", "0", "0", (0, 0)),
)


def calculate(expression: str) -> Size:
    scope = Scope()
    names: dict[str, object] = {name: scope.symbol(name, *facts) for name, *facts in SYMBOLS}  # type: ignore[misc]
    return eval(expression, vars(dim) | names)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("expression", "formula", "text", "modulus_and_remainder"), ROWS, ids=[row[0] for row in ROWS])
def test_formula_bounds_and_congruence(expression: str, formula: str, text: str, modulus_and_remainder: tuple[int, int]) -> None:
    size = calculate(expression)
    assert (str(size), format_size(size), congruence(size)) == (formula, text, modulus_and_remainder)


# Two expressions; is the first less or equal, less, equal?
COMPARISONS = (
    ("3", "4", True, True, False),
    ("H", "H", True, False, True),
    ("H", "H + 1", True, True, False),
    ("H", "W", None, None, None),
    ("W", "8", True, None, None),
    ("W", "9", True, True, False),
    ("W", "0", False, False, False),
    ("H // 2 * 2", "H", True, None, None),
    ("H // 2", "H + 1", True, True, False),
    ("dim_min(H, 5)", "H", True, None, None),
    ("dim_max(H, 5)", "H", None, False, None),
    ("K", "R", None, None, False),
    ("2 * H", "2 * W + 1", None, None, False),
    ("(H + 1) * (H + 2)", "H * H + 3 * H + 2", True, False, True),
    ("-(-H // 4)", "(H + 3) // 4", True, False, True),
    ("narrow(H, 0, 3)", "narrow(W, 4, 5)", True, True, False),
    ("6", "R", None, None, False),
    ("7", "R", None, None, None),
    ("2 * K + 1", "32", None, None, False),
    ("R", "3", None, False, None),
    ("0", "P", True, True, False),
)


@pytest.mark.parametrize(
    ("a", "b", "le_unasked", "is_lt", "eq_unasked"), COMPARISONS, ids=[f"{row[0]} and {row[1]}" for row in COMPARISONS]
)
def test_questions(a: str, b: str, le_unasked: bool | None, is_lt: bool | None, eq_unasked: bool | None) -> None:
    scope = Scope()
    names: dict[str, object] = {name: scope.symbol(name, *facts) for name, *facts in SYMBOLS}  # type: ignore[misc]
    x, y = (eval(expression, vars(dim) | names) for expression in (a, b))
    assert (le(x, y), lt(x, y), eq(x, y)) == (le_unasked, is_lt, eq_unasked)


def test_results_are_shared() -> None:
    scope = Scope()
    height, width = scope.symbol("H"), scope.symbol("W")
    assert height + width is width + height
    assert (height + 1) // 2 is (height + 1) // 2
    assert scope.symbol("H") is height
    assert height != width
    assert narrow(height, 3) is not height
    assert narrow(height, 0) is height


def test_a_product_is_one_formula_wherever_its_numbers_stand() -> None:
    scope = Scope()
    height, width = scope.symbol("H"), scope.symbol("W", 1, 8)
    assert product((2, height, 3, width)) is product((height, width, 6)) is 6 * (height * width)
    assert product((height, 0)) == 0
    assert product(()) == 1


def test_a_dim_has_no_truth_and_no_order() -> None:
    height: Size = Scope().symbol("H")
    with pytest.raises(TypeError, match="has no truth value"):
        bool(height)
    with pytest.raises(TypeError, match="dim_min"):
        _ = height < 3
    with pytest.raises(TypeError, match="dim_min"):
        _ = height >= height
    with pytest.raises(TypeError):
        _ = height + 0.5  # type: ignore[operator]
    with pytest.raises(ZeroDivisionError):
        _ = height // 0


def test_numpy_integers_become_ints() -> None:
    import numpy

    height = Scope().symbol("H")
    for result in (numpy.int64(3) + height, height + numpy.int32(3), 3 + height):
        assert str(result) == "H + 3"
    assert str(numpy.int64(7) // height) == "7//H"
    assert str(numpy.int64(7) - height) == "7 - H"
    result = evaluate(height * numpy.int64(2**40) * numpy.int64(2**40), {"H": 3})
    assert type(result) is int and result == 3 * 2**80


def test_symbols_of_a_scope() -> None:
    scope = Scope()
    assert scope.symbol("five", 5, 5) == 5
    assert scope.symbol("six", 4, 9, 6, 0) == 6
    height = scope.symbol("H", 1, 9)
    assert scope.symbol("H", 1, 9) is height
    with pytest.raises(ValueError, match=r"H is 1\.\.9 and cannot also be 0\.\."):
        scope.symbol("H")
    with pytest.raises(ValueError, match="five"):
        scope.symbol("five", 6, 6)
    with pytest.raises(ValueError, match="the range of Z is empty"):
        scope.symbol("Z", 5, 4)


def test_unknowns_are_named_in_the_order_of_their_making() -> None:
    scope = Scope()
    scope.symbol("d0")
    first, second = scope.unknown(("layer", 3), 0, 10), scope.unknown(("layer", 4))
    assert (str(first), format_size(first), str(second), bounds(second)) == ("d1", "..10", "d2", (-inf, inf))
    assert scope.unknown(("layer", 3), 0, 10) is first
    assert scope.unknown(("layer", 3), 0, 11) is not first
    with pytest.raises(ValueError, match="d1 is already the name"):
        scope.symbol("d1")


def test_hull_is_a_new_unknown_unless_all_are_one() -> None:
    scope = Scope()
    height = scope.symbol("H", 1)
    assert scope.hull("if", height, height) is height
    assert format_size(scope.hull("if", narrow(height, 3, 5), narrow(height, 7, 9))) == "3..9"
    assert scope.hull("if", 3, 3) == 3
    either, other = scope.hull("if", 3, 7), scope.hull("another", 3, 7)
    assert (format_size(either), congruence(either), symbols(either)) == ("3..7", (4, 3), {"d0"})
    assert eq(either, other) is None


def test_known_sizes_stay_ints_however_large() -> None:
    assert format_size(2**62) == str(2**62)
    assert ceil_div(7, 2) == 4 and dim_min(3, 4) == 3 and dim_max(3, 4) == 4 and product([3, 4]) == 12


def test_growth_is_bounded_and_stays_exact() -> None:
    scope = Scope()
    height, width = scope.symbol("H", 1), scope.symbol("W", 1, 9)
    size: Size = height
    expected, values = 5, {"H": 5, "W": 3}
    for step in range(300):
        size = dim_max(size - size // 3 + width * step, dim_min(size * 2, width)) + product([size, width]) // 7
        expected = max(expected - expected // 3 + 3 * step, min(expected * 2, 3)) + expected * 3 // 7
        assert len(str(size)) < 5000
    assert evaluate(size, values) == expected
    assert symbols(size) == {"H", "W"}
    assert size + width - size is width
    for _ in range(100):
        height = height * height
    assert isinstance(height, Dim) and bounds(height) == (1, inf)
    assert evaluate(height, {"H": 1}) == 1
    with pytest.raises(OverflowError):
        evaluate(height, {"H": 2})


@pytest.mark.parametrize(("expression", "expected"), [
    ("H + W", "1.."), ("W*N", "2..40"), ("W - W", "-7..7"), ("6*P // (3*P)", "0.."), ("K + 1", "1.."), ("N*N", "4..25"),
    ("dim_min(N, W)", "1..5"), ("(N + N) % 2", "0..1"), ("N - N + 2", "-1..5"),
])  # fmt: skip
def test_intervals(expression: str, expected: str) -> None:
    """OpenVINO's sizes: a result has the interval that the intervals of the operands give, and no formula."""
    scope = Scope()
    intervals = {name: scope.intervals.interval(name, scope.symbol(name, *known)) for name, *known in SYMBOLS}  # type: ignore[arg-type]
    size = eval(expression, {"dim_min": dim_min}, intervals)
    assert str(size) == expected


def test_sizes_with_one_interval_are_one_object_and_not_known_to_be_equal() -> None:
    scope = Scope()
    [a, b] = [scope.intervals.unknown(key, 1, 8) for key in "ab"]
    assert a is b
    assert eq(a, b) is None
    assert le(a, b) is None
    assert str(a - b) == "-7..7"


def test_only_questions_that_are_asked_are_recorded() -> None:
    scope = Scope()
    size = scope.symbol("N", 0, 9)
    scope.questions = []
    assert (dim.eq(size, 3), dim.le(size, 3), dim.lt(size, 3), dim.bounds(size)) == (None, None, None, (0, 9))
    assert scope.questions == [("eq", size, 3), ("le", size, 3), ("lt", size, 3), ("sign", size, 0)]
    scope.questions = []
    assert (dim.eq_unasked(size, 3), dim.le_unasked(size, 3), dim.bounds_unasked(size)) == (None, None, (0, 9))
    assert dim.eq(size, 10) is False
    assert scope.questions == []


def test_questions_are_recorded_in_one_place() -> None:
    folder = Path(dim.__file__).parents[1]
    found = [path.name for path in folder.rglob("*.py") for line in path.read_text().splitlines() if "questions.append" in line]
    assert found == ["dim.py"]


def test_a_size_is_filled_if_no_open_size_is_empty() -> None:
    """A size from 0 on that nobody limits counts as at least 1; a size that somebody allows to be 0 does not."""
    scope = Scope()
    opened, given = scope.symbol("N", 0, inf), scope.symbol("M", 0, 9)
    assert [is_filled(one) for one in (1, opened, 2 * opened - 1, opened + given)] == [True] * 4
    assert not any(is_filled(one) for one in (0, given, opened - 1, opened * given))


def test_products_of_multiples_have_one_form() -> None:
    scope = Scope()
    height, width, batch = scope.symbol("H", 8, inf, 8), scope.symbol("W", 8, inf, 8), scope.symbol("B", 1)
    assert str(64 * (height // 8) * (width // 8)) == "H*W"
    assert str(batch * (height * width // 64)) == "B*(H//8)*(W//8)" == str(batch * (height // 8) * (width // 8))
    assert eq(height * (width // 8), (height // 8) * width) is True
    assert eq((height // 4) * (width // 4), 4 * (height // 8) * (width // 8)) is True
    assert eq(height * (width // 16), (height // 16) * width) is None  # 8*1 and 0*24


@pytest.mark.parametrize(("choose", "name"), [(dim_min, "min"), (dim_max, "max"), (broadcast_of, "broadcast")])
def test_what_is_chosen_again_is_written_once(choose: Callable[[Size, Size], Size], name: str) -> None:
    scope = Scope()
    a, b, c = (scope.symbol(letter, high=9) for letter in "ABC")
    chosen = choose(choose(a, b), c)
    assert str(chosen.polynomial) == f"{name}(A, B, C)"  # type: ignore[union-attr]
    assert all(choose(chosen, one) == chosen for one in (a, b, c, choose(a, b)))
    values = {"A": 1, "B": 5, "C": 5}
    assert evaluate(chosen, values) == (1 if name == "min" else 5)


def test_a_size_has_a_number_for_each_value_of_its_symbols() -> None:
    h = Scope().symbol("H", 1)
    size = (h + 3) // 4 * h
    assert isinstance(size, Dim)
    assert [size.evaluate({"H": number}) for number in (1, 4, 5)] == [1, 4, 10]
    with pytest.raises(KeyError):
        size.evaluate({"W": 1})
