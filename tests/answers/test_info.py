"""What a model is: facts a reader can check in the file."""

import pytest

import irshape
from irshape.answers.info import oldest_release
from irshape.shape.element_type import ElementType
from tests.support.ir import Net
from tests.support.places import ATROUS, EXAMPLES, IRS


def selecting() -> Net:
    """The positions of nonzero pixels in an image of unknown size, and a Reshape that keeps the batch."""
    return Net(
        "x: f32[?,3,..16]\nx -> places: NonZero-3(output_type=i64) -> ReLU -> Result\nx -> Reshape([0,-1], special_zero=true) -> Result"
    )


def info(net: Net, **inputs: str) -> "irshape.answers.info.Info":
    return irshape.info(net.xml.encode(), weights=net.bin, inputs=inputs)


def test_what_is_dynamic_and_why() -> None:
    found = info(selecting())
    assert [(root.kind, root.node.name, root.axis, root.ports, root.unbounded) for root in found.roots] == [
        ("input", "x", 0, 2, 2),
        ("input", "x", 2, 2, 0),
        ("data", "places", 1, 2, 2),
    ]
    assert found.ports == {"all": 5, "dynamic": 4, "unbounded": 4, "unranked": 0}


def test_a_given_shape_is_what_counts() -> None:
    found = info(selecting(), x="[1,3,16]")
    assert [root.node.name for root in found.roots] == ["places"]
    assert found.ports == {"all": 5, "dynamic": 2, "unbounded": 0, "unranked": 0}


def test_counts_and_parameters() -> None:
    net = selecting()
    net.add("f16=[[0.5,1.5]] -> Result")
    found = info(net)
    assert found.operations == {"Result": 3, "Const": 2, "NonZero": 1, "Parameter": 1, "ReLU": 1, "Reshape": 1}
    assert found.opsets == {"opset1": 8, "opset3": 1}
    assert found.parameters == {"i64": (2, 16), "f16": (2, 4)}


def test_inputs_and_outputs() -> None:
    found = irshape.info(ATROUS)
    assert [(one.name, str(one.element_type), one.shape) for one in found.inputs] == [("image", "f32", "[?,3,3..,3..]")]
    assert [(one.name, str(one.element_type), one.shape) for one in found.outputs] == [("mask", "f32", "[?,2,4..,4..]")]


def test_state_and_bodies() -> None:
    path = next(IRS.glob("**/loop_if_nested_fp16.xml"))
    assert [body.path for body in irshape.info(path).bodies] == [
        "Loop_2818 / body", "Loop_2818 / body / If_2813 / then_body", "Loop_2818 / body / If_2813 / else_body",
    ]  # fmt: skip
    net = Net('f32[2,?] -> read: ReadValue-6(variable_id=v, variable_type=f32, variable_shape="2,?")\nread -> Assign-6(variable_id=v)')
    net.add("read -> Result")
    found = info(net)
    assert [(one.name, one.shape) for one in found.state] == [("v", "[2,?]")]
    assert [root.kind for root in found.roots] == ["input", "variable"]


def batch_of(*shapes: str) -> tuple[list[tuple[str, int]], list[list[tuple[str, int]]]]:
    """The certain and the possible batch axes of a net whose inputs are its results."""
    net = Net("\n".join(f"{shape} -> ReLU -> Result" for shape in shapes))
    found = info(net)
    return [(node.name, axis) for node, axis, _ in found.batch], [[(node.name, axis) for node, axis in axes] for axes in found.candidates]


def test_batch() -> None:
    assert batch_of("f32[?,4]") == ([("parameter_0", 0)], [])
    assert batch_of("f32[1,4]") == ([("parameter_0", 0)], [])
    assert batch_of("f32[1,4]", "f32[2,4]") == ([], [[("parameter_0", 0)], [("parameter_3", 0)]])


@pytest.mark.parametrize(
    ("version", "layers", "types", "release", "earliest", "is_exact"),
    [
        (10, [("Add", "opset1")], [], "2020.1", "2020.1", True),
        (11, [("Add", "opset1")], [], "2022.1", "2022.1", True),
        (11, [("MaxPool", "opset14"), ("Add", "opset1")], [], "2024.0", "2024.0", True),
        (10, [("Add", "opset1"), ("MVN", "opset6")], [], "2021.3", "2021.3", True),
        (11, [("ISTFT", "opset16")], [], "2026.4", "2024.5", False),
        (11, [("Add", "opset1")], ["nf4"], "2023.3", "2022.3", False),
        (10, [("Add", "opset1")], ["u4"], "2021.4", "2020.1", False),
        (11, [("Add", "opset1")], ["u4"], "2022.1", "2022.1", True),
        (11, [("MaxPool", "opset14")], ["nf4"], "2024.0", "2024.0", True),
        (11, [("Add", "opset1")], ["u3", "string"], "2024.6", "2023.3", False),
    ],
)
def test_oldest_release(version: int, layers: list[tuple[str, str]], types: list[str], release: str, earliest: str, is_exact: bool) -> None:
    oldest = oldest_release(version, layers, [ElementType.BY_NAME[name] for name in types])
    assert (oldest.release, oldest.earliest, oldest.is_exact, oldest.unknown) == (release, earliest, is_exact, [])


def test_what_no_release_is_known_to_have() -> None:
    oldest = oldest_release(11, [("Add", "opset1"), ("Mine", "extension")], [])
    assert (oldest.release, oldest.unknown) == ("2022.1", ["extension (Mine)"])


def test_a_model_with_errors() -> None:
    found = irshape.info(EXAMPLES / "faulty.xml")
    assert found.errors == 6
    assert (found.batch, found.candidates) == ([], [])
