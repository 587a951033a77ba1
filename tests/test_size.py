"""No class has more than 25 methods, no file more than 700 lines, no function more than 8 parameters or 50 lines, without a reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.places import ROOT

MOST_METHODS, MOST_LINES, MOST_PARAMETERS, LONGEST = 25, 700, 8, 50

OPTIONS = "each keyword is an option of the verb"
FIELDS = "each parameter is a field of the object"
# What is larger, and why it stays whole.
REASONS = {
    "answers/cost/cost.py": "one answer has its amounts, its form and its text in one place",
    "answers/roots.py:roots": "one walk over the graph, with a case for each kind of layer",
    "answers/signature/unify.py:Unifier": "the steps of one fixpoint share the ties between symbols",
    "answers/sizes.py:ValidSizes": "the answer and the questions to it share the solved conditions",
    "api/verbs.py:diff": OPTIONS,
    "cli/scan.py:on_cluster": "one loop over the tasks that are sent and come back",
    "cli/workers.py:in_workers": "one loop over the tasks that are sent and come back",
    "diagnosis/changes.py:Changes": "one search, whose kinds of changes share the witnesses",
    "diagnosis/recorded.py:compare_recorded": "one loop over the layers, on which the time of a check goes",
    "editing/state.py:State": "every change of a graph stands beside the others that share its journal",
    "inference/inference.py:Inference": "the result of a pass has a part for each question",
    "inference/plan/plan.py:Plan.__init__": FIELDS,
    "inference/schedule.py:schedule": "one walk from the last node to the first",
    "ops/flow.py:Flow": "what a rule says, asks and concludes of axes shares the claims",
    "ops/port.py:In.__init__": FIELDS,
    "ops/port.py:Input.__init__": FIELDS,
    "report/diagnostic.py:Where.__init__": FIELDS,
    "running/comparison.py:compare": OPTIONS,
    "scanning/row.py:scan": "a keyword for each option of the command",
    "shape/polynomial.py": "the normal form: every operation keeps the same invariants",
    "shape/polynomial.py:PolynomialTable": "the normal form: every operation keeps the same invariants",
    "testing.py:assert_same": OPTIONS,
    "xml/fastlane.py:_Lane.run": "the loop on which the time of reading goes",
    "xml/reader.py:_Reader": "a function for each tag that has a meaning",
}


def larger(path: Path) -> Iterator[str]:
    """The name of each thing in a file that is larger than it should be."""
    name, text = path.relative_to(ROOT / "irshape").as_posix(), path.read_text("utf-8")
    if text.count("\n") > MOST_LINES:
        yield name
    pending: list[tuple[str, ast.AST]] = [("", ast.parse(text))]
    while pending:
        prefix, tree = pending.pop()
        for one in ast.iter_child_nodes(tree):
            if isinstance(one, ast.ClassDef):
                if sum(isinstance(part, ast.FunctionDef) for part in one.body) > MOST_METHODS:
                    yield f"{name}:{prefix}{one.name}"
                pending.append((f"{prefix}{one.name}.", one))
            elif isinstance(one, ast.FunctionDef):
                given = [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs]
                count = len(given) - (bool(prefix) and given[:1] != [] and given[0].arg in ("self", "cls"))
                if count > MOST_PARAMETERS or (one.end_lineno or 0) - one.lineno >= LONGEST:
                    yield f"{name}:{prefix}{one.name}"
                pending.append((f"{prefix}{one.name}.", one))


def test_what_is_large_has_a_reason() -> None:
    found = {one for path in (ROOT / "irshape").rglob("*.py") for one in larger(path)}
    assert found - REASONS.keys() == set(), "split it by concern, or say in one sentence why it stays whole"
    assert REASONS.keys() - found == set(), "these are no longer large: remove their reasons"
