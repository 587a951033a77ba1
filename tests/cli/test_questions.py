"""`irshape signature`, `sizes` and `explain` as a user meets them."""

import json
import os
from pathlib import Path

import pytest

import irshape
from irshape.answers.wording import LONGEST, SIZE, Parts, where
from irshape.report.terminal import block_lines
from irshape.report.text import Palette
from tests.answers import nets
from tests.answers.test_signature import BOXES, added, joined
from tests.answers.test_sizes import scaled
from tests.inference.test_bodies import branched, inside
from tests.support.commands import Start
from tests.support.ir import Net
from tests.support.places import ATROUS, DECODER, STATEFUL
from tests.support.schemas import validator


def test_a_signature_in_one_line(run: Start) -> None:
    lines = run("signature", ATROUS, code=0).lines
    assert lines[1:4] == ["", "image[B,3,H,W]  ->  mask[B,2,2*((H + 1)//2),2*((W + 1)//2)]", ""]
    assert lines[4] == "valid for sizes of at least 1 where"
    assert [line.split("  ")[1] for line in lines[5:]] == ["H >= 3 and H % 4 in {0, 3}", "W >= 3 and W % 4 in {0, 3}"]


def test_a_signature_that_is_longer_than_a_line(run: Start) -> None:
    lines = run("signature", DECODER).lines
    assert lines[2:4] == [
        "input_ids[B,S]  attention_mask[B,P + S]  past.key[B,2,P,4]  past.value[B,2,P,4]",
        "->  logits[B,S,16]  present.key[B,2,P + S,4]  present.value[B,2,P + S,4]",
    ]
    assert lines[5] == "valid for every B, P and S of at least 1"
    assert lines[7:] == [
        "the shape inference of OpenVINO also accepts other sizes",
        "  attention_mask may also be 1 on axis 0, and where B is 1 it may have any size",
        "  attention_mask may also be 1 on axis 1",
    ]


def test_variables_stand_on_a_line_of_their_own(run: Start) -> None:
    lines = run("signature", STATEFUL).lines
    assert lines[3] == "state  past.keypresent.key[B,2,P,4]  past.valuepresent.value[B,2,P,4]"


def test_equal_shapes_in_a_row_are_written_once(run: Start, tmp_path: Path) -> None:
    path = added("f32[?,2]", "f32[?,2]", "f32[?,2]").save(tmp_path / "sum.xml")
    assert run("signature", path)[1][2].startswith("parameter_0 … parameter_2[B,2]  ->")
    assert run("signature", path, "--all")[1][2:5] == [f"parameter_{number}[B,2]" for number in range(3)]


def test_the_layers_that_say_so(run: Start, tmp_path: Path) -> None:
    path = joined("f32[?,?]", "f32[?,?]", axis=1).save(tmp_path / "join.xml")
    lines = run("signature", path, "--why")[1]
    assert lines[-2] == "because"
    assert lines[-1].startswith("  parameter_1 axis 0  B  Concat concat_2, line ")
    assert lines[-1].endswith(": the inputs must be equal on axis 0")


def test_sizes_that_only_data_tells(run: Start, tmp_path: Path) -> None:
    lines = run("signature", Net(BOXES).save(tmp_path / "boxes.xml"))[1]
    assert lines[2] == "parameter_0[B,5]  ->  nonzero_1[2,nonzero]"
    assert lines[3].startswith("  where nonzero is known only at run time: NonZero nonzero_1, line ")


@pytest.mark.parametrize(("condition", "why"), [
    ("Greater(Gather-8(ShapeOf-3(_x, output_type=i64), 0, 0), 3)", "a condition on the sizes decides which branch gives it"),
    ("Greater(ReduceMax(_x, [0], keep_dims=false), f32=3.0)", "it depends on the data"),
], ids=["size", "data"])  # fmt: skip
def test_why_a_branch_is_known_only_at_run_time(run: Start, tmp_path: Path, condition: str, why: str) -> None:
    net = Net()
    net.named["_x"] = [net.parameter("f32[?]")]
    branches = inside("Concat(_x, _x, axis=0)", "f32[?]"), inside("Abs(_x)", "f32[?]")
    net.result(branched(net, [net.add(condition), *net.named["_x"]], *branches))
    assert run("signature", net.save(tmp_path / "if.xml"))[1][3].endswith(f": {why}")


