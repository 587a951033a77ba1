"""The explanation of a shape, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from irshape.report import form
from irshape.report.diagnostic import ERROR, Diagnostic, Where
from irshape.report.section import Either, Item, Line, Section, Span, bold, dim, fault, joined, key, named, paragraph, sentence
from irshape.report.terminal import lines
from irshape.report.text import PLAIN, Palette, counted, escape
from irshape.xml.document import Document

# The most names of reads that one line lists; of more, the middle is left out.
_MOST_NAMES = 12


class Read(NamedTuple):
    """A number that a step reads: its `name` in the step, its `value` and its origin.

    `kind` is `step` (the step with the number `step` computes it), `input` (a size of a model input), `attribute`, `default` (of an
    attribute that the file leaves out), `axis` or `element` (of a constant, at `position`), `port` (the file records it) or `unknown`.
    `text` says the same in words, and `where` is the place. `through` are the layers that pass the number on unchanged. `bytes` are the
    name of the weights file and the first byte and the end of the number in it.
    """

    name: str
    value: str
    kind: str
    text: str = ""
    where: Where | None = None
    position: int | None = None
    step: int | None = None
    through: tuple[Where, ...] = ()
    bytes: tuple[str, int, int] | None = None

    def __repr__(self) -> str:
        return f"<{self.name} = {self.value}: {self.source}>"

    @property
    def source(self) -> str:
        """The origin of the number, in words."""
        return _source([self])


class Step(NamedTuple):
    """A layer that computes a number of the chain, and how it does.

    `number` counts the steps from 1, `where` is the layer, `subject` the name of the number that it computes (`axis 2`), `value` that
    number, and `reads` are the numbers that it is computed from. `formula` has the names of the reads and `numbers` their values; both are
    empty if the number is read and not computed. `note` explains the value in words where there is no formula.
    """

    number: int
    where: Where
    subject: str
    value: str
    formula: str
    numbers: str
    note: str
    reads: tuple[Read, ...]

    def __repr__(self) -> str:
        return f"<{self.number} {layer_at(self.where)}, {self.equation}>"

    @property
    def equation(self) -> str:
        """`axis 2 = (data[2] + 1) // 2 = (9 + 1) // 2 = 5`."""
        return " = ".join(self.sides)

    @property
    def sides(self) -> list[str]:
        """The sides of the equation, each once."""
        return [side for side, _ in groupby(filter(None, (self.subject, self.formula, self.numbers, self.value)))]


class Explanation(NamedTuple):
    """Why a port, or one axis of it, has its shape. It prints as the chain of layers that compute the shape, from the inputs on.

    `document` is the file, `where` the layer, `port` the id of its port, `axis` the explained axis (None for all), and `value` the
    explained value (`48`, `(H + 1)//2`, `f32[1,3,?]`). `interval` has the bounds of an unknown size, in OpenVINO's notation. `steps` are
    ordered so that each reads only steps before it. `answers` name the step that computes each explained number (`axis 2`). `because` is
    one sentence about the inputs or constants that the chain starts from. If an earlier layer failed, there are no steps, and `diagnostics`
    are its faults.
    """

    document: Document
    where: Where
    port: int | None
    axis: int | None
    value: str
    interval: str | None
    steps: tuple[Step, ...]
    answers: tuple[Read, ...]
    because: str
    diagnostics: list[Diagnostic]

    @property
    def ok(self) -> bool:
        """Whether the shape could be explained: no layer on the way to it failed."""
        return not any(diagnostic.severity == ERROR for diagnostic in self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        axis = "" if self.axis is None else f" axis {self.axis}"
        return f"<Explanation of {self.where.layer_name!r}{axis}: {self.value}, {counted(len(self.steps), 'step')}>"

    def lines(self, palette: Palette = PLAIN) -> Iterator[str]:
        """The explanation as lines of text."""
        return lines(sections(self), palette)

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/explanation.schema.json`."""
        return EXPLANATION(self)


