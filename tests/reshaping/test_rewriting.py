"""Models that are rewritten for other sizes: the mends of small nets, each of which a reader can check by hand."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irshape
from irshape.reshaping.ways import Trials, agreement, are_alike, settles
from irshape.shape.dim import Scope, dim_max, dim_min
from tests.reshaping.test_granted import asked, errors, output
from tests.support.ir import Net
from tests.support.oracle import core
from tests.support.places import IRS, unpack

Rows = list[tuple[str, str, str]]


def mends(inference: irshape.Inference) -> Rows:
    """What was changed: the port, what it was, what it is."""
    return [(one["port"], one["was"], one["now"]) for one in inference.to_dict().get("mends", [])]


# An image of 14 rows as 196 tokens, two heads, and an image again.
TOKENS = Net(
    "f32[1,14,14,8]"
    + "".join(f" -> Reshape({sizes}, special_zero=false)" for sizes in ([1, 196, 8], [1, 196, 2, -1], [1, -1, 8], [-1, 14, 14, 8]))
    + " -> Result"
)
# An end at the recorded size means: to the end.
SLICED = Net("Slice-8(f32[1,12,4], [1], [12], [1], [1]) -> Result")
# A begin at the recorded size before the end means: from the start.
WHOLE = Net("Slice-8(f32[1,12,4], [-12], [12], [1], [1]) -> Result")
STRIDED = Net('StridedSlice(f32[1,12,4], [0,-12], [0,12], [1,1], begin_mask="1,0", end_mask="1,0") -> Result')
# A causal mask.
MASK = f"Add(f32[1,6,6], f32={[[[0.0 if column <= row else -9.0 for column in range(6)] for row in range(6)]]}) -> Result"
MASKED = Net(MASK)
# An LSTM whose initial states hold the batch, and whose lengths hold the length.
RECURRENT = Net("""
    _x: f32[1,7,6]
    _top: LSTMSequence-5(_x, f32=0.0[1,1,8], f32=0.0[1,1,8], i32=[7], f32=1.0[1,32,6], f32=1.0[1,32,8], f32=1.0[1,32], hidden_size=8,
        direction=forward, activations="sigmoid,tanh,tanh") f32 f32 f32
    _top -> Result
""")


# Rows of 3 channels, which a position attention block views as an image of 3 channels: no axis of the rows is one of the image.
VIEWED = Net("""
    _x: f32[1,3,4,6]
    Transpose(Reshape(_x, [1,3,24], special_zero=false), [0,2,1]) -> Reshape([1,3,4,6], special_zero=false) -> Add(_x) -> Result
""")


def counted(start: float, step: float) -> Net:
    """A row of numbers that is added to a sequence of 6."""
    return Net(f"Add(f32[1,6], f32={[[start + step * at for at in range(6)]]}) -> Result")


@pytest.mark.parametrize(("net", "shape", "expected", "result"), [
    (TOKENS, "[1,H,W,8]", ["[1,196,8] [1,-1,8]", "[1,196,2,-1] [1,-1,2,4]", "[-1,14,14,8] [1,H,W,8]"], "[1,?,?,8]"),
    (TOKENS, "[1,28,28,8]", ["[1,196,8] [1,-1,8]", "[1,196,2,-1] [1,-1,2,4]", "[-1,14,14,8] [1,28,28,8]"], "[1,28,28,8]"),
    (TOKENS, "[N,14,14,8]", ["[1,196,8] [-1,196,8]", "[1,196,2,-1] [-1,196,2,4]", "[1,-1,8] [-1,196,8]"], "[?,14,14,8]"),
    (Net("Reshape(f32[1,4,7,7], [0,-1,7,7], special_zero=true) -> Result"), "[1,4,H,W]", ["[0,-1,7,7] [0,-1,0,0]"], "[1,4,?,?]"),
    (SLICED, "[1,S,4]", [("ends", "[12]", "[to the end]")], "[1,?,4]"),
    (WHOLE, "[1,S,4]", [("begins", "[-12]", "[0]"), ("ends", "[12]", "[to the end]")], "[1,?,4]"),
    (STRIDED, "[1,S,4]", [("begins", "[0,-12]", "[0,from the start]"), ("ends", "[0,12]", "[0,to the end]")], "[1,?,4]"),
    (MASKED, "[1,S,S]", [("elements", "[1,6,6]", "[1,S,S]"), ("input 1", "axes 1, 2 of Const 'const_1': [6,6]", "[S,S]")], "[1,?,?]"),
    (VIEWED, "[1,3,H,W]", ["[1,3,24] [1,3,-1]", "[1,3,4,6] [1,3,H,W]"], "[1,3,?,?]"),
    (VIEWED, "[N,3,4,6]", ["[1,3,24] [-1,3,24]", "[1,3,4,6] [-1,3,4,6]"], "[?,3,4,6]"),
    (counted(2, 0), "[1,S]", [("elements", "[1,6]", "[1,S]"), ("input 1", "axis 1 of Const 'const_1': [6]", "[S]")], "[1,?]"),
    (counted(0, 1), "[1,S]", [("elements", "[1,6]", "[1,S]"), ("input 1", "axis 1 of Const 'const_1': [6]", "[S]")], "[1,?]"),
], ids=[
    "image", "larger image", "batch", "what stays right", "to the end", "from the start", "strided", "mask", "rows viewed as an image",
    "rows of samples", "equal elements", "count",
])  # fmt: skip
def test_the_mends_of_a_net(net: Net, shape: str, expected: list[str | tuple[str, str, str]], result: str) -> None:
    """A text names what a pattern was and is."""
    found = asked(net, shape, rewrite=True)
    assert (errors(found), output(found).replace("1..", "?")) == ([], result)
    assert mends(found) == [("pattern", *one.split()) if isinstance(one, str) else one for one in expected]


# Rows in pairs. A pattern with a 0 copies a size; and one of which the model computes only the batch.
PAIRS = Net("Reshape(f32[1,8,8,3], [0,4,2,8,3], special_zero=true) -> Result")
COMPUTED = Net("""
    _x: f32[?,4,9]
    Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0) -> Concat([36], axis=0) -> _pattern: Relu
    Reshape(_x, _pattern, special_zero=false) -> Result
""")


# A target of which the model computes only the batch; rows that are filled up to 8 and cut to 6 again; 4 rows for each sample; and a
# count of ones.
REPEATED = Net("""
    _x: f32[1,1,4]
    Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0) -> Concat([3,4], axis=0) -> _target: Relu
    Broadcast-3(_x, _target, mode=bidirectional) -> Result
""")
CUT = Net("""
    _x: f32[1,6,4]
    Add(_x, Slice-8(Concat(_x, f32=0.0[1,2,4], axis=1), [0], [6], [1], [1])) -> Result
""")
COUNTED = Net("Add(f32[1,6], CumSum-3(f32=1.0[1,6], 1, exclusive=false, reverse=false)) -> Result")
ROWS = Net("Reshape(f32[4,6], [-1,4,6], special_zero=false) -> Result")


# Blocks of 2x2 of an image, which a Col2Im puts together again.
FOLDED = Net("""
    SpaceToDepth(f32[1,4,16,16], mode=depth_first, block_size=2)
        -> Reshape([1,16,64], special_zero=false)
        -> Col2Im-15([16,16], [2,2], strides="2,2", dilations="1,1", pads_begin="0,0", pads_end="0,0") -> Result
""")


# The mean of an image beside the image; a row of complex numbers that is transformed, and 8 real numbers there and back.
POOLED = Net("""
    _x: f32[1,3,8,12]
    ReduceMean(_x, [2,3], keep_dims=true)
        -> Interpolate-11([8,12], [2,3], mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel,
            antialias=false, nearest_mode=round_prefer_floor) -> _mean: Relu
    Concat(_x, _mean, axis=1) -> Result
""")
TILED = Net("""
    MaxPool(f32[1,3,8,8], strides="4,4", pads_begin="0,0", pads_end="0,0", kernel="4,4", rounding_type=floor)
        -> Reshape([1,3,4], special_zero=false) -> Result
""")
COMPLEX = Net("DFT-7(f32[1,8,2], [1], [8]) -> Result")
SPECTRUM = Net("""
    _x: f32[1,8]
    Add(_x, IRDFT-9(RDFT-9(_x, [1], [8]), [1], [8])) -> Result
