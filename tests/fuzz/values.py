"""Random subgraphs that compute shapes: `python -m tests.fuzz.values --seconds N --seed S`.

Sizes of inputs, open or not, and constants at the ends of what their types hold go through arithmetic of every type, and become the
sizes, bounds and repeats that other layers read. Every verb must answer, in time, and without an internal error.
"""

import argparse
import math
import random
import resource
import sys
import time
from functools import partial

import irshape
from irshape.cli import diff as diff_command
from irshape.cli import info as info_command
from irshape.cli import sizes as sizes_command
from irshape.report.text import Palette
from tests.fuzz.ask import TARGETS, attempt
from tests.fuzz.mutate import guarded
from tests.support.ir import Net, Ref

SIZES = ["?", "?", "1..9", "0..3", "..7", "2..", "5", "1", "0", f"{2**62}..", f"..{2**63 - 1}", "2..1000000"]
INTS = [0, 1, -1, 2, 3, 5, 7, 64, -3, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**62)]
REALS = [0.0, -0.0, 1.0, 0.5, -1.5, 2.0, 3.0, 1e-30, 65504.0, 1e30, 3e38, -3e38, math.inf, -math.inf, math.nan]
BINARY = ["Add", "Subtract", "Multiply", "Divide", "FloorMod", "Mod", "Maximum", "Minimum", "Power", "SquaredDifference"]
UNARY = ["Abs", "Negative", "Sign", "Floor", "Ceiling", "Sqrt", "ReLU", "Sigmoid", "Exp", "Log"]
KINDS = {"i64": "I64", "i32": "I32", "f32": "FP32", "f16": "FP16", "f64": "FP64", "u8": "U8", "i8": "I8", "u64": "U64", "u32": "U32"}
SECONDS = 2.0


