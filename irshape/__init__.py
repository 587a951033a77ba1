"""Reads an OpenVINO IR, reports every fault in it, and infers the element type and shape of every port.

The modules that hold the names of the package are loaded when a name is asked for.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - a source tree has no installer that says so
    _NEEDED = "irshape needs Python 3.11 or newer, and this is Python {}.{}".format(*sys.version_info)
    if sys.argv[:1] == ["-m"]:  # of `python -m irshape`, until the module is found
        sys.stderr.write(_NEEDED + "\n")
        sys.exit(2)
    raise ImportError(_NEEDED)

from irshape.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from irshape.answers.cost.cost import Cost
    from irshape.answers.diff import Difference
    from irshape.answers.explain.explanation import Explanation
    from irshape.answers.info import Info
    from irshape.answers.signature.signature import Signature
    from irshape.answers.sizes import ValidSizes
    from irshape.answers.summary import Summary
    from irshape.api.inference import Inference, InferredLayer, InferredPort
    from irshape.api.verbs import check, cost, diff, explain, fix, infer, info, read, rule, signature, sizes, summary, view
    from irshape.editing.graph import Graph, edit
    from irshape.editing.layers import Body, Layer, Tensor
    from irshape.editing.state import EditError
    from irshape.editing.verbs import extract, reduce
    from irshape.inference.inputs import InputError
    from irshape.inference.run import Guard
    from irshape.model.const import Const
    from irshape.model.public import InputPort, Model, Node, OutputPort, Ports
    from irshape.ops.describe import ops
    from irshape.ops.registry import ExtensionError
    from irshape.report.diagnostic import Diagnostic, Where
    from irshape.reshaping.public import Session, reshape, simplify
    from irshape.running.comparison import compare
    from irshape.running.results import RunComparison
    from irshape.running.runner import RunningError
    from irshape.scanning.row import scan
    from irshape.shape.dim import Dim, Size
    from irshape.shape.element_type import ElementType
    from irshape.shape.limits import Limits
    from irshape.shape.range import Range
    from irshape.shape.shape import Shape
    from irshape.xml.weights import WeightsError

# The names of the package, by the module that holds them.
_HOMES = {
    "answers.cost.cost": "Cost",
    "answers.diff": "Difference",
    "answers.explain.explanation": "Explanation",
    "answers.info": "Info",
    "answers.signature.signature": "Signature",
    "answers.sizes": "ValidSizes",
    "answers.summary": "Summary",
    "api.inference": "Inference InferredLayer InferredPort",
    "api.verbs": "check cost diff explain fix infer info read rule signature sizes summary view",
    "editing.graph": "Graph edit",
    "editing.layers": "Body Layer Tensor",
    "editing.state": "EditError",
    "editing.verbs": "extract reduce",
    "inference.inputs": "InputError",
    "inference.run": "Guard",
    "model.const": "Const",
    "model.public": "InputPort Model Node OutputPort Ports",
    "ops": "ops",
    "ops.registry": "ExtensionError",
    "report.diagnostic": "Diagnostic Where",
    "reshaping.public": "Session reshape simplify",
    "running.comparison": "compare",
    "running.results": "RunComparison",
    "running.runner": "RunningError",
    "scanning.row": "scan",
    "shape.dim": "Dim Size",
    "shape.element_type": "ElementType",
    "shape.limits": "Limits",
    "shape.range": "Range",
    "shape.shape": "Shape",
    "xml.weights": "WeightsError",
}
_MODULES = {name: f"irshape.{home}" for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Body", "Const", "Cost", "Diagnostic", "Difference", "Dim", "EditError", "ElementType", "Explanation", "ExtensionError", "Graph",
    "Guard", "Inference", "InferredLayer", "InferredPort", "Info", "InputError", "InputPort", "Layer", "Limits", "Model", "Node",
    "OutputPort", "Ports", "Range", "RunComparison", "RunningError", "Session", "Shape", "Signature", "Size", "Summary", "Tensor",
    "ValidSizes", "WeightsError", "Where", "check", "compare", "cost", "diff", "edit", "explain", "extract", "fix", "infer", "info", "ops",
    "read", "reduce", "reshape", "rule", "scan", "signature", "simplify", "sizes", "summary", "view",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """A name of the package, from the module that holds it; or a module of the library itself."""
    home = f"{__name__}.{name}" if name in ("extend", "testing", "typing") else _MODULES.get(name)
    if home is None:
        from irshape.report.guesses import hint, names

        lead = hint("module", name) or ("" if name[0] == "_" else names(filter(str.islower, __all__)))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{lead}")
    import gc
    import sys

    was_collecting = gc.isenabled()
    gc.disable()  # modules are not garbage: the collector would search them again and again while they load
    try:
        __import__(home)  # a run of the command line need not load `importlib`
    finally:
        if was_collecting:
            if not gc.get_freeze_count():
                gc.freeze()  # with `unfreeze`, every object counts as old, as after the search that would come next
                gc.unfreeze()
            gc.enable()
    module = sys.modules[home]
    found = globals()[name] = getattr(module, name, module)  # `ops` is a package that can be called
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
