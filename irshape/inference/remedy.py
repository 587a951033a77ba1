"""The command that gives a model the sizes that a target wants."""

from __future__ import annotations

from os.path import splitext
from shlex import quote
from typing import NamedTuple


class Remedy(NamedTuple):
    """The sizes of symbols and the shapes of inputs that a model must get for a target."""

    target: str
    sizes: dict[str, str]
    shapes: dict[str, str]

    def command(self, path: str) -> str:
        """The command that gives a file these sizes."""
        stem, end = splitext(path)
        shapes = "".join(f" --input {quote(name + shape)}" for name, shape in self.shapes.items())
        sizes = " --set " + " ".join(f"{name}={quote(size)}" for name, size in self.sizes.items()) if self.sizes else ""
        return f"irshape reshape {quote(path)} --target {self.target}{shapes}{sizes} -o {quote(f'{stem}.{self.target}{end}')}"
