"""Examples of the specification: ours in every form that occurs, and a folder of the published ones."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy
import pytest

from irshape import verbs
from irshape.model.model import Node
from irshape.shape.dim import product
from irshape.shape.element_type import ElementType
from irshape.xml.document import Port
from tests.support.ir import Const, Net, flatten, text
from tests.support.oracle import EXTENDED, core
from tests.support.places import DATA
from tests.support.rows import attributes_of, inputs_of, is_refused, outputs_of, tables
from tools.specification_examples import LARGEST, ROOT, Example, examine, examples, faults, page, page_text

OURS = sorted((DATA / "examples").glob("*.xml"))
FOLDER = os.environ.get("IRSHAPE_SPECIFICATION")
published = pytest.mark.skipif(not FOLDER, reason="IRSHAPE_SPECIFICATION names no folder")


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_an_example_of_ours_is_inferred_as_recorded(path: Path) -> None:
    result = examine(path.read_bytes())
    assert result.faults == result.differences == []
    assert result.compared


# Examples of ours after a change, and what is said of them.
CHANGES = [
    ("scalar", '<port id="2">', '<port id="2"><dim>1</dim>', "line 9 records [1], inferred is []"),
    ("value_beside_dim", "[2, 0, 1]", "[2, 0]", "line 13 records [4,2,3], inferred is [2..4,2..4,2..4]"),
    ("value_after_port", "axis: -1", "axis: 3", "line 6: axis must be in [-3, 2], got 3"),
    ("value_of_reals", "axes {2, 3}", "axes {2.0, 3.0}", "line 13: axes must not hold real numbers"),
    ("version_by_outputs", "I32", "I64", "line 9 records I64, inferred is I32"),
    ("value_without_dims", "FP16", "F16", "line 10: precision='F16' of <port> is not an element type"),
    ("several_layers", 'num_splits="2"', 'num_splits="5"', "line 15: axis 1 must be a multiple of num_splits"),
    ("version_stated", "opset1", "opset5", "line 4: data must have at least rank 2, got rank 1"),
    ("bodies", 'shape="1,5"', 'shape="2,5"', "line 25: the inputs must broadcast on axis 1: 3 and 2"),
    ("bodies", "<dim>6</dim>", "<dim>7</dim>", "line 7 records [6,3,5], inferred is [7,3,5]"),
    ("ellipsis", "</input>", "", "line 10: the <input> opened on line 2 is never closed"),
    ("reused_port_ids", "</dim></port>\n        <port", "</dim></port></input><input><port", "line 3: the layer has a second <input>"),
]


@pytest.mark.parametrize(("name", "old", "new", "said"), CHANGES, ids=[f"{name}-{new}" for name, _, new, _ in CHANGES])
def test_what_is_wrong_with_an_example_is_said(name: str, old: str, new: str, said: str) -> None:
    source = (DATA / "examples" / f"{name}.xml").read_text(encoding="utf-8")
    assert old in source
    result = examine(source.replace(old, new, 1).encode())
    assert any(text.startswith(said) for text in result.faults + result.differences), result


@cache
def published_examples() -> list[Example]:
    assert FOLDER is not None
    return list(examples(Path(FOLDER)))


@published
def test_every_published_example_is_equal_or_remarked_on() -> None:
    assert faults(published_examples()) == []
    assert page_text(published_examples()) == (ROOT / "docs" / "specification-examples.md").read_text(encoding="utf-8")


# What an input that states no element type is given: the first that the operation takes.
TYPES = [ElementType.f32, ElementType.i64, ElementType.i32, ElementType.u8, ElementType.boolean]
# Operations that are no model by themselves.
ENDS = {"Assign", "Const", "Constant", "Parameter", "ReadValue", "Result"}


def values_of(port: Port) -> tuple[Any, ...] | None:
    """What an example says an input holds; an empty one needs no saying."""
    return () if port.dims is not None and product(port.dims) == 0 else port.value


def type_of(port: Port, types: frozenset[ElementType], *, reads_value: bool) -> ElementType:
    """The element type of an input: the stated one, or one that the operation takes and that holds the values."""
    if port.precision is not None and (stated := ElementType.from_precision(port.precision)) is not None:
        return stated
    values = values_of(port)
    is_integer = reads_value if values is None else not any(isinstance(value, float) for value in values)
    return next(type for type in [*TYPES[is_integer:], *TYPES] if type in types)


def net_of(node: Node) -> Net:
    """An IR of one layer of an example: inputs with values are constants, others parameters."""
    net, layer, op = Net(), node.layer, node.op_class
    assert op is not None
    shared: dict[str, ElementType] = {}
    refs = []
    for index, port in enumerate(layer.inputs):
        declared = op.input_at(index, len(layer.inputs))
        assert declared is not None
        type = shared.setdefault(declared.like or declared.name, type_of(port, declared.types, reads_value=declared.value))
        dims, values = port.dims if port.dims is not None else port.value_shape or (), values_of(port)
        if values is None:
            refs.append(net.parameter(f"{type}[{','.join('?' if dim < 0 else str(dim) for dim in dims)}]"))
        else:
            refs.append(net.const(numpy.array(values, float if type.is_real else int).reshape(dims).tolist(), type.name))
    attributes = {name.replace("-", "__"): value for name, value in layer.attributes.items()}
    for ref in net.layer(layer.type, refs, ["FP32"] * len(layer.outputs), op.VERSION, **attributes):
        net.result(ref)
    return net


def differing(source: bytes, opset: str | None = None, *, is_largest: bool = False) -> Iterator[str]:
    """The layers of an example of whose outputs OpenVINO says otherwise than is recorded."""
    model = verbs.read(source, opset=opset)
    if any(node.op_class is None for node in model.nodes):
        model = verbs.read(source)
    for node in model.nodes:
        if node.type in ENDS or node.layer.bodies is not None or not node.layer.outputs:
            continue
        net = net_of(node)
        read = core().read_model(net.xml.encode(), net.bin)
        shapes = [result.input(0).get_partial_shape() for result in read.get_results()]
        sizes = [
            tuple(dim.get_max_length() if is_largest else dim.get_length() if dim.is_static else -1 for dim in shape) for shape in shapes
        ]
        recorded = [port.dims or () for port in node.layer.outputs]
        if sizes != recorded:
            yield f"{node.type} records {recorded}, OpenVINO infers {shapes}"


@pytest.mark.oracle
@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_openvino_infers_what_an_example_of_ours_records(path: Path) -> None:
    assert list(differing(path.read_bytes())) == []


@published
@pytest.mark.oracle
def test_openvino_infers_what_the_published_examples_record() -> None:
    """Those that are wrong, once they are mended."""
    found = {
        example.name: list(differing(example.source, f"opset{page(example.name)[1]}", is_largest=example.kind == LARGEST))
        for example in published_examples()
    }
    assert {name: said for name, said in found.items() if said} == {}


def static_rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The rows of the operations whose inputs are static, as examples that state no element type, and the shapes of their outputs.

    The operations of extensions have no specification with examples.
    """
    for file, type, version, rows in tables():
        if version in EXTENDED:
            continue
        for row in rows:
            ports, outputs = list(map(example_port, inputs_of(row))), outputs_of(row)
            if is_refused(row) or None in ports:
                continue
            attributes = {key: value for key, value in attributes_of(row).items() if value is not None}
            data = " ".join(f"{key.replace('__', '-')}={quoteattr(text(value))}" for key, value in attributes.items())
            given = "".join(f'<port id="{number}">{port}</port>' for number, port in enumerate(ports))
            computed = "".join(f'<port id="{len(ports) + number}"/>' for number in range(len(outputs)))
            layer = f'<layer ... type="{type}" version="{version}"><data {data}/><input>{given}</input><output>{computed}</output></layer>'
            yield f"{file}: {type} {version}: {row[0]}", layer, tuple(output[output.index("[") :] for output in outputs)


def example_port(one: str | Const) -> str | None:
    """The dims of an input and the comment that gives its values; None where a size is not known."""
    if isinstance(one, str):
        dims = [dim for dim in one.partition("[")[2].removesuffix("]").split(",") if dim]
        return "".join(f"<dim>{dim}</dim>" for dim in dims) if all(map(str.isdigit, dims)) else None
    shape, values = flatten(one.values)
    said = ", ".join(str(value).lower() for value in values)
    return "".join(f"<dim>{dim}</dim>" for dim in shape) + f"<!-- {f'[{said}]' if shape else f'value: {said}'} -->"


def test_every_static_row_is_inferred_without_its_types() -> None:
    """What an example leaves out must not matter to any rule."""
    differing = []
    for name, layer, shapes in static_rows():
        inference = verbs.infer(layer.encode())
        if not inference.ok or tuple(output.text for output in inference.layer(0).outputs) != shapes:
            differing.append(f"{name}: {inference.diagnostics or inference.layer(0)}")
    assert differing == []
