"""The verbs of the library that ask about a model, and those about operations and codes.

Each verb takes a model, or whatever `read` takes. The arguments of `Reading` say how a source is read.
"""

from __future__ import annotations

import gc
import os
from _thread import RLock  # as threading.RLock, without what that module imports
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar, Unpack, overload

import irshape.verbs as inner
from irshape.api.inference import Inference, SymbolsAs
from irshape.api.reading import Reading, alike, named, taken
from irshape.model.public import Model
from irshape.report.catalogue import CATALOGUE, Code
from irshape.report.diagnostic import Diagnostic
from irshape.report.surface import knowing
from irshape.shape.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from irshape.answers.cost.cost import Cost
    from irshape.answers.diff import Difference
    from irshape.answers.explain.explanation import Explanation
    from irshape.answers.info import Info
    from irshape.answers.signature.signature import Signature
    from irshape.answers.sizes import ValidSizes
    from irshape.answers.summary import Summary
    from irshape.inference.inputs import Shapes, Symbols
    from irshape.ops.extensions import Extensions
    from irshape.xml.source import Source
    from irshape.xml.weights import WeightsChoice


_P = ParamSpec("_P")
_R = TypeVar("_R")
_lock = RLock()
# Whether the collector was running, for each verb that is at work, in the order in which they began.
_was_collecting: list[bool] = []


