# ruff: noqa: E501  a row stays on its line
"""The writer splices changes into the file and writes it whole or not at all."""

import os
import random

import pytest

from irshape.files.writing import write_atomic
from irshape.xml.reader import read
from irshape.xml.weights import Weights
from irshape.xml.writer import LayerFacts, PortFacts, annotate, place_weights
from tests.support.oracle import core_of
from tests.support.places import IRS

CARRIED = sorted(IRS.glob("*/*.xml"))


def all_layers(graph):
    for layer in graph.layers:
        yield layer
        for body in (layer.bodies or {}).values():
            yield from all_layers(body)


def recorded(port):
    return PortFacts(port.precision, port.dims, port.annotation)


def facts_of(document, port_facts=recorded):
    return {
        layer: LayerFacts([port_facts(port) for port in layer.inputs], [port_facts(port) for port in layer.outputs])
        for layer in all_layers(document.graph)
    }


@pytest.mark.parametrize("path", CARRIED, ids=lambda path: path.stem)
def test_nothing_changed_is_byte_identical(path):
    document = read(path.read_bytes())
    assert annotate(document, facts_of(document)) is document.source
    assert annotate(document, {}) is document.source


def one_port(port, newline="\n", encoding="utf-8"):
    """A file with one port, pretty if the port begins with a line feed."""
    if port.startswith("\n"):
        text = f'<net version="11">\n  <layers>\n    <layer id="0" name="é" type="X" version="opset1">\n      <output>{port}\n      </output>\n    </layer>\n  </layers>\n</net>'
    else:
        text = f'<net version="11"><layers><layer id="0" name="é" type="X" version="opset1"><output>{port}</output></layer></layers></net>'
    return text.replace("\n", newline).encode(encoding)


P = '\n        <port id="1" precision="FP32"'
D = "\n          "
NOTE = f'{D}<rt_info>{D}  <attribute name="irshape" version="0" value="[N]" />{D}</rt_info>'
# The text of a port, the wanted dims, precision and annotation, and the text afterwards.
SPLICES = [
    ('<port id="1" precision="FP32"><dim>2</dim></port>', (3,), "FP32", None, '<port id="1" precision="FP32"><dim>3</dim></port>'),
    ('<port id="1" precision="FP32"><dim>2</dim></port>', (2, 3), "FP32", None, '<port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port>'),
    ('<port id="1" precision="FP32"><dim>2</dim></port>', (), "FP32", None, '<port id="1" precision="FP32" />'),
    ('<port id="1" precision="FP32"/>', (2,), "FP32", None, '<port id="1" precision="FP32"><dim>2</dim></port>'),
    ('<port id="1" precision="FP32" />', (2,), "I64", None, '<port id="1" precision="I64"><dim>2</dim></port>'),
    ("<port id='1' precision='FP32' names='a>b/' />", None, "I64", None, "<port id='1' precision=\"I64\" names='a>b/' />"),
    ('<port id="1" precision="FP32"></port>', (2,), None, None, '<port id="1" precision="FP32"><dim>2</dim></port>'),
    ('<port id="1" precision="f32"><dim>2</dim></port>', (2,), "FP32", None, '<port id="1" precision="f32"><dim>2</dim></port>'),
    ('<port id="1"><dim>2</dim></port>', (2,), "FP32", None, '<port id="1" precision="FP32"><dim>2</dim></port>'),
    ('<port id="1"><dim> 2 <!-- c --></dim><dim/></port>', (2, 3), None, None, '<port id="1"><dim>2</dim><dim>3</dim></port>'),
    ('<port id="1"><!-- a --><dim>2</dim><!-- <dim>9</dim> --></port>', (3,), None, None, '<port id="1"><!-- a --><dim>3</dim><!-- <dim>9</dim> --></port>'),
    (P + ' names="n">' + D + "<dim>2</dim>" + P[:9] + "</port>", (2, -1), "FP32", None, P + ' names="n">' + D + "<dim>2</dim>" + D + "<dim>-1</dim>" + P[:9] + "</port>"),
    (P + ">" + D + "<dim>2</dim>" + D + "<dim>3</dim>" + P[:9] + "</port>", (4,), "FP32", None, P + ">" + D + "<dim>4</dim>" + P[:9] + "</port>"),
    (P + " />", (2, 3), "FP32", None, P + ">" + D + "<dim>2</dim>" + D + "<dim>3</dim>" + P[:9] + "</port>"),
    (P + ">" + D + "<dim>2</dim>" + P[:9] + "</port>", None, "FP32", None, P + " />"),
    (P + ">" + D + "<dim>-1</dim>" + P[:9] + "</port>", (-1,), "FP32", "[N]", P + ">" + D + "<dim>-1</dim>" + NOTE + P[:9] + "</port>"),
    (P + ">" + D + "<dim>-1</dim>" + NOTE + P[:9] + "</port>", (-1,), "FP32", "[M]", P + ">" + D + "<dim>-1</dim>" + NOTE.replace("[N]", "[M]") + P[:9] + "</port>"),
    (P + ">" + D + "<dim>-1</dim>" + NOTE + P[:9] + "</port>", (4,), "FP32", None, P + ">" + D + "<dim>4</dim>" + P[:9] + "</port>"),
    (P + ">" + NOTE + P[:9] + "</port>", (), "FP32", None, P + " />"),
    (P + " />", None, "FP32", "[N]", P + ">" + NOTE + P[:9] + "</port>"),
    ('<port id="1"><rt_info><attribute name="x"/></rt_info></port>', None, None, "[N]", '<port id="1"><rt_info><attribute name="x"/><attribute name="irshape" version="0" value="[N]" /></rt_info></port>'),
    ('<port id="1"><rt_info><attribute name="x"/><attribute name="irshape" value="[N]"/></rt_info></port>', None, None, None, '<port id="1"><rt_info><attribute name="x"/></rt_info></port>'),
    ('<port id="1"><rt_info/></port>', None, None, "[N]", '<port id="1"><rt_info><attribute name="irshape" version="0" value="[N]" /></rt_info></port>'),
]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "dims", "precision", "annotation", "after"), SPLICES)
def test_splices(before, dims, precision, annotation, after, newline, encoding):
    document = read(one_port(before, newline, encoding))
    (layer,) = document.graph.layers
    written = annotate(document, {layer: LayerFacts((), [PortFacts(precision, dims, annotation)])})
    assert written.decode(encoding) == one_port(after, newline, encoding).decode(encoding)
    (port,) = read(written).graph.layers[0].outputs
    assert (port.dims or (), port.annotation) == (dims or (), annotation)


