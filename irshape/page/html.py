"""One HTML file that shows a model: the page, its scripts and the data, with a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

_ASSETS: Final = os.path.join(os.path.dirname(__file__), "assets")
_LIBRARY: Final = "dagre.min.js"
_SCRIPTS: Final = (
    "model.js", "formulas.js", "layout.js", "graph.js", "detail.js", "pointer.js", "map.js", "places.js", "colours.js", "source.js",
    "panel.js", "lists.js", "sweep.js", "whatif.js", "export.js", "app.js",
)  # fmt: skip


def asset(name: str) -> str:
    """A file of the page."""
    with open(os.path.join(_ASSETS, name), encoding="utf-8") as file:
        return file.read()


def page(data: Mapping[str, Any] | None, *, start: str = "start.js", allows: Mapping[str, Sequence[str]] = {}) -> str:
    """The page that shows `data`, the data of `PageData.to_dict`; None leaves it to the script.

    The page loads nothing and runs no script but its own. `start` is the script that begins, and `allows` has what else the policy
    allows, by directive.
    """
    style, library = asset("page.css"), asset(_LIBRARY)
    script = "\n".join(map(asset, (*_SCRIPTS, start)))
    parts = {
        "policy": policy([library, script], [style], allows),
        "title": escape(data["name"] if data else "irshape"),
        "style": style,
        "data": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "library": library,
        "script": script,
    }
    return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], asset("page.html"))


def policy(scripts: Iterable[str], styles: Iterable[str], allows: Mapping[str, Sequence[str]] = {}) -> str:
    """The Content-Security-Policy that allows these scripts and styles, by their hashes, what `allows` has, and nothing else."""
    hashes = {"script-src": [f"'sha256-{_hash(text)}'" for text in scripts], "style-src": [f"'sha256-{_hash(text)}'" for text in styles]}
    hashes["img-src"] = ["blob:"]  # the picture of the graph that the page itself makes
    rules = [" ".join([rule, *hashes.get(rule, ()), *allows.get(rule, ())]) for rule in dict.fromkeys([*hashes, *allows])]
    return "; ".join(["default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
