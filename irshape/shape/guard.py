"""Requirements: relations that a rule demands of sizes, and the decision whether they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd, inf
from typing import Any, Final, TypeAlias

from irshape.shape.compilation import NamedTuple, mypyc_attr
from irshape.shape.dim import (
    Dim,
    Scope,
    Size,
    are_known,
    ask,
    bounds,
    bounds_unasked,
    broadcast_of,
    dim_of,
    eq_unasked,
    evaluate,
    expression_of,
    formula_text,
    le_unasked,
    narrow,
    symbols,
)
from irshape.shape.polynomial import Polynomial, split
from irshape.shape.range import Range, fitting, meet, reduced


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Requirement:
    """A relation between two sizes, `a` and `b`, that must hold for the model to be valid.

    `code` is the code of the diagnostic for sizes that break it. `kind` is `eq` (a == b), `ge` (a >= b), `div` (a % b == 0), `broadcast` (a
    == b, or one of them is 1) or `stretch` (a == b or a == 1). `template` is the message, formatted with `names` and with the sizes as
    `{a}` and `{b}`. Requirements are equal if they have the same kind and the same formulas.
    """

    __slots__ = ("a", "b", "code", "kind", "names", "template")

    def __init__(self, kind: str, a: Size, b: Size, template: str, code: str, names: Mapping[str, object]) -> None:
        self.kind = kind
        self.a = a
        self.b = b
        self.template = template
        self.code = code
        self.names = names

    @property
    def message(self) -> str:
        """The message for the user."""
        return self.template.format(**{"a": formula_text(self.a), "b": formula_text(self.b), **self.names})

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether the relation holds for these values of the symbols; False if a side divides by 0, or is too large to be computed."""
        try:
            return self.relates(evaluate(self.a, values), evaluate(self.b, values))
        except (ZeroDivisionError, OverflowError):
            return False

    def relates(self, a: int, b: int) -> bool:
        """Whether the relation holds between two numbers."""
        if self.kind == "eq":
            return a == b
        if self.kind == "ge":
            return a >= b
        if self.kind == "div":
            return b != 0 and a % b == 0
        return a == b or a == 1 or (self.kind == "broadcast" and b == 1)

    def tied(self) -> tuple[Dim, int] | None:
        """The formula, without its constant, and the number that an equation ties together; None if it ties formulas to each other."""
        size, number = (self.a, self.b) if isinstance(self.b, int) else (self.b, self.a)
        if self.kind not in ("eq", "broadcast", "stretch") or not isinstance(size, Dim) or not isinstance(number, int):
            return None
        constant, signs = size.polynomial.constant, {factor > 0 for _, factor in size.polynomial.terms}
        size, number = size - constant, number - constant
        if len(signs) > 1 or not isinstance(size, Dim):
            return None
        factor = gcd(number, *(factor for _, factor in size.polynomial.terms)) * (1 if signs == {True} else -1)
        return size // factor, number // factor  # type: ignore[return-value]

    def symbols(self) -> frozenset[str]:
        """The names of the symbols that the relation depends on."""
        return symbols(self.a) | symbols(self.b)

    def __str__(self) -> str:
        if self.kind in ("eq", "ge"):
            return _relation_text(self.a, "==" if self.kind == "eq" else ">=", self.b)
        if self.kind == "div":
            return f"{_operand_text(self.a)} % {_operand_text(self.b)} == 0"
        is_reversed = self.kind == "broadcast" and isinstance(self.a, int) and isinstance(self.b, Dim)
        one, other = (self.b, self.a) if is_reversed else (self.a, self.b)
        a, b = formula_text(one), formula_text(other)
        for whole, least in ((other, one), (one, other))[: 2 if self.kind == "broadcast" else 1]:
            kind, limit = selection(least, whole) or ("", 0)
            if kind == "min" and bounds_unasked(whole)[0] > 0:
                return f"{formula_text(limit)} == 1 or {_relation_text(limit, '>=', whole)}"
        if self.kind in ("stretch", "broadcast") and isinstance(one, Dim) and isinstance(other, int):
            return f"{a} in (1, {b})"
        if self.kind == "stretch":
            return f"{a} == {b} or {a} == 1"
        return f"{a} == {b} or 1 in ({a}, {b})"

    def __repr__(self) -> str:
        return f"Requirement({self}: {self.message})"

    def _content(self) -> tuple[object, ...]:
        a, b = (side.polynomial if isinstance(side, Dim) else side for side in (self.a, self.b))
        return type(self), self.kind, frozenset((a, b)) if self.kind in ("eq", "broadcast") else (a, b)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Requirement) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())


