"""Which codes a run reports, and with which severity.

Codes are chosen by prefixes, as ruff chooses rules: `ALL`, `S`, `S2`, `S201`. A longer prefix beats a shorter one; of two equal ones, the
one that ignores wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from irshape.report.catalogue import CATALOGUE

ALL: Final = "ALL"
OFF: Final = "off"
PREFIXES: Final = dict.fromkeys((ALL, *(code[:length] for length in (1, 2, 3, 4) for code in CATALOGUE)))
"""Everything that may stand for codes, in the order of the catalogue, shorter ones first."""


class Choice(NamedTuple):
    """The prefixes that one place names: a configuration, its table for some files, or the command line.

    A `select` that is not None starts anew. `ignore` and `extend_select` change what the places before have chosen.
    """

    select: Sequence[str] | None = None
    ignore: Sequence[str] = ()
    extend_select: Sequence[str] = ()

    def decides(self, code: str) -> bool | None:
        """Whether this place chooses a code; None if it says nothing of the code."""
        wanted = _longest(code, (*(self.select or ()), *self.extend_select))
        unwanted = _longest(code, self.ignore)
        if max(wanted, unwanted) < 0:
            return None if self.select is None else False
        return wanted > unwanted


class Selection:
    """The choices of several places, each on top of those before, and the severities that replace those of the catalogue."""

    def __init__(self, choices: Iterable[Choice] = (), severities: Iterable[Mapping[str, str]] = ()) -> None:
        self._choices = tuple(choices)
        self._severities = tuple(severities)
        self._known: dict[str, str | None] = {}

    def severity(self, code: str, severity: str) -> str | None:
        """The severity with which a diagnostic of a code and severity is reported; None if it is not reported."""
        if code not in self._known:
            self._known[code] = self._level(code)
        level = self._known[code]
        return severity if level == "" else level

    def _level(self, code: str) -> str | None:
        """The severity that is set for a code, empty if none is; None if the code is not reported."""
        is_chosen = True
        for choice in self._choices:
            decision = choice.decides(code)
            is_chosen = is_chosen if decision is None else decision
        level, longest = "", -1
        for table in self._severities:
            prefix = max((one for one in table if matches(code, one)), key=specificity, default=None)
            if prefix is not None and specificity(prefix) >= longest:
                level, longest = table[prefix], specificity(prefix)
        return level if is_chosen and level != OFF else None

    def names(self, code: str) -> bool:
        """Whether a code is reported because some place selects it, not because everything is reported by default."""
        asked = [prefix for choice in self._choices for prefix in (*(choice.select or ()), *choice.extend_select)]
        return _longest(code, asked) >= 0 and self.severity(code, "") is not None

    @property
    def codes(self) -> list[str]:
        return [code for code in CATALOGUE if self.severity(code, "") is not None]


def matches(code: str, prefix: str) -> bool:
    """Whether a prefix names a code."""
    return prefix == ALL or code.startswith(prefix)


def specificity(prefix: str) -> int:
    """How much of a code a prefix names: 0 for `ALL`, 4 for a whole code."""
    return 0 if prefix == ALL else len(prefix)


def _longest(code: str, prefixes: Iterable[str]) -> int:
    return max((specificity(prefix) for prefix in prefixes if matches(code, prefix)), default=-1)


def checked_prefix(text: str) -> str:
    """The text, if some code begins with it or it is `ALL`; ValueError if not."""
    if text in PREFIXES:
        return text
    from difflib import get_close_matches

    upper = text[:60].upper()
    close = [upper] if upper in PREFIXES else get_close_matches(upper, CATALOGUE, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise ValueError(f"no code begins with {text[:60]!r}{hint}")
