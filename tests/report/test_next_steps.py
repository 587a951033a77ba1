"""Faults that happen to files on their way say what has happened, and the next step."""

import re
from pathlib import Path

import pytest

import irshape
from irshape.report.diagnostic import Diagnostic

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
ATROUS = (EXAMPLES / "atrous.xml").read_bytes()


def faults(xml: bytes, code: str, weights: bytes | None = None) -> list[Diagnostic]:
    """The diagnostics of a code."""
    own = (EXAMPLES / "atrous.bin").read_bytes()
    return [one for one in irshape.check(xml, weights=own if weights is None else weights).diagnostics if one.code == code]


@pytest.mark.parametrize("count", [1, 4096])
def test_zero_bytes_behind_the_file_are_called_so(count: int) -> None:
    (fault,) = faults(ATROUS + bytes(count), "X201")
    assert "zero bytes" in fault.message
    assert "zero bytes" in (fault.hint or "")


@pytest.mark.parametrize("length", [1000, 3000, 5000])
def test_a_tail_of_zero_bytes_is_no_invalid_token(length: int) -> None:
    cut = ATROUS[: ATROUS.index(b">", length) + 1]
    (fault,) = faults(cut + bytes(500), "X101")
    assert "zero bytes only" in fault.message
    assert fault.hint is not None
    assert fault.where.line == cut.count(b"\n") + 1


def test_weights_that_were_copied_as_text() -> None:
    xml, weights = (EXAMPLES / "decoder.xml").read_bytes(), (EXAMPLES / "decoder.bin").read_bytes()
    (fault,) = faults(xml, "W201", weights.replace(b"\n", b"\r\n"))
    assert "13 and 10" in fault.message
    assert "binary" in (fault.hint or "")
    (other,) = faults(xml, "W201", weights + b"\r\n" * 8)
    assert "another model's weights" in other.message


def test_one_byte_that_a_copy_as_text_has_changed() -> None:
    """Weights that are nearly all zeros may have their only byte 10 far behind."""
    xml = b"""<net name="m" version="11"><layers>
        <layer id="0" name="c" type="Const" version="opset1"><data element_type="u8" shape="9000" offset="0" size="9000"/>
            <output><port id="0" precision="U8"><dim>9000</dim></port></output></layer>
        <layer id="1" name="r" type="Result" version="opset1"><input><port id="0" precision="U8"><dim>9000</dim></port></input></layer>
    </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>"""
    (fault,) = faults(xml, "W201", bytes(8999) + b"\r\n")
    assert "13 and 10" in fault.message


def test_a_hint_closes_no_circle() -> None:
    """The layer at fault, or one that depends on it, is no source for its input, even if nothing else reads it."""
    diagnostics = irshape.check(ATROUS.replace(b'<layer id="3"', b'<layer id="three"'), weights=False).diagnostics
    (unfed,) = [one for one in diagnostics if one.code == "G106"]
    assert unfed.where.layer_name == "stem/relu"
    assert "stem/relu" not in (unfed.hint or "")


def test_an_input_with_two_edges_and_one_with_none() -> None:
    text = ATROUS.decode()
    edge = next(iter(re.findall(r"<edge [^>]*/>", text)))
    (twice,) = faults(text.replace(edge, edge + edge, 1).encode(), "G104")
    assert "remove one of the two edges" in (twice.hint or "")
    without = irshape.check(text.replace(re.findall(r"<edge [^>]*/>", text)[-1], "", 1).encode(), weights=False)
    assert all(one.hint for one in without.diagnostics if one.code in ("G104", "G106"))


def test_a_layer_without_a_number_is_named_without_it() -> None:
    """A hint names no layer -1, which no file has."""
    for id in re.findall(r'<layer id="(\d+)"', ATROUS.decode()):
        changed = ATROUS.replace(f'<layer id="{id}"'.encode(), b'<layer id="first"')
        assert [one for one in irshape.check(changed, weights=False).diagnostics if "-1" in f"{one.hint}{one.message}"] == []


def test_a_port_map_that_names_nothing() -> None:
    from irshape.report.snippets import SNIPPETS

    (fault,) = [one for one in irshape.check(SNIPPETS["G119"].bad.xml.encode()).diagnostics if one.code == "G119"]
    assert "external_port_id" in (fault.hint or "")
