"""A plan for reshapes: the sizes of all tensors as one Python function of the sizes that change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.formulas import OPERATIONS, Tree, is_total, names_in, python
from irshape.inference.plan.parts import Ask, Planned, Step, Symbol, Template, key_of
from irshape.inference.question import Question
from irshape.inference.run import NodeReport, Run
from irshape.model.model import Model
from irshape.shape.dim import Dim, Size, bounds_unasked
from irshape.shape.range import Bound

if TYPE_CHECKING:
    from irshape.inference.engine import Engine

Numbers: TypeAlias = tuple[int, ...]
Sizes: TypeAlias = tuple[Size, ...]

_NO_ANSWERS: Final[Mapping[int, Fact]] = {}

# The names that the source of a plan uses besides its own.
_BUILTINS: Final = {"max": max, "min": min, "float": float}


class Plan:
    """The sizes of all tensors of a model as a function of the sizes of its inputs.

    A plan is made from a pass over an example: the shapes that the inputs had. It holds for all sizes that fulfil its conditions, and
    then gives what a pass would give.

    `model` is the model, `symbols` are the axes that change, `steps` the formulas by name and the rules that are asked, in order, and
    `conditions` the formulas that must hold. `planned` has the run of the example and the templates of the tensors that the symbols change,
    `shapes` are the shapes of Parameters in the example, by node. `open` are the tensors that only rules tell, `asks` the rules that are
    asked. `opaque` are the sizes, by name, that the engine does not know and that stay what they are; `hull` makes one of several sizes.
    `examines` says that the variables of the model must be compared for each reshape, `has_indices_within` that the conditions demand
    that indices which the model counts stay within the axes that they read.
    """

    def __init__(
        self,
        model: Model,
        planned: Planned,
        shapes: Mapping[int, Numbers],
        symbols: list[Symbol],
        steps: list[Step],
        conditions: list[Tree],
        open: set[int],
        opaque: Mapping[str, Size],
        hull: Callable[..., Size] | None,
        *,
        examines: bool,
        has_indices_within: bool,
    ) -> None:
        self.model = model
        self.planned = planned
        self.shapes = dict(shapes)
        self.symbols = symbols
        self.steps = steps
        self.conditions = conditions
        self.examines = examines
        self.has_indices_within = has_indices_within
        self.open = open
        self.opaque = opaque
        self.hull = hull
        self.asks = [step for step in steps if isinstance(step, Ask)]
        self._varying = [(symbol.node.index, symbol.axis) for symbol in symbols]
        self._fixed = [
            (index, len(shape), [(axis, size) for axis, size in enumerate(shape) if (index, axis) not in self._varying])
            for index, shape in shapes.items()
        ]

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the functions are made again from their text."""
        return {name: value for name, value in vars(self).items() if name != "_functions"}

    @property
    def base(self) -> Run:
        """The run of the example."""
        return self.planned.base

    def run(self, shapes: Mapping[int, Numbers], engine: Engine) -> Run | None:
        """The run for these shapes of Parameters, by node; None if the plan does not hold. The engine is asked for its rules."""
        if len(shapes) != len(self._fixed):
            return None
        for index, rank, fixed in self._fixed:
            shape = shapes.get(index)
            if shape is None or len(shape) != rank:
                return None
            for axis, size in fixed:
                if shape[axis] != size:
                    return None
        varying = [shapes[index][axis] for index, axis in self._varying]
        base = self.base
        run = base.like()
        run.has_indices_within = self.has_indices_within
        answers: dict[int, Fact] = {}
        try:
            if self.asks:
                run.reports, run.unlisted, run.inner = base.reports.copy(), base.unlisted.copy(), base.inner.copy()
                numbers = self._functions[0](*varying, _Asking(self, engine, Question(shapes), run, answers).ask)
            else:
                numbers = self._functions[0](*varying)
        except ZeroDivisionError:
            return None
        if numbers is None:
            return None
        made = partial(self._facts, numbers, engine.facts)
        self._enter(self.planned, run, numbers, _once(made) if self.planned.bodies else made, answers)
        return run

    def _enter(
        self, planned: Planned, run: Run, numbers: Sizes, made: Callable[[], list[Fact]], answers: Mapping[int, Fact] = _NO_ANSWERS
    ) -> None:
        """Let a run take what the plan knows of a graph and of its bodies."""
        run.place = partial(planned.place, made, self._numbers, answers)
        if planned.guarded:
            run.report = partial(self._reported, planned, numbers)
        if planned.bodies:
            run.inner = run.inner.copy()
            for key, body in planned.bodies.items():
                run.inner[key] = body.base.like()
                self._enter(body, run.inner[key], numbers, made)

    def _reported(self, planned: Planned, numbers: Sizes, reports: dict[int, NodeReport]) -> dict[int, NodeReport]:
        first = 0
        for graph in self.planned.graphs():
            if graph is planned:
                break
            first += len(graph.guarded)
        return planned.report(iter(self._functions[2](numbers)[first:]), reports)

    def _facts(self, numbers: Sizes, table: FactTable) -> list[Fact]:
        """The fact of each template with these numbers. Facts that a rule takes are those of the engine's table."""
        if not self.asks:  # they are gone with the run
            table = FactTable(table.is_static)
        return [_fact(table, template, row) for template, row in zip(self._templates.values(), self._functions[1](numbers), strict=True)]

    @property
    def _are_numbers(self) -> bool:
        return not self.opaque and self.hull is None and all(asked.is_number for ask in self.asks for asked in ask.symbols)

    @cached_property
    def _templates(self) -> dict[object, Template]:
        return {key_of(template): template for graph in self.planned.graphs() for template in graph.tensors.values()}

    @cached_property
    def _numbers(self) -> dict[object, int]:
        return {key: number for number, key in enumerate(self._templates)}

    @cached_property
    def source(self) -> str:
        """The plan in Python: a function of the sizes that change, and one of the tensors.

        `sizes` takes the sizes that change and gives them with those that are computed from them for its conditions, or None where a
        condition does not hold; a rule whose outputs no formula tells is asked by `ask`, with the inputs that change. `tensors` takes these
        numbers, computes the others, and gives the shape and the known elements of each kind of tensor.
        """
        names = [symbol.name for symbol in self.symbols]
        lines = [f"def sizes({', '.join([*names, *(['ask'] if self.asks else [])])}):"]
        for name, node, axis, low, high in self.symbols:
            lines += [f"    # {name} is axis {axis} of the input of layer {node.id}", *_limited(name, low, high)]
        count, left, late = 0, self.conditions, self._late
        for step in self.steps:
            if isinstance(step, Ask):
                # A rule costs more than the conditions that can be told before it.
                known = {*names, *self.opaque}
                lines += self._demanded([one for one in left if names_in(one) <= known])
                left = [one for one in left if not names_in(one) <= known]
                given = ", ".join([_row(template) for template in step.inputs if isinstance(template, Template)])
                own = "".join(f"{asked.name}, " for asked in step.symbols)
                lines += [f"    answer = ask({count}, [{given}])", "    if answer is None:", "        return None"]
                lines += [f"    ({own}) = answer"] if own else []
                for asked in step.symbols:
                    lines += _limited(asked.name, int(asked.low), int(asked.high)) if asked.is_number else []
                    names.append(asked.name)
                count += 1
            elif step[0] not in late:
                lines.append(self._definition(*step))
                names.append(step[0])
        lines += self._demanded(left)
        numbers = "".join(f"{name}, " for name in names)
        begin = [f"    ({numbers}) = numbers", *[self._definition(*step) for step in late.items()]]
        rows = [f"        {_row(template)}," for template in self._templates.values()]
        lines += [f"    return ({numbers})", "", "", "def tensors(numbers):", *begin, "    return (", *rows, "    )"]
        return "\n".join([*lines, *self._guards(begin), ""])

    def _demanded(self, conditions: list[Tree]) -> list[str]:
        """The lines that end the function where a condition does not hold."""
        return [f"    if not ({python(one, is_numbers=self._are_numbers)}):\n        return None" for one in conditions]

    @property
    def _late(self) -> dict[str, Tree]:
        """The definitions that tensors alone need, and that always have a value: they wait until a tensor is asked for."""
        needed: set[str] = set().union(*map(names_in, self.conditions))
        late: list[tuple[str, Tree]] = []
        for step in reversed(self.steps):
            if isinstance(step, Ask):
                needed |= names_in(["+", *[tree for one in step.inputs if isinstance(one, Template) for tree in one.trees]])
            elif step[0] in needed or not is_total(step[1]):
                needed |= names_in(step[1])
            else:
                late.append(step)
        return dict(reversed(late))

    def _definition(self, name: str, tree: Tree) -> str:
        return f"    {name} = {python(tree, is_numbers=self._are_numbers)}"

    def _guards(self, begin: list[str]) -> list[str]:
        """The lines of the function of the requirements, which begins with these lines."""
        guarded = [one for graph in self.planned.graphs() for one in graph.guarded]
        if not guarded:
            return []
        rows = [
            _tuple(f"({python(a, is_numbers=False)}, {python(b, is_numbers=False)})" for _, a, b in one.requirements) for one in guarded
        ]
        return ["", "", "def guards(numbers):", *begin, "    return (", *[f"        {row}," for row in rows], "    )"]

    @cached_property
    def _functions(self) -> tuple[Callable[..., Sizes | None], Callable[[Sizes], Any], Any]:
        """The functions of the plan: the sizes, the tensors and the requirements."""
        # Every name in the source is one of the plan's own, and every number an int or a float: no text of the file is in it.
        made: dict[str, Any] = {"__builtins__": _BUILTINS}
        if not self._are_numbers:
            made = {"__builtins__": _BUILTINS | OPERATIONS, "hull": self.hull, **self.opaque}
        exec(compile(self.source, "<plan>", "exec"), made)
        return made["sizes"], made["tensors"], made.get("guards")

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON for other languages.

        `inputs` are the shapes for which the plan holds, by the name of the input; each size is a number or the name of a symbol.
        `symbols` gives the range of each symbol. `asked` are the symbols that stand for numbers which only a rule tells, and `opaque` those
        for sizes that only data tell, with their ranges. `definitions` are pairs of a name and a tree, to be computed in this order.
        `conditions` are trees that must be true. The plan does not hold if a condition is false or a divisor is 0.

        `tensors` gives the element type, the shape and the elements (null if they are not known) of each output port `LAYER:PORT`
        that depends on a symbol. A size is an int or a name, and so is an element; an element may also be a float. `open` lists the
        output ports that only the rules of their layers tell. All other ports are as they were.

        A tree is an int, a name, or a list of an operator and trees. The operators `+ * // min max >= == != or not` mean what they
        mean in Python. `["broadcast", a, b]` is b if a is 1, otherwise a. `["multiple", a, b]` says that b is not 0 and divides a.

        Three more operators are about sizes that only data tell. `["hull", n, a, b]` is one of the two sizes, in a body. `["interval", a]`
        is a with the bounds that OpenVINO knows. `["open", kind, a, b]` says that the bounds leave a question open. A program that
        computes with numbers takes a for the first two, and true for the last.
        """
        ports = {
            slot: f"{node.key}:{id}"
            for node in self.model.nodes
            for slot, id in enumerate(node.layer.signature.output_ids, node.first_slot)
        }
        varying = {(symbol.node.index, symbol.axis): symbol.name for symbol in self.symbols}
        inputs = {
            self.model.nodes[index].name: [varying.get((index, axis), size) for axis, size in enumerate(shape)]
            for index, shape in self.shapes.items()
        }
        return {
            "inputs": inputs,
            "symbols": {symbol.name: {"low": symbol.low, "high": symbol.high} for symbol in self.symbols},
            "asked": {name: _range(low, high) for ask in self.asks for name, low, high, _ in ask.symbols},
            "opaque": {name: _range(*bounds_unasked(size)) for name, size in self.opaque.items()},
            "definitions": [list(step) for step in self.steps if not isinstance(step, Ask)],
            "conditions": self.conditions,
            "tensors": {ports[slot]: template.to_dict() for slot, template in self.planned.tensors.items()},
            "open": [ports[slot] for slot in sorted(self.open)],
        }


def _once(make: Callable[[], list[Fact]]) -> Callable[[], list[Fact]]:
    """A function that makes the facts when it is called first, and gives the same ones from then on; `functools.cache` takes longer."""
    made: list[list[Fact]] = []

    def facts() -> list[Fact]:
        if not made:
            made.append(make())
        return made[0]

    return facts


class _Asking(NamedTuple):
    """The rules that a plan asks for one reshape. Their reports go to `run`, and the outputs that are no formulas to `answers`."""

    plan: Plan
    engine: Engine
    question: Question
    run: Run
    answers: dict[int, Fact]

    def ask(self, number: int, rows: list[Any]) -> Sizes | None:
        """The sizes that the symbols of a node stand for; None if the plan does not hold."""
        _, node, inputs, templates, symbols = ask = self.plan.asks[number]
        given = iter(rows)
        facts = tuple([one if isinstance(one, Fact) else self._fact(one, given) for one in inputs])
        outputs = self.engine.ask(self.run, ask.position, facts, self.question)
        if outputs is None:
            return None
        numbers: dict[str, Size] = {}
        for slot, (template, fact) in enumerate(zip(templates, outputs if templates else (), strict=True), node.first_slot):
            self.answers[slot] = fact
            if template is not None and not _matches(template, fact, numbers):
                return None
        for asked in symbols:
            if not asked.can_be(numbers[asked.name]):
                return None
        return tuple([numbers[asked.name] for asked in symbols])

    def _fact(self, one: Template | int, rows: Iterator[Any]) -> Fact:
        return self.answers[one] if isinstance(one, int) else _fact(self.engine.facts, one, next(rows))


def _fact(table: FactTable, template: Template, row: tuple[Any, ...]) -> Fact:
    fact = table.intern(template.element_type, row[0], row[1])
    return fact if template.view is None else table.with_openvino_view(fact, _fact(table, template.view, row[2]))


def _matches(template: Template, fact: Fact, numbers: dict[str, Size]) -> bool:
    """Whether a fact is that of a template, whose names get their numbers."""
    if fact.element_type is not template.element_type or fact.is_poisoned or fact.shape is None:
        return False
    if (fact.openvino_view is fact) != (template.view is None):
        return False
    for terms, known in ((template.shape, fact.shape), (template.elements, fact.elements)):
        if terms is None or known is None:
            if terms is not known:
                return False
            continue
        if len(terms) != len(known):
            return False
        for term, number in zip(terms, known, strict=True):
            if not isinstance(term, str):
                if repr(term) != repr(number):
                    return False
            elif isinstance(number, Dim):
                numbers[term] = number
            elif not isinstance(number, int | float) or number != int(number):
                return False
            else:
                numbers[term] = int(number)
    return template.view is None or _matches(template.view, fact.openvino_view, numbers)


def _limited(name: str, low: int, high: int) -> list[str]:
    """The lines that let a number lie between two others."""
    return [f"    if not {low} <= {name} <= {high}:", "        return None"]


def _range(low: Bound, high: Bound) -> dict[str, Bound | None]:
    return {"low": None if low == -inf else low, "high": None if high == inf else high}


def _row(template: Template) -> str:
    element_type, shape, elements, view = template
    as_held = "float({})" if element_type.is_real else "{}"
    held = None if elements is None else [as_held.format(python(one)) if isinstance(one, str | list) else _number(one) for one in elements]
    theirs = "" if view is None else f", {_row(view)}"
    return f"({_tuple(map(python, shape))}, {None if held is None else _tuple(held)}{theirs})"


def _number(number: int | float) -> str:
    return f"float('{number}')" if isinstance(number, float) and not isfinite(number) else repr(number)


def _tuple(texts: Any) -> str:
    return "(" + "".join(f"{text}, " for text in texts) + ")"
