"""The `<rt_info>` of an element: notes that OpenVINO and converters keep in a file, and that no shape depends on.

OpenVINO refuses a layer with a note that it cannot read, and with two of one name.
"""

from __future__ import annotations

import pyexpat
import re
from contextlib import suppress
from typing import Final, TypeAlias

from irshape.shape.element_type import ElementType
from irshape.xml.lexical import UNREADABLE_NOTES

RtInfo: TypeAlias = "dict[str, str | RtInfo]"
"""Notes by name: an `<attribute name="fused_names_0" version="0" value="relu"/>` is `{"fused_names_0": {"version": "0", "value": "relu"}}`,
any other element its attributes and children by their names."""


def rt_info(text: str) -> RtInfo:
    """The notes of the first `<rt_info>` that is a child of the element in `text`; empty if there is none.

    Of text that is not well-formed, the notes before the fault are given.
    """
    found: RtInfo = {}
    stack: list[RtInfo | None] = []  # the notes of the open elements; None outside of <rt_info>
    is_done = False

    def enter(tag: str, attributes: dict[str, str]) -> None:
        nonlocal is_done
        outer = stack[-1] if stack else None
        if outer is None:
            is_own = len(stack) == 1 and tag == "rt_info" and not is_done
            is_done |= is_own
            stack.append(found if is_own else None)
            return
        name = attributes.pop("name", tag) if tag == "attribute" else tag
        notes: RtInfo = {**attributes}
        outer[name] = notes
        stack.append(notes)

    parser = pyexpat.ParserCreate()
    parser.StartElementHandler = enter
    parser.EndElementHandler = lambda tag: stack.pop()
    with suppress(pyexpat.ExpatError):
        parser.Parse(text, True)
    return found


_BLANKS: Final = " \t\n\r\f\v"
_ALIASES: Final = {"B": "N", "BATCH": "N", "CHANNELS": "C", "DEPTH": "D", "HEIGHT": "H", "WIDTH": "W"}
_NUMBER: Final = re.compile(r"[ \t-\r]*([0-9]+)")
_MOST: Final = 2**64
_SHOWN: Final = 60


def complaint(name: str, attributes: dict[str, str]) -> str | None:
    """Why OpenVINO refuses a note of version 0; None if it reads the note."""
    if name in UNREADABLE_NOTES:
        return f"OpenVINO cannot read the note {name!r} from a file"
    if name == "layout" and (text := attributes.get("layout")) is not None and (reason := _layout_fault(text)):
        return f"layout={text[:_SHOWN]!r} is no layout: {reason}"
    value = attributes.get("value")
    if value is None:
        return None
    if name == "old_api_map_element_type" and value.lower() != "undefined" and ElementType.parse(value) is None:
        return f"the value {value[:_SHOWN]!r} of {name!r} is not an element type"
    if name == "old_api_map_order" and value and not _are_numbers(value):
        return f"the value {value[:_SHOWN]!r} of {name!r} is not a list of axes"
    return None


def _are_numbers(text: str) -> bool:
    """Whether each item of a list begins with a number; the last item may be empty."""
    items = text.split(",")
    found = [_NUMBER.match(item) for item in (items[:-1] if len(items) > 1 and not items[-1] else items)]
    return all(one is not None and len(one[1].lstrip("0")) <= 20 and int(one[1].lstrip("0") or "0") < _MOST for one in found)


def _layout_fault(text: str) -> str | None:
    """What is wrong of the text of a layout; None if OpenVINO reads it."""
    if not text:
        return None
    text = text.strip(_BLANKS)
    if text == "**SCALAR**":
        return None
    if not text:
        return "it is blank"
    if text.count("...") > 1:
        return "it holds '...' twice"
    names: list[str] = []
    if text.startswith("[") and text.endswith("]") and len(text) > 1:
        before, dots, behind = text[1:-1].partition("...")
        if dots:
            before, behind = before.strip(_BLANKS), behind.strip(_BLANKS)
            if (before and before[-1:] != ",") or (behind and behind[:1] != ","):
                return "a comma is missing beside '...'"
            before, behind = before[:-1] if before else "?", behind[1:].strip(_BLANKS) if behind else "?"
        for part in (before, behind) if dots else (before,):
            names += part.removesuffix(",").split(",")
    else:
        names += text.replace("...", "")
    return _names_fault([name.strip(_BLANKS) for name in names])


def _names_fault(names: list[str]) -> str | None:
    found: set[str] = set()
    for name in names:
        if name == "?":
            continue
        if not name:
            return "the name of an axis is empty"
        if not re.fullmatch("_*[A-Za-z0-9][A-Za-z0-9_]*", name):
            return f"{name!r} names no axis: a name is of letters, digits and _, and not of _ alone"
        own = _ALIASES.get(name.upper(), name.upper())
        if own in found:
            return f"the axis {own} is named twice"
        found.add(own)
    return None
