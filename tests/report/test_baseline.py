"""Baselines: known faults are silent, new ones are reported, and those that are gone are named. Selections choose codes by prefixes."""

import json
from pathlib import Path

import pytest

from irshape.report.baseline import Baseline, BaselineError
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import Diagnostic, Diagnostics, Where
from irshape.report.documents import Checked, identified
from irshape.report.selection import Choice, Selection, checked_prefix


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).touch()
    return tmp_path


def fault(code: str, name: str, line: int = 1, id: str = "1") -> Diagnostic:
    return Diagnostic(code, "message", Where("a.xml", id, name, "Relu", None, line, 1, line))


FAULTS = [fault("S201", "one"), fault("S201", "one"), fault("R104", "two")]


def known() -> Baseline:
    return Baseline("base.json", {}).updated([Checked("a.xml", FAULTS), Checked("b.xml")])


def test_the_file_is_json_for_people(folder: Path) -> None:
    content = json.loads(known().text())
    assert list(content["files"]) == ["a.xml"]
    assert list(content["files"]["a.xml"].values()) == ["S201 Relu one", "S201 Relu one", "R104 Relu two"]
    (folder / "base.json").write_text(known().text())
    assert Baseline.read("base.json").files == known().files
    assert known().count == 3


def test_the_keys_are_the_fingerprints_of_sarif() -> None:
    assert [*known().files["a.xml"]] == [fingerprint for _, _, fingerprint in identified([Checked("a.xml", FAULTS)])]


def test_lines_and_ids_may_move() -> None:
    moved = [fault("S201", "one", 5, "7"), fault("S201", "one", 9, "8"), fault("R104", "two", 3, "9")]
    new, accepted = known().parted("a.xml", moved)
    assert (new, len(accepted)) == ([], 3)


def test_new_faults_are_reported() -> None:
    third, other, own = fault("S201", "one", 3), fault("G101", "two"), fault("I101", "two")
    new, accepted = known().parted("a.xml", [*FAULTS, third, other, own])
    assert new == [third, other, own]
    assert known().parted("b.xml", FAULTS) == (FAULTS, {})
    assert known().stale({"a.xml": accepted}) == []


def test_irshapes_own_faults_are_never_known() -> None:
    own = [fault("I101", "one")]
    baseline = Baseline("base.json", {}).updated([Checked("a.xml", own)])
    assert baseline.parted("a.xml", own) == (own, {})


def test_faults_that_are_gone(folder: Path) -> None:
    _, accepted = known().parted("a.xml", FAULTS[:1])
    assert known().stale({"a.xml": accepted}) == ["a.xml: S201 Relu one", "a.xml: R104 Relu two"]
    assert known().stale({"b.xml": []}) == []
    (folder / "a.xml").unlink()
    assert len(known().stale({"b.xml": []})) == 3


def test_files_outside_of_a_run_keep_their_faults(folder: Path) -> None:
    updated = known().updated([Checked("b.xml", [fault("G101", "three")])])
    assert {path: [*faults.values()] for path, faults in updated.files.items()} == {
        "a.xml": ["S201 Relu one", "S201 Relu one", "R104 Relu two"],
        "b.xml": ["G101 Relu three"],
    }
    assert list(known().updated([Checked("a.xml", complaint="unreadable")]).files) == ["a.xml"]
    assert list(known().updated([Checked("a.xml", [])]).files) == []
    (folder / "a.xml").unlink()
    assert list(known().updated([]).files) == []


def test_paths_are_relative_to_the_baseline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "base.json").write_text(known().text())
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    assert Baseline.read("../base.json").parted("../a.xml", FAULTS)[0] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "base.json: this is not JSON: .*; name the baseline, or write another one"),
        ("[]", "base.json: this is not a baseline of irshape; name the baseline"),
        ('{"version": 2, "files": {}}', "base.json: this is not a baseline"),
        ('{"version": 1, "files": {"a.xml": ["x"]}}', "base.json: this is not a baseline"),
        ('{"version": 1, "files": {"a.xml": {"x": 1}}}', "base.json: this is not a baseline"),
        ('{"version": 1, "files": {"a\\u0000.xml": {}}}', "base.json: this is not a baseline"),
    ],
)
def test_a_file_that_is_no_baseline(folder: Path, content: str, message: str) -> None:
    (folder / "base.json").write_text(content)
    with pytest.raises(BaselineError, match=message):
        Baseline.read("base.json")


