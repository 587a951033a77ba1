"""The three verbs: read a file, infer its shapes, check it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from irshape.inference.engine import Engine
from irshape.inference.inference import Inference, compare_recorded
from irshape.inference.inputs import InputError, apply_inputs
from irshape.model.build import build
from irshape.model.model import Model
from irshape.report.catalogue import is_about_specification
from irshape.xml.document import Document
from irshape.xml.reader import Source
from irshape.xml.reader import read as read_document
from irshape.xml.weights import Weights

Shapes: TypeAlias = Mapping[str, "str | Sequence[int | str | None]"]


def read(source: Source, *, path: str | None = None, opset: str | None = None) -> Model:
    """The graph of an IR.

    `source` is a path, bytes, a binary file object or an lxml tree. A bad file gives a model with diagnostics; only a path
    that cannot be read raises `OSError`. `opset` is the version of layers that name none (specification examples).
    """
    return build(read_document(source, path=path), opset)


def infer(
    source: "Source | Model",
    *,
    inputs: Shapes | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: Any = None,
    opaque: Iterable[str] = (),
    opset: str | None = None,
) -> Inference:
    """The element type and shape of every port.

    `inputs` gives shapes by Parameter name in the user's notation (`"[1,3,H,224..448]"`), `symbols` the ranges of their
    symbols (`{"H": "32..1024"}`). `weights` is the `.bin` (path, bytes or file object) where it does not stand beside the
    `.xml`. `opaque` names operations that may be unknown. Raises `InputError` if an input does not exist or a shape does not
    parse, `OSError` if the file cannot be read, and nothing for a bad model.
    """
    return _infer(source, inputs, symbols, weights, opaque, opset, is_check=False)


def check(
    source: "Source | Model",
    *,
    inputs: Shapes | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: Any = None,
    opaque: Iterable[str] = (),
    opset: str | None = None,
) -> Inference:
    """As `infer`; and says where the file departs from the specification, or from what was inferred of its ports."""
    return _infer(source, inputs, symbols, weights, opaque, opset, is_check=True)


def _infer(
    source: "Source | Model",
    inputs: Shapes | None,
    symbols: Mapping[str, str] | None,
    weights: Any,
    opaque: Iterable[str],
    opset: str | None,
    *,
    is_check: bool,
) -> Inference:
    model = source if isinstance(source, Model) else read(source, opset=opset)
    document: Document = model.document
    engine = Engine(model, _weights(document, weights), frozenset(opaque))
    apply_inputs(engine, inputs or {}, symbols or {})
    engine.run()
    found = [*document.diagnostics]
    if document.is_complete:
        found += [*model.diagnostics, *engine.diagnostics]
    if is_check and document.is_complete:
        found += compare_recorded(document, model, engine)
    else:
        found = [diagnostic for diagnostic in found if not is_about_specification(diagnostic.code)]
    return Inference(document, model, engine, found)


def _weights(document: Document, given: Any) -> Weights | None:
    if given is not None:
        return given if isinstance(given, Weights) else Weights(given)
    return Weights.beside(document.path) if document.path is not None else None


__all__ = ["InputError", "Shapes", "check", "infer", "read"]
