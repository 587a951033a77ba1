"""The JSON forms of an inference: the report of a file, and the guards and patches in it."""

from __future__ import annotations

from typing import Any, Final

from irshape.report.form import BODIES, FILE, KEY, NAME, TOOL_FIELD, Field, Form, described, diagnostics, item

GUARD: Final = Form(
    condition=("shown: a relation of the symbols", "requirement"),
    message=("text: why the layer demands it", "requirement.message"),
    layer=("text: the layer's id in the file", "_node.key"),
    layer_name=(NAME, "_node.name"),
    path=(BODIES, "path?"),
    line="number: counted from 1",
    is_premise="flag: whether only the formulas assume it: OpenVINO accepts other sizes",
    branch=("text?: the body that demands the condition, if this body need not run: then_body of If_3", "branch?"),
)
_ELEMENT: Final = Form(
    index=described("its position in row-major order", ("count", item(0))),
    **{"was": ("number", lambda element: element[1][0]), "is": ("number", lambda element: element[1][1])},
)
_PATCH: Final = Form(
    layer=(KEY, "key"),
    layer_name=(NAME, "name"),
    line="number: counted from 1",
    elements=_ELEMENT.list(get=lambda patch: patch.elements.items(), least=1),
)
_SUBSTITUTION: Final = Form(
    **{"was": ("number", lambda one: one[0][0]), "is": ("number", lambda one: one[0][1])},
    constants=described("the number of constants in which `is` replaces `was`", ("count", item(1))),
)
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


def _substitutions(inference: Any) -> Any:
    from irshape.inference.patch import replaced

    return inference.patches and replaced(inference.patches).items()


def _layers(inference: Any) -> dict[str, dict[str, str]]:
    return {
        node.key: {"name": node.name, "type": node.type, "version": node.version} for model, _ in inference.graphs for node in model.nodes
    }


REPORT: Final = Form(
    tool=TOOL_FIELD,
    file=(FILE, "document.path"),
    ok="flag: no diagnostic is an error",
    diagnostics=diagnostics(),
    mended=described("the faults that check --fix has mended", diagnostics(optional=True)),
    substitutions=_SUBSTITUTION.list("the values that patches replace", _substitutions, optional=True),
    patches=_PATCH.list("the constants with new elements, by reshape --patch-constants", optional=True),
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
