"""Logical operations."""

import operator
from typing import Any

from irshape.ops.elementwise import Logical, Unary, computed
from irshape.ops.registry import declare, op
from irshape.shape.dim import Size, dim_max, dim_min, eq

declare(globals(), Logical, {
    "LogicalAnd": ("opset1", "Whether both are true.", computed(operator.and_, dim_min)),
    "LogicalOr": ("opset1", "Whether any is true.", computed(operator.or_, dim_max)),
})  # fmt: skip


@op("LogicalXor", "opset1")
class LogicalXor(Logical):
    """Whether exactly one is true."""

    of_elements = staticmethod(operator.xor)


@op("Xor", "opset1", until="opset1")
class Xor(LogicalXor):
    """The old name of LogicalXor."""


@op("LogicalNot", "opset1")
class LogicalNot(Unary):
    """Whether the element is false; the output keeps the element type, whatever it is."""

    def of_elements(self, element: Any) -> bool:
        return not element

    def of_sizes(self, size: Size) -> bool | None:
        return eq(size, 0)
