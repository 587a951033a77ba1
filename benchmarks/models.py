"""The models that are measured: built with OpenVINO and written by its own writer, so that both readers meet what they would meet."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy
import openvino
from openvino import opset13 as ops

Shapes: TypeAlias = dict[str, list[int]]
"""A shape for each input, by name."""


class Steps(NamedTuple):
    """The shapes a model is given one after the other: for all inputs, and for one near its end.

    No step gives the shapes of another, so that nothing remembered of one answers the next.
    """

    inputs: Callable[[int], Shapes]
    late: Callable[[int], Shapes]


class Recipe(NamedTuple):
    """How a model's files are made, and the shapes it is given if it is measured so."""

    write: Callable[[str], None]
    steps: Steps | None = None


def saved(build: Callable[[], openvino.Model]) -> Callable[[str], None]:
    """What writes a model to a path, with its `.bin` beside it."""
    return lambda path: openvino.save_model(build(), path, compress_to_fp16=False)


class _Layers:
    """What the models share: parameters, constants that are all different, and the end that a late input enters."""

    def __init__(self) -> None:
        self.random = numpy.random.default_rng(0)
        self.parameters: list[Any] = []
        self.results: list[Any] = []

    def parameter(self, name: str, shape: list[int], type: Any = numpy.float32) -> Any:
        node = ops.parameter(openvino.PartialShape(shape), type, name=name)
        node.output(0).get_tensor().set_names({name})
        self.parameters.append(node)
        return node

    def weights(self, *shape: int) -> Any:
        return ops.constant(self.random.standard_normal(shape, dtype=numpy.float32))

    def model(self, name: str, last: Any) -> openvino.Model:
        """The model that ends in `last` joined with an input named `late`."""
        flat = ops.reshape(last, ints(0, -1), True)
        batch = flat.output(0).get_partial_shape()[0]
        late = self.parameter("late", [-1 if batch.is_dynamic else batch.get_length(), 7])
        joined = ops.softmax(ops.multiply(ops.concat([flat, late], 1), number(0.5)), 1)
        return openvino.Model([*self.results, ops.result(joined)], self.parameters, name)


def ints(*values: int) -> Any:
    """A constant list of numbers."""
    return ops.constant(numpy.array(values, numpy.int64))


def index(value: int) -> Any:
    """A constant number that picks an element or an axis."""
    return ops.constant(numpy.array(value, numpy.int64))


def number(value: float) -> Any:
    """A constant number among data."""
    return ops.constant(numpy.array(value, numpy.float32))


