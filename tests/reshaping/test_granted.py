"""What a reshape grants: nothing that cannot hold, with and without a rewriting, on real models and with indices of samples."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irshape
from irshape.cli.main import main
from tests.inference.test_bodies import SAME, inside, loop
from tests.support.baking import Verdict, judged, table
from tests.support.ir import Net, Ref
from tests.support.places import IRS

# OpenVINO writes a Transpose that moves an axis of size 1 as a Reshape.
TRANSPOSED = Net("Reshape(f32[5,1,16], [1,5,16], special_zero=false) -> Softmax-8(axis=2) -> Result")
# The -1 takes up whatever is baked in elsewhere.
LEAK = Net("Reshape(f32[1,64,14,14], [1,64,-1], special_zero=false) -> Softmax-8(axis=2) -> Result")
# Two constants hold the number of places of a grid whose sizes are open.
GRID = Net(
    f"Reshape(f32[?,4,?,?], [0,4,-1], special_zero=true) -> Add(f32={[[[1.0] * 16]]}) -> Reshape([0,2,32], special_zero=true) -> Result"
)
FIXED = Net("Reshape(f32[1,136,6], [1,136,6], special_zero=false) -> Relu -> Result")


def asked(net: Net, shape: str | None = None, **options: Any) -> irshape.Inference:
    return irshape.reshape(irshape.read(net.xml.encode()), shape and {"parameter_0": shape}, weights=net.bin, **options)


def errors(inference: irshape.Inference) -> list[str]:
    return [f"{one.code} {one.message}" for one in inference.diagnostics if one.severity == "error"]


def codes(inference: irshape.Inference) -> set[str]:
    return {one[:4] for one in errors(inference)}


def output(inference: irshape.Inference) -> str:
    result = inference.model.results[0]
    return str(inference.layer(str(result.id)).inputs[0].text)


def test_a_reshape_that_moved_the_batch_is_a_transpose_again() -> None:
    """Fault A: the pattern [1,5,48] would run, and mix the samples into the channels."""
    found = asked(TRANSPOSED, "[5,3,16]", rewrite=True)
    assert (errors(found), output(found)) == ([], "[3,5,16]")
    assert [mend["port"] for mend in found.to_dict()["mends"]] == ["data", "pattern"]


def test_the_batch_of_a_model_that_holds_it_is_found() -> None:
    """Fault C: without the rewriting, no axis can be the batch."""
    found = asked(LEAK, batch=4, rewrite=True)
    assert (errors(found), output(found)) == ([], "[4,64,196]")
    assert any(one.code == "N101" and "axis 0 of 'parameter_0'" in one.message for one in found.diagnostics)


def test_an_input_with_several_rows_for_each_sample_is_told() -> None:
    """The tokens of four codebooks, and the mask of the sample, which has one row."""
    net = Net("""
        _tokens: f32[4,5]
        _mask: f32[1,5]
        Add(ReduceSum(Reshape(_tokens, [-1,4,5], special_zero=false), [1], keep_dims=false), _mask) -> Result
    """)
    [kept] = [one for one in asked(net, batch="N", rewrite=True).diagnostics if one.hint]
    assert kept.message.startswith("'parameter_0' keeps 4 on axis 0")
    assert kept.hint == "if it has 4 rows for each sample, add --input 'parameter_0[4*N,5]'"
    assert output(asked(net, "[4*N,5]", batch="N", rewrite=True)) == "[?,5]"


@pytest.mark.parametrize("shape", ["[1,136..272,6]", "[1,S,6]", "[1,?,6]"])
def test_a_size_that_keeps_one_value_is_refused(shape: str) -> None:
    """Fault E: OpenVINO would fail at 272."""
    found = asked(FIXED, shape)
    assert errors(found) == ["S207 Reshape 'reshape_2' holds an old size: pattern is [1,136,6], but the new sizes need [1,-1,6]"]
    rewritten = asked(FIXED, shape, rewrite=True)
    assert errors(rewritten) == []
    assert output(rewritten) == shape.replace("S", "?")


def test_the_constant_that_is_named_holds_the_number_of_the_sentence() -> None:
    """The pattern also holds 16, and the 16*B elements of the data are 16."""
    [error] = errors(asked(Net("Reshape(f32[?,4,4], [1,16], special_zero=false) -> Result"), "[B,4,4]"))
    assert error.startswith("S207 Reshape 'reshape_2' demands B == 1: ") and error.endswith("; Const 'const_1' (line 10) holds 1")


def test_a_leading_size_that_leaks_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    """Fault F: [1,64,784] is no batch of 4."""
    from irshape.cli.main import main

    LEAK.save(tmp_path / "leak.xml")
    main(["reshape", str(tmp_path / "leak.xml"), "--input", "parameter_0[4,64,14,14]"])
    assert "P110 warning: the batch is mixed: Reshape 'reshape_2'" in capsys.readouterr().out
    assert output(asked(LEAK, "[4,64,14,14]", rewrite=True)) == "[4,64,196]"


# A token of one row in front of the rows of each sample.
TOKEN = Net(f"_x: f32[1,4,8]\nConcat(f32={[[[0.5 * at for at in range(8)]]]}, _x, axis=1) -> Result")
# `torch.export` leaves an input open although its constants hold the sizes.
OPEN = Net("Reshape(f32[?,4,9], [1,36], special_zero=false) -> Result")
BEAM = "x: f32[?,4]\nbeam: i32[?]\n_order: {}\nGather-8(x, _order, 0) -> Softmax-8(axis=1) -> Result"

# Two elements before each row, for a window of three whose elements are one or two apart.
CAUSAL = """
    Pad(f32[1,4,16], i64=[0,0,2], i64=[0,0,0], f32=0, pad_mode=constant)
        -> Convolution(f32=0[4,4,{0}], strides="{1}", dilations="{2}", pads_begin="0", pads_end="0") -> Result
"""
# An image of 7 rows and 9 columns, or with one more of each than before.
ENLARGED = Net("""
    _x: f32[1,1,6,8]
    _sizes: Concat(Slice-8(ShapeOf-3(_x, output_type=i64), [0], [2], [1], [0]), [7,9], axis=0)
    Interpolate-11(_x, _sizes, mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor, antialias=false,
        coordinate_transformation_mode=asymmetric) -> Result
