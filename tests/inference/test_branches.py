"""Demands of bodies that need not run: they stand under their branch, and bind nothing outside of it."""

from __future__ import annotations

import pytest

from irshape import verbs
from irshape.inference.inference import Inference
from irshape.inference.session import Session
from tests.inference.test_bodies import SAME, branched, chosen, inside, loop
from tests.support.ir import Net, Ref

SUM = inside("Add(_x, f32=1.0[3,3])")
SQUEEZED = inside("Squeeze(_x, [1])")


def infer(net: Net) -> Inference:
    return verbs.infer(net.xml.encode(), weights=net.bin)


def told(inference: Inference) -> list[tuple[str, str]]:
    """Each guard with the branch that makes it."""
    return [(str(guard.requirement), guard.branch) for guard in inference.guards]


def nested(net: Net, value: Ref) -> Ref:
    """An If in a body: its condition is an element of the data."""
    return branched(net, [net.add("Convert(ReduceMax(_x, [0,1]), destination_type=boolean)"), value], SUM, SAME)


@pytest.mark.parametrize(
    ("net", "guards"),
    [
        (chosen(SUM, SAME, "f32[?,3]"), [("d0 in (1, 3)", "then_body of if_2")]),
        (chosen(SAME, SUM, "f32[?,3]"), [("d0 in (1, 3)", "else_body of if_2")]),
        (chosen(SUM, SUM, "f32[?,3]"), [("d0 in (1, 3)", "then_body of if_2"), ("d0 in (1, 3)", "else_body of if_2")]),
        (chosen(SUM, SAME, "f32[?,3]", True), [("d0 in (1, 3)", "")]),
        (chosen(SUM, SAME, "f32[?,3]", False), []),
        (chosen(inside(nested), SAME, "f32[?,3]"), [("d0 in (1, 3)", "then_body of if_5 in then_body of if_2")]),
        (chosen(inside(nested), SAME, "f32[?,3]", True), [("d0 in (1, 3)", "then_body of if_5")]),
        (loop("f32[?,3]", SUM, trips=None, back=False), [("d0 in (1, 3)", "body of loop_3")]),
        (loop("f32[?,3]", SUM, trips=5, back=False), [("d0 in (1, 3)", "")]),
        (loop("f32[?,3]", SUM, trips="N", back=False), [("d1 in (1, 3)", "")]),
        (loop("f32[?,3]", SUM, entered=None, back=False), [("d0 in (1, 3)", "body of loop_3")]),
    ],
)
def test_a_guard_names_the_body_that_need_not_run(net: Net, guards: list[tuple[str, str]]) -> None:
    assert [one for one in told(infer(net)) if " in " in one[0]] == guards


def test_a_branch_tightens_nothing_outside() -> None:
    """`[?,3]` plus a constant `[3,3]` needs 1 or 3 rows; the other branch takes any number of rows, and so does the model."""
    inference = infer(chosen(SUM, SAME, "f32[?,3]"))
    assert inference.format(inference["parameter_1"].outputs[0].shape) == "[?,3]"
    always = infer(chosen(SUM, SAME, "f32[?,3]", True))
    assert always.format(always["parameter_1"].outputs[0].shape) == "[1..3,3]"
    signature = verbs.signature(chosen(SUM, SAME, "f32[?,3]").xml.encode())
    assert signature.inputs["parameter_1"] == "[B,3]"
    assert [(one.text, one.branch) for one in signature.conditions] == [("B in (1, 3)", "then_body of if_2")]


def test_a_requirement_of_the_model_is_none_of_a_branch() -> None:
    """The layer behind the If makes the same demand for every run."""
    net = chosen(SUM, SAME, "f32[?,3]")
    data = Ref(1, 0, "FP32")
    net.result(net.layer("Add", [data, net.const([[1.0] * 3] * 3, "f32")], ["FP32"])[0])
    assert told(infer(net)) == [("d0 in (1, 3)", "")]


def test_a_premise_of_a_branch_forbids_no_size() -> None:
    net = chosen(SQUEEZED, inside("Reshape(_x, [-1], special_zero=false)"), "f32[2,?]")
    assert told(infer(net)) == [("d0 == 1", "then_body of if_2")]
    sizes = verbs.sizes(net.xml.encode(), weights=net.bin)
    assert sizes.ok
    assert sizes.conditions == []
    assert [guard.branch for guard in sizes.premises] == ["then_body of if_2"]


def test_sizes_count_what_openvino_checks_in_a_branch_that_does_not_run() -> None:
    """OpenVINO infers both branches: a size that one of them refuses is refused where all sizes are numbers."""
    net = chosen(SUM, SAME, "f32[?,3]")
    sizes = verbs.sizes(net.xml.encode(), weights=net.bin)
    session = Session(net.xml.encode(), weights=net.bin)
    for rows in (1, 2, 3, 4):
        assert sizes.admits(B=rows) == session.reshape({"parameter_1": (rows, 3)}).ok == (rows in (1, 3))


def test_a_session_keeps_the_branches_apart() -> None:
    """The same facts are passed once for a Loop that runs and for one that need not: each run tells it anew."""
    net = loop("f32[?,3]", SUM, trips=None, back=False)
    session = Session(net.xml.encode(), weights=net.bin)
    first = session.reshape({"parameter_2": "[H,3]"})
    again = session.reshape({"parameter_2": "[K,3]"})
    assert [branch for _, branch in (*told(first), *told(again))] == ["body of loop_3"] * 2


def test_the_report_names_the_branch() -> None:
    report = infer(chosen(SUM, SAME, "f32[?,3]")).to_dict()
    assert [guard["branch"] for guard in report["guards"]] == ["then_body of if_2"]
