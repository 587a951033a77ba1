"""The data of a page: the layers of a file with their facts, formulas, faults and demands, as JSON.

Everything that is said of layers stands in columns, in the order of `Hierarchy.nodes`, and equal shapes and signatures are listed once,
so that a page of 100,000 layers stays small. A size is a number, the name of a formula or a symbol, and a formula is a tree as in
`irshape.inference.plan.formulas`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Final

from irshape.answers.diff import Difference
from irshape.answers.explain.explainer import Explainer
from irshape.answers.explain.sources import FilePlace, Point
from irshape.answers.explain.traced import number_text
from irshape.answers.hierarchy import Hierarchy
from irshape.answers.signature.notes import name_data_sizes, name_elements
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.inference.plan.formulas import Formulas, names_in
from irshape.model.bodies import bodies_of
from irshape.model.finding import end_name
from irshape.model.model import Model, Node, reached
from irshape.ops.context import element_count
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import Diagnostic, Edit, clipped, escape
from irshape.shape.dim import Dim, Size
from irshape.shape.guard import Premise, Requirement
from irshape.shape.notation import shape_text
from irshape.shape.shape import Shape
from irshape.shape.value import Unreadable
from irshape.verbs import check, signature_of
from irshape.version import TOOL
from irshape.xml.weights import WeightsError, decode

if TYPE_CHECKING:
    from irshape.answers.cost.formula import Amount
    from irshape.answers.signature.signature import Signature


def ends_of_bodies(position: Mapping[Node, int]) -> dict[str, Any]:
    """Where the Parameters of bodies take their values from, where the Results of bodies hand theirs to, and the back edges.

    `takes` has a layer, its output, and words for each Parameter, and `gives` has the layer with the body, its output, and words for
    each Result, by position; an output of -1 is none. `back` has a Result and the Parameter that takes its value in the next iteration.
    """
    takes: dict[int, list[Any]] = {}
    gives: dict[int, list[Any]] = {}
    back: list[list[int]] = []
    for node, body in [(one, body) for one in position if one.bodies for body in bodies_of(one)]:
        for entry in body.inputs:
            source = node.inputs[entry.external].source if 0 <= entry.external < len(node.inputs) else None
            words = "at first" if entry.back else f"in parts of axis {entry.slice.axis}" if entry.slice else ""
            if source is not None:
                takes[position[entry.parameter]] = [position[source.node], source.index, words]
            if entry.back is not None:
                back.append([position[entry.back], position[entry.parameter]])
        if body.iteration is not None:
            takes[position[body.iteration]] = [position[node], -1, "number of the iteration"]
        if body.condition is not None:
            gives[position[body.condition]] = [position[node], -1, "whether to go on"]
        for index, output in enumerate(body.outputs):
            words = f"output {index}"
            if node.op_type != "If":
                words += f", parts of axis {output.slice.axis}" if output.slice else ", the last value"
            gives[position[output.result]] = [position[node], index, words]
    return {"takes": takes, "gives": gives, "back": back}


# The most elements of a tensor that a page shows.
_MOST_ELEMENTS: Final = 32
# The most axes that a page explains; one takes about a third of a millisecond and 100 bytes. Those of a tensor with more axes than
# `_MOST_RANK` take as much as the square of their number.
_MOST_AXES: Final = 20_000
_MOST_RANK: Final = 64


class PageData:
    """The data that a page shows of one model.

    `inference` is the check of the file, with its faults and bounds. `signature` gives the formulas, in as few symbols as the model leaves;
    it is None for a model without open sizes, and for one that has errors, which has the formulas of the check alone. `difference` is the
    one from an earlier model to this, if the page shows changes.
    """

    def __init__(self, model: Model, *, inputs: Any = None, symbols: Any = None, weights: Any = None, opaque: Iterable[str] = ()) -> None:
        """The arguments are those of `irshape.check`, read."""
        opaque = list(opaque)
        self.inference: Final = check(model, inputs=inputs, symbols=symbols, weights=weights, opaque=opaque)
        self.model = model = self.inference.model  # a copy if the symbols set the size of a variable
        self.signature: Final = open_signature(self.inference)
        if self.signature is None:
            name_data_sizes(self.inference, self.inference.symbols)
        self.formal: Final = self.inference if self.signature is None else self.signature._inference
        name_elements(self.formal, self.formal.symbols)
        self.document: Final = self.inference.document
        self.diagnostics: Final = self.inference.diagnostics
        own = {(one.where.path, one.where.layer_id) for one in self.diagnostics}
        faulty = [node for graph in model.graphs() for node in graph.nodes if (graph.path, str(node.id)) in own]
        self._bounds = {graph: run.slots for graph, run in self.inference.graphs}
        self._texts: dict[Shape, str] = {}
        self.hierarchy: Final = Hierarchy(model, faulty, self._shown_shapes)
        self.difference: Difference | None = None
        self._positions: Mapping[Any, int] = self.hierarchy.position  # None, which makes what enters an example, has none
        self._at = {(node.model.path, str(node.id)): position for position, node in enumerate(self.hierarchy.nodes)}
        self._formulas = Formulas(self.formal.scope.polynomials, {})
        self._shapes: dict[tuple[Shape, Shape], int] = {}
        self._slots = {graph: run.slots for graph, run in self.formal.graphs}

    def to_dict(self) -> dict[str, Any]:
        path = self.document.path
        demands = [self._demand(*one) for one in dict.fromkeys(self.formal.requirements)]
        layers = self._layers()  # which list the shapes
        cost = self._cost()
        excerpts = Excerpts(self.document.source if self.diagnostics else b"")
        return {
            "tool": TOOL,
            "name": escape(self._name()),
            "file": path and quoted(path),
            "ok": self.inference.ok,
            "ir_version": self.model.ir_version,
            "layers": layers,
            "ends": {self.hierarchy.position[node]: quoted(end_name(node)) for node in (*self.model.parameters, *self.model.results)},
            "bodies": ends_of_bodies(self.hierarchy.position),
            "hidden": sorted([self.hierarchy.position[node] for node in self.hierarchy.hidden]),
            "groups": [[group.parent, quoted(group.name), group.holder, group.repeats] for group in self.hierarchy.groups],
            "values": self._values(),
            "shapes": [self._shape(bounded, formal) for bounded, formal in self._shapes],
            "faults": [{**self._fault(one), **excerpts.of(one)} for one in self.diagnostics],
            "rules": rules(self.diagnostics),
            "demands": demands,
            "cost": cost,
            **self._explanations(),
            **self._what_if(),
            **({} if self.difference is None else changes_of(self.difference, self.hierarchy)),
        }

    def _name(self) -> str:
        """The name of the file; of two files both names, with their folders if the names are equal."""
        documents = [self.document] if self.difference is None else [self.difference.a.document, self.document]
        names = [os.path.basename(one.path) if one.path else one.name for one in documents]
        if len(names) > len(set(names)):
            names = [one.path or name for one, name in zip(documents, names, strict=True)]
        return " -> ".join(map(clipped, names))

    def _layers(self) -> dict[str, Any]:
        signatures: dict[Any, int] = {}
        types: dict[str, int] = {}
        position, rows = self.hierarchy.position, []
        for node in self.hierarchy.nodes:
            own, slots, bounded = node.layer.signature, self._slots.get(node.model), self._bounds.get(node.model)
            sources: list[int] = []
            for slot in node.sources:
                source = node.model.producer(slot)
                sources += (-1, 0) if source is None else (position[source], slot - source.first_slot)
            outputs: list[int] = []
            for slot in range(node.first_slot, node.first_slot + own.output_count):
                ours = slots[slot] if slots is not None else None
                theirs = bounded[slot] if bounded is not None else None
                name = ours.element_type.name if ours is not None else "dynamic"
                both = (None if theirs is None else theirs.shape, None if ours is None else ours.shape)
                outputs += types.setdefault(name, len(types)), self._shapes.setdefault(both, len(self._shapes))
            rows.append((node, signatures.setdefault(own, len(signatures)), sources, outputs))
        document = self.document
        places = [document.position(node.layer.offset) for node, *_ in rows]
        return {
            "key": [node.key for node, *_ in rows],
            "name": [quoted(node.name) for node, *_ in rows],
            "signature": [number for _, number, _, _ in rows],
            "group": self.hierarchy.group_of,
            "line": [line for line, _ in places],
            "column": [column for _, column in places],
            "inputs": [sources for _, _, sources, _ in rows],
            "outputs": [outputs for *_, outputs in rows],
            "types": list(types),
            "signatures": self._signatures({number: node for node, number, _, _ in reversed(rows)}),
        }

    def _signatures(self, examples: Mapping[int, Node]) -> list[dict[str, Any]]:
        """Type, version, attributes and ports, each with a node that has them."""
        return [
            {
                "type": quoted(own.type),
                "version": quoted(own.version),
                "attributes": [[quoted(name), quoted(value)] for name, value in sorted(own.attributes.items())],
                "inputs": [[id, escape(port.name)] for id, port in zip(own.input_ids, node.inputs, strict=True)],
                "outputs": own.output_ids,
            }
            for _, node in sorted(examples.items())
            for own in (node.layer.signature,)
        ]

    def _shape(self, bounded: Shape, formal: Shape) -> list[Any]:
        """A shape: in OpenVINO's notation, as formulas, and the sizes as numbers and names (null if the rank is unknown)."""
        sizes = None if formal is None else [self._side(size) for size in formal]
        return [self._format(bounded), self.formal.symbolic(formal), sizes]

    def _format(self, shape: Shape) -> str:
        """A shape in OpenVINO's notation."""
        text = self._texts.get(shape)
        if text is None:
            text = self._texts[shape] = self.inference.format(shape)
        return text

    def _shown_shapes(self, node: Node) -> tuple[tuple[str, str], ...]:
        """The element types and shapes of a layer's outputs, as texts."""
        slots = self._bounds.get(node.model)
        if slots is None:
            return ()
        facts = [slots[slot] for slot in range(node.first_slot, node.first_slot + node.layer.signature.output_count)]
        return tuple([("", "") if fact is None else (fact.element_type.name, self._format(fact.shape)) for fact in facts])

    def _values(self) -> dict[str, list[str]]:
        """The elements of small tensors, as far as they are known, by layer and output."""
        found = {}
        for position, node in enumerate(self.hierarchy.nodes):
            slots = self._slots.get(node.model)
            for index in range(node.layer.signature.output_count if slots is not None else 0):
                elements = self._elements(node, slots[node.first_slot + index])  # type: ignore[index]
                if elements is not None:
                    found[f"{position}:{index}"] = [f"{one:.7g}" if isinstance(one, float) else str(one) for one in elements]
        return found

    def _elements(self, node: Node, fact: Fact) -> Sequence[Any] | None:
        if fact.elements is not None and type(fact.elements) is not Unreadable:
            return fact.elements if len(fact.elements) <= _MOST_ELEMENTS else None
        count = element_count(fact.shape) if node.type == "Const" else None
        const = node.const if count is not None and count <= _MOST_ELEMENTS else None
        if const is None or count is None or const.element_type.name == "string":
            return None
        try:
            return decode(const.element_type, const.bytes, count)
        except WeightsError:
            return None

    def _fault(self, one: Diagnostic) -> dict[str, Any]:
        """A fault: its code, its text, and the layer that it marks (-1 if none)."""
        where = one.where
        return {
            "code": one.code,
            "severity": one.severity,
            "message": escape(one.message),
            "hint": one.hint and escape(one.hint),
            "fix": one.fix and escape(one.fix.title),
            "layer": self._at.get((where.path, where.layer_id or ""), -1),
            "port": where.port,
            "line": where.line,
            "column": where.column,
            "about": where.about(),
        }

    def _demand(self, node: Node, requirement: Requirement, branch: str) -> dict[str, Any]:
        """What a layer demands of the sizes of the inputs: the relation, its sides as trees, the reason, and a body that need not run."""
        return {
            "layer": self.hierarchy.position[node],
            "kind": requirement.kind,
            "a": self._side(requirement.a),
            "b": self._side(requirement.b),
            "text": str(requirement),
            "message": escape(requirement.message),
            "premise": isinstance(requirement, Premise),
            "branch": escape(branch),
        }

    def _side(self, size: Size) -> int | str:
        """A number, or the name of a formula."""
        return self._formulas.name(size.polynomial) if isinstance(size, Dim) else size

    def _cost(self) -> dict[str, Any] | None:
        """MACs, bytes of weights and bytes of all activations at each layer, as numbers and names; None for a model with errors."""
        if not self.inference.ok or not self.model.document.is_complete:
            return None
        from irshape.answers.cost.cost import Cost
        from irshape.answers.cost.memory import Reuse

        cost = Cost(self.formal, self.signature, {}, Reuse(), is_profile=True)
        columns: dict[str, list[int | str]] = {name: [0] * len(self.hierarchy.nodes) for name in ("macs", "weights", "memory")}
        for layer in cost.layers:
            position = self.hierarchy.position[layer._node]
            columns["macs"][position], columns["weights"][position] = self._amount(layer.macs), self._amount(layer.weights)
        for node, memory in cost.peak.profile:
            columns["memory"][self.hierarchy.position[node]] = self._amount(memory)
        return {**columns, "parameters": cost.parameter_bytes, "near": dict(cost.near)}

    def _amount(self, amount: Amount) -> int | str:
        return amount if isinstance(amount, int) else self._formulas.name(amount.expression)

    def _what_if(self) -> dict[str, Any]:
        """The symbols, the formulas in the order in which they are computed, and the shapes of the inputs in these symbols.

        `symbols` has the open sizes of the inputs, each with its least and greatest value (null if there is none) and its congruence, and
        `bounds` the layers that leave it these values, each with its reason.
        `unknown` has the ranges of the sizes that only data tells.
        """
        table = self.formal.scope.polynomials
        definitions = self._formulas.definitions()
        own = {} if self.signature is None else self.signature.symbols
        used = {str(name) for name in self._formulas.names.values()}
        used |= {name for _, tree in definitions for name in names_in(tree)}
        unknown = {}
        for atom, known in zip(table.atoms, table.ranges, strict=True):
            if atom.kind == "symbol" and atom.name in used and atom.name not in own:
                unknown[atom.name] = [_end(known.low), _end(known.high)]
        return {
            "symbols": {name: [_end(one.low), _end(one.high), one.modulus or 1, one.remainder] for name, one in own.items()},
            "bounds": {
                name: [(self.hierarchy.position[guard._node], escape(guard.requirement.message)) for guard in guards]
                for name, guards in (self.signature._found.bounding if self.signature is not None else {}).items()
            },
            "unknown": unknown,
            "definitions": definitions,
            "inputs": {} if self.signature is None else {quoted(name): shape for name, shape in self.signature.inputs.items()},
            "conditions": self._conditions(),
            "asked": [quoted(f"{end_name(node)}{shape_text(shape)}") for node, shape in self.inference.wanted.shapes.items()],
        }

    def _conditions(self) -> list[str]:
        """The conditions on the symbols; none in a browser, which has no NumPy to solve them with, and shows what each layer demands."""
        if self.signature is None:
            return []
        try:
            return [one.text for one in self.signature.conditions if self.signature._is_decided(one)]
        except ModuleNotFoundError:
            return []

    def _explanations(self) -> dict[str, Any]:
        """The steps that lead to each axis, and for each tensor the steps that compute its axes, or the places of numbers of constants."""
        explainer = Explainer(self.formal)
        numbers = {graph: number for number, (graph, _) in enumerate(self.formal.graphs)}
        nodes = [node for node in self.hierarchy.nodes if node.model in numbers and node not in self.hierarchy.hidden]
        ends = [one for node in nodes if node.type == "Result" for one in node.producers]
        faulty = [self.hierarchy.nodes[at] for at in sorted({self._fault(one)["layer"] for one in self.diagnostics} - {-1})]
        points: dict[tuple[int, int], list[Point]] = {}
        left = _MOST_AXES
        for node in dict.fromkeys([*ends, *(node for node in faulty if node.model in numbers), *nodes]):
            for index in range(node.layer.signature.output_count):
                fact = self._slots[node.model][node.first_slot + index]
                rank = len(fact.shape or ())
                taken = rank * -(-rank // _MOST_RANK)
                if fact.shape is not None and not fact.is_poisoned and taken <= left:
                    left -= taken
                    key = self.hierarchy.position[node], index
                    points[key] = [Point(numbers[node.model], node.first_slot + index, "axis", axis) for axis in range(rank)]
        step, number_of = explainer.trail.step, explainer.table([point for own in points.values() for point in own])
        return {
            "steps": [self._step(point, explainer, number_of) for point in number_of],
            "answers": {
                f"{position}:{index}": [number_of.get(step(one)) or self._read(one.subject, one, explainer, number_of) for one in own]
                for (position, index), own in points.items()
            },
        }

    def _step(self, point: Point, explainer: Explainer, number_of: Mapping[Point, int]) -> list[Any]:
        """Layer, subject, value, formula, the formula with numbers, note, and the numbers that the step reads."""
        found = explainer.sources.derive(point)
        texts = [escape(text) for text in (point.subject, number_text(found.value), *explainer.equation(found), found.note)]
        reads = [self._read(name, source, explainer, number_of) for name, _, source in found.reads]
        return [self._positions.get(explainer.sources.node(point), -1), *texts, reads]

    def _read(self, name: str, source: Point | FilePlace, explainer: Explainer, number_of: Mapping[Point, int]) -> list[Any]:
        """Name, origin in words, the step that computes it (0 if none), and the last layer that passes it on, if there is one."""
        root = source if isinstance(source, FilePlace) else explainer.trail.step(source)
        last = [] if isinstance(source, FilePlace) or root == source else [self._positions.get(explainer.sources.node(source), -1)]
        if isinstance(root, Point) and root in number_of:
            return [escape(name), "", number_of[root], *last]
        read = explainer.origin("", "", root)
        return [escape(name), "a size of the input" if read.kind == "input" and self.signature else escape(read.source), 0, *last]


def open_signature(inference: Inference) -> Signature | None:
    """The signature of a model with open sizes; None for one without open sizes or with errors."""
    if not inference.ok or not inference.document.is_complete or not _is_open(inference):
        return None
    found = signature_of(inference)
    return found if found.ok else None


def _is_open(inference: Inference) -> bool:
    """Whether an input or a variable has a size that is not known."""
    slots = inference.graphs[0][1].slots
    nodes = [node for node in inference.model.nodes if node.type in ("Parameter", "ReadValue") and node.layer.signature.output_count]
    shapes = [slots[node.first_slot].shape for node in nodes]
    return any(shape is None or any(isinstance(size, Dim) for size in shape) for shape in shapes)


def _end(bound: float) -> int | None:
    return None if bound in (inf, -inf) else int(bound)


def quoted(text: str) -> str:
    """A text of the file, as the page shows it."""
    return escape(clipped(text))


# The most shapes that follow from changes and are listed; all are marked.
_MOST_EFFECTS: Final = 1_000
# The marks of layers; of a group the first that a layer in it has.
_MARKS: Final = ("added", "changed", "follows")


def changes_of(difference: Difference, hierarchy: Hierarchy) -> dict[str, Any]:
    """The changes, and the marks of layers and groups by the numbers that the page gives them.

    `difference` is from some model to the one of `hierarchy`. A layer that only the first model has is listed with the next layer after it
    that both models have.
    """
    partner = {a: b for matching in difference._matchings for a, b in matching.partner.items()}
    rows: list[dict[str, Any]] = []
    marks: dict[int, str] = {}
    for change in difference.changes:
        mark = change.kind if change.kind in ("added", "removed") else "changed"
        node = change.b or change.a
        behind = reached([node], lambda one: one.consumers) if node is not None and change.b is None else ()
        next_one = change.b or next((partner[one] for one in behind if one in partner), None)
        position = -1 if next_one is None else hierarchy.position[next_one]
        arrow = "" if change.before is change.after is None else f" {change.before or 'none'} -> {change.after or 'none'}"
        rows.append(_row(change.kind, mark, position, f"{change.what}{arrow}".strip(), node))
        if change.b is not None:
            marks[position] = _first(mark, marks.get(position))
    for number, effect in enumerate(difference.effects):
        position = hierarchy.position[effect.b]
        marks[position] = _first("follows", marks.get(position))
        if number < _MOST_EFFECTS:
            rows.append(_row(effect.what.replace("_", " "), "follows", position, f"{effect.before} -> {effect.after}", effect.b))
    for position, mark in list(marks.items()):
        group = hierarchy.group_of[position]
        while group >= 0:
            item = len(hierarchy.nodes) + group
            inner = "changed" if mark == "added" else mark
            marks[item] = _first(inner, marks.get(item))
            holder = hierarchy.groups[group].holder
            if holder >= 0:
                marks[holder] = _first(inner, marks.get(holder))
            group = hierarchy.groups[group].parent if holder < 0 else hierarchy.group_of[holder]
    asides = [*([f"constants were not compared: {difference.uncompared}"] if difference.uncompared else []), *difference.asides]
    return {"changes": rows, "marks": marks, "asides": [quoted(one) for one in asides], "summary": escape(difference.summary)}


def _row(kind: str, mark: str, position: int, text: str, node: Any) -> dict[str, Any]:
    about = "" if node is None else f"{node.type} {f'{node.model.path} / ' if node.model.path else ''}{clipped(node.name)}"
    return {"kind": kind.replace("_", " "), "mark": mark, "layer": position, "text": quoted(text), "about": escape(about)}


def _first(mark: str, other: str | None) -> str:
    return mark if other is None else min(mark, other, key=_MARKS.index)


# The faults whose text is shown; a page of a hostile file stays small.
_MOST_SHOWN: Final = 200
# The lines around a fault, the most lines of a change, and the most characters of a line.
_AROUND: Final = 2
_MOST_LINES: Final = 24
_LONGEST: Final = 240


class Excerpts:
    """The lines of a file around its faults. A file in another encoding than UTF-8 has none."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._lines: list[bytes] | None = None if b"\0" in source[:4] or source[:2] in (b"\xff\xfe", b"\xfe\xff") else source.split(b"\n")
        self._shown = 0

    def of(self, one: Diagnostic) -> dict[str, Any]:
        """The lines around a fault with the place of the fault in them, and the lines that its fix changes."""
        if self._lines is None or one.where.line is None or self._shown >= _MOST_SHOWN:
            return {}
        self._shown += 1
        line, column = one.where.line, (one.where.column or 1) - 1
        first = max(1, line - _AROUND)
        lines = [self._text(text) for text in self._lines[first - 1 : line + _AROUND]]
        found: dict[str, Any] = {}
        if line - first < len(lines):
            text = lines[line - first]
            end = text.find(">", column)
            begin = max(0, column - _LONGEST // 2)
            shown = [_clipped(other, begin if at == line - first else 0) for at, other in enumerate(lines)]
            end = end + 1 if end >= 0 else len(text)
            found["source"] = {"line": first, "fault": line, "lines": shown, "from": column - begin, "to": end - begin}
        if one.fix is not None:
            found["diff"] = self._diff(one.fix.edits)
        return found

    def _text(self, line: bytes) -> str:
        return line.decode("utf-8", "replace").rstrip("\r")

    def _diff(self, edits: Iterable[Edit]) -> list[list[str]]:
        """The lines that edits remove ("-") and add ("+")."""
        rows: list[list[str]] = []
        groups: list[list[Edit]] = []
        for edit in sorted(edits):
            if groups and edit.line <= groups[-1][-1].end_line:
                groups[-1].append(edit)
            else:
                groups.append([edit])
        for group in groups:
            begin = self._source.rfind(b"\n", 0, group[0].start) + 1
            end = self._source.find(b"\n", group[-1].end)
            end = len(self._source) if end < 0 else end
            changed, at = b"", begin
            for edit in group:
                changed += self._source[at : edit.start] + edit.text.encode()
                at = edit.end
            changed += self._source[at:end]
            for mark, text in (("-", self._source[begin:end]), ("+", changed)):
                rows += [[mark, _clipped(self._text(line))] for line in text.split(b"\n") if mark == "-" or line.strip()]
            if len(rows) > _MOST_LINES:
                return [*rows[:_MOST_LINES], [" ", "and more lines"]]
        return rows


def rules(diagnostics: Sequence[Diagnostic]) -> dict[str, list[str]]:
    """What the rules of these faults say, by code: title, meaning, why it matters, and the remedy."""
    known = [CATALOGUE[code] for code in dict.fromkeys(one.code for one in diagnostics) if code in CATALOGUE]
    return {one.code: [one.title, one.meaning, one.why, one.fix] for one in known}


def _clipped(line: str, begin: int = 0) -> str:
    return escape(line[begin : begin + _LONGEST].replace("\t", " "))