def broken(requirements: Sequence[Requirement], values: Mapping[str, int]) -> list[Requirement]:
    """The relations that do not hold for these values of the symbols."""
    return [] if all_hold(requirements)(values) else [one for one in requirements if not one.holds(values)]


def all_hold(requirements: Sequence[Requirement]) -> Callable[[Mapping[str, int]], bool]:
    """A function that tells whether all relations hold for values of the symbols; what their formulas share is computed once.

    The relation that was broken last is tried first, because most values that are not valid break the same one.
    """
    sides = [side for one in requirements for side in (one.a, one.b)]
    tables = [side.scope.polynomials for side in sides if isinstance(side, Dim)]
    if not tables:
        return lambda values: all(one.holds(values) for one in requirements)
    evaluated = tables[0].evaluator([expression_of(side) for side in sides])
    last: list[Callable[[Mapping[str, int]], bool]] = []

    def hold(values: Mapping[str, int]) -> bool:
        if last and not last[0](values):
            return False
        try:
            numbers = evaluated(values)
        except (ZeroDivisionError, OverflowError):
            return False
        for one, a, b in zip(requirements, numbers[::2], numbers[1::2], strict=True):
            if not one.relates(a, b):
                if len(requirements) > 1:
                    last[:] = [all_hold([one])]
                return False
        return True

    return hold


# The sizes of usual inputs.
_USUAL: Final = (224, 256, 64, 512, 32, 16, 8, 2, 1)


def usual_sizes_fulfil(requirements: Sequence[Requirement], scope: Scope) -> bool:
    """Whether all relations hold for one of the usual sizes, or the size nearest to it in the range of a symbol, taken for every symbol."""
    table, hold = scope.polynomials, all_hold(requirements)
    ranges = {atom.name: table.ranges[atom.index] for atom in table.atoms if atom.kind == "symbol"}
    return any(hold({name: fitting(known, size) for name, known in ranges.items()}) for size in _USUAL)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Premise(Requirement):
    """A relation that the formula of an output assumes. OpenVINO accepts sizes that break it; the formula does not hold for them."""

    __slots__ = ()


# The most remainders that are listed: `H % 8 in {0, 7}`.
_MOST_LISTED: Final = 4


def _operand_text(size: Size | Polynomial) -> str:
    text = formula_text(size)
    return text if text.replace("_", "").isalnum() else f"({text})"


