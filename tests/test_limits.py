"""Each limit is reached with a diagnostic that has a place, by every verb, and is lifted by its name."""

from collections.abc import Callable
from pathlib import Path

import pytest

import irshape
from irshape.cli.main import main
from irshape.inference.inference import Inference
from irshape.report.snippets import ITERATED
from irshape.shape.limits import DEFAULT, LIMITS, Limits
from tests.fuzz.hostile import SMALL, nested
from tests.support.ir import Net

SPLIT = Net("_top: Split(f32[8], 0, num_splits=4) f32 f32 f32 f32" + "".join(f"\n_top.{part} -> Result" for part in range(4)))
PATTERN = Net("Reshape(f32[1], i64=1[5], special_zero=false) -> Result")
JOINED = Net("Concat(f32[?], f32[?], f32[?], f32[?], axis=0) -> Result")
BROADCAST = Net(f"f32[?]{' -> Add(f32[?])' * 4} -> Result")
# One layer that looks at more sizes than a layer always may.
OF_MANY_SIZES = Net(f"f32[{','.join(['?'] * 300)}] -> ReLU -> Result")


def plain(text: str) -> Net:
    class Text(Net):
        xml = text

    return Text()


EDGE = '<edge from-layer="7" from-port="0" to-layer="1" to-port="0"/>'
# A file, a value of the limit that it exceeds, and the code that says so.
CASES: dict[str, tuple[Net, int, str]] = {
    "size": (plain(SMALL), len(SMALL) - 1, "X111"),
    "text": (plain(SMALL), 11, "X111"),
    "depth": (plain(nested(3)), 2, "X111"),
    "layers": (plain(SMALL), 2, "X111"),
    "rank": (plain(SMALL), 1, "X111"),
    "parts": (SPLIT, 3, "X111"),
    "elements": (PATTERN, 4, "N103"),
    "terms": (JOINED, 3, "N104"),
    "levels": (BROADCAST, 3, "N104"),
    "passes": (plain(ITERATED), 1, "N105"),
    "faults": (plain(SMALL.replace("<edges>", "<edges>" + "".join(EDGE.replace("7", str(id)) for id in range(7, 37)))), 10, "G102"),
    "work": (OF_MANY_SIZES, 9, "N106"),
}
VERBS: dict[str, Callable[[bytes, bytes, Limits], Inference]] = {
    "infer": lambda xml, weights, limits: irshape.infer(xml, weights=weights, limits=limits),
    "check": lambda xml, weights, limits: irshape.check(xml, weights=weights, limits=limits),
    "reshape": lambda xml, weights, limits: irshape.reshape(xml, {}, weights=weights, limits=limits),
    "Session": lambda xml, weights, limits: irshape.Session(xml, weights=weights, limits=limits).infer(),
    "read": lambda xml, weights, limits: irshape.infer(irshape.read(xml, limits=limits), weights=weights),
}


def test_every_limit_is_tested() -> None:
    assert tuple(CASES) == LIMITS


def said(inference: Inference, name: str) -> list[irshape.Diagnostic]:
    """What is said of a limit, which is named."""
    return [found for found in inference.diagnostics if name in found.message and "limit" in found.message]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", CASES)
def test_reaching_a_limit_is_said(name: str, verb: str) -> None:
    net, value, code = CASES[name]
    limits = DEFAULT.changed(f"{name}={value}")
    found = said(VERBS[verb](net.xml.encode(), net.bin, limits), name)
    assert [one.code for one in found] == [code]
    assert None not in (found[0].where.line, found[0].where.column, found[0].where.offset)
    assert not said(VERBS[verb](net.xml.encode(), net.bin, DEFAULT), name)


@pytest.mark.parametrize("command", ["check", "infer", "reshape"])
def test_limits_of_the_command_line(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.xml"
    path.write_text(SMALL)
    options = ["--batch", "2"] if command == "reshape" else []
    assert main([command, str(path), *options, "--limit", "depth=9"]) == 0
    assert main([command, str(path), *options, "--limit", "depth=9", "--limit", "layers=2"]) == 1
    assert "X111 the file has more than 2 layers (limit layers)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deep=1", "limits are size, text, depth, layers, rank, parts, elements, terms, levels, passes, faults, work"),
        ("depth", "does not set a limit"),
        ("depth=", "whole number from 1"),
        ("depth=0", "whole number from 1"),
        ("depth=-1", "whole number from 1"),
        ("depth=1e3", "whole number from 1"),
        ("depth=\u0663", "whole number from 1"),
        ("depth=" + "9" * 30, "whole number from 1"),
        ("levels=65", "at most 64"),
    ],
)
def test_what_is_no_limit(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=message):
        DEFAULT.changed(text)
    assert main(["check", "m.xml", "--limit", text]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_faults_that_are_not_listed_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.xml"
    path.write_text(CASES["faults"][0].xml)
    assert main(["check", str(path), "--limit", "faults=10"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert sum(" G102 " in line for line in lines) == 11
    assert lines[10].endswith("G102 … 20 more of G102 (limit faults)")
    assert lines[-1] == "1 file, 3 layers: 30 errors"
    command = ["check", str(path), "--limit", "faults=10"]
    for format, begin in (("github", "::error "), ("gitlab", '    "description"')):
        assert main([*command, "--format", format]) == 1
        own = [line for line in capsys.readouterr().out.splitlines() if line.startswith(begin)]
        assert len(own) == 10 and ["20 more of G102" in line for line in own] == [False] * 9 + [True]
    baseline = str(tmp_path / "known.json")
    assert main([*command, "--write-baseline", baseline]) == 0
    assert "30 known faults of 1 file" in capsys.readouterr().err
    assert main([*command, "--baseline", baseline]) == 0
    assert "(30 known faults in the baseline)" in capsys.readouterr().out


def test_an_error_that_is_not_listed_is_an_error() -> None:
    """Of a code that is a warning in one layer and an error in another, each has room of its own."""
    dead = EDGE.replace('to-layer="1"', 'to-layer="8"')
    text = SMALL.replace("<edges>", "<edges>" + dead * 30 + EDGE)
    assert not irshape.check(text.encode(), limits=Limits(faults=10)).ok


def test_long_names_are_quoted_in_part() -> None:
    found = irshape.check(SMALL.replace("relu_1", "a" * 100_000).replace("ReLU", "B" * 100_000).encode()).diagnostics
    assert found
    assert all(len(text or "") < 1_200 for one in found for text in (one.message, one.where.layer_name, one.where.layer_type))
