"""The command line as a program, which Ctrl-C ends without a traceback, also while modules are loaded."""

from __future__ import annotations


def program() -> int:
    """Run the command line, and return its exit code."""
    try:
        from irshape.cli.main import program as run

        return run()
    except KeyboardInterrupt:
        return 130
