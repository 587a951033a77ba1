"""Two models run side by side: the inputs, the differences, the first layer that differs, and what can go wrong."""

import json
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy
import pytest

import irshape
from irshape import verbs
from irshape.cli.main import main
from irshape.editing.graph import Graph, edit
from irshape.running.inputs import bounds_of, drawn, sizes_of
from irshape.running.limits import RUNS
from irshape.running.runner import RunFailure, Runner
from irshape.testing import assert_same
from tests.support.ir import Net
from tests.support.places import DATA, DECODER
from tests.support.schemas import validator

# A Loop that applies Sigmoid as often as its first constant says.
LOOP = (DATA / "endless.xml").read_text()


def net(*, scale: float = 0.5, half: bool = False, swapped: bool = False, names: str = "") -> Graph:
    """Two inputs, a chain of layers with constants, and a branch that joins it."""
    graph = irshape.Graph("net")
    x, y = graph.parameter("x", "[?,8]"), graph.parameter("y", "[?,8]")
    weights = numpy.linspace(-1, 1, 64, dtype="f4").reshape(8, 8)
    if half:
        weights = weights.astype("f2")
    constant: Any = graph.constant(weights, name="weights")
    if half:
        constant = graph.add("Convert", constant, destination_type="f32", name="decompressed")
    first = graph.add("MatMul", x, constant, transpose_a=False, transpose_b=False, name=f"{names}first")
    second = graph.add("Multiply", first, numpy.array([[scale]], "f4"), name=f"{names}second")
    third = graph.add("Tanh", second, name=f"{names}third")
    side = graph.add("Sigmoid", y, name=f"{names}side")
    pair = (side, third) if swapped else (third, side)
    graph.result(graph.add("Subtract", *pair, name=f"{names}joined"), names="out")
    return graph


def saved(graph: Graph, path: Path) -> str:
    graph.write(path)
    return str(path)


def test_a_model_equals_itself_at_several_sizes() -> None:
    found = irshape.compare(net(), net())
    assert found.is_same and found.first is None and found.missing == []
    assert [run.shapes["x"] for run in found.runs] == [(1, 8), (2, 8)] or len(found.runs) == 3
    assert all(one.absolute == 0 and one.relative == 0 for run in found.runs for one in run.outputs)
    assert found.summary.startswith("equal outputs in")


@pytest.mark.parametrize(
    ("b", "first", "is_same"),
    [
        (net(scale=0.25), "second", False),
        (net(swapped=True), "joined", False),
        (net(half=True), None, True),
        (net(scale=0.25, names="other/"), "second", False),
    ],
    ids=["constant", "edge", "f16", "renamed"],
)
def test_the_first_layer_that_differs_is_known(b: Graph, first: str | None, is_same: bool) -> None:
    """A broken constant is found at its reader, swapped inputs at their layer; constants in half precision are no difference."""
    found = irshape.compare(net(), b, first=True)
    assert found.is_same == is_same
    assert (found.first.layer if found.first else None) == first
    validator("comparison").validate(json.loads(json.dumps(found.to_dict())))
    if found.first is not None:
        assert not found.first.output.is_same and any(not one.is_same for one in found.first.before)


def test_the_tolerance_follows_the_precision_that_separates_the_models() -> None:
    assert irshape.compare(net(half=True), net(half=True)).tolerance.precision == "f32"
    found = irshape.compare(net(), net(half=True))
    assert found.tolerance.precision == "f16" and 0 < (found.runs[0].outputs[0].relative or 0) < found.tolerance.rtol
    assert not irshape.compare(net(), net(half=True), rtol=0, atol=0).is_same
    assert irshape.compare(net(), net(scale=0.25), atol=10).is_same


def test_a_search_in_a_thousand_layers_takes_about_ten_runs() -> None:
    """Two chains join at every tenth layer; the constant of one layer is another."""

    def chains(broken: int) -> Graph:
        graph = irshape.Graph("chains")
        ends = [graph.parameter(name, "[2,4]").layer for name in ("x", "y")]
        for number in range(1000):
            scale = 1.5 if number == broken else 1.01
            ends[number % 2] = graph.add("Multiply", ends[number % 2], numpy.array([[scale]], "f4"), name=f"layer/{number}")
            if number % 10 == 9:
                ends[0] = graph.add("Tanh", graph.add("Add", *ends, name=f"sum/{number}"), name=f"tanh/{number}")
        graph.result(ends[0], names="out")
        graph.result(ends[1], names="other")
        return graph

    found = irshape.compare(chains(-1), chains(637), first=True)
    assert found.first is not None and (found.first.layer, found.first.type) == ("layer/637", "Multiply")
    assert found.first.runs <= 13 and [one.is_same for one in found.first.before] == [True, False]


