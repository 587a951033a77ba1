"""The commands that ask one question of each file: `info`, `summary`, `signature`, `sizes`, `cost` and `explain`."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from irshape import verbs
from irshape.answers.wording import ties
from irshape.cli.arguments import LAYERS, OUTPUT, Command, add_model_arguments, add_reading_arguments, add_symbol_argument, most
from irshape.cli.examination import Errand, Extended
from irshape.cli.outputs import check_outputs
from irshape.cli.request import is_one, request_of
from irshape.cli.road import answered
from irshape.cli.run import CLEAN, FAULTS, RunError, agree, complain, describe, exit_code
from irshape.cli.texts import TIED, keys_of, nothing, said, sections_of
from irshape.model.model import Model
from irshape.report.section import Section
from irshape.report.text import WIDEST, escape, shorten, some
from irshape.shape.dim import INT64_MAX
from irshape.xml.lexical import whole_number

if TYPE_CHECKING:
    from irshape.answers.cost.cost import Cost

_EXIT = "\n\nexit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"
# The most layers that a remark names.
_MOST_NAMES: Final = 3
# Several sizes of a symbol in a `--set`.
_SEVERAL: Final = re.compile(r"\s*\d{1,18}(\s*,\s*\d{1,18})+\s*", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z]\w*")


def _add_info(command: ArgumentParser) -> None:
    command.add_argument("--all", action="store_true", help="list everything, however long")
    add_model_arguments(command)


def _info(given: Namespace) -> int:
    return answered(Errand(request_of(given), verbs.info, said(given.color, partial(sections_of, is_complete=given.all))))


INFO = Command(
    "Describe a model: OpenVINO release, operations, parameters, batch, inputs, outputs, state, and the causes of dynamic shapes.",
    f"""examples:
  irshape info model.xml
  irshape info models --format jsonl
  irshape info model.xml --input "ids[1,S]" --set S=1..512{_EXIT}""",
    _add_info,
    _info,
)


def _add_signature(command: ArgumentParser) -> None:
    command.add_argument("--all", action="store_true", help="list every input and output, and conditions on sizes known only at run time")
    command.add_argument("--why", action="store_true", help="list the layers that tie each axis to others")
    add_model_arguments(command)


def _signature(given: Namespace) -> int:
    shown = said(given.color, partial(sections_of, is_complete=given.all, has_reasons=given.why))
    return answered(Errand(request_of(given), verbs.signature, shown))


SIGNATURE = Command(
    "Show how the sizes of a model are tied together: its inputs and outputs in as few symbols as possible, and the conditions on these.",
    f"""examples:
  irshape signature model.xml
  irshape signature model.xml --why
  irshape signature model.xml --input "image[1,3,H,W]"{_EXIT}""",
    _add_signature,
    _signature,
)


def _add_summary(command: ArgumentParser) -> None:
    from irshape.answers.summary import DEPTH

    add = command.add_argument_group(OUTPUT).add_argument
    add("-d", "--depth", type=most, default=DEPTH, metavar="N", help=f"the levels of the tree (default: {DEPTH})")
    add("--near", action="extend", nargs="+", default=[], metavar="H=512", help="the sizes for which numbers are given: H=512 W=512")
    add_model_arguments(command)


def _summary(given: Namespace) -> int:
    return answered(Errand(request_of(given), partial(verbs.summary, near=_near(given.near), depth=given.depth), said(given.color)))


SUMMARY = Command(
    "Show the modules of a model as a tree, each with its output, parameters, multiply-accumulates and memory, and the totals.",
    f"""examples:
  irshape summary model.xml
  irshape summary model.xml --depth 5
  irshape summary model.xml --near H=512 W=512{_EXIT}""",
    _add_summary,
    _summary,
)


def _add_sizes(command: ArgumentParser) -> None:
    help = "find the valid sizes nearest to these: H=500 W=700"
    command.add_argument("--near", action="extend", nargs="+", default=[], metavar="H=500", help=help)
    command.add_argument("--all", action="store_true", help="list every condition")
    add_model_arguments(command)


def _sizes(given: Namespace) -> int:
    text = said(given.color, partial(_size_sections, is_complete=given.all))
    return answered(Errand(request_of(given), partial(_sized, _near(given.near)), text, _verdict))


def _sized(near: Mapping[str, int], model: Model, **options: Any) -> Extended:
    """The valid sizes of a model, with those nearest to the sizes of --near."""
    sizes = verbs.sizes(model, **options)
    nearest = sizes.nearest(near) if near else None
    return Extended(model.document, sizes, (near, nearest), {"nearest": nearest and {"given": dict(near), **nearest._asdict()}})


def _size_sections(answer: Extended, *, is_complete: bool) -> Iterator[Section]:
    from irshape.answers.sizes import sections

    return sections(answer.answer, *answer.more, is_complete=is_complete)


def _verdict(answer: Extended) -> Iterable[str]:
    """Raise a fault if no size is valid although no diagnostic is an error."""
    if not answer.answer.ok and exit_code(answer.diagnostics) == CLEAN:
        raise RunError(f"{answer.document.path}: no size is valid", FAULTS)
    return ()


def _near(texts: Iterable[str]) -> dict[str, int]:
    """The sizes of `--near`, by symbol. Raises `RunError` for a text that is none."""
    return dict(_size(part) for text in texts for part in re.split(r"[,\s]+(?=[^,=]+=)", text.strip()))


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    number = whole_number(size.strip()) if size.strip().isdecimal() else None
    if not name.strip() or number is None:
        most = f", and a size up to {INT64_MAX}" if size.strip().isdecimal() else ""
        raise RunError(f'--near {shorten(text, WIDEST)!r}: expected "NAME=SIZE", as in "H=500"{most}')
    return name.strip(), number


SIZES = Command(
    "Find the input sizes for which a model is valid: the symbols in --input, and every other dynamic size in the file.",
    """examples:
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape sizes model.xml --input "image[1,3,H,W]" --near H=500 W=700
  irshape sizes model.xml --input "image[1,3,S,S]" --set S=32..1024

