"""`irshape explain` as a user meets it."""

import json
from pathlib import Path

import pytest

import irshape
from tests.support.commands import Start
from tests.support.ir import Net

ROOT = Path(__file__).parent.parent.parent
ATROUS = ROOT / "examples" / "atrous.xml"


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


def test_the_answer_for_programs_is_that_of_the_library(run: Start) -> None:
    lines = run("explain", ATROUS, "mask", "--format", "json", code=0).lines
    assert json.loads("\n".join(lines)) == irshape.explain(irshape.infer(ATROUS), "mask").to_dict()


def test_a_failed_layer_gives_its_faults_and_the_exit_code(run: Start) -> None:
    lines = run("explain", ROOT / "examples" / "faulty.xml", "join:2:1", code=1).lines
    assert lines[0].endswith("Concat join, port 2 is not known")
    assert any(" S201 " in line for line in lines)


def test_names_may_hold_colons(run: Start, tmp_path: Path) -> None:
    net = Net("ReLU(f32[2,3]) -> Result")
    path = tmp_path / "colons.xml"
    path.write_text(net.xml.replace('"relu_1"', '"a:1:0"'))
    for target, value in (("a:1:0", "f32[2,3]"), ("a:1:0:1", "f32[2,3]"), ("a:1:0:1:1", "3"), ("1:1:0", "2")):
        code, lines, _ = run("explain", path, target)
        assert (code, lines[0].rpartition(" is ")[2]) == (0, value)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("upsampel:1:2", "the model has no layer 'upsampel'; did you mean 'upsample'?"),
        ("upsample:1:9", "port 1 of layer 'upsample' has no axis 9; it has axes 0 to 3"),
        ("upsample:x", "the model has no layer 'upsample:x'; did you mean 'upsample'?"),
        ("", "the model has no layer ''"),
    ],
)
def test_what_cannot_be_done_is_said_on_a_line(run: Start, target: str, message: str) -> None:
    code, lines, err = run("explain", ATROUS, target)
    assert (code, lines) == (2, [])
    assert message in err
    assert err.count("\n") == 1


def test_a_file_that_is_no_model_says_why(run: Start, tmp_path: Path) -> None:
    (tmp_path / "no.xml").write_text("<html/>")
    lines = run("explain", tmp_path / "no.xml", "x", code=1).lines
    assert any("X104" in line for line in lines)


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
