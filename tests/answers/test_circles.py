"""The order in which a file writes its layers decides no answer: shuffled models give those of the model, and are the same model."""

import re
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.shape import dim
from tests.support.ir import Net
from tests.support.irs import PATHS, named
from tests.support.places import EXAMPLES
from tests.support.shuffled import plain, shuffled
from tests.support.verbs import VERBS, answers

OURS = [path for path in sorted(EXAMPLES.glob("*.xml")) if b"<net" in path.read_bytes()]  # the others are parts of a specification
FILES = [path for path in (*PATHS, *OURS) if path.stat().st_size < 300_000]


def compared(path: Path, *seeds: int) -> None:
    source, binary = path.read_bytes(), path.with_suffix(".bin")
    weights: Any = binary.read_bytes() if binary.exists() else False
    before = plain(source)
    expected, model = answers(before, weights, VERBS), irshape.read(before, weights=weights)
    for seed in seeds:
        after = shuffled(source, seed)
        found = answers(after, weights, VERBS if seed == seeds[0] else VERBS.keys() - {"reduce"})  # which asks of a hundred models
        assert found == {name: expected[name] for name in found}
        assert irshape.diff(model, irshape.read(after, weights=weights)).is_same


@pytest.mark.skipif(str(dim.__file__).endswith(".so"), reason="a compiled class has the hash that it has")
def test_no_place_in_memory_changes_a_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes are hashed by their places, so what goes through a set of them has an order of its own in every run."""
    pools = [f"MaxPool(strides={by}, pads_begin=0, pads_end=0, kernel={of}, rounding_type=floor)" for by, of in ((2, 1), (2, 2), (5, 1))]
    net = Net("\n".join(f"""
        f32[2,3,?] -> _z: {pools[0]}
        _z -> {pools[1]} -> {pools[1]} -> Tile([1,1,4]) -> Concat(_, _z, axis=1) -> Result
        _z -> Reshape([-1,4], special_zero=false) -> Result
        _z -> Reshape([1,1,-1], special_zero=false) -> {pools[2]} -> ReLU -> ReduceSum([2], keep_dims=true) -> Result
    """ for _ in range(6)))  # fmt: skip
    found = set()
    for factor in (1, 31, 7_919, 1_000_003):
        monkeypatch.setattr(dim.Dim, "__hash__", lambda self, factor=factor: id(self) // 16 * factor % (2**61 - 1))
        found.add(str(irshape.cost(net.xml, weights=net.bin).operations))
    assert len(found) == 1


def test_no_order_of_faults_changes_a_page() -> None:
    """Two layers that nothing reads, in either order: the page explains them in its own."""
    net = Net("a: f32[?] -> ReLU -> Result\n" + "".join(f"f32[?,{size}] -> ReLU\n" for size in range(2, 9)))
    before = answers(plain(net.xml.encode()), net.bin, ["view"])
    assert all(answers(shuffled(net.xml.encode(), seed), net.bin, ["view"]) == before for seed in range(4))


@pytest.mark.parametrize("others", ["", "x -> Result"], ids=["nothing reads it", "a Result reads it"])
def test_an_input_without_an_output_has_the_answers_of_no_other_layer(others: str) -> None:
    """Its symbols and its bytes were those of the layer that a file writes behind it."""
    conv = 'Convolution(f32=1.0[2,3,3,3], strides="1,1", dilations="1,1", pads_begin="1,1", pads_end="1,1", auto_pad=explicit)'
    net = Net(f"x: f32[?,3,?,?]\n{others}\nf32[...] -> {conv} -> Result")
    source = re.sub(r"<output>.*?</output>", "<output/>", net.xml, count=1, flags=re.S).encode()
    found = [answers(shuffled(source, seed), net.bin, VERBS) for seed in range(6)]
    assert all(one == found[0] for one in found)
    assert [one["bytes"] for one in found[0]["cost"]["inputs"]] == [None, None]


@pytest.mark.parametrize("path", FILES[::9], ids=named)
def test_no_order_changes_an_answer(path: Path) -> None:
    compared(path, 0)


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_order_of_several_changes_an_answer(path: Path) -> None:
    compared(path, 1, 2, 3)
