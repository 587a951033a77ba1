"""Builds small IRs for tests: an `.xml` text and the bytes of its `.bin`."""

import struct
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from irshape.shape.element_type import ElementType

FORMATS = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d", "boolean": "?",
}  # fmt: skip

BITS = {"u1": 1, "u2": 2, "u4": 4, "i4": 4, "nf4": 4}


class Ref(NamedTuple):
    """An output port of a layer that has been added."""

    layer: int
    port: int
    precision: str


def type_and_shape(text: str) -> tuple[str, str]:
    """`f32[1,3,?]` -> (`f32`, `1,3,?`)."""
    element_type, _, shape = text.partition("[")
    return element_type, shape.removesuffix("]")


class Net:
    """An IR that grows layer by layer."""

    def __init__(self, version: int = 11) -> None:
        self.version = version
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.weights = bytearray()

    def layer(
        self,
        type: str,
        inputs: "list[Ref]" = [],  # noqa: B006 - never changed
        outputs: list[str] = [],  # noqa: B006
        version: str = "opset1",
        **attributes: Any,
    ) -> list[Ref]:
        """Add a layer; `outputs` are the precisions of its ports. Attributes become `<data>`, None leaves one out."""
        id = len(self.layers)
        data = "".join(f" {name.replace('__', '-')}={quoteattr(text(value))}" for name, value in attributes.items() if value is not None)
        lines = [f'<layer id="{id}" name="{type.lower()}_{id}" type="{type}" version="{version}">']
        if data:
            lines.append(f"<data{data}/>")
        if inputs:
            lines += ["<input>", *(f'<port id="{i}" precision="{ref.precision}"/>' for i, ref in enumerate(inputs)), "</input>"]
        refs = [Ref(id, len(inputs) + i, precision) for i, precision in enumerate(outputs)]
        if outputs:
            lines += ["<output>", *(f'<port id="{ref.port}" precision="{ref.precision}"/>' for ref in refs), "</output>"]
        self.layers.append("\n\t\t\t".join(lines) + "\n\t\t</layer>")
        for i, ref in enumerate(inputs):
            self.edges.append(f'<edge from-layer="{ref.layer}" from-port="{ref.port}" to-layer="{id}" to-port="{i}"/>')
        return refs

    def parameter(self, fact: str) -> Ref:
        """A Parameter such as `f32[1,3,?]`."""
        element_type, shape = type_and_shape(fact)
        precision = ElementType.BY_NAME[element_type].precision
        return self.layer("Parameter", [], [precision], shape=shape, element_type=element_type)[0]

    def const(self, values: Any, element_type: str = "i64") -> Ref:
        """A Const of a number or a (nested) list of numbers."""
        shape, flat = flatten(values)
        data = packed(element_type, flat) if element_type in BITS else struct.pack(f"<{len(flat)}{FORMATS[element_type]}", *flat)
        offset = len(self.weights)
        self.weights += data
        precision = ElementType.BY_NAME[element_type].precision
        return self.layer(
            "Const", [], [precision], element_type=element_type, shape=", ".join(map(str, shape)), offset=offset, size=len(data)
        )[0]

    def result(self, ref: Ref) -> None:
        """A Result that reads a port."""
        self.layer("Result", [ref])

    @property
    def xml(self) -> str:
        """The text of the IR."""
        layers, edges = "\n\t\t".join(self.layers), "\n\t\t".join(self.edges)
        return (
            f'<?xml version="1.0"?>\n<net name="net" version="{self.version}">\n\t<layers>\n\t\t{layers}\n\t</layers>\n'
            f"\t<edges>\n\t\t{edges}\n\t</edges>\n\t<rt_info/>\n</net>\n"
        )

    @property
    def bin(self) -> bytes:
        """The bytes of the weights; never empty, which OpenVINO refuses as soon as there is a Const."""
        return bytes(self.weights) or b"\0"


def packed(element_type: str, codes: list[int]) -> bytes:
    """Codes of fewer than 8 bits in bytes: from the lowest bit of each byte up, those of u1 from the highest down."""
    bits = BITS[element_type]
    data = bytearray((len(codes) * bits + 7) // 8)
    for index, code in enumerate(codes):
        byte, place = divmod(index * bits, 8)
        data[byte] |= (code & (1 << bits) - 1) << (7 - place if element_type == "u1" else place)
    return bytes(data)


def text(value: Any) -> str:
    """An attribute's value as an IR spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(text, value))
    return str(value)


def flatten(values: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Shape and elements of a nested list."""
    if not isinstance(values, (list, tuple)):
        return (), [values]
    if not values:
        return (0,), []
    shapes, flats = zip(*map(flatten, values), strict=True)
    assert len(set(shapes)) == 1, f"ragged: {values}"
    return (len(values), *shapes[0]), [element for flat in flats for element in flat]
