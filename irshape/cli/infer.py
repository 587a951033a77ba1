"""`irshape infer`: print the shapes of a model as a table, then its guards, and write the annotated IR."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

from irshape import verbs
from irshape.answers.wording import in_a_row, ties, title
from irshape.cli.arguments import LAYERS, SELECTION, add_model_arguments, add_output_arguments, add_symbol_argument, add_watch
from irshape.cli.examination import Errand
from irshape.cli.outputs import Writing, only_targets, write, writing_of
from irshape.cli.request import request_of
from irshape.cli.road import answered, found
from irshape.cli.run import RunError, layers
from irshape.cli.screen import watched
from irshape.cli.texts import TIED, UNNAMED, ListedLayers, Rows, ending, guards, in_names, said, shows_formulas, table
from irshape.inference.inference import Inference
from irshape.model.model import Model
from irshape.report.section import Block, Section, dim, paragraph

ABOUT = "Infer the element type and shape of every port; with -o, write them into the IR."
EXAMPLES = """examples:
  irshape infer model.xml
  irshape infer model.xml --input "image[1,3,224..448,?]"
  irshape infer model.xml --input "image[1,3,H,W]" --set H=32..1024 W=32*k
  irshape infer model.xml -o annotated.xml
  irshape infer model.xml --type Convolution --layer "block1/*"
  irshape infer models/ -o annotated/

exit code: 0 without errors, 1 with errors (then nothing is written), 2 if a file could not be read or written"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_output_arguments(command)
    add = command.add_argument_group(SELECTION).add_argument
    add("-a", "--all", action="store_true", help="list everything: constants, and each of equal blocks")
    add("-l", "--layer", action="append", default=[], metavar="LAYER", help=LAYERS)
    add("--type", action="append", default=[], metavar="TYPE", help="list the layers of this type only")
    add("--changed-only", action="store_true", help="list only ports that differ from the record in the file")
    add_watch(command)
    add_symbol_argument(command)
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Infer the files, report their shapes, write the annotated IR if -o or --in-place is given, and return the exit code."""
    writing, request = writing_of(given), request_of(given)
    is_whole, is_named = writing.is_wanted or request.format != "text", not given.raw_symbols
    ask = partial(_infer, is_whole=is_whole) if is_named else verbs.infer
    selection = ListedLayers(given.all, given.layer, given.type, given.changed_only)
    say = said(given.color, partial(_sections, is_named, request.is_many, selection))
    errand = Errand(request, ask, say, partial(write, writing))
    if not given.watch:
        return _inferred(errand, writing)
    return watched(request.files, [given.weights_file], _inferred, errand, writing)


def _inferred(errand: Errand, writing: Writing) -> int:
    there = found(errand.request)
    only_targets(writing, there.paths)
    return answered(errand, there)


def _infer(model: Model, *, is_whole: bool, **options: Any) -> Inference:
    """The inference, in the symbols of the signature where formulas are shown or written."""
    inference = in_names(verbs.infer(model, **options), is_whole=is_whole)
    if shows_formulas(inference):
        inference.report_contradiction()
    return inference


def _sections(is_named: bool, is_many: bool, selection: ListedLayers, inference: Inference) -> Iterator[Section]:
    """Title, table, ties, guards, faults and summary of one file. Raises `RunError` if the only file has no layer that is asked for."""
    yield paragraph(title(inference.document))
    has_formulas = shows_formulas(inference)
    listed = Rows(inference, has_formulas, selection)
    if not listed.rows and selection.layers:  # only constants have these names
        listed = Rows(inference, has_formulas, selection._replace(is_complete=True))
    blocks: list[Block] = [table(("ID", "LAYER", "TYPE", "SHAPE", *(["FORMULA"] if has_formulas else [])), listed.rows)]
    if not listed.rows and not selection.is_whole:
        remark = f"no layer matches {selection.options(layers(inference.document))}"
        if not is_many and not selection.is_changed:
            raise RunError(remark)
        blocks.append(remark)
    if selection.is_whole and listed.hidden:
        blocks.append(dim(f"{in_a_row(listed.hidden)} not listed (--all lists them)"))
    is_shown = has_formulas and selection.is_whole
    if is_shown and is_named and inference.ok and inference.reading is inference and any(map(UNNAMED.search, inference.formulas.values())):
        blocks.append(dim("open sizes are d0, d1, … (no signature found)"))
    yield paragraph(*blocks)
    if is_shown:
        yield ties(inference.ties, TIED)
        yield from guards(inference, is_complete=selection.is_complete)
    yield from ending(inference)
