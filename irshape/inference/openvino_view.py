"""OpenVINO's view of irshape's facts, and the verdict where the two views differ.

OpenVINO knows the bounds of a size but no formula: `6*B // (3*B)` is 2 for irshape and `0..` for OpenVINO. It follows fewer values
than irshape. So some models contradict what irshape knows and not what OpenVINO knows. OpenVINO accepts such a model; it is never
valid, but not refused. `docs/openvino-view.md` states the domain in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from irshape.inference.facts import Fact, FactTable
from irshape.inference.transfer import Outcome
from irshape.report.finding import Finding
from irshape.shape.dim import Dim, Scope
from irshape.shape.shape import Shape
from irshape.shape.value import Pieces, Real, Unreadable

# The code of an exception inside irshape.
INTERNAL: Final = "I101"


def judged(ours: Outcome, theirs: Outcome, table: FactTable, listed: int) -> Outcome:
    """The outcome of a rule on irshape's facts, with the verdict of the same rule on OpenVINO's view of these facts."""
    if ours.findings or theirs.findings:
        errors, refusals = ([finding for finding in side.findings if finding.is_error] for side in (ours, theirs))
        internal = tuple([finding for finding in (*errors, *refusals) if finding.code == INTERNAL])
        if internal:  # no verdict: the rule itself failed
            return Outcome(theirs.outputs, internal, (), listed)
        if refusals:
            if errors:
                return ours
            findings = [_reworded(finding, "S206", "OpenVINO refuses the bounds it knows") for finding in refusals]
            return Outcome(theirs.outputs, (*ours.findings, *findings), ours.requirements, listed)
        if errors:
            return Outcome(theirs.outputs, never_valid(ours.findings), (), listed)
    if len(ours.outputs) != len(theirs.outputs):
        return ours
    pairs = zip(ours.outputs, theirs.outputs, strict=True)
    return Outcome(
        tuple([table.with_openvino_view(fact, other.openvino_view) for fact, other in pairs]), ours.findings, ours.requirements, listed
    )


def never_valid(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, with each error reworded as the warning that no size is valid; an internal error stays one."""
    return tuple(
        [
            _reworded(finding, "R401", "no size fulfils this") if finding.is_error and finding.code != INTERNAL else finding
            for finding in findings
        ]
    )


def _reworded(finding: Finding, code: str, prefix: str) -> Finding:
    return Finding(code, f"{prefix}: {finding.message}", finding.port, finding.attribute, finding.hint)


def intervals(fact: Fact, table: FactTable, scope: Scope, tensor: int | None = None) -> Fact:
    """OpenVINO's fact of a tensor: sizes and elements are intervals, each independent of all others.

    Without a number of the tensor, all tensors of which OpenVINO knows the same share the fact, as an `IntervalScope` allows.
    """
    known = fact.openvino_view
    elements = known.elements
    if type(elements) is Pieces:
        elements = Pieces(_intervals(elements, (tensor, "element"), scope) or ())
    elif type(elements) is not Unreadable:
        elements = _intervals(elements, (tensor, "element"), scope)
    shape = interval_shape(known.shape, scope, tensor)
    return table.intern(known.element_type, shape, elements, known.is_poisoned, None, known.is_literal, known.ends)


def interval_shape(shape: Shape, scope: Scope, tensor: int | None = None) -> Shape:
    """The shape of a tensor with sizes that are intervals."""
    return _intervals(shape, (tensor, "size"), scope)


def _intervals(several: tuple[Any, ...] | None, key: tuple[int | None, str], scope: Scope) -> tuple[Any, ...] | None:
    """Sizes or elements reduced to their bounds; the key and the place tell them from all others."""
    if not several:
        return several
    reduced: list[Any] = []
    for index, one in enumerate(several):
        if isinstance(one, Dim):
            reduced.append(scope.interval((key, index), one))
        else:
            reduced.append(Real(one.low, one.high) if isinstance(one, Real) else one)
    return tuple(reduced)
