"""`irshape edit` makes all edits of a line, or none."""

import os
import shutil
from pathlib import Path

import pytest

import irshape
from irshape.cli.main import main
from tests.support.commands import Start

ATROUS = "examples/atrous.xml"


def test_edits_are_made_in_order(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "new.xml")
    edits = ["--rename", "stem=s:1=x", "--set-attribute", "s:1=x:strides=1,1", "--bypass", "stem/relu", "--add-output", "features"]
    assert f"written: {target}" in run("edit", ATROUS, *edits, "-o", target, code=0).out
    model = irshape.read(target)
    assert model["s:1=x"].attributes["strides"] == (1, 1) and "stem/relu" not in model and len(model.results) == 2
    assert irshape.check(target).ok


def test_without_a_place_the_changes_are_shown(run: Start) -> None:
    printed = run("edit", ATROUS, "--remove", "upsample", "--prune", code=0).out
    assert "17 layers removed" in printed and "the model is not written without -o or --in-place" in printed
    assert "A104 strides must be at least 1" in run("edit", ATROUS, "--set-attribute", "stem:strides=0,0", code=1).out


def test_errors_that_the_model_had_do_not_count(run: Start) -> None:
    assert "A103" not in run("edit", "examples/faulty.xml", "--rename", "join=joined", code=0).out
    printed = run("edit", "examples/faulty.xml", "--set-attribute", "join:axis=9", code=1).out
    assert "V102 axis must be in" in printed and "A103" not in printed


def test_a_page_shows_the_changes_before_the_model_is_written(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "changes.html")
    line = ["edit", ATROUS, "--bypass", "stem/relu", "--set-attribute", "stem:strides=3,3", "--view", target]
    printed = run(*line, code=0).out
    assert f"written: {target}" in printed and "the model is not written" in printed and os.listdir(tmp_path) == ["changes.html"]
    shown = Path(target).read_text()
    assert "stem/relu" in shown  # a layer that is gone is in the changes alone
    assert "changes.html: already exists (--force overwrites it)" in run(*line, code=2).err


def test_new_errors_are_written_only_by_force(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "new.xml")
    line = ["edit", ATROUS, "--set-attribute", "stem:strides=0,0", "-o", target]
    assert "not written: the edits make 1 error" in run(*line, code=1).err and not os.listdir(tmp_path)
    run(*line, "--force", code=0)
    assert not irshape.check(target).ok


def test_weights_are_trimmed(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    line = ["edit", ATROUS, "--remove", "atrous/space_to_batch", "--add-output", "stem/relu", "--prune", "--trim", "-o", str(path)]
    assert main(line) == 0
    assert path.with_suffix(".bin").stat().st_size < Path(ATROUS).with_suffix(".bin").stat().st_size
    assert irshape.check(path).diagnostics == [] and sorted(os.listdir(tmp_path)) == ["model.bin", "model.xml"]
    node = irshape.read(path)["stem/weights"]
    assert (node.const.data == irshape.read(ATROUS)["stem/weights"].const.data).all()


def test_a_file_is_edited_in_place(tmp_path: Path, run: Start) -> None:
    for suffix in (".xml", ".bin"):
        shutil.copy(Path(ATROUS).with_suffix(suffix), tmp_path / f"model{suffix}")
    path = tmp_path / "model.xml"
    run("edit", str(path), "--add-output", "stem/relu", "--in-place", code=0)
    assert len(irshape.read(path).results) == 2 and irshape.check(path).ok
    assert path.with_suffix(".bin").read_bytes() == Path(ATROUS).with_suffix(".bin").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no edit: give --add-output, --set-attribute, --rename, --name, --freeze, --bypass, --remove"),
        (["--bypass", "stem", "--in-place", "-o", "x.xml"], "-o and --in-place cannot be combined"),
        (["--trim", "--in-place"], "--trim and --in-place cannot be combined"),
        (["--bypass", "stam"], "--bypass stam: the model has no layer 'stam'; did you mean 'stem'?"),
        (["--bypass", "stem", "--bypass", "stem"], "--bypass stem: the model has no layer 'stem'"),
        (["--set-attribute", "stem"], "the form is LAYER:ATTRIBUTE=VALUE"),
        (["--set-attribute", "stem:stride=1"], "Convolution has no attribute 'stride'"),
        (["--rename", "stem"], "the form is LAYER=NAME"),
        (["--rename", "stem=image"], "'image' is already the name of layer 0"),
        (["--add-output", "nothing"], "no tensor 'nothing'"),
    ],
)
def test_what_cannot_be_done_changes_nothing(arguments: list[str], message: str, tmp_path: Path, run: Start) -> None:
    target = [] if {"-o", "--in-place"} & set(arguments) else ["-o", str(tmp_path / "x.xml")]
    assert message in run("edit", ATROUS, *arguments, *target, code=2).err and not os.listdir(tmp_path)


def test_layers_of_bodies_have_the_names_that_other_commands_print(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "new.xml")
    edits = ["--bypass", "2.body/3", "--rename", "sums / body / step=one", "--set-attribute", "sum/next:auto_broadcast=none"]
    assert "sums / body / sum/next:0" in run("edit", "examples/sums.xml", *edits, "-o", target, code=0).out
    body = irshape.read(target)["sums"].body
    assert "sum/decayed" not in body and "one" in body and body["sum/next"].attributes["auto_broadcast"] == "none"
    assert "belongs to another graph" in run("edit", "examples/sums.xml", "--add-output", "sum/next", "-o", target, "--force", code=2).err
    done = run("edit", "examples/sums.xml", "--remove", "sum/back", "-o", target, "--force", code=2)
    assert "reads output 0 of TensorIterator 'sums': replace its uses first" in done.err
