# ruff: noqa: E501  a row stays on its line
"""The reader: the faults it reports, the text it tolerates, and the offsets of every part."""

import gc
import io
import os
import random
import re
from inspect import isdatadescriptor
from itertools import pairwise

import pytest

from irshape.shape.limits import Limits
from irshape.xml import reader
from irshape.xml.document import Document, Edge, Graph, Layer, LayerSignature, Port, PortMap
from irshape.xml.not_xml import forgiven
from irshape.xml.reader import read
from tests.support.oracle import core, reads
from tests.support.places import IRS

CARRIED = sorted(IRS.glob("*/*.xml"))

BASE = """<?xml version="1.0"?>
<net name="m" version="11">
<layers>
<layer id="0" name="a" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/><output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="1" name="b" type="ReLU" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input><output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="2" name="c" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input></layer>
</layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/><edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges>
</net>
"""
OUT = '</input><output><port id="1" precision="FP32"><dim>2</dim>'
RELU = '<layer id="1" name="b" type="ReLU" version="opset1">'


def out_dim(text: str) -> tuple[str, str]:
    return OUT, OUT.replace("<dim>2</dim>", text)


def out_precision(text: str) -> tuple[str, str]:
    return OUT, OUT.replace("FP32", text)


# Name, the text to replace and its replacement, the codes of the diagnostics, and the source at the place of the first.
FAULTS = [
    ("layer without id", (RELU, RELU.replace(' id="1"', "")), ["X105"], "<layer name"),
    ("layer without name", (' name="b"', ""), ["X105"], '<layer id="1"'),
    ("layer without type", (' type="ReLU"', ""), ["X105"], '<layer id="1"'),
    ("layer without version", ('type="ReLU" version="opset1"', 'type="ReLU"'), ["X105"], '<layer id="1"'),
    ("layer with nothing", (RELU, "<layer>"), ["X105"] * 4, "<layer><input>"),
    ("id with a blank behind", ('<layer id="1"', '<layer id="1 "'), ["X106"], 'id="1 "'),
    ("id 1.0", ('<layer id="1"', '<layer id="1.0"'), ["X106"], 'id="1.0"'),
    ("id hexadecimal", ('<layer id="1"', '<layer id="0x1"'), ["X106"], "id="),
    ("id empty", ('<layer id="1"', '<layer id=""'), ["X106"], "id="),
    ("id negative", ('<layer id="1"', '<layer id="-1"'), ["X106"], "id="),
    ("id beyond int64", ('<layer id="1"', '<layer id="9223372036854775808"'), ["X106"], "id="),
    ("id of another alphabet", ('<layer id="1"', '<layer id="\uff11"'), ["X106"], "id="),
    ("port without id", ('<input><port id="0"', "<input><port"), ["X105"], "<port precision"),
    ("port id not a number", ('<input><port id="0"', '<input><port id="x"'), ["X106"], 'id="x"'),
    ("output without precision", out_precision('" id2="'), ["X107"], "precision"),
    ("output precision missing", (OUT, OUT.replace(' precision="FP32"', "")), ["X105"], '<port id="1"'),
    ("output precision unknown", out_precision("XYZ"), ["X107"], 'precision="XYZ"'),
    ("output precision in the wrong case", out_precision("fp32"), ["X107"], 'precision="fp32"'),
    ("output precision F32", out_precision("F32"), ["X107"], "precision"),
    ("output precision with a blank", out_precision("FP32 "), ["X107"], "precision"),
    ("dim ?", out_dim("<dim>?</dim>"), ["X106"], "<dim>?"),
    ("dim empty", out_dim("<dim></dim>"), ["X106"], "<dim></dim>"),
    ("dim empty element", out_dim("<dim/>"), ["X106"], "<dim/>"),
    ("dim -2", out_dim("<dim>-2</dim>"), ["X106"], "<dim>-2"),
    ("dim with a gap", out_dim("<dim>- 1</dim>"), ["X106"], "<dim>- 1"),
    ("dim ..8", out_dim("<dim>..8</dim>"), ["X106"], "<dim>..8"),
    ("dim beyond int64", out_dim("<dim>9223372036854775808</dim>"), ["X106"], "<dim>9"),
    ("dim inside an element", out_dim("<dim><x>5</x></dim>"), ["X106"], "<dim><x>"),
    ("dim of another alphabet", out_dim("<dim>\uff15</dim>"), ["X106"], "<dim>"),
    ("input dim -2", ('<input><port id="0" precision="FP32"><dim>2', '<input><port id="0" precision="FP32"><dim>-2'), ["X106"], "<dim>-2"),
    ("edge without an end", (' to-port="0"', ""), ["X105"], "<edge"),
    ("edge end not a number", ('to-layer="1"', 'to-layer="1 "'), ["X106"], "to-layer"),
    ("edge end negative", ('from-layer="0"', 'from-layer="-1"'), ["X106"], "from-layer"),
    ("several", (OUT, '</input><output><port precision="F"><dim>x</dim>'), ["X105", "X107", "X106"], "<port precision"),
    ("net without version", (' version="11">', ">"), ["X105"], "<net"),
    ("net version empty", ('version="11"', 'version=""'), ["X106"], "version"),
    ("net version 11.0", ('version="11"', 'version="11.0"'), ["X106"], "version"),
    ("net version 9", ('version="11"', 'version="9"'), ["X108"], "version"),
    ("net version 12", ('version="11"', 'version="12"'), ["X108"], "version"),
    ("cut short", ("</net>\n", ""), ["X101"], ""),
    ("wrong end tag", ("</layers>", "</layer>"), ["X101"], "layer>"),
    ("no quotes", ('name="b"', "name=b"), ["X101"], "b type"),
    ("another root", (BASE, "<model/>"), ["X104"], "<model"),
]

