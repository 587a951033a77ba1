"""Descriptions of an operation without a model: versions, ports, attributes and the page of its specification."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, get_args, get_origin, overload

from irshape.ops.attribute import Attribute, Ge, OneOf, ReadBy
from irshape.ops.extensions import Extensions, load_plugins, registry_of
from irshape.ops.op import EXTENSION, In, OpClass, Out
from irshape.ops.registry import REGISTRY, Registry, opset
from irshape.report.surface import knowing
from irshape.shape.element_type import ANY, BOOLEAN, FLOAT, INDEX, INTEGER, NUMERIC, ElementType

_PAGES: Final = "https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs"
_WORD_STARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Types that their page takes for one word, and types whose page has another name than their words.
_ONE_WORD: Final = frozenset({
    "Col2Im", "CumSum", "DetectionOutput", "ErfInv", "FloorMod", "HSigmoid", "HSwish", "IsFinite", "IsInf", "IsNaN", "LessEqual", "MatMul",
    "NonZero", "NotEqual", "PRelu", "SoftPlus", "SoftSign",
})  # fmt: skip
_PAGE_NAMES: Final = {
    "BGRtoNV12": "bgr-to-nv12",
    "ExperimentalDetectronTopKROIs": "experimental-detectron-top-krois",
    "GroupedMatMul": "grouped-matmul",
    "I420toBGR": "i420-to-bgr",
    "I420toRGB": "i420-to-rgb",
    "LogSoftmax": "log-soft-max",
    "MatrixNms": "matrix-non-max-suppression",
    "MulticlassNms": "multiclass-non-max-suppression",
    "NV12toBGR": "nv12-to-bgr",
    "NV12toRGB": "nv12-to-rgb",
    "RGBtoNV12": "rgb-to-nv12",
    "SparseFillEmptyRows": "fill-empty-rows",
    "Xor": "logical-xor",
}
# Versions whose page has an irregular number or name, or that share the page of another version.
_PAGES_OF_VERSIONS: Final = {
    "Acosh-4": "arithmetic/acosh-3",
    "Asinh-4": "arithmetic/asinh-3",
    "Atanh-4": "arithmetic/atanh-3",
    "If-8": "condition/if-8",
    "LSTMCell-4": "sequence/lstm-cell-1",
    "MVN-2": "normalization/mvn-1",
    "NonMaxSuppression-5": "sort/no-max-suppression-5",
    "RNNCell-1": "sequence/rnn-cell-3",
    "ROIPooling-2": "detection/roi-pooling-1",
    "ReorgYolo-2": "detection/reorg-yolo-1",
    "ScaledDotProductAttention-13": "sequence/scaled-dot-product-attention",
    "ScatterNDUpdate-4": "movement/scatter-nd-update-3",
}
_SETS: Final = {ANY: "any", NUMERIC: "any number", INTEGER: "any integer", FLOAT: "any float", BOOLEAN: "boolean", INDEX: "i32 or i64"}


def category(op: OpClass) -> str:
    """The category OpenVINO files the operation under, the folder of its module; `extension` for an operation that is not irshape's own."""
    return op.__module__.split(".")[2] if op.is_own else EXTENSION


def page(op: OpClass) -> str | None:
    """The address of a version's specification; None for an operation that no opset holds."""
    number = opset(op.VERSION)
    if number is None:
        return None
    version = f"{op.TYPE}-{number}"
    name = _PAGE_NAMES.get(op.TYPE) or (op.TYPE if op.TYPE in _ONE_WORD else "-".join(_WORD_STARTS.split(op.TYPE))).lower()
    return f"{_PAGES}/{_PAGES_OF_VERSIONS.get(version, f'{category(op)}/{name}-{number}')}.html"


def summary(op: OpClass) -> str:
    """The first line of the operation's docstring."""
    return (op.__doc__ or "").strip().partition("\n")[0]


def counting_rule(op: OpClass) -> str | None:
    """What `irshape cost` counts for a layer, in words; None for an operation without a counting rule."""
    return None if op.cost is None else " ".join((op.cost.__doc__ or "").split())


def element_types(types: frozenset[ElementType]) -> str:
    """The element types a port takes, by the name of the set where it has one."""
    return _SETS.get(types) or " or ".join(sorted(one.name for one in types if one is not ElementType.dynamic))


