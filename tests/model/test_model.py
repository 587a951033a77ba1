"""The graph that a tool works with."""

import pytest

import irshape
from irshape.ops.registry import REGISTRY
from tests.support.ir import Net, Ref


def diamond() -> Net:
    """x splits into two SpaceToDepth that meet in a Concat."""
    return Net("""
        _x: f32[1,2,4,4]
        SpaceToDepth(_x, block_size=2), SpaceToDepth(_x, block_size=2, mode=depth_first) -> Concat(axis=1) -> Result
    """)


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
    assert [(target.node.id, target.id) for target in model["parameter_0"].outputs[0].readers] == [(1, 0), (2, 0)]


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
    tree = model.tree()
    assert [layer.get("type") for layer in tree.iter("layer")] == ["Parameter", "SpaceToDepth", "SpaceToDepth", "Concat", "Result"]
    assert irshape.infer(tree).ok


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("StridedSlice(f32[4,5], [1], [3], 0, begin_mask=0, end_mask=0)", "f32[2,5]"),
        ("Slice-8(f32[4,5], [1], [3], [1], 0)", "f32[2,5]"),
        ("Broadcast(f32[3,1], [2,3,4], 0, mode=numpy)", "f32[2,3,4]"),
        ("Pad(f32[3], [1], [1], 0, pad_mode=constant)", "f32[5]"),
        ("NonMaxSuppression(f32[1,6,4], f32[1,2,6], 3, 0)", "i64[6,3]"),
    ],
)
def test_an_input_that_openvino_fills_in_needs_no_edge(text: str, output: str) -> None:
    """The last input of the layer is listed, and no edge leads to it."""
    net = Net(text)
    net.edges.pop()
    net.result(Ref(len(net.layers) - 1, len(net.edges) + 1, "FP32"))
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert [d for d in inference.diagnostics if d.severity == "error"] == []
    assert repr(inference.layer(len(net.layers) - 2).outputs[0]) == output


@pytest.mark.parametrize(("type", "version", "is_known"), [("MVN", "opset1", True), ("mvn", "opset1", False), ("mvn", "opset2", True)])
def test_the_case_of_a_type_matters_under_a_version_beside_its_opsets(type: str, version: str, is_known: bool) -> None:
    assert (REGISTRY.find(type, version) is not None) is is_known
