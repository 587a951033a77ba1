"""Random edits of real models: their undo gives the bytes of the file, and every fact is that of a fresh inference."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from subprocess import run

import numpy
import pytest

import irshape
from irshape import EditError, Graph
from irshape.editing.text import serialised
from irshape.model.model import FAULTY, UNFED
from tests.support.edits import RandomEditor, differences
from tests.support.ir import Net
from tests.support.irs import PATHS, WITH_WEIGHTS, named
from tests.support.oracle import core_of
from tests.support.places import DECODER, EXAMPLES, IRS, ROOT

SUMS = EXAMPLES / "sums.xml"
# Small files of every kind, and those of the examples.
FILES = [path for path in (*PATHS, *sorted(EXAMPLES.glob("*.xml"))) if path.stat().st_size < 400_000]


def whole(path: Path) -> irshape.Graph:
    """A graph of a file, if it is a whole IR."""
    try:
        return irshape.edit(path)
    except irshape.EditError:
        pytest.skip("no whole IR")


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", FILES, ids=named)
def test_facts_after_random_edits_are_those_of_a_fresh_inference(path: Path) -> None:
    graph = whole(path)
    source = path.read_bytes()
    for seed in range(2):
        RandomEditor(graph, seed).edit(25)
        assert list(differences(graph)) == []
        # The text is written as of a graph that was edited, although nothing is left of the edits.
        graph.undo(0)
        draft = graph._draft
        assert bytes(graph) == source and not graph.steps
        text, placed = serialised(draft.state, draft.facts, draft.engine.current, draft.start)
        assert (text, placed[:3]) == (source, ({}, {}, []))
        assert list(differences(graph)) == []


def test_facts_that_are_asked_for_after_each_edit_are_the_same() -> None:
    path = DECODER
    graph = irshape.edit(path)
    editor = RandomEditor(graph, 5)
    for _ in range(80):
        editor.edit(1)
        for layer in list(graph)[::7]:
            assert all(tensor.text.startswith("[") for tensor in layer.outputs)
    assert list(differences(graph)) == []


@pytest.mark.parametrize(("added", "faults"), [("i64[1]", ["R401"]), ([1], ["R401", "V106"])], ids=["an input", "a constant"])
def test_a_layer_that_is_added_behind_a_division_by_zero_fails_as_in_a_file(added: object, faults: list[str]) -> None:
    """OpenVINO computes what no input is a source of: then the target of the Broadcast cannot be computed."""
    net = Net("x: f32[?]\ni: i64[1]\n_d: Divide([4],[0])\n_m: Multiply(_d,[2])\nBroadcast-3(x, _m, mode=numpy) -> Result")
    graph = irshape.edit(net.xml.encode(), weights=net.bin)
    divided = next(layer for layer in graph if layer.type == "Divide").output
    new = graph.add("Add", graph.add("Add", divided, 1), graph["i"] if added == "i64[1]" else added)
    divided.replace_uses(new)
    assert list(differences(graph)) == []
    assert [one.code for one in graph.check().diagnostics] == faults


def test_sizes_that_openvino_does_not_know_stay_sizes_of_irshape() -> None:
    """The rule of the Broadcast first runs on OpenVINO's view of a formula, an unknown value; then on a value that is unknown to both."""
    graph = irshape.Graph("values")
    x, data = graph.parameter("x", "[?,?]"), graph.parameter("data", "[2]", "i64")
    target = graph.add("SquaredDifference", graph.add("ShapeOf", x, output_type="i64"), [7, 7])
    graph.result(graph.add("Broadcast", 0.0, target, mode="numpy", name="out"))
    graph = irshape.edit(bytes(graph), weights=graph.model().weights)
    assert graph["out"].output.text == "[?,?]"
    graph["out"].connect(1, graph[data.layer.name])
    assert list(differences(graph)) == []


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", [path for path in WITH_WEIGHTS if path.stat().st_size < 200_000][::2], ids=named)
def test_openvino_reads_what_irshape_finds_sound(path: Path, tmp_path: Path) -> None:
    graph = whole(path)
    for seed in range(4):
        graph.undo(0)
        if not graph.check().ok:
            return
        editor = RandomEditor(graph, seed)
        for _ in range(12):
            mark = graph.mark()
            editor.edit(1)
            if any(layer.faults for layer in graph) or not graph.check().ok:
                graph.undo(mark)
        if not graph.steps:
            continue
        target = tmp_path / f"{seed}.xml"
        graph.write(target)
        core = core_of(target.read_bytes())
        model = core.read_model(target)
        inference = irshape.infer(target)
        assert [one.get_element_type().get_type_name() for one in model.outputs] == _types(inference)
        assert [len(one.get_partial_shape()) if one.get_partial_shape().rank.is_static else None for one in model.outputs] == [
            None if one.shape is None else len(one.shape) for one in inference.outputs
        ]


def _types(inference: irshape.Inference) -> list[str]:
    """The element types of the outputs as OpenVINO shows them."""
    ports = inference.ports
    return [ports[port.port.source.key][0] for port in inference.outputs if isinstance(port.port, irshape.InputPort) and port.port.source]


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


