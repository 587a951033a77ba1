"""The operations as methods, `graph.op.Convolution(data, filters, strides=(2, 2))`; `operations.pyi` has their inputs and attributes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from irshape.ops.registry import REGISTRY


class Operations:
    """Every operation as a method, which adds a layer to a graph and returns it."""

    def __init__(self, add: Callable[..., Any]) -> None:
        self._add = add

    def __getattr__(self, type: str) -> Callable[..., Any]:
        if type.startswith("_"):
            raise AttributeError(type)
        return partial(self._add, type)

    def __call__(self, type: str, *inputs: Any, **attributes: Any) -> NoReturn:
        raise TypeError(f"each operation is a method: graph.op.{type}(...); graph.add({type!r}, ...) takes its type as text")

    def __dir__(self) -> list[str]:
        return REGISTRY.types()
