"""The page of `irshape view` in Chromium: what a person finds in it, by clicks and keys."""

import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from irshape import verbs
from irshape.page.data import PageData
from irshape.page.html import page as html
from tests.page.conftest import Shown
from tests.support.ir import Net
from tests.support.places import ATROUS, EXAMPLES

pytestmark = pytest.mark.slow("need Chromium")

# The text of every output port, by layer and port, for sizes of the symbols; and what the page says is refused.
SIZES = """(sizes) => {
  app.setSizes(sizes);
  const texts = {};
  for (let layer = 0; layer < app.model.count; layer++) {
    app.model.signature(layer).outputs.forEach((id, output) => {
      texts[`${app.model.data.layers.key[layer]}:${id}`] = app.tensorText(layer, output);
    });
  }
  return [texts, app.broken.map((number) => app.model.data.layers.key[app.model.data.demands[number].layer])];
}"""


def test_the_graph_shows_layers_groups_and_shapes(shown: Shown) -> None:
    page = shown.model(ATROUS)
    drawn = page.text_content("#graph")
    for text in ("Parameter", "DepthToSpace", "atrous", "4 layers", "f32[B,3,H,W]", "f32[B,4,(H + 1)//2,(W + 1)//2]"):
        assert text in drawn
    assert "SpaceToBatch" in drawn  # a small model is open
    page.click(".item.group .head")
    assert "SpaceToBatch" not in page.text_content("#graph")
    page.click(".item.group")
    assert "SpaceToBatch" in page.text_content("#graph")


