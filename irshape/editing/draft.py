"""A draft: the items of a graph with their facts, and the text, the weights and the model that they make."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, get_args

from irshape.editing.arrays import Data, data_of, element_type_of
from irshape.editing.facts import BodyFacts, Facts
from irshape.editing.state import EditError, Item, State, Value, joined_names
from irshape.editing.text import serialised
from irshape.inference.engine import Engine
from irshape.inference.inputs import InputError, read_shape, recorded_inputs
from irshape.inference.stored import last_end
from irshape.inference.verdict import infer
from irshape.model.const import Const
from irshape.model.finding import TENSOR, Meaning, Names, fused_of, meanings, unknown, variable_of
from irshape.model.load import load
from irshape.model.model import SINKS, Model, grouped, reached, split_names
from irshape.ops.op import OpClass
from irshape.report.text import counted
from irshape.shape.element_type import ElementType
from irshape.shape.notation import shape_text
from irshape.shape.shape import Shape, format_shape
from irshape.xml.lexical import BODIES
from irshape.xml.patched_weights import AppendedWeights, PatchedWeights, RangedWeights
from irshape.xml.weights import Weights, WeightsError

# The faults of edges, and of the ports that edges name.
_OF_EDGES: Final = frozenset({"G102", "G103", "G104", "G105", "G106", "G115"})


class GraphDraft:
    """A graph that is edited: that of a file, or of a body in it.

    `model` is the graph as it was, `weights` those of the file with the new constants behind them, which begin at `start`.
    """

    state: State
    weights: AppendedWeights
    start: int

    def __init__(self, model: Model) -> None:
        self.model = model
        self._spelled = grouped((type.lower(), type) for type in dict.fromkeys(node.type for node in model.nodes))
        self._tensors: dict[str, Value] = {}
        self._bodies: dict[tuple[Item, str], BodyDraft] = {}

    @property
    def facts(self) -> Facts | BodyFacts:
        """The facts of the tensors as they are now."""
        raise NotImplementedError

    def body(self, item: Item, name: str) -> BodyDraft:
        if (item, name) not in self._bodies:
            self._bodies[item, name] = BodyDraft(self, item, name)
        return self._bodies[item, name]

    def add(
        self,
        type: str,
        given: Sequence[Any],
        attributes: Mapping[str, Any],
        *,
        name: str | None,
        version: str | None,
        place: tuple[int, float] | None,
        outputs: Iterable[Any] | None,
    ) -> Item:
        """A new layer, which reads tensors and new constants; a list with tensors holds several inputs, as in `concat([a, b])`."""
        given = [one for some in given for one in (some if isinstance(some, list | tuple) and any(map(is_tensor, some)) else (some,))]
        state = self.state
        version = version or self._version(type)
        op_class = self.model.registry.find(type, version)
        if op_class is not None and op_class.TYPE in BODIES:
            raise EditError("graph.add cannot make a layer with bodies: edit a model that has such a layer")
        type = next(iter(self._spelled.get(type.lower(), ())), type if op_class is None else op_class.TYPE)
        if op_class is None and outputs is None:
            raise EditError(f"{version} has no operation {type!r}; state its outputs: outputs=[(element type, shape), ...]")
        own = [self.value_of(one) if is_tensor(one) else None for one in given]
        place = place or state.place_behind(value.item for value in own if value is not None)
        item = state.new_item(type, name or type, version, op_class, place)
        if op_class is not None and len(given) < op_class.min_inputs:
            raise EditError(f"{item!r} lacks its input {op_class.inputs[len(given)].name}: graph.add({type!r}, TENSOR)")
        state.set_attributes(item, self.spell(item, attributes))
        item.recorded = [
            (element_type_of(element_type).precision, None if shape is None else tuple(shape)) for element_type, shape in outputs or ()
        ]
        state.note("add", item.name, type)
        for index, (one, value) in enumerate(zip(given, own, strict=True)):
            if value is None:
                data = data_of(one, None, self._type_for(op_class, index, own))
                value = self.constant(data, f"{item.name}/{index}", place)
            item.inputs.append(value)
        item.label = state.label_behind(value for value in item.inputs if value is not None)
        count = len(item.recorded) if op_class is None or op_class.TYPE == "Result" else len(op_class.outputs)
        item.outputs = [state.new_value(item, index) for index in range(count)]
        state.enter(item)
        if op_class is not None and op_class.outputs[-1].variadic:
            item.outputs = [state.new_value(item, index) for index in range(self.facts.count(item))]
            state.revisit(item)
        return item

    def constant(self, data: Data, name: str, place: tuple[int, float] | None = None) -> Value:
        attributes = data.attributes(self.state.store(data.bytes, self.start))
        return self.put("Const", name, attributes, (), place=place or self.state.place_behind(())).outputs[0]

    def parameter(self, name: str, shape: Shape | str, element_type: ElementType, place: tuple[int, float] | None = None) -> Item:
        """A new Parameter, by default behind the others."""
        attributes = {"shape": shape if isinstance(shape, str) else format_shape(shape), "element_type": element_type}
        place = place or self.state.place_behind(self.of_type("Parameter"))
        return self.add("Parameter", (), attributes, name=name, version="opset1", place=place, outputs=None)

    def result(self, value: Value, name: str | None = None) -> Item:
        """A new Result behind the others. It is part of a larger edit, and no step of its own."""
        place = self.state.place_behind([*self.of_type("Result"), value.item])
        return self.put("Result", name or f"{value.item.name}/result", {}, [value], place=place, outputs=0)

    def put(
        self,
        type: str,
        name: str,
        attributes: dict[str, str],
        inputs: Sequence[Value | None],
        *,
        place: tuple[int, float],
        version: str = "opset1",
        outputs: int = 1,
    ) -> Item:
        """A new layer with attributes as text. It is part of a larger edit, and no step of its own."""
        state = self.state
        item = state.new_item(type, name, version, self.model.registry.find(type, version), place)
        item.attributes = attributes
        item.inputs = [*inputs]
        item.label = state.label_behind(value for value in inputs if value is not None)
        item.outputs = [state.new_value(item, index) for index in range(outputs)]
        state.enter(item)
        return item

    def spell(self, item: Item, attributes: Mapping[str, Any]) -> dict[str, str]:
        """The attributes of an item with some of them set, as text. Raises `EditError` for one that the operation does not have."""
        found = dict(item.attributes)
        known = {} if item.op_class is None else item.op_class.attributes
        spellings = {attribute.spelling: attribute.spelling for attribute in known.values()}
        spellings.update((name, attribute.spelling) for name, attribute in known.items())
        types = {one.spelling for one in known.values() if ElementType in (one.annotation, *get_args(one.annotation))}
        for name, value in attributes.items():
            if item.op_class is not None and name not in spellings:
                raise EditError(f"{item.type} has no attribute {name!r}; it has {', '.join(sorted(known)) or 'none'}")
            spelling = spellings.get(name, name)
            if spelling in types:
                value = element_type_of(value)
            found[spelling] = _shape_text(item.name, value) if name in ("shape", "variable_shape") else _text(name, value)
        return found

    def value_of(self, given: Any) -> Value:
        """The tensor of a public tensor or layer. Raises `EditError` for another graph's, a removed one, and what is none."""
        if not is_tensor(given):
            raise EditError(f"{given!r} is no tensor and no layer of a graph: take one of graph[NAME] or graph.tensor(NAME)")
        view = given.output if hasattr(given, "outputs") else given
        value: Value = view._value
        if view.layer._draft is not self:
            raise EditError(f"{view!r} belongs to another graph")
        if not self.state.is_live(value.item):
            raise EditError(f"{value.item!r} is removed")
        return value

    def _version(self, type: str) -> str:
        """The version for a new layer: that of the last layer of this type, else the oldest with the newest definition."""
        versions = self.model.registry.versions(type)
        if kin := self._kin(type):
            return kin
        if not versions:
            meant = f"; did you mean {like}?" if (like := self.model.registry.similar(type)) else "."
            raise EditError(f"no opset has an operation {type!r}{meant} Give version= for one of an extension")
        newest = list(versions.values())[-1]
        return next(version for version, op_class in versions.items() if op_class is newest)

    def _kin(self, type: str) -> str | None:
        """The version of the last layer of a type in the model, None if there is none."""
        same = self.model.of_type(*self._spelled.get(type.lower(), ()))
        return same[-1].version if same else None

    def _type_for(self, op_class: OpClass | None, index: int, values: Sequence[Value | None]) -> ElementType | None:
        """The element type for numbers at an input: that of an input which must have the same one."""
        port = None if op_class is None else op_class.input_at(index, len(values))
        if op_class is None or port is None:
            return None
        for other, value in enumerate(values):
            like = op_class.input_at(other, len(values))
            if value is not None and like is not None and port.group and like.group == port.group:
                found = self.facts.of(value).element_type
                return None if found is ElementType.dynamic else found
        return None

    def operand(self, given: Any, item: Item, index: int) -> Value:
        """The tensor that an input of an item is to read: one that exists, or a new constant."""
        if is_tensor(given):
            return self.value_of(given)
        others = [None if position == index else value for position, value in enumerate(item.inputs)]
        data = data_of(given, None, self._type_for(item.op_class, index, others))
        return self.constant(data, f"{item.name}/{index}", self.state.place_before(item))

    def const_of(self, item: Item) -> Const:
        """The content of a Const. Raises `EditError` for another layer."""
        if item.op_class is None or item.op_class.TYPE != "Constant":
            raise EditError(f"{item!r} is no Const")
        op: Any = item.op_class(item.attributes, self.model.document.limits)
        if op.is_broken:
            raise EditError(f"{item!r} does not say where its elements are")
        return Const(op.element_type, op.shape, op.offset, op.size, self.weights)

    def set_content(self, item: Item, data: Data) -> None:
        """Give a Const another content. It is part of a larger edit, and no step of its own."""
        attributes = data.attributes(self.state.store(data.bytes, self.start))
        self.state.set_attributes(item, {**item.attributes, **attributes})

    def replace_uses(self, own: Value, new: Value, chosen: Collection[Item] | None) -> int:
        """Let the readers of a tensor read another one, except those between the two, and return how many inputs that are."""
        state, between = self.state, self.between(own, new)
        moved = [
            (item, index)
            for item, index in state.reads_of(own)
            if item not in between and (chosen is None or item in chosen) and own is not new
        ]
        if not moved:
            return 0
        with state.edit("replace uses", own.item.name, f"by {new.item.name}"):
            for item, index in moved:
                state.connect(item, index, new)
            if own.names and any(item.type == "Result" for item, _ in moved):
                state.set_names(new, joined_names([*split_names(new.names), *split_names(own.names)]))
                state.set_names(own, None)
        return len(moved)

    def redirect(self, value: Value, new: Value) -> None:
        """Let all readers of a tensor read another one."""
        for item, index in self.state.reads_of(value):
            self.state.connect(item, index, new)

    def of_type(self, *types: str) -> list[Item]:
        """The items of some types, in the order of the file, in whatever case it spells them."""
        found = (item for item in self.state.items.values() if item.type in types or item.op_type in types)
        return sorted(found, key=lambda item: item.place)

    def tensor(self, name: str) -> Value | None:
        """The tensor that has a name, None if none has."""
        known = self._tensors.get(name)
        if known is None or not self.state.is_live(known.item) or name not in split_names(known.names):
            values = [value for item in self.state.items.values() for value in item.outputs if value.names]
            self._tensors = {name: value for value in reversed(values) for name in split_names(value.names)}
            known = self._tensors.get(name)
        return known

    def between(self, value: Value, until: Value) -> set[Item]:
        """The items that lie between two tensors: those that depend on the first one, and on which the second one depends."""
        low = value.item.label
        start = [until.item] if until.item.label > low else []
        return set(reached(start, lambda item: [one for one in item.producers if one.label > low]))

    def readers_of(self, item: Item) -> list[tuple[Item, int]]:
        return [reader for value in item.outputs for reader in self.state.reads_of(value)]

    def remove(self, item: Item) -> None:
        """Take an item out, with the constants that only it reads."""
        sources = item.producers
        self.state.leave(item)
        for source in dict.fromkeys(sources):
            if source.type == "Const" and self.state.is_live(source) and not self.readers_of(source):
                self.state.leave(source)

    def dead(self) -> list[Item]:
        """The items that reach no Result and no Assign, except Parameters; readers come first."""
        sinks = [item for item in self.state.items.values() if item.type in SINKS or "Assign" in types_inside(item)]
        live = set(reached(sinks, lambda item: item.producers))
        dead = [item for item in self.state.items.values() if item not in live and item.type != "Parameter"]
        return sorted(dead, key=lambda item: -item.label)


