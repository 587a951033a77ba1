"""Random value subgraphs have the verdict of OpenVINO, and bounds that are no looser and hold for numbers."""

import random

import pytest

pytestmark = pytest.mark.slow("take long")


@pytest.mark.oracle
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_subgraphs_beside_openvino(first: int) -> None:
    from tests.fuzz.beside import SmallGraph, differences

    graphs = {seed: SmallGraph(random.Random(seed)) for seed in range(first, first + 10)}
    assert [(seed, one) for seed, graph in graphs.items() for one in differences(graph.net, graph.chance)] == []
