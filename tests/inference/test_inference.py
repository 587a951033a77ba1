"""One pass over a graph: what travels, what is said, and what is not."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import irshape
from tests.support.ir import Net, Ref
from tests.support.oracle import core, reads


def codes(inference: irshape.Inference) -> list[tuple[str, str | None]]:
    """Code and layer of every diagnostic, in order."""
    return [(diagnostic.code, diagnostic.where.layer_id) for diagnostic in inference.diagnostics]


def block(size: int, data: str = "_") -> str:
    """A SpaceToDepth behind a port."""
    return f"SpaceToDepth({data}, block_size={size}, mode=blocks_first)"


def test_a_failing_layer_hides_neither_the_others_nor_repeats_itself() -> None:
    # 9 is no multiple of 2; nothing is known of the input of the next layer; the other input has a fault of its own.
    net = Net(f"f32[1,1,8,9] -> {block(2)} -> _x: {block(3)}\nConcat(_x, {block(4, 'f32[1,1,5,5]')}, axis=0) -> Result")
    inference = irshape.infer(net.xml.encode())
    assert codes(inference) == [("S204", "1"), ("S204", "4"), ("S204", "4")]
    assert repr(inference["concat_5"].outputs[0]) == "dynamic[...]"


def test_an_unknown_operation_is_an_error_and_its_recorded_ports_are_trusted() -> None:
    net = Net(f"f32[1] -> MyOp-extension -> {block(2)} -> Result")
    xml = net.xml.replace('<port id="1" precision="FP32"/>', '<port id="1" precision="FP32"><dim>1</dim><dim>3</dim><dim>4</dim></port>', 1)
    inference = irshape.infer(xml.encode())
    assert codes(inference) == [("G110", "1")]
    assert repr(inference.layer(2).outputs[0]) == "f32[1,6,2]"
    assert not inference.ok
    relaxed = irshape.infer(xml.encode(), opaque=["MyOp"])
    assert codes(relaxed) == [("G117", "1")]
    assert relaxed.ok


def test_an_operation_of_another_opset_says_where_it_is_found() -> None:
    net = Net("SpaceToBatch(f32[1,4]) -> Result")
    (diagnostic,) = irshape.infer(net.xml.encode()).diagnostics
    assert diagnostic.code == "G111"
    assert diagnostic.hint == "SpaceToBatch is available from opset2 on, which needs OpenVINO 2020.2 or later"


def test_faults_of_layers_that_reach_no_result_are_warnings() -> None:
    net = Net(f"_x: f32[1,1,9]\n_x -> {block(2)}\n_x -> Result")
    inference = irshape.infer(net.xml.encode())
    assert inference.ok
    assert codes(inference) == [("G116", "1"), ("S204", "1")]
    assert {diagnostic.severity for diagnostic in inference.diagnostics} == {"warning"}


def test_a_circle_is_reported_once_and_cut() -> None:
    net = Net("x: f32[1,1,8]")
    net.named["_back"] = [Ref(2, 2, "FP32")]
    net.add("x -> Concat(_back, axis=1) -> Concat(x, axis=1) -> Result")
    inference = irshape.infer(net.xml.encode())
    assert codes(inference) == [("G105", "1")]


def test_symbols_travel_as_formulas_and_guards_tell_what_must_hold() -> None:
    net = Net(f"f32[?,?,?,?] -> {block(2)} -> Result")
    inference = irshape.infer(net.xml.encode(), inputs={"parameter_0": "[N,3,H,W]"}, symbols={"H": "1..64", "W": "8*k"})
    layer = inference["spacetodepth_1"]
    assert layer.outputs[0].formula == "[N,12,H//2,4*(W//8)]"
    assert layer.outputs[0].text == "[?,12,1..32,?]"
    assert [str(guard.requirement) for guard in inference.guards] == ["H % 2 == 0"]
    assert inference.guards[0].node is layer.node
    assert inference.formulas == {"0:0": "[N,3,H,W]", "1:1": "[N,12,H//2,4*(W//8)]"}


@pytest.mark.parametrize(
    ("inputs", "symbols", "message"),
    [
        ({"paramter_0": "[1]"}, {}, "no input 'paramter_0'; inputs of the model: 'parameter_0'; did you mean 'parameter_0'"),
        ({"parameter_0": "[1,"}, {}, "never closed"),
        ({"parameter_0": "[1,2..1]"}, {}, "larger"),
        ({"parameter_0": "[H]"}, {"H": "x*"}, "the symbol H"),
        ({"parameter_0": "[1]"}, {"H": "1..2"}, "the model has no symbol 'H', because all its sizes are fixed; name the sizes: --input"),
        ({"parameter_0": 5}, {}, "must be a text, a sequence of sizes, an OpenVINO shape or an array, not int"),
    ],
)
def test_what_a_caller_cannot_mean_raises(inputs: dict[str, object], symbols: dict[str, str], message: str) -> None:
    net = Net("f32[?] -> Result")
    with pytest.raises(irshape.InputError, match=message):
        irshape.infer(net.xml.encode(), inputs=inputs, symbols=symbols)  # type: ignore[arg-type]


@pytest.mark.parametrize(("names", "name"), [("x:0,x", "x:0"), ("x:0,x", "x"), (r"x\,y,z", "x,y")])
def test_an_input_is_also_known_by_the_names_of_its_tensor(names: str, name: str) -> None:
    net = Net("f32[?,?] -> Result")
    xml = net.xml.replace('precision="FP32"/>', f'precision="FP32" names="{names}"/>', 1)
    inference = irshape.infer(xml.encode(), inputs={name: (1, "2..3")})
    assert inference["parameter_0"].outputs[0].text == "[1,2..3]"


def test_check_compares_what_is_recorded() -> None:
    net = Net(f"f32[1,1,4,?] -> {block(2)} -> Result")
    stale = net.xml.replace(
        '<port id="1" precision="FP32"/>', '<port id="1" precision="FP16"><dim>1</dim><dim>5</dim><dim>-1</dim><dim>7</dim></port>'
    )
    assert codes(irshape.infer(stale.encode())) == []
    found = irshape.check(stale.encode()).diagnostics
    assert [(diagnostic.code, diagnostic.where.port) for diagnostic in found] == [("R301", "1"), ("R302", "1")]
    assert found[0].message == "the port records [1,5,?,7], but the model computes [1,4,2,?]"


def test_of_layers_with_one_id_the_last_counts() -> None:
    text = Net("x: f32[2,3]\nx -> ReLU -> Result").xml
    layer = text[text.index('\t\t<layer id="1"') : text.index('\t\t<layer id="2"')]
    inference = irshape.check(text.replace(layer, layer + layer).encode())
    assert (inference.diagnostics[0].code, inference.ok, inference.to_dict()["ports"]["1:1"]) == ("G101", True, ["f32", "[2,3]"])


def test_the_ends_of_an_edge_may_differ_in_dims_and_in_precision() -> None:
    text = Net("x: dynamic[?,?]\nx -> ReLU -> Result").xml  # the input of ReLU records nothing, so its output may record anything
    for id, precision, dims in ((1, "FP32", "23"), (0, "U8", "24")):
        before, _, after = text.rpartition(f'<port id="{id}" precision="UNSPECIFIED"/>')
        text = f'{before}<port id="{id}" precision="{precision}">{"".join(f"<dim>{dim}</dim>" for dim in dims)}</port>{after}'
    found = irshape.check(text.encode()).diagnostics
    assert [(one.code, one.where.layer_type) for one in found] == [("R301", "Result"), ("R302", "Result")]


def test_what_is_out_of_date_is_said_once() -> None:
    """At the port where it begins, with the number of outputs behind it; what differs for itself is said for itself."""
    net = Net("_x: f32[2,3]\n_y: f32[2,3]\n_x -> ReLU -> _x: ReLU\nConcat(_x, ReLU(_y), axis=0) -> Result")
    written = irshape.infer(net.xml.encode()).xml()
    stale = written.replace(b'shape="2,3"', b'shape="2,5"')
    found = irshape.check(stale).diagnostics
    assert [(one.code, one.where.layer_id, one.message) for one in found] == [
        ("R301", "0", "the port records [2,3], but its attribute shape says [2,5]; 3 ports after it differ for the same reason"),
        ("R301", "1", "the port records [2,3], but its attribute shape says [2,5]; 1 port after it differs for the same reason"),
    ]
    wrong = written.replace(b"<dim>4</dim>", b"<dim>7</dim>", 1)
    assert [(one.code, one.where.layer_id) for one in irshape.check(wrong).diagnostics] == [("R301", "5")]


def test_only_the_bytes_that_a_rule_reads_are_read(tmp_path: Path) -> None:
    from irshape.xml.weights import Weights

    net = Net("""
        _x: f32[2,4,4]
        _blocks: [1,2,2]
        _begin: [0,0,0]
        _end: [0,0,0]
        _unread: f32=1.0[1000]
        SpaceToBatch-2(_x, _blocks, _begin, _end) -> Result
        _unread -> Result
    """)
    weights = Weights(net.bin)
    assert irshape.infer(net.xml.encode(), weights=weights).ok
    assert weights.bytes_read == 3 * 3 * 8


def test_constants_are_held_against_the_weights() -> None:
    net = Net("f32[2,4,4] -> SpaceToBatch-2([1,2,2], [0,0,0], [0,0,0]) -> Result")
    assert codes(irshape.infer(net.xml.encode())) == [("W203", "1")]
    assert codes(irshape.infer(net.xml.encode(), weights=False)) == [("N108", "1")]
    assert codes(irshape.infer(net.xml.encode(), weights=b"")) == [("W101", "1")]
    assert codes(irshape.infer(net.xml.encode(), weights=net.bin[:50])) == [("W102", "3")]
    assert codes(irshape.infer(net.xml.replace('size="24"', 'size="23"', 1).encode(), weights=net.bin)) == [("W103", "1")]
    assert codes(irshape.check(net.xml.replace('size="24"', 'size="25"', 1).encode(), weights=net.bin)) == [("R303", "1")]


def test_equal_layers_share_one_application_and_unknown_values_do_not() -> None:
    net = Net("""
        _x: f32[4,4]
        _first: i64[2]
        _second: i64[2]
        _pads: [0,0]
        SpaceToBatch-2(_x, _first, _pads, _pads) -> Result
        SpaceToBatch-2(_x, _second, _pads, _pads) -> Result
    """)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    first, second = (inference.layer(id).outputs[0].formula for id in (4, 6))
    assert first != second


def test_inference_in_threads_gives_the_same() -> None:
    net = Net(f"f32[?,1,?,?] -> {block(2)} -> Result")
    xml = net.xml.encode()
    results: list[dict[str, object]] = []
    threads = [threading.Thread(target=lambda: results.append(irshape.infer(xml).to_dict())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(result == results[0] for result in results)


@pytest.mark.oracle
def test_what_is_written_is_read_by_openvino_with_the_same_shapes(tmp_path: Path) -> None:
    net = Net("f32[?,?,?] -> SpaceToBatch-2([1,2,2], [0,1,0], [0,1,0]) -> Result")
    net.save(tmp_path / "in.xml")
    inference = irshape.infer(tmp_path / "in.xml", inputs={"parameter_0": "[N,6..8,W]"}, symbols={"N": "2..4"})
    inference.write(tmp_path / "out.xml", weights="link")
    model = core().read_model(tmp_path / "out.xml")
    assert str(model.output(0).get_partial_shape()) == "[8..16,4..5,?]"
    assert (tmp_path / "out.bin").samefile(tmp_path / "in.bin")
    with pytest.raises(FileExistsError):
        inference.write(tmp_path / "out.xml")
    with pytest.raises(FileExistsError):
        inference.write(tmp_path / "in.xml", force=True)
    again = irshape.infer(tmp_path / "out.xml")
    assert again.ok


def test_a_file_that_says_it_all_is_written_back_byte_by_byte() -> None:
    net = Net(f"f32[1,1,4,4] -> {block(2)} -> Result")
    once = irshape.infer(net.xml.encode()).xml()
    assert irshape.infer(once).xml() == once


@pytest.mark.oracle
def test_an_execution_graph_is_one_error(tmp_path: Path) -> None:
    """OpenVINO refuses what it has written itself: each layer lacks a version, and is no operation."""
    import openvino

    net = Net("ReLU(Exp(f32[2,3])) -> Result")
    compiled = openvino.Core().compile_model(openvino.Core().read_model(net.xml.encode()), "CPU")
    path = tmp_path / "kernels.xml"
    openvino.serialize(compiled.get_runtime_model(), path)
    assert codes(irshape.infer(path)) == codes(irshape.check(path, structure=True)) == [("X112", None)]
    with pytest.raises(RuntimeError):
        openvino.Core().read_model(path)


def test_another_version_is_not_compared_with_the_schema() -> None:
    net = Net("ReLU(f32[2,3]) -> Result")
    source = net.xml.replace('version="11"', 'version="6"').replace('version="opset1"', "")
    assert codes(irshape.check(source.encode(), structure=True)) == [("X108", None)]


def test_operations_of_other_element_types_are_one_error() -> None:
    """OpenVINO names the version of such operations type_relaxed_opset where it writes a model while it compiles it."""
    net = Net("f32[2,3] -> ReLU-type_relaxed_opset -> Exp-type_relaxed_opset -> Abs-type_relaxed_opset -> Result")
    [fault] = irshape.infer(net.xml.encode()).diagnostics
    assert (fault.code, fault.where.layer_id) == ("G112", "1")
    assert "3 layers" in fault.message


# What OpenVINO fails to compute: an index outside its axis, a division by 0, an axis that is no integer, and an unknown type.
FAILURES = {
    "ScatterUpdate-3([2,3], [-1], [4], 0)": "V101",
    "Divide([2,3], [0,1])": "V106",
    "Gather([2,3], [0,1], f32=0)": "T101",
    "Convert([2,3], destination_type=dynamic)": "T101",
}


@pytest.mark.oracle
@pytest.mark.parametrize("fault", FAILURES)
@pytest.mark.parametrize(
    ("use", "accepted"),
    [("read", False), ("converted and read", False), ("a part is read", False), ("added to unknown values", True), ("not read", True)],
)
def test_openvino_computes_values_where_a_rule_reads_them_and_knows_all_others(fault: str, use: str, accepted: bool) -> None:
    read = "Broadcast-3(f32[], _, mode=numpy)"
    uses = {
        "read": read,
        "converted and read": f"Convert(destination_type=i32) -> Convert(destination_type=i64) -> {read}",
        "a part is read": f"Gather-8([1], 0) -> {read}",
        "added to unknown values": f"Add(i64[2], _) -> {read}",
        "not read": "Result",
    }
    net = Net(f"{fault} -> {uses[use]}" + (" -> Result" if use != "not read" else ""))
    assert reads(net.xml.encode(), net.bin) is accepted
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok is accepted
    told = {diagnostic.code for diagnostic in inference.diagnostics}
    assert told - {"R401"} == (set() if accepted else {FAILURES[fault]})


# Operations with constant indices into the rows of their data: the version, the indices that name a row, and the updates.
INDEXED = [
    ("Gather", "opset1", lambda index: [index], None),
    ("Gather", "opset8", lambda index: [index], None),
    ("GatherElements", "opset6", lambda index: [[index] * 2], None),
    ("GatherND", "opset8", lambda index: [[index]], None),
    ("ScatterUpdate", "opset3", lambda index: [index], "f32[1,2]"),
    ("ScatterElementsUpdate", "opset3", lambda index: [[index] * 2], "f32[1,2]"),
    ("ScatterNDUpdate", "opset4", lambda index: [[index]], "f32[1,2]"),
]


@pytest.mark.oracle
@pytest.mark.parametrize("element_type", ["i32", "i64"])
@pytest.mark.parametrize(("type", "version", "indices", "updates"), INDEXED)
def test_a_constant_index_outside_its_axis_is_told(
    type: str, version: str, indices: Callable[[int], object], updates: str | None, element_type: str
) -> None:
    """OpenVINO accepts it, and its CPU plugin reads or writes other memory, leaves elements out or puts zeros."""
    for rows, index, is_told in [("3", 2, False), ("3", 3, True), ("?", 9, False), ("1..3", 2, False), ("1..3", 3, True), ("3", -4, True)]:
        net = Net()
        inputs = [net.parameter(f"f32[{rows},2]"), net.const(indices(index), element_type)]
        inputs += [net.parameter(updates)] if updates else []
        inputs += [net.const(0)] if type in ("Gather", "ScatterUpdate", "ScatterElementsUpdate") else []
        net.result(net.layer(type, inputs, ["FP32"], version, **({"axis": 0} if type == "GatherElements" else {}))[0])
        core().read_model(net.xml.encode(), net.bin)
        assert codes(irshape.infer(net.xml.encode(), weights=net.bin)) == ([("R401", inputs_after(net))] if is_told else []), (rows, index)


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize(("type", "updates"), [("GatherND-8", None), ("ScatterNDUpdate-4", "f32[2]")])
@pytest.mark.parametrize(("shape", "indices", "told"), [
    ("9,2", [[8, 1], [-9, -2]], []),
    ("9,2", [[1, 8], [0, 0]], ["indices[...,1] must be in [-2, 1], got 8"]),
    ("2,9", [[1, 8], [0, 0]], []),
    ("2,9", [[-3, 8], [0, 9]], ["indices[...,0] must be in [-2, 1], got -3", "indices[...,1] must be in [-9, 8], got 9"]),
    ("?,2", [[9, 2], [0, 0]], ["indices[...,1] must be in [-2, 1], got 2"]),
])  # fmt: skip
def test_each_index_of_a_tuple_has_its_axis(
    type: str, updates: str | None, shape: str, indices: list[list[int]], told: list[str], is_shared: bool
) -> None:
    """A reader of all indices beside, which names one axis, changes nothing."""
    net = Net(f"_all: {indices}\n{type}(f32[{shape}], _all{f', {updates}' if updates else ''}) -> Result")
    if is_shared:
        net.add("Gather-8(f32[?], _all, 0) -> Result")
    found = irshape.infer(net.xml.encode(), weights=net.bin).diagnostics
    assert [(one.code, one.message) for one in found] == [("R401", message) for message in told]


@pytest.mark.parametrize(("data", "shape", "special_zero", "told"), [
    ("?,4", [0, 4], "true", []), ("?,4", [0, 4], "false", ["R401"]), ("..3,4", [0, 2, 2], "false", ["R401"]), ("0,4", [0, 2], "false", []),
])  # fmt: skip
def test_a_size_of_0_that_only_data_without_elements_have(data: str, shape: list[int], special_zero: str, told: list[str]) -> None:
    net = Net(f"Reshape(f32[{data}], {shape}, special_zero={special_zero}) -> Result")
    found = irshape.infer(net.xml.encode(), weights=net.bin).diagnostics
    assert [one.code for one in found] == told


def inputs_after(net: Net) -> str:
    """The id of the layer before the Result."""
    return str(len(net.layers) - 2)


@pytest.mark.oracle
@pytest.mark.parametrize(("shape", "accepted"), [("0", True), ("2,0", True), ("1", False)])
def test_empty_weights_hold_empty_constants(shape: str, accepted: bool, tmp_path: Path) -> None:
    net = Net(f'Const(element_type=i64, shape="{shape}", offset=0, size={0 if accepted else 8}) i64 -> Result')
    path = tmp_path / "m.xml"
    path.write_text(net.xml)
    path.with_suffix(".bin").write_bytes(b"")
    assert reads(path) is accepted
    assert codes(irshape.infer(path)) == ([] if accepted else [("W101", "0")])


@pytest.mark.parametrize("type", ["Divide", "FloorMod", "Mod"])
@pytest.mark.parametrize(("divisors", "is_told"), [([0, 1], True), ([-2, 0], True), ([1, 2], False)])
def test_a_constant_divisor_of_zero_is_told(type: str, divisors: list[int], is_told: bool) -> None:
    """OpenVINO's core accepts it, whatever is divided. Its CPU plugin gives another number, refuses the model, or its process ends."""
    net = Net(f"{type}(i64[2], {divisors}) -> Result")
    assert codes(irshape.infer(net.xml.encode(), weights=net.bin)) == ([("R401", "2")] if is_told else [])
