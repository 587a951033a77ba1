"""The single change that makes peace: with it, a layer that contradicts its witnesses gives what the file records.

The changes are tried from the likeliest on: the type to which the attributes belong, an edge that should start at a layer that nothing
reads, two inputs exchanged, an element or the order of a constant, an attribute, another type. Constants that share their bytes are one
constant, and all their readers must agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations, islice, pairwise, permutations
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from irshape.diagnosis.recorded import contradictions, dims_text, highest_rank
from irshape.diagnosis.witnesses import MOST_ELEMENTS, Witnesses
from irshape.inference.facts import Fact
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.build import place
from irshape.model.model import Node, grouped, reached
from irshape.report.catalogue import is_fault
from irshape.report.diagnostic import Where, clipped
from irshape.report.text import common
from irshape.shape.element_type import ElementType
from irshape.shape.shape import format_shape

_CONSTANTS: Final = ("Const", "Constant")
# The most layers between a constant and the layer that reads sizes from it; the most changes that are told, and constants of one layer.
_MOST_BETWEEN: Final = 8
_MOST_NAMED: Final = 3
_MOST_READ: Final = 5
# The most changes that are tried for one layer: elements of one constant, of all, and types.
_MOST_OF_ONE: Final = 400
_MOST_TRIALS: Final = 1600
_MOST_EXCHANGED: Final = 4
# The most readers of a constant that are asked whether they agree, and the most layers that nothing reads which are tried as a start.
_MOST_ASKED: Final = 64
_MOST_STARTS: Final = 32
# The attributes that say how a layer makes the sizes of its output.
_WINDOW: Final = ("kernel", "strides", "dilations", "pads_begin", "pads_end", "output_padding", "block_size")
# Types that are confused because they take the same inputs; the families of elementwise operations are told apart by nothing.
_FAMILIES: Final = (
    ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData", "BinaryConvolution", "MatMul"),
    ("Reshape", "Broadcast", "Tile", "Unsqueeze", "Squeeze", "Transpose", "ReduceMean", "ReduceSum", "ReduceMax"),
    ("Gather", "GatherElements", "GatherND", "GatherTree"),
    ("Split", "VariadicSplit"),
    ("StridedSlice", "Slice", "Pad"),
    ("MaxPool", "AvgPool"),
    ("Add", "MatMul", "Concat", "Equal", "Less", "Gather"),
)


class Proposal(NamedTuple):
    """A change in words, and the places that it names.

    Changes of the same constants or edges have the same `key`, and `elements` are the other ones of a constant. `node` is the
    layer at which an edge should start, if the change is one of an edge. `is_guess` says that other edits may be the cause.
    `attributes` has the text of an attribute by its name, if the change is one of that attribute alone. `explained` is the number of
    layers whose rules a change of a constant mends.
    """

    text: str
    places: tuple[Where, ...] = ()
    key: object = None
    elements: tuple[Any, ...] = ()
    node: Node | None = None
    is_guess: bool = False
    attributes: Mapping[str, str] = {}
    explained: int = 0


class Way(NamedTuple):
    """A constant, and in order all layers behind it up to the one that reads sizes; `start` is the layer, or constant, before that one."""

    constant: Node
    steps: tuple[Node, ...]
    start: Node


class Changes:
    """The changes of one graph that would make peace."""

    def __init__(self, witnesses: Witnesses) -> None:
        self.witnesses = witnesses
        self.graph = witnesses.graph
        self.model = witnesses.model
        self._agreed: dict[tuple[object, tuple[Any, ...]], int] = {}
        self._ways: dict[Node, list[Way]] = {}

    def of(self, node: Node) -> list[Proposal]:
        """The changes with which a node that contradicts its witnesses gives what it records, the likeliest first."""
        told, transfer = self.told(node), self.witnesses.transfer(node)
        if transfer is None:
            return []
        # An element type alone tells of attributes that are types.
        if not told or self.witnesses.gives(node, self.witnesses.own[node], ("R301",)):
            types = " and ".join(sorted({port.precision for port in node.layer.outputs if port.precision}))
            found = self.attributes(node, transfer, f"the layer gives {types}, which it records", 1, are_types=True)
            if found or not told:
                return found
        others = {one.version for one in self.model.of_type(node.type) if one is not node}
        found = self.versions(node, told, others) if node.version not in others else []
        found = found or self.types(node, told, is_misfit=True) or [*islice(self.starts(node, told), _MOST_NAMED)]
        if not found:
            exchanged = [*islice(self.exchanges(node, told, (node,)), 1)]
            found = self.constants(node, told)
            is_shared = bool(found) and found[0].explained > 1  # other layers fail at this constant, too
            meant = self.attributes(node, transfer, told, 1 if found or exchanged else _MOST_NAMED)
            texts = [text.lower().split(",") for one in meant for text in one.attributes.values()]
            is_flag = any(map({"0", "1", "true", "false"}.issuperset, texts))
            # A list of numbers may be another one in more ways than an attribute, and a flag in one.
            if meant and (found or exchanged) and not is_shared and (is_flag or not found or len(found[0].elements) > 1):
                found = [meant[0]._replace(attributes={}), *found[:1], *exchanged]
            elif not exchanged:
                found += meant
            elif not is_shared:
                found = found[:1] + exchanged
        if not found or (found[0].elements and found[0].explained < 2):  # inputs of a layer from which the node reads elements
            inside = self.model.in_order({one for way in self.ways(node) for one in way.steps if one is not node})
            earlier = ((one, *_between(one, [*inside, node])) for one in inside)
            found = [*islice((change for steps in earlier for change in self.exchanges(node, told, steps)), 1), *found]
        return found or self.types(node, told) or self.versions(node, told, self.model.registry.versions(node.type))

    def told(self, node: Node) -> str:
        """The end of a sentence about a change: what the layer gives with it. Empty where ports record no numbers: many changes fit."""
        outputs = [*zip(self.witnesses.outputs(node), self.witnesses.own[node].outputs, strict=False)]
        dims = [one for record, fact in outputs if (one := self.witnesses.dims(record, fact)) is not None]
        recorded = " and ".join(dict.fromkeys(map(dims_text, dims)))
        has_numbers = any(not shape or any(size >= 0 for size in shape) for shape in dims)
        is_telling = has_numbers or any(contradictions(*record[1:], fact, is_exact=True) for record, fact in outputs)
        return f"the layer gives {recorded}, which it records" if is_telling else ""

    def _passes(self, node: Node, facts: tuple[Fact, ...]) -> bool:
        """Whether a node gives what it records for other facts of its inputs."""
        return self.witnesses.passes(node, self.witnesses.answer(node, facts))

    @cached_property
    def unread(self) -> list[tuple[Node, Fact]]:
        """The outputs that nothing reads, each with its node, of nodes that should be read; those of nodes without any reader first."""
        readers, found = self.model.readers, []
        for node in self.graph.schedule.nodes:
            slots = node.slots if node.type not in ("Result", "Assign") else range(0)
            left = [slot for slot in slots if slot not in readers]
            found += [(len(left) < len(slots), node, self.witnesses.chain[slot]) for slot in left]
        return [(node, fact) for _, node, fact in sorted(found, key=itemgetter(0))][:_MOST_STARTS]

    def starts_for(self, node: Node, index: int) -> list[tuple[Node, Fact]]:
        """The outputs that nothing reads and that give what an input port records, each with its node; the most closely named first."""
        record, found = node.layer.signature.records[index], []
        for one, fact in self.unread:
            is_fitting = not fact.is_poisoned and not contradictions(record[1], self.witnesses.dims(record, fact), fact, is_exact=True)
            if one is not node and is_fitting and not self.depends(one, node):
                found.append((one, fact))
        return sorted(found, key=lambda one: -common(_parts(one[0]), _parts(node)))

    def readers_for(self, node: Node) -> list[tuple[Node, int, Node]]:
        """The inputs, each with its source, that an unread layer may feed: its source feeds others, too. The nearest name is first."""
        if not node.layer.signature.output_count:
            return []
        record = self.witnesses.outputs(node)[0][1:]
        found = []
        for reader in self.graph.schedule.nodes:
            for index, slot in enumerate(reader.sources):
                source = self.model.producer(slot)
                is_like = reader.layer.signature.records[index][1:] == record and source is not None
                if is_like and source is not None and source is not node and len(self.model.readers.get(slot, ())) > 1:
                    found.append((reader, index, source))

        def order(one: tuple[Node, int, Node]) -> tuple[int, bool, int]:
            gap = one[0].layer.offset - node.layer.offset  # in the file: the order in which layers run is that of their edges
            return -common(_parts(one[0]), _parts(node)), gap < 0, abs(gap)

        found.sort(key=order)
        return [one for one in found if not self.depends(node, one[0])]

    def depends(self, node: Node, other: Node) -> bool:
        """Whether a node depends on another one, so that an edge from the first to the second would close a circle."""
        return other in reached([node], lambda one: one.producers)

    def starts(self, node: Node, told: str) -> Iterator[Proposal]:
        """Edges that should start at a layer that nothing reads."""
        taken = self.witnesses.taken[node]
        for index, source in enumerate(node.sources):
            if source < 0:
                continue
            for start, fact in self.starts_for(node, index):
                fact = self.witnesses.fact(start) if start.type in _CONSTANTS else fact
                if self._passes(node, (*taken[:index], fact, *taken[index + 1 :])):
                    port = node.layer.inputs[index].id
                    text = f"the edge to port {port} should come from {said(start)}, which nothing reads: with it {told}"
                    yield Proposal(text, (self.place(start),), node=start)

    def exchanges(self, node: Node, told: str, steps: tuple[Node, ...]) -> Iterator[Proposal]:
        """Pairs of inputs that look exchanged: those of the first of the layers that lead to a node, which is the last of them."""
        first = steps[0]
        taken, records, inputs = self.facts(first), first.layer.signature.records, first.layer.inputs
        for one, other in islice(combinations(range(len(taken)), 2), _MOST_ASKED):
            if taken[one] is taken[other] or records[one][1:] != records[other][1:]:
                continue
            facts = [*taken]
            facts[one], facts[other] = facts[other], facts[one]
            if self._reaches(steps, tuple(facts)):
                whose = "" if first is node else f" of {said(first)}"
                text = f"inputs {inputs[one].id} and {inputs[other].id}{whose} look exchanged: the other way round {told}"
                key = None if first is node else (first, one, other)
                yield Proposal(text, () if first is node else (self.place(first),), key, is_guess=True)

    def facts(self, node: Node) -> tuple[Fact, ...]:
        """The facts that a node takes, with the elements of small constants."""
        taken = zip(map(self.model.producer, node.sources), self.witnesses.taken[node], strict=True)
        return tuple([self.witnesses.fact(one) if one is not None and one.type in _CONSTANTS else fact for one, fact in taken])

    def _reaches(self, steps: tuple[Node, ...], facts: tuple[Fact, ...], changed: dict[int, Fact] | None = None) -> bool:
        """Whether the last of some layers gives what it records where the first takes these facts, and each further one what follows."""
        outcome, changed = self.witnesses.answer(steps[0], facts), changed or {}
        for before, node in pairwise(steps):
            if any(is_fault(found.code) for found in outcome.findings):
                return False
            changed |= dict(enumerate(outcome.outputs, before.first_slot))
            outcome = self.witnesses.answer(node, self._changed(node, changed))
        return self.witnesses.passes(steps[-1], outcome)

    def ways(self, node: Node) -> list[Way]:
        """The constants from which a node reads elements, nearest first, with the nodes from there to it."""
        if (found := self._ways.get(node)) is not None:
            return found
        ends: list[tuple[Node, Node]] = []
        inside = {node}
        pending: list[tuple[tuple[Node, ...], int]] = []
        for position, slot in enumerate(node.sources):
            port = None if node.op is None else node.op.input_at(position, len(node.sources))
            if node.index in self.graph.maps or (port is not None and (port.value or port.ends)):
                pending.append(((node,), slot))
        seen: set[int] = set()
        while pending:
            steps, slot = pending.pop(0)
            producer = self.model.producer(slot)
            if producer is None or slot in seen:
                continue
            seen.add(slot)
            if producer.type in _CONSTANTS:
                if self._elements(producer):
                    ends.append((producer, steps[-2] if len(steps) > 1 else producer))
            elif len(steps) <= _MOST_BETWEEN and producer.type != "ShapeOf":
                inside.add(producer)
                pending += [((producer, *steps), one) for one in producer.sources]
        ordered = self.model.in_order(inside)
        found = self._ways[node] = [Way(constant, _between(constant, ordered), start) for constant, start in ends]
        return found

    def _elements(self, constant: Node) -> tuple[Any, ...] | None:
        """The elements of a small constant of integers."""
        elements = self.witnesses.fact(constant).elements
        is_small = elements is not None and len(elements) <= MOST_ELEMENTS and all(type(one) is int for one in elements)
        return elements if is_small and type(elements) is tuple else None

    @cached_property
    def _counts(self) -> Counter[tuple[Any, ...]]:
        """How many constants of the graph hold the same elements: a net repeats what it does."""
        return Counter(elements for node in self.model.of_type("Const") if (elements := self._elements(node)) is not None)

    def constants(self, node: Node, told: str) -> list[Proposal]:
        """Other elements of constants with which a node gives what it records, the likeliest constant first."""
        found: dict[object, tuple[tuple[int, int], Proposal]] = {}
        trials = _MOST_TRIALS
        for way in self.ways(node):
            old, key = self._elements(way.constant) or (), self.key(way.constant)
            fits: list[tuple[tuple[int, int], tuple[Any, ...]]] = []
            for new in islice(self.other_elements(node, old), min(_MOST_OF_ONE, trials)):
                trials -= 1
                if self.graph.scope.work.is_done:
                    break
                if self._gives(way, new) and (explained := self._agreement(way.constant, new)) >= 0:
                    fits.append(((-explained, self._counts[old] - self._counts[new]), new))
            if fits and key not in found:
                best = min(score for score, _ in fits)
                likely = [*dict.fromkeys(new for score, new in fits if score == best)]
                likely.sort(key=lambda new: min(new) < min(0, *old))  # -1 is rare where the others count from the first axis
                orders = [new for new in likely if sorted(new) == sorted(likely[0])][:2]  # such as two orders of the same axes
                same = [one for one in self.ways(node) if self.key(one.constant) == key]
                constant = next((one.constant for one in same if len(same) > 1 and self._gives(one, likely[0], alone=True)), way.constant)
                where = self.place(constant)
                text = f"{said(constant)} (line {where.line}) holds {_list(old)}; with {' or '.join(map(_list, orders))} {told}"
                found[key] = best, Proposal(text, (where,), key, likely[0], explained=-best[0])
        return [change for _, change in sorted(found.values(), key=itemgetter(0))][:_MOST_NAMED]

    def known(self, node: Node, found: Mapping[object, Proposal]) -> list[Proposal]:
        """Which of the changes of constants, by their keys, also make peace in this node."""
        both = ((way, found.get(self.key(way.constant))) for way in self.ways(node))
        return [change for way, change in both if change is not None and self._gives(way, change.elements)]

    def named(self, node: Node) -> Proposal | None:
        """The constants from which a node reads elements, where no other number is known to be right; of a body its port map."""
        at = max(self.witnesses.departure(node)[0] - node.layer.signature.input_count, 0)
        if offset := next((body.outputs[at].offset for body in self.graph.maps.get(node.index, ()) if at < len(body.outputs)), None):
            where = place(self.model.document, node.layer, offset)
            return Proposal(f"its port map (line {where.line}) tells how the values of its body leave it", (where,), is_guess=True)
        givers = self._givers(node)
        ways = [Way(way.constant, way.steps + behind, way.start) for _, giver, behind in givers for way in self.ways(giver)]
        ways += self.ways(node)
        # Of many constants those are named of which another number mends the fault.
        ways = ([way for way in ways if self._may_mend(node, way)] if len(ways) > _MOST_READ else []) or ways
        read = [*dict.fromkeys(way.constant for way in ways)][:_MOST_READ]
        places = tuple(map(self.place, [*(giver for _, giver, _ in givers), *read]))
        parts = [f"{name} comes from {said(giver)} (line {self.place(giver).line})" for name, giver, _ in givers]
        windows = [{name: text for name, text in giver.layer.attributes.items() if name in _WINDOW} for _, giver, _ in givers]
        if len(givers) == 2 and givers[0][1].type == givers[1][1].type:
            one, other = windows
            parts += [f"their {name} are {text} and {other[name]}" for name, text in one.items() if other.get(name, text) != text]
        elif len(givers) == 1 and windows[0]:
            parts.append(f"it has {', '.join(f'{name} {text}' for name, text in windows[0].items())}")
        if read:
            numbers = ", ".join(f"{said(one)} (line {self.place(one).line}): {_list(self._elements(one) or ())}" for one in read)
            parts.append(f"{'these layers read' if givers else 'it reads'} {numbers}")
        return Proposal("; ".join(parts), places, is_guess=True) if parts else None

    def _may_mend(self, node: Node, way: Way) -> bool:
        """Whether a layer passes with other elements of a constant."""
        others = islice(self.other_elements(node, self._elements(way.constant) or ()), _MOST_OF_ONE // 4)
        return any(not self.graph.scope.work.is_done and self._gives(way, new) for new in others)

    def _givers(self, node: Node) -> list[tuple[str, Node, tuple[Node, ...]]]:
        """The layers that give input sizes which never fit, each with the input, its shape, and the layers from there to here."""
        fault = next((one for one in self.witnesses.own[node].findings if one.code == "R401" and one.attribute is None), None)
        found: list[tuple[str, Node, tuple[Node, ...]]] = []
        for index, slot in enumerate(node.sources if fault is not None else ()):
            port = None if node.op is None else node.op.input_at(index, len(node.sources))
            giver, shape = self.model.producer(slot), self.graph.slots[slot].shape
            behind: tuple[Node, ...] = (node,)
            if fault is None or port is None or port.value or fault.port not in (None, index) or giver is None or not giver.sources:
                continue
            while len(same := [one for one in giver.sources if self.graph.slots[one].shape == shape]) == 1:  # such as an activation
                before = self.model.producer(same[0])
                if before is None:
                    break
                giver, behind = before, (giver, *behind)
            found.append((f"{port.name} {format_shape(shape)}", giver, behind))
        return found[:_MOST_NAMED]

    @staticmethod
    def key(constant: Node) -> object:
        """What constants that share their bytes have in common."""
        return constant if constant.layer.weights_at is None else constant.layer.weights_at

    @cached_property
    def _siblings(self) -> dict[object, list[Node]]:
        """The constants of the graph by the bytes that they share."""
        return grouped((self.key(one), one) for one in self.model.of_type("Const") if not one.is_dropped)

    def _agreement(self, constant: Node, new: tuple[Any, ...]) -> int:
        """How many readers of the bytes of a constant pass with other elements only; -1 if one passes with the old elements only."""
        key = (self.key(constant), new)
        if (known := self._agreed.get(key)) is not None:
            return known
        explained = 0
        changed = self._with(constant, new)
        for reader in [*dict.fromkeys(reader for slot in changed for reader, _ in self.witnesses.readers(slot))][:_MOST_ASKED]:
            if not self.told(reader):
                continue
            after = self._passes(reader, self._changed(reader, changed))
            before = self.witnesses.passes(reader, self.witnesses.own[reader])
            if before and not after:
                explained = -1
                break
            explained += after and not before
        self._agreed[key] = explained
        return explained

    def _with(self, constant: Node, new: tuple[Any, ...]) -> dict[int, Fact]:
        """The facts of the constants that share the bytes of one with other elements, by their slots."""
        changed: dict[int, Fact] = {}
        for one in self._siblings.get(self.key(constant), (constant,)):
            if len(self._elements(one) or ()) == len(new):
                fact = self.witnesses.fact(one)
                changed[one.first_slot] = self.graph.facts.intern(fact.element_type, fact.shape, new, is_literal=fact.is_literal)
        return changed

    def _changed(self, node: Node, changed: dict[int, Fact]) -> tuple[Fact, ...]:
        return tuple([changed.get(slot, fact) for slot, fact in zip(node.sources, self.witnesses.taken[node], strict=True)])

    def _gives(self, way: Way, new: tuple[Any, ...], *, alone: bool = False) -> bool:
        """Whether the end of a way gives what it records with these elements of the constant, which may change `alone`."""
        if len(self._elements(way.constant) or ()) != len(new):
            return False
        changed = self._with(way.constant, new)
        changed = {slot: fact for slot, fact in changed.items() if not alone or slot == way.constant.first_slot}
        return self._reaches(way.steps, self._changed(way.steps[0], changed), changed)

    def other_elements(self, node: Node, old: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Other elements that a constant may have had: one of them another number, or all in another order."""
        dims = [one for port in (*node.layer.outputs, *node.layer.inputs) for one in port.dims or () if one >= 0]
        gaps = {ours - theirs for ours in dims[:12] for theirs in dims[:12] if ours != theirs}
        is_rising = len(old) <= _MOST_EXCHANGED and [0, *old] == sorted((0, *old))
        for position, element in enumerate(old):
            near = [element + step for step in (-1, 1, -2, 2)]
            scaled = [element * 2, element // 2] if element else []
            far = [element + gap for gap in sorted(gaps, key=abs)]
            for number in dict.fromkeys([*near, 0, 1, -1, *dims, *range(highest_rank(node)), *scaled, element + 10, element - 10, *far]):
                if number != element:
                    new = (*old[:position], number, *old[position + 1 :])
                    if is_rising and new != (rising := tuple(sorted(new))):  # such as axes
                        yield rising
                    yield new
        if 2 <= len(old) <= _MOST_EXCHANGED:
            yield from (one for one in permutations(old) if one != old)

    def attributes(self, node: Node, transfer: Transfer, told: str, most: int, *, are_types: bool = False) -> list[Proposal]:
        """At most so many attributes, each alone with another number or word, with which a layer gives what it records, as one change.

        `are_types` asks for attributes that are types only. Of the texts of an attribute, the most frequent ones in layers of the type are
        taken: a net repeats what it does. If some texts are more frequent than those of the layer, or an attribute is missing, only these
        are given. The likeliest attribute is the first; a number is likelier than a word.
        """
        attributes, rank = node.layer.signature.attributes, highest_rank(node)
        if node.op_class is None or not transfer.is_pure:
            return []
        found: list[tuple[int, bool, str, list[str], str]] = []
        for declared in node.op_class.attributes.values():
            name, text = declared.spelling, attributes.get(declared.spelling)
            if are_types and declared.annotation is not ElementType and ElementType not in get_args(declared.annotation):
                continue
            counts = Counter(_plain(one.layer.signature.attributes.get(name)) for one in self.model.of_type(node.type))
            if text is not None and text.strip().isdigit() and rank > 2:  # one item may stand for all
                counts[",".join([text.strip()] * (rank - 2))] += 1
            usual = [one for one, _ in counts.most_common(_MOST_NAMED) if one is not None and one != _plain(text)]
            fits = []
            for new in dict.fromkeys([*usual, *_other_texts(declared.annotation, text, rank)]):
                outcome = self._with_attributes(node, transfer, {**attributes, name: new}, node.op_class)
                if outcome is not None and self.witnesses.passes(node, outcome):
                    fits.append(new)
            fits.sort(key=counts.__getitem__, reverse=True)
            is_any = len(fits) >= _MOST_NAMED and not counts[fits[0]] and not fits[0][:1].isalpha()  # such as each axis of a SoftMax
            if likely := [] if is_any else [new for new in fits[:2] if counts[new]] or fits[:1]:
                now = repr(clipped(text)) if text is not None else "missing" if declared.stated else ""
                rarity = -len(self.model.nodes) if now == "missing" else counts[_plain(text)] - counts[fits[0]]
                found.append((rarity, fits[0][:1].isalpha(), name, likely, now))
        found.sort(key=itemgetter(0, 1))
        named = [one[2:] for one in found if one[0] < 0 or found[0][0] >= 0][:most]
        verb = "it is" if len(named) == 1 else "they are"
        present = f"; {verb} {', '.join(now for *_, now in named)}" if all(now for *_, now in named) else ""
        meant = {name: likely[0] for name, likely, _ in named if len(named) == len(likely) == 1}
        text = f"with {' or '.join(f'{name}={new!r}' for name, likely, _ in named for new in likely)} {told}{present}"
        return [Proposal(text, attributes=meant)] if named else []

    def _with_attributes(self, node: Node, transfer: Transfer, attributes: dict[str, str], op_class: Any) -> Outcome | None:
        """The outcome of a node with other attributes, or as another operation; None if it is none."""
        if self.graph.scope.work.is_done:
            return None
        op = op_class(attributes, self.model.document.limits)
        return self.graph.rules.apply(node, Transfer(op, transfer.listed, transfer.wanted), self.facts(node))

    def types(self, node: Node, told: str, *, is_misfit: bool = False) -> list[Proposal]:
        """Other types of a layer with which it gives what it records; none if many do.

        `is_misfit` asks for those that have all attributes of the layer, if its own type lacks one: only these are tried, and of those
        that make peace the ones stay that have the fewest further attributes.
        """
        attributes, registry, own = node.layer.signature.attributes, self.model.registry, _type_in_name(node)
        types = [*([own] if own in registry.types() else []), *(type for family in _FAMILIES if node.type in family for type in family)]
        if is_misfit and node.op_class is not None:
            types = [] if _spellings(node.op_class).issuperset(attributes) else registry.types()
        elif own == node.type:
            return []
        found: dict[int, list[str]] = {}
        for type in dict.fromkeys(types):
            classes = registry.versions(type)
            op_class: Any = classes.get(node.version) or next(reversed(classes.values()), None)
            surplus = 0 if op_class is None else len(_spellings(op_class).difference(attributes))
            if type == node.type or op_class is None or (is_misfit and surplus + len(attributes) != len(op_class.attributes)):
                continue
            if self._passes_as(node, op_class):
                found.setdefault(surplus if is_misfit else 0, []).append(type)
        likely = found[min(found)] if found else []
        likely = [own] if own in likely else likely
        text = f"should its type be {' or '.join(likely)}? Then {told}"
        return [Proposal(text, is_guess=not is_misfit)] if 0 < len(likely) <= _MOST_NAMED else []

    def versions(self, node: Node, told: str, versions: Iterable[str]) -> list[Proposal]:
        """The first of some versions of a layer with which it gives what it records."""
        classes = self.model.registry.versions(node.type)
        found = (one for one in versions if classes.get(one) is not node.op_class and self._passes_as(node, classes.get(one)))
        return [Proposal(f"should its version be {version}? Then {told}") for version in islice(found, 1)]

    def _passes_as(self, node: Node, op_class: Any) -> bool:
        """Whether a node gives what it records as another operation."""
        transfer = self.witnesses.transfer(node)
        if op_class is None or transfer is None or not transfer.is_pure or not op_class.takes(len(node.sources)):
            return False
        outcome = self._with_attributes(node, transfer, node.layer.signature.attributes, op_class)
        return outcome is not None and self.witnesses.passes(node, outcome)

    def place(self, node: Node, port: Any = None) -> Where:
        offset = node.layer.offset if port is None else port.offset
        return place(self.model.document, node.layer, offset, None if port is None else str(port.id), self.model.path)


def _between(start: Node, ordered: Iterable[Node]) -> tuple[Node, ...]:
    """The layers, of some in topological order, that a node reaches through these layers alone."""
    reached, found = set(start.slots), list[Node]()
    for one in ordered:
        if not reached.isdisjoint(one.sources):
            reached.update(one.slots)
            found.append(one)
    return tuple(found)


def _other_texts(annotation: Any, text: str | None, rank: int) -> Iterator[str]:
    """Other texts of an attribute: another number or word; for an attribute that is missing, the likely ones."""
    inner = annotation
    while get_origin(inner) is not None and get_origin(inner) is not Literal and get_args(inner) and get_origin(inner) is not tuple:
        inner = get_args(inner)[0]
    parts = [] if text is None else [part.strip() for part in text.split(",")]
    if inner is bool:
        yield from (one for one in ("true", "false") if text is None or text.lower() != one)
    elif get_origin(inner) is Literal:
        yield from (one for one in get_args(inner) if text is None or text.lower() != one)
    elif inner is ElementType:
        yield from (one for one in ("f32", "f16", "i64", "i32", "boolean", "u8", "i8", "bf16") if one != text)
    elif get_origin(inner) is tuple or inner is int:
        if text is None and inner is int:
            yield from map(str, range(-1, rank + 1))
        elif text is None:
            yield from (",".join([str(one)] * count) for count in (rank - 2, rank - 3, rank) if count > 0 for one in (1, 0, 2))
        # Equal numbers, such as strides, are changed together, too.
        ranges = [range(len(parts))] if len(parts) > 1 and len(set(parts)) == 1 else []
        for changed in (*ranges, *(range(at, at + 1) for at in range(len(parts)))):
            part = parts[changed.start]
            if part.lstrip("-").isdigit() and len(part) < 10:
                number = int(part)
                near = [number - 1, number + 1, number - 2, number + 2, 0, 1, -1, number * 2, number // 2, number + 10, number - 10]
                for other in dict.fromkeys(near):
                    if other != number and (other >= 0 or number < 0 or inner is int):
                        yield ",".join([str(other) if at in changed else one for at, one in enumerate(parts)])


def _plain(text: str | None) -> str | None:
    """The text of an attribute without its spaces: `1,1` of `1, 1`."""
    return None if text is None else text.replace(" ", "")


def _spellings(op_class: Any) -> set[str]:
    return {declared.spelling for declared in op_class.attributes.values()}


def type_for(node: Node) -> str:
    """The type that the name of a node tells, if it is another one and has the attributes and the inputs of the node; else empty."""
    classes = node.model.registry.versions(_type_in_name(node)).values()
    return next((one.TYPE for one in classes if one.TYPE.lower() != node.type.lower() and _suits(node, one)), "")


def _type_in_name(node: Node) -> str:
    """The last part of the name of a layer: converters call it by its type."""
    return node.name.rpartition("/")[2].partition("_")[0]


def version_for(node: Node) -> str:
    """The version that has the attributes and the inputs of a node, if its own has not; else empty.

    It is that of other layers of the type. Where there are none, it is the newest that has what the node has too much for its own.
    """
    op_class = node.op_class
    if op_class is None or _suits(node, op_class):
        return ""
    alike = {one.layer.signature: one for one in node.model.of_type(node.type) if one.version == node.version}.values()
    if any(_suits(one, op_class) for one in alike):
        return ""
    others = Counter(one.version for one in node.model.of_type(node.type) if one.version != node.version)
    findings = getattr(node.op, "findings", ())
    if not others and op_class.takes(len(node.sources)) and not any(one.code in ("R104", "A103") for one in findings):
        return ""
    classes = node.model.registry.versions(node.type)
    suited = [one for one in (*(version for version, _ in others.most_common()), *classes) if _suits(node, classes.get(one))]
    return next((one for one in suited if one in others or classes[one] is classes[suited[-1]]), "")


def _suits(node: Node, op_class: Any) -> bool:
    """Whether a node has exactly the attributes of an operation, and as many inputs."""
    attributes, limits = node.layer.signature.attributes, node.model.document.limits
    return op_class is not None and op_class.takes(len(node.sources)) and not op_class(attributes, limits).findings


def _parts(node: Node) -> list[str]:
    """The parts of a layer's name: two layers of one module have the first ones in common."""
    return re.split("[./]", node.name)


def _list(elements: Iterable[Any]) -> str:
    return f"[{','.join(map(str, elements))}]"


def said(node: Node) -> str:
    """A layer in a sentence: its type and its name."""
    return f"{node.layer.type} {clipped(node.layer.name)!r}"
