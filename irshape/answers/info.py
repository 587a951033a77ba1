"""Describe a model: the OpenVINO releases that read it, its inputs and outputs, its dynamic sizes and their causes, its operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from irshape.answers.batch.axes import BY_PROOF, engine_of, find_batch
from irshape.answers.cost.counting import Parameters
from irshape.answers.cost.formula import OF_TYPE
from irshape.answers.roots import Root, firsts, is_unbounded, outputs, roots
from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.naming import discovered
from irshape.answers.signature.signature import Signature, ends
from irshape.answers.wording import Answer, title
from irshape.inference.inference import Inference
from irshape.inference.inputs import Inputs
from irshape.model.finding import end_name
from irshape.model.model import Node, grouped, split_names
from irshape.model.public import Node as PublicNode
from irshape.model.public import public
from irshape.ops.infrastructure import ReadValueV3, ReadValueV6
from irshape.ops.registry import RELEASES, opset
from irshape.report import form
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.form import Form
from irshape.report.section import Line, Section, Span, facts, key, paragraph
from irshape.report.text import bytes_text, counted, some
from irshape.shape.dim import Dim
from irshape.shape.element_type import ElementType

_MOST_NAMES: Final = 3
# The first release that reads each IR version.
_IR_VERSIONS: Final = {10: "2020.1", 11: "2022.1"}
# Element types whose first release is not documented: a release whose pages list the type, and the last release whose pages do not.
_ELEMENT_TYPES: Final = {
    **dict.fromkeys(("i4", "u4"), ("2021.4", None)),
    **dict.fromkeys(("nf4", "string"), ("2023.3", "2022.3")),
    **dict.fromkeys(("u2", "u3", "u6", "f8e4m3", "f8e5m2", "f4e2m1", "f8e8m0"), ("2024.6", "2023.3")),
}
# The release whose rules irshape follows. It has every opset, also those whose first release is not documented.
_KNOWN: Final = "2026.4"


class Need(NamedTuple):
    """A part of a model that release `by` certainly has, but no release before `earliest`, nor `earliest` itself if `is_after`."""

    by: str
    earliest: str
    is_after: bool
    reason: str


class Oldest(NamedTuple):
    """The oldest release that is known to read a model (None if no such release is known), and the reasons why.

    A release between `earliest` and `release` may read the model, too; `earliest` itself may not if `is_after`. `unknown` are parts of the
    model that no known release has.
    """

    release: str | None
    reasons: list[str]
    earliest: str | None
    is_after: bool
    unknown: list[str]

    @property
    def is_exact(self) -> bool:
        """Whether it is certain that no older release reads the model."""
        return self.release is not None and self.release == self.earliest and not self.is_after


OLDEST: Final = Form(
    release="text?: the oldest release that is known to read the model",
    reasons="texts: the reasons why no older release is known to",
    earliest="text?: no release before this one reads the model",
    is_after="flag: the earliest release does not read the model either",
    unknown="texts: the parts of the model that no release is known to support",
    is_exact="flag: no older release reads the model",
)


def oldest_release(ir_version: int, layers: Iterable[tuple[str, str]], types: Iterable[ElementType]) -> Oldest:
    """The oldest release for an IR version, for layers as pairs of type and version, and for element types."""
    needs: list[Need] = []
    unknown: list[str] = []
    if ir_version in _IR_VERSIONS:
        first = _IR_VERSIONS[ir_version]
        needs.append(Need(first, first, False, f"IR version {ir_version}"))
    for version, names in sorted(grouped((version, type) for type, version in layers).items()):
        number = opset(version)
        reason = f"{version} ({some(sorted({*names}), _MOST_NAMES)})"
        if number is None:
            unknown.append(reason)
        elif number in RELEASES:
            needs.append(Need(RELEASES[number], RELEASES[number], False, reason))
        else:
            needs.append(Need(_KNOWN, RELEASES[max(RELEASES)], True, reason))
    late = grouped((_ELEMENT_TYPES[name], name) for name in sorted({one.name for one in types} & _ELEMENT_TYPES.keys()))
    for (by, lacking), late_types in late.items():
        reason = f"element type{'s' if len(late_types) > 1 else ''} {', '.join(late_types)}"
        needs.append(Need(by, lacking or min(RELEASES.values()), lacking is not None, reason))
    if not needs:
        return Oldest(None, [], None, False, unknown)
    release = max((need.by for need in needs), key=_order)
    last = max(needs, key=lambda need: (_order(need.earliest), need.is_after))
    return Oldest(release, [need.reason for need in needs if need.by == release], last.earliest, last.is_after, unknown)


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


# The most rows, words and names of each list on the screen.
_MOST_ROWS = 8
_MOST_WORDS = 10
_MOST_INPUTS = 3
_CAUSES = {"data": "known only at run time", "variable": "a variable", "iteration": "passed from one iteration to the next"}


class InfoTensor:
    """An input, an output or a state variable of a model.

    `node` is the Parameter, Result or ReadValue. `name` is that of the tensor, or of the layer if the tensor has none, or of the variable;
    `tensor_names` are all names of the tensor, and `layout` is OpenVINO's layout (`[N,C,H,W]`), None if there is none. `element_type`,
    `shape` and `formula` are texts: `f32`, `[?,3,8]`, `[N,3,8]`.
    """

    __slots__ = ("_info", "_node", "_port", "element_type", "layout", "name", "shape", "tensor_names")

    def __init__(self, info: Info, ports: Mapping[str, tuple[str, str]], node: Node, name: str = "") -> None:
        source = node.inputs[0].source if node.type == "Result" and node.inputs else None
        port = source or next(iter(node.outputs), None)
        names = port.record.names if port is not None else None
        self._info = info
        self._node = node
        self._port = port
        self.tensor_names = split_names(names)
        self.name = name or end_name(node)
        self.layout = port.record.layout if port is not None else None
        self.element_type, self.shape = ("dynamic", "[...]") if port is None else ports[f"{port.node.key}:{port.id}"]

    @property
    def formula(self) -> str:
        """The shape with formulas of the input sizes."""
        port = self._port
        return "[...]" if port is None else self._info._named[0].view(port.node).outputs[port.index].formula

    @property
    def node(self) -> PublicNode:
        """The Parameter, Result or ReadValue."""
        return public(self._node)

    def __repr__(self) -> str:
        return f"<{self._node.type} {self.name!r}: {self.element_type}{self.formula}>"


class Info(Answer):
    """The description of a model.

    `document` is the file, `diagnostics` are the faults and `errors` is the number of errors. `inputs`, `outputs` and
    `state` describe the inputs, the outputs and the variables. `oldest` is the oldest release of OpenVINO that reads the model. `bodies`
    are the graphs inside layers. `layers` is the number of layers, including those of bodies. `opsets` and `operations` count layers.
    `extensions` are the layers that OpenVINO needs an extension to run, by the name of the library.
    `parameters` counts elements and bytes of the constants by element type. `stored_bytes` counts bytes that several share once. `ports`
    counts the output ports of layers without errors: all, dynamic, unbounded and unranked ones. `roots` are the axes that make sizes
    dynamic, each with the number of ports that depend on it. `batch` has the axes that are certainly the batch, each with the reason.
    `candidates` are sets of further axes; any one set may belong to the batch, too.
    """

    def __init__(self, inference: Inference, new_signature: Callable[[Inference, Discovery | None], Signature]) -> None:
        model = inference.model
        nodes = [node for graph, _ in inference.graphs for node in graph]
        types = {fact.element_type for _, _, fact in outputs(inference)}
        self._inference = inference
        self._new_signature = new_signature
        self.layers = len(nodes)
        self.opsets = counts(node.version for node in nodes)
        self.operations = counts(node.type for node in nodes)
        self.extensions = model.extensions
        extended = {node for several in self.extensions.values() for node in several}
        versions = () if inference.document.is_example else ((node.type, node.version) for node in nodes if node not in extended)
        self.oldest = oldest_release(model.ir_version, versions, types)
        ports = inference.ports
        self.inputs = [InfoTensor(self, ports, node) for node in model.parameters]
        self.outputs = [InfoTensor(self, ports, node) for node in model.results]
        reads = [(node, op) for node in nodes if isinstance(op := node.op, (ReadValueV3, ReadValueV6)) and not op.is_broken]
        self.state = [InfoTensor(self, ports, node, op.variable_id) for node, op in reads]
        constants = Parameters(model)
        self.parameters, self.stored_bytes = constants.by_type, constants.stored
        self.bodies = [graph for graph, _ in inference.graphs if graph.holder is not None]
        self.roots: list[Root] = roots(inference)
        self._unranked = firsts(inference, lambda fact: fact.shape is None)
        self.ports = self._ports()
        self.errors = sum(diagnostic.severity == ERROR for diagnostic in inference.diagnostics)
        self.batch: list[tuple[Node, int, str]] = []
        self.candidates: list[list[tuple[Node, int]]] = []
        if not self.errors and model.parameters:
            batch = find_batch(engine_of(inference), inference.wanted, Inputs())
            if not batch.is_whole:
                inference.report([inference.unfinished("the batch is not known, because not every axis was tried", model.parameters[0])])
            is_clear = len(batch.candidates) == 1
            certain = {**batch.axes, **(batch.candidates[0] if is_clear else {})}
            self.batch = [(node, axis, batch.reasons.get(node, BY_PROOF)) for node, axis in certain.items()]
            self.candidates = [] if is_clear else [list(axes.items()) for axes in batch.candidates if axes]

    @cached_property
    def _named(self) -> tuple[Inference, Discovery | None]:
        """The inference in the symbols of the signature, as `discovered` gives it."""
        return discovered(self._inference)

    @cached_property
    def signature(self) -> Signature | None:
        """The inputs and outputs in few symbols; None for a model with errors or without open sizes."""
        is_open = any(root.kind in ("input", "variable") for root in self.roots)
        _, found = self.__dict__.get("_named", (None, None))
        return self._new_signature(self._inference, found) if is_open and not self.errors else None

    @property
    def unfinished(self) -> list[Diagnostic]:
        """The notes about parts of the answer that take more than the limit `work` allows."""
        return [found for found in self.diagnostics if found.code == "N106"]

    def __repr__(self) -> str:
        ends = f"{counted(len(self.inputs), 'input')}, {counted(len(self.outputs), 'output')}"
        return f"<Info of {self.document.path or self.document.name!r}: {counted(self.layers, 'layer')}, {ends}>"

    def _sections(self, *, is_complete: bool = False) -> Iterator[Section]:
        """The text: title, facts, signature, and the lists of inputs, outputs, state, causes of dynamic sizes and bodies."""
        cause = "the error" if self.errors == 1 else "the errors"
        missing = f": facts that depend on {cause} are missing here; irshape check lists {cause}"
        yield paragraph(title(self.document), *([(Span(counted(self.errors, "error"), "error"), missing)] if self.errors else ()))
        yield paragraph(facts((name, text) for name, text in _facts(self, is_complete) if text))
        if (signature := self.signature) is not None:
            decided = [("where ", key(one.text)) for one in signature.conditions if signature._is_decided(one)]
            yield Section("signature", [*ends(signature, is_complete=is_complete), *decided])
        dynamic = f"{self.ports['dynamic']} of {counted(self.ports['all'], 'output port')}"
        lists = (
            ("inputs", map(_tensor, self.inputs)),
            ("outputs", map(_tensor, self.outputs)),
            ("state", map(_tensor, self.state)),
            (f"dynamic: {dynamic}, {self.ports['unbounded']} without upper bound, because of", _roots(self)),
            ("bodies", ((body.path, counted(len(body), "layer")) for body in self.bodies)),
        )
        for heading, rows in lists:
            table = facts(rows).some(None if is_complete else _MOST_ROWS)
            yield Section(heading if table.rows else "", [table])

    def _ports(self) -> dict[str, int]:
        counts = dict.fromkeys(("all", "dynamic", "unbounded", "unranked"), 0)
        for _, _, fact in outputs(self._inference):
            if fact.is_poisoned:
                continue
            counts["all"] += 1
            sizes = [size for size in fact.shape or () if isinstance(size, Dim)]
            counts["unranked"] += fact.shape is None
            counts["dynamic"] += fact.shape is None or bool(sizes)
            counts["unbounded"] += fact.shape is None or any(is_unbounded(self._inference.bounds(size)) for size in sizes)
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/info.schema.json`."""
        return INFO(self)