def test_shapes_are_shown_as_bounds_or_formulas(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.click("[data-shown=bounds]")
    assert "f32[?,4,2..,2..]" in page.text_content("#graph")
    page.click("[data-shown=formulas]")
    assert "f32[B,4,(H + 1)//2,(W + 1)//2]" in page.text_content("#graph")


def test_a_size_is_explained_in_two_clicks(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.click(".item:has-text('DepthToSpace')")
    page.click("[data-output='0'] .axis >> nth=2")
    why = page.inner_text("[data-why]")
    for text in (
        "axis 2 is 2*((H + 1)//2)",
        "Parameter image",
        "Convolution stem",
        "strides[0]: attribute (27:10)",
        "DepthToSpace upsample",
        "block_size",
    ):
        assert text in why


def test_a_fault_is_found_from_the_list_and_from_the_layer(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "faulty.xml")
    assert page.get_attribute("[data-tab=faults]", "aria-selected") == "true"
    page.click("[data-fault]:has-text('G110')")
    assert page.inner_text("#panel h2") == "Reluu"
    assert page.text_content(".item.chosen .kind") == "Reluu"
    page.click(".item:has-text('Concat')")
    assert "S201" in page.inner_text("#panel")
    assert page.locator(".row.chosen:has-text('S201')").count() == 2


def test_a_layer_shows_place_attributes_values_and_demands(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.fill("#search", "space_to_batch")
    page.keyboard.press("Enter")
    panel = page.inner_text("#panel")
    for text in ("93:3", "opset2", "block_shape", "= 1, 1, 2, 2", "((H + 1)//2) % 2 == 0", "must be a multiple of block_shape[2]"):
        assert text in panel
    page.click("#panel [data-layer]:has-text('atrous/block')")
    assert "[1, 1, 2, 2]" in page.inner_text("#panel")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("stem/relu", ["ReLU"]),
        ("depthtospace", ["DepthToSpace"]),
        ("[b,8,", ["Concat"]),
        ("conv f32[4*b", ["Convolution", "ReLU"]),
        ("nowhere", []),
    ],
)
def test_search_finds_names_types_and_shapes(shown: Shown, words: str, found: list[str]) -> None:
    page = shown.model(ATROUS)
    page.fill("#search", words)
    assert page.locator(".layer-row b").all_inner_texts() == found


def test_search_finds_codes(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "faulty.xml")
    page.fill("#search", "s204")
    assert "fold_again" in page.inner_text(".layer-row")


def test_keys_do_what_the_mouse_does(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.keyboard.press("/")
    page.keyboard.type("image")
    page.keyboard.press("Enter")
    assert page.inner_text("#panel h2") == "Parameter"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#panel h2") == "Convolution"
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#panel h2") == "Parameter"
    page.focus(".item.group")
    page.keyboard.press("Enter")
    assert "SpaceToBatch" not in page.text_content("#graph")
    page.keyboard.press("Enter")
    assert "SpaceToBatch" in page.text_content("#graph")
    page.keyboard.press("Escape")
    assert page.inner_text("#panel h2") == "atrous.xml"
    page.keyboard.press("?")
    assert page.is_visible("#keys")


def test_f_goes_from_fault_to_fault(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "faulty.xml")
    found = []
    for _ in range(3):
        page.keyboard.press("f")
        found.append(page.inner_text("#panel h2"))
    assert found == ["Parameter", "SpaceToDepth", "SpaceToDepth"]


def test_bodies_open(shown: Shown) -> None:
    page = shown.model(loop())
    page.click("#close-all")
    assert "Relu" not in page.text_content("#graph")
    page.dblclick(".item:has-text('TensorIterator')")
    assert "body" in page.text_content("#graph")
    page.click(".item.group:has-text('body')")
    assert "Relu" in page.text_content("#graph")


def loop() -> str:
    """A TensorIterator whose body is a Relu."""
    net = Net("x: f32[1,4]")
    net.named["loop"] = net.holder("TensorIterator(x)", "0 > p; o > 1", body=Net("p: f32[1,4] -> Relu -> o: Result"))
    net.add("loop -> Result")
    return net.xml


# What if.


def intervals(text: str) -> tuple[str, list[tuple[float, float]]]:
    """The element type and the intervals of the sizes in a text: `f32[2,3..,?]`."""
    element_type, _, sizes = text.removesuffix("]").partition("[")
    found = []
    for size in filter(None, sizes.split(",")):
        low, dots, high = ("", "..", "") if size == "?" else size.partition("..")
        found.append((float(low or 0), float(high or "inf") if dots else float(low)))
    return element_type, found


def has_room_for(ours: str, theirs: str) -> bool:
    """Whether our intervals contain theirs."""
    (one, sizes), (other, inner) = intervals(ours), intervals(theirs)
    return one == other and len(sizes) == len(inner) and all(a <= c and d <= b for (a, b), (c, d) in zip(sizes, inner, strict=True))


def agree(shown: Shown, path: Path, inputs: dict[str, str] | None = None, *, most: int = 60) -> tuple[int, int]:
    """Compare the sizes of the page with `irshape.infer` for ten random choices; the number of ports that are equal, and of others."""
    model = verbs.read(path)
    data = PageData(model, inputs=inputs)
    page = shown.text(html(data.to_dict()))
    assert data.signature is not None
    chance = random.Random(20)
    equal = other = 0
    for _ in range(10):
        sizes = {name: max(int(known.low), chance.randint(1, most)) for name, known in data.signature.symbols.items()}
        shapes = data.signature.assign(sizes)
        texts, broken = page.evaluate(SIZES, sizes)
        assert (shapes is None) == bool(broken), sizes
        if shapes is None:
            continue
        for key, (element_type, shape) in verbs.infer(model, inputs=shapes).ports.items():
            if texts[key] == element_type + shape:
                equal += 1
            else:  # the page may know less where no formula tells a size, and never something else
                assert has_room_for(texts[key], element_type + shape), (key, texts[key], element_type + shape)
                other += 1
    return equal, other


@pytest.mark.parametrize(("name", "least"), [("atrous", 30), ("decoder", 300)], ids=["convolutions", "transformer"])
def test_what_if_agrees_with_infer(shown: Shown, name: str, least: int) -> None:
    equal, other = agree(shown, EXAMPLES / f"{name}.xml")
    assert equal > least
    assert other == 0


def test_refused_sizes_name_the_layer_and_the_nearest_sizes(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.fill("#size-H", "30")
    page.fill("#size-W", "64")
    assert "SpaceToBatch atrous/space_to_batch refuses these sizes: axis 2 " in page.inner_text("#banner")
    assert page.locator(".fit").all_inner_texts() == ["H=31", "H=28", "H=32", "H=27"]
    page.click(".fit >> nth=0")
    assert page.input_value("#size-H") == "31"
    assert page.is_hidden("#banner")
    assert "f32[1..,2,32,64]" in page.text_content("#graph")
    page.click("#open-sizes")
    assert "f32[B,2,2*((H + 1)//2),2*((W + 1)//2)]" in page.text_content("#graph")


def test_a_size_that_is_none_names_the_sizes_and_the_layers_that_leave_them(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.fill("#size-H", "1")
    told = page.inner_text(".refused >> nth=0")
    assert told.startswith("H cannot be 1: it may be at least 3, because of")
    assert "SpaceToBatch atrous/space_to_batch: axis 2 with its pads" in told


def test_sizes_behind_a_layer_that_refuses_are_unknown(shown: Shown) -> None:
    page = shown.model(ATROUS)
    texts, broken = page.evaluate(SIZES, {"B": 1, "H": 30, "W": 64})
    assert broken == ["7"]
    assert texts["2:2"] == "f32[1,4,15,32]"
    assert texts["7:4"] == "f32[?,4,?,?]"


def test_sizes_behind_a_layer_that_leaves_a_symbol_other_sizes_are_unknown(shown: Shown) -> None:
    page = shown.model(Net("x: f32[1,3,?,8] -> SpaceToDepth(block_size=2) -> y: Result").xml)
    texts, broken = page.evaluate(SIZES, {"H": 7})
    assert ([*texts.values()], broken) == (["f32[1,3,7,8]", "f32[1,12,?,4]"], [])
    assert "SpaceToDepth" in page.inner_text("#banner")
    assert "Cost" not in page.text_content("#panel")
    page.evaluate("app.setSizes({})")
    assert "Cost" in page.text_content("#panel")


def test_a_slider_sets_a_size(shown: Shown) -> None:
    page = shown.model(ATROUS)
    page.focus("input[type=range] >> nth=1")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#size-H") == "4"


def test_a_slider_has_the_sizes_that_fit_the_others(shown: Shown) -> None:
    """The product of both sizes is 12."""
    page = shown.model(Net("a: f32[?,1]\nb: f32[1,?]\na -> MatMul(b) -> Reshape([3,4]) -> Result").save(shown.folder / "m.xml"))
    page.click("[data-tab=what-if]")
    first, second = page.evaluate("app.formulas.names")
    for size, sizes, words in ((3, [4], "4"), (6, [2], "2")):
        page.fill(f"#size-{first}", str(size))
        assert page.evaluate(f"app.whatIf.validOf('{second}')") == sizes
        assert (page.get_attribute(f"#size-{second}", "min"), page.locator(".range >> nth=1").inner_text()) == (words, words)
    page.fill(f"#size-{second}", "4")
    assert "refuses these sizes" in page.inner_text("#list")
    assert f"{first}=3" in page.locator(".fit").all_inner_texts()


def test_a_model_without_open_sizes_says_how_to_open_them(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "space_to_batch.xml")
    page.click("[data-tab=what-if]")
    assert 'irshape view FILE --input "NAME[1,3,H,W]"' in page.inner_text("#list")


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (["+", "a", "b", -7], 5), (["*", 3, "a", "b"], 105), (["//", ["+", "a", -20], 4], -4), (["//", 7, 0], None), (["min", "a", "b"], 5),
        (["max", "a", "b"], 7), (["broadcast", 1, "a"], 5), (["broadcast", "b", 1], 7),
        ("unknown", [0, "inf"]), (["min", "unknown", "a"], [0, 5]),
        (["*", "unknown", 2], [0, "inf"]), (["//", ["min", "unknown", "a"], 2], [0, 2]), (["*", "a", 2**52], ["-inf", "inf"]),
    ],
)  # fmt: skip
def test_trees_are_evaluated_exactly_or_to_bounds(shown: Shown, tree: Any, expected: Any) -> None:
    """Integers beyond those that a browser holds exactly are unknown, never rounded."""
    page = shown.model(EXAMPLES / "space_to_batch.xml")
    script = """(tree) => {
      const symbols = { a: [0, null, 1, 0], b: [0, null, 1, 0] };
      const formulas = new Formulas({ symbols, unknown: { unknown: [0, null] }, definitions: [], demands: [] });
      const text = (end) => (Number.isFinite(end) ? end : end > 0 ? "inf" : "-inf");
      const value = formulas.sizes({ a: 5, b: 7 }).value(tree);
      return Array.isArray(value) ? value.map(text) : value;
    }"""
    assert page.evaluate(script, tree) == expected


def test_formulas_may_build_on_each_other_without_end(shown: Shown) -> None:
    page = shown.model(EXAMPLES / "space_to_batch.xml")
    script = """() => {
      const definitions = Array.from({ length: 50_000 }, (_, number) => [`e${number + 1}`, ["+", `e${number}`, 1]]);
      const formulas = new Formulas({ symbols: { e0: [0, null, 1, 0] }, unknown: {}, definitions, demands: [] });
      return formulas.sizes({ e0: 7 }).value("e50000");
    }"""
    assert page.evaluate(script) == 50_007


# Safety.

HOSTILE = [
    "</script><script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", "{data}{script}",
    "'\"><svg onload=alert(1)>",
    "a\u202eevil\u202c", "__proto__", "constructor", "line\nbreak\x7f",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(shown: Shown, name: str) -> None:
    from xml.sax.saxutils import quoteattr

    net = Net("_x: f32[1,4]")
    net.result(net.layer("Relu", net.named["_x"], ["FP32"], note=name.replace("\x7f", ""))[0])
    text = net.xml.replace('name="relu_1"', f"name={quoteattr(name.replace(chr(127), ''))}")
    page = shown.model(text)
    page.click(".item:has-text('Relu')")
    page.click("[data-tab=layers]")
    page.fill("#search", "relu")
    escaped = name.replace("\x7f", "").replace("\n", " ").encode("ascii", "backslashreplace").decode()
    assert escaped in page.inner_text("#panel p >> nth=0").replace("\\n", " ")
    assert "owned" not in page.title()
    assert page.locator("img, #panel svg, #list svg").count() == 0


def test_the_page_runs_no_other_script(browser: Any, tmp_path: Path) -> None:
    text = html(PageData(verbs.read(EXAMPLES / "space_to_batch.xml")).to_dict())
    path = tmp_path / "page.html"
    path.write_text(
        text.replace("</body>", "<script>document.title = 'owned'</script><img src='https://example.com/x.png'></body>"), encoding="utf-8"
    )
    page = browser.new_page()
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    page.goto(path.as_uri())
    assert page.title() == "space_to_batch.xml"
    assert sum("Content Security Policy" in one for one in blocked) == 2
    page.close()


# Size and speed, with room for a machine that does other things, too.


def chain(count: int, name: str) -> str:
    """A chain of Relus; `name` is formatted with the number of the layer."""
    xml = Net(f"f32[1,64]{' -> Relu' * (count - 2)} -> Result").xml
    return re.sub(r'name="relu_(\d+)"', lambda found: f'name="{name.format(int(found[1]), block=int(found[1]) // 100)}"', xml)


@pytest.mark.parametrize("name", ["relu_{0}", "block{block}/relu{0}"])
def test_a_large_model_opens_and_answers(shown: Shown, name: str) -> None:
    page = shown.model(chain(5_000, name))
    ready, search, choose = page.evaluate("""() => {
      const timed = (act) => { const begin = performance.now(); act(); return performance.now() - begin; };
      app.model.search("relu");
      const ready = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
      return [ready, timed(() => app.model.search("relu 49")), timed(() => app.choose(4000))];
    }""")
    assert ready < 5_000
    assert search < 100
    assert choose < 5_000
    assert page.locator(".item").count() < 200
    assert page.locator(".layer-row").count() <= 60


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080), (1024, 640)])
def test_nothing_overflows(shown: Shown, width: int, height: int, scheme: str) -> None:
    """1024 pixels are those of a laptop at 125 %."""
    page = shown.model(ATROUS, width=width, height=height, scheme=scheme)
    page.click(".item:has-text('DepthToSpace')")
    page.click("[data-output='0'] .axis >> nth=2")
    sizes = page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll("header, #panel, #list")]
          .map((one) => one.scrollWidth - one.clientWidth)"""
    )
    assert sizes == [0, 0, 0, 0]
    back = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]
    page.click("#theme")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != back


def test_no_box_is_cut_off_on_a_small_screen(shown: Shown) -> None:
    inputs = "\n".join(f"input_{each}: f32[?,3,?,?] -> r{each}: ReLU" for each in range(4))
    page = shown.model(Net(f"{inputs}\nr0, r1, r2, r3 -> Concat(axis=1) -> Result").xml.encode(), width=800, height=600)
    ends = page.evaluate("() => [...document.querySelectorAll('.item, #stage')].map((one) => one.getBoundingClientRect().right)")
    assert len(ends) > 5 and max(ends) <= 800


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["transformers/detr.xml", "transformers/yolos.xml", "transformers/gpt2_kv.xml", "torchvision/fasterrcnn_mobilenet_dyn.xml"]
)
def test_what_if_agrees_with_infer_on_real_models(shown: Shown, name: str) -> None:
    """Detectors and a transformer; Faster R-CNN resizes its input by real factors, so no formula tells its inner sizes."""
    path = Path(os.environ.get("IRSHAPE_CORPUS", "")) / name
    if not path.exists():
        pytest.skip(f"IRSHAPE_CORPUS has no {name}")
    equal, other = agree(shown, path)
    assert equal > 2_000
    assert not other or "fasterrcnn" in name
