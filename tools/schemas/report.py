"""JSON Schemas of irshape's reports."""

from __future__ import annotations

from typing import Any

from irshape.report.catalogue import CATALOGUE

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def _nullable(type: str, description: str) -> dict[str, Any]:
    return {"type": [type, "null"], "description": description}


def _object(properties: dict[str, Any], *, optional: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False, **more}


_KEY = {"type": "string", "description": "the layer's id in the file, after the ids and bodies of the enclosing layers: 2.body/5"}
_NAME = {"type": "string", "description": "the layer's name in the file"}
_COUNT = {"type": "integer", "minimum": 0}
_PATH = _nullable("string", "the path as it was given; null for bytes and trees")

_TOOL = {
    "type": "object",
    "description": "what wrote the report",
    "properties": {"name": {"const": "irshape"}, "version": {"type": "string"}},
    "required": ["name", "version"],
    "additionalProperties": False,
}


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
            "code": {"enum": sorted(CATALOGUE), "description": "the kind of the fault, as docs/diagnostics.md explains it"},
            "severity": {"enum": ["error", "warning", "note"]},
            "message": {"type": "string"},
            "file": _nullable("string", "the path as it was given"),
            "layer": {"anyOf": [_layer(), {"type": "null"}]},
            "port": _nullable("string", "the port's id in the file"),
            "line": _nullable("integer", "counted from 1"),
            "column": _nullable("integer", "counted from 1, in characters"),
            "offset": _nullable("integer", "counted from 0, in bytes"),
            "hint": _nullable("string", "a suggested remedy"),
            "fix": {"anyOf": [_fix(), {"type": "null"}]},
        }
    )


def _fix() -> dict[str, Any]:
    edit = {
        "start": {"type": "integer", "description": "the first byte that is replaced, counted from 0"},
        "end": {"type": "integer", "description": "the first byte after the replaced ones"},
        "text": {"type": "string", "description": "the replacement"},
        "line": {"type": "integer", "description": "the place of start, counted from 1"},
        "column": {"type": "integer", "description": "counted from 1, in characters"},
        "end_line": {"type": "integer", "description": "the place of end"},
        "end_column": {"type": "integer"},
    }
    return _object(
        {
            "title": {"type": "string", "description": "the change in a few words"},
            "is_safe": {"type": "boolean", "description": "whether check --fix applies it"},
            "edits": {"type": "array", "items": _object(edit), "minItems": 1},
            "evidence": {"type": "string", "description": "why a safe fix is safe"},
        },
        optional=("evidence",),
        description="edits of the file that mend the fault",
    )


def diagnostic_schema() -> dict[str, Any]:
    """The schema of one diagnostic."""
    return {"$schema": _DRAFT, "title": "A fault of an OpenVINO IR, as irshape reports it", **_diagnostic()}


def _guard() -> dict[str, Any]:
    return _object(
        {
            "condition": {"type": "string", "description": "a relation of the symbols"},
            "message": {"type": "string", "description": "why the layer demands it"},
            "layer": {"type": "string", "description": "the layer's id in the file"},
            "layer_name": {"type": "string", "description": "the layer's name in the file"},
            "path": _nullable("string", "the bodies around the layer, outermost first"),
            "line": {"type": "integer", "description": "counted from 1"},
            "is_premise": {"type": "boolean", "description": "whether only the formulas assume it: OpenVINO accepts other sizes"},
            "branch": _nullable("string", "the body that demands the condition, if this body need not run: then_body of If_3"),
        }
    )


def _condition() -> dict[str, Any]:
    return _object(
        {
            "condition": {"type": "string", "description": "a Python expression"},
            "symbols": {"type": "array", "items": {"type": "string"}},
            "guards": {
                "description": "the layers that demand it; empty for a condition of the given ranges",
                "type": "array",
                "items": _guard(),
            },
        }
    )


