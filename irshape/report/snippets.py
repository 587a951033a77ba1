"""For each code of the catalogue a run that reports it and one that does not; `docs/diagnostics.md` shows them, and a test runs them.

The tables are loaded by whoever shows a snippet, never by a run that examines a file.
"""

from __future__ import annotations

from typing import Final

from irshape.report.snippet import (
    CHECK,
    Invocation,
    Snippet,
    chain,
    const,
    edge,
    example,
    layer,
    loop,
    mistake,
    misused,
    net,
    parameter,
    result,
)

X: Final = parameter(0, "x", "1,8")
MODEL: Final = chain(X, result(1, "y"))

# G: the graph.

RELU: Final = layer(1, "relu", "ReLU opset1")
ACTIVATED: Final = chain(X, RELU, result(2, "y"))

# The edge from the Parameter to the ReLU.
FED: Final = edge("0.0 1.0")

SUM: Final = example("Add opset1", "", "FP32 8", "FP32 8")
SECOND: Final = '    <port id="1" precision="FP32"> <dim>8</dim> </port>\n'

# An operation of one's own; the file records what it computes.
CUSTOM: Final = chain(
    X,
    """\
<layer id="1" name="stretch" type="Stretch" version="extension">
  <input>
    <port id="0"> <dim>1</dim> <dim>8</dim> </port>
  </input>
  <output>
    <port id="1" precision="FP32"> <dim>1</dim> <dim>16</dim> </port>
  </output>
</layer>""",
    result(2, "y"),
)
DEAD: Final = layer(3, "sigmoid", "Sigmoid opset1")

STATEFUL: Final = chain(
    X,
    layer(1, "read", "ReadValue opset6", 'variable_id="state" variable_shape="1,8" variable_type="f32"'),
    layer(2, "assign", "Assign opset6", 'variable_id="state"'),
    result(3, "y"),
)

GELU: Final = chain(X, layer(1, "gelu", "Gelu opset7", 'approximation_mode="TANH"'), result(2, "y"))

LOOP: Final = net(
    "0.0 1.0, 1.1 2.0",
    parameter(0, "x", "5,8"),
    loop("steps", 'axis="0"', "0.0 1.0", parameter(0, "step", "1,8"), result(1, "stepped")),
    result(2, "y"),
)
BODY: Final = LOOP[LOOP.index("      <body>") : LOOP.index('    </layer>\n    <layer id="2"')]

_GRAPH: Final[dict[str, Snippet]] = {
    "G101": mistake(ACTIVATED, 'id="2" name="y"', 'id="1" name="y"'),
    "G102": mistake(ACTIVATED, 'from-layer="0"', 'from-layer="7"'),
    "G103": mistake(ACTIVATED, 'from-layer="0" from-port="0"', 'from-layer="0" from-port="3"'),
    "G104": mistake(ACTIVATED, FED, f"{FED}\n    {FED}"),
    "G105": mistake(ACTIVATED, FED, edge("1.1 1.0")),
    "G106": mistake(ACTIVATED, f"    {FED}\n", ""),
    "G107": mistake(SUM, SECOND, ""),
    "G108": mistake(SUM, SECOND, SECOND + SECOND.replace("1", "3", 1)),
    "G109": mistake(SUM, '<port id="2" precision="FP32"/>', '<port id="2" precision="FP32"/> <port id="3" precision="FP32"/>'),
    "G110": mistake(ACTIVATED, 'type="ReLU"', 'type="RectifiedLinear"'),
    "G111": mistake(SUM.replace('"Add" version="opset1"', '"BitwiseAnd" version="opset13"').replace("FP32", "I32"), "opset13", "opset8"),
    "G112": mistake(ACTIVATED, 'type="ReLU" version="opset1"', 'type="ReLU" version="opset99"'),
    "G113": Snippet(Invocation(chain(X, RELU)), Invocation(ACTIVATED)),
    "G114": mistake(ACTIVATED, 'name="relu"', 'name="x"'),
    "G115": mistake(ACTIVATED, '1" precision="FP32"/></output>', '1" precision="FP32"/><port id="1" precision="FP32"/></output>'),
    "G116": Snippet(Invocation(net("0.0 1.0, 1.1 2.0, 1.1 3.0", X, RELU, result(2, "y"), DEAD)), Invocation(ACTIVATED)),
    "G117": Snippet(Invocation(CUSTOM, command=f"{CHECK} --opaque Stretch"), Invocation(ACTIVATED)),
    "G118": mistake(STATEFUL, 'variable_id="state"/>', 'variable_id="stat"/>'),
    "G119": mistake(LOOP, 'external_port_id="0" internal_layer_id="0"', 'external_port_id="0" internal_layer_id="5"'),
    "G121": mistake(LOOP, "</port_map>", '</port_map> <back_edges> <edge from-layer="1" to-layer="7"/> </back_edges>'),
    "G120": mistake(
        ACTIVATED.replace('version="11"', 'version="10"'),
        '<output><port id="1" precision="FP32"/></output>',
        '<output><port id="1" precision="FP32" names="x"/></output>',
    ),
}

