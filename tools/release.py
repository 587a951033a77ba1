"""Build a release and try it: run with `make release-check`, or step by step with `build`, `try` and `notes TAG`. See docs/releasing.md."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"


def version() -> str:
    """The version that the package states."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "irshape" / "version.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def notes(tag: str) -> str:
    """The section of the changelog about a tag, which must be that of the version."""
    if tag != f"v{version()}":
        fail(f"the tag is {tag}, irshape/version.py states the version {version()}: the tag must be v{version()}")
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## \[{re.escape(version())}\] - \d{{4}}-\d\d-\d\d\n(.+?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        fail(f"CHANGELOG.md has no section with the heading: ## [{version()}] - YEAR-MONTH-DAY")
    return section[1].strip()


def build() -> None:
    """Build the source distribution, and the wheel from it, into an empty `dist/`, and look into both."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    run(sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))
    with zipfile.ZipFile(wheel()) as archive:
        held = set(archive.namelist())
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "irshape").rglob("*.py")}
    wanted |= {f"irshape/schemas/{path.name}" for path in (ROOT / "schemas").iterdir()}
    stray = {name for name in held - wanted if not name.startswith(f"irshape-{version()}.dist-info/") and name != "irshape/py.typed"}
    if wanted - held or stray:
        fail(f"the wheel lacks {sorted(wanted - held)}, and holds {sorted(stray)}, which is no part of the package")


def wheel() -> Path:
    """The one wheel in `dist/`."""
    wheels = list(DIST.glob("*.whl"))
    if len(wheels) != 1:
        fail(f"dist/ holds {len(wheels)} wheels: it must hold one, as `python tools/release.py build` leaves it")
    return wheels[0]


def try_out() -> None:
    """Install the wheel into a new environment, away from the sources, and use it."""
    with TemporaryDirectory() as folder:
        run(sys.executable, "-m", "venv", f"{folder}/venv")
        scripts = Path(folder) / "venv" / ("Scripts" if os.name == "nt" else "bin")
        run(str(scripts / "python"), "-m", "pip", "install", "-q", str(wheel()))
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")

        def prints(expected: str, *arguments: str, code: int = 0) -> None:
            command = [str(scripts / arguments[0]), *arguments[1:]]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
            if done.returncode != code or expected not in done.stdout:
                wrong = f"{' '.join(arguments)} ended with {done.returncode}, expected {code} and {expected!r} in its output"
                fail(f"{wrong}:\n{done.stdout}{done.stderr}")

        prints(f"irshape {version()}", "irshape", "--version")
        prints("no faults", "irshape", "infer", "examples/atrous.xml", "--input", "image[N,3,H,W]", "-o", "out.xml", "--weights", "copy")
        prints("no faults", "irshape", "check", "out.xml")
        prints("6 errors", "irshape", "check", "examples/faulty.xml", code=1)
        prints("H % 4", "irshape", "sizes", "examples/atrous.xml", "--input", "image[1,3,H,W]")
        prints('"ok": true', "irshape", "infer", "examples/decoder.xml", "--format", "json")
        prints("True", "python", "-c", "import irshape; print(irshape.infer('examples/atrous.xml').ok)")


def check() -> None:
    """Everything that must hold before a tag is made."""
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if changed:
        fail(f"commit or remove these files first, so that the release is what the tag names:\n{changed}")
    notes(f"v{version()}")
    if f"\nversion: {version()}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        fail(f"CITATION.cff does not state the version {version()}")
    build()
    try_out()
    print(f"irshape {version()} is ready: git tag v{version()}")


def run(*command: str) -> None:
    """Run a command and end with it if it fails."""
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
        fail(f"{' '.join(command)} ended with {code}")


def fail(message: str) -> NoReturn:
    """End with a message."""
    sys.exit(f"tools/release.py: {message}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check"]:
            check()
        case ["build"]:
            build()
        case ["try"]:
            try_out()
        case ["notes", tag]:
            print(notes(tag))
        case _:
            fail("give it one of these words: check, build, try, notes TAG")
