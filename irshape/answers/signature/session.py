"""A session whose inputs take sizes for the symbols of the signature."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from irshape.inference.inference import Inference
from irshape.inference.inputs import Inputs
from irshape.inference.session import Session
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.notation import Described, shape_text

if TYPE_CHECKING:
    from irshape.answers.signature.knobs import Knobs, Sizes


class SymbolSession(Session):
    """A session that also takes sizes for the symbols of the signature. They hold until the symbols, or the inputs, get others."""

    _knobs: tuple[Knobs, Sizes] | None = None
    _axes: Mapping[Node, int] = MappingProxyType({})  # the axes of the batch that is asked for

    def _reshaped(self, asked: Inputs, batch: int | str | None) -> Inference:
        has_symbols = asked.symbols or asked.formulas or self._inputs.symbols
        if not has_symbols or self._inputs.updated(asked).are_named:
            inference = super()._reshaped(asked, batch)
            self._knobs = None if inference.ok else self._knobs
            return inference
        before, (knobs, sizes) = (self.model, self._inputs), self._turned(asked)
        is_ok, are_given = False, bool(asked.shapes)
        try:
            model, asked = knobs.set(sizes)
            if model is not self.model:  # a variable has another shape
                self.model, self._inputs, self._plans = model, self._inputs.of(model), None
            if batch is not None and not are_given:  # the inputs have their batch, as symbols name no shapes
                self._inputs, asked = self._inputs.updated(asked), Inputs()
            inference = super()._reshaped(asked, batch)
            is_ok = inference.ok
        finally:
            if not is_ok and (self.model is not before[0] or self._inputs is not before[1]):
                (self.model, self._inputs), self._plans = before, None
        if is_ok:
            self._knobs = knobs, sizes
        return inference

    def _batched(self, asked: Inputs, batch: Described) -> tuple[Inputs, list[Diagnostic]]:
        from irshape.answers.batch.axes import batched
        from irshape.answers.batch.traces import FollowingEngine, prove
        from irshape.answers.signature.discovery import Discovery

        def new_engine() -> FollowingEngine:
            return FollowingEngine(self.model, self._weights, self._opaque, work=self._work)

        found, notes, self._axes = batched(new_engine, self._inputs, asked, batch)
        doubts = [one for one in notes if one.severity == ERROR]
        if not doubts:
            return found, notes
        # Open sizes have nothing to do with each other; the signature says which of them belong together.
        discovery = Discovery(self.model, self._inputs.updated(asked), self._weights, self._opaque, keeps_named=True)
        shapes = discovery.question.shapes
        names = {(shapes[node] or found.shapes[node] or ())[axis].name for node, axis in self._axes.items()}
        if len(names) > 1 or "" in names or prove(discovery.run(discovery.ranges, kind=FollowingEngine), *names).doubts:
            return found, notes
        told = ", ".join(f"{node.name}{shape_text(shape)}" for node, shape in shapes.items())
        text = f"the samples stay apart where the sizes of the inputs fit together: {told}"
        return found, [*[one for one in notes if one.severity != ERROR], Diagnostic("N101", text, doubts[0].where)]

    def _turned(self, asked: Inputs) -> tuple[Knobs, Sizes]:
        """The symbols, and their sizes: those of the reshape before count, too, unless this one also gives shapes."""
        from irshape.answers.signature.knobs import Knobs

        if self._knobs is not None and not asked.shapes:
            knobs, sizes = self._knobs
            return knobs, {**sizes, **asked.sizes}
        return Knobs(self.model, self._inputs.updated(asked), self._weights, self._opaque), asked.sizes
