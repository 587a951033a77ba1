"""`irshape scan` over files of this machine: rows, formats, resuming, the cache, summaries, archives."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.cli.main import main
from irshape.cli.scan import _identity
from irshape.scanning.place import Place
from irshape.scanning.results import ResultsError, UnfinishedRows, read
from irshape.scanning.row import Scan
from irshape.scanning.table import TableChanges
from tests.support.ir import Net
from tests.support.places import ATROUS, DATA, EXAMPLES
from tests.support.schemas import validator
from tools.schemas.scan import row_schema

Row = dict[str, Any]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a valid, a faulty, a dynamic, a foreign and a truncated file, the last one in a folder below."""
    folder = tmp_path / "models"
    (folder / "sub").mkdir(parents=True)
    for name in ("atrous.xml", "faulty.xml"):
        shutil.copy(EXAMPLES / name, folder)
        if (weights := (EXAMPLES / name).with_suffix(".bin")).exists():
            shutil.copy(weights, folder)
    (folder / "feed.xml").write_text("<rss><channel/></rss>")
    (folder / "sub" / "cut.xml").write_bytes((folder / "atrous.xml").read_bytes()[:400])
    return folder


def scanned(folder: Path | str, output: Path, *options: str) -> tuple[int, dict[str, Row]]:
    """The exit code, and the rows by the path from the folder, without the parts that differ from run to run."""
    code = main(["scan", str(folder), "-o", str(output), "-q", "--force", *options])
    return code, rows_of(output, str(folder))


def rows_of(output: Path, folder: str) -> dict[str, Row]:
    rows = {}
    for row in read(str(output)):
        name = row["file"].partition("::")[0].partition("://")[2] if "::" in row["file"] else os.path.relpath(row["file"], folder)
        assert name not in rows, f"two rows of {name}"
        rows[name] = {key: value for key, value in row.items() if key not in ("file", "seconds", "version", "bytes_read")}
    return rows


def test_each_file_has_a_row(models: Path, tmp_path: Path) -> None:
    code, rows = scanned(models, tmp_path / "out.jsonl")
    assert code == 1
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "atrous.xml": "valid", "faulty.xml": "invalid", "feed.xml": "foreign", "sub/cut.xml": "invalid",
    }  # fmt: skip
    atrous = rows["atrous.xml"]
    assert atrous["size"] == (models / "atrous.xml").stat().st_size
    assert atrous["errors"] == 0
    assert atrous["dynamic_inputs"] == ["image[?,3,3..,3..]"]
    assert atrous["signature"].startswith("image[B,3,H,W] -> ")
    faulty = rows["faulty.xml"]
    assert faulty["errors"] == sum(fault["severity"] == "error" for fault in faulty["diagnostics"]) > 1
    assert all(fault["line"] and fault["message"] for fault in faulty["diagnostics"])


def test_rows_have_the_documented_form(models: Path, tmp_path: Path) -> None:
    main(["scan", str(models), "-o", str(tmp_path / "out.jsonl"), "-q"])
    assert validator("scan").schema == row_schema()
    for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines():
        validator("scan").validate(json.loads(line))


@pytest.mark.slow("need Dask, S3 or Parquet")
def test_parquet_holds_what_json_lines_hold(models: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'irshape[scan]'")
    _, lines = scanned(models, tmp_path / "out.jsonl")
    _, table = scanned(models, tmp_path / "out.parquet")
    assert lines == table


@pytest.mark.slow("need Dask, S3 or Parquet")
def test_numbers_that_no_column_can_hold_are_bounded(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'irshape[scan]'")
    net = Net("MatMul(f32[4000000000,4000000000], f32[4000000000,4000000000]) -> Result")
    (tmp_path / "large.xml").write_text(net.xml)
    _, rows = scanned(tmp_path / "large.xml", tmp_path / "out.parquet", "--cost")
    (row,) = rows.values()
    assert row["macs"] == 2**63 - 1


@pytest.mark.slow("need Dask, S3 or Parquet")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names of files that are no text")
def test_parquet_holds_a_name_that_is_no_text(models: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'irshape[scan]'")
    os.link(models / "atrous.xml", os.fsencode(models / "sub") + b"/\xff.xml")
    _, rows = scanned(models, tmp_path / "out.parquet")
    assert set(rows) == {"atrous.xml", "faulty.xml", "feed.xml", "sub/cut.xml", "sub/\\udcff.xml"}


def test_csv_is_for_a_spreadsheet(models: Path, tmp_path: Path) -> None:
    """A row for each file, faults as codes, and no cell that a spreadsheet takes for a formula."""
    import csv

    (models / "=1+1.xml").write_bytes((models / "faulty.xml").read_bytes())
    before = Path.cwd()
    os.chdir(models)
    try:
        main(["scan", "=1+1.xml", "atrous.xml", "-o", str(tmp_path / "out.csv"), "-q"])
    finally:
        os.chdir(before)
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["file"] for row in rows] == ["'=1+1.xml", "atrous.xml"]
    assert rows[0]["diagnostics"] == "A103 G102 G110 G116 R302 S201 S204 T102"
    assert (rows[1]["verdict"], rows[1]["errors"], "BatchToSpace=1" in rows[1]["operations"].split()) == ("valid", "0", True)


def test_sarif_names_every_faulty_file(models: Path, tmp_path: Path) -> None:
    main(["scan", str(models), "-o", str(tmp_path / "out.sarif"), "-q"])
    results = json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    places = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].rpartition("/")[2] for one in results}
    assert {"faulty.xml", "cut.xml"} <= places


