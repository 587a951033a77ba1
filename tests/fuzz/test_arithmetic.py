"""Every verb answers every net of shape arithmetic: without a traceback, Python's words, or a wrong exit code."""

import os

import pytest

from tests.fuzz.arithmetic import findings

# `IRSHAPE_ARITHMETIC=2000` asks as many nets as that.
COUNT = int(os.environ.get("IRSHAPE_ARITHMETIC", "3"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_every_verb_answers(seed: int) -> None:
    assert list(findings(seed)) == []
