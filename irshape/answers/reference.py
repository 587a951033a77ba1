"""The reference of a model: what its users rely on, kept beside their code, so that a new export is compared without the old one.

A reference is a JSON file: the shapes of the inputs, the state and the outputs, the conditions on their symbols, the costs, and the shapes
of the layers that have names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from irshape.answers.cost.cost import Cost
from irshape.answers.matching import is_unnamed
from irshape.answers.signature.signature import Signature
from irshape.files.reading import MOST_OF_BASELINE, read_whole
from irshape.model.finding import end_name
from irshape.model.model import SINKS
from irshape.report.text import counted

_VERSION: Final = 1
_COSTS: Final = ("macs", "operations", "parameters", "parameter_bytes", "traffic", "peak_memory", "state_bytes")
# The parts of a reference, each with the words for one of its entries.
_PARTS: Final = {"inputs": "input", "state": "variable", "outputs": "output", "costs": "", "layers": "layer"}


def reference_of(cost: Cost) -> dict[str, Any]:
    """The reference of a model whose costs were counted."""
    inference = cost._inference
    model = inference.model
    signature = cost.signature or Signature(model, inference.wanted, inference.weights, inference.opaque)
    types = {end_name(node): inference.view(node).outputs[0].element_type for node in model.parameters}
    types |= {end_name(node): inference.view(node).inputs[0].element_type for node in model.results if node.inputs}
    named = [node for node in model if node.type not in ("Const", "Parameter", *SINKS) and not is_unnamed(node.name)]
    return {
        "version": _VERSION,
        "inputs": {name: f"{types[name]}{shape}" for name, shape in signature.inputs.items()},
        "state": dict(signature.state),
        "outputs": {name: f"{types.get(name.partition(' (')[0], '')}{shape}" for name, shape in signature.outputs.items()},
        "conditions": [one.text for one in signature.conditions],
        "costs": {name: one if isinstance(one := getattr(cost, name), int) else str(one) for name in _COSTS},
        "layers": {node.name: " ".join(f"{port.element_type}{port.formula}" for port in inference.view(node).outputs) for node in named},
    }


def text_of(reference: dict[str, Any]) -> bytes:
    """A reference as its file has it, with one entry on a line, so that a change can be read."""
    return (json.dumps(reference, indent=1) + "\n").encode("utf-8", "backslashreplace")


def read_reference(path: str) -> dict[str, Any]:
    """The reference in a file. Raises `OSError`, and ValueError if the file is none."""
    try:
        found = json.loads(read_whole(path, MOST_OF_BASELINE))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("version") != _VERSION or not all(isinstance(found.get(part), dict) for part in _PARTS):
        raise ValueError(f"{path}: this is not a reference of irshape; irshape diff --write-reference writes one")
    return found


def changes(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """What differs between two references of a model, in words; only the shapes of layers that both have are compared."""
    for part, word in _PARTS.items():
        old, new = before[part], now[part]
        found = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
        if part == "layers":
            found = [name for name in found if name in old and name in new]
            if len(found) > 1:
                yield f"the shapes of {counted(len(found), word)} changed, first {found[0]}: {old[found[0]]} -> {new[found[0]]}"
                continue
        for name in found:
            yield f"{word} {name}: {old.get(name, 'none')} -> {new.get(name, 'none')}{_part(old.get(name), new.get(name))}".lstrip()
        if part == "outputs" and before.get("conditions") != now["conditions"]:
            yield f"conditions: {_joined(before.get('conditions'))} -> {_joined(now['conditions'])}"


def _part(old: Any, new: Any) -> str:
    """The change of a number in per cent."""
    return f" ({(new - old) / old:+.1%})" if isinstance(old, int) and isinstance(new, int) and old else ""


def _joined(texts: Any) -> str:
    return " and ".join(map(str, texts)) if isinstance(texts, list) and texts else "none"
