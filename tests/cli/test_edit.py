"""`irshape edit` makes all edits of a line, or none; `extract` and `simplify` say what goes, what stays and what is lost."""

import os
import shutil
from pathlib import Path

import numpy
import pytest

import irshape
from irshape.cli.main import main
from tests.support.commands import Start

ATROUS = "examples/atrous.xml"


def test_a_model_without_variables_is_stateless(run: Start) -> None:
    assert "--stateless changes nothing: the model has no variable" in run("edit", ATROUS, "--stateless", code=0).out


def test_edits_are_made_in_order(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "new.xml")
    edits = ["--rename", "stem=s:1=x", "--set-attribute", "s:1=x:strides=1,1", "--bypass", "stem/relu", "--add-output", "features"]
    assert f"written: {target}" in run("edit", ATROUS, *edits, "-o", target, code=0).out
    model = irshape.read(target)
    assert model["s:1=x"].attributes["strides"] == (1, 1) and "stem/relu" not in model and len(model.results) == 2
    assert irshape.check(target).ok


def test_without_a_place_the_changes_are_shown(run: Start) -> None:
    printed = run("edit", ATROUS, "--remove", "upsample", "--prune", code=1).out
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
    assert "changes.html: already exists; --force overwrites it" in run(*line, code=2).err


def test_new_errors_are_written_only_on_request(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "new.xml")
    line = ["edit", ATROUS, "--set-attribute", "stem:strides=0,0", "-o", target]
    for more in ([], ["--force"]):
        told = run(*line, *more, code=1).err
        assert "not written: the edits make 1 error" in told and "--faulty writes it" in told and not os.listdir(tmp_path)
    run(*line, "--faulty", code=0)
    assert "already exists; --force overwrites it" in run(*line, "--faulty", code=2).err
    assert not irshape.check(target).ok


def test_a_model_that_loses_its_outputs_is_written_only_on_request(tmp_path: Path, run: Start) -> None:
    """OpenVINO reads such a model, and gives nothing."""
    line = ["edit", ATROUS, "--remove", "stem"]
    assert run(*line, code=1).lines[-2] == "no layer gives an output any more, so the model computes nothing: add an output"
    line += ["-o", str(tmp_path / "new.xml")]
    assert "computes nothing: add an output; --faulty writes it" in run(*line, code=1).err and not os.listdir(tmp_path)
    run(*line, "--add-output", "image", code=0)
    run(*line, "--faulty", "--force", code=0)


@pytest.mark.parametrize("more", [[], ["--trim"]])
def test_weights_end_where_the_constants_end(more: list[str], tmp_path: Path) -> None:
    """The bytes behind the last constant that stays are those of removed layers; `--trim` also drops those between others."""
    path = tmp_path / "model.xml"
    line = ["edit", ATROUS, "--remove", "atrous/space_to_batch", "--add-output", "stem/relu", "--prune", *more, "-o", str(path)]
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


def test_layers_of_bodies_have_the_names_that_other_commands_print(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "new.xml")
    edits = ["--bypass", "2.body/3", "--rename", "sums / body / step=one", "--set-attribute", "sum/next:auto_broadcast=none"]
    assert "sums / body / sum/next:0" in run("edit", "examples/sums.xml", *edits, "-o", target, code=0).out
    body = irshape.read(target)["sums"].body
    assert "sum/decayed" not in body and "one" in body and body["sum/next"].attributes["auto_broadcast"] == "none"
    assert "belongs to another graph" in run("edit", "examples/sums.xml", "--add-output", "sum/next", "-o", target, "--force", code=2).err
    done = run("edit", "examples/sums.xml", "--remove", "sum/back", "-o", target, "--force", code=2)
    assert "reads output 0 of TensorIterator 'sums': replace its uses first" in done.err


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A model whose Reshape gets its shape from a ShapeOf."""
    graph = irshape.Graph("flat")
    x = graph.parameter("x", "[?,3,?]")
    sizes = graph.add("ShapeOf", graph.add("Convert", x, destination_type="f32", name="same"), name="shape", output_type="i64")
    rows = graph.add("Gather", sizes, [0], 0, name="rows")
    to = graph.add("Concat", rows, [-1], axis=0, name="to")
    weights = numpy.ones((3, 1), "f4")
    graph.result(graph.add("Reshape", graph.add("Multiply", graph["same"], weights), to, special_zero=False, name="flat"), names="y")
    graph.write(tmp_path / "flat.xml")
    return str(tmp_path / "flat.xml")


def test_a_model_is_written_without_the_layers(path: str, tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "simple.xml")
    printed = run("simplify", path, "-o", target, "--prove", "--trim", code=0).out
    assert "no-op  Convert  1" in printed and "proved: equal outputs in 3 runs" in printed
    assert f"written: {target} (11 layers of 12)" in printed and "same" not in irshape.read(target)
    assert "already exists; --force overwrites it" in run("simplify", path, "-o", target, code=2).err


def test_a_part_with_inputs_of_its_own_is_not_proved(run: Start, tmp_path: Path) -> None:
    helped = " ".join(run("extract", "--help", code=0).out.split())
    assert "if an output differs; the part must begin at inputs of the model (--to without --from)" in helped
    said = run("extract", ATROUS, "--from", "stem", "--to", "upsample", "-o", tmp_path / "cut.xml", "--prove", code=2).err
    assert "the part begins at 'stem', which is no input of the model" in said and not [*tmp_path.iterdir()]


def test_shape_computations_go_once_the_sizes_are_set(path: str, tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "static.xml")
    done = run("simplify", path, "--input", "x[N,3,L]", "--set", "N=2", "L=8", "-o", target, code=0)
    model = irshape.read(target)
    assert not model.of_type("ShapeOf", "Gather", "Concat") and model["to"].const.data.tolist() == [2, -1]
    assert irshape.infer(target).outputs["y"].shape == (2, 24)
    assert "fold  Concat   1" in done.out
    assert "the model cannot have these shapes" in run("simplify", path, "--input", "x[2,4,8]", "--dry-run", code=1).err


def test_a_dry_run_lists_each_layer_with_the_reason(path: str, tmp_path: Path, run: Start) -> None:
    before = sorted(tmp_path.iterdir())
    printed = run("simplify", path, "--dry-run", "--only", "no-op", code=0).out
    assert "no-op  Convert  same   its output is its input: f32[" in printed and "nothing is written (11 layers of 12)" in printed
    assert (
        "nothing to simplify" in run("simplify", path, "--dry-run", "--only", "dead", code=0).out and sorted(tmp_path.iterdir()) == before
    )


def test_sizes_of_a_variable_are_set(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "static.xml")
    run("simplify", "examples/decoder_stateful.xml", "--set", "B=1", "S=4", "P=8", "-o", target, code=0)
    assert all(isinstance(size, int) for port in irshape.infer(target).outputs for size in port.shape or ())


def test_the_backbone_of_a_model(tmp_path: Path, run: Start) -> None:
    target = str(tmp_path / "backbone.xml")
    printed = run("extract", ATROUS, "--to", "features", "-o", target, code=0).out
    assert "input  image     f32[?,3,?,?]      [B,3,H,W]" in printed and f"written: {target} (17 layers of 18)" in printed
    model = irshape.read(target)
    assert "upsample" not in model and irshape.check(target).diagnostics == []
    assert "already exists; --force overwrites it" in run("extract", ATROUS, "--to", "features", "-o", target, code=2).err
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
