"""Every code of the catalogue has a smallest file that triggers it."""

import struct
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import irshape
from irshape.ops.registry import REGISTRY
from irshape.report.catalogue import CATALOGUE
from tests.support.ir import Net
from tests.support.rows import const, net_of

X = (
    '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,4,8,8" element_type="f32"/>'
    '<output><port id="0" precision="FP32"/></output></layer>'
)
D = (
    '<layer id="1" name="d" type="SpaceToDepth" version="opset1"><data block_size="2"/>'
    '<input><port id="0"/></input><output><port id="1" precision="FP32"/></output></layer>'
)
R = '<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>'
EMPTY_BODY = '<port_map><input external_port_id="0" internal_layer_id="0"/></port_map><body><layers/><edges/></body></layer>'
XD, DR = '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>', '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>'


class File(NamedTuple):
    """An IR and the bytes of its weights."""

    xml: str | bytes
    weights: bytes | None = None
    options: dict[str, Any] = {}


def ir(*layers: str, edges: str = XD + DR, version: object = 11) -> str:
    """The text of an IR."""
    return f'<net name="n" version="{version}"><layers>{"".join(layers)}</layers><edges>{edges}</edges></net>'


def op(type: str, version: str, *inputs: Any, **options: Any) -> File:
    """An IR with one operation, its inputs as in the rows of the operations' tests."""
    net = net_of(type, version, ("", *inputs, ""))
    return File(net.xml, net.bin, options)


def constant(values: list[int], size: int | None = None, offset: int = 0, weights: bytes | None = b"\1\0\0\0\0\0\0\0" * 4) -> File:
    """A Const of i64 that a Result reads, with a size and an offset of its own."""
    net = Net()
    net.result(net.const(values))
    xml = net.xml.replace('offset="0"', f'offset="{offset}"')
    return File(xml if size is None else xml.replace(f'size="{8 * len(values)}"', f'size="{size}"'), weights)


def strings(packed: bytes) -> File:
    """A Const of two strings that a Result reads."""
    net = Net()
    net.result(net.layer("Const", [], ["STRING"], element_type="string", shape=2, offset=0, size=len(packed))[0])
    return File(net.xml, packed)


def divided_by_zero() -> File:
    """A shape that is computed by a division by zero."""
    net = Net()
    [sizes] = net.layer("Divide", [net.const([4, 2]), net.const([0, 1])], ["I64"])
    net.result(*net.layer("Reshape", [net.parameter("f32[8]"), sizes], ["FP32"], special_zero=False))
    return File(net.xml, net.bin)


BLOCKS: tuple[Any, ...] = ([1, 2], [0, 0], [0, 0])