# X: the XML itself.

DECLARED: Final = '<?xml version="1.0" encoding="UTF-8"?>\n' + MODEL

EXAMPLE: Final = example("ReLU opset1", "", "FP32 1 8")

# An input whose axes have names.
LAYOUT: Final = chain(parameter(0, "x", "1,8", note='<attribute name="layout" version="0" layout="[N,C]"/>'), result(1, "y"))

# Means of the channels of an input.
MEANS: Final = MODEL.replace(
    "</net>",
    """\
  <pre-process reference-layer-name="x" mean-precision="FP32">
"""
    + "".join(f'    <channel id="{id}"> <mean value="1"/> </channel>\n' for id in range(8))
    + "  </pre-process>\n</net>",
)

KERNELS: Final = """\
<net name="model" version="11">
  <layers>
    <layer id="0" name="x" type="Input">
      <data execOrder="0" execTimeMcs="not_executed" primitiveType="unknown_f32"/>
      <output> <port id="0" precision="FP32"> <dim>1</dim> <dim>8</dim> </port> </output>
    </layer>
  </layers>
</net>
"""

# A port to which `irshape infer -o` has written the formulas of a shape; the shape beside it was changed by hand afterwards.
ANNOTATED: Final = """\
<layer id="0" name="x" type="Parameter" version="opset1">
  <data element_type="f32" shape="?,8"/>
  <output>
    <port id="0" precision="FP32">
      <dim>-1</dim>
      <dim>8</dim>
      <rt_info>
        <attribute name="irshape" version="0" value="[N,8]"/>
      </rt_info>
    </port>
  </output>
</layer>"""

# A layer whose attribute OpenVINO ignores, and the entry that keeps irshape from reporting it.
IGNORED: Final = chain(X, layer(1, "relu", "ReLU opset1", 'comment="tuned by hand"', note='<irshape ignore="R104"/>'), result(2, "y"))

_XML: Final[dict[str, Snippet]] = {
    "X101": mistake(MODEL, "</net>\n", ""),
    "X102": mistake(DECLARED, '?>\n<net name="model"', '?>\n<!DOCTYPE net>\n<net name="model"'),
    "X103": mistake(DECLARED, "UTF-8", "UTF-88"),
    "X104": Snippet(Invocation("<html>\n  <body>Please log in.</body>\n</html>\n"), Invocation(MODEL)),
    "X105": mistake(MODEL, ' name="x"', ""),
    "X106": mistake(MODEL, '<layer id="0"', '<layer id="first"'),
    "X107": mistake(MODEL, 'precision="FP32"', 'precision="float32"'),
    "X108": mistake(MODEL, 'version="11"', 'version="7"'),
    "X109": mistake(LOOP, BODY, ""),
    "X110": mistake(EXAMPLE, "  </input>\n", ""),
    "X111": misused(MODEL, f"{CHECK} --limit layers=1", CHECK),
    "X112": Snippet(Invocation(KERNELS), Invocation(MODEL)),
    "X113": mistake(LAYOUT, 'layout="[N,C]"', 'layout="[N,N]"'),
    "X114": mistake(MEANS, 'layer-name="x"', 'layer-name="image"'),
    "X201": mistake(DECLARED, "<?xml", " <?xml"),
    "X202": mistake(MODEL, "  <layers>", '  <layers count="2">', command=f"{CHECK} --extend-select X202"),
    "X203": mistake(chain(ANNOTATED, result(1, "y")), '"[N,8]"', '"[N,3,8]"'),
    "X206": mistake(GELU, "<data approx", "<date approx"),
    "X205": Snippet(Invocation('<net name="model" version="11">\n</net>\n'), Invocation(MODEL)),
    "X204": mistake(IGNORED, '      <data comment="tuned by hand"/>\n', ""),
}

