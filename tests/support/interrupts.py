"""Interrupts at a given line: of all lines of irshape that a call runs, one raises."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import irshape

_PACKAGE = str(Path(irshape.__file__).parent)


class Interrupter:
    """Raises an error at the line of this number, of those in the files of a package that run while it is set; `count` is their number."""

    def __init__(self, moment: int, error: type[BaseException] = KeyboardInterrupt, package: str = _PACKAGE) -> None:
        self.moment = moment
        self.package = package
        self.error = error
        self.count = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self.package):
            return None
        if event == "line":
            self.count += 1
            if self.count == self.moment:
                raise self.error
        return self


def interrupted(run: Callable[[], object], moment: int, error: type[BaseException] = KeyboardInterrupt, package: str = _PACKAGE) -> int:
    """Run until the line of this number, with 0 to the end; how many lines there were."""
    interrupter = Interrupter(moment, error, package)
    before = sys.gettrace()
    sys.settrace(interrupter)
    try:
        run()
    except (error, irshape.EditError):
        pass
    finally:
        sys.settrace(before)
    return interrupter.count
