"""Small files that ask for much work, and what it takes: `python -m tests.fuzz.work FOLDER` runs every command on each of them.

A file here is below 100 kB. Whatever is asked of it, a command must answer within `SECONDS` of CPU time and `MEGABYTES` of memory, and
print less than `CHARACTERS`.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests.support.ir import Net, Ref

SECONDS: Final = 5.0
MEGABYTES: Final = 500
CHARACTERS: Final = 5_000_000
HUGE: Final = 2**62

MAKERS: Final[dict[str, Callable[[], Net | tuple[Net, Net]]]] = {}


def attack(make: Callable[[], Net | tuple[Net, Net]]) -> Callable[[], Net | tuple[Net, Net]]:
    MAKERS[make.__name__] = make
    return make


def sizes_of(net: Net, data: Ref) -> Ref:
    """The sizes of a tensor as elements of another."""
    return net.layer("ShapeOf", [data], ["I64"], "opset3", output_type="i64")[0]


def element(net: Net, data: Ref, index: int) -> Ref:
    """One element, in a tensor of one element."""
    return net.layer("Gather", [data, net.const([index]), net.const(0)], ["I64"], "opset8")[0]


def binary(net: Net, type: str, a: Ref, b: Ref) -> Ref:
    return net.layer(type, [a, b], [a.precision])[0]


def made(net: Net, shape: Ref) -> Ref:
    """A tensor of a shape that elements say."""
    return net.layer("Broadcast", [net.const(1.0, "f32"), shape], ["FP32"], "opset3", mode="numpy")[0]


def open_shape(rank: int, one: str = "?", element_type: str = "f32") -> str:
    return f"{element_type}[{','.join([one] * rank)}]"


def reshape(net: Net, data: Ref, shape: Ref) -> Ref:
    return net.layer("Reshape", [data, shape], [data.precision], special_zero=False)[0]


def repeated(type: str, rounds: int, shape: str = "f32[1..9]", by: int | None = None, **kinds: Any) -> Net:
    """A size that is combined with itself, or with a number, again and again."""
    net = Net()
    size = element(net, sizes_of(net, net.parameter(shape)), 0)
    other = None if by is None else net.const([by])
    for _ in range(rounds):
        size = binary(net, type, size, size if other is None else other)
    net.result(made(net, size))
    return net


# Numbers that grow.


@attack
def squarings() -> Net:
    return repeated("Multiply", 28)


@attack
def squarings_of_any_size() -> Net:
    return repeated("Multiply", 120, "f32[?]")


@attack
def multiplications() -> Net:
    return repeated("Multiply", 170, by=HUGE)


@attack
def multiplications_of_negative() -> Net:
    net = Net()
    size = binary(net, "Subtract", element(net, sizes_of(net, net.parameter("f32[1..9]")), 0), net.const([5]))
    for _ in range(28):
        size = binary(net, "Multiply", size, size)
    net.result(made(net, size))
    return net


@attack
def powers() -> Net:
    return repeated("Power", 60, by=8)


@attack
def powers_of_itself() -> Net:
    return repeated("Power", 40)


@attack
def doublings() -> Net:
    return repeated("Add", 170)


@attack
def real_powers() -> Net:
    net = Net()
    size = net.layer("Convert", [element(net, sizes_of(net, net.parameter("f32[2..9]")), 0)], ["FP32"], destination_type="f32")[0]
    for _ in range(40):
        size = binary(net, "Power", size, size)
    net.result(made(net, net.layer("Convert", [size], ["I64"], destination_type="i64")[0]))
    return net


@attack
def squared_differences() -> Net:
    net = Net()
    size = element(net, sizes_of(net, net.parameter("f32[1..9]")), 0)
    for _ in range(40):
        size = binary(net, "SquaredDifference", size, net.const([1]))
    net.result(made(net, size))
    return net


@attack
def tiles() -> Net:
    net = Net()
    data = net.parameter("f32[1..9]")
    for _ in range(100):
        data = net.layer("Tile", [data, net.const([HUGE])], ["FP32"])[0]
    net.result(data)
    return net


@attack
def reductions() -> Net:
    """The product of a thousand sizes, times itself."""
    net = Net()
    sizes = sizes_of(net, net.parameter(open_shape(1000, "1..9")))
    size = net.layer("ReduceProd", [sizes, net.const([0])], ["I64"], keep_dims=True)[0]
    for _ in range(30):
        size = binary(net, "Multiply", size, size)
    net.result(made(net, size))
    return net


@attack
def rounds_of_arithmetic() -> Net:
    """Sixty rounds of arithmetic on 1,024 elements that are followed."""
    net = Net()
    a = sizes_of(net, net.parameter(open_shape(1024)))
    b = sizes_of(net, net.parameter(open_shape(1024, "1..9")))
    for round in range(60):
        a, b = binary(net, "Add" if round % 2 else "Multiply", a, b), a
    net.result(made(net, a))
    return net


@attack
def rounds_of_mixed_arithmetic() -> Net:
    net = Net()
    a = sizes_of(net, net.parameter(open_shape(1000)))
    b = sizes_of(net, net.parameter(open_shape(1000, "1..9")))
    for type in ("Add", "Multiply", "Subtract", "Maximum", "FloorMod", "Divide", "Minimum", "Mod", "SquaredDifference") * 8:
        a, b = binary(net, type, a, b), a
    net.result(made(net, a))
    return net


# Shapes of many open sizes.


@attack
def adds_of_ten_thousand() -> Net:
    net = Net()
    data = net.parameter(open_shape(10_000))
    for _ in range(100):
        data = binary(net, "Add", data, data)
    net.result(data)
    return net


@attack
def adds_of_two_of_ten_thousand() -> Net:
    net = Net()
    a, b = (net.parameter(open_shape(10_000)) for _ in range(2))
    for _ in range(100):
        a, b = binary(net, "Add", a, b), a
    net.result(a)
    return net


@attack
def adds_of_250() -> Net:
    net = Net()
    net.result(binary(net, "Add", *(net.parameter(open_shape(250)) for _ in range(2))))
    return net


@attack
def many_operations_of_ten_thousand() -> Net:
    """A rank of ten thousand, padded, transposed, sliced and reshaped."""
    net = Net()
    data = net.parameter(open_shape(5_000))
    for _ in range(40):
        data = net.layer("ReLU", [data], ["FP32"])[0]
        data = net.layer("Transpose", [data, net.const([])], ["FP32"])[0]
    net.result(reshape(net, data, net.const([-1])))
    return net


@attack
def concat_of_a_thousand() -> Net:
    """A size that is the sum of a thousand."""
    net = Net()
    sizes = sizes_of(net, net.parameter(open_shape(1000)))
    parts = [made(net, sizes)]
    parts += [net.layer("Concat", [parts[0]] * 500, ["FP32"], axis=0)[0]]
    net.result(parts[-1])
    return net


@attack
def concat_of_sizes() -> Net:
    """A shape that a Concat of a thousand open sizes says."""
    net = Net()
    size = sizes_of(net, net.parameter("f32[?]"))
    net.result(made(net, net.layer("Concat", [size] * 900, ["I64"], axis=0)[0]))
    return net


@attack
def concat_of_open_inputs() -> Net:
    net = Net()
    net.result(net.layer("Concat", [net.parameter("f32[?]") for _ in range(300)], ["FP32"], axis=0)[0])
    return net


@attack
def split_of_open_sizes() -> Net:
    net = Net()
    data = net.parameter(open_shape(300))
    for ref in net.layer("Split", [data, net.const(0)], ["FP32"] * 300, num_splits=300):
        net.result(ref)
    return net


@attack
def sizes_that_depend() -> Net:
    """A thousand sizes, each of which depends on a thousand."""
    net = Net()
    sizes = sizes_of(net, net.parameter(open_shape(1000)))
    total = net.layer("ReduceSum", [sizes, net.const([0])], ["I64"], keep_dims=True)[0]
    net.result(made(net, binary(net, "Add", sizes, total)))
    return net


@attack
def sizes_that_depend_on_unknown() -> Net:
    net = Net()
    sizes = sizes_of(net, net.parameter(open_shape(1000)))
    total = net.layer("CumSum", [sizes, net.const(0)], ["I64"], "opset3")[0]
    data = made(net, binary(net, "Multiply", sizes, total))
    for _ in range(100):
        data = net.layer("ReLU", [data], ["FP32"])[0]
    net.result(data)
    return net


@attack
def chain_of_inputs() -> Net:
    """A sum of many inputs."""
    net = Net()
    data = net.parameter("f32[?]")
    for _ in range(170):
        data = net.layer("Concat", [data, net.parameter("f32[?]")], ["FP32"], axis=0)[0]
    net.result(data)
    return net


@attack
def chain_of_broadcasts() -> Net:
    net = Net()
    data = net.parameter("f32[?,?]")
    for _ in range(170):
        data = binary(net, "Add", data, net.parameter("f32[?,?]"))
    net.result(data)
    return net


# Conditions.


def primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % one for one in found):
            found.append(number)
        number += 1
    return found


@attack
def prime_divisors() -> Net:
    net = Net()
    data = net.parameter("f32[?]")
    for prime in primes(120):
        net.result(reshape(net, data, net.const([-1, prime])))
    return net


@attack
def large_periods() -> Net:
    net = Net()
    data = net.parameter("f32[?,?,?]")
    for prime in (262_139, 262_133, 262_127, 262_121):
        shape = sizes_of(net, data)
        for axis in range(3):
            size = binary(net, "FloorMod", element(net, shape, axis), net.const([prime]))
            net.result(reshape(net, made(net, size), net.const([-1, 7])))
    return net


@attack
def one_large_period() -> Net:
    net = Net()
    data = net.parameter("f32[?]")
    size = binary(net, "FloorMod", element(net, sizes_of(net, data), 0), net.const([262_139]))
    for prime in primes(60):
        net.result(reshape(net, made(net, size), net.const([-1, prime])))
    return net


@attack
def sizes_that_are_tried() -> Net:
    """Sizes that no formula decides, so that each of two thousand is tried."""
    net = Net()
    data = net.parameter("f32[1..2000]")
    size = element(net, sizes_of(net, data), 0)
    for _ in range(10):
        size = binary(net, "BitwiseXor", size, net.const([5]))
        net.layers[-1] = net.layers[-1].replace("opset1", "opset13")
    for prime in primes(30):
        net.result(reshape(net, made(net, size), net.const([-1, prime])))
    return net


@attack
def relations_of_many() -> Net:
    """Products of three sizes that must be equal."""
    net = Net()
    inputs = [net.parameter("f32[?,?,?]") for _ in range(20)]
    for a in inputs[:10]:
        for b in inputs[10:]:
            shape = sizes_of(net, b)
            net.result(reshape(net, a, shape))
    return net


@attack
def nested_minima() -> Net:
    net = Net()
    shape = sizes_of(net, net.parameter(open_shape(12)))
    size = element(net, shape, 0)
    for round in range(100):
        size = binary(net, ("Minimum", "Add", "Maximum", "Divide")[round % 4], size, element(net, shape, round % 12))
    net.result(made(net, size))
    net.result(reshape(net, made(net, size), net.const([-1, 7])))
    return net


# Reshapes that stand in the way.


@attack
def constant_of_rank_ten_thousand() -> Net:
    net = Net()
    net.result(binary(net, "Add", net.parameter(open_shape(9_000, "1")), constant(net, 9_000)))
    return net


def constant(net: Net, rank: int) -> Ref:
    """A constant of one element of a high rank."""
    net.const(1.0, "f32")
    net.layers[-1] = net.layers[-1].replace('shape=""', f'shape="{",".join(["1"] * rank)}"')
    return Ref(len(net.layers) - 1, 0, "FP32")


@attack
def constant_of_sizes() -> Net:
    net = Net()
    data = net.parameter(open_shape(5_000, "2"))
    net.result(reshape(net, data, net.const([2] * 5_000)))
    return net


@attack
def pinned_reshapes() -> Net:
    net = Net()
    data = net.parameter("f32[2,3]")
    for _ in range(200):
        data = net.layer("ReLU", [reshape(net, data, net.const([2, 3]))], ["FP32"])[0]
    net.result(data)
    return net


@attack
def pinned_reshapes_beside() -> Net:
    net = Net()
    data = net.parameter("f32[2,3]")
    for _ in range(200):
        net.result(reshape(net, data, net.const([3, 2])))
    return net


# Two files.


def pair(make: Callable[[Net, bool], None]) -> tuple[Net, Net]:
    a, b = Net(), Net()
    make(a, False)
    make(b, True)
    return a, b


@attack
def nested_concats() -> tuple[Net, Net]:
    def make(net: Net, is_after: bool) -> None:
        data = first = net.parameter("f32[1,2]")
        for _ in range(12 if is_after else 0):
            data = net.layer("Concat", [data] * 6, ["FP32"], axis=0)[0]
        net.result(net.layer("ReLU", [first if not is_after else data], ["FP32"])[0])

    return pair(make)


@attack
def nested_concats_replaced() -> tuple[Net, Net]:
    def make(net: Net, is_after: bool) -> None:
        data = net.parameter("f32[1,2]")
        for depth in range(12):
            data = net.layer("Concat", [data] * (6 + is_after), ["FP32"], axis=0)[0]
            net.layers[-1] = net.layers[-1].replace('name="', f'name="{"b" if is_after else "a"}{depth}')
        net.result(net.layer("ReLU", [data], ["FP32"])[0])

    return pair(make)


@attack
def shared_constants() -> tuple[Net, Net]:
    def make(net: Net, is_after: bool) -> None:
        net.weights += bytes([is_after]) * 4_000_000
        for _ in range(200):
            net.result(net.layer("Const", [], ["U8"], element_type="u8", shape="4000000", offset=0, size=4_000_000)[0])

    return pair(make)


@attack
def unnamed_layers() -> tuple[Net, Net]:
    def make(net: Net, is_after: bool) -> None:
        data = net.parameter("f32[1,2]")
        for index in range(300):
            data = net.layer("ReLU", [data], ["FP32"])[0]
            net.layers[-1] = re.sub('name="[^"]*"', f'name="{"x" if is_after else "y"}{index}"', net.layers[-1])
        net.result(data)

    return pair(make)


@attack
def other_open_sizes() -> tuple[Net, Net]:
    def make(net: Net, is_after: bool) -> None:
        sizes = sizes_of(net, net.parameter(open_shape(1000)))
        total = net.layer("ReduceSum", [sizes, net.const([0])], ["I64"], keep_dims=True)[0]
        size = binary(net, "Add", total, sizes) if is_after else binary(net, "Add", sizes, total)
        net.result(made(net, size))

    return pair(make)


# Numbers of thousands of digits and infinite ends where arithmetic could raise.


@attack
def slices_of_huge_ends() -> Net:
    net = Net()
    size = element(net, sizes_of(net, net.parameter("f32[2..9]")), 0)
    for _ in range(16):
        size = binary(net, "Multiply", size, size)
    data = net.parameter("f32[1..1000]")
    net.result(net.layer("Slice", [data, net.const([0]), size, net.const([1]), net.const([0])], ["FP32"], "opset8")[0])
    net.result(net.layer("Tile", [data, size], ["FP32"])[0])
    real = net.layer("Convert", [size], ["FP32"], destination_type="f32")[0]
    net.result(made(net, net.layer("Convert", [binary(net, "Add", real, real)], ["I64"], destination_type="i64")[0]))
    for type in ("Sqrt", "Floor", "Sigmoid", "Negative", "Abs", "Sign"):
        net.result(made(net, net.layer("Convert", [net.layer(type, [real], ["FP32"])[0]], ["I64"], destination_type="i64")[0]))
    net.result(made(net, binary(net, "Power", size, size)))
    net.result(made(net, binary(net, "Divide", net.const([7]), size)))
    return net


@attack
def exact_floors() -> Net:
    """Floors whose numerators are floors, each of which turns out to be exact."""
    net = Net()
    size = binary(net, "Multiply", element(net, sizes_of(net, net.parameter("f32[?]")), 0), net.const([2**40]))
    for _ in range(150):
        size = binary(net, "Multiply", binary(net, "Divide", size, net.const([3])), net.const([3]))
    net.result(made(net, size))
    return net


@attack
def broadcasts_of_33_inputs() -> Net:
    net = Net()
    data = net.parameter("f32[?]")
    for _ in range(33):
        data = binary(net, "Add", data, net.parameter("f32[?]"))
    net.result(data)
    return net


@attack
def factors_beyond_int64() -> Net:
    net = Net()
    size = element(net, sizes_of(net, net.parameter("f32[?]")), 0)
    for _ in range(2):
        size = binary(net, "Multiply", size, net.const([HUGE]))
    net.result(reshape(net, made(net, binary(net, "Divide", size, net.const([HUGE]))), net.const([-1, 3])))
    other = binary(net, "FloorMod", size, net.const([2**61 - 1]))
    net.result(reshape(net, made(net, other), net.const([-1, 3])))
    return net


# Equations between many sizes, and entries of the file itself.


def joined(net: Net, tensors: list[Ref], axis: int) -> Ref:
    return net.layer("Concat", tensors, ["FP32"], axis=axis)[0]


@attack
def equations_of_sums() -> Net:
    net = Net()
    inputs = [net.parameter("f32[?,?]") for _ in range(60)]
    for i in range(68):
        rows = joined(net, [inputs[(i * k + k) % 60] for k in (1, 7, 11, 13, 17)], 0)
        net.result(joined(net, [rows, inputs[(3 * i + 5) % 60]], 1))
    return net


@attack
def equations_of_products() -> Net:
    net = Net()
    inputs = [net.parameter("f32[?,?]") for _ in range(40)]
    for i in range(30):
        flat = [net.layer("Reshape", [inputs[(i * k + k) % 40], net.const([-1])], ["FP32"], special_zero=False)[0] for k in (1, 7)]
        net.result(joined(net, [net.layer("Unsqueeze", [one, net.const([1])], ["FP32"])[0] for one in flat], 1))
    return net


@attack
def equations_of_windows() -> Net:
    net = Net()
    inputs = [net.parameter("f32[1,1,?]") for _ in range(40)]
    for i in range(80):
        attributes = {"strides": i % 7 + 2, "pads_begin": 0, "pads_end": 0, "kernel": i % 11 + 1, "rounding_type": "floor"}
        (pooled,) = net.layer("MaxPool", [inputs[i % 40]], ["FP32"], **attributes)
        net.result(joined(net, [pooled, inputs[(7 * i + 3) % 40]], 1))
    return net


@attack
def equations_of_remainders() -> Net:
    net = Net()
    (first, second) = (net.parameter("f32[?,?]") for _ in range(2))
    for prime in primes(36):
        for one in (first, second):
            net.result(reshape(net, joined(net, [one, one, one], 1), net.const([-1, prime])))
    return net


@attack
def equations_of_counts() -> Net:
    net = Net()
    found = [net.layer("NonZero", [net.parameter("f32[?,?]")], ["I64"], "opset3", output_type="i64")[0] for _ in range(60)]
    for i in range(120):
        pair = [found[i % 60], found[(7 * i + 1) % 60]]
        net.result(net.layer("Concat", pair, ["I64"], axis=0)[0])
    return net


@attack
def indices_that_reach() -> Net:
    net = Net()
    inputs = [net.parameter("f32[?,?,?]") for _ in range(10)]
    for i in range(90):
        net.result(net.layer("Gather", [inputs[i % 10], net.const([i, -i - 1]), net.const(i % 3)], ["FP32"], "opset8")[0])
    return net


@attack
def codes_to_ignore() -> Net:
    net = Net()
    data = net.parameter("f32[?]")
    for _ in range(100):
        data = net.layer("ReLU", [data], ["FP32"], surplus=1)[0]
    net.result(data)
    entry = f'<rt_info><irshape ignore="{",".join(["R104"] * 100)}"/></rt_info>'
    net.layers = [text.replace("</layer>", f"{entry}</layer>") if "ReLU" in text else text for text in net.layers]
    return net


@attack
def faults_of_many_layers() -> Net:
    net = Net()
    data = net.parameter("f32[?,3]")
    for i in range(125):
        net.result(net.layer("Concat", [data, net.parameter(f"f32[{i},4]")], ["FP32"], axis=0)[0])
    return net


# Files of one kind of thing, as much of it as fits.


@attack
def two_inputs_of_ten_thousand() -> Net:
    """Two shapes that no equation ties together."""
    net = Net()
    for _ in range(2):
        net.result(net.layer("ReLU", [net.parameter(open_shape(10_000))], ["FP32"])[0])
    return net


@attack
def intervals_of_rank_six_thousand() -> Net:
    net = Net()
    data = net.parameter(open_shape(6_000, "1..9"))
    net.result(net.layer("Softmax", [data], ["FP32"], axis=1)[0])
    return net


@attack
def chain_of_layers() -> Net:
    net = Net()
    data = net.parameter("f32[?,?,?,?]")
    for _ in range(250):
        data = net.layer("ReLU", [data], ["FP32"])[0]
    net.result(data)
    return net


@attack
def chain_that_grows() -> Net:
    """Each layer has a size of its own."""
    net = Net()
    data = net.parameter("f32[?,?]")
    for _ in range(160):
        data = joined(net, [data, data, data], 1)
    net.result(data)
    return net


@attack
def chain_of_windows() -> Net:
    net = Net()
    data = net.parameter("f32[?,3,?,?]")
    for i in range(150):
        attributes = {"strides": "1,2", "pads_begin": "1,1", "pads_end": f"1,{i % 3}", "kernel": "3,2", "rounding_type": "floor"}
        data = net.layer("MaxPool", [data], ["FP32"], **attributes)[0]
    net.result(data)
    return net


@attack
def chain_of_products() -> Net:
    net = Net()
    data = net.parameter("f32[?,?]")
    for _ in range(150):
        data = net.layer("MatMul", [data, data], ["FP32"], transpose_b=True)[0]
    net.result(data)
    return net


@attack
def chain_whose_tensors_all_live() -> Net:
    """Each of the tensors is read by the last layer."""
    net = Net()
    tensors = [net.parameter("f32[?,?]")]
    for i in range(150):
        pads = [net.layer("Concat", [tensors[-1], net.parameter(f"f32[?,{i + 1}]")], ["FP32"], axis=1)[0]]
        tensors += pads
    net.result(joined(net, tensors, 1))
    return net


@attack
def ladder_of_sums() -> Net:
    net = Net()
    a, b = net.parameter("f32[?,?]"), net.parameter("f32[?,?]")
    for _ in range(110):
        a, b = joined(net, [a, b], 0), joined(net, [b, a], 1)
    net.result(a)
    net.result(b)
    return net


@attack
def many_ports() -> Net:
    """Layers of a thousand ports."""
    net = Net()
    data = net.parameter("f32[?,?]")
    for _ in range(2):
        parts = net.layer("Split", [data, net.const(0)], ["FP32"] * 350, num_splits=350)
        data = joined(net, parts, 1)
    net.result(data)
    return net


@attack
def many_inputs_and_outputs() -> Net:
    net = Net()
    for i in range(190):
        net.result(net.parameter(("f32[?,?]", "f32[1..9,?]", "f32[?,3,?]")[i % 3]))
    return net


@attack
def many_symbols() -> Net:
    net = Net()
    data = net.parameter(open_shape(40))
    for i in range(60):
        other = net.parameter(open_shape(40))
        data = binary(net, ("Add", "Multiply")[i % 2], data, other)
    net.result(data)
    return net


@attack
def products_of_many_symbols() -> Net:
    net = Net()
    for i in range(40):
        data = reshape(net, net.parameter(open_shape(30)), net.const([-1, i % 7 + 2]))
        net.result(net.layer("MatMul", [data, data], ["FP32"], transpose_a=True)[0])
    return net


@attack
def periods_of_windows() -> Net:
    net = Net()
    for i, prime in enumerate(primes(60)):
        attributes = {"strides": f"{prime},{i + 2}", "pads_begin": "0,0", "pads_end": "0,0", "kernel": "3,3", "rounding_type": "ceil"}
        (pooled,) = net.layer("MaxPool", [net.parameter("f32[1,3,?,?]")], ["FP32"], **attributes)
        net.result(reshape(net, pooled, net.const([-1, prime + 1])))
    return net


@attack
def periods_of_one_input() -> Net:
    net = Net()
    data = net.parameter("f32[1,3,?,?]")
    for i, prime in enumerate(primes(70)):
        attributes = {"strides": f"{prime},{i + 2}", "pads_begin": "0,0", "pads_end": "0,0", "kernel": "3,3", "rounding_type": "floor"}
        net.result(net.layer("MaxPool", [data], ["FP32"], **attributes)[0])
    return net


@attack
def convolutions_of_many_symbols() -> Net:
    net = Net()
    for _ in range(60):
        data, filters = net.parameter("f32[?,?,?,?]"), net.parameter("f32[?,?,?,?]")
        attributes = {"strides": "2,3", "pads_begin": "1,1", "pads_end": "1,1", "dilations": "1,2", "auto_pad": "explicit"}
        net.result(net.layer("Convolution", [data, filters], ["FP32"], **attributes)[0])
    return net


@attack
def transposes_of_a_thousand() -> Net:
    net = Net()
    data = net.parameter(open_shape(1_000))
    for i in range(12):
        order = list(range(1_000))
        data = net.layer("Transpose", [data, net.const(order[i:] + order[:i])], ["FP32"])[0]
    net.result(data)
    return net


@attack
def einsum_of_many() -> Net:
    net = Net()
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    inputs = [net.parameter("f32[?,?,?]") for _ in range(50)]
    equation = ",".join(letters[i : i + 3] for i in range(50)) + "->" + letters[::7]
    net.result(net.layer("Einsum", inputs, ["FP32"], "opset7", equation=equation)[0])
    return net


@attack
def equal_names() -> tuple[Net, Net]:
    """A graph without names that differ: its layers are matched by what stands around them."""

    def make(net: Net, is_after: bool) -> None:
        data = net.parameter("f32[?,?]")
        for i in range(200):
            data = net.layer(("ReLU", "Abs", "Sigmoid")[(i + is_after) % 3], [data], ["FP32"])[0]
            net.layers[-1] = re.sub('name="[^"]*"', 'name="x"', net.layers[-1])
        net.result(data)

    return pair(make)


@attack
def inputs_of_rank_twenty() -> Net:
    """Sizes of 170 inputs that broadcast along twenty axes."""
    net = Net()
    data = net.parameter(open_shape(20))
    for _ in range(169):
        data = binary(net, "Add", data, net.parameter(open_shape(20)))
    net.result(data)
    return net


@attack
def inputs_of_rank_eight_again() -> Net:
    net = Net()
    inputs = [net.parameter(open_shape(8)) for _ in range(40)]
    data = inputs[0]
    for i in range(220):
        data = binary(net, "Add", data, inputs[i % 40])
    net.result(data)
    return net


@attack
def inputs_of_rank_sixty() -> Net:
    """Sizes of 70 inputs that broadcast along sixty axes."""
    net = Net()
    data = net.parameter(open_shape(60))
    for _ in range(69):
        data = binary(net, "Add", data, net.parameter(open_shape(60)))
    net.result(data)
    return net


@attack
def adds_of_rank_eight() -> Net:
    """One input of rank eight, added to itself in as many layers as 100 kB hold."""
    net = Net()
    first = data = net.parameter(open_shape(8))
    for _ in range(170):
        data = binary(net, "Add", data, first)
    net.result(data)
    return net


@attack
def chain_of_formulas() -> Net:
    """Thirty sizes, each a formula of the two before it, and each the size of an output."""
    net = Net()
    data = net.parameter("f32[?,?]")
    sizes = [element(net, sizes_of(net, data), axis) for axis in range(2)]
    for i in range(30):
        one = binary(net, ("Add", "Multiply", "Divide")[i % 3], sizes[-1], sizes[-2])
        sizes.append(binary(net, ("Maximum", "Minimum")[i % 2], one, sizes[-1]))
        net.result(made(net, sizes[-1]))
    return net


@attack
def roots_of_many_layers() -> Net:
    """Thirty sizes that only data decide, joined again and again, so that each layer has all of them as roots."""
    net = Net()
    found = []
    for _ in range(30):
        (places,) = net.layer("NonZero", [net.parameter("f32[?]")], ["I64"], "opset3", output_type="i64")
        found.append(element(net, sizes_of(net, places), 1))
    size = found[0]
    for i in range(60):
        size = binary(net, "Add", size, found[i % 30])
        if i % 3 == 0:
            net.result(made(net, size))
    return net


@attack
def bounds_of_many_symbols() -> Net:
    """Outputs whose bounds depend on many inputs, each tied to the next one by a layer."""
    net = Net()
    inputs = [net.parameter("f32[?,?,?]") for _ in range(60)]
    for one, other in pairwise(inputs):
        net.result(net.layer("Concat", [one, other], ["FP32"], axis=1)[0])
    return net


# Permissions bind a process of root, too, that may not override them (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH; PR_CAPBSET_DROP is 24).
RUNNER: Final = """
import ctypes, os, resource, sys
pid = os.fork()
if not pid:
    for capability in (1, 2) if os.geteuid() == 0 else ():
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024, os.waitstatus_to_exitcode(status), file=sys.stderr)
"""


# The drawings of a model and of an inference, whole and around a layer.
DRAWING: Final = """
import irshape, sys
path, last = sys.argv[1:]
for drawn in (irshape.read(path), irshape.infer(path)):
    for around in (None, last):
        print(drawn.to_dot(around), drawn.to_mermaid(around), drawn._repr_html_())
