"""A mistake in the declaration of an operation."""

from __future__ import annotations


class Fault(ValueError):
    """A mistake in a declaration. `text` is the part of the file that is wrong, as it stands there, and `hint` is the next step."""

    def __init__(self, message: str, text: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.text = text
        self.hint = hint
