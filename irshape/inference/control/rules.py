"""Which operation with bodies has which rule."""

from __future__ import annotations

from typing import Final

from irshape.inference.control.repetition import LoopRule, TensorIteratorRule
from irshape.inference.control.rule import Control, Outputs, bare
from irshape.inference.facts import Fact
from irshape.model.bodies import Body
from irshape.model.model import Node
from irshape.ops.infrastructure import If, Loop, TensorIterator
from irshape.ops.op import OpClass
from irshape.shape.dim import Size, are_known
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape


class IfRule(Control):
    """The rule of If."""

    __slots__ = ()

    def outputs(self) -> Outputs:
        cond = self.facts[0]
        condition, known = self.condition(cond, "cond"), self.condition(cond.openvino_view, "cond")
        taken = [body for body, is_taken in zip(self.bodies, (True, False), strict=True) if known in (None, is_taken)]
        self.check_inputs(taken)
        runs = []
        for body in taken:
            given = {entry.parameter: self.plain(self.facts[entry.external]) for entry in body.inputs}
            run = yield from self.ask(body, given)
            is_chosen = cond.elements is None or condition is (body is self.bodies[0])
            if not is_chosen:
                # Sizes choose the branch, so its requirements hold only for the sizes that choose it.
                self.run.inner[self.node.index, body.name] = bare(run, keeps_diagnostics=True)
            if condition is None:
                self.need_not_run(body)
            runs.append([self.plain(run.value(output.result)) for output in body.outputs])
        if known is not None:
            [outputs] = runs
            # OpenVINO gives the layer as many outputs as the then_body has, whichever is taken.
            return tuple(outputs + [self.intern(ElementType.dynamic, None)] * (len(self.bodies[0].outputs) - len(outputs)))
        then, other = runs
        for body in self.bodies:
            self._check_outputs(body, max(self.listed, len(then)))
        if self.faults:
            return ()
        either = [self._either(index, *facts) for index, facts in enumerate(zip(then, other, strict=False))]
        if condition is None:
            return tuple(either)
        return tuple([self.seen_as(fact, one.openvino_view) for fact, one in zip(then if condition else other, either, strict=False)])

    def _check_outputs(self, body: Body, count: int) -> None:
        """Every output of the layer needs a Result of either body, and no Result may be two."""
        if len(body.outputs) < count:
            self.fault(f"no Result of the {body.name} is mapped to output {len(body.outputs)}", self.node.layer.offset)
        taken: set[Node] = set()
        for output in body.outputs:
            if output.result in taken:
                self.fault(f"Result {output.result.id} of the {body.name} is mapped to two outputs", output.offset)
            taken.add(output.result)

    def _either(self, index: int, then: Fact, other: Fact) -> Fact:
        """The fact of an output that comes from one of two branches."""
        element_type = then.element_type
        if element_type is ElementType.dynamic:
            element_type = other.element_type
        elif other.element_type not in (element_type, ElementType.dynamic):
            self.error("T102", f"output {index} has element type {then.element_type} in then_body, {other.element_type} in else_body")
        is_poisoned = then.is_poisoned or other.is_poisoned
        fact = self.intern(element_type, self._either_shape((index, "size"), then.shape, other.shape), is_poisoned=is_poisoned)
        shape = self._either_shape((index, "bounds"), then.openvino_view.shape, other.openvino_view.shape, openvino_knows_same=True)
        return self.seen_as(fact, self.intern(element_type, shape, is_poisoned=is_poisoned))

    def _either_shape(self, key: tuple[int, str], a: Shape, b: Shape, *, openvino_knows_same: bool = False) -> Shape:
        """A shape that is one of two. OpenVINO knows a size only if both branches give a number, and then knows both numbers."""
        if a is None or b is None:
            return None
        if len(a) != len(b):
            if len(a) > 1 or len(b) > 1:
                return None
            # A scalar and a list: OpenVINO makes a list of both.
            sizes: list[tuple[Size, ...]] = [(*(a or (1,)), *(b or (1,)))]
            is_known = not openvino_knows_same
        else:
            sizes, is_known = list(zip(a, b, strict=True)), True
        found = []
        for axis, both in enumerate(sizes):
            is_hull = is_known and (not openvino_knows_same or are_known(both))
            own = (self.key, "if", *key, axis)
            found.append(self.scope.hull(own, *both) if is_hull else self.scope.unknown(own, 0))
        return tuple(found)


RULES: Final[dict[OpClass, type[Control]]] = {If: IfRule, Loop: LoopRule, TensorIterator: TensorIteratorRule}
"""The rules of the operations with bodies."""
