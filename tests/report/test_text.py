"""The layout of a report: alignment, terminals of any width, colour only on request."""

import io
from collections import Counter

import pytest

from irshape.answers.wording import Parts, spoken, where
from irshape.cli.texts import table
from irshape.report.diagnostic import Diagnostic, Where
from irshape.report.notebook import html
from irshape.report.section import (
    Block,
    Column,
    Either,
    Few,
    Fit,
    Item,
    Prose,
    Relation,
    Section,
    Span,
    Table,
    bold,
    facts,
    fault,
    key,
    named,
    paragraph,
)
from irshape.report.terminal import block_lines, lines, shortened
from irshape.report.text import Palette, cells, escape, harmless, shorten, verdict

COLOURED = Palette(True)
HEAD = ("ID", "LAYER", "TYPE", "SHAPE", "FORMULA")
ROWS = [
    ("0", "image", "Parameter", "f32[?,3,?,?]", "[N,3,H,W]"),
    ("12", "backbone/stage_1/block_1/convolution", "Convolution", "f32[?,64,?,?]", "[N,64,(H + 1)//2,(W + 1)//2]"),
]
TABLE = [table(HEAD, ROWS)]


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


@pytest.mark.parametrize(("text", "width", "short"), [("abcdef", 6, "abcdef"), ("abcdefgh", 6, "ab…fgh"), ("大大大大", 5, "大…大")])
def test_the_middle_of_a_long_name_is_left_out(text: str, width: int, short: str) -> None:
    assert shorten(text, width) == short
    assert cells(short) <= width


NAMES = [f"model.layers.{layer}.self_attn/aten::scaled_dot_product_attention/ScaledDotProductAttention" for layer in (0, 1, 10)]
LONG = [table(HEAD[:3], [("1", one, "ReLU") for one in NAMES])]
ALIKE = [table(HEAD, [("1", f"net.{block}.self_attention.query/MatMul", "MatMul", "f32[1,2]", "[1,2]") for block in (11, 12)])]


@pytest.mark.parametrize(("rows", "width", "expected"), [
    (TABLE, 0, [
        "ID  LAYER                                 TYPE         SHAPE          FORMULA",
        " 0  image                                 Parameter    f32[?,3,?,?]   [N,3,H,W]",
        "12  backbone/stage_1/block_1/convolution  Convolution  f32[?,64,?,?]  [N,64,(H + 1)//2,(W + 1)//2]",
    ]),
    # Names give way on a narrow terminal, and shapes go below on a very narrow one.
    (TABLE, 86, [
        "ID  LAYER                     TYPE         SHAPE          FORMULA",
        " 0  image                     Parameter    f32[?,3,?,?]   [N,3,H,W]",
        "12  backbone/st…/convolution  Convolution  f32[?,64,?,?]  [N,64,(H + 1)//2,(W + 1)//2]",
    ]),
    (TABLE, 40, [
        " 0  image                    Parameter",
        "    f32[?,3,?,?]  [N,3,H,W]",
        "12  backbone/st…convolution  Convolution",
        "    f32[?,64,?,?]",
        "    [N,64,(H + 1)//2,(W + 1)//2]",
    ]),
    (ALIKE, 40, [" 1  net.12.self_a…n.query/MatMul  MatMul", "    f32[1,2]  [1,2]"]),
    # A pipe gets long names whole and aligned, and a shortened name keeps what differs.
    (LONG, 0, [f" 1  {name:{len(NAMES[2])}}  ReLU" for name in NAMES]),
    (LONG, 60, [
        " 1  model.layers.0.self_att…caledDotProductAttention  ReLU",
        " 1  model.layers.1.self_att…caledDotProductAttention  ReLU",
        " 1  model.layers.10.self_at…caledDotProductAttention  ReLU",
    ]),
])  # fmt: skip
def test_columns_are_aligned(rows: list[Table], width: int, expected: list[str]) -> None:
    assert list(block_lines(rows, *([Palette(False, width)] if width else [])))[-len(expected) :] == expected


@pytest.mark.parametrize("width", [1, 10, 30, 60, 100, 1000])
def test_any_width_is_a_width(width: int) -> None:
    text = "\n".join(block_lines(TABLE, Palette(False, width)))
    assert all(shape in text for *_, shape, _ in ROWS)


