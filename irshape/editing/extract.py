"""A part of a model: some of its layers, with inputs, constants and shape computations in the place of what they read.

A tensor that a kept layer reads from one that is left out is one of four:

1. a constant or an input of the model, or what is computed of constants alone, such as weights that are converted: it is taken along;
2. a tensor whose elements matter for shapes, and that OpenVINO knows for all sizes: a constant with these elements stands for it;
3. a tensor whose elements matter and are formulas: the shape computation is taken along, back to each ShapeOf;
4. any other tensor: an input of the model, with the shape that OpenVINO knows of it, so that OpenVINO infers what it inferred before.
   A note at its port says which sizes are equal in the whole: `[?,?,16] as [B,S,16]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from irshape.editing.arrays import Data, known_data
from irshape.editing.draft import Draft
from irshape.editing.simplify import computes
from irshape.editing.state import EditError, Item, Value
from irshape.inference.facts import Fact
from irshape.inference.inputs import AS
from irshape.model.model import SINKS, grouped, reached
from irshape.shape.dim import is_within
from irshape.shape.shape import format_shape
from irshape.shape.value import Unreadable

_ENDS = ("Parameter", "Result")
# The name of a layer that a converter made of others, such as `Multiply_98242` for a scale: it says nothing of the place in the model.
_NUMBERED: Final = re.compile(r"[A-Za-z]\w*_\d{4,}(?:_\w+)?")


class Loss(NamedTuple):
    """An axis of which OpenVINO knows less in the part than in the whole; None for the rank. `because` are the new inputs before it."""

    layer: str
    output: int
    axis: int | None
    was: str
    is_now: str
    because: tuple[str, ...]


class Part(NamedTuple):
    """The names of what a part has at its border: new inputs, values that became constants with their elements, outputs, and losses.

    `taken` are the layers that were not asked for and compute shapes that the part needs.
    """

    inputs: list[str]
    frozen: list[tuple[str, tuple[object, ...]]]
    outputs: list[str]
    taken: list[str]
    losses: list[Loss]


def between(draft: Draft, sources: Sequence[Value], targets: Sequence[Item]) -> set[Item]:
    """The items on which the targets depend, up to the sources."""
    stops = set(sources)
    return set(reached(targets, lambda item: [value.item for value in item.inputs if value is not None and value not in stops]))


def around(draft: Draft, center: Item, distance: int) -> set[Item]:
    """The items at most so many connections from one, in both directions; a path does not lead through a constant."""
    found = {center}
    edge = {center}
    for _ in range(distance):
        near = {source for item in edge for source in item.producers}
        near |= {reader for item in edge if item.type != "Const" for reader, _ in draft.readers_of(item)}
        edge = {item for item in near - found if item.type not in _ENDS}
        found |= edge
    return found


def with_numbered(draft: Draft, items: Iterable[Item]) -> set[Item]:
    """Some items, and those of a converter's names that only these read."""
    found = set(items)
    pending = list(found)
    while pending:
        for source in dict.fromkeys(pending.pop().producers):
            is_nameless = source not in found and source.type not in (*_ENDS, "ReadValue") and _NUMBERED.fullmatch(source.name) is not None
            if is_nameless and all(reader in found for reader, _ in draft.readers_of(source)):
                found.add(source)
                pending.append(source)
    return found


def extract(
    draft: Draft,
    kept: Iterable[Item],
    sources: Iterable[Value] = (),
    targets: Iterable[Value] | None = None,
    formulas: Mapping[str, str] | None = None,
    *,
    computes_constants: bool = True,
) -> Part:
    """Reduce a draft to a part.

    `sources` become inputs in any case. `targets` are the outputs; without them, every tensor that a layer outside read is one.
    `formulas` are the shapes of the tensors of the whole for the notes of new inputs, by `LAYER:PORT`, as `Inference.formulas` has them.
    Without `computes_constants`, what is computed of constants is a tensor like any other.
    """
    extraction = _Extraction(draft, kept, sources, targets, formulas or {})
    if computes_constants:
        extraction.find_constants()
    return extraction.made()


