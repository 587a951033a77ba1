"""The formulas and conditions of a plan: expression trees, their values for one example, and their text in Python.

A tree is an int, a name, or a list of an operator and its operands:

| tree | value |
|---|---|
| `["+", a, b, ...]`, `["*", a, b, ...]` | sum, product |
| `["//", a, b]` | quotient, rounded down |
| `["min", a, b]`, `["max", a, b]` | the smaller, the larger |
| `["broadcast", a, b]` | `b` if `a` is 1, else `a` |
| `[">=", a, b]`, `["==", a, b]`, `["!=", a, b]` | whether it is so |
| `["multiple", a, b]` | whether `b` is not 0 and `a` is a multiple of it |
| `["or", a, b, ...]`, `["not", a]` | of conditions |
"""

from __future__ import annotations

from math import inf
from typing import Any, Final, TypeAlias

from irshape.shape.dim import Question, Size, expression_of
from irshape.shape.polynomial import Expression, PolynomialTable, Terms, range_of, split

Tree: TypeAlias = Any
"""An int, a name, or a list of an operator and trees."""

_OPERATORS: Final = {"floor": "//", "add": "+", "multiply": "*"}


class Formulas:
    """The formulas of one table of polynomials, and their values where the symbols have the numbers of an example.

    A formula is open, without a value, if it holds a symbol that the example does not name or numbers without limit.
    """

    def __init__(self, table: PolynomialTable, example: dict[str, int]) -> None:
        self.table = table
        self.example = example
        self.names: dict[Expression, str] = {}
        self._values: list[int | None] = []

    def value(self, expression: Expression) -> int | None:
        """The number that a formula is in the example; None if it is open."""
        if isinstance(expression, int):
            return expression
        if len(self._values) < len(self.table.atoms):
            self._extend()
        return self._evaluated(expression)

    def _extend(self) -> None:
        """Give the atoms that were made meanwhile their values; the arguments of an atom come before it."""
        table = self.table
        for index in range(len(self._values), len(table.atoms)):
            atom, known = table.atoms[index], table.ranges[index]
            value: int | None = None
            if atom.kind == "symbol":
                value = self.example.get(atom.name)
            elif known.low != -inf and known.high != inf:
                a, b = map(self._evaluated, atom.arguments)
                value = None if a is None or b is None or (atom.kind == "floor" and b == 0) else _VALUES[atom.kind](a, b)
            self._values.append(value)

    def _evaluated(self, expression: Expression) -> int | None:
        total, terms = split(expression)
        for monomial, product in terms:
            for index in monomial:
                value = self._values[index]
                if value is None:
                    return None
                product *= value
            total += product
        return total

    def name(self, expression: Expression) -> int | str:
        """The number, or the name that `definitions` gives the formula."""
        if isinstance(expression, int):
            return expression
        name = self.names.get(expression)
        if name is None:
            atom = self.table.only_atom(expression)
            name = f"n{len(self.names)}" if atom is None else atom.name if atom.kind == "symbol" else f"e{atom.index}"
            self.names[expression] = name
        return name

    def definitions(self, *others: Expression) -> list[tuple[str, Tree]]:
        """What the formulas with names, and the atoms that these and the others are built of, are computed by, in order."""
        return [(name, tree) for _, name, tree in self.numbered(*others)]

    def numbered(self, *others: Expression) -> list[tuple[int, str, Tree]]:
        """The definitions, each after the number of atoms before it."""
        found: list[tuple[int, str, Tree]] = []
        for index in self.table.atoms_below(*self.names, *others):
            atom = self.table.atoms[index]
            if atom.kind != "symbol":
                found.append((index, f"e{index}", [_OPERATORS.get(atom.kind, atom.kind), *map(self.tree, atom.arguments)]))
        last = len(self.table.atoms)
        found += [
            (last, name, self.tree(expression)) for expression, name in self.names.items() if self.table.only_atom(expression) is None
        ]
        return found

    def tree(self, expression: Expression) -> Tree:
        """The formula as a tree of atoms."""
        constant, terms = split(expression)
        parts: list[Tree] = []
        for monomial, coefficient in terms:
            factors: list[Tree] = [] if coefficient == 1 else [coefficient]
            for index in monomial:
                atom = self.table.atoms[index]
                factors.append(atom.name if atom.kind == "symbol" else f"e{index}")
            parts.append(factors[0] if len(factors) == 1 else ["*", *factors])
        if constant or not parts:
            parts.append(constant)
        return parts[0] if len(parts) == 1 else ["+", *parts]


_VALUES: Final[dict[str, Any]] = {
    "floor": lambda a, b: a // b,
    "min": min,
    "max": max,
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "broadcast": lambda a, b: b if a == 1 else a,
}


