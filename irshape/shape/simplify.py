"""Simplification of requirements: equivalent requirements about the symbols themselves, where possible.

`(H + 3)//4 >= 2` becomes `H >= 5`, `(H + 7)//8 == H//8` becomes `H % 8 == 0`, and `H*W >= 1` becomes `H >= 1` and `W >= 1`. The result is
always equivalent to the original requirement.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import permutations
from math import gcd, inf, prod
from operator import and_
from typing import Final, TypeAlias

from irshape.shape.dim import Dim, Scope, Size, bounds, dim_min, dim_of, eq, expression_of, le
from irshape.shape.fold import replaced_or_same
from irshape.shape.guard import Requirement, selection
from irshape.shape.polynomial import Atom, Expression, Polynomial, PolynomialTable, range_of, split
from irshape.shape.range import Bound, Range, exactly, meet
from irshape.shape.reported import SELECTIONS, Reported

# The limit of simplification steps. Each step removes a floor, a minimum or a factor, so few are necessary.
_STEPS: Final = 32
# The most requirements whose cases are tried for one requirement.
_MOST_CASES: Final = 16
# The most atoms of a formula of which cases are tried.
_MOST_ATOMS: Final = 64
# The most values of a size that are tried.
_MOST_TRIED: Final = 256

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


def always_holds(requirement: Requirement) -> bool:
    """Whether a requirement holds for all sizes, each `min`, `max` and broadcast in it being the one or the other of its arguments.

    Those that compare the same two formulas are resolved together: where `a >= b`, `max(a - b, 0)` is `a - b` and `max(b - a, 0)` is 0.
    """
    pending, tried = [requirement], 0
    while pending:
        one, tried = pending.pop(), tried + 1
        if _holds_along(one):
            continue
        cases = _cases(one) if tried <= _MOST_CASES else []
        if not cases:
            return False
        for case in cases:
            pending += simplified(substituted(one, case))
    return True


def _holds_along(requirement: Requirement) -> bool:
    """Whether a requirement made of one size, numbers, `min` and `max` holds for all values of the size.

    Its sides are pieces of straight lines, and none of them begins behind twice the sum of the numbers. So the values up to there are
    tried, and two behind it tell how the last piece goes on.
    """
    sides = [expression_of(size) for size in (requirement.a, requirement.b)]
    table = next((side.table for side in sides if isinstance(side, Polynomial)), None)
    if table is None or requirement.kind == "div":
        return False
    atoms = [table.atoms[index] for index in _selected(table, sides)]
    bases = [atom for atom in atoms if atom.kind not in ("min", "max")]
    pieces = [*sides, *(argument for atom in atoms if atom.kind in ("min", "max") for argument in atom.arguments)]
    if len(bases) != 1 or any(len(monomial) > 1 for piece in pieces for monomial, _ in split(piece)[1]):
        return False
    largest: dict[int, int] = {bases[0].index: 0}
    for atom in atoms:
        if atom.kind in ("min", "max"):
            largest[atom.index] = max(_largest(argument, largest) for argument in atom.arguments)
    low, high, *_ = table.ranges[bases[0].index]
    last = 2 * sum(_largest(side, largest) for side in sides) + 2
    if low == -inf or last - low > _MOST_TRIED:
        return False
    values = range(int(low), int(min(max(last, low + 2), high)) + 1)
    pairs: list[tuple[int, int]] = []
    for number in values:
        left, right = [replaced_or_same(side, {bases[0].index: number}) for side in sides]
        if not (isinstance(left, int) and isinstance(right, int) and requirement.relates(left, right)):
            return False
        pairs.append((left, right))
    (a, b), (c, d) = pairs[-2:] if len(pairs) > 1 else pairs * 2
    if values[-1] == high:
        return True
    is_equal = a == b and c == d
    is_one = requirement.kind in ("broadcast", "stretch") and (a == c == 1 or (requirement.kind == "broadcast" and b == d == 1))
    return c - d >= a - b if requirement.kind == "ge" else is_equal or is_one


def _selected(table: PolynomialTable, sides: Sequence[Expression]) -> list[int]:
    """The atoms in some formulas, and those in the arguments of each `min` and `max` among them, in order."""
    found: set[int] = set()
    pending = list(sides)
    while pending:
        for monomial, _ in split(pending.pop())[1]:
            for index in monomial:
                if index not in found:
                    found.add(index)
                    pending += table.atoms[index].arguments if table.atoms[index].kind in ("min", "max") else ()
    return sorted(found)


def _largest(expression: Expression, known: Mapping[int, int]) -> int:
    """The largest number, without its sign, that may stand beside the size in a piece of a formula."""
    constant, terms = split(expression)
    return abs(constant) + sum(abs(coefficient) * known[monomial[0]] for monomial, coefficient in terms)


def selections(requirement: Requirement) -> list[Atom]:
    """The atoms of a requirement that are one of two formulas: `min`, `max` and broadcast. None are given of very long formulas."""
    pending: list[Expression] = [size.polynomial for size in (requirement.a, requirement.b) if isinstance(size, Dim)]
    found: dict[int, Atom] = {}
    while pending and len(found) <= _MOST_ATOMS:
        expression = pending.pop()
        for monomial, _ in split(expression)[1]:
            for index in monomial:
                if index not in found and isinstance(expression, Polynomial):
                    found[index] = atom = expression.table.atoms[index]
                    pending += atom.arguments
    return [atom for _, atom in sorted(found.items()) if atom.kind in SELECTIONS] if len(found) <= _MOST_ATOMS else []


def _cases(requirement: Requirement) -> list[dict[int, Expression]]:
    """What the newest atom with two cases, and those that compare the same formulas, are in each case; none without such an atom."""
    atoms = selections(requirement)
    if not atoms:
        return []
    table = next(size.polynomial.table for size in (requirement.a, requirement.b) if isinstance(size, Dim))
    a, b = atoms[-1].arguments
    if atoms[-1].kind == "broadcast":  # which is `b` where `a` is 1
        alone = table.only_atom(a)
        ones: dict[int, Expression] = {} if alone is None else {alone.index: 1}
        return [{atoms[-1].index: a}, {atoms[-1].index: replaced_or_same(b, ones), **ones}]
    difference, opposite = table.add(a, b, -1), table.add(b, a, -1)
    greater: dict[int, Expression] = {}
    smaller: dict[int, Expression] = {}
    for atom in atoms:
        if atom.kind == "broadcast":
            continue
        first, second = atom.arguments
        between = table.add(first, second, -1)
        if between in (difference, opposite):
            is_first = (between == difference) == (atom.kind == "max")  # where the first formula is at least the second
            greater[atom.index], smaller[atom.index] = (first, second) if is_first else (second, first)
    return [greater, smaller]


def equality(requirement: Requirement) -> dict[int, Expression]:
    """The replacement for an atom, by its index, that a requirement allows: `8*(H//8)` for `H`, or `H//8` for `(H + 7)//8`.

    Empty if the requirement is no equality, or no atom stands alone in it with a coefficient of 1 or -1.
    """
    size, divisor = requirement.a, requirement.b
    whole: Size = 0
    if requirement.kind == "eq":
        size -= divisor
    elif requirement.kind == "div" and isinstance(divisor, int) and divisor:
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
    return {**{index: replaced_or_same(expression, second) for index, expression in first.items()}, **second}


def substituted(requirement: Requirement, substitution: Mapping[int, Expression]) -> Requirement:
    """The requirement after a substitution of atoms."""
    a, b = (
        dim_of(size.scope, replaced_or_same(size.polynomial, substitution)) if isinstance(size, Dim) else size
        for size in (requirement.a, requirement.b)
    )
    return derived(requirement, requirement.kind, a, b)


def derived(requirement: Requirement, kind: str, a: Size, b: Size) -> Requirement:
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
            return [derived(requirement, "ge", rest + coefficient * one, 0) for one in (first, second)]
        if atom.kind == ("max" if coefficient > 0 else "min"):  # one of the two is enough, and one is never
            for one, other in ((first, second), (second, first)):
                if le(0, rest + coefficient * other) is False:
                    return [derived(requirement, "ge", rest + coefficient * one, 0)]
        if atom.kind != "floor" or bounds(second)[0] < 1:
            continue
        if abs(coefficient) > 1:
            if not isinstance(rest, int):
                continue
            rest //= abs(coefficient)
        # floor(n/d) >= -rest is equivalent to n >= -rest*d, and floor(n/d) <= rest to n <= rest*d + d - 1.
        plain = first + second * rest if coefficient > 0 else second * rest + second - 1 - first
        if not isinstance(plain, Dim) or plain.polynomial.size < polynomial.size:
            return [derived(requirement, "ge", plain, 0)]
    shared = _without_shared(size)
    if shared is not None:
        return [derived(requirement, "ge", shared, 0)]
    if len(polynomial.terms) == 1:
        ((monomial, coefficient),) = polynomial.terms
        if len(monomial) > 1 and 0 < -polynomial.constant <= coefficient:
            factors = [dim_of(size.scope, polynomial.table.atoms[index]) for index in dict.fromkeys(monomial)]
            if all(bounds(factor)[0] >= 0 for factor in factors):
                return [derived(requirement, "ge", factor, 1) for factor in factors]
    return None


def _step_eq(requirement: Requirement) -> _Parts:
    """Simplify `size == 0`."""
    size = requirement.a - requirement.b
    if eq(size, 0):
        return []
    if not isinstance(size, Dim):
        return None
    polynomial, scope = size.polynomial, size.scope
    common = gcd(polynomial.constant, *(coefficient for _, coefficient in polynomial.terms))
    shared = size // common if common > 1 else _without_shared(size)
    if shared is not None:
        return [derived(requirement, "eq", shared, 0)]
    pairs = _equal_factors(polynomial)
    if pairs:
        return [derived(requirement, "eq", dim_of(scope, one), times * dim_of(scope, other)) for one, other, times in pairs]
    if (parts := _of_selection(requirement, size)) is not None:
        return parts
    floors = [(atom, coefficient) for atom, coefficient in _lone(polynomial) if atom.kind == "floor" and isinstance(atom.arguments[1], int)]
    if len(floors) == len(polynomial.terms) == 2:
        (one, factor), (other, opposite) = floors
        (n, divisor), (m, same) = ((dim_of(scope, argument) for argument in atom.arguments) for atom in (one, other))
        offset = n - m
        if factor == -opposite and divisor == same and isinstance(offset, int) and isinstance(divisor, int) and not polynomial.constant:
            # The two floors are equal if adding the offset does not carry into the quotient.
            low, carried = (m, offset) if offset > 0 else (n, -offset)
            if carried == divisor - 1:
                return [derived(requirement, "div", low, divisor)]
            if carried < divisor:
                return [derived(requirement, "ge", divisor - 1 - carried, low % divisor)]
    for monomial, coefficient in polynomial.terms:  # `T - B*(T//B)` is 0 for multiples of `B`
        for floor, by in permutations([polynomial.table.atoms[index] for index in monomial]) if len(monomial) == 2 else ():
            if floor.kind == "floor" and floor.arguments[1] is expression_of(dim_of(scope, by)):
                n, d = [dim_of(scope, argument) for argument in floor.arguments]
                if size == coefficient * (n // d * d - n):
                    return [derived(requirement, "div", n, d)]
    remainder = polynomial.table.as_remainder(polynomial)
    if remainder:
        numerator, divided, rest, _ = remainder
        whole = polynomial.table.add(numerator, -rest)
        if not split(whole)[0]:  # otherwise the original text is shorter
            return [derived(requirement, "div", dim_of(scope, whole), divided)]
    return None


def _of_selection(requirement: Requirement, size: Dim) -> _Parts:
    """Simplify `size == 0` where a `min`, `max` or broadcast in it must be one of its arguments."""
    scope = size.scope
    for atom, coefficient in _lone(size.polynomial):
        if atom.kind in SELECTIONS and abs(coefficient) == 1:
            value, is_least = (coefficient * dim_of(scope, atom) - size) * coefficient, atom.kind == "min"
            sides = [dim_of(scope, argument) for argument in atom.arguments]
            if value in sides:
                limit = sides[1 - sides.index(value)]
                if atom.kind == "broadcast":  # the sizes fit each other, which another requirement demands
                    return [derived(requirement, "stretch", limit, value)]
                return [derived(requirement, "ge", *((limit, value) if is_least else (value, limit)))]
            for side, never in zip(sides, reversed(sides), strict=True) if atom.kind != "broadcast" else ():
                if (le(never, value) if is_least else le(value, never)) is False:
                    return [derived(requirement, "eq", side, value)]
    return None


def _equal_factors(polynomial: Polynomial) -> list[tuple[Atom, Atom, int]]:
    """The pairs of factors of two equal products that must be equal: `h` and `7*(h//7)` of `h*w == 49*(h//7)*(w//7)`.

    Each factor of one product is at least (or each at most) its counterpart in the other, and none is 0; so none is larger.
    """
    if polynomial.constant or len(polynomial.terms) != 2:
        return []
    (first, factor), (second, opposite) = polynomial.terms
    common = gcd(factor, opposite)
    if factor * opposite > 0 or not 1 < len(first) == len(second) or common not in (abs(factor), abs(opposite)):
        return []
    plain, scaled = (first, second) if abs(factor) == common else (second, first)
    table, left, pairs = polynomial.table, list(scaled), list[tuple[Atom, Atom, int]]()
    differences = []
    for index in plain:
        for other in left:
            times = _ratio(table.atoms[index], table.atoms[other])
            if times and table.ranges[index].low > 0:
                left.remove(other)
                pairs.append((table.atoms[index], table.atoms[other], times))
                differences.append(range_of(table.polynomial(0, {(index,): 1, (other,): -times})))
                break
    is_whole = len(pairs) == len(plain) and prod(times for *_, times in pairs) == abs(factor * opposite) // common**2
    is_ordered = all(known.low >= 0 for known in differences) or all(known.high <= 0 for known in differences)
    return pairs if is_whole and is_ordered else []


def _ratio(one: Atom, other: Atom) -> int:
    """How many times as large `one` is as `other`, a floor of the same formula up to a number; 0 if they have no such ratio."""
    numerator, divisor = other.arguments if other.kind == "floor" else (0, 0)
    table = numerator.table if isinstance(numerator, Polynomial) else None
    if table is None or not isinstance(divisor, int):
        return 0
    formula, own = one.arguments if one.kind == "floor" else (table.polynomial(0, {(one.index,): 1}), 1)
    is_like = isinstance(own, int) and divisor % own == 0 and isinstance(table.add(numerator, formula, -1), int)
    return divisor // own if is_like and isinstance(own, int) else 0


def _without_shared(size: Dim) -> Size | None:
    """A sum without the factors that all its terms share and that are at least 1; None if there are none."""
    polynomial, table = size.polynomial, size.polynomial.table
    common = _shared([polynomial], lambda index: table.ranges[index].low) if len(polynomial.terms) > 1 else None
    return dim_of(size.scope, _without(polynomial, common)) if common else None


def _shared(expressions: Sequence[Expression], low: Callable[[int], Bound]) -> Counter[int]:
    """The factors that all terms of expressions share and that are at least 1, by the least values of atoms."""
    sides = [split(one) for one in expressions]
    if any(constant for constant, _ in sides):
        return Counter()
    common = reduce(and_, (Counter(monomial) for _, terms in sides for monomial, _ in terms))
    return Counter({index: count for index, count in common.items() if low(index) > 0})


def _without(polynomial: Polynomial, common: Counter[int]) -> Expression:
    """A sum whose terms are divided by factors that all of them have."""
    terms = {tuple(sorted((Counter(monomial) - common).elements())): factor for monomial, factor in polynomial.terms}
    return polynomial.table.polynomial(terms.pop((), 0), terms)


def _step_div(requirement: Requirement) -> _Parts:
    """Simplify `size % divisor == 0`."""
    size, divisor = requirement.a, requirement.b
    if isinstance(divisor, Dim):
        return _step_div_by_size(requirement, size, divisor)
    if not isinstance(size, Dim) or divisor == 0:
        return None
    if size.range.modulus % divisor == 0 and size.range.remainder % divisor == 0:
        return []
    polynomial, divisor = size.polynomial, abs(divisor)
    # The remainders of coefficients that are nearest to 0, the first of them positive: `H - W` for `H + 7*W` by 8.
    nearest = {monomial: (coefficient + (divisor - 1) // 2) % divisor - (divisor - 1) // 2 for monomial, coefficient in polynomial.terms}
    kept = {monomial: coefficient for monomial, coefficient in nearest.items() if coefficient}
    sign = -1 if kept and next(iter(kept.values())) < 0 else 1
    plain = polynomial.table.polynomial(sign * polynomial.constant % divisor, {monomial: sign * one for monomial, one in kept.items()})
    if plain is not polynomial:
        return [derived(requirement, "div", dim_of(size.scope, plain), divisor)]
    # The coefficient of a single term may share a factor with the divisor; the rest of the coefficient does not matter.
    coefficients = [coefficient for _, coefficient in polynomial.terms]
    is_single = len(coefficients) == 1 and not polynomial.constant
    common = abs(coefficients[0]) if is_single else gcd(divisor, polynomial.constant, *coefficients)
    if common == 1:
        # `q*floor(n/q)` is `n` if `n` is a multiple of `q`.
        table = polynomial.table
        atoms = [table.atoms[index] for monomial, _ in polynomial.terms for index in monomial]
        exact = next((found for atom in atoms if (found := _exact_divisor(atom))), 0)
        return [derived(requirement, "div", dim_of(size.scope, table.multiply(polynomial, exact)), divisor * exact)] if exact else None
    terms = {monomial: coefficient // common for monomial, coefficient in polynomial.terms}
    part = dim_of(size.scope, polynomial.table.polynomial(polynomial.constant // common, terms))
    return [derived(requirement, "div", part, divisor // gcd(divisor, common))]


def _step_div_by_size(requirement: Requirement, size: Size, divisor: Dim) -> _Parts:
    """Simplify `size % divisor == 0` without whole multiples of the divisor and without factors of both that are not 0."""
    if size % divisor == 0:
        return []
    table, sides = divisor.scope.polynomials, (expression_of(size), divisor.polynomial)
    atom = rounded(table, *sides)
    own = cancelled(*(sides if atom is None else atom.arguments))
    return [derived(requirement, "div", *(dim_of(divisor.scope, one) for one in own))] if own != sides else None


def cancelled(n: Expression, d: Expression) -> tuple[Expression, Expression]:
    """A fraction without the factors that all terms of both share and that are at least 1."""
    if not isinstance(n, Polynomial) or not isinstance(d, Polynomial):
        return n, d
    common = _shared([n, d], lambda index: n.table.ranges[index].low)
    return (_without(n, common), _without(d, common)) if common else (n, d)


def rounded(table: PolynomialTable, n: Expression, d: Expression) -> Atom | None:
    """The floor in `n//d` whose fraction is `n/d` up to whole terms: `3*x//2` in `(3*x + 2*y)//2`; None if there is none."""
    quotient = table.floor(n, d)
    for monomial, factor in split(quotient)[1]:
        atom = table.atoms[monomial[0]]
        if factor == len(monomial) == 1 and atom.kind == "floor":
            whole = table.add(quotient, table.polynomial(0, {monomial: 1}), -1)
            own, divisor = atom.arguments
            if table.multiply(own, d) == table.multiply(table.add(n, table.multiply(whole, d), -1), divisor):
                return atom
    return None


def _exact_divisor(atom: Atom) -> int:
    """The divisor of a floor that rounds nothing; 0 for another atom."""
    if atom.kind == "floor":
        numerator, divisor = atom.arguments
        if isinstance(numerator, Polynomial) and isinstance(divisor, int):
            known = numerator.range
            return 0 if known.modulus % divisor or known.remainder % divisor else divisor
    return 0


def _step_broadcast(requirement: Requirement) -> _Parts:
    """Simplify `broadcast` and `stretch`."""
    a, b = requirement.a, requirement.b
    is_one = [eq(a, 1), requirement.kind == "broadcast" and eq(b, 1)]
    is_equal = eq(a, b)
    if is_equal or True in is_one or _is_either(a, 1, b) or (requirement.kind == "broadcast" and _is_either(b, 1, a)):
        return []
    if is_one == [False, False] or (requirement.kind == "stretch" and eq(b, 1)):
        return [derived(requirement, "eq", a, b)]
    if is_equal is False and False in is_one:
        return [derived(requirement, "eq", b if is_one[0] is False else a, 1)]
    for own, whole, is_first in ((a, b, True), (b, a, False)):
        if (found := selection(whole, own)) is None:
            continue
        least, most = (own, found[1]) if found[0] == "max" else (found[1], own)  # all but one relation is that `least` is `most` or more
        plain = dim_min(least, most)
        if requirement.kind == "broadcast":
            return [derived(requirement, "stretch", plain, most)] if le(1, least) else None
        if is_first == (found[0] == "min"):
            return [derived(requirement, "ge", least, most)] if le(1, least) else None
        if is_first or whole != plain:
            return [derived(requirement, "stretch", plain, most)]
        return [derived(requirement, "ge", least, most)] if le(2, least) else None
    return None


def _is_either(size: Size, *numbers: Size) -> bool:
    """Whether a size has no other values than some numbers."""
    if not isinstance(size, Dim) or size.range.high - size.range.low != size.range.modulus:
        return False
    return size.range.low in numbers and size.range.high in numbers


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
    reported = Reported.of(scope, requirements)
    simpler = []
    for one in requirements:
        kind, a, b = one.kind, one.a, one.b
        if kind == "broadcast" and reported.bounds(a)[0] > 1:
            kind, a, b = "stretch", b, a
        elif kind == "broadcast" and reported.bounds(b)[0] > 1:
            kind = "stretch"
        if kind == "stretch" and reported.bounds(a)[0] > 1:
            kind = "eq"
        if kind == "stretch" and (found := selection(a, b)) is not None and found[0] == "min" and reported.bounds(b - found[1])[0] >= 0:
            a = found[1]
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
    common = _shared(
        [difference.polynomial], lambda index: reported.bounds(scope.dim(table.polynomial(0, {(index,): 1}), Range(-inf, inf)))[0]
    )
    return (scope.dim(_without(difference.polynomial, common), Range(-inf, inf)), 0) if common else (a, b)


def without_quotients(scope: Scope, requirements: Sequence[Requirement]) -> list[Requirement]:
    """The requirements in their order, with `x == 4` for `12//x == 3` where another one is `12 % x == 0`.

    `12//x in (1, 3)`, which broadcasting demands, is `x == 4`, too, if `x` cannot be 12.
    """
    found = list(requirements)
    dividends = {one.b.polynomial: one.a for one in found if one.kind == "div" and isinstance(one.a, int) and isinstance(one.b, Dim)}
    is_new = bool(dividends)
    while is_new:
        is_new, reported = False, Reported.of(scope, found)
        for number, one in enumerate(found):
            quotient, wanted = (one.a, one.b) if isinstance(one.a, Dim) else (one.b, one.a)
            atom = scope.polynomials.only_atom(quotient.polynomial) if isinstance(quotient, Dim) else None
            if one.kind == "ge" or atom is None or atom.kind != "floor" or not isinstance(wanted, int):
                continue
            dividend, divisor = atom.arguments
            if isinstance(divisor, int) or dividends.get(divisor) != dividend or not isinstance(dividend, int):
                continue
            size = dim_of(scope, divisor)
            choices = {wanted} if one.kind == "eq" else {1, wanted}
            sizes = [dividend // choice for choice in choices if choice and dividend % choice == 0]
            left = [one for one in sizes if meet(reported.range(size), exactly(one)) is not None]
            if len(left) == 1:
                found[number] = type(one)("eq", size, left[0], one.template, one.code, one.names)
                is_new = True
    return found


def with_numbers(requirement: Requirement, known: Mapping[Polynomial, int]) -> Requirement:
    """The requirement with the numbers that some formulas are known to be, where these are a side of it or divide a number."""
    sides: list[Size] = []
    for size in (requirement.a, requirement.b):
        if not isinstance(size, Dim):
            sides.append(size)
            continue
        atoms = [size.polynomial.table.atoms[index] for index in size.polynomial.table.atoms_below(size.polynomial)]
        given: dict[int, Expression] = {}
        for atom in atoms:
            dividend, divisor = atom.arguments if atom.kind == "floor" else (0, 0)
            if isinstance(dividend, int) and isinstance(divisor, Polynomial) and known.get(divisor):
                given[atom.index] = dividend // known[divisor]
        sides.append(known.get(size.polynomial, dim_of(size.scope, replaced_or_same(size.polynomial, given))))
    return derived(requirement, requirement.kind, *sides)
