"""The element types of OpenVINO 2026.4.1, with their bit widths and their spellings in an IR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, NoReturn


class ElementType:
    """An element type. Each type is one object, so types are compared by `is`; `==` also takes a name or a type of another library.

    `name` is OpenVINO's name (`f32`, `boolean`), `precision` the spelling in a `<port>` (`FP32`, `BOOL`), `bits` the width of one element
    (0 for `dynamic`, whose width is unknown). `is_real` says that the elements have fractions, `is_signed` that they may be negative.
    """

    __slots__ = ("bits", "is_real", "is_signed", "name", "precision")
    __hash__: ClassVar[Callable[[ElementType], int]] = object.__hash__

    BY_NAME: ClassVar[dict[str, ElementType]] = {}
    _BY_PRECISION: ClassVar[dict[str, ElementType]] = {}

    dynamic: ClassVar[ElementType]
    boolean: ClassVar[ElementType]
    bf16: ClassVar[ElementType]
    f16: ClassVar[ElementType]
    f32: ClassVar[ElementType]
    f64: ClassVar[ElementType]
    i4: ClassVar[ElementType]
    i8: ClassVar[ElementType]
    i16: ClassVar[ElementType]
    i32: ClassVar[ElementType]
    i64: ClassVar[ElementType]
    u1: ClassVar[ElementType]
    u2: ClassVar[ElementType]
    u3: ClassVar[ElementType]
    u4: ClassVar[ElementType]
    u6: ClassVar[ElementType]
    u8: ClassVar[ElementType]
    u16: ClassVar[ElementType]
    u32: ClassVar[ElementType]
    u64: ClassVar[ElementType]
    nf4: ClassVar[ElementType]
    f8e4m3: ClassVar[ElementType]
    f8e5m2: ClassVar[ElementType]
    string: ClassVar[ElementType]
    f4e2m1: ClassVar[ElementType]
    f8e8m0: ClassVar[ElementType]

    def __init__(self, name: str, bits: int, precision: str, *, is_real: bool = False, is_signed: bool = False) -> None:
        self.name: Final = name
        self.bits: Final = bits
        self.precision: Final = precision
        self.is_real: Final = is_real
        self.is_signed: Final = is_signed

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same type: `f32`, `"f32"`, `"float32"`, `np.float32`, `torch.float32` or `ov.Type.f32`."""
        if isinstance(other, ElementType):
            return self is other
        owner = other if isinstance(other, type) else type(other)
        is_name = isinstance(other, str) or owner.__module__.partition(".")[0] in _LIBRARIES
        return is_name and similar_type(getattr(other, "get_type_name", lambda: str(other)[:64])()) is self

    @property
    def dtype(self) -> Any:
        """The type of NumPy, which `numpy.dtype(element_type)` gives, too. Raises AttributeError if NumPy has none."""
        import numpy

        if self.name not in STORED:
            raise AttributeError  # Python then asks __getattr__
        return numpy.dtype(STORED[self.name])

    def __getattr__(self, name: str) -> NoReturn:
        told = "; dtype is the type of NumPy, and bits the width of an element" if name in ("numpy", "to_numpy", "itemsize") else ""
        text = f"NumPy has no type {self.name}" if name == "dtype" else f"'ElementType' has no attribute {name!r}{told}"
        raise AttributeError(text, name=name, obj=self)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return ElementType.parse, (self.name,)

    @staticmethod
    def parse(name: str) -> ElementType | None:
        """The type with this name in an attribute, in any letter case; None if there is none."""
        return ElementType.BY_NAME.get(name.lower())

    @staticmethod
    def from_precision(precision: str) -> ElementType | None:
        """The type of a `<port precision=...>`; None if there is none.

        Letter case matters: OpenVINO accepts `FP32` and `f32`, but neither `fp32` nor `F32`.
        """
        return ElementType._BY_PRECISION.get(precision) or ElementType.BY_NAME.get(precision)

    def byte_size(self, count: int) -> int:
        """The least number of bytes that `count` elements take in a `.bin`, as OpenVINO counts them."""
        return (count * self.bits + 7) // 8


# The types of NumPy in which the weights hold elements.
STORED: Final = {
    "boolean": "?", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip
_LIBRARIES: Final = frozenset({"ml_dtypes", "numpy", "openvino", "torch"})
# Names of other libraries that hold no number of bits.
_FOREIGN: Final = {
    "float": "f32", "half": "f16", "double": "f64", "int": "i32", "long": "i64", "short": "i16", "byte": "u8", "bool": "boolean",
    "str": "string",
}  # fmt: skip


# The name of each type, the bits of an element, the spelling in a `<port>`, and how its elements are numbers, in the order of OpenVINO.
_TYPES: Final = """
    dynamic:0:UNSPECIFIED: boolean:8:BOOL:signed bf16:16:BF16:real f16:16:FP16:real f32:32:FP32:real f64:64:FP64:real
    i4:4:I4:signed i8:8:I8:signed i16:16:I16:signed i32:32:I32:signed i64:64:I64:signed
    u1:1:BIN: u2:2:U2: u3:3:U3: u4:4:U4: u6:6:U6: u8:8:U8: u16:16:U16: u32:32:U32: u64:64:U64:
    nf4:4:NF4:signed f8e4m3:8:F8E4M3:real f8e5m2:8:F8E5M2:real string:256:STRING: f4e2m1:4:F4E2M1:real f8e8m0:8:F8E8M0:real
"""


def _define() -> None:
    for row in _TYPES.split():
        name, bits, precision, number = row.split(":")
        element_type = ElementType(name, int(bits), precision, is_real=number == "real", is_signed=bool(number))
        setattr(ElementType, name, element_type)
        ElementType.BY_NAME[name] = element_type
        ElementType._BY_PRECISION[precision] = element_type
    ElementType._BY_PRECISION["U1"] = ElementType.u1
    ElementType._BY_PRECISION["undefined"] = ElementType.dynamic


_define()


def similar_type(name: str) -> ElementType | None:
    """The type for a name of NumPy, PyTorch or a port, or for its text: `float32`, `half`, `FP32`, `<class 'numpy.float32'>`; or None."""
    word = name.lower().rstrip("'>_").replace("'", ".").rpartition(".")[2]
    word = _FOREIGN.get(word) or word.replace("float", "f").replace("uint", "u").replace("int", "i")
    return ElementType.from_precision(name.upper()) or ElementType.parse(word)


ANY: Final = frozenset(ElementType.BY_NAME.values())
_DYNAMIC: Final = {ElementType.dynamic}
# The dynamic type may turn out to be any type, so every set contains it, unless an operation subtracts it.
FLOAT: Final = frozenset(t for t in ANY if t.is_real) | _DYNAMIC
# As element::Type::is_integral_number: every type that is neither real nor boolean, including string and nf4.
INTEGER: Final = frozenset(t for t in ANY if not t.is_real) - {ElementType.boolean}
NUMERIC: Final = FLOAT | INTEGER
BOOLEAN: Final = frozenset({ElementType.boolean}) | _DYNAMIC
INDEX: Final = frozenset({ElementType.i32, ElementType.i64}) | _DYNAMIC