class BodyDraft(GraphDraft):
    """The graph of a body that is edited; `outer` is the graph that its layer `holder` is in."""

    def __init__(self, outer: GraphDraft, holder: Item, name: str) -> None:
        state = outer.state.body(holder, name)
        super().__init__(state.model)
        self.outer = outer
        self.holder = holder
        self.state = state
        self.weights, self.start = outer.weights, outer.start

    @property
    def facts(self) -> BodyFacts:
        return BodyFacts(self.state, self.outer.facts)

    def _kin(self, type: str) -> str | None:
        return super()._kin(type) or self.outer._kin(type)


class Draft(GraphDraft):
    """The graph of a file that is edited, and the text that it makes. `original` are the weights of the file.

    `engine` has inferred the model, for the shapes of the file unless it was asked for others.
    """

    def __init__(self, model: Model, weights: Weights | None, opaque: frozenset[str], engine: Engine | None = None) -> None:
        document = model.document
        if not document.is_complete or document.is_example or document.version == 0:
            raise EditError("only a whole IR can be edited, and this file is not a whole IR: irshape check says why")
        for graph in model.graphs():
            if (dropped := next((node for node in graph.nodes if node.is_dropped), None)) is not None:
                message = f"two layers have the id {dropped.id}, so edges do not tell which one they mean; give them ids of their own first"
                raise EditError(message)
        super().__init__(model)
        self.opaque = opaque
        self.original = weights
        self.state = State(model)
        self.start = max(_total(weights), last_end(document, sys.maxsize))
        self.weights = AppendedWeights(weights, self.start, self.state.appended)
        self._facts: Facts | None = None
        self._engine = engine

    def __getstate__(self) -> dict[str, Any]:
        """All but what is inferred again: it holds layers that no file has."""
        return {**self.__dict__, "_facts": None, "_engine": None}

    def require_single_edges(self) -> None:
        """Raise `EditError` if two edges lead to one input: the one that the draft leaves out may be right, and its layer be needed."""
        if (fault := next((one for one in self.model.diagnostics if one.code == "G104"), None)) is not None:
            raise EditError(f"{fault.message}, so the layers that the model needs are not known; {fault.hint}")

    @property
    def engine(self) -> Engine:
        """The engine that has inferred the model before the edits."""
        if self._engine is None:
            engine = Engine(self.model, self.original, self.opaque)
            infer(engine, recorded_inputs(self.model)[0].question(engine))
            self._engine = engine
        return self._engine

    @property
    def facts(self) -> Facts:
        """The facts of the tensors as they are now."""
        if self._facts is None or not self._facts.is_whole:  # after an exception, the engine may be half made, too
            if self._facts is not None:
                self._facts = self._engine = None
            engine, self._engine = self.engine, None
            self.state.watched.clear()
            facts = Facts(self.state, engine, self.weights)
            self._engine, self._facts = engine, facts
        return self._facts

    def text(self, *, trims: bool = False, cuts: bool = False) -> tuple[bytes, Weights | None]:
        """The text of the draft, and its weights; with `trims`, they hold only what the constants need.

        With `cuts`, they end where the last constant does, if they ended so before: bytes behind it look like another model's. Raises
        `EditError` if the file is at fault, and for this the text has other edges than the draft.
        """
        trims = trims and self.weights.has_original
        if not self.state.journal and not trims:
            return self.model.document.source, self.original
        text, placed = serialised(self.state, self.facts, self.engine.current, self.start, trims=trims)
        faults = [*self.model.document.diagnostics, *(one for one in self.model.diagnostics if one.code in _OF_EDGES)]
        if faults and (changed := _fed_otherwise(self.state, self._load(text, None))) is not None:
            raise EditError(f"a fault would change the edges of {changed!r} in the written file; correct it first: {faults[0]}")
        if trims:
            return text, PatchedWeights(RangedWeights(self.weights, placed.ranges), placed.stored)
        weights, stored = self.original, placed.stored
        if placed.offsets and not self.start:  # OpenVINO needs a file even for constants without bytes
            weights = PatchedWeights(Weights(b""), stored)
        elif stored:
            are_whole = _total(weights) >= max(placed.end, 1)
            weights = PatchedWeights(weights, stored) if weights and are_whole else AppendedWeights(weights, self.start, stored)
        elif cuts and weights is not None and 0 < placed.end < last_end(self.model.document, sys.maxsize) == _total(weights):
            weights = RangedWeights(weights, [(0, 0, placed.end)])
        return text, weights

    def built(self) -> tuple[Model, Weights | None]:
        text, weights = self.text()
        return self._load(text, weights), weights

    def _load(self, text: bytes, weights: Weights | None) -> Model:
        document, sources = self.model.document, self.model.registry.sources
        opset, limits = self.model.default_opset, document.limits
        return load(text, path=document.path, weights=weights, opset=opset, limits=limits, extensions=sources)


