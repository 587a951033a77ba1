"""Which faults lead, and which say that they may follow from another one."""

import re
from itertools import count
from pathlib import Path

import pytest

import irshape
from irshape.diagnosis.fixes import mendable
from irshape.report.diagnostic import causes
from tests.support.ir import Net
from tests.support.shuffled import shuffled


def check(xml: str, weights: bytes = b"") -> list[tuple[str, str | None]]:
    return [(one.code, one.hint) for one in irshape.check(xml.encode(), weights=weights).diagnostics]


def product(**attributes: object) -> str:
    given = "".join(f", {name}={str(value).lower()}" for name, value in attributes.items())
    return Net(f"MatMul(f32[2,3], f32[4,3]{given}) -> Result").xml


@pytest.mark.parametrize(
    ("name", "is_known"), [("transpose_b", True), ("transpose_bb", False), ("tranpose_b", False), ("transpose", False)]
)
def test_a_misspelled_attribute_leads(name: str, is_known: bool) -> None:
    """Without the attribute OpenVINO takes its default, and the error that follows names the line of the misspelling."""
    found = dict(check(product(transpose_a=False, **{name: True})))
    if is_known:
        assert found == {}
        return
    assert set(found) == {"R104", "S201"}
    assert found["R104"] == "did you mean transpose_b?"
    assert (found["S201"] or "").startswith("this may follow from R104 in line")


def test_an_attribute_that_is_required_and_misspelled_is_one_error() -> None:
    net = Net("Split(f32[4], i64[], num_split=1) -> Result")
    [fault] = irshape.check(net.xml.encode()).diagnostics
    assert (fault.code, fault.hint) == ("A101", "did you mean num_splits?")
    assert fault.fix is not None
    assert (fault.fix.title, fault.fix.is_safe) == ("rename num_split to num_splits", False)


def test_an_attribute_that_is_missing_is_called_so() -> None:
    data = "strides=[2,2], pads_begin=[0,0], pads_end=[0,0]"
    fault = irshape.check(Net(f"MaxPool(f32[1,4,8,8], {data}) -> Result").xml.encode()).diagnostics[0]
    assert fault.message == "kernel is missing or empty; it must have 2 items, one for each spatial axis"
    joined = irshape.infer(Net("Concat(f32[1,4,8,8], f32[1,4,8,8], axis=1) -> Result").xml.encode()).xml()
    fault = irshape.check(joined.replace(b' axis="1"', b"")).diagnostics[0]
    assert fault.message.endswith("; with axis='1' the layer gives [1,8,8,8], which it records; it is missing")


@pytest.mark.parametrize(
    ("layer", "word"),
    [
        ("SpaceToDepth(f32[1,4,8,8], block_size=2, mode=block_first)", "blocks_first"),
        ("MaxPool(f32[1,4,8,8], kernel=[2,2], strides=[2,2], pads_begin=[0,0], pads_end=[0,0], auto_pad=same)", "same_upper or same_lower"),
        ("Convert(i32[4], destination_type=float32) f32", "f32"),
        ("Convert(i32[4], destination_type=FP16) f16", "f16"),
        ("Convert(i32[4], destination_type=half) f16", "f16"),
        ("Convert(i32[4], destination_type=uint8) u8", "u8"),
    ],
)
def test_a_word_that_is_nearly_right_is_named(layer: str, word: str) -> None:
    assert check(Net(f"{layer} -> Result").xml) == [("A103", f"did you mean {word}?")]


def test_types_of_which_one_is_not_allowed_are_not_compared() -> None:
    assert [code for code, _ in check(Net("Add(boolean[2], f32[2]) f32 -> Result").xml)] == ["T101"]


def test_a_constant_of_a_wrong_type_is_one_fault() -> None:
    net = Net("[1,2,3] -> Result")
    text = net.xml.replace('element_type="i64"', 'element_type="i32"')
    [(code, hint)] = check(text, net.bin)
    assert code == "R303"
    assert hint is None or "element_type" in hint


