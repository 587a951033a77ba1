"""How a rule reads the values of its inputs: constants, values that are partly known, and unknown ones on one path."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import NoReturn

from irshape.ops.findings import Findings
from irshape.ops.op import Input
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import INT64_MAX, Dim, Size, are_known, bounds, narrow, origins
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.guard import BOUNDS
from irshape.shape.polynomial import UNBACKED
from irshape.shape.range import interval_text
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Pieces, are_numbers


@mypyc_attr(allow_interpreted_subclasses=True)
class Reading(Findings):
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
            elements = self.integers(port, known)
        else:
            elements = self._unknown_elements(port, length if at_least is None else min(length, at_least))
        if wanted is not None and (length < wanted if count is None else length != wanted):
            message = f"{port.name} must hold {'at least ' if count is None else ''}{wanted} values, got {length}"
            if self._look_at("V103", message, port):
                self.fail("V103", message, port=port)
            self.warn("R401", f"no size fulfils this: {message}", port=port)
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

        OpenVINO refuses bounds that reach below 0, although the value may be valid. `is_lenient` says that it accepts the numbers of
        a Const.
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
        """The elements of a constant as OpenVINO reads them where it needs integers: it drops fractions."""
        if port.element_type is ElementType.i64 or port.element_type is ElementType.i32:
            return elements
        is_real = False
        for element in elements:
            if isinstance(element, float):
                is_real = True
                if not isfinite(element):
                    self.fail("V101", f"{port.name} must hold numbers, got {element}", port=port)
        read = self.readable(port, elements)
        return tuple([int(element) if isinstance(element, float) else element for element in read]) if is_real else read

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
        """The elements of an input if all of them are known numbers, else None."""
        if port.unreadable is not None:
            self._require_readable(port)
        elements = port.elements
        if elements is None or are_known(elements):
            return elements
        return None

    def axis(self, axis: int, rank: int, what: str = "axis", *, port: Input | None = None, attribute: str | None = None) -> int:
        """An axis counted from the front; an axis outside [-rank, rank) is a fault."""
        if not -rank <= axis < rank:
            self.fail("V102", f"{what} must be in [{-rank}, {rank - 1}], got {axis}", port=port, attribute=attribute)
        return axis + rank if axis < 0 else axis

    def axis_in(self, port: Input, rank: int | None) -> int | None:
        """The single axis that an input holds, counted from the front; None if the axis or the rank is not known."""
        self.single(port)
        known = self.known(port)
        if known is None:
            return None
        known = self.integers(port, known)
        return self.axis(known[0], rank, port.name, port=port) if known and rank is not None else None

    def axes(self, port: Input, rank: int, *, unique: bool = True) -> tuple[int, ...] | None:
        """The known axes of an input, counted from the front; None if they are not known.

        `unique=False` says that OpenVINO accepts an axis that is named twice.
        """
        axes = self.known(port)
        if axes is None:
            return None
        name = port.name
        counted = tuple([self.axis(axis, rank, name, port=port) for axis in self.integers(port, axes)])
        if unique and len(set(counted)) < len(counted):
            self.fail("V104", f"{port.name} must name each axis once, got {list(axes)}", port=port)
        return counted

    def require_rank(self, port: Input, ranks: Sequence[int], code: str = "S101") -> None:
        """Demand that the rank of an input is one of these, if it is known."""
        shape = port.partial_shape
        if shape is not None and len(shape) not in ranks:
            wanted = " or ".join(map(str, ranks))
            message = f"{port.name} must have rank {wanted}, got rank {port.rank}"
            look = self._look_at(code, message, port)
            if look == BOUNDS or (look and port.count is not None):
                self.fail(code, message, port=port)
            self.warn("R401", f"no size fulfils this: {message}", port=port)
