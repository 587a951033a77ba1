"""Inferences in the symbols of the signature: what they say is what the inference without names says, for inputs that are tied together."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.naming import named as name
from irshape.answers.signature.notes import BECAUSE
from irshape.inference.engine import Engine
from irshape.inference.inference import Inference
from irshape.report.terminal import lines
from tests.answers import nets
from tests.answers.assignments import ASSIGNMENTS, sizes
from tests.answers.test_signature import BOXES, added, joined
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.places import EXAMPLES

OURS = [EXAMPLES / f"{name}.xml" for name in ("atrous", "decoder", "decoder_stateful", "translator", "detector")]


def inferred(net: Net, **inputs: str) -> Inference:
    return irshape.infer(net.xml.encode(), inputs=inputs, weights=net.bin)


def formulas(inference: Inference) -> list[str]:
    """The formulas of the inputs, and of what the first output reads."""
    nodes = [*inference.model.parameters, inference.model.results[0].inputs[0].source.node]  # type: ignore[union-attr]
    return [inference[node].outputs[0].formula for node in nodes]


# Each edge of a graph takes a row of its nodes; and a search takes as many rows of a cache as it has beams.
EDGES = "x: f32[?,6]\nedge: i64[2,?]\nGather-8(x, Gather-8(edge, 0, 0), 0) -> ReduceSum(0, keep_dims=true) -> Add(x) -> Result"
BEAMS = "x: f32[?,6]\ncache: f32[?,6]\nbeams: i64[?]\nGather-8(cache, beams, 0) -> Add(x) -> Result"


@pytest.mark.parametrize(
    ("net", "inputs", "expected"),
    [
        (added("f32[?,?]", "f32[?,?]"), {}, ["[B,T]", "[B,T]", "[B,T]"]),
        (joined("f32[?,?]", "f32[?,?]", axis=1), {}, ["[B,T]", "[B,L]", "[B,T + L]"]),
        (added("f32[?,4]", "f32[?,?]"), {}, ["[B,4]", "[B,4]", "[B,4]"]),
        (added("f32[?,?]", "f32[?,?]"), {"parameter_0": "[N,?]"}, ["[N,T]", "[N,T]", "[N,T]"]),
        (joined("f32[?,?]", "f32[?,?]", axis=1), {"parameter_0": "[N,C]", "parameter_1": "[M,D]"}, ["[N,C]", "[M,D]", "[N,C + D]"]),
        (Net(EDGES), {}, ["[T,6]", "[2,L]", "[T,6]"]),
        (Net(BEAMS), {}, ["[B,6]", "[B2,6]", "[B]", "[B,6]"]),
    ],
    ids=["sum", "join", "a number", "a name of the user", "all names of the user", "nodes of a graph", "beams"],
)
def test_formulas_are_in_the_symbols_of_the_signature(net: Net, inputs: dict[str, str], expected: list[str]) -> None:
    assert formulas(inferred(net, **inputs)) == expected


def test_shapes_faults_and_json_stay_those_without_names() -> None:
    net = added("f32[?,4]", "f32[?,?]")
    plain, found = irshape.infer(net.xml.encode(), weights=net.bin, symbols_as="raw"), inferred(net)
    assert (found.ports, found.diagnostics, found.ok) == (plain.ports, plain.diagnostics, plain.ok)
    assert found.to_dict() == plain.to_dict() == plain.to_dict(named=True)
    named = found.to_dict(named=True)
    assert named.pop("named") == {"symbolic": found.formulas, "guards": []}
    assert named == plain.to_dict()
    assert [(tie.name, tie.axis, tie.size, tie.reason) for tie in found._named.ties] == [
        ("parameter_1", 0, "B", "broadcast"),
        ("parameter_1", 1, "4", "broadcast"),
    ]
    assert (len(plain.guards), found.guards) == (2, [])


def test_conditions_that_are_left_are_in_the_symbols() -> None:
    assert [str(guard.requirement) for guard in irshape.infer(OURS[0]).guards][:1] == ["H >= 1"]


@pytest.mark.parametrize(
    "net",
    [added("f32[2,4]", "f32[2,4]"), added("f32[?,4]", "f32[?,5]"), added("f32[...]", "f32[...]")],
    ids=["static", "error", "unranked"],
)
def test_an_inference_stays_itself_without_sizes_to_name(net: Net) -> None:
    inference = inferred(net)
    assert inference is inference


def test_all_names_of_the_user_stay() -> None:
    inference = inferred(joined("f32[?,?]", "f32[?,?]", axis=1), parameter_0="[N,C]", parameter_1="[M,D]")
    assert inference is inference
    assert [str(guard.requirement) for guard in inference.guards] == ["N == M"]


def test_a_signature_that_takes_too_much_work_gives_no_names() -> None:
    net = added(*["f32[?,?,?]"] * 12)
    inference = irshape.infer(net.xml.encode(), limits=irshape.Limits(work=60))
    assert inference is inference


def test_sizes_that_data_decide_have_the_names_of_roles() -> None:
    inference = inferred(Net(BOXES))
    assert [one.name for one in inference._named.data_sizes] == ["nonzero"]
    assert any("nonzero" in formula for formula in inference.formulas.values())


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_the_symbols_come_back_from_the_file(path: Path) -> None:
    """The sizes that a file records stay as open as they were, also when it is written twice."""
    weights = path.with_suffix(".bin")
    before = irshape.infer(path)
    again = irshape.infer(before.xml(), weights=weights)
    assert again.ports == before.ports
    assert again.formulas == before.formulas
    assert not [one.code for one in again.diagnostics if one.code not in {one.code for one in before.diagnostics}]
    assert again.xml() == before.xml()


@pytest.mark.parametrize(("shapes", "inputs", "written", "symbols"), [
    # Axes that only the signature ties together stay apart in the file.
    (("f32[?,4]", "f32[?,4]"), {}, "[?,4] as [B,4]", []),
    (("f32[2..9,4]", "f32[1..5,4]"), {}, "[1..5,4] as [B,4]", []),
    (("f32[2..9,4]", "f32[?,?]"), {}, "[2..9,4] as [B,4]", []),
    # Names of the user are facts beside those of the signature.
    (("f32[?,?]", "f32[?,1..8]"), {"parameter_0": "[N,8]"}, "[N,8]", ["N"]),
])  # fmt: skip
def test_names_are_written_and_read_again(shapes: tuple[str, str], inputs: dict[str, str], written: str, symbols: list[str]) -> None:
    before = inferred(added(*shapes), **inputs)
    text = before.xml()
    assert f'value="{written}"'.encode() in text and text.count(b" as [") == 2 - len(symbols)
    again = irshape.infer(text)
    assert (again.ports, [*again._inference.symbols], again.xml()) == (before.ports, symbols, text)


def test_formulas_do_not_depend_on_the_order_in_which_inputs_are_given() -> None:
    shapes = {"parameter_0": "[B,8]", "parameter_1": "[T,8]"}
    texts = {inferred(added("f32[?,8]", "f32[?,8]"), **dict(given)).xml() for given in (shapes.items(), reversed(shapes.items()))}
    assert len(texts) == 1
    assert b"broadcast(B, T)" in texts.pop()


@pytest.mark.parametrize("shape", ["-1,8", "0..9223372036854775807,8", "?,8"])
def test_the_text_of_a_shape_stays_where_the_inputs_say_the_same(shape: str) -> None:
    xml = added("f32[?,8]", "f32[?,8]").xml.replace('shape="?,8"', f'shape="{shape}"')
    text = irshape.infer(xml, inputs={"parameter_0": "[N,8]", "parameter_1": "[N,8]"}).xml().decode()
    assert text.count(f'shape="{shape}"') == 2
    assert irshape.infer(text).xml().decode() == text


def test_an_axis_that_is_a_number_only_in_the_signature_stays_open_in_the_file() -> None:
    net = added("f32[?,4]", "f32[?,?]")
    text = inferred(net).xml().decode()
    assert 'value="[?,1..4] as [B,?]"' in text
    again = irshape.infer(irshape.infer(text).xml())
    assert again.ports["1:0"] == ("f32", "[?,1..4]")


@pytest.mark.parametrize("path", [*OURS, *WITH_WEIGHTS], ids=named)
def test_formulas_give_the_sizes_of_every_assignment(path: Path) -> None:
    """The formulas, with numbers for their symbols, are the sizes that an inference with these numbers finds."""
    signature = irshape.signature(path)
    inference = irshape.infer(path)
    if not signature.symbols or "[...]" in signature.inputs.values() or inference._inference.reading is inference._inference:
        pytest.skip("no symbols, or no names")
    random, session = Random(path.stem), irshape.Session(path)
    for _ in range(ASSIGNMENTS):
        values = sizes(signature, random)
        shapes = signature.assign(values)
        if shapes is None or not all(values.values()):
            continue
        static = session.reshape(dict(shapes))
        for (key, fact), (_, reading) in zip(static._inference._outputs(), inference._inference.reading._outputs(), strict=True):
            for size, formula in zip(fact.shape or (), reading.shape or (), strict=False):
                if isinstance(size, int) and not isinstance(formula, int) and names_in(formula) <= values.keys():
                    assert formula.polynomial.table.evaluate(formula.polynomial, values) == size, (key, values, str(formula))


def test_the_first_pass_gets_the_names_where_another_one_would_say_the_same() -> None:
    """The formulas, guards and data sizes are those of another pass; where axes are tied, there is one."""
    taken = 0
    for path in [*OURS, *WITH_WEIGHTS]:
        plain, again = verbs.infer(path), verbs.infer(path)
        other, own = name(plain), name(again, is_taken=True)
        assert (own.formulas, own.ports) == (other.formulas, other.ports), path
        assert [str(one.requirement) for one in own.guards] == [str(one.requirement) for one in other.guards], path
        assert [str(one) for one in own.data_sizes] == [str(one) for one in other.data_sizes], path
        alone = verbs.read_in_names(path)
        assert alone.reading.formulas == other.reading.formulas, path
        assert (str(alone.ties), str(alone.data_sizes)) == (str(other.ties), str(other.data_sizes)), path
        taken += own.reading.graphs[0][1] is again.graphs[0][1] and own.reading is not again
    assert taken > 2


def test_formulas_alone_need_no_inference_without_names(monkeypatch: pytest.MonkeyPatch) -> None:
    net = added("f32[?,?]", "f32[?,?]").xml.encode()
    monkeypatch.delattr(verbs, "_infer")
    assert set(verbs.read_in_names(net).formulas.values()) == {"[B,T]"}
    with pytest.raises(NameError):
        verbs.read_in_names(net, inputs={"parameter_0": "[N,T]", "parameter_1": "[N,T]"})


@pytest.mark.parametrize(
    ("net", "passes"),
    [
        (joined("f32[2,?]", "f32[2,?]", axis=1), 1),
        (joined("f32[2,?]", "f32[2,3..]", axis=1), 1),
        (joined("f32[?,?]", "f32[?,?]", axis=1), 2),  # the second axes get their letters from what the first pass ties
    ],
)
def test_a_signature_takes_one_pass_where_nothing_is_tied_or_narrowed(net: Net, passes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what it says after a second pass with the symbols that are left."""
    made: list[Engine] = []
    run = Discovery.run

    def counted(found: Discovery, *given: Any, **options: Any) -> Engine:
        made.append(run(found, *given, **options))
        return made[-1]

    monkeypatch.setattr(Discovery, "run", counted)
    own = irshape.signature(net.xml.encode()).to_dict()
    assert len(made) == passes
    monkeypatch.setattr(Discovery, "_renamed", lambda *given: None)
    assert irshape.signature(net.xml.encode()).to_dict() == own
    assert len(made) == passes + 2


