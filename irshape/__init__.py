"""Reads an OpenVINO IR, reports every fault in it, and infers the element type and shape of every port."""

from __future__ import annotations

from irshape.api import InputError, Limits, Session, check, diff, explain, infer, info, read, reshape, signature, valid_sizes
from irshape.inference.inference import Inference, InferredLayer, InferredPort
from irshape.inference.run import Guard
from irshape.model.model import InputPort, Model, Node, OutputPort
from irshape.report.diagnostic import Diagnostic, Where
from irshape.shape.dim import Dim
from irshape.shape.element_type import ElementType
from irshape.version import __version__ as __version__
from irshape.xml.weights import WeightsError

__all__ = [
    "Diagnostic",
    "Dim",
    "ElementType",
    "Guard",
    "Inference",
    "InferredLayer",
    "InferredPort",
    "InputError",
    "InputPort",
    "Limits",
    "Model",
    "Node",
    "OutputPort",
    "Session",
    "WeightsError",
    "Where",
    "check",
    "diff",
    "explain",
    "infer",
    "info",
    "read",
    "reshape",
    "signature",
    "valid_sizes",
]
