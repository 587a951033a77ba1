"""The order in which a file writes its layers decides no answer: shuffled models give those of the model, and are the same model."""

import re
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.editing.extract import between, extract
from irshape.editing.reduce import NotShown, Reducer
from irshape.editing.trial import Judge
from irshape.page.data import PageData
from irshape.scanning.row import Scan
from irshape.shape import dim
from irshape.xml.weights import Weights
from tests.support.ir import Net
from tests.support.irs import PATHS, named
from tests.support.shuffled import plain, shuffled

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = [
    path for path in sorted((ROOT / "examples").glob("*.xml")) if b"<net" in path.read_bytes()
]  # the others are parts of a specification
FILES = [path for path in (*PATHS, *EXAMPLES) if path.stat().st_size < 300_000]
# What tells a place in the file.
_PLACES = {"line", "column", "offset", "file", "start", "end", "end_line", "end_column"}

VERBS: dict[str, Callable[[irshape.Model], Any]] = {
    "check": lambda model: irshape.check(model).to_dict(),
    "infer": lambda model: irshape.infer(model).to_dict(),
    "signature": lambda model: irshape.signature(model).to_dict(),
    "sizes": lambda model: irshape.sizes(model).to_dict(),
    "cost": lambda model: irshape.cost(model).to_dict(),
    "info": lambda model: irshape.info(model).to_dict(),
    "summary": lambda model: irshape.summary(model).to_dict(),
    "explain": lambda model: explained(model),
    "simplify": lambda model: sorted(map(str, irshape.edit(model).simplify())),
    "edit": lambda model: edited(model),
    "extract": lambda model: extracted(model),
    "reduce": lambda model: reduced(model),
    "scan": lambda model: row(model),
    "view": lambda model: viewed(model),
}


def asked(model: irshape.Model) -> list[str]:
    """The names of a few layers, whatever their order."""
    names = sorted({node.name for node in model if node.outputs})
    return names[:: max(1, len(names) // 4)]


def explained(model: irshape.Model) -> Any:
    """Why the outputs of a few layers have their shapes."""
    inference = irshape.infer(model)
    return [inference.explain(name, None, None).to_dict() for name in asked(model)]


def edited(model: irshape.Model) -> Any:
    """What edits answer."""
    graph = irshape.edit(model)
    found: list[Any] = []
    for name in asked(model):
        try:
            if name in graph:
                graph[name].bypass()
            found.append([(one.name, [tensor.text for tensor in one.outputs], [str(fault) for fault in one.faults]) for one in graph])
        except irshape.EditError as error:
            found.append(str(error))
    return [sorted(one, key=str) if isinstance(one, list) else one for one in found]


def extracted(model: irshape.Model) -> Any:
    """The layers that a few layers depend on, as models of their own."""
    found = []
    for name in asked(model):
        graph = irshape.edit(model)
        draft = graph._draft
        target = graph[name]._item
        part = extract(draft, between(draft, (), [target]), targets=target.outputs)
        found.append((part, sorted((one.name, one.type, [tensor.text for tensor in one.outputs]) for one in graph)))
    return found


def viewed(model: irshape.Model) -> Any:
    """The data of a page, without the text of the file."""
    page = PageData(model._graph).to_dict()
    return {**page, "faults": sorted(({**one, "source": None} for one in page["faults"]), key=str)}


def reduced(model: irshape.Model) -> Any:
    """The layers that a reduction leaves."""
    if len(list(model)) > 60:
        return None  # takes long
    draft = irshape.edit(model)._draft
    judge = Judge(draft, lambda candidate, _: candidate.text.count(b"<layer ") > 12, frozenset(), {})
    found = []
    with closing(judge), suppress(NotShown):
        reduction = Reducer(draft, judge, lambda *_: None).reduced()
        found = sorted((node.name, node.type) for node in irshape.read(reduction.candidate.text, weights=False))
    return found


def row(model: irshape.Model) -> Any:
    """The row of a scan, without what tells one file from another."""
    found = Scan(has_cost=True)._checked("", model._graph, model._graph.weights or Weights(False))
    return {name: value for name, value in found.items() if name not in ("size", "hash", "bytes_read")}


def without_places(found: Any) -> Any:
    """An answer without lines and columns."""
    if isinstance(found, dict):
        kept = {key: without_places(value) for key, value in found.items() if key not in _PLACES}
        if "diagnostics" in kept:  # which are sorted by place
            kept["diagnostics"] = sorted(kept["diagnostics"], key=str)
        return kept
    if isinstance(found, list | tuple):
        return [without_places(one) for one in found]
    return re.sub(r"\(\d+:\d+\)|\(line \d+\)", "", found) if isinstance(found, str) else found


def answers(text: bytes, weights: bytes | bool, verbs: Collection[str]) -> dict[str, Any]:
    """The answers of verbs, or the words with which they refuse."""
    found: dict[str, Any] = {}
    for name in verbs:
        try:
            found[name] = without_places(VERBS[name](irshape.read(text, weights=weights)))
        except (ValueError, OSError) as error:
            found[name] = str(error)
    return found


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


@pytest.mark.parametrize("path", FILES[::9], ids=named)
def test_no_order_changes_an_answer(path: Path) -> None:
    compared(path, 0)


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_order_of_several_changes_an_answer(path: Path) -> None:
    compared(path, 1, 2, 3)
