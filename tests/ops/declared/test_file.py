"""Files of operations: what a declaration makes, and what a user reads where it is wrong."""

from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.ops.declared.file import FileFault, read_ops
from irshape.ops.describe import describe
from irshape.ops.extensions import registry_of
from irshape.ops.op import Op
from irshape.ops.registry import REGISTRY
from tests.support.ir import Const, Net, input_of
from tests.support.places import EXAMPLES, ROOT
from tests.support.schemas import validator


def one(text: str) -> type[Op]:
    """The only operation of a file."""
    (op,) = read_ops(text.encode(), "ops.toml", "extension")
    return op


# Operations in the form of a file, each with rows: inputs, attributes, the outputs or the code of the error.
OPERATIONS: list[tuple[str, str, list[tuple[str, dict[str, Any], str]]]] = [
    (
        "an activation",
        'inputs = ["data: float[S...]"]\noutputs = ["like data[S...]"]',
        [("f16[2,3..5]", {}, "f16[2,3..5]"), ("f32[...]", {}, "f32[...]"), ("f32[]", {}, "f32[]"), ("i32[2]", {}, "T101")],
    ),
    (
        "sizes that agree",
        'inputs = ["a: any[N, C, S...]", "b: like a[N, C]"]\noutputs = ["f32[N, S..., C]"]',
        [
            ("f16[2,3,4,5] f16[2,3]", {}, "f32[2,4,5,3]"),
            ("f16[2,?,4] f16[..5,3]", {}, "f32[2,4,3]"),
            ("f16[...] f16[2,3]", {}, "f32[...]"),
            ("f16[2,3] f16[2,4]", {}, "S201"),
            ("f16[2,3] f32[2,3]", {}, "T102"),
            ("f16[2] f16[2,3]", {}, "S101"),
        ],
    ),
    (
        "axes by number",
        'inputs = ["data: f32[...]", "boxes: f32 | f16[?, 4]"]\n'
        'outputs = ["f32[boxes[0], data[1], size[0], size[-1]]", "i64[data[-1]*2 - 1]"]\n'
        'attributes = { size = "list of int >= 1, default 7, 7" }',
        [
            ("f32[1,8,5,5] f32[9,4]", {}, "f32[9,8,7,7] i64[9]"),
            ("f32[1,8,5,5] f16[1..9,4]", {"size": "3"}, "f32[1..9,8,3,3] i64[9]"),
            ("f32[...] f32[9,4]", {}, "f32[9,?,7,7] i64[1..]"),
            ("f32[8] f32[9,4]", {}, "S101"),
            ("f32[1,8] f32[9,5]", {}, "S201"),
            ("f32[1,8] f32[9,4]", {"size": "0, 3"}, "A104"),
            ("f32[1,8] f32[9,4]", {"size": ""}, "A105"),
        ],
    ),
    (
        "conditions",
        'inputs = ["image: float[N, C, H, W]"]\noutputs = ["like image[N, C*r*r, H//r, ceil_div(W, r)]"]\n'
        'attributes = { r = "int", mode = "down | up, default down" }\n'
        '[Op.conditions]\n"H % r == 0" = "H must be a multiple of {r}"\n"W >= 2*r" = "too narrow"\n'
        '"mode == \'down\' or r == 2" = "up needs 2"',
        [
            ("f32[1,3,8,9]", {"r": 4}, "f32[1,48,2,3]"),
            ("f32[1,3,8..12,9]", {"r": 4}, "f32[1,48,2..3,3]"),
            ("f32[1,3,9,9]", {"r": 4}, "S204"),
            ("f32[1,3,8,7]", {"r": 4}, "S203"),
            ("f32[1,3,8,8]", {"r": 0}, "S204"),
            ("f32[1,3,8,8]", {"r": 4, "mode": "up"}, "A103"),
            ("f32[1,3,8,8]", {"r": 2, "mode": "UP"}, "A103"),
            ("f32[1,3,8,8]", {}, "A101"),
        ],
    ),
    (
        "values of inputs",
        'inputs = ["data: any[N, ...]", "count: i32 | i64[]", "shape: i64[?]"]\n'
        'outputs = ["like data[N, value(count)]", "like data[values(shape)...]", "like data[value(shape, 1)]", "i64[rank(data)]"]',
        [
            ("f32[2,3] 5 [4,6]", {}, "f32[2,5] f32[4,6] f32[6] i64[2]"),
            ("f32[2,3] -1 [4,-1]", {}, "f32[2,?] f32[4,?] f32[?] i64[2]"),
            ("f32[...] i32[] i64[2]", {}, "f32[?,?] f32[?,?] f32[?] i64[?]"),
        ],
    ),
    (
        "inputs that may be absent",
        'inputs = ["data: any[S...]", "(mask: boolean[S...], depth: i32[D])?", "axis: i64[]"]\n'
        'outputs = ["like data[S...]", "(boolean[S..., D])?"]\n[Op.conditions]\n"rank(data) <= 2" = "too deep"',
        [
            ("f32[2,3] 0", {}, "f32[2,3]"),
            ("f32[2,3] boolean[2,3] i32[7] 0", {}, "f32[2,3] boolean[2,3,7]"),
            ("f32[2,3] boolean[2,4] i32[7] 0", {}, "S201"),
            ("f32[2,3] boolean[2,3] 0", {}, "G107"),
            ("f32[2,3,4] 0", {}, "S203"),
            ("f32[...] 0", {}, "S206"),
        ],
    ),
    (
        "inputs that are repeated",
        'inputs = ["(ids: i32[N], values: float[N, C])+", "sizes: i64[C]"]\noutputs = ["like values[N, C]"]',
        [
            ("i32[5] f32[5,?] i64[2]", {}, "f32[5,2]"),
            ("i32[?] f32[?,2] i32[5] f32[5,?] i64[?]", {}, "f32[5,2]"),
            ("i32[5] f32[5,2] i32[6] f32[6,2] i64[2]", {}, "S201"),
            ("i32[5] f32[5,2] i32[5] f16[5,2] i64[2]", {}, "T102"),
            ("i32[5] f32[5,2] i32[5] i64[2]", {}, "G107"),
        ],
    ),
    (
        "inputs of mixed types",
        'inputs = ["data: any[N]", "(more: mixed any[...])*"]\noutputs = ["like data[N]"]',
        [("f32[5]", {}, "f32[5]"), ("f32[5] i64[2] f16[...]", {}, "f32[5]")],
    ),
    (
        "an element type that an attribute names, and a choice",
        'inputs = ["data: any[N, C]"]\noutputs = ["to[N if keep else C, min(N, C), max(N, 3)]"]\n'
        'attributes = { to = "element type, default f16", keep = "boolean, default false" }',
        [("f32[2,5]", {}, "f16[5,2,3]"), ("f32[2,5]", {"to": "i8", "keep": True}, "i8[2,2,3]"), ("f32[2,5]", {"to": "f33"}, "A103")],
    ),
    (
        "sizes that only a run tells, and broadcasting",
        'inputs = ["a: any[...]", "b: any[...]", "limit: i64[M]"]\n'
        'outputs = ["i64[?, ..M, 2..9]", "like a[broadcast(a, b)...]", "i32[a..., M]"]',
        [
            ("f32[2,1] f32[3] i64[7]", {}, "i64[?,..7,2..9] f32[2,3] i32[2,1,7]"),
            ("f32[2,4] f32[3] i64[7]", {}, "S202"),
            ("f32[...] f32[3] i64[...]", {}, "i64[?,?,2..9] f32[...] i32[...]"),
        ],
    ),
    (
        "an interval that attributes leave empty",
        'inputs = ["data: any[N]"]\noutputs = ["i64[2..most]"]\nattributes = { most = "int" }',
        [("f32[5]", {"most": 3}, "i64[2..3]"), ("f32[5]", {"most": 1}, "S203")],
    ),
    (
        "shapes that OpenVINO must know to be equal",
        'inputs = ["a: any[...]", "b: any[...]"]\noutputs = ["i64[1]"]\nconditions = { "a == b" = "alike" }',
        [
            ("f32[2..3] f32[2..3]", {}, "i64[1]"),
            ("f32[...] f32[...]", {}, "i64[1]"),
            ("f32[2..3] f32[?]", {}, "S206"),
            ("f32[2] f32[...]", {}, "S206"),
            ("f32[2] f32[3]", {}, "S201"),
        ],
    ),
]
CASES = [
    pytest.param(body, *row, id=f"{name}: {row[0]} {' '.join(f'{key}={value}' for key, value in row[1].items())}")
    for name, body, rows in OPERATIONS
    for row in rows
]