def versions(type: str, registry: Registry = REGISTRY) -> list[tuple[list[str], OpClass]]:
    """The classes of a type in the order of their opsets, each with the versions that stand for it."""
    classes: dict[OpClass, list[str]] = {}
    for version, op in registry.versions(type).items():
        classes.setdefault(op, []).append(version)
    return [(names, op) for op, names in classes.items()]


def version_ranges(names: list[str]) -> str:
    """Versions as text, consecutive opsets as a range: `opset2-opset16`."""
    runs: list[list[str]] = []
    for name in names:
        number, last = opset(name), opset(runs[-1][-1]) if runs else None
        if number is not None and last is not None and number == last + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def attribute_type(annotation: Any) -> str:
    """The values that an attribute with an annotation takes, as text: `int >= 1`, `max | min`, `list of int`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        if any(type(mark) is ReadBy for mark in arguments[1:]) and get_origin(arguments[0]) is not None:
            return "text"
        named = next((mark.types for mark in arguments[1:] if type(mark) is OneOf), None)
        if named:
            return " | ".join(one.name for one in named)
        limits = [f" >= {mark.limit}" for mark in arguments[1:] if type(mark) is Ge]
        return attribute_type(arguments[0]) + "".join(limits)
    if origin is Literal:
        return " | ".join([word or "''" for word in arguments])
    if origin is tuple:
        item = attribute_type(arguments[0])
        return f"list of ({item})" if " | " in item else f"list of {item}"
    return {ElementType: "element type", str: "text", bool: "boolean"}.get(annotation) or annotation.__name__


def plain(value: Any) -> Any:
    """An attribute's value as JSON has it: element types by name, tuples as lists."""
    if isinstance(value, ElementType):
        return value.name
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def describe(type: str, registry: Registry = REGISTRY) -> dict[str, Any] | None:
    """An operation as JSON: its category and, for each class, versions, ports, attributes and page; None if it is unknown."""
    found = versions(type, registry)
    if not found:
        return None
    return {"type": found[-1][1].TYPE, "category": category(found[-1][1]), "versions": [_describe_class(*one) for one in found]}


@overload
def ops(type: str, *, extensions: Extensions = ()) -> dict[str, Any]: ...
@overload
def ops(type: None = None, *, extensions: Extensions = ()) -> list[dict[str, Any]]: ...
@knowing
def ops(type: str | None = None, *, extensions: Extensions = ()) -> dict[str, Any] | list[dict[str, Any]]:
    """An operation as data: versions, ports, attributes, defaults and the page of the specification; all operations without a `type`.

    Raises `KeyError` for an operation that does not exist, and `ExtensionError`.
    """
    registry = registry_of(extensions)
    load_plugins()
    if type is None:
        return [one for name in registry.types() if (one := describe(name, registry)) is not None]
    if (found := describe(type, registry)) is None:
        raise KeyError(f"there is no operation {type!r}; irshape.ops() lists them")
    return found


def _describe_class(names: list[str], op: OpClass) -> dict[str, Any]:
    return {
        "versions": names,
        "class": op.__name__,
        "summary": summary(op),
        "page": page(op),
        "extension": op.EXTENSION or None,
        "inputs": [_describe_input(port) for port in op.inputs],
        "outputs": [_describe_output(op, port) for port in op.outputs],
        "attributes": [_describe_attribute(attribute) for attribute in op.attributes.values()],
        "propagates_values": op.propagate is not None,
        "cost": counting_rule(op),
    }


def _describe_input(port: In) -> dict[str, Any]:
    return {
        "name": port.name,
        "types": element_types(port.types),
        "like": port.like,
        "rank": port.rank,
        "min_rank": port.min_rank,
        "reads_value": port.value,
        "optional": port.optional,
        "along": port.along,
        "variadic": port.variadic,
    }


def _describe_output(op: OpClass, port: Out) -> dict[str, Any]:
    return {
        "name": port.name,
        "type": port.type.name if port.type else None,
        "like": port.like,
        "attribute": port.attribute and op.attributes[port.attribute].spelling,
        "rank": port.rank,
        "variadic": port.variadic,
    }


def _describe_attribute(attribute: Attribute) -> dict[str, Any]:
    return {
        "name": attribute.spelling,
        "type": attribute_type(attribute.annotation),
        "required": attribute.required or attribute.stated,
        "default": None if attribute.required else plain(attribute.default),
    }
