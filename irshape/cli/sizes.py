"""`irshape sizes`: the input sizes for which a model is valid, the layers that demand it, and the nearest valid sizes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from irshape import verbs
from irshape.answers.sizes import Nearest, ValidSizes, sections
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.run import CLEAN, FAULTS, RunError, exit_code
from irshape.cli.texts import shown
from irshape.model.model import Model
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import WIDEST, Palette, shorten
from irshape.shape.dim import INT64_MAX
from irshape.xml.document import Document
from irshape.xml.lexical import whole_number

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = "Find the input sizes for which a model is valid: the symbols in --input, and every other dynamic size in the file."
EXAMPLES = """examples:
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape sizes model.xml --input "image[1,3,H,W]" --near "H=500,W=700"
  irshape sizes model.xml --input "image[1,3,S,S]" --set S=32..1024

exit code: 0 if some size is valid, 1 if no size is valid, 2 if a file could not be read or has no dynamic sizes"""


class _Answer(NamedTuple):
    """The valid sizes of a model, and the valid sizes nearest to those of --near."""

    sizes: ValidSizes
    near: Mapping[str, int]
    nearest: Nearest | None

    @property
    def document(self) -> Document:
        return self.sizes._inference.document

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.sizes.diagnostics

    def to_dict(self) -> dict[str, Any]:
        nearest = None if self.nearest is None else {"given": dict(self.near), **self.nearest._asdict()}
        return {**self.sizes.to_dict(), "nearest": nearest}


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "--near", action="append", default=[], metavar='"H=500"', help="find the valid sizes nearest to these: H=500,W=700"
    )
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Find the valid sizes of the files, report them, and return the exit code."""
    near = near_sizes(given.near)
    return report(given, partial(_ask, near), partial(_shown, Palette.choose(given.color, sys.stdout)), _verdict)


def _ask(near: Mapping[str, int], model: Model, **options: Any) -> _Answer:
    sizes = verbs.valid_sizes(model, **options)
    return _Answer(sizes, near, sizes.nearest(near) if near else None)


def _shown(palette: Palette, answer: _Answer) -> Iterable[str]:
    return shown(palette, sections, *answer)


def _verdict(answer: _Answer) -> Iterable[str]:
    """Raise a fault if no size is valid although no diagnostic is an error."""
    if not answer.sizes.ok and exit_code(answer.diagnostics) == CLEAN:
        raise RunError(f"{answer.document.path}: no size is valid", FAULTS)
    return ()


def near_sizes(texts: Iterable[str]) -> dict[str, int]:
    """The sizes of `--near`, by symbol. Raises `RunError` for a text that is none."""
    return dict(_size(part) for text in texts for part in text.split(","))


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    number = whole_number(size.strip()) if size.strip().isdecimal() else None
    if not name.strip() or number is None:
        most = f", and a size up to {INT64_MAX}" if size.strip().isdecimal() else ""
        raise RunError(f'--near {shorten(text, WIDEST)!r}: expected "NAME=SIZE", as in "H=500"{most}')
    return name.strip(), number