def counts(words: Iterable[str]) -> dict[str, int]:
    """The number of times each word occurs, the most frequent first."""
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])))


def _facts(info: Info, is_complete: bool) -> Iterator[tuple[str, str]]:
    oldest = info.oldest
    if oldest.release is not None:
        perhaps = "" if oldest.is_exact else f", perhaps a release {'after' if oldest.is_after else 'from'} {oldest.earliest}"
        yield "needs", f"OpenVINO {oldest.release} or later{perhaps}: {', '.join(oldest.reasons)}"
    if oldest.unknown:
        yield "unknown", f"no known release has {', '.join(oldest.unknown)}"
    for name, nodes in info.extensions.items():
        types = dict(Counter(node.type for node in nodes).most_common())
        yield "extension", f"{name or 'a library that the file does not name'} is needed to run {_words(types, is_complete)}"
    yield "opsets", _words(info.opsets, is_complete)
    yield "operations", _words(info.operations, is_complete)
    if info.parameters:
        elements, size = (sum(counts) for counts in zip(*info.parameters.values(), strict=True))
        kinds = ", ".join(f"{name} {count:,} ({bytes_text(bytes)})" for name, (count, bytes) in info.parameters.items())
        stored = f", {bytes_text(info.stored_bytes)} in the file" if info.stored_bytes != size else ""
        yield "parameters", f"{elements:,} in {bytes_text(size)}{stored}: {kinds}"
    yield "batch", _batch(info)
    if info.signature is None and info._inference.guards:
        yield "valid", f"only under {counted(len(info._inference.guards), 'condition')} on the sizes; irshape infer lists them"
    yield from (("unfinished", f"{found.message} [{found.where.about()}]") for found in info.unfinished)


