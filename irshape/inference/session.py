"""A model whose inputs take one shape after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from irshape.inference.engine import Engine
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import InputError, Inputs, Shapes, asked_inputs, note_changed_ranks, parse_batch, recorded_inputs
from irshape.inference.verdict import infer as infer_all
from irshape.model.load import load, weights_of
from irshape.model.model import Model
from irshape.report.diagnostic import Diagnostic
from irshape.shape.limits import DEFAULT, Limits
from irshape.xml.reader import Source

# Shapes that are never asked for again would fill the memory; beyond so many answers for each layer the tables are begun anew.
_MOST_REMEMBERED = 64


class Session:
    """A model whose inputs can be given other shapes, again and again.

    What was found for one shape is remembered for the next, so that only layers whose inputs change are worked out anew. A
    session belongs to one thread at a time; each answer stays as it is, whatever comes after it.
    """

    def __init__(
        self,
        source: Source | Model,
        *,
        weights: Any = None,
        opaque: Iterable[str] = (),
        opset: str | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        """What is given is that of `irshape.infer`. Raises `OSError` if the file cannot be read."""
        self.model = load(source, opset=opset, limits=limits)
        self._weights = weights_of(self.model.document, weights)
        self._opaque = frozenset(opaque)
        self._inputs, self._remarks = recorded_inputs(self.model)
        self._engine = self._new_engine()

    def _new_engine(self) -> Engine:
        return Engine(self.model, self._weights, self._opaque)

    def infer(self) -> Inference:
        """The element type and shape of every port, for the shapes that the inputs have now."""
        return conclude(self.attempt(self._inputs), remarks=self._remarks)

    def reshape(
        self,
        inputs: Shapes | None = None,
        /,
        *,
        symbols: Mapping[str, str] | None = None,
        batch: int | str | None = None,
        **named: Any,
    ) -> Inference:
        """Give inputs other shapes, by name (`image="[1,3,H,W]"`) or as a mapping; those that are not named keep theirs.

        `symbols` gives the ranges of symbols, `batch` the size of the batch axis of the inputs that are not named; a note says
        which axis that is, and how it is known. Raises `InputError` if an input does not exist, a shape does not parse or the
        batch axis is not clear. If the model cannot have these shapes, the errors of the answer are everything that stands
        in the way, with the constants at fault; then the session stays as it was.
        """
        asked = asked_inputs(self.model, {**(inputs or {}), **named}, symbols or {})
        notes: list[Diagnostic] = []
        if batch is not None:
            from irshape.inference.batch import batched

            asked, notes = batched(self._new_engine, self._inputs, asked, parse_batch(batch))
        wanted = self._inputs.updated(asked)
        inference = conclude(self.attempt(wanted), remarks=[*self._remarks, *notes])
        if inference.ok:
            self._inputs = wanted
            return inference
        from irshape.inference.blockers import blockers

        self._engine.diagnostics = blockers(self._new_engine, self._engine, self._inputs, wanted)
        return conclude(self._engine, remarks=[*self._remarks, *notes, *note_changed_ranks(self._engine)])

    def attempt(self, inputs: Inputs) -> Engine:
        """The engine after a pass with these shapes, which do not become those of the session. Raises InputError.

        A symbol that is given another range needs tables of its own.
        """
        engine = self._engine
        if engine.remembered > _MOST_REMEMBERED * len(self.model):
            engine = self._new_engine()
        try:
            inputs.apply(engine)
        except InputError:
            engine = self._new_engine()
            inputs.apply(engine)
        infer_all(engine)
        self._engine = engine
        return engine
