"""Configurations: where they are found, what they may hold, and every fault with its file and line."""

import re
import shutil
import sys
import time
import tomllib
from pathlib import Path

import pytest

from irshape.cli.main import main
from irshape.report.selection import Choice
from irshape.settings.globs import Globs
from irshape.settings.read import ConfigurationError, _line_of, _lines, find, read_configuration
from irshape.settings.settings import Settings
from tests.support.places import ATROUS, EXAMPLES
from tests.support.schemas import validator

WHOLE = """\
select = ["ALL"]
ignore = ["R104"]
extend-select = ["R1"]
exclude = ["drafts", "**/old/*.xml"]
follow-links = true
baseline = "irshape-baseline.json"
opaque = ["MyOp"]
targets = ["bounded"]

[severity]
R301 = "note"

[limits]
depth = 128

[per-file."detectors/*.xml"]
ignore = ["S206"]
severity = { S204 = "warning" }
inputs = { image = "[1,3,H,W]", mask = [1, "H", -1] }
symbols = { H = "32..1024" }
opaque = ["Theirs"]
targets = ["max-rank=4", "bounded"]
limits = { depth = 64, terms = 8 }
weights = "detectors/shared.bin"
extensions = ["acme.toml"]
"""


def write(folder: Path, text: str, name: str = "irshape.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


# where a configuration is found


def test_the_nearest_configuration_upwards(tmp_path: Path) -> None:
    outer = write(tmp_path, "[tool.irshape]", "pyproject.toml")
    inner = write(tmp_path / "a" / "b", "")
    write(tmp_path / "a" / "c", "[tool.ruff]\n[project]\nname = 'irshape'", "pyproject.toml")
    known: dict[str, str | None] = {}
    found = {folder: find(str(tmp_path / folder), known) for folder in ("a", "a/b", "a/b/deep", "a/c", ".")}
    assert found == {"a": str(outer), "a/b": str(inner), "a/b/deep": str(inner), "a/c": str(outer), ".": str(outer)}


def test_its_own_file_comes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path, "[tool.irshape]", "pyproject.toml")
    own = write(tmp_path, "")
    assert find(str(tmp_path), {}) == str(own)


def test_a_pyproject_that_names_irshape_and_is_broken_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "[tool.irshape\n", "pyproject.toml")
    with pytest.raises(ConfigurationError, match=r"pyproject.toml:1: this is not TOML: "):
        read_configuration(find(str(tmp_path), {}) or "")
    path.write_text("[tool.ruff\n")
    assert find(str(tmp_path), {}) != str(path)


# what it holds


def test_every_key_is_read(tmp_path: Path) -> None:
    found = read_configuration(str(write(tmp_path, WHOLE)))
    assert found.select == ["ALL"]
    assert found.severity == {"R301": "note"}
    (glob, table), *_ = found.per_file.items()
    assert (glob, table.inputs) == ("detectors/*.xml", {"image": "[1,3,H,W]", "mask": "[1,H,-1]"})


def test_pyproject_holds_the_same_keys(tmp_path: Path) -> None:
    text = WHOLE.replace("[severity]", "[tool.irshape.severity]").replace("[limits]", "[tool.irshape.limits]")
    text = "[tool.irshape]\n" + text.replace("[per-file", "[tool.irshape.per-file")
    assert (
        read_configuration(str(write(tmp_path, text, "pyproject.toml"))).model_dump()
        == read_configuration(str(write(tmp_path, WHOLE))).model_dump()
    )


def test_tables_of_a_file_come_on_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, WHOLE)
    monkeypatch.chdir(tmp_path)
    plain, own = Settings().of("a.xml"), Settings().of("detectors/b.xml")
    assert (plain.tables, own.tables) == ((), ("detectors/*.xml",))
    assert own.opaque == ("MyOp", "Theirs")
    assert [Path(file).name for file in own.extensions] == ["acme.toml"]
    assert own.targets == ("bounded", "max-rank=4")
    assert own.limits == {"depth": 64, "terms": 8}
    assert own.weights == str(Path("detectors", "shared.bin"))
    assert own.baseline == plain.baseline == "irshape-baseline.json"
    assert own.selection is not None
    assert plain.selection is not None
    assert (plain.selection.severity("S206", "error"), own.selection.severity("S206", "error")) == ("error", None)
    assert own.selection.severity("S204", "error") == "warning"
    assert own.selection.severity("R301", "warning") == "note"
    assert own.selection.severity("R104", "warning") is None


