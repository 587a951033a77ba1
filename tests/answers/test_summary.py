"""The summary of a model: its tree adds up, and equal blocks are one row."""

import json
from pathlib import Path

import pytest

import irshape
from irshape.cli.main import main
from tests.page.generated import transformer
from tests.support.ir import Net
from tests.support.irs import PATHS
from tests.support.places import ATROUS, EXAMPLES
from tests.support.schemas import validator


def static(blocks: int) -> bytes:
    """A transformer for sizes that are numbers."""
    return transformer(blocks).xml.replace("?,?,16", "2,3,16").replace("?,1,16", "2,1,16").encode()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_outermost_rows_add_up_to_the_totals(path: Path) -> None:
    summary = irshape.summary(path)
    if not summary.modules:
        return
    outer = [one for one in summary.modules if one.depth == 0]
    cost = summary.cost
    assert sum(one.parameters for one in outer) == cost.parameters
    if not any(node.bodies for node in cost._inference.model.nodes):  # of the branches of an If, the dearer one counts
        assert sum(cost.at(one.macs) for one in outer) == cost.at(cost.macs)


def test_the_rows_below_a_module_add_up_to_it() -> None:
    summary = irshape.summary(ATROUS, symbols={"B": 1, "H": 224, "W": 224})
    module = next(one for one in summary.modules if one.name == "atrous")
    at = summary.modules.index(module)
    inner = summary.modules[at + 1 : at + 1 + module.layers]
    assert {one.depth for one in inner} == {1}
    assert module.macs == sum(one.macs for one in inner) > 0
    assert module.memory == sum(one.memory for one in inner)
    assert module.parameters == sum(one.parameters for one in inner)
    assert (module.type, module.output) == ("", "f32[1,4,112,112]")
    assert inner[1].type == "Convolution"


def test_the_only_layer_of_a_module_has_the_name_of_the_module() -> None:
    xml = Net("_x: f32[1,3]\nfirst: Relu(Relu(_x))\nsecond: Clamp(first, min=0.0, max=6.0)\nsecond, _x -> tail: Add -> Result").xml
    for name, path in (("relu_1", "0/aten::relu/Relu"), ("first", "0/aten::relu/Relu_1"), ("second", "1/aten::hardtanh/Clamp")):
        xml = xml.replace(f'name="{name}"', f'name="__module.m.a.{path}"')
    modules = [(one.depth, one.name, one.type) for one in irshape.summary(xml.encode()).modules]
    assert modules[1:6] == [(0, "m/a", ""), (1, "0", ""), (2, "Relu", "Relu"), (2, "Relu_1", "Relu"), (1, "1", "Clamp")]


def test_sizes_are_formulas() -> None:
    summary = irshape.summary(ATROUS)
    stem = next(one for one in summary.modules if one.name == "stem")
    assert stem.output == "f32[B,4,(H + 1)//2,(W + 1)//2]"
    assert summary.cost.at(stem.macs, {"B": 2, "H": 7, "W": 7}) == 2 * 4 * 4 * 4 * 27


def test_equal_blocks_are_one_row_with_the_sum_of_all() -> None:
    one, many = irshape.summary(static(12)), irshape.summary(static(24))
    rows = [next(row for row in summary.modules if row.name == "net/layers") for summary in (one, many)]
    assert [row.times for row in rows] == [12, 24]
    assert many.cost.at(rows[1].memory) == 2 * one.cost.at(rows[0].memory) > 0
    assert len(one.modules) == len(many.modules) < 40


def test_depth_is_the_number_of_levels() -> None:
    assert {row.depth for row in irshape.summary(static(12), depth=1).modules} == {0}
    assert {row.depth for row in irshape.summary(static(12), depth=2).modules} == {0, 1}


@pytest.mark.parametrize("path", [ATROUS, EXAMPLES / "faulty.xml", EXAMPLES / "space_to_depth.xml"])
def test_the_report_is_valid(path: str) -> None:
    validator("summary").validate(json.loads(json.dumps(irshape.summary(path).to_dict())))


def test_a_notebook_shows_the_tree() -> None:
    html = irshape.summary(ATROUS)._repr_html_()
    assert html.count("<tr>") > 10
    assert "peak memory" in html
    assert "&nbsp;" * 2 + "conv" in html


def test_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(ATROUS), "--near", "H=512,W=512", "--depth", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("image[B,3,H,W]  ->  mask[")
    assert lines[4].split() == ["MODULE", "TYPE", "PARAMETERS", "MACS", "MEMORY", "OUTPUT"]
    assert not any(line.startswith("  ") for line in lines[5:15])
    assert "at B=1, H=512, W=512" in lines[-2]


def test_blocks_with_variables_of_their_own_are_equal() -> None:
    net = Net("h/start: f32[1,4]")
    before = "h/start"
    for number in range(4):
        block = f"h/{number}"
        net.add(f'{block}/past: ReadValue-6(f32=0[1,4], variable_id=v{number}, variable_type=f32, variable_shape="1,4")')
        net.add(f"{block}/sum: Add({before}, {block}/past) -> {block}/out: Sigmoid -> {block}/next: Assign-6(_, variable_id=v{number})")
        before = f"{block}/out"
    net.add(f"{before} -> Result")
    assert [row.times for row in irshape.summary(net.xml.encode(), weights=net.bin).modules if row.name == "h"] == [4]


def test_the_output_of_a_module_is_no_size_that_it_gives_beside() -> None:
    net = Net("x: f32[1,?,4] -> m/one: Relu -> m/two: Sigmoid -> f: Tanh -> Result")
    net.add("m/two -> m/shape: ShapeOf -> Result")
    assert [row.output for row in irshape.summary(net.xml.encode()).modules if row.name == "m"] == ["f32[1,T,4]"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_info_and_cost_count_the_same_parameters(path: Path) -> None:
    assert irshape.info(path).parameters == irshape.cost(path).parameters_by_type
