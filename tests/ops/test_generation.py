"""Operations that generate tensors."""

import pytest

import irshape
from irshape.api.inference import InferredPort
from tests.support.ir import Net
from tests.support.oracle import core
from tests.support.rows import Rows, differs, row_tests

ROWS: Rows = {
    ("Range", "opset1"): [
        ("static", "0 10 3", "i64[4]"),
        ("downwards", "10 0 -3", "i64[4]"),
        ("nothing", "10 0 3", "i64[0]"),
        ("float", "f32=0.0 f32=1.0 f32=0.3", "f32[4]"),
        ("stop not constant", "0 i64[] 1", "i64[?]"),
        ("unranked", "i64[...] 10 1", "i64[?]"),
        ("types differ", "0 i32=10 1", "T102"),
        ("boolean", "boolean[] boolean[] boolean[]", "T101"),
        ("list", "[0] 10 1", "S101"),
        ("step of zero", "0 10 0", "V101"),
        ("infinite", "f32=0.0 f32=Infinity f32=1.0", "V101"),
    ],
    ("Range", "opset4"): [
        ("static", "0 i32=10 3", {"output_type": "i64"}, "i64[4]"),
        ("cut to integers", "f32=1.5 f32=10.5 f32=1.5", {"output_type": "i64"}, "i64[9]"),
        ("cut to no step", "0 10 f32=0.5", {"output_type": "i64"}, "i64[0]"),
        ("not cut", "0 10 f32=0.5", {"output_type": "f32"}, "f32[20]"),
        ("boolean", "0 10 3", {"output_type": "boolean"}, "A104"),
        ("beyond a double", "0 9007199254740993 1", {"output_type": "i64"}, differs("i64[9007199254740993]", "i64[0]")),
    ],
    ("Eye", "opset9"): [
        ("static", "3 4 0", {"output_type": "f32"}, "f32[3,4]"),
        ("lists", "[3] [4] [0]", {"output_type": "f32"}, "f32[3,4]"),
        ("batch", "3 4 0 [2,5]", {"output_type": "f32"}, "f32[2,5,3,4]"),
        ("rows not constant", "i64[1] 4 0 i64[2]", {"output_type": "f32"}, "f32[?,?,?,4]"),
        ("batch not known", "3 4 0 i64[?]", {"output_type": "f32"}, "f32[...]"),
        ("unranked", "i64[...] 4 i64[...]", {"output_type": "f32"}, "f32[?,4]"),
        ("negative", "-3 4 0", {"output_type": "f32"}, "V101"),
        ("float rows", "f32=3.0 4 0", {"output_type": "f32"}, "T101"),
        ("two rows", "[3,1] 4 0", {"output_type": "f32"}, "V103"),
        ("rows of rank 2", "i64[1,1] 4 0", {"output_type": "f32"}, "S101"),
        ("batch of rank 0", "3 4 0 2", {"output_type": "f32"}, "S101"),
        ("rank 2, not static", "i64[?,?] 4 0", {"output_type": "f32"}, "f32[?,4]"),
    ],
    ("RandomUniform", "opset8"): [
        ("static", "[2,3] f32=0.0 f32=1.0", {"output_type": "f32"}, "f32[2,3]"),
        ("open", "[-1,3] f32=0.0 f32=[1.0]", {"output_type": "f32"}, "f32[?,3]"),
        ("shape not constant", "i32[3] f32[] f32[]", {"output_type": "f32"}, "f32[?,?,?]"),
        ("rank not known", "i64[1..3] f32[] f32[]", {"output_type": "f32"}, differs("f32[...]", "f32[?,?,?]")),
        ("unranked", "i64[...] f32[...] f32[...]", {"output_type": "f32"}, "f32[...]"),
        ("type of min_val", "[2] 0 f32=1.0", {"output_type": "f32"}, "T102"),
        ("type", "[2] u8[] u8[]", {"output_type": "u8"}, "A104"),
        ("empty range", "[2] 1 1", {"output_type": "i64"}, "V101"),
        ("two values", "[2] f32[2] f32[]", {"output_type": "f32"}, "V103"),
        ("shape of rank 0", "2 f32[] f32[]", {"output_type": "f32"}, "S101"),
        ("float shape", "f32=[2.0] f32[] f32[]", {"output_type": "f32"}, "T101"),
    ],
    ("Multinomial", "opset13"): [
        ("static", "f32[2,5] 3", {"convert_type": "i64"}, "i64[2,3]"),
        ("bounds", "f16[2..4,?] [3]", {"convert_type": "i32"}, "i32[2..4,3]"),
        ("samples not constant", "f32[2,5] i64[]", {"convert_type": "i64"}, "i64[2,?]"),
        ("unranked", "f32[...] 3", {"convert_type": "i64"}, "i64[...]"),
        ("integers", "i64[2,5] 3", {"convert_type": "i64"}, "T101"),
        ("rank", "f32[5] 3", {"convert_type": "i64"}, "S101"),
        ("two numbers of samples", "f32[2,5] [3,4]", {"convert_type": "i64"}, "V103"),
        ("unranked, several numbers", "f32[...] [3,4]", {"convert_type": "i64"}, "V103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)


@pytest.mark.parametrize("element_type", ["f32", "i64"])
@pytest.mark.parametrize(
    ("start", "stop", "step", "formula"),
    [
        ("0.0", "_n", "1.0", "N"),
        ("1.0", "_n", "1.0", "max(N - 1, 0)"),
        ("_n", "0.0", "-1.0", "N"),
        ("0.0", "_n", "2.0", "(N + 1)//2"),
        ("0.5", "_n", "1.0", "N"),
        ("0.0", "_n", "0.5", "2*N"),
        ("0.25", "_n", "1.5", "N - N//3"),
        ("0.0", "_n", "0.1", None),
    ],
)
def test_reals_count_to_a_size(start: str, stop: str, step: str, formula: str | None, element_type: str) -> None:
    """Detectors count to a size in f32 to make grids. OpenVINO cuts fractions if the output holds integers; then no formula is exact."""
    ends = ", ".join(one if one == "_n" else f"f32={one}" for one in (start, stop, step))
    net = Net(f"""
        x: f32[?] -> ShapeOf-3(output_type=i64) -> Squeeze -> _n: Convert(destination_type=f32)
        Range-4({ends}, output_type={element_type}) -> Result
    """)
    has_fraction = any(float(one) % 1 for one in (start, stop, step) if one != "_n")
    if formula is None or (has_fraction and element_type == "i64"):
        formula = "n_range"
    assert counted(net, "N").formula == f"[{formula}]"
    model = core().read_model(net.xml.encode(), net.bin)
    for number in (0, 1, 2, 7, 100):
        model.reshape([number])
        shape = tuple(model.outputs[0].get_partial_shape().to_shape())
        assert counted(net, number).shape == shape
        assert formula == "n_range" or shape == (eval(formula, {"N": number, "max": max}),)


@pytest.mark.parametrize(
    ("ends", "formula"),
    [
        ("0, Multiply(n, n), n", "N"),
        ("Multiply(n, n), 0, n", "0"),
        ("Multiply(n, n), 0, Subtract(0, n)", "N"),
        ("0, Add(Multiply(n, n), 1), n", "n_range"),
    ],
)
def test_a_step_that_is_a_size_divides_what_it_counts(ends: str, formula: str) -> None:
    """torch writes the offsets of an EmbeddingBag as `arange(0, B*L, L)`."""
    net = Net(f"x: f32[?] -> ShapeOf-3(output_type=i64) -> n: Squeeze\nRange-4({ends}, output_type=i64) -> Result")
    assert counted(net, "N").formula == f"[{formula}]"
    model = core().read_model(net.xml.encode(), net.bin)
    for number in (1, 2, 7):
        model.reshape([number])
        shape = tuple(model.outputs[0].get_partial_shape().to_shape())
        assert counted(net, number).shape == shape
        assert formula == "n_range" or shape == (eval(formula, {"N": number}),)


def counted(net: Net, size: int | str) -> InferredPort:
    """The output of the Range in a net whose input has this size."""
    *_, numbers, _ = irshape.infer(net.xml.encode(), weights=net.bin, inputs={"x": f"[{size}]"})
    return numbers.outputs[0]
