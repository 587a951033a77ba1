"""JSON Schemas of the operations' attributes; the declarations become pydantic models on demand."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from irshape.ops.attribute import Attribute, Ge, OneOf, ReadBy
from irshape.ops.describe import page, plain, summary, versions
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY
from irshape.shape.element_type import ElementType

if TYPE_CHECKING:
    from pydantic import BaseModel


def attribute_model(op: OpClass) -> "type[BaseModel]":
    """The attributes of a version as a pydantic model that takes their XML names and nothing else."""
    from pydantic import ConfigDict, Field, create_model

    fields: dict[str, Any] = {}
    for attribute in op.attributes.values():
        default = ... if attribute.required else plain(attribute.default)
        if _is_text(attribute) and default is not ...:
            default = ""
        # Pydantic reserves some names (`model_…`, a leading underscore); an alias may be any.
        fields[f"a_{attribute.name}"] = (_annotation(attribute.annotation), Field(default, alias=attribute.spelling))
    return create_model(op.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def operations_schema() -> dict[str, Any]:
    """The schema of `{"type", "version", "attributes"}` for every version of every operation."""
    definitions: dict[str, Any] = {}
    for type in REGISTRY.types():
        for names, op in versions(type):
            definitions[f"{op.TYPE}-{op.VERSION}"] = _definition(op, names)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An operation of an OpenVINO IR with its attributes",
        "type": "object",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in definitions],
        "$defs": definitions,
    }


def _definition(op: OpClass, names: list[str]) -> dict[str, Any]:
    attributes = attribute_model(op).model_json_schema()
    for schema in attributes.get("properties", {}).values():
        schema.pop("title", None)
    attributes.pop("title", None)
    definition: dict[str, Any] = {
        "description": summary(op),
        "type": "object",
        "properties": {"type": {"const": op.TYPE}, "version": {"enum": names}, "attributes": attributes},
        "required": ["type", "version", "attributes"],
        "additionalProperties": False,
    }
    address = page(op)
    return definition if address is None else {"$comment": address, **definition}


def _is_text(attribute: Attribute) -> bool:
    """Whether the attribute's text has its own form, which stays text in JSON."""
    return _annotation(attribute.annotation) is str and not isinstance(attribute.default, str)


def _annotation(annotation: Any) -> Any:
    """An annotation as pydantic understands it."""
    from pydantic import Field

    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        if any(type(mark) is ReadBy for mark in arguments[1:]) and get_origin(arguments[0]) is not None:
            return str
        named = next((mark.types for mark in arguments[1:] if type(mark) is OneOf), None)
        if named:
            return Literal[tuple(one.name for one in named)]
        inner = _annotation(arguments[0])
        limits = [mark.limit for mark in arguments[1:] if type(mark) is Ge]
        if not limits:
            return inner
        field = Field(ge=max(limits))
        if get_origin(inner) is not tuple:
            return Annotated[inner, field]
        item: Any = Annotated[get_args(inner)[0], field]
        return tuple[item, ...]
    if origin is tuple:
        items: Any = _annotation(arguments[0])
        return tuple[items, ...]
    if origin is Literal:
        return Literal[arguments]
    if annotation is ElementType:
        return Literal[tuple(ElementType.BY_NAME)]
    return annotation
