"""`irshape cost`: what a model computes, reads and writes, and the memory that it takes, as numbers and as formulas."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from irshape import verbs
from irshape.answers.cost.cost import Cost, sections
from irshape.cli.arguments import LAYERS, add_model_arguments
from irshape.cli.batch import report
from irshape.cli.files import is_one
from irshape.cli.output import check_outputs
from irshape.cli.rows import keys_of, nothing
from irshape.cli.run import RunError, complain, describe
from irshape.cli.sizes import near_sizes
from irshape.cli.texts import shown
from irshape.model.model import Model
from irshape.report.section import Section
from irshape.report.text import Palette, escape, some

ABOUT = "Count what a model computes, reads and writes, and the memory that it takes, as numbers or as formulas of its input sizes."
EXAMPLES = """examples:
  irshape cost model.xml
  irshape cost model.xml --near "H=512,W=512"
  irshape cost model.xml --set S=128,256,512
  irshape cost model.xml --input "image[1,3,224,224]"
  irshape cost model.xml --csv layers.csv --plot cost.svg

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read or written"""

# The most layers that a remark names.
_MOST_NAMES: Final = 3
# Several sizes of a symbol in a `--set`.
_SEVERAL: Final = re.compile(r"\s*\d{1,18}(\s*,\s*\d{1,18})+\s*", re.ASCII)


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    add("--all", action="store_true", help="list every layer and group, and write whole formulas")
    add(
        "--near", action="append", default=[], metavar='"H=512"',
        help="compare formulas at these sizes: H=512,W=512 (default: a batch of 1, images of 224, other sizes 128)",
    )  # fmt: skip
    add("-l", "--layer", action="append", default=[], metavar="LAYER", help=LAYERS)
    add("--views", action="store_true", help="let the output of a Reshape, Squeeze, Unsqueeze or Identity share the memory of its input")
    add("--in-place", action="store_true", help="let an element-wise operation write into an input that nobody reads afterwards")
    add("--csv", metavar="OUT.csv", help="write the layers to this file (one FILE only)")
    add("--plot", metavar="OUT.svg", help="draw cost against a symbol, and memory against depth: .png or .svg (one FILE only)")
    add("--against", metavar="SYMBOL", help="the symbol of --plot (default: the first one)")
    add("--force", action="store_true", help="overwrite OUT.csv and OUT.svg if they exist")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Report the costs of the files, write what was asked for, and return the exit code."""
    if (given.csv is not None or given.plot is not None) and not is_one(given.files):
        return complain("--csv and --plot need exactly one FILE")
    if given.against is not None and given.plot is None:
        return complain("--against names the symbol of --plot: give --plot OUT.svg, too")
    near = near_sizes(given.near)
    check_outputs([given.csv, given.plot], force=given.force, inputs=given.files)
    palette = Palette.choose(given.color, sys.stdout)
    sweep = {name: [int(one) for one in size.split(",")] for name, size in given.set if _SEVERAL.fullmatch(size)}
    given.set = [(name, size) for name, size in given.set if name not in sweep]
    verb = partial(_cost, sweep=sweep, near=near, views=given.views, in_place=given.in_place)
    text = partial(_sections, layers=given.layer, is_complete=given.all)
    return report(given, verb, partial(shown, palette, text), partial(_write, given))


def _cost(model: Model, *, sweep: Mapping[str, Sequence[int]], **options: Any) -> Cost:
    """The cost, and its amounts at several sizes."""
    cost = verbs.cost(model, **options)
    if sweep:
        cost.swept = cost.sweep(sweep)
    return cost


def _write(given: Namespace, cost: Cost) -> Iterator[str]:
    """Write the table and the picture that are asked for, and yield a line for each."""
    writers: tuple[tuple[str | None, Callable[[str], None]], ...] = (
        (given.csv, partial(cost.write_csv, force=given.force)),
        (given.plot, lambda path: cost.plot(path, given.against, force=given.force)),
    )
    for path, write in writers:
        if path is None:
            continue
        try:
            write(path)
        except OSError as error:
            raise RunError(describe(error, path)) from error
        except (ImportError, ValueError) as error:  # InputError, too
            raise RunError(f"{path}: {error}") from error
        if given.format == "text":
            yield f"written: {escape(path)}"


def _sections(cost: Cost, layers: Sequence[str], *, is_complete: bool) -> Iterator[Section]:
    """The text of a cost, with the layers that are asked for."""
    if not layers:
        return sections(cost, is_complete=is_complete)
    model = cost._inference.model
    wanted = keys_of(model, layers)
    told = [f"{node.type} {node.name}" for graph in model.graphs() for node in graph.nodes if node.key in wanted]
    remark = f"{some(told, _MOST_NAMES)} computes nothing when the model runs" if told else nothing(model, layers)
    return sections(cost, (wanted, remark), is_complete=is_complete)