exit code: 0 if some size is valid, 1 if no size is valid, 2 if a file could not be read or has no dynamic sizes""",
    _add_sizes,
    _sizes,
)


def _add_cost(command: ArgumentParser) -> None:
    add = command.add_argument
    add("--all", action="store_true", help="list every layer and group, and write whole formulas")
    help = "compare formulas at these sizes: H=512 W=512 (default: a batch of 1, images of 224, other sizes 128)"
    add("--near", action="extend", nargs="+", default=[], metavar="H=512", help=help)
    add("-l", "--layer", action="append", default=[], metavar="LAYER", help=LAYERS)
    add("--views", action="store_true", help="let the output of a Reshape, Squeeze, Unsqueeze or Identity share the memory of its input")
    add("--in-place", action="store_true", help="let an element-wise operation write into an input that nobody reads afterwards")
    add("--csv", metavar="OUT.csv", help="write the layers to this file (one FILE only)")
    add("--plot", metavar="OUT.svg", help="draw cost against a symbol, and memory against depth: .png or .svg (one FILE only)")
    add("--against", metavar="SYMBOL", help="the symbol of --plot (default: the first one)")
    add("--force", action="store_true", help="overwrite OUT.csv and OUT.svg if they exist")
    add_model_arguments(command)


def _cost(given: Namespace) -> int:
    if (given.csv is not None or given.plot is not None) and not is_one(given.files):
        return complain("--csv and --plot need exactly one FILE")
    if given.against is not None and given.plot is None:
        return complain("--against names the symbol of --plot: give --plot OUT.svg, too")
    near = _near(given.near)
    check_outputs([given.csv, given.plot], force=given.force, inputs=given.files)
    sweep = {name: [int(one) for one in size.split(",")] for name, size in chain(*given.set) if _SEVERAL.fullmatch(size)}
    given.set = [[(name, size) for name, size in chain(*given.set) if name not in sweep]]
    verb = partial(_costed, sweep=sweep, near=near, views=given.views, in_place=given.in_place)
    request = request_of(given)
    text = partial(_cost_sections, layers=given.layer, is_complete=given.all, is_many=request.is_many)
    return answered(Errand(request, verb, said(given.color, text), partial(_write, given)))


def _costed(model: Model, *, sweep: Mapping[str, Sequence[int]], **options: Any) -> Cost:
    cost = verbs.cost(model, **options)
    if sweep:
        cost._swept = cost.sweep(sweep)
    return cost


def _write(given: Namespace, cost: Cost) -> Iterator[str]:
    writers: tuple[tuple[str | None, Callable[[str], None]], ...] = (
        (given.csv, partial(cost.write_csv, force=given.force)),
        (given.plot, lambda path: cost.plot(path, given.against, force=given.force)),
    )
    for path, write in writers:
        if path is None:
            continue
        try:
            write(path)
        except OSError as error:
            raise RunError(describe(error, path)) from error
        except (ImportError, ValueError) as error:  # InputError, too
            raise RunError(f"{path}: {error}") from error
        if given.format == "text":
            yield f"written: {escape(path)}"


def _cost_sections(cost: Cost, layers: Sequence[str], *, is_complete: bool, is_many: bool) -> Iterator[Section]:
    if not layers:
        return cost._sections(is_complete=is_complete)
    model = cost._inference.model
    wanted = keys_of(model, layers)
    if not (wanted or is_many):
        raise RunError(nothing(model, layers))
    told = [f"{node.type} {node.name}" for graph in model.graphs() for node in graph.nodes if node.key in wanted]
    remark = f"{some(told, _MOST_NAMES)} computes nothing when the model runs" if told else nothing(model, layers)
    return cost._sections((wanted, remark), is_complete=is_complete)


COST = Command(
    "Count what a model computes, reads and writes, and the memory that it takes, as numbers or as formulas of its input sizes.",
    """examples:
  irshape cost model.xml
  irshape cost model.xml --near H=512 W=512
  irshape cost model.xml --set S=128,256,512
  irshape cost model.xml --input "image[1,3,224,224]"
  irshape cost model.xml --csv layers.csv --plot cost.svg

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read or written""",
    _add_cost,
    _cost,
)


def _add_explain(command: ArgumentParser) -> None:
    command.add_argument("files", nargs=1, metavar="FILE", help="the .xml of an IR, or a <layer> example of the specification")
    command.set_defaults(jobs=1)
    target = "a layer by name, id, tensor name or fused name; the id of a port; an axis"
    command.add_argument("target", metavar="LAYER[:PORT[:AXIS]]", help=target)
    add_symbol_argument(command)
    add_reading_arguments(command)


def _explain(given: Namespace) -> int:
    is_named = not given.raw_symbols
    return answered(Errand(request_of(given), partial(_explained, given.target, is_named=is_named), said(given.color, _explain_sections)))


def _explained(target: str, model: Model, *, is_named: bool, **options: Any) -> Extended:
    """The explanation of a shape, with the axes of inputs that the signature ties together by the symbols in it."""
    from irshape.answers.explain.explainer import parse_target, unexplained
    from irshape.model.finding import find, names_of

    inference = (verbs.read_in_names if is_named else verbs.infer)(model, **options)
    if not model.nodes:
        return Extended(model.document, unexplained(inference), (), {})
    wanted = parse_target(model, target)
    if wanted[1] is None:  # a port is that of a layer
        agree(wanted[0], find(model, wanted[0]), names_of)
    explanation = verbs.explain(inference, *wanted)
    names = {name for step in explanation.steps for name in _NAME.findall(step.value)}
    return Extended(model.document, explanation, [one for one in inference.ties if not names.isdisjoint(_NAME.findall(one.size))], {})


def _explain_sections(answer: Extended) -> Iterator[Section]:
    from irshape.answers.explain.explanation import sections

    yield from sections(answer.answer)
    yield ties(answer.more, TIED)


EXPLAIN = Command(
    "Explain a shape: list the layers that compute it, each with its place, its formula and the origin of each number.",
    """examples:
  irshape explain model.xml conv1                    all axes and the element type of the first output
  irshape explain model.xml conv1:2:3                axis 3 of port 2
  irshape explain model.xml 17:2:-1                  the last axis of port 2 of the layer with id 17
  irshape explain model.xml 2.body/5                 a layer in a body, by its id in the output of infer
  irshape explain model.xml mask --input "image[N,3,H,W]"

exit code: 0 if the shape is explained, 1 if an earlier layer failed (its faults are listed),
2 if the file could not be read, or the model has no such layer, port or axis""",
    _add_explain,
    _explain,
)
