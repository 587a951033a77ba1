"""Indices that are computed from the size of the batch: `mask[arange(N), i]` keeps samples apart, other indices do not."""

import numpy as np
import pytest

import irshape
from tests.support.ir import Net

# Elements of f32[1,5] by indices into its rows as one, made of the numbers of the samples _n and of the places _s.
GATHERED = """
    _x: f32[1,5]
    ShapeOf-3(_x, output_type=i64) -> Gather-8(0, 0) -> Range-4(0, _, 1, output_type=i64) -> _n: Unsqueeze([1])
    _s: i64=[[0,1,2,3,4]]
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
}
MIXED = {
    "the next sample from the last place on": "Add(Add(Multiply(_n, 5), _s), 1)",
    "the sample before": "Add(Add(Multiply(_n, 5), _s), -1)",
    "places of one sample for all": "Add(_n, _s)",
    "every other sample": "Add(Multiply(_n, 10), _s)",
    "samples in reverse": "Add(Multiply(_n, -5), _s)",
    "places in reverse": "Subtract(Multiply(_n, 5), _s)",
    "the square of the number": "Multiply(_n, _n)",
    "places two apart": "Add(Multiply(_n, 5), Multiply(_s, 2))",
}


def granted(net: Net) -> irshape.Inference:
    return irshape.reshape(irshape.read(net.xml.encode()), weights=net.bin, batch="N", rewrite=True)


@pytest.mark.oracle
@pytest.mark.parametrize("name", KEPT)
def test_each_sample_keeps_its_own_elements(name: str) -> None:
    import openvino

    net = Net(GATHERED.format(KEPT[name]))
    found = granted(net)
    assert [one.message for one in found.diagnostics if one.severity == "error"] == []
    core = openvino.Core()
    weights = openvino.Tensor(np.frombuffer(net.bin, np.uint8).copy())
    new, old = (core.compile_model(core.read_model(xml, weights), "CPU") for xml in (found.xml(), net.xml.encode()))
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    np.testing.assert_array_equal(new([x])[0], np.concatenate([old([one[None]])[0] for one in x]))


@pytest.mark.parametrize("name", MIXED)
def test_indices_that_leave_a_sample_are_refused(name: str) -> None:
    codes = {one.code for one in granted(Net(GATHERED.format(MIXED[name]))).diagnostics if one.severity == "error"}
    assert codes == {"P110"}


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
    found = granted(Net(FOLDED.format(EVEN)))
    assert [one.message for one in found.diagnostics if one.severity == "error"] == []


@pytest.mark.parametrize("net", [FOLDED.format(COUNTING), f"{FOLDED.format(EVEN)}\nReduceSum(_more, [0], keep_dims=false) -> Result"])
def test_rows_that_differ_or_are_summed_are_refused(net: str) -> None:
    codes = {one.code for one in granted(Net(net)).diagnostics if one.severity == "error"}
    assert codes == {"P110"}
