"""The operations as methods of a graph, with the types of their inputs and attributes."""

import sys
from pathlib import Path
from subprocess import run

import numpy
import pytest

import irshape
from irshape import EditError

ROOT = Path(__file__).parent.parent.parent
GOOD = """
import irshape

graph = irshape.Graph("net")
data = graph.parameter("data", "[1,3,?,?]")
conv = graph.op.Convolution(data, [[[[1.0]]], [[[2.0]]]], strides=(2, 2), auto_pad="same_upper", name="conv")
graph.result(graph.op.Concat(conv, conv, axis=1))
for body in irshape.edit("model.xml")["loop"].bodies.values():
    layer: irshape.Layer = body.op.Convert(body.add_input(data, axis=0), destination_type=irshape.ElementType.f16)
"""
# Lines that must be refused, each with the words of the message.
BAD = {
    "graph.op.Convolution(data, data, stride=(2, 2))": 'Unexpected keyword argument "stride"',
    "graph.op.Convolution(data, data, strides=2)": 'Argument "strides"',
    'graph.op.Convolution(data, data, auto_pad="same")': 'Argument "auto_pad"',
    "graph.op.Convolution(data)": "Too few arguments",
    "graph.op.Convolutoin(data, data)": '"Operations" has no attribute "Convolutoin"',
    "graph.op.Relu(data).shape": '"Layer" has no attribute "shape"',
    "graph.op.Loop(data)": '"Operations" has no attribute "Loop"',
}


def test_the_types_of_operations_are_checked(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    lines = GOOD.splitlines() + list(BAD)
    (tmp_path / "sample.py").write_text("\n".join(lines), encoding="utf-8")
    done = run(
        [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "sample.py")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(found) == len(BAD), done.stdout
    for line, (code, message) in zip(found, BAD.items(), strict=True):
        assert f"sample.py:{lines.index(code) + 1}: " in line and message in line, line


def test_operations_are_completed_and_added() -> None:
    graph = irshape.Graph("net")
    data = graph.parameter("data", "[1,3,8,8]")
    conv = graph.op.Convolution(data, numpy.ones((4, 3, 3, 3), "f4"), strides=(2, 2))
    assert (conv.type, conv.output.text) == ("Convolution", "[1,4,3,3]")
    assert {"Convolution", "Relu", "TopK"} < set(dir(graph.op))
    assert graph.op.TopK(conv, 1, axis=1, mode="max", sort="value", name="best").name == "best"
    misspelt = "Convolutoin"
    with pytest.raises(EditError, match="did you mean Convolution"):
        getattr(graph.op, misspelt)(data)
    with pytest.raises(EditError, match="Relu has no attribute 'slope'"):
        getattr(graph.op, "Relu")(data, slope=1)  # noqa: B009
