"""Symbols replaced by numbers: each formula is the size OpenVINO infers then, and a guard is broken exactly where OpenVINO refuses.

IRSHAPE_SOUNDNESS says how many random nets there shall be, IRSHAPE_CORPUS a folder of IRs in place of those the tests carry.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import irshape
from irshape.report.diagnostic import ERROR
from irshape.shape.dim import bounds, evaluate, symbols
from tests.support.irs import LARGEST_WEIGHTS, PATHS, named
from tests.support.oracle import core_of
from tests.support.random_net import SYMBOLS, RandomNet

NETS = int(os.environ.get("IRSHAPE_SOUNDNESS", "120"))
BINDINGS = 6
OPERATIONS = 7
CHUNKS = 12
# How often a size of a model that may be 0 is 0.
ZEROS = 0.15

PARAMETER = re.compile(r'(<layer id="(\d+)" name="([^"]*)" type="Parameter"[^>]*>\s*<data[^>]*shape=")([^"]*)(")')


def static(xml: str, shapes: Mapping[str, list[int]]) -> str:
    """The IR with these shapes of its Parameters, by name."""
    return PARAMETER.sub(lambda m: m[1] + ",".join(map(str, shapes[m[3]])) + m[5] if m[3] in shapes else m[0], xml)


def sizes(xml: str, weights: bytes) -> dict[str, tuple[list[int | None], ...]] | str:
    """The sizes OpenVINO infers of each layer's outputs, None for one it does not tell; its message where it refuses."""
    try:
        model = core_of(xml.encode()).read_model(xml.encode(), weights)
    except RuntimeError as error:
        return str(error)
    return {node.get_friendly_name(): tuple(lengths(output.get_partial_shape()) for output in node.outputs()) for node in model.get_ops()}


def lengths(shape: Any) -> list[int | None]:
    """The sizes of an openvino.PartialShape, none if it has no rank."""
    return [] if shape.rank.is_dynamic else [dim.get_length() if dim.is_static else None for dim in shape]


def value(size: Any, values: Mapping[str, int]) -> int | None:
    """What a formula is with these numbers; None where it divides by 0."""
    try:
        return evaluate(size, values)
    except ZeroDivisionError:
        return None


def faults(inference: Any, values: Mapping[str, int], found: "dict[str, tuple[list[int | None], ...]] | str") -> list[str]:
    """What irshape says of these sizes that OpenVINO does not.

    OpenVINO checks nothing of a layer whose sizes it does not tell, so a guard of such a layer is not compared.
    """
    known = frozenset(values)
    broken_guards = [guard for guard in inference.guards if guard.requirement.symbols() <= known and not guard.requirement.holds(values)]
    if any(guard.is_premise for guard in broken_guards):
        return []  # the formulas say nothing of these sizes
    if not isinstance(found, str):
        blind = {name for name, outputs in found.items() if any(None in sizes for sizes in outputs)}
        broken_guards = [guard for guard in broken_guards if guard.node.name not in blind]
    broken = [str(guard) for guard in broken_guards]
    broken += [str(diagnostic) for diagnostic in inference.diagnostics if diagnostic.code == "R401"]
    if isinstance(found, str):
        return [] if broken else [f"no guard is broken, but OpenVINO says: {found[-300:]}"]
    wrong = [f"broken, but OpenVINO accepts: {guard}" for guard in broken]
    for node in inference.model.nodes:
        outputs = inference.layer(node.id).outputs
        for port, theirs in zip(outputs, found.get(node.name, ()), strict=False):
            if port.shape is None or len(port.shape) != len(theirs):
                continue
            for ours, number in zip(port.shape, theirs, strict=True):
                if number is None:
                    continue
                low, high = bounds(ours)
                if not low <= number <= high or (symbols(ours) <= known and value(ours, values) != number):
                    wrong.append(f"{node.type} {node.name}: {ours} in {low}..{high} is {number}")
    return wrong


