"""The formulas of a plan: expression trees, their values for one example, and their text in Python.

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
| `["interval", a]` | OpenVINO's view of the size |
| `["hull", n, a, b, ...]` | a size that is one of these; `n` numbers such sizes |
| `["open", kind, a, b]` | whether the ranges of the sizes leave the question of this kind open |
"""

from __future__ import annotations

from math import inf
from typing import Any, Final, TypeAlias

from irshape.shape.dim import Dim, Size, broadcast_of, dim_max, dim_min, eq_unasked, expression_of, is_multiple, le_unasked, lt_unasked
from irshape.shape.polynomial import Atom, Expression, PolynomialTable, split

Tree: TypeAlias = Any
"""An int, a name, or a list of an operator and trees."""

_OPERATORS: Final = {"floor": "//", "add": "+", "multiply": "*"}


class Formulas:
    """The formulas of one table of polynomials, and their values where the symbols have the numbers of an example.

    The value is a size of the engine's where a symbol stands for one. A formula is open, without a value, if it holds a symbol that the
    example does not name or numbers without limit, or if it is a number by chance: `min(d0, s0)` for a small `s0`.
    """

    def __init__(self, table: PolynomialTable, example: dict[str, Size]) -> None:
        self.table = table
        self.example = example
        self.names: dict[Expression, str] = {}
        # The names of symbols that get a value at each reshape.
        self.asked: set[str] = set()
        # The sizes of which a symbol is one.
        self.hulls: dict[Expression, list[Expression]] = {}
        self._values: list[Size | None] = []

    def value(self, expression: Expression) -> Size | None:
        """The size that a formula is in the example; None if it is open."""
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
            value: Size | None = None
            if atom.kind == "symbol":
                value = self.example.get(atom.name)
            else:
                a, b = map(self._evaluated, atom.arguments)
                is_limited = known.low != -inf and known.high != inf
                if (
                    a is not None
                    and b is not None
                    and (is_limited or type(a) is not int or type(b) is not int)
                    and not (atom.kind == "floor" and b == 0)
                ):
                    value = _unless_chance(VALUES[atom.kind](a, b), is_number=isinstance(a, int) and isinstance(b, int))
            self._values.append(value)

    def bind(self, symbol: Atom, size: Size) -> None:
        """Let a symbol without a value stand for a size of the engine's."""
        self.example[symbol.name] = size
        if symbol.index < len(self._values):
            self._values[symbol.index] = size

    def varies(self, size: Size) -> bool:
        """Whether a formula holds symbols other than those that stand for one size of the engine's."""
        atoms = [self.table.atoms[index] for index in self.table.symbols_below(expression_of(size))]
        return any(atom.name in self.asked or not isinstance(self.example.get(atom.name), Dim) for atom in atoms)

    def _evaluated(self, expression: Expression) -> Size | None:
        total: Size
        product: Size
        total, terms = split(expression)
        is_number = True
        for monomial, product in terms:
            for index in monomial:
                value = self._values[index]
                if value is None:
                    return None
                is_number = is_number and isinstance(value, int)
                product *= value
            total += product
        return _unless_chance(total, is_number=is_number)

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


def _unless_chance(value: Size, *, is_number: bool) -> Size | None:
    """A value; None for a number that is one by chance, because a formula of sizes that the engine does not know may be none elsewhere."""
    return None if isinstance(value, int) and not is_number else value


VALUES: Final[dict[str, Any]] = {
    "floor": lambda a, b: a // b,
    "min": dim_min,
    "max": dim_max,
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "broadcast": broadcast_of,
}


def names_in(tree: Tree) -> set[str]:
    """The names in a tree."""
    if isinstance(tree, int | str):
        return {tree} if isinstance(tree, str) else set()
    return set().union(*map(names_in, tree[2:] if tree[0] == "open" else tree[1:]))


def is_total(tree: Tree) -> bool:
    """Whether a tree has a value for all sizes: it divides by numbers other than 0 only."""
    if isinstance(tree, int | str):
        return True
    operator, *operands = tree
    is_sound = operator in ("+", "*", "min", "max", "hull") or (operator == "//" and isinstance(operands[1], int) and operands[1] != 0)
    return is_sound and all(map(is_total, operands))


def is_open(kind: str, a: Size, b: Size) -> bool:
    """Whether the ranges of two sizes leave a question open."""
    if kind == "known":
        return isinstance(a, Dim)
    if kind == "sign":
        return not isinstance(a, int) and a.range.low <= 0
    if kind in ("le", "ge"):
        return (le_unasked(a, b) if kind == "le" else le_unasked(b, a)) is None
    if kind == "lt":
        return lt_unasked(a, b) is None
    if kind == "div":
        return not is_multiple(a, b)
    are_equal = eq_unasked(a, b)
    if kind == "eq" or are_equal:
        return are_equal is None
    ones = [eq_unasked(one, 1) for one in ((a, b) if kind == "broadcast" else (a,))]
    return True not in ones and (are_equal is None or None in ones)


def interval(size: Size) -> Size:
    """The size as OpenVINO knows it: its bounds, and no formula."""
    return size.scope.intervals.interval(None, size) if isinstance(size, Dim) else size


# The operations in the text of a tree whose names may stand for sizes that the engine does not know.
OPERATIONS: Final[dict[str, Any]] = {"max": dim_max, "min": dim_min, "broadcast": broadcast_of, "is_open": is_open, "interval": interval}


def python(tree: Tree, *, is_numbers: bool = True) -> str:
    """The text of a tree in Python; `is_numbers` says that all names stand for numbers."""
    if isinstance(tree, int | str):
        return str(tree)
    operator, *operands = tree
    if operator == "open":
        kind, *operands = operands
    texts = [python(operand, is_numbers=is_numbers) for operand in operands]
    if operator == "open":
        return f"is_open({kind!r}, {', '.join(texts)})"
    if operator == "*":
        return "*".join(texts if all(isinstance(one, int | str) for one in operands) else [f"({text})" for text in texts])
    if operator == "+":
        return " + ".join(texts).replace("+ -", "- ")
    if operator in ("min", "max", "hull"):
        return f"{operator}({', '.join(texts)})"
    if operator == "interval":
        return f"interval({texts[0]})"
    texts = [text if isinstance(one, int | str) else f"({text})" for one, text in zip(operands, texts, strict=True)]
    if operator == "broadcast":
        return f"{texts[1]} if {texts[0]} == 1 else {texts[0]}" if is_numbers else f"broadcast({', '.join(texts)})"
    if operator == "multiple":
        return f"{texts[1]} != 0 and {texts[0]} % {texts[1]} == 0"
    if operator in ("or", "not"):
        return " or ".join(texts) if operator == "or" else f"not {texts[0]}"
    return f" {operator} ".join(texts)
