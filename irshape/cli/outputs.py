"""Where a command writes: the annotated IR, and the reports, tables, pictures and pages beside it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING

from irshape.cli.files import is_one
from irshape.cli.run import CLEAN, FAULTS, RunError, describe, exit_code
from irshape.files.writing import Target, write_atomic
from irshape.inference.inference import Inference
from irshape.report.text import escape

if TYPE_CHECKING:
    from argparse import Namespace
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


def misplaced(given: Namespace) -> str | None:
    """The complaint about options that cannot be combined; None if all do."""
    if given.output is not None and given.in_place:
        return "-o and --in-place cannot be combined"
    if given.in_place and not is_one(given.files):
        return "--in-place needs exactly one FILE"
    if given.output is not None and not is_one(given.files) and not is_folder(given.output):
        return f"-o {given.output}: several files need a folder, {given.output}{os.sep}"
    return "--weights needs -o" if given.weights is not None and given.output is None else None


def write(given: Namespace, inference: Inference) -> Iterator[str]:
    """Write the annotated file if -o or --in-place is given and the model has no errors, and yield a line that says so."""
    if given.output is None and not given.in_place:
        return
    target = target_of(given, inference.document.path or "")
    if exit_code(inference.diagnostics) != CLEAN:
        raise RunError(f"{target}: not written, because the model has errors", FAULTS)
    try:
        if given.output is not None and is_folder(given.output):
            _make_place(given.output, target)
        inference.write(target, force=given.force, in_place=given.in_place, weights=given.weights or "copy")
    except FileExistsError as error:
        existing = os.fspath(error.filename or target)
        is_input = os.path.exists(existing) and os.path.samefile(existing, inference.document.path or "")
        advice = "--in-place overwrites it" if is_input else "--force overwrites it"
        if existing != target:
            advice += ", --weights none leaves it"
        raise RunError(f"{describe(error, target)} ({advice})") from error
    except OSError as error:
        raise RunError(describe(error, target)) from error
    if given.format == "text":
        yield f"written: {escape(target)}"


def is_folder(output: str) -> bool:
    """Whether -o names a folder: one that exists, or a path that ends in a separator."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def target_of(given: Namespace, path: str) -> str:
    """The path that the annotated IR of a file gets; in the folder of -o, a file found below a folder keeps its path below that."""
    if given.output is None or not is_folder(given.output):
        return str(given.output or path)
    argument = next((one for one in given.files if os.path.isdir(one) and path.startswith(os.path.join(one, ""))), os.path.dirname(path))
    return os.path.join(given.output, os.path.relpath(path, argument or "."))


def _make_place(folder: str, target: str) -> None:
    """Make the folder of a target that is in the folder of -o; a link there could lead out of it, so it is refused."""
    expected = os.path.join(os.path.realpath(folder), os.path.relpath(target, folder))
    if os.path.realpath(target) != expected:
        raise OSError(errno.ELOOP, "not written, because this path is or is below a link, which irshape does not follow", target)
    os.makedirs(os.path.dirname(target), exist_ok=True)


def only_targets(given: Namespace, paths: Sequence[str]) -> None:
    """Raise `RunError` if two files would be written to one path of the folder of -o."""
    if given.output is None or not is_folder(given.output):
        return
    sources: dict[str, str] = {}
    for path in paths:
        target = target_of(given, path)
        stem = os.path.normcase(os.path.splitext(target)[0])
        if (other := sources.setdefault(stem, path)) != path:
            raise RunError(
                f"{other} and {path} would both be written to {target}; write them into two folders, or name their common folder"
            )