def test_the_command_line_selects_anew_but_codes_stay_ignored_in_files(tmp_path: Path) -> None:
    write(tmp_path, WHOLE)
    settings = Settings(choice=Choice(["R1", "S2"]))
    plain, own = settings.of(str(tmp_path / "a.xml")).selection, settings.of(str(tmp_path / "detectors" / "b.xml")).selection
    assert plain is not None
    assert own is not None
    assert plain.severity("R104", "warning") == "warning"
    assert plain.severity("X101", "error") is None
    assert (plain.severity("S206", "error"), own.severity("S206", "error")) == ("error", None)


def test_excludes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'exclude = ["drafts"]')
    monkeypatch.chdir(tmp_path)
    settings = Settings(exclude=["*.tmp.xml"])
    assert settings.excludes("models/drafts", is_found=True)
    assert settings.excludes("models/a.tmp.xml", is_found=True)
    assert not settings.excludes("models/drafts/a.xml", is_found=True)
    assert settings.excludes("models/drafts/a.xml", is_found=False)
    assert not Settings(is_isolated=True).excludes("models/drafts/a.xml", is_found=False)


# faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["S"]', "1: selct: there is no such key; did you mean 'select'?"),
        ("extend_select = []", "1: extend_select: there is no such key; did you mean 'extend-select'?"),
        ('\nignore = [\n"S9"]', "2: ignore.0: no code begins with 'S9'"),
        ('ignore = "S201"', "1: ignore: expected a list, found 'S201'"),
        ('[severity]\nS = "fatal"', "2: severity.S: expected 'error', 'warning', 'note' or 'off', found 'fatal'"),
        ('severity = { Q = "off" }', "1: severity.Q: no code begins with 'Q'"),
        ("[limits]\ndept = 3", "1: limits: there is no limit 'dept'; did you mean 'depth'?"),
        ("[limits]\nlevels = 65", "1: limits: levels must be at most 64, got 65"),
        ("[limits]\ndepth = 0", "2: limits.depth: expected greater than or equal to 1, found 0"),
        ('[limits]\ndepth = "deep"', "2: limits.depth: expected an integer, found 'deep'"),
        (
            'targets = ["gpu"]',
            "1: targets.0: there is no target 'gpu'; the targets are static-shapes, bounded, ranked, npu, named-outputs and max-rank=N",
        ),
        ('[per-file.a]\n[per-file.b]\n"select" = ["S"]', "3: per-file.b.select: there is no such key; did you mean 'extend-select'?"),
        ('[per-file."*.xml".inputs]\nx = "[1,"', "2: per-file.*.xml.inputs.x: cannot read '[1,' at character 1: '[' is never closed"),
        ("[per-file.a]\ninputs.x = [1.5]", "2: per-file.a.inputs.x: expected a string, found [1.5]"),
        ('symbols.H = "5..3"', "1: symbols.H: cannot read '5..3' at character 1: the lower bound 5 is larger than the upper bound 3"),
        ("follow-links = 1", "1: follow-links: expected a boolean, found 1"),
        ("select = [", "1: this is not TOML: Invalid value"),
        (  # all faults, in the order of lines
            'ignore = ["Z"]\nfolow-links = true\n\n[severity]\nR = "loud"\n',
            "1: ignore.0: no code begins with 'Z'\nirshape.toml:2: folow-links: there is no such key; did you mean 'follow-links'?\n"
            "irshape.toml:5: severity.R: expected 'error', 'warning', 'note' or 'off', found 'loud'",
        ),
    ],
)
def test_a_fault_has_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, text)
    with pytest.raises(ConfigurationError) as error:
        read_configuration("irshape.toml")
    assert str(error.value) == f"irshape.toml:{message}"


