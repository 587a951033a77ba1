"""Random subgraphs that compute shapes: `python -m tests.fuzz.values --seconds N --seed S`.

Sizes of inputs, open or not, and constants at the ends of their types go through arithmetic, comparisons, moves and bodies of every
element type, and become the sizes, bounds and counts that other layers read. Every verb must answer, in time and without an internal
error. Numbers in place of the open sizes, 0 among them, must give sizes and elements that the answer for the open sizes allows.
"""

import argparse
import math
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from irshape import verbs
from irshape.inference.inference import Inference
from irshape.report.diagnostic import ERROR
from irshape.shape.dim import Dim, bounds, evaluate, symbols
from irshape.shape.element_type import ElementType
from irshape.shape.value import Real
from tests.fuzz.ask import Mutant
from tests.fuzz.mutate import answers, guarded
from tests.support.ir import FORMATS, Net, Ref

SIZES = ["?", "?", "?", "1..9", "0..3", "..7", "2..", "5", "1", "0", f"{2**62}..", f"..{2**63 - 1}", "2..1000000"]
INTS = [0, 1, -1, 2, 3, 5, 7, 64, -3, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**62)]
REALS = [0.0, -0.0, 1.0, 0.5, -1.5, 2.0, 3.0, 1e-30, 65504.0, 1e30, 3e38, -3e38, math.inf, -math.inf, math.nan]
# Numbers that stand in for an open size.
NUMBERS = [0, 0, 1, 2, 3, 4, 7, 64, 1000]
BINARY = ["Add", "Subtract", "Multiply", "Divide", "FloorMod", "Mod", "Maximum", "Minimum", "Power", "SquaredDifference"]
BITWISE = ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseLeftShift", "BitwiseRightShift"]
COMPARISON = ["Greater", "Less", "Equal", "NotEqual", "GreaterEqual", "LessEqual"]
UNARY = ["Abs", "Negative", "Sign", "Floor", "Ceiling", "Sqrt", "ReLU", "Sigmoid", "Exp", "Log", "BitwiseNot", "Round"]
REDUCTION = ["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean"]
VERSIONS = {**dict.fromkeys(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"], "opset13"), "Round": "opset5"}
VERSIONS |= dict.fromkeys(["BitwiseLeftShift", "BitwiseRightShift"], "opset15")
TYPES = [*["i64", "i64", "i64", "i32", "f32", "f16", "f64", "bf16", "u64", "u32", "u8", "i8", "i16", "u16", "u4", "i4", "u1", "boolean"]]
SECONDS = 2.0


class Value(NamedTuple):
    """A tensor of rank 1 whose elements are followed."""

    ref: Ref
    length: int


class Data(NamedTuple):
    """A tensor whose shape is computed."""

    ref: Ref
    rank: int


def fits(number: float, type: ElementType) -> bool:
    """Whether a number can be written in the format of an element type."""
    if type.is_real:
        return not math.isfinite(number) or abs(number) <= {"f16": 65504, "f32": 3.4e38}.get(type.name, math.inf)
    return (-(1 << type.bits - 1) if type.is_signed else 0) <= number < 1 << (type.bits - type.is_signed)


class Graph:
    """A net that grows at random, of these sizes, numbers and element types. `shapes` are those of its Parameters, by name."""

    sizes: ClassVar = SIZES
    ints: ClassVar = INTS
    reals: ClassVar = REALS
    types: ClassVar = TYPES

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.net = Net()
        self.shapes: dict[str, list[str]] = {}
        self.data: list[Data] = []
        self.pool: list[Value] = []
        for _ in range(2):
            sizes = chance.choices(self.sizes, k=chance.randint(1, 3))
            ref = self.net.parameter(f"f32[{','.join(sizes)}]")
            self.shapes[f"parameter_{ref.layer}"] = sizes
            self.add_data(ref, len(sizes))
        for _ in range(chance.randint(2, 14)):
            self.grow()
        for _ in range(chance.randint(1, 5)):
            self.use()
            if chance.random() < 0.4:
                self.grow()
        for data in self.data:
            self.net.result(data.ref)

    def add_data(self, ref: Ref, rank: int) -> None:
        """Take a tensor up, and its sizes as elements."""
        self.data.append(Data(ref, rank))
        sizes = Value(self.net.layer("ShapeOf", [ref], ["I64"], "opset3", output_type="i64")[0], rank)
        self.pool += [sizes, self.gathered(sizes, [self.chance.randrange(-rank, rank)])] if rank else [sizes]

    # Elements.

    def layer(self, type: str, inputs: list[Ref], length: int, precision: str = "", version: str = "", **attributes: Any) -> Value:
        outputs = [precision or inputs[0].precision]
        return Value(self.net.layer(type, inputs, outputs, version or VERSIONS.get(type, "opset1"), **attributes)[0], length)

    def constant(self, length: int, name: str) -> Value:
        element_type = ElementType.BY_NAME[name]
        if name not in FORMATS:
            return self.converted(self.constant(length, "i32"), element_type.precision)
        numbers = [one for one in (self.reals if element_type.is_real else self.ints) if fits(one, element_type)]
        return Value(self.net.const(self.chance.choices(numbers, k=length), name), length)

    def taken(self, precision: str = "", lengths: set[int] = frozenset()) -> Value:  # type: ignore[assignment]
        """Elements of the pool or a constant, of a precision and one of some lengths if these are given."""
        chance = self.chance
        if chance.random() < 0.25:
            name = ElementType.from_precision(precision).name if precision else chance.choice(self.types)  # type: ignore[union-attr]
            return self.constant(chance.choice(sorted(lengths)) if lengths else chance.choice([1, 1, 2]), name)
        value = chance.choice([one for one in self.pool if one.length > 0])
        if lengths and value.length not in lengths:
            length = chance.choice(sorted(lengths))
            value = self.gathered(value, [chance.randrange(value.length) for _ in range(length)])
        return value if precision in ("", value.ref.precision) else self.converted(value, precision)

    def converted(self, value: Value, precision: str) -> Value:
        name = ElementType.from_precision(precision).name  # type: ignore[union-attr]
        return self.layer("Convert", [value.ref], value.length, precision, destination_type=name)

    def gathered(self, value: Value, places: list[int]) -> Value:
        return self.layer("Gather", [value.ref, self.net.const(places), self.net.const(0)], len(places), version="opset8")

    def scalar(self, value: Value) -> Ref:
        return self.layer("Squeeze", [value.ref, self.net.const([0])], 0).ref

    def size(self, length: int = 1) -> Ref:
        return self.taken("I64", {length}).ref

    def grow(self) -> None:
        """Add elements that are computed of others."""
        kinds = [self.binary] * 6 + [self.unary, self.convert] * 2
        kinds += [self.bitwise, self.select, self.concat, self.gather, self.reduce, self.reshape, self.slice, self.scatter, self.clamp]
        kinds += [self.loop, self.branch, self.sum_up, self.count]
        self.pool.append(self.chance.choice(kinds)())

    def pair(self, precision: str = "") -> tuple[Value, Value]:
        a = self.taken(precision)
        return (a, a) if self.chance.random() < 0.15 else (a, self.taken(a.ref.precision, {1, a.length}))

    def binary(self) -> Value:
        a, b = self.pair()
        if self.chance.random() < 0.5:
            a, b = b, a
        return self.layer(self.chance.choice(BINARY), [a.ref, b.ref], max(a.length, b.length))

    def bitwise(self) -> Value:
        a, b = self.pair(self.chance.choice(["I64", "I32", "U8"]))
        return self.layer(self.chance.choice(BITWISE), [a.ref, b.ref], max(a.length, b.length))

    def unary(self) -> Value:
        value = self.taken()
        return self.layer(self.chance.choice(UNARY), [value.ref], value.length)

    def convert(self) -> Value:
        return self.converted(self.taken(), ElementType.BY_NAME[self.chance.choice(self.types)].precision)

    def clamp(self) -> Value:
        value, chance = self.taken(), self.chance
        return self.layer("Clamp", [value.ref], value.length, min=chance.choice(self.reals), max=chance.choice(self.reals))

    def select(self) -> Value:
        a, b = self.pair()
        length = max(a.length, b.length)
        c, d = self.taken(a.ref.precision, {1, length}), self.taken(a.ref.precision, {1, length})
        condition = self.layer(self.chance.choice(COMPARISON), [c.ref, d.ref], max(c.length, d.length), "BOOL")
        return self.layer("Select", [condition.ref, a.ref, b.ref], length, a.ref.precision)

    def concat(self) -> Value:
        a = self.taken()
        b = self.taken(a.ref.precision)
        return self.layer("Concat", [a.ref, b.ref], a.length + b.length, axis=0)

    def gather(self) -> Value:
        value = self.taken()
        if self.chance.random() < 0.7:
            return self.gathered(value, [self.chance.randrange(-value.length, value.length) for _ in range(self.chance.randint(1, 3))])
        places = self.taken("I64", {1})
        return self.layer("Gather", [value.ref, places.ref, self.net.const(0)], 1, version="opset8")

    def reduce(self) -> Value:
        return self.layer(self.chance.choice(REDUCTION), [self.taken().ref, self.net.const([0])], 1, keep_dims=True)

    def sum_up(self) -> Value:
        value = self.taken("I64")
        return self.layer("CumSum", [value.ref, self.net.const(0)], value.length, version="opset3", exclusive=self.chance.random() < 0.5)

    def reshape(self) -> Value:
        value = self.taken()
        row = self.layer("Reshape", [value.ref, self.net.const([1, -1])], value.length, special_zero=False)
        column = self.layer("Transpose", [row.ref, self.net.const([1, 0])], value.length)
        return self.layer("Squeeze", [column.ref, self.net.const([1])], value.length)

    def slice(self) -> Value:
        value = self.taken()
        start = self.chance.randrange(value.length)
        ends = [self.net.const([start]), self.net.const([value.length]), self.net.const([1])]
        return self.layer("StridedSlice", [value.ref, *ends], value.length - start, begin_mask="0", end_mask="0")

    def scatter(self) -> Value:
        value = self.taken()
        update = self.taken(value.ref.precision, {1})
        places = self.net.const([self.chance.randrange(value.length)])
        return self.layer("ScatterUpdate", [value.ref, places, update.ref, self.net.const(0)], value.length, version="opset3")

    def count(self) -> Value:
        """A Range of as many numbers as it has elements."""
        ends = [self.net.const(0), self.net.const(2), self.net.const(1)]
        return self.layer("Range", ends, 2, "I64", "opset4", output_type="i64")

    def changed(self) -> Net:
        """A body that changes a number."""
        return Net(f"x: i64[1] -> {self.chance.choice(BINARY)}([{self.chance.choice(self.ints)}]) -> y: Result")

    def loop(self) -> Value:
        """A number that a Loop changes in each iteration."""
        state, trips = self.taken("I64", {1}), self.scalar(self.taken("I64", {1}))
        body = self.changed()
        body.add(f"boolean={str(self.chance.random() < 0.8).lower()} -> go: Result")
        true = self.net.const(True, "boolean")
        return Value(self.net.holder("Loop-5 i64", "2 > x; y > 3; go > -1; y > x", trips, true, state.ref, body=body)[0], 1)

    def branch(self) -> Value:
        """A number that an If chooses."""
        value = self.taken("I64", {1})
        condition = self.layer(self.chance.choice(COMPARISON), [value.ref, self.taken("I64", {1}).ref], 1, "BOOL")
        then, otherwise = self.changed(), self.changed()
        inputs = self.scalar(condition), value.ref
        return Value(self.net.holder("If-8 i64", "1 > x; y > 2", *inputs, then_body=then, else_body=otherwise)[0], 1)

    # Layers that read elements as sizes, bounds or counts.

    def use(self) -> None:
        chance, net, size = self.chance, self.net, self.size
        data, rank = chance.choice([one for one in self.data if one.rank])
        axis = chance.randrange(rank)

        def add(type: str, inputs: list[Ref], rank: int, version: str = "opset1", precision: str = "FP32", **attributes: Any) -> None:
            self.add_data(net.layer(type, inputs, [precision], version, **attributes)[0], rank)

        kind = chance.choice(
            ["Broadcast", "Reshape", "Tile", "Slice", "StridedSlice", "Range", "Pad", "TopK", "OneHot", "Split", "Interpolate", "Eye"]
        )
        if kind == "Broadcast":
            length = chance.randint(1, 3)
            add(kind, [net.const(1.0, "f32"), size(length)], length, "opset3", mode="numpy")
        elif kind == "Reshape":
            length = chance.randint(0, 2)
            parts = [size(length), net.const([chance.choice([-1, -1, 0, 1])])] if length else [net.const([-1])]
            pattern = net.layer("Concat", parts, ["I64"], axis=0)[0]
            add(kind, [data, pattern], length + 1, special_zero=chance.random() < 0.5)
        elif kind == "Tile":
            add(kind, [data, size(rank)], rank)
        elif kind == "Slice":
            step = net.const([chance.choice([1, -1, 3, 2**62, -(2**63)])]) if chance.random() < 0.7 else size()
            add(kind, [data, size(), size(), step, net.const([axis])], rank, "opset8")
        elif kind == "StridedSlice":
            masks = {name: str(chance.choice([0, 0, 1])) for name in ("begin_mask", "end_mask")}
            add(kind, [data, size(), size(), net.const([chance.choice([1, -1, 7])])], rank, **masks)
        elif kind == "Range":
            name = chance.choice(["i64", "f32", "i32"])
            precision = ElementType.BY_NAME[name].precision
            ends = [self.scalar(self.taken(precision, {1})) for _ in range(3)]
            add(kind, ends, 1, "opset4", precision, output_type=name)
        elif kind == "Pad":
            add(kind, [data, size(rank), size(rank), net.const(0.0, "f32")], rank, "opset12", pad_mode="constant")
        elif kind == "TopK":
            k = self.scalar(self.taken("I64", {1}))
            self.add_data(net.layer(kind, [data, k], ["FP32", "I64"], "opset11", axis=axis, mode="max", sort="value")[0], rank)
        elif kind == "OneHot":
            values = [net.const(1.0, "f32"), net.const(0.0, "f32")]
            add(kind, [net.const([0, 1]), self.scalar(self.taken("I64", {1})), *values], 2, axis=-1)
        elif kind == "Split":
            lengths = net.layer("Concat", [size(), net.const([-1])], ["I64"], axis=0)[0]
            for ref in net.layer("VariadicSplit", [data, net.const(axis), lengths], ["FP32", "FP32"]):
                self.add_data(ref, rank)
        elif kind == "Eye":
            add(kind, [size(), size(), net.const([0])], 2, "opset9", output_type="f32")
        else:
            mode = chance.choice(["scales", "sizes"])
            scales = self.taken("FP32" if mode == "scales" else "I64", {1}).ref
            how = {"mode": "nearest", "shape_calculation_mode": mode, "pads_begin": "0", "pads_end": "0"}
            add(kind, [data, scales, net.const([axis])], rank, "opset11", **how)


# What is asked.


def unsound(graph: Graph) -> Iterator[str]:
    """Where numbers in place of open sizes give what the answer for the open sizes rules out."""
    chance, xml, weights = graph.chance, graph.net.xml.encode(), graph.net.bin
    inference = verbs.infer(xml, weights=weights)
    if not inference.ok:
        return
    parameters = {node.name: inference.view(node).outputs[0].shape or () for node in inference.model.parameters}
    for _ in range(4):
        values = {}
        for size in {size: None for shape in parameters.values() for size in shape if isinstance(size, Dim)}:
            low, high = bounds(size)
            inside = [one for one in NUMBERS if low <= one <= high]
            values[str(size)] = chance.choice(inside or [int(low)])
        shapes = {name: [evaluate(size, values) for size in shape] for name, shape in parameters.items()}
        yield from contradictions(inference, verbs.infer(xml, weights=weights, inputs=shapes), values)


def contradictions(inference: Inference, numbers: Inference, values: dict[str, int]) -> Iterator[str]:
    """What an inference says of these numbers for its symbols that the inference with the numbers does not."""
    known = frozenset(values)
    guards = inference.guards
    told = [guard for guard in guards if guard.requirement.symbols() <= known]
    broken = [guard for guard in told if not guard.requirement.holds(values)]
    if any(guard.is_premise for guard in broken):
        return  # the formulas say nothing of these sizes
    faults = [found for found in numbers.diagnostics if found.severity == ERROR]
    never = [found for found in numbers.diagnostics if found.code == "R401"]
    if faults:
        # A condition on elements that are not known is no guard, and neither is a size that leaves int64.
        is_told = len(told) == len(guards) and not any(found.code[0] in "VRN" for found in inference.diagnostics)
        is_told &= not any(found.code[0] in "RN" for found in numbers.diagnostics)
        shapes = [port.shape or () for node in inference.model.nodes for port in inference.view(node).outputs]
        is_told &= all(symbols(size) <= known for shape in shapes for size in shape)
        if not broken and is_told and faults[0].code != "S205":
            yield f"no guard is broken by {values}, but: {faults[0].code} {faults[0].where.layer_type} {faults[0].message[:80]}"
        return
    if broken and not never:
        yield f"{broken[0]} is broken by {values}, but nothing is wrong"
        return
    if never:
        return
    for node in inference.model.nodes:
        for ours, theirs in zip(inference.view(node).outputs, numbers.layer(node.id).outputs, strict=True):
            where = f"{node.type} with {values}:"
            if ours.shape is not None and theirs.shape is not None:
                if len(ours.shape) != len(theirs.shape):
                    yield f"{where} rank {len(ours.shape)} is {len(theirs.shape)}"
                for size, number in zip(ours.shape, theirs.shape, strict=False):
                    yield from _contradiction(where, size, number, values)
            if ours.elements is not None and theirs.elements is not None:
                if len(ours.elements) != len(theirs.elements):
                    yield f"{where} {len(ours.elements)} elements are {len(theirs.elements)}"
                for element, number in zip(ours.elements, theirs.elements, strict=False):
                    yield from _contradiction(f"{where} element", element, number, values)


def _contradiction(where: str, ours: Any, theirs: Any, values: dict[str, int]) -> Iterator[str]:
    if isinstance(ours, Real):
        low, high = ours.low, ours.high
        formula, divisor = ours.size, ours.divisor
    else:
        low, high = bounds(ours) if isinstance(ours, Dim) else (ours, ours)
        formula, divisor = ours, 1
    least, most = (theirs.low, theirs.high) if isinstance(theirs, Real) else bounds(theirs) if isinstance(theirs, Dim) else (theirs, theirs)
    if most != most or low != low:
        return
    if most < low or high < least:
        yield f"{where} {ours} in {low}..{high} is {theirs}"
    elif isinstance(formula, Dim) and symbols(formula) <= values.keys() and not isinstance(theirs, (Dim, Real)):
        try:
            number = evaluate(formula, values)
        except ZeroDivisionError:
            return
        if (number != theirs) if divisor == 1 else not math.isclose(number / divisor, theirs, rel_tol=1e-2):
            yield f"{where} {formula} / {divisor} is {theirs}"


def fuzz(seconds: float, seed: int, most: int | None = None) -> tuple[int, dict[str, Net]]:
    """How many nets were made, and the findings, each with its net."""
    end = time.monotonic() + seconds
    count, found = 0, dict[str, Net]()
    before = Mutant(Net().xml.encode(), b"")
    while time.monotonic() < end and count != most:
        graph = Graph(random.Random(f"{seed} {count}"))
        count += 1
        own = Mutant(graph.net.xml.encode(), graph.net.bin)
        for finding in (*answers(own, before, graph.chance), *guarded(unsound(graph), SECONDS)):
            found.setdefault(finding, graph.net)
        before = own
    return count, found


def main() -> int:
    """Fuzz; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.values", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the nets that were found out")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    count, found = fuzz(given.seconds, given.seed)
    for number, (finding, net) in enumerate(found.items()):
        print(f"{number}: {finding}")
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            (given.keep / f"{number}.xml").write_text(net.xml)
            (given.keep / f"{number}.bin").write_bytes(net.bin)
    print(f"{count} nets, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
