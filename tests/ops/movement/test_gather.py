"""Operations that gather elements."""

from tests.support.rows import Rows, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("Gather", "opset1"): [
        ("static", "f32[5,6,7] i32[2,3] 1", "f32[5,2,3,7]"),
        ("scalar index", "f32[5,6,7] 1 [-1]", "f32[5,6]"),
        ("bounds", "f32[5..9,?] i64[..3] 0", "f32[..3,?]"),
        ("axis not constant", "f32[5,6] i32[2,3] i64[]", "f32[?,?,?]"),
        ("unranked", "f32[...] i32[2,3] 1", "f32[...]"),
        ("axis", "f32[5,6] i32[2,3] 2", "V102"),
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
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Gather", "opset8"): [
        ("[2..4,5,?] [1,0,-3] 0", "[5,2..4,2..4]"),
    ],
}

test_values, test_values_with_openvino = value_tests(VALUES)