def sections(explanation: Explanation) -> Iterator[Section]:
    """The text: the subject, the steps, and the origin of the numbers; an equation longer than a line takes several."""
    where, faults = explanation.where, [fault(one) for one in explanation.diagnostics]
    if where.line is None:
        yield paragraph(*faults)
        return
    port = "" if explanation.port is None else f", port {explanation.port}"
    axis = "" if explanation.axis is None else f", axis {explanation.axis}"
    place = f"{escape(where.file or '<input>')}:{_at(where)}"
    interval = explanation.interval or ""
    among = interval and (", any size" if interval == "?" else f", {'in' if '..' in interval else 'which can only be'} {interval}")
    subject = joined(f"{place}: ", *_layer(where), f"{port}{axis} is {explanation.value}{among}")
    yield paragraph(tuple(one._replace(style="bold") if isinstance(one, Span) else bold(one) for one in subject))
    digits = len(str(len(explanation.steps)))
    answers = (one for one in explanation.answers if one.through or len(explanation.answers) > 1)
    ends = (joined(f"{'':{digits}}  {one.name} = {one.value}: ", sentence(one.source)) for one in answers)
    yield paragraph(*(_step(step, digits) for step in explanation.steps), *ends)
    yield paragraph(*([sentence(explanation.because)] if explanation.because else []), *faults)


