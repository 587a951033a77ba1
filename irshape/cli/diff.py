"""`irshape diff`: the changes between two IRs on one screen, causes first; of two folders, a line for each IR."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from irshape import verbs
from irshape.answers.diff import Change, Content, Difference, is_rounded
from irshape.answers.rewiring import Rewiring, rewirings
from irshape.cli.arguments import add_colour, add_limit, add_operations
from irshape.cli.examination import whole_model
from irshape.cli.lines import title
from irshape.cli.run import CLEAN, FAILED, FAULTS, RunError, complain, internal, put
from irshape.cli.running import add_run_arguments, ran, unasked
from irshape.cli.running import lines as run_lines
from irshape.inference.inputs import InputError
from irshape.model.model import Node
from irshape.model.public import published
from irshape.ops.infrastructure import Constant
from irshape.report.text import Palette, counted, escape, shorten, some, terminal_width
from irshape.xml.weights import WeightsError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from irshape.running.results import RunComparison


ABOUT = "Compare the graphs of two IRs: list the changes, and sum up the shapes and types that follow from them."
EXAMPLES = """examples:
  irshape diff model.xml reshaped.xml
  irshape diff model.xml quantised.xml --all
  irshape diff model.xml resaved.xml --format json
  irshape diff model.xml simple.xml --run
  irshape diff model.xml half.xml --run --first --rtol 0.001
  irshape diff old_export new_export
  irshape diff --reference released new_export

