"""The hierarchy of a graph: its layers in nested groups, so small that each can be drawn and read.

Groups come from the names of layers (`block1/conv/weights`, `__module.encoder.0/aten::add/Add`). A layer whose name says nothing
(`Multiply_98235`) joins a layer that reads it. The members of a group make no circle: a name that is used twice is cut by position.
Blocks in a row that are equal up to names become one group that repeats. A group with too many members is cut into parts, in topological
order, where few tensors cross.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from irshape.answers.circles import circles, links, ordered, pieces
from irshape.inference.inference import Inference
from irshape.model.model import Model, Node, grouped, reached


class Contents:
    """The contents of layers, by their positions: their types, attributes and shapes, and how they read each other."""

    def __init__(
        self, nodes: Sequence[Node], producers: Sequence[Sequence[int]], is_hidden: Sequence[int], shape_of: Callable[[Node], Hashable]
    ) -> None:
        """`producers` are those of each layer; `is_hidden` says which layers are constant. `shape_of` is that of `Hierarchy`."""
        self._nodes = nodes
        self._producers = producers
        self._is_hidden = is_hidden
        self._shape_of = shape_of
        self._own: dict[int, int] = {}
        # What each layer reads, as the layer and what it is for a reader outside its set; a constant is both times what it is.
        self._inputs: dict[int, list[tuple[int, int]]] = {}
        self._numbers: dict[Hashable, int] = {}

    def read(self, layers: Iterable[int]) -> None:
        """Read layers of one graph."""
        shapes = {layer: self._number(("shape", self._shape_of(self._nodes[layer]))) for layer in layers}
        for layer, shape in shapes.items():
            node = self._nodes[layer]
            self._own[layer] = self._number((node.type, _attributes(node), shape, id(node) if node.bodies else 0))
            inputs = self._inputs[layer] = []
            for one in self._producers[layer]:
                if self._is_hidden[one]:  # what is constant is equal if its shape is
                    constant = ~self._number(("constant", self._shape_of(self._nodes[one])))
                    inputs.append((constant, constant))
                else:
                    inputs.append((one, ~shapes[one]))

    def numbers(self, several: Sequence[Sequence[int]]) -> list[int]:
        """A number for each of several sets of layers. Sets have the same one if they are equal up to the names and the order of layers."""
        sums = [sum(map(self._own.__getitem__, layers)) for layers in several]
        alike = Counter(sums)  # a set whose sum no other set has is equal to none
        return [self._of(layers) if alike[own] > 1 else ~place for place, (layers, own) in enumerate(zip(several, sums, strict=True))]

    def _of(self, layers: Sequence[int]) -> int:
        """The number of what these layers are, and of how they read each other; the order of the layers makes no difference."""
        order = self._order(layers) if len(layers) > 1 else layers
        place = {layer: place for place, layer in enumerate(order)}.get
        return self._number(tuple([(self._own[layer], *[place(one, outside) for one, outside in self._inputs[layer]]) for layer in order]))

    def _order(self, layers: Sequence[int]) -> list[int]:
        """The layers in an order that depends on what each follows from and on what follows from it, and not on their order in the file."""
        own, inputs, number = self._own, self._inputs, self._number
        above: dict[int, int] = {}
        for layer in layers:
            above[layer] = number((own[layer], *[above.get(one, outside) for one, outside in inputs[layer]]))
        below: dict[int, list[tuple[int, int]]] = {layer: [] for layer in layers}
        keys: dict[int, int] = {}
        for layer in reversed(layers):
            key = keys[layer] = number((above[layer], *sorted(below[layer])))
            for place, (one, _) in enumerate(inputs[layer]):
                if one in below:
                    below[one].append((key, place))
        return sorted(layers, key=keys.__getitem__)

    def _number(self, content: Hashable) -> int:
        return self._numbers.setdefault(content, len(self._numbers))


def _attributes(node: Node) -> Hashable:
    """The attributes of a layer as a key, in whatever order they stand, without the name of a variable: each layer has its own."""
    if node.type == "Result":
        return 0
    return node.version, frozenset([item for item in node.layer.signature.attributes.items() if item[0] != "variable_id"])


# The most members of a block that is repeated, the fewest repeats of a block that is a single layer, and the fewest layers of other blocks.
_LONGEST: Final = 80
_FEWEST: Final = 4
_LIGHTEST: Final = 6


class Repeat(NamedTuple):
    """Blocks in a row that are equal: the position of the first, the members of each, and how often they come."""

    begin: int
    length: int
    times: int

    @property
    def end(self) -> int:
        """The position after the last block."""
        return self.begin + self.length * self.times


def runs(contents: Sequence[int], weights: Sequence[int], reads: Sequence[set[int]]) -> list[Repeat]:
    """The runs of equal blocks among members, in their order, the widest at each place.

    Equal members have the same number in `contents`; `weights` are the layers in each. `reads` are the positions that each member reads:
    the members of equal blocks read the same members of their own block and of the block before, and of no other block.
    """
    found = []
    places = grouped((content, position) for position, content in enumerate(contents))
    offsets = [tuple(sorted([number - one for one in read])) for number, read in enumerate(reads)]
    following = [0] * len(contents)  # the place of each position among those of its content
    for positions in places.values():
        for number, position in enumerate(positions):
            following[position] = number
    begin = 0
    while begin < len(contents):
        best: Repeat | None = None
        for other in places[contents[begin]][following[begin] + 1 :]:
            length = other - begin
            if length > _LONGEST:
                break
            if contents[begin:other] != contents[other : other + length]:
                continue
            run = Repeat(begin, length, _times(contents, offsets, begin, length))
            weight = sum(weights[begin:other])
            if run.times > 1 and run.times * weight >= (_FEWEST if weight == 1 else _LIGHTEST) and (best is None or run.end > best.end):
                best = run
                if best.end == len(contents):
                    break
        if best is not None:
            found.append(best)
        begin = begin + 1 if best is None else best.end
    return found


def _times(contents: Sequence[int], offsets: Sequence[tuple[int, ...]], begin: int, length: int) -> int:
    """How often the block of this length is repeated from a position on. `offsets` say how far before it a member reads."""
    count = 1
    while True:
        start = begin + count * length
        if start + length > len(contents):
            return count
        for at in range(length):
            if contents[start + at] != contents[begin + at]:
                return count
            own, first = offsets[start + at], offsets[begin + at]
            if own != first and [one for one in own if one <= at] != [one for one in first if one <= at]:
                return count
            # From the second block on, a block reads the one before it, and no other block.
            if own and own[-1] > at:
                second = offsets[begin + length + at]
                if own != second and [one for one in own if at < one <= at + length] != [one for one in second if at < one <= at + length]:
                    return count
                if any(at + length < one <= start + at - begin for one in own):
                    return count
        count += 1


# The members of a group that are drawn at once: as many as a column of boxes that a person reads on a small screen.
_MOST_MEMBERS: Final = 10
# The inputs, and the outputs, that stand beside the groups of a model; more of them become a group.
_MOST_ENDS: Final = 4
# The layers of a group that stands for itself where there are too many members.
_LARGE: Final = 6
# The layers that equal blocks share, and that may stand beside the blocks.
_MOST_LOOSE: Final = 8
# The fewest layers of one type that an activation has if several modules use it.
_SHARED: Final = 3
# Names are split into so many groups at most, because a hostile name may have a million slashes.
_MOST_LEVELS: Final = 16
# A layer that reads the shape of a tensor, and no data; it may stand before the layer whose shape it reads.
_SHAPE: Final = "ShapeOf"
# Types that say most of what a group of layers does, and types that say little.
_HEAVY: Final = frozenset({"Convolution", "GroupConvolution", "MatMul", "ScaledDotProductAttention"})
_MOVING: Final = frozenset({
    "Broadcast", "Concat", "Convert", "Gather", "Reshape", "Select", "ShapeOf", "Slice", "Squeeze", "StridedSlice", "Transpose",
    "Unsqueeze",
})  # fmt: skip
_SLASHES: Final = re.compile("/+")
GENERATED: Final = re.compile(r"[A-Za-z]\w*_\d+(?:_\w+)?")
# A converter numbers what it makes through the whole model, so that its numbers are long.
_GENERATED_GROUP: Final = re.compile(r"[A-Za-z]\w*_\d{4,}(?:_\w+)?")
_NUMBER: Final = re.compile(r"[\d._-]*(?: \(\d+ of \d+\))?$")


class Group(NamedTuple):
    """A group of layers: its name, and the number of the group around it (-1 in no group).

    `holder` is the position of the layer whose body the group is, -1 for any other group. `repeats` is the number of the members of a
    group that are equal up to names, 0 for any other group.
    """

    parent: int
    name: str
    holder: int = -1
    repeats: int = 0


class _Item:
    """A layer, or the layers, in order, whose names begin alike in `depth` parts; `inner` are its members, once they are known."""

    __slots__ = ("depth", "inner", "layers", "name")

    def __init__(self, name: str, layers: list[int], depth: int) -> None:
        self.name = name
        self.layers = layers
        self.depth = depth
        self.inner: list[_Item] | None = None

    @property
    def is_layer(self) -> bool:
        """Whether this is one layer, and no group."""
        return len(self.layers) == 1


class Hierarchy:
    """The groups of a model and its bodies, and the group of each layer (-1 in none), by position.

    `nodes` are the layers of all graphs; those of one graph stand together, in topological order. A layer of `hidden` is not drawn: it
    depends on constants alone. `shape_of` gives what must be equal in layers of equal blocks beside their content: the shapes of their
    outputs. With `is_folded`, of equal blocks only the first has groups inside. Without `is_drawn`, it has `named_groups` alone.
    """

    def __init__(
        self,
        model: Model,
        faulty: Iterable[Node] = (),
        shape_of: Callable[[Node], Hashable] = lambda node: None,
        *,
        is_folded: bool = False,
        is_drawn: bool = True,
    ) -> None:
        self._is_folded = is_folded
        self.nodes: list[Node] = [node for graph in model.graphs() for node in dict.fromkeys([*graph, *graph.nodes])]
        self.groups: list[Group] = []
        self.hidden: set[Node] = set()
        shown = set(faulty)
        self.position: dict[Node, int] = {node: position for position, node in enumerate(self.nodes)}
        self._types = [node.layer.signature.type for node in self.nodes]
        # The positions of the layers of each graph, by their index in it.
        self._places = {graph: [self.position[node] for node in graph.nodes] for graph in model.graphs()}
        self._producers = [self._read_by(node) for node in self.nodes]
        self._is_hidden = bytearray(len(self.nodes))
        for position, (node, type, producers) in enumerate(zip(self.nodes, self._types, self._producers, strict=True)):
            if (type == "Const" or _follows(node, type, producers, self._is_hidden)) and node not in shown:
                self._is_hidden[position] = True
                self.hidden.add(node)
        self.group_of = [-1] * len(self.nodes)
        self._sources: list[list[int]] = [[] for _ in self.nodes]
        self._is_shape = bytearray(len(self.nodes))
        self._paths: list[Sequence[str]] = [()] * len(self.nodes)
        self._contents = Contents(self.nodes, self._producers, self._is_hidden, shape_of)
        for graph in model.graphs():
            root = -1 if graph.holder is None else self._new_group(-1, graph.name, self.position[graph.holder])
            inside = sorted(map(self.position.__getitem__, graph.nodes))
            drawn = [position for position in inside if not self._is_hidden[position]]
            for position in drawn:
                if self._types[position] == _SHAPE:
                    self._is_shape[position] = True
                    continue
                found = [one for one in self._producers[position] if not self._is_hidden[one]]
                self._sources[position] = [one for one in dict.fromkeys(found) if one < position]  # a faulty file may have circles
                self._is_shape[position] = bool(found) and all(map(self._is_shape.__getitem__, found))
            self._name(drawn)
            whole = _Item("", drawn, 0)
            if is_drawn:
                self._draw(whole, inside, root)
            else:  # names are cut where groups share layers
                list(reached([whole], lambda one: () if one.is_layer else self._split(one.layers, one.depth)))

    def _draw(self, drawn: _Item, inside: Sequence[int], root: int) -> None:
        """Give the layers inside a graph their groups; a layer that is not drawn stands where its first reader does."""
        self._contents.read(drawn.layers)
        self._arrange(drawn, root)
        first = {one: position for position in reversed(inside) for one in self._producers[position]}
        for position in reversed(inside):
            if self._is_hidden[position]:
                self.group_of[position] = self.group_of[first[position]] if position in first else root

    def path(self, node: Node) -> list[str]:
        """The names of the groups around a layer, outermost first."""
        names = []
        group = self.group_of[self.position[node]]
        while group >= 0:
            names.append(self.groups[group].name)
            group = self.groups[group].parent
        return names[::-1]

    def named_groups(self, node: Node) -> Sequence[str]:
        """The groups that the name of a layer states, or that of a layer beside it if a converter made the name; outermost first."""
        return self._paths[self.position[node]]

    def _read_by(self, node: Node) -> list[int]:
        """The layers whose outputs a layer reads."""
        graph = node.model
        places, producers, stubs = self._places[graph], graph.producers, graph.stubs
        return [places[producers[slot]] for slot in node.sources if slot >= 0 and slot not in stubs]

    def readers(self, position: int) -> list[int]:
        """The positions of the layers that read a layer's outputs."""
        node = self.nodes[position]
        readers, places = node.model.readers, self._places[node.model]
        return [places[reader] for slot in node.slots for reader, _ in readers.get(slot, ())]

    def _links(self, members: Sequence[_Item | _Stack]) -> list[set[int]]:
        """The members that each of some members reads, by their numbers."""
        owner = {layer: number for number, member in enumerate(members) for layer in member.layers}
        return links(owner, self._sources, len(members))

    def _new_group(self, parent: int, name: str, holder: int = -1, repeats: int = 0) -> int:
        self.groups.append(Group(parent, name, holder, repeats))
        return len(self.groups) - 1

    def _name(self, drawn: Sequence[int]) -> None:
        """Give the layers of one graph their paths, the parts of their names; inputs and results stand outside all groups."""
        adopted = []
        paths = self._paths
        for position in drawn:
            if self._types[position] in ("Parameter", "Result"):
                continue
            name = self.nodes[position].name
            paths[position] = stated_groups(name)
            if not paths[position] and GENERATED.fullmatch(_SLASHES.split(name.strip("/")[:1000], 1)[0]):
                adopted.append(position)
        names = {self.nodes[position].name for position in drawn}

        def near(ones: Iterable[int]) -> Sequence[str]:
            """The groups of the first of some layers that has any; what is named after a layer, as `conv/WithoutBiases`, is no group."""
            return next((paths[one] for one in ones if paths[one] and "/".join(paths[one]) not in names), ())

        for position in reversed(adopted):
            paths[position] = near(self.readers(position))
        for position in adopted:
            paths[position] = paths[position] or near(self._sources[position])
        self._share(drawn)

    def _share(self, drawn: Sequence[int]) -> None:
        """Let the layers of an activation that several modules use stand where the layers that they read do."""
        used = grouped(((self._types[position], tuple(self._paths[position])), position) for position in drawn)
        for (type, path), positions in used.items():
            around, read = path[:-1], [self._producers[one] for one in positions]
            if len(positions) < _SHARED or type in _MOVING or any(len(one) != 1 for one in read):
                continue
            paths = [self._paths[one] for [one] in read]
            if 2 * sum(tuple(one[: len(around)]) != around for one in paths) > len(positions):
                for position, one in zip(positions, paths, strict=True):
                    self._paths[position] = one

    def _arrange(self, whole: _Item, group: int) -> None:
        """Make the members of an item those of a group."""
        items = self._items(whole)
        ends = [self._types[one.layers[0]] if one.is_layer else "" for one in items]
        of_ends = {"Parameter": -1, "Result": len(self.nodes)}
        keys = [of_ends.get(end, one.layers[0]) for one, end in zip(items, ends, strict=True)]
        order = ordered(self._links(items), keys)
        # Inputs come first and results last, so that each can become one group.
        inputs = [items[number] for number in order if ends[number] == "Parameter"]
        results = [items[number] for number in order if ends[number] == "Result"]
        members = [items[number] for number in order if ends[number] not in ("Parameter", "Result")]
        units = self._units(members)
        stack = units[0] if len(units) == 1 else None
        if isinstance(stack, _Stack) and not inputs and not results and group >= 0 and not self.groups[group].repeats:
            self.groups[group] = self.groups[group]._replace(repeats=len(stack.blocks))
            self._stack(stack, group)
            return
        self._ends(inputs, "inputs", group)
        self._place(units, group)
        self._ends(results, "outputs", group)

    def _ends(self, items: Sequence[_Item], name: str, group: int) -> None:
        """Make inputs, or results, members of a group, in a group of their own if there are many."""
        units = self._units(items) if len(items) > _MOST_ENDS else items
        if len(units) > _MOST_ENDS:
            group = self._new_group(group, name)
        self._place(units, group)

    def _items(self, whole: _Item, *, is_outer: bool = True) -> list[_Item]:
        """The members of an item. With `is_outer`, what equal blocks in a member share becomes a member beside it."""
        if whole.inner is None:
            whole.inner = self._split(whole.layers, whole.depth)
        items = list(whole.inner)
        for item in whole.inner if is_outer else ():
            items += [] if item.is_layer else self._loose(item)
        ends = [item for item in items if item.is_layer and self._types[item.layers[0]] in ("Parameter", "Result")]
        others = [item for item in items if item not in ends]
        if len(others) == 1 and not others[0].is_layer:  # all layers stand in one group: its members are meant
            return [*ends, *self._items(others[0], is_outer=is_outer)]
        return items

    def _split(self, layers: Sequence[int], depth: int) -> list[_Item]:
        """The members that layers make by the next part of their names; those that read each other in circles are cut."""
        heads = self._heads(layers, depth)
        if not heads:
            return [_Item("", [layer], depth + 1) for layer in layers]
        items: list[_Item] = []
        named: dict[str, _Item] = {}
        for layer in layers:
            head = heads.get(layer)
            item = None if head is None else named.get(head)
            if item is not None:
                item.layers.append(layer)
            else:
                items.append(_Item(head or "", [layer], depth + 1))
                if head is not None:
                    named[head] = items[-1]
        cut = circles(self._links(items)) if 1 < len(items) < len(layers) else []
        for members in cut:
            found = pieces({number: items[number].layers for number in members}, self._sources)
            items += [_Item(items[number].name, piece, depth + 1) for number, piece in found]
        left_out = {number for members in cut for number in members}
        items = [item for number, item in enumerate(items) if number not in left_out]
        groups = [item for item in items if not item.is_layer]
        for item in groups:
            self._join(item)
        counts = Counter(item.name for item in groups)
        seen: Counter[str] = Counter()
        for item in groups:
            seen[item.name] += 1
            if counts[item.name] > 1:
                item.name = f"{item.name} ({seen[item.name]} of {counts[item.name]})"
        return items

    def _loose(self, item: _Item) -> list[_Item]:
        """Take the few layers out of a group that stand before its equal blocks, so that the group has nothing but these."""
        inner = self._items(item, is_outer=False)
        loose = [one for one in inner if one.is_layer]
        blocks = [one for one in inner if not one.is_layer]
        if not 0 < len(loose) <= _MOST_LOOSE or len(blocks) < 2 or len(set(self._contents.numbers([one.layers for one in blocks]))) > 1:
            return []
        inside = {layer for one in blocks for layer in one.layers}
        if any(source in inside for one in loose for source in self._sources[one.layers[0]]):
            return []
        item.layers, item.inner = sorted(inside), None
        return loose

    def _heads(self, layers: Sequence[int], depth: int) -> dict[int, str]:
        """The next part of the name of each layer that has one. Layers that several groups share leave the group whose name they have.

        A converter names such a layer after its first reader. These layers read nothing of that group, or follow shapes.
        """
        heads = {layer: path[depth] for layer in layers if len(path := self._paths[layer]) > depth}
        if len(set(heads.values())) < 2:
            return heads
        readers: dict[int, set[str | None]] = {}
        for layer in reversed(layers):
            head = heads.get(layer)
            own = readers.pop(layer, ())
            is_shared = head is not None and bool(own) and (len(own) > 1 or head not in own)
            if is_shared and (self._is_shape[layer] or (head in own and all(heads.get(one) != head for one in self._sources[layer]))):
                self._paths[layer] = self._paths[layer][:depth]
                heads.pop(layer)
                head = None
            for one in self._sources[layer]:
                readers.setdefault(one, set()).add(head)
        return heads

    def _join(self, item: _Item) -> None:
        """Join the names of a group and of the only group in it."""
        for part in self._paths[item.layers[0]][item.depth :]:
            if any(self._paths[one][item.depth : item.depth + 1] != [part] for one in item.layers):
                break
            item.name += f"/{part}"
            item.depth += 1

    def _units(self, items: Sequence[_Item]) -> list[_Item | _Stack]:
        """Members in their order, of which blocks that repeat become stacks."""
        contents = self._contents.numbers([item.layers for item in items])
        if len(set(contents)) == len(items):
            return list(items)
        found: list[_Item | _Stack] = []
        at = 0
        for run in runs(contents, [len(item.layers) for item in items], self._links(items)):
            found += [*items[at : run.begin], self._stacked(items, run)]
            at = run.end
        return [*found, *items[at:]]

    def _stacked(self, items: Sequence[_Item], run: Repeat) -> _Stack:
        blocks = [items[begin : begin + run.length] for begin in range(run.begin, run.end, run.length)]
        first = blocks[0][0]
        names = {_NUMBER.sub("", block[0].name) for block in blocks}
        if first.is_layer and run.length == 1:
            name = self._types[first.layers[0]]
        elif run.length > 1 or len(names) > 1:
            name = self._summary([layer for item in blocks[0] for layer in item.layers])
        else:  # the blocks of `layers` are called by numbers alone
            name = names.pop() or "".join(self._paths[first.layers[0]][first.depth - 2 : first.depth - 1]) or "block"
        return _Stack(name, blocks)

    def _place(self, units: Sequence[_Item | _Stack], group: int) -> None:
        if len(units) > _MOST_MEMBERS:
            parts = _apart(units)
            for part in parts if len(parts) <= _MOST_MEMBERS else self._parts(units):
                own = group if len(part) == 1 else self._new_group(group, self._title(part))
                self._place(part, own)
            return
        for unit in units:
            if isinstance(unit, _Stack):
                self._stack(unit, self._new_group(group, unit.name, repeats=len(unit.blocks)))
            elif unit.is_layer:
                self.group_of[unit.layers[0]] = group
            else:
                self._arrange(unit, self._new_group(group, unit.name))

    def _stack(self, stack: _Stack, group: int) -> None:
        """Make the blocks of a stack the members of its group."""
        for number, block in enumerate(stack.blocks, 1):
            if self._is_folded and number > 1:
                is_one = len(block) == 1 and block[0].is_layer
                own = group if is_one else self._new_group(group, f"block {number}")
                for item in block:
                    for layer in item.layers:
                        self.group_of[layer] = own
            elif len(block) == 1:
                self._place(block, group)
            else:
                own = self._new_group(group, f"block {number}")
                self._place(self._units(block), own)

    def _parts(self, units: Sequence[_Item | _Stack]) -> list[Sequence[_Item | _Stack]]:
        """The parts of members, of about equal size, each cut where the fewest tensors cross."""
        last = list(range(len(units)))  # the last reader of each member
        for number, read in enumerate(self._links(units)):
            for one in read:
                last[one] = max(last[one], number)
        crossing = [0] * (len(units) + 1)  # the members before each place that are read behind it
        for number, end in enumerate(last):
            crossing[number + 1] += 1
            crossing[end + 1 if end + 1 < len(crossing) else -1] -= 1
        for place in range(1, len(crossing)):
            crossing[place] += crossing[place - 1]
        count = min(_MOST_MEMBERS, -(-len(units) // (_MOST_MEMBERS - 2)))
        begin, found = 0, []
        for left in range(count, 1, -1):
            size = (len(units) - begin) / left
            near = range(begin + max(1, round(size * 0.6)), min(begin + round(size * 1.4), len(units) - left + 1) + 1)
            end = min(near, key=lambda place: (crossing[place], abs(place - begin - size)))
            found.append(units[begin:end])
            begin = end
        return [*found, units[begin:]]

    def _title(self, units: Sequence[_Item | _Stack]) -> str:
        """The name of a part: that of its first and last groups, or its most frequent types."""
        named = [unit.name for unit in units if isinstance(unit, _Stack) or not unit.is_layer]
        if len(named) > 1 and named[0] != named[-1]:
            return f"{named[0]} … {named[-1]}"
        return self._summary([layer for unit in units for layer in unit.layers])

    def _summary(self, layers: Sequence[int]) -> str:
        """The type that tells most of layers, the most frequent of its kind, and how many layers there are beside one of it."""
        counts = Counter([self._types[layer] for layer in layers])
        told = min(counts, key=lambda one: (one in _MOVING, one not in _HEAVY, -counts[one]))
        return told if len(counts) == 1 else f"{told} and {len(layers) - 1} more"


class _Stack(NamedTuple):
    """Blocks that are equal up to names, each of one or more members."""

    name: str
    blocks: Sequence[Sequence[_Item]]

    @property
    def layers(self) -> list[int]:
        """The layers of all blocks."""
        return [layer for block in self.blocks for item in block for layer in item.layers]


def _apart(units: Sequence[_Item | _Stack]) -> list[Sequence[_Item | _Stack]]:
    """Members in parts: each group alone, and the layers between two groups together."""
    found: list[list[_Item | _Stack]] = []
    for unit in units:
        if len(unit.layers) < _LARGE and found and len(found[-1][0].layers) < _LARGE:
            found[-1].append(unit)
        else:
            found.append([unit])
    return [*found] if len(found) > 1 else [[unit] for unit in units]


def stated_groups(name: str) -> list[str]:
    """The groups that a name states, outermost first."""
    *groups, _ = _SLASHES.split(name.strip("/")[:1000], _MOST_LEVELS)
    if groups and groups[0].startswith("__module."):  # the path of a module of PyTorch
        groups[:1] = groups[0].split(".", _MOST_LEVELS)[1:]
    # An operator of PyTorch is no group, because a module may call it many times; nor is a name that a converter made.
    return [group for group in groups if "::" not in group and not ("_" in group and _GENERATED_GROUP.fullmatch(group))]


def _follows(node: Node, type: str, producers: Sequence[int], is_constant: Sequence[int]) -> bool:
    """Whether a layer of a type reads constants alone; `is_constant` says so of its producers, as far as they are before it."""
    is_whole = bool(producers) and len(producers) == len(node.sources) and not node.bodies and type != "Result"
    return is_whole and all(map(is_constant.__getitem__, producers))


class Blocks(NamedTuple):
    """Equal blocks: their name, and the layers of each block in the order of the file."""

    name: str
    blocks: list[list[Node]]

    @property
    def title(self) -> str:
        """The number of the blocks and their name, as the page shows them; single layers also have their names."""
        first, last = self.blocks[0][0], self.blocks[-1][0]
        names = f": {first.name} … {last.name}" if len(self.blocks[0]) == 1 else ""
        return f"{len(self.blocks)} \N{MULTIPLICATION SIGN} {self.name}{names}"


def hierarchy_of(inference: Inference, ports: Mapping[str, object], formulas: Mapping[str, str]) -> Hierarchy:
    """The hierarchy of an inference, in which equal blocks have equal shapes and formulas; these take long to make, and are given."""

    def shapes(node: Node) -> tuple[object, ...]:
        keys = node.model.port_keys[node.first_slot : node.first_slot + node.layer.signature.output_count]
        return tuple([(ports.get(key), formulas.get(key)) for key in keys])

    faulty = {(one.where.path, one.where.layer_id) for one in inference.diagnostics}
    nodes = [node for graph in inference.model.graphs() for node in graph.nodes if (graph.path, str(node.id)) in faulty] if faulty else []
    return Hierarchy(inference.model, nodes, shapes, is_folded=True)


def members(hierarchy: Hierarchy) -> list[list[int]]:
    """The members of each group: layers by their position, groups as -1 minus their number. The last list has those in no group."""
    found: list[list[int]] = [[] for _ in (*hierarchy.groups, None)]
    for position, group in enumerate(hierarchy.group_of):
        found[group].append(position)
    for number, one in enumerate(hierarchy.groups):
        found[one.parent].append(-1 - number)
    return found


def equal_blocks(hierarchy: Hierarchy) -> Iterator[Blocks]:
    """All blocks that repeat, the outer ones first."""
    below = members(hierarchy)

    def layers(member: int) -> list[int]:
        return sorted(one for one in reached([member], lambda one: below[-1 - one] if one < 0 else ()) if one >= 0)

    for number, group in enumerate(hierarchy.groups):
        if group.repeats:
            drawn = [one for one in below[number] if one < 0 or hierarchy.nodes[one] not in hierarchy.hidden]
            if len(drawn) == group.repeats:
                yield Blocks(group.name, [[hierarchy.nodes[one] for one in layers(member)] for member in sorted(drawn, key=layers)])
