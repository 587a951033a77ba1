"""Graphs that are edited: what each verb does, what it refuses, and what the file then holds."""

import difflib
import json
import os
import pickle
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import openvino
import pytest

import irshape
from irshape import EditError, ElementType
from irshape.report import snippets
from irshape.xml.document import Document
from irshape.xml.patched_weights import PatchedWeights
from irshape.xml.weights import Weights
from irshape.xml.writer import Splice, spliced
from tests.support.edits import differences
from tests.support.ir import Net
from tests.support.places import ATROUS, DECODER, EXAMPLES, IRS


@pytest.fixture
def graph() -> irshape.Graph:
    """A graph of two convolutions."""
    return irshape.edit(ATROUS)


def changed(graph: irshape.Graph) -> tuple[list[str], list[str]]:
    """The lines of the file that are gone, and those that are new."""
    before, after = (text.decode().splitlines() for text in (graph._draft.model.document.source, bytes(graph)))
    lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    return [line[1:].strip() for line in lines if line.startswith("-")], [line[1:].strip() for line in lines if line.startswith("+")]


def test_a_graph_without_edits_is_the_file(graph: irshape.Graph) -> None:
    assert bytes(graph) == ATROUS.read_bytes()
    assert graph.check().ok and graph.diff().is_same and graph.steps == []


def test_layers_and_tensors_are_found(graph: irshape.Graph) -> None:
    stem = graph["stem"]
    assert graph[stem.id] is stem and "stem" in graph and stem in graph and "stam" not in graph
    assert graph.tensor("image").layer is graph["image"] and graph.tensor("stem") is stem.output
    assert [layer.name for layer in graph] == [node.name for node in irshape.read(ATROUS)]
    assert (graph["stem"].output.rank, graph["stem/weights"].output.size, str(graph.inputs["image"].size)) == (4, 108, "3*d0*d1*d2")
    assert len(graph) == len(list(graph)) and [one.layer.name for one in graph.inputs] == ["image"]
    assert stem.producers[0].name == "image" and [layer.name for layer in stem.consumers] == ["stem/relu"]
    with pytest.raises(KeyError, match="did you mean 'stem'"):
        graph["stm"]
    with pytest.raises(KeyError, match="no tensor 'imag'; did you mean 'image'"):
        graph.tensor("imag")


def test_an_inserted_layer_changes_one_edge(graph: irshape.Graph) -> None:
    new = graph.add("relu", graph["stem"], name="extra")
    assert new.type == "ReLU" and graph["stem"].output.replace_uses(new) == 1
    assert new.output.shape == graph["stem"].output.shape
    gone, came = changed(graph)
    assert len(gone) == 1 and gone[0].startswith("<edge") and len([line for line in came if line.startswith("<edge")]) == 2
    assert graph.check().ok


def test_shapes_follow_an_edit_at_once(graph: irshape.Graph) -> None:
    before = graph["upsample"].output.text
    assert graph["stem"].set(strides=(1, 1)).output.text == "[?,4,1..,1..]"
    assert graph["upsample"].output.text == before  # still even
    height = graph["stem"].output.shape
    assert height is not None and str(height[2]) == str(graph["image"].output.shape[2])  # type: ignore[index]
    graph["image"].set(shape="[1,3,64,64]")
    assert graph["upsample"].output.shape == (1, 2, 128, 128)
    gone, _ = changed(graph)
    assert "<dim>-1</dim>" in gone and '<data shape="?,3,?,?" element_type="f32" />' in gone


def test_only_ports_whose_facts_change_are_written_anew(tmp_path: Path) -> None:
    text = ATROUS.read_text().replace('<port id="2" precision="FP32">', '<port id="2" precision="FP32" ><!-- kept -->')
    graph = irshape.edit(text, weights=ATROUS.with_suffix(".bin"))
    graph["atrous/conv"].set(pads_begin=[2, 2], pads_end=[2, 2])
    kept = bytes(graph).decode()
    stem = kept[kept.index('name="stem"') : kept.index('name="stem/relu"')]
    assert stem in text and kept.count("<!-- kept -->") == text.count("<!-- kept -->")


