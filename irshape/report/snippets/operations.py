"""A, T, S, V and R: attributes, element types, shapes, values, and files that OpenVINO alone accepts."""

from __future__ import annotations

from typing import Final

from irshape.report.snippets.snippet import Run, Snippet, chain, edge, example, layer, mistake, net, parameter, result

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
    (
        parameter(0, "x", "8"),
        """\
<layer id="1" name="divisor" type="Const" version="opset1">
  <data element_type="i64" shape="1" offset="0" size="8"/>
  <output>
    <port id="0" precision="I64"> <dim>1</dim> </port>
  </output>
</layer>
<layer id="2" name="shape" type="ShapeOf" version="opset3">
  <data output_type="i64"/>
  <input><port id="0"/></input>
  <output><port id="1" precision="I64"/></output>
</layer>
<layer id="3" name="half" type="Divide" version="opset1">
  <input><port id="0"/><port id="1"/></input>
  <output><port id="2" precision="I64"/></output>
</layer>
<layer id="4" name="zeros" type="Broadcast" version="opset3">
  <data mode="numpy"/>
  <input><port id="0"/><port id="1"/></input>
  <output><port id="2" precision="I64"/></output>
</layer>""",
        result(5, "y"),
    ),
    [edge("0.0 2.0"), edge("2.1 3.0"), edge("1.0 3.1"), edge("1.0 4.0"), edge("3.2 4.1"), edge("4.2 5.0")],
)

STATE: Final = chain(
    parameter(0, "x", "1,8"),
    layer(1, "read", "ReadValue opset6", 'variable_id="state" variable_shape="1,8" variable_type="f32"'),
    layer(2, "assign", "Assign opset6", 'variable_id="state"'),
    result(3, "y"),
)

# The rows of x twice, an even number, and the rows of z.
TWICE: Final = net(
    (
        parameter(0, "x", "?,8"),
        parameter(1, "z", "4,8"),
        layer(2, "twice", "Concat opset1", 'axis="0"', inputs=2),
        layer(3, "sum", "Add opset1", inputs=2),
        result(4, "y"),
    ),
    [edge("0.0 2.0"), edge("0.0 2.1"), edge("2.2 3.0"), edge("1.0 3.1"), edge("3.2 4.0")],
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

SNIPPETS: Final[dict[str, Snippet]] = {
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
    "S206": mistake(STATE, '<data element_type="f32" shape="1,8"/>', '<data element_type="f32" shape="?,8"/>'),
    "V101": mistake(BATCH, "block_shape: [1, 2]", "block_shape: [1, 0]"),
    "V102": mistake(CONCAT, 'axis="0"', 'axis="2"'),
    "V103": mistake(TRANSPOSE, "<dim>3</dim> </port> <!-- order: [2, 0, 1] -->", "<dim>2</dim> </port> <!-- order: [1, 0] -->"),
    "V104": mistake(TRANSPOSE, "[2, 0, 1]", "[2, 0, 2]"),
    "V105": mistake(UNIQUE, " <!-- axis: 0 -->", ""),
    "V106": Snippet(Run(QUOTIENT, bytes(8)), Run(QUOTIENT, b"\2" + bytes(7))),
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
