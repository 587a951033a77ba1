"""Everything that the page draws can be read: at first sight, after opening, zooming and choosing."""

from typing import Any

import pytest

from tests.page.conftest import Shown
from tests.page.generated import MODELS, Named, transformer
from tests.page.legibility import legibility
from tests.support.places import ATROUS, EXAMPLES, IRS

pytestmark = pytest.mark.slow("need Chromium")

SCREENS = [(1280, 800, "light"), (1920, 1080, "dark")]


def open_some(page: Any) -> None:
    """Open the first closed group that is to be seen."""
    page.evaluate("""() => {
      const closed = [...app.graph.items.keys()].filter((item) => app.model.opens(item) && !app.graph.isOpen(item));
      if (closed.length) app.graph.toggle(closed[Math.floor(closed.length / 2)]);
    }""")


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
@pytest.mark.parametrize("name", MODELS)
def test_the_first_sight_is_the_whole_model_and_can_be_read(shown: Shown, name: str, width: int, height: int, scheme: str) -> None:
    page = shown.model(MODELS[name]().xml, width=width, height=height, scheme=scheme)
    found = legibility(page)
    assert found.faults == []
    assert found.covered == []
    assert found.whole
    assert 3 <= found.closed <= 25


@pytest.mark.parametrize("name", MODELS)
def test_what_is_opened_can_be_read(shown: Shown, name: str) -> None:
    page = shown.model(MODELS[name]().xml)
    for _ in range(4):
        open_some(page)
        assert legibility(page).faults == []
    for _ in range(4):
        for _ in range(3):
            page.keyboard.press("-")
        assert legibility(page).faults == []
    page.keyboard.press("0")
    assert legibility(page).whole


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.xml") if path.name != "extension.xml"))
def test_examples_can_be_read(shown: Shown, example: str) -> None:
    found = legibility(shown.model(EXAMPLES / example))
    assert found.faults == []
    assert found.whole


@pytest.mark.parametrize(
    ("name", "result", "parameter"),
    [
        ("fp16/loop_if_nested_fp16", "output 1, parts of axis 0", "x at first"),
        ("v10/v10_loop_scan", "the last value", "at first"),
        ("onnx_node/scan_sum", "the last value", "at first"),
    ],
)
def test_what_an_iteration_hands_to_the_next_runs_upwards(shown: Shown, name: str, result: str, parameter: str) -> None:
    page = shown.model(IRS / f"{name}.xml", width=1920, height=1080)
    found = legibility(page)
    assert found.faults == []
    assert found.back
    assert all(a.startswith("Result") and b.startswith("Parameter") for a, b in found.back)
    assert any(result in a and parameter in b for a, b in found.back)
    assert "next iteration" in page.text_content("#graph")
    colours = page.evaluate("() => ['.edge.back', '.edge:not(.back)'].map((one) => getComputedStyle(document.querySelector(one)).stroke)")
    assert colours[0] != colours[1]


def test_the_ends_of_a_body_say_what_is_outside(shown: Shown) -> None:
    page = shown.model(IRS / "fp16" / "loop_if_nested_fp16.xml", width=1920, height=1080)
    assert "\u21b3 number of the iteration" in page.text_content("#graph")
    assert "\u2192 whether to go on" in page.text_content("#graph")
    page.click(".item.end:has-text('bx')", position={"x": 5, "y": 5})
    assert "x at first" in page.inner_text("#panel")
    assert "in the next iteration" in page.inner_text("#panel")
    page.click(".stub:has-text('x at first')")
    assert page.inner_text("#panel p >> nth=0") == "x"


def test_inputs_and_results_line_up(shown: Shown) -> None:
    """A result of an early layer stands beside the last one; an input of a late layer beside the first one, above what reads shapes."""
    net = Named()
    early, late = net.input("early", "f32[1,8]"), net.input("late", "f32[1,8]")
    data = net.add("first", "ReLU", [early])
    net.result(data)
    for number in range(4):
        data = net.add(f"step{number}", "ReLU", [data])
    (shape,) = net.layer("ShapeOf", [early], ["I64"], "opset3", output_type="i64")
    for _ in range(6):
        shape = net.layer("Convert", [shape], ["I64"], destination_type="i64")[0]
    data = net.add("last", "Add", [data, late])
    net.result(net.add("spread", "Broadcast", [data, shape], version="opset3", mode="bidirectional"))
    page = shown.model(net.xml)
    assert legibility(page).faults == []
    for type in ("Parameter", "Result"):
        tops = [one.bounding_box()["y"] for one in page.locator(f".item.end:has-text('{type}') > .box").all()]
        assert len(tops) == 2
        assert max(tops) - min(tops) < 1
        boxes = [one.bounding_box()["y"] for one in page.locator(".item > .box").all()]
        assert tops[0] < min(boxes) + 20 if type == "Parameter" else tops[0] == max(boxes)


def test_equal_blocks_are_drawn_once_and_opened_one_by_one(shown: Shown) -> None:
    """They are most of the model, so one of them is open at first sight."""
    page = shown.model(transformer(48).xml)
    assert page.locator(".item.stack.open:has-text('48 \u00d7 net/layers')").count() == 1
    assert page.locator(".item.stack:not(.open):has-text('48 \u00d7 Parameter')").count() == 1
    assert page.locator(".chip").count() == 48
    assert "1 of 48: 0" in page.text_content("#graph")
    page.click(".chip[data-block='2']")
    assert "3 of 48: 2" in page.text_content("#graph")
    page.click(".item.group:has-text('attention')")  # three clicks lead to the third block's attention
    assert page.locator(".item:has-text('Broadcast')").count() == 1
    assert "2" in page.inner_text("#crumbs")
    assert legibility(page).faults == []


def test_a_tensor_that_many_layers_read_is_named_at_each_reader(shown: Shown) -> None:
    page = shown.model(transformer(12).xml)
    page.click(".item.group:has-text('attention')")
    stubs = page.locator(".stub:has-text('mask')")
    assert stubs.count() > 2
    stubs.first.hover()
    assert page.locator(".stub.lit").count() == stubs.count()
    assert page.locator(".item.lit:has-text('mask')").count() == 1
    stubs.first.click()
    assert page.inner_text("#panel h2") == "Parameter"


def test_zooming_out_closes_and_zooming_in_opens(shown: Shown) -> None:
    page = shown.model(transformer(12).xml)
    page.mouse.move(640, 500)
    for _ in range(40):
        page.mouse.wheel(0, 100)
    assert page.locator(".item.open").count() == 0
    box = page.locator(".item.stack:has-text('12 \u00d7 net/layers')").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    for _ in range(20):
        page.mouse.wheel(0, -100)
    assert page.locator(".item.open").count() >= 1
    assert legibility(page).faults == []


def test_the_measure_sees_what_cannot_be_read(shown: Shown) -> None:
    """A page that is made worse fails each part of the measure."""
    page = shown.model(ATROUS)
    assert legibility(page).faults == []
    page.evaluate("() => { app.graph.view.scale = 0.5; app.graph.move(); }")
    assert legibility(page).font < 7
    page.evaluate(
        "() => { app.graph.view.scale = 1; app.graph.move(); document.querySelector('.item.layer .box').setAttribute('height', 200); }"
    )
    assert any(one.startswith("boxes") for one in legibility(page).overlaps)
    page.evaluate("() => document.querySelector('.edge').setAttribute('d', 'M10 300L10 20')")
    assert len(legibility(page).upward) == 1
