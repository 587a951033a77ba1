"""The parser of the command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from irshape import __version__
from irshape.cli.arguments import COMMANDS, EFFORT, INPUT, OUTPUT, OVERVIEW, SELECTION, Rare
from irshape.cli.plain import module_of
from irshape.cli.run import FAILED, option_for
from irshape.report.text import terminal_width
from irshape.shape.dim import IS_COMPILED

# The kind of the wheel: whether mypyc has compiled a part of it.
KIND = "compiled" if IS_COMPILED else "interpreted"

_ABOUT = "Check an OpenVINO IR and infer the element type and shape of every port."
_EXAMPLES = """examples:
  irshape model.xml
  irshape check model.xml
  irshape infer model.xml --input "image[1,3,H,W]" -o annotated.xml
  irshape reshape model.xml --batch 8 -o reshaped.xml
  irshape explain model.xml conv1:2:3
  irshape signature model.xml
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape summary model.xml
  irshape cost model.xml
  irshape diff model.xml reshaped.xml
  irshape edit model.xml --add-output encoder -o tapped.xml
  irshape extract model.xml --to features -o backbone.xml
  irshape reduce model.xml --while "python run.py {}" -o reproducer/
  irshape simplify model.xml -o simple.xml
  irshape scan models -o results.parquet
  irshape info model.xml
  irshape view model.xml
  irshape ops SpaceToBatch
  irshape rule S201"""


_SHORT = f"""{_ABOUT}

  irshape model.xml              faults and signature on one screen
  irshape check model.xml        find every fault, with its line
  irshape infer model.xml        show the shape of every layer
  irshape signature model.xml    show how the sizes of inputs and outputs depend on each other
  irshape reshape model.xml      set sizes, and write the model
  irshape view model.xml         look at the model in the browser

irshape --help lists all commands"""

# The column of the help texts, and the least width of what stands before them.
_COLUMN = 25
_LEAST = 14


class _NoColours:
    """A theme of argparse in which every colour is the empty text."""

    def __getattr__(self, name: str) -> str:
        return ""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help without importing `shutil`, which argparse loads at every start only to measure the terminal."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() else terminal_width(sys.stdout) or 80
        super().__init__(prog, width=width - 2, max_help_position=_COLUMN)
        self._action_max_length = _LEAST  # argparse counts the names of commands without their indent

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """An argument with its value once: `-o, --output OUT.xml`."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {action.metavar or self._metavar_formatter(action, action.dest)(1)[0]}"

    def _set_color(self, color: bool) -> None:
        """Format help without colours. From Python 3.14 on, argparse loads `dataclasses` and `inspect` at every start to choose colours."""
        self._theme, self._decolor = _NoColours(), str


