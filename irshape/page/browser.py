"""irshape in a browser, by Pyodide: what the worker of the site asks. Everything here needs the standard library only."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from irshape.inference.inputs import InputError, split_input
from irshape.model.finding import end_name
from irshape.model.model import Model
from irshape.page.data import PageData
from irshape.report.documents import Checked
from irshape.report.sarif import render
from irshape.verbs import check, infer
from irshape.verbs import read as read_model
from irshape.version import __version__


class RangedFile:
    """A file of which ranges are read: `read_range(begin, end)` gives the bytes."""

    def __init__(self, read_range: Callable[[int, int], Any], size: int) -> None:
        self._read_range = read_range
        self._size = size
        self._at = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to an offset from the start (0), from here (1) or from the end (2)."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        """The offset at which the next read begins."""
        return self._at

    def read(self, count: int = -1) -> bytes:
        end = self._size if count < 0 else min(self._at + count, self._size)
        data = bytes(self._read_range(self._at, end)) if self._at < end else b""
        self._at += len(data)
        return data


class OpenModel:
    """A model that is open in the browser; each method gives text for the page."""

    def __init__(self, name: str, source: bytes, weights: Any = None) -> None:
        """`weights` is an object with `seek` and `read`; None if only the `.xml` was given."""
        self.weights = weights
        self.model = read_model(bytes(source), path=name, weights=weights)
        self.inputs: dict[str, str] = {}

    def data(self, inputs: str) -> str:
        """The data of the page, as JSON, with these shapes of inputs: `image[1,3,H,W] mask[1,H,W]`. Raises `InputError`, a ValueError."""
        shapes = shapes_of(self.model, inputs)
        data = PageData(self.model, inputs=shapes).to_dict()
        self.inputs = shapes  # only shapes that the model can be asked about
        return json.dumps(data, separators=(",", ":"))

    def annotated(self) -> str:
        return infer(self.model, inputs=self.inputs).xml().decode()

    def sarif(self) -> str:
        inference = check(self.model, inputs=self.inputs)
        return render([Checked(self.model.document.path or "", inference.diagnostics, is_passed=inference.ok)], __version__)


def shapes_of(model: Model, text: str) -> dict[str, str]:
    """The shapes in a text, by input: `image[1,3,H,W] mask[1,H,W]`; a shape without a name is that of the only input."""
    found = {}
    for part in text.replace("]", "] ").split():
        name, shape = split_input(part, [node.name for node in model.parameters])
        if name is None:
            if len(model.parameters) != 1:
                known = ", ".join(end_name(node) for node in model.parameters) or "none"
                raise InputError(f"{part!r} names no input; the model has {known}")
            name = model.parameters[0].name
        found[name] = shape
    return found
