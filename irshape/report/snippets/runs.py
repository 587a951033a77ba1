"""N, W, P, I and R303: notes, weights, targets, and irshape itself. The command and the `.bin` matter here as much as the file."""

from __future__ import annotations

from typing import Final

from irshape.report.snippets.snippet import CHECK, Run, Snippet, chain, constant, edge, layer, mistake, misused, net, parameter, result

MODEL: Final = chain(parameter(0, "x", "1,8"), result(1, "y"))
OPEN: Final = chain(parameter(0, "x", "?,8"), result(1, "y"))

# Each sample is divided by the sum over all samples.
MIXING: Final = chain(parameter(0, "x", "1,8"), layer(1, "softmax", "SoftMax opset1", 'axis="0"'), result(2, "y"))

RANDOM: Final = net(
    (
        parameter(0, "x", "1,8"),
        constant(1, "count", "", 8),
        layer(
            2,
            "drawn",
            "Multinomial opset13",
            'convert_type="i64" with_replacement="true" log_probs="false" global_seed="0" op_seed="0"',
            inputs=2,
            precision="I64",
        ),
        result(3, "y"),
    ),
    [edge("0.0 2.0"), edge("1.0 2.1"), edge("2.2 3.0")],
)

BLOCKS: Final = chain(
    parameter(0, "x", "1,4,8,8"),
    layer(1, "depth", "SpaceToDepth opset1", 'block_size="2" mode="blocks_first"'),
    result(2, "y"),
)

# A body that sees one row after the other.
ITERATED: Final = chain(
    parameter(0, "x", "4,8"),
    """\
<layer id="1" name="rows" type="TensorIterator" version="opset1">
  <input><port id="0"/></input>
  <output><port id="1" precision="FP32"/></output>
  <port_map>
    <input external_port_id="0" internal_layer_id="0" axis="0" start="0" end="-1" stride="1" part_size="1"/>
    <output external_port_id="1" internal_layer_id="2" axis="0" start="0" end="-1" stride="1" part_size="1"/>
  </port_map>
  <body>
    <layers>
      <layer id="0" name="row" type="Parameter" version="opset1">
        <data shape="1,8" element_type="f32"/>
        <output><port id="0" precision="FP32"/></output>
      </layer>
      <layer id="1" name="relu" type="ReLU" version="opset1">
        <input><port id="0"/></input>
        <output><port id="1" precision="FP32"/></output>
      </layer>
      <layer id="2" name="out" type="Result" version="opset1">
        <input><port id="0"/></input>
      </layer>
    </layers>
    <edges>
      <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
      <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
    </edges>
  </body>
</layer>""",
    result(2, "y"),
)

# An operation that a library adds to OpenVINO.
EXTENDED: Final = chain(
    parameter(0, "x", "1,8"),
    layer(1, "text", "NumericToString openvino_tokenizers", precision="STRING"),
    result(2, "y"),
)

CONSTANT: Final = chain(constant(0, "sizes", "2", 16), result(1, "y"))
NUMBERS: Final = b"\2" + bytes(7) + b"\4" + bytes(7)

# Two constants, one after the other.
PAIR: Final = net(
    (constant(0, "a", "2", 16), constant(1, "b", "1", 8).replace('offset="0"', 'offset="16"'), result(2, "x"), result(3, "y")),
    [edge("0.0 2.0"), edge("1.0 3.0")],
)
THREE: Final = NUMBERS + NUMBERS[8:]

# The number of strings, where the first one begins and ends, and its characters.
STRING: Final = chain(constant(0, "greeting", "1", 17, type="string", precision="STRING"), result(1, "y"))
HELLO: Final = b"\1\0\0\0" + b"\0\0\0\0" + b"\5\0\0\0" + b"hello"
BEYOND: Final = b"\1\0\0\0" + b"\0\0\0\0" + b"\x09\0\0\0" + b"hello"

# The numbers of the constant are the shape that the Reshape gives.
RESHAPE: Final = net(
    (
        parameter(0, "x", "8"),
        constant(1, "sizes", "2", 16),
        layer(2, "reshape", "Reshape opset1", 'special_zero="false"', inputs=2),
        result(3, "y"),
    ),
    [edge("0.0 2.0"), edge("1.0 2.1"), edge("2.2 3.0")],
)


ASKED: Final = 'irshape reshape model.xml --input "x[S]"'
REWRITE: Final = f"{ASKED} --rewrite"

# The rows of the output are as many as those of both inputs: a sum of two terms.
JOINED: Final = net(
    (
        parameter(0, "a", "?,8"),
        parameter(1, "b", "?,8"),
        layer(2, "rows", "Concat opset1", 'axis="0"', inputs=2),
        result(3, "y"),
    ),
    [edge("0.0 2.0"), edge("1.0 2.1"), edge("2.2 3.0")],
)

# Numbers up to the length of the input; OpenVINO follows no bound of a length through a Range.
COUNTING: Final = net(
    (
        parameter(0, "x", "8"),
        layer(1, "shape", "ShapeOf opset3", 'output_type="i64"', precision="I64"),
        layer(2, "length", "Squeeze opset1", precision="I64"),
        constant(3, "first", "", 8),
        constant(4, "step", "", 8).replace('offset="0"', 'offset="8"'),
        layer(5, "numbers", "Range opset4", 'output_type="i64"', inputs=3, precision="I64"),
        result(6, "y"),
    ),
    [edge("0.0 1.0"), edge("1.1 2.0"), edge("3.0 5.0"), edge("2.1 5.1"), edge("4.0 5.2"), edge("5.3 6.0")],
)

