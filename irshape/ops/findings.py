"""What a rule finds: faults, guards, and whether OpenVINO looks at what it demands."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NoReturn

from irshape.ops.op import Input, Op
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Dim, Scope, Size, bounds, eq, format_size, origins
from irshape.shape.guard import Judge, Premise, Requirement
from irshape.shape.polynomial import UNBACKED
from irshape.shape.range import Bound, interval_text


class RuleFailure(Exception):
    """The rule cannot go on. The reason has been recorded."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Findings(Judge):
    """The findings and the requirements of one application of a rule.

    `op` is the operation, `arguments` the inputs of its rule, and `key` a number that only this layer has. `findings` and `requirements`
    are what the rule has recorded.

    `is_unshared` says that the outcome holds symbols born in this layer, so that no other layer may share it. `openvino_knows_same` says
    that OpenVINO knows the same of the inputs; if not, another application tells what OpenVINO refuses. `is_static` says that every
    symbol stands for a number: then OpenVINO's bounds do not count, a requirement that no size fulfils is an error, and one that data
    and sizes decide together is a guard. `kept` is how many outputs the layer keeps if its inputs do not tell their number: as many as
    it had when the model was read, or 0 if no input has changed since. `states_types` is false where ports may leave their element types
    out, as the examples of the specification do.
    """

    __slots__ = (
        "_born", "arguments", "findings", "is_static", "is_unshared", "kept", "key", "op", "openvino_knows_same", "requirements",
        "states_types",
    )  # fmt: skip

    def __init__(self, scope: Scope, op: Op, key: int) -> None:
        super().__init__(scope)
        self.op = op
        self.key = key
        self.arguments: Sequence[Any] = ()
        self.findings: list[Finding] = []
        self.requirements: list[Requirement] = []
        self.is_unshared = False
        self.openvino_knows_same = True
        self.is_static = False
        self.kept = 0
        self.states_types = True
        self._born = 0

    def _is_known(self, at: Sequence[Input | Size]) -> bool | None:
        """Whether OpenVINO knows these sizes, and all values of these inputs, as numbers.

        None if only running the model tells a value: then OpenVINO never looks, and nothing becomes a guard.
        """
        is_known = True
        for one in at:
            if isinstance(one, Dim):
                is_known = False
            elif isinstance(one, Input):
                if one.elements is None:
                    return None
                for element in one.elements:
                    if isinstance(element, Dim):
                        if origins(element) & UNBACKED:
                            return None
                        is_known = False
        return is_known

    def scope_of(self, requirement: Requirement) -> tuple[int, bool]:
        """What the open scopes and the operation say of a requirement, as in `Judge`."""
        hook = self.op.openvino_checks
        if hook is None or self._assumes or not self.arguments:
            return self._look, self._is_guarded
        answer = hook(self, requirement, *self.arguments)
        return self._narrowed(*answer) if isinstance(answer, tuple) else self._narrowed(answer)

    def _look_at(self, code: str, message: str, port: Input) -> int:
        """What OpenVINO looks at when it checks what a rule finds of an input without asking about sizes."""
        return self.scope_of(Requirement("ge", 0, 1, message, code, {"port": port.name}))[0]

    def violated(self, requirement: Requirement) -> None:
        """Record an error: the requirement does not hold."""
        self.findings.append(Finding(requirement.code, f"{requirement.message}{_seen(requirement)}"))

    def never(self, requirement: Requirement) -> None:
        """Record a warning: no size fulfils the requirement, but OpenVINO accepts it until the sizes are numbers."""
        is_refused = self.is_static and self.scope_of(requirement)[1] and not _origins(requirement) & UNBACKED
        code = requirement.code if is_refused else "R401"
        self.findings.append(Finding(code, f"no size fulfils this: {requirement.message}{_seen(requirement)}"))

    def undecided(self, requirement: Requirement) -> None:
        """Record a guard: the requirement depends on the sizes of the inputs.

        A requirement that also depends on data says nothing about the sizes alone, so it is no guard; a premise always counts.
        """
        found = _origins(requirement)
        if isinstance(requirement, Premise) or not found & UNBACKED or found == UNBACKED or self.is_static:
            self.requirements.append(requirement)

    def error(self, code: str, message: str, *, port: Input | None = None, attribute: str | None = None, hint: str | None = None) -> None:
        """Record a finding, and go on."""
        self.findings.append(Finding(code, message, None if port is None else port.index, attribute, hint))

    def warn(self, code: str, message: str, *, port: Input | None = None, attribute: str | None = None, hint: str | None = None) -> None:
        """Record a finding; its code says that it is a warning."""
        self.error(code, message, port=port, attribute=attribute, hint=hint)

    def fail(
        self, code: str, message: str, *, port: Input | None = None, attribute: str | None = None, hint: str | None = None
    ) -> NoReturn:
        """Record a fault, and end the rule."""
        self.error(code, message, port=port, attribute=attribute, hint=hint)
        raise RuleFailure

    def expect(self, value: Size, wanted: int, message: str, port: Input) -> None:
        """Warn if a value is known and not the wanted one. The specification demands it, and OpenVINO does not check it."""
        if eq(value, wanted) is False and isinstance(value, int):
            self.warn("R201", f"{message}, got {value}", port=port)

    def at_least(self, value: int, limit: int, attribute: str) -> None:
        """Demand that an attribute is at least a limit, where OpenVINO checks it only if the rank of the data is known."""
        if value < limit:
            self.fail("A104", f"{attribute} must be at least {limit}, got {value}", attribute=attribute)

    def one_of(self, word: str, words: Sequence[str], attribute: str) -> None:
        """Demand that an attribute is one of these words, in the same case."""
        if word not in words:
            self.fail("A103", f"{attribute} must be {' or '.join(words)}, got {word!r}", attribute=attribute)

    def stop_at_errors(self) -> None:
        """End the rule if it has found an error, because further findings would be consequences of it."""
        if self.has_errors():
            raise RuleFailure

    def has_errors(self, since: int = 0) -> bool:
        """Whether an error is among the findings, from the one at `since` on."""
        return len(self.findings) > since and any(finding.is_error for finding in self.findings[since:])

    def unknown(self, low: Bound = 0, high: Bound = inf) -> Size:
        """A size that only running the layer tells: a symbol that belongs to the layer."""
        self._born += 1
        size = self.scope.unknown((self.key, "size", self._born), low, high, is_unbacked=bool(self.op.inputs))
        self.is_unshared |= isinstance(size, Dim) and not self.scope.has_intervals_only
        return size


_UNLIKE = {
    "eq": "{a} and {b} differ",
    "ge": "{a} is less than {b}",
    "div": "{a} is not a multiple of {b}",
    "stretch": "{a} is neither {b} nor 1",
    "broadcast": "{a} and {b} are neither equal nor 1",
}


def _origins(requirement: Requirement) -> int:
    return origins(requirement.a) | origins(requirement.b)


def _seen(requirement: Requirement) -> str:
    """The sizes that break a requirement."""
    a, b = (format_size(size) if bounds(size)[0] >= 0 else interval_text(*bounds(size)) for size in (requirement.a, requirement.b))
    return ": " + _UNLIKE[requirement.kind].format(a=a, b=b)
