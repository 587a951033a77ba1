"""Plans of every operation, and of the random nets of the fuzzers: a session that answers from formulas says what a pass says."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from irshape.inference.inputs import described_shape
from irshape.inference.session import Session
from irshape.model.model import Model
from tests.inference.test_bodies import ROWS as BODIES
from tests.inference.test_plan import said
from tests.support.ir import Net
from tests.support.random_net import RandomNet
from tests.support.rows import is_refused, net_of, tables

# Numbers that many sizes may become. Several of them have many divisors, so that demands for multiples hold now and then.
SIZES = (1, 2, 3, 4, 6, 7, 12, 24, 60, 120)
RESHAPES = 9
NETS = 400


def reshapes(rng: Random, model: Model) -> Iterator[dict[str, list[int]]]:
    """Shapes of the inputs in which sizes that are equal in the file stay equal."""
    declared = {node.name: described_shape(node) for node in model.parameters}
    several = sorted({(size.low, size.high) for shape in declared.values() for size in shape or ()})
    changing = rng.sample(several, min(len(several), rng.choice((1, 1, 2, 3))))
    usual = {one: rng.choice(SIZES) if one[0] != one[1] else one[0] for one in several}
    for _ in range(RESHAPES):
        sizes = {one: rng.choice(SIZES) if one in changing else number for one, number in usual.items()}
        numbers = {one: int(min(max(size, one[0]), one[1])) if one[0] != one[1] else size for one, size in sizes.items()}
        yield {name: [numbers[size.low, size.high] for size in shape] for name, shape in declared.items() if shape is not None}


def answers(net: Net, seed: Any) -> list[str]:
    """The reshapes of a net that a session answers otherwise than a pass; `planned` where it answered from formulas."""
    xml, weights = net.xml.encode(), net.bin
    session = Session(xml, weights=weights)
    found: list[str] = []
    if not session.infer().ok:
        return found
    for shapes in reshapes(Random(seed), session.model):
        ours = session.reshape(shapes)
        if session.plan is None:
            continue
        found.append("planned")
        theirs = Session(xml, weights=weights).reshape(shapes)
        if ours.ok != theirs.ok or (ours.ok and said(ours) != said(theirs)):
            found.append(f"{seed}: {shapes}")
    return found


TABLES = [table for table in tables() if table.version != "tensorflow"]


@pytest.mark.slow("take long")
@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.type} {table.version}")
def test_the_rows_of_an_operation(table: Any) -> None:
    for row in table.rows:
        if not is_refused(row):
            found = answers(net_of(table.type, table.version, row), f"{table.type} {row[0]}")
            assert [one for one in found if one != "planned"] == []


@pytest.mark.slow("take long")
@pytest.mark.parametrize("row", BODIES, ids=lambda row: row[0])
def test_the_rows_of_bodies(row: tuple[str, Net, str]) -> None:
    assert [one for one in answers(row[1], row[0]) if one != "planned"] == []


@pytest.mark.slow("take long")
@pytest.mark.parametrize("chunk", range(8))
def test_random_nets(chunk: int) -> None:
    found: list[str] = []
    for seed in range(chunk, NETS, 8):
        random_net = RandomNet(seed)
        for _ in range(7):
            random_net.grow()
        random_net.finish()
        found += answers(random_net.net, seed)
    assert [one for one in found if one != "planned"] == []
    assert len(found) > 20
