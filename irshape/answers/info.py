"""Describe a model: the OpenVINO releases that read it, its inputs and outputs, its dynamic sizes and their causes, its operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from irshape.answers.batch.axes import BY_PROOF, engine_of, find_batch
from irshape.answers.releases import oldest_release
from irshape.answers.roots import Root, firsts, is_unbounded, outputs, roots
from irshape.answers.signature.naming import named
from irshape.answers.signature.signature import Signature
from irshape.inference.inference import Inference
from irshape.inference.inputs import Inputs
from irshape.model.finding import preferred, split_names
from irshape.model.model import Node
from irshape.model.public import Node as PublicNode
from irshape.model.public import public
from irshape.ops.context import element_count
from irshape.ops.infrastructure import Constant, ReadValueV3, ReadValueV6
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.text import counted
from irshape.shape.dim import Dim
from irshape.version import TOOL


class InfoTensor:
    """An input, an output or a state variable of a model.

    `node` is the Parameter, Result or ReadValue. `name` is the name of the layer, of an output's tensor or of the variable, `tensor_names`
    are the names of the tensor, and `layout` is OpenVINO's layout (`[N,C,H,W]`), None if there is none. `element_type`, `shape` and
    `formula` are texts: `f32`, `[?,3,8]`, `[N,3,8]`.
    """

    __slots__ = ("_node", "element_type", "formula", "layout", "name", "shape", "tensor_names")

    def __init__(self, inference: Inference, ports: Mapping[str, tuple[str, str]], node: Node, name: str = "") -> None:
        source = node.inputs[0].source if node.type == "Result" and node.inputs else None
        port = source or next(iter(node.outputs), None)
        names = port.record.names if port is not None else None
        self._node = node
        self.tensor_names = split_names(names)
        self.name = name or preferred(self.tensor_names) or (source.node.name if source is not None else node.name)
        self.layout = port.record.layout if port is not None else None
        self.element_type, self.shape, self.formula = "dynamic", "[...]", "[...]"
        if port is not None:
            self.element_type, self.shape = ports[f"{port.node.key}:{port.id}"]
            self.formula = inference.view(port.node).outputs[port.index].formula

    @property
    def node(self) -> PublicNode:
        """The Parameter, Result or ReadValue."""
        return public(self._node)

    def __repr__(self) -> str:
        return f"<{self._node.type} {self.name!r}: {self.element_type}{self.formula}>"

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/info.schema.json`."""
        return {
            "layer": self._node.key, "name": self.name, "element_type": self.element_type, "shape": self.shape,
            "formula": self.formula, "tensor_names": self.tensor_names, "layout": self.layout,
        }  # fmt: skip


