"""Which layer has the peak of memory: the same as if every size were tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from irshape.answers.cost.formula import amount
from irshape.answers.cost.memory import Race
from irshape.shape.dim import Scope, Size, dim_max

MODELS: Final[list[Callable[[Size], list[Size]]]] = [
    lambda s: [1000 + 2 * s, 3 * s * s, 50 * s],
    lambda s: [7 * (s // 2) * (s // 2), 2 * s * s - s // 2, 900 * ((s + 1) // 2)],
    lambda s: [64 * (s // 3), 64 * ((s + 1) // 3), 64 * ((s + 2) // 3), 20 * s + 30],
    lambda s: [dim_max(4 * s, 400), 3 * s + 100, 5 * s - 200],
    lambda s: [10_000 - 3 * s, 20 * s],
]


@pytest.mark.parametrize("amounts", MODELS)
@pytest.mark.parametrize("is_valid", [lambda size: True, lambda size: size % 32 == 0, lambda size: size < 90, lambda size: size == 3])
def test_sizes_between_are_not_needed(amounts: Callable[[Size], list[Size]], is_valid: Callable[[int], bool]) -> None:
    """Race gives the turns that it gives where nothing is known to grow, so that every size is tried."""
    scope = Scope()
    several = [amount(size, {}) for size in amounts(scope.symbol("S", 1))]
    race, slow = (Race("S", several, is_valid, scope.work) for _ in range(2))
    slow._are_growing = False
    assert race.turns(1, None) == slow.turns(1, None)
    assert race.turns(5, 3000) == slow.turns(5, 3000)
