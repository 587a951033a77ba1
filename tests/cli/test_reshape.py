"""`irshape reshape` as a user meets it."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import irshape
from irshape.cli.main import main
from tests.support.ir import Net
from tools.schemas.report import report_schema

ATROUS = Path(__file__).parent.parent.parent / "examples" / "atrous.xml"


@pytest.fixture
def baked(tmp_path: Path) -> Path:
    """A model whose Reshape has its batch baked in."""
    net = Net()
    net.result(net.layer("Reshape", [net.parameter("f32[1,4,6]"), net.const([1, 24])], ["FP32"], special_zero=False)[0])
    path = tmp_path / "baked.xml"
    path.write_text(net.xml)
    path.with_suffix(".bin").write_bytes(net.bin)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str], str]:
    code = main([str(argument) for argument in ("reshape", *arguments)])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


def test_inputs_and_outputs_are_shown_as_they_were_and_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, ATROUS, "--input", "image[1,3,512,512]")
    assert code == 0
    assert lines[1:] == [
        "",
        "ID  LAYER  TYPE       WAS            IS",
        " 0  image  Parameter  [?,3,3..,3..]  f32[1,3,512,512]",
        "17  mask   Result     [?,2,4..,4..]  f32[1,2,512,512]",
        "",
        "1 file, 18 layers: no faults",
    ]


def test_the_model_is_written_with_its_weights(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "out.xml"
    code, lines, _ = run(capsys, ATROUS, "--input", "image[1,3,512,512]", "-o", target, "--weights", "copy")
    assert (code, lines[-1]) == (0, f"written: {target}")
    assert irshape.check(target).diagnostics == []
    assert irshape.infer(target)["mask"].inputs[0].text == "[1,2,512,512]"
    code, _, err = run(capsys, ATROUS, "--input", "image[1,3,512,512]", "-o", target)
    assert code == 2
    assert "--force overwrites it" in err


@pytest.mark.parametrize(
    ("shape", "last"),
    [
        ("[1,3,10,64]", f"the sizes that it takes: irshape sizes {ATROUS}"),
        ("[1,3,64,64]", "1 file, 18 layers: no faults"),
    ],
)
def test_a_model_that_refuses_a_size_says_where_its_sizes_are(shape: str, last: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, ATROUS, "--input", shape)[1][-1] == last


def test_blockers_are_listed_and_nothing_is_written(capsys: pytest.CaptureFixture[str], baked: Path) -> None:
    target = baked.with_name("out.xml")
    code, lines, err = run(capsys, baked, "--input", "[2,4,6]", "-o", target)
    assert code == 1
    assert lines[2].endswith("S201 data must have as many elements as shape: 48 and 24 differ [Reshape reshape_2]")
    assert lines[3].startswith(f"    see {baked}:")
    assert lines[4].endswith("element 0 of Const 'const_1' (line 10) is 1, but 2 would fit")
    assert "not written" in err
    assert not target.exists()


def test_patched_constants_are_listed_and_written_with_the_model(capsys: pytest.CaptureFixture[str], baked: Path) -> None:
    target, before = baked.with_name("out.xml"), baked.with_suffix(".bin").read_bytes()
    code, lines, err = run(capsys, baked, "--input", "[2,4,6]", "--patch-constants", "-o", target)
    assert (code, err) == (0, "")
    assert lines[2:] == [
        "ID  LAYER        TYPE       WAS      IS",
        " 0  parameter_0  Parameter  [1,4,6]  f32[2,4,6]",
        " 3  result_3     Result     [1,24]   f32[2,24]",
        "",
        "patched in a copy of the weights",
        "WAS  IS  CONSTANTS",
        "  1  2   1",
        "",
        "1 file, 4 layers: no faults",
        f"written: {target}",
    ]
    assert irshape.check(target).diagnostics == []
    assert baked.with_suffix(".bin").read_bytes() == before


def test_patches_are_in_the_json(capsys: pytest.CaptureFixture[str], baked: Path) -> None:
    code, lines, _ = run(capsys, baked, "--input", "[2,4,6]", "--patch-constants", "--format", "json")
    report = json.loads("\n".join(lines))
    assert code == 0
    assert report["substitutions"] == [{"was": 1, "is": 2, "constants": 1}]
    assert report["patches"] == [{"layer": "1", "layer_name": "const_1", "line": 10, "elements": [{"index": 0, "was": 1, "is": 2}]}]
    Draft202012Validator(report_schema()).validate(report)


def test_a_refusal_to_patch_is_in_the_json_and_writes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "out.xml"
    arguments = ("--input", "image[1,3,225,256]", "--patch-constants", "--format", "json", "-o", target)
    code, lines, err = run(capsys, ATROUS, *arguments)
    report = json.loads("\n".join(lines))
    assert code == 1
    assert "not written" in err
    assert "patches" not in report
    assert [found["code"] for found in report["diagnostics"]][:2] == ["N109", "S204"]
    assert not target.exists()


def test_the_batch_is_found_and_how_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run(capsys, ATROUS, "--batch", "4", "--color", "never")
    assert code == 0
    assert lines[3].split()[4] == "f32[4,3,3..,3..]"
    assert any("N101 note: the batch is axis 0 of 'image': its size in the file is dynamic: ?" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no new shape: give --input, --set or --batch"),
        (("--batch", "2..1"), "the lower bound 2 is larger than the upper bound 1"),
        (("--batch", "2,3"), "the batch must be one size, not '2,3'"),
        (("--input", "y[1]"), "the model has no input 'y'; it has 'parameter_0'"),
        (("--batch", "2", "--weights", "copy"), "--weights needs -o"),
        (("--batch", "2", "--patch-constants", "--in-place"), "--patch-constants and --in-place cannot be combined"),
        (
            ("--batch", "2", "--patch-constants", "--weights", "link", "-o", "x.xml"),
            "--patch-constants and --weights link cannot be combined",
        ),
    ],
)
def test_what_cannot_be_done_is_said_on_a_line(
    capsys: pytest.CaptureFixture[str], baked: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, lines, err = run(capsys, baked, *arguments)
    assert (code, lines) == (2, [])
    assert message in err
    assert err.count("\n") == 1


def test_a_file_that_is_no_model_is_reported_as_such(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "no.xml").write_text("<html/>")
    code, lines, _ = run(capsys, tmp_path / "no.xml", "--batch", "2")
    assert code == 1
    assert any("X104" in line for line in lines)
