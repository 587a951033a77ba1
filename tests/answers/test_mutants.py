"""Whatever a file holds, it can be described and compared, and is itself."""

import random

import pytest

import irshape
from irshape.cli.diff import lines as diff_lines
from irshape.cli.info import lines as info_lines
from irshape.report.text import Palette
from tests.answers.test_diff import DATA
from tests.fuzz.mutate import Mutator, seeds


@pytest.mark.parametrize("seed", range(8))
def test_mutants_of_small_files(seed: int) -> None:
    chance = random.Random(seed)
    mutator, files = Mutator(chance), seeds(DATA)
    for _ in range(12):
        file = chance.choice(files).mutant
        mutant = mutator.mutate(file)
        info = irshape.info(mutant.xml, weights=mutant.weights)
        assert list(info_lines(info, palette=Palette(False), is_complete=False))
        irshape.check(mutant.xml, weights=mutant.weights, targets=["npu", "static-shapes", "max-rank=2"])
        assert irshape.diff(mutant.xml, mutant.xml, weights=(mutant.weights, mutant.weights)).is_same
        there = irshape.diff(file.xml, mutant.xml, weights=(file.weights, mutant.weights))
        assert list(diff_lines(there, Palette(False), is_complete=True))
        assert there.is_same == irshape.diff(mutant.xml, file.xml, weights=(mutant.weights, file.weights)).is_same
