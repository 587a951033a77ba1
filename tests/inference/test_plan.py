"""Plans: a session that answers from formulas says what a pass says, to the last diagnostic."""

import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from irshape import verbs
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.inference.inputs import described_shape
from irshape.inference.plan.plan import Plan
from irshape.inference.session import Session
from irshape.model.model import Model
from irshape.shape.dim import Dim, bounds
from tests.support.ir import Net, Ref
from tests.support.irs import PATHS, named

Sizes = Mapping[str, list[int]]
ROUNDS = 40 if os.environ.get("IRSHAPE_CORPUS") else 12


def session_of(net: Net) -> Session:
    return Session(net.xml.encode(), weights=net.bin)


def planned(net: Net, *steps: Sizes) -> tuple[Session, Plan]:
    """A session that was given these shapes, and its plan."""
    session = session_of(net)
    for shapes in steps:
        assert session.reshape(shapes).ok
    assert session.plan is not None
    return session, session.plan


def known(fact: Fact) -> tuple[Any, ...]:
    """All that a fact says, with bounds in place of unknown sizes: their names depend on the passes before."""
    several = (tuple(bounds(one) if isinstance(one, Dim) else repr(one) for one in terms or ()) for terms in (fact.shape, fact.elements))
    own = (fact.element_type, fact.shape is None, type(fact.elements), fact.is_poisoned, fact.is_literal, *several)
    return own if fact.openvino_view is fact else (*own, known(fact.openvino_view))


def said(inference: Inference) -> tuple[Any, ...]:
    facts = [[known(fact) for fact in run.slots[: model.slot_count]] for model, run in inference.graphs]
    guards = sorted((guard.node.key, guard.more) for guard in inference.guards)
    return inference.ok, facts, [one.to_dict() for one in inference.diagnostics], inference.ports, guards, inference.xml()


def shapes_for(rng: random.Random, model: Model) -> dict[str, list[int]]:
    """Numbers for the sizes that the inputs leave open; without any, for the batch and the last axes."""
    declared = {node.name: described_shape(node) for node in model.parameters}
    is_dynamic = any(size.low != size.high for shape in declared.values() for size in shape or ())
    usual = rng.choice((1, 2, 8, 32, 64, 224, rng.randint(0, 300)))
    found: dict[str, list[int]] = {}
    for name, shape in declared.items():
        if shape is None:
            continue
        is_open = [size.low != size.high if is_dynamic else axis in (0, 2, 3) for axis, size in enumerate(shape)]
        several = [usual if rng.random() < 0.8 else rng.randint(0, 40) for _ in shape]
        found[name] = [
            min(max(number, size.low), int(min(size.high, 1 << 20))) if is_dynamic else number if free else size.low
            for size, free, number in zip(shape, is_open, several, strict=True)
        ]
    return found


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", PATHS, ids=named)
def test_a_plan_says_what_a_pass_says(path: Path) -> None:
    rng = random.Random(path.stem)
    weights = None if path.with_suffix(".bin").exists() else b"\0" * 64
    session = Session(path, weights=weights)
    if not session.infer().ok:
        pytest.skip("not inferred")
    for _ in range(ROUNDS):
        shapes = shapes_for(rng, session.model)
        ours = session.reshape(shapes)
        if session.plan is not None:
            theirs = verbs.infer(path, inputs=shapes, weights=weights)
            assert ours.ok == theirs.ok
            if ours.ok:
                assert said(ours) == said(theirs)


def convolution() -> Net:
    net = Net()
    data = net.parameter("f32[1,3,32,32]")
    geometry = {"strides": "2,2", "dilations": "1,1", "pads_begin": "1,1", "pads_end": "1,1"}
    moved = net.layer("Convolution", [data, net.const([[[[0.0] * 3] * 3] * 3] * 8, "f32")], ["FP32"], **geometry)[0]
    net.result(net.layer("Reshape", [moved, net.const([0, -1])], ["FP32"], special_zero=True)[0])
    return net


def test_the_source_is_python_that_can_be_read() -> None:
    _, plan = planned(convolution(), *({"parameter_0": [1, 3, size, 32]} for size in (32, 64, 96)))
    assert plan.source == (
        "def sizes(s0):\n"
        "    # s0 is axis 2 of the input of layer 0\n"
        "    if not 1 <= s0 <= 65536:\n"
        "        return None\n"
        "    return (s0, )\n"
        "\n\n"
        "def tensors(numbers):\n"
        "    (s0, ) = numbers\n"
        "    e1 = (s0 + 1) // 2\n"
        "    n2 = 128*e1\n"
        "    return (\n"
        "        ((1, 3, s0, 32, ), None),\n"
        "        ((1, 8, e1, 16, ), None),\n"
        "        ((1, n2, ), None),\n"
        "    )\n"
    )