def test_edges_that_are_exchanged_are_not_mended_in_the_record(tmp_path: Path) -> None:
    ports = '<port id="0"{}><dim>{}</dim><dim>3</dim></port><port id="1"><dim>{}</dim><dim>3</dim></port>'
    net = Net("Concat(f32[2,3], f32[4,3], axis=0) -> Result")
    start = net.xml.index("<input>") + 7
    end = net.xml.index("</input>")
    for first, second, faults in ((2, 4, 0), (4, 2, 2)):
        inference = irshape.check((net.xml[:start] + ports.format("", first, second) + net.xml[end:]).encode())
        assert [one.code for one in inference.diagnostics] == ["R301"] * faults
        assert mendable(inference._inference)[0] == []
        for cause in causes(inference.diagnostics):
            assert cause.message.endswith("inputs 0 and 1 look exchanged: each port records what the other one takes")
            assert cause.consequences == (1, 0)


@pytest.mark.parametrize(
    ("before", "after", "code", "hint"),
    [
        ("<edges>", "<edges>\n<<<<<<< HEAD\n=======\n>>>>>>> feature", "X101", "git checkout --ours"),
        ('name="parameter_0"', 'name="a & b"', "X101", "&amp;"),
        ('name="parameter_0"', 'name="a < b"', "X101", "&lt;"),
        ("</edges>", "</edge>", "X101", "make the two tags agree"),
        ('name="parameter_0"', b'name="\xe9"', "X103", "save the file as UTF-8"),
        ('version="opset1"', 'version="opset 1"', "G112", "did you mean opset1?"),
        ('type="MatMul"', 'type="MatMull"', "G110", "did you mean MatMul?"),
        ('type="MatMul"', 'type="Gemm"', "G110", "did you mean MatMul?"),
    ],
)
def test_a_broken_text_says_the_next_step(before: str, after: str | bytes, code: str, hint: str) -> None:
    source, wanted = product(transpose_b=True).encode(), after if isinstance(after, bytes) else after.encode()
    assert before.encode() in source
    fault = irshape.check(source.replace(before.encode(), wanted, 1)).diagnostics[0]
    assert fault.code == code
    assert hint in (fault.hint or "")


PATTERN = "Reshape(f32[1,2048], [1,17,128], special_zero=true) -> Result"


def recorded(net: Net, shapes: dict[int, str]) -> str:
    """The text of a net in which the outputs of some layers record a shape."""
    xml = net.xml
    for number, shape in shapes.items():
        head, layer = xml.split(f'<layer id="{number}"')
        before, output = layer.split("<output>", 1)
        dims = "".join(f"<dim>{-1 if dim == '?' else dim}</dim>" for dim in shape.split(","))
        xml = f'{head}<layer id="{number}"{before}<output>{output.replace("/>", f">{dims}</port>", 1)}'
    return xml


@pytest.mark.parametrize("is_joined", [False, True])
@pytest.mark.parametrize(
    ("data", "edited", "shape", "said"),
    [
        ("f32[1,2048]", [1, 17, 128], "1,16,128", "with [{}16,128] the layer gives [1,16,128], which it records"),
        ("f32[?,64]", [0, 17, 4], "?,16,4", "with [{}16,4] the layer gives [?,16,4], which it records"),
        ("f32[2,12]", [-1, 5], "6,4", "with [{}4] the layer gives [6,4], which it records"),
    ],
)
def test_an_element_that_contradicts_the_recorded_shape(data: str, edited: list[int], shape: str, said: str, is_joined: bool) -> None:
    pattern = f"Concat({edited[:1]}, {edited[1:]}, axis=0)" if is_joined else str(edited)
    net = Net(f"Reshape({data}, {pattern}, special_zero=true) -> Result")
    faults = irshape.check(recorded(net, {len(net.layers) - 2: shape}).encode(), weights=net.bin).diagnostics
    fault = next(one for one in faults if one.code in ("S201", "S204", "R401"))
    (place,) = fault.related
    assert place.layer_name == ("const_2" if is_joined else "const_1")
    assert fault.message.endswith(said.format("" if is_joined else f"{edited[0]},"))


def test_an_element_is_named_where_the_record_differs_and_where_that_fails() -> None:
    net = Net("Reshape(f32[?,256], [-1,128], special_zero=false) -> MatMul(f32[256,8]) -> Result")
    cause, error = irshape.check(recorded(net, {2: "?,256"}).encode(), weights=net.bin).diagnostics
    assert (cause.code, cause.severity, error.code) == ("R301", "error", "S201")
    assert cause.message.endswith("Const 'const_1' (line 10) holds [-1,128]; with [-1,256] the layer gives [?,256], which it records")
    assert error.caused_by is cause


