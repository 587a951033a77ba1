"""Every verb, asked of a model: its answer as plain data, without the places in the file, so that files in two orders can be compared."""

import re
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from typing import Any

import irshape
from irshape.editing.extract import between, extract
from irshape.editing.reduce import NotShown, Reducer
from irshape.editing.trial import CandidateJudge
from irshape.page.data import PageData
from irshape.scanning.row import Scan
from irshape.xml.weights import Weights

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
    """The data of a page, without the text of the file, which changes of it show, too."""
    page = PageData(model._graph).to_dict()
    return {**page, "faults": sorted(({**one, "source": None, "diff": None} for one in page["faults"]), key=str)}


def reduced(model: irshape.Model) -> Any:
    """The layers that a reduction leaves."""
    if len(list(model)) > 60:
        return None  # takes long
    draft = irshape.edit(model)._draft
    judge = CandidateJudge(draft, lambda candidate, _: candidate.text.count(b"<layer ") > 12, frozenset(), {})
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
        for key in kept.keys() & {"diagnostics", "faults"}:  # which are sorted by place
            kept[key] = sorted(kept[key], key=str)
        return kept
    if isinstance(found, list | tuple):
        return [without_places(one) for one in found]
    return re.sub(r"\(\d+:\d+\)|\bline \d+", "", found) if isinstance(found, str) else found


def answers(text: bytes, weights: bytes | bool, verbs: Collection[str]) -> dict[str, Any]:
    """The answers of verbs, or the words with which they refuse."""
    found: dict[str, Any] = {}
    for name in verbs:
        try:
            found[name] = without_places(VERBS[name](irshape.read(text, weights=weights)))
        except (ValueError, OSError) as error:
            found[name] = str(error)
    return found
