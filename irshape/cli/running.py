"""The run of two models in a command: its options, its table, and the proof that a changed model computes the same."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from irshape.cli.arguments import INPUT, OUTPUT, most
from irshape.cli.run import FAULTS, RunError
from irshape.cli.texts import table
from irshape.report.section import Block, Section, bold, paragraph
from irshape.report.text import counted, escape

if TYPE_CHECKING:
    from irshape.running.results import OutputDifference, Run, RunComparison

# The most outputs of a run that are listed, and the word for a number that does not exist.
_MOST_ROWS = 6
_NONE = "-"
_OPTIONS = ("first", "data", "batch", "rtol", "atol", "seed")


def add_run_arguments(command: ArgumentParser) -> None:
    """Add the options of a run."""
    from irshape.running.limits import RUNS

    group = command.add_argument_group(INPUT).add_argument
    group("--run", action="store_true", help="run both models with OpenVINO, in a process of its own, and compare their outputs")
    group("--first", action="store_true", help="with --run, find the first layer that differs")
    group("--data", metavar="INPUTS.npz", help="with --run, the inputs, by name (default: random values)")
    group("--batch", type=most, metavar="N", help="with --run, run B with the batch N, and A on each sample")
    group("--rtol", type=_tolerance, metavar="R", help="with --run, the part of an output's largest number that is no difference")
    group("--atol", type=_tolerance, metavar="A", help="with --run, the number that is no difference")
    group("--seed", type=int, metavar="N", help="with --run, another seed of the random values (default: 0)")
    command.set_defaults(allowance=RUNS)


def add_prove(command: ArgumentParser, limit: str = "") -> None:
    """Add the option of a command that writes a changed model. `limit` says for which models it works."""
    help = f"run both models with OpenVINO on equal inputs, and write nothing if an output differs{limit}"
    command.add_argument_group(OUTPUT).add_argument("--prove", action="store_true", help=help)


def ran(given: Namespace, a: Any, b: Any, **reading: Any) -> RunComparison:
    """The comparison that the options ask for. Raises `RunError`."""
    from irshape.running.comparison import compare
    from irshape.running.runner import RunningError

    try:
        return compare(a, b, **_options(given), allowance=given.allowance, **reading)
    except RunningError as error:
        raise RunError(str(error)) from None


def unasked(given: Namespace) -> str | None:
    """The complaint about an option of a run without `--run`; None if there is none."""
    named = next(iter(_options(given)), None)
    return None if named is None or given.run else f"--{named} needs --run, because it executes the models"


def _options(given: Namespace) -> dict[str, Any]:
    """The options of a run that are given, a tolerance of 0, too."""
    return {name: value for name in _OPTIONS if (value := getattr(given, name)) is not None and value is not False}


def proved(a: Any, b: Any, *, batch: str | None = None, otherwise: str = "") -> str:
    """The line that says that a changed model computes what the model before it does. Raises `RunError` if it does not.

    `otherwise` is what the message adds where both give other shapes.
    """
    from irshape.running.comparison import proof
    from irshape.running.runner import RunningError

    try:
        found = proof(a, b, batch)
    except RunningError as error:
        raise RunError(f"nothing is written, because --prove has no proof: {error}") from None
    if not found.is_same:
        raise RunError(f"nothing is written: {found.summary}{otherwise if found._has_other_shapes else ''}", FAULTS)
    if found._proves_nothing:
        other = "write it without --prove, and compare the files on other inputs: irshape diff A.xml B.xml --run --data INPUTS.npz"
        raise RunError(f"nothing is written, because --prove has no proof: {found.summary}; {other}")
    return f"proved: {escape(found.summary)}"


def sections(comparison: RunComparison, told: Sequence[tuple[str | None, str | None]] = (), *, is_complete: bool) -> Iterator[Section]:
    """The runs as tables, with the outputs that differ most first; `told` are the new names that are already shown."""
    for run in comparison.runs:
        failures = (f"  {letter.upper()} fails: {why}" for letter, why in run.failures.items())
        ordered = sorted(run.outputs, key=lambda one: (one.is_same, -(one.relative or 0.0)))
        outputs = _table(ordered, most=None if is_complete else _MOST_ROWS)
        yield paragraph((bold("run"), f" {_sizes(run)}"), *failures, *outputs)
    renamed = (f"  output {a} of A is {b} in B" for a, b in comparison.renamed.items() if (a, b) not in told)
    yield paragraph(*renamed, *(f"  only A has the output {name}" for name in comparison.missing))
    if (first := comparison.first) is not None:
        other = "" if first.layer == first.layer_of_b else f" ({first.layer_of_b} in B)"
        found = f" {first.type} {first.layer}{other}, found in {counted(first.runs, 'run')}"
        output = first.output._replace(name=f"output of {first.output.name}")
        yield paragraph((bold("first layer that differs"), found), *_table([*first.before, output], most=None))
    yield paragraph(*([f"first difference: {comparison._unfound}"] if comparison._unfound is not None else []))
    rtol, atol, precision = comparison.tolerance
    tolerance = f"tolerance: {rtol:g} of the largest number, and {atol:g} ({precision}); --rtol and --atol change it"
    other = ": give other inputs with --data" if comparison.is_same and comparison._proves_nothing else ""
    yield paragraph(*([] if comparison.is_same else [tolerance]), f"{comparison.summary}{other}")


def _sizes(run: Run) -> str:
    """The shapes of the inputs, those of B where they are others."""
    a, b = ("  ".join(f"{name}[{','.join(map(str, shape))}]" for name, shape in own.items()) for own in (run.shapes, run.shapes_of_b))
    return a if list(run.shapes.values()) == list(run.shapes_of_b.values()) or not a else f"{a}; B {b}"


def _table(outputs: list[OutputDifference], *, most: int | None) -> Iterator[Block]:
    """The outputs, and of each the element that differs most."""
    if outputs:
        head = "", "OUTPUT", "SHAPE", "ABSOLUTE", "RELATIVE", "COSINE", "AT", "A", "B"
        yield table(head, [_row(one) for one in outputs])._replace(remark=" outputs (--all lists them)").some(most)


def _row(one: OutputDifference) -> tuple[str, ...]:
    a, b = (f"[{','.join(map(str, shape))}]" for shape in one.shapes)
    numbers = (_NONE if number is None else f"{number:.3g}" for number in (one.absolute, one.relative))
    cosine = _NONE if one.cosine is None else f"{one.cosine:.6g}"
    at = _NONE if one.at is None else f"[{','.join(map(str, one.at))}]"
    values = one.values or (_NONE, _NONE)
    return "same" if one.is_same else "differs", one.name, a if a == b else f"{a} -> {b}", *numbers, cosine, at, *values


def _tolerance(text: str) -> float:
    number = float(text)
    if not isfinite(number) or number < 0:
        raise ValueError
    return number
