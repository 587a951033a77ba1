"""The examination of one file: read it, ask the command's question, and return the answer as data that can be printed."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import irshape
from irshape import verbs
from irshape.cli.run import FAILED, RunError, describe, exit_code
from irshape.files.reading import Path
from irshape.model.build import build
from irshape.report.diagnostic import Diagnostic, Where
from irshape.xml.document import Document
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Literal

    from irshape.cli.inputs import Request
    from irshape.model.model import Model
    from irshape.settings.settings import FileSettings, Settings


class Answer(Protocol):
    """The result of a command for one file."""

    @property
    def document(self) -> Document:
        """The file."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """The diagnostics of the file."""

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON data."""


Verb: TypeAlias = Callable[..., Answer]
Lines: TypeAlias = Callable[[Any], Iterable[str]]

# From this many new objects on, the cyclic garbage collector is run; it takes as long as examining a small file.
_MANY_OBJECTS = 100_000

# The answer about the only file of a run. The end of the process frees it, which takes far less time than to free each object.
_kept: list[Answer] = []

# Code, message and hint for a file that needed more memory than the machine has.
OUT_OF_MEMORY = ("I103", "there was not enough memory", None)


def collect() -> None:
    """Free the objects of earlier files, if there are many: a graph is full of reference cycles, and a run disables the collector."""
    if gc.get_count()[0] > _MANY_OBJECTS:
        from irshape.cli.run import held

        with held():
            gc.collect()


class Outcome(NamedTuple):
    """The result for one file as plain data, so that a worker can send it.

    `body` is the report in the chosen format, `complaint` a line for the error stream. `layers` is None if the file was not examined.
    `is_foreign` marks an XML file of another format. `accepted` are the fingerprints of the faults that a baseline accepts, `requests` the
    options about the inputs of the file.
    """

    path: str
    code: int
    body: str = ""
    complaint: str = ""
    diagnostics: Sequence[Diagnostic] = ()
    layers: int | None = None
    is_foreign: bool = False
    accepted: Sequence[str] = ()
    requests: Sequence[Request] = ()


def lost(path: str, code: str, message: str, hint: str | None) -> Model:
    """An empty model in place of a file that could not be examined, with a diagnostic that says why."""
    document = Document(b"", path)
    document.is_complete = False
    document.diagnostics.append(Diagnostic(code, message, Where(path), hint=hint))
    return build(document)


class Examination:
    """The work of a command on each file. It can be pickled for a worker: its parts are module functions and plain data.

    `verb` answers the command's question. `show` yields the lines of the text report; None if no file has a report of its own. `finish`
    acts on the answer, for example writes a file, and yields the lines that say so. `settings` has the configuration of each file.
    `is_many` says that the run is over several files.
    """

    def __init__(
        self,
        given: Namespace,
        verb: Verb,
        show: Lines | None,
        finish: Lines | None = None,
        *,
        settings: Settings | None = None,
        is_many: bool = False,
    ) -> None:
        self._given = given
        self._verb = verb
        self._show = show
        self._finish = finish
        self._settings = settings
        self._is_many = is_many
        self._symbols: dict[str, str] = dict(given.set)

    def __call__(self, path: str) -> Outcome:
        """Examine a file. Any content gives an outcome; only `MemoryError` is left to the caller."""
        collect()
        try:
            return self._examined(path)
        except OSError as error:
            complaint = describe(error, path)
        except (irshape.InputError, irshape.ExtensionError, RunError) as error:
            complaint = f"{path}: {error}"
        except MemoryError:
            raise
        except ModuleNotFoundError as error:  # in a clone, from which nothing was installed
            complaint = f"{path}: this needs the package {error.name}; install irshape with its packages: pip install ."
        except Exception as error:
            complaint = f"{path}: internal error; please report it with the file: {type(error).__name__}: {error}"
        return Outcome(path, FAILED, complaint=complaint)

    def lost(self, path: str, code: str, message: str, hint: str | None) -> Outcome:
        """The outcome for a file whose examination was cut short: the file counts as one that could not be read."""
        return self._outcome(path, self._verb(lost(path, code, message, hint)))._replace(code=FAILED)

    def _examined(self, path: str) -> Outcome:
        given = self._given
        own = self._settings.of(path) if self._settings is not None else None
        limits, opaque, extensions = given.limits, given.opaque, given.extensions
        weights_file: str | Literal[False] | None = False if given.no_weights else given.weights_file
        if own is not None:
            weights_file = own.weights if weights_file is None else weights_file
            opaque = [*own.opaque, *opaque]
            extensions = [*own.extensions, *extensions]
            if own.limits:
                limits = limits.replaced({name: most for name, most in own.limits.items() if name not in given.limited})
        if weights_file:
            os.stat(weights_file)  # a wrong path is an error of the run, not a fault of the model
        source = getattr(given, "source", None)
        model = verbs.read(Path(path) if source is None else source, path=path, opset=given.opset, limits=limits, extensions=extensions)
        if not (model.nodes and model.document.is_complete):  # its faults matter more than an input that it lacks
            return self._outcome(path, self._verb(model))
        with Weights.beside(path) if weights_file is None else Weights(weights_file) as weights:
            inputs, symbols, requests = self._asked(model, own, weights, opaque)
            answer = self._verb(model, inputs=inputs, symbols=symbols, weights=weights, opaque=opaque)
            outcome = self._outcome(path, answer, self._matches(model))
        if not self._is_many:
            _kept[:] = [answer]
        return outcome._replace(requests=requests)

    def _asked(
        self, model: Model, own: FileSettings | None, weights: Weights, opaque: Sequence[str]
    ) -> tuple[Mapping[str, str], Mapping[str, str], Sequence[Request]]:
        """The shapes and symbols for the inputs of a file, and the options about them."""
        if not (self._given.input or self._symbols or (own is not None and own.configuration)):
            return {}, {}, ()
        from irshape.cli.inputs import asked_of

        def names(inputs: Mapping[str, str]) -> frozenset[str]:
            return verbs.symbols(model, inputs=inputs, weights=weights, opaque=opaque)

        return asked_of(model, self._given, self._symbols, own, names, is_many=self._is_many)

    def _matches(self, model: Model) -> Sequence[str]:
        """The inputs that each pattern matches, if `--verbose` is given."""
        if not (getattr(self._given, "verbose", False) and self._given.format == "text"):
            return ()
        from irshape.cli.inputs import matches

        return list(matches(model, self._given))

    def _outcome(self, path: str, answer: Answer, remarks: Sequence[str] = ()) -> Outcome:
        document, diagnostics = answer.document, answer.diagnostics
        lines = [*remarks, *self._report(answer)]
        code, complaint = exit_code(diagnostics, getattr(self._given, "strict", False)), ""
        try:
            lines += self._finish(answer) if self._finish else ()
        except RunError as error:
            code, complaint = max(code, error.code), str(error)
        count = document.layer_count
        accepted = getattr(answer, "accepted", ())
        return Outcome(path, code, "\n".join(lines), complaint, diagnostics, count, document.is_foreign, accepted)

    def _report(self, answer: Answer) -> Iterable[str]:
        if self._show is None:
            return ()
        if self._given.format == "text":
            return self._show(answer)
        from irshape.report.form import compact, readable

        return [(readable if self._given.format == "json" else compact)(answer.to_dict())]
