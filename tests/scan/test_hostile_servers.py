"""`irshape scan` of servers that lie, never end and lead astray: little work, and no verdict that rests on a part of a file."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from irshape.cli.main import main
from irshape.scanning.results import read
from tests.fuzz.hostile import SMALL

pytestmark = pytest.mark.slow("take long")

pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'irshape[scan]'")
pytest.importorskip("aiohttp", reason="aiohttp is not installed: pip install 'irshape[scan]'")

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A server whose every answer is that of a function; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):
                super().handle()

        def do_GET(self) -> None:
            answer(self)

        def do_HEAD(self) -> None:
            answer(self)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, body: bytes, kind: str = "application/octet-stream", **headers: str) -> None:
    handler.send_response(200)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    if handler.command == "GET":
        handler.wfile.write(body)


def scanned(url: str, tmp_path: Path) -> tuple[int, list[dict[str, Any]]]:
    output = tmp_path / "out.jsonl"
    code = main(["scan", url, "-o", str(output), "-q", "--force", "--jobs", "1"])
    return code, list(read(str(output))) if output.exists() else []


def test_a_listing_that_links_to_itself_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = 0

    def answer(handler: BaseHTTPRequestHandler) -> None:
        nonlocal count
        count += 1
        send(handler, b'<a href="sub/">x</a><a href="./">x</a><a href="/">x</a>', "text/html")

    with serving(answer) as url:
        assert scanned(f"{url}/", tmp_path) == (2, [])
    assert count < 200
    assert "deep" in capsys.readouterr().err


def test_a_listing_leads_to_nothing_elsewhere(tmp_path: Path) -> None:
    asked = []
    names = (
        "../up.xml", "%2e%2e/up.xml", "http://127.0.0.1:9/x.xml", "file:///etc/hosts.xml", "/etc/b.xml",
        "zip://a.xml::c.zip", "ok.xml",
    )  # fmt: skip

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        if handler.path == "/models/":
            send(handler, "".join(f'<a href="{name}">x</a>' for name in names).encode(), "text/html")
        elif handler.path == "/models/ok.xml":
            send(handler, SMALL.encode())
        else:
            handler.send_error(404)

    with serving(answer) as url:
        _, rows = scanned(f"{url}/models/", tmp_path)
    assert {row["file"].rpartition("/")[2]: row["verdict"] for row in rows}["ok.xml"] == "valid"
    assert all(path.startswith("/models/") and "up.xml" not in path for path in asked)


@pytest.mark.parametrize("kind", ["chunks", "to the end", "gzip"])
def test_a_body_without_an_end_is_cut(tmp_path: Path, kind: str) -> None:
    bomb = gzip.compress(bytes(1 << 28), 1)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if kind == "gzip":
            send(handler, bomb, Content_Encoding="gzip")
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "application/octet-stream")
        handler.send_header("Transfer-Encoding" if kind == "chunks" else "Connection", "chunked" if kind == "chunks" else "close")
        handler.end_headers()
        handler.close_connection = True
        piece = bytes(1 << 20)
        for _ in range(1 << 10 if handler.command == "GET" else 0):
            handler.wfile.write(b"100000\r\n" + piece + b"\r\n" if kind == "chunks" else piece)

    began = time.monotonic()
    with serving(answer) as url:
        code, (row,) = scanned(f"{url}/a.xml", tmp_path)
    assert (code, row["verdict"]) == (2, "failed")
    assert "more than 67,108,864 bytes" in row["diagnostics"][0]["message"]
    assert time.monotonic() - began < 60


def test_an_answer_that_comes_short_is_no_verdict(tmp_path: Path) -> None:
    """The first answer breaks off; the second one is short, and says so in its length."""
    gets = 0

    def answer(handler: BaseHTTPRequestHandler) -> None:
        nonlocal gets
        if handler.path != "/a.xml":
            handler.send_error(404)
            return
        if handler.command == "HEAD":
            send(handler, SMALL.encode())
            return
        gets += 1
        body = SMALL.encode() if gets == 1 else b"<"
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2] if gets == 1 else body)
        handler.close_connection = True

    with serving(answer) as url:
        code, (row,) = scanned(f"{url}/a.xml", tmp_path)
    assert (code, row["verdict"], row["hash"]) == (2, "failed", None)
    assert gets == 3
    assert "1 bytes came, but the file has" in row["diagnostics"][0]["message"]


def test_places_of_one_name_have_rows_of_their_own(tmp_path: Path) -> None:
    """A query is a secret, and may also tell which file it is."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        known = {"/a.xml?id=1": SMALL.encode(), "/a.xml?id=2": b"<rss/>"}.get(handler.path)
        send(handler, known) if known is not None else handler.send_error(404)

    with serving(answer) as url:
        output = tmp_path / "out.jsonl"
        main(["scan", f"{url}/a.xml?id=1", f"{url}/a.xml?id=2", f"{url}/a.xml?id=1", "-o", str(output), "-q"])
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert {(row["file"].removeprefix(url), row["verdict"]) for row in rows} == {("/a.xml", "valid"), ("/a.xml (2)", "foreign")}
