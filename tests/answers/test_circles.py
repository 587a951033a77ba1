"""The order in which a file writes its layers decides no answer: shuffled models give those of the model, and are the same model."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import irshape
from tests.support.irs import PATHS, named
from tests.support.shuffled import plain, shuffled

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = [
    path for path in sorted((ROOT / "examples").glob("*.xml")) if b"<net" in path.read_bytes()
]  # the others are parts of a specification
FILES = [path for path in (*PATHS, *EXAMPLES) if path.stat().st_size < 300_000]
# What tells a place in the file.
_PLACES = {"line", "column", "offset", "file", "start", "end", "end_line", "end_column"}

VERBS: dict[str, Callable[[irshape.Model], Any]] = {
    "check": lambda model: irshape.check(model).to_dict(),
    "infer": lambda model: irshape.infer(model).to_dict(),
    "signature": lambda model: irshape.signature(model).to_dict(),
    "sizes": lambda model: irshape.valid_sizes(model).to_dict(),
    "cost": lambda model: irshape.cost(model).to_dict(),
}


def without_places(found: Any) -> Any:
    """An answer without lines and columns."""
    if isinstance(found, dict):
        kept = {key: without_places(value) for key, value in found.items() if key not in _PLACES}
        if "diagnostics" in kept:  # which are sorted by place
            kept["diagnostics"] = sorted(kept["diagnostics"], key=str)
        return kept
    if isinstance(found, list | tuple):
        return [without_places(one) for one in found]
    return re.sub(r"\(\d+:\d+\)", "", found) if isinstance(found, str) else found


def answers(text: bytes, weights: bytes | bool) -> dict[str, Any]:
    """The answers of all verbs, or the words with which they refuse."""
    found: dict[str, Any] = {}
    for name, verb in VERBS.items():
        try:
            found[name] = without_places(verb(irshape.read(text, weights=weights)))
        except (ValueError, OSError) as error:
            found[name] = str(error)
    return found


def compared(path: Path, seed: int) -> None:
    source, binary = path.read_bytes(), path.with_suffix(".bin")
    weights: Any = binary.read_bytes() if binary.exists() else False
    before, after = plain(source), shuffled(source, seed)
    assert answers(after, weights) == answers(before, weights)
    models = [irshape.read(text, weights=weights) for text in (before, after)]
    assert irshape.diff(*models).is_same


@pytest.mark.parametrize("path", FILES[::9], ids=named)
def test_no_order_changes_an_answer(path: Path) -> None:
    compared(path, 0)


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_order_of_several_changes_an_answer(path: Path) -> None:
    for seed in range(1, 6):
        compared(path, seed)