class _Extraction:
    """The making of one part."""

    def __init__(
        self, draft: Draft, kept: Iterable[Item], sources: Iterable[Value], targets: Iterable[Value] | None, formulas: Mapping[str, str]
    ) -> None:
        self.draft = draft
        self.state = draft.state
        self.sources = set(sources)
        self.targets = None if targets is None else list(targets)
        self.formulas = formulas
        of_layers = sorted((item for item in kept if item.type not in _ENDS), key=lambda item: item.label)  # the same in every run
        self.keep: dict[Item, None] = dict.fromkeys(of_layers)
        self.asked = set(self.keep)
        self.inputs: dict[Value, None] = dict.fromkeys(self.sources)
        self.frozen: dict[Value, Data] = {}
        self.constant: set[Item] = set()
        self.before: dict[Value, Fact] = {}
        self.names: dict[Item, str] = {}

    def find_constants(self) -> None:
        """Find the layers that compute something of constants alone."""
        for item in self.state.in_order:
            is_plain = item.type not in SINKS and item.type != "ReadValue" and not item.held
            if is_plain and item.producers and all(one.type == "Const" or one in self.constant for one in item.producers):
                self.constant.add(item)

    def made(self) -> Part:
        """Reduce the draft, and say what the part has at its border."""
        self._pair_variables()
        self._find_border()
        outputs = self._outputs()
        if not outputs:
            raise EditError("the part has no output: no other layer reads a tensor of the part")
        facts = self.draft.facts
        self.before = {value: facts.view.of(value) for item in self.keep for value in item.outputs}
        new = self._replaced()
        for value, own in new.items():  # which the kept layers read in place of the tensors that are left out
            for item, index in self.state.reads_of(value):
                if item in self.keep:
                    self.state.connect(item, index, own)
        self._drop_the_rest(outputs, new)
        taken = [item.name for item in self.keep if item not in self.asked | self.constant and item.type not in ("Const", *_ENDS)]
        frozen = [(value.item.name, facts.of(own).elements or ()) for value, own in new.items() if value in self.frozen]
        lost = [new[value] for value in self.inputs if value in new]
        return Part([value.item.name for value in lost], frozen, [value.item.name for value in outputs], taken, self._losses(lost))

    def _pair_variables(self) -> None:
        """Keep ReadValue and Assign of a variable together, or neither."""
        both = (item for item in self.state.items.values() if item.type in ("ReadValue", "Assign"))
        for several in grouped((item.attributes.get("variable_id", ""), item) for item in both).values():
            if any(item not in self.keep for item in several):
                for item in several:
                    self.keep.pop(item, None)

    def _find_border(self) -> None:
        """Decide what stands for each tensor that a kept layer reads from one that is left out."""
        pending = [value for item in self.keep for value in item.inputs if value is not None]
        seen: set[Value] = set()
        while pending:
            value = pending.pop()
            item = value.item
            if value in seen or value in self.sources or item in self.keep:
                continue
            seen.add(value)
            if item.type in ("Const", "Parameter"):
                self.keep[item] = None
                continue
            fact = self.draft.facts.of(value)
            if fact.openvino_view.elements == fact.elements and (data := known_data(fact)) is not None:
                self.frozen[value] = data
            elif item in self.constant:
                self.keep[item] = None
                pending += [one for one in item.inputs if one is not None]
            elif fact.elements is not None and type(fact.elements) is not Unreadable and computes(item):
                self.keep[item] = None
                if item.type != "ShapeOf":
                    pending += [one for one in item.inputs if one is not None]
                elif (source := item.inputs[0]) is not None and source.item not in self.keep and source not in self.frozen:
                    if source.item.type in ("Const", "Parameter"):
                        self.keep[source.item] = None
                    else:
                        self.inputs[source] = None  # only its shape is read
            else:
                self.inputs[value] = None
        for value in list(self.inputs):
            if value not in self.sources and value.item in self.keep:
                del self.inputs[value]

    def _outputs(self) -> list[Value]:
        for value in self.targets or ():
            if value.item not in self.keep:
                raise EditError(f"{value.item!r} cannot be an output: no layer of the part computes it")
        if self.targets is not None:
            return list(dict.fromkeys(self.targets))
        found: list[Value] = []
        for item in self.asked & self.keep.keys():
            readers = {value: [reader for reader, _ in self.state.reads_of(value)] for value in item.outputs if item.type != "Const"}
            is_unread = not any(readers.values())  # then the layer would be lost
            found += [value for value, own in readers.items() if is_unread or any(reader not in self.keep for reader in own)]
        return sorted(found, key=lambda value: (value.item.label, value.index))

    def _replaced(self) -> dict[Value, Value]:
        """The new inputs and constants, by the tensors for which they stand."""
        new: dict[Value, Value] = {}
        place = self.state.place_behind(self.draft.of_type("Parameter"))
        self.inputs = dict.fromkeys(sorted(self.inputs, key=lambda value: (value.item.label, value.index)))
        for value in self.inputs:
            fact, view = self.draft.facts.of(value), self.draft.facts.view.of(value)
            name = value.item.name if len(value.item.outputs) == 1 else f"{value.item.name}.{value.index}"
            item = self.draft.parameter(name, view.shape, fact.element_type, place)
            if (formula := self.formulas.get(f"{value.item.id}:{value.port}")) is not None:
                item.note = f"{format_shape(view.shape)}{AS}{formula}"
            new[value], self.names[item] = item.outputs[0], name
            self.state.set_names(item.outputs[0], value.names or name.replace(",", "\\,"))
        for value, data in self.frozen.items():
            new[value] = self.draft.constant(data, f"{value.item.name}/frozen", self.state.place_behind([value.item]))
        return new

    def _drop_the_rest(self, outputs: list[Value], new: dict[Value, Value]) -> None:
        """Remove every layer that is not kept, and give the outputs Results."""
        state = self.state
        wanted = set(outputs)
        results: set[Value] = set()
        for item in self.draft.of_type("Result"):
            value = item.inputs[0] if item.inputs else None
            if value in wanted and value.item in self.keep:
                self.keep[item] = None
                results.add(value)
        own = {value.item for value in new.values()}
        for item in sorted(state.items.values(), key=lambda item: -item.label):
            if item not in self.keep and item not in own:
                state.leave(item)
        for item, name in self.names.items():  # a new input has the name of the layer for which it stands
            if state.named(name) is None:
                state.rename(item, name)
        for value in outputs:
            if value not in results:
                self.draft.result(value)
        asked = {new[value]: value for value in self.sources}
        read = [value for item in self.draft.of_type("Parameter") for value in item.outputs if value in asked or state.reads_of(value)]
        for item in self.draft.dead():  # what computed the first value of a variable that became an input
            state.leave(item)
        for value in read:
            if not state.reads_of(value):
                if value in asked:
                    raise EditError(f"no layer of the part reads {asked[value].item!r}, so it cannot be an input")
                state.leave(value.item)

    def _losses(self, new: list[Value]) -> list[Loss]:
        """The axes of which OpenVINO knows less now."""
        found: list[Loss] = []
        for value, before in self.before.items():
            if not self.state.is_live(value.item):
                continue
            after = self.draft.facts.view.of(value)
            because = tuple(one.item.name for one in new if value.item in self.draft.between(one, value) or one is value)
            if before.shape is not None and (after.shape is None or len(after.shape) != len(before.shape)):
                found.append(Loss(value.item.name, value.index, None, format_shape(before.shape), format_shape(after.shape), because))
                continue
            for axis, (was, now) in enumerate(zip(before.shape or (), after.shape or (), strict=False)):
                if not is_within(now, was):
                    found.append(Loss(value.item.name, value.index, axis, format_shape((was,))[1:-1], format_shape((now,))[1:-1], because))
        return found
