"""Premises: conditions that formulas assume and OpenVINO does not check. They are listed, and tighten no input."""

import re

import pytest

import irshape
from tests.support.ir import Net

# Data [N,S,12] reshaped to [N,S,3,-1], with N and S read from the data.
SPLIT_HEADS = Net("""
    _data: f32[?,?,12]
    ShapeOf-3(_data, output_type=i64) -> Slice-8([0], [2], [1]) -> _pattern: Concat([3,-1], axis=0)
    Reshape(_data, _pattern, special_zero=false) -> Result
""")


def inferred(net: Net, shape: str) -> irshape.Inference:
    name, *_ = (node.name for node in irshape.read(net.xml.encode()).parameters)
    return irshape.infer(net.xml.encode(), weights=net.bin, inputs={name: shape})


QUOTIENT = "f32[?] -> ShapeOf-3(output_type=i64) -> {}(_, _) -> Broadcast-3(f32=1.0, _, mode=numpy) -> Result"
TOP = """
    f32[?] -> ShapeOf-3(output_type=i64) -> _k: Squeeze
    _top: TopK-11(f32[4], _k, axis=0, mode=max, sort=value) f32 i32
    _top.0 -> Result
"""


@pytest.mark.parametrize(("net", "shape", "premises"), [
    # The formula cancels N and S; OpenVINO accepts N = 0.
    (SPLIT_HEADS, "[N,S,12]", ["N >= 1", "S >= 1"]),
    # OpenVINO keeps an axis whose size is not 1, so the size is no demand of the model.
    (Net("f32[?,3] -> Squeeze([0]) -> Result"), "[N,3]", ["N == 1"]),
    # `N / N` and `N % N` are formulas without N; with N = 0 there is no such number.
    *((Net(QUOTIENT.format(type)), "[N]", ["N >= 1"]) for type in ("Divide", "FloorMod", "Mod")),
    # OpenVINO infers any `k`; its CPU plugin refuses one beyond the axis when it runs.
    (Net(TOP), "[N]", ["N <= 4"]),
    # OpenVINO infers `?` for 1 and 2, and its CPU plugin fails.
    (Net("f32[?,8] -> Pad-12([-1,0], [-2,0], f32=0) -> Result"), "[N,8]", ["N >= 3"]),
])  # fmt: skip
def test_what_a_formula_assumes_tightens_no_input(net: Net, shape: str, premises: list[str]) -> None:
    inference = inferred(net, shape)
    assert [(str(guard.requirement), guard.is_premise) for guard in inference.guards] == [(one, True) for one in premises]
    assert [guard["is_premise"] for guard in inference.to_dict()["guards"]] == [True] * len(premises)
    (parameter,) = (node for node in inference.model.parameters if "?" in inference[node].outputs[0].text)
    assert inference.to_dict()["ports"][f"{parameter.id}:0"][1] == re.sub("[NS]", "?", shape)


def test_a_size_that_the_formula_cancels() -> None:
    inference = inferred(SPLIT_HEADS, "[N,S,12]")
    (reshape,) = (node for node in inference.model.nodes if node.type == "Reshape")
    assert inference.to_dict()["symbolic"][f"{reshape.id}:2"] == "[N,S,3,4]"


@pytest.mark.parametrize(("shape", "output"), [("[2,5,12]", "[2,5,3,4]"), ("[0,5,12]", "[0,5,3,1]"), ("[2,0,12]", "[2,0,3,1]")])
def test_numbers_need_no_premise(shape: str, output: str) -> None:
    inference = inferred(SPLIT_HEADS, shape)
    (reshape,) = (node for node in inference.model.nodes if node.type == "Reshape")
    assert (inference.to_dict()["ports"][f"{reshape.id}:2"][1], inference.guards) == (output, [])


def test_a_size_that_begins_at_0_although_symbols_do_not_has_a_formula_without_a_premise() -> None:
    """`max(H - 4, 0)` may be 0 for sizes of at least 1, so the formula covers 0."""
    net = Net(f"""
        f32[?,12] -> _cut: Slice-8([4], [{2**31 - 1}], [1], [0])
        ShapeOf-3(_cut, output_type=i64) -> Slice-8([0], [1], [1]) -> _pattern: Concat([-1], axis=0)
        Reshape(_cut, _pattern, special_zero=false) -> Result
    """)
    inference = inferred(net, "[H,12]")
    assert not any(guard.is_premise for guard in inference.guards)


def test_a_premise_that_names_an_input_tightens_nothing() -> None:
    """With special_zero, a size of 0 copies an axis: `max(B, d) >= 1` is a premise, and B and d may be 0 together."""
    # The values of f16 are not followed.
    net = Net("""
        _data: f32[?]
        _own: ShapeOf-3(_data, output_type=i64)
        _size: Convert(Round-5(Convert(_own, destination_type=f16), mode=half_to_even), destination_type=i64)
        Maximum(_size, _own) -> Concat([-1], axis=0) -> made: Reshape(_data, _, special_zero=true) -> Result
    """)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert [guard.is_premise for guard in inference.guards] == [True]
    assert repr(inference["made"].outputs[0]) == "f32[?,?]"
