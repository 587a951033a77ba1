"""What a file may ask for: every limit by its name, with what irshape does when it is reached."""

import re
from typing import Final, NamedTuple


class Limits(NamedTuple):
    """How much of everything a file may have before irshape says so and stops, or goes on without it.

    Reading stops at `size` (bytes of the file), `text` (characters of an attribute), `depth` (bodies inside bodies) and `layers`
    (of all graphs). A layer fails beyond `rank` (axes of a tensor, items of an attribute) and `parts` (outputs of a split). Values
    of more than `elements` are not followed, and the parts of a formula of more than `terms`, or of more than `levels` of operations
    inside operations, get names of their own. Of each code `faults` are listed and the others counted.
    """

    size: int = 1 << 30
    text: int = 10_000_000
    depth: int = 64
    layers: int = 1_000_000
    rank: int = 10_000
    parts: int = 100_000
    elements: int = 1024
    terms: int = 24
    levels: int = 16
    faults: int = 1_000

    def changed(self, text: str) -> "Limits":
        """These with another value for one, written `depth=128`; ValueError where that is no limit or no number from 1."""
        name, equals, value = text.partition("=")
        if not equals or name not in self._fields:
            raise ValueError(f"{text[:60]!r} is not NAME=N with one of the names {', '.join(self._fields)}")
        if not re.fullmatch(r"0*[1-9]\d{0,17}", value, re.ASCII):
            raise ValueError(f"{name} must be a whole number from 1, not {value[:60]!r}")
        if int(value) > _MOST.get(name, int(value)):
            raise ValueError(f"{name} must be at most {_MOST[name]}, not {value}")
        return self._replace(**{name: int(value)})


# Formulas are written level by level, each inside the one before.
_MOST: Final = {"levels": 64}
DEFAULT: Final = Limits()
