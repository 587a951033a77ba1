"""Valid sizes agree with OpenVINO, size by size, and the answer says truly whether it is exact."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from random import Random

import pytest

import irshape
from irshape import verbs
from irshape.answers.signature.naming import named
from irshape.answers.sizes import ValidSizes, sections
from irshape.answers.wording import LONGEST, Parts, where
from irshape.cli.texts import guards
from irshape.report.terminal import block_lines, lines
from tests.answers import nets
from tests.support.ir import Net
from tests.support.oracle import reads
from tests.support.schemas import validator

UNET = "H >= 32 and H % 32 == 0"
PYRAMID = "(H >= 29 and H % 32 in {0, 29, 30, 31}) or H <= 4"
SQUARE = {"parameter_0": "[1,1,H,H]"}
OBLONG = {"parameter_0": "[1,1,H,W]"}
# A net, the shapes that are asked about, and the condition.
OF_ONE_SYMBOL = [
    ("unet, pooled", partial(nets.unet, "pool"), SQUARE, UNET),
    ("unet, strided", partial(nets.unet, "stride", 3), SQUARE, "H >= 8 and H % 8 == 0"),
    ("unet, pooled up", partial(nets.unet, "ceil", 3), SQUARE, "H >= 8 and H % 8 == 0"),
    ("stem", nets.stem, SQUARE, "H >= 139"),
    ("fixed head", nets.head, SQUARE, "223 <= H <= 254"),
    ("fixed head, one side", nets.head, {"parameter_0": "[1,1,H,240]"}, "223 <= H <= 254"),
    ("windows", nets.windows, SQUARE, "H >= 28 and H % 28 <= 3"),
    ("pyramid", nets.pyramid, SQUARE, PYRAMID),
    ("multiples", partial(nets.unet, "pool", 2), {"parameter_0": "[1,1,3*H,3*H + 8]"}, "H >= 4 and H % 4 == 0"),
]  # fmt: skip
OF_TWO_SYMBOLS = [
    ("unet", partial(nets.unet, "pool", 3), OBLONG, "H >= 8 and H % 8 == 0 and W >= 8 and W % 8 == 0"),
    (
        "fixed head", nets.head, OBLONG,
        "H >= 63 and W >= 63 and ((H + 1)//32)*((W + 1)//32) == (H + 1)//32 + (W + 1)//32 + 35",
    ),
    ("windows", nets.windows, OBLONG, "H >= 28 and H % 28 <= 3 and W >= 28 and W % 28 <= 3"),
    ("blocks", nets.blocks, {"parameter_0": "[H,W]", "parameter_1": "[H,W]"}, "W <= 48 and (H*W) % 4 == 0"),
    ("two inputs", nets.blocks, {"parameter_0": "[1,H]", "parameter_1": "[1,W]"}, "4 <= H <= 48 and H % 4 == 0 and (W == H or W == 1)"),
]  # fmt: skip


def answer(net: Net, inputs: Mapping[str, str], **symbols: str) -> ValidSizes:
    """The valid sizes of a net."""
    return irshape.sizes(net.xml.encode(), inputs=inputs, symbols=symbols, weights=net.bin)


def with_shapes(net: Net, inputs: Mapping[str, str], sizes: Mapping[str, int]) -> bytes:
    """The text of a net whose inputs have these sizes."""
    text = net.xml
    for name, shape in inputs.items():
        start = text.index('shape="', text.index(f'name="{name}"')) + len('shape="')
        numbers = [str(eval(one, {}, dict(sizes))) for one in shape.strip("[]").split(",")]
        text = text[:start] + ",".join(numbers) + text[text.index('"', start) :]
    return text.encode()


def compare(net: Net, inputs: Mapping[str, str], found: ValidSizes, cases: Iterable[Mapping[str, int]]) -> None:
    """OpenVINO must read the net with the sizes that are admitted, and with no others."""
    verdicts = {False: 0, True: 0}
    for sizes in cases:
        is_read = reads(with_shapes(net, inputs, sizes), net.bin)
        assert found.admits(sizes) == is_read, sizes
        verdicts[is_read] += 1
    assert all(verdicts.values()), "both verdicts occur"


@pytest.mark.slow("take long")
@pytest.mark.parametrize(("net", "inputs", "condition"), [row[1:] for row in OF_ONE_SYMBOL], ids=[row[0] for row in OF_ONE_SYMBOL])
@pytest.mark.oracle
def test_every_size_of_one_symbol(net: Callable[[], Net], inputs: dict[str, str], condition: str) -> None:
    built = net()
    found = answer(built, inputs)
    assert (str(found), found.is_exact) == (condition, True)
    valid = {size for size in range(1, 401) if eval(condition, {"H": size})}
    assert {size for size in range(1, 401) if found.admits(H=size)} == valid
    compare(built, inputs, found, ({"H": size} for size in range(1, 401)))


@pytest.mark.slow("take long")
@pytest.mark.parametrize(("net", "inputs", "condition"), [row[1:] for row in OF_TWO_SYMBOLS], ids=[row[0] for row in OF_TWO_SYMBOLS])
@pytest.mark.oracle
def test_sizes_of_two_symbols(net: Callable[[], Net], inputs: dict[str, str], condition: str) -> None:
    built, random = net(), Random(1)
    found = answer(built, inputs)
    assert (str(found), found.is_exact) == (condition, True)
    cases = [{"H": h, "W": w} for h in range(1, 13) for w in range(1, 13)]
    cases += [{"H": random.randint(1, 400), "W": random.randint(1, 400)} for _ in range(60)]
    for _ in range(60):  # the border is where mistakes are
        near = found.nearest(H=random.randint(1, 300), W=random.randint(1, 300)).above
        if near is not None:
            cases += [near, {**near, "H": near["H"] + random.choice((-1, 1))}]
    compare(built, inputs, found, (case for case in cases if min(case.values()) > 0))


def test_every_open_size_is_asked_about() -> None:
    found = answer(nets.windows(), {})
    assert found.inputs == {"parameter_0": "[1,1,H,W]"}
    assert str(found) == "H >= 28 and H % 28 <= 3 and W >= 28 and W % 28 <= 3"
    assert answer(nets.windows(), {"parameter_0": "[1,1,A,?]"}).inputs == {"parameter_0": "[1,1,A,W]"}


def test_ranges_in_shapes_limit_the_question() -> None:
    found = answer(nets.windows(), {"parameter_0": "[1,1,50..100,H]"})
    assert found.inputs == {"parameter_0": "[1,1,H2,H]"}
    assert {name: str(known) for name, known in found.symbols.items()} == {"H2": "50..100", "H": "1.."}
    assert str(found) == "(56 <= H2 <= 59 or 84 <= H2 <= 87) and H >= 28 and H % 28 <= 3"


def test_a_demand_that_another_one_includes_is_left_out() -> None:
    """Where D is B or 1, sizes of D and B broadcast."""
    net = Net("x: f32[?,4]\ny: f32[?,4]\nx, y -> Add -> Result\nx -> n: ShapeOf\ny, n -> Broadcast-3(mode=numpy) -> Result")
    assert str(answer(net, {"x": "[B,4]", "y": "[D,4]"})) == "D == B or D == 1"


def test_conditions_name_the_layers_that_make_them() -> None:
    found = answer(nets.unet("pool"), SQUARE)
    assert [condition.text for condition in found.conditions] == [UNET]
    (condition,) = found.conditions
    joins = [guard.node for guard in condition.guards]
    assert {node.type for node in joins} == {"Concat"}
    assert [str(guard.requirement) for guard in condition.guards] == [*(f"(H//{n}) % 2 == 0" for n in (16, 8, 4, 2)), "H % 2 == 0"]
    assert all(guard.node.line == node.line for guard, node in zip(condition.guards, joins, strict=True))


def test_the_layers_of_a_joint_condition_are_named_whatever_else_is_open() -> None:
    """The Concat of each level, and no layer that demands less: windows of 3 with pads of 1 take every size."""
    net = nets.unet("pool", 2)
    demanded = [[str(guard.requirement) for guard in one.guards] for one in answer(net, {}).conditions]
    assert demanded == [[f"{name} % 2 == 0", f"({name}//2) % 2 == 0"] for name in "HW"]
    told = list(lines(guards(named(verbs.infer(net.xml.encode(), weights=net.bin)))))
    assert [line.split()[:8] for line in told if " % 4" in line] == [[name, ">=", "4", "and", name, "%", "4", "=="] for name in "HW"]
    assert "Convolution" not in "".join(told)


def test_the_nearest_sizes_where_one_is_too_large_and_another_one_too_small() -> None:
    """H is 13 or 14, because a sum has 14 rows; W is 2, whose one column broadcasts, 13 or 14."""
    net = Net(f"""
        f32[1,1,?,?] -> x: ReLU
        MaxPool-1(x, kernel="2,2", strides="2,2", pads_begin="0,0", pads_end="0,0", rounding_type=ceil) -> half: ReLU
        Concat(half, half, axis=2) -> Add(_, f32={[[[[0.0] * 7] * 14]]}) -> Result
    """)
    found = irshape.sizes(net.xml.encode(), weights=net.bin)
    assert found.nearest(H=40, W=1) == ({"H": 14, "W": 2},) * 2
    assert found.nearest(H=40, W=40) == ({"H": 14, "W": 14}, None)


def test_the_nearest_sizes() -> None:
    found = answer(nets.unet("pool"), OBLONG)
    assert found.nearest(H=500, W=64) == ({"H": 480, "W": 64}, {"H": 512, "W": 64})
    assert found.nearest(H=500) == ({"H": 480}, {"H": 512})
    assert found.nearest(H=31) == (None, {"H": 32})
    assert found.nearest(H=500, fixed={"W": 64}) == ({"H": 480, "W": 64}, {"H": 512, "W": 64})
    assert found.nearest(H=500, fixed={"W": 65}) == (None, None)


def test_the_nearest_sizes_of_symbols_that_depend_on_each_other() -> None:
    found = answer(nets.head(), OBLONG)
    assert found.nearest(H=300, W=240) == ({"H": 254, "W": 240}, {"H": 319, "W": 255} if found.admits(H=319, W=255) else None)
    assert found.nearest(H=100, fixed={"W": 230}) == (None, {"H": 223, "W": 230})
    with pytest.raises(irshape.InputError, match="the size of W is missing, on which other sizes depend"):
        found.nearest(H=100)


def test_the_nearest_sizes_of_equal_symbols() -> None:
    net = Net(f"f32[?,3], f32[?,3] -> Concat(axis=1) -> {nets.reshape(-1, 12)} -> Result")
    found = answer(net, {"parameter_0": "[N,3]", "parameter_1": "[M,3]"})
    assert str(found) == "N >= 2 and N % 2 == 0 and N == M"
    assert found.nearest(N=9, M=5) == ({"N": 4, "M": 4}, {"N": 10, "M": 10})
    assert (found.admits(N=4, M=4), found.admits(N=4, M=6), found.admits(N=3, M=3)) == (True, False, False)


def test_symbols_have_the_range_they_are_given() -> None:
    found = answer(nets.unet("pool"), SQUARE, H="100..1000")
    assert str(found) == "128 <= H <= 992 and H % 32 == 0" or str(found) == "128 <= H <= 1000 and H % 32 == 0"
    assert (found.admits(H=992), found.admits(H=64), found.admits(H=1024)) == (True, False, False)
    assert found.nearest(H=2000) == ({"H": 992}, None)
    assert str(answer(nets.unet("pool"), SQUARE, H="96*k")) == "H >= 96 and H % 96 == 0"


def test_conditions_that_contradict_each_other() -> None:
    halves = nets.reshape(-1, 2)
    net = Net(
        f"x: f32[?]\nx -> {halves} -> Result\nx, f32=[0.0] -> Concat(axis=0) -> {halves} -> Result\nx -> {nets.reshape(-1, 3)} -> Result"
    )
    found = answer(net, {"x": "[N]"})
    assert (str(found), found.ok, found.diagnostics, found.admits(N=2)) == ("no size", False, [], False)
    assert [condition.text for condition in found.conditions] == ["N % 2 == 0", "(N + 1) % 2 == 0"]
    assert found.nearest(N=2) == (None, None)


BATCH_OF_3 = {"parameter_0": "[N,3]"}
TWO_PARTS = "v: VariadicSplit(f32[6], 0, lengths: i64[?]) f32 f32\nv.0 -> Result\nv.1 -> Result"


@pytest.mark.parametrize(("text", "inputs", "condition", "codes", "said"), [
    (f"f32[?,3] -> {nets.reshape(-1, 2)} -> Concat(f32=0[4,1], axis=1) -> Result", BATCH_OF_3, "no size", ["S201"],
     {"ok": False, "conditions": []}),
    ("f32[1,1,?,?] -> SpaceToDepth(mode=sideways, block_size=2) -> Result", OBLONG, "no size", ["A103"], {"ok": False}),
    # OpenVINO accepts it, and cannot run it.
    ("start: i64[1]\nx: f32[?,5]\nSlice-8(x, start, [5], [0], [1]) -> Result", {"x": "[N,5]"}, "every size", ["R401"],
     {"sample": {"N": 1}}),
    # OpenVINO does not compare the number of elements where a 0 copies an axis, until it runs the model.
    (f"f32[2,?] -> {nets.reshape(0, 6)} -> Result", {"parameter_0": "[2,N]"}, "N == 6", [], {"ok": True}),
    # The first size that fits the conditions has fewer parts than the layer lists outputs, which only trying tells.
    (TWO_PARTS, {"lengths": "[1..64]"}, "2 <= B <= 64", [], {"is_by_trial": True, "sample": {}}),
    ("x: f32[?,3] -> Squeeze([0]) -> Result\nx -> Reshape([2,3], special_zero=false) -> Result", {}, "every size", [],
     {"inputs": {"x": "[2,3]"}, "symbols": {}, "ok": True}),
])  # fmt: skip
def test_what_is_said_of_sizes(text: str, inputs: dict[str, str], condition: str, codes: list[str], said: dict[str, object]) -> None:
    found = answer(Net(text), inputs)
    assert (str(found), {name: getattr(found, name) for name in said}) == (condition, said)
    told = found.never_runs or found.diagnostics
    assert [one.code for one in told] == codes
    assert codes != ["S201"] or told[0].message == "this never holds: the inputs must be equal on axis 0: N + N//2 and 4 differ"
    assert found.symbols or found.admits()


def scaled() -> Net:
    """Three tenths of the rows, which must be 7 or 1: a number that floats tell, and no formula."""
    part = "Convert(destination_type=f32) -> Multiply(f32=[0.3]) -> Floor -> Convert(destination_type=i64)"
    return Net(f"f32[?] -> {nets.size(0)} -> {part} -> Broadcast-3(f32=[0.0], _, mode=numpy) -> Add(f32=0[7]) -> Result")


def test_sizes_are_tried_where_formulas_do_not_tell() -> None:
    found = answer(scaled(), {"parameter_0": "[N]"})
    assert not found.is_exact
    assert {one.node.type for one in found.undecided if one.node} == {"Add"}
    assert f"(not decided: Add '{found.undecided[0].node.name}': " in str(found)
    assert [size for size in range(1, 60) if found.admits(N=size)] == [4, 5, 6, 24, 25, 26]
    assert found.nearest(N=10) == ({"N": 6}, {"N": 24})


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("Divide(f32=[3.0]) -> Add(f32=[1.0]) -> Ceiling", "16 <= N <= 18"),
        ("Divide(f32=[10.0]) -> Floor", "70 <= N <= 79"),
        ("Divide(f32=[3.0]) -> Divide(f32=[5.0]) -> Ceiling", "91 <= N <= 105"),
        ("Divide(f32=[3.0])", "21 <= N <= 23"),
    ],
)
def test_a_size_that_is_divided_as_a_float(part: str, expected: str) -> None:
    """A float that rounds a quotient is whole only where the quotient is, so what is rounded up or down is a formula."""
    ends = "Convert(destination_type=f32)", "Convert(destination_type=i64)"
    size = f"{nets.size(0)} -> {ends[0]} -> {part} -> {ends[1]}"
    net = Net(f"f32[?] -> {size} -> Broadcast-3(f32=[0.0], _, mode=numpy) -> Add(f32=0[7]) -> Result")
    inputs = {"parameter_0": "[N]"}
    found = answer(net, inputs)
    assert not found.undecided
    compare(net, inputs, found, ({"N": size} for size in range(1, 120)))
    assert expected in str(found)


def test_no_symbol_is_left_where_formulas_do_not_decide() -> None:
    """`x` must be 4; only a run knows the elements of `i`, which decide whether the Add is valid."""
    net = Net("x: f32[?] -> Reshape([2,2], special_zero=false) -> Result\ni: i64[2]\nReshape(f32[3], i) -> Add(f32[3,3]) -> Result")
    found = verbs.sizes(net.xml.encode(), weights=net.bin)
    assert (found.symbols, found.is_by_trial, found.inputs["x"]) == ({}, True, "[4]")
    assert "formulas do not decide" in list(lines(sections(found, {}, None)))


@pytest.mark.oracle
def test_every_size_of_a_short_range_is_tried() -> None:
    net, inputs = scaled(), {"parameter_0": "[N]"}
    found = answer(net, inputs, N="1..60")
    assert (str(found), found.is_exact, found.undecided) == ("4 <= N <= 6 or 24 <= N <= 26", True, [])
    compare(net, inputs, found, ({"N": size} for size in range(1, 61)))


def test_a_long_answer_is_cut() -> None:
    """Each of 14 inputs must be even; two sums that are cut short are named, but not written."""
    net = Net("\n".join(f"x{i}: f32[?]\nx{i} -> Reshape([2,-1], special_zero=false) -> Result" for i in range(14)))
    found = answer(net, {f"x{i}": f"[{chr(65 + i)}]" for i in range(14)})
    shown = [list(lines(sections(found, is_complete=whole))) for whole in (False, True)]
    assert [sum(line.endswith("% 2 == 0") for line in one) for one in shown] == [12, 14]
    assert [one[-1].strip() == "and 2 more conditions (--all lists them)" for one in shown] == [True, False]
    inferred = [list(lines(guards(named(verbs.infer(net.xml.encode(), weights=net.bin)), is_complete=whole))) for whole in (False, True)]
    assert [sum("% 2 == 0" in line for line in one) for one in inferred] == [12, 14]  # as `infer` and `reshape` list them
    assert inferred[0][-1].strip() == "and 2 more conditions (--all lists them)"
    parts = Parts(LONGEST)
    assert parts.cut("2*long0 == H") == "2*long0 == H"
    assert parts.whole("long3 + 1") == "e0"  # a size of a shape
    told = list(block_lines(where(parts)))[-1]
    assert told == "  where long0 and long3 are too long to be written (limits terms and levels, N104)"


@pytest.mark.parametrize(
    ("indices", "is_told", "condition"),
    [
        ("Range-4(0, _size, 1, output_type=i64)", False, "S <= 9"),  # from 0 to S - 1: the table has 9 rows
        ("Convert(Add(Range-4(0, _size, 1, output_type=i32), i32=[[2]]), destination_type=i64)", False, "S <= 7"),
        ("Convert(Sqrt(Range-4(0, _size, 1, output_type=f32)), destination_type=i64)", True, ""),
        ("Range-4(0, 4, 1, output_type=i64)", False, ""),
        ("CumSum-3(Convert(NotEqual(_ids, f32=1.0), destination_type=i64), 0, exclusive=false, reverse=false)", True, ""),  # of tokens
        ("i64[4]", False, ""),  # the user gives them
    ],
)
def test_indices_that_are_not_checked_are_told(indices: str, is_told: bool, condition: str) -> None:
    net = Net(f"_ids: f32[?]\n_ids -> {nets.size(0, '_list')}")
    net.add(f"_size: Squeeze-1(_list, [0])\n_at: {indices}\nGather-8(f32=0[9,2], _at, 0, batch_dims=0) -> Result\n_list -> Result")
    signature = verbs.signature(verbs.read(net.xml.encode()), inputs={"parameter_0": "[S]"}, weights=net.bin)
    valid = answer(net, {"parameter_0": "[S]"})
    verdict = [*lines(sections(valid, {"S": 2}, valid.nearest(S=2)))][-1]
    assert verdict == ("S = 2: valid, if the indices that are not checked are in range" if is_told else "S = 2: valid")
    assert ", ".join([str(one.requirement) for one in signature._inference.guards]) == condition
    assert valid.admits(S=10) == (not condition)
    for found in (sections(valid), signature._sections()):
        assert ("not checked: indices that the model computes from the sizes" in [*lines(found)]) == is_told


def test_constant_indices_need_an_axis_that_has_them() -> None:
    """OpenVINO reads behind the last row; Python's first and last row are there in any case."""
    net = Net("_x: f32[?,2]\nGather-8(_x, [1,-4,2], 0, batch_dims=0) -> Result\nGather-8(_x, [0,-1], 0, batch_dims=0) -> Result")
    valid = answer(net, {"parameter_0": "[S,2]"})
    assert [str(one.requirement) for one in valid._inference.guards] == ["S >= 4"]
    assert (valid.admits(S=3), valid.admits(S=4)) == (False, True)
    assert verbs.infer(net.xml.encode(), weights=net.bin, inputs={"parameter_0": "[S,2]"}).ports["0:0"] == ("f32", "[?,2]")


