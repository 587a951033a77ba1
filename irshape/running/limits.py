"""The time and memory that a worker may use: `--limit time=60 --limit memory=2GiB`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SECONDS: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")
_BYTES: Final = re.compile(r"([0-9]{1,9})([KMGT]iB)")
_UNITS: Final = {"TiB": 1 << 40, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}


def can_limit() -> bool:
    """Whether this system can limit the time and memory of a process."""
    try:
        import resource  # noqa: F401
    except ImportError:
        return False
    return True


class Allowance(NamedTuple):
    """The limits of examining one file: `time` in seconds, `memory` in bytes of address space."""

    time: float = 60.0
    memory: int = 2 << 30

    def changed(self, text: str) -> Allowance:
        """The allowance with one limit changed, by a text such as `time=60` or `memory=2GiB`; ValueError for any other text."""
        name, _, value = text.partition("=")
        if name == "time" and _SECONDS.fullmatch(value) and float(value):
            return self._replace(time=float(value))
        if name == "memory" and (size := _BYTES.fullmatch(value)) and int(size[1]):
            return self._replace(memory=int(size[1]) * _UNITS[size[2]])
        raise ValueError(f"{text[:60]!r}: expected time=SECONDS or memory=SIZE, as in time=60 or memory=2GiB")

    @property
    def size(self) -> str:
        """The memory in its largest whole unit: `2GiB`."""
        unit, size = next((unit, size) for unit, size in _UNITS.items() if not self.memory % size)
        return f"{self.memory // size}{unit}"

    def bind(self) -> None:
        """Bound the memory of this process for good, and keep a crash from writing it to the disk."""
        import resource

        for kind, most in ((resource.RLIMIT_AS, self.memory), (resource.RLIMIT_CORE, 0)):
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))

    def start(self) -> None:
        """Start the timer. The system ends this process when the time is up; no loop in Python or in C can prevent that."""
        import signal

        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self.time)

    def stop(self) -> None:
        import signal

        signal.setitimer(signal.ITIMER_REAL, 0)


# The limits of running models: the time of reading, compiling or running one of them. OpenVINO reserves far more addresses than it uses.
RUNS: Final = Allowance(time=120.0, memory=32 << 30)