@pytest.mark.parametrize(
    ("texts", "width", "short"),
    [
        (["a" * 20 + "1" + "b" * 20, "a" * 20 + "23" + "b" * 20], 12, ["…aa1bb…bbbb", "…aa23bb…bbbb"]),
        (["a" * 20 + "1" * 9 + "b" * 20, "a" * 20 + "2" * 9 + "b" * 20], 9, ["aaaa…bbbb"] * 2),
        (["a1" + "b" * 20, "a2" + "b" * 20], 9, ["a1bb…bbbb", "a2bb…bbbb"]),
        (["b" * 20 + "1a", "b" * 20 + "2a", "b"], 9, ["bbbb…bb1a", "bbbb…bb2a", "b"]),
        (
            [f"net.blocks.{block}.self.attention/{layer}" for block in ("1.1", "1.2", "2.1") for layer in ("query", "key")],
            12,
            ["…1.1.…/query", "…1.1.…on/key", "…1.2.…/query", "…1.2.…on/key", "…2.1.…/query", "…2.1.…on/key"],
        ),
        (["x" * 6 + "1" + "y" * 5, "x" * 6 + "2" + "y" * 5], 9, ["xx…1yyyyy", "xx…2yyyyy"]),
    ],
)
def test_texts_are_shortened_together(texts: list[str], width: int, short: list[str]) -> None:
    found = shortened(texts, width)
    assert found == short and all(cells(text) <= width for text in found)


BLOCKS: list[tuple[Block, list[str], list[str]]] = [
    # The block, its lines in a pipe, and its lines on a terminal of 24 columns.
    ("a line", ["a line"], ["a line"]),
    (("a ", key("line"), " of ", named("n" * 60)), [f"a line of {'n' * 60}"], ["a line of", f"    {'n' * 23}…{'n' * 24}"]),
    (Item("  what it says of a layer", ["b"]), ["  what it says of a layer", "    b"], ["  what it says of a", "      layer", "    b"]),
    (facts([("a", ("peak in ", bold("a layer of it")))]), ["a  peak in a layer of it"], ["a  peak in a layer of it"]),
    (facts([("b", ("peak in ", bold("a layer of this")))]), ["b  peak in a layer of this"], ["b  peak in a layer of", "   this"]),
    (Fit(("abcdef ", bold("g" * 30))), [f"abcdef {'g' * 30}"], [f"abcdef gggg…{'g' * 12}"]),
    (Prose("some words that fill lines"), ["some words that fill lines"], ["some words that fill", "lines"]),
    (Item("a", ["b", Item("c", ["d"], 2)]), ["a", "    b", "    c", "      d"], ["a", "    b", "    c", "      d"]),
    (Either(Item("x" * 25, ["y"]), Item("x", ["z"])), ["x" * 25, "    y"], ["x", "    z"]),
    (Few(["a", "b", "c"], 1, "irshape x"), ["a", "  and 2 more: irshape x"], ["a", "  and 2 more: irshape x"]),
    (Relation([("", ["image[B,3,H,W]"]), ("->  ", ["mask[B]"])]), ["image[B,3,H,W]  ->  mask[B]"], ["image[B,3,H,W]", "->  mask[B]"]),
    (Relation([("", ["a[1]", "b[1]"]), ("->  ", [])], True), ["a[1]", "b[1]"], ["a[1]", "b[1]"]),
    (facts([("a", "1"), ("long", "2"), ("c", "3")]).some(2), ["a     1", "long  2", "and 1 more (--all lists them)"], []),
    (
        Table((Column(), Column(is_number=True), Column(is_spare=True)), [("a" * 12, "1", "█" * 12), ("b", "23", "")]),
        [f"{'a' * 12}   1  {'█' * 12}", f"b{' ' * 13}23"],
        [f"{'a' * 12}   1", f"b{' ' * 13}23"],
    ),
]


@pytest.mark.parametrize(("block", "wide", "narrow"), BLOCKS)
def test_a_block_takes_the_room_there_is(block: Block, wide: list[str], narrow: list[str]) -> None:
    assert list(block_lines([block])) == wide
    assert list(block_lines([block], Palette(False, 24))) == (narrow or wide)
    assert list(lines([Section("title", [block])])) == ["title", *(f"  {line}" for line in wide)]