# A, T, S, V and R: attributes, element types, shapes, values, and files that OpenVINO alone accepts.

DEPTH: Final = example("SpaceToDepth opset1", 'block_size="2" mode="blocks_first"', "FP32 1 4 8 8")
CONVOLUTION: Final = example(
    "Convolution opset1", 'strides="1,1" pads_begin="0,0" pads_end="0,0" dilations="1,1"', "FP32 1 3 8 8", "FP32 4 3 5 5"
)
SPLIT: Final = example("Split opset1", 'num_splits="4"', "FP32 2 8", "I64 # axis: 1", outputs="FP32 FP32 FP32 FP32")
CONCAT: Final = example("Concat opset1", 'axis="0"', "FP32 2 8", "FP32 3 8")
ADD: Final = example("Add opset1", "", "FP32 4 8", "FP32 4 1")
BATCH: Final = example(
    "SpaceToBatch opset2", "", "FP32 2 8", "I64 2 # block_shape: [1, 2]", "I64 2 # pads_begin: [0, 0]", "I64 2 # pads_end: [0, 2]"
)
TRANSPOSE: Final = example("Transpose opset1", "", "FP32 2 8 5", "I64 3 # order: [2, 0, 1]")
REDUCE: Final = example("ReduceSum opset1", 'keep_dims="true"', "FP32 2 8", "I64 1 # axes: [1]")
UNIQUE: Final = example(
    "Unique opset10",
    'sorted="true" index_element_type="i64" count_element_type="i64"',
    "FP32 4 8",
    "I64 # axis: 0",
    outputs="FP32 I64 I64 I64",
)
DEEPEN: Final = DEPTH.replace("SpaceToDepth", "DepthToSpace")

# The divisor is the constant that the .bin holds.
QUOTIENT: Final = net(
    "0.0 2.0, 2.1 3.0, 1.0 3.1, 1.0 4.0, 3.2 4.1, 4.2 5.0",
    parameter(0, "x", "8"),
    const(1, "divisor", "1", 8).replace('precision="I64"/>', 'precision="I64"> <dim>1</dim> </port>'),
    layer(2, "shape", "ShapeOf opset3", 'output_type="i64"', precision="I64"),
    layer(3, "half", "Divide opset1", inputs=2, precision="I64"),
    layer(4, "zeros", "Broadcast opset3", 'mode="numpy"', inputs=2, precision="I64"),
    result(5, "y"),
)

# The rows of x twice, an even number, and the rows of z.
TWICE: Final = net(
    "0.0 2.0, 0.0 2.1, 2.2 3.0, 1.0 3.1, 3.2 4.0",
    parameter(0, "x", "?,8"),
    parameter(1, "z", "4,8"),
    layer(2, "twice", "Concat opset1", 'axis="0"', inputs=2),
    layer(3, "sum", "Add opset1", inputs=2),
    result(4, "y"),
)

RECORDED: Final = chain(
    """\
<layer id="0" name="x" type="Parameter" version="opset1">
  <data element_type="f32" shape="1,8"/>
  <output>
    <port id="0" precision="FP32"> <dim>1</dim> <dim>8</dim> </port>
  </output>
</layer>""",
    result(1, "y"),
)

