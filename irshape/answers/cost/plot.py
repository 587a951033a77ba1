"""A picture of a cost: the cost as one size grows, and the memory of each layer in the order of the file. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from irshape.answers.cost.formula import Amount, value
from irshape.inference.inputs import InputError
from irshape.model.model import Node
from irshape.shape.range import Range

# The number of sizes that are drawn, up to a multiple of the present size.
_POINTS: Final = 33
_TIMES: Final = 4
_FORMATS: Final = (".png", ".svg")


class Drawing(NamedTuple):
    """What is drawn of a cost; the names are those of `Cost`, and `profile` that of its peak."""

    symbols: Mapping[str, Range]
    near: Mapping[str, int]
    macs: Amount
    peak_memory: Amount
    profile: Sequence[tuple[Node, Amount]]


def picture(cost: Drawing, path: str, symbol: str | None = None) -> bytes:
    """The picture of a cost, as `Cost.plot` says, in the format that the path names."""
    if not path.lower().endswith(_FORMATS):
        raise ValueError(f"the name of a picture must end with {' or '.join(_FORMATS)}")
    symbols = list(cost.symbols)
    if symbol is not None and symbol not in symbols:
        raise InputError(f"there is no symbol {symbol!r}; the symbols are {', '.join(symbols) or 'none'}")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("a picture needs matplotlib, which is not installed; run: pip install 'irshape[plot]'") from error
    symbol = symbol or next(iter(symbols), None)
    figure = Figure(figsize=(9, 3.4 if symbol is None else 6.8), layout="constrained")
    axes: Any = figure.subplots(1 if symbol is None else 2, squeeze=False)
    if symbol is not None:
        _draw_growth(cost, symbol, axes[0][0])
    _draw_memory(cost, axes[-1][0])
    kind = path.lower().rpartition(".")[2]
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return drawn.getvalue()


def _draw_growth(cost: Drawing, symbol: str, axes: Any) -> None:
    """MACs and peak memory against one symbol."""
    sizes = _sizes(cost, symbol)
    others = ", ".join(f"{name}={size}" for name, size in cost.near.items() if name != symbol)
    axes.set_title(f"cost against {symbol}{f' ({others})' if others else ''}")
    axes.plot(sizes, [value(cost.macs, {**cost.near, symbol: size}) / 1e9 for size in sizes], color="C0")
    axes.set_xlabel(symbol)
    axes.set_ylabel("GMACs", color="C0")
    axes.set_ylim(bottom=0)
    memory = axes.twinx()
    memory.plot(sizes, [value(cost.peak_memory, {**cost.near, symbol: size}) / 1e6 for size in sizes], color="C1")
    memory.set_ylabel("peak memory in MB", color="C1")
    memory.set_ylim(bottom=0)


def _draw_memory(cost: Drawing, axes: Any) -> None:
    """The bytes that are alive at each layer."""
    sizes = ", ".join(f"{name}={size}" for name, size in cost.near.items())
    alive = [value(memory, cost.near) / 1e6 for _, memory in cost.profile]
    axes.set_title(f"memory of activations{f' ({sizes})' if sizes else ''}")
    axes.fill_between(range(len(alive)), alive, step="mid", alpha=0.4, color="C1")
    axes.set_xlabel("layers in the order of the file")
    axes.set_ylabel("MB")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    if alive:
        place = alive.index(max(alive))
        node = cost.profile[place][0]
        side = "right" if 2 * place > len(alive) else "left"
        axes.annotate(f"{node.type} {node.name}", (place, alive[place]), ha=side, va="top", fontsize="small")


def _sizes(cost: Drawing, symbol: str) -> Sequence[int]:
    """The sizes that are drawn: from the smallest to four times the present one, as far as the range of the symbol reaches."""
    low, high, modulus, remainder = cost.symbols[symbol]
    first, last = int(max(low, 1)), int(min(high, _TIMES * cost.near[symbol]))
    step = max((last - first) // (_POINTS - 1), 1)
    sizes = [size + (remainder - size) % modulus if modulus > 1 else size for size in range(first, last + 1, step)]
    return list(dict.fromkeys([*sizes, cost.near[symbol]])) if not sizes else sorted(set(sizes))
