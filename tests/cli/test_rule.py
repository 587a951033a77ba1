"""`irshape rule`: the catalogue of codes on the command line."""

import json

import pytest

from irshape.report.catalogue import CATALOGUE, FAMILIES
from irshape.report.snippets import SNIPPETS
from tests.support.commands import Start


def test_a_code_is_explained(run: Start) -> None:
    done = run("rule", "s201")
    lines = done.lines
    entry = CATALOGUE["S201"]
    assert done.code == 0
    assert lines[:6] == ["S201  dimensions differ  (error)", "", entry.meaning, "", f"Why it matters: {entry.why}", ""]
    assert "What to do: Change the shape of one of the tensors." in done.out
    assert "irshape check model.xml reports the code for this file." in lines
    assert [line for line in lines if line.startswith(("-", "+"))] == [
        '-     <port id="1" precision="FP32"> <dim>3</dim> <dim>9</dim> </port>',
        '+     <port id="1" precision="FP32"> <dim>3</dim> <dim>8</dim> </port>',
    ]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("R302", "Fix: irshape check --fix corrects the file where there is one way to do so."),
        ("A103", "Fix: irshape check proposes a fix. Check that it is the one you want."),
        ("S201", "Fix: irshape has no fix for this."),
        ("X111", "irshape check model.xml --limit layers=1 reports the code for this file,\nirshape check model.xml does not."),
        ("W101", "model.bin with the fault: it is empty. Without it: 02 00"),
        ("I104", "signal"),
    ],
)
def test_what_a_page_says(run: Start, code: str, text: str) -> None:
    assert text in run("rule", code).out


def test_all_codes_are_listed_and_explained(run: Start) -> None:
    listed = run("rule").lines
    assert [line.split()[0] for line in listed if line.startswith("  ")] == sorted(
        CATALOGUE, key=lambda code: list(FAMILIES).index(code[0])
    )
    assert [line.split()[0] for line in listed if line and not line.startswith(" ")] == list(FAMILIES)
    out = run("rule", "--all").out
    assert [code for code, entry in CATALOGUE.items() if f"{code}  {entry.title}  ({entry.severity})" not in out] == []


def test_a_prefix_names_several_codes(run: Start) -> None:
    assert [one["code"] for one in json.loads(run("rule", "T", "--format", "json").out)] == ["T101", "T102"]


def test_json(run: Start) -> None:
    found = json.loads(run("rule", "S201", "--format", "json").out)
    snippet = SNIPPETS["S201"]
    assert found["bad"] == {"command": "irshape check model.xml", "xml": snippet.bad.xml, "weights": ""}
    assert (found["severity"], found["fix"], found["condition"]) == ("error", None, None)
    assert len(json.loads(run("rule", "--format", "json").out)) == len(CATALOGUE)
