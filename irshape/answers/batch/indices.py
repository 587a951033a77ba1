"""Indices that follow a law: elements that grow by equal steps along the axes, as `n*S + s` does in `mask[arange(N), i]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product as combined
from math import prod
from typing import Any, Final, TypeAlias

from irshape.inference.facts import Fact
from irshape.ops.flow import Law, Term, quotient, same
from irshape.ops.op import Op
from irshape.shape.dim import Dim, Size, product
from irshape.shape.element_type import ElementType

_Axis: TypeAlias = tuple[Term, ...]
# Integers of other types may wrap around.
_TYPES: Final = (ElementType.i64, ElementType.i32)
# The law of a constant is sought among so many elements.
_MOST: Final = 4096


def law_of(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], output: Fact) -> Law | None:
    """The law of the elements that a layer gives, from what it reads; None if they follow none that is known."""
    rule = _RULES.get(op.TYPE)
    if rule is None or output.shape is None or output.element_type not in _TYPES:
        return None
    found: Law | None = rule(op, facts, [law or known(fact) for law, fact in zip(laws, facts, strict=True)], output.shape)
    if found is None or len(found.axes) != len(output.shape):
        return None
    return found if all(same(_size(axis), size) for axis, size in zip(found.axes, output.shape, strict=True)) else None


def known(fact: Fact) -> Law | None:
    """The law of elements that are known."""
    elements, shape = fact.elements, fact.shape
    if elements is None or shape is None or fact.element_type not in _TYPES or not 0 < len(elements) <= _MOST:
        return None
    if len(elements) == 1:
        return Law(elements[0], ((),) * len(shape)) if isinstance(elements[0], int | Dim) else None
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) != len(shape) or not all(isinstance(one, int) for one in elements):
        return None
    numbers: Sequence[Any] = elements
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    steps = [numbers[stride] - numbers[0] if size > 1 else 0 for size, stride in zip(sizes, strides, strict=True)]
    places = combined(*map(range, sizes))
    if any(one != numbers[0] + sum(map(int.__mul__, place, steps)) for one, place in zip(numbers, places, strict=True)):
        return None
    return Law(numbers[0], tuple([(Term(size, step),) if size > 1 else () for size, step in zip(sizes, steps, strict=True)]))


def _size(axis: _Axis) -> Size:
    return product([term.size for term in axis])


def _counted(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    start, _, step = laws
    return None if start is None or step is None else Law(start.base, ((Term(shape[0], step.base),),))


def _same(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    return laws[0] if facts[0].element_type in _TYPES else None


def _regrouped(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    law = laws[0]
    if law is None:
        return None
    rest = [term for axis in law.axes for term in axis if term.size != 1]
    axes: list[_Axis] = []
    for size in shape:
        taken: list[Term] = []
        while size != 1:
            if not rest:
                return None
            first, left = rest[0], quotient(size, rest[0].size)
            if left is not None:
                taken.append(rest.pop(0))
                size = left
            elif (inner := quotient(first.size, size)) is not None:
                taken.append(Term(size, first.step * inner))
                rest[0] = Term(inner, first.step)
                break
            else:
                return None
        axes.append(tuple(taken))
    return None if rest else Law(law.base, tuple(axes))


def _transposed(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    law, order = laws[0], facts[1].elements
    if law is None or order is None or not all(isinstance(one, int) for one in order):
        return None
    return law._replace(axes=tuple([law.axes[one] for one in order or range(len(law.axes))[::-1]]))


def _repeated(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    """Tile and Broadcast: copies are equal, so the step from one to the next is 0."""
    law = laws[0]
    if law is None or str(getattr(op, "mode", "numpy")).lower() not in ("numpy", "bidirectional"):
        return None
    own = ((),) * (len(shape) - len(law.axes)) + law.axes
    axes = []
    for axis, size in zip(own, shape, strict=False):
        times = quotient(size, _size(axis))
        if times is None:
            return None
        axes.append(axis if times == 1 else (Term(times, 0), *axis))
    return law._replace(axes=tuple(axes))


def _aligned(one: Law, other: Law) -> Iterator[tuple[_Axis, _Axis]]:
    rank = max(len(one.axes), len(other.axes))
    return zip(*(((),) * (rank - len(law.axes)) + law.axes for law in (one, other)), strict=True)


def _added(sign: int) -> Callable[..., Law | None]:
    def law(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
        one, other = laws
        if one is None or other is None:
            return None
        axes: list[_Axis] = []
        for a, b in _aligned(one, other):
            if a and b and (len(a) != len(b) or not all(same(x.size, y.size) for x, y in zip(a, b, strict=True))):
                return None
            steps = [(term.step if a else 0) + sign * (last.step if b else 0) for term, last in zip(a or b, b or a, strict=True)]
            axes.append(tuple([Term(term.size, step) for term, step in zip(a or b, steps, strict=True)]))
        return Law(one.base + sign * other.base, tuple(axes))

    return law


def _scaled(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    one, other = laws
    if one is None or other is None or (any(one.axes) and any(other.axes)):
        return None
    law, number = (other, one.base) if any(other.axes) else (one, other.base)
    axes = [tuple([Term(term.size, term.step * number) for term in a or b]) for a, b in _aligned(one, other)]
    return Law(law.base * number, tuple(axes))


_RULES: Final[dict[str, Callable[..., Law | None]]] = {
    "Range": _counted,
    "Convert": _same,
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), _regrouped),
    "Transpose": _transposed,
    **dict.fromkeys(("Broadcast", "Tile"), _repeated),
    "Add": _added(1),
    "Subtract": _added(-1),
    "Multiply": _scaled,
}