@pytest.mark.parametrize("layer", ["Tile(f32[2,1], [1,6])", "Broadcast-3(f32[2,1], [2,6])"])
def test_elements_that_other_layers_read(layer: str) -> None:
    net = Net(f"{layer} -> Concat(f32[4,5], axis=0) -> Result")
    faults = irshape.check(recorded(net, {2: "2,5"}).encode(), weights=net.bin).diagnostics
    cause, error = faults
    assert (cause.code, error.code, error.caused_by) == ("R301", "S201", cause)
    assert "Const 'const_1' (line 10) holds" in cause.message
    assert "5] the layer gives [2,5], which it records" in cause.message


def test_no_element_is_named_where_the_record_agrees_or_says_nothing() -> None:
    net = Net(PATTERN)
    for shape in (None, "?,?,?", "1,17,128"):
        xml = net.xml if shape is None else recorded(net, {2: shape})
        assert [one.hint for one in irshape.check(xml.encode(), weights=net.bin).diagnostics] == [None]


def test_a_search_that_takes_too_long_says_so() -> None:
    """The search takes counted steps. Without it, every fault stands for itself, and the verdict is the same."""
    net = Net(PATTERN)
    xml = recorded(net, {2: "1,16,128"}).encode()
    whole, cut = (irshape.check(xml, weights=net.bin, limits=irshape.Limits(work=work)) for work in (100_000, 60))
    assert [one.code for one in whole.diagnostics if one.severity == "note"] == []
    [note] = [one for one in cut.diagnostics if one.code == "N106"]
    assert note.message.startswith("not all causes of faults were sought")
    assert whole.ok == cut.ok


def test_records_that_are_out_of_date_everywhere_are_said_once() -> None:
    """A file whose layers record other dims, each another one: one line, and JSON has the others. A file without records says nothing."""
    net = Net("".join(f"x{number}: f32[1,8]\nx{number} -> Exp -> ReLU -> Result\n" for number in range(70)))
    xml = irshape.infer(net.xml.encode()).xml().decode()
    sizes = count(9)
    layers = re.split("(?=<layer id=)", xml)
    stale = "".join(layer if "Parameter" in layer else layer.replace("<dim>8</dim>", f"<dim>{next(sizes)}</dim>") for layer in layers)
    found = irshape.check(stale.encode()).diagnostics
    [cause] = causes(found)
    assert cause.code == "R301"
    assert cause.message.endswith("; 70 layers record other facts than the model computes, so the records are out of date")
    assert cause.consequences == (69, 69)
    assert len(found) == 70
    assert causes(irshape.check(re.sub(r"(?s)<dim>.*?</dim>\s*", "", xml).encode()).diagnostics) == []


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_layers_decides_no_cause(seed: int) -> None:
    """A record that is wrong alone is no cause, so that of the two faults before the Range only the constant is."""
    net = Net("""
        ShapeOf-3(f32[3], output_type=i64) -> sizes: ShapeOf-3(output_type=i64) -> size: Squeeze([0])
        start: i32=0
        Range-4(start, size, i32=1, output_type=i64) -> Result
    """)
    source = irshape.infer(net.xml, weights=net.bin).xml().decode()
    before, sizes, after = source.partition('name="sizes"')
    _, output, rest = after.partition("<output>")
    before, start, rest = f"{before}{sizes}{_}{output}{rest.replace('I64', 'U1', 1)}".partition('name="start"')
    found = irshape.check(shuffled((before + start + rest.replace('"i32"', '"boolean"', 1)).encode(), seed), weights=net.bin).diagnostics
    assert {(one.code, one.severity, one.caused_by and one.caused_by.code) for one in found} == {
        ("R302", "warning", None), ("R303", "error", None), ("T101", "error", "R303"),
    }  # fmt: skip


def test_a_model_that_is_checked_twice_says_the_same() -> None:
    """What the file is said to lack is the model's; what an answer adds to it is not."""
    model = irshape.read(Net("f32[2] -> used: ReLU -> Result\nused -> Sigmoid").xml.encode())
    first = str(irshape.check(model).diagnostics)
    assert first.count("; should it feed port 0 of Result") == 1
    assert str(irshape.check(model).diagnostics) == first


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_layers_decides_no_order_of_names(seed: int) -> None:
    net = Net("f32[2,3] -> Transpose([5,7]) -> Result\nf32[2] -> a: ReLU\nf32[2] -> b: Sigmoid")
    [fault] = [one for one in irshape.check(shuffled(net.xml.encode(), seed), weights=net.bin).diagnostics if one.severity == "error"]
    named = re.sub(r" \(line \d+\)", "", fault.message)
    assert named.endswith("; ReLU 'a' and Sigmoid 'b', which nothing reads, may belong before it")


