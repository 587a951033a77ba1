"""The notes in an `<rt_info>`: irshape refuses those that OpenVINO refuses."""

from random import Random

import pytest

import irshape
from tests.support.oracle import reads

LAYOUTS = [
    "", " ", "NCHW", "nchw", "NN", "N?C", "N..C", "N...C", "N...C...", "N C", "[N", "[N,C]", "[N,,]", "[N,N]", "[n,N]", "[B,BATCH]",
    "[...,C, ]", "[N,..,C]", "[N C]", "[]", "[...]", "[1]", "[_]", "[a-b]", "[channels,C]", "**SCALAR**",
]  # fmt: skip
TYPES = ["f16", "F16", "FP16", "zz", "", "undefined", "dynamic"]
ORDERS = ["0,2,3,1", "", "a,b", "-1,0", "0,0", "1.5,2", "0, 1", "0,1,", "0,,1", "1a", "+1", "18446744073709551615", "18446744073709551616"]
NAMES = [
    "fused_names", "layout", "old_api_map_order", "old_api_map_element_type", "decompression", "primitives_priority", "precise",
    "preprocessing", "memory_type", "DisablePrecisionConversion", "DisableConstantFolding", "nms_selected_indices",
    "strides_propagation", "shape_subgraph", "own",
]  # fmt: skip


def note(name: str, version: str = "0", **values: str) -> str:
    return f'<attribute name="{name}" version="{version}"' + "".join(f' {key}="{value}"' for key, value in values.items()) + "/>"


NOTES = [
    *(note("layout", layout=text) for text in LAYOUTS),
    *(note("old_api_map_element_type", value=text) for text in TYPES),
    *(note("old_api_map_order", value=text) for text in ORDERS),
    *(note(name) for name in NAMES),
    *(note(name) * 2 for name in NAMES),
    note("fused_names", value="a") + note("fused_names", "1", value="b"),
    note("fused_names", "1", value="a") * 2,
    note("layout", "1", layout="NN"),
    '<attribute name="layout" layout="NN"/>',
    f"<own>{note('layout', layout='NN')}</own>",
    note("fused_names", value="a") + "</rt_info><rt_info>" + note("layout", layout="NN"),
]


def xml(notes: str, place: str) -> str:
    """An IR with notes in the `<rt_info>` of a Parameter, of its port, of a ReLU, of a layer that no Result needs, or of the net."""
    info = {place: f"<rt_info>{notes}</rt_info>"}.get
    layers = [
        f"""<layer id="0" name="x" type="Parameter" version="opset1">
            <data shape="1,3" element_type="f32"/>{info("Parameter", "")}
            <output><port id="0" precision="FP32"><dim>1</dim><dim>3</dim>{info("port", "")}</port></output></layer>""",
        *(
            f"""<layer id="{id}" name="{name}" type="ReLU" version="opset1">{info(name, "")}<input><port id="0" precision="FP32"/></input>
            <output><port id="1" precision="FP32"/></output></layer>"""
            for id, name in ((1, "relu"), (2, "unused"))
        ),
        '<layer id="3" name="y" type="Result" version="opset1"><input><port id="0" precision="FP32"/></input></layer>',
    ]
    edges = "".join(f'<edge from-layer="{a}" from-port="{p}" to-layer="{b}" to-port="0"/>' for a, p, b in ((0, 0, 1), (1, 1, 3), (0, 0, 2)))
    return f'<net name="net" version="11"><layers>{"".join(layers)}</layers><edges>{edges}</edges>{info("net", "")}</net>'


@pytest.mark.oracle
@pytest.mark.parametrize("place", ["Parameter", "port", "relu", "unused", "net"])
def test_notes(place: str) -> None:
    """irshape refuses a note where OpenVINO does, in an IR of either layout."""
    differing = []
    for notes in NOTES:
        text = xml(notes, place)
        expected = reads(text.encode(), b"\0")
        for written in (text, text.replace('"', "'")):  # the fast lane reads double quotes only
            inference = irshape.infer(written.encode())
            found = {one.code for one in inference.diagnostics if one.severity == "error"}
            if found != (set() if expected else {"X113"}):
                differing.append((notes, expected, found))
    assert differing == []


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_layouts() -> None:
    """Texts of the parts of layouts."""
    random = Random(7)
    parts = ["N", "C", "n", "...", "?", ",", "[", "]", " ", "batch", "B", "1", "_", "-", ".", "height", "**SCALAR**", ""]
    differing = []
    for _ in range(1500):
        text = "".join(random.choice(parts) for _ in range(random.randint(0, 5)))
        if random.random() < 0.6:
            text = "[" + ",".join(random.choice(parts) for _ in range(random.randint(0, 4))) + "]"
        written = xml(note("layout", layout=text), "Parameter")
        if irshape.infer(written.encode()).ok is not reads(written.encode(), b"\0"):
            differing.append(text)
    assert differing == []


def test_the_place_of_a_fault() -> None:
    (fault,) = (one for one in irshape.infer(xml(note("layout", layout="NN"), "port").encode()).diagnostics if one.code == "X113")
    assert fault.message == "layout='NN' is no layout: the axis N is named twice"
    assert (fault.where.layer_name, fault.where.port, fault.where.line) == ("x", "0", 3)
