"""A session that is asked again and again for other shapes answers what an inference of its own answers."""

import random
from pathlib import Path

import pytest

from irshape import verbs
from irshape.inference.inference import Inference
from irshape.inference.session import Session
from tests.support.ir import Net
from tests.support.irs import PATHS, named


def found(inference: Inference) -> list[tuple[str, int | None]]:
    """The faults that do not depend on names of unknown sizes."""
    return sorted((one.code, one.where.offset) for one in inference.diagnostics)


def said(inference: Inference) -> tuple[object, ...]:
    return inference.ports, found(inference), sorted((guard.node.key, guard.more) for guard in inference.guards)


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", PATHS, ids=named)
def test_other_shapes_again_and_again(path: Path) -> None:
    rng = random.Random(path.stem)
    weights = None if path.with_suffix(".bin").exists() else b"\0" * 64
    session = Session(path, weights=weights)
    first = session.infer()
    if not first.ok:
        pytest.skip("has no weights")
    for _ in range(6):
        shapes = {}
        for node in first.model.parameters:
            shape = first.view(node).outputs[0].shape
            if shape is not None:
                # An interval, for a plan answers for numbers.
                shapes[node.name] = [
                    f"{rng.choice((1, 2, 3, 7, 16))}..20" if type(size) is not int or axis == 0 else size for axis, size in enumerate(shape)
                ]
        ours, alone = session.reshape(shapes), verbs.infer(path, inputs=shapes, weights=weights)
        assert ours.ok == alone.ok
        if ours.ok:
            assert said(ours) == said(alone)


def twins(first: str, second: str) -> Net:
    """Two inputs, each through the same layers, and what they make of a shape that it happens to be the same at first."""
    return Net(f"{first} -> ReLU -> ReLU -> ReLU -> Softmax-8(axis=1) -> Result\n{second} -> ReLU -> ReLU -> ReLU -> Result")


def test_tensors_that_knew_the_same_are_told_apart_where_they_no_longer_do() -> None:
    net = twins("f32[2,3]", "f32[2,3]")
    session = Session(net.xml.encode(), weights=net.bin)
    session.infer()
    a, b = (node.name for node in session.model.parameters)
    for shapes in (["[4,3]", "[4,3]"], ["[5,3]", "[5,3]"], ["[6,3]", "[7,3]"], ["[8,3]", "[9,3]"], ["[1,3]", "[1,3]"]):
        inference = session.reshape({a: shapes[0], b: shapes[1]})
        assert [inference.view(node).inputs[0].text for node in session.model.results] == shapes


def test_a_question_of_many_layers_is_asked_once(asked: list[str]) -> None:
    net = Net(f"f32[2,3]{' -> ReLU' * 50} -> Result")
    session = Session(net.xml.encode(), weights=net.bin)
    for size in range(1, 6):
        asked.clear()
        inference = session.reshape({"parameter_0": f"[{size}..9,3]"})
        assert inference.view(session.model.results[0]).inputs[0].text == f"[{size}..9,3]"
        assert asked.count("Relu") == 1


def test_faults_are_said_of_every_layer() -> None:
    net = Net("_x: f32[1,4,8]\n" + "SpaceToDepth(_x, block_size=2) -> Result\n" * 3)
    session = Session(net.xml.encode(), weights=net.bin)
    for size in (8, 6, 7, 4, 5):
        inference = session.reshape({"parameter_0": [1, 4, size]})
        faults = [one.where.layer_type for one in inference.diagnostics if one.severity == "error"]
        assert faults == ([] if size % 2 == 0 else ["SpaceToDepth"] * 3)


def test_an_output_that_is_not_listed_goes_with_the_shape_that_made_it() -> None:
    net = Net("_parts: VariadicSplit(f32[6,2], 0, i64[2]) f32 f32\n_parts.0 -> Result\n_parts.1 -> Result")
    session = Session(net.xml.encode(), weights=net.bin)
    lengths = session.model.parameters[1].name
    counts = [sum(key.startswith("3:") for key in session.reshape({lengths: [count]}).ports) for count in (3, 2, 3, 2, 4)]
    assert counts == [3, 2, 3, 2, 4]


def test_inputs_that_are_missing_at_the_end_stay_so() -> None:
    masks = 'begin_mask="1,0", end_mask="1,0", new_axis_mask="", shrink_axis_mask="", ellipsis_mask=""'
    net = Net(f"f32[1,8] -> StridedSlice([0,2], [0,6], [1,1], {masks}) -> Result")
    edge = '<edge from-layer="3" from-port="0" to-layer="4" to-port="3"/>'
    assert edge in net.xml
    session = Session(net.xml.replace(edge, "").replace('version="11"', 'version="10"').encode(), weights=net.bin)
    for size in (2, 3, 4, 5):
        inference = session.reshape({"parameter_0": [size, 8]})
        assert inference.ok
        assert inference.view(session.model.results[0]).inputs[0].text == f"[{size},4]"
