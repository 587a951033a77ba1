"""The models of the benchmarks are sound, and what is said of them is counted rightly. Nothing here is timed."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import irshape
from benchmarks import causes, measure, models, verbs
from benchmarks.__main__ import BEGIN, END, write
from benchmarks.causes import names
from benchmarks.inside import differences, weights_read
from benchmarks.many import simulate
from benchmarks.measure import CPU, READ, Bytes, File, Group, Row, Start
from benchmarks.table import brief, comparison, full, ratio, real, starts_table, stratified
from tests.support.oracle import core, partial_shape
from tests.support.places import EXAMPLES, IRS, ROOT

# What builds the models is OpenVINO; it is imported by the tests that run, not by those that only look for tests.
pytestmark = pytest.mark.oracle

SMALL = {"one_operation": (), "resnet": (5,), "decoder": (1,), "distinct": (60,), "chain": (60,), "dag": (60,)}


@pytest.mark.parametrize("name", SMALL)
def test_openvino_agrees_on_every_shape(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "model.xml")
    models.saved(partial(getattr(models, name), *SMALL[name]))(path)
    model = core().read_model(path)
    inference = irshape.check(path)
    assert inference.diagnostics == []
    assert differences(inference, model) == []
    if name not in models.STEPS:
        return
    inputs, late = models.STEPS[name]
    session = irshape.Session(path)
    for shapes in (late(0), late(1), partial(inputs, blocks=1)(0) if name == "decoder" else inputs(0)):
        inference = session.reshape(shapes)
        assert inference.diagnostics == []
        model.reshape({input: partial_shape(shape) for input, shape in shapes.items()})
        assert differences(inference, model) == []


def test_a_difference_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "model.xml")
    models.saved(models.one_operation)(path)
    model = core().read_model(path)
    model.reshape([4, 6, 10, 3, 3])
    assert [line.partition(":")[0] for line in differences(irshape.check(path), model)][:1] == ["data"]


def test_no_data_of_the_distinct_model_has_the_shape_of_another() -> None:
    sums = [tuple(node.get_output_shape(0)) for node in models.distinct(200).get_ops() if node.get_type_name() == "Relu"]
    assert len(sums) > 20
    assert len(set(sums)) == len(sums)


def test_two_gibibytes_of_weights_are_not_read(tmp_path: Path) -> None:
    path = str(tmp_path / "model.xml")
    models.write_sparse(path)
    weights = os.stat(tmp_path / "model.bin")
    assert weights.st_size == 2**31 + 16
    assert weights.st_blocks * 512 < 2**20
    assert models.value_ranges(path) == {(2**31, 16)}
    assert weights_read(path) == [(2**31, 16)]


def test_the_onnx_models_have_the_shapes_of_the_irs(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    from benchmarks.exchange import write_onnx

    for build in (partial(models.resnet, 5), partial(models.decoder, 1), partial(models.dag, 60)):
        paths = [str(tmp_path / name) for name in ("model.xml", "model.onnx")]
        models.saved(build)(paths[0])
        assert write_onnx(*paths) > 20
        ours, theirs = (sorted(str(output.get_partial_shape()) for output in core().read_model(path).outputs) for path in paths)
        assert ours == theirs


def test_the_launcher_reports_each_run_in_turn() -> None:
    launcher = [sys.executable, "-I", "-S", str(ROOT / "benchmarks" / "launch.py")]
    commands = [sys.executable, "-c", "b'x' * 100_000_000", "--", sys.executable, "-c", "raise SystemExit(3)"]
    run = subprocess.run([*launcher, "2", *commands], capture_output=True, encoding="utf-8", check=True)
    lines = [line.split() for line in run.stdout.splitlines()]
    assert [(number, code) for number, _, _, code in lines] == [("0", "0"), ("1", "3")] * 2
    large, small = (int(lines[number][2]) for number in (0, 1))
    assert 100_000_000 < large < 150_000_000
    assert small < 50_000_000


def test_the_table_says_what_is_met() -> None:
    rows = [
        Row(READ, name, 1000, "ms", ours, [10.0, 20.0, 30.0], 0.9, 0.5)
        for name, ours in (("chain-1k", [8.0, 10.0, 40.0]), ("chain-3k", [15.0, 16.0, 17.0]), ("chain-10k", [20.0, 25.0, 30.0]))
    ]
    assert [ratio(row) for row in rows] == [0.5, 0.8, 1.25]
    needed = {(0, 8), (8, 8)}
    read = [
        Bytes("each", 99, needed, [(0, 8), (8, 8)]),
        Bytes("again", 99, needed, [(0, 8)] * 2 + [(8, 8)]),
        Bytes("other", 99, needed, [(0, 99)]),
    ]
    assert "Of 3 ratios with a target 1 meet what is aimed at, 1 what must be met, 1 neither." in full(rows, read, [])
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in full(rows, read, []).splitlines()]
    assert ["chain-1k", "1,000", "10 ms (9 to 25)", "20 ms (15 to 25)", "0.5", "0.9", "0.5", "aim"] in lines
    marks = {line[0]: line[-1] for line in lines}
    assert [marks[name] for name in ("chain-1k", "chain-3k", "chain-10k")] == ["aim", "must", "**no**"]
    assert marks["chain"] == "**no**"  # 25 µs is 2.5 times 10
    assert [marks[name] for name in ("each", "again", "other")] == ["aim", "must", "**no**"]


def cells(text: str) -> dict[str, list[str]]:
    """The rows of the tables in a text, by their first cell."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {line[0]: line[1:] for line in lines}


