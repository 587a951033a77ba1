"""The flow of every operation: where the batch N lies in the inputs of a layer, and where in its outputs, or how the layer mixes it.

A row is `(name, inputs, attributes, expected)`, or three of these without attributes; the inputs are written as in the other tests of this
folder. An axis may have the size N, or several factors, the outer one first: `[N.12,9]` has 12*N rows, 12 for each sample. The expected
text has the axes of each output, or says how the layer mixes samples.

The same rows run in OpenVINO, with stacks of three samples and with single samples.
"""

from typing import Any

import numpy as np
import pytest

from irshape.answers.batch.traces import FlowLayer, FlowTensor, FollowingEngine, Traces
from irshape.inference.question import Question
from irshape.model.load import loaded
from irshape.ops.flow import Factor, Held, Trace
from irshape.ops.index import MODULES
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY
from irshape.shape.dim import product
from tests.support.ir import Net
from tests.support.oracle import core
from tests.support.rows import Const, attributes_of, inputs_of

WINDOW = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "auto_pad": "explicit"}
POOL = {"kernel": [2, 2], "strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0], "rounding_type": "floor", "auto_pad": "explicit"}
RESIZE = {
    "mode": "linear_onnx", "shape_calculation_mode": "sizes", "coordinate_transformation_mode": "half_pixel", "nearest_mode": "floor",
    "antialias": False, "pads_begin": [0], "pads_end": [0], "cube_coeff": -0.75,
}  # fmt: skip
LSTM = {"hidden_size": 3, "activations": ["sigmoid", "tanh", "tanh"]}
GRU = {"hidden_size": 3, "activations": ["sigmoid", "tanh"], "linear_before_reset": False}
PATCHES = {"sizes": [2, 2], "strides": [2, 2], "rates": [1, 1], "auto_pad": "valid"}
NMS = {"box_encoding": "corner", "sort_result_descending": True, "output_type": "i64"}
LISTS = "lists the boxes of all samples"
REGIONS = "takes regions of the samples that data names out of axis 0"
SORTED = {"mode": "max", "sort": "value", "index_element_type": "i32"}
FIRST = {"begin_mask": [0], "end_mask": [0], "shrink_axis_mask": [1]}
POOLED = {"pooled_h": 2, "pooled_w": 2, "spatial_scale": 1.0}
GROUPED = {"output_dim": 2, "group_size": 2, "spatial_scale": 1.0}
SAMPLED = {**POOLED, "sampling_ratio": 2}
DEFORMED = {**WINDOW, "group": 1, "deformable_group": 1, "bilinear_interpolation_pad": False}
DETECTED = {"keep_top_k": [3], "nms_threshold": 0.5, "background_label_id": 0, "normalized": True}
PROPOSED = {"min_size": 1.0, "nms_threshold": 0.5, "post_nms_count": 5, "pre_nms_count": 10}
PROPOSAL = {
    "base_size": 16, "pre_nms_topn": 10, "post_nms_topn": 5, "nms_thresh": 0.5, "feat_stride": 16, "min_size": 8,
    "ratio": [0.5, 1.0, 2.0], "scale": [4.0, 8.0, 16.0, 32.0], "framework": "",
}  # fmt: skip
SLIDING = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
DRAWN = {"convert_type": "i64", "with_replacement": True, "log_probs": False, "global_seed": 1, "op_seed": 2}

FLOWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("Relu", "opset1"): [("the batch is the first axis", "f32[N,9]", "[N,9]"), ("heads are folded in", "f32[N.12,9]", "[N.12,9]")],
    ("Add", "opset1"): [
        ("both have the batch", "f32[N,9] f32[N,9]", "[N,9]"),
        ("weights are broadcast", "f32[N,9] f32[9]", "[N,9]"),
        ("axes are counted from the last one", "f32[N,5] f32[4,1,1]", "[4,N,5]"),
        ("heads are folded in", "f32[N.2,5] f32[5]", "[N.2,5]"),
        ("rows of one sample meet columns of another", "f32[N,1] f32[1,N]", "puts samples of N together"),
        ("the batch lies outside in one input, inside in the other", "f32[N.2,5] f32[2.N,5]", "puts samples of N together"),
    ],
    ("Select", "opset1"): [("a mask without batch", "boolean[1,9] f32[N,9] f32[N,9]", "[N,9]")],
    ("FakeQuantize", "opset1"): [("bounds without batch", "f32[N,9] f32[] f32[] f32[] f32[]", {"levels": 256}, "[N,9]")],
    ("PRelu", "opset1"): [("slopes of channels", "f32[N,3,5] f32[3]", "[N,3,5]")],
    ("Convert", "opset1"): [("another element type", "f32[N,9]", {"destination_type": "f16"}, "[N,9]")],
    ("ConvertLike", "opset1"): [
        ("only the type of the second input is read", "f32[N,9] f16[2]", "[N,9]"),
        ("also if that one has the batch", "f32[4] f16[N]", "[4]"),
    ],
    ("ShapeOf", "opset3"): [("sizes are a value", "f32[N,9]", {"output_type": "i64"}, "[2] of ShapeOf")],
    ("Reshape", "opset1"): [
        ("axes behind the batch are joined", "f32[N,4,9] [0,36]", {"special_zero": True}, "[N,4.9]"),
        ("heads are split", "f32[N,9,12] [0,9,3,4]", {"special_zero": True}, "[N,9,3,4]"),
        ("the batch takes up rows", "f32[N,9,16] [-1,16]", {"special_zero": False}, "[N.9,16]"),
        ("and gives them back", "f32[N.9,16] [-1,9,16]", {"special_zero": False}, "[N,9,16]"),
        ("rows are regrouped within a sample", "f32[N.12,9] [-1,3,4,9]", {"special_zero": False}, "[N,3,4,9]"),
        ("the batch goes into the last axis", "f32[N,4,4] [1,4,-1]", {"special_zero": False}, "samples of N run into other axes"),
        ("the batch lies inside", "f32[4.N,9] [4,-1,9]", {"special_zero": False}, "[4,N,9]"),
        ("rows of several samples", "f32[N.9,16] [3,-1,16]", {"special_zero": False}, "samples of N run into other axes"),
    ],
    ("Squeeze", "opset1"): [("an axis of size 1", "f32[N,1,9] [1]", "[N,9]")],
    ("Unsqueeze", "opset1"): [("an axis before the batch", "f32[N,9] [0]", "[1,N,9]")],
    ("Transpose", "opset1"): [
        ("the batch moves", "f32[N,4,9] [1,0,2]", "[4,N,9]"),
        ("its factors stay together", "f32[N.2,9] [1,0]", "[9,N.2]"),
    ],
    ("Concat", "opset1"): [
        ("along another axis", "f32[N,4] f32[N,5]", {"axis": 1}, "[N,9]"),
        ("whole batches lie outside of the samples", "f32[N,4] f32[N,4]", {"axis": 0}, "[2.N,4]"),
        ("a token more", "f32[N,4] f32[1,4]", {"axis": 0}, "concatenates axis 0 of data[0]"),
    ],
    ("Split", "opset1"): [
        ("along another axis", "f32[N,4] 1", {"num_splits": 2}, "[N,2] [N,2]"),
        ("whole batches", "f32[2.N,4] 0", {"num_splits": 2}, "[N,4] [N,4]"),
        ("samples", "f32[N.2,4] 0", {"num_splits": 2}, "splits axis 0 N*2 of data"),
    ],
    ("VariadicSplit", "opset1"): [
        ("along another axis", "f32[N,4] 1 [1,-1]", "[N,1] [N,3]"),
        ("along the batch", "f32[N,4] 0 [1,-1]", "splits axis 0 of data"),
    ],
    ("Slice", "opset8"): [
        ("a part of another axis", "f32[N,9] [2] [5] [1] [1]", "[N,3]"),
        ("the whole batch", "f32[N,9] [0] [9223372036854775807] [1] [0]", "[N,9]"),
        ("the first sample", "f32[N,9] [0] [1] [1] [0]", "takes a part of axis 0 of data"),
        ("the batch in reverse", "f32[N,9] [-1] [-9223372036854775807] [-1] [0]", "takes a part of axis 0 of data"),
        ("a limit that only data tells", "f32[N,9] i64[1] [5] [1] [1]", "[N,?]"),
    ],
    ("StridedSlice", "opset1"): [
        ("a part of another axis", "f32[N,9] [0,2] [0,5] [1,1]", {"begin_mask": [1, 0], "end_mask": [1, 0]}, "[N,3]"),
        ("an axis more", "f32[N,9] [0] [0] [1]", {"begin_mask": [1], "end_mask": [1], "new_axis_mask": [1]}, "[1,N,9]"),
        ("one element of another axis", "f32[9,N] [2] [3] [1]", {"begin_mask": [0], "end_mask": [0], "shrink_axis_mask": [1]}, "[N]"),
        ("the first sample", "f32[N,9] [0] [1] [1]", FIRST, "takes a part of axis 0 of data"),
    ],
    ("SliceScatter", "opset15"): [
        ("into a part of another axis", "f32[N,9] f32[N,3] [2] [5] [1] [1]", "[N,9]"),
        ("into one sample", "f32[N,9] f32[1,9] [0] [1] [1] [0]", "writes into a part of axis 0 of data"),
    ],
    ("Broadcast", "opset3"): [
        ("an axis more", "f32[N,9] [4,1,9]", {"mode": "bidirectional"}, "[4,N,9]"),
        ("axes are mapped", "f32[9] [4,9] [1]", {"mode": "explicit"}, "[4,9]"),
    ],
    ("Tile", "opset1"): [
        ("along another axis", "f32[N,9] [1,2]", "[N,2.9]"),
        ("copies lie outside of the samples", "f32[N,9] [2,1]", "[2.N,9]"),
        ("copies of rows lie outside, too", "f32[N.3,9] [2,1]", "[2.N.3,9]"),
    ],
    ("Pad", "opset12"): [
        ("another axis", "f32[N,9] [0,1] [0,2] f32=0.0", {"pad_mode": "constant"}, "[N,12]"),
        ("the batch", "f32[N,9] [1,0] [0,0] f32=0.0", {"pad_mode": "constant"}, "pads axis 0 of data"),
    ],
    ("Roll", "opset7"): [
        ("another axis", "f32[N,9] [2] [1]", "[N,9]"),
        ("the batch", "f32[N,9] [2] [0]", "rolls axis 0 of data"),
    ],
    ("Reverse", "opset1"): [("another axis", "f32[N,9] [1]", {"mode": "index"}, "[N,9]")],
    ("ReverseSequence", "opset1"): [
        ("the batch axis", "f32[N,9] i32[N]", {"batch_axis": 0, "seq_axis": 1}, "[N,9]"),
        ("the sequence", "f32[N,9] i32[9]", {"batch_axis": 1, "seq_axis": 0}, "reverses axis 0 of data"),
    ],
    ("ShuffleChannels", "opset1"): [("channels", "f32[N,6,2,2]", {"axis": 1, "group": 3}, "[N,6,2,2]")],
    ("SpaceToBatch", "opset2"): [
        ("blocks lie outside of the samples", "f32[N,4,6] [1,2,3] [0,0,0] [0,0,0]", "[6.N,2,2]"),
        ("along the batch", "f32[2,N] [1,1] [0,0] [0,0]", "moves blocks out of axis 1 of data"),
    ],
    ("BatchToSpace", "opset2"): [
        ("blocks that lie outside of the samples", "f32[6.N,2,2] [1,2,3] [0,0,0] [0,0,0]", "[N,4,6]"),
        ("blocks of samples", "f32[N.6,2,2] [1,2,3] [0,0,0] [0,0,0]", "makes N of axis 0 N*6 of data"),
    ],
    ("SpaceToDepth", "opset1"): [("blocks of one image", "f32[N,3,4,4]", {"block_size": 2, "mode": "blocks_first"}, "[N,12,2,2]")],
    ("DepthToSpace", "opset1"): [("blocks of one image", "f32[N,12,2,2]", {"block_size": 2, "mode": "blocks_first"}, "[N,3,4,4]")],
    ("ExtractImagePatches", "opset3"): [("patches of one image", "f32[N,3,4,4]", PATCHES, "[N,12,2,2]")],
    ("Col2Im", "opset15"): [("columns of one image", "f32[N,12,9] [4,4] [2,2]", SLIDING, "[N,3,4,4]")],
    ("Gather", "opset8"): [
        ("along another axis", "f32[N,9] [0,2] 1", {"batch_dims": 0}, "[N,2]"),
        ("embeddings of tokens", "f32[20,9] i32[N,5] 0", {"batch_dims": 0}, "[N,5,9]"),
        ("one element", "f32[N,4,9] 2 1", {"batch_dims": 0}, "[N,9]"),
        ("within each sample", "f32[N,4,9] i32[N,5] 1", {"batch_dims": 1}, "[N,5,9]"),
        ("the first sample", "f32[N,9] 0 0", {"batch_dims": 0}, "gathers along axis 0 of data"),
        ("all samples for each sample", "f32[N,9] i32[N] 1", {"batch_dims": 0}, "puts samples of N together"),
    ],
    ("GatherElements", "opset6"): [
        ("along another axis", "f32[N,9] i32[N,2]", {"axis": 1}, "[N,2]"),
        ("along the batch", "f32[N,9] i32[2,9]", {"axis": 0}, "gathers along axis 0 of data"),
    ],
    ("GatherND", "opset8"): [
        ("within each sample", "f32[N,4,9] i32[N,5,1]", {"batch_dims": 1}, "[N,5,9]"),
        ("from data for all", "f32[4,9] i32[N,5,1]", {"batch_dims": 0}, "[N,5,9]"),
        ("axes behind the tuples", "f32[4,N] [[0],[3]]", {"batch_dims": 0}, "[2,N]"),
        ("samples", "f32[N,4] [[0],[0]]", {"batch_dims": 0}, "gathers along axis 0 of data"),
    ],
    ("GatherTree", "opset1"): [("the second axis is the batch", "i32[5,N,2] i32[5,N,2] i32[N] i32=1", "[5,N,2]")],
    ("ScatterUpdate", "opset3"): [
        ("along another axis", "f32[N,9] [1,3] f32[N,2] 1", "[N,9]"),
        ("along the batch", "f32[N,9] [0] f32[1,9] 0", "writes into a part of axis 0 of data"),
    ],
    ("ScatterElementsUpdate", "opset3"): [
        ("along another axis", "f32[N,9] i32[N,2] f32[N,2] 1", "[N,9]"),
        ("only the first sample", "f32[N,9] i32[1,2] f32[1,2] 1", "writes into the first samples of N only"),
    ],
    ("ScatterNDUpdate", "opset4"): [
        ("axes behind the tuples", "f32[4,N] [[0],[3]] f32[2,N]", "[4,N]"),
        ("samples", "f32[N,4] [[0],[0]] f32[2,4]", "writes into a part of axis 0 of data"),
        ("places of all samples", "f32[4,9] i32[N,1] f32[N,9]", "takes as places axis 0 of indices"),
    ],
    ("Unique", "opset10"): [("elements of all samples", "f32[N,9]", {"sorted": True}, "lists the elements that differ along axis 0")],
    ("ReduceSum", "opset1"): [
        ("another axis", "f32[N,9] [1]", {"keep_dims": False}, "[N]"),
        ("an axis before the batch", "f32[9,N] [0]", {"keep_dims": False}, "[N]"),
        ("which stays with size 1", "f32[9,N] [0]", {"keep_dims": True}, "[1,N]"),
        ("the batch", "f32[N,9] [-2]", {"keep_dims": True}, "reduces axis 0 of data"),
        ("rows of all samples", "f32[N.4,9] [0]", {"keep_dims": True}, "reduces axis 0 N*4 of data"),
    ],
    ("ReduceLogicalAnd", "opset1"): [("another axis", "boolean[N,9] [1]", {"keep_dims": False}, "[N]")],
    ("CumSum", "opset3"): [
        ("another axis", "f32[N,9] 1", "[N,9]"),
        ("the batch", "f32[N,9] 0", "sums along axis 0 of data"),
    ],
    ("Softmax", "opset8"): [
        ("another axis", "f32[N,9]", {"axis": -1}, "[N,9]"),
        ("the batch", "f32[N,9]", {"axis": 0}, "normalises along axis 0 of data"),
    ],
    ("Softmax", "opset1"): [("another axis", "f32[N,9]", {"axis": 1}, "[N,9]")],
    ("LogSoftmax", "opset5"): [("another axis", "f32[N,9]", {"axis": 1}, "[N,9]")],
    ("BatchNormInference", "opset5"): [("statistics are constants", "f32[N,3,4] f32[3] f32[3] f32[3] f32[3]", {"epsilon": 0.1}, "[N,3,4]")],
    ("GroupNormalization", "opset12"): [("groups of one sample", "f32[N,4,5] f32[4] f32[4]", {"num_groups": 2, "epsilon": 0.1}, "[N,4,5]")],
    ("GRN", "opset1"): [("channels", "f32[N,4,2,2]", {"bias": 0.5}, "[N,4,2,2]")],
    ("LRN", "opset1"): [("channels", "f32[N,4,2,2] [1]", {"alpha": 0.1, "beta": 0.5, "bias": 1.0, "size": 3}, "[N,4,2,2]")],
    ("NormalizeL2", "opset1"): [
        ("channels", "f32[N,4] [1]", {"eps": 0.1, "eps_mode": "add"}, "[N,4]"),
        ("the batch", "f32[N,4] [0]", {"eps": 0.1, "eps_mode": "add"}, "normalises along axis 0 of data"),
    ],
    ("MVN", "opset6"): [
        ("another axis", "f32[N,9] [1]", {"eps": 0.1, "normalize_variance": True, "eps_mode": "INSIDE_SQRT"}, "[N,9]"),
        ("the batch", "f32[N,9] [0]", {"eps": 0.1, "normalize_variance": True, "eps_mode": "INSIDE_SQRT"}, "normalises along axis 0"),
    ],
    ("MVN", "opset2"): [
        ("channels", "f32[N,3,4,4]", {"eps": 0.1, "across_channels": True, "normalize_variance": True}, "[N,3,4,4]"),
        ("samples are channels", "f32[2,N,4,4]", {"eps": 0.1, "across_channels": False, "normalize_variance": True}, "[2,N,4,4]"),
        ("across them", "f32[2,N,4,4]", {"eps": 0.1, "across_channels": True, "normalize_variance": True}, "normalises along axis 1"),
    ],
    ("MaxPool", "opset1"): [("windows of one image", "f32[N,3,4,4]", POOL, "[N,3,2,2]")],
    ("MaxPool", "opset8"): [
        ("places within an image", "f32[N,3,4,4]", {**POOL, "dilations": [1, 1], "axis": 2}, "[N,3,2,2] [N,3,2,2]"),
        ("places within the batch", "f32[N,3,4,4]", {**POOL, "dilations": [1, 1], "axis": 0}, "[N,3,2,2] [N,3,2,2] of MaxPool"),
    ],
    ("AvgPool", "opset1"): [
        ("windows of one image", "f32[N,3,4,4]", {**POOL, "exclude-pad": True}, "[N,3,2,2]"),
        ("windows over samples", "f32[2,3,N,4]", {**POOL, "kernel": [1, 2], "exclude-pad": True}, "slides windows over axis 2 of data"),
    ],
    ("AdaptiveAvgPool", "opset8"): [("windows of one image", "f32[N,3,4,4] [2,2]", "[N,3,2,2]")],
    ("Convolution", "opset1"): [
        ("windows of one image", "f32[N,3,4,4] f32[2,3,3,3]", WINDOW, "[N,2,2,2]"),
        ("samples as channels", "f32[1,N,4,4] f32[2,N,3,3]", WINDOW, "slides windows over axis 1 of data"),
        ("filters of samples", "f32[1,3,4,4] f32[N,3,3,3]", WINDOW, "puts together axis 0 of filters"),
    ],
    ("ConvolutionBackpropData", "opset1"): [("windows of one image", "f32[N,3,4,4] f32[3,2,3,3]", WINDOW, "[N,2,6,6]")],
    ("GroupConvolution", "opset1"): [("groups of channels", "f32[N,4,4,4] f32[2,1,2,3,3]", WINDOW, "[N,2,2,2]")],
    ("DeformableConvolution", "opset8"): [("windows of one image", "f32[N,3,4,4] f32[N,18,2,2] f32[2,3,3,3]", DEFORMED, "[N,2,2,2]")],
    ("MatMul", "opset1"): [
        ("rows and weights", "f32[N,3] f32[3,4]", "[N,4]"),
        ("rows of samples", "f32[N.5,3] f32[3,4]", "[N.5,4]"),
        ("columns", "f32[4,3] f32[3,N]", "[4,N]"),
        ("transposed", "f32[3,N] f32[4,3]", {"transpose_a": True, "transpose_b": True}, "[N,4]"),
        ("a matrix for each sample", "f32[N,2,3] f32[N,3,4]", "[N,2,4]"),
        ("heads", "f32[N,6,2,3] f32[6,3,4]", "[N,6,2,4]"),
        ("a vector", "f32[N,2,3] f32[3]", "[N,2]"),
        ("the batch is contracted", "f32[2,N] f32[N,4]", "sums over axis 1 of matrix_a"),
        ("each sample with each", "f32[N,3] f32[3,N]", "puts samples of N together"),
        ("rows of all samples", "f32[4,N.9,4] f32[4,4,N.9]", "puts samples of N together"),
    ],
    ("Einsum", "opset7"): [
        ("a product of matrices", "f32[N,2,3] f32[3,4]", {"equation": "bij,jk->bik"}, "[N,2,4]"),
        ("attention", "f32[N,2,3,5] f32[N,2,4,5]", {"equation": "bhqd,bhkd->bhqk"}, "[N,2,3,4]"),
        ("an ellipsis", "f32[N,2,3] f32[3,4]", {"equation": "...j,jk->...k"}, "[N,2,4]"),
        ("the batch is contracted", "f32[N,3] f32[N,4]", {"equation": "bi,bj->ij"}, "sums over axis 0 of data[0]"),
        ("each sample with each", "f32[N,3] f32[N,3]", {"equation": "ai,bi->ab"}, "puts samples of N together"),
        ("the diagonal", "f32[N,N]", {"equation": "ii->i"}, "sums over axis 0"),
    ],
    ("Inverse", "opset14"): [("a matrix for each sample", "f32[N,3,3]", {"adjoint": False}, "[N,3,3]")],
    ("ScaledDotProductAttention", "opset13"): [
        ("heads", "f32[N,2,4,8] f32[N,2,5,8] f32[N,2,5,8]", {"causal": False}, "[N,2,4,8]"),
        ("heads are folded in", "f32[N.2,4,8] f32[N.2,5,8] f32[N.2,5,8]", {"causal": False}, "[N.2,4,8]"),
        ("a mask", "f32[N,2,4,8] f32[N,2,5,8] f32[N,2,5,8] f32[N,1,4,5]", {"causal": False}, "[N,2,4,8]"),
        ("over samples", "f32[2,N,8] f32[2,N,8] f32[2,N,8]", {"causal": False}, "attends over axis 1 of key"),
    ],
    ("LSTMCell", "opset4"): [("states of samples", "f32[N,5] f32[N,3] f32[N,3] f32[12,5] f32[12,3] f32[12]", LSTM, "[N,3] [N,3]")],
    ("GRUCell", "opset3"): [("states of samples", "f32[N,5] f32[N,3] f32[9,5] f32[9,3] f32[9]", GRU, "[N,3]")],
    ("LSTMSequence", "opset5"): [
        (
            "states of samples", "f32[N,4,5] f32[N,1,3] f32[N,1,3] i32[N] f32[1,12,5] f32[1,12,3] f32[1,12]",
            {**LSTM, "direction": "forward"}, "[N,1,4,3] [N,1,3] [N,1,3]",
        ),
        (
            "samples as steps", "f32[2,N,5] f32[2,1,3] f32[2,1,3] [4,4] f32[1,12,5] f32[1,12,3] f32[1,12]",
            {**LSTM, "direction": "forward"}, "multiplies and sums over axis 1 of X",
        ),
    ],
    ("CTCGreedyDecoder", "opset1"): [("the second axis is the batch", "f32[4,N,5] f32[4,N]", {"ctc_merge_repeated": True}, "[N,4,1,1]")],
    ("CTCGreedyDecoderSeqLen", "opset6"): [
        ("the first axis is the batch", "f32[N,4,5] i32[N]", {"classes_index_type": "i32", "sequence_length_type": "i32"}, "[N,4] [N]"),
    ],
    ("CTCLoss", "opset4"): [("a loss for each sample", "f32[N,4,5] i32[N] i32[N,4] i32[N] i32=0", "[N]")],
    ("OneHot", "opset1"): [
        ("behind", "i64[N,5] 4 f32=1.0 f32=0.0", {"axis": -1}, "[N,5,4]"),
        ("before the batch", "i64[N,5] 4 f32=1.0 f32=0.0", {"axis": 0}, "[4,N,5]"),
    ],
    ("DFT", "opset7"): [
        ("another axis", "f32[N,4,2] [1]", "[N,4,2]"),
        ("the batch", "f32[N,4,2] [0]", "transforms axis 0 of data"),
    ],
    ("RDFT", "opset9"): [("the last axis", "f32[N,4] [-1]", "[N,3,2]")],
    ("IRDFT", "opset9"): [("the axis before the last", "f32[N,3,2] [-1]", "[N,4]")],
    ("STFT", "opset15"): [("a signal for each sample", "f32[N,16] f32[8] 8 4", {"transpose_frames": False}, "[N,3,5,2]")],
    ("ISTFT", "opset16"): [
        ("a signal for each sample", "f32[N,5,3,2] f32[8] 8 4", {"center": False, "normalized": False}, "[N,16]"),
    ],
    ("TopK", "opset11"): [
        ("along another axis", "f32[N,9] 2", {"axis": 1, "mode": "max", "sort": "value", "index_element_type": "i32"}, "[N,2] [N,2]"),
        ("along the batch", "f32[N,9] 1", {"axis": 0, **SORTED}, "sorts along axis 0 of data"),
    ],
    ("SearchSorted", "opset15"): [
        ("a sequence for each sample", "f32[N,4] f32[N,5]", {"right_mode": False}, "[N,5]"),
        ("a sequence for all", "f32[4] f32[N,5]", {"right_mode": False}, "[N,5]"),
    ],
    ("NonMaxSuppression", "opset9"): [("boxes", "f32[N,6,4] f32[N,2,6]", NMS, LISTS)],
    ("MatrixNms", "opset8"): [("boxes", "f32[N,6,4] f32[N,2,6]", {}, LISTS)],
    ("MulticlassNms", "opset9"): [("boxes", "f32[N,6,4] f32[N,2,6]", {}, LISTS)],
    ("NMSRotated", "opset13"): [("boxes", "f32[N,6,5] f32[N,2,6] 2 f32=0.5 f32=0.1", {}, LISTS)],
    ("DetectionOutput", "opset8"): [("boxes", "f32[N,24] f32[N,12] f32[1,2,24]", DETECTED, LISTS)],
    ("Proposal", "opset4"): [("boxes", "f32[N,24,3,3] f32[N,48,3,3] f32[3]", PROPOSAL, LISTS)],
    ("GenerateProposals", "opset9"): [("boxes", "f32[N,3] f32[3,3,2,4] f32[N,8,3,3] f32[N,2,3,3]", PROPOSED, LISTS)],
    ("NonZero", "opset3"): [("elements of all samples", "f32[N,9]", {"output_type": "i64"}, "lists the places of elements along axis 0")],
    ("Bucketize", "opset3"): [
        ("data", "f32[N,9] f32[4]", {"output_type": "i64", "with_right_bound": True}, "[N,9]"),
        ("boundaries", "f32[9] f32[N]", {"output_type": "i64", "with_right_bound": True}, "puts together axis 0 of buckets"),
    ],
    ("Interpolate", "opset4"): [
        ("sides", "f32[N,3,4,4] [8,8] f32=[2.0,2.0] [2,3]", RESIZE, "[N,3,8,8]"),
        ("all axes, with the same batch", "f32[2,3,4,N] [8] f32=[2.0] [2]", RESIZE, "[2,3,8,N]"),
        ("along the batch", "f32[N,3,4,4] [6] f32=[2.0] [0]", RESIZE, "resizes axis 0 of data"),
    ],
    ("Interpolate", "opset1"): [
        ("sides", "f32[N,3,4,4] [8,8]", {"axes": [2, 3], "mode": "nearest", "align_corners": False, "antialias": False}, "[N,3,8,8]"),
    ],
    ("GridSample", "opset9"): [
        (
            "a grid for each image", "f32[N,3,4,4] f32[N,5,5,2]",
            {"align_corners": False, "mode": "bilinear", "padding_mode": "zeros"}, "[N,3,5,5]",
        ),
    ],
    ("NV12toRGB", "opset8"): [("planes of one image", "u8[N,4,4,1] u8[N,2,2,2]", "[N,4,4,3]")],
    ("RGBtoNV12", "opset17"): [("planes of one image", "u8[N,4,4,3]", {"single_plane": True}, "[N,6,4,1]")],
    ("ROIPooling", "opset2"): [("images that rois name", "f32[N,3,8,8] f32[4,5]", {**POOLED, "method": "max"}, REGIONS)],
    ("PSROIPooling", "opset1"): [
        (
            "images that rois name", "f32[N,8,8,8] f32[4,5]",
            {"output_dim": 2, "group_size": 2, "spatial_scale": 1.0, "mode": "average", "spatial_bins_x": 1, "spatial_bins_y": 1},
            REGIONS,
        ),
    ],
    ("DeformablePSROIPooling", "opset1"): [("images that rois name", "f32[N,8,8,8] f32[4,5]", GROUPED, REGIONS)],
    ("ROIAlign", "opset9"): [
        ("images that indices name", "f32[N,3,8,8] f32[4,4] i32[4]", {**SAMPLED, "mode": "avg", "aligned_mode": "asymmetric"}, REGIONS),
    ],
    ("ROIAlignRotated", "opset15"): [
        ("images that indices name", "f32[N,3,8,8] f32[4,5] i32[4]", {**SAMPLED, "clockwise_mode": False}, REGIONS),
    ],
    ("EmbeddingBagOffsetsSum", "opset3"): [
        ("bags that data tell", "f32[9,4] i32[N.3] i32[N]", "its bags may hold indices of several samples"),
    ],
    ("EmbeddingBagPackedSum", "opset3"): [("bags of samples", "f32[9,4] i32[N,3]", "[N,4]")],
    ("RandomUniform", "opset8"): [
        ("drawn anew", "[3] f32=0.0 f32=1.0", {"output_type": "f32", "global_seed": 1, "op_seed": 2}, "it draws random numbers"),
    ],
    ("Multinomial", "opset13"): [("drawn anew", "f32[N,9] 2", DRAWN, "it draws random numbers")],
}  # fmt: skip

