"""Single edits of real IRs, drawn by a seed: the first line names the place, no safe fix hides it, and the search changes no verdict."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import irshape
from benchmarks.causes import canonical, is_about, listed
from benchmarks.edits import KINDS, Edit, Source, edits
from irshape.diagnosis import linking
from irshape.diagnosis.fixes import mended_file
from tests.support.irs import WITH_WEIGHTS

# A file of a few hundred layers takes the time of twenty small ones.
SMALL = [path for path in WITH_WEIGHTS if path.stat().st_size < 60_000]


def drawn(count: int, seed: int) -> Iterator[tuple[Edit, Source, bytes]]:
    """Edits of sound files, each with the file and the weights that it leaves."""
    random, sources = Random(seed), dict[Path, Source | None]()
    while count:
        path, kind = random.choice(SMALL), random.choice(list(KINDS))
        if path not in sources:
            is_sound = not listed(irshape.check(str(path)))
            sources[path] = Source(path) if is_sound else None
        if (source := sources[path]) is not None:
            for edit in edits(source, kind, Random(random.random())):
                count -= 1
                yield edit, source, source.weights if edit.weights is None else edit.weights


def examined(count: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int, int]:
    """How many edits have lines, how many of these have a first line about their place, and how many lines there are."""
    found = right = lines = 0
    for edit, source, weights in drawn(count, seed):
        inference = irshape.check(edit.xml, weights=weights)
        report = listed(inference)
        found, lines = found + bool(report), lines + len(report)
        right += bool(report) and is_about(report[0], edit.places)
        with monkeypatch.context() as patched:
            patched.setattr(linking, "find_causes", lambda *_: (set(), set()))
            assert irshape.check(edit.xml, weights=weights).ok == inference.ok, edit.text
        if any(one.fix and one.fix.is_safe for one in report):
            fixed: Any = mended_file(inference._inference)
            after = listed(irshape.check(fixed, weights=weights))
            is_restored = canonical(fixed) == canonical(source.copied().xml())
            assert is_restored or any(is_about(one, edit.places) for one in after), edit.text
    return found, right, lines


def test_single_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    found, right, lines = examined(120, 1, monkeypatch)
    assert found > 60
    assert right >= 0.95 * found
    assert lines <= 1.2 * found


@pytest.mark.slow("take long")
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_single_edits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found, right, lines = examined(400, seed, monkeypatch)
    assert right >= 0.95 * found
    assert lines <= 1.2 * found