FORGIVEN = [
    ("sound", ("m", "m"), []),
    ("id with a sign", ('<layer id="1"', '<layer id="+1"'), []),
    ("id with a blank before", ('<layer id="1"', '<layer id=" 1"'), []),
    ("id with zeros", ('<layer id="1"', '<layer id="0000000000000000000000001"'), []),
    ("edge with a sign", ('to-layer="1"', 'to-layer="+1"'), []),
    ("input precision unknown", ('<input><port id="0" precision="FP32"', '<input><port id="0" precision="XYZ"'), []),
    ("input precision missing", ('<input><port id="0" precision="FP32"', '<input><port id="0"'), []),
    ("output precision f32", out_precision("f32"), []),
    ("output precision BIN", out_precision("BIN"), []),
    ("output precision UNSPECIFIED", out_precision("UNSPECIFIED"), []),
    ("dim with blanks", out_dim("<dim>\t5\n</dim>"), []),
    ("dim with a sign", out_dim("<dim>+5</dim>"), []),
    ("dim 1..8", out_dim("<dim>1..8</dim>"), ["R101"]),
    ("dim 5.9", out_dim("<dim>5.9</dim>"), ["R101"]),
    ("dim 1_0", out_dim("<dim>1_0</dim>"), ["R101"]),
    ("dim as an entity", out_dim("<dim>&#53;</dim>"), []),
    ("dim in CDATA", out_dim("<dim><![CDATA[5]]></dim>"), []),
    ("dim behind a comment", out_dim("<dim><!-- x -->5</dim>"), []),
    ("dim before a comment", out_dim("<dim>5<!-- x -->6</dim>"), []),
    ("net version with a sign", ('version="11"', 'version="+11"'), []),
    ("net version with zeros", ('version="11"', 'version="011"'), []),
    ("net version 10", ('version="11"', 'version="10"'), []),
    ("net without name", (' name="m"', ""), []),
    ("net in capitals", ("net", "NET"), ["X201"]),
    ("no declaration", ('<?xml version="1.0"?>\n', ""), []),
    ("blank before the declaration", ("<?xml", "\n \t<?xml"), ["X201"]),
    ("text behind the end", ("</net>", "</net> x"), ["X201"]),
    ("text before", ("<?xml", "x <?xml"), ["X201"]),
    ("a comment before the declaration", ("<?xml", "<!-- x --><?xml"), ["X201"]),
    ("an instruction before the declaration", ("<?xml", "<?x y?><?xml"), ["X201"]),
    ("two declarations", ("<?xml", '<?xml version="1.0"?><?xml'), ["X201"]),
    ("declaration without a version", ('<?xml version="1.0"?>', '<?xml name="1.0"?>'), ["X201"]),
    ("declaration in capitals", ("<?xml", "<?XML"), ["X201"]),
    ("declaration malformed", ('version="1.0"', "version=1.0"), ["X201"]),
    ("two hyphens in a comment before", ("<net", "<!-- a -- b --><net"), ["X201"]),
    ("attribute twice", ('name="b"', 'name="b" name="c"'), ["X201"]),
    ("id twice", ('<layer id="1"', "<layer id='1' id = \"7\""), ["X201"]),
    ("shape three times", ("shape=", 'shape="2,3" shape="?" shape='), ["X201", "X201"]),
    ("a comment before", ("<net", "<!-- " + "x" * 600 + " --><net"), []),
    ("an instruction inside", ("</layers>", "<?x y?></layers>"), []),
    ("a namespace", ("<net ", '<net xmlns="urn:x" '), []),
    ("faults in an unknown element", (RELU, "<x><layer/><dim>?</dim></x>" + RELU), []),
    ("faults in rt_info", (RELU, RELU + "<rt_info><layer/><port/></rt_info>"), []),
    ("second input", ("</input><output>", "</input><input><port/></input><output>"), []),
    ("second output", ('</output></layer>\n<layer id="2"', '</output><output><port/></output></layer>\n<layer id="2"'), []),
    ("second layers", ("<edges>", "<layers><layer/></layers><edges>"), []),
    ("dim outside a port", (RELU + "<input>", RELU + "<input><dim>x</dim>"), []),
    ("bodies of another op", (RELU, RELU + "<body><layers><layer/></layers></body>"), []),
    ("no layers", (BASE, '<net name="m" version="11"/>'), ["X205"]),
]


