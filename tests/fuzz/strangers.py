"""What a stranger may put around IRs, in archives, tables, configurations, links, pipes: `python -m tests.fuzz.strangers FOLDER`.

Each attack fills a folder and says which command meets it. Whatever it is, the command must end within `SECONDS` of CPU time and
`MEGABYTES` of memory, say nothing in Python's words, tell no secret, and leave the victim as it is.
"""

import argparse
import bz2
import gzip
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from tests.fuzz.hostile import SMALL
from tests.fuzz.work import MEGABYTES, RUNNER, SECONDS, made, reshape
from tests.support.ir import Net

ROOT: Final = Path(__file__).parents[2]
SECRET: Final = "hunter2"
# The bytes of the file that no attack may read or change.
VICTIM: Final = f"{SECRET} = 'token'\n".encode()


class Attack(NamedTuple):
    """A command, run in the folder. `says` must be in what it prints, `code` is its exit code, and `written` may appear in the folder."""

    command: list[str]
    code: int = 2
    says: str = ""


MAKERS: Final[dict[str, Callable[[Path], Attack]]] = {}


def attack(make: Callable[[Path], Attack]) -> Callable[[Path], Attack]:
    MAKERS[make.__name__] = make
    return make


def scan(*arguments: str, code: int = 2, says: str = "") -> Attack:
    return Attack(["scan", *arguments, "-o", "out.jsonl"], code, says)


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)


def whole_row(**changes: object) -> dict[str, object]:
    """A row as a scan writes it."""
    from irshape.scanning.place import Place
    from irshape.scanning.row import Scan

    return {**Scan()(Place("none.xml", "none.xml")), **changes}


# archives


@attack
def member_that_names_another_archive(folder: Path) -> Attack:
    zipped(folder / "inner.zip", {"a.xml": SECRET.encode()})
    zipped(folder / "evil.zip", {f"inner.xml::{folder}/inner.zip::a.xml": SMALL.encode()})
    return scan("evil.zip", code=0, says="1 valid")


@attack
def members_of_odd_names(folder: Path) -> Attack:
    names = [
        "a?b.xml",
        "d//e.xml",
        "::error::x.xml",
        "file:///etc/hosts.xml",
        "http://127.0.0.1:9/x.xml",
        "../up.xml",
        "/abs.xml",
        " .xml",
        "a#b.xml",
    ]
    zipped(folder / "odd.zip", dict.fromkeys(names, SMALL.encode()))
    return scan("odd.zip", code=0, says=f"{len(names)} valid")


@attack
def member_of_a_gigabyte_in_bzip2(folder: Path) -> Attack:
    packed = bz2.compress(bytes(1 << 26)) * 16
    with zipfile.ZipFile(folder / "big.zip", "w") as file:
        file.writestr("a.xml", b"")
    patched(folder / "big.zip", packed, 1 << 30, zipfile.ZIP_BZIP2)
    return scan("big.zip", says="unpacks to more than")


@attack
def member_that_says_less_than_it_unpacks_to(folder: Path) -> Attack:
    with zipfile.ZipFile(folder / "big.zip", "w") as file:
        file.writestr("a.xml", b"")
    patched(folder / "big.zip", bz2.compress(bytes(1 << 28)), 10, zipfile.ZIP_BZIP2)
    return scan("big.zip", says="1 failed")


def patched(path: Path, packed: bytes, size: int, method: int) -> None:
    """Give the only member of a zip other bytes."""
    name = b"a.xml"
    sizes = struct.pack("<LLL", zlib.crc32(b""), len(packed), size)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, method, 0, 0) + sizes + struct.pack("<HH", len(name), 0) + name
    central = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, method, 0, 0) + sizes
    central += struct.pack("<HHHHHLL", len(name), 0, 0, 0, 0, 0, 0) + name
    start = len(local) + len(packed)
    path.write_bytes(local + packed + central + b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(central), start, 0))