exit code: 0 if both files are the same model, or with --run if they compute the same; 1 if not; 2 if a file could not be read, the
constants could not be compared, or with --run both models fail; of folders, the largest one of their models, 1 if a side lacks one"""

# The most rows of each kind of change, the most layers that a row names, and the widths of lines.
_MOST_ROWS = 6
_MOST_NAMES = 3
_WIDEST_LINE = 120
_NARROWEST = 12


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("a", metavar="A", help="the IR before, or a folder of IRs")
    command.add_argument(
        "b", metavar="B", nargs="?", help="the IR after, or a folder: its IRs are compared with those of the same names in A"
    )
    command.add_argument("--all", action="store_true", help="list every change and every shape that follows from them")
    command.add_argument("--cost", action="store_true", help="also compare the costs: operations, parameters, memory")
    command.add_argument("--reference", metavar="DIR", help="compare B, a model or a folder, with the references in DIR, and leave out A")
    command.add_argument("--write-reference", metavar="DIR", help="write signature, shapes and costs of each model of B into DIR")
    add_operations(command)
    add_run_arguments(command)
    command.add_argument("--no-weights", action="store_true", help="read no .bin files: constants are not compared by their values")
    command.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    add_limit(command)
    add_colour(command)


def run(given: Namespace) -> int:
    """Compare two files or folders, report the changes, and return the exit code."""
    if (complaint := unasked(given)) is not None:
        return complain(complaint)
    if given.reference is not None or given.write_reference is not None:
        from irshape.cli.folders import referred

        return complain("a reference has no weights to run: leave out --run") if given.run else referred(given, partial(whole_model, given))
    if given.b is None:
        return complain("give two models or two folders, or --reference DIR and one")
    if os.path.isdir(given.a) or os.path.isdir(given.b):
        from irshape.cli.folders import compared

        return compared(given, partial(_summed_up, given))
    try:
        difference, comparison = _compared(given, given.a, given.b)
        palette, width = Palette.choose(given.color, sys.stdout), terminal_width(sys.stdout)
        if given.format == "json":
            from irshape.report.json import readable

            text = readable(_data(difference, comparison))
        else:
            outputs = () if comparison is None else run_lines(comparison, palette, is_complete=given.all, width=width)
            text = "\n".join([*lines(difference, palette, is_complete=given.all, width=width), *outputs])
    except RunError:
        raise
    except InputError as error:
        return complain(f"{given.a}, {given.b}: {error}")
    except Exception as error:
        return complain(f"{given.a}, {given.b}: {internal(error)}")
    put(text, given.format)
    return _code(given, difference, comparison)


def _compared(given: Namespace, a: str, b: str) -> tuple[Difference, RunComparison | None]:
    """The difference of two files, and that of their runs if --run asks for it. Raises `RunError`."""
    models = [whole_model(given, path) for path in (a, b)]
    difference = verbs.diff(*models, opaque=given.opaque, weights=False if given.no_weights else (None, None), cost=given.cost)
    return difference, ran(given, *map(published, models)) if given.run else None


def _summed_up(given: Namespace, a: str, b: str) -> tuple[int, str, dict[str, Any] | None]:
    """The exit code, the summary and the JSON of the difference of two files. Raises `RunError`."""
    difference, comparison = _compared(given, a, b)
    summary = difference.summary if comparison is None else f"{comparison.summary} ({difference.summary})"
    unknown = f"; constants were not compared: {difference.uncompared}" if difference.uncompared else ""
    return _code(given, difference, comparison), f"{summary}{unknown}", _data(difference, comparison) if given.format == "json" else None


def _data(difference: Difference, comparison: RunComparison | None) -> dict[str, Any]:
    return difference.to_dict() if comparison is None else {**difference.to_dict(), "run": comparison.to_dict()}


def _code(given: Namespace, difference: Difference, comparison: RunComparison | None) -> int:
    """The exit code of a difference."""
    if comparison is not None:
        return CLEAN if comparison.is_same and not comparison.missing else FAULTS
    if not difference.is_same:
        return FAULTS
    return FAILED if difference.uncompared and not given.no_weights else CLEAN


def lines(difference: Difference, palette: Palette, *, is_complete: bool, width: int | None = None) -> Iterator[str]:
    """The difference as lines of text, for a terminal of `width` columns; None does not bound the lines."""
    page = _Page(difference, palette, is_complete, width)
    for side in (difference.a, difference.b):
        yield title(side, palette)
    yield from page.sections()
    yield from page.consequences()
    yield from page.asides()
    if difference.cost is not None:
        from irshape.cli.cost import comparison_lines

        yield from comparison_lines(difference.cost, palette)
    yield ""
    yield escape(difference.summary)


class _Page:
    """The text of a difference, section by section; `is_complete` leaves nothing out."""

    def __init__(self, difference: Difference, palette: Palette, is_complete: bool, width: int | None) -> None:
        self.width = width
        self.difference = difference
        self.palette = palette
        self.is_complete = is_complete
        self.kinds: dict[str, list[Change]] = {}
        for change in difference.changes:
            self.kinds.setdefault(change.kind, []).append(change)

    def sections(self) -> Iterator[str]:
        """One section for each kind of change; changes of inputs and outputs come first."""
        rewired, mentioned = rewirings(self.difference)
        yield from self.section("model", [(f"IR version {_arrow(one)}", []) for one in self.of("ir_version")])
        for heading, kind in (("inputs", "parameter"), ("layouts", "layout"), ("tensor names", "tensor_names")):
            yield from self.section(heading, [(f"{_where(one)}: {one.what} {_arrow(one)}", []) for one in self.of(kind)])
        yield from self.section("order", [(self.cut(f"{one.what}: {_arrow(one)}"), []) for one in self.of("order")])
        for heading, kind in (("layers replaced", "replaced"), ("edges rewired", "edge")):
            yield from self.section(heading, [self.rewiring(one) for one in rewired if one.changes[0].kind == kind])
        for heading, kind in (("layers added", "added"), ("layers removed", "removed")):
            nodes = [node for one in self.of(kind) if (node := one.a or one.b) is not None and node not in mentioned]
            yield from self.section(heading, _grouped((node.type, _name(node)) for node in nodes))
        yield from self.section("layers renamed", [(f"{_type(one)} {_arrow(one)}", []) for one in self.of("renamed")])
        attributes = [one for one in self.of("attribute") if one.a not in mentioned]
        for heading, changes in (("opsets", self.of("version")), ("attributes", attributes), ("outputs", self.of("outputs"))):
            rows = ((f"{_type(one)}: {one.what}{' ' if one.what else ''}{_arrow(one)}", _where(one)) for one in changes)
            yield from self.section(heading, _grouped(rows))
        yield from self.section("constants", _grouped((_arrow(one), _where(one)) for one in self.of("constant")))
        yield from self.section("port maps", [(self.cut(f"{_where(one)}: {_arrow(one)}"), []) for one in self.of("port_map")])

    def of(self, kind: str) -> list[Change]:
        """The changes of a kind."""
        return self.kinds.get(kind, [])

    def cut(self, text: str) -> str:
        """A text of the file, cut to one line."""
        return text if self.is_complete else shorten(text, _WIDEST_LINE)

    def section(self, heading: str, rows: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
        """A heading and its rows, each with the number and the names of its layers."""
        if not rows:
            return
        palette = self.palette
        yield ""
        yield f"{palette.bold}{heading}{palette.plain}"
        shown = rows if self.is_complete else rows[:_MOST_ROWS]
        widest = max(len(str(len(names))) for _, names in shown)
        for text, names in shown:
            count = f"{palette.key}{len(names):{widest}}{palette.plain} " if names else ""
            yield f"  {count}{escape(text)}"
            if names:
                about = escape(some(names, None if self.is_complete else _MOST_NAMES))
                about = about if self.width is None else shorten(about, max(self.width - widest - 3, _NARROWEST))
                yield f"  {' ' * widest} {palette.dim}{about}{palette.plain}"
        if len(shown) < len(rows):
            yield f"  and {len(rows) - len(shown)} more (--all lists them)"

    def rewiring(self, rewiring: Rewiring) -> tuple[str, list[str]]:
        """The row of a rewiring: its expressions, and the inputs or layers it concerns."""
        changes = rewiring.changes
        if changes[0].kind == "replaced":
            rounded = ", the same values rounded" if all(self.is_rounded(one) for one in changes) else ""
            return f"{rewiring.before} -> {rewiring.after}{rounded}", [_where(one) for one in changes]
        return f"{rewiring.before} -> {rewiring.after}", [f"{_where(one)}:{one.what}" for one in changes]

    def is_rounded(self, change: Change) -> bool:
        """Whether a Const was replaced by the same values in another precision, with a Convert back, or the reverse."""
        contents = [_content(node, side.weights) for node, side in ((change.a, self.difference.a), (change.b, self.difference.b))]
        try:
            return None not in contents and is_rounded(*contents)  # type: ignore[arg-type]
        except WeightsError:
            return False

    def consequences(self) -> Iterator[str]:
        """The shapes and types that follow from the changes: each Result, and the number of all other layers."""
        effects = self.difference.effects
        if not effects:
            return
        yield ""
        yield f"{self.palette.bold}{'effects' if self.difference.changes else 'shapes and types'}{self.palette.plain}"
        for kind, words in (("shape", "shapes"), ("element_type", "element types")):
            found = [one for one in effects if one.what == kind]
            results = [one for one in found if _is_result(one.a)]
            rest = [one for one in found if not _is_result(one.a)]
            listed = rest if self.is_complete else rest[:1]
            for one in [*(results if self.is_complete else results[:_MOST_ROWS]), *(listed if self.is_complete else ())]:
                yield f"  {escape(_name(one.a))}: {one.before} -> {one.after}"
            if len(results) > _MOST_ROWS and not self.is_complete:
                yield f"  and {len(results) - _MOST_ROWS} more results"
            if rest and not self.is_complete:
                layers = len({one.a for one in rest})
                first = f"{escape(_name(rest[0].a))}: {rest[0].before} -> {rest[0].after}"
                yield f"  {words} of {counted(layers, 'layer')} follow, first {first}"

    def asides(self) -> Iterator[str]:
        """Differences of the files that are no differences of the models, and the reason if constants were not compared."""
        asides = [self.cut(text) for text in dict.fromkeys(self.difference.asides)]
        uncompared = self.difference.uncompared
        asides = [f"constants were not compared: {uncompared}", *asides] if uncompared else asides
        yield from self.section("aside", [(text, []) for text in asides])


def _grouped(rows: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Rows with the same text become one with all names; rows with the most names come first."""
    groups: dict[str, list[str]] = {}
    for text, name in rows:
        groups.setdefault(text, []).append(name)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _arrow(change: Change) -> str:
    return f"{change.before or 'none'} -> {change.after or 'none'}"


def _type(change: Change) -> str:
    return change.a.type if change.a is not None else ""


def _where(change: Change) -> str:
    node = change.a or change.b
    return _name(node) if node is not None else ""


def _name(node: Node) -> str:
    return f"{node.model.path} / {node.name}" if node.model.path else node.name


def _is_result(node: Node) -> bool:
    return node.type == "Result" and node.model.holder is None


def _content(node: Node | None, weights: object) -> Content | None:
    """The content of a Const, or of the Const that a Convert reads."""
    if node is not None and node.type == "Convert" and node.producers:
        node = node.producers[0]
    op = node.op if node is not None else None
    return Content(op, weights) if isinstance(op, Constant) and not op.is_broken else None  # type: ignore[arg-type]
