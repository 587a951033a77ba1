"""Recurrent cells and sequences."""

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core
from tests.support.rows import Rows, row_tests

SIZE = {"hidden_size": 4}
LSTM = "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4]"

ROWS: Rows = {
    ("LSTMCell", "opset4"): [
        ("static", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16]", SIZE, "f32[2,4] f32[2,4]"),
        ("attribute ignored", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16]", {"hidden_size": 5}, "f32[2,4] f32[2,4]"),
        ("bounds", "f32[1..3,5] f32[2..,4] f32[?,?] f32[?,5] f32[16,4] f32[16]", SIZE, "f32[2..3,4] f32[2..3,4]"),
        ("from the weights", "f32[...] f32[...] f32[...] f32[16,5] f32[...] f32[...]", {"hidden_size": 7}, "f32[?,4] f32[?,4]"),
        ("unranked", "f32[...] f32[...] f32[...] f32[...] f32[...] f32[...]", {"hidden_size": 7}, "f32[?,7] f32[?,7]"),
        ("unknown activation", f"{LSTM} f32[16]", {**SIZE, "activations": "elu,tanh,tanh"}, "A103"),
        ("two activations", f"{LSTM} f32[16]", {**SIZE, "activations": "tanh,tanh"}, "A105"),
        ("types differ", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f16[16]", SIZE, "T102"),
        ("rank of the input", "f32[2,5,1] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16]", SIZE, "S101"),
        ("batches differ", "f32[3,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16]", SIZE, "S201"),
        ("hidden sizes differ", "f32[2,5] f32[2,4] f32[2,5] f32[...] f32[...] f32[...]", SIZE, "S201"),
        ("biases", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[12]", SIZE, "S201"),
        ("weights", "f32[2,5] f32[2,4] f32[2,4] f32[20,5] f32[16,4] f32[16]", SIZE, "S201"),
        ("weights of no gates", "f32[2,5] f32[2,4] f32[2,4] f32[17,5] f32[16,4] f32[16]", SIZE, "S204"),
    ],
    ("LSTMCell", "opset1"): [
        ("no biases", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4]", SIZE, "f32[2,4] f32[2,4]"),
        ("peepholes", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16] f32[12]", {"hidden_size": 7}, "f32[2,4] f32[2,4]"),
        ("wrong attribute", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4]", {"hidden_size": 5}, "S201"),
        ("wrong peepholes", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16] f32[16]", SIZE, "S201"),
        ("unranked peepholes", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16] f32[...]", SIZE, "S101"),
        ("weights format", "f32[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4]", {**SIZE, "weights_format": "fi"}, "A103"),
        (
            "peepholes that are not static",
            "f32[6,4] f32[6,1] f32[6,1] f32[4,4] f32[...] f32[...] f32[..1]",
            {"hidden_size": 1},
            "f32[6,1] f32[6,1]",
        ),
        ("no zeros of strings", "string[2,5] string[2,4] string[2,4] string[16,5] string[16,4]", SIZE, "T101"),
        ("no zeros of a type that is not known", "dynamic[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16]", SIZE, "T101"),
        (
            "all inputs of a type that is not known",
            "dynamic[2,5] f32[2,4] f32[2,4] f32[16,5] f32[16,4] f32[16] f32[12]",
            SIZE,
            "f32[2,4] f32[2,4]",
        ),
    ],
    ("GRUCell", "opset3"): [
        ("static", "f32[2,5] f32[2,4] f32[12,5] f32[12,4] f32[12]", SIZE, "f32[2,4]"),
        ("linear", "f32[2,5] f32[2,4] f32[12,5] f32[12,4] f32[16]", {**SIZE, "linear_before_reset": True}, "f32[2,4]"),
        ("bounds", "f32[?,5] f32[2..3,3..5] f32[?,5] f32[...] f32[?]", SIZE, "f32[2..3,3..5]"),
        ("unranked", "f32[...] f32[...] f32[...] f32[...] f32[...]", SIZE, "f32[?,?]"),
        ("biases", "f32[2,5] f32[2,4] f32[12,5] f32[12,4] f32[16]", SIZE, "S201"),
        ("one activation", "f32[2,5] f32[2,4] f32[12,5] f32[12,4] f32[12]", {**SIZE, "activations": "tanh"}, "A105"),
        ("type of W", "f16[1,16] f16[1,4] f8e4m3[12,16] f16[12,4] f16[12]", SIZE, "f16[1,4]"),
        ("bounds that leave one hidden size", "f32[2,3] f32[2,..1] f32[6..9,3] f32[?,1..] f32[?]", SIZE, "S201"),
    ],
    ("RNNCell", "opset1"): [
        ("static", "f32[2,5] f32[2,4] f32[4,5] f32[4,4] f32[4]", SIZE, "f32[2,4]"),
        ("batches differ", "f32[2,5] f32[3,4] f32[4,5] f32[4,4] f32[4]", SIZE, "S201"),
    ],
    ("LSTMSequence", "opset5"): [
        ("static", "f32[2,7,5] f32[2,1,4] f32[2,1,4] i64[2] f32[1,16,5] f32[1,16,4] f32[1,16]", SIZE, "f32[2,1,7,4] f32[2,1,4] f32[2,1,4]"),
        (
            "both directions",
            "f32[?,?,5] f32[2,2,4] f32[2,2,4] i64[?] f32[2,16,5] f32[2,16,4] f32[2,16]",
            {**SIZE, "direction": "bidirectional"},
            "f32[2,2,?,4] f32[2,2,4] f32[2,2,4]",
        ),
        ("unranked", "f32[...] f32[...] f32[...] i64[...] f32[...] f32[...] f32[...]", SIZE, "f32[?,1,?,?] f32[?,1,?] f32[?,1,?]"),
        ("directions differ", "f32[2,7,5] f32[2,2,4] f32[2,1,4] i64[2] f32[1,16,5] f32[1,16,4] f32[1,16]", SIZE, "S201"),
        ("lengths differ", "f32[2,7,5] f32[2,1,4] f32[2,1,4] i64[3] f32[1,16,5] f32[1,16,4] f32[1,16]", SIZE, "S201"),
        (
            "rows of weights of unknown directions",
            "f32[2,3,2] f32[2,1,?] f32[2,1,?] i64[2] f32[..3,8,?] f32[?,12,?] f32[1,?]",
            SIZE,
            "f32[2,1,3,2] f32[2,1,2] f32[2,1,2]",
        ),
    ],
    ("GRUSequence", "opset5"): [
        ("static", "f32[2,7,5] f32[2,1,4] i64[2] f32[1,12,5] f32[1,12,4] f32[1,12]", SIZE, "f32[2,1,7,4] f32[2,1,4]"),
        (
            "linear",
            "f32[2,7,5] f32[2,1,4] i64[2] f32[1,12,5] f32[1,12,4] f32[1,16]",
            {**SIZE, "linear_before_reset": True},
            "f32[2,1,7,4] f32[2,1,4]",
        ),
        ("biases", "f32[2,7,5] f32[2,1,4] i64[2] f32[1,12,5] f32[1,12,4] f32[1,16]", SIZE, "S201"),
    ],
    ("RNNSequence", "opset5"): [
        ("static", "f32[2,7,5] f32[2,1,4] i64[2] f32[1,4,5] f32[1,4,4] f32[1,4]", SIZE, "f32[2,1,7,4] f32[2,1,4]"),
        ("input of rank 2", "f32[2,5] f32[2,1,4] i64[2] f32[1,4,5] f32[1,4,4] f32[1,4]", SIZE, "S101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)


@pytest.mark.parametrize(("columns", "hidden"), [(5, 7), (6, 4)])
def test_what_contradicts_the_weights_is_told(columns: int, hidden: int) -> None:
    """OpenVINO reads the file, and its CPU plugin refuses to compile it."""
    inputs = f"f32[2,5], f32[2,4], f32[2,4], f32[16,{columns}], f32[16,4], f32[16]"
    net = Net(f"{inputs} -> cell: LSTMCell-4(hidden_size={hidden}) f32 f32\ncell.0 -> Result")
    assert [one.code for one in irshape.check(net.xml.encode()).diagnostics if one.code != "W201"] == ["R401"]


@pytest.mark.oracle
@pytest.mark.parametrize(("activations", "told"), [
    ("", ["R401"]), (', activations="sigmoid"', ["R401"]), (', activations="sigmoid,tanh"', []), (', activations="sigmoid,tanh,tanh"', []),
])  # fmt: skip
def test_too_few_functions_of_a_sequence_are_told(activations: str, told: list[str]) -> None:
    """OpenVINO reads the file, and its CPU plugin refuses to compile it."""
    inputs = "f32[2,3,5], f32[2,1,4], i32=3[2], f32=0.5[1,12,5], f32=0.5[1,12,4], f32=0[1,12]"
    net = Net(f"_y: GRUSequence-5({inputs}, hidden_size=4, direction=forward{activations}) f32 f32\n_y.0 -> Result")
    assert [one.code for one in irshape.check(net.xml.encode(), weights=net.bin).diagnostics] == told
    model = core().read_model(net.xml.encode(), net.bin)
    if told:
        with pytest.raises(RuntimeError, match="_M_range_check"):
            core().compile_model(model, "CPU")
    else:
        core().compile_model(model, "CPU")
