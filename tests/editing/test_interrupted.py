"""An interrupt at any line of an edit leaves the graph as before the edit or as after it, and the next edit makes what it always makes."""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy
import pytest

import irshape
from irshape.editing.layers import Body
from irshape.editing.state import State
from tests.support.edits import differences
from tests.support.interrupts import interrupted
from tests.support.places import EXAMPLES

ATROUS, DECODER, STATEFUL, SUMS = (EXAMPLES / f"{name}.xml" for name in ("atrous", "decoder", "decoder_stateful", "sums"))

Edit = Callable[[irshape.Graph], object]


def refused(graph: irshape.Graph) -> None:
    with graph.attempt():
        graph["stem/relu"].bypass()
        graph["image"].rename("picture")
        graph["picture"].remove()


def several(graph: irshape.Graph) -> None:
    with graph.attempt():
        graph["stem"].set(strides=(3, 3))
        with graph.attempt():
            graph.result(graph.op.Relu(graph["stem"]), names="more")
        graph["stem"].rename("first")


def named(graph: irshape.Graph) -> None:
    graph["stem/relu"].output.names = ["relu", "again"]


def given(graph: irshape.Graph) -> None:
    graph["stem/weights"].data = numpy.zeros((8, 3, 3, 3), "f4")


def given_in_a_body(graph: irshape.Graph) -> None:
    graph["sums"].body["decay"].data = numpy.float32([[2]])


def body(graph: irshape.Graph) -> Body:
    return graph["sums"].body


def lost(graph: irshape.Graph) -> None:
    with graph.attempt():
        graph.outputs[1].readers[0][0].remove()
        body(graph)["sums/part"].remove()


def idle(graph: irshape.Graph) -> None:
    with graph.attempt():
        shape = graph.op.ShapeOf(graph["stem"], output_type="i64")
        graph["stem"].output.replace_uses(graph.op.Reshape(graph["stem"], shape, special_zero=False))


def idle_in_a_body(graph: irshape.Graph) -> None:
    with graph.attempt():
        step = body(graph)["sum/step"]
        step.output.replace_uses(body(graph).op.Convert(step, destination_type="f32"))


# The edits that are made one after the other, each in one step.
EDITS: dict[str, tuple[Path, *tuple[Edit, ...]]] = {
    "add": (ATROUS, lambda graph: graph.op.Add(graph["stem"], 1.0, name="stem")),
    "add with several outputs": (ATROUS, lambda graph: graph.op.Split(graph["stem"], 1, num_splits=2)),
    "add, refused": (ATROUS, lambda graph: graph.op.Add(graph["stem"], {})),
    "add after": (ATROUS, lambda graph: graph.add("Relu", graph["image"], after=graph["stem"])),
    "constant": (ATROUS, lambda graph: graph.constant([1, 2, 3])),
    "parameter": (ATROUS, lambda graph: graph.parameter("more", "[1,?]", before=graph["image"])),
    "result": (ATROUS, lambda graph: graph.result(graph["stem"], names="stem_out")),
    "names": (ATROUS, named),
    "replace uses": (
        ATROUS,
        lambda graph: graph.op.Sigmoid(graph["stem"], name="new"),
        lambda graph: graph["stem"].output.replace_uses(graph["new"]),
    ),
    "set": (ATROUS, lambda graph: graph["stem"].set(strides=(1, 1))),
    "data": (ATROUS, given),
    "connect": (ATROUS, lambda graph: graph["stem/relu"].connect(0, graph["image"])),
    "connect to numbers": (ATROUS, lambda graph: graph["stem/relu"].connect(0, numpy.zeros((1, 8, 2, 2), "f4"))),
    "connect, refused": (ATROUS, lambda graph: graph["stem"].connect(0, graph["stem/relu"])),
    "connect against the order": (
        ATROUS,
        lambda graph: graph.op.Sigmoid(graph["image"], name="new"),
        lambda graph: graph["stem"].connect(0, graph["new"]),
    ),
    "rename": (ATROUS, lambda graph: graph["stem"].rename("first")),
    "move": (ATROUS, lambda graph: graph["stem/relu"].move(before=graph["stem"])),
    "bypass": (ATROUS, lambda graph: graph["stem/relu"].bypass()),
    "remove": (ATROUS, lambda graph: graph["features"].remove(cascade=True)),
    "remove, refused": (ATROUS, lambda graph: graph["stem"].remove()),
    "prune": (ATROUS, lambda graph: graph["features"].remove(cascade=True), lambda graph: graph.prune()),
    "attempt": (ATROUS, several),
    "attempt, refused": (ATROUS, refused),
    "undo": (
        ATROUS,
        lambda graph: graph["stem"].rename("first"),
        lambda graph: graph["stem/relu"].bypass(),
        lambda graph: graph.undo(),
        lambda graph: graph["features"].remove(cascade=True),
        lambda graph: graph.undo(0),
        lambda graph: graph["image"].rename("picture"),
    ),
    "simplify": (ATROUS, idle, lambda graph: graph.simplify()),
    "facts": (
        ATROUS,
        lambda graph: graph["stem"].set(strides=(3, 3)),
        lambda graph: (bytes(graph), graph.check(), graph["features"].output.text),
    ),
    "stateful": (DECODER, lambda graph: graph.stateful({"past.key": "present.key", "past.value": "present.value"})),
    "stateless": (STATEFUL, lambda graph: graph.stateless()),
    "data in a body": (SUMS, given_in_a_body),
    "input of a body": (
        SUMS,
        lambda graph: graph.constant([[1.0]], name="more"),
        lambda graph: body(graph).add_input(graph["more"], name="again"),
        lambda graph: body(graph)["sum/next"].connect(1, body(graph)["again"]),
        lambda graph: body(graph).feed_back(body(graph)["sum/next"], body(graph)["again"]),
    ),
    "output of a body": (SUMS, lambda graph: body(graph).add_output(body(graph)["sum/step"], axis=1)),
    "remove from a body": (SUMS, lost),
    "simplify with bodies": (SUMS, idle_in_a_body, lambda graph: graph.simplify()),
}


