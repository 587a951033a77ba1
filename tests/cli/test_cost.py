"""`irshape cost` as a user meets it."""

import csv
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import irshape
from tests.answers import nets
from tests.support.commands import Start
from tests.support.ir import Net
from tests.support.places import ATROUS, DECODER, EXAMPLES, ROOT, STATEFUL
from tests.support.schemas import validator


def test_amounts_are_numbers_and_formulas(run: Start) -> None:
    lines = run("cost", DECODER, code=0).lines
    assert lines[5] == "numbers are those at B=1, P=128, S=128; --near changes the sizes"
    assert lines[7].split() == ["MACs", "565.2", "k", "16*B*P*S", "+", "16*B*S*S", "+", "320*B*S"]
    assert any(line.split()[:4] == ["peak", "memory", "34.82", "kB"] and "168*B*S + 104*B*P" in line for line in lines)


def test_numbers_are_those_of_the_sizes(run: Start) -> None:
    lines = run("cost", DECODER, "--near", "S=1,P=5").lines
    assert lines[5] == "numbers are those at B=1, P=5, S=1; --near changes the sizes"
    assert lines[7].split()[:2] == ["MACs", "416"]


def test_a_model_of_fixed_sizes_has_numbers_only(run: Start) -> None:
    shapes = ("input_ids[1,8]", "attention_mask[1,8]", "past.*[1,2,0,4]")
    lines = run("cost", DECODER, *(word for shape in shapes for word in ("--input", shape))).lines
    assert lines[2].split() == ["MACs", "3584"]


def test_a_size_that_data_decide_is_told_once(run: Start) -> None:
    assert sum("known only at run time" in line for line in run("cost", EXAMPLES / "detector.xml").lines) == 1


def test_state_stands_on_a_line_of_its_own(run: Start) -> None:
    lines = run("cost", STATEFUL).lines
    (state,) = [line for line in lines if line.startswith("state   ")]
    assert state.split(maxsplit=3)[1:] == ["16.38", "kB", "2 variables, each 32*B*P + 32*B*S"]


def test_a_long_formula_is_shown_by_its_leading_terms(run: Start, tmp_path: Path) -> None:
    net = Net(f"f32[?,1,?,?]{f' -> {nets.conv(3, 2, pad=1)}' * 5} -> Result")
    path = net.save(tmp_path / "net.xml")
    short = run("cost", path).lines
    long = run("cost", path, "--all").lines
    (about,), (whole,) = ([line for line in lines if line.startswith("MACs")] for lines in (short, long))
    assert about.split("about ")[1] == "2.997*B*H*W"
    assert whole.endswith(str(irshape.cost(path).macs))


def test_what_is_not_counted_is_listed(run: Start, tmp_path: Path) -> None:
    net = Net("f32[2,9] -> top: TopK-11(3, axis=1, mode=max, sort=value, index_element_type=i32) f32 i32 -> Result")
    lines = run("cost", net.save(tmp_path / "net.xml")).lines
    assert lines[-1] == "not counted: 1 layer, because the operation has no counting rule: TopK top"


def test_json_has_the_published_form(run: Start) -> None:
    lines = run("cost", DECODER, "--format", "json").lines
    found = json.loads("\n".join(lines))
    validator("cost").validate(found)
    assert found["macs"] == {"formula": "16*B*P*S + 16*B*S*S + 320*B*S", "value": 565248}
    assert [one["low"] for one in found["peak_memory"]["stretches"]["S"]] == [1]


def test_several_sizes_are_a_table(run: Start) -> None:
    lines = run("cost", ATROUS, "--set", "H=64,128,2", "B=1,2", "W=64").lines
    start = next(index for index, line in enumerate(lines) if line.split()[:3] == ["H", "B", "MACs"])
    rows = [line.split() for line in lines[start + 1 : start + 7]]
    assert [row[:2] for row in rows] == [["64", "1"], ["64", "2"], ["128", "1"], ["128", "2"], ["2", "1"], ["2", "2"]]
    assert [row[-2:] == ["not", "valid"] for row in rows] == [False] * 4 + [True] * 2  # the dilated kernel needs 3 rows
    lines = run("cost", ATROUS, "--set", "H=64,128", "W=64", "--format", "json").lines
    found = json.loads("\n".join(lines))
    validator("cost").validate(found)
    for row in found["sweep"]:
        whole = irshape.cost(ATROUS, symbols={**row["sizes"], "W": 64, "B": 1})
        assert (row["macs"], row["flops"], row["traffic"]) == (whole.macs, whole.flops, whole.traffic)
        assert row["peak_memory"] == whole.peak_memory


