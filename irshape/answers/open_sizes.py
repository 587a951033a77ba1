"""The sizes that a target wants fixed or bounded: the symbols and the layers that leave them open, and the sizes that mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from math import inf
from shlex import quote
from typing import Final, NamedTuple

from irshape.answers.roots import Root, is_unbounded, roots
from irshape.answers.signature.knobs import Knobs
from irshape.answers.signature.names import BATCH
from irshape.answers.signature.naming import named
from irshape.inference.engine import Engine
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import InputError
from irshape.inference.verdict import OpenVINOPass, infer
from irshape.model.model import Model, Node
from irshape.report.text import counted
from irshape.shape.dim import Dim, Size, bounds, symbols
from irshape.shape.notation import SymbolRange
from irshape.shape.range import Bound, Range
from irshape.shape.shape import format_symbolic

# The most axes of a shape that a hint spells out, and the upper bound that a hint gives to a size.
_MOST_AXES: Final = 16
_MOST: Final = 512
# The words for a layer whose axes have symbols, and for the cause of another open size, by the kind of the root.
_AXES: Final = {"input": "input", "variable": "the variable of"}
_CAUSES: Final = {
    "data": "the size depends on data and",
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


class Wish(NamedTuple):
    """A demand on every size: `code` and `fault` are the code and the words of a violation.

    `is_open` tells from the bounds of a size whether the size violates the demand, and `ports` counts the ports that do because of a root.
    """

    code: str
    fault: str
    is_open: Callable[[tuple[Bound, Bound]], bool]
    ports: Callable[[Root], int]


FIXED: Final = Wish("P101", "is not fixed", lambda known: known[0] < known[1], lambda root: root.ports)
BOUNDED: Final = Wish("P102", "is unbounded", is_unbounded, lambda root: root.unbounded)


class OpenSizes:
    """The sizes of a model that are open, by what leaves them open.

    `axes` are the axes of inputs and variables by the symbol of the signature, or by the raw symbol where the model has no signature. A
    symbol that stands in formulas only has the axes of these formulas. `numbers` are the axes of inputs that have one valid size, where
    the file states no number. `others` are the layers whose data or body decides a size. A size that follows from an unknown rank is
    left out.
    """

    def __init__(self, inference: Inference, wish: Wish) -> None:
        self._inference = inference
        self._wish = wish
        self._reading = named(inference).reading
        self.axes: dict[str, list[Root]] = {}
        self.others: dict[Node, list[Root]] = {}
        formulas: dict[str, list[Root]] = {}
        known = self._reading.symbols.keys()
        for root in roots(self._reading):
            name, own = str(root.size), known & symbols(root.size)
            if not self._ports(root) or (root.kind in _AXES and not wish.is_open(bounds(self._stated(root)))):
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
            if name not in self.axes and self._wish.is_open(bounds(self._symbol(name))):
                self.axes[name] = found

    def violations(self) -> Iterator[Violation]:
        """One violation for each symbol, and one for each other layer."""
        fixing = self._fixing if self.others else None
        for name, found in self.axes.items():
            one = self._of_symbol(name, found) if name in self._reading.symbols else self._of_axis(found[0])
            yield one if fixing != {} else one._replace(sizes=())  # no command meets the target
        if self.numbers and any(name in self._reading.symbols for name in self.axes):
            yield self._of_numbers(self.numbers)  # they come with the shapes of the signature, if any symbol is set
        else:
            yield from map(self._of_number, self.numbers)
        is_alone = not (self.axes or self.numbers)
        for node, found in self.others.items():
            message = f"{_CAUSES[found[0].kind]} {self._wish.fault}: {self._depend(found)}"
            hint = "no size of an input decides it" if fixing == {} else None
            if fixing and is_alone:
                hint = f"fix the sizes of the inputs: --set {' '.join(f'{name}={size}' for name, size in fixing.items())}"
            yield Violation(self._wish.code, message, node, hint, tuple((fixing or {}).items()) if is_alone else ())

    def _ports(self, root: Root) -> int:
        """The ports that are open because of a root. An input must state its bound itself: no demand of a layer does it."""
        return self._wish.ports(root) or (root.ports if root.kind == "input" and self._wish.is_open(bounds(root.size)) else 0)

    def _stated(self, root: Root) -> Size:
        """The size of an axis as the file and the user state it, which may bound a formula more than its symbols do."""
        [shape] = [run.slots[root.node.first_slot].shape for model, run in self._inference.graphs if model is root.node.model]
        return root.size if shape is None else shape[root.axis]

    def _depend(self, found: list[Root]) -> str:
        return depend(max(map(self._ports, found)))

    def _symbol(self, name: str) -> Size:
        return self._reading.scope.symbol(name, *self._reading.symbols[name])

    def _text(self, size: Size) -> str:
        """The sizes that are valid."""
        text = self._reading.format((size,)).strip("[]")
        return f"only {text} is valid" if text.isdecimal() else text

    def _of_symbol(self, name: str, found: list[Root]) -> Violation:
        first, size = found[0], self._symbol(name)
        more = "" if len(found) == 1 else f" and {len(found) - 1} more ax{'i' if len(found) == 2 else 'e'}s"
        formula = f" ({first.size})" if first.size is not size else ""
        place = f"axis {first.axis} of {_AXES[first.kind]} {first.node.name!r}{formula}{more}"
        message = f"{name} {self._wish.fault} ({self._text(size)}): it is in {place}; {self._depend(found)}"
        if self._wish is FIXED and not self.others and not self._fixing:
            model = self._inference.model
            hint = "no number for it makes the model valid with fixed sizes alone"
            if model.of_type("ReadValue"):
                hint = f"no number for it fixes the state, which changes its shape; {without_state(model, 'fix the sizes there')}"
            return Violation(self._wish.code, message, first.node, hint)
        wanted, lost = self._wanted
        reason = f" (for a range, OpenVINO finds no upper bound of {lost})" if lost else ""
        hint = f"set it, as in --set {name}={wanted[name]}{reason}"
        return Violation(self._wish.code, message, first.node, hint, ((name, wanted[name]),))

    def _of_axis(self, root: Root) -> Violation:
        message = f"axis {root.axis} of input {root.node.name!r} {self._wish.fault} ({self._text(root.size)}): {self._depend([root])}"
        return Violation(self._wish.code, message, root.node, self._example(root.node))

    def _number(self, root: Root) -> Size | None:
        """The number that the signature has for the axis of an input; None if it has a formula."""
        shape = self._reading.graphs[0][1].slots[root.node.first_slot].shape
        return shape[root.axis] if shape is not None and isinstance(shape[root.axis], int) else None

    def _of_number(self, root: Root) -> Violation:
        name, number = root.node.name, self._number(root)
        message = f"axis {root.axis} of input {name!r} {self._wish.fault} (only {number} is valid): {self._depend([root])}"
        shape = format_symbolic(self._reading.graphs[0][1].slots[root.node.first_slot].shape)
        return Violation(self._wish.code, message, root.node, f"set it, as in --input {quote(name + shape)}", (), ((name, shape),))

    def _of_numbers(self, found: list[Root]) -> Violation:
        """All axes of inputs that have one valid size."""
        first, count = found[0], len(found) - 1
        more = f", and so it is with {count} more ax{'i' if count == 1 else 'e'}s of inputs" if count else ""
        message = f"axis {first.axis} of input {first.node.name!r} {self._wish.fault} (only {self._number(first)} is valid){more}"
        return Violation(self._wish.code, f"{message}: {self._depend(found)}", first.node, "setting a symbol also sets these axes")

    # Sizes that would do.

    @cached_property
    def _usual(self) -> dict[str, str]:
        """A usual size of every symbol."""
        from irshape.answers.cost.reference import reference

        reading = self._reading
        ranges = {name: Range(*known) if known.modulus else Range(known.low, known.high) for name, known in reading.symbols.items()}
        demands = [guard.requirement for guard in reading.guards if not guard.branch and guard.requirement.symbols() <= ranges.keys()]
        found, _ = reference(ranges, demands, {}, {})
        return {name: str(found[name]) for name in ranges}

    @cached_property
    def _wanted(self) -> tuple[dict[str, str], str]:
        """Sizes for the open symbols; and the first layer of which OpenVINO would find no upper bound for ranges, if numbers are better.

        OpenVINO follows fewer bounds than irshape, and a compiler asks OpenVINO.
        """
        names = [name for name in self.axes if name in self._reading.symbols]
        if self._wish is FIXED:
            return self._usual, ""
        ranges = {name: self._range(name, self._symbol(name)) for name in names}
        lost = self._lost(ranges)
        if lost:
            numbers = {name: SymbolRange(int(size), int(size)) for name, size in self._usual.items() if name in names}
            if len(self._lost(numbers)) < len(lost):
                more = f" and {counted(len(lost) - 1, 'more layer')}" if len(lost) > 1 else ""
                return {name: str(size) for name, size in numbers.items()}, f"{lost[0].type} {lost[0].name!r}{more}"
        texts = {name: f"{size.low}..{size.high}" if size.low < size.high else str(size.low) for name, size in ranges.items()}
        return texts, ""

    def _lost(self, sizes: Mapping[str, SymbolRange]) -> list[Node]:
        """The layers with an output of which OpenVINO finds no upper bound where the symbols have these sizes; none if they cannot."""
        inference = self._inference
        knobs = Knobs(inference.model, inference.wanted, inference.weights, inference.opaque)
        try:
            model, inputs = knobs.set(sizes)
            engine = Engine(model, inference.weights, inference.opaque, work=inference.scope.work)
            engine.run(inputs.question(engine))
            return unbounded_for_openvino(engine)
        except InputError:
            return []

    def _range(self, name: str, size: Size) -> SymbolRange:
        """A range of a symbol with an upper bound; one number for a batch."""
        low, high = self._reading.bounds(size)
        least = int(low)
        if name == BATCH:
            return SymbolRange(max(least, 1), max(least, 1))
        if not self._is_in_state(name):  # a state is often empty at first
            least = max(least, 1)
        return SymbolRange(least, int(high) if high != inf else max(least, _MOST))

    def _is_in_state(self, name: str) -> bool:
        variables = (node for node in self._reading.model.of_type("ReadValue") if node.outputs)
        shapes = (self._reading.graphs[0][1].slots[node.first_slot].shape for node in variables)
        return any(name in symbols(size) for shape in shapes for size in shape or ())

    @cached_property
    def _fixing(self) -> Mapping[str, str]:
        """The usual sizes of all symbols, if nothing is open with these; empty if something is."""
        inference = self._inference
        sizes = {name: SymbolRange(int(size), int(size)) for name, size in self._usual.items()}
        if not sizes:
            return {}
        knobs = Knobs(inference.model, inference.wanted, inference.weights, inference.opaque)
        try:
            model, inputs = knobs.set(sizes)
            engine = Engine(model, inference.weights, inference.opaque, work=inference.scope.work)
            infer(engine, inputs.question(engine))
        except InputError:
            return {}
        fixed = conclude(engine)
        is_met = fixed.ok and not any(self._wish.ports(root) for root in roots(fixed))
        return self._usual if is_met else {}

    def _example(self, node: Node) -> str | None:
        """A hint with a shape of the input that meets the policy; None for a shape that nobody reads."""
        shape = self._inference.view(node).outputs[0].shape or ()
        if len(shape) > _MOST_AXES:
            return None
        if self._wish is FIXED:
            return f"fix it, as in {node.name}[{','.join('8' if isinstance(size, Dim) else str(size) for size in shape)}]"
        sizes = []
        for size in shape:
            low, high = self._inference.bounds(size)
            sizes.append(f"{max(low, 1)}..{max(low, _MOST)}" if is_unbounded((low, high)) else self._inference.format((size,)).strip("[]"))
        return f"bound it, as in {node.name}[{','.join(sizes)}]"


def unbounded_for_openvino(engine: Engine) -> list[Node]:
    """The layers with an output of which OpenVINO finds no upper bound, in the graphs of an engine that has made a pass."""
    return [
        node
        for graph in OpenVINOPass.of(engine).graphs()
        for node in graph.model
        if any(
            fact.shape is None or any(is_unbounded(bounds(size)) for size in fact.shape)
            for fact in graph.slots[node.first_slot : node.first_slot + node.layer.signature.output_count]
        )
    ]


def without_state(model: Model, then: str) -> str:
    """The hint to make the state of a model inputs and outputs before something else."""
    return (
        f"make the state inputs and outputs first, and {then}: irshape edit {quote(model.document.path or 'FILE')} --stateless -o OUT.xml"
    )


def depend(count: int) -> str:
    """The clause about the ports behind a cause: `1 port depends on it`."""
    return f"{counted(count, 'port')} {'depends' if count == 1 else 'depend'} on it"
