"""Formulas and patterns as shapes of inputs, for every verb that takes shapes."""

from pathlib import Path

import pytest

import irshape
from tests.support.ir import Net

DECODER = Path(__file__).parents[2] / "examples" / "decoder.xml"
SHAPES = {"input_ids": "[B,S]", "attention_mask": "[B,P+S]", "past.*": "[B,2,P,4]"}


def shapes(inference: irshape.Inference) -> dict[str, str]:
    """The shapes of the inputs as formulas."""
    return {node.name: inference[node].outputs[0].formula for node in inference.model.parameters}


def test_a_pattern_names_several_inputs() -> None:
    found = irshape.infer(DECODER, inputs=SHAPES)
    assert found.ok
    assert shapes(found) == {
        "input_ids": "[B,S]", "attention_mask": "[B,S + P]", "past.key": "[B,2,P,4]", "past.value": "[B,2,P,4]",
    }  # fmt: skip
    assert found.guards == []


def test_a_name_counts_more_than_a_pattern_and_the_last_pattern_more_than_others() -> None:
    found = irshape.infer(DECODER, inputs={"past.key": "[1,2,3,4]", "*": "[2,2]", "past.?????": "[B,2,P,4]"})
    assert shapes(found) == {
        "input_ids": "[2,2]", "attention_mask": "[2,2]", "past.key": "[1,2,3,4]", "past.value": "[B,2,P,4]",
    }  # fmt: skip


def test_a_session_and_valid_sizes_take_formulas() -> None:
    session = irshape.Session(DECODER)
    assert session.reshape(SHAPES, symbols={"P": "1..100"}).ok
    found = irshape.valid_sizes(DECODER, inputs=SHAPES)
    assert (str(found), list(found.symbols)) == ("every size", ["B", "S", "P"])
    assert found.admits(B=2, S=3, P=4)
    assert str(irshape.valid_sizes(DECODER, inputs={**SHAPES, "attention_mask": "[B,2*S]"})) == "P == S"


def test_a_formula_is_at_least_one() -> None:
    net = Net("ReLU(f32[?,?]) -> Result")
    found = irshape.valid_sizes(net.xml.encode(), inputs={"parameter_0": "[A,A-B]"})
    assert (found.admits(A=3, B=2), found.admits(A=3, B=3)) == (True, False)


def test_what_is_written_beside_an_input_is_read_back() -> None:
    written = irshape.infer(DECODER, inputs=SHAPES).xml()
    again = irshape.infer(written, weights=DECODER.with_suffix(".bin"))
    assert shapes(again)["attention_mask"] == "[B,S + P]"
    assert again.xml() == written


@pytest.mark.parametrize(
    ("inputs", "symbols", "message"),
    [
        ({"nope*": "[1]"}, {}, "no input matches 'nope*'; the model has 'input_ids', 'attention_mask', 'past.key', 'past.value'"),
        ({"input_ids": "[B,P-S]"}, {"P": "3", "S": "5"}, "the shape of 'input_ids': P - S on axis 1 is -2, and a size is from 0 to"),
        ({"input_ids": "[B,P//S]"}, {"S": "0"}, "the shape of 'input_ids': P//S on axis 1 divides by 0"),
        ({"input_ids": "[B,P+]"}, {}, "cannot read '[B,P+]' at character 6: a number or a symbol is missing"),
        ({"input_ids": "[B,P+S]"}, {"S": "S+1"}, "the symbol S cannot be S + 1, because the formula contains the symbol"),
    ],
)
def test_wrong_shapes_are_told(inputs: dict[str, str], symbols: dict[str, str], message: str) -> None:
    with pytest.raises(irshape.InputError) as caught:
        irshape.infer(DECODER, inputs=inputs, symbols=symbols)
    assert message in str(caught.value)
