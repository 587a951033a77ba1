"""The tensors of a plan that only their rules tell: symbols stand for the numbers that a rule gives at each reshape."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from types import NoneType
from typing import Any, Final, NamedTuple

from irshape.inference.facts import Fact
from irshape.inference.plan.example import Example
from irshape.inference.plan.opaque import Opaque
from irshape.inference.plan.parts import Asked, Template
from irshape.shape.dim import Dim, Scope, dim_of
from irshape.shape.polynomial import Polynomial

# Numbers up to here get a symbol.
HIGH: Final = 1 << 16
# So many elements of a tensor that only its rule tells get a symbol.
_MOST_SYMBOLS: Final = 64


class Opened(NamedTuple):
    """A tensor that only its rule tells: the template of the rule's answer, and the fact with formulas and its template."""

    answer: Template
    fact: Fact
    template: Template


class Asking:
    """Symbols for the outputs of rules that are asked.

    A number has a symbol, if it is positive, and so has a size that the engine does not know. Where the pass with formulas knows a
    formula for it, the tensor has this formula, and it is a condition of the plan that the two are equal.
    """

    def __init__(self, example: Example, opaque: Opaque) -> None:
        self.example = example
        self.opaque = opaque
        self._count = 0
        self._formulas: dict[Polynomial, Dim] = {}

    def opened(self, example: Fact, like: Fact | None, symbols: list[Asked]) -> Opened | None:
        """A tensor with symbols, which are added, for the numbers that a pass with formulas, which gives `like`, does not know.

        None if symbols cannot stand for all its numbers.
        """
        count = len(symbols)
        fact = self._fact(example, like, symbols)
        answer = None if fact is None else self.example.template(fact, example, False)
        if fact is None or answer is None:
            del symbols[count:]
            return None
        for symbol in answer.formulas:
            if symbol in self._formulas:
                self.example.conditions.equal(symbol, self._formulas[symbol].polynomial)
        known = self._known(fact)
        return Opened(answer, known, self.example.template(known, example, False) or answer)

    def _known(self, fact: Fact) -> Fact:
        """A fact with the formulas that are known for its symbols."""
        shape, elements = (terms and tuple(map(self._formula, terms)) for terms in (fact.shape, fact.elements))
        view = None if fact.openvino_view is fact else self._known(fact.openvino_view)
        return self.opaque.table.intern(fact.element_type, shape, elements, openvino_view=view)

    def _formula(self, one: Any) -> Any:
        return self._formulas.get(one.polynomial, one) if isinstance(one, Dim) else one

    def _fact(self, example: Fact, like: Fact | None, symbols: list[Asked]) -> Fact | None:
        if example.shape is None or example.is_poisoned or type(example.elements) not in (tuple, NoneType):
            return None
        count, view = len(symbols), example.openvino_view
        shape = self._terms(example.shape, None if like is None else like.shape, symbols)
        elements = None
        # Real elements that are whole numbers in the example are not so for other sizes.
        is_short = len(example.elements or ()) <= _MOST_SYMBOLS and not example.element_type.is_real
        if example.elements is not None and len(symbols) == count and is_short:
            elements = self._terms(example.elements, None if like is None else like.elements, symbols)
        if shape is None or (elements is None) != (example.elements is None):
            return None
        if view is example:
            return self.opaque.table.intern(example.element_type, shape, elements)
        sizes = self._seen(view.shape, shape, example.shape, symbols)
        held = self._seen(view.elements, elements, example.elements, symbols)
        if sizes is None or (held is None) != (view.elements is None):
            return None
        theirs = self.opaque.table.intern(view.element_type, sizes, held)
        return self.opaque.table.intern(example.element_type, shape, elements, openvino_view=theirs)

    def _seen(
        self, view: tuple[Any, ...] | None, ours: tuple[Any, ...] | None, example: tuple[Any, ...] | None, symbols: list[Asked]
    ) -> tuple[Any, ...] | None:
        """OpenVINO's view of numbers. A number that both views know is one number."""
        if type(view) is not tuple:
            return None
        known = [None] * len(view)
        if ours is not None and example is not None and len(ours) == len(view):
            known = [one if our == their else None for one, our, their in zip(ours, example, view, strict=True)]
        found: list[Any] = []
        for number, one in zip(view, known, strict=True):
            if isinstance(one, Dim):
                found.append(dim_of(self.opaque.views, one.polynomial))
                continue
            term = number if one is not None else self._term(self.opaque.views, number, None, symbols)
            if term is None:
                return None
            found.append(term)
        return tuple(found)

    def _terms(self, numbers: Sequence[Any], like: Sequence[Any] | None, symbols: list[Asked]) -> tuple[Any, ...] | None:
        """Numbers, and symbols for those that may vary; None if one is neither positive nor a size."""
        known = like if like is not None and len(like) == len(numbers) else [None] * len(numbers)
        found = [self._term(self.opaque.scope, number, one, symbols) for number, one in zip(numbers, known, strict=True)]
        return None if None in found else tuple(found)

    def _term(self, scope: Scope, number: Any, known: Any, symbols: list[Asked]) -> Any:
        if repr(known) == repr(number) and not isinstance(number, Dim):
            return number
        if isinstance(number, Dim):
            # Other sizes of the inputs give another range; a pass with formulas tells one for all of them.
            low, high = known.range[:2] if isinstance(known, Dim) else (min(number.range.low, 1), inf)
            made = scope.unknown(("asked", self._count), low, high)
            asked = Asked(str(made), low, high, False)
        elif number == int(number) and 0 < number < HIGH:
            number, asked = int(number), Asked(f"x{self._count}", 1, HIGH, True)
            made = scope.symbol(asked.name, 1, HIGH)
        else:
            return None
        assert isinstance(made, Dim)
        self._count += 1
        symbols.append(asked)
        self.example.formulas.asked.add(asked.name)
        self.example.formulas.example[asked.name] = number
        if isinstance(known, Dim) and isinstance(number, Dim | int) and self.example.stands_for(known, number, binds=False):
            self._formulas[made.polynomial] = known
        return made