def changed(replace: tuple[str, str]) -> str:
    old, new = replace
    assert old in BASE
    return BASE.replace(old, new) if old == "net" else BASE.replace(old, new, 1)


def codes(document: Document) -> list[str]:
    return [diagnostic.code for diagnostic in document.diagnostics]


@pytest.mark.parametrize(("name", "replace", "expected", "place"), FAULTS, ids=[row[0] for row in FAULTS])
def test_what_openvino_refuses_is_an_error_at_its_place(name, replace, expected, place):
    text = changed(replace)
    document = read(text.encode())
    assert codes(document) == expected
    first = document.diagnostics[0]
    assert all(diagnostic.severity == "error" for diagnostic in document.diagnostics)
    assert document.source[first.where.offset :].decode().startswith(place)
    line = text.encode()[: first.where.offset].decode()
    assert (first.where.line, first.where.column) == (line.count("\n") + 1, len(line.rpartition("\n")[2]) + 1)


@pytest.mark.parametrize(("name", "replace", "expected"), FORGIVEN, ids=[row[0] for row in FORGIVEN])
def test_what_openvino_forgives_is_no_error(name, replace, expected):
    document = read(changed(replace).encode())
    assert codes(document) == expected
    assert all(diagnostic.severity == "warning" for diagnostic in document.diagnostics)
    if name != "no layers":
        assert [layer.id for layer in document.graph.layers] == [0, 1, 2]
        assert len(document.graph.edges) == 2


@pytest.mark.oracle
@pytest.mark.parametrize(("replace", "accepted"), [(row[1], False) for row in FAULTS] + [(row[1], True) for row in FORGIVEN])
def test_openvino_agrees(replace, accepted, tmp_path):
    pytest.importorskip("openvino")
    path = tmp_path / "m.xml"
    path.write_bytes(changed(replace).encode())
    assert reads(str(path)) is accepted


@pytest.mark.parametrize(("text", "value"), [
    ("5", 5), ("-1", -1), (" 5 ", 5), ("+5", 5), ("-01", -1), ("1..8", 1), ("1e3", 1), ("0x5", 0),
    ("5<!-- c -->6", 5), ("<x/>5", 5), ("?", -1),
])  # fmt: skip
def test_a_dim_is_read_as_openvino_reads_it(text, value):
    document = read(changed(out_dim(f"<dim>{text}</dim>")).encode())
    assert document.graph.layers[1].outputs[0].dims == (value, 3)


def test_what_is_read():
    document = read(
        BASE.replace(
            'precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>\n<layer id="2"',
            'precision="FP32" names="y,z"/></output></layer>\n<layer id="2"',
        ).encode()
    )
    assert (document.name, document.version, document.is_example, document.encoding) == ("m", 11, False, "utf-8")
    parameter, relu, result = document.graph.layers
    assert (parameter.id, parameter.name, parameter.type, parameter.version) == (0, "a", "Parameter", "opset1")
    assert parameter.attributes == {"shape": "2,3", "element_type": "f32"}
    assert (parameter.inputs, relu.attributes, relu.data_offset, relu.bodies) == ([], {}, -1, None)
    assert [(port.id, port.precision, port.dims, port.names) for port in relu.inputs + relu.outputs] == [
        (0, "FP32", (2, 3), None),
        (1, "FP32", None, "y,z"),
    ]
    assert [(edge.from_layer, edge.from_port, edge.to_layer, edge.to_port) for edge in document.graph.edges] == [(0, 0, 1, 0), (1, 1, 2, 0)]
    assert result.outputs == []


ENCODINGS = [
    ("utf-8", "", ""),
    ("utf-8-sig", "", ""),
    ("utf-8", ' encoding="utf8"', ""),
    ("utf-16", ' encoding="UTF-16"', ""),
    ("utf-16-le", "", "\ufeff"),
    ("utf-16-be", "", "\ufeff"),
    ("utf-16-le", "", ""),
    ("iso-8859-1", ' encoding="ISO-8859-1"', ""),
    ("cp1252", ' encoding="windows-1252"', ""),
]


