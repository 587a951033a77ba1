"""Names that people try and the package, its functions and its objects do not have, and what stands for each."""

from __future__ import annotations

from typing import Final

_PORT: Final = {
    "its element_type": "dtype get_element_type",
    "its rank": "ndim dim",
    "its shape": "dims get_shape partial_shape get_partial_shape",
    "its number of elements: size": "numel",
}
# By the class, the module or its arguments: what stands for a name, and the names for which it stands.
_HINTS: Final[dict[str, dict[str, str]]] = {
    "module": {
        "irshape.read(PATH) reads a model": "load open read_model load_model",
        "what infer, reshape and edit return has write(PATH)": "save save_model serialize write export",
        "irshape.check(PATH) finds the faults": "validate verify lint",
        "irshape.infer(PATH) infers the shapes": "shapes infer_shape infer_shapes",
        "irshape.reshape(PATH, inputs) gives inputs other shapes": "resize",
        "irshape.sizes(PATH) finds the sizes that are valid": "valid_sizes",
        "irshape.compare(a, b) runs two models": "run",
    },
    "argument": {
        "the argument is inputs": "shapes shape input input_shapes",
        "the argument is symbols": "set symbol sizes",
        "irshape.compare(a, b) runs two models": "run prove",
        "irshape.sizes(PATH).nearest(H=500) finds sizes that are valid": "near",
    },
    "Model": {
        "its layers are its nodes: model.nodes": "layers ops operations get_ops get_ordered_ops",
        "its name: model.name": "friendly_name get_friendly_name",
        "irshape.edit(model) gives a graph that changes": "graph",
        'its inputs: model.inputs[0], model.inputs["x"]': "input get_parameters",
        "its outputs: model.outputs[0]": "output get_results",
        "it is a function of the module: irshape.reshape(model)": "reshape",
        "it is a function of the module: irshape.summary(model)": "summary",
        "irshape.edit(model) gives a graph, a copy that changes": "copy",
        "a model does not change; irshape.edit(model) and irshape.reshape(model) return what has write(PATH)": "save write",
    },
    "_End": {"an inference has it: irshape.infer(model)[port]": f"shape rank element_type text size {' '.join(_PORT.values())}"},
    "InferredPort": {
        **_PORT,
        "its port has them: port.port.names": "names",
        "is_static says whether its shape has numbers only": "is_dynamic",
        "size * element_type.bits // 8 are its bytes": "nbytes",
    },
    "Inference": {
        "iterate over it: list(inference)": "layers",
        "inference.guards has the conditions on the sizes": "conditions",
        "inference.diagnostics has all faults, each with its severity": "warnings",
        "irshape.{name}(inference.model) gives it": "signature summary",
        "irshape.signature(inference.model).symbols has them": "symbols",
        "its ports have them: [port.shape for port in inference.outputs]": "shapes shape",
        "irshape.edit(inference.model) gives a graph that changes": "graph",
        "write(PATH) writes the file": "save serialize",
        "write(PATH) makes a file that openvino.Core().read_model reads": "to_openvino",
        "json.dumps(inference.to_dict()) makes it": "to_json",
        "inference.ok tells": "is_valid valid",
        "a port tells: inference.inputs[0].is_static": "is_dynamic is_static",
        "if not inference.ok, inference.errors has the errors": "raise_for_errors",
        "inference[NAME] finds a layer": "get",
        "its outputs: inference.outputs[0]": "output",
        "its inputs: inference.inputs[0]": "input",
        "inference.to_dict() has them, by this name": "mends choices kept unproven",
        'inference.to_dict()["mends"] has them': "changes",
    },
    "Exporting": {"pandas.DataFrame(it.to_records()) makes it": "to_pandas to_dataframe table"},
    "Const": {"its elements: const.data": "value numpy"},
    "Graph": {
        "graph.result(TENSOR) makes an output": "add_output",
        "irshape.infer(graph.model()) infers the shapes": "infer shapes",
        "irshape.{name}(graph.model()) gives it": "summary cost signature info sizes",
        "irshape.edit(graph.model()) gives another graph": "copy",
        "write(PATH) makes a file that openvino.Core().read_model reads": "to_openvino",
    },
    "Extraction": {"it is the graph itself: part.write(PATH)": "graph"},
    "Layers": {
        'iterate over it: [layer for layer in graph if layer.type == "ReLU"]': "layers nodes of_type by_type find",
        "graph[NAME] finds a layer, and NAME in graph says whether there is one": "get",
        "write(PATH) writes the file": "save serialize",
        "a layer has it: graph[NAME].remove()": "remove delete",
        "a layer has it: graph[NAME].rename(NEW)": "rename",
        "layer.output.replace_uses(TENSOR) leads its readers to another tensor": "replace",
        "graph.op makes a layer, and layer.output.replace_uses(TENSOR) leads readers to it": "insert insert_after",
        "there is none: make the change again": "redo",
        "its inputs: graph.inputs[0]": "input",
    },
    "Layer": {
        "layer.output.replace_uses(TENSOR), then layer.remove()": "replace replace_with",
        "its attributes: layer.attributes": "attrs",
        "layer.set(NAME=VALUE) changes attributes": "set_attribute",
        "its inputs: layer.inputs[0]": "input",
        "layer.remove() removes it, layer.bypass() leads its input to its readers": "delete",
        "graph.op makes a layer, and layer.output.replace_uses(TENSOR) leads readers to it": "insert_after",
        "its type: layer.type": "op",
        "its output has it: layer.output.{name}": "shape element_type names readers",
    },
    "Tensor": {**_PORT, "its readers": "consumers", "replace_uses(TENSOR)": "replace"},
    "Difference": {
        "is_same says whether both are the same model": "equal is_equal",
        "difference.changes has them, each with its kind": "added removed changed",
    },
    "Cost": {
        "its parameters, and parameter_bytes": "params weights",
        "cost.flops and cost.macs are numbers or formulas: cost.at(cost.flops) / 1e9": "gflops gmacs",
        'pandas.DataFrame(cost.to_records()).groupby("type")["macs"].sum() has it': "by_type",
        "its peak_memory": "memory",
        "at(cost.macs, H=320) gives the number of an amount for these sizes": "evaluate",
        "pandas.DataFrame(cost.to_records()) makes it": "to_pandas to_dataframe table",
        "its macs, operations, parameters and traffic are those of the whole model": "total",
    },
    "ValidSizes": {
        "admits(H=224) says whether sizes are valid": "valid is_valid",
        "sample has one set of them, nearest(H=500) the nearest ones": "enumerate examples smallest",
    },
    "Signature": {"assign(B=1, ...) gives the shapes for sizes": "solve"},
}


def hint(owner: str, name: str) -> str:
    """What stands for a name that an owner does not have, behind a semicolon; empty if nobody tries this name."""
    found = (text.replace("{name}", name) for text, names in _HINTS.get(owner, {}).items() if name in names.split())
    return next((f"; {text}" for text in found), "")
