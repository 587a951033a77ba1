"""Guards narrow bounds until nothing changes any more, so that their order makes no difference."""

import random

import pytest

from irshape.shape.dim import Dim, Scope, Size, dim_max, dim_min
from irshape.shape.guard import Requirement
from irshape.shape.limits import DEFAULT
from irshape.shape.reported import Reported

OPERATIONS = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a + b if isinstance(b, Dim) else a * b,
    lambda a, b: a - b if isinstance(b, Dim) else a // b, dim_min, dim_max,
]  # fmt: skip


def requirement(kind: str, a: Size, b: Size) -> Requirement:
    return Requirement(kind, a, b, "", "S201", {})


def test_a_chain_of_guards_is_followed_to_its_end() -> None:
    """Each size is larger than the next one, and the last one is at least 5."""
    scope = Scope(DEFAULT)
    sizes = [scope.symbol(f"N{index}", 0) for index in range(100)]
    chain = [requirement("ge", sizes[index], sizes[index + 1] + 1) for index in range(99)]
    for guards in ([*chain, requirement("ge", sizes[-1], 5)], [requirement("ge", sizes[-1], 5), *reversed(chain)]):
        assert Reported(scope, guards).bounds(sizes[0])[0] == 104


@pytest.mark.parametrize("seed", [*range(10), 111, 148, 174, 365, 461, 729, 755, 826, 1054, 2280])
def test_no_order_of_guards_changes_a_bound(seed: int) -> None:
    chance = random.Random(seed)
    scope = Scope(DEFAULT)
    sizes: list[Size] = [scope.symbol(name, chance.randint(0, 2), chance.choice((6, 10, 20))) for name in "ABCDE"]
    for _ in range(chance.choice((2, 4, 8))):
        made = chance.choice(OPERATIONS)(chance.choice(sizes), chance.choice([*sizes, 1, 2, 3, 7]))
        sizes += [made] if isinstance(made, Dim) else []
    guards = []
    for _ in range(chance.choice((2, 4, 7))):
        kind = chance.choice(("ge", "ge", "eq", "div", "broadcast", "stretch"))
        other = chance.choice((2, 3, 4)) if kind == "div" else chance.choice([*sizes, 1, 2, 3, 7])
        guards.append(requirement(kind, chance.choice(sizes), other))
    found = []
    for _ in range(6):
        scope.work.renew()
        reported = Reported(scope, guards)
        found.append((reported.is_contradictory, [reported.range(size) for size in sizes]))
        chance.shuffle(guards)
    assert all(one == found[0] for one in found)
