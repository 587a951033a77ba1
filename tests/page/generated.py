"""Generated models whose graphs are hard to draw: equal blocks, tensors that all of them read, many outputs, circles of names."""

import random
from collections.abc import Callable
from xml.sax.saxutils import quoteattr

from tests.support.ir import Net, Ref


class Named(Net):
    """An IR of which each layer gets a name."""

    def add(self, name: str, type: str, inputs: list[Ref], **attributes: object) -> Ref:
        """Add a layer with one output of f32."""
        (ref,) = self.layer(type, inputs, ["FP32"], **attributes)
        self.rename(name)
        return ref

    def rename(self, name: str) -> None:
        """Name the last layer."""
        id, _, rest = self.layers[-1].partition(' name="')
        self.layers[-1] = f"{id} name={quoteattr(name)}{rest.partition(chr(34))[2]}"

    def input(self, name: str, fact: str) -> Ref:
        """A Parameter of this name."""
        ref = self.parameter(fact)
        self.rename(name)
        return ref


def transformer(blocks: int) -> Net:
    """Equal blocks with attention, a mask that all blocks read, a shape that the first block computes for all, and a state for each."""
    net = Named()
    data, mask = net.input("tokens", "f32[?,?,16]"), net.input("mask", "f32[?,1,16]")
    states = [net.input(f"past.{block}", "f32[?,?,16]") for block in range(blocks)]
    (shape,) = net.layer("ShapeOf", [mask], ["I64"], "opset3", output_type="i64")
    net.rename("__module.net.layers.0.attention/aten::size/ShapeOf")
    for block in range(blocks):
        scope = f"__module.net.layers.{block}"
        norm = net.add(f"{scope}.norm/aten::norm/Relu", "ReLU", [data])
        heads = [net.add(f"{scope}.attention.{part}/aten::linear/Add", "Add", [norm, mask], version="opset1") for part in "qkv"]
        joined = net.add(f"{scope}.attention/aten::mul/Multiply", "Multiply", heads[:2])
        state = net.add(f"{scope}.attention/aten::add/Add", "Add", [states[block], heads[2]])
        masked = net.add(f"{scope}.attention/aten::add/Add_1", "Add", [joined, mask])
        spread = net.add(f"{scope}.attention/aten::expand/Broadcast", "Broadcast", [masked, shape], version="opset3", mode="bidirectional")
        out = net.add(f"{scope}.attention.out/aten::linear/Multiply", "Multiply", [spread, state])
        data = net.add(f"{scope}/aten::add/Add", "Add", [data, out])
        net.result(state)
    net.result(data)
    return net


def speech(blocks: int) -> Net:
    """An encoder, and a decoder whose blocks all read the encoder's output; the last one has its layers in another order."""
    net = Named()
    data, tokens, mask = net.input("features", "f32[?,?,16]"), net.input("tokens", "f32[?,?,16]"), net.input("mask", "f32[?,1,16]")
    for block in range(blocks):
        scope = f"__module.net.encoder.layers.{block}"
        norm = net.add(f"{scope}.norm/aten::norm/Relu", "ReLU", [data])
        data = net.add(f"{scope}/aten::add/Add", "Add", [data, net.add(f"{scope}.attention/aten::mul/Multiply", "Multiply", [norm, norm])])
    for block in range(blocks):
        scope, found = f"__module.net.decoder.layers.{block}", {}
        norm = net.add(f"{scope}.norm/aten::norm/Relu", "ReLU", [tokens])
        for part in ("self", "cross")[:: -1 if block == blocks - 1 else 1]:
            query = net.add(f"{scope}.{part}.query/aten::linear/Add", "Add", [norm, mask])
            found[part] = net.add(f"{scope}.{part}/aten::mul/Multiply", "Multiply", [query, norm if part == "self" else data])
        tokens = net.add(f"{scope}/aten::sub/Subtract", "Subtract", [found["self"], found["cross"]])
        net.result(found["cross"])
    net.result(tokens)
    return net


def pyramid(levels: int) -> Net:
    """A U-Net: each level of the way down is read on the way up."""
    net = Named()
    data, skips = net.input("image", "f32[1,4,256,256]"), []
    pool = {"strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "kernel": "2,2", "rounding_type": "floor"}
    for level in range(levels):
        for step in range(2):
            data = net.add(f"/down/level{level}/step{step}/Relu", "ReLU", [data])
        skips.append(data)
        data = net.add(f"/down/pool{level}/MaxPool", "MaxPool", [data], **pool)
    scales = net.const([2.0, 2.0], "f32")
    axes = net.const([2, 3])
    sizes = net.const([1, 1])
    for level in reversed(range(levels)):
        data = net.add(
            f"/up/level{level}/Resize",
            "Interpolate",
            [data, sizes, scales, axes],
            version="opset4",
            mode="nearest",
            shape_calculation_mode="scales",
        )
        data = net.add(f"/up/level{level}/Add", "Add", [data, skips[level]])
    net.result(data)
    return net


def heads(count: int) -> Net:
    """A detector with many outputs of different shapes, none of which has a name that says anything."""
    net = Named()
    data = net.input("image", "f32[?,3,?,?]")
    for number in range(count):
        for step in range(3):
            data = net.add(f"Relu_{10_000 + 3 * number + step}", "ReLU", [data])
        pattern = net.const([0, *[1] * (number % 3), -1])
        net.result(net.add(f"Reshape_{20_000 + number}", "Reshape", [data, pattern], special_zero=True))
    return net


def circle(count: int) -> Net:
    """Two names that take turns, so that no order of the two groups has all arrows downwards."""
    net = Named()
    data = net.input("x", "f32[1,8]")
    for number in range(count):
        data = net.add(f"{'left' if number // 3 % 2 else 'right'}/relu{number}", "ReLU", [data])
    net.result(data)
    return net


def tangle(count: int) -> Net:
    """Layers that read any two layers before them."""
    net, chance = Named(), random.Random(7)
    found = [net.input("x", "f32[1,8]")]
    for number in range(count):
        found.append(net.add(f"add{number}", "Add", [chance.choice(found[-40:]), chance.choice(found[-40:])]))
    net.result(found[-1])
    return net


def wordy() -> Net:
    """Long names, in scripts of different widths."""
    net = Named()
    data = net.input("W" * 300, "f32[?,?]")
    for number, name in enumerate(["漢字" * 40, "م" * 90, "WWWW" * 60, "iiii" * 60, "a/" * 200 + "b"]):
        for layer in range(3):
            data = net.add(f"{name}/{'W' * 80}{number}/{layer}", "ReLU", [data])
    net.result(data)
    return net


MODELS: dict[str, Callable[[], Net]] = {
    "transformer": lambda: transformer(12),
    "long transformer": lambda: transformer(96),
    "speech": lambda: speech(12),
    "pyramid": lambda: pyramid(6),
    "heads": lambda: heads(14),
    "circle": lambda: circle(60),
    "tangle": lambda: tangle(400),
    "chain": lambda: circle(2),
    "wordy": wordy,
}