""")


@pytest.mark.parametrize(("net", "shape", "options", "now"), [
    (PAIRS, "[1,H,W,3]", {}, ["[1,H//2,2,W,3]"]),
    (PAIRS, "[1,4*h,4*w,3]", {}, ["[1,2*h,2,4*w,3]"]),
    (PAIRS, "[1,4*h+8,4*w,3]", {}, ["[1,2*h + 4,2,4*w,3]"]),
    (COMPUTED, "[N,S,9]", {"recorded": {"parameter_0": "[1,4,9]"}}, ["[0,-1]"]),
    (REPEATED, "[N,1,S]", {}, ["[N,3,S]"]),
    (CUT, "[1,S,4]", {}, ["[S]"]),
    (ROWS, "[4*N,6]", {}, []),
    (COUNTED, "[1,S]", {}, ["[1,S]", "[S]"]),
    (FOLDED, "[1,4,2*h,2*w]", {}, ["[1,16,-1]", "[2*h,2*w]"]),
    (TILED, "[1,3,H,8]", {"symbols": {"H": "16*k"}}, ["[1,3,-1]"]),
    (TILED, "[1,3,H,8]", {"symbols": {"H": "8"}}, []),
    (POOLED, "[1,3,H,W]", {}, ["[H,W]"]),
    (COMPLEX, "[1,S,2]", {}, ["[S]"]),
    (SPECTRUM, "[N,S]", {}, ["[S]", "[S]"]),
], ids=["a size that may be 0 is no copy", "multiples", "multiples and more", "partly computed", "partly computed target", "cut",
    "rows of samples", "counted", "put together again", "no multiple", "a number", "pooled", "transformed", "there and back"])  # fmt: skip
def test_sizes_that_layers_compute(net: Net, shape: str, options: dict[str, Any], now: list[str]) -> None:
    found = asked(net, shape, rewrite=True, choose="first", **options)
    assert errors(found) == []
    assert [one for _, _, one in mends(found)] == now


def test_states_and_lengths_follow() -> None:
    found = asked(RECURRENT, "[N,S,6]", rewrite=True)
    assert errors(found) == []
    assert [port for port, *_ in mends(found)] == ["input 3", "input 1", "input 2"]


FIRST = Net("Add(f32[1,6], f32=[[3.0,1.0,4.0,1.0,5.0,9.0]]) -> Result")


def test_the_first_elements_serve_up_to_the_recorded_size() -> None:
    [refused] = [one for one in asked(FIRST, "[1,S]", rewrite=True).diagnostics if one.severity == "error"]
    assert refused.hint and "--set S=1..6 takes the first elements" in refused.hint
    [multiples] = [one for one in asked(FIRST, "[1,S]", symbols={"S": "2*k"}, rewrite=True).diagnostics if one.severity == "error"]
    assert multiples.hint and "--set S=2..6,2*k takes the first elements" in multiples.hint
    longer = Net("Add(f32[1,7], f32=[[3.0,1.0,4.0,1.0,5.0,9.0,2.0]]) -> Result")
    like = irshape.read(longer.xml.encode(), weights=longer.bin)
    [refused] = [one for one in asked(FIRST, "[1,S]", rewrite=True, like=like).diagnostics if one.severity == "error"]
    assert refused.hint and "S=1..6 takes the first elements, more of them if you rewrite the other export" in refused.hint
    found = asked(FIRST, "[1,S]", symbols={"S": "1..6"}, rewrite=True)
    assert (errors(found), found.to_dict()["mends"][0]["kind"]) == ([], "first")
    number = asked(FIRST, "[1,S]", symbols={"S": 4}, rewrite=True)
    assert (errors(number), output(number)) == ([], "[1,4]")
    [error] = errors(asked(FIRST, "[1,S]", symbols={"S": 9}, rewrite=True))
    assert error.startswith("S207 Add 'add_2' needs 9 elements along axis 1 of Const 'const_1' [1,6]")


def rotary(frequencies: list[float], function: Any = np.cos) -> Net:
    """A sequence of 6 that is multiplied by a table of rotary positions."""
    table = function(np.arange(6, dtype="f4")[:, None] * np.array([*frequencies, *frequencies], "f4"))
    return Net(f"Multiply(f32[1,6,{table.shape[1]}], f32={table[None].tolist()}) -> Result")


@pytest.mark.parametrize("width", [8, 16, 64])
def test_a_table_of_rotary_positions_may_be_wide(width: int) -> None:
    net = rotary([10_000 ** (-2 * one / width) for one in range(width // 2)])
    found = asked(net, f"[1,S,{width}]", rewrite=True)
    assert (errors(found), found.to_dict()["mends"][0]["kind"]) == ([], "generated")


@pytest.mark.oracle
@pytest.mark.parametrize("function", [np.cos, np.sin])
def test_rotary_positions_go_on(function: Any, tmp_path: Any) -> None:
    found = asked(rotary([1, 0.1, 0.01, 0.001], function), "[1,S,8]", rewrite=True)
    assert errors(found) == []
    assert found.to_dict()["mends"][0]["kind"] == "generated"
    found.write(tmp_path / "out.xml")
    model = core().compile_model(tmp_path / "out.xml", "CPU")
    for length in (3, 6, 40):
        wanted = function(np.arange(length)[:, None] * np.array([1, 0.1, 0.01, 0.001] * 2))
        np.testing.assert_allclose(model([np.ones((1, length, 8), "f4")])[0][0], wanted, atol=1e-5)


# A mask [B,S] that is read at b*6 + s, as `mask[batch, position]` leaves it, and the rows 0, 1, ... of a table of 9.
INDEXED = Net("""
    _mask: boolean[2,6]
    _sizes: Split([2,6], 0, num_splits=2) i64 i64
    _places: Add(Multiply([[[0]],[[1]]], _sizes.1), [[[0,1,2,3,4,5]]])
    Reshape(_mask, [12,1], special_zero=false) -> Gather-8(_places, 0) -> Reshape([2,1,6], special_zero=false) -> Result
""")
POSITIONS = Net(f"""
    _x: f32[1,6,1]
    _parts: VariadicSplit(Gather-8(f32={np.arange(18).reshape(9, 2).tolist()}, [[0,1,2,3,4,5]], 0), 2, [1,1]) f32 f32
    Add(_x, _parts.1) -> Result
""")
SQUARE = Net(f"""
    Add(f32[1,6,6], Slice-8(f32={np.tril(np.ones((9, 9))).tolist()}, [0,0], [6,6], [1,1], [0,1])) -> Result
""")
# The masks of a sliding window of 2 and of a band about the diagonal.
_AHEAD = np.subtract.outer(np.arange(7), np.arange(7)).T
TRIANGLE = f"f32={np.where(_AHEAD > 0, -9.0, 0.0)[None].tolist()}"


def windowed(size: int, data: str) -> Net:
    """Data behind a mask of seven rows and columns, each of which sees so many before it."""
    return Net(f"_x: {data}\nSelect(boolean={np.greater(_AHEAD, -size).astype(int)[..., None].tolist()}, _x, f32=0.0) -> Result")


BANDED = Net(f"Add(f32[1,7,7], f32={np.where(abs(_AHEAD) < 3, 0.0, -9.0)[None].tolist()}) -> Result")
# One query for each of two heads, which every sample asks.
PROBED = Net("""
    _x: f32[1,6,8]
    _heads: Reshape(Transpose(Reshape(_x, [1,6,2,4], special_zero=false), [0,2,1,3]), [2,6,4], special_zero=false)
    ScaledDotProductAttention-13(f32=[[[1.0,2.0,3.0,4.0]],[[5.0,6.0,7.0,8.0]]], _heads, _heads, causal=false)
        -> Reshape([1,2,1,4], special_zero=false) -> ReduceSum([1], keep_dims=false) -> Result
