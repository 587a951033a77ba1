"""From what a program has to a model: a path, bytes, a tree, an `openvino.Model`, or a model that was read before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import CO_VARKEYWORDS
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar

from irshape.model.load import load, opened
from irshape.model.public import Model
from irshape.report.text import counted
from irshape.shape.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from irshape.ops.extensions import Extensions
    from irshape.xml.source import Source
    from irshape.xml.weights import Weights, WeightsChoice

_P = ParamSpec("_P")
_R = TypeVar("_R")


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


def knowing(verb: Callable[_P, _R], more: type = Reading) -> Callable[_P, _R]:
    """The verb, which names its arguments where it is given another one: its own, and the keys of `more` if it takes further ones."""
    code = verb.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    further = more.__annotations__ if code.co_flags & CO_VARKEYWORDS else ()
    known = [name for name in dict.fromkeys((*own, *further)) if name != "self"]

    @wraps(verb)
    def call(*given: _P.args, **named: _P.kwargs) -> _R:
        if name := next((name for name in named if name not in known), None):
            from irshape.report.guesses import hint

            raise TypeError(f"there is no argument {name!r}{hint('argument', name)}; {verb.__qualname__} takes {', '.join(known)}")
        if len(given) > code.co_argcount:
            most = counted(code.co_argcount, "argument")
            others = ", ".join(known[code.co_argcount :])
            raise TypeError(f"{verb.__qualname__} takes {most} without a name, not {len(given)}; give the others by their names: {others}")
        return verb(*given, **named)

    return call


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
