"""The count of the work of a layer, as the method `cost` of its operation gives it, and the rules that many operations share."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

from irshape.ops.port import Input, UnknownRank
from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import Size, are_known, product
from irshape.shape.shape import Shape


class Count(NamedTuple):
    """The multiply-accumulates of a layer, and its other operations on single elements: sums, products, comparisons, functions."""

    macs: Size = 0
    operations: Size = 0


class Outputs(NamedTuple):
    """The outputs of a layer, as the rule `cost` sees them: `shapes` are their shapes, in order."""

    shapes: tuple[Shape, ...]

    @property
    def shape(self) -> tuple[Size, ...]:
        """The shape of the first output. Ends the rule if the rank is not known."""
        if not self.shapes or self.shapes[0] is None:
            raise UnknownRank
        return self.shapes[0]

    @property
    def elements(self) -> Size:
        """The number of elements of the first output."""
        return product(self.shape)


def elements(port: Input) -> Size:
    """The number of elements of an input. Ends the rule if the rank is not known."""
    return product(port.shape)


def moved(self: object, out: Outputs, *inputs: Any) -> Count:
    """No work: the elements are moved or written, not computed."""
    return Count()


def each_element(self: object, out: Outputs, *inputs: Any) -> Count:
    """1 operation for each element of the output."""
    return Count(operations=out.elements)


def each(about: str, *, macs: int = 0, operations: int = 0, of_input: bool = False) -> Callable[..., Count]:
    """The rule of an operation that takes so much work for each element of its output, or of its first input. `about` says it."""

    def cost(self: object, out: Outputs, first: Input, *inputs: Any) -> Count:
        count = elements(first) if of_input else out.elements
        return Count(macs * count, operations * count)

    cost.__doc__ = about
    return cost


def transforms(points: Size, lengths: tuple[Size, ...], real: bool) -> Size | None:
    """The operations of Fourier transforms along axes of these `lengths`, for tensors of `points` numbers.

    A transform of n complex numbers takes 5*n*log2(n) operations, one of n real numbers half as many. None if a length is not known.
    """
    if not are_known(lengths) or any(length < 0 for length in lengths):
        return None
    length = product(lengths)
    assert isinstance(length, int)
    each = round((2.5 if real else 5) * length * log2(length)) if length else 0
    return points // length * each if length else 0
