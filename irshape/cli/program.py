"""The command line as a program, which Ctrl-C ends without a traceback, also while modules are loaded."""

from __future__ import annotations


def program() -> int:
    """Run the command line, and return its exit code."""
    interrupts: list[float] = []
    try:
        import signal
        from time import monotonic

        def interrupted(*_: object) -> None:
            if interrupts and monotonic() - interrupts[-1] < 1:
                return  # a key that is pressed twice shall not stop what the first interrupt cleans up
            interrupts.append(monotonic())
            raise KeyboardInterrupt

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupted)
        from irshape.cli.main import program as run

        return run()
    except BaseException as error:
        # A module in C that is being loaded, such as NumPy's, turns an interrupt into an ImportError.
        if interrupts or isinstance(error, KeyboardInterrupt):
            return 130
        raise
