"""Compare constants by content, piece by piece, because the weights of a model may be larger than the memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import inf
from typing import Any, Final

from irshape.ops.context import element_count
from irshape.ops.infrastructure import Constant
from irshape.shape.element_type import ElementType
from irshape.xml.weights import Weights, decode, no_weights

_PIECE: Final = 1 << 20
# The most elements of a constant that are listed; of larger constants only their difference is measured.
_SHOWN: Final = 8
_WIDEST: Final = 80
_NUMBERS: Final = {
    "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip
_MOST_F16: Final = 65504.0


class Content:
    """The bytes of a Const. Every method that reads them raises WeightsError if the weights lack them."""

    __slots__ = ("count", "element_type", "offset", "size", "weights")

    def __init__(self, op: Constant, weights: Weights | None) -> None:
        self.element_type: ElementType = op.element_type
        self.count = element_count(op.shape)
        self.offset = op.offset
        # Bytes beyond the elements are never read; the elements of strings have no fixed size.
        is_measured = self.count is not None and self.element_type is not ElementType.string
        self.size = min(op.size, self.element_type.byte_size(self.count or 0)) if is_measured else op.size
        self.weights = weights

    def text(self) -> str | None:
        """The elements as text, `[0,3,38,1]`; None if there are many."""
        if self.count is None or self.count > _SHOWN or self.element_type is ElementType.string:
            return None
        elements = decode(self.element_type, next(self._pieces(self.size), b""), self.count)
        texts = [f"{element:.9g}" if isinstance(element, float) else str(element) for element in elements or ()]
        return None if elements is None else f"[{','.join(texts)}]"

    def numbers(self, elements: int) -> Iterator[Any]:
        """The elements as NumPy arrays of at most `elements` each."""
        import numpy

        code = numpy.dtype(_NUMBERS[self.element_type.name])
        return (numpy.frombuffer(piece, code) for piece in self._pieces(elements * code.itemsize))

    @property
    def is_numeric(self) -> bool:
        """Whether `numbers` can read the elements."""
        return self.element_type.name in _NUMBERS and self.size == self.element_type.byte_size(self.count or 0)

    def is_like(self, other: Content) -> bool:
        """Whether both hold the same bytes."""
        if self.size != other.size:
            return False
        if self.offset == other.offset and _are_one_file(self.weights, other.weights):
            return True
        return all(one == another for one, another in zip(self._pieces(_PIECE), other._pieces(_PIECE), strict=True))

    def _pieces(self, size: int) -> Iterator[bytes]:
        if self.weights is None:
            raise no_weights()
        end = self.offset + self.size
        for start in range(self.offset, end, max(size, 1)):
            yield self.weights.read(start, min(size, end - start))


def difference(a: Content, b: Content) -> tuple[str, str] | None:
    """The contents of two constants of equal type and shape, as texts that show their difference; None if they are equal."""
    if a.is_like(b):
        return None
    ours, theirs = a.text(), b.text()
    if ours is not None and theirs is not None and ours != theirs and len(ours) + len(theirs) <= _WIDEST:
        return ours, theirs
    if not a.is_numeric or not b.is_numeric or a.count != b.count:
        return f"{a.size} bytes", f"{b.size} bytes"
    count, largest = _distance(a, b)
    if not count:
        return "the bytes", "other bytes with equal values"
    amount = f"by at most {largest:.6g}" if largest < inf else "some of which are not finite"
    return f"{a.count} elements", f"{count} of them differ, {amount}"


def is_rounded(a: Content, b: Content) -> bool:
    """Whether two constants of real types hold the same numbers, up to rounding from the wider type to the narrower one."""
    if not (a.element_type.is_real and b.element_type.is_real and a.is_numeric and b.is_numeric and a.count == b.count):
        return False
    import numpy

    wide, narrow = (a, b) if a.element_type.bits >= b.element_type.bits else (b, a)
    target = numpy.dtype(_NUMBERS[narrow.element_type.name])
    most = _MOST_F16 if narrow.element_type is ElementType.f16 else inf
    with numpy.errstate(over="ignore"):
        return all(
            bool(numpy.array_equal(numpy.clip(one, -most, most).astype(target), other, equal_nan=True))
            for one, other in zip(wide.numbers(_PIECE), narrow.numbers(_PIECE), strict=True)
        )


def _distance(a: Content, b: Content) -> tuple[int, float]:
    """The number of elements that differ, and their largest difference."""
    import numpy

    count, largest = 0, 0.0
    with numpy.errstate(all="ignore"):
        for one, other in zip(a.numbers(_PIECE), b.numbers(_PIECE), strict=True):
            differ = (one != other) & ~((one != one) & (other != other))
            if differ.any():
                count += int(differ.sum())
                distances = numpy.abs(one[differ].astype("f8") - other[differ].astype("f8"))
                largest = max(largest, float(numpy.nan_to_num(distances, nan=inf, posinf=inf).max()))
    return count, largest


def _are_one_file(a: Weights | None, b: Weights | None) -> bool:
    if a is None or b is None or a.path is None or b.path is None:
        return a is b
    try:
        return os.path.samefile(a.path, b.path)
    except OSError:
        return False
