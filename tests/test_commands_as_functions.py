"""Every command is also a function of the same name, and the names that people try lead on."""

import inspect
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import irshape
from irshape.cli.arguments import COMMANDS
from irshape.running.results import RunComparison, Tolerance
from tests.support.ir import Net

ATROUS, DECODER, FAULTY = "examples/atrous.xml", "examples/decoder.xml", "examples/faulty.xml"
# It completes the words of a shell.
NO_FUNCTION = {"completion"}


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - NO_FUNCTION))
def test_every_command_is_a_function(name: str) -> None:
    verb = getattr(irshape, name)
    assert callable(verb) and name in irshape.__all__ and inspect.getdoc(verb)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("extract", "from_ to around distance layers"),
        ("reduce", "while_ keep match jobs timeout"),
        ("simplify", "only inputs symbols"),
        ("scan", "targets select ignore cost opaque extensions limits max_members max_expansion"),
        ("view", "output force inputs symbols"),
        ("sizes", "symbols"),
        ("compare", "data batch first rtol atol seed"),
    ],
)
def test_options_are_keywords(name: str, options: str) -> None:
    parameters = inspect.signature(getattr(irshape, name)).parameters
    assert set(options.split()) <= {key for key, one in parameters.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}


def test_a_part_is_a_model_of_its_own(tmp_path: Path) -> None:
    part = irshape.extract(DECODER, from_="embedding", to="residual")
    assert not part.losses and len(part.outputs) == 1 and len(part) < len(irshape.edit(DECODER))
    part.write(tmp_path / "part.xml", trim=True)
    assert irshape.check(tmp_path / "part.xml").ok
    assert len(irshape.extract(DECODER, around="residual")) < len(irshape.extract(DECODER, around="residual", distance=3))
    for wrong in ({"to": "nothing"}, {}, {"to": "logits", "around": "logits"}, {"layers": "nothing*"}):
        with pytest.raises(irshape.EditError):
            irshape.extract(DECODER, **wrong)  # type: ignore[arg-type]


def test_a_model_is_simplified_for_sizes() -> None:
    graph = irshape.simplify(ATROUS, symbols={"B": 1, "H": 64, "W": 64})
    assert graph.check().inputs[0].shape == (1, 3, 64, 64)
    assert len(irshape.simplify(FAULTY, only="dead")) == len(irshape.edit(FAULTY)) - 1
    with pytest.raises(irshape.EditError, match="cannot have these shapes"):
        irshape.simplify(ATROUS, inputs={"image": "[1,5,8,8]"})


def test_a_fault_is_reduced() -> None:
    assert any(one.code == "S201" for one in irshape.reduce(FAULTY, keep="S201").check().errors)
    small = irshape.reduce(DECODER, while_=lambda path: b"MatMul" in Path(path).read_bytes())
    assert [layer.type for layer in small].count("MatMul") == 1 and len(small) < 8
    with pytest.raises(irshape.EditError, match="does not show"):
        irshape.reduce(DECODER, keep="S201")
    with pytest.raises(irshape.EditError, match="either while_"):
        irshape.reduce(DECODER)


def test_the_rows_of_a_scan_go_into_a_table() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    rows = irshape.scan(["examples"], cost=True)
    table = pyarrow.Table.from_pylist(rows)
    assert table.num_rows == len(list(Path("examples").rglob("*.xml"))) and {"file", "verdict"} <= set(table.column_names)
    assert {row["verdict"] for row in irshape.scan(FAULTY)} == {"invalid"}
    assert irshape.scan(FAULTY, select="W")[0]["verdict"] == "valid"
    with pytest.raises(FileNotFoundError):
        irshape.scan("nowhere")


