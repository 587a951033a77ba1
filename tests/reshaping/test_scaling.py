"""Numbers of which a second export shows that they are made of sizes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irshape
from tests.reshaping.test_granted import asked, errors
from tests.support.ir import Net
from tests.support.oracle import core

# Nets for 12 and for 20 tokens, of which a layer reads the number or numbers in braces, and for 6 and 4, and 9 and 8, pixels.
_TOKENS = "f32[1,{}] -> {}(f32={}) -> Result"
_PIXELS = "f32[1,3,{},{}] -> ReduceSum([1,2,3], keep_dims=false) -> Multiply(f32={}) -> Result"


def _beside(one: Net, other: Net, shape: str) -> irshape.Inference:
    """A net rewritten for a shape of its input, with another net as the second export."""
    return asked(one, shape, rewrite=True, like=irshape.read(other.xml.encode(), weights=other.bin))


def _told(one: str, other: str, shape: str) -> tuple[list[str], list[str]]:
    found = _beside(Net(one), Net(other), shape)
    return errors(found), [] if errors(found) else [mend["now"] for mend in found.to_dict().get("mends", ())]


@pytest.mark.parametrize(("type_", "here", "there", "now"), [
    ("Multiply", 12.0, 20.0, "[S]"),
    ("Add", -12.0, -20.0, "[-1*S]"),
    ("Subtract", 18.0, 30.0, "[1.5*S]"),
    ("Multiply", 11.0, 19.0, "[S - 1]"),
    ("Divide", 3.4641016, 4.4721360, "[sqrt(S)]"),
    ("Multiply", 0.28867513, 0.22360680, "[1/sqrt(S)]"),
    ("Multiply", 2.4849066, 2.9957323, "[log(S)]"),
    ("Divide", 2.5649493, 3.0445225, "[log(S + 1)]"),
    ("Multiply", 1.0909091, 1.0526316, "[S/(S - 1)]"),
    ("Power", 0.083333333, 0.05, "[1/S]"),
    ("Multiply", 132.0, 380.0, "[S*(S - 1)]"),
    ("Multiply", 0.31061333, 0.37446659, "[0.125*log(S)]"),
    ("Multiply", 2.5, 2.5, None),
    ("Multiply", 2.5, 3.5, ""),
])  # fmt: skip
def test_a_number_that_two_exports_have_otherwise_is_computed(type_: str, here: float, there: float, now: str | None) -> None:
    faults, found = _told(_TOKENS.format(12, type_, here), _TOKENS.format(20, type_, there), "[1,S]")
    assert found == ([now] if now else [])
    assert [fault.partition(" ")[0] for fault in faults] == (["S207"] if now == "" else [])


@pytest.mark.parametrize(("here", "there", "now"), [
    (1 / 24, 1 / 72, "[1/(H*W)]"),
    (1 / 72, 1 / 216, "[1/(3*H*W)]"),
    (72 / 71, 216 / 215, "[(3*H*W)/((3*H*W) - 1)]"),
])  # fmt: skip
def test_a_number_may_be_made_of_several_sizes(here: float, there: float, now: str) -> None:
    assert _told(_PIXELS.format(6, 4, here), _PIXELS.format(9, 8, there), "[1,3,H,W]") == ([], [now])


def test_numbers_are_made_one_by_one() -> None:
    text = "f32[1,3,{},{}] -> ReduceSum([0,1,2,3], keep_dims=false) -> Multiply(f32=[{}]) -> Result"
    now = _told(text.format(6, 4, "4.0, 6.0, 5.0"), text.format(9, 8, "8.0, 9.0, 5.0"), "[1,3,H,W]")
    assert now == ([], ["[W,H,5]"])


def test_half_of_two_even_sizes_is_asked_about() -> None:
    text = "f32[1,{}] -> Subtract(f32={}) -> Result"
    [fault] = _beside(Net(text.format(12, 6.0)), Net(text.format(20, 10.0)), "[1,S]").errors
    assert fault.code == "S208" and fault.message.endswith("may give 0.5*S, S//2 or (S + 1)//2")
    assert "(--set S=2*k)" in str(fault.hint) and "such as S=17" in str(fault.hint)  # at even sizes, the three are equal
    assert _told(text.format(12, 6.0), text.format(21, 10.5), "[1,S]") == ([], ["[0.5*S]"])
    assert _told(text.format(12, 6.0), text.format(21, 10.0), "[1,S]") == ([], ["[S//2]"])


def test_a_number_that_two_sizes_explain_is_asked_about() -> None:
    text = "f32[1,{0},{0}] -> ReduceSum([1,2], keep_dims=true) -> Multiply(f32={0}.0) -> Result"
    [fault], _ = _told(text.format(6), text.format(9), "[1,H,W]")
    assert fault.startswith("S208") and fault.endswith("may give H or W")


def test_weights_that_two_exports_have_otherwise_are_told() -> None:
    """A scale by a size may be merged into the weights of the layer before it."""
    convolution = 'Convolution-1(f32[1,2,{},4], f32={}[80,2,1,1], strides="1,1", dilations="1,1", pads_begin="0,0", pads_end="0,0")'
    text = f"{convolution} -> Result"
    faults, _ = _told(text.format(6, 0.5), text.format(9, 0.25), "[1,2,H,4]")
    assert [fault.partition(" ")[0] for fault in faults] == ["S207"]
    assert _told(text.format(6, 0.5), text.format(9, 0.5), "[1,2,H,4]") == ([], [])


@pytest.mark.oracle
def test_a_number_that_is_computed_is_that_of_the_other_export(tmp_path: Path) -> None:
    one, other = Net(_TOKENS.format(12, "Multiply", 1.0909091)), Net(_TOKENS.format(20, "Multiply", 1.0526316))
    _beside(one, other, "[1,S]").write(tmp_path / "new.xml")
    given = np.arange(20, dtype=np.float32).reshape(1, 20)
    result = core().compile_model(tmp_path / "new.xml", "CPU")([given])[0]
    assert np.allclose(result, given * (20 / 19))


def test_the_scale_of_an_attention_is_a_number_like_others() -> None:
    """24 channels, a multiple of the 12 tokens: nothing in one file says that the scale follows from the tokens."""
    text = "_x: f32[1,{},24]\nScaledDotProductAttention-13(_x, _x, _x, f32=0.0, f32={}, causal=false) -> Result"
    assert _told(text.format(12, 0.28867513), text.format(20, 0.22360680), "[1,S,24]") == ([], ["[1/sqrt(S)]"])


def test_sizes_that_a_layer_behind_makes_again_may_differ() -> None:
    """The mean of an image is spread over the image again."""
    text = """
        _x: f32[1,2,{0},4] -> _y: Relu
        ReduceMean(_y, [2,3], keep_dims=true) -> _up: Interpolate-11([{0},4], [2,3], mode=nearest, shape_calculation_mode=sizes)
        Concat(_y, _up, axis=1) -> Result
    """
    faults, found = _told(text.format(6), text.format(9), "[1,2,H,4]")
    assert (faults, found) == ([], ["[H]"])


def test_a_symbol_that_a_layer_makes_has_its_value_in_the_other_export() -> None:
    """A roll by half: its two slices have sizes that no formula gives, as a begin of -0 is the start."""
    text = """
        _x: f32[1,{0}] -> _a: Slice-8([{1}], [2147483647], [1], [1])
        _b: Slice-8(_x, [0], [{1}], [1], [1])
        Concat(_a, _b, axis=1) -> Slice-8([0], [{2}], [1], [1]) -> Result
    """
    faults, _ = _told(text.format(12, -6, 5), text.format(20, -10, 8), "[1,S]")
    assert [fault.partition(" 'slice_16' ")[0] for fault in faults] == ["S207 Slice"]


def _result(found: Any) -> str:
    """The shape of the only output, with formulas."""
    return str(found.layer(str(found.model.results[0].id)).inputs[0].formula)


def _run_equally(found: Any, other: Net, shape: tuple[int, ...], folder: Path) -> None:
    """The rewritten model computes the same as the second export, at the size of that."""
    found.write(folder / "new.xml")
    numbers = np.random.default_rng(1).random(shape, np.float32)
    models = core().read_model(folder / "new.xml"), core().read_model(other.xml.encode(), other.bin)
    one, another = (core().compile_model(model, "CPU")([numbers])[0] for model in models)
    assert np.allclose(one, another)


@pytest.mark.oracle
def test_quotients_of_negative_sizes_are_rounded_down_at_run_time(tmp_path: Path) -> None:
    """`-(-S//2)` of 13 rows is 7; OpenVINO's CPU plugin rounds toward zero where it computes the quotient, and gives 6."""
    text = """
        _x: f32[2,{},3]
        _end: Multiply(Divide(Multiply(Gather-8(ShapeOf(_x), [1], 0), [-1]), [2]), [-1])
        Slice-8(_x, [0], _end, [1], [1]) -> Result
    """
    found = asked(Net(text.format(13)), "[2,S,3]", rewrite=True)
    assert (errors(found), _result(found)) == ([], "[2,S - S//2,3]")
    _run_equally(found, Net(text.format(15)), (2, 15, 3), tmp_path)


