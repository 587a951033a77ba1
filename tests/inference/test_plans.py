"""Plans of bodies, of every operation, of random nets and of architectures: a session that answers from formulas says what a pass says."""

import base64
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from irshape import verbs
from irshape.inference.inputs import described_shape
from irshape.inference.session import Session
from irshape.model.model import Model
from tests.answers.assignments import sizes
from tests.answers.nets import stem, windows
from tests.answers.test_cost_architectures import carried
from tests.inference.test_bodies import JOINED, SAME, chosen, inside, iterator, longer, loop, transposed
from tests.inference.test_bodies import ROWS as BODIES
from tests.inference.test_plan import planned, said, session_of
from tests.support.ir import Net, Ref
from tests.support.places import EXAMPLES
from tests.support.random_net import RandomNet
from tests.support.rows import is_refused, net_of, tables

PARTS = 'axis="1" start="0" end="-1" stride="1" part_size="1"'


def resized(net: Net, value: Ref) -> Ref:
    """A list of lists that a step fills: whatever its size was, it has as many rows and columns as the input of the net."""
    net.named["_x"] = [value]
    return net.add("Broadcast-3(f32=1.0, Concat(Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0), [8], axis=0))")


def filled(batch: str = "?") -> Net:
    """A Loop as TensorFlow's recurrent layers have it: parts go in, and a list that begins with rows of 1 element takes the results."""
    net = Net()
    body = Net("""
        _part: f32[?,?,?]
        _whole: f32[?,?,?]
        MatMul(_part, f32=0.0[1,6,8], transpose_a=false, transpose_b=false) -> _shape: ShapeOf-3(output_type=i64)
        Broadcast-3(f32=0.0, Concat([10], Slice-8(_shape, [1], [3], [1]), axis=0)) -> step: Result
        boolean=true -> go: Result
        _whole -> ReLU -> Result
    """)
    layer = f"Loop-5(-1, boolean=true, f32[10,{batch},6], f32=0[10,1,1]) f32"
    maps = '2 > _part axis="0" start="0" end="-1" stride="1" part_size="1"; 3 > _whole; step > 4; go > -1; step > _whole'
    net.result(net.holder(layer, maps, body=body)[0])
    return net


ROWS: list[tuple[Callable[[], Net], list[list[int]], list[list[int]], int]] = [
    # One iteration hands the next what it took.
    (lambda: loop("f32[?,3]", SAME), [[4, 3], [5, 3], [6, 3]], [[9, 3], [2, 3], [1, 3], [700, 3], [0, 3]], 0),
    # The parts are joined: 5 iterations of 3 columns.
    (lambda: loop("f32[?,3]", SAME, output=PARTS), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 0),
    # Parts of an unknown size would not add up to a number.
    (lambda: loop("f32[?,3]", SAME, output=JOINED), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 1),
    # Rows and columns change places: two sizes that need not be equal.
    (lambda: loop("f32[?,?]", transposed(1, 0)), [[4, 4], [5, 5], [6, 6]], [[9, 9], [2, 3], [3, 2], [7, 7]], 1),
    # The list grows by one row in each iteration.
    (lambda: loop("f32[?,3]", longer), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 1),
    # The body may run no iteration.
    (lambda: loop("f32[?,3]", SAME, entered=None), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 1),
    # The size of the list is that of the step, whatever it was before.
    (filled, [[10, 4, 6], [10, 5, 6], [10, 6, 6]], [[10, 9, 6], [10, 2, 6], [10, 1, 6], [10, 3, 6]], 0),
    (lambda: loop("f32[?,3]", inside(resized)), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 0),
    # As many parts as rows, each with a Softmax.
    (lambda: iterator("f32[?,3]", inside("Softmax(_x, axis=1)")), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3], [0, 3]], 0),
    (lambda: iterator("f32[2,?]", inside("Softmax(_x, axis=1)"), slice=PARTS, output=PARTS), [[2, 3], [2, 4], [2, 5]], [[2, 9], [2, 1]], 0),
    # The branch is known.
    (lambda: chosen(SAME, transposed(1, 0), "f32[?,3]", True), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 0),
]


@pytest.mark.parametrize("row", ROWS)
def test_a_plan_says_what_passes_over_bodies_say(row: tuple[Callable[[], Net], list[list[int]], list[list[int]], int]) -> None:
    build, steps, others, asks = row
    net = build()
    session = session_of(net)
    name = session.model.parameters[-1].name
    _, plan = planned(net, *({name: shape} for shape in steps))
    assert len(plan.asks) == asks
    for shape in [*steps, *others]:
        ours, theirs = session.reshape({name: shape}), session_of(net).reshape({name: shape})
        assert ours.ok == theirs.ok
        if ours.ok:
            assert said(ours) == said(theirs)
    assert session.plan is not None


CORPUS = os.environ.get("IRSHAPE_CORPUS")
ARCHITECTURES = (
    "alexnet", "resnet18", "resnext50_32x4d", "mobilenet_v2", "efficientnet_b0", "mnasnet0_5", "squeezenet1_1",
    "fcn_resnet50", "r3d_18", "bert_base", "unet", "decoder", "decoder_stateful", "atrous", "windows", "stem",
)  # fmt: skip
REAL = (
    "transformers/llama_16", "transformers/llama_48", "transformers/gpt2", "transformers/bert_base", "transformers/detr",
    "transformers/mistral", "transformers/t5_encdec", "transformers/llama_kv", "transformers/bloom", "transformers/dinov2",
    "transformers/beit", "transformers/yolos", "timm/twins", "timm/xcit", "diffusers/sd_unet_dyn",
    "transformers/gpt2_kv_stateful", "transformers/llama_kv_stateful", "llm/gemma2_model", "llm/opt_model", "llm/qwen2_model",
    "tensorflow/atrous_dyn",
)  # fmt: skip


