"""Random nets of dynamic inputs whose shapes travel through shape subgraphs."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from tests.support.ir import Net, Ref

SYMBOLS = ("A", "B", "C")


class Tensor(NamedTuple):
    """A tensor of the data path, of which only the rank is kept track of."""

    ref: Ref
    rank: int


class RandomNet:
    """A net that grows by random operations; `inputs` are the shapes of its Parameters with symbols for what is not known."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.net = Net()
        self.inputs: dict[str, list[int | str]] = {}
        self.data: list[Tensor] = []
        self.values: list[Ref] = []  # one element of i64 each
        for _ in range(self.random.randint(1, 2)):
            self._parameter()

    def _parameter(self) -> None:
        random = self.random
        dims: list[int | str] = [
            random.choice(SYMBOLS) if random.random() < 0.6 else random.randint(1, 8) for _ in range(random.randint(2, 4))
        ]
        shape = ",".join("0..12" if isinstance(dim, str) else str(dim) for dim in dims)
        ref = self.net.parameter(f"f32[{shape}]")
        self.inputs[f"parameter_{ref.layer}"] = dims
        self.data.append(Tensor(ref, len(dims)))

    def grow(self) -> None:
        """Add a random operation, and what feeds it."""
        operation: Callable[[], None] = self.random.choice(OPERATIONS).__get__(self)
        operation()

    def finish(self) -> None:
        """Let every tensor reach a Result."""
        for tensor in self.data:
            self.net.result(tensor.ref)
        for value in self.values:
            self.net.result(value)

    # What operations read.

    def pick(self) -> Tensor:
        """A tensor of the data path, a late one rather than an early one."""
        return self.random.choice(self.data[-3:])

    def one(self, *values: int) -> Ref:
        """A Const of these values."""
        return self.net.const(list(values))

    def value(self) -> Ref:
        """A value of one element that the shapes tell."""
        random, net = self.random, self.net
        if self.values and random.random() < 0.4:
            return random.choice(self.values)
        source = self.pick()
        whole = net.layer("ShapeOf", [source.ref], ["I64"], "opset3", output_type="i64")[0]
        value = net.layer("Gather", [whole, self.one(random.randrange(source.rank)), net.const(0)], ["I64"], "opset8", batch_dims=0)[0]
        self.values.append(value)
        return value

    def positive(self, least: int) -> Ref:
        """A value that is not less, for a negative one has a meaning of its own."""
        return self.net.layer("Maximum", [self.value(), self.one(least)], ["I64"])[0]

    def add(self, type: str, inputs: list[Ref], rank: int, version: str = "opset1", **attributes: Any) -> None:
        """A layer of one output on the data path."""
        self.data.append(Tensor(self.net.layer(type, inputs, ["FP32"], version, **attributes)[0], rank))

    # Operations.

    def compute(self) -> None:
        """Arithmetic on values."""
        random = self.random
        kind = random.choice(("Add", "Subtract", "Multiply", "Divide", "FloorMod", "Maximum", "Minimum", "Mod"))
        a = self.value()
        b = self.one(random.randint(1, 4)) if random.random() < 0.7 or kind in ("Divide", "FloorMod", "Mod") else self.value()
        self.values.append(self.net.layer(kind, [a, b], ["I64"])[0])

    def through_floats(self) -> None:
        """A value that is scaled as a float and rounded."""
        random, net = self.random, self.net
        number = net.layer("Convert", [self.value()], ["FP32"], destination_type="f32")[0]
        if random.random() < 0.4:
            number = net.layer("Divide", [number, net.const([random.choice((3.0, 5.0, 10.0))], "f32")], ["FP32"])[0]
            number = net.layer(random.choice(("Add", "Subtract")), [number, net.const([1.0], "f32")], ["FP32"])[0]
        else:
            number = net.layer("Multiply", [number, net.const([random.choice((0.5, 2.0, 0.25, 1.5))], "f32")], ["FP32"])[0]
        number = net.layer(random.choice(("Floor", "Ceiling")), [number], ["FP32"])[0]
        self.values.append(net.layer("Convert", [number], ["I64"], destination_type="i64")[0])

    def unary(self) -> None:
        """What keeps the shape."""
        tensor = self.pick()
        self.add(self.random.choice(("ReLU", "Sigmoid", "Abs")), [tensor.ref], tensor.rank)

    def binary(self) -> None:
        """Broadcasting."""
        a, b = self.pick(), self.pick()
        self.add("Add", [a.ref, b.ref], max(a.rank, b.rank))

    def concat(self) -> None:
        """Tensors joined."""
        a, b = self.pick(), self.pick()
        self.add("Concat", [a.ref, b.ref], a.rank, axis=self.random.randrange(a.rank))

    def transpose(self) -> None:
        """Axes in another order."""
        tensor = self.pick()
        order = self.random.sample(range(tensor.rank), tensor.rank)
        self.add("Transpose", [tensor.ref, self.one(*order)], tensor.rank)

    def pool(self) -> None:
        """Windows over the spatial axes."""
        random, tensor = self.random, self.pick()
        if tensor.rank not in (3, 4):
            return
        spatial = range(tensor.rank - 2)
        kernel = [random.randint(1, 3) for _ in spatial]
        self.add(
            "MaxPool", [tensor.ref], tensor.rank,
            kernel=kernel, strides=[random.randint(1, 2) for _ in spatial],
            pads_begin=[random.randrange(size) for size in kernel], pads_end=[random.randrange(size) for size in kernel],
            rounding_type=random.choice(("floor", "ceil")),
        )  # fmt: skip

    def slice(self) -> None:
        """A range of an axis, its ends constant or computed."""
        random, tensor = self.random, self.pick()
        start = self.one(random.randint(0, 2)) if random.random() < 0.6 else self.value()
        stop = self.one(random.choice((3, 5, 2**31 - 1))) if random.random() < 0.6 else self.value()
        axis = random.randrange(tensor.rank)
        self.add("Slice", [tensor.ref, start, stop, self.one(random.randint(1, 2)), self.one(axis)], tensor.rank, "opset8")

    def pad(self) -> None:
        """Elements before and after the axes."""
        random, tensor = self.random, self.pick()
        begin, end = ([random.randint(0, 2) for _ in range(tensor.rank)] for _ in range(2))
        self.add(
            "Pad", [tensor.ref, self.one(*begin), self.one(*end), self.net.const(0.0, "f32")], tensor.rank, "opset12", pad_mode="constant"
        )

    def split(self) -> None:
        """Equal parts."""
        tensor, parts = self.pick(), self.random.randint(1, 3)
        axis = self.net.const(self.random.randrange(tensor.rank))
        for ref in self.net.layer("Split", [tensor.ref, axis], ["FP32"] * parts, num_splits=parts):
            self.data.append(Tensor(ref, tensor.rank))

    def reshape(self) -> None:
        """A shape that is constant or computed, with -1 for one axis."""
        random, tensor = self.random, self.pick()
        rank = random.randint(2, 4)
        is_inferred = random.random() < 0.8
        parts = [
            self.one(random.randint(1, 4)) if random.random() < 0.3 else self.value() if is_inferred else self.positive(1)
            for _ in range(rank)
        ]
        if is_inferred:
            parts[random.randrange(rank)] = self.one(-1)
        target = self.net.layer("Concat", parts, ["I64"], axis=0)[0]
        self.add("Reshape", [tensor.ref, target], rank, special_zero=False)

    def flatten(self) -> None:
        """Axes that are kept or joined."""
        tensor = self.pick()
        kept = self.random.randrange(tensor.rank)
        self.add("Reshape", [tensor.ref, self.one(*[0] * kept, -1)], kept + 1, special_zero=True)

    def broadcast(self) -> None:
        """A target that is computed."""
        tensor = self.pick()
        target = self.net.layer("Concat", [self.value() for _ in range(tensor.rank)], ["I64"], axis=0)[0]
        self.add("Broadcast", [tensor.ref, target], tensor.rank, "opset3", mode=self.random.choice(("numpy", "bidirectional")))

    def tile(self) -> None:
        """Repeats that are computed."""
        tensor = self.pick()
        repeats = self.net.layer("Concat", [self.one(1)] * (tensor.rank - 1) + [self.value()], ["I64"], axis=0)[0]
        self.add("Tile", [tensor.ref, repeats], tensor.rank)

    def blocks(self) -> None:
        """Space and depth."""
        random, tensor = self.random, self.pick()
        if tensor.rank >= 3:
            kind, mode = random.choice(("SpaceToDepth", "DepthToSpace")), random.choice(("blocks_first", "depth_first"))
            self.add(kind, [tensor.ref], tensor.rank, block_size=random.randint(1, 2), mode=mode)

    def space_to_batch(self) -> None:
        """Blocks, padded by what is computed."""
        tensor = self.pick()
        if tensor.rank >= 2:
            rest = [0] * (tensor.rank - 1)
            blocks = self.one(1, *[self.random.randint(1, 2) for _ in rest])
            end = self.net.layer("Concat", [self.one(*rest), self.positive(0)], ["I64"], axis=0)[0]
            self.add("SpaceToBatch", [tensor.ref, blocks, self.one(0, *rest), end], tensor.rank, "opset2")

    def reduce(self) -> None:
        """An axis of one."""
        tensor = self.pick()
        self.add("ReduceMean", [tensor.ref, self.one(self.random.randrange(tensor.rank))], tensor.rank, keep_dims=True)

    def unsqueeze(self) -> None:
        """One axis more."""
        tensor = self.pick()
        if tensor.rank < 5:
            self.add("Unsqueeze", [tensor.ref, self.one(self.random.randint(0, tensor.rank))], tensor.rank + 1)

    def multiply(self) -> None:
        """A matrix product."""
        a, b = self.pick(), self.pick()
        if min(a.rank, b.rank) >= 2:
            self.add("MatMul", [a.ref, b.ref], max(a.rank, b.rank), transpose_a=False, transpose_b=True)

    def top(self) -> None:
        """As many as are computed, but not more than there are, which OpenVINO does not look at."""
        tensor = self.pick()
        axis = self.random.randrange(tensor.rank)
        whole = self.net.layer("ShapeOf", [tensor.ref], ["I64"], "opset3", output_type="i64")[0]
        size = self.net.layer("Gather", [whole, self.one(axis), self.net.const(0)], ["I64"], "opset8", batch_dims=0)[0]
        count = self.net.layer("Squeeze", [self.net.layer("Minimum", [self.value(), size], ["I64"])[0]], ["I64"])[0]
        refs = self.net.layer(
            "TopK", [tensor.ref, count], ["FP32", "I64"], "opset3", axis=axis, mode="max", sort="value", index_element_type="i64"
        )
        self.data.append(Tensor(refs[0], tensor.rank))


OPERATIONS = (
    RandomNet.compute, RandomNet.compute, RandomNet.compute, RandomNet.through_floats, RandomNet.unary, RandomNet.binary,
    RandomNet.concat, RandomNet.transpose, RandomNet.pool, RandomNet.slice, RandomNet.pad, RandomNet.split, RandomNet.reshape,
    RandomNet.reshape, RandomNet.flatten, RandomNet.broadcast, RandomNet.tile, RandomNet.blocks, RandomNet.space_to_batch,
    RandomNet.reduce, RandomNet.unsqueeze, RandomNet.multiply, RandomNet.top,
)  # fmt: skip
