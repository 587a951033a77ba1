"""Globs of a configuration, with the meaning that they have in a .gitignore.

All globs are one automaton, whose set of states is the bits of one number (Baeza-Yates and Gonnet): a path is read once, character by
character, however many globs there are and whatever stars they have.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

# The kinds of a part of a glob. Stars match any number of characters, also none: STAR in one folder, DEEP in all, FOLDERS whole folders.
_CHARACTER, _ANY, _SET, _STAR, _DEEP, _FOLDERS = range(6)
_STARS: Final = (_STAR, _DEEP, _FOLDERS)


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
        parts: list[_Part | None] = []
        starts: list[int] = []
        self._ends: list[int] = []
        for glob in globs:
            starts.append(len(parts))
            parts += _parts(glob)
            self._ends.append(len(parts))
            parts.append(None)  # where the glob has matched
        count = len(parts)

        def places(*kinds: int) -> int:
            return _bits((at for at, part in enumerate(parts) if part is not None and part.kind in kinds), count)

        self._stars = places(*_STARS)
        self._in_folder = places(_STAR, _DEEP)
        self._across = places(_DEEP)
        self._folders = places(_FOLDERS)
        self._any = places(_ANY)
        self._sets = [(at, part.text) for at, part in enumerate(parts) if part is not None and part.kind == _SET]
        literal: dict[str, list[int]] = {}
        for at, part in enumerate(parts):
            if part is not None and part.kind == _CHARACTER:
                literal.setdefault(part.text, []).append(at)
        self._literal = {character: _bits(found, count) for character, found in literal.items()}
        self._matching: dict[str, int] = {}
        self._first = self._closed(_bits(starts, count))
        self._last = _bits(self._ends, count)

    def names(self, path: str) -> bool:
        """Whether some glob names a relative path itself."""
        for state in self._states(path):
            last = state
        return bool(last & self._last)

    def covers(self, path: str) -> bool:
        """Whether some glob names a relative path or a folder above it."""
        return bool(self._covered(path))

    def covering(self, path: str) -> tuple[int, ...]:
        """The numbers of the globs that name a relative path or a folder above it."""
        if not (found := self._covered(path)):
            return ()
        bits = found.to_bytes(len(self._ends) + self._ends[-1] // 8 + 1, "little")
        return tuple(number for number, end in enumerate(self._ends) if bits[end >> 3] >> (end & 7) & 1)

    def _covered(self, path: str) -> int:
        found = 0
        for at, state in enumerate(self._states(path)):
            if at == len(path) or path[at] == "/":
                found |= state & self._last
        return found

    def _states(self, path: str) -> Iterator[int]:
        """The places in the globs that the beginning of a path may have reached, before each character and at the end."""
        state = self._first
        yield state
        for character in path:
            matching = self._matching.get(character)
            if matching is None:
                matching = self._matching[character] = self._matched_by(character)
            reached = (state & matching) << 1
            if character == "/":
                reached |= (state & self._folders) << 1 | state & self._across
            else:
                reached |= state & self._in_folder
            # Whoever is inside of a folder that FOLDERS matches leaves it at its end only.
            state = self._closed(reached) | state & self._folders
            yield state

    def _closed(self, state: int) -> int:
        """The places, and those behind stars that match nothing. No star follows another one."""
        return state | (state & self._stars) << 1

    def _matched_by(self, character: str) -> int:
        """The places whose part matches a character."""
        found = self._literal.get(character, 0)
        if character != "/":
            found |= self._any
            for at, text in self._sets:
                found |= _is_in(character, text) << at
        return found


def _bits(places: Iterable[int], count: int) -> int:
    """The number whose bits are the places."""
    bits = bytearray(count // 8 + 1)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")


def _parts(glob: str) -> Iterator[_Part]:
    """The parts of a glob, of which no star follows another one."""
    pattern = glob.removeprefix("./").rstrip("/")
    waiting = -1 if "/" in pattern else _FOLDERS
    for part in _tokens(pattern.removeprefix("/")):
        if part.kind in _STARS:
            # Folders and then any name are any path, and so are two stars of which one is deep.
            waiting = part.kind if waiting in (-1, part.kind) else _DEEP
            continue
        if waiting >= 0:
            yield _Part(waiting)
            waiting = -1
        yield part
    if waiting >= 0:
        yield _Part(waiting)


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
