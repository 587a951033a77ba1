"""Facts: the abstract values of tensors, interned so that equal facts are one object."""

from __future__ import annotations

from struct import pack
from typing import Any, Final

from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Dim, bounds
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Ends, Real


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Fact:
    """The element type, the shape (None if unranked) and, where some rule reads them, the elements of a tensor.

    A fact `is_poisoned` if it is unknown because a layer before failed: consequences of that are not reported. `openvino_view` is
    OpenVINO's fact of the tensor if it differs, else the fact itself. `is_literal` marks the elements of a Const, and `ends` are the
    least and the greatest of them, of all or for each position on the last axis, where rules read no more. `steps` is the work of reading.
    """

    __slots__ = ("element_type", "elements", "ends", "is_literal", "is_poisoned", "openvino_view", "shape", "steps")

    def __init__(
        self,
        element_type: ElementType,
        shape: Shape,
        elements: Elements | None,
        is_poisoned: bool = False,
        openvino_view: Fact | None = None,
        is_literal: bool = False,
        ends: Ends | None = None,
    ) -> None:
        self.ends = ends
        self.element_type = element_type
        self.shape = shape
        self.elements = elements
        self.is_poisoned = is_poisoned
        self.openvino_view: Fact = openvino_view or self
        self.is_literal = is_literal
        self.steps = 0 if shape is None else len(shape)
        if elements is not None:
            self.steps += 4 * len(elements)

    def is_like(self, other: Fact) -> bool:
        """Whether both know the same numbers, by whatever formulas."""
        if self is other:
            return True
        if self.element_type is not other.element_type or self.is_poisoned != other.is_poisoned:
            return False
        return _are_like(self.shape, other.shape) and _are_like(self.elements, other.elements)


def _are_like(ours: Elements | None, theirs: Elements | None) -> bool:
    """Whether both are the same numbers, or have the same ends."""
    if ours is theirs:
        return True
    if ours is None or theirs is None or len(ours) != len(theirs) or type(ours) is not type(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):  # noqa: SIM110
        if one is not other and _ends(one) != _ends(other):
            return False
    return True


_FLOAT: Final[frozenset[type]] = frozenset({float})


def _tags(elements: Elements) -> object:
    """A key of elements: their bytes tell 0.0 from -0.0, and their types 1 from 1.0, which compare equal."""
    if _FLOAT.issuperset(map(type, elements)):
        return pack(f"{len(elements)}d", *elements)
    return tuple([_tag(element) for element in elements])


def _tag(element: Any) -> object:
    """A key of one element: repr tells the same."""
    if isinstance(element, Dim):
        return element
    if isinstance(element, Real):
        low, high, size, divisor = element
        return repr(low), repr(high), size, divisor
    return repr(element)


def _ends(element: Any) -> Any:
    return bounds(element) if isinstance(element, Dim) else element


POISONED: Final = Fact(ElementType.dynamic, None, None, True)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class FactTable:
    """The table of facts of one inference; `is_static` is that of the engine. A table that is `like` another one has the same facts."""

    __slots__ = ("_table", "is_static")

    def __init__(self, is_static: bool = False, like: FactTable | None = None) -> None:
        self._table: dict[tuple[object, ...], Fact] = like._table if like else {}
        self.is_static = is_static

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
        """The one fact that says this."""
        key: tuple[object, ...]
        if elements is None and openvino_view is None and not is_poisoned and not is_literal:
            key = (element_type, shape)
            fact = self._table.get(key)
            if fact is None:
                fact = self._table[key] = Fact(element_type, shape, None)
            return fact
        # Where all elements are integers, those that compare equal are the same.
        is_mixed = element_type.is_real or element_type is ElementType.dynamic
        tag = _tags(elements) if elements is not None and is_mixed else elements
        key = (element_type, shape, tag, is_poisoned, openvino_view, is_literal, type(elements), ends)
        fact = self._table.get(key)
        if fact is None:
            fact = self._table[key] = Fact(element_type, shape, elements, is_poisoned, openvino_view, is_literal, ends)
        return fact

    def with_openvino_view(self, fact: Fact, openvino_view: Fact) -> Fact:
        if fact.is_like(openvino_view):
            return fact
        return self.intern(fact.element_type, fact.shape, fact.elements, fact.is_poisoned, openvino_view)
