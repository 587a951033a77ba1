"""Two models that run on the same inputs in one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from irshape.answers.matching import Matching
from irshape.model.model import OutputPort
from irshape.running.inputs import Shapes
from irshape.running.results import OutputDifference, Tolerance
from irshape.running.runner import Refusal, Runner, RunningError
from irshape.running.sides import Ends, Side, ends_of

# A random output of a few bits is the same by chance in some runs.
_REPEATS: Final = 4


class Feed(NamedTuple):
    """The inputs of a run: the shapes for each model, the files for the runs of `a` (several for a batch), and the file for `b`."""

    shapes: Shapes
    shapes_of_b: Shapes
    own: list[str]
    other: str


class Pair:
    """Two models whose runs are compared, with the files and the process that this takes."""

    def __init__(self, a: Side, b: Side, folder: str, runner: Runner, tolerance: Tolerance) -> None:
        self.a = a
        self.b = b
        self.folder = folder
        self.runner = runner
        self.tolerance = tolerance
        self.matching = Matching(a.model, b.model)
        self.ends: Ends = ends_of(a.model, b.model, self.matching)

    def run(
        self, feed: Feed, taps: Sequence[OutputPort], others: Sequence[OutputPort], pairs: list[tuple[int, int]]
    ) -> tuple[dict[str, str], list[dict[str, Any]]]:
        """Run both models, with some tensors as further outputs, and compare pairs of outputs; or tell why each model that fails does."""
        failures: dict[str, str] = {}
        runs = {"a": [f"a{index}" for index in range(len(feed.own))], "b": ["b"]}
        for side, further, paths in ((self.a, taps, feed.own), (self.b, others, [feed.other])):
            try:
                side.read(self.runner, further)
                for name, path in zip(runs[side.letter], paths, strict=True):
                    self.runner.ask(do="run", model=side.letter, outputs=name, feeds=path)
            except Refusal as error:
                failures[side.letter] = str(error)
        if failures:
            return failures, []
        try:
            return {}, self.runner.ask(do="compare", **runs, pairs=pairs)["differences"]
        except Refusal as error:
            raise RunningError(f"the outputs cannot be compared: {error}") from None

    def repeat(self, feed: Feed, pairs: list[tuple[int, int]], names: list[str]) -> None:
        """Raise `RunningError` if the first model gives other outputs in further runs with the same inputs."""
        mine = [(index, index) for index, _ in pairs]
        for _ in range(_REPEATS):
            self.runner.ask(do="run", model="a", outputs="again", feeds=feed.own[0])
            for name, one in zip(names, self.runner.ask(do="compare", a=["a0"], b=["again"], pairs=mine)["differences"], strict=True):
                if not OutputDifference.of(name, one, self.tolerance).is_same:
                    raise RunningError(f"the first model gives other numbers for output {name} in a second run, as with RandomUniform")
