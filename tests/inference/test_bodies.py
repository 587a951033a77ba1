"""If, Loop and TensorIterator: what enters a body, what leaves it, and that all else works inside as outside."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.report.diagnostic import ERROR
from irshape.shape.limits import Limits
from irshape.xml.reader import read
from tests.support.ir import Net, Ref
from tests.support.oracle import core, core_of, partial_shape
from tests.support.rows import contains

JOINED = 'axis="0" start="0" end="-1" stride="1" part_size="1"'


def inside(operate: str | Callable[[Net, Ref], Ref], declared: str = "f32[?,?]") -> Net:
    """A body of Parameter 0 and Result 1; in between what `operate` adds, or a text in which the Parameter is _x."""
    net = Net()
    value = net.parameter(declared)
    net.layers.append('<layer id="1" name="result_1" type="Result" version="opset1"><input><port id="0" precision="FP32"/></input></layer>')
    net.named["_x"] = [value]
    output = net.add(operate) if isinstance(operate, str) else operate(net, value)
    net.edges.append(f'<edge from-layer="{output.layer}" from-port="{output.port}" to-layer="1" to-port="0"/>')
    return net


def branched(net: Net, inputs: list[Ref], then: Net, otherwise: Net) -> Ref:
    """The output of an If whose bodies are made by `inside`."""
    return net.holder("If-8 f32", "1 > _x; result_1 > 2", *inputs, then_body=then, else_body=otherwise)[0]


def chosen(then: Net, otherwise: Net, fact: str = "f32[2,3]", condition: bool | None = None) -> Net:
    """An If whose bodies have the Parameter 0 and the Result 1; its input is the layer 1."""
    net = Net()
    inputs = [net.parameter("boolean[]") if condition is None else net.const(condition, "boolean"), net.parameter(fact)]
    net.result(branched(net, inputs, then, otherwise))
    return net


def transposed(*order: int, declared: str = "f32[?,?]") -> Net:
    """A body that changes the order of the axes."""
    return inside(f"Transpose(_x, {list(order)})", declared)


doubled = inside("Concat(_x, _x, axis=0)")
longer = inside("Concat(_x, f32=1.0[1,3], axis=0)")
first_two = inside("Slice-8(_x, [0], [2], [1], [0])")
summed = inside("ReduceSum(_x, [0], keep_dims=true)")
SAME = inside("ReLU(_x)")


def loop(
    fact: str,
    inside: Net,
    *,
    trips: float | str | None = 5,
    counted: str = "i64",
    entered: bool | None = True,
    back: bool = True,
    slice: str = "",
    output: str = "",
    condition: str = "boolean=true",
) -> Net:
    """A Loop: its body has Parameter 0, Result 1 and a condition, which is always true; its input is the port 2.

    None for `trips` or `entered` lets an input tell; the text "N" for `trips` is the size of an input `f32[N]`.
    """
    net, body = Net(), deepcopy(inside)
    if trips == "N":
        count = net.add("ShapeOf-3(f32[?], output_type=i64)")
    else:
        count = net.parameter("i64[]") if trips is None else net.const(trips, counted)
    enters = net.parameter("boolean[]") if entered is None else net.const(entered, "boolean")
    data = net.parameter(fact)
    body.add(f"{condition} -> go: Result")
    maps = f"2 > _x {slice}; result_1 > 3 {output}; go > -1" + "; result_1 > _x" * back
    net.result(net.holder("Loop-5 f32", maps, count, enters, data, body=body)[0])
    return net


def iterator(fact: str, inside: Net, *, slice: str = JOINED, output: str = JOINED) -> Net:
    """A TensorIterator: its body has Parameter 0 and Result 1; its input is the port 0."""
    net = Net()
    net.result(net.holder("TensorIterator", f"0 > _x {slice}; result_1 > 1 {output}", net.parameter(fact), body=inside)[0])
    return net


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('stride="0" part_size="1"', "stride of output 0 must not be 0"),
        ('stride="1" part_size="0"', "part_size of output 0 must be at least 1, got 0"),
        ('stride="1" part_size="-1"', "part_size of output 0 must be at least 1, got -1"),
        ('stride="-1" part_size="1"', None),
    ],
)
def test_a_loop_that_joins_no_parts(given: str, message: str | None) -> None:
    """OpenVINO reads it, and its CPU plugin cannot run it."""
    net = repeated_constant(4, f'axis="0" start="0" end="-1" {given}')
    core_of(net.xml.encode()).read_model(net.xml.encode(), net.bin)
    found = [one.message for one in irshape.check(net.xml.encode(), weights=net.bin).diagnostics if one.code == "R401"]
    assert found == ([] if message is None else [f"this never holds: {message}"])


@pytest.mark.oracle
@pytest.mark.parametrize(("rows", "told"), [(0, []), (2, ["the tensor fed back to 'parameter_0' must have the shape [2,3], got [3,3]"])])
def test_what_no_output_gives_grows_only_from_nothing(rows: int, told: list[str]) -> None:
    """OpenVINO compiles the body for any number of rows, if none enter."""
    np = pytest.importorskip("numpy")
    net, body = Net(), deepcopy(longer)
    body.add("Abs(f32=1.0[2]) -> two: Result")
    body.add("boolean=true -> go: Result")
    inputs = [net.const(3), net.const(True, "boolean"), net.parameter(f"f32[{rows},3]")]
    net.result(net.holder("Loop-5 f32", "2 > _x; two > 3; go > -1; result_1 > _x", *inputs, body=body)[0])
    found = irshape.check(net.xml.encode(), weights=net.bin).diagnostics
    assert [one.message for one in found if one.code == "R401"] == told
    core = core_of(net.xml.encode())
    model = core.compile_model(core.read_model(net.xml.encode(), net.bin), "CPU")
    with pytest.raises(RuntimeError) if told else nullcontext():
        model([np.zeros((rows, 3), np.float32)])


def chosen_constant(then: Net, otherwise: Net, condition: bool | None = None) -> Net:
    """An If whose bodies take nothing."""
    net = Net()
    given = net.parameter("boolean[]") if condition is None else net.const(condition, "boolean")
    net.result(net.holder("If-8 f32", "result_1 > 1", given, then_body=then, else_body=otherwise)[0])
    return net


THREE = "f32=[1,2,3] -> Result"


def repeated_constant(trips: int | None, output: str = "") -> Net:
    """A Loop whose body takes nothing and gives three numbers."""
    net, body = Net(), Net(f"{THREE}\nboolean=true -> go: Result")
    count = net.parameter("i64[]") if trips is None else net.const(trips)
    net.result(net.holder("Loop-5(boolean=true) f32", f"result_1 > 2 {output}; go > -1", count, body=body)[0])
    return net


def iterated_constant(output: str) -> Net:
    """A TensorIterator whose body takes nothing and gives three numbers."""
    net = Net("f32[1] -> Result")
    net.result(net.holder("TensorIterator f32", f"result_1 > 0 {output}", body=Net(THREE))[0])
    return net


def loop_in_iterator() -> Net:
    """A TensorIterator whose body holds a Loop of two iterations."""
    inner = loop("f32[1,3]", SAME, trips=2, back=False, output=JOINED)
    net = Net()
    parts = JOINED.replace('part_size="1"', 'part_size="2"').replace('stride="1"', 'stride="2"')
    maps = f"0 > parameter_2 {JOINED}; result_4 > 1 {parts}"
    net.result(net.holder("TensorIterator(f32[6,3])", maps, body=inner)[0])
    return net


def sized(fact: str, limit: int) -> Net:
    """An If that removes axis 0 where its size is the limit, as converters write a squeeze."""
    net = Net(f"_x: {fact}\n_is: Equal(Gather-8(ShapeOf-3(_x, output_type=i64), 0, 0, batch_dims=0), {limit}) boolean")
    net.result(branched(net, [*net.named["_is"], *net.named["_x"]], inside("Squeeze(_x, [0])"), SAME))
    return net


def appended(axis: int) -> Net:
    """A body that appends `[2,1,3]` along an axis."""
    return inside(f"Concat(_x, f32=0[2,1,3], axis={axis})", declared="f32[?,?,3]")


ROWS: list[tuple[str, Net, str]] = [
    ("branches that take nothing", chosen_constant(Net("f32=[1,2] -> Result"), Net(THREE)), "f32[2..3]"),
    ("branches that take nothing, false", chosen_constant(Net("f32=[1,2] -> Result"), Net(THREE), condition=False), "f32[3]"),
    ("a Loop that takes nothing", repeated_constant(4), "f32[3]"),
    ("a Loop that takes nothing, joined", repeated_constant(4, JOINED), "f32[12]"),
    ("a Loop that takes nothing, unknown trip count", repeated_constant(None, JOINED), "f32[?]"),
    ("a TensorIterator that takes nothing", iterated_constant('axis="0" start="0" end="4" stride="1" part_size="3"'), "f32[3]"),
    ("a Loop in a TensorIterator", loop_in_iterator(), "f32[12,3]"),
    ("what comes back grows, unknown trip count", loop("f32[1,3]", longer, trips=None), "f32[1..,3]"),
    ("what comes back grows, entered or not", loop("f32[1,3]", longer, entered=None), "f32[1..,3]"),
    ("what comes back grows, no trip", loop("f32[1,3]", longer, trips=0), "f32[2,3]"),
    ("what comes back grows, never entered", loop("f32[1,3]", longer, entered=False), "f32[1..,3]"),
    ("what comes back grows from a bound, unknown trip count", loop("f32[1..2,3]", doubled, trips=None), "f32[1..,3]"),
    ("what comes back grows from a bound, entered or not", loop("f32[2..5,3]", longer, entered=None), "f32[2..,3]"),
    ("what comes back changes the order of bounds", loop("f32[2..4,2..3]", transposed(1, 0), trips=None), "f32[2..4,2..4]"),
    ("what comes back shrinks from a bound", loop("f32[2..5,3]", first_two, trips=None), "f32[2,3]"),
    ("what went in is but partly within the shape of the output", loop("f32[1..9,3]", first_two, trips=None), "f32[1..2,3]"),
    ("never entered, unranked, joined", loop("f32[...]", SAME, back=False, entered=False, output=JOINED), "f32[0]"),
    ("parts of less than nothing", iterator("f32[6,3]", SAME, slice=JOINED.replace('part_size="1"', 'part_size="-2"')), "f32[0,3]"),
    ("unknown parts, of which the later end is left out", iterator("f32[?,3]", SAME, slice='axis="0" start="1" end="3"'), "f32[2..3,3]"),
    ("a part of an axis that may be empty", iterator("f32[0..2,3]", SAME), "f32[..2,3]"),
    ("sizes choose the branch", sized("f32[?,3]", 1), "f32[...]"),
    ("branches alike", chosen(SAME, SAME), "f32[2,3]"),
    ("branches of different sizes", chosen(SAME, doubled), "f32[2..4,3]"),
    ("branches of different order", chosen(SAME, transposed(1, 0)), "f32[2..3,2..3]"),
    ("branches of different ranks", chosen(SAME, inside("ShapeOf(_x)")), "T102"),
    ("branches of different types", chosen(SAME, inside("Convert(_x, destination_type=i64)")), "T102"),
    ("unranked branch", chosen(SAME, SAME, "f32[...]"), "f32[...]"),
    ("a bound", chosen(SAME, doubled, "f32[2..3,?]"), "f32[2..6,?]"),
    ("true", chosen(SAME, doubled, condition=True), "f32[2,3]"),
    ("false", chosen(SAME, doubled, condition=False), "f32[4,3]"),
    ("the branch not taken has a fault", chosen(SAME, transposed(1, 0, declared="f32[2]"), condition=True), "V103"),
    ("an invariant", loop("f32[2,3]", SAME, back=False), "f32[2,3]"),
    ("what comes back is what went in", loop("f32[2,3]", SAME), "f32[2,3]"),
    ("what comes back grows", loop("f32[2,3]", doubled), "f32[4..,3]"),
    ("what comes back grows, once", loop("f32[2,3]", doubled, trips=1), "f32[4,3]"),
    ("what comes back changes its order", loop("f32[2,3]", transposed(1, 0)), "f32[2..3,2..3]"),
    ("nothing grows", loop("f32[0,3]", doubled), "f32[0,3]"),
    ("a list begins empty", loop("f32[2,0,3]", appended(1), trips=None), "f32[2,1..,3]"),
    ("a list begins empty, along another axis", loop("f32[2,0,3]", appended(0), trips=None), "f32[4..,1,3]"),
    ("a list begins with other rows, along another axis", loop("f32[2,4,3]", appended(0), trips=None), "S201"),
    ("nothing is added to 4 rows", loop("f32[0,3]", inside("Add(_x, f32=0[4,3])", declared="f32[?,3]")), "f32[4,3]"),
    ("joined", loop("f32[2,3]", SAME, back=False, output=JOINED), "f32[10,3]"),
    ("joined, axis from the end", loop("f32[2,3]", SAME, back=False, output=JOINED.replace('"0"', '"-1"', 1)), "f32[2,15]"),
    ("joined, unknown trip count", loop("f32[2,3]", SAME, back=False, trips=None, output=JOINED), "f32[?,3]"),
    ("joined, trip count with a fraction", loop("f32[2,3]", SAME, back=False, trips=2.5, counted="f32", output=JOINED), "f32[4,3]"),
    ("joined, without end", loop("f32[2,3]", SAME, back=False, trips=-1, output=JOINED), "f32[?,3]"),
    ("never entered", loop("f32[2,3]", SAME, back=False, entered=False), "f32[0,3]"),
    ("never entered, joined", loop("f32[2,3]", SAME, back=False, entered=False, output=JOINED), "f32[0]"),
    ("cut", loop("f32[6,3]", SAME, back=False, slice=JOINED), "f32[1,3]"),
    ("cut along an axis it does not have", loop("f32[6,3]", SAME, back=False, slice=JOINED.replace('"0"', '"2"', 1)), "V102"),
    ("parts", iterator("f32[6,3]", SAME), "f32[6,3]"),
    ("unknown parts", iterator("f32[?,3]", SAME), "f32[?,3]"),
    ("parts of two", iterator("f32[6,3]", SAME, slice=JOINED.replace('part_size="1"', 'part_size="2"')), "f32[3,3]"),
    ("backwards", iterator("f32[6,3]", SAME, slice='axis="0" start="-1" end="0" stride="-1" part_size="1"'), "f32[6,3]"),
    ("some parts", iterator("f32[6,3]", SAME, slice='axis="0" start="1" end="3" stride="1" part_size="1"'), "f32[3,3]"),
    ("the last part", iterator("f32[6,3]", SAME, output=""), "f32[1,3]"),
    ("an axis it does not have", iterator("f32[6,3]", SAME, slice=JOINED.replace('"0"', '"2"', 1)), "V102"),
]


def layer_of(net: Net) -> int:
    """The layer with the bodies."""
    return next(id for id, layer in enumerate(net.layers) if "port_map>" in layer)


def codes(inference: Any) -> list[str]:
    return sorted({d.code for d in inference.diagnostics if d.severity == ERROR})


@pytest.mark.parametrize(("name", "net", "expected"), ROWS, ids=[name for name, _, _ in ROWS])
def test_row(name: str, net: Net, expected: str) -> None:
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    if "[" not in expected:
        assert codes(inference) == [expected]
        return
    assert not codes(inference), inference.diagnostics
    assert [repr(port) for port in inference.layer(layer_of(net)).outputs] == [expected]


def test_an_axis_is_told_at_its_entry_of_the_port_map() -> None:
    net = loop("f32[6,3]", SAME, back=False, slice=JOINED.replace('"0"', '"2"', 1))
    [found] = irshape.check(net.xml.encode(), weights=net.bin).diagnostics
    assert (found.code, found.where.line) == ("V102", next(at for at, text in enumerate(net.xml.splitlines(), 1) if 'axis="2"' in text))


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "net", "expected"), ROWS, ids=[name for name, _, _ in ROWS])
def test_row_with_openvino(name: str, net: Net, expected: str) -> None:
    try:
        model = core().read_model(net.xml.encode(), net.bin)
    except RuntimeError:
        assert "[" not in expected, "OpenVINO refuses"
        return
    assert "[" in expected, "OpenVINO accepts"
    element_type, _, shape = expected.partition("[")
    [result] = [output for op in model.get_ops() if op.get_type_name() in ("If", "Loop", "TensorIterator") for output in op.outputs()]
    assert result.get_element_type().get_type_name() == element_type
    assert contains(result.get_partial_shape(), partial_shape(f"[{shape}"))


def test_a_length_is_followed_through_a_sequence() -> None:
    """Cut along T and joined again, a tensor has T rows."""
    net = iterator("f32[?,3]", SAME)
    assert irshape.infer(net.xml.encode(), inputs={"parameter_0": "[T,H]"}).formulas["1:1"] == "[T,H]"
    halves = iterator("f32[?,3]", summed, slice=JOINED.replace('part_size="1"', 'part_size="2"').replace('stride="1"', 'stride="2"'))
    assert irshape.infer(halves.xml.encode(), weights=halves.bin, inputs={"parameter_0": "[T,H]"}).formulas["1:1"] == "[T//2,H]"


def test_ports_inside_bodies_have_keys_of_their_own() -> None:
    net = chosen(SAME, doubled)
    ports = irshape.infer(net.xml.encode(), weights=net.bin).ports
    assert ports["2.then_body/0:0"] == ("f32", "[2,3]")
    assert ports["2.else_body/2:2"] == ("f32", "[4,3]")


def test_a_fault_inside_has_its_place() -> None:
    net = chosen(SAME, transposed(0, 2))
    [fault] = irshape.infer(net.xml.encode(), weights=net.bin).diagnostics
    assert (fault.where.path, fault.where.layer_name) == ("if_2 / else_body", "transpose_3")
    assert fault.where.line is not None
    assert 'name="transpose_3"' in net.xml.splitlines()[fault.where.line - 4]


def test_a_body_nothing_reads_has_no_errors() -> None:
    net = chosen(SAME, transposed(0, 2))
    net.edges = [edge for edge in net.edges if 'to-layer="3"' not in edge]
    net.layers[3] = net.layers[3].replace("<input>", "").replace('<port id="0" precision="FP32"/>', "").replace("</input>", "")
    net.layers[3] = (
        net.layers[3].replace('type="Result"', 'type="Parameter"').replace("</layer>", '<data shape="1" element_type="f32"/></layer>')
    )
    net.result(net.parameter("f32[1]"))
    found = irshape.infer(net.xml.encode(), weights=net.bin).diagnostics
    assert [d.severity for d in found if d.where.path] and all(d.severity != ERROR for d in found if d.where.path)


def test_a_body_must_be_valid_as_it_stands() -> None:
    """OpenVINO looks at it before it knows what enters."""
    net = chosen(SAME, transposed(1, 0, declared="f32[2]"))
    assert not irshape.infer(net.xml.encode(), weights=net.bin).ok


# Slices of six rows that OpenVINO reads and its CPU plugin refuses; it dies of a stride of 0.
NEVER = [
    ("from behind the end", 'axis="0" start="7" end="-1" stride="1" part_size="1"', JOINED),
    ("against the stride", 'axis="0" start="0" end="-1" stride="-1" part_size="1"', JOINED),
    ("a remainder", 'axis="0" start="0" end="-1" stride="4" part_size="4"', ""),
    ("no stride", 'axis="0" start="0" end="-1" stride="0" part_size="1"', JOINED),
    ("fewer parts than are joined", 'axis="0" start="1" end="3" stride="1" part_size="1"', JOINED),
    ("parts of another size", JOINED, JOINED.replace('part_size="1"', 'part_size="2"')),
    ("no rows", JOINED, JOINED),
]


@pytest.mark.parametrize(("name", "slice", "output"), NEVER)
def test_parts_that_openvino_cannot_run(name: str, slice: str, output: str) -> None:
    """OpenVINO accepts the port map, so the fault is a warning; it stands where the entry of the map does."""
    net = iterator("f32[0,3]" if name == "no rows" else "f32[6,3]", SAME, slice=slice, output=output)
    found = irshape.infer(net.xml.encode(), weights=net.bin).diagnostics
    assert {d.code for d in found} == {"R401"}
    text = net.xml.encode()
    assert all(text[d.where.offset :].startswith((b'<input external_port_id="0"', b'<output external_port_id="1"')) for d in found)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "slice", "output"), [row for row in NEVER if row[0] != "no stride"])
def test_parts_with_openvino(name: str, slice: str, output: str) -> None:
    net = iterator("f32[0,3]" if name == "no rows" else "f32[6,3]", SAME, slice=slice, output=output)
    model = core().read_model(net.xml.encode(), net.bin)
    with pytest.raises(RuntimeError):
        core().compile_model(model, "CPU")


@pytest.mark.oracle
@pytest.mark.parametrize(("trips", "entered", "rows"), [(0, True, 1), (3, False, 1), (1, True, 2), (3, True, 4), (-1, False, 1)])
def test_a_loop_that_may_be_skipped_gives_what_went_in(trips: int, entered: bool, rows: int) -> None:
    """The shape that is inferred before the numbers are known holds what OpenVINO gives for them."""
    import numpy

    net = loop("f32[1,3]", longer, trips=None, entered=None)
    assert irshape.infer(net.xml.encode(), weights=net.bin).ports["3:3"] == ("f32", "[1..,3]")
    compiled = core().compile_model(core().read_model(net.xml.encode(), net.bin), "CPU")
    data = numpy.zeros((1, 3), numpy.float32)
    assert compiled([numpy.array(trips), numpy.array(entered), data])[0].shape == (rows, 3)


@pytest.mark.oracle
@pytest.mark.parametrize(("fact", "expected", "theirs"), [
    ("f32[2..5,?,3]", "[0,?,3]", "[2..5,?,3]"), ("f32[?,4..6]", "[0,4..6]", "[?,4..6]"), ("f32[2,4..6]", "[2,4..6]", "[2,4..6]"),
])  # fmt: skip
def test_a_loop_that_is_never_entered_gives_no_rows(fact: str, expected: str, theirs: str) -> None:
    """OpenVINO infers the shape of an iteration that never runs, until all sizes are numbers; its CPU plugin gives no rows."""
    import numpy

    net = loop(fact, SAME, back=False, entered=False)
    output = layer_of(net)
    assert irshape.infer(net.xml.encode(), weights=net.bin).layer(output).outputs[0].text == expected
    model = core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape() == partial_shape(theirs)
    data = numpy.zeros([size.get_length() if size.is_static else 4 for size in model.input(0).get_partial_shape()], numpy.float32)
    given = core().compile_model(model, "CPU")([data])[0].shape
    assert given[0] == (2 if fact.startswith("f32[2,") else 0)
    model.reshape(list(data.shape))
    assert model.output(0).get_partial_shape() == partial_shape([0, *data.shape[1:]])


def counted_up() -> Net:
    """A slice up to a number that a Loop of constants computes: 1, added ten times."""
    net = Net("_data: f32[?]")
    body = inside("Add(_x, f32=[1.0])", "f32[1]")
    body.add("boolean=true -> go: Result")
    maps = "2 > _x; result_1 > 3; go > -1; result_1 > _x"
    net.named["_count"] = net.holder("Loop-5(10, boolean=true, f32=[0.0]) f32", maps, body=body)
    net.add("_count -> Result\nSlice-8(_data, [0], Convert(_count, destination_type=i64), [1], [0]) -> Result")
    return net


@pytest.mark.oracle
def test_openvino_runs_a_loop_of_constants() -> None:
    """A rule reads its value; irshape runs no Loop, however few its iterations are."""
    net = counted_up()
    model = core().read_model(net.xml.encode(), net.bin)
    assert model.output(1).get_partial_shape() == partial_shape("[..10]")
    assert irshape.infer(net.xml.encode(), weights=net.bin).layer(len(net.layers) - 2).outputs[0].text == "[?]"


@pytest.mark.oracle
def test_a_size_that_comes_back_is_larger_than_openvino_infers() -> None:
    """OpenVINO infers 1..4 for the rows inside, those of the first iteration; its CPU plugin runs an iteration of 5."""
    import numpy

    body = Net("""
        _x: f32[?,3]
        Concat(Slice-8(_x, [0], [4], [1], [0]), f32=1.0[1,3], axis=0) -> back: Result
        ReduceSum(_x, [0], keep_dims=true) -> total: Result
        boolean=true -> go: Result
    """)
    net = Net()
    net.result(net.holder("Loop-5(6, boolean=true, f32[1..4,3]) f32", "2 > _x; total > 3; go > -1; back > _x", body=body)[0])
    assert irshape.infer(net.xml.encode(), weights=net.bin).ports["3.body/0:0"] == ("f32", "[1..5,3]")
    model = core().read_model(net.xml.encode(), net.bin)
    [loop] = [op for op in model.get_ops() if op.get_type_name() == "Loop"]
    assert loop.get_function().inputs[0].get_partial_shape() == partial_shape("[1..4,3]")
    assert core().compile_model(model, "CPU")([numpy.ones((1, 3), numpy.float32)])[0].tolist() == [[5.0, 5.0, 5.0]]


def states_iteration(net: Net) -> str:
    """The premise that a Loop runs an iteration, with `n` for a symbol of the Loop itself; empty if it is not stated."""
    inference = irshape.infer(
        net.xml.encode(), weights=net.bin, inputs={"parameter_0": "[N]"} if "shapeof" in net.xml else {}, symbols_as="raw"
    )
    found = [guard for guard in inference.guards if "at least one iteration" in guard.requirement.message]
    assert all(guard.is_premise and guard.to_dict()["is_premise"] for guard in found)
    return "".join(re.sub(r"d\d+", "n", str(guard.requirement)) for guard in found)


OTHER_AXIS = JOINED.replace('"0"', '"1"', 1)


@pytest.mark.parametrize(("name", "net", "premise"), [
    ("the body alone makes it", loop("f32[2..5,3]", SAME, back=False, trips=None), "n >= 1"),
    ("the body alone makes it, entered or not", loop("f32[2..5,3]", SAME, back=False, entered=None), "n >= 1"),
    ("the body alone makes it, a size tells the trip count", loop("f32[?,3]", SAME, back=False, trips="N"), "N >= 1"),
    ("all its sizes are numbers", loop("f32[2,3]", SAME, back=False, trips=None), ""),
    ("an iteration runs", loop("f32[2..5,3]", SAME, back=False), ""),
    ("no iteration runs", loop("f32[2..5,3]", SAME, back=False, trips=0), ""),
    ("never entered", loop("f32[2..5,3]", SAME, back=False, entered=False), ""),
    ("joined", loop("f32[1,3]", SAME, back=False, trips=None, output=JOINED), ""),
    ("joined, a size tells the trip count", loop("f32[1,3]", SAME, back=False, trips="N", output=JOINED), ""),
    ("joined, a size tells the trip count, entered or not",
     loop("f32[1,3]", SAME, back=False, trips="N", entered=None, output=JOINED), "n >= 1"),
    ("joined along another axis", loop("f32[?,1]", SAME, back=False, trips=None, output=OTHER_AXIS), "n >= 1"),
    ("joined along another axis, a size tells the trip count", loop("f32[?,1]", SAME, back=False, trips="N", output=OTHER_AXIS), "N >= 1"),
    ("what comes back is what went in", loop("f32[?,3]", SAME, trips=None), ""),
    ("what comes back has another size", loop("f32[2,3]", summed, trips=None), "n >= 1"),
    ("what comes back has another size, a size tells the trip count", loop("f32[2,3]", summed, trips="N"), "N >= 1"),
    ("what comes back has the same size", loop("f32[1,3]", summed, trips=None), ""),
    ("what comes back is longer", loop("f32[1,3]", longer, trips=None), ""),
    ("what went in is but partly within the shape", loop("f32[1..9,3]", first_two, trips=None), "n >= 1"),
])  # fmt: skip
def test_a_loop_that_may_run_no_iteration(name: str, net: Net, premise: str) -> None:
    """A shape that only iterations give is stated with the premise that one runs."""
    assert states_iteration(net) == premise


@pytest.mark.oracle
@pytest.mark.parametrize(("net", "given", "none"), [
    (loop("f32[2..5,3]", SAME, back=False, trips=None), (2, 3), (0, 3)),
    (loop("f32[?,4..6]", SAME, back=False, trips=None), (2, 4), (0, 0)),
    (loop("f32[2,3]", SAME, back=False, trips=None), (2, 3), (2, 3)),
    (loop("f32[?,1]", SAME, back=False, trips=None, output=OTHER_AXIS), (4, 1), (0, 0)),
    (loop("f32[1,3]", SAME, back=False, trips=None, output=JOINED), (1, 3), (0, 3)),
    (loop("f32[1,3]", summed, trips=None), (1, 3), (1, 3)),
    (loop("f32[2,3]", summed, trips=None), (2, 3), None),
])  # fmt: skip
def test_what_openvino_gives_of_a_loop_that_runs_no_iteration(net: Net, given: tuple[int, ...], none: tuple[int, ...] | None) -> None:
    """The shape that is inferred holds it, unless the premise is stated; None where OpenVINO's CPU plugin fails."""
    import numpy

    model = core().read_model(net.xml.encode(), net.bin)
    compiled = core().compile_model(model, "CPU")
    feeds = [numpy.array(0), numpy.zeros(given, numpy.float32)]
    if none is None:
        with pytest.raises(RuntimeError, match="incompatible"):
            compiled(feeds)
        assert states_iteration(net)
        return
    assert compiled(feeds)[0].shape == none
    inferred = partial_shape(irshape.infer(net.xml.encode(), weights=net.bin).layer(layer_of(net)).outputs[0].text)
    assert inferred.compatible(partial_shape(none)) or states_iteration(net)


