"""What OpenVINO knows of values decides what it refuses; what irshape knows beside decides what it says.

A row: title, the size of the only input, what becomes of it (an operation with a number, or with a list that stands before it), who reads
it, and what must come of that: a shape, S206 where OpenVINO refuses although sizes exist, or R401 where no size is valid although OpenVINO
does not notice.
"""

from pathlib import Path
from typing import Any

import pytest

from irshape import verbs
from irshape.shape.dim import Dim
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core, reads

Step = tuple[str, Any]

ROWS: list[tuple[str, str, list[Step], str, str]] = [
    ("a bound below 0", "3..5", [("Subtract", 4)], "Broadcast", "S206"),
    ("a bound below 0 that is one of none", "3..", [("Subtract", 4)], "Broadcast", "[?]"),
    ("a bound of the other end", "3..5", [("Subtract", -4)], "Broadcast", "[7..9]"),
    ("no limit is lost", "3..", [("Add", 4)], "Broadcast", "[7..]"),
    ("below 0 for certain", "3..5", [("Multiply", -2)], "Broadcast", "V101"),
    ("repeats", "3..5", [("Subtract", 4)], "Tile", "S206"),
    ("k", "3..5", [("Subtract", 4)], "TopK", "S206"),
    ("a pattern", "3..5", [("Subtract", 4)], "Reshape", "[?]"),
    ("a pattern all below 0", "3..5", [("Multiply", -1)], "Reshape", "V101"),
    ("ends around 0", "0..5", [("Subtract", 3), ("Abs", None)], "Broadcast", "[..3]"),
    ("wraps", "?", [("Convert", "i8"), ("Convert", "i64")], "Broadcast", "S206"),
    ("beyond its type", "1..9", [("Convert", "i32"), ("Power", 11)], "Broadcast", "S206"),
    ("up to the end of its type", "1..9", [("Convert", "i32"), ("Power", 9)], "Broadcast", "[1..387420489]"),
    ("divided by what may be less than 0", "0..5", [("Subtract", 3), ("Divide", [12])], "Broadcast", "S206"),
    ("divided by what may be 0", "3..8", [("Subtract", 3), ("Divide", [12])], "Broadcast", "[2..12]"),
    ("less than 0, divided by what may be 0", "3..8", [("Subtract", 3), ("Divide", [-12])], "Broadcast", "V101"),
    ("decided, but not by OpenVINO", "9..", [("Minimum", 4)], "Merge", "R401"),
    ("rounded, but not by OpenVINO", "9..20", [("Convert", "f32"), ("Floor", None), ("Convert", "i64")], "Merge", "R401"),
    ("a remainder of a number below 0", "3..5", [("Subtract", 7), ("Mod", 2)], "Broadcast", "[0]"),
    ("bytes, whose bounds are not followed", "0..3", [("Convert", "i8"), ("Multiply", -1), ("Convert", "i64")], "Broadcast", "[0]"),
    ("decided by both", "9..20", [("Minimum", 4)], "Merge", "S202"),
]  # fmt: skip

# What reads a value of one element.
READERS = {
    "Tile": "Tile(f32[2], _)",
    "TopK": "Squeeze -> _top: TopK-3(f32[9], _, axis=0, mode=max, sort=value) f32 i64\n_top.0",
    "Reshape": "Reshape(f32[?], _, special_zero=false)",
    "Broadcast": "Broadcast-3(f32=1.0, _, mode=numpy)",
    "Merge": "Broadcast-3(f32=1.0, _, mode=numpy) -> Add(f32[7])",
}


def net_of(size: str, steps: list[Step], reader: str) -> Net:
    """A net in which the size of an input becomes a value that an operation reads."""
    text, element_type = f"ShapeOf-3(f32[{size}], output_type=i64)", "i64"
    for type, operand in steps:
        if type == "Convert":
            element_type = operand
            text += f" -> Convert(destination_type={operand})"
        elif operand is None:
            text += f" -> {type}"
        else:
            text += f" -> {type}({element_type}={operand}, _)" if isinstance(operand, list) else f" -> {type}({element_type}=[{operand}])"
    return Net(f"{text} -> {READERS[reader]} -> Result")


