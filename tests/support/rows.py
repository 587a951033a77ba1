"""Rows that say what an operation infers, in OpenVINO's notation, and the tests that run them.

    (name, inputs, expected)
    (name, inputs, attributes, expected)

`inputs` is one text, with blanks between the inputs: `"f32[2,3..5,?]"` is a Parameter, `3` and `[1,2]` are Consts of i64, and
`i32=[1,2]` is a Const of another element type. `attributes` is a dict. `expected` is the text of the outputs, or the code of the
error. `differs(ours, openvino)` is an expectation in which irshape departs from OpenVINO on purpose.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import irshape
from irshape.report.catalogue import CATALOGUE
from tests.support.ir import Const, Net, input_of
from tests.support.oracle import core

Row = tuple[Any, ...]
Rows = dict[tuple[str, str], list[Row]]

# Operations of other frameworks, which OpenVINO does not have, name their framework as their version.
WITHOUT_OPENVINO = {"tensorflow"}

OPS = Path(__file__).parent.parent / "ops"


class Differs(NamedTuple):
    """What irshape infers, and what OpenVINO does."""

    ours: str
    openvino: str | None


def differs(ours: str, openvino: str | None) -> Differs:
    """An expectation in which irshape departs from OpenVINO; `docs/divergences.md` says why.

    OpenVINO is not asked where it does what C++ leaves undefined: `openvino` is None there.
    """
    return Differs(ours, openvino)


def inputs_of(row: Row) -> list[str | Const]:
    """The inputs of a row: a fact such as `f32[2,?]`, or a constant."""
    return [input_of(text) for text in row[1].split()]


def attributes_of(row: Row) -> dict[str, Any]:
    """The attributes of a row."""
    attributes: dict[str, Any] = row[2] if len(row) == 4 else {}
    return attributes


def outputs_of(row: Row) -> list[str]:
    """The facts, or the code, that irshape must give for a row."""
    expected: str = row[-1].ours if isinstance(row[-1], Differs) else row[-1]
    return expected.split()


def is_refused(row: Row) -> bool:
    """Whether a row expects an error."""
    return is_code(outputs_of(row))


def is_code(outputs: list[str]) -> bool:
    """Whether an expectation is the code of an error."""
    return outputs[0] in CATALOGUE


def net_of(type: str, version: str, row: Row) -> Net:
    """The IR of a row: its inputs, one layer, a Result for each output."""
    net = Net()
    refs = [net.const(*one) if isinstance(one, Const) else net.parameter(one) for one in inputs_of(row)]
    for ref in net.layer(type, refs, ["FP32"] * len(outputs_of(row)), version, **attributes_of(row)):
        net.result(ref)
    return net


def check_row(type: str, version: str, row: Row) -> None:
    """irshape must infer what the row says."""
    outputs = outputs_of(row)
    net = net_of(type, version, row)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    codes = sorted({d.code for d in inference.diagnostics if d.severity == "error"})
    assert len(set(map(str, inference.diagnostics))) == len(inference.diagnostics), "a line is there twice"
    if is_code(outputs):
        assert codes == outputs, inference.diagnostics
        return
    assert not codes, inference.diagnostics
    layer = next(node for node in inference.model.nodes if node.type == type and node.version == version)
    inferred = [repr(output) for output in inference.layer(layer.id).outputs]
    assert inferred == outputs, f"irshape infers {' '.join(inferred)}"


def check_row_with_openvino(type: str, version: str, row: Row) -> None:
    """OpenVINO must refuse what the row says is refused, and infer the same or a looser shape otherwise."""
    import openvino

    expected = row[-1].openvino if isinstance(row[-1], Differs) else row[-1]
    if expected is None:
        pytest.skip("what OpenVINO does here is undefined")
    outputs = expected.split()
    net = net_of(type, version, row)
    mark = f'type="{type}" version="{version}"'
    name = f"{type.lower()}_{next(i for i, layer in enumerate(net.layers) if mark in layer)}"
    try:
        model = core(version).read_model(net.xml.encode(), net.bin)
    except RuntimeError as error:
        assert is_code(outputs), f"OpenVINO refuses: {error}"
        return
    assert not is_code(outputs), "OpenVINO accepts"
    node = next(op for op in model.get_ops() if op.get_friendly_name() == name)
    for output, fact in zip(node.outputs(), outputs, strict=False):
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


def row_tests(rows: Rows) -> tuple[Callable[..., None], Callable[..., None]]:
    """The two tests of a table: irshape infers what each row says, and OpenVINO agrees."""

    @pytest.mark.parametrize(("type", "version", "row"), parameters(rows))
    def test_row(type: str, version: str, row: Row) -> None:
        check_row(type, version, row)

    openvino_has = {key: own for key, own in rows.items() if key[1] not in WITHOUT_OPENVINO}

    @pytest.mark.oracle
    @pytest.mark.parametrize(("type", "version", "row"), parameters(openvino_has))
    def test_row_with_openvino(type: str, version: str, row: Row) -> None:
        check_row_with_openvino(type, version, row)

    return test_row, test_row_with_openvino


def parameters(rows: Rows) -> list[Any]:
    """A parameter of pytest for each row."""
    return [pytest.param(*key, row, id=f"{key[0]}-{key[1]}-{row[0]}") for key, own in rows.items() for row in own]


class Table(NamedTuple):
    """The rows of one version of an operation, and the file of `tests/ops` that holds them."""

    file: str
    type: str
    version: str
    rows: list[Row]


def tables() -> Iterator[Table]:
    """The rows of every operation."""
    for path in sorted(OPS.rglob("test_*.py")):
        file = path.relative_to(OPS)
        module = import_module(".".join(("tests.ops", *file.with_suffix("").parts)))
        for (type, version), rows in getattr(module, "ROWS", {}).items():
            yield Table(file.as_posix(), type, version, rows)
