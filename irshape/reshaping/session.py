"""A session that grants a reshape only if it holds, rewrites the model if that is asked for, and says what is baked in if not.

A size that was asked to be open must have many values after the pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import zip_longest
from math import inf
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from irshape.answers.wording import spoken
from irshape.editing.state import EditError, Item
from irshape.inference import session as inner
from irshape.inference.engine import Engine
from irshape.inference.indices import beyond
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import (
    UNNAMED,
    InputError,
    Inputs,
    ShapeLike,
    Shapes,
    Symbols,
    asked_inputs,
    described_shape,
    note_changed_ranks,
)  # fmt: skip
from irshape.inference.run import Guard
from irshape.model.build import place
from irshape.model.finding import end_name
from irshape.model.model import Model, Node
from irshape.report.diagnostic import ERROR, Diagnostic, Diagnostics
from irshape.report.text import counted
from irshape.reshaping.ways import settles
from irshape.shape.dim import Dim, Size, formula_text, symbols
from irshape.shape.guard import Requirement
from irshape.shape.notation import Described, SymbolRange, shape_text
from irshape.shape.remainders import Known
from irshape.shape.reported import Reported
from irshape.xml.weights import WeightsError

if TYPE_CHECKING:
    from irshape.answers.signature.knobs import Knobs, Sizes
    from irshape.reshaping.bench import Doubt, Mend, Refusal, Witness
    from irshape.reshaping.rewriting import Rewriter
    from irshape.reshaping.ways import Apart
    from irshape.reshaping.wish import Wish


_CONSTANTS: Final = ("Const", "Constant")
_HINT: Final = "ask for this size, or add --rewrite, which changes whatever holds the old size"


class Opened(NamedTuple):
    """The sizes that a reshape changes: axes of inputs by the id of the layer, and symbols. Each must have all the values asked for."""

    axes: Mapping[int, Sequence[int]]
    names: Collection[str]


def unmet(
    engine: Engine, opened: Opened, hint: str = _HINT, guards: Sequence[Guard] | None = None, file: Model | None = None
) -> list[Diagnostic]:
    """The errors of sizes that a pass cannot have although no layer fails. `hint` is the next step.

    `guards` are what the pass demands in a simpler form, if it is known. `file` is the model that was rewritten, if the engine has one that
    was: errors name its layers.
    """
    found = [_refused(one) for one in (*engine.diagnostics, *beyond(engine)) if one.code == "R401"]
    asked = list(_sizes_of(engine, opened.axes))
    sizes = [(node, size) for node, size in asked if isinstance(size, Dim)]
    given = {size for _, size in asked if isinstance(size, int)}
    known = {*opened.names}.union(*[symbols(size) for _, size in sizes])
    if not known:
        return found
    guards = [guard for guard in guards or engine.guards if not guard.branch and not guard.is_premise]
    told: set[str] = set()
    facts: Known | None = None
    for guard in guards:
        dim, number = guard.requirement.tied() or (None, None)
        if dim is not None and symbols(dim) & known and str(guard.requirement) not in told:
            facts = facts or Known(engine.scope, [Requirement("ge", one, 0, "", "", {}) for _, one in sizes])
            if not facts.decided(guard.requirement) or (number is not None and settles(dim, number)):
                continue  # multiples, or all large sizes, meet it
            told.add(str(guard.requirement))
            if number is not None and (number in given or any(number - size in given for size in given)):
                number = None  # it was asked for, such as P + S, and is no constant's
            found.append(_held(engine, guard._node, f"{spoken(str(guard.requirement))}: {guard.requirement.message}", number, hint, file))
    if not told and guards:
        reported = Reported(engine.scope, [guard.requirement for guard in guards])
        for node, size in sizes:
            low, high = reported.bounds(size)
            if low == high:
                guard = _tightest(engine, guards, size)
                told_of = f"{spoken(str(guard.requirement))}: {guard.requirement.message}"
                why = f"{told_of}; so {formula_text(size)} of input {end_name(node)!r} can only be {low}"
                found.append(_held(engine, guard._node, why, None, hint, file))
    return found


def _example(model: Model, engine: Engine) -> str:
    """The first input with an open size in the model, with the numbers that its constants tell of an export, and letters for others."""
    node = next(node for node in model.parameters if any(one.low != one.high for one in described_shape(node) or ()))
    reported = Reported(engine.scope, [guard.requirement for guard in engine.guards])
    tied: dict[Size, Size] = dict(one for guard in engine.guards if (one := guard.requirement.tied()) is not None and one[1] > 1)
    bounds = [(tied.get(size, size), *reported.bounds(size)) for size in engine.slots[node.first_slot].shape or ()]
    return f"{end_name(node)}[{','.join(str(low if low == high else size) for size, low, high in bounds)}]"


def _tightest(engine: Engine, guards: Sequence[Guard], size: Size) -> Guard:
    """The guard that leaves a size one value: alone, or as the first without which the size would have more; bounds come last."""
    guards = sorted(guards, key=lambda one: one.requirement.kind == "ge")
    known = Reported(engine.scope, [guard.requirement for guard in guards]).bounds(size)
    for guard in guards:
        if Reported(engine.scope, [guard.requirement]).bounds(size) == known:
            return guard
    for guard in guards:
        if Reported(engine.scope, [one.requirement for one in guards if one is not guard]).bounds(size) != known:
            return guard
    return guards[0]


def _sizes_of(engine: Engine, axes: Mapping[int, Sequence[int]]) -> Iterator[tuple[Node, Size]]:
    """The sizes of these axes."""
    for node in engine.model.parameters:
        shape = engine.slots[node.first_slot].shape or ()
        yield from [(node, shape[axis]) for axis in axes.get(node.id, ()) if axis < len(shape)]


def _held(engine: Engine, node: Node, why: str, number: int | None, hint: str, file: Model | None) -> Diagnostic:
    """The error of a layer that leaves a size one value, with the constant that has the number."""
    own = _in_file(node, file)
    where = place(own.model.document, own.layer, own.layer.offset)
    constant = None if number is None else _constant(engine, node, number, file)
    text = f"{own.type} {own.name!r}{'' if own.type == node.type else ', as it was rewritten,'} demands {why}"
    if constant is not None:
        spot = place(constant.model.document, constant.layer, constant.layer.offset)
        text += f"; {constant.type} {constant.name!r} (line {spot.line}) holds {number}"
        return Diagnostic("S207", text, where, hint=hint, related=(spot,))
    return Diagnostic("S207", text, where, hint=hint)


def _in_file(node: Node, file: Model | None) -> Node:
    """The layer of the file that a layer of a rewritten model is, or was made for: its name begins with the name of that layer."""
    name = node.name
    while file is not None and name:
        if (found := next((one for one in file.nodes if one.name == name and one.type not in _CONSTANTS), None)) is not None:
            return found
        name = name.rpartition("/")[0]
    return node


def _same(node: Node, file: Model) -> Node | None:
    """The layer of a file that a rewriting has left as it was."""
    return next((one for one in file.of_type(node.type) if (one.id, one.name) == (node.id, node.name)), None)


def _constant(engine: Engine, node: Node, number: Size, file: Model | None) -> Node | None:
    """The nearest constant of the file before a layer that has a number as an element or as a size."""
    model, pending, seen = engine.model, [node], {node}
    while pending:
        one = pending.pop(0)
        for slot in one.sources:
            source = model.nodes[model.producers[slot]] if 0 <= slot < len(model.producers) else None
            if source is None or source in seen:
                continue
            seen.add(source)
            if source.type in _CONSTANTS:
                fact, own = engine.slots[source.first_slot], source if file is None else _same(source, file)
                if own is not None and number in (*(fact.shape or ()), *(fact.elements or ())):
                    return own
            elif len(seen) < _MOST_NEAR:
                pending.append(source)
    return None


_MOST_NEAR: Final = 64


def _refused(one: Diagnostic) -> Diagnostic:
    """A fault for which no size is valid, as the error that it is for who asks for these sizes."""
    return Diagnostic(one.code, one.message, one.where, severity=ERROR, hint=one.hint, related=one.related)


Choose = Literal["first"] | None

# Images have sizes that are multiples of one of these, by which a net divides them, the usual one first.
_STEPS = (32, 64, 16)
# So many causes are told one by one.
_MOST_CAUSES = 8
_COMPARE = "compare the outputs of a batch with those of single samples; if they agree, add --choose first"
_LIMITED = "ask for sizes up to which every table has rows: --set {}"
_OTHER = "choose other sizes, or convert the model again"
_TELL = "choose other sizes, or convert the model again at another size and give this second export with --like: it may show the formula"
_RECORDED = "if an export for one size has open inputs, give its sizes, with numbers for letters: --recorded {}; else ask for this size"
_TRY = "add --rewrite, which changes whatever holds the old size"


class How(NamedTuple):
    """How a reshape goes on where constants hold the old sizes.

    With `rewrite`, whatever holds an old size is changed. `like` is a second export at other sizes, and decides what this file does not.
    With `choose="first"` the first way is taken where nothing decides. `recorded` are the sizes for which the file was exported, if its
    inputs do not say so.
    """

    rewrite: bool = False
    like: Any = None
    choose: Choose = None
    recorded: Shapes | None = None


_AS_IT_IS = How()


class Session(inner.Session):
    """A session whose answers hold: a size that is granted can be had.

    It also takes sizes for the symbols of the signature. They hold until the symbols, or the inputs, get others.
    """

    _how = _AS_IT_IS
    _given: Collection[str] = ()  # the symbols whose sizes are asked for
    _knobs: tuple[Knobs, Sizes] | None = None
    _axes: Mapping[Node, int] = MappingProxyType({})  # the axes of the batch that is asked for

    def reshape(  # type: ignore[override]
        self,
        inputs: Shapes | None = None,
        /,
        *,
        symbols: Symbols | None = None,
        batch: int | str | None = None,
        how: How = _AS_IT_IS,
        **named: ShapeLike,
    ) -> Inference:
        """Give inputs other shapes; those that are not named keep theirs. Raises `InputError`."""
        if how.recorded:
            self._work.renew()
            recorded = asked_inputs(self.model, how.recorded, None)
            for node, shape in recorded.shapes.items():
                if any(one.symbols for one in shape or ()):
                    raise InputError(f"the recorded shape of {end_name(node)!r} has letters; give the numbers of the export")
                own = described_shape(node)
                if shape and own and any(not (was.low <= one.low and one.high <= was.high) for one, was in zip(shape, own, strict=False)):
                    told = f"the recorded shape {shape_text(shape)} of {end_name(node)!r} contradicts the file, which has {shape_text(own)}"
                    raise InputError(f"{told}: only sizes that the file leaves open need a recorded one")
            if not (found := self._reshaped(recorded, None)).ok:
                return found
        self._how = how
        try:
            found = super().reshape(inputs, symbols=symbols, batch=batch, **named)
        finally:
            self._how, self._axes = _AS_IT_IS, {}
        _say_axes(found)
        return found

    def reshape_once(self, inputs: Shapes | None, symbols: Symbols | None, batch: int | str | None, how: How) -> Inference:
        """Reshape, and judge what a session that reshapes again and again does not: samples that mix, and a second inference."""
        before = self._inputs
        found = self.reshape(inputs, symbols=symbols, batch=batch, how=how)
        if found.ok and batch is None and found.rewriting is None:
            from irshape.answers.batch.axes import resized

            found.report(resized(before, found))
            _say_axes(found)
        if found.ok and batch is not None and str(batch).isdecimal():
            found.report(_open_states(found))
        if found.ok:
            from irshape.answers.policies import refuse_outgrown

            refuse_outgrown(found)
        return found

    def _reshaped(self, asked: Inputs, batch: int | str | None) -> Inference:
        self._given = asked.symbols.keys() | asked.formulas.keys()
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
        if self._how.rewrite:  # whether the rewritten model keeps the batch, the rewriting proves; what inputs keep has a hint
            return found, [one for one in notes if one.severity != ERROR and one.hint]
        doubts = [one for one in notes if one.severity == ERROR]
        present = self._inputs.updated(asked).shapes
        before = [(present.get(node) or described_shape(node) or ())[axis] for node, axis in self._axes.items()]
        if not doubts or (batch.high == 1 and all(size.low <= 1 for size in before)):  # nothing is mixed into a single sample
            return found, [one for one in notes if one.severity != ERROR]
        # Open sizes have nothing to do with each other; the signature says which of them belong together.
        discovery = Discovery(self.model, self._inputs.updated(asked), self._weights, self._opaque, keeps_named=True)
        shapes = discovery.question.shapes
        names = {(shapes[node] or found.shapes[node] or ())[axis].name for node, axis in self._axes.items()}
        if len(names) > 1 or "" in names or prove(discovery.run(discovery.ranges, kind=FollowingEngine), *names).doubts:
            return found, notes
        told = ", ".join(f"{end_name(node)}{shape_text(shape)}" for node, shape in shapes.items())
        text = f"the samples stay apart where the sizes of the inputs fit together: {told}"
        return found, [*[one for one in notes if one.severity != ERROR], Diagnostic("N101", text, doubts[0].where)]

    def _turned(self, asked: Inputs) -> tuple[Knobs, Sizes]:
        """The symbols, and their sizes: those of the reshape before count, too, unless this one also gives shapes."""
        from irshape.answers.signature.knobs import Knobs

        if self._knobs is not None and not asked.shapes:
            knobs, sizes = self._knobs
            return knobs, {**sizes, **asked.sizes}
        return Knobs(self.model, self._inputs.updated(asked), self._weights, self._opaque), asked.sizes

    def _opened(self, asked: Inputs) -> Opened:
        """The sizes that are not the present ones. A size that only has the name that the signature gives it is the present one."""
        kept = {*self._inputs.called.values(), *asked.called.values()}.difference(self._given)
        axes: dict[int, list[int]] = {}
        for node, shape in asked.shapes.items():
            present = self._inputs.shapes.get(node, described_shape(node))
            pairs = enumerate(zip_longest(shape or (), present or ()))
            axes[node.id] = [axis for axis, (size, was) in pairs if size is not None and size != was and size.name not in kept]
        return Opened(axes, asked.symbols.keys() - kept)

    def _answered(self, asked: Inputs, notes: Sequence[Diagnostic]) -> Inference:
        wanted = self._inputs.updated(asked)
        engine = self.attempt(wanted)
        opened = self._opened(asked)
        broken = unmet(engine, opened)
        if self._how.rewrite:
            from irshape.reshaping.wish import keep_ranks

            keep_ranks(asked)
            return self._rewritten(asked, wanted, opened, notes)
        if any(note.severity == ERROR for note in notes):
            return conclude(engine, remarks=[*self._remarks, *notes], asked=wanted)
        if not broken and not any(one.severity == ERROR for one in engine.diagnostics):
            inference = conclude(engine, remarks=[*self._remarks, *notes], asked=wanted)
            self._inputs = wanted if inference.ok else self._inputs
            return inference
        engine.diagnostics = self._causes(engine, asked, wanted, broken)
        return conclude(engine, remarks=[*self._remarks, *notes, *note_changed_ranks(engine)])

    # Rewriting.

    def _rewritten(self, asked: Inputs, wanted: Inputs, opened: Opened, notes: Sequence[Diagnostic]) -> Inference:
        """The inference of the rewritten model, with which the session goes on; or the errors that say why there is none."""
        from irshape.reshaping.bench import Refusal

        rewriter, wish = self._rewriter(asked, wanted)
        try:
            rewriting = rewriter.rewrite()
        except EditError as error:
            raise InputError(str(error)) from None
        except WeightsError as error:
            raise InputError(f"the rewrite cannot read a constant: {error.message}; {_beside(error, self._how.like)}") from None
        except Refusal as error:
            left = self._advise(error, rewriter, asked, wanted, wish)
            return self._refused(wanted, [_refusal(error, left)], notes)
        chosen = rewriting.chosen
        for node, axis in self._axes.items() if wish.batch else ():
            told = f"the batch is axis {axis} of {end_name(node)!r}: every layer keeps its samples apart"
            chosen.append(Diagnostic("N101", told, place(self.model.document, node.layer, node.layer.offset)))
        before = self.model, self._weights, self._inputs
        now = Inputs({rewriting.model.node(node.id): shape for node, shape in wanted.shapes.items()}, *wanted[1:])
        self.model, self._weights, self._inputs, self._plans = rewriting.model, rewriting.weights, now, None
        engine = self.attempt(now)
        if unmet(engine, opened):  # the walk has sizes of at least 1: a demand may fail only for a size of 0
            ranges = {name: one for name, one in wish.inputs.symbols.items() if name in now.names}
            self._inputs = now = now._replace(symbols={**ranges, **now.symbols})
            engine = self.attempt(now)
        engine.diagnostics = _with(engine.diagnostics, unmet(engine, opened, self._other(before[0], engine), file=before[0]))
        is_asked = bool(rewriting.doubts) and self._how.choose is None
        if not is_asked:
            engine.diagnostics = _with(engine.diagnostics, self._contradicted(rewriter, engine, now, before[0]))
        remarks = [*self._remarks, *notes, *chosen]
        inference = conclude(engine, remarks=remarks, asked=now)
        # Several demands together may leave one value.
        if inference.ok and (errors := unmet(engine, opened, self._other(before[0], engine), inference.guards, before[0])):
            engine.diagnostics = _with(engine.diagnostics, errors)
            inference = conclude(engine, remarks=remarks, asked=now)
        inference.rewriting = rewriting if rewriting.mends else None
        if is_asked or not inference.ok:
            (self.model, self._weights, self._inputs), self._plans = before, None
        if is_asked:
            advice = None if inference.ok else self._other(before[0], engine)
            near = [size for fact in engine.slots for size in fact.shape or ()]
            doubts = [
                _doubtful(code, one, apart, wish, rewriter.limited(one.what), advice, lacks=rewriter.lacks(one))
                for (code, one), apart in zip(rewriting.doubts, rewriter.told_apart(rewriting, near), strict=True)
            ]
            inference = self._refused(wanted, [*doubts, *[one for one in inference.diagnostics if one.severity == ERROR]], notes)
            inference.rewriting = rewriting
        return inference

    def _contradicted(self, rewriter: Rewriter, engine: Engine, now: Inputs, file: Model) -> list[Diagnostic]:
        """The error of the first layer that the second export contradicts."""
        alone = copy(self)
        alone._plans = None
        found = rewriter.contradicted(engine, alone.attempt, now)
        if found is None:
            return []
        node, told, hint = _in_file(found[0], file), *found[1:]
        where = place(node.model.document, node.layer, node.layer.offset)
        return [Diagnostic("S207", f"{node.type} {node.name!r} {told}", where, hint=hint)]

    def _other(self, model: Model, engine: Engine | None = None) -> str:
        """The advice where the file does not tell what to do: to say for which sizes it was exported, if its inputs are open."""
        if self._how.recorded or all(one.low == one.high for node in model.parameters for one in described_shape(node) or ()):
            return _OTHER if self._how.like is not None or not self._how.rewrite else _TELL
        return _RECORDED.format(quote(_example(model, engine or self.attempt(self._inputs))))

    def _advise(self, error: Refusal, rewriter: Rewriter, asked: Inputs, wanted: Inputs, wish: Wish) -> str | None:
        """Give a refusal its next steps, each of which is tried, and return the one about inputs and sizes, if there is one."""
        from irshape.reshaping.bench import BatchMixed

        is_mixed = isinstance(error, BatchMixed) and error.code is None
        limits = rewriter.limited(error.reason)
        left = _left(self.model, wish, rewriter) or (_LIMITED.format(limits) if limits else None)
        left = left or (self._multiples(asked, wanted, wish) if "//" in error.reason else None)
        if not left and is_mixed and wish.recorded.keys() > {wish.batch} and self._opens_batch():
            more = "; for the other sizes, too, give a second export (--like other.xml)" if self._how.like is None else ""
            left = f"--batch {wish.batch} alone opens the batch{more}"
        error.hint = left or error.hint or self._other(self.model)
        if error.first is not None and rewriter.grants(dict([error.first])):
            error.hint += f"; --set {error.first[0]}={error.first[1]} takes the first elements"
            if rewriter.is_shorter(error.first[0]):
                error.hint += ", more of them if you rewrite the other export and give this one with --like"
        if error.is_of_length and self._opens_batch():
            error.hint += "; --batch N alone opens the batch"
        return left

    def _opens_batch(self) -> bool:
        """Whether a rewriting that opens the batch alone is granted."""
        alone = copy(self)
        alone._plans = None
        try:
            return alone.reshape(batch="N", how=How(rewrite=True)).ok
        except InputError:
            return False

    def _multiples(self, asked: Inputs, wanted: Inputs, wish: Wish) -> str | None:
        """The advice to ask for multiples of a number, which layers divide without a rest; None if no such sizes are granted."""
        from irshape.reshaping.bench import Refusal

        names = _named_sizes(wish)
        for step in _STEPS if names else ():
            if all(wish.recorded[name] % step == 0 for name in names):
                shapes = {
                    node: shape and tuple([one._replace(factor=one.factor * step) if one.name in names else one for one in shape])
                    for node, shape in wanted.shapes.items()
                }
                try:
                    self._rewriter(asked, wanted._replace(shapes=shapes))[0].walked()
                except (Refusal, EditError, InputError, WeightsError):
                    continue
                return f"ask for sizes that the layers divide without a rest: --set {_multiples(wish, names, step)}"
        return None

    def _refused(self, wanted: Inputs, errors: Iterable[Diagnostic], notes: Sequence[Diagnostic]) -> Inference:
        """The inference with the wanted shapes, whose errors are these."""
        engine = self.attempt(wanted)
        engine.diagnostics = engine.diagnostics.replaced([one for one in engine.diagnostics if one.severity != ERROR], errors)
        self._plans = None
        return conclude(engine, remarks=[*self._remarks, *notes, *note_changed_ranks(engine)])

    def _rewriter(self, asked: Inputs, wanted: Inputs) -> tuple[Rewriter, Wish]:
        from irshape.reshaping.rewriting import Rewriter
        from irshape.reshaping.wish import batch_axes, wish

        before = self._new_engine()
        before.run(self._inputs.question(before))
        recorded = {node: before.slots[node.first_slot].shape for node in self.model.parameters}
        made = wish(wanted, recorded, self._axes or batch_axes(wanted, recorded))
        return Rewriter(self._new_engine, self._inputs, made, self._witness(made)), made

    def _witness(self, made: Wish) -> Witness | None:
        """What the second export says."""
        if self._how.like is None:
            return None
        from irshape.answers.matching import same_layers
        from irshape.editing.draft import Draft
        from irshape.reshaping.bench import Bench, Witness

        other = Session(self._how.like)
        engine = other.attempt(other._inputs)
        try:
            draft = Draft(engine.model, engine.weights, engine.opaque, engine)
        except EditError as error:
            path = other.model.document.path
            raise InputError(f"the other export{f' {path}' if path else ''} cannot be compared: {error}") from None
        items = {item.base: item for item in draft.state.in_order}
        partners: dict[Node | None, Item] = {node: items[there] for node, there in same_layers(self.model, engine.model).items()}
        bench, sizes = Bench(draft, engine.slots, {}, None, {}), dict[str, int]()
        for node, shape in made.inputs.shapes.items():
            seen = bench.shape(partners[node].outputs[0]) if node in partners else None
            if seen is None or len(seen) != len(shape or ()):
                told = ", ".join([f"{end_name(one)}{shape_text(described_shape(one) or ())}" for one in engine.model.parameters])
                raise InputError(
                    f"the other export has no input {end_name(node)!r} of rank {len(shape or ())}; its inputs: {told or 'none'}"
                )
            for axis, (one, size) in enumerate(zip(shape or (), seen, strict=True)):
                if one.name and isinstance(size, int):
                    sizes[one.name], rest = divmod(size - one.offset, one.factor)
                    if rest:
                        told = f"the size {one} is {size} in the other export, but no whole {one.name} gives {size}"
                        raise InputError(f"{told}: give an export of another size")
                elif isinstance(size, int) and one.low == one.high != size:
                    told = f"axis {axis} of {end_name(node)!r} is {size} in the other export, but it stays {one.low}"
                    raise InputError(f"{told}: open this axis, too, or export the model again with {one.low} there")
        names = {one.name for shape in made.inputs.shapes.values() for one in shape or () if one.name}
        is_same = sizes.items() <= made.recorded.items()
        if not sizes or (is_same and len(sizes) < len(names)):
            command = f"irshape reshape {other.model.document.path or 'other.xml'} --input SHAPE -o FILE"
            raise InputError(f"the sizes to change are all open in the other export; give them numbers first: {command}")
        if is_same:
            raise InputError("the other export has the same sizes as this file: export the model with other sizes")
        return Witness(bench, partners, sizes)

    # Blame.

    def _causes(self, engine: Engine, asked: Inputs, wanted: Inputs, broken: Sequence[Diagnostic]) -> Diagnostics:
        """The diagnostics of a reshape that is refused: what holds the old sizes first, and how many errors follow from that."""
        from irshape.reshaping.bench import Refusal

        errors = [one for one in (*engine.diagnostics, *broken) if one.severity == ERROR]
        places = {(one.code, one.where) for one in broken}
        others = [one for one in engine.diagnostics if one.severity != ERROR and (one.code, one.where) not in places]
        if not self.model.document.is_complete or self.model.document.is_example:
            return engine.diagnostics.replaced(others, errors)
        rewriter, wish = self._rewriter(asked, wanted)
        try:
            mends = rewriter.walked().bench.notes.mends
            causes = [_cause(mend) for mend in mends if mend.port != "elements"]  # the layer that reads them is a cause
            hint = _TRY
        except Refusal as error:
            hint, has_body = None, error.item.base is not None and bool(error.item.base.bodies)
            causes = [] if has_body else [_refusal(error, _left(self.model, wish, rewriter))]  # the walk does not enter bodies
        except (EditError, WeightsError):  # only the errors of the pass are known
            causes = []
        if not causes:
            return engine.diagnostics.replaced(others, errors)
        told = causes[:_MOST_CAUSES]
        if len(causes) > len(told):
            told[-1].message += f"; {counted(len(causes) - len(told), 'more layer')} with an old size"
        follow = [one for one in errors if one.where.layer_id not in {cause.where.layer_id for cause in causes}]
        if follow:
            told[-1].message += f"; {counted(len(follow), 'error')} {'follows' if len(follow) == 1 else 'follow'} from this"
        told[-1].hint = hint or told[-1].hint
        return engine.diagnostics.replaced(others, told)


def _open_states(inference: Inference) -> Iterator[Diagnostic]:
    """A note of the first variable whose batch no input decides."""
    for node in inference.model.of_type("ReadValue"):
        shape = inference.view(node).outputs[0].shape if node.layer.outputs else ()
        if shape and isinstance(shape[0], Dim):
            text = "the state keeps an open batch, which is 0 at the first inference, because a batch is given to inputs only"
            where = place(inference.document, node.layer, node.layer.offset)
            yield Diagnostic("N101", text, where, hint="irshape signature names it, and --set B=1 sets it with the inputs")
            return


def _say_axes(inference: Inference) -> None:
    """Add to messages whose formulas have a size without a name, `d0`, which axis of an input that is."""
    told = [(one, names) for one in inference.diagnostics if (names := re.findall(rf"\b{UNNAMED}\b", one.message))]
    if not told:
        return
    axes: dict[str, str] = {}
    for node in inference.model.parameters:
        for port in inference.view(node).outputs:
            for axis, size in enumerate(port.shape or ()):
                axes.setdefault(str(size), f"axis {axis} of {end_name(node)!r}")
    for one, names in told:
        known = [name for name in sorted({*names}) if name in axes and f"; {name} is " not in one.message]
        one.message += "".join([f"; {name} is {axes[name]}" for name in known])


def _with(diagnostics: Diagnostics, more: Iterable[Diagnostic]) -> Diagnostics:
    """The diagnostics with others in place of those at the same places with the same codes."""
    others = list(more)
    places = {(one.code, one.where) for one in others}
    return diagnostics.replaced([one for one in diagnostics if (one.code, one.where) not in places], others)


def _left(model: Model, wish: Wish, rewriter: Rewriter) -> str | None:
    """The advice to name the sizes of the inputs that keep a size which others no longer have; None if there are none.

    An input that has the same size in the second export does not follow the others.
    """
    named = {was: str(wish.asked.get(name, name)) for name, was in wish.recorded.items() if was > 1}
    options = []
    for node in model.parameters:
        shape = wish.inputs.shapes.get(node) or described_shape(node) or ()
        old = [axis for axis, one in enumerate(shape) if one.low == one.high and one.low in named]
        if not any(one.symbols for one in shape) and not all(rewriter.stays(node, axis) for axis in old):
            sizes = [named.get(one.low, str(one)) if one.low == one.high else str(one) for one in shape]
            if wish.batch is not None and sizes[0] == str(wish.recorded.get(wish.batch)):
                sizes[0] = str(wish.asked.get(wish.batch, wish.batch))
            options.append(f"--input {quote(end_name(node) + shape_text(sizes))}")
    return f"other inputs keep the old size; if their sizes must change, too, add {' '.join(options)}" if options else None


def _beside(error: WeightsError, like: Any) -> str | None:
    """The hint of an error of weights: no option names those of the second export."""
    path = os.path.splitext(str(getattr(getattr(like, "document", None), "path", like)))[0]
    return "put it beside the .xml of the other export" if like is not None and path in error.message else error.hint


def _refusal(error: Refusal, left: str | None = None) -> Diagnostic:
    """The error that a refused rewriting is; `left` advises on other inputs."""
    from irshape.reshaping.bench import BatchMixed, where_of

    where, constant = where_of(error.item), error.constant
    if isinstance(error, BatchMixed):
        hint = left or "convert the model again with another batch, or run one sample after the other"
        unproved = f"irshape cannot prove that {error.item!r} keeps samples apart: {error.reason}"
        told = unproved if error.code else f"{error.item!r} {error.reason}"
        return Diagnostic(error.code or "P110", told, where, hint=hint)
    if error.code is not None:
        return Diagnostic(error.code, error.reason, where, severity=ERROR, hint=left or error.hint)
    related = () if constant is None or constant.base is None else (where_of(constant),)
    held = f": {constant!r} (line {related[0].line}) holds the old size" if related and repr(constant) not in error.reason else ""
    return Diagnostic("S207", f"{error.item!r} {error.reason}{held}", where, hint=left or error.hint or _OTHER, related=related)


def _cause(mend: Mend) -> Diagnostic:
    copies = ", where 0 keeps the size of the axis" if mend.port == "pattern" and "0" in mend.now[1:-1].split(",") else ""
    layer = f"{mend.where.layer_type} {mend.where.layer_name!r}"
    text = f"{layer} holds an old size: {mend.port} is {mend.was}, but the new sizes need {mend.now}{copies}"
    return Diagnostic("S207", text, mend.where)


def _doubtful(code: str, doubt: Doubt, apart: Apart, wish: Wish, limits: str, advice: str | None, *, lacks: bool) -> Diagnostic:
    """The error that an open question is, whose ways differ at the sizes in `apart`. `limits` are sizes that leave no question.

    `advice` is the next step if the model does not pass although the number stays, or with the first way. `lacks` says that the second
    export has no such layer.
    """
    if code == "P111" or (doubt.is_number and advice is not None):
        return Diagnostic(code, doubt.what, doubt.where, hint=_COMPARE if code == "P111" else advice)
    step, at, are_rounder = apart
    names = [name for name in _named_sizes(wish) if name in doubt.names] if step else ()
    are_multiples = names and all(wish.recorded[name] % step == 0 for name in names)
    sizes = limits or (_multiples(wish, names, step) if are_multiples else "")
    meant = f"say which sizes are meant (--set {sizes}), " if sizes else ""
    other = " and ".join(sorted(doubt.names)) if doubt.names <= wish.given else ""
    like, first = f"with another {other or 'size'}{', which has this layer, too' if lacks else ''}", "keep the number"
    if not doubt.is_number or doubt.is_undecided:
        like = f"at a size where the ways differ{at and f', such as {at}'}{', which has this layer, too' if lacks else ''}"
    if not doubt.is_number:
        first = "take the first way"
    chosen = f", or {first}: --choose first" if advice is None else ""
    given = f"give a second export {like} (--like other.xml)"
    if at and are_rounder and not lacks:
        given = f"rewrite the other export, which leaves fewer ways, and give an export at {at} with --like"
    return Diagnostic(code, doubt.what, doubt.where, hint=f"{meant}{given}{chosen}")


def _multiples(wish: Wish, names: Sequence[str], step: int) -> str:
    """The sizes of symbols as multiples of a number in their ranges, each with a letter of its own: `H=32*k W=1..512,32*m`."""
    letters = [("k", "m")[place] if place < 2 else f"k{place}" for place in range(len(names))]
    ranges = [(name, wish.inputs.symbols[name]) for name in names]
    limits = ["" if (low, high) == (1, inf) else f"{SymbolRange(low, high)}," for _, (low, high, *_) in ranges]
    return " ".join([f"{name}={limit}{step}*{letter}" for (name, _), limit, letter in zip(ranges, limits, letters, strict=True)])


def _named_sizes(wish: Wish) -> list[str]:
    """The names that the caller gave to whole sizes, which may be any number: not the `k` of `32*k`, and not the batch."""
    whole = {one.name for shape in wish.inputs.shapes.values() for one in shape or () if one.factor == 1 and not one.offset}
    given = {name: known for name, known in wish.inputs.symbols.items() if name in whole & wish.given and name not in wish.asked}
    return [name for name, known in given.items() if name != wish.batch and known.modulus == 1]