@pytest.mark.parametrize(("body", "inputs", "attributes", "expected"), CASES)
def test_what_a_declaration_infers(body: str, inputs: str, attributes: dict[str, Any], expected: str, tmp_path: Path) -> None:
    file = tmp_path / "ops.toml"
    file.write_text(f"[Op]\n{body}\n", encoding="utf-8")
    outputs = expected.split()
    net = Net()
    refs = [net.const(*given) if isinstance(given, Const) else net.parameter(given) for given in map(input_of, inputs.split())]
    for ref in net.layer("Op", refs, ["FP32"] * len(outputs), "extension", **attributes):
        net.result(ref)
    inference = irshape.infer(net.xml.encode(), weights=net.bin, extensions=file)
    codes = sorted({found.code for found in inference.diagnostics if found.severity == "error"})
    inferred = [repr(output) for output in inference.layer(len(refs)).outputs]
    assert (codes or inferred) == outputs, inference.diagnostics


PORTS = 'inputs = ["data: any[N, S...]"]\noutputs = ["f32[N]"]'

# What is wrong, the file, the line of the fault, what the message says.
FAULTY = [
    ("not TOML", "[Op\n", "1:4", "this is not TOML: Expected ']' at the end of a table declaration"),
    ("no operation", 'extension = "a"\n', "", "the file declares no operation; begin one with its type in brackets"),
    ("no output", '[Op]\ninputs = ["data: any[N]"]', "1", "Op: the operation has no output; declare one"),
    ("no table", "Op = 3", "1", "'Op' must be a table; begin the operation with [Op]"),
    ("unknown key", '[Op]\ninput = ["data: any[N]"]', "2", "'input' is no key of an operation; did you mean inputs?"),
    ("type of a key", '[Op]\ninputs = "data: any[N]"', "2", "inputs must be a list of texts"),
    ("no port", '[Op]\ninputs = [\n  "data any",\n]\noutputs = ["f32[1]"]', "3", "'data any' is not a port; write a port as"),
    ("no name", '[Op]\ninputs = ["any[N]"]\noutputs = ["f32[N]"]', "2", "'any[N]' has no name"),
    ("element type", '[Op]\ninputs = ["data: f33[N]"]\noutputs = ["f32[N]"]', "2", "'f33' is not an element type; write any,"),
    ("size of an input", '[Op]\ninputs = ["data: f32[N+1]"]\noutputs = ["f32[N]"]', "2", "'N+1' is not a size of an input"),
    ("two runs", '[Op]\ninputs = ["data: f32[A..., B...]"]\noutputs = ["f32[1]"]', "2", "has two runs of axes"),
    ("empty size", '[Op]\ninputs = ["data: f32[N,,C]"]\noutputs = ["f32[1]"]', "2", "has an empty size"),
    ("parentheses", '[Op]\ninputs = ["(a: f32[N])"]\noutputs = ["f32[1]"]', "2", "does not say how often its ports are there"),
    ("two names", '[Op]\ninputs = ["a: f32[N]", "a: f32[N]"]\noutputs = ["f32[1]"]', "2", "two ports have the name 'a'"),
    ("reserved name", '[Op]\ninputs = ["infer: f32[N]"]\noutputs = ["f32[1]"]', "2", "a port cannot have the name 'infer'"),
    ("like nothing", '[Op]\ninputs = ["a: like b[N]"]\noutputs = ["f32[1]"]', "1", "Op.a is like 'b', which is no input"),
    ("output of any type", f'[Op]\n{PORTS.replace("f32", "any")}', "3", "'any' is not the type of an output; write a type such as f32"),
    ("unknown name", f'[Op]\n{PORTS.replace("f32[N]", "f32[M]")}', "3", "'M' uses 'M', which is neither a size of an input"),
    ("unknown run", f'[Op]\n{PORTS.replace("f32[N]", "f32[T...]")}', "3", "no input names the axes T..."),
    ("no formula", f'[Op]\n{PORTS.replace("f32[N]", "f32[N +]")}', "3", "'N +' is not a formula; a formula is made of"),
    ("no number", f'[Op]\n{PORTS.replace("f32[N]", "f32[N/2]")}', "3", "'N / 2' cannot be part of a formula"),
    ("a call", f'[Op]\n{PORTS.replace("f32[N]", "f32[open(N)]")}', "3", "'open(N)' cannot be part of a formula"),
    ("an attribute of a name", f'[Op]\n{PORTS.replace("f32[N]", "f32[N.real]")}', "3", "'N.real' cannot be part of a formula"),
    ("axis beyond the rank", '[Op]\ninputs = ["data: any[N]"]\noutputs = ["f32[data[1]]"]', "2", "data has rank 1, and a formula"),
    ("optional output", f'[Op]\n{PORTS.replace("f32[N]", "(f32[N])?")}', "3", "is optional, but uses no optional input"),
    ("repeated output", f'[Op]\n{PORTS.replace("f32[N]", "(f32[N])+")}', "3", "is repeated, and outputs cannot be; write a class"),
    ("type of an attribute", f'[Op]\n{PORTS}\nattributes = {{ k = "integer" }}', "4", "'integer' is not the type of an attribute; write"),
    ("default", f'[Op]\n{PORTS}\nattributes = {{ k = "int, default x" }}', "4", "the default of 'k' does not fit its type"),
    ("default below the limit", f'[Op]\n{PORTS}\nattributes = {{ k = "int >= 1, default 0" }}', "4", "must be at least 1, got 0"),
    ("limit", f'[Op]\n{PORTS}\nattributes = {{ k = "int < 3" }}', "4", "'< 3' is not a limit"),
    ("text in a formula", f'[Op]\n{PORTS.replace("[N]", "[N*k]")}\nattributes = {{ k = "text" }}', "3", "'k', which is not an int"),
    ("no condition", f'[Op]\n{PORTS}\nconditions = {{ "N + 1" = "?" }}', "4", "'N + 1' is no condition; compare"),
    ("extension", f'extension = 3\n[Op]\n{PORTS}', "1", "extension must be a text"),
    ("size and run", '[Op]\ninputs = ["a: f32[N]", "b: f32[N...]"]\noutputs = ["f32[1]"]', "2", "'N' names a size and a run of axes"),
    ("attribute and input", f'[Op]\n{PORTS}\nattributes = {{ data = "int" }}', "2", "'data' is an attribute and an input"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), [row[1:] for row in FAULTY], ids=[row[0] for row in FAULTY])
