"""Names: those of tensors as a port writes them, and those that resemble a name that nothing has."""

from __future__ import annotations

import re
from collections.abc import Iterable


def split_names(text: str | None) -> list[str]:
    """The names in the text of a port."""
    return [name.replace("\\,", ",") for name in re.split(r"(?<!\\),", text or "") if name]


def joined_names(names: Iterable[str]) -> str | None:
    """The text of a port with some names, each once; None for none."""
    return ",".join(name.replace(",", "\\,") for name in dict.fromkeys(names)) or None


def similar(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that nothing has: a name that resembles it."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), 1)
    return f"; did you mean {found[0]!r}?" if found else ""
