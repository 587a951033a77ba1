"""From what a program has to a model: a path, bytes, a tree, an `openvino.Model`, or a model that was read before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from irshape.model.load import load, opened
from irshape.model.public import Model
from irshape.shape.compilation import TypedDict
from irshape.shape.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from irshape.ops.extensions import Extensions
    from irshape.xml.source import Source
    from irshape.xml.weights import Weights, WeightsChoice


class Reading(TypedDict, total=False):
    """How a source is read; every verb takes these arguments and passes them to `irshape.read`.

    `weights` and `opaque` may also be given beside a `Model`, and then replace those that the model was read with. `opset`, `limits` and
    `extensions` belong to the model: others beside a `Model` raise `TypeError`.
    """

    weights: WeightsChoice
    opaque: str | Iterable[str]
    opset: str | None
    limits: Limits
    extensions: Extensions


def alike(opaque: str | Iterable[str], limits: Limits, extensions: Extensions) -> Reading:
    """How two sources are read for a comparison. An option with its default value may differ in a model that was read before."""
    reading = Reading(opaque=opaque)
    if limits is not DEFAULT:
        reading["limits"] = limits
    if extensions:
        reading["extensions"] = extensions
    return reading


def taken(source: Source | Model, reading: Reading, path: str | None = None) -> tuple[Model, Weights | None, frozenset[str]]:
    """The model of a source, its weights, and the unknown operations whose recorded ports are trusted.

    Raises `TypeError` for arguments that a model which was read before cannot take, and the errors of `irshape.read`.
    """
    if not isinstance(source, Model):
        return _read(source, reading, path)
    graph = source._graph
    own: dict[str, Any] = {"opset": graph.default_opset, "limits": graph.document.limits, "extensions": graph.registry}
    for name in own:
        if name in reading and not _is_same(name, reading[name], own[name]):  # type: ignore[literal-required]
            raise TypeError(f"the model was read with other {name}; give {name}= to irshape.read")
    weights = opened(reading.get("weights"))
    opaque = frozenset(named(reading["opaque"])) if "opaque" in reading else source._opaque
    return source, graph.document.own_weights() if weights is None else weights, opaque


def _read(source: Source, reading: Reading, path: str | None) -> tuple[Model, Weights | None, frozenset[str]]:
    try:
        graph = load(
            source,
            path=path,
            weights=reading.get("weights"),
            opset=reading.get("opset"),
            limits=reading.get("limits", DEFAULT),
            extensions=reading.get("extensions", ()),
        )
    except IsADirectoryError as error:
        raise IsADirectoryError(error.errno, "it is a folder; irshape.scan reads every IR in it", error.filename) from None
    model = graph.public = Model(graph, opaque=frozenset(named(reading.get("opaque", ()))))
    return model, graph.document.own_weights(), model._opaque


def _is_same(name: str, given: Any, own: Any) -> bool:
    """Whether an argument is what the model was read with."""
    if name != "extensions":
        return bool(given == own)
    if not given:
        return not own.sources
    from irshape.ops.extensions import registry_of

    return registry_of(given) is own


def named(given: str | Iterable[str]) -> list[str]:
    """Names, of which one may stand alone."""
    return [given] if isinstance(given, str) else list(given)
