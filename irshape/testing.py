"""Assertions about models for tests: that a model is valid, that an output has a shape, that two models are the same.

They fail with an `AssertionError` whose text is irshape's report. `pytest --irshape` also collects every `.xml` file as a test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar, Unpack, cast

import irshape
from irshape.api.inference import Inference, InferredPort
from irshape.api.reading import Reading, named
from irshape.diagnosis.diagnosis import choose
from irshape.inference.inputs import UNNAMED, Shapes, Symbols
from irshape.model.finding import end_name, find, known_names, similar
from irshape.model.public import Model, public
from irshape.report.diagnostic import NOTE
from irshape.report.section import faults
from irshape.report.selection import Choice, Selection, checked_prefix
from irshape.report.surface import knowing
from irshape.report.terminal import block_lines, lines
from irshape.report.text import counted, escape, verdict
from irshape.shape.dim import Dim, Size, bounds, eq_unasked, formula_text
from irshape.shape.element_type import ElementType
from irshape.shape.limits import DEFAULT, Limits
from irshape.shape.notation import parse_shape

if TYPE_CHECKING:
    from irshape.ops.extensions import Extensions
    from irshape.report.section import Section
    from irshape.xml.source import Source

_P = ParamSpec("_P")
_R = TypeVar("_R")
_TYPED: Final = re.compile(r"\s*([a-z][a-z0-9]*)?\s*\[(.*)\]\s*", re.DOTALL)
_COMMA: Final = re.compile(r",(?![^()]*\))")
_OPTIONS: Final = re.compile(r" \(--all lists them\)|; --all lists them|--(?=[ar]tol)")
_MOST_LINES: Final = 20

Bindings: TypeAlias = dict[str, Size]
"""The sizes that the names in an expected shape stand for."""


def _told(assertion: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make an assertion `knowing`, and let it raise its errors without the frames of irshape, which pytest would show."""
    knows = knowing(assertion)

    @wraps(assertion)
    def call(*given: _P.args, **named: _P.kwargs) -> _R:
        __tracebackhide__ = True
        try:
            return knows(*given, **named)
        except Exception as error:
            raise error.with_traceback(None) from None

    return call


@_told
def assert_valid(
    source: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] = (),
    targets: str | Iterable[str] = (),
    strict: bool = False,
    **reading: Unpack[Reading],
) -> Inference:
    """Assert that a model has no errors, and with `strict` no warnings either; returns what `irshape.check` returns.

    `select` and `ignore` choose codes as in the command line (`["S", "W1"]`). The other arguments are those of `irshape.check`. No
    configuration is read. Raises `AssertionError` with the report, ValueError for an unknown code, and the errors of `irshape.check`.
    """
    inference = irshape.check(source, inputs=inputs, symbols=symbols, targets=targets, **reading)
    choice = Choice(None if select is None else list(map(checked_prefix, named(select))), list(map(checked_prefix, named(ignore))))
    choose(inference._inference, Selection([choice]))
    if not inference.ok or (strict and any(one.severity != NOTE for one in inference.diagnostics)):
        raise AssertionError("\n".join(report(inference)))
    return inference


def report(inference: Inference) -> Iterator[str]:
    """The diagnostics of a model, as the command line prints them, under a line with their number."""
    counts: Counter[str] = Counter()
    for diagnostic in inference.diagnostics:
        counts[diagnostic.severity] += diagnostic.count
    yield f"{_name(inference)}: {verdict(counts)}"
    yield from (_OPTIONS.sub("", line) for line in block_lines(faults(inference.diagnostics)))


