"""The codes that are reported, chosen by prefixes as ruff chooses rules."""

import pytest

from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import Diagnostic, Diagnostics, Where
from irshape.report.selection import Choice, Selection, checked_prefix

CODES = ["S101", "S201", "S204", "W101", "R301"]


def chosen(*choices: Choice) -> list[str]:
    selection = Selection(choices)
    return [code for code in CODES if selection.severity(code, "error")]


@pytest.mark.parametrize(
    ("choices", "codes"),
    [
        ([], CODES),
        ([Choice(["ALL"])], CODES),
        ([Choice(["S"])], ["S101", "S201", "S204"]),
        ([Choice(["S2", "W101"])], ["S201", "S204", "W101"]),
        ([Choice([])], []),
        ([Choice(None, ["S2"])], ["S101", "W101", "R301"]),
        # The longer prefix wins, whichever of the two it is.
        ([Choice(["S"], ["S2"])], ["S101"]),
        ([Choice(["S201"], ["S2"])], ["S201"]),
        ([Choice(["S2"], ["S201"])], ["S204"]),
        ([Choice(["S2"], ["S2"])], []),
        ([Choice(["W"], ["S2"], ["S204"])], ["S204", "W101"]),
        # A place that selects starts anew; one that does not changes what was chosen.
        ([Choice(["S"], ["S204"]), Choice(["R", "S2"])], ["S201", "S204", "R301"]),
        ([Choice(["S"]), Choice(None, ["S101"], ["R"])], ["S201", "S204", "R301"]),
        ([Choice(None, ["R"]), Choice(None, (), ["R301"])], CODES),
    ],
)
def test_choices(choices: list[Choice], codes: list[str]) -> None:
    assert chosen(*choices) == codes


@pytest.mark.parametrize(
    ("tables", "level"),
    [
        ([], "warning"),
        ([{"R": "error"}], "error"),
        ([{"R": "error", "R301": "note"}], "note"),
        ([{"R301": "note"}, {"R": "error"}], "note"),
        ([{"R3": "note"}, {"R3": "error"}], "error"),
        ([{"ALL": "off"}], None),
        ([{"S": "off"}], "warning"),
    ],
)
def test_severities(tables: list[dict[str, str]], level: str | None) -> None:
    assert Selection([], tables).severity("R301", "warning") == level


def test_the_codes_of_a_selection() -> None:
    assert Selection().codes == list(CATALOGUE)
    assert Selection([Choice(["T"])], [{"T102": "off"}]).codes == ["T101"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s201", "no code begins with 's201'; did you mean S201?"),
        ("all", "no code begins with 'all'; did you mean ALL?"),
        ("S2011", "no code begins with 'S2011'; did you mean S201?"),
        ("", "no code begins with ''"),
    ],
)
def test_prefixes_that_name_no_code(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{message.replace('?', '[?]')}$"):
        checked_prefix(text)


def test_other_severities_keep_the_count_of_faults() -> None:
    """Two faults are listed and three counted; the one that is left out counts no more."""
    found = Diagnostics(most=2)
    for code in ("S201", "S201", "S201", "R301"):
        if found.has_room(code):
            found.append(Diagnostic(code, "message", Where()))
    judged = found.judged(lambda code, severity: "note" if code == "S201" else None)
    assert [(one.code, one.severity, one.count) for one in judged.listed()] == [
        ("S201", "note", 1),
        ("S201", "note", 1),
        ("S201", "note", 1),
    ]
    assert [(one.code, one.severity) for one in found] == [("S201", "error"), ("S201", "error"), ("R301", "warning")]
