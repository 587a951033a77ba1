"""The ports of layers with bodies: each comes and goes with its entry of the port map and its Parameter or Results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from irshape.editing.draft import BodyDraft, GraphDraft
from irshape.editing.state import EditError, Item, State, Value, joined_names
from irshape.model.bodies import end_of, external_of, internal_of, start_of
from irshape.model.model import split_names
from irshape.shape.value import Unreadable
from irshape.xml.document import PortMap
from irshape.xml.lexical import BODIES

# The attributes by which an entry slices an input, or joins an output, with their defaults.
_SLICE: Final = {"axis": None, "start": 0, "end": -1, "stride": 1, "part_size": 1}


def add_input(draft: BodyDraft, value: Value, name: str | None, slice: Mapping[str, int]) -> Item:
    """A new Parameter of a body that takes a tensor of the graph around it, or a slice of it in each iteration."""
    outer, holder = draft.outer, draft.holder
    sliced = _sliced(holder, slice)
    entries = entries_of(holder)
    taken = {external_of(entry) for entry in entries if entry.tag == "input" and entry.map == map_of(draft)}
    fact = outer.facts.view.of(value)
    shape = fact.shape
    if sliced and shape is not None:
        axis = int(sliced["axis"])
        if not -len(shape) <= axis < len(shape):
            raise EditError(f"a tensor of rank {len(shape)} has no axis {axis}")
        shape = tuple(int(sliced["part_size"]) if at == axis % len(shape) else size for at, size in enumerate(shape))
    with outer.state.edit("add input", holder.name, f"to the {draft.model.name} from {value.item.name}"):
        free = (at for at, one in enumerate(holder.inputs) if at and one is value and at not in taken)
        position = next(free, None) if holder.op_type == "If" else None
        if position is None:
            position = len(holder.inputs)
            outer.state.set_inputs(holder, [*holder.inputs, value], [*holder.input_ids, _next_id(holder)])
        item = draft.parameter(name or value.item.name, shape, fact.element_type)
        own = {"external_port_id": str(position), "internal_layer_id": str(item.id), **sliced}
        outer.state.set_port_maps(holder, [*entries, PortMap(map_of(draft), "input", own, -1)])
    return item


def add_output(draft: BodyDraft, value: Value, otherwise: Value | None, slice: Mapping[str, int]) -> Value:
    """A new output of the layer that holds a body: a tensor of the last iteration, or of all iterations, joined.

    `otherwise` is the tensor of the other body of an If.
    """
    outer, holder = draft.outer, draft.holder
    sliced = _sliced(holder, slice)
    given = {draft: value}
    if holder.op_type == "If":
        other = other_body(draft)
        if otherwise is None:
            raise EditError(f"either body of {holder!r} must give the output: otherwise= is the tensor of the {other.model.name}")
        given[other] = otherwise
    with outer.state.edit("add output", holder.name, f"of {value.item.name}"):
        entries, id = entries_of(holder), _next_id(holder)
        external = max([id, *(external_of(entry) + 1 for entry in entries if entry.tag == "output")])
        for body, source in given.items():
            own = {"external_port_id": str(external), "internal_layer_id": str(body.result(source).id), **sliced}
            entries.append(PortMap(map_of(body), "output", own, -1))
        new = outer.state.new_value(holder, len(holder.outputs))
        outer.state.set_outputs(holder, [*holder.outputs, new], [*holder.output_ids, id])
        outer.state.set_port_maps(holder, entries)
    return new


def other_body(draft: BodyDraft) -> BodyDraft:
    """The draft of the other body of an If. Raises `EditError` for another layer."""
    if draft.holder.op_type != "If":
        raise EditError(f"{draft.holder!r} has one body, and otherwise= is for an If")
    return next(draft.outer.body(draft.holder, name) for name, _ in BODIES["If"] if name != draft.model.name)


def feed_back(draft: BodyDraft, value: Value, parameter: Item) -> None:
    """Let a Parameter of a body take a tensor of the iteration before."""
    holder = draft.holder
    entries = entries_of(holder)
    if holder.op_type == "If":
        raise EditError(f"the bodies of {holder!r} run once, so no output becomes the input of a next iteration")
    own = next((entry for entry in entries if entry.tag == "input" and internal_of(entry) == parameter.id), None)
    if parameter.type != "Parameter" or own is None or external_of(own) < 0:
        raise EditError(f"{parameter!r} takes no input of {holder!r} in the first iteration")
    if "axis" in own.attributes:
        raise EditError(f"{parameter!r} takes a slice of an input in each iteration, so it cannot take an output of the iteration before")
    with draft.outer.state.edit("feed back", holder.name, f"{value.item.name} to {parameter.name}"):
        results = (item for item, _ in draft.state.reads_of(value) if item.type == "Result")
        result = next(results, None) or draft.result(value)
        kept = [entry for entry in entries if not is_back(entry, parameter)]
        edge = PortMap("back_edges", "edge", {"from-layer": str(result.id), "to-layer": str(parameter.id)}, -1)
        draft.outer.state.set_port_maps(holder, [*kept, edge])


def leave(draft: BodyDraft, item: Item) -> None:
    """Take the port away that a Parameter or a Result of a body stands for, with its entries. Raises `EditError` if the port is needed."""
    holder, state = draft.holder, draft.outer.state
    entries = entries_of(holder)
    own = [entry for entry in entries if entry.map == map_of(draft) and internal_of(entry) == item.id]
    kept = [entry for entry in entries if entry not in own and not is_back(entry, item)]
    if any(entry.attributes.get("purpose") == "execution_condition" for entry in own):
        raise EditError(f"{item!r} is the condition of {holder!r}, which needs it")
    if item.type == "Result":
        for entry in own:
            kept = _without_output(draft, entry, kept)
    state.set_port_maps(holder, kept)
    if item.type == "Parameter":
        fixed = 2 if holder.op_type == "Loop" else int(holder.op_type == "If")
        used = {external_of(entry) for entry in kept if entry.tag == "input"}
        for position in sorted({external_of(entry) for entry in own} - used, reverse=True):
            if fixed <= position < len(holder.inputs):
                _remove_input(draft, position)


def _remove_input(draft: BodyDraft, position: int) -> None:
    """Take an input of the holder away; the entries of those behind it name other positions."""
    holder, state = draft.holder, draft.outer.state
    inputs, ids = [*holder.inputs], [*holder.input_ids]
    del inputs[position], ids[position]
    state.set_inputs(holder, inputs, ids)
    entries = [
        PortMap(entry.map, entry.tag, {**entry.attributes, "external_port_id": str(external_of(entry) - 1)}, entry.offset)
        if entry.tag == "input" and external_of(entry) > position
        else entry
        for entry in entries_of(holder)
    ]
    state.set_port_maps(holder, entries)


def _without_output(draft: BodyDraft, entry: PortMap, kept: list[PortMap]) -> list[PortMap]:
    """The entries without those of one output, which goes; of an If, the Result of the other body goes, too."""
    outer, holder = draft.outer, draft.holder
    outputs = sorted(external_of(one) for one in [*kept, entry] if one.tag == "output" and one.map == entry.map and external_of(one) >= 0)
    if external_of(entry) < 0:
        return kept
    index = outputs.index(external_of(entry))
    if index < len(holder.outputs):
        value = holder.outputs[index]
        if readers := outer.state.reads_of(value):
            raise EditError(f"{readers[0][0]!r} reads output {index} of {holder!r}: replace its uses first")
        ids = [*holder.output_ids]
        del ids[index]
        outer.state.set_outputs(holder, [one for one in holder.outputs if one is not value], ids)
    for name, map in BODIES[holder.op_type]:
        if map != entry.map:
            others = sorted((one for one in kept if one.map == map and one.tag == "output"), key=external_of)
            if index < len(others):
                kept = [one for one in kept if one is not others[index]]
                other = outer.body(holder, name).state
                result = other.items.get(internal_of(others[index]))
                if result is not None and not any(one.map == map and internal_of(one) == result.id for one in kept):
                    other.leave(result)
    return kept


def _sliced(holder: Item, slice: Mapping[str, int]) -> dict[str, str]:
    """The attributes of an entry that slices or joins, as text; empty for none."""
    if unknown := next((name for name in slice if name not in _SLICE), None):
        raise EditError(f"an entry of a port map has no {unknown!r}; it has {', '.join(_SLICE)}")
    if slice and "axis" not in slice:
        raise EditError(f"{next(iter(slice))} needs the axis that is cut into parts: axis=0")
    if slice and holder.op_type == "If":
        raise EditError(f"the bodies of {holder!r} run once, so they take no slices")
    return {name: str(slice.get(name, default)) for name, default in _SLICE.items()} if slice else {}


def entries_of(holder: Item) -> list[PortMap]:
    """The entries of the port maps of a layer with bodies."""
    return [*(holder.port_maps or ())]


def map_of(draft: BodyDraft) -> str:
    """The port map of a body."""
    return dict(BODIES[draft.holder.op_type])[draft.model.name]


def is_back(entry: PortMap, item: Item) -> bool:
    """Whether an entry is the back edge to a Parameter, or from a Result."""
    return entry.map == "back_edges" and item.id in (start_of(entry), end_of(entry))


def _next_id(holder: Item) -> int:
    return max([*holder.input_ids, *holder.output_ids], default=-1) + 1


# The first version of IR in which the names of outputs are those of tensors, and not of layers.
TENSOR_NAMES = 11


def taken_branch(draft: GraphDraft, item: Item) -> str | None:
    """The body that an If takes for every input; None if its condition is not known."""
    value = item.inputs[0] if item.inputs else None
    elements = None if value is None else draft.facts.of(value).elements
    if elements is None or type(elements) is Unreadable or len(elements) != 1 or not isinstance(elements[0], int | float):
        return None
    return "then_body" if elements[0] != 0 else "else_body"


def can_move(body: BodyDraft) -> bool:
    """Whether the layers of a branch can stand in the graph around it, and every output that is read has a tensor to stand for it.

    In IR version 10 an output of the model has the name of the layer that gives it, so an If of several
    outputs stays there.
    """
    holder, outer = body.holder, body.outer
    outputs, inputs = _outputs(body), inputs_of(body)
    read = [value for value in holder.outputs if outer.state.readers.get(value)]
    if any(value.index >= len(outputs) or outputs[value.index] is None for value in read):
        return False
    if any(parameter.id not in inputs for parameter in body.of_type("Parameter") if body.readers_of(parameter)):
        return False
    is_output = any(reader.type == "Result" for value in read for reader, _ in outer.state.readers[value])
    return outer.model.document.version >= TENSOR_NAMES or not is_output or len(holder.outputs) == 1


def move_out(body: BodyDraft) -> list[Item]:
    """Move the layers of a branch to the place of the If, let the readers of the If read them, and return the new layers.

    They keep their names, attributes and weights; a name that another layer has gets a number.
    """
    holder, outer, state = body.holder, body.outer, body.outer.state
    inputs, outputs = inputs_of(body), _outputs(body)
    moved: dict[Value, Value | None] = {}
    for parameter in body.of_type("Parameter"):
        moved.update((value, inputs.get(parameter.id)) for value in parameter.outputs)
    made: list[Item] = []
    for inner in body.state.in_order:
        if inner.type not in ("Parameter", "Result"):
            made.append(_moved(body, inner, moved))
            moved.update(zip(inner.outputs, made[-1].outputs, strict=True))
    for value, source in zip(holder.outputs, outputs, strict=False):
        new = None if source is None else moved[source]
        if new is not None and state.readers.get(value):
            made += _stand_for(outer, value, new, made)
    outer.remove(holder)
    if outer.model.document.version < TENSOR_NAMES and made and made[-1].name == f"{holder.name}/output":
        state.rename(made[-1], holder.name)  # the name of the output
    return made


def sink(body: BodyDraft, parameter: Item) -> Item:
    """Put a copy of a constant that always enters a body in the place of the Parameter that takes it, and return the copy."""
    state, constant = body.state, entering(body, parameter)
    assert constant is not None
    new = body.put("Const", parameter.name, constant.attributes, (), version=constant.version, place=state.place_behind([parameter]))
    value = parameter.outputs[0]
    body.redirect(value, new.outputs[0])
    state.set_names(new.outputs[0], value.names)
    leave(body, parameter)
    state.leave(parameter)
    state.rename(new, parameter.name)
    return new


def entering(body: BodyDraft, parameter: Item) -> Item | None:
    """The Const that enters a body by a Parameter in each iteration; None if something else does."""
    entries = entries_of(body.holder)
    own = [entry for entry in entries if internal_of(entry) == parameter.id and entry.map == map_of(body)]
    is_other_later = any(is_back(entry, parameter) for entry in entries)
    if len(own) != 1 or is_other_later or not {"axis", "purpose"}.isdisjoint(own[0].attributes):
        return None
    value = inputs_of(body).get(parameter.id)
    return value.item if value is not None and value.item.type == "Const" else None


def inputs_of(body: BodyDraft) -> dict[int, Value]:
    """The tensors that enter a body, by the ids of its Parameters."""
    inputs, entries = body.holder.inputs, entries_of(body.holder)
    own = [(internal_of(entry), external_of(entry)) for entry in entries if entry.map == map_of(body) and entry.tag == "input"]
    return {id: value for id, position in own if 0 <= position < len(inputs) and (value := inputs[position]) is not None}


def _outputs(body: BodyDraft) -> list[Value | None]:
    """The tensors of a branch that are the outputs of the If, in their order."""
    own = sorted((entry for entry in entries_of(body.holder) if entry.map == map_of(body) and entry.tag == "output"), key=external_of)
    results = [body.state.items.get(internal_of(entry)) for entry in own]
    return [None if result is None else next(iter(result.inputs), None) for result in results]


def _moved(body: BodyDraft, inner: Item, moved: dict[Value, Value | None]) -> Item:
    """A copy of a layer of a branch in the graph around it."""
    outer, holder, state = body.outer, body.holder, body.outer.state
    inputs = [None if value is None else moved[value] for value in inner.inputs]
    place, count = state.place_behind([holder]), len(inner.outputs)
    item = outer.put(inner.type, inner.name, inner.attributes, inputs, version=inner.version, place=place, outputs=count)
    item.origin, item.ports, item.port_maps = inner.origin, inner.ports, inner.port_maps
    item.recorded, item.note = inner.recorded, inner.note
    state.journal.append((_hold, ((state, item, item.bodies), (body.state, inner, inner.bodies))))
    _hold((state, item, inner.bodies), (body.state, inner, item.bodies))
    for name in item.held:
        _look_into(state.body(item, name))
    for value, new in zip(inner.outputs, item.outputs, strict=True):
        free = [name for name in split_names(value.names) if outer.tensor(name) is None]
        if free:
            state.set_names(new, joined_names(free))
    return item


def _hold(*given: tuple[State, Item, dict[str, State]]) -> None:
    """Give items of some graphs these bodies."""
    for state, item, bodies in given:
        item.bodies = bodies
        for body in bodies.values():
            body.holder, body.outer = item, state


def _look_into(state: State) -> None:
    """Make the graphs of all bodies in a body, each of which knows the layers around it."""
    for item in state.items.values():
        for name in item.held:
            _look_into(state.body(item, name))


def _stand_for(outer: GraphDraft, value: Value, new: Value, made: list[Item]) -> list[Item]:
    """Let the readers of an output of the If read a tensor, which takes the names of the output, and return the layers that this adds.

    An output of the model keeps its names alone, and so does every other tensor: a tensor that has a place of its own in the graph, and
    one that is an output already, get a Convert behind them that changes nothing.
    """
    state = outer.state
    is_output = any(reader.type == "Result" for reader, _ in state.readers[value])
    is_end = new.item not in made or any(reader.type == "Result" for reader, _ in state.readers.get(new, ()))
    added = []
    if is_output and (is_end or outer.model.document.version < TENSOR_NAMES):
        attributes = {"destination_type": outer.facts.of(new).element_type.name}
        added = [outer.put("Convert", f"{value.item.name}/output", attributes, [new], place=state.place_behind([value.item]))]
        new = added[0].outputs[0]
    outer.redirect(value, new)
    names = value.names
    state.set_names(value, None)
    if is_output:
        state.set_names(new, names)
    elif new.item in made:
        state.set_names(new, joined_names([*split_names(new.names), *split_names(names)]))
    return added