@pytest.mark.parametrize(("codec", "declared", "mark"), ENCODINGS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_offsets_in_every_encoding(codec, declared, mark, newline):
    text = BASE.replace('version="1.0"', f'version="1.0"{declared}').replace('name="b"', 'name="bé"').replace("\n", newline)
    text = text.replace("<input>", newline + "\té<input>", 1)
    source = (mark + text).encode(codec)
    document = read(source)
    assert document.diagnostics == []
    assert document.graph.layers[1].name == "bé"
    plain = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(codec, codec)
    for layer in document.graph.layers:
        assert source[layer.offset : layer.end].decode(plain).startswith("<layer ")
        assert source[layer.offset : layer.end].decode(plain).endswith("</layer>")
        for port in layer.inputs + layer.outputs:
            piece = source[port.offset : port.end].decode(plain)
            assert piece.startswith("<port ") and piece.endswith("</port>")
    data = document.graph.layers[0].data_offset
    assert source[data:].decode(plain).startswith("<data ")
    assert source[document.attribute_offset(data, "element_type") :].decode(plain).startswith("element_type=")
    assert document.attribute_offset(data, "absent") == data
    assert document.position(document.graph.layers[1].offset) == (5, 1)
    assert document.position(document.graph.layers[1].inputs[0].offset) == (6, 10)


@pytest.mark.parametrize("blanks", ["\n", " \t\r\n\n"])
@pytest.mark.parametrize(("codec", "mark"), [("utf-8", ""), ("utf-8-sig", ""), ("utf-16-le", "\ufeff")])
def test_offsets_behind_blanks(blanks, codec, mark):
    source = (mark + blanks + BASE).encode(codec)
    document = read(source)
    assert codes(document) == ["X201"]
    layer = document.graph.layers[1]
    assert source[layer.offset : layer.end] == source[source.index(RELU.encode(document.encoding)) : layer.end]
    assert document.position(layer.offset) == (5 + blanks.count("\n"), 1)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (BASE.encode("utf-32"), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="utf-7"').encode(), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="no-such"').encode(), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="shift_jis"').encode(), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="utf-16"').encode(), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="utf-16le"').encode(), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="unicode_escape"').encode(), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="rot13"').encode(), "X103"),
        (BASE.replace('"1.0"', '"1.0" encoding="cp037"').encode(), "X103"),
        (BASE.replace('name="b"', 'name="bé"').encode("latin-1"), "X103"),
        (BASE.replace("<net", "<!DOCTYPE net><net").encode(), "X102"),
        (BASE.replace("<net", "<!--" + "x" * 70_000 + "--><!DOCTYPE net [<!ENTITY e 'ReLU'>]><net").encode(), "X102"),
        (BASE.replace("<net", "<!DOCTYPE net><net").encode("utf-16"), "X102"),
        (b"", "X104"),
        (b"\n\n", "X104"),
        (b"\0\1\2\3" * 100, "X104"),
        (b"\x1f\x8b\x08\0", "X104"),
        (b"<", "X101"),
        (b"<net version='11'><layers><layer id='0'", "X101"),
    ],
)
def test_unreadable_text_is_one_error(source, code):
    assert codes(read(source)) == [code]


def test_a_list_that_is_not_opened_is_told_once():
    """OpenVINO reads no edge outside `<edges>`; the tag that closes the list stands alone, too."""
    edge = "<edge from-layer='0' from-port='0' to-layer='1' to-port='0'/>"
    text = f"<net version='11'>\n<layers/>\n{edge}\n{edge}\n</edges></net>"
    told = [(one.code, one.where.line, one.hint) for one in read(text.encode()).diagnostics]
    assert told == [
        ("X206", 3, "put <edges> around the elements <edge>"),
        ("X101", 5, "put <edges> where its content begins, or remove </edges>"),
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("<?xml version='1.0'?>", "the file ends before its root element; is it truncated?"),
        ("<net version='11'>\n<layers>\n<layer id='0'", "the file ends inside the <layers> opened on line 2; is it truncated?"),
        ("<net version='11'>\n<layers>\n", "the file ends inside the <layers> opened on line 2; is it truncated?"),
        (
            "<net version='11'>\n<layers>\n</layer>",
            "</layer> stands where another tag must be closed, inside the <layers> opened on line 2",
        ),
        ("<net version='11'>\n<layers a=b/></net>", "not well-formed (invalid token) inside the <net> opened on line 1"),
        ("<1>", "not well-formed (invalid token)"),
    ],
)
def test_malformed_text_is_reported_with_the_element_around_it(source, message):
    assert [diagnostic.message for diagnostic in read(source.encode()).diagnostics] == [message]


