"""Constant indices that take a whole axis, and tables of waves: what a rewritten model computes at other sizes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from tests.reshaping.test_granted import asked, errors
from tests.support.ir import Net
from tests.support.oracle import core

# The windows of three of 8 rows, as `unfold` leaves them, and the first and the last row twice.
_WINDOWS = [[first + place for first in range(6)] for place in range(3)]
_STRIDED = [[2 * first + place for place in range(3)] for first in range(5)]
_EDGES = [0, 0, *range(8), 7]
# The elements of a mask of two samples, for each row of attention, as `mask[arange(2)[:, None, None], arange(6)]` takes them.
_MASK = [[[[sample, place] for place in range(6)]] for sample in range(2)]
# Positions of a transformer: sines in even columns, cosines in odd ones, of places divided by powers of 10000.
_FREQUENCIES = 10_000 ** (-np.arange(0, 8, 2) / 8)


def waves(rows: int) -> Any:
    """A row for each place: its sines and cosines by turns."""
    phases = np.arange(rows)[:, None] * _FREQUENCIES
    return np.stack([np.sin(phases), np.cos(phases)], -1).reshape(rows, 8)


def halves(rows: int) -> Any:
    """Sines, then cosines, whose last frequency is that of the base itself."""
    phases = np.arange(rows)[:, None] * 10_000 ** (-np.arange(4) / 3)
    return np.concatenate([np.sin(phases), np.cos(phases)], -1)


def written(columns: str, table: Any) -> str:
    """`x + zeros` in which some columns are another table, as `zeros[:, 0::2] = table` leaves it."""
    places = np.arange(6 * 8).reshape(6, 8)[:, {"even": slice(0, None, 2), "odd": slice(1, None, 2), "last": slice(6, None)}[columns]]
    return f"""
        _x: f32[6,8]
        _flat: ScatterNDUpdate-4(f32=0.0[48], {places.reshape(-1, 1).tolist()}, {table})
        Add(_x, Reshape(_flat, [6,8], special_zero=false)) -> Result
    """


def columns(x: Any, part: slice, values: Any) -> Any:
    out = np.array(x)
    out[:, part] += values
    return out


def grid(rows: int, columns: int) -> Any:
    """The places of an image: for each row and column the column and the row, from -0.5 on, as YOLOv5 adds them."""
    y, x = np.meshgrid(np.arange(rows) - 0.5, np.arange(columns) - 0.5, indexing="ij")
    return np.stack([x, y], -1)[None]


def flat(rows: int, columns: int) -> Any:
    """The places of an image one after another: a row of columns, and one of rows."""
    return grid(rows, columns).reshape(1, -1, 2).transpose(0, 2, 1)


# OpenVINO lets what counts the rows of the larger image read the sizes of the Interpolate.
RESIZED = """
    _x: f32[1,1,6,8]
    _less: MaxPool(_x, strides="2,2", pads_begin="0,0", pads_end="0,0", kernel="2,2", rounding_type=floor)
    _sizes: Concat(Slice-8(ShapeOf-3(_less, output_type=i64), [0], [2], [1], [0]), [6,8], axis=0)
    _more: Interpolate-11(_less, _sizes, mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor, antialias=false,
        coordinate_transformation_mode=asymmetric)
    Multiply(Add(_x, _more), Convert(Gather-8(_sizes, 2, 0), destination_type=f32)) -> Result
