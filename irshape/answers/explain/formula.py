"""The formula by which one layer computed a number, recorded by running the layer's own rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, Final, NamedTuple

from irshape.answers.explain.rule import Origin, Rule, TracedRule, is_same, leaves_of, named_fact, named_op, origin_of
from irshape.answers.explain.traced import Leaf, Operation, Term, leaves, plain, term_of, value
from irshape.inference.facts import POISONED, Fact
from irshape.model.model import Node
from irshape.ops.op import Op
from irshape.shape.dim import Dim, Scope
from irshape.shape.element_type import ElementType
from irshape.shape.value import Real

# The most numbers that are changed, one by one, to find those that a result depends on.
_MOST_TRIED: Final = 64
# The most sizes of other inputs that are found to equal a size. Each takes a run of the rule, which takes long for a Concat of many inputs.
_MOST_TWINS: Final = 8


class Asked(NamedTuple):
    """A number of an output: `kind` is "axis" or "element"."""

    kind: str
    output: int
    position: int

    def of(self, outputs: Sequence[Fact]) -> Any:
        """The number among the facts of the outputs; None if the facts do not have it."""
        fact = outputs[self.output] if self.output < len(outputs) else POISONED
        numbers = fact.shape if self.kind == "axis" else fact.elements
        return numbers[self.position] if numbers is not None and self.position < len(numbers) else None


class Formula(NamedTuple):
    """The formula of a number. If the rule did no arithmetic, `term` is the number itself and `reads` are the numbers it depends on.

    `unchanged` are the reads that the rule passes on unchanged as long as the other reads keep their values. `twins` are sizes of other
    inputs that the rule requires to be equal to the number.
    """

    term: Term
    reads: Sequence[Leaf]
    unchanged: Sequence[Leaf] = ()
    twins: Sequence[Origin] = ()


class _Layer(NamedTuple):
    """A node, the facts of its inputs, and the facts that a pass found of its outputs (`known`)."""

    node: Node
    op: Op
    facts: list[Fact]
    known: Sequence[Fact]

    @classmethod
    def at(cls, node: Node, slots: Sequence[Fact]) -> _Layer:
        assert node.op is not None
        return cls(node, node.op, inputs_of(node, slots), slots[node.first_slot : node.first_slot + node.layer.signature.output_count])

    @property
    def key(self) -> tuple[object, ...]:
        """Layers with equal keys have equal formulas."""
        return self.op, *self.facts, None, *self.known

    def apply(self, scope: Scope, op: Op, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The result of the rule for other attributes and inputs."""
        return Rule(scope, self.node, op, facts, self.known).outputs()


class Formulas:
    """The formulas of one pass, computed on demand, and once for all layers with the same key.

    `scope` is the scope of the pass, so that an unbacked symbol of a layer gets the same name again.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._any = scope.bounded("any size", 0, inf)
        # An unknown size whose formula is so long that a rule prefers any other size.
        self._stranger = sum(scope.bounded(("stranger", index), 0, inf) for index in range(20))
        self._applied: dict[tuple[object, ...], TracedRule] = {}
        self._formulas: dict[tuple[object, ...], Formula] = {}
        self._types: dict[tuple[object, ...], int | None] = {}

    def formula(self, node: Node, slots: Sequence[Fact], asked: Asked) -> Formula:
        """The formula of a number of an output; `slots` are the facts that the pass found of all tensors."""
        layer = _Layer.at(node, slots)
        rule = self._rule(layer, asked.kind)
        key = (node if rule.is_unshared else None, *layer.key, asked)
        formula = self._formulas.get(key)
        if formula is None:
            formula = self._formulas[key] = self._formula(layer, asked, asked.of(rule.results))
        return formula

    @staticmethod
    def _named(layer: _Layer, *, is_of_elements: bool) -> list[Fact]:
        """The facts of a layer's inputs, with numbers that remember where they were read."""
        count = len(layer.facts)
        return [named_fact(layer.op, position, count, fact, is_of_elements) for position, fact in enumerate(layer.facts)]

    def _rule(self, layer: _Layer, kind: str) -> TracedRule:
        """The application of a layer's rule to traced numbers."""
        key = *layer.key, kind
        for node in (None, layer.node):
            if (node, *key) in self._applied:
                return self._applied[node, *key]
        named = self._named(layer, is_of_elements=kind == "element")
        rule = TracedRule(self.scope, layer.node, named_op(layer.op), named, layer.known)
        rule.results = rule.outputs()
        self._applied[layer.node if rule.is_unshared else None, *key] = rule
        return rule

    def _formula(self, layer: _Layer, asked: Asked, found: Any) -> Formula:
        """The term, if its value is the number that the pass found; else the number with the reads it depends on."""
        number, term = asked.of(layer.known), term_of(found)
        if not isinstance(term, Leaf | Operation) or not is_same(plain(found), number):
            return Formula(number, list(self._dependencies(layer, asked)))
        reads = leaves(term)
        unchanged = [leaf for leaf in reads if is_same(leaf.value, number) and self._is_unchanged(term, leaf)]
        twins = list(self._twins(layer, asked, term)) if isinstance(term, Leaf) and asked.kind == "axis" else ()
        return Formula(term, reads, unchanged, twins)

    def _is_unchanged(self, term: Term, leaf: Leaf) -> bool:
        """Whether a term equals one of its leaves for every value of that leaf, the other leaves keeping theirs."""
        if term is leaf:
            return True
        try:
            return is_same(value(term, lambda one: self._any if one is leaf else one.value), self._any)
        except (TypeError, ArithmeticError, ValueError):
            return False  # arithmetic of a real and an unknown size has no result

    def _twins(self, layer: _Layer, asked: Asked, leaf: Leaf) -> Iterator[Origin]:
        """Sizes of other inputs that the rule requires to be equal to the size that it passes on."""
        work = self.scope.work
        work.take(sum([len(fact.shape or ()) for fact in layer.facts]))
        taken: Origin | None = leaf.source
        # The leaf, and the sizes that may be its twins.
        left = sum([is_same(size, leaf.value) for fact in layer.facts for size in fact.shape or ()])
        if work.is_done or left < 2 or sum(fact.elements is None for fact in layer.facts) < 2:
            return
        named = self._named(layer, is_of_elements=False)
        for _ in range(_MOST_TWINS):
            if left < 2 or taken is None or taken.kind != "axis" or work.is_done:
                return
            port = int(taken.port)
            left -= is_same((layer.facts[port].shape or ())[taken.position], leaf.value)
            # If this size is unknown to the rule, the rule passes on another one.
            named[port] = _with(named[port], "axis", taken.position, self._stranger)
            size = asked.of(TracedRule(self.scope, layer.node, named_op(layer.op), named, layer.known).outputs())
            taken = origin_of(size)
            if taken is not None and taken.kind == "axis" and is_same(plain(size), leaf.value):
                yield taken

    def _dependencies(self, layer: _Layer, asked: Asked) -> Iterator[Leaf]:
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
        layer = _Layer.at(node, slots)
        key = (*layer.key, output)
        if key not in self._types:
            self._types[key] = self._type_source(layer, output)
        return self._types[key]

    def _type_source(self, layer: _Layer, output: int) -> int | None:
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


def inputs_of(node: Node, slots: Sequence[Fact]) -> list[Fact]:
    """The facts that a pass found of a node's inputs, without the last inputs that no layer feeds."""
    sources = node.sources
    count = max((position for position, source in enumerate(sources, 1) if source >= 0), default=0)
    return [slots[source] if source >= 0 else POISONED for source in sources[:count]]


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
