"""What is asked of a mutant beyond its check: explanations, valid sizes, differences, targets, mending, reports, and the commands.

Each question is a generator of findings of its own, so that each has its own limit of time.
"""

import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from unittest.mock import patch
from xml.etree import ElementTree

import irshape
from irshape import verbs
from irshape.answers import sizes as answers
from irshape.answers.explain.explanation import Explanation
from irshape.answers.sizes import sections as size_sections
from irshape.cli.diff import sections as diff_sections
from irshape.diagnosis.fixes import mendable, mended_file
from irshape.inference.inference import Inference
from irshape.inference.session import Session
from irshape.report import documents, sarif
from irshape.report.diagnostic import causes
from irshape.report.documents import Checked
from irshape.report.section import fault
from irshape.report.terminal import block_lines, lines
from irshape.report.text import Palette
from irshape.report.unified import unified
from irshape.reshaping import session as granting
from tests.fuzz.arithmetic import Question, commands, said_by
from tests.support.edits import RandomEditor, differences

T = TypeVar("T")
NARROW = Palette(False, 80)
TARGETS = ["static-shapes", "bounded", "ranked", "npu", "max-rank=4"]
# Layers that may be worked out to try sizes: as many as a second has room for.
TRIED = 2_000
SIZES = ["?", "?", "N", "H", "W", "2*H", "H+1", "H+W", "N//2", "max(H, W)", "H-W", "1..", "..64", "8..16", "0", "1", "7", str(2**63 - 1)]
KEPT = 0.4
COMMANDS = 4


class Mutant(NamedTuple):
    """A file and its weights."""

    xml: bytes
    weights: bytes | None


def questions(mutant: Mutant, original: Mutant, chance: random.Random) -> Iterator[Iterator[str]]:
    """What is asked, one after the other; the same for the same random numbers."""
    inference = verbs.check(mutant.xml, weights=mutant.weights)
    inputs = opened(inference, chance)
    yield from explanations(inference, chance)
    others = attempt(lambda: verbs.infer(mutant.xml, weights=mutant.weights, inputs=inputs))
    if others is not None:
        yield from explanations(others, chance)
    yield sizes(mutant, inputs, chance)
    yield reshaped(mutant, inputs, chance)
    yield signature(mutant, {}, chance)
    yield signature(mutant, inputs, chance)
    yield info(mutant, {})
    yield info(mutant, inputs)
    yield difference(mutant, original)
    yield no_difference(mutant)
    yield targets(mutant, inputs)
    yield mended(inference, mutant)
    yield reports(inference)
    yield edited(inference, mutant, chance)
    yield commanded(mutant, original, chance)


def opened(inference: Inference, chance: random.Random) -> dict[str, str]:
    """Shapes for some of the inputs, many of whose sizes are open."""
    shapes = {}
    for node in inference.model.parameters:
        shape = inference.view(node).outputs[0].shape if node.layer.outputs else None
        if shape is not None and len(shape) < 10 and chance.random() < 0.9:
            texts = [str(size) if isinstance(size, int) and chance.random() < KEPT else chance.choice(SIZES) for size in shape]
            shapes[node.name] = f"[{','.join(texts)}]"
    return shapes


def attempt(verb: Callable[[], T]) -> T | None:
    """What a verb gives; None where it refuses the question."""
    try:
        return verb()
    except (irshape.InputError, irshape.EditError):
        return None


def printable(what: str, lines: Iterator[str] | list[str]) -> Iterator[str]:
    """Whether text for a terminal could steer it."""
    for line in lines:
        if not line.isprintable():
            yield f"{what} prints {next(character for character in line if not character.isprintable())!r}"


def explanations(inference: Inference, chance: random.Random) -> Iterator[Iterator[str]]:
    """Explanations of a few layers, of all their sizes and of one."""
    nodes = [node for model, _ in inference.graphs for node in model.nodes]
    for node in chance.sample(nodes, min(len(nodes), 3)):
        ids = [port.id for port in node.layer.outputs]
        for port, axis in ((None, None), (chance.choice([*ids, 0, 77]), chance.choice([None, 0, 1, -1, 5, 2**70]))):
            yield explained(partial(verbs.explain, inference, node.key, port, axis), chance)


