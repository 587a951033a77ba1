"""The entry point of the command line: choose the command, run it, and end with an exit code."""

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
from irshape.cli.run import FAILED, complain
from irshape.shape.dim import IS_COMPILED

# The exit code that a shell shows for a program ended by a closed pipe; then the code for Ctrl-C.
_BROKEN_PIPE = 141
_INTERRUPTED = 130

# The kind of the wheel: whether mypyc has compiled a part of it.
KIND = "compiled" if IS_COMPILED else "interpreted"

# Each command is a module of this folder.
COMMANDS = {
    "check": "report every fault",
    "infer": "infer every shape",
    "reshape": "change input shapes",
    "explain": "explain a shape, layer by layer",
    "signature": "show how the sizes are tied together",
    "sizes": "find the valid input sizes",
    "diff": "compare two models",
    "info": "describe a model",
    "view": "show a model in the browser",
    "ops": "list or describe operations",
    "rule": "list or explain codes",
}

_ABOUT = "Check an OpenVINO IR and infer the element type and shape of every port."
_EXAMPLES = """examples:
  irshape check model.xml
  irshape infer model.xml --input "image[1,3,H,W]" -o annotated.xml
  irshape reshape model.xml --batch 8 -o reshaped.xml
  irshape explain model.xml conv1:2:3
  irshape signature model.xml
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape info model.xml
  irshape view model.xml
  irshape diff model.xml reshaped.xml
  irshape ops SpaceToBatch
  irshape rule S201"""


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of a command line. Only the module of the command that it names is imported, to start fast."""
    top = Parser("irshape", description=_ABOUT, epilog=_EXAMPLES)
    top.add_argument("--version", action="version", version=f"irshape {__version__} ({KIND})")
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
    """Run the command line and return its exit code: 0, 1 (faults) or 2 (the run failed)."""
    was_collecting = gc.isenabled()
    gc.disable()  # a run builds long-lived graphs: the collector would search them again and again, and free little
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
        # Errors of reading and writing files are handled where they occur, so this one is about printing the report.
        _abandon_output()
        print(f"irshape: cannot write the report: {error.strerror}", file=sys.stderr)
        return FAILED
    finally:
        if was_collecting:
            gc.enable()


def program() -> int:
    """The command line as a process: `main`, then an exit without a last garbage collection."""
    code = main()
    gc.freeze()
    return code


def _run(arguments: Sequence[str] | None) -> int:
    _prepare_streams()
    words = sys.argv[1:] if arguments is None else arguments
    given = parser(words).parse_args(words)
    if getattr(given, "extensions", None):
        from irshape.ops.extensions import registry_of
        from irshape.ops.registry import ExtensionError

        try:
            registry_of(given.extensions)  # once, and not for each file
        except ExtensionError as error:
            return max(complain(line) for line in str(error).splitlines())
    code: int = _module(given.command).run(given)
    sys.stdout.flush()
    return code


def _prepare_streams() -> None:
    """Make both output streams accept every character, and create them if the process was started without."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _abandon_output() -> None:
    """Discard the rest of the output, so that the interpreter does not try to flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
