"""What a cost takes: layers that share facts are counted once, and what does not fit the limit `work` is said."""

import pytest

import irshape
from irshape import verbs
from irshape.answers.cost import counting
from irshape.answers.cost.cost import Cost
from irshape.answers.cost.counting import UNFINISHED
from irshape.report.text import number_text
from tests.support.ir import Net
from tests.support.places import EXAMPLES
from tests.support.schemas import validator


def cost(net: Net, work: int | None = None) -> Cost:
    limits = irshape.Limits() if work is None else irshape.Limits(work=work)
    return verbs.cost(verbs.read(net.xml.encode(), limits=limits), weights=net.bin)


def products(count: int) -> Net:
    """Matrices with sizes of their own, multiplied one after another."""
    return Net("f32[?,?]" + " -> MatMul(f32[?,?])" * count + " -> Result")


def test_what_does_not_fit_is_said_with_its_layer() -> None:
    found = cost(products(60), 1_200)
    [note] = [one for one in found.diagnostics if "the cost is that of the layers before this one" in one.message]
    assert note.code == "N106"
    left_out = [layer for layer in found.layers if layer.uncounted == UNFINISHED]
    counted = [layer for layer in found.layers if layer.uncounted is None]
    assert counted
    assert left_out
    assert note.where.layer_id == left_out[0].node.key
    validator("cost").validate(found.to_dict())
    assert not [one for one in cost(products(60)).diagnostics if "cost" in one.message]


def test_layers_with_equal_facts_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    product = counting.product
    monkeypatch.setattr(counting, "product", lambda shape: asked.append(shape) or product(shape))
    net = Net("f32[?,?,?]" + " -> Add(_, _)" * 50 + " -> Result")
    assert len(cost(net).layers) == 50
    assert len(asked) == 1


def test_when_the_peak_moves_is_searched_within_the_limit() -> None:
    found = cost(products(40), 20_000)
    assert [found.stretches(symbol) for symbol in found.symbols][-1] == []
    notes = [one.message for one in found.diagnostics if "the peak is in another layer" in one.message]
    assert len(notes) == 1


def test_a_chain_of_windows_has_a_formula() -> None:
    """Formulas that are nested a thousand levels deep are read without recursion."""
    pool = "MaxPool(strides=1, pads_begin=0, pads_end=0, kernel=2, rounding_type=floor)"
    net = Net(f"f32[1,1,?]{f' -> {pool}' * 700} -> Result")
    found = cost(net)
    assert isinstance(found.operations.leading, str)  # type: ignore[union-attr]


@pytest.mark.parametrize(("number", "text"), [(9_999, "9999"), (12_345, "12.35 k"), (10**18, "1000 P"), (123 * 10**500, "1.230e+502")])
def test_numbers_of_any_size_are_written(number: int, text: str) -> None:
    assert number_text(number) == text


def test_an_intensity_beyond_a_float_is_an_error_of_the_sizes() -> None:
    net = Net("MatMul(f32[?,?], f32[?,?]) -> Result")
    with pytest.raises(irshape.InputError, match="give smaller ones with --near"):
        verbs.cost(net.xml.encode(), weights=net.bin, near=dict.fromkeys("BTL", 10**400)).intensity  # noqa: B018


@pytest.mark.parametrize("axis", [5, -4])
def test_parts_along_an_axis_that_is_none_are_not_counted(axis: int) -> None:
    """The file has an error, which the costs of its other layers stand beside."""
    path = EXAMPLES / "sums.xml"
    sliced = path.read_text().replace('put axis="1"', f'put axis="{axis}"')
    found = verbs.cost(sliced.encode(), weights=path.with_suffix(".bin"))
    assert any(one.severity == "error" for one in found.diagnostics)
