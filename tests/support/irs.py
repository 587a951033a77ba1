"""Real IRs: those that the tests carry, or for the long run all of the folder in IRSHAPE_CORPUS."""

import os
from pathlib import Path

from tests.support.places import IRS

PATHS = sorted(Path(os.environ.get("IRSHAPE_CORPUS") or IRS).glob("**/*.xml"))
# OpenVINO is given the weights in memory.
LARGEST_WEIGHTS = 5_000_000


def named(path: Path) -> str:
    """The id of a file in a test run."""
    return f"{path.parent.name}/{path.stem}"


def has_weights(path: Path) -> bool:
    """Whether the `.bin` is there and small; some IRs are carried without it."""
    weights = path.with_suffix(".bin")
    return weights.exists() and weights.stat().st_size <= LARGEST_WEIGHTS


WITH_WEIGHTS = [path for path in PATHS if has_weights(path)]
