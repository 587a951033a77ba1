"""How the text of an attribute is read: the value, and the remark where OpenVINO reads more than the specification allows."""

from typing import Annotated, Any, Literal

import pytest

from irshape.ops.attribute import Attribute, Ge, Malformed, OneOf, Spelled, Stated, converter, spell
from irshape.shape.element_type import ElementType

Mode = Literal["max", "min"]

# An annotation, a text, its value, and the code of the remark.
READ: list[tuple[Any, str, Any, str | None]] = [
    (int, "3", 3, None),
    (int, " -3 ", -3, None),
    (int, "2.5", 2, "R101"),
    (int, "7x", 7, "R101"),
    (float, "1e-3", 0.001, None),
    (float, ".5", 0.5, None),
    (float, "0.5f", 0.5, "R101"),
    (float, "inf", float("inf"), None),
    (bool, "true", True, None),
    (bool, "0", False, None),
    (bool, "True", True, "R105"),
    (bool, "yes", False, "R102"),
    (str, " any text ", " any text ", None),
    (ElementType, "f32", ElementType.f32, None),
    (ElementType, "F32", ElementType.f32, "R105"),
    (ElementType, "undefined", ElementType.dynamic, "R105"),
    (Mode, "max", "max", None),
    (Mode, "MAX", "max", "R105"),
    (tuple[int, ...], "1, 2,3", (1, 2, 3), None),
    (tuple[int, ...], "1,2,", (1, 2), None),
    (tuple[int, ...], "", (), None),
    (tuple[int, ...], "1,2.5", (1, 2), "R101"),
    (tuple[float, ...], "0.5,2", (0.5, 2.0), None),
    (Annotated[int, Ge(1)], "1", 1, None),
]

# An annotation, a text that cannot be read as its type, and the code that says why.
REFUSED: list[tuple[Any, str, str]] = [
    (int, "two", "A102"),
    (int, "", "A102"),
    (int, "+3", "A102"),
    (int, "9223372036854775808", "A104"),
    (float, "one", "A102"),
    (float, "1e999", "A104"),
    (ElementType, "float", "A103"),
    (Mode, "mean", "A103"),
    (tuple[int, ...], "1,,2", "A102"),
    (Annotated[int, Ge(1)], "0", "A104"),
    (Annotated[ElementType, OneOf(ElementType.i32, ElementType.i64)], "u8", "A103"),
]


@pytest.mark.parametrize(("annotation", "text", "value", "remark"), READ)
def test_text_is_read(annotation: Any, text: str, value: Any, remark: str | None) -> None:
    assert converter(annotation)(text) == (value, remark)


@pytest.mark.parametrize(("annotation", "text", "code"), REFUSED)
def test_text_is_refused(annotation: Any, text: str, code: str) -> None:
    with pytest.raises(Malformed) as caught:
        converter(annotation)(text)
    assert caught.value.code == code


def test_an_annotation_that_is_no_attribute_type_is_an_error() -> None:
    with pytest.raises(TypeError, match="no attribute can be annotated"):
        converter(dict[str, int])


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (ElementType.f32, "f32"), ((1, 2), "1, 2"), (2.0, "2"), (None, "...")])
def test_a_value_is_spelled_as_openvino_writes_it(value: Any, text: str) -> None:
    assert spell(value) == text


def test_marks_of_an_annotation() -> None:
    attribute = Attribute("exclude_pad", Annotated[bool, Spelled("exclude-pad"), Stated], required=False, default=False)
    assert (attribute.spelling, attribute.stated) == ("exclude-pad", True)
