"""Where a command writes: the annotated IR, and the reports, tables, pictures and pages beside it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Literal, NamedTuple

from irshape.cli.request import is_one
from irshape.cli.run import CLEAN, FAULTS, RunError, describe, exit_code
from irshape.inference.inference import Inference
from irshape.report.text import escape

if TYPE_CHECKING:
    from argparse import Namespace


def inputs_of(files: Iterable[str]) -> Iterator[str]:
    """The files of a run that no output replaces: each IR that is named, and the weights beside it."""
    for path in files:
        if not os.path.isdir(path):
            yield path
            yield os.path.splitext(path)[0] + ".bin"


def check_outputs(paths: Iterable[str | None], *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Raise `RunError` for the first output that may not be written, before the run begins. None stands for an output not asked for."""
    from irshape.files.writing import OutputFile

    for path in paths:
        if path is not None:
            try:
                OutputFile.at(path, force=force, kept=inputs_of(inputs))
            except OSError as error:
                raise RunError(describe(error, path)) from None


def write_output(path: str, data: bytes | Callable[[IO[bytes]], object], *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Write an output, completely or not at all. Raises `RunError`."""
    from irshape.files.writing import write_atomic

    try:
        write_atomic(path, data, force=force, kept=inputs_of(inputs))
    except OSError as error:
        raise RunError(describe(error, path)) from None


class Writing(NamedTuple):
    """Where the annotated IR of each of some files goes: into `output`, a file or a folder, into the file itself, or nowhere."""

    files: Sequence[str]
    output: str | None
    in_place: bool
    weights: Literal["copy", "link", "none"] | None
    force: bool
    is_told: bool

    @property
    def is_wanted(self) -> bool:
        return self.output is not None or self.in_place


def writing_of(given: Namespace) -> Writing:
    """What the options of writing ask for. Raises `RunError` for options that cannot be combined."""
    found = Writing(given.files, given.output, given.in_place, given.weights, given.force, given.format == "text")
    complaint = ""
    if found.output is not None and found.in_place:
        complaint = "-o and --in-place cannot be combined"
    elif found.in_place and not is_one(found.files):
        complaint = "--in-place needs exactly one FILE"
    elif found.output is not None and not is_one(found.files) and not is_folder(found.output):
        complaint = f"-o {found.output}: the results of several files need a folder: -o {found.output}{os.sep}"
    elif found.weights is not None and found.output is None:
        complaint = "--weights needs -o"
    if complaint:
        raise RunError(complaint)
    if found.output is not None and not is_folder(found.output):
        check_outputs([found.output], force=found.force or found.output in found.files)  # `write` names an output that is the input
    return found


def write(writing: Writing, inference: Inference) -> Iterator[str]:
    """Write the annotated file if -o or --in-place is given and the model has no errors, and yield a line that says so."""
    if not writing.is_wanted:
        return
    target = target_of(writing, inference.document.path or "")
    if exit_code(inference.diagnostics) != CLEAN:
        raise RunError(f"{target}: not written, because the model has errors", FAULTS)
    try:
        if writing.output is not None and is_folder(writing.output):
            _make_place(writing.output, target)
        inference.write(target, force=writing.force, in_place=writing.in_place, weights=writing.weights or "copy")
    except FileExistsError as error:
        from irshape.files.writing import EXISTS

        existing = os.fspath(error.filename or target)
        is_input = os.path.exists(existing) and os.path.samefile(existing, inference.document.path or "")
        # Nothing overwrites the weights of the model.
        advice = "" if error.strerror == EXISTS else "; --in-place overwrites it" if is_input else "; give another -o"
        if existing != target:
            advice += ", --weights none leaves it"
        raise RunError(f"{describe(error, target)}{advice}") from error
    except OSError as error:
        raise RunError(describe(error, target)) from error
    if writing.is_told:
        yield f"written: {escape(target)}"


def is_folder(output: str) -> bool:
    """Whether -o names a folder: one that exists, or a path that ends in a separator."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def target_of(writing: Writing, path: str) -> str:
    """The path that the annotated IR of a file gets; in the folder of -o, a file found below a folder keeps its path below that."""
    if writing.output is None or not is_folder(writing.output):
        return str(writing.output or path)
    argument = next((one for one in writing.files if os.path.isdir(one) and path.startswith(os.path.join(one, ""))), os.path.dirname(path))
    return os.path.join(writing.output, os.path.relpath(path, argument or "."))


def _make_place(folder: str, target: str) -> None:
    """Make the folder of a target that is in the folder of -o; a link there could lead out of it, so it is refused."""
    expected = os.path.join(os.path.realpath(folder), os.path.relpath(target, folder))
    if os.path.realpath(target) != expected:
        raise OSError(errno.ELOOP, "not written, because this path is or is below a link, which irshape does not follow", target)
    os.makedirs(os.path.dirname(target), exist_ok=True)


def only_targets(writing: Writing, paths: Sequence[str]) -> None:
    """Raise `RunError` if two files would be written to one path of the folder of -o."""
    if writing.output is None or not is_folder(writing.output):
        return
    sources: dict[str, str] = {}
    for path in paths:
        target = target_of(writing, path)
        stem = os.path.normcase(os.path.splitext(target)[0])
        if (other := sources.setdefault(stem, path)) != path:
            message = f"{other} and {path} would both be written to {target}; write them into two folders, or name their common folder"
            raise RunError(message)
