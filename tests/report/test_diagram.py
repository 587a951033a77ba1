"""A model as a graph of NetworkX, a picture of Graphviz or Mermaid, and a table."""

import networkx
import pytest

import irshape
from irshape.report.diagram import Arrow, Box, Diagram
from tests.inference.test_bodies import ROWS
from tests.support.ir import Net


@pytest.fixture
def inference() -> irshape.Inference:
    return irshape.check("examples/atrous.xml", inputs={"image": "[N,3,H,W]"})


def test_a_networkx_graph_has_shapes_on_its_edges(inference: irshape.Inference) -> None:
    graph = inference.to_networkx()
    assert isinstance(graph, networkx.MultiDiGraph)
    assert len(graph) == len(inference) and networkx.is_directed_acyclic_graph(graph)
    assert graph.nodes["16"] == {"name": "upsample", "type": "DepthToSpace", "version": "opset1", "path": ""}
    assert graph.edges["16", "17", 0] == {
        "from_port": 1,
        "to_port": 0,
        "element_type": "f32",
        "shape": "[?,2,4..,4..]",
        "formula": "[N,2,2*((H + 1)//2),2*((W + 1)//2)]",
    }
    assert "2" in networkx.ancestors(graph, "17")


def test_a_model_gives_what_the_file_records() -> None:
    model = irshape.read("examples/faulty.xml")
    assert model.to_networkx().edges["1", "4", 0]["element_type"] == "f16"
    assert irshape.infer(model).to_networkx().edges["1", "4", 0]["element_type"] == "u8"


def test_two_connections_of_the_same_layers_are_two_edges() -> None:
    boxes = [Box("0", "x", "Parameter", "opset1", "", False), Box("1", "y", "Multiply", "opset1", "", False)]
    arrows = [Arrow("0", 0, "1", port, "f32", "[1]", "[1]") for port in (0, 1)]
    graph = Diagram("square", boxes, arrows).networkx()
    assert [one["to_port"] for one in graph.get_edge_data("0", "1").values()] == [0, 1]


def test_a_record_has_what_a_table_needs(inference: irshape.Inference) -> None:
    records = inference.to_records()
    assert [record["name"] for record in records] == [layer.name for layer in inference if layer.outputs]
    assert records[-1] == {
        "layer": "16", "name": "upsample", "type": "DepthToSpace", "version": "opset1", "path": "", "port": 1,
        "element_type": "f32", "shape": "[?,2,4..,4..]", "formula": "[N,2,2*((H + 1)//2),2*((W + 1)//2)]",
    }  # fmt: skip
    assert irshape.read("examples/atrous.xml").to_records()[0]["shape"] == "[?,3,?,?]"


def names(mermaid: str) -> set[str]:
    """The names of the layers in a picture of Mermaid."""
    return {line.partition("<br>")[2].removesuffix('"]') for line in mermaid.splitlines() if "<br>" in line}


def test_a_neighbourhood_has_the_layers_that_are_near(inference: irshape.Inference) -> None:
    assert names(inference.to_mermaid(around="atrous/conv", hops=0)) == {"atrous/conv"}
    near = {"atrous/space_to_batch", "atrous/conv", "atrous/conv/relu"}
    assert names(inference.to_mermaid(around="atrous/conv", hops=1)) == near
    assert names(inference.to_mermaid(around="9", hops=1)) == near
    assert names(inference.to_mermaid(around="atrous/conv", hops=1, constants=True)) == near | {"atrous/conv/weights"}
    assert names(inference.to_mermaid(around="atrous/conv", hops=99)) == names(inference.to_mermaid())
    assert names(inference.to_mermaid(constants=True)) == {layer.name for layer in inference}
    assert names(inference.to_mermaid(around="atrous/conv/weights", hops=1, constants=True)) == {"atrous/conv/weights", "atrous/conv"}


