"""Diagnostics and tables as text: one line for each fault, aligned columns, and colours on a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from irshape.report.diagnostic import ERROR, NOTE, WARNING, Diagnostic, causes
from irshape.report.printable import escape as escape

# The widest a cell makes its column; a longer cell shifts the rest of its own row.
WIDEST = 48
_NARROWEST = 12
_GAP = "  "
_UNITS = ("", " k", " M", " G", " T", " P")
_COMMAND_LINE = r"(?m)^([ +-]?(?:[^\S\n]|\x1b\[[\d;]*m)*)::"
_COMMAND = r"##(?=\[|vso\[|teamcity\[)"


def harmless(text: str, hash: str = "\\x23", *, has_commands: bool = False) -> str:
    """A report in which a runner of continuous integration finds no command of its own, whatever the file's names are.

    GitHub takes a line that begins with `::`, or has `##[`, for a command; Azure DevOps one with `##vso[`, TeamCity one with
    `##teamcity[`. Colours before a command do not hide it from every runner. `hash` is the character # as the format of the report
    escapes it. `has_commands` says that the lines of the report are commands for GitHub.
    """
    if "::" in text and not has_commands:
        text = re.sub(_COMMAND_LINE, r"\1\\x3a:", text)
    return re.sub(_COMMAND, lambda found: hash + found[0][1:], text) if "##" in text else text


def cells(text: str) -> int:
    """The width of a text in columns of a terminal."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(bool(unicodedata.combining(character)) for character in text)