def test_json_that_nests_too_deeply_is_no_baseline(folder: Path) -> None:
    (folder / "base.json").write_text("[" * 100_000)
    with pytest.raises(BaselineError, match=r"base.json: this is not JSON: it nests too deeply"):
        Baseline.read("base.json")


def test_a_missing_baseline() -> None:
    with pytest.raises(BaselineError, match=r"absent.json: No such file or directory; --write-baseline absent.json makes a baseline"):
        Baseline.read("absent.json")


def test_a_code_that_is_not_reported_is_not_gone() -> None:
    assert known().stale({"a.xml": []}, lambda path, code: code == "S201") == [
        f"a.xml: {text}" for text in known().files["a.xml"].values() if text.startswith("S201")
    ]
    kept = known().updated([Checked("a.xml", [])], lambda path, code: code != "S201").files["a.xml"]
    assert kept and all(text.startswith("S201") for text in kept.values())


CODES = ["S101", "S201", "S204", "W101", "R301"]


def chosen(*choices: Choice) -> list[str]:
    selection = Selection(choices)
    return [code for code in CODES if selection.severity(code, "error")]


@pytest.mark.parametrize(
    ("choices", "codes"),
    [
        ([], CODES),
        ([Choice(["ALL"])], CODES),
        ([Choice(["S"])], ["S101", "S201", "S204"]),
        ([Choice(["S2", "W101"])], ["S201", "S204", "W101"]),
        ([Choice([])], []),
        ([Choice(None, ["S2"])], ["S101", "W101", "R301"]),
        # The longer prefix wins, whichever of the two it is.
        ([Choice(["S"], ["S2"])], ["S101"]),
        ([Choice(["S201"], ["S2"])], ["S201"]),
        ([Choice(["S2"], ["S201"])], ["S204"]),
        ([Choice(["S2"], ["S2"])], []),
        ([Choice(["W"], ["S2"], ["S204"])], ["S204", "W101"]),
        # A place that selects starts anew; one that does not changes what was chosen.
        ([Choice(["S"], ["S204"]), Choice(["R", "S2"])], ["S201", "S204", "R301"]),
        ([Choice(["S"]), Choice(None, ["S101"], ["R"])], ["S201", "S204", "R301"]),
        ([Choice(None, ["R"]), Choice(None, (), ["R301"])], CODES),
    ],
)
def test_choices(choices: list[Choice], codes: list[str]) -> None:
    assert chosen(*choices) == codes


@pytest.mark.parametrize(
    ("tables", "level"),
    [
        ([], "warning"),
        ([{"R": "error"}], "error"),
        ([{"R": "error", "R301": "note"}], "note"),
        ([{"R301": "note"}, {"R": "error"}], "note"),
        ([{"R3": "note"}, {"R3": "error"}], "error"),
        ([{"ALL": "off"}], None),
        ([{"S": "off"}], "warning"),
    ],
)
def test_severities(tables: list[dict[str, str]], level: str | None) -> None:
    assert Selection([], tables).severity("R301", "warning") == level


def test_the_codes_of_a_selection() -> None:
    assert Selection().codes == list(CATALOGUE)
    assert Selection([Choice(["T"])], [{"T102": "off"}]).codes == ["T101"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s201", "no code begins with 's201'; did you mean S201?"),
        ("all", "no code begins with 'all'; did you mean ALL?"),
        ("S2011", "no code begins with 'S2011'; did you mean S201?"),
        ("", "no code begins with ''"),
    ],
)
def test_prefixes_that_name_no_code(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{message.replace('?', '[?]')}$"):
        checked_prefix(text)


def test_other_severities_keep_the_count_of_faults() -> None:
    """Two faults are listed and three counted; the one that is left out counts no more."""
    found = Diagnostics(most=2)
    for code in ("S201", "S201", "S201", "R301"):
        if found.has_room(code):
            found.append(Diagnostic(code, "message", Where()))
    judged = found.judged(lambda code, severity: "note" if code == "S201" else None)
    assert [(one.code, one.severity, one.count) for one in judged.listed()] == [
        ("S201", "note", 1),
        ("S201", "note", 1),
        ("S201", "note", 1),
    ]
    assert [(one.code, one.severity) for one in found] == [("S201", "error"), ("S201", "error"), ("R301", "warning")]
