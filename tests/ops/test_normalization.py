"""Normalizations."""

from contextlib import nullcontext

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core
from tests.support.rows import Rows, row_tests

EPSILON = {"epsilon": 0.001}
LRN = {"alpha": 1, "beta": 0.75, "bias": 1, "size": 5}
L2 = {"eps": 0.001, "eps_mode": "add"}

ROWS: Rows = {
    ("BatchNormInference", "opset5"): [
        ("static", "f32[2,3,4] f32[3] f32[3] f32[3] f32[3]", EPSILON, "f32[2,3,4]"),
        ("bounds", "f32[2,1..4,?] f32[?] f32[3..7] f32[2..6] f32[...]", EPSILON, "f32[2,3..4,?]"),
        ("unranked", "dynamic[...] f16[3] f16[?] f16[3] f16[3]", EPSILON, "f16[...]"),
        ("channels", "f32[2,4] f32[3] f32[3] f32[3] f32[3]", EPSILON, "S201"),
        ("lengths", "f32[...] f32[3] f32[3] f32[3] f32[4]", EPSILON, "S201"),
        ("no channels", "f32[2,?] f32[0] f32[0] f32[0] f32[0]", EPSILON, "S203"),
        ("low rank", "f32[2] f32[2] f32[2] f32[2] f32[2]", EPSILON, "S101"),
        ("gamma of rank 2", "f32[2,3] f32[3,1] f32[3] f32[3] f32[3]", EPSILON, "S101"),
        ("types", "f32[2,3] f16[3] f32[3] f32[3] f32[3]", EPSILON, "T102"),
        ("integers", "i32[2,3] i32[3] i32[3] i32[3] i32[3]", EPSILON, "T101"),
        ("negative epsilon", "f32[2,3] f32[3] f32[3] f32[3] f32[3]", {"epsilon": -1}, "A104"),
    ],
    ("BatchNormInference", "opset1"): [
        ("data in the middle", "f32[3] f32[3] f32[2,?,4] f32[3] f32[3]", EPSILON, "f32[2,3,4]"),
        ("low rank", "f32[3] f32[3] f32[3] f32[3] f32[3]", EPSILON, "S101"),
    ],
    ("GRN", "opset1"): [
        ("static", "f32[2,3,4]", {"bias": 1}, "f32[2,3,4]"),
        ("bounds", "boolean[1..4,?]", {"bias": 1}, "boolean[1..4,?]"),
        ("unranked", "f32[...]", {"bias": 1}, "f32[...]"),
        ("low rank", "f32[2]", {"bias": 1}, "S101"),
        ("high rank", "f32[2,3,4,5,6]", {"bias": 1}, "S101"),
    ],
    ("GroupNormalization", "opset12"): [
        ("static", "f32[2,6,4] f32[6] f32[6]", {"num_groups": 3, **EPSILON}, "f32[2,6,4]"),
        ("bounds", "f32[2,1..8] f32[4..7] f16[...]", {"num_groups": 3, **EPSILON}, "f32[2,6]"),
        ("unranked", "f32[...] f32[5] f32[?]", {"num_groups": 3, **EPSILON}, "f32[...]"),
        ("remainder", "f32[2,5] f32[5] f32[5]", {"num_groups": 3}, "S204"),
        ("remainder, channels of the data not known", "f32[?,?] f32[5] f32[5]", {"num_groups": 3, "epsilon": 0.1}, "f32[?,5]"),
        ("channels", "f32[2,6] f32[3] f32[3]", {"num_groups": 3}, "S201"),
        ("lengths", "f32[...] f32[3] f32[6]", {"num_groups": 3}, "S201"),
        ("low rank", "f32[6] f32[6] f32[6]", {"num_groups": 3}, "S101"),
        ("bias of rank 2", "f32[2,6] f32[6] f32[6,1]", {"num_groups": 3}, "S101"),
        ("no groups", "f32[...] f32[?] f32[?]", {"num_groups": 0}, "A104"),
        ("groups missing", "f32[2,6] f32[6] f32[6]", "A101"),
    ],
    ("LRN", "opset1"): [
        ("static", "f32[2,3,4,5] [1]", LRN, "f32[2,3,4,5]"),
        ("bounds", "string[1..4,?] u8[?]", LRN, "string[1..4,?]"),
        ("axes not constant", "f32[2,3] i64[2]", LRN, "f32[2,3]"),
        ("unranked", "f32[...] i64[7]", LRN, "f32[...]"),
        ("axis below the range", "f32[2,3] [-100]", LRN, "f32[2,3]"),
        ("packed axes", "f32[2,3] u4=[0,1]", LRN, "f32[2,3]"),
        ("packed axes, one negative", "f32[2,3] i4=[-1]", LRN, "f32[2,3]"),
        ("unsigned axis beyond int64", "f32[2,3] u64=[18446744073709551615]", LRN, "f32[2,3]"),
        ("packed axis", "f32[2,3] u2=[2]", LRN, "V102"),
        ("axis", "f32[2,3] [2]", LRN, "V102"),
        ("axes", "f32[2,3] i64[3]", LRN, "V103"),
        ("scalar axes", "f32[2,3] 1", LRN, "S101"),
        ("real axes", "f32[2,3] f32[1]", LRN, "T101"),
        ("rank of axes that are not static", "f32[2,3] i64[?,?]", LRN, "f32[2,3]"),
        ("rank of static axes", "f32[2,3] i64[1,1]", LRN, "S101"),
        ("axis 1 in place of unknown axes", "f32[?] i64[1]", LRN, "S101"),
        ("no axes", "f32[?] []", LRN, "f32[?]"),
    ],
    ("MVN", "opset2"): [
        ("static", "f32[2,3,4]", {"eps": 0.1, "across_channels": True, "normalize_variance": True}, "f32[2,3,4]"),
        ("bounds", "string[1..4,?]", {"reduction_axes": [5]}, "string[1..4,?]"),
        ("unranked", "f32[...]", {"eps": 0.1}, "f32[...]"),
        ("no number", "f32[2]", {"eps": "small"}, "A102"),
    ],
    ("MVN", "opset1"): [("the same", "f32[2,3,4]", {"eps": 0.1}, "f32[2,3,4]")],
    ("MVN", "opset6"): [
        ("static", "f32[2,3,4] [1,-1]", {"eps": 0.1, "eps_mode": "outside_sqrt"}, "f32[2,3,4]"),
        ("bounds", "boolean[1..4,?] i64[?]", {"eps": 0.1}, "boolean[1..4,?]"),
        ("axes not constant", "f32[2,3] f32[2]", {"eps": 0.1}, "f32[2,3]"),
        ("axis beyond the rank", "f32[2,3] [5]", {"eps": 0.1}, "f32[2,3]"),
        ("rank of axes of unknown size", "f32[2,3] i64[?,1]", {"eps": 0.1}, "f32[2,3]"),
        ("unranked", "f32[...] [5]", {"eps": 0.1}, "f32[...]"),
        ("axes", "f32[2,3] i64[3]", {"eps": 0.1}, "V103"),
        ("scalar axes", "f32[2,3] 1", {"eps": 0.1}, "S101"),
        ("unknown mode", "f32[2,3] [1]", {"eps": 0.1, "eps_mode": "inside"}, "A103"),
    ],
    ("NormalizeL2", "opset1"): [
        ("static", "f32[2,3,4] [1,-1]", L2, "f32[2,3,4]"),
        ("bounds", "boolean[1..4,?] i64[?]", L2, "boolean[1..4,?]"),
        ("scalar axis", "f32[2,3] -1", L2, "f32[2,3]"),
        ("axes not constant", "f32[2,3] f32[5]", L2, "f32[2,3]"),
        ("unranked", "f32[...] [5]", L2, "f32[...]"),
        ("unsigned axis beyond int64", "f32[2,3] u64=[18446744073709551615]", L2, "f32[2,3]"),
        ("axis", "f32[2,3] [2]", L2, "V102"),
        ("axes of rank 2", "f32[2,3] [[1]]", L2, "S101"),
        ("boolean axes", "f32[2,3] boolean=[1]", L2, "T101"),
        ("float axes", "f32[2,3] f32=[-0.5,1.9]", L2, "f32[2,3]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Layers, and whether OpenVINO's CPU plugin runs them; it reads all of them.
AXES = [
    ("f32[2,3,4] -> MVN-6([1,-3], eps=0.1, eps_mode=inside_sqrt, normalize_variance=true)", True),
    ("f32[2,3,4] -> MVN-6([3], eps=0.1, eps_mode=inside_sqrt, normalize_variance=true)", False),
    ("f32[2,3,4] -> MVN-6([0,-4], eps=0.1, eps_mode=inside_sqrt, normalize_variance=true)", False),
    ("f32[2,3] -> CumSum-3(-2)", True),
    ("f32[] -> CumSum-3(0)", True),
    ("f32[2,3] -> CumSum-3(2)", False),
    ("f32[2,3] -> CumSum-3(-3)", False),
    ("f32[2,3] -> Reverse([-2], mode=index)", True),
    ("f32[2,3] -> Reverse([-3], mode=index)", False),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("layer", "runs"), AXES)
def test_an_axis_that_openvino_refuses_after_reading_never_holds(layer: str, *, runs: bool) -> None:
    net = Net(f"{layer} -> Result")
    assert [one.code for one in irshape.check(net.xml.encode(), weights=net.bin).diagnostics] == ([] if runs else ["R401"])
    model = core().read_model(net.xml.encode(), net.bin)
    with nullcontext() if runs else pytest.raises(RuntimeError, match="range"):
        core().compile_model(model, "CPU").create_infer_request().infer()
