"""Change the code in small ways, one at a time, and list the changes that no test notices: `python tools/mutants.py [COUNT] [SEED]`.

The changes are those of cosmic-ray. A sample of them is made in a copy of the repository, one by one, and the tests of the changed folder
run. A change that survives needs a row in a test, or a reason in CONTRIBUTING.md.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT: Final = Path(__file__).parent.parent
# The files that are changed, and the tests that must notice it.
MUTATED: Final = {
    "irshape/shape": ["tests/shape", "tests/answers/test_solve.py", "tests/ops/movement", "tests/inference/test_inference.py"],
    "irshape/answers/solve.py": ["tests/answers/test_solve.py", "tests/answers/test_sizes.py"],
    "irshape/inference": ["tests/inference", "tests/ops/test_type.py"],
}
# Changes that no test can notice: of annotations, decorators and the order of equal handlers.
LEFT_OUT: Final = ("RemoveDecorator", "ExceptionReplacer", "AddNot", "ReplaceBinaryOperator_BitOr", "VariableReplacer", "VariableInserter")
# A test that takes longer has noticed an endless loop.
SECONDS: Final = 300


def places(path: Path) -> list[tuple[str, int]]:
    """The changes of a file: the name of the operator, and the place among those that it finds."""
    tree = get_ast(path.read_text(encoding="utf-8"))
    found = []
    for name in operator_names():
        if not any(word in name for word in LEFT_OUT):
            operator = get_operator(name)()
            found += [
                (name, number) for number, _ in enumerate(place for node in nodes(tree) for place in operator.mutation_positions(node))
            ]
    return found


def nodes(tree: object) -> list[object]:
    """All nodes of a tree of parso."""
    return [tree, *(inner for child in getattr(tree, "children", ()) for inner in nodes(child))]


def difference(before: str, after: str) -> str:
    """The changed lines, each with its number."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return "; ".join(f"{number}: {old.strip()} -> {new.strip()}" for number, (old, new) in enumerate(lines, 1) if old != new)


def fails(folder: Path, tests: list[str]) -> bool:
    """Whether a test in a copy of the repository fails, or does not end."""
    run = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(run, cwd=folder, env={**os.environ, "PYTHONPATH": "."}, capture_output=True, timeout=SECONDS).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main() -> int:
    """Test a sample of changes, and name those that survive."""
    count, seed = (int(word) for word in [*sys.argv[1:], *("20", "1")[len(sys.argv) - 1 :]])
    random = Random(seed)
    survivors = 0
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "irshape"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", ".*_cache"))
        for _ in range(count):
            part, tests = random.choice(list(MUTATED.items()))
            path = random.choice(sorted((copy / part).rglob("*.py")) if (copy / part).is_dir() else [copy / part])
            whole = path.read_text(encoding="utf-8")
            changes = places(path)
            if not changes:
                continue
            name, number = random.choice(changes)
            changed = mutate_code(whole, get_operator(name)(), number)
            if changed is None:
                continue
            path.write_text(changed, encoding="utf-8")
            is_noticed = fails(copy, tests)
            path.write_text(whole, encoding="utf-8")
            survivors += not is_noticed
            print("dies    " if is_noticed else "SURVIVES", path.relative_to(copy), difference(whole, changed), flush=True)
    print(f"{survivors} of {count} survive")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