""")
# Places by frequencies, and a filter over an image that is the same for each sample.
PRODUCTS = Net("_x: f32[1,6,3]\nAdd(_x, MatMul(f32=[[[0],[1],[2],[3],[4],[5]]], f32=[[[1,2,5]]])) -> Result")
SCALED = Net("_x: f32[2,6,3]\nAdd(_x, MatMul(f32=1.5[2,6,1], f32=[[1,2,5]])) -> Result")
# The greatest place of each sample in a table with the rows of four.
PLACED = Net(f"""
    _top: TopK-11(f32[4,6], 1, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64
    Gather-8(f32={[[float(row * row)] for row in range(24)]}, Add(_top.1, [[0],[6],[12],[18]]), 0) -> Result
""")
FILTERED = Net("""
    _x: f32[2,1,4]
    _made: Convolution(f32=1.0[2,1,4], f32=3.0[1,1,1], strides="1", pads_begin="0", pads_end="0", dilations="1", auto_pad=explicit)
    Add(_x, _made) -> Result
""")
# Rows that are written into zeros at places that the data tell, as a mixture of experts writes them.
WRITTEN = Net("""
    _x: f32[2,6,1]
    _rows: Reshape(_x, [12,1], special_zero=false)
    _sums: ScatterElementsUpdate-3(f32=0.0[12,1], Convert(_rows, destination_type=i64), _rows, 0)
    Add(_x, Reshape(_sums, [2,6,1], special_zero=false)) -> Result
""")
# A normalization of one sample, whose channels are those of all samples, beside data that have the batch.
NORMALIZED = Net("""
    _x: f32[1,2,4]
    _rows: Reshape(_x, [1,2,4], special_zero=false)
    _less: Subtract(_rows, ReduceMean(_rows, [0,2], keep_dims=true))
    _less -> Result
    Add(_x, _less) -> Result
""")
# The last head, of which the Transpose that leads back to (1, 1, 3, 2) is left out of a file for one sample.
HEAD = Net("_x: f32[1,4,3,2]\nMultiply(_x, Slice-8(Transpose(_x, [1,0,2,3]), [3], [4], [1], [0])) -> Result")


def flat(rows: int, columns: int) -> Net:
    """The places of an image, counted along its first axis, one after another."""
    return Net(f"""
        _x: f32[1,{rows},{columns},1]
        _places: CumSum-3(f32=1.0[1,{rows},{columns},1], 1, exclusive=false, reverse=false)
        _sum: Add(Reshape(_x, [1,{rows * columns},1], special_zero=false), Reshape(_places, [1,{rows * columns},1], special_zero=false))
        _sum -> Result
    """)


@pytest.mark.parametrize(
    ("net", "shape", "result", "condition"),
    [
        (INDEXED, "[B,6]", "[?,1,6]", ""),
        (INDEXED, "[2,S]", "[2,1,?]", ""),
        (POSITIONS, "[1,S,1]", "[1,..9,1]", "S <= 9"),
        (Net("_x: f32[1,6,1]\nAdd(_x, Gather-8(f32=1.0[6,1], [[0,1,2,3,4,5]], 0)) -> Result"), "[1,S,1]", "[1,?,1]", ""),
        (SQUARE, "[1,S,S]", "[1,..9,..9]", "S <= 9"),
        (windowed(3, "f32[7,7,1]"), "[S,S,1]", "[?,?,1]", ""),
        (BANDED, "[1,S,S]", "[1,?,?]", ""),
        (Net(f"_x: f32[1,1,7]\nAdd(Add(_x, {TRIANGLE}), Multiply(Transpose(_x, [0,2,1]), _x)) -> Result"), "[1,1,S]", "[1,?,?]", ""),
        (PROBED, "[B,6,8]", "[?,1,4]", ""),
        (NORMALIZED, "[B,2,4]", "[?,2,4]", ""),
        (HEAD, "[B,4,3,2]", "[?,4,3,2]", ""),
        (PRODUCTS, "[1,S,3]", "[1,?,3]", ""),
        (SCALED, "[N,6,3]", "[?,6,3]", ""),
        (FILTERED, "[N,1,4]", "[?,1,4]", ""),
        (WRITTEN, "[2,S,1]", "[2,?,1]", ""),
        (flat(2, 3), "[1,H,W,1]", "[1,?,1]", ""),
    ],
    ids=[
        "samples of a mask",
        "length of a mask",
        "rows of a table",
        "a mask of ones",
        "both axes of a table",
        "a sliding window",
        "a band",
        "columns of a triangle",
        "a learned query",
        "a normalization of single samples",
        "a head of samples",
        "products",
        "products of samples",
        "a filter",
        "rows that are written",
        "a flat image",
    ],
)
def test_what_constants_compute_goes_on(net: Net, shape: str, result: str, condition: str) -> None:
    found = asked(net, shape, rewrite=True)
    assert (errors(found), output(found).replace("1..", "?")) == ([], result)
    assert {str(one.requirement) for one in found.guards} == ({condition} if condition else set())


# What the file does not decide.


# An Interpolate from 16 to 64: the size of the input, or four times its own.
RESIZED = Net("""
    MaxPool(f32[1,3,64,64], strides="4,4", pads_begin="0,0", pads_end="0,0", kernel="4,4", rounding_type=ceil)
        -> Interpolate-4([64,64], f32=[4.0,4.0], [2,3], mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor, antialias=false,
            coordinate_transformation_mode=asymmetric) -> Result
""")


_HALF = """
    _data: MaxPool(f32[1,3,6,8], strides="2,2", pads_begin="1,1", pads_end="1,1", kernel="3,3", rounding_type=floor)
    _whole: Interpolate-4(_data, [3,4], f32=[1.0,1.0], [2,3], mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor,
        antialias=false, coordinate_transformation_mode=asymmetric)
"""


@pytest.mark.parametrize(("end", "told"), [
    ("_whole -> Result", ["may give [(H + 1)//2,(W + 1)//2], [(H + 1)//2,W//2], [H//2,(W + 1)//2] or [H//2,W//2]"]),
    ("Add(_whole, _data) -> Result", []),
])  # fmt: skip
def test_half_of_an_image_is_rounded_in_two_ways(end: str, told: list[str]) -> None:
    """The sizes are those of the data, or half of those of the image, unless the layer behind needs the first."""
    found = errors(asked(Net(f"{_HALF}{end}"), "[1,3,H,W]", rewrite=True))
    assert [one.partition("' ")[2] for one in found] == told


def test_several_formulas_are_listed_and_refused() -> None:
    found = asked(RESIZED, "[1,3,H,W]", rewrite=True)
    assert [one.code for one in found.diagnostics if one.severity == "error"] == ["S208"] * len(errors(found))
    assert any("may give [H,W], " in one for one in errors(found))
    assert found.to_dict()["choices"]


@pytest.mark.parametrize(
    ("shape", "symbols", "hint"),
    [
        ("[1,3,H,W]", {}, "say which sizes are meant (--set H=4*k W=4*m), give a second export"),
        ("[1,3,H,W]", {"H": "2*k", "W": "2*k2"}, "give a second export"),
        ("[1,3,90,90]", {}, "give a second export"),
    ],
)
def test_a_hint_names_the_symbols_of_the_caller(shape: str, symbols: dict[str, str], hint: str) -> None:
    found = asked(RESIZED, shape, symbols=symbols, rewrite=True)
    assert {one.hint.startswith(hint) for one in found.diagnostics if one.code == "S208" and one.hint} == {True}


def test_ways_that_agree_at_the_numbers_that_are_asked_for_are_one() -> None:
    found = asked(RESIZED, "[1,3,80,80]", rewrite=True)
    assert (errors(found), output(found)[:5]) == ([], "[1,3,")


def test_ways_are_told_in_the_numbers_that_are_asked_for() -> None:
    told = [one.message for one in asked(RESIZED, "[1,3,90,90]", rewrite=True).diagnostics if one.code == "S208"]
    assert told and not any("H" in one or "W" in one for one in told), told


def test_a_refusal_of_sizes_with_odd_parts_names_multiples(tmp_path: Path) -> None:
    """Two blocks of a Swin transformer: a window of 4 patches, shifted by 2, leaves a part of an image of other sizes."""
    unpack("windows.tar.xz", tmp_path)
    found = irshape.reshape(tmp_path / "windows.xml", {"x": "[N,3,H,W]"}, rewrite=True)
    [one] = [one for one in found.diagnostics if one.severity == "error"]
    assert (one.code, one.hint) == ("P110", "ask for sizes that the layers divide without a rest: --set H=32*k W=32*m")
    assert irshape.reshape(tmp_path / "windows.xml", {"x": "[N,3,H,W]"}, symbols={"H": "32*k", "W": "32*k2"}, rewrite=True).ok
    found = irshape.reshape(tmp_path / "windows.xml", {"x": "[N,3,H,W]"}, symbols={"W": "1..256"}, rewrite=True)
    assert [one.hint for one in found.diagnostics if one.severity == "error"] == [
        "ask for sizes that the layers divide without a rest: --set H=32*k W=1..256,32*m"
    ]
    assert irshape.reshape(tmp_path / "windows.xml", {"x": "[N,3,H,W]"}, symbols={"H": "32*k", "W": "1..256,32*m"}, rewrite=True).ok


# Eight times the number of patches of 14, grown to the size of the image: H, or 14 for each patch.
PATCHES = Net("""
    MaxPool(f32[1,3,224,224], strides="14,14", pads_begin="0,0", pads_end="0,0", kernel="14,14", rounding_type=floor)
        -> Interpolate-4([128,128], f32=[8.0,8.0], [2,3], mode=nearest, shape_calculation_mode=scales, nearest_mode=floor, antialias=false,
            coordinate_transformation_mode=asymmetric)
        -> Interpolate-4([224,224], f32=[1.75,1.75], [2,3], mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor,
            antialias=false, coordinate_transformation_mode=asymmetric) -> Result
""")


# A size of 8 that is filled up to windows of 4, and cut to 8 again, or not at all.
WINDOWS = Net("""
    MaxPool(f32[1,3,8,8], strides="4,4", pads_begin="0,0", pads_end="0,0", kernel="4,4", rounding_type=ceil)
        -> Interpolate-4([8,8], f32=[4.0,4.0], [2,3], mode=nearest, shape_calculation_mode=scales, nearest_mode=floor, antialias=false,
            coordinate_transformation_mode=asymmetric)
        -> Slice-8([0], [8], [1], [2]) -> Result
""")


@pytest.mark.parametrize(("net", "shape", "symbols", "ways", "result"), [
    (RESIZED, "[1,3,H,W]", {"H": "4*k", "W": "4*k"}, "may give [H,W], ", "[1,3,4..,4..]"),
    (PATCHES, "[1,3,H,224]", {"H": "14*k"}, "may give [H,224] or [14*(H//14),224]", "[1,3,14..,224]"),
    (WINDOWS, "[1,3,H,8]", {"H": "4*k"}, "may give [4*((H + 3)//4)] or [H]", "[1,3,4..,8]"),
])  # fmt: skip
def test_sizes_for_which_the_formulas_agree_decide(net: Net, shape: str, symbols: dict[str, str], ways: str, result: str) -> None:
    assert any(ways in one for one in errors(asked(net, shape, rewrite=True)))
    found = asked(net, shape, symbols=symbols, rewrite=True)
    assert (errors(found), output(found)) == ([], result)


# An Interpolate to 12 of data of 8, three elements for two, or 12 elements at any size.
GROWN = Net("""
    Interpolate-11(f32[1,1,8,8], [12,8], [2,3], mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel,
        antialias=false, nearest_mode=round_prefer_floor) -> Result
""")


def test_a_size_that_may_be_a_proportion_or_a_number_is_refused() -> None:
    [error] = errors(asked(GROWN, "[1,1,2*h,8]", rewrite=True))
    assert "may give [3*h,8] or [12,8]" in error


def test_the_first_way_is_taken_with_a_note() -> None:
    found = asked(RESIZED, "[1,3,H,W]", rewrite=True, choose="first")
    assert (errors(found), output(found)) == ([], "[1,3,4..,4..]")


# Pixels of an image become a row of places: one row of pixels, or one pixel, may join the batch instead, or change places.
FLATTENED = """
    MaxPool(f32[2,{0},32,{1}], strides="32,32", pads_begin="0,0", pads_end="0,0", kernel="32,32", rounding_type=ceil)
        -> Transpose([0,2,3,1]) -> Reshape([2,{2},{0}], special_zero=false) -> Result
"""


@pytest.mark.parametrize(("channels", "width", "places"), [(1, 64, 2), (8, 32, 1)], ids=["one row", "one pixel"])
def test_places_of_an_image_join_each_other_first(channels: int, width: int, places: int) -> None:
    found = errors(asked(Net(FLATTENED.format(channels, width, places)), f"[N,{channels},H,W]", rewrite=True))
    [told] = [one for one in found if "may give" in one]
    assert f"may give [N,((H + 31)//32)*((W + 31)//32),{channels}]" in told


def test_a_second_export_decides() -> None:
    """Its 66 is no multiple of 4, and its output has the size of its input."""
    other = RESIZED.xml.replace('shape="1,3,64,64"', 'shape="1,3,66,70"')
    weights = RESIZED.bin.replace(np.array([64, 64]).tobytes(), np.array([66, 70]).tobytes())
    found = asked(RESIZED, "[1,3,H,W]", rewrite=True, like=irshape.read(other.encode(), weights=weights))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,3,H,W]"


@pytest.mark.parametrize(
    ("wish", "shape", "told"),
    [
        ("[1,3,H,W]", "1,3,64,64", "has the same sizes as this file"),
        ("[1,3,H,W]", "1,3,?,?", "the sizes to change are all open in the other export"),
        ("[1,3,32*h,W]", "1,3,74,80", r"the size 32\*h is 74 in the other export, but no whole h gives 74"),
    ],
)
def test_a_second_export_that_decides_nothing(wish: str, shape: str, told: str) -> None:
    other = RESIZED.xml.replace('shape="1,3,64,64"', f'shape="{shape}"')
    with pytest.raises(irshape.InputError, match=told):
        asked(RESIZED, wish, rewrite=True, like=irshape.read(other.encode(), weights=RESIZED.bin))


def test_a_number_that_stays_is_refused() -> None:
    net = Net("_top: TopK-11(f32[1,12], 4, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64\n_top -> Result")
    assert errors(asked(net, "[1,S]", rewrite=True)) == ["S208 TopK 'topk_2' takes 4 elements of an axis of size S"]
    found = asked(net, "[1,S]", rewrite=True, choose="first")
    assert [one.code for one in found.diagnostics] == ["N109"]


def test_no_way_is_offered_that_is_refused() -> None:
    """The middle of a row beside what windows of 7 leave of it: with its begin and its end, the length can only be 12."""
    net = Net("""
        _x: f32[1,1,12]
        _left: MaxPool-1(_x, kernel="7", strides="1", pads_begin="0", pads_end="0", rounding_type=floor)
        Concat(Slice-8(_x, [3], [9], [1], [2]), _left, axis=1) -> Result
    """)
    found = asked(net, "[1,1,S]", rewrite=True).diagnostics
    assert [one.code for one in found] == ["S208", "S208", "S207"]
    [hint] = {one.hint for one in found}
    assert hint and hint.startswith("choose other sizes, or convert the model again at another size")


_ALIKE = {
    "all of an axis": (
        "_top: TopK-11(f32[1,{0}], {1}, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64\n_top.0 -> Result", "[1,S]",
    ),
    "an image": (
        "Interpolate-4(f32[1,1,{0},8], [{1},8], f32=[1.0,1.0], [2,3], mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor, "
        "antialias=false, coordinate_transformation_mode=asymmetric) -> Result", "[1,1,S,8]",
    ),
    "the end of a slice": ("Slice-8(f32[1,{0}], [0], [{1}], [1], [1]) -> Result", "[1,S]"),
}  # fmt: skip


@pytest.mark.parametrize("name", _ALIKE)
@pytest.mark.parametrize("stays", [True, False], ids=["the number stays", "it is the size"])
def test_a_second_export_tells_whether_a_number_is_the_size(name: str, stays: bool) -> None:
    text, shape = _ALIKE[name]
    net, other = Net(text.format(12, 12)), Net(text.format(20, 12 if stays else 20))
    found = asked(net, shape, rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert (found.layer(str(found.model.results[0].id)).inputs[0].formula == shape) != stays


@pytest.mark.parametrize(("here", "there"), [(29, 34), (34, 29)])
def test_a_second_export_tells_how_an_image_is_halved(here: int, there: int) -> None:
    text, shape = _ALIKE["an image"]
    net, other = (Net(text.format(size, (size + 1) // 2)) for size in (here, there))
    found = asked(net, shape, rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,1,(S + 1)//2,8]"


@pytest.mark.parametrize(("here", "there", "ways"), [
    (12, 21, []), (21, 12, []), (13, 21, ["[(S + 1)//2:] or [S//2 + 1:]"]), (12, 20, []),
])  # fmt: skip
def test_the_place_behind_the_middle_is_told_by_an_even_size(here: int, there: int, ways: list[str]) -> None:
    """Of 13 and 21 elements, 7 and 11 may also be half of them, rounded up."""
    text = "Slice-8(f32[1,{}], [{}], [9223372036854775807], [1], [1]) -> Result"
    net, other = (Net(text.format(size, size // 2 + 1)) for size in (here, there))
    found = asked(net, "[1,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert [fault.message.partition(" may give ")[2] for fault in found.errors] == ways


@pytest.mark.parametrize(("length", "count", "told"), [
    (20, 4, []),
    (20, 9, ["S207 TopK 'topk_2' gives the size 4 on axis 1, but the other export has 9: Const 'const_1' (line 10) holds the old size"]),
])  # fmt: skip
def test_a_second_export_decides_numbers_that_stay(length: int, count: int, told: list[str]) -> None:
    text = "_top: TopK-11(f32[1,{}], {}, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64\n_top -> Result"
    net, other = Net(text.format(12, 4)), Net(text.format(length, count))
    found = asked(net, "[1,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == told


# Half an image, of 2 rows and 3 columns, becomes one of [2,4], and of 3 and 5 one of [4,6]: each side is rounded up to an even number.
# The rows may as well be 2*(W//4), and the columns H.
EVEN = """
    _x: MaxPool-1(f32[1,4,{0},{1}], kernel="2,2", strides="2,2", pads_begin="0,0", pads_end="0,0", rounding_type=floor)
    _sizes: Concat(Slice-8(ShapeOf-3(_x, output_type=i64), [0], [2], [1], [0]), [{2},{3}], axis=0)
    Interpolate-11(_x, _sizes, mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor, antialias=false,
        coordinate_transformation_mode=asymmetric) -> Result
"""


def test_sizes_that_a_concat_joins_are_those_of_their_own_axes() -> None:
    net, other = Net(EVEN.format(4, 6, 2, 4)), Net(EVEN.format(6, 10, 4, 6))
    found = asked(net, "[1,4,H,W]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,4,2*((H + 2)//4),2*((W + 2)//4)]"


# A table that ONNX exporters leave before a convolution, which moves over its places one by one.
FILTERED = """
    Add(f32[1,3,4,6], Convolution(f32=0.5[1,2,4,6], f32=0.25[3,2,{0},{0}], strides="1,1", dilations="1,1", pads_begin="{1},{1}",
        pads_end="{1},{1}")) -> Result
"""


@pytest.mark.parametrize(("side", "pad", "told"), [(1, 0, []), (3, 1, ["irshape has no rule for the elements of Convolution"])])
def test_a_table_grows_before_a_convolution_with_filters_of_one_element(side: int, pad: int, told: list[str]) -> None:
    found = errors(asked(Net(FILTERED.format(side, pad)), "[1,3,H,W]", rewrite=True))
    assert len(found) == len(told) and all(one in found[0] for one in told)


_PARTS = {
    "k": "_top: TopK-11(f32[1,{0}], {1}, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64\n_top.0 -> Result",
    "an end": "Slice-8(f32[1,{0}], [0], [{1}], [1], [1]) -> Result",
    "a begin": "Slice-8(f32[1,{0}], [{1}], [2147483647], [1], [1]) -> Result",
    "a shift": "Roll-7(f32[1,{0}], [{1}], [1]) -> Result",
}


@pytest.mark.parametrize("name", _PARTS)
@pytest.mark.parametrize(("numbers", "now"), [
    ((12, 6, 19, 9), ["S//2"]),
    ((12, 6, 19, 10), ["(S + 1)//2"]),
    ((12, 6, 20, 10), ["S//2", "(S + 1)//2"]),  # both fit both exports
    ((14, 11, 19, 16), ["S - 3"]),
    ((15, 14, 19, 18), ["S - 1", "2*(S//2)"]),
    ((15, 14, 20, 20), ["2*(S//2)"]),
    ((12, 6, 19, 8), []),
])  # fmt: skip
def test_a_number_that_a_second_export_does_not_have_is_a_part_of_the_axis(name: str, numbers: tuple[int, ...], now: list[str]) -> None:
    net, other = Net(_PARTS[name].format(*numbers[:2])), Net(_PARTS[name].format(*numbers[2:]))
    found = asked(net, "[1,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    if len(now) == 1:
        assert errors(found) == []
        assert [one["now"].strip("[]") for one in found.to_dict()["mends"]] == now
    else:
        [told] = errors(found)
        assert told.startswith("S208" if now else "S207")
        assert all(one in told for one in now)


@pytest.mark.parametrize(("begin", "there", "now"), [(2, 2, "[to the end]"), (10, 14, "[S - 2]")])
def test_an_end_of_the_whole_axis_is_that_of_a_second_export(begin: int, there: int, now: str) -> None:
    """As torch.roll leaves its two parts."""
    net, other = (Net(f"Slice-8(f32[1,{size}], [{first}], [{size}], [1], [1]) -> Result") for size, first in ((12, begin), (16, there)))
    found = asked(net, "[1,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert [one["now"] for one in found.to_dict()["mends"]][:1] == [now]


@pytest.mark.parametrize(("one", "other", "alike"), [
    ("s - dim_min(s, 2)", "s - 2", True),
    ("s", "dim_min(s, 512)", False),
    ("s", "s // 2 * 2", False),
    ("dim_max(s, 7)", "s", False),
    ("(s + 1) // 2", "s - s // 2", True),
    ("-(s // 2)", "-((s + 1) // 2)", False),
    ("-s", "-dim_max(s, 1)", True),
])  # fmt: skip
def test_ways_that_give_the_same_sizes_are_one(one: str, other: str, alike: bool) -> None:
    """The recorded size is 14."""
    scope = {"s": Scope().symbol("S"), "dim_min": dim_min, "dim_max": dim_max}
    assert are_alike(((eval(one, scope),), (eval(other, scope),)), {"S": 14}) == alike


@pytest.mark.parametrize(("one", "other", "step"), [
    ("(s + 15) // 16", "2 * ((s + 31) // 32)", 32),  # multiples of 31 agree up to 465
    ("s", "s // 14 * 14", 14),
    ("s", "s + 1", 0),
])  # fmt: skip
def test_ways_agree_at_multiples(one: str, other: str, step: int) -> None:
    scope = {"s": Scope().symbol("S")}
    assert agreement(((eval(one, scope),), (eval(other, scope),))) == step


@pytest.mark.parametrize(("one", "other", "recorded", "seen", "told"), [
    ("s // 2", "s // 4 * 2", 64, {}, 70),  # no multiple of 4; at 66, the second way gives 32, as it does at 64
    ("s // 2", "(s + 1) // 2", 64, {}, 67),  # at 65, the first way gives 32 again
    ("(s + 3) // 4", "(s + 1) // 4", 24, {"S": 47}, 29),  # 8 and 7; at 26, the second way gives 6 again
    ("s", "s // 8 * 8 + 4", 20, {"S": 36}, 24),  # both exports have multiples of 4, and so has this one
    ("s", "s // 8 * 8 + 4", 20, {"S": 24}, 32),  # not the second export again, and at 28 the ways agree
    ("s // 2", "s - s // 2", 10, {"S": 13}, 17),  # 15 is a multiple of 3
])  # fmt: skip
def test_a_second_export_tells_ways_apart_at_some_sizes(one: str, other: str, recorded: int, seen: dict[str, int], told: int) -> None:
    size = Scope().symbol("S")
    ways = tuple((eval(text, {"s": size}),) for text in (one, other))
    assert Trials({"S": recorded}, seen, None, [size]).telling([ways]) == {"S": told}


def test_the_export_with_fewer_multiples_leaves_fewer_ways() -> None:
    """A half of 24 and a quarter of 24 are whole numbers; 47 has neither."""
    near = [Scope().symbol("S")]
    assert Trials({"S": 24}, {"S": 47}, None, near).are_rounder()
    assert not Trials({"S": 47}, {"S": 24}, None, near).are_rounder()
    assert not Trials({"S": 24}, {}, None, near).are_rounder()


@pytest.mark.parametrize(("size", "number", "does"), [
    ("(s // 16) * (1 // (s // 16))", 0, True),  # from 32 on
    ("dim_min(s, 512)", 512, True),
    ("s // 32", 7, False),
    ("s - s // 2 * 2", 0, False),
])  # fmt: skip
def test_a_number_of_all_large_sizes_sets_a_smallest_size(size: str, number: int, does: bool) -> None:
    assert settles(eval(size, {"s": Scope().symbol("S"), "dim_min": dim_min}), number) == does


def test_layers_with_other_chosen_names_are_not_compared() -> None:
    """OpenVINO turns a Transpose of one sample into a Reshape; the Reshape before it in the other export is another layer."""
    net = Net("_x: f32[1,4,6]\nExp(_x) -> t: Reshape([4,1,6], special_zero=false) -> Relu -> Result")
    other = Net("_x: f32[2,4,6]\nExp(_x) -> u: Reshape([2,4,6], special_zero=false) -> t: Transpose([1,0,2]) -> Relu -> Result")
    found = asked(net, "[N,4,6]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[4,N,6]"


def test_layers_whose_names_differ_in_a_number_are_compared_if_they_read_alike() -> None:
    """The converter of PyTorch numbers the layers of `x[:, :-2] = 0` otherwise in each export, such as SliceAssign_310982/Slice_1."""
    sliced = '_x: f32[1,{0},6]\nSliceAssign_{1}: StridedSlice(_x, [0,0], [0,-2], [1,1], begin_mask="1,1", end_mask="1,0") -> Result'
    one, other = Net(sliced.format(12, 31)), Net(sliced.format(20, 34))
    found = asked(one, "[1,S,6]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,max(S - 2, 0),6]"


def test_a_number_that_only_one_size_explains_is_decided_by_an_export_with_the_same_batch() -> None:
    """8 elements are S and not N, so an export with another S tells that they stay."""
    one, other = (Net(f"_x: f32[2,{size}]\nBroadcast-3(Unsqueeze(_x, 2), [1,1,8], mode=bidirectional) -> Result") for size in (8, 20))
    told = "S208 Broadcast 'broadcast_4' gives the size 8 on axis 2, as many elements as an open size had"
    assert errors(asked(one, "[N,S]", rewrite=True)) == [told]
    found = asked(one, "[N,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []


def test_a_second_export_differs_only_where_an_axis_is_open() -> None:
    net, other = Net("Relu(f32[2,3,64,64]) -> Result"), Net("Relu(f32[4,3,64,96]) -> Result")
    with pytest.raises(irshape.InputError, match=r"axis 0 of 'parameter_0' is 4 in the other export, but it stays 2"):
        asked(net, "[2,3,H,W]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))


def test_a_second_export_decides_the_axes_that_it_has_otherwise() -> None:
    net, other = (Net(f"AdaptiveAvgPool-8(f32[1,2,{height},12], [2,4]) -> Result") for height in (8, 12))
    found = asked(net, "[1,2,H,W]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == ["S208 AdaptiveAvgPool 'adaptiveavgpool_2' gives the size 4 on axis 3, whatever W is"]
    assert found.diagnostics[0].hint == "give a second export with another W (--like other.xml), or keep the number: --choose first"


# Padded as TensorFlow does it: by 1 behind where the size is even, by 1 on each side where it is odd.
_TENSORFLOW = 'Convolution(f32[1,4,{0}], f32=0[4,4,3], strides="2", dilations="1", pads_begin="{1}", pads_end="1") -> Result'


def test_a_window_is_padded_as_both_exports_pad_it() -> None:
    even, larger, odd = (Net(_TENSORFLOW.format(size, size % 2)) for size in (12, 20, 15))
    alike = asked(even, "[1,4,S]", rewrite=True, like=irshape.read(larger.xml.encode(), weights=larger.bin))
    assert errors(alike) == [
        "S208 Convolution 'convolution_2' pads an axis of size S with 0 before and 1 behind, which may follow from the size; "
        "the other export does not tell, because it has the same number either way"
    ]
    assert alike.diagnostics[0].hint == (
        "say which sizes are meant (--set S=2*k), give a second export at a size where the ways differ, such as S=23 (--like other.xml), "
        "or keep the number: --choose first"
    )
    assert errors(asked(even, "[1,4,2*k]", rewrite=True)) == []
    for one, other in ((even, odd), (odd, even)):
        found = asked(one, "[1,4,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
        assert errors(found) == []
        assert [mend["now"] for mend in found.to_dict()["mends"]] == ["same_upper"]
        assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,4,(S + 1)//2]"


def _padded_twice(size: int) -> Net:
    window = 'Convolution(f32=0[4,4,3], strides="2", dilations="1", pads_begin="{}", pads_end="1")'
    first, second = (window.format(one % 2) for one in (size, (size + 1) // 2))
    return Net(f"f32[1,4,{size}] -> first: {first} -> second: {second} -> Result")


@pytest.mark.parametrize(
    ("size", "other", "asked_about"),
    [
        (12, 13, []),  # 6 and 7 elements are left for the second window
        (22, 15, []),  # 11 and 8
        (15, 22, []),
        (12, 26, ["first"]),  # both are even, and the second window has 6 and 13
        (22, 13, ["second"]),  # 11 and 7: the window has 1 on each side both times, as many nets pad at all sizes
        (13, 22, ["second"]),
        (22, 26, ["first", "second"]),
    ],
)
def test_a_window_may_be_padded_as_others_of_the_file_are(size: int, other: int, asked_about: list[str]) -> None:
    """The hints lead to exports that decide all windows, also those that the second export decided before."""
    for steps in range(4):
        like = _padded_twice(other)
        found = asked(_padded_twice(size), "[1,4,S]", rewrite=True, like=irshape.read(like.xml.encode(), weights=like.bin))
        assert steps or [one.message.split("'")[1] for one in found.errors] == asked_about
        if not found.errors:
            break
        hint = str(found.errors[-1].hint)
        [at] = map(int, re.findall(r"(?:at|as) S=(\d+)", hint))
        size, other = (other if "rewrite the other" in hint else size), at
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,4,(S + 3)//4]"


def test_patterns_that_say_the_same_in_other_words_are_the_same() -> None:
    one, other = Net("Reshape(f32[1,12,8], [0,12,2,4], special_zero=true) -> Result"), Net("Reshape(f32[1,20,8], [1,-1,2,4]) -> Result")
    found = asked(one, "[1,S,8]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert (errors(found), mends(found)) == ([], [("pattern", "[0,12,2,4]", "[0,0,2,4]")])


def test_a_number_beside_a_formula_is_that_of_the_second_export() -> None:
    """The end of the slice becomes S - 2; its begin is 2 in both exports, and so is no question."""
    one, other = (Net(f"Slice-8(f32[1,{size},6], [2,0], [{size - 2},6], [1,1], [1,2]) -> Result") for size in (12, 20))
    found = asked(one, "[1,S,6]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert (errors(found), mends(found)) == ([], [("ends", "[10,6]", "[S - 2,6]")])
    another = Net("Slice-8(f32[1,20,6], [3,0], [18,6], [1,1], [1,2]) -> Result")
    assert errors(asked(one, "[1,S,6]", rewrite=True, like=irshape.read(another.xml.encode(), weights=another.bin)))


def test_layers_that_keras_numbers_in_each_session_are_the_same() -> None:
    """Keras counts on in one session: the input, and each part of a name, have other numbers in the second export."""
    nets = ["functional_1/input_layer: f32[1,12,6] -> functional_1/head_1: Slice-8([0], [6], [1], [1]) -> Result",
            "functional_2_1/input_layer_1: f32[1,20,6] -> functional_2_1/head_2_1: Slice-8([0], [10], [1], [1]) -> Result"]  # fmt: skip
    one, other = (Net(text.replace("/", ".")) for text in nets)
    found = irshape.reshape(
        one.xml.encode(), {"functional_1.input_layer": "[1,S,6]"}, weights=one.bin, rewrite=True,
        like=irshape.read(other.xml.encode(), weights=other.bin),
    )  # fmt: skip
    assert [one.message.partition("' ")[2] for one in found.errors] == ["may give [S//2] or [(S + 1)//2]"]


@pytest.mark.parametrize(("text", "told"), [
    ("<net/>", "the other export cannot be compared: only a whole IR"),
    (Net("f32[1,5] -> Result").xml, "has no input 'parameter_0' of rank 3; its inputs: parameter_0[1,5]"),
])  # fmt: skip
def test_a_second_export_that_cannot_be_compared_is_named(text: str, told: str) -> None:
    with pytest.raises(irshape.InputError, match=re.escape(told)):
        asked(Net("Relu(f32[1,12,6]) -> Result"), "[1,S,6]", rewrite=True, like=irshape.read(text.encode()))


def test_one_channel_is_no_chunk() -> None:
    """A PixelShuffle writes -1 for the channels; of f32[1,S], the same pattern may cut chunks."""
    shuffled = Net("Reshape(f32[1,1,4,3,6,3], [1,-1,12,18]) -> Result")
    assert errors(asked(shuffled, "[1,1,H,3,W,3]", rewrite=True)) == []
    assert errors(asked(Net("Reshape(f32[1,12], [1,-1,12]) -> Result"), "[1,S]", rewrite=True))[0].startswith("S208 Reshape")


def test_a_second_export_of_another_batch_is_told_where_no_formula_fits() -> None:
    one, other = (Net(f"Add(f32[{batch},{size},5], f32={shift}) -> Result") for batch, size, shift in ((1, 12, "2.25"), (2, 20, "3.5")))
    found = asked(one, "[N,S,5]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert (
        found.diagnostics[0].hint
        == "irshape finds no formula that fits both exports: if it is the same model, give one with a batch of 1, as in this file"
    )


# An image whose halved sides are folded into one, and taken apart again; in the file one of them is 1.
_FOLDED = """
    _x: Reshape(f32[1,4,{0},{1}], [1,4,{2},2,{3},2])
    Reshape(Transpose(_x, [0,1,3,5,2,4]), [1,4,4,{4}]) -> Softmax-8(axis=-1) -> Reshape([1,4,2,2,{2},{3}]) -> Result
"""


def test_a_factor_of_one_of_a_product_is_an_axis_again() -> None:
    one, other = Net(_FOLDED.format(2, 4, 1, 2, 2)), Net(_FOLDED.format(6, 10, 3, 5, 15))
    found = asked(one, "[1,4,H,W]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert (errors(found), mends(found)[-1][2]) == ([], "[1,4,2,2,H//2,W//2]")


_SHIFTED = "_x: f32[1,{0},{1}]\nAdd(_x, f32={2}) -> Result"


@pytest.mark.parametrize(("other", "told"), [
    (_SHIFTED.format(20, 5, "2.25"), []),
    (_SHIFTED.format(20, 5, "3.5"), ["S207 Add 'add_2' computes with numbers that differ in the other export"]),
])  # fmt: skip
def test_a_second_export_tells_of_a_constant_that_no_law_explains(other: str, told: list[str]) -> None:
    net, another = Net(_SHIFTED.format(12, 5, "2.25")), Net(other)
    found = asked(net, "[1,S,5]", rewrite=True, like=irshape.read(another.xml.encode(), weights=another.bin))
    assert [fault.partition(", so")[0] for fault in errors(found)] == told


@pytest.mark.parametrize(("scale", "told"), [
    ("[8.0, 6.0]", True), ("[7.0, 5.0]", True), ("[4.0, 3.0]", True), ("[3.5, 2.5]", True), ("[0.125, 0.166666666667]", True),
    ("[224.0, 224.0]", False), ("[0.229, 0.224]", False),
])  # fmt: skip
@pytest.mark.parametrize("shape", ["[H,W]", "[H,8]", "[6,W]"])
def test_a_scale_by_recorded_sizes_is_told(scale: str, told: bool, shape: str) -> None:
    """Places of the pixels that are not 0, from 0 to 1: the file does not say that other images have other widths, or other heights."""
    places = "f32[6,8] -> NonZero-3(output_type=i64) -> Transpose([1,0]) -> p: Convert(destination_type=f32)"
    found = errors(asked(Net(f"{places}\np, f32={scale} -> d: Divide -> Result"), shape, rewrite=True))
    numbers = scale.replace("0.166666666667", "0.166667").replace(".0", "")
    assert found == (
        [f"S208 Divide 'd' scales by the constant {numbers}, which may follow from recorded sizes of the inputs"] if told else []
    )


_MAXIMUM = """
    f32[1,3,6,8] -> Reshape([1,3,-1], special_zero=true) -> _top: TopK-11(1, axis=2, mode=max, sort=value, index_element_type=i64) f32 i64
    _top.1"""
_PLACE = f"{_MAXIMUM} -> {{}} -> Result"


@pytest.mark.parametrize(("text", "told"), [
    (_PLACE.format("Divide([8])"), "computes an index with the constant 8"),
    (_PLACE.format("FloorMod([8])"), "computes an index with the constant 8"),
    (_PLACE.format("Multiply([-48])"), "computes an index with the constant 48"),
    (_PLACE.format("Convert(destination_type=f32) -> Divide(f32=7.0)"), "computes an index with the constant 7"),
    (_PLACE.format("Minimum([9])"), ""),
    (_PLACE.format("Divide([3])"), ""),
    (_PLACE.format("Add(Multiply(Range-4(0, 3, 1, output_type=i64), [8]))"), "computes an index with the constant 8"),
    (_PLACE.format("Equal([47])"), "computes an index with the constant 47"),
    (_PLACE.format("Clamp(min=0.0, max=47.0)"), "lets no number above 47 pass"),
    ("f32[1,3,6,8] -> Clamp(min=0.0, max=6.0) -> Result", ""),
    ("f32[1,3,6,8] -> Roll-7([3], [2]) -> Result", "moves an axis of size H by 3, half of the recorded 6"),
    ("f32[1,3,6,8] -> Roll-7([-1], [3]) -> Result", ""),
    ("f32[1,3,6,8] -> Roll-7([2], [3]) -> Result", "moves an axis of size W by 2, a quarter of the recorded 8"),
    ("f32[1,3,6,8] -> Roll-7([2,2], [2,3]) -> Result", ""),
    ("f32[1,3,6,8] -> Roll-7([-1,-2], [2,3]) -> Result", "moves an axis of size W by -2, a quarter of the recorded 8"),
    ("f32[1,3,6,8] -> Roll-7([7], [3]) -> Result", "moves an axis of size W by 7, one less than the recorded 8"),
    ("f32[1,3,6,8] -> Slice-8([-4], [9223372036854775807], [1], [3]) -> Result", "begins at index -4 of an axis of size W"),
    ("f32[1,3,6,8] -> Slice-8([-5], [9223372036854775807], [1], [3]) -> Result", ""),
    ("f32[1,3,6,8] -> Slice-8([0], [9223372036854775807], [3], [2]) -> Result", "takes elements in steps of 3 along an axis of size H"),
    ("f32[1,3,6,8] -> Slice-8([0], [9223372036854775807], [2], [3]) -> Result", ""),
    ("f32[1,3,6,8] -> Slice-8([-1], [-9223372036854775808], [-1], [3]) -> Result", ""),
    ("f32[1,3,6,8] -> Slice-8([-1], [-7], [-1], [3]) -> Result", "ends 7 elements before the end of an axis of size W"),
    ("f32[1,3,6,8] -> ReduceMean([2,3], keep_dims=false) -> Multiply(f32=48.0) -> Result", "computes with the number 48"),
    ("f32[1,3,6,8] -> ReduceMean([2,3], keep_dims=false) -> Multiply(f32=47.0) -> Result", ""),
    ("f32[1,3,6,8] -> Slice-8([0], [-2], [1], [3]) -> Result", "ends 2 elements before the end of an axis of size W"),
    ("f32[1,3,6,8] -> Slice-8([0], [-5], [1], [3]) -> Result", ""),
])  # fmt: skip
def test_a_number_that_may_follow_from_a_recorded_size_is_told(text: str, told: str) -> None:
    """The row and the column of the greatest pixel, the last index, the middle of an image, and an end; a flip has none."""
    found = errors(asked(Net(text), "[1,3,H,W]", rewrite=True))
    assert [one.partition("' ")[2].partition(", which")[0] for one in found] == ([told] if told else [])


@pytest.mark.parametrize(("scale", "told"), [("7.0", True), ("0.285714285714", True), ("9.0", False)])
def test_a_scale_of_places_in_an_image_is_told(scale: str, told: bool) -> None:
    """As align_corners scales them, by the width less 1."""
    net = Net(f"""
        _grid: f32[1,5,5,2]
        x: f32[1,3,6,8]
        _grid, f32={scale} -> d: Divide -> _d: Relu
        GridSample-9(x, Subtract(_d, f32=1.0), align_corners=true, mode=bilinear, padding_mode=zeros) -> Result
        """)
    found = errors(irshape.reshape(net.xml.encode(), {"x": "[1,3,H,W]"}, weights=net.bin, rewrite=True))
    what = "which may follow from recorded sizes of the image that GridSample 'gridsample_7' samples"
    assert found == ([f"S208 Divide 'd' scales places by the constant [{float(scale):g}], {what}"] if told else [])


_SUMMED = "Divide(f32=6.0) -> Result"


@pytest.mark.parametrize(("text", "shape", "told"), [
    (f"ReduceSum(f32[1,2,6], [2], keep_dims=true) -> {_SUMMED}", "[1,2,S]", "divides a sum over 6 elements by the constant 6"),
    ("ReduceSum(f32[1,2,6], [2], keep_dims=true) -> Multiply(f32=0.16666667) -> Result", "[1,2,S]", "multiplies a sum over 6 elements"),
    (f"_x: f32[1,2,6]\nMatMul(_x, _x, transpose_a=false, transpose_b=true) -> {_SUMMED}", "[1,2,S]", "divides a sum over 6 elements"),
    ("_x: f32[1,2,6]\nMatMul(_x, _x, transpose_a=false, transpose_b=true) -> Divide(f32=12.0) -> Result", "[1,2,S]", "constant 12"),
    (f'_x: f32[1,2,6]\nEinsum-7(_x, _x, equation="abc,adc->abd") -> {_SUMMED}', "[1,2,S]", "divides a sum over 6 elements"),
    ("_x: f32[6]\nScatterElementsUpdate-3(f32=0[6], Convert(_x, destination_type=i64), _x, 0) -> Result", "[S]",
     "updates 6 rows of axis 0, as many as an open size recorded"),
    ("GridSample-9(f32[1,1,4,5], f32=0[1,4,5,2], mode=bilinear, padding_mode=zeros) -> Result", "[1,1,H,5]",
     "gives the size 4 on axis 2, whatever H is"),
    ("_x: f32[6,8]\nAdd(ReduceSum(_x, [0], keep_dims=true), Tile(f32=1.5[1,8], [6,1])) -> Result", "[S,8]", "an axis 6 times, as many"),
    ("_x: f32[1,1,4,5]\n_theta: ReduceMean(_x, [1,2,3], keep_dims=true)\n"
     "GridSample-9(_x, Multiply(_theta, f32=0.5[1,4,5,2]), mode=bilinear, padding_mode=zeros) -> Result", "[1,1,H,5]",
     "gives the size 4 on axis 2, whatever H is"),
    ("_x: f32[1,6]\n_s: Gather-8(ShapeOf-3(_x, output_type=i64), [1], 0)\nGather-8(_x, Subtract(_s, [1,2,3]), 1) -> Result", "[1,S]",
     "takes 3 elements of S"),
    ("_x: f32[1,6]\nAdd(_x, Multiply(Range-4(3, 9, 1, output_type=f32), Range-4(0, 6, 1, output_type=f32))) -> Result", "[1,S]",
     "Range 'range_4' counts from 3 on, which may follow from a recorded size"),
    ("_x: f32[2,6]\nScatterElementsUpdate-3(f32=0[2,6], Convert(_x, destination_type=i64), _x, 1) -> Result", "[N,S]",
     "updates 6 rows of axis 1, as many as an open size recorded"),
    ("Add(ReduceMean(f32[2,6], [0,1], keep_dims=false), f32=[0.0,0.2,0.4,0.6,0.8,1.0]) -> Result", "[2,S]",
     "gives the size 6 on axis 0, as many elements as an open size had"),
    ("GatherND-8(f32[6,2], [[0],[1],[2]], batch_dims=0) -> Result", "[S,2]", "reads constant indices up to 2 from an axis of size S"),
    ('GatherND-8(f32[6,2], [[0],[1],[2]], batch_dims="0,9223372036854775808") -> Result', "[S,2]", "reads constant indices up to 2"),
    ("ScatterNDUpdate-4(f32[6], [[0],[1],[2]], f32=1.0[3]) -> Result", "[S]", "reads constant indices up to 2 from an axis of size S"),
    ("ScatterUpdate-3(f32[6], [0,1,2], f32=1.0[3], 0) -> Result", "[S]", "reads constant indices up to 2 from an axis of size S"),
], ids=[
    "mean", "by a factor", "mean of products", "mean of products and channels", "mean of an equation", "rows that are summed up", "grid",
    "repeated constant", "moved grid", "computed indices", "a range behind others", "rows of samples", "an outer sum",
    "tuples of indices", "a number that others follow",
    "tuples of places", "places",
])  # fmt: skip
def test_a_number_that_no_layer_need_notice_is_told(text: str, shape: str, told: str) -> None:
    [error] = errors(asked(Net(text), shape, rewrite=True))
    assert error.startswith("S208") and told in error


def test_rows_that_grow_with_the_batch_are_not_told() -> None:
    """The six columns are as many as the tokens of one sample, but the rows are those of the batch."""
    net = Net("""
        _x: f32[1,6]
        Reshape(_x, [-1], special_zero=false) -> Result
        _zeros: Broadcast-3(f32=0.0, Concat(Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0), [6], axis=0), mode=numpy)
        ScatterElementsUpdate-3(_zeros, Convert(_x, destination_type=i64), _x, 1) -> Result
    """)
    assert errors(asked(net, "[N,6]", rewrite=True)) == []


def test_samples_that_may_mix_are_told_rather_than_a_reading_that_fits_nowhere() -> None:
    """The indices are `[4*N,1]`, or `[4,N]` behind a Transpose, which the ScatterNDUpdate cannot take."""
    net = Net("""
        _x: f32[2,1,4]
        _sizes: ShapeOf-3(_x, output_type=i64)
        _places: Range-4(0, ReduceProd(_sizes, [0], keep_dims=false), 1, output_type=i64)
        Reshape(_places, _sizes, special_zero=false) -> Slice-8([2], [4], [1], [2]) -> _least: Minimum([99])
        _taken: Reshape(_least, [-1,1], special_zero=false)
        Slice-8(Abs(_x), [2], [4], [1], [2]) -> _updates: Reshape([-1], special_zero=false)
        ScatterNDUpdate-4(Reshape(_x, [-1], special_zero=false), _taken, _updates) -> Result
    """)
    [error] = errors(asked(net, "[2,N,4]", rewrite=True))
    assert error.startswith("P111 irshape cannot prove that ScatterNDUpdate")


# A causal mask beside a constant that the exporter may have folded from a shape.
CONSTANT = Net(f"{MASK}\n[1,6,6] -> Result")
TABLE = "were learned or computed for this size"
# A constant that is expanded with the batch, and of whose shape another layer takes one size, as attention takes that of its heads.
HEADS = """
    _x: f32[2,6]
    _same: f32=[[2.0,3.0,4.0,5.0,6.0,7.0],[2.0,3.0,4.0,5.0,6.0,7.0]]
    _size: Convert(Gather-8(ShapeOf-3(_same, output_type=i64), [{}], 0, batch_dims=0), destination_type=f32)
    Concat(_x, _same, axis=1) -> Multiply(_size) -> Result