def test_costs_are_those_of_irshape_cost(models: Path, tmp_path: Path) -> None:
    _, rows = scanned(models, tmp_path / "out.jsonl", "--cost")
    cost = irshape.cost(models / "atrous.xml")
    atrous = rows["atrous.xml"]
    assert (atrous["macs"], atrous["flops"], atrous["peak_memory"]) == (cost.at(cost.macs), cost.at(cost.flops), cost.at(cost.peak_memory))
    assert atrous["macs_formula"] == str(cost.macs)
    assert atrous["cost_at"] == ",".join(f"{name}={size}" for name, size in cost.near.items())
    assert rows["faulty.xml"]["macs"] is None
    _, without = scanned(models, tmp_path / "without.jsonl")
    assert without["atrous.xml"]["macs"] is None


def test_codes_are_selected(models: Path, tmp_path: Path) -> None:
    _, rows = scanned(models, tmp_path / "out.jsonl", "--ignore", "ALL")
    # The errors of a file that cannot be read to its end stay.
    assert {name: [fault["code"] for fault in row["diagnostics"]] for name, row in rows.items() if row["diagnostics"]} == {
        "feed.xml": ["X104"], "sub/cut.xml": ["X101"],
    }  # fmt: skip
    assert rows["faulty.xml"]["verdict"] == "valid"


