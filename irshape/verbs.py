"""The verbs on the graphs of the engine, for the commands. `irshape.api.verbs` describes their arguments.

Only `read` takes the options of reading; a verb that is given a source reads it as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, Unpack

from irshape.inference.engine import Engine
from irshape.inference.inference import Inference, conclude
from irshape.inference.question import AS_READ
from irshape.inference.verdict import infer as infer_all
from irshape.model.load import load, loaded
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.compilation import TypedDict
from irshape.shape.dim import Dim
from irshape.xml.weights import UNREAD, Weights

if TYPE_CHECKING:
    from irshape.answers.cost.cost import Cost
    from irshape.answers.diff import Difference
    from irshape.answers.explain.explanation import Explanation
    from irshape.answers.info import Info
    from irshape.answers.signature.discovery import Discovery
    from irshape.answers.signature.signature import Signature
    from irshape.answers.sizes import ValidSizes
    from irshape.answers.summary import Summary
    from irshape.inference.inputs import Inputs, Shapes, Symbols
    from irshape.xml.source import Source
    from irshape.xml.weights import WeightsChoice


class Asked(TypedDict, total=False):
    """The shapes and symbols of the inputs, the weights and the trusted operations that most verbs take."""

    inputs: Shapes | None
    symbols: Symbols | None
    weights: WeightsChoice
    opaque: Iterable[str]


# Reads an IR into a model.
read = load


def infer(source: Source | Model, **asked: Unpack[Asked]) -> Inference:
    """Infer the element type and shape of every port."""
    return _infer(*loaded(source, asked.get("weights")), asked, is_check=False)


def read_in_names(source: Source | Model, **asked: Unpack[Asked]) -> Inference:
    """Infer for the formulas alone, in the symbols of the signature: the pass without names is made only where it is needed."""
    from irshape.answers.signature import naming

    graph = load(source)
    model, wanted, weights, opaque, _ = _question(graph, asked)
    return naming.read_alone(model, wanted, weights, opaque) or naming.named(infer(graph, **asked), is_taken=True)


def check(
    source: Source | Model,
    *,
    targets: Iterable[str] = (),
    batch: int | str | None = None,
    suppressions: bool = True,
    structure: bool = False,
    errors_only: bool = False,
    **asked: Unpack[Asked],
) -> Inference:
    """Infer as `infer` does, and also report where the file departs from the specification and from the inferred facts.

    With `batch`, also report whether the model keeps a batch of this size. With `errors_only`, spare the search for conditions that
    contradict each other, which gives a warning.
    """
    wanted = list(targets)
    if wanted:
        from irshape.answers.policies import find_policies, judge

        policies = find_policies(wanted)
    model, weights = loaded(source, asked.get("weights"))
    inference = _infer(model, weights, asked, is_check=True)
    if not errors_only and inference.ok and inference.contradicting:
        from irshape.answers.signature.naming import named
        from irshape.diagnosis.linking import link_conflict

        inference = named(inference)
        conflict = inference.report_contradiction()  # in the symbols of the signature
        if conflict is not None:
            link_conflict(inference, conflict)
    if wanted:
        judge(inference, policies)
    if batch is not None and inference.ok:
        from irshape.answers.batch.axes import answered
        from irshape.inference.inputs import parse_batch

        inference.report(answered(inference, parse_batch(batch)))
    # The schema is that of an IR of a version that OpenVINO reads, not of an example, of another version or of an execution graph.
    if structure and not (model.document.is_example or any(one.code in ("X108", "X112") for one in inference.diagnostics)):
        from irshape.xml.schema import structural_faults

        told = {one.where.line for one in inference.diagnostics}
        faults = structural_faults(model.document.source, model.document.path)
        inference.report([fault for fault in faults if fault.where.line not in told])
    if suppressions and model.document.suppressions and model.document.is_complete:
        from irshape.diagnosis.diagnosis import suppress

        suppress(inference, is_as_read=_is_as_read(asked), has_targets=bool(wanted))
    return inference


def symbols(source: Source | Model, **asked: Unpack[Asked]) -> frozenset[str]:
    """The names of the symbols whose sizes can be given: those in the shapes of the inputs, and those of the signature."""
    from irshape.answers.signature.knobs import Knobs

    model, wanted, weights, opaque, _ = _question(source, asked)
    return Knobs(model, wanted, weights, opaque).names


def explain(inference: Inference, layer: str | int, port: int | None = None, axis: int | None = None) -> Explanation:
    """Why a port, or one axis of it, has its shape: the layers that compute it, in order, each with the formula of its rule."""
    from irshape.answers.explain import explainer

    return explainer.explain(inference.reading, layer, port, axis)


def diff(
    a: Source | Model,
    b: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    weights: tuple[WeightsChoice, WeightsChoice] | Literal[False] = (None, None),
    opaque: Iterable[str] = (),
    cost: bool = False,
) -> Difference:
    """Compare the graphs of model `a` and model `b`."""
    from irshape.answers.diff import compare

    models = [load(source) for source in (a, b)]

    def inferences(weights: tuple[WeightsChoice, WeightsChoice]) -> Iterator[Inference]:
        for one, own in zip(models, weights, strict=True):
            yield infer(one, inputs=inputs, symbols=symbols, weights=own, opaque=opaque)

    found = list(inferences(weights or (False, False)))
    missing = [diagnostic.message for side in found for diagnostic in side.diagnostics if diagnostic.code in UNREAD]
    if missing:
        found = list(inferences((False, False)))
    difference = compare(*found)
    difference.uncompared = missing[0].partition(";")[0] if missing else difference.uncompared
    if cost:
        from irshape.answers.cost.cost import Comparison

        again = inferences((False, False) if missing or not weights else weights)  # the count gives their sizes names, so it takes its own
        difference.cost = Comparison(*(_cost(one, {}) for one in again))
    return difference


def info(source: Source | Model, **asked: Unpack[Asked]) -> Info:
    """Describe a model: versions, inputs, outputs, operations, parameters, state, batch, and the causes of dynamic sizes."""
    from irshape.answers.info import Info

    return Info(infer(source, **asked), signature_of)


def signature(source: Source | Model, **asked: Unpack[Asked]) -> Signature:
    """Find the signature of a model: the shapes of its inputs and outputs in as few symbols as its requirements leave."""
    from irshape.answers.signature.signature import Signature

    return Signature(*_question(source, asked))


def signature_of(inference: Inference, found: Discovery | None = None) -> Signature:
    """The signature of a model for the inputs of an inference; `found` are the symbols that name its sizes, if they are known."""
    from irshape.answers.signature.signature import Signature

    own = None if inference.wanted.names else found  # symbols that the user names are kept in one of the two
    return Signature(inference.model, inference.wanted, inference.weights, inference.opaque, like=inference.engine, found=own)


def sizes(source: Source | Model, **asked: Unpack[Asked]) -> ValidSizes:
    """Find the input sizes for which the model is valid, as a condition."""
    from irshape.answers.sizes import ask

    return ask(*_question(source, asked))


def cost(
    source: Source | Model, *, near: Mapping[str, int] | None = None, views: bool = False, in_place: bool = False, **asked: Unpack[Asked]
) -> Cost:
    """Count what a model computes at each inference, and the memory that it takes, as numbers or as formulas of the sizes of its inputs."""
    from irshape.answers.question import opened
    from irshape.answers.signature.signature import Signature

    graph = load(source)
    model, wanted, weights, opaque, _ = _question(graph, asked)
    found = Signature(model, wanted, weights, opaque) if opened(model, wanted).symbols else None
    inference = found._inference if found is not None and found.ok else infer(graph, **asked)
    return _cost(inference, near or {}, found, views, in_place)


def summary(source: Source | Model, *, depth: int | None = None, near: Mapping[str, int] | None = None, **asked: Unpack[Asked]) -> Summary:
    """Sum up a model: its modules as a tree, with shapes, parameters, work and memory."""
    from irshape.answers.summary import DEPTH, Summary

    return Summary(cost(source, near=near, **asked), DEPTH if depth is None else depth)


def _cost(
    inference: Inference, near: Mapping[str, int], found: Signature | None = None, views: bool = False, in_place: bool = False
) -> Cost:
    from irshape.answers.cost.cost import Cost
    from irshape.answers.cost.memory import Reuse
    from irshape.answers.signature.notes import name_data_sizes

    if found is None or not found.ok:
        found = (found or signature_of(inference)) if inference.ok and _is_open(inference) else None
    if found is None:
        name_data_sizes(inference, inference.symbols)
    return Cost(inference if found is None else found._inference, found, near, Reuse(views, in_place))


def _infer(model: Model, weights: Weights | None, asked: Asked, *, is_check: bool) -> Inference:
    remarks: list[Diagnostic] = []
    wanted: Inputs | None = None
    opaque = frozenset(asked.get("opaque", ()))
    is_as_read = _is_as_read(asked)
    if not is_as_read or model.document.may_state_shapes:
        model, wanted, remarks = _wanted(model, weights, opaque, asked)
    engine = Engine(model, weights, opaque)
    infer_all(engine, AS_READ if wanted is None else wanted.question(engine))
    if not is_as_read and any(diagnostic.severity == ERROR for diagnostic in engine.diagnostics):
        from irshape.inference.inputs import note_changed_ranks

        remarks += note_changed_ranks(engine)
    if not is_check:
        return conclude(engine, remarks=[*remarks, *_beyond(engine)], asked=wanted)
    from irshape.diagnosis.diagnosis import diagnose, without_distrusted

    inference = diagnose(engine, is_as_read=is_as_read, remarks=[*remarks, *_beyond(engine)], asked=wanted)
    if len(inference.diagnostics) == 1 or not any(one.code == "W201" for one in inference.diagnostics):
        return inference
    engine = Engine(model, Weights(False), opaque)
    infer_all(engine, AS_READ if wanted is None else wanted.question(engine))
    remarks += _beyond(engine)
    return without_distrusted(inference, diagnose(engine, is_as_read=is_as_read, remarks=remarks, asked=wanted))


def _beyond(engine: Engine) -> list[Diagnostic]:
    """The indices beyond an axis that a Range counts; few models have a Range."""
    if not engine.model.of_type("Range"):
        return []
    from irshape.inference.indices import beyond

    return beyond(engine)


def _is_open(inference: Inference) -> bool:
    """Whether an input or a variable has a size that is no number."""
    (model, run), *_ = inference.graphs
    shapes = (run.slots[node.first_slot].shape for node in model.of_type("Parameter", "ReadValue") if node.outputs)
    return any(isinstance(size, Dim) for shape in shapes for size in shape or ())


def _is_as_read(asked: Asked) -> bool:
    """Whether every input has its shape from the file."""
    given = (asked.get("inputs"), asked.get("symbols"))
    return all(one is None or (isinstance(one, Mapping) and not one) for one in given)


def _question(source: Source | Model, asked: Asked) -> tuple[Model, Inputs, Weights | None, frozenset[str], list[Diagnostic]]:
    """The model, the shapes of its inputs, its weights, the trusted operations, and remarks about the shapes."""
    given, weights = loaded(source, asked.get("weights"))
    opaque = frozenset(asked.get("opaque", ()))
    model, wanted, remarks = _wanted(given, weights, opaque, asked)
    return model, wanted, weights, opaque, remarks


def _wanted(model: Model, weights: Weights | None, opaque: frozenset[str], asked: Asked) -> tuple[Model, Inputs, list[Diagnostic]]:
    """The shapes of the inputs that the file records and the caller asks for, and remarks about the recorded ones.

    The model is a copy if a symbol is the size of a variable, whose shape the copy declares.
    """
    from irshape.inference.inputs import asked_inputs, recorded_inputs

    recorded, remarks = recorded_inputs(model)
    wanted = recorded.updated(asked_inputs(model, asked.get("inputs"), asked.get("symbols")))
    if not wanted.are_named:
        from irshape.answers.signature.knobs import Knobs

        model, wanted = Knobs(model, wanted, weights, opaque).set(wanted.sizes)
    return model, wanted, remarks
