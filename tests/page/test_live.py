"""The page of `irshape view --live`: it follows the file, and its server answers nothing but this page."""

import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from irshape import verbs
from irshape.cli.examination import lost
from irshape.cli.main import main
from irshape.page.data import PageData
from irshape.page.server import LiveData, Server
from tests.page.conftest import Shown
from tests.support.places import ATROUS, EXAMPLES


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of an example that a test may change."""
    for suffix in ("xml", "bin"):
        shutil.copy(EXAMPLES / f"atrous.{suffix}", tmp_path / f"model.{suffix}")
    return tmp_path / "model.xml"


@pytest.fixture
def server(model: Path) -> Iterator[Server]:
    def data() -> Mapping[str, Any]:
        return PageData(verbs.read(str(model))).to_dict()

    def failed(reason: str) -> Mapping[str, Any]:
        return PageData(lost(str(model), "I105", reason, None)).to_dict()

    found = Server(LiveData(str(model), data, failed))
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.stop()


def answer(server: Server, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=20)
    connection.request(method, path, headers=headers)
    found = connection.getresponse()
    found.read()
    connection.close()
    return found


def test_the_server_is_on_this_machine_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200), ("/data?after=0", 200), ("/data", 404), ("/data?after=x", 404), ("/data?after=-1", 404),
        ("/model.xml", 404), ("/model.bin", 404),
        ("/../model.xml", 404), ("//etc/passwd", 404), ("/%2e%2e/model.xml", 404), ("/?x", 404), ("/favicon.ico", 404),
    ],
)  # fmt: skip
def test_the_server_answers_the_page_and_its_data(server: Server, path: str, status: int) -> None:
    found = answer(server, path)
    assert found.status == status
    if status == 200:
        assert found.getheader("Cross-Origin-Resource-Policy") == "same-origin"
        assert found.getheader("Access-Control-Allow-Origin") is None


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "127.0.0.1:1", "localhost.example.com:80", ""])
def test_another_host_gets_nothing(server: Server, host: str) -> None:
    """The name of another site may lead to this machine; its pages must not read the model."""
    assert answer(server, "/", Host=host).status == 403
    assert answer(server, "/data?after=0", Host=host).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_the_server_only_gives(server: Server, method: str) -> None:
    assert answer(server, "/", method).status == 501


@pytest.mark.slow("need Chromium")
def test_the_page_follows_the_file(server: Server, shown: Shown, model: Path) -> None:
    page = shown.address(server.address)
    page.click(".item.group")
    page.click(".item:has-text('Convolution')")
    page.fill("#size-H", "62")
    text = model.read_text(encoding="utf-8")
    model.write_text(text.replace('pads_begin="1, 1"', 'pads_begin="3, 1"', 1), encoding="utf-8")
    page.locator("#graph:has-text('f32[1..,4,32,')").wait_for()
    assert "SpaceToBatch" in page.text_content("#graph")
    assert page.inner_text("#panel h2") == "Convolution"
    assert page.input_value("#size-H") == "62"
    model.write_text(text[: len(text) // 2], encoding="utf-8")
    page.locator("#summary:has-text('1 error')").wait_for()
    model.write_text(text, encoding="utf-8")
    page.locator("#graph:has-text('f32[B,4,(H + 1)//2,(W + 1)//2]')").wait_for()


def test_the_command_serves_until_it_is_interrupted(model: Path) -> None:
    command = [sys.executable, "-m", "irshape", "view", str(model), "--live", "--no-browser"]
    # A suite that nohup or a shell has started in the background ignores SIGINT, and so would its children.
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible) as run:
        assert run.stdout is not None
        line = run.stdout.readline()
        run.send_signal(2)
        assert run.wait(30) == 130
    assert line.startswith(f"{model} is shown at http://127.0.0.1:")


@pytest.mark.parametrize("spoil", ["gone", "pipe", "folder"])
def test_a_version_that_cannot_be_shown_is_said(server: Server, model: Path, spoil: str) -> None:
    """The model before is not that of the file any more."""
    model.unlink()
    if spoil == "pipe":
        os.mkfifo(model)
    elif spoil == "folder":
        model.mkdir()
    data = news(server)
    assert [fault["code"] for fault in data["faults"]] == ["I105"]
    if spoil == "gone":
        shutil.copy(ATROUS, model)
        assert news(server)["faults"] == []


def news(server: Server) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=20)
    connection.request("GET", f"/data?after={server.watched.number}")
    data: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return data


def test_a_client_that_resets_leaves_no_report(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    for request in (b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\x16\x03\x01", b""):
        with socket.create_connection(("127.0.0.1", server.server_address[1])) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset instead of an end
            client.sendall(request)
    assert answer(server, "/").status == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("port", ["99999", "-1", "x", "65536"])
def test_a_wrong_port_is_said(model: Path, port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(model), "--live", "--no-browser", f"--port={port}"]) == 2
    assert "is not a port" in capsys.readouterr().err
