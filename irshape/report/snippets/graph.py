"""G: the graph."""

from __future__ import annotations

from typing import Final

from irshape.report.snippets.snippet import CHECK, Run, Snippet, chain, edge, example, layer, mistake, net, parameter, result

X: Final = parameter(0, "x", "1,8")
RELU: Final = layer(1, "relu", "ReLU opset1")
MODEL: Final = chain(X, RELU, result(2, "y"))

# The edge from the Parameter to the ReLU.
FED: Final = edge("0.0 1.0")

ADD: Final = example("Add opset1", "", "FP32 8", "FP32 8")
SECOND: Final = '    <port id="1" precision="FP32"> <dim>8</dim> </port>\n'

# An operation of one's own; the file records what it computes.
CUSTOM: Final = chain(
    parameter(0, "x", "1,8"),
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

STATE: Final = net(
    (
        parameter(0, "x", "1,8"),
        layer(1, "read", "ReadValue opset6", 'variable_id="state" variable_shape="1,8" variable_type="f32"'),
        layer(2, "assign", "Assign opset6", 'variable_id="state"'),
        result(3, "y"),
    ),
    [edge("0.0 1.0"), edge("1.1 2.0"), edge("2.1 3.0")],
)

LOOP: Final = net(
    (
        parameter(0, "x", "5,8"),
        """\
<layer id="1" name="steps" type="TensorIterator" version="opset1">
  <input><port id="0"/></input>
  <output><port id="1" precision="FP32"/></output>
  <port_map>
    <input external_port_id="0" internal_layer_id="0" axis="0"/>
    <output external_port_id="1" internal_layer_id="1" axis="0"/>
  </port_map>
  <body>
    <layers>
      <layer id="0" name="step" type="Parameter" version="opset1">
        <data element_type="f32" shape="1,8"/>
        <output><port id="0" precision="FP32"/></output>
      </layer>
      <layer id="1" name="stepped" type="Result" version="opset1">
        <input><port id="0"/></input>
      </layer>
    </layers>
    <edges>
      <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    </edges>
  </body>
</layer>""",
        result(2, "y"),
    ),
    [edge("0.0 1.0"), edge("1.1 2.0")],
)
BODY: Final = LOOP[LOOP.index("      <body>") : LOOP.index('    </layer>\n    <layer id="2"')]

SNIPPETS: Final[dict[str, Snippet]] = {
    "G101": mistake(MODEL, 'id="2" name="y"', 'id="1" name="y"'),
    "G102": mistake(MODEL, 'from-layer="0"', 'from-layer="7"'),
    "G103": mistake(MODEL, 'from-layer="0" from-port="0"', 'from-layer="0" from-port="3"'),
    "G104": mistake(MODEL, FED, f"{FED}\n    {FED}"),
    "G105": mistake(MODEL, FED, edge("1.1 1.0")),
    "G106": mistake(MODEL, f"    {FED}\n", ""),
    "G107": mistake(ADD, SECOND, ""),
    "G108": mistake(ADD, SECOND, SECOND + SECOND.replace("1", "3", 1)),
    "G109": mistake(ADD, '<port id="2" precision="FP32"/>', '<port id="2" precision="FP32"/> <port id="3" precision="FP32"/>'),
    "G110": mistake(MODEL, 'type="ReLU"', 'type="RectifiedLinear"'),
    "G111": mistake(ADD.replace('"Add" version="opset1"', '"BitwiseAnd" version="opset13"').replace("FP32", "I32"), "opset13", "opset8"),
    "G112": mistake(MODEL, 'type="ReLU" version="opset1"', 'type="ReLU" version="opset99"'),
    "G113": Snippet(Run(chain(X, RELU)), Run(MODEL)),
    "G114": mistake(MODEL, 'name="relu"', 'name="x"'),
    "G115": mistake(MODEL, '1" precision="FP32"/></output>', '1" precision="FP32"/><port id="1" precision="FP32"/></output>'),
    "G116": Snippet(
        Run(net((X, RELU, result(2, "y"), DEAD), [FED, edge("1.1 2.0"), edge("1.1 3.0")])),
        Run(MODEL),
    ),
    "G117": Snippet(Run(CUSTOM, command=f"{CHECK} --opaque Stretch"), Run(MODEL)),
    "G118": mistake(STATE, 'variable_id="state"/>', 'variable_id="stat"/>'),
    "G119": mistake(LOOP, 'external_port_id="0" internal_layer_id="0"', 'external_port_id="0" internal_layer_id="5"'),
    "G120": mistake(
        MODEL.replace('version="11"', 'version="10"'),
        '<output><port id="1" precision="FP32"/></output>',
        '<output><port id="1" precision="FP32" names="x"/></output>',
    ),
}
