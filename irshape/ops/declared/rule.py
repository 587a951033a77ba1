"""The rule of an operation that a file declares, and the class of such operations."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from irshape.ops.context import Context
from irshape.ops.declared.formula import Axes, Condition, Formula, Layer
from irshape.ops.declared.notation import Pattern
from irshape.ops.op import Input, Op, UnknownRank
from irshape.shape.dim import Size
from irshape.shape.shape import Shape


class Output(NamedTuple):
    """The shape of an output: the function of each size, or of each run of axes. The output is there if the inputs `needs` are."""

    items: Sequence[tuple[Formula | None, Axes | None]]
    needs: Sequence[str]

    def shape(self, layer: Layer) -> Shape:
        """The shape for one layer; None if a run of axes is not known."""
        sizes: list[Size] = []
        for size, axes in self.items:
            if size is not None:
                sizes.append(size(layer))
            elif axes is not None:
                run = axes(layer)
                if run is None:
                    return None
                sizes += run
        return tuple(sizes)


class Rule(NamedTuple):
    """The rule of an operation as a file states it: the shapes of the inputs, by name, then the conditions, then the shapes of the outputs.

    `numbers` are the attributes that the shapes of inputs name, each with its name in Python.
    """

    numbers: dict[str, str]
    patterns: dict[str, Pattern]
    conditions: Sequence[Condition]
    outputs: Sequence[Output]

    def shapes(self, op: Op, ctx: Context, inputs: Sequence[Any]) -> Shape | list[Shape]:
        """The shapes of the outputs of a layer."""
        named = {port.name: held for port, held in zip(op.inputs, inputs, strict=True)}
        binding = _Binding(ctx, {name: getattr(op, own) for name, own in self.numbers.items()})
        for name, pattern in self.patterns.items():
            held = named[name]
            for one in held if isinstance(held, tuple) else (held,) if held is not None else ():
                binding.bind(one, pattern)
        layer = Layer(op, ctx, named, binding.sizes, binding.runs)
        for condition in self.conditions:
            condition.check(layer)
        ctx.stop_at_errors()
        shapes = [output.shape(layer) for output in self.outputs if all(named[name] is not None for name in output.needs)]
        return shapes[0] if len(op.outputs) == 1 else shapes


class _Binding:
    """The sizes and the runs of axes that the shapes of inputs name."""

    def __init__(self, ctx: Context, numbers: dict[str, Size]) -> None:
        self.ctx = ctx
        self.sizes = numbers
        self.runs: dict[str, Shape] = {}
        # The input, or the attribute, that has named each size first.
        self.named_by = dict.fromkeys(numbers, "the attributes")

    def bind(self, port: Input, pattern: Pattern) -> None:
        """Bind the names in the shape of an input, and compare the sizes that are numbers or have a value already."""
        before, run, after = pattern
        try:
            shape = port.shape
        except UnknownRank:
            return
        first, last = len(before), len(shape) - len(after)
        for axis, wanted in [*enumerate(before), *enumerate(after, last)]:
            if wanted is not None:
                self._size(port, axis, wanted, shape[axis])
        if run:
            known = self.runs.get(run)
            message = f"axis {{axis}} of {run}... must be as long in {port.name} as in {self.named_by.get(run)}"
            merged = self.ctx.merge_shapes(known, shape[first:last], message) if run in self.runs else shape[first:last]
            self.runs[run] = merged
            self.named_by.setdefault(run, port.name)

    def _size(self, port: Input, axis: int, wanted: int | str, size: Size) -> None:
        if isinstance(wanted, int):
            self.ctx.require_eq(size, wanted, f"{port.name}[{axis}] must be {wanted}")
        elif wanted in self.sizes:
            message = f"{port.name}[{axis}] must be {wanted} of {self.named_by[wanted]}"
            self.sizes[wanted] = self.ctx.merge(size, self.sizes[wanted], message)
        else:
            self.sizes[wanted] = size
            self.named_by[wanted] = port.name


class DeclaredOp(Op):
    """The family of operations that a file declares."""

    rule: ClassVar[Rule]

    def infer(self, ctx: Context, *inputs: Any) -> Any:
        return self.rule.shapes(self, ctx, inputs)
