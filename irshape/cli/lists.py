"""The commands that list or explain what irshape knows: `ops` its operations, `rule` its codes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from irshape.cli.arguments import Command, add_colour, add_extensions
from irshape.cli.run import CLEAN, complain
from irshape.diagnosis.fixes import BY_HAND, MENDED
from irshape.ops.describe import category, describe, version_ranges, versions
from irshape.ops.extensions import load_plugins, registry_of
from irshape.ops.registry import ExtensionError, Registry
from irshape.report.catalogue import CATALOGUE, FAMILIES, Code
from irshape.report.section import Block, Column, Item, Prose, Section, Span, Table, bold, dim, key, paragraph
from irshape.report.selection import checked_prefix, matches
from irshape.report.snippets import Snippet, bytes_text, changed_lines
from irshape.report.terminal import lines
from irshape.report.text import Palette

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


# `irshape ops`.


def _add_ops(command: ArgumentParser) -> None:
    command.add_argument("type", nargs="?", metavar="TYPE", help="an operation, in upper or lower case")
    add_extensions(command)
    command.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    add_colour(command)


def _run_ops(given: Namespace) -> int:
    """List every operation, or describe one, and return the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    registry = registry_of(given.extensions)
    try:
        load_plugins()
    except ExtensionError as error:
        return complain(str(error))
    if given.type is None:
        described = [one for type in registry.types() if (one := describe(type, registry)) is not None]
    else:
        one = describe(given.type, registry)
        if one is None:
            return complain(f"there is no operation {given.type!r}{_suggestion(given.type, registry)}")
        described = [one]
    if given.format == "json":
        from irshape.report.form import compact, readable

        print(readable(described[0]) if given.type else "[\n" + ",\n".join(map(compact, described)) + "\n]")
    else:
        print(*lines(_description(described[0]) if given.type else _operations(registry), palette), sep="\n")
    return CLEAN


def _suggestion(type: str, registry: Registry) -> str:
    from difflib import get_close_matches

    types = {name.lower(): name for name in registry.types()}
    close = [types[name] for name in get_close_matches(type.lower(), types, 3)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _operations(registry: Registry) -> Iterator[Section]:
    """Every operation type with its versions, by category."""
    categories: dict[str, list[tuple[str, str]]] = {}
    for type in registry.types():
        classes = versions(type, registry)
        text = "; ".join(version_ranges(names) for names, _ in classes)
        categories.setdefault(category(classes[-1][1]), []).append((type, text))
    width = max(len(type) for found in categories.values() for type, _ in found)
    columns = (Column("key", least=width), Column())
    yield paragraph(*(Item(bold(name), [Table(columns, found)], 2) for name, found in sorted(categories.items())))


def _description(described: dict[str, Any]) -> Iterator[Section]:
    """One operation type: its category, then each range of versions."""
    yield paragraph((bold(described["type"]), f"  ({described['category']})"))
    for one in described["versions"]:
        blocks: list[Block] = [one["summary"]]
        if one["extension"]:
            blocks.append(f"OpenVINO needs {one['extension']} to run it")
        if one["page"]:
            blocks.append(dim(one["page"]))
        rows = [("input", port["name"], _input(port)) for port in one["inputs"]]
        rows += [("output", port["name"], _output(port)) for port in one["outputs"]]
        rows += [("attribute", attribute["name"], _attribute(attribute)) for attribute in one["attributes"]]
        blocks.append(Table((Column(least=9), Column("key"), Column()), rows))
        can = [text for text, key in (("follows values", "propagates_values"), ("computes the data", "evaluates")) if one[key]]
        if can:
            blocks.append(f"irshape {' and '.join(can)} through it")
        if one["cost"]:
            blocks.append(f"cost: {one['cost']}")
        yield Section(version_ranges(one["versions"]), blocks)


def _input(port: dict[str, Any]) -> str:
    parts = [port["types"] if port["like"] is None else f"type of {port['like']}"]
    if port["rank"] is not None:
        parts.append("scalar" if port["rank"] == 0 else f"rank {port['rank']}")
    elif port["min_rank"]:
        parts.append(f"rank >= {port['min_rank']}")
    parts += [
        word
        for word, key in (("its values are read", "reads_value"), ("optional", "optional"), ("any number of them", "variadic"))
        if port[key] and not (key == "optional" and port["along"])
    ]
    if port["along"]:
        parts.append(f"along with {port['along']}")
    return ", ".join(parts)


def _output(port: dict[str, Any]) -> str:
    if port["type"]:
        text = port["type"]
    elif port["like"]:
        text = f"type of {port['like']}"
    elif port["attribute"]:
        text = f"type named by {port['attribute']}"
    else:
        text = "type by rule"
    return f"{text}, any number of them" if port["variadic"] else str(text)


def _attribute(attribute: dict[str, Any]) -> str:
    default = attribute["default"]
    if attribute["required"]:
        return f"{attribute['type']}, required" + ("" if default is None else f" (OpenVINO takes {_value(default)} without it)")
    return f"{attribute['type']}, default {_value(default)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "[" + ",".join(map(_value, value)) + "]" if isinstance(value, list) else "none" if value is None else str(value) or "empty"


OPS = Command(
    "List the operations, or describe one: versions, ports, attributes, defaults, specification page.",
    """examples:
  irshape ops
  irshape ops SpaceToBatch
  irshape ops SpaceToBatch --format json""",
    _add_ops,
    _run_ops,
)


# `irshape rule`.

_FIXES = {
    **dict.fromkeys(MENDED, "irshape check --fix corrects the file where there is one way to do so."),
    **dict.fromkeys(BY_HAND, "irshape check proposes a fix. Check that it is the one you want."),
}
_NO_FIX = "irshape has no fix for this."


def _add_rule(command: ArgumentParser) -> None:
    command.add_argument("codes", nargs="*", metavar="CODE", help="a code, or the beginning of codes: S201, S2, S")
    command.add_argument("--all", action="store_true", help="explain every code")
    command.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    add_colour(command)


def _run_rule(given: Namespace) -> int:
    """List the codes, or explain some, and return the exit code."""
    try:
        prefixes = [checked_prefix(text.upper()) for text in given.codes]
    except ValueError as error:
        return complain(f"{error}; irshape rule lists the codes")
    is_list = not (prefixes or given.all)
    found = [code for code in CATALOGUE.values() if not prefixes or any(matches(code.code, prefix) for prefix in prefixes)]
    from irshape.report.snippet_files import snippets

    examples = snippets()
    if given.format == "json":
        from irshape.report.form import compact, readable

        described = [_described(code, examples[code.code]) for code in found]
        is_one = len(given.codes) == 1 and len(found) == 1
        print(readable(described[0]) if is_one else "[\n" + ",\n".join(map(compact, described)) + "\n]")
        return CLEAN
    palette = Palette.choose(given.color, sys.stdout)
    texts = [_codes()] if is_list else [_page(code, examples[code.code]) for code in found]
    print("\n\n\n".join("\n".join(lines(text, palette)) for text in texts))
    return CLEAN


def _codes() -> Iterator[Section]:
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


RULE = Command(
    "Explain a code: its meaning, why it matters, what to do, and a file with the fault and without. Without CODE, list the codes.",
    """examples:
  irshape rule
  irshape rule S201
  irshape rule S201 --format json
  irshape rule --all""",
    _add_rule,
    _run_rule,
)
