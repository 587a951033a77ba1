"""The verbs: read a file, infer its shapes, check it, reshape it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from irshape.inference.engine import Engine
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import InputError, Shapes, asked_inputs, note_changed_ranks, recorded_inputs
from irshape.inference.session import Session
from irshape.inference.verdict import infer as infer_all
from irshape.model.load import load, weights_of
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR
from irshape.shape.limits import DEFAULT, Limits
from irshape.xml.reader import Source

if TYPE_CHECKING:
    from irshape.answers.diff import Difference
    from irshape.answers.explain.explanation import Explanation
    from irshape.answers.info import Info
    from irshape.answers.sizes import ValidSizes


def read(source: Source, *, path: str | None = None, opset: str | None = None, limits: Limits = DEFAULT) -> Model:
    """The graph of an IR.

    `source` is a path, bytes, a binary file object or an lxml tree. A bad file gives a model with diagnostics; only a path
    that cannot be read raises `OSError`. `opset` is the version of layers that name none (specification examples). `limits` are
    what the file may ask for, now and in all that is made of the model.
    """
    return load(source, path=path, opset=opset, limits=limits)


def infer(
    source: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: Any = None,
    opaque: Iterable[str] = (),
    opset: str | None = None,
    limits: Limits = DEFAULT,
) -> Inference:
    """The element type and shape of every port.

    `inputs` gives shapes by Parameter name in the user's notation (`"[1,3,H,224..448]"`), `symbols` the ranges of their
    symbols (`{"H": "32..1024"}`). `weights` is the `.bin` (path, bytes or file object) where it does not stand beside the
    `.xml`. `opaque` names operations that may be unknown. `opset` and `limits` are those of `read`, for a model that has not been
    read. Raises `InputError` if an input does not exist or a shape does not parse, `OSError` if the file cannot be read, and
    nothing for a bad model.
    """
    return _infer(load(source, opset=opset, limits=limits), inputs, symbols, weights, opaque, is_check=False)


def check(
    source: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: Any = None,
    opaque: Iterable[str] = (),
    opset: str | None = None,
    limits: Limits = DEFAULT,
    targets: Iterable[str] = (),
) -> Inference:
    """As `infer`; and says where the file departs from the specification, or from what was inferred of its ports.

    `targets` are policies that the model must meet: `static-shapes`, `bounded`, `ranked`, `max-rank=6`, `npu`. Raises `InputError` for
    one that does not exist.
    """
    wanted = list(targets)
    if wanted:
        from irshape.answers.policies import find_policies, violations

        policies = find_policies(wanted)
    inference = _infer(load(source, opset=opset, limits=limits), inputs, symbols, weights, opaque, is_check=True)
    if wanted:
        inference.report(violations(inference, policies))
    return inference


def reshape(
    source: Source | Model,
    inputs: Shapes | None = None,
    *,
    batch: int | str | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: Any = None,
    opaque: Iterable[str] = (),
    opset: str | None = None,
    limits: Limits = DEFAULT,
) -> Inference:
    """The model with other shapes of its inputs; `write` of the answer makes the file of it.

    As `infer`; but if the model cannot have these shapes, the errors are everything that stands in the way, each with the
    constant that pins it and the value that would fit. `batch` is the size of the batch axis of all inputs that are not named.
    """
    return Session(source, weights=weights, opaque=opaque, opset=opset, limits=limits).reshape(inputs, symbols=symbols, batch=batch)


def explain(inference: Inference, layer: str | int, port: int | None = None, axis: int | None = None) -> Explanation:
    """Why a port, or one axis of it, has its shape: the layers that compute it, in order, each with the formula of its rule.

    `layer` is a name, or an id as in `Inference.ports` (`7`, `2.body/5`). `port` is the id of a port in the file; by default it is the
    first output. `axis` counts from 0, or with -1 from the end; by default all axes and the element type are explained. Raises
    `InputError` if the model has no such layer, port or axis.
    """
    from irshape.answers.explain import explainer

    return explainer.explain(inference, layer, port, axis)


Inference.explain = explain


def diff(
    a: Source | Model,
    b: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: tuple[Any, Any] = (None, None),
    opaque: Iterable[str] = (),
    limits: Limits = DEFAULT,
) -> Difference:
    """What changed from model `a` to model `b`.

    `inputs` and `symbols` are given to both; `weights` are the `.bin` of each where it does not stand beside the `.xml`. If one is
    missing, both models are compared without. Raises as `infer` does.
    """
    from irshape.answers.diff import compare

    models = [load(source, limits=limits) for source in (a, b)]

    def sides(weights: tuple[Any, Any]) -> list[Inference]:
        pairs = zip(models, weights, strict=True)
        return [infer(one, inputs=inputs, symbols=symbols, weights=own, opaque=opaque) for one, own in pairs]

    found = sides(weights)
    missing = [diagnostic.message for side in found for diagnostic in side.diagnostics if diagnostic.code == "W101"]
    if missing:
        found = sides((b"", b""))
    difference = compare(*found)
    difference.uncompared = missing[0] if missing else difference.uncompared
    return difference


def info(
    source: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: Any = None,
    opaque: Iterable[str] = (),
    opset: str | None = None,
    limits: Limits = DEFAULT,
) -> Info:
    """What a model is: versions, inputs and outputs, what is dynamic and why, operations, parameters, state, batch.

    Takes and raises what `infer` does.
    """
    from irshape.answers.info import Info

    model = load(source, opset=opset, limits=limits)
    given = weights_of(model.document, weights)
    shapes = recorded_inputs(model)[0].updated(asked_inputs(model, inputs or {}, symbols or {}))
    inference = infer(model, inputs=inputs, symbols=symbols, weights=given, opaque=opaque)
    return Info(inference, lambda: Engine(model, given, frozenset(opaque)), shapes)


def valid_sizes(
    source: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Mapping[str, str] | None = None,
    weights: Any = None,
    opaque: Iterable[str] = (),
    opset: str | None = None,
    limits: Limits = DEFAULT,
) -> ValidSizes:
    """For which sizes of its inputs the model is valid, as a condition.

    The arguments are those of `infer`. What is asked are the symbols in the shapes of `inputs`, and all other sizes that are open, which
    are called A, B, C, ...; all sizes are at least 1. Raises `InputError` if there are none.
    """
    from irshape.answers.sizes import ask

    model = load(source, opset=opset, limits=limits)
    recorded, remarks = recorded_inputs(model)
    wanted = recorded.updated(asked_inputs(model, inputs or {}, symbols or {}))
    return ask(model, wanted, weights_of(model.document, weights), frozenset(opaque), remarks)


def _infer(
    model: Model,
    inputs: Shapes | None,
    symbols: Mapping[str, str] | None,
    weights: Any,
    opaque: Iterable[str],
    *,
    is_check: bool,
) -> Inference:
    recorded, remarks = recorded_inputs(model)
    wanted = recorded.updated(asked_inputs(model, inputs or {}, symbols or {}))
    engine = Engine(model, weights_of(model.document, weights), frozenset(opaque))
    wanted.apply(engine)
    infer_all(engine)
    if any(diagnostic.severity == ERROR for diagnostic in engine.diagnostics):
        remarks += note_changed_ranks(engine)
    return conclude(engine, is_check=is_check, is_as_read=not (inputs or symbols), remarks=remarks)


__all__ = ["InputError", "Limits", "Session", "Shapes", "check", "diff", "explain", "infer", "info", "read", "reshape", "valid_sizes"]
