"""The places, colours, faults and pictures of the page, and its sweep of sizes, by clicks and keys."""

import re
from pathlib import Path
from typing import Any

import pytest

from irshape import verbs
from irshape.page.data import PageData
from irshape.page.html import page as html
from irshape.report.text import bytes_text
from tests.page.conftest import Shown
from tests.page.generated import transformer
from tests.page.legibility import legibility
from tests.support.ir import Net
from tests.support.places import ATROUS, DECODER, EXAMPLES, STATEFUL

pytestmark = pytest.mark.slow("need Chromium")


# Places.


def test_a_place_has_an_address(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "faulty.xml")
    page.click("[data-fault]:has-text('G110')")
    assert page.url.endswith("#fault=8") or re.search(r"#fault=\d+$", page.url)
    address = page.url
    page.click(".item:has-text('Concat')")
    assert "#layer=" in page.url
    page.click("#back")
    page.wait_for_url(address)
    assert page.inner_text("#panel h2") == "Reluu"
    page.click("#forward")
    page.locator("#panel h2:has-text('Concat')").wait_for()


def test_an_address_leads_to_a_layer_in_a_closed_block(shown: Shown) -> None:
    page = shown.model(transformer(48).xml)
    key = page.evaluate(
        "() => app.model.data.layers.key[app.model.data.layers.name.findIndex((name) => name.includes('layers.30.attention.out'))]"
    )
    page.evaluate("(key) => { location.hash = `#layer=${key}`; }", key)
    page.locator("#panel:has-text('layers.30.attention.out')").wait_for()
    assert page.locator(".item.chosen").count() == 1
    assert page.locator(".chip.shown").first.text_content() == "31"
    assert "30" in page.inner_text("#crumbs")
    assert legibility(page).faults == []


