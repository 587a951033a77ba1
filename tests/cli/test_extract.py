"""`irshape extract` writes parts, and says what they have at their border."""

from pathlib import Path

import pytest

import irshape
from tests.support.commands import Start

ATROUS = "examples/atrous.xml"


def test_the_backbone_of_a_model(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "backbone.xml")
    printed = run("extract", ATROUS, "--to", "features", "-o", target, code=0).out
    assert "input  image     f32[?,3,?,?]      [B,3,H,W]" in printed and f"written: {target} (17 layers of 18)" in printed
    model = irshape.read(target)
    assert "upsample" not in model and irshape.check(target).diagnostics == []
    assert "already exists (--force overwrites it)" in run("extract", ATROUS, "--to", "features", "-o", target, code=2).err
    run("extract", ATROUS, "--from", "stem/relu", "--to", "features", "-o", target, "--force", code=0)
    assert irshape.read(target).parameters[0].name == "stem/relu"


def test_the_layers_around_one_and_those_of_a_name(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "part.xml")
    run("extract", ATROUS, "--around", "atrous/conv", "--distance", "1", "-o", target, code=0)
    assert {node.type for node in irshape.read(target)} >= {"Convolution", "SpaceToBatch", "ReLU"}
    run("extract", ATROUS, "--layers", "atrous/conv*", "-o", target, "--force", code=0)
    assert [node.name for node in irshape.read(target).of_type("Convolution")] == ["atrous/conv"]


def test_new_inputs_have_the_formulas_of_the_whole(tmp_path: Path, run: Start) -> None:
    """In the whole, the keys of an attention and its mask have as many positions: those of the past and of the new tokens."""
    target = str(tmp_path / "attention.xml")
    printed = [line.split() for line in run("extract", "examples/decoder.xml", "--layers", "*attention*", "-o", target, code=0).lines]
    assert printed[0] == ["NAME", "IS", "FORMULA"]
    assert ["input", "mask/heads", "boolean[?,1,1,?]", "[B,1,1,P", "+", "S]"] in printed
    assert ["output", "attention/joined", "f32[?,?,8]", "[B,S,8]"] in printed
    notes = [(node.name, node.layer.outputs[0].annotation) for node in irshape.read(target)._graph.parameters]
    assert notes == [  # in the order of the inputs of the attention
        ("query/transposed", "[?,2,?,4] as [B,2,S,4]"),
        ("keys", "[?,2,?,4] as [B,2,P + S,4]"),
        ("values", "[?,2,?,4] as [B,2,P + S,4]"),
        ("mask/heads", "[?,1,1,?] as [B,1,1,P + S]"),
    ]
    assert irshape.check(target).diagnostics == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "x"], "no place for the part: give -o OUT.xml"),
        (["-o", "p.xml"], "give one of --from and --to, --around, or --layers"),
        (["-o", "p.xml", "--to", "featurs"], "no tensor 'featurs'; did you mean 'features'?"),
        (["-o", "p.xml", "--around", "stm"], "no layer 'stm'; did you mean 'stem'?"),
        (["-o", "p.xml", "--around", "stem", "--distance", "-1"], "'-1' is not a whole number from 0"),
        (["-o", "p.xml", "--layers", "q*"], "no layer has a name like 'q*'"),
    ],
)
def test_what_cannot_be_is_one_line(arguments: list[str], message: str, run: Start) -> None:
    assert message in run("extract", ATROUS, *arguments, code=2).err
    assert "only a whole IR can be edited" in run("extract", "examples/space_to_batch.xml", "--to", "x", "-o", "p.xml", code=2).err
    assert "nowhere.xml: No such file" in run("extract", "nowhere.xml", "--to", "x", "-o", "p.xml", code=2).err