def terminal_width(stream: TextIO) -> int | None:
    """The width of the terminal of a stream in columns; None if the stream is no terminal or the width is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except OSError:
        return None


def shorten(text: str, width: int) -> str:
    """A text without its middle if it is wider than `width`."""
    if cells(text) <= width:
        return text
    head, tail = text[: (width - 1) // 2], text[len(text) - width // 2 :]
    while cells(head) + cells(tail) + 1 > width:
        head, tail = (head, tail[1:]) if len(tail) > len(head) else (head[:-1], tail)
    return f"{head}…{tail}"


def shorten_words(text: str) -> str:
    """A sentence with the long words, which are names, shortened."""
    return " ".join(shorten(word, WIDEST) for word in text.split(" "))


def layer_text(type: str, path: str, name: str, is_narrow: bool = False) -> str:
    """A layer in a sentence: its type and name, with the enclosing layers and bodies (`Add loop / body / add_1`)."""
    shown = shorten(escape(name), WIDEST) if is_narrow else escape(name)
    return f"{escape(type)} {f'{escape(path)} / ' if path else ''}{shown}".strip()


def pad(text: str, width: int) -> str:
    """A text padded with spaces to `width` columns."""
    return text + " " * (width - cells(text))


class Palette:
    """Colours by their meaning, all empty if the output is plain. `is_narrow` says to shorten long names, as on a terminal."""

    __slots__ = ("bold", "dim", "error", "is_narrow", "key", "plain", "unknown", "warning")

    def __init__(self, is_coloured: bool, is_narrow: bool = False) -> None:
        self.is_narrow = is_narrow
        codes = ("\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[36m", "\x1b[0m", "\x1b[33m", "\x1b[1;33m") if is_coloured else ("",) * 7
        self.bold, self.dim, self.error, self.key, self.plain, self.unknown, self.warning = codes

    @staticmethod
    def choose(when: str, stream: TextIO) -> Palette:
        """The colours of a stream: `always`, `never`, or `auto`: on a terminal, unless `TERM` is `dumb` or `NO_COLOR` is set."""
        is_terminal = stream.isatty()
        if when == "auto":
            return Palette(is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb", is_terminal)
        return Palette(when == "always", is_terminal)


def diagnostic_lines(diagnostic: Diagnostic, palette: Palette) -> Iterator[str]:
    """`file:line:col: CODE message [layer, port]`, then a line for each related place, for the hint and for the fix.

    A warning or note has its severity before the message; an error has none.
    """
    colour = palette.error if diagnostic.severity == ERROR else palette.warning
    severity = "" if diagnostic.severity == ERROR else f"{diagnostic.severity}: "
    yield _line_of(diagnostic, f"{severity}{escape(diagnostic.message)}", colour, palette)
    for other in diagnostic.related:
        yield f"    {palette.dim}see {escape(other.file or '<input>')}:{other.line}:{other.column}{palette.plain}"
    for label, text in advice(diagnostic):
        yield f"    {palette.key}{label}:{palette.plain} {escape(text)}"


def report_lines(diagnostics: Sequence[Diagnostic], palette: Palette, *, is_whole: bool = False) -> Iterator[str]:
    """The lines of the causes, each with one about the number of its consequences; with `is_whole`, of all diagnostics."""
    for diagnostic in diagnostics if is_whole else causes(diagnostics):
        yield from diagnostic_lines(diagnostic, palette)
        if not is_whole and (text := consequences_text(diagnostic)):
            yield f"    {palette.dim}{text}; --all lists them{palette.plain}"


def consequences_text(diagnostic: Diagnostic) -> str:
    """How many faults follow from one, in words; empty if none does."""
    faults, layers = diagnostic.consequences
    if layers:
        return f"{counted(layers, 'other layer')} fail{'s' if layers == 1 else ''} for the same reason"
    return f"{counted(faults, 'more fault')} of this layer ha{'s' if faults == 1 else 've'} the same reason" if faults else ""


def mended_line(diagnostic: Diagnostic, palette: Palette) -> str:
    """`file:line:col: CODE fixed: title (evidence) [layer, port]`, with the place of the fault in the original file."""
    fixed = str(diagnostic.fix) if diagnostic.fix else diagnostic.message
    return _line_of(diagnostic, f"fixed: {escape(fixed)}", palette.key, palette)


def _line_of(diagnostic: Diagnostic, text: str, colour: str, palette: Palette) -> str:
    """A line about a fault: its place and code, the text, and its layer."""
    line = f"{palette.bold}{diagnostic.where}:{palette.plain} {colour}{diagnostic.code}{palette.plain} {text}"
    context = about(diagnostic, palette.is_narrow)
    return f"{line} {palette.dim}[{context}]{palette.plain}" if context else line


def advice(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """The hint and the fix, each with its label."""
    if diagnostic.hint:
        yield "hint", diagnostic.hint
    if diagnostic.fix:
        yield "fix" if diagnostic.fix.is_safe else "fix by hand", str(diagnostic.fix)


def about(diagnostic: Diagnostic, is_narrow: bool = False) -> str:
    """The layer and port of a diagnostic: `loop / Add add_1, port 0`; empty if it concerns no layer."""
    return diagnostic.where.about(lambda name: shorten(name, WIDEST)) if is_narrow else diagnostic.where.about()


def counted(number: int, thing: str) -> str:
    """A number with its noun: `1 error`, `2 errors`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def number_text(number: int) -> str:
    """A number with four digits: `4.089 G`."""
    if abs(number) < 10_000:
        return str(number)
    if number.bit_length() > 1000:  # more than a float holds
        from decimal import Decimal

        return f"{Decimal(number):.3e}"
    power = min((len(str(abs(number))) - 1) // 3, len(_UNITS) - 1)
    return f"{number / 1000**power:.4g}{_UNITS[power]}"


def bytes_text(size: int) -> str:
    """A number of bytes with four digits: `4.089 GB`."""
    return f"{number_text(size)}B" if abs(size) >= 10_000 else f"{size} B"


def some(words: Sequence[str], most: int | None) -> str:
    """The first words of a list and the number of the others: `a, b and 3 more`. Without `most`, all words."""
    shown = words[:most]
    return ", ".join(shown) + (f" and {len(words) - len(shown)} more" if len(shown) < len(words) else "")


def verdict(severities: Mapping[str, int]) -> str:
    """The number of errors, warnings and notes: `2 errors, 1 warning`."""
    counts = [(number, severity) for severity in (ERROR, WARNING, NOTE) if (number := severities.get(severity))]
    return ", ".join(counted(number, severity) for number, severity in counts) or "no faults"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], palette: Palette, width: int | None = None) -> Iterator[str]:
    """Rows in aligned columns under a head; the first column is aligned to the right.

    On a terminal of `width` columns, long cells of the second and third column are shortened. If that is not enough, the further columns
    are put on lines of their own. Without a width, every cell is complete.
    """
    columns = list(zip(head, *rows, strict=True))
    natural = [min(max(map(cells, column)), WIDEST) for column in columns]
    natural[-1] = max(map(cells, columns[-1]))
    widths = _narrowed(natural, width)
    is_stacked = width is not None and _total(widths) > width
    if is_stacked:
        widths = _narrowed(natural[:3], width)
    for number, row in enumerate((head, *rows)):
        colours = (palette.bold,) * len(head) if number == 0 else (palette.dim, "", palette.key, *[""] * (len(head) - 3))
        cut = [cell if width is None or index not in (1, 2) else shorten(cell, widths[index]) for index, cell in enumerate(row)]
        if number and len(row) > 3 and _is_unknown(cut[3]):
            colours = (*colours[:3], palette.unknown, *colours[4:])
        if is_stacked:
            yield from _stacked(cut, widths, colours, palette)
        else:
            yield _line(cut, widths, colours, palette)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _narrowed(widths: Sequence[int], width: int | None) -> list[int]:
    """The widths of the columns, of which the second and third are reduced to fit into `width` as far as possible."""
    narrowed = list(widths)
    if width is not None:
        for index in (1, 2):
            narrowed[index] = min(narrowed[index], max(narrowed[index] - (_total(narrowed) - width), _NARROWEST))
    return narrowed


def _is_unknown(shape: str) -> bool:
    return "?" in shape or ".." in shape


def _line(row: Sequence[str], widths: Sequence[int], colours: Sequence[str], palette: Palette) -> str:
    padded = [pad(cell, width) for cell, width in zip(row, widths, strict=True)]
    padded[0] = " " * (widths[0] - cells(row[0])) + row[0]
    last = max((index for index, cell in enumerate(row) if cell), default=0)
    padded[last] = padded[last].rstrip()
    shown = zip(padded[: last + 1], colours, strict=False)
    return _GAP.join(f"{colour}{cell}{palette.plain}" if colour else cell for cell, colour in shown)


def _stacked(row: Sequence[str], widths: Sequence[int], colours: Sequence[str], palette: Palette) -> Iterator[str]:
    if any(row[:3]):
        yield _line(row[:3], widths, colours[:3], palette)
    for cell, colour in zip(row[3:], colours[3:], strict=True):
        if cell:
            yield f"    {colour}{cell}{palette.plain}" if colour else f"    {cell}"
