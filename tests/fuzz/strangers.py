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
import shlex
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.fuzz.hostile import SMALL
from tests.fuzz.work import MEGABYTES, RUNNER, SECONDS, slowness
from tests.support.ir import Net

ROOT: Final = Path(__file__).parents[2]
SECRET: Final = "hunter2"
# The bytes of the file that no attack may read or change.
VICTIM: Final = f"{SECRET} = 'token'\n".encode()


class Link(NamedTuple):
    """A symbolic link."""

    target: str


PIPE: Final = object()
# What a file holds; a function makes it of the folder, when the attack is tried.
Content = str | bytes | Link | object | Callable[[Path], bytes]


class Attack(NamedTuple):
    """A command, run in a folder that holds some files, by their paths, or that a function fills.

    `code` is the exit code, -1 if any will do, and `says` must be in what the command prints.
    """

    files: Mapping[str, Content] | Callable[[Path], None]
    command: str
    says: str = ""
    code: int = 2


def fill(folder: Path, files: Mapping[str, Content]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = content(folder) if callable(content) else content
        if content is PIPE:
            os.mkfifo(path)
        elif isinstance(content, Link):
            path.symlink_to(content.target)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def whole_row(**changes: object) -> bytes:
    """A row as a scan writes it."""
    from irshape.scanning.place import Place
    from irshape.scanning.row import Scan

    return json.dumps({**Scan()(Place("none.xml", "none.xml")), **changes}).encode()


# Archives.


def zipped(members: Mapping[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


def tarred(members: Mapping[str, str | tarfile.TarInfo]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name) if isinstance(content, str) else content
            info.size = len(content) if isinstance(content, str) else 0
            file.addfile(info, io.BytesIO(content.encode()) if isinstance(content, str) else None)
    return data.getvalue()


def packed_zip(packed: bytes, size: int) -> bytes:
    """A zip whose only member says that its bytes of bzip2 unpack to a size."""
    name, method = b"a.xml", zipfile.ZIP_BZIP2
    sizes = struct.pack("<LLL", zlib.crc32(b""), len(packed), size)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, method, 0, 0) + sizes + struct.pack("<HH", len(name), 0) + name
    central = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, method, 0, 0) + sizes
    central += struct.pack("<HHHHHLL", len(name), 0, 0, 0, 0, 0, 0) + name
    start = len(local) + len(packed)
    return local + packed + central + b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(central), start, 0)


def overlapping(_: Path) -> bytes:
    """A zip each of whose many members unpacks the same bytes."""
    packed = zlib.compress(b" " * (1 << 22), 9)[2:-4]
    sizes = struct.pack("<LLL", 0, len(packed), 1 << 22)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", 5, 0) + b"a.xml"
    head = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes + struct.pack("<HHHHHLL", 9, 0, 0, 0, 0, 0, 0)
    central = b"".join(head + b"%05d.xml" % number for number in range(1000))
    return local + packed + central + b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 1000, 1000, len(central), len(local) + len(packed), 0)


def with_a_wrong_header(_: Path) -> bytes:
    """A tar, with bytes that are no header in the middle."""
    data = bytearray(tarred({"a.xml": SMALL, "b.xml": "faulty", "c.xml": "faulty"}))
    at = data.index(b"b.xml")
    data[at + 100 : at + 160] = b"x" * 60
    return bytes(data)


def of_links(folder: Path) -> bytes:
    members = {}
    for name, kind in (("a.xml", tarfile.SYMTYPE), ("b.xml", tarfile.LNKTYPE), ("c.xml", tarfile.FIFOTYPE), ("d.xml", tarfile.CHRTYPE)):
        members[name] = info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, str(folder / "victim")
    return tarred(members)


def second_name(folder: Path) -> None:
    fill(folder, ONE)
    os.link(folder / "victim", folder / "out.jsonl.partial")


def halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


