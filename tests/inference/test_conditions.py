"""What is listed says the same as what was demanded, in fewer words."""

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from random import Random

import pytest

import irshape
from irshape import verbs
from irshape.inference.conditions import conditions
from irshape.inference.run import Guard
from irshape.shape.dim import Scope, Size, broadcast_of, dim_max, dim_min
from irshape.shape.guard import Requirement
from irshape.shape.limits import Work
from irshape.shape.range import Range
from tests.shape.random_sizes import RandomSizes
from tests.support.ir import Net
from tests.support.irs import PATHS, named
from tests.support.places import DECODER

NOWHERE = next(iter(verbs.read(b"<layer type='Parameter' version='opset1'/>")))


def guard(kind: str, a: Size, b: Size) -> Guard:
    return Guard(NOWHERE, Requirement(kind, a, b, "{a} and {b}", "S201", {}))


def say_the_same(demanded: list[Guard], several: Iterable[dict[str, int]]) -> None:
    """Whether the simplified conditions hold for the sizes for which the demanded ones do."""
    listed, unfinished = conditions(demanded, Work(10**6))
    assert unfinished is None
    before, after = ([one.requirement for one in side] for side in (demanded, listed))
    for values in several:
        assert all(one.holds(values) for one in before) == all(one.holds(values) for one in after), (before, after, values)


@pytest.mark.parametrize("block", range(6))
def test_conditions_say_the_same(block: int) -> None:
    for seed in range(60 * block, 60 * (block + 1)):
        sizes = RandomSizes(seed)
        random = sizes.random
        demanded = []
        for _ in range(random.randint(2, 5)):
            kind = random.choice(["ge", "ge", "eq", "div", "broadcast"])
            (_, a), (_, b) = sizes.expression(random.randint(1, 3)), sizes.expression(random.randint(0, 2))
            demanded.append(guard(kind, a, random.randint(1, 6) if kind == "div" else b))
        say_the_same(demanded, (sizes.values() for _ in range(30)))


