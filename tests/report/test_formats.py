"""Reports for other programs: their content for faults of all kinds, their schemas, and that no file can forge a line, a tag or a field."""

import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import jsonschema
import pytest

import irshape
from irshape.cli.conclusion import DOCUMENTS, document
from irshape.cli.main import main
from irshape.report.diagnostic import Diagnostic, Edit, Fix, Where
from irshape.report.documents import Checked, relative
from tests.support.oracle import core
from tests.support.places import DATA, EXAMPLES, IRS
from tests.support.schemas import validator

SCHEMA = json.loads((DATA / "sarif.schema.json").read_text(encoding="utf-8"))
SOURCE = (IRS / "synth" / "if_same.xml").read_text(encoding="utf-8")
NAMES = [
    "plain", "a\nb", "::error file=x::y", "100%0A::error::", "]]></failure><failure>", "\u202eevil\u2066",
    "[click](http://x)", "{0}", "\x85\u2028",
]  # fmt: skip


def faulty(folder: Path, name: str = "plain") -> Path:
    """A file with faults in a body, in a constant, at a port and in an attribute, in a layer of this name."""
    quoted = escape(name, {'"': "&quot;", "\n": "&#10;"})
    text = SOURCE.replace('name="Add_2595"', f'name="{quoted}"').replace('auto_broadcast="numpy"', f'auto_broadcast="{quoted}"', 1)
    text = text.replace('name="Constant_2594"', f'name="c {quoted}"').replace('size="4"', 'size="2"', 1)
    text = text.replace('<port id="0" precision="FP32" names="y">', '<port id="0" precision="FP16" names="y">').replace("If_2599", quoted)
    path = folder / "faulty.xml"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".bin").write_bytes((IRS / "synth" / "if_same.bin").read_bytes())
    return path


