"""A text as lines, for a terminal or a pipe. A terminal has colours and a width; a pipe gets every name whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeGuard

from irshape.report.diagnostic import escape
from irshape.report.section import Block, Column, Either, Few, Fit, Item, Line, Prose, Relation, Section, Span, Table, bold
from irshape.report.text import PLAIN, Palette, cells, common, left_out

_GAP: Final = "  "
# The least width of a column that is narrowed, and the widths of a flow and of prose where there is no terminal.
_NARROWEST: Final = 12
_FLOW: Final = 120
_PROSE: Final = 100
# How many columns further to the right a line goes on that is wider than the terminal.
_HANG: Final = 4
# The widest that a column is where there is no terminal: one very long name must not widen every row of a file.
_ALIGNED: Final = 120


def lines(sections: Iterable[Section], palette: Palette = PLAIN) -> Iterator[str]:
    """The lines of a text, with an empty one before each section but the first. A section without lines is left out."""
    is_first = True
    for heading, blocks in sections:
        found = block_lines(blocks, palette, len(_GAP)) if heading else block_lines(blocks, palette)
        for number, line in enumerate(chain([_line(heading, palette, "bold")] if heading else [], found)):
            if number == 0 and not is_first:
                yield ""
            yield line
            is_first = False


def block_lines(blocks: Iterable[Block], palette: Palette = PLAIN, indent: int = 0) -> Iterator[str]:
    """The lines of blocks, each `indent` columns to the right."""
    room = None if palette.width is None else palette.width - indent
    for block in blocks:
        if isinstance(block, Either):
            block = block.item if room is None or _cells(block.item.line, palette) <= room else block.other
        if isinstance(block, Table):
            found = _table(block, palette, room)
        elif isinstance(block, Item):
            found = _wrapped(block.line, palette, room)
        elif isinstance(block, Few):
            found = _few(block, palette, indent)
        elif isinstance(block, Fit):
            found = iter((_fitted(block.line, palette, room),))
        elif isinstance(block, Prose):
            found = _filled(escape(block.text).split(" "), min(room or _PROSE, _PROSE), " ")
        elif isinstance(block, Relation):
            found = _flow(block, palette, room or _FLOW)
        else:
            found = _wrapped(block, palette, room)
        yield from (" " * indent + line for line in found)
        if isinstance(block, Item):
            yield from block_lines(block.below, palette, indent + block.indent)


def _few(few: Few, palette: Palette, indent: int) -> Iterator[str]:
    found = [line[indent:] for line in block_lines(few.blocks, palette, indent)]
    yield from found[: few.most]
    if len(found) > few.most:
        yield f"  and {len(found) - few.most} more: {escape(few.command)}"


def _spans(line: Line, palette: Palette, style: str = "") -> list[Span]:
    """The parts of a line as they are shown. A part without a style has the `style` of the whole."""
    spans = []
    for part in (line,) if isinstance(line, (str, Span)) else line:
        text, own, most = (part, "", None) if isinstance(part, str) else part
        shown = escape(text) if palette.can_draw else escape(text).replace("█", "#")
        if most is not None and palette.width is not None:
            shown = shortened([shown], most)[0]
        spans.append(Span(shown, own or style))
    return spans


def _is_plain(line: Line) -> TypeGuard[str]:
    """Whether a line is shown as it is: a text of one part, in which every character takes one column."""
    return isinstance(line, str) and line.isascii() and line.isprintable()


def _cells(line: Line, palette: Palette) -> int:
    return len(line) if _is_plain(line) else sum(cells(span.text) for span in _spans(line, palette))


def _line(line: Line, palette: Palette, style: str = "", width: int = 0, *, is_number: bool = False) -> str:
    """A line in colours, at least `width` columns wide."""
    if _is_plain(line) and not (style and getattr(palette, style)):
        return line.rjust(width) if is_number else line.ljust(width)
    spans = _spans(line, palette, style)
    room = " " * (width - sum(cells(span.text) for span in spans))
    if room and spans:
        place = 0 if is_number else -1
        own, style, _ = spans[place]
        spans[place] = Span(room + own if is_number else own + room, style)
    return "".join(_coloured(span, palette) for span in spans)


def _coloured(span: Span, palette: Palette) -> str:
    colour = getattr(palette, span.style) if span.style and not (span.text.isspace() or not span.text) else ""
    return f"{colour}{span.text}{palette.plain}" if colour else span.text


def _fitted(line: Line, palette: Palette, room: int | None) -> str:
    """A line without its middle if it is longer than the room."""
    spans = _spans(line, palette)
    whole = "".join(span.text for span in spans)
    if room is None or cells(whole) <= room:
        return _line(line, palette)
    head, tail = left_out(whole, (room - 1) // 2, room)
    return f"{_part(spans, palette, 0, head)}…{_part(spans, palette, tail, len(whole))}"


def _part(spans: Sequence[Span], palette: Palette, begin: int, end: int) -> str:
    shown, start = "", 0
    for text, style, most in spans:
        shown += _coloured(Span(text[max(begin - start, 0) : max(end - start, 0)], style, most), palette)
        start += len(text)
    return shown


def _wrapped(line: Line, palette: Palette, room: int | None, style: str = "", hang: int = _HANG) -> Iterator[str]:
    """A line, broken at spaces where it is wider than the room; it goes on `hang` columns further to the right."""
    if room is None or _cells(line, palette) <= room:
        yield _line(line, palette, style)
        return
    spans = _spans(line, palette, style)
    whole = "".join(span.text for span in spans)
    indent = len(whole) - len(whole.lstrip(" "))
    start, before = 0, ""
    while cells(whole[start:]) > room - len(before):
        end = start + room - len(before) + 1
        while (end := whole.rfind(" ", start, end)) >= 0 and cells(whole[start:end]) > room - len(before):
            pass
        if end <= start + (0 if before else indent):  # a word that is wider than the room
            end = whole.find(" ", start + indent + 1)
        if end < 0:
            break
        yield before + _part(spans, palette, start, end)
        start, before = end + 1, " " * (indent + hang)
    yield before + _part(spans, palette, start, len(whole))


def _table(table: Table, palette: Palette, room: int | None) -> Iterator[str]:
    if table.rows:
        columns, rows = table.columns, [list(row) for row in ((table.head,) if table.head else ()) + tuple(table.rows)]
        widths = _widths(columns, rows, palette)
        if room is not None and _total(widths) > room and any(column.is_spare for column in columns):
            kept = [place for place, column in enumerate(columns) if not column.is_spare]
            columns, rows = [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]
            widths = [widths[place] for place in kept]
        cut = [place for place, column in enumerate(columns) if column.is_cut and palette.width is not None]
        whole = {place: ["".join(span.text for span in _spans(row[place], palette)) for row in rows] for place in cut}
        for is_stacked in (False, True):  # other columns stand below where names would become alike
            narrowed, beside = _narrowed(widths, columns, rows[0] if table.head else (), room, is_stacked=is_stacked)
            short = {place: shortened(texts, narrowed[place]) for place, texts in whole.items()}
            if all(len({*short[place]}) == len({*texts}) for place, texts in whole.items()):
                break
        widths = narrowed
        for number, row in enumerate(rows):
            for place, texts in short.items():
                row[place] = texts[number]
        for number, row in enumerate(rows):
            styles = ["bold" if table.head and number == 0 else column.style for column in columns]
            yield from _row(row, list(zip(columns, widths, styles, strict=True)), beside, palette, room)
    if table.more:
        yield f"and {table.more:,} more{table.remark}"


def _row(row: Sequence[Line], layout: Sequence[tuple[Column, int, str]], beside: int, palette: Palette, room: int | None) -> Iterator[str]:
    """The cells of the first columns in a line. Those from `beside` on stand below it if they do not fit, and one with too wide a name."""
    filled = [-1, *(place for place, cell in enumerate(row[:beside]) if cell)]
    if filled[-1] > 0 and room is not None and _widest_word(row[filled[-1]], palette) > max(room - _start(layout, filled[-1]), _NARROWEST):
        beside = filled.pop()
    last, start = filled[-1], _start(layout, filled[-1])
    shown = [
        _line(cell, palette, style, width, is_number=column.is_number)
        for cell, (column, width, style) in zip(row[:beside], layout, strict=False)
    ]
    short = [(cell, style) for cell, (_, _, style) in zip(row[beside:], layout[beside:], strict=True) if cell]
    if short and room is not None and _start(layout, beside) + _total([_cells(cell, palette) for cell, _ in short]) <= room:
        yield _GAP.join([*shown, *(_line(cell, palette, style) for cell, style in short)])
        return
    shown = shown[: max(last, 0)]
    if last >= 0:
        column, width, style = layout[last]
        if column.is_number:
            found = iter((_line(row[last], palette, style, width, is_number=True),))
        else:
            found = _wrapped(row[last], palette, None if room is None or room - start < _NARROWEST else room - start, style, 0)
        yield _GAP.join([*shown, next(found)])
        yield from (" " * start + line for line in found)
    below, used = "", 0
    for cell, (_, _, style) in zip(row[beside:], layout[beside:], strict=True):
        width = _cells(cell, palette)
        if cell and below and (room is None or 4 + used + len(_GAP) + width <= room):
            below, used = f"{below}{_GAP}{_line(cell, palette, style)}", used + len(_GAP) + width
        elif cell:
            yield from [f"    {below}"] if below else ()
            *before, below = _wrapped(cell, palette, None if room is None else room - 4, style)
            used = width if not before else len(below)
            yield from (f"    {line}" for line in before)
    yield from [f"    {below}"] if below else ()


def _start(layout: Sequence[tuple[Column, int, str]], place: int) -> int:
    """The column of the terminal at which a cell of a row begins."""
    return _total([*(width for _, width, _ in layout[:place]), 0]) if place > 0 else 0


def _widest_word(line: Line, palette: Palette) -> int:
    return max(map(cells, "".join(span.text for span in _spans(line, palette)).split()), default=0)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[Line]], palette: Palette) -> list[int]:
    widest = [max(_cells(cell, palette) for cell in cells) for cells in zip(*rows, strict=True)]
    return [
        max(column.least, min(wide, _ALIGNED if palette.width is None else column.most or wide))
        for column, wide in zip(columns, widest, strict=True)
    ]


def _narrowed(
    widths: Sequence[int], columns: Sequence[Column], head: Sequence[Line], room: int | None, *, is_stacked: bool
) -> tuple[list[int], int]:
    """The widths of columns, reduced to fit into the room as far as possible, and the number of columns that stand beside each other.

    With `is_stacked`, those that may stand below do.
    """
    titles = [_cells(title, PLAIN) for title in head] or [0] * len(columns)
    below = next((place for place, column in enumerate(columns) if column.is_below), len(columns))
    for beside in (below,) if is_stacked else (len(columns), below):
        narrowed = list(widths[:beside])
        narrowest = 2 * _NARROWEST if beside == len(columns) > below else _NARROWEST  # columns stand below before a name gets narrower
        least = [max(narrowest, title) for title in titles]
        cut = [place for place, column in enumerate(columns[:beside]) if column.is_cut]
        while cut and room is not None and _total(narrowed) > room:
            widest = max(cut, key=lambda place: narrowed[place] - least[place])
            if narrowed[widest] <= least[widest]:
                break
            narrowed[widest] -= 1
        if room is None or _total(narrowed) <= room:
            break
    return [*narrowed, *widths[beside:]], beside


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _flow(flow: Relation, palette: Palette, width: int) -> Iterator[str]:
    sides = [(mark, ["".join(span.text for span in _spans(line, palette)) for line in found]) for mark, found in flow.sides if found]
    whole = _GAP.join(mark + _GAP.join(texts) for mark, texts in sides)
    if len(sides) < 3 and not flow.is_listed and cells(whole) <= width:
        yield from [_line(bold(whole), palette)] if whole else ()
        return
    for mark, texts in sides:
        filled = texts if flow.is_listed else _filled(texts, width - len(mark), _GAP)
        for number, line in enumerate(filled):
            yield _line(bold((" " * len(mark) if number else mark) + line), palette)


def _filled(texts: Sequence[str], width: int, gap: str) -> Iterator[str]:
    line = ""
    for text in texts:
        if line and cells(line) + len(gap) + cells(text) > width:
            yield line
            line = ""
        line = f"{line}{gap if line else ''}{text}"
    if line:
        yield line


def shortened(texts: Sequence[str], width: int) -> list[str]:
    """Texts of at most `width` columns.

    The middle is left out, or the place nearest to it that keeps different texts different. Where no place does, what most texts begin with
    is left out, too, and then texts that would be equal are cut on both sides of the part in which they differ.
    """
    wide = list(dict.fromkeys(text for text in texts if cells(text) > width))
    best: list[str] = []
    for place in sorted(range(width), key=lambda place: abs(place - (width - 1) // 2)) if wide else ():
        found = [f"{text[:head]}…{text[tail:]}" for text in wide for head, tail in (left_out(text, place, width),)]
        if len(set(found)) > len(set(best)):
            best = found
        if len(set(best)) == len(wide):
            break
    if len(set(best)) < len(wide) and (head := _beginning(wide)):
        rests = shortened([f"…{text.removeprefix(head)}" if text.startswith(head) else text for text in wide], width)
        best = rests if len(set(rests)) > len(set(best)) else best
    short = dict(zip(wide, best, strict=True))
    for same in {one for one in best if best.count(one) > 1}:
        short.update(_around_difference([text for text in wide if short[text] == same], width))
    return [short.get(text, text) for text in texts]


def _beginning(texts: Sequence[str]) -> str:
    """The whole words that four of five texts begin with."""
    few, ordered = len(texts) // 10, sorted(texts)
    found = ordered[few][: common(ordered[few], ordered[-1 - few])]
    return found[: max(found.rfind("."), found.rfind("/")) + 1]


def _around_difference(texts: Sequence[str], width: int) -> dict[str, str]:
    """Texts cut on both sides of the part in which they differ; none if this part is too wide."""
    head = common(*texts)
    tail = common(*[text[:head:-1] for text in texts])
    each = (width - 2 - max(cells(text[head : len(text) - tail]) for text in texts)) // 4
    found = {text: f"…{text[head - each : len(text) - tail + each]}…{text[len(text) - 2 * each :]}" for text in texts}
    return found if 0 < each <= min(head, tail) // 2 and max(map(cells, found.values())) <= width else {}
