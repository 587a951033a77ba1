"""The dims and precisions that a file records, compared with the inferred facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, Final, TypeAlias

from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.model.build import place
from irshape.model.model import Node, reached
from irshape.report.diagnostic import Diagnostic, clipped
from irshape.shape.dim import bounds
from irshape.shape.element_type import ElementType
from irshape.shape.notation import parse_parameter_shape
from irshape.shape.shape import Shape, format_shape
from irshape.xml.document import LayerSignature, Port

# The codes of records that the model contradicts.
RECORDS: Final = ("R301", "R302")
# The most faults before a port of which each may be the reason for another one there.
_MOST_ROOTS: Final = 4
# The most records with an open size that are mistakes; a writer that does not know the sizes leaves more of them open.
MOST_LOOSE: Final = 3
# What was found of recorded precision and dims, and the fact that they were compared with.
_DECLARED: Final = ("Parameter", "Const")
_Known: TypeAlias = dict[tuple[str | None, tuple[int, ...] | None, Fact], tuple[list[tuple[str, str]], list[tuple[str, str]]]]
# The ports of a node whose records the model contradicts: position, code and message; and the inputs that may record more or less.
_Found: TypeAlias = tuple[list[tuple[int, str, str]], list[int]]
_NOTHING: Final[_Found] = ([], [])


def compare_recorded(engine: Engine, *, is_as_read: bool) -> tuple[dict[Diagnostic, list[int]], list[Diagnostic]]:
    """Recorded dims and precisions that contradict the inferred facts, each with the places of later ports that follow from it.

    A recorded -1 fits any size, but not where the inputs of a layer record all that OpenVINO knows of them (`is_decided`). A port without
    `<dim>` fits a scalar and any unknown rank. If a port after a differing port differs, too, it is only counted there, because it is out
    of date for the same reason. `is_as_read` means that the inputs have the shapes of the file; what follows from others is no fault.
    Those that fit, but are less exact, are given a second time if there are many.
    """
    model, document = engine.model, engine.model.document
    asked: list[Diagnostic] = []
    loose: list[Diagnostic] = []
    roots: dict[tuple[str, int], tuple[tuple[Diagnostic, ...], str]] = {}
    behind: dict[Diagnostic, list[int]] = {}
    outputs: Counter[Diagnostic] = Counter()
    run, stubs = engine.current, model.stubs
    slots = run.slots
    # Layers with the same signature and the same outcome need not be compared again.
    taken: object
    compared: dict[tuple[LayerSignature, object], _Found] = {}
    known: _Known = {}
    for node, taken in zip(engine.schedule.nodes, run.outcomes or [None] * len(engine.schedule.nodes), strict=True):
        signature = node.layer.signature
        if taken is None and node.layer.weights_at is not None:  # a Const that is read: the signature tells its type
            fact = slots[node.first_slot]
            taken = fact.shape, fact.is_poisoned
        found = compared.get((signature, taken))
        if found is None:
            if node.op_class is None:
                continue
            found = _faults(node, slots, stubs, known, is_as_read=is_as_read)
            if taken is not None and not stubs:
                compared[signature, taken] = found
        if found is _NOTHING:
            continue
        faults, unclear = found
        for index in unclear:
            slot = node.sources[index]
            for code, ours, theirs in other_end(node, index):
                if (code, slot) in roots or (index, code) in [fault[:2] for fault in faults]:
                    continue
                at, reader, producer, end = node.layer.inputs[index], node, model.nodes[model.producers[slot]], "from which its edge starts"
                if code == "R301" and at.dims == recordable(slots[slot]):  # then it is the other end that records more
                    ours, theirs, at = theirs, ours, producer.layer.outputs[slot - producer.first_slot]
                    reader, producer, end = producer, node, "which reads it"
                    roots[code, slot] = (), ""
                text = f"the port records {ours}, but {producer.type} {clipped(producer.name)!r}, {end}, records {theirs}"
                one = Diagnostic(code, text, place(document, reader.layer, at.offset, str(at.id), model.path))
                one.related = (place(document, producer.layer, producer.layer.offset, None, model.path),)
                behind[one] = []
        for index, code, message in faults:
            layer, output = node.layer, index - len(node.sources)
            slot, before = (node.first_slot + output, node.sources) if output >= 0 else (node.sources[index], [node.sources[index]])
            earlier = [roots[code, one] for one in before if (code, one) in roots]
            # A layer hands an element type on as it is, or not at all; a shape may be another one behind it.
            is_same = code == "R301" or output < 0
            joined = tuple(dict.fromkeys([root for several, _ in earlier if is_same for root in several]))[:_MOST_ROOTS]
            several = next((several for several, theirs in earlier if theirs == message), joined)
            roots[code, slot] = several, message
            port = (*layer.inputs, *layer.outputs)[index]
            if not several:
                text = message.replace("the model computes", source_of(node, slots[slot], code))
                root = Diagnostic(code, text, place(document, layer, port.offset, str(port.id), model.path))
                behind[root] = []
                roots[code, slot] = (root,), message
                if code == "R301" and node.type == "Parameter" and not is_as_read:
                    asked.append(root)
                elif code == "R301" and port.dims is not None and fits(port.dims, slots[slot].shape):
                    loose.append(root)
            for root in several:
                behind[root].append(port.offset)
            outputs.update(several[:1] if output >= 0 else ())
    for root in asked:
        del behind[root]
    for root, count in outputs.items():
        root.message += f"; {count} {'port' if count == 1 else 'ports'} after it differ{'s' if count == 1 else ''} for the same reason"
    return behind, loose if len(loose) > MOST_LOOSE else []


def without_surplus(roots: Mapping[Diagnostic, list[int]], found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The contradictions without those of constants that are larger than their shape: they become the hint of that fault."""
    surplus = {(one.where.layer_id, one.where.path): one for one in found if one.code == "R303"}
    kept = []
    for root in roots:
        fault = surplus.get((root.where.layer_id, root.where.path))
        if fault is None:
            kept.append(root)
        else:
            fault.hint = f"is {'element_type' if root.code == 'R302' else 'shape'} right? {root.message[0].upper()}{root.message[1:]}"
    return kept