CASES = [(type, version, row) for (type, version), rows in FLOWS.items() for row in rows]
IDS = [f"{type}-{version}: {row[0]}" for type, version, row in CASES]
# Inputs that hold numbers of steps or of elements, which are at least 1.
COUNTS = ("sequence_length", "logit_length", "label_length", "seq_lengths", "sequence_lengths", "max_seq_len")


def axes_of(fact: str) -> list[list[str]]:
    """The factors of each axis of `f32[N.12,9]`."""
    shape = fact.partition("[")[2].removesuffix("]")
    return [axis.split(".") for axis in shape.split(",")] if shape else []


class Case:
    """A row: the net of its layer with open sizes, the traces of its inputs, and what flows out of the layer."""

    def __init__(self, type: str, version: str, row: tuple[Any, ...]) -> None:
        self.inputs = inputs_of(row)
        self.outputs = 3 if type in ("LSTMSequence", "MatrixNms", "MulticlassNms", "GenerateProposals") else 1
        expected = row[-1].replace(" of ShapeOf", "").replace(" of MaxPool", "")
        self.outputs = max(self.outputs, len(expected.split()) if expected.startswith("[") else 1, 4 * (type == "Unique"))
        self.net = net = Net()
        refs = [net.const(*one) if isinstance(one, Const) else net.parameter(self.open_of(one)) for one in self.inputs]
        attributes = {name.replace("-", "__"): value for name, value in attributes_of(row).items()}
        for ref in net.layer(type, refs, ["FP32"] * self.outputs, version, **attributes):
            net.result(ref)
        model, weights = loaded(net.xml.encode(), net.bin)
        self.engine = engine = FollowingEngine(model, weights)
        batch = engine.scope.symbol("N", 1)
        self.held: list[Held] = []
        shapes = {}
        for node, one in zip(model.nodes, self.inputs, strict=False):
            if isinstance(one, str):
                trace = tuple(tuple(Factor(batch if size == "N" else int(size)) for size in axis) for axis in axes_of(one))
                self.held.append(Held(trace))
                shapes[node.index] = tuple(product([factor.size for factor in axis]) for axis in trace)
        engine.run(Question(shapes))
        self.errors = [str(found) for found in engine.diagnostics if found.severity == "error"]
        self.node = next(node for node in model.nodes if node.type == type)
        traces = Traces("N")
        traces.held.update(zip([node.first_slot for node in model.parameters], self.held, strict=True))
        tensors = [FlowTensor(slot, engine.slots[slot]) for slot in self.node.sources]
        first = self.node.first_slot
        gives = [FlowTensor(slot, engine.slots[slot]) for slot in range(first, first + self.outputs)]
        self.found = traces.visit(FlowLayer(self.node.op, f"{type} 'it'", tensors, gives))

    @staticmethod
    def open_of(fact: str) -> str:
        """The fact of a Parameter whose axes with N are open."""
        axes = [str(np.prod([int(size) for size in axis])) if "N" not in axis else "?" for axis in axes_of(fact)]
        return f"{fact.partition('[')[0]}[{','.join(axes)}]"

    @property
    def text(self) -> str:
        """What flows out of the layer, as a row says it."""
        if self.found.mixed or self.found.unproven:
            return self.found.mixed or self.found.unproven
        return " ".join(spelt(held.trace) + (f" of {held.taint.split()[0]}" if held.taint else "") for held in self.found.outputs)


