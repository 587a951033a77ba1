"""One mistake in the edges or the ids of layers is one leading fault, which says what may be meant."""

import pytest

import irshape
from irshape.report.diagnostic import causes
from tests.support.ir import Net


def net() -> str:
    """Two inputs that are added, scaled by the first and returned."""
    net = Net()
    x, y = net.parameter("f32[2,3]"), net.parameter("f32[2,3]")
    added = net.layer("Add", [x, y], ["FP32"])[0]
    scaled = net.layer("Multiply", [added, x], ["FP32"])[0]
    net.result(net.layer("Relu", [scaled], ["FP32"])[0])
    return net.xml.replace('precision="FP32"/>', 'precision="FP32"><dim>2</dim><dim>3</dim></port>')


XML = net()
EDGES = XML[XML.index("<edges>") : XML.index("</edges>")]


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
    "an edge from a layer that does not exist": (edge(1, 0, 2, 1), edge(9, 0, 2, 1), "G102", "from layer 1"),
    "an id that two layers have": ('<layer id="2"', '<layer id="1"', "G101", 'did you mean id="2"'),
    "no edges": (EDGES, "<edges>", "G106", "the <edges> are missing or empty"),
}


@pytest.mark.parametrize(("before", "after", "code", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_fault(before: str, after: str, code: str, hint: str | None) -> None:
    assert irshape.check(XML.encode()).diagnostics == []
    assert XML.count(before) == 1
    [fault] = causes(irshape.check(XML.replace(before, after).encode()).diagnostics)
    assert (fault.code, fault.severity) == (code, "error")
    assert hint is None or hint in (fault.hint or "")


def test_a_layer_that_was_removed_is_one_fault() -> None:
    start = XML.index('<layer id="3"')
    [fault] = causes(irshape.check((XML[:start] + XML[XML.index("</layer>", start) + 8 :]).encode()).diagnostics)
    assert (fault.code, fault.severity, fault.message) == ("G102", "error", "layer 3 does not exist, but 3 edges name it")


def test_two_mistakes_are_two_faults() -> None:
    twice = XML.replace(edge(1, 0, 2, 1), edge(9, 0, 2, 1)).replace(edge(0, 0, 3, 1), edge(8, 0, 3, 1))
    assert [fault.code for fault in irshape.check(twice.encode()).diagnostics if fault.severity == "error"] == ["G102", "G102"]


def test_an_input_port_that_a_layer_does_not_list_is_one_fault() -> None:
    start = XML.index('<port id="0"', XML.index('type="Add"'))
    [fault] = causes(irshape.check((XML[:start] + XML[XML.index("</port>", start) + 7 :]).encode()).diagnostics)
    assert (fault.code, fault.severity) == ("G103", "error")
    assert "the layer lists 1" in (fault.hint or "")
