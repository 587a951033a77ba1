"""X: the XML itself."""

from __future__ import annotations

from typing import Final

from irshape.report.snippets.graph import BODY, LOOP
from irshape.report.snippets.snippet import CHECK, Run, Snippet, chain, example, mistake, misused, parameter, result

X: Final = parameter(0, "x", "1,8")
MODEL: Final = chain(X, result(1, "y"))
DECLARED: Final = '<?xml version="1.0" encoding="UTF-8"?>\n' + MODEL

EXAMPLE: Final = example("ReLU opset1", "", "FP32 1 8")

# An input whose axes have names.
NAMED: Final = chain(
    """\
<layer id="0" name="x" type="Parameter" version="opset1">
  <data element_type="f32" shape="1,8"/>
  <rt_info>
    <attribute name="layout" version="0" layout="[N,C]"/>
  </rt_info>
  <output><port id="0" precision="FP32"/></output>
</layer>""",
    result(1, "y"),
)

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
IGNORED: Final = chain(
    X,
    """\
<layer id="1" name="relu" type="ReLU" version="opset1">
  <data comment="tuned by hand"/>
  <rt_info>
    <irshape ignore="R104"/>
  </rt_info>
  <input><port id="0"/></input>
  <output><port id="1" precision="FP32"/></output>
</layer>""",
    result(2, "y"),
)

SNIPPETS: Final[dict[str, Snippet]] = {
    "X101": mistake(MODEL, "</net>\n", ""),
    "X102": mistake(DECLARED, '?>\n<net name="model"', '?>\n<!DOCTYPE net>\n<net name="model"'),
    "X103": mistake(DECLARED, "UTF-8", "UTF-88"),
    "X104": Snippet(Run("<html>\n  <body>Please log in.</body>\n</html>\n"), Run(MODEL)),
    "X105": mistake(MODEL, ' name="x"', ""),
    "X106": mistake(MODEL, '<layer id="0"', '<layer id="first"'),
    "X107": mistake(MODEL, 'precision="FP32"', 'precision="float32"'),
    "X108": mistake(MODEL, 'version="11"', 'version="7"'),
    "X109": mistake(LOOP, BODY, ""),
    "X110": mistake(EXAMPLE, "  </input>\n", ""),
    "X111": misused(MODEL, f"{CHECK} --limit layers=1", CHECK),
    "X112": Snippet(Run(KERNELS), Run(MODEL)),
    "X113": mistake(NAMED, 'layout="[N,C]"', 'layout="[N,N]"'),
    "X114": mistake(MEANS, 'layer-name="x"', 'layer-name="image"'),
    "X201": mistake(DECLARED, "<?xml", " <?xml"),
    "X202": mistake(MODEL, "  <layers>", '  <layers count="2">', command=f"{CHECK} --extend-select X202"),
    "X203": mistake(chain(ANNOTATED, result(1, "y")), '"[N,8]"', '"[N,3,8]"'),
    "X205": Snippet(Run('<net name="model" version="11">\n</net>\n'), Run(MODEL)),
    "X204": mistake(IGNORED, '      <data comment="tuned by hand"/>\n', ""),
}
