"""The layout of a report: alignment, terminals of any width, colour only on request."""

import io
from collections import Counter

import pytest

from irshape.report.diagnostic import Diagnostic, Where
from irshape.report.text import Palette, cells, diagnostic_lines, escape, harmless, pad, shorten, table, verdict

PLAIN, COLOURED = Palette(False), Palette(True)
HEAD = ("ID", "LAYER", "TYPE", "SHAPE", "FORMULA")
ROWS = [
    ("0", "image", "Parameter", "f32[?,3,?,?]", "[N,3,H,W]"),
    ("12", "backbone/stage_1/block_1/convolution", "Convolution", "f32[?,64,?,?]", "[N,64,(H + 1)//2,(W + 1)//2]"),
]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("conv1", "conv1"),
        ("größe 大小", "größe 大小"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\u202eright\u2066to\u2069left\u200b", r"\u202eright\u2066to\u2069left\u200b"),
        ("two\u2028lines\u2029", r"two\u2028lines\u2029"),
        ("\ufefflone\udcff", r"\ufefflone\udcff"),
    ],
)
def test_what_cannot_be_printed_is_spelled_out(text: str, escaped: str) -> None:
    assert escape(text) == escaped
    assert escape(text).isprintable()


def test_a_terminal_gives_wide_characters_two_columns_and_accents_none() -> None:
    assert [cells(text) for text in ("abc", "大小", "e\u0301")] == [3, 4, 1]
    assert pad("大小", 6) == "大小  "


@pytest.mark.parametrize(("text", "width", "short"), [("abcdef", 6, "abcdef"), ("abcdefgh", 6, "ab…fgh"), ("大大大大", 5, "大…大")])
def test_the_middle_of_a_long_name_is_left_out(text: str, width: int, short: str) -> None:
    assert shorten(text, width) == short
    assert cells(short) <= width


def test_columns_are_aligned() -> None:
    assert list(table(HEAD, ROWS, PLAIN)) == [
        "ID  LAYER                                 TYPE         SHAPE          FORMULA",
        " 0  image                                 Parameter    f32[?,3,?,?]   [N,3,H,W]",
        "12  backbone/stage_1/block_1/convolution  Convolution  f32[?,64,?,?]  [N,64,(H + 1)//2,(W + 1)//2]",
    ]


def test_names_give_way_on_a_narrow_terminal() -> None:
    assert list(table(HEAD, ROWS, PLAIN, 80)) == [
        "ID  LAYER               TYPE         SHAPE          FORMULA",
        " 0  image               Parameter    f32[?,3,?,?]   [N,3,H,W]",
        "12  backbone…nvolution  Convolution  f32[?,64,?,?]  [N,64,(H + 1)//2,(W + 1)//2]",
    ]


def test_shapes_go_below_on_a_very_narrow_terminal() -> None:
    assert list(table(HEAD, ROWS, PLAIN, 40))[3:] == [
        " 0  image                    Parameter",
        "    f32[?,3,?,?]",
        "    [N,3,H,W]",
        "12  backbone/st…convolution  Convolution",
        "    f32[?,64,?,?]",
        "    [N,64,(H + 1)//2,(W + 1)//2]",
    ]


@pytest.mark.parametrize("width", [1, 10, 30, 60, 100, 1000])
def test_any_width_is_a_width(width: int) -> None:
    text = "\n".join(table(HEAD, ROWS, PLAIN, width))
    assert all(shape in text for *_, shape, _ in ROWS)


def test_colour_changes_nothing_but_colour() -> None:
    plain, coloured = (list(table(HEAD, ROWS, palette, 80)) for palette in (PLAIN, COLOURED))
    assert [strip(line) for line in coloured] == plain
    assert coloured != plain


def strip(text: str) -> str:
    """A text without its colours."""
    for name in Palette.__slots__:
        text = text.replace(str(getattr(COLOURED, name)), "")
    return "\n".join(line.rstrip() for line in text.split("\n"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("when", "stream", "environment", "is_coloured"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_colour_is_for_terminals(
    monkeypatch: pytest.MonkeyPatch, when: str, stream: io.StringIO, environment: dict[str, str], is_coloured: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert bool(Palette.choose(when, stream).error) == is_coloured


WHERE = Where("m.xml", "3", "s2d", "SpaceToDepth", None, 7, 5, 120)


@pytest.mark.parametrize(
    ("diagnostic", "lines"),
    [
        (Diagnostic("S204", "7 is odd", WHERE), ["m.xml:7:5: S204 7 is odd [SpaceToDepth s2d]"]),
        (
            Diagnostic("R104", "what is it?", WHERE, hint="leave it out"),
            ["m.xml:7:5: R104 warning: what is it? [SpaceToDepth s2d]", "    hint: leave it out"],
        ),
        (Diagnostic("X101", "cut", Where("m.xml", line=2, column=1)), ["m.xml:2:1: X101 cut"]),
        (Diagnostic("W101", "none", Where()), ["<input>: W101 none"]),
        (
            Diagnostic(
                "T102", "differ", Where("m.xml", "3", "", "Add", "1", 7, 5, path="loop / body"), related=(Where("m.xml", line=4, column=2),)
            ),
            ["m.xml:7:5: T102 differ [loop / body / Add layer 3, port 1]", "    see m.xml:4:2"],
        ),
    ],
)
def test_a_fault_takes_a_line(diagnostic: Diagnostic, lines: list[str]) -> None:
    assert list(diagnostic_lines(diagnostic, PLAIN)) == lines
    assert strip("\n".join(diagnostic_lines(diagnostic, COLOURED))) == "\n".join(lines)


def test_long_names_are_cut_on_terminals_only() -> None:
    where = Where("m.xml", "3", f"{'block/' * 9}s2d", "SpaceToDepth", None, 7, 5, 120)
    diagnostic = Diagnostic("S204", "7 is odd", where)
    assert list(diagnostic_lines(diagnostic, PLAIN)) == [f"m.xml:7:5: S204 7 is odd [SpaceToDepth {where.layer_name}]"]
    [line] = diagnostic_lines(diagnostic, Palette(False, is_narrow=True))
    assert line == "m.xml:7:5: S204 7 is odd [SpaceToDepth block/block/block/block…ck/block/block/block/s2d]"


@pytest.mark.parametrize(
    ("severities", "text"),
    [("", "no faults"), ("e", "1 error"), ("eew", "2 errors, 1 warning"), ("wwn", "2 warnings, 1 note")],
)
def test_verdict_counts(severities: str, text: str) -> None:
    names = {"e": "error", "w": "warning", "n": "note"}
    assert verdict(Counter(names[letter] for letter in severities)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error file=a::b", "\\x3a:error file=a::b"),
        ("inputs\n  ::error::b", "inputs\n  \\x3a:error::b"),
        ("\x1b[36m::error::b", "\x1b[36m\\x3a:error::b"),
        ("  \x1b[1m\x1b[36m::error::b", "  \x1b[1m\x1b[36m\\x3a:error::b"),
        ("x ##[error]b", "x \\x23#[error]b"),
        ("##vso[task.setvariable]", "\\x23#vso[task.setvariable]"),
        ("std::vector ## 2", "std::vector ## 2"),
    ],
)
def test_no_name_is_a_command_of_a_runner(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_a_report_of_commands_holds_no_others() -> None:
    assert harmless("::error file=a::##[b]\n::notice::##vso[c]", has_commands=True) == "::error file=a::\\x23#[b]\n::notice::\\x23#vso[c]"
