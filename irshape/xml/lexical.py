"""The texts that OpenVINO accepts in an IR. The general reader and the fast lane both use these definitions, so they cannot differ."""

from __future__ import annotations

import re
from typing import Final

from irshape.shape.dim import INT64_MAX

IR_VERSIONS: Final = (10, 11)
WHITE_SPACE: Final = " \t\r\n"
EDGE_ENDS: Final = ("from-layer", "from-port", "to-layer", "to-port")

# Where the <rt_info> of a net holds the texts of the shapes of its inputs, which irshape gave to an openvino.Model.
INPUTS: Final = ("irshape", "inputs")
# The operations that hold bodies: the tag of each body and the tag of its port map.
BODIES: Final = {
    "If": (("then_body", "then_port_map"), ("else_body", "else_port_map")),
    "Loop": (("body", "port_map"),),
    "TensorIterator": (("body", "port_map"),),
}
# The attributes of the entries of a port map that are numbers.
MAP_NUMBERS: Final = ("external_port_id", "internal_layer_id", "axis", "start", "end", "stride", "part_size")

# The notes of version 0 that OpenVINO reads.
KNOWN_NOTES: Final = frozenset({
    "DisablePrecisionConversion", "decompression", "fused_names", "layout", "memory_type", "old_api_map_element_type", "old_api_map_order",
    "precise", "preprocessing", "primitives_priority",
})  # fmt: skip
# The notes that OpenVINO knows and cannot read from a file, whatever their value.
UNREADABLE_NOTES: Final = frozenset({"DisableConstantFolding", "nms_selected_indices", "strides_propagation"})
# The notes of which one alone may be a fault.
DELICATE_NOTES: Final = UNREADABLE_NOTES | {"layout", "old_api_map_element_type", "old_api_map_order"}

# Every number of at most 18 digits is an int64, so such a number needs no further check.
SAFE_DIGITS: Final = 18
# std::stoll and a C++ stream skip the white space of the C locale and take a sign; neither knows a digit outside ASCII.
INTEGER: Final = r"[ \t-\r]*([+-]?[0-9]+)"


def to_int64(digits: str) -> int | None:
    """The value of a signed decimal number; None where it does not fit int64."""
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("+-").lstrip("0") or "0"
    if len(digits) > 19:
        return None
    value = sign * int(digits)
    return value if -INT64_MAX - 1 <= value <= INT64_MAX else None


def whole_number(text: str) -> int | None:
    """The value of a text that std::stoll takes as a whole, white space before the number included; None for any other text."""
    if len(text) <= SAFE_DIGITS and text.isdecimal() and text.isascii():
        return int(text)
    match = re.fullmatch(INTEGER, text)
    return to_int64(match[1]) if match else None


# The `offset` in a signature whose layers have offsets of their own.
SHARED_OFFSET: Final = "0"


def own_offset(text: str) -> int | None:
    """The `offset` of a Const where it is a decimal number in its shortest form; None for any other text.

    Such an offset belongs to the layer and not to its signature, so that constants of one type and shape share a signature.
    """
    if len(text) <= SAFE_DIGITS and text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0"):
        return int(text)
    return None
