"""The arguments that commands share."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn

from irshape.cli.run import FAILED
from irshape.report.text import terminal_width
from irshape.shape.limits import DEFAULT


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """As it was, but without the modules for archives that argparse loads to learn how wide a terminal is, at every start."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        super().__init__(prog, width=(int(columns) if columns.isdecimal() else terminal_width(sys.stdout) or 80) - 2)


class Parser(argparse.ArgumentParser):
    """A parser that says on one line what is wrong with the arguments."""

    def __init__(self, prog: str, *, description: str, epilog: str) -> None:
        super().__init__(prog, description=description, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"{self.prog}: {message} (see {self.prog} --help)\n")


class _Limit(argparse.Action):
    """One more limit that differs from its default: of what a file may ask for, or of what --isolate allows."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        try:
            if hasattr(namespace, "allowance") and values.startswith(("time=", "memory=")):
                from irshape.cli.limits import Allowance

                namespace.allowance = (namespace.allowance or Allowance()).changed(values)
            else:
                namespace.limits = namespace.limits.changed(values)
        except ValueError as error:
            raise argparse.ArgumentError(self, str(error)) from None


def add_output_arguments(command: argparse.ArgumentParser) -> None:
    """Where the annotated IR goes."""
    add = command.add_argument
    add("-o", "--output", metavar="OUT.xml", help="write the annotated IR (one FILE only)")
    add("--weights", choices=("link", "copy"), help="place the .bin beside OUT.xml, as a hard link or a copy")
    add("--force", action="store_true", help="overwrite OUT.xml if it exists")
    add("--in-place", action="store_true", help="write the annotated IR into FILE itself")


def add_model_arguments(command: argparse.ArgumentParser, *documents: str) -> None:
    """The files, and how they are read."""
    about = "an IR's .xml, the <layer> example of a specification page, or a folder of them"
    command.add_argument("files", nargs="+", metavar="FILE", help=about)
    command.add_argument("--jobs", type=_jobs, metavar="N", help="files examined at a time (default: as many as there are processors)")
    add_reading_arguments(command, *documents)


def add_reading_arguments(command: argparse.ArgumentParser, *documents: str) -> None:
    """How a file is read and reported."""
    add = command.add_argument
    add(
        "--input",
        action="append",
        default=[],
        metavar='"NAME[SHAPE]"',
        help="shape of an input: x[1,3,?,224..448], x=[N,3,H,W], x:1x3x224x224",
    )
    add("--symbol", action="append", default=[], metavar='"H=RANGE"', help="range of a symbol: H=32..1024, H=32*k")
    add("--opaque", action="append", default=[], metavar="TYPE", help="trust the recorded ports of this unknown operation")
    add("--opset", metavar="OPSET", help="version of an example that names none: opset8")
    add("--weights-file", metavar="PATH", help="the .bin, where it does not stand beside FILE")
    add_limit(command)
    add(
        "--format",
        choices=("text", "json", "jsonl", *documents),
        default="text",
        help=", ".join(["text (default), json (an array for several files or a folder), jsonl (a line per file)", *documents]),
    )
    add_colour(command)


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 1024):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1024")
    return int(text)


def add_limit(command: argparse.ArgumentParser) -> None:
    """What a file may ask for."""
    command.add_argument(
        "--limit",
        action=_Limit,
        dest="limits",
        default=DEFAULT,
        metavar="NAME=N",
        help=f"what a file may ask for: {', '.join(DEFAULT._fields)}; with --isolate also time=60 (seconds) and memory=2GiB",
    )


def add_colour(command: argparse.ArgumentParser) -> None:
    """Whether the report has colours."""
    command.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="auto (default): on a terminal without NO_COLOR"
    )
