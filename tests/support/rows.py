"""Rows that say what an op must infer, in OpenVINO's notation, and what runs them.

    (name, *inputs, expected)

An input is a fact (`"f32[2,3..5,?]"`: a Parameter), a number or a list (a Const of i64), or `const(values, "i32")`.
A dict among them gives attributes. `expected` is the fact of the output, a tuple of facts where there are several, or the
code of the error. `differs(ours, openvino)` is an expectation in which irshape departs from OpenVINO on purpose.
"""

from typing import Any, NamedTuple

import irshape
from irshape.report.catalogue import CATALOGUE
from tests.support.ir import Net


class Const(NamedTuple):
    """A constant input of a type other than i64."""

    values: Any
    element_type: str


class Differs(NamedTuple):
    """What irshape infers, and what OpenVINO does."""

    ours: Any
    openvino: Any


def const(values: Any, element_type: str) -> Const:
    """A constant input of some element type."""
    return Const(values, element_type)


def differs(ours: Any, openvino: Any) -> Differs:
    """An expectation in which irshape departs from OpenVINO; `docs/divergences.md` says why.

    OpenVINO is not asked where it does what C++ leaves undefined: `openvino` is None there.
    """
    return Differs(ours, openvino)


def net_of(type: str, version: str, row: tuple[Any, ...]) -> Net:
    """The IR of a row: its inputs, one layer, a Result for each output."""
    _, *inputs, expected = row
    if isinstance(expected, Differs):
        expected = expected.ours
    attributes: dict[str, Any] = {}
    refs = []
    net = Net()
    for one in inputs:
        if isinstance(one, dict):
            attributes.update(one)
        elif isinstance(one, str):
            refs.append(net.parameter(one))
        elif isinstance(one, Const):
            refs.append(net.const(one.values, one.element_type))
        else:
            refs.append(net.const(one))
    count = len(expected) if isinstance(expected, tuple) else 1
    for ref in net.layer(type, refs, ["FP32"] * count, version, **attributes):
        net.result(ref)
    return net


def check_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    """irshape must infer what the row says."""
    expected = row[-1].ours if isinstance(row[-1], Differs) else row[-1]
    net = net_of(type, version, row)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    codes = sorted({d.code for d in inference.diagnostics if d.severity == "error"})
    if isinstance(expected, str) and expected in CATALOGUE:
        assert codes == [expected], inference.diagnostics
        return
    assert not codes, inference.diagnostics
    facts = expected if isinstance(expected, tuple) else (expected,)
    layer = next(node for node in inference.model.nodes if node.type == type and node.version == version)
    assert tuple(map(repr, inference.layer(layer.id).outputs)) == facts


def check_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    """OpenVINO must refuse what the row says is refused, and infer the same or a looser shape otherwise."""
    import openvino
    import pytest

    expected = row[-1].openvino if isinstance(row[-1], Differs) else row[-1]
    if expected is None:
        pytest.skip("what OpenVINO does here is undefined")
    net = net_of(type, version, row)
    mark = f'type="{type}" version="{version}"'
    name = f"{type.lower()}_{next(i for i, layer in enumerate(net.layers) if mark in layer)}"
    try:
        model = openvino.Core().read_model(net.xml.encode(), net.bin)
    except RuntimeError as error:
        assert isinstance(expected, str) and expected in CATALOGUE, f"OpenVINO refuses: {error}"
        return
    assert not (isinstance(expected, str) and expected in CATALOGUE), "OpenVINO accepts"
    node = next(op for op in model.get_ops() if op.get_friendly_name() == name)
    for output, fact in zip(node.outputs(), expected if isinstance(expected, tuple) else (expected,), strict=False):
        element_type, _, shape = fact.partition("[")
        assert output.get_element_type().get_type_name() == element_type
        ours, theirs = openvino.PartialShape(f"[{shape}"), output.get_partial_shape()
        assert theirs == ours or contains(theirs, ours), f"OpenVINO infers {theirs}"


def contains(outer: Any, inner: Any) -> bool:
    """Whether every shape of `inner` is one of `outer` (both openvino.PartialShape)."""
    if outer.rank.is_dynamic:
        return True
    if inner.rank.is_dynamic or len(outer) != len(inner):
        return False

    def ends(dim: Any) -> tuple[int, float]:
        high = dim.max_length
        return dim.min_length, float("inf") if high < 0 or high >= 2**47 else high

    pairs = [(ends(a), ends(b)) for a, b in zip(outer, inner, strict=True)]
    return all(a[0] <= b[0] and b[1] <= a[1] for a, b in pairs)


def ids(rows: dict[tuple[str, str], list[tuple[Any, ...]]]) -> list[Any]:
    """pytest parameters, one for each row."""
    import pytest

    return [pytest.param(*key, row, id=f"{key[0]}-{key[1]}-{row[0]}") for key, own in rows.items() for row in own]
