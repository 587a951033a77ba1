"""Plain command lines, which are read without argparse: both readers give the same."""

import contextlib
import io

import pytest

from irshape.cli.arguments import COMMANDS
from irshape.cli.parser import parser
from irshape.cli.plain import parse

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
