"""The conditions of a plan: where its rules do what they did in the example."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final

from irshape.inference.plan.ends import End, NoEnd, ends
from irshape.inference.plan.formulas import Formulas, Tree, is_open
from irshape.shape.dim import Dim, Question, Size, expression_of
from irshape.shape.polynomial import Expression, Terms, range_of, split


class Conditions:
    """The conditions under which the rules of a plan do what they did in its example.

    Each question that the ranges of sizes left open must have the answer that it has in the example.
    """

    def __init__(self, formulas: Formulas) -> None:
        self.formulas = formulas
        # Of `terms + constant >= 0` the least constant for each sum of terms counts.
        self._least: dict[Terms, int] = {}
        self._others: dict[tuple[str, Expression, Expression, bool], None] = {}
        self._open: dict[tuple[str, Expression, Expression], None] = {}

    def __len__(self) -> int:
        return len(self._least) + len(self._others) + len(self._open)

    def can_hold(self, question: Question) -> bool:
        """Whether the question has an answer in the example; one about sizes that the engine does not know must be open there, too."""
        kind, a, b = question
        x, y = [self.formulas.value(expression_of(size)) for size in (a, b)]
        if x is None or y is None:
            return False
        if kind == "known":
            return isinstance(x, Dim)
        if x is y or (isinstance(x, int) and isinstance(y, int)):
            return True
        return is_open(kind, x, y) and not (kind == "sign" and range_of(expression_of(a)).low < 0)

    def add(self, question: Question) -> None:
        """Demand that a question has the answer of the example, where it has one."""
        kind, size, other = question
        a, b = expression_of(size), expression_of(other)
        x, y = self.formulas.value(a), self.formulas.value(b)
        assert x is not None
        assert y is not None
        if not isinstance(x, int) or not isinstance(y, int):
            if x is y:
                self.equal(a, b)
            elif not self._stays_open(kind, size, other) and not self._demand_open(kind, a, b):
                self._open[kind, a, b] = None
            return
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

    def _stays_open(self, kind: str, a: Size, b: Size) -> bool:
        """Whether a question that is open in the example is so for all sizes of the inputs."""
        if kind in ("sign", "known"):
            return not self.formulas.varies(a)
        if isinstance(a, Dim) and isinstance(b, Dim) and kind != "div":
            # Two sizes that the engine does not know are as different as their formulas.
            return not self.formulas.varies(a - b)
        return not self.formulas.varies(a) and not self.formulas.varies(b)

    def _demand_open(self, kind: str, a: Expression, b: Expression) -> bool:
        """Demand of numbers that they leave a question open; false, and nothing is demanded, if no such conditions hold in the example.

        A question is open if its sizes have values for which the answer is yes, and others for which it is no.
        """
        return self._demand_one_of_several(kind, a, b) or self._demand_ends(kind, a, b)

    def _demand_one_of_several(self, kind: str, a: Expression, b: Expression) -> bool:
        """Demand that a size which is one of several, such as of the branches of an If, can be the other size of a question, or not."""
        for whole, other in ((a, b), (b, a)) if kind in _EQUALITIES else ():
            sizes = self.formulas.hulls.get(whole, ())
            is_stretched = kind == "broadcast" or (kind == "stretch" and other is a)  # then the other size must not be 1
            ones = [(other, 1)] if is_stretched else []
            if other in sizes and any(self._demand([], [(one, other), *ones]) for one in sizes):
                return True
        return False

    def _demand_ends(self, kind: str, a: Expression, b: Expression) -> bool:
        """Demand that the least and the greatest value of a size, or of a difference of two, lie on both sides of the answer."""
        try:
            if kind == "sign":
                low, high = ends(self.formulas, a)
                return self._demand([(0, low, 0), (high, low, 1)])
            low, high = ends(self.formulas, self.formulas.table.add(a, b, -1))
            several, unequal = [], []
            for side in {"broadcast": (a, b), "stretch": (a,)}.get(kind, ()):
                if isinstance(self.formulas.value(side), Dim):
                    several.append((ends(self.formulas, side)[1], 2, 0))
                else:
                    unequal.append((side, 1))
        except NoEnd:
            return False
        reached = _REACHED.get(kind, ())
        if isinstance(low, float):  # without a least value, the second way demands less
            reached = reached[::-1]
        return any(self._demand([*several, (least, low, 0), (high, most, 0)], unequal) for least, most in reached)

    def equal(self, a: Expression, b: Expression) -> None:
        """Demand that two formulas are equal."""
        self._others["eq", a, b, True] = None

    def limit(self, size: Size, low: int, high: int) -> bool:
        """Demand that a size lies between two numbers; false if it does not in the example."""
        a = expression_of(size)
        value, known = self.formulas.value(a), range_of(a)
        if not isinstance(value, int) or not low <= value <= high:
            return False
        if known.low < low:
            self._ge(a, low)
        if known.high > high:
            self._ge(high, a)
        return True

    def _ge(self, a: Expression, b: Expression, least: int = 0) -> None:
        difference = self.formulas.table.add(a, b, -1)
        constant, terms = split(difference)
        if terms and range_of(difference).low < least:
            self._least[terms] = min(self._least.get(terms, constant - least), constant - least)

    def _demand(self, several: list[tuple[End, End, int]], unequal: Sequence[tuple[Expression, Expression]] = ()) -> bool:
        """Demand `a - b >= least` of several ends, and that formulas of numbers differ.

        False, and nothing is demanded, if one of these conditions does not hold in the example.
        """
        found: list[tuple[Expression, Expression, int]] = []
        for a, b, least in several:
            if isinstance(a, float) or isinstance(b, float):
                if a == -inf or b == inf:
                    return False
            elif not self._holds(self.formulas.table.add(a, b, -1), least):
                return False
            else:
                found.append((a, b, least))
        values = self.formulas.value
        if any(isinstance(values(one), Dim) or isinstance(values(other), Dim) or values(one) == values(other) for one, other in unequal):
            return False
        for demand in found:
            self._ge(*demand)
        self._others |= {("eq", one, other, False): None for one, other in unequal}
        return True

    def _holds(self, expression: Expression, least: int) -> bool:
        value = self.formulas.value(expression)
        return isinstance(value, int) and value >= least

    def expressions(self) -> list[Expression]:
        """The formulas that the conditions are made of."""
        sides: list[tuple[Expression, Expression]] = [(a, b) for _, a, b, _ in self._others]
        sides += [(a, b) for _, a, b in self._open]
        found = [expression for pair in sides for expression in pair]
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
        return found + [["open", kind, tree(a), tree(b)] for kind, a, b in self._open]


# Kinds of questions that an equality answers.
_EQUALITIES: Final = ("eq", "broadcast", "stretch")
# What the least value of `a - b` must be at most, and the greatest at least, so that both answers are possible.
_REACHED: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    "le": ((0, 1),),
    "lt": ((-1, 0),),
    "ge": ((-1, 0),),
    **dict.fromkeys(_EQUALITIES, ((0, 1), (-1, 0))),
}

_HOLDS: Final[dict[str, Any]] = {
    "eq": lambda a, b: a == b,
    "div": lambda a, b: b != 0 and a % b == 0,
    "broadcast": lambda a, b: a == b or a == 1 or b == 1,
    "stretch": lambda a, b: a == b or a == 1,
}
