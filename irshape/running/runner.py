"""The process that runs models, seen from the outside: it is asked, and may refuse, crash, or take too much time or memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Timer
from typing import Any, Final

from irshape.running.limits import RUNS, Allowance

INSTALL: Final = "OpenVINO runs the models, and is not installed: pip install 'irshape[run]'"


class RunningError(Exception):
    """The models cannot be compared by running them; the message says why."""


class RunFailure(Exception):
    """OpenVINO does not read, compile or run a model, or the process ended; the message says how."""


class Runner:
    """A process that runs models. After a crash, the next question starts a new one.

    `models` are the files that the process has read, by the name of the model.
    """

    def __init__(self, allowance: Allowance = RUNS) -> None:
        self._allowance = allowance
        self._process: subprocess.Popen[str] | None = None
        self.models: dict[str, str] = {}

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request. Raises `RunFailure`, and `RunningError` without OpenVINO."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None and process.stdout is not None
        late: list[bool] = []

        def end() -> None:
            late.append(True)
            _kill(process)

        timer = Timer(self._allowance.time, end)
        timer.start()
        try:
            print(json.dumps(request), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            status = process.wait()
            self.close()
            raise RunFailure(self._ending(status, is_late=bool(late)))
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise RunningError(INSTALL)
        if "refused" in answer:
            raise RunFailure(str(answer["refused"]))
        return answer

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-m", "irshape.running.process", str(self._allowance.memory)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            ends: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            return subprocess.Popen(command, **ends, text=True, encoding="utf-8", env=environment, start_new_session=True)
        except OSError as error:
            raise RunningError(f"no process can be started to run the models: {error.strerror}") from None

    def _ending(self, status: int, *, is_late: bool) -> str:
        if is_late:
            return f"it takes longer than {self._allowance.time:g} s"
        if status == -getattr(signal, "SIGKILL", 9):
            return "the system ended the process, perhaps because memory ran out"
        how = f"by signal {-status} ({signal.strsignal(-status)})" if status < 0 else f"with status {status}"
        return f"OpenVINO crashed: the process ended {how}"

    def close(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            self.models.clear()
            _kill(process)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # a request that nobody reads
                    pipe.close()  # type: ignore[union-attr]


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process and all that it has started."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