def explained(explain: Callable[[], Explanation], chance: random.Random) -> Iterator[str]:
    explanation = attempt(explain)
    if explanation is not None:
        json.dumps(explanation.to_dict())
        yield from printable("explain", explanation.lines(Palette(False, chance.choice([None, 20, 80]))))


def sizes(mutant: Mutant, inputs: dict[str, str], chance: random.Random) -> Iterator[str]:
    with patch.object(answers, "_MOST_TRIED_LAYERS", TRIED), patch.object(answers, "_MOST_TRIED", 4):
        found = attempt(lambda: verbs.sizes(mutant.xml, weights=mutant.weights, inputs=inputs))
        if found is None:
            return
        json.dumps(found.to_dict())
        near = {name: chance.choice([1, 2, 7, 224, 10**6, 2**63 - 1]) for name in found.symbols}
        nearest = attempt(lambda: found.nearest(near))
        if nearest is not None:
            for side in nearest:
                if side is not None and not found.admits({**near, **side}):
                    yield "the nearest valid sizes are not valid"
        if found.sample and not found.admits(found.sample):
            yield "the sample of valid sizes is not valid"
        yield from printable("sizes", lines(size_sections(found, near, nearest)))


def reshaped(mutant: Mutant, inputs: dict[str, str], chance: random.Random) -> Iterator[str]:
    """Shapes of the inputs one after the other, of which a session must say what an inference says."""
    batch = attempt(lambda: granting.Session(mutant.xml, weights=mutant.weights).reshape(batch=chance.choice([0, 1, 2, 64])))
    if batch is not None:
        yield from reports(batch)
    once = attempt(lambda: granting.Session(mutant.xml, weights=mutant.weights).reshape(inputs))
    if once is None:
        return
    yield from reports(once)
    session = Session(mutant.xml, weights=mutant.weights)
    for _ in range(3):
        numbers = {name: re.sub(r"[^,\[\]]+", lambda _: chance.choice("0123457"), shape) for name, shape in inputs.items()}
        found = attempt(lambda numbers=numbers: session.reshape(numbers))
        if found is not None and found.ok:
            alone = verbs.infer(mutant.xml, weights=mutant.weights, inputs=numbers)
            if found.ports != alone.ports:
                yield f"a session gives other shapes for {numbers}"


def signature(mutant: Mutant, inputs: dict[str, str], chance: random.Random) -> Iterator[str]:
    found = attempt(lambda: verbs.signature(mutant.xml, weights=mutant.weights, inputs=inputs))
    if found is None:
        return
    json.dumps(found.to_dict())
    assigned = attempt(lambda: found.assign({name: chance.choice([0, 1, 2, 7, 64, 2**63 - 1]) for name in found.symbols}))
    if assigned and not Session(mutant.xml, weights=mutant.weights).reshape(assigned).ok:
        yield "a session refuses the sizes that a signature assigns"
    for is_complete in (False, True):
        yield from printable("signature", lines(found._sections(is_complete=is_complete, has_reasons=True), NARROW))


def info(mutant: Mutant, inputs: dict[str, str]) -> Iterator[str]:
    found = attempt(lambda: verbs.info(mutant.xml, weights=mutant.weights, inputs=inputs))
    if found is not None:
        json.dumps(found.to_dict())
        yield from printable("info", lines(found._sections(is_complete=True)))


def difference(a: Mutant, b: Mutant) -> Iterator[str]:
    found = verbs.diff(a.xml, b.xml, weights=(a.weights, b.weights))
    json.dumps(found.to_dict())
    for is_complete in (False, True):
        yield from printable("diff", lines(diff_sections(found, is_complete=is_complete), NARROW))
    if found.is_same != verbs.diff(b.xml, a.xml, weights=(b.weights, a.weights)).is_same:
        yield "two files are the same one way round only"


