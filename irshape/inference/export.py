"""An inference in forms for other programs: the facts of its ports, an lxml tree, the shapes of an `openvino.Model`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from irshape.inference.annotation import input_annotations
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.model.export import Facts
from irshape.model.model import OutputPort
from irshape.report.diagnostic import NOTE
from irshape.report.text import counted, verdict
from irshape.shape.dim import Dim
from irshape.shape.shape import format_shape

if TYPE_CHECKING:
    from typing import TypeVar

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
    """Tables for a notebook: the shapes of the layers, those with faults first, and the conditions."""
    from irshape.report.notebook import MOST, table, titled

    facts, faults = port_facts(inference), faulty(inference)
    layers = [node for graph, _ in inference.graphs for node in graph if node.key in faults or node.type != "Const"]
    shown = sorted(layers, key=lambda node: node.key not in faults)[:MOST]
    chosen = [node for node in layers if node in set(shown)]
    rows = []
    for node in chosen:
        ports = [facts(port) for port in node.outputs] or [facts(source) for port in node.inputs if (source := port.source) is not None]
        shapes = ", ".join(f"{element_type}{formula}" for element_type, _, formula in ports)
        rows.append((node.key, node.name, node.type, shapes, *([faults.get(node.key, "")] if faults else [])))
    head = ("id", "layer", "type", "shapes", *(["faults"] if faults else []))
    shapes_table = table(head, rows, [node.key in faults for node in chosen], len(layers) - len(chosen))
    guards = [(str(guard.requirement), guard._node.name, guard.requirement.message) for guard in inference.guards]
    conditions = table(("valid only if", "layer", "reason"), guards[:MOST], (), max(len(guards) - MOST, 0)) if guards else ""
    counts = Counter(diagnostic.severity for diagnostic in inference.diagnostics)
    about = f"{counted(len(inference.model), 'layer')}, {verdict(counts)}"
    return titled(inference.model.name, about, shapes_table, conditions)


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
    shapes = {
        name: (format_shape(port.shape), [str(size) if isinstance(size, Dim) else "" for size in port.shape or ()])
        for name, port in facts.items()
    }
    reading = inference.reading
    try:
        reshape(model, shapes, input_annotations(inference.graphs[0], reading.graphs[0], reading.symbols, inference.format))
    except ValueError as error:
        raise InputError(str(error)) from None
    return model
