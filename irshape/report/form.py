"""The form of JSON data: how an answer becomes data, the schema of these data, and their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.report.catalogue import CATALOGUE
from irshape.version import TOOL


def compact(report: Mapping[str, Any]) -> str:
    """A report on one line."""
    import json

    return json.dumps(report, separators=(",", ":"))


def readable(report: Mapping[str, Any]) -> str:
    """A report with each member of its arrays and objects on a line of its own."""
    from json import dumps

    def member(value: Any) -> str:
        if isinstance(value, dict) and value:
            return "{\n" + ",\n".join(f"    {dumps(key)}: {dumps(item)}" for key, item in value.items()) + "\n  }"
        if isinstance(value, list) and value:
            return "[\n" + ",\n".join(f"    {dumps(item)}" for item in value) + "\n  ]"
        return dumps(value)

    members = ",\n".join(f"  {dumps(key)}: {member(value)}" for key, value in report.items())
    return f"{{\n{members}\n}}"


Schema: TypeAlias = dict[str, Any]
# Where a value is found: a function of the object, or the path of an attribute. "node?.key" is null without a node, "path?" if it is empty.
Get: TypeAlias = "str | Callable[[Any], Any]"

KINDS: Final[dict[str, Schema]] = {
    "text": {"type": "string"},
    "text?": {"type": ["string", "null"]},
    "texts": {"type": "array", "items": {"type": "string"}},
    "number": {"type": "integer"},
    "number?": {"type": ["integer", "null"]},
    "numbers": {"type": "object", "additionalProperties": {"type": "integer"}},
    "real?": {"type": ["number", "null"]},
    "count": {"type": "integer", "minimum": 0},
    "flag": {"type": "boolean"},
    "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    "shown": {"type": "string"},
    "names": {"type": "object", "additionalProperties": {"type": "string"}},
}
# How JSON is made of the values of some kinds.
_CONVERT: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "texts": lambda several, _: list(several),
    "shown": lambda one, _: str(one),
    "names": lambda several, _: {name: str(one) for name, one in several.items()},
}


class Field(NamedTuple):
    """A member of a form.

    `schema` is the schema of its value, and `get` finds the value: by default, the attribute with the name of the member. `convert` makes
    JSON of the value; its second argument is the answer that the object is a part of. A member that is `optional` is left out where its
    value is None.
    """

    schema: Schema
    get: Get = ""
    convert: Callable[[Any, Any], Any] | None = None
    optional: bool = False


# A field, or its kind and description, "count: the layers", if need be with the place of its value.
Said: TypeAlias = "Field | str | tuple[str, Get]"


class Form:
    """The JSON form of a kind of object: `form(one)` is its data, `form.schema` the schema of the data.

    `order` lists the members in their order in the schema, if it is not the order in the data.
    """

    def __init__(self, order: Sequence[str] = (), /, **fields: Said) -> None:
        own = {name: _field(one) for name, one in fields.items()}
        self._own = own
        self._rows = [(name, _getter(one.get or name), one.convert, one.optional) for name, one in own.items()]
        properties = {name: own[name].schema for name in order or own}
        required = [name for name in properties if not own[name].optional]
        self.schema: Final[Schema] = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def __call__(self, one: Any, whole: Any = None) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for name, get, convert, optional in self._rows:
            value = get(one)
            if not optional or value is not None:
                data[name] = value if convert is None else convert(value, one if whole is None else whole)
        return data

    def extended(self, **fields: Said) -> Form:
        return Form(**self._own, **fields)

    def one(self, about: str = "", get: Get = "", *, optional: bool = False) -> Field:
        """A member that is one object of this form."""
        return Field({**self.schema, **_about(about)}, get, self, optional)

    def maybe(self, about: str = "", get: Get = "") -> Field:
        """A member that is an object of this form, or null."""
        return Field(
            {"anyOf": [{**self.schema, **_about(about)}, {"type": "null"}]},
            get,
            lambda one, whole: None if one is None else self(one, whole),
        )

    def list(self, about: str = "", get: Get = "", *, optional: bool = False, items: Schema | None = None, least: int = 0) -> Field:
        """A member that is a list of objects of this form, of which there are at least some; `items` refers to their schema."""
        schema = {"type": "array", "items": items or self.schema, **_about(about), **({"minItems": least} if least else {})}
        return Field(schema, get, lambda several, whole: [self(one, whole) for one in several], optional)

    def named(self, about: str, get: Get = "") -> Field:
        """A member that is an object with such an object for each name."""
        schema = {"type": "object", "additionalProperties": self.schema, **_about(about)}
        return Field(schema, get, lambda several, whole: {name: self(one, whole) for name, one in several.items()})


def _about(about: str) -> Schema:
    return {"description": about} if about else {}


def _field(said: Said) -> Field:
    if isinstance(said, Field):
        return said
    kind, get = (said, "") if isinstance(said, str) else said
    kind, _, about = kind.partition(": ")
    return Field({**KINDS[kind], **_about(about)}, get, _CONVERT.get(kind))


def _getter(get: Get) -> Callable[[Any], Any]:
    if not isinstance(get, str):
        return get
    *steps, last = get.split("?")

    def found(one: Any) -> Any:
        for step in steps:
            one = attrgetter(step.strip("."))(one)
            if not one:
                return None
        return attrgetter(last.strip("."))(one) if last else one

    return found if steps else attrgetter(get)


def described(about: str, said: Said) -> Field:
    """The same member with its description as the first keyword of the schema."""
    field = _field(said)
    return field._replace(schema={"description": about, **field.schema})


def word(*words: str) -> Field:
    """A member that is one of some words."""
    return Field({"enum": [*words]})


# The place of a member of a tuple, by its index.
item: Final = itemgetter
KEY: Final = "text: the layer's id in the file, after the ids and bodies of the enclosing layers: 2.body/5"
NAME: Final = "text: the layer's name in the file"
TYPE: Final = "text: the layer's type in the file"
BODIES: Final = "text?: the bodies around the layer, outermost first"
FILE: Final = "text?: the path as it was given; null for bytes and trees"
_LAYER: Final = Form(
    id="text?: the layer's id in the file",
    name="text?: the layer's name in the file",
    type="text?: the layer's type in the file",
    path=BODIES,
)
LAYER_OR_NULL: Final = _LAYER.maybe().schema
# The place of an object in the file, from its attribute `where`.
PLACE: Final[dict[str, Said]] = {
    "layer": Field(LAYER_OR_NULL, "where?.layer"),
    "line": ("number?: counted from 1", "where?.line"),
    "column": ("number?: counted from 1, in characters", "where?.column"),
    "offset": ("number?: counted from 0, in bytes", "where?.offset"),
}
_TOOL: Final = Form(name=Field({"const": "irshape"}), version="text").schema
TOOL_FIELD: Final = Field({"type": "object", "description": "what wrote the report", **_TOOL}, lambda _: TOOL)
_EDITS: Final = Form(
    start="number: the first byte that is replaced, counted from 0",
    end="number: the first byte after the replaced ones",
    text="text: the replacement",
    line="number: the place of start, counted from 1",
    column="number: counted from 1, in characters",
    end_line="number: the place of end",
    end_column="number",
).list(least=1)
_FIX: Final = Form(
    title="text: the change in a few words",
    is_safe="flag: whether check --fix applies it",
    edits=_EDITS,
    evidence=Field({"type": "string", "description": "why a safe fix is safe"}, lambda fix: fix.evidence or None, optional=True),
)
_CAUSE: Final = Form(code="text", line=PLACE["line"], column=PLACE["column"], offset=PLACE["offset"])
DIAGNOSTIC: Final = Form(
    code=Field({"enum": sorted(CATALOGUE), "description": "the kind of the fault, as docs/diagnostics.md explains it"}),
    severity=word("error", "warning", "note"),
    message="text",
    file=("text?: the path as it was given", "where.file"),
    layer=PLACE["layer"],
    port=("text?: the port's id in the file", "where.port"),
    line=PLACE["line"],
    column=PLACE["column"],
    offset=PLACE["offset"],
    hint="text?: a suggested remedy",
    fix=_FIX.maybe("edits of the file that mend the fault"),
    caused_by=_CAUSE.maybe("the diagnostic of the report from which this one follows", "caused_by"),
)


def diagnostics(about: str = "", get: Get = "", *, optional: bool = False) -> Field:
    """A member that is a list of diagnostics."""
    return DIAGNOSTIC.list(about, get, optional=optional, items={"$ref": "#/$defs/diagnostic"})
