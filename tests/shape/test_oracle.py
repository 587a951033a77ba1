"""Bounds of random arithmetic on dimensions, against small OpenVINO models: sound, and never wider."""

from collections.abc import Callable
from math import inf
from random import Random
from typing import Any

import pytest

from irshape.shape.dim import Scope, Size, bounds, evaluate, product
from irshape.shape.guard import BOUNDS, STATIC
from irshape.shape.reported import Reported
from irshape.shape.shape import Shape, broadcast_shapes, merge_shapes
from irshape.shape.window import Slide, window
from tests.shape.recorder import Recorder

Interval = tuple[int, float]
Rule = Callable[[Recorder, list[Shape]], Shape]

# OpenVINO divides its infinity like a number, so a bound from here on stands for infinity.
LEAKED = 2**47


def small_models(random: Random) -> dict[str, tuple[list[list[Interval]], Rule, Callable[[list[Any]], Any]]]:
    """By name: intervals of the inputs, the rule, the OpenVINO node."""
    import numpy
    from openvino import opset15 as ops

    def constant(*values: int) -> Any:
        return ops.constant(numpy.array(values, numpy.int64))

    def size(top: int = 12) -> Interval:
        low, high = sorted((random.randint(0, top), random.randint(0, top)))
        return random.choice([(low, low), (low, high), (low, high), (low, inf), (0, inf)])

    a, b, c = random.randint(1, 4), random.randint(1, 3), random.randint(0, 3)
    kernel, stride = random.randint(1, 3), random.randint(1, 3)

    def exact_div(ctx: Recorder, size: Size, divisor: int, look: int = BOUNDS) -> Size:
        with ctx.openvino_checks(at=look):
            return ctx.exact_div(size, divisor, "")

    return {
        "add": ([[size()], [size()]], lambda ctx, x: (x[0][0] + x[1][0],), lambda p: ops.concat(p, 0)),
        "multiply": (
            [[size(), size(), size()]],
            lambda ctx, x: (x[0][0], exact_div(ctx, x[0][1], a), x[0][2] * a),
            lambda p: ops.depth_to_space(p[0], "blocks_first", a),
        ),
        "divide": (
            [[size(), size(), size()]],
            lambda ctx, x: (x[0][0], x[0][1] * a, exact_div(ctx, x[0][2], a)),
            lambda p: ops.space_to_depth(p[0], "blocks_first", a),
        ),
        "pad and divide": (
            [[size(), size()]],
            lambda ctx, x: (x[0][0] * a, exact_div(ctx, x[0][1] + b + c, a)),
            lambda p: ops.space_to_batch(p[0], constant(1, a), constant(0, b), constant(0, c)),
        ),
        "product": (
            [[size(6), size(6), size(6)]],
            lambda ctx, x: (x[0][0], product(x[0][1:])),
            lambda p: ops.reshape(p[0], constant(0, -1), True),
        ),
        "product and divide": (
            [[size(6), size(6)]],
            # Reshape accepts an interval without a multiple.
            lambda ctx, x: (exact_div(ctx, product(x[0]), a * b, STATIC), a, b),
            lambda p: ops.reshape(p[0], constant(-1, a, b), True),
        ),
        "merge": (
            [[(1, 1), size(), size()], [(1, 1), size(), size()]],
            lambda ctx, x: (2, *merge_shapes(ctx, x[0][1:], x[1][1:])),
            lambda p: ops.concat(p, 0),
        ),
        "broadcast": ([[size(4), size(4)], [size(4), size(4), size(4)]], lambda ctx, x: broadcast_shapes(ctx, *x), lambda p: ops.add(*p)),
        "window": (
            [[(1, 9), (3, 3), size()]],
            lambda ctx, x: (x[0][0], 7, window(ctx, x[0][2], kernel, Slide(stride, 1, c, b))),
            lambda p: ops.convolution(p[0], parameter([(7, 7), (3, 3), (kernel, kernel)]), [stride], [c], [b], [1], "explicit"),
        ),
        "two windows": (
            [[(1, 9), (3, 3), size()]],
            lambda ctx, x: (x[0][0], 3, window(ctx, window(ctx, x[0][2], kernel, Slide(stride, 1, c, b)), 2, Slide(2, 1, 1, 0)) + 1),
            lambda p: ops.concat(
                [
                    ops.convolution(
                        ops.convolution(p[0], parameter([(3, 3), (3, 3), (kernel, kernel)]), [stride], [c], [b], [1], "explicit"),
                        parameter([(3, 3), (3, 3), (2, 2)]),
                        [2],
                        [1],
                        [0],
                        [1],
                        "explicit",
                    ),
                    parameter([(1, 9), (3, 3), (1, 1)]),
                ],
                2,
            ),
        ),
    }


def parameter(intervals: list[Interval]) -> Any:
    import numpy
    from openvino import PartialShape
    from openvino import opset15 as ops

    texts = [str(low) if low == high else f"{low}..{'' if high == inf else high}" for low, high in intervals]
    return ops.parameter(PartialShape(f"[{','.join(texts)}]"), numpy.float32)


def openvino_bounds(node: Callable[[list[Any]], Any], inputs: list[list[Interval]]) -> list[Interval] | None:
    try:
        shape = node([parameter(intervals) for intervals in inputs]).output(0).get_partial_shape()
    except RuntimeError:
        return None
    return [(size.min_length, inf if size.max_length == -1 or size.max_length >= LEAKED else size.max_length) for size in shape]


NAMES = ("add", "multiply", "divide", "pad and divide", "product", "product and divide", "merge", "broadcast", "window", "two windows")


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_bounds_are_sound_and_never_wider(name: str) -> None:
    random = Random(name)
    for _ in range(300):
        intervals, rule, node = small_models(random)[name]
        ctx = Recorder(Scope())
        shapes: list[Shape] = [
            tuple(ctx.scope.symbol(f"s{i}_{axis}", *interval) for axis, interval in enumerate(row)) for i, row in enumerate(intervals)
        ]
        ours = rule(ctx, shapes)
        assert ours is not None
        theirs = openvino_bounds(node, intervals)
        is_violated = any(verdict == "violated" for verdict, _ in ctx.decided)
        assert is_violated == (theirs is None), (intervals, ctx.story)
        reported = Reported(ctx.scope, ctx.guards)
        if theirs is not None and not ctx.refused:
            for mine, their in zip(ours, theirs, strict=True):
                low, high = bounds(mine)
                assert max(low, 0) >= their[0] and high <= their[1], (intervals, str(mine), bounds(mine), their)
        for _ in range(4):
            values = {
                f"s{i}_{axis}": random.randint(low, int(min(high, low + 9)))
                for i, row in enumerate(intervals)
                for axis, (low, high) in enumerate(row)
            }
            static = [[(value := values[f"s{i}_{axis}"], value) for axis in range(len(row))] for i, row in enumerate(intervals)]
            result = openvino_bounds(node, static)  # type: ignore[arg-type]
            is_valid = not ctx.refused and all(guard.holds(values) for guard in ctx.guards)
            assert is_valid == (result is not None), (intervals, values, ctx.story)
            if result is not None:
                for mine, their in zip(ours, result, strict=True):
                    assert (evaluate(mine, values),) * 2 == their, (intervals, values, str(mine))
                    for low, high in (bounds(mine), reported.bounds(mine)):
                        assert low <= their[0] <= high, (intervals, values, str(mine))