def test_a_fault_has_its_line_and_the_next_step(text: str, line: str, message: str) -> None:
    with pytest.raises(FileFault) as caught:
        read_ops(text.encode(), "ops.toml", "extension")
    place = f"ops.toml:{line}: " if line else "ops.toml: "
    assert str(caught.value).startswith(place), caught.value
    assert message in str(caught.value)


def test_every_operation_with_a_fault_is_named() -> None:
    text = '[A]\ninputs = ["any"]\noutputs = ["f32[1]"]\n[B]\noutputs = ["f32[1]"]\n[C]\noutput = ["f32[1]"]\n'
    with pytest.raises(FileFault) as caught:
        read_ops(text.encode(), "ops.toml", "extension")
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == ["ops.toml:2", "ops.toml:7"]


@pytest.mark.parametrize("count", [198, 200, 3000, 20_000])
@pytest.mark.parametrize("form", ["{0}N", "{1}N{2}", "{3}N"], ids=["signs", "calls", "sums"])
def test_a_formula_that_nests_too_deeply(form: str, count: int) -> None:
    text = form.format("-" * count, "max(1, " * count, ")" * count, "N + " * count)
    source = f'[Op]\ninputs = ["data: any[N]"]\noutputs = ["f32[{text}]"]'
    if count < 200:
        one(source)
        return
    with pytest.raises(FileFault, match=r"ops.toml:3: Op: .*(nests its operations deeper than 200|is not a formula)") as caught:
        one(source)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("form", ["data[{}]", "N//{}", "{}..", "N", "value(data, {})"])
