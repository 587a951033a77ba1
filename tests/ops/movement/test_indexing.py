"""Elements by their indices: taking them out of a tensor, putting them in, and finding the distinct ones."""

import pytest

import irshape
from tests.support.ir import Net
from tests.support.rows import Rows, differs, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("Gather", "opset1"): [
        ("static", "f32[5,6,7] i32[2,3] 1", "f32[5,2,3,7]"),
        ("scalar index", "f32[5,6,7] 1 [-1]", "f32[5,6]"),
        ("bounds", "f32[5..9,?] i64[..3] 0", "f32[..3,?]"),
        ("axis not constant", "f32[5,6] i32[2,3] i64[]", "f32[?,?,?]"),
        ("unranked", "f32[...] i32[2,3] 1", "f32[...]"),
        ("axis", "f32[5,6] i32[2,3] 2", "V102"),
        ("real axis, boolean indices", "f32[5,6] boolean=[true,false] f32=-1.5", "f32[5,2]"),
        ("two axes", "f32[5,6] i32[2,3] [0,1]", "V103"),
        ("float indices and axis", "f32[5,6] f32[2,3] f32=1.0", "f32[5,2,3]"),
    ],
    ("Gather", "opset7"): [
        ("float indices", "f32[5,6] f32[2,3] 1", "T101"),
        ("float axis", "f32[5,6] i32[2,3] f32=1.0", "T101"),
        ("batches", "f32[4,5,6] i32[4,2,3] 2", {"batch_dims": 1}, "f32[4,5,2,3]"),
        ("batches from the end", "f32[4..8,5,6] i32[3..6,2] -1", {"batch_dims": -1}, "f32[4..6,5,2]"),
        ("batches differ", "f32[4,5] i32[3,2] 1", {"batch_dims": 1}, "S201"),
        ("more batches than axes", "f32[4,5] i32[4,2] 0", {"batch_dims": 1}, "A104"),
        ("more batches than indices", "f32[4,5,6] i32[4] 2", {"batch_dims": 2}, "A104"),
    ],
    ("Gather", "opset8"): [
        ("axis not constant", "f32[4,5] i32[4,2] i64[]", {"batch_dims": 1}, "f32[4,?]"),
        ("unranked", "f32[...] i32[4,2] 0", {"batch_dims": 1}, "A104"),
        ("scalar", "f32[] i32[] i64[]", "S101"),
        ("rank of an axis that is not static", "f32[1,6,8] i64[2] i64[?,?]", "f32[?,?,?]"),
        ("several axes, not static", "f32[1,6,8] i64[2] i64[2..5]", "f32[?,?,?]"),
        ("several axes", "f32[1,6,8] i64[2] i64[2]", "V103"),
    ],
    ("GatherElements", "opset6"): [
        ("static", "f32[5,6] i32[5,2]", {"axis": 1}, "f32[5,2]"),
        ("bounds", "f32[3..8,?] i64[5..9,..4]", {"axis": -1}, "f32[5..8,..4]"),
        ("indices unranked", "f32[5,6] i32[...]", {"axis": 1}, "f32[5,?]"),
        ("unranked", "f32[...] i32[5,2]", {"axis": 1}, "f32[5,2]"),
        ("other axis differs", "f32[5,6] i32[4,2]", {"axis": 1}, "S201"),
        ("ranks differ", "f32[5,6] i32[4]", {"axis": 0}, "S102"),
        ("axis", "f32[5,6] i32[5,6]", {"axis": 2}, "V102"),
        ("scalar", "f32[] i32[]", "S101"),
        ("type of indices", "f32[5] u8[5]", "T101"),
    ],
    ("GatherND", "opset5"): [
        ("static", "f32[4,5,6] i32[3,2]", "f32[3,6]"),
        ("batches", "f32[4,5,6] i32[4,5,3,1]", {"batch_dims": 2}, "f32[20,3]"),
        ("bounds", "f32[3..8,5] i32[2..4,7,1]", {"batch_dims": 1}, "f32[3..4,7]"),
        ("unranked", "f32[...] i32[3,2]", "f32[...]"),
        ("length of tuples not known", "f32[4,5,6] i32[3,?]", "f32[...]"),
        ("tuples too long", "f32[4,5] i32[3,3]", "S101"),
        ("batches differ", "f32[4,5] i32[3,1]", {"batch_dims": 1}, "S201"),
        ("too many batches", "f32[4,5] i32[4,5,1]", {"batch_dims": 3}, "A104"),
        ("float indices", "f32[4,5] f32[3,1]", "T101"),
        ("scalar", "f32[] i32[1]", "S101"),
        ("batch_dims of the rank of data", "f32[8,..16] i64[..8,?,1..]", {"batch_dims": 2}, "A104"),
        ("unranked indices, batch_dims", "f32[8,3] i64[...]", {"batch_dims": 2}, "A104"),
    ],
    ("GatherND", "opset8"): [
        ("batches", "f32[4,5,6] i32[4,5,3,1]", {"batch_dims": 2}, "f32[4,5,3]"),
        ("scalar indices", "f32[4] i32[]", "S101"),
    ],
    ("GatherTree", "opset1"): [
        ("static", "f32[4,5,6] f32[4,5,6] f32[5] f32[]", "f32[4,5,6]"),
        ("bounds", "i32[?,2..5,6] i32[4,?,?] i32[3..9] i32[]", "i32[4,3..5,6]"),
        ("unranked", "i32[...] i32[...] i32[3] i32[]", "i32[...]"),
        ("shapes differ", "f32[4,5,6] f32[4,5,7] f32[5] f32[]", "S201"),
        ("batch differs", "f32[4,5,6] f32[4,5,6] f32[4] f32[]", "S201"),
        ("rank", "f32[4,5] f32[4,5] f32[5] f32[]", "S101"),
        ("end token", "f32[4,5,6] f32[4,5,6] f32[5] f32[1]", "S101"),
        ("types differ", "f32[4,5,6] f32[4,5,6] i32[5] f32[]", "T102"),
    ],
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
    ("Unique", "opset10"): [
        ("static", "f32[3,4]", "f32[1..12] i64[1..12] i64[12] i64[1..12]"),
        ("axis", "f32[3,4] [-1]", {"index_element_type": "i32"}, "f32[3,1..4] i32[1..4] i32[4] i64[1..4]"),
        ("empty", "f32[0,4] 0", {"count_element_type": "i32"}, "f32[0,4] i64[0] i64[0] i32[0]"),
        ("bounds", "f32[2..5,4..6]", "f32[1..30] i64[1..30] i64[8..30] i64[1..30]"),
        ("may be empty", "f32[..3,4] 0", differs("f32[..3,4] i64[..3] i64[..3] i64[..3]", "f32[1..3,4] i64[?] i64[..3] i64[?]")),
        ("unranked", "f32[...]", "f32[?] i64[?] i64[?] i64[?]"),
        ("unranked with axis", "f32[...] 0", "f32[...] i64[?] i64[?] i64[?]"),
        ("axis not constant", "f32[3,4] i64[]", "V105"),
        ("axis out of range", "f32[3,4] 2", "V102"),
        ("two axes", "f32[3,4] [0,1]", "V103"),
        ("type of indices", "f32[3,4]", {"index_element_type": "u64"}, "A103"),
        ("float axis", "f32[3,4] f32=0.0", "T101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

VALUES: Rows = {
    ("Gather", "opset1"): [("[2..4,5,?] boolean=[true,false] 0", differs("[5,2..4]", "[?,?]"))],
    ("Gather", "opset8"): [("[2..4,5,?] [1,0,-3] 0", "[5,2..4,2..4]")],
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
    ("ScatterNDUpdate", "opset4"): [("[2..4,5,?] [[1],[2]] [8,9]", "[2..4,8,9]"), ("[2..4,5,?] [[3]] [8]", "V101")],
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
    net = Net(f"{', '.join(inputs.split())} -> ScatterNDUpdate-4 -> Result")
    inference = irshape.infer(net.xml.encode(), weights=net.bin, symbols_as="raw")
    assert [str(guard.requirement) for guard in inference.guards] == guards
    assert [one.code for one in inference.diagnostics] == codes
