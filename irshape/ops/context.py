"""The context of a rule: it decides requirements, reads the values of inputs, and records findings."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, prod
from typing import Any, Final, NoReturn

from irshape.ops.op import Input, Op, UnknownRank
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import (
    INT64_MAX,
    Dim,
    Scope,
    Size,
    are_known,
    bounds,
    bounds_unasked,
    dim_max,
    eq,
    eq_unasked,
    format_size,
    formula_text,
    lt,
    narrow,
    origins,
)
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.guard import BOUNDS, Judge, Premise, Requirement
from irshape.shape.polynomial import NAMED, UNBACKED
from irshape.shape.range import Bound, interval_text
from irshape.shape.shape import Shape, broadcast_shapes, merge_shapes
from irshape.shape.value import Elements, Pieces, are_numbers
from irshape.shape.window import scaled


class RuleFailure(Exception):
    """The rule cannot go on. The reason has been recorded."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Findings(Judge):
    """The findings and the requirements of one application of a rule.

    `op` is the operation, `arguments` the inputs of its rule, and `key` a number that only this layer has. `findings` and `requirements`
    are what the rule has recorded.

    `is_unshared` says that the outcome holds symbols born in this layer, so that no other layer may share it. `openvino_knows_same` says
    that OpenVINO knows the same of the inputs; if not, another application tells what OpenVINO refuses. `is_static` says that every
    symbol stands for a number: then OpenVINO's bounds do not count, a requirement that no size fulfils is an error, and one that data
    and sizes decide together is a guard. `kept` is how many outputs the layer keeps if its inputs do not tell their number: as many as
    it had when the model was read, or 0 if no input has changed since. `states_types` is false where ports may leave their element types
    out, as the examples of the specification do.
    """

    __slots__ = (
        "_born", "arguments", "findings", "is_static", "is_unshared", "kept", "key", "op", "openvino_knows_same", "requirements",
        "states_types",
    )  # fmt: skip

    def __init__(self, scope: Scope, op: Op, key: int) -> None:
        super().__init__(scope)
        self.op = op
        self.key = key
        self.arguments: Sequence[Any] = ()
        self.findings: list[Finding] = []
        self.requirements: list[Requirement] = []
        self.is_unshared = False
        self.openvino_knows_same = True
        self.is_static = False
        self.kept = 0
        self.states_types = True
        self._born = 0

    def _is_known(self, at: Sequence[Input | Size]) -> bool | None:
        """Whether OpenVINO knows these sizes, and all values of these inputs, as numbers.

        None if only running the model tells a value: then OpenVINO never looks, and nothing becomes a guard.
        """
        is_known = True
        for one in at:
            if isinstance(one, Dim):
                is_known = False
            elif isinstance(one, Input):
                if one.elements is None:
                    return None
                for element in one.elements:
                    if isinstance(element, Dim):
                        if origins(element) & UNBACKED:
                            return None
                        is_known = False
        return is_known

    def scope_of(self, requirement: Requirement) -> tuple[int, bool]:
        """What the open scopes and the operation say of a requirement, as in `Judge`."""
        hook = self.op.openvino_checks
        if hook is None or self._assumes or not self.arguments:
            return self._look, self._is_guarded
        answer = hook(self, requirement, *self.arguments)
        return self._narrowed(*answer) if isinstance(answer, tuple) else self._narrowed(answer)

    def _look_at(self, code: str, message: str, port: Input) -> int:
        """What OpenVINO looks at when it checks what a rule finds of an input without asking about sizes."""
        return self.scope_of(Requirement("ge", 0, 1, message, code, {"port": port.name}))[0]

    def violated(self, requirement: Requirement) -> None:
        """Record an error: the requirement does not hold."""
        self.findings.append(Finding(requirement.code, f"{requirement.message}{_seen(requirement)}"))

    def never(self, requirement: Requirement) -> None:
        """Record a warning: no size fulfils the requirement, but OpenVINO accepts it until the sizes are numbers."""
        is_refused = self.is_static and self.scope_of(requirement)[1] and not _origins(requirement) & UNBACKED
        code = requirement.code if is_refused else "R401"
        self.findings.append(Finding(code, f"this never holds: {requirement.message}{_seen(requirement)}"))

    def undecided(self, requirement: Requirement) -> None:
        """Record a guard: the requirement depends on the sizes of the inputs.

        A requirement that also depends on data says nothing about the sizes alone, so it is no guard; a premise always counts.
        """
        found = _origins(requirement)
        if isinstance(requirement, Premise) or not found & UNBACKED or found == UNBACKED or self.is_static:
            self.requirements.append(requirement)

    def error(self, code: str, message: str, *, port: Input | None = None, attribute: str | None = None, hint: str | None = None) -> None:
        """Record a finding, and go on."""
        self.findings.append(Finding(code, message, None if port is None else port.index, attribute, hint))

    def warn(self, code: str, message: str, *, port: Input | None = None, attribute: str | None = None, hint: str | None = None) -> None:
        """Record a finding; its code says that it is a warning."""
        self.error(code, message, port=port, attribute=attribute, hint=hint)

    def fail(
        self, code: str, message: str, *, port: Input | None = None, attribute: str | None = None, hint: str | None = None
    ) -> NoReturn:
        """Record a fault, and end the rule."""
        self.error(code, message, port=port, attribute=attribute, hint=hint)
        raise RuleFailure

    def expect(self, value: Size, wanted: int, message: str, port: Input) -> None:
        """Warn if a value is known and not the wanted one. The specification demands it, and OpenVINO does not check it."""
        if eq(value, wanted) is False and isinstance(value, int):
            self.warn("R201", f"{message}, got {value}", port=port)

    def at_least(self, value: int, limit: int, attribute: str) -> None:
        """Demand that an attribute is at least a limit, where OpenVINO checks it only if the rank of the data is known."""
        if value < limit:
            self.fail("A104", f"{attribute} must be at least {limit}, got {value}", attribute=attribute)

    def one_of(self, word: str, words: Sequence[str], attribute: str) -> None:
        """Demand that an attribute is one of these words, in the same case."""
        if word not in words:
            self.fail("A103", f"{attribute} must be {' or '.join(words)}, got {word!r}", attribute=attribute)

    def stop_at_errors(self) -> None:
        """End the rule if it has found an error, because further findings would be consequences of it."""
        if self.has_errors():
            raise RuleFailure

    def has_errors(self, since: int = 0) -> bool:
        """Whether an error is among the findings, from the one at `since` on."""
        return len(self.findings) > since and any(finding.is_error for finding in self.findings[since:])

    def unknown(self, low: Bound = 0, high: Bound = inf) -> Size:
        """A size that only running the layer tells: a symbol that belongs to the layer."""
        self._born += 1
        size = self.scope.unknown((self.key, "size", self._born), low, high, is_unbacked=bool(self.op.inputs))
        self.is_unshared |= isinstance(size, Dim) and not self.scope.has_intervals_only
        return size


