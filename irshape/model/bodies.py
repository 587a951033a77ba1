"""The port maps of bodies: which input of a layer feeds which Parameter of its body, and which Result gives which output.

As in OpenVINO, `external_port_id` of an input is its position among the layer's inputs, and the outputs of the map, in ascending
order of `external_port_id`, are the layer's outputs in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from irshape.model.model import Model, Node
from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import Size, dim_max, eq, le
from irshape.xml.document import PortMap
from irshape.xml.lexical import BODIES, MAP_NUMBERS, whole_number


class Slice:
    """How an axis of an input is sliced into parts, or an axis of an output concatenated from parts, one part for each iteration."""

    __slots__ = ("axis", "end", "part_size", "start", "stride")

    def __init__(self, axis: int, attributes: dict[str, str]) -> None:
        self.axis = axis
        self.start = _number(attributes, "start", 0)
        self.end = _number(attributes, "end", -1)
        self.stride = _number(attributes, "stride", 1)
        self.part_size = _number(attributes, "part_size", 1)

    def counted(self, size: Size) -> Size:
        """How many parts OpenVINO counts in an axis, of which it takes both ends to be within; `part_size` is not 0."""
        start, end = (end + size if end < 0 else end for end in (self.start, self.end))
        return self.divided(dim_max(end - start, start - end) + 1)

    def divided(self, length: Size) -> Size:
        """A length divided by `part_size`, rounded towards 0."""
        return length // self.part_size if self.part_size > 0 else -(length // -self.part_size)

    def taken(self, size: Size) -> Size | None:
        """How many parts OpenVINO's CPU plugin takes when it runs, which leaves out the later end; None where it refuses to run."""
        start, end = (end + size + 1 if end < 0 else end for end in (self.start, self.end))
        first, last = (start, end) if self.stride > 0 else (end, start)
        step = abs(self.stride)
        if step == 0 or False in (le(0, first), le(last, size), le(step, last - first), eq((last - first) % step, 0)):
            return None
        return (last - first) // step


class BodyInput(NamedTuple):
    """A Parameter of the body and the layer's input that feeds it.

    The Parameter takes a slice of the input in each iteration if `slice` is set. Otherwise it takes the whole input: in every iteration,
    or in the first only, followed by the value of the Result `back` of the iteration before.
    """

    external: int
    parameter: Node
    slice: Slice | None
    back: Node | None
    offset: int


class BodyOutput(NamedTuple):
    """An output of the layer and the Result that gives it: its last value, or its values of all iterations, concatenated (`slice`)."""

    result: Node
    slice: Slice | None
    offset: int


class Body:
    """A body and its port map.

    `iteration` is the Parameter that counts the iterations of a Loop, `condition` the Result that ends it. `faults` holds a message
    and an offset for each entry of the map that names a missing Parameter or Result, `remarks` holds a code, too, and is for what
    OpenVINO reads without effect. `is_misread` says that an entry has an id that is no number.
    """

    __slots__ = ("condition", "faults", "inputs", "is_misread", "iteration", "model", "name", "outputs", "remarks")

    def __init__(self, model: Model, name: str) -> None:
        self.model = model
        self.name = name
        self.inputs: list[BodyInput] = []
        self.outputs: list[BodyOutput] = []
        self.iteration: Node | None = None
        self.condition: Node | None = None
        self.faults: list[tuple[str, int]] = []
        self.is_misread = False
        self.remarks: list[tuple[str, str, int]] = []


def bodies_of(node: Node, port_maps: Sequence[PortMap] | None = None) -> list[Body]:
    """The bodies of a node in the order that its operation declares, with its own or other port maps; empty if one is missing."""
    wanted = BODIES.get(node.op_type, ())
    if any(name not in node.bodies for name, _ in wanted):
        return []
    every = node.layer.port_maps or () if port_maps is None else port_maps
    return [_body(node, name, map, every) for name, map in wanted]


def _body(node: Node, name: str, map: str, every: Sequence[PortMap]) -> Body:
    body = Body(node.bodies[name], name)
    entries = [entry for entry in every if entry.map == map]
    # Of several entries with one number OpenVINO uses the first.
    inputs, outputs = ({external_of(one): one for one in reversed(entries) if one.tag == tag} for tag in ("input", "output"))
    edges = [entry for entry in every if entry.map == "back_edges"]
    back = {end_of(edge): edge for edge in reversed(edges)}
    # OpenVINO compares unsigned numbers, so -1 comes last.
    for external, entry in sorted(inputs.items(), key=lambda item: item[0] % 2**64):
        parameter = _find(body, entry, "Parameter", internal_of(entry))
        if parameter is None:
            continue
        if entry.attributes.get("purpose") == "current_iteration":
            body.iteration = parameter
        slice = _slice(entry)
        edge = None if slice else back.get(parameter.id)
        if edge is not None and external < 0:
            told = f"the back edge to layer {parameter.id} leads to Parameter {parameter.name!r}, which no input of the layer feeds"
            told += f": its entry in line {node.model.document.position(entry.offset)[0]} has external_port_id {external}"
            body.faults.append((told, edge.offset))
        elif edge is not None:
            result = _find(body, edge, "Result", start_of(edge))
            if result is not None:
                body.inputs.append(BodyInput(external, parameter, None, result, entry.offset))
        elif slice is not None or external >= 0:
            body.inputs.append(BodyInput(external, parameter, slice, None, entry.offset))
    for external, entry in sorted(outputs.items()):
        result = _find(body, entry, "Result", internal_of(entry))
        if result is None:
            continue
        if entry.attributes.get("purpose") == "execution_condition":
            body.condition = result
        if external >= 0:
            body.outputs.append(BodyOutput(result, _slice(entry), entry.offset))
    # The reader has reported ids that are no numbers.
    body.is_misread = any(internal_of(one) < 0 for one in entries) or any(min(start_of(one), end_of(one)) < 0 for one in edges)
    if not body.faults and not body.is_misread:
        body.remarks.extend(_without_effect(node, body, entries, edges))
    return body


