"""`irshape view`: a page that shows a model, or the changes from one model to another, in the browser."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from irshape import verbs
from irshape.cli.arguments import add_question_arguments, port
from irshape.cli.examination import Errand, lost, whole_model
from irshape.cli.outputs import check_outputs, write_output
from irshape.cli.request import Request, request_of
from irshape.cli.road import answered
from irshape.cli.run import CLEAN, agree, complain
from irshape.files.reading import Path
from irshape.inference.inputs import InputError
from irshape.model.finding import find, known_names, names_of, unknown
from irshape.model.model import Model
from irshape.page.data import PageData
from irshape.report.text import escape

ABOUT = "Show a model in the browser: graph, shapes, faults, the origin of each size, and the shapes for other input sizes."
EXAMPLES = """examples:
  irshape view model.xml                             open the page in the browser
  irshape view model.xml -o page.html                write it: one file, which loads nothing from the network
  irshape view model.xml --input "image[N,3,H,W]"    leave sizes open, and set them in the page
  irshape view model.xml --live                      serve the page, and let it follow the file
  irshape view before.xml after.xml                  show after.xml, with the changes in colour

exit code: 0 if the page was made and the model has no errors, 1 if it has errors (the page shows them),
2 if a file could not be read, or the page could not be written"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    add("files", nargs="+", metavar="FILE", help="the .xml of an IR; with two files, the page shows the second and its changes")
    add("-o", "--output", metavar="PAGE.html", help="write the page to this file, or into this folder, and do not open it")
    add("--force", action="store_true", help="overwrite PAGE.html if it exists")
    add("--live", action="store_true", help="serve the page on this machine until Ctrl-C; it follows FILE when that is saved")
    add("--no-browser", action="store_true", help="with --live, do not open the browser")
    add("--port", type=port, default=0, metavar="N", help="the port of --live (default: any that is free)")
    add("--layer", metavar="LAYER", help="open the page at this layer: an id, a name, or the name of a tensor")
    add_question_arguments(command)
    command.set_defaults(jobs=1, format="text", color="never")


def run(given: Namespace) -> int:
    """Make the page; write, open or serve it; and return the exit code."""
    folder = next((path for path in given.files if os.path.isdir(path)), None)
    if folder is not None:
        return complain(f"{folder}: this is a folder; irshape view shows one file")
    if len(given.files) > 2:
        return complain("irshape view shows one file, or the changes between two")
    if given.live and (given.output is not None or len(given.files) > 1):
        return complain("--live serves one file; it takes neither a second file nor -o")
    if given.output is not None and os.path.isdir(given.output):
        given.output = os.path.join(given.output, f"{os.path.splitext(os.path.basename(given.files[-1]))[0]}.html")
    check_outputs([given.output], force=given.force, inputs=given.files)
    before = whole_model(given.files[0], given.limits, given.extensions) if len(given.files) == 2 else None
    request = request_of(given, files=given.files[-1:])
    if given.live:
        return _serve(request, given.layer, given.port, opens=not given.no_browser)
    do = partial(_deliver, given.output, given.layer, given.force, request.files)
    return answered(Errand(request, partial(_page, before, given.layer), None, do))


def _page(before: Model | None, layer: str | None, model: Model, **options: Any) -> PageData:
    if layer is not None and _place(model, layer):
        agree(layer, find(model, layer), names_of)
    data = PageData(model, **options)
    if before is not None and model.nodes and model.document.is_complete:
        shared = {name: options[name] for name in ("inputs", "symbols", "opaque") if name in options}
        data.difference = verbs.diff(before, model, weights=(None, options.get("weights")), **shared)
    return data


def _place(model: Model, layer: str | None) -> str:
    """The end of the address at which the page shows a layer. Raises `InputError` if there is no such layer."""
    if layer is None or not model.nodes:
        return ""
    from urllib.parse import quote

    found = find(model, layer)
    if not found:
        raise InputError(unknown(layer, known_names(model)))
    return f"#layer={quote(found[0].layer.key, safe='')}"


def _serve(request: Request, layer: str | None, port: int, *, opens: bool) -> int:
    """Serve the page until Ctrl-C."""
    from irshape.page.server import LiveData, Server

    path = request.files[0]
    found: list[Mapping[str, Any]] = []

    def keep(data: PageData) -> Iterator[str]:
        found.append(data.to_dict())
        yield from ()

    def data() -> Mapping[str, Any]:
        found.clear()
        outcome = Errand(request, partial(_page, None, layer), None, keep)(path)
        if not found:
            raise ValueError(outcome.complaint or f"{path}: the page could not be made")
        return found[0]

    def failed(reason: str) -> Mapping[str, Any]:
        message = f"the present version of the file cannot be shown: {reason.removeprefix(f'{path}: ')}"
        return PageData(lost(path, "I105", message, "save the file again")).to_dict()

    try:
        place = _place(verbs.read(Path(path), limits=request.limits, extensions=request.extensions), layer) if layer else ""
        server = Server(LiveData(path, data, failed), port)
    except ValueError as error:  # InputError, too
        return complain(str(error))
    except OSError as error:
        return complain(f"port {port}: {error.strerror or error}")
    print(f"{escape(path)} is shown at {server.address}{place} and followed until Ctrl-C", flush=True)
    if opens:
        _show(f"{server.address}{place}")
    try:
        server.serve_forever()
    finally:
        server.stop()
    return CLEAN


def _deliver(output: str | None, layer: str | None, force: bool, files: Sequence[str], data: PageData) -> Iterator[str]:
    """Write the page, and open it in the browser unless `-o` is given."""
    from irshape.page.html import page

    text = page(data.to_dict()).encode()
    if output is not None:
        write_output(output, text, force=force, inputs=files)
        yield f"written: {escape(output)}"
        if place := _place(data.model, layer):
            yield f"{escape(layer or '')}: {escape(output)}{place}"
        return
    import tempfile

    name = os.path.splitext(os.path.basename(data.document.path or "model"))[0]
    path = os.path.join(tempfile.mkdtemp(prefix="irshape-"), f"{name}.html")
    write_output(path, text, force=False)
    _show(f"file://{path}{_place(data.model, layer)}")
    yield f"written: {escape(path)}"


def _show(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        print("irshape: there is no browser here; open the page yourself", file=sys.stderr)
