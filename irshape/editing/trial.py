"""Candidates of a reduction, and the judge who says of each whether the fault shows on it."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias, TypeVar

import irshape.verbs as inner
from irshape.editing.draft import Draft
from irshape.editing.state import EditError
from irshape.files.writing import Kept, write_atomic
from irshape.model.load import load
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.xml.weights import Weights, WeightsError

_T = TypeVar("_T")


class Candidate(NamedTuple):
    """A model that may show the fault: its text and its weights, None if those of the whole model are missing."""

    text: bytes
    weights: bytes | None

    def write(self, folder: str) -> None:
        """Write the model into a folder, as `model.xml` and `model.bin`."""
        if self.weights is not None:
            write_atomic(os.path.join(folder, "model.bin"), self.weights, force=True)
        write_atomic(os.path.join(folder, "model.xml"), self.text, force=True)

    @property
    def key(self) -> str:
        """A text that is the same for equal candidates."""
        return sha256(sha256(self.text).digest() + (self.weights or b"")).hexdigest()

    @property
    def size(self) -> int:
        """The number of bytes of the weights."""
        return len(self.weights or b"")


# Whether the fault shows on a candidate, on which irshape has found these faults.
Test: TypeAlias = Callable[[Candidate, list[Diagnostic]], bool]


# What a message says of other faults, by their number, and of lines: a part of the model has other ones.
_TALLY = re.compile(r"; (?:this explains )?[0-9,]+ [^;]*| \(line [0-9]+\)")


def shows_code(code: str, match: str | None, like: Iterable[Diagnostic] = ()) -> Test:
    """The test whether irshape reports a code in a diagnostic that matches a pattern, and says all that one of `like` says, if any."""
    pattern, wanted = re.compile(match or ""), [_said(one) for one in like]
    return lambda _, found: any(
        one.code == code and (not wanted or any(said <= _said(one) for said in wanted)) and pattern.search(str(one)) for one in found
    )


def _said(one: Diagnostic) -> set[str | bool | None]:
    """What a diagnostic says of its own fault: that it is an error, the type of its layer, the parts of its message and the remedy.

    What it asks, or supposes, of other layers is left out: a part of the model may lack them.
    """
    parts = [part for part in _TALLY.sub("", one.message).split("; ") if not part.endswith(("?", "may belong before it"))]
    return {one.severity == ERROR or None, one.where.layer_type, one.fix and one.fix.title, *parts}


def runs(fails: Callable[[str], bool]) -> Test:
    """The test whether a function of the path of a candidate returns true."""

    def test(candidate: Candidate, _: list[Diagnostic]) -> bool:
        with TemporaryDirectory(prefix="irshape-reduce-") as folder:
            candidate.write(folder)
            return bool(fails(os.path.join(folder, "model.xml")))

    return test


class FailingCommand:
    """The test whether a command fails: it ends with another code than 0, and its output matches a pattern.

    `{}` in the command is the path of the model. A command that takes longer than `timeout` seconds is ended, and counts as one that
    does not fail.
    """

    def __init__(self, command: str, match: str | None, timeout: float) -> None:
        self.command = command
        self._pattern = re.compile((match or "").encode())
        self._timeout = timeout

    def __call__(self, candidate: Candidate, _: list[Diagnostic]) -> bool:
        code, output = self.run(candidate)
        return code not in (0, None) and self._pattern.search(output) is not None

    def run(self, candidate: Candidate) -> tuple[int | None, bytes]:
        """The exit code and the output of the command on a candidate; None if it takes too long."""
        with TemporaryDirectory(prefix="irshape-reduce-") as folder:
            path = os.path.join(folder, "model.xml")
            candidate.write(folder)
            code, output = self._run(self.command.replace("{}", shlex.quote(path)))
            return code, output.replace(folder.encode() + os.sep.encode(), b"")

    def _run(self, line: str) -> tuple[int | None, bytes]:
        with subprocess.Popen(line, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                output = process.communicate(timeout=self._timeout)[0]
            except subprocess.TimeoutExpired:
                _end(process)
                return None, b""
            except BaseException:  # Ctrl-C, which a command in a session of its own does not hear
                _end(process)
                raise
        return process.returncode, output


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the shell of a command and all that it has started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


class CandidateJudge:
    """Says of candidates whether they are valid and show the fault, several at the same time; equal ones are judged once.

    A candidate is valid if irshape finds no error in it that has another code than the errors of the whole model: then a command that
    fails does so for the reason that is looked for. `known` are the answers so far, by the keys of candidates.
    """

    def __init__(self, draft: Draft, test: Test, codes: frozenset[str], known: MutableMapping[str, bool], jobs: int = 1) -> None:
        self._like = draft.model
        self._opaque = draft.opaque
        self._test = test
        self._codes = codes
        self._known = known
        self._jobs = jobs
        self._pool = ThreadPoolExecutor(jobs)
        self.tries = 0

    def model(self, candidate: Candidate) -> Model:
        like = self._like
        limits, sources = like.document.limits, like.registry.sources
        weights = Weights(False if candidate.weights is None else candidate.weights)
        return load(candidate.text, weights=weights, opset=like.default_opset, limits=limits, extensions=sources)

    def first(self, candidates: Iterable[tuple[_T, Candidate | None]]) -> tuple[_T, Candidate] | None:
        """The first of some candidates on which the fault shows, with the mark beside it; None stands for an edit that makes no model."""
        pending: deque[tuple[_T, Candidate, Future[bool] | bool]] = deque()
        found = None
        for mark, candidate in candidates:
            if candidate is not None:
                pending.append((mark, candidate, self._asked(candidate)))
            if len(pending) >= self._jobs and (found := self._taken(pending)) is not None:
                break
        while pending and found is None:
            found = self._taken(pending)
        for _, _, answer in pending:
            if isinstance(answer, Future):
                answer.cancel()
        return found

    def shows(self, candidate: Candidate | None) -> bool:
        return self.first([(None, candidate)]) is not None

    def _taken(self, pending: deque[tuple[_T, Candidate, Future[bool] | bool]]) -> tuple[_T, Candidate] | None:
        """The oldest of the candidates that are asked about, if the fault shows on it."""
        mark, candidate, answer = pending.popleft()
        shows = self._known[candidate.key] = answer.result() if isinstance(answer, Future) else answer
        return (mark, candidate) if shows else None

    def _asked(self, candidate: Candidate) -> Future[bool] | bool:
        """The answer about a candidate, or the run that will give it."""
        known = self._known.get(candidate.key)
        if known is not None:
            return known
        found = inner.check(self.model(candidate), opaque=self._opaque, errors_only="R401" not in self._codes).diagnostics
        if any(one.severity == ERROR and one.code not in self._codes for one in found):
            return False
        self.tries += 1
        return self._pool.submit(self._test, candidate, found) if self._jobs > 1 else self._test(candidate, found)

    def close(self) -> None:
        """Wait for the commands that still run."""
        self._pool.shutdown(cancel_futures=True)


def candidate_of(draft: Draft, make: Callable[[], object]) -> Candidate | None:
    """The candidate that some edits of a draft make; None if they make no graph, or change nothing. The draft stays as it was."""
    mark = len(draft.state.journal)
    try:
        make()
        return content_of(draft) if len(draft.state.journal) > mark else None
    except (EditError, WeightsError):
        return None
    finally:
        draft.state.undo(mark)


def content_of(draft: Draft) -> Candidate:
    """The text of a draft and its weights, with the bytes that its constants need."""
    text, weights = draft.text(trims=True)
    try:
        return Candidate(text, b"" if weights is None else None if weights.are_unread else weights.read(0, weights.total))
    except (WeightsError, OverflowError, MemoryError) as error:
        if draft.weights.has_original:
            why = error.message if isinstance(error, WeightsError) else "its size is more than memory holds"
            raise EditError(f"a constant needs bytes that cannot be read: {why}; give the .bin that belongs to the file") from None
        return Candidate(text, None)


# The name of the file in the folder of a reduction.
JOURNAL = "journal.jsonl"


class OtherQuestion(Exception):
    """The file holds the answers to another question."""


class Answers(dict[str, bool]):
    """The answers so far by the keys of candidates; each new one is added to the file in a folder. `question` tells one run from another.

    Raises `OSError` if the file cannot be written, and `OtherQuestion`.
    """

    def __init__(self, folder: str, question: str) -> None:
        super().__init__()
        self._kept = Kept(os.path.join(folder, JOURNAL))
        try:
            whole = [line for line in self._kept.file if line.endswith(b"\n")]  # the last one may be cut off
            head = json.dumps({"question": question}).encode() + b"\n"
            if whole and whole[0] != head:
                raise OtherQuestion
            self._kept.cut(sum(map(len, whole)))
            if not whole:
                self._kept.append(head)
            for line in whole[1:]:
                answer = json.loads(line)
                super().__setitem__(answer["key"], answer["shows"])
        except (ValueError, KeyError, TypeError):
            self._kept.close()
            raise OtherQuestion from None
        except BaseException:
            self._kept.close()
            raise

    def __setitem__(self, key: str, shows: bool) -> None:
        if key not in self:
            super().__setitem__(key, shows)
            self._kept.append(json.dumps({"key": key, "shows": shows}).encode() + b"\n")

    def close(self) -> None:
        """Close the file, which a later run takes up."""
        self._kept.close()

    def remove(self) -> None:
        """Remove the file of a run that came to its end."""
        self._kept.remove()
