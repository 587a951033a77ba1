"""The entry point of the command line: choose the command, run it, and end with an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

TYPE_CHECKING = False

# The exit codes of a run that failed, of a program ended by a closed pipe as a shell shows it, and for Ctrl-C.
_FAILED = 2
_BROKEN_PIPE = 141
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 (faults) or 2 (the run failed)."""
    was_collecting = gc.isenabled()
    gc.disable()  # a run builds long-lived graphs: the collector would search them again and again, and free little
    try:
        return _run(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("irshape"):
            raise
        print(f"irshape: this needs the package {error.name}; install irshape with its packages: pip install .", file=sys.stderr)
        return _FAILED
    except BrokenPipeError:
        _abandon_output()
        return _BROKEN_PIPE
    except OSError as error:
        # Errors of reading and writing files are handled where they occur, so this one is about printing the report.
        _abandon_output()
        print(f"irshape: cannot write the report: {error.strerror}", file=sys.stderr)
        return _FAILED
    finally:
        if was_collecting:
            gc.enable()


def program() -> int:
    """The command line as a process: `main`, then an end that leaves the memory to the system."""
    gc.disable()  # `main` leaves the collector off then, which would search the graphs once more before the end
    code = main()
    if _is_alone():
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)  # to free every object takes a twentieth of the time that the check of a small file takes
        except OSError:
            pass
    gc.freeze()
    return code


def _is_alone() -> bool:
    """Whether nothing else waits for the end of the process: no handler, thread, debugger, profiler or interactive session."""
    import atexit

    others = "threading", "profile"
    is_watched = sys.gettrace() or sys.getprofile() or sys.flags.inspect
    return not (is_watched or atexit._ncallbacks() or any(name in sys.modules for name in others))


def _run(arguments: Sequence[str] | None) -> int:
    from irshape.cli.arguments import COMMANDS, OVERVIEW
    from irshape.cli.plain import module_of, parse

    _prepare_streams()
    if "_ARGCOMPLETE" in os.environ:
        from irshape.cli.completion import complete

        complete()
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    elif words and words[0] not in COMMANDS and not words[0].startswith("-") and os.path.exists(words[0]):
        words = [OVERVIEW, *words]
    if (given := parse(words)) is None:
        from irshape.cli.parser import parser

        given = parser(words).parse_args(words)
    if getattr(given, "extensions", None):
        from irshape.cli.run import complain
        from irshape.ops.extensions import registry_of
        from irshape.ops.registry import ExtensionError

        try:
            registry_of(given.extensions)  # once, and not for each file
        except ExtensionError as error:
            return max(complain(line) for line in str(error).splitlines())
    from irshape.cli.run import guarded

    run = module_of(given.command).run
    if sys.stdout.isatty():
        from irshape.cli.screen import is_paged, paged

        if is_paged(given):
            with paged():
                return guarded(run, given)
    code = guarded(run, given)
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
