"""The tests that need the standard library only, run inside Pyodide by `suite.mjs`.

A test that asks for something that Pyodide does not have is skipped, and the summary names what it asked for.
"""

import os
import subprocess
import sys
import threading
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing.context import BaseContext
from typing import Any, NoReturn

# Modules that Pyodide does not have here.
MODULES = {"jsonschema", "lxml", "networkx", "numpy", "openvino", "pydantic", "resource"}
# Functions that an operating system has and Pyodide has not.
FUNCTIONS: list[tuple[Any, str, str]] = [
    (subprocess.Popen, "__init__", "processes"),
    (os, "fork", "processes"),
    (ProcessPoolExecutor, "__init__", "processes"),
    (BaseContext, "Pipe", "processes"),
    (threading.Thread, "start", "threads"),
    (os, "link", "hard links"),
    (os, "openpty", "terminals"),
]
# Tests of a facility that Pyodide has in part only.
LEFT_OUT = {
    "tests/xml/test_xml_durability.py::test_the_mode_is_kept": "Pyodide has no umask",
    "tests/report/test_baseline.py::test_json_that_nests_too_deeply_is_no_baseline": "the parser of JSON ends Pyodide",
    "tests/scan/test_scan.py::test_a_row_that_was_cut_short_is_made_again": "Pyodide locks no file",
    "tests/ops/declared/test_file.py::test_a_formula_that_nests_too_deeply": "the parser of Python ends Pyodide",
}
# Tests of the texts of the modules, which are the same under every interpreter.
OF_TEXTS = ("tests/test_files.py", "tests/test_layers.py", "tests/test_size.py")

# Modules that no run on one file may load. tests/test_imports.py holds the same with processes; argparse chooses colours with `_colorize`.
HEAVY = {"_colorize", "dataclasses", "inspect", "json", "lxml", "multiprocessing", "numpy", "pathlib", "pydantic", "unittest"}
RUNS = [
    ["check", "examples/atrous.xml"],
    ["infer", "examples/atrous.xml", "--input", "image[N,3,H,W]"],
    ["explain", "examples/space_to_batch.xml", "0:4:2"],
]


class Missing:
    """Finds the modules that Pyodide does not have, and skips the test that imports one."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name in MODULES:
            skip(f"Pyodide has no {name}")


def skip(reason: str) -> NoReturn:
    """Skip the test, or the module of tests, that runs now. No `except Exception` between here and pytest catches this."""
    import pytest

    pytest.skip(reason, allow_module_level=True)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Skip the tests that are left out."""
    import pytest

    for item in items:
        name = item.nodeid.partition("[")[0]  # without parameters
        if name in LEFT_OUT:
            item.add_marker(pytest.mark.skip(reason=LEFT_OUT[name]))


def main(arguments: list[str]) -> int:
    """Run the command line as it is after the installation of Python alone, then the tests. Returns the exit code of pytest."""
    print(f"Python {sys.version}")
    assert sys.version_info[:2] == (3, 14), "tools/pyodide/run.py must name a version of Pyodide that is CPython 3.14"
    check_runs()

    import pytest

    for owner, name, what in FUNCTIONS:
        setattr(owner, name, lambda *_, reason=f"Pyodide has no {what}", **__: skip(reason))
    sys.meta_path.insert(0, Missing())
    options = ["-q", "-p", "no:cacheprovider", "-m", "not oracle and not corpus and not slow", *(f"--ignore={path}" for path in OF_TEXTS)]
    return int(pytest.main([*options, *arguments], plugins=[sys.modules[__name__]]))


def check_runs() -> None:
    """The command line runs on the standard library, and loads nothing heavy."""
    loaded = {name: sys.modules.pop(name) for name in HEAVY & sys.modules.keys()}  # by Pyodide itself
    from irshape.cli.main import main

    for words in RUNS:
        with redirect_stdout(StringIO()) as out:
            code = main(words)
        assert code == 0, f"irshape {' '.join(words)} ended with {code}:\n{out.getvalue()}"
        heavy = sorted(HEAVY & sys.modules.keys())
        assert not heavy, f"irshape {' '.join(words)} loads {', '.join(heavy)}"
    sys.modules.update(loaded)
