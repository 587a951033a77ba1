"""Interrupts at a given line: of all lines of irshape that a call runs, one raises."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import irshape

_PACKAGE = str(Path(irshape.__file__).parent)


def of_irshape(code: CodeType) -> bool:
    """Whether code is that of irshape, of which an error reaches the caller: Python drops those of `__del__`."""
    return code.co_filename.startswith(_PACKAGE) and code.co_name != "__del__"


class Interrupter:
    """Raises an error at the line of this number, of those in the code that `where` chooses; `count` says how many have run."""

    def __init__(self, moment: int, error: type[BaseException], where: Callable[[CodeType], bool]) -> None:
        self.moment = moment
        self.error = error
        self.where = where
        self.count = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self.where(frame.f_code):
            return None
        if event == "line":
            self.count += 1
            if self.count == self.moment:
                raise self.error
        return self


def interrupted(
    run: Callable[[], object], moment: int, error: type[BaseException] = KeyboardInterrupt, where: Callable[[CodeType], bool] = of_irshape
) -> int:
    """Run until the line of this number, with 0 to the end; how many lines there were."""
    interrupter = Interrupter(moment, error, where)
    before = sys.gettrace()
    sys.settrace(interrupter)
    try:
        run()
    except (error, irshape.EditError):
        pass
    finally:
        sys.settrace(before)
    return interrupter.count
