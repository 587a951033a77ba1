"""SpaceToDepth and DepthToSpace."""

import random

import pytest

from irshape.ops.movement.space_depth import DepthToSpace, SpaceToDepth
from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("SpaceToDepth", "opset1"): [
        ("specification", "f32[5,7,4,6]", {"block_size": 2, "mode": "blocks_first"}, "f32[5,28,2,3]"),
        ("remainder", "f32[5,7,4,7]", {"block_size": 2}, "S204"),
        ("low rank", "f32[5,7]", {"block_size": 2}, "S101"),
        ("no block size", "f32[5,7,4,6]", "A104"),
        ("unknown mode", "f32[5,7,4,6]", {"block_size": 2, "mode": "blocks"}, "A103"),
    ],
    ("DepthToSpace", "opset1"): [
        ("specification", "f32[5,28,2,3]", {"block_size": 2, "mode": "blocks_first"}, "f32[5,7,4,6]"),
        ("three axes", "i8[5,8,2,3,4]", {"block_size": 2, "mode": "depth_first"}, "i8[5,1,4,6,8]"),
        ("bounds", "f32[?,8..20,2..,..3]", {"block_size": 2}, "f32[?,2..5,4..,..6]"),
        ("unranked", "f32[...]", {"block_size": 2}, "f32[...]"),
        ("remainder", "f32[5,27,2,3]", {"block_size": 2}, "S204"),
        ("no block size", "f32[5,28,2,3]", "A104"),
        ("low rank", "f32[5,28]", {"block_size": 2}, "S101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)


@pytest.mark.oracle
@pytest.mark.parametrize("mode", ["blocks_first", "depth_first"])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_depth_moves_as_on_the_cpu(rank: int, mode: str) -> None:
    import numpy
    import openvino
    import openvino.opset15 as ops

    generator = random.Random(f"{rank}{mode}")
    for op, build in ((SpaceToDepth, ops.space_to_depth), (DepthToSpace, ops.depth_to_space)):
        block = generator.randint(2, 3)
        deep = op is DepthToSpace
        spatial = [generator.randint(1, 3) * (1 if deep else block) for _ in range(rank - 2)]
        shape = (2, 2 * (block ** (rank - 2) if deep else 1), *spatial)
        data = numpy.arange(numpy.prod(shape), dtype=numpy.float32).reshape(shape)
        parameter = ops.parameter(shape, numpy.float32)
        want = openvino.compile_model(openvino.Model([build(parameter, mode, block)], [parameter]), "CPU")([data])[0]
        got = op({"block_size": str(block), "mode": mode}).evaluate(data)
        assert got.shape == want.shape
        assert (got == want).all(), (shape, block)
