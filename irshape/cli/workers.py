"""Worker processes examine several files at a time; the outcomes come in the order of the files.

A worker examines one file after another. If it dies, only the outcome of its current file is lost: it is replaced by one that says how the
worker ended, and a new worker takes its place.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

from irshape.cli.examination import OUT_OF_MEMORY, Examination, Outcome
from irshape.cli.interrupts import held
from irshape.cli.limits import Allowance
from irshape.cli.run import RunError
from irshape.shape.hints import Final

# A fork takes a tenth of the time of a new interpreter. It is safe only without threads, which libraries of other systems may start.
_CONTEXT: Final = get_context("fork") if sys.platform == "linux" else get_context("spawn")
# The most bytes of outcomes that wait for their turn. While more are waiting, no further file is started.
_MOST_KEPT: Final = 1 << 28
# The exit status of a worker that ran out of memory.
_NO_MEMORY: Final = 77


def in_workers(
    examination: Examination, paths: Sequence[str], jobs: int, allowance: Allowance | None, step: Callable[[], None]
) -> Generator[Outcome, None, None]:
    """The outcome of each file, in the order of the paths; `step` is called whenever a file is finished.

    Outcomes wait for a slow file before them, but no worker waits. Closing the generator ends the workers.
    """
    idle: list[_Worker] = []
    busy: list[_Worker] = []
    kept: dict[int, bytes] = {}
    size = begun = turn = 0
    try:
        while turn < len(paths):
            while begun < len(paths) and len(busy) < jobs and size < _MOST_KEPT:
                try:
                    worker = idle.pop() if idle else _Worker(examination, allowance)
                except OSError as error:
                    if not busy:
                        raise RunError(f"no worker process can be started: {error.strerror}") from error
                    jobs = len(busy)
                    break
                worker.begin(begun, paths[begun])
                busy.append(worker)
                begun += 1
            ready = wait([worker.connection for worker in busy], 0 if turn in kept else None)
            for worker in [worker for worker in busy if worker.connection in ready]:
                busy.remove(worker)
                answer = worker.answer()
                if answer is None:
                    answer = pickle.dumps(examination.lost(worker.path, *_ending(worker.end(), allowance)))
                else:
                    idle.append(worker)
                kept[worker.number] = answer
                size += len(answer)
                step()
            if turn in kept:
                answer = kept.pop(turn)
                size -= len(answer)
                turn += 1
                yield pickle.loads(answer)
    finally:
        for worker in (*idle, *busy):
            worker.kill()


class _Worker:
    """A process that examines files, and its current file."""

    __slots__ = ("_process", "connection", "number", "path")

    def __init__(self, examination: Examination, allowance: Allowance | None) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, self.connection, examination, allowance), daemon=True)
        with held():
            self._process.start()
        theirs.close()

    def begin(self, number: int, path: str) -> None:
        """Give the worker a file."""
        self.number = number
        self.path = path
        with suppress(OSError):  # a dead worker is noticed when its answer is read
            self.connection.send(path)

    def answer(self) -> bytes | None:
        """The pickled outcome of the file; None if the worker died."""
        try:
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def end(self) -> int:
        """The exit status of a dead worker; negative if a signal killed it."""
        self._process.join()
        self.connection.close()
        status = self._process.exitcode
        assert status is not None
        return status

    def kill(self) -> None:
        """End the worker at once."""
        self._process.kill()
        self.end()


def _serve(connection: Connection, theirs: Connection, examination: Examination, allowance: Allowance | None) -> None:
    """Examine the files that arrive, until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run that started this worker ends it
    theirs.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a dying interpreter prints more than one line
    try:
        if allowance is not None:
            allowance.bind()
        while True:
            path = connection.recv()
            if allowance is not None:
                allowance.start()
            answer = pickle.dumps(examination(path))
            if allowance is not None:
                allowance.stop()
            connection.send_bytes(answer)
    except MemoryError:
        os._exit(_NO_MEMORY)
    except (EOFError, OSError):
        pass  # the run has ended and reads no more answers


def _ending(status: int, allowance: Allowance | None) -> tuple[str, str, str | None]:
    """Code, message and hint for a file whose worker ended with an exit status."""
    if status == _NO_MEMORY:
        if allowance is None:
            return OUT_OF_MEMORY
        return "I103", f"the examination needs more than {allowance.size} of memory", "--limit memory=SIZE allows more"
    if allowance is not None and status == -signal.SIGALRM:
        return "I102", f"the examination takes longer than {allowance.time:g} s", "--limit time=SECONDS allows more"
    if status < 0:
        return "I104", f"the worker was killed by signal {-status} ({signal.strsignal(-status)})", None
    return "I104", f"the worker ended with status {status}", None
