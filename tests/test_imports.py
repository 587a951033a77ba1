"""What a run imports: the road from a file to its facts needs the standard library only."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import irshape
from tests.support.places import IRS, ROOT

HEAVY = {"dataclasses", "inspect", "json", "lxml", "multiprocessing", "numpy", "pathlib", "pydantic", "unittest"}
RUN = """
import contextlib, io, sys
from irshape.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):
    code = main(sys.argv[1:])
print(code, *sorted(sys.modules))
"""


def modules(*arguments: str) -> set[str]:
    """The top-level modules that a run of the command line has loaded."""
    command = [sys.executable, "-S", "-c", RUN, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    code, *loaded = run.stdout.split()
    assert code == "0", run.stderr
    return {name.partition(".")[0] for name in loaded}


@pytest.mark.parametrize("command", ["check", "infer"])
def test_a_run_on_one_operation_loads_nothing_heavy(command: str) -> None:
    assert not modules(command, "examples/space_to_batch.xml") & HEAVY


def test_an_explanation_loads_nothing_heavy() -> None:
    assert not modules("explain", "examples/space_to_batch.xml", "0:4:2") & HEAVY


@pytest.mark.parametrize("command", ["check", "infer"])
def test_the_writer_is_loaded_for_writing(command: str) -> None:
    run = [sys.executable, "-S", "-c", RUN, command, "examples/space_to_batch.xml"]
    loaded = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
    assert not {"irshape.files.writing", "irshape.xml.writer"} & set(loaded)


def test_json_is_loaded_for_json() -> None:
    assert modules("check", "examples/space_to_batch.xml", "--format", "json") & HEAVY == {"json"}


def test_the_library_alone_loads_nothing_heavy() -> None:
    code = "import irshape, json, sys; print(json.dumps(sorted(sys.modules)))"
    before = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    loaded, own = (
        set(json.loads(subprocess.run([sys.executable, "-S", "-c", text], capture_output=True, text=True, check=True, cwd=ROOT).stdout))
        for text in (code, before)
    )
    assert not {name.partition(".")[0] for name in loaded - own} & (HEAVY | {"argparse"})


def one_operation(folder: Path) -> None:
    """Put a model of one operation, `one.xml`, into a folder without a configuration."""
    for suffix in (".xml", ".bin"):
        shutil.copy((IRS / "synth" / "s2b_6d.xml").with_suffix(suffix), folder / f"one{suffix}")


def loaded(folder: Path, *options: str) -> list[str]:
    """The modules that a check of one operation loads beyond those of a bare interpreter."""
    one_operation(folder)
    bare = subprocess.run([sys.executable, "-S", "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True)
    run = "import sys; from irshape.cli.main import main; main(); print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-S", "-c", run, "check", "one.xml", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment)
    return [name for name in done.stderr.split() if name not in bare.stdout.split()]


# What a check of one operation loads of irshape, by folder. Each module costs the start of every run, so one that is added here must be
# one that every check needs.
OWN = {
    "": "verbs version",
    "cli": "arguments check check_options conclusion examination main plain request road run screen",
    "diagnosis": "diagnosis recorded",
    "files": "reading",
    "inference": "apply engine facts inference origins question run schedule stored transfer verdict",
    "model": "bodies build load model",
    "ops": "attribute context cost flow index infrastructure op port registry",
    "ops.movement": "blocks",
    "report": "catalogue diagnostic finding guesses text",
    "settings": "read settings",
    "shape": "compilation dim element_type guard limits notation polynomial range shape value window",
    "xml": "document fastlane lexical markup reader source weights",
}


def test_a_check_of_one_operation_loads_these_modules_of_irshape(tmp_path: Path) -> None:
    expected = {f"irshape.{folder}.{name}".replace("..", ".") for folder, names in OWN.items() for name in names.split()}
    folders = {f"irshape.{folder}".rstrip(".") for folder in OWN}
    assert {name for name in loaded(tmp_path) if name.startswith("irshape")} == expected | folders


SLOW = {"argparse", "dataclasses", "datetime", "gettext", "inspect", "locale", "shutil", "string", "threading"}


@pytest.mark.parametrize("options", [(), ("--strict", "--format", "text"), ("--ignore", "R", "--jobs", "1", "-q")])
def test_a_check_of_one_operation_loads_nothing_slow_of_python(tmp_path: Path, options: tuple[str, ...]) -> None:
    """`argparse`, with the modules that it imports, takes a quarter as long as irshape itself."""
    assert not SLOW & set(loaded(tmp_path, *options))


COMPILED = """
import sys, typing
compiled = []
sys.addaudithook(lambda event, given: event == "compile" and given[1] == "<string>" and compiled.append(given[0]))
import irshape
from irshape.cli.main import main
irshape.check("one.xml")
main(["check", "-q", "one.xml"])
print(*[text for text in compiled if b"lambda _cls" not in text])
"""


def test_a_check_compiles_no_annotation(tmp_path: Path) -> None:
    """The classes of `typing` compile each annotation that is text, and the first text takes Python a millisecond."""
    one_operation(tmp_path)
    command, environment = [sys.executable, "-S", "-c", COMPILED], {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment).stdout == "\n"


COLLECTED = """
import gc
import irshape
searched = []
gc.callbacks.append(lambda phase, found: phase == "start" and searched.append(found))
irshape.check
print(len(searched), gc.isenabled())
"""


def test_the_collector_does_not_search_the_modules_while_they_load() -> None:
    command = [sys.executable, "-S", "-c", COLLECTED]
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout == "0 True\n"


def test_every_name_of_the_package_is_there() -> None:
    assert all(getattr(irshape, name) is not None for name in irshape.__all__)
    assert set(irshape.__all__) <= set(dir(irshape))
    with pytest.raises(AttributeError, match="module 'irshape' has no attribute 'chek'"):
        irshape.chek  # noqa: B018


@pytest.mark.parametrize("name", ["__init__", "__main__"])
def test_an_old_python_can_read_the_modules_that_tell_its_version(name: str) -> None:
    ast.parse((ROOT / "irshape" / f"{name}.py").read_text(), feature_version=(3, 7))


@pytest.mark.parametrize(("program", "code"), [("-m", 2), ("script.py", 1)])
def test_an_old_python_is_told_which_one_is_needed(program: str, code: int) -> None:
    """`python -m irshape` says so without a traceback; a program gets an ImportError."""
    fake = f"import sys; sys.version_info = (3, 10, 13); sys.argv = [{program!r}]; import irshape"
    run = subprocess.run([sys.executable, "-c", fake], capture_output=True, text=True, check=False, cwd=ROOT)
    said = "irshape needs Python 3.11 or newer, and this is Python 3.10"
    assert (run.returncode, run.stdout) == (code, "")
    assert run.stderr.splitlines()[-1] == (said if program == "-m" else f"ImportError: {said}")
    assert ("Traceback" in run.stderr) == (program != "-m")
