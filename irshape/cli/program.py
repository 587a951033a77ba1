"""The command line as a program, which Ctrl-C ends without a traceback, also while modules are loaded."""

from __future__ import annotations


def program() -> int:
    """Run the command line, and return its exit code."""
    interrupts = []
    try:
        import signal

        def interrupted(number: int, _: object) -> None:
            interrupts.append(number)
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
