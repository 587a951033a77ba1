"""Operations that scatter updates."""

import pytest

import irshape
from tests.support.ir import Net
from tests.support.rows import Rows, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("ScatterUpdate", "opset3"): [
        ("static", "f32[5,6] i32[2,3] f32[5,2,3] 1", "f32[5,6]"),
        ("bounds", "f32[3..8,6] i32[2] f32[5..9,2] 1", "f32[5..8,6]"),
        ("axis not constant", "f32[5,6] i32[2] f32[9,9] i64[1]", "f32[5,6]"),
        ("unranked", "f32[...] i32[2] f32[2] 0", "f32[...]"),
        ("updates differ", "f32[5,6] i32[2] f32[5,3] 1", "S201"),
        ("rank of updates", "f32[5,6] i32[2] f32[5] 1", "S102"),
        ("packed axis", "f32[5,6] i32[2] f32[5,2] u1=1", "f32[5,6]"),
        ("packed axis from the end", "f32[5,6] i32[2] f32[5,2] i4=-1", "f32[5,6]"),
        ("packed axis beyond the rank", "f32[5,6] i32[2] f32[5,2] u2=2", "V102"),
        ("axis", "f32[5,6] i32[2] f32[5,2] 2", "V102"),
        ("types differ", "f32[5,6] i32[2] f16[5,2] 1", "T102"),
        ("float indices", "f32[5,6] f32[2] f32[5,2] 1", "T101"),
    ],
    ("ScatterElementsUpdate", "opset3"): [
        ("static", "f32[5,6] i32[2,3] f32[2,3] 1", "f32[5,6]"),
        ("bounds", "f32[5..7,?] i32[2..4,3] f32[3..9,?] 1", "f32[5..7,?]"),
        ("axis not constant", "f32[5,6] i32[2,3] f32[2,3] i64[]", "f32[5,6]"),
        ("unranked", "f32[...] i32[2,3] f32[2,3] 1", "f32[...]"),
        ("updates differ", "f32[5,6] i32[2,3] f32[2,4] 1", "S201"),
        ("ranks differ", "f32[5,6] i32[2] f32[2] 1", "S102"),
        ("axis", "f32[5,6] i32[2,3] f32[2,3] 2", "V102"),
        ("several axes", "f32[5,6] i32[2,3] f32[2,3] [1,7]", "f32[5,6]"),
        ("axes of unknown number", "f32[5,6] i32[2,3] f32[2,3] i64[?]", "f32[5,6]"),
        ("axes of rank 2", "f32[5,6] i32[2,3] f32[2,3] [[1]]", "S101"),
        ("types differ", "f32[5] i32[2] i32[2] 0", "T102"),
        ("scalar", "f32[] i64[] f32[] -1", "f32[]"),
    ],
    ("ScatterElementsUpdate", "opset12"): [
        ("sum", "f32[5,6] i32[2,3] f32[2,3] 1", {"reduction": "sum", "use_init_val": False}, "f32[5,6]"),
        ("unknown reduction", "f32[5,6] i32[2,3] f32[2,3] 1", {"reduction": "all"}, "A103"),
    ],
    ("ScatterNDUpdate", "opset4"): [
        ("static", "f32[4,5,6] i32[3,2] f32[3,6]", "f32[4,5,6]"),
        ("bounds", "f32[4,5..8] i32[3,1] f32[3,?]", "f32[4,5..8]"),
        ("unranked", "f32[...] i32[3,2] f32[3,6]", "f32[...]"),
        ("length of tuples not known", "f32[4,5] i32[3,?] f32[3]", "f32[4,5]"),
        ("length of tuples not known, no length fits", "f32[4,5] i32[3,?] f32[7,8,9,3]", "f32[4,5]"),
        ("length of tuples not known, updates differ", "f32[4,5] i32[3,?] f32[7]", "f32[4,5]"),
        ("tuples perhaps too long", "f32[4] i32[3,2..5] f32[3]", "f32[4]"),
        ("one element", "f32[4] i32[1] f32[7]", "f32[4]"),
        ("one tuple of a length not known", "f32[4,5] i32[?] f32[7]", "f32[4,5]"),
        ("tuples too long", "f32[4] i32[3,2] f32[3]", "S101"),
        ("updates differ", "f32[4,5] i32[3,1] f32[3,4]", "S201"),
        ("rank of updates", "f32[4,5] i32[3,1] f32[3]", "S102"),
        ("types differ", "f32[4] i32[3,1] i32[3]", "T102"),
        ("type of indices", "f32[4] i16[3,1] f32[3]", "T101"),
    ],
    ("ScatterNDUpdate", "opset15"): [
        ("sum", "f32[4,5,6] i32[3,2] f32[3,6]", {"reduction": "sum"}, "f32[4,5,6]"),
        ("unknown reduction", "f32[4] i32[3,1] f32[3]", {"reduction": "mean"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("ScatterUpdate", "opset3"): [
        ("[2..4,5,?] [2,0] [8,9] 0", "[9,5,8]"),
        ("[2..4,5,?] [3] [8] 0", "V101"),
        ("[2..4,5,?] [-1] [8] 0", "V101"),
    ],
    ("ScatterElementsUpdate", "opset3"): [
        ("[2..4,5,?] [-1] [8] 0", "[2..4,5,8]"),
        ("[2..4,5,?] [3] [8] 0", "V101"),
        ("[2..4,5,?] [-4] [8] 0", "V101"),
    ],
    ("ScatterNDUpdate", "opset4"): [
        ("[2..4,5,?] [[1],[2]] [8,9]", "[2..4,8,9]"),
        ("[2..4,5,?] [[3]] [8]", "V101"),
    ],
}

test_values, test_values_with_openvino = value_tests(VALUES)


@pytest.mark.parametrize(("inputs", "guards", "codes"), [
    ("f32[4,5] i32[3,?] f32[3]", ["d0 == 2"], []),
    ("f32[4,5] i32[?,?] f32[7,5]", ["d1 == 1", "d0 == 7"], []),
    ("f32[4,5] i32[3,?] f32[7]", ["d0 == 2"], ["R401"]),
    ("f32[4,5] i32[3,?] f32[7,8,9,3]", ["d0 <= 2"], ["R401"]),
    ("f32[4] i32[3,2..5] f32[3]", [], ["R401", "R401"]),
    ("f32[4,5] i32[3,?] f32[...]", ["d0 <= 2"], []),
])  # fmt: skip
def test_updates_tell_how_many_indices_a_tuple_has(inputs: str, guards: list[str], codes: list[str]) -> None:
    net = Net()
    net.result(net.layer("ScatterNDUpdate", [net.parameter(text) for text in inputs.split()], ["FP32"], "opset4")[0])
    inference = irshape.infer(net.xml.encode(), weights=net.bin, symbols_as="raw")
    assert [str(guard.requirement) for guard in inference.guards] == guards
    assert [one.code for one in inference.diagnostics] == codes
