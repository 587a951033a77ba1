"""The graph that a tool works with."""

import re
import struct
from copy import deepcopy
from random import Random

import pytest

import irshape
from irshape.ops.registry import REGISTRY
from irshape.report.diagnostic import causes
from tests.support.ir import Net, Ref
from tests.support.oracle import core, reads

# x splits into two SpaceToDepth that meet in a Concat.
DIAMOND = Net("""
    _x: f32[1,2,4,4]
    SpaceToDepth(_x, block_size=2), SpaceToDepth(_x, block_size=2, mode=depth_first) -> Concat(axis=1) -> Result
""")


def test_nodes_are_found_by_name_and_by_id() -> None:
    model = irshape.read(DIAMOND.xml.encode())
    assert len(model) == 5
    assert model["concat_3"] is model.node(3)
    assert [node.name for node in model.parameters] == ["parameter_0"]
    assert [node.name for node in model.results] == ["result_4"]


def test_nodes_know_their_neighbours() -> None:
    model = irshape.read(DIAMOND.xml.encode())
    concat = model["concat_3"]
    assert [node.id for node in concat.producers] == [1, 2]
    assert [node.id for node in concat.consumers] == [4]
    assert [port.name for port in concat.inputs] == ["data", "data"]
    source = concat.inputs[1].source
    assert source is not None
    assert (source.node.id, source.id) == (2, 1)
    assert [(target.node.id, target.id) for target in model["parameter_0"].outputs[0].readers] == [(1, 0), (2, 0)]


def test_attributes_have_their_declared_types() -> None:
    model = irshape.read(DIAMOND.xml.encode())
    assert model.node(1).attributes == {"block_size": 2, "mode": "blocks_first"}
    assert model.node(2).attributes == {"block_size": 2, "mode": "depth_first"}


def test_iteration_is_topological_whatever_the_order_of_the_file() -> None:
    net = deepcopy(DIAMOND)
    net.layers.reverse()
    model = irshape.read(net.xml.encode())
    seen: set[int] = set()
    for node in model:
        assert {producer.id for producer in node.producers} <= seen
        seen.add(node.id)
    assert seen == {0, 1, 2, 3, 4}
    assert [node.id for node in model.nodes] == [4, 3, 2, 1, 0]


def test_a_tree_holds_what_was_read() -> None:
    model = irshape.read(DIAMOND.xml.encode())
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


NETS = 250
FEW = ["a", "b", "c", "s", "s.0", "s.1", "d", "e"]
MANY = [*FEW[:3], *(f"n{number}" for number in range(14))]


def net(random: Random) -> str:
    """A net of inputs, ReLUs, perhaps a TopK, and Results, with random names of layers and tensors."""
    names, made = random.choice((FEW, MANY)), Net(version=10)
    outputs = [made.parameter("f32[2,4]") for _ in range(random.randint(1, 2))]
    for _ in range(random.randint(0, 3)):
        outputs += made.layer("ReLU", [random.choice(outputs)], ["FP32"])
    if random.random() < 0.5:
        read = [random.choice(outputs), made.const(1)]
        attributes = {"axis": 0, "mode": "max", "sort": "value", "index_element_type": "i32"}
        outputs += made.layer("TopK", read, ["FP32", "I32"], "opset3", **attributes)
    for _ in range(random.randint(1, 3)):
        made.result(random.choice(outputs))

    def named(found: re.Match[str]) -> str:
        return re.sub("/>", lambda _: f' names="{",".join(random.sample(names, random.choice((0, 0, 1, 2))))}"/>', found[0])

    xml = re.sub(r'(?<=<layer id="\d" name=")[^"]*|(?<=<layer id="\d\d" name=")[^"]*', lambda _: random.choice(names), made.xml)
    return re.sub("<output>.*?</output>", named, xml, flags=re.DOTALL)


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_random_names() -> None:
    """What irshape refuses, OpenVINO refuses; of what OpenVINO refuses, irshape may pass over tensors whose names OpenVINO changes."""
    random = Random(5)
    weights = struct.pack("<q", 1)
    refused = missed = 0
    for _ in range(NETS):
        text = net(random)
        try:
            core("opset1").read_model(text.encode(), weights)
            is_read = True
        except RuntimeError as error:
            assert "collisions" in str(error)
            is_read = False
        codes = {one.code for one in irshape.infer(text.encode(), weights=weights).diagnostics if one.severity == "error"}
        assert codes == ({"G120"} if codes else set())
        assert not (is_read and codes), text
        refused += not is_read
        missed += not (is_read or codes)
        assert "G120" not in {one.code for one in irshape.infer(text.replace('"10"', '"11"', 1).encode(), weights=weights).diagnostics}
    assert refused > NETS // 4
    assert missed <= refused // 50


VALUE = '<mean value="1"/>'
IMAGE = '<mean offset="0" size="64"/>'


