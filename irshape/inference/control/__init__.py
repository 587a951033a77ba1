"""The rules of the operations with bodies."""

from __future__ import annotations

from typing import Final

from irshape.inference.control.repetition import LoopRule, TensorIteratorRule
from irshape.inference.control.rule import Control, IfRule
from irshape.ops.infrastructure import If, Loop, TensorIterator
from irshape.ops.op import OpClass

RULES: Final[dict[OpClass, type[Control]]] = {If: IfRule, Loop: LoopRule, TensorIterator: TensorIteratorRule}
