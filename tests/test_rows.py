"""Every operation is held by rows: one it infers, and one it refuses. They stand where one looks for them."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import irshape
import irshape.ops
from irshape.ops.index import MODULES
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY
from tests.support.ir import Net, input_of
from tests.support.oracle import core, reads
from tests.support.places import ROOT
from tests.support.rows import OPS, WITHOUT_OPENVINO, Differs, Row, Table, is_refused, net_of, tables

TABLES = list(tables())

# Operations whose rows are files of their own: where tensors enter and leave a model, and what belongs together in it.
WITHOUT_ROWS = {"Assign", "Constant", "If", "Loop", "Parameter", "Result", "TensorIterator"}
# Operations that take every type, rank and value: nothing but a missing input makes them fail.
CANNOT_FAIL = {"ShapeOf opset1"}


def test_every_row_is_about_a_class() -> None:
    """A row about a version that does not exist says that it is refused."""
    for table in TABLES:
        if REGISTRY.find(table.type, table.version) is None:
            assert all(map(is_refused, table.rows)), f"{table.file}: {table.type} {table.version}"


def test_rows_stand_in_the_file_of_their_module() -> None:
    """The rows of `irshape/ops/movement/slice.py` stand in `tests/ops/movement/test_slice.py`."""
    assert {(table.type, table.file) for table in TABLES} == {
        (table.type, file_of(MODULES[table.type.lower()]).as_posix()) for table in TABLES
    }


def test_every_module_of_operations_has_its_file() -> None:
    assert sorted({file_of(module).as_posix() for module in MODULES.values() if not (OPS / file_of(module)).exists()}) == []


def test_every_file_has_its_module() -> None:
    (package,) = irshape.ops.__path__
    files = {path.relative_to(OPS).as_posix() for path in OPS.rglob("test_*.py")}
    assert sorted(file for file in files if not (Path(package) / file.replace("test_", "")).exists()) == []


def file_of(module: str) -> Path:
    """The file of the rows of a module: `movement.slice` -> `movement/test_slice.py`."""
    *folders, name = module.split(".")
    return Path(*folders, f"test_{name}.py")


@pytest.mark.parametrize(
    ("table", "tests"),
    [
        ("ROWS: Rows = {", "test_row, test_row_with_openvino = row_tests(ROWS)"),
        ("VALUES: Rows = {", "test_values, test_values_with_openvino = value_tests(VALUES)"),
    ],
)
def test_every_table_is_run(table: str, tests: str) -> None:
    """Each file binds both tests of its tables: irshape's, and OpenVINO's."""
    for path in OPS.rglob("test_*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert any(line.startswith(table) for line in lines) == (tests in lines), path


def test_values_stand_in_the_file_of_their_module() -> None:
    for file in {file_of(module) for module in MODULES.values()}:
        module = import_module(".".join(("tests.ops", *file.with_suffix("").parts)))
        assert [type for type, _ in getattr(module, "VALUES", {}) if file_of(MODULES[type.lower()]) != file] == []


def without(*, refused: bool) -> list[str]:
    """The operations that no row, or no row of refusal, is about."""
    held: set[OpClass | None] = {
        REGISTRY.find(table.type, table.version) for table in TABLES for row in table.rows if is_refused(row) is refused
    }
    return [f"{op.TYPE} {op.VERSION}" for op in REGISTRY.classes() if op not in held and op.TYPE not in WITHOUT_ROWS]


def test_every_departure_from_openvino_is_explained() -> None:
    """The page of divergences and the rows that differ name each other."""
    page = (ROOT / "docs" / "divergences.md").read_text(encoding="utf-8")
    proofs = set(re.findall(r"`((?:\w+/)?test_\w+\.py: [^`]+)`", page))
    differing = ((table, row[0]) for table in TABLES for row in table.rows if isinstance(row[-1], Differs))
    assert proofs == {f"{table.file}: {table.type} {table.version}: {name}" for table, name in differing}


def test_every_operation_has_a_passing_row() -> None:
    assert without(refused=False) == []


def test_every_operation_has_a_failing_row() -> None:
    assert [name for name in without(refused=True) if name not in CANNOT_FAIL] == []


def unranked(row: Row) -> Iterator[Row]:
    """The row with each of its Parameters in turn, and with all of them, of unknown rank."""
    texts = row[1].split()
    ranked = [index for index, text in enumerate(texts) if isinstance(input_of(text), str) and not text.endswith("[...]")]
    for chosen in [*([index] for index in ranked), *([ranked] if len(ranked) > 1 else [])]:
        changed = [f"{text.partition('[')[0]}[...]" if index in chosen else text for index, text in enumerate(texts)]
        yield (row[0], " ".join(changed), *row[2:])


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.type}-{table.version}")
def test_unknown_ranks_are_no_way_past_a_check(table: Table) -> None:
    """irshape refuses a row that loses its ranks if and only if OpenVINO does."""
    if table.version in WITHOUT_OPENVINO:
        pytest.skip("OpenVINO does not have the operation")
    differing = []
    for row in table.rows:
        if isinstance(row[-1], Differs) or not is_refused(row):
            continue
        for variant in unranked(row):
            net = net_of(table.type, table.version, variant)
            is_accepted = reads(net.xml.encode(), net.bin, table.version)
            if irshape.infer(net.xml.encode(), weights=net.bin).ok is not is_accepted:
                differing.append((variant[:-1], "accepted by OpenVINO" if is_accepted else "refused by OpenVINO"))
    assert differing == []


# With an input more than they have, OpenVINO no longer reads the output shape of these.
READS_LESS = {"ConvolutionBackpropData", "GroupConvolutionBackpropData"}


def with_surplus(table: Table, version: int) -> Net | None:
    """The first row with all inputs, in an IR of some version, with one input more; None if no row has all inputs."""
    op_class = REGISTRY.find(table.type, table.version)
    most = None if op_class is None else op_class.max_inputs
    for row in table.rows:
        if not is_refused(row) and not isinstance(row[-1], Differs) and len(row[1].split()) == most:
            longer = (row[0], f"{row[1]} f32[1]", *row[2:])
            net = net_of(table.type, table.version, longer)
            net.version = version
            return net
    return None


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.type}-{table.version}")
def test_a_surplus_input_is_ignored_where_openvino_ignores_it(table: Table) -> None:
    """That is so in IR version 10, for operations whose shape inference does not count its inputs."""
    for version in (10, 11):
        net = with_surplus(table, version)
        if net is None or table.version in WITHOUT_OPENVINO or table.type in READS_LESS:
            pytest.skip("no row has all inputs of an operation that OpenVINO has")
        inference = irshape.infer(net.xml.encode(), weights=net.bin)
        try:
            core().read_model(net.xml.encode(), net.bin)
        except RuntimeError:
            assert {one.code for one in inference.diagnostics if one.severity == "error"} == {"G108"}
        else:
            assert version == 10 and inference.ok
