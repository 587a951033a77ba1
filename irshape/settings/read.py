"""The configuration of a folder: the nearest file upwards, as ruff finds it, and every fault of it with its file, line and key.

Every run looks for a configuration, so this module imports no more than that needs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from irshape.files.reading import MOST_OF_SETTINGS, TomlFault, parse_toml, read, read_whole

if TYPE_CHECKING:
    from irshape.settings.schema import Configuration

OWN: Final = "irshape.toml"
SHARED: Final = "pyproject.toml"


def find(folder: str, known: dict[str, str | None]) -> str | None:
    """The path of the configuration that applies to an absolute folder; None if there is none. `known` keeps what was found.

    In one folder, `irshape.toml` comes before `pyproject.toml`. A `pyproject.toml` without `[tool.irshape]` is passed by. A file that
    cannot be read counts, so that the error is reported.
    """
    passed: list[str] = []
    while folder not in known:
        passed.append(folder)
        own, shared = os.path.join(folder, OWN), os.path.join(folder, SHARED)
        if os.path.isfile(own):
            known[folder] = own
        elif os.path.isfile(shared) and _has_table(shared):
            known[folder] = shared
        elif (above := os.path.dirname(folder)) == folder:
            known[folder] = None
        else:
            folder = above
    found = known[folder]
    known.update(dict.fromkeys(passed, found))
    return found


def _has_table(path: str) -> bool:
    """Whether a `pyproject.toml` has a table `[tool.irshape]`, or cannot be parsed although it names irshape."""
    try:
        content = read(path, MOST_OF_SETTINGS)
    except OSError:
        return True
    if b"irshape" not in content:
        return False
    try:
        tool = parse_toml(content)[1].get("tool", {})
    except TomlFault:
        return True
    return isinstance(tool, dict) and "irshape" in tool


_HEADER: Final = r"\s*\[{1,2}((?:\"[^\"]*\"|'[^']*'|[^\[\]\"'])*)\]{1,2}\s*(?:#.*)?$"
_KEY: Final = r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*="""
_PART: Final = r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*\.?"""
# A longer line is not searched for a key. The most characters of a key and of its fault, and the most faults that one message has.
_LONGEST_LINE: Final = 10_000
_LONGEST_TEXT: Final = 1_000
_MOST_FAULTS: Final = 100


class ConfigurationError(ValueError):
    """A configuration that cannot be used; each line of the message is a fault with its place."""


def read_configuration(path: str, *, is_trusted: bool = False, is_found: bool = False) -> Configuration:
    """The configuration in a file. Raises `ConfigurationError` with every fault of it.

    The paths that it names stay in its folder, links followed, unless it `is_trusted`: a configuration may come with a stranger's files.
    So does the file itself if it `is_found`, not named by the user.
    """
    shown = os.path.relpath(path)
    if is_found and not is_trusted and not _is_inside(path, os.path.realpath(os.path.dirname(path))):
        raise ConfigurationError(f"{shown}: this is a link to a file outside of its folder; --trust-config follows it")
    try:
        text, document = parse_toml(read_whole(path, MOST_OF_SETTINGS))
    except OSError as error:
        raise ConfigurationError(f"{shown}: {error.strerror}") from None
    except TomlFault as fault:
        raise ConfigurationError(f"{shown}{f':{fault.line}' if fault.line else ''}: {fault.reason}") from None
    before = ("tool", "irshape") if os.path.basename(path) == SHARED else ()
    table: Any = document
    for key in before:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    lines = _lines(text)
    if not isinstance(table, dict):
        raise ConfigurationError(f"{shown}:{_line_of(lines, before)}: tool.irshape: expected a table, found {_kind(table)}")
    try:
        from pydantic import ValidationError
    except ImportError:
        raise ConfigurationError(f"{shown}: reading a configuration needs pydantic: pip install pydantic") from None

    from irshape.settings.schema import configuration, faults

    try:
        found = configuration(os.path.abspath(path), table)
        wrong = [] if is_trusted else list(_leading_out(found))
    except ValidationError as error:
        wrong = list(faults(error))
    except RecursionError:
        raise ConfigurationError(f"{shown}: the file nests tables or lists too deeply") from None
    if not wrong:
        return found
    told = sorted((_line_of(lines, (*before, *keys)), ".".join(keys)[:_LONGEST_TEXT], message[:_LONGEST_TEXT]) for keys, message in wrong)
    more = [f"{shown}: and {len(told) - _MOST_FAULTS:,} more faults"] if len(told) > _MOST_FAULTS else []
    raise ConfigurationError("\n".join([*(f"{shown}:{line}: {key}: {message}" for line, key, message in told[:_MOST_FAULTS]), *more]))


def _leading_out(found: Configuration) -> Iterator[tuple[tuple[str, ...], str]]:
    """The keys of the paths that lead out of the folder of a configuration, each with a message."""
    folder = os.path.realpath(os.path.dirname(found.path))
    named: list[tuple[tuple[str, ...], str | None]] = [(("baseline",), found.baseline)]
    for keys, table in (((), found), *((("per-file", glob), table) for glob, table in found.per_file.items())):
        named += [((*keys, "extensions", str(number)), file) for number, file in enumerate(table.extensions)]
        if table.weights:
            named.append(((*keys, "weights"), table.weights))
    for place, path in named:
        if path is not None and not _is_inside(path, folder):
            yield place, f"{path!r} leads out of the folder of the configuration; --trust-config allows it"


def _is_inside(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([os.path.realpath(os.path.join(folder, path)), folder]) == folder
    except ValueError:  # another drive, or a character of code 0
        return False


def _kind(value: object) -> str:
    return {str: "a string", int: "an integer", float: "a number", bool: "a boolean", list: "an array"}.get(type(value), "a date")


def _line_of(lines: dict[tuple[str, ...], int], keys: Sequence[str]) -> int:
    """The line, from 1, that sets a key, or else the nearest table or key around it, given the lines of all keys."""
    return next((lines[tuple(keys[:count])] for count in range(len(keys), -1, -1) if tuple(keys[:count]) in lines), 1)


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The first line of each key and table of a configuration."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, content in enumerate(text.splitlines(), 1):
        if len(content) > _LONGEST_LINE:
            continue
        if header := re.match(_HEADER, content):
            path = table = _parts(header[1])
        elif key := re.match(_KEY, content):
            path = (*table, *_parts(key[1]))
        else:
            continue
        found.setdefault(path, number)
    return found


def _parts(text: str) -> tuple[str, ...]:
    """The keys of a dotted key."""
    return tuple(next(part for part in match.groups() if part is not None) for match in re.finditer(_PART, text))
