"""The JSON forms of an inference: the report of a file, and the guards and changes in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from irshape.report.form import BODIES, FILE, KEY, NAME, TOOL_FIELD, Field, Form, Said, described, diagnostics, word

GUARD: Final = Form(
    condition=("shown: a relation of the symbols", "requirement"),
    message=("text: why the layer demands it", "requirement.message"),
    layer=("text: the layer's id in the file", "_node.key"),
    layer_name=(NAME, "_node.name"),
    path=(BODIES, "_node.model.path?"),
    line=("number: counted from 1", "_node.line"),
    is_premise="flag: whether only the formulas assume it: OpenVINO accepts other sizes",
    branch=("text?: the body that demands the condition, if this body need not run: then_body of If_3", "branch?"),
)
_SPOT: Final[dict[str, Said]] = {
    "layer": (KEY, lambda one: one.where.layer_id),
    "layer_name": (NAME, lambda one: one.where.layer_name),
    "type": ("text", lambda one: one.where.layer_type),
    "line": ("number?: counted from 1; null for a new layer", lambda one: one.where.line),
}
_MEND: Final = Form(
    **_SPOT,
    port="text: what was changed",
    was="text",
    now="text",
    kind=word("forced", "generated", "first", "chosen"),
    why=("text?: why the change fits, if it is not forced", lambda mend: mend.why or None),
)
_DOUBT: Final = Form(**_SPOT, what="text: a sentence")
_SHAPE: Final = r"^\[(\.\.\.|(\?|\d+|\d*\.\.\d*)(,(\?|\d+|\d*\.\.\d*))*)?\]$"
_PORT: Final = {
    "type": "array",
    "prefixItems": [{"type": "string", "description": "the element type: f32"}, {"type": "string", "pattern": _SHAPE}],
    "items": False,
    "minItems": 2,
}
# The formulas and guards in the symbols of the signature.
NAMED: Final = Form(
    symbolic=described("the shapes with formulas, for each port with a size that is not a plain number", ("names", "formulas")),
    guards=described("the conditions on the symbols", GUARD.list()),
)
_LAYER: Final = Form(name=NAME, type="text", version="text")


def _rewriting(name: str) -> Callable[[Any], Any]:
    """The place of what a reshape that rewrites the model has done or leaves open."""
    return lambda inference: None if inference.rewriting is None else getattr(inference.rewriting, name)


def _layers(inference: Any) -> dict[str, dict[str, str]]:
    nodes = (node for model, _ in inference.graphs for node in model.nodes)
    return {node.key: {"name": node.name, "type": node.type, "version": node.version} for node in nodes}


REPORT: Final = Form(
    tool=TOOL_FIELD,
    file=(FILE, "document.path"),
    ok="flag: no diagnostic is an error",
    diagnostics=diagnostics(),
    mended=described("the faults that check --fix has mended", diagnostics(get=lambda _: None, optional=True)),
    mends=_MEND.list("the changes that reshape --rewrite has made, or would make", _rewriting("mends"), optional=True),
    choices=_DOUBT.list("the layers for which another formula fits as well", _rewriting("choices"), optional=True),
    kept=_DOUBT.list("the numbers that stay although the size that they belong to is open", _rewriting("kept"), optional=True),
    unproven=_DOUBT.list("the layers that may not keep the batch", _rewriting("unproven"), optional=True),
    ports=described(
        "element type and shape of every output port, by LAYER:PORT with the ids in the file",
        Field(
            {"type": "object", "additionalProperties": _PORT}, convert=lambda ports, _: {key: list(facts) for key, facts in ports.items()}
        ),
    ),
    symbolic=Field(NAMED.schema["properties"]["symbolic"], "formulas"),
    guards=described("the conditions on the symbols", GUARD.list()),
    named=described(
        "the same in the symbols of the signature, where open sizes have no names", NAMED.one(get=lambda _: None, optional=True)
    ),
    layers=described(
        "the layers, by the keys that ports begin with", Field({"type": "object", "additionalProperties": _LAYER.schema}, _layers)
    ),
)