# How many steps lead to no other text than those before.
IDLE = {"undo": 2, "facts": 1, "simplify": 1, "simplify with bodies": 1}


def content(state: State) -> Any:
    """All that an edit may change."""
    return (
        {
            item: (
                item.id, item.name, item.attributes, item.label, item.place, item.ports, item.port_maps,
                [*item.inputs], [(value, value.index, value.slot, value.names) for value in item.outputs],
            )
            for item in state.items.values()
        },
        {value: set(readers) for value, readers in state.readers.items() if readers},
        {name: set(items) for name, items in state.by_name.items() if items},
        ({**state._numbers}, {**state._next}, set(state._labels), [*state.steps], len(state.journal), [*state._edits]),
        {(item, name): content(body) for item in state.items.values() for name, body in item.bodies.items()},
    )  # fmt: skip


def attempted(name: str, most: int | None) -> int:
    """Interrupt edits at some of their lines, and look at the graph each time; how many lines that were."""
    path, *edits = EDITS[name]
    graph = irshape.edit(path)
    source = path.read_bytes()

    def run() -> None:
        for edit in edits:
            edit(graph)

    states = [source]
    with suppress(irshape.EditError):  # some are refused
        for edit in edits:
            edit(graph)
            states.append(bytes(graph))
    assert len(set(states)) == (1 if "refused" in name else len(states) - IDLE.get(name, 0)), "each edit changes the graph"
    graph.undo(0)
    assert list(differences(graph)) == [] and bytes(graph) == source
    before, count = content(graph._draft.state), interrupted(run, 0)
    graph.undo(0)
    assert content(graph._draft.state) == before
    moments = range(1, count + 1) if most is None else random.Random(name).sample(range(1, count + 1), min(count, most))
    for moment in moments:
        interrupted(run, moment)
        assert bytes(graph) in states, f"{name} at line {moment}: half of an edit"
        if moment % 7 == 0:
            assert list(differences(graph)) == [], f"{name} at line {moment}: facts"
        graph.undo(0)
        assert content(graph._draft.state) == before, f"{name} at line {moment}: not what was there"
        with suppress(irshape.EditError):
            run()
        assert bytes(graph) == states[-1], f"{name} at line {moment}: the next edit makes another text"
        graph.undo(0)
    return len(moments)


@pytest.mark.parametrize("name", EDITS)
def test_an_interrupt_leaves_the_graph_whole(name: str) -> None:
    assert attempted(name, 9)


@pytest.mark.slow("take long")
@pytest.mark.parametrize("name", EDITS)
def test_an_interrupt_at_any_line_leaves_the_graph_whole(name: str) -> None:
    """With IRSHAPE_INTERRUPTS=all at every line, which takes a quarter of an hour; else at a larger sample of lines."""
    assert attempted(name, None if os.environ.get("IRSHAPE_INTERRUPTS") == "all" else 100)
