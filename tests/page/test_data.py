"""The data of a page without a browser: groups, changes, the graphs of Model Explorer, and the command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.answers.explain.explainer import Explainer, Target
from irshape.answers.explain.explanation import Explanation, Read
from irshape.answers.explain.sources import Derivation, Point, Sources
from irshape.cli.main import main
from irshape.model.model import Model
from irshape.page.data import PageData
from irshape.page.html import page as html
from irshape.page.model_explorer import graphs
from tests.fuzz.hostile import all_of
from tests.support.ir import Net
from tests.support.places import ATROUS, DECODER, EXAMPLES, IRS

HOSTILE = all_of()


def named(*names: str) -> Model:
    """A chain of Relus with these names."""
    text = Net(f"f32[1,4]{' -> Relu' * len(names)} -> Result").xml
    for number, name in enumerate(names, 1):
        text = text.replace(f'name="relu_{number}"', f'name="{name}"')
    return verbs.read(text)


def test_the_data_are_those_of_the_verbs() -> None:
    data = PageData(verbs.read(ATROUS)).to_dict()
    inference = verbs.infer(ATROUS)
    layers = data["layers"]
    for position, key in enumerate(layers["key"]):
        for index, port in enumerate(layers["signatures"][layers["signature"][position]]["outputs"]):
            element_type, shape = layers["outputs"][position][2 * index : 2 * index + 2]
            assert (layers["types"][element_type], data["shapes"][shape][0]) == inference.ports[f"{key}:{port}"]
    assert data["symbols"] == {"B": [1, None, 1, 0], "H": [3, None, 1, 0], "W": [3, None, 1, 0]}


def test_changes_mark_layers_and_the_groups_around_them() -> None:
    before, after = named("block/a", "block/b", "last"), named("block/a", "block/c", "block/d", "last")
    data = PageData(after)
    data.difference = verbs.diff(before, after)
    found = data.to_dict()
    assert {row["mark"] for row in found["changes"]} >= {"added"}
    group = len(found["layers"]["key"])
    assert found["marks"][group] == "changed"


def test_two_files_of_one_name_have_their_folders_in_the_title(tmp_path: Path) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.xml").write_text(Net("f32[1,4] -> ReLU -> Result").xml)
    before, after = (verbs.read(tmp_path / folder / "m.xml") for folder in "ab")
    data = PageData(after)
    data.difference = verbs.diff(before, after)
    assert data.to_dict()["name"] == f"{tmp_path}/a/m.xml -> {tmp_path}/b/m.xml"


def test_the_page_holds_no_markup_of_the_file() -> None:
    text = html(PageData(verbs.read(named("</script><b>", "x").document.source.replace(b"</script><b>", b"&lt;/script>&lt;b>"))).to_dict())
    assert text.count("</script>") == 3
    assert "<b>" not in text
    assert re.search(r'content="default-src \'none\'; script-src \'sha256-[^"]+"', text)


@pytest.mark.slow("take long")
@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_file_makes_a_page(name: str) -> None:
    file = HOSTILE[name]
    data = PageData(verbs.read(file.xml, path="model.xml", weights=file.weights or b"")).to_dict()
    assert len(data["layers"]["key"]) == len(data["layers"]["line"])
    assert json.dumps(data, ensure_ascii=False).isprintable()


def test_graphs_of_model_explorer() -> None:
    (graph,) = graphs(verbs.infer(ATROUS, inputs={"image": "[1,3,H,64]"}))
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert nodes["7"]["namespace"] == "atrous"
    assert nodes["7"]["incomingEdges"] == [{"sourceNodeId": "3", "sourceNodeOutputId": "0", "targetNodeInputId": "0"}]
    assert {"key": "input block_shape", "value": "Const i64[4]"} in nodes["7"]["attrs"]
    assert nodes["2"]["outputsMetadata"][0]["attrs"][:2] == [
        {"key": "shape", "value": "f32[1,4,2..,32]"},
        {"key": "formula", "value": "[1,4,(H + 1)//2,32]"},
    ]
    assert nodes["7"]["inputsMetadata"][1] == {"id": "1", "attrs": [{"key": "__tensor_tag", "value": "block_shape"}]}
    assert nodes["0"]["label"] == "Parameter image"
    assert "1" not in nodes


def test_graphs_of_model_explorer_speak_the_symbols_of_the_signature() -> None:
    (graph,) = graphs(verbs.check(DECODER))
    nodes = {node["label"]: node for node in graph["nodes"]}
    assert {"key": "formula", "value": "[B,2,S,4]"} in nodes["ScaledDotProductAttention"]["outputsMetadata"][0]["attrs"]
    assert "Result present.key" in nodes


def test_graphs_of_bodies_say_what_is_outside() -> None:
    _, body, *_ = graphs(verbs.check(IRS / "v10" / "v10_loop_scan.xml"))
    attributes = [one for node in body["nodes"] for one in node["attrs"]]
    assert any(one["key"] == "takes" and "at first" in one["value"] for one in attributes)
    assert any(one["key"] == "gives" for one in attributes)
    assert any(one["key"] == "next iteration" for one in attributes)


# The command.


def run(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    code = main(["view", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_writes_the_page(capsys: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(capsys, ATROUS, "-o", page) == (0, f"written: {page}\n", "")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"))[1])  # type: ignore[index]
    assert data["name"] == "atrous.xml"
    code, _, error = run(capsys, ATROUS, "-o", page)
    assert (code, error) == (2, f"irshape: {page}: already exists; --force overwrites it\n")
    assert run(capsys, ATROUS, "-o", page, "--force")[0] == 0


def test_the_command_shows_a_faulty_file(capsys: Any, tmp_path: Path) -> None:
    assert run(capsys, EXAMPLES / "faulty.xml", "-o", tmp_path / "page.html")[0] == 1
    broken = tmp_path / "broken.xml"
    broken.write_text("<net", encoding="utf-8")
    assert run(capsys, broken, "-o", tmp_path / "broken.html")[0] == 1
    assert (tmp_path / "broken.html").exists()


def test_the_command_never_writes_over_its_input(capsys: Any, tmp_path: Path) -> None:
    model = tmp_path / "model.xml"
    model.write_bytes((EXAMPLES / "space_to_batch.xml").read_bytes())
    code, _, error = run(capsys, model, "-o", model, "--force")
    assert (code, error) == (2, f"irshape: {model}: the output would overwrite the input\n")


def test_the_command_shows_changes(capsys: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(capsys, EXAMPLES / "space_to_batch.xml", EXAMPLES / "space_to_depth.xml", "-o", page)[0] == 0
    assert "space_to_batch.xml -&gt; space_to_depth.xml" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["missing.xml"], "missing.xml: No such file or directory"),
        ([str(EXAMPLES)], f"{EXAMPLES}: this is a folder; irshape view shows one file"),
        (["a.xml", "b.xml", "c.xml"], "irshape view shows one file, or the changes between two"),
        (["a.xml", "--live", "-o", "page.html"], "--live serves one file; it takes neither a second file nor -o"),
        (["missing.xml", str(ATROUS)], "missing.xml: No such file or directory"),
        ([str(ATROUS), "--input", "picture[1,3,H,W]"], "the model has no input 'picture'; inputs of the model: 'image'"),
    ],
)
def test_complaints(capsys: Any, arguments: list[str], complaint: str) -> None:
    code, _, error = run(capsys, *arguments)
    assert code == 2
    assert complaint in error


def test_explanations_take_as_much_work_as_two_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of layers, each of which depends on all before it, is explained step by step; beyond the work, numbers have no formula."""
    net = Net(f"f32[?,?]{' -> Concat(f32[?,?], axis=1)' * 60} -> Result")
    whole = PageData(verbs.read(net.xml.encode())).to_dict()
    assert not [step for step in whole["steps"] if "not explained" in str(step)]
    few = PageData(verbs.read(net.xml.encode(), limits=irshape.Limits(work=400))).to_dict()
    assert len(few["answers"]) == len(whole["answers"])
    assert [step for step in few["steps"] if "not explained" in str(step)]
    entered = 0

    def derive(self: Sources, point: Point) -> Derivation:
        nonlocal entered
        entered += 1
        return known(self, point)

    known = Sources.derive
    monkeypatch.setattr(Sources, "derive", derive)
    PageData(verbs.read(net.xml.encode())).to_dict()
    assert entered < 40 * 60  # and not the square of the layers