def _notes() -> dict[str, Any]:
    note = {
        "note": {"type": "string", "description": "which other sizes OpenVINO accepts"},
        "inputs": {"type": "array", "items": {"type": "string"}, "description": "the inputs that may have these sizes"},
        "axis": _COUNT,
        "guards": {"type": "array", "items": _guard(), "description": "the requirements that allow it"},
    }
    return _array(_object(note), "the sizes that OpenVINO accepts besides, because it checks less, or lets sizes broadcast")


_DATA_SIZE = _object(
    {
        "name": {"type": "string", "description": "its name in the signature"},
        "layer": _KEY,
        "layer_name": _NAME,
        "type": {"type": "string", "description": "the layer's type in the file"},
    }
)


def signature_schema() -> dict[str, Any]:
    """The schema of `Signature.to_dict()`, which `irshape signature --format json` prints for a file."""
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    because = {
        "name": {"type": "string", "description": "an input or a variable"},
        "axis": _COUNT,
        "size": {"type": "string", "description": "its size in the signature"},
        "reason": {"enum": ["demanded", "broadcast", "product", "read", "carried"]},
        "guards": {"type": "array", "items": _guard(), "description": "the layers that demand it"},
    }
    properties = {
        "tool": _TOOL,
        "file": _PATH,
        "ok": {"type": "boolean", "description": "the model has no errors"},
        "symbols": {"description": "the range of each symbol", **texts},
        "inputs": {"description": "the shape of each input, in the notation of `--input`", **texts},
        "state": {"description": "the shape of each variable", **texts},
        "outputs": {"description": "the shape of each output", **texts},
        "conditions": _array(_condition(), "all must hold; those on sizes known only at run time come last"),
        "notes": _notes(),
        "because": _array(_object(because), "the axes that are tied to others"),
        "data_sizes": _array(_DATA_SIZE, "the sizes known only at run time"),
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
    }
    title = "The signature of an OpenVINO IR: its inputs and outputs in few symbols"
    return {"$schema": _DRAFT, "title": title, **_object(properties), "$defs": {"diagnostic": _diagnostic()}}


_AMOUNT = _object(
    {
        "formula": {"type": "string", "description": "a Python expression of the symbols, or a number"},
        "value": {"type": "integer", "description": "the number at the sizes `near`"},
    }
)


