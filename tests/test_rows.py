"""Every operation is held by rows: one it infers, and one it refuses."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY
from irshape.report.catalogue import CATALOGUE
from tests.support.rows import Differs

# Operations whose rows are files of their own: where tensors enter and leave a model, and what belongs together in it.
WITHOUT_ROWS = {"Assign", "Constant", "If", "Loop", "Parameter", "Result", "TensorIterator"}
# TensorFlow's operations, which OpenVINO does not read: their rows stand in `test_space_batch.py`.
WITHOUT_ROWS |= {"BatchToSpaceND", "SpaceToBatchND"}
# Operations that take every type, rank and value: nothing but a missing input makes them fail.
CANNOT_FAIL = {"ShapeOf opset1"}


def rows(*, differing: bool = False) -> Iterator[tuple[OpClass | None, bool, str]]:
    """The class of every row, whether it is refused, and where it stands; or only of those where OpenVINO says otherwise."""
    for path in sorted((Path(__file__).parent / "ops").glob("test_*.py")):
        tables = getattr(import_module(f"tests.ops.{path.stem}"), "ROWS", {})
        if not isinstance(tables, dict):  # rows about something else than shapes
            continue
        for (type, version), own in tables.items():
            for row in own:
                if isinstance(row[-1], Differs) or not differing:
                    yield REGISTRY.find(type, version), is_refused(row[-1]), f"{path.name}: {type} {version}: {row[0]}"


def is_refused(expected: Any) -> bool:
    """Whether a row expects a fault."""
    ours = expected.ours if isinstance(expected, Differs) else expected
    return isinstance(ours, str) and ours in CATALOGUE


ROWS = list(rows())


def test_every_row_is_about_a_class() -> None:
    """A row about a version that does not exist says that it is refused."""
    assert [place for op, refused, place in ROWS if op is None and not refused] == []


def without(refused: bool) -> list[str]:
    """The operations that no row, or no row of refusal, is about."""
    held = {op for op, verdict, _ in ROWS if verdict is refused}
    return [f"{op.TYPE} {op.VERSION}" for op in REGISTRY.classes() if op not in held and op.TYPE not in WITHOUT_ROWS]


def test_every_departure_from_openvino_is_explained() -> None:
    """The page of divergences and the rows that differ name each other."""
    page = (Path(__file__).parent.parent / "docs" / "divergences.md").read_text(encoding="utf-8")
    proofs = set(re.findall(r"`(test_\w+\.py: [^`]+)`", page))
    assert proofs == {place for _, _, place in rows(differing=True)}


def test_every_operation_has_a_passing_row() -> None:
    assert without(refused=False) == []


def test_every_operation_has_a_failing_row() -> None:
    assert [name for name in without(refused=True) if name not in CANNOT_FAIL] == []
