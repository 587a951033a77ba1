"""From an `openvino.Model` to its IR. OpenVINO writes the XML; the bytes of the constants stay where they are until one is read."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from irshape.xml.lexical import INPUTS

if TYPE_CHECKING:

    class OpenVINOModel(Protocol):
        """An `openvino.Model`."""

        def get_ordered_ops(self) -> Any:
            """The operations in topological order."""


# The place of a constant's bytes, as OpenVINO writes it into the layer.
_PLACE: Final = re.compile(rb'( type="Const" version="[^"]*">\s*<data [^>]*?offset=")(\d+)(" size=")(\d+)(?=")')
# The bytes of packed strings exist in the file only.
_STRINGS: Final = b' element_type="string"'
# Constants of up to so many bytes are copied, and equal ones have one place, as in a file: rules read such constants.
_SMALL: Final = 64
# The constants of a model that has more bytes than this are not given to OpenVINO to write, if they have at least so many bytes.
_MANY: Final = 1 << 24
_LARGE: Final = 1 << 16
_INPUT: Final = re.compile(rb' type="(Parameter)(" version="[^"]*">\s*<data [^>]*?")(?= ?/?>)')
# The arguments of `get_function` for each body of an operation, in the order in which OpenVINO writes the bodies.
_BODIES: Final[dict[str, tuple[tuple[int, ...], ...]]] = {"If": ((0,), (1,)), "Loop": ((),), "TensorIterator": ((),)}


class ConstantFile:
    """The bytes of constants as a binary file: first `head`, then the constants that begin at `starts`, each read on demand."""

    def __init__(self, head: bytes, constants: Sequence[Any], starts: Sequence[int], size: int) -> None:
        self._head = head
        self._constants = constants
        self._starts = starts
        self._size = size
        self._at = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """The head alone: the other constants belong to the `openvino.Model`, which no pickle can hold."""
        return ConstantFile, (self._head, (), (), self._size)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to an offset from the beginning or, with `os.SEEK_END`, from the end."""
        self._at = offset + (self._size if whence == os.SEEK_END else 0)
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes from there, none from a second constant."""
        at = self._at
        end = self._size if size < 0 else at + size
        if at < len(self._head):
            piece = self._head[at:end]
        elif at < self._size:
            if not self._constants:
                raise OSError("they are in an openvino.Model of another process; pass the weights as a path or as bytes")
            number = bisect_right(self._starts, at) - 1
            start = self._starts[number]
            piece = bytes(memoryview(self._constants[number].data.tobytes())[at - start : end - start])
        else:
            piece = b""
        self._at += len(piece)
        return piece


def serialized(model: OpenVINOModel) -> tuple[bytes, ConstantFile | bytes]:
    """The XML of a model, and its weights. Raises ValueError if OpenVINO cannot write the model.

    OpenVINO writes to paths only. The constants are written to the null device, and the XML gets their places in `ConstantFile`.
    Where the constants of the model do not fit the XML, the weights are written to a file and read.
    """
    if os.name == "posix":
        own: Any = model
        constants = list(_constants(own))
        sizes = [constant.get_byte_size() for constant in constants]
        large: list[Any] = []
        if sum(sizes) >= _MANY:
            own, large = _without_large_constants(own)
            constants = [*large, *_constants(own)]
            sizes = [constant.get_byte_size() for constant in constants]
        with tempfile.NamedTemporaryFile(prefix="irshape-", suffix=".xml") as file:
            text = _restored(_written(own, file.name, os.devnull), large, len(own.get_parameters()))
        places = list(_PLACE.finditer(text))
        if _STRINGS not in text and [int(place[4]) for place in places] == sizes:
            return _placed(text, places, constants, sizes)
    with tempfile.TemporaryDirectory(prefix="irshape-") as folder:
        weights = os.path.join(folder, "model.bin")
        return _written(model, os.path.join(folder, "model.xml"), weights), _read(weights)


def _without_large_constants(model: Any) -> tuple[Any, list[Any]]:
    """A copy of a model that has further inputs in place of its large constants, and these constants in the order of the inputs.

    OpenVINO reads all bytes of the constants that it writes, wherever it writes them.
    """
    parameter, copy = sys.modules["openvino"].op.Parameter, model.clone()
    constants = [one for one in copy.get_ordered_ops() if one.get_type_name() == "Constant" and one.get_byte_size() >= _LARGE]
    inputs = []
    for constant in constants:
        stand_in = parameter(constant.get_element_type(), constant.get_output_partial_shape(0))
        stand_in.set_friendly_name(constant.get_friendly_name())
        stand_in.output(0).get_tensor().set_names(constant.output(0).get_names())
        for reader in constant.output(0).get_target_inputs():
            reader.replace_source_output(stand_in.output(0))
        inputs.append(stand_in)
    copy.add_parameters(inputs)
    return copy, constants


def _restored(text: bytes, large: Sequence[Any], inputs: int) -> bytes:
    """The XML with the large constants in place of the last inputs of the net. OpenVINO writes the inputs before all other layers."""
    if not large:
        return text
    first = inputs - len(large)
    pieces: list[bytes] = []
    end = 0
    for constant, found in zip(large, islice(_INPUT.finditer(text), first, inputs), strict=True):
        pieces += (text[end : found.start(1)], b"Const", found[2], b' offset="0" size="%d"' % constant.get_byte_size())
        end = found.end()
    return b"".join((*pieces, text[end:]))


def reshape(model: OpenVINOModel, shapes: Mapping[str, tuple[str, Sequence[str]]], names: Mapping[str, str]) -> None:
    """Give the inputs of a model other shapes, by name: the text of each, and the formula of each axis, empty for a number.

    Axes with the same formula get the same symbol. `names` are the texts that irshape keeps of the shapes, by input. Raises ValueError
    if the model has other inputs, or if OpenVINO refuses the shapes.
    """
    import json

    openvino, own = cast(Any, sys.modules.get("openvino")), cast(Any, model)
    if openvino is None or not hasattr(model, "inputs"):
        raise TypeError(f"apply_to takes an openvino.Model as model, not a value of the class {type(model).__name__}")
    inputs = {port.node.friendly_name: port for port in own.inputs}
    if inputs.keys() != shapes.keys():
        raise ValueError(f"the model has the inputs {_list(inputs)}, but the shapes are for {_list(shapes)}")
    symbols: dict[str, Any] = {}
    wanted = {}
    for name, (text, formulas) in shapes.items():
        shape = wanted[inputs[name]] = openvino.PartialShape(text)
        for axis, formula in enumerate(formulas):
            if formula:
                size = shape[axis]
                size.set_symbol(symbols.setdefault(formula, openvino.Symbol()))
                shape[axis] = size
    try:
        own.reshape(wanted)
    except RuntimeError as error:
        raise ValueError(f"OpenVINO refuses the shapes: {error}") from None
    if names or own.has_rt_info(list(INPUTS)):
        own.set_rt_info(json.dumps(names), list(INPUTS))


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _written(model: OpenVINOModel, xml: str, weights: str) -> bytes:
    try:
        sys.modules["openvino"].serialize(model, xml, weights)
    except RuntimeError as error:
        raise ValueError(f"OpenVINO cannot write this model as an IR: {error}") from None
    return _read(xml)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _placed(text: bytes, places: Sequence[re.Match[bytes]], constants: Sequence[Any], sizes: Sequence[int]) -> tuple[bytes, ConstantFile]:
    """The XML in which the constants have the places that they have in `ConstantFile`, and the constants."""
    head: dict[bytes, int] = {}
    end = 0
    starts: list[int] = []
    for constant, size in zip(constants, sizes, strict=True):
        content = constant.data.tobytes() if size <= _SMALL else None
        start = -1 if content is None else head.setdefault(content, end)
        starts.append(start)
        end += size if start == end else 0
    large = [number for number, start in enumerate(starts) if start < 0]
    for number in large:
        starts[number] = end
        end += sizes[number]
    pieces: list[bytes] = []
    done = 0
    for place, start in zip(places, starts, strict=True):
        pieces += (text[done : place.start(2)], b"%d" % start)
        done = place.end(2)
    content = b"".join((*pieces, text[done:]))
    return content, ConstantFile(b"".join(head), [constants[one] for one in large], [starts[one] for one in large], end)


def _constants(model: Any) -> Iterator[Any]:
    """The constants of a model and of its bodies, in the order of the XML."""
    pending = [iter(model.get_ordered_ops())]
    while pending:
        for operation in pending[-1]:
            kind = operation.get_type_name()
            if kind == "Constant":
                yield operation
            elif kind in _BODIES:
                pending += [iter(operation.get_function(*body).get_ordered_ops()) for body in reversed(_BODIES[kind])]
                break
        else:
            pending.pop()