# The attributes of the entries of a port map, and the purposes that an input and an output may have.
_ATTRIBUTES: Final = frozenset((*MAP_NUMBERS, "purpose"))
_PURPOSES: Final = {"input": "current_iteration", "output": "execution_condition"}


def _without_effect(node: Node, body: Body, entries: list[PortMap], edges: list[PortMap]) -> Iterator[tuple[str, str, int]]:
    """What OpenVINO reads in the port map of a body without effect, and the Parameters that get no value."""
    told: set[int] = set()
    for entry in entries:
        for name in sorted(entry.attributes.keys() - _ATTRIBUTES):
            yield "R104", f"<{entry.tag}> of <{entry.map}> has no attribute {name!r}", entry.offset
        purpose, wanted = entry.attributes.get("purpose"), _PURPOSES[entry.tag]
        if purpose not in (None, wanted):
            yield "R104", f"<{entry.tag}> of <{entry.map}> has no purpose {purpose!r}; the only one is {wanted!r}", entry.offset
            told.add(internal_of(entry))
    whole = {body.iteration, *(one.parameter for one in body.inputs)}
    unfed = [one for one in body.model.parameters if one not in whole and one.id not in told]
    none = f", and none feeds Parameter {unfed[0].name!r}" if unfed else ""
    fed: dict[Node, int] = {}
    for one in body.inputs:
        if one.parameter in fed:
            both = f"inputs {fed[one.parameter]} and {one.external} of the port map feed the same Parameter {one.parameter.name!r}"
            yield "G121", f"{both}{none}", one.offset
        fed.setdefault(one.parameter, one.external)
    if len(fed) == len(body.inputs):
        for parameter in unfed:
            named = [one for one in entries if one.tag == "input" and internal_of(one) == parameter.id]
            dropped = next((one for one in named if external_of(one) >= 0), None)
            reason = "" if dropped is None else ": an entry before it has the same external_port_id, and OpenVINO reads the first"
            offset = node.layer.offset if dropped is None else dropped.offset
            yield "G121", f"no input of the port map feeds Parameter {parameter.name!r} of the {body.name}{reason}", offset
    followed = {(one.back.id, one.parameter.id) for one in body.inputs if one.back is not None}
    for edge in edges:
        ends = start_of(edge), end_of(edge)
        if ends not in followed and all(ends[1] != one.id for one in unfed):
            yield (
                "G121",
                f"the back edge from layer {ends[0]} to layer {ends[1]} leads to no Parameter that an input feeds whole",
                edge.offset,
            )


def _find(body: Body, entry: PortMap, type: str, id: int) -> Node | None:
    """The Parameter or Result that an entry names by an id; None, and a fault of the body, if it does not exist."""
    node = body.model._by_id.get(id)
    if node is None or node.type != type:
        if id >= 0:  # else the reader has reported the text
            body.faults.append((f"the {body.name} has no {type} with id {id}", entry.offset))
        return None
    return node


def _slice(entry: PortMap) -> Slice | None:
    attributes = entry.attributes
    return Slice(_number(attributes, "axis", 0), attributes) if attributes.get("axis") is not None else None


def external_of(entry: PortMap) -> int:
    """The port of the layer that an entry names, -1 for none."""
    return _number(entry.attributes, "external_port_id", -1)


def internal_of(entry: PortMap) -> int:
    """The id of the Parameter or Result that an entry names, -1 for none."""
    return _number(entry.attributes, "internal_layer_id", -1)


def start_of(edge: PortMap) -> int:
    """The id of the Result at which a back edge starts, -1 for none."""
    return _number(edge.attributes, "from-layer", -1)


def end_of(edge: PortMap) -> int:
    """The id of the Parameter to which a back edge leads, -1 for none."""
    return _number(edge.attributes, "to-layer", -1)


def _number(attributes: dict[str, str], name: str, default: int) -> int:
    """A number of a port map. For a text that is not a number, which the reader has reported, it is the default."""
    value = whole_number(attributes.get(name, ""))
    return default if value is None else value


def conditions_passed(body: Body) -> list[BodyInput]:
    """The inputs that are the condition of a Loop: those whose Parameter directly feeds the condition's Result in every iteration."""
    condition = body.condition
    if condition is None or not condition.sources:
        return []
    source = condition.sources[0]
    return [
        entry
        for entry in body.inputs
        if entry.parameter.first_slot == source and entry.slice is None and (entry.back is None or entry.back.sources[:1] == [source])
    ]
