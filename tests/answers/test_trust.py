"""What callers give by mistake, and sizes that formulas do not have, are said in plain words."""

from collections.abc import Callable
from typing import Any

import pytest

import irshape
from tests.fuzz.work import MADE, called, size
from tests.support.ir import Net

ATROUS, STATEFUL = "examples/atrous.xml", "examples/decoder_stateful.xml"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: irshape.infer(STATEFUL, inputs=[1, 16]), "shapes must be given by name"),
        (lambda: irshape.infer(STATEFUL, inputs={0: [1, 16]}), "not by 0"),  # type: ignore[dict-item]
        (lambda: irshape.infer(ATROUS, inputs={"image": [1, 3, 10**5000, 8]}), "a size is at least 0 and at most"),
        (lambda: irshape.infer(ATROUS, symbols={"H": None}), "a size is a number, a text or a range"),  # type: ignore[dict-item]
        (lambda: irshape.infer(ATROUS, symbols={"H": 10**5000}), "a size is at most 9223372036854775807"),
        (lambda: irshape.cost(ATROUS, near=5), "sizes must be given by name"),  # type: ignore[arg-type]
        (lambda: irshape.sizes(ATROUS).admits([5]), "sizes must be given by name"),  # type: ignore[arg-type]
        (lambda: irshape.sizes(ATROUS).nearest(H="5"), "the size of H must be an int"),  # type: ignore[arg-type]
        (lambda: irshape.explain(ATROUS, "mask", axis=10**5000), "the axis of layer 'mask' must be an int up to"),
    ],
)
def test_what_no_caller_should_give(ask: Callable[[], Any], said: str) -> None:
    with pytest.raises(irshape.InputError, match=said):
        ask()


def test_sizes_of_a_state_are_not_asked_for() -> None:
    sizes = irshape.sizes(STATEFUL)
    given = dict.fromkeys(sizes.symbols, 4)
    assert sizes.admits(given)
    assert sizes.nearest(given).above == given


def test_a_const_that_is_too_short_says_so() -> None:
    layer = irshape.edit(ATROUS)["stem/weights"].set(size=4)
    with pytest.raises(irshape.WeightsError, match="has not the 432 bytes of this type and shape"):
        _ = layer.data


def test_usual_sizes_do_not_divide_by_0() -> None:
    """`12 // (H - 128)` has no number where H is 128, so the cost is that of another usual size."""
    net = Net(f"{called('_h', size('f32[?]'))}\nDivide([12], Subtract(_h, [128])){MADE}")
    cost = irshape.cost(net.xml, weights=net.bin)
    assert 128 not in cost.near.values()
    assert cost.to_dict()["near"] == cost.near
