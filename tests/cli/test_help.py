"""What a newcomer types first: help, `irshape FILE`, completion; what repeats, selects and pages; lines that are read without argparse."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from irshape import verbs
from irshape.cli import overview
from irshape.cli.arguments import COMMANDS, Rare
from irshape.cli.examination import Extended
from irshape.cli.main import main
from irshape.cli.parser import Parser, parser
from irshape.cli.plain import parse
from irshape.report.terminal import lines
from irshape.report.text import Palette
from tests.page.generated import transformer
from tests.support.ir import Net
from tests.support.places import EXAMPLES, ROOT

INSTALL = "install irshape with its packages: pip install ."


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT)


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[str]:
    """The lines that a run prints."""
    assert main(words) == code
    return capsys.readouterr().out.splitlines()


def command(name: str) -> Parser:
    """The parser of a command."""
    return parser([name])._subparsers._group_actions[0].choices[name]  # type: ignore[union-attr,index,no-any-return]


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=str)
def test_no_help_is_longer_than_a_screen(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, *words, "-h")
    assert 10 < len(lines) <= 60
    assert ("       irshape FILE... [OPTIONS]" in lines) == (not words)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_whole_help_has_every_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    actions = command(name)._actions
    rare = {action.option_strings[-1] for action in actions if isinstance(action.help, Rare)}
    short = "\n".join(printed(capsys, name, "-h"))
    assert not {option for option in rare if f" {option} " in short.replace("\n", " ").replace("--help-all lists", "")}
    if rare:
        whole = "\n".join(printed(capsys, name, "--help-all"))
        assert [action.option_strings for action in actions if any(option not in whole for option in action.option_strings)] == []
        assert f"irshape {name} --help-all lists {len(rare)} more options" in short


def test_options_stand_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "check", "-h")
    assert [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")] == [
        "positional arguments", "options", "input", "selection", "output", "jobs and limits", "examples",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["atrous", "faulty", "decoder", "detector", "space_to_batch"])
def test_a_file_alone_gives_one_screen_and_the_next_step(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"examples/{name}.xml"
    lines = printed(capsys, path, code=int(name == "faulty"))
    assert len(lines) <= 20
    assert lines[0].startswith(path)
    assert lines[-1].startswith("  irshape ")
    assert any(path in line for line in lines[-2:])
    assert any(line.startswith("1 file, ") for line in lines)


@pytest.mark.parametrize(
    ("net", "options"),
    [
        ("x: f32[2,8] -> ReLU -> Result\ny: f32[2,3] -> ReLU -> Result", "--batch N --rewrite"),
        ("x: f32[2,8] -> ReLU -> Result\ny: f32[3,3] -> ReLU -> Result", "--input 'x[N,8]' --rewrite"),
        ("x: f32[5,8] -> ReLU -> Result\ny: f32[1,3] -> ReLU -> Result", "--input 'y[N,3]' --rewrite"),
        ("x: f32[?,8] -> Add(f32[4,1]) -> Reshape([4,8]) -> Result", "--batch N --recorded 'x[4,8]' --rewrite"),
        ("x: f32[] -> ReLU -> Result", ""),
        ("x: f32[2,8] -> SoftMax-8(axis=0) -> Result", ""),  # no batch, as the layer puts all rows together
        ("x: f32[2,8] -> ReduceMax([0]) -> Result", ""),
        ("x: f32[2,8]\nx -> ShapeOf -> wide: Maximum([2,8])\nx, wide -> Broadcast-3(mode=bidirectional) -> Result", "--batch N --rewrite"),
    ],
)
def test_the_next_step_of_a_static_model_opens_its_batch(
    net: str, options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Net(net).save(tmp_path / "m.xml")
    opened = [line.split(f" {path} ")[1].split(" -o ")[0] for line in printed(capsys, str(path)) if "irshape reshape" in line]
    assert opened == [options] * bool(options)


def test_no_step_rewrites_a_model_with_a_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    net.result(net.holder("TensorIterator(_) f32", "0 > p; o > 1", net.add("x: f32[1,4]"), body=Net("p: f32[1,4] -> ReLU -> o: Result"))[0])
    shown = "\n".join(printed(capsys, str(net.save(tmp_path / "m.xml"))))
    assert "irshape infer" in shown and "irshape reshape" not in shown


def test_no_next_step_is_wider_than_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inference = verbs.check(shutil.copy(EXAMPLES / "space_to_batch.xml", f"{'m' * 50}.xml"))
    *_, steps = overview._sections(Extended(inference.document, inference, None, {}))
    shown = list(lines([steps], Palette(False, 80)))
    assert max(map(len, shown)) <= 80
    assert "    the shape of every layer" in shown


def test_a_file_alone_follows_the_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(EXAMPLES / "faulty.xml", tmp_path)
    (tmp_path / "irshape.toml").write_text('ignore = ["ALL"]\nselect = ["T"]\n')
    assert [line.split()[1] for line in printed(capsys, str(tmp_path / "faulty.xml"), code=1) if ".xml:" in line] == ["T102"]


def test_a_clone_without_packages_says_what_it_lacks() -> None:
    def started(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-S", "-E", "-m", "irshape", *words], capture_output=True, text=True, cwd=ROOT, check=False)

    run = started("examples/atrous.xml")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[-1].startswith("  irshape view")
    run = started("signature", "examples/atrous.xml")
    assert (run.returncode, run.stderr) == (2, f"irshape: examples/atrous.xml: this needs the package numpy; {INSTALL}\n")


def test_a_folder_alone_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples"]) == 2
    assert "irshape check examples" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--format", "--output-format"])
def test_concise_is_one_line_for_each_fault(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "check", "examples/faulty.xml", option, "concise", code=1)
    assert len(lines) == 10
    assert all(line.startswith("examples/faulty.xml:") for line in lines[:-1])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("argcomplete", reason="argcomplete is not installed: pip install 'irshape[complete]'")
    text = "\n".join(printed(capsys, "completion", shell))
    assert "irshape" in text
    assert "_ARGCOMPLETE" in text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("irshape che", {"check"}),
        ("irshape check --strict --output-fi", {"--output-file"}),
        ("irshape explain examples/atrous.xml up", {"upsample"}),
        ("irshape infer examples/atrous.xml -l at", {"atrous/space_to_batch", "atrous/conv", "atrous/conv/relu", "atrous/batch_to_space"}),
        ("irshape infer examples/decoder.xml --input att", {"attention_mask["}),
        ("irshape check examples/atrous.xml --select S20", {f"S20{number}" for number in range(1, 9)}),
        ("irshape reshape examples/atrous.xml --target n", {"named-outputs", "npu"}),
        ("irshape ops SpaceToB", {"SpaceToBatch", "SpaceToBatchND"}),
    ],
)  # fmt: skip
def test_a_shell_is_answered(line: str, expected: set[str], tmp_path: Path) -> None:
    pytest.importorskip("argcomplete", reason="argcomplete is not installed: pip install 'irshape[complete]'")
    out = tmp_path / "out"
    question = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n"}
    environment = {**os.environ, **question, "_ARGCOMPLETE_STDOUT_FILENAME": str(out), "_ARGCOMPLETE_SHELL": "fish"}
    subprocess.run([sys.executable, "-m", "irshape"], env=environment, cwd=ROOT, check=False)
    assert {one.partition("\t")[0].strip() for one in out.read_text().splitlines()} == expected


# --watch


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[tuple[Path, "subprocess.Popen[str]"]]:
    pytest.importorskip("watchfiles", reason="watchfiles is not installed: pip install 'irshape[watch]'")
    path = tmp_path / "model.xml"
    shutil.copy(EXAMPLES / "space_to_depth.xml", path)
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "irshape", "check", str(path), "--watch"], stdout=out, stderr=out, cwd=ROOT, text=True
        )
        yield path, process
        process.kill()
        process.wait()


def test_a_file_that_is_saved_is_checked_again(watching: "tuple[Path, subprocess.Popen[str]]") -> None:
    path, process = watching
    until = partial_text(path.parent / "out", "no faults")
    assert "waiting for a change" in until
    text = path.read_text(encoding="utf-8").replace("blocks_first", "block_first")
    (path.parent / "new").write_text(text, encoding="utf-8")
    (path.parent / "new").replace(path)  # as editors save
    assert "did you mean blocks_first?" in partial_text(path.parent / "out", "1 error")
    assert process.poll() is None


def partial_text(path: Path, word: str) -> str:
    """The text of a file once it has a word and the line behind the report."""
    end = monotonic() + 60
    while monotonic() < end:
        text = path.read_text(encoding="utf-8")
        if word in text and text.rstrip().endswith("(Ctrl-C ends)"):
            return text
        sleep(0.05)
    raise AssertionError(f"{word!r} is not in {text!r}")


@pytest.mark.parametrize("words", [["--fix"], ["--output-file", "x"]])
def test_watching_only_reports(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "examples/atrous.xml", "--watch", *words]) == 2
    assert "--watch only reports" in capsys.readouterr().err


# infer: equal blocks once, and selections


@pytest.fixture
def repeated(tmp_path: Path) -> Path:
    """A transformer of 12 blocks, for sizes that are numbers."""
    path = tmp_path / "model.xml"
    text = transformer(12).xml.replace("?,?,16", "2,3,16").replace("?,1,16", "2,1,16")
    path.write_text(text, encoding="utf-8")
    return path


def test_equal_blocks_are_printed_once(repeated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "infer", str(repeated))
    assert sum("12 \N{MULTIPLICATION SIGN} net/layers" in line for line in lines) == 1
    assert len(lines) < 45
    assert any("layers of equal blocks not listed (--all lists them)" in line for line in lines)
    assert len(printed(capsys, "infer", str(repeated), "--all")) > 150


def test_blocks_of_other_shapes_are_printed(repeated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A block that gives another shape is no copy of the others."""
    text = repeated.read_text(encoding="utf-8")
    before, _, after = text.rpartition('"2,3,16"')
    repeated.write_text(f'{before}"2,1,16"{after}', encoding="utf-8")
    whole, short = (printed(capsys, "infer", str(repeated), *words) for words in (["--all"], []))
    assert not any("12 \N{MULTIPLICATION SIGN}" in line for line in short)
    assert any("11 \N{MULTIPLICATION SIGN}" in line for line in short)
    for text in (whole, short):
        assert any("past.11 " in line and "f32[2,1,16]" in line for line in text)