def _fed_otherwise(state: State, model: Model) -> Item | None:
    """A layer of a draft whose inputs other tensors feed in a model of its text, or which gives others; None if there is none."""
    pending = [(state, model)]
    while pending:
        state, model = pending.pop()
        known = {node.id: node for node in model.nodes}
        for item in state.items.values():
            node = known.get(item.id)
            if node is None or len(node.slots) != len(item.outputs) or not item.bodies.keys() <= node.bodies.keys():
                return item
            sources = [(value.item.id, value.index) if value else slot for value, slot in zip(item.inputs, item.sources, strict=True)]
            fed = [port.source for port in node.inputs]
            if sources != [slot if one is None else (one.node.id, one.index) for one, slot in zip(fed, node.sources, strict=True)]:
                return item
            pending += [(body, node.bodies[name]) for name, body in item.bodies.items()]
    return None


def is_tensor(given: Any) -> bool:
    """Whether something is a tensor or a layer of a draft, and no number."""
    return hasattr(given, "_value") or hasattr(given, "_item")


def layer_count(draft: GraphDraft) -> int:
    """The number of layers, with those of bodies."""
    return len(draft.state.items) + sum(types_inside(item).total() for item in draft.state.items.values())


def types_inside(item: Item) -> Counter[str]:
    """The types of the layers in the bodies of an item, each with the number of its layers."""
    found: Counter[str] = Counter()
    for name, body in item.held.items():
        if name in item.bodies:
            for one in item.bodies[name].items.values():
                found += Counter([one.type]) + types_inside(one)
        else:
            found.update(node.type for graph in body.graphs() for node in graph)
    return found


