"""The counting rule of every operation: MACs and other operations of small layers, which a reader can check by hand.

A row is `(name, inputs, attributes, macs, operations)`, or four of these without attributes; the inputs are written as in `tests/ops`. An
expectation is a number, the text of a formula, or None for a layer whose work the sizes do not tell.
"""

from typing import Any

import pytest

import irshape
from irshape.answers.cost.counting import UNKNOWN_SIZE
from irshape.ops.cost import each_element, moved
from irshape.ops.index import MODULES
from irshape.ops.registry import REGISTRY
from tests.support.rows import net_of

WINDOW = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1], "auto_pad": "explicit"}
POOL = {"kernel": [2, 2], "strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0], "rounding_type": "floor", "auto_pad": "explicit"}
DEFORMED = {**WINDOW, "group": 1, "deformable_group": 1}
ROI = {"pooled_h": 2, "pooled_w": 2, "spatial_scale": 1.0, "mode": "avg"}
SLIDE = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
RESIZE = {
    "mode": "linear_onnx",
    "shape_calculation_mode": "sizes",
    "coordinate_transformation_mode": "half_pixel",
    "nearest_mode": "floor",
    "antialias": False,
    "pads_begin": [0],
    "pads_end": [0],
    "cube_coeff": -0.75,
}
LSTM = {"hidden_size": 3, "activations": ["sigmoid", "tanh", "tanh"]}
CTC = {"classes_index_type": "i32", "sequence_length_type": "i32"}

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("MatMul", "opset1"): [
        ("3 products for each of 2*4 elements", "f32[2,3] f32[3,4]", 24, 0),
        ("left transposed", "f32[3,2] f32[3,4]", {"transpose_a": True}, 24, 0),
        ("right transposed", "f32[2,3] f32[4,3]", {"transpose_b": True}, 24, 0),
        ("batch that broadcasts", "f32[5,1,2,3] f32[7,3,4]", 5 * 7 * 24, 0),
        ("vectors", "f32[3] f32[3]", 3, 0),
        ("vector on the left, which a transposition does not change", "f32[3] f32[3,4]", {"transpose_a": True}, 12, 0),
        ("open sizes", "f32[?,3] f32[3,4]", "12*B", 0),
    ],
    ("GroupedMatMul", "opset17"): [
        ("5 groups", "f32[5,2,3] f32[5,4,3]", 5 * 24, 0),
        ("rows in groups", "f32[6,3] f32[5,4,3] i32[5]", 72, 0),
    ],
    ("Einsum", "opset7"): [
        ("a product of matrices", "f32[2,3] f32[3,4]", {"equation": "ij,jk->ik"}, 24, 0),
        ("attention", "f32[2,8,3,5] f32[2,8,7,5]", {"equation": "bhqd,bhkd->bhqk"}, 2 * 8 * 3 * 7 * 5, 0),
        ("one input", "f32[2,3]", {"equation": "ij->j"}, 0, 6),
        ("three inputs", "f32[2] f32[3] f32[4]", {"equation": "i,j,k->ijk"}, 48, 0),
        ("an ellipsis that broadcasts", "f32[5,1,2,3] f32[7,3,4]", {"equation": "...ij,...jk->...ik"}, 5 * 7 * 24, 0),
    ],
    ("Inverse", "opset14"): [("5 matrices", "f32[5,3,3]", {"adjoint": False}, 5 * 27, 0)],
    ("Convolution", "opset1"): [
        ("9 elements of 3 channels at 64 places for 2 features", "f32[1,3,8,8] f32[2,3,3,3]", WINDOW, 64 * 2 * 27, 0),
        ("open sides", "f32[1,3,?,?] f32[2,3,3,3]", WINDOW, "54*H*W", 0),
    ],
    ("BinaryConvolution", "opset1"): [
        ("as Convolution", "f32[1,3,8,8] u1=[[[[1]],[[1]],[[0]]]]", {**WINDOW, "pads_begin": [0, 0], "pads_end": [0, 0]}, 64 * 3, 0)
    ],
    ("GroupConvolution", "opset1"): [("each of 4 channels alone", "f32[1,4,8,8] f32[4,1,1,3,3]", WINDOW, 64 * 4 * 9, 0)],
    ("ConvolutionBackpropData", "opset1"): [("every element spread", "f32[1,3,8,8] f32[3,2,3,3]", WINDOW, 64 * 3 * 2 * 9, 0)],
    ("GroupConvolutionBackpropData", "opset1"): [("in 3 groups", "f32[1,3,8,8] f32[3,1,2,3,3]", WINDOW, 64 * 3 * 2 * 9, 0)],
    ("DeformableConvolution", "opset1"): [
        ("with interpolation", "f32[1,3,8,8] f32[1,18,8,8] f32[2,3,3,3]", DEFORMED, 64 * 2 * 27 + 4 * 64 * 27, 0)
    ],
    ("DeformableConvolution", "opset8"): [
        ("with a mask", "f32[1,3,8,8] f32[1,18,8,8] f32[2,3,3,3] f32[1,9,8,8]", DEFORMED, 64 * 2 * 27 + 4 * 64 * 27, 64 * 27)
    ],
    ("MaxPool", "opset8"): [("4 elements at 16 places of 3 channels", "f32[1,3,8,8]", {**POOL, "dilations": [1, 1]}, 0, 4 * 48)],
    ("AvgPool", "opset1"): [("4 elements at 16 places of 3 channels", "f32[1,3,8,8]", {**POOL, "exclude-pad": True}, 0, 4 * 48)],
    ("AdaptiveAvgPool", "opset8"): [("every element once", "f32[1,3,8,8] [2,2]", 0, 192)],
    ("Softmax", "opset1"): [("5 for each element", "f32[2,3]", {"axis": 1}, 0, 30)],
    ("Softmax", "opset8"): [("5 for each element", "f32[2,3]", {"axis": -1}, 0, 30)],
    ("Add", "opset1"): [("an element of the output", "f32[2,1] f32[3]", 0, 6)],
    ("ReLU", "opset1"): [("each element", "f32[2,3]", 0, 6)],
    ("Reshape", "opset1"): [("moves", "f32[2,3] [6]", {"special_zero": False}, 0, 0)],
    ("SegmentMax", "opset16"): [("each element of the data", "f32[4,3] [0,0,1,1]", {"fill_mode": "zero"}, 0, 12)],
    ("NonZero", "opset3"): [("each element of the data", "f32[2,3]", {"output_type": "i64"}, 0, 6)],
    ("Bucketize", "opset3"): [
        ("3 comparisons among 7", "f32[2,3] f32[7]", {"output_type": "i64"}, 0, 18),
        ("unknown", "f32[2] f32[?]", {"output_type": "i64"}, None, None),
    ],
    ("SearchSorted", "opset15"): [("3 comparisons among 7", "f32[7] f32[2,3]", 0, 18), ("unknown", "f32[?] f32[2]", None, None)],
    ("ROIPooling", "opset2"): [
        ("bilinear", "f32[1,3,8,8] f32[5,5]", {"output_size": [2, 2], "spatial_scale": 1.0, "method": "bilinear"}, 5 * 3 * 4 * 4, 0),
        ("max", "f32[1,3,8,8] f32[5,5]", {"output_size": [2, 2], "spatial_scale": 1.0, "method": "max"}, None, None),
    ],
    ("ROIAlign", "opset3"): [
        ("4 points", "f32[1,3,8,8] f32[5,4] i32[5]", {**ROI, "sampling_ratio": 2}, 60 * 16, 0),
        ("as many as needed", "f32[1,3,8,8] f32[5,4] i32[5]", {**ROI, "sampling_ratio": 0}, None, None),
    ],
    ("NV12toRGB", "opset8"): [("3 for each element of the image", "u8[1,6,4,1]", 4 * 4 * 3 * 3, 0)],
    ("RGBtoNV12", "opset17"): [("3 for each element of the image", "u8[1,4,4,3]", {"single_plane": True}, 4 * 4 * 3 * 3, 0)],
    ("GridSample", "opset9"): [
        ("bilinear", "f32[1,3,8,8] f32[1,2,2,2]", {"mode": "bilinear"}, 48, 0),
        ("nearest", "f32[1,3,8,8] f32[1,2,2,2]", {"mode": "nearest"}, 0, 0),
    ],
    ("Interpolate", "opset1"): [("2 axes", "f32[1,3,8,8] [16,16]", {"axes": [2, 3], "mode": "linear"}, 3 * 256 * 4, 0)],
    ("Interpolate", "opset4"): [("2 axes", "f32[1,3,8,8] [16,16] f32=[2,2] [2,3]", RESIZE, 3 * 256 * 4, 0)],
    ("Interpolate", "opset11"): [
        ("2 of 4 axes change", "f32[1,3,8,8] [1,3,16,16]", RESIZE, 3 * 256 * 4, 0),
        ("cubic", "f32[1,3,8,8] [16,16] [2,3]", {**RESIZE, "mode": "cubic"}, 3 * 256 * 16, 0),
        ("nearest", "f32[1,3,8,8] [16,16] [2,3]", {**RESIZE, "mode": "nearest"}, 0, 0),
        ("as many weights as the scale asks for", "f32[1,3,8,8] [4,4] [2,3]", {**RESIZE, "antialias": True}, None, None),
    ],
    ("Col2Im", "opset15"): [("each element of the data", "f32[12,9] [4,4] [2,2]", SLIDE, 0, 108)],
    ("ScatterElementsUpdate", "opset3"): [("moves", "f32[4] i64[2] f32[2] 0", 0, 0)],
    ("ScatterElementsUpdate", "opset12"): [("sums", "f32[4] i64[2] f32[2] 0", {"reduction": "sum"}, 0, 2)],
    ("ScatterNDUpdate", "opset15"): [
        ("sums", "f32[4] i64[2,1] f32[2]", {"reduction": "sum"}, 0, 2),
        ("moves", "f32[4] i64[2,1] f32[2]", 0, 0),
    ],
    ("BatchNormInference", "opset1"): [("a scale and a shift", "f32[3] f32[3] f32[2,3,4] f32[3] f32[3]", {"epsilon": 0.1}, 0, 48)],
    ("BatchNormInference", "opset5"): [("a scale and a shift", "f32[2,3,4] f32[3] f32[3] f32[3] f32[3]", {"epsilon": 0.1}, 0, 48)],
    ("GRN", "opset1"): [("3 for each element", "f32[2,3]", {"bias": 1.0}, 0, 18)],
    ("GroupNormalization", "opset12"): [("7 for each element", "f32[2,4,5] f32[4] f32[4]", {"num_groups": 2, "epsilon": 0.1}, 0, 280)],
    ("LRN", "opset1"): [
        ("a window of 5 channels, and 3", "f32[2,3,4] [1]", {"alpha": 1.0, "beta": 1.0, "bias": 1.0, "size": 5}, 0, 24 * 8)
    ],
    ("MVN", "opset2"): [("the mean alone", "f32[2,3,4]", {"eps": 0.1, "normalize_variance": False}, 0, 48)],
    ("MVN", "opset6"): [("with the deviation", "f32[2,3] [1]", {"eps": 0.1, "normalize_variance": True, "eps_mode": "inside_sqrt"}, 0, 30)],
    ("NormalizeL2", "opset1"): [("3 for each element", "f32[2,3] [1]", {"eps": 0.1, "eps_mode": "add"}, 0, 18)],
    ("FakeQuantize", "opset1"): [("7 for each element", "f32[2,3] f32[] f32[] f32[] f32[]", {"levels": 256}, 0, 42)],
    ("FakeConvert", "opset13"): [
        ("3 for each element", "f32[2,3] f32[]", {"destination_type": "f8e4m3"}, 0, 18),
        ("5 with a shift", "f32[2,3] f32[] f32[]", {"destination_type": "f8e4m3"}, 0, 30),
    ],
    ("ReduceSum", "opset1"): [("each element of the data", "f32[2,3] [1]", {"keep_dims": False}, 0, 6)],
    ("ScaledDotProductAttention", "opset13"): [
        ("E + V for each pair", "f32[2,8,3,5] f32[2,8,7,5] f32[2,8,7,9]", {"causal": False}, 2 * 8 * 3 * 7 * 14, 2 * 8 * 3 * 7 * 6),
        ("a mask", "f32[2,8,3,5] f32[2,8,7,5] f32[2,8,7,9] f32[3,7]", {"causal": False}, 2 * 8 * 3 * 7 * 14, 2 * 8 * 3 * 7 * 7),
    ],
    ("CTCGreedyDecoder", "opset1"): [("each element of the data", "f32[4,2,5] f32[4,2]", 0, 40)],
    ("CTCGreedyDecoderSeqLen", "opset6"): [("each element of the data", "f32[2,4,5] i32[2]", CTC, 0, 40)],
    ("RNNCell", "opset1"): [("4 + 3 inputs of 3 states", "f32[2,4] f32[2,3] f32[3,4] f32[3,3] f32[3]", {"hidden_size": 3}, 2 * 21, 12)],
    ("GRUCell", "opset3"): [("3 gates", "f32[2,4] f32[2,3] f32[9,4] f32[9,3] f32[9]", {"hidden_size": 3}, 2 * 63, 66)],
    ("LSTMCell", "opset1"): [("peepholes", "f32[2,4] f32[2,3] f32[2,3] f32[12,4] f32[12,3] f32[12] f32[9]", LSTM, 2 * 84 + 18, 78)],
    ("LSTMCell", "opset4"): [("4 gates", "f32[2,4] f32[2,3] f32[2,3] f32[12,4] f32[12,3] f32[12]", LSTM, 2 * 84, 78)],
    ("GRUSequence", "opset5"): [
        (
            "5 steps",
            "f32[2,5,4] f32[2,1,3] i32[2] f32[1,9,4] f32[1,9,3] f32[1,9]",
            {"hidden_size": 3, "direction": "forward"},
            5 * 2 * 63,
            330,
        )
    ],
    ("LSTMSequence", "opset5"): [
        (
            "5 steps in both directions",
            "f32[2,5,4] f32[2,2,3] f32[2,2,3] i32[2] f32[2,12,4] f32[2,12,3] f32[2,12]",
            {"hidden_size": 3, "direction": "bidirectional"},
            2 * 5 * 2 * 84,
            2 * 5 * 78,
        )
    ],
    ("DFT", "opset7"): [
        ("2 transforms of 8 numbers", "f32[2,8,2] [1]", 0, 2 * 5 * 8 * 3),
        ("an open length", "f32[2,?,2] [1]", None, None),
    ],
    ("RDFT", "opset9"): [("2 transforms of 8 numbers", "f32[2,8] [1]", 0, 120), ("cut to 4", "f32[2,8] [1] [4]", 0, 2 * 2.5 * 4 * 2)],
    ("IRDFT", "opset9"): [("2 transforms of 8 numbers", "f32[2,5,2] [1]", 0, 120)],
    ("STFT", "opset15"): [
        ("3 frames of 8 numbers", "f32[1,16] f32[8] 8 4", {"transpose_frames": False}, 0, 3 * (8 + 60)),
        ("open", "f32[1,16] f32[8] i64[] 4", {"transpose_frames": False}, None, None),
        ("a length that nobody looks at", "f32[3] f32[9] -4 i64[]", {"transpose_frames": False}, None, None),
    ],
    ("ISTFT", "opset16"): [("3 frames of 8 numbers", "f32[5,3,2] f32[8] 8 4", {"center": False, "normalized": False}, 0, 3 * (8 + 60))],
    ("EmbeddingSegmentsSum", "opset3"): [("4 rows of 3 elements", "f32[5,3] i64[4] i64[4] 2", 0, 12)],
    ("EmbeddingBagOffsetsSum", "opset3"): [("weighted", "f32[5,3] i64[4] i64[2] i64[] f32[4]", 12, 0)],
    ("EmbeddingBagPackedSum", "opset3"): [("4 rows of 3 elements", "f32[5,3] i64[2,2]", 0, 12)],
    ("ConvertPromoteTypes", "opset14"): [("each element of both", "f32[2,3] f16[4]", {"promote_unsafe": False}, 0, 10)],
    ("Convert", "opset1"): [("each element", "f32[2,3]", {"destination_type": "f16"}, 0, 6)],
    ("TopK", "opset11"): [("no rule", "f32[2,9] 3", {"axis": 1, "mode": "max", "sort": "value", "index_element_type": "i32"}, None, None)],
}

