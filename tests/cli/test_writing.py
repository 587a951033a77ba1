"""What `-o` writes: an IR with its weights beside it, or a folder of them."""

import errno
import os
from pathlib import Path
from shutil import copy

import pytest

import irshape
from tests.support.commands import Start
from tests.support.places import ATROUS, EXAMPLES


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """The folder `models` with `atrous` in it and `atrous` and `decoder` in a folder below."""
    inner = tmp_path / "models" / "inner"
    inner.mkdir(parents=True)
    for name, folder in (("atrous", inner.parent), ("atrous", inner), ("decoder", inner)):
        for suffix in (".xml", ".bin"):
            copy(EXAMPLES / (name + suffix), folder)
    return inner.parent


def below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("command", [("infer",), ("reshape", "--input", "image[1,3,512,512]")])
def test_an_output_can_be_used_at_once(tmp_path: Path, command: tuple[str, ...], run: Start) -> None:
    run(*command, ATROUS, "-o", tmp_path / "out.xml", code=0)
    assert (tmp_path / "out.bin").read_bytes() == ATROUS.with_suffix(".bin").read_bytes()
    assert irshape.check(tmp_path / "out.xml").ok


def test_whoever_writes_the_new_weights_leaves_the_old_ones(tmp_path: Path, models: Path, run: Start) -> None:
    source = models / "atrous.bin"
    before = source.read_bytes()
    run("infer", models / "atrous.xml", "-o", tmp_path / "out.xml", code=0)
    with open(tmp_path / "out.bin", "r+b") as file:  # as OpenVINO does, into the file that is there
        file.write(b"\xff" * len(before))
    assert source.read_bytes() == before


def test_a_file_system_that_cannot_copy_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Start) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EXDEV, "another file system")

    monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)
    run("infer", ATROUS, "-o", tmp_path / "out.xml", code=0)
    assert (tmp_path / "out.bin").read_bytes() == ATROUS.with_suffix(".bin").read_bytes()


def test_weights_link_and_none(tmp_path: Path, models: Path, run: Start) -> None:
    run("infer", models / "atrous.xml", "-o", models / "linked.xml", "--weights", "link", code=0)
    assert (models / "linked.bin").samefile(models / "atrous.bin")
    run("infer", ATROUS, "-o", tmp_path / "alone.xml", "--weights", "none", code=0)
    assert not (tmp_path / "alone.bin").exists()


def test_other_weights_stay(tmp_path: Path, run: Start) -> None:
    (tmp_path / "out.bin").write_bytes(b"others")
    done = run("infer", ATROUS, "-o", tmp_path / "out.xml", code=2)
    assert "out.bin: already exists; --force overwrites it, --weights none leaves it" in done.err
    assert below(tmp_path) == ["out.bin"]
    assert (tmp_path / "out.bin").read_bytes() == b"others"


def test_nothing_overwrites_the_weights_that_are_read(models: Path, run: Start) -> None:
    done = run("infer", models / "atrous.xml", "-o", models / "atrous.bin", "--force", code=2)
    assert "atrous.bin: the output would overwrite the input; give another -o" in done.err


def test_a_file_written_in_place_keeps_its_weights(models: Path, run: Start) -> None:
    other = models / "other.bin"
    copy(models / "atrous.bin", other)
    before = (models / "atrous.bin").stat().st_ino
    run("infer", models / "atrous.xml", "--in-place", "--weights-file", other, code=0)
    assert (models / "atrous.bin").stat().st_ino == before


def test_an_output_is_not_named_as_its_weights(tmp_path: Path, run: Start) -> None:
    assert "a name that ends in .xml is expected" in run("infer", ATROUS, "-o", tmp_path / "out.bin", code=2).err
    assert below(tmp_path) == []


def test_weights_in_memory_are_written(tmp_path: Path) -> None:
    inference = irshape.infer(ATROUS.read_bytes(), weights=ATROUS.with_suffix(".bin").read_bytes())
    with pytest.raises(OSError, match="in memory"):
        inference.write(tmp_path / "linked.xml", weights="link")
    inference.write(tmp_path / "out.xml")
    assert below(tmp_path) == ["out.bin", "out.xml"]
    assert irshape.check(tmp_path / "out.xml").ok
    with pytest.raises(ValueError, match='"copy", "link" or "none"'):
        inference.write(tmp_path / "word.xml", weights="move")  # type: ignore[arg-type]


def test_a_folder_is_written_with_its_folders(tmp_path: Path, models: Path, run: Start) -> None:
    run("infer", models, "-o", f"{tmp_path / 'out'}/", code=0)
    assert below(tmp_path / "out") == below(models)
    assert irshape.check(tmp_path / "out" / "inner" / "decoder.xml").ok


def test_files_get_their_own_names(tmp_path: Path, models: Path, run: Start) -> None:
    (tmp_path / "out").mkdir()  # a folder that exists needs no slash
    run("infer", models / "atrous.xml", models / "inner" / "decoder.xml", "-o", tmp_path / "out", code=0)
    assert below(tmp_path / "out") == ["atrous.bin", "atrous.xml", "decoder.bin", "decoder.xml"]


def test_two_files_of_one_name_are_not_written(tmp_path: Path, models: Path, run: Start) -> None:
    done = run("infer", models / "atrous.xml", models / "inner" / "atrous.xml", "-o", f"{tmp_path / 'out'}/", "--force", code=2)
    assert "would both be written to" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("planted", ["atrous.xml", "inner"])
def test_a_link_in_the_folder_is_not_followed(tmp_path: Path, models: Path, run: Start, planted: str) -> None:
    (tmp_path / "out").mkdir()
    elsewhere = tmp_path / "elsewhere"
    if planted == "inner":
        elsewhere.mkdir()
    else:
        elsewhere.write_text("mine")
    (tmp_path / "out" / planted).symlink_to(elsewhere)
    assert "is or is below a link" in run("infer", models, "-o", tmp_path / "out", "--force", code=2).err
    assert list(elsewhere.iterdir()) == [] if planted == "inner" else elsewhere.read_text() == "mine"
    assert (tmp_path / "out" / ("atrous.xml" if planted == "inner" else "inner/decoder.xml")).is_file()  # the others are written


def test_a_folder_of_models_written_into_itself_keeps_its_inputs(models: Path, run: Start) -> None:
    before = (models / "atrous.xml").read_bytes()
    assert "the output would overwrite the input" in run("infer", models / "atrous.xml", "-o", f"{models}/", "--force", code=2).err
    assert (models / "atrous.xml").read_bytes() == before