ODD: Final = (
    "a?b.xml", "d//e.xml", "::error::x.xml", "file:///etc/hosts.xml", "http://127.0.0.1:9/x.xml", "../up.xml", "/abs.xml", " .xml",
    "a#b.xml",
)  # fmt: skip
FOREIGN: Final = {f"{number}.xml": "<a/>" for number in range(800)}
DEEP_FOLDERS: Final = {f"{number}/" + "d/" * 900 + "a.xml": "<a/>" for number in range(20)}
CUT: Final = {
    "cut.zip": halved(zipped({"a.xml": SMALL})), "cut.tgz": halved(gzip.compress(tarred({"a.xml": SMALL}))),
    "cut.tar": tarred({"a.xml": SMALL})[:1536], "empty.zip": "", "empty.tar": "",
}  # fmt: skip
ONE: Final = {"a.xml": SMALL}
MODEL: Final = {"models/a.xml": SMALL}
CIRCLE: Final = {"models/a.xml": SMALL, "models/b.xml": Link("b.xml"), "models/c.xml": SMALL}
CHAIN: Final = {"loc/good": SMALL, "loc/good::b.xml": "faulty", "loc/zip:/x.xml": "faulty"}
LIKE_XML: Final = "<net name='a' version='11'><layers><layer id='0' name='a' type='Parameter' version='opset1'><data shape='1'>.xml"
TABLES: Final = "\n".join(f'[per-file."*{number}*.xml"]\nignore = ["R104"]' for number in range(3000))
CROWD: Final = {f"models/{number}.xml": SMALL for number in range(3000)}

ATTACKS: Final[dict[str, Attack]] = {
    "member that names another archive": Attack(
        {
            "inner.zip": zipped({"a.xml": SECRET}),
            "evil.zip": lambda folder: zipped({f"inner.xml::{folder}/inner.zip::a.xml": SMALL}),
        },
        "scan evil.zip -o out.jsonl", "1 valid", 0,
    ),
    "members of odd names": Attack({"a.zip": zipped(dict.fromkeys(ODD, SMALL))}, "scan a.zip -o out.jsonl", f"{len(ODD)} valid", 0),
    "member of a gigabyte in bzip2": Attack(
        {"a.zip": lambda _: packed_zip(bz2.compress(bytes(1 << 26)) * 16, 1 << 30)}, "scan a.zip -o out.jsonl", "unpacks to more than"
    ),
    "member that says less than it unpacks to": Attack(
        {"a.zip": lambda _: packed_zip(bz2.compress(bytes(1 << 28)), 10)}, "scan a.zip -o out.jsonl", "1 failed"
    ),
    "members that overlap": Attack({"a.zip": overlapping}, "scan a.zip -o out.jsonl", "overlap"),
    "many small members": Attack({"a.zip": zipped(FOREIGN)}, "scan a.zip -o out.jsonl", "800 foreign", 0),
    "many small members of a packed tar": Attack({"a.tgz": gzip.compress(tarred(FOREIGN))}, "scan a.tgz -o out.jsonl", "800 foreign", 0),
    "members in deep folders": Attack({"a.zip": zipped(DEEP_FOLDERS)}, "scan a.zip -o out.jsonl", "20 foreign", 0),
    "tar of zeros": Attack(
        {"a.tar.bz2": lambda _: bz2.compress(bytes(1 << 26)) * 25}, "scan a.tar.bz2 -o out.jsonl", "unpacks to more than"
    ),
    "cut archives": Attack(CUT, f"scan {' '.join(CUT)} -o out.jsonl", "5 failed"),
    # What is behind the header must not vanish.
    "tar with a wrong header inside": Attack({"a.tar": with_a_wrong_header}, "scan a.tar -o out.jsonl", "1 failed"),
    "tar of links": Attack({"a.tar": of_links}, "scan a.tar -o out.jsonl", "4 failed"),
    # Places.
    "file whose name looks like a chain": Attack(CHAIN, "scan loc -o out.jsonl", "2 invalid", 1),
    "link in a circle": Attack(CIRCLE, "scan models -o out.jsonl", "2 valid, 1 failed"),
    "link in a circle for check": Attack(CIRCLE, "check models", "2 files"),
    "file whose name looks like xml": Attack({LIKE_XML: "faulty"}, f'check "{LIKE_XML}"', "1 error", 1),
    "link to a secret": Attack({"models/a.xml": Link("../victim")}, "check models", "X104", 1),
    "empty file": Attack({"a.xml": ""}, "scan a.xml -o out.jsonl", "X104", 1),
    "path with a zero": Attack({**ONE, "irshape.toml": 'weights = "a\\u0000b"'}, "check a.xml", "--trust-config"),
    # Configurations.
    "configuration that is a link": Attack({**MODEL, "models/irshape.toml": Link("../victim")}, "check models", "a link to a file outside"),
    "many tables for many files": Attack(
        {f"models/m{number}.xml": SMALL for number in range(200)} | {"models/irshape.toml": TABLES}, "check models -q --jobs 1", "", 0
    ),
    # Unfinished tables.
    "foreign partial": Attack({**ONE, "out.jsonl.partial": VICTIM}, "scan a.xml -o out.jsonl --restart", "this is not an unfinished table"),
    "partial that is a link": Attack({**ONE, "out.jsonl.partial": Link("victim")}, "scan a.xml -o out.jsonl --restart", "move it away"),
    "partial that is a second name": Attack(
        second_name,
        "scan a.xml -o out.jsonl --restart", "move it away",
    ),
    "partial with rows of other forms": Attack(
        {**ONE, "out.jsonl.partial": '{"unfinished": "x"}\n{"file": 1}\n[]\nnull\n'},
        "scan a.xml -o out.jsonl", "other files, options or version",
    ),
    # Many files.
    "3,000 files: check": Attack(CROWD, "check models --jobs 1", "3000 files, 9000 layers", 0),
    "3,000 files: scan": Attack(CROWD, "scan models -o out.jsonl --jobs 1", "3000 files", 0),
}  # fmt: skip

