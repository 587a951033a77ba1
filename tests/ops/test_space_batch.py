"""The data that SpaceToBatch, BatchToSpace, SpaceToDepth and DepthToSpace move, and TensorFlow's forms of them."""

import random
from typing import Any

import numpy
import pytest

import irshape
from irshape.ops.movement.space_batch import BatchToSpace, BatchToSpaceND, SpaceToBatch, SpaceToBatchND
from irshape.ops.movement.space_depth import DepthToSpace, SpaceToDepth
from tests.support.ir import Net

# The examples of TensorFlow's documentation of tf.space_to_batch_nd: data shape, block, paddings, output shape, output rows by batch.
TENSORFLOW = [
    ((1, 2, 2, 1), [2, 2], [[0, 0], [0, 0]], (4, 1, 1, 1), [[1], [2], [3], [4]]),
    ((1, 2, 2, 3), [2, 2], [[0, 0], [0, 0]], (4, 1, 1, 3), [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]),
    ((1, 4, 4, 1), [2, 2], [[0, 0], [0, 0]], (4, 2, 2, 1), [[1, 3, 9, 11], [2, 4, 10, 12], [5, 7, 13, 15], [6, 8, 14, 16]]),
    (
        (2, 2, 4, 1),
        [2, 2],
        [[0, 0], [2, 0]],
        (8, 1, 3, 1),
        [[0, 1, 3], [0, 9, 11], [0, 2, 4], [0, 10, 12], [0, 5, 7], [0, 13, 15], [0, 6, 8], [0, 14, 16]],
    ),
]


def counted(shape: tuple[int, ...]) -> Any:
    """1, 2, 3 … in a shape."""
    return numpy.arange(1, 1 + int(numpy.prod(shape))).reshape(shape)


@pytest.mark.parametrize(("shape", "block", "pads", "moved_shape", "rows"), TENSORFLOW)
def test_tensorflow_examples(shape: Any, block: Any, pads: Any, moved_shape: Any, rows: Any) -> None:
    data = counted(shape)
    moved = SpaceToBatchND().evaluate(data, block, pads)
    assert moved.shape == moved_shape
    assert moved.reshape(moved_shape[0], -1).tolist() == rows
    assert (BatchToSpaceND().evaluate(moved, block, pads) == data).all()
    for type, fact, expected in (("SpaceToBatchND", shape, moved_shape), ("BatchToSpaceND", moved_shape, shape)):
        net = Net()
        inputs = [net.parameter(f"f32[{','.join(map(str, fact))}]"), net.const(block), net.const(pads)]
        net.result(net.layer(type, inputs, ["FP32"], "tensorflow")[0])
        inference = irshape.infer(net.xml.encode(), weights=net.bin)
        assert inference.ok, inference.diagnostics
        assert inference.layer(3).outputs[0].shape == expected


ND_ROWS = [
    ("symbols", "f32[2,8,?,3]", [2], [[0, 0]], "f32[4,4,?,3]"),
    ("pads unknown", "f32[1,8,8]", [2, 2], "i64[2,2]", "f32[4,4..,4..]"),
    ("rank too low", "f32[4]", [2], [[0, 0]], "S101"),
    ("rows differ", "f32[4,4,4]", [2, 2], [[0, 0]], "S201"),
    ("columns", "f32[4,4]", [2], [[0, 0, 0]], "S201"),
    ("negative pad", "f32[4,4]", [2], [[0, -2]], "V101"),
    ("remainder", "f32[4,5]", [2], [[0, 0]], "S204"),
    ("block of zero", "f32[4,4]", [0], [[0, 0]], "V101"),
    ("length unknown", "f32[4,4]", "i64[?]", [[0, 0]], "V105"),
    ("unranked", "f32[...]", [2], [[0, 0]], "f32[...]"),
]


@pytest.mark.parametrize("row", ND_ROWS, ids=[row[0] for row in ND_ROWS])
def test_space_to_batch_nd(row: tuple[Any, ...]) -> None:
    from tests.support.rows import check_row

    check_row("SpaceToBatchND", "tensorflow", row)


def random_case(kind: str, rank: int, random: random.Random) -> tuple[tuple[int, ...], list[list[int]]]:
    """A valid data shape, and blocks, begins and ends, of one of the four."""
    blocks = [1, *(random.randint(1, 3) for _ in range(rank - 1))]
    begin = [0, *(random.randint(0, 2) for _ in range(rank - 1))]
    end = [0, *(random.randint(0, 2) for _ in range(rank - 1))]
    # Ranks 4 and 5 of OpenVINO's CPU plugin give wrong values where padded data starts with less than a block.
    inner = [random.randint(1, 2) * block + block * 2 for block in blocks[1:]]
    if kind == "SpaceToBatch":
        end = [e + (-(size + b + e)) % block for size, b, e, block in zip([1, *inner], begin, end, blocks, strict=True)]
        return (random.randint(1, 2), *inner), [blocks, begin, end]
    batch = random.randint(1, 2) * int(numpy.prod(blocks))
    sizes = [max(1, -(-(b + e + 1) // block)) for b, e, block in zip(begin[1:], end[1:], blocks[1:], strict=True)]
    return (batch, *sizes), [blocks, begin, end]


@pytest.mark.oracle
@pytest.mark.parametrize("rank", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("kind", ["SpaceToBatch", "BatchToSpace"])
def test_blocks_move_as_on_the_cpu(kind: str, rank: int) -> None:
    import openvino
    import openvino.opset15 as ops

    generator = random.Random(f"{kind}{rank}")
    evaluate = {"SpaceToBatch": SpaceToBatch, "BatchToSpace": BatchToSpace}[kind]().evaluate
    build = {"SpaceToBatch": ops.space_to_batch, "BatchToSpace": ops.batch_to_space}[kind]
    for _ in range(4):
        shape, values = random_case(kind, rank, generator)
        data = counted(shape).astype(numpy.float32)
        parameter = ops.parameter(shape, numpy.float32)
        node = build(parameter, *(ops.constant(numpy.array(v, numpy.int64)) for v in values))
        want = openvino.compile_model(openvino.Model([node], [parameter]), "CPU")([data])[0]
        got = evaluate(data, *values)
        assert got.shape == want.shape
        assert (got == want).all(), (shape, values)


@pytest.mark.oracle
@pytest.mark.parametrize("mode", ["blocks_first", "depth_first"])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_depth_moves_as_on_the_cpu(rank: int, mode: str) -> None:
    import openvino
    import openvino.opset15 as ops

    generator = random.Random(f"{rank}{mode}")
    for op, build in ((SpaceToDepth, ops.space_to_depth), (DepthToSpace, ops.depth_to_space)):
        block = generator.randint(2, 3)
        deep = op is DepthToSpace
        spatial = [generator.randint(1, 3) * (1 if deep else block) for _ in range(rank - 2)]
        shape = (2, 2 * (block ** (rank - 2) if deep else 1), *spatial)
        data = counted(shape).astype(numpy.float32)
        parameter = ops.parameter(shape, numpy.float32)
        want = openvino.compile_model(openvino.Model([build(parameter, mode, block)], [parameter]), "CPU")([data])[0]
        got = op({"block_size": str(block), "mode": mode}).evaluate(data)
        assert got.shape == want.shape
        assert (got == want).all(), (shape, block)
