"""The numbers that OpenVINO's reader accepts, which both readers take from one place."""

import pytest

from irshape.xml.lexical import own_offset, to_int64, whole_number

# Text, its value as std::stoll reads all of it, and the offset that a Const keeps for itself.
TEXTS = [
    ("0", 0, 0),
    ("7", 7, 7),
    ("007", 7, None),
    ("+7", 7, None),
    ("-7", -7, None),
    (" \v7", 7, None),
    ("7 ", None, None),
    ("", None, None),
    ("1.0", None, None),
    ("1_0", None, None),
    ("\uff11", None, None),
    ("999999999999999999", 999999999999999999, 999999999999999999),
    ("9223372036854775807", 9223372036854775807, None),
    ("9223372036854775808", None, None),
    ("-9223372036854775808", -9223372036854775808, None),
    ("-9223372036854775809", None, None),
    ("0" * 5000 + "7", 7, None),
    ("7" * 5000, None, None),
]


@pytest.mark.parametrize(("text", "value", "offset"), TEXTS)
def test_numbers_of_an_attribute(text: str, value: int | None, offset: int | None) -> None:
    assert whole_number(text) == value
    assert own_offset(text) == offset


def test_a_number_of_any_length_is_read_in_linear_time() -> None:
    assert to_int64("-" + "0" * 100_000 + "5") == -5
    assert to_int64("9" * 100_000) is None
