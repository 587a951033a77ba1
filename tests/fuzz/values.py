"""Random subgraphs that compute shapes: `python -m tests.fuzz.values --seconds N --seed S`.

Sizes of inputs, open or not, and constants at the ends of their types go through arithmetic, comparisons, moves and bodies of every
element type, and become the sizes, bounds and counts that other layers read. Every verb must answer, in time and without an internal
error. Numbers in place of the open sizes, 0 among them, must give sizes and elements that the answer for the open sizes allows.
"""

import argparse
import json
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
from tests.support.ir import FORMATS, Net

SIZES = ["?", "?", "?", "1..9", "0..3", "..7", "2..", "5", "1", "0", f"{2**62}..", f"..{2**63 - 1}", "2..1000000"]
INTS = [0, 1, -1, 2, 3, 5, 7, 64, -3, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**62)]
REALS = [0.0, -0.0, 1.0, 0.5, -1.5, 2.0, 3.0, 1e-30, 65504.0, 1e30, 3e38, -3e38, math.inf, -math.inf, math.nan]
# Numbers that stand in for an open size.
NUMBERS = [0, 0, 1, 2, 3, 4, 7, 64, 1000]
BINARY = ["Add", "Subtract", "Multiply", "Divide", "FloorMod", "Mod", "Maximum", "Minimum", "Power", "SquaredDifference"]
BITWISE = ["BitwiseAnd-13", "BitwiseOr-13", "BitwiseXor-13", "BitwiseLeftShift-15", "BitwiseRightShift-15"]
COMPARISON = ["Greater", "Less", "Equal", "NotEqual", "GreaterEqual", "LessEqual"]
UNARY = ["Abs", "Negative", "Sign", "Floor", "Ceiling", "Sqrt", "ReLU", "Sigmoid", "Exp", "Log", "BitwiseNot-13", "Round-5"]
REDUCTION = ["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean"]
TYPES = [*["i64", "i64", "i64", "i32", "f32", "f16", "f64", "bf16", "u64", "u32", "u8", "i8", "i16", "u16", "u4", "i4", "u1", "boolean"]]
SECONDS = 2.0


class Value(NamedTuple):
    """A tensor of rank 1 whose elements are followed, by its name in the text of the net."""

    name: str
    length: int
    type: str


