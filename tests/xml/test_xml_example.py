# ruff: noqa: E501  a row stays on its line
"""Specification examples: dots, missing ids, and numbers in comments."""

import pytest

from irshape.xml.example import numbers, repaired
from irshape.xml.reader import read

# A comment, and the numbers that a port takes from it.
COMMENTS = [
    ("block_shape value: [1, 2, 4, 3, 1]", (1, 2, 4, 3, 1), (5,)),
    ("value is [2, 3] that means both spatial axes", (2, 3), (2,)),
    ("value of [0,2,3] means each channel alone", (0, 2, 3), (3,)),
    ("axes list [1] means the channels", (1,), (1,)),
    ("axes input contains  [3, 1, 2]", (3, 1, 2), (3,)),
    ("signal_size input contains [170, -1, 1024]", (170, -1, 1024), (3,)),
    ("start: [1]", (1,), (1,)),
    ("data: data: [[0, 1], [2, 3]]", (0, 1, 2, 3), (2, 2)),
    ("batch_shape : [2, 3]", (2, 3), (2,)),
    ("The tensor contains 4 elements: [1, 16, 50, 50] ", (1, 16, 50, 50), (4,)),
    ("The tensor contains 3 elements: 0, -1, 4", (0, -1, 4), (3,)),
    ("The values in this input are [24, 160]", (24, 160), (2,)),
    ("The values in this input are [2, 3] (axes).", (2, 3), (2,)),
    ("The values in this input are [0.5, 2.0]", (0.5, 2.0), (2,)),
    ("pads_begin = [1, 0, 3, 7]", (1, 0, 3, 7), (4,)),
    ("[ 2,  5,  8]", (2, 5, 8), (3,)),
    ("[1, 2, 3] will be promoted to [1, 1, 2, 3]", (1, 2, 3), (3,)),
    ('offsets value is: [0, 2, 2] - 3 "bags" of [2,0,4-2] elements', (0, 2, 2), (3,)),
    ("emb_table value is: [[-0.2, -0.6], [-1.,  1.5]]", (-0.2, -0.6, -1.0, 1.5), (2, 2)),
    ("input value is: [1., 2.]", (1.0, 2.0), (2,)),
    ("cond value is: [[false, true], [true, true]]", (0, 1, 1, 1), (2, 2)),
    ("{0, 2}", (0, 2), (2,)),
    ("{{1.0f, -2.0f}}", (1.0, -2.0), (1, 2)),
    ("depth value: 3", (3,), ()),
    ("step value: -3", (-3,), ()),
    ("stop value: 2.5", (2.5,), ()),
    ("axis value is: 0", (0,), ()),
    ("on_value 1", (1,), ()),
    ("  axis = 1  ", (1,), ()),
    ("k = 3", (3,), ()),
    ("num rows: 5", (5,), ()),
    ("pad_value = 15.0", (15.0,), ()),
    ("10", (10,), ()),
    ("value is []", (), (0,)),
]
SILENT = [
    "data",
    "spatial dimension 1",
    "8 = 5 + 3 + 0 = pads_begin[1] + input.shape[1] + pads_end[1]",
    "data.shape[0]",
    "data.shape[1] * (block_size ^ 2)",
    "(data.shape[1] + pads_begin[1] + pads_end[1]) / block_shape.shape[1]",
    "4 = 6 - 2",
    "min(100, 10) * 3 * 5",
    "concatenated axis: 8 + 16 + 32 = 48",
    "type: int32",
    "will be promoted to shape (1, 2, 3, 4)",
    'the 3rd input is not used with mode="numpy"',
    '"-1" means a dimension that is not known',
    "embedded dimension from the 1st input",
    "all new elements are filled with 15.0 value",
    "{{-1.0f, 1.0f},",
    "[[1, 2], [3]]",
    "[1, [2]]",
    "[1 2]",
    "[1,,2]",
    "[1, 2,]",
    "[a, b]",
    "]",
    "[" * 1000,
    "1" * 10_000,
    "[" + "1" * 10_000 + "]",
    "k = " + "1" * 10_000,
    "",
]


@pytest.mark.parametrize(("comment", "values", "shape"), COMMENTS)
def test_numbers_in_comments(comment, values, shape):
    assert numbers(comment) == (values, shape)
    assert all(type(found) is type(value) for found, value in zip(numbers(comment)[0], values, strict=True))


@pytest.mark.parametrize("comment", SILENT)
def test_comments_without_numbers(comment):
    assert numbers(comment) is None


