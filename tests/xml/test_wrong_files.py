"""Files that are no IR: each is told by its first bytes, in one diagnostic that names the format and the next step."""

import gzip
import io
import os
import zipfile
from pathlib import Path

import pytest

import irshape
from tests.support.ir import Net

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 123456\n"


# A model whose Reshape reads the one constant, 16 bytes.
NET = Net("Reshape(f32[2,3], [3,2], special_zero=false) -> Result")


def zipped(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, b"1" * 50)
    return file.getvalue()


FORMATS = [
    (LFS, "a Git LFS pointer", "git lfs pull"),
    (b"/annex/objects/MD5E-s1000--abc.xml\n", "a git-annex pointer", "git annex get"),
    (b"outs:\n- md5: " + b"a" * 32 + b"\n  path: m.xml\n", "a DVC pointer", "dvc pull"),
    (gzip.compress(b"<net/>", mtime=0), "compressed by gzip", "gzip -d"),
    (zipped("m.txt"), "a zip archive", "the files inside"),
    (zipped("archive/data.pkl"), "a PyTorch model", "openvino.convert_model"),
    (zipped("metadata.json"), "a Keras model", "ovc FOLDER"),
    (b"\x08\x07\x12\x07pytorch\x1a\x032.0:" + bytes(50), "an ONNX model", "ovc MODEL"),
    (b"\x1c\0\0\0TFL3" + bytes(90), "a TensorFlow Lite model", "ovc MODEL"),
    (b"\x08\x01\x12\xf3\x9c\x02\n\x20" + bytes(90), "a TensorFlow SavedModel", "ovc FOLDER"),
    (b"\x89HDF\r\n\x1a\n" + bytes(90), "an HDF5 file, such as a Keras model", "ovc FOLDER"),
    (b'\xe8\x03\0\0\0\0\0\0{"weight":', "a safetensors file", "optimum-cli export openvino"),
    (b"<!DOCTYPE html>\n<html><head/></html>", "an HTML page", "login"),
    (b"<!doctype html><html lang=en><br>", "an HTML page", "login"),
    (b"<html><body>Log in</body></html>", "an HTML page", "login"),
    (b'{"error": "Repository not found"}', "JSON", "login"),
]
TEXTS = [
    (b"", "empty", "export or download the file again"),
    (b"\xef\xbb\xbf \n", "empty", "export or download the file again"),
    (bytes(5000), "filled with zero bytes, as an interrupted download leaves it", "export or download the file again"),
    (b"Entry not found", "a text without markup", "download the file itself"),
]


@pytest.mark.parametrize(("source", "name", "step"), FORMATS + TEXTS)
def test_a_file_in_place_of_the_xml(source: bytes, name: str, step: str) -> None:
    [fault] = irshape.check(source).diagnostics
    assert (fault.code, fault.message) == ("X104", f"the file is {name}, not the .xml of an IR")
    assert step in (fault.hint or "")


@pytest.mark.parametrize(("source", "name", "step"), FORMATS)
@pytest.mark.parametrize("surplus", [False, True])
def test_a_file_in_place_of_the_bin(source: bytes, name: str, step: str, surplus: bool, tmp_path: Path) -> None:
    """A file that is too short is an error. OpenVINO reads one that is too long, so it is a warning."""
    bytes_needed = 10 if surplus else len(source) + 1
    text = NET.xml.replace('size="16"', f'size="{max(bytes_needed, 16)}"')
    if surplus:
        source += bytes(50)
    path = tmp_path / "m.bin"
    path.write_bytes(source)
    found = irshape.check(text.encode(), weights=path).diagnostics
    [fault] = [one for one in found if one.code[0] == "W"]
    assert fault.code == "W201" if surplus else "W107"
    assert fault.message.partition(";")[0] == f"the weights {str(path)!r} are {name}, not the .bin of an IR"
    assert step in (fault.hint or "")


def test_weights_longer_than_the_constants() -> None:
    assert irshape.check(NET.xml.encode(), weights=NET.bin).diagnostics == []
    [fault] = irshape.check(NET.xml.encode(), weights=NET.bin + bytes(4)).diagnostics
    assert (fault.code, fault.message) == (
        "W201",
        "the weights have 20 bytes, but the constants end at byte 16; are they another model's weights?",
    )
    assert fault.where.line == 1 or fault.where.layer_id is None


