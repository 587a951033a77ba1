"""The commands that change one file: `edit`, `extract`, which writes a part of it, and `simplify`."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from irshape import verbs
from irshape.api.reading import Reading
from irshape.cli.arguments import OUTPUT, Command, add_colour, add_input_arguments, add_limit, add_operations, at_least_0
from irshape.cli.outputs import check_outputs, write_output
from irshape.cli.run import CLEAN, FAULTS, RunError, agree, complain, describe, put
from irshape.cli.running import add_prove, proved
from irshape.cli.texts import put_text, shape, table
from irshape.editing.draft import Draft, found, found_output, layer_count, meant, meant_output
from irshape.editing.graph import NO_OUTPUT, Graph, checked, edit
from irshape.editing.inputs import VALUES, freeze, hold, is_named_end, named_end, parsed
from irshape.editing.layers import Layer, Tensor, layer_of, tensor_of
from irshape.editing.simplify import RULES, Simplification, simplify
from irshape.editing.state import EditError
from irshape.files.reading import Path
from irshape.inference.inputs import AS, InputError
from irshape.model.finding import preferred
from irshape.model.model import split_names
from irshape.model.public import published
from irshape.ops.registry import ExtensionError
from irshape.report.diagnostic import ERROR
from irshape.report.section import Block, Column, Section, Table, paragraph
from irshape.report.text import WIDEST, counted, escape, some
from irshape.shape.dim import Dim

if TYPE_CHECKING:
    from irshape.editing.extract import Part

Made = TypeVar("Made")


def add_target_arguments(command: ArgumentParser, proves: str = "") -> None:
    """Add the file, how it is read, and where the result goes. `proves` says which results --prove takes."""
    add = command.add_argument
    add("file", metavar="FILE", help="the .xml of an IR")
    add("--weights-file", metavar="PATH", help="the .bin, if it is not beside FILE")
    add = command.add_argument_group(OUTPUT).add_argument
    add("-o", "--output", metavar="OUT.xml", help="write the result here, and its weights beside it")
    add("--force", action="store_true", help="overwrite existing output files")
    add("--faulty", action="store_true", help="write a model with new errors, too")
    add_prove(command, proves)
    add_operations(command)
    add_limit(command)
    add_colour(command)


class EditedFile(NamedTuple):
    """The file that a command changes, how the file is read, and where the result goes."""

    file: str
    reading: Reading
    output: str | None
    force: bool
    faulty: bool

    def opened(self) -> Graph:
        """A graph of the file. Raises `RunError`."""
        try:
            return edit(Path(self.file), **self.reading)
        except OSError as error:
            raise RunError(describe(error, self.file)) from None
        except (EditError, ExtensionError) as error:
            raise RunError(f"{self.file}: {error}") from None

    def write(self, graph: Graph, *, in_place: bool = False, trim: bool = False) -> None:
        """Write the graph. Raises `RunError`."""
        target = self.file if in_place or self.output is None else self.output
        try:
            graph.write(target, force=self.force, faulty=self.faulty, in_place=in_place, trim=trim)
        except OSError as error:
            raise RunError(describe(error, target)) from None
        except EditError as error:
            raise RunError(f"{target}: not written: {error}", FAULTS) from None
        except ValueError as error:
            raise RunError(f"{target}: not written: {str(error).replace('faulty=True', '--faulty')}", FAULTS) from None


def change_of(given: Namespace) -> EditedFile:
    """What the options of a command that changes a file ask for."""
    reading = Reading(weights=given.weights_file, opaque=given.opaque, limits=given.limits, extensions=given.extensions)
    return EditedFile(given.file, reading, given.output, given.force, given.faulty)


def layer(graph: Graph, text: str) -> Layer:
    """The layer that a text on the command line names. Raises `KeyError` if there is none, and `RunError` for an ambiguous text."""
    return layer_of(*meant(graph._draft, text, told=agree))


def tensor(graph: Graph, text: str) -> Tensor:
    """The tensor that a text on the command line names. Raises `KeyError` if there is none, and `RunError` for an ambiguous text."""
    return tensor_of(*meant_output(graph._draft, text, told=agree))


def sized(file: str, graph: Graph, shapes: Sequence[str], sizes: Mapping[str, str]) -> Graph:
    """The graph of a file with the shapes of `--input` and the sizes of `--set`. Raises `RunError`."""
    if not shapes and not sizes:
        return graph
    from irshape.cli.inputs import asked_of
    from irshape.reshaping.public import reshaped

    try:
        inputs, symbols, _ = asked_of(graph._draft.model, shapes, sizes, None, lambda _: frozenset(), is_many=False)
        return reshaped(graph, inputs, symbols)
    except (InputError, RunError) as error:
        raise RunError(f"{file}: {error}") from None
    except EditError as error:
        raise RunError(f"{file}: {error}", FAULTS) from None


def steps_made(steps: Sequence[Simplification]) -> Iterator[Section]:
    """Each layer that goes, with the reason."""
    rows = [(step.rule, step.type, step.layer, step.reason) for step in steps]
    yield paragraph(table(("RULE", "TYPE", "LAYER", "REASON"), rows) if rows else "nothing to simplify")


def _add_edit(command: ArgumentParser) -> None:
    add = command.add_argument
    for option, (metavar, help, _) in EDITS.items():
        add(option, dest="edits", action="append", default=[], type=lambda text, option=option: (option, text), metavar=metavar, help=help)  # type: ignore[misc]
    add("--stateless", action="store_true", help="first, make an input and an output of each variable")
    add("--prune", action="store_true", help="finally, remove the layers that reach no output")
    add("--trim", action="store_true", help="remove the bytes that no constant needs")
    add("--view", metavar="PAGE.html", help="write a page that shows the changes, as `irshape view` does of two files")
    add("--in-place", action="store_true", help="write into FILE itself; new constants come behind the bytes of its weights")
    add_target_arguments(command)


def _run_edit(given: Namespace) -> int:
    if given.output is not None and given.in_place:
        return complain("-o and --in-place cannot be combined")
    if given.trim and given.in_place:
        return complain("--trim and --in-place cannot be combined: trimmed weights fit the new file only, so write another one with -o")
    if not (given.edits or given.stateless or given.prune or given.trim):
        return complain(f"no edit is given: add {', '.join(EDITS)}, --stateless, --prune or --trim")
    check_outputs([given.view], force=given.force, inputs=[given.file])
    change = change_of(given)
    graph = change.opened()
    if given.stateless and not _make(given.file, "--stateless", graph.stateless):
        put("--stateless changes nothing: the model has no variable")
    steps: list[Simplification] = []
    begun: list[str] = []
    for option, text in given.edits:
        made = _make(given.file, f"{option} {text}", partial(EDITS[option][2], graph, text))
        steps += made if isinstance(made, list) else []
        begun += [escape(made)] if isinstance(made, str) else []
    if begun:
        told = f"the state{'s begin' if len(begun) > 1 else ' begins'} with size 0 on each open axis: {some(begun, 3)}"
        put(f"{told}; set those that must not, such as the batch, with irshape reshape --set before")
    if given.prune:
        graph.prune()
    if steps:
        put_text(given.color, steps_made(steps))
        put("")
    from irshape.cli.diff import sections

    # The first section names the two files, which are one here.
    _, *changes = sections(_make(given.file, "edit", graph.diff), is_complete=False)
    put_text(given.color, changes)
    if given.view is not None:
        _write_page(given.view, graph, change)
    if given.prove:
        before = change.opened()
        for option, text in given.edits:
            if EDITS[option][2] is _freeze:  # the model before has this value, too
                _freeze(before, text, hold)
        put(proved(before, graph))
    if given.output is None and not given.in_place:
        errors = [one for one in checked(graph._draft, errors_only=True)[1] if one.severity == ERROR]
        lost = [] if graph.outputs or not graph._draft.model.results else [NO_OUTPUT]
        put("\n".join([*(escape(str(one)) for one in errors), *lost, "the model is not written without -o or --in-place"]))
        return FAULTS if errors or lost else CLEAN
    change.write(graph, in_place=given.in_place, trim=given.trim)
    put(f"written: {escape(given.file if given.in_place else given.output)}")
    return CLEAN


def _write_page(path: str, graph: Graph, change: EditedFile) -> None:
    """Write the page that shows the edited model and its changes. Raises `RunError`."""
    from irshape.page.data import PageData
    from irshape.page.html import page

    model, weights = graph._draft.built()
    data = PageData(model, weights=weights, opaque=graph._draft.opaque)
    data.difference = verbs.diff(graph._draft.model, data.model)
    write_output(path, page(data.to_dict()).encode(), force=change.force, inputs=[change.file])
    put(f"written: {escape(path)}")


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


def _freeze(graph: Graph, text: str, make: Callable[[Draft, str, Any], Any] = freeze) -> Any:
    name, value = _parted(text, "INPUT=VALUE", partial(is_named_end, graph._draft, "Parameter"))
    return make(graph._draft, name, parsed(value, graph._draft.model.document.limits.size))


def _parted(text: str, form: str, is_known: Callable[[str], bool]) -> tuple[str, str]:
    """The two parts of a text around the first `=` before which something known is named, else around the first one."""
    places = [at for at, character in enumerate(text) if character == "="]
    place = next((at for at in places if is_known(text[:at])), places[0] if places else -1)
    if place < 0 or not text[place + 1 :]:
        raise EditError(f"the form is {form}")
    return text[:place], text[place + 1 :]


def _stateful(graph: Graph, text: str) -> str | None:
    """The state, if it has an open axis."""
    name, output = _parted(text, "INPUT=OUTPUT", partial(is_named_end, graph._draft, "Parameter"))
    shape = tensor_of(graph._draft, named_end(graph._draft, "Parameter", name).outputs[0]).shape
    graph.stateful({name: output})
    return name if shape is None or any(isinstance(size, Dim) for size in shape) else None


# Each edit with its metavar, its help and its function.
EDITS: dict[str, tuple[str, str, Callable[[Graph, str], object]]] = {
    "--add-output": ("T", "add an output that gives this tensor, or the output of this layer", _add_output),
    "--set-attribute": ("LAYER:NAME=VALUE", "set an attribute of a layer: conv1:strides=2,2", _set_attribute),
    "--rename": ("LAYER=NAME", "give a layer another name, but no tensor (--name)", _rename),
    "--name": ("TENSOR=NAME", "give a tensor another name, or several with commas: conv1:2=boxes", _name),
    "--freeze": ("INPUT=VALUE", f"make an input a constant and fold what then is known: {VALUES}", _freeze),
    "--bypass": (
        "LAYER",
        "let the readers of a layer read its first input, and remove the layer",
        lambda graph, text: layer(graph, text).bypass(),
    ),
    "--remove": ("LAYER", "remove a layer and all layers that depend on it", lambda graph, text: layer(graph, text).remove(cascade=True)),
    "--stateful": ("INPUT=OUTPUT", "keep the value of an input in the model: the output gives its next value", _stateful),
}


EDIT = Command(
    "Change a model: the edits are made in the order of the line, all or none. Without -o and --in-place, show what they would change.",
    """examples:
  irshape edit model.xml --add-output encoder/layer_5 -o tapped.xml
  irshape edit model.xml --remove aux_head --prune --trim -o small.xml
  irshape edit model.xml --freeze "sr=16000" --trim -o speech.xml
  irshape edit model.xml --name "Add_4711:2=logits" --in-place

