"""The example of a plan: the pass with numbers that every formula, question and requirement of the plan is checked against."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from types import NoneType
from typing import Any

from irshape.inference.facts import Fact
from irshape.inference.plan.conditions import Conditions
from irshape.inference.plan.formulas import Formulas
from irshape.inference.plan.parts import Template
from irshape.shape.dim import INT64_MAX, UNBOUNDED, Dim, Question, Size, expression_of
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Expression
from irshape.shape.range import Range
from irshape.shape.value import exact_limits


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
    """A requirement without its sizes."""
    return type(requirement), requirement.kind, requirement.template, requirement.code, requirement.names
