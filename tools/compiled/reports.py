"""Write what irshape says of the carried IRs and of mutants of them: `python -m tools.compiled.reports OUT.json`, from the root."""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import irshape
from tests.fuzz.mutate import Mutator, seeds

FOLDERS = ["examples", "tests/data"]
MUTANTS = 10  # of each file


def report(path: Path) -> dict[str, Any]:
    """The report of a file, the file as irshape annotates it, and why its outputs have their shapes."""
    inference = irshape.check(path)
    return {
        "report": inference.to_dict(),
        "annotated": inference.xml().decode("latin-1"),
        "explained": [str(inference.explain(node.name)) for node in inference.model.results[:3]],
    }


def attempt(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer, or the error in its place."""
    try:
        return ask()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main(out: str) -> None:
    """Ask about every file and every mutant."""
    found: dict[str, Any] = {}
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*.xml")):
            found[str(path)] = attempt(lambda path=path: report(path))
        for seed in seeds(Path(folder)):
            mutator = Mutator(random.Random(seed.name))
            for number in range(MUTANTS):
                mutant = mutator.mutate(seed.mutant)
                ask = lambda mutant=mutant: {"report": irshape.check(mutant.xml, weights=mutant.weights).to_dict()}  # noqa: E731
                found[f"{seed.name}, mutant {number}"] = attempt(ask)
    Path(out).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
