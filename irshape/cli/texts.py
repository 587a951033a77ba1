"""What several commands say of an inference: the table of ports and which are listed, conditions with their layers, remedies, faults."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.answers import wording
from irshape.cli.parser import meant
from irshape.cli.run import Tally, agree, layers, put
from irshape.inference.conditions import is_about_data
from irshape.inference.inference import Inference
from irshape.inference.run import Guard
from irshape.model.model import Model
from irshape.report.section import Block, Column, Line, Section, Span, Table, dim, faults, key, paragraph
from irshape.report.terminal import lines
from irshape.report.text import WIDEST, Palette, counted, some
from irshape.shape.dim import Dim
from irshape.shape.element_type import ElementType
from irshape.shape.notation import split_sizes
from irshape.xml.document import Graph, Layer

if TYPE_CHECKING:
    from irshape.answers.hierarchy import Blocks
    from irshape.answers.question import Condition
    from irshape.answers.signature.notes import DataSize

UNNAMED = re.compile(r"\bd\d+\b")
# The heading over axes that are tied together.
TIED = "axes that must agree (--raw-symbols separates them)"
# From this many similar guards on, they share one entry, which shows this many of them.
_MANY = 4
_SHOWN = 6
_PORT: Final = (Column("dim", is_number=True, most=WIDEST), Column(most=WIDEST, is_cut=True), Column("key", most=WIDEST, is_cut=True))


def sections_of(answer: Any, **options: bool) -> Iterable[Section]:
    """The sections of an answer."""
    return answer._sections(**options)  # type: ignore[no-any-return]


def said(color: str, sections: Callable[[Any], Iterable[Section]] = sections_of) -> Callable[[Any], Iterator[str]]:
    """How an answer is said on the standard output: the lines of its sections. A worker process takes it pickled."""
    return partial(_lines, Palette.choose(color, sys.stdout), sections)


def _lines(palette: Palette, sections: Callable[[Any], Iterable[Section]], answer: Any) -> Iterator[str]:
    return lines(sections(answer), palette)


def put_text(color: str, sections: Iterable[Section]) -> None:
    """Print sections."""
    put("\n".join(lines(sections, Palette.choose(color, sys.stdout))))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Rows about ports: an id, a layer and its type, then shapes, which go below where they do not fit; without an empty last column."""
    used = len(head) - (bool(rows) and not any(row[-1] for row in rows))
    further = [*[Column(most=WIDEST, is_below=True)] * max(used - 4, 0), *([Column(is_below=True)] if used > 3 else [])]
    columns = [*_PORT[: min(used, 3)], *further]
    return Table(columns, [[*row[:3], *map(shape, row[3:4]), *map(wording.short, row[4:])][:used] for row in rows], head[:used])


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

    return named(inference, is_taken=not is_whole)


def guards(inference: Inference, *, is_complete: bool = False) -> Iterator[Section]:
    """The conditions on each size of the inputs, those that depend on data, the premises of the formulas, and those of branches.

    Without `is_complete`, only the first ones of each kind are listed.
    """
    most = None if is_complete else wording.MOST_CONDITIONS
    for title, members in groupby(_grouped(inference.guards, inference.data_sizes), lambda group: wording.heading(group[0])):
        title, listed = wording.validity(inference) if title == wording.REFUSED else title, list(members)
        own = [guard for group in listed for guard in group]
        if not any(is_about_data(one.requirement) for one in own) and (found := _solved(inference, own)) is not None:
            yield Section(title if found else "", list(wording.conditions(found, most)))
            continue
        rows: list[tuple[str, Line]] = []
        for first, *others in listed[:most]:
            rows.append((str(first.requirement), wording.reason(first)))
            if others:
                rows.append(("", dim(f"also {some([str(guard.requirement) for guard in others], _SHOWN - 1)}")))
        parts = wording.Parts(wording.LONGEST)
        yield Section(title, [wording.reasons(rows, parts), *wording.more(len(listed[most:]) if most else 0), *wording.where(parts)])


