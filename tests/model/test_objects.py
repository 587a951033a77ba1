"""Models, inferences and their parts behave as objects of Python do."""

import json
import struct
from typing import Any

import numpy
import openvino
import pytest
from lxml import html

import irshape
from irshape.cli.main import main
from tests.inference.test_bodies import ROWS
from tests.support.ir import Net

ATROUS = "examples/atrous.xml"
FAULTY = "examples/faulty.xml"


def test_names_and_parts_are_in_a_model_and_in_an_inference() -> None:
    inference, other = irshape.infer(ATROUS), irshape.infer(ATROUS)
    model = inference.model
    for whole in (model, inference):
        assert "stem" in whole and "root" not in whole and 3 not in whole
        assert model["stem"] in whole and other.model["stem"] not in whole
    assert inference["stem"] in inference
    assert [layer.name for layer in inference] == [node.name for node in model]
    assert len(inference) == len(model) == len(model.nodes) == 18
    with pytest.raises(KeyError, match="root"):
        model["root"]
    with pytest.raises(KeyError, match="root"):
        inference["root"]


def test_ports_are_equal_to_themselves() -> None:
    model = irshape.read(ATROUS)
    stem, relu = model["stem"], model["stem/relu"]
    assert stem.outputs[0] == stem.outputs[0] == relu.inputs[0].source
    assert relu.inputs[0] in stem.outputs[0].readers
    assert stem.inputs[0] != stem.inputs[1] and stem.inputs[0] != stem.outputs[0]
    assert stem.outputs[0] != irshape.read(ATROUS)["stem"].outputs[0]
    assert {stem.inputs[0]: 1}[stem.inputs[0]] == 1


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("f32", ["f32", "FP32", "float32", numpy.float32, numpy.dtype("f4"), openvino.Type.f32]),
        ("i64", ["i64", "int64", numpy.int64, numpy.dtype("i8"), openvino.Type.i64]),
        ("boolean", ["boolean", "bool", numpy.bool_, numpy.dtype("?"), openvino.Type.boolean]),
        ("u4", ["u4", "uint4", openvino.Type.u4]),
        (None, ["", "f33", None, 32, float, numpy.dtype("c8")]),
    ],
)
def test_an_element_type_equals_the_names_and_types_that_other_libraries_have_for_it(name: str | None, others: list[Any]) -> None:
    for one in irshape.ElementType.BY_NAME.values():
        assert [one == other for other in others] == [other == one for other in others] == [one.name == name] * len(others)
        assert {one: "found"}[one] == "found"


def test_layers_and_facts_of_two_inferences_are_equal_by_content() -> None:
    one, same, other = (irshape.infer(ATROUS, inputs={"image": shape}) for shape in ("[1,3,H,W]", "[1,3,H,W]", "[1,3,W,H]"))
    assert list(one) == list(same) and len({*one, *same}) == 18
    assert one["stem"] != other["stem"] and one["stem"].inputs[1] == other["stem"].inputs[1]
    assert one.guards == same.guards != other.guards
    assert len({*one.guards, *same.guards}) == len(one.guards)


def test_diagnostics_of_two_runs_are_equal_by_content() -> None:
    one, same = irshape.check(FAULTY).diagnostics, irshape.check(FAULTY).diagnostics
    assert one == same and one[0] is not same[0] and len({*one, *same}) == len(one) == len(set(map(str, one)))
    assert one[0].where == same[0].where != one[1].where
    with open(FAULTY, "rb") as file:
        assert irshape.check(file.read()).diagnostics != one


def test_a_diagnostic_as_text_is_the_line_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", FAULTY])
    lines = [line for line in capsys.readouterr().out.splitlines()[:-1] if not line.startswith(" ")]
    assert [str(diagnostic) for diagnostic in irshape.check(FAULTY).diagnostics] == lines
    assert str(irshape.check(FAULTY).diagnostics[0].where) == "examples/faulty.xml:13:17"


