"""Chromium for the tests of the page, and the pages that it opens."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from irshape import verbs
from irshape.page.data import PageData
from irshape.page.html import page as html

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window. Tests are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the tests of the page need the package playwright")
    path = os.environ.get("IRSHAPE_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        pytest.skip("the tests of the page need Chromium, and none is installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield chromium
        chromium.close()


class Shown:
    """Opens pages. Each page must write nothing to the console, and load nothing."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.pages: list[Any] = []
        self.said: list[str] = []

    def text(self, text: str, *, width: int = 1280, height: int = 800, scheme: str = "light") -> Any:
        """Show an HTML file."""
        path = self.folder / f"page{len(self.pages)}.html"
        path.write_text(text, encoding="utf-8")
        return self.address(path.as_uri(), width=width, height=height, scheme=scheme)

    def address(self, address: str, *, width: int = 1280, height: int = 800, scheme: str = "light") -> Any:
        page = self.browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.pages.append(page)
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        own = (address.partition("#")[0], "blob:")  # a blob is what the page itself made
        page.on("request", lambda request: None if request.url.startswith(own) else self.said.append(f"loads {request.url}"))
        page.set_default_timeout(20_000)
        page.goto(address)
        return page

    def model(self, source: Any, **options: Any) -> Any:
        """Show a model: a path, or what `irshape.read` takes."""
        model = verbs.read(str(source) if isinstance(source, Path) else source)
        return self.text(
            html(PageData(model, inputs=options.pop("inputs", None), weights=options.pop("weights", None)).to_dict()), **options
        )


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Shown]:
    found = Shown(browser, tmp_path)
    yield found
    for page in found.pages:
        page.close()
    assert found.said == []
