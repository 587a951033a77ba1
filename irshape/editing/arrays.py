"""The bytes of new constants: arrays and numbers in the element types of OpenVINO."""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.editing.state import EditError
from irshape.inference.facts import Fact
from irshape.shape.element_type import STORED, ElementType
from irshape.shape.value import Unreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The least and the greatest element of the types that are packed.
_PACKED: Final = {"u1": (0, 1), "u2": (0, 3), "u4": (0, 15), "i4": (-8, 7)}
_OF_NUMPY: Final = {
    "bool": "boolean", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16",
}  # fmt: skip


class Data(NamedTuple):
    """The content of a constant."""

    element_type: ElementType
    shape: tuple[int, ...]
    bytes: bytes

    @property
    def elements(self) -> list[Any]:
        """The elements as numbers; only of types that NumPy has."""
        import numpy

        found: list[Any] = numpy.frombuffer(self.bytes, STORED[self.element_type.name]).tolist()
        return found

    def attributes(self, offset: int) -> dict[str, str]:
        """The attributes of a Const whose bytes are at an offset."""
        shape = ", ".join(map(str, self.shape))
        return {"element_type": self.element_type.name, "shape": shape, "offset": str(offset), "size": str(len(self.bytes))}


def element_type_of(given: object) -> ElementType:
    """An element type by its name, or that of NumPy, PyTorch or OpenVINO. Raises `EditError` for anything else."""
    found = next((one for one in ElementType.BY_NAME.values() if one == given), None)
    return found or _refuse(f"{given!r} is not an element type; choose from {', '.join(ElementType.BY_NAME)}")


def data_of(given: Any, element_type: ElementType | str | None = None, default: ElementType | None = None) -> Data:
    """The content of a constant from an array, a number, or nested sequences of numbers.

    An array keeps its element type unless `element_type` names another one. Python's numbers take the type `default`; without one, integers
    are i64 and other numbers f32. Raises `EditError` if the elements do not fit.
    """
    import numpy

    is_array = isinstance(given, numpy.ndarray | numpy.generic)
    try:
        array = numpy.asarray(given)
    except ValueError as error:
        raise EditError(f"no array: {error}") from None
    if element_type is not None:
        wanted = element_type_of(element_type)
    elif is_array:
        name = _OF_NUMPY.get(array.dtype.name, "string" if array.dtype.kind in "UO" else "")
        wanted = element_type_of(name) if name else _refuse(f"no element type of OpenVINO is NumPy's {array.dtype}; give element_type=")
    else:
        wanted = default or _type_of_numbers(array)
    return Data(wanted, array.shape, _bytes(array, wanted))


def known_data(fact: Fact) -> Data | None:
    """The content of a constant with the elements of a fact; None if they are not all known as numbers of its element type."""
    import numpy

    elements, shape, name = fact.elements, fact.shape, fact.element_type.name
    if elements is None or shape is None or type(elements) is Unreadable or name not in STORED:
        return None
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) != len(shape) or any(type(one) not in (int, float, bool) for one in elements):
        return None
    try:
        data = data_of(numpy.array(list(elements)).reshape(sizes), fact.element_type)
    except (EditError, OverflowError, ValueError):  # NumPy has no array of 0 x 2^62 elements
        return None
    return data if all(one == other or one != one for one, other in zip(data.elements, elements, strict=True)) else None


def _type_of_numbers(array: NDArray[Any]) -> ElementType:
    kinds = {"b": ElementType.boolean, "i": ElementType.i64, "u": ElementType.i64, "f": ElementType.f32, "U": ElementType.string}
    if not array.size:
        return ElementType.i64
    return kinds[array.dtype.kind] if array.dtype.kind in kinds else _refuse(f"no element type is known for {array.tolist()!r}")


def _bytes(array: NDArray[Any], element_type: ElementType) -> bytes:
    import numpy

    name = element_type.name
    if name == "string":
        return _strings([str(one) for one in array.ravel().tolist()])
    if name not in STORED and name != "bf16" and name not in _PACKED:
        _refuse(f"elements of type {name} cannot be written from numbers")
    is_real = element_type.is_real
    is_known = array.dtype.kind in "biuf" or (array.dtype.name == "bfloat16" and name == "bf16")
    if not is_known and (array.dtype.kind != "O" or is_real):  # integers beyond 64 bits are objects
        _refuse(f"elements of type {name} cannot be made of {array.dtype}")
    if is_real:
        return _reals(array, name)
    if array.dtype.kind == "f" and not (numpy.isfinite(array).all() and numpy.array_equal(array, numpy.floor(array))):
        _refuse(f"{name} holds integers only")
    if name in _PACKED:
        _check_range(array, *_PACKED[name], name)
        return _packed([int(one) for one in array.ravel().tolist()], element_type)
    stored = numpy.dtype(STORED[name])
    low, high = (0, 1) if stored.kind == "b" else (int(numpy.iinfo(stored).min), int(numpy.iinfo(stored).max))
    _check_range(array, low, high, name)
    return array.astype(stored).tobytes()


def _reals(array: NDArray[Any], name: str) -> bytes:
    """Real numbers, each rounded to the nearest one that the type has. Raises `EditError` for a number that the type does not reach."""
    import numpy

    if name == "bf16" and array.dtype.name == "bfloat16":
        return array.tobytes()
    with numpy.errstate(over="ignore"):
        stored = array.astype(STORED["f32" if name == "bf16" else name])
    if name == "bf16":
        bits = stored.view("<u4")
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # to the nearest, and to even between two
        data = numpy.where(numpy.isnan(stored), 0x7FC0, rounded).astype("<u2")
        stored = (data.astype("<u4") << 16).view("<f4")
    else:
        data = stored
    if (numpy.isinf(stored) & numpy.isfinite(array)).any():
        _refuse(f"{name} cannot hold all of the elements, because some are too large")
    return data.tobytes()


def _check_range(array: NDArray[Any], low: int, high: int, name: str) -> None:
    if array.size and (array.dtype.kind not in "biuf" or int(array.min()) < low or int(array.max()) > high):
        _refuse(f"{name} holds integers from {low} to {high}, but some elements are not in this range")


def _packed(elements: list[int], element_type: ElementType) -> bytes:
    """Elements narrower than a byte: packed from the low bits up, u1 from the high bits down."""
    bits = element_type.bits
    data = bytearray(element_type.byte_size(len(elements)))
    for index, element in enumerate(elements):
        at, shift = divmod(index * bits, 8)
        data[at] |= (element & (1 << bits) - 1) << (7 - shift if bits == 1 else shift)
    return bytes(data)


def _strings(strings: list[str]) -> bytes:
    """Packed strings: their number, the begin of each, the end of the last, the characters."""
    parts = [one.encode() for one in strings]
    ends = [*accumulate(map(len, parts), initial=0)]
    return struct.pack(f"<{len(ends) + 1}i", len(parts), *ends) + b"".join(parts)


def _refuse(message: str) -> Any:
    raise EditError(message)
