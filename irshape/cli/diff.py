"""`irshape diff`: the changes between two IRs on one screen, causes first; of two folders, a line for each IR."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from irshape import verbs
from irshape.answers.diff import Change, ConstantBytes, Difference, Effect, apart
from irshape.answers.rewiring import Rewiring, rewirings
from irshape.answers.wording import title
from irshape.cli.arguments import add_colour, add_limit, add_operations
from irshape.cli.examination import whole_model
from irshape.cli.run import CLEAN, FAILED, FAULTS, RunError, complain, internal, put
from irshape.cli.running import add_run_arguments, ran, unasked
from irshape.cli.running import sections as run_sections
from irshape.inference.inputs import InputError
from irshape.model.finding import end_name
from irshape.model.model import Node, grouped
from irshape.model.public import published
from irshape.ops.infrastructure import Constant
from irshape.report.form import readable
from irshape.report.section import Block, Column, Fit, Item, Section, Table, dim, key, paragraph
from irshape.report.terminal import lines
from irshape.report.text import Palette, bytes_text, counted, number_text, some
from irshape.xml.weights import WeightsError

if TYPE_CHECKING:
    from irshape.answers.cost.cost import Comparison
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

# The most rows of each kind of change, and the most layers that a row names.
_MOST_ROWS = 6
_MOST_NAMES = 3


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("a", metavar="A", help="the IR before, or a folder of IRs")
    help = "the IR after, or a folder: its IRs are compared with those of the same names in A"
    command.add_argument("b", metavar="B", nargs="?", help=help)
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

        if given.run:
            return complain("a reference has no weights to run: leave out --run")
        return referred(given, partial(whole_model, limits=given.limits, extensions=given.extensions))
    if given.b is None:
        return complain("give two models or two folders, or --reference DIR and one model or folder")
    if os.path.isdir(given.a) or os.path.isdir(given.b):
        from irshape.cli.folders import compared

        return compared(given, partial(_summed_up, given))
    try:
        difference, comparison = _compared(given, given.a, given.b)
        palette = Palette.choose(given.color, sys.stdout)
        if given.format == "json":
            text = readable(_data(difference, comparison))
        else:
            text = "\n".join(lines(_sections(difference, comparison, is_complete=given.all), palette))
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
    models = [whole_model(path, given.limits, given.extensions) for path in (a, b)]
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
    if comparison is not None:
        return CLEAN if comparison.is_same and not comparison.missing else FAULTS
    if not difference.is_same:
        return FAULTS
    return FAILED if difference.uncompared and not given.no_weights else CLEAN


def _sections(difference: Difference, comparison: RunComparison | None, *, is_complete: bool) -> Iterator[Section]:
    yield from sections(difference, is_complete=is_complete)
    if comparison is not None:
        yield from run_sections(comparison, [(one.before, one.after) for one in difference.changes], is_complete=is_complete)


def sections(difference: Difference, *, is_complete: bool) -> Iterator[Section]:
    """The difference: its files, its changes, what follows from them, and its costs."""
    yield paragraph(*(title(side.document) for side in (difference.a, difference.b)))
    page = _Page(difference, is_complete)
    yield from page.sections()
    yield page.consequences()
    yield page.asides()
    if difference.cost is not None:
        yield _costs(difference.cost)
    yield paragraph(difference.summary)


def _costs(found: Comparison) -> Section:
    near = f" at {', '.join(f'{name}={size}' for name, size in found.near.items())}" if found.near else ""
    rows = []
    for name, words, text in _COMPARED:
        before, after = map(text, found.values(name))
        rows.append((words, before, "->", after))
    number = Column(is_number=True, least=9)
    return Section(f"cost{near}", [Table((Column("key"), number, Column(), number), rows), found.summary])


class _Page:
    """The text of a difference, section by section; `is_complete` leaves nothing out."""

    def __init__(self, difference: Difference, is_complete: bool) -> None:
        self.difference = difference
        self.is_complete = is_complete
        self.kinds = grouped((change.kind, change) for change in difference.changes)

    def sections(self) -> Iterator[Section]:
        """One section for each kind of change; changes of inputs and outputs come first."""
        rewired, mentioned = rewirings(self.difference)
        yield self.section("model", [(f"IR version {_arrow(one)}", []) for one in self.of("ir_version")])
        a, b = self.difference.a, self.difference.b
        sides = [(a, one.a, "removed") for one in (*self.of("removed"), *self.of("replaced"))]
        sides += [(b, one.b, "added") for one in (*self.of("added"), *self.of("replaced"))]
        given = [(side.view(node).outputs, node, kind) for side, node, kind in sides if node in side.model.parameters]
        inputs = {node: f"{outputs[0]!r}: {kind}" for outputs, node, kind in given if outputs}
        ends: list[tuple[str, list[str]]] = [(f"{_name(node)} {text}", []) for node, text in inputs.items()]
        for heading, kind in (("inputs", "parameter"), ("layouts", "layout"), ("tensor names", "tensor_names")):
            own = ends if kind == "parameter" else []
            yield self.section(heading, [*own, *[(f"{_where(one)}: {_what(one)}{_arrow(one)}", []) for one in self.of(kind)]])
        yield self.section("order", [(f"{one.what}: {_arrow(one)}", []) for one in self.of("order")], is_long=True)
        for heading, kind in (("layers replaced", "replaced"), ("edges rewired", "edge")):
            yield self.section(heading, [row for one in rewired if one.changes[0].kind == kind for row in self.rewiring(one)])
        for heading, kind in (("layers added", "added"), ("layers removed", "removed")):
            nodes = [node for one in self.of(kind) if (node := one.a or one.b) is not None and node not in inputs]
            rows = _grouped((node.type, _name(node)) for node in nodes if node not in mentioned or _is_result(node))
            above = sum(node in mentioned and not _is_result(node) for node in nodes)
            yield self.section(heading, [*rows, *([(f"{counted(above, 'layer')} that the rows above name", [])] if above else [])])
        yield self.section("layers renamed", self.renamings())
        attributes = [one for one in self.of("attribute") if one.a not in mentioned]
        for heading, changes in (("opsets", self.of("version")), ("attributes", attributes), ("outputs", self.of("outputs"))):
            yield self.section(heading, _grouped((f"{_type(one)}: {_what(one)}{_arrow(one)}", _where(one)) for one in changes))
        constants = sorted(self.of("constant"), key=lambda one: -(self.apart(one) or 0))
        yield self.section("constants", _grouped((f"{_type(one)}: {_arrow(one)}", _where(one)) for one in constants))
        yield self.section("port maps", [(f"{_where(one)}: {_arrow(one)}", []) for one in self.of("port_map")], is_long=True)

    def renamings(self) -> list[tuple[str, list[str]]]:
        """A row for each new beginning that several names have, the most frequent first, then one for each other name."""
        beginnings: dict[str, list[Change]] = {}
        for one in self.of("renamed"):
            before, after = one.before or "", one.after or ""
            while before and before[-1:] == after[-1:]:
                before, after = before[:-1], after[:-1]
            beginnings.setdefault(f"{before}… -> {after}…", []).append(one)
        rows: list[tuple[str, list[str]]] = []
        for text, changes in sorted(beginnings.items(), key=lambda item: -len(item[1])):
            is_one = not self.is_complete and len(changes) > _MOST_NAMES
            rows += [(text, list(map(_where, changes)))] if is_one else [(f"{_type(one)} {_arrow(one)}", []) for one in changes]
        return rows

    def of(self, kind: str) -> list[Change]:
        return self.kinds.get(kind, [])

    def section(self, heading: str, rows: Sequence[tuple[str, list[str]]], *, is_long: bool = False) -> Section:
        """A heading and its rows, each with the number and the names of its layers; rows of long texts are cut on a terminal."""
        blocks: list[Block] = []
        shown = rows if self.is_complete else rows[:_MOST_ROWS]
        widest = max((len(str(len(names))) for _, names in shown), default=0)
        for text, names in shown:
            if names:
                about = dim(some(names, None if self.is_complete else _MOST_NAMES))
                blocks.append(Item((key(f"{len(names):{widest}}"), f" {text}"), [about if self.is_complete else Fit(about)], widest + 1))
            else:
                blocks.append(Fit(text) if is_long and not self.is_complete else text)
        if len(shown) < len(rows):
            blocks.append(f"and {len(rows) - len(shown)} more (--all lists them)")
        return Section(heading if blocks else "", blocks)

    def rewiring(self, rewiring: Rewiring) -> Iterator[tuple[str, list[str]]]:
        """The rows of a rewiring: its expressions, and the inputs or layers it concerns; what is more than rounded comes first."""
        text = f"{rewiring.before} -> {rewiring.after}"
        if rewiring.changes[0].kind != "replaced":
            yield text, [f"{_where(one)}:{one.what}" for one in rewiring.changes]
            return
        both = sorted(((self.apart(one), _where(one)) for one in rewiring.changes), key=lambda pair: -(pair[0] or 0))
        more, rounded = ", values that differ by more than rounding", ", the same values rounded"
        for words, is_one in ((more, lambda one: one), ("", lambda one: one is None), (rounded, lambda one: one == 0)):
            if names := [name for one, name in both if is_one(one)]:
                yield f"{text}{words}", names

    def apart(self, change: Change) -> float | None:
        """How far a Const is from the one in its place, in another precision with a Convert back, or the reverse; None if there is none."""
        a, b = [_content(node, side.weights) for node, side in ((change.a, self.difference.a), (change.b, self.difference.b))]
        try:
            return None if a is None or b is None else apart(a, b)
        except WeightsError:
            return None

    def consequences(self) -> Section:
        """The shapes and types that follow from the changes: each Result, and the number of all other layers."""
        effects, lines = self.difference.effects, []
        for kind, words in (("shape", "shapes"), ("element_type", "element types")):
            found = [one for one in effects if one.what == kind]
            results = [_effect(one) for one in found if _is_result(one.a)]
            rest = [one for one in found if not _is_result(one.a)]
            if self.is_complete:
                lines += [*results, *map(_effect, rest)]
                continue
            lines += results[:_MOST_ROWS]
            if len(results) > _MOST_ROWS:
                lines.append(f"and {len(results) - _MOST_ROWS} more results")
            if rest:
                layer = "other layer" if results else "layer"
                lines.append(f"{words} of {counted(len({one.a for one in rest}), layer)} follow, first {_effect(rest[0])}")
        return Section(("effects" if self.difference.changes else "shapes and types") if lines else "", lines)

    def asides(self) -> Section:
        """Differences of the files that are no differences of the models, and the reason if constants were not compared."""
        uncompared = self.difference.uncompared
        asides = [*([f"constants were not compared: {uncompared}"] if uncompared else []), *dict.fromkeys(self.difference.asides)]
        return self.section("aside", [(text, []) for text in asides], is_long=True)


def _effect(change: Effect) -> str:
    return f"{_name(change.a)}: {change.before} -> {change.after}"


def _grouped(rows: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Rows with the same text become one with all names; rows with the most names come first."""
    return sorted(grouped(rows).items(), key=lambda group: -len(group[1]))