def names_in(size: object) -> frozenset[str]:
    from irshape.shape.dim import Dim, symbols

    assert isinstance(size, Dim)
    return symbols(size)


def test_the_report_without_names(capsys: pytest.CaptureFixture[str]) -> None:
    from irshape.cli.main import main

    assert main(["infer", str(OURS[1])]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("axes that must agree (--raw-symbols separates them)")
    assert lines[start + 1].startswith("  attention_mask axis 0           B      ScaledDotProductAttention attention")
    assert main(["infer", str(OURS[1]), "--raw-symbols"]) == 0
    out = capsys.readouterr().out
    assert "tied together" not in out and "  d5 == d7 " in out
    assert main(["infer", str(OURS[1]), "--format", "json"]) == 0
    assert {guard["condition"] for guard in json.loads(capsys.readouterr().out)["guards"]} >= {"d5 == d7"}


def test_an_explanation_names_the_ties_of_its_symbols(capsys: pytest.CaptureFixture[str]) -> None:
    from irshape.cli.main import main

    assert main(["explain", str(OURS[1]), "keys:2:2"]) == 0
    out = capsys.readouterr().out
    assert "axis 2 = data[0][2] + data[1][2] = P + S" in out and "past.value axis 2" in out
    assert main(["explain", str(OURS[1]), "keys:2:1"]) == 0
    assert "tied together" not in capsys.readouterr().out


# Two inputs and a row of which only the data of a third input tell the size; their sum has a size for which all must broadcast.
SUMMED_WITH_DATA = Net(
    "first: f32[?]\nsecond: f32[?]\nf32[?] -> NonZero-3(output_type=i64) -> Reshape([-1], special_zero=true)"
    " -> Convert(destination_type=f32) -> Add(second, _) -> Add(first) -> Result"
)


# A column that takes the shape that the elements of an input give.
STRETCHED = Net("f32[3,1] -> Broadcast-3(i64[2], mode=bidirectional) -> Result")


@pytest.mark.parametrize("net", [SUMMED_WITH_DATA, STRETCHED], ids=["data", "elements"])
def test_conditions_and_ties_have_names_for_all_that_data_decide(net: Net) -> None:
    inference, found = inferred(net), irshape.signature(net.xml.encode(), weights=net.bin)
    named = inference._named
    said = json.dumps([inference.to_dict(named=True).get("named"), [BECAUSE(tie) for tie in named.ties], found.to_dict()])
    assert "n_" in said or "nonzero" in said
    assert not re.search(r"\bd\d+\b", said)


def test_what_is_written_with_names_is_read_and_written_the_same() -> None:
    """The batch stands first in a formula, whatever the order of the inputs."""
    net = Net("""
        f32[3,?] -> ShapeOf-3(output_type=i64) -> step: Gather-8([1], 0)
        f32[?,4] -> ShapeOf-3(output_type=i64) -> batch: Gather-8([0], 0)
        Minimum(step, batch) -> Broadcast-3(f32=1.0, _, mode=numpy) -> Result
    """)
    written = inferred(net)._named.xml()
    assert b'value="[min(B, T)]' in written
    assert irshape.infer(written, weights=net.bin)._named.xml() == written


def test_the_end_of_an_axis_is_a_formula_in_every_verb() -> None:
    """The last B of T elements: `mask[-B:]` is the whole mask where B is 0, so only sizes of at least 1 have a formula."""
    count = f"x: f32[?]\nmask: f32[?]\nx -> {nets.size(0)} -> _n: Multiply([-1])"
    net = Net(f"{count}\nmask -> Slice-8(_n, [9223372036854775807], [1], [0]) -> Result")
    model = irshape.read(net.xml.encode(), weights=net.bin)
    wanted = irshape.signature(model).outputs.popitem()[1].strip("[]")
    assert wanted == "T - max(T - B, 0)"
    assert irshape.infer(model)["slice_11"].outputs[0].formula == f"[{wanted}]"
    assert wanted in str(irshape.explain(model, "slice_11", 5, 0))
    assert "known only at run time" not in "\n".join(lines(irshape.info(model)._sections()))
