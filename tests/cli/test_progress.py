"""The line of progress: on a terminal only, as wide as there is room, and gone when something else is written."""

import io
import os
import sys
from collections.abc import Callable, Iterator

import pytest

from irshape.cli import screen
from irshape.cli.screen import Progress

if sys.platform == "win32":
    pytest.skip("no pseudo-terminals", allow_module_level=True)

import fcntl
import struct
import termios

Terminal = Callable[[int], tuple[io.TextIOWrapper, Callable[[], str]]]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Opens a terminal of a given width; returns the stream and a function that reads its output."""
    monkeypatch.setattr(screen, "_PATIENCE", 0)
    monkeypatch.setattr(screen, "_INTERVAL", 0)
    monkeypatch.setenv("TERM", "xterm")
    ends: list[int] = []

    def opened(columns: int) -> tuple[io.TextIOWrapper, Callable[[], str]]:
        ours, theirs = os.openpty()
        ends.append(ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        stream = open(theirs, "w", encoding="utf-8")  # noqa: SIM115 - closed when it is read

        def shown() -> str:
            stream.write("|")
            stream.close()
            text = ""
            while not text.endswith("|"):
                text += os.read(ours, 65536).decode()
            return text[:-1]

        return stream, shown

    yield opened
    for end in ends:
        os.close(end)


def test_progress_is_one_line_that_is_erased(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    stream, shown = terminal(80)
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr(screen.time, "monotonic", lambda: next(clock))
    line = Progress(stream, 3)
    line.step()
    line.step(is_faulty=True)
    line.step()
    line.clear()
    line.clear()
    assert shown().split("\r") == [
        "",
        "[##########....................] 1 of 3 files, 0.5/s, 0:04 left\x1b[K",
        "[####################..........] 2 of 3 files, 0.5/s, 0:02 left, 1 faulty\x1b[K",
        "[##############################] 3 of 3 files, 0.5/s, 0:00 left, 1 faulty\x1b[K",
        "\x1b[K",
    ]


def test_progress_fits_a_narrow_terminal(terminal: Terminal) -> None:
    stream, shown = terminal(20)
    Progress(stream, 2).step()
    assert shown() == "\r[###############...\x1b[K"


@pytest.mark.parametrize(("total", "term", "patience"), [(1, "xterm", 0), (2, "dumb", 0), (9, "xterm", 1000)])
def test_there_is_no_progress_of_one_file_on_a_dumb_terminal_or_of_a_short_run(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, total: int, term: str, patience: int
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(screen, "_PATIENCE", patience)
    stream, shown = terminal(80)
    line = Progress(stream, total)
    line.step()
    line.clear()
    assert shown() == ""


def test_there_is_no_progress_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "_PATIENCE", 0)
    stream = io.StringIO()
    line = Progress(stream, 9)
    line.step()
    line.clear()
    assert stream.getvalue() == ""
