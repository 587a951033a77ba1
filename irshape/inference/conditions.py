"""Simplify the guards of a pass for a reader: each condition once, and none that others imply."""

from collections import Counter
from collections.abc import Iterable
from math import gcd
from typing import Final, TypeAlias

from irshape.inference.run import Guard
from irshape.model.model import grouped
from irshape.shape.dim import Dim, Scope, Size, expression_of, origins
from irshape.shape.guard import Requirement
from irshape.shape.limits import Work
from irshape.shape.polynomial import UNBACKED, Expression, Monomial, split
from irshape.shape.remainders import Known, remainders_of
from irshape.shape.reported import Reported
from irshape.shape.simplify import (
    always_holds,
    composed,
    derived,
    equality,
    selections,
    simplified,
    substituted,
    with_numbers,
    without_quotients,
)

# The most equalities that are used to simplify other guards.
_MOST_EQUALITIES: Final = 64

_Sum: TypeAlias = tuple[tuple[Monomial, int], ...]
"""A sum that a requirement compares with a number: monomials with coefficients that have no common factor."""


def conditions(guards: Iterable[Guard], work: Work) -> tuple[list[Guard], Guard | None]:
    """Simpler guards that are together equivalent; last come guards on sizes that depend on data, then premises, then those of branches.

    The guards of a branch, a body that need not run, are simplified apart, and without those that hold for every run. Guards for which
    no work is left stay as they are; the second part of the result is the first of them.
    """
    unfinished: list[Guard] = []
    branches = grouped((guard.branch, guard) for guard in guards)
    always = _simpler(branches.pop("", []), work, unfinished)
    texts = {str(guard.requirement) for guard in always}
    kept = list(always)
    for own in branches.values():
        kept += [guard for guard in _simpler(own, work, unfinished) if str(guard.requirement) not in texts]
    return kept, unfinished[0] if unfinished else None


def contradictory(guards: Iterable[Guard], scope: Scope) -> list[Guard]:
    """The guards that no sizes fulfil together, none of which can be left out; none if some sizes may fulfil all guards."""
    found = list({guard.requirement: guard for guard in guards}.values())
    if not Reported.of(scope, [guard.requirement for guard in found]).is_contradictory:
        return []
    for guard in reversed(found):
        others = [one for one in found if one is not guard]
        if Reported(scope, [one.requirement for one in others]).is_contradictory:
            found = others
    return found


def _simpler(guards: Iterable[Guard], work: Work, unfinished: list[Guard]) -> list[Guard]:
    """The simpler guards of one branch, or of all that always runs."""
    enforced: list[Guard] = []
    premises: list[Guard] = []
    for guard in guards:
        (premises if guard.is_premise else enforced).append(guard)
    found = _numbered(_distinct(_independent(_decided(enforced, work), work, unfinished), work, unfinished), work)
    assumed = {text: guard for text, guard in _distinct(premises, work, unfinished).items() if text not in found}
    kept = list(_strongest(list(found.values()), work))
    kept += [guard for guard in _strongest([*kept, *assumed.values()], work) if guard.is_premise]
    kept.sort(key=lambda guard: (guard.is_premise, is_about_data(guard.requirement)))
    return kept


