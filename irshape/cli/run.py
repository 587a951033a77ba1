"""What `check` and `infer` share: files in, inferences out, and what a run that cannot be done says."""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import irshape
from irshape.inference.inference import Inference
from irshape.inference.inputs import input_names, split_input
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, NOTE, Diagnostic
from irshape.report.text import counted, escape, verdict
from irshape.xml.document import Document, Graph, Layer

CLEAN, FAULTS, FAILED = 0, 1, 2

Verb: TypeAlias = Callable[..., Inference]


class RunError(Exception):
    """The run cannot be done as asked; the message fits on a line."""


def complain(message: str) -> int:
    """Say on one line of the error stream why something could not be done, and give the exit code for that."""
    print(f"irshape: {escape(message)}", file=sys.stderr)
    return FAILED


def _each(given: Namespace, verb: Verb, symbols: dict[str, str]) -> Iterator[Inference | int]:
    """The inference of each file, or the exit code of one that could not be read."""
    for number, path in enumerate(given.files):
        if number:
            gc.collect()  # the graph before is full of circles
        try:
            yield _examine(path, given, verb, symbols)
        except OSError as error:
            yield complain(describe(error, path))
        except (irshape.InputError, RunError) as error:
            yield complain(f"{path}: {error}")
        except Exception as error:
            # Whatever the file holds, one line is said of it, and the next file has its turn.
            yield complain(f"{path}: internal error, please report it with the file: {type(error).__name__}: {error}")


def _examine(path: str, given: Namespace, verb: Verb, symbols: dict[str, str]) -> Inference:
    if given.weights_file is not None:
        os.stat(given.weights_file)  # a path that is not there is the caller's mistake, not the model's
    model = irshape.read(path, opset=given.opset)
    if not model.nodes:  # what is wrong with the file says more than that it lacks this input
        return verb(model)
    inputs = dict(_input(text, model) for text in given.input)
    return verb(model, inputs=inputs, symbols=symbols, weights=given.weights_file, opaque=given.opaque)


def _symbol(text: str) -> tuple[str, str]:
    name, equals, facts = text.partition("=")
    if not equals or not name.strip():
        raise RunError(f'--symbol {text!r} is not of the form "NAME=RANGE"')
    return name.strip(), facts


def _input(text: str, model: Model) -> tuple[str, str]:
    """The name and the shape of an `--input`; a model's only input needs no name."""
    names = input_names(model)
    name, shape = split_input(text, list(names))
    if shape in names or (name in names and not shape):
        raise RunError(f"--input {text!r} gives no shape; write {text}[1,3,H,W]")
    if name is None:
        if len(model.parameters) != 1:
            raise RunError(f"--input {text!r} names no input; the model has {', '.join(map(repr, names)) or 'none'}")
        name = model.parameters[0].name
    return name, shape


def describe(error: OSError, path: str) -> str:
    """An error of the system: the path it is about, or the one at hand, and what is wrong with it."""
    named = error.filename if isinstance(error.filename, str) else path
    return f"{named}: {error.strerror or error}"


def report(given: Namespace, verb: Verb, show: Callable[[Inference], Any], finish: Callable[[Inference], int] | None = None) -> int:
    """Infer every file and report it in the format that was asked for; the worst exit code counts.

    `show` prints one inference as text, `finish` does what remains to be done with it and gives an exit code.
    """
    try:
        symbols = dict(_symbol(text) for text in given.symbol)
        if given.weights_file is not None and len(given.files) > 1:
            raise RunError("--weights-file belongs to one FILE")
    except RunError as error:
        return complain(str(error))
    worst = CLEAN
    reports: list[dict[str, Any]] = []
    for outcome in _each(given, verb, symbols):
        if isinstance(outcome, int):
            worst = max(worst, outcome)
            continue
        if given.format == "text":
            show(outcome)
        elif given.format == "json":
            reports.append(outcome.to_dict())
        else:
            from irshape.report.json import compact

            print(compact(outcome.to_dict()), flush=True)
        worst = max(worst, exit_code(outcome.diagnostics, getattr(given, "strict", False)), finish(outcome) if finish else CLEAN)
    if given.format == "json":
        from irshape.report.json import readable

        if len(given.files) > 1:
            print("[" + ",\n".join(map(readable, reports)) + "]")
        elif reports:
            print(readable(reports[0]))
    return worst


def exit_code(diagnostics: Sequence[Diagnostic], is_strict: bool = False) -> int:
    """1 if there is an error, or with `is_strict` a warning; else 0."""
    faults = any(diagnostic.severity == ERROR or (is_strict and diagnostic.severity != NOTE) for diagnostic in diagnostics)
    return FAULTS if faults else CLEAN


def layers(document: Document) -> Iterator[tuple[str, int, Layer, Graph]]:
    """Every layer with its key in a report (`2.body/5`), its depth and its graph, bodies after the layer that holds them."""
    pending = [("", 0, layer, document.graph) for layer in reversed(document.graph.layers)]
    while pending:
        prefix, depth, layer, graph = pending.pop()
        key = f"{prefix}{layer.id}"
        yield key, depth, layer, graph
        for name, body in reversed((layer.bodies or {}).items()):
            pending += [(f"{key}.{name}/", depth + 1, inner, body) for inner in reversed(body.layers)]


def summary(inferences: Sequence[tuple[int, list[Diagnostic]]]) -> str:
    """The last line of a report: how much was looked at, and what was found."""
    files, total = len(inferences), sum(count for count, _ in inferences)
    return f"{counted(files, 'file')}, {counted(total, 'layer')}: {verdict(d for _, found in inferences for d in found)}"
