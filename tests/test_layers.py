"""Packages import only what stands left of them in the way from a file to a report."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "irshape"
LAYERS = ["shape", "report", "xml", "ops", "model", "inference", "answers", "api", "cli"]
# An inference is asked; what answers is loaded then.
ASKED = {"inference/inference.py": {"irshape.answers.explain.explainer", "irshape.answers.explain.explanation"}}


def imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules of irshape that a module imports, anywhere in it, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield node.module or "", node.lineno


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_left(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    if relative.name in ("__init__.py", "__main__.py") and len(relative.parts) == 1:
        return
    own = LAYERS.index(relative.parts[0].removesuffix(".py"))
    for module, line in imported(ast.parse(path.read_text(encoding="utf-8"))):
        if module == "irshape" or module.startswith("irshape."):
            other = LAYERS.index(module.split(".")[1]) if "." in module else len(LAYERS)
            allowed = other <= own or LAYERS[own] == "cli" or module in ASKED.get(relative.as_posix(), ())
            assert allowed, f"{relative}:{line} imports {module}"


def test_report_knows_only_shapes() -> None:
    """A diagnostic and its rendering serve every layer, so they depend on none of them."""
    for path in (PACKAGE / "report").glob("*.py"):
        for module, _ in imported(ast.parse(path.read_text(encoding="utf-8"))):
            assert not module.startswith("irshape.") or module.split(".")[1] in ("shape", "report")


def test_only_operations_and_commands_are_imported_by_name() -> None:
    """What is imported by name escapes the tests above; commands may import everything."""
    users = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if "import_module" in path.read_text(encoding="utf-8")]
    assert sorted(users) == ["cli/main.py", "ops/registry.py"]