def test_a_formula_with_a_number_that_no_size_has(form: str) -> None:
    huge = "0x" + "f" * 9000
    condition = f'[Op.conditions]\n"N == {huge}" = "no"' if form == "N" else ""
    with pytest.raises(FileFault, match="has a number above 9223372036854775807; no size is larger"):
        one(f'[Op]\ninputs = ["data: any[N]"]\noutputs = ["f32[{form.format(huge)}]"]\n{condition}')


def test_a_file_that_is_no_text() -> None:
    with pytest.raises(FileFault, match="the file is not UTF-8"):
        read_ops(b"\xff\xfe", "ops.toml", "extension")


def test_a_declaration_makes_the_class_that_python_would() -> None:
    declared = one(
        '[Pool]\nsummary = "Pool."\nversion = "acme"\ninputs = ["data: float[N, C, S...]", "(mask: boolean[N])?"]\n'
        'outputs = ["like data[N, C]"]\nattributes = { exclude-pad = "boolean, default true", size = "int >= 1" }'
    )
    assert issubclass(declared, Op)
    assert (declared.TYPE, declared.VERSION, declared.__doc__) == ("Pool", "acme", "Pool.")
    assert [(port.name, port.rank, port.min_rank, port.optional) for port in declared.inputs] == [
        ("data", None, 2, False),
        ("mask", 1, 1, True),
    ]
    assert {own.spelling: own.required for own in declared.attributes.values()} == {"exclude-pad": False, "size": True}


