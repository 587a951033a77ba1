"""The measurements as Markdown that a terminal shows as well."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import md5
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from benchmarks.measure import AGAIN, CPU, FIRST, LATE, PEAK, READ, SHAPES, VALIDATE, Bytes, File, Group, Measure, Other, Row, Start

MEASURES = (READ, FIRST, SHAPES, VALIDATE, AGAIN, LATE, CPU, PEAK)
_BAR = 40
# How flat the cost per layer must be and is aimed to be.
FLAT = (1.5, 1.2)


class Scale(NamedTuple):
    """Microseconds that a layer costs irshape and OpenVINO in a model of so many."""

    layers: int
    ours: float
    theirs: float


def ratio(row: Row) -> float:
    """The ratio of the medians."""
    return median(row.ours) / median(row.theirs)


def met(value: float, must: float | None, aim: float | None) -> str:
    """Which target a ratio meets."""
    if must is None or aim is None:
        return ""
    return "aim" if value <= aim else "must" if value <= must else "**no**"


def full(
    rows: Sequence[Row], read: Sequence[Bytes], others: Sequence[Other], groups: Sequence[Group] = (), starts: Sequence[Start] = ()
) -> str:
    """Everything that was measured, a table for each measure."""
    parts = [f"### Real models: `irshape.check` and `Core.read_model`\n\n{real(groups)}"] if groups else []
    if starts:
        parts.append(f"### Process start\n\n{starts_table(starts)}")
    if rows:
        parts.append(f"### Generated models\n\n{verdict(rows)}\n")
    parts += [f"#### {measure.title}\n\n{comparison(rows, measure)}" for measure in MEASURES if any(row.measure == measure for row in rows)]
    if scaling := scales(rows):
        parts.append(
            f"#### Cost of a layer against their number: `irshape.check` and `Core.read_model`\n\n{flatness(scaling)}\n{bars(scaling)}"
        )
    if read:
        parts.append(f"#### Bytes read of the `.bin`\n\n{bytes_table(read)}")
    if others:
        parts.append(f"#### Other tools that read a graph and infer its shapes\n\n{others_table(others, rows)}")
    return "\n".join(parts)


def verdict(rows: Iterable[Row]) -> str:
    """How many ratios meet which target."""
    marks = [met(ratio(row), row.must, row.aim) for row in rows if row.must is not None]
    aim, must = marks.count("aim"), marks.count("must")
    return f"Of {len(marks)} ratios with a target {aim} meet what is aimed at, {must} what must be met, {len(marks) - aim - must} neither."


def brief(groups: Sequence[Group]) -> str:
    """One sentence: what real models take of OpenVINO's time."""
    parts, count = [], 0
    for is_compiled, kind in ((True, "with compiled modules"), (False, "interpreted")):
        files = [file for group in groups if group.is_real and group.is_compiled == is_compiled for file in _measured(group)]
        if files:
            parts.append(f"{short(sum(file.ours for file in files) / sum(file.theirs for file in files))} of OpenVINO's CPU time {kind}")
            count = len(files)
    first, *others = parts
    times = ", and ".join([first, *(one.replace(" of OpenVINO's CPU time", "") for one in others)])
    return f"Reading, checking and inferring {count:,} real models takes {times} ([Performance](docs/performance.md))."


# What the sum over all real models, and every one of them, must meet, and what the sum is aimed at: interpreted, compiled.
_REAL_TARGETS = {False: (0.95, 1.8, 0.95), True: (0.6, 1.0, 0.5)}


def real(groups: Sequence[Group]) -> str:
    """The real models: a table for the interpreted modules and one for the compiled ones, each with what it meets."""
    parts = []
    for is_compiled in (False, True):
        own = [group for group in groups if group.is_compiled == is_compiled]
        if own:
            whole = Group("all real models", is_compiled, True, [file for group in own if group.is_real for file in group.files])
            sample = Group("a stratified sample of them", is_compiled, True, stratified(_measured(whole)))
            table = _real_table([*own, whole, sample])
            parts.append(f"{'Compiled' if is_compiled else 'Interpreted'} modules:\n\n{table}\n{_judged(whole)}")
    return "\n".join(parts)


