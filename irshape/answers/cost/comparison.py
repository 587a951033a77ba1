"""The costs of two models side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from irshape.answers.cost.cost import Cost
from irshape.answers.cost.formula import Amount, ratio, value

# The amounts that are compared, each with its words.
_AMOUNTS: Final = {
    "parameter_bytes": "size",
    "macs": "MACs",
    "operations": "other operations",
    "traffic": "traffic",
    "peak_memory": "peak memory",
}


class Comparison:
    """The costs `a` and `b` of two models, compared at the sizes `near`, which both have."""

    def __init__(self, a: Cost, b: Cost) -> None:
        self.a: Final = a
        self.b: Final = b
        self.near: Final[dict[str, int]] = {**b.near, **a.near}

    def values(self, name: str) -> tuple[int, int]:
        """An attribute of both costs, as numbers."""
        return value(getattr(self.a, name), self.near), value(getattr(self.b, name), self.near)

    def is_equal(self, name: str) -> bool:
        """Whether an attribute is equal for all sizes."""
        a, b = getattr(self.a, name), getattr(self.b, name)
        return bool(a == b) if isinstance(a, int) is isinstance(b, int) else False

    @property
    def summary(self) -> str:
        """What has changed, in one line: `4.0 times smaller, MACs equal`."""
        return ", ".join([self._sentence(name, words) for name, words in _AMOUNTS.items()])

    def _sentence(self, name: str, words: str) -> str:
        before, after = self.values(name)
        if before == after:
            return f"{words} equal" if self.is_equal(name) else f"{words} equal at these sizes"
        if before == 0 or after == 0:
            return f"{words} {before:,} -> {after:,}"
        is_less = after < before
        factor = ratio(before, after) if is_less else ratio(after, before)
        by = f"{factor:.1f} times" if factor >= 1.05 else f"{(factor - 1) * 100:.2g} %"
        if name == "parameter_bytes":
            return f"{by} {'smaller' if is_less else 'larger'}"
        return f"{by} {'less' if is_less else 'more'} {words}"

    def to_dict(self) -> dict[str, Any]:
        """The member `cost` of `schemas/diff.schema.json`."""
        return {"summary": self.summary, "near": self.near, "a": self._side(self.a), "b": self._side(self.b)}

    def _side(self, cost: Cost) -> dict[str, Any]:
        return {name: _shown(getattr(cost, name), self.near) for name in ("parameters", *_AMOUNTS)}


def _shown(found: Amount, near: Mapping[str, int]) -> dict[str, Any]:
    return {"formula": str(found), "value": value(found, near)}
