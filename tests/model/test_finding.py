"""One function says which layer a text names, and every command and call asks it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.cli.edit import layer
from irshape.cli.main import main
from irshape.model.finding import ambiguity, find, known_names, names_of, remark, selected

ROOT = Path(__file__).parents[2]

# Texts that mean other layers by another kind of name: ids are "0" to "4", names "1", "t", "3".
NET = b"""<?xml version="1.0"?>
<net name="names" version="11">
	<layers>
		<layer id="0" name="3" type="Parameter" version="opset1">
			<data shape="?,4" element_type="f32"/>
			<output><port id="0" precision="FP32" names="x,comma\\,name"><dim>-1</dim><dim>4</dim></port></output>
		</layer>
		<layer id="1" name="t" type="ReLU" version="opset1">
			<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input>
			<output><port id="1" precision="FP32" names="4"><dim>-1</dim><dim>4</dim></port></output>
			<rt_info><attribute name="fused_names" version="0" value="old_relu,old_bias"/></rt_info>
		</layer>
		<layer id="2" name="1" type="Sigmoid" version="opset1">
			<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input>
			<output><port id="1" precision="FP32" names="t,block/part"><dim>-1</dim><dim>4</dim></port></output>
		</layer>
		<layer id="4" name="block/part/out" type="Result" version="opset1">
			<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
		<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
		<edge from-layer="2" from-port="1" to-layer="4" to-port="0"/>
	</edges>
