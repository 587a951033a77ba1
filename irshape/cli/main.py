"""The entry of the command line: arguments, the command that runs, and how a run ends."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from irshape import __version__
from irshape.cli.formats import DOCUMENTS
from irshape.shape.limits import DEFAULT

FAILED = 2
# What a shell shows for a program that a closed pipe ended.
_BROKEN_PIPE = 141
_INTERRUPTED = 130

_EXAMPLES = """examples:
  irshape check model.xml
  irshape infer model.xml --input "image[1,3,H,W]" -o annotated.xml
  irshape reshape model.xml --batch 8 -o reshaped.xml
  irshape explain model.xml conv1:2:3
  irshape info model.xml
  irshape diff model.xml reshaped.xml
  irshape ops SpaceToBatch"""

_CHECK_EXAMPLES = """examples:
  irshape check model.xml
  irshape check models --strict
  irshape check model.xml --target npu --input "ids[1,1..512]"
  irshape check uploads --isolate --limit time=10
  irshape check model.xml --format json
  irshape check models/*.xml --format sarif > irshape.sarif
  irshape check model.xml --diff
  irshape check model.xml --fix

exit code: 0 without errors, 1 with errors (--strict: or warnings), 2 if a file could not be checked"""

_INFER_EXAMPLES = """examples:
  irshape infer model.xml
  irshape infer model.xml --input "image[1,3,224..448,?]"
  irshape infer model.xml --input "image[1,3,H,W]" --symbol "H=32..1024" --symbol "W=32*k"
  irshape infer model.xml -o annotated.xml --weights link

exit code: 0 without errors, 1 with errors (nothing is written then), 2 if a file could not be read or written"""

_RESHAPE_EXAMPLES = """examples:
  irshape reshape model.xml --input "image[1,3,512,512]" -o reshaped.xml --weights link
  irshape reshape model.xml --input "ids[1,S]" --symbol "S=1..512" -o reshaped.xml
  irshape reshape model.xml --batch 8 -o reshaped.xml

exit code: 0 if the model can have these shapes, 1 if not (then everything that stands in the way is listed, and nothing is written),
2 if a file could not be read or written, or the batch axis is not clear"""

_EXPLAIN_EXAMPLES = """examples:
  irshape explain model.xml conv1                    every axis of the first output, and its element type
  irshape explain model.xml conv1:2:3                axis 3 of port 2
  irshape explain model.xml 17:2:-1                  the last axis of port 2 of the layer with the id 17
  irshape explain model.xml 2.body/5                 a layer in a body, by its id as infer lists it
  irshape explain model.xml mask --input "image[N,3,H,W]"

exit code: 0 if the chain is known, 1 if a layer before it has failed (its faults are listed),
2 if the file could not be read, or there is no such layer, port or axis"""
_DIFF_EXAMPLES = """examples:
  irshape diff model.xml reshaped.xml
  irshape diff model.xml quantised.xml --all
  irshape diff model.xml resaved.xml --format json

exit code: 0 if both are the same model, 1 if not, 2 if a file could not be read or the constants could not be compared"""

_INFO_EXAMPLES = """examples:
  irshape info model.xml
  irshape info models --format jsonl
  irshape info model.xml --input "ids[1,S]" --symbol "S=1..512"

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"""

_SIZES_EXAMPLES = """examples:
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape sizes model.xml --input "image[1,3,H,W]" --near "H=500,W=700"
  irshape sizes model.xml --input "image[1,3,S,S]" --symbol "S=32..1024"

exit code: 0 if some size is valid, 1 if none is, 2 if a file could not be read or has no open sizes to ask about"""

_OPS_EXAMPLES = """examples:
  irshape ops
  irshape ops SpaceToBatch
  irshape ops SpaceToBatch --format json"""


class _Parser(argparse.ArgumentParser):
    """A parser that says on one line what is wrong with the arguments."""

    def __init__(self, prog: str, *, description: str, epilog: str) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, description=description, epilog=epilog, formatter_class=formatter, allow_abbrev=False)

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


def parser() -> argparse.ArgumentParser:
    """The arguments of every command."""
    top = _Parser("irshape", description="Check an OpenVINO IR and infer the element type and shape of every port.", epilog=_EXAMPLES)
    top.add_argument("--version", action="version", version=f"irshape {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    about = "Report every fault of a file, one on a line: file:line:column: CODE message."
    check = commands.add_parser("check", prog="irshape check", help="report every fault", description=about, epilog=_CHECK_EXAMPLES)
    check.add_argument("--strict", action="store_true", help="warnings count as faults, too")
    check.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="POLICY",
        help="what the model must also meet: static-shapes, bounded, ranked, max-rank=6, npu",
    )
    check.add_argument("--fix", action="store_true", help="mend in FILE itself what can be mended safely, and report the rest")
    check.add_argument("--diff", action="store_true", help="show what --fix would change, and write nothing")
    check.add_argument("--isolate", action="store_true", help="examine each file in a process with limits of its own")
    check.set_defaults(allowance=None)
    _add_model_arguments(check, *DOCUMENTS)

    about = "Infer the element type and shape of every port; with -o, write the IR with them in it."
    infer = commands.add_parser("infer", prog="irshape infer", help="infer every shape", description=about, epilog=_INFER_EXAMPLES)
    _add_output_arguments(infer)
    infer.add_argument("--all", action="store_true", help="list constants, too")
    _add_model_arguments(infer)

    about = "Give the inputs other shapes and write the IR with them; where that cannot be, list every layer and constant in the way."
    reshape = commands.add_parser(
        "reshape", prog="irshape reshape", help="change input shapes", description=about, epilog=_RESHAPE_EXAMPLES
    )
    reshape.add_argument("--batch", metavar="N", help="the batch of all inputs that --input does not name: 8, 1..8, N")
    _add_output_arguments(reshape)
    _add_model_arguments(reshape)

    about = "Why a size is what it is: the layers that make it, each with its place, its formula and where each number stands."
    explain = commands.add_parser(
        "explain", prog="irshape explain", help="say why a size is what it is", description=about, epilog=_EXPLAIN_EXAMPLES
    )
    explain.add_argument("files", nargs=1, metavar="FILE", help="an IR's .xml, or the <layer> example of a specification page")
    explain.set_defaults(jobs=1)
    explain.add_argument("target", metavar="LAYER[:PORT[:AXIS]]", help="a layer by name or id, the id of its port, an axis")
    _add_reading_arguments(explain)
    about = "Say what changed from one IR to another, in terms of the graph: causes, and in a line what follows from them."
    diff = commands.add_parser("diff", prog="irshape diff", help="compare two files", description=about, epilog=_DIFF_EXAMPLES)
    diff.add_argument("a", metavar="A.xml", help="the IR before")
    diff.add_argument("b", metavar="B.xml", help="the IR after")
    diff.add_argument("--all", action="store_true", help="list every change and every shape that follows")
    diff.add_argument("--opaque", action="append", default=[], metavar="TYPE", help="trust the recorded ports of this unknown operation")
    diff.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    _add_limit(diff)
    _add_colour(diff)

    about = "Say what a model is: what can read it, inputs and outputs, what is dynamic and why, operations, parameters, state, batch."
    info = commands.add_parser("info", prog="irshape info", help="describe a model", description=about, epilog=_INFO_EXAMPLES)
    info.add_argument("--all", action="store_true", help="leave nothing out")
    _add_model_arguments(info)

    about = "Say for which sizes of its inputs a model is valid: symbols in --input, and every other size that the file leaves open."
    sizes = commands.add_parser("sizes", prog="irshape sizes", help="list valid input sizes", description=about, epilog=_SIZES_EXAMPLES)
    sizes.add_argument("--near", action="append", default=[], metavar='"H=500"', help="find the valid sizes next to these: H=500,W=700")
    _add_model_arguments(sizes)

    about = "List the operations, or describe one: versions, ports, attributes, defaults, specification page."
    ops = commands.add_parser("ops", prog="irshape ops", help="list or describe operations", description=about, epilog=_OPS_EXAMPLES)
    ops.add_argument("type", nargs="?", metavar="TYPE", help="an operation, in any case")
    ops.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    _add_colour(ops)
    return top


def _add_output_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("-o", "--output", metavar="OUT.xml", help="write the annotated IR (one FILE only)")
    add("--weights", choices=("link", "copy"), help="place the .bin beside OUT.xml, as a hard link or a copy")
    add("--force", action="store_true", help="overwrite OUT.xml if it exists")
    add("--in-place", action="store_true", help="write the annotated IR into FILE itself")


def _add_model_arguments(command: argparse.ArgumentParser, *documents: str) -> None:
    about = "an IR's .xml, the <layer> example of a specification page, or a folder of them"
    command.add_argument("files", nargs="+", metavar="FILE", help=about)
    command.add_argument("--jobs", type=_jobs, metavar="N", help="files examined at a time (default: as many as there are processors)")
    _add_reading_arguments(command, *documents)


def _add_reading_arguments(command: argparse.ArgumentParser, *documents: str) -> None:
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
    _add_limit(command)
    add(
        "--format",
        choices=("text", "json", "jsonl", *documents),
        default="text",
        help=", ".join(["text (default), json (an array for several files or a folder), jsonl (a line per file)", *documents]),
    )
    _add_colour(command)


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 1024):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1024")
    return int(text)


def _add_limit(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limit",
        action=_Limit,
        dest="limits",
        default=DEFAULT,
        metavar="NAME=N",
        help=f"what a file may ask for: {', '.join(DEFAULT._fields)}; with --isolate also time=60 (seconds) and memory=2GiB",
    )


def _add_colour(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="auto (default): on a terminal without NO_COLOR"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code: 0, 1 (faults) or 2 (the run could not be done)."""
    was_collecting = gc.isenabled()
    gc.disable()  # a run builds one long-lived graph after the other: there is little to collect while it lasts
    try:
        return _run(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _abandon_output()
        return _BROKEN_PIPE
    except OSError as error:
        # Files are read and written under a guard of their own: what arrives here is the report that found no room.
        _abandon_output()
        print(f"irshape: cannot write the report: {error.strerror}", file=sys.stderr)
        return FAILED
    finally:
        if was_collecting:
            gc.enable()


def _run(arguments: Sequence[str] | None) -> int:
    _prepare_streams()
    given = parser().parse_args(arguments)
    if given.command == "ops":
        from irshape.cli.ops import run
    elif given.command == "explain":
        from irshape.cli.explain import run
    elif given.command == "check":
        from irshape.cli.check import run
    elif given.command == "diff":
        from irshape.cli.diff import run
    elif given.command == "info":
        from irshape.cli.info import run
    elif given.command == "reshape":
        from irshape.cli.reshape import run
    elif given.command == "sizes":
        from irshape.cli.sizes import run
    else:
        from irshape.cli.infer import run
    code = run(given)
    sys.stdout.flush()
    return code


def _prepare_streams() -> None:
    """Streams that take every character, and exist: a process may be started without them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _abandon_output() -> None:
    """Send what is left of the output nowhere, so that the interpreter does not try to flush it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
