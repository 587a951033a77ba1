"""The question for which sizes a model is valid, as input shapes: every open size is a symbol, and no size is 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Final, NamedTuple

from irshape.inference.engine import Engine
from irshape.inference.forms import GUARD
from irshape.inference.inputs import InputError, Inputs, described_shape
from irshape.inference.run import Guard
from irshape.model.model import Model, Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.form import Form, described
from irshape.shape.dim import Dim, Size
from irshape.shape.guard import Requirement
from irshape.shape.notation import Described, DescribedShape, SymbolRange
from irshape.shape.range import Range, reduced


def opened(model: Model, given: Inputs) -> Inputs:
    """The given shapes, and those of the file, with a symbol for every open size; the range of each symbol keeps its sizes at 1 or more.

    A new symbol has the name of the input and the axis, as in `past_k0.2`. Raises InputError if no value in the range of a symbol makes its
    sizes at least 1.
    """
    shapes: dict[Node, DescribedShape] = {}
    ranges = dict(given.symbols)
    for node in model.parameters:
        shape = given.shapes.get(node, described_shape(node))
        # A Parameter of no opset has the shape that its port records, and one that lists no output has no tensor.
        if shape is None or node.op is None or not node.layer.signature.output_count:
            shapes[node] = None
            continue
        sizes = []
        for axis, one in enumerate(shape):
            if not one.symbols and one.low < one.high:
                name = f"{node.name}.{axis}"
                if name in ranges:  # two inputs with one name
                    name = f"{node.name}.{node.id}.{axis}"
                ranges[name] = SymbolRange(one.low, one.high)
                one = Described(0, inf, name)
            for name in one.symbols:
                factor, offset = (one.factor, one.offset) if one.name else (1, 0)
                low, high, modulus, remainder = ranges.get(name, SymbolRange(0, inf))
                least = reduced(max(low, -((offset - 1) // factor)), high, modulus, remainder)
                if least is None:
                    raise InputError(f"no value of {name!r} within its range makes {one} at least 1")
                ranges[name] = SymbolRange(*least)
            sizes.append(one)
        shapes[node] = tuple(sizes)
    return Inputs(shapes, ranges)


def filled(question: Inputs, engine: Engine) -> list[Guard]:
    """The guards that demand at least 1 of each size that is a formula, where the ranges of its symbols do not imply it."""
    found: dict[Requirement, Guard] = {}
    for node, shape in question.shapes.items():
        sizes = engine.slots[node.first_slot].shape or ()
        for axis, (one, size) in enumerate(zip(shape or (), sizes, strict=False)):  # a broken Parameter has no sizes
            # The range of a size says that it is not negative; that of its formula does not.
            if one.formula is not None and isinstance(size, Dim) and size.polynomial.range.low < 1:
                requirement = Requirement("ge", size, 1, "axis {axis} must be at least 1", "S203", {"axis": axis})
                found.setdefault(requirement, Guard(node, requirement))
    return list(found.values())


def in_range(size: Size, known: Range, implied: Range) -> Iterator[Requirement]:
    """The requirements that say of a size that it is in a range, as far as another range does not imply it."""
    if known.low > implied.low:
        yield Requirement("ge", size, int(known.low), "", "", {})
    if known.high < implied.high:
        yield Requirement("ge", int(known.high), size, "", "", {})
    if known.modulus > 1:
        yield Requirement("div", size - known.remainder, known.modulus, "", "", {})


def errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those of diagnostics that are errors."""
    return [one for one in diagnostics if one.severity == ERROR]


def is_whole(model: Model) -> bool:
    """Whether the file could be read to its end and its graph is sound."""
    return model.document.is_complete and not errors(model.diagnostics)


class Condition(NamedTuple):
    """A condition on sizes, in Python's syntax, and the guards that demand it; none for the range that the question gave a symbol."""

    text: str
    symbols: tuple[str, ...]
    guards: tuple[Guard, ...]

    @property
    def branch(self) -> str:
        """The body that demands the condition, if this body need not run: `then_body of If_3`; else empty."""
        return self.guards[0].branch if self.guards else ""


def merged(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions in their order; those that say the same of the same body are one, with the guards of all."""
    found: dict[tuple[str, str], Condition] = {}
    for one in conditions:
        known = found.setdefault((one.text, one.branch), one)
        if known is not one:
            found[one.text, one.branch] = known._replace(guards=tuple(dict.fromkeys((*known.guards, *one.guards))))
    return list(found.values())


CONDITION: Final = Form(
    condition=("text: a Python expression", "text"),
    symbols="texts",
    guards=described("the layers that demand it; empty for a condition of the given ranges", GUARD.list()),
)
