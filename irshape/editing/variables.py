"""State: inputs and outputs that become variables, which the model keeps between runs, and variables that become inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping

from irshape.editing.draft import Draft, types_inside
from irshape.editing.state import EditError, Item, Value, joined_names
from irshape.model.finding import preferred, similar, split_names
from irshape.shape.shape import format_shape


def stateful(draft: Draft, pairs: Mapping[str, str]) -> None:
    """Make a variable of each pair of an input and the output that gives its next value, as OpenVINO's MakeStateful does."""
    state = draft.state
    found = [(named_end(draft, "Parameter", name), named_end(draft, "Result", output), name + output) for name, output in pairs.items()]
    for position in (0, 1):
        ends = [pair[position] for pair in found]
        if twice := next((item for item in ends if ends.count(item) > 1), None):
            raise EditError(f"{twice!r} can be an end of one variable only")
    known = {item.attributes.get("variable_id") for item in state.items.values()}
    with state.attempt():
        for parameter, result, variable in found:
            if variable in known:
                raise EditError(f"there is already a variable {variable!r}")
            value, source = parameter.outputs[0], result.inputs[0]
            if source is None:
                raise EditError(f"{result!r} reads nothing")
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


def stateless(draft: Draft) -> dict[str, str]:
    """Make an input and an output of each variable, and return the name of the output by that of the input."""
    state = draft.state
    names: dict[str, str] = {}
    with state.attempt():
        for variable, (readers, assigns) in _variables(draft).items():
            state.note("make stateless", (readers or assigns)[0].name, variable)
            values = [reader.outputs[0] for reader in readers]
            name = output = ""
            if values:
                fact = draft.facts.view.of(values[0])
                new = draft.parameter(readers[0].name, fact.shape, fact.element_type)
                names_now = values[0].names or joined_names([readers[0].name])
                state.set_names(values[0], None)
                state.set_names(new.outputs[0], names_now)
                name = preferred(split_names(names_now))
                for reader, value in zip(readers, values, strict=True):
                    draft.redirect(value, new.outputs[0])
                    draft.remove(reader)
                _renamed(draft, new, readers[0])
            for assign in assigns:
                output = _output(draft, assign)
            if name and output:
                names[name] = output
        for item in draft.dead():  # what computed the first values
            state.leave(item)
    return names


def _variables(draft: Draft) -> dict[str, tuple[list[Item], list[Item]]]:
    """The layers that read each variable, and those that assign it, in the order of the file."""
    found: dict[str, tuple[list[Item], list[Item]]] = {}
    for item in sorted(draft.state.items.values(), key=lambda item: item.place):
        if types_inside(item) & {"ReadValue", "Assign"}:
            raise EditError(f"{item!r} has a variable in its body, which cannot become an input")
        if item.type in ("ReadValue", "Assign"):
            found.setdefault(item.attributes.get("variable_id", ""), ([], []))[item.type == "Assign"].append(item)
    return found


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


def _output(draft: Draft, assign: Item) -> str:
    """Add the output that stands for an Assign, and return its name."""
    state = draft.state
    source = assign.inputs[0]
    if source is None:
        raise EditError(f"{assign!r} assigns nothing")
    for value in assign.outputs:
        draft.redirect(value, source)
    state.leave(assign)
    new = draft.result(source, assign.name)
    if not source.names:
        state.set_names(source, joined_names([new.name]))
    return preferred(split_names(source.names))
