"""`irshape rule`: what a code means, why it matters, what to do, and a file with the fault and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from irshape.cli.arguments import add_colour
from irshape.cli.run import CLEAN, complain
from irshape.diagnosis.fixes import BY_HAND, MENDED
from irshape.report.catalogue import CATALOGUE, FAMILIES, Code
from irshape.report.selection import checked_prefix, matches
from irshape.report.snippet import Snippet, bytes_text, changed_lines
from irshape.report.text import Palette, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = "Explain a code: its meaning, why it matters, what to do, and a file with the fault and without. Without CODE, list the codes."
EXAMPLES = """examples:
  irshape rule
  irshape rule S201
  irshape rule S201 --format json
  irshape rule --all"""

# The widest line of a paragraph where the width of the output is not known.
_WIDEST = 100
_FIXES = {
    **dict.fromkeys(MENDED, "irshape check --fix corrects the file where there is one way to do so."),
    **dict.fromkeys(BY_HAND, "irshape check proposes a fix. Check that it is the one you want."),
}
_NO_FIX = "irshape has no fix for this."


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("codes", nargs="*", metavar="CODE", help="a code, or the beginning of codes: S201, S2, S")
    command.add_argument("--all", action="store_true", help="explain every code")
    command.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    add_colour(command)


def run(given: Namespace) -> int:
    """List the codes, or explain some, and return the exit code."""
    try:
        prefixes = [checked_prefix(text.upper()) for text in given.codes]
    except ValueError as error:
        return complain(f"{error}; irshape rule lists the codes")
    is_list = not (prefixes or given.all)
    found = [code for code in CATALOGUE.values() if not prefixes or any(matches(code.code, prefix) for prefix in prefixes)]
    if given.format == "json":
        from irshape.report.json import compact, readable
        from irshape.report.snippets import SNIPPETS

        described = [_described(code, SNIPPETS[code.code]) for code in found]
        is_one = len(given.codes) == 1 and len(found) == 1
        print(readable(described[0]) if is_one else "[\n" + ",\n".join(map(compact, described)) + "\n]")
        return CLEAN
    palette = Palette.choose(given.color, sys.stdout)
    print(*(_list(palette) if is_list else _pages(found, palette, min(terminal_width(sys.stdout) or _WIDEST, _WIDEST))), sep="\n")
    return CLEAN


def _list(palette: Palette) -> Iterator[str]:
    """Every code with its severity and title, by family."""
    for number, (letter, family) in enumerate(FAMILIES.items()):
        if number:
            yield ""
        yield f"{palette.bold}{letter}  {family}{palette.plain}"
        for code in CATALOGUE.values():
            if code.code.startswith(letter):
                yield f"  {palette.key}{code.code}{palette.plain}  {code.severity:7}  {code.title}"


def _pages(codes: list[Code], palette: Palette, width: int) -> Iterator[str]:
    from irshape.report.snippets import SNIPPETS

    for number, code in enumerate(codes):
        if number:
            yield from ("", "")
        yield from _page(code, SNIPPETS[code.code], palette, width)


def _page(code: Code, snippet: Snippet, palette: Palette, width: int) -> Iterator[str]:
    """One code: its texts, then the file with the fault and the change that removes it."""
    from textwrap import fill

    yield f"{palette.key}{code.code}{palette.plain}  {palette.bold}{code.title}{palette.plain}  ({code.severity})"
    texts = {"": code.meaning, "Why it matters": code.why, "What to do": code.fix, "Fix": _FIXES.get(code.code, _NO_FIX)}
    for label, text in texts.items():
        yield ""
        yield fill(f"{label}: {text}" if label else text, width)
    bad, good = snippet.bad, snippet.good
    yield ""
    if snippet.condition:
        yield fill(snippet.condition.replace("`", ""), width)
    elif bad.command == good.command:
        yield f"{palette.bold}{bad.command}{palette.plain} reports the code for this file."
    else:
        yield f"{palette.bold}{bad.command}{palette.plain} reports the code for this file,"
        yield f"{palette.bold}{good.command}{palette.plain} does not."
    if bad.xml != good.xml:
        yield "Lines with - are the fault, lines with + replace them."
    yield ""
    colours = {"-": palette.error, "+": palette.key}
    for line in changed_lines(bad.xml, good.xml):
        colour = colours.get(line[0], "")
        yield f"{colour}{line}{palette.plain}".rstrip() if colour else line.rstrip()
    if bad.weights != good.weights:
        yield from ("", f"model.bin with the fault: {bytes_text(bad.weights)}. Without it: {bytes_text(good.weights)}.".replace("`", ""))
    elif bad.weights is not None:
        yield from ("", f"model.bin: {bytes_text(bad.weights)}.".replace("`", ""))


def _described(code: Code, snippet: Snippet) -> dict[str, Any]:
    """One code as JSON data."""
    fix = "safe" if code.code in MENDED else "by hand" if code.code in BY_HAND else None
    examples = {
        name: {"command": run.command, "xml": run.xml, "weights": (run.weights or b"").hex()}
        for name, run in snippet._asdict().items()
        if name != "condition"
    }
    return {
        "code": code.code,
        "severity": code.severity,
        "title": code.title,
        "meaning": code.meaning,
        "why": code.why,
        "remedy": code.fix,
        "fix": fix,
        "condition": snippet.condition or None,
        **examples,
    }