def test_a_premise_of_a_loop_excludes_no_sizes() -> None:
    """The number of iterations is no size, so the valid sizes are exact; the rows that are joined may be none."""
    net = loop("f32[?,1]", SAME, back=False, trips=None, output=OTHER_AXIS)
    assert irshape.infer(net.xml.encode(), weights=net.bin).ports["3:3"] == ("f32", "[?,?]")
    sizes = irshape.sizes(net.xml.encode(), weights=net.bin, inputs={"parameter_2": "[H,1]"})
    assert (str(sizes), sizes.is_exact) == ("every size", True)
    [premise] = sizes.premises
    assert sizes.to_dict()["premises"] == [premise.to_dict()]
    assert premise.requirement.message == "output 0 has this shape only if the Loop runs at least one iteration"


def test_a_size_that_openvino_does_not_know_refuses_nothing() -> None:
    """Five iterations leave six rows, which are more than the variable holds; OpenVINO infers `[1..,3]` and reads the model."""
    net = loop("f32[1,3]", longer, trips=5)
    net.layers.pop()
    net.edges.pop()
    net.layer("Assign", [Ref(3, 3, "FP32")], [], "opset6", variable_id="v")
    state = net.layer("ReadValue", [Ref(2, 0, "FP32")], ["FP32"], "opset6", variable_id="v", variable_type="f32", variable_shape="1,3")[0]
    net.result(state)
    # OpenVINO makes the ReadValue first if it stands before.
    net.result(Ref(3, 3, "FP32"))
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok
    assert {d.code for d in inference.diagnostics} <= {"R401"}


