"""What a program needs to add an operation: `from irshape.extend import Context, In, Input, Op, Out, op`."""

from irshape.ops.attribute import Exact, Ge, Spelled, Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, each_element, moved
from irshape.ops.op import Op
from irshape.ops.port import In, Input, Out
from irshape.ops.registry import op
from irshape.shape.element_type import ANY, BOOLEAN, FLOAT, INDEX, INTEGER, NUMERIC, ElementType
from irshape.shape.shape import Shape

__all__ = [
    "ANY", "BOOLEAN", "FLOAT", "INDEX", "INTEGER", "NUMERIC", "Context", "Count", "ElementType", "Exact", "Ge", "In", "Input", "Op", "Out",
    "Outputs", "Shape", "Spelled", "Stated", "each_element", "moved", "op",
]  # fmt: skip
