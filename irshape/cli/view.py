"""`irshape view`: a page that shows a model, or the changes between two, in the browser."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

from irshape.cli.arguments import add_question_arguments
from irshape.cli.batch import report
from irshape.cli.run import RunError, complain, describe
from irshape.model.model import Model
from irshape.page.data import PageData
from irshape.report.text import escape

ABOUT = "Show a model in the browser: graph, shapes, faults, why a size is what it is, and the shapes for other input sizes."
EXAMPLES = """examples:
  irshape view model.xml                             open the page in the browser
  irshape view model.xml -o page.html                write it: one file, which loads nothing from the network
  irshape view model.xml --input "image[N,3,H,W]"    leave sizes open, and set them in the page

exit code: 0 if the page was made and the model has no errors, 1 if it has errors (the page shows them),
2 if a file could not be read or the page not be written"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    add("files", nargs=1, metavar="FILE", help="the .xml of an IR, or a <layer> example of the specification")
    add("-o", "--output", metavar="PAGE.html", help="write the page to this file, and do not open it")
    add("--force", action="store_true", help="overwrite PAGE.html if it exists")
    add_question_arguments(command)
    command.set_defaults(jobs=1, format="text", color="never")


def run(given: Namespace) -> int:
    """Make the page, write or open it, and return the exit code."""
    if os.path.isdir(given.files[0]):
        return complain(f"{given.files[0]}: this is a folder; irshape view shows one file")
    return report(given, _page, None, partial(_deliver, given))


def _page(model: Model, **options: Any) -> PageData:
    return PageData(model, **options)


def _deliver(given: Namespace, data: PageData) -> Iterator[str]:
    """Write the page, and open it in the browser unless `-o` is given."""
    from irshape.page.html import page

    text = page(data.to_dict()).encode()
    if given.output is not None:
        _write(given, data, text)
        yield f"written: {escape(given.output)}"
        return
    import tempfile
    import webbrowser

    name = os.path.splitext(os.path.basename(data.document.path or "model"))[0]
    path = os.path.join(tempfile.mkdtemp(prefix="irshape-"), f"{name}.html")
    with open(path, "wb") as file:
        file.write(text)
    if not webbrowser.open(f"file://{path}"):
        print("irshape: no browser was found; open the page yourself", file=sys.stderr)
    yield f"written: {escape(path)}"


def _write(given: Namespace, data: PageData, text: bytes) -> None:
    from irshape.xml.writer import check_target, write_atomic

    source = data.document.path
    try:
        check_target(given.output, force=given.force, in_place=False, source=source, kept=[])
        write_atomic(given.output, text, force=given.force, source=source)
    except FileExistsError as error:
        is_input = data.document.path is not None and os.path.samefile(given.output, data.document.path)
        raise RunError(f"{describe(error, given.output)}{'' if is_input else ' (--force overwrites it)'}") from None
    except OSError as error:
        raise RunError(describe(error, given.output)) from None
