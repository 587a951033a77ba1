"""Inputs of a model that become constants or variables, and variables that become inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from io import BytesIO
from itertools import islice
from typing import Any, Final

from irshape.editing.arrays import Data, data_of
from irshape.editing.draft import Draft, types_inside
from irshape.editing.simplify import Simplification, simplified
from irshape.editing.state import EditError, Item, Value, joined_names
from irshape.files.reading import read
from irshape.inference.facts import Fact
from irshape.model.finding import preferred, similar
from irshape.model.model import split_names
from irshape.report.text import counted
from irshape.shape.dim import bounds
from irshape.shape.element_type import ElementType
from irshape.shape.shape import format_shape

# The rules of simplification that follow from a known value, and the number of elements that a message shows.
_RULES: Final = ("fold", "branch")
_SHOWN: Final = 8
VALUES: Final = "a number, true, false, a list ([1, 2.5]) or an .npy file"
"""What the command line takes as a value."""


def freeze(draft: Draft, name: str, value: Any) -> list[Simplification]:
    """Turn an input into a constant, fold what then is known, and return the steps.

    `value` is an array, a number or a text, or nested sequences of these; it must fit the element type and the shape of the input. Raises
    `EditError`, and then nothing has changed.
    """
    with draft.state.attempt():
        return [*simplified(draft, _RULES, [hold(draft, name, value)])]


def hold(draft: Draft, name: str, value: Any) -> Item:
    """Put a constant in the place of an input, and return it; nothing is folded."""
    state, parameter = draft.state, named_end(draft, "Parameter", name)
    own = parameter.outputs[0]
    data = _fitting(parameter, draft.facts.of(own), value)
    state.note("freeze", parameter.name, f"{data.element_type}{format_shape(data.shape)}: {_shown(data)}")
    constant = draft.constant(data, parameter.name, state.place_behind([parameter]))
    draft.redirect(own, constant)
    state.set_names(constant, own.names)
    state.set_names(own, None)
    state.leave(parameter)
    state.rename(constant.item, parameter.name)
    return constant.item


def parsed(text: str, most: int) -> Any:
    """A value as the command line gives it, one of `VALUES`; any other text is itself.

    A file may have `most` bytes. Raises `EditError` for a file that cannot be read and for a number that no element type holds.
    """
    if text.endswith(".npy"):
        return _loaded(text, most)
    import json

    try:
        return json.loads({"True": "true", "False": "false"}.get(text, text), parse_float=_real)
    except EditError:
        raise
    except (ValueError, RecursionError):
        return text


def _real(text: str) -> float:
    """A number with a fraction or an exponent."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise EditError(f"{text} is too large for every element type")
    return number