ATTACKS.update(
    (f"credential in {url.replace(SECRET, 'PW')}", Attack({}, f"scan '{url}' -o out.jsonl"))
    for url in (
        f"zip://::http://user:{SECRET}@127.0.0.1:9/m.zip?sig={SECRET}",
        f"http://user:{SECRET}@127.0.0.1:9/a.xml?sig={SECRET}#{SECRET}",
        f"HTTP://user:{SECRET}@127.0.0.1:9/",
        f"http://[::1/a.xml?sig={SECRET}",
        f"http://user:{SECRET}/{SECRET}@127.0.0.1:9/a.xml",
        *(f"{name}://user:{SECRET}@127.0.0.1/a.xml?{SECRET}" for name in ("webdav", "smb", "ssh", "sftp", "ftp", "github", "nonsense")),
        f"simplecache::http://user:{SECRET}@127.0.0.1:9/a.xml",
    )
)

ELSEWHERE: Final = "leads out of the folder"
ATTACKS.update(
    (name, Attack({**MODEL, "models/irshape.toml": text}, "check models", says, 0 if says == "1 file" else 2))
    for name, text, says in (
        ("weights elsewhere", 'weights = "../victim"', ELSEWHERE),
        ("extensions elsewhere", 'extensions = ["../victim.toml"]', ELSEWHERE),
        ("baseline elsewhere", 'baseline = "../victim"', ELSEWHERE),
        ("baseline without an end", 'baseline = "/dev/zero"', ELSEWHERE),
        ("stars that backtrack", f'exclude = ["{"*a" * 100}c"]', "1 file"),
        ("empty set", 'exclude = ["[]"]', "1 file"),
        ("nested arrays", f"exclude = {'[' * 5000}", "nests tables or lists too deeply"),
        ("dotted keys", ".".join("a" * 45_000) + " = 1", "parts"),
        ("many digits", "[limits]\ndepth = " + "9" * 5000, "too many digits"),
        ("formula of a pattern", 'inputs = {x = "' + "a:" * 40_000 + '"}', "cannot read"),
    )
)

ATTACKS.update(
    (f"{option} {name}", Attack({**ONE, "t.jsonl": content}, f"scan {option} t.jsonl{more}", "not a table of irshape scan"))
    for option, more in (("--summary", ""), ("--cache", " a.xml -o out.jsonl"), ("--against", " a.xml -o out.jsonl"))
    for name, content in {
        "of a number": '{"file": 1}',
        "array": "[]",
        "null": "null",
        "nested": "[" * 100_000,
        "row without columns": '{"file": "a.xml"}',
        "text": VICTIM,
        "long line": '"' + "a" * (1 << 25),
        "wrong fault": lambda _: whole_row(diagnostics=[1]),
        "wrong count": lambda _: whole_row(operations={"a": "b"}),
        "wrong verdict": lambda _: whole_row(verdict="good"),
        "infinite seconds": lambda _: whole_row(seconds=float("inf")),
    }.items()
)

