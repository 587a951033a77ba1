"""The names of inputs and outputs in IR version 10."""

import re
import struct
from random import Random

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core

NETS = 250
FEW = ["a", "b", "c", "s", "s.0", "s.1", "d", "e"]
MANY = [*FEW[:3], *(f"n{number}" for number in range(14))]


def net(random: Random) -> str:
    """A net of inputs, ReLUs, perhaps a TopK, and Results, with random names of layers and tensors."""
    names, made = random.choice((FEW, MANY)), Net(version=10)
    outputs = [made.parameter("f32[2,4]") for _ in range(random.randint(1, 2))]
    for _ in range(random.randint(0, 3)):
        outputs += made.layer("ReLU", [random.choice(outputs)], ["FP32"])
    if random.random() < 0.5:
        read = [random.choice(outputs), made.const(1)]
        attributes = {"axis": 0, "mode": "max", "sort": "value", "index_element_type": "i32"}
        outputs += made.layer("TopK", read, ["FP32", "I32"], "opset3", **attributes)
    for _ in range(random.randint(1, 3)):
        made.result(random.choice(outputs))

    def named(found: re.Match[str]) -> str:
        return re.sub("/>", lambda _: f' names="{",".join(random.sample(names, random.choice((0, 0, 1, 2))))}"/>', found[0])

    xml = re.sub(r'(?<=<layer id="\d" name=")[^"]*|(?<=<layer id="\d\d" name=")[^"]*', lambda _: random.choice(names), made.xml)
    return re.sub("<output>.*?</output>", named, xml, flags=re.DOTALL)


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_random_names() -> None:
    """What irshape refuses, OpenVINO refuses; of what OpenVINO refuses, irshape may pass over tensors whose names OpenVINO changes."""
    random = Random(5)
    weights = struct.pack("<q", 1)
    refused = missed = 0
    for _ in range(NETS):
        text = net(random)
        try:
            core("opset1").read_model(text.encode(), weights)
            is_read = True
        except RuntimeError as error:
            assert "collisions" in str(error)
            is_read = False
        codes = {one.code for one in irshape.infer(text.encode(), weights=weights).diagnostics if one.severity == "error"}
        assert codes == ({"G120"} if codes else set())
        assert not (is_read and codes), text
        refused += not is_read
        missed += not (is_read or codes)
        assert "G120" not in {one.code for one in irshape.infer(text.replace('"10"', '"11"', 1).encode(), weights=weights).diagnostics}
    assert refused > NETS // 4
    assert missed <= refused // 50