CHAIN = "x: f32[4] -> a: ReLU -> b: Abs -> c: Exp\nc, x, b -> d: Concat(axis=0) -> Result"
# What the file has, and a fault in its place.
EDGES = {
    "a": ('"0" from-port="0" to-layer="1"', '"2" from-port="1" to-layer="1"'),
    "b": ('"1" from-port="1"', '"1" from-port="7"'),
    "c": ('"2" from-port="1" to-layer="3"', '"6" from-port="1" to-layer="3"'),
    "id": ('<layer id="3"', '<layer id="first"'),
    "ids": ('<port id="2"', '<port id="1"'),
}
OF_FAULTS = [
    ("a cycle, put right", "a", lambda graph: graph["a"].connect(0, graph["x"]), []),
    ("a cycle that is cut elsewhere", "a", lambda graph: graph["b"].connect(0, graph["x"]), None),
    ("a cycle that stays", "a", lambda graph: graph["c"].rename("e"), ["G105"]),
    ("no such port, put right", "b", lambda graph: graph["b"].connect(0, graph["a"]), []),
    ("no such port, which stays", "b", lambda graph: graph["c"].rename("e"), ["G103"]),
    ("no such layer, and a new one has its id", "c", lambda graph: graph.add("Relu", graph["a"]), None),
    ("an id that is no number", "id", lambda graph: graph["c"].connect(0, graph["a"]), None),
    ("an id of two ports", "ids", lambda graph: graph["d"].connect(2, graph["x"]), None),
    ("no such port, and its layer goes", "b", lambda graph: graph["a"].remove(), ["G106"]),
]


@pytest.mark.parametrize(("fault", "edit", "codes"), [one[1:] for one in OF_FAULTS], ids=[one[0] for one in OF_FAULTS])
def test_a_draft_of_faulty_edges_knows_what_its_file_tells(fault: str, edit: Callable[[Graph], object], codes: list[str] | None) -> None:
    """Or it is not written: an edge of a cycle would feed its layer again."""
    graph = irshape.edit(Net(CHAIN).xml.replace(*EDGES[fault]).encode())
    edit(graph)
    if codes is None:
        with pytest.raises(
            EditError, match=r"a fault would change the edges of \w+ '\w' in the written file; correct it first.*: [GX]1[01][256]"
        ):
            graph.check()
        return
    assert list(differences(graph)) == []
    assert [one.code for one in graph.check().diagnostics if one.severity == "error"] == codes


def test_a_layer_that_only_a_faulty_edge_leads_on_counts_in_a_draft_too() -> None:
    """Its error ends the fixpoint of the body, as OpenVINO follows edges whose ports do not exist."""
    faulty = SUMS.read_text().replace('from-layer="7" from-port="2"', 'from-layer="7" from-port="7"').replace('"Unsqueeze"', '"Unsqueez"')
    graph = irshape.edit(faulty.encode(), weights=SUMS.with_suffix(".bin"))
    graph["sums"].body["sum/decayed"].rename("other")
    assert [one.code for one in graph.check().diagnostics if one.severity == "error"] == ["G110", "G103"]
    assert list(differences(graph)) == []


@pytest.mark.parametrize(("version", "source"), [(10, UNFED), (11, FAULTY)])
def test_an_input_that_becomes_the_last_needs_an_edge_as_in_a_file(version: int, source: int) -> None:
    text = SUMS.read_text().replace('<edge from-layer="0" from-port="0" to-layer="2" to-port="0" />', "")
    graph = irshape.edit(text.replace('version="11"', f'version="{version}"').encode(), weights=SUMS.with_suffix(".bin"))
    body = graph["sums"].body
    body["sum"].output.replace_uses(body["step/flat"])
    body["sum"].remove()
    assert graph["sums"]._item.sources == graph.model()["sums"]._node.sources == [source]


def test_a_body_knows_the_same_whether_or_not_its_layer_reaches_a_result() -> None:
    """An error in the body ends the search for what each iteration hands to the next."""
    path = IRS / "synth" / "loop_cond.xml"
    text = path.read_text().replace('auto_broadcast="numpy"', 'auto_broadcast="no"')
    text = text.replace('from-layer="4" from-port="4" to-layer="5"', 'from-layer="0" from-port="0" to-layer="5"')
    graph = irshape.edit(text.encode(), weights=path.with_suffix(".bin"))
    graph["Loop_1998"].body["Convert_1982"].rename("other")
    assert list(differences(graph)) == []


@pytest.mark.parametrize(
    ("text", "edit", "is_written"),
    [
        ("x -> Reshape([1,2]) -> Abs\nx -> Result", lambda graph: graph["x"].output.replace_uses(graph.add("Relu", graph["x"])), True),
        ("x -> Reshape([1,2]) -> Abs\nx -> Result", lambda graph: graph["const_1"].set(size=120), True),
        ("x -> Reshape([1,2]) -> Result", lambda graph: graph["x"].rename("y"), False),
    ],
    ids=["no Result reads it", "it is looked at again", "a Result reads it"],
)
def test_what_no_weights_hold_is_not_known(text: str, edit: Callable[[Graph], object], *, is_written: bool, tmp_path: Path) -> None:
    """A draft of a constant whose bytes are missing is not written where a Result needs the constant."""
    net = Net(f"x: f32[2]\n{text}")
    graph = irshape.edit(net.xml.replace('size="16"', 'size="127"').encode(), weights=net.bin)
    edit(graph)
    assert list(differences(graph)) == []
    with nullcontext() if is_written else pytest.raises(OSError, match="missing or cut short"):
        graph.write(tmp_path / "new.xml", faulty=True)
