"""`irshape reshape`: change the shapes of the inputs; report the new outputs or all blockers, and write the reshaped IR."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from irshape import verbs
from irshape.answers.policies import Policies, find_policies, judge
from irshape.answers.signature.notes import indexing
from irshape.answers.wording import ties, title, unchecked
from irshape.cli.arguments import Rare, add_model_arguments, add_output_arguments, add_target
from irshape.cli.examination import Errand, Extended, complete_remedy
from irshape.cli.inputs import shapes_of
from irshape.cli.outputs import Writing, only_targets, write, writing_of
from irshape.cli.request import Request, request_of
from irshape.cli.road import answered, found
from irshape.cli.run import complain
from irshape.cli.running import add_prove, proved
from irshape.cli.texts import ending, guards, in_names, remedy, said, shows_formulas, table
from irshape.editing.graph import edit
from irshape.files.reading import Path
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.model.model import Model, Node
from irshape.report.section import Column, Section, Table, bold, dim, key, paragraph
from irshape.report.text import WIDEST, counted
from irshape.reshaping.session import How, Session

if TYPE_CHECKING:
    from irshape.reshaping.bench import Mend

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
    command.add_argument("--batch", metavar="N", help="set the batch size of all inputs for which --input gives none: 8, 1..8, N")
    help = "change whatever holds an old size, so that the model holds for every size that is asked for"
    command.add_argument("--rewrite", action="store_true", help=help)
    help = "with --rewrite: a second export at other sizes, which decides between ways"
    command.add_argument("--like", action="append", default=[], metavar="OTHER.xml", help=help)
    help = "with --rewrite: take the first way where the file does not decide, with a note for each"
    command.add_argument("--choose", choices=("first",), help=help)
    help = "the shape for which the file was exported, of an input that is open although constants hold its sizes"
    command.add_argument("--recorded", action="append", metavar="NAME[SHAPE]", help=help)
    command.add_argument("--all", action="store_true", help=Rare("list every condition"))
    add_target(command)
    add_output_arguments(command)
    add_prove(command)
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Reshape the files, report their outputs or all blockers, write the IR if -o is given, and return the exit code."""
    complaint = ""
    if given.batch is None and not given.input and not given.set:
        complaint = "no new shape: give --input, --set or --batch"
    if given.rewrite and (given.in_place or given.weights in ("link", "none")):
        option = "--in-place" if given.in_place else f"--weights {given.weights}"
        complaint = f"--rewrite and {option} cannot be combined: a rewritten model needs a copy of the weights"
    if len(given.like) > 1:
        complaint = f"--like takes one second export, found {len(given.like)}: each of them decides for all layers"
    if not given.rewrite and (given.like or given.choose):
        complaint = f"{'--like' if given.like else '--choose'} needs --rewrite"
    if complaint:
        return complain(complaint)
    writing, request = writing_of(given), request_of(given)
    try:
        policies = find_policies(given.target)
    except InputError as error:
        return complain(str(error))
    ask = partial(_reshaped, given, policies, is_whole=writing.is_wanted or request.format != "text")
    there = found(request)
    only_targets(writing, there.paths)
    say, do = said(given.color, partial(_sections, given)), partial(_written, request, writing, given.prove, given.batch)
    return answered(Errand(request, ask, say, do), there)


def _written(request: Request, writing: Writing, is_proved: bool, batch: str | None, reshaped: Extended) -> Iterator[str]:
    """Write the model, with `--prove` only if it computes what the file does, and with `--batch` what the file does for each sample."""
    inference: Inference = reshaped.answer
    if is_proved and inference.ok:
        reading = partial(edit, opaque=request.opaque, limits=request.limits, extensions=request.extensions)
        before = reading(Path(inference.document.path or ""), weights=request.weights or None)
        why = "; the file gives other shapes at these sizes: prove them open, as in --input x[N,6], and set N in the result"
        yield proved(before, reading(inference.xml(), weights=inference.weights), batch=batch, otherwise=why)
    yield from write(writing, inference)


def _reshaped(
    given: Namespace, policies: Policies, model: Model, *, is_whole: bool, weights: Any = None, opaque: Any = (), **asked: Any
) -> Extended:
    """The inference with the new shapes, with the one with the old shapes."""
    session = Session(model, weights=weights, opaque=opaque)
    before = session.infer()
    if not (model.nodes and model.document.is_complete):
        return Extended(model.document, before, before, {})
    how = How(given.rewrite, next(iter(given.like), None), given.choose, shapes_of(model, given.recorded) if given.recorded else None)
    inference = in_names(session.reshape_once(asked["inputs"], asked["symbols"], given.batch, how), is_whole=is_whole)
    if policies and inference.ok:
        judge(inference, policies)
    if inference.rewriting:
        inference.remedy = None
    elif policies:
        complete_remedy(inference, request_of(given), {**asked, "targets": [name for name, _ in policies]}, given.batch)
    return Extended(inference.document, inference, before, {})


