"""What runs irshape elsewhere: the hooks of pre-commit, the steps of the GitHub Action, the job of GitLab, each tried."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import EXAMPLES, ROOT

BASH = shutil.which("bash")
pytestmark = pytest.mark.slow("need type checkers or linters")
needs_bash = pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="bash is not installed")


def loaded(name: str) -> Any:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed; it comes with pre-commit")
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a model that has faults, one of which can be mended, and XML of another format."""
    folder = tmp_path / "repository"
    (folder / "models").mkdir(parents=True)
    shutil.copy(EXAMPLES / "faulty.xml", folder / "models")
    (folder / "pom.xml").write_text("<project/>")
    return folder


def committed(folder: Path) -> str:
    """Make a folder a Git repository with everything in it committed, and return the commit."""
    author = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--no-verify", "-m", "all"]):
        done = run("git", *author, *words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return run("git", "rev-parse", "HEAD", cwd=folder).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_hooks_of_pre_commit(tmp_path: Path, repository: Path) -> None:
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "pytest_irshape.py"):
        shutil.copy(ROOT / name, hooks)
    for name in ("irshape", "schemas"):
        shutil.copytree(ROOT / name, hooks / name, ignore=shutil.ignore_patterns("__pycache__"))
    names = ("irshape", "irshape-fix")
    cache = tmp_path / "cache"
    lines = [
        "repos:",
        f"  - repo: {hooks.as_posix()}",
        f"    rev: {committed(hooks)}",
        "    hooks:",
        *(f"      - id: {id}" for id in names),
    ]
    (repository / ".pre-commit-config.yaml").write_text("\n".join(lines) + "\n")
    committed(repository)
    done = run(sys.executable, "-m", "pre_commit", "run", "--all-files", cwd=repository, PRE_COMMIT_HOME=str(cache))
    if done.returncode == 3:
        pytest.skip("pre-commit cannot install the hook, because no package index can be reached")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "models/faulty.xml:13:17: R302 warning: the port records FP16" in done.stdout
    assert "1 .xml file of other formats skipped" in done.stdout
    weights = repository / "models" / "faulty.bin"
    weights.write_bytes(b"changed")
    assert run("git", "add", "-A", cwd=repository).returncode == 0
    alone = run(
        sys.executable, "-m", "pre_commit", "run", "irshape", "--files", "models/faulty.bin", cwd=repository, PRE_COMMIT_HOME=str(cache)
    )
    assert "models/faulty.xml:17:34: A103" in alone.stdout, alone.stdout + alone.stderr
    # The fix is the author's, because no reader of the port agrees with the computation: the hook leaves the record.
    assert 'precision="FP16"' in (repository / "models" / "faulty.xml").read_text().split("</layer>")[1]


@needs_bash
@pytest.mark.parametrize(
    ("paths", "args", "code", "faults"),
    [(".", "", 1, 9), ("models\nmodels/faulty.xml\n", "--select S,W --exit-zero", 0, 6), ("sound folder", "--strict", 0, 0)],
)
def test_the_steps_of_the_action(tmp_path: Path, repository: Path, paths: str, args: str, code: int, faults: int) -> None:
    """The steps run as a runner runs them, except that irshape is installed already."""
    (repository / "sound folder").mkdir()
    shutil.copy(EXAMPLES / "space_to_batch.xml", repository / "sound folder")
    action = loaded("action.yml")
    install, check = [step for step in action["runs"]["steps"] if "run" in step]
    assert install["run"] == 'python -m pip install --quiet "$GITHUB_ACTION_PATH"'
    inputs = {"PATHS": "inputs.paths", "ARGS": "inputs.args"}
    assert check["env"] == {name: f"${{{{ {value} }}}}" for name, value in inputs.items()}
    output = tmp_path / "output"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", "-c", check["run"]]
    done = run(*script, cwd=repository, PATHS=paths, ARGS=args, RUNNER_TEMP=str(tmp_path), GITHUB_OUTPUT=str(output), PATH=path)
    assert done.returncode == code, done.stderr
    commands = [line for line in done.stdout.splitlines() if line]
    assert len(commands) == faults
    assert all(line.startswith(("::error ", "::warning ")) for line in commands)
    report = Path(output.read_text().strip().removeprefix("sarif-file="))
    assert len(json.loads(report.read_text())["runs"][0]["results"]) == faults


def test_the_inputs_of_the_action_are_used() -> None:
    action, text = loaded("action.yml"), (ROOT / "action.yml").read_text(encoding="utf-8")
    assert [name for name in action["inputs"] if f"inputs.{name}" not in text] == []
    # A value in a script would be a command; values reach scripts as variables.
    assert [step for step in action["runs"]["steps"] if "${{" in step.get("run", "")] == []


@needs_bash
def test_the_job_of_gitlab(tmp_path: Path, repository: Path) -> None:
    job = loaded("templates/irshape.gitlab-ci.yml")["irshape"]
    install, check = job["script"]
    assert install == 'python -m pip install --quiet "$IRSHAPE_PACKAGE"'
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**job["variables"], "IRSHAPE_PATHS": "models pom.xml", "IRSHAPE_ARGS": "--skip-foreign --select S,G"}
    done = run(str(BASH), "-eo", "pipefail", "-c", check, cwd=repository, PATH=path, **variables)
    assert done.returncode == 1, done.stderr
    [report] = job["artifacts"]["reports"].values()
    issues = json.loads((repository / report).read_text())
    assert {issue["check_name"] for issue in issues} == {"S201", "S204", "G102", "G110", "G116"}
    assert all(issue["location"]["path"] == "models/faulty.xml" for issue in issues)


@pytest.mark.parametrize(
    ("schema", "name"), [("vendor.github-actions", "action.yml"), ("vendor.gitlab-ci", "templates/irshape.gitlab-ci.yml")]
)
def test_the_forms(schema: str, name: str) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    done = run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, name, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_the_form_of_the_hooks() -> None:
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    assert run(sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml", cwd=ROOT).returncode == 0
