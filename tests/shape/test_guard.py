"""The decision of requirements, and the bounds that a report shows if all requirements hold."""

from contextlib import ExitStack, suppress
from math import inf
from typing import Any

import pytest

from irshape.shape import dim, guard
from irshape.shape.dim import Scope, Size, format_size
from irshape.shape.guard import Requirement
from irshape.shape.remainders import Known
from irshape.shape.reported import Reported
from tests.shape.recorder import Recorder

SYMBOLS = (("H", 0, inf, 1, 0), ("P", 1, inf, 1, 0), ("W", 1, 8, 1, 0), ("T", 6, 9, 1, 0), ("K", 0, inf, 32, 0), ("M", 2, inf, 1, 0))


def context() -> tuple[Recorder, dict[str, object]]:
    ctx = Recorder(Scope())
    names: dict[str, object] = {name: ctx.scope.symbol(name, *facts) for name, *facts in SYMBOLS}  # type: ignore[misc]
    return ctx, names


# A rule's question, the result with its bounds, the decisions.
ROWS: tuple[tuple[str, str, list[str]], ...] = (
    ("require_ge(3, 3)", "None", []),
    ("require_ge(2, 3)", "None", ["violated S203: 2 >= 3"]),
    ("require_ge(H, 0)", "None", []),
    ("require_ge(H + 1, H)", "None", []),
    ("require_ge(H, 3)", "None", ["guard S203: H >= 3"]),
    ("require_ge(2 * H + 2, 7)", "None", ["guard S203: H >= 3"]),
    ("require_ge(10, 3 * H)", "None", ["guard S203: H <= 3"]),
    ("require_ge(H + W, 2 * W + 3)", "None", ["guard S203: H >= W + 3"]),
    ("require_ge(W, 9)", "None", ["violated S203: W >= 9"]),
    ("require_ge(H, H + 1)", "None", ["never S203: H >= H + 1"]),
    ("require_eq(3, 4)", "None", ["violated S201: 3 == 4"]),
    ("require_eq(H, H)", "None", []),
    ("require_eq(H, 5)", "None", ["guard S201: H == 5"]),
    ("require_eq(W, 9)", "None", ["violated S201: W == 9"]),
    ("require_eq(2 * H + 4, 2 * W)", "None", ["guard S201: H + 2 == W"]),
    ("require_eq(2 * H, 2 * W + 1)", "None", ["never S201: 2*H == 2*W + 1"]),
    ("require_eq(H, 2 * (H // 2))", "None", ["guard S201: H % 2 == 0"]),
    ("require_eq(H // 16, H // 32 * 2)", "None", ["guard S201: (H//16) % 2 == 0"]),
    ("require_eq(3 * H + 3 - 6 * ((H + 1) // 2), 0)", "None", ["guard S201: H % 2 == 1"]),
    ("require_eq(7 * (H // 7) + 3, H)", "None", ["guard S201: H % 7 == 3"]),
    ("require_eq(7 * (H // 7) + 9, H)", "None", ["never S201: 7*(H//7) + 9 == H"]),
    ("require_eq(6 * (H // 7) + 3, H)", "None", ["guard S201: 6*(H//7) + 3 == H"]),
    ("require_div(12, 4)", "None", []),
    ("require_div(13, 4)", "None", ["violated S204: 13 % 4 == 0"]),
    ("require_div(13, 0)", "None", ["violated S204: 13 % 0 == 0"]),
    ("require_div(H, 1)", "None", []),
    ("require_div(K, 16)", "None", []),
    ("require_div(K + 1, 16)", "None", ["never S204: (K + 1) % 16 == 0"]),
    ("require_div(K + 8, 64)", "None", ["never S204: (K + 8) % 64 == 0"]),
    ("require_div(K, 64)", "None", ["guard S204: K % 64 == 0"]),
    ("require_div(T, 5)", "None", ["violated S204: T % 5 == 0"]),
    ("require_div(H * W * 6, H * 3)", "None", []),
    ("require_div(H, W)", "None", ["guard S204: H % W == 0"]),
    ("exact_div(12, 4)", "3: 3", []),
    ("exact_div(13, 4)", "3: 3", ["violated S204: 13 % 4 == 0"]),
    ("exact_div(12, 0)", "0: 0", ["violated S204: 12 % 0 == 0"]),
    ("exact_div(T, 2)", "T//2: 3..4", ["guard S204: T % 2 == 0"]),
    ("exact_div(T, 4)", "2: 2", ["guard S204: T % 4 == 0"]),
    ("exact_div(T, 10)", "0: 0", ["violated S204: T % 10 == 0"]),
    ("exact_div(H, 2)", "H//2: ?", ["guard S204: H % 2 == 0"]),
    ("exact_div(K, 8)", "4*(K//32): ?", []),
    ("exact_div(H * W * 6, H * 3)", "2*W: 2..16", []),
    ("exact_div(T, W)", "T//W: 1..9", ["guard S204: T % W == 0"]),
    ("merge(3, 3)", "3: 3", []),
    ("merge(3, 4)", "3: 3", ["violated S201: 3 == 4"]),
    ("merge(H, W)", "H: 1..8", ["guard S201: H == W"]),
    ("merge(T, W)", "W: 6..8", ["guard S201: T == W"]),
    ("merge(H, 5)", "5: 5", ["guard S201: H == 5"]),
    ("merge(W, 9)", "W: 1..8", ["violated S201: W == 9"]),
    ("merge(narrow(H, 0, 3), narrow(H, 2, 9))", "H: 2..3", []),
    ("merge(2 * H + 1, P)", "P: 1..", ["guard S201: 2*H + 1 == P"]),
    ("merge(2 * H, 2 * W + 1)", "2*H: ?", ["never S201: 2*H == 2*W + 1"]),
    ("broadcast(3, 3)", "3: 3", []),
    ("broadcast(3, 1)", "3: 3", []),
    ("broadcast(1, 0)", "0: 0", []),
    ("broadcast(3, 4)", "3: 3", ["violated S202: 3 == 4 or 1 in (3, 4)"]),
    ("broadcast(H, 1)", "H: ?", []),
    ("broadcast(1, H)", "H: ?", []),
    ("broadcast(H, H)", "H: ?", []),
    ("broadcast(H, 5)", "5: 5", ["guard S202: H in (1, 5)"]),
    ("broadcast(M, H)", "M: 2..", ["guard S202: M == H or 1 in (M, H)"]),
    ("broadcast(M, T)", "T: 6..9", ["guard S202: M == T or 1 in (M, T)"]),
    ("broadcast(T, 12)", "T: 6..9", ["violated S202: T in (1, 12)"]),
    ("broadcast(2 * M, 2 * M + 1)", "2*M: 4..", ["never S202: 2*M == 2*M + 1 or 1 in (2*M, 2*M + 1)"]),
    ("broadcast(M, dim_min(M, 17))", "M: 2..17", ["guard S202: M <= 17"]),
    # A minimum may be 1 because its limit is; the size that it cuts may be 1 in `require_stretch(P, ...)` only.
    ("broadcast(P, dim_min(W, P))", "broadcast(P, min(P, W)): 1..", ["guard S202: W == 1 or W >= P"]),
    ("require_stretch(dim_min(W, P), P)", "None", ["guard S202: W == 1 or W >= P"]),
    ("require_stretch(P, dim_min(W, P))", "None", ["guard S202: P == min(P, W) or P == 1"]),
    ("broadcast(H, P)", "broadcast(H, P): ?", ["guard S202: H == P or 1 in (H, P)"]),
    ("broadcast(broadcast(H, P), P)", "broadcast(H, P): ?", ["guard S202: H == P or 1 in (H, P)"]),
)