# The dims of a port, the place of the comment, and the value of the port.
PLACES = [
    ('<port id="0"><!-- value: [4, 5] --><dim>2</dim></port>', (4, 5), (2,)),
    ('<port id="0"><dim>2</dim><!-- value: [4, 5] --></port>', (4, 5), (2,)),
    ('<port id="0"><dim>2</dim></port>  <!-- value: [4, 5] -->', (4, 5), (2,)),
    ('<port id="0"/>  <!-- axis: 1 -->', (1,), ()),
    ('<port id="0"/>\n<!-- axis: 1 -->', None, None),
    ('<port id="0">\n<!-- k = 3 -->\n</port>', (3,), ()),
    ('<port id="0"/> <!-- sizes: [4, 5] -->', (4, 5), (2,)),
    ('<port id="0"><!-- value: [4, 5] --><dim>3</dim></port>', None, None),
    ('<port id="0"><!-- value: [4, 5] --><dim>-1</dim></port>', None, None),
    ('<port id="0"><!-- value: [1, 2, 3, 4] --><dim>2</dim><dim>2</dim></port>', (1, 2, 3, 4), (2, 2)),
    ('<port id="0"><!-- value: [[1, 2]] --><dim>2</dim><dim>1</dim></port>', None, None),
    ('<port id="0"/> <!-- batch --> <!-- axis: 1 -->', (1,), ()),
    ('<port id="0"><!-- value: 7 --><dim>1</dim></port>', (7,), (1,)),
    ('<port id="0"><!-- batch --><dim>2</dim><!-- value: [4, 5] --></port>', (4, 5), (2,)),
]


@pytest.mark.parametrize(("port", "value", "shape"), PLACES)
def test_a_port_takes_the_comment_that_fits(port, value, shape):
    document = read(f'<layer type="X" ...>\n<input>\n{port}\n</input>\n</layer>'.encode())
    assert document.diagnostics == []
    (found,) = document.graph.layers[0].inputs
    assert (found.value, found.value_shape) == (value, shape)


def test_output_ports_take_none():
    document = read(b'<layer type="X"><output><port id="0"><!-- value: [4, 5] --><dim>2</dim></port></output></layer>')
    assert document.graph.layers[0].outputs[0].value is None


def test_an_example_is_read_with_its_own_offsets():
    source = "<!-- first … --><layer ... type=\"Pad\" id='3' …>\n  <input> ... </input>\n  <output><port id=\"0\" /></output>\n</layer>\n<layer type='Parameter' ...>"
    source += '<data shape=\'...\' element_type=\'f32\'/></layer><layer id="2" name="n" type="A" version="opset1"/>'
    source = source.encode()
    assert len(repaired(source)) == len(source)
    document = read(source)
    assert document.diagnostics == []
    assert document.is_example and document.version == 0
    assert [(layer.id, layer.name, layer.type, layer.version) for layer in document.graph.layers] == [
        (3, "", "Pad", ""),
        (1, "", "Parameter", ""),
        (2, "n", "A", "opset1"),
    ]
    assert document.graph.layers[1].attributes == {"shape": "...", "element_type": "f32"}
    assert [source[layer.offset : layer.end][:6] for layer in document.graph.layers] == [b"<layer"] * 3
    (port,) = document.graph.layers[0].outputs
    assert source[port.offset : port.end] == b'<port id="0" />'
    assert port.precision is None


def test_ids_count_from_zero_and_collide_with_none():
    document = read(b'<layer type="A"/><layer type="B"/><layer id="3" type="C"/><layer type="D"/>')
    assert [layer.id for layer in document.graph.layers] == [0, 1, 3, 4]
    document = read(b'<layer type="A"/><layer id="0" type="B"/><layer type="C"/>')
    assert [layer.id for layer in document.graph.layers] == [1, 0, 2]


# A faulty example, and the code and message of its one diagnostic.
LACKING = [
    ('<layer type="X">\n<input>\n<port id="0"/>\n</layer>', "X110", "the <input> opened on line 2 is never closed"),
    ('<layer type="Loop"><input><port id="0"/></input></layer>', "X109", "Loop has no <body>"),
    ('<layer type="If"><then_body><layers/></then_body></layer>', "X109", "If has no <else_body>"),
    ('<layer type="X">\n<input/>', "X110", "the <layer> opened on line 1 is never closed"),
    ('<layer type="X">\n<data axis="1">\n<input/>\n</layer>', "X110", "the <data> opened on line 2 is never closed"),
    ('<layer type="X">\n<input><port id="0"><dim>5/dim></port></input></layer>', "X110", "the <dim> opened on line 2 is never closed"),
    (
        '<layer type="X"><input><port id="0"/><dim>4</dim></port></input></layer>',
        "X110",
        "</port> has no start tag, or its start tag ends in />",
    ),
    ('<layer id="1" type="X">\n<data batch_dims=0 />\n</layer>', "X110", "the value of batch_dims is not in quotes"),
    (
        '<layer type="X"><data>axis="1"</data></layer>',
        "X110",
        "the attributes are between <data> and </data>; write them inside the <data> tag",
    ),
    (
        '<layer type="X">\n<input><port id="0"/></input> <!-- axis: 1 -->\n<input/></layer>',
        "X110",
        "the layer has a second <input>, whose ports OpenVINO does not read",
    ),
    ('<layer type="X"><output><port id="0" precision="F32"/></output></layer>', "X107", "precision='F32' of <port> is not an element type"),
    ('<layer type="X"><output><port/></output></layer>', "X105", "<port> has no id"),
    ('<layer type="X"/><!DOCTYPE net>', "X102", "the file has a DOCTYPE; an IR has none"),
]


@pytest.mark.parametrize(("text", "code", "message"), LACKING)
def test_what_an_example_lacks_is_said_once(text, code, message):
    (diagnostic,) = read(text.encode()).diagnostics
    assert (diagnostic.code, diagnostic.message) == (code, message)
    assert diagnostic.severity == ("warning" if code == "X107" else "error")