def test_attributes_are_typed_by_the_operation(graph: irshape.Graph) -> None:
    stem = graph["stem"].set(auto_pad="same_upper", strides=numpy.array([3, 3]))
    assert stem.attributes["strides"] == (3, 3) and stem.attributes["auto_pad"] == "same_upper"
    with pytest.raises(EditError, match="Convolution has no attribute 'stride'; it has auto_pad, dilations, pads_begin, pads_end, strides"):
        stem.set(stride=(1, 1))
    with pytest.raises(EditError, match=r"ReLU 'ReLU' lacks its input data: graph.add\('ReLU', TENSOR\)"):
        graph.add("Relu")
    with pytest.raises(EditError, match="'strides' cannot be None"):
        stem.set(strides=None)
    with pytest.raises(TypeError, match=r"irshape\.edit"):
        stem.attributes["strides"] = (1, 1)  # type: ignore[index]
    pool = graph.add("AvgPool", stem, strides=(1, 1), kernel=(2, 2), pads_begin=(0, 0), pads_end=(0, 0), **{"exclude-pad": True})
    assert b'exclude-pad="true"' in bytes(graph) and pool.faults == []


def test_the_attributes_of_a_model_do_not_change() -> None:
    attributes = irshape.read(ATROUS)["stem"].attributes
    with pytest.raises(TypeError, match=r'irshape.edit\(model\)\["layer"\].set\(attribute=value\)'):
        attributes["strides"] = (1, 1)  # type: ignore[index]
    for change in (lambda: attributes.update(strides=1), lambda: attributes.pop("strides"), attributes.clear):  # type: ignore[attr-defined]
        with pytest.raises(TypeError, match="do not change"):
            change()
    assert json.dumps(attributes) and pickle.loads(pickle.dumps(attributes)) == attributes == dict(attributes)


def test_numbers_become_constants_of_the_fitting_type(graph: irshape.Graph) -> None:
    added = graph.add("Add", graph["stem"], 1)
    constant = added.producers[1]
    assert constant.attributes["element_type"] is ElementType.f32 and constant.data == 1
    flat = graph.add("Reshape", added, [0, -1], special_zero=True)
    assert flat.producers[1].attributes["element_type"] is ElementType.i64
    assert flat.output.shape is not None and len(flat.output.shape) == 2
    halves = graph.add("Split", flat, 0, num_splits=2)
    assert len(halves.outputs) == 2 and halves.faults == []
    with pytest.raises(EditError, match="has 2 outputs"):
        halves.output  # noqa: B018


def test_equal_constants_share_bytes(graph: irshape.Graph) -> None:
    one, two, other = (graph.constant(numpy.full(100, value, "f4")) for value in (1, 1, 2))
    places = [tensor.layer.attributes["offset"] for tensor in (one, two, other)]
    assert places[0] == places[1] != places[2] and all(place % 64 == 0 for place in places)


@pytest.mark.parametrize(
    ("element_type", "numbers"),
    [
        ("bf16", [1.5, -2]), ("u4", [1, 15, 3]), ("i4", [-8, 7, 1]), ("u1", [1, 0, 1]), ("u2", [3, 1]), ("f16", [0.5]),
        ("boolean", [True, False]), ("u64", [2**63]),
    ],
)  # fmt: skip
def test_elements_are_written_as_openvino_reads_them(element_type: str, numbers: list[float], tmp_path: Path) -> None:
    graph = irshape.Graph("constants")
    constant = graph.constant(numbers, element_type=element_type)
    assert constant.layer.data.tolist() == numbers
    graph.result(graph.add("Convert", constant, destination_type="f64"), names="x")
    graph.write(tmp_path / "model.xml")
    model = openvino.Core().read_model(tmp_path / "model.xml")
    assert model.get_results()[0].input_value(0).get_node().input_value(0).get_element_type().get_type_name() == element_type
    if element_type != "u1":  # which the CPU plugin does not convert
        assert openvino.compile_model(model, "CPU")({})["x"].tolist() == numbers


def test_strings_are_packed(tmp_path: Path) -> None:
    graph = irshape.Graph("words")
    words = graph.constant(["a", "", "häß"]).layer
    assert words.faults == []  # the end of the last string is read from the middle of the bytes
    graph.result(words)
    graph.write(tmp_path / "model.xml")
    assert irshape.read(tmp_path / "model.xml").of_type("Const")[0].const.data.tolist() == ["a", "", "häß"]