@_told
def assert_shape(
    source: Source | Model | Inference,
    name: str | int,
    expected: str | Sequence[int | str | None],
    *,
    port: int | None = None,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    **reading: Unpack[Reading],
) -> None:
    """Assert that a tensor has a shape, and an element type if `expected` names one (`"f32[B,1000]"`); a tuple is a shape, too.

    `name` is that of the tensor, or of a layer, whose first output is meant, or the position of an output of the model; `port` is the id of
    another port. In `expected`, a number is that size, `224..448` a size in that range, `?` any size and `[...]` any shape. A symbol of the
    signature (`H`), or a formula of its symbols (`(H + 1)//2`), is exactly that size. Any other name stands for one open size, the same
    wherever the name is. `source` may be an `Inference` that was made before; else the other arguments are those of `irshape.infer`. Raises
    `AssertionError` with both shapes, ValueError if `expected` cannot be read, and the errors of `irshape.infer`.
    """
    if not isinstance(source, Inference):
        source = irshape.infer(source, inputs=inputs, symbols=symbols, **reading)
    if not isinstance(expected, str):
        expected = f"[{','.join('?' if size is None else str(size) for size in expected)}]"
    element_type, fields = _parsed(expected)
    found = _find(source, name, port)
    lines: list[str] = []
    if element_type and found.element_type.name != element_type:
        lines.append(f"the element type is {found.element_type}, not {element_type}")
    if fields is not None:
        lines += _differences(source, found.shape, fields)
    if lines:
        errors = [] if source.ok else ["", *report(source)]
        heading = f"{_name(source)}: {escape(str(name))} is not {expected.strip()}"
        raise AssertionError("\n".join([heading, *(f"  {line}" for line in lines), *errors]))


@_told
def assert_same(
    a: Source | Model,
    b: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    weights: tuple[Any, Any] = (None, None),
    opaque: str | Iterable[str] = (),
    limits: Limits = DEFAULT,
    extensions: Extensions = (),
    run: bool = False,
    **running: Any,
) -> None:
    """Assert that two models have the same graph; ids, generated names and recorded shapes may differ.

    The arguments are those of `irshape.diff`. Raises `AssertionError` with the differences, also if constants could not be compared
    because weights are missing, and the errors of `irshape.diff`. With `run`, assert that both compute the same, whatever their graphs:
    OpenVINO runs them, and the further arguments are those of `irshape.compare`.
    """
    if running and not run:
        raise TypeError(f"{min(running)} needs run=True, because it executes the models")
    if run:
        from irshape.cli.running import sections as run_sections

        if inputs or symbols:
            raise TypeError("inputs and symbols do not go with run=True: the run finds sizes; give data=")
        first, second = (
            one if isinstance(one, Model) else irshape.read(one, weights=own, opaque=opaque, limits=limits, extensions=extensions)
            for one, own in zip((a, b), weights, strict=True)
        )
        comparison = irshape.compare(first, second, **running)
        if not comparison.is_same or comparison.missing:
            raise AssertionError(_cut(run_sections(comparison, is_complete=False), "irshape.compare(a, b).runs"))
        return
    difference = irshape.diff(a, b, inputs=inputs, symbols=symbols, weights=weights, opaque=opaque, limits=limits, extensions=extensions)
    if not difference.is_same or difference.uncompared:
        from irshape.cli.diff import sections

        raise AssertionError(_cut(sections(difference, is_complete=False), "irshape.diff(a, b).changes"))


def _cut(report: Iterable[Section], everything: str) -> str:
    """The first lines of a report and its last one, without what is said of options; then the expression that has all of it."""
    told = [_OPTIONS.sub("", line) for line in lines(report)]
    if len(told) > _MOST_LINES:
        indents, end = [len(line) - len(line.lstrip()) for line in told], _MOST_LINES - 1
        while end > 1 and (not told[end - 1] or indents[end - 1] < indents[end]):  # no heading is left without a row
            end -= 1
        told[end:-1] = [f"and {counted(len(told) - end - 1, 'more line')}"]
    return "\n".join([*told, f"all of it: {everything}"])


def _name(inference: Inference) -> str:
    return escape(inference._inference.document.path or "<input>")