# A state that gains a row in each inference, which is added to three rows.
GROWING: Final = net(
    (
        parameter(0, "x", "1,8"),
        parameter(1, "rows", "3,8"),
        layer(2, "read", "ReadValue opset6", 'variable_id="state" variable_shape="..3,8" variable_type="f32"', inputs=0),
        layer(3, "joined", "Concat opset1", 'axis="0"', inputs=2),
        layer(4, "sum", "Add opset1", 'auto_broadcast="none"', inputs=2),
        layer(5, "assign", "Assign opset6", 'variable_id="state"'),
        result(6, "y"),
    ),
    [edge("2.0 3.0"), edge("0.0 3.1"), edge("3.2 4.0"), edge("1.0 4.1"), edge("3.2 5.0"), edge("4.2 6.0")],
)
NAMED: Final = chain(
    parameter(0, "x", "1,8"),
    layer(1, "softmax", "SoftMax opset8", 'axis="1"').replace(
        '<port id="1" precision="FP32"/>', '<port id="1" precision="FP32" names="scores"/>'
    ),
    result(2, "y"),
)

SNIPPETS: Final[dict[str, Snippet]] = {
    "N101": misused(OPEN, "irshape reshape model.xml --batch 4", 'irshape reshape model.xml --input "x[4,8]"'),
    "N102": misused(BLOCKS, f'{CHECK} --input "x[8,8]"', f'{CHECK} --input "x[2,4,8,8]"'),
    "N103": misused(RESHAPE, f"{CHECK} --limit elements=1", CHECK, NUMBERS),
    "N104": misused(JOINED, f"{CHECK} --limit terms=1", CHECK),
    "N105": misused(ITERATED, f"{CHECK} --limit passes=1", CHECK),
    "N106": misused(JOINED, f"{CHECK} --limit work=1", CHECK),
    "N108": misused(RESHAPE, f"{CHECK} --no-weights", CHECK, NUMBERS),
    "W101": Snippet(Run(CONSTANT, b""), Run(CONSTANT, NUMBERS)),
    "W102": Snippet(Run(CONSTANT, NUMBERS[:8]), Run(CONSTANT, NUMBERS)),
    "W103": Snippet(Run(CONSTANT.replace('size="16"', 'size="8"'), NUMBERS[:8]), Run(CONSTANT, NUMBERS)),
    "W104": misused(CONSTANT, f"{CHECK} --weights-file .", CHECK, NUMBERS),
    "W105": Snippet(Run(CONSTANT, b"<net/>"), Run(CONSTANT, NUMBERS)),
    "W106": Snippet(Run(STRING, BEYOND), Run(STRING, HELLO)),
    "W107": Snippet(Run(CONSTANT, b"\x1f\x8b\x08\0"), Run(CONSTANT, NUMBERS)),
    "W201": Snippet(Run(CONSTANT, NUMBERS + bytes(8)), Run(CONSTANT, NUMBERS)),
    "W202": Snippet(Run(PAIR.replace('offset="16"', 'offset="12"'), THREE[:20]), Run(PAIR, THREE)),
    "N109": misused(RESHAPE, f"{REWRITE} --choose first", CHECK, NUMBERS),
    "S207": Snippet(Run(RESHAPE, NUMBERS, ASKED), Run(RESHAPE, NUMBERS[:8] + b"\xff" * 8, ASKED)),
    "S208": Snippet(Run(RESHAPE, NUMBERS, REWRITE), Run(RESHAPE, NUMBERS[:8] + b"\xff" * 8, ASKED)),
    "W203": Snippet(Run(CONSTANT), Run(CONSTANT, NUMBERS)),
    "N107": Snippet(Run(EXTENDED), Run(MODEL)),
    "R303": Snippet(Run(CONSTANT.replace('size="16"', 'size="24"'), NUMBERS + bytes(8)), Run(CONSTANT, NUMBERS)),
    "P101": mistake(MODEL, 'shape="1,8"', 'shape="1..4,8"', f"{CHECK} --target static-shapes"),
    "P102": mistake(MODEL, 'shape="1,8"', 'shape="1..,8"', f"{CHECK} --target npu"),
    "P103": mistake(MODEL, 'shape="1,8"', 'shape="..."', f"{CHECK} --target ranked"),
    "P104": mistake(MODEL, 'shape="1,8"', 'shape="1,8,1,1,1,1,1"', f"{CHECK} --target max-rank=6"),
    "P105": mistake(COUNTING, 'shape="8"', 'shape="1..8"', f"{CHECK} --target npu", NUMBERS),
    "P106": misused(GROWING, f"{CHECK} --target static-shapes", CHECK),
    "P107": mistake(NAMED, ' names="scores"', "", f"{CHECK} --target named-outputs"),
    "P110": misused(MIXING, f"{CHECK} --batch N --ignore N101", CHECK),
    "P111": misused(RANDOM, f"{CHECK} --batch N --ignore N101", CHECK, NUMBERS[:8]),
    "I101": misused(MODEL, CHECK, CHECK, condition="The command reports the code if a rule of irshape fails on a layer."),
    "I102": misused(MODEL, f"{CHECK} --isolate --limit time=0.00001", f"{CHECK} --isolate"),
    "I103": misused(
        MODEL,
        f"{CHECK} --isolate --limit memory=48MiB",
        f"{CHECK} --isolate",
        condition="The first command reports the code if it needs more than 48 MiB for the file.",
    ),
    "I104": misused(
        MODEL,
        f"{CHECK} --isolate",
        f"{CHECK} --isolate",
        condition="The command reports the code if the system ends the process that examines the file.",
    ),
    "I105": misused(
        MODEL,
        CHECK.replace("check", "scan") + " -o results.jsonl",
        CHECK,
        condition="The scan reports the code if it cannot fetch the file, for example because the server refuses it.",
    ),
}