@pytest.mark.parametrize(
    ("given", "element_type", "message"),
    [
        ([1, 300], "u8", "u8 holds integers from 0 to 255"),
        ([16], "u4", "u4 holds integers from 0 to 15"),
        ([0.5], "i32", "i32 holds integers only"),
        ([1], "nf4", "cannot be written from numbers"),
        ([1], "f99", "'f99' is not an element type; choose from"),
        ([[1], [1, 2]], None, "no array"),
        (numpy.zeros(1, "c8"), None, "NumPy's complex64"),
    ],
)
def test_elements_that_do_not_fit_are_refused(graph: irshape.Graph, given: object, element_type: str | None, message: str) -> None:
    with pytest.raises(EditError, match=message):
        graph.constant(given, element_type=element_type)


@pytest.mark.parametrize("given", ["f16", "FP16", "float16", numpy.float16, numpy.dtype("f2"), ElementType.f16])
def test_an_element_type_has_the_names_of_other_libraries(graph: irshape.Graph, given: Any) -> None:
    added = graph.parameter("more", "[1]", given)
    assert added.element_type == given
    assert graph.add("Convert", added, destination_type=given).output.element_type is ElementType.f16
    assert graph["more"].set(element_type=given).output.element_type is ElementType.f16


def test_a_word_that_is_no_element_type_is_refused_at_once(graph: irshape.Graph) -> None:
    for wrong in ("garbage", 3):
        with pytest.raises(EditError, match=f"{wrong!r} is not an element type; choose from dynamic, boolean"):
            graph["image"].set(element_type=wrong)


def test_no_cycle_is_made(graph: irshape.Graph) -> None:
    before = bytes(graph)
    with pytest.raises(EditError, match="would depend on itself"):
        graph["stem"].connect(0, graph["upsample"])
    with pytest.raises(EditError, match="would depend on itself"):
        graph["stem"].connect(0, graph["stem"])
    assert bytes(graph) == before and not graph.steps


def test_a_tensor_of_another_graph_is_refused(graph: irshape.Graph) -> None:
    other = irshape.edit(ATROUS)
    for use in (lambda: graph.add("Relu", other["stem"]), lambda: graph["stem"].output.replace_uses(other["stem"])):
        with pytest.raises(EditError, match="belongs to another graph"):
            use()
    assert graph.steps == []


@pytest.mark.parametrize("given", [5, "stem", irshape.read(ATROUS)["stem"]])
def test_what_is_no_tensor_is_refused(graph: irshape.Graph, given: Any) -> None:
    with pytest.raises(EditError, match="is no tensor and no layer of a graph: take one of"):
        graph["stem/relu"].output.replace_uses(given)
    with pytest.raises(EditError, match="is no tensor and no layer of a graph: take one of"):
        graph.result(given)


@pytest.mark.parametrize("given", [5, "stem"])
def test_what_is_no_layer_is_refused(graph: irshape.Graph, given: Any) -> None:
    with pytest.raises(EditError, match=f"{given!r} is no layer of a graph: take one"):
        graph["stem"].move(before=given)


@pytest.mark.parametrize("given", ["stem", (), 1.5])
def test_what_is_no_mark_is_refused(graph: irshape.Graph, given: Any) -> None:
    graph["stem"].rename("first")
    with pytest.raises(EditError, match=f"{given!r} is no mark; give the number that graph.mark"):
        graph.undo(given)
    assert "first" in graph


def test_a_layer_that_is_read_is_not_removed(graph: irshape.Graph) -> None:
    with pytest.raises(EditError, match=r"'stem/relu'.* reads Convolution 'stem': replace its uses first, or remove\(cascade=True\)"):
        graph["stem"].remove()
    graph["features"].remove(cascade=True)
    assert "upsample" not in graph and "mask" not in graph and "stem" in graph
    removed = graph.prune()
    assert "stem" in removed and [layer.name for layer in graph] == ["image"]
    graph.undo(0)
    assert bytes(graph) == ATROUS.read_bytes()


def test_a_constant_goes_with_its_last_reader(graph: irshape.Graph) -> None:
    graph["stem/weights"].remove(cascade=True)
    assert [layer.type for layer in graph].count("Convolution") == 0 and "stem/weights" not in graph
    graph.undo(-1)
    assert bytes(graph) == ATROUS.read_bytes()


def test_what_changes_nothing_is_no_step(graph: irshape.Graph) -> None:
    assert graph["mask"].inputs[0] is not None and graph["stem"].output.replace_uses(graph["stem"]) == 0 and graph.steps == []