def other_end(node: Node, index: int, *, are_scalars: bool = False) -> list[tuple[str, str, str]]:
    """What the ends of the edge to an input record differently, each with its code; `are_scalars`: ports without dims are scalars."""
    model, slot, (_, precision, dims) = node.model, node.sources[index], node.layer.signature.records[index]
    producer = model.nodes[model.producers[slot]]
    signature = producer.layer.signature
    _, start, start_dims = signature.records[signature.input_count + slot - producer.first_slot]
    differ = []
    if start_dims != dims and (are_scalars or (start_dims is not None and dims is not None)):
        differ.append(("R301", dims_text(dims), dims_text(start_dims)))
    if start != precision and start and precision:
        ours, theirs = (ElementType.from_precision(text) or ElementType.dynamic for text in (precision, start))
        if ours is not theirs and ElementType.dynamic not in (ours, theirs):
            differ.append(("R302", precision, start))
    return differ


def _faults(node: Node, slots: list[Fact], stubs: Mapping[int, Port], known: _Known, *, is_as_read: bool) -> _Found:
    """The ports of a node whose records the model contradicts; `known` are the comparisons so far."""
    signature = node.layer.signature
    count = signature.input_count
    behind_inputs = node.first_slot - count
    found: list[tuple[int, str, str]] = []
    unclear: list[int] = []
    for index, record in enumerate(signature.records):
        if index < count:
            slot = node.sources[index]
            if slot < 0 or slot in stubs:
                continue
        else:
            slot = behind_inputs + index
        fact = slots[slot]
        _, precision, dims = record
        # Most ports record exactly the fact.
        if dims != fact.shape or precision != fact.element_type.precision:
            both = known.get((precision, dims, fact))
            if both is None:
                loose, strict = (contradictions(precision, dims, fact, is_exact=is_exact) for is_exact in (False, True))
                both = known[precision, dims, fact] = loose, strict
            faults, exact = both
            if len(exact) > len(faults) and is_as_read and index >= count and is_decided(node, [slots[slot] for slot in node.sources]):
                faults = exact
            found += [(index, code, message) for code, message in faults]
            if index < count and not fact.is_poisoned and all(code != "R301" for code, _ in faults):
                unclear.append(index)
    return (found, unclear) if found or unclear else _NOTHING


