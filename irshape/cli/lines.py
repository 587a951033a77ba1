"""The lines that several commands print: the title of a file, conditions with their layers, ties, and faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from irshape.cli.batch import Tally
from irshape.cli.run import layer_count
from irshape.inference.conditions import is_about_data
from irshape.inference.inference import Inference
from irshape.inference.run import Guard
from irshape.model.model import Node
from irshape.report.text import Palette, cells, counted, escape, layer_text, pad, report_lines, some

if TYPE_CHECKING:
    from irshape.answers.signature.notes import Because, DataSize

UNNAMED = re.compile(r"\bd\d+\b")
# A longer condition does not widen the column of conditions.
_WIDEST_CONDITION = 40
# The heading over axes that are tied together.
TIED = "axes that must agree (--raw-symbols separates them)"
# From this many similar guards on, they share one entry, which shows this many of them.
_MANY = 4
_SHOWN = 6
_REFUSED: Final = "valid only where (OpenVINO refuses other sizes)"
_REFUSED_DATA: Final = "valid only where, for sizes that depend on data (OpenVINO refuses others)"
_PREMISES: Final = "formulas hold only if (for other sizes, OpenVINO infers other shapes)"


def title(inference: Inference, palette: Palette) -> str:
    """The first line of a report: the file, its IR version and its number of layers."""
    document = inference.document
    kind = "example of the specification" if document.is_example else f"IR v{document.version}" if document.version else "no IR"
    count = counted(layer_count(document), "layer")
    return f"{palette.bold}{escape(document.path or '<input>')}{palette.plain}  {kind}, {count}"


def shows_formulas(inference: Inference) -> bool:
    """Whether a report shows formulas: guards are about symbols, and symbols that the user or the file names are what is asked for."""
    return inference.is_conditional or bool(inference.symbols)


def in_names(inference: Inference, *, is_whole: bool) -> Inference:
    """The inference in the symbols of the signature, where its report shows formulas; with `is_whole`, data or a file have all of them."""
    if not is_whole and not shows_formulas(inference):
        return inference
    from irshape.answers.signature.naming import named

    return named(inference)


def guards(inference: Inference, palette: Palette) -> Iterator[str]:
    """The conditions on sizes of inputs, those on sizes that depend on data, the premises of the formulas, and then those of branches."""
    if not inference.guards:
        return
    groups = _grouped(inference.guards, inference.data_sizes)
    conditions = [escape(str(group[0].requirement)) for group in groups]
    wide = min(max(map(cells, conditions)), _WIDEST_CONDITION)
    last = ""
    for condition, group in zip(conditions, groups, strict=True):
        own = heading(group[0])
        if own != last:
            last = own
            yield ""
            yield f"{palette.bold}{own}{palette.plain}"
        yield f"  {palette.key}{pad(condition, wide)}{palette.plain}  {reason(group[0], palette)}"
        if len(group) > 1:
            others = some([str(guard.requirement) for guard in group[1:]], _SHOWN - 1)
            yield f"  {' ' * wide}  {palette.dim}also {escape(others)}{palette.plain}"


def heading(guard: Guard) -> str:
    """The heading under which a guard is listed."""
    text = _PREMISES if guard.is_premise else _REFUSED_DATA if is_about_data(guard.requirement) else _REFUSED
    return f"if {escape(guard.branch)} runs, {text}" if guard.branch else text


def remedy_lines(inference: Inference, palette: Palette) -> Iterator[str]:
    """The command that sets what a target misses."""
    if inference.remedy is not None and inference.document.path:
        yield f"set them with: {palette.key}{escape(inference.remedy.command(inference.document.path))}{palette.plain}"


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
    unnamed = re.compile("|".join([UNNAMED.pattern, *(rf"\b{one.name}\b" for one in data_sizes)]))
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
        yield from report_lines(inference.diagnostics, palette)
    yield ""
    yield str(Tally().add(layer_count(inference.document), inference.diagnostics))
