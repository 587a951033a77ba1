"""Codes that a file itself asks not to report, by `<irshape ignore="..."/>` in an `<rt_info>`."""

from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.diagnosis.diagnosis import accept, choose
from irshape.diagnosis.fixes import mended_file
from irshape.inference.inference import Inference
from irshape.report.baseline import Baseline
from irshape.report.selection import Choice, Selection
from tests.support.ir import Net
from tests.support.places import IRS

LOOSE = '<data loose="1"/>'  # an attribute that no operation has: R104


def ignore(codes: str) -> str:
    return f'<rt_info><irshape ignore="{codes}"/></rt_info>'


def text(*entries: str, net: str = "") -> str:
    """A chain of Relus, each with an unknown attribute (R104) and an entry, and an entry of the net."""
    xml = Net("f32[1,8]" + " -> Relu(loose=1)" * len(entries) + " -> Result").xml
    for entry in entries:
        before, _, after = xml.partition(LOOSE)
        xml = f"{before}<data  loose='1'/>{entry}{after}"
    return xml.replace("<rt_info/>", net)


def codes(found: Inference) -> list[str]:
    return [one.code for one in found.diagnostics]


def check(xml: str, **options: Any) -> Inference:
    return verbs.check(xml.encode(), **options)


@pytest.mark.parametrize(
    ("entries", "net", "left"),
    [
        (("", ""), "", ["R104", "R104"]),
        ((ignore("R104"), ""), "", ["R104"]),
        ((ignore("R104"), ignore("R")), "", []),
        ((ignore("R1"), ""), "", ["R104"]),
        (("", ""), ignore("R104"), []),
        # What Model.set_rt_info("R104", ["irshape", "ignore"]) writes.
        (("", ""), '<rt_info><irshape><ignore value="R104"/></irshape></rt_info>', []),
        # An entry of the net and one of the layer are both used by the same fault.
        ((ignore("R104"), ""), ignore("R104"), []),
        # Only the first entry counts, and only in the <rt_info> of a layer or the net.
        (('<rt_info><irshape ignore="S"/><irshape ignore="R104"/></rt_info>',), "", ["R104", "X204"]),
        (('<irshape ignore="R104"/>',), "", ["R104"]),
        (('<rt_info><attribute name="irshape" version="0" ignore="R104"/></rt_info>',), "", ["R104"]),
        (("<rt_info><irshape/></rt_info>",), "", ["R104"]),
    ],
)
def test_an_entry_ignores_codes_in_its_layer_or_file(entries: tuple[str, ...], net: str, left: list[str]) -> None:
    assert codes(check(text(*entries, net=net))) == left


def test_entries_can_be_left_out_of_account() -> None:
    assert codes(check(text(ignore("R104")), suppressions=False)) == ["R104"]
    assert codes(verbs.infer(text(ignore("R104")).encode())) == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (ignore("R104,S204"), "unused suppression: no fault of this layer has the code S204"),
        (ignore("R104 S2, Q"), "unused suppression: no code begins with 'Q'; no fault of this layer has the code S2"),
        (ignore("r104"), "unused suppression: no code begins with 'r104'; did you mean R104?"),
        (ignore(""), "unused suppression: it names no code"),
    ],
)
def test_an_entry_that_ignores_less_than_it_says(entry: str, message: str) -> None:
    found = [one for one in check(text(entry)).diagnostics if one.code == "X204"]
    assert [(one.message, one.severity, one.where.layer_name) for one in found] == [(message, "warning", "relu_1")]
    assert text(entry).encode()[found[0].where.offset or 0 :].startswith(b"<irshape ")


def test_an_entry_of_the_net_that_is_unused() -> None:
    [found] = check(text(net=ignore("S"))).diagnostics
    assert (found.message, found.where.layer_id) == ("unused suppression: no fault of this file has the code S", None)


def test_codes_that_other_inputs_or_targets_may_need_are_not_unused() -> None:
    assert codes(check(text(net=ignore("P")))) == []
    assert codes(check(text(net=ignore("P")), targets=["npu"])) == ["X204"]
    assert codes(check(text(net=ignore("S")), inputs={"parameter_0": "[2,8]"})) == []


def test_an_entry_of_a_layer_covers_its_bodies() -> None:
    path = IRS / "onnx_node" / "scan_sum.xml"
    xml = path.read_text(encoding="utf-8")
    at = xml.index(' type="Add"', xml.index("<body>"))
    at = xml.index(">", at) + 1
    loose = xml[:at] + '<data loose="1" />' + xml[at:].replace('<data auto_broadcast="numpy" />', "", 1)
    assert codes(verbs.check(loose.encode(), weights=str(path.with_suffix(".bin")))) == ["R104"]
    layer = loose.rindex('<layer id="', 0, loose.index("<body>"))
    entered = loose.index(">", layer) + 1
    assert codes(verbs.check((loose[:entered] + ignore("R104") + loose[entered:]).encode(), weights=str(path.with_suffix(".bin")))) == []


