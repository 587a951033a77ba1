"""Which release of OpenVINO can read a model, as far as its documentation tells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from irshape.ops.registry import RELEASES, opset
from irshape.shape.element_type import ElementType

# The first release that reads each IR version.
_IR_VERSIONS: Final = {10: "2020.1", 11: "2022.1"}
# Element types that came later than the opsets: the last release whose documentation lacks one, and the first known to list it.
_ELEMENT_TYPES: Final = {
    **dict.fromkeys(("nf4", "string"), ("2022.3", "2023.3")),
    **dict.fromkeys(("u2", "u3", "u6", "f8e4m3", "f8e5m2", "f4e2m1", "f8e8m0"), ("2023.3", "2024.6")),
}
# The release whose rules irshape has; it knows the opsets whose first release is documented nowhere.
_KNOWN: Final = "2026.4"


class Need(NamedTuple):
    """What a part of a model needs: a release `by` which it is known to be there; it is not in `after`, None if `by` has it first."""

    by: str
    after: str | None
    reason: str


class Oldest(NamedTuple):
    """The oldest release that is known to read a model, None if none is, and why no older one does.

    An older one may do, too, but none before `earliest`, nor that one itself if `is_after`. `unknown` is what no release is known to
    have.
    """

    release: str | None
    reasons: list[str]
    earliest: str | None
    is_after: bool
    unknown: list[str]

    @property
    def is_exact(self) -> bool:
        """Whether no older release reads the model."""
        return self.release is not None and self.release == self.earliest and not self.is_after

    def to_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "is_exact": self.is_exact}


def oldest_release(ir_version: int, layers: Iterable[tuple[str, str]], types: Iterable[ElementType]) -> Oldest:
    """The oldest release for an IR version, for layers of these types and versions, and for element types."""
    needs: list[Need] = []
    unknown: list[str] = []
    if ir_version in _IR_VERSIONS:
        needs.append(Need(_IR_VERSIONS[ir_version], None, f"IR version {ir_version}"))
    users: dict[str, set[str]] = {}
    for type, version in layers:
        users.setdefault(version, set()).add(type)
    for version, names in sorted(users.items()):
        number = opset(version)
        reason = f"{version} ({_listed(sorted(names))})"
        if number is None:
            unknown.append(reason)
        elif number in RELEASES:
            needs.append(Need(RELEASES[number], None, reason))
        else:
            needs.append(Need(_KNOWN, RELEASES[max(RELEASES)], reason))
    late: dict[tuple[str, str], list[str]] = {}
    for name in sorted({one.name for one in types} & _ELEMENT_TYPES.keys()):
        late.setdefault(_ELEMENT_TYPES[name], []).append(name)
    needs += [Need(by, after, f"element type{'s' if len(names) > 1 else ''} {', '.join(names)}") for (after, by), names in late.items()]
    if not needs:
        return Oldest(None, [], None, False, unknown)
    release = max((need.by for need in needs), key=_order)
    # Of a release that lacks something and one that has it first, the later one bounds; of the same, the lack does.
    earliest, is_after = max(((need.after or need.by, need.after is not None) for need in needs), key=lambda end: (_order(end[0]), end[1]))
    return Oldest(release, [need.reason for need in needs if need.by == release], earliest, is_after, unknown)


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
