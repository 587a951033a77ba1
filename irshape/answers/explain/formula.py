"""The formula by which one layer computed a number, recorded by running the layer's own rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache
from math import inf
from typing import Any, Final, NamedTuple

from irshape.answers.explain.traced import Leaf, Term, Traced, TracedOperation, leaves, like, plain, term, term_of, traced, value
from irshape.inference.apply import Application, Rules
from irshape.inference.facts import POISONED, Fact, FactTable
from irshape.inference.transfer import Transfer
from irshape.model.model import Node
from irshape.ops.context import element_count
from irshape.ops.op import In, Input, Op
from irshape.shape.dim import Dim, Scope, Size, eq
from irshape.shape.element_type import ElementType
from irshape.shape.limits import Exhausted
from irshape.shape.range import Bound
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Ends, Real, Unreadable, strides


class Origin(NamedTuple):
    """Where a rule reads a number.

    `kind` is "axis" or "element" of the input number `port`, "attribute" (then `port` is its name in the XML), or "unknown" for a size that
    the rule itself left unknown. `position` is the axis, or the position among the elements or in the attribute's list.
    """

    kind: str
    port: int | str
    position: int


class _Plain(FactTable):
    """A table that does not share facts, because equal numbers may have different terms."""

    def intern(
        self,
        element_type: ElementType,
        shape: Shape,
        elements: Elements | None = None,
        is_poisoned: bool = False,
        openvino_view: Fact | None = None,
        is_literal: bool = False,
        ends: Ends | None = None,
    ) -> Fact:
        return Fact(element_type, shape, elements, is_poisoned, None, is_literal, ends)

    def with_openvino_view(self, fact: Fact, openvino_view: Fact) -> Fact:
        return fact


class RuleApplication(Application):
    """One application of a node's rule to facts of its inputs, without OpenVINO's view."""

    def __init__(self, scope: Scope, node: Node, op: Op, facts: Sequence[Fact], known: Sequence[Fact]) -> None:
        """`facts` are the inputs that the rule is given, `known` the facts that the pass found of the outputs."""
        wanted = frozenset(index for index, fact in enumerate(known) if fact.elements is not None)
        transfer = Transfer(op, node.layer.signature.output_count, wanted)
        rules = Rules(_Plain(), scope, states_types=not node.model.document.is_example)
        super().__init__(rules, node, transfer, tuple(facts))
        self.kept = len(known) if len(known) > 1 else 0
        self.openvino_knows_same = False

    def outputs(self) -> tuple[Fact, ...]:
        """The result of the rule; unknown outputs if it takes more work than is left."""
        work = self.scope.work
        work.is_bounded = True
        try:
            work.take(5 * sum([len(fact.shape or ()) + len(fact.elements or ()) for fact in self.facts]))
            return self._outputs()
        except Exhausted:
            return (POISONED,) * max(self.listed, 1)
        finally:
            work.is_bounded = False


class TracedRule(RuleApplication):
    """An application whose numbers remember where they were read and how they were computed.

    `results` are its outputs. `formulas` are those of the numbers that were asked for, by output and position; `passed` and `twins` are
    found together, for all axes of an output and of all outputs.
    """

    def __init__(self, scope: Scope, node: Node, op: Op, facts: Sequence[Fact], known: Sequence[Fact]) -> None:
        super().__init__(scope, node, op, facts, known)
        self.results: tuple[Fact, ...] = ()
        self.formulas: dict[tuple[int, int], NumberFormula] = {}
        self.passed: dict[int, Sequence[Origin | None]] = {}
        self.twins: dict[tuple[int, int], list[Origin]] | None = None

    def quotient(self, a: Size, divisor: Size) -> Size:
        quotient: Size = super().quotient(a, divisor)
        own = term_of(quotient)
        if isinstance(own, TracedOperation) and own.sign == "//":
            quotient = traced(quotient, TracedOperation("/", own.a, own.b))
        return quotient

    def unknown(self, low: Bound = 0, high: Bound = inf) -> Size:
        size: Any = super().unknown(plain(low), plain(high))
        if not isinstance(size, Dim):
            return traced(size, term_of(low))  # type: ignore[no-any-return]
        return traced(size, Leaf(str(size), size, Origin("unknown", 0, 0)))  # type: ignore[no-any-return]

    def _unknown_elements(self, port: Input, count: int) -> Elements:
        elements = super()._unknown_elements(port, count)
        is_whole = count == element_count(port.partial_shape)
        return _named(elements, _elements(elements, port.name, port.index, port.partial_shape if is_whole else None))

    def integers(self, port: Input, elements: Elements) -> Elements:
        pairs = zip(super().integers(port, elements), elements, strict=True)
        return tuple([traced(whole, term("trunc", term_of(one), 0) if whole != one else term_of(one)) for whole, one in pairs])

    def floats(self, port: Input, count: int) -> tuple[float | None, ...]:
        return like(super().floats(port, count), (port.elements or (None,) * count)[:count])

    def held(self, elements: Elements, element_type: ElementType) -> Elements | None:
        held = super().held(elements, element_type)
        return None if held is None else like(held, elements)

    def broadcast(self, a: Size, b: Size, message: str, **more: Any) -> Size:
        size: Size = _either(super().broadcast(a, b, message, **more), a, b)
        return size

    def merge(self, a: Size, b: Size, message: str, **more: Any) -> Size:
        size: Size = _either(super().merge(a, b, message, **more), a, b)
        return size

    def without_common(self, a: Sequence[Size], b: Sequence[Size]) -> tuple[list[Size], list[Size]]:
        """Equal sizes are left out only at the start or the end of both shapes; elsewhere their equality may be a coincidence."""
        left, right = ({origin.position: one for one in sizes if (origin := origin_of(one))} for sizes in (a, b))
        if len(left) != len(a) or len(right) != len(b):
            return super().without_common(a, b)
        data, pattern = self.facts
        ends = len(data.shape or ()) - 1, len(pattern.elements or a) - 1
        for i, j, step in ((0, 0, 1), (*ends, -1)):
            while 0 <= i <= ends[0] and 0 <= j <= ends[1]:
                is_copied = i == j and i not in left and j not in right
                if not is_copied and not (i in left and j in right and eq(left[i], right[j])):
                    break
                left.pop(i, None)
                right.pop(j, None)
                i, j = i + step, j + step
        known = [one for one in right.values() if not isinstance(one, Dim)]
        dims, rest = super().without_common(list(left.values()), [one for one in right.values() if isinstance(one, Dim)])
        return dims, [*known, *rest]

    def scaled(self, size: Size, scale: float) -> Size:
        result = super().scaled(plain(size), plain(scale))
        factor = term_of(scale)
        if isinstance(result, int) and result != math.floor(plain(size) * plain(scale)):
            factor = TracedOperation("+", factor, 1e-6)  # OpenVINO adds this to each scale
        whole: Size = traced(result, TracedOperation("floor", TracedOperation("*", term_of(size), factor), 0))
        return size if plain(scale) == 1 else whole


def _either(result: Any, a: Any, b: Any) -> Any:
    """The result, or the one of two equal numbers that has a term."""
    if isinstance(result, Traced):
        return result
    return next((one for one in (a, b) if isinstance(one, Traced) and is_same(plain(one), result)), result)


def origin_of(number: Any) -> Origin | None:
    """The origin of a number that was read and not computed; None for a computed number."""
    leaf = term_of(number)
    return leaf.source if isinstance(leaf, Leaf) else None


def _named(numbers: Sequence[Any], leaves: Sequence[Leaf]) -> tuple[Any, ...]:
    """Numbers that remember where they were read."""
    return tuple([traced(number, leaf) for number, leaf in zip(numbers, leaves, strict=True)])


def _elements(numbers: Sequence[Any], name: str, port: int, shape: Sequence[Any] | None) -> list[Leaf]:
    """The leaves of elements, named `name[2]`, in a tensor of two axes `name[1,2]`, and in a scalar `name`."""
    sizes = [1] if shape is None else list(map(plain, shape))
    steps = strides(sizes)

    def called(index: int) -> str:
        if len(sizes) == 1:
            return f"{name}[{index}]"
        places = ",".join([str(index // step % size) for step, size in zip(steps, sizes, strict=True)])
        return f"{name}[{places}]" if places else name

    return [Leaf(called(index), plain(number), Origin("element", port, index)) for index, number in enumerate(numbers)]


def is_known(fact: Fact) -> bool:
    """Whether the elements of a tensor are known."""
    return fact.elements is not None and type(fact.elements) is not Unreadable


def is_same(a: Any, b: Any) -> bool:
    """Whether two numbers are equal; of unknown sizes, whether their formulas are."""
    if isinstance(a, Dim) or isinstance(b, Dim):
        return isinstance(a, Dim) and isinstance(b, Dim) and a.polynomial is b.polynomial
    return bool(a == b)


def _are_read(op: Op, port: In | None, fact: Fact, is_of_elements: bool) -> bool:
    """Whether the elements of an input are known and the rule reads them."""
    if port is None or not is_known(fact):
        return False
    return port.value or (is_of_elements and port.index in op.demanded)


def named_fact(op: Op, position: int, count: int, fact: Fact, is_of_elements: bool) -> Fact:
    """The fact of an input, of `count`, whose numbers remember where they were read."""
    port = op.input_at(position, count)
    name, shape, elements = str(position) if port is None else port.label(position), fact.shape, fact.elements
    if elements is not None and _are_read(op, port, fact, is_of_elements):
        elements = _named(elements, _elements(elements, name, position, shape))
        name = f"{name}.shape"
    if shape is not None:
        shape = _named(shape, _axes(shape, name, position))
    return Fact(fact.element_type, shape, elements, fact.is_poisoned, None, fact.is_literal)


def _axes(shape: Sequence[Any], name: str, port: int) -> list[Leaf]:
    return [Leaf(f"{name}[{axis}]", size, Origin("axis", port, axis)) for axis, size in enumerate(shape)]


def leaves_of(op: Op, position: int, count: int, fact: Fact, is_of_elements: bool) -> list[Leaf]:
    """The numbers of an input, of `count`, that a rule may read: its elements if they are known, else its sizes."""
    port = op.input_at(position, count)
    name = str(position) if port is None else port.label(position)
    if fact.elements is not None and _are_read(op, port, fact, is_of_elements):
        return _elements(fact.elements, name, position, fact.shape)
    return _axes(fact.shape or (), name, position)


def named_op(op: Op) -> Op:
    """The op with traced attributes. Only attributes that the file states are traced, as a rule may ask which are stated."""
    named = copy(op)
    for name, found in vars(op).items():
        attribute = op.attributes.get(name)
        if attribute is None:
            continue
        spelling = attribute.spelling
        if isinstance(found, tuple):
            setattr(named, name, tuple([_named_item(spelling, i, item) for i, item in enumerate(found)]))
        elif isinstance(found, int | float) and not isinstance(found, bool):
            setattr(named, name, traced(found, Leaf(spelling, found, Origin("attribute", spelling, 0))))
    return named


def _named_item(spelling: str, index: int, item: Any) -> Any:
    """An item of a list; an interval of one number is traced at both ends."""
    origin = Origin("attribute", spelling, index)
    if isinstance(item, tuple) and len(item) == 2 and item[0] == item[1]:
        end = traced(item[0], Leaf(f"{spelling}[{index}]", item[0], origin))
        return (end, end)
    return item if isinstance(item, tuple | str) else traced(item, Leaf(f"{spelling}[{index}]", item, origin))


# The most numbers that are changed, one by one, to find those that a result depends on.
_MOST_TRIED: Final = 64
# The most sizes of other inputs that are found to equal a size. Each takes a run of the rule, which takes long for a Concat of many inputs.
_MOST_TWINS: Final = 8


class Wanted(NamedTuple):
    """A number of an output: `kind` is "axis" or "element"."""

    kind: str
    output: int
    position: int

    def of(self, outputs: Sequence[Fact]) -> Any:
        """The number among the facts of the outputs; None if the facts do not have it."""
        fact = outputs[self.output] if self.output < len(outputs) else POISONED
        numbers = fact.shape if self.kind == "axis" else fact.elements
        return numbers[self.position] if numbers is not None and self.position < len(numbers) else None


class NumberFormula(NamedTuple):
    """The formula of a number. If the rule did no arithmetic, `term` is the number itself and `reads` are the numbers it depends on.

    `unchanged` are the reads that the rule passes on unchanged as long as the other reads keep their values. `twins` are sizes of other
    inputs that the rule requires to be equal to the number.
    """

    term: Term
    reads: Sequence[Leaf]
    unchanged: Sequence[Leaf] = ()
    twins: Sequence[Origin] = ()


class _Applied(NamedTuple):
    """A node, the facts of its inputs, and the facts that a pass found of its outputs (`known`)."""

    node: Node
    op: Op
    facts: list[Fact]
    known: Sequence[Fact]

    @classmethod
    def at(cls, node: Node, slots: Sequence[Fact]) -> _Applied:
        op = node.op
        assert op is not None
        return cls(node, op, inputs_of(node, slots), slots[node.first_slot : node.first_slot + node.layer.signature.output_count])

    @property
    def key(self) -> tuple[object, ...]:
        """Layers with equal keys have equal formulas."""
        return self.op, *self.facts, None, *self.known

    def apply(self, scope: Scope, op: Op, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The result of the rule for other attributes and inputs."""
        return RuleApplication(scope, self.node, op, facts, self.known).outputs()