def test_a_neighbourhood_of_nothing_raises(inference: irshape.Inference) -> None:
    with pytest.raises(KeyError, match="'convolution'"):
        inference.to_mermaid(around="convolution")


def test_a_constant_may_be_the_center(inference: irshape.Inference) -> None:
    assert names(inference.to_mermaid(around="atrous/conv/weights", hops=1)) == {"atrous/conv/weights", "atrous/conv"}


def test_the_text_for_mermaid() -> None:
    assert irshape.infer("examples/atrous.xml", inputs={"image": "[N,3,H,W]"}).to_mermaid(around="stem", hops=1) == (
        "flowchart TD\n"
        '  n0["Parameter<br>image"]\n'
        '  n1["Convolution<br>stem"]\n'
        '  n2["ReLU<br>stem/relu"]\n'
        '  n0 -->|"f32[N,3,H,W]"| n1\n'
        '  n1 -->|"f32[N,4,(H + 1)//2,(W + 1)//2]"| n2\n'
        "  style n1 stroke-width:3px\n"
    )


def test_the_text_for_graphviz() -> None:
    assert irshape.read("examples/atrous.xml").to_dot(around="stem", hops=1) == (
        "digraph {\n"
        '  node [shape=box, style="rounded,filled", fillcolor=white]\n'
        "  edge [fontsize=10]\n"
        '  "0" [label="Parameter\\nimage"]\n'
        '  "2" [label="Convolution\\nstem", penwidth=3]\n'
        '  "3" [label="ReLU\\nstem/relu"]\n'
        '  "0" -> "2" [label="f32[?,3,?,?]"]\n'
        '  "2" -> "3" [label="f32[?,4,?,?]"]\n'
        "}\n"
    )


def test_layers_with_faults_are_red() -> None:
    inference = irshape.check("examples/faulty.xml")
    assert '"2" [label="SpaceToDepth\\nfold", color=red' in inference.to_dot()
    assert '"0" [label="Parameter\\nimage"]' in inference.to_dot()
    assert inference.to_mermaid().count("fill:#ffe4e1") == inference.to_dot().count("color=red") == 6
    assert "red" not in irshape.read("examples/faulty.xml").to_dot()


def test_bodies_are_parts_of_their_own() -> None:
    net = next(net for name, net, _ in ROWS if name == "joined")
    inference = irshape.infer(net.xml, weights=net.bin)
    [holder] = [node for node in inference.model if node.bodies]
    inside = [node.key for node in holder.body.nodes]
    assert set(inside) < set(inference.to_networkx().nodes)
    assert f'  subgraph "cluster {holder.name} / body" {{\n  label="{holder.name} / body"\n' in inference.to_dot()
    assert f'subgraph g1["{holder.name} / body"]' in inference.to_mermaid()
    assert "subgraph" not in inference.to_mermaid(around=holder.name)
    assert {record["path"] for record in inference.to_records()} == {"", f"{holder.name} / body"}


def test_names_are_only_text() -> None:
    hostile = 'a"] --> x; click n0 "javascript:1" \\ <b>#`|\n}'
    diagram = Diagram("net", [Box('1"', hostile, "Add", "opset1", "", False)], [])
    assert diagram.dot().splitlines()[3] == '  "1\\"" [label="Add\\na\\"] --> x; click n0 \\"javascript:1\\" \\\\ <b>#`| }"]'
    label = diagram.mermaid().splitlines()[1].removeprefix('  n0["Add<br>').removesuffix('"]')
    assert not set(label) & set('"<>`|&\\\n') and label.startswith("a#34;] --#62; x#59; click")


def test_a_label_is_not_as_long_as_a_rank_allows() -> None:
    net = Net(f"f32[{','.join(['?'] * 5_000)}] -> ReLU -> Result")
    inference = irshape.infer(net.xml.encode())
    for picture in (inference.to_dot(), inference.to_mermaid(), inference._repr_html_()):
        assert "characters …" in picture.replace("#8230;", "…") and len(picture) < 10_000
