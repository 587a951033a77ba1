"""What a check offers to mend, and what is left of a file when it has been: the same to OpenVINO, and no other byte changed."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.diagnosis import fixes
from irshape.diagnosis.fixes import mendable, mended_file
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY
from irshape.report.diagnostic import Edit, Fix, compatible
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of
from tests.support.rows import net_of, tables
from tests.support.spoil import spoiled


def differences(source: bytes, other: bytes) -> Iterator[Any]:
    """What the ports and the attributes of two files say otherwise; where the first leaves a size open, the second may know it."""
    nodes, others = ([node for graph in verbs.read(text).graphs() for node in graph.nodes] for text in (source, other))
    for node, twin in zip(nodes, others, strict=True):
        if (node.layer.attributes.keys(), node.attributes) != (twin.layer.attributes.keys(), twin.attributes):
            yield node, node.layer.attributes, twin.layer.attributes
        for a, b in zip((*node.layer.inputs, *node.layer.outputs), (*twin.layer.inputs, *twin.layer.outputs), strict=True):
            open_dims = tuple(-1 if dim < 0 else known for dim, known in zip(a.dims or (), b.dims or (), strict=False))
            if a.precision != b.precision or (a.dims or ()) != open_dims or len(open_dims) != len(b.dims or ()):
                yield node, a.id, a.precision, a.dims, b.precision, b.dims


def untouched(source: bytes, edits: list[Edit], changed: bytes) -> None:
    """All bytes outside of the edits are the same, in the same order."""
    at = there = 0
    for edit in edits:
        length = edit.start - at
        assert changed[there : there + length] == source[at : edit.start]
        text = edit.text.encode()
        assert changed[there + length : there + length + len(text)] == text
        at, there = edit.end, there + length + len(text)
    assert changed[there:] == source[at:]


def as_saved(xml: bytes, weights: bytes, folder: Path) -> bytes:
    """What OpenVINO writes of what it reads."""
    import openvino

    openvino.serialize(core_of(xml).read_model(xml, weights), folder / "saved.xml", folder / "saved.bin")
    # A tensor without a name gets a new one each time.
    return re.sub(rb'(?<=_)[0-9]+(?=")', b"", (folder / "saved.xml").read_bytes())


@pytest.mark.oracle
@pytest.mark.parametrize("path", WITH_WEIGHTS, ids=named)
def test_a_spoiled_file_is_mended(path: Path, tmp_path: Path) -> None:
    data, source = path.with_suffix(".bin").read_bytes(), path.read_bytes()
    before = {(found.code, found.message) for found in verbs.check(source, weights=data).diagnostics}
    text, codes = spoiled(source, random.Random(path.stem))
    checked = verbs.check(text, weights=data)
    found = {found.code for found in checked.diagnostics if found.fix and found.fix.is_safe}
    assert found == codes
    fixed = mended_file(checked)
    untouched(text, mendable(checked)[1], fixed)
    assert list(differences(source, fixed)) == []
    assert {(found.code, found.message) for found in verbs.check(fixed, weights=data).diagnostics} == before
    saved = as_saved(source, data, tmp_path)
    assert as_saved(fixed, data, tmp_path) == saved
    if "X107" not in codes:
        assert as_saved(text, data, tmp_path) == saved


P = '<port id="0" precision="FP32"><dim>1</dim><dim>4</dim><dim>8</dim><dim>8</dim></port>'
Q = '<port id="1" precision="FP32"><dim>1</dim><dim>16</dim><dim>4</dim><dim>4</dim></port>'
R = '<port id="0" precision="FP32"><dim>1</dim><dim>16</dim><dim>4</dim><dim>4</dim></port>'
DATA = '<data block_size="2" mode="blocks_first"/>'


def fold(data: str = DATA, output: str = Q, shape: str = 'shape="1,4,8,8" element_type="f32"', declared: str = P) -> str:
    """An IR of a SpaceToDepth on an image."""
    return (
        f'<net name="n" version="11"><layers><layer id="0" name="x" type="Parameter" version="opset1"><data {shape}/>'
        f'<output>{declared}</output></layer><layer id="1" name="d" type="SpaceToDepth" version="opset1">{data}'
        f'<input>{P}</input><output>{output}</output></layer><layer id="2" name="r" type="Result" version="opset1">'
        f'<input>{R}</input></layer></layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>'
    )


NOTE = '<rt_info><attribute name="irshape" version="0" value="[1,2]"/></rt_info>'
# The code, the file, the title of its fix, and the file when it has been mended.
SAFE = [
    ("R301", fold(output=Q.replace("16", "4")), "record [1,16,4,4]", fold()),
    ("R301", fold(output=Q.replace("<dim>16</dim>", "")), "record [1,16,4,4]", None),
    ("R301", fold(output=Q.replace("16", "4").replace(">1<", ">-1<")), "record [1,16,4,4]", fold()),
    ("R301", fold(output=Q.replace(">1<", ">-1<")), "record [1,16,4,4]", fold()),
    ("R302", fold(output=Q.replace("FP32", "I64")), 'write precision="FP32"', fold()),
    ("R302", fold(output=Q.replace('"FP32"', "'I64'")), 'write precision="FP32"', fold()),
    ("X107", fold(output=Q.replace("FP32", "fp32")), 'write precision="FP32"', fold()),
    ("X107", fold(output=Q.replace("FP32", "F32")), 'write precision="FP32"', fold()),
    ("R101", fold(DATA.replace("2", "2.0")), 'write block_size="2"', fold()),
    ("R101", fold(DATA.replace("2", "2.00")), 'write block_size="2"', fold()),
    ("R101", fold(output=Q.replace("16", " 16.5 ")), "write 16", fold()),
    ("R105", fold(DATA.replace("blocks_first", "Blocks_First")), 'write mode="blocks_first"', fold()),
    ("R105", fold(shape='shape="1,4,8,8" element_type="F32"'), 'write element_type="f32"', fold()),
    ("X203", fold(declared=P.replace("</port>", f"{NOTE}</port>")), "remove the annotation", fold()),
    ("X201", " \n" + fold(), "remove the blanks", fold()),
]  # fmt: skip


@pytest.mark.parametrize(("code", "xml", "title", "mended"), SAFE)
def test_what_is_mended(code: str, xml: str, title: str, mended: str | None) -> None:
    inference = verbs.check(xml.encode())
    [diagnostic] = mendable(inference)[0]
    assert diagnostic.fix is not None
    assert (diagnostic.code, diagnostic.fix.title) == (code, title)
    fixed = mended_file(inference)
    assert mended is None or fixed.decode() == mended
    assert verbs.check(fixed).diagnostics == []


@pytest.mark.parametrize("xml", [row[1] for row in SAFE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_places_of_edits(xml: str, encoding: str) -> None:
    """Bytes, and lines and columns, say the same; what stands before the fault counts in characters."""
    text = xml.replace("><", ">\r\n\t<!-- \U0001f600é --><")
    source = text.encode(encoding)
    for edit in mendable(verbs.check(source))[1]:
        for offset, line, column in ((edit.start, edit.line, edit.column), (edit.end, edit.end_line, edit.end_column)):
            before = source[:offset].decode("utf-16" if encoding == "utf-16" else encoding)
            assert (line, column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


@pytest.mark.parametrize(
    ("code", "xml", "title"),
    [
        ("A103", fold(DATA.replace("blocks_first", "block_first")), 'write mode="blocks_first"'),
        ("R104", fold(DATA.replace("mode", 'blocksize="3" mode')), "remove blocksize"),
        ("R101", fold(DATA.replace("2", "2.9")), 'write block_size="2"'),
        ("R101", fold(DATA.replace("2", "02abc")), 'write block_size="2"'),
        ("R103", fold('<data block_size="2"/>'), 'write mode="blocks_first"'),
        ("R101", fold(shape='shape="1,4,8,8-" element_type="f32"'), 'write shape="1,4,8,8"'),
    ],
)
def test_what_is_left_to_the_author(code: str, xml: str, title: str) -> None:
    inference = verbs.check(xml.encode())
    [fix] = [found.fix for found in inference.diagnostics if found.code == code]
    assert fix is not None
    assert (fix.title, fix.is_safe) == (title, False)
    assert mendable(inference)[0] == []
    assert mended_file(inference) is inference.document.source


def test_a_dim_that_is_read_as_another_number() -> None:
    """It comes before the difference that follows from it, says what the model computes, and no fix writes the number that is read."""
    first, second = verbs.check(fold(output=Q.replace("16", "1b")).encode()).diagnostics
    assert first.message == "OpenVINO reads the dim '1b' as 1; the model computes [1,16,4,4]"
    assert (first.code, first.fix, second.code, second.caused_by) == ("R101", None, "R301", first)


MISSPELT = '<data block_size="2" mod="depth_first"/>'
SUSPECT = "an attribute of the layer may be wrong instead"
RIGHT = "the record may be right, and the model wrong; irshape infer --in-place records what the model computes"
OTHERWISE = "the ports of the layer record something else"
# A file in which the recorded text may be right, the code of the fix that would hide that, and its hint.
DOUBTFUL = [
    (fold(MISSPELT, Q.replace("16", "64")), "R301", SUSPECT),
    (fold(DATA.replace("blocks_first", "BLOCKS_FIRST").replace("mode", 'modes="" mode')), "R105", SUSPECT),
    (fold(MISSPELT, Q.replace("FP32", "FP16")), "R302", SUSPECT),
    (fold(output=Q.replace("16", "4")).replace(R, R.replace("16", "4")), "R301", RIGHT),
    (fold(declared=P.replace("4", "3", 1).replace("</port>", f"{NOTE}</port>")), "X203", OTHERWISE),
]  # fmt: skip


@pytest.mark.parametrize(("xml", "code", "doubt"), DOUBTFUL)
def test_a_fix_that_would_hide_a_mistake_is_left_to_the_author(xml: str, code: str, doubt: str) -> None:
    found = [found for found in verbs.check(xml.encode()).diagnostics if found.code == code]
    assert found
    for one in found:
        assert one.fix is not None and not one.fix.is_safe
        assert one.hint == f"--fix leaves this to you, because {doubt}"


def pools(strides: str, first: int, second: int) -> tuple[bytes, bytes]:
    """A MaxPool with a stride on 16 pixels and one with stride 2 after it; and the sizes that their outputs record."""
    net = Net()
    attributes = {"kernel": "1", "pads_begin": "0", "pads_end": "0"}
    x = net.parameter("f32[1,1,16]")
    pool = net.layer("MaxPool", [x], ["FP32"], strides=strides, **attributes)[0]
    net.result(net.layer("MaxPool", [pool], ["FP32"], strides="2", **attributes)[0])
    text = net.xml
    at = 0
    for size in (first, second):
        at = text.index("<output>", text.index('type="MaxPool"', at))
        port = f'<output><port id="1" precision="FP32"><dim>1</dim><dim>1</dim><dim>{size}</dim></port>'
        text = text[:at] + port + text[text.index("</output>", at) :]
    return text.encode(), net.bin


def test_a_shape_that_one_port_records_is_outdated() -> None:
    xml, weights = pools("1", 8, 8)
    inference = verbs.check(xml, weights=weights)
    assert [(found.code, found.fix and found.fix.title) for found in mendable(inference)[0]] == [("R301", "record [1,1,16]")]


def test_a_shape_that_other_layers_agree_with_may_be_right() -> None:
    xml, weights = pools("1", 8, 4)  # as if strides had been 2
    inference = verbs.check(xml, weights=weights)
    assert [found.code for found in inference.diagnostics] == ["R301"]
    assert mendable(inference)[0] == []
    assert mended_file(inference) == xml


# A net that irshape annotates, which is then changed in the n-th port of a layer, and the faults that mending leaves.
SEVERAL = [
    # The first wrong record makes its layer fail for what its inputs record, which must not hide the second one.
    (
        "x: f32[10]\ngreater: Greater(x, x) -> y: Convert(destination_type=f32) -> Result",
        [("greater", 0, "FP32", "FP16"), ("y", 0, "10", "99")],
        [],
    ),
    # The output has the type of the second input, whose records may be right, and not that of the first.
    (
        "x: u4[5]\nlike: i4[1]\nz: ConvertLike(x, like) -> end: Result",
        [("x", 0, "U4", "STRING"), *((one, at, "I4", "FP16") for one, at in (("like", 0), ("z", 1), ("z", 2), ("end", 0)))],
        [("R302", "1 port after it differs for the same reason")],
    ),
    # The output alone is wrong, but which type is right depends on the input, whose records contradict the model.
    (
        "x: i32[4,3]\nmean: ReduceMean(x, [1], keep_dims=true) -> end: Result",
        [("x", 0, "I32", "FP32"), ("mean", 0, "I32", "FP32"), ("mean", 2, "I32", "U8"), ("end", 0, "I32", "FP32")],
        [
            ("R302", "the port records FP32, but its attribute element_type says I32"),
            ("R302", "the port records U8, but the model computes I32"),
        ],
    ),
]


@pytest.mark.parametrize(("text", "changes", "left"), SEVERAL)
def test_several_wrong_records_are_mended_at_once(text: str, changes: list[tuple[str, int, str, str]], left: list[tuple[str, str]]) -> None:
    net = Net(text)
    source = verbs.infer(net.xml.encode(), weights=net.bin).xml().decode()
    for name, index, right, wrong in changes:
        at = source.index(f'name="{name}"')
        for _ in range(index + 1):
            at = source.index("<port ", at + 1)
        source = source[:at] + source[at:].replace(right, wrong, 1)
    inference = verbs.check(source.encode(), weights=net.bin)
    assert [one.code for one in inference.diagnostics] == ["R302", *(["R302"] if left else ["R301"])]
    again = verbs.check(mended_file(inference), weights=net.bin)
    assert [(one.code, one.message.rpartition("; ")[2]) for one in again.diagnostics] == left
    assert mendable(again)[0] == []


# A net that irshape annotates, what is then changed behind the names of layers, and the faults before and after it is mended.
GATHERED = "x: f32[2,6,4..12]\ni: i64[2,?,1]\nx -> a: GatherND-8(i, batch_dims=1) -> Result\nx -> b: GatherND-8(i, batch_dims=0) -> Result"
CONTRADICTED = [
    # An output behind two wrong records is mended with both or not at all.
    (GATHERED, [("i", 'shape="2,?', 'shape="?'), ("b", "<dim>6", "<dim>1")], ["R301", "R301"], ["R301"]),
    # The dims of a port whose precision is wrong are compared, too.
    (
        GATHERED, [("i", '"I64"', '""'), ("b", '"I64"', '"f32"'), ("b", "<dim>-1</dim><dim>1<", "<dim>9</dim><dim>1<")],
        ["X107", "R301", "R302"], ["X107", "R301"],
    ),
    # A layer of an error may take what its port records.
    (
        "x: u8[2,2]\ni: f32[2,2]\nx -> y: GatherND-8(i, batch_dims=0) -> end: Result",
        [
            ("x", '"U8"', '"I64"'), ("y", '"U8"', '"I32"'), ("y", '"FP32"', '"I64"'), ("i", "<dim>2</dim></port>", "<dim>5</dim></port>"),
            ("y", '"U8"/>', '"FP16"><dim>2</dim></port>'), ("end", '"U8"/>', '"I32"><dim>2</dim></port>'),
        ],
        ["R302", "R301", "T101", "R302"], None,
    ),
    # The number that OpenVINO reads may not be meant.
    (
        "x: f64[0,2,2] -> e: Exp -> r: ReduceSum([1], keep_dims=false) -> Result",
        [*((one, "<dim>0<", "<dim>3<") for one in "xee"), ("r", "<dim>0<", "<dim>0x10<")], ["R301", "R101"], None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "changes", "before", "after"), CONTRADICTED)
def test_a_fix_makes_no_other_fault(text: str, changes: list[tuple[str, str, str]], before: list[str], after: list[str] | None) -> None:
    net = Net(text)
    source = re.sub(r">\s+<", "><", verbs.infer(net.xml.encode(), weights=net.bin).xml().decode())
    for name, right, wrong in changes:
        head, layer, rest = source.partition(f'name="{name}"')
        assert right in rest
        source = head + layer + rest.replace(right, wrong, 1)
    inference = verbs.check(source.encode(), weights=net.bin)
    assert [one.code for one in inference.diagnostics] == before, inference.diagnostics
    again = verbs.check(mended_file(inference), weights=net.bin)
    assert [one.code for one in again.diagnostics] == (after or before)
    assert mendable(again)[0] == []


def test_a_shape_behind_a_misspelt_attribute_may_be_right() -> None:
    xml, weights = pools("1", 16, 4)
    first = xml.index(b"<data ", xml.index(b'type="MaxPool"')) + len(b"<data ")
    misspelt = xml[:first] + b'auto_pads="valid" ' + xml[first:]
    inference = verbs.check(misspelt, weights=weights)
    assert [(found.code, found.hint) for found in inference.diagnostics] == [
        ("R301", None),  # the message says which attribute makes peace, so no record is offered
        ("R104", "did you mean auto_pad?"),
    ]
    assert [found.fix for found in inference.diagnostics if found.code == "R301"] == [None]
    assert mendable(inference)[0] == []


def test_a_word_for_a_boolean_may_have_meant_the_other() -> None:
    net = Net()
    net.result(*net.layer("ReduceSum", [net.parameter("f32[2,8]"), net.const([0])], ["FP32"], keep_dims="yes"))
    [diagnostic] = verbs.check(net.xml.encode(), weights=net.bin).diagnostics
    assert diagnostic.code == "R102" and diagnostic.fix is not None
    assert (diagnostic.fix.title, diagnostic.fix.is_safe) == ('write keep_dims="false"', False)
    assert diagnostic.hint == 'or write keep_dims="true", if that is meant'


@pytest.mark.parametrize(
    ("text", "records", "code", "title", "hint"),
    [
        ("Concat(f32[2,3], f32[2,3])", "26", "R103", 'write axis="-1"', None),
        ('MatMul(f32[2,3], f32[2,3], transpose_b="yes")', "22", "R102", 'write transpose_b="true"', '="false", as OpenVINO reads it'),
        ('MatMul(f32[3,3], f32[3,2], transpose_b="yes")', "32", "R102", 'write transpose_b="false"', '="true", if that is meant'),
    ],
)
def test_a_fix_by_hand_writes_what_the_records_say(text: str, records: str, code: str, title: str, hint: str | None) -> None:
    xml = Net(f"{text} -> Result").xml
    dims = "".join(f"<dim>{dim}</dim>" for dim in records)
    xml = xml.replace('<port id="2" precision="FP32"/>', f'<port id="2" precision="FP32">{dims}</port>')
    [found] = [one for one in verbs.check(xml.encode()).diagnostics if one.code == code]
    assert (found.fix and found.fix.title, found.hint) == (title, hint and f"or write transpose_b{hint}")


def test_a_type_of_a_constant_that_openvino_refuses() -> None:
    net = Net("f32=[1.0] -> Result")
    [diagnostic] = verbs.check(net.xml.replace('"f32"', '"F32"').encode(), weights=net.bin).diagnostics
    assert diagnostic.code == "A103" and diagnostic.fix is not None
    assert (diagnostic.fix.title, diagnostic.fix.is_safe) == ('write element_type="f32"', False)


def test_a_layer_without_data_is_left_to_the_author() -> None:
    """Its attributes may have had other values, so no default is filled in unasked."""
    net = Net()
    net.result(net.layer("TopK", [net.parameter("f32[5]"), net.const(2)], ["FP32", "I32"])[0])
    inference = verbs.check(net.xml.encode(), weights=net.bin)
    found = [one.fix for one in inference.diagnostics if one.code == "R103"]
    assert [(fix.title, fix.is_safe) for fix in found if fix] == [('write axis="0" mode="max" sort="none"', False)] * 3
    assert mended_file(inference) is inference.document.source


@pytest.mark.parametrize(
    ("data", "taken", "title"),
    [
        ('dilations="1,1" pads_begin="1,1" pads_end="1,1"', ["strides: 1 for each axis"], 'write strides="1, 1"'),
        ('strides="1,1" dilations="1,1" pads_end="1,1"', ["pads_begin: 0 for each axis"], 'write pads_begin="0, 0"'),
        ("", [f"{name}: {0 if 'pads' in name else 1} for each axis" for name in ("strides", "pads_begin", "pads_end", "dilations")], None),
    ],
)
def test_a_default_is_written_as_its_numbers(data: str, taken: list[str], title: str | None) -> None:
    """OpenVINO takes an empty list for numbers; nobody would write one."""
    given = dict(one.replace('"', "").split("=") for one in data.split())
    net = Net()
    net.result(net.layer("Convolution", [net.parameter("f32[1,4,8,8]"), net.parameter("f32[4,4,3,3]")], ["FP32"], **given)[0])
    found = [one for one in verbs.check(net.xml.encode()).diagnostics if one.code == "R103"]
    told = [one.message.replace("attribute '", "").replace("' is missing; OpenVINO takes", ":") for one in found]
    assert sorted(told) == sorted(taken)
    assert {one.fix and one.fix.title for one in found} == {title}


@pytest.mark.parametrize("xml", [fold('<data mode="blocks_first"/>'), fold().replace('<data shape="1,4,8,8" element_type="f32"/>', "")])
def test_defaults_are_not_stated_where_they_are_the_fault(xml: str) -> None:
    inference = verbs.check(xml.encode())
    assert not inference.ok
    assert mendable(inference)[0] == []


def test_records_of_other_shapes_than_those_that_are_asked_for_are_no_fault() -> None:
    assert verbs.check(fold().encode()).diagnostics == []
    assert verbs.check(fold().encode(), inputs={"x": "[1,4,2,2]"}).diagnostics == []


@pytest.mark.parametrize(("count", "told"), [(1, ["R301"]), (3, ["R301"] * 3), (4, [])])
def test_open_records_are_mistakes_if_they_are_few(count: int, told: list[str]) -> None:
    """Who leaves more sizes open than these has not known them."""
    net = Net("\n".join(f"Transpose(f32[2,{size}], [1,0]) -> Result" for size in (13, 14, 15, 16)))
    xml = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    for size in range(13, 13 + count):
        xml = re.sub(rf"<dim>{size}</dim>(\s*<dim>2</dim>)", r"<dim>-1</dim>\1", xml, count=1)
    found = verbs.check(xml.encode(), weights=net.bin).diagnostics
    assert [one.code for one in found] == told
    assert not found or found[0].message.startswith("the port records [?,2], but the model computes [13,2]")


def test_shapes_that_rest_on_what_an_unknown_operation_records_are_not_written() -> None:
    stale = Q.replace("16", "4")
    xml = fold(output=stale).replace('<layer id="0" name="x" type="Parameter"', '<layer id="0" name="x" type="Source"')
    inference = verbs.check(xml.encode(), opaque=["Source"])
    assert [found.code for found in inference.diagnostics] == ["R301", "G117"]
    assert mendable(inference)[0] == []


def test_a_file_that_was_not_read_to_its_end_stays_as_it_is() -> None:
    inference = verbs.check(fold(output=Q.replace("FP32", "fp32")).removesuffix("</net>").encode())
    assert [found.code for found in inference.diagnostics] == ["X107", "X101"]
    assert mended_file(inference) is inference.document.source


def test_examples_of_the_specification_stay_as_they_are() -> None:
    inference = verbs.check(b'<layer type="SpaceToDepth" ...><data block_size="2"/><input><port id="0"><dim>1</dim></port></input></layer>')
    assert [found.fix for found in inference.diagnostics if found.code == "R103"] == [None]


def edit(start: int, end: int, text: str = "") -> Edit:
    return Edit(start, end, text, 1, start + 1, 1, end + 1)


@pytest.mark.parametrize(
    ("edits", "chosen"),
    [
        ([edit(0, 4), edit(4, 6)], [0, 1]),
        ([edit(4, 6), edit(0, 5)], [0]),
        ([edit(0, 9), edit(3, 3, "x")], [0]),
        ([edit(3, 3, "x"), edit(0, 9)], [0]),
        ([edit(3, 3, "x"), edit(3, 3, "y")], [0]),
        ([edit(3, 3, "x"), edit(3, 3, "x")], [0, 1]),
        ([edit(3, 3, "x"), edit(3, 5), edit(1, 3)], [0, 1, 2]),
        ([edit(0, 20), edit(20, 20, "x"), edit(19, 25), edit(20, 25)], [0, 1, 3]),
    ],
)
def test_of_fixes_that_overlap_the_first_is_taken(edits: list[Edit], chosen: list[int]) -> None:
    fixes = [Fix("", (one,), True) for one in edits]
    assert compatible(fixes)[0] == [fixes[index] for index in chosen]


def test_every_repair_is_shown() -> None:
    assert {row[0] for row in SAFE} == set(fixes.SAFE)
    assert fixes.BY_HAND.keys() == {"A101", "A103", "R102", "R103", "R104"}
    assert not fixes.SAFE.keys() & fixes.BY_HAND.keys()


def variants(op: OpClass, xml: str) -> Iterator[str]:
    """The layer of a row as it is, without each attribute that has a default, and with each in spellings that OpenVINO forgives."""
    yield xml
    for attribute in op.attributes.values():
        found = re.search(rf' {re.escape(attribute.spelling)}="([^"]*)"(?=[^>]*/>\s*<input>)', xml)
        if found is None:
            continue
        if attribute.stated:
            yield xml[: found.start()] + xml[found.end() :]
        for other in (found[1] + ".0", found[1].upper(), found[1].capitalize()):
            yield xml[: found.start(1)] + other + xml[found.end(1) :]


ROWS = [
    pytest.param(op, rows, id=f"{type}-{version}")
    for _, type, version, rows in tables()
    if (op := REGISTRY.find(type, version)) and op.attributes
]


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize(("op", "rows"), ROWS)
def test_attributes_that_are_mended_mean_the_same(op: OpClass, rows: list[tuple[Any, ...]], tmp_path: Path) -> None:
    """What OpenVINO makes of a layer does not change when its attributes are spelled or stated as it would write them."""
    for row in rows:
        net = net_of(op.TYPE, op.VERSION, row)
        if verbs.infer(net.xml.encode(), weights=net.bin).ok:
            for xml in variants(op, net.xml):
                inference = verbs.check(xml.encode(), weights=net.bin)
                if inference.ok and mendable(inference)[0]:
                    assert as_saved(mended_file(inference), net.bin, tmp_path) == as_saved(xml.encode(), net.bin, tmp_path)
            return


def test_every_safe_fix_says_its_evidence() -> None:
    assert all(evidence for _, evidence in fixes.SAFE.values())


def test_an_attribute_is_restored_where_layers_behind_it_fail() -> None:
    """The record of the port is then right, so no fix writes over it."""
    net = Net(
        "x: f32[1,3,8,8] -> Convolution(_, f32=0[4,3,1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]) -> Result"
    )
    text = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    cause, error = irshape.check(text.replace('shape="1,3,8,8"', 'shape="1,1,8,8"').encode(), weights=net.bin).diagnostics
    assert (cause.code, cause.fix, error.severity, error.caused_by) == ("R301", None, "error", cause)
    assert cause.hint == 'set shape="1,3,8,8", as the port records: layers behind it fail without it'


@pytest.mark.parametrize("stated", ["", ' element_type="dynamic"'])
def test_an_input_without_an_element_type_gets_the_one_that_its_port_records(stated: str) -> None:
    """Writing the computed precision, UNSPECIFIED, would leave a model that OpenVINO does not compile."""
    net = Net("x: f32[2,3] -> ReLU -> Result")
    found = irshape.check(net.xml.replace(' element_type="f32"', stated, 1).encode()).diagnostics[0]
    assert (found.code, found.fix, found.hint) == ("R302", None, 'set element_type="f32", as the port records')