def test_faults_that_end_reading_and_irshapes_own_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(check(text(net=ignore("ALL")).replace("</net>", ""))) == ["X101"]


def test_the_count_of_faults_beyond_the_limit() -> None:
    limits = irshape.Limits(faults=2)
    entries = [ignore("R104"), "", "", "", ""]

    def limited(xml: str) -> Inference:
        return verbs.check(verbs.read(xml.encode(), limits=limits))

    assert sum(one.count for one in limited(text(*entries)).diagnostics) == 4
    assert codes(limited(text(*entries[1:], net=ignore("R104")))) == []
    assert "X204" not in codes(limited(text(*reversed(entries))))


def test_a_file_with_entries_keeps_its_bytes_when_it_is_written() -> None:
    xml = text(ignore("R104"), net=ignore("R"))
    assert verbs.infer(xml.encode()).xml().decode().count(ignore("R104")) == 1


@pytest.mark.oracle
def test_openvino_reads_entries_and_keeps_that_of_the_net(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    (tmp_path / "model.xml").write_text(text(ignore("R104"), net=ignore("R104")))
    (tmp_path / "plain.xml").write_text(text(""))
    model, plain = (openvino.Core().read_model(tmp_path / name) for name in ("model.xml", "plain.xml"))
    assert [one.get_type_name() for one in model.get_ordered_ops()] == [one.get_type_name() for one in plain.get_ordered_ops()]
    openvino.serialize(model, tmp_path / "saved.xml")
    saved = (tmp_path / "saved.xml").read_text()
    # OpenVINO writes no <rt_info> of a layer that it does not know.
    assert saved.count("<irshape ignore=") == 1
    assert [one.code for one in verbs.check(tmp_path / "saved.xml").diagnostics] == ["X204"]  # OpenVINO dropped the attribute, too


@pytest.mark.oracle
def test_an_entry_that_openvino_writes(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    (tmp_path / "model.xml").write_text(text(""))
    model = openvino.Core().read_model(tmp_path / "model.xml")
    model.set_rt_info("S204", ["irshape", "ignore"])
    openvino.serialize(model, tmp_path / "saved.xml")
    [found] = verbs.check(tmp_path / "saved.xml").diagnostics
    assert found.message == "unused suppression: no fault of this file has the code S204"


def joined_often() -> Net:
    """Many demands of one size; few steps are enough to infer the shapes, and too few to simplify the demands."""
    pool = " -> MaxPool(strides=2, kernel=2, pads_begin=0, pads_end=0, rounding_type=floor)"
    return Net(f"x: f32[?,3,?]\nx{pool * 3} -> Tile([1,1,8]){' -> Concat(x, axis=1)' * 2} -> Result")


@pytest.mark.parametrize("ignored", ["nowhere", "by the file", "by a selection", "by a baseline"])
def test_a_note_that_comes_late_is_ignored_as_well(ignored: str) -> None:
    """The work ends when the conditions are asked for, after the selection."""
    net = joined_often()
    xml = net.xml.replace("<rt_info/>", ignore("N106")) if ignored == "by the file" else net.xml
    inference = verbs.check(verbs.read(xml.encode(), weights=net.bin, limits=irshape.Limits(work=300)))
    assert codes(inference) == []
    if ignored == "by a selection":
        choose(inference, Selection([Choice(ignore=("N106",))]))
    elif ignored == "by a baseline":
        assert accept(inference, Baseline("baseline.json", {"model.xml": {"the fingerprint of another fault": "S201"}}), "model.xml") == {}
    inference.to_dict()
    assert set(codes(inference)) == ({"N106"} if ignored in ("nowhere", "by a baseline") else set())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ignore("S204"), "<rt_info></rt_info>"),
        (ignore("S204,R104"), '<rt_info><irshape ignore="R104"/></rt_info>'),
        (ignore("R104,X999"), None),  # the code may be misspelled
    ],
)
def test_a_suppression_that_nothing_needs_is_removed(before: str, after: str | None) -> None:
    inference = check(text(before))
    [fault] = [one for one in inference.diagnostics if one.code == "X204"]
    if after is None:
        assert fault.fix is None
        return
    assert fault.fix is not None
    assert fault.fix.is_safe
    assert after in mended_file(inference).decode()
    assert "X204" not in codes(verbs.check(mended_file(inference)))
