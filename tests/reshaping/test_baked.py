"""Real models whose sizes OpenVINO has made numbers: asked to be open again, they compute what the original does, or are refused."""

import os
from pathlib import Path

import pytest

from tests.support.baking import Verdict, judged, table

DATA = Path(__file__).parent.parent / "data" / "ir"
FOLDERS = [DATA, *map(Path, os.environ.get("IRSHAPE_CORPUS", "").split(os.pathsep) if os.environ.get("IRSHAPE_CORPUS") else [])]
LARGEST = 3_000_000


def models() -> list[Path]:
    """The IRs with weights that are small enough."""
    found = [path for folder in FOLDERS for path in sorted(folder.rglob("*.xml"))]
    return [path for path in found if path.stat().st_size < LARGEST and path.with_suffix(".bin").exists()]


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_no_wish_is_granted_that_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[Verdict] = []
    for path in models():
        found += [one for one in judged(path) if one.result != "not asked"]
    with capsys.disabled():
        print(f"\n{table(found)}")
    assert [one for one in found if one.result == "wrong"] == []
    assert any(one.result == "equal" for one in found)
