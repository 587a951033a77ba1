"""From whatever holds an IR to its bytes: a path, bytes, text, a file object, an XML tree or an `openvino.Model`."""

from __future__ import annotations

import os
import re
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from irshape.files.reading import read
from irshape.shape.compilation import NamedTuple

if TYPE_CHECKING:
    from irshape.xml.openvino_model import OpenVINOModel
    from irshape.xml.weights import WeightsSource

    class Tree(Protocol):
        """An `lxml` or `xml.etree` tree."""

        def getroot(self) -> Any:
            """The root element."""

    class Element(Protocol):
        """An `lxml` or `xml.etree` element."""

        @property
        def tag(self) -> Any:
            """The name of the element."""

        @property
        def attrib(self) -> Any:
            """The attributes of the element."""

    Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | Tree | Element | OpenVINOModel
    """A source of an IR: a path, XML text, bytes, a binary file object, an `lxml` or `xml.etree` tree or element, an `openvino.Model`."""

# What may be before the first tag of an XML text.
_BLANKS: Final = " \t\r\n\ufeff"
_DECLARED: Final = r"<\?xml\s[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']"


class Content(NamedTuple):
    """The bytes of an IR, the path that they were read from, and the weights that come with them; None where there is no such thing."""

    source: bytes
    path: str | None = None
    weights: WeightsSource | None = None


def content(source: Source, size: int) -> Content:
    """The content of a source.

    At most `size + 1` bytes of a file are read, which suffices to see that the file is too large. Raises `OSError` if a path cannot be
    read, `TypeError` for a source of another kind, and `ValueError` for an `openvino.Model` that OpenVINO cannot write as an IR.
    """
    if isinstance(source, bytes):
        return Content(source)
    if isinstance(source, bytearray | memoryview):
        return Content(bytes(source))
    if isinstance(source, str) and source.lstrip(_BLANKS).startswith("<"):
        return Content(_encoded(source))
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return Content(read(path, size), path)
    home = type(source).__module__
    if home.startswith("lxml."):
        return _lxml_tree(source)
    if home == "xml.etree.ElementTree":
        from xml.etree import ElementTree

        tree: Any = source
        return Content(ElementTree.tostring(getattr(tree, "getroot", lambda: tree)(), encoding="utf-8"))
    if hasattr(source, "read"):
        data = source.read(size + 1)
        if not isinstance(data, bytes):
            raise TypeError("the file object is in text mode; open it in binary mode")
        name: object = getattr(source, "name", None)
        return Content(data, name if isinstance(name, str) and os.path.isfile(name) else None)
    if hasattr(source, "get_ordered_ops"):
        from irshape.xml.openvino_model import serialized

        model: Any = source
        text, weights = serialized(model)
        return Content(text, None, weights)
    several = "; irshape.scan takes several paths" if isinstance(source, list | tuple | set) else ""
    own = getattr(source, "model", None)
    more = several if own is None else f"; its model{'()' * callable(own)} is read"
    raise TypeError(
        "an IR is read from a path, bytes, XML text, a binary file object, an lxml tree or an openvino.Model, "
        f"not from {type(source).__name__}{more}"
    )


def _encoded(text: str) -> bytes:
    """The bytes of an XML text, in the encoding that it declares."""
    declared = re.match(_DECLARED, text.lstrip(_BLANKS))
    try:
        return text.encode(declared[1] if declared else "utf-8", "xmlcharrefreplace")
    except LookupError:
        return text.encode()  # the reader reports the encoding


def _lxml_tree(source: Any) -> Content:
    """The content of an lxml element or tree. If the tree was parsed from a file, the weights are beside that file."""
    from lxml import etree

    tree = source if hasattr(source, "docinfo") else source.getroottree()
    weights = None
    if tree.docinfo.URL and os.path.isfile(tree.docinfo.URL):
        from irshape.xml.weights import Weights

        weights = Weights.beside(tree.docinfo.URL)
    return Content(etree.tostring(source, encoding="utf-8", with_tail=False), None, weights)