def _solved(inference: Inference, guards: Sequence[Guard]) -> list[Condition] | None:
    """Guards as conditions on each size, none if the heading says all; None where they are not solved.

    A layer that demands sizes of at least 1, or of the first multiple that is asked for, is named for no condition.
    """
    scope = inference.reading.scope
    trivial = [one for one in guards if str(one.requirement) in {f"{name} >= 1" for name in one.requirement.symbols()}]
    if len(trivial) == len(guards):
        return []
    from irshape.answers.solve import conditions as solved

    known = {name: size for guard in guards for name in guard.requirement.symbols() if isinstance(size := scope.named(name), Dim)}
    steps = {f"{name} >= {size.range.modulus}" for name, size in known.items()}
    trivial += [one for one in guards if str(one.requirement) in steps]
    found = solved(scope, guards)
    return found and [one._replace(guards=tuple([own for own in one.guards if own not in trivial])) for one in found]


def remedy(inference: Inference) -> list[Block]:
    """The command that sets what a target misses."""
    if inference.remedy is None or not inference.document.path:
        return []
    lead = "make the state inputs and outputs first: " if inference.remedy.is_stateless else "set them with: "
    return [(lead, key(inference.remedy.command(inference.document.path)))]


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


_CONSTANTS = ("Const", "Constant")
# A model with fewer rows is listed whole, because it fits on a screen; blocks stand for each other only if that saves as many rows.
_FEW = 50
_LEAST = 6
# The names among which the one that was meant is sought.
_MOST_NAMES = 20_000


