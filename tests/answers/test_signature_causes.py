"""The layers that a signature names for a condition are those that make it, together if need be."""

import pytest

import irshape
from tests.support.ir import Net


def halved(stride: int, kernel: int = 1) -> str:
    return f"MaxPool(strides={stride}, pads_begin=0, pads_end=0, kernel={kernel}, rounding_type=floor)"


def pyramid(least: int) -> irshape.Signature:
    """A pyramid of three levels, whose sizes two layers compare, and a window of `least` elements."""
    net = Net(f"x: f32[1,1,?]\nx -> {halved(1, least)} -> Result")
    net.add("\n".join(f"x -> _{stride}: {halved(stride)}" for stride in (8, 16, 32)))
    for large, small in ((8, 16), (16, 32)):
        net.add(f"_{small}, _{small} -> Concat(axis=2) -> Concat(_{large}, _, axis=1) -> Result")
    return irshape.signature(net.xml.encode(), weights=net.bin)


@pytest.mark.parametrize(
    ("least", "text", "types"),
    [
        (20, "L >= 25 and (L % 32 == 0 or L % 32 >= 25)", ["Concat", "Concat"]),
        (25, "L >= 25 and (L % 32 == 0 or L % 32 >= 25)", ["Concat", "Concat"]),
        (60, "L >= 60 and (L % 32 == 0 or L % 32 >= 25)", ["MaxPool", "Concat", "Concat"]),
    ],
)
def test_the_layers_that_make_a_condition(least: int, text: str, types: list[str]) -> None:
    [condition] = pyramid(least).conditions
    assert (condition.text, [guard.node.type for guard in condition.guards]) == (text, types)


def test_of_layers_that_bound_a_size_alike_the_first_is_named() -> None:
    windows = "".join(f"x -> first{i}: {halved(1, 25)} -> Result\n" for i in range(3))
    net = Net(f"x: f32[1,1,?]\n{windows}x -> Slice-8([0], [3], [1], [2]) -> Result")
    [condition] = irshape.signature(net.xml.encode(), weights=net.bin).conditions
    assert (condition.text, [guard.node.name for guard in condition.guards]) == ("L >= 25", ["first0"])