def test_the_hint_names_symbols_of_the_model() -> None:
    [*_, told] = lines(sections(answer(scaled(), {"parameter_0": "[N]"})))
    assert told.endswith("is tried: --set N=1..100")


def test_questions_that_cannot_be_answered() -> None:
    with pytest.raises(irshape.InputError, match="all inputs have fixed sizes"):
        answer(nets.windows(), {"parameter_0": "[1,1,28,28]"})
    with pytest.raises(irshape.InputError, match="the rank of parameter_0 is not known; name some sizes in a shape"):
        answer(nets.windows(), {"parameter_0": "[...]"})
    found = answer(nets.windows(), OBLONG)
    with pytest.raises(irshape.InputError, match="the size of W is missing"):
        found.admits(H=28)
    with pytest.raises(irshape.InputError, match="there is no symbol 'D'; the symbols are H, W"):
        found.admits(H=28, W=28, D=1)


@pytest.mark.parametrize("inputs", [SQUARE, OBLONG], ids=["solved", "relation"])
def test_the_answer_for_programs(inputs: dict[str, str]) -> None:
    found = answer(nets.head(), inputs)
    told = json.loads(json.dumps(found.to_dict()))
    validator("sizes").validate(told)
    assert (told["condition"], told["is_exact"]) == (str(found), True)


