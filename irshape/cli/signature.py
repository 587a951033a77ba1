"""`irshape signature`: the inputs and outputs of a model in as few symbols as possible, the conditions on these, and the reasons."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from irshape import verbs
from irshape.answers.question import Condition
from irshape.answers.signature.notes import Note
from irshape.answers.signature.signature import Signature
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.lines import heading, layer_message, reason, tie_lines, title
from irshape.report.parts import Parts
from irshape.report.text import Palette, cells, counted, diagnostic_lines, escape, pad, shorten, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from irshape.inference.inference import Inference
    from irshape.report.diagnostic import Diagnostic


ABOUT = (
    "Show how the sizes of a model are tied together: its inputs and outputs in as few symbols as possible, and the conditions on these."
)
EXAMPLES = """examples:
  irshape signature model.xml
  irshape signature model.xml --why
  irshape signature model.xml --input "image[1,3,H,W]"

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"""

# The most layers that are named for a condition that they make together.
_MOST_REASONS: Final = 4
# The width of the report where there is no terminal, of a name, of a size, and of a condition.
WIDTH = 120
_WIDEST_NAME = 48
_WIDEST_SIZE = 40
_WIDEST_CONDITION = 120
_GAP = "  "
# So many names in a row that have equal shapes are written as the first and the last one.
_MANY = 3


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--all", action="store_true", help="list every input and output, and conditions on sizes known only at run time")
    command.add_argument("--why", action="store_true", help="list the layers that tie each axis to others")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Print the signatures of the files and return the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    width = terminal_width(sys.stdout) or WIDTH
    return report(given, verbs.signature, partial(_lines, palette, width, is_complete=given.all, has_reasons=given.why))


def _lines(palette: Palette, width: int, signature: Signature, *, is_complete: bool, has_reasons: bool) -> Iterator[str]:
    """Title, signature, conditions, notes and reasons of one file."""
    yield from opening(signature._inference, signature.diagnostics, palette)
    yield ""
    yield from signature_lines(signature, palette, width, is_complete=is_complete)
    yield from _conditions(signature, palette, is_complete=is_complete)
    yield from note_lines(signature.notes, palette)
    if has_reasons:
        yield from tie_lines(signature.because, "because", palette, is_complete=is_complete)


def opening(inference: Inference, diagnostics: Iterable[Diagnostic], palette: Palette) -> Iterator[str]:
    """The title and the faults of one file, with which the answer to a question begins."""
    yield title(inference, palette)
    lines = [line for diagnostic in diagnostics for line in diagnostic_lines(diagnostic, palette)]
    yield from ["", *lines] if lines else ()


def signature_lines(signature: Signature, palette: Palette, width: int, *, is_complete: bool = False) -> Iterator[str]:
    """The signature in one line if it fits, else with the outputs on lines of their own; then its named parts."""
    parts = Parts(_WIDEST_SIZE)
    inputs, state, outputs = (
        list(grouped(side, parts, is_complete=is_complete)) for side in (signature.inputs, signature.state, signature.outputs)
    )
    whole = f"{_GAP.join(inputs)}{_GAP}->{_GAP}{_GAP.join(outputs)}"
    if cells(whole) <= width and not state and not is_complete:
        yield f"{palette.bold}{whole}{palette.plain}"
    else:
        for mark, side in (("", inputs), ("state  ", state), ("->  ", outputs)):
            lines = list(_filled(side, width - len(mark), is_complete=is_complete))
            yield from (
                f"{palette.bold}{(mark if number == 0 else ' ' * len(mark))}{line}{palette.plain}" for number, line in enumerate(lines)
            )
    for name, formula in parts.found.items():
        yield f"  where {palette.key}{name}{palette.plain} = {formula}"
    for one in signature.data_sizes:
        layer = layer_message(one.node._node, "its data decide", palette)
        yield f"  where {palette.key}{escape(one.name)}{palette.plain} is known only at run time: {layer}"


def grouped(shapes: Mapping[str, str], parts: Parts, *, is_complete: bool = False) -> Iterator[str]:
    """The names with their shapes; names in a row that have equal shapes share one."""
    groups: list[tuple[list[str], str]] = []
    for name, shape in shapes.items():
        label = escape(name) if is_complete else shorten(escape(name), _WIDEST_NAME)
        if groups and groups[-1][1] == shape and not is_complete:
            groups[-1][0].append(label)
        else:
            groups.append(([label], shape))
    for names, shape in groups:
        text = _cut(shape, parts)
        if len(names) < _MANY:
            yield from (f"{name}{text}" for name in names)
        else:
            yield f"{names[0]} … {names[-1]}{text}"


def _cut(shape: str, parts: Parts) -> str:
    """A shape whose long sizes have names."""
    from irshape.shape.notation import split_sizes

    return f"[{','.join(_named(size, parts) for size in split_sizes(shape[1:-1]))}]"


def _named(size: str, parts: Parts) -> str:
    return size if len(size) <= _WIDEST_SIZE else parts.whole(size)


def _filled(items: Sequence[str], width: int, *, is_complete: bool) -> Iterator[str]:
    """The items in lines of this width, or each on a line of its own."""
    line = ""
    for item in items:
        if line and (is_complete or cells(line) + len(_GAP) + cells(item) > width):
            yield line
            line = ""
        line = f"{line}{_GAP if line else ''}{item}"
    if line:
        yield line


def validity_lines(signature: Signature, palette: Palette) -> Iterator[str]:
    """A heading and the conditions on the sizes of the inputs, with the layers that demand them."""
    own = [one for one in signature.conditions if not one.branch and signature.is_decided(one)]
    doubt = "" if signature._inference.knows_values else " (as far as irshape can tell without the weights)"
    if own:
        yield f"{palette.bold}valid for sizes of at least 1 where{doubt}{palette.plain}"
        yield from _condition_lines(own, palette)
    elif signature.ok and signature.symbols:
        yield f"{palette.bold}valid for every {in_a_row(list(signature.symbols))} of at least 1{doubt}{palette.plain}"


def _conditions(signature: Signature, palette: Palette, *, is_complete: bool) -> Iterator[str]:
    """The conditions with the layers that demand them; those on sizes that only data tells are counted, unless all are listed."""
    own = list(validity_lines(signature, palette))
    if own:
        yield ""
        yield from own
    others = [one for one in signature.conditions if not one.branch and not signature.is_decided(one)]
    if others and is_complete:
        yield ""
        yield f"{palette.bold}and where, for sizes known only at run time{palette.plain}"
        yield from _condition_lines(others, palette)
    elif others:
        count = counted(len(others), "condition")
        yield f"  {palette.dim}{count} on sizes known only at run time not listed (--all lists them){palette.plain}"
    branches = [one for one in signature.conditions if one.branch]
    for text, members in groupby(branches, lambda one: heading(one.guards[0])):
        yield ""
        yield f"{palette.bold}{text}{palette.plain}"
        yield from _condition_lines(members, palette)


def in_a_row(names: Sequence[str]) -> str:
    """Names as a sentence lists them: `B, P and S`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _condition_lines(conditions: Iterable[Condition], palette: Palette) -> Iterator[str]:
    parts = Parts(_WIDEST_CONDITION)
    rows = [(parts.cut(escape(one.text)), one) for one in conditions]
    wide = min(max((cells(text) for text, _ in rows), default=0), _WIDEST_NAME)
    for text, one in rows:
        reasons = [reason(guard, palette) for guard in one.guards] or ["the range that was given"]
        for number, why in enumerate(reasons[:_MOST_REASONS]):
            yield f"  {palette.key}{pad('' if number else text, wide)}{palette.plain}  {'and ' if number else ''}{why}"
        if len(reasons) > _MOST_REASONS:
            yield f"  {pad('', wide)}  and {len(reasons) - _MOST_REASONS} more"
    for name, formula in parts.found.items():
        yield f"  where {palette.key}{name}{palette.plain} = {formula}"


def note_lines(notes: Sequence[Note], palette: Palette) -> Iterator[str]:
    """The other sizes that OpenVINO accepts."""
    if notes:
        yield ""
        yield f"{palette.bold}OpenVINO also accepts other sizes{palette.plain}"
        yield from (f"  {escape(note.text)}" for note in notes)