def _relation_text(a: Size, sign: str, b: Size) -> str:
    """The shortest text of a relation, with positive terms, no common factor and one constant.

    `2*H + 1 >= W + 7` becomes `2*H >= W + 6`, and `H + 1 == 2*((H + 1)//2) + 1` becomes `H % 2 == 0`.
    """
    difference = a - b
    if isinstance(difference, int):
        return f"{formula_text(a)} {sign} {formula_text(b)}"
    polynomial = difference.polynomial
    table = polynomial.table
    remainder = table.as_remainder(polynomial)
    if remainder:
        n, divisor, rest, times = remainder
        lone = table.only_atom(table.add(n, -split(n)[0]))
        if sign == ">=" and times < 0 < rest < _MOST_LISTED and lone is not None and lone.kind == "symbol":
            rests = sorted((one - split(n)[0]) % divisor for one in range(rest + 1))
            return f"{lone.name} % {divisor} in {{{', '.join(map(str, rests))}}}"
        if sign == "==" and 0 <= rest < divisor:
            n, rest = table.add(n, -split(n)[0]), (rest - split(n)[0]) % divisor
        return f"{_operand_text(n)} % {divisor} {sign if times > 0 or sign == '==' else '<='} {rest}"
    factor = gcd(*(coefficient for _, coefficient in polynomial.terms))
    constant = -polynomial.constant
    if factor > 1 and (sign == ">=" or constant % factor == 0):
        # The other terms are multiples of the factor, so the constant may be rounded up.
        terms = {monomial: coefficient // factor for monomial, coefficient in polynomial.terms}
        constant = -(-constant // factor)
    else:
        terms = dict(polynomial.terms)
    left = table.polynomial(0, {monomial: value for monomial, value in terms.items() if value > 0})
    right = table.polynomial(0, {monomial: -value for monomial, value in terms.items() if value < 0})
    if left == 0:
        return f"{right} {'<=' if sign == '>=' else sign} {formula_text(-constant)}"
    if constant < 0 and right != 0:
        return f"{table.add(left, -constant)} {sign} {right}"
    return f"{left} {sign} {formula_text(table.add(right, constant))}"


class Decision(NamedTuple):
    """The answer to a relation: `holds` is None if it depends; `is_plain` says that the bounds of both sides alone refute it."""

    holds: bool | None
    is_plain: bool


_HOLDS: Final = Decision(True, False)
_DEPENDS: Final = Decision(None, False)
_REFUTED: Final = Decision(False, True)
_NEVER: Final = Decision(False, False)


def _decide_eq(a: Size, b: Size) -> Decision:
    holds = eq_unasked(a, b)
    if holds is not False:
        return _HOLDS if holds else _DEPENDS
    (low, high), (other_low, other_high) = bounds(a), bounds(b)
    return _REFUTED if high < other_low or other_high < low else _NEVER


def _decide_ge(a: Size, b: Size) -> Decision:
    holds = le_unasked(b, a)
    if holds is not False:
        return _HOLDS if holds else _DEPENDS
    return _REFUTED if bounds(a)[1] < bounds(b)[0] else _NEVER


def _decide_div(a: Size, divisor: Size) -> Decision:
    if isinstance(a, int) and isinstance(divisor, int):
        return _HOLDS if divisor and a % divisor == 0 else _REFUTED
    if not isinstance(a, Dim) or not isinstance(divisor, int):
        remainder = a % divisor
        return _HOLDS if isinstance(remainder, int) and remainder == 0 else _DEPENDS
    if divisor == 0:
        return _REFUTED
    multiple = meet(a.range, Range(-inf, inf, abs(divisor)))
    if multiple is None:
        return _REFUTED if reduced(a.range.low, a.range.high, abs(divisor)) is None else _NEVER
    return _HOLDS if multiple == a.range else _DEPENDS


# What OpenVINO looks at when it checks a requirement: at no size; at sizes that are numbers; at the bounds of sizes, too. SKIPPED says that
# it checks nothing here, though it may for other inputs.
Looks: TypeAlias = int | Sequence[Any] | tuple[int | Sequence[Any], ...]
SKIPPED: Final = -1
NOTHING: Final = 0
STATIC: Final = 1
BOUNDS: Final = 2


@mypyc_attr(allow_interpreted_subclasses=True)
class Judge:
    """Decides requirements; the base class of a rule's context.

    Subclasses override `violated`, `never` and `undecided` to act on a decision. Every `message` is a `str.format` template, formatted
    with `names` and with the two sizes as `{a}` and `{b}` only if it is shown. A method that returns a size returns one after a
    violation too, so that the rule can go on.

    `openvino_checks` opens a scope that says which sizes OpenVINO checks.
    """

    __slots__ = ("_assumes", "_is_guarded", "_look", "scope")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._look: int = BOUNDS
        self._is_guarded = True
        self._assumes = False

    def openvino_checks(self, *, at: int | Sequence[Any] = BOUNDS, when: bool = True) -> Checks:
        """Open a scope in which OpenVINO checks less than it does elsewhere.

        `at` says what OpenVINO looks at: BOUNDS, STATIC or NOTHING. Or it lists sizes, and for a rule inputs: OpenVINO must know all of
        them as numbers; otherwise it checks nothing. `when=False` says that OpenVINO checks nothing here, though it may for other
        inputs. A requirement that is false where OpenVINO does not look is reported as never valid, not as an error. A requirement that
        depends on sizes stays a guard, except with `at=NOTHING`. Scopes nest, and an inner scope never checks more than the outer one.
        """
        look, is_guarded = self._narrowed(at)
        return Checks(self, look if when else NOTHING, is_guarded, self._assumes)

    def _narrowed(self, *conditions: int | Sequence[Any]) -> tuple[int, bool]:
        """What OpenVINO looks at in scopes inside of this one, and whether requirements become guards there."""
        look, is_guarded = self._look, self._is_guarded
        for at in conditions:
            if isinstance(at, int):
                look, is_guarded = max(min(at, look), NOTHING), is_guarded and at != NOTHING
            elif not (is_known := self._is_known(at)):
                look, is_guarded = NOTHING, is_guarded and is_known is not None
        return look, is_guarded

    def scope_of(self, requirement: Requirement) -> tuple[int, bool]:
        """What OpenVINO looks at when it checks a requirement, and whether the requirement becomes a guard if it depends on sizes."""
        return self._look, self._is_guarded

    def assumes(self) -> Checks:
        """Open a scope of premises: OpenVINO accepts sizes that break them, and the formulas of the outputs do not hold for these sizes.

        A requirement that depends on sizes becomes a `Premise`: it is listed with the guards, and does not tighten any bounds.
        """
        return Checks(self, NOTHING, is_guarded=True, assumes=True)

    def _is_known(self, at: Sequence[Any]) -> bool | None:
        """Whether OpenVINO knows all of these as numbers; None if it never will."""
        return are_known(at)

    def violated(self, requirement: Requirement) -> None:
        """Called for a requirement that the bounds of its two sides refute; OpenVINO refuses it too."""
        raise NotImplementedError

    def never(self, requirement: Requirement) -> None:
        """Called for a requirement that is false for every size, although OpenVINO does not detect it."""
        raise NotImplementedError

    def undecided(self, requirement: Requirement) -> None:
        """Called for a requirement that may hold for some sizes and fail for others: a guard."""
        raise NotImplementedError

    def _judge(self, decision: Decision, kind: str, a: Size, b: Size, message: str, code: str, names: Mapping[str, object]) -> None:
        if decision.holds:
            return
        requirement = Requirement(kind, a, b, message, code, names)
        if decision.holds is None:
            self._depends(requirement)
        elif decision.is_plain:
            self._refuse(requirement)
        else:
            self.never(requirement)

    def _refuse(self, requirement: Requirement) -> None:
        look = self.scope_of(requirement)[0]
        if look == BOUNDS or (look and isinstance(requirement.a, int) and isinstance(requirement.b, int)):
            self.violated(requirement)
        else:
            self.never(requirement)

    def _depends(self, requirement: Requirement) -> None:
        if self._assumes:
            requirement = Premise(requirement.kind, requirement.a, requirement.b, requirement.template, requirement.code, requirement.names)
        ask(requirement.kind, requirement.a, requirement.b)
        if self.scope_of(requirement)[1]:
            self.undecided(requirement)

    def require_ge(self, a: Size, b: Size, message: str, *, code: str = "S203", **names: Any) -> None:
        """Demand `a >= b`."""
        self._judge(_decide_ge(a, b), "ge", a, b, message, code, names)

    def require_eq(self, a: Size, b: Size, message: str, *, code: str = "S201", **names: Any) -> None:
        """Demand `a == b`."""
        self._judge(_decide_eq(a, b), "eq", a, b, message, code, names)

    def require_div(self, a: Size, divisor: Size, message: str, *, code: str = "S204", **names: Any) -> None:
        """Demand that `a` is a multiple of `divisor`; a divisor of 0 is a violation."""
        self._judge(_decide_div(a, divisor), "div", a, divisor, message, code, names)

    def exact_div(self, a: Size, divisor: Size, message: str, **names: Any) -> Size:
        """`a / divisor`, which must be whole; bounds `low..high` give `ceil(low/divisor)..floor(high/divisor)`.

        A divisor that is the int 0 gives 0.
        """
        self.require_div(a, divisor, message, **names)
        return self.quotient(a, divisor)

    def quotient(self, a: Size, divisor: Size) -> Size:
        """`a / divisor` with the bounds of `exact_div`, for an `a` that another requirement demands to be a multiple."""
        if type(a) is int and type(divisor) is int:
            return a // divisor if divisor else 0
        if not isinstance(divisor, Dim):
            if not divisor:
                return 0
            whole = narrow(a, modulus=abs(divisor))
            quotient = whole // divisor
            if whole is a and divisor > 0:  # also if no size is valid
                low, high = bounds(a)
                return narrow(quotient, -(-low // divisor), high // divisor)
            return quotient
        quotient = a // divisor
        (low, high), (least, most) = bounds(a), bounds(divisor)
        if low > 0 and least >= 0:
            # a = quotient * divisor, and neither factor is 0.
            smallest = 1 if isinstance(most, float) else -(-low // most)
            return narrow(quotient, smallest, high) if isinstance(quotient, Dim) else max(quotient, int(smallest))
        return quotient

    def merge(self, a: Size, b: Size, message: str, *, code: str = "S201", **names: Any) -> Size:
        """The size that `a` and `b` must both be: the simpler formula, with the intersection of both ranges.

        In OpenVINO's view it is `a` where OpenVINO does not look at both bounds.
        """
        if a == b:
            return a
        decision = _decide_eq(a, b)
        self._judge(decision, "eq", a, b, message, code, names)
        if self.scope.has_intervals_only and self.scope_of(Requirement("eq", a, b, message, code, names))[0] != BOUNDS:
            return a
        return a if decision.is_plain else _merged(a, b)

    def require_stretch(self, a: Size, b: Size, message: str, *, code: str = "S202", **names: Any) -> None:
        """Demand that `a` broadcasts to `b`: it is equal to `b`, or 1."""
        is_one = eq_unasked(a, 1)
        if is_one is False or (not is_one and eq_unasked(b, 1)):
            self.require_eq(a, b, message, code=code, **names)
        elif is_one is None and not eq_unasked(a, b):
            self._depends(Requirement("stretch", a, b, message, code, names))

    def broadcast(self, a: Size, b: Size, message: str, *, code: str = "S202", **names: Any) -> Size:
        """The size that `a` and `b` broadcast to as in NumPy; they must be equal, or one of them 1."""
        if a == b or b == 1:
            return a
        if a == 1:
            return b
        equal = _decide_eq(a, b)
        if equal.holds:
            return _merged(a, b)
        for whole, least in ((a, b), (b, a)):
            kind, limit = selection(least, whole) or ("", 0)
            if kind == "min" and bounds_unasked(limit)[0] > 1 and le_unasked(whole, limit) is None:
                # x and min(x, limit) broadcast exactly if x does not exceed the limit.
                self._depends(Requirement("ge", limit, whole, message, code, names))
                return narrow(whole, high=limit)
        is_one, is_other_one = eq_unasked(a, 1), eq_unasked(b, 1)
        if is_one is False and is_other_one is False:
            if equal.holds is None:
                self._depends(Requirement("broadcast", a, b, message, code, names))
                return _merged(a, b)
            self._judge(equal, "broadcast", a, b, message, code, names)
            return a if equal.is_plain else _merged(a, b)
        if is_one is False or is_other_one is False:
            self._depends(Requirement("broadcast", a, b, message, code, names))
            return a if is_one is False else b
        result = broadcast_of(a, b)
        # The result is one of the two if one of them is an earlier broadcast with the other.
        if not isinstance(result, Dim) or result.polynomial not in (expression_of(a), expression_of(b)):
            self._depends(Requirement("broadcast", a, b, message, code, names))
        return result


class Checks:
    """The scope that `Judge.openvino_checks` or `Judge.assumes` opens: it restores the outer scope when it is left."""

    __slots__ = ("_inner", "_judge", "_outer")

    def __init__(self, judge: Judge, look: int, is_guarded: bool, assumes: bool) -> None:
        self._judge = judge
        self._outer = judge._look, judge._is_guarded, judge._assumes
        self._inner = look, is_guarded, assumes

    def __enter__(self) -> None:
        judge = self._judge
        judge._look, judge._is_guarded, judge._assumes = self._inner

    def __exit__(self, *_: object) -> None:
        judge = self._judge
        judge._look, judge._is_guarded, judge._assumes = self._outer


def selection(size: Size, own: Size) -> tuple[str, Size] | None:
    """Whether a size is the `min` or `max` of `own` and another size, and that size: `T` for `T - max(T - own, 0)`."""
    if not isinstance(size, Dim):
        return None
    for monomial, coefficient in size.polynomial.terms:
        atom = size.polynomial.table.atoms[monomial[0]]
        if atom.kind in ("min", "max") and len(monomial) == abs(coefficient) == 1:
            rest = size - coefficient * dim_of(size.scope, atom)
            sides = [rest + coefficient * dim_of(size.scope, argument) for argument in atom.arguments]
            if own in sides:
                return ("min" if (atom.kind == "min") == (coefficient == 1) else "max"), sides[1 - sides.index(own)]
    return None


def _merged(a: Size, b: Size) -> Size:
    if not isinstance(a, Dim) or not isinstance(b, Dim):
        return b if isinstance(a, Dim) else a
    simpler = a if _weight(a.polynomial) <= _weight(b.polynomial) else b
    known = meet(a.range, b.range)
    return simpler._known_as(known) if known and known != simpler.range else simpler


def _weight(polynomial: Polynomial) -> tuple[int, int, int]:
    """A sort key of formulas: the length of the text, then age."""
    return polynomial.size, len(polynomial.terms), polynomial.index