def test_empty_sections_leave_no_line() -> None:
    sections = [paragraph(), paragraph("a"), Section("", [Table((), [])]), paragraph("b")]
    assert list(lines(sections)) == ["a", "", "b"]
    assert html(sections) == "<div><div><div>a</div></div><div><div>b</div></div></div>"


@pytest.mark.parametrize("block", [block for block, _, _ in BLOCKS])
def test_a_notebook_shows_every_word_of_a_block(block: Block) -> None:
    shown = html([Section("<&>", [block])])
    assert "<b>&lt;&amp;&gt;</b>" in shown
    words = " ".join(block_lines([block])).partition(" and ")[0].replace(">", "&gt;").split()
    assert all(word in shown for word in words)


def test_a_fault_in_a_table_is_marked_in_a_notebook() -> None:
    assert '<td style="text-align:left;color:#c00">bad</td>' in html([paragraph(Table((Column(),), [(Span("bad", "error"),)]))])


def test_colour_changes_nothing_but_colour() -> None:
    plain, coloured = (list(block_lines(TABLE, Palette(is_coloured, 80))) for is_coloured in (False, True))
    assert [strip(line) for line in coloured] == plain
    assert coloured != plain


def strip(text: str) -> str:
    """A text without its colours."""
    for code in filter(None, (getattr(COLOURED, style) for style in ("bold", "dim", "error", "key", "plain", "unknown", "warning"))):
        text = text.replace(code, "")
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
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
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
    assert list(block_lines([fault(diagnostic)])) == lines
    assert strip("\n".join(block_lines([fault(diagnostic)], COLOURED))) == "\n".join(lines)


def test_long_names_are_cut_on_terminals_only() -> None:
    where = Where("m.xml", "3", f"{'block/' * 9}s2d", "SpaceToDepth", None, 7, 5, 120)
    diagnostic = Diagnostic("S204", "7 is odd", where)
    assert list(block_lines([fault(diagnostic)])) == [f"m.xml:7:5: S204 7 is odd [SpaceToDepth {where.layer_name}]"]
    assert list(block_lines([fault(diagnostic)], Palette(False, 80))) == [
        "m.xml:7:5: S204 7 is odd [SpaceToDepth",
        "    block/block/block/block…ck/block/block/block/s2d]",
    ]


@pytest.mark.parametrize(
    ("severities", "text"), [("", "no faults"), ("e", "1 error"), ("eew", "2 errors, 1 warning"), ("wwn", "2 warnings, 1 note")]
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


CONDITION = "((H + 7)//8)*((W + 7)//8) + ((H + 15)//16)*((W + 15)//16) + min((H + 7)//8, (W + 7)//8) >= (H + 7)//8"
TEXTS = ["H >= 3", CONDITION, f"max({CONDITION.partition(' >=')[0]}, 1) == 4", "a" * 300]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("most", [20, 60, 100])
def test_the_parts_put_back_give_the_text(text: str, most: int) -> None:
    parts = Parts(most)
    cut = parts.cut(text)
    assert len(cut) <= max(len(text), most)
    for name, part in reversed(parts.found.items()):
        cut = cut.replace(name, part)
    assert cut == text


def test_equal_parts_of_several_texts_have_one_name() -> None:
    parts = Parts(30)
    first, second = parts.cut("((H + 7)//8)*((W + 7)//8) == 4*B"), parts.cut("((H + 7)//8)*((W + 7)//8) == 8*B")
    assert first.split("*")[0] == second.split("*")[0] == "e0"
    assert parts.found["e0"] in ("((H + 7)//8)", "(H + 7)//8", "(H + 7)")
    assert Parts(40).cut("H >= 3") == "H >= 3"
    assert parts.cut("(H + 7)//8 >= 2") == "(H + 7)//8 >= 2"
    assert not any("((" in "".join(map(str, line)) and "*" not in str(line[-1]) for line in where(parts))


def test_sizes_that_broadcast_are_said_in_words() -> None:
    assert spoken("H == W or 1 in (H, W)") == "H == W, or one is 1"
    assert spoken("H <= 8 or 16 <= H <= 24") == "H <= 8 or 16 <= H <= 24"
