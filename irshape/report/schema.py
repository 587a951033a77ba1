"""JSON Schemas of what irshape reports."""

from __future__ import annotations

from typing import Any

from irshape.report.catalogue import CATALOGUE

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def _nullable(type: str, description: str) -> dict[str, Any]:
    return {"type": [type, "null"], "description": description}


def _object(properties: dict[str, Any], *, optional: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False, **more}


_KEY = {"type": "string", "description": "the layer's id in the file, after those of the layers around it"}
_NAME = {"type": "string", "description": "the layer's name in the file"}
_COUNT = {"type": "integer", "minimum": 0}
_PATH = _nullable("string", "the path as it was given; null for bytes and trees")


def _array(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


def _counts(value: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value, "description": description}


def _layer() -> dict[str, Any]:
    return _object(
        {
            "id": _nullable("string", "the layer's id in the file"),
            "name": _nullable("string", "the layer's name in the file"),
            "type": _nullable("string", "the layer's type in the file"),
            "path": _nullable("string", "the bodies around the layer, outermost first"),
        }
    )


def _place() -> dict[str, Any]:
    return {
        "layer": {"anyOf": [_layer(), {"type": "null"}]},
        "line": _nullable("integer", "counted from 1"),
        "column": _nullable("integer", "counted from 1, in characters"),
        "offset": _nullable("integer", "counted from 0, in bytes"),
    }


def _diagnostic() -> dict[str, Any]:
    return _object(
        {
            "code": {"enum": sorted(CATALOGUE), "description": "what kind of fault it is; docs/diagnostics.md explains each"},
            "severity": {"enum": ["error", "warning", "note"]},
            "message": {"type": "string"},
            "file": _nullable("string", "the path as it was given"),
            "layer": {"anyOf": [_layer(), {"type": "null"}]},
            "port": _nullable("string", "the port's id in the file"),
            "line": _nullable("integer", "counted from 1"),
            "column": _nullable("integer", "counted from 1, in characters"),
            "offset": _nullable("integer", "counted from 0, in bytes"),
            "hint": _nullable("string", "what would mend it"),
            "fix": {"anyOf": [_fix(), {"type": "null"}]},
        }
    )


def _fix() -> dict[str, Any]:
    edit = {
        "start": {"type": "integer", "description": "the first byte that is replaced, counted from 0"},
        "end": {"type": "integer", "description": "the first byte after those that are replaced"},
        "text": {"type": "string", "description": "what stands there instead"},
        "line": {"type": "integer", "description": "the place of start, counted from 1"},
        "column": {"type": "integer", "description": "counted from 1, in characters"},
        "end_line": {"type": "integer", "description": "the place of end"},
        "end_column": {"type": "integer"},
    }
    return _object(
        {
            "title": {"type": "string", "description": "what it does"},
            "safe": {"type": "boolean", "description": "whether check --fix applies it"},
            "edits": {"type": "array", "items": _object(edit), "minItems": 1},
        },
        description="replacements in the file that mend the fault",
    )


def diagnostic_schema() -> dict[str, Any]:
    """The schema of one diagnostic."""
    return {"$schema": _DRAFT, "title": "A fault of an OpenVINO IR, as irshape reports it", **_diagnostic()}


def _guard() -> dict[str, Any]:
    return _object(
        {
            "condition": {"type": "string", "description": "a relation of the symbols"},
            "message": {"type": "string", "description": "what the layer needs it for"},
            "layer": {"type": "string", "description": "the layer's id in the file"},
            "name": {"type": "string", "description": "the layer's name in the file"},
            "path": _nullable("string", "the bodies around the layer, outermost first"),
            "line": {"type": "integer", "description": "counted from 1"},
        }
    )


def sizes_schema() -> dict[str, Any]:
    """The schema of valid sizes: `ValidSizes.to_dict()`, and what `irshape sizes --format json` prints for a file."""
    names = {"type": "object", "additionalProperties": {"type": "string"}}
    sizes = {"type": "object", "additionalProperties": {"type": "integer"}}
    condition = {
        "condition": {"type": "string", "description": "as Python reads it"},
        "symbols": {"type": "array", "items": {"type": "string"}},
        "guards": {"description": "who demands it; none for the range that was asked about", "type": "array", "items": _guard()},
    }
    undecided = {
        "message": {"type": "string"},
        "layer": _nullable("string", "the layer's id in the file"),
        "name": _nullable("string", "the layer's name in the file"),
        "path": _nullable("string", "the bodies around the layer, outermost first"),
        "line": _nullable("integer", "counted from 1"),
    }
    nearest = _object({"given": sizes, "below": {"anyOf": [sizes, {"type": "null"}]}, "above": {"anyOf": [sizes, {"type": "null"}]}})
    properties = {
        "file": _nullable("string", "the path as it was given; null for bytes and trees"),
        "ok": {"type": "boolean", "description": "some size is valid"},
        "inputs": {"description": "the shapes that were asked about, by input", **names},
        "symbols": {"description": "what their symbols may be", **names},
        "condition": {"type": "string", "description": "all conditions in one; `every size`, `no size`"},
        "is_exact": {"type": "boolean", "description": "this is all there is to it; if not, the conditions are what formulas tell"},
        "is_by_trial": {"type": "boolean", "description": "formulas do not tell everything; if it is exact, every size was tried"},
        "conditions": {
            "description": "all must be fulfilled; without a valid size they contradict",
            "type": "array",
            "items": _object(condition),
        },
        "undecided": {"description": "what else may count", "type": "array", "items": _object(undecided)},
        "sample": {"description": "the sizes with which the answer was tried", **sizes},
        "never_runs": {
            "description": "what makes the model fail with these when it runs, although OpenVINO accepts it",
            "type": "array",
            "items": {"$ref": "#/$defs/diagnostic"},
        },
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        "nearest": {"description": "of `--near`: the valid sizes that are not larger, and those that are not smaller", **nearest},
    }
    nearest["type"] = ["object", "null"]
    required = [name for name in properties if name != "nearest"]
    title = "For which input sizes an OpenVINO IR is valid"
    return {"$schema": _DRAFT, "title": title, **_object(properties), "required": required, "$defs": {"diagnostic": _diagnostic()}}


def report_schema() -> dict[str, Any]:
    """The schema of the report of one file: `Inference.to_dict()`, and what `--format json` prints."""
    shape = r"^\[(\.\.\.|(\?|\d+|\d*\.\.\d*)(,(\?|\d+|\d*\.\.\d*))*)?\]$"
    port = {
        "type": "array",
        "prefixItems": [{"type": "string", "description": "the element type: f32"}, {"type": "string", "pattern": shape}],
        "items": False,
        "minItems": 2,
    }
    properties = {
        "file": _nullable("string", "the path as it was given; null for bytes and trees"),
        "ok": {"type": "boolean", "description": "no diagnostic is an error"},
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        "mended": {"description": "what check --fix has mended", "type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        "ports": {
            "description": "element type and shape of every output port, by LAYER:PORT as the file numbers them",
            "type": "object",
            "additionalProperties": port,
        },
        "symbolic": {
            "description": "the same shapes as formulas, where a size is not a plain number",
            "type": "object",
            "additionalProperties": {"type": "string"},
        },
        "guards": {"description": "what must hold for the symbols", "type": "array", "items": _guard()},
    }
    title = "What irshape reports of an OpenVINO IR"
    return {"$schema": _DRAFT, "title": title, **_object(properties, optional=("mended",)), "$defs": {"diagnostic": _diagnostic()}}


def diff_schema() -> dict[str, Any]:
    """The schema of what changed between two files: `Difference.to_dict()`, and what `irshape diff --format json` prints."""
    layer = {
        "id": _KEY,
        "name": _NAME,
        "type": {"type": "string", "description": "the layer's type in the file"},
        "path": _nullable("string", "the bodies around the layer, outermost first"),
        "line": {"type": "integer", "description": "counted from 1"},
    }
    nullable_layer = {"anyOf": [_object(layer), {"type": "null"}]}
    change = {
        "kind": {
            "enum": [
                "added",
                "attribute",
                "constant",
                "edge",
                "ir_version",
                "layout",
                "order",
                "outputs",
                "parameter",
                "port_map",
                "removed",
                "renamed",
                "replaced",
                "tensor_names",
                "version",
            ]
        },
        "what": {"type": "string", "description": "the attribute, the input's or the output's position, or nothing"},
        "before": _nullable("string", "what the first file says; null for nothing"),
        "after": _nullable("string", "what the second file says; null for nothing"),
        "a": nullable_layer,
        "b": nullable_layer,
    }
    effect = {
        "what": {"enum": ["shape", "element_type"]},
        "before": {"type": "string"},
        "after": {"type": "string"},
        "a": _object(layer),
        "b": _object(layer),
        "port": {"type": "integer", "description": "the output's position"},
    }
    properties = {
        "a": _PATH,
        "b": _PATH,
        "same": {"type": "boolean", "description": "both are one model, whatever the files look like"},
        "changes": _array(_object(change), "what is not the same"),
        "effects": _array(_object(effect), "shapes and element types that follow from the changes"),
        "asides": _array({"type": "string"}, "what differs in the files and not in the models"),
        "uncompared": _nullable("string", "why constants could not be compared"),
    }
    return {"$schema": _DRAFT, "title": "What changed between two OpenVINO IRs", **_object(properties)}


def info_schema() -> dict[str, Any]:
    """The schema of what a model is: `Info.to_dict()`, and what `irshape info --format json` prints."""
    tensor = {
        "layer": _KEY,
        "name": {"type": "string", "description": "the layer's name, that of the tensor for an output, or that of the variable"},
        "element_type": {"type": "string"},
        "shape": {"type": "string", "description": "in OpenVINO's notation"},
        "formula": {"type": "string", "description": "the same with formulas of the input sizes"},
        "tensor_names": _array({"type": "string"}, "what the tensor is called"),
        "layout": _nullable("string", "[N,C,H,W]"),
    }
    oldest = {
        "release": _nullable("string", "the oldest release that is known to read the model"),
        "reasons": _array({"type": "string"}, "why no older one is"),
        "earliest": _nullable("string", "no release before this one reads the model"),
        "is_after": {"type": "boolean", "description": "nor does this one"},
        "unknown": _array({"type": "string"}, "what no release is known to have"),
        "is_exact": {"type": "boolean", "description": "no older release reads the model"},
    }
    root = {
        "kind": {"enum": ["input", "variable", "iteration", "recorded", "rank", "data"]},
        "layer": _KEY,
        "name": _NAME,
        "axis": _COUNT,
        "size": {"type": "string"},
        "ports": {**_COUNT, "description": "output ports whose shapes depend on it"},
        "unbounded": {**_COUNT, "description": "those that have no upper bound because of it"},
    }
    axis = {"layer": _KEY, "name": _NAME, "axis": _COUNT}
    properties = {
        "file": _PATH,
        "name": {"type": "string", "description": "the net's name"},
        "ir_version": {"type": "integer", "description": "0 for an example of the specification"},
        "errors": _COUNT,
        "layers": {**_COUNT, "description": "with those of bodies"},
        "opsets": _counts(_COUNT, "layers by opset"),
        "oldest": _object(oldest),
        "inputs": _array(_object(tensor), "in the order of the file"),
        "outputs": _array(_object(tensor), "in the order of the file"),
        "ports": _object(dict.fromkeys(("all", "dynamic", "unbounded", "unranked"), _COUNT)),
        "roots": _array(_object(root), "the axes that make sizes dynamic"),
        "unranked": _array(_object({"layer": _KEY, "name": _NAME, "ports": _COUNT}), "from where on the rank is not known"),
        "operations": _counts(_COUNT, "layers by operation"),
        "parameters": _counts(_object({"elements": _COUNT, "bytes": _COUNT}), "constants by element type"),
        "state": _array(_object(tensor), "the variables"),
        "bodies": _array(_object({"layer": _KEY, "name": {"type": "string"}, "layers": _COUNT}), "graphs inside layers"),
        "batch": _array(_object({**axis, "reason": {"type": "string"}}), "the axes that are the batch"),
        "batch_candidates": _array(_array(_object(axis), "axes together"), "what can be the batch, if it is not clear"),
        "guards": _array({"type": "string"}, "what must hold for the sizes"),
    }
    return {"$schema": _DRAFT, "title": "What an OpenVINO IR is", **_object(properties)}


def explanation_schema() -> dict[str, Any]:
    """The schema of `Explanation.to_dict()`, which `irshape explain --format json` prints."""
    number = {"type": "string", "description": "a number, or a formula of the sizes of the inputs"}
    weights = {"file": {"type": "string"}, "begin": {"type": "integer"}, "end": {"type": "integer", "description": "the byte after"}}
    read = {
        "name": {"type": "string", "description": "what the formula calls it"},
        "value": number,
        "kind": {"enum": ["attribute", "axis", "default", "element", "input", "port", "step", "unknown"]},
        "source": {"type": "string", "description": "where the number stands, in words"},
        "step": _nullable("integer", "the number of the step that computes it"),
        **_place(),
        "position": _nullable("integer", "the axis or element of the constant"),
        "through": {"type": "array", "items": {"anyOf": [_layer(), {"type": "null"}]}, "description": "layers that hand it on unchanged"},
        "bytes": {"anyOf": [_object(weights), {"type": "null"}]},
    }
    reads = {"type": "array", "items": _object(read)}
    step = {
        "number": {"type": "integer", "description": "counted from 1"},
        **_place(),
        "subject": {"type": "string", "description": "what of the layer is explained: axis 2"},
        "value": number,
        "formula": _nullable("string", "the value in the names of what is read"),
        "numbers": _nullable("string", "the same with the numbers in place of the names"),
        "note": _nullable("string", "what no formula says"),
        "reads": reads,
    }
    properties = {
        "file": _nullable("string", "the path as it was given"),
        "ok": {"type": "boolean", "description": "no layer on the way has failed"},
        **_place(),
        "port": _nullable("integer", "the port's id in the file"),
        "axis": _nullable("integer", "null for all of the port"),
        "value": {"type": "string", "description": "what is explained: 48, (H + 1)//2, f32[1,3,?]"},
        "interval": _nullable("string", "the bounds of a size that is not known"),
        "steps": {"type": "array", "items": _object(step)},
        "answers": {**reads, "description": "which step tells what was asked"},
        "because": _nullable("string", "what it all comes from"),
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
    }
    title = "Why a port of an OpenVINO IR is what it is, as irshape explains it"
    return {"$schema": _DRAFT, "title": title, **_object(properties), "$defs": {"diagnostic": _diagnostic()}}