def resnet(blocks: int = 155, width: int = 8) -> openvino.Model:
    """Bottleneck blocks in four stages, as ResNet's, with biases as layers of their own."""
    net = _Layers()

    def convolution(data: Any, before: int, after: int, kernel: int, stride: int) -> Any:
        pad = kernel // 2
        moved = ops.convolution(data, net.weights(after, before, kernel, kernel), [stride] * 2, [pad] * 2, [pad] * 2, [1, 1])
        return ops.add(moved, net.weights(1, after, 1, 1))

    data = ops.relu(convolution(net.parameter("image", [1, 3, 224, 224]), 3, width, 7, 2))
    data = ops.max_pool(data, [2, 2], [1, 1], [1, 1], [1, 1], [3, 3], "floor", "explicit").output(0)
    channels = width
    for block in range(blocks):
        starts_stage = block and block % -(-blocks // 4) == 0
        stride = 2 if starts_stage else 1
        inner = ops.relu(convolution(data, channels, channels, 1, 1))
        inner = ops.relu(convolution(inner, channels, channels * stride, 3, stride))
        inner = convolution(inner, channels * stride, channels * stride, 1, 1)
        shortcut = convolution(data, channels, channels * stride, 1, stride) if starts_stage else data
        data = ops.relu(ops.add(inner, shortcut))
        channels *= stride
    pooled = ops.reduce_mean(data, ints(2, 3), False)
    return net.model("resnet", ops.matmul(pooled, net.weights(channels, 10), False, False))


_BLOCKS, _WIDTH, _HEADS, _HEAD, _WORDS = 33, 64, 4, 16, 100


def decoder(blocks: int = _BLOCKS, width: int = _WIDTH, heads: int = _HEADS, words: int = _WORDS) -> openvino.Model:
    """A language model of any batch and length: rotary attention over a cache, its shapes computed from ShapeOf."""
    net = _Layers()
    size = width // heads

    def sizes(data: Any, *axes: int) -> list[Any]:
        shape = ops.shape_of(data)
        return [ops.gather(shape, ints(axis), index(0)) for axis in axes]

    def norm(data: Any) -> Any:
        mean = ops.reduce_mean(ops.power(data, number(2)), ints(-1), True)
        scaled = ops.divide(data, ops.sqrt(ops.add(mean, number(1e-6))))
        return ops.multiply(net.weights(1, 1, width), scaled)

    def linear(data: Any, before: int, after: int) -> Any:
        return ops.matmul(data, net.weights(after, before), False, True)

    def split_heads(data: Any) -> Any:
        target = ops.concat([*sizes(data, 0, 1), ints(heads), ints(size)], 0)
        return ops.transpose(ops.reshape(data, target, False), ints(0, 2, 1, 3))

    def rotated(data: Any) -> Any:
        half = ops.divide(sizes(data, 3)[0], ints(2))
        low = ops.slice(data, ints(0), half, ints(1), ints(3))
        high = ops.slice(data, half, ints(2**63 - 1), ints(1), ints(3))
        turned = ops.concat([ops.multiply(high, number(-1)), low], -1)
        return ops.add(ops.multiply(data, cosine), ops.multiply(turned, sine))

    def attention(data: Any, block: int) -> Any:
        query, key, value = (split_heads(linear(data, width, width)) for _ in range(3))
        cached = [net.parameter(f"past.{block}.{name}", [-1, heads, -1, size]) for name in ("key", "value")]
        keys, values = ops.concat([cached[0], rotated(key)], 2), ops.concat([cached[1], value], 2)
        net.results += [ops.result(keys), ops.result(values)]
        scores = ops.multiply(ops.matmul(rotated(query), keys, False, True), number(0.25))
        picked = ops.matmul(ops.softmax(ops.add(scores, bias), -1), values, False, False)
        joined = ops.concat([*sizes(data, 0, 1), ints(width)], 0)
        return linear(ops.reshape(ops.transpose(picked, ints(0, 2, 1, 3)), joined, False), width, width)

    def feed_forward(data: Any) -> Any:
        gated = ops.multiply(ops.swish(linear(data, width, 2 * width)), linear(data, width, 2 * width))
        return linear(gated, 2 * width, width)

    tokens, mask, positions = (net.parameter(name, [-1, -1], numpy.int64) for name in ("input_ids", "attention_mask", "position_ids"))
    frequencies = ops.broadcast(
        net.weights(1, size // 2, 1), ops.concat([*sizes(tokens, 0), ints(1), ints(1)], 0), broadcast_spec="BIDIRECTIONAL"
    )
    angles = ops.matmul(frequencies, ops.convert(ops.unsqueeze(positions, ints(1)), "f32"), False, False)
    angles = ops.transpose(angles, ints(0, 2, 1))
    angles = ops.unsqueeze(ops.concat([angles, angles], -1), ints(1))
    cosine, sine = ops.cos(angles), ops.sin(angles)
    hidden = ops.unsqueeze(ops.unsqueeze(ops.convert(mask, "f32"), ints(1)), ints(1))
    bias = ops.multiply(ops.subtract(hidden, number(1)), number(65504))
    data = ops.gather(net.weights(words, width), tokens, index(0))
    for block in range(blocks):
        data = ops.add(data, attention(norm(data), block))
        data = ops.add(data, feed_forward(norm(data)))
    return net.model("decoder", linear(norm(data), width, words))


def decoder_inputs(step: int, blocks: int = _BLOCKS) -> Shapes:
    """Another batch, length and cache for each step."""
    batch, length, past = 1 + step, 16 + step, 32 + 2 * step
    cached = [batch, _HEADS, past, _HEAD]
    caches = {f"past.{block}.{name}": cached for block in range(blocks) for name in ("key", "value")}
    texts = {"input_ids": [batch, length], "attention_mask": [batch, past + length], "position_ids": [batch, length]}
    return {**texts, **caches, "late": [batch, 7]}


def distinct(layers: int = 2500) -> openvino.Model:
    """A graph in which no data has the shape of another, so that no rule is asked the same twice."""
    net = _Layers()
    data = net.parameter("data", [2, 24, 40])
    seen = {(24, 40)}
    earlier = [data]
    count = 1
    while count < layers - 5:
        _, channels, length = data.output(0).get_shape()
        kind = int(net.random.integers(6))
        grow, shrink = (int(size) for size in net.random.integers(1, 9, 2))
        if kind == 0 and length < 400:
            made, added = ops.pad(data, ints(0, 0, grow), ints(0, 0, shrink), "constant", number(0)), 4
        elif kind == 1 and length > 60:
            made, added = ops.slice(data, ints(grow), ints(-shrink), ints(1), ints(2)), 5
        elif kind == 2:
            after = int(net.random.integers(8, 64))
            pads = [[int(size)] for size in net.random.integers(0, 5, 2)]
            made, added = ops.convolution(data, net.weights(after, channels, 3), [1], *pads, [1]), 2
        elif kind == 3:
            made, added = ops.matmul(net.weights(int(net.random.integers(8, 64)), channels), data, False, False), 2
        elif kind == 4 and length > 60:
            made, added = ops.max_pool(data, [1], [1], [grow], [shrink], [grow + shrink], "floor", "explicit"), 1
        elif kind == 5 and length < 400:
            made, added = ops.concat([data, ops.slice(data, ints(0), ints(grow), ints(1), ints(2))], 2), 6
        else:
            continue
        size = tuple(made.output(0).get_shape()[1:])
        if size in seen:
            continue
        seen.add(size)
        mixed = ops.reduce_max(earlier[int(net.random.integers(len(earlier)))], ints(1, 2), True)
        data = ops.add(ops.relu(made.output(0)), mixed)
        earlier.append(data)
        count += added + 4
    return net.model("distinct", data)


def chain(layers: int) -> openvino.Model:
    """One layer after the other: convolutions with bias and activation, folded and unfolded now and then."""
    net = _Layers()
    data = net.parameter("data", [1, 8, 16, 16])
    for _ in range(0, layers - 15, 9):
        data = ops.convolution(data, net.weights(8, 8, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
        data = ops.relu(ops.add(data, net.weights(1, 8, 1, 1)))
        data = ops.reshape(ops.reshape(data, ints(0, 4, 2, 0, -1), True), ints(0, 8, -1, 16), True)
    return net.model("chain", data)


def dag(layers: int) -> openvino.Model:
    """Unary layers, and binary ones that reach up to twenty layers back."""
    net = _Layers()
    recent = [net.parameter("data", [2, 8, 16, 16])]
    unary = [ops.relu, ops.sigmoid, ops.tanh, ops.abs, ops.negative]
    binary = [ops.add, ops.multiply, ops.maximum]
    shift = net.weights(1, 8, 1, 1)
    for kind, back in net.random.integers((9, 20), size=(layers - 12, 2)):
        data = recent[-1]
        if kind < 5:
            data = unary[kind](data)
        elif kind == 5:
            data = ops.add(data, shift)
        else:
            data = binary[kind - 6](data, recent[-1 - back % len(recent)])
        recent = [*recent[-19:], data]
    return net.model("dag", recent[-1])


def one_operation() -> openvino.Model:
    """A SpaceToBatch, as its specification shows it."""
    data = _Layers().parameter("data", [2, 6, 10, 3, 3])
    moved = ops.space_to_batch(data, ints(1, 2, 4, 3, 1), ints(0, 0, 1, 0, 0), ints(0, 0, 1, 0, 0))
    return openvino.Model([ops.result(moved)], [data], "one")


def write_sparse(path: str) -> None:
    """A product with 2 GiB of weights that take no room on the disk, and behind them the 16 bytes of a target shape."""
    rows, columns = 16384, 32768
    data, weights = (ops.parameter(shape, numpy.float32, name=name) for name, shape in (("data", [1, rows]), ("weights", [rows, columns])))
    folded = ops.reshape(ops.matmul(data, weights, False, False), ints(columns, 1), False)
    openvino.save_model(openvino.Model([ops.result(folded)], [data, weights], "sparse"), path, compress_to_fp16=False)
    size = 4 * rows * columns
    text = Path(path).read_text()
    text = text.replace('offset="0"', f'offset="{size}"').replace('name="weights" type="Parameter"', 'name="weights" type="Const"')
    text = text.replace(
        f'<data shape="{rows},{columns}" element_type="f32" />',
        f'<data element_type="f32" shape="{rows}, {columns}" offset="0" size="{size}" />',
    )
    Path(path).write_text(text)
    with open(Path(path).with_suffix(".bin"), "r+b") as file:
        values = file.read()
        file.seek(0)
        file.truncate(size)
        file.seek(size)
        file.write(values)


def value_ranges(path: str) -> set[tuple[int, int]]:
    """Where the `.bin` holds what feeds value ports: in these models the integers, which nothing else has."""
    found = re.findall(r'element_type="i64" shape="[^"]*" offset="(\d+)" size="(\d+)"', Path(path).read_text())
    return {(int(offset), int(size)) for offset, size in found}


def _late(batch: int) -> Callable[[int], Shapes]:
    return lambda step: {"late": [batch, 8 + step]}


def _grown(*shape: int) -> Callable[[int], Shapes]:
    first, second, third, *others = shape
    return lambda step: {"data": [first, second, third + 8 * (1 + step), *others]}


STEPS = {
    "resnet": Steps(lambda step: {"image": [1, 3, 232 + 8 * step, 240 + 8 * step]}, _late(1)),
    "decoder": Steps(decoder_inputs, _late(-1)),
    "distinct": Steps(lambda step: {"data": [3 + step, 24, 40], "late": [3 + step, 7]}, _late(2)),
    "chain": Steps(_grown(1, 8, 16, 16), _late(1)),
    "dag": Steps(_grown(2, 8, 16, 16), _late(2)),
}

# Models with as many weights as real ones: 15 and 84 million.
HEAVY = {"resnet-heavy": saved(partial(resnet, 16, 64)), "decoder-heavy": saved(partial(decoder, 6, 768, 12, 32_000))}

# OpenVINO takes minutes to reshape the largest, so one size of each kind is reshaped.
RECIPES = {
    "one": Recipe(saved(one_operation)),
    "sparse": Recipe(write_sparse),
    "resnet": Recipe(saved(resnet), STEPS["resnet"]),
    "decoder": Recipe(saved(decoder), STEPS["decoder"]),
    "distinct": Recipe(saved(distinct), STEPS["distinct"]),
    **{f"chain-{k}k": Recipe(saved(partial(chain, 1000 * k)), STEPS["chain"] if k == 10 else None) for k in (1, 3, 10, 30, 100)},
    **{f"dag-{k}k": Recipe(saved(partial(dag, 1000 * k)), STEPS["dag"] if k == 3 else None) for k in (1, 3, 10, 30, 100)},
}
