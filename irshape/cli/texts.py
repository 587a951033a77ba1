"""What several commands say of an inference: the table of ports, conditions with their layers, remedies, and faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from irshape.answers.wording import heading, reason, reasons
from irshape.cli.batch import Tally
from irshape.inference.inference import Inference
from irshape.inference.run import Guard
from irshape.report.section import Block, Column, Line, Section, Span, Table, dim, faults, key, paragraph
from irshape.report.terminal import lines
from irshape.report.text import WIDEST, Palette, some

if TYPE_CHECKING:
    from irshape.answers.signature.data import DataSize

UNNAMED = re.compile(r"\bd\d+\b")
# The heading over axes that are tied together.
TIED = "axes that must agree (--raw-symbols separates them)"
# From this many similar guards on, they share one entry, which shows this many of them.
_MANY = 4
_SHOWN = 6
_PORT: Final = (Column("dim", is_number=True, most=WIDEST), Column(most=WIDEST, is_cut=True), Column("key", most=WIDEST, is_cut=True))


def shown(palette: Palette, sections: Callable[..., Iterable[Section]], *answer: Any) -> Iterator[str]:
    """The lines of the text of an answer."""
    return lines(sections(*answer), palette)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Rows about ports: an id, a layer and its type, then shapes, which go below where they do not fit; without an empty last column."""
    used = len(head) - (bool(rows) and not any(row[-1] for row in rows))
    further = [*[Column(most=WIDEST, is_below=True)] * max(used - 4, 0), *([Column(is_below=True)] if used > 3 else [])]
    columns = [*_PORT[: min(used, 3)], *further]
    return Table(columns, [[*row[:3], *map(shape, row[3:4]), *row[4:]][:used] for row in rows], head[:used])


def shape(text: str) -> Line:
    """A shape; one that is not known whole is marked."""
    return Span(text, "unknown") if "?" in text or ".." in text else text


def shows_formulas(inference: Inference) -> bool:
    """Whether a report shows formulas: guards are about symbols, and symbols that the user or the file names are what is asked for."""
    return inference.is_conditional or bool(inference.symbols)


def in_names(inference: Inference, *, is_whole: bool) -> Inference:
    """The inference in the symbols of the signature, where its report shows formulas; with `is_whole`, data or a file have all of them."""
    if not is_whole and not shows_formulas(inference):
        return inference
    from irshape.answers.signature.naming import named

    return named(inference)


def guards(inference: Inference) -> Iterator[Section]:
    """The conditions on sizes of inputs, those on sizes that depend on data, the premises of the formulas, and then those of branches."""
    groups = _grouped(inference.guards, inference.data_sizes)
    for title, members in groupby(groups, lambda group: heading(group[0])):
        rows: list[tuple[str, Line]] = []
        for first, *others in members:
            rows.append((str(first.requirement), reason(first)))
            if others:
                rows.append(("", dim(f"also {some([str(guard.requirement) for guard in others], _SHOWN - 1)}")))
        yield Section(title, [reasons(rows)])


def remedy(inference: Inference) -> list[Block]:
    """The command that sets what a target misses."""
    if inference.remedy is None or not inference.document.path:
        return []
    return [("set them with: ", key(inference.remedy.command(inference.document.path)))]


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


def ending(inference: Inference, advice: Sequence[Block] = ()) -> Iterator[Section]:
    """The diagnostics of one file, its summary, and advice."""
    yield paragraph(*faults(inference.diagnostics))
    yield paragraph(str(Tally().add(inference.document.layer_count, inference.diagnostics)), *advice)