def test_a_broken_constant_of_a_decoder_is_found() -> None:
    changed = edit(DECODER)
    products = [layer for layer in changed if layer.type == "MatMul" and layer.inputs[1] and layer.inputs[1].layer.type == "Const"]
    wrong = products[len(products) // 2]
    weights = wrong.inputs[1]
    assert weights is not None
    weights.layer.data = weights.layer.data * 3
    found = irshape.compare(DECODER, changed, first=True)
    assert found.first is not None and found.first.layer == wrong.name
    assert [one.is_same for one in found.first.before] == [True, False]


def test_integers_are_indices_that_the_model_takes() -> None:
    """An index of an axis of 5 elements is below 5, behind a Convert and a Reshape too; a count is 1."""
    graph = irshape.Graph("indices")
    ids = graph.parameter("ids", "[?]", "i64")
    wide = graph.add("Unsqueeze", graph.add("Convert", ids, destination_type="i32"), numpy.array([0]))
    graph.result(graph.add("Gather", numpy.arange(10, dtype="f4").reshape(5, 2), wide, 0), names="rows")
    graph.result(graph.add("OneHot", ids, 3, 1.0, 0.0, axis=-1), names="hot")
    inference = graph.check()._inference
    model = inference.model
    assert bounds_of(inference, model.parameters[0].outputs[0]) == (0, 2)
    [values] = drawn(model, {"ids": (1000,)}, frozenset(), numpy.random.default_rng(0))
    assert set(values.tolist()) == {0, 1, 2}
    assert irshape.compare(graph, graph).is_same


def test_outputs_that_only_one_model_has() -> None:
    """A further output is compared with the tensor of the first model; an output that is gone is listed."""
    tapped = net()
    tapped.result(tapped["second"])
    found = irshape.compare(net(), tapped)
    assert found.is_same and len(found.runs[0].outputs) == 2
    back = irshape.compare(tapped, net())
    assert back.is_same and len(back.missing) == 1


@pytest.mark.parametrize("result", ["joined/result", "another"])
@pytest.mark.parametrize("is_tapped", [False, True], ids=["alone", "beside another output"])
def test_an_output_with_another_name_is_renamed_and_not_missing(result: str, is_tapped: bool) -> None:
    renamed = net()
    if is_tapped:
        renamed.result(renamed["second"])
    renamed["joined/result"].rename(result)
    renamed["joined"].outputs[0].names = ["logits"]
    found = irshape.compare(net(), renamed)
    assert found.is_same and found.missing == [] and found.renamed == {"out": "logits"}
    assert irshape.compare(renamed, net()).renamed == {"logits": "out"}


def test_data_are_given(tmp_path: Path) -> None:
    arrays = {"x": numpy.ones((5, 8), "f4"), "y": numpy.zeros((5, 8), "f4")}
    found = irshape.compare(net(), net(), data=arrays)
    assert [run.shapes for run in found.runs] == [{"x": (5, 8), "y": (5, 8)}]
    numpy.savez(tmp_path / "inputs.npz", **arrays)
    a, b = saved(net(), tmp_path / "a.xml"), saved(net(scale=2), tmp_path / "b.xml")
    assert main(["diff", a, b, "--run", "--data", str(tmp_path / "inputs.npz")]) == 1
    with pytest.raises(irshape.RunningError, match="no array for 'y'; the arrays are 'x'"):
        irshape.compare(net(), net(), data={"x": arrays["x"]})


def test_a_batch_is_compared_with_its_samples() -> None:
    """A model that mixes samples gives other numbers for a batch."""
    graph = irshape.Graph("mean")
    x = graph.parameter("x", "[?,4]")
    graph.result(graph.add("Subtract", x, graph.add("ReduceMean", x, numpy.array([0]), keep_dims=True)), names="out")
    assert irshape.compare(net(), net(), batch=3).is_same
    assert irshape.compare(graph, graph).is_same
    assert not irshape.compare(graph, graph, batch=3).is_same


def test_samples_share_an_input_without_a_batch_and_may_be_regrouped() -> None:
    """The blocks of SpaceToBatch hold the samples side by side; a table that both inputs read belongs to all samples."""

    def blocks(*, is_mixed: bool = False) -> Graph:
        graph = irshape.Graph("blocks")
        image: Any = graph.parameter("image", "[?,2,4,4]")
        table = graph.parameter("table", "[2,1,1]")
        if is_mixed:
            image = graph.add("Reverse", image, numpy.array([0]), mode="index")
        ones, zeros = numpy.array([1, 1, 2, 2]), numpy.array([0, 0, 0, 0])
        graph.result(graph.add("SpaceToBatch", graph.add("Add", image, table), ones, zeros, zeros), names="out")
        return graph

    found = irshape.compare(blocks(), blocks(), batch=3)
    assert found.is_same and [*found.runs[0].outputs[0].shapes] == [[12, 2, 2, 2]] * 2
    assert not irshape.compare(blocks(), blocks(is_mixed=True), batch=3).is_same


def test_models_with_other_sizes_run_at_those_of_the_second(tmp_path: Path) -> None:
    graph = irshape.Graph("pool")
    graph.result(graph.add("ReLU", graph.parameter("x", "[1,3,8,8]")), names="out")
    larger = irshape.reshape(bytes(graph), {"x": "[1,3,16,16]"})
    found = irshape.compare(graph, larger)
    assert found.is_same and found.runs[0].shapes == {"x": (1, 3, 16, 16)}


def stateful(*, sign: float = 1.0, start: bool = False) -> Graph:
    """The sum of all inputs so far, kept in a variable; with `start`, it begins with the first input."""
    graph = irshape.Graph("sum")
    x, old = graph.parameter("x", "[?,3]"), graph.parameter("old", "[?,3]")
    total = graph.add("Add", graph.add("Multiply", old, numpy.array([[sign]], "f4")), x, name="total")
    graph.result(total, names="new")
    graph.result(graph.add("ReLU", old), names="out")
    graph.stateful({"old": "new"})
    if start:
        attributes = {"variable_id": "oldnew", "variable_type": "f32", "variable_shape": "?,3"}
        reader = graph.add("ReadValue", x, version="opset6", **attributes)
        graph["old"].output.replace_uses(reader)
        graph["old"].remove()
    return graph


def stateless(**given: Any) -> Graph:
    graph = edit(stateful(**given).model())
    graph.stateless()
    return graph


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize(
    ("a", "b", "differing"),
    [
        (stateful(), stateful(), []),
        (stateful(), stateless(), []),
        (stateless(), stateful(), []),
        (stateful(), stateful(sign=-1.0), ["new"]),
        (stateless(), stateful(sign=-1.0), ["new"]),
        (stateful(), stateful(start=True), []),
        (stateful(start=True), stateless(start=True), []),
        (stateful(start=True), stateful(start=True), []),
        (stateful(start=True), stateful(start=True, sign=-1.0), ["new"]),
    ],
)
def test_states_of_both_models_begin_and_end_alike(a: Graph, b: Graph, differing: list[str], batch: int | None) -> None:
    """A state is drawn like an input, and compared like an output. Where both have a first value, each begins with its own."""
    found = irshape.compare(a, b, batch=batch)
    assert sorted({one.name for run in found.runs for one in run.outputs if not one.is_same}) == differing
    assert found.missing == [] and all(run.is_same for run in found.runs) == (not differing)


def test_random_outputs_are_told_from_other_numbers() -> None:
    graph = irshape.Graph("random")
    x = graph.parameter("x", "[4]")
    noise = graph.add("RandomUniform", numpy.array([4]), 0.0, 1.0, output_type="f32", global_seed=0, op_seed=0)
    graph.result(graph.add("Add", x, noise), names="out")
    with pytest.raises(irshape.RunningError, match="other numbers for output out in a second run"):
        irshape.compare(graph, graph)


def test_a_model_that_openvino_refuses_is_a_result() -> None:
    """If one model fails where the other one runs, the models differ; if both fail, nothing is compared."""
    broken = net()
    broken["first"].set(transpose_b=True)
    broken["weights"].data = numpy.ones((8, 5), "f4")
    found = irshape.compare(net(), broken)
    assert not found.is_same and "model B fails where the other model runs" in found.summary
    with pytest.raises(irshape.RunningError, match="no sizes of the inputs that net accepts: the columns"):
        irshape.compare(broken, broken)
    extra = irshape.Graph("extra")
    extra.result(extra.add("Add", extra.parameter("p", "[2]"), extra.add("Add", extra.parameter("q", "[2]"), extra.parameter("r", "[2]"))))
    with pytest.raises(irshape.RunningError, match="no input for"):
        irshape.compare(net(), extra)


def test_a_model_that_never_ends_is_ended(tmp_path: Path) -> None:
    """A Loop counts on and on. The limit ends the process, and the answer says so."""
    for count, name in ((1 << 62, "endless"), (3, "quick")):
        (tmp_path / f"{name}.xml").write_text(LOOP)
        (tmp_path / f"{name}.bin").write_bytes(struct.pack("<q?", count, True))
    found = irshape.compare(tmp_path / "quick.xml", tmp_path / "endless.xml", allowance=RUNS._replace(time=5.0))
    assert not found.is_same and found.runs[0].failures == {"b": "it takes longer than 5 s"}


def test_a_crash_is_a_result() -> None:
    """A process that ends is told from an answer, and the next question finds a new process."""
    with closing(Runner()) as runner:
        assert runner.ask(do="compare", a=[], b="b", pairs=[]) == {"differences": []}
        assert runner._process is not None
        runner._process.kill()
        with pytest.raises(RunFailure, match="the system ended the process"):
            runner.ask(do="compare", a=[], b="b", pairs=[])
        assert runner.ask(do="compare", a=[], b="b", pairs=[]) == {"differences": []}


def test_without_openvino_a_sentence_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "openvino.py").write_text("raise ImportError('none')")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = saved(net(), tmp_path / "a.xml")
    assert main(["diff", path, path, "--run"]) == 2
    assert "pip install 'irshape[run]'" in capsys.readouterr().err
    assert main(["simplify", path, "--dry-run", "--prove"]) == 2


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """A model, and one with another constant."""
    return saved(net(), tmp_path / "a.xml"), saved(net(scale=0.25), tmp_path / "b.xml")


