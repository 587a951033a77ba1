"""Folders as a user meets them: the files found, their order, and the reports on files that are no IR."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copy

import pytest

from irshape.cli import road
from irshape.cli.road import find, is_much
from tests.cli.test_cli import ROOT, net
from tests.support.commands import Start
from tests.support.ir import Net


def put(folder: Path, *names: str) -> None:
    """Write a sound model under each name."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        net(folder / name, "f32[1,3,8,8]")


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models with another file beside each of them; paths are given from the folder around it."""
    put(tmp_path / "models", "b.xml", "a.xml", "deep/er/c.XML", ".hidden/d.xml")
    for name in ("b.bin", "readme.txt", "deep/xml"):
        (tmp_path / "models" / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def test_every_xml_below_a_folder_sorted(models: Path) -> None:
    put(models.parent, "z.xml", "e.xml")
    paths, complaints = find(["z.xml", "models", "e.xml", "models/a.xml"])
    assert paths == [
        "z.xml",
        "models/.hidden/d.xml", "models/a.xml", "models/b.xml", "models/deep/er/c.XML",
        "e.xml",
        "models/a.xml",
    ]  # fmt: skip
    assert complaints == []


def test_a_folder_is_checked(run: Start, models: Path) -> None:
    net(models / "b.xml", "f32[1,3,8,9]")
    done = run("check", "models")
    assert (done.code, done.err) == (1, "")
    assert done.lines == [
        "models/b.xml:10:3: S204 axis 3 must be a multiple of block_size: 9 is not a multiple of 2 [SpaceToDepth spacetodepth_1]",
        "4 files, 12 layers: 1 error",
    ]


def test_links_to_files_are_followed_links_to_folders_are_not(models: Path) -> None:
    (models / "link.xml").symlink_to("a.xml")
    (models / "dangling.xml").symlink_to("absent")
    (models / "deep" / "round").symlink_to(models)
    assert find(["models"])[0] == [
        "models/.hidden/d.xml", "models/a.xml", "models/b.xml", "models/dangling.xml", "models/deep/er/c.XML", "models/link.xml",
    ]  # fmt: skip


def test_a_link_that_leads_nowhere_is_an_error(run: Start, models: Path) -> None:
    (models / "dangling.xml").symlink_to("../blobs/absent")
    done = run("check", "models")
    assert done.code == 2
    assert "models/dangling.xml: the link leads to '../blobs/absent', which does not exist; fetch it" in done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_in_a_folder_is_no_file(models: Path) -> None:
    os.mkfifo(models / "pipe.xml")
    assert "models/pipe.xml" not in find(["models"])[0]


def test_a_folder_that_cannot_be_listed(run: Start, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("deep"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    done = run("check", "models")
    assert (done.code, done.out) == (2, "3 files, 9 layers: no faults\n")
    assert done.err == "irshape: models/deep: Permission denied\n"


# other XML


def test_xml_of_another_format_is_passed_over(run: Start, models: Path) -> None:
    for name in ("pom.xml", "deep/plugins.xml"):
        (models / name).write_text("<project/>")
    done = run("check", "models")
    assert (done.code, done.err) == (0, "")
    assert done.out == "4 files, 12 layers: no faults (2 .xml files of other formats skipped)\n"
    done = run("check", "models", "--format", "jsonl")
    assert len(done.lines) == 4


@pytest.mark.parametrize(("asked", "text", "told"), [
    ("models", "", "X104"),
    ("models", "version https://git-lfs.github.com/spec/v1\n", "X104"),
    ("models", "<net", "X101"),
    ("models", "<!DOCTYPE net><net/>", "X102"),
    ("models/a.xml", "<project/>", "X104 the root element is <project>"),
])  # fmt: skip
def test_what_may_be_a_broken_ir_or_is_named_is_reported(run: Start, models: Path, asked: str, text: str, told: str) -> None:
    (models / "a.xml").write_text(text)
    done = run("check", asked, code=1)
    assert done.out.startswith("models/a.xml:1:") and told in done.lines[0]


def test_a_folder_without_an_ir_is_a_mistake(run: Start, tmp_path: Path) -> None:
    done = run("check", tmp_path)
    assert (done.code, done.out, done.err) == (2, "", f"irshape: {tmp_path}: no .xml file in this folder\n")
    (tmp_path / "pom.xml").write_text("<project/>")
    done = run("check", tmp_path)
    assert (done.code, done.out, done.err) == (2, "", f"irshape: {tmp_path}: no IR among 1 .xml file\n")


# options that need one file


def test_json_of_a_folder_is_an_array(run: Start, tmp_path: Path) -> None:
    put(tmp_path, "only.xml")
    for command in ("check", "infer"):
        [report] = json.loads(run(command, tmp_path, "--format", "json").out)
        assert report["file"] == f"{tmp_path}/only.xml"


def test_json_of_nothing_is_an_empty_array(run: Start) -> None:
    done = run("check", "absent.xml", "absent.xml", "--format", "json")
    assert (done.code, json.loads(done.out)) == (2, [])


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("infer", ["-o", "x.xml"], "-o x.xml: the results of several files need a folder: -o x.xml/"),
        ("infer", ["--in-place"], "--in-place needs exactly one FILE"),
        ("check", ["--weights-file", "x.bin"], "--weights-file needs exactly one FILE"),
    ],
)
def test_a_folder_is_not_one_file(run: Start, models: Path, command: str, options: list[str], message: str) -> None:
    done = run(command, "models", *options)
    assert (done.code, done.out, done.err) == (2, "", f"irshape: {message}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of open files")
def test_weights_do_not_stay_open(tmp_path: Path) -> None:
    for number in range(40):
        for kind in ("xml", "bin"):
            copy(ROOT / "tests" / "data" / f"sound.{kind}", tmp_path / f"{number}.{kind}")
    code = """
import resource, sys
from irshape.cli.main import main
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", code, "check", str(tmp_path), "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


# when it is worth while to start workers


def test_a_little_work_is_done_at_once(run: Start, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(road, "cores", lambda: pytest.fail("workers are considered"))
    assert run("check", "models").code == 0


def test_much_work_is_shared(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.xml") for number in range(3)]
    for path in paths:
        Path(path).write_bytes(bytes(1000))
    assert not is_much(paths)
    Path(paths[2]).write_bytes(bytes(1 << 20))
    assert is_much(paths)
    assert is_much([paths[2], "absent"])
    assert not is_much(paths[2:])
    assert is_much(["absent"] * 1000)


def test_weights_of_a_folder_may_be_links(run: Start, tmp_path: Path) -> None:
    models, linked = tmp_path / "models", Net("Add(f32[2], f32=[1.0,2.0]) -> Result")
    models.mkdir()
    for name in ("a", "b"):
        (models / f"{name}.xml").write_text(linked.xml)
        (tmp_path / f"{name}.data").write_bytes(linked.bin)
        (models / f"{name}.bin").symlink_to(tmp_path / f"{name}.data")
    assert run("check", models, code=1).out.count("or --follow-links of check and scan for a folder") == 2
    run("check", models, "--follow-links", code=0)
    run("scan", models, "-o", tmp_path / "table.jsonl", code=1)
    (tmp_path / "around").mkdir()
    (tmp_path / "around" / "models").symlink_to(models)
    (models / "circle").symlink_to(tmp_path / "around")
    run("scan", tmp_path / "around", "-o", tmp_path / "table.jsonl", "--force", "--follow-links", code=0)