def _shape_text(name: str, value: Any) -> str:
    sizes = read_shape(name, value)
    if named := [one for size in sizes or () for one in size.symbols]:
        raise InputError(f"the shape of {name!r}: a Parameter takes numbers, ranges and ?, not {named[0]!r}")
    return shape_text(sizes).strip("[]")


def _text(name: str, value: Any) -> str:
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | ElementType):
        return str(value)
    if isinstance(value, Sequence):
        return ", ".join(_text(name, one) for one in value)
    raise EditError(f"the attribute {name!r} cannot be {value!r}")


def _total(weights: Weights | None) -> int:
    try:
        return 0 if weights is None or weights.are_unread else weights.total
    except WeightsError:
        return 0


def found(draft: GraphDraft, text: str, *, by_name: bool = False) -> tuple[GraphDraft, list[Meaning[Item]]]:
    """The layers that a text names, the one that it means first, and the graph that they are in.

    A layer of the graph itself comes first. A layer in a body has the ids around it, `2.body/5`, or the names, `loop / body / step`.
    """
    items = sorted(draft.state.items.values(), key=lambda item: item.place)
    has_fused = b"fused_names" in draft.model.document.source
    own = meanings(text, items, names_of, (lambda one: fused_of(one.origin) if one.origin else "") if has_fused else None, by_name=by_name)
    if own:
        return draft, own
    way = re.fullmatch(r"(\d{1,18})\.(\w+)/(.+)", text, re.ASCII)
    holders = draft.of_type(*BODIES)
    for item in holders:
        if way is not None and item.id == int(way[1]) and way[2] in item.held:
            return found(draft.body(item, way[2]), way[3], by_name=by_name)
    for item in holders:
        for name, body in item.held.items():
            path = f"{body.path} / "
            if any(text in graph for graph in body.graphs()) or name in item.bodies or text.startswith(path):
                inner, known = found(draft.body(item, name), text.removeprefix(path), by_name=by_name)
                if known:
                    return inner, known
    return draft, []