_OPERATIONS: Final[dict[str, Snippet]] = {
    "A101": mistake(SPLIT, '  <data num_splits="4"/>\n', ""),
    "A102": mistake(DEPTH, 'block_size="2"', 'block_size="two"'),
    "A103": mistake(DEPTH, 'mode="blocks_first"', 'mode="block_first"'),
    "A104": mistake(DEPTH, 'block_size="2"', 'block_size="0"'),
    "A105": mistake(CONVOLUTION, 'strides="1,1"', 'strides="1,1,1"'),
    "T101": mistake(TRANSPOSE, '<port id="1" precision="I64">', '<port id="1" precision="FP32">'),
    "T102": mistake(CONCAT, '<port id="1" precision="FP32">', '<port id="1" precision="FP16">'),
    "S101": mistake(DEPTH, "<dim>1</dim> <dim>4</dim> <dim>8</dim> <dim>8</dim>", "<dim>8</dim> <dim>8</dim>"),
    "S102": mistake(CONCAT, "<dim>3</dim> <dim>8</dim>", "<dim>8</dim>"),
    "S201": mistake(CONCAT, "<dim>3</dim> <dim>8</dim>", "<dim>3</dim> <dim>9</dim>"),
    "S202": mistake(ADD, "<dim>4</dim> <dim>1</dim>", "<dim>4</dim> <dim>7</dim>"),
    "S203": mistake(CONVOLUTION, "<dim>5</dim> <dim>5</dim>", "<dim>9</dim> <dim>9</dim>"),
    "S204": mistake(DEPTH, 'block_size="2"', 'block_size="3"'),
    "S205": mistake(DEEPEN, "<dim>8</dim> <dim>8</dim>", "<dim>8</dim> <dim>4611686018427387904</dim>"),
    "S206": mistake(STATEFUL, '<data element_type="f32" shape="1,8"/>', '<data element_type="f32" shape="?,8"/>'),
    "V101": mistake(BATCH, "block_shape: [1, 2]", "block_shape: [1, 0]"),
    "V102": mistake(CONCAT, 'axis="0"', 'axis="2"'),
    "V103": mistake(TRANSPOSE, "<dim>3</dim> </port> <!-- order: [2, 0, 1] -->", "<dim>2</dim> </port> <!-- order: [1, 0] -->"),
    "V104": mistake(TRANSPOSE, "[2, 0, 1]", "[2, 0, 2]"),
    "V105": mistake(UNIQUE, " <!-- axis: 0 -->", ""),
    "V106": Snippet(Invocation(QUOTIENT, bytes(8)), Invocation(QUOTIENT, b"\2" + bytes(7))),
    "R101": mistake(DEPTH, 'block_size="2"', 'block_size="2.5"'),
    "R102": mistake(REDUCE, 'keep_dims="true"', 'keep_dims="yes"'),
    "R103": mistake(DEPTH, ' mode="blocks_first"', ""),
    "R104": mistake(REDUCE, 'keep_dims="true"', 'keepdims="true"'),
    "R105": mistake(DEPTH, "blocks_first", "BLOCKS_FIRST"),
    "R201": mistake(BATCH, "pads_begin: [0, 0]", "pads_begin: [1, 0]"),
    "R203": mistake(BATCH, "pads_begin: [0, 0]", "pads_begin: [0, -2]"),
    "R301": mistake(RECORDED, "<dim>1</dim> <dim>8</dim>", "<dim>1</dim> <dim>9</dim>"),
    "R302": mistake(RECORDED, 'precision="FP32"', 'precision="FP16"'),
    "R401": mistake(TWICE, 'shape="4,8"', 'shape="3,8"'),
}

# N, W, P, I and R303: notes, weights, targets, and irshape itself. The command and the `.bin` matter here as much as the file.

OPEN: Final = chain(parameter(0, "x", "?,8"), result(1, "y"))

