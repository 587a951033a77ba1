"""Simplification of requirements: equivalent requirements about the symbols themselves, where possible.

`(H + 3)//4 >= 2` becomes `H >= 5`, `(H + 7)//8 == H//8` becomes `H % 8 == 0`, and `H*W >= 1` becomes `H >= 1` and `W >= 1`. The result is
always equivalent to the original requirement.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from math import gcd, inf
from operator import and_
from typing import Final, TypeAlias

from irshape.shape.dim import Dim, Scope, Size, bounds, dim_of, eq, expression_of, le
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Atom, Expression, Monomial, Polynomial, split
from irshape.shape.range import Range
from irshape.shape.reported import Reported

# The limit of simplification steps. Each step removes a floor, a minimum or a factor, so few are necessary.
_STEPS: Final = 32

_Parts: TypeAlias = list[Requirement] | None
"""The requirements that are together equivalent to one requirement; None if it cannot be simplified."""


def simplified(requirement: Requirement) -> list[Requirement]:
    """The requirements that are together equivalent to this one; none if it always holds."""
    done: list[Requirement] = []
    pending = [requirement]
    for _ in range(_STEPS):
        if not pending:
            break
        one = pending.pop()
        parts = _STEP[one.kind](one)
        if parts is None:
            done.append(one)
        else:
            pending += reversed(parts)
    return [*done, *reversed(pending)]


def equality(requirement: Requirement) -> dict[int, Expression]:
    """The replacement for an atom, by its index, that a requirement allows: `8*(H//8)` for `H`, or `H//8` for `(H + 7)//8`.

    Empty if the requirement is no equality, or no atom stands alone in it with a coefficient of 1 or -1.
    """
    size, divisor = requirement.a, requirement.b
    whole: Size = 0
    if requirement.kind == "eq":
        size -= divisor
    elif requirement.kind == "div" and isinstance(divisor, int):
        whole = size // divisor * divisor
    else:
        return {}
    if isinstance(size, Dim):
        for atom, coefficient in _lone(size.polynomial):
            if abs(coefficient) == 1:
                polynomial = expression_of((whole - size) * coefficient)
                return {atom.index: size.polynomial.table.add(polynomial, size.polynomial.table.polynomial(0, {(atom.index,): 1}))}
    return {}


def composed(first: Mapping[int, Expression], second: Mapping[int, Expression]) -> dict[int, Expression]:
    """The substitution of atoms that applies `first` and then `second`."""
    return {**{index: _replaced(expression, second) for index, expression in first.items()}, **second}


def _replaced(expression: Expression, substitution: Mapping[int, Expression]) -> Expression:
    """The expression after a substitution of atoms; the expression itself if the substitution makes it divide by 0."""
    try:
        return expression if isinstance(expression, int) or not substitution else expression.table.substituted(expression, substitution)
    except ZeroDivisionError:
        return expression


def substituted(requirement: Requirement, substitution: Mapping[int, Expression]) -> Requirement:
    """The requirement after a substitution of atoms."""
    a, b = (
        dim_of(size.scope, _replaced(size.polynomial, substitution)) if isinstance(size, Dim) else size
        for size in (requirement.a, requirement.b)
    )
    return _derived(requirement, requirement.kind, a, b)


def _derived(requirement: Requirement, kind: str, a: Size, b: Size) -> Requirement:
    """A requirement that follows from another and keeps its message."""
    names = {"a": requirement.a, "b": requirement.b, **requirement.names}
    return type(requirement)(kind, a, b, requirement.template, requirement.code, names)


def _lone(polynomial: Polynomial) -> Iterator[tuple[Atom, int]]:
    """The atoms that are terms of a polynomial by themselves, with their coefficients, the newest atom first."""
    for monomial, coefficient in reversed(polynomial.terms):
        if len(monomial) == 1:
            yield polynomial.table.atoms[monomial[0]], coefficient


def _step_ge(requirement: Requirement) -> _Parts:
    """Simplify `size >= 0`."""
    size = requirement.a - requirement.b
    if le(0, size):
        return []
    if not isinstance(size, Dim):
        return None
    polynomial = size.polynomial
    for atom, coefficient in _lone(polynomial):
        rest = size - coefficient * dim_of(size.scope, atom)
        first, second = (dim_of(size.scope, argument) for argument in atom.arguments) if atom.arguments else (0, 0)
        if atom.kind == ("min" if coefficient > 0 else "max"):
            return [_derived(requirement, "ge", rest + coefficient * one, 0) for one in (first, second)]
        if atom.kind != "floor" or not isinstance(second, int):
            continue
        if abs(coefficient) > 1:
            if not isinstance(rest, int):
                continue
            rest //= abs(coefficient)
        # floor(n/d) >= -rest is equivalent to n >= -rest*d, and floor(n/d) <= rest to n <= rest*d + d - 1.
        plain = first + second * rest if coefficient > 0 else second * rest + second - 1 - first
        if not isinstance(plain, Dim) or plain.polynomial.size < polynomial.size:
            return [_derived(requirement, "ge", plain, 0)]
    shared = _without_shared(size)
    if shared is not None:
        return [_derived(requirement, "ge", shared, 0)]
    if len(polynomial.terms) == 1:
        ((monomial, coefficient),) = polynomial.terms
        if len(monomial) > 1 and 0 < -polynomial.constant <= coefficient:
            factors = [dim_of(size.scope, polynomial.table.atoms[index]) for index in dict.fromkeys(monomial)]
            if all(bounds(factor)[0] >= 0 for factor in factors):
                return [_derived(requirement, "ge", factor, 1) for factor in factors]
    return None


def _step_eq(requirement: Requirement) -> _Parts:
    """Simplify `size == 0`."""
    size = requirement.a - requirement.b
    if eq(size, 0):
        return []
    if not isinstance(size, Dim):
        return None
    polynomial, scope = size.polynomial, size.scope
    shared = _without_shared(size)
    if shared is not None:
        return [_derived(requirement, "eq", shared, 0)]
    for atom, coefficient in _lone(polynomial):
        if atom.kind in ("min", "max") and abs(coefficient) == 1:
            value = (coefficient * dim_of(scope, atom) - size) * coefficient
            sides = [dim_of(scope, argument) for argument in atom.arguments]
            if value in sides:
                limit = sides[1 - sides.index(value)]
                return [_derived(requirement, "ge", *((limit, value) if atom.kind == "min" else (value, limit)))]
    floors = [(atom, coefficient) for atom, coefficient in _lone(polynomial) if atom.kind == "floor" and isinstance(atom.arguments[1], int)]
    if len(floors) == len(polynomial.terms) == 2:
        (one, factor), (other, opposite) = floors
        (n, divisor), (m, same) = ((dim_of(scope, argument) for argument in atom.arguments) for atom in (one, other))
        offset = n - m
        if factor == -opposite and divisor == same and isinstance(offset, int) and isinstance(divisor, int) and not polynomial.constant:
            # The two floors are equal if adding the offset does not carry into the quotient.
            low, carried = (m, offset) if offset > 0 else (n, -offset)
            if carried == divisor - 1:
                return [_derived(requirement, "div", low, divisor)]
            if carried < divisor:
                return [_derived(requirement, "ge", divisor - 1 - carried, low % divisor)]
    remainder = polynomial.table.as_remainder(polynomial)
    if remainder:
        numerator, divided, rest, _ = remainder
        whole = polynomial.table.add(numerator, -rest)
        if not split(whole)[0]:  # otherwise the original text is shorter
            return [_derived(requirement, "div", dim_of(scope, whole), divided)]
    return None


def _without_shared(size: Dim) -> Size | None:
    """A sum without a factor that all its terms share and that is at least 1; None if there is none."""
    polynomial = size.polynomial
    if polynomial.constant or len(polynomial.terms) < 2:
        return None
    shared = set(polynomial.terms[0][0]).intersection(*(monomial for monomial, _ in polynomial.terms[1:]))
    for index in sorted(shared):
        if polynomial.table.ranges[index].low > 0:
            terms = {_without(monomial, index): coefficient for monomial, coefficient in polynomial.terms}
            return dim_of(size.scope, polynomial.table.polynomial(terms.pop((), 0), terms))
    return None


def _without(monomial: Monomial, index: int) -> Monomial:
    """A monomial without one of its factors."""
    position = monomial.index(index)
    return monomial[:position] + monomial[position + 1 :]


def _step_div(requirement: Requirement) -> _Parts:
    """Simplify `size % divisor == 0`."""
    size, divisor = requirement.a, requirement.b
    if isinstance(divisor, Dim) and size % divisor == 0:
        return []
    if not isinstance(size, Dim) or not isinstance(divisor, int) or divisor == 0:
        return None
    if size.range.modulus % divisor == 0 and size.range.remainder % divisor == 0:
        return []
    polynomial = size.polynomial
    kept = {monomial: coefficient for monomial, coefficient in polynomial.terms if coefficient % divisor}
    if len(kept) < len(polynomial.terms) or not 0 <= polynomial.constant < abs(divisor):
        return [
            _derived(requirement, "div", dim_of(size.scope, polynomial.table.polynomial(polynomial.constant % abs(divisor), kept)), divisor)
        ]
    # The coefficient of a single term may share a factor with the divisor; the rest of the coefficient does not matter.
    coefficients = [coefficient for _, coefficient in polynomial.terms]
    is_single = len(coefficients) == 1 and not polynomial.constant
    common = abs(coefficients[0]) if is_single else gcd(divisor, polynomial.constant, *coefficients)
    if common == 1:
        return None
    terms = {monomial: coefficient // common for monomial, coefficient in polynomial.terms}
    part = dim_of(size.scope, polynomial.table.polynomial(polynomial.constant // common, terms))
    return [_derived(requirement, "div", part, divisor // gcd(divisor, common))]


def _step_broadcast(requirement: Requirement) -> _Parts:
    """Simplify `broadcast` and `stretch`."""
    a, b = requirement.a, requirement.b
    is_one = [eq(a, 1), requirement.kind == "broadcast" and eq(b, 1)]
    is_equal = eq(a, b)
    if is_equal or True in is_one:
        return []
    if is_one == [False, False]:
        return [_derived(requirement, "eq", a, b)]
    if is_equal is False and False in is_one:
        return [_derived(requirement, "eq", b if is_one[0] is False else a, 1)]
    return None


_STEP: Final[dict[str, Callable[[Requirement], _Parts]]] = {
    "ge": _step_ge,
    "eq": _step_eq,
    "div": _step_div,
    "broadcast": _step_broadcast,
    "stretch": _step_broadcast,
}


def within_bounds(scope: Scope, requirements: Sequence[Requirement]) -> list[Requirement]:
    """The requirements in simpler form, by the bounds that all of them give together.

    A broadcast of sizes that cannot be 1 is an equality, and equalities lose common factors that are never 0.
    """
    if not any(requirement.kind in ("eq", "broadcast", "stretch") for requirement in requirements):
        return list(requirements)
    reported = Reported(scope, requirements)
    simpler = []
    for one in requirements:
        kind, a, b = one.kind, one.a, one.b
        if kind == "broadcast" and reported.bounds(a)[0] > 1:
            kind, a, b = "stretch", b, a
        elif kind == "broadcast" and reported.bounds(b)[0] > 1:
            kind = "stretch"
        if kind == "stretch" and reported.bounds(a)[0] > 1:
            kind = "eq"
        if kind == "eq":
            a, b = _divided(scope, one.a, one.b, reported)
        simpler.append(one if (kind, a, b) == (one.kind, one.a, one.b) else type(one)(kind, a, b, one.template, one.code, one.names))
    return simpler


def _divided(scope: Scope, a: Size, b: Size, reported: Reported) -> tuple[Size, Size]:
    """Both sides of an equation, divided by the common factors of its terms that are never 0."""
    difference = a - b
    if not isinstance(difference, Dim) or difference.polynomial.constant or len(difference.polynomial.terms) < 2:
        return a, b
    table = scope.polynomials
    common = reduce(and_, (Counter(monomial) for monomial, _ in difference.polynomial.terms))
    for index in list(common):
        if reported.bounds(scope.dim(table.polynomial(0, {(index,): 1}), Range(-inf, inf)))[0] < 1:
            del common[index]
    if not common:
        return a, b
    terms = {tuple(sorted((Counter(monomial) - common).elements())): value for monomial, value in difference.polynomial.terms}
    constant = terms.pop((), 0)
    return scope.dim(table.polynomial(constant, terms), Range(-inf, inf)), 0
