"""`irshape simplify` removes what a model does not need, and says why."""

from pathlib import Path

import numpy
import pytest

import irshape
from tests.support.commands import Start


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
    assert "already exists (--force overwrites it)" in run("simplify", path, "-o", target, code=2).err


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either -o OUT.xml, or --dry-run to write nothing"),
        (["-o", "o.xml", "--dry-run"], "give either -o OUT.xml, or --dry-run to write nothing"),
        (["--dry-run", "--set", "Q=1"], "the model has no symbol 'Q'"),
        (["--dry-run", "--input", "y[1]"], "the model has no input 'y'"),
        (["--dry-run", "--only", "noop"], "invalid choice: 'noop'"),
    ],
)
def test_what_cannot_be_is_one_line(path: str, arguments: list[str], message: str, run: Start) -> None:
    assert message in run("simplify", path, *arguments, code=2).err
