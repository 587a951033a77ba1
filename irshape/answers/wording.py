"""What the texts of several answers say: the file and its faults, layers that demand something, conditions, ties, parts of formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.section import Block, Column, Item, Line, Section, Span, Table, bold, dim, fault, joined, key, named, paragraph
from irshape.report.surface import Guessed
from irshape.report.text import counted, listed

if TYPE_CHECKING:
    from irshape.answers.question import Condition
    from irshape.answers.signature.notes import Because
    from irshape.inference.inference import Inference
    from irshape.inference.run import Guard
    from irshape.model.model import Node
    from irshape.xml.document import Document

# The name of a formula that is too long to be read.
LONG: Final = re.compile(r"\blong\d+\b")
# A part is worth a name from so many characters on.
_SHORTEST: Final = 8


class Answer(Guessed):
    """An answer about an inference: its file, its faults, and its text in sections."""

    _inference: Inference

    @property
    def document(self) -> Document:
        """The file as it was read."""
        return self._inference.document

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics of the inference."""
        return self._inference.diagnostics

    def _sections(self, *args: Any, **options: Any) -> Iterator[Section]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from irshape.report.notebook import html

        return html(self._sections())


class Parts:
    """Cuts long formulas into parts with names, `e0`, `e1`, ...; equal parts of several formulas have one name.

    `found` has the formula of each name; `endless` are the names that stand for what is too long to be a formula.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._names: dict[str, str] = {}
        self.endless: dict[str, None] = {}

    @property
    def found(self) -> dict[str, str]:
        return {name: part for part, name in self._names.items()}

    def whole(self, text: str) -> str:
        """The name for a whole formula."""
        self.endless.update(dict.fromkeys(LONG.findall(text)))
        return self._names.setdefault(text, f"e{len(self._names)}")

    def cut(self, text: str) -> str:
        """The text, with names in place of parts if it is longer than it may be."""
        self.endless.update(dict.fromkeys(LONG.findall(text)))
        if len(text) > self._most:
            for part, name in self._names.items():
                text = text.replace(part, name) if _inside(part) != part else text
        while len(text) > self._most:
            part = max(_bracketed(text), key=lambda part: (text.count(part) * (len(part) - 2), len(part)), default="")
            if len(part) < _SHORTEST or part == text:
                break
            text = text.replace(part, self.whole(part))
        return text


def _inside(formula: str) -> str:
    """A formula without the brackets around it."""
    depth = 0
    for position, character in enumerate(formula):
        depth += (character == "(") - (character == ")")
        if not depth:
            return formula[1:-1] if position and position == len(formula) - 1 else formula
    return formula


def _bracketed(text: str) -> Iterator[str]:
    """The parts of a formula in brackets that are no longer than half of it, with the name of the function before them."""
    starts: list[int] = []
    for position, character in enumerate(text):
        if character == "(":
            starts.append(position)
        elif character == ")" and starts:
            start = starts.pop()
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            part = text[start : position + 1]
            if len(part) <= max(len(text) // 2, _SHORTEST) and not part.startswith("in"):
                yield part


# The widest conditions that make their column, the longest that is not cut into parts, and the longest size of a shape.
_CONDITION: Final = 40
LONGEST: Final = 120
SIZE: Final = 40
# The most layers that are named for a condition that they make together, and the names in a row that are written as the first and last.
_MOST_REASONS: Final = 4
_MANY: Final = 3
MOST_CONDITIONS: Final = 12
REFUSED: Final = "valid for sizes of at least 1 where"
NEVER: Final = "valid for no size: these conditions contradict each other"
REFUSED_DATA: Final = "valid where, for sizes known only at run time"
_PREMISES: Final = "formulas hold only where (for other sizes of at least 1, OpenVINO infers other shapes, or cannot run the layer)"


def title(document: Document) -> Line:
    """The file, its IR version and its number of layers."""
    kind = "example of the specification" if document.is_example else f"IR v{document.version}" if document.version else "no IR"
    return bold(document.path or "<input>"), f"  {kind}, {counted(document.layer_count, 'layer')}"


def opening(document: Document, diagnostics: Iterable[Diagnostic]) -> Iterator[Section]:
    """The title and the faults of one file, with which the answer to a question begins."""
    yield paragraph(title(document))
    yield paragraph(*map(fault, diagnostics))


def about_layer(node: Node, message: str, more: int = 0) -> Line:
    """A message about a layer and `more` others: `Add loop / body / add_1, line 12 and 3 more layers: the inputs must be equal`."""
    line, _ = node.model.document.position(node.layer.offset)
    others = f" and {counted(more, 'more layer')}" if more else ""
    path = f"{node.model.path} / " if node.model.path else ""
    return f"{node.type} {path}", named(node.name), f", line {line}{others}: {message}"


def reason(guard: Guard) -> Line:
    """The layer that makes a guard, and its reason."""
    return about_layer(guard._node, guard.requirement.message, guard.more)


def demanding(guards: Iterable[Guard]) -> list[Line]:
    """The layers that make guards, each once with one reason; the guard of most layers stands for the others."""
    keyed = [((guard._node, guard.requirement.message), guard) for guard in guards]
    found = dict(keyed) | dict(sorted(keyed, key=lambda one: one[1].more))  # in their order
    return [*map(reason, found.values())]


def heading(guard: Guard) -> str:
    """The heading under which a guard is listed."""
    from irshape.inference.conditions import is_about_data

    text = _PREMISES if guard.is_premise else REFUSED_DATA if is_about_data(guard.requirement) else REFUSED
    return f"if {guard.branch} runs, {text}" if guard.branch else text


def validity(inference: Inference, doubt: str = "") -> str:
    """The heading of the conditions on the inputs, with a doubt about them; it says so if no size is valid."""
    if inference.is_never_valid:
        return NEVER
    is_faulty = any(one.severity == ERROR or (one.code == "R401" and not one.where.path) for one in inference.diagnostics)
    return "valid for no size, because of the faults; the other layers demand" if is_faulty else f"{REFUSED}{doubt}"


def spoken(condition: str) -> str:
    """A condition in words: of sizes that broadcast, one is equal to the other or 1."""
    equal, joint, _ = condition.partition(" or 1 in (")
    return f"{equal}, or one is 1" if joint else condition


def reasons(rows: Iterable[tuple[str, Line]], parts: Parts) -> Table:
    """Conditions, each with the layer that demands it and the reason; long ones are cut into named parts."""
    return Table((Column("key", most=_CONDITION), Column()), [(parts.cut(spoken(one)), why) for one, why in rows])


def demands(guards: Iterable[Guard], parts: Parts | None = None) -> Iterator[Block]:
    """The conditions that guards demand, and below them their named parts, unless the caller gives and lists the parts."""
    own = parts or Parts(LONGEST)
    yield reasons(((str(guard.requirement), reason(guard)) for guard in guards), own)
    yield from () if parts else where(own)


# The reason for a condition that no layer demands.
GIVEN: Final = "the file or the question gives this range"


def unchecked(nodes: Sequence[Node]) -> Section:
    """The layers whose indices no condition covers."""
    told = [about_layer(nodes[0], "an index out of range gives wrong numbers, or fails at run time", len(nodes) - 1)] if nodes else []
    return Section("not checked: indices that the model computes from the sizes" if nodes else "", told)


def conditions(found: Sequence[Condition], most: int | None = None) -> Iterator[Block]:
    """The first conditions in simple words, each with the layers that demand it, below a wide one; long ones are cut into named parts."""
    parts = Parts(LONGEST)
    for is_wide, several in groupby(found[:most], lambda one: len(spoken(one.text)) > _CONDITION):
        rows: list[tuple[str, Line]] = []
        for one in several:
            first, *others = demanding(one.guards) or [GIVEN]
            told = [first, *[joined("and ", other) for other in others[: _MOST_REASONS - 1]]]
            told += [f"and {len(others) + 1 - _MOST_REASONS} more"] if len(others) >= _MOST_REASONS else []
            text = parts.cut(spoken(one.text))
            if is_wide:
                yield Item(key(text), told)
            else:
                rows += [(text if place == 0 else "", line) for place, line in enumerate(told)]
        yield Table((Column("key"), Column()), rows)
    yield from (*more(len(found[most:]) if most else 0), *where(parts))


def ties(found: Sequence[Because], heading: str, *, is_complete: bool = False) -> Section:
    """Each axis that the signature ties to others, with the first layer that says so; axes with the same reason share a row."""
    groups: dict[object, list[Because]] = {}
    for one in found:
        guard = one.guards[0] if one.guards else None
        own = (one.axis, one.size, one.reason, guard and (guard._node.type, guard.requirement.template))
        groups.setdefault(one if is_complete else own, []).append(one)
    rows: list[tuple[Line, ...]] = []
    for group in groups.values():
        names = tuple(one.name for one in group)
        rows.append((f"{listed(names)} axis {group[0].axis}", group[0].size, _why(group)))
    return Section(heading if rows else "", [Table((Column(), Column("key"), Column()), rows)])


def _why(group: Sequence[Because]) -> Line:
    """The first layer that ties the axes of a group, and how many others do."""
    guards = [guard for one in group for guard in one.guards]
    if not guards:
        return "the variable is assigned this size"
    first = guards[0]
    return about_layer(first._node, first.requirement.message, first.more + len({guard._node for guard in guards} - {first._node}))


def in_a_row(names: Sequence[str]) -> str:
    """Names as a sentence lists them: `B, P and S`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def shapes(side: Mapping[str, str], parts: Parts, *, is_complete: bool = False) -> Iterator[Line]:
    """The names with their shapes, whose long sizes have names; names in a row that have equal shapes share one."""
    from irshape.shape.notation import split_sizes

    for shape, several in groupby(side, side.__getitem__):
        own = list(several)
        text = f"[{','.join(size if len(size) <= SIZE else parts.whole(size) for size in split_sizes(shape[1:-1]))}]"
        if len(own) >= _MANY and not is_complete:
            yield named(own[0]), " … ", named(own[-1]), text
        else:
            yield from ((named(one), text) for one in own)


def short(formula: str) -> str | Span:
    """A formula, of which a terminal leaves out the middle if it is long."""
    return Span(formula, "", LONGEST) if len(formula) > LONGEST else formula


def where(parts: Parts) -> Iterator[Line]:
    """The formulas that have names."""
    yield from (("  where ", key(own), " = ", short(_inside(text))) for own, text in parts.found.items())
    verb = "is" if len(parts.endless) == 1 else "are"
    if parts.endless:
        yield "  where ", key(listed(tuple(parts.endless))), f" {verb} too long to be written (limits terms and levels, N104)"


def more(count: int) -> Iterator[Line]:
    """How many conditions are not listed; nothing if all are."""
    if count > 0:
        yield dim(f"and {counted(count, 'more condition')} (--all lists them)")


def also(notes: Sequence[str]) -> Section:
    """The other sizes that OpenVINO accepts."""
    return Section("the shape inference of OpenVINO also accepts other sizes" if notes else "", notes)
