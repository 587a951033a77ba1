"""`python -m benchmarks.causes MODELS`: whether the first line of a report names the place of a single edit.

Draws models and edits by a seed: a folder, a model in it, a kind of edit. Edits without effect are left out: OpenVINO accepts the edited
model and infers the shapes and types of the original for every layer that is left. OpenVINO does not read the dims and precisions that a
file records, so every edit of them counts. Models are left out in which irshape or OpenVINO finds a fault before the edit.

The place of an edit is a layer: the one that was edited, the Consts that hold edited bytes, the layer at the end of an edge. A line names
it if the diagnostic is in this layer, or if its message, its hint or a related place names the layer. The edit is hidden if the safe fixes
leave a file in which no line names the place, and the original is not restored.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from lxml import etree

import irshape
from benchmarks.edits import KINDS, Edit, Source, edits

# Larger files are left out, and so are models of which one edit takes minutes.
_MOST_BYTES: Final = 3_000_000
_HALVES: Final = 2


class Found(NamedTuple):
    """What came of one edit.

    `first` and `any` say whether the first line or any line names its place, `lines` is the number of lines, `is_hidden` and
    `is_restored` tell what the safe fixes made of it, `is_ok` whether irshape finds no error. `is_refused` and `is_named` are OpenVINO's:
    whether it refuses the file, and with a message that names the place.
    """

    model: str
    kind: str
    text: str
    places: list[tuple[str, str]]
    first: bool
    any: bool
    lines: int
    is_hidden: bool
    is_restored: bool
    is_ok: bool
    is_refused: bool
    is_named: bool
    report: list[str]


def names(text: str, places: Sequence[tuple[str, str]]) -> bool:
    """Whether a text names one of these layers."""
    return any(name and re.search(rf"(?<![\w/.]){re.escape(name)}(?![\w/])", text) for _, name in places)


def is_about(diagnostic: Any, places: Sequence[tuple[str, str]]) -> bool:
    """Whether a diagnostic is in one of these layers or names one."""
    wheres = (diagnostic.where, *diagnostic.related)
    return any((where.layer_id, where.layer_name or "") in places for where in wheres) or names(
        f"{diagnostic.message} {diagnostic.hint or ''}", places
    )


def listed(inference: Any) -> list[Any]:
    """The diagnostics of a report that are no consequences, without notes."""
    return [one for one in inference.diagnostics if getattr(one, "caused_by", None) is None and one.severity != "note"]


class OpenVINO:
    """OpenVINO in a process of its own, because some edits end the process that reads the file."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def read(self, xml: str, weights: str) -> tuple[str, dict[str, Any]]:
        """Why OpenVINO refuses a model, and what it infers if it does not: the types and shapes of outputs by the name of the layer."""
        try:
            self._ours.send((xml, weights))
            answer: tuple[str, dict[str, Any]] = self._ours.recv()
        except (EOFError, OSError):
            self._process.join()
            self._start()
            return "the process ended", {}
        return answer

    def close(self) -> None:
        """End the process."""
        self._ours.close()
        self._process.join(5)


def _serve(pipe: Any) -> None:
    """Read models until the pipe is closed."""
    import openvino

    core = openvino.Core()
    while True:
        try:
            xml, weights = pipe.recv()
        except EOFError:
            return
        try:
            model = core.read_model(xml, weights)
            facts: dict[str, list[tuple[str, str]]] = {}
            for op in model.get_ops():
                own = facts.setdefault(op.get_friendly_name(), [])
                own += [(str(port.get_element_type()), str(port.get_partial_shape())) for port in op.outputs()]
            del model
        except RuntimeError as error:
            pipe.send((str(error) or "refused", {}))
            continue
        pipe.send(("", facts))


