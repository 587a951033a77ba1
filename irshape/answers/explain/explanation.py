"""The explanation of a shape, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from irshape.report import form
from irshape.report.diagnostic import ERROR, Diagnostic, Where
from irshape.report.text import Palette, cells, counted, diagnostic_lines, escape, layer_text, shorten_words
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
        return "\n".join(self.lines(Palette(False)))

    def __repr__(self) -> str:
        axis = "" if self.axis is None else f" axis {self.axis}"
        return f"<Explanation of {self.where.layer_name!r}{axis}: {self.value}, {counted(len(self.steps), 'step')}>"

    def lines(self, palette: Palette, width: int | None = None) -> Iterator[str]:
        """The explanation as lines of text; an equation longer than a terminal of `width` columns takes several lines."""
        where = self.where
        if where.line is None:
            for diagnostic in self.diagnostics:
                yield from diagnostic_lines(diagnostic, palette)
            return
        port = "" if self.port is None else f", port {self.port}"
        axis = "" if self.axis is None else f", axis {self.axis}"
        place = f"{escape(where.file or '<input>')}:{_at(where)}"
        interval = "" if self.interval is None else ", any size" if self.interval == "?" else f", in {self.interval}"
        yield f"{palette.bold}{place}: {layer_at(where, palette.is_narrow)}{port}{axis} is {escape(self.value)}{interval}{palette.plain}"
        if self.steps:
            yield ""
        digits = len(str(len(self.steps)))
        for step in self.steps:
            yield from _step_lines(step, digits, palette, width)
        for answer in self.answers:
            if answer.through or len(self.answers) > 1:
                yield f"{'':{digits}}  {answer.name} = {escape(answer.value)}: {_shown(answer.source, palette)}"
        if self.because:
            yield ""
            yield _shown(self.because, palette)
        for diagnostic in self.diagnostics:
            yield from diagnostic_lines(diagnostic, palette)

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/explanation.schema.json`."""
        return EXPLANATION(self)


def _step_lines(step: Step, digits: int, palette: Palette, width: int | None) -> Iterator[str]:
    """A step, then the origin of each number it reads; a number that is only read has its origin in the first line."""
    groups = list(_grouped(step.reads))
    words = [step.note] if step.note else []
    if not step.formula and len(groups) == 1 and groups[0][0].kind != "step":
        words.append(_source(groups.pop()))
    more = _shown("".join(f", {word}" for word in words), palette)
    place, layer = f"{step.number:>{digits}}  {_at(step.where)}  ", layer_at(step.where, palette.is_narrow)
    sides = [escape(side) for side in step.sides]
    head = f"{palette.dim}{place}{palette.plain}{layer}: {palette.key}"
    indent = " " * (digits + 4)
    if width is None or cells(f"{place}{layer}: {' = '.join(sides)}{more}") <= width:
        yield f"{head}{' = '.join(sides)}{palette.plain}{more}"
    else:
        yield f"{head}{sides[0]}{palette.plain}"
        for side in sides[1:]:
            yield f"{indent}{palette.key}= {side}{palette.plain}{more if side is sides[-1] else ''}"
    for group in groups:
        found = [one.name if step.formula else f"{one.name} = {one.value}" for one in group]
        read = ", ".join(found if len(found) <= _MOST_NAMES else [*found[: _MOST_NAMES // 2], "...", *found[-_MOST_NAMES // 2 :]])
        yield f"{indent}{palette.dim}{escape(read)}:{palette.plain} {_shown(_source(group), palette)}"


def _at(where: Where) -> str:
    return f"{where.line}:{where.column}"


def layer_at(where: Where, is_narrow: bool = False) -> str:
    """The layer at a place, as a sentence names it."""
    return layer_text(where.layer_type or "", where.path, where.layer_name or "", is_narrow)


def _shown(text: str, palette: Palette) -> str:
    """A sentence that names layers, ready for printing."""
    return shorten_words(escape(text)) if palette.is_narrow else escape(text)


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
    bytes=form.Form(
        file=("text", form.item(0)),
        begin=("number", form.item(1)),
        end=("number: the byte after", form.item(2)),
    ).maybe(),
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