def _decided(guards: list[Guard], work: Work) -> list[Guard]:
    """The guards in the form that they have for the bounds and remainders that they leave the symbols, which are then guards, too."""
    scope = next((size.scope for guard in guards for size in (guard.requirement.a, guard.requirement.b) if isinstance(size, Dim)), None)
    if scope is None:
        return guards
    demanded = [guard.requirement for guard in guards]
    known = Known(scope, demanded, stay=[one for one in demanded if not selections(one)])
    plain = [simplified(guard.requirement) for guard in guards]
    left = dict(enumerate(plain))
    told = {number: shares for number, own in left.items() if (shares := {name: _share(one) for one in own if (name := known.learn(one))})}
    lessons = _lessons([number for number in left if number not in told], guards, left, known, work)
    if work.is_done:
        return guards
    kept, changed, lows = list[tuple[int, Guard]](), set[str](), dict(known.lows)
    for number, guard in enumerate(guards):
        lows = {name: low for name, low in lows.items() if (name, low) not in map(_least, plain[number])}
        is_longer = sum(map(length, left[number])) > sum(map(length, plain[number]))
        if number in told or is_longer or left[number] == plain[number] or any(map(_least, plain[number])):
            kept.append((number, guard))
        else:
            changed |= guard.requirement.symbols()
            kept += [(number, _with(guard, one)) for one in left[number]]
    for name, own in lessons.items():
        number, whole = own[-1]
        if len(own) > 1:
            whole = derived(whole, "ge", *known.remainders(name))
        # The guards of `own` rely on those of `before`, which restrict the symbol alone: the strictest of these is named.
        before = {place: shares[name] for place, shares in told.items() if name in shares}
        first = guards[min(before, key=before.__getitem__, default=number)]
        nodes = {guards[place]._node for place in (*before, *(place for place, _ in own))}
        kept.append((number, _with(first, derived(first.requirement, whole.kind, whole.a, whole.b), len(nodes) - 1)))
    for name, low in lows.items():
        if name in changed:
            telling = [number for number, guard in enumerate(guards) if name in guard.requirement.symbols()]
            last = next((number for number in reversed(telling) if guards[number].requirement.kind == "ge"), telling[-1])
            size = scope.named(name)
            assert size is not None
            kept.append((last, _with(guards[last], derived(guards[last].requirement, "ge", size, low))))
    return [guard for _, guard in sorted(kept, key=lambda numbered: numbered[0])]


def _lessons(
    pending: list[int], guards: list[Guard], left: dict[int, list[Requirement]], known: Known, work: Work
) -> dict[str, list[tuple[int, Requirement]]]:
    """By symbol, what the pending guards tell of it once others decide a part of them; what else they say goes to `left`."""
    lessons: dict[str, list[tuple[int, Requirement]]] = {}
    is_new = True
    while is_new and not work.is_done:
        is_new = False
        for number in pending:
            left[number] = []
            for one in known.decided(guards[number].requirement):
                name = known.learn(one)
                is_new |= bool(name)
                lessons.setdefault(name, []).append((number, one)) if name else left[number].append(one)
        pending = [number for number in pending if left[number]]
    return lessons


def _share(requirement: Requirement) -> float:
    """The share of the sizes of a symbol that a requirement about its remainders leaves."""
    found = remainders_of(requirement)
    return found[1].length / found[1].modulus if found else 1


def _least(requirement: Requirement) -> tuple[str, int] | None:
    """The symbol of which a requirement demands a smallest size, and the size; None if it demands anything else."""
    size, low = requirement.a - requirement.b, 0
    if requirement.kind != "ge" or not isinstance(size, Dim):
        return None
    low = -size.polynomial.constant
    atom = size.polynomial.table.only_atom(expression_of(size + low))
    return (atom.name, low) if atom is not None and atom.kind == "symbol" else None


def _with(guard: Guard, requirement: Requirement, more: int = 0) -> Guard:
    return Guard(guard._node, requirement, guard.more + more, guard.branch)


def _distinct(guards: Iterable[Guard], work: Work, unfinished: list[Guard]) -> dict[str, Guard]:
    """The simplified guards by their text, for requirements of different kinds can have the same text."""
    found: dict[str, Guard] = {}
    for guard in guards:
        simpler = [guard.requirement]
        if work.is_done:
            unfinished.append(guard)
        else:
            simpler = [one for one in simplified(guard.requirement) if not always_holds(one)]
        for requirement in simpler:
            known = found.setdefault(str(requirement), Guard(guard._node, requirement, -1, guard.branch))
            known.more += 1 + guard.more
    return found


def _numbered(guards: dict[str, Guard], work: Work) -> dict[str, Guard]:
    """The guards with `x == 4` for `12//x == 3` where 12 is a multiple of `x`, and without those that then always hold."""
    divisors = [one.b for one in (guard.requirement for guard in guards.values()) if one.kind == "div" and isinstance(one.a, int)]
    scope = next((size.scope for size in divisors if isinstance(size, Dim)), None)
    if scope is None or work.is_done:
        return guards
    found = without_quotients(scope, [guard.requirement for guard in guards.values()])
    known = {
        one.a.polynomial: one.b
        for one in found
        if one.kind == "eq" and isinstance(one.b, int) and isinstance(one.a, Dim) and len(one.a.polynomial.terms[0][0]) > 1
    }
    kept: dict[str, Guard] = {}
    for guard, one in zip(guards.values(), found, strict=True):
        is_number = isinstance(one.a, Dim) and one.kind == "eq" and one.a.polynomial in known
        for requirement in [one] if is_number else simplified(with_numbers(one, known)):
            text, (a, b) = str(requirement), (requirement.a, requirement.b)
            if text in kept:
                kept[text].more += 1 + guard.more
            elif not (isinstance(a, int) and isinstance(b, int) and requirement.relates(a, b)):
                kept[text] = Guard(guard._node, requirement, guard.more, guard.branch)
    return kept


