"""Which diagnostic of a file names what was edited, and which ones follow from it.

The diagnostic at a contradiction becomes a cause (`causes.py`), and says which change makes peace. A fault in any other layer follows from
the causes before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from irshape.diagnosis.causes import Cause, Search
from irshape.diagnosis.changes import Changes, said, type_for, version_for
from irshape.diagnosis.fixes import LayerPlaces
from irshape.diagnosis.recorded import RECORDS
from irshape.diagnosis.witnesses import Witnesses
from irshape.inference.engine import Engine
from irshape.model.build import layer_place, place
from irshape.model.model import Model, Node, grouped, reached
from irshape.report.diagnostic import ERROR, Diagnostic, Diagnostics
from irshape.shape.dim import Dim, Size, formula_text

if TYPE_CHECKING:
    from irshape.inference.inference import Inference
    from irshape.inference.run import Guard

# A file with more contradictions is out of date: no single edit explains it.
_MOST_CONTRADICTIONS: Final = 128
# The most layers of a file with a sign at which one is taken for the cause of faults behind it, and the most unread layers.
_MOST_SIGNS: Final = 3
# Codes that say that OpenVINO reads something else than its author meant.
_OF_WEIGHTS: Final = ("W202", "R303")
# An element or a part of a port map that OpenVINO skips.
_SKIPPED: Final = ("X206", "G121")
_SIGNS: Final = ("R101", "R102", "R103", "R104", "R201", "R203", *_OF_WEIGHTS)
# The families of faults that follow from others, and those of the structure of a file, but for one that depends on a rank, and one of a
# record.
_EFFECTS: Final = frozenset("STV")
_STRUCTURE: Final = frozenset("XGWA")
_OTHERS: Final = ("A105", "X107")
# The number of inputs, and a missing attribute: the type of a layer may be wrong.
_OF_TYPES: Final = ("G107", "G108", "A101")
# Without an edge or the bytes of a constant a shape may be known, and wrong.
_OF_SOURCES: Final = ("G101", "G102", "G103", "G106", "W102", "W103")
_OF_OPERATIONS: Final = ("G111", *_OF_TYPES, "G109", "A103", "R104", "R103")
# The hints of unknown operations that a port map names: without them a body lacks a Parameter or a Result.
_OF_ENDS: Final = ("did you mean Parameter?", "did you mean Result?")

# The order of causes: an id of two layers, all other errors and explained faults by their places. Everything else comes later.
_OF_IDS, _OF_EDITS = range(2)


def find_causes(engine: Engine, found: Diagnostics) -> tuple[set[Diagnostic], set[Diagnostic], dict[Node, Mapping[str, str]]]:
    """Mark the causes among the diagnostics of a pass, add those that have no diagnostic yet, and link what follows from them.

    Gives the faults of records that the other witnesses contradict, which are safe to mend, the faults that a change explains, and the
    texts of attributes with which layers give what they record.
    """
    every: dict[Model, Witnesses] = {}
    is_faulty = any(one.code[0] in "STVAG" or one.code in (*RECORDS, "R401", "R303") for one in found)
    for graph in reversed([*engine.graphs()]) if is_faulty else ():  # bodies before their holders
        if graph.current.outcomes:  # no pass enters the bodies of a layer that fails before
            every[graph.model] = Witnesses(graph, every)
    if sum(one.contradictions for one in every.values()) > _MOST_CONTRADICTIONS:
        _say_once(found)
        return set(), set(), {}
    report = _Report(engine, found, dict(reversed(every.items())))
    report.explain()
    report.link()
    report.join_unread()
    if engine.scope.work.is_done:
        message = f"not all causes of faults were sought: the search takes more than {engine.scope.work.most} steps (limit work)"
        document = engine.model.document
        found += [Diagnostic("N106", message, place(document, None, document.graph.offset))]
    return report.alone, report.explained, report.meant


def _say_once(found: Diagnostics) -> None:
    """Say once that the records of a file are out of date."""
    stale = sorted((one for one in found if one.code in RECORDS), key=lambda one: one.where.offset or 0)
    if len(stale) > 1:
        leader, *others = stale
        layers = len({(one.where.path, one.where.layer_id) for one in stale})
        leader.message += f"; {layers} layers record other facts than the model computes, so the records are out of date"
        leader.hint = "irshape infer --in-place records what the model computes, if the model is right"
        for one in others:
            one.caused_by = leader


class _Report:
    """The diagnostics of a file, with the causes among them.

    `at` has the node of each diagnostic, `own` the diagnostics of each node. `leaders` are the causes of the nodes that contradict
    something, `unread` those of layers that nothing reads, `explained` those that a change explains. `alone` are the faults of records that
    are wrong alone, `faulty` the nodes whose faults do not follow from others.
    """

    def __init__(self, engine: Engine, found: Diagnostics, every: Mapping[Model, Witnesses]) -> None:
        self.found = found
        self.places = LayerPlaces(engine)
        layers = {(node.model.path, str(node.id)): node for graph in self.places.graphs for node in graph.nodes}
        self.at: dict[Diagnostic, Node | None] = {}
        for one in found:
            self.at[one] = self.places.at(one.where.offset) or layers.get((one.where.path, one.where.layer_id or ""))
        self.own = grouped((node, one) for one, node in self.at.items() if node is not None)
        self.alone: set[Diagnostic] = set()
        self.leaders: dict[Node, Diagnostic] = {}
        self.unread: dict[Node, Diagnostic] = {}
        self.faulty: set[Node] = set()
        self.explained: set[Diagnostic] = set()
        self.meant: dict[Node, Mapping[str, str]] = {}
        self.search = Search(every, self._equal, lambda changes, node: self._known(changes, node) is not None)
        for one in found:
            is_certain = (one.severity == ERROR and one.code[0] in _STRUCTURE) or one.code in ("G101", *_OF_WEIGHTS, *_SKIPPED)
            if is_certain:
                one.rank = _OF_IDS if one.code == "G101" else _OF_EDITS
            node = self.at[one]
            if is_certain and node is not None and one.code not in _OTHERS:
                for each in self._concerned(one, node):
                    self.leaders.setdefault(each, one)
        self.certain = dict(self.leaders)
        self.signs = _signs(found)

    def _concerned(self, fault: Diagnostic, node: Node) -> Iterator[Node]:
        """The nodes that a fault of the structure concerns: the edges of a layer whose id another one has may lead to the other one."""
        yield node
        others = [*filter(None, [self.places.at(where.offset) for where in fault.related])]
        for one in (node, *others) if fault.code[0] == "G" and others else others:
            yield from (one, *one.producers, *one.consumers) if fault.code[0] == "G" else (one,)

    def explain(self) -> None:
        """Find the causes, and what each of them says."""
        for cause in self.search.causes():
            node, changes = cause.node, self.search.changes[cause.node.model]
            self.faulty |= {node, *cause.group}
            leader = self._leader(changes, cause)
            if leader is None:
                continue
            # Where nothing records what a layer should give, its faults may have different reasons.
            if cause.changes or cause.kind != "layer" or cause.group or any(port.dims is not None for port in node.layer.outputs):
                for one in (node, *cause.group):
                    self.leaders.setdefault(one, leader)
            for change in cause.changes[:1]:
                self.meant |= dict.fromkeys((node, *cause.group), change.attributes)
                if change.node is not None:
                    self.unread[change.node] = leader
                if not change.is_guess:
                    self.explained.add(leader)
        self.faulty |= self.search.unexplained
        self._name_operations()
        self._name_constants()

    def _known(self, changes: Changes, node: Node) -> Diagnostic | None:
        """The fault that explains a node: one of the structure, or one of the bytes of a constant that the node reads."""
        constants = (way.constant for way in changes.ways(node)) if node not in self.certain else ()
        return self.certain.get(node) or next((self.certain[one] for one in constants if one in self.certain), None)

    def _faults(self, node: Node) -> list[Diagnostic]:
        """The faults of a node that say that it does not pass, the most telling first."""
        own = [one for one in self.own.get(node, ()) if one.code[0] in "STVA" or one.code in (*RECORDS, "R401", *_SIGNS)]

        def order(one: Diagnostic) -> tuple[Any, ...]:  # the order of attributes in the file decides nothing
            is_misspelled = one.code == "R104" and (one.hint or "").startswith("did you mean")  # R401 may miss the attribute
            is_sign = one.code in _SIGNS and not is_misspelled
            kind = one.code not in _OF_WEIGHTS, one.severity != ERROR, is_sign, one.code in RECORDS, one.code == "R401"
            return (*kind, one.message if one.where.port is None else "", one.where.offset)

        own.sort(key=order)
        return own

    def _equal(self, changes: Changes, node: Node) -> object:
        """The fault of a node without its place, and the constants that it is about; the node if it is about none."""
        for fault in self._faults(node)[:1]:
            index = _port(fault, node)
            constants = [way.constant for way in changes.ways(node) if index < 0 or node.sources[index] in way.start.slots]
            if constants:
                return fault.code, fault.message.partition(";")[0], frozenset(map(changes.key, constants))
        return node

    def _leader(self, changes: Changes, cause: Cause) -> Diagnostic | None:
        """The diagnostic of a cause: one of its layer if there is one, else a new one."""
        node, own = cause.node, self._faults(cause.node)
        text = "; or ".join(change.text for change in cause.changes)
        if (known := self._known(changes, node)) is not None:  # a fault of the structure explains the rest
            if known.code in ("G119", *_SKIPPED) and cause.changes and cause.node.layer.port_maps:
                known.message = _joined(known.message, text)
                known.related = (*known.related, *cause.changes[0].places)
            return known
        is_guess = cause.kind == "layer" and not (cause.changes and all(change.key or not change.is_guess for change in cause.changes))
        sign = _sign_before([node], self.signs) if is_guess else None
        if sign is not None and self.at[sign] is not node:
            sign.rank = _OF_EDITS
            self.explained |= {sign} if sign.code == "R101" else set()
            return sign
        if cause.kind == "record" and changes.witnesses.is_computed(node, cause.port):
            self.alone |= {one for one in own if one.code in RECORDS}
        for one in own:
            if one.severity == ERROR:
                one.rank = min(one.rank, _OF_EDITS)
        sign = next((one for one in own if one.code in _SIGNS), None)
        if cause.kind in ("shape", "map") or not own:
            port, message = cause.port, text
            if cause.kind == "layer":
                port, told = changes.witnesses.departure(node)
                message = _joined(told, text)
            if not message:
                return None
            where = changes.place(node, None if port < 0 else (*node.layer.inputs, *node.layer.outputs)[port])
            leader = Diagnostic("R301", message, cause.changes[0].places[0] if cause.kind == "map" else where)
            self.explained |= {leader} if cause.kind == "layer" else set()  # no record of it is wrong
            self.found += [leader]
            self.at[leader] = node
        else:
            leader = own[0]
            is_said = text and cause.kind == "edge" and leader.code in RECORDS and _port(leader, node) == cause.port
            leader.message = _joined(text, leader.message.partition("; ")[2]) if is_said else _joined(leader.message, text)
            if leader.code == "R101" or (text and not is_said and cause.kind == "edge"):  # mended, it would say no more of the cause
                self.explained.add(leader)
            if sign is not None and sign is not leader and leader.severity == ERROR:
                leader.hint = f"this may follow from {sign.code} in line {sign.where.line}: {sign.message}"
        leader.related = (*leader.related, *(where for change in cause.changes for where in change.places if where != leader.where))
        leader.rank = min(leader.rank, _OF_EDITS)
        return leader

    def _name_operations(self) -> None:
        """Name the type or the version to which a layer belongs, by its name, attributes and inputs, where its own has others."""
        for node, own in self.own.items():
            told = sorted((one for one in own if one.code in _OF_OPERATIONS), key=lambda one: _OF_OPERATIONS.index(one.code))
            if not told or any("should its " in one.message for one in own):
                continue
            if type := type_for(node):
                told[0].message = _joined(told[0].message, f"should its type be {type}, as its name says?")
            elif version := version_for(node):
                told[0].message = _joined(told[0].message, f"should its version be {version}, which has its attributes and inputs?")

    def _name_constants(self) -> None:
        """Name the constant at the port of a fault about values, where no cause is known."""
        for one in self.found:
            node = self.at.get(one)
            if node is None or one.related or not (one.code[0] == "V" or one.code == "R201") or (index := _port(one, node)) < 0:
                continue
            source = node.model.producer(node.sources[index])
            if source is not None and source.type == "Const":
                where = layer_place(source)
                one.message += f"; {said(source)} (line {where.line}) holds them"
                one.related = (where,)

    def join_unread(self) -> None:
        """Join the layers that nothing reads to the one cause in their graph, or lead a single one to the inputs that may read it."""
        causes = [one for one in self.found if one.caused_by is None]
        unread = [(one, node) for one in causes if one.code == "G116" and (node := self.at.get(one)) is not None]
        others = [one for one in causes if one.code != "G116" and (one.rank <= _OF_EDITS or one.severity == ERROR)]
        if len(others) == 1 and 0 < len(unread) <= _MOST_SIGNS:
            [leader] = others
            at = self.at.get(leader)
            is_open = leader not in self.explained and leader.hint is None and leader.code[0] in "STVRG"
            if is_open and at is not None and all(node.model is at.model and node is not at for _, node in unread):
                order = {node: place for place, node in enumerate(at.model)}
                unread.sort(key=lambda pair: order.get(pair[1], len(order)))
                names = " and ".join(f"{said(node)} (line {one.where.line})" for one, node in unread)
                leader.message = _joined(leader.message, f"{names}, which nothing reads, may belong before it")
                for one, _ in unread:
                    one.caused_by = leader
        elif not others and len(unread) == 1 and unread[0][0].hint is None and unread[0][1].model in self.search.changes:
            [(fault, node)] = unread
            changes = self.search.changes[node.model]
            readers, texts = changes.readers_for(node)[:2], []
            for reader, index, source in readers:
                port = reader.layer.inputs[index].id
                texts.append(f"port {port} of {said(reader)}, which takes such a tensor from {said(source)}")
            if texts:
                fault.message += f"; should it feed {', or '.join(texts)}?"
                fault.related = tuple([changes.place(reader) for reader, _, _ in readers])

    def _name_texts(self) -> None:
        """Let the faults of records follow from a dim of the same port that OpenVINO reads as another number."""
        texts = {(self.at.get(one), one.where.port): one for one in self.found if one.code == "R101"}
        for one in self.found:
            is_first = one.code == "R301" and one.where.port is not None and one.caused_by is None
            text = texts.get((self.at.get(one), one.where.port)) if is_first else None
            if text is not None:
                text.message, text.rank = _joined(text.message, one.message.partition(", but ")[2]), one.rank
                one.caused_by = text
                self.explained.add(text)

    def link(self) -> None:
        """Link every fault that follows from a cause."""
        self._name_texts()
        tags = self._tags()
        of_ends = {self.at[one]: one for one in self.found if (one.code == "G101" or one.hint in _OF_ENDS) and self.at.get(one) is not None}
        overlap = next((one for one in self.found if one.code == "W202"), None)
        for one in self.found:
            node, cause = self.at.get(one), None
            if one.code == "W201":
                one.caused_by = overlap
            if node is None or one.code == "G101" or one.caused_by is not None:
                continue
            if one.code in ("G118", "G119"):
                graphs = [node.model, *node.bodies.values()]
                cause = next((two for at, two in of_ends.items() if at is not None and at.model in graphs), None)
                cause = cause or self._unread_state(node)
            elif node in self.leaders and (
                one.code[0] in "STVA" or one.code in (*RECORDS, "R201", "R401") or self.leaders[node].code in _SKIPPED
            ):
                cause = self.leaders[node]
            elif node in self.leaders and one.code in _SIGNS and one.where.port is None:
                leader = self.leaders[node]
                cause = leader if leader.code[0] in "STVRA" or leader.code in _OF_TYPES else None
                cause = None if leader in self.alone else cause
            elif one.code == "G116":
                cause = self.unread.get(node)
            elif one.code == "G109":  # a Loop without a condition has one output
                cause = next((each for each in self.own[node] if each.code == "G119"), None)
            elif node not in self.faulty and (one.code[0] in _EFFECTS or one.code in (*RECORDS, "R401")):
                cause = tags.get(node)
            elif one.code in ("R103", "R104"):  # the attributes of one layer; its type may be wrong
                cause = next((each for each in self.own[node] if each.code == "R104"), None)
            if cause in (None, one) and one.code in ("R103", "R104"):  # of the type or version that was meant
                cause = next((each for each in self.own[node] if "should its " in each.message), cause)
            if cause in (None, one) and one.code in ("S201", "R401", "R301"):
                before = (*node.producers, *(each for body in node.bodies.values() for each in body.results))
                cause = next((tags[each] for each in before if each in tags and tags[each].code in _OF_SOURCES), cause)
            if cause is not None and cause is not one and not (one in self.alone and cause in self.alone):
                one.caused_by = cause

    def _unread_state(self, assign: Node) -> Diagnostic | None:
        """The fault of a ReadValue that nothing reads and that has the variable of an Assign: OpenVINO does not make it."""
        variable = assign.layer.attributes.get("variable_id")
        reads = ((node, one) for one, node in self.at.items() if one.code == "G116" and node is not None and node.type == "ReadValue")
        return next((self.unread.get(node, one) for node, one in reads if node.layer.attributes.get("variable_id") == variable), None)

    def _tags(self) -> dict[Node, Diagnostic]:
        """The cause of each node: its own, or that of its first input that has one. Bodies come after their holder and before it."""
        causes = ((node, one) for node, one in self.leaders.items() if one not in self.alone)
        tags = {node: one for node, one in causes if node in self.faulty or one.code in (*_OF_SOURCES, *_OF_WEIGHTS)}
        graphs = [*self.places.graphs.values()]
        for graph in (*graphs, *reversed(graphs), *graphs) if tags else ():
            model = graph.model
            entering = tags.get(model.holder) if model.holder is not None else None
            if entering is None and model.holder is not None:
                entering = next((tags[one] for one in model.holder.producers if one in tags), None)
            for node in graph.schedule.nodes:
                if node in tags:
                    continue
                before = [tags[one] for one in node.producers if one in tags]
                inner = [tags[one] for body in node.bodies.values() for one in body.results if one in tags]
                if before or inner:
                    tags[node] = (before or inner)[0]
                elif entering is not None and node.type == "Parameter":
                    tags[node] = entering
        return tags


def _signs(found: Iterable[Diagnostic]) -> dict[tuple[str, str], Diagnostic]:
    """The signs among diagnostics, by the path and the id of their layers; none if there are many."""
    signs = {(one.where.path, one.where.layer_id or ""): one for one in found if one.code in _SIGNS}
    return signs if len(signs) <= _MOST_SIGNS else {}


def _sign_before(nodes: Sequence[Node], signs: Mapping[tuple[str, str], Diagnostic]) -> Diagnostic | None:
    """The nearest sign among some layers and those on which they depend."""
    pending = [*nodes] if signs else []
    seen = set(pending)
    for one in pending:
        if (sign := signs.get((one.model.path, str(one.id)))) is not None:
            return sign
        before = [each for each in one.producers if each not in seen]
        seen.update(before)
        pending += before
    return None


def link_conflict(inference: Inference, conflict: Diagnostic) -> None:
    """Let the warning of conditions that no sizes fulfil together follow from a sign before them, or name the layers of their sizes."""
    found = inference.diagnostics
    lacking = {(where.path, where.layer_id or ""): one for one in found if one.code == "G116" for where in one.related}
    guards = inference.reading.contradicting
    conflict.caused_by = _sign_before([guard._node for guard in guards], {**_signs(found), **lacking})
    for size, node in dict(_givers(inference, guards)).items():
        where = layer_place(node)
        conflict.message += f"; {formula_text(size)} comes from {said(node)} (line {where.line})"
        conflict.related = (*conflict.related, where)
    inference.report([])  # in their order


def _givers(inference: Inference, guards: Iterable[Guard]) -> Iterator[tuple[Size, Node]]:
    """The formulas that conditions tie to each other, each with the layer that gives it first, but for those of the inputs."""
    runs = dict(inference.reading.graphs)
    for guard in guards:
        sides = (guard.requirement.a, guard.requirement.b) if guard.requirement.kind not in ("ge", "div") else ()
        for size in sides if all(isinstance(side, Dim) for side in sides) else ():
            given = {slot for slot, fact in enumerate(runs[guard._node.model].slots) if size in (fact.shape or ())}
            first = _start(guard._node, given)
            if first is not guard._node and first.type != "Parameter":
                yield size, first


def _start(node: Node, slots: set[int]) -> Node:
    """The first of the layers through which some tensors come to a layer."""
    return min(reached([node], lambda each: [one for one in each.producers if not slots.isdisjoint(one.slots)]), key=attrgetter("index"))


def _joined(text: str, more: str) -> str:
    """Two sentences about a fault in one line; either may be empty."""
    return f"{text}{' ' if text.endswith('?') else '; '}{more}" if text and more else text or more


def _port(fault: Diagnostic, node: Node) -> int:
    """The position of the input port that a fault names; -1 if it names none."""
    return next((index for index, port in enumerate(node.layer.inputs) if str(port.id) == fault.where.port), -1)
