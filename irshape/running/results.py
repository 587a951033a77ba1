"""The answer of a comparison: each run, the difference of each output, and the first layer that differs."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Final, NamedTuple

from irshape.answers.diff import DIFFERENCE
from irshape.model.model import Model
from irshape.report.form import KEY, KINDS, NAME, TOOL_FIELD, TYPE, Field, Form, described, word
from irshape.report.surface import Guessed
from irshape.report.text import counted, some
from irshape.running.inputs import Shapes

# The part of the largest number of an output by which numbers may differ, for the rounding that separates two models.
_RTOL: Final = {"f32": 1e-4, "f16": 1e-2, "int8": 1e-1}
# That of two models which quantise alike: a number at the border of a step falls to either side.
_STEPS: Final = 1e-2
_ATOL: Final = 1e-6
_HALVES: Final = frozenset({"f16", "bf16"})
_BYTES: Final = frozenset({"i8", "u8", "i4", "u4", "nf4", "f8e4m3", "f8e5m2", "f4e2m1", "i2", "u2", "u1"})


class Tolerance(NamedTuple):
    """Numbers are equal if they differ by no more than `atol` plus `rtol` times the largest number of the output.

    `precision` is that whose rounding separates the models.
    """

    rtol: float
    atol: float
    precision: str

    @classmethod
    def of(cls, a: Model, b: Model, rtol: float | None, atol: float | None) -> Tolerance:
        """The tolerance for two models: models that round alike must agree as closely as single precision allows."""
        rounds = [_rounding(model) for model in (a, b)]
        differing = rounds[0] ^ rounds[1]
        precision = "int8" if "int8" in differing else "f16" if "f16" in differing else "f32"
        usual = _RTOL[precision]
        if "int8" not in differing and _quantises(a) and _quantises(b):
            precision, usual = "int8", max(usual, _STEPS)
        return cls(usual if rtol is None else rtol, _ATOL if atol is None else atol, precision)

    def admits(self, found: dict[str, Any]) -> bool:
        """Whether two arrays are equal; numbers that no rounding touches must be the same."""
        if found["absolute"] is None:
            return False
        allowed = 0 if found["is_exact"] and self.precision != "int8" else self.atol + self.rtol * found["largest"]
        return bool(found["absolute"] <= allowed)


def _rounding(model: Model) -> set[str]:
    """The precisions below single precision to which a model rounds: those of its constants and its FakeQuantize layers."""
    types = {str(node.layer.attributes.get("element_type", "")) for graph in model.graphs() for node in graph.of_type("Const")}
    is_quantised = _quantises(model)
    return {name for name, found in (("f16", types & _HALVES), ("int8", types & _BYTES or is_quantised)) if found}


def _quantises(model: Model) -> bool:
    """Whether a model has layers that round to few steps."""
    return any(graph.of_type("FakeQuantize", "FakeConvert") for graph in model.graphs())


class OutputDifference(NamedTuple):
    """How much an output, or a tensor inside the models, differs.

    `absolute` is the largest difference, None if it has no number: other shapes, texts, or a number that only one side has. `relative` is
    its part of the largest number of the first model. `at` is the index where it is, and `values` are both elements there. `finite` is the
    number of elements that are numbers on both sides. `is_constant` says that these are one number, so that equal ones prove nothing.
    """

    name: str
    shapes: tuple[list[int], list[int]]
    absolute: float | None
    relative: float | None
    cosine: float | None
    at: list[int] | None
    values: list[str] | None
    finite: int
    is_constant: bool
    is_same: bool

    @classmethod
    def of(cls, name: str, found: dict[str, Any], tolerance: Tolerance) -> OutputDifference:
        """The difference that the process which runs the models has found."""
        return cls(name, **{key: found[key] for key in cls._fields[1:-1]}, is_same=tolerance.admits(found))


class Run(NamedTuple):
    """One run of both models: the shapes of the inputs of each, the outputs, and by letter (`a`, `b`) why a model failed."""

    shapes: Shapes
    shapes_of_b: Shapes
    outputs: list[OutputDifference]
    failures: dict[str, str]

    @property
    def is_same(self) -> bool:
        """Whether both models ran, and all outputs are equal."""
        return not self.failures and all(one.is_same for one in self.outputs)


class FirstDifference(NamedTuple):
    """The first layer at which two models differ: its names in both, its type, its output, and the corresponding tensors before it.

    `before` are equal. `runs` is the number of runs that the search took.
    """

    layer: str
    layer_of_b: str
    type: str
    key: str
    output: OutputDifference
    before: list[OutputDifference]
    runs: int


class RunComparison(Guessed):
    """The outputs of two models for equal inputs, run by run.

    `a` and `b` name the models, `runs` has each run, and `tolerance` what counts as equal. `missing` are outputs that only `a` has, and
    `renamed` those with another name in `b`. `first` is the first layer that differs, if that was asked for and one was found.
    """

    def __init__(self, a: str, b: str, tolerance: Tolerance, missing: list[str], renamed: dict[str, str]) -> None:
        self.a = a
        self.b = b
        self.tolerance = tolerance
        self.missing = missing
        self.renamed = renamed
        self.runs: list[Run] = []
        self.first: FirstDifference | None = None
        self._unfound: str | None = None

    @property
    def is_same(self) -> bool:
        """Whether every output that both models have is equal in every run."""
        return all(run.is_same for run in self.runs)

    @property
    def _constant(self) -> list[str]:
        """The outputs that are one number everywhere in each run, such as 0, or no number: that they are equal proves nothing."""
        outputs = [one for run in self.runs for one in run.outputs]
        return [name for name in dict.fromkeys(one.name for one in outputs) if all(one.is_constant for one in outputs if one.name == name)]

    @property
    def _proves_nothing(self) -> bool:
        """Whether no output has different numbers."""
        return self._constant == list(dict.fromkeys(one.name for run in self.runs for one in run.outputs))

    @property
    def _has_other_shapes(self) -> bool:
        """Whether an output has another shape in each model."""
        return any(one.shapes[0] != one.shapes[1] for run in self.runs for one in run.outputs)

    @property
    def summary(self) -> str:
        """The answer in one line."""
        runs = counted(len(self.runs), "run")
        failed = {letter: why for run in self.runs for letter, why in run.failures.items()}
        for letter, why in failed.items():
            return f"model {letter.upper()} fails where the other model runs: {why}"
        outputs = [one for run in self.runs for one in run.outputs]
        differing = list(dict.fromkeys(one.name for one in outputs if not one.is_same))
        if differing:
            verb, known = "differs" if len(differing) == 1 else "differ", len({one.name for one in outputs})
            return f"{counted(len(differing), 'output')} of {known} {verb} in {runs}: {some(differing, 3)}"
        largest = max((one.relative or 0.0 for one in outputs), default=0.0)
        doubt = f"; this proves nothing of {some(constant, 3)}: the same number everywhere" if (constant := self._constant) else ""
        if constant and self._proves_nothing:
            number = "the same number everywhere" if any(one.finite for one in outputs) else "NaN or infinity everywhere"
            doubt = f"; this proves nothing, because each has {number}"
        return f"equal outputs in {runs}{f', to {largest:.1g} of the largest number' if largest else ''}{doubt}"

    def __repr__(self) -> str:
        return f"<RunComparison: {self.summary}>"

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/comparison.schema.json`."""
        return COMPARISON(self)


