"""The graph that a tool works with."""

import irshape
from tests.support.ir import Net


def diamond() -> Net:
    """x splits into two SpaceToDepth that meet in a Concat."""
    net = Net()
    x = net.parameter("f32[1,2,4,4]")
    left = net.layer("SpaceToDepth", [x], ["FP32"], block_size=2)[0]
    right = net.layer("SpaceToDepth", [x], ["FP32"], block_size=2, mode="depth_first")[0]
    net.result(net.layer("Concat", [left, right], ["FP32"], axis=1)[0])
    return net


def test_nodes_are_found_by_name_and_by_id() -> None:
    model = irshape.read(diamond().xml.encode())
    assert len(model) == 5
    assert model["concat_3"] is model.node(3)
    assert [node.name for node in model.parameters] == ["parameter_0"]
    assert [node.name for node in model.results] == ["result_4"]


def test_nodes_know_their_neighbours() -> None:
    model = irshape.read(diamond().xml.encode())
    concat = model["concat_3"]
    assert [node.id for node in concat.producers] == [1, 2]
    assert [node.id for node in concat.consumers] == [4]
    assert [port.name for port in concat.inputs] == ["data", "data"]
    source = concat.inputs[1].source
    assert source is not None
    assert (source.node.id, source.id) == (2, 1)
    assert [(target.node.id, target.id) for target in model["parameter_0"].outputs[0].targets] == [(1, 0), (2, 0)]


def test_attributes_have_their_declared_types() -> None:
    model = irshape.read(diamond().xml.encode())
    assert model.node(1).attributes == {"block_size": 2, "mode": "blocks_first"}
    assert model.node(2).attributes == {"block_size": 2, "mode": "depth_first"}


def test_iteration_is_topological_whatever_the_order_of_the_file() -> None:
    net = diamond()
    net.layers.reverse()
    model = irshape.read(net.xml.encode())
    seen: set[int] = set()
    for node in model:
        assert {producer.id for producer in node.producers} <= seen
        seen.add(node.id)
    assert seen == {0, 1, 2, 3, 4}
    assert [node.id for node in model.nodes] == [4, 3, 2, 1, 0]


def test_a_tree_holds_what_was_read() -> None:
    model = irshape.read(diamond().xml.encode())
    tree = model.to_etree()
    assert [layer.get("type") for layer in tree.iter("layer")] == ["Parameter", "SpaceToDepth", "SpaceToDepth", "Concat", "Result"]
    assert irshape.infer(tree).ok