def squeezed(fact: str, *, order: list[int] | None = None, target: list[int] | None = None) -> Net:
    """A Squeeze of the first axis, which OpenVINO leaves in place if its size is not 1; behind it a Transpose, or beside it a Reshape."""
    net = Net(f"x: {fact} -> Squeeze([0]){f' -> Transpose({order})' if order else ''} -> Result")
    if target is not None:
        net.add(f"x -> Reshape({target}, special_zero=false) -> Result")
    return net


@pytest.mark.parametrize(
    ("net", "shape", "condition", "valid", "never"),
    [
        (squeezed("f32[?,3]"), "[A,3]", "every size", 2, None),
        (squeezed("f32[?,3]", target=[2, 3]), "[A,3]", "A == 2", 2, 1),
        (squeezed("f32[?,2,3]", order=[1, 0]), "[A,2,3]", "A == 1", 1, 2),
    ],
    ids=["nothing else", "another size demanded", "its rank demanded"],
)
def test_a_premise_excludes_only_sizes_that_fail(net: Net, shape: str, condition: str, valid: int, never: int | None) -> None:
    """OpenVINO accepts a Squeeze of an axis of another size, unless a later layer demands the rank that the premise gives."""
    sizes = irshape.sizes(net.xml.encode(), inputs={"x": shape}, weights=net.bin)
    assert (sizes.ok, sizes.condition) == (True, condition)
    assert sizes.admits(A=valid) and (never is None or not sizes.admits(A=never))
    told = [one.message for one in sizes.undecided]
    assert told == ([] if condition == "A == 1" else ["the formulas hold only where A == 1: axis 0 is removed only if its size is 1"])


