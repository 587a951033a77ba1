"""A file is written whole or not at all, even if the process is killed or the disk is full, and no other file changes."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import pytest

from irshape.files.writing import write_atomic
from irshape.xml.weights import Weights
from irshape.xml.writer import place_weights
from tests.support.places import DATA, ROOT

MODEL = DATA / "sound.xml"
OLD, NEW = b"old\n" * 100_000, b"new version\n" * 100_000


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a Python program in a process that can import irshape."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


@pytest.mark.slow("take long")
def test_killed_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "out.xml"
    write_atomic(path, OLD)
    chance = random.Random(0)
    for _ in range(100):
        child = os.fork()
        if child == 0:
            try:
                while True:
                    write_atomic(path, NEW, force=True)
                    write_atomic(path, OLD, force=True)
            finally:
                os._exit(1)
        time.sleep(chance.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert path.read_bytes() in (OLD, NEW)


def test_a_write_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("files have names from the start here")
    program = """
import os, signal, sys
from irshape.files import writing as writer
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
writer.write_atomic(sys.argv[1], b"new" * 100_000)
"""
    assert run(program, tmp_path / "out.xml").returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == []


WITH_A_SMALL_DISK = """
import resource, sys
sys.dont_write_bytecode = True  # Python leaves a file of bytecode that has no room cut short, for every later process
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
from irshape.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("how", [(), ("--weights", "copy")])
def test_no_room(tmp_path: Path, how: tuple[str, ...]) -> None:
    path = tmp_path / "out.xml"
    path.write_bytes(OLD)
    done = run(WITH_A_SMALL_DISK, "infer", MODEL, "-o", path, "--force", *how)
    assert done.returncode == 2
    assert done.stderr.startswith(f"irshape: {path}: ") and done.stderr.count("\n") == 1
    assert path.read_bytes() == OLD
    assert {*os.listdir(tmp_path)} <= {"out.xml", "out.bin"}


def test_the_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.xml"
    write_atomic(path, OLD)
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    write_atomic(path, NEW, force=True)
    assert path.stat().st_mode & 0o777 == 0o640


def test_inputs_survive_whatever_the_output_is_called(tmp_path: Path) -> None:
    model, weights = tmp_path / "m.bin", tmp_path / "w.bin"
    model.write_bytes(OLD)
    weights.write_bytes(NEW)
    with pytest.raises(FileExistsError, match="overwrite the input"):  # the weights, even where the model may be replaced
        write_atomic(weights, OLD, force=True, in_place=True, source=model, kept=[weights])
    with pytest.raises(FileExistsError, match="overwrite the input"):  # the place of the weights is that of the model
        place_weights("copy", Weights(weights), tmp_path / "m.xml", force=True, kept=[model])
    assert (model.read_bytes(), weights.read_bytes()) == (OLD, NEW)


def test_nothing_is_placed_beside_a_file_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "out.xml"
    path.write_bytes(OLD)
    done = run(
        "import sys; from irshape.cli.main import main; sys.exit(main(sys.argv[1:]))", "infer", MODEL, "-o", path, "--weights", "copy"
    )
    assert done.returncode == 2 and "--force" in done.stderr
    assert os.listdir(tmp_path) == ["out.xml"]


OBSERVED = """
import os, sys
seen = set()
def observe(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if not path.startswith(tuple(map(os.path.realpath, (sys.prefix, sys.base_prefix, os.path.dirname(irshape.__file__))))):
            seen.add(path)
    elif event.startswith(("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.fork", "os.system", "urllib.", "ftplib.")):
        seen.add(event)
import irshape
from irshape.cli.main import main
sys.addaudithook(observe)
main(sys.argv[2:])
open(sys.argv[1], "w").write("\\n".join(sorted(seen)))
"""


@pytest.mark.parametrize("command", ["check", "infer"])
def test_only_the_model_its_weights_and_the_output_are_opened(tmp_path: Path, command: str) -> None:
    out, log = tmp_path / "out", tmp_path / "log"
    out.mkdir()
    options = ["-o", str(out / "out.xml"), "--weights", "copy"] if command == "infer" else []
    assert run(OBSERVED, log, command, MODEL, *options).returncode == 0
    seen = {*log.read_text().splitlines()} - {str(log)}
    # The tests stand in a repository, whose configuration check reads.
    others = [str(out)] if options else [str(ROOT / "pyproject.toml")]
    assert seen == {str(MODEL), str(MODEL.with_suffix(".bin")), *others}


@pytest.mark.parametrize("how", ["link", "copy"])
def test_a_link_in_the_place_of_the_weights_is_replaced_and_not_followed(how: Literal["link", "copy"], tmp_path: Path) -> None:
    weights, victim, planted = tmp_path / "in.bin", tmp_path / "victim", tmp_path / "out.bin"
    weights.write_bytes(b"weights")
    victim.write_bytes(b"victim")
    planted.symlink_to(victim)
    with pytest.raises(FileExistsError):
        place_weights(how, Weights(weights), tmp_path / "out.xml")
    place_weights(how, Weights(weights), tmp_path / "out.xml", force=True)
    assert (victim.read_bytes(), planted.read_bytes(), planted.is_symlink()) == (b"victim", b"weights", False)
