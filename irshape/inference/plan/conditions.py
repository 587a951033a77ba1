"""The conditions of a plan: where its rules do what they did in the example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from types import NoneType
from typing import Any, Final, TypeAlias

from irshape.inference.facts import Fact
from irshape.inference.plan.formulas import Formulas, Tree, is_open
from irshape.inference.plan.parts import Template
from irshape.shape.dim import INT64_MAX, UNBOUNDED, Dim, Question, Size, expression_of
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Atom, Expression, Polynomial, Terms, range_of, split
from irshape.shape.range import Bound, Range
from irshape.shape.value import exact_limits

End: TypeAlias = "Expression | float"
"""An end of a formula: a formula of numbers, or an infinity."""

# The operand that an operation passes over: `min(x, inf)` is `x`.
_LIMITS: Final = {"min": inf, "max": -inf}


class NoEnd(Exception):
    """No end of a formula is known that the formula reaches."""


def ends(formulas: Formulas, expression: Expression) -> tuple[End, End]:
    """The least and the greatest value of a formula, as formulas of numbers. Raises `NoEnd`.

    The formula takes both, and every whole number between them: each size that the engine does not know stands in it once, and a step of
    1 of such a size is a step of at most 1 of the formula.
    """
    return _Walk(formulas, is_upper=False).end(expression), _Walk(formulas, is_upper=True).end(expression)


class _Walk:
    """The way to one end of a formula: sizes that the engine does not know take their own ends."""

    def __init__(self, formulas: Formulas, *, is_upper: bool) -> None:
        self.formulas = formulas
        self.table = formulas.table
        self._is_upper = is_upper
        self._taken: set[Polynomial] = set()

    def end(self, expression: Expression, is_falling: bool = False) -> End:
        """The end of a formula that grows with the whole, or falls."""
        found: Expression
        found, terms = split(expression)
        limit = 0.0
        for monomial, factor in terms:
            if not isinstance(self.formulas.value(self.table.polynomial(0, {monomial: 1})), Dim):
                found = self.table.add(found, self.table.polynomial(0, {monomial: factor}))
                continue
            if len(monomial) > 1 or abs(factor) != 1:
                raise NoEnd
            own = self._of_atom(monomial[0], is_falling ^ (factor < 0))
            if isinstance(own, float):
                limit = factor * own
            else:
                found = self.table.add(found, own, factor)
        return limit or found

    def _of_atom(self, index: int, is_falling: bool) -> End:
        atom = self.table.atoms[index]
        if atom.kind == "symbol":
            low, high, _, _ = self._taken_once(atom).range
            return _limited(low if is_falling == self._is_upper else high)
        if atom.kind not in _LIMITS:
            raise NoEnd
        several = [self.end(one, is_falling) for one in atom.arguments]
        known = [one for one in several if not isinstance(one, float)]
        limit = _LIMITS[atom.kind]
        if -limit in several:
            return -limit
        return self.table.operation(atom.kind, *known) if len(known) > 1 else known[0] if known else limit

    def _taken_once(self, symbol: Atom) -> Dim:
        """The size that a symbol stands for: a symbol of the engine's that no other symbol of the formula stands for. Raises `NoEnd`."""
        size = self.formulas.example.get(symbol.name)
        if not isinstance(size, Dim) or symbol.name in self.formulas.asked or size.range.modulus != 1:
            raise NoEnd
        own = size.scope.polynomials.only_atom(size.polynomial)
        if own is None or own.kind != "symbol" or size.polynomial in self._taken:
            raise NoEnd
        self._taken.add(size.polynomial)
        return size


def _limited(bound: Bound) -> End:
    """The end that a bound is: infinite beyond all sizes."""
    return int(bound) if -UNBOUNDED < bound < UNBOUNDED else inf if bound > 0 else -inf


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
            elif not (self._stays_open(kind, size, other) or self._demand_one_of_several(kind, a, b) or self._demand_ends(kind, a, b)):
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