"""


@pytest.mark.parametrize(("axis", "told"), [(-1, []), (1, []), (0, ["reads it as it was"])])
def test_a_size_that_stays_is_read_of_a_constant_that_is_made_again(axis: int, told: list[str]) -> None:
    found = errors(asked(Net(HEADS.format(axis)), "[N,6]", rewrite=True))
    assert len(found) == len(told) and all(one in found[0] for one in told)


# Learned queries that an export for two samples has expanded: layers that keep samples apart are made again for others.
QUERIES = {
    "normalized": "Concat(_x, MVN-6(_q, [2], normalize_variance=true, eps=0.1, eps_mode=inside_sqrt), axis=1) -> Result",
    "a softmax": "Concat(_x, Softmax-8(_q, axis=2), axis=1) -> Result",
    "attention": "Concat(_x, ScaledDotProductAttention-13(_q, _q, _q, causal=false), axis=1) -> Result",
    "rows of all samples": """
        Concat(Reshape(_x, [6,12], special_zero=false), Reshape(Exp(_q), [6,12], special_zero=false), axis=1) -> Result
    """,
    "heads and samples": """
        Concat(Reshape(Transpose(_x, [1,0,2]), [3,6,4], special_zero=false),
            Reshape(Transpose(Exp(_q), [1,0,2]), [3,6,4], special_zero=false), axis=2) -> Result
    """,
    "along the samples": "Concat(_x, Softmax-8(_q, axis=0), axis=1) -> Result",
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries_are_made_for_other_samples(name: str) -> None:
    net = Net(f"_x: f32[2,3,12]\n_q: f32=0.5[2,3,12]\n{QUERIES[name]}")
    found = asked(net, "[N,3,12]", rewrite=True)
    if name == "along the samples":
        assert "no rule for the elements of Softmax" in errors(found)[0]
    else:
        assert errors(found) == []


# Windows of 3 by 3 over the places of an image of 8 by 10 in one axis, as torch.export leaves `unfold`; of 2 by 2 that do not overlap.
UNFOLDED = """
    f32[1,2,{0},{1}] -> Reshape([0,0,-1], special_zero=true) -> Gather-8(i64={2}, 2, batch_dims=0) -> Result