def test_the_line_of_a_key() -> None:
    text = '[tool]\n[tool.irshape]\nselect = []\n[tool.irshape.per-file."a=b]"]\ninputs = { x = 1 }\nsymbols.H = 2\n'
    lines = {("select",): 3, ("per-file", "a=b]"): 4, ("per-file", "a=b]", "inputs", "x"): 5, ("per-file", "a=b]", "symbols", "H"): 6}
    for keys, line in lines.items():
        assert _line_of(_lines(text), ("tool", "irshape", *keys)) == line


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent.toml: No such file"):
        read_configuration(str(tmp_path / "absent.toml"))
    (tmp_path / "irshape.toml").write_bytes(b'select = ["\xff"]')
    with pytest.raises(ConfigurationError, match=r"the file is not UTF-8: .*; save it as UTF-8"):
        read_configuration(str(tmp_path / "irshape.toml"))


def test_a_configuration_without_pydantic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(ConfigurationError, match="reading a configuration needs pydantic: pip install pydantic"):
        read_configuration(str(write(tmp_path, "")))


# what a configuration from a stranger may not do


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('weights = "../secret.bin"', "weights"),
        ('weights = "link.bin"', "weights"),
        ('extensions = ["ok.toml", "../secret.toml"]', "extensions.1"),
        ('baseline = "/etc/hosts"', "baseline"),
        ('baseline = "a\\u0000b"', "baseline"),
        ('[per-file."*"]\nweights = "deep/../../secret.bin"', "per-file.*.weights"),
    ],
)
def test_its_paths_stay_in_its_folder(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / "secret.bin").write_text("secret")
    path = write(tmp_path / "repository", text)
    (path.parent / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(
        ConfigurationError, match=rf"irshape.toml:\d: {re.escape(key)}: .* leads out of the folder .*--trust-config allows it"
    ):
        read_configuration(str(path))
    assert read_configuration(str(path), is_trusted=True)


def test_a_link_is_not_followed_to_a_configuration_elsewhere(tmp_path: Path) -> None:
    secret = write(tmp_path, "token = 'secret'", "secret.toml")
    link = tmp_path / "repository" / "irshape.toml"
    link.parent.mkdir()
    link.symlink_to(secret)
    with pytest.raises(ConfigurationError, match="a link to a file outside of its folder; --trust-config") as error:
        Settings().of(str(link.parent / "a.xml"))
    assert "token" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "select = " + "[" * 5_000,
        ".".join("a" * 40_000) + "=1",
        "x = " + "1" * 5_000,
        "[" + "a" * 500_000,
        "[" + "a.'b'" * 100_000,
        "\n".join(f"k{number} = 1" for number in range(20_000)),
        "#" * (1 << 20) + "#",
    ],
    ids=["nested", "dotted", "digits", "header", "quotes", "faults", "large"],
)
def test_a_hostile_file_is_refused_soon(tmp_path: Path, text: str) -> None:
    began = time.process_time()
    with pytest.raises(ConfigurationError) as error:
        read_configuration(str(write(tmp_path, text)))
    assert time.process_time() - began < 3
    assert len(str(error.value)) < 50_000


def test_many_tables_for_many_files(tmp_path: Path) -> None:
    write(tmp_path, "\n".join(f'[per-file."*{number}*.xml"]\nignore = ["R104"]' for number in range(3_000)))
    settings = Settings()
    began = time.process_time()
    tables = [len(settings.of(str(tmp_path / f"m{number}.xml")).tables) for number in range(200)]
    assert (tables[0], tables[123]) == (1, 6)  # 1, 2, 3, 12, 23, 123
    assert time.process_time() - began < 4


# the schema


def test_the_schema_accepts_what_is_read() -> None:
    validator("configuration").validate(tomllib.loads(WHOLE))
    validator("configuration").validate({})


@pytest.mark.parametrize(
    "text",
    ['selct = ["S"]', 'ignore = ["S9"]', 'severity.S = "fatal"', "limits.dept = 3", "limits.depth = 0", '[per-file.a]\nselect = ["S"]'],
)
def test_the_schema_refuses_what_is_refused(text: str) -> None:
    assert not validator("configuration").is_valid(tomllib.loads(text))


