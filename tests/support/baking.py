"""Sizes that OpenVINO bakes into real models, asked to be open again; the original is the truth.

    python -m tests.support.baking FOLDER... [--table FILE]

OpenVINO reshapes a dynamic IR to numbers and folds its constants. irshape is asked for the sizes again, and the written model is compared
with the original at the recorded and at two other sizes.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import irshape
from tests.support.oracle import core

MODES = ("batch", "sizes", "shorter")
_SIDES = ((64, 96), (224, 224), (32, 32), (16, 16), (12, 12))
# Real numbers, and no activations that OpenVINO would quantise by the size of their groups beside compressed weights.
_HINT = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
_NEAR = 2e-3


class Verdict(NamedTuple):
    """What came of a wish: `refused`, `equal`, `wrong` or why it was not asked; `why` in words, and the number of mends."""

    file: str
    mode: str
    result: str
    why: str = ""
    mends: int = 0
    choose: str = ""


class Baked:
    """A dynamic IR whose sizes OpenVINO has made numbers, in a folder of its own. Raises `Unasked` if there is nothing to bake."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.core = core()
        self.path = path
        model = self.core.read_model(path)
        parameters = model.get_parameters()
        if model.get_variables() or not parameters:
            raise Unasked("state, or no inputs")
        self.asked: dict[str, list[int]] = {}
        for one in parameters:
            shape = one.get_partial_shape()
            if shape.rank.is_dynamic:
                raise Unasked("unranked")
            self.asked[one.friendly_name] = [size.get_length() if size.is_static else -1 for size in shape]
        if not any(-1 in shape for shape in self.asked.values()):
            raise Unasked("static")
        self.types = {one.friendly_name: np.dtype(one.get_element_type().to_dtype()) for one in parameters}
        self.truth = self.core.compile_model(path, "CPU", _HINT)
        self.static = folder / "static.xml"
        self.side = self._bake()

    def _bake(self) -> tuple[int, int]:
        """Write the static model with the first sizes that OpenVINO takes."""
        from openvino import save_model
        from openvino.passes import ConstantFolding, Manager

        for side in _SIDES:
            shapes = self.sized(1, side)
            try:
                model = self.core.read_model(self.path)
                model.reshape({one.output(0): shapes[one.friendly_name] for one in model.get_parameters()})
                manager = Manager()
                manager.register_pass(ConstantFolding())
                manager.run_passes(model)
                save_model(model, self.static, compress_to_fp16=False)
                self.run(self.core.compile_model(self.static, "CPU", _HINT), self.sample(shapes, 0))
            except RuntimeError:
                continue
            return side
        raise Unasked("no size")

    def sized(self, batch: int, side: Sequence[int]) -> dict[str, list[int]]:
        """Numbers for all open sizes."""
        return {
            name: [
                size if size >= 0 else batch if self.is_batch(name, axis) else self.number(name, axis, side)
                for axis, size in enumerate(shape)
            ]
            for name, shape in self.asked.items()
        }

    def is_batch(self, name: str, axis: int) -> bool:
        """Whether an open axis is taken for the batch."""
        return axis == 0 and len(self.asked[name]) > 1

    def number(self, name: str, axis: int, side: Sequence[int]) -> int:
        """The size of an open axis that is no batch."""
        symbol = self.symbol(name, axis)
        return 3 if symbol is None else side["HW".index(symbol)]

    def symbol(self, name: str, axis: int) -> str | None:
        """The symbol of an open axis that is no batch; None for channels."""
        rank = len(self.asked[name])
        return None if rank == 4 and axis == 1 else "H" if axis == max(rank - 2, 1) else "W"

    def wish(self, mode: str) -> tuple[dict[str, str], dict[str, str]]:
        """The shapes and the ranges of symbols that are asked for."""
        numbers = self.sized(1, self.side)
        shapes = {}
        for name, shape in self.asked.items():
            sizes = []
            for axis, size in enumerate(shape):
                symbol = "N" if self.is_batch(name, axis) else self.symbol(name, axis)
                is_open = size < 0 and symbol is not None and (symbol == "N") == (mode == "batch")
                sizes.append(symbol if is_open and symbol else str(numbers[name][axis]))
            shapes[name] = f"[{','.join(sizes)}]"
        if not any(symbol in text for text in shapes.values() for symbol in "NHW"):
            raise Unasked("nothing open")
        if mode == "shorter" and any(len(shape) != 2 for shape in self.asked.values()):
            raise Unasked("no sequence")
        return shapes, {"H": f"1..{self.side[0]}"} if mode == "shorter" else {}

    def sizes(self, mode: str) -> list[dict[str, list[int]]]:
        """The recorded sizes and two others."""
        first, second = self.side
        if mode == "batch":
            return [self.sized(1, self.side), self.sized(3, self.side)]
        others = (
            ((first // 2, second), (17 if first > 17 else 5, second))
            if mode == "shorter"
            else ((first * 2, second * 3), (first + 32, second + 64))
        )
        return [self.sized(1, self.side), *(self.sized(1, side) for side in others)]

    def sample(self, shapes: dict[str, list[int]], seed: int) -> list[Any]:
        """Inputs of these shapes, in the order of the model."""
        chance = np.random.default_rng(seed)
        return [
            chance.standard_normal(shape).astype(self.types[name])
            if self.types[name].kind == "f"
            else chance.integers(0, 2, shape).astype(self.types[name])
            for name, shape in shapes.items()
        ]

    def run(self, compiled: Any, data: list[Any]) -> list[Any]:
        """The outputs."""
        request = compiled.create_infer_request()
        request.infer(dict(enumerate(data)))
        return [request.get_output_tensor(index).data.copy() for index in range(len(compiled.outputs))]

    def compared(self, path: Path, mode: str) -> str:
        """`equal`, or how a model differs from the original."""
        try:
            new = self.core.compile_model(path, "CPU", _HINT)
        except RuntimeError as error:
            return f"OpenVINO: {str(error).strip().splitlines()[-1][:140]}"
        proved = 0
        for seed, shapes in enumerate(self.sizes(mode)):
            data = self.sample(shapes, seed)
            try:
                want = self.run(self.truth, data)
            except RuntimeError:
                continue  # the original has no answer
            try:
                got = self.run(new, data)
            except RuntimeError as error:
                return f"OpenVINO: {str(error).strip().splitlines()[-1][:140]}"
            if difference := _difference(got, want):
                return f"{difference} at {shapes}"
            proved += 1
        return "equal" if proved > 1 else "unknown"


class Unasked(Exception):
    """Nothing is asked of this file."""


def _difference(got: list[Any], want: list[Any]) -> str:
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        if one.shape != other.shape:
            return f"output {number} is {one.shape} instead of {other.shape}"
        if other.dtype.kind == "f" and other.size:
            is_finite = np.isfinite(other)
            scale = max(1e-6, float(np.abs(np.where(is_finite, other, 0)).max()))
            distance = float(np.abs(np.where(is_finite, one.astype("f8") - other, 0)).max()) / scale
            if not distance < _NEAR:
                return f"output {number} differs by {distance:.2g}"
        elif not np.array_equal(one, other):
            return f"output {number} differs"
    return ""


def judged(path: Path, modes: Sequence[str] = MODES) -> Iterator[Verdict]:
    """The verdicts on the wishes for a file."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            baked = Baked(path, Path(folder))
        except (Unasked, RuntimeError) as error:
            yield Verdict(str(path), "", "not asked", str(error)[:100])
            return
        for mode in modes:
            try:
                shapes, symbols = baked.wish(mode)
            except Unasked as error:
                yield Verdict(str(path), mode, "not asked", str(error))
                continue
            yield wished(baked, mode, shapes, symbols)


def wished(baked: Baked, mode: str, shapes: dict[str, str], symbols: dict[str, str], choose: str | None = None) -> Verdict:
    """The verdict on a wish: first as a person asks it, then with the first way if nothing decides."""
    found = irshape.reshape(irshape.read(baked.static), shapes, symbols=symbols, rewrite=True, choose=choose)  # type: ignore[arg-type]
    if not found.ok:
        first = next(one for one in found.diagnostics if one.severity == "error")
        verdict = Verdict(str(baked.path), mode, "refused", f"{first.code} {first.message}")
        if first.code in ("S208", "P111") and choose is None:
            verdict = verdict._replace(result="not decided", choose=" | ".join(wished(baked, mode, shapes, symbols, "first")[2:4]))
        return verdict
    out = baked.static.with_name("out.xml")
    found.write(out, force=True)
    result = baked.compared(out, mode)
    mends = found.to_dict().get("mends", [])
    return Verdict(str(baked.path), mode, result if result in ("equal", "unknown") else "wrong", result, len(mends))


def verdicts(paths: Sequence[Path], modes: Sequence[str] = MODES, seconds: int = 240) -> Iterator[Verdict]:
    """The verdicts on files, each file in a process of its own."""
    for path in paths:
        command = [sys.executable, "-m", "tests.support.baking", "--one", str(path), *modes]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
            output, end = done.stdout, done.stderr.strip()[-300:] if done.returncode else ""
        except subprocess.TimeoutExpired as error:
            output, end = (error.stdout or b"").decode(), "time"
        rows = [Verdict(*json.loads(line[4:])) for line in output.splitlines() if line.startswith("ROW ")]
        yield from rows
        if end:
            yield Verdict(str(path), modes[min(len(rows), len(modes) - 1)], "time" if end == "time" else "died", end)


def table(found: Sequence[Verdict]) -> str:
    """The results by mode."""
    kinds = ("equal", "wrong", "not decided", "refused", "unknown", "died", "time")
    counts = Counter((one.mode, one.result) for one in found)
    rows = [f"{'asked':10}" + "".join(f"{kind:>13}" for kind in ("wishes", *kinds))]
    for mode in dict.fromkeys(one.mode for one in found):
        asked = sum(one.mode == mode and one.result != "not asked" for one in found)
        rows.append(f"{mode:10}{asked:>13}" + "".join(f"{counts[mode, kind]:>13}" for kind in kinds))
    return "\n".join(rows)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        for verdict in judged(Path(sys.argv[2]), sys.argv[3:]):
            print("ROW " + json.dumps(verdict), flush=True)
    else:
        files = [one for given in sys.argv[1:] for one in (sorted(Path(given).glob("*.xml")) if Path(given).is_dir() else [Path(given)])]
        everything = []
        for verdict in verdicts([one for one in files if one.stat().st_size < 3_000_000]):
            if verdict.result != "not asked":
                print(json.dumps(verdict), flush=True)
                everything.append(verdict)
        print(table(everything), file=sys.stderr)