def _words(counts: dict[str, int], is_complete: bool) -> str:
    return some([f"{name or 'none'} {count}" for name, count in counts.items()], None if is_complete else _MOST_WORDS)


def _batch(info: Info) -> str:
    groups = grouped(((axis, reason), repr(end_name(node))) for node, axis, reason in info.batch)
    texts = [f"axis {axis} of {some(names, _MOST_INPUTS)}: {reason}" for (axis, reason), names in groups.items()]
    candidates = [some([f"axis {axis} of {end_name(node)!r}" for node, axis in axes], _MOST_INPUTS) for axes in info.candidates]
    if candidates:
        texts.append(f"can be {' or '.join(candidates)}")
    if not texts and info.inputs and not info.errors:
        return "no input axis alone; irshape reshape --batch N --rewrite tries to change the constants that hold it, too"
    return "; ".join(texts)


def _tensor(tensor: InfoTensor) -> tuple[Line, ...]:
    others = [name for name in tensor.tensor_names if name != tensor.name]
    named = f"  named {', '.join(others)}" if others else ""
    layer = f"  layer {tensor.node.name}" if tensor.node.type == "Parameter" and tensor.node.name not in (*others, tensor.name) else ""
    layout = f"  layout {tensor.layout}" if tensor.layout else ""
    return tensor.name, f"{tensor.element_type}{tensor.shape}{named}{layer}{layout}"


