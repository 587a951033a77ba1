"""Reads plain command lines, so that a run need not load `argparse`, which takes as long as checking a small model.

The declarations of the arguments are those that `argparse` takes, and both give the same. A line that is not plain, such as one that asks
for help or has a fault, is left to `argparse`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from irshape.cli.arguments import COMMANDS, HOMES, OVERVIEW
from irshape.shape.compilation import NamedTuple

if TYPE_CHECKING:
    from argparse import Namespace


def parse(words: Sequence[str]) -> Namespace | SimpleNamespace | None:
    """The arguments on a line of the form `COMMAND FILE... --option value`; None for any other line."""
    if not words or words[0] not in (*COMMANDS, OVERVIEW):
        return None
    line = _Line()
    module_of(words[0]).add_arguments(line)
    return line.read(words[0], words[1:])


def module_of(command: str) -> Any:
    """The module of a command, or the command in it. `importlib` would take longer to load."""
    name = f"irshape.cli.{HOMES.get(command, command)}"
    __import__(name)
    return getattr(sys.modules[name], command.upper(), sys.modules[name])


class _NotPlain(Exception):
    """The line is for `argparse`."""


class _Option(NamedTuple):
    """An option: where its value goes, and how it is read."""

    dest: str
    nargs: object
    action: str = "store"
    type: Callable[[str], Any] = str
    choices: Sequence[str] = ()

    def read(self, text: str, known: Any) -> Any:
        """The value of the option on the line, after the one that is known."""
        try:
            value = self.type(text)
        except Exception:
            raise _NotPlain from None
        if (self.choices and value not in self.choices) or self.nargs is not None or self.action not in ("store", "append", "extend"):
            raise _NotPlain
        return value if self.action == "store" else [*(known or ()), *(value if self.action == "extend" else (value,))]


class _Line:
    """Takes the declarations of a command in place of an `ArgumentParser`, and then reads the line."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._options: dict[str, _Option] = {}
        self._files: list[tuple[str, object]] = []
        self._exclusive: list[set[str]] = []

    def add_argument(self, *names: str, default: Any = None, nargs: object = None, **declared: Any) -> None:
        """Declare a file or an option, as with `argparse`."""
        if not names[0].startswith("-"):
            self._files.append((names[0], "choice" if "choices" in declared else nargs))
            return
        dest = declared.pop("dest", None) or next(name for name in names if name.startswith("--")).lstrip("-").replace("-", "_")
        option = _Option(dest, nargs, **{name: value for name, value in declared.items() if name in _Option._fields})
        self._values[dest] = False if option.action == "store_true" else default
        self._options.update(dict.fromkeys(names, option))

    def add_argument_group(self, title: str) -> _Line:
        """The group of the options that follow, which only the help shows."""
        return self

    def add_mutually_exclusive_group(self) -> SimpleNamespace:
        """A group of options of which a line has one at most."""
        group: set[str] = set()
        self._exclusive.append(group)

        def add(*names: str, **declared: Any) -> None:
            group.update(names)
            self.add_argument(*names, **declared)

        return SimpleNamespace(add_argument=add)

    def set_defaults(self, **values: Any) -> None:
        """Declare values that no option sets."""
        self._values.update(values)

    def read(self, command: str, words: Sequence[str]) -> SimpleNamespace | None:
        """The arguments of the command on the line; None if the line is not plain."""
        try:
            return self._read(command, words)
        except _NotPlain:
            return None

    def _read(self, command: str, words: Sequence[str]) -> SimpleNamespace:
        if any(len(group.intersection(words)) > 1 for group in self._exclusive):
            raise _NotPlain
        given, files, ended, rest = {**self._values, "command": command}, [], False, iter(words)
        for word in rest:
            if word == "-" or not word.startswith("-"):
                if ended:
                    raise _NotPlain  # files among the options
                files.append(word)
                continue
            ended = bool(files)
            option = self._options.get(word)
            if option is None:
                raise _NotPlain
            if option.action == "store_true":
                given[option.dest] = True
                continue
            text = next(rest, "-")
            if text.startswith("-"):
                raise _NotPlain
            given[option.dest] = option.read(text, given[option.dest])
        return SimpleNamespace(**given, **self._placed(files))

    def _placed(self, files: list[str]) -> dict[str, Any]:
        if [nargs for _, nargs in self._files] == ["+"] and files:
            return {self._files[0][0]: files}
        if len(files) != len(self._files) or any(nargs not in (None, 1, "?") for _, nargs in self._files):
            raise _NotPlain
        return {name: [file] if nargs == 1 else file for (name, nargs), file in zip(self._files, files, strict=True)}
