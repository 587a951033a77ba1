"""`irshape info`: describe a model on one screen."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from irshape import verbs
from irshape.answers.info import Info, InfoTensor
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.lines import title
from irshape.cli.signature import WIDTH, signature_lines
from irshape.model.model import Node
from irshape.report.text import Palette, about, cells, counted, escape, pad, some, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = "Describe a model: OpenVINO release, operations, parameters, batch, inputs, outputs, state, and the causes of dynamic shapes."
EXAMPLES = """examples:
  irshape info model.xml
  irshape info models --format jsonl
  irshape info model.xml --input "ids[1,S]" --set S=1..512

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"""

# The most rows, words and names of each list on the screen.
_MOST_ROWS = 8
_MOST_WORDS = 10
_MOST_NAMES = 3
_CAUSES = {"data": "known only at run time", "variable": "a variable", "iteration": "passed from one iteration to the next"}
_UNITS = ("kB", "MB", "GB", "TB")


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--all", action="store_true", help="list everything, however long")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Describe the files and return the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    return report(given, verbs.info, partial(lines, palette=palette, is_complete=given.all))


def lines(info: Info, *, palette: Palette, is_complete: bool) -> Iterator[str]:
    """The description as lines of text."""
    yield title(info._inference, palette)
    if info.errors:
        errors = f"{palette.error}{counted(info.errors, 'error')}{palette.plain}"
        cause = "the error" if info.errors == 1 else "the errors"
        yield f"{errors}: facts that depend on {cause} are missing here; irshape check lists {cause}"
    yield ""
    rows = [(name, text) for name, text in _facts(info, is_complete) if text]
    yield from _table(rows, palette)
    if info.signature is not None:
        yield ""
        yield f"{palette.bold}signature{palette.plain}"
        width = (terminal_width(sys.stdout) or WIDTH) - 2
        yield from (f"  {line}" for line in signature_lines(info.signature, palette, width, is_complete=is_complete))
        for condition in info.signature.conditions:
            if info.signature.is_decided(condition):
                yield f"  where {palette.key}{escape(condition.text)}{palette.plain}"
    lists = (
        ("inputs", [_tensor(one) for one in info.inputs]),
        ("outputs", [_tensor(one) for one in info.outputs]),
        ("state", [_tensor(one) for one in info.state]),
        (_dynamic_title(info), list(_roots(info))),
        ("bodies", [(body.path, counted(len(body), "layer")) for body in info.bodies]),
    )
    for heading, rows in lists:
        if rows:
            yield ""
            yield f"{palette.bold}{heading}{palette.plain}"
            shown = rows if is_complete else rows[:_MOST_ROWS]
            yield from (f"  {line}" for line in _table(shown, palette))
            if len(shown) < len(rows):
                yield f"  and {len(rows) - len(shown)} more (--all lists them)"


def _table(rows: Sequence[tuple[str, str]], palette: Palette) -> Iterator[str]:
    width = min(max((cells(escape(name)) for name, _ in rows), default=0), 48)
    for name, text in rows:
        yield f"{palette.key}{pad(escape(name), width)}{palette.plain}  {escape(text)}".rstrip()


def _facts(info: Info, is_complete: bool) -> Iterator[tuple[str, str]]:
    oldest = info.oldest
    if oldest.release is not None:
        perhaps = "" if oldest.is_exact else f", perhaps a release {'after' if oldest.is_after else 'from'} {oldest.earliest}"
        yield "needs", f"OpenVINO {oldest.release} or later{perhaps}: {', '.join(oldest.reasons)}"
    if oldest.unknown:
        yield "unknown", f"no known release has {', '.join(oldest.unknown)}"
    for name, nodes in info.extensions.items():
        yield "extension", f"{name or 'a library that the file does not name'} is needed to run {_words(_counts(nodes), is_complete)}"
    yield "opsets", _words(info.opsets, is_complete)
    yield "operations", _words(info.operations, is_complete)
    elements, size = (sum(counts) for counts in zip(*info.parameters.values(), strict=True)) if info.parameters else (0, 0)
    if info.parameters:
        kinds = ", ".join(f"{name} {count:,} ({_size(bytes)})" for name, (count, bytes) in info.parameters.items())
        stored = f", {_size(info.stored_bytes)} in the file" if info.stored_bytes != size else ""
        yield "parameters", f"{elements:,} in {_size(size)}{stored}: {kinds}"
    yield "batch", _batch(info)
    if info._inference.guards and info.signature is None:
        yield "valid", f"only under {counted(len(info._inference.guards), 'condition')} on the sizes; irshape infer lists them"
    for found in info.unfinished:
        yield "unfinished", f"{found.message} [{about(found)}]"


def _counts(nodes: Sequence[Node]) -> dict[str, int]:
    return dict(Counter(node.type for node in nodes).most_common())


def _words(counts: dict[str, int], is_complete: bool) -> str:
    return some([f"{name or 'none'} {count}" for name, count in counts.items()], None if is_complete else _MOST_WORDS)


def _batch(info: Info) -> str:
    groups: dict[tuple[int, str], list[str]] = {}
    for node, axis, reason in info.batch:
        groups.setdefault((axis, reason), []).append(repr(node.name))
    texts = [f"axis {axis} of {some(names, _MOST_NAMES)}: {reason}" for (axis, reason), names in groups.items()]
    candidates = [some([f"axis {axis} of {node.name!r}" for node, axis in axes], _MOST_NAMES) for axes in info.candidates]
    if candidates:
        texts.append(f"can be {' or '.join(candidates)}")
    if not texts and info.inputs and not info.errors:
        return "no input axis becomes the leading dimension of every output"
    return "; ".join(texts)


def _tensor(tensor: InfoTensor) -> tuple[str, str]:
    others = [name for name in tensor.tensor_names if name != tensor.name]
    named = f"  named {', '.join(others)}" if others else ""
    layout = f"  layout {tensor.layout}" if tensor.layout else ""
    return tensor.name, f"{tensor.element_type}{tensor.shape}{named}{layout}"


def _dynamic_title(info: Info) -> str:
    ports = info.ports
    return f"dynamic: {ports['dynamic']} of {counted(ports['all'], 'output port')}, {ports['unbounded']} without upper bound, because of"


def _roots(info: Info) -> Iterator[tuple[str, str]]:
    """The axes that make sizes dynamic: axes of inputs first, then the axes that most ports depend on."""
    widest = max((len(str(root.ports)) for root in info.roots), default=0)
    for root in sorted(info.roots, key=lambda root: (root.kind != "input", -root.ports)):
        size = info._inference.format((root.size,)).strip("[]")
        if not size.isdecimal():  # a guard may leave only one size
            cause = f"  {_CAUSES[root.kind]}" if root.kind in _CAUSES else ""
            yield f"{root.node.name} axis {root.axis}", f"{root.ports:{widest}} port{'s' if root.ports > 1 else ' '}  {size}{cause}"
    for node, count in info.unranked.items():
        yield node.name, f"{counted(count, 'port')}  unknown rank"


def _size(size: int) -> str:
    if size < 1000:
        return counted(size, "byte")
    power = min(len(_UNITS), (len(str(size)) - 1) // 3)
    return f"{size / 1000**power:.1f} {_UNITS[power - 1]}"