def test_a_guard_of_a_branch_that_sizes_choose_is_none_of_the_model() -> None:
    """A Squeeze of an axis that is 1 whenever it is asked narrows nothing."""
    net = sized("f32[?,3]", 1)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert not inference.guards
    assert inference.ports["0:0"] == ("f32", "[?,3]")


def test_both_branches_are_looked_at_where_openvino_does_not_know_which_is_taken() -> None:
    """A size less itself is 0; for OpenVINO it is a difference of two sizes that it does not know."""
    net = Net("""
        _x: f32[?,3]
        _size: Gather-8(ShapeOf-3(_x, output_type=i64), 0, 0, batch_dims=0)
        _is: Equal(Subtract(_size, _size), 0) boolean
    """)
    output = branched(net, [*net.named["_is"], *net.named["_x"]], SAME, doubled)
    net.result(output)
    ports = irshape.infer(net.xml.encode(), weights=net.bin, inputs={"parameter_0": "[N,3]"}).ports
    assert ports[f"{output.layer}.else_body/0:0"] == ("f32", "[?,3]")
    assert ports[f"{output.layer}:{output.port}"] == ("f32", "[?,3]")


def shifted(states: int, levels: int) -> Net:
    """Loops inside each other that hand their states on, so that one of them changes each time the body is looked at."""

    def add(net: Net, entered: list[Ref], level: int) -> Ref:
        body = Net()
        parameters = [body.parameter("f32[?]") for _ in range(len(entered) + states)]
        own = parameters[len(entered) :]
        extra = add(body, own, level - 1) if level > 1 else own[0]
        for ref in (own[0], *own[:-1], extra):
            body.result(ref)
        results = [f"result_{len(body.layers) - states - 1 + i}" for i in range(states + 1)]
        body.add("boolean=true -> go: Result")
        count = len(parameters)
        maps = [f"{2 + i} > parameter_{ref.layer}" for i, ref in enumerate(parameters)]
        maps += [f"{name} > {2 + count + i}" for i, name in enumerate(results)]
        maps += ["go > -1", *(f"{name} > parameter_{ref.layer}" for name, ref in zip(results, own, strict=False))]
        first = ", f32=[0,0]" + ", f32=[0]" * (states - 1)
        return net.holder(f"Loop-5(5, boolean=true, _{first}){' f32' * (states + 1)}", "; ".join(maps), *entered, body=body)[-1]

    net = Net()
    net.result(add(net, [], levels))
    return net


