"""What is public is written down, and what is written down exists."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irshape
import irshape.extend
from irshape.api.reading import Reading
from irshape.running.results import Tolerance
from irshape.testing import assert_shape
from tests.support.ir import Net
from tests.support.places import ROOT

ATROUS = "examples/atrous.xml"
PAGE = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
# The classes that a program meets first have at most so many names; no class of these has more methods than that.
MOST_NAMES, MOST_METHODS = 20, 25
# What their lists and tuples and enumerations have from Python is not listed, and neither are the element types.
BASES = (list, tuple, Exception)


def objects() -> dict[str, Any]:
    """An object of each class that `irshape` exports, or the class itself where its objects have no further names."""
    inference = irshape.infer(ATROUS, inputs={"image": "[1,3,H,W]"})
    node = inference.model["stem/weights"]
    diagnostic = irshape.check("examples/faulty.xml").diagnostics[0]
    found = {
        "Body": irshape.edit("examples/sums.xml")["sums"].body,
        "Const": node.const,
        "Cost": irshape.cost(ATROUS),
        "Diagnostic": diagnostic,
        "Difference": irshape.diff(ATROUS, ATROUS),
        "Explanation": inference.explain("stem"),
        "Graph": irshape.edit(ATROUS),
        "Guard": inference.guards[0],
        "Inference": inference,
        "InferredLayer": inference["stem"],
        "InferredPort": inference.inputs[0],
        "Info": irshape.info(ATROUS),
        "InputPort": node.outputs[0].readers[0],
        "Layer": irshape.edit(ATROUS)["stem"],
        "Model": inference.model,
        "Node": node,
        "OutputPort": node.outputs[0],
        "RunComparison": irshape.RunComparison("a", "b", Tolerance(0, 0, "f32"), [], {}),
        "Session": irshape.Session(ATROUS),
        "Signature": irshape.signature(ATROUS),
        "Summary": irshape.summary(ATROUS),
        "Tensor": irshape.edit(ATROUS)["stem"].output,
        "ValidSizes": irshape.sizes(ATROUS),
        "Where": diagnostic.where,
    }
    named = {name: getattr(irshape, name) for name in irshape.__all__}
    return {name: found.get(name, value) for name, value in named.items() if inspect.isclass(value)}


def names_of(one: Any) -> list[str]:
    """The public names of an object or a class, without those that its base of Python has."""
    cls = one if inspect.isclass(one) else type(one)
    inherited = {name for base in BASES if issubclass(cls, base) for name in dir(base)}
    constants = {name for name in dir(cls) if cls is irshape.ElementType and isinstance(getattr(cls, name), irshape.ElementType)}
    return [name for name in dir(one) if not name.startswith("_") and name not in inherited | constants]


def surface() -> dict[str, list[str]]:
    """The public names of each class."""
    return {name: names for name, one in objects().items() if (names := names_of(one))}


def written() -> dict[str, list[str]]:
    """The public names of each class as the page has them."""
    rows = re.findall(r"^\| `(\w+)` \| (`.*`) \|$", PAGE.split("<!-- surface -->")[1].split("<!-- end -->")[0], re.MULTILINE)
    return {name: re.findall(r"`(\w+)`", names) for name, names in rows}


def test_the_page_lists_what_is_public() -> None:
    assert written() == surface()


@pytest.mark.parametrize("name", ["Model", "Node", "InputPort", "OutputPort", "InferredPort", "InferredLayer", "Inference", "Session"])
def test_the_first_classes_have_few_names(name: str) -> None:
    cls = getattr(irshape, name)
    assert len(names_of(objects()[name])) <= MOST_NAMES
    for one in cls.__mro__[:-1]:
        assert len(re.findall(r"^    def ", inspect.getsource(one), re.MULTILINE)) <= MOST_METHODS, one


def test_each_object_shows_itself_in_one_line() -> None:
    for name, one in objects().items():
        if not inspect.isclass(one):
            shown = repr(one)
            assert "\n" not in shown and " object at 0x" not in shown and len(shown) > 3, name


@pytest.mark.parametrize("name", ["Cost", "Inference", "Info", "Model", "Signature"])
def test_a_notebook_shows_a_table(name: str) -> None:
    assert objects()[name]._repr_html_().count("<table>") >= 1


def test_an_inferred_port_leads_to_its_port_and_back() -> None:
    inference = irshape.infer(ATROUS)
    for layer in inference:
        for one in (*layer.inputs, *layer.outputs):
            assert one.port.node == layer.node and inference[one.port] == one and one.id == one.port.id
    assert inference[inference.model["stem"]] == inference["stem"]
    with pytest.raises(KeyError, match="of another model"):
        inference[irshape.read(ATROUS)["stem"].outputs[0]]


def test_inputs_and_outputs_are_found_by_name_and_position() -> None:
    inference = irshape.infer("examples/decoder.xml")
    model = inference.model
    assert [one.name for one in inference.inputs] == [node.name for node in model.parameters]
    assert [one.port.node for one in inference.outputs] == model.results
    for one in (*inference.inputs, *inference.outputs):
        ports = inference.inputs if one in inference.inputs else inference.outputs
        assert ports[one.name].port == one.port
        assert all(ports[name].port.names == one.port.names for name in one.port.names)
    with pytest.raises(KeyError, match="no port 'maks'; there are "):
        inference.outputs["maks"]
    graph, signature = irshape.edit(model), irshape.signature(model)
    for side, edited, shapes in (("inputs", graph.inputs, signature.inputs), ("outputs", graph.outputs, signature.outputs)):
        for index, (one, name) in enumerate(zip(getattr(inference, side), shapes, strict=True)):
            assert one.name == name and shapes[index] == shapes[name] and edited[one.port.node.name] is edited[index]
    assert shapes[-1] == shapes[name] and irshape.sizes(model).inputs[0] == signature.inputs[0]
    with pytest.raises(KeyError, match="no name 'maks'; there are 'logits'"):
        signature.outputs["maks"]
    stem = inference.model.of_type("Parameter")[0].consumers[0]
    assert [stem.inputs[port.name] for port in stem.inputs] == stem.inputs


def test_a_graph_tool_finds_edges_ancestors_and_descendants() -> None:
    model = irshape.read(ATROUS)
    edges = model.edges
    assert all(port in source.readers and port.source == source for source, port in edges)
    assert len(edges) == sum(len(node.producers) for node in model)
    stem = model["stem"]
    assert [node.name for node in stem.ancestors()] == ["image", "stem/weights"]
    assert model["mask"] in stem.descendants() and stem not in stem.descendants()
    assert all((one in other.ancestors()) == (other in one.descendants()) for one in model for other in model)


def test_every_verb_takes_the_same_sources() -> None:
    model = irshape.read(ATROUS)
    data = Path(ATROUS).read_bytes()
    weights = Path(ATROUS).with_suffix(".bin").read_bytes()
    for verb in (irshape.infer, irshape.check, irshape.info, irshape.signature, irshape.sizes, irshape.cost):
        answers = [verb(ATROUS), verb(Path(ATROUS)), verb(data, weights=weights), verb(model), verb(model.tree())]  # type: ignore[operator]
        # A tree has other lines, because it is written again.
        shown = [re.sub(r"'(file|line)': (\d+|None|'[^']*')", "", str(one.to_dict())) for one in answers]
        assert all(one == shown[0] for one in shown), verb
    assert irshape.diff(model, model.tree()).is_same
    assert irshape.explain(model, "stem").value == irshape.explain(ATROUS, "stem").value


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limits": irshape.Limits(rank=3)}, "the model was read with other limits"),
        ({"extensions": ["examples/patches.toml"]}, "the model was read with other extensions"),
        ({"opset": "opset1"}, "the model was read with other opset"),
        ({"wieghts": None}, "there is no argument 'wieghts'; .* takes source, .*weights, opaque, opset, limits, extensions"),
    ],
)
def test_what_belongs_to_a_model_cannot_be_given_beside_it(given: dict[str, Any], message: str) -> None:
    model = irshape.read(ATROUS)
    for verb in (irshape.infer, irshape.check, irshape.info, irshape.signature, irshape.sizes, irshape.cost, irshape.Session):
        with pytest.raises(TypeError, match=message):
            verb(model, **given)


def test_a_verb_about_shapes_takes_them_as_its_second_argument() -> None:
    given = {"image": "[1,2,32,48]"}
    for verb in (irshape.infer, irshape.check, irshape.info, irshape.signature, irshape.sizes, irshape.cost, irshape.reshape):
        with pytest.raises(irshape.InputError, match="no input 'picture'"):
            verb(ATROUS, {"picture": "[1]"})  # type: ignore[operator]
    assert irshape.infer(ATROUS, given).outputs[0].text == irshape.reshape(ATROUS, given).outputs[0].text


def test_the_same_arguments_may_be_given_again() -> None:
    limits = irshape.Limits(rank=3)
    model = irshape.read("examples/extension.xml", limits=limits, extensions="examples/patches.toml")
    assert irshape.check(model, limits=irshape.Limits(rank=3), extensions=["examples/patches.toml"]).model is model


def test_a_model_keeps_what_it_was_read_with() -> None:
    path = "examples/extension.xml"
    assert not irshape.infer(path).ok
    model = irshape.read(path, opaque="PatchEmbed")
    assert irshape.infer(model).ok and irshape.check(pickle.loads(pickle.dumps(model))).ok
    assert not irshape.infer(model, opaque=()).ok


def test_one_name_stands_for_itself_and_not_for_its_letters() -> None:
    assert not irshape.infer("examples/extension.xml", opaque="X*").ok
    assert irshape.infer("examples/extension.xml", opaque="Patch*").ok
    assert irshape.check(ATROUS, targets="ranked").ok


def test_a_copy_of_a_model_is_the_model() -> None:
    model = irshape.read(ATROUS)
    assert copy.copy(model) is model
    assert copy.copy(irshape.infer(model))["stem"] == irshape.infer(model)["stem"]


def test_an_unpickled_inference_explains_and_names_in_a_fresh_process(tmp_path: Path) -> None:
    inference = irshape.infer(ATROUS)
    (tmp_path / "inference").write_bytes(pickle.dumps(inference))
    code = (
        "import pickle, sys\n"
        "found = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(found.explain('stem', axis=2).value)\n"
        "print(found['stem'].outputs[0].formula)"
    )
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "inference")], capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith("\n" + inference["stem"].outputs[0].formula)


def test_the_guards_of_a_named_inference_have_its_names() -> None:
    raw, inference = irshape.infer(ATROUS, symbols_as="raw"), irshape.infer(ATROUS)
    assert any("d1" in str(guard.requirement) for guard in raw.guards)
    assert not any(re.search(r"\bd\d", str(guard.requirement)) for guard in inference.guards)


def test_a_model_with_errors_is_written_only_on_request(tmp_path: Path) -> None:
    inference = irshape.check("examples/faulty.xml")
    with pytest.raises(ValueError, match=r"the model has 6 errors, the first is: .*; faulty=True writes it all the same"):
        inference.write(tmp_path / "written.xml")
    assert list(tmp_path.iterdir()) == []
    inference.write(tmp_path / "written.xml", faulty=True)
    assert (tmp_path / "written.xml").read_bytes() == inference.xml()


@pytest.mark.parametrize("id", ["stam", "", "2.body/x", "99", "/"])
def test_a_layer_that_does_not_exist_is_a_key_error(id: str) -> None:
    with pytest.raises(KeyError):
        irshape.infer(ATROUS).layer(id)


def test_weights_beside_a_model_stay_so_in_a_pickle(tmp_path: Path) -> None:
    path = tmp_path / "alone.xml"
    path.write_bytes(Path(ATROUS).read_bytes())
    model = irshape.read(path)
    again = pickle.loads(pickle.dumps(model.weights))
    assert model.weights is not None and again._is_beside == model.weights._is_beside


def test_the_module_for_extensions_has_what_it_names() -> None:
    assert all(hasattr(irshape.extend, name) for name in irshape.extend.__all__)
    assert not {"op", "Op", "In", "Out", "Context"} & set(irshape.__all__)
    assert set(Reading.__annotations__) == {"weights", "opaque", "opset", "limits", "extensions"}


DETECTOR = "examples/detector.xml"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: irshape.summary(DETECTOR, depth="3"), "summary takes int or None as depth, not '3'"),
        (lambda: irshape.check(DETECTOR, targets=3), "check takes str or Iterable[str] as targets, not 3"),
        (lambda: irshape.infer(DETECTOR)[None], "Inference.__getitem__ takes str or Node or InputPort or OutputPort as item, not None"),
        (lambda: irshape.infer(DETECTOR)[0], "as item, not 0; list(inference)[0] is the first one of the file, and inference.layer(ID)"),
        (lambda: irshape.read(DETECTOR)[0], "Model.__getitem__ takes str as name, not 0; model.nodes[0] is the first one of the file"),
        (lambda: irshape.read(DETECTOR)[2.5], "Model.__getitem__ takes str as name, not 2.5"),
        (lambda: irshape.edit(DETECTOR).add(2.5), "Graph.add takes str as type, not 2.5"),
        (lambda: irshape.edit(DETECTOR).add("ReLU", name=["r"]), "Graph.add takes str or None as name, not ['r']"),
        (lambda: irshape.cost(DETECTOR).sweep({"H": 7}), "Cost.sweep takes Mapping[str, Iterable[int]] as sizes, not {'H': 7}"),
        (lambda: irshape.cost(DETECTOR).sweep(H=[7]), "there is no argument 'H'; Cost.sweep takes sizes"),
        (lambda: irshape.rule(201), "rule takes str or None as code, not 201"),
        (lambda: irshape.reshape(DETECTOR, limits="x"), "reshape takes Limits as limits, not 'x'"),
        (lambda: irshape.check(DETECTOR, limits=10**5000), "check takes Limits as limits, not a value of the class int"),
        (lambda: irshape.check(DETECTOR, weights=[None]), "weights are a path, bytes, a file or False, not a value of the class list"),
        (lambda: irshape.check(DETECTOR, extensions=3), "extensions are files and names of modules, not a value of the class int"),
        (lambda: irshape.scan(DETECTOR, extensions=[3]), "extensions are files and names of modules, not a value of the class list"),
        (lambda: irshape.infer(DETECTOR).apply_to("x"), "apply_to takes an openvino.Model as model, not a value of the class str"),  # type: ignore[type-var]
        (lambda: irshape.cost(DETECTOR).at(H=1), "Cost.at needs the argument amount; at(cost.macs, H=320) gives the number"),  # type: ignore[call-arg]
        (lambda: irshape.cost(ATROUS).macs(H=64), "evaluate(H=224) gives its number"),  # type: ignore[operator]
        (lambda: irshape.check(), "check needs the argument source"),  # type: ignore[call-arg]
        (lambda: irshape.Graph().parameter("[1]", name="x"), "Graph.parameter gets name twice: '[1]' and 'x'; values without a name are,"),  # type: ignore[misc]
        (lambda: irshape.view(DETECTOR, "page.html"), "the second argument is the model before, not a page; output='page.html' writes one"),
        (lambda: irshape.ops(3), "ops takes str or None as type, not 3"),
        (lambda: assert_shape(DETECTOR, None, "[1]"), "assert_shape takes str or int as name, not None"),  # type: ignore[arg-type]
        (lambda: irshape.scan(DETECTOR, targets=None), "scan takes Iterable[str] as targets, not None"),
        (lambda: irshape.check(DETECTOR, targets=b"x"), "check takes str or Iterable[str] as targets, not b'x'"),
        (lambda: irshape.check(DETECTOR, structure=np.zeros(2)), "check takes bool as structure, not array([0., 0.])"),
        *(
            (lambda weights=weights: irshape.diff(DETECTOR, DETECTOR, weights=weights), f"or Literal[False] as weights, not {weights!r}")
            for weights in (True, "x", (None,))
        ),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(("path", "code"), [("\0", "0"), ("\ud800", "U+D800, which no file name can have")])
@pytest.mark.parametrize("ask", [irshape.check, irshape.scan, irshape.edit(DETECTOR).write])
def test_a_path_that_no_file_can_have_is_refused(ask: Any, path: str, code: str) -> None:
    with pytest.raises(OSError, match=re.escape(f"the path has a character of code {code}")):
        ask(path)


def test_an_array_gives_its_shape_to_the_only_input() -> None:
    array = np.zeros((1, 3, 96, 96))
    for inference in (irshape.infer(DETECTOR, inputs=array), irshape.reshape(DETECTOR, array)):
        assert inference.inputs[0].shape == (1, 3, 96, 96)
    assert irshape.simplify(DETECTOR, inputs=array).inputs[0].text == "[1,3,96,96]"


def test_an_array_of_sizes_is_told_to_be_read_as_a_tensor() -> None:
    sizes, told = np.array([1, 3, 96, 96]), r"so it was read as \[4\], and the input has rank 4; array.tolist\(\) gives its elements"
    with pytest.raises(irshape.InputError, match=told):
        irshape.infer(DETECTOR, inputs={"image": sizes})
    assert irshape.infer(DETECTOR, inputs={"image": sizes.tolist()}).inputs[0].shape == (1, 3, 96, 96)
    assert irshape.infer(Net("x: i64[?] -> ReLU -> Result").xml.encode(), inputs={"x": np.array([7])}).inputs[0].shape == (1,)


def test_a_session_is_asked_for_a_shape() -> None:
    session, refused = irshape.Session(DETECTOR), irshape.signature(DETECTOR).assign(B=1, H=0, W=0)
    assert refused is None
    with pytest.raises(irshape.InputError, match="no new shape: give inputs, symbols or batch"):
        session.reshape(refused)
    assert session.reshape({}).ok
