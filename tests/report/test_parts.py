"""Named parts: what is cut is short enough, and says the same with the names put back."""

import pytest

from irshape.answers.wording import Parts, spoken, where

LONG = "((H + 7)//8)*((W + 7)//8) + ((H + 15)//16)*((W + 15)//16) + min((H + 7)//8, (W + 7)//8) >= (H + 7)//8"
TEXTS = ["H >= 3", LONG, f"max({LONG.partition(' >=')[0]}, 1) == 4", "a" * 300]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("most", [20, 60, 100])
def test_the_parts_put_back_give_the_text(text: str, most: int) -> None:
    parts = Parts(most)
    cut = parts.cut(text)
    assert len(cut) <= max(len(text), most)
    for name, part in reversed(parts.found.items()):
        cut = cut.replace(name, part)
    assert cut == text


def test_equal_parts_of_several_texts_have_one_name() -> None:
    parts = Parts(30)
    first, second = parts.cut("((H + 7)//8)*((W + 7)//8) == 4*B"), parts.cut("((H + 7)//8)*((W + 7)//8) == 8*B")
    assert first.split("*")[0] == second.split("*")[0] == "e0"
    assert parts.found["e0"] in ("((H + 7)//8)", "(H + 7)//8", "(H + 7)")
    assert Parts(40).cut("H >= 3") == "H >= 3"
    assert parts.cut("(H + 7)//8 >= 2") == "(H + 7)//8 >= 2"
    assert not any("((" in "".join(map(str, line)) and "*" not in str(line[-1]) for line in where(parts))


def test_sizes_that_broadcast_are_said_in_words() -> None:
    assert spoken("H == W or 1 in (H, W)") == "H == W, or one is 1"
    assert spoken("H <= 8 or 16 <= H <= 24") == "H <= 8 or 16 <= H <= 24"
