"""Words, numbers and names in reports, the width of a text, and the colours of a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from irshape.report.diagnostic import ERROR, NOTE, WARNING, Diagnostic
from irshape.report.diagnostic import escape as escape

# The widest that a name from a file is on a terminal.
WIDEST = 48
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
    head, tail = left_out(text, (width - 1) // 2, width)
    return f"{text[:head]}…{text[tail:]}"


def left_out(text: str, place: int, width: int) -> tuple[int, int]:
    """The begin and the end of the part of a wide text, from `place` on, without which it is `width` columns wide with a mark."""
    head, tail = place, len(text) - (width - 1 - place)
    while cells(text[:head]) + cells(text[tail:]) + 1 > width:
        head, tail = (head, tail + 1) if len(text) - tail > head else (head - 1, tail)
    return head, tail


class Palette:
    """How a text is shown: colours by their meaning, which are empty if it is plain, the width of a terminal, and whether bars are drawn.

    `width` is None where a text does not go to a terminal; then nothing is shortened.
    """

    def __init__(self, is_coloured: bool, width: int | None = None, *, can_draw: bool = True) -> None:
        self.width = width
        self.can_draw = can_draw
        codes = ("\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[36m", "\x1b[0m", "\x1b[33m", "\x1b[1;33m") if is_coloured else ("",) * 7
        self.bold, self.dim, self.error, self.key, self.plain, self.unknown, self.warning = codes

    @staticmethod
    def choose(when: str, stream: TextIO) -> Palette:
        """The colours of a stream: `always`, `never`, or `auto`: on a terminal, unless `TERM` is `dumb` or `NO_COLOR` is set."""
        is_terminal = stream.isatty()
        is_lively = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        can_draw = (getattr(stream, "encoding", None) or "").lower().startswith("utf")
        return Palette(is_lively if when == "auto" else when == "always", terminal_width(stream), can_draw=can_draw)


PLAIN = Palette(False)


def consequences_text(diagnostic: Diagnostic) -> str:
    """How many faults follow from one, in words; empty if none does."""
    faults, layers = diagnostic.consequences
    if layers:
        return f"{counted(layers, 'other layer')} fail{'s' if layers == 1 else ''} for the same reason"
    return f"{counted(faults, 'more fault')} of this layer ha{'s' if faults == 1 else 've'} the same reason" if faults else ""


def advice(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """The hint and the fix, each with its label."""
    if diagnostic.hint:
        yield "hint", diagnostic.hint
    if diagnostic.fix:
        yield "fix" if diagnostic.fix.is_safe else "fix by hand", str(diagnostic.fix)


def counted(number: int, thing: str) -> str:
    """A number with its noun: `1 error`, `2 errors`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def common(*texts: Sequence[str]) -> int:
    """How many characters of texts, or lines of lists, are the same at their beginnings."""
    return next((place for place, found in enumerate(zip(*texts, strict=False)) if len(set(found)) > 1), min(map(len, texts)))


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


def listed(names: tuple[str, ...]) -> str:
    """Names in a row, the middle of a long row left out."""
    return f"{names[0]} … {names[-1]}" if len(names) > 2 else " and ".join(names)


def verdict(severities: Mapping[str, int]) -> str:
    """The number of errors, warnings and notes: `2 errors, 1 warning`."""
    counts = [(number, severity) for severity in (ERROR, WARNING, NOTE) if (number := severities.get(severity))]
    return ", ".join(counted(number, severity) for number, severity in counts) or "no faults"


def unexpanded(path: str) -> str:
    """The end of a complaint about a path that is not there: the next step for a pattern, which a shell or `glob` expands."""
    return "; irshape expands no patterns: give the folder, which is searched" if "*" in path else ""