def value(tree: Any, names: Mapping[str, int]) -> Any:
    """A tree of a plan's JSON, as any language may compute it."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return names[tree]
    operator, *operands = tree
    a, *others = values = [value(operand, names) for operand in operands]
    b = others[0] if others else None
    if operator in ("+", "*"):
        for other in others:
            a = a + other if operator == "+" else a * other
        return a
    if operator == "or":
        return any(values)
    return {
        "//": lambda: a // b,
        "min": lambda: min(values),
        "max": lambda: max(values),
        "broadcast": lambda: b if a == 1 else a,
        ">=": lambda: a >= b,
        "==": lambda: a == b,
        "!=": lambda: a != b,
        "multiple": lambda: b != 0 and a % b == 0,
        "not": lambda: not a,
    }[operator]()


def test_the_json_holds_the_whole_plan() -> None:
    session, plan = planned(convolution(), *({"parameter_0": [1, 3, size, size]} for size in (32, 64, 96)))
    given = plan.to_dict()
    assert given["inputs"] == {"parameter_0": [1, 3, "s0", "s1"]}
    assert given["symbols"] == {"s0": {"low": 1, "high": 65536}, "s1": {"low": 1, "high": 65536}}
    names = {"s0": 51, "s1": 70}
    for name, tree in given["definitions"]:
        names[name] = value(tree, names)
    assert all(value(tree, names) for tree in given["conditions"])
    inference = session.reshape({"parameter_0": [1, 3, 51, 70]})
    for key, tensor in given["tensors"].items():
        shape = ",".join(str(value(size, names)) for size in tensor["shape"])
        assert inference.ports[key] == (tensor["element_type"], f"[{shape}]")
    assert given["open"] == []


def test_no_rule_is_asked(asked: list[str]) -> None:
    session, _ = planned(convolution(), *({"parameter_0": [1, 3, size, size]} for size in (32, 64, 96)))
    asked.clear()
    inference = session.reshape(parameter_0=[1, 3, 50, 40])
    assert inference["reshape_4"].outputs[0].text == "[1,4000]"
    assert asked == []


def gathered(net: Net, data: Ref, axis: int) -> Ref:
    """The size of an axis as a list of one number."""
    sizes = net.layer("ShapeOf", [data], ["I64"], version="opset3", output_type="i64")[0]
    return net.layer("Gather", [sizes, net.const([axis]), net.const(0)], ["I64"], version="opset8")[0]


def split_by(number: int) -> Net:
    """A Reshape that takes groups out of an axis, so that its size must be a multiple of them."""
    net = Net()
    data = net.parameter("f32[2,12]")
    target = net.layer("Concat", [gathered(net, data, 0), net.const([-1, number])], ["I64"], axis=0)[0]
    net.result(net.layer("Reshape", [data, target], ["FP32"], special_zero=False)[0])
    return net


def test_where_a_condition_fails_the_pass_says_why() -> None:
    net = split_by(4)
    session, plan = planned(net, *({"parameter_0": [2, size]} for size in (12, 16, 20)))
    assert plan.conditions == [["multiple", "s0", 4]]
    failed = session.reshape(parameter_0=[2, 21])
    assert [one.code for one in failed.diagnostics] == [one.code for one in session_of(net).reshape(parameter_0=[2, 21]).diagnostics]
    assert not failed.ok
    assert session.infer()["reshape_7"].outputs[0].text == "[2,5,4]"
    assert session.reshape(parameter_0=[2, 24])["reshape_7"].outputs[0].text == "[2,6,4]"


# A net of one input, the shapes from which a plan is made, and shapes that other branches of the rules decide.
def squeezed(net: Net, data: Ref) -> Ref:
    return net.layer("Squeeze", [data], ["FP32"])[0]


def sliced(net: Net, data: Ref) -> Ref:
    """From the fourth last element on."""
    return net.layer("Slice", [data, net.const([-4]), net.const([100]), net.const([1]), net.const([0])], ["FP32"], version="opset8")[0]


def divided(net: Net, data: Ref) -> Ref:
    """A target of as many elements for each of size // 8."""
    half = net.layer("Divide", [gathered(net, data, 0), net.const([8])], ["I64"])[0]
    return net.layer("Reshape", [data, net.layer("Concat", [half, net.const([-1])], ["I64"], axis=0)[0]], ["FP32"], special_zero=False)[0]


def folded(net: Net, data: Ref) -> Ref:
    return net.layer("Reshape", [data, net.const([0, 2, -1])], ["FP32"], special_zero=True)[0]


def stretched(net: Net, data: Ref) -> Ref:
    return net.layer("Add", [data, net.parameter("f32[8,6]")], ["FP32"])[0]


def picked(net: Net, data: Ref) -> Ref:
    indices = net.const([[2, -3, 0, 1, 2, 0]])
    return net.layer("GatherElements", [data, indices], ["FP32"], "opset6", axis=0)[0]