def found_output(draft: GraphDraft, text: str, *, by_name: bool = False) -> tuple[GraphDraft, Value, list[Meaning[Item]]] | None:
    """The tensor that a text names, the graph that it is in, and all that the text names.

    It is the tensor of this name, the output of the layer that the text names, or `LAYER:PORT`. A Result stands for the tensor that it
    reads, and a layer for its only output that a layer reads. Raises `EditError` for a layer of several such outputs.
    """
    (inner, known), port = found(draft, text, by_name=by_name), ""
    if not known:
        layer, _, port = text.rpartition(":")
        inner, known = found(draft, layer, by_name=by_name) if port.isdecimal() else (draft, [])
        known = [one for one in known if one.kind != TENSOR] or known
    if not known:
        return None
    _, item, output = known[0]
    if output is not None:
        return inner, item.outputs[output], known
    if not item.outputs and item.inputs and item.inputs[0] is not None:
        return inner, item.inputs[0], known
    outputs = [value for value, id in zip(item.outputs, item.output_ids, strict=True) if port in ("", str(id))]
    if len(outputs) > 1:
        outputs = [value for value in outputs if inner.state.reads_of(value)] or outputs
    if len(outputs) != 1:
        ports = " or ".join(f":{id}" for id in item.output_ids)
        raise EditError(f"{item!r} has {counted(len(item.outputs), 'output')}{ports and f': choose one by {ports} behind its name'}")
    return inner, outputs[0], known


