"""An inference in the symbols of the signature, for sizes of inputs that nobody has named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.notes import DataSize, because, name_data_sizes, name_ties, nameless
from irshape.inference.forms import NAMED
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import InputError
from irshape.inference.run import Guard
from irshape.report.diagnostic import ERROR

# Inputs of more axes than this keep raw symbols, and so does a file whose pass takes more than this part of the steps of work.
_MOST_AXES: Final = 1000
_SHARE: Final = 4


class NamedInference(Inference):
    """An inference with the formulas of another pass, the `reading`, for which the inputs had the shapes of the signature.

    `ties` are the axes that these shapes tie together, with the layers that say so. The formulas and guards hold for inputs that are tied
    together like that. Shapes and diagnostics are those of the inference without names.
    """

    def __init__(self, plain: Inference, reading: Inference, found: Discovery, data_sizes: Sequence[DataSize]) -> None:
        self.__dict__.update(plain.__dict__)
        self.__dict__.pop("guards", None)  # those that the plain inference has simplified are in its own symbols
        self.ties = because(found)
        self.data_sizes = data_sizes
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
    asked = plain.wanted
    try:
        found = Discovery(
            plain.model, asked, plain.weights, plain.opaque, keeps_named=True, is_reading=True, like=plain.engine, is_taken=is_taken
        )
        engine = found.engine if found.is_read else found.run(found.free_ranges, is_static=False)
    except InputError:
        return plain, None
    if found.engine.scope.work.is_done or any(one.severity == ERROR for one in engine.diagnostics):
        return plain, None
    reading = conclude(engine)
    reading.given = plain.given
    data_sizes = name_data_sizes(reading, found.ranges)
    name_ties(found, reading)
    return NamedInference(plain, reading, found, data_sizes), found


def _is_much(plain: Inference) -> bool:
    """Whether names would take much longer than the pass: for inputs of very many axes, and for files that need much work."""
    axes = 0
    (model, run), *_ = plain.graphs
    for node in model.parameters:
        axes += len(run.slots[node.first_slot].shape or ()) if node.outputs else 0
    return axes > _MOST_AXES or plain.steps > plain.scope.work.most // _SHARE
