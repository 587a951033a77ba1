"""The JSON Schema of a configuration, for editors."""

from typing import Any

from irshape.settings.schema import Configuration


def configuration_schema() -> dict[str, Any]:
    """The schema: that of the model, without the titles that it makes of names."""
    schema = Configuration.model_json_schema(by_alias=True)
    for definition in (schema, *schema["$defs"].values()):
        for value in definition.get("properties", {}).values():
            value.pop("title", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