BODIES = """<net name="m" version="11"><layers>
<layer id="7" name="i" type="If" version="opset8"><input><port id="0"/><port id="1"/></input><output><port id="2" precision="FP32"/></output>
<else_port_map><input external_port_id="1" internal_layer_id="0"/><output external_port_id="0" internal_layer_id="1"/></else_port_map>
<then_body><layers>
<layer id="0" name="t" type="Loop" version="opset5"><input/><output/>
<port_map><input external_port_id="-1" internal_layer_id="0" axis="0" purpose="current_iteration"/><output external_port_id="1" internal_layer_id="1" axis="-1"/></port_map>
<back_edges><edge from-layer="1" to-layer="0"/></back_edges>
<body><layers><layer id="0" name="p" type="Parameter" version="opset1"><data shape=""/></layer></layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></body></layer>
</layers><edges/></then_body>
<else_body><layers><layer id="0" name="e" type="Parameter" version="opset1"/></layers><edges/></else_body>
</layer></layers><edges/></net>"""


def test_bodies_and_port_maps():
    document = read(BODIES.encode())
    assert document.diagnostics == []
    (outer,) = document.graph.layers
    assert list(outer.bodies) == ["then_body", "else_body"]
    assert [(m.map, m.tag, m.attributes) for m in outer.port_maps] == [
        ("else_port_map", "input", {"external_port_id": "1", "internal_layer_id": "0"}),
        ("else_port_map", "output", {"external_port_id": "0", "internal_layer_id": "1"}),
    ]
    (loop,) = outer.bodies["then_body"].layers
    assert [(m.map, m.tag) for m in loop.port_maps] == [("port_map", "input"), ("port_map", "output"), ("back_edges", "edge")]
    body = loop.bodies["body"]
    assert [layer.name for layer in body.layers] == ["p"]
    assert len(body.edges) == 1
    assert document.source[body.offset : body.end].startswith(b"<body>") and document.source[: body.end].endswith(b"</body>")
    assert [layer.name for layer in outer.bodies["else_body"].layers] == ["e"]


@pytest.mark.parametrize(
    ("replace", "code", "path", "place"),
    [
        (('name="p" ', ""), "X105", "i / then_body / t / body", '<layer id="0" type="Parameter"'),
        (('external_port_id="-1" ', ""), "X105", "i / then_body", "<input internal"),
        (('external_port_id="-1"', 'external_port_id="0x"'), "X106", "i / then_body", "external_port_id"),
        (('axis="0"', 'axis="-1"'), "X106", "i / then_body", 'axis="-1" purpose'),
        (("<body><layers>", "<body><x>"), "X109", "i / then_body", "<body>"),
        (("else_body", "other_body"), "X109", "", '<layer id="7"'),
    ],
)
def test_faults_in_bodies(replace, code, path, place):
    text = BODIES.replace(*replace)
    if "<x>" in text:
        text = text.replace("</layers><edges><edge", "</x><edges><edge")
    document = read(text.encode())
    (diagnostic,) = document.diagnostics
    assert (diagnostic.code, diagnostic.where.path) == (code, path)
    assert document.source[diagnostic.where.offset :].decode().startswith(place)


def nested(count: int) -> bytes:
    opening = '<layers><layer id="0" name="l" type="Loop" version="opset5"><body>'
    return f'<net version="11">{opening * count}<layers/>{"</body></layer></layers>" * count}</net>'.encode()


def test_limits():
    assert codes(read(nested(64))) == []
    assert codes(read(nested(65))) == ["X111"]
    assert codes(read(nested(500), limits=Limits(depth=500))) == []
    assert codes(read(b"<net version='11'>" + b"<x>" * 100_000)) == ["X111"]
    assert codes(read(BASE.encode(), limits=Limits(size=100))) == ["X111"]
    assert codes(read(changed(out_dim("<dim>1</dim>" * 10_001)).encode())) == ["X111"]
    assert codes(read(nested(9), limits=Limits(layers=9))) == []
    assert codes(read(nested(10), limits=Limits(layers=9))) == ["X111"]
    assert codes(read(BASE.encode(), limits=Limits(text=8))) == ["X111"]
    many = read(changed(("<edges>", "<edges>" + "<edge/>" * 100)).encode(), limits=Limits(faults=10))
    assert codes(many) == ["X105"] * 10
    assert many.diagnostics.counts["X105", "error"] == 400


def test_many_faults_on_one_line_are_placed_in_linear_time():
    document = read(changed(out_dim("<dim>é</dim>" * 5_000)).encode())
    assert codes(document) == ["X106"] * 1_000
    assert document.diagnostics.counts["X106", "error"] == 5_000
    columns = [diagnostic.where.column for diagnostic in document.diagnostics]
    assert [second - first for first, second in pairwise(columns)] == [12] * 999