def test_why_the_length_of_a_slice_is_known_only_at_run_time(run: Start, tmp_path: Path) -> None:
    net = Net()
    net.named["_x"] = [net.parameter("f32[?]")]
    net.result(net.add("Slice-8(_x, [0], Subtract(ShapeOf-3(_x, output_type=i64), 5), [1])"))
    lines = run("signature", net.save(tmp_path / "slice.xml"))[1]
    assert lines[3].endswith(": a limit may be negative, and then counts from the end")


def test_what_a_pattern_matches(run: Start) -> None:
    lines = run("signature", DECODER, "--input", "past.*[2,2,P,4]", "--verbose").lines
    assert lines[0] == "past.* matches past.key, past.value"
    assert lines[3].startswith("input_ids[2,S]  attention_mask[2,P + S]  past.key[2,2,P,4]")
    code, lines, error = run("signature", DECODER, "--input", "none*[2]")
    assert (code, lines) == (2, [])
    assert "no input matches 'none*'" in error


def test_the_signature_in_json_is_input(run: Start) -> None:
    lines = run("signature", DECODER, "--format", "json").lines
    found = json.loads("\n".join(lines))
    validator("signature").validate(found)
    shapes = [f"{name}{shape}" for name, shape in found["inputs"].items()]
    words = [word for one in shapes for word in ("--input", one)]
    again = json.loads("\n".join(run("signature", DECODER, "--format", "json", *words)[1]))
    assert (again["inputs"], again["outputs"]) == (found["inputs"], found["outputs"])


def test_long_sizes_have_names(run: Start, tmp_path: Path) -> None:
    levels = ", ".join(f"_{i}" for i in range(1, 5))
    net = Net("_x: f32[?,1,?,?]" + "".join(f"\n_x -> {nets.conv(2**i, 2**i)} -> _{i}: {nets.reshape(0, -1)}" for i in range(1, 5)))
    net.add(f"{levels} -> Concat(axis=1) -> Result")
    lines = run("signature", net.save(tmp_path / "levels.xml"))[1]
    assert lines[2].endswith("[B,e0]")
    assert lines[3] == "  where e0 = (H//2)*(W//2) + (H//4)*(W//4) + (H//8)*(W//8) + (H//16)*(W//16)"
    parts = Parts(SIZE)
    parts.whole(formula := " + ".join(f"(H//{2**i})*(W//{2**i})" for i in range(12)))
    assert list(block_lines(list(where(parts)))) == [f"  where e0 = {formula}"]
    (line,) = block_lines(list(where(parts)), Palette(False, 400))  # a terminal
    assert len(line) == len("  where e0 = ") + LONGEST and "…" in line


def test_conditions_stand_above_the_layers_that_make_them(run: Start) -> None:
    lines = run("sizes", ATROUS, "--input", "image[1,3,H,512]", "--near", "H=250", code=0).lines
    message = "axis 2 with its pads pads_begin and pads_end must be a multiple of block_shape[2]"
    assert lines[1:] == [
        "",
        "image[1,3,H,512] is valid where",
        "  H >= 3 and H % 4 in {0, 3}",
        f"      ((H + 1)//2) % 2 == 0  SpaceToBatch atrous/space_to_batch, line 93: {message}",
        "",
        "nearest to H = 250",
        "  below  H = 248",
        "  above  H = 251",
    ]


def test_a_condition_that_is_a_layers_own_is_said_once(run: Start, tmp_path: Path) -> None:
    path = nets.blocks().save(tmp_path / "blocks.xml")
    lines = run("sizes", path, "--input", "parameter_0[B,S]", "--input", "parameter_1[B,S]", "--near", "B=3,S=50", code=0).lines
    assert lines[2] == "parameter_0[B,S], parameter_1[B,S] are valid where"
    assert [lines[3], lines[5]] == ["  S <= 48", "  (B*S) % 4 == 0"]
    assert lines[6].startswith("      Reshape reshape_") and lines[6].endswith(
        ": the elements of data must be a multiple of the product of the sizes other than -1"
    )
    assert lines[-3:] == ["nearest to B = 3, S = 50", "  below  B = 3, S = 48", "  above  none was found"]