"""


def commands(net: Net, path: str, other: str, changed: str | None) -> Iterator[list[str]]:
    """What is asked of a file: every command, about its last layers."""
    reports = [f"--report={form}={path}.{form}" for form in ("json", "jsonl", "sarif", "junit", "github", "gitlab")]
    yield ["check", path, "--target", "bounded", "--target", "static-shapes", "--target", "ranked"]
    yield ["check", path, "--write-baseline", path + ".baseline"]
    yield ["check", path, "--baseline", path + ".baseline", "--select", "ALL", *reports]
    yield ["check", path, "--diff"]
    yield ["infer", path, "-o", path + ".out", "--force"]
    yield ["infer", path, "--format", "json"]
    yield ["info", path, "--all"]
    yield ["signature", path, "--all", "--why"]
    yield ["sizes", path]
    last = len(net.layers) - 2
    yield ["explain", path, str(last)]
    if changed is not None:
        yield ["reshape", path, "--input", changed, "-o", path + ".out", "--force"]
        yield ["signature", path, "--input", changed]
    yield ["diff", path, other, "--all"]
    yield ["cost", path, "--all", "--views", "--in-place"]
    yield ["cost", path, "--format", "json"]
    yield ["view", path, "-o", path + ".html", "--force"]
    yield ["view", path, other, "-o", path + ".html", "--force"]
    yield ["edit", path, "--bypass", str(last), "--prune", "-o", path + ".edited.xml", "--force"]
    yield ["extract", path, "--around", str(last), "--distance", "3", "-o", path + ".part.xml", "--force"]
    yield ["draw", path, str(last)]


def changed(net: Net) -> str | None:
    """Another shape for the first input; None if there is no input."""
    texts = [text for text in net.layers if 'type="Parameter"' in text]
    if not texts:
        return None
    name, shape = (re.findall(f' {key}="([^"]*)"', texts[0])[0] for key in ("name", "shape"))
    if "?" in shape or ".." in shape:
        return f"{name}[{shape.replace('?', '7').replace('1..9', '8')}]"
    return f"{name}[{shape.replace('2', '5').replace('1', '4')}]"


def measure(arguments: list[str], seconds: float) -> tuple[float, int, int, int, str]:
    """CPU seconds, peak megabytes, exit code, characters of output, and a line of the output that tells of a crash."""
    program = ["-c", DRAWING, *arguments[1:]] if arguments[0] == "draw" else ["-m", "irshape", *arguments]
    done = subprocess.run([sys.executable, "-c", RUNNER, str(int(seconds)), *program], capture_output=True, text=True, check=False)
    *rest, line = done.stderr.strip().splitlines()
    used, megabytes, code = line.split()
    said = done.stdout + "\n".join(rest)
    lines = [one for one in said.splitlines() if ": I101 " in one or "internal error" in one or "Error: " in one]
    return float(used), int(megabytes), int(code), len(said), lines[0] if lines else ""


def main() -> int:
    """Measure every command on every file; 1 if one takes too much."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.work", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=20, help="CPU seconds after which a command is stopped")
    parser.add_argument("--verb", action="append")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    is_bad = False
    for name, make in MAKERS.items():
        if given.names and name not in given.names:
            continue
        both = make()
        net, other = both if isinstance(both, tuple) else (both, both)
        paths = [given.folder / f"{name}{suffix}.xml" for suffix in ("", ".other")]
        for path, one in zip(paths, (net, other), strict=True):
            path.write_text(one.xml)
            path.with_suffix(".bin").write_bytes(one.bin)
        print(f"{name}: {len(net.xml) // 1000} kB", flush=True)
        for command in commands(net, str(paths[0]), str(paths[1]), changed(net)):
            if given.verb and command[0] not in given.verb:
                continue
            used, megabytes, code, characters, line = measure(command, given.seconds)
            # What `infer` prints are the facts, and what is drawn are the layers: as many as the file asks for.
            is_long = characters > CHARACTERS and command[0] not in ("infer", "draw")
            is_over = used > SECONDS or megabytes > MEGABYTES or code < 0 or is_long or bool(line)
            is_bad |= is_over
            if is_over or used > 2:
                print(
                    f"  {'!' if is_over else ' '} {command[0]:9} {used:6.2f} s {megabytes:5} MB  exit {code} {characters:9} {line[:200]}",
                    flush=True,
                )
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