# A list of two values. OpenVINO does not see that it has two: their number is S - S + 2.
TWO_CONDITIONS = """_size: Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0)
    Broadcast-3(boolean=true, Add(Subtract(_size, _size), [2]), mode=numpy)"""


@pytest.mark.parametrize(("trips", "where"), [(1, ""), (3, " in the first iteration"), (None, " in the first iteration")])
def test_a_list_that_begins_empty_has_the_other_sizes_of_what_is_appended(trips: int | None, where: str) -> None:
    """OpenVINO takes a size of 0 that enters for any size, and its CPU plugin fails in the first iteration."""
    net = loop("f32[2,0,3]", appended(0), trips=trips)
    [found] = irshape.infer(net.xml.encode(), weights=net.bin).diagnostics
    assert (found.code, found.where.layer_type) == ("R401", "Concat")
    assert found.message == f"this never holds{where}: the inputs must be equal on axis 1: 0 and 1 differ"


def test_a_fault_of_a_loop_that_openvino_does_not_see_is_no_error() -> None:
    net = loop("f32[?,3]", SAME, condition=TWO_CONDITIONS)
    found = irshape.infer(net.xml.encode(), weights=net.bin).diagnostics
    assert [(one.code, one.where.layer_type) for one in found] == [("R401", "Loop")]
    assert core_of(net.xml.encode()).read_model(net.xml.encode(), net.bin)
    static = loop("f32[4,3]", SAME, condition=TWO_CONDITIONS)
    assert "V103" in codes(irshape.infer(static.xml.encode(), weights=static.bin))


