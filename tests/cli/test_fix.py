"""`check --fix` and `check --diff`: the bytes written, the report on them, and the faults left alone."""

import gzip
import json
import os
import stat
from pathlib import Path

import pytest

import irshape
from irshape.diagnosis.fixes import mended_file
from tests.support.commands import Start
from tests.support.places import IRS
from tests.support.schemas import validator

SOUND = (IRS / "synth" / "s2d_blocks_first_b1.xml").read_text(encoding="utf-8")
STALE = SOUND.replace("<dim>5</dim>", "<dim>6</dim>", 1).replace('mode="blocks_first"', 'mode="BLOCKS_FIRST"')


@pytest.fixture
def stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with two faults that can be mended, in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = Path("stale.xml")
    path.write_text(STALE, encoding="utf-8")
    return path


def test_a_check_says_what_fix_would_do(stale: Path, run: Start) -> None:
    code, out, err = run("check", stale)
    assert (code, err) == (0, "")
    assert [line for line in out if "fix" in line] == [
        "    fix: record [1,3,5,7] (the model computes it, and every layer that reads the tensor records it)",
        '    fix: write mode="blocks_first" (OpenVINO reads the same word)',
        "1 file, 3 layers: 2 warnings (--fix mends 2)",
    ]
    assert stale.read_text(encoding="utf-8") == STALE


def test_fix_mends_the_file_and_says_what_it_did(stale: Path, run: Start) -> None:
    os.chmod(stale, 0o640)
    code, out, err = run("check", stale, "--fix", "--strict")
    assert (code, err) == (0, "")
    assert [line.partition(": ")[2] for line in out[:2]] == [
        "R301 fixed: record [1,3,5,7] (the model computes it, and every layer that reads the tensor records it) [Parameter x, port 0]",
        'R105 fixed: write mode="blocks_first" (OpenVINO reads the same word) [SpaceToDepth SpaceToDepth_1084]',
    ]
    assert out[2] == "1 file, 3 layers: no faults"
    assert stale.read_text(encoding="utf-8") == SOUND
    assert stat.S_IMODE(stale.stat().st_mode) == 0o640
    assert os.listdir() == ["stale.xml"]


def test_what_a_fix_uncovers_is_mended_too(stale: Path, run: Start) -> None:
    """A record in doubt makes the numbers of its layer doubtful; once it is mended, nothing speaks against them."""
    stale.write_text(SOUND.replace('"FP32" names', '"U8" names').replace('block_size="1"', 'block_size="1.0"'), encoding="utf-8")
    assert "(--fix mends 1)" in run("check", stale).out
    out = run("check", stale, "--fix").lines
    assert [line.split()[1] for line in out[:-1]] == ["R302", "R101"]
    assert (out[-1], stale.read_text(encoding="utf-8")) == ("1 file, 3 layers: no faults", SOUND)


def test_what_remains_is_reported_and_counts(stale: Path, run: Start) -> None:
    stale.write_text(STALE.replace('block_size="1"', 'block_size="3"'), encoding="utf-8")
    out = run("check", stale, "--fix", code=1).lines
    words = [" ".join(line.split()[1:3]) for line in out[:4]]
    assert words == ["R301 fixed:", "R105 fixed:", "S204 axis", "more fault"]  # the records show that both have one reason


def test_diff_shows_what_fix_would_change(stale: Path, run: Start) -> None:
    for options in (["--diff"], ["--fix", "--diff"]):
        code, out, err = run("check", stale, *options)
        assert (code, err) == (0, "")
        assert [line for line in out if line[:1] in "+-"] == [
            "--- stale.xml",
            "+++ stale.xml",
            "-\t\t\t\t\t<dim>6</dim>",
            "+\t\t\t\t\t<dim>5</dim>",
            '-\t\t\t<data block_size="1" mode="BLOCKS_FIRST" />',
            '+\t\t\t<data block_size="1" mode="blocks_first" />',
        ]
        assert stale.read_text(encoding="utf-8") == STALE


def test_nothing_to_mend_is_nothing_written(stale: Path, run: Start) -> None:
    stale.write_text(SOUND, encoding="utf-8")
    os.chmod(stale, 0o444)
    before = stale.stat()
    assert run("check", stale, "--fix") == (0, ["1 file, 3 layers: no faults"], "")
    assert run("check", stale, "--diff") == (0, ["1 file, 3 layers: no faults"], "")
    assert (stale.stat().st_mtime_ns, stale.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_the_report_for_programs_holds_what_was_mended(stale: Path, run: Start) -> None:
    out = run("check", stale, "--format", "json").lines
    report = json.loads("\n".join(out))
    validator("report").validate(report)
    [dims, word] = (found["fix"] for found in report["diagnostics"])
    source = STALE.encode()
    assert [source[edit["start"] : edit["end"]].decode() for edit in (*dims["edits"], *word["edits"])] == ["6", '"BLOCKS_FIRST"']
    out = run("check", stale, "--fix", "--format", "json").lines
    mended = json.loads("\n".join(out))
    validator("report").validate(mended)
    assert (mended["diagnostics"], mended["mended"]) == ([], report["diagnostics"])


def test_the_other_files_are_mended_all_the_same(stale: Path, run: Start) -> None:
    code, out, err = run("check", "absent.xml", stale, "--fix")
    assert (code, err) == (2, "irshape: absent.xml: No such file or directory\n")
    assert out[-1] == "1 file, 3 layers: no faults"


def test_a_link_is_followed(stale: Path, run: Start) -> None:
    os.symlink(stale, "link.xml")
    assert run("check", "link.xml", "--fix")[0] == 0
    assert os.path.islink("link.xml")
    assert stale.read_text(encoding="utf-8") == SOUND


# In Python


def test_fix_of_an_inference(stale: Path) -> None:
    inference = irshape.check(stale)
    assert [found.code for found in irshape.fix(inference)] == ["R301", "R105"]
    assert stale.read_text(encoding="utf-8") == SOUND
    assert irshape.fix(irshape.check(stale)) == []


def test_a_source_without_a_path_is_not_written() -> None:
    assert mended_file(irshape.check(STALE.encode())._inference).decode() == SOUND
    for source in (STALE.encode(), irshape.read(STALE.encode()).tree()):
        with pytest.raises(OSError, match="not read from a file"):
            irshape.fix(irshape.check(source))


def test_a_file_that_changed_or_is_compressed_is_not_written(stale: Path) -> None:
    inference = irshape.check(stale)
    stale.write_bytes(gzip.compress(STALE.encode()))
    before = stale.read_bytes()
    with pytest.raises(OSError, match="compressed, or it has changed"):
        irshape.fix(inference)
    assert stale.read_bytes() == before
