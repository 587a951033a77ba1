"""The fuzzers find nothing, each for a few seeds."""

import os
import sys
from pathlib import Path

import pytest

import irshape
from irshape.report.diagnostic import ERROR
from tests.fuzz import arithmetic, mutate
from tests.fuzz.apart import found
from tests.fuzz.hostile import all_of
from tests.fuzz.strangers import ATTACKS, tried
from tests.fuzz.work import SECONDS, slowness

FILES = all_of()


# `IRSHAPE_ARITHMETIC=2000` asks as many nets as that.
@pytest.mark.parametrize("seed", range(int(os.environ.get("IRSHAPE_ARITHMETIC", "3"))))
def test_every_verb_answers_every_net_of_shape_arithmetic(seed: int) -> None:
    """Without a traceback, Python's words, or a wrong exit code."""
    assert list(arithmetic.findings(seed)) == []


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize("first", range(0, 160, 40))
def test_random_loops_in_the_cpu_plugin(first: int) -> None:
    """They give what irshape infers, also if no iteration runs."""
    assert list(found("tests.fuzz.loops", first, 40)) == []


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_value_subgraphs_beside_openvino(first: int) -> None:
    """They have the verdict of OpenVINO, and bounds that are no looser and hold for numbers."""
    assert list(found("tests.fuzz.beside", first, 10)) == []


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_perturbed_rows_beside_openvino() -> None:
    """They have its verdict, element types and shapes. `IRSHAPE_PERTURBED=20000` compares as many rows as that."""
    assert list(found("tests.fuzz.perturb", 0, int(os.environ.get("IRSHAPE_PERTURBED", "300")))) == []


@pytest.mark.slow("take long")
@pytest.mark.skipif(sys.platform != "linux", reason="the attacks need pipes, links and limits of processes")
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_of_a_stranger_fails(name: str, tmp_path: Path) -> None:
    """What a stranger puts around IRs takes little work, and reads, tells and changes nothing that is not its own."""
    for module in ("fsspec", "aiohttp", "pydantic"):
        pytest.importorskip(module)
    folders = tmp_path / "first", tmp_path / "second"
    for folder in folders:
        folder.mkdir()
    finding = tried(name, folders[0])
    if finding.seconds > SECONDS * slowness():  # other work on the machine may have added to it, but not twice
        finding = tried(name, folders[1])
    assert finding.wrong == []


@pytest.mark.slow("take long")
@pytest.mark.parametrize("name", FILES)
def test_hostile_files(name: str) -> None:
    """Files made to do harm are refused with a code and a place, or accepted; nothing in between."""
    file = FILES[name]
    assert mutate.findings(mutate.Mutant(file.xml, file.weights), seconds=10) == []
    inference = irshape.check(file.xml, weights=file.weights or b"\0")
    errors = {diagnostic.code for diagnostic in inference.diagnostics if diagnostic.severity == ERROR}
    assert file.code in errors if file.code else not errors, inference.diagnostics