class Conditions:
    """The conditions under which the rules of a plan do what they did in its example.

    Each question that the ranges of sizes left open must have the answer that it has in the example.
    """

    def __init__(self, formulas: Formulas) -> None:
        self.formulas = formulas
        # Of `terms + constant >= 0` the least constant for each sum of terms counts.
        self._least: dict[Terms, int] = {}
        self._others: dict[tuple[str, Expression, Expression, bool], None] = {}

    def __len__(self) -> int:
        return len(self._least) + len(self._others)

    def can_hold(self, question: Question) -> bool:
        """Whether the question has an answer in the example."""
        kind, a, b = question
        values = [self.formulas.value(expression_of(size)) for size in (a, b)]
        return kind != "known" and None not in values

    def add(self, question: Question) -> None:
        """Demand that a question has the answer of the example, where it has one."""
        kind, size, other = question
        a, b = expression_of(size), expression_of(other)
        x, y = self.formulas.value(a), self.formulas.value(b)
        assert x is not None
        assert y is not None
        if kind == "sign":
            if x:
                self._ge(a, 1) if x > 0 else self._ge(-1, a)
            else:
                self._others["eq", a, 0, True] = None
        elif kind in ("le", "ge", "lt"):
            if kind != "ge":
                a, b, x, y = b, a, y, x
            # Now it is a >= b, or of `lt` a > b.
            least = int(kind == "lt")
            self._ge(a, b, least) if x - y >= least else self._ge(b, a, 1 - least)
        else:
            self._others[kind, a, b, _HOLDS[kind](x, y)] = None

    def limit(self, size: Size, low: int, high: int) -> bool:
        """Demand that a size lies between two numbers; false if it does not in the example."""
        a = expression_of(size)
        value, known = self.formulas.value(a), range_of(a)
        if value is None or not low <= value <= high:
            return False
        if known.low < low:
            self._ge(a, low)
        if known.high > high:
            self._ge(high, a)
        return True

    def _ge(self, a: Expression, b: Expression, least: int = 0) -> None:
        constant, terms = split(self.formulas.table.add(a, b, -1))
        if terms:
            self._least[terms] = min(self._least.get(terms, constant - least), constant - least)

    def expressions(self) -> list[Expression]:
        """The formulas that the conditions are made of."""
        found: list[Expression] = [expression for _, a, b, _ in self._others for expression in (a, b)]
        return found + [self._sum(terms, 0) for terms in self._least]

    def _sum(self, terms: Terms, constant: int) -> Expression:
        return self.formulas.table.polynomial(constant, dict(terms))

    def trees(self) -> list[Tree]:
        """All of them."""
        tree = self.formulas.tree
        found: list[Tree] = [[">=", tree(self._sum(terms, 0)), -constant] for terms, constant in self._least.items()]
        for kind, a, b, holds in self._others:
            first, second = tree(a), tree(b)
            if kind == "eq":
                found.append(["==" if holds else "!=", first, second])
                continue
            if kind == "div":
                condition = ["multiple", first, second]
            else:
                ones = [["==", one, 1] for one in ([first, second] if kind == "broadcast" else [first])]
                condition = ["or", ["==", first, second], *ones]
            found.append(condition if holds else ["not", condition])
        return found


_HOLDS: Final[dict[str, Any]] = {
    "eq": lambda a, b: a == b,
    "div": lambda a, b: b != 0 and a % b == 0,
    "broadcast": lambda a, b: a == b or a == 1 or b == 1,
    "stretch": lambda a, b: a == b or a == 1,
}


def python(tree: Tree) -> str:
    """The text of a tree in Python."""
    if isinstance(tree, int | str):
        return str(tree)
    operator, *operands = tree
    texts = [python(operand) for operand in operands]
    if operator == "*":
        return "*".join(texts if all(isinstance(one, int | str) for one in operands) else [f"({text})" for text in texts])
    if operator == "+":
        return " + ".join(texts).replace("+ -", "- ")
    if operator in ("min", "max"):
        return f"{operator}({', '.join(texts)})"
    texts = [text if isinstance(one, int | str) else f"({text})" for one, text in zip(operands, texts, strict=True)]
    if operator == "broadcast":
        return f"{texts[1]} if {texts[0]} == 1 else {texts[0]}"
    if operator == "multiple":
        return f"{texts[1]} != 0 and {texts[0]} % {texts[1]} == 0"
    if operator in ("or", "not"):
        return " or ".join(texts) if operator == "or" else f"not {texts[0]}"
    return f" {operator} ".join(texts)
