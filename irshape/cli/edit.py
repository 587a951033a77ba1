"""`irshape edit`: change a model from a script; all edits are made, or none."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from irshape import verbs
from irshape.cli.diff import lines
from irshape.cli.edited import add_target_arguments, layer, opened, put_proof, step_lines, tensor, written
from irshape.cli.output import check_outputs, write_output
from irshape.cli.run import CLEAN, FAULTS, RunError, complain, put
from irshape.editing.draft import found, found_output
from irshape.editing.freeze import VALUES, parsed
from irshape.editing.graph import Graph, checked
from irshape.editing.simplify import Simplification
from irshape.editing.state import EditError
from irshape.editing.variables import is_named_end
from irshape.model.finding import split_names
from irshape.report.diagnostic import ERROR
from irshape.report.text import Palette, escape, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

Made = TypeVar("Made")

ABOUT = "Change a model: the edits are made in the order of the line, all or none. Without -o and --in-place, show what they would change."
EXAMPLES = """examples:
  irshape edit model.xml --add-output encoder/layer_5 -o tapped.xml
  irshape edit model.xml --remove aux_head --prune --trim -o small.xml
  irshape edit model.xml --freeze "sr=16000" --trim -o speech.xml
  irshape edit model.xml --name "Add_4711:2=logits" --in-place