CASES = [(type, version, row) for (type, version), rows in ROWS.items() for row in rows]


@pytest.mark.parametrize(("type", "version", "row"), CASES, ids=[f"{type}-{version}-{row[0]}" for type, version, row in CASES])
def test_a_layer_costs_what_its_rule_says(type: str, version: str, row: tuple[Any, ...]) -> None:
    name, inputs, *attributes, macs, operations = row
    net = net_of(type, version, (name, inputs, *attributes, "f32"))
    cost = irshape.cost(net.xml.encode(), weights=net.bin)
    assert cost._inference.ok, cost.diagnostics
    layer = next(one for one in cost.layers if one.type == type)
    if macs is None:
        assert layer.uncounted is not None
        assert cost.uncounted == [layer]
        assert (cost.macs, cost.operations) == (0, 0)
        assert layer.uncounted == UNKNOWN_SIZE or REGISTRY.versions(type)[version].cost is None
        return
    assert layer.uncounted is None
    assert (str(layer.macs), str(layer.operations)) == (str(macs), str(int(operations) if isinstance(operations, float) else operations))
    assert str(cost.macs) == str(macs)


def test_every_rule_has_a_row() -> None:
    """Operations that share a rule share the row; two rules are about no work, or one operation for each element."""
    held = {cls.cost for type, version in ROWS if (cls := REGISTRY.find(type, version)) is not None}
    for type in MODULES:
        REGISTRY.find(type, "opset1")  # loads its module
    rules = {cls.cost: cls for cls in REGISTRY.classes() if cls.cost is not None and cls.cost not in (moved, each_element)}
    assert sorted(f"{cls.TYPE} {cls.VERSION}" for rule, cls in rules.items() if rule not in held) == []


def test_every_rule_says_in_words_what_it_counts() -> None:
    for type in MODULES:
        REGISTRY.find(type, "opset1")
    assert [cls.__name__ for cls in REGISTRY.classes() if cls.cost is not None and not (cls.cost.__doc__ or "").strip()] == []
