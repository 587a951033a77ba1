"""Proofs of `docs/divergences.md` that are not about a row of one operation."""

import pytest

import irshape
from tests.support.ir import Net


def packed(element_type: str, shape: str, data: bytes) -> Net:
    """A Tile whose repeats are a constant of a type narrower than a byte."""
    net = Net()
    x = net.parameter("f32[1,1]")
    net.weights += data
    attributes = {"element_type": element_type, "shape": shape, "offset": 0, "size": len(data)}
    repeats = net.layer("Const", [], [element_type.upper()], **attributes)[0]
    net.result(net.layer("Tile", [x, repeats], ["FP32"])[0])
    return net


@pytest.mark.oracle
def test_openvino_reads_packed_values_as_bytes() -> None:
    """Two nibbles of 1 repeat nothing; OpenVINO takes their byte, 17, for the first and what follows it for the second."""
    import openvino

    net = packed("u4", "2", b"\x11")
    model = openvino.Core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape()[0].get_length() == 17
    assert [diagnostic.code for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics] == ["T101"]


@pytest.mark.oracle
def test_openvino_takes_a_constant_of_shape_minus_one() -> None:
    """The size it wants of 2^64 - 1 nibbles wraps to less than the two bytes there are."""
    import openvino

    net = Net()
    net.weights += b"\x03\x09"
    net.result(net.layer("Const", [], ["NF4"], element_type="nf4", shape=-1, offset=0, size=2)[0])
    openvino.Core().read_model(net.xml.encode(), net.bin)
    assert [diagnostic.code for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics] == ["A104"]


@pytest.mark.oracle
def test_neither_reads_values_from_strings() -> None:
    import openvino

    net = Net()
    x = net.parameter("f32[2]")
    net.weights += b"\x01\0\0\0" + b"\0\0\0\0" + b"\x01\0\0\0" + b"1"
    axes = net.layer("Const", [], ["STRING"], element_type="string", shape=1, offset=0, size=13)[0]
    net.result(net.layer("Unsqueeze", [x, axes], ["FP32"])[0])
    assert [diagnostic.code for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics] == ["T101"]
    with pytest.raises(RuntimeError, match="Element not supported"):
        openvino.Core().read_model(net.xml.encode(), net.bin)
