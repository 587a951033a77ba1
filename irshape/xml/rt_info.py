"""The `<rt_info>` of an element: notes that OpenVINO and converters keep in a file, and that no shape depends on."""

from __future__ import annotations

import pyexpat
from contextlib import suppress
from typing import TypeAlias

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

    def leave(tag: str) -> None:
        stack.pop()

    parser = pyexpat.ParserCreate()
    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    with suppress(pyexpat.ExpatError):
        parser.Parse(text, True)
    return found