# Each sample is divided by the sum over all samples.
MIXING: Final = chain(X, layer(1, "softmax", "SoftMax opset1", 'axis="0"'), result(2, "y"))

_DRAW: Final = 'convert_type="i64" with_replacement="true" log_probs="false" global_seed="0" op_seed="0"'
DRAWN: Final = layer(2, "drawn", "Multinomial opset13", _DRAW, inputs=2, precision="I64")
RANDOM: Final = net("0.0 2.0, 1.0 2.1, 2.2 3.0", X, const(1, "count", "", 8), DRAWN, result(3, "y"))

BLOCKS: Final = chain(
    parameter(0, "x", "1,4,8,8"), layer(1, "depth", "SpaceToDepth opset1", 'block_size="2" mode="blocks_first"'), result(2, "y")
)

# A body that sees one row after the other.
ITERATED: Final = chain(
    parameter(0, "x", "4,8"),
    loop(
        "rows", 'axis="0" start="0" end="-1" stride="1" part_size="1"', "0.0 1.0, 1.1 2.0",
        parameter(0, "row", "1,8"), layer(1, "relu", "ReLU opset1"), result(2, "out"),
    ),
    result(2, "y"),
)  # fmt: skip

# An operation that a library adds to OpenVINO.
EXTENDED: Final = chain(X, layer(1, "text", "NumericToString openvino_tokenizers", precision="STRING"), result(2, "y"))

CONSTANT: Final = chain(const(0, "sizes", "2", 16), result(1, "y"))
NUMBERS: Final = b"\2" + bytes(7) + b"\4" + bytes(7)

# Two constants, one after the other.
PAIR: Final = net(
    "0.0 2.0, 1.0 3.0", const(0, "a", "2", 16), const(1, "b", "1", 8).replace('offset="0"', 'offset="16"'), result(2, "x"), result(3, "y")
)
THREE: Final = NUMBERS + NUMBERS[8:]

# The number of strings, where the first one begins and ends, and its characters.
STRING: Final = chain(const(0, "greeting", "1", 17, type="string", precision="STRING"), result(1, "y"))
HELLO: Final = b"\1\0\0\0" + b"\0\0\0\0" + b"\5\0\0\0" + b"hello"
BEYOND: Final = b"\1\0\0\0" + b"\0\0\0\0" + b"\x09\0\0\0" + b"hello"

# The numbers of the constant are the shape that the Reshape gives.
RESHAPE: Final = net(
    "0.0 2.0, 1.0 2.1, 2.2 3.0",
    parameter(0, "x", "8"),
    const(1, "sizes", "2", 16),
    layer(2, "reshape", "Reshape opset1", 'special_zero="false"', inputs=2),
    result(3, "y"),
)


ASKED: Final = 'irshape reshape model.xml --input "x[S]"'
REWRITE: Final = f"{ASKED} --rewrite"

# The rows of the output are as many as those of both inputs: a sum of two terms.
JOINED: Final = net(
    "0.0 2.0, 1.0 2.1, 2.2 3.0",
    parameter(0, "a", "?,8"),
    parameter(1, "b", "?,8"),
    layer(2, "rows", "Concat opset1", 'axis="0"', inputs=2),
    result(3, "y"),
)

# Numbers up to the length of the input; OpenVINO follows no bound of a length through a Range.
COUNTING: Final = net(
    "0.0 1.0, 1.1 2.0, 3.0 5.0, 2.1 5.1, 4.0 5.2, 5.3 6.0",
    parameter(0, "x", "8"),
    layer(1, "shape", "ShapeOf opset3", 'output_type="i64"', precision="I64"),
    layer(2, "length", "Squeeze opset1", precision="I64"),
    const(3, "first", "", 8),
    const(4, "step", "", 8).replace('offset="0"', 'offset="8"'),
    layer(5, "numbers", "Range opset4", 'output_type="i64"', inputs=3, precision="I64"),
    result(6, "y"),
)

