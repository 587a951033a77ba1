"""Policies: demands of a target on a model beyond being valid. A violation names its cause, and each cause once.

A policy examines an inference. If a hundred layers have no upper bound because one input has none, it names the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from shlex import quote
from typing import Final, TypeAlias

from irshape.answers.open_sizes import BOUNDED, FIXED, OpenSizes, Violation, depend, unbounded_for_openvino, without_state
from irshape.answers.roots import firsts
from irshape.answers.second_inference import outgrown
from irshape.inference.engine import Engine
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.inference.remedy import Remedy
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import counted

Policy: TypeAlias = Callable[[Inference], Iterator[Violation]]


def _static_shapes(inference: Inference) -> Iterator[Violation]:
    """Require that every size is a number."""
    yield from _ranked(inference)
    yield from OpenSizes(inference, FIXED).violations()
    yield from _second(inference)


def _bounded(inference: Inference) -> Iterator[Violation]:
    """Require that every size has an upper bound."""
    yield from _ranked(inference)
    yield from OpenSizes(inference, BOUNDED).violations()


def _npu(inference: Inference) -> Iterator[Violation]:
    """Require what the NPU compiler does: bounded sizes, and that OpenVINO finds the bounds, too."""
    found = [*_bounded(inference), *_second(inference)]
    yield from found
    if found or not inference.ok:
        return
    engine = Engine(inference.model, inference.weights, inference.opaque, work=inference.scope.work)
    engine.run(inference.wanted.question(engine))
    if lost := unbounded_for_openvino(engine):
        more = f" and {counted(len(lost) - 1, 'more layer')}" if len(lost) > 1 else ""
        message = f"OpenVINO finds no upper bound of an output of this layer{more}"
        hint = "the compiler may refuse the model, although irshape knows a bound of every size"
        if inference.model.of_type("ReadValue"):
            hint = f"{hint}; if the sizes depend on the state, {without_state(inference.model, 'give all inputs numbers')}"
        yield Violation("P105", message, lost[0], hint)


def _second(inference: Inference) -> Iterator[Violation]:
    """Require that a second inference can run, if the model has state and its inputs have fixed shapes."""
    if (one := outgrown(inference)) is not None:
        yield one


def _named_outputs(inference: Inference) -> Iterator[Violation]:
    """Require that the tensor of every output of the model has a name."""
    for node in inference.model.results:
        source = node.inputs[0].source if node.inputs else None
        if source is not None and not source.names:
            edit = f"irshape edit {quote(node.model.document.path or 'FILE')} --name {quote(f'{source.node.key}:{source.id}=NAME')}"
            giver = f"{source.node.type} {source.node.name!r}"
            message = f"the tensor of this output, which {giver} gives, has no name: programs find the output by its position only"
            yield Violation("P107", message, node, f"give the tensor a name: {edit}")


def _ranked(inference: Inference) -> Iterator[Violation]:
    """Require that the rank of every tensor is known."""
    for node, count in firsts(inference, lambda fact: fact.shape is None).items():
        hint = f"give the input a shape, as in {node.name}[1,3,224,224]" if node.type == "Parameter" else None
        yield Violation("P103", f"the rank is unknown: {depend(count)}", node, hint)


def _max_rank(inference: Inference, limit: int) -> Iterator[Violation]:
    """Require that no tensor has a rank above the limit; of several layers of one type, only the first is named."""
    by_type: dict[str, list[tuple[Node, int]]] = {}
    for node, count in firsts(inference, lambda fact: fact.shape is not None and len(fact.shape) > limit).items():
        by_type.setdefault(node.type, []).append((node, count))
    for type, found in by_type.items():
        node, ports = found[0][0], sum(count for _, count in found)
        rank = max(len(port.shape or ()) for port in inference.view(node).outputs)
        others = f" here and at {len(found) - 1} more {type}" if len(found) > 1 else ""
        yield Violation("P104", f"rank {rank} exceeds {limit}{others}: {depend(ports)}", node)


Policies: TypeAlias = Sequence[tuple[str, Policy]]
"""Policies with their names."""

# The NPU compiler refuses a model with a dimension that has no upper bound, or without a rank (openvinotoolkit/openvino#34617, #34651).
POLICIES: Final[dict[str, Policy]] = {
    "static-shapes": _static_shapes,
    "bounded": _bounded,
    "ranked": _ranked,
    "npu": _npu,
    "named-outputs": _named_outputs,
}
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


def judge(inference: Inference, policies: Policies) -> None:
    """Report the violations of the policies; a violation of several policies is reported once.

    `Inference.remedy` has the sizes of symbols that mend them, as far as sizes do.
    """
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
    sizes = {name: size for one in found for name, size in one.sizes}
    shapes = {name: shape for one in found for name, shape in one.shapes}
    if sizes or shapes:
        inference.remedy = Remedy(next(targets[0] for one, targets in found.items() if one.sizes or one.shapes), sizes, shapes)
    inference.report(diagnostics)
