"""The server of `irshape view --live`: the page and its model on this machine alone, and news when the file is saved."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from irshape.files.reading import stamp
from irshape.page.html import page

# Seconds between two looks at the file, and the most seconds that a request for news waits.
_PAUSE: Final = 0.25
_LONGEST: Final = 20.0
_ALLOWS: Final = {"connect-src": ["'self'"]}
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LiveData:
    """The data of a file, made anew when the file changes. `number` counts the versions."""

    def __init__(self, path: str, make: Callable[[], Mapping[str, Any]], fail: Callable[[str], Mapping[str, Any]]) -> None:
        """`make` gives the data. Raises what it raises the first time; later `fail` gives the data of a file that cannot be shown."""
        self._path = path
        self._make = make
        self._fail = fail
        self._lock = threading.Lock()
        self._seen = stamp(path)
        self.number = 1
        self.data = make()

    def look(self) -> None:
        """Make the data anew if the file has changed."""
        with self._lock:
            state = stamp(self._path)
            if state == self._seen:
                return
            self._seen = state
            try:
                self.data = self._make()
            except Exception as error:  # whatever the reason is, the page must not show an old model as the present one
                self.data = self._fail((isinstance(error, OSError) and error.strerror) or str(error))
            self.number += 1


class Server(ThreadingHTTPServer):
    """Serves `/`, the page, and `/data?after=N`, the data once their number is greater than N. Nothing else, and to this machine alone."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, watched: LiveData, port: int = 0) -> None:
        """`port` 0 takes one that is free. Raises `OSError` if the port is taken."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.watched = watched
        self.ending = threading.Event()
        self.hosts = {f"{name}:{self.server_address[1]}" for name in ("127.0.0.1", "localhost")}
        self.address = f"http://127.0.0.1:{self.server_address[1]}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """A page that was closed is not worth a report."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"irshape: a request failed; please report it: {type(error).__name__}: {error}", file=sys.stderr)

    def stop(self) -> None:
        """End the requests that wait, and the server."""
        self.ending.set()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    timeout = 2 * _LONGEST  # for a client that never ends its request
    server_version = "irshape"
    sys_version = ""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if self.headers.get("Host") not in self.server.hosts:  # the name of another site may lead here
            self._answer(403, "text/plain", b"this server is for this machine alone\n")
        elif path == "/" and not query:
            self._answer(200, "text/html", page(self._numbered(), start="live.js", allows=_ALLOWS).encode())
        elif path == "/data" and query.startswith("after=") and query[6:].isdecimal() and len(query) < 20:
            self._news(int(query[6:]))
        else:
            self._answer(404, "text/plain", b"not found\n")

    def _numbered(self) -> dict[str, Any]:
        watched = self.server.watched
        watched.look()
        return {**watched.data, "number": watched.number}

    def _news(self, after: int) -> None:
        """The data after a version, or an empty answer if none came for some time."""
        watched, waited = self.server.watched, 0.0
        watched.look()
        while watched.number <= after and waited < _LONGEST and not self.server.ending.wait(_PAUSE):
            waited += _PAUSE
            watched.look()
        if watched.number > after:
            self._answer(200, "application/json", json.dumps(self._numbered(), separators=(",", ":")).encode())
        else:
            self._answer(204, "application/json", b"")

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        with contextlib.suppress(ConnectionError):  # a page that was closed waits for nothing
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """A page that looks for news every few seconds is not worth a log."""