def test_an_address_has_the_sizes(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.fill("#size-H", "31")
    page.wait_for_url("**/*#H=31")
    page.evaluate("() => { location.hash = '#H=63'; }")
    page.locator("#graph:has-text('f32[1..,3,63,')").wait_for()


@pytest.mark.parametrize("fragment", ["#layer=nothing", "#group=99999", "#fault=x", "#%E0%A4%A", "#H=-5", "#layer", "#__proto__=1"])
def test_an_address_of_nothing_shows_the_model(shown: Shown, fragment: str) -> None:
    page = shown.model(ATROUS)
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    assert page.inner_text("#panel h2") == "atrous.xml"


def test_search_flies_into_a_closed_block(shown: Shown) -> None:
    page = shown.model(transformer(48).xml)
    page.fill("#search", "layers.2.attention.out")
    page.keyboard.press("Enter")
    assert page.locator(".item.chosen").count() == 1
    assert page.locator(".chip.shown").first.text_content() == "3"


def test_the_map_shows_what_is_out_of_sight(shown: Shown) -> None:
    page = shown.model(transformer(48).xml)
    assert page.is_hidden("#map")
    for _ in range(8):
        page.keyboard.press("+")
    assert page.is_visible("#map")
    before = page.get_attribute("#canvas", "transform")
    page.click("#map", position={"x": 3, "y": 3})
    assert page.get_attribute("#canvas", "transform") != before


# Cost.


# The steps of an input, times as many positions as a Range of the data has.
COUNTED = "x: f32[?,1]\nn: i64[]\nx -> MatMul(Unsqueeze(Range-4(0, n, 1, output_type=f32), 0)) -> Result"


@pytest.mark.parametrize("name", ["atrous.xml", "decoder.xml", "detector.xml", "counted"])
def test_costs_are_those_of_irshape_cost(shown: Shown, name: str) -> None:
    """At the usual sizes, and at others; a size that only the data tell is that of an input."""
    source = Net(COUNTED).save(shown.folder / "m.xml") if name == "counted" else EXAMPLES / name
    page = shown.model(source)
    usual = verbs.cost(source)
    for factor in (1, 2):
        sizes = {symbol: size * factor for symbol, size in usual.near.items() if symbol in usual.symbols}
        cost = verbs.cost(source, near=sizes)
        if factor > 1 and not sizes:
            break
        macs, memory, text, peak = page.evaluate(
            """(sizes) => {
              app.setSizes(sizes);
              const colours = app.colours, memory = colours.total("memory");
              return [colours.total("macs"), memory, colours.amount("memory", memory), app.model.data.layers.key[colours.peak()]];
            }""",
            sizes,
        )
        assert macs == cost.at(cost.macs)
        assert memory == cost.at(cost.peak_memory)
        assert text == bytes_text(memory)
        layer = cost.peak.layer(cost.near)
        assert layer is not None
        assert peak == layer.key


def test_colours_follow_the_sizes_and_mark_the_peak(shown: Shown) -> None:
    page = shown.model(ATROUS)
    fills = "() => [...document.querySelectorAll('.item.layer .box')].map((one) => one.style.fill)"
    assert not any(page.evaluate(fills))
    page.select_option("#colour", "macs")
    assert any("--heat" in one for one in page.evaluate(fills))
    assert "MACs" in page.inner_text("#legend")
    page.click("[data-tab=layers]")
    assert page.locator(".bar").count() > 3
    page.select_option("#colour", "memory")
    assert page.locator(".item.peak").count() >= 1
    text = page.inner_text("#legend")
    page.evaluate("() => app.setSizes({ H: 511 })")
    assert page.inner_text("#legend") != text
    for mode in ("type", "resolution", "weights", "none"):
        page.select_option("#colour", mode)
        assert legibility(page).faults == []
    assert page.is_hidden("#legend")


# What if.


def test_a_slider_has_the_valid_sizes_alone(shown: Shown) -> None:
    page = shown.model(ATROUS, inputs={"image": "[1,3,H,64]"})
    signature = verbs.signature(ATROUS, inputs={"image": "[1,3,H,64]"})
    valid = page.evaluate("() => app.whatIf.validOf('H')")
    assert valid[:200] == [size for size in range(1, 1025) if signature.assign({"H": size}) is not None][:200]
    assert page.locator(".entry.open").count() == 1
    page.focus("input[type=range]")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#size-H") == str(valid[1])
    assert page.locator(".entry.open").count() == 0
    assert page.is_hidden("#banner")


def test_sizes_become_a_command(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.fill("#size-H", "31")
    page.click("#copy-command")
    assert "--set H=31 -o reshaped.xml" in page.inner_text(".command")
    page.fill("#size-W", "64")
    assert "--set H=31 W=64 -o reshaped.xml" in page.inner_text(".command")


def test_a_sweep_draws_a_cost_against_a_size(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.locator(".sweep .curve").wait_for()
    titles = page.locator(".sweep circle title").all_text_contents()
    assert [title.partition(":")[0] for title in titles] == [f"B={size}" for size in (1, 2, 4, 8, 16, 32, 64)]
    page.select_option(".sweep select >> nth=1", "H")
    assert "H=" in page.text_content(".sweep .chart")
    page.select_option(".sweep select >> nth=0", "memory")
    assert "1.835 MB" in page.text_content(".sweep .chart")
    page.fill("#size-H", "471")
    page.locator(".sweep circle.now:has-text('H=471: ')").wait_for(state="attached")


def test_the_state_of_a_model_stands_beside_its_inputs(shown: Shown) -> None:
    page = shown.model(STATEFUL)
    assert page.inner_text("#summary") == "26 layers and 15 layers of constants, no faults"
    assert "STATE\npast.keypresent.key f32[B,2,P,4]" in page.inner_text("#panel").replace("\n\n", "\n")


def test_a_label_leaves_out_whole_sizes(shown: Shown) -> None:
    """A part of a formula says nothing."""
    page = shown.model(ATROUS)
    layer = page.evaluate("() => app.model.data.layers.name.indexOf('upsample')")
    whole, short, least = (page.evaluate(f"() => app.shortTensor({layer}, 0, {most})") for most in (60, 30, 12))
    assert (whole, short, least) == ("f32[B,2,2*((H + 1)//2),2*((W + 1)//2)]", "f32[B,2,…,2*((W + 1)//2)]", "f32[B,2,…,…]")


def test_changes_of_many_layers_alike_are_one_group(shown: Shown) -> None:
    texts = [f"x: f32[2]\nx -> {' -> '.join(f'add{i}: Add({data})' for i in range(5))} -> Result" for data in ("f32=[1.0,2.0]", "x")]
    before, after = (verbs.read(net.xml, weights=net.bin) for net in map(Net, texts))
    data = PageData(after)
    data.difference = verbs.diff(before, after)
    page = shown.text(html(data.to_dict()))
    assert "removed Const \u00d7 5" in page.inner_text("#list")
    page.click("#list summary:has-text('Const')")
    assert page.locator("#list details[open] .row").count() == 5
    page.click("#list details[open] .row >> nth=0")
    assert page.evaluate("() => app.model.name(app.chosen)") == "add0"


def test_a_refusal_does_not_cover_the_first_layer(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.evaluate("() => app.setSizes({ H: 30, W: 64 })")
    banner, first = page.locator("#banner").bounding_box(), page.locator(".item.end").first.bounding_box()
    assert banner["y"] > first["y"] + first["height"]


# Pooling by 56 leaves 16 elements only where (H//56)*(W//56) == 16; no demand is on H or on W alone.
POOLED = """
x: f32[?,3,?,?] -> MaxPool-1(kernel="56,56", strides="56,56", pads_begin="0,0", pads_end="0,0", rounding_type=floor)
    -> Reshape([0,3,16], special_zero=true) -> Result
"""
SCREENS = [(1400, 900), (1280, 800), (1100, 750)]


def pooled(shown: Shown, width: int, height: int) -> Any:
    """The page of a model whose What if refuses 230 by 300."""
    net = Net(POOLED)
    page = shown.text(html(PageData(verbs.read(net.xml, weights=net.bin)).to_dict()), width=width, height=height)
    page.evaluate("() => app.setSizes({ B: 1, H: 230, W: 300 })")
    return page


def test_the_nearest_sizes_are_sought_among_those_of_the_sliders(shown: Shown) -> None:
    """4 * 5 is not 16; of the sizes that sliders offer, W=279 is the nearest that gives 4 * 4."""
    page = pooled(shown, 1400, 900)
    assert page.locator(".fit").first.inner_text() == "W=279"


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_a_refusal_stands_below_the_graph_and_beside_the_sliders(shown: Shown, width: int, height: int) -> None:
    page = pooled(shown, width, height)
    banner, stage, refused = (page.locator(one).first.bounding_box() for one in ("#banner", "#stage", ".refused"))
    assert banner["y"] >= stage["y"] + stage["height"]
    assert refused["y"] + refused["height"] <= height
    assert legibility(page).whole
    page.click(".refused button")  # the chosen layer is told of again
    assert page.is_visible("#panel h2:has-text('Reshape')")


# Faults.


def test_a_fault_shows_its_line_its_fix_and_its_rule(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "faulty.xml")
    page.click("[data-fault]:has-text('R302')")
    assert '<port id="0" precision="FP16"/>' in page.inner_text("#panel .source >> nth=0")
    assert page.inner_text("#panel .underlined") == '<port id="0" precision="FP16"/>'
    assert '- <port id="0" precision="FP16"/>' in page.inner_text("#panel .source >> nth=1")
    assert '+ <port id="0" precision="U8"/>' in page.inner_text("#panel .source >> nth=1")
    page.click("#panel .rule summary")
    assert "differs from the element type that the model computes" in page.inner_text("#panel .rule p >> nth=0")


def test_faults_are_grouped_by_cause(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "faulty.xml")
    assert "S201 2 times" in page.inner_text(".cause summary")


def test_the_diff_of_a_fix_is_the_change_that_it_makes() -> None:
    inference = verbs.check(EXAMPLES / "faulty.xml")
    source = inference.document.source.decode()
    faults = PageData(verbs.read(EXAMPLES / "faulty.xml")).to_dict()["faults"]
    shown = [(one, fault) for one, fault in zip(inference.diagnostics, faults, strict=True) if one.fix is not None]
    assert shown
    for one, fault in shown:
        assert one.fix is not None
        text = source
        for edit in sorted(one.fix.edits, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        for mark, line in fault["diff"]:
            assert (line.strip() in source) if mark == "-" else (line.strip() in text)


# Pictures.


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_view_becomes_a_picture(shown: Shown, kind: str) -> None:
    page = shown.model(ATROUS)
    page.click("#more summary")
    with page.expect_download() as found:
        page.click(f"#save-{kind}")
    assert found.value.suggested_filename == f"atrous.{kind}"
    data = Path(found.value.path()).read_bytes()
    if kind == "svg":
        assert b"DepthToSpace" in data
        assert b"<script" not in data
    else:
        assert data.startswith(b"\x89PNG")
        assert len(data) > 10_000


def test_print_shows_the_graph_alone(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.emulate_media(media="print")
    assert page.is_hidden("#side")
    assert page.is_hidden("#panel")
    assert page.is_visible("#graph")


# Ends.


def test_tabs_are_on_one_line(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "faulty.xml")
    for name in ("faults", "demands"):
        page.locator(f"[data-tab={name}]").evaluate("(tab) => { tab.textContent = `${tab.textContent.split(' ')[0]} 999`; }")
    tops: set[Any] = {
        one["y"]
        for one in page.evaluate("() => [...document.querySelectorAll('#tabs button')].map((one) => one.getBoundingClientRect().toJSON())")
    }
    assert len(tops) == 1
    assert page.evaluate("() => document.getElementById('tabs').scrollWidth <= document.getElementById('tabs').clientWidth")


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_the_page_of_a_diff_cuts_nothing(shown: Shown, width: int, height: int) -> None:
    before, after = Net("x: f32[?,8] -> ReLU -> Result"), Net("x: f32[?,8] -> Elu(alpha=1.0) -> y: Sigmoid -> Result")
    data = PageData(verbs.read(after.xml))
    data.difference = verbs.diff(verbs.read(before.xml), data.model)
    page = shown.text(html(data.to_dict()), width=width, height=height)
    page.locator("[data-tab=faults]").evaluate("(tab) => { tab.textContent = 'Faults 999'; }")
    assert len({one.bounding_box()["y"] for one in page.locator("#tabs button").all()}) == 1
    for one in ("#tabs", "#summary"):
        assert page.locator(one).evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert page.locator("#search").bounding_box()["width"] >= 290
    assert str(data.difference.summary) in page.inner_text("#list")


def test_outputs_are_listed_by_name_and_a_screen_reader_counts_layers(shown: Shown) -> None:
    page = shown.model(DECODER)
    assert "logits" in page.inner_text("#panel")
    page.click("[data-tab=layers]")
    row = page.locator(".layer-row").first
    assert row.get_attribute("role") == "option"
    assert row.get_attribute("aria-setsize") == str(page.evaluate("() => app.model.count"))
