"""Policies: demands of a target on a model beyond being valid. A violation names its cause, and each cause once.

A policy examines an inference. If a hundred layers have no upper bound because one input has none, it names the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from irshape.answers.roots import Root, firsts, is_unbounded, roots
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import counted

# The most axes of a shape that a hint spells out.
_MOST_AXES: Final = 16


class Violation(NamedTuple):
    """A violation of a policy, with the layer that causes it."""

    code: str
    message: str
    node: Node
    hint: str | None = None


Policy: TypeAlias = Callable[[Inference], Iterator[Violation]]


def _static_shapes(inference: Inference) -> Iterator[Violation]:
    """Require that every size is a number."""
    yield from _ranked(inference)
    yield from _sizes(inference, "P101", "is not fixed", lambda root: root.ports)


def _bounded(inference: Inference) -> Iterator[Violation]:
    """Require that every size has an upper bound."""
    yield from _ranked(inference)
    yield from _sizes(inference, "P102", "is unbounded", lambda root: root.unbounded)


def _ranked(inference: Inference) -> Iterator[Violation]:
    """Require that the rank of every tensor is known."""
    for node, count in firsts(inference, lambda fact: fact.shape is None).items():
        hint = f"give the input a shape, as in {node.name}[1,3,224,224]" if node.type == "Parameter" else None
        yield Violation("P103", f"the rank is unknown: {_depend(count)}", node, hint)


def _max_rank(inference: Inference, limit: int) -> Iterator[Violation]:
    """Require that no tensor has a rank above the limit; of several layers of one type, only the first is named."""
    by_type: dict[str, list[tuple[Node, int]]] = {}
    for node, count in firsts(inference, lambda fact: fact.shape is not None and len(fact.shape) > limit).items():
        by_type.setdefault(node.type, []).append((node, count))
    for type, found in by_type.items():
        node, ports = found[0][0], sum(count for _, count in found)
        rank = max(len(port.shape or ()) for port in inference.view(node).outputs)
        others = f" here and at {len(found) - 1} more {type}" if len(found) > 1 else ""
        yield Violation("P104", f"rank {rank} exceeds {limit}{others}: {_depend(ports)}", node)


_CAUSES: Final = {
    "data": "the size depends on data and",
    "iteration": "the size that one iteration passes to the next",
    "variable": "the size of the variable",
    "recorded": "the recorded size",
}


def _sizes(inference: Inference, code: str, fault: str, count: Callable[[Root], int]) -> Iterator[Violation]:
    """One violation for each axis of an input, and one for each other layer; a size that follows from an unknown rank is none."""
    others: dict[Node, list[Root]] = {}
    for root in roots(inference):
        if not count(root):
            continue
        if root.kind == "input":
            size = inference.format((root.size,)).strip("[]")
            known = f"only {size} is valid" if size.isdecimal() else size
            message = f"axis {root.axis} of input {root.node.name!r} {fault} ({known}): {_depend(count(root))}"
            yield Violation(code, message, root.node, _example(inference, root.node, code))
        elif root.kind != "rank":
            others.setdefault(root.node, []).append(root)
    for node, found in others.items():
        yield Violation(code, f"{_CAUSES[found[0].kind]} {fault}: {_depend(max(map(count, found)))}", node)


def _depend(count: int) -> str:
    return f"{counted(count, 'port')} {'depends' if count == 1 else 'depend'} on it"


def _example(inference: Inference, node: Node, code: str) -> str | None:
    """A hint with a shape of the input that meets the policy; None for a shape that nobody reads."""
    shape = inference.view(node).outputs[0].shape or ()
    if len(shape) > _MOST_AXES:
        return None
    if code == "P101":
        return f"fix it, as in {node.name}[{','.join(str(size) if isinstance(size, int) else '8' for size in shape)}]"
    sizes = []
    for size in shape:
        low = max(inference.bounds(size)[0], 1)
        sizes.append(f"{low}..{max(low, 512)}" if is_unbounded(inference.bounds(size)) else inference.format((size,)).strip("[]"))
    return f"bound it, as in {node.name}[{','.join(sizes)}]"


# The NPU compiler refuses a model with a dimension that has no upper bound, or without a rank (openvinotoolkit/openvino#34617, #34651).
POLICIES: Final[dict[str, Policy]] = {"static-shapes": _static_shapes, "bounded": _bounded, "ranked": _ranked, "npu": _bounded}
MAX_RANK: Final = "max-rank"


def find_policies(names: Iterable[str]) -> list[tuple[str, Policy]]:
    """The policies with these names, such as `npu` or `max-rank=6`. Raises InputError for an unknown name."""
    found: list[tuple[str, Policy]] = []
    for name in names:
        key, _, number = name.partition("=")
        if key == MAX_RANK and number.isdecimal() and number.isascii() and len(number) < 10:
            limit = int(number)
            found.append((name, lambda inference, limit=limit: _max_rank(inference, limit)))  # type: ignore[misc]
        elif name in POLICIES:
            found.append((name, POLICIES[name]))
        else:
            raise InputError(f"there is no target {name!r}; the targets are {', '.join(POLICIES)} and {MAX_RANK}=N")
    return found


def violations(inference: Inference, policies: Iterable[tuple[str, Policy]]) -> list[Diagnostic]:
    """The violations of the policies as diagnostics; a violation of several policies is reported once."""
    found: dict[Violation, list[str]] = {}
    for name, policy in policies:
        for violation in policy(inference):
            targets = found.setdefault(violation, [])
            if name not in targets:
                targets.append(name)
    diagnostics = []
    for one, targets in found.items():
        where = place(inference.document, one.node.layer, one.node.layer.offset, None, one.node.model.path)
        diagnostics.append(Diagnostic(one.code, f"{one.message} (target {', '.join(targets)})", where, None, one.hint))
    return diagnostics
