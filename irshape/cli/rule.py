"""`irshape rule`: what a code means, why it matters, what to do, and a file with the fault and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from irshape.cli.arguments import add_colour
from irshape.cli.run import CLEAN, complain, put_json
from irshape.diagnosis.fixes import BY_HAND, MENDED
from irshape.report.catalogue import CATALOGUE, FAMILIES, Code
from irshape.report.section import Block, Column, Prose, Section, Span, Table, bold, key, paragraph
from irshape.report.selection import checked_prefix, matches
from irshape.report.snippet import Snippet, bytes_text, changed_lines
from irshape.report.terminal import lines
from irshape.report.text import Palette

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = "Explain a code: its meaning, why it matters, what to do, and a file with the fault and without. Without CODE, list the codes."
EXAMPLES = """examples:
  irshape rule
  irshape rule S201
  irshape rule S201 --format json
  irshape rule --all"""

_FIXES = {
    **dict.fromkeys(MENDED, "irshape check --fix corrects the file where there is one way to do so."),
    **dict.fromkeys(BY_HAND, "irshape check proposes a fix. Check that it is the one you want."),
}
_NO_FIX = "irshape has no fix for this."


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("codes", nargs="*", metavar="CODE", help="a code, or the beginning of codes, in upper or lower case: S201, S2, S")
    command.add_argument("--all", action="store_true", help="explain every code")
    command.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    add_colour(command)


def run(given: Namespace) -> int:
    """List the codes, or explain some, and return the exit code."""
    prefixes = []
    for text in given.codes:
        try:
            prefixes.append(checked_prefix(text.upper()))
        except ValueError as error:
            from irshape.ops.describe import describe

            known = describe(text)
            meant = f"no code begins with {text!r}; irshape ops {known['type']} describes this operation" if known else str(error)
            return complain(f"{meant}; irshape rule lists the codes")
    is_list = not (prefixes or given.all)
    found = [code for code in CATALOGUE.values() if not prefixes or any(matches(code.code, prefix) for prefix in prefixes)]
    from irshape.report.snippets import SNIPPETS

    if given.format == "json":
        described = [_described(code, SNIPPETS[code.code]) for code in found]
        put_json(described[0] if len(given.codes) == 1 and len(found) == 1 else described)
        return CLEAN
    palette = Palette.choose(given.color, sys.stdout)
    texts = [_list()] if is_list else [_page(code, SNIPPETS[code.code]) for code in found]
    print("\n\n\n".join("\n".join(lines(text, palette)) for text in texts))
    return CLEAN


def _list() -> Iterator[Section]:
    """Every code with its severity and title, by family."""
    for letter, family in FAMILIES.items():
        rows = [(code.code, code.severity, code.title) for code in CATALOGUE.values() if code.code.startswith(letter)]
        yield Section(f"{letter}  {family}", [Table((Column("key"), Column(least=7), Column()), rows)])


def _page(code: Code, snippet: Snippet) -> Iterator[Section]:
    """One code: its texts, then the file with the fault and the change that removes it."""
    yield paragraph((key(code.code), "  ", bold(code.title), f"  ({code.severity})"))
    texts = {"": code.meaning, "Why it matters": code.why, "What to do": code.fix, "Fix": _FIXES.get(code.code, _NO_FIX)}
    yield from (paragraph(Prose(f"{label}: {text}" if label else text)) for label, text in texts.items())
    bad, good = snippet.bad, snippet.good
    if snippet.condition:
        shown: list[Block] = [Prose(snippet.condition.replace("`", ""))]
    elif bad.command == good.command:
        shown = [(bold(bad.command), " reports the code for this file.")]
    else:
        shown = [(bold(bad.command), " reports the code for this file,"), (bold(good.command), " does not.")]
    yield paragraph(*shown, *(["Lines with - are the fault, lines with + replace them."] if bad.xml != good.xml else []))
    styles = {"-": "error", "+": "key"}
    changed = changed_lines(bad.xml, good.xml)
    yield paragraph(*(Span(line.rstrip(), styles[line[0]]) if line[0] in styles else line.rstrip() for line in changed))
    if bad.weights != good.weights:
        text = f"model.bin with the fault: {bytes_text(bad.weights)}. Without it: {bytes_text(good.weights)}."
    else:
        text = f"model.bin: {bytes_text(bad.weights)}." if bad.weights is not None else ""
    yield paragraph(*([text.replace("`", "")] if text else []))


def _described(code: Code, snippet: Snippet) -> dict[str, Any]:
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
