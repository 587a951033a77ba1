"""The entry of the command line: the commands, the one that runs, and how a run ends."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from irshape import __version__
from irshape.cli.arguments import Parser
from irshape.cli.run import FAILED

# What a shell shows for a program that a closed pipe ended.
_BROKEN_PIPE = 141
_INTERRUPTED = 130

# Each is a module of this folder.
COMMANDS = {
    "check": "report every fault",
    "infer": "infer every shape",
    "reshape": "change input shapes",
    "explain": "say why a size is what it is",
    "sizes": "list valid input sizes",
    "diff": "compare two files",
    "info": "describe a model",
    "ops": "list or describe operations",
}

_ABOUT = "Check an OpenVINO IR and infer the element type and shape of every port."
_EXAMPLES = """examples:
  irshape check model.xml
  irshape infer model.xml --input "image[1,3,H,W]" -o annotated.xml
  irshape reshape model.xml --batch 8 -o reshaped.xml
  irshape explain model.xml conv1:2:3
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape info model.xml
  irshape diff model.xml reshaped.xml
  irshape ops SpaceToBatch"""


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """What reads the words of a command line; the arguments of other commands than the one it names cost time for nothing."""
    top = Parser("irshape", description=_ABOUT, epilog=_EXAMPLES)
    top.add_argument("--version", action="version", version=f"irshape {__version__}")
    commands = top.add_subparsers(prog="irshape", dest="command", metavar="COMMAND", required=True)
    if words and words[0] in COMMANDS:
        module = _module(words[0])
        command = commands.add_parser(words[0], prog=f"irshape {words[0]}", description=module.ABOUT, epilog=module.EXAMPLES)
        module.add_arguments(command)
    else:
        for name, help in COMMANDS.items():
            commands.add_parser(name, help=help, description=help, epilog="")
    return top


def _module(command: str) -> Any:
    return import_module(f"irshape.cli.{command}")


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


def program() -> int:
    """The command line as a process: `main`, after which nothing is looked through for what could be freed."""
    code = main()
    gc.freeze()
    return code


def _run(arguments: Sequence[str] | None) -> int:
    _prepare_streams()
    words = sys.argv[1:] if arguments is None else arguments
    given = parser(words).parse_args(words)
    code: int = _module(given.command).run(given)
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