def test_the_description_of_a_declared_operation(tmp_path: Path) -> None:
    file = tmp_path / "ops.toml"
    file.write_text(
        'extension = "acme"\n[Crop]\nsummary = "Cut."\ninputs = ["data: any[...]"]\noutputs = ["like data[data...]"]', encoding="utf-8"
    )
    described = describe("crop", registry_of(file))
    assert described is not None
    assert described["category"] == "extension"
    assert described["versions"][0]["extension"] == "acme"
    assert described["versions"][0]["summary"] == "Cut."


def test_shipped_files_have_the_form_of_the_schema() -> None:
    import tomllib

    form = validator("extension")
    for path in (ROOT / "irshape" / "ops" / "tokenizers.toml", EXAMPLES / "patches.toml"):
        assert list(form.iter_errors(tomllib.loads(path.read_text(encoding="utf-8")))) == []
    for wrong in ({"Op": {"outputs": "f32[N]"}}, {"Op": {"inputs": []}}, {"extension": 3}, {"Op": {"outputs": ["f32[1]"], "input": []}}):
        assert not form.is_valid(wrong)


def test_every_operation_of_openvino_tokenizers_names_its_library() -> None:
    own = [op for op in REGISTRY.classes() if op.__module__ == "irshape.ops.tokenizers"]
    assert len(own) == 31
    assert {op.EXTENSION for op in own} == {"openvino-tokenizers"}