def test_sources(tmp_path):
    from lxml import etree

    source = BASE.encode()
    path = tmp_path / "m.xml"
    path.write_bytes(source)
    tree = etree.fromstring(source)
    for given in (source, bytearray(source), memoryview(source), path, str(path), io.BytesIO(source), tree, tree.getroottree()):
        document = read(given)
        assert document.diagnostics == []
        assert len(document.graph.layers) == 3
        assert document.path == (str(path) if given in (path, str(path)) else None)
    assert read(source, path="x/m.xml").path == "x/m.xml"
    with pytest.raises(TypeError):
        read(io.StringIO(BASE))
    with pytest.raises(TypeError):
        read(3)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.xml")
    with pytest.raises(OSError):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "m.xml")
    with pytest.raises(OSError, match="not a regular file"):
        read(tmp_path / "m.xml")


def test_swapped_files_are_noticed(tmp_path):
    (tmp_path / "m.xml").write_bytes(b"\0\0\x80\x3f" * 10)
    (tmp_path / "m.bin").write_bytes(BASE.encode())
    assert codes(read(tmp_path / "m.xml")) == ["W105"]


def plain(thing: object) -> object:
    """The whole content of a document as comparable data."""
    if isinstance(thing, list):
        return [plain(item) for item in thing]
    if isinstance(thing, dict):
        return {key: plain(value) for key, value in thing.items()}
    if isinstance(thing, Document | Graph | Layer | LayerSignature | Port | Edge | PortMap):
        # A compiled class has no __slots__.
        names = [name for name, member in vars(type(thing)).items() if isdatadescriptor(member) and not name.startswith("_")]
        names = [name for name in names if name not in ("diagnostics", "held")]
        return {name: plain(getattr(thing, name)) for name in names}
    return thing


def both_ways(source: bytes) -> tuple[Document, Document]:
    """A document as the fast lane and as the parser read it: the same, with the same faults."""
    fast, slow = read(source), read(source, uses_fast_lane=False)
    assert (plain(fast), codes(fast)) == (plain(slow), codes(slow))
    return fast, slow


@pytest.mark.parametrize("path", CARRIED, ids=lambda path: path.stem)
def test_carried_files_are_sound_and_the_fast_lane_reads_them_alike(path):
    fast, slow = both_ways(path.read_bytes())
    assert fast.diagnostics == slow.diagnostics == []
    for layer in fast.graph.layers:
        assert fast.source[layer.offset : layer.end].startswith(b"<layer ") and fast.source[: layer.end].endswith(b"</layer>")


def test_the_fast_lane_is_taken():
    others = {path.stem for path in CARRIED if not reader._Reader(read(path.read_bytes())).run_fast()}
    assert not others


@pytest.mark.parametrize(("count", "is_fast"), [(1, True), (16, True), (17, False)])
def test_a_few_layers_of_unusual_content_keep_the_file_on_the_fast_lane(count, is_fast):
    port = '<port id="0" precision="FP32"><dim>3</dim><rt_info><attribute name="layout" version="0" layout="[N]" /></rt_info></port>'
    data = '<data shape="3" element_type="f32" />'
    layers = [
        f'<layer id="{id}" name="x{id}" type="Parameter" version="opset1">{data}<output>{port}</output></layer>' for id in range(count)
    ]
    source = f'<?xml version="1.0"?><net name="n" version="11"><layers>{"".join(layers)}</layers><edges></edges></net>'.encode()
    fast, _ = both_ways(source)
    assert [layer.outputs[0].layout for layer in fast.graph.layers] == ["[N]"] * count
    assert reader._Reader(read(source)).run_fast() is is_fast


@pytest.mark.parametrize("note", ['<input a="1"></input>', '<output a="1"></output>', "<input/>", '<x a="&lt;"/>'])
def test_the_ports_of_a_layer_stand_behind_its_notes(note):
    fast, _ = both_ways(BASE.replace('version="opset1"><input>', f'version="opset1"><rt_info>{note}</rt_info><input>').encode())
    assert [len(layer.inputs) for layer in fast.graph.layers] == [0, 1, 1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add/&lt;built-in function add>/Add", "add/<built-in function add>/Add"),
        ("&quot;&apos;&amp;&gt;", "\"'&>"),
        ("&amp;lt;", "&lt;"),
        ("&#60;", "<"),
        ("&lt;&#x3E;", "<>"),
        ("&lt;\t", "< "),
    ],
)
def test_entities_in_names_are_read_alike(name: str, expected: str) -> None:
    source = BASE.replace('name="b"', f'name="{name}"').encode()
    fast, _ = both_ways(source)
    assert expected in [layer.name for layer in fast.graph.layers]
    assert reader._Reader(read(source)).run_fast() is ("\t" not in name)


