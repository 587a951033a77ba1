"""Reads an OpenVINO IR, reports every fault in it, and infers the element type and shape of every port."""

from __future__ import annotations

from irshape.api import InputError, Limits, Session, check, diff, explain, infer, info, read, reshape, valid_sizes
from irshape.inference.inference import Inference
from irshape.model.model import Model, Node
from irshape.report.diagnostic import Diagnostic
from irshape.shape.element_type import ElementType

__version__ = "0.1.0"
__all__ = [
    "Diagnostic",
    "ElementType",
    "Inference",
    "InputError",
    "Limits",
    "Model",
    "Node",
    "Session",
    "check",
    "diff",
    "explain",
    "infer",
    "info",
    "read",
    "reshape",
    "valid_sizes",
]
