"""The judgement on the facts of a pass: where the file departs from them, which fault is the cause of others, and what mends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from irshape.diagnosis.recorded import MOST_LOOSE, compare_recorded, without_surplus
from irshape.inference.engine import Engine
from irshape.inference.inference import Inference, gathered
from irshape.inference.stored import check_stored, distrusted
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic, Diagnostics
from irshape.xml.document import Document

if TYPE_CHECKING:
    from irshape.inference.inputs import Inputs
    from irshape.report.baseline import Baseline
    from irshape.report.selection import Selection


def diagnose(engine: Engine, *, is_as_read: bool = True, remarks: Iterable[Diagnostic] = (), asked: Inputs | None = None) -> Inference:
    """The inference of an engine that has run, with the faults of the file that its facts show.

    `is_as_read` means that every input has its shape from the file, so that fixes may write inferred facts into the file. `remarks` are
    further diagnostics, and `asked` are the inputs that the engine was given.
    """
    document = engine.model.document
    found, steps = gathered(engine, remarks)
    if document.is_complete:
        found = _judged(engine, found, is_as_read=is_as_read)
    inference = Inference(engine, found, asked)
    inference.steps = steps
    return inference


def _judged(engine: Engine, found: Diagnostics, *, is_as_read: bool) -> Diagnostics:
    """The diagnostics of a file, with those that its records and its weights show."""
    document = engine.model.document
    if not document.is_example and any(one.code == "W203" for one in found):  # OpenVINO refuses the file
        found = found.judged(lambda code, severity: ERROR if code == "W203" else severity)
    if not any(one.code[0] == "W" or one.code == "R303" for one in found):  # those faults explain the others
        found += check_stored(document, engine.weights)
    stale: dict[Diagnostic, list[int]] = {}
    loose: list[Diagnostic] = []
    for graph in engine.graphs():
        own, less_exact = compare_recorded(graph, is_as_read=is_as_read)
        stale, loose = stale | own, loose + less_exact
    if found or len(stale) > len(loose) or not is_as_read:
        stale, loose = {one: behind for one, behind in stale.items() if one not in loose}, []
    found += without_surplus(stale, found)
    if found:
        from irshape.diagnosis.fixes import add_fixes
        from irshape.diagnosis.linking import find_causes

        causes = find_causes(engine, found) if is_as_read and not document.is_example else (set(), set(), {})
        # Many records that are less exact are the writer's, unless a few changes explain all of them.
        if len(leaders := {one.caused_by or one for one in loose}) > MOST_LOOSE or not leaders.issubset(causes[1]):
            return found.replaced()
        engine.scope.work.renew()
        add_fixes(engine, found, stale, *causes, is_as_read=is_as_read)
    return found


def without_distrusted(inference: Inference, without_values: Inference) -> Inference:
    """The inference of the same model without the values of its constants, if faults of the first one follow from them; else the first."""
    found = distrusted(inference.found, without_values.found)
    if found is None:
        return inference
    if found[0].severity != ERROR and _reads_nothing_rightly(inference):
        found[0] = found[0]._with_severity(ERROR)
    without_values.keep(without_values.found.replaced(found))
    return without_values


def _reads_nothing_rightly(inference: Inference) -> bool:
    """Whether every layer that reads elements of constants has a fault: no constant is what the file records."""
    faulty = {(one.where.path, one.where.layer_id) for one in inference.found}
    readers = {(model.path, str(node.id)) for model, _ in inference.graphs for node in model.nodes if any(_reads_elements(node))}
    return bool(readers) and faulty.issuperset(readers)


def _reads_elements(node: Node) -> Iterator[bool]:
    """For each input of a node, whether it reads the elements of a constant there."""
    for index, slot in enumerate(node.sources):
        source, port = node.model.producer(slot), None if node.op is None else node.op.input_at(index, len(node.sources))
        yield source is not None and source.type == "Const" and port is not None and port.value


def choose(inference: Inference, selection: Selection) -> None:
    """Keep the chosen diagnostics, each with its set severity; irshape's faults (I) and the errors of an incomplete file stay."""
    leave_out = partial(_selected, inference.document, selection)
    inference.keep(leave_out(inference.found), leave_out)


def _selected(document: Document, selection: Selection, found: Diagnostics) -> Diagnostics:
    def judge(code: str, severity: str) -> str | None:
        is_needed = code.startswith("I") or (severity == ERROR and not document.is_complete)
        return severity if is_needed else selection.severity(code, severity)

    return found.judged(judge)


def suppress(inference: Inference, *, is_as_read: bool, has_targets: bool) -> None:
    """Leave out the diagnostics that the file's own `<rt_info>` asks to ignore, and report the entries that ignore nothing.

    `is_as_read` means that every input has its shape from the file, `has_targets` that demands of a target were checked. Other
    inputs or targets have other faults, so an entry may be needed for them.
    """
    from irshape.diagnosis.suppression import suppressed, unsuppressed

    found = suppressed(inference.document, inference.found, is_as_read=is_as_read, has_targets=has_targets)
    inference.keep(found, partial(unsuppressed, inference.document))


def accept(inference: Inference, baseline: Baseline, path: str) -> dict[str, int]:
    """Leave out the faults that a baseline accepts, and count them by fingerprint."""
    new, accepted = baseline.parted(path, inference.diagnostics)
    if accepted:
        inference.keep(inference.found.replaced(new))
    return accepted