class Data(NamedTuple):
    """A tensor whose shape is computed, by its name in the text of the net."""

    name: str
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
            self.shapes[f"parameter_{len(self.net.layers)}"] = sizes
            self.add(f"f32[{','.join(sizes)}]", len(sizes))
        for _ in range(chance.randint(2, 14)):
            self.grow()
        for _ in range(chance.randint(1, 5)):
            self.use()
            if chance.random() < 0.4:
                self.grow()
        for data in self.data:
            self.net.add(f"{data.name} -> Result")

    def named(self, text: str) -> str:
        """The name of what a text adds."""
        name = f"_{len(self.net.named)}"
        self.net.add(f"{name}: {text}")
        return name

    def add(self, text: str, rank: int, outputs: int = 1) -> None:
        """Add tensors of a rank, and their sizes as elements."""
        name = self.named(text)
        for data in [Data(f"{name}.{index}", rank) for index in range(outputs)]:
            self.data.append(data)
            sizes = self.value(f"ShapeOf-3({data.name}, output_type=i64)", rank, "i64")
            self.pool += [sizes, self.gathered(sizes, [self.chance.randrange(-rank, rank)])] if rank else [sizes]

    # Elements.

    def value(self, text: str, length: int, type: str) -> Value:
        """Elements that a text adds."""
        return Value(self.named(text), length, type)

    def constant(self, length: int, name: str) -> Value:
        element_type = ElementType.BY_NAME[name]
        if name not in FORMATS:
            return self.converted(self.constant(length, "i32"), name)
        numbers = [one for one in (self.reals if element_type.is_real else self.ints) if fits(one, element_type)]
        return self.value(f"{name}={json.dumps(self.chance.choices(numbers, k=length))}", length, name)

    def taken(self, type: str = "", lengths: set[int] = frozenset()) -> Value:  # type: ignore[assignment]
        """Elements of the pool or a constant, of an element type and one of some lengths if these are given."""
        chance = self.chance
        if chance.random() < 0.25:
            return self.constant(chance.choice(sorted(lengths)) if lengths else chance.choice([1, 1, 2]), type or chance.choice(self.types))
        value = chance.choice([one for one in self.pool if one.length > 0])
        if lengths and value.length not in lengths:
            length = chance.choice(sorted(lengths))
            value = self.gathered(value, [chance.randrange(value.length) for _ in range(length)])
        return value if type in ("", value.type) else self.converted(value, type)

    def converted(self, value: Value, type: str) -> Value:
        return self.value(f"Convert({value.name}, destination_type={type})", value.length, type)

    def gathered(self, value: Value, places: list[int]) -> Value:
        return self.value(f"Gather-8({value.name}, {places}, 0)", len(places), value.type)

    def scalar(self, value: Value) -> str:
        return f"Squeeze({value.name}, [0])"

    def size(self, length: int = 1) -> str:
        return self.taken("i64", {length}).name

    def grow(self) -> None:
        """Add elements that are computed of others."""
        kinds = [self.binary] * 6 + [self.unary, self.convert] * 2
        kinds += [self.bitwise, self.select, self.concat, self.gather, self.reduce, self.reshape, self.slice, self.scatter, self.clamp]
        kinds += [self.loop, self.branch, self.sum_up, self.count]
        self.pool.append(self.chance.choice(kinds)())

    def pair(self, type: str = "") -> tuple[Value, Value]:
        a = self.taken(type)
        return (a, a) if self.chance.random() < 0.15 else (a, self.taken(a.type, {1, a.length}))

    def binary(self) -> Value:
        a, b = self.pair()
        if self.chance.random() < 0.5:
            a, b = b, a
        return self.value(f"{self.chance.choice(BINARY)}({a.name}, {b.name})", max(a.length, b.length), a.type)

    def bitwise(self) -> Value:
        a, b = self.pair(self.chance.choice(["i64", "i32", "u8"]))
        return self.value(f"{self.chance.choice(BITWISE)}({a.name}, {b.name})", max(a.length, b.length), a.type)

    def unary(self) -> Value:
        value = self.taken()
        return value._replace(name=self.named(f"{self.chance.choice(UNARY)}({value.name})"))

    def convert(self) -> Value:
        return self.converted(self.taken(), self.chance.choice(self.types))

    def clamp(self) -> Value:
        value, chance = self.taken(), self.chance
        return value._replace(name=self.named(f"Clamp({value.name}, min={chance.choice(self.reals)}, max={chance.choice(self.reals)})"))

    def compared(self, a: Value, b: Value) -> str:
        return self.named(f"{self.chance.choice(COMPARISON)}({a.name}, {b.name}) boolean")

    def select(self) -> Value:
        a, b = self.pair()
        length = max(a.length, b.length)
        condition = self.compared(self.taken(a.type, {1, length}), self.taken(a.type, {1, length}))
        return self.value(f"Select({condition}, {a.name}, {b.name}) {a.type}", length, a.type)

    def concat(self) -> Value:
        a = self.taken()
        b = self.taken(a.type)
        return self.value(f"Concat({a.name}, {b.name}, axis=0)", a.length + b.length, a.type)

    def gather(self) -> Value:
        value = self.taken()
        if self.chance.random() < 0.7:
            return self.gathered(value, [self.chance.randrange(-value.length, value.length) for _ in range(self.chance.randint(1, 3))])
        return self.value(f"Gather-8({value.name}, {self.size()}, 0)", 1, value.type)

    def reduce(self) -> Value:
        value = self.taken()
        return self.value(f"{self.chance.choice(REDUCTION)}({value.name}, [0], keep_dims=true)", 1, value.type)

    def sum_up(self) -> Value:
        value = self.taken("i64")
        return value._replace(name=self.named(f"CumSum-3({value.name}, 0, exclusive={json.dumps(self.chance.random() < 0.5)})"))

    def reshape(self) -> Value:
        value = self.taken()
        row = f"Reshape({value.name}, [1,-1], special_zero=false)"
        return value._replace(name=self.named(f"Squeeze(Transpose({row}, [1,0]), [1])"))

    def slice(self) -> Value:
        value = self.taken()
        start = self.chance.randrange(value.length)
        text = f"StridedSlice({value.name}, [{start}], [{value.length}], [1], begin_mask=0, end_mask=0)"
        return self.value(text, value.length - start, value.type)

    def scatter(self) -> Value:
        value = self.taken()
        update = self.taken(value.type, {1}).name
        return value._replace(name=self.named(f"ScatterUpdate-3({value.name}, [{self.chance.randrange(value.length)}], {update}, 0)"))

    def count(self) -> Value:
        """A Range of as many numbers as it has elements."""
        return self.value("Range-4(0, 2, 1, output_type=i64)", 2, "i64")

    def changed(self) -> Net:
        """A body that changes a number."""
        return Net(f"x: i64[1] -> {self.chance.choice(BINARY)}([{self.chance.choice(self.ints)}]) -> y: Result")

    def held(self, layer: str, maps: str, **bodies: Net) -> Value:
        """The number that a layer with bodies gives."""
        name = f"_{len(self.net.named)}"
        self.net.named[name] = self.net.holder(f"{layer} i64", maps, **bodies)
        return Value(name, 1, "i64")

    def loop(self) -> Value:
        """A number that a Loop changes in each iteration."""
        state, trips = self.size(), self.scalar(self.taken("i64", {1}))
        body = self.changed()
        body.add(f"boolean={json.dumps(self.chance.random() < 0.8)} -> go: Result")
        return self.held(f"Loop-5({trips}, boolean=true, {state})", "2 > x; y > 3; go > -1; y > x", body=body)

    def branch(self) -> Value:
        """A number that an If chooses."""
        value = self.taken("i64", {1})
        condition = self.compared(value, self.taken("i64", {1}))
        bodies = {"then_body": self.changed(), "else_body": self.changed()}
        return self.held(f"If-8(Squeeze({condition}, [0]), {value.name})", "1 > x; y > 2", **bodies)

    # Layers that read elements as sizes, bounds or counts.

    def use(self) -> None:
        chance, size = self.chance, self.size
        data, rank = chance.choice([one for one in self.data if one.rank])
        axis = chance.randrange(rank)
        kind = chance.choice(
            ["Broadcast", "Reshape", "Tile", "Slice", "StridedSlice", "Range", "Pad", "TopK", "OneHot", "Split", "Interpolate", "Eye"]
        )
        if kind == "Broadcast":
            length = chance.randint(1, 3)
            self.add(f"Broadcast-3(f32=1.0, {size(length)}, mode=numpy)", length)
        elif kind == "Reshape":
            length = chance.randint(0, 2)
            parts = f"Concat({size(length)}, [{chance.choice([-1, -1, 0, 1])}], axis=0)" if length else "[-1]"
            self.add(f"Reshape({data}, {parts}, special_zero={json.dumps(chance.random() < 0.5)})", length + 1)
        elif kind == "Tile":
            self.add(f"Tile({data}, {size(rank)})", rank)
        elif kind == "Slice":
            step = f"[{chance.choice([1, -1, 3, 2**62, -(2**63)])}]" if chance.random() < 0.7 else size()
            self.add(f"Slice-8({data}, {size()}, {size()}, {step}, [{axis}])", rank)
        elif kind == "StridedSlice":
            masks = ", ".join(f"{name}={chance.choice([0, 0, 1])}" for name in ("begin_mask", "end_mask"))
            self.add(f"StridedSlice({data}, {size()}, {size()}, [{chance.choice([1, -1, 7])}], {masks})", rank)
        elif kind == "Range":
            name = chance.choice(["i64", "f32", "i32"])
            ends = ", ".join(self.scalar(self.taken(name, {1})) for _ in range(3))
            self.add(f"Range-4({ends}, output_type={name})", 1)
        elif kind == "Pad":
            self.add(f"Pad-12({data}, {size(rank)}, {size(rank)}, f32=0.0, pad_mode=constant)", rank)
        elif kind == "TopK":
            self.add(f"TopK-11({data}, {self.scalar(self.taken('i64', {1}))}, axis={axis}, mode=max, sort=value) f32 i64", rank)
        elif kind == "OneHot":
            self.add(f"OneHot([0,1], {self.scalar(self.taken('i64', {1}))}, f32=1.0, f32=0.0, axis=-1) f32", 2)
        elif kind == "Split":
            self.add(f"VariadicSplit({data}, {axis}, Concat({size()}, [-1], axis=0)) f32 f32", rank, 2)
        elif kind == "Eye":
            self.add(f"Eye-9({size()}, {size()}, [0], output_type=f32)", 2)
        else:
            mode = chance.choice(["scales", "sizes"])
            scales = self.taken("f32" if mode == "scales" else "i64", {1}).name
            how = f"mode=nearest, shape_calculation_mode={mode}, pads_begin=0, pads_end=0"
            self.add(f"Interpolate-11({data}, {scales}, [{axis}], {how})", rank)


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
            net.save(given.keep / f"{number}.xml")
    print(f"{count} nets, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
