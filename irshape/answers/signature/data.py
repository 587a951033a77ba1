"""Sizes that only the data of a layer tells, and names for them by the roles of the layers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from re import fullmatch
from typing import Final, NamedTuple

from irshape.answers.roots import roots
from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.names import Names
from irshape.inference.inference import Inference
from irshape.inference.inputs import UNNAMED
from irshape.model.model import Node
from irshape.model.public import Node as PublicNode
from irshape.model.public import public
from irshape.report.form import KEY, NAME, TYPE, Form
from irshape.shape.dim import Dim, Size, symbols

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


DATA_SIZE: Final = Form(
    name="text: its name in the signature", layer=(KEY, "node.key"), layer_name=(NAME, "node.name"), type=(TYPE, "node.type")
)


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
    names = Names(taken)
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
    names = Names({*taken, *(atom.name for atom in reading.scope.polynomials.atoms if atom.name and not fullmatch(UNNAMED, atom.name))})
    atoms = {atom.name: atom.index for atom in reading.scope.polynomials.atoms if atom.kind == "symbol" and fullmatch(UNNAMED, atom.name)}
    for model, run in reading.graphs if atoms else ():
        for node in model:
            for fact in run.slots[node.first_slot : node.first_slot + node.layer.signature.output_count]:
                for size in fact.elements or ():
                    for name in symbols(size) & atoms.keys() if isinstance(size, Dim) else ():
                        reading.scope.polynomials.rename(atoms.pop(name), names.name(data_name(node)))


def nameless(inference: Inference, names: Collection[str]) -> set[str]:
    """The symbols in the sizes and requirements of an inference that are not among these names."""
    seen: set[Size] = set()
    found = {name for _, requirement, _ in inference.requirements for name in requirement.symbols()}
    for _, run in inference.graphs:
        for fact in run.slots:
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
    names = Names(atom.name for atom in reading.scope.polynomials.atoms)
    for step in found.steps:
        step.unifier.scope.take_names(reading.scope)
        for guard in [demand.guard for one in step.unifier.replacements for demand in one.demands]:
            raw = {name for name in guard.requirement.symbols() if fullmatch(UNNAMED, name)}
            for atom in step.unifier.table.atoms if raw else ():
                if atom.name in raw:
                    step.unifier.table.rename(atom.index, names.name(data_name(guard._node)))