def test_a_page_codes_and_operations(tmp_path: Path) -> None:
    page = irshape.view(ATROUS, output=tmp_path / "page.html")
    assert page.startswith("<!") and (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert len(irshape.view(DECODER, ATROUS)) > len(irshape.view(DECODER))
    assert irshape.rule("s201").title == "dimensions differ" and len(irshape.rule()) > 100
    assert irshape.ops("ReLU")["type"] == "Relu" and len(irshape.ops()) > 200
    for verb, name in ((irshape.rule, "Z1"), (irshape.ops, "Reluu")):
        with pytest.raises(KeyError, match="there is no"):
            verb(name)


def test_an_inference_is_true_if_the_model_has_no_errors() -> None:
    sound, faulty = irshape.check(ATROUS), irshape.check(FAULTY)
    assert sound and not faulty and not sound.errors
    assert len(faulty.errors) == 6 and {one.severity for one in faulty.errors} == {"error"}


def test_shapes_speak_the_symbols_of_the_formulas() -> None:
    layer = irshape.infer(ATROUS)["stem"]
    shape: Any = layer.output.shape
    assert [str(size) for size in shape] == ["B", "4", "(H + 1)//2", "(W + 1)//2"] == layer.output.formula.strip("[]").split(",")
    assert (layer.output.rank, layer.output.is_static) == (4, False) and (shape[2].min, shape[2].max) == (2, math.inf)
    raw: Any = irshape.infer(ATROUS, symbols_as="raw")["stem"].output.shape
    assert str(raw[0]) == "d0"
    fixed = irshape.infer(ATROUS, inputs={"image": [1, 3, 8, 8]})["stem"].output
    assert fixed.is_static and fixed.shape == (1, 4, 4, 4)
    assert fixed.size == 64 and str(layer.output.size) == "4*B*((H + 1)//2)*((W + 1)//2)"
    assert irshape.infer(ATROUS, inputs={"image": "[...]"}).inputs[0].rank is None
    with pytest.raises(TypeError, match=r"compare its bounds `min` and `max`"):
        max(shape)


def test_an_output_is_asked_for_where_there_is_one() -> None:
    layers = [layer for layer in irshape.infer("tests/data/ir/ops/matrix_nms.xml") if len(layer.outputs) != 1]
    with pytest.raises(ValueError, match="choose one"):
        _ = layers[0].output


GUESSES = [
    (irshape, "read_model", r"irshape\.read\(PATH\)"),
    (irshape, "save", r"write\(PATH\)"),
    (irshape.infer(ATROUS), "layers", r"list\(inference\)"),
    (irshape.infer(ATROUS), "mends", r"to_dict\(\)"),
    (irshape.infer(ATROUS), "save", r"write\(PATH\)"),
    (irshape.infer(ATROUS)["stem"], "id", r"node\.id"),
    (irshape.infer(ATROUS)["stem"], "shape", r"outputs\[0\]\.shape"),
    (irshape.infer(ATROUS)["stem"].outputs[0], "dtype", r"element_type"),
    (irshape.infer(ATROUS)["stem"].outputs[0], "ndim", r"rank"),
    (irshape.infer(ATROUS)["stem"].outputs[0], "partial_shape", r"it has shape"),
    (irshape.infer(ATROUS), "inference", r"the inference itself"),
    (irshape.infer(ATROUS)["stem"], "code", r"fault\.code for fault in inference\.diagnostics"),
    (irshape.read(ATROUS), "output_names", r"model\.outputs\[0\]"),
    (irshape.sizes(ATROUS), "minimum", r"symbols"),
    (irshape.signature(ATROUS), "text", r"str\(signature\)"),
    (irshape.read(ATROUS), "layers", r"model\.nodes"),
    (irshape.read(ATROUS), "input", r"model\.inputs\[0\]"),
    (irshape.read(ATROUS), "reshape", r"irshape\.reshape\(model\)"),
    (irshape.read(ATROUS).inputs[0], "partial_shape", r"irshape\.infer\(model\)\[port\]"),
    (irshape.extract(ATROUS, to="stem"), "graph", r"the graph itself"),
    (irshape.edit(ATROUS), "remove", r"graph\[NAME\]\.remove\(\)"),
    (irshape.edit(ATROUS), "save", r"write\(PATH\)"),
    (irshape.edit(ATROUS)["stem"], "replace", r"replace_uses"),
    (irshape.edit(ATROUS)["stem"], "shape", r"layer\.output\.shape$"),
    (irshape.edit(ATROUS)["stem"].output, "consumers", r"readers"),
    (irshape.edit(ATROUS)["stem"], "shape", r"layer\.output\.shape"),
    (irshape.edit(ATROUS)["stem"], "delete", r"layer\.remove\(\)"),
    (irshape.edit(ATROUS), "insert", r"replace_uses"),
    (irshape.sizes(ATROUS), "valid", r"admits"),
    (irshape.sizes(ATROUS), "enumerate", r"nearest"),
    (irshape.infer(ATROUS)["stem"].outputs[0], "names", r"port\.port\.names"),
    (irshape.infer(ATROUS)["stem"].outputs[0], "nbytes", r"element_type\.bits"),
    (irshape.infer(ATROUS)["stem"].outputs[0], "is_dynamic", r"is_static"),
    (irshape.infer(ATROUS), "to_dataframe", r"to_records\(\)"),
    (irshape.infer(ATROUS), "is_valid", r"inference\.ok"),
    (irshape.infer(ATROUS), "raise_for_errors", r"inference\.errors"),
    (irshape.cost(ATROUS), "evaluate", r"at\(cost\.macs, H=320\)"),
    (irshape.cost(ATROUS), "to_dataframe", r"to_records\(\)"),
    (irshape.read(ATROUS).of_type("Const")[0].const, "value", r"const\.data"),
    (irshape.read(ATROUS).of_type("Const")[0].const, "numpy", r"const\.data"),
    (irshape.edit(ATROUS), "by_type", r"for layer in graph"),
    (irshape.edit(ATROUS), "rename", r"graph\[NAME\]\.rename\(NEW\)"),
    (irshape.edit(ATROUS), "add_output", r"graph\.result\(TENSOR\)"),
    (irshape.edit(ATROUS), "infer", r"irshape\.infer\(graph\.model\(\)\)"),
    (irshape.edit(ATROUS), "copy", r"irshape\.edit\(graph\.model\(\)\)"),
    (irshape.cost(ATROUS), "memory", r"peak_memory"),
    (irshape.infer(ATROUS), "is_dynamic", r"inputs\[0\]\.is_static"),
    (irshape.infer(ATROUS), "summary", r"irshape\.summary\(inference\.model\)"),
    (irshape.infer(ATROUS), "table", r"to_records\(\)"),
    (irshape.infer(ATROUS), "valid", r"inference\.ok"),
    (irshape.cost(ATROUS), "weights", r"parameter_bytes"),
    (irshape.cost(ATROUS), "gflops", r"cost\.at\(cost\.flops\)"),
    (irshape.cost(ATROUS), "by_type", r"groupby"),
    (irshape.sizes(ATROUS), "examples", r"sample"),
    (irshape.edit(ATROUS), "get", r"graph\[NAME\]"),
    (irshape.diff(ATROUS, DECODER), "added", r"difference\.changes"),
    (irshape.check("examples/faulty.xml").diagnostics[0], "line", r"where\.line"),
    (irshape.infer(ATROUS)["stem"], "parents", r"layer\.node\.producers"),
    (irshape.infer(ATROUS)["stem"], "shape", r"it is there: outputs\[0\]\.shape"),
    (irshape.infer(ATROUS), "has_errors", r"inference\.errors"),
    (irshape.infer(ATROUS), "to_sarif", r"--format sarif"),
    (irshape.read(ATROUS)["stem"], "friendly_name", r"node\.name"),
    (irshape.read(ATROUS)["stem"], "shape", r"irshape\.infer\(model\)\[node\]"),
    (irshape.read(ATROUS).inputs[0], "any_name", r"port\.names"),
    (irshape.read(ATROUS), "validate", r"irshape\.check\(model\)"),
    (irshape.read(ATROUS), "find", r"model\.of_type"),
    (irshape.edit(ATROUS), "nodes", r"list\(graph\)"),
    (irshape.edit(ATROUS), "set_batch", r"batch=1"),
    (irshape.edit(ATROUS)["stem"], "weights", r"layer\.data"),
    (irshape.edit(ATROUS).inputs[0], "set_shape", r"tensor\.layer\.set\(shape="),
    (irshape.cost(ATROUS), "total_macs", r"macs, operations"),
    (irshape.sizes(ATROUS), "bounds", r"symbols"),
    (irshape.diff(ATROUS, DECODER), "is_empty", r"is_same"),
    (irshape, "check_all", r"irshape\.check"),
    (irshape, "checker", r"irshape\.check"),
    (irshape, "compile_model", r"openvino runs one"),
    (irshape, "set_batch", r"batch=N"),
    (irshape.read(ATROUS), "state_dict", r'of_type\("Const"\)'),
    (irshape.read(ATROUS), "named_modules", r"irshape\.summary"),
    (RunComparison("a", "b", Tolerance(0, 0, "f32"), [], {}), "max_abs", r"comparison\.runs\[0\]\.outputs"),
    (irshape, "make_dynamic", r"irshape\.reshape\(PATH, inputs, rewrite=True\)"),
    (irshape, "flops", r"irshape\.cost"),
    (irshape.read(ATROUS), "variables", r"irshape\.signature\(model\)\.state"),
    (irshape.edit(ATROUS), "rollback", r"undo\(\)"),
    (irshape.edit(ATROUS)["stem"], "children", r"layer\.consumers"),
    (irshape.edit(ATROUS)["stem"].output, "values", r"it has elements"),
    (irshape.edit(ATROUS)["stem"], "data", r"only a Const has elements"),
    (irshape.edit(ATROUS)["stem"].output, "uses", r"its readers"),
    (irshape.edit(ATROUS)["stem"].output, "insert", r"graph\.add"),
    (irshape.read(ATROUS), "input_shapes", r"irshape\.infer\(model\)"),
    (irshape.read(ATROUS), "version", r"its ir_version"),
    (irshape.infer(ATROUS), "fix", r"irshape\.fix\(PATH\)"),
    (irshape.infer(ATROUS).outputs[0], "any_name", r"port\.port\.names"),
    (irshape.ElementType.f32, "numpy", r"dtype"),
]


@pytest.mark.parametrize(("one", "guess", "hint"), GUESSES)
def test_a_name_that_people_try_leads_on(one: Any, guess: str, hint: str) -> None:
    assert not hasattr(one, guess)
    with pytest.raises(AttributeError, match=hint):
        getattr(one, guess)
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'(; it has [a-z_, ]+)?$") as told:
        _ = one.nonsense
    assert {*filter(None, str(told.value).partition("; it has ")[2].split(", "))} <= {*dir(one)}


@pytest.mark.parametrize(
    ("one", "hint"),
    [
        (irshape.read(ATROUS)["stem"], r"graph\[NAME\]\.rename\(NEW\)"),
        (irshape.infer(ATROUS)["stem"], r"graph\[NAME\]\.rename\(NEW\)"),
        (irshape.edit(ATROUS)["stem"], r"layer\.rename\(NEW\)"),
    ],
)
def test_a_name_that_is_assigned_leads_on(one: Any, hint: str) -> None:
    with pytest.raises(AttributeError, match=hint):
        one.name = "new"


def test_sizes_are_asked_for_as_elements() -> None:
    sizes = irshape.sizes(ATROUS, inputs={"image": "[1,3,H,W]"})
    assert {"H": 64, "W": 64} in sizes and {"H": 65, "W": 64} not in sizes


def test_a_size_that_only_a_run_tells_has_no_number() -> None:
    found = irshape.infer(Net("x: f32[?] -> NonZero-3(output_type=i64) -> Result").xml.encode())
    [_, size] = found.outputs[0].shape or ()
    with pytest.raises(KeyError, match=r"no number for \w+ of \w+; data decide it, so only a run tells"):
        size.evaluate(B=4)  # type: ignore[union-attr]


def test_numpy_takes_an_element_type() -> None:
    """Those that NumPy has; `sample` is a dict and no function."""
    numpy = pytest.importorskip("numpy")
    types = {name: numpy.dtype(one).name for name, one in irshape.ElementType.BY_NAME.items() if hasattr(one, "dtype")}
    whole = {f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
    assert types == {"boolean": "bool", "f16": "float16", "f32": "float32", "f64": "float64", **whole}
    assert all(irshape.ElementType.parse(name) == one for name, one in types.items())
    with pytest.raises(TypeError, match=r"nearest\(H=500\)"):
        irshape.sizes(ATROUS).sample(3)  # type: ignore[operator]


def test_targets_of_a_reshape() -> None:
    """They are those of a check, and of `irshape reshape --target`."""
    assert irshape.reshape(ATROUS, {"image": "[1,3,32,32]"}, targets="static-shapes").ok
    assert [one.code for one in irshape.reshape(ATROUS, batch=1, targets=["static-shapes"]).errors][:1] == ["P101"]
    with pytest.raises(irshape.InputError, match="there is no target 'npx'"):
        irshape.reshape(ATROUS, batch=1, targets="npx")


def test_modules_of_the_library_are_there_without_an_import() -> None:
    code = "import irshape; irshape.testing.assert_shape; irshape.extend.op; irshape.typing"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# A call, and what its error says.
CALLS: list[tuple[Any, dict[str, Any], str]] = [
    (
        irshape.infer,
        {"shapes": {"image": [1, 3, 8, 8]}},
        r"'shapes'; the argument is inputs; infer takes source, inputs, symbols, symbols_as, w",
    ),
    (irshape.reshape, {"set": {"B": 2}}, r"'set'; the argument is symbols; reshape takes source, inputs, .*batch, rewrite, like"),
    (irshape.infer, {"input_shapes": {}}, r"'input_shapes'; the argument is inputs"),
    (irshape.reshape, {"rewrit": True}, r"'rewrit'; did you mean rewrite\? For an input of this name, give inputs="),
    (irshape.reshape, {"prove": True}, r"'prove'; irshape\.compare\(a, b\) runs two models"),
    (
        irshape.reshape,
        {"image": [1, 3, 8, 8]},
        r"'image'; for an input of this name, give inputs=\{'image': SHAPE\}; reshape takes source, inputs",
    ),
    (irshape.Session, {"batch": 2}, r"'batch'; Session\.__init__ takes source, weights"),
    (irshape.edit, {"inputs": {}}, r"'inputs'; edit takes source, weights"),
    (irshape.reshape, {"batch": 2, "target": "npu"}, r"'target'; check and reshape take targets=NAME"),
    (irshape.sizes, {"near": {"H": 500}}, r"'near'; irshape\.sizes\(PATH\)\.nearest"),
    (irshape.diff, {"b": ATROUS, "run": True}, r"'run'; irshape\.compare\(a, b\) runs two models; diff takes a, b, inputs"),
]


def test_an_argument_without_a_name_that_needs_one() -> None:
    with pytest.raises(TypeError, match=r"^infer takes 2 arguments without a name, not 3; give the others .*: symbols, "):
        cast("Any", irshape.infer)(ATROUS, {"image": [1, 3, 8, 8]}, {"B": 1})


@pytest.mark.parametrize(("verb", "given", "message"), CALLS)
def test_a_verb_names_its_own_arguments(verb: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=f"there is no argument {message}"):
        verb(ATROUS, **given)


def test_a_folder_is_scanned() -> None:
    with pytest.raises(IsADirectoryError, match=r"irshape\.scan reads every IR in it"):
        irshape.check("examples")


@pytest.mark.parametrize("shape", ["[1,3,8,W]", [1, 3, 8, "W"], (1, 3, 8, "W"), "image[1,3,8,W]", "image=[1,3,8,W]"])
def test_a_shape_is_that_of_the_input_that_it_names_or_of_the_only_one(shape: Any) -> None:
    for found in (irshape.infer(ATROUS, inputs=shape), irshape.reshape(ATROUS, shape), irshape.Session(ATROUS).reshape(shape)):
        assert found.inputs[0].formula == "[1,3,8,W]"


@pytest.mark.parametrize("size", [(1, 4), range(8), 8.0, math.nan, True])
def test_a_size_that_is_no_size_is_told(size: Any) -> None:
    with pytest.raises(irshape.InputError, match=r"a size is an int, a text or None, not .*; write a range as a text: '1\.\.4'"):
        irshape.infer(ATROUS, inputs=[1, 3, size, 8])


def test_a_new_type_is_told_the_way() -> None:
    with pytest.raises(AttributeError, match=r"new = graph\.add\('ReLU', .* layer\.output\.replace_uses\(new\)"):
        irshape.edit(ATROUS)["stem"].type = "ReLU"


def test_a_cost_takes_sizes_by_name() -> None:
    found = irshape.cost(ATROUS)
    assert found.at(found.macs, H=64, W=32) == found.at(found.macs, {"H": 64, "W": 32}) > 0


def test_a_model_is_read_by_a_function() -> None:
    with pytest.raises(TypeError, match=r"irshape\.read\(PATH\) reads a model"):
        irshape.Model(ATROUS)  # type: ignore[arg-type]


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    for write in (irshape.infer(ATROUS).write, irshape.edit(ATROUS).write):
        with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
            write(tmp_path / "nowhere" / "model.xml")


def test_undo_takes_back_one_step() -> None:
    graph = irshape.edit(ATROUS)
    graph["stem"].rename("first")
    mark = graph.mark()
    graph["upsample"].rename("second")
    graph["mask"].rename("third")
    graph.undo()
    assert "second" in graph and "third" not in graph
    graph.undo(mark)
    assert "second" not in graph and "first" in graph
    graph.undo(0)
    assert bytes(graph) == Path(ATROUS).read_bytes()
