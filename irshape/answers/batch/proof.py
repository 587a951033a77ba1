"""The proof that a model keeps a batch: for every size N of it, the outputs are those of single samples, stacked in their order.

Each layer keeps the batch if no axis that holds N is mixed. A value that is computed from N counts as mixing where it meets data: the walk
follows it from the ShapeOf that reads N.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple, cast

from irshape.answers.batch.traces import Layer, Tensor, Traces, plain
from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.run import Run
from irshape.inference.variables import pairs
from irshape.model.bodies import Body, Slice
from irshape.model.model import Model, Node
from irshape.ops.flow import Held, holds, is_symbol, key
from irshape.ops.infrastructure import Constant
from irshape.ops.op import Op
from irshape.shape.dim import product
from irshape.xml.lexical import BODIES

# Constants with more elements take no part in the arithmetic of sizes.
_MOST_ELEMENTS: Final = 1024
# So often the tensors that an iteration hands to the next one may become tainted.
_MOST_PASSES: Final = 3
_FREE: Final = Held(None)


class Doubt(NamedTuple):
    """A layer for which the batch is not kept, or is not proved to be; `why` begins with what the layer does, or says what is not known.

    `folded` is the Reshape that has put the batch into one axis with other elements, which the layer mixes.
    """

    node: Node
    why: str
    is_mixed: bool
    folded: Node | None = None


class Proof(NamedTuple):
    """What is proved of a batch: the doubts in the order of the graph, and the axis of the batch in each output, None if it has none."""

    doubts: list[Doubt]
    outputs: dict[Node, int | None]


def sizes_of(model: Model) -> Collection[int]:
    """The tensors that are computed from sizes and small constants alone."""
    known: dict[int, None] = {}
    constants = set()
    for index in model.order:
        node = model.nodes[index]
        op = node.op
        if op is None or op.propagate is None:
            if isinstance(op, Constant) and not op.is_broken and _is_small(op):
                constants.add(node.first_slot)
        elif op.TYPE == "ShapeOf" or (node.sources and all(slot in known or slot in constants for slot in node.sources)):
            known.update(dict.fromkeys(range(node.first_slot, node.first_slot + node.layer.signature.output_count)))
    return known.keys()


class FollowingEngine(Engine):
    """An engine that follows all arithmetic of sizes, whether a rule reads the results or not."""

    followed = staticmethod(sizes_of)


def _is_small(op: Constant) -> bool:
    return all(isinstance(size, int) for size in op.shape) and cast("int", product(op.shape)) <= _MOST_ELEMENTS


def prove(engine: Engine, batch: str) -> Proof:
    """Whether the model keeps the batch, whose symbol is the size of the batch axes of the inputs in the last pass of an engine."""
    doubts: list[Doubt] = []
    walk = _Walk(engine, engine.current, batch, doubts)
    walk.over({})
    outputs = dict(walk.results())
    return Proof(doubts, outputs)


class _Walk:
    """The walk over one graph: the net, or a body. `lost` are the tensors behind a layer in doubt: nothing more is said of them."""

    def __init__(self, engine: Engine, run: Run, batch: str, doubts: list[Doubt]) -> None:
        self.engine = engine
        self.run = run
        self.batch = batch
        self.doubts = doubts
        self.traces = Traces(batch)
        self.lost: set[int] = set()
        self.folds: dict[int, Node] = {}

    def over(self, entered: Mapping[Node, Held]) -> None:
        """Visit every layer; `entered` are the tensors that enter a body by its Parameters."""
        for node in self.engine.schedule.nodes:
            outputs = self._slots(node)
            if node in entered:
                self.traces.held[node.first_slot] = entered[node]
            elif any(slot in self.lost for slot in node.sources) or (node.is_live and node.sources and not self._visited(node)):
                self.lost.update(outputs)
        for pair in pairs(self.engine.model):
            if pair.read_value is not None:
                self._compare(pair.read_value, pair.assign)

    def held(self, slot: int) -> Held:
        """What is known of a tensor; a tensor that does not depend on the batch has no trace that holds it."""
        return self.traces.of(slot, self.run.slots[slot])

    def doubt(self, node: Node, why: str, *, is_mixed: bool = True) -> bool:
        """Say why a layer is in doubt. False, for the layer does not keep the batch."""
        one = Doubt(node, why, is_mixed, next((self.folds[slot] for slot in node.sources if slot in self.folds), None))
        if one not in self.doubts:
            self.doubts.append(one)
        return False

    def results(self) -> Iterator[tuple[Node, int | None]]:
        """The axis of the batch in each output that is not lost."""
        for node in self.engine.model.results:
            slot = node.sources[0] if node.sources else -1
            if slot < 0 or slot in self.lost or not node.is_live:
                continue
            held = self.held(slot)
            if held.taint:
                self.doubt(node, f"gives a value that is computed from the size of the batch {self.batch}, which {held.taint} reads")
                continue
            axis = self.axis(held)
            factors = () if axis is None or held.trace is None else held.trace[axis]
            if factors and not is_symbol(tuple([one for one in factors if one.size != 1]), self.batch):
                sizes = ", ".join([str(one.size) for one in factors])
                self.doubt(node, f"gives the batch {self.batch} no axis of its own: axis {axis} is ({sizes})")
                continue
            yield node, axis

    def axis(self, held: Held) -> int | None:
        """The axis of a tensor that holds the batch."""
        return next((axis for axis, factors in enumerate(held.trace or ()) if holds(factors, self.batch)), None)

    def _slots(self, node: Node) -> range:
        return range(node.first_slot, node.first_slot + node.layer.signature.output_count)

    def _visited(self, node: Node) -> bool:
        """Whether a layer keeps the batch."""
        type = node.op.TYPE if node.op is not None else ""
        if type in BODIES and node.index in self.engine.maps:
            return _Control(self, node).visited()
        if type in ("ReadValue", "Assign"):
            self.traces.held[node.first_slot] = self.held(node.sources[0])._replace(law=None)  # another inference has other elements
            return True
        tensors = [Tensor(slot, self.run.slots[slot]) for slot in node.sources]
        outputs = [Tensor(slot, self.run.slots[slot]) for slot in self._slots(node)]
        report = self.run.reports.get(self.engine.schedule.positions[node.index])
        codes = [one.code for one in (report and report.diagnostics) or ()]
        found = self.traces.visit(Layer(node.op, f"{node.type} {node.name!r}", tensors, outputs, codes))
        if found.mixed:
            return self.doubt(node, found.mixed)
        fold = next((self.folds[slot] for slot in node.sources if slot in self.folds), node if type == "Reshape" else None)
        for slot in self._slots(node) if fold is not None else ():
            axis = self.axis(held := self.held(slot))
            if fold is not None and axis is not None and held.trace is not None and len(held.trace[axis]) > 1:
                self.folds[slot] = fold
        return self.doubt(node, found.unproven, is_mixed=False) if found.unproven else True

    def _compare(self, read_value: Node, assign: Node) -> None:
        """Compare the batch of a variable before and after an inference."""
        slots = read_value.first_slot, assign.sources[0] if assign.sources else -1
        if -1 in slots or any(slot in self.lost for slot in slots):
            return
        before, after = map(self.held, slots)
        if after.taint:
            self.doubt(assign, f"keeps a value that is computed from the size of the batch {self.batch}, which {after.taint} reads")
        elif not self.agree(before, after):
            self.doubt(assign, f"keeps the batch {self.batch} in another place than {read_value.type} {read_value.name!r} reads it from")

    def agree(self, one: Held, other: Held) -> bool:
        """Whether two tensors hold the batch in one place, or do not hold it."""
        return self._place(one) == self._place(other)

    def _place(self, held: Held) -> object:
        axis = self.axis(held)
        if axis is None or held.trace is None:
            return None
        factors = held.trace[axis]
        at = next(place for place, one in enumerate(factors) if holds((one,), self.batch))
        return axis, key(product([one.size for one in factors[:at]])), key(product([one.size for one in factors[at:]]))


class _Control:
    """The visit of a layer with bodies."""

    def __init__(self, walk: _Walk, node: Node) -> None:
        self.walk = walk
        self.node = node
        self.bodies = walk.engine.maps[node.index]
        self.inputs = [walk.held(slot)._replace(law=None) for slot in node.sources]  # another iteration has other elements
        self.found: list[list[Held | None]] = [[] for _ in range(node.layer.signature.output_count)]

    def visited(self) -> bool:
        """Whether the layer keeps the batch: what decides on its bodies is the same for all samples, and the bodies keep it."""
        node, walk = self.node, self.walk
        type = cast("Op", node.op).TYPE
        for position in {"If": (0,), "Loop": (0, 1)}.get(type, ()):
            one = self.inputs[position]
            if walk.axis(one) is not None or one.taint:
                return walk.doubt(node, f"reads how its bodies run from a tensor that depends on the batch {walk.batch}")
        if not self.bodies:
            return walk.doubt(node, "its bodies are not known", is_mixed=False)
        if not all(self._entered(body) for body in self._running(type)):
            return False
        for slot, several in zip(walk._slots(node), self.found, strict=True):
            first = several[0] if several else None
            if first is None or any(one is None or not walk.agree(one, first) for one in several):
                return walk.doubt(node, f"its bodies give the batch {walk.batch} in different places", is_mixed=False)
            walk.traces.held[slot] = max((one for one in several if one is not None), key=lambda one: one.taint)._replace(law=None)
        return True

    def _running(self, type: str) -> list[Body]:
        """The bodies that may run."""
        elements = self.walk.run.slots[self.node.sources[0]].elements if type == "If" else None
        if elements is not None and len(elements) == 1 and isinstance(elements[0], int):
            return [self.bodies[0 if elements[0] else 1]]
        return self.bodies

    def _entered(self, body: Body) -> bool:
        """Whether a body keeps the batch; the tensors that leave it are found."""
        walk, node = self.walk, self.node
        run = walk.run.inner.get((node.index, body.name))
        engine = walk.engine.bodies.get((node.index, body.name))
        if run is None or engine is None:
            return walk.doubt(node, "its bodies are not known", is_mixed=False)
        entered: dict[Node, Held] = {}
        for entry in body.inputs:
            held: Held | None = self.inputs[entry.external]
            if entry.slice is not None:
                held = self._part(self.inputs[entry.external], entry.slice, run.slots[entry.parameter.first_slot])
            if held is None:
                return walk.doubt(node, f"takes the samples of {walk.batch} one by one: its body iterates over the axis that holds them")
            entered[entry.parameter] = held
        inner = _Walk(engine, run, walk.batch, [])
        for _ in range(_MOST_PASSES):
            inner = _Walk(engine, run, walk.batch, [])
            inner.over(entered)
            if not self._handed_on(body, inner, entered):
                break
        for doubt in inner.doubts:
            walk.doubts += [doubt] if doubt not in walk.doubts else []
        if inner.doubts:
            return False
        return self._left(body, inner, entered)

    def _handed_on(self, body: Body, inner: _Walk, entered: dict[Node, Held]) -> bool:
        """Whether an iteration hands a taint to the next one, which then has it, too."""
        is_changed = False
        for entry in body.inputs:
            if entry.back is not None and entry.back.sources and entry.back.sources[0] not in inner.lost:
                taint = inner.held(entry.back.sources[0]).taint
                if taint and not entered[entry.parameter].taint:
                    entered[entry.parameter] = entered[entry.parameter]._replace(taint=taint)
                    is_changed = True
        return is_changed

    def _left(self, body: Body, inner: _Walk, entered: Mapping[Node, Held]) -> bool:
        """Whether what an iteration hands to the next one holds the batch in one place, and what leaves the body can be told."""
        walk, node = self.walk, self.node
        for entry in body.inputs:
            if entry.back is not None and not inner.agree(entered[entry.parameter], inner.held(entry.back.sources[0])):
                return walk.doubt(node, f"hands on the batch {walk.batch} in another place than it enters its body", is_mixed=False)
        if body.condition is not None and body.condition.sources:
            condition = inner.held(body.condition.sources[0])
            if condition.taint or inner.axis(condition) is not None:
                return walk.doubt(node, f"ends when a tensor that depends on the batch {walk.batch} says so")
        slots = walk._slots(node)
        for position, output in enumerate(body.outputs[: len(slots)]):
            held: Held | None = inner.held(output.result.sources[0])
            if output.slice is not None and held is not None:
                held = self._part(held, output.slice, walk.run.slots[slots[position]])
                if held is None:
                    return walk.doubt(node, f"concatenates what its iterations give along the axis that holds the batch {walk.batch}")
            self.found[position].append(held)
        return True

    def _part(self, held: Held, slice: Slice, fact: Fact) -> Held | None:
        """A tensor with another size of the axis that is sliced; None if this axis holds the batch."""
        own = plain(fact.shape)
        if held.trace is None or own is None or len(own) != len(held.trace):
            return Held(own, held.taint) if self.walk.axis(held) is None else None
        axis = slice.axis % len(own)
        if self.walk.axis(held) == axis:
            return None
        return Held((*held.trace[:axis], own[axis], *held.trace[axis + 1 :]), held.taint)
