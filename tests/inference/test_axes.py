"""Which axes a Reshape joins and splits, and the sizes with which it does so for other data."""

import pytest

from irshape.inference.axes import Reshaping, groups, mixes, resized


@pytest.mark.parametrize(
    ("data", "output", "expected"),
    [
        ([1, 196, 256], [1, 196, 2, 128], "0>0 1>1 2>2,3"),
        ([1, 4, 6], [4, 6], "0,1>0 2>1"),
        ([1, 8, 8, 7, 7, 5], [64, 49, 5], "0,1,2>0 3,4>1 5>2"),
        ([1, 1, 28, 28], [1, 784], "0>0 1,2,3>1"),
        ([5, 1, 1], [5], "0,1,2>0"),
        ([196, 5], [1, 196, 5], ">0 0>1 1>2"),
        ([4, 6], [6, 4], "0,1>0,1"),
        ([2, 1, 3], [6], "0,1,2>0"),
        ([1, 1], [1], "0,1>0"),
        ([], [1, 1], ">0 >1"),
        ([0, 4], [4, 0], ""),
        ([2, 4], [2, 5], ""),
    ],
)
def test_the_axes_are_grouped_as_finely_as_their_products_allow(data: list[int], output: list[int], expected: str) -> None:
    found = " ".join(f"{','.join(map(str, group.data))}>{','.join(map(str, group.output))}" for group in groups(data, output))
    assert found == expected


def test_a_new_axis_of_size_1_may_belong_to_the_group_behind_it() -> None:
    assert groups([196, 5], [1, 196, 5], ones_grow=True) == [([0], [0, 1]), ([1], [2])]


@pytest.mark.parametrize(
    ("before", "data", "output", "expected"),
    [
        (([1, 196, 256], [1, 196, 2, 128]), [1, 784, 256], [1, 784, 2, 128], False),
        (([1, 196, 256], [1, 196, 2, 128]), [1, 784, 256], [1, 196, 2, 512], True),  # the -1 took up the tokens
        (([1, 196, 8], [1, 14, 14, 8]), [1, 784, 8], [4, 14, 14, 8], True),  # the -1 took them into the batch
        (([1, 8, 8, 7, 7, 5], [64, 49, 5]), [1, 16, 16, 7, 7, 5], [256, 49, 5], False),  # more windows of the same size
        (([196, 5], [1, 196, 5]), [784, 5], [4, 196, 5], True),
    ],
)
def test_a_reshape_mixes_axes_where_a_group_has_other_elements(
    before: tuple[list[int], list[int]], data: list[int], output: list[int], expected: bool
) -> None:
    assert mixes(Reshaping(*before), Reshaping(data, output), ones_grow=False) is expected


@pytest.mark.parametrize(
    ("before", "data", "batch", "expected"),
    [
        (([1, 196, 256], [1, 196, 2, 128]), [1, 784, 256], 1, {0: 1, 1: 784, 2: 2, 3: 128}),
        (([1, 196, 8], [1, 14, 14, 8]), [1, 256, 8], 1, {0: 1, 1: 16, 2: 16, 3: 8}),
        (([1, 196, 8], [1, 14, 14, 8]), [1, 200, 8], 1, {0: 1, 3: 8}),  # 200 is no square
        (([1, 56, 8], [1, 8, 7, 8]), [1, 112, 8], 1, {0: 1, 3: 8}),  # 8 windows or 7 of their rows: not clear
        (([1, 196, 8], [196, 8]), [2, 196, 8], 2, {0: 392, 1: 8}),
        (([196, 8], [1, 196, 8]), [392, 8], 2, {0: 2, 1: 196, 2: 8}),
    ],
)
def test_the_sizes_for_other_data(before: tuple[list[int], list[int]], data: list[int], batch: int, expected: dict[int, int]) -> None:
    assert resized(Reshaping(*before), data, {}, ones_grow=batch > 1, batch=batch) == expected


def test_a_size_that_is_known_to_change_makes_a_group_clear() -> None:
    before = Reshaping([1, 56, 8], [1, 8, 7, 8])
    assert resized(before, [1, 112, 8], {8: 16}, ones_grow=False) == {0: 1, 1: 16, 2: 7, 3: 8}