def test_a_fault_in_a_branch_in_a_loop_is_said_though_its_tensor_comes_back() -> None:
    net = loop("string[2]", inside(lambda inner, value: branched(inner, [inner.const(True, "boolean"), value], SAME, SAME)))
    found = irshape.infer(net.xml.encode(), weights=net.bin)
    assert [one.where.layer_type for one in found.diagnostics if one.code == "T101"] == ["ReLU"]


def test_loops_inside_loops_have_a_budget() -> None:
    """Fourteen states on eight levels would take a billion passes."""
    net = shifted(14, 8)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok
    assert {d.code for d in inference.diagnostics} == {"N105"}
    assert not irshape.infer(shifted(3, 2).xml.encode(), weights=shifted(3, 2).bin).diagnostics


FAULTS = [
    ("a Parameter that is not there", 'internal_layer_id="0"', 'internal_layer_id="7"', "G119"),
    ("a Result that is not there", 'internal_layer_id="1"', 'internal_layer_id="0"', "G119"),
    ("an input that is not there", 'external_port_id="0"', 'external_port_id="3"', "G119"),
    ("parts of nothing", 'part_size="1"', 'part_size="0"', "A104"),
    ("no number", 'axis="0"', 'axis="x"', "X106"),
    ("no body", "body>", "corpus>", "X109"),
]