def ask(ctx: Recorder, names: dict[str, object], call: str) -> Any:
    def asked(method: str):  # type: ignore[no-untyped-def]
        return lambda *sizes: getattr(ctx, method)(*sizes, "{a} and {b}")

    methods = {
        method: asked(method)
        for method in ("require_ge", "require_eq", "require_stretch", "require_div", "exact_div", "merge", "broadcast")
    }
    return eval(call, vars(dim) | names | methods)


@pytest.mark.parametrize(("call", "result", "story"), ROWS, ids=[row[0] for row in ROWS])
def test_decision(call: str, result: str, story: list[str]) -> None:
    ctx, names = context()
    size = ask(ctx, names, call)
    assert ("None" if size is None else f"{size}: {format_size(size)}") == result
    assert ctx.story == story


# The scopes a rule opens, one in the other; what it asks inside; the decisions.
SCOPES: tuple[tuple[str, str, list[str]], ...] = (
    ("at=BOUNDS", "require_ge(W, 9)", ["violated S203: W >= 9"]),
    ("at=STATIC", "require_ge(2, 3)", ["violated S203: 2 >= 3"]),
    ("at=STATIC", "require_ge(W, 9)", ["never S203: W >= 9"]),
    ("at=STATIC", "require_ge(H, 3)", ["guard S203: H >= 3"]),
    ("at=STATIC", "require_div(T, 5)", ["never S204: T % 5 == 0"]),
    ("at=STATIC", "merge(W, 9)", ["never S201: W == 9"]),
    ("at=STATIC", "broadcast(T, 12)", ["never S202: T in (1, 12)"]),
    ("at=NOTHING", "require_ge(2, 3)", ["never S203: 2 >= 3"]),
    ("at=NOTHING", "require_ge(H, 3)", []),
    ("when=False", "require_ge(2, 3)", ["never S203: 2 >= 3"]),
    ("when=False", "require_ge(H, 3)", ["guard S203: H >= 3"]),
    ("when=True", "require_ge(W, 9)", ["violated S203: W >= 9"]),
    ("at=[1, 2]", "require_ge(W, 9)", ["violated S203: W >= 9"]),
    ("at=[1, H]", "require_ge(2, 3)", ["never S203: 2 >= 3"]),
    ("at=[1, H]", "require_ge(H, 3)", ["guard S203: H >= 3"]),
    ("at=[1], when=False", "require_ge(2, 3)", ["never S203: 2 >= 3"]),
    ("at=STATIC; at=BOUNDS", "require_ge(W, 9)", ["never S203: W >= 9"]),
    ("when=False; at=BOUNDS", "require_ge(2, 3)", ["never S203: 2 >= 3"]),
    ("at=NOTHING; at=[1]", "require_ge(H, 3)", []),
    ("at=STATIC; at=[H]", "require_ge(2, 3)", ["never S203: 2 >= 3"]),
)


