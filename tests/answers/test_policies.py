"""A policy names each cause once."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import irshape
from irshape.answers.policies import MAX_RANK, POLICIES
from irshape.report.diagnostic import Diagnostic
from tests.answers.test_info import selecting
from tests.support.ir import Net
from tests.support.places import EXAMPLES, ROOT


def chain(fact: str, length: int = 5) -> Net:
    """An input and layers that keep its shape."""
    return Net(f"{fact}{' -> ReLU' * length} -> Result")


def check(net: Net, *targets: str, **inputs: str) -> Sequence[Diagnostic]:
    return irshape.check(net.xml.encode(), weights=net.bin, inputs=inputs, targets=targets).diagnostics


def codes(net: Net, *targets: str, **inputs: str) -> list[tuple[str, str | None]]:
    return [(one.code, one.where.layer_name) for one in check(net, *targets, **inputs)]


@pytest.mark.parametrize(
    ("fact", "target", "message"),
    [
        ("f32[?,3]", "static-shapes", "P101 B, the size of axis 0 of input 'parameter_0', is not fixed; 6 ports depend on B"),
        (
            "f32[2,1..8]",
            "static-shapes",
            "P101 T, the size of axis 1 of input 'parameter_0', is not fixed (the model accepts 1..8); 6 ports depend on T",
        ),
        (
            "f32[2,3..]",
            "bounded",
            "P102 T, the size of axis 1 of input 'parameter_0', has no upper bound (the model accepts 3..); 6 ports depend on T",
        ),
        (
            "f32[2,3..]",
            "npu",
            "P102 T, the size of axis 1 of input 'parameter_0', has no upper bound (the model accepts 3..); 6 ports depend on T",
        ),
        ("f32[...]", "bounded", "P103 the rank is not known from this layer on; 6 ports depend on this rank"),
        ("f32[...]", "ranked", "P103 the rank is not known from this layer on; 6 ports depend on this rank"),
        ("f32[1,1,1]", "max-rank=2", "P104 the output has rank 3, but the target allows 2; 6 ports depend on this rank"),
        ("f32[2,3]", "static-shapes", None),
        ("f32[2,1..8]", "npu", None),
        ("f32[2,?]", "ranked", None),
        ("f32[1,1,1]", "max-rank=3", None),
    ],
)
def test_the_root_is_named_once(fact: str, target: str, message: str | None) -> None:
    found = check(chain(fact), target)
    assert [f"{one.code} {one.message}" for one in found] == ([f"{message} (target {target})"] if message else [])
    assert all(one.severity == "error" and one.where.line for one in found)


@pytest.mark.parametrize(("file", "symbol"), [("decoder", "P"), ("decoder", "S"), ("decoder_stateful", "P")])
def test_the_ports_and_axes_of_a_symbol_are_those_in_whose_formula_it_stands(file: str, symbol: str) -> None:
    path = EXAMPLES / f"{file}.xml"
    layers = list(irshape.infer(path))
    ports = sum(symbol in str(port.formula) for layer in layers for port in layer.outputs)
    axes = sum(str(layer.outputs[0].formula).count(symbol) for layer in layers if layer.type == "Parameter")
    [text] = [one.message for one in irshape.check(path, targets=["npu"]).diagnostics if one.message.startswith(f"{symbol}, ")]
    assert f"; {ports} ports depend on {symbol} " in text
    assert (f" and {axes - 1} more ax" in text) == (axes > 1)


def test_several_targets_say_it_once() -> None:
    [found] = check(chain("f32[2,?]"), "npu", "bounded", "npu")
    assert found.message.endswith("(target npu, bounded)")


def test_a_shape_can_be_given() -> None:
    assert codes(chain("f32[?,3]"), "npu", parameter_0="[1..4,3]") == []
    assert codes(chain("f32[?,3]"), "static-shapes", parameter_0="[1..4,3]") == [("P101", "parameter_0")]
    assert codes(chain("f32[?,3]"), "static-shapes", parameter_0="[1,3]") == []


def test_what_data_decides_is_named_at_its_layer() -> None:
    assert codes(selecting(), "static-shapes") == [("P101", "x"), ("P101", "x"), ("P101", "places")]
    assert codes(selecting(), "bounded", x="[1,3,1..16]") == []
    assert codes(selecting(), "static-shapes", x="[1,3,16]") == [("P101", "places")]
    hints = ("the sizes of the inputs decide this size, too: set them", "no size of an input decides this size; replace the layer")
    for target, hint in zip(("bounded", "static-shapes"), hints, strict=True):
        assert check(selecting(), target)[-1].hint == hint


def test_a_hint_is_a_size_that_would_do() -> None:
    net = chain("f32[2,?,1..8]")
    [found] = check(net, "npu")
    assert found.hint == "set T, as in --set T=1..512"
    assert codes(net, "npu", parameter_0="[2,1..512,1..8]") == []


@pytest.mark.parametrize(("net", "target", "sizes"), [
    ("f32[1,3,?,8] -> SpaceToDepth(block_size=2, mode=blocks_first) -> Result", "npu", "2..512"),
    ("f32[1,3,7,?] -> SpaceToDepth(block_size=7, mode=blocks_first) -> Result", "npu", "7..511"),
    ("f32[?,4] -> Slice-8([0], [15], [1], [0]) -> Reshape([15,4], special_zero=false) -> Result", "npu", "15"),
    ("f32[?,4] -> Slice-8([0], [15], [1], [0]) -> Reshape([15,4], special_zero=false) -> Result", "static-shapes", "15"),
    ("f32[?,4] -> Concat(f32[8,4], axis=0) -> Reshape([-1,7,4], special_zero=false) -> Result", "static-shapes", "6"),
])  # fmt: skip
def test_a_hint_is_a_size_that_the_signature_allows(net: str, target: str, sizes: str, tmp_path: Path) -> None:
    path = Net(net).save(tmp_path / "net.xml")
    [name] = irshape.signature(path).symbols
    [found] = irshape.check(path, targets=[target]).diagnostics
    assert found.hint == f"set {name}, as in --set {name}={sizes}"


def test_layers_of_one_type_share_a_fault() -> None:
    net = Net("x: f32[2,3]" + "".join(f"\nx -> Unsqueeze({axis}) -> Result" for axis in range(3)))
    [found] = check(net, "max-rank=2")
    told = "the output has rank 3, but the target allows 2, here and in 2 more Unsqueeze layers"
    assert found.message == f"{told}; 3 ports depend on this rank (target max-rank=2)"


def test_a_rank_that_is_lost_is_not_an_unbounded_size_too() -> None:
    net = Net("ShapeOf-3(f32[...], output_type=i64) -> ReLU -> Result")
    assert codes(net, "npu") == [("P103", "parameter_0")]


def test_every_policy_is_documented() -> None:
    pages = (
        (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"),
        (ROOT / "irshape" / "cli" / "arguments.py").read_text(encoding="utf-8"),
    )
    for name in (*POLICIES, f"{MAX_RANK}=N"):
        assert f"| `{name}` |" in pages[0]
        assert name.replace("=N", "=6") in pages[1]


@pytest.mark.parametrize("target", ["", "gpu", "max-rank", "max-rank=", "max-rank=-1", "max-rank=x", "bounded=1"])
def test_a_target_that_does_not_exist(target: str) -> None:
    with pytest.raises(irshape.InputError, match="static-shapes, bounded, ranked, npu, named-outputs and max-rank=N"):
        check(chain("f32[1]"), target)
