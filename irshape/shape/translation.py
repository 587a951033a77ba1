"""Formulas of one inference in the terms of another, so that sizes of both can be compared by meaning."""

from __future__ import annotations

from irshape.shape.dim import Dim, Size
from irshape.shape.form import Form, FormTable, Polynomial, split


class Translation:
    """What the symbols of one table are called in another.

    Symbols correspond that are met first at the same place. What corresponds once does so for good.
    """

    def __init__(self) -> None:
        self._atoms: dict[int, Polynomial] = {}
        self._taken: set[int] = set()
        self._forms: dict[Form, Form] = {}

    def are_one(self, a: Size, b: Size) -> bool:
        """Whether `b` of the other scope is the formula `a` of this one, with the same bounds.

        Symbols that both are alone made of, and that were not met before, correspond from now on.
        """
        if not isinstance(a, Dim) or not isinstance(b, Dim):
            return a is b or (type(a) is type(b) and a == b)
        return self._is_form(a.form, b.form) and a.range == b.range

    def _is_form(self, a: Form, b: Form) -> bool:
        known = self._forms.get(b)
        if known is not None:
            return known is a
        new = [index for index in b.table.atoms_below(b) if b.table.atoms[index].kind == "symbol" and index not in self._atoms]
        free = [index for index in a.table.atoms_below(a) if a.table.atoms[index].kind == "symbol" and index not in self._taken]
        if len(new) != len(free):
            return False
        before = len(self._atoms)
        self._atoms.update((own, a.table.form(0, {(other,): 1})) for own, other in zip(new, free, strict=True))
        if self._translated(b, a.table) is not a:
            while len(self._atoms) > before:
                self._atoms.popitem()
            return False
        self._taken.update(free)
        self._forms[b] = a
        return True

    def _translated(self, form: Form, into: FormTable) -> Polynomial | None:
        """The form in another table, to which the atoms it needs are added; None where it divides by what is 0 there."""
        found = self._atoms
        try:
            for index in form.table.atoms_below(form):
                if index not in found:
                    atom = form.table.atoms[index]
                    a, b = (self._sum(argument, into) for argument in atom.arguments)
                    found[index] = _apply(into, atom.kind, a, b)
        except ZeroDivisionError:
            return None
        return self._sum(form, into)

    def _sum(self, polynomial: Polynomial, into: FormTable) -> Polynomial:
        constant, terms = split(polynomial)
        total: Polynomial = constant
        for monomial, coefficient in terms:
            product: Polynomial = coefficient
            for index in monomial:
                product = into.multiply(product, self._atoms[index])
            total = into.add(total, product)
        return total


def _apply(table: FormTable, kind: str, a: Polynomial, b: Polynomial) -> Polynomial:
    if kind == "floor":
        return table.floor(a, b)
    if kind == "add":
        return table.add(a, b)
    return table.multiply(a, b) if kind == "multiply" else table.select(kind, a, b)
