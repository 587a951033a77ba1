"""Real numbers that are evenly spaced in two exports: the step follows from the size."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import irshape
from tests.reshaping.test_granted import asked, errors
from tests.support.ir import Net
from tests.support.oracle import core

Row = Callable[[int], NDArray[np.float32]]


def _net(row: Row, count: int) -> Net:
    """Adds a row of numbers to an input of so many elements."""
    return Net(f"f32[1,{count}] -> Add(f32={row(count).tolist()}) -> Result")


def _image(grid: Callable[[int, int], NDArray[np.float32]], height: int, width: int) -> Net:
    """Adds a grid of numbers for each place to an image of two channels, whose places are one axis."""
    table = grid(height, width).reshape(1, height * width, 2).tolist()
    return Net(f"f32[1,{height},{width},2] -> Reshape([1,{height * width},2], special_zero=false) -> Add(f32={table}) -> Result")


def _centres(height: int, width: int) -> NDArray[np.float32]:
    y, x = np.indices((height, width), dtype=np.float32)
    return np.stack([(x + 0.5) / width, (y + 0.5) / height], -1).astype(np.float32)


def _corners(height: int, width: int) -> NDArray[np.float32]:
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    return np.stack([x, y], -1).astype(np.float32)


ROWS: dict[str, Row] = {
    "from -1 to 1": lambda n: np.linspace(-1, 1, n, dtype=np.float32),
    "from 0 to 1": lambda n: (np.arange(n) / (n - 1)).astype(np.float32),
    "parts of the whole": lambda n: (np.arange(n) / n).astype(np.float32),
    "the centres of parts": lambda n: ((np.arange(n) + 0.5) / n).astype(np.float32),
    "centres from -1 to 1": lambda n: ((2 * np.arange(n) + 1 - n) / n).astype(np.float32),
    "steps of -0.25": lambda n: (np.arange(n) * -0.25).astype(np.float32),
    "steps of 0.3 from 7 on": lambda n: (np.arange(n) * 0.3 + 7).astype(np.float32),
}


def _like(net: Net) -> irshape.Model:
    return irshape.read(net.xml.encode(), weights=net.bin)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("recorded", [8, 11])
def test_a_row_of_two_exports_goes_on(name: str, recorded: int, tmp_path: Path) -> None:
    row = ROWS[name]
    found = asked(_net(row, recorded), "[1,S]", rewrite=True, like=_like(_net(row, 20)))
    assert errors(found) == []
    found.write(tmp_path / "new.xml")
    model = core().compile_model(tmp_path / "new.xml", "CPU")
    for size in (2, 3, 15, 31, 64):
        assert np.allclose(model([np.zeros((1, size), np.float32)])[0], row(size), atol=1e-6), size


@pytest.mark.oracle
@pytest.mark.parametrize("grid", [_centres, _corners])
def test_a_grid_of_two_exports_goes_on(grid: Callable[[int, int], NDArray[np.float32]], tmp_path: Path) -> None:
    found = asked(_image(grid, 4, 6), "[1,H,W,2]", rewrite=True, like=_like(_image(grid, 7, 5)))
    assert errors(found) == []
    found.write(tmp_path / "new.xml")
    model = core().compile_model(tmp_path / "new.xml", "CPU")
    for height, width in ((2, 3), (8, 16), (13, 5)):
        given = np.zeros((1, height, width, 2), np.float32)
        assert np.allclose(model([given])[0].reshape(-1), grid(height, width).reshape(-1), atol=1e-6)


@pytest.mark.parametrize(("row", "words"), [
    (ROWS["from -1 to 1"], "evenly spaced, in steps that may depend on the size"),
    (ROWS["steps of -0.25"], "they count in steps of -0.25, which may depend on the size"),
    (lambda n: np.float32(0.9) ** np.arange(n), "learned or computed for this size"),
])  # fmt: skip
def test_one_export_does_not_tell_how_a_row_goes_on(row: Row, words: str) -> None:
    [error] = errors(asked(_net(row, 8), "[1,S]", rewrite=True))
    assert error.startswith("S207") and words in error


@pytest.mark.parametrize(("here", "there"), [
    (np.arange(8), np.arange(20) * 2),  # a count in each export, but not the same one
    (np.arange(8) * -0.25, np.arange(20) * -0.5),
    (np.linspace(-1, 1, 8), np.linspace(-1, 2, 20)),
    (np.linspace(-1, 1, 8), np.sin(np.arange(20))),
    (np.linspace(0, 1, 8) + 1e-4 * np.arange(8) ** 2, np.linspace(0, 1, 20)),
    (np.ones(8), np.full(20, 2.0)),
])  # fmt: skip
def test_rows_that_two_exports_have_otherwise_are_refused(here: NDArray[np.float32], there: NDArray[np.float32]) -> None:
    one, other = (_net(lambda n, row=row: row.astype(np.float32), len(row)) for row in (here, there))  # type: ignore[misc]
    assert [error.partition(" ")[0] for error in errors(asked(one, "[1,S]", rewrite=True, like=_like(other)))] == ["S207"]


@pytest.mark.oracle
def test_a_grid_that_two_images_sample_follows_the_image(tmp_path: Path) -> None:
    """A spatial transformer samples as many places as the image has."""

    def net(height: int, width: int) -> Net:
        grid = _corners(height, width)[None].tolist()
        return Net(f"GridSample-9(f32[1,1,{height},{width}], f32={grid}, align_corners=true) -> Result")

    found = asked(net(4, 6), "[1,1,H,W]", rewrite=True, like=_like(net(7, 5)))
    assert errors(found) == []
    found.write(tmp_path / "new.xml")
    image = np.random.default_rng(1).random((1, 1, 9, 12)).astype(np.float32)
    assert np.allclose(core().compile_model(tmp_path / "new.xml", "CPU")([image])[0], image, atol=1e-5)


def test_waves_of_two_exports_may_be_rounded_otherwise() -> None:
    """Each export computes its table of positions in its own order of operations."""

    def net(count: int, type_: type[np.floating]) -> Net:
        phases = np.arange(count, dtype=type_)[:, None] / np.array([1, 10, 100, 1000], type_)
        table = np.concatenate([np.sin(phases), np.cos(phases)], 1).astype(np.float32)
        return Net(f"Add(f32[{count},8], f32={table.tolist()}) -> Result")

    assert errors(asked(net(6, np.float32), "[S,8]", rewrite=True, like=_like(net(40, np.float64)))) == []


def _masked(length: int, past: int) -> Net:
    """Adds a mask that hides what lies ahead of each of some tokens, behind those of a cache."""
    mask = np.triu(np.full((length, past + length), -1e4, np.float32), past + 1)
    return Net(f"f32[{length},{past}] -> _all: Concat(f32[{length},{length}], axis=1)\nAdd(_all, f32={mask.tolist()}) -> Result")


def test_a_diagonal_may_move_with_the_axis_that_grows() -> None:
    """The first elements would hide other tokens, so irshape does not offer them; a second export tells the diagonal."""
    sizes = "[4,P]"
    refused = asked(_masked(4, 6), sizes, rewrite=True)
    [error] = refused.errors
    assert "the diagonal at which they change may depend on the size" in error.message
    assert "--like" in str(error.hint) and "first elements" not in str(error.hint)
    assert errors(asked(_masked(4, 6), sizes, rewrite=True, like=_like(_masked(4, 9)))) == []


@pytest.mark.oracle
def test_a_diagonal_of_two_exports_ends_in_the_corner(tmp_path: Path) -> None:
    found = asked(_masked(4, 6), "[4,P]", rewrite=True, like=_like(_masked(4, 9)))
    found.write(tmp_path / "new.xml")
    model = core().compile_model(tmp_path / "new.xml", "CPU")
    for past in (1, 3, 20):
        hidden = model([np.zeros((4, past), np.float32), np.zeros((4, 4), np.float32)])[0]
        assert np.array_equal(hidden, np.triu(np.full((4, past + 4), -1e4, np.float32), past + 1)), past


def test_elements_that_a_rule_follows_in_one_export_only_are_the_same_number() -> None:
    """8 is the recorded size, and the number that both exports have."""
    text = "f32[1,{}] -> Divide(f32=[[8.0]]) -> Result"
    assert errors(asked(Net(text.format(8)), "[N,S]", rewrite=True, like=_like(Net(text.format(12))))) == []


@pytest.mark.parametrize("row", [lambda n: np.hanning(n), lambda n: np.hanning(n + 1)[:n], lambda n: np.bartlett(n)])
def test_the_first_elements_of_a_window_do_not_serve(row: Row) -> None:
    [error] = asked(_net(row, 16), "[1,S]", rewrite=True).errors
    assert "learned or computed" in error.message and "first elements" not in str(error.hint)
    [error] = asked(_net(row, 16), "[1,S]", rewrite=True, symbols={"S": "2..16"}).errors
    assert "learned or computed" in error.message


def test_the_first_elements_do_not_serve_where_a_second_export_begins_with_others() -> None:
    """Two rows of positions behind caches of other lengths."""
    rows = np.random.default_rng(5).random(40).astype(np.float32)
    one, alike, other = (_net(lambda n, first=first: rows[first : first + n], count) for first, count in ((0, 16), (0, 12), (4, 12)))  # type: ignore[misc]
    wish = {"rewrite": True, "symbols": {"S": "2..16"}}
    assert errors(asked(one, "[1,S]", **wish)) == errors(asked(one, "[1,S]", **wish, like=_like(alike))) == []
    assert [error.partition(" ")[0] for error in errors(asked(one, "[1,S]", **wish, like=_like(other)))] == ["S207"]


@pytest.mark.filterwarnings("error")
def test_infinite_elements_are_compared_in_silence() -> None:
    mask = "-Infinity, 0.0, 0.0, -Infinity, -Infinity, 0.0, 0.0, 0.0"
    [error] = errors(asked(Net(f"f32[1,8] -> Add(f32=[{mask}]) -> Result"), "[1,S]", rewrite=True))
    assert error.startswith("S207") and "learned or computed" in error
