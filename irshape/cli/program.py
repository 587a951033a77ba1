"""The command line as a program, which Ctrl-C ends without a traceback, also while modules are loaded."""

from __future__ import annotations

import signal
from types import FrameType


def program() -> int:
    """Run the command line, and return its exit code."""
    interrupts = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        signal.default_int_handler(number, frame)

    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupted)
        from irshape.cli.main import program as run

        return run()
    except BaseException as error:
        # A module in C that is being loaded, such as NumPy's, turns an interrupt into an ImportError.
        if interrupts or isinstance(error, KeyboardInterrupt):
            return 130
        raise