BRANCHES: list[tuple[Any, list[int], list[int]]] = [
    (squeezed, [4, 5, 6], [1, 7, 0, 2, 1]),
    (squeezed, [3, 1, 2], [1, 7, 1, 2]),
    (sliced, [8, 16, 32], [5, 4, 3, 1, 0, 200, 70000]),
    (divided, [8, 16, 24], [64, 7, 1, 0, 32]),
    (folded, [2, 4, 6], [3, 0, 1, 100]),
    (stretched, [8, 1, 8], [1, 8, 1, 8]),
    (picked, [4, 5, 6], [1, 2, 3, 7, 2, 0]),
]


@pytest.mark.parametrize(("build", "first", "others"), BRANCHES, ids=lambda one: getattr(one, "__name__", None))
def test_other_branches_of_a_rule(build: Any, first: list[int], others: list[int]) -> None:
    net = Net()
    net.result(build(net, net.parameter("f32[8,6]")))
    session = session_of(net)
    for size in [*first, *others, *first]:
        shapes = {"parameter_0": [size, 6]}
        ours, theirs = session.reshape(shapes), session_of(net).reshape(shapes)
        assert ours.ok == theirs.ok
        if ours.ok:
            assert said(ours) == said(theirs)
    assert session.plan is not None


def test_sizes_of_0_and_sizes_beyond_the_range_take_a_pass(asked: list[str]) -> None:
    session, _ = planned(convolution(), *({"parameter_0": [1, 3, size, 32]} for size in (32, 64, 96)))
    asked.clear()
    assert session.reshape(parameter_0=[1, 3, 70001, 32])["reshape_4"].outputs[0].text == "[1,4480128]"
    assert "Convolution" in asked


def test_what_data_decides_is_left_to_its_rule() -> None:
    net = Net()
    data = net.parameter("f32[4,6]")
    found = net.layer("NonZero", [data], ["I64"], version="opset3", output_type="i64")[0]
    for _ in range(4):
        data = net.layer("ReLU", [data], ["FP32"])[0]
    net.result(data)
    net.result(net.layer("ReLU", [net.layer("Convert", [found], ["FP32"], destination_type="f32")[0]], ["FP32"])[0])
    session, plan = planned(net, *({"parameter_0": [size, 6]} for size in (4, 5, 6)))
    assert plan.to_dict()["open"] == ["1:1"]
    assert session.reshape(parameter_0=[7, 6])["nonzero_1"].outputs[0].text == "[2,..42]"


def stateful(net: Net) -> None:
    """A cache that grows: the value that was read, beam by beam, and the new rows behind it; a mask as long as both."""
    ids, mask, beams = net.parameter("f32[?,?,4]"), net.parameter("f32[?,?]"), net.parameter("i32[?]")
    past = net.layer("ReadValue", [], ["FP32"], "opset6", variable_id="past", variable_type="f32", variable_shape="?,?,4")[0]
    cache = net.layer("Gather", [past, beams, net.const(0)], ["FP32"], "opset8", batch_dims=0)[0]
    whole = net.layer("Concat", [cache, ids], ["FP32"], axis=1)[0]
    net.result(net.layer("Assign", [whole], ["FP32"], "opset6", variable_id="past")[0])
    length = gathered(net, cache, 1)
    end = net.layer("Add", [length, gathered(net, ids, 1)], ["I64"])[0]
    places = net.layer("Range", [net.const(0), net.layer("Squeeze", [end], ["I64"])[0], net.const(1)], ["I64"], "opset4", output_type="i64")
    row = net.layer("Unsqueeze", [net.layer("Convert", [places[0]], ["FP32"], destination_type="f32")[0], net.const([0])], ["FP32"])[0]
    seen = net.layer("Multiply", [row, mask], ["FP32"])[0]
    scores = net.layer("MatMul", [ids, whole], ["FP32"], transpose_a=False, transpose_b=True)[0]
    net.result(net.layer("Add", [scores, net.layer("Unsqueeze", [seen, net.const([1])], ["FP32"])[0]], ["FP32"])[0])


def sizes_of_decoder(batch: int, rows: int, mask: int) -> Sizes:
    return {"parameter_0": [batch, rows, 4], "parameter_1": [batch, mask], "parameter_2": [batch]}