def test_what_a_console_shows() -> None:
    inference = irshape.check(FAULTY)
    model = inference.model
    assert repr(inference) == "<Inference of 'examples/faulty.xml': 8 layers, 6 errors, 3 warnings>"
    assert repr(irshape.infer(model.tree())) == "<Inference of 'faulty': 8 layers, 6 errors, 2 warnings>"
    assert repr(model) == "<Model 'faulty': IR v11, 8 layers>"
    assert repr(model["fold"]) == "<SpaceToDepth 2 'fold'>"
    assert repr(inference["fold"]) == "<SpaceToDepth 'fold' -> dynamic[...]>"
    loop = "examples/sums.xml"
    assert repr(irshape.read(loop)) == "<Model 'sums': IR v11, 15 layers>"
    assert repr(irshape.check(loop)).endswith("sums.xml': 15 layers, no faults>")
    assert repr(irshape.edit(loop)) == "<Graph 'sums': 15 layers, 0 edits>"
    assert repr(irshape.Session(ATROUS)) == "<Session of <Model 'atrous': IR v11, 18 layers>>"
    assert repr(irshape.read(ATROUS)["stem/weights"].const) == "<Const f32[4,3,3,3], 432 bytes at 0>"
    [height] = irshape.infer(ATROUS, inputs={"image": "[1,3,H,8]"}, symbols={"H": "8..64"})["image"].outputs[0].shape[2:3]  # type: ignore[index]
    assert repr(height) == "Dim(H: 8..64)" and str(height) == "H"


def cells(shown: str) -> list[list[str]]:
    """The text of each row of the tables in an HTML text."""
    return [[str(cell.text_content()) for cell in row] for row in html.fromstring(shown).iter("tr")]


def test_a_notebook_shows_the_inputs_and_outputs_of_a_model() -> None:
    shown = irshape.read(ATROUS)._repr_html_()
    assert "<b>atrous</b> IR v11, 18 layers" in shown
    assert cells(shown)[1:] == [["input", "image", "f32", "[?,3,?,?]"], ["output", "mask", "f32", "[?,2,?,?]"]]


def test_a_notebook_shows_the_shapes_and_marks_the_faults() -> None:
    shown = irshape.check(FAULTY)._repr_html_()
    rows = {row[1]: row for row in cells(shown)}
    assert rows["image"] == ["0", "image", "Parameter", "f32[1,3,224,225]", ""]
    assert rows["activate"] == ["5", "activate", "Reluu", "f32[...]", "G110 no opset has an operation 'Reluu'"]
    assert rows["join"][4].startswith("S201 the inputs must be equal on axis 2: 224 and 56 differ; S201 ")
    marked = [row for row in html.fromstring(shown).iter("tr") if "color:#c00" in row[0].get("style", "")]
    assert len(marked) == 6
    conditions = cells(irshape.infer(ATROUS, inputs={"image": "[1,3,H,W]"})._repr_html_())
    assert ["W >= 1", "stem", "the kernel of size 3 must fit into axis 3 of the padded data"] in conditions


def test_a_notebook_gets_no_markup_of_the_file() -> None:
    net = Net("f32[1] -> Result")
    text = net.xml.replace('"parameter_0"', '"&lt;script>alert(1)&lt;/script>"').replace('name="net"', 'name="&lt;b>"')
    for shown in (irshape.read(text)._repr_html_(), irshape.check(text)._repr_html_()):
        assert "<script" not in shown and "<b>&lt;b&gt;</b>" in shown


def test_a_notebook_gets_no_more_rows_than_anybody_reads() -> None:
    """Faults are among those that are shown, wherever they are."""
    net = Net(f"f32[1,4]{' -> ReLU' * 300} -> Softmax(axis=7) -> Result")
    shown = cells(irshape.check(net.xml)._repr_html_())
    assert len(shown) == 102 and shown[-1] == ["… 203 more"]
    assert any("softmax_301" in row for row in shown)


def noted(note: str) -> str:
    """A model with a note in the `<rt_info>` of a layer, of a port and of the net."""
    net = Net("ReLU(f32[1]) -> Result")
    port = '<port id="1" precision="FP32"/>'
    text = net.xml.replace("<rt_info/>", f"<rt_info><attribute name='net' value='1'/>{note}</rt_info>")
    assert port in text
    text = text.replace(port, f'<port id="1" precision="FP32" names="a,b\\,c"><rt_info>{note}</rt_info></port>')
    head = '<layer id="1" name="relu_1" type="ReLU" version="opset1">'
    return text.replace(head, f"{head}<rt_info>{note}</rt_info>")


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("", {}),
        ('<attribute name="fused_names" version="0" value="a &amp; b"/>', {"fused_names": {"version": "0", "value": "a & b"}}),
        ('<old><inner value="1"/><inner2 x="2"/></old>', {"old": {"inner": {"value": "1"}, "inner2": {"x": "2"}}}),
    ],
)
def test_notes_of_layers_ports_and_the_net(note: str, expected: dict[str, Any]) -> None:
    model = irshape.read(noted(note))
    assert irshape.infer(model).ok
    node = model["relu_1"]
    assert node.rt_info == node.outputs[0].rt_info == expected
    assert node.outputs[0].names == ["a", "b,c"]
    assert model.rt_info == {"net": {"value": "1"}, **expected}
    assert node.inputs[0].rt_info == model["parameter_0"].rt_info == {}
    assert model["parameter_0"].outputs[0].names == []