def cost_schema() -> dict[str, Any]:
    """The schema of `Cost.to_dict()`, which `irshape cost --format json` prints for a file."""
    amount = {"$ref": "#/$defs/amount"}
    name = {"type": "string"}
    layer = {"layer": _nullable("string", "the layer's id in the file"), "layer_name": _nullable("string", "the layer's name in the file")}
    tensor = {"name": name, "bytes": {"anyOf": [amount, {"type": "null"}], "description": "null if they are not known"}}
    stretch = {
        "low": {"type": "integer", "description": "the first size"},
        "high": _nullable("integer", "the last size; null for all larger ones"),
        "layers": _array(_object({**layer, "memory": name}), "several where they take turns, because sizes are rounded"),
    }
    peak = {
        "formula": {"type": "string", "description": "a Python expression that holds for all sizes"},
        "value": {"type": "integer", "description": "the number at the sizes `near`"},
        **layer,
        "views": {"type": "boolean", "description": "the output of a Reshape and its like shares the memory of its input"},
        "in_place": {"type": "boolean", "description": "element-wise operations write into inputs that nobody reads afterwards"},
        "stretches": _counts(_array(_object(stretch), "one after the other"), "the layers that have the peak as one symbol grows"),
    }
    swept = {
        "sizes": _counts({"type": "integer"}, "the sizes; all others are those of `near`"),
        "is_valid": {"type": "boolean", "description": "the sizes fulfil the conditions of the model"},
        **{key: {"type": "integer"} for key in ("macs", "flops", "traffic", "peak_memory", "state_bytes")},
    }
    of_layer = {
        "layer": _KEY,
        "name": _NAME,
        "type": {"type": "string", "description": "the layer's type in the file"},
        "path": _nullable("string", "the bodies around the layer, outermost first"),
        "runs": {**amount, "description": "how often the layer runs; all amounts are those of all runs"},
        **dict.fromkeys(("macs", "operations", "flops"), amount),
        **{key: {**amount, "description": "bytes"} for key in ("weights", "inputs", "outputs")},
        "intensity": _nullable("number", "FLOPs for each byte that is read or written, at the sizes `near`"),
        "uncounted": _nullable("string", "why the work is not counted and in no sum"),
    }
    properties = {
        "tool": _TOOL,
        "file": _PATH,
        "ok": {"type": "boolean", "description": "the model has no errors"},
        "symbols": _counts(name, "the range of each symbol"),
        "near": _counts({"type": "integer"}, "the sizes at which values are given"),
        "data_sizes": _array(_DATA_SIZE, "the sizes known only at run time"),
        "macs": {**amount, "description": "multiply-accumulates"},
        "operations": {**amount, "description": "other operations on single elements"},
        "flops": {**amount, "description": "two for each MAC, one for each other operation"},
        "traffic": {**amount, "description": "bytes that layers read and write"},
        "intensity": _nullable("number", "FLOPs for each byte of traffic, at the sizes `near`"),
        "parameters": {"type": "integer", "description": "elements of constants"},
        "parameter_bytes": {"type": "integer"},
        "parameters_by_type": _counts(_object({"elements": _COUNT, "bytes": _COUNT}), "the constants by element type"),
        "inputs": _array(_object(tensor), "the inputs of the model"),
        "outputs": _array(_object(tensor), "the outputs of the model"),
        "state": _array(_object({"name": name, "before": amount, "after": amount}), "the bytes of each variable"),
        "peak_memory": _object(peak, description="the most bytes that activations take at one time"),
        "sweep": _array(_object(swept), "the amounts at the sizes of --set S=128,256,512"),
        "folded": {**_COUNT, "description": "layers of constants alone, which are computed before the model runs"},
        "layers": _array(_object(of_layer), "in the order of the file, those of bodies included"),
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
    }
    title = "What an OpenVINO IR costs: operations, parameters, memory and traffic"
    definitions = {"amount": _AMOUNT, "diagnostic": _diagnostic()}
    return {"$schema": _DRAFT, "title": title, **_object(properties, optional=("sweep",)), "$defs": definitions}


def summary_schema() -> dict[str, Any]:
    """The schema of `Summary.to_dict()`, which `irshape summary --format json` prints for a file."""
    amount = {"$ref": "#/$defs/amount"}
    module = {
        "depth": {**_COUNT, "description": "the level in the tree, from 0"},
        "name": {"type": "string", "description": "the name within the module around it"},
        "type": {"type": "string", "description": "the type of a layer; empty for a module"},
        "times": {**_COUNT, "description": "the number of equal blocks, whose sum the row has; the rows below are those of one of them"},
        "layers": {**_COUNT, "description": "the number of layers, those of bodies included"},
        "output": {"type": "string", "description": "the element type and the shape of what it gives"},
        "parameters": {**_COUNT, "description": "elements of constants"},
        "macs": {**amount, "description": "multiply-accumulates"},
        "memory": {**amount, "description": "bytes of the outputs of its layers"},
        "layer": {"type": "string", "description": "the id of a layer; empty for a module"},
    }
    properties = {
        "tool": _TOOL,
        "file": _PATH,
        "ok": {"type": "boolean", "description": "the model has no errors"},
        "near": _counts({"type": "integer"}, "the sizes at which values are given"),
        "parameters": {"type": "integer", "description": "elements of constants"},
        "parameter_bytes": {"type": "integer"},
        "macs": {**amount, "description": "multiply-accumulates"},
        "peak_memory": {**amount, "description": "the most bytes that activations take at one time"},
        "modules": _array(_object(module), "the rows of the tree, from the outside in"),
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
    }
    title = "The modules of an OpenVINO IR, with shapes, parameters, work and memory"
    return {"$schema": _DRAFT, "title": title, **_object(properties), "$defs": {"amount": _AMOUNT, "diagnostic": _diagnostic()}}


