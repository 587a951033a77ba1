"""The scripts of the page: their types, their number of lines, and that the check knows each of them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from irshape.page.html import _SCRIPTS
from tests.support.places import ROOT
from tools.vendor import ASSETS, LIBRARIES

pytestmark = pytest.mark.slow("need type checkers or linters")

CONFIGURATION = ROOT / "tools" / "page" / "tsconfig.json"


def test_the_types_of_the_scripts_are_right() -> None:
    """`make page-types` runs this with TypeScript from npm."""
    compiler = os.environ.get("IRSHAPE_TSC") or shutil.which("tsc")
    if compiler is None:
        pytest.skip("the check of the page's scripts needs TypeScript; `make page-types` takes it from npm")
    found = subprocess.run([compiler, "-p", str(CONFIGURATION)], capture_output=True, text=True, check=False)
    assert found.stdout == ""


def test_every_script_is_checked() -> None:
    files = json.loads(CONFIGURATION.read_text(encoding="utf-8"))["files"]
    assert [Path(file).name for file in files[1:]] == list(_SCRIPTS)


def test_the_scripts_stay_small() -> None:
    own = set(ASSETS.glob("*.js")) - {ASSETS / Path(library.file).name for library in LIBRARIES}
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in own) < 3_000