class Info:
    """The description of a model.

    `document` is the file, `diagnostics` are the faults and `errors` is the number of errors. `inputs`, `outputs` and
    `state` describe the inputs, the outputs and the variables. `oldest` is the oldest release of OpenVINO that reads the model. `bodies`
    are the graphs inside layers. `layers` is the number of layers, including those of bodies. `opsets` and `operations` count layers.
    `extensions` are the layers that OpenVINO needs an extension to run, by the name of the library.
    `parameters` counts elements and bytes of the constants by element type. `ports` counts the output ports of layers without errors: all,
    dynamic, unbounded and unranked ones. `roots` are the axes that make sizes dynamic, each with the number of ports that depend on it.
    `unranked` are the layers at which the rank becomes unknown, each with the number of ports that depend on it. `batch` has the axes that
    are certainly the batch, each with the reason. `candidates` are sets of further axes; any one set may belong to the batch, too.
    `signature` has the inputs and outputs in few symbols, None for a model with errors or without open sizes.
    """

    def __init__(self, inference: Inference, new_signature: Callable[[], Signature]) -> None:
        model = inference.model
        nodes = [node for graph, _ in inference.graphs for node in graph.nodes]
        types = {fact.element_type for _, _, fact in outputs(inference)}
        self._inference = inference
        self.layers = len(nodes)
        self.opsets = counts(node.version for node in nodes)
        self.operations = counts(node.type for node in nodes)
        self.extensions = model.extensions
        extended = {node for several in self.extensions.values() for node in several}
        versions = () if inference.document.is_example else ((node.type, node.version) for node in nodes if node not in extended)
        self.oldest = oldest_release(model.ir_version, versions, types)
        ports, spoken = inference.ports, named(inference)
        self.inputs = [InfoTensor(spoken, ports, node, node.name) for node in model.parameters]
        self.outputs = [InfoTensor(spoken, ports, node) for node in model.results]
        self._guards = spoken.guards
        self.state = [
            InfoTensor(spoken, ports, node, op.variable_id)
            for node in nodes
            if isinstance(op := node.op, (ReadValueV3, ReadValueV6)) and not op.is_broken
        ]
        self.parameters = parameters(nodes)
        self.bodies = [graph for graph, _ in inference.graphs if graph.holder is not None]
        self.roots: list[Root] = roots(inference)
        self.unranked = firsts(inference, lambda fact: fact.shape is None)
        self.ports = self._ports()
        self.document = inference.document
        self.errors = sum(diagnostic.severity == ERROR for diagnostic in inference.diagnostics)
        self.batch: list[tuple[Node, int, str]] = []
        self.candidates: list[list[tuple[Node, int]]] = []
        if not self.errors and model.parameters:
            found = find_batch(engine_of(inference), inference.wanted, Inputs())
            if not found.is_whole:
                inference.report([inference.unfinished("the batch is not known, because not every axis was tried", model.parameters[0])])
            is_clear = len(found.candidates) == 1
            certain = {**found.axes, **(found.candidates[0] if is_clear else {})}
            self.batch = [(node, axis, found.reasons.get(node, BY_PROOF)) for node, axis in certain.items()]
            self.candidates = [] if is_clear else [list(axes.items()) for axes in found.candidates if axes]
        is_open = any(root.kind in ("input", "variable") for root in self.roots)
        self.signature = new_signature() if is_open and not self.errors else None

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics of the inference."""
        return self._inference.diagnostics

    @property
    def unfinished(self) -> list[Diagnostic]:
        """The notes about parts of the answer that take more than the limit `work` allows."""
        return [found for found in self.diagnostics if found.code == "N106"]

    def __repr__(self) -> str:
        ends = f"{counted(len(self.inputs), 'input')}, {counted(len(self.outputs), 'output')}"
        return f"<Info of {self.document.path or self.document.name!r}: {counted(self.layers, 'layer')}, {ends}>"

    def _repr_html_(self) -> str:
        from irshape.report.notebook import table, titled

        parts = (("input", self.inputs), ("output", self.outputs), ("variable", self.state))
        rows = [(kind, one.name, one.element_type, one.formula) for kind, tensors in parts for one in tensors]
        return titled(self.document.name, counted(self.layers, "layer"), table(("", "name", "element type", "shape"), rows))

    def _ports(self) -> dict[str, int]:
        counts = dict.fromkeys(("all", "dynamic", "unbounded", "unranked"), 0)
        for _, _, fact in outputs(self._inference):
            if fact.is_poisoned:
                continue
            counts["all"] += 1
            sizes = [size for size in fact.shape or () if isinstance(size, Dim)]
            counts["unranked"] += fact.shape is None
            counts["dynamic"] += fact.shape is None or bool(sizes)
            counts["unbounded"] += fact.shape is None or any(is_unbounded(self._inference.bounds(size)) for size in sizes)
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/info.schema.json`."""
        document = self.document
        return {
            "tool": TOOL,
            "file": document.path,
            "name": document.name,
            "ir_version": document.version,
            "errors": self.errors,
            "layers": self.layers,
            "opsets": self.opsets,
            "oldest": self.oldest.to_dict(),
            "extensions": [
                {"name": name or None, "operations": counts(node.type for node in nodes)} for name, nodes in self.extensions.items()
            ],
            "inputs": [one.to_dict() for one in self.inputs],
            "outputs": [one.to_dict() for one in self.outputs],
            "ports": self.ports,
            "roots": [
                {
                    "kind": root.kind, "layer": root.node.key, "layer_name": root.node.name, "axis": root.axis,
                    "size": self._inference.format((root.size,)).strip("[]"), "ports": root.ports, "unbounded": root.unbounded,
                }
                for root in self.roots
            ],
            "unranked": [{"layer": node.key, "layer_name": node.name, "ports": count} for node, count in self.unranked.items()],
            "operations": self.operations,
            "parameters": {name: {"elements": elements, "bytes": size} for name, (elements, size) in self.parameters.items()},
            "state": [one.to_dict() for one in self.state],
            "bodies": [{"layer": graph.holder.key, "name": graph.path, "layers": len(graph)} for graph in self.bodies if graph.holder],
            "batch": [{"layer": node.key, "layer_name": node.name, "axis": axis, "reason": reason} for node, axis, reason in self.batch],
            "batch_candidates": [
                [{"layer": node.key, "layer_name": node.name, "axis": axis} for node, axis in axes] for axes in self.candidates
            ],
            "guards": [str(guard.requirement) for guard in self._guards],
            "unfinished": [one.to_dict() for one in self.unfinished],
            "signature": None if self.signature is None else {
                "inputs": self.signature.inputs, "state": self.signature.state, "outputs": self.signature.outputs,
                "conditions": [condition.text for condition in self.signature.conditions],
            },
        }  # fmt: skip


def counts(words: Iterable[str]) -> dict[str, int]:
    """The number of times each word occurs, the most frequent first."""
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])))


def parameters(nodes: list[Node]) -> dict[str, tuple[int, int]]:
    """The elements and bytes of constants by element type; bytes that several constants share count once."""
    counted: set[tuple[int, int]] = set()
    found: dict[str, tuple[int, int]] = {}
    for node in nodes:
        op = node.op
        if isinstance(op, Constant) and not op.is_broken and (op.offset, op.size) not in counted:
            counted.add((op.offset, op.size))
            elements, size = found.get(op.element_type.name, (0, 0))
            found[op.element_type.name] = elements + (element_count(op.shape) or 0), size + op.size
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))
