"""A server of files over HTTP that can misbehave as real ones do."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

RANGE = re.compile(r"bytes=(\d+)-(\d+)")


class Server:
    """Serves the files of a folder, with an index page for each folder.

    `ranges=False` ignores requests for ranges and sends whole files. `breaks` breaks off the first answers for each file. `lies` adds bytes
    to the length that HEAD tells for a `.bin`. `refuses` answers 403 for paths that contain it. `changes` gives a file a new ETag each
    time. `bytes` counts the bytes of files sent, `requests` the requests.
    """

    def __init__(
        self, folder: Path, *, ranges: bool = True, breaks: int = 0, lies: int = 0, refuses: str = "\0", changes: bool = False
    ) -> None:
        self.folder, self.ranges, self.breaks, self.lies, self.refuses, self.changes = folder, ranges, breaks, lies, refuses, changes
        self.bytes = 0
        self.requests: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_HEAD(self) -> None:
                self.answer(has_body=False)

            def do_GET(self) -> None:
                self.answer(has_body=True)

            def answer(self, *, has_body: bool) -> None:
                outer.serve(self, has_body=has_body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self, handler: BaseHTTPRequestHandler, *, has_body: bool) -> None:
        name = unquote(handler.path.partition("?")[0]).lstrip("/")
        path = self.folder / name
        self.requests[f"{handler.command} {name}"] += 1
        if self.refuses in handler.path:
            self.send(handler, 403, b"no", has_body=has_body)
        elif path.is_dir():
            links = "".join(f'<a href="{one.name}{"/" if one.is_dir() else ""}">x</a>' for one in sorted(path.iterdir()))
            self.send(handler, 200, links.encode(), has_body=has_body, type="text/html")
        elif not path.is_file():
            self.send(handler, 404, b"", has_body=has_body)
        else:
            self.file(handler, path, has_body=has_body)

    def file(self, handler: BaseHTTPRequestHandler, path: Path, *, has_body: bool) -> None:
        data = path.read_bytes()
        tag = os.urandom(4) if self.changes else hashlib.md5(data).digest()
        headers = {"ETag": f'"{tag.hex()}"', "Accept-Ranges": "bytes" if self.ranges else "none"}
        wanted = RANGE.fullmatch(handler.headers.get("Range", "")) if self.ranges else None
        status = 200
        if wanted:
            start, end = int(wanted[1]), min(int(wanted[2]) + 1, len(data))
            if start >= len(data):
                self.send(handler, 416, b"", has_body=has_body)
                return
            status, headers["Content-Range"] = 206, f"bytes {start}-{end - 1}/{len(data)}"
            data = data[start:end]
        if has_body and self.broken[path.name] < self.breaks:
            self.broken[path.name] += 1
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data[: len(data) // 2])
            handler.close_connection = True
            return
        lie = self.lies if not has_body and path.suffix == ".bin" else 0
        self.bytes += len(data) if has_body else 0
        self.send(handler, status, data, has_body=has_body, lie=lie, **headers)

    def send(
        self, handler: BaseHTTPRequestHandler, status: int, data: bytes, *, has_body: bool, type: str = "", lie: int = 0, **headers: str
    ) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Type", type or "application/octet-stream")
        handler.send_header("Content-Length", str(len(data) + lie))
        handler.end_headers()
        if has_body:
            handler.wfile.write(data)
