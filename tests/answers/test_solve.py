"""Sizes for which requirements hold: rows that a reader can check by hand, and random systems against brute force."""

from collections.abc import Sequence
from math import inf
from random import Random

import pytest

from irshape.answers.size_set import SizeSet
from irshape.answers.solve import Solved, solve
from irshape.shape.dim import Scope, Size, broadcast_of, ceil_div, dim_max, dim_min
from irshape.shape.guard import Requirement
from irshape.shape.notation import parse_symbol_range
from irshape.shape.range import Range

FUNCTIONS = {"min": dim_min, "max": dim_max, "broadcast": broadcast_of}
# What is demanded of H (and W), each from 1 on, and the condition it comes to.
ROWS = [
    ("nothing", [], "every size"),
    ("bound", [("ge", "H", 7)], "H >= 7"),
    ("bound of a quotient", [("ge", "(H + 5)//16", 5)], "H >= 75"),
    ("largest", [("ge", 64, "H")], "H <= 64"),
    ("interval", [("eq", "(H - 31)//32", 6)], "223 <= H <= 254"),
    ("one size", [("eq", "H", 224)], "H == 224"),
    ("even", [("div", "H", 2)], "H >= 2 and H % 2 == 0"),
    ("odd", [("eq", "H - 2*(H//2)", 1)], "H % 2 == 1"),
    ("halved five times", [("eq", f"2*(H//{2 * n})", f"H//{n}") for n in (1, 2, 4, 8, 16)], "H >= 32 and H % 32 == 0"),
    ("rounded up", [("eq", "2*((H + 3)//4)", "(H + 1)//2")], "H >= 3 and H % 4 in {0, 3}"),
    ("windows of 7 patches of 4", [("div", "H//4", 7), ("ge", "H//4", 1)], "H >= 28 and H % 28 <= 3"),
    ("not a multiple", [("ge", "H - 3*(H//3)", 1)], "H % 3 != 0"),
    ("up to a multiple", [("ge", "(H + 3)//32", "(H + 31)//32")], "H >= 29 and H % 32 in {0, 29, 30, 31}"),
    ("or one", [("broadcast", "H", 32)], "H in {1, 32}"),
    ("exceptions", [("broadcast", "2*(H//2)", "H")], "(H >= 2 and H % 2 == 0) or H == 1"),
    ("square", [("ge", "H*H", 50)], "H >= 8"),
    ("square of a multiple", [("div", "H*H", 12)], "H >= 6 and H % 6 == 0"),
    ("square root", [("eq", "H*H", 49)], "H == 7"),
    ("divisors", [("div", 12, "H")], "H in {1, 2, 3, 4, 6, 12}"),
    ("no divisor at first", [("div", 6, "max(H, 4) - 4")], "H in {5, 6, 7, 10}"),
    ("here and there", [("ge", "H//4", "H//3"), ("ge", "H", 2)], "H in {2, 4, 5, 8}"),
    ("of a sum", [("div", 12, "H + 1")], "H in {1, 2, 3, 5, 11}"),
    ("the smaller", [("ge", "min(H, 10)", "H")], "H <= 10"),
    ("numbers that no grid holds", [("ge", 100, "H"), ("ge", "H", 60), ("div", "*".join(["H"] * 11), 2**60)], "H == 64"),
    ("no size", [("div", "H", 2), ("eq", "H - 2*(H//2)", 1)], "no size"),
    ("two symbols apart", [("div", "H", 2), ("ge", "W", 3)], "H >= 2 and H % 2 == 0 and W >= 3"),
    ("equal", [("eq", "H", "W"), ("div", "H", 2), ("div", "W", 3)], "H == W and H >= 6 and H % 6 == 0"),
    ("linear", [("eq", "W", "2*H + 3"), ("ge", "W", 10)], "W == 2*H + 3 and H >= 4"),
    ("equal where not 1", [("broadcast", "H", "W"), ("ge", "H", 2), ("ge", "W", 2)], "H == W and H >= 2"),
    ("area of windows", [("eq", "H*W", "49*(H//7)*(W//7)")], "H >= 7 and H % 7 == 0 and W >= 7 and W % 7 == 0"),
    ("common factor", [("eq", "W*H", "4*(H//4)*W")], "H >= 4 and H % 4 == 0"),
    ("relation", [("ge", "H", "W")], "H >= W"),
    ("product", [("eq", "H*W", 36)], "H*W == 36"),
    ("implied relation", [("div", "H*W", 4), ("div", "H*W", 8)], "(H*W) % 8 == 0"),
    ("relation beside bounds", [("div", "H*W", 4), ("ge", "H", 5)], "H >= 5 and (H*W) % 4 == 0"),
    ("quotient", [("div", 12, "H*W"), ("eq", "12//(H*W)", 3)], "H*W == 4"),
    ("one of two quotients", [("div", 12, "H*W"), ("broadcast", "12//(H*W)", 3)], "12 % (H*W) == 0 and 12//(H*W) in (1, 3)"),
    ("the other quotient", [("div", 12, "H*W"), ("broadcast", "12//(H*W)", 3), ("ge", "H*W", 5)], "H*W == 12"),
    ("quotient or one", [("div", 12, "H*W"), ("broadcast", "12//(H*W)", 3), ("ge", 5, "H*W")], "H*W == 4"),
    ("bounded together", [("eq", "H*W", 36), ("div", "H*W", 4), ("div", 72, "H*W")], "H*W == 36"),
    ("square of a product", [("eq", "H*W", 36), ("eq", "H*H*W*W", 1296)], "H*W == 36"),
    (
        "multiple of a product",
        [("div", "((H + 15)//16)*((W + 15)//16)", 4), ("eq", "((H + 15)//16)*((W + 15)//16) - 256", 0)],
        "((H + 15)//16)*((W + 15)//16) == 256",
    ),
    (
        "stages of patches",
        [
            ("div", 2048, "(H//4)*(W//4)"), ("broadcast", "2048//((H//4)*(W//4))", 8), ("ge", "H", 32), ("ge", "W", 32),
            ("div", 128, "(H//32)*(W//32)"), ("eq", "128//((H//32)*(W//32))", 32),
        ],
        "H >= 32 and W >= 32 and (H//4)*(W//4) == 256",
    ),
]  # fmt: skip