def spelt(trace: Trace | None) -> str:
    assert trace is not None
    axes = [".".join([str(factor.size) for factor in axis]) for axis in trace]
    return f"[{','.join('?' if axis.startswith('d') else axis for axis in axes)}]"


@pytest.mark.parametrize(("type", "version", "row"), CASES, ids=IDS)
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    case = Case(type, version, row)
    assert not case.errors
    assert case.text == row[-1] if row[-1].startswith("[") else row[-1] in case.text, case.text


FAMILIES = {
    "elementwise", "Broadcasting.flow", "Reduction.flow", "alike", "_Recurrent.flow", "_FromVideo.flow", "_Fourier.flow",
    "EmbeddingBagPackedSum.flow",
}  # fmt: skip


def rule_of(cls: OpClass) -> str:
    """The name of a rule; one that is made for a family has the name of the family."""
    owner = next(f"{base.__name__}.flow" for base in cls.__mro__ if "flow" in vars(base))
    return owner if owner in FAMILIES else getattr(cls.flow, "__qualname__", "")


def test_every_rule_has_a_row() -> None:
    """Each rule that is not shared, and each operation with a rule of its own, has a row, apart from families."""
    for type in MODULES:
        REGISTRY.find(type, "opset1")
    classes = [cls for cls in REGISTRY.classes() if cls.flow is not None]
    tested = {(cls.TYPE, rule_of(cls)) for cls in classes if (cls.TYPE, cls.VERSION) in FLOWS}
    rules = {rule for _, rule in tested}
    lacking = []
    for cls in classes:
        rule = rule_of(cls)
        types = {type for type, other in tested if other == rule}
        if cls.TYPE == "Result" or cls.TYPE in types or (rule in rules and (rule in FAMILIES or ".<locals>." not in rule)):
            continue
        lacking.append(f"{cls.TYPE} {cls.VERSION}")
    assert [one for one in lacking if one.split()[0] not in {"BGRtoNV12", "BinaryConvolution", "GroupConvolution"}] == []


