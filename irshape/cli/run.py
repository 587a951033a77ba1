"""What every command needs: exit codes, complaints, printing, and the delay of Ctrl-C where it would do harm."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from irshape.report.diagnostic import ERROR, NOTE, Diagnostic
from irshape.report.text import counted, escape, harmless, unexpanded, verdict
from irshape.xml.document import Document, Graph, Layer

CLEAN, FAULTS, FAILED = 0, 1, 2


class RunError(Exception):
    """The run, or its work on one file, cannot be done; the message fits on one line."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def complain(message: str) -> int:
    """Print a complaint as one line on the error stream, and return the exit code of a failed run."""
    print(f"irshape: {harmless(escape(message))}", file=sys.stderr)
    return FAILED


def agree(text: str, found: Sequence[Any], names_of: Callable[[Any], Any]) -> None:
    """Tell on the error stream which other layers a text names. Raises `RunError` for one that is an id and the name of another tensor."""
    from irshape.model.finding import ambiguity, remark

    if told := ambiguity(text, found, names_of):
        raise RunError(told)
    if told := remark(text, found, names_of):
        complain(told)


def guarded(run: Callable[..., int], *request: Any) -> int:
    """Run a command, complain if it cannot be done, and return the exit code."""
    try:
        return run(*request)
    except RunError as error:
        complain(str(error))
        return error.code


# The character # as each format escapes it.
_HASHES = {"text": "\\x23", "github": "\\x23", "junit": "&#35;"}


def put(text: str, format: str = "text", end: str = "\n") -> None:
    """Print a report in a format, or a part of it, so that no name in it becomes a command of a runner."""
    print(harmless(text, _HASHES.get(format, "\\u0023"), has_commands=format == "github"), end=end, flush=True)


def put_json(report: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    """Print a report as JSON; several as an array, one on each line."""
    from irshape.report.form import compact, readable

    put(readable(report) if isinstance(report, Mapping) else "[\n" + ",\n".join(map(compact, report)) + "\n]", "json")


def describe(error: OSError, path: str) -> str:
    """The text of a system error: the path it names, else `path`, and the reason."""
    named = (error.filename if isinstance(error.filename, str) else path) or "''"
    if isinstance(error, FileNotFoundError) and os.path.islink(named):
        return (
            f"{named}: the link leads to {os.readlink(named)!r}, which does not exist; fetch it, for example with git annex get or dvc pull"
        )
    if isinstance(error, IsADirectoryError) and (complaint := saved_model(named)):
        return f"{named}: {complaint}"
    if isinstance(error, FileNotFoundError) and (option := option_for(named)):
        return f"{named}: {error.strerror}; did you mean {option} {named!r}?"
    return f"{named}: {str(error.strerror or error).replace('force=True', '--force')}{unexpanded(named)}"


def option_for(word: str) -> str:
    """The option that a word without one was probably meant for: the shape of an input, or the size of a symbol; empty for a file."""
    return "--input" if word.endswith("]") else "--set" if "=" in word else ""


def internal(error: Exception) -> str:
    """The text of an error that irshape should not have raised."""
    return f"internal error; please report it with the file: {type(error).__name__}: {error}"


def saved_model(folder: str) -> str | None:
    """The complaint about the folder of a TensorFlow SavedModel; None for any other path."""
    if not any(os.path.isfile(os.path.join(folder, f"saved_model.{kind}")) for kind in ("pb", "pbtxt")):
        return None
    return f"this folder is a TensorFlow SavedModel, not an IR; convert it to an IR: ovc {folder}"


def exit_code(diagnostics: Sequence[Diagnostic], is_strict: bool = False) -> int:
    """1 if any diagnostic is an error, or with `is_strict` a warning; else 0."""
    faults = any(diagnostic.severity == ERROR or (is_strict and diagnostic.severity != NOTE) for diagnostic in diagnostics)
    return FAULTS if faults else CLEAN


def layers(document: Document) -> Iterator[tuple[str, int, Layer, Graph]]:
    """Every layer with its key in a report (`2.body/5`), its depth and its graph; bodies follow the layer that holds them."""
    pending = [("", 0, layer, document.graph) for layer in reversed(document.graph.layers)]
    while pending:
        prefix, depth, layer, graph = pending.pop()
        key = f"{prefix}{layer.id}"
        yield key, depth, layer, graph
        for name, body in reversed((layer.bodies or {}).items()):
            pending += [(f"{key}.{name}/", depth + 1, inner, body) for inner in reversed(body.layers)]


@contextmanager
def held() -> Iterator[None]:
    """Hold interrupts back inside the block: a finalizer would swallow one, and a worker that is just starting would fail."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


class Tally:
    """The counts of a run: files, layers, faults by severity, and faults that --fix mends."""

    def __init__(self) -> None:
        self.files = self.layers = self.mendable = 0
        self.severities: dict[str, int] = {}

    def add(self, layers: int, diagnostics: Sequence[Diagnostic]) -> Tally:
        """Count one more file, and return the tally."""
        self.files += 1
        self.layers += layers
        self.mendable += sum(bool(diagnostic.fix and diagnostic.fix.is_safe) for diagnostic in diagnostics)
        for diagnostic in diagnostics:
            self.severities[diagnostic.severity] = self.severities.get(diagnostic.severity, 0) + diagnostic.count
        return self

    def __str__(self) -> str:
        offer = f" (--fix mends {self.mendable})" if self.mendable else ""
        return f"{counted(self.files, 'file')}, {counted(self.layers, 'layer')}: {verdict(self.severities)}{offer}"
