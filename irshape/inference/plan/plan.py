"""A plan for reshapes: the sizes of all tensors as one Python function of the sizes that change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import isfinite
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.formulas import Tree, python
from irshape.inference.run import Run
from irshape.model.model import Model, Node
from irshape.shape.element_type import ElementType

Numbers: TypeAlias = tuple[int, ...]

# The names that the source of a plan uses besides its own.
_BUILTINS: Final = {"max": max, "min": min, "float": float}


class Symbol(NamedTuple):
    """An axis of an input that changes; the plan holds for sizes from 1 to `high`."""

    name: str
    node: Node
    axis: int
    high: int


class Template(NamedTuple):
    """The fact of a tensor with formulas in it: numbers, and names of formulas."""

    element_type: ElementType
    shape: tuple[Any, ...]
    elements: tuple[Any, ...] | None


class Plan:
    """The sizes of all tensors of a model as a function of the sizes of its inputs.

    A plan is made from a pass over an example: the shapes that the inputs had. It holds for all sizes that fulfil its conditions, and
    then gives what a pass would give.

    `model` is the model, `symbols` are the axes that change, `definitions` the formulas by name, in order, and `conditions` the formulas
    that must hold. `base` is the run of the example, `shapes` are its shapes of Parameters, by node. `tensors` are the templates of the
    tensors that the symbols change, `open` the tensors that only rules tell. `marks` are the positions of the nodes whose rules the plan
    does not replace, None if there are none. `examines` says that the variables of the model must be compared for each reshape.
    """

    def __init__(
        self,
        model: Model,
        base: Run,
        shapes: Mapping[int, Numbers],
        symbols: list[Symbol],
        definitions: list[tuple[str, Tree]],
        conditions: list[Tree],
        tensors: dict[int, Template],
        open: set[int],
        marks: bytearray | None,
        *,
        examines: bool,
    ) -> None:
        self.model = model
        self.base = base
        self.shapes = dict(shapes)
        self.symbols = symbols
        self.definitions = definitions
        self.conditions = conditions
        self.tensors = tensors
        self.marks = marks
        self.examines = examines
        self.open = open
        self._varying = [(symbol.node.index, symbol.axis) for symbol in symbols]
        self._ranks = [(index, len(shape)) for index, shape in shapes.items()]
        axes = [(index, axis) for index, rank in self._ranks for axis in range(rank)]
        self._fixed = [(index, axis, shapes[index][axis]) for index, axis in axes if (index, axis) not in self._varying]

    def numbers(self, shapes: Mapping[int, Numbers]) -> Numbers | None:
        """The sizes that change and all that are computed from them; None if the plan does not hold.

        `shapes` are those of the Parameters, by node.
        """
        if len(shapes) != len(self._ranks):
            return None
        for index, rank in self._ranks:
            if index not in shapes or len(shapes[index]) != rank:
                return None
        for index, axis, size in self._fixed:
            if shapes[index][axis] != size:
                return None
        try:
            return self._functions[0](*[shapes[index][axis] for index, axis in self._varying])
        except ZeroDivisionError:
            return None

    def run(self, numbers: Numbers, facts: FactTable) -> Run:
        """The run for these numbers; `facts` is the table of the engine, whose rules complete the run if the plan leaves tensors open.

        Else the facts of the tensors are made when they are asked for, in a table of their own, which is gone with the run.
        """
        base = self.base
        run = Run(None)
        run.outcomes = [None] * len(base.outcomes)
        table = FactTable(facts.is_static) if self.marks is None else facts
        run.place = lambda: self._placed(numbers, table)
        run.reports, run.unlisted, run.inner = base.reports, base.unlisted, base.inner
        return run if self.marks is None else run.copy()

    def _placed(self, numbers: Numbers, facts: FactTable) -> list[Fact]:
        slots = self.base.slots.copy()
        made = [
            facts.intern(element_type, shape, elements)
            for element_type, (shape, elements) in zip(self._types, self._functions[1](numbers), strict=True)
        ]
        for slot, kind in self._kinds:
            slots[slot] = made[kind]
        return slots

    # The Python of a plan.

    @cached_property
    def _templates(self) -> dict[object, Template]:
        """The different templates."""
        return {_key(template): template for template in self.tensors.values()}

    @cached_property
    def _kinds(self) -> list[tuple[int, int]]:
        """The tensors, each with the number of its template."""
        numbers = {key: number for number, key in enumerate(self._templates)}
        return [(slot, numbers[_key(template)]) for slot, template in self.tensors.items()]

    @cached_property
    def _types(self) -> list[ElementType]:
        return [template.element_type for template in self._templates.values()]

    @cached_property
    def source(self) -> str:
        """The plan in Python: two functions.

        `sizes` takes the sizes that change and gives them with the sizes that are computed from them, or None where a condition does not
        hold. `tensors` takes these numbers and gives the shape and the known elements of each kind of tensor.
        """
        names = [symbol.name for symbol in self.symbols]
        lines = [f"def sizes({', '.join(names)}):"]
        for name, node, axis, high in self.symbols:
            lines += [
                f"    # {name} is axis {axis} of the input of layer {node.id}",
                f"    if not 1 <= {name} <= {high}:",
                "        return None",
            ]
        lines += [f"    {name} = {python(tree)}" for name, tree in self.definitions]
        for condition in self.conditions:
            lines += [f"    if not ({python(condition)}):", "        return None"]
        numbers = "".join(f"{name}, " for name in (*names, *(name for name, _ in self.definitions)))
        rows = [f"        {_row(template)}," for template in self._templates.values()]
        return "\n".join(
            [
                *lines,
                f"    return ({numbers})",
                "",
                "",
                "def tensors(numbers):",
                f"    ({numbers}) = numbers",
                "    return (",
                *rows,
                "    )",
                "",
            ]
        )

    @cached_property
    def _functions(self) -> tuple[Callable[..., Numbers | None], Callable[[Numbers], Any]]:
        # Every name in the source is one of the plan's own, and every number an int or a float: no text of the file is in it.
        made: dict[str, Any] = {"__builtins__": _BUILTINS}
        exec(compile(self.source, "<plan>", "exec"), made)
        return made["sizes"], made["tensors"]

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON for other languages.

        `inputs` are the shapes for which the plan holds, by the name of the input; each size is a number or the name of a symbol.
        `symbols` gives the range of each symbol. `definitions` are pairs of a name and a tree, to be computed in this order.
        `conditions` are trees that must be true. The plan does not hold if a condition is false or a divisor is 0.

        `tensors` gives the element type, the shape and the elements (null if they are not known) of each output port `LAYER:PORT`
        that depends on a symbol. A size is an int or a name, and so is an element; an element may also be a float. `open` lists the
        output ports that only the rules of their layers tell. All other ports are as they were.

        A tree is an int, a name, or a list of an operator and trees. The operators `+ * // min max >= == != or not` mean what they
        mean in Python. `["broadcast", a, b]` is b if a is 1, otherwise a. `["multiple", a, b]` says that b is not 0 and divides a.
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
            "symbols": {symbol.name: {"low": 1, "high": symbol.high} for symbol in self.symbols},
            "definitions": [[name, tree] for name, tree in self.definitions],
            "conditions": self.conditions,
            "tensors": {
                ports[slot]: {
                    "element_type": template.element_type.name,
                    "shape": list(template.shape),
                    "elements": None if template.elements is None else list(template.elements),
                }
                for slot, template in self.tensors.items()
            },
            "open": [ports[slot] for slot in sorted(self.open)],
        }


def _key(template: Template) -> object:
    """A key that differs for different templates: repr differs for 0.0 and -0.0, which are equal."""
    return template.element_type, template.shape, repr(template.elements)


def _row(template: Template) -> str:
    element_type, shape, elements = template
    as_held = "float({})" if element_type.is_real else "{}"
    held = None if elements is None else [as_held.format(one) if isinstance(one, str) else _number(one) for one in elements]
    return f"({_tuple(map(str, shape))}, {None if held is None else _tuple(held)})"


def _number(number: int | float) -> str:
    return f"float('{number}')" if isinstance(number, float) and not isfinite(number) else repr(number)


def _tuple(texts: Any) -> str:
    return "(" + "".join(f"{text}, " for text in texts) + ")"
