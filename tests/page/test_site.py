"""The site that runs irshape in the browser: dropped files are answered there, and nothing is asked of another host."""

import http.server
import json
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.page.browser import RangedFile
from tests.page.conftest import Shown
from tests.page.legibility import legibility
from tests.page.test_page import EXAMPLES, chain
from tools.pyodide.run import VERSION, installed_version

pytestmark = pytest.mark.slow("need Chromium")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A static host that writes no log, and knows no type but these."""

    extensions_map = {
        ".html": "text/html",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        "": "application/json",
    }

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site on a static host."""
    if installed_version() != VERSION:
        pytest.skip("the tests of the site need Pyodide; `make pyodide` installs it")
    from tools.site import build

    site = build(tmp_path_factory.mktemp("site") / "browser")  # workers do not share it
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def loaded(shown: Shown, address: str, **options: Any) -> Any:
    page = shown.address(address, **options)
    page.set_default_timeout(60_000)
    page.locator("#site-status:has-text('loading')").wait_for()
    page.locator("#site-status:empty").wait_for(state="attached")
    return page


def test_a_model_is_answered_in_the_browser(shown: Shown, address: str, tmp_path: Path) -> None:
    page = loaded(shown, address)
    page.set_input_files("#files", [EXAMPLES / "atrous.xml", EXAMPLES / "atrous.bin"])
    page.locator("#graph:has-text('f32[B,4,(H + 1)//2,(W + 1)//2]')").wait_for()
    page.click(".item:has-text('DepthToSpace')")
    page.click("[data-output='0'] .axis >> nth=2")
    assert "Convolution stem" in page.inner_text("[data-why]")

    page.fill("#shapes", "image[1,3,64,48]")
    page.click("#infer")
    page.locator("#graph:has-text('f32[1,4,32,24]')").wait_for()
    with page.expect_download() as annotated:
        page.click("#annotated")
    expected = irshape.infer(EXAMPLES / "atrous.xml", inputs={"image": "[1,3,64,48]"})
    assert annotated.value.suggested_filename == "atrous.annotated.xml"
    assert Path(annotated.value.path()).read_bytes() == expected.xml()

    page.fill("#shapes", "picture[1,3,64,48]")
    page.click("#infer")
    page.locator('#site-status:has-text("picture")').wait_for()
    with page.expect_download() as report:
        page.click("#sarif")
    assert json.loads(Path(report.value.path()).read_text(encoding="utf-8"))["version"] == "2.1.0"


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 800, "light"), (1920, 1080, "dark"), (1024, 640, "light")])
def test_nothing_shines_through_the_start_page(shown: Shown, address: str, width: int, height: int, scheme: str) -> None:
    """Beside the title, all that is to be seen is the place for files, which is in view as a whole."""
    page = loaded(shown, address, width=width, height=height, scheme=scheme)
    seen = page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().width
             && !one.closest("#landing")).map((one) => one.id || one.tagName)"""
    )
    assert seen == ["HEADER", "title"]
    box = page.locator("#landing").bounding_box()
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= height
    assert legibility(page).font >= 12
    for one in page.locator("#landing > *").all():
        inner = one.bounding_box()
        assert box["y"] <= inner["y"] <= inner["y"] + inner["height"] <= box["y"] + box["height"]


def test_a_dropped_model_of_500_layers_is_shown_soon(shown: Shown, address: str, tmp_path: Path) -> None:
    path = tmp_path / "chain.xml"
    path.write_text(chain(500, "relu_{0}"), encoding="utf-8")
    page = loaded(shown, address)
    begin = time.monotonic()
    page.set_input_files("#files", [path])
    page.locator("#summary:has-text('500 layers')").wait_for()
    assert time.monotonic() - begin < 15


def test_a_ranged_file_reads_what_is_asked_for() -> None:
    asked = []

    def read(begin: int, end: int) -> bytes:
        asked.append((begin, end))
        return bytes(range(100))[begin:end]

    file = RangedFile(read, 100)
    assert file.seek(0, 2) == 100
    assert file.read(5) == b""
    file.seek(97)
    assert (file.read(2), file.tell(), file.read(), file.read()) == (b"ab", 99, b"c", b"")
    assert asked == [(97, 99), (99, 100)]
