"""`irshape reshape` as a user meets it."""

import json
from pathlib import Path

import pytest

import irshape
from tests.support.commands import Start
from tests.support.ir import Net
from tests.support.places import ATROUS
from tests.support.schemas import validator


@pytest.fixture
def baked(tmp_path: Path) -> Path:
    """A model whose Reshape has its batch baked in."""
    net = Net("Reshape(f32[1,4,6], [1,24], special_zero=false) -> Result")
    path = tmp_path / "baked.xml"
    net.save(path)
    return path


def test_inputs_and_outputs_are_shown_as_they_were_and_are(run: Start) -> None:
    lines = run("reshape", ATROUS, "--input", "image[1,3,512,512]", code=0).lines
    assert lines[1:] == [
        "",
        "ID  LAYER  TYPE       WAS               IS",
        " 0  image  Parameter  f32[?,3,3..,3..]  f32[1,3,512,512]",
        "17  mask   Result     f32[?,2,4..,4..]  f32[1,2,512,512]",
        "",
        "1 file, 18 layers: no faults",
    ]


def test_the_model_is_written_with_its_weights(run: Start, tmp_path: Path) -> None:
    target = tmp_path / "out.xml"
    code, lines, _ = run("reshape", ATROUS, "--input", "image[1,3,512,512]", "-o", target, "--weights", "copy")
    assert (code, lines[-1]) == (0, f"written: {target}")
    assert irshape.check(target).diagnostics == []
    assert irshape.infer(target)["mask"].inputs[0].text == "[1,2,512,512]"
    err = run("reshape", ATROUS, "--input", "image[1,3,512,512]", "-o", target, code=2).err
    assert "--force overwrites it" in err


@pytest.mark.parametrize(
    ("shape", "last"), [("[1,3,10,64]", f"all: irshape sizes {ATROUS}"), ("[1,3,64,64]", "1 file, 18 layers: no faults")]
)
def test_a_model_that_refuses_a_size_says_where_its_sizes_are(shape: str, last: str, run: Start) -> None:
    assert run("reshape", ATROUS, "--input", shape)[1][-1] == last


def test_conditions_are_solved_as_those_of_sizes_are(run: Start) -> None:
    lines = [line.strip() for line in run("reshape", ATROUS, "--batch", "2", code=0).lines]
    sizes = run("sizes", ATROUS, code=0).out
    for condition in ("H >= 3 and H % 4 in {0, 3}", "W >= 3 and W % 4 in {0, 3}"):
        assert condition in sizes and any(line.startswith(condition + "  ") for line in lines)
    assert not any("//" in line for line in lines if line.startswith(("(", "H ", "W ")))


def test_what_holds_an_old_size_is_listed_and_nothing_is_written(run: Start, baked: Path) -> None:
    target = baked.with_name("out.xml")
    code, lines, err = run("reshape", baked, "--input", "[2,4,6]", "-o", target)
    assert code == 1
    assert lines[2].endswith(
        "S207 Reshape 'reshape_2' holds an old size: pattern is [1,24], but the new sizes need [-1,24] [Reshape reshape_2]"
    )
    assert lines[3] == "    hint: add --rewrite, which changes whatever holds the old size"
    assert "not written" in err
    assert not target.exists()


def test_changes_are_listed_and_written_with_the_model(run: Start, baked: Path) -> None:
    target, before = baked.with_name("out.xml"), baked.with_suffix(".bin").read_bytes()
    code, lines, err = run("reshape", baked, "--input", "[2,4,6]", "--rewrite", "-o", target)
    assert (code, err) == (0, "")
    assert lines[2:] == [
        "ID  LAYER        TYPE       WAS         IS",
        " 0  parameter_0  Parameter  f32[1,4,6]  f32[2,4,6]",
        " 3  result_3     Result     f32[1,24]   f32[2,24]",
        "",
        "rewritten: 1 change",
        "TYPE     LAYER      WHAT     WAS     IS       HOW",
        "Reshape  reshape_2  pattern  [1,24]  [-1,24]  forced",
        "forced: no other formula fits",
        "",
        "1 file, 4 layers: no faults",
        f"written: {target}",
    ]
    assert irshape.check(target).diagnostics == []
    assert baked.with_suffix(".bin").read_bytes() == before


