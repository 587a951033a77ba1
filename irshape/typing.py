"""The names that only annotations need: `from irshape.typing import Change, Source`.

They are the classes of the parts of results, which a program meets without making them, and the types of arguments.
"""

from typing import TYPE_CHECKING, Any

from irshape.answers.cost.cost import Comparison, CostTensor, Swept, Variable
from irshape.answers.cost.counting import LayerCost
from irshape.answers.cost.formula import Amount, Formula
from irshape.answers.cost.memory import Peak, Reuse, Stretch
from irshape.answers.diff import Change, Effect
from irshape.answers.explain.explanation import Read, Step
from irshape.answers.info import InfoTensor, Oldest
from irshape.answers.question import Condition
from irshape.answers.signature.notes import Because, DataSize, Note
from irshape.answers.sizes import Nearest, Undecided
from irshape.answers.summary import Module
from irshape.api.inference import SymbolsAs
from irshape.api.reading import Reading
from irshape.editing.extract import Loss
from irshape.editing.simplify import Simplification
from irshape.editing.state import EditStep
from irshape.editing.verbs import Extraction
from irshape.inference.inputs import ShapeLike, Shapes, Symbols
from irshape.inference.plan.plan import Plan
from irshape.ops.extensions import Extensions
from irshape.report.catalogue import Code
from irshape.report.diagnostic import Edit, Fix
from irshape.running.results import FirstDifference, OutputDifference, Run, Tolerance
from irshape.shape.guard import Requirement
from irshape.xml.rt_info import RtInfo

if TYPE_CHECKING:
    from irshape.xml.source import Source
    from irshape.xml.weights import WeightsChoice, WeightsSource
else:  # these types name protocols that exist for a type checker only
    Source = WeightsChoice = WeightsSource = Any

__all__ = [
    "Amount", "Because", "Change", "Code", "Comparison", "Condition", "CostTensor", "DataSize", "Edit", "EditStep", "Effect", "Extensions",
    "Extraction", "FirstDifference", "Fix", "Formula", "InfoTensor", "LayerCost", "Loss", "Module", "Nearest", "Note", "Oldest",
    "OutputDifference", "Peak", "Plan", "Read", "Reading", "Requirement", "Reuse", "RtInfo", "Run", "ShapeLike", "Shapes", "Simplification",
    "Source", "Step", "Stretch", "Swept", "Symbols", "SymbolsAs", "Tolerance", "Undecided", "Variable", "WeightsChoice", "WeightsSource",
]  # fmt: skip
