"""Build the documentation site: gather its pages in build/pages, run Zensical over them, check the result. Run with `make docs`.

Zensical takes the pages of one folder, and the pages of this repository stand where a reader of the repository looks for them. So the
pages are copied, and their links follow them. The reference is made here from the code: the options from the argument parsers, the API
from docstrings, the schemas from their files.
"""

import argparse
import inspect
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"

# Pages outside `docs/`, and their place in the site.
ELSEWHERE = {
    "README.md": "index.md",
    "examples/README.md": "examples.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
# Folders that pages link to, and the page about each.
FOLDERS = {"schemas": "reference/schemas.md", "examples": "examples.md"}

# What a style sheet loads from a host.
STYLE_LOAD = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")

# Classes of which a program makes objects itself: their arguments are shown. All others it is given.
MADE = {"irshape.Session", "irshape.extend.In", "irshape.extend.Out"}
# Classes whose docstring describes the fields, which have none of their own, as in all parts of results.
FIELDS = {"irshape.Limits", "irshape.Range", "irshape.extend.Count"}
# Classes with a base that is not public.
DERIVED = {"irshape.InferredPort", "irshape.InputPort", "irshape.OutputPort", "irshape.Inference", "irshape.Model"}
# The types of arguments and of values, which are no classes.
TYPES = (
    "irshape.Shape",
    "irshape.Size",
    "irshape.typing.Amount",
    "irshape.typing.Extensions",
    "irshape.typing.Reading",
    "irshape.typing.RtInfo",
    "irshape.typing.ShapeLike",
    "irshape.typing.Shapes",
    "irshape.typing.Source",
    "irshape.typing.Symbols",
    "irshape.typing.SymbolsAs",
    "irshape.typing.WeightsChoice",
    "irshape.typing.WeightsSource",
)
OPERATIONS = (
    "irshape.extend.op",
    "irshape.extend.Op",
    "irshape.extend.In",
    "irshape.extend.Out",
    "irshape.extend.Input",
    "irshape.extend.Context",
    "irshape.extend.Count",
    "irshape.extend.Outputs",
)

TESTS = ("irshape.testing.assert_valid", "irshape.testing.assert_shape", "irshape.testing.assert_same")


def sources() -> dict[str, str]:
    """The pages of the repository, each with its place in the site."""
    own = sorted((ROOT / "docs").rglob("*.md"))
    return {path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs").as_posix() for path in own} | ELSEWHERE


def moved(text: str, page: str, places: dict[str, str], carry: Callable[[str], str]) -> str:
    """The text of a page of the repository with its links as they are in the site.

    `places` says where each page stands in the site. A link to any other file goes to its copy, whose place `carry` gives.
    """

    def target(link: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[1]))
        place = places.get(file) or FOLDERS.get(file) or carry(file)
        return posixpath.relpath(place, posixpath.dirname(places[page]) or ".") + (link[2] or "")

    return LINK.sub(target, text).replace(r"\<", "&lt;")  # Zensical knows no backslash before "<"


def commands_page() -> str:
    """Every command with its usage and its options, from the argument parsers."""
    from irshape.cli.arguments import COMMANDS
    from irshape.cli.parser import parser

    about = "`irshape COMMAND --help` prints the same. [The command line](../command-line.md) explains the commands."
    lines = ["# Commands and options", "", about]
    for name in COMMANDS:
        top = parser([name])
        command = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction)).choices[name]
        examples = re.sub(r"^examples:\n", "", command.epilog or "").replace("\n  ", "\n").strip()
        lines += ["", f"## irshape {name}", "", command.description or "", "", "```text", usage(command), "```", ""]
        lines += ["| argument | meaning |", "|---|---|"]
        lines += [f"| {spelling(action)} | {cell(action.help or '')} |" for action in command._actions]
        lines += ["", "```text", examples, "```"]
    return "\n".join(lines) + "\n"


def usage(command: argparse.ArgumentParser) -> str:
    """The usage of a command, in lines that fit the page."""
    os.environ["COLUMNS"] = "100"
    return re.sub(r"\n {7}", r"\n", command.format_usage().removeprefix("usage: ").rstrip())


def spelling(action: argparse.Action) -> str:
    """The spellings of an argument, as one writes them."""
    if not action.option_strings:
        return f"`{action.metavar}`"
    value = f" {action.metavar or '{' + ','.join(map(str, action.choices or ())) + '}'}" if action.nargs != 0 else ""
    return ", ".join(f"`{option}{value}`" for option in action.option_strings)


def cell(text: str) -> str:
    """Text for a cell of a table: words are shown as they are."""
    return re.sub(r"([|*\[\]_])", r"\\\1", text).replace("<", "&lt;")


