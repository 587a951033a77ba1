"""The files that a command writes beside the IR: reports, tables, pictures, pages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING

from irshape.cli.run import RunError, describe
from irshape.files.writing import Target, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable


def inputs_of(files: Iterable[str]) -> Iterator[str]:
    """The files of a run that no output replaces: each IR that is named, and the weights beside it."""
    for path in files:
        if not os.path.isdir(path):
            yield path
            yield os.path.splitext(path)[0] + ".bin"


def check_outputs(paths: Iterable[str | None], *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Raise `RunError` for the first output that may not be written, before the run begins. None stands for an output not asked for."""
    for path in paths:
        if path is not None:
            try:
                Target.at(path, force=force, kept=inputs_of(inputs))
            except OSError as error:
                raise refusal(error, path, force=force) from None


def write_output(path: str, data: bytes | Callable[[IO[bytes]], object], *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Write an output, completely or not at all. Raises `RunError`."""
    try:
        write_atomic(path, data, force=force, kept=inputs_of(inputs))
    except OSError as error:
        raise refusal(error, path, force=force) from None


def refusal(error: OSError, path: str, *, force: bool) -> RunError:
    """The error of an output that could not be written."""
    advice = " (--force overwrites it)" if isinstance(error, FileExistsError) and not force and error.strerror == "already exists" else ""
    return RunError(f"{describe(error, path)}{advice}")