class PassFormulas:
    """The formulas of one pass, computed on demand, and once for all layers with the same key.

    `scope` is the scope of the pass, so that an unbacked symbol of a layer gets the same name again.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._any = scope.bounded("any size", 0, inf)
        # An unknown size whose formula is so long that a rule prefers any other size.
        self._stranger = sum(scope.bounded(("stranger", index), 0, inf) for index in range(20))
        self._of_nodes: dict[tuple[Node, str], tuple[_Applied, TracedRule]] = {}
        self._applied: dict[tuple[object, ...], TracedRule] = {}
        self._types: dict[tuple[object, ...], int | None] = {}
        self._named_op = cache(named_op)

    def formula(self, node: Node, slots: Sequence[Fact], kind: str, output: int, position: int) -> NumberFormula:
        """The formula of a number of an output, as in `Wanted`; `slots` are the facts that the pass found of all tensors."""
        layer, rule = self._traced(node, slots, kind)
        formula = rule.formulas.get((output, position))
        if formula is None:
            formula = rule.formulas[output, position] = self._formula(layer, rule, Wanted(kind, output, position))
        return formula

    def passed(self, node: Node, slots: Sequence[Fact], output: int) -> Sequence[Origin | None]:
        """For each axis of an output, the number of an input that the rule passes on as its size, if the rule does no more with it."""
        layer, rule = self._traced(node, slots, "axis")
        found = rule.passed.get(output)
        if found is None:
            passed, twins = _passed(layer, rule.results), self._twins_of(layer, rule)
            axes = [(output, axis) for axis in range(len(layer.known[output].shape or ()))]
            found = rule.passed[output] = [None if axis in twins or axis not in passed else passed[axis].source for axis in axes]
        return found

    def _traced(self, node: Node, slots: Sequence[Fact], kind: str) -> tuple[_Applied, TracedRule]:
        """A node with its facts, and the application of its rule to traced numbers."""
        found = self._of_nodes.get((node, kind))
        if found is None:
            layer = _Applied.at(node, slots)
            found = self._of_nodes[node, kind] = layer, self._rule(layer, kind)
        return found

    def _rule(self, layer: _Applied, kind: str) -> TracedRule:
        """The application of a layer's rule to traced numbers."""
        key = *layer.key, kind
        rule = self._applied.get(key)
        if rule is None:
            op, count, facts = layer.op, len(layer.facts), enumerate(layer.facts)
            named = [named_fact(op, position, count, fact, is_of_elements=kind == "element") for position, fact in facts]
            rule = TracedRule(self.scope, layer.node, self._named_op(op), named, layer.known)
            rule.results = rule.outputs()
            if not rule.is_unshared:
                self._applied[key] = rule
        return rule

    def _formula(self, layer: _Applied, rule: TracedRule, asked: Wanted) -> NumberFormula:
        """The term, if its value is the number that the pass found; else the number with the reads it depends on."""
        number, found = asked.of(layer.known), asked.of(rule.results)
        term = term_of(found)
        if not isinstance(term, Leaf | TracedOperation) or not is_same(plain(found), number):
            return NumberFormula(number, list(self._dependencies(layer, asked)))
        if isinstance(term, Leaf):
            return NumberFormula(term, [term], [term], self._twins_of(layer, rule).get(asked[1:], ()) if asked.kind == "axis" else ())
        reads = leaves(term)
        return NumberFormula(term, reads, [leaf for leaf in reads if is_same(leaf.value, number) and self._is_unchanged(term, leaf)])

    def _is_unchanged(self, term: Term, leaf: Leaf) -> bool:
        """Whether a term equals one of its leaves for every value of that leaf, the other leaves keeping theirs."""
        try:
            return is_same(value(term, lambda one: self._any if one is leaf else one.value), self._any)
        except (TypeError, ArithmeticError, ValueError):
            return False  # arithmetic of a real and an unknown size has no result

    def _twins_of(self, layer: _Applied, rule: TracedRule) -> dict[tuple[int, int], list[Origin]]:
        if rule.twins is None:
            rule.twins = self._twins(layer, rule)
        return rule.twins

    def _twins(self, layer: _Applied, rule: TracedRule) -> dict[tuple[int, int], list[Origin]]:
        """For each size that the rule passes on: the sizes of other inputs that it requires to be equal to that size."""
        found: dict[tuple[int, int], list[Origin]] = {}
        if sum(fact.elements is None for fact in layer.facts) < 2:
            return found
        work = self.scope.work
        taken = {at: leaf for at, leaf in _passed(layer, rule.results).items() if leaf.source.kind == "axis"}
        work.take(sum([len(fact.shape or ()) for fact in layer.facts]))
        sizes = [size for fact in layer.facts for size in fact.shape or ()]
        # How many twins each size may have.
        most = {at: sum([is_same(size, leaf.value) for size in sizes]) - 1 for at, leaf in taken.items()}
        named = list(rule.facts)
        for number in range(_MOST_TWINS):
            taken = {at: leaf for at, leaf in taken.items() if most[at] > number}
            if not taken or work.is_done:
                break
            for leaf in taken.values():  # if a size is unknown to the rule, the rule passes on another one
                _, port, axis = leaf.source
                named[port] = _with(named[port], "axis", axis, self._stranger)
            results = TracedRule(self.scope, layer.node, rule.op, named, layer.known).outputs()
            taken = {at: leaf for at, leaf in _passed(layer, results).items() if at in taken and leaf.source.kind == "axis"}
            for at, leaf in taken.items():
                found.setdefault(at, []).append(leaf.source)
        return found

    def _dependencies(self, layer: _Applied, asked: Wanted) -> Iterator[Leaf]:
        """The numbers that the result depends on, found by changing each of them."""
        number = asked.of(layer.known)
        self.scope.work.take(10)
        for tried, (leaf, others) in enumerate(_changes(self.scope, layer.op, layer.facts, asked.kind)):
            if tried == _MOST_TRIED or self.scope.work.is_done:
                return
            results = [layer.apply(self.scope, op, facts) for op, facts in others]
            # A rule that fails does not show whether its result depends on the number.
            changed = [not is_same(asked.of(one), number) for one in results if not any(fact.is_poisoned for fact in one)]
            if any(changed) or not changed:
                yield leaf

    def type_source(self, node: Node, slots: Sequence[Fact], output: int) -> int | None:
        """The position of the input whose element type an output takes; None if it takes none."""
        layer = _Applied.at(node, slots)
        key = (*layer.key, output)
        if key not in self._types:
            self._types[key] = self._type_source(layer, output)
        return self._types[key]

    def _type_source(self, layer: _Applied, output: int) -> int | None:
        op, facts = layer.op, layer.facts
        if op.types is None:  # the declaration tells the inputs that may give the type
            sources = op.outputs[min(output, len(op.outputs) - 1)].sources if op.outputs else ()
            ports = enumerate(zip(op.arrangement(len(facts)), facts, strict=False))
            typed = (at for at, (port, fact) in ports if port.index in sources and fact.element_type is not ElementType.dynamic)
            return next(typed, None)
        wanted = layer.known[output].element_type
        bare = [Fact(ElementType.dynamic, fact.shape, fact.elements, fact.is_poisoned, None, fact.is_literal) for fact in facts]
        for position, fact in enumerate(facts):
            if fact.element_type is wanted:
                given = [*bare[:position], fact, *bare[position + 1 :]]
                with_it, without = ([one.element_type for one in layer.apply(self.scope, op, own)] for own in (given, bare))
                if with_it[output : output + 1] == [wanted] != without[output : output + 1]:
                    return position
        return None