def means(*channels: object, mean: str = VALUE, reference: str | None = "parameter_0") -> str:
    """A `<pre-process>` with a mean for each of these channels; None for one without an id."""
    named = "" if reference is None else f' reference-layer-name="{reference}"'
    ids = ("" if id is None else f' id="{id}"' for id in channels)
    return f'<pre-process{named} mean-precision="FP32">' + "".join(f"<channel{id}>{mean}</channel>" for id in ids) + "</pre-process>"


ALL = (0, 1, 2)
IMAGES = '<pre-process><channel id="0"><mean value="1"/></channel><channel id="1"><mean offset="0" size="64"/></channel></pre-process>'
CASES = {
    "means": ("1,3,4,4", means(*ALL)),
    "none": ("1,3,4,4", "<pre-process/>"),
    "no reference": ("1,3,4,4", means(*ALL, reference=None)),
    "no ids": ("1,3,4,4", means(None, None, None)),
    "another order": ("1,3,4,4", means(2, 1, 0)),
    "two": ("1,3,4,4", means(*ALL) + means(0)),
    "two channels": ("1,3,4,4", means(0, 1)),
    "four channels": ("1,3,4,4", means(0, 1, 2, 3)),
    "channel twice": ("1,3,4,4", means(0, 0, 1)),
    "channel beyond": ("1,3,4,4", means(1, 2, 3)),
    "id": ("1,3,4,4", means(0, "1x", 2)),
    "no input": ("1,3,4,4", means(*ALL, reference="relu_1")),
    "no input, no channels": ("1,3,4,4", means(reference="other")),
    "scale alone": ("1,3,4,4", means(*ALL, mean='<scale value="2"/>')),
    "no number": ("1,3,4,4", means(*ALL, mean='<mean value="abc"/>')),
    "prefix": ("1,3,4,4", means(*ALL, mean='<mean value="1x"/>')),
    "empty mean": ("1,3,4,4", means(*ALL, mean="<mean/>")),
    "dynamic": ("1,3,-1,4", means(*ALL)),
    "dynamic, no means": ("1,3,-1,4", "<pre-process/>"),
    "rank 1": ("3", means(*ALL)),
    "rank 2": ("1,3", means(*ALL)),
    "rank 3": ("3,4,4", means(*ALL)),
    "rank 5": ("1,3,4,4,4", means(*ALL)),
    "rank 6": ("1,3,2,2,2,2", means(*ALL)),
    "images": ("1,3,4,4", means(*ALL, mean=IMAGE)),
    "images, batch": ("2,3,4,4", means(*ALL, mean=IMAGE)),
    "images, rank 3": ("3,4,4", means(*ALL, mean=IMAGE)),
    "images, rank 5": ("1,3,4,4,4", means(*ALL, mean=IMAGE)),
    "short images": ("1,3,4,4", means(*ALL, mean='<mean offset="0" size="60"/>')),
    "no size": ("1,3,4,4", means(*ALL, mean='<mean offset="0" size="64x"/>')),
    "values and images": ("1,3,4,4", IMAGES),
}


@pytest.mark.oracle
@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("name", CASES)
def test_preprocess(name: str, version: int) -> None:
    shape, given = CASES[name]
    net = Net(f"ReLU(f32[{shape}]) -> Result", version=version)
    xml = net.xml.replace("</net>", f"{given}</net>").encode()
    weights = bytes(4096)
    expected = set() if reads(xml, weights) else {"X114"}
    assert {one.code for one in irshape.infer(xml, weights=weights).diagnostics if one.severity == "error"} == expected


def recorded_net() -> str:
    """Two inputs that are added, scaled by the first and returned."""
    net = Net("_x: f32[2,3]\n_y: f32[2,3]\nAdd(_x, _y) -> Multiply(_x) -> Relu -> Result")
    return net.xml.replace('precision="FP32"/>', 'precision="FP32"><dim>2</dim><dim>3</dim></port>')


XML = recorded_net()
EDGES = XML[XML.index("<edges>") : XML.index("</edges>")]


def between(start: str, end: str) -> str:
    """The part of the text from one mark to the end of another."""
    at = XML.index(start)
    return XML[at : XML.index(end, at) + len(end)]


PORT = between('type="Add"', "</port>")


def edge(*ends: int) -> str:
    return '<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>'.format(*ends)


