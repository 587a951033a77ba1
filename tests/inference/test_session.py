"""Sessions: one shape after the other, and nothing that goes wrong stays."""

import pytest

import irshape
from tests.support.ir import Net

# A SpaceToDepth and a Reshape that takes up its batch, on two inputs.
NET = Net("""
    f32[1,3,8,8] -> SpaceToDepth(block_size=2) -> Reshape([12,-1], special_zero=false) -> Result
    f32[?,5] -> ReLU -> Result
""")


@pytest.fixture
def session() -> irshape.Session:
    return irshape.Session(NET.xml.encode(), weights=NET.bin)


def shown(inference: irshape.Inference) -> list[str]:
    """The inputs and outputs."""
    model = inference.model
    return [inference.layer(node.id).outputs[0].text for node in model.parameters] + [
        inference.layer(node.id).inputs[0].text for node in model.results
    ]


def test_inputs_that_are_not_named_keep_their_shapes(session: irshape.Session) -> None:
    assert shown(session.infer()) == ["[1,3,8,8]", "[?,5]", "[12,16]", "[?,5]"]
    assert shown(session.reshape(parameter_0="[2,3,8,8]")) == ["[2,3,8,8]", "[?,5]", "[12,32]", "[?,5]"]
    assert shown(session.reshape({"parameter_5": "[7,5]"})) == ["[2,3,8,8]", "[7,5]", "[12,32]", "[7,5]"]
    assert shown(session.infer()) == ["[2,3,8,8]", "[7,5]", "[12,32]", "[7,5]"]


def test_an_answer_stays_as_it_was(session: irshape.Session) -> None:
    before = session.infer()
    session.reshape(parameter_0="[2,3,8,8]")
    session.reshape(parameter_0="[3,3,8,8]", parameter_5="[N,5]")
    assert shown(before) == ["[1,3,8,8]", "[?,5]", "[12,16]", "[?,5]"]
    assert b'shape="1,3,8,8"' in before.xml()


def test_what_fails_changes_nothing(session: irshape.Session) -> None:
    session.reshape(parameter_5="[N,5]")
    before = session.infer().to_dict()
    failed = session.reshape(parameter_0="[1,3,9,8]")
    assert [found.code for found in failed.diagnostics] == ["S204"]
    with pytest.raises(irshape.InputError, match="no input 'parameter_7'"):
        session.reshape(parameter_7="[1]")
    with pytest.raises(irshape.InputError, match="never closed"):
        session.reshape(parameter_0="[1")
    with pytest.raises(irshape.InputError, match="the model has no symbol 'H'; it has N"):
        session.reshape(parameter_0="[1,3,8,8]", symbols={"H": "1..2"})
    assert session.infer().to_dict() == before


def test_a_symbol_may_be_given_another_range(session: irshape.Session) -> None:
    assert shown(session.reshape(parameter_0="[N,3,8,8]", symbols={"N": "1..4"}))[2] == "[12,16..64]"
    assert shown(session.reshape(parameter_0="[N,3,8,8]", symbols={"N": "2..8"}))[2] == "[12,32..128]"
    assert session.infer()["spacetodepth_1"].outputs[0].formula == "[N,12,4,4]"


def test_every_answer_is_that_of_a_run_of_its_own(session: irshape.Session) -> None:
    for shape in ("[2,3,8,8]", "[N,3,8,8]", "[1,3,?,8]", "[1,3,9,8]", "[2,3,8,8]"):
        ours = session.reshape(parameter_0=shape)
        alone = irshape.infer(NET.xml.encode(), inputs={"parameter_0": shape}, weights=NET.bin)
        assert (ours.ok, shown(ours)) == (alone.ok, shown(alone))


def test_only_what_changes_is_worked_out_anew(session: irshape.Session, asked: list[str]) -> None:
    session.infer()
    asked.clear()
    session.reshape(parameter_0="[2,3,8,8]")
    assert asked == ["SpaceToDepth", "Reshape", "Result"]
    asked.clear()
    session.reshape(parameter_0="[1,3,8,8]")
    assert asked == []


def test_a_session_keeps_no_sizes_of_an_opaque_operation() -> None:
    """Neither the first pass for other inputs nor a plan takes the recorded sizes, and those of the file are there again for its inputs."""
    session = irshape.Session("examples/extension.xml", opaque=["PatchEmbed"])
    shapes = []
    for size in (224, 256, 288, 320, 224, 352):
        inference = session.reshape(image=f"[1,3,{size},{size}]")
        shapes.append(repr(inference["patches"].inputs[0]))
    assert shapes == ["f32[1,196,768]", "f32[?,?,?]", "f32[?,?,?]", "f32[?,?,?]", "f32[1,196,768]", "f32[?,?,?]"]


def test_a_session_loads_extensions() -> None:
    session = irshape.Session("examples/extension.xml", extensions="examples/patches.toml")
    shapes = [repr(session.reshape(image=f"[1,3,{size},{size}]")["patches"].inputs[0]) for size in (224, 256, 288, 320)]
    assert shapes == ["f32[1,196,768]", "f32[1,256,768]", "f32[1,324,768]", "f32[1,400,768]"]