@attack
def members_that_overlap(folder: Path) -> Attack:
    """Each of many members unpacks the same bytes."""
    packed = zlib.compress(b" " * (1 << 22), 9)[2:-4]
    sizes = struct.pack("<LLL", 0, len(packed), 1 << 22)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", 5, 0) + b"a.xml"
    head = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes + struct.pack("<HHHHHLL", 9, 0, 0, 0, 0, 0, 0)
    central = b"".join(head + b"%05d.xml" % number for number in range(1000))
    end = b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 1000, 1000, len(central), len(local) + len(packed), 0)
    (folder / "overlap.zip").write_bytes(local + packed + central + end)
    return scan("overlap.zip", says="overlap")


@attack
def many_small_members(folder: Path) -> Attack:
    zipped(folder / "many.zip", {f"{number}.xml": b"<a/>" for number in range(800)})
    return scan("many.zip", code=0, says="800 foreign")


@attack
def many_small_members_of_a_packed_tar(folder: Path) -> Attack:
    tarred(folder / "many.tgz", {f"{number}.xml": b"<a/>" for number in range(800)})
    return scan("many.tgz", code=0, says="800 foreign")


def tarred(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))


@attack
def members_in_deep_folders(folder: Path) -> Attack:
    zipped(folder / "deep.zip", {f"{number}/" + "d/" * 900 + "a.xml": b"<a/>" for number in range(20)})
    return scan("deep.zip", code=0, says="20 foreign")


@attack
def tar_of_zeros(folder: Path) -> Attack:
    (folder / "zeros.tar.bz2").write_bytes(bz2.compress(bytes(1 << 26)) * 25)
    return scan("zeros.tar.bz2", says="unpacks to more than")


@attack
def cut_archives(folder: Path) -> Attack:
    zipped(folder / "cut.zip", {"a.xml": SMALL.encode()})
    tarred(folder / "cut.tgz", {"a.xml": SMALL.encode()})
    (folder / "cut.tar").write_bytes(gzip.decompress((folder / "cut.tgz").read_bytes()))
    for path in folder.glob("cut.*"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 if path.suffix != ".tar" else 1536])
    (folder / "empty.zip").touch()
    (folder / "empty.tar").touch()
    return scan("cut.zip", "cut.tgz", "cut.tar", "empty.zip", "empty.tar", says="5 failed")


@attack
def tar_with_a_wrong_header_inside(folder: Path) -> Attack:
    """What is behind the header must not vanish."""
    tarred(folder / "a.tgz", {"a.xml": SMALL.encode(), "b.xml": b"faulty", "c.xml": b"faulty"})
    data = bytearray(gzip.decompress((folder / "a.tgz").read_bytes()))
    at = data.index(b"b.xml")
    data[at + 100 : at + 160] = b"x" * 60
    (folder / "a.tar").write_bytes(data)
    return scan("a.tar", says="1 failed")


