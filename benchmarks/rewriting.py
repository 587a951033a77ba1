"""CPU time of the walk that rewrites a model for other sizes.

    python -m benchmarks.rewriting [BLOCKS...]

The model is a row of attention blocks over the tokens of an image, in which every Reshape holds the batch and the number of tokens.
"""

import sys
from time import process_time
from typing import Any

import numpy as np

import irshape
from irshape.inference.engine import Engine
from irshape.inference.inputs import Inputs, asked_inputs, recorded_inputs
from irshape.reshaping.rewriting import Rewriter
from irshape.reshaping.wish import batch_axes, wish

SIDE, WIDTH, HEADS = 14, 32, 4


def model(blocks: int) -> irshape.Model:
    """A model of so many blocks."""
    graph = irshape.Graph("attention")
    tokens = [1, SIDE * SIDE, WIDTH]
    heads = [1, SIDE * SIDE, HEADS, WIDTH // HEADS]
    order = np.array([0, 2, 1, 3])
    x = graph.add("Reshape", graph.parameter("image", f"1,{SIDE},{SIDE},{WIDTH}"), tokens, special_zero=False).output
    weights = graph.constant(np.eye(WIDTH, dtype="f4"), name="weights")
    for _ in range(blocks):
        q, k, v = (
            graph.add(
                "Transpose", graph.add("Reshape", graph.add("MatMul", x, weights).output, heads, special_zero=False).output, order
            ).output
            for _ in range(3)
        )
        scores = graph.add("Softmax", graph.add("MatMul", q, k, transpose_b=True).output, axis=3).output
        mixed = graph.add("Transpose", graph.add("MatMul", scores, v).output, order).output
        joined = graph.add("Reshape", mixed, tokens, special_zero=False).output
        x = graph.add("Add", x, graph.add("MatMul", joined, weights).output).output
    graph.result(x)
    return graph.model()


def main() -> None:
    """Measure models of the numbers of blocks that are given."""
    print(f"{'layers':>8}{'pass, ms':>12}{'walk, ms':>12}{'us a layer':>12}{'mends':>8}")
    for blocks in map(int, sys.argv[1:] or ("5", "50", "175")):
        inner = model(blocks)._graph
        weights = inner.weights if hasattr(inner, "weights") else None

        def new_engine(inner: Any = inner, weights: Any = weights) -> Engine:
            return Engine(inner, weights)

        present: Inputs = recorded_inputs(inner)[0]
        wanted = asked_inputs(inner, {"image": f"[N,H,W,{WIDTH}]"}, {})
        engine = new_engine()
        start = process_time()
        engine.run(wanted.question(engine))
        passed = process_time() - start
        shapes = dict.fromkeys(inner.parameters, (1, SIDE, SIDE, WIDTH))
        rewriter = Rewriter(new_engine, present, wish(wanted, shapes, batch_axes(wanted, shapes)))
        start = process_time()
        mends = rewriter.walked().bench.notes.mends
        spent = process_time() - start
        layers = len(inner.nodes)
        print(f"{layers:>8}{1e3 * passed:>12.1f}{1e3 * spent:>12.1f}{1e6 * spent / layers:>12.1f}{len(mends):>8}")


if __name__ == "__main__":
    main()
