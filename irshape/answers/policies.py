"""Policies: demands of a target on a model beyond being valid. A violation names its cause, and each cause once.

A policy examines an inference. If a hundred layers have no upper bound because one input has none, it names the input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from shlex import quote
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from irshape.answers.question import errors
from irshape.answers.roots import Root, firsts, is_unbounded, outputs, roots
from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.knobs import Knobs
from irshape.answers.signature.names import BATCH
from irshape.answers.signature.naming import named
from irshape.answers.size_set import SizeSet
from irshape.answers.solve import mended, solved_if_possible
from irshape.inference.engine import Engine
from irshape.inference.indices import beyond, largest_indices
from irshape.inference.inference import Inference, Remedy, conclude
from irshape.inference.inputs import InputError, asked_inputs
from irshape.inference.verdict import OpenVINOPass, infer
from irshape.model.build import layer_place
from irshape.model.finding import end_name
from irshape.model.model import Model, Node, grouped
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.text import counted
from irshape.shape.dim import Dim, Size, are_known, bounds, symbols
from irshape.shape.guard import Requirement
from irshape.shape.notation import SymbolRange, shape_text
from irshape.shape.range import Bound, Range
from irshape.shape.shape import Shape, format_shape

# The most axes of a shape that a hint spells out, and the upper bound that a hint gives to a size.
_MOST_AXES: Final = 16
_MOST: Final = 512
# The words for a layer whose axes have symbols, and for the cause of another open size, by the kind of the root.
_AXES: Final = {"input": "input", "variable": "the variable of"}
_CAUSES: Final = {
    "data": "a size that the data of this layer decide",
    "iteration": "the size that one iteration passes to the next",
    "variable": "the size of the variable",
    "recorded": "the recorded size",
}


class Violation(NamedTuple):
    """A violation of a policy, with the layer that causes it, and the sizes of symbols and the shapes of inputs that mend it."""

    code: str
    message: str
    node: Node
    hint: str | None = None
    sizes: tuple[tuple[str, str], ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()


class SizePolicy(NamedTuple):
    """A policy for every size: `code` and `fault` are the code and the words of a violation.

    `is_open` tells from the bounds of a size whether the size violates it, and `ports` counts the ports that do because of a root.
    """

    code: str
    fault: str
    is_open: Callable[[tuple[Bound, Bound]], bool]
    ports: Callable[[Root], int]


FIXED: Final = SizePolicy("P101", "is not fixed", lambda known: known[0] < known[1], lambda root: root.ports)
BOUNDED: Final = SizePolicy("P102", "has no upper bound", is_unbounded, lambda root: root.unbounded)


class OpenSizes:
    """The sizes of a model that are open, by what leaves them open.

    `axes` are the axes of inputs and variables by the symbol of the signature, or by the raw symbol where the model has no signature. A
    symbol that stands in formulas only has the axes of these formulas. `numbers` are the axes of inputs that have one valid size, where
    the file has no number. `others` are the layers whose data or body decides a size. Sizes that follow from an unknown rank are left out.
    """

    def __init__(self, inference: Inference, policy: SizePolicy) -> None:
        self._inference = inference
        self._policy = policy
        self._reading = named(inference).reading
        self.axes: dict[str, list[Root]] = {}
        self.others: dict[Node, list[Root]] = {}
        formulas: dict[str, list[Root]] = {}
        known = self._reading.symbols.keys()
        for root in roots(self._reading):
            name, own = str(root.size), known & symbols(root.size)
            if not self._ports(root) or (root.kind in _AXES and not policy.is_open(bounds(self._stated(root)))):
                continue
            if root.kind in _AXES and own and name not in known:
                for one in own:
                    formulas.setdefault(one, []).append(root)
            elif root.kind == "input" or (root.kind == "variable" and own):
                self.axes.setdefault(name, []).append(root)
            elif root.kind != "rank":
                self.others.setdefault(root.node, []).append(root)
        asked = roots(inference) if self._reading is not inference else ()
        self.numbers = [root for root in asked if root.kind == "input" and self._ports(root) and self._number(root) is not None]
        for name, found in formulas.items():
            if name in self.axes or self._policy.is_open(bounds(self._symbol(name))):
                self.axes.setdefault(name, []).extend(found)

    def violations(self) -> Iterator[Violation]:
        """One violation for each symbol, and one for each other layer."""
        fixing = self._fixing if self.others else None
        for name, found in self.axes.items():
            one = self._of_symbol(name, found) if name in self._reading.symbols else self._of_axis(found[0])
            yield one if fixing != {} else one._replace(sizes=())  # no command meets the target
        is_set = any(name in self._reading.symbols for name in self.axes)
        for found in [self.numbers] if self.numbers and is_set else [[one] for one in self.numbers]:
            yield self._of_numbers(found, is_set=is_set)
        is_alone = not (self.axes or self.numbers)
        for node, found in self.others.items():
            message = f"{_CAUSES[found[0].kind]} {self._policy.fault}; {self._depend(found)}"
            then = without_state(self._inference.model, "fix the sizes there") if node.type == "ReadValue" else "replace the layer"
            hint = f"no size of an input decides this size; {then}" if fixing == {} else None
            if fixing:
                sizes = " ".join(f"{name}={size}" for name, size in fixing.items())
                several = "the sizes of the inputs decide this size, too: set them"
                hint = f"fix the sizes of the inputs: --set {sizes}" if is_alone else several
            yield Violation(self._policy.code, message, node, hint, tuple((fixing or {}).items()) if is_alone else ())

    def _ports(self, root: Root) -> int:
        """The ports that are open because of a root. An input must state its bound itself: no demand of a layer does it."""
        return self._policy.ports(root) or (root.ports if root.kind == "input" and self._policy.is_open(bounds(root.size)) else 0)

    def _stated(self, root: Root) -> Size:
        """The size of an axis as the file and the user state it, which may bound a formula more than its symbols do."""
        [shape] = [run.slots[root.node.first_slot].shape for model, run in self._inference.graphs if model is root.node.model]
        return root.size if shape is None else shape[root.axis]

    def _depend(self, found: list[Root]) -> str:
        return depend(max(map(self._ports, found)), "this size")

    @cached_property
    def _readers(self) -> Counter[str]:
        """The number of ports with an open size that holds a symbol, by the symbol."""
        of_shape: dict[Shape, set[str]] = {}
        count: Counter[str] = Counter()
        for _, _, fact in outputs(self._reading):
            if (shape := fact.shape) is not None and not fact.is_poisoned:
                if shape not in of_shape:
                    sizes = [size for size in shape if isinstance(size, Dim) and self._policy.is_open(self._reading.bounds(size))]
                    of_shape[shape] = set().union(*map(symbols, sizes))
                count.update(of_shape[shape])
        return count

    def _symbol(self, name: str) -> Size:
        return self._reading.scope.symbol(name, *self._reading.symbols[name])

    def _text(self, size: Size) -> str:
        """The sizes that are valid, in brackets behind the fault; empty if all are."""
        text = self._reading.format((size,)).strip("[]")
        unstated = "" if self._policy.is_open(self._reading.bounds(size)) else ", but the shape does not say so"
        return f" (the model accepts {'only ' if text.isdecimal() else ''}{text}{unstated})" if text != "?" else ""

    def _of_symbol(self, name: str, found: list[Root]) -> Violation:
        first, size = found[0], self._symbol(name)
        more = "" if len(found) == 1 else f" and {len(found) - 1} more ax{'i' if len(found) == 2 else 'e'}s"
        whole = "the size" if first.size is size else f"a part of the size {first.size}"
        owner = end_name(first.node) if first.kind == "input" else first.node.name
        place = f"{whole} of axis {first.axis} of {_AXES[first.kind]} {owner!r}{more}"
        message = f"{name}, {place}, {self._policy.fault}{self._text(size)}; {depend(self._readers[name], name)}"
        if self._policy is FIXED and not self.others and not self._fixing:
            model = self._inference.model
            hint = "no numbers for the symbols fix every size of the model"
            if model.of_type("ReadValue"):
                hint = f"no number fixes the state, whose shape changes; {without_state(model, 'fix the sizes there')}"
            return Violation(self._policy.code, message, first.node, hint)
        wanted, reason = self._wanted
        is_number = ".." not in wanted[name] and self._range(name, size).low < self._range(name, size).high
        reason = f" ({reason})" if reason and is_number else ""
        hint = f"set {name}, as in --set {name}={wanted[name]}{reason}"
        return Violation(self._policy.code, message, first.node, hint, ((name, wanted[name]),))

    def _of_axis(self, root: Root) -> Violation:
        message = f"axis {root.axis} of input {end_name(root.node)!r} {self._policy.fault}{self._text(root.size)}; {self._depend([root])}"
        return Violation(self._policy.code, message, root.node, self._example(root.node))

    def _number(self, root: Root) -> Size | None:
        """The number that the signature has for the axis of an input; None if it has a formula."""
        shape = self._reading.graphs[0][1].slots[root.node.first_slot].shape
        return shape[root.axis] if shape is not None and isinstance(shape[root.axis], int) else None

    def _of_numbers(self, found: list[Root], *, is_set: bool) -> Violation:
        """Axes of inputs that have one valid size; they come with the shapes of the signature, if any symbol `is_set`."""
        first, name, count = found[0], end_name(found[0].node), len(found) - 1
        more = f"; the same holds for {count} more ax{'i' if count == 1 else 'e'}s of inputs" if count else ""
        message = f"axis {first.axis} of input {name!r} {self._policy.fault}{self._text(self._number(first) or 0)}{more}"
        shape = shape_text(self._reading.graphs[0][1].slots[first.node.first_slot].shape)
        hint = "--set with any symbol also sets these axes" if is_set else f"set the size, as in --input {quote(name + shape)}"
        shapes = () if is_set else ((name, shape),)
        return Violation(self._policy.code, f"{message}; {self._depend(found)}", first.node, hint, (), shapes)

    @cached_property
    def _usual(self) -> dict[str, str]:
        from irshape.answers.cost.formula import reference

        ranges, demands = self._system
        found, is_valid = reference(ranges, demands, {}, {})
        if not is_valid:
            found = next(mended(self._reading.scope, demands, ranges, found, ()), found)
        return {name: str(found[name]) for name in ranges}

    @cached_property
    def _system(self) -> tuple[dict[str, Range], list[Requirement]]:
        """The ranges of the symbols, of which only those of a state begin at 0, and the demands on them."""
        reading = self._reading
        ranges = {name: Range(*known) if known.modulus else Range(known.low, known.high) for name, known in reading.symbols.items()}
        for name, one in ranges.items():
            if one.low < 1 and not self._is_in_state(name):
                ranges[name] = one._replace(low=one.remainder or one.modulus)
        indices = largest_indices(engine.model, engine.slots, engine.weights) if (engine := reading.engine) is not None else ()
        demands = [Requirement("ge", size, last + 1, "", "", {}) for _, size, last in indices]
        demands += [guard.requirement for guard in reading.guards if not guard.branch]
        return ranges, [one for one in demands if one.symbols() and one.symbols() <= ranges.keys()]

    @cached_property
    def _valid(self) -> Mapping[str, SizeSet]:
        """The sizes that each symbol may have, as far as they do not depend on those of others."""
        solved = solved_if_possible(self._reading.scope, self._system[1], self._system[0])
        return {} if solved is None else {name: sizes for name, sizes in solved.sets.items() if not sizes.is_empty}

    @cached_property
    def _wanted(self) -> tuple[dict[str, str], str]:
        """Sizes for open symbols, and why numbers where ranges would do: OpenVINO, which a compiler asks, follows fewer bounds."""
        if self._policy is FIXED:
            return self._usual, ""
        ranges = {name: self._range(name, self._symbol(name)) for name in self.axes if name in self._reading.symbols}
        texts = {name: f"{size.low}..{size.high}" if size.low < size.high else str(size.low) for name, size in ranges.items()}
        tried = _tried(self._inference, texts)
        lost = unbounded_for_openvino(None if tried is None else tried.engine)
        if tried is None or lost:
            numbers = {name: self._usual[name] for name in ranges}
            fixed = _tried(self._inference, numbers)
            left = len(unbounded_for_openvino(None if fixed is None else fixed.engine))
            if fixed is not None and (tried is None or left < len(lost)):
                for name, text in texts.items():  # a range of one symbol may do where the others are numbers
                    one = _tried(self._inference, {**numbers, name: text}) if text != numbers[name] else None
                    if one is not None and len(unbounded_for_openvino(one.engine)) <= left:
                        numbers[name] = text
                more = f" and {counted(len(lost) - 1, 'more layer')}" if len(lost) > 1 else ""
                reason = f"a range does not help: OpenVINO finds no upper bound of {lost[0].type} {lost[0].name!r}{more}" if lost else ""
                refused = " ".join([f"{name}={text}" for name, text in texts.items() if ".." in text])
                return numbers, reason or f"the model refuses {refused}"
        return texts, ""

    def _range(self, name: str, size: Size) -> SymbolRange:
        """A range of a symbol with an upper bound; one number for a batch."""
        if name == BATCH:
            return SymbolRange(*[int(self._usual[name])] * 2)
        low, high = self._reading.bounds(size)
        least = int(max(low, self._system[0][name].low))
        if valid := self._valid.get(name):
            least = max(least, *valid.above(least, 1))
        most = int(high) if high != inf else max(least, _MOST)
        return SymbolRange(least, min(most, *valid.below(most, 1)) if valid else most)

    def _is_in_state(self, name: str) -> bool:
        variables = (node for node in self._reading.model.of_type("ReadValue") if node.outputs)
        shapes = (self._reading.graphs[0][1].slots[node.first_slot].shape for node in variables)
        return any(name in symbols(size) for shape in shapes for size in shape or ())

    @cached_property
    def _fixing(self) -> Mapping[str, str]:
        """The usual sizes of all symbols, if nothing is open with these; empty if something is."""
        fixed = _tried(self._inference, self._usual) if self._usual else None
        return {} if fixed is None or any(self._policy.ports(root) for root in roots(fixed)) else self._usual

    def _example(self, node: Node) -> str | None:
        """A hint with a shape of the input that meets the policy; None for a shape that nobody reads."""
        shape = self._inference.view(node).outputs[0].shape or ()
        if len(shape) > _MOST_AXES:
            return None
        if self._policy is FIXED:
            numbers = ",".join("8" if isinstance(size, Dim) else str(size) for size in shape)
            return f"give numbers, as in --input {end_name(node)}[{numbers}]"
        sizes = []
        for size in shape:
            low, high = self._inference.bounds(size)
            sizes.append(f"{max(low, 1)}..{max(low, _MOST)}" if is_unbounded((low, high)) else self._inference.format((size,)).strip("[]"))
        return f"give ranges, as in --input {end_name(node)}[{','.join(sizes)}]"


def _tried(inference: Inference, sizes: Mapping[str, str], shapes: Mapping[str, str] = MappingProxyType({})) -> Inference | None:
    """The inference with these sizes of symbols and shapes of inputs; None if the model, or a reshape to them, refuses some of them."""
    try:
        asked = inference.wanted.updated(asked_inputs(inference.model, shapes, sizes))
        model, inputs = Knobs(inference.model, asked, inference.weights, inference.opaque).set(asked.sizes)
        engine = Engine(model, inference.weights, inference.opaque, work=inference.scope.work)
        infer(engine, inputs.question(engine))
    except InputError:
        return None
    found = conclude(engine, asked=inputs)
    ties = [guard.requirement.tied() for guard in engine.guards if not (guard.branch or guard.is_premise)]
    is_refused = any(tie is not None and symbols(tie[0]) <= sizes.keys() for tie in ties)
    faults = [*found.diagnostics, *beyond(engine)]
    return None if is_refused or any(one.severity == ERROR or one.code == "R401" for one in faults) else found


def unbounded_for_openvino(engine: Engine | None) -> list[Node]:
    """The layers with an output of which OpenVINO finds no upper bound, in the graphs of an engine that has made a pass."""
    found = []
    for graph in OpenVINOPass.of(engine).graphs() if engine is not None else ():
        for node in graph.model:
            shapes = [graph.slots[slot].shape for slot in node.slots]
            if any(shape is None or any(is_unbounded(bounds(size)) for size in shape) for shape in shapes):
                found.append(node)
    return found


def without_state(model: Model, then: str) -> str:
    """The hint to make the state of a model inputs and outputs before something else."""
    path = quote(model.document.path or "FILE")
    return f"make the state inputs and outputs first, and {then}: irshape edit {path} --stateless -o OUT.xml"


def depend(count: int, cause: str) -> str:
    """The clause about the ports behind a cause: `1 port depends on this size`."""
    return f"{counted(count, 'port')} {'depends' if count == 1 else 'depend'} on {cause}"


_States: TypeAlias = Mapping[Node, tuple[int, ...]]


def _outgrown(inference: Inference) -> Iterator[Violation]:
    """Require that a second inference can run, if the model has state and its inputs have fixed shapes: name the variable."""
    model, run = inference.graphs[0]
    if not model.of_type("ReadValue") or not inference.ok:
        return
    shapes = [run.slots[node.first_slot].shape for node in model.parameters]
    if not all(shape is not None and are_known(shape) for shape in shapes):
        return
    try:
        state = _state(Discovery(model, inference.wanted, inference.weights, inference.opaque))
    except InputError:
        return
    engine = Engine(model, inference.weights, inference.opaque, work=inference.scope.work)
    after = _after(engine, inference, state)
    changed = [node for node, shape in state.items() if after.get(node, shape) != shape]
    if not changed or errors(engine.diagnostics):
        return
    _after(engine, inference, {**state, **after})
    found = errors(engine.diagnostics)
    if not found:
        return
    node, first = changed[0], found[0]
    refused = f"{first.where.layer_type} {first.where.layer_name!r} refuses this shape: {first.message}"
    change = f"changes from the shape {format_shape(state[node])} to {format_shape(after[node])} in the first inference"
    message = f"the second inference cannot run: the state {node.name!r} {change}, and {refused}"
    yield Violation("P106", message, node, without_state(model, "fix the sizes there"))


def refuse_outgrown(inference: Inference) -> None:
    """Report the variable because of which a second inference cannot run as an error."""
    for one in _outgrown(inference):
        inference.report([Diagnostic(one.code, one.message, layer_place(one.node), None, one.hint)])


def _state(found: Discovery) -> dict[Node, tuple[int, ...]]:
    """The shapes of the variables that the inputs leave, as far as they are numbers."""
    known = {node: shape for node, shape in found.state.items() if all(one.low == one.high and not one.symbols for one in shape)}
    return {node: tuple([int(one.low) for one in shape]) for node, shape in known.items()}


def _after(engine: Engine, inference: Inference, state: _States) -> dict[Node, tuple[int, ...]]:
    """The shapes of the variables behind an inference that begins with some shapes."""
    types = {node: inference.graphs[0][1].slots[node.first_slot].element_type for node in state}
    overrides = {node.index: (engine.facts.intern(types[node], shape),) for node, shape in state.items()}
    engine.run(inference.wanted.question(engine).with_overrides(overrides))
    found = {}
    for pair in engine.pairs:
        source = pair.assign.sources[0] if pair.assign.sources else -1
        shape = engine.slots[source].shape if source >= 0 else None
        if pair.read_value is not None and shape is not None and are_known(shape):
            found[pair.read_value] = shape
    return found


Policy: TypeAlias = Callable[[Inference], Iterator[Violation]]


def _static_shapes(inference: Inference) -> Iterator[Violation]:
    """Require that every size is a number."""
    yield from _ranked(inference)
    yield from OpenSizes(inference, FIXED).violations()
    yield from _outgrown(inference)


def _bounded(inference: Inference) -> Iterator[Violation]:
    """Require that every size has an upper bound."""
    yield from _ranked(inference)
    yield from OpenSizes(inference, BOUNDED).violations()


def _npu(inference: Inference) -> Iterator[Violation]:
    """Require what the NPU compiler does: bounded sizes, and that OpenVINO finds the bounds, too."""
    found = [*_bounded(inference), *_outgrown(inference)]
    yield from found
    if found or not inference.ok:
        return
    engine = Engine(inference.model, inference.weights, inference.opaque, work=inference.scope.work)
    engine.run(inference.wanted.question(engine))
    if lost := unbounded_for_openvino(engine):
        more = f" and {counted(len(lost) - 1, 'more layer')}" if len(lost) > 1 else ""
        message = f"OpenVINO finds no upper bound for an output of this layer{more}"
        hint = "the compiler may refuse the model, although irshape knows a bound of every size"
        if inference.model.of_type("ReadValue"):
            hint = f"{hint}; if the sizes depend on the state, {without_state(inference.model, 'give all inputs numbers')}"
        yield Violation("P105", message, lost[0], hint)


def _named_outputs(inference: Inference) -> Iterator[Violation]:
    """Require that the tensor of every output of the model has a name."""
    for node in inference.model.results:
        source = node.inputs[0].source if node.inputs else None
        if source is not None and not source.names:
            edit = f"irshape edit {quote(node.model.document.path or 'FILE')} --name {quote(f'{source.node.key}:{source.id}=NAME')}"
            giver = f"{source.node.type} {source.node.name!r}"
            message = f"the tensor of this output, which {giver} gives, has no name: programs find the output by its position only"
            yield Violation("P107", message, node, f"give the tensor a name: {edit}")


def _ranked(inference: Inference) -> Iterator[Violation]:
    """Require that the rank of every tensor is known."""
    for node, count in firsts(inference, lambda fact: fact.shape is None).items():
        hint = f"give the input a shape, as in {end_name(node)}[1,3,224,224]" if node.type == "Parameter" else None
        yield Violation("P103", f"the rank is not known from this layer on; {depend(count, 'this rank')}", node, hint)


def _max_rank(inference: Inference, limit: int) -> Iterator[Violation]:
    """Require that no tensor has a rank above the limit; of several layers of one type, only the first is named."""
    above = firsts(inference, lambda fact: fact.shape is not None and len(fact.shape) > limit)
    for type, found in grouped((node.type, (node, count)) for node, count in above.items()).items():
        node, ports = found[0][0], sum(count for _, count in found)
        rank = max(len(port.shape or ()) for port in inference.view(node).outputs)
        others = f", here and in {counted(len(found) - 1, f'more {type} layer')}" if len(found) > 1 else ""
        yield Violation("P104", f"the output has rank {rank}, but the target allows {limit}{others}; {depend(ports, 'this rank')}", node)


Policies: TypeAlias = Sequence[tuple[str, Policy]]
"""Policies with their names."""

# The NPU compiler refuses a model with a dimension that has no upper bound, or without a rank (openvinotoolkit/openvino#34617, #34651).
POLICIES: Final[dict[str, Policy]] = {
    "static-shapes": _static_shapes,
    "bounded": _bounded,
    "ranked": _ranked,
    "npu": _npu,
    "named-outputs": _named_outputs,
}
MAX_RANK: Final = "max-rank"


def find_policies(names: Iterable[str]) -> list[tuple[str, Policy]]:
    """The policies with these names, such as `npu` or `max-rank=6`. Raises InputError for an unknown name."""
    found: list[tuple[str, Policy]] = []
    for name in names:
        key, _, number = name.partition("=")
        if key == MAX_RANK and number.isdecimal() and number.isascii() and len(number) < 10:
            limit = int(number)
            found.append((name, lambda inference, limit=limit: _max_rank(inference, limit)))  # type: ignore[misc]
        elif name in POLICIES:
            found.append((name, POLICIES[name]))
        else:
            raise InputError(f"there is no target {name!r}; the targets are {', '.join(POLICIES)} and {MAX_RANK}=N")
    return found


def judge(inference: Inference, policies: Policies) -> None:
    """Report the violations of the policies, each once; `Inference.remedy` has the sizes of symbols that mend all of them, if sizes do."""
    found: dict[Violation, list[str]] = {}
    for name, policy in policies:
        for violation in policy(inference):
            targets = found.setdefault(violation, [])
            if name not in targets:
                targets.append(name)
    diagnostics = []
    for one, targets in found.items():
        message = f"{one.message} (target {', '.join(targets)})"
        diagnostics.append(Diagnostic(one.code, message, layer_place(one.node), None, one.hint))
    sizes, shapes = _fixed(size for one in found for size in one.sizes), _fixed(shape for one in found for shape in one.shapes)
    tried = _tried(inference, sizes, shapes) if sizes or shapes else None
    if tried is not None and not any(True for _, policy in [("", _outgrown), *policies] for _ in policy(tried)):
        inference.remedy = Remedy(next(targets[0] for one, targets in found.items() if one.sizes or one.shapes), sizes, shapes)
    inference.report(diagnostics)


def _fixed(told: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The size or shape for each name: of several, one without a range, which every target takes."""
    return dict(sorted(told, key=lambda pair: ".." not in pair[1]))
