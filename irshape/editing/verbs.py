"""The verbs that make a smaller model of one: a part of it, or the least that still shows a fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import irshape.verbs as inner
from irshape.answers.signature.naming import named
from irshape.api.reading import Reading
from irshape.api.reading import named as listed
from irshape.editing import extract as parts
from irshape.editing.draft import Draft, GraphDraft, Told, found, meant, meant_output, names_of
from irshape.editing.extract import Loss
from irshape.editing.graph import Graph, edit
from irshape.editing.reduce import NotShown, Reducer, Reduction
from irshape.editing.state import EditError, Item
from irshape.editing.trial import Candidate, CandidateJudge, FailingCommand, Test, runs, shows_code
from irshape.model.finding import ambiguity, is_pattern, selected, similar
from irshape.model.public import Model
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, Diagnostic, clipped
from irshape.report.surface import knowing

if TYPE_CHECKING:
    from irshape.xml.source import Source

_T = TypeVar("_T")


class Extraction(Graph):
    """A part of a model: a graph, the names of what became constants with their elements, the layers that were also taken, and losses.

    `taken` are layers that nobody asked for: shapes depend on what they compute. `losses` are the axes of which OpenVINO knows less in the
    part than in the whole.
    """

    frozen: list[tuple[str, tuple[object, ...]]]
    taken: list[str]
    losses: list[Loss]


@knowing
def extract(
    source: Source | Model,
    *,
    from_: str | Iterable[str] = (),
    to: str | Iterable[str] = (),
    around: str | None = None,
    distance: int = 1,
    layers: str | Iterable[str] = (),
    **reading: Unpack[Reading],
) -> Extraction:
    """Make a part of a model a model of its own: a graph that can be edited and written.

    The part begins at the tensors `from_`, which become inputs, and ends at the tensors `to`, which become outputs; without them, it begins
    and ends where the model does. Or it has the layers at most `distance` connections `around` a layer, or the `layers` whose names match
    patterns, or those of modules. What it reads from the rest becomes inputs with the shapes that OpenVINO knows, or constants and
    computations, if shapes depend on the values. Raises `EditError` if a name is unknown or the part is none, and the errors of
    `irshape.edit`.
    """
    graph = edit(source, **reading)
    part, _ = part_of(graph, listed(from_), listed(to), around, distance, listed(layers))
    extraction = Extraction.__new__(Extraction)
    extraction._draft, extraction.frozen, extraction.taken, extraction.losses = graph._draft, part.frozen, part.taken, part.losses
    return extraction


def _agreed(text: str, known: Sequence[Any], names_of: Callable[[Any], Any]) -> None:
    if why := ambiguity(text, known, names_of):
        raise EditError(why)


def part_of(
    graph: Graph, from_: Sequence[str], to: Sequence[str], around: str | None, distance: int, layers: Sequence[str], told: Told = _agreed
) -> tuple[parts.Part, Mapping[str, str]]:
    """Reduce a graph to a part of it; also returns the shapes of the whole as formulas. Raises `EditError`."""
    draft = graph._draft
    draft.require_single_edges()
    if sum((bool(from_ or to), around is not None, bool(layers))) != 1:
        raise EditError("a part needs one of three: where it begins and ends (from, to), a layer around which it is, or layers")
    formulas = named(inner.infer(draft.model, weights=draft.original, opaque=draft.opaque)).formulas
    try:
        if around is not None:
            center = _own(draft, around, meant(draft, around, told=told))
            return parts.extract(draft, parts.around(draft, center, distance), formulas=formulas), formulas
        if layers:
            items = {item for pattern in layers for item in _matching(draft, pattern, told)}
            return parts.extract(draft, parts.with_numbered(draft, items), formulas=formulas), formulas
        sources, targets = ([_own(draft, name, meant_output(draft, name, told=told)) for name in names] for names in (from_, to))
    except KeyError as error:
        raise EditError(error.args[0]) from None
    results = [value for item in draft.of_type("Result") for value in item.inputs if value is not None]
    ends = [value.item for value in targets or results] + ([] if targets else draft.of_type("Assign"))
    return parts.extract(draft, parts.between(draft, sources, ends), sources, targets or results, formulas), formulas


def _own(draft: Draft, text: str, named: tuple[GraphDraft, _T]) -> _T:
    """The layer or tensor that a text names, in the graph itself. Raises `EditError` for one in a body."""
    graph, one = named
    if graph is not draft:
        raise EditError(f"{text!r} is a layer in a body; a part has whole bodies, so name the layer that holds it")
    return one


def _matching(draft: Draft, pattern: str, told: Told) -> list[Item]:
    """The layers that a pattern selects. Raises `EditError` if there is none."""
    own, known = found(draft, pattern)
    if own is draft and not is_pattern(pattern):
        told(pattern, known, names_of)
    several = selected(pattern, draft.state.items.values(), names_of, known if own is draft else ())
    if not several:
        raise EditError(f"no layer has a name like {pattern!r}{similar(pattern, draft.state.by_name)}")
    return several


@knowing
def reduce(
    source: Source | Model,
    *,
    while_: str | Callable[[str], bool] | None = None,
    keep: str | None = None,
    match: str | None = None,
    jobs: int = 1,
    timeout: float = 60,
    **reading: Unpack[Reading],
) -> Graph:
    """Make the smallest model on which a fault still shows: no single layer of it can be left out.

    The fault is `while_`, a command that ends with another exit code than 0 (`{}` in it is the path of the model) or a function that takes
    the path and returns true; or a code of irshape to `keep`, with what its message says. The output of the command or that message must
    `match` a pattern. `jobs` commands run at the same time, and one that takes longer than `timeout` seconds counts as not failing. Raises
    `EditError` if the fault does not show on the whole model, and the errors of `irshape.edit`.
    """
    graph = edit(source, **reading)
    if (while_ is None) == (keep is None) or (keep is not None and keep not in CATALOGUE):
        raise EditError("a reduction needs either while_, which fails, or keep, a code of irshape")
    fault = KeptFault(graph._draft, while_, keep, match, timeout)
    try:
        candidate = fault.reduction({}, jobs, lambda *_: None).candidate
    except NotShown:
        raise EditError("the fault does not show on the whole model") from None
    reading["weights"] = candidate.weights or False
    return edit(candidate.text, **reading)


class KeptFault:
    """The fault of a model that a reduction keeps: a command or a function that fails, or a code of irshape."""

    def __init__(
        self, draft: Draft, fails: str | Callable[[str], bool] | None, keep: str | None, match: str | None, timeout: float
    ) -> None:
        self._draft = draft
        self._pattern = re.compile(match or "")
        self._keep = keep
        self.found = inner.check(draft.model, weights=draft.original, opaque=draft.opaque).diagnostics
        self.test: Test
        if keep is not None:
            self.test = shows_code(keep, match, self._shown[:1])
        elif isinstance(fails, str):
            self.test = FailingCommand(fails, match, timeout)
        else:
            assert fails is not None
            self.test = runs(fails)

    @property
    def _shown(self) -> list[Diagnostic]:
        """The diagnostics of the code, causes first."""
        found = [one for one in self.found if one.code == self._keep and self._pattern.search(str(one))]
        return sorted(found, key=lambda one: (one.caused_by is not None, one.rank))

    def reduction(self, answers: MutableMapping[str, bool], jobs: int, say: Callable[[str, Candidate], object]) -> Reduction:
        """The smallest candidate. `answers` are those of an earlier run, and `say` hears of each step. Raises `NotShown`."""
        codes = frozenset(one.code for one in self.found if one.severity == ERROR) | {self._keep or ""}
        with closing(CandidateJudge(self._draft, self.test, codes, answers, jobs)) as judge:
            return Reducer(self._draft, judge, say).reduced(self._suspect())

    def _suspect(self) -> int | None:
        """The id of the layer that the code is reported for, or of the one whose body holds it."""
        for one in self._shown:
            holders = self._draft.model.holders
            holder = next((node for node in holders if one.where.path.startswith(f"{clipped(node.name)} / ")), None)
            id = one.where.layer_id or ""
            if holder is not None or id.isdecimal():
                return int(id) if holder is None else holder.id
        return None