def test_every_size(run: Start, tmp_path: Path) -> None:
    net = Net("f32[?,3] -> ReLU -> Result")
    assert run("sizes", net.save(tmp_path / "relu.xml"))[:2] == (
        0,
        [f"{tmp_path}/relu.xml  IR v11, 3 layers", "", "parameter_0[B,3] is valid for every B of at least 1"],
    )


def test_what_formulas_do_not_tell_is_said(run: Start, tmp_path: Path) -> None:
    path = scaled().save(tmp_path / "scaled.xml")
    lines = run("sizes", path, "--input", "[N]", "--near", "N=10", code=0).lines
    assert lines[2] == "parameter_0[N] is valid for every N of at least 1 (as far as formulas tell)"
    assert lines[4] == "formulas do not decide"
    assert lines[-2:] == ["  below  N = 6", "  above  N = 24"]
    lines = run("sizes", path, "--input", "[N]", "--set", "N=1..60").lines
    assert lines[2:4] == ["parameter_0[N] is valid where (every size was tried)", "  4 <= N <= 6 or 24 <= N <= 26"]


def test_sizes_say_where_a_range_comes_from(run: Start, tmp_path: Path) -> None:
    path = Net("x: f32[2..9,8..64] -> ReLU -> Result").save(tmp_path / "relu.xml")
    lines = run("sizes", path, "--set", "T=16*k", code=0).lines
    assert lines[3:7] == [
        "  2 <= B <= 9", "      the file or the question gives this range",
        "  T >= 16 and T % 16 == 0", "      the file or the question gives this range",
    ]  # fmt: skip


def test_a_layer_with_two_demands_of_one_reason_is_listed_once(run: Start, tmp_path: Path) -> None:
    """The first Concat demands that L is a multiple of 2 and of 3; the second one only the first of both."""
    pool = "MaxPool(kernel=[{0}], strides=[{0}], pads_begin=[0], pads_end=[0])"
    net = Net(f"""
        x: f32[1,1,?]
        x -> a: {pool.format(2)}
        x -> b: {pool.format(3)}
        a, a -> even: Concat(axis=2)
        b, b, b -> three: Concat(axis=2)
        x, even, three -> c: Concat(axis=1) -> Result
        x, even -> Concat(axis=1) -> Result
    """)
    lines = run("signature", net.save(tmp_path / "net.xml"), code=0).lines
    [line] = [line.strip() for line in lines if "Concat" in line]
    assert line == "L >= 6 and L % 6 == 0  Concat c, line 49 and 1 more layer: the inputs must be equal on axis 2"


def test_no_size_is_a_fault(run: Start, tmp_path: Path) -> None:
    halves = nets.reshape(-1, 2)
    net = Net(f"_x: f32[?]\n_x -> {halves} -> Result\n_x, f32=[0.0] -> Concat(axis=0) -> {halves} -> Result")
    code, lines, _ = run("sizes", net.save(tmp_path / "odd.xml"), "--input", "[N]")
    assert (code, lines[2]) == (1, "parameter_0[N] is valid for no size: these conditions contradict each other")
    assert [line.split("  ")[1] for line in lines[3:]] == ["N % 2 == 0", "(N + 1) % 2 == 0"]


@pytest.mark.parametrize("command", ["check", "infer", "signature"])
def test_no_size_is_told_with_the_layers_that_leave_none(run: Start, tmp_path: Path, command: str) -> None:
    halves = nets.reshape(-1, 2)
    both = f"a -> {halves} -> Result\nb, f32=[0.0] -> Concat(axis=0) -> {halves} -> Result"
    net = Net(f"a: f32[?]\nb: f32[?]\na, b -> Add(auto_broadcast=none) -> Result\n{both}")
    lines = run(command, net.save(tmp_path / "odd.xml")).lines
    assert command == "check" or "valid for no size: these conditions contradict each other" in lines
    [fault] = [line for line in lines if "R401" in line]
    assert fault.endswith(
        "no sizes fulfil these conditions together: B == T (line 16), B % 2 == 0 (line 37), (T + 1) % 2 == 0 (line 74) [Add add_2]"
    )