@pytest.mark.parametrize(("name", "old", "new", "code"), FAULTS)
def test_fault_of_a_map(name: str, old: str, new: str, code: str) -> None:
    net = iterator("f32[6,3]", SAME)
    inference = irshape.infer(net.xml.replace(old, new).encode(), weights=net.bin)
    assert code in codes(inference)
    assert all(d.where.line for d in inference.diagnostics)


def test_a_back_edge_to_the_parameter_that_counts_is_its_own_fault() -> None:
    """OpenVINO counts it as an input that the layer lacks."""
    net = loop("f32[2,3]", SAME, trips=7)
    entry = '<input external_port_id="-1" internal_layer_id="0" purpose="current_iteration"/>'
    xml = re.sub(r'<input external_port_id="2"[^>]*>', entry, net.xml)
    [fault] = irshape.infer(xml.encode(), weights=net.bin).diagnostics
    line = next(number for number, text in enumerate(xml.splitlines(), 1) if entry in text)
    told = "the back edge to layer 0 leads to Parameter 'parameter_0', which no input of the layer feeds"
    assert (fault.code, fault.message) == ("G119", f"{told}: its entry in line {line} has external_port_id -1")


REMARKS = [
    ("an attribute that is none", 'axis="0"', 'axes="0"', "R104"),
    ("a purpose that is none", 'internal_layer_id="0"', 'internal_layer_id="0" purpose="curent_iteration"', "R104"),
    ("no input", "<port_map>", "<port_maps/><port_map>", "X206"),
    ("a back edge to no layer", "</port_map>", '</port_map><back_edges><edge from-layer="2" to-layer="7"/></back_edges>', "G121"),
    ("a back edge to parts", "</port_map>", '</port_map><back_edges><edge from-layer="2" to-layer="0"/></back_edges>', "G121"),
]


