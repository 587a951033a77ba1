"""The operation that ONNX and PyTorch call by another name than OpenVINO."""

from typing import Final

_NAMES: Final = {
    "Add": "sum eltwise",
    "AvgPool": "averagepool averagepooling",
    "BatchNormInference": "batchnorm batchnormalization",
    "Broadcast": "expand expandas",
    "Ceiling": "ceil",
    "Clamp": "clip hardtanh relu6",
    "Concat": "cat concatenate stack",
    "Const": "weight initializer",
    "Convert": "cast castlike to type",
    "Convolution": "conv",
    "ConvolutionBackpropData": "convtranspose convolutiontranspose deconv deconvolution",
    "DFT": "fft",
    "Divide": "div truediv",
    "FakeQuantize": "quantizelinear quantize fakequant",
    "FloorMod": "remainder",
    "Gather": "embedding indexselect",
    "GatherElements": "takealongaxis",
    "GreaterEqual": "greaterorequal ge",
    "GroupConvolution": "depthwiseconv depthwiseconvolution groupconv",
    "GroupNormalization": "groupnorm",
    "GRUSequence": "gru",
    "HSwish": "hardswish",
    "Interpolate": "resize upsample",
    "LessEqual": "lessorequal le",
    "LogicalAnd": "and",
    "LogicalNot": "not",
    "LogicalOr": "or",
    "LSTMSequence": "lstm",
    "MatMul": "addmm baddbmm bmm dense fullyconnected gemm innerproduct linear mm",
    "Maximum": "max",
    "Minimum": "min",
    "Multiply": "mul scale",
    "MVN": "instancenorm instancenormalization layernorm layernormalization",
    "Negative": "neg",
    "NormalizeL2": "lpnormalization normalize",
    "NotEqual": "ne",
    "Parameter": "input placeholder",
    "Power": "pow",
    "PRelu": "leakyrelu",
    "RandomUniform": "rand randomuniformlike",
    "ReduceMean": "globalaveragepool globalavgpool mean",
    "ReduceMax": "amax globalmaxpool",
    "ReduceMin": "amin",
    "ReduceProd": "prod",
    "Reshape": "flatten view",
    "Result": "output",
    "RNNSequence": "rnn",
    "ScatterElementsUpdate": "scatter scatterelements",
    "ScatterNDUpdate": "scatternd",
    "Select": "where",
    "ShapeOf": "shape size",
    "Subtract": "sub",
    "Swish": "silu",
    "TopK": "argmax argmin sort",
    "Transpose": "permute swapaxes",
    "VariadicSplit": "chunk splittosequence",
}
_TYPES: Final = {name: type for type, names in _NAMES.items() for name in names.split()}


def meant(word: str) -> str | None:
    """The type that a name of ONNX or PyTorch stands for, such as `Gemm`, `conv2d` or `layer_norm`; None for any other word."""
    plain = word.lower().replace("_", "")
    return _TYPES.get(plain) or _TYPES.get(plain[:-2] if plain.endswith(("1d", "2d", "3d")) else plain)
