"""A model whose inputs take one shape after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from irshape.inference.engine import Engine
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import (
    InputError,
    Inputs,
    ShapeLike,
    Shapes,
    Symbols,
    asked_inputs,
    parse_batch,
    recorded_inputs,
    shapes_by_name,
)
from irshape.inference.verdict import infer as infer_all
from irshape.model.load import loaded
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.limits import Work
from irshape.shape.notation import Described

if TYPE_CHECKING:
    from irshape.inference.plan.plan import Numbers, Plan
    from irshape.xml.source import Source
    from irshape.xml.weights import WeightsChoice

# Shapes that are never asked for again would fill the memory; beyond so many answers and sizes for each layer the tables are begun anew.
_MOST_REMEMBERED = 64
_LEAST_LAYERS = 100
# So many plans are made for an engine: conditions that hold one time and not the next would cost a plan each time.
_MOST_PLANS = 4


class Session:
    """A graph whose inputs can be given other shapes, again and again: an engine that stays. `irshape.api.session` describes its use."""

    def __init__(
        self,
        source: Source | Model,
        *,
        weights: WeightsChoice = None,
        opaque: Iterable[str] = (),
        work: Work | None = None,
        like: Engine | None = None,
    ) -> None:
        """Raises `OSError` if the file cannot be read. `work` holds the steps that are left to the question that the session serves.

        Its engines are `like` one of the model that is given.
        """
        self.model, self._weights = loaded(source, weights)
        self._opaque = frozenset(opaque)
        self._like = like
        self._work = work or Work(self.model.document.limits.work)
        self._inputs, self._remarks = recorded_inputs(self.model)
        self._plans: _Plans | None = None

    @property
    def plan(self) -> Plan | None:
        """The plan that answered last, or was made last; None until the inputs have changed twice."""
        return self._plans.found[0] if self._plans and self._plans.found else None

    def _new_engine(self) -> Engine:
        return Engine(self.model, self._weights, self._opaque, work=self._work, like=self._like)

    def __repr__(self) -> str:
        return f"<Session of {self.model!r}>"

    def infer(self) -> Inference:
        """The element type and shape of every port, for the shapes that the inputs have now."""
        self._work.renew()
        return conclude(self.attempt(self._inputs), remarks=self._remarks, asked=self._inputs)

    def reshape(
        self, inputs: Shapes | None = None, /, *, symbols: Symbols | None = None, batch: int | str | None = None, **named: ShapeLike
    ) -> Inference:
        """Give inputs other shapes; those that are not named keep theirs. Raises `InputError`."""
        self._work.renew()
        asked = asked_inputs(self.model, {**shapes_by_name(self.model, inputs), **named}, symbols)
        return self._reshaped(asked, batch)

    def _reshaped(self, asked: Inputs, batch: int | str | None) -> Inference:
        """Give inputs the asked shapes, if the model can have them."""
        notes: list[Diagnostic] = []
        if batch is not None:
            asked, notes = self._batched(asked, parse_batch(batch))
        return self._answered(asked, notes)

    def _answered(self, asked: Inputs, notes: Sequence[Diagnostic]) -> Inference:
        """The inference with the asked shapes. They become those of the session if the model can have them."""
        wanted = self._inputs.updated(asked)
        inference = conclude(self.attempt(wanted), remarks=[*self._remarks, *notes], asked=wanted)
        self._inputs = wanted if inference.ok else self._inputs
        return inference

    def _batched(self, asked: Inputs, batch: Described) -> tuple[Inputs, list[Diagnostic]]:
        """The asked shapes, with a batch size for the inputs that they do not name, and remarks about it."""
        raise NotImplementedError

    def attempt(self, inputs: Inputs) -> Engine:
        """The engine after a pass with these shapes, which do not become those of the session. Raises InputError.

        A symbol that is given another range needs tables of its own. While the engine works, the session has none, so that an interrupt
        leaves nothing half made: then the next attempt begins anew.
        """
        plans, self._plans = self._plans or _Plans(self._new_engine()), None
        try:
            plans = self._attempted(plans, inputs)
        except InputError:
            self._plans = plans
            raise
        self._plans = plans
        return plans.engine

    def _attempted(self, plans: _Plans, inputs: Inputs) -> _Plans:
        """The plans, and the engine that they are for, after a pass."""
        if plans.is_full:
            plans = _Plans(self._new_engine())
        shapes = inputs.numbers()
        if shapes is not None and plans.answer(shapes):
            return plans
        try:
            question = inputs.question(plans.engine)
        except InputError:
            plans = _Plans(self._new_engine())
            question = inputs.question(plans.engine)
        infer_all(plans.engine, question)
        plans.measure()
        if shapes is not None and not any(found.severity == ERROR for found in plans.engine.diagnostics):
            plans.learn(shapes)
        return plans


class _Plans:
    """The plans for the reshapes of one engine, the last one that answered first.

    A plan is made from the second change of inputs on, for all axes that have changed, where no plan answers. None is made of sizes
    of 0, for which rules make exceptions.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.found: list[Plan] = []
        self.is_full = False
        self._left = _MOST_PLANS
        self._before: dict[int, Numbers] = {}
        self._changed: dict[tuple[int, int], None] = {}

    def answer(self, shapes: dict[int, Numbers]) -> bool:
        """Let a plan make the run of the engine for these shapes of Parameters, by node; false if none does."""
        engine = self.engine
        for plan in self.found:
            run = plan.run(shapes, engine)
            if run is not None:
                if not engine.take(run, shapes, examines=plan.examines):
                    return False
                if plan.asks or plan.opaque or plan.hull:  # the answer leaves outcomes and sizes in the tables
                    self.measure()
                if plan is not self.found[0]:
                    self.found.remove(plan)
                    self.found.insert(0, plan)
                return True
        return False

    def measure(self) -> None:
        """See whether the tables of the engine hold so much that they are begun anew."""
        self.is_full = self.engine.remembered > _MOST_REMEMBERED * max(len(self.engine.model), _LEAST_LAYERS)

    def learn(self, shapes: dict[int, Numbers]) -> None:
        """See what a pass without errors has changed, and make a plan if something changed before."""
        before, self._before = self._before, shapes
        if {index: len(shape) for index, shape in before.items()} != {index: len(shape) for index, shape in shapes.items()}:
            self._changed = {}
            return
        is_second = bool(self._changed)
        for index, shape in shapes.items():
            if before[index] is not shape:
                self._changed |= {(index, axis): None for axis, size in enumerate(shape) if size != before[index][axis]}
        if is_second and self._left and all(shapes[index][axis] for index, axis in self._changed):
            from irshape.inference.plan.making import make_plan

            plan = make_plan(self.engine, shapes, list(self._changed))
            self._left = 0 if plan is None else self._left - 1
            if plan is not None:
                self.found.insert(0, plan)