class _HelpAll(argparse.Action):
    """Prints the help of a command with its rare options."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest=argparse.SUPPRESS, default=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *others: Any) -> None:
        assert isinstance(parser, Parser)
        print(parser.format_help(is_complete=True), end="")
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A parser that reports wrong arguments on one line, and whose help has the rare options only if they are asked for."""

    def __init__(self, prog: str, *, description: str, epilog: str, **options: Any) -> None:
        """`options` are those that the parser of all commands hands to the parser of one: `color` from Python 3.14 on."""
        super().__init__(prog, description=description, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False, **options)
        self.register("action", "limit", _Limit)
        for title in (INPUT, SELECTION, OUTPUT, EFFORT):
            super().add_argument_group(title)

    def add_argument_group(self, title: str | None = None, *others: Any, **options: Any) -> Any:
        """The group of this title; the declarations of a command share it."""
        found = (group for group in self._action_groups if group.title == title)
        return next(found, None) or super().add_argument_group(title, *others, **options)

    def format_help(self, is_complete: bool = False) -> str:
        """The help, with the rare options if it `is_complete`."""
        formatter = self._get_formatter()
        files = [action for action in self._actions if not action.option_strings]
        words = [formatter._metavar_formatter(action, action.dest)(1)[0] for action in files]
        marks = {"+": "{0}...", "*": "[{0}...]", "?": "[{0}]"}  # as often as they may be given
        places = [marks.get(str(action.nargs), "{0}").format(word) for word, action in zip(words, files, strict=True)]
        also = "\n       %(prog)s FILE... [OPTIONS]" if self._subparsers else ""  # the faults and the signature on one screen
        formatter.add_usage(" ".join(["%(prog)s", *places, "[OPTIONS]"]) + also, files, [])
        formatter.add_text(self.description)
        hidden = 0
        for group in self._action_groups:
            shown = [action for action in group._group_actions if is_complete or not isinstance(action.help, Rare)]
            hidden += len(group._group_actions) - len(shown)
            formatter.start_section(group.title)
            formatter.add_arguments(shown)
            formatter.end_section()
        if hidden:
            formatter.add_text(f"{self.prog} --help-all lists {hidden} more options")
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a line. A word that is no option of the command is an error, with the option that was probably meant.

        Files may also stand behind options, which argparse does not allow.
        """
        given, others = self.parse_known_args(args, namespace)
        command = self._command(given)
        known = [name for action in command._actions for name in action.option_strings]
        files = next((action for action in command._actions if not action.option_strings and action.nargs in ("*", "+")), None)
        for other in others:
            if other.startswith("-"):
                word = other.partition("=")[0]
                formats = next((action.choices or () for action in command._actions if "--format" in action.option_strings), ())
                guess = "--output-file" if word == "-o" else word
                lead = f"; did you mean --format {word[2:]}?" if word[2:] in formats else meant(guess, known)
                command.error(f"there is no option {word!r}{lead}")
            option = option_for(other)  # --input takes one shape
            if option in known and not os.path.exists(other):
                command.error(f"there is no argument {other!r}; did you mean {option} {other!r}?")
            if files is None:
                command.error(f"there is no argument {other!r}")
            setattr(given, files.dest, [*getattr(given, files.dest), other])
        return given

    def _command(self, given: argparse.Namespace) -> Parser:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                found = action.choices.get(given.command)
                if isinstance(found, Parser):
                    return found
        return self


def meant(word: str, known: Iterable[str]) -> str:
    """A question for the known word that is closest to a word; empty if none is close."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


class _Limit(argparse.Action):
    """Sets one limit of --limit: a limit of the file, or `time` and `memory` of --isolate."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        try:
            if hasattr(namespace, "allowance") and values.startswith(("time=", "memory=")):
                from irshape.running.limits import Allowance

                namespace.allowance = (namespace.allowance or Allowance()).changed(values)
            else:
                namespace.limits = namespace.limits.changed(values)
                namespace.limited = {*namespace.limited, values.partition("=")[0]}
        except ValueError as error:
            raise argparse.ArgumentError(self, str(error)) from None


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of a command line. Only the module of the command that it names is imported, to start fast."""
    top = Parser("irshape", description=_ABOUT, epilog=_EXAMPLES)
    if not words:
        top.exit(FAILED, f"{_SHORT}\n")
    if words[0] not in (*COMMANDS, OVERVIEW) and not words[0].startswith("-"):
        word = words[0]
        if word.endswith(".xml"):
            top.error(f"there is no file {word!r}")
        top.error(f"there is no command {word!r}{meant(word, list(COMMANDS))}")
    if words[0].startswith("-") and words[0] not in ("-h", "--help", "--version"):
        top.error(f"there is no option {words[0]!r} of irshape alone: give the command or the file first, then the options")
    top.add_argument("--version", action="version", version=f"irshape {__version__} ({KIND})")
    commands = top.add_subparsers(prog="irshape", dest="command", metavar="COMMAND", required=True)
    if words[0] in (*COMMANDS, OVERVIEW):
        module = module_of(words[0])
        prog = "irshape" if words[0] == OVERVIEW else f"irshape {words[0]}"
        command = commands.add_parser(words[0], prog=prog, description=module.ABOUT, epilog=module.EXAMPLES)
        module.add_arguments(command)
        if any(isinstance(action.help, Rare) for action in command._actions):
            command.add_argument("--help-all", action=_HelpAll, help=Rare("show this help message with every option, and exit"))
    else:
        for name, help in COMMANDS.items():
            commands.add_parser(name, help=help, description=help, epilog="")
    return top