def test_a_removed_layer_is_gone(graph: irshape.Graph) -> None:
    relu = graph["stem/relu"]
    relu.bypass()
    assert relu not in graph and graph["stem"].consumers
    for use in (lambda: relu.set(x=1), lambda: graph.add("Relu", relu), relu.remove, lambda: relu.rename("x")):
        with pytest.raises(EditError, match="is removed"):
            use()


def test_bypass_takes_the_constants_that_only_the_layer_reads(graph: irshape.Graph) -> None:
    graph["atrous/space_to_batch"].bypass()
    assert "atrous/pads_begin" not in graph and "atrous/block_back" in graph
    with pytest.raises(EditError, match="no input"):
        graph["image"].bypass()


def test_an_output_keeps_its_names(tmp_path: Path) -> None:
    graph = irshape.Graph("names")
    x = graph.parameter("x", "[2,3]")
    graph.result(graph.add("Relu", x, name="head"), names="logits")
    head = graph["head"].output
    head.replace_uses(graph.add("Sigmoid", head))
    assert head.names == [] and graph.outputs[0].names == ["logits"]
    graph.tensor("x").names = ["image", "a,b"]
    graph.write(tmp_path / "model.xml")
    model = openvino.Core().read_model(tmp_path / "model.xml")
    assert model.outputs[0].get_names() == {"logits"} and "image" in model.inputs[0].get_names()
    assert irshape.read(tmp_path / "model.xml").inputs[0].names == ["image", "a,b"]
    with pytest.raises(EditError, match="already the name of a tensor of Sigmoid"):
        graph.tensor("image").names = "logits"


def test_a_layer_that_reads_the_old_tensor_takes_its_place(graph: irshape.Graph) -> None:
    stem = graph["stem"].output
    scaled = graph.add("Add", graph.add("Multiply", stem, 2.0), 1.0)
    assert stem.replace_uses(scaled) == 1
    assert [layer.type for layer, _ in stem.readers] == ["Multiply"]


def test_names_are_unique(graph: irshape.Graph) -> None:
    assert [graph.add("Relu", graph["stem"], name="stem").name for _ in range(2)] == ["stem_1", "stem_2"]
    with pytest.raises(EditError, match="already the name of layer"):
        graph["stem_1"].rename("image")
    assert graph["stem_1"].rename('a "<b>" & c').name in graph
    assert irshape.read(bytes(graph)).node(graph['a "<b>" & c'].id).name == 'a "<b>" & c'


@pytest.mark.parametrize("text", ["\x00", "a\x1b[31m", "\ud800", "\ufffe"])
def test_a_text_that_no_file_can_hold_is_refused(graph: irshape.Graph, text: str) -> None:
    before, stem = bytes(graph), graph["stem"]
    for edit in (lambda: stem.rename(text), lambda: graph.add("ReLU", stem, name=text), lambda: stem.set(auto_pad=text)):
        with pytest.raises(EditError, match=r"cannot be written: XML has no character|auto_pad"):
            edit()
    assert bytes(graph) == before


def test_unknown_operations(graph: irshape.Graph) -> None:
    with pytest.raises(EditError, match=r"no opset has an operation 'Convolutoin'; did you mean Convolution\?"):
        graph.add("Convolutoin", graph["stem"])
    with pytest.raises(EditError, match=r"no opset has an operation 'Own'\. Give version= for one of an extension"):
        graph.add("Own", graph["stem"])
    own = graph.add("Own", graph["stem"], version="mine", outputs=[("f32", (1, 4, -1, 8)), (ElementType.i64, None)], axis=3)
    assert [tensor.text for tensor in own.outputs] == ["[1,4,?,8]", "[...]"]
    graph.result(own.outputs[0])
    found = irshape.read(bytes(graph)).node(own.id)
    assert found.attributes == {"axis": "3"} and len(found.outputs) == 2


def test_all_or_nothing(graph: irshape.Graph) -> None:
    graph["stem"].set(strides=(3, 3))
    with pytest.raises(EditError), graph.attempt():
        graph["stem/relu"].bypass()
        graph["image"].rename("picture")
        graph["picture"].remove()
    assert [step.verb for step in graph.steps] == ["set"] and "stem/relu" in graph
    mark = graph.mark()
    graph["stem/relu"].bypass()
    graph.undo(mark)
    assert graph["stem"].attributes["strides"] == (3, 3) and [str(step) for step in graph.steps] == ["set stem: strides=(3, 3)"]