def _find(inference: Inference, name: str | int, port: int | None) -> InferredPort:
    """The port of a tensor or layer. Raises AssertionError if the model has none of this name."""
    model = inference.model._graph
    if isinstance(name, int) and -len(model.results) <= name < len(model.results):
        return inference.outputs[name]
    found = [] if isinstance(name, int) else find(model, name, by_name=True)
    for _, node, output in found:
        view = inference[public(node)]
        ports = [*view.outputs, *view.inputs]
        if output is not None and port is None:
            return ports[output]
        if wanted := next((one for one in ports if port in (None, one.id)), None):
            return wanted
    outputs = ", ".join(map(end_name, model.results)) or "none"
    lead = f" with port {port}" if found else similar(str(name), known_names(model)) or f"; its outputs are {outputs}"
    raise AssertionError(f"{_name(inference)}: the model has no tensor or layer {name!r}{lead}")


def _parsed(expected: str) -> tuple[str, list[str] | None]:
    """The element type and the sizes of an expected shape as text; no type is empty, and None is any shape."""
    match = _TYPED.fullmatch(expected)
    if match is None or (match[1] and not isinstance(getattr(ElementType, match[1], None), ElementType)):
        raise ValueError(f"{expected!r} is not a shape; write [B,1000] or f32[1,3,224..448,?]")
    inner = match[2].strip()
    if inner == "...":
        return match[1] or "", None
    return match[1] or "", [field.strip() for field in _COMMA.split(inner)] if inner else []


def _differences(inference: Inference, shape: tuple[Size, ...] | None, fields: Sequence[str]) -> list[str]:
    """A table of the expected and the inferred sizes in which the different ones are marked; empty if all fit."""
    for field in fields:
        if own := re.search(rf"\b{UNNAMED}\b", field):
            raise ValueError(f"{own[0]!r} is a name that irshape gives to a size without a name; write ? or another name")
    if shape is None:
        return ["the rank is unknown", f"expected  [{','.join(fields)}]", "inferred  [...]"]
    bound: Bindings = {}
    missing: list[str] = []
    fits = [_fits(inference, size, field, bound, missing) for size, field in zip(shape, fields, strict=False)]
    if len(shape) == len(fields) and all(fits):
        return []
    sizes = [_text(inference, size) for size in shape]
    columns = [
        (str(index), field, size, "" if fit else "^" * max(len(field), len(size), 1))
        for index, (field, size, fit) in enumerate(zip_longest(fields, sizes, fits, fillvalue=""))
    ]
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    lines = [
        f"{label:8}  {'  '.join(f'{cell:{width}}' for cell, width in zip(row, widths, strict=True))}".rstrip()
        for label, row in zip(("axis", "expected", "inferred", ""), rows, strict=True)
    ]
    inputs = ", ".join([f"{port.name}{port.formula}" for port in inference.inputs])
    lines += [f"no input has the symbol {name!r}; the inputs are {inputs}" for name in dict.fromkeys(missing)]
    return lines if len(shape) == len(fields) else [f"the rank is {len(shape)}, not {len(fields)}", *lines]


def _text(inference: Inference, size: Size) -> str:
    """A size as its formula, with its range if it has one."""
    if not isinstance(size, Dim):
        return str(size)
    formula, interval = formula_text(size), inference._inference.format((size,)).strip("[]")
    return formula if interval == "?" else f"{formula} in {interval}"


def _fits(inference: Inference, size: Size, field: str, bound: Bindings, missing: list[str]) -> bool:
    """Whether a size is the expected one; binds a name that no input has, and collects those that a formula may not have.

    Raises ValueError for a field that is no size.
    """
    try:
        (one,) = parse_shape(f"[{field}]") or ()
        if one.formula is None and not one.name:
            low, high = inference._inference.bounds(size) if isinstance(size, Dim) else bounds(size)
            return one.low <= low and high <= one.high
        known = {name: bound.get(name, inference._inference.scope.named(name)) for name in one.symbols}
        for name, found in known.items():
            if found is None and isinstance(size, Dim):  # as the signature calls a size without a name
                found = known[name] = size.scope.named(name)
            if found is None and name == field:
                if isinstance(size, Dim):
                    bound[field] = size
                return isinstance(size, Dim)
            if found is None:
                missing.append(name)
                return False
        return eq_unasked(size, one.size(lambda name: cast("Size", known[name]))) is True
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{field!r} is not a size; write 5, ?, 1..8, H or (H + 1)//2") from None
