"""The examination of one file: read it, ask the command's question, and return the answer as data that can be printed."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import irshape
from irshape import verbs
from irshape.cli.run import FAILED, RunError, describe, exit_code, held, internal
from irshape.files.reading import Path
from irshape.model.build import build
from irshape.model.model import Model
from irshape.report.diagnostic import Diagnostic, Where
from irshape.shape.compilation import NamedTuple
from irshape.shape.limits import Limits
from irshape.xml.document import Document
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.cli.inputs import OptionFit
    from irshape.cli.request import Request
    from irshape.inference.inference import Inference, Remedy


class FileAnswer(Protocol):
    """The result of a command for one file."""

    @property
    def document(self) -> Document:
        """The file."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """The diagnostics of the file."""

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON data."""


class Extended(NamedTuple):
    """An answer with what a command adds to it: `more` for its text, `data` for its JSON, and the faults that a baseline has `accepted`."""

    document: Document
    answer: Any
    more: Any
    data: Mapping[str, Any]
    accepted: Mapping[str, int] = {}

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        return self.answer.diagnostics  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        return {**self.answer.to_dict(), **self.data}


# From this many new objects on, the cyclic garbage collector is run; it takes as long as examining a small file.
_MANY_OBJECTS = 100_000

# The answer about the only file of a run. The end of the process frees it, which takes far less time than to free each object.
_kept: list[FileAnswer] = []

# Code, message and hint for a file that needed more memory than the machine has.
OUT_OF_MEMORY = ("I103", "there was not enough memory", None)


def collect() -> None:
    """Free the objects of earlier files, if there are many: a graph is full of reference cycles, and a run disables the collector."""
    if gc.get_count()[0] > _MANY_OBJECTS:
        with held():
            gc.collect()


class FileOutcome(NamedTuple):
    """The result for one file as plain data, so that a worker can send it.

    `body` is the report in the chosen format, `complaint` a line for the error stream. `layers` is None if the file was not examined.
    `is_foreign` marks an XML file of another format. `accepted` counts the faults that a baseline accepts, by fingerprint, and `fits`
    are the options about the inputs of the file.
    """

    path: str
    code: int
    body: str = ""
    complaint: str = ""
    diagnostics: Sequence[Diagnostic] = ()
    layers: int | None = None
    is_foreign: bool = False
    accepted: Mapping[str, int] = {}
    fits: Sequence[OptionFit] = ()


def lost(path: str, code: str, message: str, hint: str | None) -> Model:
    """An empty model in place of a file that could not be examined, with a diagnostic that says why."""
    document = Document(b"", path)
    document.is_complete = False
    document.diagnostics.append(Diagnostic(code, message, Where(path), hint=hint))
    return build(document)


def whole_model(path: str, limits: Limits, extensions: Sequence[str]) -> Model:
    """The model of a file that is a whole IR. Raises `RunError`."""
    try:
        model = verbs.read(Path(path), limits=limits, extensions=extensions)
    except OSError as error:
        raise RunError(describe(error, path)) from None
    except irshape.ExtensionError as error:
        raise RunError(str(error)) from None
    if not model.document.is_complete or not model.nodes:
        raise RunError(f"{path}: this file cannot be read as an IR; run irshape check on it to see why")
    return model


class Errand(NamedTuple):
    """The work on each file: read it, `ask` the question of the command, `say` the answer as lines of text, and `do` what is asked with it.

    It can be pickled for a worker: its parts are module functions and plain data. Without `say`, no file has a report of its own. `do`, for
    example, writes a file, and yields the lines that say so.
    """

    request: Request
    ask: Callable[..., FileAnswer]
    say: Callable[[Any], Iterable[str]] | None = None
    do: Callable[[Any], Iterable[str]] | None = None

    def __call__(self, path: str) -> FileOutcome:
        """The outcome of a file. Any content gives one; only `MemoryError` is left to the caller."""
        collect()
        try:
            with asked(self.request, self.ask, path) as (answer, remarks, fits):
                return self._outcome(path, answer, remarks, fits)
        except OSError as error:
            complaint = describe(error, path)
        except (irshape.InputError, irshape.ExtensionError, RunError) as error:
            complaint = f"{path}: {error}"
        except MemoryError:
            raise
        except ModuleNotFoundError as error:  # in a clone, from which nothing was installed
            complaint = f"{path}: this needs the package {error.name}; install irshape with its packages: pip install ."
        except Exception as error:
            complaint = f"{path}: {internal(error)}"
        return FileOutcome(path, FAILED, complaint=complaint)

    def lost(self, path: str, code: str, message: str, hint: str | None) -> FileOutcome:
        """The outcome for a file whose examination was cut short: the file counts as one that could not be read."""
        return self._outcome(path, self.ask(lost(path, code, message, hint)), (), ())._replace(code=FAILED)

    def _outcome(self, path: str, answer: FileAnswer, remarks: Sequence[str], fits: Sequence[OptionFit]) -> FileOutcome:
        lines = [*remarks, *self._said(answer)]
        code, complaint = exit_code(answer.diagnostics, self.request.is_strict), ""
        try:
            lines += self.do(answer) if self.do else ()
        except RunError as error:
            code, complaint = max(code, error.code), str(error)
        document, accepted = answer.document, getattr(answer, "accepted", {})
        count, is_foreign = document.layer_count, document.is_foreign
        return FileOutcome(path, code, "\n".join(lines), complaint, answer.diagnostics, count, is_foreign, accepted, fits)

    def _said(self, answer: FileAnswer) -> Iterable[str]:
        if self.say is None:
            return ()
        if self.request.format == "text":
            return self.say(answer)
        from irshape.report.form import compact, readable

        return [(readable if self.request.format == "json" else compact)(answer.to_dict())]


