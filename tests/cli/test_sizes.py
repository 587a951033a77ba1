"""`irshape sizes` as a user meets it."""

import json
import os
from pathlib import Path

import jsonschema
import pytest

from tests.answers import nets
from tests.answers.test_sizes import scaled
from tests.support.commands import Start
from tests.support.ir import Net

ROOT = Path(__file__).parent.parent.parent
ATROUS = ROOT / "examples" / "atrous.xml"


def saved(net: Net, path: Path) -> Path:
    """The file of a net, with its weights beside it."""
    path.write_text(net.xml)
    path.with_suffix(".bin").write_bytes(net.bin)
    return path


def test_conditions_stand_above_the_layers_that_make_them(run: Start) -> None:
    lines = run("sizes", ATROUS, "--input", "image[1,3,H,512]", "--near", "H=250", code=0).lines
    message = "axis 2 with its pads pads_begin and pads_end must be a multiple of block_shape[2]"
    assert lines[1:] == [
        "",
        "image[1,3,H,512] is valid where",
        "  H >= 3 and H % 4 in {0, 3}",
        f"      ((H + 1)//2) % 2 == 0  SpaceToBatch atrous/space_to_batch, line 93: {message}",
        "",
        "nearest to H = 250",
        "  below  H = 248",
        "  above  H = 251",
    ]


def test_a_condition_that_is_a_layers_own_is_said_once(run: Start, tmp_path: Path) -> None:
    path = saved(nets.blocks(), tmp_path / "blocks.xml")
    lines = run("sizes", path, "--input", "parameter_0[B,S]", "--input", "parameter_1[B,S]", "--near", "B=3,S=50", code=0).lines
    assert lines[2] == "parameter_0[B,S], parameter_1[B,S] is valid where"
    assert [lines[3], lines[5]] == ["  S <= 48", "  (B*S) % 4 == 0"]
    assert lines[6].startswith("      Reshape reshape_") and lines[6].endswith(
        ": the elements of data must be a multiple of the product of the sizes other than -1"
    )
    assert lines[-3:] == ["nearest to B = 3, S = 50", "  below  B = 3, S = 48", "  above  none was found"]


def test_every_size(run: Start, tmp_path: Path) -> None:
    net = Net("f32[?,3] -> ReLU -> Result")
    assert run("sizes", saved(net, tmp_path / "relu.xml"))[:2] == (
        0,
        [f"{tmp_path}/relu.xml  IR v11, 3 layers", "", "parameter_0[B,3] is valid for every B"],
    )


def test_what_formulas_do_not_tell_is_said(run: Start, tmp_path: Path) -> None:
    path = saved(scaled(), tmp_path / "scaled.xml")
    lines = run("sizes", path, "--input", "[N]", "--near", "N=10", code=0).lines
    assert lines[2] == "parameter_0[N] is valid for every N (as far as formulas tell)"
    assert lines[4] == "formulas do not decide"
    assert lines[-2:] == ["  below  N = 6", "  above  N = 24"]
    lines = run("sizes", path, "--input", "[N]", "--set", "N=1..60").lines
    assert lines[2:4] == ["parameter_0[N] is valid where (every size was tried)", "  4 <= N <= 6 or 24 <= N <= 26"]


def test_no_size_is_a_fault(run: Start, tmp_path: Path) -> None:
    halves = nets.reshape(-1, 2)
    net = Net(f"_x: f32[?]\n_x -> {halves} -> Result\n_x, f32=[0.0] -> Concat(axis=0) -> {halves} -> Result")
    code, lines, _ = run("sizes", saved(net, tmp_path / "odd.xml"), "--input", "[N]")
    assert (code, lines[2]) == (1, "parameter_0[N] is valid for no size: these conditions contradict each other")
    assert [line.split("  ")[1] for line in lines[3:]] == ["N % 2 == 0", "(N + 1) % 2 == 0"]


def test_faults_of_the_model_are_shown(run: Start) -> None:
    lines = run("sizes", ROOT / "examples" / "faulty.xml", code=1).lines
    assert any(" A103 " in line for line in lines)
    assert lines[-1].endswith("is valid for no size: the model has errors")


def test_a_file_that_cannot_be_read_is_valid_for_no_size(run: Start, tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_text("<net><layers>")
    code, lines, _ = run("sizes", path)
    assert (code, lines[-1]) == (1, "the model is valid for no size: the model has errors")
    assert any(" X101 " in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "image[1,3,8,8]"], "the inputs have no dynamic sizes; name some sizes in a shape, as in x[1,3,H,W]"),
        (["--near", "H"], """--near 'H': expected "NAME=SIZE\", as in \"H=500\""""),
        (["--near", "H=-3"], """--near 'H=-3': expected "NAME=SIZE\", as in \"H=500\""""),
        (["--near", "Z=3"], "there is no symbol 'Z'; the symbols are B, H, W"),
        (["--input", "picture[1,3,H,W]"], "the model has no input 'picture'"),
        (["--set", "Q=1..3"], "the model has no symbol 'Q'; it has B, H, W"),
        (["--input", "image[1,3,H,W]", "--set", "H=0"], "no value of 'H' within its range makes H at least 1"),
    ],
)
def test_wrong_questions_are_told_on_one_line(run: Start, arguments: list[str], message: str) -> None:
    code, lines, err = run("sizes", ATROUS, *arguments)
    assert (code, lines) == (2, [])
    assert message in err and err.count("\n") == 1


def test_the_answer_for_programs(run: Start) -> None:
    schema = json.loads((ROOT / "schemas" / "sizes.schema.json").read_text(encoding="utf-8"))
    lines = run("sizes", ATROUS, "--input", "image[1,3,H,W]", "--near", "H=3,W=2", "--format", "json").lines
    told = json.loads("\n".join(lines))
    jsonschema.validate(told, schema)
    assert (told["ok"], told["condition"]) == (True, "H >= 3 and H % 4 in {0, 3} and W >= 3 and W % 4 in {0, 3}")
    assert told["nearest"] == {"given": {"H": 3, "W": 2}, "below": None, "above": {"H": 3, "W": 3}}
    lines = run("sizes", ATROUS, "--format", "json").lines
    told = json.loads("\n".join(lines))
    jsonschema.validate(told, schema)
    assert told["nearest"] is None


def test_a_batch_that_is_left_out_is_1_and_sizes_that_are_valid_are_called_so(run: Start, tmp_path: Path) -> None:
    tied = saved(Net("x: f32[?,3,?] -> Reshape([-1,8]) -> Result"), tmp_path / "tied.xml")
    lines = run("sizes", tied, "--input", "x[B,3,H]", "--near", "H=9", code=0).lines
    assert lines[-3:] == ["nearest to H = 9 (taking B = 1)", "  below  B = 1, H = 8", "  above  B = 2, H = 12"]
    assert run("sizes", ATROUS, "--near", "H=8,W=8", code=0).lines[-1] == "H = 8, W = 8: valid"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_weights_that_cannot_be_read_forbid_no_size(run: Start, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    path = saved(nets.unet("pool"), tmp_path / "models" / "linked.xml")
    path.with_suffix(".bin").rename(tmp_path / "stored")
    path.with_suffix(".bin").symlink_to(tmp_path / "stored")
    text = run("sizes", path, "--input", "[1,1,H,W]", "--near", "H=9,W=9", code=1).out
    assert "which sizes parameter_0[1,1,H,W] takes is not known, because the weights cannot be read" in text
    assert "nearest" not in text and "no size" not in text
    err = run("reshape", path, "--input", "[1,1,H,W]", "--rewrite").err
    assert "internal error" not in err