def _roots(info: Info) -> Iterator[tuple[Line, ...]]:
    """The axes that make sizes dynamic: axes of inputs first, then the axes that most ports depend on."""
    widest = max((len(str(root.ports)) for root in info.roots), default=0)
    has_data = any(root.kind == "data" for root in info.roots)
    named = roots(info.signature._inference) if info.signature and has_data else info.roots
    of_data = {(root.node, root.axis) for root in named if root.kind == "data"}
    for root in sorted(info.roots, key=lambda root: (root.kind != "input", -root.ports)):
        size = info._inference.format((root.size,)).strip("[]")
        if not size.isdecimal():  # a guard may leave only one size
            ports = f"{root.ports:{widest}} port{'s' if root.ports > 1 else ''}"
            name = end_name(root.node) if root.kind == "input" else root.node.name
            is_formula = root.kind == "data" and (root.node, root.axis) not in of_data
            cause = "a formula of sizes of at least 1" if is_formula else _CAUSES.get(root.kind, "")
            yield f"{name} axis {root.axis}", ports, size, cause
    for node, count in info._unranked.items():
        yield node.name, counted(count, "port"), "unknown rank", ""


_TENSOR: Final = form.Form(
    layer=(form.KEY, "_node.key"),
    name="text: the name of the tensor, of its layer if it has none, or of the variable",
    element_type="text",
    shape="text: in OpenVINO's notation",
    formula="text: the shape with formulas of the input sizes",
    tensor_names="texts: the names of the tensor",
    layout="text?: [N,C,H,W]",
)
_EXTENSION: Final = form.Form(
    name=("text?: the library; null if the description of its operations does not name it", lambda one: one[0] or None),
    operations=("counts: its layers by operation", lambda one: counts(node.type for node in one[1])),
)