# A stratum of the sample has so many models.
_OF_STRATUM = 3


def stratified(files: Iterable[File]) -> list[File]:
    """A sample of models in which each kind counts alike: few or many layers, repeating or varied ones, static or dynamic ones.

    Of each of the 27 kinds it holds the first three models by a hash of their names, so the sample follows from the files alone.
    """
    strata: dict[tuple[int, ...], list[File]] = {}
    for file in files:
        limits = (file.layers, (300, 1_000)), (file.distinct, (0.3, 0.6)), (file.dynamic, (0.01, 0.5))
        strata.setdefault(tuple(sum(value >= limit for limit in ends) for value, ends in limits), []).append(file)
    order = [sorted(several, key=lambda file: md5(Path(file.path).stem.encode()).digest()) for _, several in sorted(strata.items())]
    return [file for several in order for file in several[:_OF_STRATUM]]


def _real_table(groups: Sequence[Group]) -> str:
    lines = []
    for group in groups:
        files = _measured(group)
        if not files:
            continue
        ratios = [file.ours / file.theirs for file in files]
        ours, theirs, collected, first, their_first = (sum(times) for times in list(zip(*files, strict=True))[3:8])
        lines.append(
            [
                group.name, f"{len(files):,}", f"{sum(file.layers for file in files):,}", f"{short(ours)} ms", f"{short(theirs)} ms",
                short(ours / theirs), short(median(ratios)), short(max(ratios)), short(collected / theirs), short(first / their_first),
            ]
        )  # fmt: skip
    heads = ["models", "files", "layers", "irshape", "OpenVINO", "ratio", "median", "worst", "with collector", "first call"]
    return grid(heads, lines)


def _judged(whole: Group) -> str:
    """What all real models together meet, which ones are worst, and which were left out."""
    files = sorted(_measured(whole), key=lambda file: file.theirs / file.ours)
    if not files:
        return "No model was measured.\n"
    total = sum(file.ours for file in files) / sum(file.theirs for file in files)
    must, most, aim = _REAL_TARGETS[whole.is_compiled]
    over = [file for file in files if file.ours > most * file.theirs]
    worst = ", ".join(f"{Path(file.path).stem} ({file.layers:,} layers) {short(file.ours / file.theirs)}" for file in files[:5])
    refused = [file for file in whole.files if file.refused]
    text = (
        f"The sum must be at most {must:g}" + (f", and is aimed at {aim:g}" if aim != must else "") + f": it is {short(total)} "
        f"({'not met' if total > must else 'met'}). Every model must be at most {most:g}: "
        f"{f'{len(over):,} of {len(files):,} are not' if over else 'met'}. The worst are {worst}."
    )
    if refused:
        kinds = Counter(file.refused.split(":")[0] for file in refused)
        reasons = ", ".join(f"{count:,}: {reason}" for reason, count in kinds.most_common(3))
        text += f" {len(refused):,} models were left out ({reasons})."
    return f"{text}\n"


def _measured(group: Group) -> list[File]:
    return [file for file in group.files if not file.refused]


def starts_table(starts: Sequence[Start]) -> str:
    """What it costs to start a process, against a bare Python."""
    bare = median(starts[0].times)
    return grid(
        ["process", "CPU time", "against Python"],
        [[one.command, spread(one.times, "ms"), short(median(one.times) / bare)] for one in starts],
    )


def comparison(rows: Sequence[Row], measure: Measure) -> str:
    """The rows of a measure."""
    lines = [
        [
            row.model, f"{row.layers:,}", spread(row.ours, row.unit), spread(row.theirs, row.unit), short(ratio(row)),
            limit(row.must), limit(row.aim), met(ratio(row), row.must, row.aim),
        ]
        for row in rows if row.measure == measure
    ]  # fmt: skip
    heads = ["model", "layers", "irshape", "OpenVINO", "ratio", "must", "aim", "met"]
    shares = [f"{median(row.imported) / median(row.theirs):.0%}" for row in rows if row.measure == measure and row.imported]
    if shares:
        heads.insert(4, "of which import")
        for line, share in zip(lines, shares, strict=True):
            line.insert(4, share)
    return grid(heads, lines)


