"""Named parts: a long formula is shown as a short one, `where e0 = …`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

# A part is worth a name from so many characters on.
_SHORTEST: Final = 8


class Parts:
    """Cuts long formulas into parts with names, `e0`, `e1`, ...; equal parts of several formulas have one name.

    `found` has the formula of each name.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._names: dict[str, str] = {}

    @property
    def found(self) -> dict[str, str]:
        """The formula of each name."""
        return {name: part for part, name in self._names.items()}

    def whole(self, text: str) -> str:
        """The name for a whole formula."""
        return self._names.setdefault(text, f"e{len(self._names)}")

    def cut(self, text: str) -> str:
        """The text, with names in place of parts if it is longer than it may be."""
        while len(text) > self._most:
            part = max(_bracketed(text), key=lambda part: (text.count(part) * (len(part) - 2), len(part)), default="")
            if len(part) < _SHORTEST or part == text:
                break
            text = text.replace(part, self.whole(part))
        return text


def _bracketed(text: str) -> Iterator[str]:
    """The parts of a formula in brackets that are no longer than half of it, with the name of the function before them."""
    starts: list[int] = []
    for position, character in enumerate(text):
        if character == "(":
            starts.append(position)
        elif character == ")" and starts:
            start = starts.pop()
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            part = text[start : position + 1]
            if len(part) <= max(len(text) // 2, _SHORTEST) and not part.startswith("in"):
                yield part
