"""`irshape scan` over HTTP, S3 and Dask: the rows of files far away are those of files nearby."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from socket import socket
from threading import Timer
from typing import Any

import pytest

from irshape.cli.main import main
from irshape.scanning.place import archive_of, asked
from irshape.scanning.results import read
from tests.scan.server import Server
from tests.support.places import DECODER, EXAMPLES

pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'irshape[scan]'")
pytest.importorskip("aiohttp", reason="aiohttp is not installed: pip install 'irshape[scan]'")

Row = dict[str, Any]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    (folder / "sub").mkdir(parents=True)
    for number, source in enumerate(sorted(EXAMPLES.glob("*.xml"))):
        target = folder / ("sub" if number % 3 == 0 else "") / source.name
        shutil.copy(source, target)
        if (weights := source.with_suffix(".bin")).exists():
            shutil.copy(weights, target.with_suffix(".bin"))
    return folder


def rows_of(output: Path, start: str) -> dict[str, Row]:
    rows = {}
    for row in read(str(output)):
        assert row["file"].startswith(start)
        name = row["file"].removeprefix(start).lstrip("/")
        assert name not in rows
        rows[name] = {key: value for key, value in row.items() if key not in ("file", "seconds", "version", "bytes_read")}
        for fault in rows[name]["diagnostics"]:
            fault["message"] = fault["message"].replace(start, "")
    return rows


def expected(models: Path) -> tuple[dict[str, Row], int]:
    """The rows of the folder as files of this machine, and the bytes that had to be read for them."""
    output = models.parent / "local.jsonl"
    main(["scan", str(models), "-o", str(output), "-q"])
    return rows_of(output, str(models)), sum(row["bytes_read"] for row in read(str(output)))


@pytest.mark.slow("take long")
@pytest.mark.parametrize("faults", [{}, {"ranges": False}, {"breaks": 1}, {"lies": 5}, {"lies": -2}], ids=str)
def test_a_server_gives_the_rows_of_its_folder(models: Path, tmp_path: Path, faults: dict[str, Any]) -> None:
    rows, needed = expected(models)
    with Server(models, **faults) as server:
        main(["scan", server.url, "-o", str(tmp_path / "out.jsonl"), "-q", "--jobs", "2"])
        assert rows_of(tmp_path / "out.jsonl", server.url) == rows
        if faults.get("ranges", True):
            assert server.bytes <= 1.1 * needed


def test_only_ranges_of_large_weights_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    shutil.copy(DECODER, folder)
    weights = (EXAMPLES / "decoder.bin").read_bytes()
    (folder / "decoder.bin").write_bytes(weights + bytes(1 << 22))
    with Server(folder) as server:
        main(["scan", server.url, "-o", str(tmp_path / "out.jsonl"), "-q", "--force"])
        (row,) = read(str(tmp_path / "out.jsonl"))
        assert [fault["code"] for fault in row["diagnostics"]] == ["W201"]  # longer than its constants
        assert row["weights_size"] == len(weights) + (1 << 22)
        assert server.bytes == row["bytes_read"] < row["size"] + 10_000


@pytest.mark.slow("take long")
def test_faults_of_the_transport_are_no_verdict(models: Path, tmp_path: Path) -> None:
    for faults, message in (
        ({"breaks": 1_000}, "cannot be read"),
        ({"refuses": ".xml"}, "HTTP status 403"),
        ({"refuses": ".bin"}, "HTTP status 403"),
        ({"changes": True}, "changed while it was read"),
    ):
        with Server(models, **faults) as server:  # type: ignore[arg-type]
            code = main(["scan", f"{server.url}/sub/atrous.xml", "-o", str(tmp_path / "out.jsonl"), "-q", "--force"])
            (row,) = read(str(tmp_path / "out.jsonl"))
            assert (code, row["verdict"]) == (2, "failed")
            assert [fault["code"] for fault in row["diagnostics"]] == ["I105"]
            assert message in row["diagnostics"][0]["message"]


@pytest.mark.slow("take long")
def test_secrets_are_in_no_result_and_no_message(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for faults in ({}, {"refuses": "atrous"}, {"breaks": 1_000}):
        with Server(models, **faults) as server:  # type: ignore[arg-type]
            url = server.url.replace("//", "//user:hunter2@")
            places = f"{url}/sub/atrous.xml?signature=hunter2#hunter2", f"{url}/none?token=hunter2"
            main(["scan", *places, "-o", str(tmp_path / "out.jsonl"), "--force"])
            printed = capsys.readouterr()
            text = (tmp_path / "out.jsonl").read_text(encoding="utf-8") + printed.out + printed.err
            assert "hunter2" not in text
            assert f"{server.url}/sub/atrous.xml" in text


def test_unchanged_files_are_not_fetched_again(models: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    with Server(models) as server:
        main(["scan", server.url, "-o", str(first), "-q"])
        server.bytes = 0
        main(["scan", server.url, "-o", str(second), "-q", "--cache", str(first)])
        assert server.bytes == 0
    assert list(read(str(first))) == list(read(str(second)))


@pytest.mark.slow("need Dask, S3 or Parquet")
def test_a_bucket_gives_the_rows_of_its_folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed: pip install s3fs")
    rows, _ = expected(models)
    server = moto.ThreadedMotoServer(port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in (
            ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ):
            monkeypatch.setenv(name, value)
        bucket = s3fs.S3FileSystem()
        bucket.mkdir("bucket")
        bucket.put(str(models), "bucket/models", recursive=True)
        main(["scan", "s3://bucket/models", "-o", str(tmp_path / "out.jsonl"), "-q", "--jobs", "2"])
        assert rows_of(tmp_path / "out.jsonl", "s3://bucket/models") == rows
    finally:
        server.stop()


@pytest.mark.slow("need Dask, S3 or Parquet")
def test_a_cluster_that_loses_a_worker_gives_each_row_once(models: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'irshape[dask]'")
    for number in range(60):
        for path in (models / "atrous.xml", models / "atrous.bin"):
            if path.exists():
                os.link(path, models / f"copy{number}{path.suffix}")
    rows, _ = expected(models)
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster:
        killed = cluster.workers[1].pid
        os.kill(killed, signal.SIGSTOP)  # its groups wait, so that they are lost with it
        timer = Timer(2.0, os.kill, (killed, signal.SIGKILL))
        timer.start()
        main(["scan", str(models), "-o", str(tmp_path / "out.jsonl"), "-q", "--dask", cluster.scheduler_address])
        timer.join()
    assert rows_of(tmp_path / "out.jsonl", str(models)) == rows


@pytest.mark.slow("need Dask, S3 or Parquet")
@pytest.mark.parametrize(("lost", "patience"), [("the cluster has no worker", 3.0), ("the scheduler was lost", 60.0)])
def test_a_cluster_that_is_lost_ends_the_run(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, lost: str, patience: float
) -> None:
    """It does not wait for ever, and the next run goes on where it has ended."""
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'irshape[dask]'")
    monkeypatch.setattr("irshape.cli.scan._PATIENCE", patience)
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as scheduler:
        Timer(6.0, scheduler.kill).start()
        code = main(["scan", str(models), "-o", str(tmp_path / "out.jsonl"), "-q", "--dask", address])
        scheduler.kill()
    said = capsys.readouterr().err
    assert code == 2
    assert f"irshape: --dask {address}: {lost}" in said, said
    assert "goes on from here" in said
    main(["scan", str(models), "-o", str(tmp_path / "out.jsonl"), "-q"])
    assert rows_of(tmp_path / "out.jsonl", str(models)) == expected(models)[0]


@pytest.mark.slow("take long")
@pytest.mark.parametrize("ranges", [True, False])
def test_an_archive_behind_a_url_has_the_rows_of_its_folder(models: Path, tmp_path: Path, ranges: bool) -> None:
    rows, _ = expected(models)
    shutil.make_archive(str(tmp_path / "served" / "m"), "zip", models)
    shutil.make_archive(str(tmp_path / "served" / "m"), "gztar", models)
    shutil.copy(tmp_path / "served" / "m.zip", tmp_path / "served" / "blob")
    with Server(tmp_path / "served", ranges=ranges) as server:
        for form, place in (("zip", f"{server.url}/m.zip"), ("tar", f"{server.url}/m.tar.gz"), ("zip", f"zip://::{server.url}/blob?sig=1")):
            main(["scan", place, "-o", str(tmp_path / "out.jsonl"), "-q", "--force", "--jobs", "1"])
            shown = place.removeprefix("zip://::").removesuffix("?sig=1")
            found = {
                row["file"].removesuffix(f"::{shown}").removeprefix(f"{form}://").removeprefix("./"): row
                for row in read(str(tmp_path / "out.jsonl"))
            }
            assert {name: (row["verdict"], row["hash"], row["signature"]) for name, row in found.items()} == {
                name: (row["verdict"], row["hash"], row["signature"]) for name, row in rows.items()
            }


def test_places_and_names() -> None:
    for place, weights, name in (
        ("https://host/a.xml?sig=1", "https://host/a.bin?sig=1", "https://host/a.xml"),
        ("s3://bucket/a.XML", "s3://bucket/a.bin", "s3://bucket/a.XML"),
        ("zip://b/a.xml::https://u:p@host/m.zip?sig=1", "zip://b/a.bin::https://u:p@host/m.zip?sig=1", "zip://b/a.xml::https://host/m.zip"),
        ("models/a?b.xml", "models/a?b.bin", "models/a?b.xml"),
    ):
        found = asked(place)
        beside = found.beside()
        inside = f"{beside.archive}://{beside.member}::{beside.root}" if beside.member else beside.root
        assert (inside, found.name) == (weights, name)
    assert [archive_of(name) for name in ("a.zip", "a.tar.gz", "A.TGZ", "a.zip.xml", "a")] == ["zip", "tar", "tar", "", ""]
