"""`irshape cost`: what a model computes, reads and writes, and the memory that it takes, as numbers and as formulas."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from irshape import verbs
from irshape.answers.cost.cost import Comparison, Cost, CostTensor
from irshape.answers.cost.counting import LayerCost
from irshape.answers.cost.formula import Amount, Formula
from irshape.cli.arguments import LAYERS, add_model_arguments
from irshape.cli.batch import report
from irshape.cli.files import is_one
from irshape.cli.output import check_outputs
from irshape.cli.rows import keys_of, nothing
from irshape.cli.run import RunError, complain, describe
from irshape.cli.signature import WIDTH, opening, signature_lines
from irshape.cli.sizes import near_sizes
from irshape.model.model import Model
from irshape.report.text import Palette, bytes_text, cells, counted, escape, number_text, pad, shorten, some

ABOUT = "Count what a model computes, reads and writes, and the memory that it takes, as numbers or as formulas of its input sizes."
EXAMPLES = """examples:
  irshape cost model.xml
  irshape cost model.xml --near "H=512,W=512"
  irshape cost model.xml --set S=128,256,512
  irshape cost model.xml --input "image[1,3,224,224]"
  irshape cost model.xml --csv layers.csv --plot cost.svg

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read or written"""

# The most rows of a list, names of layers in a row, and pieces of the sizes of a symbol; the widths of a bar, a name and a formula.
_MOST_ROWS: Final = 8
_MOST_NAMES: Final = 3
_MOST_STRETCHES: Final = 6
_BAR: Final = 20
_WIDEST_NAME: Final = 56
_WIDEST_FORMULA: Final = 100
# The deepest beginning of names by which layers are grouped, the most groups, and what separates the parts of a name.
_DEEPEST: Final = 6
_MOST_GROUPS: Final = 12
_SEPARATOR: Final = re.compile(r"[./]| / ")
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
    return report(given, verb, partial(_lines, palette, given.layer, is_complete=given.all), partial(_write, given))


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


def _lines(palette: Palette, layers: Sequence[str], cost: Cost, *, is_complete: bool) -> Iterator[str]:
    """Title, totals, memory, groups and the costliest layers of one file."""
    page = _Page(cost, palette, layers, is_complete)
    sections = (page.sizes(), page.sweep(), page.totals(), page.memory(), page.groups(), page.layers(), page.asides())
    text = [line for section in sections for line in section]  # which may add a diagnostic
    yield from opening(cost._inference, cost.diagnostics, palette)
    yield ""
    yield from text


class _Page:
    """The text of a cost, section by section; `is_complete` leaves nothing out, `selected` are the layers that are asked for."""

    def __init__(self, cost: Cost, palette: Palette, selected: Sequence[str], is_complete: bool) -> None:
        self.cost = cost
        self.selected = selected
        self.palette = palette
        self.is_complete = is_complete
        self.work = {layer: cost.at(layer.flops) for layer in cost.layers}
        self.all_work = sum(self.work.values())

    def sizes(self) -> Iterator[str]:
        """The signature, and the sizes at which numbers are given."""
        cost = self.cost
        if cost.signature is None:
            return
        yield from signature_lines(cost.signature, self.palette, WIDTH, is_complete=self.is_complete)
        if cost.near:
            yield ""
            sizes = ", ".join(f"{name}={size}" for name, size in cost.near.items())
            remark = "" if cost.is_near_valid else " (these sizes do not fulfil the conditions of the model)"
            yield f"numbers are those at {self.palette.key}{escape(sizes)}{self.palette.plain}{remark}; --near changes the sizes"
        for name, nodes in _by_type(cost).items():
            yield f"{escape(name)}: known only when the model runs, by {escape(nodes)}"
        yield ""

    def sweep(self) -> Iterator[str]:
        """The amounts at several sizes, a row for each."""
        rows = self.cost.swept
        if not rows:
            return
        has_state = any(row.state_bytes for row in rows)
        head = [*rows[0].sizes, "MACs", "FLOPs", "traffic", "peak memory", *(["state"] if has_state else [])]
        texts = [
            [
                *map(str, row.sizes.values()), number_text(row.macs),
                number_text(row.flops), bytes_text(row.traffic), bytes_text(row.peak_memory),
                *([bytes_text(row.state_bytes)] if has_state else []),
            ]
            for row in rows
        ]  # fmt: skip
        widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
        palette = self.palette
        yield palette.key + "  ".join(f"{name:>{width}}" for name, width in zip(head, widths, strict=True)) + palette.plain
        for row, text in zip(rows, texts, strict=True):
            remark = "" if row.is_valid else "  not valid"
            yield "  ".join(f"{one:>{width}}" for one, width in zip(text, widths, strict=True)) + remark
        yield ""

    def totals(self) -> Iterator[str]:
        """The amounts of the whole model."""
        cost = self.cost
        rows = [
            ("MACs", *self.shown(cost.macs, number_text)),
            ("other operations", *self.shown(cost.operations, number_text)),
            ("FLOPs", *self.shown(cost.flops, number_text)),
        ]
        kinds = ", ".join(f"{name} {number_text(count)} ({bytes_text(size)})" for name, (count, size) in cost.parameters_by_type.items())
        rows.append(("parameters", f"{number_text(cost.parameters)} in {bytes_text(cost.parameter_bytes)}", kinds))
        intensity = cost.intensity
        each = "" if intensity is None else f"{intensity:.1f} FLOPs for each byte"
        rows.append(("traffic", self.shown(cost.traffic, bytes_text)[0], each))
        for what, tensors in (("inputs", cost.inputs), ("outputs", cost.outputs)):
            rows += self.tensors(what, tensors)
        yield from self.table(rows)

    def tensors(self, what: str, tensors: Sequence[CostTensor]) -> Iterator[tuple[str, str, str]]:
        """The rows of inputs or outputs; those that take the same bytes share one."""
        groups: dict[tuple[str, str], list[str]] = {}
        for one in tensors:
            groups.setdefault(("not known", "") if one.bytes is None else self.shown(one.bytes, bytes_text), []).append(one.name)
        for number, ((text, formula), names) in enumerate(groups.items()):
            each = f" and {len(names) - 1} more, each" if len(names) > 1 else ""
            yield what if number == 0 else "", text, f"{names[0]}{each} {formula}".strip()

    def memory(self) -> Iterator[str]:
        """The peak of the activations, and the variables."""
        cost = self.cost
        rows = []
        if cost.state:
            each = Counter(self.shown(one.after, bytes_text)[1] for one in cost.state)
            parts = [f"{count} variables, each {text}" if count > 1 else text for text, count in each.items() if text]
            rows.append(("state", self.shown(cost.state_bytes, bytes_text)[0], "; ".join(parts)))
        node = cost.peak.layer(cost.near)
        if node is not None:
            formula = self.shown(cost.peak.formula(cost.near), bytes_text)[1]
            rows.append(
                (
                    "peak memory",
                    self.shown(cost.peak_memory, bytes_text)[0],
                    f"in {node.type} {node.name}{': ' if formula else ''}{formula}",
                )
            )
        yield from self.table(rows)
        for symbol in cost.symbols:
            stretches = cost.stretches(symbol)
            if len(stretches) < 2 and not any(len(one.layers) > 1 for one in stretches):
                continue
            others = ", ".join(f"{name}={size}" for name, size in cost.near.items() if name != symbol)
            yield f"  as {symbol} grows{f', with {escape(others)}' if others else ''}, the peak is"
            shown = stretches if self.is_complete else stretches[:_MOST_STRETCHES]
            for one in shown:
                until = f"up to {one.high:,}" if one is shown[0] and one.high is not None else f"from {one.low:,}"
                turns = "by turns " if len(one.layers) > 1 else ""
                layers = "; ".join([f"{node.type} {node.name}: {self.formula(memory)}" for node, memory in one.layers])
                yield f"    {self.palette.key}{symbol} {until}{self.palette.plain} {turns}in {escape(layers)}"
            if len(shown) < len(stretches):
                yield f"    and {len(stretches) - len(shown)} more (--all lists them)"

    def groups(self) -> Iterator[str]:
        """The work by type, and by the beginnings of names."""
        working = [layer for layer in self.cost.layers if self.work[layer]]
        for heading, keys in (("by type", [one.type for one in working]), ("by name", _prefixes([one.path for one in working]))):
            found: dict[str, list[LayerCost]] = {}
            for layer, key in zip(working, keys or (), strict=keys is not None):
                found.setdefault(key, []).append(layer)
            ordered = sorted(found.items(), key=lambda item: -sum(self.work[layer] for layer in item[1]))
            if len(ordered) > 1:
                rows = [(f"{key} ({len(layers)})" if len(layers) > 1 else key, layers) for key, layers in ordered]
                yield from self.bars(heading, rows)

    def layers(self) -> Iterator[str]:
        """The layers with most work, or those that are asked for, each with its id and the formula of its MACs."""
        wanted = keys_of(self.cost._inference.model, self.selected) if self.selected else None
        dearest = sorted(self.cost.layers, key=lambda layer: -self.work[layer])
        own = [one for one in dearest if (self.work[one] if wanted is None else one.node.key in wanted)]
        rows = [(f"{one.node.key} {one.type} {one.path}", [one]) for one in own]
        if rows:
            yield from self.bars("costliest layers" if wanted is None else "layers", rows, has_formulas=True, is_whole=wanted is not None)
        elif wanted is not None:
            model = self.cost._inference.model
            told = [f"{node.type} {node.name}" for graph in model.graphs() for node in graph.nodes if node.key in wanted]
            yield ""
            yield escape(f"{some(told, _MOST_NAMES)} computes nothing when the model runs" if told else nothing(model, self.selected))

    def bars(
        self, heading: str, rows: Sequence[tuple[str, Sequence[LayerCost]]], *, has_formulas: bool = False, is_whole: bool = False
    ) -> Iterator[str]:
        """Rows of work with bars."""
        palette, cost = self.palette, self.cost
        shown = rows if self.is_complete or is_whole else rows[:_MOST_ROWS]
        names = [shorten(escape(name), _WIDEST_NAME) for name, _ in shown]
        width = max(map(cells, names))
        yield ""
        head = f"{heading:{width}}  {'MACs':>9}  {'others':>9}  {'bytes':>9}  {'FLOPs/B':>7}  FLOPs"
        yield f"{palette.bold}{head}{palette.plain}"
        for name, (_, layers) in zip(names, shown, strict=True):
            macs, others = sum([cost.at(layer.macs) for layer in layers]), sum([cost.at(layer.operations) for layer in layers])
            moved = sum([cost.at(amount) for layer in layers for amount in (layer.weights, layer.inputs, layer.outputs)])
            work = sum(self.work[layer] for layer in layers)
            share = work / self.all_work if self.all_work else 0
            intensity = f"{work / moved:.1f}" if moved else ""
            formula = layers[0].macs if has_formulas and isinstance(layers[0].macs, Formula) else None
            bar = f"{share:6.1%} {_bar(share)}"
            text = f"{number_text(macs):>9}  {number_text(others):>9}  {bytes_text(moved):>9}  {intensity:>7}  {bar}"
            yield f"{palette.key}{pad(name, width)}{palette.plain}  {text}  {escape(self.formula(formula)) if formula else ''}".rstrip()
        if len(shown) < len(rows):
            yield f"and {len(rows) - len(shown)} more (--all lists them)"

    def asides(self) -> Iterator[str]:
        """What is not counted."""
        cost = self.cost
        reasons: dict[str, list[str]] = {}
        for layer in cost.uncounted:
            reasons.setdefault(layer.uncounted or "", []).append(f"{layer.type} {layer.path}")
        if reasons or cost.folded or cost.peak.unknown:
            yield ""
        for reason, names in reasons.items():
            about = escape(some(names, None if self.is_complete else _MOST_NAMES))
            yield f"not counted: {counted(len(names), 'layer')}, because {reason}: {about}"
        if cost.peak.unknown:
            names = list(dict.fromkeys(f"{node.type} {node.name}" for node in cost.peak.unknown))
            about = escape(some(names, None if self.is_complete else _MOST_NAMES))
            yield f"not in the memory: outputs of {counted(len(names), 'layer')} whose bytes are not known: {about}"
        if cost.folded:
            verb = "is" if cost.folded == 1 else "are"
            yield f"{counted(cost.folded, 'layer')} of constants alone {verb} computed before the model runs, and cost nothing here"

    def shown(self, found: Amount, text: Callable[[int], str]) -> tuple[str, str]:
        """An amount as a number, and as a formula if it is one."""
        return text(self.cost.at(found)), self.formula(found) if isinstance(found, Formula) else ""

    def formula(self, found: Amount) -> str:
        """A formula as it fits: whole, or its leading terms."""
        if isinstance(found, int):
            return bytes_text(found)
        whole = str(found)
        if self.is_complete or len(whole) <= _WIDEST_FORMULA:
            return whole
        return f"about {shorten(found.leading, _WIDEST_FORMULA)}"

    def table(self, rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
        """Rows of a name, a number and a text."""
        palette = self.palette
        for name, number, text in rows:
            yield f"{palette.key}{pad(name, 16)}{palette.plain}  {number:<22}  {escape(text)}".rstrip()


def comparison_lines(found: Comparison, palette: Palette) -> Iterator[str]:
    """The costs of two models, before and after."""
    yield ""
    near = f" at {', '.join(f'{name}={size}' for name, size in found.near.items())}" if found.near else ""
    yield f"{palette.bold}cost{palette.plain}{escape(near)}"
    for name, words, text in _COMPARED:
        before, after = found.values(name)
        yield f"  {palette.key}{pad(words, 16)}{palette.plain}  {text(before):>9} -> {text(after):>9}"
    yield f"  {escape(found.summary)}"


def _by_type(cost: Cost) -> Mapping[str, str]:
    """The sizes that only a run tells, grouped by the type of the layers that decide them."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for one in cost.data_sizes:
        names, nodes = found.setdefault(one.node.type, ([], []))
        names.append(one.name)
        nodes.append(one.node.name)
    return {some(names, _MOST_NAMES): f"{type} {some(nodes, _MOST_NAMES)}" for type, (names, nodes) in found.items()}


def _prefixes(paths: Sequence[str]) -> list[str] | None:
    """The beginning of each name, with as many parts of it as still make few groups; None if names have no common beginnings."""
    parts = [[part for part in _SEPARATOR.split(path) if part and part != "__module"] for path in paths]
    found = None
    for depth in range(1, _DEEPEST + 1):
        groups = [".".join(one[:depth]) for one in parts]
        if len(set(groups)) > _MOST_GROUPS:
            break
        found = groups
    return found


def _bar(share: float) -> str:
    can_draw = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    return ("█" if can_draw else "#") * round(share * _BAR)


# The amounts of a comparison, each with its words and the form of its numbers.
_COMPARED: Final = (
    ("macs", "MACs", number_text),
    ("operations", "other operations", number_text),
    ("parameters", "parameters", number_text),
    ("parameter_bytes", "their bytes", bytes_text),
    ("traffic", "traffic", bytes_text),
    ("peak_memory", "peak memory", bytes_text),
)
