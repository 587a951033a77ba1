"""The notation in which tests write nets."""

import pytest

import irshape
from tests.support.ir import Net


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("x: f32[?,4] -> ReLU -> Result", "f32[?,4] f32[?,4]"),
        ("x: f32[?,4] -> Reshape([0,2,-1], special_zero=true)", "f32[?,4] i64[3] f32[?,2,2]"),
        ("x: f32[2,4]\nReLU(x), x -> Concat(axis=0)\n-> ReLU", "f32[2,4] f32[2,4] f32[4,4] f32[4,4]"),
        ("x: f32[2,4]\nGather-8(f32=0[9,4], Convert(x, destination_type=i64), 0)", "f32[2,4] f32[9,4] i64[2,4] i64[] f32[2,4,4]"),
        ("x: f32[2] -> Power(f32=3.0, _)", "f32[2] f32[] f32[2]"),
        ("x: f32[2,4] -> t: TopK-11(3, axis=1, mode=max, sort=value) f32 i32\nt.1 -> ReLU", "f32[2,4] i64[] f32[2,3] i32[2,3] i32[2,3]"),
        ("f32[2,4] -> VariadicSplit(-1, [1,3]) f32 f32", "f32[2,4] i64[] i64[2] f32[2,1] f32[2,3]"),
    ],
)
def test_a_text_is_a_net(text: str, ports: str) -> None:
    """Element types and shapes of all ports in their order."""
    net = Net(text)
    found = irshape.infer(net.xml.encode(), weights=net.bin).ports.values()
    assert " ".join(map("".join, found)) == ports
