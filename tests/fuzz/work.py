"""Small files that ask for much work, and what it takes: `python -m tests.fuzz.work FOLDER` runs every command on each of them.

A file here is below 100 kB. Whatever is asked of it, a command must answer within `SECONDS` of CPU time of a usual machine and `MEGABYTES`
of memory, and print less than `CHARACTERS`.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from time import process_time
from typing import Final

from tests.inference.test_bodies import JOINED, SAME, branched, doubled, inside, longer, transposed
from tests.support.ir import Net, Ref

SECONDS: Final = 5.0
# The CPU seconds in which a usual machine adds two million numbers.
_USUAL: Final = 0.08
MEGABYTES: Final = 500
CHARACTERS: Final = 5_000_000
HUGE: Final = 2**62
LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def slowness() -> float:
    """How many times slower than a usual machine this one is; 1 if it is faster."""

    def adds() -> float:
        begin, total = process_time(), 0
        for number in range(2_000_000):
            total += number
        return process_time() - begin

    return max(1.0, min(adds() for _ in range(3)) / _USUAL)


def primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % one for one in found):
            found.append(number)
        number += 1
    return found


# Parts of texts in the notation of tests/support/ir.py.

SIZES: Final = " -> ShapeOf-3(output_type=i64)"
TENSOR: Final = " -> Broadcast-3(f32=1.0, _, mode=numpy)"
MADE: Final = f"{TENSOR} -> Result"
TO_REAL, TO_WHOLE = " -> Convert(destination_type=f32)", " -> Convert(destination_type=i64)"


def shape(rank: int, one: str = "?") -> str:
    """An input with equal axes."""
    return f"f32[{','.join([one] * rank)}]"


def size(data: str, axis: int = 0) -> str:
    """One size of a tensor, in a tensor of one element."""
    return f"{data}{SIZES} -> Gather-8([{axis}], 0)"


def called(name: str, text: str) -> str:
    """A text whose last layer has a name in the text."""
    before, arrow, layer = text.rpartition(" -> ")
    return f"{before}{arrow}{name}: {layer}"


def lines(several: Iterable[str]) -> str:
    """Texts, each on a line of its own."""
    return "".join(f"\n{one}" for one in several)


def reshaped(data: str, sizes: str) -> str:
    return f"{data} -> Reshape({sizes}, special_zero=false) -> Result"


def inputs(count: int, one: str) -> str:
    """Inputs with the names _0, _1, ..."""
    return lines(f"_{i}: {one}" for i in range(count))


def rounds(types: Iterable[str]) -> str:
    """Operations on the last two tensors, of which the first are _1 and _0."""
    return lines(f"_{i + 2}: {type}(_{i + 1}, _{i})" for i, type in enumerate(types))


def pool(strides: str, kernel: str = "3,3", pads: str = "0,0", end: str = "0,0", rounding: str = "floor") -> str:
    window = f'strides="{strides}", pads_begin="{pads}", pads_end="{end}", kernel="{kernel}"'
    return f" -> MaxPool({window}, rounding_type={rounding})"


def joined(tensors: Iterable[str], axis: int = 0) -> str:
    return f"{', '.join(tensors)} -> Concat(axis={axis})"


SIZE, ANY_SIZE = size("f32[1..9]"), size("f32[?]")
THOUSAND: Final = f"{shape(1000)}{SIZES}"
TOTAL: Final = called("_s", THOUSAND) + "\n_t: ReduceSum(_s, [0], keep_dims=true)\n"
MIXED: Final = ("Add", "Multiply", "Subtract", "Maximum", "FloorMod", "Divide", "Minimum", "Mod", "SquaredDifference")
UNARY: Final = ("Sqrt", "Floor", "Sigmoid", "Negative", "Abs", "Sign")
WINDOWS: Final = 'strides="2,3", pads_begin="1,1", pads_end="1,1", dilations="1,2", auto_pad=explicit'

# The texts of nets by their names; a pair is two files to compare.
NETS: Final[dict[str, str | tuple[str, str]]] = {
    # Numbers that grow.
    "squarings": SIZE + " -> Multiply(_, _)" * 28 + MADE,
    "squarings_of_any_size": ANY_SIZE + " -> Multiply(_, _)" * 120 + MADE,
    "multiplications": f"_n: [{HUGE}]\n{SIZE}" + " -> Multiply(_n)" * 170 + MADE,
    "multiplications_of_negative": SIZE + " -> Subtract([5])" + " -> Multiply(_, _)" * 28 + MADE,
    "powers": f"_n: [8]\n{SIZE}" + " -> Power(_n)" * 60 + MADE,
    "powers_of_itself": SIZE + " -> Power(_, _)" * 40 + MADE,
    "doublings": SIZE + " -> Add(_, _)" * 170 + MADE,
    "real_powers": size("f32[2..9]") + TO_REAL + " -> Power(_, _)" * 40 + TO_WHOLE + MADE,
    "squared_differences": SIZE + " -> SquaredDifference([1])" * 40 + MADE,
    "tiles": "f32[1..9]" + f" -> Tile([{HUGE}])" * 100 + " -> Result",
    # The product of a thousand sizes, times itself.
    "reductions": f"{shape(1000, '1..9')}{SIZES} -> ReduceProd([0], keep_dims=true)" + " -> Multiply(_, _)" * 30 + MADE,
    # Sixty rounds of arithmetic on 1,024 elements that are followed.
    "rounds_of_arithmetic": called("_1", shape(1024) + SIZES) + "\n" + called("_0", shape(1024, "1..9") + SIZES)
    + rounds(("Multiply", "Add") * 30) + MADE,
    "rounds_of_mixed_arithmetic": called("_1", THOUSAND) + "\n" + called("_0", shape(1000, "1..9") + SIZES) + rounds(MIXED * 8) + MADE,
    # Shapes of many open sizes.
    "adds_of_ten_thousand": shape(10_000) + " -> Add(_, _)" * 100 + " -> Result",
    "adds_of_two_of_ten_thousand": inputs(2, shape(10_000)) + rounds(["Add"] * 100) + " -> Result",
    "adds_of_250": f"{shape(250)}, {shape(250)} -> Add -> Result",
    "transposes_of_five_thousand": reshaped(shape(5_000) + " -> ReLU -> Transpose([])" * 40, "[-1]"),
    # A size that is the sum of a thousand.
    "concat_of_a_thousand": called("_x", THOUSAND + TENSOR) + "\n" + joined(["_x"] * 500) + " -> Result",
    # A shape that a Concat of a thousand open sizes says.
    "concat_of_sizes": called("_s", f"f32[?]{SIZES}") + "\n" + joined(["_s"] * 900) + MADE,
    "concat_of_open_inputs": joined(["f32[?]"] * 300) + " -> Result",
    "split_of_open_sizes": f"{shape(300)} -> _x: Split(0, num_splits=300){' f32' * 300}" + lines(f"_x.{i} -> Result" for i in range(300)),
    # A thousand sizes, each of which depends on a thousand.
    "sizes_that_depend": TOTAL + "Add(_s, _t)" + MADE,
    "sizes_that_depend_on_unknown": called("_s", THOUSAND) + f"\nMultiply(_s, CumSum-3(_s, 0)){TENSOR}" + " -> ReLU" * 100 + " -> Result",
    "chain_of_inputs": "f32[?]" + " -> Concat(f32[?], axis=0)" * 170 + " -> Result",
    "chain_of_broadcasts": "f32[?,?]" + " -> Add(f32[?,?])" * 170 + " -> Result",
    # Conditions.
    "prime_divisors": "_x: f32[?]" + lines(reshaped("_x", f"[-1,{prime}]") for prime in primes(120)),
    "large_periods": "_x: f32[?,?,?]" + lines(
        reshaped(f"{size('_x', axis)} -> FloorMod([{prime}]){TENSOR}", "[-1,7]")
        for prime in (262_139, 262_133, 262_127, 262_121) for axis in range(3)
    ),
    "one_large_period": called("_s", ANY_SIZE + " -> FloorMod([262139])")
    + lines(reshaped(f"_s{TENSOR}", f"[-1,{prime}]") for prime in primes(60)),
    # Sizes that no formula decides, so that each of two thousand is tried.
    "sizes_that_are_tried": called("_s", size("f32[1..2000]") + " -> BitwiseXor-13([5])" * 10)
    + lines(reshaped(f"_s{TENSOR}", f"[-1,{prime}]") for prime in primes(30)),
    # Products of three sizes that must be equal.
    "relations_of_many": inputs(20, "f32[?,?,?]")
    + lines(reshaped(f"_{a}", f"ShapeOf-3(_{b}, output_type=i64)") for a in range(10) for b in range(10, 20)),
    "nested_minima": called("_s", shape(12) + SIZES) + "\n_n: Gather-8(_s, [0], 0)"
    + lines(f"_n: {('Minimum', 'Add', 'Maximum', 'Divide')[i % 4]}(_n, Gather-8(_s, [{i % 12}], 0))" for i in range(100))
    + f"\n_n{MADE}\n" + reshaped(f"_n{TENSOR}", "[-1,7]"),
    # Reshapes that stand in the way.
    "constant_of_rank_nine_thousand": f"{shape(9_000, '1')} -> Add(f32=1.0[{','.join(['1'] * 9_000)}]) -> Result",
    "constant_of_sizes": reshaped(shape(5_000, "2"), f"[{','.join(['2'] * 5_000)}]"),
    "pinned_reshapes": "f32[2,3]" + " -> Reshape([2,3], special_zero=false) -> ReLU" * 200 + " -> Result",
    "pinned_reshapes_beside": "_x: f32[2,3]" + lines([reshaped("_x", "[3,2]")] * 200),
    # Two files.
    "nested_concats": ("f32[1,2] -> ReLU -> Result", "f32[1,2]" + " -> Concat(_, _, _, _, _, _, axis=0)" * 12 + " -> ReLU -> Result"),
    "nested_concats_replaced": (
        "f32[1,2]" + "".join(f" -> a{i}: Concat(_, _, _, _, _, _, axis=0)" for i in range(12)) + " -> ReLU -> Result",
        "f32[1,2]" + "".join(f" -> b{i}: Concat(_, _, _, _, _, _, _, axis=0)" for i in range(12)) + " -> ReLU -> Result",
    ),
    "shared_constants": ("Const(element_type=u8, shape=4000000, offset=0, size=4000000) u8 -> Result\n" * 200,) * 2,
    "unnamed_layers": (
        "f32[1,2]" + "".join(f" -> y{i}: ReLU" for i in range(300)) + " -> Result",
        "f32[1,2]" + "".join(f" -> x{i}: ReLU" for i in range(300)) + " -> Result",
    ),
    "other_open_sizes": (TOTAL + "Add(_s, _t)" + MADE, TOTAL + "Add(_t, _s)" + MADE),
    # Numbers of thousands of digits and infinite ends where arithmetic could raise.
    "slices_of_huge_ends": called("_s", size("f32[2..9]") + " -> Multiply(_, _)" * 16) + "\n" + called("_r", f"_s{TO_REAL}")
    + "\n_x: f32[1..1000] -> Slice-8([0], _s, [1], [0]) -> Result\nTile(_x, _s) -> Result"
    + lines(f"{one}{TO_WHOLE}{MADE}" for one in ("Add(_r, _r)", *(f"{type}(_r)" for type in UNARY)))
    + f"\nPower(_s, _s){MADE}\nDivide([7], _s){MADE}",
    # Floors whose numerators are floors, each of which turns out to be exact.
    "exact_floors": f"{ANY_SIZE} -> Multiply([{2**40}])" + " -> Divide([3]) -> Multiply([3])" * 150 + MADE,
    "broadcasts_of_33_inputs": "f32[?]" + " -> Add(f32[?])" * 33 + " -> Result",
    "factors_beyond_int64": called("_s", ANY_SIZE + f" -> Multiply([{HUGE}])" * 2)
    + lines(reshaped(f"_s -> {one}{TENSOR}", "[-1,3]") for one in (f"Divide([{HUGE}])", f"FloorMod([{2**61 - 1}])")),
    # Equations between many sizes, and entries of the file itself.
    "equations_of_sums": inputs(60, "f32[?,?]") + lines(
        joined(f"_{(i * k + k) % 60}" for k in (1, 7, 11, 13, 17)) + f" -> Concat(_{(3 * i + 5) % 60}, axis=1) -> Result" for i in range(68)
    ),
    "equations_of_products": inputs(40, "f32[?,?]") + lines(
        joined([f"Unsqueeze(Reshape(_{(i * k + k) % 40}, [-1], special_zero=false), [1])" for k in (1, 7)], 1) + " -> Result"
        for i in range(30)
    ),
    "equations_of_windows": inputs(40, "f32[1,1,?]") + lines(
        f"_{i % 40}{pool(str(i % 7 + 2), str(i % 11 + 1), '0', '0')} -> Concat(_{(7 * i + 3) % 40}, axis=1) -> Result" for i in range(80)
    ),
    "equations_of_remainders": inputs(2, "f32[?,?]")
    + lines(reshaped(joined([one] * 3, 1), f"[-1,{prime}]") for prime in primes(36) for one in ("_0", "_1")),
    "equations_of_counts": lines(f"f32[?,?] -> _{i}: NonZero-3(output_type=i64)" for i in range(60))
    + lines(joined([f"_{i % 60}", f"_{(7 * i + 1) % 60}"]) + " -> Result" for i in range(120)),
    "indices_that_reach": inputs(10, "f32[?,?,?]")
    + lines(f"_{i % 10} -> Gather-8([{i},{-i - 1}], {i % 3}) -> Result" for i in range(90)),
    "codes_to_ignore": "f32[?]" + " -> ReLU(surplus=1)" * 100 + " -> Result",
    "faults_of_many_layers": "_x: f32[?,3]" + lines(joined(["_x", f"f32[{i},4]"]) + " -> Result" for i in range(125)),
    # Files of one kind of thing, as much of it as fits. First two shapes that no equation ties together.
    "two_inputs_of_ten_thousand": lines([f"{shape(10_000)} -> ReLU -> Result"] * 2),
    # Three thousand symbols that no condition ties together.
    "reshape_of_three_thousand": f"{shape(3_000)} -> Reshape([{'0,' * 2_999}-1], special_zero=true) -> Unsqueeze([0]) -> Result",
    "intervals_of_rank_six_thousand": f"{shape(6_000, '1..9')} -> Softmax(axis=1) -> Result",
    "chain_of_layers": "f32[?,?,?,?]" + " -> ReLU" * 250 + " -> Result",
    # Each layer has a size of its own.
    "chain_that_grows": "f32[?,?]" + " -> Concat(_, _, _, axis=1)" * 160 + " -> Result",
    "chain_of_windows": "f32[?,3,?,?]" + "".join(pool("1,2", "3,2", "1,1", f"1,{i % 3}") for i in range(150)) + " -> Result",
    "chain_of_products": "f32[?,?]" + " -> MatMul(_, _, transpose_b=true)" * 150 + " -> Result",
    # Each of the tensors is read by the last layer.
    "chain_whose_tensors_all_live": "_0: f32[?,?]" + lines(f"_{i + 1}: Concat(_{i}, f32[?,{i + 1}], axis=1)" for i in range(150))
    + "\n" + joined([f"_{i}" for i in range(151)], 1) + " -> Result",
    "ladder_of_sums": "_a: f32[?,?]\n_b: f32[?,?]" + "\n_c: Concat(_a, _b, axis=0)\n_b: Concat(_b, _a, axis=1)\n_a: _c" * 110
    + "\n_a -> Result\n_b -> Result",
    # Layers of hundreds of ports.
    "many_ports": "_x: f32[?,?]" + lines(
        [f"_y: Split(_x, 0, num_splits=350){' f32' * 350}\n" + called("_x", joined([f"_y.{i}" for i in range(350)], 1))] * 2
    ) + " -> Result",
    "many_inputs_and_outputs": lines(f"{('f32[?,?]', 'f32[1..9,?]', 'f32[?,3,?]')[i % 3]} -> Result" for i in range(190)),
    "many_symbols": shape(40) + f" -> Add({shape(40)}) -> Multiply({shape(40)})" * 30 + " -> Result",
    "products_of_many_symbols": lines(
        f"{shape(30)} -> Reshape([-1,{i % 7 + 2}], special_zero=false) -> MatMul(_, _, transpose_a=true) -> Result" for i in range(40)
    ),
    "periods_of_windows": lines(
        reshaped(f"f32[1,3,?,?]{pool(f'{prime},{i + 2}', rounding='ceil')}", f"[-1,{prime + 1}]") for i, prime in enumerate(primes(60))
    ),
    "periods_of_one_input": "_x: f32[1,3,?,?]" + lines(f"_x{pool(f'{prime},{i + 2}')} -> Result" for i, prime in enumerate(primes(70))),
    "convolutions_of_many_symbols": f"f32[?,?,?,?], f32[?,?,?,?] -> Convolution({WINDOWS}) -> Result\n" * 60,
    "transposes_of_a_thousand": shape(1_000)
    + "".join(f" -> Transpose([{','.join(map(str, (*range(i, 1_000), *range(i))))}])" for i in range(12)) + " -> Result",
    "einsum_of_many": ", ".join(["f32[?,?,?]"] * 50)
    + f' -> Einsum-7(equation="{",".join(LETTERS[i : i + 3] for i in range(50))}->{LETTERS[::7]}") -> Result',
    # A graph without names that differ: its layers are matched by what stands around them.
    "equal_names": (
        "f32[?,?]" + "".join(f" -> x: {('ReLU', 'Abs', 'Sigmoid')[i % 3]}" for i in range(200)) + " -> Result",
        "f32[?,?]" + "".join(f" -> x: {('ReLU', 'Abs', 'Sigmoid')[(i + 1) % 3]}" for i in range(200)) + " -> Result",
    ),
    # Sizes of 170 inputs that broadcast along twenty axes.
    "inputs_of_rank_twenty": shape(20) + f" -> Add({shape(20)})" * 169 + " -> Result",
    "inputs_of_rank_eight_again": inputs(40, shape(8)) + "\n_0" + "".join(f" -> Add(_{i % 40})" for i in range(220)) + " -> Result",
    "inputs_of_rank_sixty": shape(60) + f" -> Add({shape(60)})" * 69 + " -> Result",
    "adds_of_rank_eight": f"_x: {shape(8)}" + " -> Add(_x)" * 170 + " -> Result",
    # Thirty sizes, each a formula of the two before it, and each the size of an output.
    "chain_of_formulas": f"_x: f32[?,?]\n_0: {size('_x', 0)}\n_1: {size('_x', 1)}"
    + lines(
        f"_{i + 2}: {('Maximum', 'Minimum')[i % 2]}({MIXED[i % 3]}(_{i + 1}, _{i}), _{i + 1}){MADE}" for i in range(30)
    ),
    # Thirty sizes that only data decide, joined again and again.
    "roots_of_many_layers": lines(f"f32[?] -> NonZero-3(output_type=i64) -> _{i}: ReLU" for i in range(30)) + "\n_s: _0"
    + lines(f"_s: Concat(_s, _{i % 30}, axis=1)" for i in range(60)) + "\n_s -> Result",
    # Values that are known, in long chains; shapes of open sizes made again from them.
    "chain_of_known_values": "_x: f32[4,5,6]\n_s: ShapeOf-3(_x, output_type=i64)\n_n: Gather-8(_s, [0], 0)"
    + lines(f"_n: {('Add', 'Multiply', 'FloorMod', 'Maximum')[i % 4]}(_n, [{i % 7 + 2}])" for i in range(170)) + MADE,
    "chain_of_shapes": "_x: f32[4,5,6]" + lines(
        "_s: ShapeOf-3(_x, output_type=i64)\n_n: Gather-8(_s, [0], 0)\n_m: Gather-8(_s, [1,2], 0)\n_t: Concat(_n, _m, axis=0)\n"
        "_x: Reshape(_x, _t, special_zero=false)" for _ in range(35)
    ) + "\n_x -> Result",
    "chain_of_open_shapes": "_x: f32[?,?,6]" + lines(
        "_s: ShapeOf-3(_x, output_type=i64)\n_n: Gather-8(_s, [1], 0)\n_m: Gather-8(_s, [0,2], 0)\n_t: Concat(_n, _m, axis=0)\n"
        "_x: Reshape(_x, _t, special_zero=false)" for _ in range(35)
    ) + "\n_x -> Result",
    "chain_of_shapes_that_grow": "_x: f32[?,?]" + lines(
        f"_s: ShapeOf-3(_x, output_type=i64)\n_n: Add(Gather-8(_s, [{i % 2}], 0), Gather-8(_s, [{1 - i % 2}], 0))\n"
        f"_x: Broadcast-3(f32=1.0, Concat(_n, Gather-8(_s, [1], 0), axis=0), mode=numpy)" for i in range(23)
    ) + "\n_x -> Result",
    "chain_of_known_elements": "_n: Gather-8([1,2,3,4,5,6,7,8], [0,1,2,3,4,5,6,7], 0)"
    + lines(f"_n: {('Concat(_n, _n, axis=0)', 'Slice-8(_n, [0], [8], [1], [0])')[i % 2]}" for i in range(105)) + MADE,
    # Very many of a kind.
    "unknown_types": "f32[?,?]" + "".join(f" -> Conv{i}olutiom" for i in range(300)) + " -> Result",
    "split_of_a_thousand": f"f32[?,?] -> _x: Split(1, num_splits=1000){' f32' * 1000}"
    + lines(f"_x.{7 * i} -> ReLU -> Result" for i in range(80)),
    "halves_of_halves": "_x: f32[?,?]" + lines(
        f"_x -> _y{i}: Split(0, num_splits=2) f32 f32\n_x: Concat(_y{i}.1, _y{i}.0, axis=1)" for i in range(76)
    ) + "\n_x -> Result",
    "blocks_of_blocks": "f32[?,?,?,?]"
    + " -> SpaceToDepth(block_size=3, mode=blocks_first) -> DepthToSpace(block_size=2, mode=blocks_first)" * 60 + " -> Result",
    "splits_of_splits": f"f32[?,?] -> _x: Split(1, num_splits=250){' f32' * 250}"
    + lines(f"_x.{i} -> _y{i}: Split(0, num_splits=30){' f32' * 30}\n_y{i}.{i % 30} -> Result" for i in range(45)),
    "sixty_axes_that_split": "_x: f32[?,?]" + lines(
        f"_x -> _y{i}: VariadicSplit(i64=1, [{','.join(['1'] * 40)},-1]){' f32' * 41}\n_y{i}.40 -> Result" for i in range(40)
    ),
    "many_results": "_x: f32[?,?]" + lines(["_x -> Result"] * 450),
    "broadcasts_of_each_with_each": inputs(19, "f32[?,?]") + lines(f"Add(_{a}, _{b}) -> Result" for a in range(19) for b in range(a)),
    "broadcasts_of_one_with_many": "_x: f32[?,?,?]" + lines(f"Add(_x, f32[{'?,' * (i % 3)}?]) -> Result" for i in range(130)),
    "concats_of_each_with_each": inputs(18, "f32[?,?,?]")
    + lines(f"Concat(_{a}, _{b}, axis={(a + b) % 3}) -> Result" for a in range(18) for b in range(a)),
    # Outputs whose bounds depend on many inputs, each tied to the next one by a layer.
    "bounds_of_many_symbols": inputs(60, "f32[?,?,?]") + lines(joined([f"_{i}", f"_{i + 1}"], 1) + " -> Result" for i in range(59)),
}  # fmt: skip


def nested(depth: int, hold: Callable[[Net, Ref, Net], Ref], innermost: Net, fact: str = "f32[?,?]") -> Net:
    """A net whose one layer holds a body, whose one layer holds a body, and so on."""
    body = innermost
    for _ in range(depth):
        body = inside(lambda net, value, body=body: hold(net, value, body))  # type: ignore[misc]
    net = Net()
    net.result(hold(net, net.parameter(fact), body))
    return net


def in_if(net: Net, value: Ref, body: Net) -> Ref:
    return branched(net, [net.parameter("boolean[]") if len(net.layers) < 2 else net.const(True, "boolean"), value], body, SAME)


def in_both(net: Net, value: Ref, body: Net) -> Ref:
    return branched(net, [net.const(True, "boolean"), value], body, body)


def in_loop(net: Net, value: Ref, body: Net) -> Ref:
    body = deepcopy(body)
    body.add("boolean=true -> go: Result")
    return net.holder("Loop-5(5, boolean=true, _) f32", "2 > _x; result_1 > 3; go > -1; result_1 > _x", value, body=body)[0]


def in_iterator(net: Net, value: Ref, body: Net) -> Ref:
    return net.holder("TensorIterator", f"0 > _x {JOINED}; result_1 > 1 {JOINED}", value, body=body)[0]


# Nets with bodies inside bodies.
BUILT: Final[dict[str, Callable[[], Net]]] = {
    "nested_ifs": lambda: nested(50, in_if, SAME),
    "nested_ifs_of_both": lambda: nested(4, in_both, longer),
    "nested_loops": lambda: nested(50, in_loop, SAME),
    "nested_loops_that_grow": lambda: nested(50, in_loop, doubled),
    "nested_loops_that_turn": lambda: nested(50, in_loop, transposed(1, 0), "f32[2,3]"),
    "nested_iterators": lambda: nested(63, in_iterator, SAME),
    "nested_iterators_that_grow": lambda: nested(63, in_iterator, doubled),
    "bodies_nested_too_deep": lambda: nested(100, in_iterator, SAME),
}


def nets(name: str) -> tuple[Net, Net]:
    """The net of a name, and the one that it is compared with: itself, where there is no other."""
    if name in BUILT:
        return (BUILT[name](),) * 2
    texts = NETS[name]
    both = (Net(texts),) * 2 if isinstance(texts, str) else (Net(texts[0]), Net(texts[1]))
    for number, net in enumerate(both):
        if name == "shared_constants":
            net.weights += bytes([number]) * 4_000_000
        elif name == "codes_to_ignore":
            entry = f'<rt_info><irshape ignore="{",".join(["R104"] * 100)}"/></rt_info>'
            net.layers = [text.replace("</layer>", f"{entry}</layer>") if "ReLU" in text and not number else text for text in net.layers]
    return both


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
    yield ["summary", path]
    yield ["simplify", path, "--dry-run"]
    yield ["scan", path, "-o", path + ".jsonl", "--force", "--jobs", "1", "--cost"]
    if changed is not None:
        yield ["reshape", path, "--input", changed, "-o", path + ".out", "--force"]
        yield ["reshape", path, "--input", re.sub(r"\d+(?=[],])", "N", changed, count=1), "-o", path + ".out", "--force"]
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
    for name in given.names or [*NETS, *BUILT]:
        net, other = nets(name)
        paths = [given.folder / f"{name}{suffix}.xml" for suffix in ("", ".other")]
        for path, one in zip(paths, (net, other), strict=True):
            one.save(path)
        print(f"{name}: {len(net.xml) // 1000} kB", flush=True)
        for command in commands(net, str(paths[0]), str(paths[1]), changed(net)):
            if given.verb and command[0] not in given.verb:
                continue
            used, megabytes, code, characters, line = measure(command, given.seconds)
            # What `infer` prints are the facts, and what is drawn are the layers: as many as the file asks for.
            is_long = characters > CHARACTERS and command[0] not in ("infer", "draw")
            is_over = used > SECONDS * slowness() or megabytes > MEGABYTES or code < 0 or is_long or bool(line)
            is_bad |= is_over
            if is_over or used > 2:
                print(
                    f"  {'!' if is_over else ' '} {command[0]:9} {used:6.2f} s {megabytes:5} MB  exit {code} {characters:9} {line[:200]}",
                    flush=True,
                )
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