class Example:
    """What rules do in the example, and the conditions under which they do it.

    `formulas` have the values of the example; `conditions` say where a plan holds; `roots` are the formulas of requirements and of the
    inputs of rules.
    """

    def __init__(self, formulas: Formulas) -> None:
        self.formulas = formulas
        self.conditions = Conditions(formulas)
        self.roots: list[Expression] = []

    def template(self, fact: Fact, example: Fact, is_followed: bool) -> Template | None:
        """The template of a fact; None if the fact of the example is another, or another rule would tell more."""
        if fact.shape is None or fact.is_poisoned or fact.is_literal or fact.element_type is not example.element_type:
            return None
        if (fact.elements is None) != (example.elements is None) or (fact.openvino_view is fact) != (example.openvino_view is example):
            return None
        if is_followed and fact.elements is None:
            return None
        if type(fact.elements) not in (tuple, NoneType) or type(example.elements) is not type(fact.elements):
            return None
        shape = self._terms(fact.shape, example.shape or (), 0, INT64_MAX)
        elements: tuple[Any, ...] | None = None
        if fact.elements is not None:
            limits = exact_limits(fact.element_type)
            elements = None if limits is None else self._terms(fact.elements, example.elements or (), *limits, fact.element_type.is_real)
            if elements is None:
                return None
        view = None
        if fact.openvino_view is not fact:
            view = self.template(fact.openvino_view, example.openvino_view, False)
            if view is None:
                return None
        return None if shape is None else Template(fact.element_type, shape, elements, view)

    def _terms(
        self, sizes: tuple[Any, ...], examples: tuple[Any, ...], low: int, high: int, is_real: bool = False
    ) -> tuple[Any, ...] | None:
        """Numbers and formulas; None where the example has another number, or one out of these limits."""
        if len(sizes) != len(examples):
            return None
        terms: list[Any] = []
        for size, example in zip(sizes, examples, strict=True):
            if not isinstance(size, Dim):
                if not isinstance(size, int | float) or repr(size) != repr(example):
                    return None
                terms.append(size)
                continue
            if isinstance(example, Dim):
                if is_real or not self.stands_for(size, example):
                    return None
                terms.append(size.polynomial)
                continue
            least, most = low, high
            if is_real:  # a real 0 has two signs
                least, most = (1, high) if example > 0 else (low, -1)
            if self.formulas.value(size.polynomial) != example or not self.conditions.limit(size, least, most):
                return None
            terms.append(size.polynomial)
        return tuple(terms)

    def stands_for(self, size: Dim, example: Size, *, binds: bool = True, is_constant: bool = False) -> bool:
        """Whether a formula is this size of the example, which the engine may not know.

        A symbol that is born with the same range in both, and without limits, is the same, and so is one whose range `is_constant`; `binds`
        lets it stand for that of the example from now on.
        """
        if _without_limit(size.range) != _without_limit(size.polynomial.range):
            return False
        value = self.formulas.value(size.polynomial)
        if value is not None:
            return value is example or (isinstance(value, int) and value == example)
        atom = self.formulas.table.only_atom(size.polynomial)
        if not binds or atom is None or atom.kind != "symbol" or not isinstance(example, Dim):
            return False
        if not is_one_range(size, example) and not is_constant:
            return False
        self.formulas.bind(atom, example)
        return True

    def requirements(self, ours: Iterable[Requirement], examples: Iterable[Requirement]) -> list[Requirement] | None:
        """The requirements that depend on sizes which the engine does not know; None if they are not those of the example."""
        found = [one for one in ours if self._is_left(one)]
        likes = list(examples)
        if [_content(one) for one in found] != [_content(one) for one in likes]:
            return None
        sides = [pair for one, like in zip(found, likes, strict=True) for pair in ((one.a, like.a), (one.b, like.b))]
        for side, like in sides:
            if not (side == like if isinstance(side, int) else self.stands_for(side, like, binds=False)):
                return None
        self.roots += [expression_of(side) for side, _ in sides]
        return found

    def _is_left(self, requirement: Requirement) -> bool:
        """Whether the example leaves a requirement open: it is fulfilled by numbers, and by a size for itself."""
        a, b = (self.formulas.value(expression_of(side)) for side in (requirement.a, requirement.b))
        return a is not b and not (isinstance(a, int) and isinstance(b, int))

    def moves(self, requirement: Requirement) -> bool:
        """Whether the sizes of the inputs move one size that the engine does not know against another."""
        a, b = requirement.a, requirement.b
        are_unknown = all(isinstance(self.formulas.value(expression_of(side)), Dim) for side in (a, b))
        return are_unknown and self.formulas.varies(a - b)

    def demand(self, questions: Iterable[Question]) -> bool:
        """Demand that questions have the answers of the example; false, and nothing is demanded, if one has none."""
        several = list(questions)
        if not all(map(self.conditions.can_hold, several)):
            return False
        for question in several:
            self.conditions.add(question)
        return True


def is_one_range(size: Dim, example: Dim) -> bool:
    """Whether a size that no formula tells has the range of the example for all sizes of the inputs.

    The range in the plan holds for all of them, and the example lies inside of theirs, so a bound that moves with them would differ. An
    upper limit may still be a smaller one for smaller inputs: `min(boxes, 10)`.
    """
    return size.range == example.range and size.range.high >= UNBOUNDED


def _without_limit(known: Range) -> Range:
    """The range without an upper bound that no size reaches."""
    return known._replace(high=inf) if known.high >= UNBOUNDED else known


def _content(requirement: Requirement) -> object:
    return type(requirement), requirement.kind, requirement.template, requirement.code, requirement.names