def _step(step: Step, digits: int) -> Either:
    """A step, then the origin of each number it reads; a number that is only read has its origin in the first line."""
    groups = list(_grouped(step.reads))
    words = [step.note] if step.note else []
    if not step.formula and len(groups) == 1 and groups[0][0].kind != "step":
        words.append(_source(groups.pop()))
    more = sentence("".join(f", {word}" for word in words))
    head = joined(dim(f"{step.number:>{digits}}  {_at(step.where)}  "), *_layer(step.where), ": ")
    first, *others = step.sides
    rows: list[Line] = [key(f"= {side}") for side in others]
    below: list[Line] = []
    for group in groups:
        found = [one.name if step.formula else f"{one.name} = {one.value}" for one in group]
        read = ", ".join(found if len(found) <= _MOST_NAMES else [*found[: _MOST_NAMES // 2], "...", *found[-_MOST_NAMES // 2 :]])
        below.append(joined(dim(f"{read}:"), " ", sentence(_source(group))))
    whole = Item(joined(head, key(step.equation), more), below, digits + 4)
    parts = [joined(head, key(first)), *rows]
    parts[-1] = joined(parts[-1], more)
    return Either(whole, Item(parts[0], [*parts[1:], *below], digits + 4))


def _layer(where: Where) -> tuple[str | Span, ...]:
    text, own = layer_at(where), escape(where.layer_name or "")
    return (text.removesuffix(own), named(own)) if own else (text,)


def _at(where: Where) -> str:
    return f"{where.line}:{where.column}"


def layer_at(where: Where) -> str:
    """The layer at a place, as a sentence names it: `Add loop / body / add_1`."""
    path = f"{escape(where.path)} / " if where.path else ""
    return f"{escape(where.layer_type or '')} {path}{escape(where.layer_name or '')}".strip()


def _through(layers: Sequence[Where]) -> str:
    """The layers that pass a number on: `, unchanged through 3 layers, Concat a to Reshape b`."""
    if not layers:
        return ""
    first, last = layer_at(layers[0]), layer_at(layers[-1])
    passed = first if len(layers) == 1 else f"{counted(len(layers), 'layer')}, {first} to {last}"
    return f", unchanged through {passed}"


def _grouped(reads: Sequence[Read]) -> Iterator[list[Read]]:
    """The reads in groups: reads from one tag or constant, and reads that pass through the same layers, go together."""
    found: dict[object, list[Read]] = {}
    for read in reads:
        layer = None if read.where is None or read.kind == "step" else (read.where.path, read.where.layer_id)
        found.setdefault((read.kind, read.text, layer, read.step, tuple(map(id, read.through))), []).append(read)
    yield from found.values()


def _source(group: Sequence[Read]) -> str:
    """The origin of the numbers of a group, in words."""
    first = group[0]
    text = f"{first.text}s" if first.text == "attribute" and len(group) > 1 else first.text
    places = ", ".join(dict.fromkeys(_at(read.where) for read in group if read.where is not None and read.kind != "step"))
    if first.position is not None:
        indices = [read.position or 0 for read in group]
        text = f"{_ranges(first.kind, [(index, index + 1) for index in indices])} of {text}"
    if places:
        text = f"{text} ({places})"
    if first.bytes is not None:
        ranges = _ranges("", [read.bytes[1:] for read in group if read.bytes is not None], is_open=True)
        text = f"{text}, bytes {ranges} of {first.bytes[0].replace(chr(92), '/').rpartition('/')[2]}"
    return text + _through(first.through)


def _ranges(word: str, ranges: Sequence[tuple[int, int]], *, is_open: bool = False) -> str:
    """`axis 2`, `elements 0 to 3`, `elements 0, 2`; with `is_open` a range without its end, `8..40`."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(set(ranges)):
        if merged and merged[-1][1] == begin:
            merged[-1] = merged[-1][0], end
        else:
            merged.append((begin, end))
    if is_open:
        return ", ".join(f"{begin}..{end}" for begin, end in merged)
    parts = [str(begin) if end == begin + 1 else f"{begin} to {end - 1}" for begin, end in merged]
    plural = {"axis": "axes", "element": "elements"}.get(word, word)
    return f"{word if len(set(ranges)) == 1 else plural} {', '.join(parts)}"


_NUMBER: Final = "text: a number, or a formula of the sizes of the inputs"
_READS: Final = form.Form(
    ("name", "value", "kind", "source", "step", *form.PLACE, "position", "through", "bytes"),
    name="text: its name in the formula",
    value=_NUMBER,
    kind=form.word("attribute", "axis", "default", "element", "input", "port", "step", "unknown"),
    source="text: the place of the number, in words",
    step="number?: the number of the step that computes it",
    layer=form.PLACE["layer"],
    position="number?: the axis or element of the constant",
    line=form.PLACE["line"],
    column=form.PLACE["column"],
    offset=form.PLACE["offset"],
    through=form.Field(
        {"type": "array", "items": form.LAYER_OR_NULL, "description": "layers that pass it on unchanged"},
        convert=lambda several, _: [one.layer for one in several],
    ),
    bytes=form.Form(file=("text", form.item(0)), begin=("number", form.item(1)), end=("number: the byte after", form.item(2))).maybe(),
).list()
_STEP: Final = form.Form(
    number="number: counted from 1",
    **form.PLACE,
    subject="text: the part of the layer that is explained: axis 2",
    value=_NUMBER,
    formula=("text?: the formula of the value, with the names of `reads`", "formula?"),
    numbers=("text?: the formula with numbers in place of the names", "numbers?"),
    note=("text?: an explanation in words, if there is no formula", "note?"),
    reads=_READS,
)
EXPLANATION: Final = form.Form(
    tool=form.TOOL_FIELD,
    file=("text?: the path as it was given", "where.file"),
    ok="flag: no layer on the way has failed",
    **form.PLACE,
    port="number?: the port's id in the file",
    axis="number?: null for the whole port",
    value="text: the explained value: 48, (H + 1)//2, f32[1,3,?]",
    interval="text?: the bounds of an unknown size",
    steps=_STEP.list(),
    answers=_READS._replace(schema={**_READS.schema, "description": "the parts of the explained value, with the step that computes each"}),
    because=("text?: the ultimate reason, in words", "because?"),
    diagnostics=form.diagnostics(),
)