# Nets for 12 and 20 tokens, with the integer that one of their layers reads in braces, or a constant of as many elements as tokens.
_GREATEST = "_x: f32[2,{0},3]\n_x -> _top: TopK-11(1, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64\n"
_INTEGERS = {
    "a depth": (_GREATEST + "Squeeze(_top.1, [1]) -> OneHot({1}, f32=1.0, f32=0.0, axis=-1) -> Result", (12, 12), (20, 20), "[S]"),
    "a depth of a fixed rank": (_GREATEST + "ReduceMax(_top.1, [1,2], keep_dims=false) -> OneHot({1}, f32=1.0, f32=0.0) -> Result",
                                   (12, 12), (20, 20), "[S]"),
    "the last index": (_GREATEST + "Equal(_top.1, [{1}]) -> Result", (12, 11), (20, 19), "[S - 1]"),
    "a bound of an index": (_GREATEST + "Minimum(Add(_top.1, [3]), [{1}]) -> Result", (12, 11), (20, 19), "[S - 1]"),
    "a divisor of a place": (_GREATEST + "Divide(Multiply(_top.1, [7]), [[[{1}]]]) -> Result", (12, 12), (20, 20), "[S]"),
    "rows": ("Gather-8(f32[2,{0},3], [0,{1}], 1) -> Result", (12, 11), (20, 19), "[0,S - 1]"),
    "a step": ("Slice-8(f32[2,{0},3], [0], [9223372036854775807], [{1}], [1]) -> Result", (12, 3), (30, 7), "[S//4]"),
    "sizes of a pool": ("AdaptiveAvgPool-8(f32[2,3,{0}], [{1}]) -> Result", (13, 4), (22, 6), "[(S + 3)//4]"),
    "two parts": ("AdaptiveAvgPool-8(f32[2,3,{0}], [{1}]) -> Result", (12, 3), (20, 5), None),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("name", _INTEGERS)
def test_an_integer_that_two_exports_have_otherwise_is_computed(name: str, tmp_path: Path) -> None:
    text, own, others, now = _INTEGERS[name]
    shape = "[2,3,S]" if "Pool" in text else "[2,S,3]"
    one, other = Net(text.format(*own)), Net(text.format(*others))
    found = _beside(one, other, shape)
    if now is None:
        assert [fault.partition("' may give ")[2] for fault in errors(found)] == ["[S//4] or [(S + 3)//4]"]
        assert "--set S=4*k" in str(found.diagnostics[0].hint)
        return
    assert errors(found) == []
    assert [mend["now"] for mend in found.to_dict()["mends"]] == [now]
    _run_equally(found, other, (2, 3, others[0]) if "Pool" in text else (2, others[0], 3), tmp_path)


_LENGTHS = {
    "an outer product": "Multiply(ReduceMean(f32[2,{0},3], [1,2], keep_dims=true), f32={1}) -> Result",
    "a matrix that counts": "_x: f32[2,{0},3]\nMatMul(f32=[{2},{2}], _x) -> Result",
    "rows to fill": "_x: f32[2,{0},3]\nScatterElementsUpdate-3(f32=0[2,{0},3], Convert(Floor(_x), destination_type=i64), _x, 1) -> Result",
}


@pytest.mark.oracle
@pytest.mark.parametrize("shape", ["[2,S,3]", "[N,S,3]"])
@pytest.mark.parametrize("name", _LENGTHS)
def test_a_constant_is_as_long_as_a_size_of_both_exports(name: str, shape: str, tmp_path: Path) -> None:
    """No other input of the layer has that size, or says where the constant has it."""
    one, other = (Net(_LENGTHS[name].format(size, [[[float(row)] for row in range(size)]], np.tri(size).tolist())) for size in (12, 20))
    assert errors(asked(one, shape, rewrite=True))
    found = _beside(one, other, shape)
    assert errors(found) == []
    _run_equally(found, other, (2, 20, 3), tmp_path)


def test_a_slice_may_begin_at_the_size_of_another_input() -> None:
    """As a mask of all tokens is cut behind those of the cache."""
    text = "x: f32[2,{0}]\ny: f32[2,{1}]\nRelu(x) -> Result\nSlice-8(y, [{0}], [9223372036854775807], [1], [1]) -> Result"
    one, other = Net(text.format(12, 20)), Net(text.format(18, 31))
    second = irshape.read(other.xml.encode(), weights=other.bin)
    found = irshape.reshape(one.xml.encode(), {"x": "[2,S]", "y": "[2,T]"}, weights=one.bin, rewrite=True, like=second)
    assert errors(found) == []
    assert [(mend["port"], mend["now"]) for mend in found.to_dict()["mends"]] == [("begins", "[S]")]


@pytest.mark.parametrize("is_equal", [True, False])
def test_a_constant_is_as_long_as_the_slice_that_takes_its_first_elements(is_equal: bool, tmp_path: Path) -> None:
    """What PyTorch adds up in a scatter is cut to the size of the indices; equal elements tell their length without a second export."""
    here, there = ([[1.0 if is_equal else float(row)] for row in range(size)] for size in (12, 20))
    text = "_n: Gather(ShapeOf-3(f32[{0},3], output_type=i64), [0], 0)\nSlice-8(f32={1}, [0], _n, [1], [0]) -> Multiply(f32=2.0) -> Result"
    one, other = Net(text.format(12, here)), Net(text.format(20, there))
    assert _result(asked(one, "[S,3]", rewrite=True)) == ("[S,1]" if is_equal else "[min(S, 12),1]")
    found = _beside(one, other, "[S,3]")
    assert (errors(found), _result(found)) == ([], "[S,1]")
    _run_equally(found, other, (20, 3), tmp_path)


# The middle rows of a table of 8, a projection of twice as many columns, and sizes that one file leaves open.
_MIDDLE = Net("""
    _x: f32[1,4,3] -> ShapeOf-3(output_type=i64) -> _n: Gather-8([1], 0)
    _begin: Divide(Subtract([8], _n), [2])
    _rows: Slice-8(f32=[[3.0],[1.0],[4.0],[1.5],[5.0],[9.0],[2.0],[6.0]], _begin, Add(_begin, _n), [1], [0])
    Add(_x, Unsqueeze(_rows, [0])) -> Reshape([1,2,2,3]) -> Result
""")


def test_a_refusal_names_the_sizes_up_to_which_a_table_has_rows() -> None:
    [one] = [one for one in asked(_MIDDLE, "[1,S,3]", rewrite=True).diagnostics if one.severity == "error"]
    assert one.hint and "--set S=1..8" in one.hint


def test_the_constant_that_another_export_has_otherwise_is_the_cause() -> None:
    """The layers behind it have formulas that the constant spoils."""
    text = "f32[1,{0},4] -> MatMul(f32={2}[4,{1}]) -> Reshape([1,{1},{0}]) -> Slice-8([0], [{1}], [1], [1]) -> Reshape([{0},{1}]) -> Result"
    [told], _ = _told(text.format(7, 13, 0.5), text.format(12, 23, 0.25), "[1,S,4]")
    cause = "S207 MatMul 'matmul_2' gives the size 13 on axis 2, but the other export has 23: Const 'const_1'"
    assert told.startswith(cause)


# Nets for 12 and 20 tokens, or 12 and 21, of which a layer has a number for each, and the ways that it may be.
_SLICED = 'StridedSlice(f32[2,{0},3], [0,{1}], [0,{2}], [1,1], begin_mask="1,0", end_mask="1,0") -> Result'
_TAKEN = 'StridedSlice(f32[2,{0},3], [0,{1}], [0,{2}], [1,1], begin_mask="1,0", end_mask="1,0", shrink_axis_mask="0,1") -> Result'
_SPLIT = "_x: VariadicSplit(f32[2,{0},3], 1, [{1},{2}]) f32 f32\n_x.1 -> Result"
_OTHERWISE = {
    "a shift back": ("Roll-7(f32[2,{0},3], [-{1}], [1]) -> Result", (12, 6), (20, 10), ["-(S//2)", "-((S + 1)//2)"]),
    "a shift back of an odd size": ("Roll-7(f32[2,{0},3], [-{1}], [1]) -> Result", (12, 6), (21, 11), ["-((S + 1)//2)"]),
    "the end of half": (_SLICED, (12, 0, 6), (21, 0, 10), ["[0,S//2]"]),
    "a begin behind a third": (_SLICED, (12, 4, 12), (20, 6, 20), ["[0,S//3]"]),
    "a middle part": (_SLICED, (12, 3, 9), (39, 9, 28), ["[0,S//2 + S//4]"]),
    "the middle": (_TAKEN, (12, 6, 7), (21, 10, 11), ["[0,S//2]", "[0,S//2 + 1]"]),
    "the rest of a split": (_SPLIT, (12, 4, 8), (20, 6, 14), ["[S//3,-1]"]),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", _OTHERWISE)
def test_a_part_of_a_size_is_seen_in_two_exports(name: str, tmp_path: Path) -> None:
    text, own, others, now = _OTHERWISE[name]
    one, other = Net(text.format(*own)), Net(text.format(*others))
    found = _beside(one, other, "[2,S,3]")
    if not errors(found):
        assert all(any(way in mend["now"] for mend in found.to_dict()["mends"]) for way in now)
        _run_equally(found, other, (2, others[0], 3), tmp_path)
    else:
        assert len(now) > 1 and all(way in errors(found)[0] for way in now), errors(found)


@pytest.mark.oracle
def test_a_pool_over_the_whole_axis_of_both_exports_is_a_reduction(tmp_path: Path) -> None:
    text = 'MaxPool-1(f32[2,3,{0}], kernel="{0}", strides="{0}", pads_begin="0", pads_end="0", rounding_type=floor) -> Relu -> Result'
    one, other = Net(text.format(12)), Net(text.format(20))
    found = _beside(one, other, "[2,3,S]")
    assert (errors(found), _result(found)) == ([], "[2,3,1]")
    _run_equally(found, other, (2, 3, 20), tmp_path)


def test_a_number_that_fits_the_batch_may_be_a_part() -> None:
    """Batches of 2 and 3 beside 8 and 12 rows."""
    largest = "_top: TopK-11({0}, axis=1, mode=max, sort=value, index_element_type=i64) f32 i64"
    text = f"f32[{{0}},{{1}},16] -> Reshape([{{0}},-1]) -> {largest}\n_top -> Result"
    [fault], _ = _told(text.format(2, 8), text.format(3, 12), "[B,H,16]")
    assert fault.startswith("S208 TopK") and "may give [B], [H//4]" in fault
    text = "f32[{0},{1},16] -> Multiply(f32={0}.0) -> Result"
    [fault], _ = _told(text.format(2, 8), text.format(3, 12), "[B,H,16]")
    assert fault.startswith("S208 Multiply") and "may give B" in fault and "0.25*H" in fault


@pytest.mark.parametrize(("here", "there", "told"), [(4.0, 4.0, []), (10.0, 12.0, ["S207"])])
def test_a_constant_output_is_that_of_the_other_export(here: float, there: float, told: list[str]) -> None:
    text = "f32[1,{0},3] -> Relu -> Result\nf32={1} -> Result"
    faults, _ = _told(text.format(10, here), text.format(14, there), "[1,S,3]")
    assert [fault.partition(" ")[0] for fault in faults] == told


def test_a_shift_of_relative_positions_turns_sizes() -> None:
    """[S,S+1] is read as [S+1,S], as TensorFlow and Transformer-XL do it."""
    padded = "f32[2,{0},4] -> MatMul(f32=0.5[4,{0}]) -> Pad-12([0,0,0], [0,0,1], f32=0.0, pad_mode=constant)"
    text = f"{padded} -> Reshape([2,{{1}},{{0}}]) -> Result"
    one, other = Net(text.format(12, 13)), Net(text.format(20, 21))
    found = _beside(one, other, "[2,S,4]")
    assert (errors(found), _result(found)) == ([], "[2,S + 1,S]")


def test_axes_of_equal_sizes_that_change_places_are_told_apart() -> None:
    """Windows of 4 rows that become every fourth row, as MaxViT has them, where there are 4 windows, too."""
    one, other = (Net(f"f32[2,{s},4,{t},4] -> moved: Reshape([2,4,{s},4,{t}]) -> Result") for s, t in ((4, 5), (3, 7)))
    found = _beside(one, other, "[2,S,4,T,4]")
    assert (errors(found), _result(found)) == ([], "[2,4,S,4,T]")
    [told] = asked(one, "[2,S,4,T,4]", rewrite=True).errors
    assert told.message.startswith("Reshape 'moved' may give [2,S,4,4,T], [2,4,S,4,T] or [2,4,4,S,T]")


@pytest.mark.oracle
def test_a_flip_by_indices_goes_on(tmp_path: Path) -> None:
    one, other = (Net(f"Gather-8(f32[2,{size},3], {[*range(size)][::-1]}, 1) -> Result") for size in (12, 20))
    found = _beside(one, other, "[2,S,3]")
    assert (errors(found), _result(found)) == ([], "[2,S,3]")
    _run_equally(found, other, (2, 20, 3), tmp_path)


def test_a_flip_beside_the_batch_reads_another_axis_than_the_batch() -> None:
    rows = "f32[1,{0},3] -> Transpose([1,0,2]) -> Reshape([0,-1], special_zero=true) -> Gather-8({1}, 0)"
    text = f"{rows} -> Reshape([0,-1,3], special_zero=true) -> Transpose([1,0,2]) -> Result"
    one, other = (Net(text.format(size, [*range(size)][::-1])) for size in (12, 20))
    found = _beside(one, other, "[N,S,3]")
    assert (errors(found), _result(found)) == ([], "[N,S,3]")


@pytest.mark.oracle
def test_a_clamp_to_the_last_index_follows_the_size(tmp_path: Path) -> None:
    text = "_x: f32[2,{0},3]\nMultiply(_x, Clamp(Multiply(_x, f32=30.0), min=0.0, max={1}.0)) -> Result"
    one, other = Net(text.format(12, 11)), Net(text.format(20, 19))
    found = _beside(one, other, "[2,S,3]")
    assert (errors(found), _result(found)) == ([], "[2,S,3]")
    _run_equally(found, other, (2, 20, 3), tmp_path)


def test_a_transpose_that_only_the_other_export_has_is_told() -> None:
    """With one group of rows, a shuffle of groups moves nothing, and leaves a Reshape; irshape cannot put the Transpose back."""
    one = Net("_x: f32[1,5,6] -> Relu -> moved: Reshape([1,5,6], special_zero=false) -> Result")
    shuffled = "_x: f32[1,15,6] -> Relu -> Reshape([1,3,5,6]) -> Transpose([0,2,1,3])"
    other = Net(f"{shuffled} -> moved: Reshape([1,15,6], special_zero=false) -> Result")
    [told] = errors(_beside(one, other, "[1,S,6]"))
    assert told.startswith("S207 Reshape 'moved' has Transpose 'transpose_") and told.endswith("and lacks the layer")
    assert errors(_beside(other, one, "[1,S,6]")) == []


def test_a_pad_that_only_one_export_has_is_told() -> None:
    """Pairs of rows are joined; an odd number of rows is padded first."""
    even = Net("f32[1,24,8] -> joined: Reshape([1,12,16]) -> Result")
    odd = Net("f32[1,35,8] -> padded: Pad-12([0,0,0], [0,1,0], f32=0.0, pad_mode=constant) -> joined: Reshape([1,18,16]) -> Result")
    [told] = _beside(even, odd, "[1,T,8]").errors
    rewrite = "rewrite the other export, and give one of another size that is padded, too, with --like"
    assert told.hint == f"only the other export has Pad 'padded': {rewrite}"
    [told] = _beside(odd, even, "[1,T,8]").errors
    assert told.message.startswith("Pad 'padded' pads an axis of size T with 0 before and 1 behind")


_POOL = 'MaxPool-1(strides="2", kernel="3", pads_begin="0", pads_end="0", rounding_type=floor)'


def _pooled(size: int, samples: int = 1) -> Net:
    """A pool that is padded as TensorFlow does it, beside one element that is added behind and cut off in front, whatever the size is."""
    pad = "Pad-12([0,0,{}], [0,0,1], f32=0.0, pad_mode=constant)"
    kept = f"{pad.format(0)} -> Slice-8([1], [{2**63 - 1}], [1], [2])"
    return Net(f"_x: f32[{samples},4,{size}]\nAdd(_x, _x) -> {pad.format(size % 2)} -> {_POOL} -> Result\n_x -> {kept} -> Result")


def test_a_pad_begins_with_one_more_where_the_size_is_odd() -> None:
    found = _beside(_pooled(14), _pooled(19), "[1,4,S]")
    assert (errors(found), _result(found)) == ([], "[1,4,(S + 1)//2]")
    samples = _beside(_pooled(14, 3), _pooled(19, 3), "[N,4,S]")
    assert (errors(samples), _result(samples)) == ([], "[N,4,(S + 1)//2]")
    [told] = errors(_beside(_pooled(12), _pooled(20), "[1,4,S]"))
    assert "pads an axis of size S with 0 before and 1 behind" in told


def test_the_middle_of_an_image_begins_at_half_of_half_of_it() -> None:
    """Of S rows, the S//2 in the middle: they begin at (S - S//2)//2, which is neither S//4 nor (S + 3)//4."""
    begins = {size: (size - size // 2) // 2 for size in (45, 46, 47, 51)}
    nets = {size: Net(f"Slice-8(f32[1,{size},4], [{at}], [{at + size // 2}], [1], [1]) -> Result") for size, at in begins.items()}
    [told] = errors(_beside(nets[45], nets[47], "[1,S,4]"))
    assert "may give [(S + 1)//4:" in told and "[(S + 2)//4:" in told
    found = _beside(nets[46], nets[51], "[1,S,4]")
    assert (errors(found), _result(found)) == ([], "[1,S//2,4]")


def test_indices_that_sample_an_axis_are_spaced_at_other_sizes() -> None:
    """Five frames of a video from the first one to the last one; other indices have no common rule."""
    text = "Gather-8(f32[2,{},4], {}, 1) -> Result"
    sampled = {size: Net(text.format(size, [(size - 1) * at // 4 for at in range(5)])) for size in (30, 33)}
    found = _beside(sampled[30], sampled[33], "[2,S,4]")
    assert errors(found) == []
    assert [mend["now"] for mend in found.to_dict()["mends"]] == ["[0,(S + 3)//4 - 1,(S + 1)//2 - 1,S - (S + 2)//4 - 1,S - 1]"]
    thirds = {size: Net(text.format(size, [0, size // 2, size - 1])) for size in (9, 11)}
    [told] = errors(_beside(thirds[9], thirds[11], "[2,S,4]"))
    assert "may give [0,(S + 1)//2 - 1,S - 1]," in told and "[0,S//2,S - 1]" in told  # both exports are odd
    others = {size: Net(text.format(size, indices)) for size, indices in ((30, [0, 7, 21, 29]), (33, [0, 8, 24, 33 - 2]))}
    assert errors(_beside(others[30], others[33], "[2,S,4]"))


def test_an_end_that_is_the_whole_axis_here_may_be_a_crop_there() -> None:
    """12 of 12 rows, and 12 of 14: groups of 3 or of 4 rows, or always 12."""
    one, other = (Net(f"Slice-8(f32[1,{size},4], [0], [12], [1], [1]) -> Result") for size in (12, 14))
    for here, there in ((one, other), (other, one)):
        [told] = errors(_beside(here, there, "[1,S,4]"))
        assert "ends at index 12 of an axis of size S" in told and told.endswith("because 4*(S//4) is 12 in both")


def test_a_slice_of_one_element_stays_one() -> None:
    """The middle frame: its end is one behind its begin, whatever else fits the numbers of both exports."""
    nets = {s: Net(f"_x: f32[1,{s},4]\nAdd(_x, Slice-8(_x, [{s // 2}], [{s // 2 + 1}], [1], [1])) -> Result") for s in (7, 11, 12)}
    [told] = _beside(nets[7], nets[11], "[1,S,4]").errors
    assert told.message.endswith("may give [S//2:S//2 + 1] or [(S + 1)//2 - 1:(S + 1)//2]") and "such as S=10" in str(told.hint)
    assert errors(_beside(nets[7], nets[12], "[1,S,4]")) == []


def test_a_slice_that_only_one_export_has_is_told() -> None:
    """A crop to a multiple of 4 leaves no layer where the size is one; the exports may cut different axes, too."""
    text, cut = "f32[1,{},{},4] -> {}soft: Softmax-8(axis=3) -> Result", "cut: Slice-8([0], [{}], [1], [{}]) -> "
    whole, rows, columns = (
        Net(text.format(height, width, place and cut.format(*place)))
        for height, width, place in ((16, 36, ""), (13, 20, (12, 1)), (16, 23, (20, 2)))
    )
    hints = [_beside(one, other, "[1,H,W,4]").errors[0].hint for one, other in ((rows, whole), (whole, rows), (rows, columns))]
    assert hints == [
        "the other export has no Slice 'cut': give an export of a size that is cut, too",
        "only the other export has Slice 'cut': rewrite the other export, and give one of another size that is cut, too, with --like",
        "the two exports cut different axes: give an export of sizes that are cut along the same axes",
    ]


def test_indices_beside_the_batch_that_differ_are_told() -> None:
    """The first and the last row of each sample, as `index_fill` leaves them: the batch opens, and the last index would stay."""
    text = """
        _x: f32[1,{0},3]
        _rows: Broadcast-1([0,{1}], Concat(Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0), [2,3], axis=0), [1], mode=none)
        GatherElements(_x, _rows, axis=1) -> Result
    """
    one, other = (Net(text.format(size, size - 1)) for size in (12, 20))
    [told] = errors(_beside(one, other, "[N,S,3]"))
    assert told.startswith("S207 Broadcast") and "reads numbers that differ in the other export" in told


# A pool by 2, a pad to a multiple of 4, which 16 elements do not need, and a cut back to the size before, in another layout.
_PADDED = """
    _x: f32[1,3,{0}] -> _y: AvgPool-1(kernel="2", strides="2", pads_begin="0", pads_end="0", exclude-pad="true", rounding_type=floor)
    _n: Gather-8(ShapeOf-3(_y, output_type=i64), [2], 0)
    _rest: FloorMod(Subtract([0], _n), [4])
    Pad-12(_y, [0,0,0], Concat([0,0], _rest, axis=0), f32=0.0, pad_mode=constant) -> _padded: Transpose([0,2,1])
    Slice-8(_padded, [0], [{1}], [1], [1]) -> Result
"""


def test_an_end_may_be_the_size_before_a_pad_in_another_layout() -> None:
    [told] = errors(asked(Net(_PADDED.format(32, 16)), "[1,3,L]", rewrite=True))
    assert told.startswith("S208 Slice") and "L//2]" in told, told


def test_a_small_size_may_be_a_part_of_a_pattern() -> None:
    """Blocks of 2 rows and 2 columns, of 2 rows."""
    text = "f32[1,4,{0},6] -> Reshape([1,4,{1},2,3,2], special_zero=false) -> Result"
    [told] = errors(asked(Net(text.format(2, 1)), "[1,4,H,6]", rewrite=True))
    assert told.startswith("S208") and "but it may be H//2, which is 1 in the file" in told
    assert _told(text.format(2, 1), text.format(6, 3), "[1,4,H,6]") == ([], ["[1,4,-1,2,3,2]"])


def test_ways_that_agree_at_the_multiples_that_are_asked_for_are_one() -> None:
    text = "_x: f32[1,{0}] -> Slice-8([{1}], [{2}], [1], [1]) -> Result"
    one, other = Net(text.format(16, 8, 9)), Net(text.format(24, 12, 13))
    second = irshape.read(other.xml.encode(), weights=other.bin)
    [told] = errors(asked(one, "[1,S]", rewrite=True, like=second))
    assert told.startswith("S208")
    assert errors(asked(one, "[1,S]", symbols={"S": "2*k"}, rewrite=True, like=second)) == []


@pytest.mark.oracle
def test_numbers_that_count_down_to_1_go_on(tmp_path: Path) -> None:
    one, other = (Net(f"Multiply(f32[2,{size},3], f32={[[float(row)] for row in range(size, 0, -1)]}) -> Result") for size in (12, 20))
    found = _beside(one, other, "[2,S,3]")
    assert (errors(found), _result(found)) == ([], "[2,S,3]")
    _run_equally(found, other, (2, 20, 3), tmp_path)


def test_the_largest_number_of_a_clamp_may_be_several_sizes() -> None:
    """The last index of 11 and 15 elements, or as many as are even."""
    text = "_x: f32[2,{0},3]\nMultiply(_x, Clamp(Multiply(_x, f32=30.0), min=0.0, max={1}.0)) -> Result"
    [fault], _ = _told(text.format(11, 10), text.format(15, 14), "[2,S,3]")
    assert fault.startswith("S208 Clamp") and "2*(S//2)" in fault and "S - 1" in fault


@pytest.mark.oracle
def test_a_pool_over_one_of_two_axes_is_a_reduction_of_it(tmp_path: Path) -> None:
    pool = 'kernel="1,{0}", strides="1,{0}", pads_begin="0,0", pads_end="0,0", rounding_type=floor'
    text = f"MaxPool-1(f32[2,3,5,{{0}}], {pool}) -> Relu -> Result"
    one, other = Net(text.format(12)), Net(text.format(20))
    found = _beside(one, other, "[2,3,5,S]")
    assert (errors(found), _result(found)) == ([], "[2,3,5,1]")
    _run_equally(found, other, (2, 3, 5, 20), tmp_path)


@pytest.mark.oracle
def test_a_pad_to_a_multiple_follows_the_size(tmp_path: Path) -> None:
    text = "Pad-12(f32[2,3,{0},{1}], [0,0,0,0], [0,0,{2},{3}], f32=0.0, pad_mode=constant) -> Result"
    one, other = Net(text.format(10, 13, 2, 3)), Net(text.format(17, 12, 3, 0))
    found = _beside(one, other, "[2,3,H,W]")
    assert (errors(found), _result(found)) == ([], "[2,3,4*((H + 3)//4),4*((W + 3)//4)]")
    _run_equally(found, other, (2, 3, 17, 12), tmp_path)


def test_a_layer_without_inputs_has_no_constant_to_follow() -> None:
    text = '_x: f32[1,{0}]\n_v: ReadValue-6(variable_id=a, variable_shape="1,{0}", variable_type=f32)\nAdd(_x, _v) -> Result'
    [fault], _ = _told(text.format(12), text.format(20), "[1,S]")
    assert fault.startswith("S207 ReadValue 'readvalue_1' has attributes (variable_shape) that differ")


def test_a_mask_is_no_row_of_evenly_spaced_numbers() -> None:
    """Seven truth values beside an open axis of seven."""
    assert errors(asked(Net("boolean[7,1] -> LogicalOr(boolean=[[1,0,1,0,1,0,1]]) -> Result"), "[S,1]", rewrite=True)) == []


def test_an_end_beside_a_begin_that_an_input_gives_is_told() -> None:
    text = '_x: f32[1,{0}]\nb: i64[2]\nStridedSlice(_x, b, [0,{1}], [1,1], begin_mask="1,0", end_mask="1,0") -> Result'
    one, other = Net(text.format(12, 6)), Net(text.format(21, 10))
    second = irshape.read(other.xml.encode(), weights=other.bin)
    name = irshape.read(one.xml.encode()).parameters[0].name
    found = irshape.reshape(one.xml.encode(), {name: "[1,S]"}, weights=one.bin, rewrite=True, like=second)
    assert [mend["now"] for mend in found.to_dict()["mends"]] == ["[0,S//2]"], errors(found)