def test_a_failing_verb_changes_nothing(graph: irshape.Graph) -> None:
    for use in (
        lambda: graph.add("Add", graph["stem"], 1.0, axis=3),
        lambda: graph.parameter("image2", "[1]", names="image"),
        lambda: graph.result(graph["stem"], names="image"),
        lambda: graph["stem"].connect(7, 1.0),
    ):
        with pytest.raises(EditError):
            use()
    assert bytes(graph) == ATROUS.read_bytes() and graph.steps == []


def test_new_faults_come_first_with_their_lines() -> None:
    graph = irshape.edit(EXAMPLES / "faulty.xml")
    before = irshape.check(EXAMPLES / "faulty.xml").diagnostics
    layer = next(layer for layer in graph if layer.type == "Parameter")
    new = graph.add("Transpose", layer, [0, 0, 0, 0, 7, 0], name="wrong")
    graph.result(new)
    found = graph.check().diagnostics
    assert found[0].where.layer_name == "wrong" and new.faults[0].code == found[0].code
    assert bytes(graph).decode().splitlines()[(found[0].where.line or 0) - 1].strip() != ""
    assert len(found) > len(before) - 1


def test_data_of_a_constant_are_put_behind_the_weights(graph: irshape.Graph, tmp_path: Path) -> None:
    weights = graph["stem/weights"].data
    graph["stem/weights"].data = weights * 2
    assert (graph["stem/weights"].data == weights * 2).all()
    graph["atrous/block"].data = [1, 1, 3, 3]
    assert str(graph["atrous/space_to_batch"].output.shape) != str(irshape.edit(ATROUS)["atrous/space_to_batch"].output.shape)
    graph["atrous/block_back"].data = [1, 1, 3, 3]
    graph.write(tmp_path / "model.xml")
    old = ATROUS.with_suffix(".bin").read_bytes()
    new = (tmp_path / "model.bin").read_bytes()
    assert new[: len(old)] == old and len(new) > len(old)
    model = irshape.read(tmp_path / "model.xml")
    assert (model["stem/weights"].const.data == weights * 2).all()
    assert irshape.check(tmp_path / "model.xml").ok
    with pytest.raises(EditError, match="is no Const"):
        graph["stem"].data = weights


def test_bytes_of_constants_that_are_gone_are_not_written(graph: irshape.Graph, tmp_path: Path) -> None:
    graph.add("Add", graph["stem"], numpy.ones((1, 4, 1, 1), "f4")).remove()
    graph.write(tmp_path / "model.xml")
    assert (tmp_path / "model.bin").read_bytes() == ATROUS.with_suffix(".bin").read_bytes()
    assert (tmp_path / "model.xml").read_bytes() == ATROUS.read_bytes()


def test_writing_in_place_appends_to_the_weights(tmp_path: Path) -> None:
    for suffix in (".xml", ".bin"):
        (tmp_path / f"model{suffix}").write_bytes(ATROUS.with_suffix(suffix).read_bytes())
    path = tmp_path / "model.xml"
    old = path.with_suffix(".bin").read_bytes()
    graph = irshape.edit(path)
    graph["stem"].output.replace_uses(graph.add("Add", graph["stem"], 3.0))
    with pytest.raises(FileExistsError):
        graph.write(path)
    assert path.with_suffix(".bin").read_bytes() == old
    graph.write(path, in_place=True)
    assert path.with_suffix(".bin").read_bytes()[: len(old)] == old
    assert irshape.check(path).ok and openvino.Core().read_model(path)
    assert sorted(os.listdir(tmp_path)) == ["model.bin", "model.xml"]


def test_new_errors_are_written_only_on_request(graph: irshape.Graph, tmp_path: Path) -> None:
    """One word writes a faulty model, another one replaces a file, and neither does what the other one does."""
    graph["stem"].set(strides=(0, 0))
    with pytest.raises(ValueError, match=r"the edits make 1 error, the first is: .*A104"):
        graph.write(tmp_path / "model.xml")
    with pytest.raises(ValueError, match="faulty=True writes it"):
        graph.write(tmp_path / "model.xml", force=True)
    assert not os.listdir(tmp_path)
    graph.write(tmp_path / "model.xml", faulty=True)
    with pytest.raises(FileExistsError, match="already exists; force=True overwrites it"):
        graph.write(tmp_path / "model.xml", faulty=True)
    graph.write(tmp_path / "model.xml", faulty=True, force=True)


