"""Memoised transfer functions and their outcomes.

A transfer function maps the facts of a node's inputs to the facts of its outputs. It is an operation with its attributes and the
outputs that are wanted, so all nodes that agree on these share one, and its memo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from irshape.inference.facts import Fact, FactTable
from irshape.ops.op import Op
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Dim, Scope
from irshape.shape.guard import Requirement
from irshape.shape.shape import Shape
from irshape.shape.value import Pieces, Real, Unreadable


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Outcome:
    """The result of one application: a fact for each output, and findings and requirements without a place.

    `listed` is the number of outputs that the layer lists. An outcome `has_effects` if it holds findings or requirements, or
    another number of outputs: then the engine must do more than store the outputs.
    """

    __slots__ = ("findings", "has_effects", "outputs", "requirements")

    def __init__(
        self, outputs: tuple[Fact, ...], findings: tuple[Finding, ...] = (), requirements: tuple[Requirement, ...] = (), listed: int = 1
    ) -> None:
        self.outputs = outputs
        self.findings = findings
        self.requirements = requirements
        self.has_effects = bool(findings or requirements) or len(outputs) != listed


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class _Unshared(Outcome):
    """The outcome that is `UNSHARED`, also after a pickle."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "UNSHARED"


# The memo's entry for facts whose outcome holds symbols born in one node, so that each node has an outcome of its own; and for facts
# whose outcome may differ in another scope.
UNSHARED: Final = _Unshared(())


# In place of the wanted outputs of a Const: rules read the least and the greatest element only, of all, or for each place on the last axis.
ENDS: Final = frozenset((-1,))
TUPLE_ENDS: Final = frozenset((-2,))


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Transfer:
    """One transfer function.

    `listed` is the number of outputs that the layers list, `wanted` the positions of the outputs whose elements some rule reads,
    `offset` the place of the bytes of a Const that is read. A transfer function `is_pure` if its op, attributes and input facts
    determine the outcome; not pure are Parameters, operations with bodies, and constants that are read.

    `memo` holds the outcomes by the facts of the inputs, and the unshared ones by the scope, the node and these facts. Facts without sizes
    are the same in OpenVINO's domain, where outcomes have other symbols, so `twin` remembers the outcomes there.
    """

    __slots__ = ("_twin", "is_pure", "listed", "memo", "offset", "op", "wanted")

    def __init__(self, op: Op, listed: int, wanted: frozenset[int], *, is_pure: bool = True, offset: int | None = None) -> None:
        self.op = op
        self.listed = listed
        self.wanted = wanted
        self.is_pure = is_pure
        self.offset = offset
        self.memo: dict[tuple[object, ...], Outcome] = {}
        self._twin: Transfer | None = None

    def twin(self) -> Transfer:
        """The same transfer function in OpenVINO's domain."""
        if self._twin is None:
            self._twin = Transfer(self.op, self.listed, self.wanted, is_pure=self.is_pure, offset=self.offset)
        return self._twin


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
    outputs = tuple([table.with_openvino_view(fact, other.openvino_view) for fact, other in pairs])
    return Outcome(outputs, ours.findings, ours.requirements, listed)


def never_valid(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, with each error reworded as the warning that no size is valid; an internal error stays one."""
    reworded = []
    for finding in findings:
        is_own = finding.is_error and finding.code != INTERNAL
        reworded.append(_reworded(finding, "R401", "this never holds") if is_own else finding)
    return tuple(reworded)


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
