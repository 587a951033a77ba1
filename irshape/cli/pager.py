"""A pager for long answers on a terminal: `IRSHAPE_PAGER`, else `PAGER`, else `less`, as with git; `cat` is none."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

# The commands that answer a question and write nothing beside the answer.
_PAGED = ("cost", "diff", "explain", "info", "infer", "ops", "rule", "signature", "sizes", "summary")


class _Pipe(io.TextIOWrapper):
    """The input of the pager, which passes for the terminal, because the pager shows it there."""

    def __init__(self, stream: IO[bytes], terminal: IO[str]) -> None:
        super().__init__(stream, encoding="utf-8", errors="backslashreplace")
        self._terminal = terminal

    def isatty(self) -> bool:
        """The pager writes on the terminal."""
        return True

    def fileno(self) -> int:
        """The terminal, which is asked for its width."""
        return self._terminal.fileno()


def is_paged(given: Any) -> bool:
    """Whether the answer goes through a pager: on a terminal, about one file."""
    if not (sys.stdout.isatty() and given.command in _PAGED and given.format == "text") or getattr(given, "watch", False):
        return False
    files = getattr(given, "files", ())
    return len(files) < 2 and not any(map(os.path.isdir, files))


@contextmanager
def paged() -> Iterator[None]:
    """Send what is printed through the pager, which shows a text that fits on the screen as it is."""
    import shlex
    import subprocess
    from shutil import which

    command = os.environ.get("IRSHAPE_PAGER", os.environ.get("PAGER", "less"))
    words = shlex.split(command)
    if not words or words[0] == "cat" or which(words[0]) is None:
        yield
        return
    process = subprocess.Popen(words, stdin=subprocess.PIPE, env={"LESS": "FRX", **os.environ})
    assert process.stdin is not None
    terminal, sys.stdout = sys.stdout, _Pipe(process.stdin, sys.stdout)
    try:
        yield
    finally:
        pipe, sys.stdout = sys.stdout, terminal
        with suppress(OSError):  # the user has ended the pager
            pipe.close()
        while process.poll() is None:
            with suppress(KeyboardInterrupt):
                process.wait()
