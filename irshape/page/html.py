"""One HTML file that shows a model: the page, its scripts and the data, with a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Final

_ASSETS: Final = os.path.join(os.path.dirname(__file__), "assets")
_LIBRARY: Final = "dagre.min.js"
_SCRIPTS: Final = ("model.js", "formulas.js", "graph.js", "panel.js", "lists.js", "whatif.js", "app.js")


def asset(name: str) -> str:
    """A file of the page."""
    with open(os.path.join(_ASSETS, name), encoding="utf-8") as file:
        return file.read()


def page(data: Mapping[str, Any], *, start: str = "start.js", connects: bool = False) -> str:
    """The page that shows `data`, the data of `PageData.to_dict`.

    The page loads nothing and runs no script but its own. `start` is the script that begins, and `connects` allows it to ask the server
    that sent the page.
    """
    style, library = asset("page.css"), asset(_LIBRARY)
    script = "\n".join(map(asset, (*_SCRIPTS, start)))
    parts = {
        "policy": policy([library, script], [style], connects=connects),
        "title": escape(data["name"]),
        "style": style,
        "data": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "library": library,
        "script": script,
    }
    text = asset("page.html")
    pieces = []
    for name, part in parts.items():
        before, _, text = text.partition(f"{{{name}}}")
        pieces += [before, part]
    return "".join([*pieces, text])


def policy(scripts: Iterable[str], styles: Iterable[str], *, connects: bool = False) -> str:
    """The Content-Security-Policy that allows these scripts and styles, by their hashes, and nothing else."""
    sources = {"script-src": scripts, "style-src": styles}
    rules = [" ".join([rule, *(f"'sha256-{_hash(text)}'" for text in texts)]) for rule, texts in sources.items()]
    connect = ["connect-src 'self'"] if connects else []
    return "; ".join(["default-src 'none'", *rules, *connect, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
