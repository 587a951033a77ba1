"""What must not change an answer: the order of the layers in a file, and an interrupt before it is asked for again."""

import math
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import irshape
from tests.fuzz.ask import Mutant
from tests.support.edits import RandomEditor, differences
from tests.support.interrupts import interrupted
from tests.support.shuffled import plain, shuffled
from tests.support.verbs import VERBS, answers, without_places

# The last line of irshape, of those that a question runs, at which it is interrupted.
LINES = 60_000
QUICK = sorted(VERBS.keys() - {"reduce"})  # which asks about a hundred models


def is_sound(mutant: Mutant) -> bool:
    """Whether a file is an IR without errors, in which each layer has its own id, and each edge leads from a layer to its own input."""
    found = irshape.check(mutant.xml, weights=False if mutant.weights is None else mutant.weights)
    return b"<net" in mutant.xml and found.ok and not {"G101", "G102", "G104"} & {one.code for one in found.diagnostics}


def in_another_order(mutant: Mutant, chance: random.Random) -> Iterator[str]:
    """A file without errors and the same layers in another order have one answer, and are the same model."""
    weights: Any = False if mutant.weights is None else mutant.weights
    verb = chance.choice(QUICK)
    before, after = plain(mutant.xml), shuffled(mutant.xml, chance.randrange(2**32))
    expected, found = (answers(text, weights, [verb]) for text in (before, after))
    if found != expected:
        yield f"another order of the layers changes the answer of {verb}"
    if not irshape.diff(before, after, weights=(weights, weights) if weights else False).is_same:
        yield "another order of the layers is another model"


def after_an_interrupt(mutant: Mutant, chance: random.Random) -> Iterator[str]:
    """A question that is interrupted and asked again has the answer of a fresh model; an edit leaves a graph that can go on and back."""
    weights: Any = False if mutant.weights is None else mutant.weights
    moment, error = int(math.exp(chance.uniform(0, math.log(LINES)))), chance.choice((KeyboardInterrupt, MemoryError))
    if chance.random() < 0.3:
        yield from edited(mutant, weights, moment, error, chance)
        return
    verb = chance.choice(QUICK)
    [expected] = answers(mutant.xml, weights, [verb]).values()
    model = irshape.read(mutant.xml, weights=weights)
    with suppress(ValueError, OSError):
        interrupted(lambda: VERBS[verb](model), moment, error)
    try:
        again = without_places(VERBS[verb](model))
    except (ValueError, OSError) as refusal:
        again = str(refusal)
    if again != expected:
        yield f"{error.__name__} changes the answer of {verb}"


def edited(mutant: Mutant, weights: Any, moment: int, error: type[BaseException], chance: random.Random) -> Iterator[str]:
    """An interrupted edit of a graph without errors."""
    graph = irshape.edit(mutant.xml, weights=weights)
    before, editor = bytes(graph), RandomEditor(graph, chance.randrange(2**32))
    editor.edit(1)
    interrupted(lambda: editor.edit(1), moment, error)
    for difference in differences(graph):
        yield f"{error.__name__} in an edit leaves other facts: {difference}"
    graph.undo(0)
    if bytes(graph) != before:
        yield f"{error.__name__} in an edit leaves what undo does not take back"
