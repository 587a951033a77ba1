"""The context of a rule: it decides requirements, reads the values of inputs, and records findings."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

from irshape.ops.findings import RuleFailure as RuleFailure
from irshape.ops.op import Input, UnknownRank
from irshape.ops.reading import Reading
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Dim, Size, are_known, bounds, bounds_unasked, dim_max, eq, eq_unasked, lt, narrow, origins
from irshape.shape.element_type import ElementType
from irshape.shape.polynomial import UNBACKED
from irshape.shape.range import interval_text
from irshape.shape.scaling import scaled
from irshape.shape.shape import Shape, broadcast_shapes, merge_shapes


class Uncomputable(Exception):
    """OpenVINO fails to compute the elements. It refuses the model if a rule reads them."""

    def __init__(self, code: str, message: str, port: Input) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.port = port


@mypyc_attr(allow_interpreted_subclasses=True)
class Context(Reading):
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
                merged = self.merge_shapes(
                    merged, port, "{port} must be as long as {first} on axis {axis}", port=port.name, first=first.name
                )
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
