"""The graph of a draft: the layers of a model, changed, removed and added, with a journal that takes every edit back.

The model itself never changes. An `Item` is a layer of the draft and a `Value` a tensor; the public objects of `graph.py` are views of
them. Whoever follows the edits, such as the facts, watches the items that they touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, Final, NamedTuple

from irshape.model.model import UNFED, Model, Node
from irshape.ops.op import OpClass
from irshape.xml.document import PortMap

# The distance between the label of a new item and the last one that it reads, and the least one between two labels.
_STEP: Final = 2.0**-16
_LEAST: Final = 2.0**-36


class EditError(ValueError):
    """An edit that makes no graph: a cycle, a tensor of another graph, an unknown attribute, the removal of a layer that is still read."""


class EditStep(NamedTuple):
    """One edit: the verb, the name of the layer as it was before, and the rest in words."""

    verb: str
    layer: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.layer}{': ' if self.detail else ''}{self.detail}"


class Value:
    """A tensor. `slot` is its number, unique among all tensors of the draft; `names` is the text of its names, None for none."""

    __slots__ = ("index", "item", "names", "slot", "view")

    def __init__(self, item: Item, index: int, slot: int, names: str | None) -> None:
        self.item = item
        self.index = index
        self.slot = slot
        self.names = names
        self.view: Any = None


class Item:
    """A layer. `base` is the node that it was in the model, None for a new one.

    `origin` is the node whose text and bodies it has: `base`, or for a layer that has moved out of a body, the node that it was there.
    `label` is its place in a topological order. `place` is its place in the file: the index of a node of the model, and for a new layer a
    number that orders those behind this node. `op_class` is the class of the operation, None if it is unknown. `recorded` are the element
    types and shapes that the ports of a new layer of an unknown operation record. `note` is irshape's text about the output of a new
    layer, None for none. `ports` are the ids of the inputs and outputs of a layer that has gained or lost some, else None. `port_maps` are
    the entries of the port maps of a layer with bodies, and `bodies` the graphs of those that somebody has looked into, by their names.
    """

    __slots__ = (
        "attributes", "base", "bodies", "id", "inputs", "label", "name", "note", "op_class", "origin", "outputs", "place",
        "port_maps", "ports", "recorded", "type", "version", "view",
    )  # fmt: skip

    def __init__(self, base: Node | None, id: int, name: str, type: str, version: str, op_class: OpClass | None) -> None:
        self.base = self.origin = base
        self.id = id
        self.name = name
        self.type = type
        self.version = version
        self.op_class = op_class
        self.attributes: dict[str, str] = {} if base is None else base.layer.attributes
        self.inputs: list[Value | None] = []
        self.outputs: list[Value] = []
        self.label = 0.0
        self.place: tuple[int, float] = (-1, 0.0)
        self.recorded: list[tuple[str, tuple[int, ...] | None]] = []
        self.note: str | None = None
        self.ports: tuple[list[int], list[int]] | None = None
        self.port_maps: list[PortMap] | None = None if base is None else base.layer.port_maps
        self.bodies: dict[str, State] = {}
        self.view: Any = None

    @property
    def is_other(self) -> bool:
        """Whether the layer has other attributes, ports, port maps or inputs than in the model, or is new."""
        base = self.base
        if base is None or self.ports is not None or self.port_maps is not base.layer.port_maps:
            return True
        return self.attributes != base.layer.attributes or self.sources != base.sources

    @property
    def input_ids(self) -> list[int]:
        """The ids of the inputs in the file."""
        if self.ports is not None:
            return self.ports[0]
        return [*range(len(self.inputs))] if self.origin is None else self.origin.layer.signature.input_ids

    @property
    def output_ids(self) -> list[int]:
        """The ids of the outputs in the file."""
        if self.ports is not None:
            return self.ports[1]
        count = len(self.inputs)
        return [*range(count, count + len(self.outputs))] if self.origin is None else self.origin.layer.signature.output_ids

    @property
    def held(self) -> Mapping[str, Model]:
        """The bodies of the layer in the file, by their names."""
        return {} if self.origin is None else self.origin.bodies

    @property
    def is_moved(self) -> bool:
        """Whether a layer of the model stands in another place of the file."""
        return self.base is not None and self.place != (self.base.index, 0.0)

    @property
    def sources(self) -> list[int]:
        """The number of the tensor that feeds each input, as `Node.sources` has it."""
        before = self.base.sources if self.base is not None and self.ports is None else ()
        unfed = [*(slot if slot < 0 else UNFED for slot in before), *[UNFED] * (len(self.inputs) - len(before))]
        return [unfed[index] if value is None else value.slot for index, value in enumerate(self.inputs)]

    def __repr__(self) -> str:
        return f"{self.type} {self.name!r}"


class Journal:
    """The edits of a file, which the graphs of all its bodies share: what was done, how it is undone, and the bytes of new constants."""

    def __init__(self, model: Model, outer: State | None) -> None:
        self.model = model
        self.outer = outer
        self.journal: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self.steps: list[tuple[int, EditStep]] = []
        self.appended: dict[int, bytes] = {}  # the bytes of new constants by their offset
        self._stored: dict[bytes, int] = {}
        self._slots: Iterator[int]
        if outer is None:
            self._slots = count(max(graph.first_tensor + graph.slot_count for graph in model.graphs()))
        else:
            self.journal, self.steps, self.appended, self._stored = outer.journal, outer.steps, outer.appended, outer._stored
            self._slots = outer._slots

    def note(self, verb: str, name: str, detail: str = "") -> None:
        """Write a step down, before it is made. A layer in a body is named with the layers around it."""
        self.steps.append((len(self.journal), EditStep(verb, self.full_name(name), detail)))

    def full_name(self, name: str) -> str:
        """The name of a layer with the layers around it."""
        return name if self.outer is None else f"{self.model.path} / {name}"

    def undo(self, mark: int) -> None:
        """Take back every change since the journal had this length."""
        while len(self.journal) > mark:
            inverse, arguments = self.journal.pop()
            length = len(self.journal)
            inverse(*arguments)
            del self.journal[length:]  # the inverse is no edit
        while self.steps and self.steps[-1][0] >= mark:
            self.steps.pop()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Make the changes of a `with` block all or not at all."""
        mark = len(self.journal)
        try:
            yield
        except BaseException:
            self.undo(mark)
            raise

    def store(self, data: bytes, start: int, alignment: int) -> int:
        """The offset of some bytes behind the weights, which end at `start`; equal bytes are stored once, and an offset never again."""
        known = self._stored.get(data)
        if known is None:
            last = next(reversed(self.appended), None)
            end = -1 if last is None else last + max(len(self.appended[last]), 1)
            known = self._stored[data] = -(-max(end, start) // alignment) * alignment
            self.appended[known] = data
        return known


class State(Journal):
    """The items of a draft, by id in `items`, and the tensors that each reads. Every method that changes them can be undone.

    `watched` are the sets of items that an edit has touched, one for each watcher. The graph of a body has a `holder`, and the graph around
    it is `outer`; all graphs of a file share one journal.
    """

    def __init__(self, model: Model, outer: State | None = None, holder: Item | None = None) -> None:
        self.holder = holder
        self.items: dict[int, Item] = {}
        self.by_name: dict[str, list[Item]] = {}
        self.readers: dict[Value, dict[tuple[Item, int], None]] = {}
        self.watched: list[dict[Item, None]] = []
        super().__init__(model, outer)
        self._numbers: dict[str, int] = {}
        self._serial = count(1)
        self._labels = set(map(float, range(len(model.nodes))))  # all that were ever given
        self._ids = count(max((node.id for node in model.nodes), default=-1) + 1)
        values: dict[int, Value] = {}
        for node in model.nodes:
            item = Item(node, node.id, node.name, node.type, node.version, node.op_class)
            item.place = (node.index, 0.0)
            names = [port.names for port in node.layer.outputs]
            item.outputs = [Value(item, index, node.first_slot + index, name) for index, name in enumerate(names)]
            values.update((value.slot, value) for value in item.outputs)
            self.items[item.id] = item
            self.by_name.setdefault(item.name, []).append(item)
        for position, index in enumerate(model.order):
            self.items[model.nodes[index].id].label = float(position)
        for item in self.items.values():
            assert item.base is not None
            item.inputs = [values.get(slot) for slot in item.base.sources]
            for index, value in enumerate(item.inputs):
                if value is not None:
                    self.readers.setdefault(value, {})[item, index] = None

    def is_live(self, item: Item) -> bool:
        """Whether an item belongs to the draft, and is not removed, nor a layer around it."""
        return self.items.get(item.id) is item and (self.outer is None or self.holder is None or self.outer.is_live(self.holder))

    def revisit(self, item: Item) -> None:
        """Tell the watchers that an item must be looked at again; of a body, the layer that holds it."""
        for touched in self.watched:
            touched[item] = None
        if self.outer is not None and self.holder is not None:
            self.outer.revisit(self.holder)

    def body(self, item: Item, name: str) -> State:
        """The graph of a body of an item."""
        if name not in item.bodies:
            item.bodies[name] = State(item.held[name], self, item)
        return item.bodies[name]

    # Changes, each with its inverse.

    def new_item(self, type: str, name: str, version: str, op_class: OpClass | None, place: tuple[int, float]) -> Item:
        """An item that is not yet in the draft."""
        item = Item(None, next(self._ids), self.unique(name), type, version, op_class)
        item.place = place
        return item

    def new_value(self, item: Item, index: int) -> Value:
        """A tensor that no item has yet. Its number and the first one of the graph make one that no tensor of the file has."""
        return Value(item, index, next(self._slots) - self.model.first_tensor, None)

    def enter(self, item: Item) -> None:
        """Put an item into the draft. It reads what its inputs say."""
        self.items[item.id] = item
        self.by_name.setdefault(item.name, []).append(item)
        self.journal.append((self.leave, (item,)))
        for index, value in enumerate(item.inputs):
            if value is not None:
                self.readers.setdefault(value, {})[item, index] = None
                self._order(value.item, item)
        self.revisit(item)

    def leave(self, item: Item) -> None:
        """Take an item out of the draft. Nothing may read it."""
        for index, value in enumerate(item.inputs):
            if value is not None:
                del self.readers[value][item, index]
        del self.items[item.id]
        self.by_name[item.name].remove(item)
        self.journal.append((self.enter, (item,)))
        self.revisit(item)

    def connect(self, item: Item, index: int, value: Value | None) -> None:
        """Let an input read a tensor. Raises `EditError` if a layer would depend on itself; then nothing has changed."""
        before = item.inputs[index]
        if before is value:
            return
        if value is not None:
            self._order(value.item, item)
            self.readers.setdefault(value, {})[item, index] = None
        if before is not None:
            del self.readers[before][item, index]
        item.inputs[index] = value
        self.journal.append((self.connect, (item, index, before)))
        self.revisit(item)

    def set_inputs(self, item: Item, inputs: list[Value | None], ids: list[int]) -> None:
        """Give a layer other inputs, with these ids of ports. Raises `EditError` for a cycle; then nothing has changed."""
        for value in inputs:
            if value is not None:
                self._order(value.item, item)
        self.journal.append((self._put_inputs, (item, item.inputs, item.ports)))
        self._put_inputs(item, inputs, (ids, item.output_ids))

    def _put_inputs(self, item: Item, inputs: list[Value | None], ports: tuple[list[int], list[int]] | None) -> None:
        for index, value in enumerate(item.inputs):
            if value is not None:
                del self.readers[value][item, index]
        item.inputs, item.ports = inputs, ports
        for index, value in enumerate(inputs):
            if value is not None:
                self.readers.setdefault(value, {})[item, index] = None
        self.revisit(item)

    def set_outputs(self, item: Item, outputs: list[Value], ids: list[int]) -> None:
        """Give a layer other outputs, with these ids of ports. Nothing may read one that goes."""
        slots = [next(self._slots) - self.model.first_tensor for _ in outputs]  # the numbers of a layer's tensors follow each other
        before = item.outputs, item.ports, [value.slot for value in item.outputs]
        self.journal.append((self._put_outputs, (item, *before)))
        self._put_outputs(item, outputs, (item.input_ids, ids), slots)

    def _put_outputs(self, item: Item, outputs: list[Value], ports: tuple[list[int], list[int]] | None, slots: list[int]) -> None:
        item.outputs, item.ports = outputs, ports
        for index, (value, slot) in enumerate(zip(outputs, slots, strict=True)):
            value.index, value.slot = index, slot
            for reader, _ in self.readers.get(value, ()):
                self.revisit(reader)
        self.revisit(item)

    def set_port_maps(self, item: Item, entries: list[PortMap] | None) -> None:
        """Give a layer with bodies other entries of port maps."""
        self.journal.append((self.set_port_maps, (item, item.port_maps)))
        item.port_maps = entries
        self.revisit(item)

    def set_attributes(self, item: Item, attributes: dict[str, str]) -> None:
        """Give a layer other attributes, as text."""
        self.journal.append((self.set_attributes, (item, item.attributes)))
        item.attributes = attributes
        self.revisit(item)

    def rename(self, item: Item, name: str) -> None:
        """Give a layer another name."""
        self.journal.append((self.rename, (item, item.name)))
        self.by_name[item.name].remove(item)
        self.by_name.setdefault(name, []).append(item)
        item.name = name

    def move(self, item: Item, place: tuple[int, float]) -> None:
        """Give an item another place in the file."""
        self.journal.append((self.move, (item, item.place)))
        item.place = place

    def set_names(self, value: Value, names: str | None) -> None:
        """Give a tensor other names, as the text of a port has them."""
        self.journal.append((self.set_names, (value, value.names)))
        value.names = names

    # Questions.

    @property
    def in_order(self) -> list[Item]:
        """The items in topological order."""
        return sorted(self.items.values(), key=_label)

    def named(self, name: str) -> Item | None:
        """The first item of a name, in the order of the file."""
        found = self.by_name.get(name)
        return min(found, key=lambda item: item.place) if found else None

    def unique(self, name: str) -> str:
        """A name that no layer has: the name itself, or with a number behind it."""
        if not self.by_name.get(name):
            return name
        number = self._numbers.get(name, 0) + 1
        while self.by_name.get(f"{name}_{number}"):
            number += 1
        self._numbers[name] = number
        return f"{name}_{number}"

    def place_behind(self, items: Iterable[Item]) -> tuple[int, float]:
        """The place in the file behind the last of some items."""
        return max((item.place[0] for item in items), default=-1), float(next(self._serial))

    def place_before(self, item: Item) -> tuple[int, float]:
        """The place in the file just before an item."""
        index, number = item.place
        if item.base is None or item.is_moved:
            before = [other.place[1] for other in self.items.values() if other.place[0] == index and other.place[1] < number]
            return index, (max(before, default=0.0) + number) / 2
        return index - 1, float(next(self._serial))

    def label_behind(self, values: Iterable[Value]) -> float:
        """A label for a new item that reads some tensors. No other item has it, so that labels are an order."""
        label = max((value.item.label for value in values), default=-1.0) + _STEP + next(self._serial) * _LEAST
        while label in self._labels:
            label += _LEAST
        self._labels.add(label)
        return label

    # The order.

    def _order(self, before: Item, after: Item) -> None:
        """Let one item come before another one in the order, by the algorithm of Pearce and Kelly. Raises `EditError` for a cycle."""
        low, high = after.label, before.label
        if high < low:
            return
        forward: set[Item] = set()
        pending = [after]
        while pending:
            item = pending.pop()
            if item is before:
                raise EditError(f"{after!r} would depend on itself: {before!r} already depends on it")
            if item not in forward:
                forward.add(item)
                readers = (reader for value in item.outputs for reader, _ in self.readers.get(value, ()))
                pending += [reader for reader in readers if reader.label <= high]
        backward: set[Item] = set()
        pending = [before]
        while pending:
            item = pending.pop()
            if item not in backward:
                backward.add(item)
                pending += [value.item for value in item.inputs if value is not None and value.item.label >= low]
        moved = sorted(backward, key=_label) + sorted(forward, key=_label)
        for item, label in zip(moved, sorted(item.label for item in moved), strict=True):
            item.label = label
            self.revisit(item)


def _label(item: Item) -> float:
    return item.label


def joined_names(names: Iterable[str]) -> str | None:
    """The text of a port with some names, each once; None for none."""
    return ",".join(name.replace(",", "\\,") for name in dict.fromkeys(names)) or None
