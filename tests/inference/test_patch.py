"""Constants that a reshape patches: one substitution of sizes, in a copy of the weights."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.answers.signature.session import SymbolSession
from irshape.inference.export import apply_to
from irshape.inference.inference import Inference
from irshape.inference.patch import replaced
from irshape.inference.session import Session
from irshape.shape.limits import DEFAULT
from tests.support.ir import Net, Ref


def pattern(net: Net, ref: Ref, sizes: list[int], element_type: str = "i64") -> Ref:
    """A Reshape with a constant pattern."""
    return net.layer("Reshape", [ref, net.const(sizes, element_type)], ["FP32"], special_zero=False)[0]


def reshaped(net: Net, shape: str, limits: irshape.Limits = DEFAULT, **options: Any) -> Inference:
    model = verbs.read(net.xml.encode(), weights=net.bin, limits=limits)
    return SymbolSession(model).reshape({"parameter_0": shape}, patch_constants=True, **options)


def tokens() -> Net:
    """An image of 14 rows as 196 tokens, then two heads, then an image again; two patterns infer a size by -1."""
    net = Net()
    flat = pattern(net, net.parameter("f32[1,14,14,8]"), [1, 196, 8])
    heads = pattern(net, flat, [1, 196, 2, -1])
    joined = pattern(net, heads, [1, -1, 8])
    net.result(pattern(net, joined, [-1, 14, 14, 8]))
    return net


def refusal(inference: Inference) -> str:
    """The reason why nothing is patched, without lines."""
    assert not inference.ok
    assert not inference.patches
    (note,) = [found for found in inference.diagnostics if found.code == "N109"]
    return re.sub(r" \(line \d+\)", "", note.message.removeprefix("no constant is patched: "))


@pytest.mark.parametrize("side", [16, 28, 10])
def test_a_size_gets_one_new_value_in_all_constants(side: int) -> None:
    """28 makes four times the tokens, which the -1 could take up without any error."""
    inference = reshaped(tokens(), f"[1,{side},{side},8]")
    assert inference.ok
    assert replaced(inference.patches) == {(196, side * side): 2, (14, side): 1}
    shapes = [inference.layer(id).outputs[0].text for id in (2, 4, 6, 8)]
    assert shapes == [f"[1,{side**2},8]", f"[1,{side**2},2,4]", f"[1,{side**2},8]", f"[1,{side},{side},8]"]


def test_a_batch_stays_an_axis_of_its_own() -> None:
    """A flat layer in between has the batch in its rows; behind it, 392 rows are 2 images, and not one image of 392 tokens."""
    net = Net()
    x = net.parameter("f32[1,14,14,8]")
    rows = pattern(net, x, [196, 8])
    net.result(pattern(net, pattern(net, rows, [1, 196, 8]), [1, 14, 14, 8]))
    inference = reshaped(net, "[2,14,14,8]")
    assert replaced(inference.patches) == {(1, 2): 2, (196, 392): 1}
    assert [inference.layer(id).outputs[0].text for id in (2, 4, 6)] == ["[392,8]", "[2,196,8]", "[2,14,14,8]"]


def test_what_no_constant_blocks_is_not_patched() -> None:
    net = Net()
    net.result(pattern(net, net.parameter("f32[1,4,6]"), [-1, 6]))
    inference = reshaped(net, "[3,4,6]")
    assert inference.ok
    assert not inference.patches
    assert "patches" not in inference.to_dict()


def positions() -> Net:
    net = Net()
    net.result(net.layer("Add", [net.parameter("f32[1,4,6]"), net.const([[[0.0] * 6] * 4], "f32")], ["FP32"])[0])
    return net


def inputs_at_odds() -> Net:
    net = Net()
    x, y = net.parameter("f32[1,4]"), net.parameter("f32[1,4]")
    net.result(net.layer("Add", [x, y], ["FP32"])[0])
    return net


def windows() -> Net:
    """56 rows are 8 windows of 7, or 8 rows of 7 windows."""
    net = Net()
    net.result(pattern(net, net.parameter("f32[1,56]"), [1, 8, 7]))
    return net


def narrow() -> Net:
    net = Net()
    net.result(pattern(net, net.parameter("f32[1,100]"), [100], "i8"))
    return net


def faulty() -> Net:
    net = Net()
    net.result(pattern(net, net.parameter("f32[1,4,6]"), [4, 6]))
    net.result(net.layer("SpaceToDepth", [net.parameter("f32[1,1,5]")], ["FP32"], block_size=2)[0])
    return net


@pytest.mark.parametrize(
    ("net", "shape", "reason"),
    [
        (
            positions(),
            "[1,5,6]",
            "the shape of Const 'const_1' would have to change from [1,4,6] to [1,5,6], and irshape cannot know the new elements",
        ),
        (inputs_at_odds(), "[1,5]", "irshape knows no elements of constants with which Add 'add_2' passes"),
        (
            windows(),
            "[1,112]",
            "Reshape 'reshape_2' passes in several ways, and irshape cannot know which is meant: "
            "element 1 of Const 'const_1' is 8, but 16 would fit; or element 2 of Const 'const_1' is 7, but 14 would fit",
        ),
        (narrow(), "[1,200]", "i8 cannot hold 200"),
        (faulty(), "[1,5,6]", "the model has errors with its own shapes"),
    ],
    ids=["shape", "inputs", "windows", "narrow", "faulty"],
)
def test_why_nothing_is_patched(net: Net, shape: str, reason: str) -> None:
    assert refusal(reshaped(net, shape)) == reason


def test_a_search_that_takes_too_much_work_patches_nothing() -> None:
    assert "limit work" in refusal(reshaped(tokens(), "[1,16,16,8]", limits=irshape.Limits(work=60)))


def shared() -> Net:
    """Two Consts with the same bytes: one is a pattern that must change, the other is added to the data."""
    net = Net()
    flat = pattern(net, net.parameter("f32[1,4,6]"), [4, 6])
    net.result(flat)
    offset = len(net.weights) - 16
    other = net.layer("Const", [], ["I64"], element_type="i64", shape="2", offset=offset, size=16)[0]
    net.result(other)
    return net


def test_a_constant_that_shares_its_bytes_gets_bytes_of_its_own() -> None:
    inference = reshaped(shared(), "[1,5,6]")
    assert [node.const.data.tolist() for node in inference.model.nodes if node.const] == [[5, 6], [4, 6]]
    assert inference.weights is not None
    assert inference.weights.total == 64 + 16
    assert verbs.check(inference.xml(), weights=inference.weights).diagnostics == []


def test_constants_that_share_their_bytes_and_change_alike_go_on_sharing_them() -> None:
    net = Net()
    x = net.parameter("f32[1,4,6]")
    net.result(pattern(net, x, [4, 6]))
    again = net.layer("Const", [], ["I64"], element_type="i64", shape="2", offset=0, size=16)[0]
    net.result(net.layer("Reshape", [x, again], ["FP32"], special_zero=False)[0])
    inference = reshaped(net, "[1,5,6]")
    assert replaced(inference.patches) == {(4, 5): 2}
    assert inference.weights is not None
    assert inference.weights.total == len(net.bin)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model in a folder."""
    net = tokens()
    (tmp_path / "model.bin").write_bytes(net.bin)
    (tmp_path / "model.xml").write_text(net.xml)
    return tmp_path / "model.xml"