def size(text: "str | int", symbols: dict[str, Size]) -> Size:
    """A formula as Python computes it."""
    return eval(text, {"__builtins__": {}}, {**FUNCTIONS, **symbols}) if isinstance(text, str) else text  # type: ignore[no-any-return]


def solved(rows: Sequence[tuple[str, "str | int", "str | int"]], **domain: str) -> tuple[Solved, list[Requirement]]:
    """A system of requirements on symbols of this domain."""
    scope = Scope()
    known = {name: Range(*parse_symbol_range(text)) for name, text in domain.items()}
    symbols = {name: scope.symbol(name, *known) for name, known in known.items()}
    requirements = [Requirement(kind, size(a, symbols), size(b, symbols), "", "", {}) for kind, a, b in rows]
    return solve(scope, requirements, known), requirements


def condition(answer: Solved) -> str:
    """The links, sets and relations in one text."""
    parts = [str(answer.simpler[number]) for number in answer.links]
    for name, own in answer.sets.items():
        if own.is_empty:
            return "no size"
        if not own.is_everything:
            parts.append(own.text(name) or "irregular")
    return " and ".join(parts + [str(answer.simpler[number]) for number in answer.relations]) or "every size"


@pytest.mark.parametrize(("rows", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_conditions(rows: list[tuple[str, "str | int", "str | int"]], expected: str) -> None:
    answer, _ = solved(rows, H="1..", W="1..")
    assert condition(answer) == expected


@pytest.mark.parametrize(
    ("domain", "rows", "expected"),
    [
        ("1..1024", [("div", "H", 32)], "32 <= H <= 1024 and H % 32 == 0"),
        ("10..20", [("div", "H", 4)], "12 <= H <= 20 and H % 4 == 0"),
        ("10..20", [], "10 <= H <= 20"),
        ("1..,32*k", [("ge", "H", 100)], "H >= 128 and H % 32 == 0"),
        ("1..,2*k + 1", [("div", "H", 3)], "H % 6 == 3"),
        ("1..10", [("ge", "H", 11)], "no size"),
    ],
)
def test_what_is_asked_about_limits_the_answer(domain: str, rows: list[tuple[str, "str | int", "str | int"]], expected: str) -> None:
    assert condition(solved(rows, H=domain)[0]) == expected


def test_few_requirements_are_named_as_causes() -> None:
    rows: list[tuple[str, str | int, str | int]] = [
        ("ge", "H", 1),
        ("div", "H", 2),
        ("div", "H", 4),
        ("ge", "H", 2),
        ("ge", "H", 9),
        ("div", "W", 3),
    ]
    answer, _ = solved(rows, H="1..", W="1..")
    assert answer.causes == {"H": [2, 4], "W": [5]}


def test_contradictions_are_named_as_causes() -> None:
    rows: list[tuple[str, str | int, str | int]] = [("ge", "H", 3), ("div", "H", 2), ("eq", "H", 7)]
    assert solved(rows, H="1..")[0].causes == {"H": [1, 2]}


def test_what_is_too_large_stays_a_relation() -> None:
    """Periods that no grid holds, and numbers that leave int64."""
    rows: list[tuple[str, str | int, str | int]] = [("div", "H", 2**40 + 15), ("eq", "H", f"{10**30}*W*W*W + 1"), ("ge", "H", 4)]
    answer, requirements = solved(rows, H="1..", W="1..")
    assert condition(answer) == f"H >= 4 and {requirements[0]} and {requirements[1]}"


class RandomSystem:
    """Requirements made of random formulas."""

    def __init__(self, seed: int, names: Sequence[str]) -> None:
        self.random = random = Random(seed)
        self.scope = Scope()
        self.domain = {}
        for name in names:
            low, step = random.randint(0, 3), random.choice((1, 1, 1, 2, 5))
            self.domain[name] = Range(
                low, random.choice((inf, inf, inf, low + step * random.randint(1, 60))), step, low % step if step > 1 else 0
            )
        self.symbols = [self.scope.symbol(name, *known) for name, known in self.domain.items()]
        self.requirements = [self._requirement() for _ in range(random.randint(1, 3))]

    def _requirement(self) -> Requirement:
        random = self.random
        kind = random.choice(("eq", "ge", "ge", "div", "broadcast", "stretch"))
        other: Size = self._size(random.randint(1, 3)) if random.random() < 0.5 else random.randint(-3, 12)
        if kind == "div" and random.random() < 0.7:
            other = random.randint(2, 9)
        requirement = Requirement(kind, self._size(random.randint(1, 3)), other, "", "", {})
        return requirement if requirement.symbols() else self._requirement()

    def _size(self, depth: int) -> Size:
        random = self.random
        if not depth:
            return random.choice(self.symbols)
        left, number = self._size(depth - 1), random.randint(1, 6)
        right = self._size(depth - 1) if random.random() < 0.5 else number
        operations = (
            lambda: left + right,
            lambda: left - right,
            lambda: left * random.randint(-2, 4),
            lambda: left // number,
            lambda: left // number,
            lambda: left % number,
            lambda: ceil_div(left, number),
            lambda: dim_min(left, right),
            lambda: dim_max(left, right),
            lambda: broadcast_of(left, right),
            lambda: left * right,
            lambda: left // right if not isinstance(right, int) or right else left,
        )
        return random.choice(operations)()

    def holds(self, values: dict[str, int]) -> bool:
        """Whether all requirements hold."""
        return all(requirement.holds(values) for requirement in self.requirements)


@pytest.mark.parametrize("seed", range(120))
def test_random_systems_of_one_symbol(seed: int) -> None:
    system = RandomSystem(seed, ["x"])
    answer = solve(system.scope, system.requirements, system.domain)
    (known,), own = system.domain.values(), answer.sets["x"]
    members = [x for x in range(int(known.low), int(min(known.high, known.low + 400)) + 1) if (x - known.low) % known.modulus == 0]
    relations = [system.requirements[number] for number in answer.relations]
    valid = [x for x in members if system.holds({"x": x})]
    assert [x for x in members if x in own and all(one.holds({"x": x}) for one in relations)] == valid
    text = "False" if own.is_empty else "True" if own.is_everything else own.text("x")
    if text is not None:
        assert [x for x in members if eval(text, {"x": x})] == [x for x in members if x in own]
    if not relations:
        middle = (members[0] + members[-1]) // 2
        assert own.below(middle, 3) == [x for x in reversed(valid) if x <= middle][:3]
        above = [x for x in valid if x >= middle][:3]
        assert own.above(middle, 3)[: len(above)] == above


@pytest.mark.parametrize("seed", range(40))
def test_random_systems_of_two_symbols(seed: int) -> None:
    system = RandomSystem(seed, ["x", "y"])
    answer = solve(system.scope, system.requirements, system.domain)
    relations = [answer.simpler[number] for number in (*answer.links, *answer.relations)]
    steps = [range(int(low), int(min(high, low + 40 * step)) + 1, step) for low, high, step, _ in system.domain.values()]
    for x in steps[0]:
        for y in steps[1]:
            values = {"x": x, "y": y}
            found = all(values[name] in own for name, own in answer.sets.items()) and all(one.holds(values) for one in relations)
            assert found == system.holds(values), (values, [str(one) for one in system.requirements])


def test_numbers_beyond_int64_are_exact_on_few_sizes() -> None:
    rows: list[tuple[str, str | int, str | int]] = [("ge", "H*H*H*H*H//3", 10**19), ("ge", f"(H + {10**20})//{10**20 + 40}", 1)]
    assert condition(solved(rows, H="1..10000")[0]) == "7861 <= H <= 10000"


def test_an_empty_set() -> None:
    own = solved([("ge", 0, "H")], H="1..")[0].sets["H"]
    assert isinstance(own, SizeSet)
    assert (own.is_empty, own.span, own.below(9, 3), own.above(9, 3), 5 in own) == (True, None, [], [], False)
