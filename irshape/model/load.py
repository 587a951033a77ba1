"""From a source to a model and its weights."""

from __future__ import annotations

import copyreg
import os
from typing import TYPE_CHECKING, Any

from irshape.model.build import build
from irshape.model.model import Model, Node
from irshape.ops.registry import REGISTRY
from irshape.shape.limits import DEFAULT, Limits
from irshape.xml.document import Document
from irshape.xml.reader import read as read_document
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.ops.extensions import Extensions
    from irshape.xml.source import Source
    from irshape.xml.weights import WeightsChoice


def load(
    source: Source | Model,
    *,
    path: str | None = None,
    weights: WeightsChoice = None,
    opset: str | None = None,
    limits: Limits = DEFAULT,
    extensions: Extensions = (),
) -> Model:
    """The model of a source; the source may be a model that was read before."""
    if isinstance(source, Model):
        return source
    document = read_document(source, path=path, limits=limits)
    if weights is not None:
        document.weights = opened(weights)
    return _built(document, opset, extensions)


def _built(document: Document, opset: str | None, extensions: Extensions) -> Model:
    registry = REGISTRY
    if extensions:
        from irshape.ops.extensions import registry_of

        registry = registry_of(extensions)
    return build(document, opset, registry)


def loaded(source: Source | Model, weights: WeightsChoice = None) -> tuple[Model, Weights | None]:
    """The model of a source, and its weights: the given ones, else those that came with the source, else the `.bin` beside the file."""
    own = opened(weights)
    model = load(source, weights=own)
    return model, model.document.own_weights() if own is None else own


def opened(weights: WeightsChoice) -> Weights | None:
    """Weights from whatever holds them; None where the caller leaves the choice to the file. Raises `TypeError` for anything else."""
    if weights is None or isinstance(weights, Weights):
        return weights
    is_named = isinstance(weights, str | os.PathLike | bytes | bytearray | memoryview)
    if weights is not False and not is_named and not hasattr(weights, "seek"):
        raise TypeError(f"weights are a path, bytes, a file or False, not a value of the class {type(weights).__name__}")
    return Weights(weights)


def _reduced(model: Model) -> tuple[Any, ...]:
    if model.holder is not None:
        return _body, (model.holder, model.name)
    return _built, (model.document, model.default_opset, model.registry.sources)


def _body(holder: Node, name: str) -> Model:
    return holder.bodies[name]


copyreg.pickle(Model, _reduced)  # a model is the graph of its document
