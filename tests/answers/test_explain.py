"""Explanations: the formulas that rules record, the layers that are skipped, and the place of each number."""

import json
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.answers.explain.explainer import Explainer, Target
from irshape.answers.explain.explanation import Explanation
from tests.answers.sound import faults
from tests.inference.test_bodies import chosen, inside, iterator, loop
from tests.support.ir import Net
from tests.support.irs import PATHS, named
from tests.support.places import ATROUS, EXAMPLES
from tests.support.schemas import validator

EXAMPLE = EXAMPLES / "space_to_batch.xml"


def explained(net: Net, layer: str | int, port: int | None = None, axis: int | None = None, **inputs: str) -> Explanation:
    """The explanation of a port of a small IR, which is sound."""
    inference = irshape.infer(net.xml.encode(), weights=bytes(net.bin), inputs=inputs, symbols_as="raw")
    explanation = irshape.explain(inference, layer, port, axis)
    assert faults(explanation, net.xml.encode(), bytes(net.bin)) == []
    return explanation


def equations(explanation: Explanation) -> list[str]:
    return [f"{step.where.layer_type}: {step.equation}" for step in explanation.steps]


def test_a_specification_example_reads_as_its_page() -> None:
    (step,) = irshape.explain(irshape.infer(EXAMPLE), 0, 4, 2).steps
    assert step.equation == "axis 2 = (data[2] + pads_begin[2] + pads_end[2]) / block_shape[2] = (10 + 1 + 1) / 4 = 3"
    assert [(read.name, read.source) for read in step.reads] == [
        ("data[2]", "recorded on input port 0 (4:9)"),
        ("pads_begin[2]", "the comment in input port 2 (14:9)"),
        ("pads_end[2]", "the comment in input port 3 (17:9)"),
        ("block_shape[2]", "the comment in input port 1 (11:9)"),
    ]