# A state that gains a row in each inference, which is added to three rows.
GROWING: Final = net(
    "2.0 3.0, 0.0 3.1, 3.2 4.0, 1.0 4.1, 3.2 5.0, 4.2 6.0",
    X,
    parameter(1, "rows", "3,8"),
    layer(2, "read", "ReadValue opset6", 'variable_id="state" variable_shape="..3,8" variable_type="f32"', inputs=0),
    layer(3, "joined", "Concat opset1", 'axis="0"', inputs=2),
    layer(4, "sum", "Add opset1", 'auto_broadcast="none"', inputs=2),
    layer(5, "assign", "Assign opset6", 'variable_id="state"'),
    result(6, "y"),
)
NAMED: Final = chain(
    X,
    layer(1, "softmax", "SoftMax opset8", 'axis="1"').replace(
        '<port id="1" precision="FP32"/>', '<port id="1" precision="FP32" names="scores"/>'
    ),
    result(2, "y"),
)

_RUNS: Final[dict[str, Snippet]] = {
    "N101": misused(OPEN, "irshape reshape model.xml --batch 4", 'irshape reshape model.xml --input "x[4,8]"'),
    "N102": misused(BLOCKS, f'{CHECK} --input "x[8,8]"', f'{CHECK} --input "x[2,4,8,8]"'),
    "N103": misused(RESHAPE, f"{CHECK} --limit elements=1", CHECK, NUMBERS),
    "N104": misused(JOINED, f"{CHECK} --limit terms=1", CHECK),
    "N105": misused(ITERATED, f"{CHECK} --limit passes=1", CHECK),
    "N106": misused(JOINED, f"{CHECK} --limit work=1", CHECK),
    "N108": misused(RESHAPE, f"{CHECK} --no-weights", CHECK, NUMBERS),
    "W101": Snippet(Invocation(CONSTANT, b""), Invocation(CONSTANT, NUMBERS)),
    "W102": Snippet(Invocation(CONSTANT, NUMBERS[:8]), Invocation(CONSTANT, NUMBERS)),
    "W103": Snippet(Invocation(CONSTANT.replace('size="16"', 'size="8"'), NUMBERS[:8]), Invocation(CONSTANT, NUMBERS)),
    "W104": misused(CONSTANT, f"{CHECK} --weights-file .", CHECK, NUMBERS),
    "W105": Snippet(Invocation(CONSTANT, b"<net/>"), Invocation(CONSTANT, NUMBERS)),
    "W106": Snippet(Invocation(STRING, BEYOND), Invocation(STRING, HELLO)),
    "W107": Snippet(Invocation(CONSTANT, b"\x1f\x8b\x08\0"), Invocation(CONSTANT, NUMBERS)),
    "W201": Snippet(Invocation(CONSTANT, NUMBERS + bytes(8)), Invocation(CONSTANT, NUMBERS)),
    "W202": Snippet(Invocation(PAIR.replace('offset="16"', 'offset="12"'), THREE[:20]), Invocation(PAIR, THREE)),
    "N109": misused(RESHAPE, f"{REWRITE} --choose first", CHECK, NUMBERS),
    "S207": Snippet(Invocation(RESHAPE, NUMBERS, ASKED), Invocation(RESHAPE, NUMBERS[:8] + b"\xff" * 8, ASKED)),
    "S208": Snippet(Invocation(RESHAPE, NUMBERS, REWRITE), Invocation(RESHAPE, NUMBERS[:8] + b"\xff" * 8, ASKED)),
    "W203": Snippet(Invocation(CONSTANT), Invocation(CONSTANT, NUMBERS)),
    "N107": Snippet(Invocation(EXTENDED), Invocation(MODEL)),
    "R303": Snippet(Invocation(CONSTANT.replace('size="16"', 'size="24"'), NUMBERS + bytes(8)), Invocation(CONSTANT, NUMBERS)),
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

SNIPPETS: Final = {**_XML, **_RUNS, **_GRAPH, **_OPERATIONS}
"""The snippet of every code."""
