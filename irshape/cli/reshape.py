"""`irshape reshape`: change the shapes of the inputs; report the new outputs or all blockers, and write the reshaped IR."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from irshape.answers.policies import Policies, find_policies, judge, refuse_outgrown
from irshape.cli.annotated import misplaced, only_targets, write
from irshape.cli.arguments import add_model_arguments, add_output_arguments, add_target
from irshape.cli.batch import report
from irshape.cli.lines import faults, guards, in_names, remedy_lines, tie_lines, title
from irshape.cli.run import complain
from irshape.cli.running import add_prove, proved
from irshape.editing.graph import edit
from irshape.files.reading import Path
from irshape.inference.inference import Inference, Remedy
from irshape.inference.inputs import InputError
from irshape.model.model import Model
from irshape.report.text import Palette, counted, escape, table, terminal_width
from irshape.reshaping.session import Session

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = (
    "Change the shapes of the inputs and write the reshaped IR; if the model cannot have them, list every layer and constant in the way."
)
EXAMPLES = """examples:
  irshape reshape model.xml --input "image[1,3,512,512]" -o reshaped.xml
  irshape reshape model.xml --set B=1 S=1..512 -o reshaped.xml
  irshape reshape model.xml --batch 8 -o reshaped.xml
  irshape reshape model.xml --input "image[N,3,H,W]" --rewrite -o reshaped.xml

