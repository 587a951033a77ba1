"""Where tensors enter and leave a model, and its state."""

from typing import Any

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core, reads
from tests.support.rows import Rows, row_tests

V = {"variable_id": "v"}


def declared(shape: str | None = "2,3", type: str | None = "f32") -> dict[str, Any]:
    """The attributes of a ReadValue of opset6."""
    return {"variable_id": "v", "variable_type": type, "variable_shape": shape}


ROWS: Rows = {
    ("ReadValue", "opset3"): [
        ("as its input", "f16[1..4,?]", V, "f16[1..4,?]"),
        ("unranked", "f32[...]", V, "f32[...]"),
        ("without id", "f32[2,3]", "f32[2,3]"),
        ("attributes of opset6", "f32[2,3]", declared("5", "i8"), "f32[2,3]"),
        ("a constant", "[2,3]", V, "i64[2]"),
        ("no input", "", V, "G107"),
    ],
    ("ReadValue", "opset6"): [
        ("as declared", "f32[2,3]", declared(), "f32[2,3]"),
        ("wider than its input", "f32[2..4,3]", declared("1..9,..8"), "f32[1..9,..8]"),
        ("unranked", "f32[2,3]", declared("..."), "f32[...]"),
        ("unranked input", "f32[...]", declared("..."), "f32[...]"),
        ("no input", "", declared("?,3"), "f32[?,3]"),
        ("nothing declared", "f32[2,3]", V, "f32[2,3]"),
        ("nothing declared, no input", "", V, "dynamic[...]"),
        ("type only", "f32[2,3]", declared(None), "f32[...]"),
        ("shape only", "f32[2,3]", declared("2,3", None), "dynamic[2,3]"),
        ("other type", "i64[2,3]", declared(), "T102"),
        ("dynamic type", "dynamic[2,3]", declared(), "T102"),
        ("other size", "f32[2,4]", declared(), "S201"),
        ("other rank", "f32[6]", declared(), "S102"),
        ("unknown size", "f32[2,?]", declared(), "S206"),
        ("unknown rank", "f32[...]", declared(), "S206"),
        ("scalar declared", "f32[2,3]", declared(""), "S102"),
        ("no shape", "f32[2,3]", declared("2,x"), "A102"),
        ("no type", "f32[2,3]", declared("2,3", "float"), "A103"),
    ],
    ("Assign", "opset3"): [("no ReadValue", "f32[2,3]", V, "G118")],
    ("Assign", "opset6"): [("no ReadValue", "f32[2,3]", V, "G118")],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# A variable, what it begins as, what is assigned: the opset, the ReadValue's attributes, the fact of its input, that of the input of
# Assign (None is what was read), and the codes.
PAIRS: list[tuple[str, str, dict[str, Any], str | None, str | None, list[str]]] = [
    ("what was read", "opset3", V, "f32[2,3]", None, []),
    ("what was read", "opset6", declared(), "f32[2,3]", None, []),
    ("something else", "opset3", V, "f32[2,3]", "f32[2,3]", ["G118"]),
    ("something else", "opset6", declared(), "f32[2,3]", "f32[2,3]", []),
    ("no first value", "opset6", declared(), None, None, []),
    ("other id", "opset6", {**declared(), "variable_id": "w"}, "f32[2,3]", None, ["G118"]),
    ("other type", "opset6", declared(), "f32[2,3]", "i64[2,3]", ["T102"]),
    ("dynamic type", "opset6", declared(), "f32[2,3]", "dynamic[2,3]", []),
    ("other size", "opset6", declared("?,3"), "f32[2,3]", "f32[2,4]", ["S201"]),
    ("other rank", "opset6", declared("?,3"), "f32[2,3]", "f32[3]", ["S102"]),
    ("too small", "opset6", declared("2..4,3"), "f32[2,3]", "f32[1,3]", ["S201"]),
    ("too large", "opset6", declared("2..4,3"), "f32[2,3]", "f32[5,3]", ["S201"]),
    ("may fit", "opset6", declared("2..4,3"), "f32[2,3]", "f32[?,1..3]", []),
    ("cannot fit", "opset6", declared("2..4,3"), "f32[2,3]", "f32[?,1..2]", ["S201"]),
]


def pair_of(opset: str, attributes: dict[str, Any], first: str | None, assigned: str | None) -> Net:
    """An IR with a ReadValue, which a Result reads, and the Assign of its variable."""
    net = Net()
    first_ref = [net.parameter(first)] if first else []
    assigned_ref = net.parameter(assigned) if assigned else None
    [read] = net.layer("ReadValue", first_ref, ["FP32"], opset, **attributes)
    net.result(read)
    net.layer("Assign", [assigned_ref or read], ["FP32"], opset, variable_id="v")
    return net


@pytest.mark.parametrize(("name", "opset", "attributes", "first", "assigned", "codes"), PAIRS)
def test_pair(name: str, opset: str, attributes: dict[str, Any], first: str | None, assigned: str | None, codes: list[str]) -> None:
    net = pair_of(opset, attributes, first, assigned)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert [d.code for d in inference.diagnostics] == codes
    assert all(d.where.layer_type == "Assign" for d in inference.diagnostics)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "opset", "attributes", "first", "assigned", "codes"), PAIRS)