@attack
def tar_of_links(folder: Path) -> Attack:
    with tarfile.open(folder / "links.tar", "w") as file:
        for name, kind in (("a.xml", tarfile.SYMTYPE), ("b.xml", tarfile.LNKTYPE), ("c.xml", tarfile.FIFOTYPE), ("d.xml", tarfile.CHRTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, str(folder / "victim")
            file.addfile(info)
    return scan("links.tar", says="4 failed")


# places


@attack
def file_whose_name_looks_like_a_chain(folder: Path) -> Attack:
    (folder / "loc").mkdir()
    (folder / "loc" / "good").write_text(SMALL)
    (folder / "loc" / "good::b.xml").write_text("faulty")
    (folder / "loc" / "zip:").mkdir()
    (folder / "loc" / "zip:" / "x.xml").write_text("faulty")
    return scan("loc", code=1, says="2 invalid")


@attack
def link_in_a_circle(folder: Path) -> Attack:
    (folder / "models").mkdir()
    (folder / "models" / "a.xml").write_text(SMALL)
    (folder / "models" / "b.xml").symlink_to("b.xml")
    (folder / "models" / "c.xml").write_text(SMALL)
    return scan("models", says="2 valid, 1 failed")


@attack
def link_in_a_circle_for_check(folder: Path) -> Attack:
    link_in_a_circle(folder)
    return Attack(["check", "models"], says="2 files")


@attack
def file_whose_name_looks_like_xml(folder: Path) -> Attack:
    (folder / "<net name='a' version='11'>").mkdir()
    name = "<net name='a' version='11'><layers><layer id='0' name='a' type='Parameter' version='opset1'><data shape='1'>.xml"
    (folder / name[:200]).write_text("faulty")
    return Attack(["check", name[:200]], code=1, says="1 error")


@attack
def link_to_a_secret(folder: Path) -> Attack:
    (folder / "models").mkdir()
    (folder / "models" / "a.xml").symlink_to("../victim")
    return Attack(["check", "models"], code=1, says="X104")


@attack
def empty_file(folder: Path) -> Attack:
    (folder / "a.xml").touch()
    return scan("a.xml", code=1, says="X104")


@attack
def path_with_a_zero(folder: Path) -> Attack:
    (folder / "irshape.toml").write_text('weights = "a\\u0000b"')
    (folder / "a.xml").write_text(SMALL)
    return Attack(["check", "a.xml"], says="--trust-config")


# credentials


def credential(url: str) -> None:
    def make(folder: Path) -> Attack:
        return Attack(["scan", url, "-o", "out.jsonl"])

    MAKERS[f"credential in {url.replace(SECRET, 'PW')}"] = make


for one in (
    f"zip://::http://user:{SECRET}@127.0.0.1:9/m.zip?sig={SECRET}",
    f"http://user:{SECRET}@127.0.0.1:9/a.xml?sig={SECRET}#{SECRET}",
    f"HTTP://user:{SECRET}@127.0.0.1:9/",
    f"http://[::1/a.xml?sig={SECRET}",
    f"http://user:{SECRET}/{SECRET}@127.0.0.1:9/a.xml",
    *(f"{protocol}://user:{SECRET}@127.0.0.1/a.xml?{SECRET}" for protocol in ("webdav", "smb", "ssh", "sftp", "ftp", "github", "nonsense")),
    f"simplecache::http://user:{SECRET}@127.0.0.1:9/a.xml",
):
    credential(one)


# configurations


def configured(name: str, text: str, says: str, code: int = 2) -> None:
    def make(folder: Path) -> Attack:
        (folder / "models").mkdir()
        (folder / "models" / "a.xml").write_text(SMALL)
        (folder / "models" / "irshape.toml").write_text(text)
        return Attack(["check", "models"], code, says)

    MAKERS[name] = make


configured("weights elsewhere", 'weights = "../victim"', "leads out of the folder")
configured("extensions elsewhere", 'extensions = ["../victim.toml"]', "leads out of the folder")
configured("baseline elsewhere", 'baseline = "../victim"', "leads out of the folder")
configured("baseline without an end", 'baseline = "/dev/zero"', "leads out of the folder")
configured("stars that backtrack", f'exclude = ["{"*a" * 100}c"]', "1 file", 0)
configured("empty set", 'exclude = ["[]"]', "1 file", 0)
configured("nested arrays", f"exclude = {'[' * 5000}", "nests tables or lists too deeply")
configured("dotted keys", ".".join("a" * 45_000) + " = 1", "parts")
configured("many digits", "[limits]\ndepth = " + "9" * 5000, "too many digits")
configured("formula of a pattern", 'inputs = {x = "' + "a:" * 40_000 + '"}', "cannot read")


@attack
def configuration_that_is_a_link(folder: Path) -> Attack:
    (folder / "models").mkdir()
    (folder / "models" / "a.xml").write_text(SMALL)
    (folder / "models" / "irshape.toml").symlink_to("../victim")
    return Attack(["check", "models"], says="a link to a file outside")


@attack
def many_tables_for_many_files(folder: Path) -> Attack:
    (folder / "models").mkdir()
    for number in range(200):
        (folder / "models" / f"m{number}.xml").write_text(SMALL)
    tables = "\n".join(f'[per-file."*{number}*.xml"]\nignore = ["R104"]' for number in range(3000))
    (folder / "models" / "irshape.toml").write_text(tables)
    return Attack(["check", "models", "-q", "--jobs", "1"], 0)


# tables


def table(name: str, content: bytes) -> None:
    for option in ("--summary", "--cache", "--against"):

        def make(folder: Path, option: str = option) -> Attack:
            (folder / "t.jsonl").write_bytes(content)
            (folder / "a.xml").write_text(SMALL)
            command = ["scan", option, "t.jsonl"]
            return Attack(command if option == "--summary" else [*command, "a.xml", "-o", "out.jsonl"], says="not a table of irshape scan")

        MAKERS[f"{option} {name}"] = make


for name, content in {
    "of a number": b'{"file": 1}',
    "array": b"[]",
    "null": b"null",
    "nested": b"[" * 100_000,
    "row without columns": b'{"file": "a.xml"}',
    "text": VICTIM,
    "long line": b'"' + b"a" * (1 << 25),
    "wrong fault": json.dumps(whole_row(diagnostics=[1])).encode(),
    "wrong count": json.dumps(whole_row(operations={"a": "b"})).encode(),
    "wrong verdict": json.dumps(whole_row(verdict="good")).encode(),
    "infinite seconds": json.dumps(whole_row(seconds=float("inf"))).encode(),
}.items():
    table(name, content)


def baseline(name: str, content: str) -> None:
    def make(folder: Path) -> Attack:
        (folder / "a.xml").write_text(SMALL)
        (folder / "base.json").write_text(content)
        return Attack(["check", "a.xml", "--baseline", "base.json"], says="base.json: this is not ")

    MAKERS[f"baseline {name}"] = make


baseline("nested", "[" * 100_000)
baseline("null", "null")
baseline("of numbers", '{"version": 1, "files": {"a.xml": {"x": 1}}}')


# pipes and devices


def pipe(*command: str) -> None:
    def make(folder: Path) -> Attack:
        os.mkfifo(folder / "pipe")
        os.mkfifo(folder / "pipe.toml")
        os.mkfifo(folder / "pipe.jsonl")
        (folder / "a.xml").write_text(SMALL)
        return Attack(list(command), says="not a regular file")

    MAKERS[f"pipe: {' '.join(command)}"] = make


for options in (
    ("check", "a.xml", "--baseline", "pipe"),
    ("check", "a.xml", "--config", "pipe.toml"),
    ("check", "a.xml", "--extensions", "./pipe.toml"),
    ("check", "a.xml", "--write-baseline", "pipe"),
    ("check", "a.xml", "--output-file", "pipe", "--force"),
    ("check", "a.xml", "--report", "sarif=pipe", "--force"),
    ("check", "pipe"),
    ("scan", "a.xml", "-o", "out.jsonl", "--cache", "pipe"),
    ("scan", "--summary", "pipe"),
    ("scan", "--summary", "pipe.jsonl", "--against", "pipe"),
    ("scan", "a.xml", "-o", "out.jsonl", "--against", "/dev/zero"),
    ("scan", "a.xml", "-o", "pipe.jsonl", "--force"),
    ("cost", "a.xml", "--csv", "pipe", "--force"),
    ("view", "a.xml", "-o", "pipe", "--force"),
    ("infer", "a.xml", "-o", "pipe", "--force"),
):
    pipe(*options)


# outputs


def output(*command: str) -> None:
    """An output that exists, and one that is a link to the victim, even with --force."""

    def make(folder: Path) -> Attack:
        (folder / "a.xml").write_text(SMALL)
        (folder / "out.jsonl").symlink_to("victim")
        return Attack(list(command), says="already exists")

    MAKERS[f"output: {' '.join(command)}"] = make

    def forced(folder: Path) -> Attack:
        make(folder)
        return Attack([*command, "--force"], 0)

    MAKERS[f"output: {' '.join(command)} --force"] = forced


for options in (
    ("scan", "a.xml", "-o", "out.jsonl"),
    ("check", "a.xml", "--output-file", "out.jsonl"),
    ("check", "a.xml", "--report", "sarif=out.jsonl"),
    ("cost", "a.xml", "--csv", "out.jsonl"),
    ("view", "a.xml", "-o", "out.jsonl"),
    ("infer", "a.xml", "-o", "out.jsonl", "--weights", "none"),
):
    output(*options)


@attack
def foreign_partial(folder: Path) -> Attack:
    (folder / "a.xml").write_text(SMALL)
    shutil.copy(folder / "victim", folder / "out.jsonl.partial")
    return Attack(["scan", "a.xml", "-o", "out.jsonl", "--restart"], says="this is not an unfinished table")


@attack
def partial_that_is_a_link(folder: Path) -> Attack:
    (folder / "a.xml").write_text(SMALL)
    (folder / "out.jsonl.partial").symlink_to("victim")
    return Attack(["scan", "a.xml", "-o", "out.jsonl", "--restart"], says="move it away")


@attack
def partial_that_is_a_second_name(folder: Path) -> Attack:
    (folder / "a.xml").write_text(SMALL)
    os.link(folder / "victim", folder / "out.jsonl.partial")
    return Attack(["scan", "a.xml", "-o", "out.jsonl", "--restart"], says="move it away")


@attack
def partial_with_rows_of_other_forms(folder: Path) -> Attack:
    (folder / "a.xml").write_text(SMALL)
    (folder / "out.jsonl.partial").write_bytes(b'{"unfinished": "x"}\n{"file": 1}\n[]\nnull\n')
    return Attack(["scan", "a.xml", "-o", "out.jsonl"], says="other files, other options")


# permissions


def closed(*command: str, code: int = 2, says: str = "Permission denied") -> None:
    """A command that meets a file nobody may read, a folder nobody may enter and one nobody may write."""

    def make(folder: Path) -> Attack:
        for name, mode in (("models", 0o755), ("closed", 0o000), ("full", 0o555)):
            (folder / name).mkdir()
            (folder / name / "a.xml").write_text(SMALL)
            (folder / name / "a.toml").touch()
            (folder / name).chmod(mode)
        for name in ("no.xml", "no.toml", "no.json", "no.jsonl"):
            (folder / "models" / name).write_text(SMALL)
            (folder / "models" / name).chmod(0)
        net = Net()
        net.result(made(net, net.const([2, 3])))
        (folder / "models" / "w.xml").write_text(net.xml)
        (folder / "models" / "w.bin").write_bytes(net.bin)
        (folder / "models" / "w.bin").chmod(0)
        return Attack(list(command), code, says)

    MAKERS[f"closed: {' '.join(command)}"] = make


for options in (
    ("check", "models"),
    ("check", "models", "--jobs", "2"),
    ("check", "closed"),
    ("check", "closed/a.xml"),
    ("check", "models/a.xml", "--baseline", "models/no.json"),
    ("check", "models/a.xml", "--config", "models/no.toml"),
    ("check", "models/a.xml", "--extensions", "./models/no.toml"),
    ("check", "models/a.xml", "--output-file", "full/report.txt"),
    ("check", "models/a.xml", "--write-baseline", "full/baseline.json"),
    ("infer", "models/a.xml", "-o", "full/new.xml"),
    ("infer", "models/a.xml", "-o", "full/a.xml", "--force"),
    ("infer", "models/a.xml", "-o", "full/new/"),
    ("infer", "full/a.xml", "--in-place", "--input", "[9]"),
    ("cost", "models/a.xml", "--csv", "full/cost.csv"),
    ("view", "models/a.xml", "-o", "full/page.html"),
    ("diff", "models/a.xml", "models/no.xml"),
    ("scan", "models/a.xml", "-o", "full/out.jsonl"),
    ("scan", "--summary", "models/no.jsonl"),
    ("scan", "closed", "-o", "out.jsonl"),
):
    closed(*options)
closed("check", "models/w.xml", code=1)
closed("scan", "models", "-o", "out.jsonl", says="1 failed")


# many files


def crowd(*command: str, says: str) -> None:
    def make(folder: Path) -> Attack:
        (folder / "models").mkdir()
        for number in range(3000):
            (folder / "models" / f"{number}.xml").write_text(SMALL)
        return Attack(list(command), 0, says)

    MAKERS[f"3,000 files: {command[0]}"] = make


crowd("check", "models", "--jobs", "1", says="3000 files, 9000 layers")
crowd("scan", "models", "-o", "out.jsonl", "--jobs", "1", says="3000 files")


# files that change


def shrinking(*command: str) -> None:
    """Files that another process cuts short and fills again all the time."""

    def make(folder: Path) -> Attack:
        net = Net()
        data = net.parameter("f32[?,3]")
        for _ in range(300):
            data = reshape(net, data, net.const([-1, 3]))
        net.result(data)
        for path, content in ((folder / "a.xml", net.xml.encode()), (folder / "a.bin", net.bin)):
            path.write_bytes(content)
            subprocess.run([sys.executable, "-c", CUTTER, str(path)], check=True)
        return Attack(list(command), -1)

    MAKERS[f"shrinking: {' '.join(command)}"] = make


# The process that cuts goes on beside the command, and ends by itself.
CUTTER: Final = """
import os, sys, time
path, whole = sys.argv[1], open(sys.argv[1], "rb").read()
if os.fork():
    os._exit(0)
for _ in range(100):
    for size in (len(whole) // 2, 0, 7):
        with open(path, "r+b") as file:
            file.truncate(size)
        with open(path, "r+b") as file:
            file.write(whole)
    time.sleep(0.01)
"""
for options in (
    ("check", *["a.xml"] * 30),
    ("infer", "a.xml", "-o", "new/"),
    ("reshape", "a.xml", "--input", "[7,3]", "-o", "new.xml"),
    ("diff", "a.xml", "a.xml"),
    ("view", "a.xml", "-o", "page.html"),
    ("scan", *["a.xml"] * 30, "-o", "out.jsonl"),
):
    shrinking(*options)


# operations of others


def operation(name: str, formula: str, condition: str = "", code: int = 2, says: str = "") -> None:
    """An operation in a file of operations, whose formula explodes."""

    def make(folder: Path) -> Attack:
        conditions = f'[Boom.conditions]\n"{condition}" = "no"\n' if condition else ""
        attributes = 'attributes = { flag = "boolean, default true" }\n'
        (folder / "boom.toml").write_text(
            f'[Boom]\nversion = "boom"\ninputs = ["data: any[H, W]"]\noutputs = ["f32[{formula}]"]\n{attributes}{conditions}'
        )
        net = Net()
        data = net.parameter("f32[?,?]")
        for _ in range(20):
            net.result(net.layer("Boom", [data], ["FP32"], "boom")[0])
        (folder / "a.xml").write_text(net.xml)
        return Attack(["signature", "a.xml", "--extensions", "./boom.toml"], code, says)

    MAKERS[f"operation: {name}"] = make


DEEP, HUGE = "nests its operations deeper", "has a number above"
operation("deep signs", "-" * 900 + "H", says=DEEP)
operation("deep calls", "min(W, " * 190 + "H" + ")" * 190, code=0)
operation("deeper calls", "min(W, " * 50_000 + "H" + ")" * 50_000, says="is not a formula")
operation("deep branches", "(H if flag else " * 60 + "W" + ")" * 60, code=0)
operation("powers", "9**9**9**9", says="cannot be part of a formula")
operation("shifts", "1 << 99999999999", says="cannot be part of a formula")
operation("texts", "'a'*99999999999", says="cannot be part of a formula")
operation("long product", "*".join(f"(H + {number}*W)" for number in range(190)), code=1, says="S205")
operation("long sum", "H + " * 50_000 + "H", says="is not a formula")
operation("nested product", "*".join([f"({'*'.join(['(H + W)'] * 60)})"] * 60), code=-1)
operation("product of numbers", "*".join(["H*9223372036854775807"] * 99), code=-1)
operation("long number", "0x" + "f" * 900_000, says=HUGE)
operation("item of a long number", "data[0x" + "f" * 9000 + "]", says=HUGE)
operation("divisor of a long number", "H//0x" + "f" * 9000, says=HUGE)
operation("long number in a condition", "H", "H % 0x" + "f" * 9000 + " == 0", says=HUGE)
operation("floors", "//3*3".join(["H"] * 90), code=-1)
operation("remainders", "H" + "%7 + W" * 90, code=-1)
operation("many sizes", ",".join(["H*W"] * 50_000), code=1, says="limit rank")
operation("long test", "H", " or ".join(["flag"] * 20_000), code=0)


# annotations


def annotation(name: str, text: str) -> None:
    def make(folder: Path) -> Attack:
        port = f'<rt_info><attribute name="irshape" version="0" value="{text}"/></rt_info></port>'
        (folder / "a.xml").write_text(SMALL.replace("</port>", port, 1))
        return Attack(["check", "a.xml"], -1)

    MAKERS[f"annotation of {name}"] = make


for name, text in (
    ("times", "1x" * 45_000),
    ("colons", "a:" * 45_000),
    ("equals", "a=" * 45_000),
    ("dots", "[" + "1.." * 30_000),
    ("letters", "a" * 90_000),
    ("blanks", "1" + " " * 90_000 + "x"),
    ("brackets", "(" * 90_000),
    ("commas", "[" + "1," * 45_000),
    ("sums", "[" + "a+" * 45_000 + "]"),
    ("digits", "1" * 90_000),
):
    annotation(name, text)


class Finding(NamedTuple):
    """What is wrong with the answer to an attack, and what it took."""

    wrong: list[str]
    seconds: float
    megabytes: int


def tried(name: str, folder: Path, seconds: float = 20) -> Finding:
    """Fill an empty folder with an attack, run its command, and say what is wrong."""
    for victim in ("victim", "victim.toml"):
        (folder / victim).write_bytes(VICTIM)
        (folder / victim).chmod(0o640)
    given = MAKERS[name](folder)
    used, megabytes, code, said = measured(given.command, folder, seconds)
    for path in folder.iterdir():
        if path.is_dir():
            path.chmod(0o755)
    wrong = []
    if used > SECONDS or megabytes > MEGABYTES:
        wrong.append(f"{used:.1f} s, {megabytes} MB")
    if given.code >= 0 and code != given.code:
        wrong.append(f"exit code {code}, not {given.code}: {said[-300:]}")
    table = folder / "out.jsonl"
    said += table.read_text() if table.is_file() and not table.is_symlink() else ""
    if given.says not in said:
        wrong.append(f"does not say {given.says!r}: {said[-300:]}")
    wrong += [
        f"says {word!r}: {said[:300]}" for word in (SECRET, "Traceback", "internal error", " I101 ", '"I101"', "Error:") if word in said
    ]
    for victim in ("victim", "victim.toml"):
        if (folder / victim).read_bytes() != VICTIM or (folder / victim).stat().st_mode & 0o777 != 0o640:
            wrong.append(f"{victim} has changed")
    wrong += [f"leaves {path.name}" for path in folder.glob(".irshape-*")]
    return Finding(wrong, used, megabytes)


def measured(command: list[str], folder: Path, seconds: float) -> tuple[float, int, int, str]:
    """CPU seconds, megabytes, exit code and text of a command that runs in a folder."""

    program = [sys.executable, "-c", RUNNER, str(int(seconds)), "-m", "irshape", *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            program, capture_output=True, text=True, check=False, cwd=folder, env=environment, timeout=6 * seconds, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return 999.0, 0, -1, "does not end"
    *rest, line = done.stderr.strip().splitlines()
    used, megabytes, code = line.split()
    return float(used), int(megabytes), int(code), done.stdout + "\n".join(rest)


def main() -> int:
    """Try every attack; 1 if one succeeds."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.strangers", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="the attacks whose names contain one of these")
    given = parser.parse_args()
    count = 0
    for number, name in enumerate(MAKERS):
        if given.names and not any(one in name for one in given.names):
            continue
        folder = given.folder.absolute() / f"stranger{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        found = tried(name, folder)
        count += bool(found.wrong)
        if found.wrong or found.seconds > 2:
            print(f"{'!' if found.wrong else ' '} {name}: {found.seconds:.2f} s, {found.megabytes} MB {'; '.join(found.wrong)}", flush=True)
    print(f"{len(MAKERS)} attacks, {count} succeed")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