def test_rows_are_selected(capsys: pytest.CaptureFixture[str]) -> None:
    def names(*words: str) -> list[str]:
        lines = printed(capsys, "infer", "examples/atrous.xml", *words)
        return [line.split()[1] for line in lines if line[:3].strip().isdecimal() and "files" not in line]

    assert names("--layer", "stem") == ["stem"]
    assert names("--layer", "stem*", "--type", "relu") == ["stem/relu"]
    assert names("--type", "Concat", "--type", "depthtospace") == ["features", "upsample"]
    assert names("--layer", "16") == ["upsample"]
    assert names("--changed-only") == []
    assert "stem" in names("--changed-only", "--set", "H=227", "W=227")
    assert names("--layer", "stem/weights") == ["stem/weights"]
    assert "no layer matches --layer stam; did you mean stem?" in printed(
        capsys, "infer", "examples/atrous.xml", "examples/baked.xml", "--layer", "stam"
    )
    assert not any("valid only where" in line for line in printed(capsys, "infer", "examples/atrous.xml", "--layer", "stem"))


def test_nothing_changed_after_annotating(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "infer", "examples/decoder.xml", "-o", str(tmp_path / "out.xml"))
    assert "no layer matches --changed-only" in printed(capsys, "infer", str(tmp_path / "out.xml"), "--changed-only")


