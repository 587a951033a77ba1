"""A model with other sizes: whatever holds an old size is changed, with a proof, or the reason why not is told.

The pass over the rewritten model is the last word: `irshape.reshaping.session` infers it with the sizes that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from irshape.answers.batch.proof import sizes_of
from irshape.editing.draft import Draft
from irshape.editing.layers import layer_of
from irshape.inference.engine import Engine
from irshape.inference.inputs import Inputs
from irshape.reshaping.bench import Bench, Doubt, Mend, Refusal
from irshape.reshaping.walk import Walk, Witness
from irshape.reshaping.wish import Wish
from irshape.shape.dim import evaluate
from irshape.shape.shape import format_shape

if TYPE_CHECKING:
    from irshape.model.model import Model
    from irshape.xml.weights import Weights


class Rewriting(NamedTuple):
    """A rewritten model with its weights, and what was done.

    `mends` are the changes, `choices` the layers for which another formula fits as well, `kept` the numbers that stay although an axis is
    open, and `unproven` the layers of which it is not known whether they keep the batch.
    """

    model: Model
    weights: Weights | None
    mends: list[Mend]
    choices: list[Doubt]
    kept: list[Doubt]
    unproven: list[Doubt]

    @property
    def doubts(self) -> list[tuple[str, Doubt]]:
        """All that the file does not decide, each with the code of the fault that it is."""
        return [*(("S208", one) for one in (*self.choices, *self.kept)), *(("P111", one) for one in self.unproven)]


class Rewriter:
    """Rewrites a model. `new_engine` makes engines of it, `present` are the recorded inputs, `witness` is another export."""

    def __init__(self, new_engine: Callable[[], Engine], present: Inputs, asked: Wish, witness: Witness | None = None) -> None:
        self._new_engine = new_engine
        self._wish = asked
        self._witness = witness
        before = new_engine()
        before.run(present.question(before))
        self._recorded = before.slots
        self._faults = frozenset([(one.where.layer_id or "", one.code) for one in before.diagnostics])

    def walked(self) -> Walk:
        """A walk that has reached the end: without equations between formulas if possible, else with them. Raises `Refusal`."""
        walk = self._walk(is_strict=True)
        try:
            walk.run()
        except Refusal:
            walk = self._walk(is_strict=False)
            walk.run()
        return walk

    def _walk(self, *, is_strict: bool) -> Walk:
        engine = self._new_engine()
        engine.run(self._wish.inputs.question(engine))
        draft, wish = Draft(engine.model, engine.weights, engine.opaque, engine), self._wish
        if wish.batch is not None and any(node.type == "Range" for node in engine.model.nodes):  # indices of samples are computed
            sizes = sizes_of(engine.model)
            draft.facts.follow([value for item in draft.state.in_order for value in item.outputs if value.slot in sizes])
        bench = Bench(draft, self._recorded, wish.recorded, wish.batch, wish.asked)
        return Walk(bench, self._faults, self._witness, is_strict=is_strict)

    def rewrite(self) -> Rewriting:
        """The rewritten model. Raises `Refusal`. Other options are tried to the end, and listed."""
        walk = self.walked()
        bench, draft = walk.bench, walk.bench.draft
        has_sizes = any(name != self._wish.batch for name in self._wish.recorded)
        choices = [_doubt(bench, *one) for one in walk.alternatives()] if has_sizes else []
        if has_sizes:
            choices += [_degenerate(bench, name) for name, size in self._wish.recorded.items() if size == 1 and name != self._wish.batch]
        notes = bench.notes
        if notes.mends:
            from irshape.reshaping.folding import fold

            _prove(bench)
            if self._wish.is_static:
                self._make_static(draft)
                fold(draft)
            for item in draft.dead():
                if item not in walk.dead:
                    draft.state.leave(item)
        model, weights = draft.built() if notes.mends else (draft.model, draft.original)
        undecided = {one.key for one in choices}
        mends = [one._replace(kind="chosen") if one.key in undecided else one for one in notes.mends]
        kept, unproven = (list(dict.fromkeys(one)) for one in (notes.kept, notes.unproven))
        return Rewriting(model, weights, mends, choices, kept, unproven)

    def _make_static(self, draft: Draft) -> None:
        """Give the inputs the numbers that are asked for."""
        for node in self._wish.inputs.shapes:
            item = draft.state.items[node.id]
            shape = draft.facts.of(item.outputs[0]).shape
            sizes = None if shape is None else tuple([evaluate(size, self._wish.asked) for size in shape])
            layer_of(draft, item).set(shape=format_shape(sizes))


def _doubt(bench: Bench, item: Any, taken: str, other: str) -> Doubt:
    return Doubt(*bench.place(item), f"{item!r} may give {taken} or {other}")


def _degenerate(bench: Bench, name: str) -> Doubt:
    """A size that was 1 leaves open which axes of size 1 follow it."""
    node = bench.draft.model.parameters[0]
    return Doubt(node.name, node.type, node.key, node.line, f"{name} is 1 in the file, so nothing tells which axes of size 1 follow {name}")


def _prove(bench: Bench) -> None:
    """Each constant that was made again has the bytes of before at the recorded sizes. Raises `Refusal` for one that has not."""
    import numpy as np

    from irshape.reshaping.folding import Folding

    folding = Folding(bench.draft, bench.recorded_sizes)
    for item, tensor in bench.notes.proofs:
        made, array = folding.of(tensor._value), layer_of(bench.draft, item).data
        is_real = array.dtype.kind == "f"
        if made is None or made.dtype != array.dtype or not np.array_equal(np.broadcast_to(made, array.shape), array, equal_nan=is_real):
            raise Refusal(item, "is not the same at the recorded sizes when it is made again", item)
