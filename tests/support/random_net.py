"""Random nets of dynamic inputs whose shapes travel through shape subgraphs."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.support.ir import Net

SYMBOLS = ("A", "B", "C")


class Tensor(NamedTuple):
    """A tensor on the data path, by its name in the text of the net."""

    name: str
    rank: int


class RandomNet:
    """A net that grows by random operations; `inputs` are the shapes of its Parameters with symbols for what is not known."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.net = Net()
        self.inputs: dict[str, list[int | str]] = {}
        self.data: list[Tensor] = []
        self.values: list[str] = []  # one element of i64 each
        for _ in range(self.random.randint(1, 2)):
            self._parameter()

    def _parameter(self) -> None:
        random = self.random
        dims: list[int | str] = [
            random.choice(SYMBOLS) if random.random() < 0.6 else random.randint(1, 8) for _ in range(random.randint(2, 4))
        ]
        self.inputs[f"parameter_{len(self.net.layers)}"] = dims
        self.add(f"f32[{','.join('0..12' if isinstance(dim, str) else str(dim) for dim in dims)}]", len(dims))

    def grow(self) -> None:
        """Add a random operation, and what feeds it."""
        operation: Callable[[], None] = self.random.choice(OPERATIONS).__get__(self)
        operation()

    def finish(self) -> None:
        """Let every tensor reach a Result."""
        for name in (*(tensor.name for tensor in self.data), *self.values):
            self.net.add(f"{name} -> Result")

    # What operations read.

    def pick(self) -> Tensor:
        """A tensor of the data path, a late one rather than an early one."""
        return self.random.choice(self.data[-3:])

    def value(self) -> str:
        """A value of one element that the shapes tell."""
        if self.values and self.random.random() < 0.4:
            return self.random.choice(self.values)
        source = self.pick()
        return self.keep(size(source.name, self.random.randrange(source.rank)))

    def positive(self, least: int) -> str:
        """A value that is not less, for a negative one has a meaning of its own."""
        return f"Maximum({self.value()}, [{least}])"

    def add(self, text: str, rank: int, outputs: int = 1) -> None:
        """A layer on the data path."""
        name = f"_data{len(self.data)}"
        self.net.add(f"{name}: {text}")
        self.data += [Tensor(f"{name}.{index}", rank) for index in range(outputs)]

    def keep(self, text: str) -> str:
        """The name of a value that a text computes."""
        self.values.append(f"_value{len(self.values)}")
        self.net.add(f"{self.values[-1]}: {text}")
        return self.values[-1]

    # Operations.

    def compute(self) -> None:
        random = self.random
        kind = random.choice(("Add", "Subtract", "Multiply", "Divide", "FloorMod", "Maximum", "Minimum", "Mod"))
        a = self.value()
        b = f"[{random.randint(1, 4)}]" if random.random() < 0.7 or kind in ("Divide", "FloorMod", "Mod") else self.value()
        self.keep(f"{kind}({a}, {b})")

    def through_floats(self) -> None:
        """A value that is scaled as a float and rounded."""
        random = self.random
        number = f"Convert({self.value()}, destination_type=f32)"
        if random.random() < 0.4:
            number = f"{random.choice(('Add', 'Subtract'))}(Divide({number}, f32=[{random.choice((3.0, 5.0, 10.0))}]), f32=[1.0])"
        else:
            number = f"Multiply({number}, f32=[{random.choice((0.5, 2.0, 0.25, 1.5))}])"
        self.keep(f"Convert({random.choice(('Floor', 'Ceiling'))}({number}), destination_type=i64)")

    def unary(self) -> None:
        x, rank = self.pick()
        self.add(f"{self.random.choice(('ReLU', 'Sigmoid', 'Abs'))}({x})", rank)

    def binary(self) -> None:
        a, b = self.pick(), self.pick()
        self.add(f"Add({a.name}, {b.name})", max(a.rank, b.rank))

    def concat(self) -> None:
        a, b = self.pick(), self.pick()
        self.add(f"Concat({a.name}, {b.name}, axis={self.random.randrange(a.rank)})", a.rank)

    def transpose(self) -> None:
        x, rank = self.pick()
        self.add(f"Transpose({x}, {self.random.sample(range(rank), rank)})", rank)

    def pool(self) -> None:
        """Windows over the spatial axes."""
        random, (x, rank) = self.random, self.pick()
        if rank not in (3, 4):
            return
        spatial = range(rank - 2)
        kernel = [random.randint(1, 3) for _ in spatial]
        strides = [random.randint(1, 2) for _ in spatial]
        begin, end = ([random.randrange(size) for size in kernel] for _ in range(2))
        rounding = random.choice(("floor", "ceil"))
        pads = f"pads_begin={begin}, pads_end={end}"
        self.add(f"MaxPool({x}, kernel={kernel}, strides={strides}, {pads}, rounding_type={rounding})", rank)

    def slice(self) -> None:
        """A range of an axis, its ends constant or computed."""
        random, (x, rank) = self.random, self.pick()
        start = f"[{random.randint(0, 2)}]" if random.random() < 0.6 else self.value()
        stop = f"[{random.choice((3, 5, 2**31 - 1))}]" if random.random() < 0.6 else self.value()
        axis = random.randrange(rank)
        self.add(f"Slice-8({x}, {start}, {stop}, [{random.randint(1, 2)}], [{axis}])", rank)

    def pad(self) -> None:
        x, rank = self.pick()
        begin, end = ([self.random.randint(0, 2) for _ in range(rank)] for _ in range(2))
        self.add(f"Pad-12({x}, {begin}, {end}, f32=0.0, pad_mode=constant)", rank)

    def split(self) -> None:
        (x, rank), parts = self.pick(), self.random.randint(1, 3)
        self.add(f"Split({x}, {self.random.randrange(rank)}, num_splits={parts}){' f32' * parts}", rank, parts)

    def reshape(self) -> None:
        """A shape that is constant or computed, with -1 for one axis."""
        random, x = self.random, self.pick().name
        rank = random.randint(2, 4)
        is_inferred = random.random() < 0.8
        parts = [
            f"[{random.randint(1, 4)}]" if random.random() < 0.3 else self.value() if is_inferred else self.positive(1) for _ in range(rank)
        ]
        if is_inferred:
            parts[random.randrange(rank)] = "[-1]"
        self.add(f"Reshape({x}, Concat({', '.join(parts)}, axis=0), special_zero=false)", rank)

    def flatten(self) -> None:
        """Axes that are kept or joined."""
        x, rank = self.pick()
        kept = self.random.randrange(rank)
        self.add(f"Reshape({x}, {[0] * kept + [-1]}, special_zero=true)", kept + 1)

    def broadcast(self) -> None:
        """A target that is computed."""
        x, rank = self.pick()
        target = f"Concat({', '.join([self.value() for _ in range(rank)])}, axis=0)"
        self.add(f"Broadcast-3({x}, {target}, mode={self.random.choice(('numpy', 'bidirectional'))})", rank)

    def tile(self) -> None:
        """Repeats that are computed."""
        x, rank = self.pick()
        self.add(f"Tile({x}, Concat({'[1], ' * (rank - 1)}{self.value()}, axis=0))", rank)

    def blocks(self) -> None:
        random, (x, rank) = self.random, self.pick()
        if rank >= 3:
            kind, mode = random.choice(("SpaceToDepth", "DepthToSpace")), random.choice(("blocks_first", "depth_first"))
            self.add(f"{kind}({x}, block_size={random.randint(1, 2)}, mode={mode})", rank)

    def space_to_batch(self) -> None:
        """Blocks, padded by what is computed."""
        x, rank = self.pick()
        if rank >= 2:
            rest = [0] * (rank - 1)
            blocks = [1, *[self.random.randint(1, 2) for _ in rest]]
            self.add(f"SpaceToBatch-2({x}, {blocks}, {[0, *rest]}, Concat({rest}, {self.positive(0)}, axis=0))", rank)

    def reduce(self) -> None:
        x, rank = self.pick()
        self.add(f"ReduceMean({x}, [{self.random.randrange(rank)}], keep_dims=true)", rank)

    def unsqueeze(self) -> None:
        x, rank = self.pick()
        if rank < 5:
            self.add(f"Unsqueeze({x}, [{self.random.randint(0, rank)}])", rank + 1)

    def multiply(self) -> None:
        a, b = self.pick(), self.pick()
        if min(a.rank, b.rank) >= 2:
            self.add(f"MatMul({a.name}, {b.name}, transpose_a=false, transpose_b=true)", max(a.rank, b.rank))

    def top(self) -> None:
        """As many as are computed, but not more than there are, which OpenVINO does not look at."""
        x, rank = self.pick()
        axis = self.random.randrange(rank)
        count = f"Squeeze(Minimum({self.value()}, {size(x, axis)}))"
        self.add(f"TopK-3({x}, {count}, axis={axis}, mode=max, sort=value, index_element_type=i64) f32 i64", rank)


def size(name: str, axis: int) -> str:
    """The text of one size of a tensor."""
    return f"Gather-8(ShapeOf-3({name}, output_type=i64), [{axis}], 0, batch_dims=0)"


OPERATIONS = (
    RandomNet.compute, RandomNet.compute, RandomNet.compute, RandomNet.through_floats, RandomNet.unary, RandomNet.binary,
    RandomNet.concat, RandomNet.transpose, RandomNet.pool, RandomNet.slice, RandomNet.pad, RandomNet.split, RandomNet.reshape,
    RandomNet.reshape, RandomNet.flatten, RandomNet.broadcast, RandomNet.tile, RandomNet.blocks, RandomNet.space_to_batch,
    RandomNet.reduce, RandomNet.unsqueeze, RandomNet.multiply, RandomNet.top,
)  # fmt: skip
