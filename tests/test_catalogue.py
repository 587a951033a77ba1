"""The catalogue of codes and the code that reports them name the same codes, and every entry can be read."""

import re
from pathlib import Path

import pytest

from irshape.report.catalogue import CATALOGUE, Code

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "irshape"
SOURCES = "\n".join(
    path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "catalogue.py" and "snippets" not in path.parts
)
REPORTED = set(re.findall(r'"([XNGATSVWRPI]\d{3})"', SOURCES))


def test_what_is_reported_is_in_the_catalogue() -> None:
    assert not REPORTED - set(CATALOGUE)


def test_what_is_in_the_catalogue_is_reported() -> None:
    assert not set(CATALOGUE) - REPORTED


@pytest.mark.parametrize("code", CATALOGUE.values(), ids=list(CATALOGUE))
def test_code_is_explained(code: Code) -> None:
    assert code.severity in ("error", "warning", "note")
    assert code.severity == "warning" or not code.code.startswith("R")
    assert code.title and not code.title.endswith(".")
    for text in (code.meaning, code.why, code.fix):
        assert text.endswith(".") and not text[0].isspace()


def test_the_pages_have_every_code() -> None:
    """Each code has its own part on one page, and a row in the list of all."""
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "diagnostics").glob("*.md")]
    assert sorted(re.findall(r"^## (\w\d{3}) ", "\n".join(pages), re.MULTILINE)) == sorted(CATALOGUE)
    index = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[(\w\d{3})\]\(diagnostics/", index, re.MULTILINE)) == sorted(CATALOGUE)
