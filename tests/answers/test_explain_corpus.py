"""The long run over the folder in IRSHAPE_CORPUS, and the same over the IRs that the tests carry: every axis is explained soundly."""

from pathlib import Path

import pytest

from irshape import verbs
from irshape.answers.explain.explainer import Explainer, Target
from tests.answers.sound import faults
from tests.support.irs import PATHS, named

# Explaining every port takes time that grows with the square of the depth.
LARGEST = 400


@pytest.mark.parametrize("path", [path for path in PATHS if path.with_suffix(".bin").exists()], ids=named)
def test_every_axis_is_explained(path: Path) -> None:
    inference = verbs.infer(path)
    source = path.read_bytes()
    weights = path.with_suffix(".bin").read_bytes()
    explainer = Explainer(inference)
    targets = [
        (node.key, port.id, None)
        for model, _ in inference.graphs
        for node in model.nodes
        for port in node.layer.outputs
    ]  # fmt: skip
    for key, port, _ in targets[:: max(1, len(targets) // LARGEST)]:
        explanation = explainer.explain(Target.find(inference.graphs, key, port, None))
        assert not faults(explanation, source, weights), (key, port)
        assert explanation.steps or explanation.diagnostics
        assert str(explanation)
        assert explanation.to_dict()