# Beside OpenVINO.

SAMPLES = 3


def array_of(rng: np.random.Generator, name: str, element_type: str, shape: list[int]) -> Any:
    """Random elements that are valid for most inputs: reals, small indices, or counts of at least 1."""
    if element_type == "boolean":
        return rng.integers(0, 2, shape).astype(bool)
    if element_type.startswith(("f", "bf")):
        return rng.standard_normal(shape).astype(np.float16 if element_type == "f16" else np.float32)
    low = 1 if name in COUNTS else 0
    dtype = {"i32": np.int32, "i64": np.int64, "u8": np.uint8}[element_type]
    return rng.integers(low, low + 2, shape).astype(dtype)


def sizes_of(fact: str, batch: int) -> list[int]:
    return [int(np.prod([batch if size == "N" else int(size) for size in axis])) for axis in axes_of(fact)]


def sample_of(array: Any, axes: list[list[str]], at: int) -> Any:
    """One sample of a stack: the batch is a factor of an axis."""
    for axis, factors in enumerate(axes):
        if "N" in factors:
            place = factors.index("N")
            before, behind = (int(np.prod([int(size) for size in part])) for part in (factors[:place], factors[place + 1 :]))
            shape = array.shape
            split = array.reshape(*shape[:axis], before, SAMPLES, behind, *shape[axis + 1 :])
            array = split.take([at], axis + 1).reshape(*shape[:axis], before * behind, *shape[axis + 1 :])
    return array


