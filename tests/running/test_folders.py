"""The folders of `irshape diff`: two exports side by side, and an export beside the references of a release."""

import json
import shutil
from pathlib import Path

import pytest

from irshape.cli.main import main
from irshape.editing.graph import edit
from tests.support.places import ATROUS, EXAMPLES
from tests.support.schemas import validator


@pytest.fixture
def exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two exports: a model that both have, one that differs, and one that only one side has, in each."""
    monkeypatch.chdir(tmp_path)
    for side, names in (("old", "decoder sums"), ("new", "decoder voice")):
        (tmp_path / side / "encoder").mkdir(parents=True)
        for name in names.split():
            for path in EXAMPLES.glob(f"{name}.*"):
                shutil.copy(path, tmp_path / side)
        graph = edit(ATROUS)
        if side == "new":
            graph["stem"].set(strides=[1, 1])
        graph.write(tmp_path / side / "encoder" / "openvino_model.xml")
    return tmp_path


def rows(out: str) -> dict[str, str]:
    """The state of each model in a report."""
    found = [line for line in out.splitlines() if ".xml" in line or ".json" in line]
    return {
        words[-1]: " ".join(words[:-1])
        for line in found
        if (words := line.partition("  /")[0].split()[: 4 if line.lstrip().startswith("only") else 2])
    }


def test_the_models_of_two_folders_are_paired_by_their_paths(exports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "old", "new"]) == 1
    out = capsys.readouterr().out
    assert rows(out) == {"decoder.xml": "same", "encoder/openvino_model.xml": "differs", "sums.xml": "only in A", "voice.xml": "only in B"}
    assert "1 attribute changed, shapes of" in out and "new has no such model" in out
    assert out.splitlines()[-1] == "4 models: 1 same, 1 differs, 1 only in A, 1 only in B"
    shutil.copytree("old", "copy")
    assert main(["diff", "old", "copy"]) == 0
    assert main(["diff", "old", "old/decoder.xml"]) == 2
    (exports / "copy" / "sums.xml").write_text("<net")
    assert main(["diff", "old", "copy"]) == 2
    assert "fails  sums.xml" in capsys.readouterr().out


def test_the_models_of_two_folders_run(exports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "old", "new", "--run"]) == 1
    out = capsys.readouterr().out
    assert rows(out)["encoder/openvino_model.xml"] == "differs"
    assert "equal outputs in 3 runs (the same model)" in out and " (1 attribute changed, shapes of" in out


def test_the_data_of_two_folders_have_their_form(exports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "old", "new", "--run", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    validator("folders").validate(report)
    assert [(one["name"], one["state"]) for one in report["files"]][:2] == [
        ("decoder.xml", "same"),
        ("encoder/openvino_model.xml", "differs"),
    ]
    assert report["files"][0]["difference"]["run"]["is_same"] and report["files"][-1]["difference"] is None


def test_an_export_is_compared_with_the_references_of_a_release(exports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--reference", "kept", "old"]) == 2
    assert "--write-reference kept writes it" in capsys.readouterr().err
    assert main(["diff", "--write-reference", "kept", "old"]) == 0
    assert sorted(path.relative_to("kept").as_posix() for path in Path("kept").rglob("*.json")) == [
        "decoder.json",
        "encoder/openvino_model.json",
        "sums.json",
    ]
    capsys.readouterr()
    assert main(["diff", "--reference", "kept", "old"]) == 0
    assert main(["diff", "--reference", "kept", "new"]) == 1
    out = capsys.readouterr().out
    assert "only in A  sums.json" in out and "only in B  voice.xml" in out
    line = next(line for line in out.splitlines() if "differs  encoder/openvino_model.xml" in line)
    assert "output mask: f32[B,2,2*((H + 1)//2),2*((W + 1)//2)] -> f32[B,2," in line and "; conditions: H >= 3 and" in line
    assert main(["diff", "--reference", "kept/encoder", "new/encoder/openvino_model.xml", "--all"]) == 1
    every = capsys.readouterr().out
    assert "macs: " in every and "the shapes of" in every and "more change" not in every
    assert main(["diff", "--reference", "kept", "new", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    validator("folders").validate(report)
    assert len(report["files"][1]["changes"]) > 3


def test_references_are_brought_up_to_date(exports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The models that are gone are named, and no file is removed."""
    assert main(["diff", "--write-reference", "kept", "old"]) == 0
    assert main(["diff", "--write-reference", "kept", "new"]) == 1
    assert "delete the reference if you removed it" in capsys.readouterr().out
    (exports / "kept" / "sums.json").unlink()
    assert main(["diff", "--reference", "kept", "new"]) == 0
    (exports / "kept" / "voice.json").write_text("{}")
    assert main(["diff", "--reference", "kept", "new"]) == 2
    assert main(["diff", "--write-reference", "kept", "new"]) == 2
    assert "this is not a reference of irshape" in capsys.readouterr().out and Path("kept/voice.json").read_text() == "{}"
