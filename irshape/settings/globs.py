"""Globs of a configuration, with the meaning that they have in a .gitignore.

A glob is read once, part by part, however long the path is and whatever stars the glob has: the places in the path that its parts have
reached are the bits of one number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

# The kinds of a part of a glob. Stars match any number of characters, also none: STAR in one folder, DEEP in all, FOLDERS whole folders.
_CHARACTER, _ANY, _SET, _STAR, _DEEP, _FOLDERS = range(6)


def relative(path: str, folder: str) -> str:
    """A path relative to a folder, with slashes, as globs of the folder see it."""
    return os.path.abspath(path).removeprefix(os.path.join(folder, "")).replace(os.sep, "/")


def place(glob: str) -> str:
    """The part of a glob before its first wildcard, as far as it is a path: the file or the folder that there must be."""
    pattern = glob.removeprefix("./").rstrip("/")
    fixed = re.split(r"[*?[]", pattern)[0]
    return (fixed if fixed == pattern and "/" in pattern else fixed.rpartition("/")[0]).lstrip("/")


class _Part(NamedTuple):
    """A part of a glob: its kind, and for a character or a set the characters."""

    kind: int
    text: str = ""


class Globs:
    """Some globs. Without a slash, a glob names files and folders at any depth; `*` stays in one folder, `**` does not."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._globs = [_parts(glob) for glob in globs]

    def names(self, path: str) -> bool:
        """Whether some glob names a relative path itself."""
        places = _Places(path)
        return any(places.reached(parts) & places.end for parts in self._globs)

    def covering(self, path: str) -> tuple[int, ...]:
        """The numbers of the globs that name a relative path or a folder above it."""
        places = _Places(path)
        return tuple(number for number, parts in enumerate(self._globs) if places.reached(parts) & places.ends)


globs_of = lru_cache(Globs)  # what matches these globs, made once


class _Places:
    """The places of a path, one before each character and one at its `end`, as bits of a number; `ends` are those where a name ends."""

    def __init__(self, path: str) -> None:
        self.end = 1 << len(path)
        self._before: dict[str, int] = {}
        for at, character in enumerate(path):
            self._before[character] = self._before.get(character, 0) | 1 << at
        self._slashes = self._before.pop("/", 0)
        self._others = (self.end - 1) & ~self._slashes
        self.ends = self.end | self._slashes

    def reached(self, parts: Iterable[_Part]) -> int:
        """The places at which the parts of a glob can end, of which the first begins where the path does."""
        found = 1
        for kind, text in parts:
            if not found:
                break
            if kind == _CHARACTER:
                found = (found & (self._slashes if text == "/" else self._before.get(text, 0))) << 1
            elif kind == _ANY:
                found = (found & self._others) << 1
            elif kind == _SET:
                found = sum(found & places for character, places in self._before.items() if _is_in(character, text)) << 1
            elif kind == _STAR:  # an addition carries each place to the end of its name
                found |= ((found & self._others) + self._others) ^ self._others
            else:
                behind = -(found & -found)  # the first of the places, and all behind it
                found |= ((self._slashes if kind == _FOLDERS else self.end - 1) & behind) << 1
        return found


def _parts(glob: str) -> list[_Part]:
    """The parts of a glob; a star that repeats the one before is left out, so that few parts remain for a path of few characters."""
    pattern = glob.removeprefix("./").rstrip("/")
    parts = [*([] if "/" in pattern else [_Part(_FOLDERS)]), *_tokens(pattern.removeprefix("/"))]
    return [part for before, part in zip([None, *parts], parts, strict=False) if part.kind < _STAR or part != before]


def _tokens(pattern: str) -> Iterator[_Part]:
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "*":
            deep = pattern[at : at + 3]
            kind, length = (_FOLDERS, 3) if deep == "**/" else (_DEEP, 2) if deep[:2] == "**" else (_STAR, 1)
            yield _Part(kind)
            at += length
            continue
        if character == "[":
            begin = at + 2 if pattern[at + 1 : at + 2] == "!" else at + 1
            end = pattern.find("]", begin + 1)  # a bracket that closes is one of the characters where it comes first
            if end >= 0:
                yield _Part(_SET, pattern[at + 1 : end])
                at = end + 1
                continue
        yield _Part(_ANY) if character == "?" else _Part(_CHARACTER, character)
        at += 1


def _is_in(character: str, text: str) -> bool:
    """Whether a set of characters has a character: `abc`, `a-z`, `!0-9`."""
    is_without = text.startswith("!")
    at, end = int(is_without), len(text)
    while at < end:
        last = text[at + 2] if text[at + 1 : at + 2] == "-" and at + 2 < end else text[at]
        if text[at] <= character <= last:
            return not is_without
        at += 3 if text[at + 1 : at + 2] == "-" and at + 2 < end else 1
    return is_without