def test_notes_before_the_end_of_a_broken_file_are_given() -> None:
    assert irshape.read(noted("")[:-30]).rt_info == {}


def test_bodies_and_lines() -> None:
    net = next(net for name, net, _ in ROWS if name == "joined")
    model = irshape.read(net.xml, weights=net.bin)
    [holder] = [node for node in model if node.bodies]
    assert holder.body is holder.bodies["body"] and holder.body.holder is holder
    assert model.parameters[0].body is None
    lines = net.xml.splitlines()
    assert all(f'id="{node.id}" name="{node.name}"' in lines[node.line - 1] for graph in model.graphs() for node in graph)


@pytest.mark.parametrize(
    ("element_type", "values", "dtype"),
    [
        *((name, [0, 1, 100], dtype) for name, dtype in (("i8", "i1"), ("i16", "i2"), ("i32", "i4"), ("i64", "i8"))),
        *((name, [0, 1, 200], dtype) for name, dtype in (("u8", "u1"), ("u16", "u2"), ("u32", "u4"), ("u64", "u8"))),
        *((name, [0.5, -1.5, 3.0], dtype) for name, dtype in (("f16", "f2"), ("f32", "f4"), ("f64", "f8"))),
        ("boolean", [True, False, True], "?"),
    ],
)
def test_the_elements_of_a_constant(element_type: str, values: list[Any], dtype: str) -> None:
    net = Net(f"{element_type}=[{json.dumps(values)}] -> Result")
    data = irshape.read(net.xml, weights=net.bin)["const_0"].const.data
    assert data.dtype == numpy.dtype(dtype) and data.shape == (1, 3) and data.tolist() == [values]


def packed(element_type: str, shape: str, content: bytes) -> Net:
    """A Const of an element type that Python has no number for, and its conversion to f64."""
    net = Net()
    net.named["_const"] = [net.stored(element_type, shape, content)]
    net.add("Convert(_const, destination_type=f64) -> Result")
    return net


def const_of(net: Net) -> Any:
    return irshape.read(net.xml, weights=net.bin)["const_0"].const


@pytest.mark.parametrize(
    ("element_type", "content", "values"),
    [
        ("bf16", struct.pack("<2H", 0x3FC0, 0xC000), [1.5, -2.0]),
        ("u1", b"\x40", [0, 1]),
        ("u2", b"\x09", [1, 2]),
        ("u4", b"\x2f", [15, 2]),
        ("i4", b"\x2f", [-1, 2]),
        ("string", struct.pack("<i3i", 2, 0, 2, 3) + "ßa".encode(), ["ß", "a"]),
    ],
)
def test_the_elements_of_types_that_numpy_lacks(element_type: str, content: bytes, values: list[Any]) -> None:
    assert const_of(packed(element_type, "2", content)).data.tolist() == values


def test_the_elements_of_other_types_are_bytes() -> None:
    const = const_of(packed("f8e4m3", "2", b"\x01\x02"))
    with pytest.raises(TypeError, match="NumPy has no element type f8e4m3; read the bytes"):
        const.data  # noqa: B018
    assert const.bytes == b"\x01\x02"


@pytest.mark.oracle
@pytest.mark.parametrize("element_type", ["bf16", "u1", "u2", "u4", "i4"])
def test_openvino_reads_the_same_elements(element_type: str) -> None:
    content = bytes(range(37, 45))
    net = packed(element_type, str(8 * len(content) // irshape.ElementType.BY_NAME[element_type].bits), content)
    model = openvino.Core().read_model(net.xml.encode(), net.bin)
    theirs = openvino.Tensor(openvino.Type.f64, model.outputs[0].shape)
    assert model.evaluate([theirs], [])
    assert const_of(net).data.tolist() == theirs.data.tolist()


def test_a_constant_says_why_it_has_no_elements() -> None:
    net = Net("[1,2] -> Result")
    assert irshape.read(net.xml)["result_1"].const is None
    with pytest.raises(irshape.WeightsError, match=r"the model has constants, but no weights were given"):
        irshape.read(net.xml)["const_0"].const.data  # noqa: B018
    with pytest.raises(irshape.WeightsError, match="end at byte 3"):
        irshape.read(net.xml, weights=b"abc")["const_0"].const.data  # noqa: B018
    broken = irshape.read(net.xml.replace('element_type="i64"', 'element_type="int"'), weights=net.bin)
    assert broken["const_0"].const is None
    assert irshape.infer(net.xml, weights=net.bin)["const_0"].node.const.data.tolist() == [1, 2]
