"""Reduction: injected faults are reduced to models that are valid, that still show them, and of which no layer can be left out."""

import shlex
import sys
import time
from pathlib import Path

import pytest

import irshape
from irshape.editing.extract import extract
from irshape.editing.reduce import PASSES, NotShown, Reducer, Reduction
from irshape.editing.trial import Answers, Candidate, CandidateJudge, FailingCommand, OtherQuestion, Test, candidate_of, shows_code
from irshape.report.diagnostic import Diagnostic
from tests.support.injected import injected
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of
from tests.support.places import ATROUS, EXAMPLES, IRS, STATEFUL
from tests.support.shuffled import shuffled

FILES = [path for path in (*WITH_WEIGHTS, *sorted(EXAMPLES.glob("*.xml"))) if 4_000 < path.stat().st_size < 400_000]
_BORDER = ("Const", "Parameter", "Result")


def reduced(graph: irshape.Graph, test: Test, jobs: int = 1, suspect: int | None = None, codes: frozenset[str] = frozenset()) -> Reduction:
    """The reduction of a graph."""
    draft = graph._draft
    judge = CandidateJudge(draft, test, codes, {}, jobs)
    try:
        return Reducer(draft, judge, lambda *_: None).reduced(suspect)
    finally:
        judge.close()


def read(candidate: Candidate) -> irshape.Model:
    return irshape.read(candidate.text, weights=candidate.weights)


