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
from tests.support.ir import Net
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


CONVOLUTION = Net("""
    f32[1,3,32,32] -> Convolution(f32=0.0[8,3,3,3], strides="2,2", dilations="1,1", pads_begin="1,1", pads_end="1,1")
        -> Reshape([0,-1], special_zero=true) -> Result
""")


def test_the_source_is_python_that_can_be_read() -> None:
    _, plan = planned(CONVOLUTION, *({"parameter_0": [1, 3, size, 32]} for size in (32, 64, 96)))
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
    session, plan = planned(CONVOLUTION, *({"parameter_0": [1, 3, size, size]} for size in (32, 64, 96)))
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
    session, _ = planned(CONVOLUTION, *({"parameter_0": [1, 3, size, size]} for size in (32, 64, 96)))
    asked.clear()
    inference = session.reshape(parameter_0=[1, 3, 50, 40])
    assert inference["reshape_4"].outputs[0].text == "[1,4000]"
    assert asked == []


def size_of(data: str, axis: int) -> str:
    """The size of an axis as a list of one number."""
    return f"Gather-8(ShapeOf-3({data}, output_type=i64), [{axis}], 0)"


def split_by(number: int) -> Net:
    """A Reshape that takes groups out of an axis, so that its size must be a multiple of them."""
    return Net(f"""
        _x: f32[2,12]
        {size_of("_x", 0)} -> _shape: Concat([-1,{number}], axis=0)
        Reshape(_x, _shape, special_zero=false) -> Result
    """)


def test_where_a_condition_fails_the_pass_says_why() -> None:
    net = split_by(4)
    session, plan = planned(net, *({"parameter_0": [2, size]} for size in (12, 16, 20)))
    assert plan.conditions == [["multiple", "s0", 4]]
    failed = session.reshape(parameter_0=[2, 21])
    assert [one.code for one in failed.diagnostics] == [one.code for one in session_of(net).reshape(parameter_0=[2, 21]).diagnostics]
    assert not failed.ok
    assert session.infer()["reshape_7"].outputs[0].text == "[2,5,4]"
    assert session.reshape(parameter_0=[2, 24])["reshape_7"].outputs[0].text == "[2,6,4]"


# What becomes of an input _x, the sizes from which a plan is made, and sizes that other branches of the rules decide. A divided one is the
# target of as many elements for each of size // 8.
BRANCHES = [
    pytest.param("Squeeze(_x)", [4, 5, 6], [1, 7, 0, 2, 1], id="squeezed"),
    pytest.param("Squeeze(_x)", [3, 1, 2], [1, 7, 1, 2], id="squeezed from 1"),
    pytest.param("Slice-8(_x, [-4], [100], [1], [0])", [8, 16, 32], [5, 4, 3, 1, 0, 200, 70000], id="sliced from the fourth last on"),
    pytest.param(
        f"{size_of('_x', 0)} -> Divide([8]) -> Concat([-1], axis=0) -> Reshape(_x, _, special_zero=false)",
        [8, 16, 24], [64, 7, 1, 0, 32], id="divided",
    ),
    pytest.param("Reshape(_x, [0,2,-1], special_zero=true)", [2, 4, 6], [3, 0, 1, 100], id="folded"),
    pytest.param("Add(_x, f32[8,6])", [8, 1, 8], [1, 8, 1, 8], id="stretched"),
    pytest.param("GatherElements-6(_x, [[2,-3,0,1,2,0]], axis=0)", [4, 5, 6], [1, 2, 3, 7, 2, 0], id="picked"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "first", "others"), BRANCHES)
def test_other_branches_of_a_rule(text: str, first: list[int], others: list[int]) -> None:
    net = Net(f"_x: f32[8,6]\n{text} -> Result")
    session = session_of(net)
    for size in [*first, *others, *first]:
        shapes = {"parameter_0": [size, 6]}
        ours, theirs = session.reshape(shapes), session_of(net).reshape(shapes)
        assert ours.ok == theirs.ok
        if ours.ok:
            assert said(ours) == said(theirs)
    assert session.plan is not None


def test_sizes_of_0_and_sizes_beyond_the_range_take_a_pass(asked: list[str]) -> None:
    session, _ = planned(CONVOLUTION, *({"parameter_0": [1, 3, size, 32]} for size in (32, 64, 96)))
    asked.clear()
    assert session.reshape(parameter_0=[1, 3, 70001, 32])["reshape_4"].outputs[0].text == "[1,4480128]"
    assert "Convolution" in asked


def test_what_data_decides_is_left_to_its_rule() -> None:
    net = Net("""
        _x: f32[4,6]
        _found: NonZero-3(_x, output_type=i64)
        _x -> ReLU -> ReLU -> ReLU -> ReLU -> Result
        Convert(_found, destination_type=f32) -> ReLU -> Result
    """)
    session, plan = planned(net, *({"parameter_0": [size, 6]} for size in (4, 5, 6)))
    assert plan.to_dict()["open"] == ["1:1"]
    assert session.reshape(parameter_0=[7, 6])["nonzero_1"].outputs[0].text == "[2,..42]"