@pytest.mark.parametrize("command", ["infer", "signature"])
def test_conditions_beside_one_that_never_holds_make_no_size_valid(run: Start, tmp_path: Path, command: str) -> None:
    net = Net("f32[1,1,?,?] -> MaxPool(kernel=[-2,2], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]) -> Result")
    lines = run(command, net.save(tmp_path / "pool.xml")).lines
    assert "valid for no size, because of the faults; the other layers demand" in lines


def test_the_answer_for_programs(run: Start) -> None:
    lines = run("sizes", ATROUS, "--input", "image[1,3,H,W]", "--near", "H=3,W=2", "--format", "json").lines
    told = json.loads("\n".join(lines))
    validator("sizes").validate(told)
    assert (told["ok"], told["condition"]) == (True, "H >= 3 and H % 4 in {0, 3} and W >= 3 and W % 4 in {0, 3}")
    assert told["nearest"] == {"given": {"H": 3, "W": 2}, "below": None, "above": {"H": 3, "W": 3}}
    lines = run("sizes", ATROUS, "--format", "json").lines
    told = json.loads("\n".join(lines))
    validator("sizes").validate(told)
    assert told["nearest"] is None


def test_a_batch_that_is_left_out_is_1_and_sizes_that_are_valid_are_called_so(run: Start, tmp_path: Path) -> None:
    tied = Net("x: f32[?,3,?] -> Reshape([-1,8]) -> Result").save(tmp_path / "tied.xml")
    lines = run("sizes", tied, "--input", "x[B,3,H]", "--near", "H=9", code=0).lines
    assert lines[-3:] == ["nearest to H = 9 (taking B = 1)", "  below  B = 1, H = 8", "  above  B = 1, H = 16"]
    for words in (["H=8,W=8"], ["H=8", "W=8"], ["H=8 W=8"], ["H = 8, W = 8"]):
        assert run("sizes", ATROUS, "--near", *words, code=0).lines[-1] == "H = 8, W = 8: valid"


