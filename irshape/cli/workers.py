"""Worker processes examine several files at a time; the results come in the order of the files.

A worker examines one file after another. If it dies, only the result of its current file is lost: it is replaced by one that says how the
worker ended, and a new worker takes its place.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Generic, Protocol, TypeVar

from irshape.cli.examination import OUT_OF_MEMORY
from irshape.cli.run import RunError, held
from irshape.running.limits import Allowance

# A fork takes a tenth of the time of a new interpreter. It is safe only without threads, which libraries of other systems may start.
_FORK: Final = get_context("fork") if sys.platform == "linux" else get_context("spawn")
_SPAWN: Final = get_context("spawn")
# The most bytes of outcomes that wait for their turn. While more are waiting, no further file is started.
_MOST_KEPT: Final = 1 << 28
# No further task.
_END: Final[Any] = object()
# The exit status of a worker that ran out of memory.
NO_MEMORY: Final = 77

Task = TypeVar("Task")
Result = TypeVar("Result")
_Taken = TypeVar("_Taken", contravariant=True)
_Given = TypeVar("_Given", covariant=True)


class FileWork(Protocol[_Taken, _Given]):
    """The work on one file. It and its tasks can be pickled."""

    def __call__(self, task: _Taken, /) -> _Given:
        """The result for a task. Any file gives a result; only `MemoryError` is left to the caller."""

    def lost(self, task: _Taken, code: str, message: str, hint: str | None, /) -> _Given:
        """The result for a task whose work was cut short."""


def in_workers(
    work: FileWork[Task, Result],
    tasks: Iterable[Task],
    jobs: int,
    allowance: Allowance | None,
    step: Callable[[], None],
    *,
    has_threads: bool = False,
) -> Generator[Result, None, None]:
    """The result of each task, in the order of the tasks; `step` is called whenever one is finished.

    Results wait for a slow task before them, but no worker waits. Tasks are taken as workers need them. `has_threads` says that this
    process has threads. Closing the generator ends the workers.
    """
    idle: list[_Worker[Task]] = []
    busy: list[_Worker[Task]] = []
    kept: dict[int, bytes] = {}
    size = begun = turn = 0
    pending = iter(tasks)
    task = next(pending, _END)
    context = _SPAWN if has_threads else _FORK
    try:
        while task is not _END or turn < begun:
            while task is not _END and len(busy) < jobs and size < _MOST_KEPT:
                try:
                    worker = idle.pop() if idle else _Worker(context, work, allowance)
                except OSError as error:
                    if not busy:
                        raise RunError(f"no worker process can be started: {error.strerror}") from error
                    jobs = len(busy)
                    break
                worker.begin(begun, task)
                busy.append(worker)
                begun += 1
                task = next(pending, _END)
            ready = wait([worker.connection for worker in busy], 0 if turn in kept else None)
            for worker in [worker for worker in busy if worker.connection in ready]:
                busy.remove(worker)
                answer = worker.answer()
                if answer is None:
                    answer = pickle.dumps(work.lost(worker.task, *ending(worker.end(), allowance)))
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


class _Worker(Generic[Task]):
    """A process that works on tasks, and its current task."""

    def __init__(self, context: Any, work: FileWork[Task, Any], allowance: Allowance | None) -> None:
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.connection, work, allowance), daemon=True)
        with held():
            self._process.start()
        theirs.close()

    def begin(self, number: int, task: Task) -> None:
        self.number = number
        self.task = task
        with suppress(OSError):  # a dead worker is noticed when its answer is read
            self.connection.send(task)

    def answer(self) -> bytes | None:
        """The pickled result of the task; None if the worker died."""
        try:
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def end(self) -> int:
        """The exit status of a dead worker; negative if a signal killed it."""
        self._process.join()
        self.connection.close()
        status = self._process.exitcode
        assert isinstance(status, int)
        return status

    def kill(self) -> None:
        self._process.kill()
        self.end()


def _serve(connection: Connection, theirs: Connection, work: FileWork[Any, Any], allowance: Allowance | None) -> None:
    """Work on the tasks that arrive, until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run that started this worker ends it
    theirs.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a dying interpreter prints more than one line
    serve_tasks(work, allowance, connection.recv, connection.send_bytes)


def serve_tasks(work: FileWork[Any, Any], allowance: Allowance | None, receive: Callable[[], Any], send: Callable[[bytes], object]) -> None:
    """Work on the tasks that arrive, within the limits, until no more can arrive. A process without memory ends with `NO_MEMORY`."""
    try:
        if allowance is not None:
            allowance.bind()
        while True:
            task = receive()
            if allowance is not None:
                allowance.start()
            answer = pickle.dumps(work(task))
            if allowance is not None:
                allowance.stop()
            send(answer)
    except MemoryError:
        os._exit(NO_MEMORY)
    except (EOFError, OSError):
        pass  # the run has ended and reads no more answers


def ending(status: int, allowance: Allowance | None) -> tuple[str, str, str | None]:
    """Code, message and hint for a file whose worker ended with an exit status."""
    if status == NO_MEMORY:
        if allowance is None:
            return OUT_OF_MEMORY
        return "I103", f"the examination needs more than {allowance.size} of memory", "--limit memory=SIZE allows more"
    if allowance is not None and status == -signal.SIGALRM:
        return "I102", f"the examination takes longer than {allowance.time:g} s", "--limit time=SECONDS allows more"
    if status < 0:
        return "I104", f"the worker was killed by signal {-status} ({signal.strsignal(-status)})", None
    return "I104", f"the worker ended with status {status}", None