# A cache that grows: the value that was read, beam by beam, and the new rows behind it; a mask as long as both.
STATEFUL = f"""
    _ids: f32[?,?,4]
    _mask: f32[?,?]
    _beams: i32[?]
    ReadValue-6(variable_id=past, variable_type=f32, variable_shape="?,?,4") -> _cache: Gather-8(_beams, 0, batch_dims=0)
    _whole: Concat(_cache, _ids, axis=1)
    _whole -> Assign-6(variable_id=past) -> Result
    Add({size_of("_cache", 1)}, {size_of("_ids", 1)}) -> Squeeze -> Range-4(0, _, 1, output_type=i64)
        -> Convert(destination_type=f32) -> Unsqueeze([0]) -> _seen: Multiply(_mask)
    MatMul(_ids, _whole, transpose_a=false, transpose_b=true) -> Add(_, Unsqueeze(_seen, [1])) -> Result
"""


def sizes_of_decoder(batch: int, rows: int, mask: int) -> Sizes:
    return {"parameter_0": [batch, rows, 4], "parameter_1": [batch, mask], "parameter_2": [batch]}


def test_sizes_that_only_data_tell_are_symbols_of_a_plan() -> None:
    net = Net(STATEFUL)
    session, plan = planned(net, *(sizes_of_decoder(2, size, size + 20) for size in (5, 6, 7)))
    assert not plan.open
    assert [one for one in plan.to_dict()["opaque"].values() if one == {"low": 0, "high": None}]
    for batch, rows, mask in [(2, 9, 12), (2, 3, 77), (2, 1, 14), (2, 1, 15), (2, 1, 16), (1, 1, 16), (1, 1, 17), (1, 1, 19), (2, 4, 9)]:
        ours = session.reshape(sizes_of_decoder(batch, rows, mask))
        theirs = session_of(net).reshape(sizes_of_decoder(batch, rows, mask))
        assert ours.ok and said(ours) == said(theirs)
        assert [str(one.requirement) for one in ours.guards] == [str(one.requirement) for one in theirs.guards]


def test_smaller_inputs_lower_the_limit_of_a_size_that_data_tell() -> None:
    net = Net("""
        _top: NonMaxSuppression-9(f32[1,40,4], f32[1,1,40], 10, f32=0.5, f32=0.0, output_type=i64) i64 f32 i64
        _top.0 -> Convert(destination_type=f32) -> Convert(destination_type=f32) -> Convert(destination_type=f32) -> Result
    """)
    session = session_of(net)
    for size in (40, 50, 60, 6, 70, 3, 11):
        shapes = {"parameter_0": [1, size, 4], "parameter_1": [1, 1, size]}
        ours = session.reshape(shapes)
        assert said(ours) == said(session_of(net).reshape(shapes))
        assert ours.ports["5:5"][1] == f"[..{min(size, 10)},3]"
    assert session.plan is not None


def test_a_session_forgets_the_sizes_of_old_reshapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irshape.inference.session._MOST_REMEMBERED", 1)
    net = Net(STATEFUL)
    session = session_of(net)
    engines = []
    for rows in range(2, 120):
        shapes = sizes_of_decoder(2, rows, rows + 5)
        assert session.reshape(shapes).ports
        assert session._plans is not None
        engines.append(session._plans.engine)
    assert engines[0] is not engines[-1]


def test_an_answer_of_a_plan_stays_as_it_was() -> None:
    session, _ = planned(CONVOLUTION, *({"parameter_0": [1, 3, size, 32]} for size in (32, 64, 96)))
    before = session.reshape(parameter_0=[1, 3, 40, 32])
    session.reshape(parameter_0=[1, 3, 44, 32])
    session.reshape(parameter_0="[N,3,44,32]")
    assert before["reshape_4"].outputs[0].text == "[1,2560]"
    assert b'shape="1,3,40,32"' in before.xml()
    assert "40" in str(verbs.explain(before, "reshape_4"))


def test_a_formula_without_limit_has_no_place_in_a_plan() -> None:
    net = Net(f"{size_of('f32[2,3]', 0)}{' -> Multiply(_, _)' * 20} -> Broadcast-3(f32=1.0, _, mode=numpy) -> Result")
    session = session_of(net)
    for number in (1, 2, 3, 4, 5):
        session.reshape(parameter_0=[number, 3])
    assert session.plan is None


def test_no_text_of_the_file_is_in_the_source() -> None:
    name = '\\n"""); raise SystemExit #'
    text = CONVOLUTION.xml.replace('name="parameter_0"', "name='" + name.replace('"', "&quot;") + "'")
    session = Session(text.encode(), weights=CONVOLUTION.bin)
    for size in (32, 64, 96, 128):
        assert session.reshape({name: [1, 3, size, 32]}).ok
    assert session.plan is not None
    assert "SystemExit" not in session.plan.source
    assert name in session.plan.to_dict()["inputs"]


@pytest.mark.parametrize(
    "text",
    [
        "Range-4(0, _size, 1, output_type=i64) -> Result",
        "Slice-8(f32[512], [0], Unsqueeze(_size, 0), [1]) -> Result",
        "Tile(f32[1,2], _shape) -> Result",
    ],
)
def test_a_rule_that_reads_a_size_is_planned(text: str) -> None:
    net = Net(f"_shape: ShapeOf-3(f32[?,8], output_type=i64)\n_size: Gather-8(_shape, 0, 0, batch_dims=0)\n{text}")
    _, plan = planned(net, *({"parameter_0": [size, 8]} for size in (2, 3, 4)))
    assert not plan.open