ATTACKS.update(
    (f"baseline {name}", Attack({**ONE, "base.json": content}, "check a.xml --baseline base.json", "base.json: this is not "))
    for name, content in (("nested", "[" * 100_000), ("null", "null"), ("of numbers", '{"version": 1, "files": {"a.xml": {"x": 1}}}'))
)

ATTACKS.update(
    (f"pipe: {command}", Attack({**ONE, **dict.fromkeys(("pipe", "pipe.toml", "pipe.jsonl"), PIPE)}, command, "not a regular file"))
    for command in (
        "check a.xml --baseline pipe",
        "check a.xml --config pipe.toml",
        "check a.xml --extensions ./pipe.toml",
        "check a.xml --write-baseline pipe",
        "check a.xml --output-file pipe --force",
        "check a.xml --report sarif=pipe --force",
        "check pipe",
        "scan a.xml -o out.jsonl --cache pipe",
        "scan --summary pipe",
        "scan --summary pipe.jsonl --against pipe",
        "scan a.xml -o out.jsonl --against /dev/zero",
        "scan a.xml -o pipe.jsonl --force",
        "cost a.xml --csv pipe --force",
        "view a.xml -o pipe --force",
        "infer a.xml -o pipe --force",
    )
)

# An output that exists as a link to the victim is refused, and replaced with --force.
for command in (
    "scan a.xml -o out.jsonl",
    "check a.xml --output-file out.jsonl",
    "check a.xml --report sarif=out.jsonl",
    "cost a.xml --csv out.jsonl",
    "view a.xml -o out.jsonl",
    "infer a.xml -o out.jsonl --weights none",
):
    taken = {**ONE, "out.jsonl": Link("victim")}
    ATTACKS[f"output: {command}"] = Attack(taken, command, "already exists")
    ATTACKS[f"output: {command} --force"] = Attack(taken, f"{command} --force", "", 0)


def closed(folder: Path) -> None:
    """Files that nobody may read, a folder that nobody may enter, and one that nobody may write."""
    net = Net("[2,3] -> Broadcast-3(f32=1.0, _, mode=numpy) -> Result")
    fill(folder, {f"{name}/a.{suffix}": SMALL for name in ("models", "closed", "full") for suffix in ("xml", "toml")})
    unread = {"models/no.xml": SMALL, "models/no.toml": SMALL, "models/no.json": SMALL, "models/no.jsonl": SMALL, "models/w.bin": net.bin}
    fill(folder, {"models/w.xml": net.xml, **unread})
    for path, mode in (*dict.fromkeys(unread, 0).items(), ("closed", 0), ("full", 0o555)):
        (folder / path).chmod(mode)


ATTACKS.update(
    (f"closed: {command}", Attack(closed, command, "1 failed" if "scan models -o" in command else "Permission denied", code))
    for code, commands in {
        2: (
            "check models",
            "check models --jobs 2",
            "check closed",
            "check closed/a.xml",
            "check models/a.xml --baseline models/no.json",
            "check models/a.xml --config models/no.toml",
            "check models/a.xml --extensions ./models/no.toml",
            "check models/a.xml --output-file full/report.txt",
            "check models/a.xml --write-baseline full/baseline.json",
            "infer models/a.xml -o full/new.xml",
            "infer models/a.xml -o full/a.xml --force",
            "infer models/a.xml -o full/new/",
            "infer full/a.xml --in-place --input [9]",
            "cost models/a.xml --csv full/cost.csv",
            "view models/a.xml -o full/page.html",
            "diff models/a.xml models/no.xml",
            "scan models/a.xml -o full/out.jsonl",
            "scan --summary models/no.jsonl",
            "scan closed -o out.jsonl",
            "scan models -o out.jsonl",
        ),
        1: ("check models/w.xml",),
    }.items()
    for command in commands
)

# The process that cuts files short and fills them again goes on beside the command, and ends by itself.
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


def shrinking(folder: Path) -> None:
    net = Net("f32[?,3]" + " -> Reshape([-1,3], special_zero=false)" * 300 + " -> Result")
    fill(folder, {"a.xml": net.xml, "a.bin": net.bin})
    for name in ("a.xml", "a.bin"):
        subprocess.run([sys.executable, "-c", CUTTER, str(folder / name)], check=True)


