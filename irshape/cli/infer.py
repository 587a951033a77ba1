"""`irshape infer`: print the shapes of a model as a table, then its guards, and write the annotated IR."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from irshape import verbs
from irshape.cli.annotated import misplaced, only_targets, write
from irshape.cli.arguments import add_model_arguments, add_output_arguments, add_symbol_argument
from irshape.cli.batch import report
from irshape.cli.lines import TIED, UNNAMED, faults, guards, tie_lines, title
from irshape.cli.run import complain, layers
from irshape.inference.inference import Inference
from irshape.model.model import Model
from irshape.report.text import Palette, counted, escape, table, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


if TYPE_CHECKING:
    pass

ABOUT = "Infer the element type and shape of every port; with -o, write them into the IR."
EXAMPLES = """examples:
  irshape infer model.xml
  irshape infer model.xml --input "image[1,3,224..448,?]"
  irshape infer model.xml --input "image[1,3,H,W]" --set H=32..1024 W=32*k
  irshape infer model.xml -o annotated.xml
  irshape infer models/ -o annotated/

exit code: 0 without errors, 1 with errors (then nothing is written), 2 if a file could not be read or written"""

_CONSTANTS = ("Const", "Constant")


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_output_arguments(command)
    command.add_argument("--all", action="store_true", help="list constants, too")
    add_symbol_argument(command)
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Infer the files, report their shapes, write the annotated IR if -o or --in-place is given, and return the exit code."""
    complaint = misplaced(given)
    if complaint:
        return complain(complaint)
    palette = Palette.choose(given.color, sys.stdout)
    width = terminal_width(sys.stdout)
    is_written = given.output is not None or given.in_place
    is_named = not given.raw_symbols
    verb = partial(_infer, is_written=is_written) if is_named else verbs.infer
    lines = partial(_lines, is_named, given.all, palette, width)
    return report(given, verb, lines, partial(write, given), prepare=partial(only_targets, given))


def _infer(model: Model, *, is_written: bool, **options: Any) -> Inference:
    """The inference, in the symbols of the signature where formulas are shown or written."""
    inference = verbs.infer(model, **options)
    if not is_written and not _has_formulas(inference):
        return inference
    from irshape.answers.signature.naming import named

    return named(inference)


def _has_formulas(inference: Inference) -> bool:
    """Whether the report shows formulas: guards are about symbols, and symbols that the user or the file names are what is asked for."""
    return inference.is_conditional or bool(inference.symbols)


def _lines(is_named: bool, is_complete: bool, palette: Palette, width: int | None, inference: Inference) -> Iterator[str]:
    """Title, table, ties, guards, faults and summary of one file."""
    yield title(inference, palette)
    has_formulas = _has_formulas(inference)
    rows, hidden = _rows(inference, has_formulas, is_complete)
    if rows:
        yield ""
        yield from table(("ID", "LAYER", "TYPE", "SHAPE", *(["FORMULA"] if has_formulas else [])), rows, palette, width)
    if hidden:
        yield f"{palette.dim}{counted(hidden, 'constant')} not listed (--all lists them){palette.plain}"
    if has_formulas:
        if is_named and inference.ok and inference.reading is inference and any(map(UNNAMED.search, inference.formulas.values())):
            yield f"{palette.dim}open sizes are d0, d1, ..., because irshape has found no signature of the model{palette.plain}"
        yield from tie_lines(inference.ties, TIED, palette)
        yield from guards(inference, palette)
    yield from faults(inference, palette)


def _rows(inference: Inference, has_formulas: bool, is_complete: bool) -> tuple[list[tuple[str, ...]], int]:
    """The cells of the table, one row for each port, and the number of constants that were left out."""
    ports, formulas = inference.ports, inference.formulas
    sources: dict[int, dict[int, str]] = {}
    rows: list[tuple[str, ...]] = []
    hidden = 0
    for key, depth, layer, graph in layers(inference.document):
        if layer.type in _CONSTANTS and not is_complete:
            hidden += 1
            continue
        prefix = key.removesuffix(str(layer.id))
        if layer.signature.output_count:
            keys = [f"{key}:{id}" for id in layer.signature.output_ids]
        else:  # a Result shows the port that it reads
            feeds = sources.setdefault(id(graph), {})
            if not feeds:
                feeds.update((edge.to_layer, f"{edge.from_layer}:{edge.from_port}") for edge in graph.edges)
            keys = [prefix + feeds[layer.id]] if layer.id in feeds else [""]
        first = [key, "  " * depth + escape(layer.name), escape(layer.type)]
        for number, port in enumerate(keys):
            element_type, shape = ports.get(port, ("", ""))
            label = f"{port.rpartition(':')[2]}: " if len(keys) > 1 else ""
            row = [*(first if number == 0 else ("", "", "")), f"{label}{element_type}{shape}"]
            if has_formulas:
                row.append(formulas.get(port, ""))
            rows.append(tuple(row))
    return rows, hidden
