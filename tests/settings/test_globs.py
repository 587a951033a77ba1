"""Globs name paths as in a .gitignore."""

import pytest

from irshape.settings.globs import covers, names


@pytest.mark.parametrize(
    ("glob", "path", "is_named"),
    [
        ("*.xml", "a/b.xml", True),
        ("a/*.xml", "a/b.xml", True),
        ("a/*.xml", "a/c/b.xml", False),
        ("a/**/b.xml", "a/b.xml", True),
        ("a/**/b.xml", "a/c/d/b.xml", True),
        ("a/**", "a/c/b.xml", True),
        ("**/old/*.xml", "old/a.xml", True),
        ("drafts", "x/drafts", True),
        ("/drafts", "x/drafts", False),
        ("./drafts/", "drafts", True),
        ("m[0-9].xml", "m1.xml", True),
        ("m[!0-9].xml", "m1.xml", False),
        ("m?.xml", "m/.xml", False),
        ("a.xml", "aXxml", False),
        ("a[b", "a[b", True),
    ],
)
def test_names(glob: str, path: str, is_named: bool) -> None:
    assert names([glob], path) == is_named


def test_a_folder_covers_everything_below() -> None:
    assert covers(["drafts"], "a/drafts/deep/b.xml")
    assert covers(["*.xml", "a/drafts"], "a/drafts/b.txt")
    assert not names(["drafts"], "a/drafts/b.xml")
    assert not covers(["drafts"], "a/draft/b.xml")
