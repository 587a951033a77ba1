"""The elements of a Const, read from the weights when they are asked for."""

from __future__ import annotations

import struct
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final

from irshape.report.surface import Guessed
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX
from irshape.shape.element_type import STORED, ElementType
from irshape.shape.shape import format_shape
from irshape.xml.weights import Weights, WeightsError, check_strings, decode, no_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The types of NumPy that hold the elements of types narrower than a byte.
_NARROW: Final = {"u1": "u1", "u2": "u1", "u4": "u1", "i4": "i1"}


class Const(Guessed):
    """The content of a Const: its `element_type`, its `shape`, and the place of its bytes in the weights, `offset` and `size`."""

    __slots__ = ("_weights", "element_type", "offset", "shape", "size")

    def __init__(self, element_type: ElementType, shape: tuple[int, ...], offset: int, size: int, weights: Weights | None) -> None:
        self.element_type = element_type
        self.shape = shape
        self.offset = offset
        self.size = size
        self._weights = weights

    @property
    def bytes(self) -> bytes:
        """The bytes as the weights hold them. Raises `WeightsError` if the weights lack them."""
        if self._weights is None:
            raise no_weights()
        return self._weights.read(self.offset, self.size)

    @property
    def data(self) -> NDArray[Any]:
        """The elements as a NumPy array, read at each call.

        A bf16 is given as float32, which holds it exactly; u1, u2 and u4 are given as uint8, i4 as int8, and strings as an array of
        objects. Raises `WeightsError` if the weights or the Const lack bytes, and `TypeError` for another element type: read its `bytes`.
        """
        import numpy

        name, count = self.element_type.name, prod(self.shape)
        if min(self.shape, default=0) < 0 or (name != "string" and self.size < self.element_type.byte_size(count)):
            needed = counted(max(self.element_type.byte_size(count), 0), "byte")
            raise WeightsError("W103", f"{self!r} has not the {needed} of this type and shape; correct its size, its type or its shape")
        if prod(max(size, 1) for size in self.shape) * 8 > INT64_MAX:  # NumPy counts the bytes as if no size were 0
            raise WeightsError("W103", f"NumPy has no arrays of the shape {format_shape(self.shape)}; read the bytes of {self!r}")
        if name == "string":
            return numpy.array(self._strings(count), dtype=object).reshape(self.shape)
        if name in STORED:
            return numpy.frombuffer(self.bytes, STORED[name], count).reshape(self.shape)
        if name == "bf16":  # the upper half of a float32
            return (numpy.frombuffer(self.bytes, "<u2", count).astype("<u4") << 16).view("<f4").reshape(self.shape)
        if name in _NARROW:
            return numpy.array(decode(self.element_type, self.bytes, count), _NARROW[name]).reshape(self.shape)
        raise TypeError(f"NumPy has no element type {name}; read the bytes")

    def _strings(self, count: int) -> list[str]:
        """Packed strings: their number, the begin of each, the end of the last, the characters."""
        data = self.bytes
        assert self._weights is not None
        check_strings(self._weights, self.offset, self.size)
        if (stored := struct.unpack_from("<i", data)[0]) != count:
            raise WeightsError("W106", f"{self!r} stores {counted(stored, 'string')}, and its shape has {count}; correct its shape")
        ends = struct.unpack_from(f"<{count + 1}i", data, 4)
        characters = data[4 * (count + 2) :]
        return [characters[begin:end].decode("utf-8", "replace") for begin, end in pairwise(ends)]

    def __repr__(self) -> str:
        return f"<Const {self.element_type}[{','.join(map(str, self.shape))}], {self.size} bytes at {self.offset}>"
