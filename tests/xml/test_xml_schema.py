# ruff: noqa: E501  a row stays on its line
"""The schema accepts the files of OpenVINO's writer and names departures."""

from pathlib import Path

import pytest

from irshape.xml.schema import structural_faults

CARRIED = sorted((Path(__file__).parent.parent / "data" / "ir").glob("*/*.xml"))
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
