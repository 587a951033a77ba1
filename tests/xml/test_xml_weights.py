"""Weights: exact ranges of regular files, and exact numbers from their bytes."""

import io
import os
import struct

import pytest

from irshape.shape.element_type import ElementType
from irshape.xml.weights import Weights, WeightsError, decode

DATA = bytes(range(200))


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "m.xml").write_bytes(b"<net/>")
    (folder / "m.bin").write_bytes(DATA)
    return folder / "m.xml"


@pytest.mark.parametrize("kind", ["beside", "path", "bytes", "file"])
def test_exact_ranges(model, kind):
    path = model.with_suffix(".bin")
    file = io.BytesIO(DATA)
    source = {"path": path, "bytes": DATA, "file": file}
    weights = Weights.beside(model) if kind == "beside" else Weights(source[kind])
    assert weights.size == 200
    assert weights.bytes_read == 0
    assert weights.read(8, 16) == DATA[8:24]
    assert weights.read(200, 0) == b""
    assert weights.read(199, 1) == b"\xc7"
    assert weights.bytes_read == 17
    for offset, size in ((199, 2), (201, 0), (-1, 4), (0, -1), (1 << 63, 1 << 63)):
        with pytest.raises(WeightsError) as caught:
            weights.read(offset, size)
        assert caught.value.code == "W102"


def code(weights):
    with pytest.raises(WeightsError) as caught:
        weights.read(0, 1)
    return caught.value.code


def test_what_is_no_regular_file(model, tmp_path):
    path = model.with_suffix(".bin")
    assert code(Weights.beside(tmp_path / "absent.xml")) == "W203"
    assert code(Weights(tmp_path / "absent.bin")) == "W101"
    assert code(Weights(False)) == "N108"
    assert code(Weights(b"")) == "W101"
    path.write_bytes(b"")
    assert code(Weights.beside(model)) == "W101"
    path.unlink()
    path.mkdir()
    assert code(Weights.beside(model)) == "W104"
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        assert code(Weights.beside(model)) == "W104"


def test_links_that_leave_the_folder(model, tmp_path):
    path = model.with_suffix(".bin")
    outside = tmp_path / "weights"
    path.rename(outside)
    path.symlink_to(outside)
    assert code(Weights.beside(model)) == "W104"
    assert Weights(path).read(0, 2) == b"\0\1"
    path.unlink()
    (model.parent / "inside").write_bytes(DATA)
    path.symlink_to("inside")
    assert Weights.beside(model).read(0, 2) == b"\0\1"


@pytest.mark.parametrize(("data", "expected"), [
    (b"\n<?xml version='1.0'?><net/>", "W105"),
    ("<net/>".encode("utf-16"), "W105"),
    (b"<\0\0\0<net/>", "W102"),  # a number of four bytes
    (b"<net\x01\x02\x03\xff\xfe", "W102"),
    (b"<3.5", "W102"),
])  # fmt: skip
def test_xml_in_the_bin(model, data, expected):
    model.with_suffix(".bin").write_bytes(data)
    with pytest.raises(WeightsError) as caught:
        Weights.beside(model).read(100, 8)
    assert caught.value.code == expected


def test_a_file_cut_short_while_it_is_read(model):
    weights = Weights.beside(model)
    assert weights.size == 200
    os.truncate(model.with_suffix(".bin"), 10)
    with pytest.raises(WeightsError) as caught:
        weights.read(8, 16)
    assert caught.value.code == "W102"


def test_closing(model):
    with Weights.beside(model) as weights:
        assert weights.read(0, 1) == b"\0"
    assert code(weights) == "W104"


# Element type, bytes, number of elements, values.
NUMBERS = [
    ("i8", b"\x80\x7f\xff", 3, (-128, 127, -1)),
    ("u8", b"\x80\xff", 2, (128, 255)),
    ("i16", struct.pack("<2h", -32768, 5), 2, (-32768, 5)),
    ("u16", struct.pack("<H", 65535), 1, (65535,)),
    ("i32", struct.pack("<2i", -1, 2**31 - 1), 2, (-1, 2**31 - 1)),
    ("u32", struct.pack("<I", 2**32 - 1), 1, (2**32 - 1,)),
    ("i64", struct.pack("<2q", -(2**63), 2**63 - 1), 2, (-(2**63), 2**63 - 1)),
    ("u64", struct.pack("<Q", 2**64 - 1), 1, (2**64 - 1,)),
    ("boolean", b"\0\1\2", 3, (0, 1, 1)),
    ("i4", b"\x8f\x07", 3, (-1, -8, 7)),
    ("u4", b"\x8f\x07", 3, (15, 8, 7)),
    ("f16", struct.pack("<2e", 1.5, float("inf")), 2, (1.5, float("inf"))),
    ("bf16", b"\xc0\x3f\x80\xbf", 2, (1.5, -1.0)),
    ("f32", struct.pack("<f", 0.1), 1, (struct.unpack("<f", struct.pack("<f", 0.1))[0],)),
    ("f64", struct.pack("<d", 0.1), 1, (0.1,)),
    ("i64", b"", 0, ()),
    ("i64", bytes(16), 1, (0,)),
    ("f8e4m3", b"\0", 1, None),
    ("string", bytes(32), 1, None),
    ("nf4", b"\0", 1, None),
]


@pytest.mark.parametrize(("name", "data", "count", "values"), NUMBERS)
def test_numbers(name, data, count, values):
    assert decode(ElementType.parse(name), data, count) == values


def test_too_few_bytes():
    with pytest.raises(WeightsError) as caught:
        decode(ElementType.i64, bytes(15), 2)
    assert (caught.value.code, caught.value.message) == (
        "W103",
        "the constant stores 15 bytes; its shape and type need 16 (2 elements of i64)",
    )