def test_sizes_are_set_behind_spaces_or_commas(run: Start) -> None:
    first, *others = (
        run("infer", ATROUS, "--set", *words, "--all", code=0).out for words in (["H=8", "W=16..64"], ["H=8,W=16..64"], ["H=8, W=16..64"])
    )
    assert "[?,3,8,16..64]" in first and others == [first, first]
    swept = run("cost", ATROUS, "--set", "B=1,H=8,W=16,32", code=0).lines
    assert [line.split()[0] for line in swept if line.startswith(("16 ", "32 "))] == ["16", "32"]
    assert "'W' is not SYMBOL=SIZE" in run("infer", ATROUS, "--set", "H=8", "W", code=2).err


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_weights_that_cannot_be_read_forbid_no_size(run: Start, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    path = nets.unet("pool").save(tmp_path / "models" / "linked.xml")
    path.with_suffix(".bin").rename(tmp_path / "stored")
    path.with_suffix(".bin").symlink_to(tmp_path / "stored")
    text = run("sizes", path, "--input", "[1,1,H,W]", "--near", "H=9,W=9", code=1).out
    assert "which sizes parameter_0[1,1,H,W] may have is not known, because the weights cannot be read" in text
    assert "nearest" not in text and "no size" not in text
    err = run("reshape", path, "--input", "[1,1,H,W]", "--rewrite").err
    assert "internal error" not in err


def test_the_chain_is_shown_from_the_input_on(run: Start) -> None:
    lines = run("explain", ATROUS, "upsample:1:2", "--input", "image[1,3,256,256]", code=0).lines
    assert lines == [
        f"{ATROUS}:250:3: DepthToSpace upsample, port 1, axis 2 is 256",
        "",
        "1  4:3  Parameter image: axis 2 = 256, as set for this run",
        "2  26:3  Convolution stem: axis 2"
        " = (data[2] + pads_begin[0] + pads_end[0] - ((filters[2] - 1) * dilations[0] + 1)) // strides[0] + 1"
        " = (256 + 1 + 1 - ((3 - 1) * 1 + 1)) // 2 + 1 = 128",
        "     data[2]: step 1",
        "     pads_begin[0], pads_end[0], dilations[0], strides[0]: attributes (27:42, 27:60, 27:25, 27:10)",
        "     filters[2]: axis 2 of Const stem/weights (16:29)",
        "3  250:3  DepthToSpace upsample: axis 2 = data[2] * block_size = 128 * 2 = 256",
        "     data[2]: step 2, unchanged through 2 layers, ReLU stem/relu to Concat features",
        "     block_size: attribute (251:10)",
        "",
        "It follows from axis 2 of Parameter image.",
    ]


def test_symbols_stand_in_formulas(run: Start) -> None:
    lines = run("explain", ATROUS, "upsample:1:2", "--input", "image[1,3,H,W]", "--set", "H=32..64", code=0).lines
    assert lines[0].endswith("axis 2 is 2*((H + 1)//2), in 32..64")
    assert "1  4:3  Parameter image: axis 2 = H, any size in 32..64, as set for this run" in lines


@pytest.mark.parametrize(("short", "whole"), [("upsample::-1", "upsample:1:-1"), ("upsample:", "upsample"), ("0::2", "image:0:2")])
def test_a_port_that_is_left_out_is_the_first_output(short: str, whole: str, run: Start) -> None:
    assert run("explain", ATROUS, short, code=0).lines == run("explain", ATROUS, whole, code=0).lines


def test_the_answer_for_programs_is_that_of_the_library(run: Start) -> None:
    lines = run("explain", ATROUS, "mask", "--format", "json", code=0).lines
    assert json.loads("\n".join(lines)) == irshape.explain(irshape.infer(ATROUS), "mask").to_dict()


def test_names_may_hold_colons(run: Start, tmp_path: Path) -> None:
    net = Net("ReLU(f32[2,3]) -> Result")
    path = tmp_path / "colons.xml"
    path.write_text(net.xml.replace('"relu_1"', '"a:1:0"'))
    for target, value in (("a:1:0", "f32[2,3]"), ("a:1:0:1", "f32[2,3]"), ("a:1:0:1:1", "3"), ("1:1:0", "2")):
        code, lines, _ = run("explain", path, target)
        assert (code, lines[0].rpartition(" is ")[2]) == (0, value)


def test_a_narrow_terminal_gets_an_equation_in_lines() -> None:
    from irshape.report.text import Palette

    explanation = irshape.explain(irshape.infer(ATROUS), "stem", None, 2)
    lines = list(explanation.lines(Palette(False, 110)))
    assert lines[3:7] == [
        "2  26:3  Convolution stem: axis 2",
        "     = (data[2] + pads_begin[0] + pads_end[0] - ((filters[2] - 1) * dilations[0] + 1)) // strides[0] + 1",
        "     = (H + 1 + 1 - ((3 - 1) * 1 + 1)) // 2 + 1",
        "     = (H + 1)//2",
    ]


def test_long_names_are_cut_on_terminals_only() -> None:
    from irshape.report.text import Palette

    long = "block/" * 20
    explanation = irshape.explain(irshape.infer(ATROUS.read_bytes().replace(b'name="', f'name="{long}'.encode())), f"{long}stem", None, 1)
    whole = str(explanation)
    assert f"Convolution {long}stem: axis 1" in whole
    assert f"axis 0 of Const {long}stem/weights (16:29)" in whole
    assert explanation.to_dict()["steps"][0]["reads"][0]["source"] in whole
    lines = list(explanation.lines(Palette(False, 400)))
    assert len(lines) == len(whole.splitlines())
    assert "     filters[0]: axis 0 of Const block/block/block/block…block/block/stem/weights (16:29)" in lines
    assert long not in "".join(lines)
