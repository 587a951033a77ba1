"""A Dask cluster examines files. Each of its workers has a process of its own for that, which a file may crash or a limit may end.

Only a few groups of tasks are with the cluster at a time, so the memory of its scheduler does not grow with the number of files. Groups
grow with the number of tasks that are done: few files are spread over all threads, and many files cost the scheduler little.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import suppress
from functools import partial
from itertools import count, islice
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from irshape.cli.run import RunError
from irshape.cli.workers import Result, Task, Work, ending, serve_tasks

if TYPE_CHECKING:
    from distributed import Client, Future, as_completed

    from irshape.running.limits import Allowance

LOCAL: Final = "local"
# The most tasks of a group, and the groups that are with the cluster for each of its threads.
_LARGEST: Final = 64
_AHEAD: Final = 3
# After so many groups the scheduler is asked again how many threads the cluster has.
_ASKED: Final = 100
# How often a group is given to the cluster, if its workers are lost.
_TURNS: Final = 4

# How often a group that has ended is looked for, and how long a cluster may be without workers, in seconds.
_POLL: Final = 0.01
_PATIENCE: Final = 60.0

_own = threading.local()


def on_cluster(work: Work[Task, Result], tasks: Iterable[Task], address: str, allowance: Allowance | None) -> Generator[Result, None, None]:
    """The result of each task, in the order in which groups of them are finished. Closing the generator cancels the rest.

    `address` is that of the scheduler (`tcp://host:8786`), or `local` for a cluster of this machine. Raises `RunError`.
    """
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise RunError("--dask needs Dask: pip install 'irshape[dask]'") from None
    cluster = LocalCluster(threads_per_worker=1, dashboard_address=":0") if address == LOCAL else None
    try:
        client = Client(cluster or address, timeout=10)
    except (OSError, ValueError) as error:
        raise RunError(f"--dask {address}: no scheduler answers there: {type(error).__name__}") from None
    pending = iter(tasks)
    running = as_completed()
    groups: dict[str, tuple[list[Task], int]] = {}

    def submit(group: list[Task], turn: int) -> None:
        future = client.submit(_examine, work, group, allowance, pure=False)
        groups[future.key] = group, turn
        running.add(future)

    done = 0
    try:
        for step in count():
            if step % _ASKED == 0:
                most = max(_AHEAD * _threads(client), 1)
            while len(groups) < most and (group := list(islice(pending, min(1 + done // most, _LARGEST)))):
                submit(group, 1)
            if not groups:
                return
            _wait(running, client, address)
            future = next(running)
            group, turn = groups.pop(future.key)
            if future.status == "finished":
                done += len(group)
                yield from _gathered(future, address)
            elif turn < _TURNS:
                submit(group, turn + 1)
            elif len(group) > 1:
                for task in group:
                    submit([task], 1)
            else:
                reason = type(future.exception()).__name__
                yield work.lost(group[0], "I104", f"the workers of the cluster that examined the file were lost ({reason})", None)
            del future
    finally:
        with suppress(Exception):
            client.close()
        if cluster is not None:
            with suppress(Exception):
                cluster.close()


def _wait(running: as_completed, client: Client, address: str) -> None:
    """Wait until a group has ended. Raises `RunError` if the scheduler is gone, or no worker is there for some time."""
    seen = asked = monotonic()
    while not running.has_ready():
        sleep(_POLL)
        now = monotonic()
        if client.status == "closed":
            raise _scheduler_lost(address)
        if now - asked > _PATIENCE / 10:
            asked = now
            seen = now if _threads(client) else seen
        if now - seen > _PATIENCE:
            raise RunError(f"--dask {address}: the cluster has no worker; with some, the same command goes on where this run has ended")


def _gathered(future: Future, address: str) -> Any:
    """The results of a group. Raises `RunError` if the scheduler is gone."""
    try:
        return future.result()
    except (OSError, TimeoutError):
        raise _scheduler_lost(address) from None


def _scheduler_lost(address: str) -> RunError:
    return RunError(f"--dask {address}: the scheduler was lost; the same command goes on where this run has ended")


def _threads(client: Client) -> int:
    """The threads of the workers; 0 if the scheduler does not answer."""
    with suppress(OSError, TimeoutError, ValueError):
        if client.status == "running":
            return sum(client.nthreads().values())
    return 0


def _examine(work: Work[Task, Result], tasks: list[Task], allowance: Allowance | None) -> list[Result]:
    """The results of a group of tasks, on a worker of the cluster."""
    setup = pickle.dumps((work, allowance))
    results: list[Result] = []
    for task in tasks:
        child = getattr(_own, "child", None)
        if child is not None and child.setup != setup:
            child.end()
            child = None
        if child is None:
            child = _own.child = _Child(setup)
        result = child.result(task)
        if result is None:
            _own.child = None
            result = work.lost(task, *ending(child.end(), allowance))
        results.append(result)
    return results


class _Child:
    """A process that works on tasks, which arrive on its standard input."""

    def __init__(self, setup: bytes) -> None:
        """`setup` is the pickled work, with its limits."""
        self.setup = setup
        command = [sys.executable, "-c", "from irshape.cli.cluster import serve; serve()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._send(setup)

    def _send(self, message: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # a dead process is noticed when its answer is read
            self._process.stdin.write(message)
            self._process.stdin.flush()

    def result(self, task: Any) -> Any:
        """The result of a task; None if the process died."""
        assert self._process.stdout is not None
        self._send(pickle.dumps(task))
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            return None

    def end(self) -> int:
        """The exit status of the process, which ends when nothing more can arrive; negative if a signal killed it."""
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        return self._process.wait()


def serve() -> None:
    """Work on the tasks that arrive on standard input, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a library that prints must not mix with the answers
    receive = partial(pickle.load, sys.stdin.buffer)
    try:
        work, allowance = receive()
    except EOFError:
        return  # the worker of the cluster has ended

    def send(answer: bytes) -> None:
        answers.write(answer)
        answers.flush()

    serve_tasks(work, allowance, receive, send)
