"""Shapes as text: OpenVINO's reading of a Parameter, and the notation of users."""

from math import inf

import pytest

from irshape.shape.dim import Scope, format_size
from irshape.shape.notation import (
    Described,
    ShapeSyntaxError,
    SymbolRange,
    parse_parameter_shape,
    parse_shape,
    parse_symbol,
    parse_symbol_range,
    size_of,
)
from tests.support.ir import Net

# Text of a Parameter's shape, the shape that OpenVINO reads ("refused" if it reads none), the remarks.
PARAMETERS: tuple[tuple[str, str, list[str]], ...] = (
    ("", "[]", []),
    (" ", "[]", []),
    ("[]", "[]", []),
    ("2,3", "[2,3]", []),
    (" 2 , 3 ", "[2,3]", []),
    ("[ 2, 3 ]", "[2,3]", []),
    ("?,3", "[?,3]", []),
    ("-1,3", "[?,3]", []),
    ("1..8,3", "[1..8,3]", []),
    ("..8,1..,..", "[..8,1..,?]", []),
    ("3..3,0..0", "[3,0]", []),
    ("...", "[...]", []),
    (" [ ... ] ", "[...]", []),
    ("9223372036854775806", "[9223372036854775806]", []),
    ("..9223372036854775807", "[?]", []),
    ("-2,3", "[0,3]", ["OpenVINO reads '-2' as 0"]),
    ("007", "[7]", ["OpenVINO reads '007' as 7"]),
    ("2-", "[2]", ["OpenVINO reads '2-' as 2"]),
    ("1-2", "[1]", ["OpenVINO reads '1-2' as 1"]),
    ("-", "[0]", ["OpenVINO reads '-' as 0"]),
    ("2, ,3", "[2,0,3]", ["OpenVINO reads '' as 0"]),
    ("8..1,3", "[?,3]", ["'8..1' is an empty range; OpenVINO reads it as ?"]),
    ("5..-1", "[?]", ["'5..-1' is an empty range; OpenVINO reads it as ?"]),
    ("9223372036854775807", "[?]", ["'9223372036854775807' is an empty range; OpenVINO reads it as ?"]),
    ("-1..4", "[..4]", ["OpenVINO reads '-1..4' as ..4"]),
    ("-5..-3", "[0]", ["OpenVINO reads '-5..-3' as 0"]),
    ("5..-", "[5..]", ["OpenVINO reads '5..-' as 5.."]),
    ("99999999999999999999", "[0]", ["OpenVINO reads '99999999999999999999' as 0"]),
    ("99999999999999999999..5", "[..5]", ["OpenVINO reads '99999999999999999999..5' as ..5"]),
    ("1..99999999999999999999", "[1..]", ["OpenVINO reads '1..99999999999999999999' as 1.."]),
    ("2,3,", "refused", ["cannot read '2,3,' at character 5: a dimension is missing"]),
    ("2,,3", "refused", ["cannot read '2,,3' at character 3: a dimension is missing"]),
    (",2", "refused", ["cannot read ',2' at character 1: a dimension is missing"]),
    ("abc", "refused", ["cannot read 'abc' at character 1: 'abc' is not a dimension"]),
    ("1,1.5", "refused", ["cannot read '1,1.5' at character 3: '1.5' is not a dimension"]),
    ("1," * 300 + "1.5", "refused", [f"cannot read '…{'1,' * 100}1.5…' at character 601: '1.5' is not a dimension"]),
    ("1..8..9", "refused", ["cannot read '1..8..9' at character 1: '1..8..9' is not a dimension"]),
    ("?,...", "refused", ["cannot read '?,...' at character 3: '...' is not a dimension"]),
    ("1 ..8", "refused", ["cannot read '1 ..8' at character 1: '1 ..8' is not a dimension"]),
    ("+3", "refused", ["cannot read '+3' at character 1: '+3' is not a dimension"]),
    ("0x10", "refused", ["cannot read '0x10' at character 1: '0x10' is not a dimension"]),
    ("1..?", "refused", ["cannot read '1..?' at character 1: '1..?' is not a dimension"]),
    ("[2,3", "refused", ["cannot read '[2,3' at character 1: '[2' is not a dimension"]),
    ("[[2]]", "refused", ["cannot read '[[2]]' at character 2: '[2]' is not a dimension"]),
)


