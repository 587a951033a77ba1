"""The cost of a layer against their number, as a picture."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from benchmarks.table import Scale

_COLOURS = {"irshape": "#0b6e99", "OpenVINO": "#8a8a8a"}
_STYLES = {"chain": "-", "dag": "--"}


def plot(scaling: dict[str, list[Scale]], path: Path) -> None:
    """Draw microseconds per layer over the number of layers."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    for kind, points in scaling.items():
        layers, *costs = zip(*points, strict=True)
        for reader, cost in zip(_COLOURS, costs, strict=True):
            axes.plot(
                layers, cost, _STYLES[kind], color=_COLOURS[reader], marker="o", markersize=4, linewidth=1.8, label=f"{reader}, {kind}"
            )
    axes.set_xscale("log")
    axes.set_xticks(sorted({round(point.layers, -3) for points in scaling.values() for point in points}))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("layers")
    axes.set_ylabel("µs of CPU time per layer")
    axes.set_title("irshape.check and Core.read_model", loc="left", fontsize=11)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=2)
    figure.savefig(path, dpi=150)