</net>
"""
EXAMPLES = [ROOT / "examples" / f"{name}.xml" for name in ("atrous", "decoder", "decoder_stateful")]
MODELS = [*EXAMPLES, *sorted((ROOT / "tests" / "data" / "ir").glob("*/*.xml"))[::9]]


@pytest.mark.parametrize(
    ("text", "id", "id_by_name"),
    [
        ("0", 0, 0),  # an id alone
        ("1", 1, 2),  # an id, and the name of another layer
        ("3", 0, 0),  # a name, as no layer has the id
        ("t", 1, 1),  # a name counts more than the name of a tensor
        ("x", 0, 0),
        ("comma,name", 0, 0),
        ("old_bias", 1, 1),
    ],
)
def test_one_order_everywhere(text: str, id: int, id_by_name: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands, and calls that ask for a layer, take the id first; what is indexed by names takes the name first."""
    model = irshape.read(NET)
    inference = irshape.infer(model)
    graph = irshape.edit(NET)
    assert model.node(text).id == id and inference.layer(text).node.id == id
    assert int(inference.explain(text).where.layer_id or -1) == id
    assert model[text].id == id_by_name and inference[text].node.id == id_by_name and graph[text].id == id_by_name
    path = tmp_path / "net.xml"
    path.write_bytes(NET)
    assert main(["explain", str(path), text, "--format", "json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["layer"]["id"] == str(id) and layer(graph, text).id == id
    assert (f"{text!r} is taken as" in told.err) == (text in ("1", "t"))
    name = model.node(id).name
    for words in (["infer"], ["cost"]):
        assert main([words[0], str(path), "--layer", text]) == 0
        assert name in capsys.readouterr().out.splitlines()[-3 if words == ["infer"] else -1]
    assert main(["view", str(path), "--layer", text, "-o", str(tmp_path / "page.html"), "--force"]) == 0
    assert f"page.html#layer={id}" in capsys.readouterr().out


def test_an_edit_means_the_same_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.xml"
    path.write_bytes(NET)
    assert main(["edit", str(path), "--rename", "1=renamed", "-o", str(tmp_path / "new.xml")]) == 0
    assert "'1' is taken as the id of ReLU 't'; it is also the name of Sigmoid with the id 2" in capsys.readouterr().err
    assert irshape.read(tmp_path / "new.xml").node(1).name == "renamed"
    for to, count in (("2", 4), ("1", 3), ("x", 2)):
        words = ["extract", str(path), "--to", to, "-o", str(tmp_path / "part.xml"), "--force"]
        if to == "x":
            assert main(words) == 2 or len(irshape.read(tmp_path / "part.xml")) == count
        else:
            assert main(words) == 0 and len(irshape.read(tmp_path / "part.xml")) == count


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "FILE", "4"],
        ["infer", "FILE", "--layer", "4"],
        ["cost", "FILE", "--layer", "4"],
        ["view", "FILE", "--layer", "4", "-o", "OUT"],
        ["extract", "FILE", "--to", "4", "-o", "OUT"],
        ["extract", "FILE", "--around", "4", "-o", "OUT"],
        ["extract", "FILE", "--layers", "4", "-o", "OUT"],
        ["edit", "FILE", "--rename", "4=end", "-o", "OUT"],
        ["edit", "FILE", "--name", "4=end", "-o", "OUT"],
    ],
    ids=lambda words: " ".join(words[::2]),
)
def test_an_id_that_is_the_name_of_another_tensor_is_refused(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reader of a number cannot tell which of the two a command has taken, so no command takes one."""
    path, out = tmp_path / "net.xml", tmp_path / "out.xml"
    path.write_bytes(NET)
    names = {"FILE": str(path), "OUT": str(out)}
    assert main([names.get(word, word) for word in words]) == 2
    told = capsys.readouterr().err
    both = "it is the id of Result 'block/part/out', and the name of a tensor of ReLU 't' with the id 1"
    assert f"'4' is ambiguous: {both}; write 'block/part/out' or 4:PORT for the one, 't' for the other" in told and not out.exists()


def test_either_place_of_an_ambiguous_number_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.xml"
    path.write_bytes(NET)
    for text, id in (("4:0", "4"), ("block/part/out", "4"), ("1:1", "1")):
        assert main(["explain", str(path), text, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["layer"]["id"] == id


def test_what_is_meant_beside_is_told() -> None:
    graph = irshape.read(NET)._graph
    told = remark("1", find(graph, "1"), names_of)
    assert told.startswith("'1' is taken as the id of ReLU 't'; it is also the name of Sigmoid with the id 2 (")
    assert ambiguity("1", find(graph, "1"), names_of) == ambiguity("t", find(graph, "t"), names_of) == ""
    assert remark("0", find(graph, "0"), names_of) == "" and remark("nothing", find(graph, "nothing"), names_of) == ""


@pytest.mark.parametrize(("pattern", "ids"), [("t", [1]), ("b*", [4]), ("part", [4]), ("block", [4]), ("old_relu", [1]), ("nothing", [])])
def test_a_pattern_a_text_or_a_module_selects(pattern: str, ids: list[int]) -> None:
    graph = irshape.read(NET)._graph
    assert [node.id for node in selected(pattern, graph.nodes, names_of, find(graph, pattern))] == ids


def test_a_name_that_nothing_has_is_told_with_those_that_resemble_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = str(EXAMPLES[0]), str(tmp_path / "page.html")
    lines = [
        ["explain", path, "masc"],
        ["view", path, "--layer", "masc", "-o", page],
        ["extract", path, "--to", "masc", "-o", page],
        ["extract", path, "--around", "masc", "-o", page],
        ["edit", path, "--remove", "masc"],
    ]
    for words in lines:
        assert main(words) == 2
        assert "'masc'; did you mean 'mask'?" in capsys.readouterr().err, words
    assert main(["cost", path, "--layer", "masc"]) == 2
    assert "no layer is selected; did you mean 'mask'?" in capsys.readouterr().err
    assert main(["infer", path, "--layer", "masc"]) == 2
    assert "no layer matches --layer masc; did you mean mask?" in capsys.readouterr().err
    model = irshape.read(path)
    for call in (
        lambda: model["masc"],
        lambda: model.node("masc"),
        lambda: irshape.infer(model).layer("masc"),
        lambda: model.to_dot("masc"),
    ):
        with pytest.raises(KeyError, match="did you mean 'mask'"):
            call()


def _printed(value: Any, key: str = "") -> Iterator[str]:
    """The names of layers, tensors and variables in an answer."""
    if isinstance(value, dict):
        if key in ("inputs", "outputs", "state") and all(isinstance(one, str) for one in value.values()):
            yield from value
        for name, one in value.items():
            if (name in ("layer", "layer_name") and isinstance(one, str) and one) or (
                name == "name" and key in ("inputs", "outputs", "state", "layers") and one
            ):
                yield one
            else:
                yield from _printed(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _printed(one, key)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_what_a_verb_prints_the_others_take(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = irshape.read(path)
    if not irshape.infer(model).ok or model.ir_version == 0:
        pytest.skip("no whole IR, or one with errors")
    names: dict[str, None] = {}
    for verb in ("info", "signature", "cost", "sizes", "summary"):
        if main([verb, str(path), "--format", "json"]) == 2:
            assert "name some sizes in a shape" in capsys.readouterr().err
            continue
        names.update(dict.fromkeys(_printed(json.loads(capsys.readouterr().out))))
        if verb == "summary":  # which gives names within modules, that --layer takes
            rows = irshape.summary(path).modules
            nodes = [node for graph in model._graph.graphs() for node in graph.nodes]
            assert all(selected(row.name, nodes, names_of, find(model._graph, row.name)) for row in rows if row.type)
    names.update(dict.fromkeys(known_names(model._graph)))
    inner = {name for graph in model.graphs() if graph.holder is not None for node in graph for name in (node.name, node.key)}
    for name in names:
        assert find(model._graph, name), name
    for name in [*names][:: max(len(names) // 4, 1)]:
        assert main(["explain", str(path), name]) == 0, name
        assert main(["cost", str(path), "--layer", name]) == 0 and "no layer is selected" not in capsys.readouterr().out
        assert main(["infer", str(path), "--all", "--layer", name]) == 0 and "no layer is selected" not in capsys.readouterr().out
        assert main(["view", str(path), "--layer", name, "-o", str(tmp_path / "page.html"), "--force"]) == 0
        if name not in inner:
            words = ["extract", str(path), "--around", name, "-o", str(tmp_path / "part.xml"), "--force"]
            assert main(words) in (0, 1) or "the part has no output" in capsys.readouterr().err
