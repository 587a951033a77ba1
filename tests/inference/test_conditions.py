"""What is listed says the same as what was demanded, in fewer words."""

import pytest

import irshape
from irshape import verbs
from irshape.inference.conditions import conditions
from irshape.inference.run import Guard
from irshape.shape.dim import Size
from irshape.shape.guard import Requirement
from irshape.shape.limits import Work
from tests.shape.random_sizes import RandomSizes
from tests.support.ir import Net

NOWHERE = next(iter(verbs.read(b"<layer type='Parameter' version='opset1'/>")))


def guard(kind: str, a: Size, b: Size) -> Guard:
    return Guard(NOWHERE, Requirement(kind, a, b, "{a} and {b}", "S201", {}))


@pytest.mark.parametrize("block", range(6))
def test_conditions_say_the_same(block: int) -> None:
    for seed in range(60 * block, 60 * (block + 1)):
        sizes = RandomSizes(seed)
        random = sizes.random
        demanded = []
        for _ in range(random.randint(2, 5)):
            kind = random.choice(["ge", "ge", "eq", "div", "broadcast"])
            (_, a), (_, b) = sizes.expression(random.randint(1, 3)), sizes.expression(random.randint(0, 2))
            demanded.append(guard(kind, a, random.randint(1, 6) if kind == "div" else b))
        listed, unfinished = conditions(demanded, Work(10**6))
        assert unfinished is None
        for _ in range(30):
            values = sizes.values()
            assert all(one.requirement.holds(values) for one in demanded) == all(one.requirement.holds(values) for one in listed), (
                [str(one.requirement) for one in demanded], [str(one.requirement) for one in listed], values,
            )  # fmt: skip


def joined(axis: int, *, halves: int) -> Net:
    """`x[N,H]` halved so often by pools and doubled again, joined with itself."""
    net = Net()
    x = net.parameter("f32[?,3,?]")
    small = x
    for _ in range(halves):
        pool = {"strides": 2, "kernel": 2, "pads_begin": 0, "pads_end": 0, "rounding_type": "floor"}
        small = net.layer("MaxPool", [small], ["FP32"], **pool)[0]
    doubled = net.layer("Tile", [small, net.const([1, 1, 2**halves])], ["FP32"])[0]
    for _ in range(2):
        doubled = net.layer("Concat", [doubled, x], ["FP32"], axis=axis)[0]
    net.result(doubled)
    return net


def test_the_strongest_stand_for_all() -> None:
    net = joined(1, halves=3)
    inference = irshape.infer(net.xml.encode(), inputs={"parameter_0": "[N,3,H]"}, weights=net.bin)
    assert [str(one.requirement) for one in inference.guards] == ["N >= 1", "H >= 8", "H % 8 == 0"]
    assert [one.more for one in inference.guards] == [2, 0, 0]
    assert inference.guards[2].node.type == "Concat"


def test_what_data_decide_comes_last() -> None:
    net = Net()
    x, data = net.parameter("f32[4,?]"), net.parameter("f32[9]")
    indices = net.layer("NonZero", [data], ["I64"], "opset3", output_type="i64")[0]
    found = net.layer("Convert", [indices], ["FP32"], destination_type="f32")[0]
    net.result(net.layer("Concat", [found, net.const([[1.0, 2.0]], "f32")], ["FP32"], axis=0)[0])
    net.result(net.layer("Concat", [x, net.const([[1.0, 2.0]], "f32")], ["FP32"], axis=0)[0])
    inference = irshape.infer(net.xml.encode(), inputs={"parameter_0": "[4,W]"}, weights=net.bin)
    assert [str(one.requirement) for one in inference.guards] == ["W == 2", "nonzero == 2"]
