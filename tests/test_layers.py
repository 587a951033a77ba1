"""Packages import only the packages before them on the way from a file to a report, and no modules import each other in a circle."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.support.places import ROOT

PACKAGE = ROOT / "irshape"
LAYERS = [
    "version", "shape", "files", "report", "xml", "ops", "model", "inference", "diagnosis",
    "answers", "verbs", "page", "settings", "scanning", "api", "editing", "reshaping", "running", "extend", "typing", "cli", "testing",
    "main",
]  # fmt: skip


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of each module of irshape, by its path."""
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


def imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules of irshape that a module imports, anywhere in it, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield node.module or "", node.lineno


def test_imports_point_left() -> None:
    wrong = []
    for name, tree in trees().items():
        own = name.split("/")[0].removesuffix(".py")
        for module, line in imported(tree) if own not in ("__init__", "__main__", "cli", "testing", "main") else ():
            other = module.split(".")[1] if module.startswith("irshape.") else "main" if module == "irshape" else "version"
            if LAYERS.index(other) > LAYERS.index(own):
                wrong.append(f"{name}:{line} imports {module}")
    assert wrong == []


@cache
def imports_of_modules() -> dict[str, set[str]]:
    """The modules of irshape that each of its modules imports, those under TYPE_CHECKING and inside functions included."""
    modules = {f"irshape.{name[:-3].replace('/', '.')}".removesuffix(".__init__"): tree for name, tree in trees().items()}
    graph: dict[str, set[str]] = {}
    for module, tree in modules.items():
        graph[module] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                graph[module] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                graph[module] |= {name if name in modules else node.module for name in names}
        graph[module] &= modules.keys()
    return graph


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Types that two modules share live in a module below both, so that each module can be read without the ones above it."""
    try:
        TopologicalSorter(imports_of_modules()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))  # graphlib lists a circle against its direction


def test_report_knows_only_shapes() -> None:
    """A diagnostic and its rendering serve every layer, so they depend on none of them, and on the constants of the version."""
    for tree in (tree for name, tree in trees().items() if name.startswith("report/")):
        for module, _ in imported(tree):
            assert not module.startswith("irshape.") or module.split(".")[1] in ("shape", "files", "report", "version")


# The steps of a run: what the line asks for, what is asked about each file, here or in a worker, the files and each report, and the end.
ROAD = ["request", "inputs", "examination", "workers", "road", "conclusion", "check"]


def test_a_request_goes_one_way() -> None:
    """No step of a run imports one after it, and none after the request sees the arguments of the line."""
    graph = imports_of_modules()
    for place, step in enumerate(ROAD):
        assert not graph[f"irshape.cli.{step}"] & {f"irshape.cli.{later}" for later in ROAD[place + 1 :]}
    for step in {*ROAD, "screen", "texts"} - {"request", "check"}:
        assert "Namespace" not in (PACKAGE / "cli" / f"{step}.py").read_text(encoding="utf-8")


def test_only_operations_and_commands_are_imported_by_name() -> None:
    """The tests above do not see modules that are imported by name; commands and the package may import everything."""
    by_name = re.compile(r"import_module|__import__\(")
    users = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if by_name.search(path.read_text(encoding="utf-8"))]
    assert sorted(users) == ["__init__.py", "cli/plain.py", "ops/extensions.py", "ops/registry.py"]
