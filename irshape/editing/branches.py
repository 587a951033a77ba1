"""An If whose condition is known: the layers of the branch that it takes move into the graph around it."""

from __future__ import annotations

from irshape.editing.bodies import entries_of, external_of, internal_of, is_back, leave, map_of
from irshape.editing.draft import BodyDraft, GraphDraft
from irshape.editing.state import Item, State, Value, joined_names
from irshape.model.finding import split_names
from irshape.shape.value import Unreadable

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
    is_other_later = any(is_back(entry, to=parameter) for entry in entries)
    if len(own) != 1 or is_other_later or not {"axis", "purpose"}.isdisjoint(own[0].attributes):
        return None
    value = inputs_of(body).get(parameter.id)
    return value.item if value is not None and value.item.type == "Const" else None


def inputs_of(body: BodyDraft) -> dict[int, Value]:
    """The tensors that enter a body, by the ids of its Parameters."""
    holder = body.holder
    found = {}
    for entry in entries_of(holder):
        position = external_of(entry)
        if entry.map == map_of(body) and entry.tag == "input" and 0 <= position < len(holder.inputs):
            value = holder.inputs[position]
            if value is not None:
                found[internal_of(entry)] = value
    return found


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
    _take_bodies(state, item, body.state, inner)
    for name in item.held:
        _look_into(state.body(item, name))
    for value, new in zip(inner.outputs, item.outputs, strict=True):
        free = [name for name in split_names(value.names) if outer.tensor(name) is None]
        if free:
            state.set_names(new, joined_names(free))
    return item


def _take_bodies(state: State, item: Item, other: State, inner: Item) -> None:
    """Let an item have the bodies of an item of another graph as they are now."""
    state.journal.append((_hold, ((state, item, item.bodies), (other, inner, inner.bodies))))
    _hold((state, item, inner.bodies), (other, inner, item.bodies))


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