exit code: 0 if the edits were made, 1 if they make new errors (then nothing is written), 2 if one cannot be made or a file
could not be read or written""",
    _add_edit,
    _run_edit,
)


def _add_extract(command: ArgumentParser) -> None:
    add = command.add_argument
    add("--from", dest="sources", action="append", default=[], metavar="T", help="begin at this tensor, which becomes an input; repeatable")
    add("--to", dest="targets", action="append", default=[], metavar="T", help="end at this tensor, which becomes an output; repeatable")
    add("--around", metavar="LAYER", help="take the layers around this one")
    add("--distance", type=at_least_0, default=1, metavar="N", help="with --around, the most connections from the layer (default: 1)")
    help = "take the layers whose names match a pattern, or those of a module; repeatable"
    add("--layers", action="append", default=[], metavar="GLOB", help=help)
    add_target_arguments(command, "; the part must begin at inputs of the model (--to without --from)")


def _run_extract(given: Namespace) -> int:
    if given.output is None:
        return complain("no file is given for the part: add -o OUT.xml")
    if sum((bool(given.sources or given.targets), given.around is not None, bool(given.layers))) != 1:
        return complain("give one of --from and --to, --around, or --layers")
    from irshape.editing.verbs import part_of

    change = change_of(given)
    graph = change.opened()
    try:
        part, formulas = part_of(graph, given.sources, given.targets, given.around, given.distance, given.layers, agree)
    except EditError as error:
        raise RunError(f"{given.file}: {error}") from None
    if given.prove:
        whole = {node.name for node in graph._draft.model.parameters}
        own = [repr(tensor.layer.name) for tensor in graph.inputs if tensor.layer.name not in whole]
        if own:
            raise RunError(f"--prove feeds both models the same inputs, but the part begins at {own[0]}, which is no input of the model")
        put(proved(published(graph._draft.model), graph))
    change.write(graph, trim=True)
    put_text(given.color, _part_sections(graph, part, formulas, given.output))
    return FAULTS if part.losses else CLEAN


def _part_sections(graph: Graph, part: Part, formulas: Mapping[str, str], path: str) -> Iterator[Section]:
    """What the part has at its border, what it has lost, and where it is."""
    rows = [_row("input", tensor, formulas) for tensor in graph.inputs]
    rows += [("constant", name, f"[{', '.join([*map(str, some[:8]), *['…'] * (len(some) > 8)])}]", "") for name, some in part.frozen]
    rows += [_row("output", tensor, formulas) for tensor in graph.outputs]
    used = 4 if any(row[3] for row in rows) else 3
    columns = (Column("dim", is_number=True), Column(most=WIDEST, is_cut=True), Column(most=WIDEST), Column(is_below=True))[:used]
    cells = [[role, own, shape(text), formula][:used] for role, own, text, formula in rows]
    blocks: list[Block] = [Table(columns, cells, ("", "NAME", "IS", "FORMULA")[:used])]
    if part.taken:
        blocks.append(f"also taken, because shapes depend on what they compute: {', '.join(part.taken)}")
    for loss in part.losses:
        place = "the rank" if loss.axis is None else f"axis {loss.axis}"
        reason = f", because {', '.join(loss.because)} became an input" if loss.because else ""
        blocks.append(f"{loss.layer}, output {loss.output}: {place} is {loss.is_now}, and {loss.was} in the whole model{reason}")
    yield paragraph(*blocks, f"written: {path} ({counted(layer_count(graph._draft), 'layer')} of {graph._draft.model.layer_count})")


def _row(role: str, tensor: Tensor, formulas: Mapping[str, str]) -> tuple[str, str, str, str]:
    """An input or an output of the part, with its shape as the whole has it."""
    note = tensor.layer._item.note
    formula = formulas.get(f"{tensor.layer.id}:{tensor._value.port}", "") if note is None else note.partition(AS)[2]
    return role, preferred([*tensor.names, tensor.layer.name]), f"{tensor.element_type}{tensor.text}", formula


EXTRACT = Command(
    (
        "Write a part of a model as a model of its own. What the part reads from the rest becomes inputs with the shapes that OpenVINO "
        "knows, or constants and computations, if shapes depend on the values."
    ),
    """examples:
  irshape extract detector.xml --to backbone/relu_5 -o backbone.xml
  irshape extract model.xml --from embeddings --to logits -o middle.xml
  irshape extract model.xml --around "layers.4/attention" --distance 3 -o near.xml
  irshape extract model.xml --layers "layers.4/*" -o block.xml