@pytest.mark.parametrize("seed", range(40))
def test_towers_of_stages_say_the_same(seed: int) -> None:
    """Stages that halve an image, add what they halved in another way to it, cut it into windows, or take kernels."""
    random = Random(seed)
    _, (b, h, w) = scope_of(B=1, H=1, W=1)
    demanded = []
    for _ in range(random.randint(1, 4)):
        by, window = random.choice((2, 2, 4)), random.choice((2, 3, 7))
        ups = random.sample(range(by), 2)
        sides = []
        for size in (h, w):
            demanded.append(guard("broadcast", (size + ups[0]) // by, (size + ups[1]) // by))
            sides.append(broadcast_of((size + ups[0]) // by, (size + ups[1]) // by))
        h, w = sides
        if random.random() < 0.5:
            demanded.append(guard("eq", b * h * w, window * window * b * (h // window) * (w // window)))
            b = broadcast_of(b, (b * h * w) // dim_max((h // window) * (w // window) * window * window, 1))
        elif random.random() < 0.5:
            demanded.append(guard(random.choice(("div", "ge")), h, random.randint(2, 4)))
    widths = (1, 2, 6, 7, 8, 12, 27, 28, 56, 63, 64, 112, 223, 224)
    say_the_same(demanded, ({"B": 3, "H": height, "W": width} for height in range(1, 260) for width in (*widths, height)))


@pytest.mark.parametrize("seed", range(60))
def test_chains_of_reshapes_say_the_same(seed: int) -> None:
    """Elements that are cut into parts without a rest, so that the parts multiply to the elements again."""
    random = Random(seed)
    _, (b, h, w) = scope_of(B=1, H=1, W=1)
    by = random.choice((2, 3, 4))
    sizes: list[Size] = [b, h, w, h // by, (w + by - 1) // by, dim_max(h // 2, 1), 2, 3, 4, 6]
    demanded = []
    for _ in range(random.randint(2, 5)):
        elements, divisor = (random.choice(sizes) * random.choice(sizes) * random.choice((1, 2, 4)) for _ in range(2))
        divisor = dim_max(divisor, 1)
        demanded.append(guard("div", elements, divisor))
        sizes += [elements // divisor] * 2 + [divisor * (elements // divisor)]
        if random.random() < 0.5:
            demanded.append(guard(random.choice(("eq", "broadcast", "ge")), random.choice(sizes), random.choice(sizes)))
    sides = product((1, 2, 3, 8), range(1, 17), range(1, 17))
    say_the_same(demanded, ({"B": batch, "H": height, "W": width} for batch, height, width in sides))


def test_divisions_without_a_rest_cancel() -> None:
    """The windows of a transformer: their number is a multiple of 4, and the heads are what is left."""
    _, (b, h, w) = scope_of(B=1, H=1, W=1)
    windows = b * h * w
    demanded = [
        guard("div", 48 * windows, 4 * 12),
        guard("div", windows, 4),
        guard("eq", 4 * (windows // 4), windows),
        guard("div", 96 * (windows // 4), windows),
        guard("eq", (96 * (windows // 4)) // windows, 24),
        guard("div", 32 * h * w, 8 * b * h),
        guard("div", 6 * w * h, h * b),
        guard("div", 3 * (4 * w // b), 6 * h),
    ]
    listed, _ = conditions(demanded, Work(10**6))
    assert [str(one.requirement) for one in listed] == ["(B*H*W) % 4 == 0", "(2*W) % (B*H) == 0"]


def joined(axis: int, *, halves: int) -> Net:
    """`x[N,H]` halved so often by pools and doubled again, joined with itself."""
    pool = " -> MaxPool(strides=2, kernel=2, pads_begin=0, pads_end=0, rounding_type=floor)"
    return Net(f"_x: f32[?,3,?]\n_x{pool * halves} -> Tile([1,1,{2**halves}]){f' -> Concat(_, _x, axis={axis})' * 2} -> Result")


def test_the_strongest_stand_for_all() -> None:
    net = joined(1, halves=3)
    inference = irshape.infer(net.xml.encode(), inputs={"parameter_0": "[N,3,H]"}, weights=net.bin)
    assert [str(one.requirement) for one in inference.guards] == ["N >= 1", "H >= 8", "H % 8 == 0"]
    assert [one.more for one in inference.guards] == [2, 0, 0]
    assert inference.guards[2].node.type == "Concat"


def test_what_data_decide_comes_last() -> None:
    net = Net("""
        _x: f32[4,?]
        f32[9] -> NonZero-3(output_type=i64) -> Convert(destination_type=f32) -> Concat(f32=[[1.0,2.0]], axis=0) -> Result
        Concat(_x, f32=[[1.0,2.0]], axis=0) -> Result
    """)
    inference = irshape.infer(net.xml.encode(), inputs={"parameter_0": "[4,W]"}, weights=net.bin)
    assert [str(one.requirement) for one in inference.guards] == ["W == 2", "nonzero == 2"]


def scope_of(**lows: int) -> tuple[Scope, list[Size]]:
    scope = Scope()
    return scope, [scope.symbol(name, low) for name, low in lows.items()]


def test_guards_that_always_hold_are_not_listed() -> None:
    _, (a, b, c) = scope_of(A=0, B=0, C=0)
    always = [
        guard("eq", a + dim_max(b - a, 0), b + dim_max(a - b, 0)),
        guard("eq", dim_min(a, b) + dim_max(a, b), a + b),
        guard("div", a * b * dim_min(a * b, 1), dim_max(a * b, 1)),
        guard("div", 16 * a * broadcast_of(b, c), dim_max(a, 1) * dim_max(b, 1)),
        guard("broadcast", broadcast_of(a, b), a),
        guard("eq", dim_max(dim_max(a - 3, 0) - dim_min(a, 1), 0), dim_max(dim_max(a - 2, 0) - dim_min(a, 2), 0)),
        guard("ge", dim_max(2 * a - 7, 3 - a), 0),
    ]
    for one in always:
        assert conditions([one], Work(10**6)) == ([], None), str(one.requirement)


def test_guards_that_nearly_always_hold_are_listed() -> None:
    _, (a, b) = scope_of(A=0, B=0)
    nearly = [
        guard("eq", a + dim_max(b - a, 0), b + dim_max(a - b, 1)),
        guard("div", a * b * dim_min(a, 1), dim_max(a * b, 2)),
        guard("eq", dim_max(dim_max(a - 3, 0) - dim_min(a, 1), 0), dim_max(dim_max(a - 2, 0) - dim_min(a, 1), 0)),
        guard("ge", dim_max(a, b), 1),
        guard("broadcast", dim_max(a - 200, 1), 1 + dim_max(a - 1, 0)),
        guard("ge", dim_max(2 * a - 7, 2 - a), 0),
    ]
    for one in nearly:
        listed, _ = conditions([one], Work(10**6))
        assert listed, str(one.requirement)


@pytest.mark.parametrize(
    ("kind", "makes", "number", "text"),
    [
        ("ge", lambda a: dim_max(a, 1), 5, "A >= 5"),
        ("eq", lambda a: dim_max(a, 1), 5, "A == 5"),
        ("eq", lambda a: dim_min(a, 9), 5, "A == 5"),
        ("eq", lambda a: dim_max(a, 1), 1, "A <= 1"),
    ],
)
def test_one_side_alone_decides(kind: str, makes: Callable[[Size], Size], number: int, text: str) -> None:
    _, (a,) = scope_of(A=0)
    [listed], _ = conditions([guard(kind, makes(a), number)], Work(10**6))
    assert str(listed.requirement) == text


def test_what_simpler_guards_resolve_is_not_said_again() -> None:
    _, (a, b) = scope_of(A=0, B=0)
    short = guard("ge", 64, a)
    listed, _ = conditions([guard("broadcast", a, dim_min(a, 64)), short, guard("eq", b, dim_max(a, 65))], Work(10**6))
    assert [str(one.requirement) for one in listed] == ["A <= 64", "B == 65"]


# An axis that is sliced to at most 64 elements, and added to the whole.
CLAMPED = Net("""
    _x: f32[?]
    _part: Slice-8(_x, [0], [64], [1], [0])
    Broadcast-3(_part, ShapeOf-3(_x, output_type=i64), mode=numpy) -> Result
    Add(_x, _part) -> Result
""")


def test_conditions_simplify_the_formulas_that_are_shown() -> None:
    inference = irshape.infer(CLAMPED.xml.encode(), inputs={"parameter_0": "[S]"}, weights=CLAMPED.bin, symbols={"S": "2..1000"})
    assert [str(one.requirement) for one in inference._inference.guards] == ["S <= 64"]
    assert set(inference.formulas.values()) == {"[S]"}


@pytest.mark.parametrize("path", PATHS, ids=named)
def test_no_guard_of_a_model_always_holds(path: Path) -> None:
    """500 sizes in its ranges, small ones and large ones, break each guard that is listed."""
    random = Random(1)
    inference = irshape.infer(path)._inference
    for one in inference.guards:
        table = inference.scope.polynomials
        ranges = {atom.name: table.ranges[atom.index] for atom in table.atoms if atom.kind == "symbol"}
        names = sorted(one.requirement.symbols())
        assert any(not holds(one.requirement, {name: number(random, ranges[name]) for name in names}) for _ in range(500)), one


def number(random: Random, known: Range) -> int:
    low = int(max(known.low, -64))
    high = int(min(known.high, low + 2 ** random.choice((0, 1, 2, 6, 12, 40))))
    size = random.randint(low, high)
    size += (known.remainder - size) % known.modulus if known.modulus > 1 else 0
    return size if size <= known.high else low


def holds(requirement: Requirement, values: dict[str, int]) -> bool:
    try:
        return requirement.holds(values)
    except ZeroDivisionError:
        return False
    except OverflowError:
        return True


SHAPES = {"input_ids": "[B,S]", "attention_mask": "[B,P+S]", "past.*": "[B,2,P,4]"}


def shapes(inference: irshape.Inference) -> dict[str, str]:
    """The shapes of the inputs as formulas."""
    return {node.name: inference[node].outputs[0].formula for node in inference.model.parameters}


def test_a_pattern_names_several_inputs() -> None:
    found = irshape.infer(DECODER, inputs=SHAPES)
    assert found.ok
    assert shapes(found) == {
        "input_ids": "[B,S]", "attention_mask": "[B,P + S]", "past.key": "[B,2,P,4]", "past.value": "[B,2,P,4]",
    }  # fmt: skip
    assert found.guards == []


def test_a_name_counts_more_than_a_pattern_and_the_last_pattern_more_than_others() -> None:
    found = irshape.infer(DECODER, inputs={"past.key": "[1,2,3,4]", "*": "[2,2]", "past.?????": "[B,2,P,4]"})
    assert shapes(found) == {
        "input_ids": "[2,2]", "attention_mask": "[2,2]", "past.key": "[1,2,3,4]", "past.value": "[B,2,P,4]",
    }  # fmt: skip


def test_a_session_and_valid_sizes_take_formulas() -> None:
    session = irshape.Session(DECODER)
    assert session.reshape(SHAPES, symbols={"P": "1..100"}).ok
    found = irshape.sizes(DECODER, inputs=SHAPES)
    assert (str(found), list(found.symbols)) == ("every size", ["B", "S", "P"])
    assert found.admits(B=2, S=3, P=4)
    assert str(irshape.sizes(DECODER, inputs={**SHAPES, "attention_mask": "[B,2*S]"})) == "P == S"


def test_a_formula_is_at_least_one() -> None:
    net = Net("ReLU(f32[?,?]) -> Result")
    found = irshape.sizes(net.xml.encode(), inputs={"parameter_0": "[A,A-B]"})
    assert (found.admits(A=3, B=2), found.admits(A=3, B=3)) == (True, False)


def test_what_is_written_beside_an_input_is_read_back() -> None:
    written = irshape.infer(DECODER, inputs=SHAPES).xml()
    again = irshape.infer(written, weights=DECODER.with_suffix(".bin"))
    assert shapes(again)["attention_mask"] == "[B,P + S]"
    assert again.xml() == written
