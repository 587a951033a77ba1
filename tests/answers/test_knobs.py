"""Symbols as knobs: who has seen the signature sets its symbols, in every verb."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.cli.main import main
from irshape.inference.inference import Remedy
from tests.support.ir import Net
from tests.support.oracle import core
from tests.support.places import ATROUS, DECODER, EXAMPLES, STATEFUL


def printed(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The words of the commands of irshape that the line about a target has; it is the one proposal for a model with state."""
    out = capsys.readouterr().out
    assert "make the state inputs and outputs first: " not in out or "as in --set" not in out
    lines = [line.partition(": irshape ") for line in out.splitlines()]
    found = [text for lead, _, text in lines if lead in ("set them with", "make the state inputs and outputs first")]
    assert len(found) <= 1
    return [shlex.split(one) for text in found for one in text.split(" && irshape ")]


def inputs(inference: irshape.Inference) -> dict[str, str]:
    return {port.name: str(port.formula) for port in inference.inputs}


@pytest.mark.parametrize(
    ("sizes", "shapes"),
    [
        ({"B": 1, "S": 1, "P": 127}, ["[1,1]", "[1,128]", "[1,2,127,4]", "[1,2,127,4]"]),
        ({"B": 1, "S": 64, "P": 0}, ["[1,64]", "[1,64]", "[1,2,0,4]", "[1,2,0,4]"]),
        ({"B": 2}, ["[2,S]", "[2,P + S]", "[2,2,P,4]", "[2,2,P,4]"]),
        ({"S": "1..8"}, ["[B,S]", "[B,P + S]", "[B,2,P,4]", "[B,2,P,4]"]),
        ({"P": "8 - S"}, ["[B,S]", "[B,8]", "[B,2,8 - S,4]", "[B,2,8 - S,4]"]),
        ({"S": range(4, 33, 4), "B": 1, "P": 0}, ["[1,S]", "[1,S]", "[1,2,0,4]", "[1,2,0,4]"]),
    ],
)
def test_the_symbols_of_the_signature_take_sizes(sizes: dict[str, Any], shapes: list[str]) -> None:
    """`input_ids[B,S] attention_mask[B,P + S] past.key[B,2,P,4] past.value[B,2,P,4]`."""
    found = irshape.infer(DECODER, symbols=sizes)
    assert found.ok
    assert list(inputs(found).values()) == shapes


