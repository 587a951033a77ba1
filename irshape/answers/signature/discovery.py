"""Discovery: passes over a model, each with fewer symbols than the one before, until no requirement replaces another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import inf
from re import match, sub
from typing import Final, NamedTuple

from irshape.answers.question import filled, opened
from irshape.answers.signature.names import Axes, names
from irshape.answers.signature.unify import CurrentRequirement, FreeSymbol, Unifier
from irshape.inference.engine import Engine
from irshape.inference.indices import largest_indices
from irshape.inference.inputs import InputError, Inputs, described_shape, input_names, place_of
from irshape.inference.run import Guard
from irshape.model.model import Model, Node, split_names
from irshape.shape.dim import INT64_MAX, Dim, Scope, Size, dim_of, expression_of, origins
from irshape.shape.element_type import ElementType
from irshape.shape.fold import replaced
from irshape.shape.guard import Requirement
from irshape.shape.notation import ANY_SIZE, Described, DescribedShape, ShapeSyntaxError, SymbolRange, parse_shape, size_of
from irshape.shape.polynomial import NAMED, Expression, PolynomialTable
from irshape.shape.range import Range, meet, reduced
from irshape.shape.reported import Reported
from irshape.xml.weights import Weights

# The names of caches that the next inference reads where this one gives `present…`.
_PAST: Final = r"past(_key_values)?(?=[._])"


def reads(engine: Engine) -> Iterator[Guard]:
    """The layers of the net that read an axis of an input by indices of which the largest is known as a formula."""
    for node, size, last in largest_indices(engine.model, engine.slots, engine.weights):
        if isinstance(size, Dim) and isinstance(last, Dim):
            yield Guard(node, Requirement("ge", size, last + 1, "the indices reach this many elements along the axis", "", {}))


# The most passes; the second is nearly always the last.
_MOST_PASSES: Final = 4


class OpenAxis(NamedTuple):
    """An open axis of an input or a variable, and its symbol in the first pass, by the index of the atom."""

    node: Node
    axis: int
    atom: int


class Discovery:
    """The symbols of a model.

    `question` has the shapes of the inputs in these symbols and the ranges of the symbols; `state` has the shapes of the variables, by
    ReadValue, and `ranges` the ranges of all symbols. `engine` has made a pass with them. `origins` are the open axes, and `steps` tell
    what became of them. `guards` are the guards of the first pass, `bounding` those that bound a symbol, by its name, `multiples` those
    of them that leave it the multiples of a number, and `declared` the ranges of the symbols without the others. With `is_reading`, the
    last pass may be one for a reading, with `free_ranges` (`is_read`). The engines are `like` the first one, or like one that is given.
    With `is_taken`, its symbols get the names of the signature where the pass for a reading would say no more.
    """

    def __init__(
        self,
        model: Model,
        given: Inputs,
        weights: Weights | None,
        opaque: frozenset[str],
        *,
        keeps_named: bool = False,
        is_reading: bool = False,
        like: Engine | None = None,
        is_taken: bool = False,
    ) -> None:
        self._given = given
        self._taken = like if is_taken else None
        self._is_reading = is_reading
        self.is_read = False
        self._like = like
        self._model = model
        self._weights = weights
        self._opaque = opaque
        self._keeps_named = keeps_named
        self._named = given.names
        self._called = given.called
        self._known: dict[str, FreeSymbol] = {}
        self._axes: dict[str, str] = {}  # what the present symbols were called in the first pass: as the axes of inputs
        self._types: dict[Node, ElementType] = {}
        self.origins: list[OpenAxis] = []
        self.steps: list[Unifier] = []
        self.bounding: dict[str, tuple[Guard, ...]] = {}
        self.multiples: dict[str, tuple[Guard, ...]] = {}
        self.declared: dict[str, SymbolRange] = {}
        self.state: dict[Node, tuple[Described, ...]] = {}
        self.question = opened(model, given)
        self.ranges: dict[str, SymbolRange] = dict(self.question.symbols)
        self.engine = self.run(self.ranges)
        self.guards: list[Guard] = self.engine.guards
        self._open()
        for number in range(1, _MOST_PASSES):
            if not self._advance(is_first=number == 1):
                break

    def described(self, origin: OpenAxis) -> Described:
        """The size of an open axis in the symbols."""
        shape = self.state.get(origin.node) or self.question.shapes[origin.node]
        assert shape is not None
        return shape[origin.axis]

    def limits(self, engine: Engine) -> list[Guard]:
        """The ranges of open axes, as guards where the ranges of the symbols in a pass do not imply them."""
        table = self.steps[0].table
        found = {guard.requirement: guard for guard in filled(self.question, engine)}
        for node, axis, atom in self.origins:
            shape = engine.slots[node.first_slot].shape
            size = shape[axis] if shape is not None else 0
            if not isinstance(size, Dim):
                continue
            (low, high), (least, most) = size.polynomial.range[:2], table.ranges[atom][:2]
            names = {"axis": axis, "least": least, "most": most}
            if low < least and not (node.type == "Parameter" and least == 1):
                requirement = Requirement("ge", size, int(least), "axis {axis} must be at least {least}", "S203", names)
                found.setdefault(requirement, Guard(node, requirement))
            if high > most:
                requirement = Requirement("ge", int(most), size, "axis {axis} must be at most {most}", "S203", names)
                found.setdefault(requirement, Guard(node, requirement))
        return list(found.values())

    def demanded_multiples(self, scope: Scope) -> Iterator[Guard]:
        """A condition for each symbol that layers leave the multiples of a number: one for all of these layers, `H % 32 == 0`."""
        for name, guards in self.multiples.items():
            size = scope.named(name) if guards else None
            if isinstance(size, Dim):
                own, (*_, modulus, remainder) = guards[0].requirement, size.range
                multiple = Requirement("div", size - remainder, modulus, own.template, own.code, own.names)
                yield Guard(guards[0]._node, multiple, len(guards) - 1)

    @cached_property
    def sizes(self) -> dict[tuple[str, int], str]:
        """The size on each axis of the inputs and the variables in the symbols, by the name of the layer and the axis."""
        shapes = (*self.question.shapes.items(), *self.state.items())
        return {(node.name, axis): str(size) for node, shape in shapes for axis, size in enumerate(shape or ())}

    @property
    def free_ranges(self) -> dict[str, SymbolRange]:
        """The ranges of the symbols by the file and the user, without the demands of layers and without that a size is at least 1."""
        asked = self._given
        lows: dict[str, int] = {}
        for origin in self.origins:
            shape = asked.shapes.get(origin.node, described_shape(origin.node)) if origin.node.type == "Parameter" else None
            size = self.described(origin)
            if shape and size.name and (size.factor, size.offset) == (1, 0):
                lows[size.name] = max(lows.get(size.name, 0), shape[origin.axis].low)
        ranges = {}
        for name in self.ranges:
            known = self.declared[name]
            if name in self._named:
                known = asked.symbols.get(name, ANY_SIZE)
            elif known.low <= known.modulus:  # the least multiple of at least 1
                known = SymbolRange(*reduced(lows.get(name, 0), known.high, known.modulus, known.remainder) or known)
            ranges[name] = known
        return ranges

    def run(self, ranges: Mapping[str, SymbolRange], *, is_static: bool = True, kind: type[Engine] = Engine) -> Engine:
        """An engine of a `kind` after a pass with the present shapes, and these ranges of the symbols; `is_static` as in `Engine`."""
        engine = kind(self._model, self._weights, self._opaque, is_static=is_static, like=self._like if kind is Engine else None)
        self._like = self._like or engine
        for name, known in ranges.items():  # the order of the symbols is that in which formulas are written
            engine.scope.symbol(name, *known)
        inputs = Inputs(self.question.shapes, {name: ranges[name] for name in self.question.symbols})
        states = {node: tuple([size_of(engine.scope, one, None, ranges) for one in shape]) for node, shape in self.state.items()}
        overrides = {node.index: (engine.facts.intern(self._types[node], sizes),) for node, sizes in states.items()}
        engine.run(inputs.question(engine).with_overrides(overrides))
        return engine

    def read(self, engine: Engine) -> Engine:
        """An engine after a pass for a reading: with sizes of at least 1 where only these have the formulas that another engine gives."""
        free = self.run(self.free_ranges, is_static=False)
        shapes = ((fact.shape or (), own.shape or ()) for fact, own in zip(free.slots, engine.slots, strict=False))
        pairs = ((a, b) for ours, theirs in shapes for a, b in zip(ours, theirs, strict=False))
        is_vaguer = any(origins(a) & ~NAMED and not origins(b) & ~NAMED for a, b in pairs)
        return self.run(self.declared, is_static=False) if is_vaguer else free

    def settle(self) -> Discovery:
        """Let `engine` be a pass with the present shapes and ranges, where it is one for a reading."""
        if self.is_read:
            self.engine, self.is_read = self.run(self.ranges), False
        return self

    def _open(self) -> None:
        """Find the open axes of inputs and variables."""
        table = self.engine.scope.polynomials
        found: set[int] = set()
        for node, shape in self._shapes():
            for axis, size in enumerate(shape):
                atom = table.only_atom(size.polynomial) if isinstance(size, Dim) else None
                if atom is not None and atom.kind == "symbol" and atom.index not in found:
                    found.add(atom.index)
                    self.origins.append(OpenAxis(node, axis, atom.index))
                    if node.type != "Parameter":  # as the axes of inputs are called in the guards of this pass
                        table.rename(atom.index, f"{node.name}.{axis}")
        # A symbol that the user named stands in a formula only: `x[2*H]`.
        for name in sorted(self._named):
            self._known[name] = FreeSymbol(name, -1, len(found), is_named=True)

    def _shapes(self) -> Iterator[tuple[Node, tuple[Size, ...]]]:
        """The shapes of the inputs and of the variables in the present pass."""
        slots = self.engine.slots
        for node in self._model.parameters:  # a broken Parameter has recorded sizes only, which nobody can choose
            is_chosen = self.question.shapes[node] is not None
            yield node, (slots[node.first_slot].shape or ()) if is_chosen else ()
        for pair in self.engine.pairs:
            variable = pair.read_value
            if variable is not None and variable.outputs:
                self._types.setdefault(variable, slots[variable.first_slot].element_type)
                yield variable, slots[variable.first_slot].shape or ()

    def _advance(self, *, is_first: bool) -> bool:
        """Unify the symbols, name those that are left, and make another pass with them; False if nothing changes."""
        engine = self.engine
        table, axes = engine.scope.polynomials, self._axes
        symbols = self._symbols(table, is_first=is_first)
        unifier = Unifier(engine.scope, engine.guards, symbols, reads(engine), self._carried(symbols))
        before = [*self.steps], self._axes, self.ranges, self.question, self.state, self.is_read
        try:
            unifier.run()
            if not is_first and not unifier.replaced.keys() & symbols.keys():
                return False
            if self.is_read:  # OpenVINO's bounds counted in this pass, so it decides nothing
                reading, self.engine, self.is_read = self.engine, self.run(self.ranges), False
                is_changed = self._advance(is_first=False)
                if not is_changed:
                    self.engine, self.is_read = reading, True
                return is_changed
            if not unifier.bounds().is_contradictory:
                letters = self._adopt(unifier)
                made = {one.atom: one.expression for one in unifier.replacements if unifier.is_multiple(one)}
                if unifier.replaced.keys() <= made.keys():  # no size is tied to another one, which has no letter
                    for index, letter in letters.items():
                        table.rename(index, letter)
                for index in unifier.replaced.keys() & symbols.keys():  # nobody else knows their names
                    multiple = table.only_atom(unifier.value(made[index])) if index in made else None
                    own = axes.get(table.atoms[index].name, table.atoms[index].name)
                    table.rename(index, own if multiple is None else letters.get(multiple.index, own))
                return self.engine is not engine
        except (ZeroDivisionError, ShapeSyntaxError, InputError):  # a divisor is 0, or a size cannot be written or is too large
            self.steps, self._axes, self.ranges, self.question, self.state, self.is_read = before
        if is_first:
            self._adopt(Unifier(engine.scope, (), symbols))
        return is_first

    def _adopt(self, unifier: Unifier) -> dict[int, str]:
        """Make the next pass with the symbols that a unifier leaves; their names, by index."""
        engine = self.engine
        table = engine.scope.polynomials
        shapes = {node: [unifier.value(expression_of(size)) for size in shape] for node, shape in self._shapes()}
        outputs = [None if shape is None else [unifier.value(expression_of(size)) for size in shape] for shape in self._outputs()]
        used = set(table.atoms_below(*[size for shape in shapes.values() for size in shape])) & unifier.symbols.keys()
        given = names(Axes(engine, unifier.symbols, shapes, outputs), unifier.value, used, self._named, self._called)
        letters = {**{index: table.atoms[index].name for index in used if unifier.symbols[index].is_named}, **given}
        inputs, state = self._described(engine.scope, shapes, letters)
        ranges: dict[str, SymbolRange] = {}
        demands = unifier.alone()
        own = {demand for index in letters for demand in demands.get(index, ())}
        alone = Reported.of(engine.scope, [demand.requirement for demand in unifier.demands if demand in own])
        for index, name in sorted(letters.items(), key=lambda item: (place_of(item[1]), item[0])):
            known = alone.range(dim_of(engine.scope, table.atoms[index]))
            if known.low > INT64_MAX:  # no size fulfils the demands, which stay
                known = table.ranges[index]
            multiples = (*self.multiples.get(name, ()), *_multiples(unifier, index))
            self.multiples[name] = tuple({(guard._node, guard.requirement): guard for guard in multiples}.values())
            bounding = (*self.multiples[name], *_bounding(unifier, index, known, demands.get(index, ())))
            self.bounding[name] = tuple(dict.fromkeys(bounding)) or self.bounding.get(name, ())
            ranges[name] = SymbolRange(*(known if known.modulus else Range(known.low, known.high)))
            self._known[name] = unifier.symbols[index]
            stated = table.ranges[index]
            for demand in demands.get(index, ()):
                if not demand.requirement.code:  # the range of another axis of the same size
                    stated = meet(stated, unifier.range_by(demand, index)) or stated
            if name in self.declared:  # the range of an earlier pass, of which a multiple may be left
                stated = meet(Range(*self.declared[name]), Range(-inf, inf, stated.modulus, stated.remainder)) or stated
            self.declared[name] = SymbolRange(*(stated if stated.modulus else Range(stated.low, stated.high)))
        self.steps.append(unifier)
        self._axes = {name: self._axes.get(table.atoms[index].name, table.atoms[index].name) for index, name in letters.items()}
        self.ranges = ranges
        used_names = {name for shape in inputs.values() for one in shape or () for name in one.symbols}
        self.question = Inputs(inputs, {name: known for name, known in ranges.items() if name in used_names})
        self.state = state
        # Where no demand ties symbols together, narrower ranges of them cannot tie any.
        self.is_read = self._is_reading and len(self.steps) == 1 and all(len(below) < 2 for below in map(unifier.below, unifier.demands))
        if self.is_read:
            self.engine = self._renamed(self._taken, self.free_ranges) or self.read(engine)
        else:
            self.engine = self._renamed(engine, ranges) or self.run(ranges)
        return letters

    def _renamed(self, engine: Engine | None, ranges: Mapping[str, SymbolRange]) -> Engine | None:
        """The engine with the names of the symbols; None if another pass with the present shapes and these ranges would say more.

        It says the same where each symbol is an open axis of its own in both, with the same range, and is as old among the symbols.
        """
        if engine is None or engine.diagnostics or self.state or self._named:
            return None
        if any(fact.shape is None for graph in engine.graphs() for fact in graph.slots[: graph.model.slot_count]):
            return None
        called: dict[Dim, str] = {}
        for origin in self.origins:
            size, one = (engine.slots[origin.node.first_slot].shape or ())[origin.axis], self.described(origin)
            if not isinstance(size, Dim) or one != Described(0, inf, one.name) or size.range != reduced(*ranges[one.name]):
                return None
            called[size] = one.name
        atoms = [engine.scope.polynomials.only_atom(size.polynomial) for size in called]
        order = [(atom.index, name) for atom, name in zip(atoms, called.values(), strict=True) if atom is not None]
        if sorted(order) != list(enumerate(ranges)):
            return None
        engine.scope.call(called)
        engine._question = Inputs(self.question.shapes, dict(ranges)).question(engine)
        return engine

    def _symbols(self, table: PolynomialTable, *, is_first: bool) -> dict[int, FreeSymbol]:
        """The symbols of inputs and variables in the present pass, by index."""
        places = {atom.index: self._known[atom.name] for atom in table.atoms if atom.kind == "symbol" and atom.name in self._known}
        if is_first:
            places |= {origin.atom: FreeSymbol(origin.node.name, origin.axis, order) for order, origin in enumerate(self.origins)}
        found = {}
        for index, symbol in places.items():
            is_named = table.atoms[index].name in self._named
            found[index] = symbol._replace(is_named=is_named, is_kept=is_named and self._keeps_named, parent=-1)
        return found

    def _carried(self, symbols: Mapping[int, FreeSymbol]) -> dict[int, Size]:
        """The size that the next inference reads, by the symbol of its axis."""
        slots, table = self.engine.slots, self.engine.scope.polynomials
        found: dict[int, Size] = {}
        for node, source in self._states():
            for size, assigned in zip(slots[node.first_slot].shape or (), slots[source].shape or (), strict=False):
                atom = table.only_atom(expression_of(size))
                if atom is not None and atom.index in symbols:
                    found.setdefault(atom.index, assigned)
        return found

    def _states(self) -> Iterator[tuple[Node, int]]:
        """Each state, with the tensor that the next inference reads as it: a variable, or an input `past…` with its output `present…`."""
        for pair in self.engine.pairs:
            if pair.read_value is not None and pair.read_value.outputs and pair.assign.sources and pair.assign.sources[0] >= 0:
                yield pair.read_value, pair.assign.sources[0]
        caches = {sub(_PAST, "present", name): node for name, node in input_names(self._model).items() if match(_PAST, name)}
        for result in self._model.results if caches else ():
            source = next(iter(result.sources), -1)
            if source < 0:
                continue
            giver = self._model.nodes[self._model.producers[source]]
            for name in split_names(giver.layer.outputs[source - giver.first_slot].names):
                if name in caches:
                    yield caches[name], source

    def _outputs(self) -> Iterator[tuple[Size, ...] | None]:
        """The shapes of the outputs, and of what the variables are assigned."""
        for node in (*self._model.results, *(pair.assign for pair in self.engine.pairs)):
            if node.sources and node.sources[0] >= 0:
                yield self.engine.slots[node.sources[0]].shape

    def _described(
        self, scope: Scope, shapes: Mapping[Node, list[Expression]], letters: Mapping[int, str]
    ) -> tuple[dict[Node, DescribedShape], dict[Node, tuple[Described, ...]]]:
        """The shapes of the inputs and of the variables in the named symbols. Raises ShapeSyntaxError for a size that cannot be written."""
        table = scope.polynomials
        order = sorted(letters.items(), key=lambda item: (place_of(item[1]), item[0]))
        new = {index: table.symbol(name, table.ranges[index]) for index, name in order}
        inputs: dict[Node, DescribedShape] = {}
        state: dict[Node, tuple[Described, ...]] = {}
        for node, shape in shapes.items():
            text = ",".join(table.text(replaced(size, new)) for size in shape)
            described = parse_shape(f"[{text}]")
            if not {name for size in described or () for name in size.symbols} <= set(letters.values()):
                raise ShapeSyntaxError(text, 0, "a size is too large for a formula")
            if node.type != "Parameter":
                assert described is not None
                state[node] = described
            else:
                inputs[node] = None if self.question.shapes[node] is None else described
        return inputs, state


def _multiples(unifier: Unifier, index: int) -> Iterator[Guard]:
    """The guards for which a symbol stands for the multiples of a number, and is in the place of a symbol for all sizes."""
    while (index := unifier.symbols[index].parent) >= 0:
        for one in unifier.replacements:
            if one.atom == index:
                yield from dict.fromkeys([demand.guard for demand in one.demands])


def _bounding(unifier: Unifier, index: int, known: Range, demands: tuple[CurrentRequirement, ...]) -> tuple[Guard, ...]:
    """The first guards that bound a symbol as `known` does: from below, from above, by a multiple; else those of all demands.

    None bounds a symbol that has this range without them, such as one that is given.
    """
    free = unifier.table.ranges[index]
    found: dict[Guard, None] = {}
    modulus = max(free.modulus, 1)
    is_low, is_high = known.low == free.low, known.high == free.high
    for demand in demands:
        if is_low and is_high and known.modulus == modulus:  # nothing more is bounded
            break
        own = unifier.range_by(demand, index)
        tells = not is_low and own.low == known.low, not is_high and own.high == known.high
        is_low, is_high = is_low or tells[0], is_high or tells[1]
        if any(tells) or own.modulus > modulus:
            found[demand.guard] = None
    return tuple(found or ([] if known == free else dict.fromkeys(demand.guard for demand in demands)))
