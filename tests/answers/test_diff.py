"""The reported changes are exactly the changes that were made."""

import json
import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest

import irshape
from irshape.answers.diff import KINDS, Change, Difference
from tests.answers.sketch import Layer, Sketch, Written
from tests.support.ir import Net
from tests.support.places import DATA, EXAMPLES, IRS, ROOT
from tests.support.random_net import RandomNet

FILES = sorted(IRS.glob("**/*.xml"))
OURS = sorted([*(DATA / "examples").glob("**/*.xml"), *EXAMPLES.glob("*.xml")])
Said: TypeAlias = tuple[str, str, str | None, str | None]


def net() -> Sketch:
    """Two branches of an image, joined; every kind of change finds something to change in it."""
    return Sketch(
        image=Layer("Parameter", value="f32[1,3,8,8]"),
        weights=Layer("Const", value=[[[[0.5]] * 3] * 3] * 3, of="f32"),
        order=Layer("Const", value=[0, 1, 3, 2]),
        pool=Layer(
            "MaxPool", "image", kernel=(2, 2), strides=(2, 2), pads_begin=(0, 0), pads_end=(0, 0), rounding_type="floor"
        ),
        act=Layer("ReLU", "pool"),
        turn=Layer("Transpose", "act", "order"),
        soft=Layer("SoftMax", "turn", axis=1),
        other=Layer("Sigmoid", "act"),
        join=Layer("Add", "soft", "other"),
        out=Layer("Result", "join"),
    )  # fmt: skip


def diff(a: Sketch | Written, b: Sketch | Written) -> Difference:
    ours, theirs = (one.write() if isinstance(one, Sketch) else one for one in (a, b))
    return irshape.diff(ours.xml, theirs.xml, weights=(ours.weights, theirs.weights))


def changes_of(difference: Difference) -> list[Said]:
    """The changes, each with the name of the layer it is about."""
    return [(one.kind, _about(one), one.before, one.after) for one in difference.changes]


def _about(change: Change) -> str:
    node = change.a or change.b
    what = f".{change.what}" if change.what else ""
    return f"{node.name}{what}" if node else change.what


def edited(**layers: Layer | None) -> Sketch:
    """The net with other layers; None takes one out."""
    sketch = net()
    sketch.layers.update({name: layer for name, layer in layers.items() if layer})
    for name, layer in layers.items():
        if layer is None:
            del sketch.layers[name]
    return sketch


def pool(**attributes: Any) -> Layer:
    layer = net().layers["pool"]
    layer.attributes.update(attributes)
    return layer


def renamed(old: str, new: str) -> Sketch:
    sketch = net()
    sketch.layers = {new if name == old else name: layer for name, layer in sketch.layers.items()}
    for layer in sketch.layers.values():
        layer.inputs = [new if name == old else name for name in layer.inputs]
    return sketch


