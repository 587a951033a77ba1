"""An inference in the symbols of the signature, for sizes of inputs that nobody has named."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.notes import because, name_data_sizes, name_ties, nameless
from irshape.inference.engine import Engine
from irshape.inference.forms import NAMED
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import InputError, Inputs, described_shape
from irshape.inference.run import Guard
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR
from irshape.shape.notation import Described
from irshape.xml.weights import Weights

# Inputs of more axes than this keep raw symbols, and so does a file whose pass takes more than this part of the steps of work.
_MOST_AXES: Final = 1000
_SHARE: Final = 4


class NamedInference(Inference):
    """An inference with the formulas of another pass, the `reading`, for which the inputs had the shapes of the signature.

    `ties` are the axes that these shapes tie together, with the layers that say so. The formulas and guards hold for inputs that are tied
    together like that. Shapes and diagnostics are those of the inference without names.
    """

    def __init__(self, plain: Inference, reading: Inference, found: Discovery) -> None:
        self.__dict__.update(plain.__dict__)
        self.__dict__.pop("guards", None)  # those that the plain inference has simplified are in its own symbols
        self.ties, self.data_sizes = reading.ties, reading.data_sizes
        self._plain = plain
        self._read = reading
        self._multiples = list(found.demanded_multiples(reading.scope))

    @property
    def reading(self) -> Inference:
        """The inference of the pass with the shapes of the signature."""
        return self._read

    @cached_property
    def guards(self) -> list[Guard]:
        """The conditions on the sizes of the inputs in the symbols of the signature, simplified."""
        found = [*self._multiples, *self._read.guards]
        self.report(one for one in self._read.diagnostics if one.code == "N106" and one not in self.diagnostics)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`; `named` has the formulas and guards in the symbols of the signature."""
        own = NAMED(self)
        self._plain.diagnostics = self.diagnostics  # those that the names have shown, too
        return {**self._plain.to_dict(), "named": own}


def named(plain: Inference, *, is_taken: bool = False) -> Inference:
    """The inference with names for its open sizes; the same one if all have names, if it has errors, or if no signature is found.

    With `is_taken`, nobody needs the inference without names, so its symbols may get these names where no other pass is needed.
    """
    return discovered(plain, is_taken=is_taken)[0]


def discovered(plain: Inference, *, is_taken: bool = False) -> tuple[Inference, Discovery | None]:
    """The inference as `named` gives it, and the symbols that were found for its names, if it has new ones."""
    if isinstance(plain, NamedInference) or not plain.ok or _is_much(plain) or not nameless(plain, plain.symbols):
        return plain, None
    found = read(plain.model, plain.wanted, plain.weights, plain.opaque, like=plain.engine, is_taken=is_taken)
    return (plain, None) if found is None else (NamedInference(plain, *found), found[1])


def read(
    model: Model, asked: Inputs, weights: Weights | None, opaque: frozenset[str], like: Engine | None = None, *, is_taken: bool = False
) -> tuple[Inference, Discovery] | None:
    """The inference of a pass with the shapes of the signature, and the symbols in them; None if it has errors or takes too much work."""
    try:
        found = Discovery(model, asked, weights, opaque, keeps_named=True, is_reading=True, like=like, is_taken=is_taken)
        engine = found.engine if found.is_read else found.read(found.engine)
    except InputError:
        return None
    if found.engine.scope.work.is_done or any(one.severity == ERROR for one in engine.diagnostics):
        return None
    reading = conclude(engine)
    reading.given = {index: sizes for index, sizes in reading.given.items() if model.nodes[index] in asked.shapes}
    reading.data_sizes = name_data_sizes(reading, found.ranges)
    name_ties(found, reading)
    reading.ties = because(found)
    return reading, found


def read_alone(model: Model, asked: Inputs, weights: Weights | None, opaque: frozenset[str]) -> Inference | None:
    """The inference as `read` gives it without another one; None also if names may take too long, or if no size of an input needs one."""
    sizes = _sizes(model, asked)
    is_open = len(sizes) <= _MOST_AXES and any(not one.symbols and one.low < one.high for one in sizes)
    reading, _ = (read(model, asked, weights, opaque) if is_open else None) or (None, None)
    return None if reading is None or _is_much(reading) else reading


def _is_much(plain: Inference) -> bool:
    """Whether names would take much longer than the pass: for inputs of very many axes, and for files that need much work."""
    return len(_sizes(plain.model, plain.wanted)) > _MOST_AXES or plain.steps > plain.scope.work.most // _SHARE


def _sizes(model: Model, asked: Inputs) -> list[Described]:
    return [one for node in model.parameters for one in asked.shapes.get(node, described_shape(node)) or ()]