"""


def unfolded(side: int, step: int, height: int, width: int) -> Net:
    rows, columns = ([[at + first for first in range(0, size - side + 1, step)] for at in range(side)] for size in (height, width))
    places = [[[[row * width + column for column in own] for own in columns] for row in line] for line in rows]
    return Net(UNFOLDED.format(height, width, places))


@pytest.mark.parametrize(("net", "shape"), [
    (unfolded(3, 1, 8, 10), "[1,2,3,max(H - 2, 0),3,max(W - 2, 0)]"),
    (unfolded(3, 2, 9, 11), "[1,2,3,max((H + 1)//2 - 1, 0),3,max((W + 1)//2 - 1, 0)]"),
    (unfolded(2, 2, 8, 10), "[1,2,2,H//2,2,W//2]"),
])  # fmt: skip
def test_windows_over_the_places_of_an_image(net: Net, shape: str) -> None:
    """The place of a row depends on the width, so that windows move over both axes."""
    found = asked(net, "[1,2,H,W]", rewrite=True)
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == shape


# Places are divided by the last one, the size less one. A grid of 2 rows and 2 columns may count down the columns first. No rule makes a
# Softmax again.
SHARED = Net("""
    _x: f32[1,6]
    _places: f32=[[0.0,1.0,2.0,3.0,4.0,5.0]]
    Add(_x, Divide(_places, ReduceMax(_places, [1], keep_dims=true))) -> Result
