"""`irshape extract`: a part of a model as a model of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import irshape.verbs as inner
from irshape.answers.signature.naming import named
from irshape.cli.arguments import at_least_0
from irshape.cli.edited import add_target_arguments, layer, opened, put_proof, tensor, written
from irshape.cli.run import CLEAN, FAULTS, RunError, agree, complain, put
from irshape.editing.draft import found, names_of
from irshape.editing.extract import Part, around, between, extract, key_of, with_numbered
from irshape.editing.graph import Graph
from irshape.editing.layers import Tensor
from irshape.editing.state import EditError, Item
from irshape.inference.inputs import AS
from irshape.model.finding import is_pattern, preferred, selected, similar
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
    try:
        graph = opened(given)
        draft = graph._draft
        formulas = named(inner.infer(draft.model, weights=draft.original, opaque=draft.opaque)).formulas
        part = _part(given, graph, formulas)
        put_proof(given, graph, graph)
        written(given, graph, trim=True)
    except RunError as error:
        complain(str(error))
        return error.code
    palette, width = Palette.choose(given.color, sys.stdout), terminal_width(sys.stdout)
    put("\n".join(_lines(given, graph, part, formulas, palette, width)))
    return FAULTS if part.losses else CLEAN


def _part(given: Namespace, graph: Graph, formulas: Mapping[str, str]) -> Part:
    """Reduce a graph to the part that is asked for; `formulas` are the shapes of the whole. Raises `RunError`."""
    draft = graph._draft
    ways = [bool(given.sources or given.targets), given.around is not None, bool(given.layers)]
    if sum(ways) != 1:
        raise RunError("give one of --from and --to, --around, or --layers")
    try:
        if given.around is not None:
            return extract(draft, around(draft, _own(graph, given.around), given.distance), formulas=formulas)
        if given.layers:
            items = {item for pattern in given.layers for item in _matching(graph, pattern)}
            return extract(draft, with_numbered(draft, items), formulas=formulas)
        sources = [tensor(graph, name)._value for name in given.sources]
        targets = [tensor(graph, name)._value for name in given.targets]
        results = [value for item in draft.of_type("Result") for value in item.inputs if value is not None]
        ends: list[Item] = [value.item for value in targets or results]
        if not given.targets:
            ends += draft.of_type("Assign")
        return extract(draft, between(draft, sources, ends), sources, targets or results, formulas)
    except (EditError, KeyError) as error:
        raise RunError(f"{given.file}: {error.args[0]}") from None


def _own(graph: Graph, text: str) -> Item:
    """The layer of the graph itself that a text names. Raises `EditError` for one in a body, and `KeyError` if there is none."""
    one = layer(graph, text)
    if one._draft is not graph._draft:
        raise EditError(f"{text!r} is a layer in a body; a part has whole bodies, so name the layer that holds it")
    return one._item


def _matching(graph: Graph, pattern: str) -> list[Item]:
    """The layers that a pattern selects. Raises `EditError` if there is none."""
    draft = graph._draft
    inner, known = found(draft, pattern)
    if inner is draft and not is_pattern(pattern):
        agree(pattern, known, names_of)
    several = selected(pattern, draft.state.items.values(), names_of, known if inner is draft else ())
    if not several:
        raise EditError(f"no layer has a name like {pattern!r}{similar(pattern, draft.state.by_name)}")
    return several


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