def test_an_archive_has_the_rows_of_its_folder(models: Path, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'irshape[scan]'")
    _, expected = scanned(models, tmp_path / "out.jsonl")
    with zipfile.ZipFile(tmp_path / "m.zip", "w", zipfile.ZIP_DEFLATED) as zip, tarfile.open(tmp_path / "m.tar.gz", "w:gz") as tar:
        for path in sorted(models.rglob("*.*")):
            zip.write(path, path.relative_to(models))
            tar.add(path, str(path.relative_to(models)))
    for archive in ("m.zip", "m.tar.gz"):
        _, rows = scanned(tmp_path / archive, tmp_path / "archive.jsonl")
        assert rows == expected


@pytest.mark.slow("take long")
def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    sources = [path for path in sorted(DATA.rglob("*.xml")) if path.stat().st_size < 20_000][:40]
    count = 600
    for number in range(count):
        source = sources[number % len(sources)]
        os.link(source, folder / f"m{number:03}.xml")
        if (weights := source.with_suffix(".bin")).exists():
            os.link(weights, folder / f"m{number:03}.bin")
    _, expected = scanned(folder, tmp_path / "whole.jsonl")
    assert len(expected) == count
    output = tmp_path / "killed.jsonl"
    partial = Path(f"{output}.partial")
    command = [sys.executable, "-m", "irshape", "scan", str(folder), "-o", str(output), "-q", "--jobs", "2"]
    grown = []
    for _ in range(2):  # killed as soon as a batch is on the disk
        before = partial.stat().st_size if partial.exists() else 0
        process = subprocess.Popen(command, start_new_session=True)
        while process.poll() is None and (not partial.exists() or partial.stat().st_size <= before + 200):
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        grown.append(len(partial.read_bytes().splitlines()) - 1)
    assert 0 < grown[0] < grown[1] < count
    subprocess.run(command, check=False)
    assert rows_of(output, str(folder)) == expected
    assert sorted(tmp_path.glob("killed*")) == [output]


def test_a_row_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    output = str(tmp_path / "out.jsonl")
    whole = Scan()(Place("none.xml", "none.xml"))
    journal = UnfinishedRows(output, "s")
    for name in "abc":
        journal.add({**whole, "file": name})
    journal.flush()
    journal.close()
    with open(journal.path, "r+b") as file:
        file.truncate(os.path.getsize(journal.path) - 3)
    journal = UnfinishedRows(output, "s")
    assert ("a" in journal, "b" in journal, "c" in journal, journal.done) == (True, True, False, 2)
    journal.add({**whole, "file": "c"})
    journal.add({**whole, "file": "c"})
    assert [row["file"] for row in journal.rows()] == ["a", "b", "c"]
    with pytest.raises(ResultsError, match="another run"):
        UnfinishedRows(output, "s")
    journal.close()
    with pytest.raises(ResultsError, match="other files, options"):
        UnfinishedRows(output, "t")
    journal = UnfinishedRows(output, "t", restarts=True)
    assert journal.done == 0
    journal.close()


def test_unchanged_files_come_from_the_cache(models: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    main(["scan", str(models), "-o", str(first), "-q"])
    text = first.read_text(encoding="utf-8").replace('"name": "', '"name": "from the cache: ')
    first.write_text(text, encoding="utf-8")
    source = (models / "faulty.xml").read_text(encoding="utf-8")
    (models / "faulty.xml").write_text(source + "\n", encoding="utf-8")
    shutil.copy(models / "atrous.xml", models / "more.xml")
    shutil.copy(models / "atrous.bin", models / "more.bin")
    code = main(["scan", str(models), "-o", str(second), "-q", "--cache", str(first)])
    rows = rows_of(second, str(models))
    assert code == 1
    assert set(rows) == {"atrous.xml", "faulty.xml", "feed.xml", "more.xml", "sub/cut.xml"}
    assert not any("from the cache" in str(fault["name"]) for fault in rows["faulty.xml"]["diagnostics"])
    before = {row["file"]: row for row in read(str(first))}
    after = {row["file"]: row for row in read(str(second))}
    assert after[str(models / "atrous.xml")] == before[str(models / "atrous.xml")]  # the time of the check, too
    # Another selection is another question, so no row is taken.
    main(["scan", str(models), "-o", str(tmp_path / "third.jsonl"), "-q", "--cache", str(first), "--ignore", "S206"])
    assert {row["settings"] for row in read(str(tmp_path / "third.jsonl"))} != {row["settings"] for row in before.values()}


def test_a_summary_and_what_has_changed(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    main(["scan", str(models), "-o", str(first), "-q"])
    source = (models / "atrous.xml").read_text(encoding="utf-8")
    (models / "atrous.xml").write_text(source.replace('type="SpaceToBatch"', 'type="SpaceToBitch"', 1), encoding="utf-8")
    (models / "sub" / "cut.xml").unlink()
    shutil.copy(ATROUS, models / "new.xml")
    shutil.copy(EXAMPLES / "atrous.bin", models / "new.bin")
    main(["scan", str(models), "-o", str(second), "-q"])
    capsys.readouterr()
    assert main(["scan", "--summary", str(second), "--against", str(first)]) == 1
    text = capsys.readouterr().out
    assert "4 files: 1 valid, 2 invalid, 1 foreign" in text
    assert "since then: 1 added, 1 gone, 1 changed, 1 broken" in text
    assert f"{models / 'atrous.xml'}: G110" in text
    assert main(["scan", "--summary", str(second), "--against", str(first), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdicts"] == {"valid": 1, "invalid": 2, "foreign": 1, "failed": 0}
    assert found["since"]["broken"] == [str(models / "atrous.xml")]
    assert not TableChanges(read(str(second)), read(str(second))).new


def test_a_file_that_kills_its_worker_has_a_row(models: Path, tmp_path: Path) -> None:
    # The limit is checked by the system, so it holds whatever the file does.
    code, rows = scanned(models, tmp_path / "out.jsonl", "--limit", "time=0.001")
    assert code == 2
    assert rows["faulty.xml"]["verdict"] == "failed"
    assert [fault["code"] for fault in rows["faulty.xml"]["diagnostics"]] == ["I102"]


def test_wrong_arguments_are_named(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        ([str(models)], "give a PATH to scan and --output TABLE"),
        ([str(models), "-o", str(tmp_path / "out.txt")], "ends with .jsonl, .parquet, .csv or .sarif"),
        ([str(tmp_path / "none"), "-o", str(tmp_path / "out.jsonl")], "none"),
        (["--summary", str(models / "feed.xml")], "this is not a table of irshape scan"),
        (["--summary", str(models / "feed.xml")], "irshape reads those in .jsonl and .parquet again, and not those in .csv and .sarif"),
        (["--summary", str(tmp_path / "none.jsonl")], "No such file"),
        ([str(models), "-o", str(tmp_path / "out.jsonl"), "--target", "nonsense"], "nonsense"),
    ):
        assert main(["scan", *arguments]) == 2
        assert message in capsys.readouterr().err, arguments


def test_a_table_is_compared_with_what_it_was(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table of --against may be the one that --output replaces."""
    output = str(tmp_path / "out.jsonl")
    main(["scan", str(models), "-o", output, "-q"])
    (models / "sub" / "cut.xml").unlink()
    capsys.readouterr()
    main(["scan", str(models), "-o", output, "--force", "--against", output])
    assert "since then: 1 gone" in capsys.readouterr().out


def test_wrong_tables_are_said_before_the_scan(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out.jsonl"
    output.touch()
    for arguments in (["--against", "missing.jsonl"], ["--cache", "missing.jsonl"], ["--against", str(models / "feed.xml")], []):
        assert main(["scan", str(models), "-o", str(output), *arguments, *(["--force"] if arguments else [])]) == 2
        assert capsys.readouterr().err.count("\n") == 1
        assert sorted(os.listdir(tmp_path)) == ["models", "out.jsonl"]
        assert not output.read_bytes()


def test_an_unfinished_run_belongs_to_its_files(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "out.jsonl")
    journal = UnfinishedRows(output, "another run")
    journal.close()
    for options in ([], ["--cost"]):
        assert main(["scan", str(models), "-o", output, *options]) == 2
        assert "other files, options" in capsys.readouterr().err
    assert main(["scan", str(models), "-o", output, "-q", "--restart"]) == 1
    assert sorted(os.listdir(tmp_path)) == ["models", "out.jsonl"]


def test_a_scan_that_finds_nothing_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["scan", str(tmp_path / "empty"), "-o", str(tmp_path / "out.jsonl")]) == 2
    assert os.listdir(tmp_path) == ["empty"]


def test_a_scan_that_is_ended_leaves_only_its_unfinished_table(models: Path, tmp_path: Path) -> None:
    for number in range(300):
        shutil.copy(models / "atrous.xml", models / f"m{number}.xml")
    for delay in (0.2, 0.5, 1.0):
        command = [sys.executable, "-m", "irshape", "scan", str(models), "-o", str(tmp_path / "out.parquet"), "-q", "--force"]
        with subprocess.Popen(command) as process:
            time.sleep(delay)
            process.terminate()
        assert set(os.listdir(tmp_path)) <= {"models", "out.parquet", "out.parquet.partial"}


def test_the_files_of_a_run_are_part_of_its_identity(models: Path) -> None:
    runs = ([models], [models / "sub"], [models, models / "sub"])
    assert len({_identity([*map(str, files)], Scan()) for files in runs}) == 3


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_zip_packed_in_any_way_has_the_rows_of_its_folder(models: Path, tmp_path: Path, method: int) -> None:
    _, expected = scanned(models, tmp_path / "out.jsonl")
    with zipfile.ZipFile(tmp_path / "m.zip", "w", method) as file:
        for path in sorted(models.rglob("*.*")):
            file.write(path, path.relative_to(models))
    _, rows = scanned(tmp_path / "m.zip", tmp_path / "archive.jsonl", "--jobs", "2")
    assert rows == expected


@pytest.mark.slow("take long")
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_that_many_workers_read(tmp_path: Path, mode: str) -> None:
    """Processes that were forked share the position of a file."""
    path = tmp_path / "m.tar"
    path = path.with_name("m.tar" if mode == "w" else f"m.tar.{mode[2:]}")
    with tarfile.open(path, mode) as file:
        for number in range(200):
            file.add(ATROUS, f"{number}.xml")
            file.add(EXAMPLES / "atrous.bin", f"{number}.bin")
    _, rows = scanned(path, tmp_path / "out.jsonl", "--jobs", "4")
    assert len(rows) == 200
    assert {row["verdict"] for row in rows.values()} == {"valid"}
    assert len({row["hash"] for row in rows.values()}) == 1