@pytest.mark.parametrize(("name", "old", "new", "code"), REMARKS)
def test_what_a_map_holds_without_effect_is_told(name: str, old: str, new: str, code: str) -> None:
    """OpenVINO reads the file, and passes over it."""
    net = iterator("f32[6,3]", SAME)
    assert code in {one.code for one in irshape.check(net.xml.replace(old, new, 1).encode(), weights=net.bin).diagnostics}


@pytest.mark.parametrize(("ends", "code"), [
    ('from-layer="2" to-layer="-1"', "X106"), ('from-layer="x" to-layer="0"', "X106"), ('from-layer="2" to-layer="1.5"', "X106"),
    ('from-layer="2"', "X105"), ('to-layer="0"', "X105"),
])  # fmt: skip
def test_an_end_of_a_back_edge_that_is_no_number_is_told(ends: str, code: str) -> None:
    """OpenVINO refuses the file."""
    net = iterator("f32[6,3]", SAME)
    xml = net.xml.replace("</port_map>", f"</port_map><back_edges><edge {ends}/></back_edges>", 1)
    assert [one.code for one in irshape.check(xml.encode(), weights=net.bin).diagnostics] == [code]


MAPS = [
    ("x, y", "0 > p; 1 > q; r > 2", []),
    ("x, y", "0 > p; 1 > p; r > 2", ["inputs 0 and 1 of the port map feed the same Parameter 'p', and none feeds Parameter 'q'"]),
    ("x", "0 > p; r > 1", ["no input of the port map feeds Parameter 'q' of the body"]),
]


@pytest.mark.parametrize(("inputs", "map", "told"), MAPS)
def test_a_parameter_without_a_value_is_told(inputs: str, map: str, told: list[str]) -> None:
    """OpenVINO reads the file, and fails when it runs."""
    net = Net("x: f32[2]\ny: f32[2] -> Result")
    net.named["loop"] = net.holder(f"TensorIterator({inputs}) f32", map, body=Net("p: f32[2]\nq: f32[2]\nAdd(p, q) -> r: Result"))
    net.add("loop -> Result")
    assert [(one.code, one.message) for one in irshape.check(net.xml.encode()).diagnostics] == [("G121", message) for message in told]


@pytest.mark.parametrize("type", ["Parameter", "Result"])
def test_a_misspelt_end_of_a_body_is_the_cause_of_the_fault_of_the_map(type: str) -> None:
    net = iterator("f32[6,3]", SAME)
    before, body = net.xml.split("<body>")
    xml = f"{before}<body>" + body.replace(f'type="{type}"', f'type="{type}1"', 1)
    first = next(one for one in irshape.check(xml.encode(), weights=net.bin).diagnostics if one.severity == ERROR and one.caused_by is None)
    assert (first.code, first.hint) == ("G110", f"did you mean {type}?")


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "old", "new", "code"), FAULTS)
def test_openvino_does_not_read_the_maps_and_bodies_of_a_layer_that_nothing_reads(name: str, old: str, new: str, code: str) -> None:
    net = iterator("f32[6,3]", SAME)
    net.edges[-1] = '<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>'  # past the TensorIterator, layer 1
    xml = net.xml.replace(old, new).encode()
    core().read_model(xml, net.bin)
    found = irshape.infer(xml, weights=net.bin).diagnostics
    assert code in {fault.code for fault in found} and all(fault.severity != ERROR for fault in found)


