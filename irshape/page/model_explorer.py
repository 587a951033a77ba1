"""The graphs of a model in the form of Model Explorer: nodes with namespaces, and the inferred element type and shape of each output.

The form is that of the files with the suffix `.json` that Model Explorer opens, and of `graph_builder` in its package.
"""

from __future__ import annotations

from typing import Any

from irshape.answers.hierarchy import Hierarchy
from irshape.inference.inference import Inference
from irshape.model.finding import end_name
from irshape.model.model import Model, Node, grouped
from irshape.page.data import ends_of_bodies, open_signature, quoted
from irshape.report.diagnostic import escape


def graphs(inference: Inference) -> list[dict[str, Any]]:
    """The graph of the model and those of its bodies, with formulas in the symbols of the signature.

    Layers that depend on constants alone are inputs of their readers.
    """
    found = _Graphs(inference)
    return [{"id": _id(graph), "nodes": [found.node(node) for node in graph if node not in found.hidden]} for graph, _ in inference.graphs]


class _Graphs:
    """Makes the nodes of the graphs of one inference. `formal` gives the formulas, in the symbols of the signature."""

    def __init__(self, inference: Inference) -> None:
        signature = open_signature(inference)
        self.inference = inference
        self.formal = inference if signature is None else signature._inference
        self.faults = grouped(((one.where.path, one.where.layer_id), f"{one.code} {escape(one.message)}") for one in inference.diagnostics)
        nodes = (node for graph in inference.model.graphs() for node in graph.nodes)
        self.hierarchy = Hierarchy(inference.model, [one for one in nodes if (one.model.path, str(one.id)) in self.faults])
        self.hidden = self.hierarchy.hidden
        self.ends = ends_of_bodies(self.hierarchy.position)

    def node(self, node: Node) -> dict[str, Any]:
        """A layer with its attributes, edges, and the facts of its outputs."""
        path = self.hierarchy.path(node)[1 if node.model.holder is not None else 0 :]
        attributes = {"name": node.name, "version": node.version, **node.layer.signature.attributes}
        edges = []
        for index, port in enumerate(node.inputs):
            source = port.source
            if source is None:
                continue
            if source.node in self.hidden:
                view = self.inference.view(source.node).outputs[source.index]
                attributes[f"input {port.name}"] = f"{source.node.type} {view!r}"
            else:
                ends = {"sourceNodeId": source.node.key, "sourceNodeOutputId": str(source.index), "targetNodeInputId": str(index)}
                edges.append(ends)
        attributes.update(self._outside(node))
        if faults := self.faults.get((node.model.path, str(node.id))):
            attributes["faults"] = "\n".join(faults)
        return {
            "id": node.key,
            "label": quoted(f"{node.type} {end_name(node)}" if node.type in ("Parameter", "Result") else node.type),
            "namespace": "/".join(part.replace("/", ".") for part in map(quoted, path)),
            "subgraphIds": [_id(body) for body in node.bodies.values()],
            "attrs": [_pair(name, value) for name, value in attributes.items()],
            "incomingEdges": edges,
            # Model Explorer writes this name beside the number of an input.
            "inputsMetadata": [{"id": str(index), "attrs": [_pair("__tensor_tag", port.name)]} for index, port in enumerate(node.inputs)],
            "outputsMetadata": [
                {"id": str(index), "attrs": [_pair("shape", repr(view)), _pair("formula", formal.formula), _pair("port", str(view.id))]}
                for index, (view, formal) in enumerate(zip(self.inference.view(node).outputs, self.formal.view(node).outputs, strict=True))
            ],
        }

    def _outside(self, node: Node) -> dict[str, str]:
        """What a Parameter of a body takes and a Result gives outside of the body, and what one iteration hands to the next."""
        position, nodes = self.hierarchy.position[node], self.hierarchy.nodes
        found = {}
        for kind in ("takes", "gives"):
            if end := self.ends[kind].get(position):
                found[kind] = f"{nodes[end[0]].type} {nodes[end[0]].name} {end[2]}".strip()
        for result, parameter in self.ends["back"]:
            if position in (result, parameter):
                found["next iteration"] = f"{nodes[result].name} becomes {nodes[parameter].name}"
        return found


def _pair(name: str, value: str) -> dict[str, str]:
    return {"key": quoted(name), "value": quoted(value)}


def _id(model: Model) -> str:
    return quoted(f"{model.path}" if model.holder is not None else model.name or "model")
