"""`irshape signature` as a user meets it."""

import json
from pathlib import Path

import jsonschema

from tests.answers import nets
from tests.answers.test_signature import BOXES, SCHEMA, added, joined
from tests.cli.test_sizes import saved
from tests.support.commands import Start
from tests.support.ir import Net

ROOT = Path(__file__).parents[2]
DECODER = ROOT / "examples" / "decoder.xml"
STATEFUL = ROOT / "examples" / "decoder_stateful.xml"


def test_a_signature_in_one_line(run: Start) -> None:
    lines = run("signature", ROOT / "examples" / "atrous.xml", code=0).lines
    assert lines[1:4] == ["", "image[B,3,H,W]  ->  mask[B,2,2*((H + 1)//2),2*((W + 1)//2)]", ""]
    assert lines[4] == "valid for sizes of at least 1 where"
    assert [line.split("  ")[1] for line in lines[5:]] == ["H >= 3 and H % 4 in {0, 3}", "W >= 3 and W % 4 in {0, 3}"]


def test_a_signature_that_is_longer_than_a_line(run: Start) -> None:
    lines = run("signature", DECODER).lines
    assert lines[2:4] == [
        "input_ids[B,S]  attention_mask[B,P + S]  past.key[B,2,P,4]  past.value[B,2,P,4]",
        "->  logits[B,S,16]  present.key[B,2,P + S,4]  present.value[B,2,P + S,4]",
    ]
    assert lines[5] == "valid for every B, P and S of at least 1"
    assert lines[7:] == [
        "OpenVINO also accepts other sizes",
        "  attention_mask may also be 1 on axis 0, and where B is 1 it may have any size",
        "  attention_mask may also be 1 on axis 1",
    ]


def test_variables_stand_on_a_line_of_their_own(run: Start) -> None:
    lines = run("signature", STATEFUL).lines
    assert lines[3] == "state  past.keypresent.key[B,2,P,4]  past.valuepresent.value[B,2,P,4]"


def test_equal_shapes_in_a_row_are_written_once(run: Start, tmp_path: Path) -> None:
    path = saved(added("f32[?,2]", "f32[?,2]", "f32[?,2]"), tmp_path / "sum.xml")
    assert run("signature", path)[1][2].startswith("parameter_0 … parameter_2[B,2]  ->")
    assert run("signature", path, "--all")[1][2:5] == [f"parameter_{number}[B,2]" for number in range(3)]


def test_the_layers_that_say_so(run: Start, tmp_path: Path) -> None:
    path = saved(joined("f32[?,?]", "f32[?,?]", axis=1), tmp_path / "join.xml")
    lines = run("signature", path, "--why")[1]
    assert lines[-2] == "because"
    assert lines[-1].startswith("  parameter_1 axis 0  B  Concat concat_2, line ")
    assert lines[-1].endswith(": the inputs must be equal on axis 0")


def test_sizes_that_only_data_tells(run: Start, tmp_path: Path) -> None:
    lines = run("signature", saved(Net(BOXES), tmp_path / "boxes.xml"))[1]
    assert lines[2] == "parameter_0[B,5]  ->  nonzero_1[2,nonzero]"
    assert lines[3].startswith("  where nonzero is known only at run time: NonZero nonzero_1, line ")


def test_what_a_pattern_matches(run: Start) -> None:
    lines = run("signature", DECODER, "--input", "past.*[2,2,P,4]", "--verbose").lines
    assert lines[0] == "past.* matches past.key, past.value"
    assert lines[3].startswith("input_ids[2,S]  attention_mask[2,P + S]  past.key[2,2,P,4]")
    code, lines, error = run("signature", DECODER, "--input", "none*[2]")
    assert (code, lines) == (2, [])
    assert "no input matches 'none*'" in error


def test_the_signature_in_json_is_input(run: Start) -> None:
    lines = run("signature", DECODER, "--format", "json").lines
    found = json.loads("\n".join(lines))
    jsonschema.validate(found, SCHEMA)
    shapes = [f"{name}{shape}" for name, shape in found["inputs"].items()]
    words = [word for one in shapes for word in ("--input", one)]
    again = json.loads("\n".join(run("signature", DECODER, "--format", "json", *words)[1]))
    assert (again["inputs"], again["outputs"]) == (found["inputs"], found["outputs"])


def test_faults_of_the_model_are_shown(run: Start) -> None:
    lines = run("signature", ROOT / "examples" / "faulty.xml", code=1).lines
    assert any(" A103 " in line for line in lines)


def test_a_file_that_cannot_be_read(run: Start, tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_text("<net><layers>")
    lines = run("signature", path, code=1).lines
    assert any(" X101 " in line for line in lines)


def test_long_sizes_have_names(run: Start, tmp_path: Path) -> None:
    levels = ", ".join(f"_{i}" for i in range(1, 5))
    net = Net("_x: f32[?,1,?,?]" + "".join(f"\n_x -> {nets.conv(2**i, 2**i)} -> _{i}: {nets.reshape(0, -1)}" for i in range(1, 5)))
    net.add(f"{levels} -> Concat(axis=1) -> Result")
    lines = run("signature", saved(net, tmp_path / "levels.xml"))[1]
    assert lines[2].endswith("[B,e0]")
    assert lines[3] == "  where e0 = (H//2)*(W//2) + (H//4)*(W//4) + (H//8)*(W//8) + (H//16)*(W//16)"
