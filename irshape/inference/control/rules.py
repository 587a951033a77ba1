"""Which operation with bodies has which rule."""

from __future__ import annotations

from typing import Final

from irshape.inference.control.branch import IfRule
from irshape.inference.control.loop import LoopRule
from irshape.inference.control.rule import Control
from irshape.inference.control.tensor_iterator import TensorIteratorRule
from irshape.ops.infrastructure import If, Loop, TensorIterator
from irshape.ops.op import OpClass

RULES: Final[dict[OpClass, type[Control]]] = {If: IfRule, Loop: LoopRule, TensorIterator: TensorIteratorRule}
"""The rules of the operations with bodies."""
