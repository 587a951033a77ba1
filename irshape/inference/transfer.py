"""Memoised transfer functions and their outcomes.

A transfer function maps the facts of a node's inputs to the facts of its outputs. It is an operation with its attributes and the
outputs that are wanted, so all nodes that agree on these share one, and its memo.
"""

from __future__ import annotations

from typing import Final

from irshape.inference.facts import Fact
from irshape.ops.op import Op
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr
from irshape.shape.guard import Requirement


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Outcome:
    """The result of one application: a fact for each output, and findings and requirements without a place.

    `listed` is the number of outputs that the layer lists. An outcome `has_effects` if it holds findings or requirements, or
    another number of outputs: then the engine must do more than store the outputs.
    """

    __slots__ = ("findings", "has_effects", "outputs", "requirements")

    def __init__(
        self,
        outputs: tuple[Fact, ...],
        findings: tuple[Finding, ...] = (),
        requirements: tuple[Requirement, ...] = (),
        listed: int = 1,
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


# In place of the wanted outputs of a Const: rules read the least and the greatest element only, of all, or for each position on the last
# axis.
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

    def shares(self, facts: tuple[Fact, ...]) -> bool:
        """Whether all nodes with these input facts have the same outcome."""
        return self.memo.get(facts) is not UNSHARED