def source_of(node: Node, fact: Fact, code: str) -> str:
    """What tells the fact of a port, in a sentence: the model, or an attribute of a Parameter or a Const."""
    op: Any = node.op
    if code == "R302":
        is_declared = node.type in _DECLARED and op.element_type is fact.element_type
        return "its attribute element_type says" if is_declared else "the model computes"
    shape = fact.shape if node.type == "Const" or fact.shape is None else tuple([bounds(size) for size in fact.shape])
    if node.type not in _DECLARED or op.shape != shape:
        return "the model computes"
    is_plain = node.type == "Const" or not parse_parameter_shape(node.layer.attributes.get("shape", ""))[1]
    return "its attribute shape says" if is_plain else "OpenVINO reads its attribute shape as"


def contradictions(precision: str | None, dims: tuple[int, ...] | None, fact: Fact, *, is_exact: bool = False) -> list[tuple[str, str]]:
    """Codes and messages of the facts that a port records and the model contradicts.

    `is_exact` tells that -1 contradicts a number, a number an open size, and an element type none.
    """
    faults: list[tuple[str, str]] = []
    is_same = dims is None or dims == fact.shape
    if fact.is_poisoned or (is_same and (precision is None or precision == fact.element_type.precision)):
        return faults
    is_other = is_exact and dims not in (recordable(fact.openvino_view), recordable(fact))
    if not is_same and dims is not None and (is_other or not fits(dims, fact.shape)):
        faults.append(("R301", f"the port records {dims_text(dims)}, but the model computes {format_shape(fact.shape)}"))
    recorded_type = ElementType.from_precision(precision) if precision else None
    is_known = fact.element_type is not ElementType.dynamic
    if recorded_type is not fact.element_type and (is_exact or is_known) and recorded_type not in (None, ElementType.dynamic):
        computed = fact.element_type.precision if is_known else "no element type, and OpenVINO compiles no such model"
        faults.append(("R302", f"the port records {precision}, but the model computes {computed}"))
    return faults


def is_decided(node: Node, facts: Sequence[Fact]) -> bool:
    """Whether the inputs of a layer record exactly what OpenVINO knows of facts, and all elements that it reads are numbers.

    Then OpenVINO has computed what the output ports record from nothing else. Shapes in bodies follow from those that enter, and a number
    that cannot be read is open. So is one that a ShapeOf reads of a shape with open sizes: its formula may tell irshape such a size.
    """
    if node.op is None or node.model.holder is not None or any(one.code == "X106" for one in node.model.document.diagnostics):
        return False
    for index, ((_, _, dims), fact) in enumerate(zip(node.layer.signature.records, facts, strict=False)):
        port = node.op.input_at(index, len(facts))
        if recordable(fact.openvino_view) != (dims or ()) or fact.element_type is ElementType.dynamic:
            return False
        if any(type(size) is not int and bounds(size) not in ((0, inf), (1, inf)) for size in fact.shape or ()):
            return False
        elements, is_read = fact.openvino_view.elements, port is not None and (port.value or port.ends)
        if is_read and not fact.is_literal and not (elements and {int}.issuperset(map(type, elements)) and _is_measured(node, index)):
            return False
    return True


def _is_measured(node: Node, index: int) -> bool:
    """Whether all shapes from which the elements of an input are computed are recorded without open sizes."""
    source = node.model.producer(node.sources[index])
    nodes = reached([] if source is None else [source], lambda one: () if one.type == "ShapeOf" else one.producers)
    return all(-1 not in (one.layer.signature.records[0][2] or ()) for one in nodes if one.type == "ShapeOf" and one.sources)


def recordable(fact: Fact) -> tuple[int, ...] | None:
    """The shape of a fact as `<dim>` records it."""
    return None if fact.shape is None else tuple([size if type(size) is int else -1 for size in fact.shape])


def highest_rank(node: Node) -> int:
    """The highest rank that the ports of a layer record."""
    return max((len(port.dims or ()) for port in (*node.layer.inputs, *node.layer.outputs)), default=0)


def dims_text(dims: tuple[int, ...] | None) -> str:
    """Recorded dims as a shape: `[1,?,3]`."""
    return f"[{','.join('?' if dim < 0 else str(dim) for dim in dims or ())}]"


def fits(dims: tuple[int, ...], shape: Shape) -> bool:
    """Whether recorded dims are compatible with an inferred shape."""
    if shape is None:
        return True
    if len(dims) != len(shape):
        return False
    for dim, size in zip(dims, shape, strict=True):
        if dim >= 0 and dim != size:
            low, high = bounds(size)
            if not low <= dim <= high:
                return False
    return True
