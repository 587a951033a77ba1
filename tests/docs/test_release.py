"""What a release states of itself: one version, and a section of the changelog."""

import re
from pathlib import Path

import pytest

import irshape
from tests.support.places import ROOT
from tools import release


def test_the_citation_states_the_version() -> None:
    assert re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE) == [irshape.__version__]


@pytest.fixture
def changelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The changelog of a repository at version 1.2.3."""
    (tmp_path / "irshape").mkdir()
    (tmp_path / "irshape" / "version.py").write_text('__version__ = "1.2.3"\n', encoding="utf-8")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    return tmp_path / "CHANGELOG.md"


def test_the_notes_of_a_release_are_its_section(changelog: Path) -> None:
    changelog.write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-22\n\n- new\n\n## [1.2.2] - 2026-11-01\n\n- old\n", encoding="utf-8"
    )
    assert release.notes("v1.2.3") == "- new"


@pytest.mark.parametrize(
    ("tag", "text", "complaint"),
    [
        ("v1.2.4", "## [1.2.4] - 2026-11-22\n\n- new\n", "the tag must be v1.2.3"),
        ("v1.2.3", "## [Unreleased]\n\n- new\n", r"no section with the heading: ## \[1.2.3\]"),
    ],
)
def test_a_tag_that_fits_nothing_is_refused(tag: str, text: str, complaint: str, changelog: Path) -> None:
    changelog.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=complaint):
        release.notes(tag)
