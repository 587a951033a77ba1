"""What OpenVINO itself writes is no fault."""

from pathlib import Path

import numpy as np
import pytest

import irshape


@pytest.mark.oracle
def test_an_lstm_cell_of_opset1(tmp_path: Path) -> None:
    """OpenVINO writes the Const of the peepholes without an edge to the cell. It reads activations in capitals, and two more attributes."""
    openvino = pytest.importorskip("openvino")
    first, later = openvino.opset1, openvino.opset13
    x, h, c = (later.parameter([1, size], np.float32) for size in (4, 3, 3))
    weights = [later.constant(np.zeros(shape, np.float32)) for shape in ((12, 4), (12, 3), (12,))]
    cell = first.lstm_cell(x, h, c, *weights, 3)
    path = tmp_path / "cell.xml"
    openvino.save_model(openvino.Model([cell.output(0)], [x, h, c]), path, compress_to_fp16=False)
    assert irshape.check(path).diagnostics == []
    text = path.read_text(encoding="utf-8")
    text = text.replace('activations="sigmoid, tanh, tanh"', 'activations="SIGMOID, TANH, RELU" PrimitivesPriority="cpu:ref" alt_width="2"')
    path.write_text(text, encoding="utf-8")
    openvino.Core().read_model(path)
    assert irshape.check(path).diagnostics == []
    path.write_text(text.replace("alt_width", "alt_widths"), encoding="utf-8")
    assert [one.code for one in irshape.check(path).diagnostics] == ["R104"]