ATTACKS.update(
    (f"shrinking: {command}", Attack(shrinking, command, "", -1))
    for command in (
        f"check{' a.xml' * 30}",
        "infer a.xml -o new/",
        "reshape a.xml --input [7,3] -o new.xml",
        "diff a.xml a.xml",
        "view a.xml -o page.html",
        f"scan{' a.xml' * 30} -o out.jsonl",
    )
)


def operation(formula: str, condition: str = "", code: int = 2, says: str = "") -> Attack:
    """An operation in a file of operations, whose formula explodes."""
    conditions = f'[Boom.conditions]\n"{condition}" = "no"\n' if condition else ""
    attributes = 'attributes = { flag = "boolean, default true" }\n'
    file = f'[Boom]\nversion = "boom"\ninputs = ["data: any[H, W]"]\noutputs = ["f32[{formula}]"]\n{attributes}{conditions}'
    net = Net("_x: f32[?,?]" + "\n_x -> Boom-boom -> Result" * 20)
    return Attack({"boom.toml": file, "a.xml": net.xml}, "signature a.xml --extensions ./boom.toml", says, code)


HUGE: Final = "has a number above"
ATTACKS.update(
    (f"operation: {name}", attack)
    for name, attack in {
        "deep signs": operation("-" * 900 + "H", says="nests its operations deeper"),
        "deep calls": operation("min(W, " * 190 + "H" + ")" * 190, code=0),
        "deeper calls": operation("min(W, " * 50_000 + "H" + ")" * 50_000, says="is not a formula"),
        "deep branches": operation("(H if flag else " * 60 + "W" + ")" * 60, code=0),
        "powers": operation("9**9**9**9", says="cannot be part of a formula"),
        "shifts": operation("1 << 99999999999", says="cannot be part of a formula"),
        "texts": operation("'a'*99999999999", says="cannot be part of a formula"),
        "long product": operation("*".join(f"(H + {number}*W)" for number in range(190)), code=1, says="S205"),
        "long sum": operation("H + " * 50_000 + "H", says="is not a formula"),
        "nested product": operation("*".join([f"({'*'.join(['(H + W)'] * 60)})"] * 60), code=-1),
        "product of numbers": operation("*".join(["H*9223372036854775807"] * 99), code=-1),
        "long number": operation("0x" + "f" * 900_000, says=HUGE),
        "item of a long number": operation("data[0x" + "f" * 9000 + "]", says=HUGE),
        "divisor of a long number": operation("H//0x" + "f" * 9000, says=HUGE),
        "long number in a condition": operation("H", "H % 0x" + "f" * 9000 + " == 0", says=HUGE),
        "floors": operation("//3*3".join(["H"] * 90), code=-1),
        "remainders": operation("H" + "%7 + W" * 90, code=-1),
        "many sizes": operation(",".join(["H*W"] * 50_000), code=1, says="limit rank"),
        "long test": operation("H", " or ".join(["flag"] * 20_000), code=0),
    }.items()
)

ANNOTATION: Final = '<rt_info><attribute name="irshape" version="0" value="{}"/></rt_info></port>'
ATTACKS.update(
    (f"annotation of {name}", Attack({"a.xml": SMALL.replace("</port>", ANNOTATION.format(text), 1)}, "check a.xml", "", -1))
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
    )
)


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
    given = ATTACKS[name]
    given.files(folder) if callable(given.files) else fill(folder, given.files)
    used, megabytes, code, said = measured(shlex.split(given.command), folder, seconds)
    for path in folder.iterdir():
        if path.is_dir():
            path.chmod(0o755)
    wrong = []
    if used > SECONDS * slowness() or megabytes > MEGABYTES:
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
    for number, name in enumerate(ATTACKS):
        if given.names and not any(one in name for one in given.names):
            continue
        folder = given.folder.absolute() / f"stranger{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        found = tried(name, folder)
        count += bool(found.wrong)
        if found.wrong or found.seconds > 2:
            print(f"{'!' if found.wrong else ' '} {name}: {found.seconds:.2f} s, {found.megabytes} MB {'; '.join(found.wrong)}", flush=True)
    print(f"{len(ATTACKS)} attacks, {count} succeed")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
