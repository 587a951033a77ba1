"""The summary of a model: its modules as a tree, each with the shape that it gives, its parameters, its work and its memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final, NamedTuple

from irshape.answers.cost.cost import Cost
from irshape.answers.cost.formula import NEAR, Amount, Formula, amount, shown_amount, summed
from irshape.answers.hierarchy import hierarchy_of, members
from irshape.answers.signature.signature import ends
from irshape.answers.wording import LONG, Answer, opening
from irshape.inference.inference import Inference
from irshape.model.model import Node, grouped, reached
from irshape.ops.infrastructure import Constant
from irshape.report import form
from irshape.report.section import Column, Section, Table, dim, joined, paragraph
from irshape.report.text import bytes_text, number_text

# The levels of the tree that are shown unless another number is asked for.
DEPTH: Final = 3
_NUMBER: Final = Column(is_number=True)
_COLUMNS: Final = (Column(most=44, is_cut=True), Column(is_spare=True), _NUMBER, _NUMBER, _NUMBER, Column(most=24))
# The longest leading part of a formula that is shown beside a total.
_LONGEST: Final = 88


class Module(NamedTuple):
    """A row of a summary: a module, or a layer.

    `depth` is its level in the tree, from 0. `name` is that of the module within the one around it, `type` the type of a layer, empty for a
    module. A module of equal blocks has their number as `times`, else it is 1; the rows below are those of the first block. `layers` is the
    number of layers, `output` the element type and the shape of its output, `parameters` the elements of the constants that it reads,
    `macs` its multiply-accumulates and `memory` the bytes of the outputs of its layers, of all blocks. `layer` is the id of a
    layer, by which every verb takes it, empty for a module.
    """

    depth: int
    name: str
    type: str
    times: int
    layers: int
    output: str
    parameters: int
    macs: Amount
    memory: Amount
    layer: str

    @property
    def title(self) -> str:
        """The name, with the number of equal blocks."""
        return f"{self.times} \N{MULTIPLICATION SIGN} {self.name}" if self.times > 1 else self.name


class Summary(Answer):
    """The modules of a model as a tree, and its totals.

    `modules` are the rows, from the outside in, `cost` has the totals and the signature, and `depth` is the number of levels.
    """

    def __init__(self, cost: Cost, depth: int = DEPTH) -> None:
        self.cost: Final = cost
        self.depth: Final = depth
        self._inference = inference = cost._inference
        is_whole = bool(inference.model.nodes) and inference.document.is_complete
        self.modules: Final = list(_Tree(cost, inference, depth).rows()) if is_whole else []

    def __repr__(self) -> str:
        cost = self.cost
        name = cost.document.path or cost._inference.model.name
        return f"<Summary of {name!r}: {len(self.modules)} rows, {cost.parameters} parameters, {cost.macs} MACs>"

    def _sections(self) -> Iterator[Section]:
        """The text: title, faults, signature, tree and totals."""
        cost = self.cost
        yield from opening(cost.document, self.diagnostics)
        if cost.signature is not None:
            yield paragraph(*ends(cost.signature))
        cost._compute(found for one in self.modules for found in (one.macs, one.memory))
        rows = [(f"{'  ' * one.depth}{cells[0]}", *cells[1:]) for one in self.modules for cells in (self._cells(one),)]
        remark = dim("a row of equal blocks sums all of them; the rows below it show one")
        table = Table(_COLUMNS, rows, ("MODULE", "TYPE", "PARAMETERS", "MACS", "MEMORY", "OUTPUT"))
        yield paragraph(table, *([remark] if any(one.times > 1 for one in self.modules) else []))
        sizes = ", ".join(f"{name}={size}" for name, size in cost.near.items())
        near = f"  at {sizes}{cost._remark} (--near changes the sizes)" if sizes else ""
        totals = []
        for number, (name, text, formula) in enumerate(self.totals()):
            about = f"  about {formula}" if 0 < len(formula) <= _LONGEST and not LONG.search(formula) else ""
            totals.append((name, joined(f"{text}{about}", dim(near if number == 1 else ""))))
        yield paragraph(Table((Column("key", least=12), Column()), totals))

    def _cells(self, one: Module) -> tuple[str, ...]:
        """The texts of a row; formulas are numbers at the sizes `near` of the cost."""
        cost = self.cost
        macs, memory = cost.at(one.macs), cost.at(one.memory)
        parameters = number_text(one.parameters) if one.parameters else ""
        return one.title, one.type, parameters, number_text(macs) if macs else "", bytes_text(memory) if memory else "", one.output

    def totals(self) -> list[tuple[str, str, str]]:
        """The totals of the model: what, the number at the sizes `near`, and the formula."""
        cost = self.cost
        rows = [("parameters", f"{number_text(cost.parameters)} in {bytes_text(cost.parameter_bytes)}", "")]
        for name, found, text in (("MACs", cost.macs, number_text), ("peak memory", cost.peak_memory, bytes_text)):
            rows.append((name, text(cost.at(found)), found.about(cost.near) if isinstance(found, Formula) else ""))
        return rows

    def to_records(self) -> list[dict[str, Any]]:
        """A record for each row, for `pandas.DataFrame`; amounts are numbers at the sizes `near` of the cost."""
        return [{**one._asdict(), "macs": self.cost.at(one.macs), "memory": self.cost.at(one.memory)} for one in self.modules]

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/summary.schema.json`."""
        return SUMMARY(self, self.cost)


