"""The measurements as a table in Markdown."""

from collections.abc import Iterable
from statistics import median, quantiles

from benchmarks.measure import Bytes, Row


def ratio(row: Row) -> float:
    """The ratio of the medians."""
    return median(row.ours) / median(row.theirs)


def met(row: Row) -> str:
    """Which target a row meets."""
    if row.must is None or row.aim is None:
        return ""
    return "aim" if ratio(row) <= row.aim else "must" if ratio(row) <= row.must else "**no**"


def table(rows: Iterable[Row]) -> str:
    """All rows, those of a measure together."""
    rows = list(rows)
    lines = ["| measure | model | layers | irshape | OpenVINO | ratio | must | aim | met |", "|---|---|--:|--:|--:|--:|--:|--:|---|"]
    for measure in dict.fromkeys(row.measure for row in rows):
        for row in rows:
            if row.measure == measure:
                cells = [
                    measure, row.model, f"{row.layers:,}", spread(row.ours, row.unit), spread(row.theirs, row.unit), short(ratio(row)),
                    limit(row.must), limit(row.aim), met(row),
                ]  # fmt: skip
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def bytes_table(found: Iterable[Bytes]) -> str:
    """How much of each `.bin` is needed and read."""
    lines = ["| `.bin` of | bytes | needed | read | must | aim: each once |", "|---|--:|--:|--:|---|---|"]
    for model, size, needed, read in found:
        marks = ("yes" if set(read) == needed else "**no**", "yes" if len(read) == len(set(read)) else "no")
        sizes = (sum(size for _, size in ranges) for ranges in (needed, read))
        lines.append(f"| {model} | {size:,} | {' | '.join(f'{size:,}' for size in sizes)} | {' | '.join(marks)} |")
    return "\n".join(lines) + "\n"


def spread(values: list[float], unit: str) -> str:
    """A median with the quartiles around it."""
    if len(values) < 2:
        return f"{short(median(values))} {unit}"
    low, _, high = quantiles(values, n=4, method="inclusive")
    return f"{short(median(values))} {unit} ({short(low)} to {short(high)})"


def limit(value: float | None) -> str:
    """A target."""
    return "" if value is None else f"≤ {value}"


def short(value: float) -> str:
    """Three digits that count."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