def _passed(layer: _Applied, outputs: Sequence[Fact]) -> dict[tuple[int, int], Leaf]:
    """The numbers of inputs that the rule passes on as sizes, by output and axis, where they are the sizes that the pass found."""
    found = {}
    for output, (fact, known) in enumerate(zip(outputs, layer.known, strict=False)):
        for axis, (size, number) in enumerate(zip(fact.shape or (), known.shape or (), strict=False)):
            leaf = term_of(size)
            if isinstance(leaf, Leaf) and is_same(plain(size), number):
                kind, port, _ = leaf.source
                if kind == "axis" or (kind == "element" and is_known(layer.facts[port])):
                    found[output, axis] = leaf
    return found


def inputs_of(node: Node, slots: Sequence[Fact]) -> list[Fact]:
    """The facts that a pass found of a node's inputs, without the last inputs that no layer feeds."""
    sources = node.sources
    while sources and sources[-1] < 0:
        sources = sources[:-1]
    return [slots[source] if source >= 0 else POISONED for source in sources]


def _changes(scope: Scope, op: Op, facts: list[Fact], kind: str) -> Iterator[tuple[Leaf, list[tuple[Op, list[Fact]]]]]:
    """Each number that a rule may read, with variants of the op and the facts in which it has another value."""
    for position, fact in enumerate(facts):
        for leaf in leaves_of(op, position, len(facts), fact, is_of_elements=kind == "element"):
            which, index = leaf.source.kind, leaf.source.position
            unknown = scope.bounded(("another", which), 0 if which == "axis" else -inf, inf)
            others = _others(leaf.value) if which == "element" and not isinstance(leaf.value, Dim) else [unknown]
            changed = [_with(fact, which, index, other) for other in others]
            yield leaf, [(op, [*facts[:position], one, *facts[position + 1 :]]) for one in changed]
    named = named_op(op)
    for name in op.attributes:
        value = getattr(named, name, None)
        items = value if isinstance(value, tuple) else (value,)
        own = tuple(map(plain, items))
        for index, item in enumerate(items):
            term = term_of(item)
            if isinstance(term, Leaf):
                lists = [(*own[:index], other, *own[index + 1 :]) for other in _others(own[index])]
                yield term, [(op.with_attribute(name, one if isinstance(value, tuple) else one[0]), facts) for one in lists]


def _others(number: Any) -> list[Any]:
    """Numbers near a number: a rule may refuse some of them and accept others."""
    if isinstance(number, Real):
        return [Real(-inf, inf), 1.5]
    return [number + step for step in (1, -1, 2, -2)] + ([0] if number else [])


def _with(fact: Fact, which: str, index: int, other: Any) -> Fact:
    """A fact in which one number is replaced."""
    shape, elements = fact.shape, fact.elements
    if which == "axis" and shape is not None:
        shape = (*shape[:index], other, *shape[index + 1 :])
    elif elements is not None:
        elements = (*elements[:index], other, *elements[index + 1 :])
    return Fact(fact.element_type, shape, elements, fact.is_poisoned, None, fact.is_literal)
