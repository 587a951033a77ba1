"""Which checks of a rule OpenVINO makes, and when: what the hooks `openvino_checks` of several operations share."""

from collections.abc import Callable
from typing import Any

from irshape.shape.guard import BOUNDS, STATIC, Looks, Requirement


def static(*codes: str) -> Callable[..., Looks]:
    """The hook of an operation of which OpenVINO checks requirements with these codes on static sizes only."""

    def openvino_checks(op: Any, ctx: Any, requirement: Requirement, *inputs: Any) -> Looks:
        return STATIC if requirement.code in codes else BOUNDS

    return openvino_checks