class ListedLayers(NamedTuple):
    """The layers that are listed: all with `is_complete`, else no constants, and of `layers`, `types` and changes only.

    A layer is a pattern of names, a text that names one, or a module.
    """

    is_complete: bool = False
    layers: Sequence[str] = ()
    types: Sequence[str] = ()
    is_changed: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether no layer is selected by its name, its type or a change."""
        return not (self.layers or self.types or self.is_changed)

    def options(self, listed: Iterable[tuple[str, int, Layer, Graph]]) -> str:
        """The options of the selection, each with the name that was probably meant if the file does not have it."""
        known = [layer for _, _, layer, _ in listed]
        names, types = {one.name for one in known[:_MOST_NAMES]}, {one.type for one in known}
        layers = [f"--layer {one}{'' if one in names else meant(one, names)}" for one in self.layers]
        others = [f"--type {one}{'' if one.lower() in map(str.lower, types) else meant(one, types)}" for one in self.types]
        return ", ".join([*layers, *others, *(["--changed-only"] if self.is_changed else [])])


def keys_of(model: Model, patterns: Iterable[str]) -> frozenset[str]:
    """The keys of the layers that are selected by their names."""
    from irshape.model.finding import find, is_pattern, names_of, selected

    nodes = [node for graph in model.graphs() for node in graph.nodes]
    keys: set[str] = set()
    for pattern in patterns:
        meant = find(model, pattern)
        if not is_pattern(pattern):
            agree(pattern, meant, names_of)
        keys.update(node.key for node in selected(pattern, nodes, names_of, meant))
    return frozenset(keys)


def nothing(model: Model, patterns: Iterable[str]) -> str:
    """The remark that no layer is selected, with names that resemble those that are asked for."""
    from irshape.model.finding import known_names, similar

    return f"no layer is selected{''.join(similar(pattern, known_names(model)) for pattern in patterns)}"


class Rows:
    """The cells of the table, one row for each port: `rows`. `hidden` are the numbers of the layers that are left out, in words."""

    def __init__(self, inference: Inference, has_formulas: bool, selection: ListedLayers) -> None:
        self._inference = inference
        self._facts, self._formulas = inference.ports, inference.formulas
        self._has_formulas = has_formulas
        self._selection = selection
        self._keys_of_names = keys_of(inference.model, selection.layers) if selection.layers else None
        self._sources: dict[int, dict[int, str]] = {}
        self._hidden: Counter[str] = Counter()
        nodes = [node for graph in inference.model.graphs() for node in graph.nodes] if selection.is_whole else []
        converts = [node for node in nodes if node.type == "Convert" and node.producers]
        self._converts = {id(node.layer) for node in converts if node.producers[0].type in _CONSTANTS}  # as of weights in f16
        self._heads: dict[int, list[Blocks]] = {}
        self._depths: dict[int, int] = {}
        self._left_out: set[int] = set()
        document = inference.document
        listed = list(layers(document))
        count = sum([layer.type not in _CONSTANTS for _, _, layer, _ in listed])
        if not selection.is_complete and selection.is_whole and count >= _FEW and document.is_complete:
            self._fold()
        self.rows = [row for one in listed for row in self._of_layer(*one)]
        which = {"constant": "", "Convert": " of constants", "layer": " of equal blocks"}
        self.hidden = [f"{counted(self._hidden[thing], thing)}{words}" for thing, words in which.items() if self._hidden[thing]]

    def _fold(self) -> None:
        """Find the blocks of which one is listed."""
        from irshape.answers.hierarchy import equal_blocks, hierarchy_of

        for blocks in equal_blocks(hierarchy_of(self._inference, self._facts, self._formulas)):
            shown = [node for node in blocks.blocks[0] if node.type not in _CONSTANTS and id(node.layer) not in self._converts]
            is_short = len(shown) * (len(blocks.blocks) - 1) < _LEAST
            if is_short or id(shown[0].layer) in self._left_out:
                continue
            first = min(shown, key=lambda node: node.layer.offset)
            self._heads.setdefault(id(first.layer), []).append(blocks)
            for node in shown:
                self._depths[id(node.layer)] = self._depths.get(id(node.layer), 0) + 1
            self._left_out.update([id(node.layer) for block in blocks.blocks[1:] for node in block])

    def _of_layer(self, key: str, depth: int, layer: Layer, graph: Graph) -> Iterator[tuple[str, ...]]:
        selection = self._selection
        if layer.type in _CONSTANTS and not (selection.is_complete or selection.types):
            self._hidden["constant"] += 1
            return
        if id(layer) in self._converts and not selection.is_complete:
            self._hidden["Convert"] += 1
            return
        if id(layer) in self._left_out:
            self._hidden["layer"] += 1
            return
        is_named = self._keys_of_names is None or key in self._keys_of_names
        if not is_named or (selection.types and layer.type.lower() not in map(str.lower, selection.types)):
            return
        inner = self._depths.get(id(layer), 0)
        heads = self._heads.get(id(layer), ())
        for number, blocks in enumerate(heads):
            indent = "  " * (depth + inner - len(heads) + number)
            yield ("", f"{indent}{blocks.title}", "", "", *([""] if self._has_formulas else []))
        yield from self._ports(key, depth + inner, layer, graph)

    def _ports(self, key: str, depth: int, layer: Layer, graph: Graph) -> Iterator[tuple[str, ...]]:
        """A row for each output of a layer, and for the input of a Result."""
        ports, formulas = self._facts, self._formulas
        keys = self._keys(key, layer, graph)
        first = (key, "  " * depth + layer.name, layer.type)
        for number, port in enumerate(keys):
            if self._selection.is_changed and not _is_changed(layer, number, ports.get(port)):
                continue
            element_type, shape = ports.get(port, ("", ""))
            label = f"{port.rpartition(':')[2]}: " if len(keys) > 1 else ""
            yield (*first, f"{label}{element_type}{shape}", *([formulas.get(port, "")] if self._has_formulas else []))
            first = ("", "", "")

    def _keys(self, key: str, layer: Layer, graph: Graph) -> list[str]:
        """The ports that the rows of a layer show; a Result shows the port that it reads."""
        if layer.signature.output_count:
            return [f"{key}:{id}" for id in layer.signature.output_ids]
        feeds = self._sources.setdefault(id(graph), {})
        if not feeds:
            feeds.update((edge.to_layer, f"{edge.from_layer}:{edge.from_port}") for edge in graph.edges)
        return [key.removesuffix(str(layer.id)) + feeds[layer.id]] if layer.id in feeds else [""]


def _is_changed(layer: Layer, number: int, inferred: Sequence[str] | None) -> bool:
    """Whether the fact that is inferred for an output, or for the input of a Result, is not the one that the file records."""
    if inferred is None:
        return False
    signature = layer.signature
    _, precision, dims = signature.records[signature.input_count + number if signature.output_count else 0]
    element_type, shape = inferred
    recorded_type = precision and ElementType.from_precision(precision)
    recorded = None if dims is None else ["?" if dim < 0 else str(dim) for dim in dims]
    sizes = None if shape == "[...]" else split_sizes(shape[1:-1]) if shape != "[]" else []
    now = sizes and [size if size.isdecimal() else "?" for size in sizes]  # a <dim> holds no interval
    return bool(recorded_type and recorded_type.name != element_type) or (now or None) != (recorded or None)
