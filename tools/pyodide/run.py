"""Run the tests that need the standard library only under CPython 3.14, as Pyodide compiles it for WebAssembly: `make pyodide`.

The arguments are those of pytest: `python tools/pyodide/run.py tests/shape` runs a part. Pyodide comes from npm and runs in Node; pytest
comes from pip. Both are installed into `build/pyodide`. Nothing runs where `node` or `npm` is missing.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BUILD = ROOT / "build" / "pyodide"
PACKAGES = BUILD / "site-packages"

VERSION = "314.0.7"  # CPython 3.14.2


def main(arguments: list[str]) -> int:
    """Install what is missing and run the tests. Returns the exit code of pytest, 0 if Node or npm is missing."""
    programs = {name: shutil.which(name) for name in ("node", "npm")}
    missing = [name for name, path in programs.items() if path is None]
    if missing:
        print(f"skipped: the tests under Python 3.14 run in Pyodide, which needs Node and npm; not found: {', '.join(missing)}")
        return 0
    install()
    if not PACKAGES.is_dir():
        pure = ["--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", "3.14", "--only-binary", ":all:"]
        run(sys.executable, "-m", "pip", "install", "-q", *pure, "--target", str(PACKAGES), "pytest>=8.2")
    script = Path(__file__).with_name("suite.mjs")
    return subprocess.run([str(programs["node"]), str(script), *arguments], cwd=ROOT, check=False).returncode


def install() -> bool:
    """Install Pyodide into the build folder, unless it is there. Returns whether it is there now: not if npm is missing."""
    npm = shutil.which("npm")
    if installed_version() != VERSION and npm is not None:
        options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        run(npm, "install", *options, "--prefix", str(BUILD), f"pyodide@{VERSION}")
    return installed_version() == VERSION


def installed_version() -> str | None:
    """The version of Pyodide in the build folder, or None if there is none."""
    path = BUILD / "node_modules" / "pyodide" / "package.json"
    return json.loads(path.read_text(encoding="utf-8"))["version"] if path.exists() else None


def run(*command: str | None) -> None:
    """Run a command, and end with its exit code if it fails."""
    if code := subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
