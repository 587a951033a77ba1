"""Plans of models with If, Loop and TensorIterator: the bodies have formulas, too, and say what a pass over them says."""

from collections.abc import Callable

import pytest

from tests.inference.test_bodies import JOINED, body, chosen, holder, inside, iterator, longer, loop, through, transposed
from tests.inference.test_plan import planned, said, session_of
from tests.support.ir import Net, Ref

PARTS = 'axis="1" start="0" end="-1" stride="1" part_size="1"'


def resized(net: Net, value: Ref) -> Ref:
    """A list of lists that a step fills: whatever its size was, it has as many rows and columns as the input of the net."""
    net.named["_x"] = [value]
    return net.add("Broadcast-3(f32=1.0, Concat(Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0), [8], axis=0))")


def filled(batch: str = "?") -> Net:
    """A Loop as TensorFlow's recurrent layers have it: parts go in, and a list that begins with rows of 1 element takes the results."""
    net = Net()
    data = net.parameter(f"f32[10,{batch},6]")
    state = net.const([[[0.0]]] * 10, "f32")

    def build(inner: Net) -> None:
        inner.add("""
            _part: f32[?,?,?]
            _whole: f32[?,?,?]
            MatMul(_part, f32=0.0[1,6,8], transpose_a=false, transpose_b=false) -> _shape: ShapeOf-3(output_type=i64)
            Broadcast-3(f32=0.0, Concat([10], Slice-8(_shape, [1], [3], [1]), axis=0)) -> Result
            boolean=true -> Result
            _whole -> ReLU -> Result
        """)

    content = body(net, build)
    first, condition, *_ = [int(text.split('id="')[1].split('"')[0]) for text in content.split("<layer ") if 'type="Result"' in text]
    slice = 'axis="0" start="0" end="-1" stride="1" part_size="1"'
    map = (
        f'<port_map><input external_port_id="2" internal_layer_id="0" {slice}/><input external_port_id="3" internal_layer_id="1"/>'
        f'<output external_port_id="4" internal_layer_id="{first}"/>'
        f'<output external_port_id="-1" internal_layer_id="{condition}" purpose="execution_condition"/></port_map>'
        f'<back_edges><edge from-layer="{first}" to-layer="1"/></back_edges>'
    )
    net.result(holder(net, "Loop", "opset5", [net.const(-1), net.const(True, "boolean"), data, state], map + content))
    return net


ROWS: list[tuple[Callable[[], Net], list[list[int]], list[list[int]], int]] = [
    # One iteration hands the next what it took.
    (lambda: loop("f32[?,3]", through("ReLU")), [[4, 3], [5, 3], [6, 3]], [[9, 3], [2, 3], [1, 3], [700, 3], [0, 3]], 0),
    # The parts are joined: 5 iterations of 3 columns.
    (lambda: loop("f32[?,3]", through("ReLU"), output=PARTS), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 0),
    # Parts of an unknown size would not add up to a number.
    (lambda: loop("f32[?,3]", through("ReLU"), output=JOINED), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 1),
    # Rows and columns change places: two sizes that need not be equal.
    (lambda: loop("f32[?,?]", transposed(1, 0)), [[4, 4], [5, 5], [6, 6]], [[9, 9], [2, 3], [3, 2], [7, 7]], 1),
    # The list grows by one row in each iteration.
    (lambda: loop("f32[?,3]", longer), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 1),
    # The body may run no iteration.
    (lambda: loop("f32[?,3]", through("ReLU"), entered=None), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 1),
    # The size of the list is that of the step, whatever it was before.
    (filled, [[10, 4, 6], [10, 5, 6], [10, 6, 6]], [[10, 9, 6], [10, 2, 6], [10, 1, 6], [10, 3, 6]], 0),
    (lambda: loop("f32[?,3]", inside(resized)), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 0),
    # As many parts as rows, each with a Softmax.
    (lambda: iterator("f32[?,3]", through("Softmax", axis=1)), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3], [0, 3]], 0),
    (lambda: iterator("f32[2,?]", through("Softmax", axis=1), slice=PARTS, output=PARTS), [[2, 3], [2, 4], [2, 5]], [[2, 9], [2, 1]], 0),
    # The branch is known.
    (lambda: chosen(through("ReLU"), transposed(1, 0), "f32[?,3]", True), [[4, 3], [5, 3], [6, 3]], [[9, 3], [1, 3]], 0),
]


@pytest.mark.parametrize("row", ROWS)
def test_a_plan_says_what_passes_over_bodies_say(row: tuple[Callable[[], Net], list[list[int]], list[list[int]], int]) -> None:
    build, steps, others, asks = row
    net = build()
    session = session_of(net)
    name = session.model.parameters[-1].name
    _, plan = planned(net, *({name: shape} for shape in steps))
    assert len(plan.asks) == asks
    for shape in [*steps, *others]:
        ours, theirs = session.reshape({name: shape}), session_of(net).reshape({name: shape})
        assert ours.ok == theirs.ok
        if ours.ok:
            assert said(ours) == said(theirs)
    assert session.plan is not None
