"""A file without its weights: one fault, what follows from unknown values, and no fault because of them."""

from pathlib import Path

import pytest

from irshape import verbs
from irshape.inference.session import Session
from tests.support.ir import Net


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A reshape to a constant shape, and a model whose Squeeze depends on a constant axis."""
    net = Net("f32[?,4] -> Reshape([1,-1,4], special_zero=false) -> Squeeze([0]) -> Result")
    path = tmp_path / "m.xml"
    net.save(path)
    return path


def codes(answer: object) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in answer.diagnostics]  # type: ignore[attr-defined]


def test_an_xml_alone_gets_one_fault(path: Path) -> None:
    """It is an error of a check, as OpenVINO refuses the model."""
    assert codes(verbs.check(path)) == []
    path.with_suffix(".bin").unlink()
    assert codes(verbs.check(path)) == [("W203", "error")]
    assert codes(verbs.check(path.read_bytes())) == [("W203", "error")]
    assert codes(verbs.check(path, weights=False)) == [("N108", "note")]
    inference = verbs.infer(path)
    assert codes(inference) == [("W203", "warning")]
    assert inference.ok
    assert not inference.knows_values
    assert inference["reshape_2"].outputs[0].text == "[?,?,?]"


def test_weights_that_nobody_wants_are_a_note(path: Path) -> None:
    for verb in (verbs.check, verbs.infer, verbs.signature, verbs.sizes):
        assert codes(verb(path, weights=False)) == [("N108", "note")]
    assert codes(Session(path, weights=False).infer()) == [("N108", "note")]
    assert codes(verbs.read(path, weights=False)) == []
    assert verbs.infer(verbs.read(path, weights=False)).diagnostics[0].code == "N108"
    assert verbs.diff(path, path, weights=False).uncompared is not None


def test_sizes_are_not_decided_without_values(path: Path) -> None:
    sizes = verbs.sizes(path, weights=False)
    assert sizes.ok
    assert not sizes.is_exact
    assert [one.message for one in sizes.undecided] == ["the values of constants are unknown, and they may forbid sizes"]


def test_an_empty_file_is_an_error(path: Path) -> None:
    path.with_suffix(".bin").write_bytes(b"")
    assert codes(verbs.check(path)) == [("W101", "error")]


def test_nothing_follows_from_weights_that_end_early(path: Path) -> None:
    """Of weights that were cut short, or are another model's, no value counts."""
    path.with_suffix(".bin").write_bytes(bytes(20))
    assert codes(verbs.check(path)) == [("W102", "error")]


def test_nothing_follows_from_weights_that_are_too_long(path: Path) -> None:
    path.with_suffix(".bin").write_bytes(b"\x07" * 200)
    inference = verbs.check(path)
    fault, *others = inference.diagnostics
    assert (fault.code, fault.severity) == ("W201", "error")
    assert {one.code for one in others} == {"R401", "V102"}
    assert [one for one in inference.diagnostics if one.caused_by is None] == [fault]
    assert all(one.fix is None for one in others)
    assert not inference.knows_values


def test_a_single_wrong_offset_is_told_from_foreign_weights(path: Path) -> None:
    text = path.read_text()
    at = text.rindex('offset="') + 8
    path.write_text(f"{text[:at]}9000{text[text.index(chr(34), at) :]}")
    bytes_of_others = path.with_suffix(".bin").read_bytes()[:24]
    path.with_suffix(".bin").write_bytes(bytes_of_others)
    [fault] = [one for one in verbs.check(path).diagnostics if one.code == "W102"]
    assert "correct the offset" in (fault.hint or "")


def test_an_output_has_no_weights_that_were_not_read(path: Path, tmp_path: Path) -> None:
    verbs.infer(path, weights=False).write(tmp_path / "out.xml")
    assert not (tmp_path / "out.bin").exists()
