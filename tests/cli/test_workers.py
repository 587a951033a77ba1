"""Many files in several processes: the order of the reports, and files over which a worker is lost.

Here a rule is replaced before the workers are started, so that the model whose image has N channels makes its worker wait, loop,
crash or take all memory.
"""

import json
import os
import pyexpat
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import indent

import pytest

from irshape.cli.main import main
from irshape.running.limits import Allowance
from irshape.xml.document import Document
from irshape.xml.reader import _Reader
from tests.cli.test_cli import ROOT, net
from tests.support.schemas import validator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a replaced rule reaches a worker by fork only")

SCRIPT = """
import ctypes, os, signal, sys, time
from irshape.cli import examination, workers
from irshape.cli.main import main
from irshape.ops.movement.blocks import SpaceToDepth

def tell(event):
    with open(f"{event}.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(f"{event}.new", event)

def wait_for(event):
    while not os.path.exists(event):
        time.sleep(0.01)

def infer(self, ctx, data):
    channels = data.shape[1]
@
    return rule(self, ctx, data)

rule, SpaceToDepth.infer = SpaceToDepth.infer, infer
workers._MOST_KEPT = int(os.environ.get("MOST_KEPT", workers._MOST_KEPT))
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a run in the background does not have
sys.exit(main(sys.argv[1:]))
"""
CRASH = "if channels == 2: ctypes.string_at(0)"
EXIT = "if channels == 2: os._exit(3)"
EAT = "if channels == 2: bytearray(1 << 60)"
LOOP = "while channels == 2: pass"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Models with images of 1 to 5 channels."""
    for channels in range(1, 6):
        net(tmp_path / f"{channels}.xml", f"f32[1,{channels},8,8]")
    return tmp_path


def start(folder: Path, rule: str, *arguments: str) -> "subprocess.Popen[str]":
    """The command line on the files of a folder, with a rule that does something before."""
    command = [sys.executable, "-c", SCRIPT.replace("@", indent(rule, "    ")), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # A group of its own gets an interrupt as it would from a terminal.
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment, start_new_session=True
    )


def run(folder: Path, rule: str, *arguments: str) -> tuple[int, list[str], str]:
    process = start(folder, rule, *arguments)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.splitlines(), err


def files(lines: list[str]) -> list[str]:
    """The files of reports in JSON lines."""
    return [json.loads(line)["file"] for line in lines]


# order


@pytest.mark.parametrize("arguments", [("check",), ("check", "--format", "json"), ("infer", "--format", "jsonl"), ("infer",)])
@pytest.mark.parametrize("how", [("--jobs", "3"), ("--jobs", "3", "--isolate")])
def test_workers_say_what_one_process_says(folder: Path, arguments: tuple[str, ...], how: tuple[str, ...]) -> None:
    net(folder / "3.xml", "f32[1,3,9,9]")
    named = [*(f"{channels}.xml" for channels in (5, 3, 1, 4)), "absent.xml"]
    if arguments[0] == "infer":
        how = how[:2]
    assert run(folder, "", *arguments, *how, *named) == run(folder, "", *arguments, "--jobs", "1", *named)


def test_reports_come_in_the_order_of_the_files(folder: Path) -> None:
    rule = "wait_for('done') if channels == 1 else tell('done') if channels == 5 else None"
    code, lines, err = run(folder, rule, "check", ".", "--jobs", "2", "--format", "jsonl")
    assert (code, files(lines), err) == (0, [f"./{channels}.xml" for channels in range(1, 6)], "")


def test_a_report_does_not_wait_for_the_files_behind_it(folder: Path) -> None:
    process = start(folder, "if channels == 2: wait_for('read')", "check", ".", "--jobs", "2", "--format", "jsonl")
    assert process.stdout is not None
    first = process.stdout.readline()
    (folder / "read").touch()
    out, _ = process.communicate(timeout=60)
    assert files([first, *out.splitlines()]) == [f"./{channels}.xml" for channels in range(1, 6)]


def test_what_waits_for_its_turn_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOST_KEPT", "1")
    rule = """
if channels == 1:
    wait_for("second")
    until = time.monotonic() + 0.5
    while time.monotonic() < until and not os.path.exists("third"):
        time.sleep(0.01)
    tell("over")
elif channels == 2:
    tell("second")
elif channels == 3:
    tell("third")
    assert os.path.exists("over"), "begun while outcomes wait for the first file"