def test_constants_without_bytes_get_an_empty_file(tmp_path: Path) -> None:
    graph = irshape.Graph("empty")
    graph.result(graph.add("Concat", graph.parameter("x", "[?,4]"), graph.constant(numpy.zeros((0, 4), "f4")), axis=0))
    assert graph.check().diagnostics == []
    graph.write(tmp_path / "model.xml")
    assert (tmp_path / "model.bin").read_bytes() == b""
    openvino.Core().read_model(tmp_path / "model.xml")


def test_constants_need_the_weights_that_they_come_behind(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_bytes(ATROUS.read_bytes())
    graph = irshape.edit(tmp_path / "model.xml")
    graph["stem"].output.replace_uses(graph.add("Add", graph["stem"], 3.0))
    with pytest.raises(OSError, match="the weights are missing"):
        graph.write(tmp_path / "new.xml", faulty=True)
    assert os.listdir(tmp_path) == ["model.xml"]


@pytest.mark.parametrize(
    ("reader", "codes", "files"),
    [("Reshape(_a, _c, special_zero=false) -> Result", {"W102"}, 0), ("_a -> Result\n_c -> Abs", {"W102", "G116"}, 2)],
    ids=["read", "not read"],
)
def test_the_bytes_that_cut_weights_lack_are_no_zeros(reader: str, codes: set[str], files: int, tmp_path: Path) -> None:
    """A new constant behind them leaves them missing; they are written as zeros only where no Result needs them."""
    net = Net(f"x: f32[4] -> _a: Add(f32=1[4])\n_c: [2,2]\n{reader}")
    graph = irshape.edit(net.xml.encode(), weights=net.bin[:20])
    graph["x"].output.replace_uses(graph.add("Add", graph["x"], 3.0))
    assert {one.code for one in irshape.check(graph.model()).diagnostics} <= codes
    with pytest.raises(OSError, match="the weights are missing or cut short") if not files else nullcontext():
        graph.write(tmp_path / "new.xml", faulty=True)
    assert len(os.listdir(tmp_path)) == files


LAYOUTS = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "utf-16": lambda text: text.replace("?>", ' encoding="utf-16"?>', 1).encode("utf-16"),
    "latin-1": lambda text: text.replace("?>", ' encoding="iso-8859-1"?><!-- \u00fc -->', 1).encode("latin-1"),
    "one line": lambda text: text.replace("\n", "").replace("\t", "").encode(),
    "two blanks": lambda text: text.replace("\t", "  ").encode(),
    "long edges": lambda text: text.replace("' />", "'></edge>").replace('port="0" />', 'port="0"></edge  >').encode(),
    "comments": lambda text: text.replace("<layer ", "<!-- a --> <layer ").replace("<edge ", "<!-- > --><edge ").encode(),
    "version 10": lambda text: text.replace('version="11"', 'version="10"').encode(),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_kept(name: str) -> None:
    source = LAYOUTS[name](ATROUS.read_text())
    graph = irshape.edit(source, weights=ATROUS.with_suffix(".bin"))
    new = graph.add("Add", graph["stem"], 1.0, name="größer")
    graph["stem"].output.replace_uses(new)
    graph["stem/relu"].bypass()
    graph["atrous/conv"].set(pads_begin=[2, 2])
    graph.parameter("second", "[1,2]")
    graph.result(graph.add("Relu", graph.tensor("second")))
    text = bytes(graph)
    found = irshape.check(text, weights=graph.model().weights)
    assert found.ok, found.diagnostics
    assert len(found["größer"].outputs[0].shape or ()) == len(new.output.shape or ()) == 4 and len(found.model.inputs) == 2
    if name == "crlf":
        assert b"\n" not in text.replace(b"\r\n", b"")
    if name == "one line":
        assert b"\n" not in text
    kept = [line for line in source.splitlines() if line in set(text.splitlines())]
    assert name == "one line" or len(kept) > 0.8 * len(source.splitlines())


@pytest.mark.parametrize(
    "source",
    [
        '<net name="n" version="11"><layers/><edges/></net>',
        '<net name="n" version="11"><layers></layers></net>',
        '<net name="n" version="11">\n  <layers>\n  </layers>\n</net>',
        '<?xml version="1.0"?>\n<net name="n" version="11">\n</net>\n',
    ],
)
def test_a_graph_without_layers_or_edges_gets_them(source: str) -> None:
    graph = irshape.edit(source.encode())
    graph.result(graph.add("Relu", graph.parameter("x", "[1,2]")))
    assert irshape.check(bytes(graph)).ok
    graph.undo(0)
    assert bytes(graph) == source.encode()


def test_a_model_is_built_from_nothing(tmp_path: Path) -> None:
    graph = irshape.Graph('a "net"')
    image = graph.parameter("image", "[N,3,H,W]".replace("N", "?").replace("H", "?").replace("W", "?"))
    conv = graph.add(
        "Convolution", image, numpy.ones((8, 3, 3, 3), "f4"), strides=(2, 2), pads_begin=(1, 1), pads_end=(1, 1), dilations=(1, 1)
    )
    graph.result(graph.add("Softmax", conv, axis=1), names="probabilities")
    assert conv.output.text == "[?,8,1..,1..]" and conv.version == "opset1"
    graph.write(tmp_path / "model.xml")
    model = openvino.compile_model(tmp_path / "model.xml", "CPU")
    result = model({"image": numpy.ones((1, 3, 8, 8), "f4")})["probabilities"]
    assert result.shape == (1, 8, 4, 4) and numpy.allclose(result.sum(1), 1)
    assert irshape.check(tmp_path / "model.xml").diagnostics == []


def test_inputs_and_outputs_keep_their_order(graph: irshape.Graph, tmp_path: Path) -> None:
    graph.parameter("second", "[1]", "i64")
    graph.result(graph["stem"], names="hidden")
    assert [tensor.layer.name for tensor in graph.inputs] == ["image", "second"]
    graph.result(graph.tensor("second"))
    graph.write(tmp_path / "model.xml")
    model = openvino.Core().read_model(tmp_path / "model.xml")
    assert [one.get_any_name() for one in model.inputs] == ["image", "second"]
    assert model.outputs[1].get_names() == {"hidden"}
    graph.parameter("first", "[2]", before=graph["image"])
    graph.parameter("between", "[2]", before=graph["second"])
    graph.result(graph["features"], names="before", before=graph["mask"])
    for name in ("first", "between"):
        graph.result(graph.tensor(name))
    graph.write(tmp_path / "model.xml", force=True)
    model = openvino.Core().read_model(tmp_path / "model.xml")
    assert (
        [one.get_any_name() for one in model.inputs] == ["first", "image", "between", "second"] == [one.layer.name for one in graph.inputs]
    )
    assert [sorted(one.get_names())[:1] for one in model.outputs] == [sorted(one.names)[:1] for one in graph.outputs]
    assert model.outputs[0].get_names() == {"before"}


@pytest.mark.parametrize("source", ["examples/space_to_batch.xml", b"<net"])
def test_only_a_whole_ir_is_edited(source: str | bytes) -> None:
    with pytest.raises(EditError, match="only a whole IR can be edited"):
        irshape.edit(source)


def test_ports_in_bodies_follow() -> None:
    path = IRS / "tensorflow" / "while_grow.xml"
    graph = irshape.edit(path)
    parameter = next(layer for layer in graph if layer.type == "Parameter" and layer.output.element_type.is_real)
    shape = parameter.output.shape
    assert shape is not None
    parameter.set(shape=[7] * len(shape))
    written = irshape.infer(bytes(graph)).xml()
    recorded, inferred = (irshape.read(text) for text in (bytes(graph), written))
    for ours, theirs in zip(recorded.graphs(), inferred.graphs(), strict=True):
        for node, other in zip(ours.nodes, theirs.nodes, strict=True):
            assert [one._port.record.dims for one in node.outputs] == [one._port.record.dims for one in other.outputs]


def test_splices_that_overlap_are_refused() -> None:
    document = Document(b"0123456789", None)
    assert spliced(document, [Splice(1, 3, "a"), Splice(3, 3, "b"), Splice(3, 4, "c")]) == b"0abc456789"
    with pytest.raises(ValueError, match="two changes overlap at byte 2"):
        spliced(document, [Splice(1, 3, "a"), Splice(2, 5, "b")])


def test_patches_are_found_at_every_place() -> None:
    patches = {place: bytes([place % 251] * 3) for place in range(5, 400, 7)}
    weights = PatchedWeights(Weights(bytes(300)), patches)
    expected = bytearray(max(patches) + 3)
    for place, data in patches.items():
        expected[place : place + 3] = data
    assert weights.total == len(expected)
    assert all(weights.read(at, size) == expected[at : at + size] for at in range(0, 380, 3) for size in (1, 2, 8, 20))


def test_inputs_and_outputs_are_ordered_by_moving_them(tmp_path: Path) -> None:
    path = DECODER
    graph = irshape.edit(path)
    graph["past.value"].set(shape="[?,2,5,4]").rename("values in").move(before=graph["input_ids"])
    graph["logits/result"].move(before=graph["present.value"])
    graph.result(graph.parameter("extra", "[1]", before=graph["values in"]))
    graph.write(tmp_path / "ordered.xml")
    model = openvino.Core().read_model(tmp_path / "ordered.xml")
    assert [port.any_name for port in model.inputs] == ["extra", "past.value", "input_ids", "attention_mask", "past.key"]
    assert [port.any_name for port in model.outputs] == ["present.key", "logits", "present.value", "extra"]
    assert model.input("past.value").partial_shape == openvino.PartialShape("[?,2,5,4]")
    assert irshape.diff(path, tmp_path / "ordered.xml").summary.startswith("1 input changed, 2 layers added, 1 layer renamed")
    assert sorted(bytes(graph).split()) != sorted(path.read_bytes().split())
    graph.undo(0)
    assert bytes(graph) == path.read_bytes()


def test_a_layer_moves_with_its_text_and_no_other_byte() -> None:
    path = DECODER
    graph = irshape.edit(path)
    graph["logits/result"].move(before=graph["residual"])
    before, after = path.read_bytes().splitlines(), bytes(graph).splitlines()
    assert sorted(before) == sorted(after) and before != after and graph.check().ok
    graph["residual"].move(before=graph["residual"])
    with pytest.raises(EditError, match="belongs to another graph"):
        graph["residual"].move(before=irshape.edit(path)["head"])
    assert len(graph.steps) == 1


def test_a_tensor_of_several_is_named_by_its_port(graph: irshape.Graph) -> None:
    best = graph.op.TopK(graph["stem"], 1, axis=1, mode="max", sort="none", name="best")
    assert graph.tensor("best:2") is best.outputs[0] and graph.tensor("best:3") is best.outputs[1]
    assert graph.tensor("stem:2") is graph["stem"].output
    for name in ("best", "best:1"):
        with pytest.raises(EditError, match="TopK 'best' has 2 outputs: choose one by :2 or :3 behind its name"):
            graph.tensor(name)
    with pytest.raises(KeyError, match="no tensor 'worst:2'"):
        graph.tensor("worst:2")
    graph.op.Relu(best.outputs[1])
    assert graph.tensor("best") is best.outputs[1]  # nothing reads the other one


def test_a_list_holds_several_inputs() -> None:
    """As in OpenVINO's `concat([a, b], axis=1)`; numbers beside tensors become constants."""
    graph = irshape.Graph()
    a, b = graph.parameter("a", "[?,4]"), graph.parameter("b", "[?,2]")
    assert graph.op.Concat([a, b], axis=1).output.shape[1] == 6
    assert graph.op.Concat([a, numpy.ones((1, 1), "f4")], axis=1).output.shape == (1, 5)


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ("[1,3", "'[' is never closed"), ("[1,N]", "a Parameter takes numbers, ranges and ?, not 'N'"), ([1, -2], "'-2'"),
        ([1, None, 3], "[1,?,3]"), ("1, 2..5", "[1,2..5]"), ("...", "[...]"), ((), "[]"),
    ],
)  # fmt: skip
def test_the_shape_of_a_parameter_is_read_as_that_of_an_input(shape: Any, told: str) -> None:
    def changed(shape: Any) -> irshape.Tensor:
        return irshape.Graph("net").parameter("x", "[7]").layer.set(shape=shape).output

    for made in (partial(irshape.Graph("net").parameter, "x"), changed):
        try:
            found = str(made(shape).text)
        except irshape.InputError as error:
            found = str(error)
        assert told in found


def test_a_new_input_of_an_unknown_operation_leaves_no_old_output() -> None:
    """What a file records for an unknown operation is trusted for the inputs that it records: new ones must not come to stand beside it."""
    xml = snippets.CUSTOM.replace("<dim>1</dim> <dim>8</dim>", "<dim>1</dim> <dim>9</dim>")  # of another input: the output is not known
    graph = irshape.edit(xml.encode())
    graph["x"].set(shape="1,7")
    assert list(differences(graph)) == []


def test_an_empty_graph_has_not_the_name_of_a_file() -> None:
    with pytest.raises(irshape.EditError, match=r"reads no file: irshape.edit\('model.xml'\) does"):
        irshape.Graph("model.xml")
