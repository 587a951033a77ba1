"""Files that are derived from the code are those in the repository."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow("take long")
def test_generated_files_are_fresh() -> None:
    run = subprocess.run([sys.executable, "tools/generate.py", "--check"], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
