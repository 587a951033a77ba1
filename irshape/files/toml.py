"""TOML that a stranger may have written: whatever the bytes are, the parser ends soon and says where a fault is."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

# Python's parser takes time that grows with the square of the parts of a dotted key.
_MOST_PARTS: Final = 256
_STRING: Final = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlFault(ValueError):
    """Bytes that are no TOML: the reason, and the line and column from 1, 0 where they are not known."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


def parse(data: bytes) -> tuple[str, dict[str, Any]]:
    """The text and the tables of a TOML file. Raises `TomlFault`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TomlFault(f"the file is not UTF-8: {error.reason}; save it as UTF-8") from None
    for number, written in enumerate(text.split("\n"), 1):
        if written.count(".") >= _MOST_PARTS and _STRING.sub("", written).count(".") >= _MOST_PARTS:
            raise TomlFault(f"a key has more than {_MOST_PARTS} parts", number, 1)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        if place is None:
            raise TomlFault(f"this is not TOML: {message}") from None
        line = int(place[1]) if place[1] else text.count("\n") + 1
        raise TomlFault(f"this is not TOML: {message[: place.start()]}", line, int(place[2] or 0)) from None
    except RecursionError:
        raise TomlFault("the file nests tables or lists too deeply") from None
    except ValueError:  # Python reads no number of so many digits
        raise TomlFault("this is not TOML: a number has too many digits") from None