# The longest formula of a size that a message shows.
_LONGEST_FORMULA: Final = 60
_UNLIKE = {
    "eq": "{a} and {b} differ",
    "ge": "{a} is less than {b}",
    "div": "{a} is not a multiple of {b}",
    "stretch": "{a} is neither {b} nor 1",
    "broadcast": "{a} and {b} are neither equal nor 1",
}


def _origins(requirement: Requirement) -> int:
    return origins(requirement.a) | origins(requirement.b)


def _shown(size: Size) -> str:
    """A size as its interval, or as the formula of one whose symbols have names, with a bounded interval: `8*B + 3`, `H (2..8)`, `?`."""
    interval = format_size(size) if bounds(size)[0] >= 0 else interval_text(*bounds(size))
    if not isinstance(size, Dim) or origins(size) != NAMED or len(text := formula_text(size)) > _LONGEST_FORMULA:
        return interval
    return text if interval == "?" or interval.endswith("..") else f"{text} ({interval})"


def _seen(requirement: Requirement) -> str:
    """The sizes that break a requirement."""
    a, b = _shown(requirement.a), _shown(requirement.b)
    apart = requirement.a - requirement.b if requirement.kind == "eq" and isinstance(requirement.a, Dim) else None
    by = f" by {format_size(abs(apart))}" if isinstance(apart, int) and apart else ""
    return ": " + _UNLIKE[requirement.kind].format(a=a, b=b) + by


