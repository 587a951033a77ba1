"""Inputs of a model that become constants, and the layers whose values and branches are then known."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any, Final

from irshape.editing.arrays import Data, data_of
from irshape.editing.draft import Draft
from irshape.editing.simplify import Simplification, simplified
from irshape.editing.state import EditError, Item
from irshape.editing.variables import named_end
from irshape.files.reading import read
from irshape.inference.facts import Fact
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
    state = draft.state
    with state.attempt():
        parameter = named_end(draft, "Parameter", name)
        own = parameter.outputs[0]
        data = _fitting(parameter, draft.facts.of(own), value)
        state.note("freeze", parameter.name, f"{data.element_type}{list(data.shape)}: {_shown(data)}")
        constant = draft.constant(data, parameter.name, state.place_behind([parameter]))
        draft.redirect(own, constant)
        state.set_names(constant, own.names)
        state.set_names(own, None)
        state.leave(parameter)
        state.rename(constant.item, parameter.name)
        return [*simplified(draft, _RULES, [constant.item])]


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
    where = f"input {parameter.name!r}"
    kind = f"{where} has element type {element_type}"
    if element_type is not None and not hasattr(value, "dtype"):
        value = _exact(value, element_type, kind)
    try:
        data = data_of(value, element_type)
    except EditError as error:
        raise EditError(f"{kind}: {error}") from None
    if element_type is not None and hasattr(value, "dtype") and (value.dtype.kind == "b") is not (element_type is ElementType.boolean):
        raise EditError(f"{kind}, and the array has elements of type {value.dtype}")
    shape = fact.shape
    is_fitting = shape is None or (len(shape) == len(data.shape) and all(map(_is_in, data.shape, shape)))
    if not is_fitting:
        raise EditError(f"{where} has the shape {format_shape(shape)}, and the value has {list(data.shape)}{_advice(data, shape)}")
    return data


def _advice(data: Data, shape: Any) -> str:
    """How to write a value of one element for an input of another rank."""
    if len(data.bytes) * 8 > max(data.element_type.bits, 8) or any(not _is_in(1, size) for size in shape):
        return ""
    element = _shown(data)
    return f": write {'[' * len(shape)}{element}{']' * len(shape)}"


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
        raise EditError(f"{kind}, and {value!r} is no value of it: give {VALUES}")
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
            raise EditError(f"{kind}, which does not reach as far as {value}") from None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(data: Data) -> str:
    """The first elements of a constant."""
    try:
        elements: Iterator[Any] = iter(data.elements)
    except KeyError:  # NumPy has no such type
        return counted(len(data.bytes), "byte")
    shown = [*map(str, islice(elements, _SHOWN + 1))]
    return ", ".join([*shown[:_SHOWN], *["..."] * (len(shown) > _SHOWN)])
