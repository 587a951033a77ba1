"""The shapes and symbols that the command line and the configuration give to the inputs of one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

from irshape.cli.run import RunError
from irshape.inference.inputs import InputError, described_shape, input_names, is_pattern, matched, split_input, unknown_input
from irshape.model.finding import end_name
from irshape.model.model import Model, Node
from irshape.report.text import escape
from irshape.shape.notation import ShapeSyntaxError, parse_shape

if TYPE_CHECKING:
    from irshape.settings.settings import FileSettings


# A text that is no shape for sure: it may be meant as the value of the input.
_VALUE: Final = re.compile(r"[+-]?[0-9.]+(?:e[+-]?[0-9]+)?|true|false|.*\.npy", re.IGNORECASE)


class OptionFit(NamedTuple):
    """An option about an input, as one file meets it: the reason why it does not fit the file, empty if it does.

    `is_own` says that the option is of the command line, not of a configuration.
    """

    option: str
    reason: str
    is_own: bool


def asked_of(
    model: Model,
    asked: Sequence[str],
    symbols: Mapping[str, str],
    own: FileSettings | None,
    names_of: Callable[[Mapping[str, str]], frozenset[str]],
    *,
    is_many: bool,
) -> tuple[dict[str, str], dict[str, str], list[OptionFit]]:
    """The shapes and the symbols for a file, by name, and every option about them.

    `asked` are the shapes of the command line, `symbols` its symbols, and `names_of` tells which symbols the file has for shapes of
    inputs. In a run over several files (`is_many`), an option applies to the files that it fits: those that have such an input, of as many
    axes. A single file must have what the command line asks for. A configuration is for many files in any case. Raises `RunError`.
    """
    inputs: dict[str, str] = {}
    patterns: dict[str, str] = {}
    fits: list[OptionFit] = []
    names = input_names(model) if asked or (own and own.inputs) else {}
    for text in asked:
        name, shape, reason = _parted(text, model, names)
        if not reason and is_many:
            reason = _misfit(name, shape, model, names)
        if reason and not is_many:
            raise RunError(reason)
        fits.append(OptionFit(f"--input {text!r}", reason, is_own=True))
        if not reason:
            (patterns if _is_pattern(name, names) else inputs)[name] = shape
    _expand(patterns, inputs, names)
    known = dict(symbols)
    if own is not None:
        taken = {names.get(name) for name in inputs}
        patterns = {}
        for name, shape in own.inputs.items():
            reason = _misfit(name, shape, model, names)
            fits.append(OptionFit(f"inputs.{name} of {own.configuration}", reason, is_own=False))
            if not reason and _is_pattern(name, names):
                patterns[name] = shape
            elif not reason and names[name] not in taken:
                inputs[name] = shape
        _expand(patterns, inputs, names)
        known = {**own.symbols, **symbols}
    fits += _settle(known, symbols, own, partial(names_of, inputs), is_many=is_many)
    return inputs, known, fits


def _settle(
    known: dict[str, str], symbols: Mapping[str, str], own: FileSettings | None, names_of: Callable[[], frozenset[str]], *, is_many: bool
) -> Iterator[OptionFit]:
    """Leave out the symbols that a file does not have, unless the command line asks for them in the only file."""
    checked = [name for name in known if is_many or name not in symbols]
    letters = {letter for size in known.values() for letter in re.findall(r"[A-Za-z_]\w*", size)}  # the j of S=2*j j=1..6
    names = names_of() | letters if checked else frozenset()
    for name in checked:
        is_own = name in symbols
        option = f"--set {name}" if is_own else f"symbols.{name} of {own.configuration if own else ''}"
        yield OptionFit(option, "" if name in names else f"the model has no symbol {name!r}", is_own=is_own)
        if name not in names:
            del known[name]


def _parted(text: str, model: Model, names: Mapping[str, Node]) -> tuple[str, str, str]:
    """The name and the shape in an `--input`, and the reason why there are none. The only input of a model needs no name."""
    name, shape = split_input(text, list(names))
    if shape in names or (name in names and not shape):
        return "", "", f"--input {text!r} has no shape; write {text}[1,3,H,W]"
    if name is None:
        if len(model.parameters) != 1:
            has = ", ".join(map(repr, names)) or "none"
            return "", "", f"--input {text!r} names no input; inputs of the model: {has}"
        name = model.parameters[0].name
    if _VALUE.fullmatch(shape):
        own, path = quote(f"{name}={shape}"), quote(model.document.path or "FILE")
        told = f"--input {text!r} could be a shape or a value; a shape has brackets: {name}[{shape}]"
        return "", "", f"{told}; to give the input this value: irshape edit {path} --freeze {own} -o OUT.xml"
    return name, shape, ""


def _misfit(name: str, shape: str, model: Model, names: Mapping[str, Node]) -> str:
    """Why a file has no such input; empty if it has one."""
    if name in names:
        nodes = [names[name]]
    elif not is_pattern(name):
        return unknown_input(name, [end_name(node) for node in model.parameters])
    else:
        try:
            nodes = matched(name, names)
        except InputError as error:
            return str(error)
    try:
        wanted = parse_shape(shape)
    except ShapeSyntaxError:
        return ""  # a fault of the option, which every file reports
    for node in nodes:
        recorded = described_shape(node)
        if recorded is not None and wanted is not None and len(recorded) != len(wanted):
            return f"the input {end_name(node)!r} has rank {len(recorded)}, not {len(wanted)}"
    return ""


def _is_pattern(name: str, names: Mapping[str, Node]) -> bool:
    return name not in names and is_pattern(name)


def _expand(patterns: Mapping[str, str], inputs: dict[str, str], names: Mapping[str, Node]) -> None:
    """Add the inputs that patterns match; those that have a shape keep it, and of several patterns the last one counts."""
    taken = {names.get(name) for name in inputs}
    for name, shape in patterns.items():
        inputs.update((node.name, shape) for node in matched(name, names) if node not in taken)


def shapes_of(model: Model, texts: Sequence[str]) -> dict[str, str]:
    """The shapes in options like `--input`, by name. Raises `InputError`."""
    names = input_names(model)
    parted = [_parted(text, model, names) for text in texts]
    for _, _, reason in parted:
        if reason:
            raise InputError(reason)
    return {name: shape for name, shape, _ in parted}


def matches(model: Model, asked: Sequence[str]) -> Iterator[str]:
    """The inputs that each pattern on the command line matches."""
    names = input_names(model)
    for text in asked:
        name, _, reason = _parted(text, model, names)
        if not reason and _is_pattern(name, names):
            yield f"{escape(name)} matches {', '.join(escape(node.name) for node in matched(name, names))}"
