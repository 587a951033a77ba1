"""`irshape simplify`: remove the layers that the outputs do not need, each with the reason."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from irshape.cli.arguments import add_input_arguments
from irshape.cli.edited import add_target_arguments, opened, put_proof, reshaped, steps_made, written
from irshape.cli.run import CLEAN, complain, put
from irshape.cli.texts import shown, table
from irshape.editing.simplify import RULES, Simplification, simplify
from irshape.report.section import Section, paragraph
from irshape.report.text import Palette, counted, escape

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = (
    "Remove the layers that the outputs do not need: computations whose values are known, layers that change nothing, dead layers. "
    "Outputs, their names and their values stay the same for every input that the model accepts."
)
EXAMPLES = """examples:
  irshape simplify model.xml --dry-run
  irshape simplify model.xml -o simple.xml --prove
  irshape simplify llm.xml --set B=1 S=128 P=0 -o static.xml
  irshape simplify model.xml --only dead -o pruned.xml

exit code: 0 if the model was simplified, 1 if it cannot have the shapes of --input and --set, or --prove finds other numbers,
2 if a file could not be read or written, or the models cannot be run"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    rules = "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items())
    add("--only", action="append", choices=tuple(RULES), metavar="RULE", help=f"apply this rule only; repeatable. {rules}")
    add("--dry-run", action="store_true", help="list each layer to remove, with the reason, and write nothing")
    add("--trim", action="store_true", help="remove the bytes of the weights that no constant needs")
    add_input_arguments(command)
    add_target_arguments(command)


def run(given: Namespace) -> int:
    """Simplify a file, report the steps, write the result, and return the exit code."""
    if (given.output is None) != given.dry_run:
        return complain("give either -o OUT.xml, or --dry-run to write nothing")
    before = opened(given)
    graph = reshaped(given, before)
    count = len(graph)
    steps = simplify(graph._draft, given.only)
    put("\n".join(shown(Palette.choose(given.color, sys.stdout), steps_made if given.dry_run else _summary, steps)))
    put_proof(given, before, graph)
    if not given.dry_run:
        written(given, graph, trim=given.trim)
    put(f"{f'written: {escape(given.output)}' if given.output else 'nothing is written'} ({counted(len(graph), 'layer')} of {count})")
    return CLEAN


def _summary(steps: list[Simplification]) -> Iterator[Section]:
    """How many layers of each type go."""
    rules = list(RULES)
    counts = Counter((rules.index(step.rule), step.type) for step in steps)
    rows = [(rules[rule], type, str(count)) for (rule, type), count in sorted(counts.items(), key=lambda one: (one[0][0], -one[1]))]
    yield paragraph(table(("RULE", "TYPE", "LAYERS"), rows) if rows else "nothing to simplify")