WINDOW = 'strides="2,2", dilations="1,1", pads_begin="{0},{0}", pads_end="{0},{0}"'
POOL = 'strides="2,2", kernel="3,3", pads_begin="0,0", pads_end="0,0", rounding_type=ceil'
# Pads that are left out are 0; these stand in the layer, so that they are shown.
RESIZE = 'mode=nearest, shape_calculation_mode={}, pads_begin="0,0,0,0", pads_end="0,0,0,0"'
# A layer, an axis of its output, and the equation of this axis.
FORMULAS: list[tuple[str, int, str]] = [
    (
        f"f32[1,3,224,224], f32[64,3,7,7] -> Convolution({WINDOW.format(3)})", 2,
        "(data[2] + pads_begin[0] + pads_end[0] - ((filters[2] - 1) * dilations[0] + 1)) // strides[0] + 1"
        " = (224 + 3 + 3 - ((7 - 1) * 1 + 1)) // 2 + 1 = 112",
    ),
    (
        f"f32[1,3,9,9], f32[4,3,3,3] -> Convolution({WINDOW.format(0)}, auto_pad=same_upper)", 2,
        "ceil(data[2] / strides[0]) = ceil(9 / 2) = 5",
    ),
    (
        f"f32[1,3,8,8], f32[3,4,2,2] -> ConvolutionBackpropData({WINDOW.format(0)})", 2,
        "(data[2] - 1) * strides[0] + (filters[2] - 1) * dilations[0] + 1 - (pads_begin[0] + pads_end[0])"
        " = (8 - 1) * 2 + (2 - 1) * 1 + 1 - (0 + 0) = 16",
    ),
    (
        f"f32[1,3,10,10] -> MaxPool({POOL})", 2,
        "(data[2] + pads_begin[0] + pads_end[0] - kernel[0] + strides[0] - 1) // strides[0] + 1 = (10 + 0 + 0 - 3 + 2 - 1) // 2 + 1 = 5",
    ),
    ("f32[1,3,8], f32[1,5,8] -> Concat(axis=1)", 1, "data[0][1] + data[1][1] = 3 + 5 = 8"),
    (
        f"{', '.join(['f32[1]'] * 20)} -> Concat(axis=0)", 0,
        "data[0][0] + data[1][0] + data[2][0] + data[3][0] + data[4][0] + data[5][0] + ..."
        " + data[14][0] + data[15][0] + data[16][0] + data[17][0] + data[18][0] + data[19][0]"
        " = 1 + 1 + 1 + 1 + 1 + 1 + ... + 1 + 1 + 1 + 1 + 1 + 1 = 20",
    ),
    (
        "f32[2,8,64] -> Reshape([2,-1,8,8], special_zero=true)", 1,
        "data[1] * data[2] / (shape[2] * shape[3]) = 8 * 64 / (8 * 8) = 8",
    ),
    ("f32[2,8,64] -> Reshape([0,8,8,8], special_zero=true)", 3, "shape[3] = 8"),
    ("f32[1,8,4,4] -> DepthToSpace(block_size=2, mode=blocks_first)", 1, "data[1] / block_size ** 2 = 8 / 2 ** 2 = 2"),
    ("f32[1,8,4,4] -> SpaceToDepth(block_size=2, mode=blocks_first)", 2, "data[2] / block_size = 4 / 2 = 2"),
    (
        "f32[8,1,3] -> BatchToSpace-2([1,2,2], [0,0,1], [0,0,0])", 2,
        "data[2] * block_shape[2] - (crops_begin[2] + crops_end[2]) = 3 * 2 - (1 + 0) = 5",
    ),
    (f"f32[10] -> Slice-8([2], [{2**63 - 1}], [3])", 0, "ceil((data[0] - start[0]) / step[0]) = ceil((10 - 2) / 3) = 3"),
    ("f32[10] -> Slice-8([-4], [9], [1])", 0, "ceil((stop[0] - (start[0] + data[0])) / step[0]) = ceil((9 - (-4 + 10)) / 1) = 3"),
    ("f32[3,2] -> Tile([2,4])", 1, "data[1] * repeats[1] = 2 * 4 = 8"),
    ("f32[3,2] -> Pad([1,0], [2,4], f32=[0.5], pad_mode=edge)", 0, "data[0] + pads_begin[0] + pads_end[0] = 3 + 1 + 2 = 6"),
    (
        f"f32[1,3,10,10] -> Interpolate-11(f32=[1.5,2.0], [2,3], {RESIZE.format('scales')})", 2,
        "floor((data[2] + pads_begin[2] + pads_end[2]) * scales_or_sizes[0]) = floor((10 + 0 + 0) * 1.5) = 15",
    ),
    (
        f"f32[1,3,10,10] -> Interpolate-11(f32=[0.7,1.0], [2,3], {RESIZE.format('scales')})", 2,  # the nearest float32 is less than 0.7
        "floor((data[2] + pads_begin[2] + pads_end[2]) * (scales_or_sizes[0] + 0.000001)) = floor((10 + 0 + 0) * (0.7 + 0.000001)) = 7",
    ),
    (f"f32[1,3,10,10] -> Interpolate-11([20,30], [2,3], {RESIZE.format('sizes')})", 2, "scales_or_sizes[0] = 20"),
    ("f32[10] -> TopK-3(3, axis=0, mode=max, sort=none) f32 i32", 0, "k = 3"),
    (
        f"f32[1,3,?,9], f32[4,3,3,3] -> Convolution({WINDOW.format(1)})", 2,
        "(data[2] + pads_begin[0] + pads_end[0] - ((filters[2] - 1) * dilations[0] + 1)) // strides[0] + 1"
        " = (d0 + 1 + 1 - ((3 - 1) * 1 + 1)) // 2 + 1 = (d0 + 1)//2",
    ),
    (
        "f32[?] -> Slice-8([0], [5], [1])", 0,
        "ceil((min(stop[0], data[0]) - start[0]) / step[0]) = ceil((min(5, d0) - 0) / 1) = min(d0, 5)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "axis", "equation"), FORMULAS, ids=lambda part: str(part)[:50])
def test_a_rule_writes_its_formula(text: str, axis: int, equation: str) -> None:
    net = Net(f"{text} -> Result")
    assert explained(net, len(net.layers) - 2, None, axis).steps[-1].equation == f"axis {axis} = {equation}"


def test_what_changes_nothing_is_passed_by() -> None:
    same = 'strides="1,1", dilations="1,1", pads_begin="1,1", pads_end="1,1"'
    net = Net(f"x: f32[1,3,16,16]\nx -> Convolution(f32[3,3,3,3], {same}) -> ReLU -> add: Add(x) -> Result")
    explanation = explained(net, "add", None, 2)
    assert equations(explanation) == ["Parameter: axis 2 = 16"]
    # Of the two ways to the Add the shorter one.
    assert [where.layer_name for where in explanation.answers[0].through] == ["add"]
    assert explanation.because == "It follows from axis 2 of Parameter x."


def test_a_shape_subgraph_is_followed_element_by_element() -> None:
    half = "ShapeOf-3(x, output_type=i64) -> Gather-8([1], 0, batch_dims=0) -> half: Divide([3])"
    net = Net(f"x: f32[2,6,4]\n{half}\nx -> y: Reshape(Concat(half, [-1], axis=0), special_zero=false) -> Result")
    explanation = explained(net, "y", None, 0)
    assert equations(explanation) == ["Parameter: axis 1 = 6", "Divide: element 0 = lhs[0] // rhs[0] = 6 // 3 = 2"]
    assert [where.layer_type for where in explanation.answers[0].through] == ["Concat", "Reshape"]
    assert [where.layer_type for where in explanation.steps[1].reads[0].through] == ["ShapeOf", "Gather"]


def test_a_constant_says_which_bytes_pin_a_size() -> None:
    net = Net("[7,7]\nf32[2,6] -> y: Reshape([3,4], special_zero=false) -> Result")
    explanation = explained(net, "y", None, 1)
    (read,) = explanation.steps[0].reads
    assert (read.name, read.kind, read.position, read.bytes) == ("shape[1]", "element", 1, ("the weights", 24, 32))
    assert explanation.because == "No input changes it: it is pinned by element 1 of Const const_2 (16:3), bytes 24..32 of the weights."


def test_channels_come_from_the_weights() -> None:
    explanation = irshape.explain(irshape.infer(ATROUS), "stem/relu", None, 1)
    assert equations(explanation) == ["Convolution: axis 1 = filters[0] = 4"]
    assert explanation.steps[0].reads[0].source == "axis 0 of Const stem/weights (16:29)"


def test_values_that_no_arithmetic_gave_name_what_decides_them() -> None:
    (step,) = explained(Net("f32[2,6,5] -> y: ReduceMean([1,2], keep_dims=true) -> Result"), "y", None, 2).steps
    assert step.note == "because of axes[1] = 2"
    (step,) = explained(Net("f32[2,6,5] -> y: ShapeOf-3(output_type=i64) -> Result"), "y", None, 0).steps
    assert step.note == "the same for all sizes and values"


def test_where_a_size_became_dynamic() -> None:
    net = Net("f32[2,6] -> places: NonZero-3(output_type=i64) -> turned: Transpose([1,0]) -> Result")
    explanation = explained(net, "turned", None, 0)
    assert explanation.interval == "..12"
    assert [step.where.layer_type for step in explanation.steps] == ["NonZero"]
    assert explanation.because == "It is not known because it depends on the data of NonZero places."
    explanation = irshape.explain(irshape.infer(ATROUS), "mask", None, 2)
    assert explanation.because == "It is not known because Parameter image leaves axis 2 open."


def test_a_size_that_a_later_layer_decides() -> None:
    """The two columns and the half that they follow are five columns together."""
    net = Net("""
        MaxPool-1(f32[1,1,?], kernel=2, strides=2, pads_begin=0, pads_end=0, rounding_type=floor) -> half: ReLU
        Concat(f32=[[[0.0,0.0]]], half, axis=2) -> joined: ReLU
        Add(joined, f32=[0.0,0.0,0.0,0.0,0.0]) -> Result
    """)
    explanation = irshape.explain(net.xml.encode(), "half", axis=2, weights=net.bin)
    assert "axis 2 is L//2, which can only be 3" in str(explanation)
    assert explanation.because == "No other size than 3 fits Add add_7: the inputs must broadcast on axis 2."


def test_where_the_rank_was_lost() -> None:
    net = Net("axes: i64[?]\nf32[1,6,1] -> squeezed: Squeeze(axes) -> y: ReLU -> Result")
    explanation = explained(net, "y")
    assert explanation.value == "f32[...]"
    assert [(step.where.layer_name, step.subject) for step in explanation.steps][:2] == [("axes", "axis 0"), ("squeezed", "rank")]
    assert explanation.steps[1].note == "the rank is lost here: it depends on the number of axes"


def test_where_an_element_type_comes_from() -> None:
    explanation = explained(Net("f32[2] -> Convert(destination_type=f16) -> y: ReLU -> Result"), "y")
    assert equations(explanation)[-1] == "Convert: element type = f16"
    assert explanation.steps[-1].reads[0].kind == "attribute"


def test_an_element_type_comes_from_the_declared_input() -> None:
    explanation = explained(Net("f32[2] -> y: CumSum-3(0) -> Result"), "y")
    assert equations(explanation)[-1] == "Parameter: element type = f32"


def test_bodies_are_crossed_by_their_port_maps() -> None:
    doubled, same = inside("Concat(_x, _x, axis=0)", "f32[?,3]"), inside("_x", "f32[?,3]")
    explanation = explained(chosen(doubled, same), 2, None, 0)
    assert equations(explanation)[:2] == ["Parameter: axis 0 = 2", "Concat: axis 0 = data[0][0] + data[1][0] = 2 + 2 = 4"]
    assert explanation.steps[2].note == "the branch is chosen only at run time"
    assert [(read.value, read.step) for read in explanation.steps[2].reads] == [("4", 2), ("2", 1)]
    assert explanation.because == "It is not known because it depends on the data of If if_2."
    net = chosen(doubled, same, condition=True)
    assert equations(explained(net, 2, None, 0))[-1] == "Concat: axis 0 = data[0][0] + data[1][0] = 2 + 2 = 4"
    assert explained(net, "2.then_body/0", None, 0).steps[0].where.layer_name == "parameter_1"


def test_a_loop_says_what_comes_back() -> None:
    explanation = explained(loop("f32[2,3]", inside("Concat(_x, _x, axis=0)", "f32[?,3]")), 3, None, 0)
    notes = [step.note for step in explanation.steps]
    assert "the previous iteration may feed back another size" in notes
    assert any("the tensor fed back by" in read.name for step in explanation.steps for read in step.reads)


def test_a_sliced_axis_is_a_part_of_what_enters() -> None:
    cut = 'axis="0" start="0" end="-1" stride="2" part_size="2"'
    net = iterator("f32[6,3]", inside("_x", "f32[2,3]"), slice=cut, output=cut)
    explanation = explained(net, 1, None, 0)
    assert explanation.steps[-1].note == "the slices of all iterations of TensorIterator, concatenated"
    assert [(read.name, read.value) for read in explanation.steps[-1].reads] == [("the sliced axis of input 0", "6"), ("part_size", "2")]
    (step,) = explained(net, "1.body/0", None, 0).steps
    assert (step.value, step.note) == ("2", "one slice of input 0 of TensorIterator")


def test_what_has_failed_shows_its_faults() -> None:
    explanation = irshape.explain(irshape.infer(EXAMPLES / "faulty.xml"), "join")
    assert not explanation.ok
    assert explanation.steps == ()
    assert {diagnostic.code for diagnostic in explanation.diagnostics} == {"S201", "T102"}
    assert explanation.because == "Concat join failed, so the shapes that depend on it are unknown."


NO_LAYER = "a layer is given by its name or its id, not by a value of the class {}; "
NO_LAYER += "explain(port.port.node.key, port.id) explains a port, and explain(layer.node.key) a layer"


@pytest.mark.parametrize(
    ("layer", "port", "axis", "message"),
    [
        ("upsampel", None, None, "the model has no layer 'upsampel'; did you mean 'upsample'?"),
        ("99", None, None, "the model has no layer '99'; irshape infer lists the layers"),
        ("upsample", 7, None, "layer 'upsample' has no port 7; it has output 1 and input 0"),
        ("upsample", 1, 4, "port 1 of layer 'upsample' has no axis 4; it has axes 0 to 3"),
        ("upsample", 1, -5, "port 1 of layer 'upsample' has no axis -5; it has axes 0 to 3"),
        ("upsample", 1, "0", f"the axis of layer 'upsample' must be an int up to {2**63 - 1}"),
        (None, None, None, NO_LAYER.format("NoneType")),
        (irshape.infer(ATROUS).outputs[0], None, None, NO_LAYER.format("InferredPort")),
    ],
)
def test_what_is_not_there_says_what_there_is(layer: Any, port: int | None, axis: Any, message: str) -> None:
    with pytest.raises(irshape.InputError) as error:
        irshape.explain(irshape.infer(ATROUS), layer, port, axis)
    assert str(error.value) == message


def test_axes_count_from_the_end_too_and_inputs_have_ports() -> None:
    inference = irshape.infer(ATROUS, inputs={"image": "[N,3,H,W]"})
    assert irshape.explain(inference, "upsample", 1, -1).axis == 3
    assert irshape.explain(inference, "upsample", 0, 2).value == "(H + 1)//2"
    assert irshape.explain(inference, "mask", None, 2).value == "2*((H + 1)//2)"


def test_the_method_of_an_inference_is_the_verb() -> None:
    inference = irshape.infer(ATROUS)
    assert inference.explain("mask", axis=2).to_dict() == irshape.explain(inference, "mask", axis=2).to_dict()


def test_a_size_of_an_unknown_operation_names_the_port_that_records_it() -> None:
    net = Net("f32[2] -> MyCustom -> Result")
    recorded = net.xml.replace('<port id="1" precision="FP32"/>', '<port id="1" precision="FP32"><dim>1</dim></port>', 1)
    inference = irshape.infer(recorded.encode(), opaque=["MyCustom"])
    (step,) = irshape.explain(inference, "mycustom_1", axis=0).steps
    assert [read.source for read in step.reads] == ["recorded on output port 1 of the unknown operation MyCustom (15:4)"]


def test_all_of_a_port_is_explained_at_once() -> None:
    explanation = irshape.explain(irshape.infer(ATROUS, symbols_as="raw"), "upsample")
    assert explanation.value == "f32[?,2,4..,4..]"
    assert [(answer.name, answer.value) for answer in explanation.answers] == [
        ("axis 0", "d0"),
        ("axis 1", "2"),
        ("axis 2", "2*((d1 + 1)//2)"),
        ("axis 3", "2*((d2 + 1)//2)"),
        ("element type", "f32"),
    ]


@pytest.mark.parametrize("layer", ["image", "stem", "atrous/batch_to_space", "mask"])
def test_explanations_fit_their_schema(layer: str) -> None:
    for axis in (None, 2):
        report = irshape.explain(irshape.infer(ATROUS), layer, None, axis).to_dict()
        validator("explanation").validate(json.loads(json.dumps(report)))


def test_asking_changes_no_answer() -> None:
    session = irshape.Session(ATROUS)
    before = session.infer()
    ports = before.ports
    assert irshape.explain(before, "mask", None, 2).value == "2*((H + 1)//2)"
    after = session.reshape(image="[1,3,64,64]")
    assert irshape.explain(after, "mask", None, 2).value == "64"
    assert before.ports == ports
    assert irshape.explain(before, "mask", None, 2).value == "2*((H + 1)//2)"


def test_a_layer_answers_to_the_names_of_its_tensors_and_of_what_openvino_fused_into_it() -> None:
    net = Net("f32[2] -> ReLU -> Result")
    note = '<rt_info><attribute name="fused_names" version="0" value="scale,relu_7"/></rt_info>'
    named = net.layers[1].replace('precision="FP32"', 'precision="FP32" names="activated,out.0"')
    net.layers[1] = named.replace("</layer>", f"{note}</layer>")
    inference = irshape.infer(net.xml.encode())
    told = {str(irshape.explain(inference, name).where.layer_name) for name in ("out.0", "activated", "relu_7", "scale", "relu_1")}
    assert told == {"relu_1"}


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