def test_the_table_of_real_models_sums_the_files_of_a_group() -> None:
    files = [
        File("a/small.xml", 10, "", 2.0, 1.0, 3.0, 10.0, 5.0),
        File("a/large.xml", 90, "", 3.0, 9.0, 4.0, 15.0, 20.0),
        File("a/faulty.xml", 5, "OpenVINO refuses it"),
    ]
    heavy = Group("heavy, 55 MB of weights", False, False, [File("heavy.xml", 7, "", 1.0, 10.0, 1.0, 1.0, 1.0)])
    groups = [Group("corpus, a", False, True, files), heavy]
    text = real(groups)
    expected = ["2", "100", "5 ms", "10 ms", "0.5", "1.17", "2", "0.7", "1"]
    assert [cells(text)[name] for name in ("corpus, a", "all real models")] == [expected, expected]
    assert (
        "it is 0.5 (met). Every model must be at most 1.8: 1 of 2 are not. The worst are small (10 layers) 2, large (90 layers) 0.333."
        in text
    )
    assert "1 models were left out (1: OpenVINO refuses it)." in text
    groups.append(Group("corpus, a", True, True, [file._replace(ours=file.theirs / 2) for file in files]))
    line = "Reading, checking and inferring 2 real models takes 0.5 of OpenVINO's CPU time with compiled modules, and 0.5 interpreted"
    assert brief(groups) == f"{line} ([Performance](docs/performance.md))."


def test_the_stratified_sample_has_three_models_of_each_kind() -> None:
    deep = [File(f"deep{number}.xml", 2_000, distinct=0.1) for number in range(9)]
    varied, small = File("varied.xml", 2_000, distinct=0.9), File("small.xml", 50, distinct=0.1, dynamic=0.7)
    sample = stratified([*deep, varied, small])
    assert len(sample) == 5 and {varied, small} < {*sample}
    assert sample == stratified([small, *reversed(deep), varied]), "the order of the files says nothing"


def test_processes_are_compared_with_a_bare_python() -> None:
    rows = cells(starts_table([Start("bare", [9.0, 10.0, 11.0]), Start("check", [30.0])]))
    assert [rows[name] for name in ("process", "bare", "check")] == [
        ["CPU time", "against Python"],
        ["10 ms (9.5 to 10.5)", "1"],
        ["30 ms", "3"],
    ]
    row = Row(CPU, "one", 6, "ms", [30.0], [300.0], 0.2, 0.08, [240.0])
    assert cells(comparison([row], CPU))["one"] == ["6", "30 ms", "300 ms", "80%", "0.1", "0.2", "0.08", "must"]


def test_a_real_model_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.xml"
    faulty.write_text((EXAMPLES / "faulty.xml").read_text(encoding="utf-8"), encoding="utf-8")
    sound, refused = measure.real([IRS / "synth" / "s2b_6d.xml", faulty], 1, ROOT)
    assert (sound.layers, sound.refused) == (6, "")
    assert min(sound.ours, sound.theirs, sound.collected, sound.first_ours, sound.first_theirs) > 0
    assert refused.refused


def test_what_is_measured_is_written_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write(page, "new")
    write(page, "newer")
    assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n\nnewer\n{END}\nafter\n"
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(SystemExit, match="marks"):
        write(page, "new")


@pytest.mark.parametrize("name", ["README.md", "docs/performance.md"])
def test_the_pages_have_room_for_what_is_measured(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert 0 < text.find(BEGIN) < text.find(END)


@pytest.mark.slow("need Dask, S3 or Parquet")
def test_a_simulated_scan_gives_each_row_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'irshape[dask]'")

    simulate(200, 3, tmp_path)
    assert "merge: 3 tables, 600 rows" in (text := capsys.readouterr().out)
    assert "100 distinct files" in text


def test_the_table_of_verbs_says_what_half_and_most_models_take() -> None:
    found = {name: {"check": 1.0, **dict.fromkeys(verbs.VERBS, float(ratio))} for name, ratio in (("a", 1), ("b", 2), ("c", 6))}
    del found["c"]["explain"]
    head, _, *rows = verbs.table(found)
    assert head == "| verb | half of the models | nine of ten | worst |"
    assert rows[0] == "| `infer` | 2.00 | 5.20 | 6.00 (c) |"
    assert rows[verbs.VERBS.index("explain")] == "| `explain` | 1.50 | 1.90 | 2.00 (b) |"


def test_single_edits_are_counted_rightly(tmp_path: Path) -> None:
    """Each edit has an effect, and the rows are those of the edits: nothing of what is said is counted twice or left out."""
    paths = [path for path in sorted(IRS.rglob("*.xml")) if path.stat().st_size < 20_000][:12]
    benchmark = causes.Benchmark(paths, 1, tmp_path)
    found = [*benchmark.run(24, ["attribute", "edge lost", "recorded dim", "weights cut"])]
    benchmark.openvino.close()
    assert len(found) >= 24
    rows = [row.split(" | ") for row in causes.table(found)[2:]]
    assert sum(int(row[1]) for row in rows[:-1]) == int(rows[-1][1]) == len(found)
    assert rows[-1][0] == "| all"
    for one in found:
        assert one.kind == "recorded dim" or one.is_refused or one.lines  # an edit without effect is left out
        assert one.any or not one.first
        assert one.lines == len(one.report)
    assert any(one.is_restored for one in found)


def test_a_line_names_a_layer_by_its_whole_name() -> None:
    assert names("Const 'axes' (line 3) holds [1]", [("2", "axes")])
    assert not names("Const 'axes_1' (line 3) holds [1]", [("2", "axes")])
    assert not names("Const 'block/axes' holds [1]", [("2", "axes")])
