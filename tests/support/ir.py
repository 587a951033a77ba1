"""Builds small IRs for tests: an `.xml` text and the bytes of its `.bin`.

`Net(text)` writes the layers of a text; each line is a chain:

    x: f32[?,4]                                         a Parameter, whose layer is named x
    x -> ReLU -> y: Reshape([0,2,-1], special_zero=true)  each layer takes the one before as its first input
    Gather-8(f32=0[9,4], Convert(x, destination_type=i64), 0) -> Result   calls nest; -8 is the opset, -extension another version
    x, y -> Concat(axis=0) -> Result                    several inputs; Add(y, _) says where the one before goes
        -> Result                                       a line that begins so, or inside brackets, goes on with the line before it
    top: TopK-11(x, 3, axis=1) f32 i32                  two outputs, top and top.1
    _x: Abs(x)                                          _x is a name in the text only; the layer keeps the one that it is given

Inputs are written as in the rows of operations: `3`, `[1,2]` and `i32=[1,2]` are Consts, and `f32=0[9,4]` is one that repeats a number.
Unless its types are written behind it, a layer has one output of the type that its attribute `output_type` or `destination_type` says,
or of the type of its first input. `net.add(text)` adds to a net, knows the names that it has, and returns the last output.
"""

import json
import re
import struct
from itertools import repeat
from math import prod
from pathlib import Path
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


class Const(NamedTuple):
    """A constant input."""

    values: Any
    element_type: str


def input_of(text: str) -> str | Const:
    """One input: `f32[2,?]` is itself; `3`, `[1,2]`, `i32=[1,2]` and `f32=0[9,4]` are constants."""
    element_type, equals, values = text.partition("=")
    if text[0] in "-0123456789[":
        element_type, values = "i64", text
    elif not equals or element_type not in ElementType.BY_NAME:
        return text
    repeated = re.fullmatch(r"(-?[\d.]+)\[([\d, ]*)\]", values)
    return Const(Repeated(json.loads(repeated[1]), json.loads(f"[{repeated[2]}]")) if repeated else json.loads(values), element_type)


class Repeated(NamedTuple):
    """A number in each place of a shape."""

    value: float
    shape: list[int]


def type_and_shape(text: str) -> tuple[str, str]:
    """`f32[1,3,?]` -> (`f32`, `1,3,?`)."""
    element_type, _, shape = text.partition("[")
    return element_type, shape.removesuffix("]")