@pytest.mark.parametrize(("rank", "is_explained"), [(64, True), (1000, True), (2000, False)])
def test_tensors_of_very_many_axes_are_not_explained_ahead(rank: int, is_explained: bool) -> None:
    net = Net(f"f32[{','.join(['2'] * rank)}] -> ReLU -> Result")
    assert bool(PageData(verbs.read(net.xml.encode())).to_dict()["answers"]) is is_explained


# A step without its number: the name of its layer, its texts, and the name and the origin of each number that it reads. A step is an origin
# by the name of its layer and its subject.
Told = tuple[str | None, str, str, str, str, str, tuple[tuple[str, Any], ...]]


def told_by_page(page: dict[str, Any], number: int) -> set[Told]:
    """The steps that a page shows for a size which the step with this number computes."""
    names, steps = page["layers"]["name"], page["steps"]
    found: set[Told] = set()
    pending, entered = [number], {0, number}
    while pending:
        layer, *texts, reads = steps[pending.pop() - 1]
        origins = [
            (names[steps[step - 1][0]], steps[step - 1][1]) if step else source.split(", unchanged")[0] for _, source, step, *_ in reads
        ]
        found.add((names[layer], *texts, tuple(zip([name for name, *_ in reads], origins, strict=True))))
        new = {step for _, _, step, *_ in reads} - entered
        pending += new
        entered |= new
    return found


def told_by_command(explanation: Explanation, *, is_open: bool) -> set[Told]:
    """The same steps in the answer of `irshape explain`."""
    origins = {one.number: (one.where.layer_name, one.subject) for one in explanation.steps}

    def origin(read: Read) -> object:
        text = "a size of the input" if is_open and read.kind == "input" else read.source.split(", unchanged")[0]
        return text if read.step is None else origins[read.step]

    return {(one.where.layer_name, *one[2:7], tuple([(read.name, origin(read)) for read in one.reads])) for one in explanation.steps}


@pytest.mark.parametrize("name", ["atrous", "decoder", "detokenizer", "sums", "space_to_batch"])
def test_a_page_tells_of_each_size_what_the_command_tells(name: str) -> None:
    data = PageData(verbs.read(EXAMPLES / f"{name}.xml"))
    page, explainer = data.to_dict(), Explainer(data.formal)
    compared = 0
    for key, own in page["answers"].items():
        position, output = map(int, key.split(":"))
        node = data.hierarchy.nodes[position]
        if node.model.holder is not None:
            continue
        for axis, answer in enumerate(own):
            target = Target(node, node.layer.signature.output_ids[output], node.first_slot + output, axis)
            steps = told_by_command(explainer.explain(target), is_open=data.signature is not None)
            assert (told_by_page(page, answer) if isinstance(answer, int) else set()) == steps, (key, axis)
            compared += 1
    assert compared >= 4