@pytest.mark.oracle
@pytest.mark.parametrize("type", ["PARAMETER", "parameter"])
def test_a_parameter_is_one_in_any_case(type: str) -> None:
    net = iterator("f32[6,3]", SAME)
    xml = net.xml.replace('type="Parameter"', f'type="{type}"').encode()
    assert len(core().read_model(xml, net.bin).inputs) == 1
    inference = irshape.infer(xml, weights=net.bin, inputs={"parameter_0": "[7,3]"})
    assert inference.ok and inference.ports == irshape.infer(net.xml.encode(), weights=net.bin, inputs={"parameter_0": "[7,3]"}).ports


def test_a_trip_count_of_packed_elements_is_not_known() -> None:
    """OpenVINO takes the code of the number for the number."""
    net = loop("f32[2,3]", SAME, back=False, trips=7, counted="nf4", output=JOINED)
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok
    assert [repr(port) for port in inference.layer(layer_of(net)).outputs] == ["f32[?,3]"]


def test_a_trip_count_is_never_run() -> None:
    net = loop("f32[2,3]", SAME, back=False, trips=2**62, output=JOINED)
    assert codes(irshape.infer(net.xml.encode(), weights=net.bin)) == ["S205"]
    net = loop("f32[2,3]", doubled, trips=2**62)
    assert irshape.infer(net.xml.encode(), weights=net.bin).ok


def test_a_tensor_iterator_cannot_change_a_shape() -> None:
    """OpenVINO reads it, and fails when it runs."""
    net = iterator("f32[2,3]", doubled, slice="", output="")
    xml = net.xml.replace("</port_map>", '</port_map><back_edges><edge from-layer="1" to-layer="0"/></back_edges>')
    two = irshape.infer(xml.encode(), weights=net.bin)
    assert two.ok
    joined = irshape.infer(xml.replace('id="1" internal', f'id="1" {JOINED.replace("-1", "3")} internal').encode(), weights=net.bin)
    assert {d.code for d in joined.diagnostics} == {"R401"}


def nested(depth: int) -> str:
    """An If in the body of an If in the body of an If ..."""
    inputs = "p0: boolean[]\np1: f32[2,3]"
    net = leaf = Net(f"{inputs} -> r: Result")
    for _ in range(depth):
        inner, net = net, Net(inputs)
        net.named["chosen"] = net.holder("If-8(p0, p1) f32", "0 > p0; 1 > p1; r > 2", then_body=inner, else_body=leaf)
        net.add("chosen -> r: Result")
    return net.xml


def test_bodies_are_nested_as_deep_as_the_limit() -> None:
    inference = irshape.infer(nested(64).encode())
    assert inference.ok, inference.diagnostics
    assert inference.ports["2:2"] == ("f32", "[2,3]")
    assert codes(irshape.infer(nested(65).encode())) == ["X111"]


def test_nesting_takes_no_stack_and_linear_time() -> None:
    document = read(nested(300).encode(), limits=Limits(depth=1000))
    inference = verbs.infer(irshape.model.build.build(document), inputs={"p1": "[N,3]"})
    assert inference.ok
    assert inference.formulas["2:2"] == "[N,3]"
    assert inference.ports["2.then_body/" * 300 + "1:0"] == ("f32", "[?,3]")


def test_bodies_are_written_and_nothing_else() -> None:
    """Ports inside bodies say what was inferred; every other byte stays, and what is written says all there is to say."""
    net = chosen(SAME, doubled)
    inference = irshape.infer(net.xml.encode(), weights=net.bin, inputs={"parameter_1": "[5,7]"})
    written = inference.xml()
    again = irshape.check(written, weights=net.bin)
    assert again.ok and again.ports == inference.ports
    assert not [d for d in again.diagnostics if d.code.startswith("R3")]
    assert again.layer("2.else_body/2").node._node.layer.outputs[0].dims == (10, 7)
    ports = re.compile(rb"<port .*?(?:/>|</port>)|shape=\"[^\"]*\"", re.DOTALL)
    assert ports.sub(b"", re.sub(rb"(<port [^>]*[^/>])>.*?</port>", rb"\1/>", written, flags=re.DOTALL)) == ports.sub(b"", net.xml.encode())
    wrong = written.replace(b"<dim>10</dim>", b"<dim>11</dim>")
    assert {d.where.path for d in irshape.check(wrong, weights=net.bin).diagnostics if d.code == "R301"} >= {"if_2 / else_body"}


@pytest.mark.oracle
def test_openvino_reads_what_is_written() -> None:
    net = loop("f32[2,3]", doubled)
    written = irshape.infer(net.xml.encode(), weights=net.bin, inputs={"parameter_2": "[5,7]"}).xml()
    model = core().read_model(written, net.bin)
    assert str(model.output(0).get_partial_shape()) == "[?,7]"


def test_a_second_pass_gives_the_same() -> None:
    """Symbols born inside a body are not mistaken for others when its layers are asked again."""
    net = loop("f32[?,3]", doubled)
    model = irshape.read(net.xml.encode())
    first, second = (irshape.infer(model, weights=net.bin).ports for _ in range(2))
    assert first == second


def test_a_constant_of_a_body_that_lacks_its_bytes_leads() -> None:
    """Without the condition the number of iterations, and what the Loop records, are not known."""
    net = loop("f32[4,3]", SAME, back=False, trips=4, output=JOINED)
    xml = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    before, body = xml.split("<body>")
    cut = "<body>".join((before, body.replace('size="1"', 'size="0"', 1)))
    found = irshape.check(cut.encode(), weights=net.bin).diagnostics
    assert [(one.code, one.caused_by and one.caused_by.code) for one in found] == [("W103", None), ("R301", "W103")]


def test_a_port_map_is_named_where_its_axis_is_another_one() -> None:
    """The constants that a Loop reads say nothing of the axis on which its values are joined."""
    net = loop("f32[4,3]", SAME, back=False, trips=4, output=JOINED)
    xml = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    [fault] = irshape.check(xml.replace('axis="0"', 'axis="1"', 1).encode(), weights=net.bin).diagnostics
    assert fault.code == "R301" and "with axis='0' (line 40) the layer gives [16,3], which it records" in fault.message, fault.message
