"""Fixes as a unified diff: applying the diff is equal to applying the fixes, for any edits and line ends."""

import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from irshape import verbs
from irshape.diagnosis.fixes import mendable, mended_file
from irshape.report.diagnostic import Edit
from irshape.report.unified import unified
from tests.support.places import IRS
from tests.support.spoil import spoiled

CARRIED = sorted(IRS.glob("*/*.xml"))


def edits(source: str, *replaced: tuple[str, str]) -> list[Edit]:
    """Edits that turn one text into another, in order."""
    found, at = [], 0
    for old, new in replaced:
        start = source.index(old, at)
        at = start + len(old)
        places = [(source.count("\n", 0, place) + 1, place - source.rfind("\n", 0, place)) for place in (start, at)]
        found.append(Edit(len(source[:start].encode()), len(source[:at].encode()), new, *places[0], *places[1]))
    return found


def applied(source: str, diff: Iterable[str]) -> str:
    """The source with the diff applied as `patch` does it: every number and every line of context must be right."""
    old, new, at = re.findall(r"[^\n]*\n|[^\n]+", source), [], 0
    wanted = {" ": 0, "-": 0, "+": 0}
    for line in diff:
        if line.startswith(("--- ", "+++ ")):
            continue
        if head := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line):
            assert wanted["-"] == wanted["+"] == 0
            first, count, new_first, new_count = map(int, head.groups())
            new += old[at : first - 1]
            at = first - 1
            assert len(new) == new_first - 1
            wanted = {"-": count, "+": new_count}
            continue
        if line.startswith("\\"):
            last = sign  # noqa: F821 - of the line before
            if last != "-":
                new[-1] = new[-1].removesuffix("\n")
            continue
        sign, text = line[0], line[1:]
        if sign in " -":
            assert old[at].removesuffix("\n") == text
            at += 1
            wanted["-"] -= 1
        if sign in " +":
            new.append(text + "\n")
            wanted["+"] -= 1
    assert wanted["-"] == wanted["+"] == 0
    return "".join([*new, *old[at:]])


LINES = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.mark.parametrize(
    ("source", "replaced", "hunks"),
    [
        (LINES, [("line 1\n", "one\n")], ["-1,4 +1,4"]),
        (LINES, [("line 30", "thirty")], ["-27,4 +27,4"]),
        (LINES, [("line 10", "ten"), ("line 17", "x")], ["-7,14 +7,14"]),
        (LINES, [("line 10", "ten"), ("line 18", "x")], ["-7,7 +7,7", "-15,7 +15,7"]),
        (LINES, [("line 10\nline 11\n", ""), ("line 25", "a\nb\nc")], ["-7,8 +7,6", "-22,7 +20,9"]),
        (LINES, [("10", "10\nmore"), (" 11", " eleven"), ("line 1", "line one")], ["-8,8 +8,9"]),
        ("one line", [("one", "1")], ["-1,1 +1,1"]),
        ("a\nb", [("b", "c")], ["-1,2 +1,2"]),
        ("a\nb", [("a", "x\ny")], ["-1,2 +1,3"]),
        ("é\r\n\u2028ü\x0cb\r\nc\r\n", [("ü", "é"), ("b", "")], ["-1,3 +1,3"]),
    ],
)
def test_hunks(source: str, replaced: list[tuple[str, str]], hunks: list[str]) -> None:
    made = edits(source, *replaced)
    diff = list(unified("m.xml", source.encode(), "utf-8", made))
    assert diff[:2] == ["--- m.xml", "+++ m.xml"]
    assert [line.strip("@ ") for line in diff if line.startswith("@@")] == hunks
    expected, at = "", 0
    data = source.encode()
    for one in made:
        expected += data[at : one.start].decode() + one.text
        at = one.end
    assert applied(source, diff) == expected + data[at:].decode()


def test_no_edits_no_diff() -> None:
    assert list(unified("m.xml", b"\xff\n", "utf-8", [])) == []


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", CARRIED, ids=lambda path: f"{path.parent.name}/{path.stem}")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_the_diff_is_what_is_fixed(path: Path, encoding: str) -> None:
    text, _ = spoiled(path.read_bytes(), random.Random(path.stem))
    source = text.decode().encode(encoding)
    inference = verbs.check(source)
    diff = unified("m.xml", source, encoding, mendable(inference)[1])
    assert applied(text.decode(), diff) == mended_file(inference).decode(encoding)
