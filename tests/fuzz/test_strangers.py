"""What a stranger puts around IRs takes little work, and reads, tells and changes nothing that is not its own."""

import sys
from pathlib import Path

import pytest

from tests.fuzz.strangers import ATTACKS, tried

pytestmark = [
    pytest.mark.slow("take long"),
    pytest.mark.skipif(sys.platform != "linux", reason="the attacks need pipes, links and limits of processes"),
]


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_fails(name: str, tmp_path: Path) -> None:
    for module in ("fsspec", "aiohttp", "pydantic"):
        pytest.importorskip(module)
    assert tried(name, tmp_path).wrong == []
