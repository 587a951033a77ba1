"""Properties of every explanation: its formulas give its numbers, its steps read earlier steps, and its places exist."""

import re
from itertools import count
from math import ceil, floor, trunc
from typing import Any

from irshape.answers.explain.explanation import Explanation, Step

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.shape)?(?:\[[\d,]+\])*(?!\w|\()")
_SYMBOL = re.compile(r"\b[A-Za-z]\w*\b(?!\()")
_ATTRIBUTE = r"[\w.-]+\s*="
_PLACES = {
    "attribute": f"{_ATTRIBUTE}|<input |<output |<layer",
    "axis": _ATTRIBUTE,
    "input": _ATTRIBUTE,
    "element": "<layer",
    "port": "<port",
}
_FUNCTIONS = {
    "ceil": ceil, "floor": floor, "trunc": trunc, "abs": abs, "min": min, "max": max,
    "broadcast": max,
}  # fmt: skip


def faults(explanation: Explanation, source: bytes, weights: bytes | None) -> list[str]:
    """The properties that an explanation of an IR violates."""
    found = []
    for number, step in enumerate(explanation.steps, 1):
        if step.number != number:
            found.append(f"step {number} has the number {step.number}")
        found += [f"{step!r}: {fault}" for fault in _faults_of_step(step, source, weights, explanation)]
    for answer in explanation.answers:
        if answer.step is None or explanation.steps[answer.step - 1].value != answer.value:
            found.append(f"{answer!r} is not told by its step")
    return found


def _faults_of_step(step: Step, source: bytes, weights: bytes | None, explanation: Explanation) -> list[str]:
    found = []
    if not _begins(source, step.where.offset, "<layer") and not _begins(source, step.where.offset, "<port"):
        found.append("there is no layer at its place")
    for read in step.reads:
        if read.kind == "step":
            told = explanation.steps[(read.step or 0) - 1]
            if told.value not in (read.value, "not known") and not step.note:
                found.append(f"{read!r}, which is {told.value}")
            if told.number >= step.number and "previous iteration" not in told.note + step.note:
                found.append(f"{read!r} comes later")
        elif read.where is not None:
            word = _PLACES[read.kind]
            if not _begins(source, read.where.offset, word):
                found.append(f"{read!r}: nothing stands there")
        if read.bytes is not None and weights is not None:
            data = weights[read.bytes[1] : read.bytes[2]]
            if len(data) == 8 and re.fullmatch(r"-?\d+", read.value) and int.from_bytes(data, "little", signed=True) != int(read.value):
                found.append(f"{read!r}: the bytes hold {int.from_bytes(data, 'little', signed=True)}")
    is_call = re.match(r"[A-Z]\w*\(", step.formula)
    if step.formula and not is_call and "..." not in step.formula + step.numbers:
        found += _faults_of_formula(step)
    return found


def _faults_of_formula(step: Step) -> list[str]:
    values = {read.name: read.value for read in step.reads}
    missing = [name for name in _NAME.findall(step.formula) if name not in values]
    if missing:
        return [f"{missing} are read nowhere"]
    put = _NAME.sub(lambda match: f"({values[match[0]]})", step.formula)
    if set(re.findall(_SYMBOL, step.value)) != set(re.findall(_SYMBOL, put)):
        return []  # the ranges of the sizes allow a simpler value
    sizes = dict(zip(sorted(set(re.findall(_SYMBOL, put + step.numbers + step.value))), count(27721, 13), strict=False))
    is_real = re.search(r"\d\.\d|\de[-+]\d", put + step.value) is not None
    results = [_value(text, sizes, is_real=is_real) for text in (put, step.numbers, step.value)]
    close = all(abs(one - results[-1]) <= 1e-5 * abs(results[-1]) for one in results)
    return [] if close else [f"with {sizes} the formula, its numbers and its value are {results}"]


def _value(text: str, sizes: dict[str, int], *, is_real: bool) -> Any:
    if not is_real:
        # What must leave no remainder does so for the sizes of the model; for these it is rounded down on both sides.
        text = re.sub(r"(?<!/)/(?!/)", "//", text) if "ceil" not in text else text
    return eval(text, {"__builtins__": {}}, {**_FUNCTIONS, **sizes})


def _begins(source: bytes, offset: int | None, word: str) -> bool:
    return offset is not None and re.match(word.encode(), source[offset : offset + 80]) is not None
