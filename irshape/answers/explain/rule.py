"""The rule of an op, run once more on numbers that remember where they were read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from math import inf
from typing import Any, NamedTuple

from irshape.answers.explain.traced import Leaf, Operation, Traced, like, plain, term, term_of, traced
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
from irshape.shape.value import Elements, Ends, Unreadable, strides


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


class Rule(Application):
    """One application of a node's rule to facts of its inputs, without OpenVINO's view."""

    def __init__(self, scope: Scope, node: Node, op: Op, facts: Sequence[Fact], known: Sequence[Fact]) -> None:
        """`facts` are the inputs that the rule is given, `known` the facts that the pass found of the outputs."""
        wanted = frozenset(index for index, fact in enumerate(known) if fact.elements is not None)
        transfer = Transfer(op, node.layer.signature.output_count, wanted)
        rules = Rules(_Plain(), scope, states_types=not node.model.document.is_example)
        super().__init__(rules, node, transfer, tuple(facts))
        self.kept = len(known) if len(known) > 1 else 0
        self.openvino_knows_same = False
        self.results: tuple[Fact, ...] = ()

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


class TracedRule(Rule):
    """An application whose numbers remember where they were read and how they were computed."""

    def quotient(self, a: Size, divisor: Size) -> Size:
        quotient: Any = super().quotient(a, divisor)
        own = term_of(quotient)
        exact: Size = traced(quotient, Operation("/", own.a, own.b)) if isinstance(own, Operation) and own.sign == "//" else quotient
        return exact

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
            factor = Operation("+", factor, 1e-6)  # OpenVINO adds this to each scale
        whole: Size = traced(result, Operation("floor", Operation("*", term_of(size), factor), 0))
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
    for name, value in vars(op).items():
        attribute = op.attributes.get(name)
        if attribute is None:
            continue
        spelling = attribute.spelling
        if isinstance(value, tuple):
            setattr(named, name, tuple([_named_item(spelling, i, item) for i, item in enumerate(value)]))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            setattr(named, name, traced(value, Leaf(spelling, value, Origin("attribute", spelling, 0))))
    return named


def _named_item(spelling: str, index: int, item: Any) -> Any:
    """An item of a list; an interval of one number is traced at both ends."""
    origin = Origin("attribute", spelling, index)
    if isinstance(item, tuple) and len(item) == 2 and item[0] == item[1]:
        end = traced(item[0], Leaf(f"{spelling}[{index}]", item[0], origin))
        return (end, end)
    return item if isinstance(item, tuple | str) else traced(item, Leaf(f"{spelling}[{index}]", item, origin))