@pytest.mark.parametrize(("options", "formulas"), [
    (["--input", "x[1,S]"], ["[1,S]", "[1,S + 3]"]),
    (["--set", "T=4..9"], ["[B,T]", "[B,T + 3]"]),
    (["--input", "x[1,8]"], []),
])  # fmt: skip
def test_formulas_stand_beside_the_sizes_of_open_symbols(options: list[str], formulas: list[str], run: Start, tmp_path: Path) -> None:
    """No layer of this model refuses a size, so it has no conditions."""
    path = Net("x: i64[?,?] -> Pad-12(_, [0,1], [0,2], 0, pad_mode=constant) -> Result").save(tmp_path / "net.xml")
    head, *rows = run("reshape", path, *options, code=0).lines[2:5]
    assert head.endswith("FORMULA") == bool(formulas)
    assert not formulas or [row.rpartition("  ")[2] for row in rows] == formulas


@pytest.mark.parametrize(("shape", "told"), [("1,4,6", ""), ("1,4,?", "; --recorded NAME[SHAPE] gives the sizes of the export, if")])
def test_a_rewriting_that_changes_nothing_says_so(run: Start, tmp_path: Path, shape: str, told: str) -> None:
    Net(f"f32[{shape}] -> Relu -> Result").save(tmp_path / "net.xml")
    code, lines, _ = run("reshape", tmp_path / "net.xml", "--input", "[1,4,S]", "--rewrite")
    [line] = [one for one in lines if one.startswith("rewritten")]
    assert (code, line.startswith(f"rewritten: nothing, because no layer refuses these sizes{told}")) == (0, True)
    assert ("--recorded" in line) == bool(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x: f32[?,?] -> Add(f32=0[1,12]) -> Reshape([4,12]) -> Result", "x[4,12]"),
        ("x: f32[?,?] -> ReduceSum([1], keep_dims=true) -> Reshape([4,1]) -> Result", "x[4,T]"),
    ],
)
def test_a_refusal_names_no_recorded_size_that_no_constant_tells(run: Start, tmp_path: Path, text: str, told: str) -> None:
    Net(text).save(tmp_path / "net.xml")
    printed = run("reshape", tmp_path / "net.xml", "--input", "x[N,T]", "--rewrite", code=1).out
    assert f"give its sizes, with numbers for letters: --recorded '{told}'" in printed


@pytest.mark.parametrize(
    ("more", "layers"),
    [
        (
            [],
            ["2 \N{MULTIPLICATION SIGN} Reshape  net.0.a/split", "2 \N{MULTIPLICATION SIGN} Reshape  net.0.a/join", "Reshape      tail_0"],
        ),
        (
            ["--all"],
            ["Reshape  net.0.a/split", "Reshape  net.0.a/join", "Reshape  net.1.a/split", "Reshape  net.1.a/join", "Reshape  tail_0"],
        ),
    ],
)
def test_changes_of_equal_blocks_are_one_row(more: list[str], layers: list[str], run: Start, tmp_path: Path) -> None:
    """Names that differ in more than the number of a block, and other changes, have rows of their own."""
    text = "x: f32[1,4,6]"
    for block in ("net.0.a", "net.1.a"):
        text += f" -> {block}/split: Reshape([1,24], special_zero=false) -> {block}/join: Reshape([1,4,6], special_zero=false)"
    Net(f"{text} -> tail_0: Reshape([1,24], special_zero=false) -> Result").save(tmp_path / "net.xml")
    _, lines, _ = run("reshape", tmp_path / "net.xml", "--batch", "N", "--rewrite", *more)
    rows = lines[lines.index("rewritten: 5 changes") + 2 :][: len(layers)]
    assert all(row.startswith(wanted) for row, wanted in zip(rows, layers, strict=True))
    assert any("--all lists each" in line for line in lines) == (not more)