def test_sizes_that_only_data_tell_are_symbols_of_a_plan() -> None:
    net = Net()
    stateful(net)
    session, plan = planned(net, *(sizes_of_decoder(2, size, size + 20) for size in (5, 6, 7)))
    assert not plan.open
    assert [one for one in plan.to_dict()["opaque"].values() if one == {"low": 0, "high": None}]
    for batch, rows, mask in [(2, 9, 12), (2, 3, 77), (2, 1, 14), (2, 1, 15), (2, 1, 16), (1, 1, 16), (1, 1, 17), (1, 1, 19), (2, 4, 9)]:
        ours = session.reshape(sizes_of_decoder(batch, rows, mask))
        theirs = session_of(net).reshape(sizes_of_decoder(batch, rows, mask))
        assert ours.ok and said(ours) == said(theirs)
        assert [str(one.requirement) for one in ours.guards] == [str(one.requirement) for one in theirs.guards]


def test_smaller_inputs_lower_the_limit_of_a_size_that_data_tell() -> None:
    net = Net()
    boxes, scores = net.parameter("f32[1,40,4]"), net.parameter("f32[1,1,40]")
    limits = [net.const(10), net.const(0.5, "f32"), net.const(0.0, "f32")]
    chosen = net.layer("NonMaxSuppression", [boxes, scores, *limits], ["I64", "FP32", "I64"], "opset9", output_type="i64")[0]
    for _ in range(3):
        chosen = net.layer("Convert", [chosen], ["FP32"], destination_type="f32")[0]
    net.result(chosen)
    session = session_of(net)
    for size in (40, 50, 60, 6, 70, 3, 11):
        shapes = {"parameter_0": [1, size, 4], "parameter_1": [1, 1, size]}
        ours = session.reshape(shapes)
        assert said(ours) == said(session_of(net).reshape(shapes))
        assert ours.ports["5:5"][1] == f"[..{min(size, 10)},3]"
    assert session.plan is not None


def test_a_session_forgets_the_sizes_of_old_reshapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irshape.inference.session._MOST_REMEMBERED", 1)
    net = Net()
    stateful(net)
    session = session_of(net)
    engines = []
    for rows in range(2, 120):
        shapes = sizes_of_decoder(2, rows, rows + 5)
        assert session.reshape(shapes).ports
        assert session._plans is not None
        engines.append(session._plans.engine)
    assert engines[0] is not engines[-1]


def test_an_answer_of_a_plan_stays_as_it_was() -> None:
    session, _ = planned(convolution(), *({"parameter_0": [1, 3, size, 32]} for size in (32, 64, 96)))
    before = session.reshape(parameter_0=[1, 3, 40, 32])
    session.reshape(parameter_0=[1, 3, 44, 32])
    session.reshape(parameter_0="[N,3,44,32]")
    assert before["reshape_4"].outputs[0].text == "[1,2560]"
    assert b'shape="1,3,40,32"' in before.xml()
    assert "40" in str(verbs.explain(before, "reshape_4"))


def test_a_formula_without_limit_has_no_place_in_a_plan() -> None:
    net = Net()
    data = net.parameter("f32[2,3]")
    size = gathered(net, data, 0)
    for _ in range(20):
        size = net.layer("Multiply", [size, size], ["I64"])[0]
    net.result(net.layer("Broadcast", [net.const(1.0, "f32"), size], ["FP32"], version="opset3", mode="numpy")[0])
    session = session_of(net)
    for number in (1, 2, 3, 4, 5):
        session.reshape(parameter_0=[number, 3])
    assert session.plan is None


def test_no_text_of_the_file_is_in_the_source() -> None:
    built = convolution()
    name = '\\n"""); raise SystemExit #'
    text = built.xml.replace('name="parameter_0"', "name='" + name.replace('"', "&quot;") + "'")
    session = Session(text.encode(), weights=built.bin)
    for size in (32, 64, 96, 128):
        assert session.reshape({name: [1, 3, size, 32]}).ok
    assert session.plan is not None
    assert "SystemExit" not in session.plan.source
    assert name in session.plan.to_dict()["inputs"]


@pytest.mark.parametrize("type", ["Range", "Slice", "Tile"])
def test_a_rule_that_reads_a_size_is_planned(type: str) -> None:
    net = Net()
    data = net.parameter("f32[?,8]")
    shape = net.layer("ShapeOf", [data], ["I64"], "opset3", output_type="i64")[0]
    size = net.layer("Gather", [shape, net.const(0), net.const(0)], ["I64"], "opset8", batch_dims=0)[0]
    if type == "Range":
        net.result(net.layer("Range", [net.const(0), size, net.const(1)], ["I64"], "opset4", output_type="i64")[0])
    elif type == "Slice":
        end = net.layer("Unsqueeze", [size, net.const(0)], ["I64"], "opset1")[0]
        net.result(net.layer("Slice", [net.parameter("f32[512]"), net.const([0]), end, net.const([1])], ["FP32"], "opset8")[0])
    else:
        net.result(net.layer("Tile", [net.parameter("f32[1,2]"), shape], ["FP32"])[0])
    _, plan = planned(net, *({"parameter_0": [size, 8]} for size in (2, 3, 4)))
    assert not plan.open