def _arrow(change: Change) -> str:
    return f"{change.before or 'none'} -> {change.after or 'none'}"


def _type(change: Change) -> str:
    return change.a.type if change.a is not None else ""


def _what(change: Change) -> str:
    """The attribute, or the number of the output if it is not the first."""
    return f"{change.what} " if change.what.strip("0") else ""


def _where(change: Change) -> str:
    node = change.a or change.b
    return _name(node) if node is not None else ""


def _name(node: Node) -> str:
    return f"{node.model.path} / {node.name}" if node.model.path else end_name(node) if node.type == "Parameter" else node.name


def _is_result(node: Node) -> bool:
    return node.type == "Result" and node.model.holder is None


def _content(node: Node | None, weights: object) -> ConstantBytes | None:
    """The content of a Const, or of the Const that a Convert reads."""
    if node is not None and node.type == "Convert" and node.producers:
        node = node.producers[0]
    op = node.op if node is not None else None
    return ConstantBytes(op, weights) if isinstance(op, Constant) and not op.is_broken else None  # type: ignore[arg-type]


# The amounts of costs that are compared, each with its words and the form of its numbers.
_COMPARED: Final = (
    ("macs", "MACs", number_text),
    ("operations", "other operations", number_text),
    ("parameters", "parameters", number_text),
    ("parameter_bytes", "their bytes", bytes_text),
    ("traffic", "traffic", bytes_text),
    ("peak_memory", "peak memory", bytes_text),
)
