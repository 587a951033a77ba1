"""The pages tell the truth: their commands are those that are run, their links lead somewhere.

What their commands print is derived (tests/test_generated.py).
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import EXAMPLES, ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *EXAMPLES.glob("*.md")]


def test_continuous_integration_runs_the_two_commands() -> None:
    commands = re.findall(r"```sh\n(.+?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(commands) == 2
    assert all(command in script for command in commands)


def test_the_readme_fits_on_three_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110


def test_continuous_integration_runs_what_the_second_command_leaves_out() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert ".venv/bin/pip install -q -e '.[whole]'\n.venv/bin/python -m pytest -q -n auto -m slow" in script


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_a_run_says_which_tests_it_leaves_out(options: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests/xml/test_notes.py"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    left_out = re.search(r"left out: (\d+) tests \((\d+) take long\)", run.stdout)
    assert left_out is not None, run.stdout + run.stderr
    assert left_out[1] == left_out[2] != "0"
    assert "-m slow" in run.stdout


def test_the_first_command_needs_nothing_but_python() -> None:
    command = re.search(r"```sh\n(python3 -m irshape .+?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert command is not None
    run = subprocess.run(command[1].replace("python3", "python3 -S -E", 1), shell=True, capture_output=True, text=True, cwd=ROOT)
    assert (run.returncode, run.stderr) == (0, "")
    assert "no faults" in run.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_example_is_shown() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES.glob("*.xml") if f"examples/{path.name}" not in text] == []


def test_every_target_of_make_explains_itself() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert targets is not None
    assert [target for target in targets[1].split() if not re.search(rf"^{target}:.*## \S", text, re.MULTILINE)] == []