""")
# The mean of an image, which is spread over it again.
POOLED = Net("""
    ReduceMean(f32[1,1,6,8], [2,3], keep_dims=true) -> Interpolate-11([6,8], [2,3], mode=nearest, shape_calculation_mode=sizes,
        nearest_mode=floor, antialias=false, coordinate_transformation_mode=asymmetric) -> Result
""")
# A pool whose window is its step.
POOL = 'AvgPool(f32[1,4,{0}], kernel="{1}", strides="{1}", pads_begin="0", pads_end="0", exclude-pad="true", rounding_type=floor) -> Result'
BLOCKED = Net("""
    Pad(f32[1,4,14], i64=[0,0,2], i64=[0,0,0], f32=0, pad_mode=constant)
        -> SpaceToBatch-2([1,1,2], [0,0,0], [0,0,0])
        -> Convolution(f32=0[4,4,2], strides="1", dilations="1", pads_begin="0", pads_end="0")
        -> BatchToSpace-2([1,1,2], [0,0,0], [0,0,0]) -> Result
""")

# A row of 8 elements, as H*(W//16) // (2*(H//16)*(W//16)) are where H is a multiple of 16.
BLOCKS = Net("""
    _x: f32[1,1,?,?]
    _few: MaxPool-1(_x, kernel="16,16", strides="16,16", pads_begin="0,0", pads_end="0,0", rounding_type=floor)
    _many: MaxPool-1(_x, kernel="1,16", strides="1,16", pads_begin="0,0", pads_end="0,0", rounding_type=floor)
    _count: ReduceProd(ShapeOf(_few, output_type=i64), [0], keep_dims=true)
    Reshape(_many, Concat(Multiply(_count, [2]), [-1], axis=0), special_zero=false) -> MatMul(f32=0[8,4]) -> Result
""")


# The number of classes is given, so the largest class of the batch, which torch computes in case it is not, chooses nothing.
CLASSES = """
    _x: f32[{},4]
    _class: Squeeze(Convert(Slice-8(_x, [0], [1], [1], [1]), destination_type=i64), [1])
    _count: Select(Greater(4, -1), 4, ReduceMax(_class, [0], keep_dims=false))
    Multiply(_x, OneHot(_class, _count, f32=1.0, f32=0.0, axis=-1)) -> Result
"""


# Six windows of each sample beside its mean, which is repeated for each window.
QUERIES = Net("""
    _x: f32[1,6,4]
    _windows: Relu(Reshape(_x, [6,4], special_zero=false))
    _mean: ReduceMean(_x, [1], keep_dims=false)
    _rows: Unsqueeze(Range-4(0, Gather-8(ShapeOf-3(_mean, output_type=i64), 0, 0), 1, output_type=i64), [0])
    _places: Reshape(Transpose(Tile(_rows, [6,1]), [1,0]), [-1], special_zero=false)
    Add(_windows, Gather-8(_mean, _places, 0)) -> Result
""")
# An image whose groups of channels are normalized, beside what a pool leaves of it: the width is even, and need be no multiple of 3.
NORMALIZED_GROUPS = Net("""
    _groups: Reshape(f32[1,16,16,24], [0,4,-1], special_zero=true)
    _image: Reshape(MVN-6(_groups, [2], normalize_variance=true, eps=1e-6, eps_mode=inside_sqrt), [1,16,16,24], special_zero=false)
    _pool: MaxPool-1(_image, kernel="2,2", strides="2,2", pads_begin="0,0", pads_end="0,0", rounding_type=floor)
    Concat(Tile(_pool, [1,1,2,2]), _image, axis=1) -> Result
