"""Exports of PyTorch, by trace and by torch.export, asked for a batch and for other sizes: equal to PyTorch, or refused for a known reason.

`tools/exports.py` makes the files. The truth is the static model itself for single samples of a batch, and PyTorch for other sizes.
"""

from ast import literal_eval
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irshape
from tests.support.oracle import core
from tests.support.places import ROOT, unpack

GUIDE = ROOT / "docs" / "guides" / "dynamic.md"
EQUAL = "rewritten"
# Why a wish is refused: the code, and a part of the message.
TABLE = ("S207", "learned or computed for this size", "a table was made for one size")
WAYS = ("S208", " may give ", "two ways fit (S208)")
UNROLLED = ("S207", "Squeeze", "each step is a layer of its own")
# What comes of the wishes for a batch, for other sizes, and for lengths up to the recorded one.
OUTCOMES: dict[str, dict[str, str | tuple[str, str, str]]] = {
    "bert.export": {"batch": EQUAL, "sizes": TABLE, "shorter": EQUAL},
    "bert.trace": {"batch": EQUAL, "sizes": EQUAL, "shorter": EQUAL},
    "detr.export": {"batch": EQUAL, "sizes": TABLE},
    "detr.trace": {"batch": EQUAL, "sizes": EQUAL},
    "gpt2.export": {"batch": EQUAL, "sizes": TABLE, "shorter": EQUAL},
    "lstm.export": {"batch": EQUAL, "sizes": UNROLLED},
    "lstm.trace": {"batch": EQUAL, "sizes": EQUAL},
    "mobilevit.export": {"batch": EQUAL, "sizes": WAYS},
    "mobilevit.trace": {"batch": EQUAL, "sizes": EQUAL},
    "segformer.export": {"batch": EQUAL, "sizes": WAYS},
    "segformer.trace": {"batch": EQUAL, "sizes": EQUAL},
    "swin.export": {"batch": EQUAL, "sizes": TABLE},
    "swin.trace": {"batch": EQUAL, "sizes": EQUAL},
    "t5.export": {"batch": EQUAL, "sizes": TABLE, "shorter": EQUAL},
    "t5.trace": {"batch": EQUAL, "sizes": EQUAL, "shorter": EQUAL},
    "unet.export": {"batch": EQUAL, "sizes": EQUAL},
    "unet.trace": {"batch": EQUAL, "sizes": EQUAL},
    "vit.export": {"batch": EQUAL, "sizes": TABLE},
    "vit.trace": {"batch": EQUAL, "sizes": TABLE},
    "yolo.export": {"batch": EQUAL, "sizes": EQUAL},
    "yolo.trace": {"batch": EQUAL, "sizes": EQUAL},
}


@pytest.fixture(scope="session")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files."""
    folder = tmp_path_factory.mktemp("exports")
    unpack("exports.tar.xz", folder)
    return folder


class Export:
    """A static IR beside what PyTorch computes at other sizes."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.xml"
        self.truth = np.load(folder / f"{name.partition('.')[0]}.npz")
        shape, self.kind = str(self.truth["input"]).split()
        self.axes = shape.strip("[]").split(",")
        self.values: list[dict[str, int]] = literal_eval(str(self.truth["sizes"]))
        self.core = core()

    @cached_property
    def original(self) -> Any:
        return self.compiled(self.path)

    def compiled(self, path: Path) -> Any:
        return self.core.compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def sample(self, seed: int, values: dict[str, int], batch: int = 1) -> Any:
        chance = np.random.default_rng(seed)
        shape = [batch, *[int(values.get(one, one)) for one in self.axes[1:]]]
        return chance.integers(1, 40, shape) if self.kind == "i8" else chance.standard_normal(shape).astype("f4")

    def shape(self, wish: str) -> str:
        """The shape that a wish asks for."""
        sizes = [str(self.values[0].get(one, one)) for one in self.axes]
        return f"[{','.join(['N', *sizes[1:]] if wish == 'batch' else self.axes)}]"

    def wished(self, wish: str) -> str:
        """What comes of a wish: EQUAL, the code of the first error, or the difference."""
        symbols = {"S": f"1..{self.values[0].get('S')}"} if wish == "shorter" else None
        found = irshape.reshape(self.path, {"x": self.shape(wish)}, symbols=symbols, rewrite=True)
        if not found.ok:
            first = next(one for one in found.diagnostics if one.severity == "error")
            return f"{first.code} {first.message}"
        out = self.path.parent / wish / self.path.name
        out.parent.mkdir(exist_ok=True)
        found.write(out, force=True)
        return (self.stacked if wish == "batch" else self.resized)(self.compiled(out)) or EQUAL

    def stacked(self, new: Any) -> str:
        """How stacks of samples differ from single samples."""
        for batch in (1, 3, 4):
            x = self.sample(batch, self.values[0], batch)
            alone = np.concatenate([self.original([one[None]])[0] for one in x])
            if difference := differing(new([x])[0], alone):
                return f"{difference} for a batch of {batch}"
        return ""

    def resized(self, new: Any) -> str:
        """How other sizes differ from PyTorch."""
        x = self.sample(0, self.values[0])
        if difference := differing(new([x])[0], self.original([x])[0]):
            return f"{difference} at the recorded sizes"
        for seed in (1, 2):
            got, want = new([self.sample(seed, self.values[seed])])[0], self.truth[str(seed)]
            assert got.shape == tuple(self.truth[f"shape_{seed}"])
            if difference := differing(got.reshape(-1)[:: max(1, got.size // 256)], want):
                return f"{difference} at {self.values[seed]}"
        return ""


export = cache(Export)  # the wishes for one share the compiled model


def differing(got: Any, want: Any) -> str:
    if got.shape != want.shape:
        return f"gives {got.shape} instead of {want.shape}"
    distance = float(np.abs(got - want).max()) / max(1e-6, float(np.abs(want).max()))
    return "" if distance < 1e-3 else f"differs by {distance:.2g}"


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize(("name", "wish"), [(name, wish) for name, own in OUTCOMES.items() for wish in own])
def test_a_wish_is_granted_or_refused_as_listed(name: str, wish: str, exports: Path) -> None:
    found, expected = export(exports, name).wished(wish), OUTCOMES[name][wish]
    if isinstance(expected, str):
        assert found == expected
    else:
        assert found.startswith(expected[0]) and expected[1] in found


def test_every_export_is_asked(exports: Path) -> None:
    assert sorted(OUTCOMES) == sorted(path.stem for path in exports.glob("*.xml"))


def test_the_guide_has_the_table() -> None:
    rows = []
    for name, own in OUTCOMES.items():
        cells = [one if isinstance(one, str) else one[2] for one in (own.get(wish, "") for wish in ("batch", "sizes", "shorter"))]
        rows.append(f"| {name.replace('.', ', ')} | {' | '.join(cells)} |".replace("|  |", "| |"))
    assert "\n".join(rows) in GUIDE.read_text()
