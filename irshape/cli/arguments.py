"""The command-line arguments that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from irshape.shape.compilation import NamedTuple
from irshape.shape.limits import DEFAULT, LIMITS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


class Command(NamedTuple):
    """A command that shares its module with others; it has the names that the module of a single command has."""

    ABOUT: str
    EXAMPLES: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]


class Rare(str):
    """The help of an option that `--help` leaves out and `--help-all` shows."""


# The groups of options in the help of a command, in their order.
INPUT, SELECTION, OUTPUT, EFFORT = "input", "selection", "output", "jobs and limits"

# The help of an option that selects layers.
LAYERS = "list these layers only: an id, a name, the name of a tensor, a pattern ('*attn*') or a module"
FOLLOW_LINKS = "follow links to folders, and to .bin files outside of a model's folder"

# Each command with its help. It is a module of this folder, or an object of one.
COMMANDS = {
    "check": "report every fault",
    "infer": "infer every shape",
    "reshape": "change input shapes",
    "explain": "explain a shape, layer by layer",
    "summary": "show modules with shapes, parameters and work",
    "signature": "show how the sizes are tied together",
    "sizes": "find the valid input sizes",
    "cost": "count operations, parameters and memory",
    "diff": "compare two models",
    "edit": "change a model",
    "extract": "write a part of a model",
    "reduce": "make a small reproducer of a fault",
    "simplify": "remove the layers that a model does not need",
    "scan": "check many files into a table",
    "info": "describe a model",
    "view": "show a model in the browser",
    "ops": "list or describe operations",
    "rule": "list or explain codes",
    "completion": "complete commands in a shell",
}
HOMES = {
    **dict.fromkeys(("cost", "explain", "info", "signature", "sizes", "summary"), "questions"),
    **dict.fromkeys(("extract", "simplify"), "edit"),
}
# The module of a line that begins with a file, not with a command.
OVERVIEW = "overview"


def add_output_arguments(command: ArgumentParser) -> None:
    """Add the arguments that say where the annotated IR is written."""
    add = command.add_argument_group(OUTPUT).add_argument
    add("-o", "--output", metavar="OUT.xml", help="write the annotated IR here; OUT/ is a folder for several; weights go along")
    help = Rare("copy the .bin beside the .xml (default), make a hard link, or write no .bin")
    add("--weights", choices=("copy", "link", "none"), help=help)
    add("--force", action="store_true", help="overwrite existing output files")
    add("--in-place", action="store_true", help="write the annotated IR into FILE itself")


def add_model_arguments(command: ArgumentParser, *documents: str) -> None:
    """Add the files and the arguments of reading them."""
    help = "an .xml (IR or <layer> example), or a folder of these"
    command.add_argument("files", nargs="+", metavar="FILE", help=help)
    add = command.add_argument_group(EFFORT).add_argument
    add("-j", "--jobs", type=jobs, metavar="N", help="files at a time (default: the number of processors)")
    add_reading_arguments(command, *documents)


def add_reading_arguments(command: ArgumentParser, *documents: str) -> None:
    """Add the arguments of reading and reporting a file."""
    add_question_arguments(command)
    add = command.add_argument_group(OUTPUT).add_argument
    help = ", ".join(["text (default), json, jsonl (a line for each file)", *documents])
    add("-f", "--format", choices=("text", "json", "jsonl", *documents), default="text", metavar="FORMAT", help=help)
    add_colour(command)


def add_input_arguments(command: ArgumentParser) -> None:
    """Add the arguments of giving the inputs of a file shapes."""
    add = command.add_argument_group(INPUT).add_argument
    help = "the shape of an input, or of all that a pattern matches: x[1,?,224..448], mask[B,P+S], past_*[B,4,P,8]"
    add("-i", "--input", action="append", default=[], metavar="NAME[SHAPE]", help=help)
    help = "set symbols of --input or of `irshape signature`: B=1 S=1..128 H=32*k P=1024-S"
    add("-s", "--set", action="extend", nargs="+", default=[], type=symbol_sizes, metavar="SYMBOL=SIZE", help=help)


def add_question_arguments(command: ArgumentParser) -> None:
    """Add the arguments of reading a file and giving its inputs shapes."""
    add_input_arguments(command)
    group = command.add_argument_group(INPUT)
    add = group.add_argument
    add("--verbose", action="store_true", help=Rare("say which inputs a pattern of --input matches"))
    add_operations(command)
    add("--opset", metavar="OPSET", help=Rare("the opset of a specification example without a version: opset8"))
    weights = group.add_mutually_exclusive_group().add_argument
    weights("--weights-file", metavar="PATH", help="the .bin, if it is not beside FILE")
    weights("--no-weights", action="store_true", help="read no .bin: values of constants are unknown")
    add_limit(command)


def add_target(command: ArgumentParser) -> None:
    """Add the policies that a model must meet besides being valid."""
    policies = "also check against a policy: static-shapes, bounded, ranked, max-rank=6, npu, named-outputs"
    command.add_argument("-t", "--target", action="append", default=[], metavar="POLICY", help=policies)


def add_watch(command: ArgumentParser) -> None:
    """Add the option that repeats a command."""
    help = "run again whenever FILE is saved, until Ctrl-C"
    command.add_argument_group(OUTPUT).add_argument("-w", "--watch", action="store_true", help=help)


def refused(message: str) -> Exception:
    """The error of a value that an option does not take."""
    from argparse import ArgumentTypeError

    return ArgumentTypeError(message)


def symbol_sizes(text: str) -> list[tuple[str, str]]:
    """The names and the sizes in a word of `--set`: one, or several behind commas."""
    pairs = []
    for part in re.split(r",(?=[^,=]+=)", text):
        name, equals, size = part.partition("=")
        is_shape = part.endswith("]")
        if is_shape or not equals or not name.strip() or not size.strip():
            advice = f"did you mean --input {part!r}?" if is_shape else "write FILE before --set"
            raise refused(f"{part!r} is not SYMBOL=SIZE, as in B=1 or S=1..128 ({advice})")
        pairs.append((name.strip(), size.strip()))
    return pairs


def add_symbol_argument(command: ArgumentParser) -> None:
    """Add the argument that says how sizes without names are written."""
    help = "write each open size that has no name as a symbol of its own (d0, d1, ...), not in the symbols of `irshape signature`"
    command.add_argument_group(OUTPUT).add_argument("--raw-symbols", action="store_true", help=Rare(help))


def add_extensions(command: ArgumentParser) -> None:
    """Add the extensions whose operations are loaded."""
    help = "load operations: a .toml, or a .py or module to run"
    command.add_argument_group(INPUT).add_argument("--extensions", action="append", default=[], metavar="FILE", help=help)


def add_operations(command: ArgumentParser) -> None:
    """Add the arguments for operations that irshape does not know."""
    add_extensions(command)
    help = "trust the ports of an unknown operation: 'Regex*'"
    command.add_argument_group(INPUT).add_argument("--opaque", action="append", default=[], metavar="TYPE", help=help)


def whole(about: str, low: int, high: int = 10**18 - 1) -> Callable[[str], int]:
    """The reader of a whole number within limits, which the message describes."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= len(str(high)) and low <= int(text) <= high):
            raise refused(f"{text[:60]!r} is not {about}")
        return int(text)

    return read


most = whole("a whole number from 1", 1)
at_least_0 = whole("a whole number from 0", 0)
port = whole("a port, a whole number from 0 to 65535", 0, 65535)
jobs = whole("an integer from 1 to 1024", 1, 1024)


def add_limit(command: ArgumentParser) -> None:
    """Add the limits of what a file may demand."""
    help = f"change a limit of a file: {', '.join(LIMITS)}"
    command.add_argument_group(EFFORT).add_argument("--limit", action="limit", dest="limits", default=DEFAULT, metavar="NAME=N", help=help)
    command.set_defaults(limited=frozenset())


def add_colour(command: ArgumentParser) -> None:
    """Add the choice of colours in the report."""
    help = Rare("auto (default) uses colours on a terminal, unless NO_COLOR is set")
    command.add_argument_group(OUTPUT).add_argument("--color", choices=("auto", "always", "never"), default="auto", help=help)
