"""From a source to a model and its weights."""

from __future__ import annotations

from typing import Any

from irshape.model.build import build
from irshape.model.model import Model
from irshape.shape.limits import DEFAULT, Limits
from irshape.xml.document import Document
from irshape.xml.reader import Source
from irshape.xml.reader import read as read_document
from irshape.xml.weights import Weights


def load(source: Source | Model, *, path: str | None = None, opset: str | None = None, limits: Limits = DEFAULT) -> Model:
    """The model of a source; the source may be a model that was read before."""
    return source if isinstance(source, Model) else build(read_document(source, path=path, limits=limits), opset)


def weights_of(document: Document, given: Any) -> Weights | None:
    """The given weights, or else the `.bin` beside the file; None for a document without a path."""
    if given is not None:
        return given if isinstance(given, Weights) else Weights(given)
    return Weights.beside(document.path) if document.path is not None else None