@pytest.mark.parametrize(("scopes", "call", "story"), SCOPES, ids=[f"{row[0]} {row[1]}" for row in SCOPES])
def test_a_scope_says_what_openvino_looks_at(scopes: str, call: str, story: list[str]) -> None:
    ctx, names = context()
    with ExitStack() as stack:
        for scope in scopes.split(";"):
            stack.enter_context(eval(f"checks({scope.strip()})", vars(guard) | names | {"checks": ctx.openvino_checks}))
        ask(ctx, names, call)
    assert ctx.story == story


def test_a_scope_ends_with_its_block_whatever_happens_inside() -> None:
    ctx, names = context()
    with suppress(ZeroDivisionError), ctx.openvino_checks(at=guard.NOTHING):
        raise ZeroDivisionError
    ask(ctx, names, "require_ge(W, 9)")
    ask(ctx, names, "require_ge(H, 3)")
    assert ctx.story == ["violated S203: W >= 9", "guard S203: H >= 3"]


def test_a_message_is_made_of_its_names_and_sizes() -> None:
    ctx, names = context()
    ctx.merge(names["H"], 3, "axis {axis}: {a} is not {b}", axis=2)  # type: ignore[arg-type]
    assert ctx.guards[0].message == "axis 2: H is not 3"


def test_requirements_are_equal_by_what_they_demand() -> None:
    ctx, names = context()
    height, width = (names[name] for name in "HW")
    demands = [
        Requirement("eq", height, width, "one", "S201", {}),  # type: ignore[arg-type]
        Requirement("eq", width, height, "other", "S202", {}),  # type: ignore[arg-type]
        Requirement("ge", height, width, "one", "S201", {}),  # type: ignore[arg-type]
        Requirement("ge", width, height, "one", "S201", {}),  # type: ignore[arg-type]
    ]
    assert len(set(demands)) == 3
    assert demands[0].symbols() == {"H", "W"}
    assert ctx.scope.symbol("H") is height