Told = Callable[[str, Sequence[Any], Callable[[Any], Any]], None]
"""Hears of a text and the layers that it names, of which the first is meant."""


def meant(draft: GraphDraft, text: str, *, by_name: bool = False, told: Told | None = None) -> tuple[GraphDraft, Item]:
    """The graph and the layer that a text means. Raises `KeyError` if it names none."""
    own, known = found(draft, text, by_name=by_name)
    if not known:
        raise unknown_layer(draft, text)
    if told is not None:
        told(text, known, names_of)
    return own, known[0].layer


def meant_output(draft: GraphDraft, text: str, *, by_name: bool = False, told: Told | None = None) -> tuple[GraphDraft, Value]:
    """The graph and the tensor that a text means. Raises what `found_output` does, and `KeyError` if it names none."""
    known = found_output(draft, text, by_name=by_name)
    if known is None:
        raise unknown_layer(draft, text, "tensor")
    if told is not None:
        told(text, known[2], names_of)
    return known[:2]


def unknown_layer(draft: GraphDraft, text: str, thing: str = "layer") -> KeyError:
    """The error for a text that names nothing."""
    items = draft.state.items.values()
    tensors = (name for item in items for value in item.outputs for name in split_names(value.names))
    return KeyError(unknown(text, chain((item.name for item in items), tensors), thing))


def names_of(item: Item) -> Names:
    """What a layer of a draft may be called."""
    return Names(str(item.id), item.type, item.name, [value.names for value in item.outputs], variable_of(item.type, item.attributes))
