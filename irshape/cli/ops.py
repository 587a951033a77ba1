"""`irshape ops`: list the operations, or describe one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from irshape.cli.arguments import add_colour, add_extensions
from irshape.cli.run import CLEAN, complain, put_json
from irshape.cli.texts import put_text
from irshape.ops.describe import category, describe, version_ranges, versions
from irshape.ops.extensions import load_plugins, registry_of
from irshape.ops.registry import ExtensionError, Registry
from irshape.report.section import Block, Column, Item, Section, Table, bold, dim, paragraph

ABOUT = "List the operations, or describe one: versions, ports, attributes, defaults, specification page."
EXAMPLES = """examples:
  irshape ops
  irshape ops SpaceToBatch
  irshape ops SpaceToBatch --format json"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("type", nargs="?", metavar="TYPE", help="an operation, in upper or lower case")
    add_extensions(command)
    command.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    add_colour(command)


def run(given: Namespace) -> int:
    """List every operation, or describe one, and return the exit code."""
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
            like = registry.similar(given.type)
            return complain(f"there is no operation {given.type!r}; {f'did you mean {like}?' if like else 'irshape ops lists them'}")
        described = [one]
    if given.format == "json":
        put_json(described[0] if given.type else described)
    else:
        put_text(given.color, _description(described[0]) if given.type else _list(registry))
    return CLEAN


def _list(registry: Registry) -> Iterator[Section]:
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
        if one["propagates_values"]:
            blocks.append("irshape follows values through it")
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
