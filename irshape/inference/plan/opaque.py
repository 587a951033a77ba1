"""The sizes that the engine itself does not know, as symbols of a plan."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf
from typing import Any

from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.formulas import Formulas
from irshape.shape.dim import Dim, Scope, Size, dim_of, narrow
from irshape.shape.fold import translated
from irshape.shape.limits import Limits, Work
from irshape.shape.polynomial import Atom, Expression, Polynomial, PolynomialTable
from irshape.shape.range import Bound, Range
from irshape.shape.value import Real


class PlanScope(Scope):
    """The scope of a plan: symbols with names stand for numbers, all others for sizes that the engine does not know.

    `hulls` are the symbols, by formula, that stand for one of several sizes: each with its key and these sizes.
    """

    def __init__(self, limits: Limits, work: Work | None = None, polynomials: PolynomialTable | None = None) -> None:
        super().__init__(limits, work, polynomials)
        self.hulls: dict[Polynomial, tuple[Hashable, tuple[Size, ...]]] = {}

    def hull(self, key: Hashable, *sizes: Size) -> Size:
        made = super().hull(key, *sizes)
        if isinstance(made, Dim) and self.polynomials.only_atom(made.polynomial) is not None and made not in sizes:
            self.hulls[made.polynomial] = key, sizes
        return made

    def unknown(
        self, key: Hashable, low: Bound = -inf, high: Bound = inf, modulus: int = 1, remainder: int = 0, *, is_unbacked: bool = False
    ) -> Size:
        return super().unknown(key, low, high, modulus, remainder, is_unbacked=True)


class ViewScope(PlanScope):
    """The scope of OpenVINO's view in a plan: formulas whose symbols stand for intervals, so that their values are intervals."""

    has_intervals_only = True

    def __init__(self, scope: PlanScope) -> None:
        super().__init__(scope.limits, scope.work, scope.polynomials)
        self._names = scope._names
        self.questions = scope.questions


class Opaque:
    """The symbols of a plan that stand for the sizes which an engine does not know: these stay what they are.

    `scope` has irshape's formulas of the plan, and `views` those of OpenVINO's view, in which each size of a tensor is a symbol of its
    own. `formulas` has the values of the symbols.
    """

    def __init__(self, scope: PlanScope, views: ViewScope, table: FactTable, formulas: Formulas) -> None:
        self.scope = scope
        self.views = views
        self.table = table
        self.formulas = formulas
        self._atoms: dict[int, Expression] = {}

    def fact(self, fact: Fact) -> Fact | None:
        """A fact of the engine's with symbols of the plan; None if it holds numbers that no formula tells."""
        view = fact.openvino_view
        ours = self._of(fact)
        if view is fact or ours is None:
            return ours
        theirs = self._of(view)
        if theirs is None:
            return None
        return self.table.intern(ours.element_type, ours.shape, ours.elements, False, theirs, ours.is_literal, ours.ends)

    def _of(self, fact: Fact) -> Fact | None:
        several = (*(fact.shape or ()), *(fact.elements or ()))
        if not any(isinstance(one, Dim | Real) for one in several):
            return fact
        if fact.is_poisoned or any(isinstance(one, Real) for one in several) or type(fact.elements) not in (tuple, type(None)):
            return None
        shape, elements = (terms and tuple(map(self._size, terms)) for terms in (fact.shape, fact.elements))
        return self.table.intern(fact.element_type, shape, elements)

    def _size(self, one: Any) -> Any:
        """A size or an element of the engine's with symbols of the plan."""
        if not isinstance(one, Dim):
            return one
        if one.scope.has_intervals_only:
            return self.new(self.views, one)

        def symbol(atom: Atom) -> Expression:
            return self.new(self.scope, dim_of(one.scope, atom)).polynomial

        size = dim_of(self.scope, translated(one.polynomial, self.scope.polynomials, self._atoms, symbol))
        return narrow(size, *one.range)

    def new(self, scope: Scope, size: Size, known: Range | None = None) -> Dim:
        """A symbol of the plan that stands for this size of the engine's; `known` is its range for all sizes of the inputs."""
        assert isinstance(size, Dim)
        made = scope.unknown(("opaque", len(self.formulas.example)), *(known or size.range))
        assert isinstance(made, Dim)
        atom = self.formulas.table.only_atom(made.polynomial)
        assert atom is not None
        self.formulas.bind(atom, size)
        return made