@pytest.mark.parametrize("name", ["&unknown;", "&lt", "a & b", "&#0;"])
def test_a_broken_entity_in_a_name_is_a_fault(name: str) -> None:
    fast, slow = both_ways(BASE.replace('name="b"', f'name="{name}"').encode())
    assert codes(fast) == codes(slow) == ["X101"]


NOTE = '<attribute name="{}" version="0" value="{}" />'


@pytest.mark.parametrize(
    ("notes", "is_fast"),
    [
        ([NOTE.format("fused_names", "a, b"), NOTE.format("fused_names", "c")], True),
        ([NOTE.format("fused_names", "a") + NOTE.format("other", "x"), NOTE.format("fused_names", "b") + NOTE.format("other", "x")], True),
        ([NOTE.format("other", "x"), NOTE.format("other", "y")], True),
        (["<deep><deeper/></deep>" + NOTE.format("fused_names", "a"), "<deep><deeper/></deep>" + NOTE.format("fused_names", "b")], True),
        (['x=\'<attribute name="fused_names" version="0" value="a"\'', ""], False),
        ([NOTE.format("fused_names", "&lt;"), NOTE.format("fused_names", "b")], True),
        ([NOTE.format("fused_names", "a\tb"), NOTE.format("fused_names", "b")], False),
        ([NOTE.format("fused_names", "a").replace("/>", 'name="twice" />'), NOTE.format("fused_names", "b")], False),
    ],
)
def test_layers_share_a_signature_whatever_layers_openvino_fused_into_them(notes, is_fast):
    layers = [f'<layer id="{id}" name="x" type="Relu" version="opset1"><rt_info>{note}</rt_info></layer>' for id, note in enumerate(notes)]
    source = f'<net name="n" version="11"><layers>{"".join(layers)}</layers><edges></edges></net>'.encode()
    fast, slow = both_ways(source)
    assert reader._Reader(Document(source, None)).run_fast() is is_fast
    assert all(len({layer.signature for layer in one.graph.layers}) == 1 for one in (fast, slow))


EDGE = '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'


@pytest.mark.parametrize(
    "edge",
    [
        EDGE.replace("0", "", 1), EDGE.replace("0", "-1", 1), EDGE.replace("<edge", "<edge7"), EDGE.replace("0", "0 0", 1), EDGE.replace(" to", " 3to"),
        EDGE.replace("0", "", 1).replace("<edge", "<edge7"), EDGE.replace("0", "1" * 19, 1), EDGE.replace("/>", "></edge>"), EDGE + "5", "7" + EDGE,
        EDGE.replace("0", "007", 1), EDGE.replace(" to", "  to"), f"\n\t{EDGE}", EDGE.replace('"0"', "'0'", 1), "<edge/>",
    ],
)  # fmt: skip
@pytest.mark.parametrize("edges", ["{0}", "{0}{1}", "{1}{0}", "{0}{1}{1}{0}{1}", "{0}{0}{0}{0}"])
def test_edges_that_differ_in_more_than_their_numbers(edge, edges):
    text = re.sub("<edges>.*</edges>", lambda _: f"<edges>{edges.format(edge, EDGE)}</edges>", BASE, flags=re.DOTALL)
    both_ways(text.encode())


def test_a_document_of_the_fast_lane_is_freed_without_the_garbage_collector():
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        before = sum(type(thing) is Layer for thing in gc.get_objects())
        document = read(BASE.encode())
        assert document.graph.layers[0].outputs
        del document
        assert sum(type(thing) is Layer for thing in gc.get_objects()) == before
    finally:
        if was_enabled:
            gc.enable()


DECLARED = ["", "<?xml version='1.0' encoding='US-ASCII'?>", '<?xml version="1.0" encoding="utf-8"?>', '<?xml version="1.0" encoding="latin-1"?>',
            """<?xml version="1.0'?>""", '<?xml version="1.1"?>', '<?xml encoding="utf-8"?>']  # fmt: skip
ENDS = ["</net >", "</net>\n \n", "</net>\v", "</net>x", "</net><!-- -->", "</net><net/>", "<a></net></a>", ""]


@pytest.mark.parametrize(("old", "new"), [*(('<?xml version="1.0"?>', one) for one in DECLARED), *(("</net>", one) for one in ENDS)])
def test_declarations_and_the_end_of_the_net(old, new):
    both_ways(changed((old, new)).encode())


@pytest.mark.parametrize(("most", "is_fast"), [(100, True), (99, False)])
@pytest.mark.parametrize("before", range(0, 200, 7))
def test_a_long_value_is_seen_wherever_it_begins(most, is_fast, before):
    text = BASE.replace('name="m"', f'name="{"x" * before}"').replace('name="b"', f'name="{"y" * 100}"')
    text = text if before <= most else BASE.replace('name="b"', f'name="{"y" * 100}"')
    document = Document(text.encode(), None, Limits(text=most))
    assert reader._Reader(document).has_long_value() is not is_fast
    assert codes(read(text.encode(), limits=Limits(text=most))) == ([] if is_fast else ["X111"])


