"""Values that travel through element-wise operations into a shape: sizes of a tensor in, sizes of another out."""

from typing import Any

import pytest

import irshape
from irshape.shape.element_type import ElementType
from tests.support.ir import Net
from tests.support.rows import contains, differs

# type, version, element type, operands (the sizes of a tensor, or a list of constants), attributes, sizes
VALUES: list[tuple[str, str, str, list[Any], dict[str, Any], Any]] = [
    ("Add", "opset1", "i64", ["3..5,7", [4]], {}, "[7..9,11]"),
    ("Add", "opset1", "i32", ["3..,?", [4, 0]], {}, "[7..,?]"),
    ("Add", "opset1", "f32", ["3..5", [4.0]], {}, "[7..9]"),
    ("Subtract", "opset1", "i64", [[9], "3..5"], {}, "[4..6]"),
    ("Subtract", "opset1", "u8", [[2, 9], [3, 3]], {}, differs("[?,6]", "[255,6]")),
    ("Multiply", "opset1", "f32", ["10..20,0..2", [0.3]], {}, "[3..6,0]"),
    ("Multiply", "opset1", "f32", ["10..20", [-1.0]], {}, "V101"),
    ("Divide", "opset1", "f32", ["10..20", [3.0]], {}, "[3..6]"),
    ("Divide", "opset1", "f32", [[30.0], "0..5"], {}, "[6..]"),
    ("Convert", "opset1", "i64", [[2**63 - 1]], {"destination_type": "i32"}, differs("[2147483647]", "[?]")),
    ("Multiply", "opset1", "i64", ["3..5,?", [2]], {}, "[6..10,?]"),
    ("Multiply", "opset1", "u8", [[200], [2]], {}, "[?]"),
    ("Multiply", "opset1", "f32", [[3.0, 5.0], [0.5]], {}, "[1,2]"),
    ("Divide", "opset1", "i64", ["7..9,5", [2]], {}, "[3..4,2]"),
    ("Divide", "opset1", "i64", [[-7, 7], [-2, 2]], {}, "[3,3]"),
    ("Divide", "opset1", "i64", [[-7, -8], [-2, -3]], {"m_pythondiv": False}, "[3,2]"),
    ("Divide", "opset1", "i64", [[7], "0..3"], {"m_pythondiv": False}, "[2..7]"),
    ("Divide", "opset1", "f32", [[7.0], [2.0]], {}, "[3]"),
    ("Divide", "opset1", "i64", ["7..9", [0]], {}, "V106"),
    ("FloorMod", "opset1", "i64", [[7, 7], [3, 4]], {}, "[1,3]"),
    ("FloorMod", "opset1", "i64", ["3..5", [4]], {}, differs("[..3]", "[1..3]")),
    ("Mod", "opset1", "i64", ["7..11,?", [5]], {}, "[..4,..4]"),
    ("Mod", "opset1", "i32", [[-7, 7], [7, -4]], {}, "[0,3]"),
    ("Maximum", "opset1", "i64", ["3..5,?", [4]], {}, "[4..5,4..]"),
    ("Minimum", "opset1", "i64", ["3..5,?", [4]], {}, "[3..4,..4]"),
    ("Power", "opset1", "i64", ["3..5", [2]], {}, "[9..25]"),
    ("Power", "opset1", "i64", [[2, 1, 3], [10, -1, 0]], {}, "[1024,1,1]"),
    ("SquaredDifference", "opset1", "i64", [[2], [5]], {}, "[9]"),
    ("Abs", "opset1", "i64", [[-3, 3]], {}, "[3,3]"),
    ("Abs", "opset1", "i64", ["3..5,?"], {}, "[3..5,?]"),
    ("Negative", "opset1", "i64", [[-3]], {}, "[3]"),
    ("Sign", "opset1", "i64", [[5]], {}, "[1]"),
    ("Sign", "opset1", "i64", ["0..5"], {}, "[..1]"),
    ("Floor", "opset1", "f32", [[2.5]], {}, "[2]"),
    ("Floor", "opset1", "f32", ["2..5"], {}, "[2..5]"),
    ("Ceiling", "opset1", "f32", [[2.5]], {}, "[3]"),
    ("Round", "opset5", "f32", [[2.5, 3.5]], {}, "[2,4]"),
    ("Round", "opset5", "f32", [[2.5, 3.4]], {"mode": "half_away_from_zero"}, "[3,3]"),
    ("Sqrt", "opset1", "f32", [[9.0]], {}, "[3]"),
    ("Relu", "opset1", "i64", [[-3, 3]], {}, "[0,3]"),
    ("Clamp", "opset1", "i64", ["4..9,?"], {"min": 4.5, "max": 7.5}, "[5..7,5..7]"),
    ("Clamp", "opset1", "f32", [[9.0]], {"min": 4.5, "max": 7.5}, "[7]"),
    ("Equal", "opset1", "i64", ["1..2,5,1..9", [5]], {}, "[0,1,..1]"),
    ("NotEqual", "opset1", "i64", ["1..2,5,1..9", [5]], {}, "[1,0,..1]"),
    ("Less", "opset1", "i64", ["1..2,5,1..9", [5]], {}, "[1,0,..1]"),
    ("LessEqual", "opset1", "i64", ["1..2,5,1..9", [5]], {}, "[1,1,..1]"),
    ("Greater", "opset1", "f32", [[1.5, 5.5], [5.0]], {}, "[0,1]"),
    ("GreaterEqual", "opset1", "i64", ["1..2,5,1..9", [5]], {}, "[0,1,..1]"),
    ("LogicalAnd", "opset1", "boolean", [[0, 1, 1], [1, 0, 1]], {}, "[0,0,1]"),
    ("LogicalOr", "opset1", "boolean", [[0, 1, 0], [1, 0, 0]], {}, "[1,1,0]"),
    ("LogicalXor", "opset1", "boolean", [[0, 1, 1], [1, 0, 1]], {}, "[1,1,0]"),
    ("LogicalNot", "opset1", "i64", [[0, 7]], {}, "[1,0]"),
    ("BitwiseAnd", "opset13", "i64", [[12], [6]], {}, "[4]"),
    ("Convert", "opset1", "f32", [[2.9]], {"destination_type": "i32"}, "[2]"),
    ("Convert", "opset1", "i64", [[2049]], {"destination_type": "f16"}, "[2048]"),
    ("Convert", "opset1", "i64", [[300, 3]], {"destination_type": "u8"}, differs("[?,3]", "[44,3]")),
    ("Convert", "opset1", "i64", ["3..5,?"], {"destination_type": "f32"}, "[3..5,?]"),
    ("Convert", "opset1", "i64", ["3..3000"], {"destination_type": "f16"}, "[3..3000]"),
    ("Convert", "opset1", "i64", ["3..300,5"], {"destination_type": "i8"}, differs("[?,5]", "[3..44,5]")),
]


