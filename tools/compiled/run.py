"""Build the compiled wheel, run tests with it, and compare its reports with those of the interpreter: `make compiled`.

The arguments are those of pytest: `python tools/compiled/run.py tests/shape` runs a part, `tests/fuzz -m slow` long tests. A copy of the
repository takes the compiled modules, so the sources stay as they are. It stands elsewhere, because irshape looks for a configuration in
the folders above. Nothing runs where there is no C compiler.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent.parent

# The tests of the modules that are compiled, and of what stands on them. OpenVINO has been asked about the same rows already.
TESTS = ["answers", "fuzz", "inference", "model", "ops", "shape", "xml", "test_compiled.py", "test_imports.py", "test_pickling.py"]
IS_COMPILED = """
from importlib.machinery import EXTENSION_SUFFIXES
from irshape.shape import dim
assert dim.__file__.endswith(tuple(EXTENSION_SUFFIXES)), f"{dim.__file__} is not compiled"
"""


def main(arguments: list[str]) -> int:
    """Build, test and compare. Returns 0 if all of this is well or no compiler is found."""
    missing = needed()
    if missing is not None:
        print(f"skipped: the tests of the compiled wheel need {missing}; Debian and Ubuntu have it in the packages gcc and python3-dev")
        return 0
    tests = arguments or [*[f"tests/{part}" for part in TESTS], "-m", "not oracle and not slow"]
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        build(tree)
        run(tree, sys.executable, "-c", IS_COMPILED)
        run(tree, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "auto", *tests)
        return compare(tree)


def needed() -> str | None:
    """What a build needs and this machine lacks."""
    compiler = shlex.split(os.environ.get("CC", "") or sysconfig.get_config_var("CC") or "cc")[0]
    if os.name != "nt" and shutil.which(compiler) is None:
        return f"a C compiler ({compiler})"
    header = Path(sysconfig.get_path("include")) / "Python.h"
    return None if header.exists() else f"the header of Python ({header})"


def build(tree: Path) -> None:
    """Copy the files of the repository, build the wheel from a source distribution of the copy, and unpack it over the copy.

    The environment that builds has nothing but the tool that does so, as on a machine that installs the source distribution.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    venv.create(tree.parent / "empty", with_pip=True)
    python = str(tree.parent / "empty" / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    run(tree, python, "-m", "pip", "install", "-q", "build")
    run(tree, python, "-m", "build", "--outdir", str(tree.parent), ".", HATCH_BUILD_HOOK_ENABLE_MYPYC="1")
    (wheel,) = tree.parent.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tree)
    print(f"built {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")


def compare(tree: Path) -> int:
    """Compare the reports of both libraries. Returns 1 if one differs."""
    found = []
    for name, folder in (("interpreted", ROOT), ("compiled", tree)):
        path = tree.parent / f"{name}.json"
        if code := subprocess.run([sys.executable, "-m", "tools.compiled.reports", str(path)], cwd=folder, check=False).returncode:
            return code
        found.append(json.loads(path.read_text(encoding="utf-8")))
    interpreted, compiled = found
    different = [name for name in interpreted if interpreted[name] != compiled.get(name)]
    for name in different[:10]:
        print(f"{name}: the reports differ")
        for part, expected in interpreted[name].items():
            if (got := compiled.get(name, {}).get(part)) != expected:
                print(f"  {part}: interpreted {str(expected)[:300]}\n  {part}: compiled    {str(got)[:300]}")
    print(f"{len(interpreted)} reports of the interpreter and the compiled modules: {len(different)} differ")
    return int(bool(different) or interpreted.keys() != compiled.keys())


def run(tree: Path, *command: str, **environment: str) -> None:
    """Run a command in the copy, and end with its exit code if it fails."""
    if code := subprocess.run(command, cwd=tree, env={**os.environ, **environment}, check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
