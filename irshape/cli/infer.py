"""`irshape infer`: print the shapes of a model as a table, then its guards, and write the annotated IR."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from irshape import verbs
from irshape.cli.arguments import add_model_arguments, add_output_arguments, add_symbol_argument
from irshape.cli.batch import Tally, report
from irshape.cli.files import is_one
from irshape.cli.run import CLEAN, FAULTS, RunError, complain, describe, exit_code, layers
from irshape.inference.conditions import is_about_data
from irshape.inference.inference import Inference
from irshape.inference.run import Guard
from irshape.model.model import Model, Node
from irshape.report.text import Palette, cells, counted, diagnostic_lines, escape, layer_text, pad, some, table, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


if TYPE_CHECKING:
    from irshape.answers.signature.data import DataSize
    from irshape.answers.signature.reasons import Because

ABOUT = "Infer the element type and shape of every port; with -o, write them into the IR."
EXAMPLES = """examples:
  irshape infer model.xml
  irshape infer model.xml --input "image[1,3,224..448,?]"
  irshape infer model.xml --input "image[1,3,H,W]" --symbol "H=32..1024" --symbol "W=32*k"
  irshape infer model.xml -o annotated.xml
  irshape infer models/ -o annotated/

exit code: 0 without errors, 1 with errors (then nothing is written), 2 if a file could not be read or written"""

_UNNAMED = re.compile(r"\bd\d+\b")
_CONSTANTS = ("Const", "Constant")
# A longer condition does not widen the column of conditions.
_WIDEST_CONDITION = 40
# The heading over axes that are tied together.
TIED = "with these axes tied together, as in the signature (--raw-symbols leaves them apart)"
# From this many similar guards on, they share one entry, which shows this many of them.
_MANY = 4
_SHOWN = 6


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_output_arguments(command)
    command.add_argument("--all", action="store_true", help="list constants, too")
    add_symbol_argument(command)
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Infer the files, report their shapes, write the annotated IR if -o or --in-place is given, and return the exit code."""
    complaint = misplaced(given)
    if complaint:
        return complain(complaint)
    palette = Palette.choose(given.color, sys.stdout)
    width = terminal_width(sys.stdout)
    is_written = given.output is not None or given.in_place
    is_named = not given.raw_symbols and (is_written or given.format == "text")
    verb = partial(_infer, is_written=is_written) if is_named else verbs.infer
    lines = partial(_lines, is_named, given.all, palette, width)
    return report(given, verb, lines, partial(write, given), prepare=partial(only_targets, given))


def _infer(model: Model, *, is_written: bool, **options: Any) -> Inference:
    """The inference, in the symbols of the signature where formulas are shown or written."""
    inference = verbs.infer(model, **options)
    if not is_written and not _has_formulas(inference):
        return inference
    from irshape.answers.signature.naming import named

    return named(inference)


def misplaced(given: Namespace) -> str | None:
    """The complaint about options that do not go together; None if all do."""
    if given.output is not None and given.in_place:
        return "-o and --in-place do not go together"
    if given.in_place and not is_one(given.files):
        return "--in-place needs exactly one FILE"
    if given.output is not None and not is_one(given.files) and not is_folder(given.output):
        return f"-o {given.output}: several files need a folder, {given.output}{os.sep}"
    return "--weights needs -o" if given.weights is not None and given.output is None else None


def write(given: Namespace, inference: Inference) -> Iterator[str]:
    """Write the annotated file if -o or --in-place is given and the model has no errors, and yield a line that says so."""
    if given.output is None and not given.in_place:
        return
    target = target_of(given, inference.document.path or "")
    if exit_code(inference.diagnostics) != CLEAN:
        raise RunError(f"{target}: not written, because the model has errors", FAULTS)
    try:
        if given.output is not None and is_folder(given.output):
            _make_place(given.output, target)
        inference.write(target, force=given.force, in_place=given.in_place, weights=given.weights or "copy")
    except FileExistsError as error:
        existing = os.fspath(error.filename or target)
        is_input = os.path.exists(existing) and os.path.samefile(existing, inference.document.path or "")
        advice = "--in-place overwrites it" if is_input else "--force overwrites it"
        if existing != target:
            advice += ", --weights none leaves it"
        raise RunError(f"{describe(error, target)} ({advice})") from error
    except OSError as error:
        raise RunError(describe(error, target)) from error
    if given.format == "text":
        yield f"written: {escape(target)}"