def check_net(seed: int) -> list[str]:
    """What is wrong of a random net and numbers for its symbols."""
    random_net = RandomNet(seed)
    for _ in range(OPERATIONS):
        random_net.grow()
    random_net.finish()
    net, random = random_net.net, random_net.random
    used = {dim for dims in random_net.inputs.values() for dim in dims if isinstance(dim, str)}
    inputs = {name: "[" + ",".join(map(str, dims)) + "]" for name, dims in random_net.inputs.items()}
    inference = irshape.infer(
        net.xml.encode(), weights=net.bin, inputs=inputs, symbols=dict.fromkeys(sorted(used), "0..12"), symbols_as="raw"
    )
    if any(diagnostic.code == "I101" for diagnostic in inference.diagnostics):
        return [f"seed {seed}: {inference.diagnostics}"]
    if not inference.ok:
        return []
    wrong = []
    for _ in range(BINDINGS):
        values = {symbol: random.randint(0, 12) for symbol in SYMBOLS if symbol in used}
        shapes = {name: [values.get(dim, dim) for dim in dims] for name, dims in random_net.inputs.items()}
        found = sizes(static(net.xml, shapes), net.bin)
        wrong += [f"seed {seed}, {values}: {fault}" for fault in faults(inference, values, found)]
    return wrong


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_nets(chunk: int) -> None:
    assert [fault for seed in range(chunk, NETS, CHUNKS) for fault in check_net(seed)] == []


def input_symbols(inference: Any) -> dict[str, list[Any]]:
    """The sizes of the Parameters, by name."""
    return {node.name: list(inference.layer(node.id).outputs[0].shape) for node in inference.model.parameters if node.outputs}


@pytest.mark.oracle
@pytest.mark.parametrize("path", PATHS, ids=named)
def test_dynamic_model(path: Path) -> None:
    weights = path.with_suffix(".bin")
    data = weights.read_bytes() if weights.exists() else b""
    source = path.read_bytes()
    if len(data) > LARGEST_WEIGHTS or re.search(rb"<(then_body|body)>", source):
        pytest.skip("too large to be read in memory, or has bodies")
    inference = irshape.infer(source, weights=data, symbols_as="raw")
    shapes = [inference.layer(node.id).outputs[0].shape for node in inference.model.parameters if node.outputs]
    if not inference.ok or any(shape is None for shape in shapes):
        pytest.skip("not inferred, or an input of unknown rank")
    unknown = {size for dims in input_symbols(inference).values() for size in dims if not isinstance(size, int)}
    if not unknown:
        pytest.skip("no unknown size")
    random = Random(path.stem)
    xml = source.decode()
    for _ in range(BINDINGS):
        values = {}
        for size in sorted(unknown, key=str):
            low, high = bounds(size)
            least = int(low) if random.random() < ZEROS else max(int(low), 1)
            values[str(size)] = 0 if least == 0 else random.randint(least, int(min(high, least + 31)))
        numbers = {name: [evaluate(size, values) for size in dims] for name, dims in input_symbols(inference).items()}
        found = sizes(static(xml, numbers), data)
        if isinstance(found, str) and is_about_data(inference, values, irshape.infer(source, weights=data, inputs=numbers), found):
            continue
        assert faults(inference, values, found) == []


def is_about_data(inference: Any, known: Mapping[str, int], numbers: Any, message: str) -> bool:
    """Whether the layer that both refuse first for these numbers takes sizes that depend on more than those of the inputs.

    A demand of such sizes is no guard. `message` is OpenVINO's.
    """
    refused = next((one for one in numbers.diagnostics if one.severity == ERROR), None)
    if refused is None or f"'{refused.where.layer_name}'" not in message:
        return False
    inputs = inference.layer(refused.where.layer_id).inputs
    return any(not symbols(size) <= known.keys() for port in inputs for size in port.shape or ())