@pytest.mark.parametrize(("title", "size", "steps", "reader", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_verdict(title: str, size: str, steps: list[Step], reader: str, expected: str) -> None:
    net = net_of(size, steps, reader)
    inference = verbs.infer(net.xml.encode(), weights=net.bin)
    codes = {diagnostic.code for diagnostic in inference.diagnostics}
    if expected.startswith("["):
        assert not codes
        assert inference.layer(len(net.layers) - 2).outputs[0].text == expected
    else:
        assert codes == {expected}
    assert inference.ok == (expected.startswith("[") or expected == "R401")


@pytest.mark.oracle
@pytest.mark.parametrize(("title", "size", "steps", "reader", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_verdict_of_openvino(title: str, size: str, steps: list[Step], reader: str, expected: str) -> None:
    net = net_of(size, steps, reader)
    is_read = reads(net.xml.encode(), net.bin)
    assert is_read == (expected.startswith("[") or expected == "R401")


@pytest.mark.parametrize(("data", "special_zero", "expected"), [
    ("f32[?,?]", False, "[?,1..3,..6]"), ("f32[?,7,2..9]", True, "[?,1..3,1..9]"), ("f32[...]", False, "[?,1..3,..6]"),
])  # fmt: skip
@pytest.mark.oracle
def test_sizes_beside_one_that_may_be_inferred(data: str, special_zero: bool, expected: str) -> None:
    """An element of -2..5 may be -1, so nothing is known of its size; the other elements are sizes, or 0 that copies a size."""
    net = Net(f"""
        _pattern: Subtract(ShapeOf-3(f32[1..8,4..6,3..9], output_type=i64), [3,3,3])
        Reshape({data}, _pattern, special_zero={special_zero}) -> Result
    """)
    inferred = verbs.infer(net.xml.encode(), weights=net.bin).layer(len(net.layers) - 2).outputs[0].text
    [output] = core().read_model(net.xml.encode(), net.bin).outputs
    assert inferred == expected
    assert str(output.partial_shape) == "[?,1..3,..6]"


@pytest.mark.oracle
@pytest.mark.parametrize("size", ["?", "2..", "..9223372036854775805", "3..9223372036854775805", "1..4294967296"])
@pytest.mark.parametrize("step", ["Divide([2])", "Add([7])", "Multiply([3])"])
def test_a_product_of_sizes_beyond_the_largest_number_has_no_end(size: str, step: str) -> None:
    """A dimension of OpenVINO that is too large has no end, so nothing wraps around in what is computed from it."""
    product = f"Reshape(f32[{size},{size}], [-1], special_zero=false)"
    net = Net(f"{product} -> ShapeOf-3(output_type=i64) -> {step} -> {READERS['Broadcast']} -> Result")
    assert list(verbs.infer(net.xml.encode(), weights=net.bin).diagnostics) == []
    assert reads(net.xml.encode(), net.bin)


FAR, END = 2**31 - 1, 2**63 - 1


@pytest.mark.oracle
@pytest.mark.parametrize(("size", "limits", "code"), [
    ("7..", (-3, END, 1), "S201"), ("?", (-3, END, 1), "S201"), ("7..", (-3, END, 2), "S201"), ("?", (-1, END, 1), "S201"),
    ("7..", (-3, FAR, 1), "R401"), ("?", (-3, FAR, 1), "R401"), ("7..", (0, -END, -1), "R401"), ("?", (0, -5, -1), "R401"),
    ("7..", (2, -END, -1), "S201"), ("?", (2, -END, -1), "S201"), ("7..", (-3, -1, 1), "S201"), ("?", (-3, -1, 1), "S201"),
])  # fmt: skip
def test_elements_that_a_slice_takes(size: str, limits: tuple[int, int, int], code: str) -> None:
    """At most 3 elements are joined with 8. OpenVINO knows the end of an axis by the largest number, and no slice from 0 backwards."""
    begin, end, step = ([one] for one in limits)
    net = Net(f"Slice-8(f32[1,{size},4], {begin}, {end}, {step}, [1]) -> Concat(f32[1,8,4], axis=2) -> Result")
    inference = verbs.infer(net.xml.encode(), weights=net.bin)
    assert {one.code for one in inference.diagnostics} == {code}
    assert reads(net.xml.encode(), net.bin) == (code == "R401") == inference.ok


@pytest.mark.oracle
def test_size_for_minus_one_beside_an_empty_axis() -> None:
    """For a shape of [N,0,-1] the size for -1 is 1, whatever N is. OpenVINO knows only that it is at least 1, so 16 rows may match it."""
    net = Net("""
        ShapeOf-3(f32[?,0], output_type=i64) -> _pattern: Concat([-1], axis=0)
        Reshape(f32[0,0,4,4], _pattern, special_zero=false) -> MatMul(f32[16,8], transpose_a=false, transpose_b=false) -> Result
    """)
    result = verbs.infer(net.xml.encode(), weights=net.bin)
    assert [found.code for found in result.diagnostics] == ["R401"]
    assert result.layer(len(net.layers) - 4).outputs[0].text == "[?,0,1]"
    [output] = core().read_model(net.xml.encode(), net.bin).outputs
    assert str(output.partial_shape) == "[?,0,8]"


def rounded(size: str) -> str:
    """A list as long as the only axis of an input. OpenVINO does not know its length, because it does not follow Floor."""
    whole = f"ShapeOf-3(f32[{size}], output_type=i64) -> Convert(destination_type=f32) -> Floor -> Convert(destination_type=i64)"
    return f"{whole} -> Broadcast-3(f32=1.0, _, mode=numpy)"


def test_a_view_that_layers_share_is_asked_for_once(asked: list[str]) -> None:
    """irshape knows [A] and [B], OpenVINO [?] of both."""
    net = Net()
    outputs = [net.add(f"{rounded('5..')} -> Abs") for _ in range(2)]
    result = verbs.infer(net.xml.encode(), weights=net.bin)
    assert [result.layer(output.layer).outputs[0].formula for output in outputs] == ["[d0]", "[d1]"]
    assert asked.count("Abs") == 3


@pytest.mark.parametrize("path", WITH_WEIGHTS, ids=named)
def test_no_size_of_the_view_is_a_size_of_irshape(path: Path) -> None:
    """Sizes of the view are intervals without a formula, and would hide what irshape knows."""
    result = verbs.infer(path)
    for model, run in result.graphs:
        for fact in filter(None, run.slots):
            for size in (*(fact.shape or ()), *(fact.elements or ())):
                assert not isinstance(size, Dim) or size.scope is result.scope, model


def test_sizes_that_openvino_does_not_see_contradicted_are_symbols() -> None:
    """irshape knows that [1,9..20] and [?,7] do not broadcast. OpenVINO knows [1,?], and its [?,7] for the sum is kept."""
    net = Net()
    total = net.add(f"{rounded('9..20')} -> Unsqueeze([0]) -> Add(f32[?,7])")
    net.result(total)
    result = verbs.infer(net.xml.encode(), weights=net.bin)
    assert [found.code for found in result.diagnostics] == ["R401"]
    size, known = result.layer(total.layer).outputs[0].shape or ()
    assert isinstance(size, Dim)
    assert size.scope is result.scope
    assert known == 7


# A value of one element: of a size, of data, of an operation that OpenVINO does not follow, or one that it fails to compute.
SIZE = "ShapeOf-3(f32[1..9], output_type=i64)"
PIECES = {"size": SIZE, "data": "i64[1]", "not followed": f"ConvertLike({SIZE}, [1])", "failing": f"ScatterUpdate-3({SIZE}, [-1], [7], 0)"}


@pytest.mark.oracle
@pytest.mark.parametrize("joined", ["Concat", "Maximum"])
@pytest.mark.parametrize(("first", "second", "expected"), [
    ("failing", "size", False), ("size", "failing", False), ("failing", "not followed", False), ("not followed", "failing", True),
    ("failing", "data", True), ("data", "failing", True),
])  # fmt: skip
def test_openvino_computes_inputs_in_their_order(joined: str, first: str, second: str, expected: bool) -> None:
    """It stops before the first input that it does not follow, and computes nothing where an input of the model is among the sources."""
    axis = ", axis=0" if joined == "Concat" else ""
    net = Net(f"{joined}({PIECES[first]}, {PIECES[second]}{axis}) -> Reshape(f32[...], _, special_zero=false) -> Result")
    is_read = reads(net.xml.encode(), net.bin)
    assert is_read == verbs.infer(net.xml.encode(), weights=net.bin).ok == expected


# A target shape whose first size is the batch of a tensor of unknown rank, put together in several ways.
BATCH = "Gather-8(ShapeOf-3(f32[...], output_type=i64), [0], 0)"
TARGETS = {
    "one by one": f"{BATCH} -> Concat([4], [2], axis=0)",
    "two at once": f"{BATCH} -> Concat([4,2], axis=0)",
    "converted": f"{BATCH} -> Concat([4], [2], axis=0) -> Convert(destination_type=i64)",
}


@pytest.mark.oracle
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("consumer", ["numpy", "bidirectional", "reshape"])
def test_openvino_reads_the_constants_of_a_concat_where_broadcast_looks_for_them(kind: str, consumer: str) -> None:
    """Joined with a size of 3, the constant 4 is an error exactly where OpenVINO has read it."""
    wide = "Reshape(f32[?], _, special_zero=false)" if consumer == "reshape" else f"Broadcast-3(f32[1,1,1], _, mode={consumer})"
    net = Net(f"{TARGETS[kind]} -> {wide} -> Concat(f32[1,3,2], axis=0) -> Result")
    inference = verbs.infer(net.xml.encode(), weights=net.bin)
    try:
        core().read_model(net.xml.encode(), net.bin)
    except RuntimeError:
        is_accepted = False
    else:
        is_accepted = True
    assert inference.ok == is_accepted, [*map(str, inference.diagnostics)]