def assigned(signature: Any, count: int) -> list[dict[str, tuple[int, ...]]]:
    """Different shapes of the inputs that a signature admits."""
    random, found = Random(1), list[dict[str, tuple[int, ...]]]()
    for _ in range(400):
        shapes = signature.assign(sizes(signature, random))
        if shapes is not None and shapes not in found:
            found.append(shapes)
        if len(found) == count:
            break
    return found


def batches(model: Model) -> list[dict[str, tuple[int, ...]]]:
    """The shapes of the inputs with other batches, where the file has no open size."""
    shapes = {node.name: tuple([size.low for size in described_shape(node) or ()]) for node in model.parameters}
    return [{name: (batch, *shape[1:]) for name, shape in shapes.items()} for batch in (1, 2, 3, 5)]


def check(source: Any, weights: Any) -> None:
    """A session makes a plan that leaves nothing open and says what a pass says."""
    session = Session(source, weights=weights)
    signature = verbs.signature(session.model)
    several = assigned(signature, 5) if signature.symbols else batches(session.model)
    assert len(several) >= 3
    for shapes in several:
        session.reshape(shapes)
    assert session.plan is not None
    assert not session.plan.open
    for shapes in several:
        assert said(session.reshape(shapes)) == said(verbs.infer(source, inputs=shapes, weights=weights))


@pytest.mark.slow("take long")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_has_a_plan(name: str, tmp_path: Path) -> None:
    if name in ("decoder", "decoder_stateful", "atrous"):
        check(EXAMPLES / f"{name}.xml", None)
        return
    if name in ("windows", "stem"):
        net = windows() if name == "windows" else stem()
        check(net.xml.encode(), net.bin)
        return
    one = carried()[name]
    weights = tmp_path / "model.bin"
    with weights.open("wb") as file:
        for offset, values in one["values"].items():
            file.seek(int(offset))
            file.write(base64.b64decode(values))
        file.truncate(one["size"])
    check(one["xml"].encode(), str(weights))


@pytest.mark.skipif(not CORPUS, reason="IRSHAPE_CORPUS names no folder")
@pytest.mark.parametrize("name", REAL)
def test_a_real_model_has_a_plan(name: str) -> None:
    path = Path(str(CORPUS)) / f"{name}.xml"
    if not path.exists():
        pytest.skip(f"IRSHAPE_CORPUS has no {name}.xml")
    check(path, None)


# Numbers that many sizes may become. Several of them have many divisors, so that demands for multiples hold now and then.
SIZES = (1, 2, 3, 4, 6, 7, 12, 24, 60, 120)
RESHAPES = 9
NETS = 400


def reshapes(rng: Random, model: Model) -> Iterator[dict[str, list[int]]]:
    """Shapes of the inputs in which sizes that are equal in the file stay equal."""
    declared = {node.name: described_shape(node) for node in model.parameters}
    several = sorted({(size.low, size.high) for shape in declared.values() for size in shape or ()})
    changing = rng.sample(several, min(len(several), rng.choice((1, 1, 2, 3))))
    usual = {one: rng.choice(SIZES) if one[0] != one[1] else one[0] for one in several}
    for _ in range(RESHAPES):
        sizes = {one: rng.choice(SIZES) if one in changing else number for one, number in usual.items()}
        numbers = {one: int(min(max(size, one[0]), one[1])) if one[0] != one[1] else size for one, size in sizes.items()}
        yield {name: [numbers[size.low, size.high] for size in shape] for name, shape in declared.items() if shape is not None}


def answers(net: Net, seed: Any) -> list[str]:
    """The reshapes of a net that a session answers otherwise than a pass; `planned` where it answered from formulas."""
    xml, weights = net.xml.encode(), net.bin
    session = Session(xml, weights=weights)
    found: list[str] = []
    if not session.infer().ok:
        return found
    for shapes in reshapes(Random(seed), session.model):
        ours = session.reshape(shapes)
        if session.plan is None:
            continue
        found.append("planned")
        theirs = Session(xml, weights=weights).reshape(shapes)
        if ours.ok != theirs.ok or (ours.ok and said(ours) != said(theirs)):
            found.append(f"{seed}: {shapes}")
    return found


TABLES = [table for table in tables() if table.version != "tensorflow"]


@pytest.mark.slow("take long")
@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.type} {table.version}")
def test_the_rows_of_an_operation(table: Any) -> None:
    for row in table.rows:
        if not is_refused(row):
            found = answers(net_of(table.type, table.version, row), f"{table.type} {row[0]}")
            assert [one for one in found if one != "planned"] == []


@pytest.mark.slow("take long")
@pytest.mark.parametrize("row", BODIES, ids=lambda row: row[0])
def test_the_rows_of_bodies(row: tuple[str, Net, str]) -> None:
    assert [one for one in answers(row[1], row[0]) if one != "planned"] == []


@pytest.mark.slow("take long")
@pytest.mark.parametrize("chunk", range(8))
def test_random_nets(chunk: int) -> None:
    found: list[str] = []
    for seed in range(chunk, NETS, 8):
        random_net = RandomNet(seed)
        for _ in range(7):
            random_net.grow()
        random_net.finish()
        found += answers(random_net.net, seed)
    assert [one for one in found if one != "planned"] == []
    assert len(found) > 20
