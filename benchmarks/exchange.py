"""The measured models as ONNX, layer by layer, for the tools that read ONNX."""

from collections.abc import Callable
from typing import Any

import onnx
import openvino
from onnx import helper, numpy_helper

# Shape inference of later opsets is the same for these operations.
_OPSET = 18
_TYPES = {"f32": onnx.TensorProto.FLOAT, "i64": onnx.TensorProto.INT64}
_RENAMED = {
    "Broadcast": "Expand",
    "Convert": "Cast",
    "Convolution": "Conv",
    "Divide": "Div",
    "Maximum": "Max",
    "Multiply": "Mul",
    "Negative": "Neg",
    "Power": "Pow",
    "ShapeOf": "Shape",
    "Subtract": "Sub",
}
# Which inputs ONNX takes, in its order; what is left out becomes an attribute.
_INPUTS = {"Gather": (0, 1), "Slice": (0, 1, 2, 4, 3), "Transpose": (0,)}


def _window(given: dict[str, Any], _: list[Any]) -> dict[str, Any]:
    return {"strides": given["strides"], "dilations": given["dilations"], "pads": [*given["pads_begin"], *given["pads_end"]]}


# Attributes out of OpenVINO's and the values of constant inputs.
_ATTRIBUTES: dict[str, Callable[[dict[str, Any], list[Any]], dict[str, Any]]] = {
    "Concat": lambda given, _: {"axis": given["axis"]},
    "Convert": lambda given, _: {"to": _TYPES[given["destination_type"]]},
    "Convolution": _window,
    "Gather": lambda _, values: {"axis": int(values[2])},
    "MaxPool": lambda given, values: {**_window(given, values), "kernel_shape": given["kernel"]},
    "ReduceMean": lambda given, _: {"keepdims": int(given["keep_dims"])},
    "Reshape": lambda given, _: {"allowzero": int(not given["special_zero"])},
    "Softmax": lambda given, _: {"axis": given["axis"]},
    "Transpose": lambda _, values: {"perm": values[1].tolist()},
}


def to_onnx(model: openvino.Model) -> onnx.ModelProto:
    """The same graph; constants become initializers, Swish and a MatMul that transposes become two nodes each."""
    nodes, initializers, inputs, outputs = [], [], [], []
    values: dict[str, Any] = {}
    for operation in model.get_ordered_ops():
        name, type = operation.get_friendly_name(), operation.get_type_name()
        sources = [port.get_source_output().get_node().get_friendly_name() for port in operation.inputs()]
        if type == "Constant":
            values[name] = operation.data
            initializers.append(numpy_helper.from_array(values[name], name))
        elif type == "Parameter":
            inputs.append(_value_info(name, operation.output(0)))
        elif type == "Result":
            outputs.append(_value_info(sources[0], operation.input(0)))
        else:
            nodes += _nodes(type, name, sources, operation.get_attributes(), [values.get(source) for source in sources])
    graph = helper.make_graph(nodes, model.get_friendly_name(), inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])


def write_onnx(ir_path: str, path: str) -> int:
    """Write an IR as ONNX and give the number of its nodes."""
    model = to_onnx(openvino.Core().read_model(ir_path))
    onnx.save(model, path)
    return len(model.graph.node)


def _nodes(type: str, name: str, sources: list[str], given: dict[str, Any], values: list[Any]) -> list[onnx.NodeProto]:
    between = f"{name}/between"
    if type == "Swish":
        return [helper.make_node("Sigmoid", sources[:1], [between]), helper.make_node("Mul", [sources[0], between], [name])]
    if type == "MatMul" and given["transpose_b"]:
        # Weights are matrices, everything else has heads.
        order = [0, 1, 3, 2] if values[1] is None else [1, 0]
        turned = helper.make_node("Transpose", [sources[1]], [between], perm=order)
        return [turned, helper.make_node("MatMul", [sources[0], between], [name])]
    taken = [sources[index] for index in _INPUTS.get(type, range(len(sources)))]
    attributes = _ATTRIBUTES[type](given, values) if type in _ATTRIBUTES else {}
    return [helper.make_node(_RENAMED.get(type, type), taken, [name], **attributes)]


def _value_info(name: str, port: Any) -> onnx.ValueInfoProto:
    sizes = [None if size.is_dynamic else size.get_length() for size in port.get_partial_shape()]
    return helper.make_tensor_value_info(name, _TYPES[port.get_element_type().get_type_name()], sizes)
