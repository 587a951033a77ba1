"""`irshape FILE`: the faults and the signature of a model on one screen, and what to do next."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from shlex import quote
from typing import Any

from irshape import verbs
from irshape.answers.batch.axes import mixes
from irshape.answers.signature.signature import Signature, ends, validity
from irshape.answers.wording import title
from irshape.cli.arguments import add_colour, add_question_arguments
from irshape.cli.check import Check, check_of
from irshape.cli.check_options import wish_of
from irshape.cli.examination import Errand, Extended
from irshape.cli.plain import parse
from irshape.cli.request import request_of
from irshape.cli.road import answered, found
from irshape.cli.run import Tally, complain
from irshape.cli.texts import said
from irshape.inference.inference import Inference
from irshape.inference.inputs import described_shape
from irshape.model.finding import end_name
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, causes
from irshape.report.section import Column, Few, Item, Section, Table, bold, dim, fault, paragraph
from irshape.settings.settings import Settings
from irshape.shape.notation import shape_text

ABOUT = "Show the faults and the signature of a model on one screen, and what to do next."
EXAMPLES = """examples:
  irshape model.xml

exit code: 0 without errors, 1 if the model has errors, 2 if the file could not be read"""

# The most lines of a signature, of conditions and of faults: with the title, the totals and what to do next, they make 20.
_MOST_SIGNATURE = 5
_MOST_CONDITIONS = 3
_MOST_FAULTS = 4


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("files", nargs=1, metavar="FILE", help="the .xml of an IR")
    add_question_arguments(command)
    add_colour(command)
    command.set_defaults(jobs=1, format="text")


def run(given: Namespace) -> int:
    """Print the overview of a file and return the exit code."""
    path = given.files[0]
    if os.path.isdir(path):
        return complain(f"{path}: this is a folder; irshape check {path} checks its models")
    checked: Any = parse(["check", f"./{path}" if path.startswith("-") else path])
    assert checked is not None
    try:
        wish = wish_of(checked)
        request = request_of(given, Settings(**wish.settings))
        there = found(request)
        ask = partial(_overview, check_of(request, wish, there.paths))
        return answered(Errand(request, ask, said(given.color, _sections)), there)
    except ValueError as error:  # a configuration or a baseline; each line is a fault
        return max(map(complain, str(error).splitlines()))


def _overview(check: Check, model: Model, **options: Any) -> Extended:
    """The check of a model, with its signature if it has one."""
    inference = check(model, **options).answer
    has_signature = inference.ok and bool(model.nodes) and model.document.is_complete
    try:
        signature = verbs.signature(model, **options) if has_signature else None
        return Extended(inference.document, inference, signature if signature is None or signature.conditions or signature.ok else None, {})
    except ModuleNotFoundError:  # in a clone, from which nothing was installed
        return Extended(inference.document, inference, None, {})


def _sections(overview: Extended) -> Iterator[Section]:
    """Title, signature, conditions, faults and next steps."""
    inference, signature, path = overview.answer, overview.more, quote(overview.document.path or "FILE")
    yield paragraph(title(inference.document))
    if signature is not None and (signature.inputs or signature.outputs):
        heading, conditions = validity(signature, has_reasons=False)
        valid = [Item(bold(str(heading)), conditions, 2)] if heading else []
        remark = f"irshape signature {path}"
        yield paragraph(Few(list(ends(signature)), _MOST_SIGNATURE, remark), Few(valid, _MOST_CONDITIONS, remark))
    ordered = sorted(causes(inference.diagnostics), key=lambda one: one.severity != ERROR)
    faults = Few([fault(one).line for one in ordered], _MOST_FAULTS, f"irshape check {path}")
    yield paragraph(faults, str(Tally().add(inference.document.layer_count, inference.diagnostics)))
    rows = [(f"  {command}", dim(purpose)) for command, purpose in _next(inference, signature, path)]
    yield paragraph(Table((Column("key"), Column(is_below=True)), rows))


def _next(inference: Inference, signature: Signature | None, path: str) -> list[tuple[str, str]]:
    """The commands that a user runs next for the file of a path, each with its purpose."""
    commands: list[tuple[str, str]] = []
    if inference.diagnostics:
        code = min(inference.diagnostics, key=lambda one: one.severity != ERROR).code
        commands += [(f"irshape check {path}", "every fault, with hints"), (f"irshape rule {code}", "what a code means")]
        if any(one.fix and one.fix.is_safe for one in inference.diagnostics):
            commands[1:] = [(f"irshape check {path} --fix", "mend what can be mended safely")]
    if inference.ok and inference.model.nodes:
        if signature is not None and signature.symbols and signature.conditions:
            commands.append((f"irshape sizes {path}", "the sizes that it takes"))
        elif signature is not None and signature.symbols:
            commands.append((f"irshape cost {path}", "its work and memory, as formulas of its sizes"))
        elif signature is not None and (wish := _batch(inference, signature)):
            commands.append((f"irshape reshape {path} {wish} --rewrite -o batches.xml", "open the batch"))
        commands += [(f"irshape infer {path}", "the shape of every layer"), (f"irshape view {path}", "look at it in the browser")]
    return commands[:3]


def _batch(inference: Inference, signature: Signature) -> str:
    """The options that open the batch of a model without symbols; empty if it has bodies, which no rewriting changes, or no axis."""
    model = inference.model
    sizes = {name: shape[1:-1].split(",") for name, shape in signature.inputs.items() if shape not in ("[]", "[...]")}
    firsts = [own[0] for own in sizes.values()]
    if not firsts or model.holders:
        return ""
    samples = "1" if "1" in firsts else firsts[0]
    batched = [name for name, own in sizes.items() if own[0] == samples]
    has_layout = any(output.layout for node in model.parameters for output in node.layer.outputs)
    if not has_layout and mixes(inference, [node for node in model.parameters if end_name(node) in batched]):
        return ""
    if has_layout or len(batched) == len(sizes):
        wish = ["--batch N"]
    else:
        wish = [f"--input {quote(name + shape_text(['N', *sizes[name][1:]]))}" for name in batched]
    is_open = {end_name(node): any(one.low != one.high for one in described_shape(node) or ()) for node in model.parameters}
    return " ".join([*wish, *[f"--recorded {quote(name + signature.inputs[name])}" for name in sizes if is_open[name]]])