def test_diff_shows_the_run(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *pair, "--run", "--first"]) == 1
    printed = capsys.readouterr().out
    assert "1 constant changed" in printed and "run x[1,8]  y[1,8]" in printed and "1 output of 1 differs in" in printed
    assert "first layer that differs Multiply second" in printed
    assert main(["diff", pair[0], pair[0], "--run"]) == 0
    assert main(["diff", *pair, "--run", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out.partition("the same model")[2].partition("\n{")[2].join(["{", ""]))
    validator("diff").validate(report)
    assert report["run"]["is_same"] is False


@pytest.mark.parametrize(
    ("command", "proof"),
    [
        (["simplify", "{}", "-o", "{o}", "--prove"], "proved: equal outputs in"),
        (["reshape", "{}", "--batch", "4", "-o", "{o}", "--prove"], "proved: equal outputs in"),
        (["edit", "{}", "--add-output", "second", "-o", "{o}", "--prove"], "proved: equal outputs in"),
        (["edit", "{}", "--freeze", "y=[[1,2,3,4,5,6,7,8]]", "-o", "{o}", "--prove"], "proved: equal outputs in"),
        (["extract", "{}", "--to", "third", "-o", "{o}", "--prove"], ""),
    ],
    ids=["simplify", "reshape", "edit", "freeze", "extract"],
)
def test_a_command_proves_what_it_writes(
    command: list[str], proof: str, pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.xml"
    assert main([word.replace("{o}", str(target)).replace("{}", pair[0]) for word in command]) == 0
    assert proof in capsys.readouterr().out and target.exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Divide(zero, zero) -> Result",
            "no proof: equal outputs in 1 run; this proves nothing, because each has NaN or infinity everywhere",
        ),
        ("zero -> Result", "no proof: equal outputs in 1 run; this proves nothing, because each has the same number"),
        ("Cos(zero) -> Result", "no proof: equal outputs in 1 run; this proves nothing, because each has the same number"),
        ("zero -> Result\nx -> Result", "\nproved: equal outputs in 1 run; this proves nothing of zero: the same number everywhere"),
        ("x -> Result", "\nproved: equal outputs in 1 run\n"),
    ],
)
def test_outputs_of_one_number_prove_nothing(text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Net(f"x: f32[2]\nzero: Subtract(x, x)\n{text}").save(tmp_path / "net.xml")
    path, target = str(tmp_path / "net.xml"), tmp_path / "out.xml"
    code = main(["simplify", path, "-o", str(target), "--prove"])
    printed = capsys.readouterr()
    assert told in (printed.err if code else printed.out) and target.exists() == (code == 0)
    assert main(["diff", path, path, "--run"]) == 0  # the step that the refusal names, and the option for other inputs
    assert ("--data" in capsys.readouterr().out) == (code == 2)


# A state of another batch than the input, whose first inference fails or gives nothing; a cache; a state of one size.
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x: f32[2,3]\nold: f32[?,3]\nx -> new: Add(old)", "the first inference, which begins with empty states, fails: "),
        ("x: f32[1,3]\nold: f32[?,3]\nx -> new: Add(old)", "first inference, which begins with empty states, gives no elements for out"),
        ("x: f32[2,3]\nold: f32[?,3]\nold -> new: Concat(x, axis=0)", ""),
        ("x: f32[2,3]\nold: f32[2,3]\nx -> new: Add(old)", ""),
    ],
)
def test_a_new_state_is_proved_with_its_first_inference(text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = Net(f"{text} -> Result\nnew -> out: ReLU -> Result").save(tmp_path / "net.xml"), tmp_path / "out.xml"
    assert main(["edit", str(path), "--stateful", "old=new", "-o", str(target), "--prove"]) == (2 if told else 0)
    assert told in capsys.readouterr().err and target.exists() == (not told)
    if not told:  # a state that was there before begins as it did
        assert main(["edit", str(target), "--rename", "new=newer", "-o", str(tmp_path / "again.xml"), "--prove"]) == 0


# Behind the SpaceToDepth, 48 numbers of each sample are 2 rows of 24: the Reshape refuses any other number of samples in the file.
ROWS_OF_24 = "x: f32[2,3,4,4] -> SpaceToDepth(block_size=2, mode=blocks_first) -> Reshape([2,2,24], special_zero=false) -> Result"
# torch.export writes `expand` so: the constant holds the recorded batch.
EXPANDED = "x: f32[2,6]\nx -> ShapeOf-3(output_type=i64) -> wide: Maximum([2,6])\nx, wide -> Broadcast-3(mode=bidirectional) -> Result"


@pytest.mark.parametrize(("text", "batch", "told"), [
    (ROWS_OF_24, "4", ""),
    (ROWS_OF_24, "3", "the batch of the first model is 2, and 3 is no multiple of it: give a multiple, or prove --batch N and set N"),
    (ROWS_OF_24, "N", ""),
    (EXPANDED, "4", ""),
    (EXPANDED, "3", ""),
    (EXPANDED, "1", "the batch of the first model is 2, and 1 is no multiple of it: give a multiple, or prove --batch N and set N"),
])  # fmt: skip
def test_another_number_of_samples_than_the_recorded_one_is_proved(
    text: str, batch: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = Net(text).save(tmp_path / "net.xml"), tmp_path / "out.xml"
    code = main(["reshape", str(path), "--batch", batch, "--rewrite", "--prove", "-o", str(target)])
    assert code == (2 if told else 0) and told in capsys.readouterr().err and target.exists() == (not told)


def test_a_file_that_gives_another_shape_at_the_new_sizes_proves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = Net(EXPANDED).save(tmp_path / "net.xml"), tmp_path / "out.xml"
    assert main(["reshape", str(path), "--input", "x[1,6]", "--rewrite", "--prove", "-o", str(target)]) == 1
    told = "the file gives other shapes at these sizes: prove them open, as in --input x[N,6], and set N in the result"
    assert told in capsys.readouterr().err and not target.exists()


def test_what_differs_is_not_written(pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.xml"
    assert main(["edit", pair[0], "--bypass", "third", "-o", str(target), "--prove"]) == 1
    assert "nothing is written: 1 output of 1 differs in" in capsys.readouterr().err and not target.exists()


def test_the_assertion_for_tests(pair: tuple[str, str]) -> None:
    with pytest.raises(AssertionError, match="1 constant changed"):
        assert_same(*pair)
    with pytest.raises(AssertionError, match="1 output of 1 differs in"):
        assert_same(*pair, run=True)
    simple = edit(pair[0])
    simple["second"].rename("another")
    assert_same(pair[0], simple.model(), run=True)


POOL = "MaxPool(f32[?,3,?,?], kernel=[29,29], strides=[29,29], pads_begin=[0,0], pads_end=[0,0], rounding_type=floor) -> Result"


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("f32[?,3,?,?] -> ReLU -> Result", [(1, 1, 1), (2, 3, 3), (2, 70, 70)]), (POOL, [(1, 29, 29), (2, 87, 87), (2, 174, 174)])],
    ids=["from 1 on", "from a window on"],
)
def test_sizes_of_runs_are_apart(text: str, sizes: list[tuple[int, ...]]) -> None:
    """At the smallest sizes, and at ones just above, the tensors deep inside may have one element, which shows few changes."""
    found = zip(sizes_of(verbs.read(Net(text).xml.encode()), {}, frozenset()), sizes, strict=False)
    assert [(n, h, w) for shapes, _ in found for n, _, h, w in shapes.values()] == sizes