# The pager


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminal")
@pytest.mark.parametrize(("pager", "lines"), [("head -n 3", 3), ("cat", 20), ("", 20), ("no-such-program", 20)])
def test_a_pager_shows_what_is_long(pager: str, lines: int) -> None:
    import pty

    main_end, other = pty.openpty()
    environment = {**os.environ, "PAGER": pager, "TERM": "dumb", "COLUMNS": "80"}
    environment.pop("IRSHAPE_PAGER", None)
    words = [sys.executable, "-m", "irshape", "infer", "examples/atrous.xml"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=other, stderr=other, env=environment, cwd=ROOT)
    os.close(other)
    text = b""
    with suppress(OSError):  # the end of a pseudo-terminal
        while part := os.read(main_end, 1 << 16):
            text += part
    os.close(main_end)
    assert process.wait() in (0, 141)
    count = len(text.splitlines())
    assert count == lines if lines == 3 else count >= lines
    assert b"Traceback" not in text


PLAIN = [
    "check a.xml",
    "check a.xml b.xml --strict",
    "check --strict a.xml -q",
    "check a.xml --format json --jobs 2 --weights-file a.bin --opset opset8",
    "check a.xml --format jsonl --format text",
    "check a.xml --input x[1,2] --input y[3] --target npu",
    "check a.xml --select S,W1 --select X --ignore R101 --extend-select N",
    "check a.xml --exclude a,b --exclude c --report sarif=out.sarif",
    "check - --stdin-filename a.xml",
    "infer a.xml -o b.xml --weights copy --force --all",
    "infer a.xml --output b.xml",
    "reshape a.xml --batch 2",
    "explain a.xml conv:1:2 --color never",
    "signature a.xml --why",
    "sizes a.xml",
    "info a.xml --extensions ops.toml --opaque Foo",
    "diff a.xml b.xml --all",
]
# Lines that argparse reads, or complains about.
OTHERS = [
    "",
    "--version",
    "chek a.xml",
    "check",
    "check --help",
    "check a.xml --form json",
    "check a.xml --format=json",
    "check a.xml --format yaml",
    "check a.xml --jobs 0",
    "check a.xml --jobs",
    "check a.xml --strict b.xml",
    "check a.xml --weights-file a.bin --no-weights",
    "infer a.xml --no-weights --weights-file a.bin",
    "check a.xml --select Q9",
    "check a.xml --limit depth=9",
    "check a.xml --opset --strict",
    "check a.xml --set H=1..2 W=3",
    "check -- a.xml",
    "check -a.xml",
    "explain a.xml",
    "explain a.xml b c",
    "ops",
    "rule S201",
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_means_what_argparse_reads(line: str) -> None:
    words = line.split()
    given = parse(words)
    assert given is not None
    assert vars(given) == vars(parser(words).parse_args(words))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("files", ["", "a", "a b", "a b c"])
def test_every_command_takes_the_files_that_argparse_takes(command: str, files: str) -> None:
    words = [command, *files.split()]
    given = parse(words)
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            expected = parser(words).parse_args(words)
        except SystemExit:
            assert given is None
        else:
            assert given is None or vars(given) == vars(expected)


@pytest.mark.parametrize("line", OTHERS)
def test_any_other_line_is_left_to_argparse(line: str) -> None:
    assert parse(line.split()) is None
