# ruff: noqa: E501  a row stays on its line
"""The schema accepts the files of OpenVINO's writer and names departures; a file is written back byte for byte, with numbers as OpenVINO reads them."""

import os
from pathlib import Path

import pytest

from irshape.xml.lexical import own_offset, to_int64, whole_number
from irshape.xml.reader import read
from irshape.xml.schema import structural_faults
from irshape.xml.writer import LayerFacts, PortFacts, annotate
from tests.support.places import IRS

CARRIED = sorted(IRS.glob("*/*.xml"))
SOUND = '<net name="m" version="11">\n<layers>\n<layer id="0" name="a" type="X" version="opset1"><output><port id="0" precision="FP32"><dim>-1</dim></port></output></layer>\n</layers>\n<edges>\n<edge from-layer="0" from-port="0" to-layer="0" to-port="0"/></edges>\n</net>'


@pytest.mark.parametrize("path", CARRIED, ids=lambda path: path.stem)
def test_carried_files_fit(path):
    assert structural_faults(path.read_bytes()) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        (' id="0"', "", 3, "'id' is required"),
        (' id="0"', ' id="x"', 3, "'x'"),
        (' name="a"', "", 3, "'name' is required"),
        (' type="X"', ' type=""', 3, "type"),
        (' precision="FP32"', "", 3, "'precision' is required"),
        ('"FP32"', '"FP33"', 3, "FP33"),
        ("-1", "-2", 3, "-2"),
        ("-1", "1..8", 3, "1..8"),
        ("<output>", "<putout/><output>", 3, "putout"),
        (' to-port="0"', "", 6, "'to-port' is required"),
        ('version="11"', 'version="9"', 1, "version"),
        ("</layers>", '<layer id="0" name="b" type="X" version="opset1"/></layers>', 4, "Duplicate"),
    ],
)
def test_departures_are_named(old, new, line, word):
    assert structural_faults(SOUND.encode()) == []
    faults = structural_faults(SOUND.replace(old, new, 1).encode())
    assert all(fault.code == "X202" for fault in faults)
    assert any(word in fault.message and fault.where.line == line for fault in faults)


@pytest.mark.parametrize("source", [b"", b"<net", SOUND.replace("<net", "<!DOCTYPE net [<!ENTITY e 'x'>]><net", 1).encode()])
def test_what_cannot_be_judged_is_left_to_the_reader(source):
    assert structural_faults(source) == []


def test_lines_count_from_the_beginning_of_the_file():
    faults = structural_faults(("\n\n" + SOUND.replace("-1", "x")).encode())
    assert [fault.where.line for fault in faults] == [5]


FOLDER = os.environ.get("IRSHAPE_CORPUS")


def everything(graph):
    for layer in graph.layers:
        yield layer
        for body in (layer.bodies or {}).values():
            yield from everything(body)


@pytest.mark.skipif(not FOLDER, reason="IRSHAPE_CORPUS names no folder")
def test_corpus():
    paths = sorted(Path(FOLDER).glob("**/*.xml"))
    assert paths
    for path in paths:
        document = read(path)
        assert document.diagnostics == [], path
        facts = {
            layer: LayerFacts(
                *([PortFacts(port.precision, port.dims, port.annotation) for port in ports] for ports in (layer.inputs, layer.outputs))
            )
            for layer in everything(document.graph)
        }
        assert annotate(document, facts) == document.source, path
        assert structural_faults(document.source) == [], path


# Text, its value as std::stoll reads all of it, and the offset that a Const keeps for itself.
TEXTS = [
    ("0", 0, 0),
    ("7", 7, 7),
    ("007", 7, None),
    ("+7", 7, None),
    ("-7", -7, None),
    (" \v7", 7, None),
    ("7 ", None, None),
    ("", None, None),
    ("1.0", None, None),
    ("1_0", None, None),
    ("\uff11", None, None),
    ("999999999999999999", 999999999999999999, 999999999999999999),
    ("9223372036854775807", 9223372036854775807, None),
    ("9223372036854775808", None, None),
    ("-9223372036854775808", -9223372036854775808, None),
    ("-9223372036854775809", None, None),
    ("0" * 5000 + "7", 7, None),
    ("7" * 5000, None, None),
]


@pytest.mark.parametrize(("text", "value", "offset"), TEXTS)
def test_numbers_of_an_attribute(text: str, value: int | None, offset: int | None) -> None:
    assert whole_number(text) == value
    assert own_offset(text) == offset


def test_a_number_of_any_length_is_read_in_linear_time() -> None:
    assert to_int64("-" + "0" * 100_000 + "5") == -5
    assert to_int64("9" * 100_000) is None
