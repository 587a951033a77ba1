"""The result of a pass: the facts of every port, diagnostics, guards, and the IR annotated with the facts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from os.path import splitext
from typing import TYPE_CHECKING, Any, Literal

from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.run import Guard, Run, guards_of
from irshape.model.build import layer_place
from irshape.model.model import Model, Node
from irshape.report.catalogue import is_about_specification
from irshape.report.diagnostic import ERROR, Diagnostic, Diagnostics
from irshape.report.text import counted, verdict
from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import Dim, Size, bounds
from irshape.shape.element_type import ElementType
from irshape.shape.guard import Requirement, usual_sizes_fulfil
from irshape.shape.notation import shape_text
from irshape.shape.range import Bound
from irshape.shape.shape import Shape, format_shape
from irshape.shape.value import Elements, Unreadable
from irshape.xml.lexical import whole_number
from irshape.xml.weights import UNREAD

if TYPE_CHECKING:
    from irshape.inference.inputs import Inputs
    from irshape.shape.remainders import Known
    from irshape.shape.reported import Reported


class Remedy(NamedTuple):
    """Sizes of symbols and shapes of inputs for a target, once the state is gone if `is_stateless`; `options` are those of the command."""

    target: str
    sizes: dict[str, str]
    shapes: dict[str, str]
    options: str = ""
    is_stateless: bool = False

    def beside(self, inputs: Mapping[str, str] | None, symbols: Mapping[str, str] | None, options: str) -> Remedy:
        """The remedy with what the inputs have been given already, for its command begins with the file again."""
        return self._replace(sizes={**(symbols or {}), **self.sizes}, shapes={**(inputs or {}), **self.shapes}, options=options)

    def command(self, path: str) -> str:
        """The command that gives a file these sizes; two commands if its state must go first."""
        from shlex import quote

        stem, end = splitext(path)
        shapes = "".join(f" --input {quote(name + shape)}" for name, shape in self.shapes.items())
        sizes = " --set " + " ".join(f"{name}={quote(size)}" for name, size in self.sizes.items()) if self.sizes else ""
        source, written = (quote(f"{stem}.stateless{end}") if self.is_stateless else quote(path)), quote(f"{stem}.{self.target}{end}")
        first = f"irshape edit {quote(path)}{self.options} --stateless -o {source} && " if self.is_stateless else ""
        return f"{first}irshape reshape {source}{self.options} --target {self.target}{shapes}{sizes} -o {written}"


# The element types of model outputs in IR version 10; every other type becomes f32.
_LEGACY = {
    ElementType.dynamic: ElementType.dynamic,
    **dict.fromkeys((ElementType.i32, ElementType.i64, ElementType.u32, ElementType.u64), ElementType.i32),
}


class InferredPort:
    """The inferred element type, shape and values of one port. `id` is the port's id in the file."""

    __slots__ = ("_fact", "_inference", "_reading", "id")

    def __init__(self, inference: Inference, fact: Fact, id: int, reading: Fact) -> None:
        self._inference = inference
        self._fact = fact
        self._reading = reading
        self.id = id

    @property
    def element_type(self) -> ElementType:
        """The element type; `ElementType.dynamic` if it is unknown."""
        return self._fact.element_type

    @property
    def shape(self) -> Shape:
        """The sizes of the axes, each an int or a `Dim`; None if the rank is unknown."""
        return self._fact.shape

    @property
    def elements(self) -> Elements | None:
        """The values in row-major order; None unless some layer reads the values and irshape knows them."""
        elements = self._fact.elements
        return None if type(elements) is Unreadable else elements

    @property
    def text(self) -> str:
        """The shape in OpenVINO's notation: `[1,3,224..,?]`."""
        return self._inference.format(self._fact.shape)

    @property
    def formula(self) -> str:
        """The shape as formulas of the input symbols: `[N,64,(H + 1)//2,W]`."""
        return self._inference.reading.symbolic(self._reading.shape)

    def _content(self) -> tuple[object, ...]:
        formula = self._inference.reading.symbolic(self._reading.shape)  # that of a program may be another one
        return self.id, self.element_type, self.text, formula, self.elements and tuple(map(str, self.elements))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same id, element type, shape and values, also in different inferences."""
        return isinstance(other, InferredPort) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        return f"{self.element_type}{self.text}"


class InferredLayer(NamedTuple):
    """A layer with the inferred facts of its ports: the `node`, its `inputs` that are fed, and its `outputs`."""

    node: Node
    inputs: list[InferredPort]
    outputs: list[InferredPort]


class Inference:
    """The facts of a model after a pass.

    Iterating gives the layers in topological order, those of the model itself without those of bodies. `inference["name"]` and
    `inference.layer(id)` find one layer, `"name" in inference` says whether there is one. An inference can be pickled and sent to another
    process. `model` is the model, `document` its file and `weights` its weights. `ok` is false if any diagnostic is an error. `diagnostics`
    are sorted by their causes and their places in the file. `graphs` are the model and its bodies, each with the run of its pass. `given`
    are the shapes of Parameters, by node, that replace those of the file, and `symbols` the ranges of the symbols in them. `scope` owns
    the symbols. `asked` are the inputs that were asked for, None if they are those of the file, and `opaque` the unknown operations whose
    ports are trusted.
    `knows_values` says whether irshape knows the values of constants: their weights were read and believed, or the file has no constants.
    `found` are the diagnostics before they are listed. `engine` made the pass; None if another pass needs nothing of it.
    `rewriting` says what a reshape has changed; then `model` and `weights` are those of the rewritten model. `remedy` has the
    sizes of symbols that mend what a target misses. `ties` are the axes of inputs that `named` ties together, and `data_sizes` the names
    that it gives to sizes that only data tells. `steps` are the steps of work that the pass took.
    """

    ties: Sequence[Any] = ()
    data_sizes: Sequence[Any] = ()
    steps: int = 0
    remedy: Remedy | None = None
    rewriting: Any = None

    def __init__(self, engine: Engine, diagnostics: Diagnostics, asked: Inputs | None = None) -> None:
        self.document = engine.model.document
        self.model = engine.model
        self.engine: Engine | None = engine
        # The engine may run again; these keep the results of this pass.
        self.graphs: list[tuple[Model, Run]] = [(self.model, engine.current)]
        if engine.bodies:
            self.graphs = [(one.model, one.current) for one in engine.graphs()]
        question = engine.question
        self.given = question.shapes
        self.asked = asked
        self.opaque = engine.opaque
        self.symbols = question.symbols
        self.weights = engine.weights
        self.scope = engine.scope
        self._guarding = engine.guarded_runs
        self.found = diagnostics
        self._filters: list[Callable[[Diagnostics], Diagnostics]] = []
        self.knows_values = not any(diagnostic.code in UNREAD for diagnostic in diagnostics)
        self.diagnostics: list[Diagnostic] = diagnostics.listed()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "engine": None}

    @cached_property
    def _checked(self) -> list[Guard]:
        """What OpenVINO demands, and the premises of formulas."""
        return guards_of(self._guarding)

    @cached_property
    def _requirements(self) -> list[Guard]:
        if not self.model.of_type("Gather"):
            return self._checked
        from irshape.inference.indices import demanded

        return [*self._checked, *demanded(self.model, self.graphs[0][1].slots, self.weights)]

    @cached_property
    def _reported(self) -> Reported | None:
        if not self._checked:
            return None
        from irshape.inference.conditions import is_made_of_data
        from irshape.shape.reported import Reported

        # OpenVINO accepts inputs and iterations that break a premise, so the premise tightens no bounds of these. A premise on sizes
        # that layers make of data tightens these sizes.
        told = {
            one.requirement: one._node
            for one in self._checked
            if not one.branch and (not one.is_premise or (is_made_of_data(one.requirement) and one._node.type != "Loop"))
        }
        reported = Reported.of(self.scope, told)
        if reported.unfinished is not None:
            node = told[reported.unfinished]
            self.report([self.unfinished("sizes may have wider bounds than the conditions from here on allow", node)])
        return reported

    def report(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics, except for those that a filter leaves out."""
        found = self.found.replaced(diagnostics)
        for leave_out in self._filters:
            found = leave_out(found)
        self.found += found
        self.diagnostics = self.found.listed()

    def keep(self, found: Diagnostics, leave_out: Callable[[Diagnostics], Diagnostics] | None = None) -> None:
        """Keep these diagnostics only. `leave_out` is the filter for later reports."""
        self.found = found
        if leave_out is not None:
            self._filters.append(leave_out)
        self.diagnostics = found.listed()

    def unfinished(self, what: str, node: Node) -> Diagnostic:
        """The note that an answer is not whole, because no work was left when it came to this node."""
        message = f"{what}: the answer takes more than {self.scope.work.most} steps (limit work)"
        return Diagnostic("N106", message, layer_place(node))

    @property
    def is_conditional(self) -> bool:
        """Whether there are guards; this takes no time."""
        return bool(self._requirements)

    @property
    def wanted(self) -> Inputs:
        """The inputs that were asked for; no shapes if they are those of the file."""
        from irshape.inference.inputs import Inputs

        return self.asked or Inputs()

    @property
    def reading(self) -> Inference:
        """The inference that has the formulas: this one, or that of a pass with the inputs of the signature."""
        return self

    @property
    def ok(self) -> bool:
        return not any(diagnostic.severity == ERROR for diagnostic in self.diagnostics)

    def bounds(self, size: Size) -> tuple[Bound, Bound]:
        """The smallest and the largest value of a size, tightened by the guards."""
        return self._reported.bounds(size) if self._reported else bounds(size)

    @property
    def requirements(self) -> Iterator[tuple[Node, Requirement, str]]:
        """The guards before they are simplified, as the rule of each layer says them, with the branch as in `Guard.branch`."""
        for run, branch in self._guarding:
            for report in run.reports.values():
                for requirement in report.requirements:
                    yield report.node, requirement, branch

    @cached_property
    def guards(self) -> list[Guard]:
        """The conditions on input sizes, simplified; later those on sizes of data, then premises, then those of branches."""
        if not self._requirements:
            return []
        from irshape.inference.conditions import conditions

        guards, unfinished = conditions(self._requirements, self.scope.work)
        if unfinished is not None:
            self.report([self.unfinished("conditions from here on may not be in their simplest form", unfinished._node)])
        return guards

    @cached_property
    def contradicting(self) -> list[Guard]:
        """Conditions that no sizes fulfil together; sizes of usual inputs are tried first, which spares the search in most models."""
        guards = [guard for guard in self._requirements if not guard.branch and not guard.is_premise]
        if usual_sizes_fulfil([guard.requirement for guard in guards], self.scope):
            return []
        from irshape.inference.conditions import contradictory

        return contradictory(guards, self.scope)

    @property
    def is_never_valid(self) -> bool:
        """Whether no sizes fulfil the conditions of all layers together."""
        return self.ok and bool(self.reading.contradicting)

    def report_contradiction(self) -> Diagnostic | None:
        """Name the layers whose conditions no sizes fulfil together, in the warning that is returned, if there are any."""
        if not self.is_never_valid:
            return None
        guards = self.reading.contradicting
        wheres = [layer_place(guard._node) for guard in guards]
        told = ", ".join(f"{one.requirement} (line {where.line})" for one, where in zip(guards, wheres, strict=True))
        message = f"no sizes fulfil these conditions together: {told}"
        conflict = Diagnostic("R401", message, wheres[0], related=tuple(wheres[1:]))
        self.report([conflict])
        return conflict

    @cached_property
    def known(self) -> Known:
        """What the conditions of every run say of the symbols."""
        from irshape.shape.remainders import Known

        told = [guard.requirement for guard in self.guards if not guard.branch and not guard.is_premise]
        known = Known(self.scope, told)
        for one in told:
            known.learn(one)
        return known

    def format(self, shape: Shape) -> str:
        """A shape in OpenVINO's notation, tightened by the guards."""
        return format_shape(shape, self._reported.bounds if self._reported else bounds)

    def symbolic(self, shape: Shape) -> str:
        """A shape as formulas, without what the guards resolve."""
        return shape_text(self.simplest(shape))

    def simplest(self, shape: Shape) -> Shape:
        """A shape without what the guards resolve: `S` for `min(S, 64)` where `S <= 64`."""
        return tuple(map(self.known.simplest, shape)) if shape and self._requirements else shape

    def __iter__(self) -> Iterator[InferredLayer]:
        return map(self.view, self.model)

    def __getitem__(self, name: str) -> InferredLayer:
        """The first layer with this name. Raises `KeyError` if there is none."""
        return self.view(self.model[name])

    def layer(self, id: int | str) -> InferredLayer:
        """The layer with this id; in a body with the ids around it, as in `ports` (`2.then_body/5`). Raises `KeyError` if there is none."""
        prefix, _, own = str(id).rpartition("/")
        model = next((model for model, _ in self.graphs if model.prefix == (prefix and f"{prefix}/")), None)
        number = whole_number(own)
        if model is None or number is None:
            raise KeyError(id)
        return self.view(model.node(number))

    def view(self, node: Node) -> InferredLayer:
        slots, reading = (next(run.slots for model, run in one.graphs if model is node.model) for one in (self, self.reading))
        signature = node.layer.signature

        def port(slot: int, id: int) -> InferredPort:
            return InferredPort(self, slots[slot], id, reading[slot])

        inputs = [port(slot, id) for slot, id in zip(node.sources, signature.input_ids, strict=True) if slot >= 0]
        return InferredLayer(node, inputs, [port(slot, id) for slot, id in enumerate(signature.output_ids, node.first_slot)])

    def _outputs(self) -> Iterable[tuple[str, Fact]]:
        """The facts of outputs by `LAYER:PORT`, of layers with one id those of the last; outputs that no layer lists get the next ids."""
        for model, run in self.graphs:
            gone = {slot for node in model.nodes if node.is_dropped for slot in node.slots}
            known = zip(model.port_keys, run.slots, strict=False)  # behind the slots of the outputs are those of no output
            yield from (one for _, one in sorted(enumerate(known), key=lambda one: one[0] in gone)) if gone else known
            for index, facts in run.unlisted.items():
                node = model.nodes[index]
                records = node.layer.signature.records
                before = records[-1][0] + 1 if records else 0
                yield from ((f"{node.key}:{id}", fact) for id, fact in enumerate(facts, before))

    @property
    def ports(self) -> dict[str, tuple[str, str]]:
        """Element type and shape of every output port, in OpenVINO's notation, by `LAYER:PORT` with the ids of the file.

        OpenVINO converts the inputs and outputs of an IR of version 10. Their ports have the types that OpenVINO shows.
        """
        written: dict[Fact, tuple[str, str]] = {}
        ports: dict[str, tuple[str, str]] = {}
        for key, fact in self._outputs():
            said = written.get(fact)
            if said is None:
                said = written[fact] = fact.element_type.name, self.format(fact.shape)
            ports.setdefault(key, said)  # two ports with one id: edges mean the first
        if self.model.ir_version == 10:
            for key, element_type in self._legacy_types().items():
                ports[key] = element_type.name, ports[key][1]
        return ports

    def _legacy_types(self) -> dict[str, ElementType]:
        """The element types that OpenVINO shows for the inputs and outputs of an IR of version 10."""
        shown = {}
        for node in self.model.parameters:
            for port, view in zip(node.outputs, self.view(node).outputs, strict=True):
                if view.element_type is ElementType.f16:
                    shown[f"{node.id}:{port.id}"] = ElementType.f32
        for node in self.model.results:
            source = node.inputs[0].source if node.is_live and node.inputs else None
            # OpenVINO converts no output of a node with several outputs.
            if source is not None and source.node.layer.signature.output_count == 1:
                key = f"{source.node.id}:{source.id}"
                shown[key] = _LEGACY.get(self.view(source.node).outputs[source.index].element_type, ElementType.f32)
        return shown

    @property
    def formulas(self) -> dict[str, str]:
        """The shapes of output ports as formulas, by `LAYER:PORT`, for shapes with a size that is not a plain number."""
        formulas: dict[str, str] = {}
        written: dict[tuple[Fact, Fact], str] = {}
        for (key, fact), (_, reading) in zip(self._outputs(), self.reading._outputs(), strict=True):
            text = written.get((fact, reading))
            if text is None:
                is_open = fact.shape is not None and any(isinstance(size, Dim) for size in fact.shape)
                text = written[fact, reading] = self.reading.symbolic(reading.shape) if is_open else ""
            if text:
                formulas[key] = text
        return formulas

    def xml(self) -> bytes:
        """The file with the inferred facts in its ports; a file that could not be read to its end is unchanged."""
        if not self.document.is_complete:
            return self.document.source
        from irshape.inference.annotation import annotation
        from irshape.xml.writer import annotate

        return annotate(self.document, annotation(self.graphs, self.reading.graphs, self.given, self.reading.symbols, self.format))

    def __repr__(self) -> str:
        counts = Counter(diagnostic.severity for diagnostic in self.diagnostics)
        return f"<Inference of {self.document.path or self.model.name!r}: {counted(self.model.layer_count, 'layer')}, {verdict(counts)}>"

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        in_place: bool = False,
        weights: Literal["copy", "link", "none"] = "copy",
    ) -> None:
        """Write the annotated file and its weights, all or nothing, as `irshape.api.inference` says. Raises `OSError`, `ValueError`."""
        from irshape.xml.writer import write_ir

        if self.rewriting is not None and (weights != "copy" or in_place):
            raise ValueError('a rewritten model needs a copy of the weights: write another path with weights="copy"')
        write_ir(path, self.xml(), source=self.document.path, weights=self.weights, how=weights, force=force, in_place=in_place)

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`."""
        from irshape.inference.forms import REPORT

        _ = self.ports, self.guards  # which may report that they are not whole
        return REPORT(self)


def conclude(engine: Engine, *, remarks: Iterable[Diagnostic] = (), asked: Inputs | None = None) -> Inference:
    """The inference of an engine that has run. `remarks` are further diagnostics, `asked` are the inputs that the engine was given."""
    found, steps = gathered(engine, remarks)
    inference = Inference(engine, found.without(is_about_specification) if found else found, asked)
    inference.steps = steps
    return inference


def gathered(engine: Engine, remarks: Iterable[Diagnostic]) -> tuple[Diagnostics, int]:
    """The diagnostics of a file, its graphs and a pass, and the steps that the pass took. Further questions get work of their own."""
    model, document = engine.model, engine.model.document
    work = engine.scope.work
    steps = work.most - work.left
    work.renew()  # for what is asked of the answer
    found = Diagnostics(document.limits.faults)
    passed: Iterable[Diagnostic] = engine.diagnostics
    # An edge to a port that a layer does not list tells why the layer lacks an input.
    if model.diagnostics and (misled := [(one.where.layer_id, one.where.path) for one in model.diagnostics if one.code == "G103"]):
        passed = [one for one in engine.diagnostics if one.code != "G107" or (one.where.layer_id, one.where.path) not in misled]
    parts = (document.diagnostics, model.diagnostics, remarks, passed)
    for part in parts if document.is_complete else parts[:1]:
        if part:
            found += part
    # What reading found belongs to the model, and a diagnosis changes what it is given.
    found[:] = [one._with_severity(one.severity) for one in found]
    return found, steps