class _Tree:
    """The groups of a model with the sums of what their layers cost."""

    def __init__(self, cost: Cost, inference: Inference, depth: int) -> None:
        self._inference = inference
        self._depth = depth
        self._names: Mapping[str, str] = cost._shown
        self._ports, self._formulas = inference.ports, inference.formulas
        self._hierarchy = hierarchy = hierarchy_of(inference, self._ports, self._formulas)
        below = members(hierarchy)
        self._bodies = grouped((group.holder, -1 - number) for number, group in enumerate(hierarchy.groups) if group.holder >= 0)
        bodies = {one for members in self._bodies.values() for one in members}
        hidden = {hierarchy.position[node] for node in hierarchy.hidden}
        self._members = [[one for one in part if one not in bodies and one not in hidden] for part in below]
        self._costs = {layer._node: layer for layer in cost.layers}
        paths = [tuple(hierarchy.named_groups(node)) for node in hierarchy.nodes if node not in hierarchy.hidden]
        self._counts = Counter([path[:count] for path in paths for count in range(1, len(path) + 1)])
        self._found: dict[tuple[int, bool], list[int]] = {}
        self._parameters: dict[Node, int] = {}
        for position, node in enumerate(hierarchy.nodes):
            op = node.op if node.type in ("Const", "Constant") and not node.is_dropped and node.is_live else None
            if isinstance(op, Constant) and not op.is_broken:
                reader = self._reader(position)
                self._parameters[reader] = self._parameters.get(reader, 0) + prod(op.shape)

    def rows(self) -> Iterator[Module]:
        """The rows of the model, outer ones first."""
        pending = [(0, one) for one in sorted(self._members[-1], key=self._place, reverse=True)]
        while pending:
            depth, one = pending.pop()
            yield self._row(one, depth)
            if depth + 1 < self._depth:
                pending += [(depth + 1, inner) for inner in sorted(self._inner(one), key=self._place, reverse=True)]

    def _inner(self, member: int) -> Sequence[int]:
        """The members of a group, of which equal blocks are one; and the bodies of a layer."""
        if member >= 0:
            return self._bodies.get(member, ())
        found = self._members[-1 - member]
        if not self._hierarchy.groups[-1 - member].repeats:
            return found
        first = min(found, key=self._place)
        return self._members[-1 - first] if first < 0 else ()

    def _place(self, member: int) -> int:
        return min(self._layers(member, inside=False), default=0)

    def _layers(self, member: int, *, inside: bool = True) -> list[int]:
        """The layers of a member, with `inside` those of bodies, too."""

        def inner(one: int) -> Sequence[int]:
            return self._members[-1 - one] if one < 0 else self._bodies.get(one, ()) if inside else ()

        if (member, inside) not in self._found:
            self._found[member, inside] = [one for one in reached([member], inner) if one >= 0]
        return self._found[member, inside]

    def _reader(self, position: int) -> Node:
        """The first layer after a constant that is no constant."""
        hierarchy = self._hierarchy
        while hierarchy.nodes[position] in hierarchy.hidden and (readers := hierarchy.readers(position)):
            position = readers[0]
        return hierarchy.nodes[position]

    def _row(self, member: int, depth: int) -> Module:
        nodes = [self._hierarchy.nodes[one] for one in self._layers(member)]
        costs = [self._costs[node] for node in nodes if node in self._costs]
        group = self._hierarchy.groups[-1 - member] if member < 0 else None
        only = self._hierarchy.nodes[member] if group is None else None
        name = group.name if group is not None else only.name if only is not None else ""
        return Module(
            depth,
            self._own_name(only) if depth and only is not None else name,
            only.type if only is not None else "",
            group.repeats or 1 if group is not None else 1,
            len(nodes),
            self._output(only, member),
            sum(self._parameters.get(node, 0) for node in nodes),
            self._sum([one.macs for one in costs]),
            self._sum([one.outputs for one in costs]),
            only.key if only is not None else "",
        )

    def _own_name(self, node: Node) -> str:
        """The name of a layer within the module around it: that of a module of its own, if a converter named the layer after its type."""
        path, own = tuple(self._hierarchy.named_groups(node)), node.name.rpartition("/")[2] or node.name
        modules = (path[:count] for count in range(1, len(path) + 1 if own != own.lower() == node.type.lower() else 1))
        return next((one[-1] for one in modules if self._counts[one] == 1), own)

    def _output(self, only: Node | None, member: int) -> str:
        """The first output of a layer, or of the last layer of a group that another layer reads; real numbers rather than sizes."""
        if only is not None:
            return self._tensor(only)
        own = sorted(self._layers(member, inside=False), reverse=True)
        inside = set(own)
        read = [one for one in own if not inside.issuperset(self._hierarchy.readers(one))]
        outputs = [self._tensor(self._hierarchy.nodes[one]) for one in read or own[:1]]
        return next((text for text in outputs if text.startswith(("f", "bf"))), outputs[0] if outputs else "")

    def _tensor(self, node: Node) -> str:
        """Element type and shape of the first output of a layer; a Result gives the tensor that it reads."""
        if not node.layer.signature.output_count and node.producers:
            node = node.producers[0]
        if not node.layer.signature.output_count:
            return ""
        key = f"{node.key}:{node.layer.signature.output_ids[0]}"
        element_type, shape = self._ports.get(key, ("", ""))
        return f"{element_type}{self._formulas.get(key, shape)}"

    def _sum(self, amounts: Sequence[Amount]) -> Amount:
        return amount(summed(self._inference.scope, amounts), self._names)


SUMMARY: Final = form.Form(
    tool=form.TOOL_FIELD,
    file=(form.FILE, "document.path"),
    ok=("flag: the model has no errors", "cost._inference.ok"),
    near=(NEAR, "cost.near"),
    parameters=("number: elements of constants", "cost.parameters"),
    parameter_bytes=("number", "cost.parameter_bytes"),
    macs=shown_amount("multiply-accumulates", "cost.macs"),
    peak_memory=shown_amount("the most bytes that activations take at one time", "cost.peak_memory"),
    modules=form.Form(
        depth="count: the level in the tree, from 0",
        name="text: the name within the module around it",
        type="text: the type of a layer; empty for a module",
        times="count: the number of equal blocks, whose sum the row has; the rows below are those of one of them",
        layers="count: the number of layers, those of bodies included",
        output="text: the element type and the shape of what it gives",
        parameters="count: elements of constants",
        macs=shown_amount("multiply-accumulates"),
        memory=shown_amount("bytes of the outputs of its layers"),
        layer="text: the id of a layer; empty for a module",
    ).list("the rows of the tree, from the outside in"),
    diagnostics=form.diagnostics(),
)
