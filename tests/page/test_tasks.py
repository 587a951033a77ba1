"""What people come for, with a count of clicks: three lead to each answer. Words that are typed follow a click or a key."""

from collections.abc import Iterator
from typing import Any

import pytest

from irshape import verbs
from tests.page.conftest import Shown
from tests.page.generated import transformer
from tests.support.places import ATROUS, DECODER, EXAMPLES

pytestmark = pytest.mark.slow("need Chromium")


class Hand:
    """Clicks and types, and counts the clicks; to choose from a menu is to click twice."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.clicks = 0

    def click(self, what: str) -> None:
        """Click what is to be seen."""
        self.clicks += 1
        self.page.locator(what).first.click()

    def type(self, what: str, words: str) -> None:
        """Click a field, and type."""
        self.click(what)
        self.page.keyboard.type(words)

    def choose(self, what: str, option: str) -> None:
        """Open a menu, and choose."""
        self.clicks += 2
        self.page.select_option(what, option)

    def reads(self, where: str) -> str:
        """The text that is to be seen in a part of the page."""
        return str(self.page.locator(where).first.inner_text())


@pytest.fixture
def hand(shown: Shown) -> Iterator[Any]:
    """Opens a model; in the end, three clicks must have been enough."""
    hands: list[Hand] = []

    def opened(source: Any) -> Hand:
        hands.append(Hand(shown.model(source)))
        return hands[-1]

    yield opened
    assert [one.clicks for one in hands if one.clicks > 3] == []


def test_which_layer_demands_a_multiple(hand: Any) -> None:
    by_list, by_words = hand(ATROUS), hand(ATROUS)
    by_list.click("[data-tab=demands]")
    by_list.click("[data-demand]:has-text('((W + 1)//2) % 2')")
    by_words.type("#search", "(w + 1)//2) % 2")
    by_words.page.keyboard.press("Enter")
    for one in (by_list, by_words):
        assert one.reads("#panel h2") == "SpaceToBatch"


def test_where_the_peak_of_memory_is_for_a_size(hand: Any) -> None:
    one = hand(ATROUS)
    one.type("#size-H", "1024")
    one.click("#panel .port:has-text('at the peak') button")
    assert "the peak" in one.reads("#panel table")
    assert "H=1024" in one.page.url
    cost = verbs.cost(ATROUS)
    layer = cost.peak.layer({**cost.near, "H": 1024})
    assert layer is not None
    assert one.reads("#panel h2") == layer.type


def test_the_attention_of_the_third_block(hand: Any) -> None:
    one = hand(transformer(48).xml)
    one.click(".chip[data-block='2']")
    one.click(".item.group:has-text('attention')")
    assert one.page.locator(".item:has-text('Broadcast')").count() == 1


def test_a_link_to_a_fault(hand: Any, shown: Shown) -> None:
    one = hand(EXAMPLES / "faulty.xml")
    one.page.evaluate("() => document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
    one.click("[data-fault]:has-text('G110')")
    one.click("#copy-link")
    other = shown.address(one.page.evaluate("() => window.copied"))
    assert other.inner_text("#panel") == one.page.inner_text("#panel")


def test_which_layers_read_an_input(hand: Any) -> None:
    one = hand(transformer(12).xml)
    one.click("#panel button:text-is('mask')")
    readers = one.page.locator("#panel h3:text-is('Read by') ~ p")
    assert readers.count() == 31  # the first 30, and how many more


def test_the_view_as_a_picture(hand: Any) -> None:
    one = hand(ATROUS)
    one.click("#more summary")
    with one.page.expect_download() as found:
        one.click("#save-svg")
    assert found.value.suggested_filename == "atrous.svg"


def test_the_size_of_an_output_for_a_size(hand: Any) -> None:
    one = hand(DECODER)
    one.type("#size-S", "128")
    assert "128" in one.reads("#panel .port:has-text('logits')")


def test_the_command_that_reshapes_so(hand: Any) -> None:
    one = hand(ATROUS)
    one.type("#size-H", "63")
    one.click("#copy-command")
    assert one.reads(".command").endswith("--set H=63 -o reshaped.xml")


def test_which_layer_has_the_most_macs(hand: Any) -> None:
    one = hand(EXAMPLES / "detector.xml")
    one.choose("#colour", "macs")
    cost = verbs.cost(EXAMPLES / "detector.xml")
    most = max(cost.layers, key=lambda layer: int(cost.at(layer.macs)))
    one.click("#legend button")
    assert one.reads("#panel p") == most.name
    one.page.click("[data-tab=layers]")
    assert most.name in one.reads(".layer-row")


def test_the_text_of_a_faulty_layer(hand: Any) -> None:
    one = hand(EXAMPLES / "faulty.xml")
    one.click("[data-fault]:has-text('R302')")
    assert one.reads("#panel .underlined") == '<port id="0" precision="FP16"/>'
