"""Which rules are asked: what is remembered is not asked again."""

from collections.abc import Callable
from typing import Any

import pytest

from irshape.ops.registry import REGISTRY


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The types of the layers whose rules are asked. Rules are patched, because they alone are the interpreter's in every wheel."""
    types: list[str] = []

    def noted(infer: Callable[..., Any]) -> Callable[..., Any]:
        def ask(self: Any, *arguments: Any) -> Any:
            if type(self).infer is ask:  # and not the rule of a base, which the own rule asks
                types.append(self.TYPE)
            return infer(self, *arguments)

        return ask

    for op_class in REGISTRY.classes():
        for base in op_class.__mro__:
            infer = vars(base).get("infer")
            if infer is not None and infer.__name__ != "ask":
                monkeypatch.setattr(base, "infer", noted(infer))
    return types