@pytest.mark.parametrize("seed", [7, 16, 18, 24])
def test_layers_in_another_order_have_no_exchanged_ids(seed: int) -> None:
    """The edges of the three constants fit as they are. In these orders, two of them would stand in the order of ids with each other's."""
    net = Net("SpaceToBatch-2(f32[1,2,4,4], [1,1,2,2], [0,0,1,1], [0,0,1,1]) -> Result")
    xml = irshape.infer(net.xml.encode(), weights=net.bin).xml().replace(b"<dim>3</dim>", b"<dim>2</dim>")
    [found] = irshape.check(shuffled(xml, seed), weights=net.bin).diagnostics
    assert found.message.startswith("the port records [4,2,2,2], but the model computes [4,2,3,3]; it reads Const")


def test_all_constants_of_a_slice_are_named_where_no_number_is_right() -> None:
    """The axis 3 has the bytes of a step now, which three more constants share: another number there would be wrong for these."""
    net = Net("Slice-8(f32[1,1,12,4], [0], [12], [2], [3]) -> Slice-8([0], [11], [2], [2]) -> Add(f32=1.0) -> Result")
    xml = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    shared = re.sub('offset="(24|48|56)"', 'offset="16"', xml)
    [found] = irshape.check(shared.encode(), weights=net.bin).diagnostics
    assert all(f"Const 'const_{at}'" in found.message for at in (1, 2, 3, 4))


def test_of_constants_with_the_same_bytes_that_is_named_which_holds_the_wrong_number() -> None:
    """The axis of the Gather reads the bytes of the indices. Other indices alone would not help."""
    net = Net("Gather-8(f32[4,3], [2], 0) -> Result")
    xml = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    found = next(
        one for one in irshape.check(xml.replace('offset="8"', 'offset="0"').encode(), weights=net.bin).diagnostics if one.code == "V102"
    )
    assert "Const 'const_2' (line" in found.message and "const_1" not in found.message


@pytest.mark.parametrize("seed", range(6))
def test_of_constants_with_the_same_bytes_one_is_named_in_any_order(seed: int) -> None:
    net = Net("Add([1,2], [3,4]) -> Add(_, [5,6]) -> Result")
    xml = re.sub(r'offset="(\d+)"', lambda found: f'offset="{ {"0": 0, "16": 0, "32": 1}[found[1]] }"', net.xml)
    [message] = [one.message for one in irshape.check(shuffled(xml.encode(), seed), weights=net.bin).diagnostics if one.code == "W202"]
    assert message == "bytes 1 to 17 overlap bytes 0 to 16 of the constant 'const_1' in part"


@pytest.mark.parametrize(("was", "now", "name"), [(0, 1, "const_0"), (16, 17, "const_1"), (16, 15, "const_1"), (32, 31, "const_3")])
def test_of_two_constants_that_overlap_the_one_that_leaves_a_gap_is_named(was: int, now: int, name: str) -> None:
    net = Net("Add([1,2], [3,4]) -> Add(_, [5,6]) -> Result")
    xml = net.xml.replace(f'offset="{was}"', f'offset="{now}"')
    [found] = [one for one in irshape.check(xml.encode(), weights=net.bin).diagnostics if one.code == "W202"]
    meant = f'did you mean offset="{was}"? No constant has the bytes from there on'
    assert (found.where.layer_name, found.hint) == (name, meant if now > was else None)


def test_a_condition_behind_an_edge_that_is_none_follows_from_it() -> None:
    """A Concat without one of its inputs has a shape; the Convolution behind it takes more channels."""
    window = "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]"
    net = Net(f"_x: f32[1,8,?,?]\nConcat(_x, _x, axis=1) -> Convolution(f32[4,16,1,1], {window}) -> Result")
    lost = net.xml.replace('<port id="1" precision="FP32"/>', "", 1)
    assert [(one.code, one.caused_by and one.caused_by.code) for one in irshape.check(lost.encode()).diagnostics] == [
        ("G103", None), ("S201", "G103")
    ]  # fmt: skip