# What is replaced by what, the leading code, and what its hint says.
MISTAKES = {
    "a deleted edge whose producer nobody else reads": (edge(1, 0, 2, 1), "", "G106", "should an edge lead here from layer 1"),
    "a deleted edge": (edge(0, 0, 2, 0), "", "G106", None),
    "an edge to the next port": (edge(0, 0, 2, 0), edge(0, 0, 2, 1), "G104", 'did you mean to-port="0"'),
    "an edge to a port that does not exist": (edge(0, 0, 2, 0), edge(0, 0, 2, 7), "G103", 'did you mean to-port="0"'),
    "an edge to the next layer": (edge(0, 0, 2, 0), edge(0, 0, 3, 0), "G104", 'did you mean to-layer="2" to-port="0"'),
    "an edge from a port that does not exist": (edge(0, 0, 2, 0), edge(0, 5, 2, 0), "G103", 'did you mean from-port="0"'),
    "an edge from a port that its only layer does not have": (edge(1, 0, 2, 1), edge(1, 7, 2, 1), "G103", 'did you mean from-port="0"'),
    "an edge from a layer that does not exist": (edge(1, 0, 2, 1), edge(9, 0, 2, 1), "G102", "from layer 1"),
    "an edge from no number": (edge(1, 0, 2, 1), edge(1, 0, 2, 1).replace('"1"', '"one"', 1), "X106", "from-layer='one'"),
    "an edge to no number": (
        edge(0, 0, 2, 0),
        edge(0, 0, 2, 0).replace('"2"', '"2.0"', 1),
        "X106",
        'did you mean to-layer="2" to-port="0"',
    ),
    "an edge without an end": (
        edge(1, 0, 2, 1),
        edge(1, 0, 2, 1).replace(' to-port="1"', ""),
        "X105",
        'did you mean to-layer="2" to-port="1"',
    ),
    "an id that two layers have": ('<layer id="2"', '<layer id="1"', "G101", 'did you mean id="2"'),
    "an id that no edge names": ('<layer id="2"', '<layer id="900"', "G102", 'did you mean id="2"'),
    "an id of a Const that is in no order": ('<layer id="1"', '<layer id="900"', "G102", 'did you mean id="1"'),
    "no edges": (EDGES, "<edges>", "G106", "the <edges> are missing or empty"),
    "a layer that was removed": (between('<layer id="3"', "</layer>"), "", "G102", "layer 3 does not exist, but 3 edges name it"),
    "an input port that a layer does not list": (PORT, PORT[: PORT.index("<port")], "G103", "the layer lists 1"),
}


@pytest.mark.parametrize(("before", "after", "code", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_fault(before: str, after: str, code: str, hint: str | None) -> None:
    assert irshape.check(XML.encode()).diagnostics == []
    assert XML.count(before) == 1
    [fault] = causes(irshape.check(XML.replace(before, after).encode()).diagnostics)
    assert (fault.code, fault.severity) == (code, "error")
    assert hint is None or hint in f"{fault.message}; {fault.hint}"


def test_an_edge_from_a_port_that_a_layer_with_several_does_not_have() -> None:
    """The one that nothing reads is meant; where everything is read, the ports are listed."""
    net = Net("_s: Split(f32[2,4], 0, num_splits=2) f32 f32\n_s -> Result\n_s.1 -> Result")
    start = re.findall('from-layer="2" from-port="3"', net.xml)[0]
    [fault] = causes(irshape.check(net.xml.replace(start, 'from-layer="2" from-port="9"').encode(), weights=net.bin).diagnostics)
    assert (fault.code, fault.hint) == ("G103", 'did you mean from-port="3"? Nothing reads that output port')


def test_no_port_is_meant_that_gives_something_else_than_the_input_records() -> None:
    """The axes of the Squeeze are i64, and come from layer 0, which the Unsqueeze reads, too; the ReLU, layer 2, gives f32."""
    net = Net("_a: [0]\nf32[1,2] -> ReLU -> Squeeze(_a) -> Unsqueeze(_a) -> Result")
    wrong = net.xml.replace('from-layer="0" from-port="0"', 'from-layer="2" from-port="0"', 1)
    assert wrong != net.xml
    [fault] = causes(irshape.check(wrong.encode(), weights=net.bin).diagnostics)
    assert fault.code == "G103" and (fault.hint or "").startswith("correct from-layer: no output of ReLU")


def test_a_result_that_was_removed_leaves_an_edge_to_an_end() -> None:
    net = Net("_x: f32[2]\n_x -> ReLU -> Result\n_x -> Sigmoid -> Result")
    removed = re.sub(r'<layer id="4".*?</layer>', "", net.xml, count=1, flags=re.DOTALL)
    [fault] = causes(irshape.check(removed.encode()).diagnostics)
    assert (fault.code, fault.hint) == ("G102", "no edge starts at layer 4: if it was a Result, an output of the model is lost")


def test_two_mistakes_are_two_faults() -> None:
    twice = XML.replace(edge(1, 0, 2, 1), edge(9, 0, 2, 1)).replace(edge(0, 0, 3, 1), edge(8, 0, 3, 1))
    assert [fault.code for fault in irshape.check(twice.encode()).diagnostics if fault.severity == "error"] == ["G102", "G102"]
