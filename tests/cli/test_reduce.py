"""`irshape reduce` writes a folder that can be attached to a report."""

import os
import shlex
import sys
from pathlib import Path

import pytest

import irshape
from tests.support.commands import Start
from tests.support.ir import Net

ATROUS = "examples/atrous.xml"


@pytest.fixture
def line(tmp_path: Path) -> str:
    """A command that fails on models with a BatchToSpace."""
    script = tmp_path / "run.py"
    script.write_text("import sys\nif 'BatchToSpace' in open(sys.argv[1]).read():\n    sys.exit(f'no kernel for {sys.argv[1]}')\n")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{}}"


def test_a_folder_holds_the_model_the_command_and_the_steps(line: str, tmp_path: Path, run: Start) -> None:
    target = tmp_path / "out"
    printed = run("reduce", ATROUS, "--while", line, "--match", "no kernel", "-j", "2", "-o", str(target), code=0).out
    assert printed.startswith("the whole model: 18 layers") and f"written: {target}/ (" in printed
    assert sorted(path.name for path in target.iterdir()) == ["README.md", "model.bin", "model.xml"]
    assert {node.type for node in irshape.read(target / "model.xml")} == {"Parameter", "Const", "BatchToSpace", "Result"}
    assert irshape.check(target / "model.xml").ok
    report = (target / "README.md").read_text()
    assert line.replace("{}", "model.xml") in report and "no kernel for model.xml" in report and "ends with the code 1" in report
    assert f"irshape {irshape.__version__}" in report and "- openvino 20" in report and "- the whole model: 18 layers" in report
    assert "the folder is not empty (--force overwrites its files" in run("reduce", ATROUS, "--while", line, "-o", str(target), code=2).err
    silent = f"{line} 2> {os.devnull}"
    run("reduce", ATROUS, "--while", silent, "-o", str(target), "--force", code=0)
    assert "It prints nothing.\n" in (target / "README.md").read_text()


def test_a_code_is_kept(tmp_path: Path, run: Start) -> None:
    target = tmp_path / "out"
    run("reduce", "examples/faulty.xml", "--keep", "S204", "-o", str(target), code=0)
    found = irshape.check(target / "model.xml").diagnostics
    assert {one.code for one in found} == {"S204"} and len(irshape.read(target / "model.xml")) < 8
    assert "irshape reports S204:" in (target / "README.md").read_text()


def test_a_run_goes_on_only_with_the_same_question(line: str, tmp_path: Path, run: Start) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "journal.jsonl").write_text('{"question": "another"}\n')
    done = run("reduce", ATROUS, "--while", line, "-o", str(target), "--resume", code=2)
    assert "the answers are those of another model or command" in done.err
    run("reduce", ATROUS, "--while", line, "-o", str(target), "--force", code=0)
    assert not (target / "journal.jsonl").exists()
    run("reduce", ATROUS, "--while", line, "-o", str(target), "--resume", code=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--while", "true {}"], "the command does not fail on the whole model"),
        (["--while", "sleep 20; false {}", "--timeout", "1"], "the command does not fail on the whole model"),
        (["--keep", "S201", "--match", "x"], "irshape does not report S201 on the whole model with a match"),
    ],
)
def test_a_fault_that_does_not_show(arguments: list[str], message: str, tmp_path: Path, run: Start) -> None:
    assert message in run("reduce", ATROUS, *arguments, "-o", tmp_path / "out", code=1).err


def test_a_run_that_fails_leaves_nothing_and_says_which_codes_there_are(tmp_path: Path, run: Start) -> None:
    target = tmp_path / "out"
    said = run("reduce", "examples/faulty.xml", "--keep", "T101", "-o", str(target), code=1).err
    assert "irshape does not report T101 on the whole model; --keep may name " in said and "S204" in said
    assert not target.exists()


@pytest.mark.parametrize(
    ("code", "text", "said"),
    [
        # The second input is a tensor of rank 3, and the one of rank 4 beside it, which has the right rank, is not read.
        (
            "V103",
            "x: f32[2,3,4,5] -> ReLU -> Result\ny: f32[2,3,4] -> Transpose([0,2,3,1]) -> Abs -> Result",
            "axis of arg: 4 and 3 differ",
        ),
        ("S201", "x: f32[5,7] -> a: ReLU -> Abs -> Result\ny: f32[6,7] -> b: Sigmoid\nConcat(a, b, axis=1) -> ReLU -> Result", "5 and 6"),
    ],
)
def test_the_numbers_of_the_message_are_kept(code: str, text: str, said: str, tmp_path: Path, run: Start) -> None:
    path = Net(text).save(tmp_path / "m.xml")
    run("reduce", str(path), "--keep", code, "-o", str(tmp_path / "out"), code=0)
    (left,) = [one for one in irshape.check(tmp_path / "out" / "model.xml").diagnostics if one.code == code]
    assert said in left.message


def test_a_concat_at_fault_is_kept_with_the_layers_that_it_joins(tmp_path: Path, run: Start) -> None:
    net = Net("x: f32[1,3,8,8] -> a: ReLU\ny: f32[1,3,9,8] -> b: Sigmoid\nConcat(a, b, axis=1) -> ReLU -> Result")
    path = tmp_path / "m.xml"
    path.write_text(net.xml)
    run("reduce", str(path), "--keep", "S201", "-o", str(tmp_path / "out"), code=0)
    left = irshape.check(tmp_path / "out" / "model.xml")
    assert sorted(node.type for node in left.model) == ["Concat", "Parameter", "Parameter", "Result"]
    assert [(one.code, one.where.layer_type) for one in left.diagnostics if one.severity == "error"] == [("S201", "Concat")]
