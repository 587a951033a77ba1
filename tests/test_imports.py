"""What a run imports: the road from a file to its facts needs the standard library only."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
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
    assert "irshape.xml.writer" not in subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()


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