class Benchmark:
    """Edits, and what irshape and OpenVINO say of them. `folder` is for edited files."""

    def __init__(self, paths: Iterable[Path], seed: int, folder: Path) -> None:
        self._random = Random(seed)
        self._folder = folder
        self._xml = str(folder / "edited.xml")
        self._bin = str(folder / "edited.bin")
        self.openvino = OpenVINO()
        self._groups: dict[Path, list[Path]] = {}
        self.models: set[Path] = set()
        self.left_out: Counter[str] = Counter()
        self._sources: dict[Path, tuple[Source, dict[str, Any]] | None] = {}
        for path in sorted(paths):
            self._groups.setdefault(path.parent, []).append(path)

    def run(self, count: int, kinds: Sequence[str]) -> Iterator[Found]:
        """What comes of so many edits."""
        done = 0
        while done < count and self._groups:
            folder = self._random.choice(sorted(self._groups))
            path = self._random.choice(self._groups[folder])
            kind = self._random.choice(kinds)
            own = Random(self._random.random())
            source = self._source(path)
            if source is None:
                self._groups[folder].remove(path)
                if not self._groups[folder]:
                    del self._groups[folder]
                continue
            for edit in edits(source[0], kind, own):
                found = self._examined(path, edit, *source)
                if found is not None:
                    self.models.add(path)
                    done += 1
                    yield found

    def _source(self, path: Path) -> tuple[Source, dict[str, Any]] | None:
        """A model and what OpenVINO infers for it; None if it has a fault or is too large."""
        if path not in self._sources:
            self._sources[path] = None
            if path.stat().st_size > _MOST_BYTES:
                self.left_out["large"] += 1
                return None
            weights = str(path.with_suffix(".bin"))
            refusal, facts = self.openvino.read(str(path), weights)
            if refusal or listed(irshape.check(str(path))):
                self.left_out["faulty"] += 1
            else:
                self._sources[path] = Source(path), facts
        return self._sources[path]

    def _examined(self, path: Path, edit: Edit, source: Source, facts: dict[str, Any]) -> Found | None:
        """What comes of an edit; None if it has no effect."""
        Path(self._xml).write_bytes(edit.xml)
        weights = str(path.with_suffix(".bin"))
        if edit.weights is not None:
            Path(self._bin).write_bytes(edit.weights)
            weights = self._bin
        refusal, seen = self.openvino.read(self._xml, weights)
        is_same = all(sorted(own) == sorted(facts[name]) for name, own in seen.items() if name in facts)
        if not edit.is_silent_to_openvino and not refusal and is_same:
            return None
        inference = irshape.check(self._xml, weights=weights)
        lines = listed(inference)
        is_hidden = is_restored = False
        if any(one.fix and one.fix.is_safe for one in lines):
            irshape.fix(inference)
            is_restored = canonical(Path(self._xml).read_bytes()) == canonical(source.copied().xml())
            after = listed(irshape.check(self._xml, weights=weights))
            is_hidden = not is_restored and not any(is_about(one, edit.places) for one in after)
        return Found(
            str(path), edit.kind, edit.text, edit.places,
            bool(lines) and is_about(lines[0], edit.places), any(is_about(one, edit.places) for one in lines), len(lines),
            is_hidden, is_restored, inference.ok, bool(refusal), bool(refusal) and names(refusal, edit.places),
            [f"{one}{f' | {one.hint}' if one.hint else ''}" for one in lines],
        )  # fmt: skip


def canonical(xml: bytes) -> bytes:
    """The text of a file whatever its layout and the order of its attributes."""
    text: bytes = etree.tostring(etree.fromstring(xml), method="c14n")
    return text


def table(found: Sequence[Found]) -> list[str]:
    """A row for each kind of edit, and one for all."""
    rows = [
        "| edit | edits | first line | any line | hidden | restored | silent | lines | OpenVINO refuses | and names the place |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in (*KINDS, ""):
        own = [one for one in found if not kind or one.kind == kind]
        if own:
            shares = [_share(sum(bool(getattr(one, field)) for one in own), len(own)) for field in ("first", "any")]
            counts = [
                sum(bool(value) for value in column)
                for column in zip(*((one.is_hidden, one.is_restored, not one.lines) for one in own), strict=True)
            ]
            lines = sum(one.lines for one in own) / len(own)
            theirs = [_share(sum(getattr(one, field) for one in own), len(own)) for field in ("is_refused", "is_named")]
            cells = [kind or "all", f"{len(own):,}", *shares, *map(str, counts), f"{lines:.2f}", *theirs]
            rows.append(f"| {' | '.join(cells)} |")
    return rows


def _share(number: int, count: int) -> str:
    return f"{number / count:.1%}".replace("%", " %")


def half_of(path: Path) -> int:
    """The half to which a model belongs, by its name."""
    return sha256(path.stem.encode()).digest()[0] % _HALVES


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.causes", description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("models", nargs="+", type=Path, metavar="MODELS", help="IRs, or folders with IRs")
    add("--edits", type=int, default=1500, metavar="N", help="edits with an effect (1500)")
    add("--seed", type=int, default=1, metavar="N", help="the seed of the draw (1)")
    add("--half", type=int, choices=range(_HALVES), help="only the models whose names fall into this half")
    add("--kind", action="append", choices=list(KINDS), help="only edits of this kind")
    add("--misses", action="store_true", help="print the edits whose place the first line does not name")
    given = parser.parse_args()
    paths = [path for one in given.models for path in (sorted(one.rglob("*.xml")) if one.is_dir() else [one])]
    paths = [path for path in paths if given.half is None or half_of(path) == given.half]
    with TemporaryDirectory() as folder:
        benchmark = Benchmark(paths, given.seed, Path(folder))
        found: list[Found] = []
        for one in benchmark.run(given.edits, given.kind or list(KINDS)):
            found.append(one)
            if given.misses and (not one.first or one.is_hidden):
                print(
                    f"--- {one.model} {one.kind}: {one.text} {one.places[:3]}{' HIDDEN' if one.is_hidden else ''}",
                    *one.report[:5],
                    sep="\n",
                    flush=True,
                )
            if sys.stderr.isatty():
                print(f"\r{len(found)}", end="", file=sys.stderr, flush=True)
        benchmark.openvino.close()
    print(*table(found), sep="\n")
    out = ", ".join(f"{count} {reason}" for reason, count in benchmark.left_out.items()) or "none"
    accepted = sum(one.is_ok and one.is_refused for one in found)
    print(
        f"\n{len(benchmark.models)} models, seed {given.seed}; left out: {out}. irshape finds no error in {accepted} that OpenVINO refuses."
    )


if __name__ == "__main__":
    main()
