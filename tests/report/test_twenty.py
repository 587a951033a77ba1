"""A file with twenty planted faults of different kinds: each is found at its line, and no other fault is reported."""

import re
from pathlib import Path

import pytest

import irshape
from tests.support.oracle import core

FILE = Path(__file__).parent.parent / "data" / "twenty.xml"
PLANTED = [
    (number, code)
    for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1)
    for code in re.findall(r"<!-- ([A-Z]\d{3}) -->", line)
]


def test_every_planted_fault_is_found_and_nothing_else() -> None:
    found = [(d.where.line, d.code) for d in irshape.check(FILE).diagnostics]
    assert sorted(found) == PLANTED


def test_twenty_kinds_are_planted() -> None:
    codes = {code for _, code in PLANTED}
    assert len(PLANTED) == len(codes) == 20
    assert {code[0] for code in codes} == set("XGATSVW")


@pytest.mark.oracle
def test_openvino_refuses_the_file() -> None:
    with pytest.raises(RuntimeError):
        core().read_model(FILE)
