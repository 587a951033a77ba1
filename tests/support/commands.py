"""The command line as a test runs it."""

import pytest

from irshape.cli.main import main


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str], str]:
    """Run a command: its exit code, the lines that it prints, and the text of its error stream."""
    code = main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    return code, out.splitlines(), err