"""
    code, lines, err = run(folder, rule, "check", ".", "--jobs", "2", "--format", "jsonl")
    assert (code, files(lines), err) == (0, [f"./{channels}.xml" for channels in range(1, 6)], "")


SPAWNED = """
import sys
from irshape.cli import workers
from irshape.cli.main import main
assert workers._FORK is not workers._SPAWN
workers._FORK = workers._SPAWN
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow("take long")
@pytest.mark.parametrize("command", ["check", "infer", "reshape --batch 2", "info", "summary", "signature --why", "cost", "sizes"])
def test_a_system_without_fork_needs_no_other_code(folder: Path, command: str) -> None:
    """Workers that are spawned take each errand pickled."""

    def told(*program: str, jobs: str) -> tuple[int, str, str]:
        words = [*program, *command.split(), ".", "--jobs", jobs]
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60)
        return done.returncode, done.stdout, done.stderr

    assert told(sys.executable, "-c", SPAWNED, jobs="2") == told(sys.executable, "-m", "irshape", jobs="1")


# files over which a worker is lost


@pytest.mark.slow("take long")
@pytest.mark.parametrize(
    ("rule", "arguments", "code", "message"),
    [
        (CRASH, ["--isolate"], "I104", "the worker was killed by signal 11 (Segmentation fault)"),
        (CRASH, ["--jobs", "2"], "I104", "the worker was killed by signal 11 (Segmentation fault)"),
        (EXIT, ["--isolate"], "I104", "the worker ended with status 3"),
        (EAT, ["--isolate"], "I103", "the examination needs more than 2GiB of memory"),
        (EAT, ["--isolate", "--limit", "memory=300MiB"], "I103", "the examination needs more than 300MiB of memory"),
        (EAT, ["--jobs", "2"], "I103", "there was not enough memory"),
        (EAT, ["--jobs", "1"], "I103", "there was not enough memory"),
        (LOOP, ["--isolate", "--limit", "time=0.3"], "I102", "the examination takes longer than 0.3 s"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else None,
)
def test_a_lost_worker_is_a_fault_of_its_file(folder: Path, rule: str, arguments: list[str], code: str, message: str) -> None:
    done, lines, err = run(folder, rule, "check", ".", *arguments)
    text = [line for line in lines if "hint:" not in line]
    assert (done, text, err) == (2, [f"./2.xml: {code} {message}", "5 files, 12 layers: 1 error"], "")
    done, lines, err = run(folder, rule, "check", ".", *arguments, "--format", "jsonl")
    reports = [json.loads(line) for line in lines]
    assert (done, [report["ok"] for report in reports], err) == (2, [True, False, True, True, True], "")
    [fault] = reports[1]["diagnostics"]
    assert (fault["code"], fault["severity"], fault["message"], fault["file"]) == (code, "error", message, "./2.xml")
    for report in reports:
        validator("report").validate(report)


def test_every_file_may_lose_its_worker(folder: Path) -> None:
    code, lines, err = run(folder, "ctypes.string_at(0)", "check", ".", "--isolate", "--jobs", "2")
    assert (code, lines[-1], err) == (2, "5 files, 0 layers: 5 errors", "")


@pytest.mark.slow("take long")
@pytest.mark.parametrize("arguments", [("--isolate", "--jobs", "2"), ("--jobs", "2")], ids=" ".join)
def test_two_hundred_files_that_crash(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Every file has its answer, in order, and no process stays."""
    for number in range(202):
        net(tmp_path / f"{number:03}.xml", "f32[1,2,8,8]" if number not in (100, 201) else "f32[1,3,8,8]")
    code, lines, err = run(tmp_path, "if channels == 2: os.kill(os.getpid(), signal.SIGKILL)", "check", ".", *arguments)
    assert (code, lines[-1], err) == (2, "202 files, 6 layers: 200 errors", "")
    assert [line.partition(": ")[0] for line in lines if " I10" in line] == [f"./{n:03}.xml" for n in range(202) if n not in (100, 201)]


def test_a_page_says_which_file_was_lost(folder: Path) -> None:
    code, lines, err = run(folder, CRASH, "infer", "1.xml", "2.xml", "--jobs", "2")
    assert (code, err) == (2, "")
    assert lines[lines.index("2.xml  no IR, 0 layers") :] == [
        "2.xml  no IR, 0 layers",
        "",
        "2.xml: I104 the worker was killed by signal 11 (Segmentation fault)",
        "",
        "1 file, 0 layers: 1 error",
    ]


def test_a_file_that_needs_more_memory_than_is_allowed(folder: Path) -> None:
    """A real one: 40 MB of blanks before the model ends."""
    text = (folder / "1.xml").read_text()
    with open(folder / "1.xml", "w", encoding="utf-8") as file:
        file.write(text.replace("</net>", " " * 40_000_000 + "</net>"))
    _, lines, _ = run(folder, "", "check", ".", "--isolate", "--limit", "memory=48MiB")
    assert lines[0] == "./1.xml: I103 the examination needs more than 48MiB of memory"
    assert lines[-1] == "5 files, 12 layers: 1 error"
    assert run(folder, "", "check", ".", "--isolate")[:2] == (0, ["5 files, 15 layers: no faults"])


def test_a_file_that_takes_longer_than_is_allowed(folder: Path) -> None:
    _, lines, _ = run(folder, "", "check", "1.xml", "--isolate", "--limit", "time=0.00001")
    assert lines == [
        "1.xml: I102 the examination takes longer than 1e-05 s",
        "    hint: --limit time=SECONDS allows more",
        "1 file, 0 layers: 1 error",
    ]


def test_time_counts_while_a_file_is_examined() -> None:
    for _ in range(2):
        Allowance(time=1000).start()
        try:
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
        finally:
            Allowance().stop()
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_parser_without_memory_says_so() -> None:
    error = pyexpat.ExpatError()
    error.code = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_NO_MEMORY]
    with pytest.raises(MemoryError):
        _Reader(Document(b"", None)).malformed(error)


def test_a_system_without_limits_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert main(["check", "absent.xml", "--isolate"]) == 2
    said = "irshape: --isolate: this system cannot limit a process (Python has no module `resource` here)\n"
    assert capsys.readouterr() == ("", said)


# interrupts


@pytest.mark.parametrize("arguments", [["--jobs", "1"], ["--jobs", "2"], ["--isolate"]], ids=" ".join)
@pytest.mark.parametrize("is_from_terminal", [True, False])
def test_an_interrupt_ends_the_run_and_its_workers(folder: Path, arguments: list[str], is_from_terminal: bool) -> None:
    rule = "if channels == 2: tell('looping')\n" + LOOP
    process = start(folder, rule, "check", ".", *arguments)
    while not (folder / "looping").exists():
        time.sleep(0.01)
    (os.killpg if is_from_terminal else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "looping").read_text()), 0)


def test_an_interrupt_is_not_lost_in_a_finalizer(folder: Path) -> None:
    rule = """
class Circle:
    def __del__(self):
        os.kill(os.getpid(), 2)

if channels == 1:
    circle = Circle()
    circle.self = circle
    examination._MANY_OBJECTS = -1  # the next file looks for circles first
if channels == 2:
    tell("lost")
"""
    code, lines, err = run(folder, rule, "check", ".", "--jobs", "1")
    assert (code, lines, err) == (130, [], "")
    assert not (folder / "lost").exists()


def test_workers_end_when_the_run_is_killed(folder: Path) -> None:
    process = start(folder, "tell(str(channels))\nif channels < 3: wait_for('go')", "check", ".", "--jobs", "2")
    while not all((folder / name).exists() for name in "12"):
        time.sleep(0.01)
    process.kill()
    (folder / "go").touch()
    # The pipe of the report ends when the last process that could write to it has ended.
    assert process.communicate(timeout=60) == ("", "")
    assert not (folder / "3").exists()


# limits


@pytest.mark.parametrize(
    ("text", "allowance"),
    [
        ("time=10", Allowance(time=10)),
        ("time=0.5", Allowance(time=0.5)),
        ("memory=512MiB", Allowance(memory=512 << 20)),
        ("memory=1TiB", Allowance(memory=1 << 40)),
    ],
)
def test_limit(text: str, allowance: Allowance) -> None:
    assert Allowance().changed(text) == allowance


@pytest.mark.parametrize(
    "text", ["time", "time=", "time=0", "time=-1", "time=1s", "time=nan", "memory=2", "memory=0GiB", "memory=2GB", "x=1"]
)
def test_limit_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"'{text}': expected time=SECONDS or memory=SIZE")):
        Allowance().changed(text)


@pytest.mark.parametrize("size", ["2GiB", "1536MiB", "1KiB", "3TiB"])
def test_memory_is_shown_as_it_is_given(size: str) -> None:
    assert Allowance().changed(f"memory={size}").size == size
