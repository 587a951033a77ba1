"""The long run: each change that irshape makes to real models is proved by running the models before and after it.

`IRSHAPE_CORPUS` names the folder of the models; by default they are some of those that the tests carry.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

import irshape
from irshape.api.inference import Inference
from irshape.editing.extract import between, extract
from irshape.editing.graph import Graph, edit
from irshape.running import comparison
from irshape.running.comparison import proof
from irshape.running.runner import Runner, RunningError
from tests.support.irs import WITH_WEIGHTS

MOST = 200 if "IRSHAPE_CORPUS" in os.environ else 60
VERDICTS = ("equal", "refused", "not run", "fails", "differs")


def simplified(path: Path) -> Graph:
    """The model without the layers that it does not need."""
    graph = edit(path)
    graph.simplify()
    return graph


def extracted(path: Path) -> Graph:
    """The whole model as a part of itself."""
    graph = edit(path)
    draft = graph._draft
    results = [value for item in draft.of_type("Result") for value in item.inputs if value is not None]
    extract(draft, between(draft, [], [*(value.item for value in results), *draft.of_type("Assign")]), [], results, {})
    return graph


def edited(path: Path) -> Graph:
    """The model with a further output, and another name for each layer that is no end; then half of it is taken back."""
    graph = edit(path)
    layers = [layer for layer in graph if layer.type not in ("Parameter", "Result", "ReadValue", "Assign")]
    for layer in layers:
        layer.rename(f"renamed/{layer.id}")
    mark = graph.mark()
    for layer in layers[::7]:
        graph.result(layer.outputs[0])
    graph.undo(mark)
    return graph


def annotated(path: Path) -> Inference:
    """The model with the shapes that irshape infers."""
    return irshape.infer(path)


def reshaped(path: Path) -> Inference:
    """The model with a batch of 2."""
    return irshape.reshape(path, batch=2)


def rewritten(path: Path) -> Inference:
    """The model for every batch, with whatever held the old one changed."""
    return irshape.reshape(path, batch="N", rewrite=True)


# Each change, and the batch at which the changed model is compared with single samples.
CHANGES: dict[str, tuple[Callable[[Path], Graph | Inference], str | None]] = {
    "infer": (annotated, None),
    "reshape --batch 2": (reshaped, "2"),
    "reshape --batch N --rewrite": (rewritten, "N"),
    "simplify": (simplified, None),
    "extract, the whole model": (extracted, None),
    "edit, and half of it undone": (edited, None),
}


def sample(paths: list[Path], most: int) -> list[Path]:
    """At most so many files, from each folder as many as there are, or its share."""
    folders: dict[Path, list[Path]] = defaultdict(list)
    for path in paths:
        folders[path.parent].append(path)
    chosen: list[Path] = []
    for count, folder in enumerate(sorted(folders, key=lambda folder: len(folders[folder]))):
        share = (most - len(chosen)) // (len(folders) - count)
        own = folders[folder]
        step = max(len(own) / max(share, 1), 1)
        chosen += [own[int(index * step)] for index in range(min(share, len(own)))]
    return sorted(chosen)


def verdict(path: Path, change: Callable[[Path], Graph | Inference], batch: str | None) -> str:
    """What a run says of a change of a model; `refused` if irshape does not make the change."""
    try:
        changed = change(path)
    except (irshape.InputError, irshape.EditError) as error:
        return f"refused: {error}"
    if batch is not None and isinstance(changed, Inference) and not changed.ok:
        return f"refused: {next(one for one in changed.diagnostics if one.severity == 'error').message}"
    try:
        found = proof(path, changed, batch)
    except RunningError as error:
        return f"not run: {error}"
    if found.is_same:
        return "equal"
    if not any("b" in run.failures for run in found.runs) and any("a" in run.failures for run in found.runs):
        return f"not run: {found.summary}"
    return f"{'fails' if any(run.failures for run in found.runs) else 'differs'}: {found.summary}"


@pytest.mark.slow("runs each model with OpenVINO before and after each change")
@pytest.mark.parametrize("name", CHANGES)
def test_every_change_computes_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prints a row of the guide's table, and each model that is not proved equal: OpenVINO may not run it before the change either."""
    change, batch = CHANGES[name]
    with closing(Runner()) as runner:  # one process for all models
        monkeypatch.setattr(comparison, "Runner", lambda _: runner)
        monkeypatch.setattr(comparison, "closing", nullcontext)
        found = {f"{path.parent.name}/{path.stem}": verdict(path, change, batch) for path in sample(WITH_WEIGHTS, MOST)}
    counts = Counter(one.partition(":")[0] for one in found.values())
    print(*(f"{model}: {one}" for model, one in found.items() if one != "equal"), sep="\n")
    print("change", *VERDICTS, sep=" | ")
    print(name, *(counts[one] for one in VERDICTS), sep=" | ")
    assert not [model for model, one in found.items() if one.startswith(("differs", "fails"))]
    # Some models do not run before the change either: of unknown rank, with elements of four bits, refused by OpenVINO.
    assert counts["not run"] <= 0.2 * counts["equal"]