# The requirements, a size, its reported bounds.
REPORTED: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((), "W", "1..8"),
    (("H >= 3",), "H", "3.."),
    (("H >= 3",), "(H + 1) // 2", "2.."),
    (("H // 2 >= 3",), "H", "6.."),
    (("2 * H + W >= 9",), "H", "1.."),
    (("P * M * (M - P) >= 1",), "M", "2.."),
    (("H // 2 + 1 == 4",), "H", "6..7"),
    (("H // 2 + 1 == 4", "H % 2"), "H", "6"),
    (("H % 4", "H >= 5"), "H", "8.."),
    (("W % 3", "W % 2"), "W", "6"),
    (("(W + 1) % 4",), "W", "3..7"),
    (("H == W",), "H", "1..8"),
    (("H == W", "W % 5"), "2 * H", "10"),
    (("H == 2 * (H // 2)", "H >= 5"), "H", "6.."),
    (("W == 3 * (W // 3) + 1", "W >= 2"), "W", "4..7"),
    (("H + W == 12",), "H", "4..11"),
    (("H + W == 12",), "H + W", "12"),
    (("17 >= H + P",), "2 * H + 2 * P + 3", "5..37"),
    (("17 >= H + P",), "20 - H - P", "3..19"),
    (("3 * H + 3 * P + 1 >= 17",), "H + P", "6.."),
    (("P * W == 7",), "P", "1..7"),
    (("P * M * 2 == 12",), "M", "2..6"),
    (("P * M * 2 == 12",), "P", "1..3"),
    (("20 >= P * M",), "P", "1..10"),
    (("dim_min(H, 9) >= 4",), "H", "4.."),
    (("5 >= dim_max(H, 2)",), "H", "..5"),
    (("5 >= dim_min(H, T)",), "H", "..5"),
    (("H ~ M",), "H", "1.."),
    (("H ~ T",), "H", "1..9"),
    (("W ~ T", "W >= 2"), "W", "6..8"),
    (("W ~ 12",), "W", "1"),
    (("H >= W", "W >= M", "4 >= H"), "H", "2..4"),
    (("H >= W", "W >= M", "4 >= H"), "M", "2..4"),
    (("W >= 3", "2 >= W"), "W", "1..8"),
)


@pytest.mark.parametrize(("requirements", "reported", "text"), REPORTED, ids=[f"{' and '.join(row[0])}: {row[1]}" for row in REPORTED])
def test_reported_bounds(requirements: tuple[str, ...], reported: str, text: str) -> None:
    ctx, names = context()

    def size(expression: str) -> Size:
        return eval(expression, vars(dim) | names)  # type: ignore[no-any-return]

    demands = []
    for requirement in requirements:
        for sign, kind in ((" >= ", "ge"), (" == ", "eq"), (" ~ ", "broadcast"), (" % ", "div")):
            if sign in requirement:
                a, b = requirement.split(sign)
                demands.append(Requirement(kind, size(a), size(b), "", "S201", {}))
                break
    before = len(ctx.scope.polynomials.ranges), list(ctx.scope.polynomials.ranges)
    result = Reported(ctx.scope, demands)
    assert result.format(size(reported)) == text
    assert ctx.scope.polynomials.ranges[: before[0]] == before[1]


def test_contradictory_requirements_leave_the_bounds_of_the_inference() -> None:
    ctx, names = context()
    height: Size = names["H"]  # type: ignore[assignment]
    both = [Requirement("ge", height, 5, "", "S203", {}), Requirement("ge", 4, height, "", "S203", {})]
    assert not Reported(ctx.scope, both[:1]).is_contradictory
    result = Reported(ctx.scope, both)
    assert result.is_contradictory
    assert result.format(height) == "?"


def test_what_requirements_resolve_is_put_into_formulas_that_are_new_then() -> None:
    """The argument that a `max` always is becomes a nest of formulas that nobody had before, whose ranges are not derived."""
    ctx, names = context()
    inner = "dim_min(dim_min(dim_max(H, P) * 2, T * 3) * 2, K)"
    size = eval(f"dim_max({inner} + 1, T * M)", vars(dim) | names)
    demands = [Requirement("ge", names["H"], names["P"], "", "S203", {})]  # type: ignore[arg-type]
    demands.append(Requirement("ge", eval(f"{inner} + 1", vars(dim) | names), eval("T * M", vars(dim) | names), "", "S203", {}))
    assert str(Known(ctx.scope, demands).simplest(size)) == "min(K, 2*min(3*T, 2*H)) + 1"
