"""Operations that a program defines again, and ports that several classes share."""

from typing import Any

import pytest

import irshape
from irshape.extend import Context, In, Input, Op, Out, Shape
from irshape.extend import op as declare
from irshape.ops.registry import REGISTRY, Clash
from tests.support.ir import Net

CELL = """
from irshape.extend import Context, In, Input, Op, Out, Shape, op

@op("NotebookCell", "extension")
class NotebookCell(Op):
    data = In()
    out = Out(like="data")

    def infer(self, ctx: Context, data: Input) -> Shape:
        return (*data.shape, {size})
"""


def shape_of_cell() -> tuple[str, str]:
    net = Net("NotebookCell-extension(f32[2]) -> Result")
    return irshape.infer(net.xml).ports["1:1"]


def test_a_cell_of_a_notebook_may_be_run_again() -> None:
    """The second definition takes the place of the first, also for models that are read later."""
    main: dict[str, Any] = {"__name__": "__main__"}
    try:
        for size in (3, 4):
            exec(CELL.format(size=size), main)
            assert shape_of_cell() == ("f32", f"[2,{size}]")
        with pytest.raises(Clash, match="registered twice"):
            exec(CELL.format(size=5).replace("class NotebookCell", "class Another"), main)
    finally:
        REGISTRY._entries.pop("notebookcell")
        REGISTRY._versions.pop("notebookcell", None)


def test_classes_may_share_a_port_under_names_of_their_own() -> None:
    port, out = In(rank=2), Out()

    class First(Op):
        left = port
        right = port
        result = out

        def infer(self, ctx: Context, left: Input, right: Input) -> Shape:
            return left.shape

    class Second(Op):
        other = port
        answer = out

        def infer(self, ctx: Context, other: Input) -> Shape:
            return other.shape

    assert [(one.name, one.index) for one in First.inputs] == [("left", 0), ("right", 1)]
    assert [(one.name, one.index) for one in Second.inputs] == [("other", 0)]
    assert (First.outputs[0].name, Second.outputs[0].name) == ("result", "answer")


def test_a_class_says_whether_it_is_irshapes_own() -> None:
    assert REGISTRY.find("Softmax", "opset8").is_own  # type: ignore[union-attr]

    class Mine(REGISTRY.find("Softmax", "opset8")):  # type: ignore[misc]
        pass

    assert not Mine.is_own
    with pytest.raises(Clash, match="registered twice"):
        declare("Softmax", "opset8")(Mine)
