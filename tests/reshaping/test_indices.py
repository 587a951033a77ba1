"""Indices that are computed from the size of the batch: `mask[arange(N), i]` keeps samples apart, other indices do not."""

from collections.abc import Callable

import numpy as np
import pytest

import irshape
from tests.support.ir import Net, Ref

LENGTH = 5
Index = Callable[[Net, Ref, Ref], Ref]


def integer(net: Net, type: str, inputs: list[Ref], **attributes: object) -> Ref:
    return net.layer(type, inputs, ["I64"], **attributes)[0]


def along(net: Net, row: Ref, axis: int) -> Ref:
    """A row of numbers along one axis of two."""
    return integer(net, "Unsqueeze", [row, net.const(1 - axis)])


def times(net: Net, a: Ref, number: int) -> Ref:
    return integer(net, "Multiply", [a, net.const(number)])


def plus(net: Net, a: Ref, b: Ref) -> Ref:
    return integer(net, "Add", [a, b])


def gathered(index: Index) -> Net:
    """Elements of f32[1,5] by indices into its rows as one; `index` makes them of the numbers of the samples and of the places."""
    net = Net()
    x = net.parameter(f"f32[1,{LENGTH}]")
    shape = net.layer("ShapeOf", [x], ["I64"], "opset3", output_type="i64")[0]
    count = integer(net, "Gather", [shape, net.const(0), net.const(0)], version="opset8", batch_dims=0)
    numbers = net.layer("Range", [net.const(0), count, net.const(1)], ["I64"], "opset4", output_type="i64")[0]
    flat = net.layer("Reshape", [x, net.const([-1])], ["FP32"], special_zero=False)[0]
    indices = index(net, along(net, numbers, 0), along(net, net.const(list(range(LENGTH))), 1))
    net.result(net.layer("Gather", [flat, indices, net.const(0)], ["FP32"], "opset8", batch_dims=0)[0])
    return net


KEPT: dict[str, Index] = {
    "all places": lambda net, n, s: plus(net, times(net, n, LENGTH), s),
    "the place first": lambda net, n, s: plus(net, s, times(net, n, LENGTH)),
    "one place": lambda net, n, s: plus(net, times(net, n, LENGTH), net.const([[2]])),
    "the last place": lambda net, n, s: plus(net, times(net, n, LENGTH), net.const([[LENGTH - 1]])),
    "in two steps": lambda net, n, s: plus(net, plus(net, times(net, n, 2), times(net, n, LENGTH - 2)), s),
}
MIXED: dict[str, Index] = {
    "the next sample from the last place on": lambda net, n, s: plus(net, plus(net, times(net, n, LENGTH), s), net.const(1)),
    "the sample before": lambda net, n, s: plus(net, plus(net, times(net, n, LENGTH), s), net.const(-1)),
    "places of one sample for all": lambda net, n, s: plus(net, n, s),
    "every other sample": lambda net, n, s: plus(net, times(net, n, 2 * LENGTH), s),
    "samples in reverse": lambda net, n, s: plus(net, times(net, n, -LENGTH), s),
    "places in reverse": lambda net, n, s: integer(net, "Subtract", [times(net, n, LENGTH), s]),
    "the square of the number": lambda net, n, s: integer(net, "Multiply", [n, n]),
    "places two apart": lambda net, n, s: plus(net, times(net, n, LENGTH), times(net, s, 2)),
}


def granted(net: Net) -> irshape.Inference:
    return irshape.reshape(irshape.read(net.xml.encode()), weights=net.bin, batch="N", rewrite=True)


@pytest.mark.oracle
@pytest.mark.parametrize("name", KEPT)
def test_each_sample_keeps_its_own_elements(name: str) -> None:
    import openvino

    net = gathered(KEPT[name])
    found = granted(net)
    assert [one.message for one in found.diagnostics if one.severity == "error"] == []
    core = openvino.Core()
    weights = openvino.Tensor(np.frombuffer(net.bin, np.uint8).copy())
    new, old = (core.compile_model(core.read_model(xml, weights), "CPU") for xml in (found.xml(), net.xml.encode()))
    x = np.arange(4 * LENGTH, dtype=np.float32).reshape(4, LENGTH)
    np.testing.assert_array_equal(new([x])[0], np.concatenate([old([one[None]])[0] for one in x]))


@pytest.mark.parametrize("name", MIXED)
def test_indices_that_leave_a_sample_are_refused(name: str) -> None:
    codes = {one.code for one in granted(gathered(MIXED[name])).diagnostics if one.severity == "error"}
    assert codes == {"P110"}


def folded(*, even: bool, summed: bool) -> Net:
    """Three rows of each sample, f32[3*N,2], to which as many equal numbers are added, or else numbers that count."""
    net = Net()
    rows = net.layer("Reshape", [net.parameter("f32[1,3,2]"), net.const([-1, 2])], ["FP32"], special_zero=False)[0]
    shape = net.layer("ShapeOf", [rows], ["I64"], "opset3", output_type="i64")[0]
    if even:
        more = net.layer("Broadcast", [net.const(0.5, "f32"), shape], ["FP32"], "opset3", mode="numpy")[0]
    else:
        count = integer(net, "Gather", [shape, net.const(0), net.const(0)], version="opset8", batch_dims=0)
        row = net.layer("Range", [net.const(0), count, net.const(1)], ["FP32"], "opset4", output_type="f32")[0]
        more = net.layer("Unsqueeze", [row, net.const(1)], ["FP32"])[0]
    total = net.layer("Add", [rows, more], ["FP32"])[0]
    if summed:
        net.result(net.layer("ReduceSum", [more, net.const([0])], ["FP32"], keep_dims=False)[0])
    net.result(net.layer("Reshape", [total, net.const([-1, 3, 2])], ["FP32"], special_zero=False)[0])
    return net


def test_equal_rows_belong_to_every_sample() -> None:
    found = granted(folded(even=True, summed=False))
    assert [one.message for one in found.diagnostics if one.severity == "error"] == []


@pytest.mark.parametrize(("even", "summed"), [(False, False), (True, True)])
def test_rows_that_differ_or_are_summed_are_refused(even: bool, summed: bool) -> None:
    codes = {one.code for one in granted(folded(even=even, summed=summed)).diagnostics if one.severity == "error"}
    assert codes == {"P110"}