def sizes_schema() -> dict[str, Any]:
    """The schema of valid sizes: `ValidSizes.to_dict()`, and what `irshape sizes --format json` prints for a file."""
    names = {"type": "object", "additionalProperties": {"type": "string"}}
    sizes = {"type": "object", "additionalProperties": {"type": "integer"}}
    undecided = {
        "message": {"type": "string"},
        "layer": _nullable("string", "the layer's id in the file"),
        "layer_name": _nullable("string", "the layer's name in the file"),
        "path": _nullable("string", "the bodies around the layer, outermost first"),
        "line": _nullable("integer", "counted from 1"),
    }
    nearest = _object({"given": sizes, "below": {"anyOf": [sizes, {"type": "null"}]}, "above": {"anyOf": [sizes, {"type": "null"}]}})
    properties = {
        "tool": _TOOL,
        "file": _nullable("string", "the path as it was given; null for bytes and trees"),
        "ok": {"type": "boolean", "description": "some size is valid"},
        "inputs": {"description": "the examined shape of each input", **names},
        "symbols": {"description": "the range of each symbol", **names},
        "condition": {"type": "string", "description": "the conjunction of all conditions; `every size`, `no size`"},
        "is_exact": {
            "type": "boolean",
            "description": "exactly the sizes that meet the conditions are valid; if false, the conditions are necessary only",
        },
        "is_by_trial": {
            "type": "boolean",
            "description": "formulas do not determine the answer; if it is exact, every size was tried",
        },
        "conditions": {
            "description": "all must hold; if no size is valid, they contradict each other",
            "type": "array",
            "items": _condition(),
        },
        "undecided": {"description": "requirements that may exclude more sizes", "type": "array", "items": _object(undecided)},
        "premises": _array(_guard(), "what the formulas assume of sizes that depend on data"),
        "sample": {"description": "sizes with which the answer was checked", **sizes},
        "notes": _notes(),
        "never_runs": {
            "description": "the reasons why the model fails at run time with the sample, although OpenVINO accepts it",
            "type": "array",
            "items": {"$ref": "#/$defs/diagnostic"},
        },
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        "nearest": {"description": "the nearest valid sizes below and above the sizes of `--near`", **nearest},
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
    element = {
        "index": {"description": "its position in row-major order", **_COUNT},
        "was": {"type": "integer"},
        "is": {"type": "integer"},
    }
    substitution = {
        "was": {"type": "integer"},
        "is": {"type": "integer"},
        "constants": {"description": "the number of constants in which `is` replaces `was`", **_COUNT},
    }
    patch = {
        "layer": _KEY,
        "layer_name": _NAME,
        "line": {"type": "integer", "description": "counted from 1"},
        "elements": {"type": "array", "items": _object(element), "minItems": 1},
    }
    symbolic = {
        "description": "the shapes with formulas, for each port with a size that is not a plain number",
        "type": "object",
        "additionalProperties": {"type": "string"},
    }
    guards = {"description": "the conditions on the symbols", "type": "array", "items": _guard()}
    properties = {
        "tool": _TOOL,
        "file": _nullable("string", "the path as it was given; null for bytes and trees"),
        "ok": {"type": "boolean", "description": "no diagnostic is an error"},
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        "mended": {"description": "the faults that check --fix has mended", "type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        "substitutions": _array(_object(substitution), "the values that patches replace"),
        "patches": _array(_object(patch), "the constants with new elements, by reshape --patch-constants"),
        "ports": {
            "description": "element type and shape of every output port, by LAYER:PORT with the ids in the file",
            "type": "object",
            "additionalProperties": port,
        },
        "symbolic": symbolic,
        "guards": guards,
        "named": {
            "description": "the same in the symbols of the signature, where open sizes have no names",
            **_object({"symbolic": symbolic, "guards": guards}),
        },
        "layers": {
            "description": "the layers, by the keys that ports begin with",
            "type": "object",
            "additionalProperties": _object({"name": _NAME, "type": {"type": "string"}, "version": {"type": "string"}}),
        },
    }
    title = "The report of irshape on an OpenVINO IR"
    return {
        "$schema": _DRAFT,
        "title": title,
        **_object(properties, optional=("mended", "substitutions", "patches", "named")),
        "$defs": {"diagnostic": _diagnostic()},
    }


def diff_schema() -> dict[str, Any]:
    """The schema of the difference of two files: `Difference.to_dict()`, which `irshape diff --format json` prints."""
    layer = {
        "layer": _KEY,
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
        "what": {"type": "string", "description": "the name of the attribute, or the position of the input or output; may be empty"},
        "before": _nullable("string", "the value in the first file; null if absent"),
        "after": _nullable("string", "the value in the second file; null if absent"),
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
    cost = _object(dict.fromkeys(("macs", "operations", "parameters", "parameter_bytes", "traffic", "peak_memory"), _AMOUNT))
    properties = {
        "tool": _TOOL,
        "a": _PATH,
        "b": _PATH,
        "is_same": {"type": "boolean", "description": "the models are equal, even if the files differ"},
        "changes": _array(_object(change), "the differences of the models"),
        "effects": _array(_object(effect), "shapes and element types that differ because of the changes"),
        "asides": _array({"type": "string"}, "differences of the files that do not affect the models"),
        "uncompared": _nullable("string", "the reason why constants could not be compared"),
        "cost": _object(
            {
                "summary": {"type": "string"},
                "near": _counts({"type": "integer"}, "the sizes at which values are given"),
                "a": cost,
                "b": cost,
            },
            description="the costs of both models; only where they are asked for",
        ),
        "run": _object(_comparison(), description="the outputs of both models, run by OpenVINO; only where they are asked for"),
    }
    return {"$schema": _DRAFT, "title": "The difference of two OpenVINO IRs", **_object(properties, optional=("cost", "run"))}


def comparison_schema() -> dict[str, Any]:
    """The schema of the outputs of two models: `RunComparison.to_dict()`, which `irshape diff --run --format json` has as `run`."""
    return {"$schema": _DRAFT, "title": "The outputs of two OpenVINO IRs that were run on equal inputs", **_object(_comparison())}


def _comparison() -> dict[str, Any]:
    shape = {"type": "array", "items": _COUNT}
    shapes = {"type": "object", "additionalProperties": shape}
    number = _nullable("number", "null if there is no number: other shapes, texts, infinities")
    output = _object(
        {
            "name": {"type": "string", "description": "the name of the tensor"},
            "shapes": _array(shape, "the shape in each model"),
            "absolute": {**number, "description": "the largest difference of two elements; null if it is no number"},
            "relative": {**number, "description": "its part of the largest number of the first model; null if it is no number"},
            "cosine": _nullable("number", "the cosine of the angle between the numbers of both; null if one has none but 0"),
            "at": {"anyOf": [shape, {"type": "null"}], "description": "where the largest difference is"},
            "values": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "description": "both elements there"},
            "finite": {**_COUNT, "description": "the number of elements that are numbers in both"},
            "is_same": {"type": "boolean"},
        }
    )
    run = {
        "is_same": {"type": "boolean", "description": "both models ran, and all outputs are equal"},
        "shapes": _object({"a": shapes, "b": shapes}, description="the shapes of the inputs, by name"),
        "outputs": _array(output, "the outputs that both models have"),
        "failures": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "why OpenVINO does not run a model, by a and b",
        },
    }
    first = {
        "layer": _NAME,
        "layer_of_b": _NAME,
        "type": {"type": "string", "description": "the layer's type in the file"},
        "key": _KEY,
        "output": output,
        "before": _array(output, "the inputs of the layer"),
        "runs": {**_COUNT, "description": "the runs that the search took"},
    }
    return {
        "tool": _TOOL,
        "a": {"type": "string", "description": "the path or the name of the first model"},
        "b": {"type": "string", "description": "the path or the name of the second model"},
        "is_same": {"type": "boolean", "description": "every output that both models have is equal in every run"},
        "tolerance": _object(
            {
                "rtol": {"type": "number", "description": "the part of the largest number of an output that is no difference"},
                "atol": {"type": "number", "description": "the number that is no difference"},
                "precision": {"enum": ["f32", "f16", "int8"], "description": "the precision whose rounding separates the models"},
            }
        ),
        "missing": _array({"type": "string"}, "the outputs that only the first model has"),
        "runs": _array(_object(run), "the runs"),
        "first": {"anyOf": [_object(first), {"type": "null"}], "description": "the first layer that differs, if it was asked for"},
        "unfound": _nullable("string", "why no such layer was found"),
    }


def info_schema() -> dict[str, Any]:
    """The schema of the summary of a model: `Info.to_dict()`, which `irshape info --format json` prints."""
    tensor = {
        "layer": _KEY,
        "name": {"type": "string", "description": "the name of the layer, of an output's tensor, or of the variable"},
        "element_type": {"type": "string"},
        "shape": {"type": "string", "description": "in OpenVINO's notation"},
        "formula": {"type": "string", "description": "the shape with formulas of the input sizes"},
        "tensor_names": _array({"type": "string"}, "the names of the tensor"),
        "layout": _nullable("string", "[N,C,H,W]"),
    }
    oldest = {
        "release": _nullable("string", "the oldest release that is known to read the model"),
        "reasons": _array({"type": "string"}, "the reasons why no older release is known to"),
        "earliest": _nullable("string", "no release before this one reads the model"),
        "is_after": {"type": "boolean", "description": "the earliest release does not read the model either"},
        "unknown": _array({"type": "string"}, "the parts of the model that no release is known to support"),
        "is_exact": {"type": "boolean", "description": "no older release reads the model"},
    }
    extension = {
        "name": _nullable("string", "the library; null if the description of its operations does not name it"),
        "operations": _counts(_COUNT, "its layers by operation"),
    }
    root = {
        "kind": {"enum": ["input", "variable", "iteration", "recorded", "rank", "data"]},
        "layer": _KEY,
        "layer_name": _NAME,
        "axis": _COUNT,
        "size": {"type": "string"},
        "ports": {**_COUNT, "description": "output ports whose shapes depend on it"},
        "unbounded": {**_COUNT, "description": "output ports that have no upper bound because of it"},
    }
    axis = {"layer": _KEY, "layer_name": _NAME, "axis": _COUNT}
    shapes = {"type": "object", "additionalProperties": {"type": "string"}}
    properties = {
        "tool": _TOOL,
        "file": _PATH,
        "name": {"type": "string", "description": "the net's name"},
        "ir_version": {"type": "integer", "description": "0 for an example of the specification"},
        "errors": _COUNT,
        "layers": {**_COUNT, "description": "including the layers of bodies"},
        "opsets": _counts(_COUNT, "layers by opset"),
        "oldest": _object(oldest),
        "extensions": _array(_object(extension), "the extensions that OpenVINO needs to run the model"),
        "inputs": _array(_object(tensor), "in the order of the file"),
        "outputs": _array(_object(tensor), "in the order of the file"),
        "ports": _object(dict.fromkeys(("all", "dynamic", "unbounded", "unranked"), _COUNT)),
        "roots": _array(_object(root), "the axes that make sizes dynamic"),
        "unranked": _array(_object({"layer": _KEY, "layer_name": _NAME, "ports": _COUNT}), "the layers from which on the rank is unknown"),
        "operations": _counts(_COUNT, "layers by operation"),
        "parameters": _counts(_object({"elements": _COUNT, "bytes": _COUNT}), "constants by element type"),
        "state": _array(_object(tensor), "the variables"),
        "bodies": _array(_object({"layer": _KEY, "name": {"type": "string"}, "layers": _COUNT}), "graphs inside layers"),
        "batch": _array(_object({**axis, "reason": {"type": "string"}}), "the axes that are the batch"),
        "batch_candidates": _array(_array(_object(axis), "axes that change together"), "the possible batch axes, if ambiguous"),
        "guards": _array({"type": "string"}, "the conditions on the sizes"),
        "unfinished": _array({"$ref": "#/$defs/diagnostic"}, "the parts of the answer that take more than the limit work allows"),
        "signature": {
            "description": "the inputs and outputs in few symbols; null without open sizes, and for a model with errors",
            **_object({**dict.fromkeys(("inputs", "state", "outputs"), shapes), "conditions": _array({"type": "string"}, "all must hold")}),
            "type": ["object", "null"],
        },
    }
    return {"$schema": _DRAFT, "title": "The summary of an OpenVINO IR", **_object(properties), "$defs": {"diagnostic": _diagnostic()}}


def explanation_schema() -> dict[str, Any]:
    """The schema of `Explanation.to_dict()`, which `irshape explain --format json` prints."""
    number = {"type": "string", "description": "a number, or a formula of the sizes of the inputs"}
    weights = {"file": {"type": "string"}, "begin": {"type": "integer"}, "end": {"type": "integer", "description": "the byte after"}}
    read = {
        "name": {"type": "string", "description": "its name in the formula"},
        "value": number,
        "kind": {"enum": ["attribute", "axis", "default", "element", "input", "port", "step", "unknown"]},
        "source": {"type": "string", "description": "the place of the number, in words"},
        "step": _nullable("integer", "the number of the step that computes it"),
        **_place(),
        "position": _nullable("integer", "the axis or element of the constant"),
        "through": {"type": "array", "items": {"anyOf": [_layer(), {"type": "null"}]}, "description": "layers that pass it on unchanged"},
        "bytes": {"anyOf": [_object(weights), {"type": "null"}]},
    }
    reads = {"type": "array", "items": _object(read)}
    step = {
        "number": {"type": "integer", "description": "counted from 1"},
        **_place(),
        "subject": {"type": "string", "description": "the part of the layer that is explained: axis 2"},
        "value": number,
        "formula": _nullable("string", "the formula of the value, with the names of `reads`"),
        "numbers": _nullable("string", "the formula with numbers in place of the names"),
        "note": _nullable("string", "an explanation in words, if there is no formula"),
        "reads": reads,
    }
    properties = {
        "tool": _TOOL,
        "file": _nullable("string", "the path as it was given"),
        "ok": {"type": "boolean", "description": "no layer on the way has failed"},
        **_place(),
        "port": _nullable("integer", "the port's id in the file"),
        "axis": _nullable("integer", "null for the whole port"),
        "value": {"type": "string", "description": "the explained value: 48, (H + 1)//2, f32[1,3,?]"},
        "interval": _nullable("string", "the bounds of an unknown size"),
        "steps": {"type": "array", "items": _object(step)},
        "answers": {**reads, "description": "the parts of the explained value, with the step that computes each"},
        "because": _nullable("string", "the ultimate reason, in words"),
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
    }
    title = "Why a port of an OpenVINO IR is what it is, as irshape explains it"
    return {"$schema": _DRAFT, "title": title, **_object(properties), "$defs": {"diagnostic": _diagnostic()}}
