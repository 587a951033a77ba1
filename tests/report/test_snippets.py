"""The snippets of the catalogue: the bad one of each code reports the code, the good one reports nothing."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.ops.registry import REGISTRY
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import Diagnostic
from irshape.report.snippet import Invocation
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


def reported(run: Invocation) -> list[dict[str, Any]]:
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


EXAMPLES = Path(__file__).parent.parent.parent / "examples"
ATROUS = (EXAMPLES / "atrous.xml").read_bytes()


def faults(xml: bytes, code: str, weights: bytes | None = None) -> list[Diagnostic]:
    """The diagnostics of a code."""
    own = (EXAMPLES / "atrous.bin").read_bytes()
    return [one for one in irshape.check(xml, weights=own if weights is None else weights).diagnostics if one.code == code]


@pytest.mark.parametrize("count", [1, 4096])
def test_zero_bytes_behind_the_file_are_called_so(count: int) -> None:
    (fault,) = faults(ATROUS + bytes(count), "X201")
    assert "zero bytes" in fault.message
    assert "zero bytes" in (fault.hint or "")


@pytest.mark.parametrize("length", [1000, 3000, 5000])
def test_a_tail_of_zero_bytes_is_no_invalid_token(length: int) -> None:
    cut = ATROUS[: ATROUS.index(b">", length) + 1]
    (fault,) = faults(cut + bytes(500), "X101")
    assert "zero bytes only" in fault.message
    assert fault.hint is not None
    assert fault.where.line == cut.count(b"\n") + 1


def test_weights_that_were_copied_as_text() -> None:
    xml, weights = (EXAMPLES / "decoder.xml").read_bytes(), (EXAMPLES / "decoder.bin").read_bytes()
    (fault,) = faults(xml, "W201", weights.replace(b"\n", b"\r\n"))
    assert "13 and 10" in fault.message
    assert "binary" in (fault.hint or "")
    (other,) = faults(xml, "W201", weights + b"\r\n" * 8)
    assert "another model's weights" in other.message


def test_one_byte_that_a_copy_as_text_has_changed() -> None:
    """Weights that are nearly all zeros may have their only byte 10 far behind."""
    xml = Net("Const(element_type=u8, shape=9000, offset=0, size=9000) u8 -> Result").xml.encode()
    (fault,) = faults(xml, "W201", bytes(8999) + b"\r\n")
    assert "13 and 10" in fault.message


def test_a_hint_closes_no_circle() -> None:
    """The layer at fault, or one that depends on it, is no source for its input, even if nothing else reads it."""
    diagnostics = irshape.check(ATROUS.replace(b'<layer id="3"', b'<layer id="three"'), weights=False).diagnostics
    (unfed,) = [one for one in diagnostics if one.code == "G106"]
    assert unfed.where.layer_name == "stem/relu"
    assert "stem/relu" not in (unfed.hint or "")


def test_an_input_with_two_edges_and_one_with_none() -> None:
    text = ATROUS.decode()
    edge = next(iter(re.findall(r"<edge [^>]*/>", text)))
    (twice,) = faults(text.replace(edge, edge + edge, 1).encode(), "G104")
    assert "remove one of the two edges" in (twice.hint or "")
    without = irshape.check(text.replace(re.findall(r"<edge [^>]*/>", text)[-1], "", 1).encode(), weights=False)
    assert all(one.hint for one in without.diagnostics if one.code in ("G104", "G106"))


def test_a_layer_without_a_number_is_named_without_it() -> None:
    """A hint names no layer -1, which no file has."""
    for id in re.findall(r'<layer id="(\d+)"', ATROUS.decode()):
        changed = ATROUS.replace(f'<layer id="{id}"'.encode(), b'<layer id="first"')
        assert [one for one in irshape.check(changed, weights=False).diagnostics if "-1" in f"{one.hint}{one.message}"] == []


def test_a_port_map_that_names_nothing() -> None:
    from irshape.report.snippets import SNIPPETS

    (fault,) = [one for one in irshape.check(SNIPPETS["G119"].bad.xml.encode()).diagnostics if one.code == "G119"]
    assert "external_port_id" in (fault.hint or "")
