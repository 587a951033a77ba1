"""The names of tensors as a port writes them."""

from __future__ import annotations

from collections.abc import Iterable


def joined_names(names: Iterable[str]) -> str | None:
    """The text of a port with some names, each once; None for none."""
    return ",".join(name.replace(",", "\\,") for name in dict.fromkeys(names)) or None