ROWS: dict[str, tuple[Sketch, list[Said], int]] = {
    "nothing": (net(), [], 0),
    "input shape": (edited(image=Layer("Parameter", value="f32[2,3,8,8]")), [("parameter", "image.shape", "[1,3,8,8]", "[2,3,8,8]")], 7),
    "input type": (edited(image=Layer("Parameter", value="f16[1,3,8,8]")), [("parameter", "image.element_type", "f32", "f16")], 7),
    "bounds of an input": (
        edited(image=Layer("Parameter", value="f32[1..4,3,8,8]")),
        [("parameter", "image.shape", "[1,3,8,8]", "[1..4,3,8,8]")],
        7,
    ),
    "attribute": (edited(soft=Layer("SoftMax", "turn", axis=2)), [("attribute", "soft.axis", "1", "2")], 0),
    "attribute that changes shapes": (edited(pool=pool(strides=(1, 1))), [("attribute", "pool.strides", "[2,2]", "[1,1]")], 7),
    "an attribute as its default": (edited(pool=pool(auto_pad="explicit")), [], 0),
    "an attribute in other words": (edited(pool=pool(strides="2, 2", rounding_type="FLOOR")), [], 0),
    "a surplus attribute": (edited(act=Layer("ReLU", "pool", colour="red")), [("attribute", "act.colour", None, "red")], 0),
    "few values": (edited(order=Layer("Const", value=[1, 0, 3, 2])), [("constant", "order", "[0,1,3,2]", "[1,0,3,2]")], 4),
    "another version": (
        edited(soft=Layer("SoftMax", "turn", axis=1, version="opset8")), [("version", "soft", "opset1", "opset8")], 0
    ),
    "replaced": (edited(act=Layer("Tanh", "pool")), [("replaced", "act", "ReLU", "Tanh")], 0),
    "an input replaced by a constant": (
        edited(image=Layer("Const", value=[[[[0.5] * 8] * 8] * 3], of="f32")), [("replaced", "image", "Parameter", "Const")], 0
    ),
    "computed instead of stated": (
        edited(order=Layer("ShapeOf", "image", version="opset3", output_type="i64"), turn=Layer("SoftMax", "act", axis=1)),
        [("replaced", "order", "Const", "ShapeOf"), ("replaced", "turn", "Transpose", "SoftMax")],
        0,
    ),
    "renamed": (renamed("act", "activation"), [("renamed", "act", "act", "activation")], 0),
    "inserted": (
        edited(new=Layer("Tanh", "act"), other=Layer("Sigmoid", "new")),
        [("added", "new", None, "Tanh"), ("edge", "other.0", "act", "new")],
        0,
    ),
    "taken out": (
        edited(other=None, join=Layer("Add", "soft", "act")),
        [("removed", "other", "Sigmoid", None), ("edge", "join.1", "other", "act")],
        0,
    ),
    "rewired": (edited(join=Layer("Add", "other", "soft")), [("edge", "join.0", "soft", "other"), ("edge", "join.1", "other", "soft")], 0),
    "another result": (edited(more=Layer("Result", "act")), [("added", "more", None, "Result")], 0),
    "another input": (edited(mask=Layer("Parameter", value="f32[1]")), [("added", "mask", None, "Parameter")], 0),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_change_is_what_it_is(name: str) -> None:
    sketch, expected, effects = ROWS[name]
    difference = diff(net(), sketch)
    assert Counter(changes_of(difference)) == Counter(expected)
    assert len({effect.a for effect in difference.effects}) == effects
    assert difference.is_same == (not expected)


@pytest.mark.parametrize("name", ROWS)
def test_the_other_way_round_is_the_mirror(name: str) -> None:
    sketch, _, _ = ROWS[name]
    assert_mirrored(diff(net(), sketch), diff(sketch, net()))


def assert_mirrored(there: Difference, back: Difference) -> None:
    def sides(difference: Difference, *, is_turned: bool) -> Counter[tuple[Any, ...]]:
        turned = {"added": "removed", "removed": "added"} if is_turned else {}
        rows = []
        for one in difference.changes:
            names = [node.key if node else None for node in (one.a, one.b)]
            ends = [(one.before, names[0]), (one.after, names[1])]
            rows.append((turned.get(one.kind, one.kind), one.what, *(reversed(ends) if is_turned else ends)))
        for effect in difference.effects:
            ends = [(effect.before, effect.a.key), (effect.after, effect.b.key)]
            rows.append((effect.what, effect.port, *(reversed(ends) if is_turned else ends)))
        return Counter(rows)

    assert sides(there, is_turned=False) == sides(back, is_turned=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_itself(path: Path) -> None:
    difference = irshape.diff(path, path)
    assert (difference.is_same, difference.asides) == (True, [])
    assert (difference.uncompared is None) == path.with_suffix(".bin").exists()


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_an_example_is_itself(path: Path) -> None:
    """Its layers have no names, and it may have errors."""
    assert irshape.diff(path, path).is_same


def test_a_source_is_read_once() -> None:
    """Without weights both are compared once more; a file object has nothing left to read then."""
    xml = (DATA / "sound.xml").read_bytes()
    changed = xml.replace(b'element_type="f32"', b'element_type="f16"')
    assert changed != xml
    difference = irshape.diff(BytesIO(xml), BytesIO(changed))
    assert difference.uncompared is not None
    assert difference.changes


def test_every_kind_of_change_is_counted() -> None:
    schema = json.loads((ROOT / "schemas" / "diff.schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]["changes"]["items"]["properties"]["kind"]["enum"]) == set(KINDS)


def test_surplus_bytes_of_a_constant_are_no_content() -> None:
    a, b = (Sketch(w=Layer("Const", value=[1, 2]), out=Layer("Result", "w")).write() for _ in range(2))
    longer = Written(b.xml.replace(b'size="16"', b'size="24"'), b.weights + bytes(8))
    assert changes_of(diff(a, longer)) == []


def test_order_and_places_do_not_count() -> None:
    difference = diff(net(), net().write(seed=1))
    assert difference.is_same
    assert any("at different places in the .bin" in text for text in difference.asides)
    assert any("different ids" in text for text in difference.asides)


@pytest.mark.parametrize("seed", range(12))
def test_formulas_do_not_depend_on_the_order_of_layers(seed: int) -> None:
    """Another order makes other symbols first, and so writes formulas in another way."""
    random = Random(seed)
    grown = RandomNet(seed)
    for _ in range(12):
        grown.grow()
    grown.finish()
    before = grown.net.xml.encode()
    ids = random.sample(range(len(grown.net.layers)), len(grown.net.layers))
    random.shuffle(grown.net.layers)
    after = re.sub(r'(<layer id|from-layer|to-layer)="(\d+)"', lambda found: f'{found[1]}="{ids[int(found[2])]}"', grown.net.xml)
    difference = diff(Written(before, grown.net.bin), Written(after.encode(), grown.net.bin))
    assert {change.kind for change in difference.changes} <= {"order"}
    assert difference.effects == []


def test_order_of_inputs_counts() -> None:
    def two(*names: str) -> Sketch:
        layers = {name: Layer("Parameter", value="f32[2]") for name in names}
        return Sketch(**layers, join=Layer("Add", "a", "b"), out=Layer("Result", "join"))

    assert changes_of(diff(two("a", "b"), two("b", "a"))) == [("order", "inputs", "a, b", "b, a")]


def test_names_that_a_converter_made_up_do_not_count() -> None:
    def numbered(shift: int) -> Sketch:
        def name(type: str, number: int) -> str:
            return f"{type}_{number + shift}"

        constants = {name("Constant", i): Layer("Const", value=[i, 1]) for i in (1, 2)}
        x, y = name("Add", 3), name("Add", 4)
        return Sketch(
            **{
                "x": Layer("Parameter", value="i64[2]"),
                **constants,
                x: Layer("Add", "x", name("Constant", 1)),
                y: Layer("Add", x, name("Constant", 2)),
                name("Result", 5): Layer("Result", y),
            }
        )

    difference = diff(numbered(0), numbered(1))
    assert difference.is_same, difference.changes
    assert difference.asides[-1] == "5 layers have different generated names"


def test_names_that_an_exporter_counts_from_another_number_do_not_pair_layers() -> None:
    """The first of two layers has in one export the number that the second has in the other, and they share the name between them."""

    def counted(first: int) -> Sketch:
        layers = {f"node_Gemm_{first}": Layer("ReLU", "x"), "node_tanh": Layer("Tanh", f"node_Gemm_{first}")}
        layers[f"node_Gemm_{first + 1}"] = Layer("ReLU", "node_tanh")
        return Sketch(x=Layer("Parameter", value="f32[1,4]"), **layers, out=Layer("Result", f"node_Gemm_{first + 1}"))

    assert diff(counted(202), counted(203)).is_same


def test_formulas_are_compared_by_meaning() -> None:
    """A batch doubled by Concat equals a batch doubled by Tile, so the shapes after it do not differ."""

    def doubled(double: Layer) -> Sketch:
        return Sketch(
            x=Layer("Parameter", value="f32[?,4]"), repeats=Layer("Const", value=[2, 1]), double=double, act=Layer("ReLU", "double"),
            out=Layer("Result", "act"), spare=Layer("Result", "repeats"),
        )  # fmt: skip

    joined, tiled = doubled(Layer("Concat", "x", "x", axis=0)), doubled(Layer("Tile", "x", "repeats"))
    difference = diff(joined, tiled)
    assert changes_of(difference) == [("replaced", "double", "Concat", "Tile")]
    assert difference.effects == []
    tripled = diff(joined, doubled(Layer("Concat", "x", "x", "x", axis=0)))
    assert {(one.a.name, one.before, one.after) for one in tripled.effects} == {
        (name, "[2*B,4]", "[3*B,4]") for name in ("double", "act", "out")
    }


def test_formulas_have_the_names_of_each_model() -> None:
    """Those that `infer` has, not d0 and d1; where a MatMul makes x square, both are said."""
    parts = "_, _, axis=0) -> Result", "_, _, _, axis=0) -> Result\nMatMul(x, x) -> Result"
    difference = irshape.diff(*(Net(f"x:f32[?,?] -> Concat({part}").xml.encode() for part in parts))
    assert {(one.before, one.after) for one in difference.effects} == {("[2*B,T]", "[3*B,B]")}
    assert "the formulas name the sizes of inputs so: x[B,T] -> x[B,B]" in difference.asides


def test_large_constants_are_measured() -> None:
    values = [0.25 * i for i in range(32)]
    sketches = [
        Sketch(w=Layer("Const", value=[*values, last], of="f32"), out=Layer("Result", "w")) for last in (1.0, 3.5)
    ]  # fmt: skip
    assert changes_of(diff(*sketches)) == [("constant", "w", "33 elements", "1 of them differ, by at most 2.5")]


def test_what_a_net_says_of_itself_does_not_count() -> None:
    written = net().write()
    said = b'<rt_info><Runtime_version value="2026.4.1"/><nncf><attribute name="mode" value="int8"/></nncf></rt_info>'
    difference = diff(written, Written(written.xml.replace(b"<rt_info/>", said), written.weights))
    assert difference.is_same
    assert difference.asides == ["rt_info Runtime_version: none -> '2026.4.1'", "rt_info nncf/mode: none -> 'int8'"]


def test_constants_that_are_not_there() -> None:
    written = net().write()
    difference = irshape.diff(written.xml, written.xml)
    assert difference.is_same
    assert difference.uncompared == "the model has constants, but no weights were given"


def loop(iterations: int, body: str = "ReLU") -> Net:
    """A Loop with one layer in its body."""
    net = Net()
    net.holder(f"Loop-5({iterations}, boolean=true, f32[2]) f32", "2 > x; y > 3; y > x", body=Net(f"x: f32[2] -> {body} -> y: Result"))
    return net


def test_bodies_are_compared() -> None:
    a, b = loop(3), loop(3, "Tanh")
    difference = irshape.diff(a.xml.encode(), b.xml.encode(), weights=(a.bin, b.bin))
    assert [(one.kind, one.before, one.after, one.a and one.a.model.path) for one in difference.changes] == [
        ("removed", "ReLU", None, "loop_3 / body"),
        ("added", None, "Tanh", None),
        ("edge", "relu_1", "tanh_1", "loop_3 / body"),
    ]


def test_port_maps_are_compared() -> None:
    a, b = loop(3), loop(3)
    b.layers[3] = b.layers[3].replace('<back_edges><edge from-layer="2" to-layer="0"/></back_edges>', "")
    difference = irshape.diff(a.xml.encode(), b.xml.encode(), weights=(a.bin, b.bin))
    assert changes_of(difference) == [("port_map", "loop_3", "back_edges edge from-layer=y to-layer=x", None)]


def test_other_ids_in_a_body_are_no_other_port_map() -> None:
    a, b = loop(3), loop(3)
    for old, new in (("0", "7"), ("2", "9")):
        for name in ("layer id", "from-layer", "to-layer", "internal_layer_id"):
            head, mark, body = b.layers[3].partition("<port_map>")
            b.layers[3] = head + mark + body.replace(f'{name}="{old}"', f'{name}="{new}"')
    difference = irshape.diff(a.xml.encode(), b.xml.encode(), weights=(a.bin, b.bin))
    assert difference.is_same, difference.changes
    assert difference.asides == ["2 layers have different ids"]


def test_recorded_dims_do_not_count() -> None:
    written = net().write()
    recorded = written.xml.replace(b'<port id="1" precision="FP32"/>', b'<port id="1" precision="FP32"><dim>9</dim></port>')
    difference = diff(written, Written(recorded, written.weights))
    assert difference.is_same
    assert difference.asides == ["4 ports record different shapes or types"]


# Random edits.


def _reshape(sketch: Sketch, random: Random) -> list[Said]:
    sketch.layers["image"].value = "f32[4,3,8,8]"
    return [("parameter", "image.shape", "[1,3,8,8]", "[4,3,8,8]")]


def _pads(sketch: Sketch, random: Random) -> list[Said]:
    sketch.layers["pool"].attributes["pads_end"] = (2, 2)
    return [("attribute", "pool.pads_end", "[0,0]", "[2,2]")]


def _axis(sketch: Sketch, random: Random) -> list[Said]:
    axis = random.choice((0, 2, 3))
    sketch.layers["soft"].attributes["axis"] = axis
    return [("attribute", "soft.axis", "1", str(axis))]


def _swap(sketch: Sketch, random: Random) -> list[Said]:
    sketch.layers["join"].inputs.reverse()
    return [("edge", "join.0", "soft", "other"), ("edge", "join.1", "other", "soft")]


def _values(sketch: Sketch, random: Random) -> list[Said]:
    sketch.layers["order"].value = [0, 1, 2, 3]
    return [("constant", "order", "[0,1,3,2]", "[0,1,2,3]")]


def _insert(sketch: Sketch, random: Random) -> list[Said]:
    sketch.layers["new"] = Layer("FakeQuantize", "pool", *["limit"] * 4, levels=256)
    sketch.layers["limit"] = Layer("Const", value=[1.0], of="f32")
    sketch.layers["act"].inputs = ["new"]
    return [("added", "new", None, "FakeQuantize"), ("added", "limit", None, "Const"), ("edge", "act.0", "pool", "new")]


def _result(sketch: Sketch, random: Random) -> list[Said]:
    sketch.layers["more"] = Layer("Result", random.choice(("act", "turn", "pool")))
    return [("added", "more", None, "Result")]


EDITS: list[Callable[[Sketch, Random], list[Said]]] = [_reshape, _pads, _axis, _swap, _values, _insert, _result]


@pytest.mark.parametrize("seed", range(40))
def test_random_edits_are_reported(seed: int) -> None:
    """Several edits in a file with different layer ids: each is reported, and the effects are the ports whose shapes differ."""
    random = Random(seed)
    a, b = net(), deepcopy(net())
    expected = [row for edit in random.sample(EDITS, random.randint(1, 4)) for row in edit(b, random)]
    ours, theirs = a.write(), b.write(seed)
    difference = diff(ours, theirs)
    assert Counter(changes_of(difference)) == Counter(expected)
    before, after = (irshape.infer(one.xml, weights=one.weights) for one in (ours, theirs))
    differing = {
        name
        for name, layer in a.layers.items()
        if layer.type not in ("Parameter", "Result", "Const") and repr(before[name].outputs) != repr(after[name].outputs)
    }
    assert {effect.a.name for effect in difference.effects if effect.a.type != "Result"} == differing
    assert_mirrored(difference, diff(theirs, ours))


# Files that OpenVINO writes.


@pytest.mark.oracle
@pytest.mark.parametrize("path", [path for path in FILES if path.stem.startswith(("light", "lstm", "loop"))], ids=lambda path: path.stem)
def test_what_openvino_saves_again_is_the_same(path: Path, tmp_path: Path) -> None:
    import openvino

    openvino.save_model(openvino.Core().read_model(path), tmp_path / "again.xml", compress_to_fp16=False)
    difference = irshape.diff(path, tmp_path / "again.xml")
    assert difference.is_same, difference.changes
    assert difference.uncompared is None


@pytest.mark.oracle
def test_what_openvino_compresses_says_so(tmp_path: Path) -> None:
    import openvino

    path = next(path for path in FILES if "squeezenet" in path.stem)
    openvino.save_model(openvino.Core().read_model(path), tmp_path / "half.xml", compress_to_fp16=True)
    difference = irshape.diff(path, tmp_path / "half.xml")
    assert {change.kind for change in difference.changes} == {"replaced", "added"}
    assert {(change.before, change.after) for change in difference.changes if change.kind == "replaced"} == {("Const", "Convert")}


PADDINGS = ('auto_pad="same_upper"', 'auto_pad="explicit", pads_begin=[1,1], pads_end=[1,1]')


def test_an_attribute_that_a_file_does_not_have_is_none() -> None:
    nets = [Net(f"f32[1,3,8,8] -> Convolution(f32=0[4,3,3,3], strides=[1,1], dilations=[1,1], {own}) -> Result") for own in PADDINGS]
    found = irshape.diff(*(net.xml.encode() for net in nets), weights=(nets[0].bin, nets[1].bin))
    told = [(one.what, one.before, one.after) for one in found.changes]
    assert told == [("pads_begin", None, "[1,1]"), ("pads_end", None, "[1,1]"), ("auto_pad", "same_upper", "explicit")]


def test_a_change_after_which_no_size_is_valid() -> None:
    before, after = (Net(f"""
        _x: f32[1,1,?]
        _half: MaxPool-1(_x, kernel=2, strides=2, pads_begin=0, pads_end=0, rounding_type=floor)
        Add(_half, MaxPool-1(_x, kernel={step}, strides={step}, pads_begin=0, pads_end=0, rounding_type=floor)) -> Relu -> Result
        Concat(_half, MaxPool-1(_x, kernel={step}, strides={step}, pads_begin=0, pads_end=0, rounding_type=floor), axis=1) -> Result
    """) for step in (2, 1))  # fmt: skip
    found = irshape.diff(*(irshape.read(net.xml.encode(), weights=net.bin) for net in (before, after)))
    [told] = [one for one in found.asides if one.startswith("the inputs may have other sizes")]
    assert "L >= 2 -> none, because nothing fits" in told


def test_sizes_that_the_inputs_may_have_no_longer() -> None:
    """Behind the sum, the formula stays; the sizes for which it holds do not."""
    before, after = (Net(f"""
        MaxPool-1(f32[1,1,?], kernel=4, strides=4, pads_begin=0, pads_end=0, rounding_type=floor) -> x: ReLU
        AvgPool(x, kernel={kernel}, strides=1, pads_begin=1, pads_end=1, rounding_type=floor, exclude-pad=true) -> pool: ReLU
        Add(pool, x) -> Result
    """) for kernel in (3, 5))  # fmt: skip
    found = irshape.diff(*(irshape.read(net.xml.encode(), weights=net.bin) for net in (before, after)))
    assert [(one.what, one.before, one.after) for one in found.effects if one.a.type == "Result"] == []
    assert "the inputs may have other sizes: L >= 4 -> 12 <= L <= 15" in found.asides