def is_folder(output: str) -> bool:
    """Whether -o names a folder: one that exists, or a path that ends in a separator."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def target_of(given: Namespace, path: str) -> str:
    """The path that the annotated IR of a file gets; in the folder of -o, a file found below a folder keeps its path below that."""
    if given.output is None or not is_folder(given.output):
        return str(given.output or path)
    argument = next((one for one in given.files if os.path.isdir(one) and path.startswith(os.path.join(one, ""))), os.path.dirname(path))
    return os.path.join(given.output, os.path.relpath(path, argument or "."))


def _make_place(folder: str, target: str) -> None:
    """Make the folder of a target that is in the folder of -o; a link there could lead out of it, so it is refused."""
    expected = os.path.join(os.path.realpath(folder), os.path.relpath(target, folder))
    if os.path.realpath(target) != expected:
        raise OSError(errno.ELOOP, "not written, because this path is or is below a link, which irshape does not follow", target)
    os.makedirs(os.path.dirname(target), exist_ok=True)


def only_targets(given: Namespace, paths: Sequence[str]) -> None:
    """Raise `RunError` if two files would be written to one path of the folder of -o."""
    if given.output is None or not is_folder(given.output):
        return
    sources: dict[str, str] = {}
    for path in paths:
        target = target_of(given, path)
        stem = os.path.normcase(os.path.splitext(target)[0])
        if (other := sources.setdefault(stem, path)) != path:
            raise RunError(
                f"{other} and {path} would both be written to {target}; write them into two folders, or name their common folder"
            )


def _has_formulas(inference: Inference) -> bool:
    """Whether the report shows formulas: guards are about symbols, and symbols that the user or the file names are what is asked for."""
    return inference.is_conditional or bool(inference.symbols)


def _lines(is_named: bool, is_complete: bool, palette: Palette, width: int | None, inference: Inference) -> Iterator[str]:
    """Title, table, ties, guards, faults and summary of one file."""
    yield title(inference, palette)
    has_formulas = _has_formulas(inference)
    rows, hidden = _rows(inference, has_formulas, is_complete)
    if rows:
        yield ""
        yield from table(("ID", "LAYER", "TYPE", "SHAPE", *(["FORMULA"] if has_formulas else [])), rows, palette, width)
    if hidden:
        yield f"{palette.dim}{counted(hidden, 'constant')} not listed (--all lists them){palette.plain}"
    if has_formulas:
        if is_named and inference.ok and inference.reading is inference and any(map(_UNNAMED.search, inference.formulas.values())):
            yield f"{palette.dim}open sizes are d0, d1, ..., because irshape has found no signature of the model{palette.plain}"
        yield from tie_lines(inference.ties, TIED, palette)
        yield from guards(inference, palette)
    yield from faults(inference, palette)


def title(inference: Inference, palette: Palette) -> str:
    """The first line of a report: the file, its IR version and its number of layers."""
    document = inference.document
    kind = "example of the specification" if document.is_example else f"IR v{document.version}" if document.version else "no IR"
    count = counted(sum(1 for _ in layers(document)), "layer")
    return f"{palette.bold}{escape(document.path or '<input>')}{palette.plain}  {kind}, {count}"


def guards(inference: Inference, palette: Palette) -> Iterator[str]:
    """The conditions on the sizes of the inputs, then those on sizes that depend on data, then the premises of the formulas."""
    if not inference.guards:
        return
    groups = _grouped(inference.guards, inference.data_sizes)
    conditions = [escape(str(group[0].requirement)) for group in groups]
    wide = min(max(map(cells, conditions)), _WIDEST_CONDITION)
    heading = ""
    for condition, group in zip(conditions, groups, strict=True):
        own = _heading(group[0])
        if own != heading:
            heading = own
            yield ""
            yield f"{palette.bold}{heading}{palette.plain}"
        yield f"  {palette.key}{pad(condition, wide)}{palette.plain}  {reason(group[0], palette)}"
        if len(group) > 1:
            others = some([str(guard.requirement) for guard in group[1:]], _SHOWN - 1)
            yield f"  {' ' * wide}  {palette.dim}also {escape(others)}{palette.plain}"


PREMISES: Final = "the formulas hold only where; OpenVINO also accepts other sizes, with other shapes"


def _heading(guard: Guard) -> str:
    """The heading under which a guard is listed."""
    if guard.is_premise:
        return PREMISES
    return "holds only where, for sizes that depend on data" if is_about_data(guard.requirement) else "holds only where"


def guard_lines(guards: Sequence[Guard], palette: Palette, indent: str = "  ") -> Iterator[str]:
    """Conditions in a column, each with the layer that demands it and the reason."""
    conditions = [escape(str(guard.requirement)) for guard in guards]
    wide = min(max(map(cells, conditions), default=0), _WIDEST_CONDITION)
    for condition, guard in zip(conditions, guards, strict=True):
        yield f"{indent}{palette.key}{pad(condition, wide)}{palette.plain}  {reason(guard, palette)}"


def reason(guard: Guard, palette: Palette) -> str:
    """The layer that makes a guard, and its reason."""
    return layer_message(guard._node, guard.requirement.message, palette, guard.more)


def layer_message(node: Node, message: str, palette: Palette, more: int = 0) -> str:
    """A message about a layer and `more` others: `Add loop / body / add_1, line 12 and 3 more layers: the inputs must be equal`."""
    layer = layer_text(node.type, node.model.path, node.name, palette.is_narrow)
    line, _ = node.model.document.position(node.layer.offset)
    others = f" and {counted(more, 'more layer')}" if more else ""
    return f"{layer}, line {line}{others}: {escape(message)}"


def tie_lines(ties: Sequence[Because], heading: str, palette: Palette, *, is_complete: bool = False) -> Iterator[str]:
    """Each axis that the signature ties to others, with the first layer that says so; axes with the same reason share a line."""
    if not ties:
        return
    from irshape.answers.signature.notes import listed

    yield ""
    yield f"{palette.bold}{heading}{palette.plain}"
    groups: dict[object, list[Because]] = {}
    for one in ties:
        guard = one.guards[0] if one.guards else None
        key = (one.axis, one.size, one.reason, guard and (guard._node.type, guard.requirement.template))
        groups.setdefault(one if is_complete else key, []).append(one)
    rows = [(f"{listed(tuple(escape(one.name) for one in group))} axis {group[0].axis}", group) for group in groups.values()]
    wide = max(cells(label) for label, _ in rows)
    size = max(cells(one.size) for one in ties)
    for label, group in rows:
        yield f"  {pad(label, wide)}  {palette.key}{pad(group[0].size, size)}{palette.plain}  {_why(group, palette)}"


def _why(group: Sequence[Because], palette: Palette) -> str:
    """The first layer that ties the axes of a group, and how many others do."""
    guards = [guard for one in group for guard in one.guards]
    if not guards:
        return "the variable is assigned this size"
    first = guards[0]
    return layer_message(
        first._node, first.requirement.message, palette, first.more + len({guard._node for guard in guards[1:]} - {first._node})
    )


def _grouped(guards: Iterable[Guard], data_sizes: Iterable[DataSize]) -> list[list[Guard]]:
    """The guards in groups; guards that demand the same of different unnamed sizes, or of sizes that data decide, go together."""
    unnamed = re.compile("|".join([_UNNAMED.pattern, *(rf"\b{one.name}\b" for one in data_sizes)]))
    groups: dict[object, list[Guard]] = {}
    for guard in guards:
        requirement = guard.requirement
        text = str(requirement)
        is_lone = len(requirement.symbols()) == 1 and unnamed.search(text)
        key = (guard._node.type, requirement.template, unnamed.sub("d", text)) if is_lone else guard
        groups.setdefault(key, []).append(guard)
    return [one for group in groups.values() for one in ([group] if len(group) >= _MANY else [[guard] for guard in group])]


def faults(inference: Inference, palette: Palette) -> Iterator[str]:
    """The diagnostics of one file and its summary."""
    if inference.diagnostics:
        yield ""
        for diagnostic in inference.diagnostics:
            yield from diagnostic_lines(diagnostic, palette)
    yield ""
    yield str(Tally().add(sum(1 for _ in layers(inference.document)), inference.diagnostics))


def _rows(inference: Inference, has_formulas: bool, is_complete: bool) -> tuple[list[tuple[str, ...]], int]:
    """The cells of the table, one row for each port, and the number of constants that were left out."""
    ports, formulas = inference.ports, inference.formulas
    sources: dict[int, dict[int, str]] = {}
    rows: list[tuple[str, ...]] = []
    hidden = 0
    for key, depth, layer, graph in layers(inference.document):
        if layer.type in _CONSTANTS and not is_complete:
            hidden += 1
            continue
        prefix = key.removesuffix(str(layer.id))
        if layer.signature.output_count:
            keys = [f"{key}:{id}" for id in layer.signature.output_ids]
        else:  # a Result shows the port that it reads
            feeds = sources.setdefault(id(graph), {})
            if not feeds:
                feeds.update((edge.to_layer, f"{edge.from_layer}:{edge.from_port}") for edge in graph.edges)
            keys = [prefix + feeds[layer.id]] if layer.id in feeds else [""]
        first = [key, "  " * depth + escape(layer.name), escape(layer.type)]
        for number, port in enumerate(keys):
            element_type, shape = ports.get(port, ("", ""))
            label = f"{port.rpartition(':')[2]}: " if len(keys) > 1 else ""
            row = [*(first if number == 0 else ("", "", "")), f"{label}{element_type}{shape}"]
            if has_formulas:
                row.append(formulas.get(port, ""))
            rows.append(tuple(row))
    return rows, hidden
