"""The compiled wheel holds what pyproject.toml lists; `make compiled` runs this file with it."""

import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from irshape.shape.dim import IS_COMPILED
from tests.support.places import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"][
    "mypyc"
]
MODULES = [path.removeprefix("/") for path in SETTINGS["include"]]


@pytest.mark.parametrize("path", MODULES)
def test_a_listed_module_is_compiled_in_the_compiled_wheel_alone(path: str) -> None:
    assert (ROOT / path).is_file()
    module = import_module(path.removesuffix(".py").replace("/", "."))
    suffixes = tuple(EXTENSION_SUFFIXES) if IS_COMPILED else (".py",)
    assert module.__file__ is not None
    assert module.__file__.endswith(suffixes)


def test_no_wheel_is_compiled_unless_it_is_asked_for() -> None:
    assert SETTINGS["enable-by-default"] is False


@pytest.mark.slow("need type checkers or linters")
def test_the_compiled_modules_are_typed_without_any_package() -> None:
    """mypyc makes code of them where a wheel is built, and nothing else is installed there."""
    command = [sys.executable, "-m", "mypy", "--no-site-packages", "--config-file=tools/mypyc.toml", *MODULES]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
