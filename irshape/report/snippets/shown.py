"""Snippets as people read them: one text with both files, and the bytes of a `.bin`."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher


def changed_lines(bad: str, good: str) -> Iterator[str]:
    """All lines of both texts: those of the bad one alone after `-`, those of the good one alone after `+`."""
    old, new = bad.splitlines(), good.splitlines()
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in old[i:i_end])
        else:
            yield from (f"- {line}" for line in old[i:i_end])
            yield from (f"+ {line}" for line in new[j:j_end])


def bytes_text(data: bytes | None) -> str:
    """The bytes of a `.bin`, as text where they are text; None if there is no `.bin`."""
    if not data:
        return "there is none" if data is None else "it is empty"
    shown = data.decode("ascii") if data.isascii() and data.decode("ascii").isprintable() else data.hex(" ")
    return f"`{shown}` ({len(data)} bytes)"