@pytest.mark.parametrize("path", FILES[:: max(1, len(FILES) // 60)], ids=named)
def test_injected_faults_are_reduced_to_what_they_need(path: Path) -> None:
    try:
        graph = irshape.edit(path)
    except irshape.EditError:
        pytest.skip("no whole IR")
    faults = (injected(irshape.read(path), seed) for seed in range(len(path.stem), len(path.stem) + 5))
    fault = next(filter(None, faults), None) if graph.check().ok else None
    if fault is None:
        pytest.skip("errors, or no layers for a fault")

    def test(candidate: Candidate, _: list[Diagnostic]) -> bool:
        assert irshape.check(candidate.text, weights=candidate.weights).ok
        return fault.shows(read(candidate))

    result = reduced(graph, test)
    model = read(result.candidate)
    layers = [node for node in model if node.type not in _BORDER]
    assert fault.shows(model), fault.about
    left = irshape.edit(result.candidate.text, weights=result.candidate.weights)
    draft = left._draft
    items = [draft.state.items[node.id] for node in layers]
    for item in items:
        rest = [one for one in items if one is not item]
        candidate = candidate_of(draft, lambda rest=rest: extract(draft, rest)) if rest else None
        assert candidate is None or not irshape.check(candidate.text).ok or not fault.shows(read(candidate)), (fault.about, item)
    core = core_of(path.read_bytes())
    try:
        core.read_model(path)
    except RuntimeError:
        return
    assert core.read_model(result.candidate.text, result.candidate.weights)


def chain(length: int = 40) -> irshape.Graph:
    """A chain of layers with branches, of which one has another attribute."""
    graph = irshape.Graph("chain")
    tensor = graph.parameter("x", "[?,64,?]")
    for number in range(length):
        tensor = graph.add("Relu" if number % 3 else "Abs", tensor, name=f"layer_{number}").output
        if number % 7 == 0:
            graph.result(graph.add("Multiply", tensor, 2.0, name=f"side_{number}"))
    graph.add("Elu", tensor, alpha=0.5, name="elu")
    graph.result(graph.add("Softmax", graph["elu"], axis=2, name="softmax"), names="out")
    return graph


def has_softmax_after_elu(candidate: Candidate, _: list[Diagnostic]) -> bool:
    return any(one.type == "Elu" for node in read(candidate).of_type("SoftMax", "Softmax") for one in node.producers)


@pytest.mark.parametrize("jobs", [1, 3])
def test_everything_that_is_not_needed_becomes_simple(jobs: int) -> None:
    model = read(reduced(chain(), has_softmax_after_elu, jobs).candidate)
    assert [node.type for node in model if node.type != "Const"][1:-1] == ["Elu", "Softmax"]
    assert irshape.infer(model).inputs[0].text == "[1,1,1]"
    assert model["elu"].attributes["alpha"] == 0.0 and model["softmax"].attributes["axis"] == 1


def test_a_code_is_kept_with_the_layer_at_fault_alone() -> None:
    graph = chain()
    values = {"strides": (0,), "pads_begin": (0,), "pads_end": (0,), "dilations": (1,)}
    conv = graph.add("Convolution", graph["layer_20"], [[[1.0]] * 64] * 64, name="conv", **values)
    graph["layer_20"].output.replace_uses(conv)
    graph = irshape.edit(graph.model())
    result = reduced(graph, shows_code("A104", "strides"), suspect=graph["conv"].id, codes=frozenset({"A104"}))
    assert {node.type for node in read(result.candidate)} == {"Parameter", "Const", "Convolution", "Result"}
    assert any(one.code == "A104" for one in irshape.check(result.candidate.text, weights=result.candidate.weights).diagnostics)


def test_a_branch_takes_the_place_of_its_if() -> None:
    paths = [path for path in WITH_WEIGHTS if (model := irshape.read(path)).of_type("If") and not model.of_type("Loop", "TensorIterator")]
    path = next(path for path in paths if irshape.check(path).ok)
    graph = irshape.edit(path)
    inner = {node.type for other in graph.model().graphs() if other.holder is not None for node in other} - {*_BORDER}
    wanted = min(inner)
    result = reduced(graph, lambda candidate, _: f'type="{wanted}"'.encode() in candidate.text)
    model = read(result.candidate)
    assert wanted in {node.type for node in model} and not model.of_type("If")


def test_each_pass_ends(tmp_path: Path) -> None:
    """A test that everything passes takes each change that is possible."""
    graph = irshape.edit(STATEFUL)
    result = reduced(graph, lambda candidate, _: b'type="ScaledDotProductAttention"' in candidate.text)
    assert result.steps[0].partition(":")[0] == "the whole model"
    assert read(result.candidate).of_type("ScaledDotProductAttention") and set(result.candidate.weights) <= {0}
    assert {"open axes"} <= {step.partition(":")[0] for step in result.steps} & PASSES.keys()


def test_what_shows_no_fault_is_refused() -> None:
    with pytest.raises(NotShown):
        reduced(chain(3), lambda *_: False)


def test_candidates_with_other_errors_are_not_tried() -> None:
    """An input that stands for the shape of a Reshape leaves too little known for the Convolution behind it."""
    graph = irshape.edit(ATROUS)
    tried: list[Candidate] = []

    def test(candidate: Candidate, found: list[Diagnostic]) -> bool:
        tried.append(candidate)
        return b'type="BatchToSpace"' in candidate.text

    reduced(graph, test)
    assert len({candidate.key for candidate in tried}) == len(tried) > 5
    assert all(irshape.check(candidate.text, weights=candidate.weights).ok for candidate in tried)


def test_a_command_fails_by_its_code_and_its_output(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text("import sys, time\ntext = open(sys.argv[1]).read()\nif 'Elu' in text: print('no kernel', sys.argv[1]); sys.exit(3)\n")
    line = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{}}"
    whole, other = (Candidate(bytes(graph), b"") for graph in (chain(2), irshape.Graph("empty")))
    assert FailingCommand(line, None, 30)(whole, []) and FailingCommand(line, "no k.rnel", 30)(whole, [])
    assert not FailingCommand(line, "Segmentation", 30)(whole, []) and not FailingCommand(line, None, 30)(other, [])
    assert FailingCommand(line, None, 30).run(whole) == (3, b"no kernel model.xml\n")
    begin = time.monotonic()
    assert not FailingCommand("sleep 30; false {}", None, 1)(whole, []) and time.monotonic() - begin < 15


def test_a_run_that_is_broken_off_goes_on(tmp_path: Path) -> None:
    calls: list[str] = []

    def test(candidate: Candidate, found: list[Diagnostic]) -> bool:
        calls.append(candidate.key)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return has_softmax_after_elu(candidate, found)

    graph = chain()
    for is_first in (True, False):
        answers = Answers(str(tmp_path), "question")
        judge = CandidateJudge(graph._draft, test, frozenset(), answers)
        if is_first:
            with pytest.raises(KeyboardInterrupt):
                Reducer(graph._draft, judge, lambda *_: None).reduced()
            graph.undo(0)
            graph = chain()
        else:
            assert len(answers) == 8
            assert len(Reducer(graph._draft, judge, lambda *_: None).reduced().candidate.text) < 3000
        judge.close()
        answers.close()
    assert len(set(calls[:8])) == 8 and not set(calls[:8]) & set(calls[9:]) and calls[8] == calls[9]
    with pytest.raises(OtherQuestion):
        Answers(str(tmp_path), "another question")
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'{"key": "cut o')
    answers = Answers(str(tmp_path), "question")
    assert len(answers) == len(set(calls))
    answers.remove()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("codes", "searches"), [((), False), (("R104",), False), (("R401",), True)])
def test_contradicting_conditions_are_sought_for_their_own_code_alone(codes: tuple[str, ...], searches: bool) -> None:
    told: list[bool] = []

    def test(candidate: Candidate, found: list[Diagnostic]) -> bool:
        told.append(any(one.message.startswith("no sizes fulfil") for one in found))
        return True

    # H is even for one layer, and odd for the other.
    net = Net("x: f32[1,?]\nx -> Reshape([2,-1]) -> Result\nx, f32=0[1,1] -> Concat(axis=1) -> Reshape([2,-1]) -> Result")
    reduced(irshape.edit(net.xml.encode(), weights=net.bin), test, codes=frozenset(codes))
    assert any(told) == searches


def test_layers_of_bodies_go() -> None:
    """Each layer of a body can be left out: another one or an input stands for it."""
    path = EXAMPLES / "sums.xml"
    result = reduced(irshape.edit(path), lambda candidate, _: any(graph.of_type("Squeeze") for graph in read(candidate).graphs()))
    left = [node.type for graph in read(result.candidate).graphs() for node in graph if node.type not in (*_BORDER, "TensorIterator")]
    assert left == ["Squeeze"] and core_of(path.read_bytes()).read_model(result.candidate.text, result.candidate.weights)
    gone = reduced(irshape.edit(path), lambda candidate, _: b'type="TensorIterator"' in candidate.text)
    model = read(gone.candidate)
    assert [node.type for node in model["sums"].body if node.type not in ("Parameter", "Result")] == []
    assert len(model["sums"].outputs) == 1


def test_equal_constants_become_one() -> None:
    graph = irshape.Graph("constants")
    x = graph.parameter("x", "[2]")
    graph.result(graph.op.Add(graph.op.Multiply(x, [3.0, 5.0]), [3.0, 5.0]))
    wanted = ("Add", "Multiply")
    result = reduced(irshape.edit(graph.model()), lambda candidate, _: all(read(candidate)._graph.of_type(*[one]) for one in wanted))
    assert len(read(result.candidate).of_type("Const")) <= 1


def test_a_code_in_a_body_is_kept() -> None:
    graph = irshape.edit(EXAMPLES / "sums.xml")
    graph["sum/next"].connect(1, [[1.0, 2.0, 3.0]])
    folder = irshape.edit(bytes(graph), weights=graph.model().weights)
    holder = folder["sums"].id
    result = reduced(folder, shows_code("S202", None), suspect=holder, codes=frozenset({"S202"}))
    left = irshape.check(result.candidate.text, weights=result.candidate.weights)
    assert [one.where.layer_type for one in left.diagnostics if one.code == "S202"] == ["Add"]


@pytest.mark.parametrize("order", [3, 4])
def test_weights_that_cannot_be_read_are_said(order: int) -> None:
    """In any order of the layers, the first bytes that are missing."""
    net = Net("x: f32[4], f32=1[4] -> Add -> Multiply(_, f32=2[4]) -> Result")
    with pytest.raises(irshape.EditError, match="a constant needs bytes that cannot be read: bytes 0 to 16 are needed"):
        irshape.reduce(shuffled(net.xml.encode(), order), keep="W102", weights=net.bin[:8])


def test_the_output_of_a_faulty_layer_keeps_its_record() -> None:
    """The Result of a reproducer recorded no dims, which was one more fault."""
    net = Net("x: f32[2,8]\nx, f32=0[8] -> Multiply -> ReLU -> Result")
    text = irshape.infer(net.xml.encode(), weights=net.bin).xml().replace(b'shape="2,8"', b'shape="2,9"')
    found = bytes(irshape.reduce(text, keep="R301", weights=net.bin))
    assert [one.code for one in irshape.check(found, weights=net.bin).diagnostics] == ["R301", "S202"]


def test_an_error_stays_an_error() -> None:
    """Without the last Add, the Convolution that contradicts its record is a warning, which OpenVINO accepts."""
    net = Net("""x: f32[1,3,8,8] -> c: Convolution(_, f32=0[3,3,1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1])
        c -> Add(_, f32=0[3,1,1]) -> a: ReLU
        a, x -> Add -> Result""")
    text = irshape.infer(net.xml.encode(), weights=net.bin).xml().replace(b'strides="1,1"', b'strides="2,2"')
    left = irshape.reduce(text, keep="R301", weights=net.bin)
    for found in (irshape.check(text, weights=net.bin), irshape.check(bytes(left), weights=left.model().weights)):
        assert [one.severity for one in found.diagnostics if one.code == "R301"] == ["error"]


WINDOW = "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]"


def test_a_fault_whose_message_names_another_layer_is_cut_out(tmp_path: Path) -> None:
    """The edge of the filters comes from the bias; the message names the filters, which nothing reads."""
    net = Net(f"Convolution(f32[1,1,8,8], f32=0[4,1,3,3], {WINDOW}) -> c: Add(f32=0[1,4,1,1]) -> Relu -> Relu -> Result")
    graph = irshape.edit(irshape.infer(net.xml.encode(), weights=net.bin).xml(), weights=net.bin)
    window, bias = graph["c"].inputs[0].layer, graph["c"].inputs[1]
    window.connect(1, bias)
    graph.write(tmp_path / "whole.xml", faulty=True)
    assert "which nothing reads" in irshape.check(tmp_path / "whole.xml").errors[0].message
    irshape.extract(tmp_path / "whole.xml", to=window.name).write(tmp_path / "part.xml")
    for file in (tmp_path / "whole.xml", tmp_path / "part.xml"):
        assert len([*irshape.reduce(file, keep="S201")]) == 4


def test_a_parameter_of_a_body_declares_what_enters() -> None:
    """The sizes that enter became smaller, and the Parameters of the body kept theirs: one more fault each (R301)."""
    path = IRS / "tensorflow" / "while_grow.xml"
    text = path.read_text().replace('id="2" internal_layer_id="0"', 'id="2" internal_layer_id="2"', 1)
    text = text.replace('id="4" internal_layer_id="2"', 'id="4" internal_layer_id="0"', 1)
    left = irshape.reduce(text.encode(), keep="T102", weights=path.with_suffix(".bin").read_bytes())
    assert [one.code for one in irshape.check(bytes(left), weights=left.model().weights).diagnostics] == ["T102"]