class Net:
    """An IR that grows layer by layer."""

    def __init__(self, text: str = "", *, version: int = 11) -> None:
        self.version = version
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.weights = bytearray()
        self.named: dict[str, list[Ref]] = {}
        if text:
            self.add(text)

    def add(self, text: str) -> Ref:
        """Add the layers of a text; the first output of the last one."""
        refs: list[Ref] = []
        for line in pieces(text, "\n"):
            for place, part in enumerate(pieces(line, "->")):
                if part:
                    refs = [ref for one in pieces(part, ",") for ref in self._operand(one, refs if place else [])]
        return refs[0] if refs else Ref(len(self.layers) - 1, 0, "")

    def _operand(self, text: str, before: list[Ref], *, is_inside: bool = False) -> list[Ref]:
        """The outputs that a text names: those of a layer that is there, or of one that it adds, behind the one before or inside a call."""
        name, colon, rest = text.partition(":")
        if colon and re.fullmatch(r"[\w./]+", name):
            refs = self.named[name] = self._operand(rest.strip(), before, is_inside=is_inside)
            if not name.startswith("_"):
                self.layers[-1] = re.sub(' name="[^"]*"', f' name="{name}"', self.layers[-1], count=1)
            return refs
        known, _, output = text.rpartition(".")
        if text == "_" or text in self.named or known in self.named:
            return before if text == "_" else self.named[text][:1] if text in self.named else [self.named[known][int(output)]]
        one = input_of(text)
        if isinstance(one, Const):
            return [self.const(*one)]
        return [self.parameter(one)] if one.partition("[")[0] in ElementType.BY_NAME else self._called(one, before, is_inside)

    def _called(self, text: str, before: list[Ref], is_inside: bool) -> list[Ref]:
        """The outputs of a layer that a text adds: `TopK-11(x, 3, axis=1) f32 i32`."""
        call = re.fullmatch(r"([A-Z]\w*)(?:-(\w+))?(?:\((.*)\))?((?: \w+)*)", text.strip(), re.DOTALL)
        assert call, f"neither a layer nor the name of one: {text}"
        type, version, arguments, types = call.groups()
        taken: list[Ref] = []
        attributes: dict[str, Any] = {}
        for argument in pieces(arguments or "", ","):
            name, equals, value = argument.partition("=")
            if equals and re.fullmatch(r"[\w-]+", name) and name not in ElementType.BY_NAME:
                attributes[name] = value[1:-1] if value[0] in '"[' else value
            else:
                taken += self._operand(argument, before, is_inside=True)
        if not is_inside and "_" not in pieces(arguments or "", ","):
            taken = before + taken
        said = types.split() or [attributes[name] for name in ("output_type", "destination_type") if name in attributes][:1]
        outputs = [ElementType.BY_NAME[one].precision for one in said] or [taken[0].precision if taken else "FP32"]
        version = version or "1"
        refs = self.layer(
            type, taken, [] if type == "Result" else outputs, f"opset{version}" if version.isdigit() else version, **attributes
        )
        return refs or taken

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

    def holder(self, layer: str, maps: str, *inputs: Ref, **bodies: "Net") -> list[Ref]:
        """Add a layer with bodies: `net.holder("Loop-5(5, boolean=true, _) f32", "2 > a; b > 3; b > a; go > -1", x, body=Net(...))`.

        An entry of `maps` leads from an input of the layer to a Parameter, from a Result to an output, to -1 if the Result is the
        condition, or from a Result to a Parameter of the next iteration. Attributes of an entry stand behind it. Both bodies of an If have
        all entries.
        """
        refs = self._called(layer, list(inputs), is_inside=False)
        texts = ["", ""]
        for name, body in bodies.items():
            named = [re.match('<layer id="([0-9]+)" name="([^"]*)"', text) for text in body.layers]
            ids = {one: str(refs[0].layer) for one, refs in body.named.items()} | {one[2]: one[1] for one in named if one}
            entries = edges = ""
            for entry in pieces(maps, ";"):
                start, _, end, *more = entry.split(maxsplit=3)
                if end in ids and start in ids:
                    edges += f'<edge from-layer="{ids[start]}" to-layer="{ids[end]}"/>'
                    continue
                more += ['purpose="execution_condition"'] if end == "-1" else []
                kind, port, id = ("input", start, ids[end]) if end in ids else ("output", end, ids[start])
                entries += f'<{kind} external_port_id="{port}" internal_layer_id="{id}" {"".join(more)}/>'
            map = name.replace("body", "port_map")
            texts[0] += f"<{map}>{entries}</{map}>" + (f"<back_edges>{edges}</back_edges>" if edges else "")
            content = f"<layers>{''.join(body.layers)}</layers><edges>{''.join(body.edges)}</edges>"
            start = len(self.weights)
            content = re.sub(r'offset="(\d+)" size', lambda one: f'offset="{int(one[1]) + start}" size', content)  # noqa: B023
            texts[1] += f"<{name}>{content}</{name}>"
            self.weights += body.weights
        self.layers[-1] = self.layers[-1].replace("</layer>", f"{''.join(texts)}</layer>")
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
        return self.stored(element_type, ", ".join(map(str, shape)), data)

    def stored(self, element_type: str, shape: int | str, data: bytes) -> Ref:
        """A Const with these bytes."""
        self.weights += data
        precision = ElementType.BY_NAME[element_type].precision
        place = {"offset": len(self.weights) - len(data), "size": len(data)}
        return self.layer("Const", [], [precision], element_type=element_type, shape=shape, **place)[0]

    def result(self, ref: Ref) -> None:
        """A Result that reads a port."""
        self.layer("Result", [ref])

    def save(self, path: Path) -> Path:
        """Write the text and, beside it, the weights; the path."""
        path.write_text(self.xml, encoding="utf-8")
        path.with_suffix(".bin").write_bytes(self.bin)
        return path

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


def pieces(text: str, mark: str) -> list[str]:
    """The parts of a text between marks outside of brackets and quotes, without the blanks around them."""
    parts, depth, start, place = [], 0, 0, 0
    is_quoted = False
    while place < len(text):
        is_quoted ^= text[place] == '"'
        if not is_quoted:
            depth += (text[place] in "([") - (text[place] in ")]")
        if not depth and not is_quoted and text.startswith(mark, place):
            parts.append(text[start:place].strip())
            start = place = place + len(mark)
        else:
            place += 1
    return [*parts, text[start:].strip()] if text.strip() else []


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
    if isinstance(values, Repeated):
        return tuple(values.shape), list(repeat(values.value, prod(values.shape)))
    if not isinstance(values, (list, tuple)):
        return (), [values]
    if not values:
        return (0,), []
    shapes, flats = zip(*map(flatten, values), strict=True)
    assert len(set(shapes)) == 1, f"ragged: {values}"
    return (len(values), *shapes[0]), [element for flat in flats for element in flat]
