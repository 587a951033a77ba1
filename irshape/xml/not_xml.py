"""Bytes that are no XML: files of other formats, and text in an IR that OpenVINO's parser passes over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# As many bytes as a format is recognised by.
HEAD: Final = 1024


class Format(NamedTuple):
    """A format: what a file of it is, in words that complete "the file is", and the next step for who wants an IR."""

    name: str
    hint: str


_CONVERT: Final = "convert the model to an IR: ovc MODEL"
_KERAS: Final = "export the model as a SavedModel, and convert its folder to an IR: ovc FOLDER"
_PYTORCH: Final = "convert the model in Python: openvino.convert_model, then openvino.save_model"
_ARCHIVE: Final = "give the files inside it"
_AGAIN: Final = "export or download the file again"
_SERVER: Final = "download the file itself: the link may need a login, or lead to a page about the file"

# The first bytes of a format. A pattern is matched at the beginning, after a byte order mark and white space.
_FORMATS: Final = (
    (rb"version https://git-lfs\.github\.com/spec/", Format("a Git LFS pointer", "fetch the file: git lfs pull")),
    (rb"(?:\.\./)*(?:\.git)?/?annex/objects/", Format("a git-annex pointer", "fetch the file: git annex get .")),
    (rb"(?:- )?(?:outs:\s|md5: [0-9a-f]{32})", Format("a DVC pointer", "fetch the file: dvc pull")),
    (rb"\x1f\x8b", Format("compressed by gzip", "uncompress the file: gzip -d")),
    (rb"BZh[1-9]1AY&SY", Format("compressed by bzip2", "uncompress the file: bzip2 -d")),
    (rb"\xfd7zXZ\0", Format("compressed by xz", "uncompress the file: xz -d")),
    (rb"\x28\xb5\x2f\xfd", Format("compressed by Zstandard", "uncompress the file: zstd -d")),
    (rb"7z\xbc\xaf\x27\x1c", Format("a 7z archive", _ARCHIVE)),
    (rb"PK\x03\x04.{26}[^\0/]*/(?:data\.pkl|\.format_version)", Format("a PyTorch model", _PYTORCH)),
    (rb"PK\x03\x04.{26}(?:metadata|config)\.json", Format("a Keras model", _KERAS)),
    (rb"PK(?:\x03\x04|\x05\x06)", Format("a zip archive", _ARCHIVE)),
    (rb"\x80\x02\x8a\x0al\xfc\x9cF\xf9", Format("a PyTorch model", _PYTORCH)),
    (rb"\x89HDF\r\n\x1a\n", Format("an HDF5 file, such as a Keras model", _KERAS)),
    (rb".{4}TFL3", Format("a TensorFlow Lite model", _CONVERT)),
    (rb"\x08\x01\x12[\x80-\xff]{2,}[\0-\x7f]\n", Format("a TensorFlow SavedModel", "convert its folder to an IR: ovc FOLDER")),
    (rb"\x08[\x03-\x1f](?:[\x12\x1a\x22\x32][\0-\x7f]|[\x28\x3a\x42])", Format("an ONNX model", _CONVERT)),
    (rb"GGUF", Format("a GGUF model", "use the original model: optimum-cli export openvino --model MODEL FOLDER")),
    (rb".{8}\{\"", Format("a safetensors file", "export the model it belongs to: optimum-cli export openvino --model MODEL FOLDER")),
    (rb"\x7fELF", Format("an ELF file, such as a compiled model", "give the IR that was compiled")),
    (rb"(?i:<!doctype html|<html|<head|<body)", Format("an HTML page", _SERVER)),
    (rb"[{\[]\s*[\"{}\[\]\d]", Format("JSON", _SERVER)),
)
_KNOWN: Final = tuple((re.compile(pattern, re.DOTALL), form) for pattern, form in _FORMATS)
_BLANKS: Final = b"\xef\xbb\xbf \t\r\n"
# Tar has its mark behind the name and the dates of the first file.
_TAR: Final = b"ustar"
_TAR_AT: Final = 257


def recognised(head: bytes) -> Format | None:
    """The format of a file that begins with these bytes; None if it may be anything, for example weights."""
    text = head.lstrip(_BLANKS)
    for pattern, form in _KNOWN:
        if pattern.match(head) or pattern.match(text):
            return form
    if head.startswith(_TAR, _TAR_AT):
        return Format("a tar archive", _ARCHIVE)
    return None


def described(source: bytes) -> Format | None:
    """What a file without markup is: its format, or what it looks like; None if nothing can be said."""
    if form := recognised(source[:HEAD]):
        return form
    if not source.strip(_BLANKS):
        return Format("empty", _AGAIN)
    if not source.strip(b"\0"):
        return Format("filled with zero bytes, as an interrupted download leaves it", _AGAIN)
    text = source[:HEAD].strip(_BLANKS)
    if text.isascii() and all(byte >= 32 or byte in _BLANKS for byte in text):
        return Format("a text without markup", _SERVER)  # which may be a secret that a link leads to, so nothing of it is quoted
    return None


# Comments, declarations, instructions and text before the root element.
_PROLOG: Final = re.compile(rb"(?>[^<]+|<\?.*?\?>|<!--.*?-->)*+(?=<net[\s/>])", re.DOTALL)
_TAG: Final = re.compile(rb"<[^\s<>/\"']+((?>[^<>\"']+|\"[^\"]*\"|'[^']*')*+)>")
_ATTRIBUTE: Final = re.compile(rb"([^\s=\"'/]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
# Where a tag may stand that is none: the begin and the end of each.
_SKIPPED: Final = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"), (b"</", b">"))


class Blanked(NamedTuple):
    """A range of bytes that is blanked, and why."""

    start: int
    end: int
    message: str


def forgiven(source: bytes, *, is_early: bool) -> list[Blanked]:
    """The text that OpenVINO's parser passes over in a file that is not XML; empty for a file in an encoding of two bytes a character.

    `is_early` says that an XML parser fails before the root element.
    """
    prolog = _PROLOG.match(source) if is_early else None
    before = [Blanked(0, prolog.end(), "the text before <net> is not well-formed; OpenVINO skips it")] if prolog else []
    return [*before, *_given_twice(source)]


def blanked(source: bytes, pieces: list[Blanked]) -> bytes:
    """The source with blanks in place of some pieces; line breaks stay."""
    text = bytearray(source)
    for start, end, _ in pieces:
        text[start:end] = re.sub(rb"[^\r\n]", b" ", source[start:end])
    return bytes(text)


def _given_twice(source: bytes) -> Iterator[Blanked]:
    at = source.find(b"<")
    while at >= 0:
        closing = next((end for begin, end in _SKIPPED if source.startswith(begin, at)), None)
        if closing is not None:
            end = source.find(closing, at)
        else:
            tag = _TAG.match(source, at)
            end = tag.end() - 1 if tag else -1
            names = set()
            for attribute in _ATTRIBUTE.finditer(source, *tag.span(1)) if tag else ():
                if attribute[1] in names:
                    name = attribute[1].decode("utf-8", "replace")[:60]
                    yield Blanked(*attribute.span(), f"attribute {name!r} is given twice; OpenVINO reads the first")
                names.add(attribute[1])
        at = source.find(b"<", end) if end >= 0 else -1