def api_page() -> str:
    """The public names of the package by what they are; mkdocstrings puts their docstrings in place."""
    import irshape
    from irshape import typing

    # A type alias such as `Shape` has no docstring.
    named = {name: getattr(irshape, name) for name in irshape.__all__ if f"irshape.{name}" not in TYPES}
    verbs = [f"irshape.{name}" for name, value in named.items() if inspect.isfunction(value)]
    classes = [f"irshape.{name}" for name, value in named.items() if not inspect.isfunction(value)]
    parts = [name for one in typing.__all__ if (name := f"irshape.typing.{one}") not in TYPES]
    groups = {
        "Functions": (
            "The questions about a model. Each function takes a `Model`, or any source that `irshape.read` takes.",
            verbs,
        ),
        "Classes": ("The classes that `irshape` exports.", classes),
        "Parts of results": ("Objects of these classes are in the results. Import them from `irshape.typing`, for annotations.", parts),
        "Types": ("The types of arguments and of values.", TYPES),
        "Operations": ("The base of an operation. [Extension operations](../guides/extension-operations.md) shows their use.", OPERATIONS),
    }
    groups["Tests"] = ("Assertions about models. [Test models with pytest](../guides/testing.md) shows their use.", TESTS)
    lines = ["# Python API"]
    for title, (about, names) in groups.items():
        lines += ["", f"## {title}", "", about]
        for name in names:
            lines += ["", f"::: {name}"]
            shown = {
                "merge_init_into_class": name in MADE,
                "show_if_no_docstring": name in (*FIELDS, *parts),
                "inherited_members": name in DERIVED,
            }
            if any(shown.values()):
                lines += ["    options:", *(f"      {option}: true" for option, is_set in shown.items() if is_set)]
    return "\n".join(lines) + "\n"


def schemas_page() -> str:
    """The schemas with their keys."""
    about = "JSON Schemas of what irshape prints with `--format json`. The installed package has them in `irshape/schemas`."
    lines = ["# Schemas", "", about]
    for path in sorted((ROOT / "schemas").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        lines += ["", f"## {path.name.partition('.')[0]}", "", f"{schema['title']}: [`{path.name}`](../files/schemas/{path.name})."]
        if keys := list(rows(schema)):
            lines += ["", "| key | type | meaning |", "|---|---|---|", *keys]
    structure = "[`openvino-ir.xsd`](../files/schemas/openvino-ir.xsd)"
    lines += ["", "## XML", "", f"The structure of an IR, for editors and XML tools: {structure} (XSD 1.0). It does not know operations."]
    return "\n".join(lines) + "\n"


def rows(schema: dict[str, Any], before: str = "") -> Iterator[str]:
    """A row for each key of an object, and below it for the keys of the objects in it."""
    for key, value in schema.get("properties", {}).items():
        needed = "" if key in schema.get("required", []) else ", may be absent"
        yield f"| `{before}{key}` | {kind(value)}{needed} | {cell(value.get('description', ''))} |"
        inside = value.get("items") if value.get("type") == "array" else value
        if isinstance(inside, dict):
            for one in inside.get("anyOf", [inside]):
                yield from rows(one, f"{before}{key}[]." if inside is not value else f"{before}{key}.")


def kind(schema: dict[str, Any]) -> str:
    """The type that a schema demands, in a few words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[{name}](#diagnostics)" if name == "diagnostic" else name
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(kind, schema["anyOf"])))
    if "enum" in schema:
        words = [f"`{word}`" for word in schema["enum"]]
        return f"one of {', '.join(words)}" if len(words) < 20 else "one of many words"
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        return f"array of {kind(schema['items'])}"
    named = schema.get("type", "any")
    return " or ".join(named) if isinstance(named, list) else str(named)


REFERENCE: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/api.md": api_page,
    "reference/schemas.md": schemas_page,
}


def gather(folder: Path) -> None:
    """Put every page of the site into an empty folder, with the files that pages link to."""

    def carry(file: str) -> str:
        beside = file.removeprefix("docs/") if file.startswith("docs/") else f"files/{file}"
        destination = folder / beside
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, destination)
        return beside

    places = sources()
    pages = {place: moved((ROOT / page).read_text(encoding="utf-8"), page, places, carry) for page, place in places.items()}
    pages |= {place: make() for place, make in REFERENCE.items()}
    for place, text in pages.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "assets", folder / "assets")
    for schema in (ROOT / "schemas").iterdir():
        carry(f"schemas/{schema.name}")


class Page(HTMLParser):
    """The targets of a page's links, the resources it loads, and its anchors."""

    LOADED = frozenset({("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href"), ("use", "href")})
    # A link that says something about a page loads nothing.
    IS_SAID = frozenset({"canonical", "next", "prev", "alternate"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self._is_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        self._is_style = tag == "style"
        self.anchors |= {own[name] for name in ("id", "name") if name in own}
        if tag == "a" and "href" in own:
            self.links.append(own["href"])
        if not (tag == "link" and own.get("rel") in self.IS_SAID):
            self.loads += [own[name] for name in ("src", "href") if name in own and (tag, name) in self.LOADED]

    def handle_endtag(self, tag: str) -> None:
        self._is_style = False

    def handle_data(self, data: str) -> None:
        if self._is_style:
            self.loads += STYLE_LOAD.findall(data)


def faults(site: Path) -> Iterator[str]:
    """What is wrong with a built site: links that lead nowhere, and what a page would ask another host for."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for load in page.loads:
            if urlsplit(load).netloc:
                yield f"{name} loads {load}"
        if name == "404.html":  # its links begin at the root of whatever host it is on
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{name} links to {link}, which does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name} links to {link}, but that page has no such heading"
    for style in sorted(site.rglob("*.css")):
        for load in STYLE_LOAD.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site).as_posix()} loads {load}"


def main() -> int:
    """Build the site; the exit code is 1 if something is wrong with it."""
    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    gather(PAGES)
    built = subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=ROOT, check=False)
    if built.returncode:
        return built.returncode
    found = list(faults(SITE))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{SITE.relative_to(ROOT)}: {sum(1 for _ in SITE.rglob('*.html'))} pages, {len(found)} faults")
    return int(bool(found))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
