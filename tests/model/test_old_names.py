"""The names of inputs and outputs in IR version 10."""

import struct
from random import Random

import pytest

import irshape
from tests.support.oracle import core

NETS = 250
FEW = ["a", "b", "c", "s", "s.0", "s.1", "d", "e"]
MANY = [*FEW[:3], *(f"n{number}" for number in range(14))]


def net(random: Random) -> str:
    """A net of inputs, ReLUs, perhaps a TopK, and Results, with random names of layers and tensors."""
    names = random.choice((FEW, MANY))
    layers: list[str] = []
    edges: list[tuple[int, int, int, int]] = []
    outputs: list[tuple[int, int]] = []

    def port(id: int, precision: str = "FP32") -> str:
        tensors = ",".join(random.sample(names, random.choice((0, 0, 1, 2))))
        return f'<port id="{id}" precision="{precision}" names="{tensors}"/>'

    def layer(type: str, version: str, data: str, inputs: list[tuple[int, int]], ports: dict[int, str]) -> int:
        id = len(layers)
        read = "".join(f'<port id="{i}" precision="FP32"/>' for i in range(len(inputs)))
        made = "".join(port(i, precision) for i, precision in ports.items())
        layers.append(
            f'<layer id="{id}" name="{random.choice(names)}" type="{type}" version="{version}"><data {data}/>'
            f"<input>{read}</input><output>{made}</output></layer>"
        )
        edges.extend((*source, id, i) for i, source in enumerate(inputs))
        return id

    for _ in range(random.randint(1, 2)):
        outputs.append((layer("Parameter", "opset1", 'shape="2,4" element_type="f32"', [], {0: "FP32"}), 0))
    for _ in range(random.randint(0, 3)):
        outputs.append((layer("ReLU", "opset1", "", [random.choice(outputs)], {1: "FP32"}), 1))
    if random.random() < 0.5:
        count = (layer("Const", "opset1", 'element_type="i64" shape="" offset="0" size="8"', [], {0: "I64"}), 0)
        data = 'axis="0" mode="max" sort="value" index_element_type="i32"'
        top = layer("TopK", "opset3", data, [random.choice(outputs), count], {2: "FP32", 3: "I32"})
        outputs += [(top, 2), (top, 3)]
    for _ in range(random.randint(1, 3)):
        layer("Result", "opset1", "", [random.choice(outputs)], {})
    ends = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    return f'<net name="net" version="10"><layers>{"".join(layers)}</layers><edges>{ends}</edges></net>'


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
