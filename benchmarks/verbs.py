"""Measures what the verbs take beside a plain check: each command on real models, in one process that has loaded all that it needs.

A command reads the file, asks its question and writes its answer as text. Each model is measured in a process of its own, after a round
that is not counted. `infer` names the sizes of a model that has open ones. `explain` is asked for the first output. Prints a line for each
model with open sizes, and a table for `docs/performance.md`.

    python -m benchmarks.verbs FOLDER_OR_FILE...
"""

import contextlib
import gc
import io
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import irshape
from benchmarks.measure import each_alone
from irshape.cli.main import main as command

# A model is measured so many times, or until it has had so many seconds, but at least twice.
_ROUNDS: Final = 5
_ENOUGH: Final = 4.0
VERBS: Final = ("infer", "signature", "cost", "summary", "info", "sizes", "explain", "view")
# The median that no verb shall exceed.
MOST: Final = 3.0


def lines(path: Path, folder: str) -> dict[str, list[str]]:
    """The command lines to measure, by verb; the plain check comes first."""
    model = irshape.read(path)
    layer = next((node.name for node in model.results if node.inputs), None)
    found = {verb: [verb, str(path)] for verb in ("check", *VERBS)}
    found["view"] += ["-o", os.path.join(folder, "page.html"), "--force"]
    if layer is None:
        del found["explain"]
    else:
        found["explain"] += [layer]
    return found


def spent(words: list[str]) -> float:
    """The CPU seconds of a command, whose report goes nowhere."""
    gc.collect()
    with contextlib.redirect_stdout(io.StringIO()):
        start = time.process_time()
        code = command(words)
        seconds = time.process_time() - start
    if code > 1:
        raise ValueError(f"{' '.join(words)}: ends with {code}")
    return seconds


def ratios(path: Path) -> dict[str, float]:
    """The time of each verb, divided by that of a plain check; and the milliseconds of the check."""
    with tempfile.TemporaryDirectory() as folder:
        words = lines(path, folder)
        seconds: dict[str, list[float]] = {verb: [] for verb in words}
        begin = time.process_time()
        for number in range(_ROUNDS + 1):
            for verb, one in words.items():
                seconds[verb].append(spent(one))
            if number == 0:
                seconds = {verb: [] for verb in words}
            elif number > 1 and time.process_time() - begin > _ENOUGH:
                break
    plain = median(seconds.pop("check"))
    return {"check": 1e3 * plain, **{verb: median(one) / plain for verb, one in seconds.items()}}


def is_open(path: Path) -> bool:
    """Whether a model that irshape accepts has an input or a variable with an open size."""
    model = irshape.read(path)
    inference = irshape.check(model)
    shapes = [port.text for port in (*inference.inputs, *(one for node in model.of_type("ReadValue") for one in inference[node].outputs))]
    return inference.ok and any("?" in one or ".." in one for one in shapes)


def table(found: dict[str, dict[str, float]]) -> list[str]:
    """The rows of the table: for each verb the median, the ninth decile and the worst."""
    rows = ["| verb | half of the models | nine of ten | worst |", "|---|---:|---:|---|"]
    for verb in VERBS:
        own = {name: one[verb] for name, one in found.items() if verb in one}
        if len(own) < 2:
            continue
        worst = max(own, key=lambda name: own[name])
        most = quantiles(own.values(), n=10, method="inclusive")[-1]
        rows.append(f"| `{verb}` | {median(own.values()):.2f} | {most:.2f} | {own[worst]:.2f} ({worst}) |")
    return rows


def main() -> None:
    """Measure each model in turn."""
    found: dict[str, dict[str, float]] = {}
    gc.disable()
    print(f"{'check':>9}  " + " ".join(f"{verb:>9}" for verb in VERBS), flush=True)
    for path, told in each_alone(sys.argv[1:], lambda path: ratios(path) if is_open(path) else None):
        found[path.stem] = told
        shown = " ".join(f"{told.get(verb, float('nan')):9.2f}" for verb in VERBS)
        print(f"{told['check']:6.2f} ms  {shown}  {path.parent.name}/{path.stem}", flush=True)
    print(f"\n{len(found)} models\n", *table(found), sep="\n")


if __name__ == "__main__":
    main()
