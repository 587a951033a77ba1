"""`irshape reshape`: other shapes for the inputs, what they make of the outputs or what stands in the way, and the IR with them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

import irshape
from irshape.cli.infer import faults, guards, misplaced, title, write
from irshape.cli.run import complain, report
from irshape.inference.inference import Inference
from irshape.model.model import Model
from irshape.report.text import Palette, escape, table, terminal_width


def run(given: Namespace) -> int:
    """Reshape the files, report their inputs and outputs or every blocker, write what is asked for, and give the exit code."""
    complaint = misplaced(given)
    if given.batch is None and not given.input:
        complaint = "nothing to change: give --input or --batch"
    if complaint:
        return complain(complaint)
    palette = Palette.choose(given.color, sys.stdout)
    width = terminal_width(sys.stdout)
    before: list[Inference] = []

    def reshape(model: Model, *, inputs: Any = None, symbols: Any = None, weights: Any = None, opaque: Any = ()) -> Inference:
        session = irshape.Session(model, weights=weights, opaque=opaque)
        before[:] = [session.infer()]
        return session.reshape(inputs, symbols=symbols, batch=given.batch) if model.nodes else before[0]

    def show(inference: Inference) -> None:
        print(*_lines(before[0], inference, palette, width), sep="\n")

    return report(given, reshape, show, partial(write, given))


def _lines(before: Inference, inference: Inference, palette: Palette, width: int | None) -> Iterator[str]:
    """Title, inputs and outputs as they were and are, guards, faults and summary of one file."""
    yield title(inference, palette)
    rows = [_row(before, inference, str(node.id)) for node in (*inference.model.parameters, *inference.model.results)]
    if inference.ok:
        yield ""
        yield from table(("ID", "LAYER", "TYPE", "WAS", "IS", *(["FORMULA"] if inference.guards else [])), rows, palette, width)
        yield from guards(inference, palette)
    yield from faults(inference, palette)


def _row(before: Inference, inference: Inference, id: str) -> tuple[str, ...]:
    layers = before.layer(id), inference.layer(id)
    was, now = (next(iter(layer.outputs or layer.inputs), None) for layer in layers)
    node = layers[1].node
    formula = [now.formula if now else ""] if inference.guards else []
    return (id, escape(node.name), escape(node.type), was.text if was else "", repr(now) if now else "", *formula)