def test_indices_that_no_condition_covers_are_named(run: Start, tmp_path: Path) -> None:
    """The indices are the roots of a count, of which irshape knows no largest one."""
    net = Net("""
        _x: f32[4]
        _count: Squeeze(ShapeOf-3(_x, output_type=i64), [0])
        Gather-8(f32=0[2,3], Convert(Sqrt(Range-4(0, _count, 1, output_type=f32)), destination_type=i64), 0) -> Result
        _x -> Result
    """)
    net.save(tmp_path / "roots.xml")
    lines = run("reshape", tmp_path / "roots.xml", "--input", "[S]", "--rewrite", code=0).lines
    at = lines.index("not checked: indices that the model computes from the sizes")
    assert lines[at + 1].strip().startswith("Gather gather_")
    assert "not checked" not in run("reshape", tmp_path / "roots.xml", "--input", "[2]", code=0).out


@pytest.mark.parametrize(("reads", "size", "is_told"), [
    ("Gather-8(f32=0[9,2], _top.1, 0)", "S", True),
    ("Gather-8(f32=0[9,2], _top.1, 0)", "9", False),
    ("Gather-8(f32=0[9,2], _top.1, 0)", "10", True),
    ("Gather-8(_x, _top.1, 0)", "S", False),
    ("GatherElements-6(f32=0[9], _top.1, axis=0)", "S", True),
    ("ScatterElementsUpdate-3(f32=0[9], _top.1, _top, 0)", "S", True),
    ("ScatterElementsUpdate-3(_x, _top.1, _top, 0)", "S", False),
])  # fmt: skip
def test_places_of_largest_elements_in_a_table_are_named(run: Start, tmp_path: Path, reads: str, size: str, is_told: bool) -> None:
    """The table has 9 rows, and the places are those of an axis of `size` elements."""
    Net(f"""
        _x: f32[4]
        _top: TopK-11(_x, 1, axis=0, mode=max, sort=value, index_element_type=i64) f32 i64
        {reads} -> Result
    """).save(tmp_path / "top.xml")
    assert ("not checked" in run("reshape", tmp_path / "top.xml", "--input", f"[{size}]", code=0).out) == is_told


def test_changes_are_in_the_json(run: Start, baked: Path) -> None:
    code, lines, _ = run("reshape", baked, "--input", "[2,4,6]", "--rewrite", "--format", "json")
    report = json.loads("\n".join(lines))
    assert code == 0
    (mend,) = report["mends"]
    assert [mend[key] for key in ("layer", "layer_name", "port", "was", "now", "kind")] == [
        "2", "reshape_2", "pattern", "[1,24]", "[-1,24]", "forced",
    ]  # fmt: skip
    assert report["choices"] == report["kept"] == report["unproven"] == []
    validator("report").validate(report)


def test_a_refusal_to_rewrite_is_in_the_json_and_writes_nothing(run: Start, tmp_path: Path) -> None:
    target = tmp_path / "out.xml"
    arguments = ("--input", "image[1,3,225,256]", "--rewrite", "--format", "json", "-o", target)
    code, lines, err = run("reshape", ATROUS, *arguments)
    report = json.loads("\n".join(lines))
    assert code == 1
    assert "not written" in err
    assert "mends" not in report
    assert [found["code"] for found in report["diagnostics"]][:1] == ["S204"]
    assert not target.exists()


def test_the_batch_is_found_and_how_is_said(run: Start) -> None:
    lines = run("reshape", ATROUS, "--batch", "4", "--color", "never", code=0).lines
    assert lines[3].split()[4] == "f32[4,3,3..,3..]"
    assert any("N101 note: the batch is axis 0 of 'image': the size in the file is dynamic (?)" in line for line in lines)