def no_difference(mutant: Mutant) -> Iterator[str]:
    found = verbs.diff(mutant.xml, mutant.xml, weights=(mutant.weights, mutant.weights))
    if not found.is_same:
        yield f"a file differs from itself: {found.summary}"


def targets(mutant: Mutant, inputs: dict[str, str]) -> Iterator[str]:
    for given in ({}, inputs):
        found = attempt(lambda given=given: verbs.check(mutant.xml, weights=mutant.weights, inputs=given, targets=TARGETS))
        if found is not None:
            yield from reports(found)


def mended(inference: Inference, mutant: Mutant) -> Iterator[str]:
    document = inference.document
    "\n".join(unified("a.xml", document.source, document.encoding, mendable(inference)[1]))
    if not mendable(inference)[0]:
        if mended_file(inference) != document.source:
            yield "mending nothing changes the file"
        return
    fixed = mended_file(inference)
    again = verbs.check(fixed, weights=mutant.weights)
    before, after = (Counter(diagnostic.code for diagnostic in one.diagnostics) for one in (inference, again))
    if added := after - before:
        yield f"mending {sorted({one.code for one in mendable(inference)[0]})} adds {dict(added)}"
    for _ in range(3):  # a fix may uncover another one, which --fix makes in the same run
        again = verbs.check(mended_file(again), weights=mutant.weights) if mendable(again)[0] else again
    if mendable(again)[0]:
        yield f"mending leaves {sorted({one.code for one in mendable(again)[0]})} to be mended"
    if inference.ok and again.ports != inference.ports:
        yield f"mending {sorted({one.code for one in mendable(inference)[0]})} changes facts"


def reports(inference: Inference) -> Iterator[str]:
    files = [
        Checked("folder/a.xml", inference.diagnostics, is_passed=inference.ok),
        Checked("b.xml", complaint="not read", is_passed=False),
    ]
    count = len(causes(inference.diagnostics))  # each with the number of what follows from it
    results = json.loads(sarif.render(files, "1.0.0"))["runs"][0]["results"]
    if len(results) != min(count, 5_000) and count < 5_000:
        yield f"SARIF has {len(results)} of {count} results"
    if len(ElementTree.fromstring(documents.junit(files))[0]) != len(files):
        yield "JUnit has not a case for each file"
    issues = json.loads(documents.gitlab(files))
    if len(issues) != count + 1 or len({issue["fingerprint"] for issue in issues}) != len(issues):
        yield f"GitLab has {len(issues)} issues of {count} faults"
    lines = documents.github(files).split("\n")
    yield from printable("github", lines)
    if not all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines):
        yield "a line for GitHub is no command"
    for diagnostic in inference.diagnostics:
        yield from printable("text", block_lines([fault(diagnostic)]))
        if diagnostic.code == "I101":
            yield f"I101 {diagnostic.where.layer_type}: {diagnostic.message}"


def edited(inference: Inference, mutant: Mutant, chance: random.Random) -> Iterator[str]:
    """What a draft knows after a few edits, and a fresh inference of its text does not; one at fault may not be written."""
    graph = attempt(lambda: irshape.edit(mutant.xml, weights=False if mutant.weights is None else mutant.weights))
    if graph is not None:
        RandomEditor(graph, chance.randrange(2**32)).edit(2)
        if attempt(graph.model) is None or graph._draft.engine.constants.is_short:
            return
        yield from (f"a draft has other facts: {difference}" for difference in differences(graph))
        yield from (f"a draft: {one}" for one in graph.check().diagnostics if one.code == "I101")


def commanded(mutant: Mutant, original: Mutant, chance: random.Random) -> Iterator[str]:
    """Some of the commands that there are."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/m.xml"
        for name, one in ((path, mutant), (f"{path}.other.xml", original)):
            Path(name).write_bytes(one.xml)
            if one.weights is not None:
                Path(name).with_suffix(".bin").write_bytes(one.weights)
        for arguments in chance.sample([*commands(path, Question(mutant.xml.decode("utf-8", "replace"), chance), chance)], COMMANDS):
            for one_finding in said_by(arguments):
                yield f"{arguments[0]}: {one_finding.replace(folder, '')}"
