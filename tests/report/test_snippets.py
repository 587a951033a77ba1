"""The snippets of the catalogue: the bad one of each code reports the code, the good one reports nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.ops.registry import REGISTRY
from irshape.report.catalogue import CATALOGUE
from irshape.report.snippet import Run
from irshape.report.snippets import SNIPPETS
from irshape.xml.schema import structural_faults
from tests.support.ir import Net
from tools.snippets import changed_lines, printed

ROOT = Path(__file__).parent.parent.parent

# Codes that need more than a file and a command, and what tests them.
CONDITIONAL = {
    "I101": "a fault of irshape itself: test_a_rule_that_fails_is_an_internal_error",
    "I103": "a worker that runs out of memory: tests/cli/test_workers.py",
    "I104": "a worker that is killed: tests/cli/test_workers.py",
    "I105": "a file that a server refuses: tests/scan/test_remote.py",
}
TRIED = [code for code in SNIPPETS if code not in CONDITIONAL]
# Faults that a mistake brings with it: the codes that a bad snippet reports beside its own.
BESIDE = {
    "G101": {"G102"},  # the id that the layer lost is named by edges; this is linked to the cause
    "X106": {"G102"},  # no layer has the id that could not be read
    "G115": {"G109"},  # the second port is one more than the operation has
    "X205": {"G113"},  # a model without layers has no Result
    "V106": {"R401"},  # the division is told at its layer, too; a model in which no rule reads the quotient is accepted
    "N102": {"S101"},  # the note is given where a layer fails
}


def reported(run: Run) -> list[dict[str, Any]]:
    """The diagnostics that the command of a run reports."""
    diagnostics: list[dict[str, Any]] = json.loads(printed(run, "--format", "json"))["diagnostics"]
    return diagnostics


def test_every_code_has_a_snippet() -> None:
    assert set(SNIPPETS) == set(CATALOGUE)


def test_conditions_are_said() -> None:
    assert {code for code, snippet in SNIPPETS.items() if snippet.condition} == set(CONDITIONAL)


@pytest.mark.parametrize("code", TRIED)
def test_the_bad_snippet_reports_its_code(code: str) -> None:
    found = reported(SNIPPETS[code].bad)
    assert {one["code"] for one in found} == {code} | BESIDE.get(code, set())
    if code != "I102":  # of a file that was not examined no line is known
        assert all(one["line"] for one in found), "a fault has a line"


@pytest.mark.parametrize("code", TRIED)
def test_the_good_snippet_reports_nothing(code: str) -> None:
    assert reported(SNIPPETS[code].good) == []


@pytest.mark.parametrize("code", SNIPPETS)
def test_the_page_shows_both_files(code: str) -> None:
    """The lines without `+` are the bad file, the lines without `-` the good one."""
    bad, good, _ = SNIPPETS[code]
    lines = list(changed_lines(bad.xml, good.xml))
    assert [line[2:] for line in lines if not line.startswith("+")] == bad.xml.splitlines()
    assert [line[2:] for line in lines if not line.startswith("-")] == good.xml.splitlines()


def test_departures_from_the_schema() -> None:
    bad, good, _ = SNIPPETS["X202"]
    assert [fault.code for fault in structural_faults(bad.xml.encode())] == ["X202"]
    assert structural_faults(good.xml.encode()) == []


def test_a_rule_that_fails_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def infer(*inputs: object) -> None:
        raise ZeroDivisionError("in a rule")

    [space_to_depth] = dict.fromkeys(REGISTRY.versions("SpaceToDepth").values())
    monkeypatch.setattr(space_to_depth, "infer", infer)
    assert [diagnostic.code for diagnostic in irshape.infer(SNIPPETS["A104"].good.xml.encode()).diagnostics] == ["I101"]


def test_weights_that_are_a_folder(tmp_path: Path) -> None:
    net = Net("[1] -> Result")
    (tmp_path / "m.xml").write_text(net.xml)
    (tmp_path / "m.bin").mkdir()
    assert [diagnostic.code for diagnostic in irshape.check(tmp_path / "m.xml").diagnostics] == ["W104"]


def test_a_run_loads_no_snippets() -> None:
    code = (
        "import sys; from irshape.cli.main import main; main(['check', 'examples/space_to_batch.xml']);"
        "sys.exit(any('snippets' in name for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True).returncode == 0
