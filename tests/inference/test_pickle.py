"""What irshape answers goes from one process to another, and serves several threads."""

import multiprocessing
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.diagnosis.fixes import mendable
from tests.inference.test_bodies import ROWS
from tests.support.ir import Net
from tests.support.irs import PATHS, named
from tests.support.places import EXAMPLES

OURS = [str(path) for path in sorted(EXAMPLES.glob("*.xml"))]


def answers(inference: irshape.Inference) -> list[Any]:
    """All that an inference can be asked."""
    return [
        inference.to_dict(), inference.diagnostics, inference.guards, inference.ports, inference.formulas, inference.ok,
        mendable(inference._inference),
        list(inference), inference.xml(), inference.to_records(), list(map(str, inference.diagnostics)),
    ]  # fmt: skip


def copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", PATHS, ids=named)
def test_an_inference_answers_as_before(path: Path) -> None:
    inference = irshape.check(path)
    again = copied(inference)
    assert answers(again) == answers(inference)
    assert answers(copied(again)) == answers(inference)


@pytest.mark.parametrize("net", [net for _, net, _ in ROWS], ids=[name for name, _, _ in ROWS])
def test_an_inference_with_bodies_answers_as_before(net: Net) -> None:
    inference = irshape.check(net.xml, weights=net.bin)
    again = copied(inference)
    assert answers(again) == answers(inference)
    assert [graph._graph.prefix for graph in again.model.graphs()] == [graph._graph.prefix for graph in inference.model.graphs()]


def atrous(**shapes: Any) -> irshape.Inference:
    return irshape.infer("examples/atrous.xml", **shapes)


def test_formulas_can_be_computed_with() -> None:
    inference = atrous(inputs={"image": "[N,3,H,W]"}, symbols={"H": "32*k"})
    before, after = inference["mask"].inputs[0], copied(inference)["mask"].inputs[0]
    assert after == before and hash(after) == hash(before)
    assert [str(2 * size + 1) for size in after.shape] == [str(2 * size + 1) for size in before.shape or ()]
    n, _, h, _ = after.shape
    assert n is not h and (n + h) is (h + n)


def test_it_does_not_matter_what_was_asked_before() -> None:
    inference = atrous(inputs={"image": "[1,3,H,W]"})
    unasked = copied(inference)
    expected = answers(inference)
    assert answers(unasked) == answers(copied(inference)) == expected


def test_an_explanation_needs_no_engine() -> None:
    inference = atrous(inputs={"image": "[1,3,H,W]"})
    for layer in ("mask", "features", "atrous/space_to_batch"):
        assert copied(inference).explain(layer, axis=2).to_dict() == inference.explain(layer, axis=2).to_dict()


def test_an_answer_of_a_plan_answers_as_before() -> None:
    """A plan makes the facts when they are asked for."""
    session = irshape.Session("examples/atrous.xml")
    for side in (224, 256, 288, 320):
        inference = session.reshape(image=[1, 3, side, side])
    assert session.plan is not None
    assert answers(copied(inference)) == answers(inference)


def test_the_parts_go_with_their_model() -> None:
    inference = atrous()
    model = inference.model
    stem = model["stem"]
    again, node, port, layer, reader = copied((model, stem, stem.inputs[1], inference["stem"], stem.outputs[0].readers[0]))
    assert node is again["stem"] and port == node.inputs[1] and reader in again["stem/relu"].inputs
    assert layer == inference["stem"] and layer.node.key == "2"
    assert port.source is not None and port.source.node.const.data.shape == (4, 3, 3, 3)


def test_a_node_of_a_body_finds_its_model() -> None:
    net = next(net for name, net, _ in ROWS if name == "joined")
    [holder] = [node for node in irshape.read(net.xml, weights=net.bin) if node.bodies]
    node = holder.body.nodes[0]
    again = copied(node)
    assert again.key == node.key and again.model.holder.name == holder.name and again.model is again.model.holder.body


@pytest.mark.parametrize("make", [irshape.info, lambda path: irshape.diff(path, path), irshape.sizes], ids=["info", "diff", "sizes"])
def test_other_answers_are_pickled_too(make: Callable[[str], Any]) -> None:
    answer = make("examples/atrous.xml")
    assert copied(answer).to_dict() == answer.to_dict()


def test_weights_in_an_open_file_stay_behind() -> None:
    with open("examples/atrous.bin", "rb") as weights:
        inference = irshape.infer("examples/atrous.xml", weights=weights)
        again = copied(inference)
    assert again.to_dict() == inference.to_dict()
    with pytest.raises(irshape.WeightsError, match=r"in a BufferedReader of another process; pass the weights as a path or as bytes"):
        again["stem/weights"].node.const.bytes  # noqa: B018


@pytest.mark.parametrize("method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
def test_files_are_checked_by_a_pool_of_processes(method: str) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        found = list(pool.map(irshape.check, OURS))
    assert [one.to_dict() for one in found] == [irshape.check(path).to_dict() for path in OURS]


@pytest.fixture
def eager_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def reshapes(offset: int) -> list[Any]:
    """What one session says of many shapes, half of them not valid."""
    session = irshape.Session("examples/atrous.xml")
    return [session.reshape(image=[1, 3, 64 + side, 64 + offset]).to_dict() for side in range(24)]


@pytest.mark.slow("take long")
@pytest.mark.usefixtures("eager_threads")
def test_threads_have_sessions_of_their_own() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(reshapes, range(4)))
    assert found == [reshapes(offset) for offset in range(4)]


@pytest.mark.usefixtures("eager_threads")
def test_threads_may_share_a_model() -> None:
    model = irshape.read("examples/atrous.xml")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda side: irshape.infer(model, inputs={"image": [1, 3, side, "W"]}).to_dict(), range(64, 96)))
    assert found == [irshape.infer(model, inputs={"image": [1, 3, side, "W"]}).to_dict() for side in range(64, 96)]


def said(inference: irshape.Inference) -> list[Any]:
    """What an inference computes when it is asked for it."""
    return [inference.ports, inference.formulas, [str(guard.requirement) for guard in inference.guards], inference.xml()]


@pytest.mark.usefixtures("eager_threads")
def test_threads_read_the_results_of_a_session_that_goes_on() -> None:
    shapes = [f"[1,3,{side},{side + 2}]" for side in range(64, 70)] + ["[N,3,H,64]", "[B,3,64,W]"]
    wanted = [said(irshape.Session("examples/atrous.xml").reshape(image=shape)) for shape in shapes]
    session = irshape.Session("examples/atrous.xml")
    results = [session.reshape(image=shape) for shape in shapes]
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(lambda first: [said(results[(first + at) % 8]) for at in range(8)], first) for first in range(8)]
        for shape in shapes * 4:
            session.reshape(image=shape)
        for first, one in enumerate(found):
            assert one.result() == wanted[first:] + wanted[:first]