def test_pair_with_openvino(
    name: str, opset: str, attributes: dict[str, Any], first: str | None, assigned: str | None, codes: list[str]
) -> None:
    net = pair_of(opset, attributes, first, assigned)
    assert reads(net.xml.encode(), net.bin) is not bool(codes)


def test_what_is_assigned_must_fit_for_every_size() -> None:
    """A variable that holds 2 rows can be given N rows if N is 2."""
    net = pair_of("opset6", declared("2,3"), "f32[2,3]", "f32[?,3]")
    inference = irshape.infer(net.xml.encode(), weights=net.bin, inputs={"parameter_1": "[N,3]"})
    assert [str(guard.requirement) for guard in inference.guards] == ["N == 2"]


def test_assign_of_opset3_keeps_type_and_static_shape() -> None:
    for other, code in [("Convert(destination_type=i64)", "T102"), ("Concat(_, _, axis=0)", "S201")]:
        net = Net(f"f32[2,3] -> ReadValue-3(variable_id=v) -> {other} -> Assign-3(variable_id=v)")
        assert [d.code for d in irshape.infer(net.xml.encode()).diagnostics] == [code]


def test_assign_before_its_variable_is_read_is_a_warning() -> None:
    """OpenVINO compares the two only if it makes the ReadValue first."""
    net = Net("_first: f32[2,3]\nAssign-6(i64[5], variable_id=v)")
    net.result(net.layer("ReadValue", [net.named["_first"][0]], ["FP32"], "opset6", **declared())[0])
    inference = irshape.check(net.xml.encode())
    assert inference.ok
    assert "R201" in [d.code for d in inference.diagnostics]


def test_many_pairs_of_opset3_take_linear_time() -> None:
    pairs = (f"\n_x -> _x: ReadValue-3(variable_id={i})\n_x -> Assign-3(variable_id={i // 2})" for i in range(1500))
    net = Net(f"_x: f32[2,3]{''.join(pairs)}")
    assert irshape.infer(net.xml.encode()).ok


@pytest.mark.oracle
@pytest.mark.parametrize("reads_values", [False, True])
@pytest.mark.parametrize("type", ["Const", "Parameter"])
def test_a_layer_without_inputs_takes_none(type: str, reads_values: bool) -> None:
    """The edge comes from a layer that stands behind, and the values of the constant are read or not."""
    net = Net("_data: f32[2,3]")
    one = net.add(f"_one: {'[1]' if type == 'Const' else 'i64[1]'}")
    net.add("ReduceSum(_data, _one) -> Result" if reads_values else "_one -> Result")
    more = net.add("i64[1]")
    net.layers[one.layer] = net.layers[one.layer].replace("<output>", '<input><port id="5" precision="I64"/></input><output>')
    net.edges.append(f'<edge from-layer="{more.layer}" from-port="0" to-layer="{one.layer}" to-port="5"/>')
    with pytest.raises(RuntimeError):
        core().read_model(net.xml.encode(), net.bin)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert [one.code for one in inference.diagnostics if one.severity == "error"] == ["G108"]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("text", "is_read"), [("8", True), (" 8", True), ("+8", True), (" +8", True), ("8 ", False), ("-8", False), ("0x8", False)]
)
def test_where_the_bytes_of_a_constant_begin(text: str, is_read: bool) -> None:
    net = Net("[1]\n[2] -> Result")
    xml = net.xml.replace('offset="8"', f'offset="{text}"').encode()
    assert reads(xml, net.bin) is is_read
    assert irshape.infer(xml, weights=net.bin).ok is is_read
