"""Files made to do harm, each with what must be said of it: `python -m tests.fuzz.hostile FOLDER` writes and measures them.

A file is refused with a code, or it is accepted because OpenVINO accepts it and nothing is wrong with it but its size. Those of
`LARGE` are as many times larger than in the tests as `--scale` says.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.ir import Net

MAX = 2**63 - 1
MIN = -(2**63)


class Hostile(NamedTuple):
    """A file, its weights, and the code of an error that must be among its faults; None if it is to be accepted."""

    xml: bytes
    weights: bytes | None
    code: str | None


SMALL = Net("f32[1,2] -> ReLU -> Result").xml
BODY = SMALL.partition("?>\n")[2]


# The markup itself.


def markup() -> dict[str, tuple[bytes | str, str | None]]:
    """Text that is no sound XML, or more of it than anybody needs."""
    deep, entity = 100_000, '<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">]>'
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    return {
        "empty": ("", "X104"),
        "blanks": (" \n\t" * 1000, "X104"),
        "byte order mark alone": (b"\xef\xbb\xbf", "X104"),
        "NULs": (b"\0" * 1000, "X104"),
        "binary": (bytes(range(256)) * 100, "X104"),
        "gzip": (b"\x1f\x8b\x08\0" + bytes(100), "X104"),
        "zip": (b"PK\x03\x04" + bytes(100), "X104"),
        "html": ("<html><body/></html>", "X104"),
        "another root": ("<nets/>", "X104"),
        "root with a prefix": (BODY.replace("<net ", '<a:net xmlns:a="b" ').replace("</net>", "</a:net>"), "X104"),
        "half a tag": (SMALL[: SMALL.index("<layers") + 4], "X101"),
        "half an attribute": (SMALL[: SMALL.index("opset1") + 3], "X101"),
        "no end": (SMALL.rpartition("</net>")[0], "X101"),
        "wrong end": (SMALL.replace("</layers>", "</layer>"), "X101"),
        "attribute without quotes": (SMALL.replace('id="0"', "id=0", 1), "X101"),
        "attribute twice": (SMALL.replace('id="0"', 'id="0" id="0"', 1), ""),
        "NUL in an attribute": (SMALL.replace("relu_1", "re\0lu"), "X101"),
        "control character": (SMALL.replace("relu_1", "re\x01lu"), "X101"),
        "reference to a NUL": (SMALL.replace("relu_1", "&#0;"), "X101"),
        "reference beyond Unicode": (SMALL.replace("relu_1", "&#x110000;"), "X101"),
        "reference to a surrogate": (SMALL.replace("relu_1", "&#xD800;"), "X101"),
        "unknown entity": (SMALL.replace("relu_1", "&nbsp;"), "X101"),
        "tag in an attribute": (SMALL.replace("relu_1", "<b>"), "X101"),
        "bytes that are no UTF-8": (SMALL.encode().replace(b"relu_1", b"\xc0\xaf\xff"), "X103"),
        "overlong UTF-8": (SMALL.encode().replace(b"relu_1", b"\xe0\x80\xbc"), "X103"),
        "surrogate in UTF-8": (SMALL.encode().replace(b"relu_1", b"\xed\xa0\x80"), "X103"),
        "two roots": (BODY + BODY, "X101"),
        "text behind the end": (SMALL + "text", None),
        "markup behind the end": (SMALL + "<x>", "X101"),
        "document type": ("<!DOCTYPE net>" + BODY, "X102"),
        "document type with an entity": (entity + BODY.replace("relu_1", "&a;"), "X102"),
        "a billion laughs": (f'<!DOCTYPE net [<!ENTITY l0 "ha">{laughs}]>' + BODY.replace("relu_1", "&l9;"), "X102"),
        "quadratic entity": (f'<!DOCTYPE net [<!ENTITY a "{"a" * 50_000}">]>' + BODY.replace("relu_1", "&a;" * 50_000), "X102"),
        "file from outside": ('<!DOCTYPE net [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + BODY.replace("relu_1", "&a;"), "X102"),
        "address from outside": ('<!DOCTYPE net SYSTEM "http://127.0.0.1/a.dtd">' + BODY, "X102"),
        "parameter entity": ('<!DOCTYPE net [<!ENTITY % a SYSTEM "http://127.0.0.1/a">%a;]>' + BODY, "X102"),
        "document type behind a comment": ("<!--" + "a" * 70_000 + "-->" + entity + BODY, "X102"),
        "document type in UTF-16": (("\ufeff" + entity + BODY).encode("utf-16-le"), "X102"),
        "document type of an example": (entity + '<layer type="ReLU"/>', "X102"),
        "UTF-7": ('<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE net+AD4-' + BODY, "X103"),
        "UTF-32": (("\ufeff" + BODY).encode("utf-32-le"), "X103"),
        "EBCDIC": ('<?xml version="1.0" encoding="cp037"?>' + BODY, "X103"),
        "unknown encoding": ('<?xml version="1.0" encoding="martian"?>' + BODY, "X103"),
        **{
            f"encoding {name}": (f'<?xml version="1.0" encoding="{name}"?>' + BODY, "X103")
            for name in ("rot13", "hex", "zlib", "base64", "punycode", "idna", "unicode_escape", "raw_unicode_escape", "utf-16", "mbcs")
        },
        "encoding of 1000 letters": (f'<?xml version="1.0" encoding="{"a" * 1000}"?>' + BODY, "X103"),
        "XML 1.1": ('<?xml version="1.1"?>' + BODY, None),
        "UTF-16": (("\ufeff" + BODY).encode("utf-16-be"), None),
        "blanks before": ("\n" * 10_000 + BODY, None),
        "namespace": (BODY.replace("<net ", '<net xmlns="a" xmlns:b="c" '), None),
        "prefix nobody declared": (SMALL.replace("<rt_info/>", "<a:b c:d='e'/>"), None),
        "inclusion": (
            SMALL.replace("<rt_info/>", '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'),
            None,
        ),
        "style sheet": (SMALL.replace("<net", '<?xml-stylesheet href="http://127.0.0.1/"?><net', 1), None),
        "deep": (f'<net version="11">{"<a>" * deep}', "X111"),
        "deep and closed": (SMALL.replace("<rt_info/>", "<a>" * deep + "</a>" * deep), "X111"),
        "deep without a root": ("<a>" * deep, "X104"),
        "instructions": (SMALL.replace("<rt_info/>", "<?a b?>" * deep), None),
        "comments": (SMALL.replace("<rt_info/>", "<!-- a -->" * deep), None),
        "a long comment": (SMALL.replace("<rt_info/>", f"<!--{'a' * 3_000_000}-->"), None),
        "comments in a dim": (SMALL.replace('"FP32"/>', f'"FP32"><dim>{"<!-- -->" * deep}1</dim></port>', 1), None),
        "CDATA": (SMALL.replace("<rt_info/>", f"<![CDATA[{'<' * deep}]]>"), None),
        "references": (SMALL.replace("relu_1", "&#65;" * deep), None),
        "comments that do not end": (SMALL.replace("</net>", "<!--" * deep), "X101"),
        "tags that do not end": (SMALL.replace("</net>", "<a " * deep), "X101"),
        "a long attribute": (SMALL.replace("relu_1", "a" * 10_000_001), "X111"),
        "a long name of an attribute": (SMALL.replace("<rt_info/>", f"<data {'a' * 10_000_001}='1'/>"), "X111"),
    }


# Numbers.

_WRONG = {
    "nothing": "", "blank": " ", "plus": "+1", "letters": "one", "underscore": "1_0", "Arabic digit": "\u0663", "full digit": "\uff11",
    "hexadecimal": "0x10", "exponent": "1e3", "beyond int64": str(2**63), "beyond uint64": str(2**64), "a million digits": "9" * 10**6,
}  # fmt: skip


def numbers() -> dict[str, tuple[str, str | None]]:
    """What stands where a number belongs."""
    found: dict[str, tuple[str, str | None]] = {}
    places = {
        "layer id": ('id="1"', "id", "X106"),
        "edge": ('from-layer="1"', "from-layer", "X106"),
        "IR version": ('version="11"', "version", "X106"),
    }
    for place, (written, name, code) in places.items():
        for kind, text in _WRONG.items():
            if kind != "plus":  # which OpenVINO reads here
                found[f"{place}: {kind}"] = (SMALL.replace(written, f'{name}="{text}"'), code)
    for kind, text in _WRONG.items():
        if kind not in ("plus", "underscore", "hexadecimal", "exponent"):  # read up to the first letter, as OpenVINO does
            found[f"dim: {kind}"] = (SMALL.replace('"FP32"/>', f'"FP32"><dim>{text}</dim></port>', 1), "X106")
    for shape in ("+1", "one", "1,,2", ",", "1,2,", "[1", "1.5", "٣", "1;2", "0x10"):
        found[f"shape {shape}"] = (SMALL.replace('shape="1,2"', f'shape="{shape}"'), "A102")
    found["shape of a million axes"] = (SMALL.replace('shape="1,2"', f'shape="{"1," * 10**6}1"'), "X111")
    found["a million dims"] = (SMALL.replace('"FP32"/>', f'"FP32">{"<dim>1</dim>" * 10**6}</port>', 1), "X111")
    return found


# Graphs.


def graphs() -> dict[str, tuple[str, str | None]]:
    """Edges and ports that fit nothing."""
    edge = SMALL[SMALL.index("<edge ") : SMALL.index("/>", SMALL.index("<edge ")) + 2]
    many = 20_000
    return {
        "no layers": ('<net version="11"/>', None),
        "no edges": (SMALL[: SMALL.index("<edges>")] + "</net>", "G106"),
        "edges from nowhere": (SMALL.replace("<edges>", "<edges>" + edge.replace('from-layer="0"', 'from-layer="7"') * many), "G102"),
        "edges to one port": (SMALL.replace("<edges>", "<edges>" + edge * many), "G104"),
        "edges from a port that is not there": (SMALL.replace(edge, edge.replace('from-port="0"', 'from-port="9"') * many), "G103"),
        "layer that feeds itself": (
            SMALL.replace(edge, edge.replace('from-layer="0" from-port="0"', 'from-layer="1" from-port="1"')),
            "G105",
        ),
        "ids twice": (SMALL.replace('<layer id="0"', '<layer id="1"'), "G101"),
        "unknown operation": (SMALL.replace("ReLU", "ReLU" * 1000), "G110"),
        "unknown opset": (SMALL.replace('type="ReLU" version="opset1"', 'type="ReLU" version="opset99"'), "G112"),
        "operation of a Python name": (SMALL.replace("ReLU", "__class__"), "G110"),
        "many ports of one id": (SMALL.replace("<input>", "<input>" + '<port id="0"/>' * many), "G106"),
    }


# Bodies in bodies.


def nested(depth: int, layers: str = "") -> str:
    """Loops inside each other."""
    opening = '<layers><layer id="0" name="l" type="Loop" version="opset5"><body>'
    return f'<net version="11">{opening * depth}<layers>{layers}</layers>{"</body></layer></layers>" * depth}</net>'


def loop(trips: int) -> Net:
    """A Loop that hands its input round and round."""
    net = Net()
    body = Net("x: f32[1,2] -> ReLU -> y: Result\nboolean=true -> go: Result")
    maps = '2 > x; y > 3 axis="0"; go > -1; y > x'
    net.result(net.holder(f"Loop-5({trips}, boolean=true, f32[1,2]) f32", maps, body=body)[0])
    return net


# Rules at the ends of their range.


def rules() -> Iterator[tuple[str, Net, str | None]]:
    """Layers whose numbers reach int64, or beyond it."""

    def one(type: str, inputs: list[Any], code: str | None, version: str = "opset1", outputs: int = 1, **attributes: Any) -> None:
        net = Net()
        refs = [
            net.parameter(one) if isinstance(one, str) else net.const(*one) if isinstance(one, tuple) else net.const(one) for one in inputs
        ]
        for ref in net.layer(type, refs, ["FP32"] * outputs, version, **attributes):
            net.result(ref)
        made.append((f"{type} {len(made)}", net, code))

    made: list[tuple[str, Net, str | None]] = []
    window = {"pads_begin": "0,0", "pads_end": "0,0", "strides": "1,1", "kernel": "1,1", "rounding_type": "floor"}
    image, huge = "f32[1,3,8,8]", f"f32[{2**40},{2**40}]"
    one("Reshape", [huge, [-1]], "S205", special_zero=False)
    one("Reshape", ["f32[6]", [MAX, 2]], None, special_zero=False)
    one("Reshape", ["f32[6]", [MAX - 1, 2]], "S201", special_zero=False)
    one("Reshape", ["f32[0]", [MAX, 0]], None, special_zero=False)
    one("Reshape", ["f32[6]", [MIN]], "V101", special_zero=False)
    one("Tile", [f"f32[{MAX - 1}]", [2]], "S205")
    one("Tile", ["f32[?]", [MAX]], None)
    one("Broadcast", ["f32[1]", [MAX]], None, "opset3", mode="numpy")
    one("Concat", [f"f32[{MAX - 1}]", "f32[2]"], "S205", axis=0)
    one("Concat", [f"f32[{MAX}]", "f32[1]"], None, axis=0)
    one("Concat", [f"f32[{2**62}..]", f"f32[{2**62}..]"], "S205", axis=0)
    one("Concat", ["f32[?]", "f32[?]"], None, axis=0)
    one("Concat", ["f32[1]", "f32[1]"], "V102", axis=MAX)
    one("Pad", ["f32[1]", [MAX], [1], (0.0, "f32")], "S205", "opset12", pad_mode="constant")
    one("Pad", ["f32[1]", [-2], [0], (0.0, "f32")], None, "opset12", pad_mode="constant")
    one("Range", [0, 10**12, 1], None, "opset4", output_type="i64")
    one("Range", [MIN, MAX, 1], "S205", "opset4", output_type="i64")
    one("Range", [0, 10, 0], "V101", "opset4", output_type="i64")
    one("MaxPool", [image], "S203", **{**window, "kernel": f"{MAX},1"})
    one("MaxPool", [image], None, **{**window, "strides": f"{MAX},1"})
    one("MaxPool", [image], "A104", **{**window, "strides": "0,1"})
    one("MaxPool", [image], "S205", **{**window, "pads_begin": f"{MAX},0", "pads_end": f"{MAX},0"})
    one("MaxPool", [image], "A104", **{**window, "kernel": f"{2**64},1"})
    one("Softmax", [image], "V102", axis=MIN)
    one("Split", [image, 1], "X111", num_splits=MAX)
    one("Split", [image, 1], "A104", num_splits=0)
    one("TopK", ["f32[9]", MAX], None, "opset11", 2, axis=0, mode="max", sort="value")
    one("TopK", ["f32[9]", -1], "V101", "opset11", 2, axis=0, mode="max", sort="value")
    one("OneHot", ["i64[2]", MAX, (1.0, "f32"), (0.0, "f32")], None, axis=-1)
    one("OneHot", ["i64[2]", -1, (1.0, "f32"), (0.0, "f32")], "V101", axis=-1)
    one("Gather", [image, [MAX], 1], None, "opset8")
    one("Gather", [image, [0], MIN], "V102", "opset8")
    one("Transpose", [image, [0, 1, 2, MAX]], "V102")
    one("Transpose", [image, [0, 0, 0, 0]], "V104")
    one("StridedSlice", ["f32[9]", [MIN], [MAX], [1]], None, begin_mask="0", end_mask="0")
    one("StridedSlice", ["f32[9]", [MAX], [MIN], [MIN]], None, begin_mask="0", end_mask="0")
    one("StridedSlice", ["f32[9]", [0], [9], [0]], "V101", begin_mask="0", end_mask="0")
    one("Slice", ["f32[9]", [MIN], [MAX], [MAX]], None, "opset8")
    one("DepthToSpace", [image], "A104", block_size=0, mode="blocks_first")
    one("DepthToSpace", [image], "S205", block_size=MAX, mode="blocks_first")
    one("SpaceToBatch", [image, [1, 1, MAX, MAX], [0] * 4, [0] * 4], "S204", "opset2")
    one("BatchToSpace", [image, [1, 1, MAX, MAX], [0] * 4, [0] * 4], "S204", "opset2")
    one("Eye", [MAX, MAX, 0], None, "opset9", output_type="f32")
    one("Eye", [-1, 1, 0], "V101", "opset9", output_type="f32")
    one("Interpolate", [image, [1, 3, MAX, MAX], (1.0, "f32")], None, "opset4", mode="nearest")
    one("Einsum", ["f32[1,1]"], "S101", "opset7", equation="a" * 100_000 + "->a")
    one("Roll", [image, [MIN], [MAX]], "V102", "opset7")
    one("Unsqueeze", [image, [MAX]], "V102")
    one("Squeeze", [image, [MIN]], "V102")
    one("Parameter", [], None, shape=f"{MAX}..{MAX - 1}", element_type="f32")
    yield from made


def all_of() -> dict[str, Hostile]:
    """Every file by its name."""
    found = {}
    for name, (text, code) in {**markup(), **numbers(), **graphs()}.items():
        found[name] = Hostile(text if isinstance(text, bytes) else text.encode(), None, code)
    for name, net, code in rules():
        found[name] = Hostile(net.xml.encode(), net.bin, code)
    for depth, code in ((60, None), (65, "X111"), (10_000, "X111")):
        found[f"{depth} Loops"] = Hostile(nested(depth).encode(), None, code)
    for trips in (0, -1, MAX):
        net = loop(trips)
        found[f"Loop of {trips}"] = Hostile(net.xml.encode(), net.bin, None)
    return found


def measure(path: Path, *options: str) -> tuple[float, int, int]:
    """CPU seconds, peak megabytes and exit code of one `irshape check` in a process of its own."""
    runner = (
        "import os, sys\n"
        "pid = os.posix_spawn(sys.executable, [sys.executable, '-m', 'irshape', 'check', *sys.argv[1:]], os.environ,"
        " file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)])\n"
        "_, status, usage = os.wait4(pid, 0)\n"
        "print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024, os.waitstatus_to_exitcode(status))"
    )
    done = subprocess.run([sys.executable, "-c", runner, str(path), *options], capture_output=True, text=True, check=True)
    seconds, megabytes, code = done.stdout.split()
    return float(seconds), int(megabytes), int(code)


def main() -> None:
    """Write all files and measure them, the slowest last."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    measured: list[tuple[float, int, int, str]] = []
    for number, (name, file) in enumerate(all_of().items()):
        path = folder / f"{number}.xml"
        path.write_bytes(file.xml)
        if file.weights is not None:
            path.with_suffix(".bin").write_bytes(file.weights)
        measured.append((*measure(path), name))
    for seconds, megabytes, code, name in sorted(measured)[-20:]:
        print(f"{seconds:6.2f} s {megabytes:5} MB  exit {code}  {name}")
    print(f"{len(measured)} files; the most memory: {max(measured, key=lambda one: one[1])}")


if __name__ == "__main__":
    main()
