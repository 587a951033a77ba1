"""`irshape extract`: a part of a model as a model of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from irshape.cli.arguments import at_least_0
from irshape.cli.edited import add_target_arguments, opened, put_proof, written
from irshape.cli.run import CLEAN, FAULTS, RunError, agree, complain, put
from irshape.editing.extract import Part, key_of
from irshape.editing.graph import Graph
from irshape.editing.layers import Tensor
from irshape.editing.state import EditError
from irshape.editing.verbs import part_of
from irshape.inference.inputs import AS
from irshape.model.finding import preferred
from irshape.report.text import Palette, counted, escape, table, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = (
    "Write a part of a model as a model of its own. What the part reads from the rest becomes inputs with the shapes that OpenVINO knows, "
    "or constants and computations, if shapes depend on the values."
)
EXAMPLES = """examples:
  irshape extract detector.xml --to backbone/relu_5 -o backbone.xml
  irshape extract model.xml --from embeddings --to logits -o middle.xml
  irshape extract model.xml --around "layers.4/attention" --distance 3 -o near.xml
  irshape extract model.xml --layers "layers.4/*" -o block.xml

exit code: 0 if all shapes of the part are those of the whole, 1 if OpenVINO knows less of an axis (each is listed),
2 if a file could not be read or written, or the part is none"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    add("--from", dest="sources", action="append", default=[], metavar="T", help="begin at this tensor, which becomes an input; repeatable")
    add("--to", dest="targets", action="append", default=[], metavar="T", help="end at this tensor, which becomes an output; repeatable")
    add("--around", metavar="LAYER", help="take the layers around this one")
    add("--distance", type=at_least_0, default=1, metavar="N", help="with --around, the most connections from the layer (default: 1)")
    help = "take the layers whose names match a pattern, or those of a module; repeatable"
    add("--layers", action="append", default=[], metavar="GLOB", help=help)
    add_target_arguments(command)


def run(given: Namespace) -> int:
    """Write a part of a file, report its border, and return the exit code."""
    if given.output is None:
        return complain("no place for the part: give -o OUT.xml")
    if sum((bool(given.sources or given.targets), given.around is not None, bool(given.layers))) != 1:
        return complain("give one of --from and --to, --around, or --layers")
    try:
        graph = opened(given)
        try:
            part, formulas = part_of(graph, given.sources, given.targets, given.around, given.distance, given.layers, agree)
        except EditError as error:
            raise RunError(f"{given.file}: {error}") from None
        put_proof(given, graph, graph)
        written(given, graph, trim=True)
    except RunError as error:
        complain(str(error))
        return error.code
    palette, width = Palette.choose(given.color, sys.stdout), terminal_width(sys.stdout)
    put("\n".join(_lines(given, graph, part, formulas, palette, width)))
    return FAULTS if part.losses else CLEAN


def _lines(given: Namespace, graph: Graph, part: Part, formulas: Mapping[str, str], palette: Palette, width: int | None) -> Iterator[str]:
    """What the part has at its border, what it has lost, and where it is."""
    rows = [_row("input", tensor, formulas) for tensor in graph.inputs]
    rows += [("constant", escape(name), _elements(elements), "") for name, elements in part.frozen]
    rows += [_row("output", tensor, formulas) for tensor in graph.outputs]
    columns = 4 if any(row[3] for row in rows) else 3
    yield from table(("", "NAME", "IS", "FORMULA")[:columns], [row[:columns] for row in rows], palette, width)
    if part.taken:
        yield f"also taken, because shapes depend on what they compute: {', '.join(map(escape, part.taken))}"
    for loss in part.losses:
        place = "the rank" if loss.axis is None else f"axis {loss.axis}"
        reason = f", because {', '.join(map(escape, loss.because))} became an input" if loss.because else ""
        yield f"{escape(loss.layer)}, output {loss.output}: {place} is {loss.is_now}, and {loss.was} in the whole model{reason}"
    yield f"written: {escape(given.output)} ({counted(len(graph), 'layer')} of {len(graph._draft.model.nodes)})"


def _row(role: str, tensor: Tensor, formulas: Mapping[str, str]) -> tuple[str, str, str, str]:
    """An input or an output of the part, with its shape as the whole has it."""
    note = tensor.layer._item.note
    formula = formulas.get(key_of(tensor._value), "") if note is None else note.partition(AS)[2]
    return role, escape(preferred([*tensor.names, tensor.layer.name])), f"{tensor.element_type}{tensor.text}", formula


def _elements(elements: tuple[object, ...]) -> str:
    """The first elements of a constant."""
    most = 8
    return f"[{', '.join(map(str, elements[:most]))}{', …' if len(elements) > most else ''}]"