ROWS: dict[str, File | str | bytes] = {
    "X101": ir(X, D, R).removesuffix("</net>"),
    "X102": '<!DOCTYPE net [<!ENTITY a "b">]>' + ir(X, D, R),
    "X103": '<?xml version="1.0" encoding="klingon"?>' + ir(X, D, R),
    "X104": "<html/>",
    "X105": ir(X.replace(' name="x"', ""), D, R),
    "X106": ir(X, D.replace('id="1"', 'id="one"', 1), R),
    "X107": ir(X.replace("FP32", "FP33"), D, R),
    "X108": ir(X, D, R, version=9),
    "X109": '<net name="n" version="11"><edges/></net>',
    "X110": '<layer type="ReLU" ...><input><port id="0"><dim>1</dim></port></input>',
    "X111": ir(X, D, R).replace("<edges>", "<a>" * 5000 + "</a>" * 5000 + "<edges>"),
    "X201": " \n" + '<?xml version="1.0"?>' + ir(X, D, R),
    "G101": ir(X, D, R, X.replace('"x"', '"y"')),
    "G102": ir(X, D, R, edges=XD + DR + XD.replace('from-layer="0"', 'from-layer="7"')),
    "G103": ir(X, D, R, edges=XD + DR + XD.replace('from-port="0"', 'from-port="7"')),
    "G104": ir(X, D, R, edges=XD + DR + XD),
    "G105": ir(D, R, edges=DR + '<edge from-layer="1" from-port="1" to-layer="1" to-port="0"/>'),
    "G106": ir(X, D, R, edges=DR),
    "G107": op("SpaceToBatch", "opset2", "f32[2,8]", [1, 2], [0, 0]),
    "G108": op("SpaceToBatch", "opset2", "f32[2,8]", *BLOCKS, [0, 0]),
    "G109": ir(X.replace("</output>", '<port id="1" precision="FP32"/></output>'), D, R),
    "G110": ir(X, D.replace("SpaceToDepth", "SpaceToVolume"), R),
    "G111": op("SpaceToBatch", "opset1", "f32[2,8]", *BLOCKS),
    "G112": ir(X, D.replace("opset1", "opset99"), R),
    "G113": ir(X, D, edges=XD),
    "G114": ir(X, D.replace('"d"', '"x"'), R),
    "G115": ir(X, D.replace('<port id="0"/>', '<port id="0"/><port id="0"/>'), R),
    "G116": ir(X, D, R, D.replace('id="1"', 'id="3"', 1).replace('"d"', '"e"'), edges=XD + DR + XD.replace('to-layer="1"', 'to-layer="3"')),
    "G117": File(ir(X, D.replace("SpaceToDepth", "SpaceToVolume"), R), options={"opaque": ["SpaceToVolume"]}),
    "G118": op("Assign", "opset6", "f32[2]", {"variable_id": "v"}),
    "G119": ir(X, D.replace("SpaceToDepth", "TensorIterator").replace("</layer>", EMPTY_BODY), R),
    "A101": File(ir(X.replace("Parameter", "Const").replace("shape=", 'offset="0" size="1024" other='), D, R), bytes(1024)),
    "A102": op("SpaceToDepth", "opset1", "f32[1,4,8,8]", {"block_size": "two"}),
    "A103": op("SpaceToDepth", "opset1", "f32[1,4,8,8]", {"block_size": 2, "mode": "blocks"}),
    "A104": op("SpaceToDepth", "opset1", "f32[1,4,8,8]", {"block_size": 0}),
    "A105": op("Convolution", "opset1", "f32[1,3,8,8]", "f32[4,3,3,3]", {"strides": "1,1,1"}),
    "T101": op("SpaceToBatch", "opset2", "f32[2,8]", const([1.0, 2.0], "f32"), [0, 0], [0, 0]),
    "T102": op("Concat", "opset1", "f32[2,8]", "i32[2,8]", {"axis": 0}),
    "S101": op("SpaceToDepth", "opset1", "f32[8,8]", {"block_size": 2}),
    "S102": op("Concat", "opset1", "f32[2,8]", "f32[2,8,1]", {"axis": 0}),
    "S201": op("Concat", "opset1", "f32[2,8]", "f32[2,9]", {"axis": 0}),
    "S202": op("Add", "opset1", "f32[2,8]", "f32[2,9]"),
    "S203": op("BatchToSpace", "opset2", "f32[2,3]", [1, 2], [0, 4], [0, 4]),
    "S204": op("SpaceToDepth", "opset1", "f32[1,4,8,9]", {"block_size": 2}),
    "S205": op("DepthToSpace", "opset1", "f32[1,4,4611686018427387904,8]", {"block_size": 2}),
    "S206": op("SpaceToBatch", "opset2", "f32[2,7]", [1, 2], [0, -3], [0, 0]),
    "V101": op("SpaceToBatch", "opset2", "f32[2,8]", [1, 0], [0, 0], [0, 0]),
    "V102": op("Concat", "opset1", "f32[2,8]", "f32[2,8]", {"axis": 2}),
    "V103": op("BatchToSpace", "opset2", "f32[2,8]", [1, 2, 1], [0, 0, 0], [0, 0, 0]),
    "V104": op("DFT", "opset7", "f32[2,8,2]", [1, 1]),
    "V105": op("SpaceToBatchND", "tensorflow", "f32[2,8]", "i64[?]", "i64[?,2]"),
    "V106": divided_by_zero(),
    "W101": constant([1], weights=None),
    "W102": constant([1], offset=4096),
    "W103": constant([1, 1], size=8),
    "W105": constant([1], offset=4096, weights=b'<?xml version="1.0"?><net/>'),
    # Two strings, of which the first would end at 9 of 5 characters.
    "W106": strings(struct.pack("<4i", 2, 0, 9, 5) + b"abcde"),
    "X203": ir(
        X.replace("</port>", "").replace(
            'FP32"/>', 'FP32"><rt_info><attribute name="irshape" version="0" value="[N,4]"/></rt_info></port>'
        ),
        D,
        R,
    ),
    "R101": op("SpaceToDepth", "opset1", "f32[1,4,8,8]", {"block_size": "2.5"}),
    "R102": op("ReduceSum", "opset1", "f32[2,8]", [0], {"keep_dims": "yes"}),
    "R104": op("SpaceToDepth", "opset1", "f32[1,4,8,8]", {"block_size": 2, "blocksize": 2}),
    "R103": op("SpaceToDepth", "opset1", "f32[...]"),
    "R105": op("SpaceToDepth", "opset1", "f32[1,4,8,8]", {"block_size": 2, "mode": "BLOCKS_FIRST"}),
    "R201": op("SpaceToBatch", "opset2", "f32[2,8]", [1, 2], [1, 0], [0, 0]),
    "R203": op("SpaceToBatch", "opset2", "f32[2,8]", [1, 2], [0, -2], [0, 2]),
    "R301": ir(X.replace("</port>", "").replace('FP32"/>', 'FP32"><dim>2</dim></port>'), D, R),
    "R302": ir(X.replace('precision="FP32"', 'precision="FP16"'), D, R),
    "R303": constant([1], size=16),
    "P101": File(ir(X.replace("1,4,8,8", "?,4,8,8"), D, R), options={"targets": ["static-shapes"]}),
    "P102": File(ir(X.replace("1,4,8,8", "1..,4,8,8"), D, R), options={"targets": ["npu"]}),
    "P103": File(ir(X.replace("1,4,8,8", "..."), D, R), options={"targets": ["ranked"]}),
    "P104": File(ir(X, D, R), options={"targets": ["max-rank=3"]}),
    "R401": op("BatchToSpace", "opset2", "f32[2,2..3]", [1, 1], [0, 5], [0, 5]),
}

