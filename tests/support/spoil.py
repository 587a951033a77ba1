"""Files spoiled as `check --fix` mends them: what a port records, how attributes and dims are spelled."""

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from irshape import verbs
from irshape.model.model import Node
from irshape.ops.attribute import Attribute, Malformed
from irshape.shape.element_type import ElementType
from irshape.xml.document import Port

OTHER = {"FP32": "FP16", "FP16": "FP32", "I64": "I32", "I32": "I64", "BOOL": "U8", "U8": "I8", "I8": "U8"}
DIM = re.compile(rb"<dim>(\d+)</dim>")


class Spoil(NamedTuple):
    """Bytes put in place of others: `code` is what irshape says of it."""

    start: int
    end: int
    text: bytes
    code: str


def spoiled(source: bytes, chance: random.Random, most: int = 12) -> tuple[bytes, set[str]]:
    """A file spoiled in some places, no two of them in the same tag, and the codes of what was done to it."""
    model = verbs.read(source)
    spoils = [spoil for graph in model.graphs() for node in graph.nodes if node.is_live and graph.is_live for spoil in spoils_of(node)]
    chance.shuffle(spoils)
    by_code: dict[str, list[Spoil]] = {}
    for spoil in spoils:
        by_code.setdefault(spoil.code, []).append(spoil)
    chosen: list[Spoil] = []
    while len(chosen) < most and any(by_code.values()):
        for code, rest in by_code.items():
            if code in ("R301", "R302") and any(spoil.code == code for spoil in chosen):
                rest.clear()  # two tensors that record other facts could both be right
            if rest and all(spoil.end < rest[-1].start - 200 or rest[-1].end < spoil.start - 200 for spoil in chosen):
                chosen.append(rest.pop())
            elif rest:
                rest.pop()
    for spoil in sorted(chosen, reverse=True):
        source = source[: spoil.start] + spoil.text + source[spoil.end :]
    return source, {spoil.code for spoil in chosen}


def spoils_of(node: Node) -> Iterator[Spoil]:
    """What can be done to the layer of a node."""
    layer = node.layer
    for port in layer.inputs:
        yield from (spoil for spoil in of_port(node, port) if spoil.code == "R101")  # another record may tell of a moved edge
    for slot, port in enumerate(layer.outputs, node.first_slot):
        is_read = any(
            reader.record.dims is not None and reader.record.precision is not None
            for output in node.outputs
            if output.slot == slot
            for reader in output.readers
        )
        yield from (spoil for spoil in of_port(node, port) if is_read or spoil.code == "R101")
        if port.precision in OTHER and ElementType.from_precision(port.precision.lower()) is None:
            yield of_precision(node, port, port.precision.lower(), "X107")
    if node.op_class is not None and layer.data_offset >= 0:
        for attribute in node.op_class.attributes.values():
            if (text := layer.attributes.get(attribute.spelling)) is not None and "&" not in text:
                yield from of_attribute(node, attribute, text)


def of_port(node: Node, port: Port) -> Iterator[Spoil]:
    """Another dim, one more, one less or one that goes on behind its number, and another precision."""
    source = node.model.document.source
    dims = list(DIM.finditer(source, port.offset, port.end))
    for dim in dims:
        yield Spoil(*dim.span(1), str(int(dim[1]) + 1).encode(), "R301")
        yield Spoil(*dim.span(1), dim[1] + b".0", "R101")
    if len(dims) > 1:  # a port without dims records nothing
        yield Spoil(*dims[-1].span(), b"", "R301")
    if dims:
        yield Spoil(dims[0].start(), dims[0].start(), b"<dim>3</dim>", "R301")
    if port.precision in OTHER and b"precision" in source[port.offset : port.end]:
        yield of_precision(node, port, OTHER[port.precision], "R302")


def of_precision(node: Node, port: Port, text: str, code: str) -> Spoil:
    """Another text in place of a port's precision."""
    document = node.model.document
    start = document.attribute_offset(port.offset, "precision") + len('precision="')
    assert port.precision is not None
    return Spoil(start, start + len(port.precision), text.encode(), code)


def of_attribute(node: Node, attribute: Attribute, text: str) -> Iterator[Spoil]:
    """The same value in a spelling that OpenVINO forgives."""
    offset = node.model.document.attribute_offset(node.layer.data_offset, attribute.spelling)
    start = offset + len(attribute.spelling) + len('="')
    end = start + len(text.encode())
    value, _ = attribute.read(text)
    for other, code in ((f"{text}.0", "R101"), (text.upper(), "R105"), (text.capitalize(), "R105")):
        try:
            if attribute.read(other) == (value, code):
                yield Spoil(start, end, other.encode(), code)
        except Malformed:
            pass
