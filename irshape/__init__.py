"""Reads an OpenVINO IR, reports every fault in it, and infers the element type and shape of every port.

The modules that hold the names of the package are loaded when a name is asked for.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - a source tree has no installer that says so
    raise ImportError("irshape needs Python 3.11 or newer, and this is Python {}.{}".format(*sys.version_info))

from irshape.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from irshape.api import check, cost, diff, explain, infer, info, read, reshape, signature, valid_sizes
    from irshape.inference.inference import Inference, InferredLayer, InferredPort
    from irshape.inference.inputs import InputError
    from irshape.inference.run import Guard
    from irshape.inference.session import Session
    from irshape.model.model import InputPort, Model, Node, OutputPort
    from irshape.ops.context import Context
    from irshape.ops.op import In, Input, Op, Out
    from irshape.ops.registry import ExtensionError, op
    from irshape.report.diagnostic import Diagnostic, Where
    from irshape.shape.dim import Dim
    from irshape.shape.element_type import ElementType
    from irshape.shape.limits import Limits
    from irshape.shape.shape import Shape
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

# The module of each name that is not of `irshape.api`.
_HOMES = {
    "Context": "ops.context",
    "Diagnostic": "report.diagnostic",
    "Dim": "shape.dim",
    "ElementType": "shape.element_type",
    "ExtensionError": "ops.registry",
    "Guard": "inference.run",
    "In": "ops.port",
    "Inference": "inference.inference",
    "InferredLayer": "inference.inference",
    "InferredPort": "inference.inference",
    "Input": "ops.port",
    "InputError": "inference.inputs",
    "InputPort": "model.model",
    "Limits": "shape.limits",
    "Model": "model.model",
    "Node": "model.model",
    "Op": "ops.op",
    "Out": "ops.port",
    "OutputPort": "model.model",
    "Session": "inference.session",
    "Shape": "shape.shape",
    "WeightsError": "xml.weights",
    "Where": "report.diagnostic",
    "op": "ops.registry",
}


def __getattr__(name: str) -> object:
    """A name of the package, from the module that holds it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sys

    home = f"irshape.{_HOMES.get(name, 'api')}"
    __import__(home)  # a run of the command line need not load `importlib`
    found = globals()[name] = getattr(sys.modules[home], name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