def _loaded(path: str, most: int) -> Any:
    """The array of an `.npy` file."""
    import numpy

    try:
        content = read(path, most)
    except OSError as error:
        raise EditError(f"{path}: {error.strerror or error}") from None
    if len(content) > most:
        raise EditError(f"{path} has more than {most} bytes (--limit size)")
    try:
        return numpy.load(BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise EditError(f"{path} is no .npy file: {error}") from None


def _fitting(parameter: Item, fact: Fact, value: Any) -> Data:
    """The content of a constant for an input. Raises `EditError` for a value that does not fit its element type or its shape."""
    element_type = None if fact.element_type is ElementType.dynamic else fact.element_type
    where = f"input {preferred(split_names(parameter.outputs[0].names)) or parameter.name!r}"
    kind = f"{where} has element type {element_type}"
    if element_type is not None and not hasattr(value, "dtype"):
        value = _exact(value, element_type, kind)
    try:
        data = data_of(value, element_type)
    except EditError as error:
        raise EditError(f"{kind}: {error}") from None
    if element_type is not None and hasattr(value, "dtype") and (value.dtype.kind == "b") is not (element_type is ElementType.boolean):
        raise EditError(f"{kind}, but the array has elements of type {value.dtype}")
    shape = fact.shape
    if shape is not None and not (len(shape) == len(data.shape) and all(map(_is_in, data.shape, shape))):
        given = f"but the value has the shape {format_shape(data.shape)}"
        raise EditError(f"{where} has the shape {format_shape(shape)}, {given}{_advice(data, shape)}")
    return data


def _advice(data: Data, shape: Any) -> str:
    """How to write a value for an input of another shape: one element in brackets, or a file."""
    if len(data.bytes) * 8 > max(data.element_type.bits, 8) or any(not _is_in(1, size) for size in shape):
        return "; an .npy file can hold a value of this shape (NAME=FILE.npy)"
    return f": write {'[' * len(shape)}{_shown(data)}{']' * len(shape)}"


def _is_in(size: int, wanted: Any) -> bool:
    low, high = bounds(wanted)
    return bool(low <= size <= high)


def _exact(value: Any, element_type: ElementType, kind: str) -> Any:
    """Python's numbers as elements of a type: a whole number stays an int, and no kind of element stands for another one."""
    if isinstance(value, list | tuple):
        return [_exact(one, element_type, kind) for one in value]
    if element_type is ElementType.string:
        return str(value)
    if not isinstance(value, int | float):
        raise EditError(f"{kind}, but {value!r} is not a value of this type: give {VALUES}")
    if element_type is ElementType.boolean:
        if value in (0, 1):
            return bool(value)
        raise EditError(f"{kind}: expected true or false, found {value}")
    if isinstance(value, bool):
        raise EditError(f"{kind}: expected a number, found {str(value).lower()}")
    if element_type.is_real:
        try:
            return float(value)
        except OverflowError:
            raise EditError(f"{kind}: {element_type} cannot hold the number {value}") from None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(data: Data) -> str:
    """The first elements of a constant."""
    try:
        elements: Iterator[Any] = iter(data.elements)
    except KeyError:  # NumPy has no such type
        return counted(len(data.bytes), "byte")
    shown = [*map(str, islice(elements, _SHOWN + 1))]
    return ", ".join([*shown[:_SHOWN], *["..."] * (len(shown) > _SHOWN)])


def stateful(draft: Draft, pairs: Mapping[str, str]) -> None:
    """Make a variable of each pair of an input and the output that gives its next value, as OpenVINO's MakeStateful does."""
    state = draft.state
    found = [(named_end(draft, "Parameter", name), named_end(draft, "Result", output), name + output) for name, output in pairs.items()]
    for position in (0, 1):
        ends = [pair[position] for pair in found]
        if twice := next((item for item in ends if ends.count(item) > 1), None):
            raise EditError(f"{twice!r} can belong to one variable only")
    known = {item.attributes.get("variable_id") for item in state.items.values()}
    with state.attempt():
        for parameter, result, variable in found:
            if variable in known:
                raise EditError(f"there is already a variable {variable!r}")
            value, source = parameter.outputs[0], result.inputs[0]
            if source is None:
                raise EditError(f"{result!r} has no tensor to read: connect its input first")
            state.note("make stateful", parameter.name, f"with {result.name}")
            fact = draft.facts.view.of(value)
            shape = format_shape(fact.shape).strip("[]")
            attributes = {"variable_id": variable, "variable_type": fact.element_type.name, "variable_shape": shape}
            reader = _replaced(draft, parameter, "ReadValue", attributes, [])
            state.set_names(reader.outputs[0], value.names)
            draft.redirect(value, reader.outputs[0])
            last = reader.outputs[0] if source is value else source
            state.leave(result)
            _renamed(draft, reader, parameter)
            _renamed(draft, _replaced(draft, result, "Assign", {"variable_id": variable}, [last]), result)


def stateless(draft: Draft, kept: Set[str] = frozenset()) -> dict[str, str]:
    """Make an input and an output of each variable, and return the name of the output by that of the input.

    Variables that are `kept` stay, and get the output alone. The id of a variable may hold both names, as that of `stateful` does. Such
    inputs and outputs come in the order of their numbers.
    """
    state = draft.state
    names: dict[str, str] = {}
    with state.attempt():
        for variable, (readers, assigns) in _variables(draft).items():
            state.note("make stateless", (readers or assigns)[0].name, variable)
            values = [] if variable in kept else [reader.outputs[0] for reader in readers]
            name, output = _ends(variable)
            if values:
                fact = draft.facts.view.of(values[0])
                new = draft.parameter(readers[0].name, fact.shape, fact.element_type)
                names_now = _named(draft, values[0], name)
                state.set_names(values[0], None)
                state.set_names(new.outputs[0], names_now)
                name = preferred(split_names(names_now))
                for reader, value in zip(readers, values, strict=True):
                    draft.redirect(value, new.outputs[0])
                    draft.remove(reader)
                _renamed(draft, new, readers[0])
                if state.named(name) is None:
                    state.rename(new, name)
            for assign in assigns:
                output = _output(draft, assign, output, is_kept=variable in kept)
            if name and output:
                names[name] = output
        for item in draft.dead():  # what computed the first values
            state.leave(item)
    return names


def _variables(draft: Draft) -> dict[str, tuple[list[Item], list[Item]]]:
    """The layers that read each variable, and those that assign it, in the order of the file."""
    found: dict[str, tuple[list[Item], list[Item]]] = {}
    for item in sorted(draft.state.items.values(), key=lambda item: item.place):
        if types_inside(item).keys() & {"ReadValue", "Assign"}:
            raise EditError(f"{item!r} has a variable in its body, which cannot become an input")
        if item.type in ("ReadValue", "Assign"):
            found.setdefault(item.attributes.get("variable_id", ""), ([], []))[item.type == "Assign"].append(item)
    return dict(sorted(found.items(), key=lambda one: _order(one[0])))


def _ends(variable: str) -> tuple[str, str]:
    """The names of the input and the output that the id of a variable holds: `past.0present.0`; empty ones if it holds none."""
    match = re.fullmatch(r"((.*)past(?:_key_values)?(.*))(\2present\3)", variable)
    return (match[1], match[4]) if match else ("", "")


def _order(variable: str) -> tuple[bool, list[str | int]]:
    """What orders variables: those whose ids hold names by these, with numbers as numbers; the others stay, behind them."""
    name = _ends(variable)[0]
    return not name, [int(part) if part.isdecimal() else part for part in re.split("([0-9]+)", name)]


def _named(draft: Draft, value: Value, wanted: str) -> str | None:
    """The names of a tensor with a wanted one before them, which no other tensor may have."""
    own = split_names(value.names)
    other = draft.tensor(wanted) if wanted else None
    return joined_names([*([wanted] if wanted and other in (None, value) else []), *own]) or joined_names([value.item.name])


def named_end(draft: Draft, type: str, name: str) -> Item:
    """The Parameter or the Result of a name, which is that of its tensor or its layer. Raises `EditError` if there is none."""
    ends = draft.of_type(type)
    if (found := next((item for item in ends if _is_called(item, name)), None)) is not None:
        return found
    values = ((item, item.outputs[0] if item.outputs else item.inputs[0]) for item in ends)
    known = [one for item, value in values for one in (item.name, *split_names(value.names if value is not None else None))]
    raise EditError(f"the model has no {'input' if type == 'Parameter' else 'output'} {name!r}{similar(name, known)}")


def is_named_end(draft: Draft, type: str, name: str) -> bool:
    """Whether a Parameter or a Result has a name."""
    return any(_is_called(item, name) for item in draft.of_type(type))


def _is_called(item: Item, name: str) -> bool:
    value = item.outputs[0] if item.type == "Parameter" else item.inputs[0]
    own = {item.name, *split_names(None if value is None else value.names)}
    return name in own or (value is not None and not value.names and name == value.item.name)


def _replaced(draft: Draft, item: Item, type: str, attributes: dict[str, str], inputs: list[Value]) -> Item:
    """A new layer that stands in the file where another one stands."""
    return draft.put(type, item.name, attributes, inputs, version="opset6", place=draft.state.place_behind([item]))


def _renamed(draft: Draft, new: Item, old: Item) -> None:
    state = draft.state
    if state.is_live(old):
        state.leave(old)
    if state.named(old.name) is None:
        state.rename(new, old.name)


def _output(draft: Draft, assign: Item, name: str, *, is_kept: bool) -> str:
    """Add the output that stands for an Assign, or beside one that is kept, if possible under a name, and return its name."""
    state = draft.state
    source = assign.inputs[0]
    if source is None:
        raise EditError(f"{assign!r} has no tensor to assign: connect its input first")
    own = assign.name
    if is_kept:
        own += "/result"
    else:
        for value in assign.outputs:
            draft.redirect(value, source)
        state.leave(assign)
    new = draft.result(source, name if name and state.named(name) is None else own)
    state.set_names(source, _named(draft, source, name or ("" if source.names else new.name)))
    return preferred(split_names(source.names))