""")
TURNED = Net("""
    _x: f32[1,2,2,3]
    _table: Multiply(f32=[[[0.0],[0.0],[1.0],[1.0]]], f32=[[[1.0,2.0,5.0]]])
    Add(Reshape(_x, [1,4,3], special_zero=false), _table) -> Result
""")
UNKNOWN = Net("_x: f32[1,6]\nAdd(_x, Softmax-8(Sin(f32=[[0.0,1.0,2.0,3.0,4.0,5.0]]), axis=1)) -> Result")
# A Split of two samples that removes the axis of each.
GONE = Net("_parts: Split(f32[2,9], 0, num_splits=2) f32 f32\nAdd(Squeeze(_parts.0, [0]), Squeeze(_parts.1, [0])) -> Result")


@pytest.mark.parametrize(("net", "shape", "told"), [
    (CONSTANT, "[N,6,6]", "S208 Result 'result_5' gives the same constant for all sizes"),
    (Net("f32[2,6] -> Result\nTile(Abs([[0,1,2]]), [2,1]) -> Result"), "[N,6]", "Result 'result_6' gives the same constant for all sizes"),
    (CONSTANT, "[1,S,S]", "S208 Result 'result_5' gives the same constant for all sizes"),
    (counted(5, -1), "[1,S]", "may depend on the size"),
    (counted(0, 0.25), "[1,S]", "they count in steps of 0.25, which may depend on the size"),
    (counted(-7, 1), "[1,S]", "they count from -7 on, which may depend on the size"),
    (rotary([1, 0.1, 0.01, 0.002]), "[1,S,8]", TABLE),
    (rotary([1, 0.3, 0.1, 0.01]), "[1,S,8]", TABLE),
    (rotary([2, 1, 0.5, 0.25]), "[1,S,8]", TABLE),
    (FIRST, "[1,S]", TABLE),
    (Net(f"Add(f32[1,12], f32={1 / 12}[1,12]) -> Result"), "[1,S]", "goes on with the value 0.0833333, which may follow"),
    (Net(f"Add(f32[1,12], f32={-np.log(24)}[1,12]) -> Result"), "[1,S]", "goes on with the value -3.17805, which may follow"),
    (Net(f"Add(f32[1,1,7], {TRIANGLE}) -> Result"), "[1,1,S]", "of which 7 elements stay along one axis, as many as an open size"),
    (Net(f"Concat(f32[1,7,7], f32={np.eye(7)[None].tolist()}, axis=2) -> Result"), "[1,S,7]", "of which 7 elements stay"),
    (windowed(5, "f32[7,7,1]"), "[S,S,1]", "more than one rule gives so few elements"),
    (windowed(3, "f32[7,7,3]"), "[S,S,T]", "the diagonal at which they change may depend on the size"),
    (SHARED, "[1,S]", "is made again for the new sizes, but ReduceMax 'reducemax_3' reads it as it was"),
    (TURNED, "[1,H,W,3]", "[1,4,1], and a grid of 2 by 2 does not tell which size comes first"),
    (flat(2, 2), "[1,H,W,1]", "no rule for the elements of Reshape at another size; Const 'const_1' may hold"),
    (UNKNOWN, "[1,S]", "no rule for the elements of Softmax at another size; Const 'const_1' may hold"),
    (PLACED, "[B,6]", "reads Const 'const_3', whose axis 0 has the size 24 for all sizes, at indices that count the rows"),
    (GONE, "[B,9]", "removed only if its size is 1; Split 'split_2' gives B//2, which was 1"),
])  # fmt: skip
def test_what_may_depend_on_the_size_is_refused(net: Net, shape: str, told: str) -> None:
    [error] = errors(asked(net, shape, rewrite=True))
    assert told in error


def test_sizes_that_are_large_enough_are_a_hint() -> None:
    """Four of the six columns are weighted."""
    net = Net('Einsum-7(Slice-8(f32[1,6], [0], [4], [1], [1]), f32=[[3.0,1.0,4.0,1.0]], equation="ab,cb->ac") -> Result')
    [error] = asked(net, "[1,S]", rewrite=True).diagnostics
    assert error.hint == "ask for sizes from 6 on: --set S=6.."
    assert [one.code for one in asked(net, "[1,S]", symbols={"S": "4.."}, rewrite=True).diagnostics] == ["S208"]  # the end of the Slice


# What is written.


@pytest.mark.oracle
@pytest.mark.parametrize(("net", "shape"), [
    (TOKENS, "[N,H,W,8]"), (MASKED, "[N,S,S]"), (RECURRENT, "[N,S,6]"), (SLICED, "[N,S,4]"), (POOLED, "[1,3,H,W]"), (SPECTRUM, "[N,S]"),
    (NORMALIZED, "[B,2,4]"), (windowed(3, "f32[7,7,1]"), "[S,S,1]"), (BANDED, "[1,S,S]"),
])  # fmt: skip
def test_the_rewritten_model_gives_the_same_at_the_recorded_sizes(net: Net, shape: str, tmp_path: Any) -> None:
    before = core().read_model(net.xml.encode(), net.bin)
    found = asked(net, shape, rewrite=True)
    found.write(tmp_path / "out.xml")
    data = np.random.default_rng(0).standard_normal(list(before.inputs[0].shape)).astype("f4")
    one, other = (core().compile_model(model, "CPU")([data])[0] for model in (before, tmp_path / "out.xml"))
    assert np.array_equal(one, other)
    assert irshape.check(tmp_path / "out.xml").ok


def test_a_wish_in_numbers_leaves_no_shape_computation() -> None:
    found = asked(MASKED, "[1,9,9]", rewrite=True)
    assert errors(found) == []
    assert {node.type for node in found.model.nodes} == {"Parameter", "Const", "Add", "Result"}


def test_nothing_is_written_in_place_of_the_weights() -> None:
    with pytest.raises(ValueError, match="a rewritten model needs a copy of the weights"):
        asked(TOKENS, "[1,28,28,8]", rewrite=True).write("out.xml", weights="none")


def test_a_body_is_refused_in_plain_words() -> None:
    path = next(iter(IRS.glob("torch_nets/script_if_size.xml")))
    model = irshape.read(path)
    shape = ",".join(["N", *("?" for _ in irshape.infer(path).layer(str(model.parameters[0].id)).outputs[0].shape or ())][:-1] or ["N"])
    found = irshape.reshape(path, {model.parameters[0].name: f"[{shape}]"}, rewrite=True)
    assert all("Traceback" not in one for one in errors(found))


@pytest.mark.oracle
def test_a_size_that_a_slice_has_made_is_computed(tmp_path: Path) -> None:
    """OpenVINO takes a ShapeOf of the slice for one of its input, as both have sizes from 1 on, and refuses 6 elements for 2*6."""
    import openvino

    net = Net("""
        _half: Slice-8(Relu(f32[1,1,4,6]), [0], [4], [2], [2])
        Relu(_half) -> Reshape([1,12], special_zero=false) -> Softmax-8(axis=1) -> Reshape([1,1,2,6], special_zero=false) -> Result
    """)
    found = asked(net, "[1,1,H,W]", rewrite=True)
    found.write(tmp_path / "new.xml")
    model = openvino.compile_model(tmp_path / "new.xml", "CPU")
    assert [model([np.zeros(shape, np.float32)])[0].shape for shape in [(1, 1, 4, 6), (1, 1, 7, 3)]] == [(1, 1, 2, 6), (1, 1, 4, 3)]


def test_a_table_that_is_made_again_leaves_no_number() -> None:
    """A column of numbers for each row is repeated 3 times: where the layer behind reads it, the width decides how often."""
    net = Net("""
        MaxPool-1(f32[1,2,4,6], kernel="2,2", strides="2,2", pads_begin="0,0", pads_end="0,0", rounding_type=floor) -> _image: Relu
        ShapeOf-3(_image, output_type=i64) -> Gather-8(2, 0) -> Range-4(0, _, 1, output_type=f32) -> Unsqueeze([1]) -> _table: Tile([1,3])
        Add(_image, _table) -> Reshape([2,6], special_zero=false) -> Softmax-8(axis=1) -> Reshape([1,2,2,3], special_zero=false) -> Result
    """)
    found = asked(net, "[1,2,H,W]", rewrite=True)
    assert errors(found) == []
    assert "Tile" not in [node.type for node in found.model.nodes]


@pytest.mark.oracle
@pytest.mark.parametrize(("given", "grown"), [("[8,8]", (1, 3, 12, 6)), ("[9,8]", (1, 3, 13, 6))])
def test_the_output_shape_of_a_transposed_convolution_grows_by_its_strides(given: str, grown: tuple[int, ...], tmp_path: Path) -> None:
    import openvino

    attributes = 'strides="2,2", dilations="1,1", pads_begin="0,0", pads_end="0,0", auto_pad=explicit, output_padding="0,0"'
    net = Net(f"ConvolutionBackpropData-1(f32[1,2,4,4], f32=1[2,3,2,2], {given}, {attributes}) -> Result")
    found = asked(net, "[1,2,H,W]", rewrite=True)
    assert errors(found) == []
    found.write(tmp_path / "new.xml")
    model = openvino.compile_model(tmp_path / "new.xml", "CPU")
    assert model([np.zeros((1, 2, 6, 3), np.float32)])[0].shape == grown


def test_a_shift_of_relative_positions_has_linear_sizes() -> None:
    """As VITS turns relative positions into absolute ones: `2*S*S` elements and `S - 1` more are rows of `2*S - 1`."""
    one, other = (
        Net(f"""
            _x: f32[1,{size},1]
            _y: MatMul(_x, Transpose(_x, [0,2,1]))
            Reshape(Concat(_y, _y, axis=2), [1,{2 * size * size}], special_zero=false)
                -> Pad-12([0,0], [0,{size - 1}], f32=0.0, pad_mode=constant) -> Reshape([1,{size + 1},{2 * size - 1}], special_zero=false)
                -> Result
        """)
        for size in (6, 10)
    )
    found = asked(one, "[1,S,1]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,S + 1,2*S - 1]"


def test_a_slice_of_other_axes_is_compared_by_its_shape() -> None:
    """Where nothing is padded, torch.export leaves one axis out of the slice that takes the padding off."""
    one = Net(
        "_x: f32[1,18,14] -> Pad-12([0,0,0], [0,2,2], f32=0.0, pad_mode=constant) -> s: Slice-8([0,0], [18,14], [1,1], [1,2]) -> Result"
    )
    other = Net("_x: f32[1,16,14] -> Pad-12([0,0,0], [0,0,2], f32=0.0, pad_mode=constant) -> s: Slice-8([0], [14], [1], [2]) -> Result")
    found = asked(one, "[1,S,14]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,S,14]"


@pytest.mark.parametrize(("size", "told"), [(25, "the other export does not tell"), (24, "")])
def test_pads_that_may_fill_an_axis_in_both_exports_are_asked_about(size: int, told: str) -> None:
    """One element behind 13 and behind 25 gives even sizes; behind 24 it is one more."""
    one, other = (Net(f"f32[1,{one},4] -> Pad-12([0,0,0], [0,1,0], f32=0.0, pad_mode=constant) -> Result") for one in (13, size))
    found = errors(asked(one, "[1,S,4]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin)))
    assert [told in fault for fault in found] == ([True] if told else [])


def test_a_second_export_that_lacks_a_pad_is_told() -> None:
    one = Net("_x: f32[1,18,14] -> Pad-12([0,0,0], [0,2,0], f32=0.0, pad_mode=constant) -> r: Relu -> Result")
    other = Net("_x: f32[1,16,14] -> r: Relu -> Result")
    found = asked(one, "[1,S,14]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    [error] = [fault for fault in found.diagnostics if fault.severity == "error"]
    assert (error.hint or "").startswith("the other export has no Pad 'pad")


def test_a_model_that_fails_at_the_sizes_of_the_second_export_is_refused() -> None:
    one, other = (
        Net("f32[1,14] -> Reshape([1,2,7], special_zero=false) -> Result"),
        Net("Slice-8(f32[1,16], [0], [14], [1], [1]) -> Reshape([1,2,7], special_zero=false) -> Result"),
    )
    like = irshape.read(other.xml.encode(), weights=other.bin)
    [error] = [one for one in asked(one, "[1,S]", rewrite=True, like=like, choose="first").diagnostics if one.severity == "error"]
    assert "fails at S=16, the sizes of the other export: " in error.message
    assert error.hint == "rewrite the other export instead, and give this one with --like"


def test_layers_of_one_name_that_read_each_other_the_other_way_round_are_no_partners() -> None:
    """Exporters count `view` and `_unsafe_view` apart, and which one they take may depend on a size of 1."""
    one = Net("f32[1,4,6] -> turn: Transpose([0,2,1]) -> view: Reshape([1,12,2], special_zero=false) -> Result")
    other = Net("""
        f32[1,4,8] -> view: Reshape([1,8,4], special_zero=false) -> turn: Transpose([0,2,1]) -> last: Reshape([1,16,2], special_zero=false)
            -> Result
    """)
    found = asked(one, "[1,4,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,2*S,2]"


def test_an_axis_beside_one_of_unknown_size_is_refused() -> None:
    net = Net("""
        _x: f32[1,1,6]
        Multiply(_x, Transpose(Unsqueeze(f32[6,?], [0]), [0,2,1])) -> Result
    """)
    [error] = errors(asked(net, "[1,1,S]", rewrite=True))
    assert error.startswith("S207 Multiply")


# Of 48 and of 51 elements, a window of 4 leaves 12: numbers that follow from these are the same in both exports.
WINDOWED = 'MaxPool-1(f32[1,2,{}], kernel="4", strides="4", pads_begin="0", pads_end="0", rounding_type=floor)'
OF_TWELVE = {
    "a sum over all": "ReduceSum({}, [2], keep_dims=false) -> Divide(f32=12.0) -> Result",
    "a root": f"Divide({{}}, f32={np.sqrt(np.float32(12))}) -> Result",
    "the last index": "Gather-8({}, 11, 2) -> Result",
    "a part": "Slice-8({}, [5], [7], [1], [2]) -> Result",
    "evenly spaced": f"Multiply({{}}, f32={np.linspace(-1, 1, 12, dtype=np.float32).tolist()}) -> Result",
    "a whole window": 'AvgPool({}, kernel="12", strides="1", pads_begin="0", pads_end="0", exclude-pad="0", rounding_type=floor) -> Result',
}


@pytest.mark.parametrize("name", OF_TWELVE)
def test_a_second_export_with_the_same_part_of_a_size_decides_nothing(name: str) -> None:
    one, other = (Net(OF_TWELVE[name].format(WINDOWED.format(size))) for size in (48, 51))
    found = asked(one, "[1,2,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin)).diagnostics
    told = [f"{fault.message} {fault.hint}" for fault in found if fault.severity == "error"]
    assert told and all(re.search(r"S//4 is (12|the same) in both|S//8 \+ 1 is 7 in both", one) for one in told)


def test_a_table_as_long_as_another_input_has_its_size() -> None:
    """12 of 48 and 16 of 64 may also be rounded up; the other input of the layer is rounded down."""
    one, other = (Net(f"Multiply({WINDOWED.format(4 * count)}, f32={[float(at) for at in range(count)]}) -> Result") for count in (12, 16))
    found = asked(one, "[1,2,S]", rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))
    assert errors(found) == []
    assert found.layer(str(found.model.results[0].id)).inputs[0].formula == "[1,2,S//4]"
