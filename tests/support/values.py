"""Rows about values: sizes of a tensor that travel through an operation into the shape of another tensor.

    (inputs, expected)
    (inputs, attributes, expected)

`inputs` is one text, with blanks between the inputs. `[1,2]` and `f32=[1.5]` are Consts, as in the rows of shapes. `[3..5,7]` are the
sizes of a tensor of that shape, read by a ShapeOf; `f32=[3..5]` are converted to f32. `expected` lists the values of each output, or is the
code of the error. An interval says which values there may be.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

import irshape
from irshape.shape.element_type import ElementType
from tests.support.ir import Net, Ref
from tests.support.rows import Differs, Row, Rows, contains, is_code


def parts_of(row: Row) -> tuple[list[str], dict[str, Any], Any]:
    """The inputs, the attributes and the expectation of a row."""
    inputs, *attributes, expected = row
    return inputs.split(), attributes[0] if attributes else {}, expected


def converted(net: Net, ref: Ref, element_type: str) -> Ref:
    """A Convert to an element type."""
    return net.layer("Convert", [ref], [ElementType.BY_NAME[element_type].precision], destination_type=element_type)[0]


def input_of(net: Net, text: str) -> Ref:
    """One input: a Const, or the sizes of a Parameter."""
    element_type, equals, values = text.partition("=")
    element_type, values = (element_type, values) if equals else ("i64", text)
    try:
        return net.const(json.loads(values), element_type)
    except json.JSONDecodeError:
        [sizes] = net.layer("ShapeOf", [net.parameter(f"f32{values}")], ["I64"], "opset3", output_type="i64")
        return sizes if element_type == "i64" else converted(net, sizes, element_type)


def net_of(type: str, version: str, row: Row) -> tuple[Net, list[int]]:
    """The IR of a row, and the ids of the layers that take the values of an output as their shape."""
    inputs, attributes, expected = parts_of(row)
    ours = expected.ours if isinstance(expected, Differs) else expected
    net = Net()
    refs = [input_of(net, text) for text in inputs]
    shaped = []
    for output in net.layer(type, refs, ["I64"] * len(ours.split()), version, **attributes):
        values = converted(net, output, "i64")
        limits = [net.const(value, "f32") for value in (0.0, 1.0)]
        random = net.layer("RandomUniform", [values, *limits], ["FP32"], "opset8", output_type="f32", global_seed=0, op_seed=0)[0]
        net.result(random)
        shaped.append(random.layer)
    return net, shaped


def check_values(type: str, version: str, row: Row) -> None:
    """irshape must infer the values that the row lists."""
    expected = row[-1].ours if isinstance(row[-1], Differs) else row[-1]
    net, shaped = net_of(type, version, row)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    codes = [diagnostic.code for diagnostic in inference.diagnostics if diagnostic.severity == "error"]
    if is_code(expected.split()):
        assert codes == [expected], inference.diagnostics
        return
    assert not codes, inference.diagnostics
    inferred = " ".join(inference.layer(str(layer)).outputs[0].text for layer in shaped)
    assert inferred == expected, f"irshape infers {inferred}"


def check_values_with_openvino(type: str, version: str, row: Row) -> None:
    """OpenVINO infers the same values or looser bounds of them, and refuses a row of an error."""
    import openvino

    expected = row[-1].openvino if isinstance(row[-1], Differs) else row[-1]
    net, _ = net_of(type, version, row)
    if is_code(expected.split()):
        with pytest.raises(RuntimeError):
            openvino.Core().read_model(net.xml.encode(), net.bin)
        return
    outputs = openvino.Core().read_model(net.xml.encode(), net.bin).outputs
    for output, values in zip(outputs, expected.split(), strict=True):
        shape = output.get_partial_shape()
        assert contains(shape, openvino.PartialShape(values)), f"OpenVINO infers {shape}"


def value_tests(rows: Rows) -> tuple[Callable[..., None], Callable[..., None]]:
    """The two tests of a table: irshape follows the values of each row, and OpenVINO agrees."""
    parameters = [pytest.param(*key, row, id=f"{key[0]}-{key[1]}-{row[0]}") for key, own in rows.items() for row in own]

    @pytest.mark.parametrize(("type", "version", "row"), parameters)
    def test_values(type: str, version: str, row: Row) -> None:
        check_values(type, version, row)

    @pytest.mark.oracle
    @pytest.mark.parametrize(("type", "version", "row"), parameters)
    def test_values_with_openvino(type: str, version: str, row: Row) -> None:
        check_values_with_openvino(type, version, row)

    return test_values, test_values_with_openvino
