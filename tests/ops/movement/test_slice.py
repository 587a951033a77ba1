"""Slice, StridedSlice and SliceScatter."""

from itertools import product
from math import inf

import pytest

from irshape.shape.dim import INT64_MAX, Scope, bounds, dim_min, evaluate
from irshape.shape.slicing import slice_range, sliced_range, sliced_size
from tests.support.rows import Rows, differs, row_tests
from tests.support.values import value_tests

MASKS = {"begin_mask": [0, 0], "end_mask": [0, 0]}

ROWS: Rows = {
    ("Slice", "opset8"): [
        ("static", "f32[4,5] [1,1] [3,4] [1,2]", "f32[2,2]"),
        ("axes", "f32[4,5] [1] [3] [1] [-1]", "f32[4,2]"),
        ("far ends", "f32[4,5] [-100,100] [9223372036854775807,-9223372036854775808] [3,-2]", "f32[2,3]"),
        ("begins before the first element", "f32[3] [-8] [-9] [-1]", "f32[1]"),
        ("empty", "f32[0] [-8] [-9] [-1]", "f32[0]"),
        ("bounds", "f32[10..20,?,3..] [2,2,2] [5,5,5] [1,1,1]", "f32[3,..3,1..3]"),
        ("bounds from the end", "f32[10..20,?,3..] [2,2,2] [-1,-1,-1] [2,2,2]", "f32[4..9,?,?]"),
        ("bounds backwards", "f32[10..20,?,3..] [-1,-1,-1] [-9,-9,-9] [-2,-2,-2]", "f32[4,..4,2..4]"),
        ("signs differ", "f32[7..] [-4] [8] [1]", differs("f32[..4]", "f32[4..8]")),
        ("to the end", "f32[4..] [-3] [2147483647] [1]", "f32[3]"),
        ("to before the beginning", "f32[?,4..] [-1,-1] [-2147483648,-2147483647] [-1,-1]", "f32[..2147483647,4..2147483646]"),
        ("start not constant", "f32[4,5] i64[2] [3,3] [1,1]", "f32[..3,..3]"),
        ("axes not constant", "f32[4,5] [1] [3] [1] i64[1]", "f32[..4,..5]"),
        ("number of axes not known", "f32[4,5] i64[?] i64[?] i64[?]", "f32[..4,..5]"),
        ("unranked", "f32[...] [1] [3] [1]", "f32[...]"),
        ("step of 0", "f32[4,5] [1,1] [3,3] [1,0]", "V101"),
        ("axis twice", "f32[4,5] [1,1] [3,3] [1,1] [1,-1]", "V104"),
        ("axis", "f32[4,5] [1] [3] [1] [2]", "V102"),
        ("lengths differ", "f32[4,5] [1,1] [3] [1,1]", "S201"),
        ("too many", "f32[4,5] [1,1,1] [3,3,3] [1,1,1]", "V103"),
        ("scalar", "f32[] [1] [3] [1]", "S101"),
        ("float start", "f32[4,5] f32=[1.0] [3] [1]", "T101"),
    ],
    ("StridedSlice", "opset1"): [
        ("static", "f32[4,5] [1,1] [3,4] [1,2]", MASKS, "f32[2,2]"),
        ("no strides", "f32[4,5] [1,1] [3,4]", MASKS, "f32[2,3]"),
        ("masks", "f32[4,5] [1,1] [3,3]", {"begin_mask": [1, 0], "end_mask": [0, 1]}, "f32[3,4]"),
        ("fewer than axes", "f32[4,5,6] [1] [3]", {"begin_mask": [0]}, "f32[2,5,6]"),
        ("new axis", "f32[4,5] [0,1,1] [0,3,3]", {"begin_mask": [0, 0, 0], "new_axis_mask": [1, 0, 0]}, "f32[1,2,2]"),
        ("shrink", "f32[4,5] [-1,1] [3,3]", {**MASKS, "shrink_axis_mask": [1, 0]}, "f32[2]"),
        ("ellipsis", "f32[4,5,6,7] [1,0,1] [3,0,3]", {"begin_mask": [0, 0, 0], "ellipsis_mask": [0, 1, 0]}, "f32[2,5,6,2]"),
        ("ellipsis of nothing", "f32[4,5] [1,0,1] [3,0,3]", {"begin_mask": [0, 0, 0], "ellipsis_mask": [0, 1, 0]}, "f32[2,2]"),
        ("bounds", "f32[3..9,?] [1,1] [7,2]", MASKS, "f32[2..6,..1]"),
        ("begin not constant", "f32[4,5] i64[2] i64[2]", {"begin_mask": [1, 0], "end_mask": [1, 0]}, "f32[4,..5]"),
        ("strides not constant", "f32[4,5] [1,1] [3,3] i64[2]", MASKS, "f32[..4,..5]"),
        ("number of limits not known", "f32[4,5] i64[?] i64[?]", MASKS, "f32[...]"),
        ("unranked", "f32[...] [1,1] [3,3]", MASKS, "f32[...]"),
        ("float strides", "f32[4,5] [1,1] [3,3] f32=[1.0,1.0]", MASKS, "f32[2,2]"),
        ("stride of 0", "f32[4,5] [1,1] [3,3] [0,1]", MASKS, "V101"),
        ("stride of 0 in a dropped axis", "f32[4,5] [1,1] [3,3] [0,1]", {**MASKS, "shrink_axis_mask": [1, 0]}, "f32[2]"),
        ("lengths differ", "f32[4,5] [1,1] [3]", MASKS, "V103"),
        ("too many", "f32[4,5] [1,1,1] [3,3,3]", {"begin_mask": [0, 0, 0]}, "S101"),
        ("two ellipses", "f32[4,5] [1,1] [3,3]", {**MASKS, "ellipsis_mask": [1, 1]}, "A104"),
        ("mask of 2", "f32[4,5] [1,1] [3,3]", {"begin_mask": [2, 0]}, "A104"),
        ("masks of two lengths", "f32[4,5] [1,1] [3,3]", {"begin_mask": [0, 0], "end_mask": [0]}, "A105"),
        ("begin of rank 2", "f32[4,5] [[1,1]] [3,3]", MASKS, "S101"),
        ("float begin", "f32[4,5] f32=[1.0,1.0] [3,3]", MASKS, "T101"),
    ],
    ("SliceScatter", "opset15"): [
        ("static", "f32[4,5] f32[2,3] [1,1] [3,4] [1,1]", "f32[4,5]"),
        ("axes", "f32[4,5] f32[2,5] [1] [3] [1] [0]", "f32[4,5]"),
        ("bounds", "f32[4..6,5] f32[3..9,2] [1,1] [-1,3] [1,1]", "f32[5..6,5]"),
        ("unranked", "f32[...] f32[2,2] [1,1] [3,3] [1,1]", "f32[?,?]"),
        ("start not constant", "f32[4,5] f32[2,2] i64[2] [3,3] [1,1]", "f32[4,5]"),
        ("start not constant, long updates", "f32[4,5] f32[5,2] i64[2] [3,3] [1,1]", "S203"),
        ("updates differ", "f32[4,5] f32[2,1] [1,1] [3,3] [1,1]", "S201"),
        ("ranks differ", "f32[4,5] f32[2] [1,1] [3,3] [1,1]", "S102"),
        ("step of 0", "f32[...] f32[2,2] [1,1] [3,3] [1,0]", "V101"),
        ("scalar", "f32[] f32[] [1] [3] [1]", "S101"),
        ("too many", "f32[...] f32[2] [1,1] [3,3] [1,1]", "V103"),
        ("axis beside an unknown slice", "u8[8,?] u8[6,4] [1] [7] i64[1] [1]", "S201"),
        ("axis beside a slice of unknown length", "u8[8,9] u8[8,4] [1] [7] i64[...] [1]", "u8[8,9]"),
        ("axis beside an unknown slice without axes", "u8[8,9] u8[6,4] [1] i64[1] i64[1]", "S201"),
        ("axes not known", "u8[8,9] u8[6,4] i64[1] [7] [1] i64[1]", "u8[8,9]"),
        ("neither start nor axes known", "u8[8,9] u8[6,4] i64[1] [7] [1]", "u8[8,9]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Slice", "opset8"): [("[2..4,5,?] [-1] [-9] [-2]", "[?,2..4]")],
    ("StridedSlice", "opset1"): [("[2..4,5,?] [0] [2]", {"begin_mask": [1]}, "[2..4,5]")],
}

test_values, test_values_with_openvino = value_tests(VALUES)


@pytest.mark.parametrize("step", [-3, -2, -1, 1, 2, 3])
def test_slice_is_bounded_by_every_size(step: int) -> None:
    """The bounds of a slice of an unknown size are those of the slices of all its sizes."""
    for low, high in ((0, 3), (0, 9), (4, 7), (2, 12)):
        for begin in range(-9, 10, 2):
            for end in range(-9, 10, 3):
                lengths = [len(slice_range(size, begin, end, step)) for size in range(low, high + 1)]
                sliced = sliced_size(Scope().symbol("n", low, high), begin, end, step)
                assert sliced is not None
                assert bounds(sliced) == (min(lengths), max(lengths)), (low, high, begin, end)


@pytest.mark.parametrize(("sizes", "others", "less"), [((2, 9), (1, 9), 2), ((2, 9), (0, 9), 2), ((4, 9), (1, 3), 2), ((0, 6), (0, 6), 1)])
def test_a_limit_of_either_sign_is_followed_by_its_formula(sizes: tuple[int, int], others: tuple[int, int], less: int) -> None:
    """The bounds of a slice from the least of two sizes, less a number, are those of the slices of all sizes."""
    scope = Scope()
    size, other = scope.symbol("n", *sizes), scope.symbol("m", *others)
    found = sliced_range(size, dim_min(size, other) - less, None, 1)
    pairs = product(range(sizes[0], sizes[1] + 1), range(others[0], others[1] + 1))
    lengths = [len(slice_range(n, min(n, m) - less, None, 1)) for n, m in pairs]
    assert found == (min(lengths), max(lengths))


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("begin", [None, 0, 1, 3, -1, -4])
def test_a_slice_up_to_a_few_elements_before_the_end(begin: int | None, step: int) -> None:
    """`x[begin : n - less : step]` is a formula if `n - less` counts from the end for no size that has elements before it."""
    size = Scope().symbol("n", 0)
    for less in range(5):
        found = sliced_size(size, begin, size - less, step)
        assert (found is None) is (less > 2 or (less > 0 and step < 0)), less
        if found is not None:
            assert [evaluate(found, {"n": n}) for n in range(9)] == [len(slice_range(n, begin, n - less, step)) for n in range(9)], less


@pytest.mark.parametrize("modulus", [1, 4])
@pytest.mark.parametrize(("begin", "end", "step"), [(0, INT64_MAX, 2), (None, None, 2), (1, -1, 1), (-1, -INT64_MAX, -2)])
def test_a_slice_of_an_axis_without_largest_size_has_none(begin: int | None, end: int | None, step: int, modulus: int) -> None:
    """A finite bound would wrap around in an i32, in which exporters compute the sizes of an Interpolate."""
    found = sliced_size(Scope().symbol("n", 0, inf, modulus), begin, end, step)
    assert found is not None
    assert bounds(found) == (0, inf)
