"""Everything that may hold an IR gives the same facts."""

import io
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import irshape
from tests.support.ir import Net

# A Reshape whose target is a constant, so that nothing is known without the weights.
NET = Net("Reshape(f32[2,6], [3,-1], special_zero=false) -> Result")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "net.xml"
    NET.save(path)
    return path


# Each makes a source of a path. The weights of the first ones are found; the others know no path.
LOCATED: dict[str, Callable[[Path], Any]] = {
    "a path": Path,
    "the text of a path": str,
    "a file object": lambda path: path.open("rb"),
    "an lxml tree": lambda path: etree.parse(path),
    "an lxml element": lambda path: etree.parse(path).getroot(),
}
BARE: dict[str, Callable[[Path], Any]] = {
    "bytes": Path.read_bytes,
    "a bytearray": lambda path: bytearray(path.read_bytes()),
    "a memoryview": lambda path: memoryview(path.read_bytes()),
    "XML text": Path.read_text,
    "XML text after a byte order mark": lambda path: "\ufeff" + path.read_text().partition("?>")[2].lstrip(),
    "a file object in memory": lambda path: io.BytesIO(path.read_bytes()),
    "an lxml tree made in memory": lambda path: etree.ElementTree(etree.fromstring(path.read_bytes())),
    "an lxml element made in memory": lambda path: etree.fromstring(path.read_bytes()),
    "a tree of the standard library": lambda path: ElementTree.parse(path),
    "an element of the standard library": lambda path: ElementTree.parse(path).getroot(),
}


@pytest.mark.parametrize("make", LOCATED.values(), ids=LOCATED)
def test_a_source_with_a_path_finds_its_weights(make: Callable[[Path], Any], path: Path) -> None:
    source = make(path)
    inference = irshape.check(source)
    assert inference.diagnostics == []
    assert inference["reshape_2"].outputs[0].text == "[3,4]"
    getattr(source, "close", lambda: None)()


@pytest.mark.parametrize("make", BARE.values(), ids=BARE)
def test_a_source_without_a_path_takes_its_weights(make: Callable[[Path], Any], path: Path) -> None:
    assert irshape.infer(make(path), weights=NET.bin)["reshape_2"].outputs[0].text == "[3,4]"
    without = irshape.infer(make(path))
    assert [found.code for found in without.diagnostics] == ["W203"]


def test_an_element_inside_another_document_is_read_alone() -> None:
    outer = etree.fromstring(f"<models>{NET.xml.partition('?>')[2]}<net/></models>".encode())
    assert irshape.infer(outer[0], weights=NET.bin).ok


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-16", "iso-8859-1", "us-ascii"])
def test_xml_text_is_encoded_as_it_declares(encoding: str) -> None:
    text = NET.xml.replace('version="1.0"', f'version="1.0" encoding="{encoding}"', 1).replace('"reshape_2"', '"größe"')
    model = irshape.read(text, weights=NET.bin)
    assert irshape.check(model).ok
    assert "größe" in model


def test_an_unknown_encoding_is_a_fault_of_the_file() -> None:
    found = irshape.infer(NET.xml.replace('version="1.0"', 'version="1.0" encoding="klingon"', 1)).diagnostics
    assert [one.severity for one in found] == ["error"]
    assert "klingon" in found[0].message


@pytest.mark.parametrize(
    ("source", "message"),
    [(3, "not from int"), (None, "not from NoneType"), (["net.xml"], "not from list"), (io.StringIO("<net/>"), "open it in binary mode")],
)
def test_anything_else_is_refused(source: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        irshape.read(source)


def test_text_that_is_not_xml_is_a_path() -> None:
    with pytest.raises(FileNotFoundError):
        irshape.read("net>")


def test_every_verb_takes_every_source(path: Path) -> None:
    text, weights = path.read_text(), NET.bin
    assert irshape.read(text, weights=weights)["const_1"].const.data.tolist() == [3, -1]
    assert irshape.check(text, weights=weights).ok
    assert irshape.reshape(text, {"parameter_0": [3, 6]}, weights=weights).ok
    assert irshape.info(text, weights=weights).layers == 4
    assert irshape.diff(text, path.read_bytes(), weights=(weights, weights)).is_same
    assert irshape.sizes(text, inputs={"parameter_0": "[N,6]"}, weights=weights).condition == "every size"
    assert irshape.Session(text, weights=weights).infer().ok
    assert irshape.explain(path, "reshape_2", axis=0).value == "3"


def test_the_path_of_a_file_object_names_it_in_messages(path: Path) -> None:
    path.write_text(NET.xml.replace('special_zero="false"', 'special_zero="maybe"'), encoding="utf-8")
    with path.open("rb") as file:
        [found] = irshape.check(file).diagnostics[:1]
    assert str(found).startswith(f"{os.fspath(path)}:")


def test_the_tree_of_a_file_with_text_before_it_has_the_shapes(path: Path) -> None:
    """OpenVINO passes over the text, and XML does not."""
    inference = irshape.infer(b"once\n" + path.read_bytes().partition(b"?>")[2].lstrip(), weights=NET.bin)
    assert inference.ok
    assert [tree.getroot().tag for tree in (inference.tree(), inference.model.tree())] == ["net", "net"]
    assert inference.tree().findall("layers/layer[@id='2']/output/port/dim")[0].text == "3"
    assert inference.xml().startswith(b"once\n")
