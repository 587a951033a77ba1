"""Concat, Split and VariadicSplit."""

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core
from tests.support.rows import Rows, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("Concat", "opset1"): [
        ("static", "f32[2,3] f32[2,4]", {"axis": 1}, "f32[2,7]"),
        ("bounds", "f32[2..4,3..5] f32[3..8,4]", {"axis": -1}, "f32[3..4,7..9]"),
        ("one unranked", "f32[2,3] f32[...]", {"axis": 0}, "f32[2..,3]"),
        ("unranked", "f32[...] f32[...]", {"axis": 7}, "f32[...]"),
        ("type of one is dynamic", "dynamic[2] f32[3]", {"axis": 0}, "f32[5]"),
        ("other axis differs", "f32[2,3] f32[3,4]", {"axis": 1}, "S201"),
        ("ranks differ", "f32[2,3] f32[2]", {"axis": 0}, "S102"),
        ("axis", "f32[2,3] f32[2,3]", {"axis": 2}, "V102"),
        ("types differ", "f32[2] f16[2]", {"axis": 0}, "T102"),
    ],
    ("Split", "opset1"): [
        ("static", "f32[6,2] 0", {"num_splits": 3}, "f32[2,2] f32[2,2] f32[2,2]"),
        ("bounds", "f32[5..8,2] 0", {"num_splits": 3}, "f32[2,2]"),
        ("axis not constant", "f32[6,5..8] i64[]", {"num_splits": 2}, "f32[..6,..8] f32[..6,..8]"),
        ("unranked", "f32[...] 0", {"num_splits": 2}, "f32[...] f32[...]"),
        ("remainder", "f32[7,2] 0", {"num_splits": 3}, "S204"),
        ("axis", "f32[6,2] 2", {"num_splits": 3}, "V102"),
        ("axis in a list", "f32[6,2] [0]", {"num_splits": 3}, "S101"),
        ("float axis", "f32[6,2] f32=0.0", {"num_splits": 3}, "T101"),
        ("no parts", "f32[6,2] 0", {"num_splits": 0}, "A104"),
        ("more parts than the bounds allow", "f32[..2,2] 0", {"num_splits": 3}, "S206"),
        ("as many parts as the bounds allow", "f32[..3,2] 0", {"num_splits": 3}, "f32[..1,2]"),
        ("attribute missing", "f32[6,2] 0", "A101"),
    ],
    ("VariadicSplit", "opset1"): [
        ("static", "f32[6,2] 0 [2,4]", "f32[2,2] f32[4,2]"),
        ("rest", "f32[6,2] [-2] [2,-1]", "f32[2,2] f32[4,2]"),
        ("rest of bounds", "f32[3..6,2] 0 [2,-1]", "f32[2,2] f32[1..4,2]"),
        ("float axis", "f32[6,2] f32=1.5 [1,1]", "f32[6,1] f32[6,1]"),
        ("lengths not constant", "f32[6,2] 0 i64[2]", "f32[..6,2] f32[..6,2]"),
        ("axis not constant", "f32[6,2] i64[] [2,4]", "f32[..6,..2] f32[..6,..2]"),
        ("unranked", "f32[...] 0 [2,4]", "f32[...] f32[...]"),
        ("number of parts not known", "f32[6,2] 0 i64[?]", "dynamic[...]"),
        ("sum", "f32[6,2] 0 [2,3]", "S201"),
        ("two rests", "f32[6,2] 0 [-1,-1]", "V101"),
        ("negative length", "f32[6,2] 0 [8,-2]", "V101"),
        ("axis", "f32[6,2] 2 [2,4]", "V102"),
        ("two axes", "f32[6,2] [0,1] [2,4]", "V103"),
        ("lengths of rank 2", "f32[6,2] 0 [[2,4]]", "S101"),
        ("boolean axis", "f32[6,2] boolean=false [2,4]", "T101"),
        ("no lengths", "f32[4,6] 0 i32=[]", "S201"),
        ("no lengths, not static", "f32[2..4,6] 0 i32=[]", "dynamic[...]"),
        ("no lengths, axis outside", "f32[4,6] 5 i32[0]", "V102"),
        ("number of lengths not known, axis outside", "f32[4,6] 5 i32[?]", "dynamic[...]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Concat", "opset1"): [("[7] [2..4,5,?]", {"axis": 0}, "[7,2..4,5,?]")],
    ("Split", "opset1"): [("[2..4,5,?] 0", {"num_splits": 3}, "[2..4] [5] [?]")],
    ("VariadicSplit", "opset1"): [
        ("[2..4,5,?] 0 [1,-1]", "[2..4] [5,?]"),
        ("[2..4,5,?] f32=0.5 f32=[1.9,-1.5]", "[2..4] [5,?]"),
    ],
}

test_values, test_values_with_openvino = value_tests(VALUES)


@pytest.mark.oracle
def test_openvino_looks_at_lengths_only_if_it_knows_all() -> None:
    """A length of -6..-2 is never valid, but not refused before it is a number."""
    lengths = "f32[1..3] -> ShapeOf-3(output_type=i64) -> Multiply([-2]) -> _lengths: Concat([-1], axis=0)"
    net = Net(f"{lengths}\nf32[6] -> _parts: VariadicSplit(0, _lengths) f32 f32\n_parts -> Result\n_parts.1 -> Result")
    core().read_model(net.xml.encode(), net.bin)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok
    assert [found.code for found in inference.diagnostics] == ["R401"]
    assert "-6..-2 is less than -1" in inference.diagnostics[0].message