@pytest.mark.parametrize(
    ("before", "attributes", "after"),
    [
        ('<layer id="0" type="Parameter"><data shape="2" element_type="f32"/></layer>', {"shape": "1..8,?"}, '<layer id="0" type="Parameter"><data shape="1..8,?" element_type="f32"/></layer>'),
        ('<layer id="0" type="Parameter"><data shape="2"/></layer>', {"shape": "3", "element_type": "f32"}, '<layer id="0" type="Parameter"><data shape="3" element_type="f32"/></layer>'),
        ('<layer id="0" type="Parameter"><data/></layer>', {"shape": ""}, '<layer id="0" type="Parameter"><data shape=""/></layer>'),
        ('<layer id="0" type="Parameter"/>', {"shape": "2"}, '<layer id="0" type="Parameter"><data shape="2" /></layer>'),
        ('<layer id="0" type="Parameter"><output/></layer>', {"x": '<&">\n'}, '<layer id="0" type="Parameter"><data x="&lt;&amp;&quot;&gt;&#10;" /><output/></layer>'),
        ('<layer id="0" type="Parameter"><data shape="2"/></layer>', {"shape": "2"}, '<layer id="0" type="Parameter"><data shape="2"/></layer>'),
    ],
)  # fmt: skip
def test_attributes(before, attributes, after):
    document = read(f"<net version='11'><layers>{before}</layers></net>".encode())
    written = annotate(document, {document.graph.layers[0]: LayerFacts(attributes=attributes)})
    assert written.decode() == f"<net version='11'><layers>{after}</layers></net>"
    assert read(written).graph.layers[0].attributes.items() >= attributes.items()


def test_what_the_encoding_cannot_write_becomes_a_reference():
    document = read(
        '<?xml version="1.0" encoding="iso-8859-1"?><net version="11"><layers><layer id="0" name="é" type="X" version="v"><output><port id="0"/></output></layer></layers></net>'.encode(
            "latin-1"
        )
    )
    written = annotate(document, {document.graph.layers[0]: LayerFacts((), [PortFacts(None, None, "∞é")])})
    assert b"&#8734;\xe9" in written
    assert read(written).graph.layers[0].outputs[0].annotation == "∞é"


def random_facts(rng):
    def port_facts(port):
        dims = rng.choice([port.dims, None, (1,), (2, 3, -1), (*(port.dims or ()), 7), (port.dims or (1,))[:-1]])
        return PortFacts(rng.choice([None, "FP32", "I64", port.precision]), dims, rng.choice([None, None, '[N,"<&>]']))

    return port_facts


