"""Sizes of a tensor that movement operations pass on to the shape of another."""

from collections.abc import Callable
from typing import Any

import pytest

import irshape
from tests.support.ir import Net, Ref
from tests.support.rows import contains

Build = Callable[[Net, Ref], Ref]


def through(type: str, version: str, *others: Any, position: int = 0, output: int = 0, outputs: int = 1, **attributes: Any) -> Build:
    """An op on the sizes of a tensor, which are its input at `position`; the others are constants."""

    def build(net: Net, sizes: Ref) -> Ref:
        refs = [net.const(other) for other in others]
        refs.insert(position, sizes)
        return net.layer(type, refs, ["I64"] * outputs, version, **attributes)[output]

    return build


# What becomes of [2..4,5,?] where its sizes go through an op and are the shape of another tensor.
VALUES: list[tuple[str, Build, str]] = [
    ("Concat", through("Concat", "opset1", [7], position=1, axis=0), "[7,2..4,5,?]"),
    ("Split", through("Split", "opset1", 0, num_splits=3, outputs=3, output=1), "[5]"),
    ("VariadicSplit", through("VariadicSplit", "opset1", 0, [1, -1], outputs=2, output=1), "[5,?]"),
    ("Slice", through("Slice", "opset8", [-1], [-9], [-2]), "[?,2..4]"),
    ("StridedSlice", through("StridedSlice", "opset1", [0], [2], begin_mask=[1]), "[2..4,5]"),
    ("Gather", through("Gather", "opset8", [1, 0, -3], 0), "[5,2..4,2..4]"),
    ("Transpose", through("Transpose", "opset1", [0]), "[2..4,5,?]"),
    ("Tile", through("Tile", "opset1", [2]), "[2..4,5,?,2..4,5,?]"),
    ("Pad", through("Pad", "opset12", [1], [-1], 9), "[9,2..4,5]"),
    ("ScatterUpdate", through("ScatterUpdate", "opset3", [2, 0], [8, 9], 0), "[9,5,8]"),
    ("ScatterElementsUpdate", through("ScatterElementsUpdate", "opset3", [-1], [8], 0), "[2..4,5,8]"),
    ("ScatterNDUpdate", through("ScatterNDUpdate", "opset4", [[1], [2]], [8, 9]), "[2..4,8,9]"),
]


def net_of(build: Build) -> Net:
    """A net whose last layer but one has the values for its shape."""
    net = Net()
    sizes = net.layer("ShapeOf", [net.parameter("f32[2..4,5,?]")], ["I64"], "opset3", output_type="i64")[0]
    target = build(net, sizes)
    net.result(net.layer("Broadcast", [net.parameter("f32[]"), target], ["FP32"], "opset3", mode="numpy")[0])
    return net


@pytest.mark.parametrize(("build", "expected"), [pytest.param(row[1], row[2], id=row[0]) for row in VALUES])
def test_values_pass(build: Build, expected: str) -> None:
    """Sizes are followed through the op, known ones and unknown ones alike."""
    net = net_of(build)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok, inference.diagnostics
    assert repr(inference.layer(str(len(net.layers) - 2)).outputs[0]) == f"f32{expected}"


@pytest.mark.oracle
@pytest.mark.parametrize(("build", "expected"), [pytest.param(row[1], row[2], id=row[0]) for row in VALUES])
def test_values_pass_in_openvino(build: Build, expected: str) -> None:
    """OpenVINO infers the same or a looser shape."""
    import openvino

    net = net_of(build)
    shape = openvino.Core().read_model(net.xml.encode(), net.bin).outputs[0].get_partial_shape()
    assert contains(shape, openvino.PartialShape(expected)), f"OpenVINO infers {shape}"