exit code: 0 if all shapes of the part are those of the whole, 1 if OpenVINO knows less of an axis (each is listed),
2 if a file could not be read or written, or the part is none""",
    _add_extract,
    _run_extract,
)


def _add_simplify(command: ArgumentParser) -> None:
    add = command.add_argument
    rules = "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items())
    add("--only", action="append", choices=tuple(RULES), metavar="RULE", help=f"apply this rule only; repeatable. {rules}")
    add("--dry-run", action="store_true", help="list each layer to remove, with the reason, and write nothing")
    add("--trim", action="store_true", help="remove the bytes that no constant needs")
    add_input_arguments(command)
    add_target_arguments(command)


def _run_simplify(given: Namespace) -> int:
    if (given.output is None) != given.dry_run:
        return complain("give either -o OUT.xml, or --dry-run to write nothing")
    change = change_of(given)
    before = change.opened()
    graph = sized(given.file, before, given.input, dict(chain(*given.set)))
    count = layer_count(graph._draft)
    try:
        steps = simplify(graph._draft, given.only)
    except EditError as error:
        raise RunError(f"{given.file}: {error}") from None
    put_text(given.color, (steps_made if given.dry_run else _counted)(steps))
    if given.prove:
        put(proved(published(before._draft.model), graph))
    if not given.dry_run:
        change.write(graph, trim=given.trim)
    done = f"written: {escape(given.output)}" if given.output else "nothing is written"
    put(f"{done} ({counted(layer_count(graph._draft), 'layer')} of {count})")
    return CLEAN


def _counted(steps: list[Simplification]) -> Iterator[Section]:
    """How many layers of each type go."""
    rules = list(RULES)
    counts = Counter((rules.index(step.rule), step.type) for step in steps)
    rows = [(rules[rule], type, str(count)) for (rule, type), count in sorted(counts.items(), key=lambda one: (one[0][0], -one[1]))]
    yield paragraph(table(("RULE", "TYPE", "LAYERS"), rows) if rows else "nothing to simplify")


SIMPLIFY = Command(
    (
        "Remove the layers that the outputs do not need: computations whose values are known, layers that change nothing, dead layers. "
        "Outputs, their names and their values stay the same for every input that the model accepts."
    ),
    """examples:
  irshape simplify model.xml --dry-run
  irshape simplify model.xml -o simple.xml --prove
  irshape simplify llm.xml --set B=1 S=128 P=0 -o static.xml
  irshape simplify model.xml --only dead -o pruned.xml

exit code: 0 if the model was simplified, 1 if it cannot have the shapes of --input and --set, or --prove finds other numbers,
2 if a file could not be read or written, or --prove has no proof""",
    _add_simplify,
    _run_simplify,
)
