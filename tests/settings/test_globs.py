"""Globs name paths as in a .gitignore."""

import pytest

from irshape.settings.globs import Globs


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
    assert Globs([glob]).names(path) == is_named


def test_a_folder_covers_everything_below() -> None:
    assert Globs(["drafts"]).covers("a/drafts/deep/b.xml")
    assert Globs(["*.xml", "a/drafts"]).covers("a/drafts/b.txt")
    assert not Globs(["drafts"]).names("a/drafts/b.xml")
    assert not Globs(["drafts"]).covers("a/draft/b.xml")


@pytest.mark.parametrize("glob", ["[]", "[!]", "[z-a]", "[", "[]a]", "[a-]", "\\", "(", "**", "***", "/", "", "\0"])
def test_any_text_is_a_glob(glob: str) -> None:
    assert not Globs([glob, "a.xml"]).names("b/c.txt") or glob in ("**", "***")
    assert Globs([glob, "a.xml"]).names("a.xml")


def test_many_globs_are_told_apart() -> None:
    globs = Globs([f"m{number}*.xml" for number in range(2000)] + ["**/x/*", "m7"])
    assert globs.covering("a/m1999.xml") == (1, 19, 199, 1999)
    assert globs.covering("m7/x/b") == (2000, 2001)
    assert globs.covering("none") == ()


def test_stars_take_no_time_that_grows_beyond_the_path() -> None:
    """Of a backtracking matcher, each of these stars would double the work."""
    globs = Globs(["*a" * 500 + "c", "**/a/" * 500 + "c", "*" * 1000 + "c"])
    assert not globs.covers("a" * 4000)
    assert not globs.covers("a/" * 2000)