""")


@pytest.mark.parametrize(("net", "shape", "options", "given"), [
    (QUERIES, "[N,6,4]", {"rewrite": True}, "[?,4]"),
    (NORMALIZED_GROUPS, "[1,16,16,W]", {"rewrite": True}, "[1,32,16,2..]"),
    (BLOCKS, None, {"symbols": {"H": "16*k", "W": "16*j"}}, "[2..,4]"),
    (Net(CAUSAL.format(3, 1, 1)), "[1,4,S]", {"rewrite": True}, "[1,4,1..]"),
    (Net(CAUSAL.format(2, 1, 2)), "[1,4,S]", {"rewrite": True}, "[1,4,1..]"),
    (BLOCKED, "[1,4,S]", {"rewrite": True}, "[1,4,2..]"),
    (Net(POOL.format(20, 2)), "[1,4,S]", {"rewrite": True}, "[1,4,1..]"),
    # Fault D: axis 0 of the token is 1, so its elements are known for every batch.
    (TOKEN, "[3,4,8]", {"rewrite": True}, "[3,5,8]"),
    (LEAK, "[4,64,14,14]", {"rewrite": True}, "[4,64,196]"),
    # H*W == 16 must hold for the file as it is, and each sample has 4*16 elements.
    (GRID, None, {"batch": 4}, "[4,2,32]"),
    (GRID, None, {"batch": "N"}, "[?,2,32]"),
    (GRID, None, {"batch": 4, "rewrite": True}, "[4,2,32]"),
    (GRID, None, {"symbols": {"B": 4}}, "[4,2,32]"),
    (GRID, "[4,4,?,?]", {}, "[4,2,32]"),
    (GRID, "[?,4,2,8]", {"batch": 4}, "[4,2,32]"),
    (OPEN, "[N,4,9]", {"rewrite": True, "recorded": {"parameter_0": "[1,4,9]"}}, "[?,36]"),
    (Net("Gather-8(f32[1,8], [0,7], 1, batch_dims=0) -> Result"), "[1,9]", {}, "[1,2]"),
    # Tokens that move by one place, as in RWKV.
    (Net("""
        _x: f32[1,6,4]
        Pad(Slice-8(_x, [0], [-1], [1], [1]), [0,1,0], [0,0,0], f32=0.0, pad_mode=constant) -> _before: Relu
        Add(_x, _before) -> Result
     """), "[1,S,4]", {"rewrite": True}, "[1,?,4]"),
    # One step of sequences, whose batch is the second axis.
    (Net("f32[1,1,4] -> Relu -> Result"), "[1,B,4]", {"rewrite": True}, "[1,?,4]"),
    # What a Concat joined is taken apart again; a window moves over rows that are padded before and behind.
    (Net("""
        _x: f32[1,6,4]
        Concat(_x, ReduceMean(_x, [1], keep_dims=true), axis=1) -> Slice-8([6], [9223372036854775807], [1], [1]) -> Result
     """), "[1,S,4]", {"rewrite": True}, "[1,1,4]"),
    (Net("""
        _x: f32[1,6,4]
        Pad(_x, [0,1,0], [0,1,0], f32=0.0, pad_mode=constant) -> Slice-8([1], [7], [1], [1]) -> Add(_x) -> Result
     """), "[1,S,4]", {"rewrite": True}, "[1,?,4]"),
    # A size that data tell broadcasts with S.
    (Net("""
        _x: f32[6]
        _most: ReduceMax(Convert(_x, destination_type=i64), [0], keep_dims=false)
        _ones: OneHot(_most, Add(_most, 1), f32=1.0, f32=0.0, axis=0)
        Add(Add(_x, _ones), f32=1.5[6]) -> Result
     """), "[S]", {"rewrite": True}, "[?]"),
    (Net(CLASSES.format("?")), None, {"batch": 2}, "[2,4]"),
    (Net(CLASSES.format(1)), "[B,4]", {"rewrite": True}, "[?,4]"),
    # Of an open batch, 1 is one size like any other.
    (Net("f32[?] -> ReduceSum([0], keep_dims=true) -> Result"), None, {"batch": 1}, "[1]"),
    (Net("f32[1] -> ReduceSum([0], keep_dims=true) -> Result"), None, {"batch": 1}, "[1]"),
    (Net("f32[...] -> ReduceSum([0], keep_dims=true) -> Result"), "[?,4]", {"batch": 1}, "[1,4]"),
])  # fmt: skip
def test_what_is_granted(net: Net, shape: str | None, options: dict[str, Any], given: str) -> None:
    found = asked(net, shape, **options)
    assert (errors(found), output(found)) == ([], given)


# A table of 196 positions is added to the tokens of an image.
POSITIONS = [[[float(row * 196 + at * at) for at in range(196)] for row in range(3)]]
ADDED = Net(f"Reshape(f32[1,3,14,14], [0,3,-1], special_zero=true) -> Add(f32={POSITIONS}) -> Result")
NEEDS = "S207 Add 'add_4' needs H*W elements along axis 2 of Const 'const_3' [1,3,196], and these elements differ"
# With k = W//4, min(4*k + 1, 8) == 4*k, and k is at least 1.
TOGETHER = Net("""
    _k: MaxPool-1(f32[1,1,8], kernel="4", strides="4", pads_begin="0", pads_end="0", rounding_type=floor)
    _four: Tile(_k, [1,1,4])
    Concat(_four, f32=0[1,1,1], axis=2) -> StridedSlice([0,0,0], [0,0,8], [1,1,1], begin_mask="1,1,1", end_mask="1,1,0") -> _cut: Relu
    Add(_four, _cut) -> Result
""")

# A length that only 10 and 3 fulfil, and a window that 3 does not fill.
OPEN_IN_LENGTH = Net("""
    _x: f32[?,2,?]
    MaxPool-1(_x, kernel="5", strides="1", pads_begin="0", pads_end="0", rounding_type=floor) -> Result
    _less: MaxPool-1(_x, kernel="3", strides="1", pads_begin="0", pads_end="0", rounding_type=floor)
    _less, Slice-8(_x, [-8], [9223372036854775807], [1], [2]) -> a: Add -> Result
""")


# The steps of a sequence, each taken by layers of its own, and the frames of a signal, which are weighted.
UNROLLED = Net("_x: f32[1,4,2]\n" + "\n".join([
    *[f"_{step}: Squeeze(Slice-8(_x, [{step}], [{step + 1}], [1], [1]), [1])" for step in range(4)],
    "Add(Add(_0, _1), Add(_2, _3)) -> Result",
]))  # fmt: skip
FRAMES = Net("_x: f32[1,12]\n" + "\n".join([
    *[f"_{at}: Unsqueeze(Slice-8(_x, [{2 * at}], [{2 * at + 4}], [1], [1]), [1])" for at in range(5)],
    "Multiply(Concat(_0, _1, _2, _3, _4, axis=1), f32=[[[0.1,0.7,0.9,0.2]]]) -> Result",
]))  # fmt: skip
STEPS = "'slice_26' gives S - 3, which was 1; 4 Slice layers cut steps out of Parameter 'parameter_0', and the file has no layers for"


# Places that count one more than the rows, as a mask of a language model that lacks the new token.
BEHIND = """
    _x: f32[{}]
    _count: Add(Gather-8(ShapeOf-3(_x, output_type=i64), 0, 0), 1)
    Gather-8(_x, Unsqueeze(Range-4(0, _count, 1, output_type=i64), [0]), 0) -> Result
