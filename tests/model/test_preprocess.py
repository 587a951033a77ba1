"""The `<pre-process>` of a net: irshape refuses one where OpenVINO does."""

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core

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
    try:
        core("opset1").read_model(xml, weights)
        expected = set()
    except RuntimeError:
        expected = {"X114"}
    assert {one.code for one in irshape.infer(xml, weights=weights).diagnostics if one.severity == "error"} == expected
