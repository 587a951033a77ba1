"""The command line as a test runs it."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from irshape.cli.main import main


class Run(tuple[int, list[str], str]):
    """How a run ended, and what it printed: its exit code, the lines of its output, whose text is `out`, and its error stream."""

    out: str
    code = property(lambda self: self[0])
    lines = property(lambda self: self[1])
    err = property(lambda self: self[2])


Start: TypeAlias = Callable[..., Run]


def start(capsys: pytest.CaptureFixture[str], *arguments: object, code: int | None = None) -> Run:
    """Run a command. With `code`, it must end with this exit code."""
    found = main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    ended = Run((found, out.splitlines(), err))
    ended.out = out
    assert code is None or ended.code == code, ended.out + ended.err
    return ended