"""


def resized(x: Any) -> Any:
    rows, columns = x.shape[2:]
    less = x.reshape(1, 1, rows // 2, 2, columns // 2, 2).max((3, 5))
    return (x + less.repeat(2, 2).repeat(2, 3)) * rows


GRANTED = {
    "windows": (f"Gather-8(f32[1,8], {_WINDOWS}, 1) -> Result", "[1,S]", [(1, 5), (1, 12)],
        lambda x: np.moveaxis(sliding_window_view(x, 3, 1), -1, 1)),
    "windows by steps": (f"Gather-8(f32[1,11], {_STRIDED}, 1) -> Result", "[1,S]", [(1, 5), (1, 12)],
        lambda x: sliding_window_view(x, 3, 1)[:, ::2]),
    "edges": (f"Gather-8(f32[1,8], {_EDGES}, 1) -> Result", "[1,S]", [(1, 1), (1, 5), (1, 12)],
        lambda x: np.pad(x, ((0, 0), (2, 1)), "edge")),
    "a mask of one sample": (f"_x: f32[1,6]\nAdd(GatherND-8(_x, {[_MASK[0]]}, batch_dims=0), Unsqueeze(_x, [1])) -> Result", "[B,S]",
        [(1, 3), (3, 9)], lambda x: 2 * x[:, None]),
    "a mask of samples": (f"GatherND-8(f32[2,6], {_MASK}, batch_dims=0) -> Result", "[B,S]", [(1, 3), (3, 9)], lambda x: x[:, None]),
    "written columns": (written("even", "Reshape(Slice-8(_x, [0], [4], [1], [1]), [-1], special_zero=false)"), "[S,8]", [(3, 8), (9, 8)],
        lambda x: columns(x, slice(0, None, 2), x[:, :4])),
    "last columns": (written("last", "Reshape(Slice-8(_x, [0], [2], [1], [1]), [-1], special_zero=false)"), "[S,8]", [(3, 8), (9, 8)],
        lambda x: columns(x, slice(6, None), x[:, :2])),
    "written waves": (written("odd", f"Reshape(f32={np.cos(np.arange(6)[:, None] * _FREQUENCIES).tolist()}, [-1], special_zero=false)"),
        "[S,8]", [(3, 8), (30, 8)], lambda x: columns(x, slice(1, None, 2), np.cos(np.arange(len(x))[:, None] * _FREQUENCIES))),
    "sizes that others read": (RESIZED, "[1,1,H,W]", [(1, 1, 4, 10), (1, 1, 12, 2)], resized),
    "a flat grid of fixed width": (f"Add(Reshape(f32[1,2,4,6], [1,2,24], special_zero=false), f32={flat(4, 6).tolist()}) -> Result",
        "[1,2,H,6]", [(1, 2, 1, 6), (1, 2, 7, 6)], lambda x: x.reshape(1, 2, -1) + flat(x.shape[2], 6)),
    "a grid": (f"Add(f32[1,4,6,2], f32={grid(4, 6).tolist()}) -> Result", "[1,H,W,2]", [(1, 1, 2, 2), (1, 7, 9, 2)],
        lambda x: x + grid(*x.shape[1:3])),
    "waves": (f"Add(f32[6,8], f32={waves(6).tolist()}) -> Result", "[S,8]", [(3, 8), (30, 8)], lambda x: x + waves(len(x))),
    "waves of halves": (
        f"Add(f32[6,8], Convert(f16={waves(6).astype(np.float16).tolist()}, destination_type=f32)) -> Result",
        "[S,8]", [(3, 8), (30, 8)], lambda x: x + waves(len(x)).astype(np.float16),
    ),
    "halves": (f"Add(f32[6,8], f32={halves(6).tolist()}) -> Result", "[S,8]", [(3, 8), (30, 8)], lambda x: x + halves(len(x))),
    "rows of each sample": ("Reshape(f32[3,2,5], [6,5], special_zero=false) -> Add(f32=[[1.0],[2.0],[1.0],[2.0],[1.0],[2.0]]) -> Result",
        "[B,2,5]", [(1, 2, 5), (4, 2, 5)], lambda x: (x + np.array([[1.0], [2.0]])).reshape(-1, 5)),
    "one grid for all samples": ("GridSample-9(f32[1,1,2,2], f32=0.0[1,3,3,2], mode=bilinear, padding_mode=zeros) -> Result", "[B,1,2,2]",
        [(1, 1, 2, 2), (3, 1, 2, 2)], lambda x: np.broadcast_to(x.mean((2, 3), keepdims=True), (len(x), 1, 3, 3))),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("name", GRANTED)
def test_a_rewritten_model_takes_the_whole_axis(name: str, tmp_path: Path) -> None:
    text, shape, sizes, function = GRANTED[name]
    found = asked(Net(text), shape, rewrite=True)
    assert errors(found) == []
    found.write(tmp_path / "out.xml")
    model = core().compile_model(tmp_path / "out.xml", "CPU")
    for one in sizes:
        x = np.random.default_rng(0).standard_normal(one).astype("f4")
        np.testing.assert_allclose(model([x])[0], function(x), atol=1e-3 if "f16=" in text else 1e-5)


@pytest.mark.parametrize("indices", [
    [0, 7] * 4,  # the first and the last row
    [0, 0, 1, 2, 3, 4, 5, 7, 7],
    [[0, 1, 2], [5, 6, 7], [1, 2, 3]],
])  # fmt: skip
def test_other_indices_stay_and_are_told(indices: list[Any]) -> None:
    [error] = errors(asked(Net(f"Gather-8(f32[1,8], {indices}, 1) -> Result"), "[1,S]", rewrite=True))
    assert error.startswith("S208") and "reads constant indices up to 7 from an axis of size S" in error


@pytest.mark.parametrize(("text", "told"), [
    ("Gather-8(_x, Squeeze([[0,1,2,3,4,5]]), 1) -> Result", []),  # all axes of size 1 are removed
    ("Gather-8(_x, Gather-8([0,1,2,3,4,5], [9,1,2,3,4,5], 0), 1) -> Result", ["P111", "R401", "S208"]),
])  # fmt: skip
def test_indices_that_constants_compute_may_be_at_fault(text: str, told: list[str]) -> None:
    assert [one[:4] for one in errors(asked(Net(f"_x: f32[1,6]\n{text}"), "[1,S]", rewrite=True))] == told


def bounded(most: int) -> str:
    """A table of ones with at most so many rows, as many as an input has."""
    return f"""
        _x: f32[1,12,5]
        _s: Minimum(ShapeOf-3(_x, output_type=i64), [1,{most},9])
        Broadcast-3(f32=1.0, _s, mode=numpy) -> Result
        _x -> Result
    """


def counted(step: float) -> str:
    """The places of rows, each times a step, added to them."""
    places = f"Multiply(Convert(Range-4(0, 12, 1, output_type=i64), destination_type=f32), f32={step})"
    return f"_x: f32[1,12,5]\nAdd(_x, Unsqueeze({places}, [1])) -> Result"


def factor(text: str) -> str:
    return f"Multiply(f32[1,12,5], f32={text}) -> Result"


@pytest.mark.parametrize(("text", "told"), [
    (factor(f"{np.log(12)}"), "computes with the number 2.48491"),
    (factor(f"{1 / np.log(13)}"), "computes with the number 0.389871"),
    (factor(f"{12**-0.5}"), "computes with the number 0.288675"),
    (f"Divide(f32[1,12,5], f32={12**0.5}) -> Result", "computes with the number 3.4641"),
    (f"Multiply(f32[1,12,24], f32={12**-0.5}) -> Result", ""),  # of two heads with 12 channels each
    (f"Subtract(f32[1,12,5], f32={np.log(12)}) -> Result", "computes with the number 2.48491"),
    (factor(f"{1 / 11}"), "computes with the number 0.0909091"),
    (f"_x: f32[1,12,5]\nScaledDotProductAttention-13(_x, _x, _x, f32=0.0, f32={12**-0.5}, causal=false) -> Result",
        "computes with the number 0.288675"),
    (factor(f"{12 / 11}"), "computes with the number 1.09091"),  # of an unbiased variance
    (counted(2 / 11), "Multiply 'multiply_7' scales by [0.181818], which may follow from recorded sizes of its axes"),  # places from 0 to 2
    (counted(0.1), ""),
    (bounded(12), "Minimum 'minimum_3' bounds the size S by the constant 12"),
    (bounded(16), ""),
    (factor("12.0"), ""),  # strides are often as large
    # A kernel of all rows, which reads each row and those before it.
    ("_x: Pad-1(f32[1,1,12], [0,0,11], [0,0,0], f32=0.0, pad_mode=constant)\nConvolution(_x, f32=1.0[1,1,12], "
     'strides="1", pads_begin="0", pads_end="0", dilations="1") -> Result', "pads an axis of size S with 11 before and 0 behind"),
    ('Convolution(f32[1,1,12], f32=1.0[1,1,12], strides="1", pads_begin="11", pads_end="0", dilations="1") -> Result',
        "pads an axis of size S with 11 before and 0 behind"),
])  # fmt: skip
def test_a_factor_or_a_kernel_of_a_recorded_size_is_told(text: str, told: str) -> None:
    axes = {"Conv": "[1,1,S]", "24]": "[1,S,24]"}
    shape = next((shape for part, shape in axes.items() if part in text), "[1,S,5]")
    found = errors(asked(Net(text), shape, rewrite=True))
    assert [told in one for one in found] == ([True] if told else [])