_LAYER: Final[dict[str, form.Said]] = {"layer": (form.KEY, lambda one: one[0].key), "layer_name": (form.NAME, lambda one: one[0].name)}
_AXES: Final = form.Form(**_LAYER, axis=("count", form.item(1))).list("axes that change together")
_SIGNATURE: Final = form.Form(
    inputs="names",
    state="names",
    outputs="names",
    conditions=("texts: all must hold", lambda signature: [one.text for one in signature.conditions]),
)
INFO: Final = form.Form(
    tool=form.TOOL_FIELD,
    file=(form.FILE, "document.path"),
    name=("text: the net's name", "document.name"),
    ir_version=("number: 0 for an example of the specification", "document.version"),
    errors="count",
    layers="count: including the layers of bodies",
    opsets="counts: layers by opset",
    oldest=OLDEST.one(),
    extensions=_EXTENSION.list("the extensions that OpenVINO needs to run the model", lambda info: info.extensions.items()),
    inputs=_TENSOR.list("in the order of the file"),
    outputs=_TENSOR.list("in the order of the file"),
    ports=form.Field(form.Form(**dict.fromkeys(("all", "dynamic", "unbounded", "unranked"), "count")).schema),
    roots=form.Form(
        kind=form.word("input", "variable", "iteration", "recorded", "rank", "data"),
        layer=(form.KEY, "node.key"),
        layer_name=(form.NAME, "node.name"),
        axis="count",
        size=form.Field({"type": "string"}, convert=lambda size, info: info._inference.format((size,)).strip("[]")),
        ports="count: output ports whose shapes depend on it",
        unbounded="count: output ports that have no upper bound because of it",
    ).list("the axes that make sizes dynamic"),
    unranked=form.Form(**_LAYER, ports=("count", form.item(1))).list(
        "the layers from which on the rank is unknown", lambda info: info._unranked.items()
    ),
    operations="counts: layers by operation",
    parameters=OF_TYPE.named("constants by element type"),
    stored_bytes="count: the bytes of the constants in the file; bytes that several constants share count once",
    state=_TENSOR.list("the variables"),
    bodies=form.Form(layer=(form.KEY, "holder.key"), name=("text", "path"), layers=("count", len)).list(
        "graphs inside layers", lambda info: [graph for graph in info.bodies if graph.holder]
    ),
    batch=form.Form(**_LAYER, axis=("count", form.item(1)), reason=("text", form.item(2))).list("the axes that are the batch"),
    batch_candidates=form.Field(
        {"type": "array", "items": _AXES.schema, "description": "the possible batch axes, if ambiguous"},
        "candidates",
        lambda several, info: [_AXES.convert(one, info) for one in several],  # type: ignore[misc]
    ),
    guards=("texts: the conditions on the sizes", lambda info: [str(guard.requirement) for guard in info._named[0].guards]),
    unfinished=form.diagnostics("the parts of the answer that take more than the limit work allows"),
    signature=form.Field(
        {
            "description": "the inputs and outputs in few symbols; null without open sizes, and for a model with errors",
            **_SIGNATURE.schema,
            "type": ["object", "null"],
        },
        convert=lambda signature, _: signature and _SIGNATURE(signature),
    ),
)
