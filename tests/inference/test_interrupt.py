"""An interrupt, at whatever line it comes, leaves nothing that makes a later answer another one than that of a fresh object."""

import os
import random
from collections.abc import Callable
from functools import partial

import pytest

from irshape import verbs
from irshape.answers.signature.naming import named
from irshape.inference.session import Session
from irshape.model.model import Model
from tests.inference.test_plan import said
from tests.support.interrupts import interrupted
from tests.support.ir import Net

# How many moments are tried, over all scenarios.
MOMENTS = 1000 if os.environ.get("IRSHAPE_CORPUS") else 300
SHAPES = ([4, 6], [5, 6], [8, 6], [12, 6], [8, 10], [16, 14])
# A net with what a plan takes: a value subgraph, a guard, a rule that is asked, a size that only data tells, and an If.
NET = Net("""
    _data: f32[?,?]
    ShapeOf-3(_data, output_type=i64) -> _rows: Gather-8([0], 0)
    Divide(_rows, [2]) -> _target: Concat([-1], axis=0)
    _shaped: Reshape(_data, _target, special_zero=false)
    Convert(_rows, destination_type=f32) -> Multiply(f32=[0.3]) -> _whole: Convert(destination_type=i64)
    Broadcast-3(f32=1.0, _whole, mode=numpy) -> Result
    _found: NonZero-3(_data, output_type=i64)
    ReLU(Convert(_found, destination_type=f32)) -> Result
    Add(_shaped, ReLU(_shaped)) -> Result
""")


def ports_of(session: Session, shape: list[int]) -> object:
    return session.reshape(parameter_0=shape).ports


def answer_of_session(model: Model, interrupt: Callable[[Callable[[], object]], object], index: int) -> object:
    """A session that is interrupted at one of its reshapes, and what it says afterwards."""
    session = Session(model)
    for number, shape in enumerate(SHAPES):
        if number == index:
            interrupt(partial(ports_of, session, shape))
        else:
            session.reshape(parameter_0=shape)
    return [said(session.reshape(parameter_0=shape)) for shape in SHAPES], said(session.infer())


def answer_of_signature(model: Model, interrupt: Callable[[Callable[[], object]], object], index: int) -> object:
    interrupt(lambda: verbs.signature(model))
    signature = verbs.signature(model)
    names = list(signature.symbols)
    interrupt(lambda: signature.assign(dict.fromkeys(names, 6)))
    return signature.to_dict(), signature.assign(dict.fromkeys(names, 4)), signature.assign(dict.fromkeys(names, 6))


def answer_of_sizes(model: Model, interrupt: Callable[[Callable[[], object]], object], index: int) -> object:
    interrupt(lambda: verbs.sizes(model))
    sizes = verbs.sizes(model)
    names = list(sizes.symbols)
    interrupt(lambda: sizes.admits(dict.fromkeys(names, 6)))
    return sizes.to_dict(), [sizes.admits(dict.fromkeys(names, number)) for number in (3, 4, 6)]


def answer_of_cost(model: Model, interrupt: Callable[[Callable[[], object]], object], index: int) -> object:
    interrupt(lambda: verbs.cost(model))
    return verbs.cost(model).to_dict()


def answer_of_inference(model: Model, interrupt: Callable[[Callable[[], object]], object], index: int) -> object:
    inference = verbs.infer(model)
    interrupt(lambda: (inference.ports, inference.guards, named(inference).to_dict(), inference.xml()))
    return inference.ports, named(inference).to_dict(), inference.xml()


ANSWERS = [answer_of_session] * 3 + [answer_of_signature, answer_of_sizes, answer_of_cost, answer_of_inference]


@pytest.mark.slow("take long")
# Python tells nobody of an error in a generator that it closes.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("part", range(10))
def test_every_answer_after_an_interrupt_is_that_of_a_fresh_object(part: int) -> None:
    rng = random.Random(part)
    # The first calls fill what the process keeps.
    expected = {answer: answer(verbs.read(NET.xml.encode(), weights=NET.bin), lambda run: run(), -1) for answer in ANSWERS}
    most: dict[object, int] = {}
    for _ in range(MOMENTS // 10):
        answer, error = rng.choice(ANSWERS), rng.choice((KeyboardInterrupt, MemoryError))
        index = rng.randrange(len(SHAPES))
        counts: list[int] = []

        def interrupt(run: Callable[[], object], key: object = (answer, index), counts: list[int] = counts) -> None:
            counts.append(interrupted(run, rng.randint(1, most.get((key, len(counts)), 30_000)), error))  # noqa: B023

        again = answer(verbs.read(NET.xml.encode(), weights=NET.bin), interrupt, index)
        for number, count in enumerate(counts):
            most[(answer, index), number] = max(most.get(((answer, index), number), 0), count)
        assert again == expected[answer], (answer, index, error)
