"""Every rule gives the same on numbers that remember where they come from, and every row of every operation is explained soundly."""

from typing import Any

import pytest

from irshape import verbs
from irshape.answers.explain.formula import TracedRule, inputs_of, named_fact, named_op
from irshape.answers.explain.traced import plain
from tests.answers.sound import faults
from tests.support.rows import Row, is_refused, net_of, tables

# The rows that are accepted, for each operation.
ACCEPTED = [
    pytest.param(type, version, [row for row in rows if not is_refused(row)], id=f"{type}-{version}") for _, type, version, rows in tables()
]


@pytest.mark.parametrize(("type", "version", "rows"), ACCEPTED)
def test_a_rule_gives_the_same_on_numbers_that_remember(type: str, version: str, rows: list[Row]) -> None:
    for row in rows:
        net = net_of(type, version, row)
        inference = verbs.infer(net.xml.encode(), weights=net.bin)
        ((model, run),) = inference.graphs
        node = [node for node in model.nodes if node.type == type and node.version == version][-1]
        assert node.op is not None
        known = run.slots[node.first_slot : node.first_slot + len(node.layer.outputs)]
        inputs = inputs_of(node, run.slots)
        facts = [named_fact(node.op, i, len(inputs), fact, is_of_elements=False) for i, fact in enumerate(inputs)]
        answers = TracedRule(inference.scope, node, named_op(node.op), facts, known).outputs()
        assert [sizes(fact) for fact in answers[: len(known)]] == [sizes(fact) for fact in known], row[0]


def sizes(fact: Any) -> list[str] | None:
    """The sizes, those that are not known by their formulas."""
    return None if fact.shape is None else [str(plain(size)) for size in fact.shape]


@pytest.mark.parametrize(("type", "version", "rows"), ACCEPTED)
def test_every_row_is_explained_soundly(type: str, version: str, rows: list[Row]) -> None:
    for row in rows:
        net = net_of(type, version, row)
        inference = verbs.infer(net.xml.encode(), weights=net.bin)
        node = [node for node in inference.model.nodes if node.type == type and node.version == version][-1]
        for port in node.layer.outputs:
            assert not faults(verbs.explain(inference, node.id, port.id), net.xml.encode(), bytes(net.bin)), row[0]
