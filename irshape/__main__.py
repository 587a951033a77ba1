"""The command line as a program: `python -m irshape`, and the entry point `irshape`."""

from __future__ import annotations

import sys


def program() -> int:
    """Run the command line, and return its exit code; Ctrl-C ends it without a traceback, also while modules are loaded."""
    try:
        from irshape.cli.main import program as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(program())
