"""The oldest release of OpenVINO that can read a model, as far as OpenVINO's documentation tells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from irshape.ops.registry import RELEASES, opset
from irshape.report.form import Form
from irshape.report.text import some
from irshape.shape.element_type import ElementType

_MOST_NAMES: Final = 3
# The first release that reads each IR version.
_IR_VERSIONS: Final = {10: "2020.1", 11: "2022.1"}
# Element types whose first release is not documented: a release whose pages list the type, and the last release whose pages do not.
_ELEMENT_TYPES: Final = {
    **dict.fromkeys(("i4", "u4"), ("2021.4", None)),
    **dict.fromkeys(("nf4", "string"), ("2023.3", "2022.3")),
    **dict.fromkeys(("u2", "u3", "u6", "f8e4m3", "f8e5m2", "f4e2m1", "f8e8m0"), ("2024.6", "2023.3")),
}
# The release whose rules irshape follows. It has every opset, also those whose first release is not documented.
_KNOWN: Final = "2026.4"


class Need(NamedTuple):
    """A part of a model that release `by` certainly has, but no release before `earliest`, nor `earliest` itself if `is_after`."""

    by: str
    earliest: str
    is_after: bool
    reason: str


class Oldest(NamedTuple):
    """The oldest release that is known to read a model (None if no such release is known), and the reasons why.

    A release between `earliest` and `release` may read the model, too; `earliest` itself may not if `is_after`. `unknown` are parts of the
    model that no known release has.
    """

    release: str | None
    reasons: list[str]
    earliest: str | None
    is_after: bool
    unknown: list[str]

    @property
    def is_exact(self) -> bool:
        """Whether it is certain that no older release reads the model."""
        return self.release is not None and self.release == self.earliest and not self.is_after


OLDEST: Final = Form(
    release="text?: the oldest release that is known to read the model",
    reasons="texts: the reasons why no older release is known to",
    earliest="text?: no release before this one reads the model",
    is_after="flag: the earliest release does not read the model either",
    unknown="texts: the parts of the model that no release is known to support",
    is_exact="flag: no older release reads the model",
)


def oldest_release(ir_version: int, layers: Iterable[tuple[str, str]], types: Iterable[ElementType]) -> Oldest:
    """The oldest release for an IR version, for layers as pairs of type and version, and for element types."""
    needs: list[Need] = []
    unknown: list[str] = []
    if ir_version in _IR_VERSIONS:
        first = _IR_VERSIONS[ir_version]
        needs.append(Need(first, first, False, f"IR version {ir_version}"))
    users: dict[str, set[str]] = {}
    for type, version in layers:
        users.setdefault(version, set()).add(type)
    for version, names in sorted(users.items()):
        number = opset(version)
        reason = f"{version} ({some(sorted(names), _MOST_NAMES)})"
        if number is None:
            unknown.append(reason)
        elif number in RELEASES:
            needs.append(Need(RELEASES[number], RELEASES[number], False, reason))
        else:
            needs.append(Need(_KNOWN, RELEASES[max(RELEASES)], True, reason))
    late: dict[tuple[str, str | None], list[str]] = {}
    for name in sorted({one.name for one in types} & _ELEMENT_TYPES.keys()):
        late.setdefault(_ELEMENT_TYPES[name], []).append(name)
    for (by, lacking), late_types in late.items():
        reason = f"element type{'s' if len(late_types) > 1 else ''} {', '.join(late_types)}"
        needs.append(Need(by, lacking or min(RELEASES.values()), lacking is not None, reason))
    if not needs:
        return Oldest(None, [], None, False, unknown)
    release = max((need.by for need in needs), key=_order)
    last = max(needs, key=lambda need: (_order(need.earliest), need.is_after))
    return Oldest(release, [need.reason for need in needs if need.by == release], last.earliest, last.is_after, unknown)


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