def scales(rows: Iterable[Row]) -> dict[str, list[Scale]]:
    """The cost of a layer, for each model that was built in several sizes."""
    found: dict[str, list[Scale]] = {}
    for row in rows:
        kind, _, size = row.model.partition("-")
        if row.measure == READ and size:
            ours, theirs = (1e3 * median(times) / row.layers for times in (row.ours, row.theirs))
            found.setdefault(kind, []).append(Scale(row.layers, ours, theirs))
    return {kind: sorted(points) for kind, points in found.items() if len(points) > 1}


def flatness(scaling: dict[str, list[Scale]]) -> str:
    """How much dearer the dearest layer is than the cheapest, over the sizes."""
    lines = []
    for kind, points in scaling.items():
        ours, theirs = (max(costs) / min(costs) for costs in ([point.ours for point in points], [point.theirs for point in points]))
        sizes = f"{points[0].layers:,} to {points[-1].layers:,}"
        lines.append([kind, sizes, short(ours), short(theirs), *map(limit, FLAT), met(ours, *FLAT)])
    return grid(["model", "layers", "irshape: dearest / cheapest", "OpenVINO", "must", "aim", "met"], lines)


def bars(scaling: dict[str, list[Scale]]) -> str:
    """The cost of a layer as bars."""
    longest = max(max(ours, theirs) for points in scaling.values() for _, ours, theirs in points)
    lines = []
    for kind, points in scaling.items():
        for layers, *costs in points:
            for reader, cost in zip(("irshape", "OpenVINO"), costs, strict=True):
                label = f"{kind:<6}{layers:>7,}" if reader == "irshape" else ""
                lines.append(f"{label:<13}  {reader:<8}  {'#' * math.ceil(_BAR * cost / longest):<{_BAR}} {cost:6.1f} µs")
    return "\n".join(["```text", *lines, "```", ""])


def bytes_table(found: Iterable[Bytes]) -> str:
    """How much of each `.bin` is needed and read."""
    lines = []
    for model, size, needed, read in found:
        sizes = [sum(size for _, size in ranges) for ranges in (needed, read)]
        mark = "**no**" if set(read) != needed else "must" if len(read) != len(needed) else "aim"
        lines.append([model, f"{size:,}", *(f"{size:,}" for size in sizes), mark])
    return grid(["model", "bytes", "needed", "read", "must: no others, aim: each once"], lines)


def others_table(others: Iterable[Other], rows: Iterable[Row]) -> str:
    """The time that each tool takes for each model, and for each of its nodes."""
    cells = {
        (one.tool, one.model): f"{spread(one.times, 'ms')}, {short(1e3 * median(one.times) / one.nodes)} µs/node"
        for one in others
        if one.times
    }
    models = list(dict.fromkeys(one.model for one in others))
    for row in rows:
        if row.measure == READ and row.model in models:
            for tool, times in (("irshape", row.ours), ("OpenVINO", row.theirs)):
                cells[tool, row.model] = f"{spread(times, 'ms')}, {short(1e3 * median(times) / row.layers)} µs/node"
    tools = ["irshape", "OpenVINO", *dict.fromkeys(one.tool for one in others)]
    return grid(["CPU time", *models], [[tool, *(cells.get((tool, model), "not installed") for model in models)] for tool in tools])


def grid(heads: list[str], lines: list[list[str]]) -> str:
    """A Markdown table whose columns stand below each other; all but the first to the right."""
    widths = [max(len(line[column]) for line in (heads, *lines)) for column in range(len(heads))]

    def row(cells: list[str]) -> str:
        placed = [cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]
        return f"| {' | '.join(placed)} |"

    rule = f"|{'|'.join(['-' * (widths[0] + 2), *('-' * (width + 1) + ':' for width in widths[1:])])}|"
    return "\n".join([row(heads), rule, *map(row, lines)]) + "\n"


def spread(values: list[float], unit: str) -> str:
    """A median with the quartiles around it."""
    if len(values) < 2:
        return f"{short(median(values))} {unit}"
    low, _, high = quantiles(values, n=4, method="inclusive")
    return f"{short(median(values))} {unit} ({short(low)} to {short(high)})"


def limit(value: float | None) -> str:
    """A target."""
    return "" if value is None else f"{value:g}"


def short(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