def net_of(type: str, version: str, element_type: str, operands: list[Any], attributes: dict[str, Any]) -> tuple[Net, int]:
    """The IR of a row, and the id of the layer that has the sizes."""
    net = Net()

    def converted(ref: Any, to: str) -> Any:
        return net.layer("Convert", [ref], [ElementType.BY_NAME[to].precision], destination_type=to)[0]

    refs = []
    for operand in operands:
        if isinstance(operand, str):
            sizes = net.layer("ShapeOf", [net.parameter(f"f32[{operand}]")], ["I64"], "opset3", output_type="i64")[0]
            refs.append(sizes if element_type == "i64" else converted(sizes, element_type))
        else:
            refs.append(net.const(operand, element_type))
    values = converted(net.layer(type, refs, ["I64"], version, **attributes)[0], "i64")
    limits = [net.const(value, "f32") for value in (0.0, 1.0)]
    random = net.layer("RandomUniform", [values, *limits], ["FP32"], "opset8", output_type="f32", global_seed=0, op_seed=0)[0]
    net.result(random)
    return net, random.layer


@pytest.mark.parametrize("row", VALUES, ids=lambda row: f"{row[0]} {row[2]} {row[3]}")
def test_values(row: tuple[Any, ...]) -> None:
    """The sizes are what the values say."""
    *question, expected = row
    net, layer = net_of(*question)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    codes = [diagnostic.code for diagnostic in inference.diagnostics if diagnostic.severity == "error"]
    ours = getattr(expected, "ours", expected)
    if ours.startswith("["):
        assert not codes, inference.diagnostics
        assert inference.layer(str(layer)).outputs[0].text == ours
    else:
        assert codes == [ours]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "question", [("Multiply", "opset1", "f64", ["4..8", [1.5]], {}, "[6..12]"), ("Add", "opset1", "u16", ["4..8", [3]], {}, "[7..11]")]
)
def test_openvino_takes_memory_for_values(question: tuple[Any, ...]) -> None:
    """Of types that an operation computes nothing of, the bounds are whatever the memory held: anything but the true ones."""
    import openvino

    *question, expected = question
    net, layer = net_of(*question)
    assert irshape.infer(net.xml.encode(), weights=net.bin).layer(str(layer)).outputs[0].text == expected
    try:
        shape = openvino.Core().read_model(net.xml.encode(), net.bin).outputs[0].get_partial_shape()
    except RuntimeError:
        return
    assert shape != openvino.PartialShape(expected)


@pytest.mark.oracle
@pytest.mark.parametrize("row", VALUES, ids=lambda row: f"{row[0]} {row[2]} {row[3]}")
def test_values_with_openvino(row: tuple[Any, ...]) -> None:
    """OpenVINO infers the same sizes or looser ones."""
    import openvino

    *question, expected = row
    net, _ = net_of(*question)
    theirs = getattr(expected, "openvino", expected)
    if not theirs.startswith("["):
        with pytest.raises(RuntimeError):
            openvino.Core().read_model(net.xml.encode(), net.bin)
        return
    shape = openvino.Core().read_model(net.xml.encode(), net.bin).outputs[0].get_partial_shape()
    assert contains(shape, openvino.PartialShape(theirs)), f"OpenVINO infers {shape}"