def test_a_glob_that_names_no_file_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, '[per-file."detector/*.xml"]\nignore = ["R104"]\n[per-file."*.xml"]\nignore = ["R104"]')
    shutil.copy(ATROUS, tmp_path / "m.xml")
    shutil.copy(EXAMPLES / "atrous.bin", tmp_path / "m.bin")
    assert main(["check", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert "irshape.toml: the glob 'detector/*.xml' of per-file names none of the files" in said and "'*.xml' of" not in said
    main(["check", str(tmp_path), "--exclude", "detector"])
    assert "names none of the files" not in capsys.readouterr().err
    (tmp_path / "detector").mkdir()
    assert main(["check", str(tmp_path / "m.xml")]) == 0 and "per-file" not in capsys.readouterr().err  # others may be named


@pytest.mark.parametrize(
    ("glob", "missing"),
    [
        ("detector/*.xml", "detector"),
        ("models/older/**", "models/older"),
        ("./models/n.xml", "models/n.xml"),
        ("/n.xml", "n.xml"),
        ("models/n*.xml", ""),
        ("n.xml", ""),  # at any depth
        ("**/detector/*.xml", ""),
        ("models/", ""),
    ],
)
def test_a_glob_above_the_files_is_said_whose_folder_is_missing(
    glob: str, missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, f'[per-file."{glob}"]\nignore = ["R104"]')
    shutil.copytree(EXAMPLES, tmp_path / "models", ignore=lambda folder, names: {one for one in names if "atrous" not in one})
    for path in ("models", "models/atrous.xml"):
        assert main(["check", str(tmp_path / path)]) == 0
        said = capsys.readouterr().err
        assert ("per-file" in said) == bool(missing)
        assert not missing or f"the glob {glob!r} of per-file names none of the files: there is no {missing!r}\n" in said


@pytest.mark.parametrize(("glob", "path", "is_named"), [
    ("*.xml", "a/b.xml", True), ("a/*.xml", "a/b.xml", True), ("a/*.xml", "a/c/b.xml", False),
    ("a/**/b.xml", "a/b.xml", True), ("a/**/b.xml", "a/c/d/b.xml", True), ("a/**", "a/c/b.xml", True),
    ("**/old/*.xml", "old/a.xml", True), ("drafts", "x/drafts", True), ("/drafts", "x/drafts", False),
    ("./drafts/", "drafts", True), ("m[0-9].xml", "m1.xml", True), ("m[!0-9].xml", "m1.xml", False),
    ("m?.xml", "m/.xml", False), ("a.xml", "aXxml", False), ("a[b", "a[b", True),
])  # fmt: skip
def test_names(glob: str, path: str, is_named: bool) -> None:
    assert Globs([glob]).names(path) == is_named


def test_a_folder_covers_everything_below() -> None:
    assert Globs(["drafts"]).covering("a/drafts/deep/b.xml")
    assert Globs(["*.xml", "a/drafts"]).covering("a/drafts/b.txt")
    assert not Globs(["drafts"]).names("a/drafts/b.xml")
    assert not Globs(["drafts"]).covering("a/draft/b.xml")


@pytest.mark.parametrize("glob", ["[]", "[!]", "[z-a]", "[", "[]a]", "[a-]", "\\", "(", "**", "***", "/", "", "\0"])
def test_any_text_is_a_glob(glob: str) -> None:
    assert not Globs([glob, "a.xml"]).names("b/c.txt") or glob in ("**", "***")
    assert Globs([glob, "a.xml"]).names("a.xml")


def test_many_globs_are_told_apart() -> None:
    globs = Globs([f"m{number}*.xml" for number in range(2000)] + ["**/x/*", "m7"])
    assert globs.covering("a/m1999.xml") == (1, 19, 199, 1999)
    assert globs.covering("m7/x/b") == (2000, 2001)
    assert globs.covering("none") == ()


def test_stars_take_no_time_that_grows_beyond_the_path() -> None:
    """Of a backtracking matcher, each of these stars would double the work."""
    globs = Globs(["*a" * 500 + "c", "**/a/" * 500 + "c", "*" * 1000 + "c"])
    assert not globs.covering("a" * 4000)
    assert not globs.covering("a/" * 2000)