@mypyc_attr(allow_interpreted_subclasses=True)
class InputValues(Findings):
    """The values of the inputs of one application of a rule. An unknown element is a size without bounds."""

    __slots__ = ()

    def values(self, port: Input, count: int | None = None, *, at_least: int | None = None) -> tuple[Size, ...]:
        """The elements of an integer input, unknown ones as sizes without bounds.

        `count` (or `at_least`) is how many elements the rule needs. A tensor that is known to hold another number is a fault; a tensor of
        unknown length is assumed to hold as many.
        """
        if port.unreadable is not None:
            self._require_readable(port)
        known = port.elements
        length = port.count if known is None else len(known)
        wanted = at_least if count is None else count
        if length is None:
            length = wanted
        if length is None:
            self.fail("V105", f"{port.name} must have a known number of values", port=port)
        if known is not None:
            elements = self.readable(port, self.integers(port, known))
        else:
            elements = self._unknown_elements(port, length if at_least is None else min(length, at_least))
        if wanted is not None and (length < wanted if count is None else length != wanted):
            message = f"{port.name} must hold {'at least ' if count is None else ''}{wanted} values, got {length}"
            if self._look_at("V103", message, port):
                self.fail("V103", message, port=port)
            self.warn("R401", f"this never holds: {message}", port=port)
            elements = (*elements, *(self.unknown(-inf) for _ in range(wanted - length)))
        port.numbers = elements
        return elements

    def sizes(self, port: Input, count: int, *, at_least: bool = False) -> tuple[Size, ...]:
        """The elements of an input that are sizes of the output.

        `count` is how many the rule needs. With `at_least=True` there may be more, and the rule takes the first ones.
        """
        values = self.values(port, at_least=count) if at_least else self.values(port, count)
        for index, value in enumerate(port.elements or ()):
            if isinstance(value, int) and value > INT64_MAX:
                self.fail("V101", f"{port.name}[{index}] must be at most 2^63-1, got {value}", port=port)
        return tuple([self.natural(port, index, value, is_lenient=True) for index, value in enumerate(values[:count])])

    def size_in(self, port: Input, *, is_lenient: bool = False) -> Size:
        """The single element of an input, which is a size of the output; `is_lenient` as in `natural`."""
        return self.natural(port, 0, self.scalar(port), is_lenient=is_lenient)

    def limit(self, port: Input) -> Size:
        """The single element of an input as a dimension, where OpenVINO accepts any number."""
        value = self.scalar(port)
        if isinstance(value, int) and value < 0:
            self.warn("R201", f"{port.name} must not be negative, got {value}", port=port)
        return self.dimension(value)

    def natural(self, port: Input, index: int, value: Size, *, is_lenient: bool = False) -> Size:
        """A value of an input that must not be negative, as a dimension.

        OpenVINO refuses bounds that reach below 0, although the value may be valid. `is_lenient` says that it accepts those of a Const.
        """
        low, high = bounds(value)
        if is_lenient and isinstance(value, int) and value < 0 and port.is_literal:
            self.warn("R201", f"{port.name}[{index}] must not be negative, got {value}", port=port)
        elif high < 0 and type(port.elements) is Pieces:
            return 0  # OpenVINO takes a negative constant among values that it does not know for a size of 0
        elif high < 0:
            self.fail("V101", f"{port.name}[{index}] must not be negative, got {interval_text(low, high)}", port=port)
        elif low < 0 and (low > -inf or not origins(value) & UNBACKED):
            self.require_ge(value, 0, "{port}[{index}] must not be negative", code="V101", port=port.name, index=index)
            if self.openvino_knows_same and low > -inf:
                message = f"OpenVINO refuses bounds of {port.name}[{index}] that reach below 0: {interval_text(low, high)}"
                self.error("S206", message, port=port)
        return self.dimension(value)

    def floats(self, port: Input, count: int) -> tuple[float | None, ...]:
        """The first `count` elements of a float input, None for those that are not known."""
        self._require_readable(port)
        elements = port.elements
        if elements is None:
            return (None,) * count
        if len(elements) < count:
            self.fail("V103", f"{port.name} must hold at least {count} values, got {len(elements)}", port=port)
        return tuple(None if isinstance(element, Dim) else float(element) for element in elements[:count])

    def dimension(self, value: Size) -> Size:
        """A number as OpenVINO's dimension: -1 and 2^63-1 are any size, a number below -1 is 0. Unsigned numbers wrap around to these."""
        if isinstance(value, Dim):
            return narrow(value, 0) if bounds(value)[0] < 0 else value
        if value > INT64_MAX:
            value -= 2**64
        return self.unknown() if value in (-1, INT64_MAX) else max(value, 0)

    def readable(self, port: Input, elements: Elements) -> Elements:
        """The elements of a constant as OpenVINO reads them into int64. It is a fault if OpenVINO cannot read their type."""
        element_type = port.element_type
        # OpenVINO reads two elements in one byte as one number. It reads a single element as its whole byte.
        bits = element_type.bits
        is_part = 0 < bits < 8 and (bits != 4 or len(elements) > 1 or any(element < 0 for element in elements))
        if (is_part and not port.port.packed) or element_type is ElementType.boolean:
            self._refuse_to_read(port)
        for element in elements:
            if isinstance(element, int) and element > INT64_MAX:
                self.warn("R201", f"{port.name} holds {list(elements)}; OpenVINO reads values beyond int64 as negative", port=port)
                return tuple(element - 2**64 if isinstance(element, int) and element > INT64_MAX else element for element in elements)
        return elements

    def check_readable(self, *ports: Input | None) -> None:
        """Demand that OpenVINO can read the elements of inputs that are constant, where it does so before it looks at ranks."""
        for port in ports:
            if port is not None:
                self._require_readable(port)
                elements = port.elements
                if elements is None:
                    continue
                # The type tells whether OpenVINO reads the elements, and no size does. But of packed ones it matters which they are.
                is_read = are_numbers(elements) if port.element_type.bits >= 8 else are_known(elements)
                if is_read:
                    self.readable(port, elements)

    def _require_readable(self, port: Input) -> None:
        """Demand that the element type of a constant can be read as numbers, where OpenVINO reads it."""
        if port.unreadable is not None and port.port.value:
            if port.unreadable:
                code, reason = port.unreadable
                self.fail(code, f"the values of {port.name} cannot be computed: {reason}", port=port)
            self._refuse_to_read(port)

    def _refuse_to_read(self, port: Input) -> NoReturn:
        element_type, name = port.element_type, port.name
        if element_type.bits == 4:
            message = f"OpenVINO reads the packed {element_type} elements of {name} as whole bytes"
        else:
            message = f"OpenVINO reads no values of {element_type} from {name}"
        self.fail("T101", message, port=port)

    def integers(self, port: Input, elements: Elements) -> Elements:
        """The elements of a constant without their fractions, which OpenVINO drops where it needs integers."""
        if port.element_type is ElementType.i64 or not any(isinstance(element, float) for element in elements):
            return elements
        for element in elements:
            if isinstance(element, float) and not isfinite(element):
                self.fail("V101", f"{port.name} must hold numbers, got {element}", port=port)
        return tuple([int(element) if isinstance(element, float) else element for element in elements])

    def _unknown_elements(self, port: Input, count: int) -> Elements:
        if count > (most := self.scope.limits.rank):
            self.fail("X111", f"{port.name} holds {count} unknown values; at most {most} are followed (limit rank)", port=port)
        self.is_unshared |= not self.scope.has_intervals_only
        return tuple(self.scope.unknown((port.source, i), is_unbacked=True) for i in range(count))

    def assume_unknown(self, ports: Sequence[Input]) -> None:
        """Take the unknown elements of small integer inputs as sizes without bounds."""
        for port in ports:
            count = port.count
            if port.elements is None and count is not None and count <= self.scope.limits.elements and port.element_type in INTEGER:
                port.elements = self._unknown_elements(port, count)

    def scalar(self, port: Input) -> Size:
        """The single element of an input, as a size without bounds if it is not known."""
        return self.values(port, 1)[0]

    def shape_in(self, port: Input) -> Shape:
        """The shape that the elements of an input give; None if their number is not known."""
        count = port.count
        return None if count is None else self.sizes(port, count)

    def single(self, port: Input) -> None:
        """Demand that an input holds one element, as a scalar or as a list."""
        self.require_rank(port, (0, 1))
        for size in port.partial_shape or ():
            self.require_eq(size, 1, "{port} must hold one value", code="V103", port=port.name)

    def known(self, port: Input) -> tuple[int, ...] | None:
        """The elements of an input as integers if all of them are known numbers, else None."""
        if port.unreadable is not None:
            self._require_readable(port)
        elements = port.elements
        return None if elements is None or not are_known(elements) else self.integers(port, elements)

    def axis(self, axis: int, rank: int, what: str = "axis", *, port: Input | None = None, attribute: str | None = None) -> int:
        """An axis counted from the front; an axis outside [-rank, rank) is a fault."""
        if not -rank <= axis < rank:
            told = f"must be in [{-rank}, {rank - 1}], got {axis}" if rank else f"is {axis}, but a scalar has no axis"
            self.fail("V102", f"{what} {told}", port=port, attribute=attribute)
        return axis + rank if axis < 0 else axis

    def axis_in(self, port: Input, rank: int | None) -> int | None:
        """The single axis that an input holds, counted from the front; None if the axis or the rank is not known."""
        self.single(port)
        known = self.known(port)
        if known is None:
            return None
        known = self.readable(port, known)
        return self.axis(known[0], rank, port.name, port=port) if known and rank is not None else None

    def axes(self, port: Input, rank: int, *, unique: bool = True) -> tuple[int, ...] | None:
        """The known axes of an input, counted from the front; None if they are not known.

        `unique=False` says that OpenVINO accepts an axis that is named twice.
        """
        axes = self.known(port)
        if axes is None:
            return None
        name = port.name
        counted = tuple([self.axis(axis, rank, name, port=port) for axis in self.readable(port, axes)])
        if unique and len(set(counted)) < len(counted):
            self.fail("V104", f"{port.name} must name each axis once, got {list(axes)}", port=port)
        return counted

    def axes_at_run(self, port: Input, rank: int) -> None:
        """Warn of known axes out of range where OpenVINO refuses them only when it compiles or runs the model; a scalar has an axis 0.

        OpenVINO reads values beyond int64 as negative.
        """
        for axis in self.known(port) or ():
            if isinstance(axis, int) and (axis < -rank or max(rank, 1) <= axis <= INT64_MAX):
                self.warn("R401", f"this never holds: {port.name} must be in [{-rank}, {rank - 1}], got {axis}", port=port)

    def require_rank(self, port: Input, ranks: Sequence[int], code: str = "S101") -> None:
        """Demand that the rank of an input is one of these, if it is known."""
        shape = port.partial_shape
        if shape is not None and len(shape) not in ranks:
            wanted = " or ".join(map(str, ranks))
            message = f"{port.name} must have rank {wanted}, got rank {port.rank}"
            look = self._look_at(code, message, port)
            if look == BOUNDS or (look and port.count is not None):
                self.fail(code, message, port=port)
            self.warn("R401", f"this never holds: {message}", port=port)