_SHAPE: Final = {"type": "array", "items": KINDS["count"]}
_NUMBER_OR_NONE: Final = "null if there is no number: other shapes, texts, infinities"
_OUTPUT: Final = Form(
    name="text: the name of the tensor",
    shapes=Field({"type": "array", "items": _SHAPE, "description": "the shape in each model"}, convert=lambda shapes, _: list(shapes)),
    absolute=f"real?: the largest difference of two elements; {_NUMBER_OR_NONE}",
    relative=f"real?: its part of the largest number of the first model; {_NUMBER_OR_NONE}",
    cosine="real?: the cosine of the angle between the numbers of both; null if one has none but 0, or they differ by an infinity or NaN",
    at=Field({"anyOf": [_SHAPE, {"type": "null"}], "description": "where the largest difference is"}),
    values=Field({"anyOf": [KINDS["texts"], {"type": "null"}], "description": "both elements there"}),
    finite="count: the number of elements that are numbers in both",
    is_constant="flag: these are one number, so that equal ones prove nothing",
    is_same="flag",
)


def _shapes_of(name: str) -> Field:
    schema = {"type": "object", "additionalProperties": _SHAPE}
    return Field(schema, name, lambda shapes, _: {input: list(shape) for input, shape in shapes.items()})


_RUN: Final = Form(
    is_same="flag: both models ran, and all outputs are equal",
    shapes=Form(a=_shapes_of("shapes"), b=_shapes_of("shapes_of_b")).one("the shapes of the inputs, by name", lambda run: run),
    outputs=_OUTPUT.list("the outputs that both models have"),
    failures="names: why OpenVINO does not run a model, by a and b",
)
_BEFORE: Final = _OUTPUT.list("the inputs of the layer")
_RUNS: Final = "count: the runs that the search took"
_FIRST: Final = Form(layer=NAME, layer_of_b=NAME, type=TYPE, key=KEY, output=_OUTPUT.one(), before=_BEFORE, runs=_RUNS)
_TOLERANCE: Final = Form(
    rtol=Field({"type": "number", "description": "the part of the largest number of an output that is no difference"}),
    atol=Field({"type": "number", "description": "the number that is no difference"}),
    precision=described("the precision whose rounding separates the models", word("f32", "f16", "int8")),
)
COMPARISON: Final = Form(
    tool=TOOL_FIELD,
    a="text: the path or the name of the first model",
    b="text: the path or the name of the second model",
    is_same="flag: every output that both models have is equal in every run",
    tolerance=_TOLERANCE.one(),
    missing="texts: the outputs that only the first model has",
    renamed="names: the outputs that the second model calls by another name",
    runs=_RUN.list("the runs"),
    first=_FIRST.maybe("the first layer that differs, if it was asked for"),
    unfound=("text?: why no such layer was found", "_unfound"),
)
# What `irshape diff --run` prints: the command adds the run.
DIFFERENCE_AND_RUN: Final = DIFFERENCE.extended(
    run=COMPARISON.one("the outputs of both models, run by OpenVINO; only where they are asked for", lambda _: None, optional=True)
)
# What `irshape diff` prints for folders.
FOLDERS: Final = Form(
    tool=TOOL_FIELD,
    a=("text: the first folder, or that of the references", itemgetter("a")),
    b=("text: the second folder", itemgetter("b")),
    files=Form(
        name="text: the path of the model in its folder",
        state=word("same", "written", "differs", "only in A", "only in B", "fails"),
        summary="text: the difference in a line",
        changes="texts: the differences from a reference",
        difference=Field(DIFFERENCE_AND_RUN.maybe("the difference of the models, if both folders have one").schema),
    ).list("the models", itemgetter("files")),
)