# Pieces that patterns and a parser are likely to read differently.
SCRAPS = ["<", ">", "\x02", " fused_names", '<rt_info><attribute name="fused_names" version="0" value="a, b" /></rt_info>', '<attribute name="fused_names" version="0" value="a" />',
          "<rt_info><b/><attribute name=\"fused_names\" version=\"0\" value=\"a\" /></rt_info>", "<rt_info>", "</rt_info>", "\"\"", "edge", " 1", '"', "'", " ", "\t", "&amp;", "&", "/", "-", "+", "x", "é", "0", "9", "-2", " names=\"n\"", "<!-- -->", "<x/>", "</port>", "<dim>3</dim>", "<port id=\"9\"/>",
          "<rt_info/>", "<rt_info><layer/></rt_info>", "<input>", "</input>", "<data a=\"/>\"/>", " id=\"1\"", "<dim names=\"q\">1</dim>", "<layers/>", "<edge/>", "\r\n", "FP32", "XYZ",
          " axis=\"1\" axis=\"2\"", " names=\"\x01\"", " names=\"a\" names=\"b\"", "\x00", "\x7f", "\x0b", "\x1f", "<?p </net>?>", "</layer>", "<layer id=\"1\" name=\"\" type=\"If\" version=\"\">",
          " precision=\"I64\"", "<rt_info><attribute a=\"1\" a=\"1\"/></rt_info>", "<edges>", "</edges>", "<?xml version=\"1.0\"?>",
          "\x00", "\x01", " offset=\"3\"", "007", "00", " offset=\"\"", " type=\"Const\"", "<rt_info><a offset=\"1\" names=\"2\"/></rt_info>", "12345678901234567890", "</net >"]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_the_fast_lane_reads_damaged_files_alike(seed):
    rng = random.Random(seed)
    small = [path for path in CARRIED if path.stat().st_size < 8_000]
    for _ in range(60):
        text = rng.choice(small).read_text()
        for _ in range(rng.choice([1, 1, 2, 3])):
            at = rng.randrange(len(text))
            if rng.random() < 0.5:
                marks = [
                    "<port", "<dim", "<layer", "<data", 'names="', "<edge", "<output", "/>", ">", 'offset="', 'name="',
                    'type="Const"', "body>", "<layers", "<port_map", 'type="If"', 'type="Loop"',
                ]  # fmt: skip
                mark = rng.choice(marks)
                at = text.find(mark, at) + rng.choice([0, len(mark)])
            end = at + rng.choice([0, 0, 0, 1, 5])
            text = text[:at] + rng.choice(SCRAPS) + text[end:]
        both_ways(text.encode())


@pytest.mark.parametrize("seed", range(4))
def test_no_bytes_raise(seed):
    rng = random.Random(seed)
    for _ in range(100):
        source = bytearray(rng.choice([BASE, BODIES]).encode(rng.choice(["utf-8", "utf-8", "utf-16", "latin-1"])))
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(source))
            source[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        document = read(bytes(source))
        for diagnostic in document.diagnostics:
            assert 0 <= diagnostic.where.offset <= len(source)
            assert diagnostic.where.line >= 1 and diagnostic.where.column >= 1


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["a & b", "a<b", "a&b;", "\1"], ids=["bare ampersand", "tag", "unknown entity", "control character"])
def test_what_is_no_xml_is_refused_although_openvino_takes_it(name):
    source = BASE.replace('name="b"', f'name="{name}"').encode()
    assert [diagnostic.code for diagnostic in read(source).diagnostics] == ["X101"]
    core().read_model(source)


def test_a_forgiven_file_keeps_its_offsets_and_its_bytes():
    source = BASE.replace("<?xml", "<!-- x -->\n<?xml").replace('name="b"', 'name="b" name="c"').encode()
    document = read(source)
    assert document.source == source
    assert [source[one.where.offset :][:8] for one in document.diagnostics] == [b"<!-- x -", b'name="c"']
    layer = document.graph.layers[1]
    assert layer.name == "b"
    assert source[layer.offset : layer.end].startswith(b'<layer id="1"') and source[layer.offset : layer.end].endswith(b"</layer>")


@pytest.mark.parametrize("piece", ["<!--", "<?", '<a "', "<a '", '<a b="1" b="2" ', "<", "<a x=", '<a b="1" b="2"'])
def test_looking_for_what_is_forgiven_takes_linear_time(piece):
    """Each of these would take minutes if every piece were searched to the end of the file."""
    forgiven(f'<net a="1" a="2">{piece * 100_000}'.encode(), is_early=True)
