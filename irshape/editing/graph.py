"""A graph that can be edited, as programs see it: its layers and tensors, and the model that it becomes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

import irshape.verbs as inner
from irshape.api.inference import Inference
from irshape.api.reading import Reading, taken
from irshape.editing.arrays import element_type_of
from irshape.editing.draft import Draft, layer_count
from irshape.editing.inputs import freeze, stateful, stateless
from irshape.editing.layers import Layer, Layers, Tensor, layer_of, tensor_of
from irshape.editing.simplify import Simplification, simplify
from irshape.editing.state import EditError, EditStep
from irshape.inference.inputs import read_shape
from irshape.model.public import Model, published
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.surface import knowing
from irshape.report.text import counted
from irshape.shape.element_type import ElementType
from irshape.shape.notation import shape_text
from irshape.xml.patched_weights import AppendedWeights
from irshape.xml.writer import quoted, write_ir

if TYPE_CHECKING:
    from irshape.answers.diff import Difference
    from irshape.xml.source import Source

NO_OUTPUT: Final = "no layer gives an output any more, so the model computes nothing: add an output"
_EMPTY = """<?xml version="1.0"?>
<net name="NAME" version="11">
\t<layers>
\t</layers>
\t<edges>
\t</edges>
</net>
"""


class Graph(Layers):
    """A model that can be edited.

    `irshape.edit` makes one of a model, and `irshape.Graph("net")` begins with an empty one. Iterating gives the layers in topological
    order. `graph["name"]` and `graph[7]` find a layer by its name or id, `graph.tensor` finds a tensor. An edit that would break the graph
    raises `EditError` and changes nothing; an edit that makes a faulty model is allowed, and `check` lists the faults. The model that a
    graph began with never changes. The graph is written as the text of that model with the edits in it: every other byte stays.
    """

    _draft: Draft

    def __init__(self, name: str = "net") -> None:
        """An empty model of IR version 11. Raises `EditError` for the name of a file."""
        if name.endswith(".xml"):
            raise EditError(f"irshape.Graph makes an empty graph, and reads no file: irshape.edit({name!r}) does")
        model, weights, opaque = taken(_EMPTY.replace("NAME", quoted(name)[1:-1]).encode(), {})
        self._draft = Draft(model._graph, weights, opaque)

    def parameter(
        self,
        name: str,
        shape: str | Iterable[int | None] | None,
        element_type: ElementType | str = "f32",
        *,
        names: str | Iterable[str] | None = None,
        before: Layer | None = None,
    ) -> Tensor:
        """Add an input of the model, the last one or the one before another Parameter, and return its output.

        `shape` is written as in OpenVINO, `"[1,3,224..448,?]"`, or has numbers, with None for an open size. The tensor has the name of the
        input, or `names`. Raises InputError for anything else.
        """
        draft = self._draft
        with self.attempt():
            place = None if before is None else draft.state.place_before(before._live())
            item = draft.parameter(name, shape_text(read_shape(name, shape)), element_type_of(element_type), place)
            tensor = tensor_of(self._draft, item.outputs[0])
            tensor.names = item.name if names is None else names
        return tensor

    def result(
        self, source: Tensor | Layer, *, name: str | None = None, names: str | Iterable[str] | None = None, before: Layer | None = None
    ) -> Layer:
        """Add an output of the model, the last one or the one before another Result, and return its Result.

        `names` are further names of the tensor.
        """
        draft = self._draft
        value = draft.value_of(source)
        own = name or f"{value.item.name}/result"
        with self.attempt():
            last = draft.state.place_behind([*draft.of_type("Result"), value.item])
            place = last if before is None else draft.state.place_before(before._live())
            item = draft.add("Result", (source,), {}, name=own, version="opset1", place=place, outputs=None)
            if names is not None:
                tensor = tensor_of(self._draft, value)
                tensor.names = [*tensor.names, *([names] if isinstance(names, str) else names)]
        return layer_of(self._draft, item)

    def simplify(self, only: str | Iterable[str] | None = None) -> list[Simplification]:
        """Remove layers that the outputs do not need, and return them, each with its rule, name, type and the reason.

        The rules are `fold`, for computations whose values are known, `branch`, for an If that always takes one branch, whose layers then
        stand in its place, `no-op`, for layers that give their first input, and `dead`, for layers on which no output depends; `only`
        names some of them. Outputs, their names and their values stay the same for every input
        that the model accepts, and OpenVINO knows as much of all shapes as before. Raises `EditError` for an unknown rule.
        """
        return simplify(self._draft, [only] if isinstance(only, str) else only)

    def freeze(self, name: str, value: Any) -> list[Simplification]:
        """Turn an input into a constant, fold what then is known, and return the steps as `simplify` does.

        `value` is a number, nested sequences of numbers or an array, of the element type and the shape that the input takes. The rules are
        `fold`, for computations whose values are then known, and `branch`, for an If that then always takes one branch, whose layers stand
        in its place. Only layers that depend on the input change. Raises `EditError` for a name that no input has and for a value that
        does not fit.
        """
        return freeze(self._draft, name, value)

    def stateful(self, pairs: Mapping[str, str]) -> None:
        """Turn inputs, and the outputs that give their next values, into variables, as OpenVINO's MakeStateful does.

        `pairs` has the name of the output by that of the input. The model then keeps the value between runs; it begins
        with zeros. Raises `EditError` for a name that no input or output has.
        """
        stateful(self._draft, pairs)

    def stateless(self) -> dict[str, str]:
        """Turn each variable into an input and an output, and return the name of the output by that of the input.

        The input takes the value that the model would have kept; for the first run, give it the first value. Raises `EditError`
        for a variable in a body.
        """
        return stateless(self._draft)

    @property
    def steps(self) -> list[EditStep]:
        """The edits so far, each with its verb, the name of the layer and the rest in words."""
        return [*self._draft.state.steps]

    def mark(self) -> int:
        """A mark of the edits so far, for `undo`."""
        return len(self._draft.state.journal)

    def undo(self, mark: int | None = None) -> None:
        """Take back the last edit, or all edits since a mark: `undo(0)` takes back all. A block of `attempt` is one edit.

        Raises `EditError` if it is no mark.
        """
        state = self._draft.state
        if mark is not None and not isinstance(mark, int):
            raise EditError(f"{mark!r} is no mark; give the number that graph.mark() returned")
        state.undo(state.last if mark is None else max(mark, 0))

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Make the edits of a `with` block all or not at all: an exception takes back every one of them."""
        with self._draft.state.attempt():
            yield

    def model(self) -> Model:
        """The edited model, read from its text."""
        return published(self._draft.built()[0])

    def __bytes__(self) -> bytes:
        """The text of the edited model. Only edits and the ports whose facts have changed are rewritten; every other byte stays."""
        return self._draft.text()[0]

    def check(self) -> Inference:
        """Check the text of the edited model. The faults that the model did not have before come first; places are places in this text."""
        return checked(self._draft)[0]

    def diff(self) -> Difference:
        """What the edits change: layers, and the shapes that follow from them. It is `irshape.diff` of the models before and after."""
        return inner.diff(self._draft.model, self._draft.built()[0])

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        faulty: bool = False,
        in_place: bool = False,
        weights: Literal["copy", "link", "none"] = "copy",
        trim: bool = False,
    ) -> None:
        """Write the edited model, each file completely or not at all, and its weights beside it.

        New constants come behind the bytes of the weights, which stay where they are. Takes and raises what `Inference.write` does; errors
        that the model had before the edits do not count. With `trim`, the weights hold only the bytes that the constants need, those of
        bodies included; that needs another path, because trimmed weights fit the new file alone.
        """
        if trim and in_place:
            raise ValueError("trimmed weights fit the new file alone: write another path")
        _, new = checked(self._draft, errors_only=True)
        errors = [one for one in new if one.severity == ERROR]
        if errors and not faulty:
            raise ValueError(f"the edits make {counted(len(errors), 'error')}, the first is: {errors[0]}; faulty=True writes it")
        draft = self._draft
        if draft.model.results and not self.outputs and not faulty:
            raise ValueError(f"{NO_OUTPUT}; faulty=True writes it")
        text, own = draft.text(trims=trim, cuts=weights == "copy" and not in_place)
        is_short = draft.engine.constants.is_short
        if isinstance(own, AppendedWeights) and own.has_original and not is_short:
            own = own.filled()  # no Result needs the bytes that the weights lack
        elif (
            own and weights != "none" and (isinstance(own, AppendedWeights) or (is_short and own is draft.original and draft.state.journal))
        ):
            why = "the weights are missing or cut short, and the edited model needs them: copy the .bin again"
            raise OSError(errno.ENOENT, why, own.path)
        write_ir(path, text, source=draft.model.document.path, weights=own, how=weights, force=force, in_place=in_place)

    def __repr__(self) -> str:
        counts = f"{counted(layer_count(self._draft), 'layer')}, {counted(len(self.steps), 'edit')}"
        return f"<{type(self).__name__} {self._draft.model.name!r}: {counts}>"