@contextmanager
def asked(request: Request, ask: Callable[..., FileAnswer], path: str) -> Iterator[tuple[FileAnswer, Sequence[str], Sequence[OptionFit]]]:
    """The answer about a file, remarks, and the options about its inputs. The weights are open as long as the answer may read them."""
    own = request.settings.of(path) if request.settings is not None else None
    limits, opaque, extensions, weights_file = request.limits, request.opaque, request.extensions, request.weights
    if own is not None:
        weights_file = own.weights if weights_file is None else weights_file
        opaque, extensions = [*own.opaque, *opaque], [*own.extensions, *extensions]
        if own.limits:
            limits = limits.replaced({name: most for name, most in own.limits.items() if name not in request.limited})
    if weights_file:
        os.stat(weights_file)  # a wrong path is an error of the run, not a fault of the model
    source = Path(path) if request.source is None else request.source
    model = verbs.read(source, path=path, opset=request.opset, limits=limits, extensions=extensions)
    if not (model.nodes and model.document.is_complete):  # its faults matter more than an input that it lacks
        yield ask(model), (), ()
        return
    follow_links = request.settings is not None and request.settings.follow_links
    with Weights.beside(path, follow_links=follow_links) if weights_file is None else Weights(weights_file) as weights:
        inputs: Mapping[str, str] = {}
        symbols: Mapping[str, str] = {}
        remarks: Sequence[str] = ()
        fits: Sequence[OptionFit] = ()
        if request.inputs or request.symbols or (own is not None and own.configuration):
            from irshape.cli.inputs import asked_of, matches

            def names(inputs: Mapping[str, str]) -> frozenset[str]:
                return verbs.symbols(model, inputs=inputs, weights=weights, opaque=opaque)

            inputs, symbols, fits = asked_of(model, request.inputs, request.symbols, own, names, is_many=request.is_many)
            remarks = list(matches(model, request.inputs)) if request.is_verbose and request.format == "text" else ()
        answer = ask(model, inputs=inputs, symbols=symbols, weights=weights, opaque=opaque)
        if not request.is_many:
            _kept[:] = [answer]
        yield answer, remarks, fits


def complete_remedy(inference: Inference, request: Request, asked: Mapping[str, Any], batch: str | None = None) -> None:
    """Give the remedy of a check the options of its command; if it has none, seek one for the model without state."""
    found = inference.remedy
    if found is None and batch is None and request.opset is None and request.weights is not False:  # `irshape edit` has no such options
        found = _without_state(inference, asked)
    if found is not None:
        from shlex import quote

        options = request.reading + ("" if batch is None else f" --batch {quote(batch)}")
        inference.remedy = found.beside(asked.get("inputs"), asked.get("symbols"), options)


def _without_state(inference: Inference, asked: Mapping[str, Any]) -> Remedy | None:
    """The sizes that meet missed targets once the state is inputs and outputs; None if the model has no state, or if no sizes do."""
    if not inference.model.of_type("ReadValue") or not any(one.code.startswith("P10") for one in inference.diagnostics):
        return None
    from irshape.editing.draft import Draft
    from irshape.editing.inputs import stateless
    from irshape.editing.state import EditError
    from irshape.inference.inputs import InputError

    try:
        draft = Draft(inference.model, inference.weights, inference.opaque)
        stateless(draft)
        model, weights = draft.built()
        own = {name: asked[name] for name in ("targets", "inputs", "symbols") if name in asked}
        found = verbs.check(model, weights=weights, opaque=draft.opaque, errors_only=True, **own)
    except (EditError, InputError):
        return None
    if found.remedy is None:
        return None
    for one in inference.diagnostics:  # the sizes of the model as it is are not those of the model without state
        one.hint = None if one.code.startswith("P10") else one.hint
    return found.remedy._replace(is_stateless=True)
