"""Sparse operations."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("EmbeddingSegmentsSum", "opset3"): [
        ("static", "f32[5,2] i64[4] i64[4] 3", "f32[3,2]"),
        ("all inputs", "f32[5,2..3] i32[4] i32[?] i32=3 i32=0 f32[4]", "f32[3,2..3]"),
        ("number not constant", "f32[5,2] i64[4] i64[4] i64[]", "f32[?,2]"),
        ("unranked", "f32[...] i64[4] i64[4] 3", "f32[...]"),
        ("unranked indices", "f32[5,2] i64[...] i64[...] 3", "f32[3,2]"),
        ("scalar table", "f32[] i64[4] i64[4] 3", "S101"),
        ("indices of rank 2", "f32[5,2] i64[2,2] i64[4] 3", "S101"),
        ("list of numbers", "f32[5,2] i64[4] i64[4] [3]", "S101"),
        ("ids differ", "f32[5,2] i64[4] i64[3] 3", "S201"),
        ("weights differ", "f32[5,2] i64[4] i64[4] 3 0 f32[3]", "S201"),
        ("float indices", "f32[5,2] f32[4] f32[4] f32=3.0", "T101"),
        ("index types differ", "f32[5,2] i64[4] i32[4] 3", "T102"),
        ("weight types differ", "f32[5,2] i64[4] i64[4] 3 0 f16[4]", "T102"),
        ("type of the weights only", "dynamic[5] i32[4] i32[4] i32=3 i32=0 f16[4]", "dynamic[3]"),
    ],
    ("EmbeddingBagOffsetsSum", "opset3"): [
        ("static", "f32[5,2] i64[4] i64[3]", "f32[3,2]"),
        ("all inputs", "f32[5,2] i64[4] i64[1..3] 0 f32[?]", "f32[1..3,2]"),
        ("unranked", "f32[...] i64[4] i64[3]", "f32[...]"),
        ("unranked offsets", "f32[5,2] i64[4] i64[...]", "f32[?,2]"),
        ("float offsets", "f32[5,2] f32[4] f32[3]", "T101"),
        ("weights differ", "f32[5,2] i64[4] i64[3] 0 f32[3]", "S201"),
        ("offsets of rank 2", "f32[5,2] i64[4] i64[3,1]", "S101"),
    ],
    ("EmbeddingBagOffsets", "opset15"): [
        ("static", "f32[5,2] i64[4] i64[3]", {"reduction": "mean"}, "f32[3,2]"),
        ("weighted mean", "f32[5,2] i64[4] i64[3] 0 f32[4]", {"reduction": "mean"}, "A103"),
    ],
    ("EmbeddingBagPackedSum", "opset3"): [
        ("static", "f32[5,2] i64[3,4]", "f32[3,2]"),
        ("weights", "f32[5,2] i64[?,4] f32[3,?]", "f32[3,2]"),
        ("unranked", "f32[...] i64[3,4]", "f32[...]"),
        ("unranked indices", "f32[5,2] i64[...]", "f32[?,2]"),
        ("weights differ", "f32[5,2] i64[3,4] f32[3,5]", "S201"),
        ("indices of rank 1", "f32[5,2] i64[3]", "S101"),
        ("float indices", "f32[5,2] f32[3,4]", "T101"),
        ("type of the weights only", "dynamic[5] i32[3,4] f16[3,4]", "dynamic[3]"),
    ],
    ("EmbeddingBagPacked", "opset15"): [
        ("static", "f32[5,2] i64[3,4]", {"reduction": "mean"}, "f32[3,2]"),
        ("weighted mean", "f32[5,2] i64[3,4] f32[3,4]", {"reduction": "mean"}, "A103"),
    ],
    ("SparseFillEmptyRows", "opset16"): [
        ("two empty rows", "f32[3] [5,6] [[0,1],[2,3],[2,4]] f32[]", "i64[6,2] f32[6] boolean[5]"),
        ("no empty row", "f32[2] [2,6] [[1,1],[0,3]] f32[]", "i64[2,2] f32[2] boolean[2]"),
        ("indices not constant", "f32[3] [5,6] i64[3,2] f32[]", "i64[5..8,2] f32[5..8] boolean[5]"),
        ("shape not constant", "f32[3] i64[2] [[0,1],[2,3],[2,4]] f32[]", "i64[4..,2] f32[4..] boolean[3..]"),
        ("any number of rows", "f32[3] [-1,6] [[0,1],[2,3],[2,4]] f32[]", "i64[4..,2] f32[4..] boolean[3..]"),
        ("bounds", "f32[..4] i32[2] i32[3..,?] f32[]", "i32[3..,2] f32[3..] boolean[?]"),
        ("unranked", "f32[...] i64[...] i64[...] f32[...]", "i64[?,2] f32[?] boolean[?]"),
        ("row outside", "f32[3] [2,6] [[0,1],[2,3],[2,4]] f32[]", "V101"),
        ("column outside", "f32[1] [5,6] [[0,6]] f32[]", "V101"),
        ("negative row", "f32[1] [5,6] [[-1,0]] f32[]", "V101"),
        ("unranked values", "f32[...] [5,6] [[0,1]] f32[]", "S206"),
        ("indices differ", "f32[4] [5,6] i64[3,2] f32[]", "S201"),
        ("indices of 3 numbers", "f32[3] [5,6] i64[3,3] f32[]", "S201"),
        ("three sizes", "f32[3] [5,6,7] i64[3,2] f32[]", "V103"),
        ("list of defaults", "f32[3] [5,6] i64[3,2] f32[1]", "S101"),
        ("rank", "f32[3,1] [5,6] i64[3,2] f32[]", "S101"),
        ("float shape", "f32[3] f32[2] f32[3,2] f32[]", "T101"),
        ("types differ", "f32[3] [5,6] i32[3,2] f32[]", "T102"),
        ("type of dense_shape only", "f32[3] i64[2] dynamic[3,2] f32[]", "dynamic[3..,2] f32[3..] boolean[?]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