def test_the_xml_as_weights(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(NET.xml)
    assert "W201" in [one.code for one in irshape.check(path, weights=path).diagnostics if "are XML" in one.message]


def test_constants_that_overlap_in_part() -> None:
    model = Net("[1,2] -> Result\n[3,4] -> Result")
    assert irshape.check(model.xml.encode(), weights=model.bin).diagnostics == []
    for offset, codes in ((8, ["W202", "W201"]), (0, ["W201"])):  # equal constants are stored once
        found = irshape.check(model.xml.replace('offset="16"', f'offset="{offset}"').encode(), weights=model.bin).diagnostics
        assert [one.code for one in found] == codes
    # The last bytes belong to no constant, and are as many as those of a constant that begins where another one does.
    assert found[0].message.endswith("; should Const 'const_0' (line 5) or Const 'const_2' (line 16) begin at byte 16?")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the IR version is 7; OpenVINO reads versions 10 and 11"),
        (
            '<meta_data><MO_version value="2019.3.0-408"/></meta_data>',
            "the IR version is 7, written by Model Optimizer 2019.3.0-408; OpenVINO reads versions 10 and 11",
        ),
    ],
)
def test_an_old_version_is_one_error(text: str, message: str) -> None:
    source = NET.xml.replace('version="11"', 'version="7"').replace("opset1", "").replace("</net>", f"{text}</net>")
    [fault] = irshape.check(source.encode()).diagnostics
    assert (fault.code, fault.message) == ("X108", message)
    assert "ovc MODEL" in (fault.hint or "")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_a_dangling_link_to_the_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(NET.xml)
    path.with_suffix(".bin").symlink_to("../objects/absent")
    [fault] = [one for one in irshape.check(path).diagnostics if one.code[0] == "W"]
    assert fault.code == "W101"
    assert "is a link to '../objects/absent', which does not exist" in fault.message
    assert "git annex get" in (fault.hint or "")


def test_every_fault_of_the_xml_and_the_weights_has_a_hint() -> None:
    for source in (b"<net", b"<net version='12'/>", b"<!DOCTYPE x><net/>", b"<x/>", b"<net version='11'><layers><layer/></layers></net>"):
        assert all(one.hint for one in irshape.check(source).diagnostics if one.code[0] in "XW")


LINKS = [
    ("models--x/snapshots/1a2b/m", "models--x/blobs/90ff", True),
    ("models--x/snapshots/1a2b/openvino/m", "models--x/blobs/90ff", True),
    ("models--x/snapshots/1a2b/m", "models--y/blobs/90ff", False),
    ("repository/deep/m", "repository/.git/annex/objects/Xk/9q/KEY/KEY", True),
    ("repository/deep/m", "elsewhere/.git/annex/objects/Xk/9q/KEY/KEY", False),
    ("repository/m", "repository/.dvc/cache/files/md5/0a/1b", True),
    ("repository/deep/m", "repository/blobs/90ff", False),
]


@pytest.mark.parametrize(("model", "target", "is_read"), LINKS)
def test_links_into_the_store_of_a_tool(model: str, target: str, is_read: bool, tmp_path: Path) -> None:
    path, stored = tmp_path / f"{model}.xml", tmp_path / target
    for one in (path, stored):
        one.parent.mkdir(parents=True)
    path.write_text(NET.xml)
    stored.write_bytes(NET.bin)
    path.with_suffix(".bin").symlink_to(os.path.relpath(stored, path.parent))
    assert [one.code for one in irshape.check(path).diagnostics] == ([] if is_read else ["W104"])


@pytest.mark.oracle
def test_what_openvino_reads_as_weights(tmp_path: Path) -> None:
    """OpenVINO reads links into a store and weights that are too long; it refuses those that are too short and old versions."""
    import openvino

    core, model, path = openvino.Core(), NET, tmp_path / "m.xml"
    path.write_text(model.xml)
    weights = path.with_suffix(".bin")
    for data in (model.bin, model.bin + bytes(4), LFS, gzip.compress(bytes(9000), mtime=0), model.bin[:8], LFS[:12], b""):
        weights.write_bytes(data)
        checked = irshape.check(path)
        try:
            core.read_model(path)
        except RuntimeError:
            assert not checked.ok
        else:
            assert not [one for one in checked.diagnostics if one.code[0] == "W" and one.severity == "error"]
    path.write_text(model.xml.replace('version="11"', 'version="7"', 1))
    weights.write_bytes(model.bin)
    with pytest.raises(RuntimeError):
        core.read_model(path)