# A part of a name that is the number of a block.
_BLOCK: Final = re.compile(r"(?<=[./])\d+(?=[./])")
# What the column HOW says of a change.
_KINDS = {
    "forced": "no other formula fits",
    "generated": "the file shows the rule at the recorded sizes only, and irshape goes on with it",
    "chosen": "other formulas fit, too",
    "first": "the first elements, because the constant has none beyond the recorded size",
}


def _sections(given: Namespace, reshaped: Extended) -> Iterator[Section]:
    """Title, inputs and outputs with old and new shapes, guards, faults and summary of one file."""
    inference, before, is_complete = reshaped.answer, reshaped.more, given.all
    yield paragraph(title(inference.document))
    if inference.ok:
        rows = [_row(before, inference, node) for node in (*inference.model.parameters, *inference.model.results)]
        head = ("ID", "LAYER", "TYPE", "WAS", "IS", *(["FORMULA"] if shows_formulas(inference) else []))
        yield paragraph(table(head, [row[: len(head)] for row in rows]))
        yield ties(inference.ties, "axes that must agree")
        yield from guards(inference, is_complete=is_complete)
        yield unchecked(indexing(inference, has_open=shows_formulas(inference)))
        if inference.rewriting is not None:
            mends = inference.rewriting.mends
            rows = list(_changes(mends, is_complete=is_complete))
            columns = (Column("dim"), Column(most=WIDEST, is_cut=True), *[Column(is_below=True)] * 4)
            changed = Table(columns, rows, ("TYPE", "LAYER", "WHAT", "WAS", "IS", "HOW"))
            kinds = [f"{kind}: {meaning}" for kind, meaning in _KINDS.items() if any(one.kind == kind for one in mends)]
            if len(rows) < len(mends):
                kinds.append("\N{MULTIPLICATION SIGN}: alike in several blocks, of which the first is named (--all lists each)")
            yield paragraph(bold(f"rewritten: {counted(len(mends), 'change')}"), changed, dim("; ".join(kinds)))
        elif given.rewrite:
            told = "; --recorded NAME[SHAPE] gives the sizes of the export, if constants hold those of open axes"
            more = told if _has_open_sizes(before) and not given.recorded else ""
            yield paragraph(("rewritten: nothing, because no layer refuses these sizes", dim(more)))
    yield from ending(inference, remedy(inference))
    yield from _valid(before, inference)


def _changes(mends: Iterable[Mend], *, is_complete: bool) -> Iterator[tuple[str, ...]]:
    """The rows of the changes: unless the list is to be complete, those that differ only in the number of a block are one."""
    alike: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for one in mends:
        row = one.where.layer_type or "", one.where.layer_name or "", one.port, one.was, one.now, one.kind
        alike.setdefault(row if is_complete else tuple([_BLOCK.sub("*", text) for text in row]), []).append(row)
    for first, *others in alike.values():
        yield (f"{len(others) + 1} \N{MULTIPLICATION SIGN} {first[0]}", *first[1:]) if others and not is_complete else first


def _valid(before: Inference, inference: Inference) -> Iterator[Section]:
    """The valid sizes nearest to those that the model refuses, and the command that lists the others, if the model has open sizes."""
    path = inference.document.path
    is_of_sizes = any(one.severity == "error" and one.code[0] in "SVR" and one.code != "S208" for one in inference.diagnostics)
    if not (path and before.ok and is_of_sizes and _has_open_sizes(before)):
        return

    from irshape.answers.sizes import nearest_text

    command = key(f"irshape sizes {quote(path)}")
    given = {node.name: inference.view(node).outputs[0].shape for node in inference.model.parameters}
    if text := nearest_text(verbs.sizes(before.model, opaque=before.opaque), given):
        yield paragraph(f"the nearest valid sizes: {text}", ("all: ", command))
    else:
        yield paragraph(("the sizes that the model takes: ", command))


def _has_open_sizes(inference: Inference) -> bool:
    shapes = [output.shape for node in inference.model.parameters for output in inference.view(node).outputs]
    return any(shape is None or not all(isinstance(size, int) for size in shape) for shape in shapes)


def _row(before: Inference, inference: Inference, node: Node) -> tuple[str, ...]:
    """An input or an output, with its old and its new shape and the formula of this one."""
    layers = before.view(before.model.node(node.id)), inference.view(node)
    was, now = (next(iter(layer.outputs or layer.inputs), None) for layer in layers)
    return (str(node.id), node.name, node.type, repr(was) if was else "", repr(now) if now else "", now.formula if now else "")