class Graph:
    """A net that grows at random; `pool` are its tensors of one or a few elements."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.net = Net()
        self.inputs = [self.net.parameter(f"f32[{','.join(chance.choices(SIZES, k=chance.randint(1, 3)))}]") for _ in range(2)]
        self.pool: list[Ref] = []
        for data in self.inputs:
            self.pool += self.net.layer("ShapeOf", [data], ["I64"], "opset3", output_type="i64")
        self.pool = [self.element(one) for one in self.pool for _ in range(2)]
        for _ in range(chance.randint(2, 14)):
            self.grow()
        for _ in range(chance.randint(1, 4)):
            self.use()

    def element(self, data: Ref) -> Ref:
        return self.net.layer(
            "Gather", [data, self.net.const([self.chance.choice([0, -1])]), self.net.const(0)], [data.precision], "opset8"
        )[0]

    def take(self, precision: str | None = None) -> Ref:
        """A tensor, converted to a type if need be."""
        chance, net = self.chance, self.net
        if chance.random() < 0.25:
            name = next((name for name, one in KINDS.items() if one == precision), "i64")
            one = chance.choice(REALS if name.startswith("f") else INTS)
            try:
                return net.const([one], name)
            except (OverflowError, ValueError, Exception):
                return net.const([1], name)
        ref = chance.choice(self.pool)
        return ref if precision in (None, ref.precision) else self.convert(ref, str(precision))

    def convert(self, ref: Ref, precision: str) -> Ref:
        name = next(name for name, one in KINDS.items() if one == precision)
        return self.net.layer("Convert", [ref], [precision], destination_type=name)[0]

    def grow(self) -> None:
        chance, net = self.chance, self.net
        kind = chance.random()
        if kind < 0.6:
            a = self.take()
            b = a if chance.random() < 0.2 else self.take(a.precision)
            self.pool.append(net.layer(chance.choice(BINARY), [a, b], [a.precision])[0])
        elif kind < 0.75:
            a = self.take()
            self.pool.append(net.layer(chance.choice(UNARY), [a], [a.precision])[0])
        elif kind < 0.95:
            self.pool.append(self.convert(self.take(), chance.choice([*KINDS.values()])))
        else:
            a = self.take()
            self.pool.append(net.layer("Clamp", [a], [a.precision], min=chance.choice(REALS), max=chance.choice(REALS))[0])

    def use(self) -> None:
        """A layer that reads an element as a size, a bound or a count."""
        chance, net, size = self.chance, self.net, partial(self.take, "I64")
        data = chance.choice(self.inputs)
        kind = chance.choice(
            ["Broadcast", "Reshape", "Tile", "Slice", "StridedSlice", "Range", "Pad", "TopK", "OneHot", "Split", "Interpolate"]
        )
        if kind == "Broadcast":
            ref = net.layer(kind, [net.const(1.0, "f32"), size()], ["FP32"], "opset3", mode="numpy")[0]
        elif kind == "Reshape":
            pattern = net.layer("Concat", [size(), net.const([-1])], ["I64"], axis=0)[0]
            ref = net.layer(kind, [data, pattern], ["FP32"], special_zero=chance.random() < 0.5)[0]
        elif kind == "Tile":
            ref = net.layer(kind, [data, size()], ["FP32"])[0]
        elif kind == "Slice":
            ref = net.layer(
                kind, [data, size(), size(), net.const([chance.choice([1, -1, 3, 2**62])]), net.const([0])], ["FP32"], "opset8"
            )[0]
        elif kind == "StridedSlice":
            ref = net.layer(kind, [data, size(), size(), net.const([chance.choice([1, -1, 7])])], ["FP32"], begin_mask="0", end_mask="0")[0]
        elif kind == "Range":
            precision = chance.choice(["I64", "FP32", "I32"])
            ends = [self.scalar(self.take(precision)) for _ in range(3)]
            ref = net.layer(kind, ends, [precision], "opset4", output_type={"I64": "i64", "FP32": "f32", "I32": "i32"}[precision])[0]
        elif kind == "Pad":
            ref = net.layer(
                kind, [net.parameter("f32[?]"), size(), size(), net.const(0.0, "f32")], ["FP32"], "opset12", pad_mode="constant"
            )[0]
        elif kind == "TopK":
            ref = net.layer(kind, [data, self.scalar(size())], ["FP32", "I64"], "opset11", axis=0, mode="max", sort="value")[0]
        elif kind == "OneHot":
            values = [net.const(1.0, "f32"), net.const(0.0, "f32")]
            ref = net.layer(kind, [net.parameter("i64[2]"), self.scalar(size()), *values], ["FP32"], axis=-1)[0]
        elif kind == "Split":
            lengths = net.layer("Concat", [size(), net.const([-1])], ["I64"], axis=0)[0]
            ref = net.layer("VariadicSplit", [data, net.const(0), lengths], ["FP32", "FP32"])[1]
        else:
            scales = self.take("FP32")
            how = {"mode": "nearest", "shape_calculation_mode": chance.choice(["scales", "sizes"]), "pads_begin": "0", "pads_end": "0"}
            ref = net.layer(kind, [data, scales, net.const([0])], ["FP32"], "opset11", **how)[0]
        net.result(ref)

    def scalar(self, ref: Ref) -> Ref:
        return self.net.layer("Squeeze", [ref, self.net.const([0])], [ref.precision])[0]


def verbs(net: Net, other: Net) -> dict[str, object]:
    """What is asked of a net, by the verb."""
    xml, weights = net.xml.encode(), net.bin
    plain = Palette(False)

    def no_internal(inference: irshape.Inference) -> irshape.Inference:
        for found in inference.diagnostics:
            if found.code == "I101":
                raise AssertionError(f"I101 {found.where.layer_type}: {found.message}")
        return inference

    def explain() -> None:
        inference = no_internal(irshape.infer(xml, weights=weights))
        for node in list(inference.model.nodes)[-6:]:
            if node.layer.outputs:
                list(inference.explain(node.key).lines(plain, 80))

    def sizes() -> None:
        found = attempt(partial(irshape.valid_sizes, xml, weights=weights))
        if found is not None:
            no_internal(found.inference)
            list(sizes_command._lines(plain, sizes_command._Answer(found, {}, None)))

    return {
        "check": lambda: no_internal(irshape.check(xml, weights=weights, targets=TARGETS)),
        "infer": lambda: no_internal(irshape.infer(xml, weights=weights)).xml(),
        "info": lambda: list(info_command.lines(irshape.info(xml, weights=weights), palette=plain, is_complete=True)),
        "explain": explain,
        "sizes": sizes,
        "reshape": lambda: attempt(lambda: no_internal(irshape.reshape(xml, {"parameter_0": "[3,4]"}, weights=weights))),
        "diff": lambda: list(
            diff_command.lines(irshape.diff(xml, other.xml.encode(), weights=(weights, other.bin)), plain, is_complete=True)
        ),
    }


def fuzz(seconds: float, seed: int, most: int | None = None) -> tuple[int, dict[str, Net]]:
    """How many nets were made, and the findings, each with its net."""
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    count, found = 0, dict[str, Net]()
    before = Net()
    while time.monotonic() < end and count != most:
        net = Graph(chance).net
        count += 1
        for verb, ask in verbs(net, before).items():
            for finding in guarded(iter_of(ask), SECONDS):
                found.setdefault(f"{verb}: {finding}", net)
        before = net
    return count, found


def iter_of(ask):  # type: ignore[no-untyped-def]
    ask()
    return
    yield


def main() -> int:
    """Fuzz; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.values", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    count, found = fuzz(given.seconds, given.seed)
    for finding, net in found.items():
        print(f"{finding}\n{net.xml if len(found) < 2 else ''}")
    print(f"{count} nets, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