def run(model: Any, arrays: list[Any]) -> list[Any]:
    request = core().compile_model(model, "CPU").create_infer_request()
    return [np.array(value) for value in request.infer(dict(enumerate(arrays)), share_outputs=False).values()]


def check_stack(case: Case, seed: int) -> None:
    """Each sample of a stack gives what the sample alone gives."""
    import openvino

    rng = np.random.default_rng(seed)
    facts = [one for one in case.inputs if isinstance(one, str)]
    op = case.node.op
    assert op is not None
    names = [op.arrangement(len(case.inputs))[place].name for place, one in enumerate(case.inputs) if isinstance(one, str)]
    arrays = [array_of(rng, name, fact.partition("[")[0], sizes_of(fact, SAMPLES)) for name, fact in zip(names, facts, strict=True)]
    source = case.net.xml.encode()
    model = core().read_model(source, openvino.Tensor(np.frombuffer(case.net.bin, np.uint8).copy()))
    whole = run(model, arrays)
    for at in range(SAMPLES):
        single = run(model, [sample_of(array, axes_of(fact), at) for array, fact in zip(arrays, facts, strict=True)])
        for got, alone, held in zip(whole, single, case.found.outputs, strict=True):
            if held.taint:
                continue
            axes = axes_of("[" + spelt(held.trace)[1:])
            np.testing.assert_allclose(sample_of(got, axes, at), alone, rtol=1e-4, atol=1e-5)


# OpenVINO's CPU plugin does not run these layers: the layer, or a shape of it that is not known, is refused.
UNRUN = {"GRN", "RGBtoNV12", "Reverse", "Multinomial"}


@pytest.mark.parametrize(
    ("type", "version", "row"),
    [case for case in CASES if case[2][-1].startswith("[") and "?" not in case[2][-1] and case[0] not in UNRUN],
    ids=lambda one: one[0] if isinstance(one, tuple) else str(one),
)
def test_a_kept_batch_is_a_stack_in_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_stack(Case(type, version, row), 0)
