"""The libraries in the page are those that THIRD_PARTY.md lists."""

import hashlib
import re
from pathlib import Path

from tools.vendor import ASSETS, LIBRARIES, ROOT


def test_every_library_is_the_listed_one() -> None:
    listed = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    for library in LIBRARIES:
        text = (ASSETS / Path(library.file).name).read_bytes()
        assert f"## {library.package} {library.version}\n" in listed
        assert f"`{hashlib.sha256(text).hexdigest()}`" in listed
        assert f"Licence: {library.licence}." in listed


def test_no_other_library_is_in_the_page() -> None:
    """The page's own scripts begin with a sentence about what they do."""
    own = {path.name for path in ASSETS.glob("*.js")} - {Path(library.file).name for library in LIBRARIES}
    assert all(
        re.match(r'// [A-Z][^\n]+\n(// [^\n]+\n)*("use strict";|import .*)\n', (ASSETS / name).read_text(encoding="utf-8")) for name in own
    )