"""


@pytest.mark.parametrize(("net", "shape", "options", "told"), [
    (Net(CAUSAL.format(3, 2, 1)), "[1,4,S]", {"rewrite": True}, "pads an axis of size S with 2 before and 0 behind, which may follow"),
    (Net(CAUSAL.format(2, 1, 1)), "[1,4,S]", {"rewrite": True}, "pads an axis of size S with 2 before and 0 behind, which may follow"),
    # TensorFlow pads so for a stride of 2 where the size is even, and by 1 on each side where it is odd.
    (Net('Convolution(f32[1,4,12], f32=0[4,4,3], strides="2", dilations="1", pads_begin="0", pads_end="1") -> Result'), "[1,4,S]",
        {"rewrite": True}, "pads an axis of size S with 0 before and 1 behind, which may follow"),
    (Net(POOL.format(12, 3)), "[1,4,S]", {"rewrite": True}, "divides an axis of size S, which is 12 in the file, into 4 windows of 3"),
    (Net(POOL.format(20, 10)), "[1,4,S]", {"rewrite": True}, "divides an axis of size S, which is 20 in the file, into 2 windows of 10"),
    (ENLARGED, "[1,1,H,8]", {"rewrite": True}, "gives the size 7 on axis 2, whatever H is"),
    (Net("_x: f32[1,2,6]\nBroadcast-3(ReduceMean(_x, [2], keep_dims=true), [1,2,6], mode=bidirectional) -> Result"), "[1,2,S]",
        {"rewrite": True}, "gives the size 6 on axis 2, as many elements as an open size had"),
    (POOLED, "[1,1,H,8]", {"rewrite": True}, "gives the size 6 on axis 2, as many elements as an open size had"),
    # One chunk of 4 rows, or S//4 of them.
    (Net("Reshape(f32[2,4,8], [2,-1,4,8], special_zero=false) -> Result"), "[2,S,8]", {"rewrite": True},
        "gives [2,1,S,8], whose axis 1 stays 1, but the pattern has -1 there"),
    (GRID, "[4,4,H,W]", {}, "S207 Add 'add_4' demands H*W in (1, 16)"),
    (ADDED, "[1,3,H,W]", {}, NEEDS),
    (ADDED, "[1,3,H,W]", {"rewrite": True}, NEEDS),
    # OpenVINO would meet it only when the model runs.
    (Net("Gather-8(f32[1,8], [0,7], 1, batch_dims=0) -> Result"), "[1,4]", {}, "R401 indices must be in [-4, 3], got 7"),
    (Net(BEHIND.format("?,2")), "[3,2]", {}, "R401 this never holds: indices must be in [-3, 2], got 3, which the model computes"),
    (OPEN, "[N,4,9]", {"rewrite": True}, "demands N == 1"),
    (OPEN_IN_LENGTH, "[1,2,S]", {"rewrite": True}, "Add 'a' demands S - 2 == S - max(S - 8, 0), or one is 1: "),
    *[(UNROLLED, shape, {"rewrite": True}, f"{own}: axis 1 is removed only if its size is 1{less}; Slice {STEPS}")
        for shape, own, less in (
            ("[1,S,2]", " S == 4", ""), ("[1,2..,2]", " S == 4", ""), ("[1,9,2]", "cannot have these sizes", ": 6 is not 1"),
        )],
    *[(FRAMES, shape, {"rewrite": True}, "S - 8, but the layers before it give 4 for every size; 5 Slice layers cut steps out of")
        for shape in ("[1,S]", "[1,30]")],
    (Net("_x: f32[1,12]\n_top: VariadicSplit(_x, 1, [6,6]) f32 f32\nMultiply(_top.0, _top.1) -> Result"), "[1,S]", {"rewrite": True},
        "needs axis 1 of VariadicSplit 'variadicsplit_3' [1,6] to be S - 6, but it cuts the axis into parts of [6,6]"),
    (TOGETHER, "[1,1,W]", {"rewrite": True, "choose": "first"}, "demands W//4 == 2"),
    # Of a batch of 4, one sample is not the sum over 4.
    (Net("f32[4] -> ReduceSum([0], keep_dims=true) -> Result"), None, {"batch": 1}, "P110"),
    (Net(BEAM.format("Abs(beam)")), None, {"batch": 4}, "P110"),
    (Net(BEAM.format("CumSum-3(beam, 0)")), None, {"batch": 4}, "P110"),
    (Net("x: f32[?,?,4] -> Reshape([-1,4]) -> Result"), None, {"batch": 4}, "axis 0 is (N, d0); d0 is axis 1 of 'x'"),
    (Net("x: f32[?,?,?] -> Reshape([-1,8]) -> Result"), None, {"batch": 4}, "; d0 is axis 1 of 'x'; d1 is axis 2 of 'x'"),
])  # fmt: skip
def test_what_is_refused(net: Net, shape: str | None, options: dict[str, Any], told: str) -> None:
    assert told in errors(asked(net, shape, **options))[0]


def test_a_rewrite_keeps_the_rank() -> None:
    with pytest.raises(irshape.InputError, match="is 3, not 2: --rewrite keeps the rank"):
        asked(Net("Slice-8(f32[1,2,12], [1], [12], [1], [2]) -> Result"), "[1,S]", rewrite=True)


def test_an_index_that_is_computed_beyond_the_axis_is_a_warning_of_a_check() -> None:
    net = Net(BEHIND.format("3,2"))
    [found] = irshape.check(net.xml.encode(), weights=net.bin).diagnostics
    assert (found.code, found.severity) == ("R401", "warning") and "got 3" in found.message


def test_a_target_that_holds_the_recorded_batch_follows_the_data() -> None:
    """As torch.export leaves F.normalize: a Broadcast to `max(shape, [2,8])`, the sizes of its example."""
    net = Net("""
        _x: f32[?,8]
        Broadcast-3(Abs(_x), Maximum(ShapeOf-3(_x, output_type=i64), [2,8]), mode=numpy) -> Result
    """)
    found = asked(net, "[N,8]", rewrite=True, recorded="[2,8]")
    assert (errors(found), output(found)) == ([], "[?,8]")
    assert [one["now"] for one in found.to_dict()["mends"]] == ["[N,8]"]


def test_a_batch_that_fits_two_axes_of_an_output_is_asked_about() -> None:
    """As the last state of a recurrent net has its samples on the second axis; what a later layer decides is not asked about."""
    text = "ReduceMean(f32[1,7,8], [1], keep_dims=false) -> Reshape([1,1,8], special_zero=false)"
    [error] = errors(asked(Net(f"{text} -> Result"), batch="N", rewrite=True))
    assert error == "S208 Reshape 'reshape_4' may give [N,1,8] or [1,N,8]"
    found = asked(Net(f"{text} -> Squeeze([0]) -> Result"), batch="N", rewrite=True)
    assert (errors(found), output(found)) == ([], "[?,8]")


def test_a_refusal_names_a_layer_of_the_file() -> None:
    """The walk refuses the Reshape that stands in place of a Gather of all rows."""
    text = f"Reshape(f32[1,2,3], [6], special_zero=false) -> Gather-8({np.arange(6).reshape(1, 3, 2).tolist()}, 0) -> Result"
    [error] = errors(asked(Net(text), "[N,H,W]", rewrite=True))
    assert error.startswith("S207 Gather 'gather_5'")


def test_a_body_hides_no_error_of_the_pass() -> None:
    """To look for the old size, the walk would have to enter the body of the Loop."""
    net = loop("f32[2,3]", SAME)
    net.named["_x"] = [Ref(2, 0, "FP32")]
    net.add("Add(_x, f32=0[2,3]) -> a: Result")
    [error] = errors(irshape.reshape(irshape.read(net.xml.encode()), {"parameter_2": "[2,4]"}, weights=net.bin))
    assert error == "S202 the inputs must broadcast on axis 1: 4 and 3 are neither equal nor 1"


def test_a_plan_knows_the_indices_that_a_range_counts() -> None:
    """The plan demands them; where its demand does not hold, the pass tells why."""
    net = Net("""
        _mask: f32[?,2]
        _count: Gather-8(ShapeOf-3(f32[?], output_type=i64), 0, 0)
        Gather-8(_mask, Unsqueeze(Range-4(0, _count, 1, output_type=i64), [0]), 0) -> Result
    """)
    session = irshape.Session(net.xml.encode(), weights=net.bin)
    for rows in (3, 4, 5, 6):
        assert session.reshape({"parameter_0": [rows + 1, 2], "parameter_1": [rows]}).ok
    assert session.plan is not None and session.plan.has_indices_within
    for mask, x in ((5, 5), (5, 6), (7, 6), (4, 6)):
        text = f"R401 this never holds: indices must be in [-{mask}, {mask - 1}], got {x - 1}, which the model computes from sizes"
        assert errors(session.reshape({"parameter_0": [mask, 2], "parameter_1": [x]})) == ([] if x <= mask else [text])


def test_a_batch_that_a_given_shape_holds_already_is_told() -> None:
    with pytest.raises(irshape.InputError, match=r"no input has a batch axis: the shapes parameter_0\[2,4,2,8\] are given; leave the size"):
        asked(GRID, "[2,4,2,8]", batch=4)


def test_conditions_that_leave_many_sizes_are_listed() -> None:
    net = Net("SpaceToDepth(f32[1,3,32,32], block_size=32, mode=blocks_first) -> Result")
    found = asked(net, "[1,3,H,W]")
    assert errors(found) == []
    assert [str(guard.requirement) for guard in found.guards] == ["H % 32 == 0", "W % 32 == 0"]


def test_a_batch_that_is_folded_into_rows_is_refused() -> None:
    """Fault B: the first axis of the output may be N, and yet the samples attend to each other."""
    net = Net("""
        Reshape(f32[1,9,16], [-1,4,4], special_zero=false) -> _heads: Transpose([1,0,2])
        MatMul(_heads, _heads, transpose_a=false, transpose_b=true) -> Softmax-8(axis=2) -> Result
    """)
    found = asked(net, batch=3)
    (error,) = [one for one in found.diagnostics if one.severity == "error"]
    assert error.code == "P110" and "MatMul" in error.message
    assert error.hint is not None and error.hint.startswith("Reshape 'reshape_2' (line ")


def test_a_plain_shape_that_mixes_samples_is_told_in_python() -> None:
    found = asked(LEAK, "[4,64,14,14]")
    assert [(one.code, one.severity) for one in found.diagnostics] == [("P110", "warning")]
    assert found.diagnostics[0].hint is not None and "--batch N --rewrite" in found.diagnostics[0].hint


FOLDERS = [IRS, *map(Path, os.environ.get("IRSHAPE_CORPUS", "").split(os.pathsep) if os.environ.get("IRSHAPE_CORPUS") else [])]
LARGEST = 3_000_000


def models() -> list[Path]:
    """The IRs with weights that are small enough."""
    found = [path for folder in FOLDERS for path in sorted(folder.rglob("*.xml"))]
    return [path for path in found if path.stat().st_size < LARGEST and path.with_suffix(".bin").exists()]


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_no_wish_is_granted_that_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[Verdict] = []
    for path in models():
        found += [one for one in judged(path) if one.result != "not asked"]
    with capsys.disabled():
        print(f"\n{table(found)}")
    assert [one for one in found if one.result == "wrong"] == []
    assert any(one.result == "equal" for one in found)


# Elements of f32[1,5] by indices into its rows as one, made of the numbers of the samples _n and of the places _s.
GATHERED = """
    _x: f32[1,5]
    ShapeOf-3(_x, output_type=i64) -> Gather-8(0, 0) -> Range-4(0, _, 1, output_type=i64) -> _n: Unsqueeze([1])
    _s: i64=[[0,1,2,3,4]]
    _top: TopK-11(_x, 1, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64
    _flat: Reshape(_x, [-1], special_zero=false)
    _i: {}
    Gather-8(_flat, _i, 0) -> Result
"""
KEPT = {
    "all places": "Add(Multiply(_n, 5), _s)",
    "the place first": "Add(_s, Multiply(_n, 5))",
    "one place": "Add(Multiply(_n, 5), [[2]])",
    "the last place": "Add(Multiply(_n, 5), [[4]])",
    "in two steps": "Add(Add(Multiply(_n, 2), Multiply(_n, 3)), _s)",
    "the place of the largest": "Add(Multiply(_n, 5), _top.1)",
    "the place of the largest in the file's one sample": "Add(_top.1, 0)",
    "a remainder": "Add(Multiply(_n, 5), FloorMod(Convert(_x, destination_type=i64), 5))",
    "the last place or that of the largest": "Add(Multiply(_n, 5), Select(Greater(_x, f32=3.0), i64=4, _top.1))",
}
MIXED = {
    "the next sample from the last place on": "Add(Add(Multiply(_n, 5), _s), 1)",
    "the sample before": "Add(Add(Multiply(_n, 5), _s), -1)",
    "places of one sample for all": "Add(_n, _s)",
    "every other sample": "Add(Multiply(_n, 10), _s)",
    "samples in reverse": "Add(Multiply(_n, -5), _s)",
    "places in reverse": "Subtract(Multiply(_n, 5), _s)",
    "the square of the number": "Multiply(_n, _n)",
    "the place behind the largest": "Add(Add(Multiply(_n, 5), _top.1), 1)",
    "the place before the largest": "Subtract(Multiply(_n, 5), _top.1)",
    "a remainder that is too large": "Add(Multiply(_n, 5), FloorMod(Convert(_x, destination_type=i64), 6))",
    "any place": "Add(Multiply(_n, 5), Convert(_x, destination_type=i64))",
    "the place of the largest times the number": "Multiply(_n, _top.1)",
    "places two apart": "Add(Multiply(_n, 5), Multiply(_s, 2))",
}


# Other ways to keep the samples of f32[1,5] apart, as converters write them.
WAYS = {
    "each row repeated": """
        _x: f32[1,5]
        ShapeOf-3(_x, output_type=i64) -> Gather-8(0, 0) -> Range-4(0, _, 1, output_type=i64) -> Unsqueeze([1]) -> _n: Tile([1,3])
        Gather-8(_x, Reshape(_n, [-1], special_zero=false), 0) -> Reshape([3,5,1], special_zero=false)
            -> Reshape([1,15], special_zero=false) -> Result
        """,
    "all places assigned": """
        _x: f32[1,5]
        _count: ReduceProd(ShapeOf-3(_x, output_type=i64), [0], keep_dims=false)
        _places: Reshape(Range-4(0, _count, 1, output_type=i64), [-1,1], special_zero=false)
        _flat: Reshape(_x, [-1], special_zero=false)
        ScatterNDUpdate-15(_flat, _places, Exp(_flat), reduction=none) -> Reshape([1,5], special_zero=false) -> Result
        """,
    "a table with the rows of one sample": f"""
        {GATHERED.replace("Reshape(_x, [-1]", "Reshape(f32=[[1,2,3,4,5]], [-1]").replace("-> Result", "-> _rows: Relu")}
        Add(_x, _rows) -> Result
        """.format(KEPT["all places"]),
    "all places of two layers assigned": """
        _x: f32[1,5]
        _two: Concat(Unsqueeze(_x, [0]), Unsqueeze(_x, [0]), axis=0)
        _count: ReduceProd(ShapeOf-3(_two, output_type=i64), [0], keep_dims=false)
        _places: Reshape(Range-4(0, _count, 1, output_type=i64), [-1,1], special_zero=false)
        _flat: Reshape(_two, [-1], special_zero=false)
        ScatterNDUpdate-15(_flat, _places, Exp(_flat), reduction=none) -> Reshape([2,1,5], special_zero=false) -> Gather-8(1, 0) -> Result
        """,
    "a stack with rows that are equal for all": """
        _x: f32[1,5]
        Concat(f32=[[1,2,3,4,5]], _x, axis=0) -> Reshape([2,1,5], special_zero=false) -> ReduceSum([0], keep_dims=false) -> Result
        """,
    "a layer that a Reshape moved behind another axis": """
        _x: f32[1,5]
        Transpose(_x, [1,0]) -> Unsqueeze([2]) -> Tile([1,1,2]) -> Reshape([5,2], special_zero=false) -> MatMul(f32=[[1,2],[3,4]])
            -> Reshape([1,5,2], special_zero=false) -> Add(Unsqueeze(_x, [2])) -> Result
        """,
}


@pytest.mark.oracle
@pytest.mark.parametrize("net", [*(GATHERED.format(one) for one in KEPT.values()), *WAYS.values()], ids=[*KEPT, *WAYS])
def test_each_sample_keeps_its_own_elements(net: str, tmp_path: Path) -> None:
    import openvino

    found = asked(Net(net), batch="N", rewrite=True)
    assert errors(found) == []
    Net(net).save(tmp_path / "old.xml")
    found.write(tmp_path / "new.xml")
    new, old = (openvino.Core().compile_model(tmp_path / f"{name}.xml", "CPU") for name in ("new", "old"))
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    np.testing.assert_allclose(new([x])[0], np.concatenate([old([one[None]])[0] for one in x]), rtol=1e-6)


# Three rows of each sample, f32[3*N,2], to which as many equal numbers are added, or else numbers that count.
FOLDED = """
    _rows: Reshape(f32[1,3,2], [-1,2], special_zero=false)
    _shape: ShapeOf-3(_rows, output_type=i64)
    _more: {}
    Reshape(Add(_rows, _more), [-1,3,2], special_zero=false) -> Result
"""
EVEN = "Broadcast-3(f32=0.5, _shape, mode=numpy)"
COUNTING = "Unsqueeze(Range-4(0, Gather-8(_shape, 0, 0), 1, output_type=f32), [1])"


def test_equal_rows_belong_to_every_sample() -> None:
    assert errors(asked(Net(FOLDED.format(EVEN)), batch="N", rewrite=True)) == []


# The sample at place 3 has never been seen: that 3 is added to it is a guess.
NUMBERED = "Add(f32[3,2], f32=[[0],[1],[2]]) -> Result"
SUMMED = f"{FOLDED.format(EVEN)}\nReduceSum(_more, [0], keep_dims=false) -> Result"
# Each sample draws other numbers, so it is not that of before.
DRAWN = "Multinomial-13(f32[1,4], [3], convert_type=i64, with_replacement=true, log_probs=false) -> Result"
LEAVING = {**{name: (GATHERED.format(one), "P111") for name, one in MIXED.items()}, "rows that differ": (FOLDED.format(COUNTING), "P111")}


@pytest.mark.parametrize(
    ("net", "code"),
    [*LEAVING.values(), (NUMBERED, "P111"), (SUMMED, "P110"), (DRAWN, "P111")],
    ids=[*LEAVING, "constants that number the samples", "rows that are summed", "numbers that are drawn"],
)
def test_what_leaves_a_sample_is_refused(net: str, code: str) -> None:
    assert codes(asked(Net(net), batch="N", rewrite=True)) == {code}


@pytest.mark.parametrize(("offsets", "told"), [
    ("Range-4(0, Multiply(_b, _l), _l, output_type=i64)", set()),
    ("Range-4(0, Multiply(_b, _l), Multiply(_l, 2), output_type=i64)", {"P111"}),  # each bag has the indices of two samples
    ("Add(Range-4(0, Multiply(_b, _l), _l, output_type=i64), [1])", {"P111"}),  # and of the next sample
    ("i64[2]", {"P111"}),
])  # fmt: skip
def test_bags_that_begin_with_each_sample_keep_samples_apart(offsets: str, told: set[str]) -> None:
    """torch writes nn.EmbeddingBag of ids [B,L] so, if no offsets are given."""
    net = Net(f"""
        _x: i64[2,3]
        _n: ShapeOf-3(_x, output_type=i64)
        _b: Gather-8(_n, 0, 0)
        _l: Gather-8(_n, 1, 0)
        EmbeddingBagOffsetsSum-3(f32=1.0[9,4], Reshape(_x, [-1], special_zero=false), {offsets}) -> Result
    """)
    assert codes(asked(net, batch="N", rewrite=True)) == told


def test_an_input_may_order_the_samples() -> None:
    """A beam search takes the states of the beams that it goes on with."""
    net = Net(BEAM.replace("_order: {}\n", "").replace("_order", "beam"))
    found = asked(net, batch=4)
    assert (errors(found), output(found)) == ([], "[4,4]")
    assert "takes the samples in the order that the input 'beam' gives" in found.diagnostics[-1].message


# Of each row of the mask, as many elements as a row of x has; both have one shape, or one of them has rows of 1.
MASKED = """
    x: f32[?,?]
    mask: f32[?,?]
    _shape: ShapeOf-3(x, output_type=i64)
    Range-4(0, Gather-8(_shape, 0, 0), 1, output_type=i64) -> _n: Unsqueeze([1])
    _s: Range-4(0, Gather-8(_shape, 1, 0), 1, output_type=i64)
    _length: Gather-8(ShapeOf-3(mask, output_type=i64), 1, 0)
    Gather-8(Reshape(mask, [-1], special_zero=false), Add(Multiply(_n, {}), _s), 0) -> Result
    Add(x, mask) -> Result
"""


def test_the_sizes_of_the_signature_keep_samples_apart() -> None:
    """Of a shorter mask, the indices would reach into the next row."""
    net = Net(MASKED.format("_length"))
    found = asked(net, batch=4)
    assert errors(found) == []
    assert "where the sizes of the inputs fit together: x[B,T], mask[B,T]" in found.diagnostics[-1].message
    net = Net(MASKED.format("Add(_length, -1)"))
    found = asked(net, batch=4)
    assert codes(found) == {"P111"}


@pytest.mark.parametrize(
    ("net", "layer"),
    [
        ("Divide(_x, _n) -> Result", "Divide 'divide_6' keeps samples apart: it computes with the size of the batch"),
        (
            "Range-4(0, Squeeze(_n), 1, output_type=f32) -> Result",
            "Result 'result_10' keeps samples apart: it gives a value that is computed from the size of the batch",
        ),
        (
            "_n -> Result\n_x -> Result",
            "Result 'result_6' keeps samples apart: it gives a value that is computed from the size of the batch",
        ),
    ],
)
@pytest.mark.parametrize("rewrite", [False, True])
def test_a_layer_that_computes_with_the_size_of_the_batch_is_not_proven(net: str, layer: str, rewrite: bool) -> None:
    own = Net(f"_x: f32[1,4]\nShapeOf-3(_x, output_type=i64) -> Gather-8([0], 0) -> _n: Convert(destination_type=f32)\n{net}")
    found = irshape.reshape(irshape.read(own.xml.encode(), weights=own.bin), batch="N", rewrite=rewrite)
    [error] = [one for one in found.diagnostics if one.severity == "error"]
    assert error.code == "P111" and error.message.startswith(f"irshape cannot prove that {layer} N, which ShapeOf ")


def test_valid_sizes_are_named_where_sizes_are_the_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Net("x: f32[?,?,4] -> Reshape([-1,4]) -> Result")
    path = tmp_path / "mixed.xml"
    own.save(path)
    assert main(["reshape", str(path), "--batch", "4"]) == 1
    assert "P110" in (told := capsys.readouterr().out) and "irshape sizes" not in told
    inputs = ("input_ids[1,1]", "attention_mask[1,127]", "past.key[1,2,127,4]", "past.value[1,2,127,4]")
    assert main(["reshape", "examples/decoder.xml", *(word for one in inputs for word in ("--input", one))]) == 1
    assert "the sizes that the model takes: irshape sizes" in capsys.readouterr().out


# As OpenVINO converts x[:, 1:3] = y, or x[:, 0::2] = y: the places are a range, cut as x is.
ASSIGNED = """
    x: f32[?,4]
    y: f32[?,2]
    _shape: ShapeOf-3(x, output_type=i64)
    _all: Reshape(Range-4(0, ReduceProd(_shape, [0], keep_dims=false), 1, output_type=i64), _shape, special_zero=false)
    _places: Reshape(Slice-8(_all, [{0}], [{1}], [{3}], [{2}]), [-1,1], special_zero=false)
    ScatterNDUpdate-15(Reshape(x, [-1], special_zero=false), _places, Reshape(y, [-1], special_zero=false), reduction=none)
        -> Reshape(_shape, special_zero=false) -> Result
"""


@pytest.mark.oracle
@pytest.mark.parametrize("taken", [(1, 3, 1, 1), (0, 4, 1, 2), (1, 9, -1, 2)])
def test_an_assignment_to_a_slice_keeps_samples_apart(taken: tuple[int, int, int, int]) -> None:
    import openvino

    net = Net(ASSIGNED.format(*taken))
    assert errors(asked(net, batch=3)) == []
    core = openvino.Core()
    model = core.compile_model(core.read_model(net.xml.encode(), openvino.Tensor(np.frombuffer(net.bin, np.uint8).copy())), "CPU")
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), -np.ones((3, 2), np.float32)
    np.testing.assert_array_equal(model([x, y])[0], np.concatenate([model([a[None], b[None]])[0] for a, b in zip(x, y, strict=True)]))


@pytest.mark.parametrize(("shape", "given"), [("[N,S]", "[?,?]"), ("[2,7]", "[2,7]")])
def test_all_places_are_assigned_where_several_sizes_open(shape: str, given: str) -> None:
    net = Net("""
        x: f32[1,5]
        _count: ReduceProd(ShapeOf-3(x, output_type=i64), [0], keep_dims=false)
        _places: Reshape(Range-4(0, _count, 1, output_type=i64), [-1,1], special_zero=false)
        _flat: Reshape(x, [-1], special_zero=false)
        ScatterNDUpdate-15(_flat, _places, Exp(_flat), reduction=none) -> Reshape([1,5], special_zero=false) -> Result
        """)
    inference = irshape.reshape(net.xml.encode(), {"x": shape}, weights=net.bin, rewrite=True)
    assert (errors(inference), output(inference)) == ([], given)


def test_a_table_of_open_rows_is_repeated_for_each_sample() -> None:
    """As a mask of an image of which all places count is indexed by the number of the sample and the place."""
    net = Net("""
        _x: f32[1,5]
        _shape: ShapeOf-3(_x, output_type=i64)
        _n: Unsqueeze(Range-4(0, Gather-8(_shape, 0, 0), 1, output_type=i64), [1])
        _size: Gather-8(_shape, 1, 0)
        _s: Range-4(0, _size, 1, output_type=i64)
        Gather-8(Convert(_s, destination_type=f32), Add(Multiply(_n, _size), _s), 0) -> Add(_x) -> Result
        """)
    found = asked(net, "[N,S]", rewrite=True, choose="first")
    assert (errors(found), output(found)) == ([], "[?,?]")


@pytest.mark.parametrize("taken", [(1, 9, 0, 1), (0, 1, 0, 1), (0, 9, 0, 2)])
def test_an_assignment_to_some_samples_is_refused(taken: tuple[int, int, int, int]) -> None:
    net = Net(ASSIGNED.format(*taken))
    assert not asked(net, batch=3).ok


def test_weights_that_no_size_reads_are_no_work() -> None:
    """Of quantized weights the proof reads no elements: 40 matrices of 1,024 numbers would be more work than is allowed."""
    weight = "_w: Multiply(Convert(u8={}[32,32], destination_type=f32), f32=0.5[32,1])\n_x: MatMul(_x, _w)"
    layers = "\n".join(weight.format(number) for number in range(40))
    net = Net(f"_x: f32[?,32]\n_x: Add(_x, f32=0[1,32])\n{layers}\n_x -> Result")
    found = irshape.reshape(irshape.read(net.xml.encode(), limits=irshape.Limits(work=20_000)), weights=net.bin, batch=4)
    assert errors(found) == []


def test_a_loop_may_put_the_batch_into_a_tensor_that_enters_without_it() -> None:
    """The value begins as one row of zeros, and has a row for each sample after the first iteration."""
    net = Net("max: i64=3\ntrue: boolean=true\nzeros: f32=0[1,4]\nx: f32[?,4]")
    body = inside("y: f32[?,4]\nReLU(y)")
    body.add("boolean=true -> go: Result")
    maps = "2 > _x; 3 > y; result_1 > 4; go > -1; result_1 > _x"
    net.result(net.holder("Loop-5(max, true, zeros, x) f32", maps, body=body)[0])
    found = asked(net, batch=2)
    assert errors(found) == []


@pytest.mark.parametrize("rewrite", [False, True])
@pytest.mark.parametrize(("shape", "mask"), [("[N,S]", "mask[N,S]"), ("[1,16]", "mask[1,16]"), ("[3,8]", None)])
def test_an_input_that_keeps_the_old_size_is_told(shape: str, mask: str | None, rewrite: bool) -> None:
    """The mask is as long as the ids, and was forgotten; where the ids keep their length it is not the cause."""
    net = Net("ids: f32[1,8] -> Multiply(mask: f32[1,8]) -> Reshape([1,8], special_zero=false) -> Result\nother: f32[1,3] -> Result")
    found = irshape.reshape(net.xml.encode(), {"ids": shape}, weights=net.bin, rewrite=rewrite)
    hints = [one.hint for one in found.diagnostics if one.hint]
    told = f"other inputs keep the old size; if their sizes must change, too, add --input '{mask}'"
    assert (told in hints) == (mask is not None) and not (mask is not None and found.ok)


def test_a_concat_without_an_axis_has_axis_0() -> None:
    """OpenVINO takes 0 for an attribute that is missing, and so does a rewriting."""
    inference = asked(Net("Concat(f32[2,3], f32=[[1,2,3]]) -> Result"), "[2,W]", rewrite=True)
    assert (errors(inference), output(inference)) == ([], "[3,?]")


def test_a_layer_that_lacks_an_input_is_not_made_again() -> None:
    """An edge of the Reshape leads to no port, so nothing tells what it would give at another size."""
    net = Net("x: f32[1,5]\nAdd(x, Reshape(f32=0[5], [1,5], special_zero=false)) -> Result")
    xml = net.xml.replace('from-layer="1" from-port="0" to-layer="3"', 'from-layer="1" from-port="7" to-layer="3"')
    assert xml != net.xml
    inference = irshape.reshape(xml.encode(), {"x": "[1,N]"}, weights=net.bin, rewrite=True)
    assert not inference.ok and "I101" not in codes(inference)


def test_a_size_of_several_symbols_that_the_file_does_not_tell_is_refused() -> None:
    with pytest.raises(irshape.InputError, match=r"H \+ W is 5 in the file, which does not tell the sizes H and W: use one name"):
        asked(Net("f32[1,5] -> ReLU -> Result"), "[1,H+W]", rewrite=True)


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        ('f32[2,3] -> Concat(f32[2,3], axis="1,1") -> Result', "[2,4]", "[2,7]"),
        ('f32[2,3] -> Concat(f32=[[1.0,2.0,3.0],[1.0,2.0,3.0]], axis="1.5") -> Result', "[4,3]", "[4,6]"),
    ],
)
def test_a_rewriting_reads_numbers_as_openvino_does(text: str, shape: str, expected: str) -> None:
    """OpenVINO ignores what follows a number."""
    found = asked(Net(text), shape, rewrite=True)
    assert (errors(found), output(found)) == ([], expected)


def test_a_sum_of_sizes_needs_a_name_for_each() -> None:
    """Of 5 past tokens and 4 new ones, `P + 1` would be 9: the file does not say that 4 tokens become 1."""
    net = Net("_past: f32[1,5]\n_mask: f32[1,9]\n_new: f32[1,4]\nAdd(Concat(_past, _new, axis=1), _mask) -> Result")
    model = irshape.read(net.xml.encode())
    told = r"P is 5 and 8 in the file: .*, or name what is added to P, too, as in P \+ S with --set S=1"
    with pytest.raises(irshape.InputError, match=told):
        shapes = {"parameter_0": "[1,P]", "parameter_1": "[1,P+1]", "parameter_2": "[1,1]"}
        irshape.reshape(model, shapes, rewrite=True, weights=net.bin)
    shapes = {"parameter_0": "[1,P]", "parameter_1": "[1,P+S]", "parameter_2": "[1,S]"}
    found = irshape.reshape(model, shapes, symbols={"S": 1}, rewrite=True, weights=net.bin)
    assert (errors(found), output(found)) == ([], "[1,1..]")