exit code: 0 if the edits were made, 1 if they make new errors (then nothing is written), 2 if one cannot be made or a file
could not be read or written"""

# The lines of a comparison that name the two files, which are one here.
_TITLES = 2


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    for option, (metavar, help, _) in EDITS.items():
        add(option, dest="edits", action="append", default=[], type=partial(_edit, option), metavar=metavar, help=help)
    add("--stateless", action="store_true", help="first, make an input and an output of each variable")
    add("--prune", action="store_true", help="finally, remove the layers that reach no output")
    add("--trim", action="store_true", help="remove the bytes of the weights that no constant needs")
    add("--view", metavar="PAGE.html", help="write a page that shows the changes, as `irshape view` does of two files")
    add("--in-place", action="store_true", help="write into FILE itself; new constants come behind the bytes of its weights")
    add_target_arguments(command)


def run(given: Namespace) -> int:
    """Edit a file, show the changes, write the result, and return the exit code."""
    if given.output is not None and given.in_place:
        return complain("-o and --in-place cannot be combined")
    if given.trim and given.in_place:
        return complain("--trim and --in-place cannot be combined: trimmed weights fit the new file only, so write another one with -o")
    if not (given.edits or given.stateless or given.prune or given.trim):
        return complain(f"no edit: give {', '.join(EDITS)}, --stateless, --prune or --trim")
    check_outputs([given.view], force=given.force, inputs=[given.file])
    graph = opened(given)
    if given.stateless:
        _make(given.file, "--stateless", graph.stateless)
    steps: list[Simplification] = []
    for option, text in given.edits:
        made = _make(given.file, f"{option} {text}", partial(EDITS[option][2], graph, text))
        steps += made or []
    if given.prune:
        graph.prune()
    palette, width = Palette.choose(given.color, sys.stdout), terminal_width(sys.stdout)
    if steps:
        put("\n".join([*step_lines(steps, palette, width), ""]))
    shown = lines(graph.diff(), palette, is_complete=False, width=width)
    put("\n".join(islice(shown, _TITLES, None)).lstrip("\n"))
    if given.view is not None:
        _write_page(given, graph)
    put_proof(given, graph, graph)
    if given.output is None and not given.in_place:
        errors = [one for one in checked(graph._draft)[1] if one.severity == ERROR]
        put("".join(f"{escape(str(one))}\n" for one in errors) + "the model is not written without -o or --in-place")
        return FAULTS if errors else CLEAN
    written(given, graph, in_place=given.in_place, trim=given.trim)
    put(f"written: {escape(given.file if given.in_place else given.output)}")
    return CLEAN


def _write_page(given: Namespace, graph: Graph) -> None:
    """Write the page that shows the edited model and its changes. Raises `RunError`."""
    from irshape.page.data import PageData
    from irshape.page.html import page

    model, weights = graph._draft.built()
    data = PageData(model, weights=weights, opaque=given.opaque)
    data.difference = verbs.diff(graph._draft.model, data.model)
    write_output(given.view, page(data.to_dict()).encode(), force=given.force, inputs=[given.file])
    put(f"written: {escape(given.view)}")


def _edit(option: str, text: str) -> tuple[str, str]:
    """One edit of the line: its option and its text."""
    return option, text


def _make(file: str, edit: str, make: Callable[[], Made]) -> Made:
    """Make one edit, and return what it returns. Raises `RunError`."""
    try:
        return make()
    except (EditError, KeyError) as error:
        raise RunError(f"{file}: {edit}: {error.args[0]}") from None


def _add_output(graph: Graph, text: str) -> None:
    graph.result(tensor(graph, text))


def _set_attribute(graph: Graph, text: str) -> None:
    found = re.fullmatch(r"(.+):([\w-]+)=(.*)", text, re.DOTALL)
    if found is None:
        raise EditError("the form is LAYER:ATTRIBUTE=VALUE")
    layer(graph, found[1]).set(**{found[2]: found[3]})


def _rename(graph: Graph, text: str) -> None:
    named, new = _parted(text, "LAYER=NAME", lambda one: bool(found(graph._draft, one)[1]))
    own = layer(graph, named)
    own.rename(new)
    kept = [name for one in (*own.outputs, *(own.inputs if own.type == "Result" else ())) if one is not None for name in one.names]
    is_end = own.type in ("Parameter", "Result") or any(reader.type == "Result" for reader in own.consumers)
    if is_end and kept != [new]:
        names = f"the name{'s' * (len(kept) > 1)} {', '.join(map(repr, kept))}" if kept else "no name"
        place = f"{new}:PORT" if len(own.outputs) > 1 else new
        complain(f"--rename {text} changes the layer only, and its tensor keeps {names}: programs ask for that one (--name {place}=NAME)")


def _name(graph: Graph, text: str) -> None:
    place, names = _parted(text, "TENSOR=NAME", lambda one: bool(found_output(graph._draft, one)))
    tensor(graph, place).names = split_names(names)


def _freeze(graph: Graph, text: str) -> list[Simplification]:
    name, value = _parted(text, "INPUT=VALUE", partial(is_named_end, graph._draft, "Parameter"))
    return graph.freeze(name, parsed(value, graph._draft.model.document.limits.size))


def _parted(text: str, form: str, is_known: Callable[[str], bool]) -> tuple[str, str]:
    """The two parts of a text around the first `=` before which something known is named, else around the first one."""
    places = [at for at, character in enumerate(text) if character == "="]
    place = next((at for at in places if is_known(text[:at])), places[0] if places else -1)
    if place < 0 or not text[place + 1 :]:
        raise EditError(f"the form is {form}")
    return text[:place], text[place + 1 :]


def _remove(graph: Graph, text: str) -> None:
    layer(graph, text).remove(cascade=True)


def _bypass(graph: Graph, text: str) -> None:
    layer(graph, text).bypass()


def _stateful(graph: Graph, text: str) -> None:
    given, separator, output = text.partition("=")
    if not separator:
        raise EditError("the form is INPUT=OUTPUT")
    graph.stateful({given: output})


# Each edit with its metavar, its help and its function.
EDITS: dict[str, tuple[str, str, Callable[[Graph, str], list[Simplification] | None]]] = {
    "--add-output": ("T", "add an output that gives this tensor, or the output of this layer", _add_output),
    "--set-attribute": ("LAYER:NAME=VALUE", "set an attribute of a layer: conv1:strides=2,2", _set_attribute),
    "--rename": ("LAYER=NAME", "give a layer another name, but no tensor (--name)", _rename),
    "--name": ("TENSOR=NAME", "give a tensor another name, or several with commas: conv1:2=boxes", _name),
    "--freeze": ("INPUT=VALUE", f"make an input a constant and fold what then is known: {VALUES}", _freeze),
    "--bypass": ("LAYER", "let the readers of a layer read its first input, and remove the layer", _bypass),
    "--remove": ("LAYER", "remove a layer and all layers that depend on it", _remove),
    "--stateful": ("INPUT=OUTPUT", "keep the value of an input in the model: the output gives its next value", _stateful),
}