@knowing
def edit(source: Source | Model, **reading: Unpack[Reading]) -> Graph:
    """Make a graph of a model that can be edited. The model itself never changes.

    Takes what `irshape.read` takes, or a model. Raises the errors of `irshape.read`, and `EditError` for a file that is not a whole IR.
    """
    model, weights, opaque = taken(source, reading)
    graph = Graph.__new__(Graph)
    graph._draft = Draft(model._graph, weights, opaque)
    return graph


def checked(draft: Draft, *, errors_only: bool = False) -> tuple[Inference, list[Diagnostic]]:
    """The check of the edited model, and the faults that are new; `errors_only` as in `irshape.verbs.check`."""
    before = inner.check(draft.model, weights=draft.original, opaque=draft.opaque, errors_only=errors_only).diagnostics
    model, weights = draft.built()
    found = inner.check(model, weights=weights, opaque=draft.opaque, errors_only=errors_only)
    known = {_told(one) for one in before}
    found.diagnostics.sort(key=lambda one: _told(one) in known)
    new = [one for one in found.diagnostics if _told(one) not in known and one.code != "W201"]  # the weights may have more than is left
    return Inference(found, published(model)), new


def _told(fault: Diagnostic) -> tuple[object, ...]:
    """What makes a fault the same in two texts of a model; what its message says of other layers may change."""
    where = fault.where
    return fault.code, fault.message.partition(";")[0], where.path, where.layer_id, where.port
