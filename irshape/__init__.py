"""Reads an OpenVINO IR, reports every fault in it, and infers the element type and shape of every port."""

from __future__ import annotations

from irshape.api import (
    ExtensionError,
    InputError,
    Limits,
    Session,
    check,
    cost,
    diff,
    explain,
    infer,
    info,
    read,
    reshape,
    signature,
    valid_sizes,
)
from irshape.inference.inference import Inference, InferredLayer, InferredPort
from irshape.inference.run import Guard
from irshape.model.model import InputPort, Model, Node, OutputPort
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.report.diagnostic import Diagnostic, Where
from irshape.shape.dim import Dim
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape
from irshape.version import __version__ as __version__
from irshape.xml.weights import WeightsError

__all__ = [
    "Context",
    "Diagnostic",
    "Dim",
    "ElementType",
    "ExtensionError",
    "Guard",
    "In",
    "Inference",
    "InferredLayer",
    "InferredPort",
    "Input",
    "InputError",
    "InputPort",
    "Limits",
    "Model",
    "Node",
    "Op",
    "Out",
    "OutputPort",
    "Session",
    "Shape",
    "WeightsError",
    "Where",
    "check",
    "cost",
    "diff",
    "explain",
    "infer",
    "info",
    "op",
    "read",
    "reshape",
    "signature",
    "valid_sizes",
]