def checked(path: Path) -> Checked:
    inference = irshape.check(path)
    return Checked(str(path), inference.diagnostics, is_passed=inference.ok)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder of models: one with faults, one without, one that does not exist."""
    monkeypatch.chdir(tmp_path)
    faulty(tmp_path)
    (tmp_path / "sound.xml").write_bytes((DATA / "sound.xml").read_bytes())
    (tmp_path / "sound.bin").write_bytes((DATA / "sound.bin").read_bytes())
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], format: str, *arguments: str) -> tuple[int, str]:
    code = main(["check", "--format", format, *arguments])
    return code, capsys.readouterr().out


FAULTS = [("A103", "error"), ("W103", "error"), ("R302", "warning")]


def test_sarif(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "sarif", "faulty.xml", "sound.xml", "absent.xml")
    assert code == 2
    log = json.loads(out)
    jsonschema.validate(log, SCHEMA)
    [sarif] = log["runs"]
    assert [(result["ruleId"], result["level"]) for result in sarif["results"]] == [FAULTS[1], FAULTS[0], FAULTS[2]]
    assert [sarif["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] for result in sarif["results"]] == ["W103", "A103", "R302"]
    constant, attribute, port = sarif["results"]
    lines = (folder / "faulty.xml").read_text(encoding="utf-8").split("\n")
    for result, place in ((constant, 'size="2"'), (attribute, 'auto_broadcast="plain"'), (port, '<port id="0" precision="FP16"')):
        where = result["locations"][0]["physicalLocation"]
        assert where["artifactLocation"] == {"uri": "faulty.xml"}
        assert lines[where["region"]["startLine"] - 1][where["region"]["startColumn"] - 1 :].startswith(place)
    assert attribute["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "plain / then_body / Add plain"
    [change] = port["fixes"][0]["artifactChanges"]
    assert [one["insertedContent"]["text"] for one in change["replacements"]] == ['"FP32"']
    [invocation] = sarif["invocations"]
    assert not invocation["executionSuccessful"]
    assert [one["message"]["text"] for one in invocation["toolExecutionNotifications"]] == ["absent.xml: No such file or directory"]


def test_junit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "junit", "faulty.xml", "sound.xml", "absent.xml")
    assert code == 2
    [suite] = ElementTree.fromstring(out)
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {"tests": "3", "failures": "1", "errors": "1"}
    failed, passed, broken = suite
    assert [case.get("name") for case in suite] == ["faulty.xml", "sound.xml", "absent.xml"]
    assert [[child.tag for child in case] for case in suite] == [["failure"], [], ["error"]]
    assert (failed[0].get("message"), failed[0].get("type")) == ("2 errors, 1 warning", "W103")
    assert [re.match(r"faulty\.xml:\d+:\d+: (\w+)", line)[1] for line in failed[0].text.split("\n") if "faulty" in line] == [
        "R302",
        "W103",
        "A103",
    ]  # type: ignore[union-attr, index]
    assert broken[0].get("message") == "absent.xml: No such file or directory"
    assert passed.text is None


def test_junit_passes_what_only_has_warnings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "faulty.xml"
    path.write_text(SOURCE.replace('<port id="0" precision="FP32" names="y">', '<port id="0" precision="FP16" names="y">'))
    for options, tag in (([], "system-out"), (["--strict"], "failure")):
        code, out = run(capsys, "junit", "faulty.xml", *options)
        assert code == len(options)
        assert [child.tag for child in ElementTree.fromstring(out)[0][0]] == [tag]


def test_github(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "github", "faulty.xml", "sound.xml", "absent.xml")
    assert code == 2
    lines = out.splitlines()
    assert lines[0] == "::error file=absent.xml,title=irshape%3A not checked::absent.xml: No such file or directory"
    assert [re.match(r"::(\w+) file=faulty\.xml,line=\d+,col=\d+,title=(\w+)", line).groups() for line in lines[1:]] == [  # type: ignore[union-attr]
        ("error", "W103"),
        ("error", "A103"),
        ("warning", "R302"),
    ]
    assert lines[3].endswith(
        '[Parameter y, port 0]%0Afix: write precision="FP32" (the model computes it, and every layer that reads the tensor records it)'
    )


def test_gitlab(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "gitlab", "faulty.xml", "sound.xml", "absent.xml")
    assert code == 2
    issues = json.loads(out)
    assert [(issue["check_name"], issue["severity"], issue["location"]["path"]) for issue in issues] == [
        ("unreadable", "blocker", "absent.xml"),
        ("R302", "minor", "faulty.xml"),
        ("W103", "critical", "faulty.xml"),
        ("A103", "critical", "faulty.xml"),
    ]
    assert all(issue["location"]["lines"]["begin"] >= 1 and issue["description"] for issue in issues)
    assert len({issue["fingerprint"] for issue in issues}) == 4


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_file_without_faults(folder: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    code, out = run(capsys, format, "sound.xml")
    assert code == 0
    if format == "sarif":
        log = json.loads(out)
        jsonschema.validate(log, SCHEMA)
        assert log["runs"][0]["results"] == []
    elif format == "gitlab":
        assert json.loads(out) == []
    elif format == "junit":
        assert [list(case) for case in ElementTree.fromstring(out)[0]] == [[]]
    else:
        assert out == "\n"


# Hostile files


def texts(value: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    return [text for item in value for text in texts(item)] if isinstance(value, list) else [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("format", DOCUMENTS)
def test_names_cannot_forge_anything(tmp_path: Path, format: str, name: str) -> None:
    """The report of a hostile file has the same structure as that of a harmless one, and all its text is printable."""
    hostile, harmless = (document(format, [checked(faulty(tmp_path, one))]) for one in (name, "plain"))
    if format == "junit":
        one, other = (ElementTree.fromstring(text) for text in (hostile, harmless))
        assert [element.tag for element in one.iter()] == [element.tag for element in other.iter()]
        assert all(line.isprintable() for line in "".join(one.itertext()).split("\n"))
    elif format == "github":
        assert hostile.replace("\n", "").isprintable()
        head = re.compile(r"::\w+ file=[^,:]*,line=\d+,col=\d+,title=\w+ [\w ]+::")
        assert [head.match(line) is not None for line in hostile.split("\n")] == [True] * 3
        assert all(re.search(r"%(?!25|0A)", line) is None for line in hostile.split("\n"))
    else:
        one, other = json.loads(hostile), json.loads(harmless)
        assert len(texts(one)) == len(texts(other))
        assert all(line.isprintable() for text in texts(one) for line in text.split("\n"))
        if format == "sarif":
            jsonschema.validate(one, SCHEMA)


@pytest.mark.skipif(os.name == "nt", reason="such a name is not allowed there")
@pytest.mark.parametrize("format", DOCUMENTS)
def test_paths_cannot_forge_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = "a\n::error::b,c:d%2C]]>\u202e.xml"
    Path(path).write_bytes(faulty(tmp_path).read_bytes())
    code, out = run(capsys, format, path)
    assert code == 1
    if format == "github":
        assert all(
            line.startswith(("::error file=a\\n%3A%3Aerror%3A%3Ab%2Cc%3Ad%252C]]>\\u202e.xml,", "::warning file=a"))
            for line in out.splitlines()
        )
    elif format == "sarif":
        log = json.loads(out)
        jsonschema.validate(log, SCHEMA)
        assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {
            "uri": "a%0A%3A%3Aerror%3A%3Ab%2Cc%3Ad%252C%5D%5D%3E%E2%80%AE.xml"
        }
    elif format == "gitlab":
        assert {issue["location"]["path"] for issue in json.loads(out)} == {path}
    else:
        assert ElementTree.fromstring(out)[0][0].get("name") == "a\\n::error::b,c:d%2C]]>\\u202e.xml"


# Fingerprints


def fingerprints(path: Path) -> list[str]:
    log = json.loads(document("sarif", [checked(path)]))
    return [result["partialFingerprints"]["irshape/v1"] for result in log["runs"][0]["results"]]


def test_fingerprints_do_not_depend_on_lines(tmp_path: Path) -> None:
    path = faulty(tmp_path)
    before = fingerprints(path)
    path.write_text(path.read_text(encoding="utf-8").replace("<layers>", "<layers>\n\n<!-- new -->\n"), encoding="utf-8")
    assert fingerprints(path) == before
    assert len(set(before)) == len(before)


def test_equal_faults_have_fingerprints_of_their_own() -> None:
    twice = [Diagnostic("S201", f"axis {axis}", Where("m.xml", "1", "c", "Concat", None, 3, 4, 10)) for axis in (2, 3)]
    log = json.loads(document("sarif", [Checked("m.xml", twice, is_passed=False)]))
    assert len({result["partialFingerprints"]["irshape/v1"] for result in log["runs"][0]["results"]}) == 2


# Limits


def many(number: int, message: str = "m", severity: str = "warning") -> list[Diagnostic]:
    return [
        Diagnostic("R301", message, Where("m.xml", str(line), None, "Add", None, line, 1, line), severity) for line in range(1, number + 1)
    ]


def test_sarif_leaves_out_the_least_and_says_so() -> None:
    log = json.loads(
        document("sarif", [Checked("m.xml", [*many(4_000), *many(2_000, severity="error"), *many(3, severity="note")], is_passed=False)])
    )
    [run] = log["runs"]
    assert [result["level"] for result in run["results"]] == ["error"] * 2_000 + ["warning"] * 3_000
    [notification] = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith("this report omits 1000 warnings and 3 notes: ")


def test_sarif_stays_below_ten_megabytes() -> None:
    found = many(4_000, "\u4e00" * 5_000)
    text = document("sarif", [Checked("m.xml", found)])
    assert 8_000_000 < len(text) < 10_000_000
    results = len(json.loads(text)["runs"][0]["results"])
    assert f"this report omits {4_000 - results} warnings" in text


def test_github_shows_the_first_of_each_kind() -> None:
    lines = document("github", [Checked("m.xml", [*many(11), *many(10, severity="error")])]).split("\n")
    assert [line.partition(" ")[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 11 + ["::notice"]
    assert lines[-1] == "::notice title=irshape::11 warnings; GitHub shows the first 10 beside the files"


# Places


def test_places_that_explain_a_fault() -> None:
    found = Diagnostic(
        "S201", "m", Where("m.xml", "1", "c", "Concat", None, 3, 4, 10), related=(Where("m.xml", "0", "p", "Const", None, 2, 1, 5),)
    )
    log = json.loads(document("sarif", [Checked("m.xml", [found])]))
    jsonschema.validate(log, SCHEMA)
    [related] = log["runs"][0]["results"][0]["relatedLocations"]
    assert related["physicalLocation"]["region"] == {"startLine": 2, "startColumn": 1}
    assert related["message"] == {"text": "Const p"}


def test_columns_count_characters() -> None:
    """Columns count characters, as the run declares, also for characters of two UTF-16 units."""
    found = Diagnostic("R301", "m", Where("m.xml", line=1, column=7, offset=20))
    found.fix = Fix("t", (Edit(20, 21, "x", 1, 7, 1, 8),), True)
    [run] = json.loads(document("sarif", [Checked("m.xml", [found])]))["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    [replacement] = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 1, "startColumn": 7, "endLine": 1, "endColumn": 8}


def test_paths_are_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert relative(str(tmp_path / "models" / "m.xml")) == relative("./models/../models/m.xml") == "models/m.xml"
    assert relative("..m.xml") == "..m.xml"
    assert relative("../m.xml") == (tmp_path.parent / "m.xml").as_posix()
    text = document("sarif", [Checked("../a b.xml", [Diagnostic("R301", "m", Where())])])
    assert json.loads(text)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")


FILES = sorted([*EXAMPLES.glob("*.xml"), *DATA.glob("*.xml")])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_reports_are_valid(path: Path) -> None:
    for verb in (irshape.infer, irshape.check):
        report = json.loads(json.dumps(verb(path).to_dict()))
        validator("report").validate(report)
        for diagnostic in report["diagnostics"]:
            validator("diagnostics").validate(diagnostic)


@pytest.mark.parametrize("shape", ["[]", "[...]", "[1]", "[1,?,2..5,..8,3..]"])
def test_shapes_in_reports(shape: str) -> None:
    report = irshape.infer(b"<net/>").to_dict() | {"ports": {"0:0": ["f32", shape]}}
    validator("report").validate(report)


@pytest.mark.parametrize("shape", ["", "1,2", "[1,]", "[a]", "[1, 2]", "[-1]"])
def test_shapes_not_in_reports(shape: str) -> None:
    report = irshape.infer(b"<net/>").to_dict() | {"ports": {"0:0": ["f32", shape]}}
    assert not validator("report").is_valid(report)


FILE = DATA / "twenty.xml"
PLANTED = [
    (number, code)
    for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1)
    for code in re.findall(r"<!-- ([A-Z]\d{3}) -->", line)
]


def test_every_planted_fault_is_found_and_nothing_else() -> None:
    found = [(d.where.line, d.code) for d in irshape.check(FILE).diagnostics]
    assert sorted(found) == PLANTED


def test_twenty_kinds_are_planted() -> None:
    codes = {code for _, code in PLANTED}
    assert len(PLANTED) == len(codes) == 20
    assert {code[0] for code in codes} == set("XGATSVW")


@pytest.mark.oracle
def test_openvino_refuses_the_file() -> None:
    with pytest.raises(RuntimeError):
        core().read_model(FILE)