def test_the_copy_is_written_and_the_original_stays(model: Path) -> None:
    before = model.with_suffix(".bin").read_bytes()
    inference = SymbolSession(model).reshape({"parameter_0": "[1,16,16,8]"}, patch_constants=True)
    inference.write(model.with_name("out.xml"))
    assert model.with_suffix(".bin").read_bytes() == before
    written = verbs.check(model.with_name("out.xml"))
    assert written.diagnostics == []
    assert written.ports == inference.ports


@pytest.mark.parametrize(("name", "options"), [("out", {"weights": "none"}), ("out", {"weights": "link"}), ("model", {"in_place": True})])
def test_patched_constants_are_written_with_their_weights_only(model: Path, name: str, options: dict[str, Any]) -> None:
    inference = SymbolSession(model).reshape({"parameter_0": "[1,16,16,8]"}, patch_constants=True)
    with pytest.raises(ValueError, match="patched constants need a copy of the weights"):
        inference.write(model.with_name(f"{name}.xml"), **options)


def test_the_weights_of_the_user_are_never_the_target(model: Path) -> None:
    before = model.with_suffix(".bin").read_bytes()
    inference = SymbolSession(model).reshape({"parameter_0": "[1,16,16,8]"}, patch_constants=True)
    with pytest.raises(FileExistsError, match="would overwrite its own input"):
        inference.write(model.with_name("model.ir"), force=True)
    assert model.with_suffix(".bin").read_bytes() == before


def test_a_patched_inference_is_pickled_with_its_patches(model: Path) -> None:
    inference = SymbolSession(model).reshape({"parameter_0": "[1,16,16,8]"}, patch_constants=True)
    again = pickle.loads(pickle.dumps(inference))
    assert again.to_dict() == inference.to_dict()
    again.write(model.with_name("out.xml"))
    assert verbs.check(model.with_name("out.xml")).ok


def test_a_session_goes_on_with_the_patched_model(model: Path) -> None:
    session = Session(model)
    for side in (16, 28, 14, 10):
        inference = session.reshape({"parameter_0": f"[1,{side},{side},8]"}, patch_constants=True)
        assert inference.layer(8).outputs[0].text == f"[1,{side},{side},8]"
    assert not session.reshape({"parameter_0": "[1,9,9,8]"}).ok
    assert session.infer().layer(2).outputs[0].text == "[1,100,8]"


@pytest.mark.oracle
def test_an_openvino_model_keeps_its_constants(model: Path) -> None:
    import openvino

    theirs = openvino.Core().read_model(model)
    inference = SymbolSession(theirs).reshape({"parameter_0": "[1,16,16,8]"}, patch_constants=True)
    assert replaced(inference.patches) == {(196, 256): 2, (14, 16): 1}
    with pytest.raises(irshape.InputError, match="write the inference to a file"):
        apply_to(inference, theirs)
    inference.write(model.with_name("out.xml"))
    assert openvino.Core().read_model(model.with_name("out.xml")).output().shape == openvino.Shape([1, 16, 16, 8])


@pytest.mark.oracle
@pytest.mark.parametrize("shape", ["[1,16,16,8]", "[1,28,28,8]", "[2,14,14,8]"])
def test_openvino_reads_the_copy(model: Path, shape: str) -> None:
    import openvino

    inference = SymbolSession(model).reshape({"parameter_0": shape}, patch_constants=True)
    inference.write(model.with_name("out.xml"))
    theirs = {node.get_friendly_name(): node for node in openvino.Core().read_model(model.with_name("out.xml")).get_ops()}
    for layer in inference:
        for port, output in zip(layer.outputs, theirs[layer.node.name].outputs(), strict=False):
            assert port.text == str(output.get_partial_shape())