@pytest.mark.parametrize(
    ("given", "sizes", "message"),
    [
        ({}, {"Q": 1}, "the model has no symbol 'Q'; it has B, P, S"),
        ({}, {"s": 1}, "the model has no symbol 's'; it has B, P, S; did you mean 'S'?"),
        ({"input_ids": "[1,16]"}, {"S": 8}, "the symbol 'S' cannot be 8: it is axis 1 of 'input_ids', which has the given shape [1,16]"),
        ({}, {"S": "9..3"}, "the symbol S: cannot read '9..3' at character 1: the lower bound 9 is larger than the upper bound 3"),
        ({}, {"S": "S + 1"}, "the symbol S cannot be S + 1: this formula contains S itself"),
        ({}, {"P": "8 - 2*S", "S": 5}, "axis 2 of 'past.key' is P, which is no size for P=8 - 2*S"),
        ({"nope*": "[1]"}, {}, "no input matches 'nope*'; inputs of the model: 'input_ids', 'attention_mask', 'past.key', 'past.value'"),
        ({"input_ids": "[B,P-S]"}, {"P": "3", "S": "5"}, "the shape of 'input_ids': P - S on axis 1 is -2, but a size is from 0 to"),
        ({"input_ids": "[B,P//S]"}, {"S": "0"}, "the shape of 'input_ids': P//S on axis 1 divides by 0"),
        ({"input_ids": "[B,P+]"}, {}, "cannot read '[B,P+]' at character 6: a number or a symbol is missing"),
        ({"input_ids": "[B,P+S]"}, {"S": "S+1"}, "the symbol S cannot be S + 1: this formula contains S itself"),
    ],
)
def test_what_cannot_be_set_is_told(given: dict[str, str], sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(irshape.InputError) as caught:
        irshape.infer(DECODER, inputs=given, symbols=sizes)
    assert message in str(caught.value)


# A name, and where the message puts it in a model whose sizes are fixed: a batch in front, a height on an image, a length on a text.
AXES = {"B": "ids[B,8]", "N": "ids[N,8]", "S": "ids[1,S]", "L": "ids[1,L]", "H": "image[1,3,H,W]", "W": "image[1,3,H,W]"}


@pytest.mark.parametrize(("name", "example"), AXES.items())
def test_a_name_stands_on_the_axis_that_it_means(name: str, example: str) -> None:
    graph = irshape.Graph("both")
    for shape in ("ids[1,8]", "image[1,3,32,48]"):
        graph.result(graph.op.Relu(graph.parameter(shape.split("[")[0], "[" + shape.split("[")[1])), name="of " + shape)
    with pytest.raises(irshape.InputError, match="because all its sizes are fixed") as caught:
        irshape.infer(irshape.read(bytes(graph)), symbols={name: 2})
    assert f'--input "{example}"' in str(caught.value) and ("--batch" in str(caught.value)) is (name in "BN")


@pytest.mark.parametrize("verb", ["infer", "check", "cost", "sizes", "signature", "info", "reshape", "explain", "view"])
@pytest.mark.parametrize("path", [DECODER, STATEFUL], ids=["decoder", "stateful"])
def test_every_verb_takes_every_symbol(verb: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [verb, str(path), *(["logits"] if verb == "explain" else []), *(["-o", str(tmp_path / "page.html")] if verb == "view" else [])]
    assert main([*words, "--set", "B=1", "S=1..8", "P=0..120"]) == 0, capsys.readouterr()
    assert "P=0..120" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("symbols", "formula"),
    [
        ({"H": "64*k", "W": "64*j"}, "[B,3,H,W]"),
        ({"H": "64*k", "W": "64*k"}, "[B,3,H,W]"),
        ({"H": "4*j + 3", "W": "64*k2"}, "[B,3,H,W]"),
        ({"H": "64*j", "W": "64*j"}, "[B,3,64*j,64*j]"),  # the letter ties both
        ({"H": "8*W"}, "[B,3,8*W,W]"),
        ({"H": "j"}, "[B,3,j,W]"),
        ({"H": "2*k", "k": "2..6"}, "[B,3,2*k,W]"),  # a letter with a range of its own
        ({"H": "4*j", "j": 2}, "[B,3,8,W]"),
    ],
)
def test_a_multiple_is_written_in_one_way(symbols: dict[str, str], formula: str) -> None:
    for inputs in ({}, {"image": "[B,3,H,W]"}):
        assert irshape.infer(ATROUS, inputs=inputs, symbols=symbols).inputs[0].formula == formula
        assert irshape.signature(ATROUS, inputs=inputs, symbols=symbols).inputs["image"] == formula


def test_a_size_that_a_given_shape_has_may_be_said_again() -> None:
    given = {"input_ids": "[1,16]"}
    assert inputs(irshape.infer(DECODER, inputs=given, symbols={"S": 16})) == inputs(irshape.infer(DECODER, inputs=given))


def test_a_session_turns_one_knob_after_the_other() -> None:
    session = irshape.Session(DECODER)
    assert inputs(session.reshape(symbols={"B": 1, "P": 7, "S": 1})) == dict(
        zip(["input_ids", "attention_mask", "past.key", "past.value"], ["[1,1]", "[1,8]", "[1,2,7,4]", "[1,2,7,4]"], strict=True)
    )
    assert inputs(session.reshape(symbols={"P": 8}))["attention_mask"] == "[1,9]"
    assert inputs(session.reshape(symbols={"B": 3}))["past.key"] == "[3,2,8,4]"
    with pytest.raises(irshape.InputError, match="no symbol 'Q'"):
        session.reshape(symbols={"Q": 3})
    assert inputs(session.infer())["past.key"] == "[3,2,8,4]"


def test_the_size_of_a_state_is_written(tmp_path: Path) -> None:
    """The variable declares its new shape, and OpenVINO reads the file with the same shapes."""
    found = irshape.reshape(STATEFUL, symbols={"B": 1, "S": "1..8", "P": "0..120"})
    assert found.ok
    written = tmp_path / "bounded.xml"
    found.write(written)
    assert 'variable_shape="1,2,..120,4"' in written.read_text()
    assert [str(port) for port in irshape.infer(written).inputs] == [str(port) for port in found.inputs]


def test_a_state_that_grows_from_a_number_declares_all_sizes_up_to_the_next(tmp_path: Path) -> None:
    """OpenVINO refuses a variable of 7 rows that is assigned 8, or whose first value has none."""
    found = irshape.infer(STATEFUL, symbols={"B": 1, "S": 1, "P": 7})
    assert found.ok
    assert inputs(found)["attention_mask"] == "[1,8]"
    found.write(tmp_path / "next.xml")
    assert 'variable_shape="1,2,..8,4"' in (tmp_path / "next.xml").read_text()


@pytest.mark.parametrize(("sizes", "state"), [({"B": 2}, "[1..2,4]"), ({"B": 1}, "[1,4]"), ({"B": "2..9"}, "")])
def test_a_state_also_declares_the_size_of_its_first_value(sizes: dict[str, Any], state: str) -> None:
    """The first value has one row; what is assigned has as many rows as the input. OpenVINO refuses a variable that cannot hold it."""
    net = Net(
        'f32=0[1,4] -> read: ReadValue-6(variable_id=v, variable_type=f32, variable_shape="?,4") -> Add(f32[?,4])'
        " -> Assign-6(variable_id=v) -> Result"
    )
    found = irshape.infer(net.xml.encode(), weights=net.bin, symbols=sizes)
    assert found.ok is bool(state)
    assert not state or found["read"].outputs[0].text == state


def test_a_state_of_a_number_that_grows_from_nothing_holds_every_next_length() -> None:
    net = Net(
        "[0,4] -> Broadcast-3(f32=0.0, _, mode=numpy)"
        ' -> read: ReadValue-6(variable_id=v, variable_type=f32, variable_shape="?,4") -> Concat(f32[?,4], axis=0)'
        " -> Assign-6(variable_id=v) -> Result"
    )
    found = irshape.signature(net.xml.encode(), weights=net.bin)
    assert found.state == {"v": "[P,4]"}
    assert irshape.infer(net.xml.encode(), weights=net.bin, symbols={"P": 2})["read"].outputs[0].text == "[?,4]"


def test_a_size_that_data_decide_is_no_knob(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("infer", "cost", "sizes"):
        assert main([verb, str(EXAMPLES / "detector.xml"), "--set", "n_boxes=3"]) == 2
        assert "the symbol 'n_boxes' cannot be 3: it depends on the data of NonMaxSuppression 'nms'" in capsys.readouterr().err


def test_reshape_speaks_the_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The variable declares all rows up to 512, so that P + S is at most 512; the file that is written bounds P."""
    written = tmp_path / "new.xml"
    assert main(["reshape", str(STATEFUL), "--set", "B=1", "S=1..9", "P=0..512", "-o", str(written)]) == 0
    told = capsys.readouterr().out
    assert "[1,P + S]" in told and "P + S <= 512  Assign present.key" in told
    assert main(["check", str(written), "--target", "npu"]) == 0
    for verb in ("reshape", "infer", "check"):
        capsys.readouterr()
        assert main([verb, str(STATEFUL), "--set", "B=1", "P=0..512", "--format", "json"]) == 0
        told = json.loads(capsys.readouterr().out)["named"]
        assert told["symbolic"]["1:0"] == "[1,P + S]" and [one["condition"] for one in told["guards"]] == ["P + S <= 512"]


@pytest.mark.oracle
def test_openvino_reads_what_was_set(tmp_path: Path) -> None:
    for path, sizes in (
        (DECODER, {"B": 2, "S": 3, "P": 4}),
        (STATEFUL, {"B": 1, "S": "1..8", "P": "0..120"}),
        (STATEFUL, {"B": 1, "S": 1, "P": 7}),
    ):
        found = irshape.infer(path, symbols=sizes)
        written = tmp_path / f"{'_'.join(map(str, sizes.values()))}.xml".replace("..", "-")
        found.write(written)
        theirs = core().read_model(written)
        assert [str(one.partial_shape) for one in theirs.inputs] == [
            str(port).removeprefix(str(port.element_type)) for port in found.inputs
        ]


@pytest.mark.parametrize(
    ("path", "target", "own"),
    [
        (DECODER, "npu", ""),
        (DECODER, "static-shapes", ""),
        (STATEFUL, "npu", ""),
        (ATROUS, "npu", ""),
        (ATROUS, "npu", 'inputs = { image = "[1,3,H,W]" }'),
        (ATROUS, "npu", 'inputs = { image = "[N,3,H,W]" }\nsymbols = { N = "1" }'),
        (ATROUS, "static-shapes", ""),
        (ATROUS, "npu static-shapes", ""),
        (DECODER, "static-shapes npu", ""),
        (STATEFUL, "static-shapes", ""),  # by way of the model without state
        (STATEFUL, "npu static-shapes", 'inputs = { input_ids = "[1,S]" }'),
    ],
)
def test_a_target_ends_in_the_command_that_meets_it(
    path: Path, target: str, own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`own` is what the configuration says of the file."""
    (tmp_path / "irshape.toml").write_text(f'[per-file."{path.name}"]\n{own}\n')
    model = tmp_path / path.name
    model.write_bytes(path.read_bytes())
    model.with_suffix(".bin").write_bytes(path.with_suffix(".bin").read_bytes())
    targets = [word for name in target.split() for word in ("--target", name)]
    assert main(["check", str(model), *targets]) == 1
    *_, words = commands = printed(capsys)
    assert [main(one) for one in commands] == [0] * len(commands)
    assert main(["check", words[-1], *targets]) == 0


# A state that grows by the rows of the input, and a Range as long as it: OpenVINO finds no bound of the state. The second inference adds
# three rows to two.
GROWING = "f32=0[1,3] -> old: ReadValue-6(variable_id=v, variable_type=f32, variable_shape=[?,3]) -> new: Concat(x, axis=0) -> {}\n"
COUNTED = "ShapeOf-3(output_type=i64) -> Gather-8(0, 0) -> Range-4(0, _, 1, output_type=i64) -> Result"
ASSIGNED = "new -> Assign-6(variable_id=v)"
ADDED = "Add(f32=0[2,3]) -> Result"


@pytest.mark.parametrize(("net", "target", "sizes"), [
    (f"x: f32[?,3]\n{GROWING.format(COUNTED)}{ASSIGNED}", "npu", ["--set", "B=1", "T=128"]),
    (f"x: f32[?,3]\n{GROWING.format('Result')}{ASSIGNED}", "static-shapes", ["--set", "B=1", "T=128"]),
    (f"x: f32[1,3]\n{GROWING.format(ADDED)}{ASSIGNED}", "npu", ["--input", "old[1,3]"]),
    (f"x: f32[1,3]\n{GROWING.format('NonZero-3(output_type=i64) -> Result')}{ASSIGNED}", "static-shapes", []),
])  # fmt: skip
def test_sizes_that_the_state_keeps_open_are_set_without_it(
    net: str, target: str, sizes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Net(net).save(tmp_path / "net.xml")
    assert main(["check", str(path), "--target", target]) == 1
    commands = printed(capsys)
    assert [one[0] for one in commands] == (["edit", "reshape"] if sizes else [])
    assert [main(one) for one in commands] == [0] * len(commands)
    if sizes:
        assert commands[1][4:-2] == sizes
        assert main(["check", str(tmp_path / f"net.{target}.xml"), "--target", target]) == 0


def test_a_state_that_grows_has_no_fixed_size() -> None:
    found = irshape.check(STATEFUL, targets=["static-shapes"])
    [hint] = {one.hint for one in found.diagnostics}
    assert hint is not None and hint.startswith("no number fixes the state, whose shape changes; make the state inputs and outputs")
    assert hint.endswith(f"irshape edit {STATEFUL} --stateless -o OUT.xml")


def test_one_line_for_each_symbol() -> None:
    found = irshape.check(DECODER, targets=["npu"])
    assert [one.message.split(", the size ")[0] for one in found.diagnostics] == ["B", "S", "P"]


def test_reshape_refuses_what_a_target_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "open.xml"
    assert main(["reshape", str(DECODER), "--set", "B=1", "S=8", "--target", "npu", "-o", str(written)]) == 1
    told = capsys.readouterr()
    assert "P102 P, the size of " in told.out
    assert "--set B=1 S=8 P=1..512" in told.out
    assert not written.exists()


def test_what_no_size_decides_is_said() -> None:
    net = Net("f32[4] -> NonZero-3(output_type=i64) -> Result")
    [fault] = irshape.check(net.xml.encode(), targets=["static-shapes"]).diagnostics
    assert (fault.code, fault.hint) == ("P101", "no size of an input decides this size; replace the layer")


def test_an_input_of_one_valid_size_is_set_by_its_shape() -> None:
    net = Net("f32[?,3], f32[7,3] -> Add(auto_broadcast=none) -> Result")
    [fault] = irshape.check(net.xml.encode(), targets=["npu"]).diagnostics
    assert fault.hint == "set the size, as in --input 'parameter_0[7,3]'"
    remedy = Remedy("npu", {"B": "1"}, {"x": "[B,7]"})
    assert remedy.command("a b.xml") == "irshape reshape 'a b.xml' --target npu --input 'x[B,7]' --set B=1 -o 'a b.npu.xml'"


def test_a_variable_without_a_declared_shape_follows_its_first_value() -> None:
    net = Net("f32[?,4] -> ReadValue-3(variable_id=v) -> Assign-3(variable_id=v) -> Result")
    found = irshape.infer(net.xml.encode(), symbols={"B": 3})
    assert found.ok
    assert [str(port.shape) for port in (*found.inputs, *found.outputs)] == ["(3, 4)", "(3, 4)"]


@pytest.mark.parametrize("path", [DECODER, STATEFUL], ids=["decoder", "stateful"])
@pytest.mark.parametrize(
    ("sizes", "inputs", "state"),
    [
        ({"S": 16}, ["[B,16]", "[B,P + 16]"], "[B,2,P,4]"),
        ({"B": 3}, ["[3,S]", "[3,P + S]"], "[3,2,P,4]"),
        ({"P": "..100"}, ["[B,S]", "[B,P + S]"], "[B,2,P,4]"),
        ({"B": 1, "P": "..100"}, ["[1,S]", "[1,P + S]"], "[1,2,P,4]"),
        ({"P": "1..9", "S": "1..4"}, ["[B,S]", "[B,P + S]"], "[B,2,P,4]"),
    ],
)
def test_other_symbols_keep_their_names_and_their_ties(path: Path, sizes: dict[str, Any], inputs: list[str], state: str) -> None:
    found = irshape.signature(path, symbols=sizes)
    assert list(found.inputs.values()) == [*inputs, *([state] * 2 if path is DECODER else [])]
    assert set(found.state.values()) == (set() if path is DECODER else {state})
    assert set(irshape.cost(path, symbols=sizes).symbols) == set(found.symbols)
    assert [port.formula for port in irshape.infer(path, symbols=sizes).inputs] == list(found.inputs.values())


def test_names_stay_beside_those_of_the_user() -> None:
    """A number for `B` hides that rows of the mask are rows of the ids; the signature is found before it is set."""
    found = irshape.signature(DECODER, inputs={"past.*": "[B,2,P,4]"}, symbols={"B": 1, "P": "..100", "S": "1..8"})
    assert list(found.inputs.values()) == ["[1,S]", "[1,P + S]", "[1,2,P,4]", "[1,2,P,4]"]


def test_all_sizes_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sizes", str(DECODER), "--set", "B=1", "S=8", "P=4"]) == 0
    assert "are valid with these sizes" in capsys.readouterr().out
    assert irshape.sizes(ATROUS, symbols={"B": 1, "H": 7, "W": 8}).ok
    assert not irshape.sizes(ATROUS, symbols={"B": 1, "H": 5, "W": 8}).ok


# A Range as long as an input, of which OpenVINO knows no upper bound for a range of its size.
COUNTING = Net("f32[3,?] -> ShapeOf-3(output_type=i64) -> Gather-8(1, 0) -> Range-4(0, _, 1, output_type=i64) -> Result")


def test_a_number_is_proposed_where_openvino_finds_no_upper_bound() -> None:
    [fault] = irshape.check(COUNTING.xml.encode(), weights=COUNTING.bin, targets=["npu"]).diagnostics
    hint = "set T, as in --set T=128 (a range does not help: OpenVINO finds no upper bound of Range "
    assert fault.hint is not None and fault.hint.startswith(hint)


def test_numbers_of_the_signature_are_set_with_its_symbols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each axis with one valid size is told once for all, and needs no option of its own."""
    net = Net("f32[?,?], f32[?,3] -> Add(auto_broadcast=none) -> Add(f32[?,?], auto_broadcast=none) -> Result")
    path = tmp_path / "net.xml"
    path.write_text(net.xml.replace('<port id="0" precision="FP32"', '<port id="0" precision="FP32" names="tensor"', 1))
    assert main(["check", str(path), "--target", "npu"]) == 1
    told = capsys.readouterr().out
    told_once = (
        "of input 'tensor' has no upper bound (the model accepts only 3, but the shape does not say so); the same holds for 1 more axis"
    )
    assert told_once in told
    assert f"irshape reshape {path} --target npu --set B=1 -o" in told
    assert main(["reshape", str(path), "--target", "npu", "--set", "B=1", "-o", str(tmp_path / "new.xml")]) == 0
    assert [port.text for port in irshape.infer(tmp_path / "new.xml").inputs] == ["[1,3]"] * 3


@pytest.mark.parametrize(
    ("net", "target", "told"),
    [
        # Ranges of T and of L would hold products that the constant does not.
        ("f32[1,?,?] -> Reshape([1,-1]) -> Add(f32=0[1,12]) -> Result", "npu", "--set T=1 L=1"),
        ("f32[1,?,?] -> Reshape([1,-1]) -> Add(f32=0[1,12]) -> Result", "static-shapes", "--set T=1 L=1"),
        # No size gives the second input a rank.
        ("f32[?,3] -> ReLU -> Result\nf32[...] -> ReLU -> Result", "npu", ""),
    ],
)
def test_a_command_runs_as_it_is_printed(net: str, target: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built, path, opaque = Net(net), tmp_path / "net.xml", ["--opaque", "Own"]
    path.write_text(built.xml)
    path.with_suffix(".bin").write_bytes(built.bin)
    assert main(["check", str(path), "--target", target, *opaque]) == 1
    commands = printed(capsys)
    assert [shlex.join(words[words.index("--set") : -2]) for words in commands] == ([told] if told else [])
    assert all(words[2:4] == opaque and main(words) == 0 for words in commands)


def test_no_command_is_promised_that_meets_no_target() -> None:
    net = Net("f32[?,4] -> NonZero-3(output_type=i64) -> Result")
    found = irshape.check(net.xml.encode(), targets=["static-shapes"])
    assert [one.hint for one in found.diagnostics] == ["set B, as in --set B=1", "no size of an input decides this size; replace the layer"]
    assert found._inference.remedy is None


@pytest.mark.parametrize(
    ("shape", "example"),
    [("f32[]", "--input"), ("f32[2,1,1,1,1,1]", '--input "x[N,1,1,1,1,1]", or ask for a batch of all inputs: irshape reshape --batch 4')],
)
def test_the_example_for_a_symbol_fits_the_rank(shape: str, example: str) -> None:
    with pytest.raises(irshape.InputError) as told:
        irshape.infer(Net(f"x: {shape} -> ReLU -> Result").xml.encode(), symbols={"N": 4})
    assert str(told.value).endswith(example)


def test_a_batch_is_found_beside_sizes_that_are_set() -> None:
    """The symbols name no shapes, so every input still has its batch."""
    found = irshape.reshape(ATROUS, symbols={"H": 8, "W": 8}, batch=4)
    assert found.ok
    assert found.inputs[0].shape == (4, 3, 8, 8)
