"""The settings of `irshape check` as a user meets them: codes, configuration, known faults, inputs of mixed folders, reports."""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.test_cli import ROOT, net
from tests.support.commands import Start
from tests.support.ir import Net


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder has `models` with a sound model, one with an error (S204) and a warning (R104), and one in `models/drafts`."""
    (tmp_path / "models" / "drafts").mkdir(parents=True)
    net(tmp_path / "models" / "a.xml", "f32[1,3,8,8]")
    net(tmp_path / "models" / "b.xml", "f32[1,3,8,9]", loose=1)
    net(tmp_path / "models" / "drafts" / "c.xml", "f32[1,3,9,9]")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def configure(text: str, name: str = "irshape.toml") -> None:
    Path(name).write_text(text, encoding="utf-8")


def found(out: str) -> list[str]:
    """The faults of a report, in the order of files and codes: `b S204`."""
    return sorted(f"{Path(line.split(':')[0]).stem} {line.split()[1]}" for line in out.splitlines() if line.startswith(("models", "-:")))


# codes


@pytest.mark.parametrize(
    ("options", "faults", "code"),
    [
        ([], ["b R104", "b S204", "c S204", "c S204"], 1),
        (["--select", "R"], ["b R104"], 0),
        (["--select", "R", "--strict"], ["b R104"], 1),
        (["--select", "S,R1"], ["b R104", "b S204", "c S204", "c S204"], 1),
        (["--select", "S", "--ignore", "S204"], [], 0),
        (["--ignore", "S", "--extend-select", "S204"], ["b R104", "b S204", "c S204", "c S204"], 1),
        (["--exclude", "drafts"], ["b R104", "b S204"], 1),
        (["--exclude", "b.xml", "--exclude", "models/drafts/*.xml"], [], 0),
        (["--exclude", "b.xml,drafts"], [], 0),
        (["--exit-zero"], ["b R104", "b S204", "c S204", "c S204"], 0),
    ],
)
def test_codes_and_files_are_chosen(run: Start, options: list[str], faults: list[str], code: int) -> None:
    done = run("check", "models", *options)
    assert (found(done.out), done.code, done.err) == (faults, code, "")


def test_what_keeps_a_file_from_being_read_is_always_reported(run: Start) -> None:
    Path("models/a.xml").write_text("<net")
    assert found(run("check", "models/a.xml", "--select", "W").out) == ["a X101"]


def test_a_fix_mends_only_what_is_selected(run: Start) -> None:
    Path("models/a.xml").write_text(Path("models/a.xml").read_text().replace('precision="FP32"', 'precision="FP16"', 1))
    assert "fixed" not in run("check", "models/a.xml", "--fix", "--ignore", "R302").out
    assert "fixed" in run("check", "models/a.xml", "--fix").out


# what is printed


def test_statistics(run: Start) -> None:
    assert run("check", "models", "--statistics").lines == [
        "3  S204 [ ] not a multiple",
        "1  R104 [ ] unknown attribute",
        "3 files, 9 layers: 3 errors, 1 warning",
    ]
    rows = json.loads(run("check", "models", "--statistics", "--format", "json").out)
    assert rows["statistics"][0] == {"code": "S204", "title": "not a multiple", "count": 3, "mendable": 0}


def test_quiet_prints_faults_alone(run: Start) -> None:
    assert run("check", "models/a.xml", "--quiet").out == ""
    lines = run("check", "models", "-q").lines
    assert [line for line in lines if not line.startswith(("models", "    "))] == []


def test_a_terminal_is_told_of_the_codes(run: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run("check", "models", "--color", "never").out.endswith("\nirshape rule CODE explains a code, as in irshape rule R104\n")
    assert "irshape rule" not in run("check", "models/a.xml").out + run("check", "models", "-q").out


def test_a_report_into_a_file(run: Start) -> None:
    expected = run("check", "models").out
    done = run("check", "models", "--output-file", "report.txt")
    assert (done.code, done.out, Path("report.txt").read_text()) == (1, "", expected)
    done = run("check", "models", "--output-file", "absent/report.txt")
    assert (done.code, done.err) == (2, "irshape: absent/report.txt: there is no folder absent; make it first\n")


def test_several_reports_of_one_run(run: Start) -> None:
    done = run("check", "models", "--format", "github", "--report", "sarif=out.sarif", "--report", "junit=out.xml")
    assert done.out.startswith("::error file=models/b.xml,")
    assert len(json.loads(Path("out.sarif").read_text())["runs"][0]["results"]) == 4
    assert 'failures="2"' in Path("out.xml").read_text()


def test_standard_input(run: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    configure('[per-file."models/b.xml"]\nignore = ["R"]')
    for options, faults in (([], ["- R104", "- S204"]), (["--stdin-filename", "models/b.xml"], ["b S204"])):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(Path("models/b.xml").read_bytes())))
        assert found(run("check", "-", *options).out) == faults


# configuration


def test_a_configuration_is_found_and_the_command_line_beats_it(run: Start) -> None:
    configure('[tool.irshape]\nselect = ["S"]\nexclude = ["drafts"]\n', "pyproject.toml")
    assert found(run("check", "models").out) == ["b S204"]
    assert found(run("check", "models", "--select", "R").out) == ["b R104"]
    assert found(run("check", "models", "--isolated").out) == ["b R104", "b S204", "c S204", "c S204"]
    assert found(run("check", "models", "--isolate").out) == ["b R104", "b S204", "c S204", "c S204"]
    configure('ignore = ["S"]', "other.toml")
    assert found(run("check", "models", "--config", "other.toml").out) == ["b R104"]


def test_workers_use_the_configuration(run: Start) -> None:
    configure('select = ["S"]\n[per-file."b.xml"]\nseverity = { S = "note" }')
    done = run("check", "models", "--jobs", "2", "--exclude", "drafts")
    assert (found(done.out), done.code) == (["b S204"], 0)
    assert "S204 note: " in done.out


def test_a_file_that_is_named_is_checked_although_excluded(run: Start) -> None:
    configure('exclude = ["drafts"]')
    assert found(run("check", "models/drafts/c.xml").out) == ["c S204", "c S204"]
    assert found(run("check", "models/drafts").out) == ["c S204", "c S204"]
    done = run("check", "models/drafts/c.xml", "--force-exclude")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_other_xml_that_is_named_can_be_passed_over(run: Start) -> None:
    Path("pom.xml").write_text("<project/>")
    assert "X104" in run("check", "pom.xml").out
    Path("README.md").write_text("# Models")
    done = run("check", "pom.xml", "README.md", "--skip-foreign")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_links_to_folders_are_followed_once(run: Start, models: Path) -> None:
    (models / "drafts" / "up").symlink_to(models)
    (models.parent / "linked").mkdir()
    (models.parent / "linked" / "in").symlink_to(models)
    assert run("check", "linked").code == 2
    assert len(found(run("check", "linked", "--follow-links", "-q").out.replace("linked", "models"))) == 4
    configure("follow-links = true")
    assert len(found(run("check", "linked", "-q").out.replace("linked", "models"))) == 4


def test_all_that_a_table_sets_reaches_the_check(run: Start, models: Path) -> None:
    model = Net("_sizes: [1,3,8,10]\nf32[?] -> Reshape(_sizes, special_zero=true) -> Result")
    (models / "d.xml").write_text(model.xml)
    (models / "kept.bin").write_bytes(bytes(model.weights))
    configure(
        '[per-file."d.xml"]\nweights = "models/kept.bin"\ninputs = { parameter_1 = "[N]" }\nsymbols = { N = "300" }\n'
        'targets = ["static-shapes"]\nlimits = { rank = 3 }\n'
    )
    assert "X111" in run("check", "models/d.xml").out
    done = run("check", "models/d.xml", "--limit", "rank=9")
    assert "S201" in done.out, done.out  # 300 elements do not fit 240
    assert "W101" not in done.out
    configure('[per-file."d.xml"]\nweights = "models/kept.bin"\ntargets = ["static-shapes"]')
    assert "P101" in run("check", "models/d.xml").out
    assert run("check", "models/d.xml", "--input", "[240]").code == 0


def test_opaque_operations_of_a_table(run: Start, models: Path) -> None:
    (models / "a.xml").write_text((models / "a.xml").read_text().replace("SpaceToDepth", "MyOp"))
    configure('opaque = ["MyOp"]')
    assert found(run("check", "models/a.xml").out) == ["a G117"]


def test_settings_are_shown(run: Start) -> None:
    configure('select = ["T"]\n[severity]\nT102 = "note"\n[per-file."b.xml"]\ntargets = ["npu"]\ninputs = { x = "[1,H]" }')
    done = run("check", "--show-settings", "models/b.xml", "models/a.xml", "--extend-select", "W101")
    assert done.code == 0
    assert (
        done.out.split("\n\n")
        if "\n\n" in done.out
        else done.lines
        == [
            '# models/b.xml: irshape.toml, per-file "b.xml"',
            'select = ["T101", "T102", "W101"]',
            'targets = ["npu"]',
            'severity = {"T102" = "note"}',
            'inputs = {"x" = "[1,H]"}',
            "",
            "# models/a.xml: irshape.toml",
            'select = ["T101", "T102", "W101"]',
            'severity = {"T102" = "note"}',
        ]
    )
    below = run("check", "--show-settings", "models").out
    assert '# models/b.xml: irshape.toml, per-file "b.xml"' in below and "# models/a.xml: irshape.toml" in below
    Path("irshape.toml").unlink()
    assert run("check", "--show-settings", "models/a.xml").out == '# models/a.xml: no configuration\nselect = ["ALL"]\n'


# known faults


def test_a_baseline_from_first_to_last(run: Start, models: Path) -> None:
    done = run("check", "models", "--write-baseline", "base.json", "-q")
    assert (done.code, done.err) == (0, "")
    done = run("check", "models", "--baseline", "base.json")
    assert (done.code, done.out) == (0, "3 files, 9 layers: no faults (4 known faults in the baseline)\n")
    # Another fault is reported, one that is gone is named, and moved lines change nothing.
    net(models / "a.xml", "f32[1,3,8,9]")
    (models / "b.xml").write_text("\n\n" + (models / "b.xml").read_text().replace(' loose="1"', ""))
    done = run("check", "models", "--baseline", "base.json", "--ignore", "X201")
    assert (found(done.out), done.code) == (["a S204"], 1)
    assert done.err == (
        "irshape: warning: base.json: 1 known fault is gone (models/b.xml: R104 SpaceToDepth spacetodepth_1); "
        "--write-baseline base.json removes it\n"
    )
    configure('baseline = "base.json"\nignore = ["X201"]')
    assert found(run("check", "models", "--jobs", "2").out) == ["a S204"]
    done = run("check", "models/b.xml")
    assert (done.code, done.out) == (0, "1 file, 3 layers: no faults (1 known fault in the baseline)\n")
    assert run("check", "models/b.xml", "--strict").code == 1
    assert run("check", "models", "--write-baseline", "base.json").err == "irshape: base.json: 4 known faults of 3 files\n"
    assert run("check", "models", "--strict").code == 0


# inputs of mixed folders


def test_an_input_applies_where_it_fits(run: Start, models: Path) -> None:
    (models / "drafts" / "c.xml").write_text((models / "drafts" / "c.xml").read_text().replace("parameter_0", "other"))
    assert found(run("check", "models", "--input", "parameter_0[1,3,8,8]", "--select", "S").out) == ["c S204", "c S204"]
    assert found(run("check", "models", "--input", "other[1,3,H,W]", "--set", "H=2*k", "--select", "S").out) == ["b S204"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--input", "parametre_0[1,3,8,8]"],
            "--input 'parametre_0[1,3,8,8]' does not fit any of 3 files; models/a.xml: the model has no input 'parametre_0'; "
            "inputs of the model: 'parameter_0'; did you mean 'parameter_0'?",
        ),
        (["--input", "[8,8]"], "--input '[8,8]' does not fit any of 3 files; models/a.xml: the input 'parameter_0' has rank 4, not 2"),
        (["--set", "H=8"], "--set H does not fit any of 3 files; models/a.xml: the model has no symbol 'H'"),
    ],
)
def test_an_input_that_fits_no_file(run: Start, options: list[str], message: str) -> None:
    done = run("check", "models", *options)
    assert (done.code, done.err) == (2, f"irshape: {message}\n")
    assert len(found(done.out)) == 4


def test_an_input_of_a_configuration_that_fits_no_file_is_a_warning(run: Start) -> None:
    configure('inputs = { image = "[1,3,8,8]" }')
    done = run("check", "models/a.xml")
    assert done.code == 0
    assert done.err.startswith("irshape: warning: inputs.image of irshape.toml does not fit the file; models/a.xml: the model has no input")


def test_an_input_of_a_table_is_measured_by_the_files_of_the_table(run: Start) -> None:
    configure('[per-file."b.xml"]\ninputs = { image = "[1,3,8,8]", parameter_0 = "[1,3,H,8]" }\nsymbols = { H = "8", W = "8" }')
    done = run("check", "models", "--select", "S", "--exclude", "drafts")
    assert (done.code, found(done.out)) == (0, [])
    assert [line.split(" of ")[0] for line in done.err.splitlines()] == ["irshape: warning: inputs.image", "irshape: warning: symbols.W"]


def test_other_commands_take_inputs_where_they_fit(run: Start, models: Path) -> None:
    (models / "drafts" / "c.xml").write_text((models / "drafts" / "c.xml").read_text().replace("parameter_0", "other"))
    for command in ("infer", "info", "sizes"):
        done = run(command, "models/a.xml", "models/drafts/c.xml", "--input", "other[1,3,8,16]")
        assert "no input" not in done.err
        assert command == "sizes" or "f32[1,3,8,16]" in done.out


# options that cannot be combined


@pytest.mark.parametrize(("configuration", "options", "message"), [
    ("", "--statistics --format sarif", "--statistics prints text or json"),
    ("", "--isolated --config x.toml", "--isolated uses no configuration"),
    ("", "--baseline x --write-baseline x", "--write-baseline brings a baseline up to date"),
    ("", "-", "FILE - reads standard input and takes no other FILE"),
    ("", "--stdin-filename x.xml", "--stdin-filename needs FILE -"),
    ("", "--report text=x", "'text=x' is not FORMAT=FILE; the formats are sarif, junit, github, gitlab"),
    ("", "--config absent.toml", "absent.toml: No such file or directory"),
    ("", "--select S9", "irshape check: argument --select: no code begins with 'S9'; irshape rule lists the codes"),
    ("", "--severity S204", "argument --severity: "),
    ("", "--severity S204=bad", "argument --severity: "),
    ("", "--severity Q=error", "argument --severity: "),
    ("", "--exclude *.xml --exclude drafts", "irshape: models: exclude matches every .xml file in this folder\n"),
    ('baseline = "base.json"', "",
     "irshape: base.json: No such file or directory; --write-baseline base.json makes a baseline\n"),
    ('selct = ["S"]\nignore = ["Q"]', "",
     "irshape: irshape.toml:1: selct: there is no such key; did you mean 'select'?\n"
     "irshape: irshape.toml:2: ignore.0: no code begins with 'Q'\n"),
])  # fmt: skip
def test_settings_that_end_the_run(run: Start, configuration: str, options: str, message: str) -> None:
    configure(configuration)
    done = run("check", "models", *options.split())
    assert (done.code, done.out) == (2, "")
    assert message in done.err and done.err.count("\n") == max(message.count("\n"), 1)


def test_a_run_without_configuration_loads_nothing_for_one() -> None:
    code = (
        "import sys; from irshape.cli.main import main; main(['check', 'models/a.xml']);"
        "print(*(name for name in ('tomllib', 'pydantic', 'difflib', 'irshape.report.selection', 'irshape.settings.schema', "
        "'irshape.settings.globs', 'irshape.report.baseline', 'irshape.diagnosis.suppression') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
    assert done.stdout == "1 file, 3 layers: no faults\n\n"


# severities, the schema, weights


@pytest.mark.parametrize(("configuration", "options", "code", "faults"), [
    ("", "", 1, ["b R104", "b S204"]),
    ("", "--severity S204=warning", 0, ["b R104", "b S204"]),
    ("", "--severity S204=warning --severity R=error", 1, ["b R104", "b S204"]),
    ("", "--severity S=off", 0, ["b R104"]),
    ("", "--severity S=off --severity S204=error", 1, ["b R104", "b S204"]),
    ('[severity]\nS204 = "off"\n', "", 0, ["b R104"]),
    ('[severity]\nS204 = "off"\n', "--severity S204=note", 0, ["b R104", "b S204"]),
])  # fmt: skip
def test_severity(run: Start, configuration: str, options: str, code: int, faults: list[str]) -> None:
    configure(configuration)
    result = run("check", "models/b.xml", *options.split())
    assert (result.code, found(result.out)) == (code, faults)


@pytest.mark.parametrize("options", [["--extend-select", "X202"], ["--select", "X"], ["--select", "ALL"]])
def test_the_schema_is_asked_where_its_code_is_selected(run: Start, options: list[str]) -> None:
    path = Path("models/a.xml")
    path.write_text(path.read_text().replace("<layers>", '<layers count="2">'))
    assert found(run("check", path).out) == []
    assert found(run("check", path, *options).out) == ["a X202"]
    assert found(run("check", path, *options, "--ignore", "X202").out) == []


def test_weights_that_are_not_read(run: Start) -> None:
    model = Net("[1,2] -> Result")
    Path("models/w.xml").write_text(model.xml)
    assert found(run("check", "models/w.xml").out) == ["w W203"]
    assert found(run("check", "models/w.xml", "--no-weights").out) == ["w N108"]
    configure("weights = false\n")
    assert found(run("check", "models/w.xml").out) == ["w N108"]
    assert "weights = false" in run("check", "--show-settings", "models/w.xml").out
    configure("weights = true\n")
    assert "expected the path of a .bin file, or false" in run("check", "models/w.xml").err


def test_the_folder_of_a_saved_model(run: Start) -> None:
    Path("saved").mkdir()
    Path("saved/saved_model.pb").write_bytes(b"")
    for command in (["check", "saved"], ["infer", "saved"], ["explain", "saved", "x"]):
        result = run(*command)
        assert (result.code, "convert it to an IR: ovc saved" in result.err) == (2, True)
