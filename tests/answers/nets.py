"""Nets whose valid sizes are known: small ones of the kinds that people ask about."""

from math import prod

from tests.support.ir import Net, Ref


class Sized(Net):
    """A net with the layers of a vision model; every tensor has one channel unless something is joined."""

    def weights_of(self, *shape: int) -> Ref:
        """A Const of zeros."""
        values = [0.0] * prod(shape)
        offset = len(self.weights)
        self.weights += bytes(4 * len(values))
        return self.layer("Const", [], ["FP32"], element_type="f32", shape=", ".join(map(str, shape)), offset=offset, size=4 * len(values))[
            0
        ]

    def conv(self, data: Ref, kernel: int, stride: int = 1, pad: int = 0, *, channels: int = 1) -> Ref:
        """A square convolution to one channel."""
        window = {"strides": [stride] * 2, "dilations": [1, 1], "pads_begin": [pad] * 2, "pads_end": [pad] * 2}
        return self.layer("Convolution", [data, self.weights_of(1, channels, kernel, kernel)], ["FP32"], auto_pad="explicit", **window)[0]

    def pool(self, data: Ref, kernel: int, stride: int, rounding: str = "floor") -> Ref:
        """A square maximum."""
        window = {"strides": [stride] * 2, "kernel": [kernel] * 2, "pads_begin": [0, 0], "pads_end": [0, 0]}
        return self.layer("MaxPool", [data], ["FP32"], rounding_type=rounding, auto_pad="explicit", **window)[0]

    def upsample(self, data: Ref) -> Ref:
        """Twice the rows and columns, by a transposed convolution."""
        window = {"strides": [2, 2], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
        inputs = [data, self.weights_of(1, 1, 2, 2)]
        return self.layer("ConvolutionBackpropData", inputs, ["FP32"], auto_pad="explicit", output_padding=[0, 0], **window)[0]

    def enlarge(self, data: Ref) -> Ref:
        """Twice the rows and columns, by repeating them."""
        scales, axes = self.const([2.0, 2.0], "f32"), self.const([2, 3])
        how = {"mode": "nearest", "shape_calculation_mode": "scales", "coordinate_transformation_mode": "asymmetric"}
        how |= {"nearest_mode": "floor", "antialias": False, "pads_begin": [0], "pads_end": [0], "cube_coeff": -0.75}
        return self.layer("Interpolate", [data, scales, axes], ["FP32"], "opset11", **how)[0]

    def join(self, *parts: Ref, axis: int = 1) -> Ref:
        """Tensors behind each other."""
        return self.layer("Concat", list(parts), [parts[0].precision], axis=axis)[0]

    def add(self, a: Ref, b: Ref) -> Ref:
        """A sum."""
        return self.layer("Add", [a, b], [a.precision], auto_broadcast="numpy")[0]

    def reshape(self, data: Ref, *pattern: "int | Ref") -> Ref:
        """Another shape; 0 keeps an axis in a pattern of numbers, a Ref is computed."""
        parts = [self.const([one]) if isinstance(one, int) else one for one in pattern]
        return self.layer("Reshape", [data, self.join(*parts, axis=0)], [data.precision], special_zero=0 in pattern)[0]

    def size(self, data: Ref, axis: int) -> Ref:
        """The size of an axis, as a list of one number."""
        whole = self.layer("ShapeOf", [data], ["I64"], "opset3", output_type="i64")[0]
        return self.layer("Gather", [whole, self.const([axis]), self.const(0)], ["I64"], "opset8", batch_dims=0)[0]

    def quotient(self, value: Ref, divisor: int) -> Ref:
        """A computed number divided by another, rounded down."""
        return self.layer("Divide", [value, self.const([divisor])], ["I64"], auto_broadcast="numpy", m_pythondiv=True)[0]


def unet(down: str, depth: int = 5) -> Net:
    """An encoder that halves sizes by `pool`, `stride` or `ceil`, and a decoder that concatenates the encoder's outputs."""
    net = Sized()
    data = net.parameter("f32[?,1,?,?]")
    skips = []
    for _ in range(depth):
        data = net.conv(data, 3, pad=1)
        skips.append(data)
        data = net.conv(data, 3, 2, 1) if down == "stride" else net.pool(data, 2, 2, "ceil" if down == "ceil" else "floor")
    for skip in reversed(skips):
        data = net.conv(net.join(skip, net.upsample(data)), 3, pad=1, channels=2)
    net.result(data)
    return net


def stem() -> Net:
    """Convolutions and poolings without pads, as Inception begins, and a branch that must meet again."""
    net = Sized()
    data = net.conv(net.conv(net.conv(net.parameter("f32[?,1,?,?]"), 3, 2), 3), 3, pad=1)
    data = net.pool(net.conv(net.conv(net.pool(data, 3, 2), 1), 3), 3, 2)
    data = net.join(net.conv(data, 3, 2), net.pool(data, 3, 2))
    data = net.join(net.conv(data, 3, 2, channels=2), net.conv(net.conv(data, 1, channels=2), 3, 2))
    net.result(net.pool(data, 3, 1))
    return net


def head() -> Net:
    """AlexNet: features of 6 by 6 that a matrix of fixed size takes."""
    net = Sized()
    data = net.pool(net.conv(net.parameter("f32[?,1,?,?]"), 11, 4, 2), 3, 2)
    data = net.pool(net.conv(data, 5, 1, 2), 3, 2)
    data = net.pool(net.conv(data, 3, 1, 1), 3, 2)
    flat = net.reshape(data, 0, -1)
    net.result(net.layer("MatMul", [flat, net.weights_of(36, 10)], ["FP32"], transpose_a=False, transpose_b=False)[0])
    return net


def windows(patch: int = 4, side: int = 7) -> Net:
    """Patches in windows, as Swin has them."""
    net = Sized()
    data = net.conv(net.parameter("f32[1,1,?,?]"), patch, patch)
    rows, columns = (net.quotient(net.size(data, axis), side) for axis in (2, 3))
    net.result(net.reshape(data, 1, 1, rows, side, columns, side))
    return net


def blocks() -> Net:
    """A transformer of 48 positions that gathers its tokens in blocks of 4, across sequences."""
    net = Sized()
    ids, mask = net.parameter("i64[?,?]"), net.parameter("f32[?,?]")
    tokens = net.layer("Gather", [net.weights_of(10, 8), ids, net.const(0)], ["FP32"], "opset8", batch_dims=0)[0]
    length = net.size(ids, 1)
    places = net.layer("Slice", [net.weights_of(48, 8), net.const([0]), length, net.const([1]), net.const([0])], ["FP32"], "opset8")[0]
    tokens = net.add(tokens, places)
    heads = net.layer("Transpose", [net.reshape(tokens, 0, 0, 2, 4), net.const([0, 2, 1, 3])], ["FP32"])[0]
    scores = net.layer("MatMul", [heads, heads], ["FP32"], transpose_a=False, transpose_b=True)[0]
    scores = net.add(scores, net.layer("Unsqueeze", [mask, net.const([1, 2])], ["FP32"])[0])
    net.result(net.layer("Softmax", [scores], ["FP32"], "opset8", axis=-1)[0])
    net.result(net.reshape(tokens, -1, 4, 8))
    return net


def pyramid() -> Net:
    """A detector: levels that are added to the one above them, enlarged, and boxes of all levels, of which the best are chosen."""
    net = Sized()
    data = net.conv(net.conv(net.parameter("f32[1,1,?,?]"), 7, 2, 3), 3, 2, 1)
    levels = [data]
    for _ in range(3):
        levels.append(net.conv(levels[-1], 3, 2, 1))
    merged = [levels[-1]]
    for level in reversed(levels[:-1]):
        merged.append(net.add(net.conv(level, 1), net.enlarge(merged[-1])))
    boxes = [net.reshape(net.join(level, level, level, level), 1, 4, -1) for level in merged]
    boxes_of_all = net.layer("Transpose", [net.join(*boxes, axis=2), net.const([0, 2, 1])], ["FP32"])[0]
    scores = net.join(*[net.reshape(level, 1, 1, -1) for level in merged], axis=2)
    limits = [net.const(100), net.const(0.5, "f32"), net.const(0.1, "f32")]
    attributes = {"box_encoding": "center", "sort_result_descending": True, "output_type": "i64"}
    chosen = net.layer("NonMaxSuppression", [boxes_of_all, scores, *limits], ["I64", "FP32", "I64"], "opset9", **attributes)
    net.result(chosen[0])
    return net