exit code: 0 if the model can have these shapes, 1 if not (then all blockers are listed, and nothing is written),
2 if a file could not be read or written, or the batch axis is ambiguous"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--batch", metavar="N", help="set the batch size of all inputs that --input does not name: 8, 1..8, N")
    command.add_argument(
        "--rewrite", action="store_true", help="change whatever holds an old size, so that the model holds for every size that is asked for"
    )
    command.add_argument("--like", metavar="OTHER.xml", help="with --rewrite: a second export at other sizes, which decides between ways")
    command.add_argument(
        "--choose", choices=("first",), help="with --rewrite: take the first way where the file does not decide, with a note for each"
    )
    add_target(command)
    add_output_arguments(command)
    add_prove(command)
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Reshape the files, report their outputs or all blockers, write the IR if -o is given, and return the exit code."""
    complaint = misplaced(given)
    if given.batch is None and not given.input and not given.set:
        complaint = "no new shape: give --input, --set or --batch"
    if given.rewrite and (given.in_place or given.weights in ("link", "none")):
        option = "--in-place" if given.in_place else f"--weights {given.weights}"
        complaint = f"--rewrite and {option} cannot be combined: a rewritten model needs a copy of the weights"
    if not given.rewrite and (given.like or given.choose):
        complaint = f"{'--like' if given.like else '--choose'} needs --rewrite"
    if complaint:
        return complain(complaint)
    try:
        policies = find_policies(given.target)
    except InputError as error:
        return complain(str(error))
    reshaping = _Reshaping(given, policies, Palette.choose(given.color, sys.stdout), terminal_width(sys.stdout))
    return report(given, reshaping.infer, reshaping.lines, partial(_written, given), prepare=partial(only_targets, given))


def _written(given: Namespace, inference: Inference) -> Iterator[str]:
    """Write the model, with `--prove` only if it computes what the file does, and with `--batch` what the file does for each sample."""
    if given.prove and inference.ok:
        reading = partial(edit, opaque=given.opaque, limits=given.limits, extensions=given.extensions)
        before = reading(Path(inference.document.path or ""), weights=given.weights_file)
        batch = int(given.batch) if given.batch is not None and given.batch.isdecimal() else None
        yield from proved(given, before, reading(inference.xml(), weights=inference.weights), batch=batch)
    yield from write(given, inference)


class _Reshaping:
    """The work on each file. `infer` keeps the inference with the old shapes for `lines`."""

    def __init__(self, given: Namespace, policies: Policies, palette: Palette, width: int | None) -> None:
        self._batch = given.batch
        self._policies = policies
        self._how = {"rewrite": given.rewrite, "like": given.like, "choose": given.choose}
        self._is_whole = given.output is not None or given.in_place or given.format != "text"
        self._palette = palette
        self._width = width
        self._before: Inference | None = None

    def infer(self, model: Model, *, inputs: Any = None, symbols: Any = None, weights: Any = None, opaque: Any = ()) -> Inference:
        session = Session(model, weights=weights, opaque=opaque)
        self._before = session.infer()
        is_read = model.nodes and model.document.is_complete
        if not is_read:
            return self._before
        inference = session.reshape(inputs, symbols=symbols, batch=self._batch, **self._how)
        if self._batch is None and inference.ok and inference.rewriting is None:
            from irshape.answers.batch.axes import resized

            inference.report(resized(self._before, inference))
        inference = in_names(inference, is_whole=self._is_whole)
        if self._policies and inference.ok:
            judge(inference, self._policies)
        if inference.ok:
            refuse_outgrown(inference)
        if inference.remedy is not None:  # the command begins with the file again
            target, sizes, shapes = inference.remedy
            inference.remedy = Remedy(target, {**(symbols or {}), **sizes}, {**(inputs or {}), **shapes})
        return inference

    def lines(self, inference: Inference) -> Iterator[str]:
        assert self._before is not None
        return _lines(self._before, inference, self._palette, self._width)


def _lines(before: Inference, inference: Inference, palette: Palette, width: int | None) -> Iterator[str]:
    """Title, inputs and outputs with old and new shapes, guards, faults and summary of one file."""
    yield title(inference, palette)
    has_formulas = bool(inference.guards or inference.ties)
    ends = (*inference.model.parameters, *inference.model.results)
    rows = [_row(before, inference, str(node.id), has_formula=has_formulas) for node in ends]
    if inference.ok:
        yield ""
        yield from table(("ID", "LAYER", "TYPE", "WAS", "IS", *(["FORMULA"] if has_formulas else [])), rows, palette, width)
        yield from tie_lines(inference.ties, "axes that must agree", palette)
        yield from guards(inference, palette)
    yield from _rewriting(inference, palette, width)
    yield from faults(inference, palette)
    yield from remedy_lines(inference, palette)
    yield from _next_step(before, inference, palette)


def _next_step(before: Inference, inference: Inference, palette: Palette) -> Iterator[str]:
    """Where the valid sizes of a model are listed that refuses some."""
    path = inference.document.path
    shapes = [output.shape for node in before.model.parameters for output in before.view(node).outputs]
    has_open_sizes = any(shape is None or not all(isinstance(size, int) for size in shape) for shape in shapes)
    if path and before.ok and not inference.ok and has_open_sizes:
        from shlex import quote

        yield ""
        yield f"the sizes that it takes: {palette.key}irshape sizes {escape(quote(path))}{palette.plain}"


def _rewriting(inference: Inference, palette: Palette, width: int | None) -> Iterator[str]:
    """The table of what was changed."""
    if inference.rewriting is not None and inference.ok:
        mends = inference.rewriting.mends
        yield ""
        yield f"{palette.bold}rewritten: {counted(len(mends), 'change')}{palette.plain}"
        rows = [(escape(one.type), escape(one.layer), one.port, escape(one.was), escape(one.now), one.kind) for one in mends]
        yield from table(("TYPE", "LAYER", "WHAT", "WAS", "IS", "HOW"), rows, palette, width)


def _row(before: Inference, inference: Inference, id: str, *, has_formula: bool) -> tuple[str, ...]:
    layers = before.layer(id), inference.layer(id)
    was, now = (next(iter(layer.outputs or layer.inputs), None) for layer in layers)
    node = layers[1].node
    formula = [now.formula if now else ""] if has_formula else []
    return (id, escape(node.name), escape(node.type), was.text if was else "", repr(now) if now else "", *formula)