def _uncollected(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """The verb without the garbage collector, which would search again and again the long-lived graphs that the verb builds."""
    verb = knowing(verb)

    @wraps(verb)
    def call(*given: _P.args, **named: _P.kwargs) -> _R:
        with _lock:
            _was_collecting.append(any(_was_collecting) or gc.isenabled())
            gc.disable()
        try:
            return verb(*given, **named)
        finally:
            with _lock:
                if _was_collecting.pop() and not _was_collecting:
                    gc.enable()

    return call


def _asked(source: Source | Model, inputs: Shapes | None, symbols: Symbols | None, reading: Reading) -> tuple[Model, inner.Asked]:
    """The model of a source, and what is asked of it. Raises the errors of `taken`."""
    model, weights, opaque = taken(source, reading)
    return model, {"inputs": inputs, "symbols": symbols, "weights": weights, "opaque": opaque}


@_uncollected
def read(source: Source | Model, *, path: str | None = None, **reading: Unpack[Reading]) -> Model:
    """Read an IR into a model.

    `source` is a path, bytes, XML text, a binary file object, an `lxml` or `xml.etree` tree or element, or an `openvino.Model`. Text that
    begins with `<` is XML, other text is a path. `path` names the file in messages, if `source` is no path. `weights` is the `.bin` (path,
    bytes or file object), if it is not beside the `.xml` and does not come with the source; False reads no weights and treats the values of
    constants as unknown. `opaque` names unknown operations whose recorded ports are trusted; `Regex*` names several. `opset` is the version
    of layers that state none, as in examples of the specification. `limits` bound what the file may demand, now and in every later use of
    the model. `extensions` are files (`ops.toml`, `ops.py`) and modules with operations of extensions, which the model then may use. A
    faulty file gives a model, too: `irshape.check` lists its faults.

    Raises `OSError` if a path cannot be read, `TypeError` for a source of another kind, `ValueError` for an `openvino.Model` that OpenVINO
    cannot write as an IR, and `ExtensionError` if an extension cannot be loaded.
    """
    return taken(source, reading, path)[0]


@_uncollected
def infer(
    source: Source | Model,
    inputs: Shapes | None = None,
    *,
    symbols: Symbols | None = None,
    symbols_as: SymbolsAs = "names",
    **reading: Unpack[Reading],
) -> Inference:
    """Infer the element type and shape of every port.

    `inputs` gives shapes by the name of the Parameter (`{"image": "[1,3,H,224..448]"}`). `symbols` gives sizes to symbols of these shapes
    and of `irshape.signature`: numbers, ranges, multiples or formulas (`{"B": 1, "H": "32..1024", "W": "32*k", "P": "1024 - S"}`).

    Formulas and guards use the symbols of the signature for sizes without a name; with `symbols_as="raw"`, each open size is a symbol of
    its own (`d0`).

    Raises `InputError` if an input or a symbol does not exist or a shape does not parse, and the errors of `read`. A faulty model raises
    nothing; its faults are diagnostics.
    """
    model, asked = _asked(source, inputs, symbols, reading)
    return Inference(inner.infer(model._graph, **asked), model, symbols_as)


@_uncollected
def check(
    source: Source | Model,
    inputs: Shapes | None = None,
    *,
    symbols: Symbols | None = None,
    targets: str | Iterable[str] = (),
    batch: int | str | None = None,
    suppressions: bool = True,
    structure: bool = False,
    **reading: Unpack[Reading],
) -> Inference:
    """Infer as `infer` does, and also report where the file departs from the specification and from the inferred facts.

    With `suppressions`, faults that the file itself asks to ignore are left out (`<irshape ignore="R201"/>` in an `<rt_info>`). `targets`
    are policies that the model must meet: `static-shapes`, `bounded`, `ranked`, `max-rank=6`, `npu`. `batch` asks whether the model keeps a
    batch of this size, such as `"N"`: P110 names the layers that mix samples, P111 those that may. With `structure`, the elements and
    attributes of the file are also compared with the schema `schemas/openvino-ir.xsd` (X202). Raises `InputError` for an unknown policy,
    and the errors of `infer`.
    """
    model, asked = _asked(source, inputs, symbols, reading)
    found = inner.check(model._graph, targets=named(targets), batch=batch, suppressions=suppressions, structure=structure, **asked)
    return Inference(found, model)


@knowing
def explain(
    source: Inference | Source | Model,
    layer: str | int,
    port: int | None = None,
    axis: int | None = None,
    *,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    **reading: Unpack[Reading],
) -> Explanation:
    """Why a port, or one axis of it, has its shape: the layers that compute it, in order, each with the formula of its rule.

    Takes an inference, or what `infer` takes. `layer` is a name, or an id as in `Inference.ports` (`7`, `2.body/5`). `port` is the id of a
    port in the file; by default it is the first output. `axis` counts from 0, or with -1 from the end; by default all axes and the element
    type are explained. Raises `InputError` if the model has no such layer, port or axis.
    """
    if not isinstance(source, Inference):
        return infer(source, inputs=inputs, symbols=symbols, **reading).explain(layer, port, axis)
    if inputs or symbols or reading:
        raise TypeError("an inference has its inputs already; give a model, or no other arguments")
    return source.explain(layer, port, axis)


@_uncollected
def diff(
    a: Source | Model,
    b: Source | Model,
    *,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    cost: bool = False,
    weights: tuple[WeightsChoice, WeightsChoice] | Literal[False] = (None, None),
    opaque: str | Iterable[str] = (),
    limits: Limits = DEFAULT,
    extensions: Extensions = (),
) -> Difference:
    """Compare the graphs of model `a` and model `b`.

    `inputs` and `symbols` are applied to both. `weights` are the `.bin` files of `a` and `b`, if they are not beside the `.xml`; False
    compares the models without weights. If one `.bin` is missing, both are compared without weights. With `cost`, the costs of both are
    compared, too, as `Difference.cost`. Raises the errors of `infer`.
    """
    reading = alike(opaque, limits, extensions)
    (first, _, ours), (second, _, theirs) = [taken(source, reading) for source in (a, b)]
    return inner.diff(first._graph, second._graph, inputs=inputs, symbols=symbols, weights=weights, opaque=ours | theirs, cost=cost)


@_uncollected
def info(source: Source | Model, inputs: Shapes | None = None, *, symbols: Symbols | None = None, **reading: Unpack[Reading]) -> Info:
    """Describe a model: versions, inputs, outputs, operations, parameters, state, batch, and the causes of dynamic sizes.

    Takes and raises what `infer` does.
    """
    model, asked = _asked(source, inputs, symbols, reading)
    return inner.info(model._graph, **asked)


@_uncollected
def signature(
    source: Source | Model, inputs: Shapes | None = None, *, symbols: Symbols | None = None, **reading: Unpack[Reading]
) -> Signature:
    """Find the signature of a model: the shapes of its inputs and outputs in as few symbols as its requirements leave.

    Every open size of an input or a variable becomes a symbol, a number or a formula of symbols. Symbols in `inputs` keep their names.
    Takes and raises what `infer` does.
    """
    model, asked = _asked(source, inputs, symbols, reading)
    return inner.signature(model._graph, **asked)


@_uncollected
def sizes(
    source: Source | Model, inputs: Shapes | None = None, *, symbols: Symbols | None = None, **reading: Unpack[Reading]
) -> ValidSizes:
    """Find the input sizes for which the model is valid, as a condition.

    The question covers the symbols in the shapes of `inputs`, and every other dynamic size in the symbols of the signature. All sizes are
    at least 1. Takes and raises what `infer` does, and raises `InputError` if the inputs have no dynamic sizes.
    """
    model, asked = _asked(source, inputs, symbols, reading)
    return inner.sizes(model._graph, **asked)


@_uncollected
def cost(
    source: Source | Model,
    inputs: Shapes | None = None,
    *,
    symbols: Symbols | None = None,
    near: Mapping[str, int] | None = None,
    views: bool = False,
    in_place: bool = False,
    **reading: Unpack[Reading],
) -> Cost:
    """Count what a model computes at each inference, and the memory that it takes, as numbers or as formulas of the sizes of its inputs.

    Every open size is a symbol, as in `signature`. `near` turns formulas into numbers to compare them; sizes left out get defaults. `views`
    and `in_place` let tensors share memory: a Reshape uses the memory of its input, and an element-wise operation that of an input of the
    same size that no later layer reads. Takes and raises what `infer` does otherwise, and `InputError` for an unknown symbol in `near`.
    """
    model, asked = _asked(source, inputs, symbols, reading)
    return inner.cost(model._graph, near=near, views=views, in_place=in_place, **asked)


@_uncollected
def summary(
    source: Source | Model,
    *,
    depth: int | None = None,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    near: Mapping[str, int] | None = None,
    **reading: Unpack[Reading],
) -> Summary:
    """Sum up a model: its modules as a tree of `depth` levels (3), each with its output shape, parameters, work and memory.

    A notebook shows the tree as a table. The names of layers tell the modules; equal blocks are one row. Takes and raises what `cost` does
    otherwise.
    """
    model, asked = _asked(source, inputs, symbols, reading)
    return inner.summary(model._graph, depth=depth, near=near, **asked)


@knowing
def fix(source: Inference | Source | Model, **reading: Unpack[Reading]) -> list[Diagnostic]:
    """Mend the faults that have a safe fix in the file itself, all at once or not at all, and return them.

    Takes what `check` returns or takes. Of fixes that overlap, only the first is made. Raises `OSError` if the file cannot be written, or
    no longer holds the bytes that were checked.
    """
    from irshape.diagnosis.fixes import mend

    found = source if isinstance(source, Inference) else check(source, **reading)
    return mend(found._inference)


@knowing
def view(
    source: Source | Model,
    before: Source | Model | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    **reading: Unpack[Reading],
) -> str:
    """Make the page that shows a model, with the changes since the model `before`, and return it as HTML that loads nothing.

    With `output`, the page is also written there; an existing file is replaced only with `force`, else raises `FileExistsError`. Takes and
    raises what `check` does otherwise.
    """
    from irshape.page.data import PageData
    from irshape.page.html import page

    if isinstance(before, str | os.PathLike) and os.fspath(before).endswith(".html"):
        raise TypeError(f"the second argument is the model before, not a page; output={os.fspath(before)!r} writes one")
    model, asked = _asked(source, inputs, symbols, reading)
    data = PageData(model._graph, **asked)
    if before is not None:
        first, others, _ = taken(before, {})
        sides, opaque = (others, asked["weights"]), asked["opaque"]
        data.difference = inner.diff(first._graph, model._graph, inputs=inputs, symbols=symbols, weights=sides, opaque=opaque)
    text = page(data.to_dict())
    if output is not None:
        from irshape.files.writing import write_atomic

        write_atomic(output, text.encode(), force=force)
    return text


@overload
def rule(code: str) -> Code: ...
@overload
def rule(code: None = None) -> list[Code]: ...
@knowing
def rule(code: str | None = None) -> Code | list[Code]:
    """What a code of a diagnostic means, why it matters and what to do (`rule("S201").meaning`); all codes without one.

    Raises `KeyError` for a code that does not exist.
    """
    if code is None:
        return list(CATALOGUE.values())
    if code.upper() not in CATALOGUE:
        raise KeyError(f"there is no code {code!r}; irshape.rule() lists them")
    return CATALOGUE[code.upper()]
