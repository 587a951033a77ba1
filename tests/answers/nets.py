"""Nets whose valid sizes are known, of the kinds that people ask about. A tensor has one channel unless something is joined."""

from tests.support.ir import Net

# The rows and columns of an image twice: by a transposed convolution, and by repeating them.
UPSAMPLE = (
    'ConvolutionBackpropData(f32=0[1,1,2,2], strides="2,2", dilations="1,1", pads_begin="0,0", pads_end="0,0", auto_pad=explicit,'
    ' output_padding="0,0")'
)
ENLARGE = (
    "Interpolate-11(f32=[2.0,2.0], [2,3], mode=nearest, shape_calculation_mode=scales, coordinate_transformation_mode=asymmetric,"
    " nearest_mode=floor, antialias=false, pads_begin=0, pads_end=0, cube_coeff=-0.75)"
)


def conv(kernel: int, stride: int = 1, pad: int = 0, *, channels: int = 1) -> str:
    """A square convolution to one channel."""
    window = f'strides="{stride},{stride}", dilations="1,1", pads_begin="{pad},{pad}", pads_end="{pad},{pad}"'
    return f"Convolution(f32=0[1,{channels},{kernel},{kernel}], {window}, auto_pad=explicit)"


def pool(kernel: int, stride: int, rounding: str = "floor") -> str:
    """A square maximum."""
    window = f'strides="{stride},{stride}", kernel="{kernel},{kernel}", pads_begin="0,0", pads_end="0,0"'
    return f"MaxPool({window}, rounding_type={rounding}, auto_pad=explicit)"


def size(axis: int, name: str = "_size") -> str:
    """The size of an axis, as a list of one number, and its name in the text."""
    return f"ShapeOf-3(output_type=i64) -> {name}: Gather-8([{axis}], 0, batch_dims=0)"


def reshape(*pattern: object) -> str:
    """Another shape; 0 keeps an axis."""
    return f"Reshape([{','.join(map(str, pattern))}], special_zero={str(0 in pattern).lower()})"


def unet(down: str, depth: int = 5) -> Net:
    """An encoder that halves sizes by `pool`, `stride` or `ceil`, and a decoder that concatenates the encoder's outputs."""
    halved = conv(3, 2, 1) if down == "stride" else pool(2, 2, "ceil" if down == "ceil" else "floor")
    net = Net("f32[?,1,?,?]" + "".join(f" -> _skip{i}: {conv(3, pad=1)} -> _data: {halved}" for i in range(depth)))
    for i in reversed(range(depth)):
        net.add(f"_data -> _up: {UPSAMPLE}\n_skip{i}, _up -> Concat(axis=1) -> _data: {conv(3, pad=1, channels=2)}")
    net.add("_data -> Result")
    return net


def stem() -> Net:
    """Convolutions and poolings without pads, as Inception begins, and a branch that must meet again."""
    return Net(
        f"f32[?,1,?,?] -> {conv(3, 2)} -> {conv(3)} -> {conv(3, pad=1)} -> {pool(3, 2)} -> {conv(1)} -> {conv(3)} -> _a: {pool(3, 2)}\n"
        f"_a -> _left: {conv(3, 2)}\n_a -> _right: {pool(3, 2)}\n_left, _right -> _b: Concat(axis=1)\n"
        f"_b -> _left: {conv(3, 2, channels=2)}\n_b -> {conv(1, channels=2)} -> _right: {conv(3, 2)}\n"
        f"_left, _right -> Concat(axis=1) -> {pool(3, 1)} -> Result"
    )


def head() -> Net:
    """AlexNet: features of 6 by 6 that a matrix of fixed size takes."""
    features = [conv(11, 4, 2), pool(3, 2), conv(5, 1, 2), pool(3, 2), conv(3, 1, 1), pool(3, 2)]
    return Net(f"f32[?,1,?,?] -> {' -> '.join(features)} -> {reshape(0, -1)} -> MatMul(f32=0[36,10]) -> Result")


def windows(patch: int = 4, side: int = 7) -> Net:
    """Patches in windows, as Swin has them."""
    counts = "".join(f"_x -> {size(axis)} -> _{axis}: Divide([{side}], m_pythondiv=true)\n" for axis in (2, 3))
    pattern = f"Concat([1], [1], _2, [{side}], _3, [{side}], axis=0)"
    return Net(f"f32[1,1,?,?] -> _x: {conv(patch, patch)}\n{counts}_x -> Reshape({pattern}, special_zero=false) -> Result")


def blocks() -> Net:
    """A transformer of 48 positions that gathers its tokens in blocks of 4, across sequences."""
    return Net(
        f"_ids: i64[?,?]\n_mask: f32[?,?]\n_ids -> {size(1)}\n"
        "Gather-8(f32=0[10,8], _ids, 0, batch_dims=0) -> _tokens: Add(Slice-8(f32=0[48,8], [0], _size, [1], [0]))\n"
        f"_tokens -> {reshape(0, 0, 2, 4)} -> _heads: Transpose([0,2,1,3])\n"
        "MatMul(_heads, _heads, transpose_b=true) -> Add(Unsqueeze(_mask, [1,2])) -> Softmax-8(axis=-1) -> Result\n"
        f"_tokens -> {reshape(-1, 4, 8)} -> Result"
    )


def pyramid() -> Net:
    """A detector: levels that are added to the one above them, enlarged, and boxes of all levels, of which the best are chosen."""
    down = "".join(f" -> _{i}: {conv(3, 2, 1)}" for i in range(4))
    up = "".join(f"\n_m{i + 1} -> _up: {ENLARGE}\n_{i} -> {conv(1)} -> _m{i}: Add(_up)" for i in (2, 1, 0))
    boxes = ", ".join(f"Reshape(Concat(_m{i}, _m{i}, _m{i}, _m{i}, axis=1), [1,4,-1], special_zero=false)" for i in (3, 2, 1, 0))
    scores = ", ".join(f"Reshape(_m{i}, [1,1,-1], special_zero=false)" for i in (3, 2, 1, 0))
    return Net(
        f"f32[1,1,?,?] -> {conv(7, 2, 3)}{down}\n_m3: _3{up}\nConcat({boxes}, axis=2) -> _boxes: Transpose([0,2,1])\n"
        f"_boxes, Concat({scores}, axis=2), 100, f32=0.5, f32=0.1 -> _best: NonMaxSuppression-9(box_encoding=center,"
        " sort_result_descending=true, output_type=i64) i64 f32 i64\n_best -> Result"
    )
