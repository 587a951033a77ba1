"""What is known of a tensor, interned so that equal knowledge is one object."""

from typing import Final

from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements


class Fact:
    """Element type, shape (None if unranked) and, where some rule reads them, elements.

    `is_poisoned` marks what is unknown because a layer before failed: nothing is said of what follows from that.
    """

    __slots__ = ("element_type", "elements", "is_poisoned", "shape")

    def __init__(self, element_type: ElementType, shape: Shape, elements: Elements | None, is_poisoned: bool = False) -> None:
        self.element_type = element_type
        self.shape = shape
        self.elements = elements
        self.is_poisoned = is_poisoned


POISONED: Final = Fact(ElementType.dynamic, None, None, True)


class Facts:
    """The table of facts of one inference."""

    __slots__ = ("_table",)

    def __init__(self) -> None:
        self._table: dict[tuple[object, ...], Fact] = {}

    def intern(self, element_type: ElementType, shape: Shape, elements: Elements | None = None, is_poisoned: bool = False) -> Fact:
        """The one fact that says this."""
        # repr tells 1 from 1.0 and 0.0 from -0.0, which compare equal; elements known to be integers need no such care.
        is_mixed = element_type.is_real or element_type is ElementType.dynamic
        tag = repr(elements) if elements is not None and is_mixed else elements
        key = (element_type, shape, tag, is_poisoned)
        fact = self._table.get(key)
        if fact is None:
            fact = self._table[key] = Fact(element_type, shape, elements, is_poisoned)
        return fact