# Codes that no small file can show, and what shows them.
ELSEWHERE = {
    "W104": "a path that is no regular file: test_weights_that_are_no_file",
    "N101": "needs a batch: tests/inference/test_reshape.py",
    "N102": "needs another shape: tests/inference/test_reshape.py",
    "N103": "needs another limit: tests/test_limits.py",
    "N104": "needs another limit: tests/test_limits.py",
    "X202": "found by lxml and the XSD: tests/xml/test_xml_schema.py",
    "I101": "a fault of irshape itself: test_a_rule_that_fails_is_an_internal_error",
    "I102": "needs a worker: tests/cli/test_workers.py",
    "I103": "needs a worker: tests/cli/test_workers.py",
    "I104": "needs a worker: tests/cli/test_workers.py",
}


@pytest.mark.parametrize("code", ROWS)
def test_code_is_reported(code: str) -> None:
    row = ROWS[code]
    file = row if isinstance(row, File) else File(row)
    source = file.xml.encode() if isinstance(file.xml, str) else file.xml
    inference = irshape.check(source, weights=file.weights, **file.options)
    found = [diagnostic for diagnostic in inference.diagnostics if diagnostic.code == code]
    assert found, inference.diagnostics
    assert all(diagnostic.where.line for diagnostic in found), "a fault has a line"


def test_weights_that_are_no_file(tmp_path: Path) -> None:
    net = Net()
    net.result(net.const([1]))
    (tmp_path / "m.xml").write_text(net.xml)
    (tmp_path / "m.bin").mkdir()
    assert [d.code for d in irshape.check(tmp_path / "m.xml").diagnostics] == ["W104"]


def test_a_rule_that_fails_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def infer(*inputs: object) -> None:
        raise ZeroDivisionError("in a rule")

    [space_to_depth] = dict.fromkeys(REGISTRY.versions("SpaceToDepth").values())
    monkeypatch.setattr(space_to_depth, "infer", infer)
    assert [d.code for d in irshape.infer(ir(X, D, R).encode()).diagnostics] == ["I101"]


def test_every_code_has_a_row() -> None:
    assert set(CATALOGUE) == set(ROWS) | set(ELSEWHERE)
