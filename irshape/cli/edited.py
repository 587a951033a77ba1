"""The file that a command edits, and where the result is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irshape.cli.arguments import add_colour, add_limit, add_operations
from irshape.cli.output import refusal
from irshape.cli.run import FAULTS, RunError, agree, describe, put
from irshape.cli.running import add_prove, proved
from irshape.editing.draft import found, found_output, names_of, unknown_layer
from irshape.editing.graph import Graph, edit
from irshape.editing.layers import Layer, Tensor, layer_of, tensor_of
from irshape.editing.state import EditError
from irshape.files.reading import Path
from irshape.model.public import published
from irshape.ops.registry import ExtensionError
from irshape.report.diagnostic import ERROR
from irshape.report.text import escape, table

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from irshape.editing.simplify import Simplification
    from irshape.report.text import Palette


def add_target_arguments(command: ArgumentParser) -> None:
    """Add the file, how it is read, and where the result goes."""
    add = command.add_argument
    add("file", metavar="FILE", help="the .xml of an IR")
    add("-o", "--output", metavar="OUT.xml", help="write the result to this file, and its weights beside it")
    add("--force", action="store_true", help="overwrite existing output files, and write a model with new errors")
    add("--weights-file", metavar="PATH", help="the .bin file, if it is not next to FILE")
    add_prove(command)
    add_operations(command)
    add_limit(command)
    add_colour(command)


def opened(given: Namespace) -> Graph:
    """A graph of the file. Raises `RunError`."""
    try:
        return edit(Path(given.file), weights=given.weights_file, opaque=given.opaque, limits=given.limits, extensions=given.extensions)
    except OSError as error:
        raise RunError(describe(error, given.file)) from None
    except (EditError, ExtensionError) as error:
        raise RunError(f"{given.file}: {error}") from None


def layer(graph: Graph, text: str) -> Layer:
    """The layer that a text on the command line names. Raises `KeyError` if there is none, and `RunError` for an ambiguous text."""
    draft, known = found(graph._draft, text)
    if not known:
        raise unknown_layer(graph._draft, text)
    agree(text, known, names_of)
    return layer_of(draft, known[0].layer)


def tensor(graph: Graph, text: str) -> Tensor:
    """The tensor that a text on the command line names. Raises `KeyError` if there is none, and `RunError` for an ambiguous text."""
    known = found_output(graph._draft, text)
    if known is None:
        raise unknown_layer(graph._draft, text, "tensor")
    draft, value, several = known
    agree(text, several, names_of)
    return tensor_of(draft, value)


def reshaped(given: Namespace, graph: Graph) -> Graph:
    """The graph with the shapes of `--input` and `--set`. Raises `RunError`."""
    if not given.input and not given.set:
        return graph
    from irshape.cli.inputs import asked_of
    from irshape.inference.inputs import InputError
    from irshape.reshaping.session import Session

    draft = graph._draft
    try:
        inputs, symbols, _ = asked_of(draft.model, given, dict(given.set), None, lambda _: frozenset(), is_many=False)
        session = Session(draft.model, weights=draft.original, opaque=draft.opaque)
        inference = session.reshape(inputs, symbols=symbols)
    except (InputError, RunError) as error:
        raise RunError(f"{given.file}: {error}") from None
    errors = [one for one in inference.diagnostics if one.severity == ERROR]
    if errors:
        raise RunError(f"{given.file}: the model cannot have these shapes: {errors[0].message}", FAULTS)
    if session.model is not draft.model:  # a variable has another shape
        graph = edit(published(session.model), opaque=draft.opaque)
    for node in session.model.parameters:
        layer, shape = graph[node.id], inference.layer(str(node.id)).outputs[0].text
        if layer.output.text != shape:
            layer.set(shape=shape)
    return graph


def put_proof(given: Namespace, before: Graph, graph: Graph) -> None:
    """With `--prove`, prove that a graph computes what the model did that another one began with. Raises `RunError`."""
    for line in proved(given, published(before._draft.model), graph):
        put(line)


def step_lines(steps: Sequence[Simplification], palette: Palette, width: int | None) -> Iterator[str]:
    """Each layer that goes, with the reason."""
    rows = [(step.rule, escape(step.type), escape(step.layer), escape(step.reason)) for step in steps]
    return table(("RULE", "TYPE", "LAYER", "REASON"), rows, palette, width) if rows else iter(("nothing to simplify",))


def written(given: Namespace, graph: Graph, *, in_place: bool = False, trim: bool = False) -> None:
    """Write the graph. Raises `RunError`."""
    target = given.file if in_place else given.output
    try:
        graph.write(target, force=given.force, in_place=in_place, trim=trim)
    except OSError as error:
        raise refusal(error, target, force=given.force) from None
    except ValueError as error:
        raise RunError(
            f"{target}: not written: {str(error).partition('; force')[0]} (--force writes the model all the same)", FAULTS
        ) from None
