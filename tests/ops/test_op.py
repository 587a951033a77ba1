"""Ports as the classes of operations declare them, their bases' included."""

import pytest

from irshape.ops.op import In, Op, Out
from irshape.ops.registry import REGISTRY


class Base(Op):
    first = In()
    data = In(like="first")
    output = Out(like="data")


class Without(Base):
    first = None
    data = In()


class More(Base):
    last = In(like="data")


def test_a_class_has_ports_of_its_own() -> None:
    first, data = ("first", 0, "first"), ("data", 1, "first")
    rows = ((Base, [first, data]), (Without, [("data", 0, "data")]), (More, [first, data, ("last", 2, "data")]))
    for cls, ports in rows:
        assert [(port.name, port.index, port.group) for port in cls.inputs] == ports
    assert [cls.outputs[0].sources for cls in (Base, Without, More)] == [(1,), (0,), (1, 2)]


@pytest.mark.parametrize("type", REGISTRY.types())
def test_the_element_type_of_an_output_comes_from_inputs_of_its_own_class(type: str) -> None:
    for cls in REGISTRY.versions(type).values():
        for out in cls.outputs:
            assert out.sources == tuple(port.index for port in cls.inputs if out.like and out.like in (port.name, port.like))