def text_of(intervals: tuple[tuple[int, float], ...] | None) -> str:
    if intervals is None:
        return "[...]"
    scope = Scope()
    return f"[{','.join(format_size(scope.unknown(axis, *interval)) for axis, interval in enumerate(intervals))}]"


@pytest.mark.parametrize(("text", "shape", "remarks"), PARAMETERS)
def test_parameter_shape(text: str, shape: str, remarks: list[str]) -> None:
    try:
        intervals, found = parse_parameter_shape(text)
    except ShapeSyntaxError as error:
        assert ("refused", [str(error)]) == (shape, remarks)
    else:
        assert (text_of(intervals), found) == (shape, remarks)


MODEL = Net("f32[S] -> Result").xml.replace('"S"', '"{}"')


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "shape"), [row[:2] for row in PARAMETERS])
def test_openvino_reads_the_same(text: str, shape: str) -> None:
    import openvino

    try:
        read = str(openvino.Core().read_model(MODEL.format(text).encode(), b"").inputs[0].partial_shape)
    except RuntimeError:
        read = "refused"
    assert read == shape


@pytest.mark.oracle
def test_openvino_reads_random_texts_the_same() -> None:
    from random import Random

    import openvino

    core, random = openvino.Core(), Random(3)
    parts = [
        "1", "3", "..", "..", "..", ",", ",", ",", "-", "-1", "?", "9223372036854775807", "9223372036854775808", " ",
        "[", "]", "...", "0",
    ]  # fmt: skip
    for _ in range(400):
        text = "".join(random.choice(parts) for _ in range(random.randint(1, 7)))
        try:
            read = str(core.read_model(MODEL.format(text).encode(), b"").inputs[0].partial_shape)
        except RuntimeError:
            with pytest.raises(ShapeSyntaxError):
                parse_parameter_shape(text)
        else:
            assert text_of(parse_parameter_shape(text)[0]) == read, text


def unknown(low: int = 0, high: float = inf) -> Described:
    return Described(low, high)


H, W = Described(0, inf, "H"), Described(0, inf, "W")

