"""Broadcast, Tile and Pad."""

from tests.support.rows import Rows, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("Broadcast", "opset1"): [
        ("numpy", "f32[3,1] [2,3,4]", {"mode": "numpy"}, "f32[2,3,4]"),
        ("explicit", "f32[3,4] [2,3,4] [1,2]", {"mode": "explicit"}, "f32[2,3,4]"),
        ("explicit without axes", "f32[3,1] [2,3,4]", "f32[2,3,4]"),
        ("pdpd", "f32[3,5] [1,5] [0]", {"mode": "pdpd"}, "f32[3,5]"),
        ("not constant", "f32[3,1] i64[3] [1,2]", "f32[?,?,?]"),
        ("unranked", "f32[...] [2,3,4] [0]", "f32[2,3,4]"),
        ("a scalar on an axis", "f32[] [3,1] [1]", {"mode": "explicit"}, "f32[3,1]"),
        ("a scalar on a longer axis", "f32[] [3,1] [0]", {"mode": "explicit"}, "S201"),
        ("a scalar on no axis of the target", "f32[] [3,1] [2]", {"mode": "explicit"}, "V102"),
        ("packed axes not read", "f32[3] i64[3] u2=[1]", "f32[?,?,?]"),
        ("packed axes", "f32[3] [2,3,4] u2=[1]", "T101"),
        ("wrong axis", "f32[3] [2,3,4] [0]", "S202"),
        ("axis", "f32[3] [2,3,4] [3]", "V102"),
        ("order", "f32[3,4] [2,3,4] [2,1]", "V101"),
        ("number of axes", "f32[3,4] [2,3,4] [0]", "V103"),
        ("pdpd without axes", "f32[3,5] [1,5]", {"mode": "pdpd"}, "G107"),
        ("pdpd of low rank", "f32[3] [3,1] [0]", {"mode": "pdpd"}, "S102"),
        ("float axes", "f32[3] [2,3,4] f32=[1.0]", "T101"),
        ("unknown target, axes", "f32[3,4] i64[3] [0]", "V103"),
        ("unranked target, axes", "f32[3,4] i64[...] [0]", "f32[...]"),
    ],
    ("Broadcast", "opset3"): [
        ("numpy", "f32[3,1] [2,3,4]", "f32[2,3,4]"),
        ("bounds", "f32[3..5,1..2] [2,3,4]", "f32[2,3,4]"),
        ("numpy never valid", "f32[6..7] [3]", "f32[3]"),
        ("empty", "f32[1] [0]", "f32[0]"),
        ("unknown size", "f32[3,1] [2,-1,4]", "f32[2,3,4]"),
        ("bidirectional", "f32[2,3,1] [4]", {"mode": "bidirectional"}, "f32[2,3,4]"),
        ("bidirectional bounds", "f32[3..5,1..2] [2,3,4]", {"mode": "bidirectional"}, "f32[2,3,4]"),
        ("bidirectional, not constant", "f32[3,1] i64[3]", {"mode": "bidirectional"}, "f32[?,3,?]"),
        ("explicit", "f32[3] [2,3,4] [1]", {"mode": "explicit"}, "f32[2,3,4]"),
        ("explicit, axes not constant", "f32[3] [2,3,4] i64[1]", {"mode": "explicit"}, "f32[2,3,4]"),
        ("not constant", "f32[3,1] i64[3]", "f32[?,3,?]"),
        ("rank not known", "f32[3,1] i64[?]", "f32[...]"),
        ("unranked", "f32[...] [2,3,4]", "f32[2,3,4]"),
        ("unranked bidirectional", "f32[...] [2,3,4]", {"mode": "bidirectional"}, "f32[...]"),
        ("sizes differ", "f32[3,2] [2,3,4]", "S202"),
        ("low rank", "f32[3,1] [4]", "S102"),
        ("bidirectional sizes differ", "f32[6..7,1] [3,4]", {"mode": "bidirectional"}, "S202"),
        ("explicit sizes differ", "f32[4..5] [2,3,4] [1]", {"mode": "explicit"}, "S202"),
        ("explicit without axes", "f32[3] [2,3,4]", {"mode": "explicit"}, "G107"),
        ("numpy with axes", "f32[3] [2,4,3] [2]", "G108"),
        ("float target", "f32[3] f32=[3.0]", "T101"),
        ("scalar target", "f32[3] 3", "S101"),
        ("unknown mode", "f32[3] [3]", {"mode": "ring"}, "A103"),
        ("unknown target of lower rank", "f32[3,1] i64[1]", "f32[?]"),
        ("scalar, axes", "f32[] [2,3,4] i64[1]", {"mode": "explicit"}, "f32[2,3,4]"),
    ],
    ("Tile", "opset1"): [
        ("static", "f32[3,1] [2,3]", "f32[6,3]"),
        ("more repeats than axes", "f32[3,1] [2,3,4]", "f32[2,9,4]"),
        ("fewer repeats than axes", "f32[3,1] [4]", "f32[3,4]"),
        ("bounds", "f32[3..5,?] [2,3]", "f32[6..10,?]"),
        ("negative", "f32[3,1] [2,-1]", "f32[6,0]"),
        ("not constant", "f32[3,0] i64[3]", "f32[?,?,0]"),
        ("rank not known", "f32[3,1] i64[?]", "f32[...]"),
        ("unranked", "f32[...] [2]", "f32[...]"),
        ("scalar repeats", "f32[3,1] 2", "S101"),
        ("float repeats", "f32[3,1] f32=[2.0,1.0]", "T101"),
    ],
    ("Pad", "opset1"): [
        ("static", "f32[3,4] [1,1] [2,2]", "f32[6,7]"),
        ("bounds", "f32[3..5,?] [-1,-1] [-2,2]", "f32[..2,1..]"),
        ("reflect", "f32[3,4] [2,2] [2,2]", {"pad_mode": "reflect"}, "f32[7,8]"),
        ("not constant", "f32[3,4] i64[2] [2,2]", "f32[?,?]"),
        ("unranked", "f32[...] [1] [2]", "f32[...]"),
        ("value", "dynamic[3] [1] [2] f32=0.5", "f32[6]"),
        ("value the mode does not read", "f32[3] [1] [2] i32=[0]", {"pad_mode": "edge"}, "f32[6]"),
        ("packed pads", "f32[3,4] u2=[1,1] i64[2]", "T101"),
        ("packed pads, unranked", "f32[...] i64[2] u2=[1,1]", "T101"),
        ("reflect too long", "f32[3,4] [3,2] [2,2]", {"pad_mode": "reflect"}, "S203"),
        ("symmetric too long", "f32[3,4] [4,2] [2,2]", {"pad_mode": "symmetric"}, "S203"),
        ("edge of nothing", "f32[0,4] [1,0] [0,0]", {"pad_mode": "edge"}, "S203"),
        ("too few pads", "f32[3,4] [1] [2]", "V103"),
        ("too many pads", "f32[3,4] i64[2] [2,2,2]", "V103"),
        ("value in a list", "f32[3] [1] [2] f32=[0.5]", "S101"),
        ("value of another type", "f32[3] [1] [2] i32=0", "T102"),
        ("float pads", "f32[3] f32=[1.0] [2]", "T101"),
        ("strings", "string[3] [1] [2]", {"pad_mode": "edge"}, "T101"),
        ("no value, unknown type", "dynamic[3] [1] [2]", "T101"),
    ],
    ("Pad", "opset12"): [
        ("crop", "f32[3,4] [-1,1] [-2,2]", "f32[0,7]"),
        ("crop beyond", "f32[3..5] [-4] [0]", "f32[..1]"),
        ("scalar pads", "f32[3] 1 [2]", "S101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Tile", "opset1"): [
        ("[2..4,5,?] [2]", "[2..4,5,?,2..4,5,?]"),
    ],
    ("Pad", "opset12"): [
        ("[2..4,5,?] [1] [-1] 9", "[9,2..4,5]"),
    ],
}

test_values, test_values_with_openvino = value_tests(VALUES)
