"""The command-line arguments that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn

from irshape.cli.run import FAILED
from irshape.report.text import terminal_width
from irshape.shape.limits import DEFAULT


class _NoColours:
    """A theme of argparse in which every colour is the empty text."""

    def __getattr__(self, name: str) -> str:
        return ""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help without importing `shutil`, which argparse loads at every start only to measure the terminal."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        super().__init__(prog, width=(int(columns) if columns.isdecimal() else terminal_width(sys.stdout) or 80) - 2)

    def _set_color(self, color: bool) -> None:
        """Format help without colours. From Python 3.14 on, argparse loads `dataclasses` and `inspect` at every start to choose colours."""
        self._theme, self._decolor = _NoColours(), str


class Parser(argparse.ArgumentParser):
    """A parser that reports wrong arguments on one line."""

    def __init__(self, prog: str, *, description: str, epilog: str, **options: Any) -> None:
        """`options` are those that the parser of all commands hands to the parser of one: `color` from Python 3.14 on."""
        super().__init__(prog, description=description, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"{self.prog}: {message} (see {self.prog} --help)\n")


class _Limit(argparse.Action):
    """Sets one limit of --limit: a limit of the file, or `time` and `memory` of --isolate."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        try:
            if hasattr(namespace, "allowance") and values.startswith(("time=", "memory=")):
                from irshape.cli.limits import Allowance

                namespace.allowance = (namespace.allowance or Allowance()).changed(values)
            else:
                namespace.limits = namespace.limits.changed(values)
                namespace.limited = {*namespace.limited, values.partition("=")[0]}
        except ValueError as error:
            raise argparse.ArgumentError(self, str(error)) from None


def add_output_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the annotated IR is written."""
    add = command.add_argument
    add(
        "-o",
        "--output",
        metavar="OUT.xml",
        help="write the annotated IR to this file (one FILE only), or every IR into a folder (OUT/), each with its weights",
    )
    add(
        "--weights",
        choices=("copy", "link", "none"),
        help="how the .bin gets beside the .xml: copied (default; on write, where the file system can), as a hard link, not at all",
    )
    add("--force", action="store_true", help="overwrite files of the output that exist")
    add("--in-place", action="store_true", help="write the annotated IR into FILE itself")


def add_model_arguments(command: argparse.ArgumentParser, *documents: str) -> None:
    """Add the files and the arguments of reading them."""
    help = "the .xml of an IR, a <layer> example of the specification, or a folder of these"
    command.add_argument("files", nargs="+", metavar="FILE", help=help)
    command.add_argument("--jobs", type=_jobs, metavar="N", help="files to examine at the same time (default: the number of processors)")
    add_reading_arguments(command, *documents)


def add_reading_arguments(command: argparse.ArgumentParser, *documents: str) -> None:
    """Add the arguments of reading and reporting a file."""
    add_question_arguments(command)
    command.add_argument(
        "--format",
        choices=("text", "json", "jsonl", *documents),
        default="text",
        help=", ".join(["text (default), json (an array for several files or a folder), jsonl (one line per file)", *documents]),
    )
    add_colour(command)


def add_question_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of reading a file and giving its inputs shapes."""
    add = command.add_argument
    add(
        "--input",
        action="append",
        default=[],
        metavar='"NAME[SHAPE]"',
        help="set the shape of an input, or of all that a pattern matches: x[1,3,?,224..448], x:1x3x224x224, mask[B,P+S], past_*[B,4,P,8]",
    )
    add("--symbol", action="append", default=[], metavar='"H=RANGE"', help="set the range of a symbol: H=32..1024, H=32*k")
    add("--verbose", action="store_true", help="say which inputs a pattern of --input matches")
    add_operations(command)
    add("--opset", metavar="OPSET", help="the opset of a specification example without a version: opset8")
    add("--weights-file", metavar="PATH", help="the .bin file, if it is not next to FILE")
    add_limit(command)


def add_extensions(command: argparse.ArgumentParser) -> None:
    """Add the extensions whose operations are loaded."""
    command.add_argument(
        "--extensions",
        action="append",
        default=[],
        metavar="FILE|MODULE",
        help="load the operations of an extension: a .toml file, or a .py file or module, which is run",
    )


def add_operations(command: argparse.ArgumentParser) -> None:
    """Add the arguments for operations that irshape does not know."""
    add_extensions(command)
    command.add_argument(
        "--opaque",
        action="append",
        default=[],
        metavar="TYPE",
        help="accept this unknown operation and trust its recorded ports; 'Regex*' names several",
    )


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 1024):
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from 1 to 1024")
    return int(text)


def add_limit(command: argparse.ArgumentParser) -> None:
    """Add the limits of what a file may demand."""
    command.add_argument(
        "--limit",
        action=_Limit,
        dest="limits",
        default=DEFAULT,
        metavar="NAME=N",
        help=f"change a limit of what a file may demand: {', '.join(DEFAULT._fields)}",
    )
    command.set_defaults(limited=frozenset())


def add_colour(command: argparse.ArgumentParser) -> None:
    """Add the choice of colours in the report."""
    command.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="auto (default) uses colours on a terminal, unless NO_COLOR is set",
    )