# A user's text, its dimensions (None: unknown rank), or the reason and the position of the fault.
USERS: tuple[tuple[str, object], ...] = (
    ("", ()),
    ("[]", ()),
    ("()", ()),
    ("...", None),
    ("[...]", None),
    ("5", (unknown(5, 5),)),
    ("?", (unknown(),)),
    ("N", (Described(0, inf, "N"),)),
    ("box", (Described(0, inf, "box"),)),
    ("[1,3,?,224..448]", (unknown(1, 1), unknown(3, 3), unknown(), unknown(224, 448))),
    ("(1, 3, H, W)", (unknown(1, 1), unknown(3, 3), H, W)),
    ("(7,)", (unknown(7, 7),)),
    ("1x3x224x224", (unknown(1, 1), unknown(3, 3), unknown(224, 224), unknown(224, 224))),
    ("[33*AxA]", (Described(0, inf, "AxA", 33),)),
    ("[Ax3]", (Described(0, inf, "Ax3"),)),
    ("0,x12", (unknown(0, 0), Described(0, inf, "x12"))),
    ("1x3xHxW", (unknown(1, 1), unknown(3, 3), H, W)),
    ("HxWx3", (H, W, unknown(3, 3))),
    ("?x3x1..8x-1", (unknown(), unknown(3, 3), unknown(1, 8), unknown())),
    ("-1,..", (unknown(), unknown())),
    ("..8,3..,2..2", (unknown(0, 8), unknown(3), unknown(2, 2))),
    ("32*k, k*32, 32 * k + 1, k - 1", tuple(Described(0, inf, "k", *affine) for affine in ((32,), (32,), (32, 1), (1, -1)))),
    ("seq_len,_x1", (Described(0, inf, "seq_len"), Described(0, inf, "_x1"))),
    ("1,3,", ("a dimension is missing", 4)),
    ("1,,3", ("a dimension is missing", 2)),
    ("[1,3", ("'[' is never closed", 0)),
    ("(1,3]", ("'(' is never closed", 0)),
    ("1, q!", ("'q!' is not a dimension; write 5, ?, 1..8, H, 32*k or P + S", 3)),
    ("1,-2", ("'-2' is not a dimension; write 5, ?, 1..8, H, 32*k or P + S", 2)),
    ("1,nan,3", ("nan is no size: write a number, a symbol or ?", 2)),
    ("1,NaN", ("NaN is no size: write a number, a symbol or ?", 2)),
    ("1,2*None", ("None is no size: write a number, a symbol or ?", 4)),
    ("1,8..3", ("the lower bound 8 is larger than the upper bound 3", 2)),
    ("1,...", ("'...' is not a dimension; write 5, ?, 1..8, H, 32*k or P + S", 2)),
    ("0*k", ("a symbol is multiplied by 0", 0)),
    ("1.5", ("'1.5' is not a dimension; write 5, ?, 1..8, H, 32*k or P + S", 0)),
    ("1,9223372036854775808", ("9223372036854775808 is larger than the largest size, 9223372036854775807", 2)),
)


@pytest.mark.parametrize(("text", "expected"), USERS)
def test_users_shape(text: str, expected: object) -> None:
    try:
        assert parse_shape(text) == expected
    except ShapeSyntaxError as error:
        assert (error.reason, error.position) == expected


# A user's text of a range, its low, high, modulus and remainder, or the reason and the position of the fault.
SYMBOLS: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("H=32..1024", ("H", SymbolRange(32, 1024))),
    ("H = 7", ("H", SymbolRange(7, 7, 0, 7))),
    ("H=?", ("H", SymbolRange(0, inf))),
    ("H=32*k", ("H", SymbolRange(0, inf, 32, 0))),
    ("H=32*k+1", ("H", SymbolRange(1, inf, 32, 1))),
    ("H=32*k-1", ("H", SymbolRange(31, inf, 32, 31))),
    ("H=2*k+7", ("H", SymbolRange(7, inf, 2, 1))),
    ("H=32*k, 100..300", ("H", SymbolRange(128, 288, 32, 0))),
    ("H=5..3", ("the lower bound 5 is larger than the upper bound 3", 2)),
    ("H=32*k,33..63", ("the range is empty", 2)),
    ("H=2*k,3*k", ("a range may have only one multiple", 6)),
    ("H", ("write NAME=LOW..HIGH or NAME=32*k", 0)),
    ("1H=3", ("write NAME=LOW..HIGH or NAME=32*k", 0)),
)


@pytest.mark.parametrize(("text", "expected"), SYMBOLS)
def test_symbols(text: str, expected: tuple[object, ...]) -> None:
    try:
        assert parse_symbol(text) == expected
        assert parse_symbol_range(text.partition("=")[2]) == expected[1]
    except ShapeSyntaxError as error:
        assert (error.reason, error.position) == expected


def test_sizes_of_what_a_user_wrote() -> None:
    scope = Scope()
    shape = parse_shape("1,?,1..8,k,32*k,k - 1")
    assert shape is not None
    sizes = [size_of(scope, described, axis) for axis, described in enumerate(shape)]
    assert [f"{size}: {format_size(size)}" for size in sizes] == ["1: 1", "d0: ?", "d1: 1..8", "k: ?", "32*k: ?", "k - 1: ?"]
