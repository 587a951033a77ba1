"""The JSON forms that several answers have of costs: amounts, constants by element type, and the costs of two models side by side."""

from __future__ import annotations

from typing import Any, Final

from irshape.report import form

AMOUNT: Final = form.Form(formula="text: a Python expression of the symbols, or a number", value="number: the number at the sizes `near`")
REFERENCE: Final = {"$ref": "#/$defs/amount"}


def shown(found: Any, whole: Any) -> dict[str, Any]:
    """An amount as JSON, with its number at the sizes `near` of the whole answer."""
    return {"formula": str(found), "value": whole.at(found)}


def shown_amount(about: str = "", get: form.Get = "") -> form.Field:
    """A member that is an amount, with its number at the sizes `near` of the whole answer."""
    return form.Field({**REFERENCE, "description": about} if about else REFERENCE, get, shown)


NEAR: Final = "numbers: the sizes at which values are given"
OF_TYPE: Final = form.Form(elements=("count", form.item(0)), bytes=("count", form.item(1)))

_SIDE: Final = form.Form(
    ("macs", "operations", "parameters", "parameter_bytes", "traffic", "peak_memory"),
    **dict.fromkeys(
        ("parameters", "parameter_bytes", "macs", "operations", "traffic", "peak_memory"), form.Field(AMOUNT.schema, convert=shown)
    ),
)
COMPARISON: Final = form.Form(summary="text", near=NEAR, a=_SIDE.one(), b=_SIDE.one())