class Uncomputable(Exception):
    """OpenVINO fails to compute the elements. It refuses the model if a rule reads them."""

    def __init__(self, code: str, message: str, port: Input) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.port = port


@mypyc_attr(allow_interpreted_subclasses=True)
class Context(InputValues):
    """One application of a rule to facts.

    It knows no layer. Findings and requirements are recorded without place, so that the outcome can be remembered and replayed for
    every layer that asks the same.
    """

    __slots__ = ()

    def expect_within(self, indices: Input, sizes: Sequence[Size], *, low: int | None = None) -> None:
        """Warn if a constant index is outside its axis, whatever the size. OpenVINO accepts it.

        `sizes` are those of the axes that the indices of a tuple name, or of the only axis. `low` is the least index, the negative size if
        it is not given.
        """
        if indices.ends is None:
            return
        ends = indices.ends
        if len(sizes) == 1:
            ends = ((min([least for least, _ in ends]), max([greatest for _, greatest in ends])),)
        for position, ((least, greatest), size) in enumerate(zip(ends, sizes, strict=False)):
            is_beyond = lt(greatest, size) is False
            if is_beyond or (lt(size, -least) if low is None else least < low):
                most = bounds_unasked(size)[1]
                first = -int(most) if low is None else low
                got = greatest if is_beyond else least
                name = indices.name if len(sizes) == 1 else f"{indices.name}[...,{position}]"
                self.warn("R401", f"{name} must be in [{first}, {interval_text(most - 1, most - 1)}], got {got}", port=indices)

    def has_type(self, port: Input, types: frozenset[ElementType]) -> bool:
        """Whether the element type of an input is one of these. A type that may be left out, and is, may be any that holds the elements."""
        if self.states_types or port.element_type is not ElementType.dynamic:
            return port.element_type in types
        is_real = any(isinstance(element, float) for element in port.elements or ())
        return not is_real or any(element_type.is_real for element_type in types)

    def merge_shapes(self, a: Input | Shape, b: Input | Shape, message: str, *, code: str = "S201", **names: Any) -> Shape:
        """The one shape that both must have; an input of unknown rank may have any. The message may name the `{axis}`."""
        return merge_shapes(self, _shape_of(a), _shape_of(b), message, code=code, **names)

    def broadcast_shapes(self, a: Input | Shape, b: Input | Shape, message: str = "", **names: Any) -> Shape:
        """The shape that both broadcast to, as in NumPy; None if one has no known rank."""
        return broadcast_shapes(self, _shape_of(a), _shape_of(b), message=message, **names)

    def require_nonzero(self, value: Size, message: str, *, code: str, **names: Any) -> None:
        """Demand that a number of either sign is not 0. A number that depends on data may be anything."""
        if eq(value, 0) is not False and not origins(value) & UNBACKED:
            low, high = bounds(value)
            magnitude = value if low >= 0 else -value if high <= 0 else dim_max(value, -value)
            self.require_ge(magnitude, 1, message, code=code, **names)

    def same_shape(self, *ports: Input) -> None:
        """Demand that these inputs have one shape, and end the rule if they do not."""
        first, *others = ports
        merged = first.partial_shape
        for port in others:
            if port.partial_shape != merged:
                message = "{port} must be as long as {first} on axis {axis}"
                merged = self.merge_shapes(merged, port, message, port=port.name, first=first.name)
        self.stop_at_errors()

    def identical_shapes(self, a: Input, b: Input, message: str) -> None:
        """Demand equal shapes where OpenVINO refuses shapes that it does not know to be equal: `[2..3]` and `[?]`, or `[3]` and `[...]`."""
        shape, other = a.partial_shape, b.partial_shape
        self.merge_shapes(shape, other, message, rank_message=message)
        if not self.openvino_knows_same or not self._look or self.has_errors():
            return
        if shape is None or other is None:
            is_known = shape is other
        else:
            is_known = [bounds(size) for size in shape] == [bounds(size) for size in other]
        if not is_known:
            self.error("S206", f"OpenVINO refuses shapes that it does not know to be equal: {message}", port=b)

    def saturate(self, size: Size) -> Size:
        """A size that is 0 where the formula would be negative, as OpenVINO's dimensions are."""
        return 0 if bounds(size)[1] <= 0 else narrow(size, 0)

    def without_common(self, a: Sequence[Size], b: Sequence[Size]) -> tuple[list[Size], list[Size]]:
        """The factors of two products without those they share: `a, b` for a*x and b*x. An unknown factor is assumed not to be 0."""
        left, rest, right = list(a), list(b), []
        if not self.scope.has_intervals_only:  # in OpenVINO's view equal intervals are one object, and may be different sizes
            for factor in b:
                if isinstance(factor, Dim) and factor in left:
                    self.scope.work.take(1 + len(left) // 4)
                    left.remove(factor)
                    rest.remove(factor)
        for factor in rest:
            self.scope.work.take(1 + len(left) // 4)
            for i, other in enumerate(left):
                if other != 0 and eq_unasked(other, factor):
                    del left[i]
                    break
            else:
                right.append(factor)
        return left, right

    def scaled(self, size: Size, scale: float) -> Size:
        """A size resized by a finite scale."""
        return scaled(size, scale)

    def leave_unranked(self) -> NoReturn:
        """End the rule with outputs of unknown rank."""
        raise UnknownRank

    def unknown_shape(self, rank: int) -> tuple[Size, ...]:
        """A shape of which only the rank is known."""
        return tuple([self.unknown() for _ in range(rank)])


def _shape_of(source: Input | Shape) -> Shape:
    return source.partial_shape if isinstance(source, Input) else source


def element_count(shape: Shape) -> int | None:
    """How many elements a tensor holds, if its shape is static."""
    return prod(shape) if shape is not None and are_known(shape) else None