def _independent(guards: list[Guard], work: Work, unfinished: list[Guard]) -> list[Guard]:
    """The guards without those that follow from the equalities that simpler guards demand."""
    equal: dict[int, Expression] = {}
    kept: dict[int, Guard] = {}
    for position, guard in sorted(enumerate(guards), key=lambda numbered: length(numbered[1].requirement)):
        if work.is_done:
            kept[position] = guard
            unfinished.append(guard)
            continue
        work.take(length(guard.requirement))
        reduced = substituted(guard.requirement, equal)
        if simplified(reduced):
            is_shorter = length(reduced) < length(guard.requirement)
            kept[position] = Guard(guard._node, reduced, guard.more, guard.branch) if is_shorter else guard
            if len(equal) < _MOST_EQUALITIES and (more := equality(reduced)):
                equal = composed(equal, more)
    return [kept[position] for position in sorted(kept)]


def length(requirement: Requirement) -> int:
    """The size of the formulas in a requirement."""
    return sum(side.polynomial.size for side in (requirement.a, requirement.b) if isinstance(side, Dim))


def is_about_data(requirement: Requirement) -> bool:
    """Whether a requirement is about an unbacked symbol, that is, a size that depends on data."""
    return bool((origins(requirement.a) | origins(requirement.b)) & UNBACKED)


def is_made_of_data(requirement: Requirement) -> bool:
    """Whether a requirement is about unbacked symbols alone."""
    return (origins(requirement.a) | origins(requirement.b)) == UNBACKED


def _strongest(guards: list[Guard], work: Work) -> Iterable[Guard]:
    """The guards without those that another single guard implies."""
    divisions = [guard.requirement for guard in guards if guard.requirement.kind == "div"]
    implied: set[Requirement] = set()
    for one in divisions if not work.is_done else ():
        work.take(len(divisions))
        if any(other is not one and other not in implied and _divides(other.a, one.a) and _divides(one.b, other.b) for other in divisions):
            implied.add(one)
    least: dict[_Sum, int] = {}
    exact: dict[_Sum, int] = {}
    for guard in guards:
        bound = _bound(guard.requirement)
        if bound is None:
            continue
        size, limit = bound
        if guard.requirement.kind == "ge":
            least[size] = max(limit, least.get(size, limit))
        else:
            exact[size] = limit
            exact[tuple((monomial, -coefficient) for monomial, coefficient in size)] = -limit
    for guard in guards:
        if guard.requirement in implied:
            continue
        bound = _bound(guard.requirement)
        if guard.requirement.kind != "ge" or bound is None or bound[1] == max(least[bound[0]], exact.get(bound[0], bound[1] - 1) + 1):
            yield guard


def _divides(one: Size, other: Size) -> bool:
    """Whether a size is another one, or a single term whose factors the other one has, so that it divides the other one."""
    a, b = expression_of(one), expression_of(other)
    (constant, terms), (own, others) = split(a), split(b)
    if a == b or len(terms) + bool(constant) != 1 or len(others) + bool(own) != 1:
        return a == b
    monomial, factor = terms[0] if terms else ((), constant)
    product, times = others[0] if others else ((), own)
    return times % factor == 0 and not Counter(monomial) - Counter(product)


def _bound(requirement: Requirement) -> tuple[_Sum, int] | None:
    """The sum that a requirement compares with a number, and the number; None for a requirement of another form."""
    size = requirement.a - requirement.b
    if requirement.kind not in ("ge", "eq") or not isinstance(size, Dim):
        return None
    terms, constant = size.polynomial.terms, -size.polynomial.constant
    factor = gcd(*(coefficient for _, coefficient in terms))
    if requirement.kind == "eq" and constant % factor:
        return None
    return tuple((monomial, coefficient // factor) for monomial, coefficient in terms), -(-constant // factor)