@pytest.mark.parametrize(
    ("net", "shape", "valid", "heading"),
    [
        (squeezed("f32[?,3]"), "[A,3]", [1, 2, 3], "formulas hold only where (for other sizes"),
        (squeezed("f32[?,2,3]", order=[1, 0]), "[A,2,3]", [1], "valid for sizes of at least 1 where"),
    ],
    ids=["other sizes accepted", "its rank demanded"],
)
def test_a_signature_says_of_a_premise_what_the_sizes_say(net: Net, shape: str, valid: list[int], heading: str) -> None:
    sizes = irshape.sizes(net.xml.encode(), inputs={"x": shape}, weights=net.bin)
    signature = irshape.signature(net.xml.encode(), inputs={"x": shape}, weights=net.bin)
    assert [A for A in (1, 2, 3) if sizes.admits(A=A)] == [A for A in (1, 2, 3) if signature.assign(A=A)] == valid
    *_, title, condition = lines(signature._sections())
    assert title.startswith(heading) and condition.startswith("  A == 1")


def test_the_batch_may_be_left_out() -> None:
    found = answer(Net("f32[?,3,?] -> Reshape([0,-1,6], special_zero=true) -> Result"), {"parameter_0": "[B,3,L]"})
    assert (found.admits(L=4), found.admits(L=5)) == (True, False)
    with pytest.raises(irshape.InputError, match="the size of L is missing"):
        found.admits(B=2)


def test_a_size_of_a_state_alone_has_a_symbol_as_in_the_signature() -> None:
    """A window of 3 slides over what the state of P has and the S that come; a state that is not told of is empty."""
    net = Net(
        'past: ReadValue-6(f32=0[1,4,0], variable_id=v, variable_type=f32, variable_shape="1,4,?")\n'
        "all: Concat(past, x: f32[1,4,?], axis=2) -> Assign-6(variable_id=v)\n"
        "all -> MaxPool-1(kernel=3, strides=1, pads_begin=0, pads_end=0) -> Result"
    )
    sizes, signature = (ask(net.xml.encode(), weights=net.bin) for ask in (irshape.sizes, irshape.signature))
    assert (sizes.condition, sizes.is_exact, [*sizes.symbols]) == ("P + S >= 3", True, [*signature.symbols])
    for given, valid in (({"S": 2}, False), ({"S": 3}, True), ({"S": 2, "P": 1}, True), ({"S": 1, "P": 1}, False)):
        assert sizes.admits(given) == (signature.assign(given) is not None) == valid
    assert sizes.nearest(S=1, P=0, fixed={"S": 1}).above == {"P": 2, "S": 1}
