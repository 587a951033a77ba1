"""The axes that a Reshape splits and joins: which sizes of its output follow which sizes of its data.

A Reshape from [1,196,256] to [1,196,2,128] keeps axes 0 and 1, and splits axis 2. Of data [1,784,256] it keeps and splits the same axes if
its output is [1,784,2,128]. The pattern [1,196,2,-1] gives [1,196,2,512] instead. This mixes axes, and perhaps no layer fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from math import isqrt, prod
from typing import NamedTuple

from irshape.shape.dim import Size


class Group(NamedTuple):
    """Axes of the data that become axes of the output: both have the same number of elements."""

    data: list[int]
    output: list[int]


def groups(data: Sequence[Size], output: Sequence[Size], *, ones_grow: bool = False) -> list[Group]:
    """The smallest groups of the axes of a Reshape; none if a size is 0 or no number.

    Axes of size 1 between two groups are paired in their order. An axis of the data that is left joins the group behind it. An axis of the
    output that is left has size 1 for all data, unless `ones_grow`: then it, too, joins the group behind it.
    """
    given, made = ([size for size in sizes if isinstance(size, int) and size > 0] for sizes in (data, output))
    if len(given) != len(data) or len(made) != len(output) or prod(given) != prod(made):
        return []
    found: list[Group] = []
    at = to = 0
    while at < len(given) or to < len(made):
        ones, others = _ones(given, at), _ones(made, to)
        at, to = at + len(ones), to + len(others)
        paired = min(len(ones), len(others))
        found += [Group([one], [other]) for one, other in zip(ones, others, strict=False)]
        group = Group(ones[paired:], others[paired:] if ones_grow else [])
        found += [] if ones_grow else [Group([], [other]) for other in others[paired:]]
        have = want = 1
        while have != want or have == 1:
            if have <= want and at < len(given):
                have *= given[at]
                group.data.append(at)
                at += 1
            elif to < len(made):
                want *= made[to]
                group.output.append(to)
                to += 1
            else:
                break
        if want > 1 or not found:
            found.append(group)
        else:
            found[-1].data.extend(group.data)
            found[-1].output.extend(group.output)
    return found


class Reshaping(NamedTuple):
    """The shapes of the data and of the output of a Reshape."""

    data: Sequence[Size]
    output: Sequence[Size]


def mixes(before: Reshaping, now: Reshaping, *, ones_grow: bool) -> bool:
    """Whether a Reshape joins and splits other axes now than before. False where a size is no number."""
    if len(before.data) != len(now.data) or len(before.output) != len(now.output):
        return False
    found = groups(*before, ones_grow=ones_grow)
    return any(_product(now.data, group.data) != _product(now.output, group.output) for group in found)


def resized(before: Reshaping, data: Sequence[Size], renamed: Mapping[int, int], *, ones_grow: bool, batch: int = 1) -> dict[int, int]:
    """The sizes of the output with which a Reshape joins and splits the same axes of other data, by axis; axes that are not clear lack.

    `renamed` has the new sizes of some old ones. `batch` is the new batch size of a model whose batch was 1, if nothing else has changed:
    then an axis of size 1 that begins a group is the batch.
    """
    found: dict[int, int] = {}
    for group in groups(*before, ones_grow=ones_grow) if len(before.data) == len(data) else ():
        product = _product(data, group.data)
        old = {axis: size for axis in group.output if isinstance(size := before.output[axis], int)}
        large = [axis for axis, size in old.items() if size != 1 or ones_grow] or group.output[:1]
        has_ones = ones_grow and 1 in old.values()
        if not isinstance(product, int):
            continue
        if product == prod(old.values()):
            found |= old
        elif len(large) == 1:
            found |= {**old, large[0]: product}
        elif batch > 1 and large and old[large[0]] == 1 and product == batch * prod(old.values()):
            found |= {**old, large[0]: batch}
        elif len(large) == 2 and len({old[axis] for axis in large}) == 1 and isqrt(product) ** 2 == product:
            found |= {**old, **dict.fromkeys(large, isqrt(product))}
        elif not has_ones and product == prod(new := [renamed.get(size, size) for size in old.values()]):
            found |= zip(old, new, strict=True)
    return found


def _product(sizes: Sequence[Size], axes: Iterable[int]) -> Size:
    return prod([sizes[axis] for axis in axes])


def _ones(sizes: Sequence[int], start: int) -> list[int]:
    """The axes of size 1 from an axis on, up to the first larger one."""
    return list(takewhile(lambda axis: sizes[axis] == 1, range(start, len(sizes))))