def test_a_table_of_the_layers(run: Start, tmp_path: Path) -> None:
    path = tmp_path / "layers.csv"
    code, lines, _ = run("cost", DECODER, "--csv", path)
    assert (code, lines[-1]) == (0, f"written: {path}")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["macs"]) for row in rows) == 565248
    assert next(row["formula"] for row in rows if row["name"] == "logits") == "128*B*S"


@pytest.mark.parametrize("name", ["cost.png", "cost.svg"])
def test_a_picture(run: Start, tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e '.[plot]'")
    path = tmp_path / name
    code, lines, _ = run("cost", DECODER, "--plot", path, "--against", "S")
    assert (code, lines[-1]) == (0, f"written: {path}")
    head = path.read_bytes()
    assert head.startswith(b"\x89PNG") if name.endswith("png") else b"cost against S (B=1, P=128)" in head or b"<svg" in head


def test_a_picture_without_matplotlib_names_the_extra(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from irshape.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "cost", str(DECODER), "--plot", str(tmp_path / "cost.svg")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 2
    assert "needs matplotlib, which is not installed; run: pip install 'irshape[plot]'" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--plot", "cost.pdf"], "irshape: cost.pdf: the name of a picture must end with .png or .svg"),
        (["--plot", "cost.png", "--against", "X"], "irshape: cost.png: there is no symbol 'X'; the symbols are B, P, S"),
    ],
)
def test_a_picture_that_cannot_be_drawn(run: Start, arguments: list[str], complaint: str) -> None:
    code, _, err = run("cost", DECODER, *arguments)
    assert (code, err.splitlines()) == (2, [complaint])


def test_costs_of_two_models(run: Start, tmp_path: Path) -> None:
    """The weights of one model are bytes that are converted: a quarter of the size, and the same products."""
    paths = []
    for name, weights in (("f32", "f32=0[16,16]"), ("i8", "Convert(i8=0[16,16], destination_type=f32)")):
        net = Net(f"f32[?,16] -> MatMul({weights}) -> Result")
        paths.append(net.save(tmp_path / f"{name}.xml"))
    lines = run("diff", *paths, "--cost", code=1).lines
    start = lines.index("cost at B=1")
    assert [line.split() for line in lines[start + 1 : start + 5]] == [
        ["MACs", "256", "->", "256"],
        ["other", "operations", "0", "->", "0"],
        ["parameters", "256", "->", "256"],
        ["their", "bytes", "1024", "B", "->", "256", "B"],
    ]
    summary = irshape.diff(*paths, cost=True).cost
    assert summary is not None
    assert summary.summary.startswith("4.0 times smaller, MACs equal, other operations equal, ")
    assert irshape.diff(*paths).cost is None


def test_matplotlib_is_an_extra() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'plot = ["matplotlib' in text
    assert find_spec("irshape.answers.cost.cost") is not None


def test_a_name_that_a_converter_made_counts_where_its_reader_stands(run: Start, tmp_path: Path) -> None:
    """MatMul_281053 stands with the layer that reads it, as in `summary`; the Result of MatMul_7 is in no group."""
    net = Net("x: f32[4,4]\nx -> a: ReLU -> MatMul_281053: MatMul(f32=0[4,4]) -> b: ReLU -> Result\nMatMul_7: MatMul(x, x) -> Result")
    path = net.save(tmp_path / "m.xml")
    path.write_text(path.read_text().replace('name="a"', 'name="head/in/1"').replace('name="b"', 'name="head/out/1"'))
    lines = run("cost", path, code=0).lines
    start = next(number for number, line in enumerate(lines) if line.startswith("by name"))
    assert [line.split()[0] for line in lines[start + 1 : start + 5]] == ["head.out", "MatMul_7", "head.in.1", "head.out.1"]
