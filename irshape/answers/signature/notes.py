"""Notes to a signature: sizes that only data tells, which layers tie axes together, and which other sizes OpenVINO accepts."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from re import fullmatch
from typing import Any, Final, NamedTuple

from irshape.answers.roots import roots
from irshape.answers.signature.discovery import Discovery, OpenAxis
from irshape.answers.signature.names import FreeNames
from irshape.answers.signature.unify import BROADCAST, CARRIED, PRODUCT, READ, FreeSymbol, Replacement, Unifier
from irshape.inference.forms import GUARD
from irshape.inference.indices import are_bounded, are_counted, largest_indices
from irshape.inference.inference import Inference
from irshape.inference.inputs import UNNAMED
from irshape.inference.run import Guard
from irshape.model.finding import end_name
from irshape.model.model import Node, grouped
from irshape.model.public import Node as PublicNode
from irshape.model.public import public
from irshape.report.form import KEY, NAME, TYPE, Form, word
from irshape.report.text import listed
from irshape.shape.dim import Dim, Size, symbols
from irshape.shape.guard import Requirement, all_hold
from irshape.shape.polynomial import range_of

# The names of sizes that only data tells, by the type of the layer.
_OF_DATA: Final = {
    **dict.fromkeys(("NonMaxSuppression", "NMSRotated", "MulticlassNms", "MatrixNms", "ExperimentalDetectronDetectionOutput"), "n_boxes"),
    "NonZero": "nonzero",
    "Unique": "n_unique",
    "ReadValue": "n_state",
}  # fmt: skip


class DataSize(NamedTuple):
    """A size that depends on the data of a layer, with its name in the signature."""

    name: str
    node: PublicNode


_CALLED: Final = "text: its name in the signature"
DATA_SIZE: Final = Form(name=_CALLED, layer=(KEY, "node.key"), layer_name=(NAME, "node.name"), type=(TYPE, "node.type"))


def _data_sizes(inference: Inference, open_names: Collection[str], taken: Iterable[str]) -> dict[int, DataSize]:
    """New names for those of the symbols `open_names` that a layer makes, by the index of the atom; no name is one of `taken`."""
    owners: dict[str, Node] = {}
    for root in roots(inference):
        for name in symbols(root.size):
            owners.setdefault(name, root.node)
    in_shapes = frozenset(owners)
    for demanding, requirement, _ in inference.requirements:
        for name in requirement.symbols():
            owners.setdefault(name, demanding)
    names = FreeNames(taken)
    found: dict[int, DataSize] = {}
    # The sizes in shapes get the first numbers.
    for atom in sorted(inference.scope.polynomials.atoms, key=lambda atom: atom.name not in in_shapes):
        node = owners.get(atom.name)
        if atom.kind == "symbol" and atom.name in open_names and node is not None:
            found[atom.index] = DataSize(names.name(data_name(node)), public(node))
    return found


def data_name(node: Node) -> str:
    """The name of a size that only the data of a layer tells."""
    owner = node.model.holder if node.type == "Parameter" and node.model.holder is not None else node
    return _OF_DATA.get(owner.type, f"n_{owner.type.lower()}")


def name_elements(reading: Inference, taken: Collection[str]) -> None:
    """Name the sizes that only elements of tensors have, by the layers that give them first; those of axes have names already."""
    names = FreeNames({*taken, *(atom.name for atom in reading.scope.polynomials.atoms if atom.name and not fullmatch(UNNAMED, atom.name))})
    atoms = {atom.name: atom.index for atom in reading.scope.polynomials.atoms if atom.kind == "symbol" and fullmatch(UNNAMED, atom.name)}
    for model, run in reading.graphs if atoms else ():
        for node in model:
            for fact in run.slots[node.first_slot : node.first_slot + node.layer.signature.output_count]:
                for size in fact.elements or ():
                    for name in sorted(symbols(size) & atoms.keys(), key=atoms.__getitem__) if isinstance(size, Dim) else ():
                        reading.scope.polynomials.rename(atoms.pop(name), names.name(data_name(node)))


def nameless(inference: Inference, names: Collection[str]) -> set[str]:
    """The symbols in the sizes and requirements of an inference that are not among these names."""
    seen: set[Size] = set()
    found = {name for _, requirement, _ in inference.requirements for name in requirement.symbols()}
    for _, run in inference.graphs:
        for fact in set(run.slots):
            for size in fact.shape or ():
                if isinstance(size, Dim) and size not in seen:
                    seen.add(size)
                    found |= symbols(size)
    return found.difference(names)


def name_data_sizes(reading: Inference, taken: Collection[str]) -> list[DataSize]:
    """The sizes in formulas that only the data of a layer tells; their symbols have names now."""
    names = nameless(reading, taken)
    found = _data_sizes(reading, names, taken) if names else {}
    for index, size in found.items():
        reading.scope.polynomials.rename(index, size.name)
    return list(found.values())


def name_ties(found: Discovery, reading: Inference) -> None:
    """Give the symbols in the ties the names that they have in a reading. A symbol that it lacks gets a name by the layer of its tie."""
    names = FreeNames(atom.name for atom in reading.scope.polynomials.atoms)
    for unifier in found.steps:
        unifier.scope.take_names(reading.scope)
        for guard in [demand.guard for one in unifier.replacements for demand in one.demands]:
            raw = {name for name in guard.requirement.symbols() if fullmatch(UNNAMED, name)}
            for atom in unifier.table.atoms if raw else ():
                if atom.name in raw:
                    unifier.table.rename(atom.index, names.name(data_name(guard._node)))


class Because(NamedTuple):
    """An open axis of an input or a variable that is not a symbol of its own: its size, and the guards that demand it.

    `reason` is `demanded`, if the requirements leave no other size; else it is the choice that was made: `broadcast` (equal sizes, and
    not 1), `product`, `read` (as many elements as the model reads) or `carried` (what the variable is assigned).
    """

    name: str
    axis: int
    size: str
    reason: str
    guards: tuple[Guard, ...]


BECAUSE: Final = Form(
    name="text: an input or a variable",
    axis="count",
    size="text: its size in the signature",
    reason=word("demanded", "broadcast", "product", "read", "carried"),
    guards=GUARD.list("the layers that demand it"),
)


def because(found: Discovery) -> list[Because]:
    """Every replacement of an open axis, in the order of the inputs."""
    names = {node.name: variable(node) for node in found.state} | {node.name: end_name(node) for node in found.question.shapes}
    made: dict[tuple[int, int], Because] = {}
    for unifier in found.steps:
        for one in unifier.replacements:
            symbol = unifier.symbols.get(one.atom)
            if symbol is not None and symbol.axis >= 0 and not unifier.is_multiple(one):
                size = found.sizes.get((symbol.owner, symbol.axis), "?")
                guards = tuple(dict.fromkeys(demand.guard for demand in one.demands))
                name = names.get(symbol.owner, symbol.owner)
                made.setdefault((symbol.order, symbol.axis), Because(name, symbol.axis, size, one.reason, guards))
    return [made[key] for key in sorted(made)]


# Layers that read or write a table, perhaps by positions that a CumSum of a mask or a TopK counts, up to the size of an axis.
_READERS: Final = ("Gather", "GatherElements", "ScatterElementsUpdate")


def indexing(inference: Inference, found: Iterable[Because] = (), *, has_open: bool = True) -> list[Node]:
    """The layers that read indices which others compute from open sizes, if there are some, or count, and of which no condition tells.

    The ties in `found` are conditions, too.
    """
    tied = {guard._node for guard in (*inference.guards, *(guard for one in found for guard in one.guards))}
    nodes = []
    for graph, run in inference.graphs:
        tied.update(node for node, _, _ in largest_indices(graph, run.slots, inference.weights))
        kinds: dict[Node, int] = {}  # 0 for constants, 1 for what they and sizes give, 2 for data
        for node in graph if has_open else graph.of_type(*_READERS):
            own = {"Const": 0, "ShapeOf": 1}.get(node.type)
            kinds[node] = max((kinds.get(one, 2) for one in node.producers), default=2) if own is None else own
            if node.op is None or node in tied:
                continue
            for position, slot in enumerate(node.sources):
                source = graph.producer(slot)
                is_of_sizes = has_open and source is not None and kinds.get(source) == 1
                if source is None or run.slots[slot].elements is not None or not (is_of_sizes or node.type in _READERS):
                    continue
                port = node.op.input_at(position, len(node.sources))
                if port is None or port.name != "indices":
                    continue
                is_likely = is_of_sizes or are_counted(source, "CumSum")
                if not is_likely and not are_counted(source, "TopK"):
                    continue
                is_bounded = are_bounded(node, run.slots, inference.weights) if node.type in _READERS else None
                if is_bounded is False or (is_likely and is_bounded is None):
                    nodes.append(node)
    return nodes


def variable(node: Node) -> str:
    """The name of the variable that a ReadValue reads."""
    op: Any = node.op
    return str(getattr(op, "variable_id", "") or node.name)


# How many sizes are tried to find some that fulfil the requirements.
_MOST_TRIED: Final = 32
# A size that is neither 1 nor one of the first candidates.
_ANOTHER: Final = 7919


class Note(NamedTuple):
    """An exception: the inputs may have other sizes on this axis. `inputs` are their names, and `guards` the requirements that allow it."""

    text: str
    inputs: tuple[str, ...]
    axis: int
    guards: tuple[Guard, ...]

    def __str__(self) -> str:
        return self.text


NOTES: Final = Form(
    note=("text: which other sizes OpenVINO accepts", "text"),
    inputs="texts: the inputs that may have these sizes",
    axis="count",
    guards=GUARD.list("the requirements that allow it"),
).list("the sizes that OpenVINO accepts besides, because it checks less, or lets sizes broadcast", "notes")


def notes(found: Discovery) -> list[Note]:
    """The exceptions of all choices; those that say the same of several inputs are one note."""
    inputs = {node.name: end_name(node) for node in found.question.shapes}
    trial = _Trial(found)
    alike: dict[tuple[str, int], list[tuple[str, list[Guard]]]] = {}
    for unifier in found.steps:
        table = unifier.table
        for one in unifier.replacements:
            symbol, guards = unifier.symbols.get(one.atom), [demand.guard for demand in one.demands[:1]]
            if symbol is None and one.reason == BROADCAST and table.ranges[one.atom].high < range_of(one.expression).high:
                node = guards[0].node
                for other in map(unifier.symbols.get, table.symbols_below(one.expression)):
                    if other is not None and other.axis >= 0 and other.owner in inputs:
                        text = f"may be larger on axis {other.axis} where {node.type} {node.name!r} reads an axis of size 1"
                        alike.setdefault((text, other.axis), []).append((inputs[other.owner], guards))
            if symbol is not None and symbol.axis >= 0 and symbol.owner in inputs and (guards or one.reason == CARRIED):
                size = found.sizes[symbol.owner, symbol.axis]
                for text in _exceptions(unifier, one, symbol, size, trial):
                    alike.setdefault((text, symbol.axis), []).append((inputs[symbol.owner], guards))
    made = []
    for (text, axis), members in alike.items():
        names = tuple(dict.fromkeys(name for name, _ in members))
        text = text if len(names) == 1 else text.replace(" it may ", " they may ")
        made.append(Note(f"{listed(names)} {text}", names, axis, tuple(dict.fromkeys(guard for _, some in members for guard in some))))
    return made


def _exceptions(unifier: Unifier, one: Replacement, symbol: FreeSymbol, size: str, trial: _Trial) -> Iterator[str]:
    """The valid sizes that the choice of one replacement leaves out, as texts that follow the name of the input."""
    axis = symbol.axis
    if one.reason == BROADCAST:
        requirement = one.demands[0].requirement
        sides = [side for side in (requirement.a, requirement.b) if isinstance(side, Dim)]
        is_own = one.atom in unifier.table.atoms_below(sides[0].polynomial)
        is_both = requirement.kind == "broadcast" and len(sides) == 2
        may_be_one = (is_own or is_both or len(sides) == 1) and trial.may_be_one(symbol.owner, axis)
        may_be_any = (is_both or (not is_own and len(sides) == 2)) and trial.may_be_any(symbol.owner, axis)
        if may_be_one:
            yield f"may also be 1 on axis {axis}{f', and where {size} is 1 it may have any size' if may_be_any else ''}"
        elif may_be_any:
            yield f"may have any size on axis {axis} where {size} is 1"
    elif one.reason == PRODUCT:
        yield f"may have another size than {size} on axis {axis}, if the number of its elements is a multiple of {size}"
    elif one.reason == CARRIED:
        yield f"may have another size than {size} on axis {axis}: the model gives {size} to the next inference"
    elif one.reason == READ:
        yield f"may have another size than {size} on axis {axis}: the model reads {size} along it, and OpenVINO does not check that"


class _Trial:
    """Small sizes of the first pass that fulfil its requirements, to see whether an axis may have another size than in the signature."""

    def __init__(self, found: Discovery) -> None:
        self._found = found
        self._work = found.engine.scope.work
        self._origins = {(origin.node.name, origin.axis): origin for origin in found.origins}
        own = frozenset(_raw_name(found, origin) for origin in found.origins)
        self._by_name: dict[str, list[Requirement]] = {}
        self._by_symbol = grouped((name, origin) for origin in found.origins for name in found.described(origin).symbols)
        requirements = []
        for guard in found.guards:
            names = guard.requirement.symbols()
            if not guard.is_premise and names <= own:
                requirements.append(guard.requirement)
                for name in names:
                    self._by_name.setdefault(name, []).append(guard.requirement)
        self._sizes: dict[str, int] = {}
        self._values: dict[str, int] = {}
        are_valid = all_hold(requirements)
        for sizes in self._candidates():
            values = self._given(sizes, found.origins)
            self._work.take(1 + len(requirements))
            if not self._work.is_done and are_valid(values):
                self._sizes, self._values = sizes, values
                break

    def may_be_one(self, owner: str, axis: int) -> bool:
        """Whether this axis may be 1 where its size in the signature is not; true where no sizes to start from are found."""
        return self._admits(owner, axis, 1, ())

    def may_be_any(self, owner: str, axis: int) -> bool:
        """Whether this axis may have any size where its size in the signature is 1."""
        origin = self._origins.get((owner, axis))
        return self._admits(owner, axis, _ANOTHER, () if origin is None else self._found.described(origin).symbols)

    def _admits(self, owner: str, axis: int, size: int, ones: Iterable[str]) -> bool:
        """Whether the requirements hold with this size of an axis, where some symbols are 1."""
        origin = self._origins.get((owner, axis))
        if origin is None or not self._values or self._work.is_done:
            return True
        moved = {origin: None for name in ones for origin in self._by_symbol.get(name, ())}
        changed = {**self._given(ChainMap(dict.fromkeys(ones, 1), self._sizes), moved), _raw_name(self._found, origin): size}
        demands = [one for name in changed for one in self._by_name.get(name, ())]
        self._work.take(1 + len(demands))
        return self._work.is_done or all_hold(demands)(ChainMap(changed, self._values))

    def _candidates(self) -> Iterator[dict[str, int]]:
        """Sizes of the symbols, different from each other and from 1."""
        for first in range(_MOST_TRIED):
            sizes = {}
            for number, (name, (low, high, modulus, _)) in enumerate(self._found.ranges.items()):
                least = int(low) + modulus * (first + number + 1)
                sizes[name] = least if least <= high else int(low)
            yield sizes

    def _given(self, sizes: Mapping[str, int], origins: Iterable[OpenAxis]) -> dict[str, int]:
        """The sizes of open axes for these sizes of the symbols; 0 for a formula that divides by 0."""
        found = {}
        for origin in origins:
            try:
                found[_raw_name(self._found, origin)] = self._found.described(origin).number(sizes)
            except ZeroDivisionError:
                found[_raw_name(self._found, origin)] = 0
        return found


def _raw_name(found: Discovery, origin: OpenAxis) -> str:
    return found.steps[0].table.atoms[origin.atom].name
