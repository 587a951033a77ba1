"""Globs of a configuration, with the meaning that they have in a .gitignore."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

_TOKEN: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]")
_MEANING: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def relative(path: str, folder: str) -> str:
    """A path relative to a folder, with slashes, as globs of the folder see it."""
    full = os.path.abspath(path)
    before = os.path.join(folder, "")
    short = full[len(before) :] if full.startswith(before) else full
    return short.replace(os.sep, "/")


def names(globs: Iterable[str], path: str) -> bool:
    """Whether some glob names a relative path itself."""
    return any(_matcher(glob)(path) for glob in globs)


def covers(globs: Iterable[str], path: str) -> bool:
    """Whether some glob names a relative path or a folder above it."""
    parts = path.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(_matcher(glob)(one) for glob in globs for one in above)


@lru_cache(256)
def _matcher(glob: str) -> Callable[[str], object]:
    """The matcher of a glob. Without a slash, the glob names files and folders at any depth; `*` stays in one folder, `**` does not."""
    pattern = glob.removeprefix("./").rstrip("/")
    where = "" if "/" in pattern else "(?:.*/)?"
    return re.compile(where + _translated(pattern.removeprefix("/")), re.DOTALL).fullmatch


def _translated(pattern: str) -> str:
    """The regular expression of a glob."""
    parts: list[str] = []
    at = 0
    for token in _TOKEN.finditer(pattern):
        parts += re.escape(pattern[at : token.start()]), _MEANING.get(token[0]) or _set(token[0])
        at = token.end()
    return "".join([*parts, re.escape(pattern[at:])])


def _set(token: str) -> str:
    """The regular expression of a set of characters: `[abc]`, `[!0-9]`."""
    inner = token[1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
    return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
