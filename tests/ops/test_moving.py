"""Movement operations that pick, place, repeat or reorder elements."""

from collections.abc import Callable
from typing import Any

import pytest

import irshape
from tests.support.ir import Net, Ref
from tests.support.rows import check_row, check_row_with_openvino, const, contains, differs, ids

MASKS = {"begin_mask": [0, 0], "end_mask": [0, 0]}

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("Concat", "opset1"): [
        ("static", "f32[2,3]", "f32[2,4]", {"axis": 1}, "f32[2,7]"),
        ("bounds", "f32[2..4,3..5]", "f32[3..8,4]", {"axis": -1}, "f32[3..4,7..9]"),
        ("one unranked", "f32[2,3]", "f32[...]", {"axis": 0}, "f32[2..,3]"),
        ("unranked", "f32[...]", "f32[...]", {"axis": 7}, "f32[...]"),
        ("type of one is dynamic", "dynamic[2]", "f32[3]", {"axis": 0}, "f32[5]"),
        ("other axis differs", "f32[2,3]", "f32[3,4]", {"axis": 1}, "S201"),
        ("ranks differ", "f32[2,3]", "f32[2]", {"axis": 0}, "S102"),
        ("axis", "f32[2,3]", "f32[2,3]", {"axis": 2}, "V102"),
        ("types differ", "f32[2]", "f16[2]", {"axis": 0}, "T102"),
    ],
    ("Split", "opset1"): [
        ("static", "f32[6,2]", 0, {"num_splits": 3}, ("f32[2,2]", "f32[2,2]", "f32[2,2]")),
        ("bounds", "f32[5..8,2]", 0, {"num_splits": 3}, ("f32[2,2]",)),
        ("axis not constant", "f32[6,5..8]", "i64[]", {"num_splits": 2}, ("f32[..6,..8]", "f32[..6,..8]")),
        ("unranked", "f32[...]", 0, {"num_splits": 2}, ("f32[...]", "f32[...]")),
        ("remainder", "f32[7,2]", 0, {"num_splits": 3}, "S204"),
        ("axis", "f32[6,2]", 2, {"num_splits": 3}, "V102"),
        ("axis in a list", "f32[6,2]", [0], {"num_splits": 3}, "S101"),
        ("float axis", "f32[6,2]", const(0.0, "f32"), {"num_splits": 3}, "T101"),
        ("no parts", "f32[6,2]", 0, {"num_splits": 0}, "A104"),
        ("attribute missing", "f32[6,2]", 0, "A101"),
    ],
    ("VariadicSplit", "opset1"): [
        ("static", "f32[6,2]", 0, [2, 4], ("f32[2,2]", "f32[4,2]")),
        ("rest", "f32[6,2]", [-2], [2, -1], ("f32[2,2]", "f32[4,2]")),
        ("rest of bounds", "f32[3..6,2]", 0, [2, -1], ("f32[2,2]", "f32[1..4,2]")),
        ("float axis", "f32[6,2]", const(1.5, "f32"), [1, 1], ("f32[6,1]", "f32[6,1]")),
        ("lengths not constant", "f32[6,2]", 0, "i64[2]", ("f32[..6,2]", "f32[..6,2]")),
        ("axis not constant", "f32[6,2]", "i64[]", [2, 4], ("f32[..6,..2]", "f32[..6,..2]")),
        ("unranked", "f32[...]", 0, [2, 4], ("f32[...]", "f32[...]")),
        ("number of parts not known", "f32[6,2]", 0, "i64[?]", ("dynamic[...]",)),
        ("sum", "f32[6,2]", 0, [2, 3], "S201"),
        ("two rests", "f32[6,2]", 0, [-1, -1], "V101"),
        ("negative length", "f32[6,2]", 0, [8, -2], "V101"),
        ("axis", "f32[6,2]", 2, [2, 4], "V102"),
        ("two axes", "f32[6,2]", [0, 1], [2, 4], "V103"),
        ("lengths of rank 2", "f32[6,2]", 0, [[2, 4]], "S101"),
        ("boolean axis", "f32[6,2]", const(False, "boolean"), [2, 4], "T101"),
    ],
    ("Slice", "opset8"): [
        ("static", "f32[4,5]", [1, 1], [3, 4], [1, 2], "f32[2,2]"),
        ("axes", "f32[4,5]", [1], [3], [1], [-1], "f32[4,2]"),
        ("far ends", "f32[4,5]", [-100, 100], [9223372036854775807, -9223372036854775808], [3, -2], "f32[2,3]"),
        ("begins before the first element", "f32[3]", [-8], [-9], [-1], "f32[1]"),
        ("empty", "f32[0]", [-8], [-9], [-1], "f32[0]"),
        ("bounds", "f32[10..20,?,3..]", [2, 2, 2], [5, 5, 5], [1, 1, 1], "f32[3,..3,1..3]"),
        ("bounds from the end", "f32[10..20,?,3..]", [2, 2, 2], [-1, -1, -1], [2, 2, 2], "f32[4..9,?,?]"),
        ("bounds backwards", "f32[10..20,?,3..]", [-1, -1, -1], [-9, -9, -9], [-2, -2, -2], "f32[4,..4,2..4]"),
        ("signs differ", "f32[7..]", [-4], [8], [1], differs("f32[..4]", "f32[4..8]")),
        ("to the end", "f32[4..]", [-3], [2147483647], [1], "f32[3]"),
        ("start not constant", "f32[4,5]", "i64[2]", [3, 3], [1, 1], "f32[..3,..3]"),
        ("axes not constant", "f32[4,5]", [1], [3], [1], "i64[1]", "f32[..4,..5]"),
        ("number of axes not known", "f32[4,5]", "i64[?]", "i64[?]", "i64[?]", "f32[..4,..5]"),
        ("unranked", "f32[...]", [1], [3], [1], "f32[...]"),
        ("step of 0", "f32[4,5]", [1, 1], [3, 3], [1, 0], "V101"),
        ("axis twice", "f32[4,5]", [1, 1], [3, 3], [1, 1], [1, -1], "V104"),
        ("axis", "f32[4,5]", [1], [3], [1], [2], "V102"),
        ("lengths differ", "f32[4,5]", [1, 1], [3], [1, 1], "S201"),
        ("too many", "f32[4,5]", [1, 1, 1], [3, 3, 3], [1, 1, 1], "V103"),
        ("scalar", "f32[]", [1], [3], [1], "S101"),
        ("float start", "f32[4,5]", const([1.0], "f32"), [3], [1], "T101"),
    ],
    ("StridedSlice", "opset1"): [
        ("static", "f32[4,5]", [1, 1], [3, 4], [1, 2], MASKS, "f32[2,2]"),
        ("no strides", "f32[4,5]", [1, 1], [3, 4], MASKS, "f32[2,3]"),
        ("masks", "f32[4,5]", [1, 1], [3, 3], {"begin_mask": [1, 0], "end_mask": [0, 1]}, "f32[3,4]"),
        ("fewer than axes", "f32[4,5,6]", [1], [3], {"begin_mask": [0]}, "f32[2,5,6]"),
        ("new axis", "f32[4,5]", [0, 1, 1], [0, 3, 3], {"begin_mask": [0, 0, 0], "new_axis_mask": [1, 0, 0]}, "f32[1,2,2]"),
        ("shrink", "f32[4,5]", [-1, 1], [3, 3], {**MASKS, "shrink_axis_mask": [1, 0]}, "f32[2]"),
        ("ellipsis", "f32[4,5,6,7]", [1, 0, 1], [3, 0, 3], {"begin_mask": [0, 0, 0], "ellipsis_mask": [0, 1, 0]}, "f32[2,5,6,2]"),
        ("ellipsis of nothing", "f32[4,5]", [1, 0, 1], [3, 0, 3], {"begin_mask": [0, 0, 0], "ellipsis_mask": [0, 1, 0]}, "f32[2,2]"),
        ("bounds", "f32[3..9,?]", [1, 1], [7, 2], MASKS, "f32[2..6,..1]"),
        ("begin not constant", "f32[4,5]", "i64[2]", "i64[2]", {"begin_mask": [1, 0], "end_mask": [1, 0]}, "f32[4,..5]"),
        ("strides not constant", "f32[4,5]", [1, 1], [3, 3], "i64[2]", MASKS, "f32[..4,..5]"),
        ("number of limits not known", "f32[4,5]", "i64[?]", "i64[?]", MASKS, "f32[...]"),
        ("unranked", "f32[...]", [1, 1], [3, 3], MASKS, "f32[...]"),
        ("float strides", "f32[4,5]", [1, 1], [3, 3], const([1.0, 1.0], "f32"), MASKS, "f32[2,2]"),
        ("stride of 0", "f32[4,5]", [1, 1], [3, 3], [0, 1], MASKS, "V101"),
        ("stride of 0 in a dropped axis", "f32[4,5]", [1, 1], [3, 3], [0, 1], {**MASKS, "shrink_axis_mask": [1, 0]}, "f32[2]"),
        ("lengths differ", "f32[4,5]", [1, 1], [3], MASKS, "V103"),
        ("too many", "f32[4,5]", [1, 1, 1], [3, 3, 3], {"begin_mask": [0, 0, 0]}, "S101"),
        ("two ellipses", "f32[4,5]", [1, 1], [3, 3], {**MASKS, "ellipsis_mask": [1, 1]}, "A104"),
        ("mask of 2", "f32[4,5]", [1, 1], [3, 3], {"begin_mask": [2, 0]}, "A104"),
        ("masks of two lengths", "f32[4,5]", [1, 1], [3, 3], {"begin_mask": [0, 0], "end_mask": [0]}, "A105"),
        ("begin of rank 2", "f32[4,5]", [[1, 1]], [3, 3], MASKS, "S101"),
        ("float begin", "f32[4,5]", const([1.0, 1.0], "f32"), [3, 3], MASKS, "T101"),
    ],
    ("SliceScatter", "opset15"): [
        ("static", "f32[4,5]", "f32[2,3]", [1, 1], [3, 4], [1, 1], "f32[4,5]"),
        ("axes", "f32[4,5]", "f32[2,5]", [1], [3], [1], [0], "f32[4,5]"),
        ("bounds", "f32[4..6,5]", "f32[3..9,2]", [1, 1], [-1, 3], [1, 1], "f32[5..6,5]"),
        ("unranked", "f32[...]", "f32[2,2]", [1, 1], [3, 3], [1, 1], "f32[?,?]"),
        ("start not constant", "f32[4,5]", "f32[2,2]", "i64[2]", [3, 3], [1, 1], "f32[4,5]"),
        ("start not constant, long updates", "f32[4,5]", "f32[5,2]", "i64[2]", [3, 3], [1, 1], "S203"),
        ("updates differ", "f32[4,5]", "f32[2,1]", [1, 1], [3, 3], [1, 1], "S201"),
        ("ranks differ", "f32[4,5]", "f32[2]", [1, 1], [3, 3], [1, 1], "S102"),
        ("step of 0", "f32[...]", "f32[2,2]", [1, 1], [3, 3], [1, 0], "V101"),
        ("scalar", "f32[]", "f32[]", [1], [3], [1], "S101"),
        ("too many", "f32[...]", "f32[2]", [1, 1], [3, 3], [1, 1], "V103"),
    ],
    ("Broadcast", "opset1"): [
        ("numpy", "f32[3,1]", [2, 3, 4], {"mode": "numpy"}, "f32[2,3,4]"),
        ("explicit", "f32[3,4]", [2, 3, 4], [1, 2], {"mode": "explicit"}, "f32[2,3,4]"),
        ("explicit without axes", "f32[3,1]", [2, 3, 4], "f32[2,3,4]"),
        ("pdpd", "f32[3,5]", [1, 5], [0], {"mode": "pdpd"}, "f32[3,5]"),
        ("not constant", "f32[3,1]", "i64[3]", [1, 2], "f32[?,?,?]"),
        ("unranked", "f32[...]", [2, 3, 4], [0], "f32[2,3,4]"),
        ("wrong axis", "f32[3]", [2, 3, 4], [0], "S202"),
        ("axis", "f32[3]", [2, 3, 4], [3], "V102"),
        ("order", "f32[3,4]", [2, 3, 4], [2, 1], "V101"),
        ("number of axes", "f32[3,4]", [2, 3, 4], [0], "V103"),
        ("pdpd without axes", "f32[3,5]", [1, 5], {"mode": "pdpd"}, "G107"),
        ("pdpd of low rank", "f32[3]", [3, 1], [0], {"mode": "pdpd"}, "S102"),
        ("float axes", "f32[3]", [2, 3, 4], const([1.0], "f32"), "T101"),
    ],
    ("Broadcast", "opset3"): [
        ("numpy", "f32[3,1]", [2, 3, 4], "f32[2,3,4]"),
        ("bounds", "f32[3..5,1..2]", [2, 3, 4], "f32[2,3,4]"),
        ("numpy never valid", "f32[6..7]", [3], "f32[3]"),
        ("empty", "f32[1]", [0], "f32[0]"),
        ("unknown size", "f32[3,1]", [2, -1, 4], "f32[2,3,4]"),
        ("bidirectional", "f32[2,3,1]", [4], {"mode": "bidirectional"}, "f32[2,3,4]"),
        ("bidirectional bounds", "f32[3..5,1..2]", [2, 3, 4], {"mode": "bidirectional"}, "f32[2,3,4]"),
        ("bidirectional, not constant", "f32[3,1]", "i64[3]", {"mode": "bidirectional"}, "f32[?,3,?]"),
        ("explicit", "f32[3]", [2, 3, 4], [1], {"mode": "explicit"}, "f32[2,3,4]"),
        ("explicit, axes not constant", "f32[3]", [2, 3, 4], "i64[1]", {"mode": "explicit"}, "f32[2,3,4]"),
        ("not constant", "f32[3,1]", "i64[3]", "f32[?,3,?]"),
        ("rank not known", "f32[3,1]", "i64[?]", "f32[...]"),
        ("unranked", "f32[...]", [2, 3, 4], "f32[2,3,4]"),
        ("unranked bidirectional", "f32[...]", [2, 3, 4], {"mode": "bidirectional"}, "f32[...]"),
        ("sizes differ", "f32[3,2]", [2, 3, 4], "S202"),
        ("low rank", "f32[3,1]", [4], "S102"),
        ("bidirectional sizes differ", "f32[6..7,1]", [3, 4], {"mode": "bidirectional"}, "S202"),
        ("explicit sizes differ", "f32[4..5]", [2, 3, 4], [1], {"mode": "explicit"}, "S202"),
        ("explicit without axes", "f32[3]", [2, 3, 4], {"mode": "explicit"}, "G107"),
        ("numpy with axes", "f32[3]", [2, 4, 3], [2], "G108"),
        ("float target", "f32[3]", const([3.0], "f32"), "T101"),
        ("scalar target", "f32[3]", 3, "S101"),
        ("unknown mode", "f32[3]", [3], {"mode": "ring"}, "A103"),
    ],
    ("Tile", "opset1"): [
        ("static", "f32[3,1]", [2, 3], "f32[6,3]"),
        ("more repeats than axes", "f32[3,1]", [2, 3, 4], "f32[2,9,4]"),
        ("fewer repeats than axes", "f32[3,1]", [4], "f32[3,4]"),
        ("bounds", "f32[3..5,?]", [2, 3], "f32[6..10,?]"),
        ("negative", "f32[3,1]", [2, -1], "f32[6,0]"),
        ("not constant", "f32[3,0]", "i64[3]", "f32[?,?,0]"),
        ("rank not known", "f32[3,1]", "i64[?]", "f32[...]"),
        ("unranked", "f32[...]", [2], "f32[...]"),
        ("scalar repeats", "f32[3,1]", 2, "S101"),
        ("float repeats", "f32[3,1]", const([2.0, 1.0], "f32"), "T101"),
    ],
    ("Pad", "opset1"): [
        ("static", "f32[3,4]", [1, 1], [2, 2], "f32[6,7]"),
        ("bounds", "f32[3..5,?]", [-1, -1], [-2, 2], "f32[..2,1..]"),
        ("reflect", "f32[3,4]", [2, 2], [2, 2], {"pad_mode": "reflect"}, "f32[7,8]"),
        ("not constant", "f32[3,4]", "i64[2]", [2, 2], "f32[?,?]"),
        ("unranked", "f32[...]", [1], [2], "f32[...]"),
        ("value", "dynamic[3]", [1], [2], const(0.5, "f32"), "f32[6]"),
        ("value the mode does not read", "f32[3]", [1], [2], const([0], "i32"), {"pad_mode": "edge"}, "f32[6]"),
        ("reflect too long", "f32[3,4]", [3, 2], [2, 2], {"pad_mode": "reflect"}, "S203"),
        ("symmetric too long", "f32[3,4]", [4, 2], [2, 2], {"pad_mode": "symmetric"}, "S203"),
        ("edge of nothing", "f32[0,4]", [1, 0], [0, 0], {"pad_mode": "edge"}, "S203"),
        ("too few pads", "f32[3,4]", [1], [2], "V103"),
        ("too many pads", "f32[3,4]", "i64[2]", [2, 2, 2], "V103"),
        ("value in a list", "f32[3]", [1], [2], const([0.5], "f32"), "S101"),
        ("value of another type", "f32[3]", [1], [2], const(0, "i32"), "T102"),
        ("float pads", "f32[3]", const([1.0], "f32"), [2], "T101"),
        ("strings", "string[3]", [1], [2], {"pad_mode": "edge"}, "T101"),
    ],
    ("Pad", "opset12"): [
        ("crop", "f32[3,4]", [-1, 1], [-2, 2], "f32[0,7]"),
        ("crop beyond", "f32[3..5]", [-4], [0], "f32[..1]"),
        ("scalar pads", "f32[3]", 1, [2], "S101"),
    ],
    ("Gather", "opset1"): [
        ("static", "f32[5,6,7]", "i32[2,3]", 1, "f32[5,2,3,7]"),
        ("scalar index", "f32[5,6,7]", 1, [-1], "f32[5,6]"),
        ("bounds", "f32[5..9,?]", "i64[..3]", 0, "f32[..3,?]"),
        ("axis not constant", "f32[5,6]", "i32[2,3]", "i64[]", "f32[?,?,?]"),
        ("unranked", "f32[...]", "i32[2,3]", 1, "f32[...]"),
        ("axis", "f32[5,6]", "i32[2,3]", 2, "V102"),
        ("two axes", "f32[5,6]", "i32[2,3]", [0, 1], "V103"),
        ("float indices and axis", "f32[5,6]", "f32[2,3]", const(1.0, "f32"), "f32[5,2,3]"),
    ],
    ("Gather", "opset7"): [
        ("float indices", "f32[5,6]", "f32[2,3]", 1, "T101"),
        ("float axis", "f32[5,6]", "i32[2,3]", const(1.0, "f32"), "T101"),
        ("batches", "f32[4,5,6]", "i32[4,2,3]", 2, {"batch_dims": 1}, "f32[4,5,2,3]"),
        ("batches from the end", "f32[4..8,5,6]", "i32[3..6,2]", -1, {"batch_dims": -1}, "f32[4..6,5,2]"),
        ("batches differ", "f32[4,5]", "i32[3,2]", 1, {"batch_dims": 1}, "S201"),
        ("more batches than axes", "f32[4,5]", "i32[4,2]", 0, {"batch_dims": 1}, "A104"),
        ("more batches than indices", "f32[4,5,6]", "i32[4]", 2, {"batch_dims": 2}, "A104"),
    ],
    ("Gather", "opset8"): [
        ("axis not constant", "f32[4,5]", "i32[4,2]", "i64[]", {"batch_dims": 1}, "f32[4,?]"),
        ("unranked", "f32[...]", "i32[4,2]", 0, {"batch_dims": 1}, "A104"),
        ("scalar", "f32[]", "i32[]", "i64[]", "S101"),
    ],
    ("GatherElements", "opset6"): [
        ("static", "f32[5,6]", "i32[5,2]", {"axis": 1}, "f32[5,2]"),
        ("bounds", "f32[3..8,?]", "i64[5..9,..4]", {"axis": -1}, "f32[5..8,..4]"),
        ("indices unranked", "f32[5,6]", "i32[...]", {"axis": 1}, "f32[5,?]"),
        ("unranked", "f32[...]", "i32[5,2]", {"axis": 1}, "f32[5,2]"),
        ("other axis differs", "f32[5,6]", "i32[4,2]", {"axis": 1}, "S201"),
        ("ranks differ", "f32[5,6]", "i32[4]", {"axis": 0}, "S102"),
        ("axis", "f32[5,6]", "i32[5,6]", {"axis": 2}, "V102"),
        ("scalar", "f32[]", "i32[]", "S101"),
        ("type of indices", "f32[5]", "u8[5]", "T101"),
    ],
    ("GatherND", "opset5"): [
        ("static", "f32[4,5,6]", "i32[3,2]", "f32[3,6]"),
        ("batches", "f32[4,5,6]", "i32[4,5,3,1]", {"batch_dims": 2}, "f32[20,3]"),
        ("bounds", "f32[3..8,5]", "i32[2..4,7,1]", {"batch_dims": 1}, "f32[3..4,7]"),
        ("unranked", "f32[...]", "i32[3,2]", "f32[...]"),
        ("length of tuples not known", "f32[4,5,6]", "i32[3,?]", "f32[...]"),
        ("tuples too long", "f32[4,5]", "i32[3,3]", "S101"),
        ("batches differ", "f32[4,5]", "i32[3,1]", {"batch_dims": 1}, "S201"),
        ("too many batches", "f32[4,5]", "i32[4,5,1]", {"batch_dims": 3}, "A104"),
        ("float indices", "f32[4,5]", "f32[3,1]", "T101"),
        ("scalar", "f32[]", "i32[1]", "S101"),
    ],
    ("GatherND", "opset8"): [
        ("batches", "f32[4,5,6]", "i32[4,5,3,1]", {"batch_dims": 2}, "f32[4,5,3]"),
        ("scalar indices", "f32[4]", "i32[]", "S101"),
    ],
    ("GatherTree", "opset1"): [
        ("static", "f32[4,5,6]", "f32[4,5,6]", "f32[5]", "f32[]", "f32[4,5,6]"),
        ("bounds", "i32[?,2..5,6]", "i32[4,?,?]", "i32[3..9]", "i32[]", "i32[4,3..5,6]"),
        ("unranked", "i32[...]", "i32[...]", "i32[3]", "i32[]", "i32[...]"),
        ("shapes differ", "f32[4,5,6]", "f32[4,5,7]", "f32[5]", "f32[]", "S201"),
        ("batch differs", "f32[4,5,6]", "f32[4,5,6]", "f32[4]", "f32[]", "S201"),
        ("rank", "f32[4,5]", "f32[4,5]", "f32[5]", "f32[]", "S101"),
        ("end token", "f32[4,5,6]", "f32[4,5,6]", "f32[5]", "f32[1]", "S101"),
        ("types differ", "f32[4,5,6]", "f32[4,5,6]", "i32[5]", "f32[]", "T102"),
    ],
    ("ScatterUpdate", "opset3"): [
        ("static", "f32[5,6]", "i32[2,3]", "f32[5,2,3]", 1, "f32[5,6]"),
        ("bounds", "f32[3..8,6]", "i32[2]", "f32[5..9,2]", 1, "f32[5..8,6]"),
        ("axis not constant", "f32[5,6]", "i32[2]", "f32[9,9]", "i64[1]", "f32[5,6]"),
        ("unranked", "f32[...]", "i32[2]", "f32[2]", 0, "f32[...]"),
        ("updates differ", "f32[5,6]", "i32[2]", "f32[5,3]", 1, "S201"),
        ("rank of updates", "f32[5,6]", "i32[2]", "f32[5]", 1, "S102"),
        ("axis", "f32[5,6]", "i32[2]", "f32[5,2]", 2, "V102"),
        ("types differ", "f32[5,6]", "i32[2]", "f16[5,2]", 1, "T102"),
        ("float indices", "f32[5,6]", "f32[2]", "f32[5,2]", 1, "T101"),
    ],
    ("ScatterElementsUpdate", "opset3"): [
        ("static", "f32[5,6]", "i32[2,3]", "f32[2,3]", 1, "f32[5,6]"),
        ("bounds", "f32[5..7,?]", "i32[2..4,3]", "f32[3..9,?]", 1, "f32[5..7,?]"),
        ("axis not constant", "f32[5,6]", "i32[2,3]", "f32[2,3]", "i64[]", "f32[5,6]"),
        ("unranked", "f32[...]", "i32[2,3]", "f32[2,3]", 1, "f32[...]"),
        ("updates differ", "f32[5,6]", "i32[2,3]", "f32[2,4]", 1, "S201"),
        ("ranks differ", "f32[5,6]", "i32[2]", "f32[2]", 1, "S102"),
        ("axis", "f32[5,6]", "i32[2,3]", "f32[2,3]", 2, "V102"),
        ("several axes", "f32[5,6]", "i32[2,3]", "f32[2,3]", [1, 7], "f32[5,6]"),
        ("axes of unknown number", "f32[5,6]", "i32[2,3]", "f32[2,3]", "i64[?]", "f32[5,6]"),
        ("axes of rank 2", "f32[5,6]", "i32[2,3]", "f32[2,3]", [[1]], "S101"),
        ("types differ", "f32[5]", "i32[2]", "i32[2]", 0, "T102"),
    ],
    ("ScatterElementsUpdate", "opset12"): [
        ("sum", "f32[5,6]", "i32[2,3]", "f32[2,3]", 1, {"reduction": "sum", "use_init_val": False}, "f32[5,6]"),
        ("unknown reduction", "f32[5,6]", "i32[2,3]", "f32[2,3]", 1, {"reduction": "all"}, "A103"),
    ],
    ("ScatterNDUpdate", "opset4"): [
        ("static", "f32[4,5,6]", "i32[3,2]", "f32[3,6]", "f32[4,5,6]"),
        ("bounds", "f32[4,5..8]", "i32[3,1]", "f32[3,?]", "f32[4,5..8]"),
        ("unranked", "f32[...]", "i32[3,2]", "f32[3,6]", "f32[...]"),
        ("length of tuples not known", "f32[4,5]", "i32[3,?]", "f32[7]", "f32[4,5]"),
        ("tuples too long", "f32[4]", "i32[3,2]", "f32[3]", "S101"),
        ("updates differ", "f32[4,5]", "i32[3,1]", "f32[3,4]", "S201"),
        ("rank of updates", "f32[4,5]", "i32[3,1]", "f32[3]", "S102"),
        ("types differ", "f32[4]", "i32[3,1]", "i32[3]", "T102"),
        ("type of indices", "f32[4]", "i16[3,1]", "f32[3]", "T101"),
    ],
    ("ScatterNDUpdate", "opset15"): [
        ("sum", "f32[4,5,6]", "i32[3,2]", "f32[3,6]", {"reduction": "sum"}, "f32[4,5,6]"),
        ("unknown reduction", "f32[4]", "i32[3,1]", "f32[3]", {"reduction": "mean"}, "A103"),
    ],
    ("Transpose", "opset1"): [
        ("static", "f32[4,5,6]", [2, 0, 1], "f32[6,4,5]"),
        ("reverse", "f32[4,5..7,?]", [], "f32[?,5..7,4]"),
        ("not constant", "f32[4,5,2..6]", "i64[3]", "f32[2..6,2..6,2..6]"),
        ("unranked", "f32[...]", [1, 0], "f32[?,?]"),
        ("unranked, reversed", "f32[...]", [], differs("f32[...]", "f32[]")),
        ("axis twice", "f32[4,5,6]", [2, 0, 2], "V104"),
        ("negative", "f32[4,5]", [1, -2], "V102"),
        ("too few", "f32[4,5,6]", [1, 0], "V103"),
        ("scalar order", "f32[4]", 0, "S101"),
        ("float order", "f32[4]", const([0.0], "f32"), "T101"),
    ],
    ("Roll", "opset7"): [
        ("static", "f32[4,5]", 1, [0, -1], "f32[4,5]"),
        ("bounds", "f32[2..4,?]", [1, 2], [0, 1], "f32[2..4,?]"),
        ("not constant", "f32[4,5]", "i64[2]", "i64[?]", "f32[4,5]"),
        ("unranked", "f32[...]", [1], [9], "f32[...]"),
        ("axis", "f32[4,5]", [1], [2], "V102"),
        ("lengths differ", "f32[4,5]", [1, 1], [0], "S201"),
        ("shift of rank 2", "f32[4,5]", [[1]], [0], "S101"),
        ("type of axes", "f32[4,5]", [1], const([0], "u8"), "T101"),
    ],
    ("ShuffleChannels", "opset1"): [
        ("bounds", "f32[1..4,8,?,3]", {"axis": 1, "group": 4}, "f32[1..4,8,?,3]"),
        ("never valid", "f32[1,5..7]", {"group": 4, "axis": 1}, "f32[1,5..7]"),
        ("unranked", "f32[...]", {"axis": 7, "group": 4}, "f32[...]"),
        ("remainder", "f32[1,7,2,2]", {"axis": 1, "group": 4}, "S204"),
        ("axis", "f32[1,8]", {"axis": 2, "group": 4}, "V102"),
        ("no group", "f32[1,8]", {"axis": 1, "group": 0}, "A104"),
        ("scalar", "f32[]", {"axis": 0}, "S101"),
    ],
    ("Unique", "opset10"): [
        ("static", "f32[3,4]", ("f32[1..12]", "i64[1..12]", "i64[12]", "i64[1..12]")),
        ("axis", "f32[3,4]", [-1], {"index_element_type": "i32"}, ("f32[3,1..4]", "i32[1..4]", "i32[4]", "i64[1..4]")),
        ("empty", "f32[0,4]", 0, {"count_element_type": "i32"}, ("f32[0,4]", "i64[0]", "i64[0]", "i32[0]")),
        ("bounds", "f32[2..5,4..6]", ("f32[1..30]", "i64[1..30]", "i64[8..30]", "i64[1..30]")),
        ("unranked", "f32[...]", ("f32[?]", "i64[?]", "i64[?]", "i64[?]")),
        ("unranked with axis", "f32[...]", 0, ("f32[...]", "i64[?]", "i64[?]", "i64[?]")),
        ("axis not constant", "f32[3,4]", "i64[]", "V105"),
        ("axis out of range", "f32[3,4]", 2, "V102"),
        ("two axes", "f32[3,4]", [0, 1], "V103"),
        ("type of indices", "f32[3,4]", {"index_element_type": "u64"}, "A103"),
        ("float axis", "f32[3,4]", const(0.0, "f32"), "T101"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)


Build = Callable[[Net, Ref], Ref]


def through(type: str, version: str, *others: Any, position: int = 0, output: int = 0, outputs: int = 1, **attributes: Any) -> Build:
    """An op on the sizes of a tensor, which are its input at `position`; the others are constants."""

    def build(net: Net, sizes: Ref) -> Ref:
        refs = [net.const(other) for other in others]
        refs.insert(position, sizes)
        return net.layer(type, refs, ["I64"] * outputs, version, **attributes)[output]

    return build


# What becomes of [2..4,5,?] where its sizes go through an op and are the shape of another tensor.
VALUES: list[tuple[str, Build, str]] = [
    ("Concat", through("Concat", "opset1", [7], position=1, axis=0), "[7,2..4,5,?]"),
    ("Split", through("Split", "opset1", 0, num_splits=3, outputs=3, output=1), "[5]"),
    ("VariadicSplit", through("VariadicSplit", "opset1", 0, [1, -1], outputs=2, output=1), "[5,?]"),
    ("Slice", through("Slice", "opset8", [-1], [-9], [-2]), "[?,2..4]"),
    ("StridedSlice", through("StridedSlice", "opset1", [0], [2], begin_mask=[1]), "[2..4,5]"),
    ("Gather", through("Gather", "opset8", [1, 0, -3], 0), "[5,2..4,2..4]"),
    ("Transpose", through("Transpose", "opset1", [0]), "[2..4,5,?]"),
    ("Tile", through("Tile", "opset1", [2]), "[2..4,5,?,2..4,5,?]"),
    ("Pad", through("Pad", "opset12", [1], [-1], 9), "[9,2..4,5]"),
    ("ScatterUpdate", through("ScatterUpdate", "opset3", [2, 0], [8, 9], 0), "[9,5,8]"),
    ("ScatterElementsUpdate", through("ScatterElementsUpdate", "opset3", [-1], [8], 0), "[2..4,5,8]"),
    ("ScatterNDUpdate", through("ScatterNDUpdate", "opset4", [[1], [2]], [8, 9]), "[2..4,8,9]"),
]


def net_of(build: Build) -> Net:
    """A net whose last layer but one has the values for its shape."""
    net = Net()
    sizes = net.layer("ShapeOf", [net.parameter("f32[2..4,5,?]")], ["I64"], "opset3", output_type="i64")[0]
    target = build(net, sizes)
    net.result(net.layer("Broadcast", [net.parameter("f32[]"), target], ["FP32"], "opset3", mode="numpy")[0])
    return net


@pytest.mark.parametrize(("build", "expected"), [pytest.param(row[1], row[2], id=row[0]) for row in VALUES])
def test_values_pass(build: Build, expected: str) -> None:
    """Sizes are followed through the op, known ones and unknown ones alike."""
    net = net_of(build)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok, inference.diagnostics
    assert repr(inference.layer(str(len(net.layers) - 2)).outputs[0]) == f"f32{expected}"


@pytest.mark.oracle
@pytest.mark.parametrize(("build", "expected"), [pytest.param(row[1], row[2], id=row[0]) for row in VALUES])
def test_values_pass_in_openvino(build: Build, expected: str) -> None:
    """OpenVINO infers the same or a looser shape."""
    import openvino

    net = net_of(build)
    shape = openvino.Core().read_model(net.xml.encode(), net.bin).outputs[0].get_partial_shape()
    assert contains(shape, openvino.PartialShape(expected)), f"OpenVINO infers {shape}"


@pytest.mark.parametrize("step", [-3, -2, -1, 1, 2, 3])
def test_slice_is_bounded_by_every_size(step: int) -> None:
    """The bounds of a slice of an unknown size are those of the slices of all its sizes."""
    from irshape.shape.dim import Scope, bounds
    from irshape.shape.slicing import slice_range, sliced_size

    for low, high in ((0, 3), (0, 9), (4, 7), (2, 12)):
        for begin in range(-9, 10, 2):
            for end in range(-9, 10, 3):
                lengths = [len(slice_range(size, begin, end, step)) for size in range(low, high + 1)]
                sliced = sliced_size(Scope().symbol("n", low, high), begin, end, step)
                assert sliced is not None
                assert bounds(sliced) == (min(lengths), max(lengths)), (low, high, begin, end)
