"""Run two models on equal inputs, and compare their outputs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import irshape.verbs as inner
from irshape.api.inference import Inference
from irshape.api.reading import Reading, alike
from irshape.editing.graph import Graph
from irshape.inference.inputs import described_shape
from irshape.model.finding import end_name
from irshape.model.model import Model
from irshape.model.public import Model as PublicModel
from irshape.report.surface import knowing
from irshape.running.inputs import Shapes, drawn, met, sizes_of
from irshape.running.limits import RUNS, Allowance
from irshape.running.pair import Feed, Pair, Runnable, Side, first_difference
from irshape.running.results import OutputDifference, Run, RunComparison, Tolerance
from irshape.running.runner import Runner, RunningError
from irshape.shape.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from numpy.random import Generator

    from irshape.ops.extensions import Extensions
    from irshape.xml.source import Source

# The runs of a model whose inputs have open sizes.
_RUNS: Final = 3
# The samples that a model with an open batch is given at once.
_SAMPLES: Final = 3


@knowing
def compare(
    a: Source | PublicModel | Graph | Inference,
    b: Source | PublicModel | Graph | Inference,
    *,
    data: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    batch: int | None = None,
    first: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    allowance: Allowance = RUNS,
    opaque: str | Iterable[str] = (),
    limits: Limits = DEFAULT,
    extensions: Extensions = (),
) -> RunComparison:
    """Run model `a` and model `b` with OpenVINO on equal inputs, in a process of its own, and compare their outputs.

    Each is what `irshape.read` takes, a graph that was edited, or the answer of `irshape.reshape`.

    The inputs are random values of the `seed` at the recorded sizes, and for open sizes at three sizes that the models accept; or `data`,
    arrays by the names of the inputs, or an `.npz` file of such arrays. With `batch`, a run of `b` with that batch is compared with runs of
    `a` on each sample. Two numbers of an output are equal if they differ by no more than `atol` plus `rtol` times the largest number of
    the output; the defaults depend on the precisions of the models. With `first`, the answer also has the first layer that differs.

    Raises `RunningError` if OpenVINO is missing, the models have other inputs, or no inputs are found on which both run, and the errors of
    `irshape.read`.
    """
    with _paired(a, b, alike(opaque, limits, extensions), allowance, rtol, atol) as pair:
        return _compared(pair, _feeds(pair, data, batch, seed), is_first_wanted=first)


def proof(a: Runnable, b: Runnable, batch: str | None) -> RunComparison:
    """Compare a model with what became of it. Raises `RunningError`.

    A model for another `batch` must compute for this batch, or for one of several samples if it is open, what the model does for each.
    New states must be such that the first inference, with empty ones, gives something.
    """
    with _paired(a, b, {}) as pair:
        count = int(batch) if batch is not None and batch.isdecimal() else None
        try:
            found = _compared(pair, _feeds(pair, None, None, 0))
        except RunningError:
            if count is None:
                raise
            return _compared(pair, _feeds(pair, None, count, 0))  # the model before takes no such batch
        if found.is_same and (fault := next(map(pair.begin, _feeds(pair, None, None, 0)), "")):
            raise RunningError(fault)
        # OpenVINO cannot give the model before this batch, or a constant of it holds another one.
        is_refused = any("a" in run.failures for run in found.runs) or (count is not None and found._has_other_shapes)
        if batch is not None and (is_refused or count is None):
            samples = _compared(pair, _feeds(pair, None, count, 0, 1 if count else _SAMPLES))
            samples.runs[:0] = [] if is_refused else found.runs
            return samples
        return found


@contextmanager
def _paired(
    a: Runnable, b: Runnable, reading: Reading, allowance: Allowance = RUNS, rtol: float | None = None, atol: float | None = None
) -> Iterator[Pair]:
    """Two models with their files and the process that runs them."""
    with TemporaryDirectory(prefix="irshape-run-") as folder:
        sides = Side("a", a, folder, reading), Side("b", b, folder, reading)
        kept = sides[0].begun() & sides[1].begun()
        for side in sides:
            side.open(kept)
        with closing(Runner(allowance)) as runner:
            yield Pair(*sides, folder, runner, Tolerance.of(sides[0].model, sides[1].model, rtol, atol))


def _compared(pair: Pair, feeds: Iterator[Feed], *, is_first_wanted: bool = False) -> RunComparison:
    comparison = RunComparison(pair.a.name, pair.b.name, pair.tolerance, pair.ends.missing, pair.ends.renamed)
    refusals = []
    names = [name for _, _, name in pair.ends.outputs]
    pairs = [(index, other) for index, other, _ in pair.ends.outputs]
    for feed in feeds:
        failures, found = pair.run(feed, pair.ends.taps, (), pairs)
        if len(failures) == 2:
            refusals.append(failures["a"])
            continue
        outputs = [OutputDifference.of(name, one, pair.tolerance) for name, one in zip(names, found, strict=False)]
        run = Run(feed.shapes, feed.shapes_of_b, outputs, failures)
        if not failures and not run.is_same:
            pair.repeat(feed, pairs, names)
        comparison.runs.append(run)
        if is_first_wanted and not failures and not run.is_same and not (comparison.first or comparison._unfound):
            try:
                comparison.first = first_difference(pair, feed)
            except RunningError as error:
                comparison._unfound = str(error)
        if len(comparison.runs) == _RUNS:
            break
    if not comparison.runs:
        raise RunningError(f"both models fail, so nothing is compared: {refusals[0]}" if refusals else "there are no inputs to run on")
    return comparison


def _feeds(
    pair: Pair, data: str | os.PathLike[str] | Mapping[str, Any] | None, batch: int | None, seed: int, samples: int = 1
) -> Iterator[Feed]:
    """The inputs to run on: the shapes for each model, the files for the runs of `a`, and the file for the run of `b`.

    The batch of `b` is `batch`, or the one of `a` times `samples`.
    """
    import numpy

    a, inputs = pair.a.model, pair.ends.inputs
    numbers = itertools.count(1)

    def saved(arrays: Sequence[Any]) -> str:
        path = os.path.join(pair.folder, f"feed{next(numbers)}.npz")
        numpy.savez(path, **{str(index): array for index, array in enumerate(arrays)})
        return path

    def feed(samples: list[list[Any]], whole: list[Any]) -> Feed:
        a, b = (
            {end_name(node): one.shape for node, one in zip(side, arrays, strict=True)}
            for side, arrays in zip(sides, (samples[0], whole), strict=True)
        )
        return Feed(a, b, [saved(one) for one in samples], saved(whole))

    sides = a.parameters, pair.b.model.parameters
    if data is not None:
        arrays = _given(a, data)
        yield feed([arrays], [arrays[index] for index in inputs])
        return
    axes = {} if batch is None and samples == 1 else _batch_axes(pair)
    random = numpy.random.default_rng(seed)
    for shapes in sizes_of(a, _wanted(pair, axes), pair.a.opaque):
        own = {shapes[name][axis] for name, axis in axes.items()} or {1}
        if batch is not None and (len(own) > 1 or batch % min(own)):
            told = f"the batch of the first model is {', '.join(map(str, own))}, and {batch} is no multiple of it"
            raise RunningError(f"{told}: give a multiple, or prove --batch N and set N in the result")
        count = batch // min(own) if batch is not None else samples
        yield feed(*_sampled(pair, axes, shapes, count, random))._replace(group=min(own) if len(own) == 1 else 0)


def _sampled(pair: Pair, axes: Mapping[str, int], shapes: Shapes, count: int, random: Generator) -> tuple[list[list[Any]], list[Any]]:
    """Random inputs: those of the first model for each sample, and those of the second one for all together.

    All samples share the inputs without a batch axis.
    """
    import numpy

    parameters = pair.a.model.parameters
    parts = [drawn(pair.a.model, shapes, pair.a.opaque, random) for _ in range(count)]
    for index, node in enumerate(parameters):
        if end_name(node) not in axes:
            for part in parts[1:]:
                part[index] = parts[0][index]
    whole = []
    for index in pair.ends.inputs:
        axis = axes.get(end_name(parameters[index]))
        whole.append(parts[0][index] if axis is None else numpy.concatenate([part[index] for part in parts], axis))
    return parts, whole


def _wanted(pair: Pair, axes: Mapping[str, int]) -> dict[str, str]:
    """The shapes that both models allow for the inputs of the first; those of the second where they allow none in common.

    On a batch axis it is the size of the first model, or of its other inputs, or 1.
    """
    first, second = (inner.infer(side.model, opaque=side.opaque) for side in (pair.a, pair.b))
    partners = dict(zip(pair.ends.inputs, pair.b.model.parameters, strict=True))
    names = {node: end_name(node) for node in pair.a.model.parameters}
    own = [shape[axes[name]] for node, name in names.items() if name in axes and (shape := first.view(node).outputs[0].shape)]
    open_size = next((size for size in own if isinstance(size, int)), 1)
    texts = {}
    for index, node in enumerate(pair.a.model.parameters):
        shape = first.view(node).outputs[0].shape
        other = second.view(partners[index]).outputs[0].shape if index in partners else shape
        axis = axes.get(end_name(node))
        if axis is not None and shape is not None and other is not None and axis < len(shape) == len(other):
            size = shape[axis] if isinstance(shape[axis], int) else open_size
            shape, other = ((*known[:axis], size, *known[axis + 1 :]) for known in (shape, other))
        texts[end_name(node)] = met(shape, other, first.bounds, second.bounds)
    return texts


def _batch_axes(pair: Pair) -> dict[str, int]:
    """The batch axis of each input of the first model: else, the axis of another size in the second. Raises `RunningError` if none is."""
    ends = [(pair.a.model.parameters[index], other) for index, other in zip(pair.ends.inputs, pair.b.model.parameters, strict=True)]
    names = {other: end_name(one) for one, other in ends}
    for side in (pair.b, pair.a):
        info = inner.info(side.model, opaque=side.opaque)
        found = {names.get(node, end_name(node)): axis for node, axis, _ in info.batch}
        if not found and len(info.candidates) == 1:
            found = {names.get(node, end_name(node)): axis for node, axis in info.candidates[0]}
        if found:
            return found
    shapes = ((end_name(one), described_shape(one) or (), described_shape(other) or ()) for one, other in ends)
    changed = [(name, axis) for name, a, b in shapes for axis, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    if found := dict(changed) if len(dict(changed)) == len(changed) else {}:
        return found
    raise RunningError(
        "irshape does not know which axis of the inputs is the batch: irshape reshape --rewrite gives one model the sizes of the other"
    )


def _given(model: Model, data: str | os.PathLike[str] | Mapping[str, Any]) -> list[Any]:
    """The arrays for the inputs of a model, by the names of the inputs or of their tensors. Raises `RunningError` if one is missing."""
    import numpy

    if isinstance(data, Mapping):
        arrays = {name: numpy.asarray(one) for name, one in data.items()}
    else:
        try:
            with numpy.load(data, allow_pickle=False) as file:
                arrays = dict(file)
        except (OSError, ValueError, TypeError) as error:
            raise RunningError(f"{os.fspath(data)}: not an .npz file of arrays without objects: {error}") from None
    names = [(end_name(node), node.name, *node.outputs[0].names) for node in model.parameters]
    found = [next((arrays[name] for name in known if name in arrays), None) for known in names]
    missing = [known[0] for known, one in zip(names, found, strict=True) if one is None]
    if missing:
        known = ", ".join(map(repr, arrays)) or "none"
        raise RunningError(f"the data have no array for {', '.join(map(repr, missing))}; the arrays are {known}")
    return found
