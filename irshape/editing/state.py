"""The graph of a draft: the layers of a model, changed, removed and added, with a journal that takes every edit back.

The model itself never changes. An `Item` is a layer of the draft and a `Value` a tensor; the public objects of `graph.py` are views of
them. Whoever follows the edits, such as the facts, watches the items that they touch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from irshape.model.build import lacking
from irshape.model.model import FAULTY, UNFED, Model, Node, reached
from irshape.ops.op import OpClass
from irshape.xml.document import PortMap

# The distance between the label of a new item and the last one that it reads, and the least one between two labels.
_STEP: Final = 2.0**-16
_LEAST: Final = 2.0**-36
_ABSENT: Final = object()
# The bytes of a new constant begin at a multiple of this number.
ALIGNMENT: Final = 64
# New ids come behind those below this one, so that there are ids behind the largest one that a file may have.
_LARGEST: Final = 2**62
# A character that XML 1.0 excludes.
_ILLEGAL: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class EditError(ValueError):
    """An edit that makes no graph: a cycle, a tensor of another graph, an unknown attribute, the removal of a layer that is still read."""


def legible(text: str) -> None:
    """Raise `EditError` for a text that no file can hold: XML has no control characters and no half of a pair of surrogates."""
    if found := _ILLEGAL.search(text):
        raise EditError(f"{text!r} cannot be written: XML has no character {found[0]!r}")


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

    @property
    def port(self) -> int:
        return self.item.output_ids[self.index]


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
    def op_type(self) -> str:
        """The type as the specification spells it; as the file does, if the operation is unknown."""
        return self.type if self.op_class is None else self.op_class.TYPE

    @property
    def is_other(self) -> bool:
        """Whether the layer has other attributes, ports, port maps or inputs than in the model, or is new."""
        base = self.base
        if base is None or self.ports is not None or self.port_maps is not base.layer.port_maps:
            return True
        return self.attributes != base.layer.attributes or self.sources != base.sources

    @property
    def producers(self) -> list[Item]:
        """The layers whose outputs the layer reads, in the order of its inputs."""
        return [value.item for value in self.inputs if value is not None]

    @property
    def input_ids(self) -> list[int]:
        if self.ports is not None:
            return self.ports[0]
        return [*range(len(self.inputs))] if self.origin is None else self.origin.layer.signature.input_ids

    @property
    def output_ids(self) -> list[int]:
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
        before = [UNFED] * len(self.inputs) if self.base is None or self.ports is not None else self.base.sources
        found = [min(slot, UNFED) if value is None else value.slot for value, slot in zip(self.inputs, before, strict=True)]
        if UNFED in found and self.origin is not None:
            for place in lacking(self.op_class, found, self.origin.model.document):
                found[place] = FAULTY
        return found

    def __repr__(self) -> str:
        return f"{self.type} {self.name!r}"


class Journal:
    """The edits of a file, which the graphs of all its bodies share: what was done, how it is undone, and the bytes of new constants.

    Every change is written into the journal before it is made, with an inverse that restores what was there and that may run again. So
    an exception, Ctrl-C included, may come between any two lines: what the journal holds can be taken back.
    """

    def __init__(self, model: Model, outer: State | None) -> None:
        self.model = model
        self.outer = outer
        self.journal: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self.steps: list[EditStep] = []
        self.appended: dict[int, bytes] = {}  # the bytes of new constants by their offset
        self._stored: dict[bytes, int] = {}
        self._next = {"id": max((node.id for node in model.nodes if node.id < _LARGEST), default=-1) + 1, "place": 1}
        self._edits: list[int] = []  # the length of the journal at the begin of each edit
        self._slots: list[int]  # the next number of a tensor, which all graphs of a draft share
        if outer is None:
            self._slots = [max(graph.first_tensor + graph.slot_count for graph in model.graphs())]
        else:
            self.journal, self.steps, self.appended, self._stored = outer.journal, outer.steps, outer.appended, outer._stored
            self._edits, self._slots = outer._edits, outer._slots

    def note(self, verb: str, name: str, detail: str = "") -> None:
        """Write a step down, before it is made. A layer in a body is named with the layers around it."""
        self.journal.append((self.steps.__delitem__, (slice(len(self.steps), None),)))
        self.steps.append(EditStep(verb, self.full_name(name), detail))

    def full_name(self, name: str) -> str:
        """The name of a layer with the layers around it."""
        return name if self.outer is None else f"{self.model.path} / {name}"

    @property
    def last(self) -> int:
        """The length that the journal had before the last edit."""
        return self._edits[-1] if self._edits else 0

    def undo(self, mark: int) -> None:
        """Take back every change since the journal had this length; an interrupt comes through when all of them are taken back."""
        try:
            self._take_back(mark)
        except BaseException:
            self._take_back(mark)
            raise

    def _take_back(self, mark: int) -> None:
        journal, edits = self.journal, self._edits
        while len(journal) > mark:
            inverse, arguments = journal[-1]
            inverse(*arguments)
            journal.pop()
        while edits and edits[-1] >= mark:
            edits.pop()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Make the changes of a `with` block all or not at all. They are one edit, together with those of attempts inside."""
        mark, edits = len(self.journal), self._edits
        try:
            try:
                yield
                while edits and edits[-1] >= mark:
                    edits.pop()
                if len(self.journal) > mark:
                    edits.append(mark)
            except BaseException:
                self.undo(mark)
                raise
        except BaseException:  # an interrupt may have come before the changes were taken back
            self.undo(mark)
            raise

    @contextmanager
    def edit(self, verb: str, name: str, detail: str = "") -> Iterator[None]:
        """Make the changes of a `with` block all or not at all, as one step."""
        with self.attempt():
            self.note(verb, name, detail)
            yield

    def store(self, data: bytes, start: int) -> int:
        """The offset of some bytes behind the weights, which end at `start`; equal bytes are stored once, and an offset never again."""
        known = self._stored.get(data)
        if known is None:
            last = next(reversed(self.appended), None)
            end = -1 if last is None else last + max(len(self.appended[last]), 1)
            known = -(-max(end, start) // ALIGNMENT) * ALIGNMENT
            self.appended[known] = data
            self._stored[data] = known
        return known

    # Changes of one place, each with its inverse.

    def _set(self, owner: Item | Value, name: str, new: object) -> None:
        self.journal.append((setattr, (owner, name, getattr(owner, name))))
        setattr(owner, name, new)

    def _put(self, table: dict[Any, Any], key: object, value: object) -> None:
        self.journal.append((_restore, (table, key, table.get(key, _ABSENT))))
        table[key] = value

    def _number(self, key: str) -> int:
        """The next number for the id or the place of a new item."""
        number = self._next[key]
        self._put(self._next, key, number + 1)
        return number

    def _drop(self, table: dict[Any, Any], key: object) -> None:
        self.journal.append((_restore, (table, key, table[key])))
        del table[key]


def _restore(table: dict[Any, Any], key: object, value: object) -> None:
    if value is _ABSENT:
        table.pop(key, None)
    else:
        table[key] = value


class State(Journal):
    """The items of a draft, by id in `items`, and the tensors that each reads. Every method that changes them can be undone.

    `watched` are the sets of items that an edit has touched, one for each watcher. The graph of a body has a `holder`, and the graph around
    it is `outer`; all graphs of a file share one journal.
    """

    def __init__(self, model: Model, outer: State | None = None, holder: Item | None = None) -> None:
        self.holder = holder
        self.items: dict[int, Item] = {}
        self.by_name: dict[str, dict[Item, None]] = {}
        self.readers: dict[Value, dict[tuple[Item, int], None]] = {}
        self.watched: list[dict[Item, None]] = []
        super().__init__(model, outer)
        self._numbers: dict[str, int] = {}  # of the names that were taken
        self._labels = dict.fromkeys(map(float, range(len(model.nodes))))  # all that were ever given
        values: dict[int, Value] = {}
        for node in model.nodes:
            item = Item(node, node.id, node.name, node.type, node.version, node.op_class)
            item.place = (node.index, 0.0)
            names = [port.names for port in node.layer.outputs]
            item.outputs = [Value(item, index, node.first_slot + index, name) for index, name in enumerate(names)]
            values.update((value.slot, value) for value in item.outputs)
            self.items[item.id] = item
            self.by_name.setdefault(item.name, {})[item] = None
        for position, index in enumerate(model.canonical):
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
        if name not in item.bodies:
            item.bodies[name] = State(item.held[name], self, item)
        return item.bodies[name]

    # Changes, each with its inverse.

    def new_item(self, type: str, name: str, version: str, op_class: OpClass | None, place: tuple[int, float]) -> Item:
        """An item that is not yet in the draft."""
        for text in (type, name, version):
            legible(text)
        item = Item(None, self._number("id"), self.unique(name), type, version, op_class)
        item.place = place
        return item

    def _next_slot(self) -> int:
        self._slots[0] += 1
        return self._slots[0] - 1 - self.model.first_tensor

    def new_value(self, item: Item, index: int) -> Value:
        """A tensor that no item has yet. Its number and the first one of the graph make one that no tensor of the file has."""
        return Value(item, index, self._next_slot(), None)

    def revise(self, item: Item) -> None:
        """Tell the watchers that an item must be looked at again, now and when the change is undone."""
        self.journal.append((self.revisit, (item,)))
        self.revisit(item)

    def enter(self, item: Item) -> None:
        """Put an item into the draft. It reads what its inputs say."""
        self.revise(item)
        self._put(self.items, item.id, item)
        self._put(self.by_name.setdefault(item.name, {}), item, None)
        self._read(item)

    def leave(self, item: Item) -> None:
        """Take an item out of the draft. Nothing may read it."""
        self.revise(item)
        self._unread(item)
        self._drop(self.items, item.id)
        self._drop(self.by_name[item.name], item)

    def connect(self, item: Item, index: int, value: Value | None) -> None:
        """Let an input read a tensor. Raises `EditError` if a layer would depend on itself; then nothing has changed."""
        before = item.inputs[index]
        if before is value:
            return
        if value is not None:
            self._order(value.item, item)
            self._put(self.readers.setdefault(value, {}), (item, index), None)
        self.revise(item)
        if before is not None:
            self._drop(self.readers[before], (item, index))
        self.journal.append((item.inputs.__setitem__, (index, before)))
        item.inputs[index] = value

    def set_inputs(self, item: Item, inputs: list[Value | None], ids: list[int]) -> None:
        """Give a layer other inputs, with these ids of ports. Raises `EditError` for a cycle."""
        ports = ids, item.output_ids
        self.revise(item)
        self._unread(item)
        self._set(item, "inputs", inputs)
        self._set(item, "ports", ports)
        self._read(item)

    def _read(self, item: Item) -> None:
        for index, value in enumerate(item.inputs):
            if value is not None:
                self._order(value.item, item)
                self._put(self.readers.setdefault(value, {}), (item, index), None)

    def _unread(self, item: Item) -> None:
        for index, value in enumerate(item.inputs):
            if value is not None:
                self._drop(self.readers[value], (item, index))

    def set_outputs(self, item: Item, outputs: list[Value], ids: list[int]) -> None:
        """Give a layer other outputs, with these ids of ports. Nothing may read one that goes."""
        self.revise(item)
        ports = item.input_ids, ids
        self._set(item, "outputs", outputs)
        self._set(item, "ports", ports)
        for index, value in enumerate(outputs):
            for reader, _ in self.readers.get(value, ()):
                self.revise(reader)
            self._set(value, "index", index)
            self._set(value, "slot", self._next_slot())  # the numbers of a layer's tensors follow each other

    def set_port_maps(self, item: Item, entries: list[PortMap] | None) -> None:
        self.revise(item)
        self._set(item, "port_maps", entries)

    def set_attributes(self, item: Item, attributes: dict[str, str]) -> None:
        """Give a layer other attributes, as text."""
        for value in attributes.values():
            legible(value)
        self.revise(item)
        self._set(item, "attributes", attributes)

    def rename(self, item: Item, name: str) -> None:
        legible(name)
        self._drop(self.by_name[item.name], item)
        self._put(self.by_name.setdefault(name, {}), item, None)
        self._set(item, "name", name)

    def move(self, item: Item, place: tuple[int, float]) -> None:
        self._set(item, "place", place)

    def set_names(self, value: Value, names: str | None) -> None:
        """Give a tensor other names, as the text of a port has them."""
        legible(names or "")
        self._set(value, "names", names)

    @property
    def in_order(self) -> list[Item]:
        return sorted(self.items.values(), key=_label)

    def named(self, name: str) -> Item | None:
        """The first item of a name, in the order of the file."""
        found = self.by_name.get(name)
        return min(found, key=lambda item: item.place) if found else None

    def reads_of(self, value: Value) -> list[tuple[Item, int]]:
        """The inputs that read a tensor, in the order of the file."""
        return sorted(self.readers.get(value, ()), key=lambda read: (read[0].place, read[1]))

    def unique(self, name: str) -> str:
        """A name that no layer has: the name itself, or with a number behind it."""
        if not self.by_name.get(name):
            return name
        number = self._numbers.get(name, 0) + 1
        while self.by_name.get(f"{name}_{number}"):
            number += 1
        self._put(self._numbers, name, number)
        return f"{name}_{number}"

    def place_behind(self, items: Iterable[Item]) -> tuple[int, float]:
        """The place in the file behind the last of some items."""
        return max((item.place[0] for item in items), default=-1), float(self._number("place"))

    def place_before(self, item: Item) -> tuple[int, float]:
        index, number = item.place
        if item.base is None or item.is_moved:
            before = [other.place[1] for other in self.items.values() if other.place[0] == index and other.place[1] < number]
            return index, (max(before, default=0.0) + number) / 2
        return index - 1, float(self._number("place"))

    def label_behind(self, values: Iterable[Value]) -> float:
        """A label for a new item that reads some tensors. No other item has it, so that labels are an order."""
        label = max((value.item.label for value in values), default=-1.0) + _STEP + self._number("place") * _LEAST
        while label in self._labels:
            label += _LEAST
        self._put(self._labels, label, None)
        return label

    def _order(self, before: Item, after: Item) -> None:
        """Let one item come before another one in the order, by the algorithm of Pearce and Kelly. Raises `EditError` for a cycle."""
        low, high = after.label, before.label
        if high < low:
            return

        def readers(item: Item) -> Iterator[Item]:
            return (one for value in item.outputs for one, _ in self.readers.get(value, ()) if one.label <= high)

        forward = set(reached([after], readers))
        if before in forward:
            raise EditError(f"{after!r} would depend on itself: {before!r} already depends on it")
        backward = reached([before], lambda item: [one for one in item.producers if one.label >= low])
        moved = sorted(backward, key=_label) + sorted(forward, key=_label)
        for item, label in zip(moved, sorted(item.label for item in moved), strict=True):
            self.revise(item)
            self._set(item, "label", label)


def _label(item: Item) -> float:
    return item.label


def joined_names(names: Iterable[str]) -> str | None:
    """The text of a port with some names, each once; None for none."""
    return ",".join(name.replace(",", "\\,") for name in dict.fromkeys(names)) or None