@pytest.mark.parametrize("path", CARRIED, ids=lambda path: path.stem)
def test_what_is_written_is_read_back_and_can_be_undone(path):
    document = read(path.read_bytes())
    facts = facts_of(document, random_facts(random.Random(path.stem)))
    again = read(annotate(document, facts))
    assert again.diagnostics == []
    undo = {}
    for old, new in zip(all_layers(document.graph), all_layers(again.graph), strict=True):
        for ports, wanted in ((new.inputs, facts[old].inputs), (new.outputs, facts[old].outputs)):
            for port, want in zip(ports, wanted, strict=True):
                assert (port.dims or (), port.annotation) == (want.dims or (), want.annotation)
                assert want.precision in (None, port.precision)
        undo[new] = LayerFacts([recorded(port) for port in old.inputs], [recorded(port) for port in old.outputs])
    if all(port.precision for layer in all_layers(document.graph) for port in layer.inputs):
        assert annotate(again, undo) == document.source


@pytest.mark.oracle
@pytest.mark.parametrize("path", [path for path in CARRIED if path.with_suffix(".bin").exists()][::3], ids=lambda path: path.stem)
def test_openvino_reads_the_same_model(path, tmp_path):
    pytest.importorskip("openvino")
    core = core_of(path.read_bytes())
    document = read(path)
    written = tmp_path / "m.xml"
    written.write_bytes(annotate(document, facts_of(document, random_facts(random.Random(1)))))
    place_weights("copy", Weights(path.with_suffix(".bin")), written)

    def ports(model):
        return [
            (str(port.get_partial_shape()), port.get_element_type().get_type_name())
            for node in model.get_ordered_ops()
            for port in node.outputs()
        ]

    assert ports(core.read_model(str(written))) == ports(core.read_model(str(path)))


def test_files_appear_whole(tmp_path):
    path = tmp_path / "out.xml"
    write_atomic(path, b"one")
    with pytest.raises(FileExistsError):
        write_atomic(path, b"two")
    assert path.read_bytes() == b"one"
    path.chmod(0o640)
    write_atomic(path, b"two", force=True)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out.xml"]


@pytest.mark.parametrize("alias", ["itself", "symlink", "hard link"])
def test_the_input_is_replaced_in_place_only(tmp_path, alias):
    source = tmp_path / "in.xml"
    source.write_bytes(b"old")
    path = source if alias == "itself" else tmp_path / "alias.xml"
    if alias == "symlink":
        path.symlink_to(source)
    elif alias == "hard link":
        os.link(source, path)
    with pytest.raises(FileExistsError, match="overwrite the input"):
        write_atomic(path, b"new", force=True, source=source)
    assert source.read_bytes() == b"old"
    write_atomic(path, b"new", in_place=True, source=source)
    assert path.read_bytes() == b"new"
    assert path.is_symlink() == (alias == "symlink")


def test_a_link_is_replaced_and_not_followed(tmp_path):
    """Whoever planted a link in the place of an output must not choose the file that irshape writes."""
    victim, path = tmp_path / "victim", tmp_path / "out.xml"
    victim.write_bytes(b"victim")
    path.symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_atomic(path, b"new")
    write_atomic(path, b"new", force=True)
    assert (victim.read_bytes(), path.read_bytes(), path.is_symlink()) == (b"victim", b"new", False)
    path.unlink()
    path.symlink_to(tmp_path / "none")
    with pytest.raises(FileExistsError):
        write_atomic(path, b"new")
    assert not (tmp_path / "none").exists()


def test_only_regular_files_are_written(tmp_path):
    with pytest.raises(OSError, match="not a regular file"):
        write_atomic(tmp_path, b"x", force=True)
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "no" / "such.xml", b"x")


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(tmp_path / "out.xml", b"x")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("how", ["link", "copy"])
def test_weights_are_placed(tmp_path, how):
    source = tmp_path / "in.bin"
    source.write_bytes(b"weights")
    target = tmp_path / "out.bin"
    assert place_weights(how, Weights(source), tmp_path / "out.xml") == str(target)
    assert target.read_bytes() == b"weights"
    assert os.path.samefile(source, target) == (how == "link")
    target.unlink()
    target.write_bytes(b"others")
    with pytest.raises(FileExistsError):
        place_weights(how, Weights(source), tmp_path / "out.xml")
    place_weights(how, Weights(source), tmp_path / "out.xml", force=True)
    assert target.read_bytes() == b"weights"
    assert place_weights(how, Weights(source), tmp_path / "in.xml") == str(source)
    assert sorted(os.listdir(tmp_path)) == ["in.bin", "out.bin"]
