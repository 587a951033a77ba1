"""Random edits of real models: their undo gives the bytes of the file, and every fact is that of a fresh inference."""

from pathlib import Path

import pytest

import irshape
from irshape.editing.text import serialised
from tests.support.edits import RandomEditor, differences
from tests.support.irs import PATHS, WITH_WEIGHTS, named
from tests.support.oracle import core_of

ROOT = Path(__file__).parent.parent.parent
# Small files of every kind, and those of the examples.
FILES = [path for path in (*PATHS, *sorted((ROOT / "examples").glob("*.xml"))) if path.stat().st_size < 400_000]


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
        assert serialised(draft.state, draft.facts, draft.engine.current, draft.start) == (source, ({}, {}, []))
        assert list(differences(graph)) == []


def test_facts_that_are_asked_for_after_each_edit_are_the_same() -> None:
    path = ROOT / "examples" / "decoder.xml"
    graph = irshape.edit(path)
    editor = RandomEditor(graph, 5)
    for _ in range(80):
        editor.edit(1)
        for layer in list(graph)[::7]:
            assert all(tensor.text.startswith("[") for tensor in layer.outputs)
    assert list(differences(graph)) == []


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
