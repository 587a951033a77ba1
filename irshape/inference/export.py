"""An inference in forms for other programs: the facts of its ports, an lxml tree, the shapes of an `openvino.Model`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from irshape.inference.annotation import input_annotations
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.model.model import OutputPort
from irshape.model.public import Facts
from irshape.report.diagnostic import NOTE
from irshape.report.text import counted, verdict
from irshape.shape.dim import Dim
from irshape.shape.shape import format_shape

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

    from irshape.xml.openvino_model import OpenVINOModel

    AnyModel = TypeVar("AnyModel", bound=OpenVINOModel)


def port_facts(inference: Inference) -> Facts:
    """A function that gives the element type, the shape and the formula of a port."""
    ports, formulas = inference.ports, inference.formulas

    def facts(port: OutputPort) -> tuple[str, str, str]:
        key = f"{port.node.key}:{port.id}"
        element_type, shape = ports[key]
        return element_type, shape, formulas.get(key, shape)

    return facts


def faulty(inference: Inference) -> dict[str, str]:
    """The messages of the errors and warnings, by the key of the layer."""
    keys = {(graph.path, str(node.id)): node.key for graph, _ in inference.graphs for node in graph.nodes}
    found: dict[str, str] = {}
    for one in inference.diagnostics:
        key = keys.get((one.where.path, one.where.layer_id or ""))
        if key is not None and one.severity != NOTE:
            found[key] = f"{found[key]}; {one.code} {one.message}" if key in found else f"{one.code} {one.message}"
    return found


def html(inference: Inference) -> str:
    """The text for a notebook: the shapes of the layers, those with faults first, and the conditions."""
    from irshape.report import notebook
    from irshape.report.section import Column, Span, Table, bold, paragraph

    facts, faults = port_facts(inference), faulty(inference)
    layers = [node for graph, _ in inference.graphs for node in graph if node.key in faults or node.type != "Const"]
    shown = set(sorted(layers, key=lambda node: node.key not in faults)[: notebook.MOST])
    rows = []
    for node in filter(shown.__contains__, layers):
        ports = [facts(port) for port in node.outputs] or [facts(source) for port in node.inputs if (source := port.source) is not None]
        shapes = ", ".join(f"{element_type}{formula}" for element_type, _, formula in ports)
        cells = (node.key, node.name, node.type, shapes, *([faults.get(node.key, "")] if faults else []))
        rows.append([Span(cell, "error") for cell in cells] if node.key in faults else cells)
    head = ("id", "layer", "type", "shapes", *(["faults"] if faults else []))
    about = f" {counted(inference.model.layer_count, 'layer')}, {verdict(Counter(one.severity for one in inference.diagnostics))}"
    table = Table([Column()] * len(head), rows, head, len(layers) - len(rows))
    guards = [(str(guard.requirement), guard._node.name, guard.requirement.message) for guard in inference.guards]
    conditions = Table([Column()] * 3, guards, ("valid only if", "layer", "reason"))
    return notebook.html([paragraph((bold(inference.model.name), about), table), paragraph(conditions)])


def tree(inference: Inference) -> _ElementTree:
    """The annotated file as an lxml tree. Raises `ValueError` if the file could not be read completely."""
    document = inference.document
    written = inference.xml()
    if document.text is not document.source:  # the written file has the parts that are no XML, too
        from irshape.xml.reader import read

        written = read(written).text
    return document.tree(written)


def apply_to(inference: Inference, model: AnyModel) -> AnyModel:
    """Give an `openvino.Model` the shapes that the inputs have here, and return it. Raises `InputError`."""
    from irshape.xml.openvino_model import reshape

    if inference.rewriting is not None:
        raise InputError("the model was rewritten; write the inference to a file, and read that with OpenVINO")
    facts = {node.name: port for node in inference.model.parameters for port in inference.view(node).outputs[:1]}
    shapes = {}
    for name, port in facts.items():
        shapes[name] = format_shape(port.shape), [str(size) if isinstance(size, Dim) else "" for size in port.shape or ()]
    reading = inference.reading
    try:
        reshape(model, shapes, input_annotations(inference.graphs[0], reading.graphs[0], reading.symbols, inference.format))
    except ValueError as error:
        raise InputError(str(error)) from None
    return model
