"""The first line of a report names what was edited, and says which change makes peace, also for edits that are drawn by a seed."""

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import irshape
from benchmarks.causes import canonical, is_about, listed
from benchmarks.edits import KINDS, Edit, Source, edits
from irshape.diagnosis import linking
from irshape.diagnosis.fixes import mended_file
from irshape.report.diagnostic import causes
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS
from tests.support.places import IRS

STEM = "x: f32[1,3,32,32] -> c: Convolution(_, f32=0[8,3,3,3], strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1])"
SECOND = "d: Convolution(_, f32=0[8,8,3,3], strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1])"
TRANSPOSED = "x: f32[1,8,4] -> Transpose([0,2,1]) -> ReLU -> Result"
PADDED = """x: f32[9,4]
y: f32[6,4]
x -> ShapeOf-3(output_type=i64) -> gx: Gather([0], 0)
y -> ShapeOf-3(output_type=i64) -> gy: Gather([0], 0)
gx, gy -> s: Subtract
s -> Multiply([0]) -> b: Concat(_, [0], axis=0)
s -> Convert(destination_type=i64) -> Convert(destination_type=i64) -> e: Concat(_, [0], axis=0)
y, b, e -> p: Pad(pad_mode=constant) -> Result"""
SHARED = """x: f32[1,8,4]
y: f32[1,8,4]
z: f32[1,8,4]
x -> Transpose([0,2,1]) -> Result
y -> Transpose([0,2,1]) -> Result
z -> Transpose([0,2,1]) -> Result"""
BRANCHES = """x: f32[1,4,8]
x -> a: ReLU -> Reshape([0,-1], special_zero=true) -> Result
x -> b: Transpose([0,2,1]) -> Sigmoid -> Result"""
MASKED = "x: f32[2,8]\nm: f32[8,2]\nx, m -> MatMul(transpose_a=false, transpose_b=false) -> Softmax-8(axis=1) -> Result"
STATE = """f32=0[1,4] -> s: ReadValue-6(variable_id=past.key, variable_type=f32, variable_shape=[1,4])
x: f32[1,4]
s, x -> Add -> t: ReLU -> Assign-6(variable_id=past.key)
t -> Result"""


def element(old: int, new: int) -> Callable[[bytes], bytes]:
    """The first element of the weights with one number becomes another one."""

    def edit(weights: bytes) -> bytes:
        assert struct.pack("<q", old) in weights
        return weights.replace(struct.pack("<q", old), struct.pack("<q", new), 1)

    return edit


def sound(net: Net) -> tuple[str, bytes]:
    """The text of a net that records what its model computes, and its weights. Constants of equal bytes share them, as OpenVINO writes."""
    end, starts = 0, dict[bytes, int]()

    def shared(found: re.Match[str]) -> str:
        nonlocal end
        start, size = int(found[1]), int(found[2])
        start = starts.setdefault(net.bin[start : start + size], start)
        end = max(end, start + size)
        return f'offset="{start}" size="{size}"'

    text = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    text = re.sub(r'offset="(\d+)" size="(\d+)"', shared, text)
    assert irshape.check(text.encode(), weights=net.bin[:end]).diagnostics == []
    return text, net.bin[:end]


# The net, what is replaced by what (a regular expression) or how the weights change, and the first line.
ROWS = {
    "an element of a constant": (
        TRANSPOSED,
        element(2, 1),
        "V104 input_order must hold each axis in [0, 2] once, got [0, 1, 1]; Const 'const_1' (line 14) holds [0,1,1]; with "
        "[0,2,1] the layer gives [1,4,8], which it records [Transpose transpose_2, port 1]",
    ),
    "a constant that layers share": (
        SHARED,
        element(2, 3),
        "V102 input_order must hold each axis in [0, 2] once, got [0, 3, 1]; Const 'const_3' (line 34) holds [0,3,1]; with "
        "[0,2,1] the layer gives [1,4,8], which it records; this explains 3 layers [Transpose transpose_4, port 1]",
    ),
    "the order of open axes that many layers share": (
        "\n".join(f"x{number}: f32[4,?] -> Transpose([1,0]) -> Result" for number in range(5)),
        lambda weights: weights[8:] + weights[:8],
        "R301 warning: the port records [?,4], but the model computes [4,?]; Const 'const_1' (line 16) holds [0,1]; with "
        "[1,0] the layer gives [?,4], which it records; this explains 5 layers [Transpose transpose_2, port 2]",
    ),
    "an axis, where a list of the same number is left unread": (
        "f32[9,4] -> g: Gather-8(i32[2..5], 1, batch_dims=0) -> Result\ns: Split([7,1], 0, num_splits=2) i64 i64\n"
        "y: f32[7]\ny, s -> Reshape(special_zero=true) -> Result",
        element(1, 0),
        "R301 warning: the port records [9,?], but the model computes [2..5,4]; Const 'const_2' (line 24) holds [0]; with [1] the layer "
        "gives [9,?], which it records [Gather g, port 3]",
    ),
    "the order of a constant": (
        TRANSPOSED,
        ('shape="3"', 'shape="1,3"'),
        "R301 the port records [3], but its attribute shape says [1,3] [Const const_1, port 0]",
    ),
    "the axes of a Const": (
        STEM + " -> Result",
        ('shape="8, 3, 3, 3"(.*?)<dim>8</dim>(\\s*)<dim>3</dim>', r'shape="3,8,3,3"\1<dim>3</dim>\2<dim>8</dim>'),
        "R301 the Const has shape [3,8,3,3], but its reader records [8,3,3,3] [Const const_1]",
    ),
    "an attribute that makes a list of a scalar": (
        "[2,3] -> n: ReduceProd([-1], keep_dims=false) -> Range-4(0, _, 1, output_type=i64) -> Result",
        ('keep_dims="false"', 'keep_dims="true"'),
        "R301 the port records [], but the layer gives [1] for the inputs that it records; with keep_dims='false' the layer gives [], "
        "which it records; it is 'true' [ReduceProd n, port 2]",
    ),
    "an attribute": (
        STEM + " -> Result",
        ('strides="2,2"', 'strides="2,1"'),
        "R301 warning: the port records [1,8,16,16], but the model computes [1,8,16,32]; with strides='2,2' the layer gives "
        "[1,8,16,16], which it records; it is '2,1' [Convolution c, port 2]",
    ),
    "a word": (
        STEM + " -> Result",
        ('pads_begin="1,1" ', 'auto_pad="valid" pads_begin="1,1" '),
        "R301 warning: the port records [1,8,16,16], but the model computes [1,8,15,15]; with auto_pad='explicit' the layer "
        "gives [1,8,16,16], which it records; it is 'valid' [Convolution c, port 2]",
    ),
    "a number of which each other one serves": (
        "a: f32[2,8] -> s: Softmax-8(axis=1) -> Result",
        ('axis="1"', 'axis="9"'),
        "V102 axis must be in [-2, 1], got 9 [Softmax s]",
    ),
    "a number that another layer has": (
        "a: f32[2,8] -> s: Softmax-8(axis=1) -> Softmax-8(axis=0) -> Result",
        ('axis="1"', 'axis="9"'),
        "V102 axis must be in [-2, 1], got 9; with axis='0' the layer gives [2,8], which it records; it is '9' [Softmax s]",
    ),
    "an attribute that other layers tell": (
        f"{STEM} -> {SECOND.replace('d:', '')} -> {SECOND} -> Result",
        ('name="d"(.*?)dilations="1,1"', r'name="d"\1dilations="2,2"'),
        "R301 warning: the port records [1,8,16,16], but the model computes [1,8,14,14]; with dilations='1,1' the layer gives "
        "[1,8,16,16], which it records; it is '2,2' [Convolution d, port 2]",
    ),
    "one of three attributes": (
        "f32[1,3,32,32] -> p: MaxPool(strides=[2,2], pads_begin=[1,1], pads_end=[1,1], kernel=[3,3]) -> Result",
        ('kernel="3,3"', 'kernel="2,2"'),
        "R301 warning: the port records [1,3,16,16], but the model computes [1,3,17,17]; with pads_begin='0,0' or pads_end='0,0' or "
        "kernel='3,3' the layer gives [1,3,16,16], which it records; they are '1,1', '1,1', '2,2' [MaxPool p, port 1]",
    ),
    "axes": (
        "f32[1,8,7,7] -> m: ReduceMean([2,3], keep_dims=true) -> Result",
        element(2, 1),
        "R301 warning: the port records [1,8,1,1], but the model computes [1,1,7,1]; Const 'const_1' (line 15) holds [1,3]; with "
        "[2,3] the layer gives [1,8,1,1], which it records [ReduceMean m, port 2]",
    ),
    "the record of an open size": (
        "x: f32[?,8] -> r: Relu -> s: Relu -> Result",
        ('name="r"(.*?)<output>(.*?)<dim>-1</dim>', r'name="r"\1<output>\2<dim>7</dim>'),
        "R301 warning: the port records [7,8], but the model computes [?,8] [Relu r, port 1]",
    ),
    "a lost attribute": (
        STEM + " -> Result",
        (' strides="2,2"', ""),
        "R301 warning: the port records [1,8,16,16], but the model computes [1,8,32,32]; with strides='2,2' the layer gives "
        "[1,8,16,16], which it records; it is missing [Convolution c, port 2]",
    ),
    "lost pads": (  # pads_begin="2,2" would give the record, too
        'GroupConvolution(f32[1,8,16,16], f32=0[8,1,1,3,3], strides="1,1", dilations="1,1", pads_begin="1,1", pads_end="1,1") -> Result',
        (' pads_end="1,1"', ""),
        "R301 warning: the port records [1,8,16,16], but the model computes [1,8,15,15]; with pads_end='1,1' the layer gives "
        "[1,8,16,16], which it records; it is missing [GroupConvolution groupconvolution_2, port 2]",
    ),
    "a misspelt attribute": (
        MASKED,
        ("transpose_a", "transpos_a"),
        "R104 warning: MatMul has no attribute 'transpos_a'; OpenVINO takes 'false' for 'transpose_a' [MatMul matmul_2]",
    ),
    "a misspelt attribute that a warning misses": (
        "_y: GRUSequence-5(f32[1,1,4], f32[1,1,2], i32[1], f32=0[1,6,4], f32=0[1,6,2], f32=0[1,6], hidden_size=2, direction=forward, "
        'activations="sigmoid,tanh") f32 f32\n'
        "_y.0 -> Result",
        ("hidden_size", "hidden_sise"),
        "R104 warning: GRUSequence has no attribute 'hidden_sise'; OpenVINO takes '0' for 'hidden_size'; with hidden_size='2' the layer "
        "gives [1,1,1,2] and [1,1,2], which it records; it is missing [GRUSequence grusequence_6]",
    ),
    "exchanged inputs": (
        MASKED,
        ('to-layer="2" to-port="0"(.*)to-layer="2" to-port="1"', r'to-layer="2" to-port="1"\1to-layer="2" to-port="0"'),
        "R301 warning: inputs 0 and 1 look exchanged: each port records what the other one takes; 2 ports after it differ for "
        "the same reason [MatMul matmul_2, port 0]",
    ),
    "exchanged inputs far before, with two ways from there": (
        PADDED,
        ('to-layer="10" to-port="0"(.*)to-layer="10" to-port="1"', r'to-layer="10" to-port="1"\1to-layer="10" to-port="0"'),
        "R301 warning: the port records [9,4], but the model computes [3,4]; inputs 0 and 1 of Subtract 's' look exchanged: the "
        "other way round the layer gives [9,4], which it records [Pad p, port 3]",
    ),
    "exchanged inputs before, where a constant may be another one, too": (
        "x: f32[1,8,1,1]\nk: Gather-8([10,8], [1], 0)\nReshape(x, Concat([-1], k, axis=0), special_zero=true) -> Result",
        ('to-layer="6" to-port="0"(.*)to-layer="6" to-port="1"', r'to-layer="6" to-port="1"\1to-layer="6" to-port="0"'),
        "R301 warning: the port records [1,8], but the model computes [8,1]; inputs 0 and 1 of Concat 'concat_6' look exchanged: "
        "the other way round the layer gives [1,8], which it records; or Const 'const_1' (line 15) holds [10,8]; with [10,0] the "
        "layer gives [1,8], which it records [Reshape reshape_7, port 2]",
    ),
    "a moved edge": (
        BRANCHES,
        ('from-layer="1" from-port="1" to-layer="3" to-port="0"', 'from-layer="6" from-port="2" to-layer="3" to-port="0"'),
        "R301 warning: port 0 records [1,4,8], but Transpose 'b', from which its edge starts (line 120), gives FP32 [1,8,4]; should the "
        "edge come from ReLU 'a', which nothing reads? [Reshape reshape_3, port 0]",
    ),
    "a bypassed layer": (
        BRANCHES,
        ('from-layer="6" from-port="2" to-layer="7"', 'from-layer="0" from-port="0" to-layer="7"'),
        "R301 warning: port 0 records [1,8,4], but Parameter 'x', from which its edge starts (line 125), gives FP32 [1,4,8]; should the "
        "edge come from Transpose 'b', which nothing reads? 1 port after it differs for the same reason [Sigmoid sigmoid_7, port "
        "0]",
    ),
    "a lost edge": (
        BRANCHES,
        ('<edge from-layer="6" from-port="2" to-layer="7" to-port="0"/>', ""),
        "G106 no edge leads to input port 0 (data) [Sigmoid sigmoid_7, port 0]",
    ),
    "a Parameter's shape": (
        TRANSPOSED,
        ('shape="1,8,4"', 'shape="1,8,5"'),
        "R301 warning: the port records [1,8,4], but its attribute shape says [1,8,5]; 2 ports after it differ for the same "
        "reason [Parameter x, port 0]",
    ),
    "a Parameter's shape and port": (
        TRANSPOSED,
        ('shape="1,8,4"(.*?)<dim>4</dim>', r'shape="1,8,5"\1<dim>5</dim>'),
        "R301 warning: the Parameter has shape [1,8,5], but its reader records [1,8,4] [Parameter x]",
    ),
    "a type": (
        STEM + " -> Result",
        ('type="Convolution"', 'type="GroupConvolution"'),
        "S102 filters must have rank 5, got rank 4; should its type be Convolution or BinaryConvolution? Then the layer gives "
        "[1,8,16,16], which it records [GroupConvolution c, port 1]",
    ),
    "the type of attributes": (
        MASKED,
        ('type="MatMul"', 'type="Add"'),
        "S202 the inputs must broadcast on axis 0: 2 and 8 are neither equal nor 1; should its type be MatMul? Then the layer "
        "gives [2,2], which it records [Add matmul_2]",
    ),
    "a mask that leaves an input unread": (
        "x: f32[4]\nx -> StridedSlice([2], [4], [1], begin_mask=[0], end_mask=[1]) -> Result",
        ('begin_mask="0"', 'begin_mask="1"'),
        "R301 warning: the port records [2], but the model computes [4]; with begin_mask='0' the layer gives [2], which it "
        "records; it is '1'; or Const 'const_3' (line 28) holds [1]; with [2] the layer gives [2], which it records; or inputs "
        "1 and 3 look exchanged: the other way round the layer gives [2], which it records [StridedSlice stridedslice_4, port "
        "4]",
    ),
    "a mask, where a constant of several elements may be another one, too": (
        "x: f32[4,5]\nx -> StridedSlice([2,0], [4,5], [1,1], begin_mask=[0,1], end_mask=[0,1]) -> Result",
        ('begin_mask="0,1"', 'begin_mask="1,1"'),
        "R301 warning: the port records [2,5], but the model computes [4,5]; with begin_mask='0,0' the layer gives [2,5], "
        "which it records; it is '1,1'; or Const 'const_2' (line 21) holds [4,5]; with [2,5] the layer gives [2,5], which it "
        "records; or inputs 1 and 2 look exchanged: the other way round the layer gives [2,5], which it records [StridedSlice "
        "stridedslice_4, port 4]",
    ),
    "a flag, where axes that are named twice give no rank": (
        "x: i64[1,1,1,2] -> n: ReduceProd([0,1,2,3], keep_dims=false) -> Range-4(0, _, 1, output_type=i64) -> Result",
        ('keep_dims="false"', 'keep_dims="true"'),
        "R301 the port records [], but the layer gives [1,1,1,1] for the inputs that it records; with keep_dims='false' the "
        "layer gives [], which it records; it is 'true' [ReduceProd n, port 2]",
    ),
    "the layer that gives a size that never fits": (
        "x: f32[1,3,?,?]\nx -> m: MaxPool-1(strides=[1,1], pads_begin=[1,1], pads_end=[1,1], kernel=[3,3]) -> r: ReLU\n"
        "x, r -> c: Concat(axis=1) -> Result",
        ('pads_end="1,1"', 'pads_end="2,1"'),
        "R401 warning: this never holds: the inputs must be equal on axis 2: H and H + 1 differ by 1; data [1,3,1..,1..] comes "
        "from MaxPool 'm' (line 18); it has strides 1,1, pads_begin 1,1, pads_end 2,1, kernel 3,3 [Concat c]",
    ),
    "the attribute in which two layers differ": (
        "x: f32[1,3,?,?]\nx -> m: MaxPool-1(strides=[1,1], pads_begin=[1,1], pads_end=[1,1], kernel=[3,3])\n"
        "x -> n: MaxPool-1(strides=[1,1], pads_begin=[1,1], pads_end=[1,1], kernel=[3,3])\nm, n -> c: Concat(axis=1) -> Result",
        ('pads_end="1,1"', 'pads_end="3,1"'),
        "R401 warning: this never holds: the inputs must be equal on axis 2: H + 2 and H differ by 2; data [1,3,2..,1..] comes "
        "from MaxPool 'm' (line 18); data [1,3,1..,1..] comes from MaxPool 'n' (line 43); their pads_end are 3,1 and 1,1 [Concat c]",
    ),
    "the constants that give a size that never fits": (
        "x: f32[1,3,?,?]\nx -> p: Pad-12([0,0,1,0], [0,0,-1,0], pad_mode=constant) -> r: ReLU\nx, r -> c: Concat(axis=1) -> Result",
        element(-1, 0),
        "R401 warning: this never holds: the inputs must be equal on axis 2: T and T + 1 differ by 1; data [1,3,1..,?] comes from Pad "
        "'p' (line 34); these layers read Const 'const_1' (line 18): [0,0,1,0], Const 'const_2' (line 26): [0,0,0,0] [Concat c]",
    ),
    "a version, by the attributes": (
        "x: f32[4,8]\nx -> g: Gather-8([1], 1, batch_dims=0) -> Result\nx -> h: Gather-8([1], 1, batch_dims=0) -> Result",
        ('"Gather" version="opset8"', '"Gather" version="opset5"'),
        "R104 warning: Gather has no attribute 'batch_dims'; should its version be opset8, which has its attributes and inputs? [Gather g]",
    ),
    "a version, by the inputs": (
        "f32[4,8] -> MVN-6([1], normalize_variance=true, eps=0.1, eps_mode=inside_sqrt) -> Result",
        ('"MVN" version="opset6"', '"MVN" version="opset2"'),
        "G108 the operation takes at most 1 input, got 2; should its version be opset6, which has its attributes and inputs? [MVN mvn_2]",
    ),
    "a version, by the records": (
        "f32[4,8] -> a: SoftMax-8(axis=-1) -> b: SoftMax-8(axis=-1) -> Result",
        ('version="opset8"', 'version="opset1"'),
        "V102 axis must be in [0, 1], got -1; should its version be opset8? Then the layer gives [4,8], which it records [SoftMax a]",
    ),
    "an id": (BRANCHES, ('<layer id="1"', '<layer id="0"'), "G101 layer id 0 is already the id of 'x' [ReLU a]"),
    "a recorded dim": (
        TRANSPOSED,
        ("<dim>8</dim>(\\s*)</port>(\\s*)</output>", r"<dim>9</dim>\1</port>\2</output>"),
        "R301 warning: the port records [1,4,9], but the model computes [1,4,8] [Transpose transpose_2, port 2]",
    ),
    "a recorded precision": (
        TRANSPOSED,
        ('precision="FP32"', 'precision="FP16"'),
        "R302 warning: the port records FP16, but its attribute element_type says FP32 [Parameter x, port 0]",
    ),
    "cut weights": (
        TRANSPOSED,
        lambda weights: weights[:8],
        "W102 bytes 0 to 24 are needed, but the weights end at byte 8 [Const const_1]",
    ),
    "an offset": (
        STEM + " -> Result",
        ('offset="0"', 'offset="4"'),
        "W102 bytes 4 to 868 are needed, but the weights end at byte 864 [Const const_1]",
    ),
    "an open size of a Parameter": (
        "x: f32[?,8,4] -> Transpose([0,2,1]) -> ReLU -> Result",
        ('shape="[?],8,4"(.*?)<rt_info>.*?</rt_info>', r'shape="3,8,4"\1'),
        "R301 warning: the port records [?,8,4], but its attribute shape says [3,8,4] [Parameter x, port 0]",
    ),
    "a size of a Parameter": (
        TRANSPOSED,
        ('shape="1,8,4"', 'shape="?,8,4"'),
        "R301 warning: the port records [1,8,4], but its attribute shape says [?,8,4] [Parameter x, port 0]",
    ),
    "a number that a pattern closes": (
        "f32[?,4,8] -> Reshape([0,-1], special_zero=true) -> Result",
        element(0, 2),
        "R301 warning: the port records [?,32], but the model computes [2,?]; Const 'const_1' (line 17) holds [2,-1]; "
        "with [0,-1] the layer gives [?,32], which it records [Reshape reshape_2, port 2]",
    ),
    "a lost type": (
        "f32[2,8] -> c: Convert(destination_type=f16) -> Result",
        (' destination_type="f16"', ""),
        "R302 warning: the port records FP16, but the model computes no element type, and OpenVINO compiles no such "
        "model; with destination_type='f16' the layer gives FP16, which it records; it is missing [Convert c, port 1]",
    ),
    "an element of two axes": (
        "f32[1,8,7,7] -> m: ReduceMean([2,3], keep_dims=true) -> Result",
        element(2, 3),
        "R301 warning: the port records [1,8,1,1], but the model computes [1,8,7,1]; Const 'const_1' (line 15) holds "
        "[3,3]; with [2,3] or [3,2] the layer gives [1,8,1,1], which it records [ReduceMean m, port 2]",
    ),
    "a step that layers share": (
        "x: f32[4,8]\nx -> s: Slice-8([0], [2], [1], [0]) -> Result\nx -> t: Slice-8([0], [3], [1], [0]) -> Result",
        element(1, 0),
        "V101 a step must not be 0; Const 'const_3' (line 29) holds [0]; with [1] the layer gives [2,8], which it "
        "records; this explains 2 layers [Slice s]",
    ),
    "one item of several": (
        STEM.replace("1,3,32,32", "?,3,?,?") + f" -> {SECOND} -> Result",
        ('strides="2,2"', 'strides="2"'),
        "A105 strides must have 2 items, one for each spatial axis, got 1; with strides='1,1' or strides='2,2' the "
        "layer gives [?,8,?,?], which it records; it is '2' [Convolution c]",
    ),
    "the id of the first of two layers": (
        BRANCHES,
        ('<layer id="1"', '<layer id="2"'),
        "G101 layer id 2 is also the id of Const 'const_2' (line 30) [ReLU a]",
    ),
    "ids exchanged": (
        BRANCHES,
        ('<layer id="1"(.*)<layer id="2"', r'<layer id="2"\1<layer id="1"'),
        "G103 layer 1 has no input port 0; ids 2 and 1 look exchanged: ReLU 'a' with id 1 and Const 'const_2' with id "
        "2 fit all edges [ReLU a]",
    ),
    "ids of constants exchanged": (
        "x: f32[1,8,4]\nx -> Transpose([0,2,1]) -> Result\nx -> Reshape([4,8], special_zero=true) -> Result",
        ('<layer id="1"(.*)<layer id="4"', r'<layer id="4"\1<layer id="1"'),
        "R301 ids 4 and 1 look exchanged: Const 'const_1' with id 1 and Const 'const_4' with id 4 fit all edges, whose "
        "ends then record the same [Const const_1]",
    ),
    "the id of an output port": (
        BRANCHES,
        ('<output>(\\s*)<port id="1"', r'<output>\1<port id="2"'),
        "G103 layer 1 has no output port 1 [ReLU a]",
    ),
    "a lost output port": (
        TRANSPOSED,
        ('<output>\\s*<port id="1".*?</port>\\s*</output>', "<output/>"),
        "G103 layer 3 has no output port 1 [ReLU relu_3]",
    ),
    "two input ports of one id": (
        MASKED,
        ('<input>(\\s*)<port id="0"', r'<input>\1<port id="1"'),
        "G115 two input ports have id 1 [MatMul matmul_2]",
    ),
    "a lost layer": (
        "f32[2,8] -> a: ReLU -> b: Add(_, f32=1[1,8]) -> c: ReLU -> Result",
        (
            r'<layer id="3".*?</layer>(.*)<edge[^>]*to-layer="3" to-port="0"[^>]*>(.*)<edge[^>]*to-layer="3"[^>]*>(.*)from-layer="3" '
            'from-port="2"',
            r'\1\2\3from-layer="1" from-port="1"',
        ),
        "G116 warning: the layer reaches no Result or Assign [Const const_2]",
    ),
    "an edge from another rank": (
        "a: f32[2,8]\ns: f32[]\nt: f32[]\ns, t -> b: Multiply -> c: Unsqueeze([0]) -> Result\na, t -> d: Add -> Result",
        ('from-layer="2" from-port="0" to-layer="3" to-port="1"', 'from-layer="0" from-port="0" to-layer="3" to-port="1"'),
        "R301 warning: port 1 records [], but Parameter 'a', from which its edge starts (line 88), gives FP32 [2,8] [Multiply b, port 1]",
    ),
    "a negative stride": (
        "f32[1,1,8] -> p: AvgPool(strides=[1], pads_begin=[0], pads_end=[0], kernel=[8], exclude-pad=true) -> Result",
        ('strides="1"', 'strides="-1"'),
        "R201 warning: strides='-1' is read as 18446744073709551615 [AvgPool p]",
    ),
    "a pad that cuts, before a condition that never holds": (
        "x: f32[1,1,?,?]\nx -> c: Convolution(_, f32=0[1,1,3,3], strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1])\n"
        "x, c -> Concat(axis=1) -> Result",
        ('pads_begin="1,1"', 'pads_begin="-3,1"'),
        "R203 warning: pads must not be negative, got -3 and 1 on axis 2 [Convolution c]",
    ),
    "a lost attribute, between two conditions that no size fulfils": (
        "x: f32[?,4,?,?] -> p: MaxPool(strides=[1,1], pads_begin=[0,0], pads_end=[0,0], kernel=[1,1])\n"
        "p, p -> c: Concat(axis=-1)\nc, p -> Concat(axis=3) -> Result",
        ('<data axis="-1"/>', ""),
        "R103 warning: attribute 'axis' is missing; OpenVINO takes '0' [Concat c]",
    ),
    "a type that the name tells, of other outputs and attributes": (
        "x: f32[1,3,8,8]\np/MaxPool: MaxPool-8(x, strides=[2,2], dilations=[1,1], pads_begin=[0,0], pads_end=[0,0], kernel=[2,2], "
        "index_element_type=i64, axis=0) f32 i64\np/MaxPool -> Result",
        ('type="MaxPool" version="opset8"', 'type="AvgPool" version="opset1"'),
        "G109 the operation has 1 output, but the layer lists 2; should its type be MaxPool, as its name says? [AvgPool p/MaxPool, port 2]",
    ),
    "a type that the name tells": (
        "f32[2,8] -> act/Relu: ReLU -> Result",
        ('type="ReLU"', 'type="Add"'),
        "G107 input 1 (rhs) is missing; should its type be Relu, as its name says? [Add act/Relu]",
    ),
    "a type that the name confirms": (
        MASKED.replace("m: f32", "n: f32").replace("x, m -> MatMul", "x, n -> m: MatMul"),
        ('name="m" type="MatMul" version="opset1">\\s*<data [^>]*>', 'name="m/Add" type="Add" version="opset1">'),
        "S202 the inputs must broadcast on axis 0: 2 and 8 are neither equal nor 1 [Add m/Add]",
    ),
    "a variable": (
        STATE,
        ('Assign"(.*?)variable_id="past.key"', r'Assign"\1variable_id="past.kez"'),
        "G118 no ReadValue in this graph has the variable 'past.kez'; did you mean 'past.key' of ReadValue 's', which has no "
        "Assign? [Assign assign_5]",
    ),
}


# What the first line of a row adds: its hint, or the title of its fix.
HINTS = {
    "a negative stride": "did you mean '1'?",
    "a version, by the attributes": 'write version="opset8"',
    "an id": 'did you mean id="1"? Edges name that id, but no layer has it',
    "the id of the first of two layers": 'did you mean id="1"? Edges name that id, but no layer has it',
    "ids exchanged": "exchange the ids of the layers in lines 14 and 30",
    "the id of an output port": 'did you mean id="1" for its output port 2?',
    "a lost output port": 'add <port id="1"> to its <output>',
    "two input ports of one id": 'did you mean id="0" for its input port 1?',
    "a lost layer": "no layer has id 3: was the layer removed that reads this one?",
}


def edited(net: str, edit: tuple[str, str] | Callable[[bytes], bytes]) -> list[Any]:
    """The causes among the diagnostics of a net that is sound before an edit."""
    text, weights = sound(Net(net))
    if isinstance(edit, tuple):
        text, count = re.subn(edit[0], edit[1], text, count=1, flags=re.DOTALL)
        assert count == 1
    else:
        weights = edit(weights)
    return causes(irshape.check(text.encode(), weights=weights).diagnostics)


@pytest.mark.parametrize(("net", "edit", "line"), ROWS.values(), ids=ROWS)
def test_the_first_line(net: str, edit: tuple[str, str] | Callable[[bytes], bytes], line: str) -> None:
    [cause, *others] = edited(net, edit)
    assert str(cause).partition(": ")[2] == line
    assert others == []


@pytest.mark.parametrize(("row", "hint"), HINTS.items())
def test_the_hint_of_the_first_line(row: str, hint: str) -> None:
    [cause] = edited(*ROWS[row][:2])
    assert hint in (cause.hint, cause.fix and cause.fix.title)


def test_an_id_that_both_of_two_layers_may_have_lost() -> None:
    text, weights = sound(Net("x: f32[4] -> a: ReLU -> b: ReLU -> Result"))
    text = re.sub('(layer id|from-layer)="0"', r'\1="9"', text)  # so the order of ids tells nothing
    [cause, *_] = causes(irshape.check(text.replace('<layer id="2"', '<layer id="1"').encode(), weights=weights).diagnostics)
    assert cause.hint == "did you mean id=\"2\" here, or for ReLU 'a' (line 12)? Edges name that id, but no layer has it"


def test_a_lost_type_is_written_as_the_port_records_it() -> None:
    text, weights = sound(Net(ROWS["a lost type"][0]))
    [*_, missing] = irshape.check(text.replace(' destination_type="f16"', "").encode(), weights=weights).diagnostics
    assert missing.fix is not None
    assert missing.fix.title == 'write destination_type="f16"'


def test_a_constant_that_a_hundred_layers_share_is_one_cause() -> None:
    """So many layers record other facts in a file that is out of date, too: but there, no rule fails."""
    text, weights = sound(Net("\n".join(f"x{number}: f32[1,8,4] -> Transpose([0,2,1]) -> Result" for number in range(150))))
    found = irshape.check(text.encode(), weights=element(2, 3)(weights)).diagnostics
    assert len(found) == 150
    [cause] = causes(found)
    assert "with [0,2,1] the layer gives [1,4,8], which it records; this explains 150 layers" in cause.message


def test_a_record_that_bounds_have_decided_is_no_fault_behind_another_one() -> None:
    """The ReLU records `?`, where its input has at least 101 rows: so the Slice gives 100 rows."""
    text, weights = sound(Net("x: f32[101..,4]\nx, x -> a: Add -> ReLU -> Slice-8([-100], [9223372036854775807], [1]) -> Result"))
    text = re.sub("<rt_info>.*?</rt_info>", "", text, flags=re.DOTALL).replace('to-layer="1" to-port="0"', 'to-layer="1" to-port="1"')
    assert [one.code for one in causes(irshape.check(text.encode(), weights=weights).diagnostics)] == ["G104"]


def test_a_size_that_only_a_formula_tells_is_no_fault_of_a_record() -> None:
    """OpenVINO does not divide 2*B*24 by 2*B: so the Reshape records [?,?], and the layer that takes the size from there [?]."""
    net = Net("""
        x: f32[?,2,24] -> ShapeOf -> Gather([0], [0]) -> b: Multiply([2])
        b, [-1] -> p: Concat(axis=0)
        x, p -> Reshape(special_zero=false) -> ShapeOf -> Gather([1], [0]) -> s: Squeeze
        s, [1] -> m: Reshape(special_zero=false)
        m, f32=0.0, f32=1.0 -> RandomUniform-8(output_type=f32, op_seed=0, global_seed=0) -> Result
    """)
    text, weights = sound(net)
    text = re.sub("<rt_info>.*?</rt_info>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<dim>-1</dim>|">)(\s*)<dim>24</dim>', r"\1\2<dim>-1</dim>", text)
    assert not irshape.check(text.encode(), weights=weights).diagnostics


# An IR with a body, what is replaced by what in its text, and the first line.
SCAN, WHILE = "onnx_node/scan9_multi_state", "tensorflow/while_grow"
OF_BODIES = {
    "the axis of an input of a port map": (
        SCAN,
        [('<input axis="0"', '<input axis="1"')],
        "R301 warning: input 0 of the port map leads FP32 [3,1] to Parameter 'next', which records FP32 [1,2]; with axis='0' (line 31) "
        "the layer gives [2] and [3,2], which it records; it is '1' [TensorIterator z]",
    ),
    "the start of an input of a port map": (
        SCAN,
        [('<input (.*) start="0"', r'<input \1 start="2"')],
        "R301 warning: the port records [3,2], but the model computes [1,2]; with start='0' (line 31) the layer gives [2] and [3,2], "
        "which it records; it is '2' [TensorIterator z, port 5]",
    ),
    "no axis of an input of a port map": (
        SCAN,
        [('<input axis="0"', "<input")],
        "R301 warning: input 0 of the port map leads FP32 [3,2] to Parameter 'next', which records FP32 [1,2]; with axis='0' (line 31) "
        "the layer gives [2] and [3,2], which it records [TensorIterator z]",
    ),
    "the axis of an output of a port map": (
        SCAN,
        [('<output axis="0"', '<output axis="1"')],
        "R401 warning: this never holds: output 2 must join parts of size 1 (part_size) on axis 1, got 2; with axis='0' (line 36) the "
        "layer gives [2] and [3,2], which it records; it is '1' [TensorIterator z]",
    ),
    "exchanged inputs of a port map": (
        WHILE,
        [
            ('id="2" internal_layer_id="0"', 'id="2" internal_layer_id="2"'),
            ('id="4" internal_layer_id="2"', 'id="4" internal_layer_id="0"'),
        ],
        "R301 input 2 of the port map leads I32 [] to Parameter 'while/Placeholder_1:0', which records FP32 [?,3]; with "
        "internal_layer_id 2 (line 39) and 0 (line 41) exchanged every Parameter takes what it records [Loop while]",
    ),
    "exchanged inputs of a port map, of which one has a back edge": (
        SCAN,
        [
            ('id="0" internal_layer_id="2"', 'id="0" internal_layer_id="0"'),
            ('id="1" internal_layer_id="0"', 'id="1" internal_layer_id="2"'),
        ],
        "G121 warning: the back edge from layer 10 to layer 0 leads to no Parameter that an input feeds whole; input 0 of the port map "
        "leads FP32 [1,2] to Parameter 'sum_in', which records FP32 [2]; with internal_layer_id 0 (line 31) and 2 (line 32) exchanged "
        "the layer gives [2] and [3,2], which it records [TensorIterator z]",
    ),
    "a port that two inputs of a port map name": (
        WHILE,
        [('external_port_id="2"', 'external_port_id="4"')],
        "G119 two inputs of the port map have external_port_id 4, the other one in line 41, and none has 2; input 4 of the port map leads "
        "FP32 [2,3] to Parameter 'while/while/loop_counter:0', which records I32 []; with external_port_id='2' (line 39) every Parameter "
        "takes what it records; it is '4' [Loop while]",
    ),
    "a port that two outputs of a port map name": (
        SCAN,
        [('external_port_id="4"', 'external_port_id="5"')],
        "G119 two outputs of the port map have external_port_id 5, the other one in line 36, and none has 4 [TensorIterator z]",
    ),
    "an input of a port map that names the condition": (
        WHILE,
        [('external_port_id="2"', 'external_port_id="1"')],
        "G119 the port map has 3 inputs, the layer has 5; input 1 of the port map leads BOOL [] to Parameter "
        "'while/while/loop_counter:0', which records I32 []; with external_port_id='2' (line 39) every Parameter takes what it "
        "records; it is '1' [Loop while]",
    ),
    "the Result of an output of a port map": (
        WHILE,
        [('id="6" internal_layer_id="16"', 'id="6" internal_layer_id="14"')],
        "R401 warning: the tensor fed back to 'while/Placeholder_1:0' must have the shape [2,3], got [3,3]; with "
        "internal_layer_id='16' (line 43) the layer gives [?,3], which it records; it is '14' [Loop while]",
    ),
    "a port for the condition of a port map": (
        WHILE,
        [('"-1" internal_layer_id="17"', '"0" internal_layer_id="17"')],
        "R302 warning: the port records I32, but the model computes BOOL; with external_port_id='-1' (line 44) the layer gives "
        "[?,3], which it records; it is '0' [Loop while, port 5]",
    ),
    "no condition in a port map": (
        WHILE,
        [("<output (.*)execution_condition.*", "")],
        "G119 the port map names no Result of the body as the execution_condition, and OpenVINO gives such a Loop 1 output [Loop while]",
    ),
    "the shape of a Parameter": (
        SCAN,
        [('(name="sum_in".*\\n.*shape=)"2"', r'\1"3"')],
        "R301 the port records [2], but its attribute shape says [3] [z / body / Parameter sum_in, port 0]",
    ),
    "the shape of a scalar Parameter": (
        "synth/loop_cond",
        [('(name="bi".*\\n.*shape=)""', r'\1"5"')],
        "R301 warning: the port records [], but its attribute shape says [5] [Loop_1998 / body / Parameter bi, port 0]",
    ),
}


@pytest.mark.parametrize("name", OF_BODIES)
def test_an_edit_of_a_body_or_a_port_map_is_named(name: str) -> None:
    path, edited, expected = OF_BODIES[name]
    text = (IRS / f"{path}.xml").read_text()
    for old, new in edited:
        text, count = re.subn(old, new, text, count=1)
        assert count
    found = causes(irshape.check(text.encode(), weights=(IRS / f"{path}.bin").read_bytes()).diagnostics)
    assert str(found[0]).partition(": ")[2] == expected


def test_a_size_that_only_a_formula_bounds_is_no_fault_of_a_record() -> None:
    """irshape knows that a multiple of 7 other than 0 is at least 7. For OpenVINO, the last 3 elements are ..3, recorded as [?]."""
    to_end = "[9223372036854775807]"
    net = Net(f"""
        f32[?], f32=[0.5] -> Concat(axis=0) -> n: Slice-8([0], {to_end}, [2], [0]) -> ShapeOf-3(output_type=i64)
            -> FloorMod([7]) -> Subtract([7], _) -> more: FloorMod([7])
        n -> Pad([0], more, f32=0.5, pad_mode=constant) -> whole: ShapeOf-3(output_type=i64) -> Squeeze([0])
            -> Range-4(0, _, 1, output_type=i64) -> Reshape(whole, special_zero=false) -> Slice-8([-3], {to_end}, [1], [0]) -> Result
    """)
    text = irshape.infer(net.xml.encode(), weights=net.bin).xml().decode()
    text = re.sub("<rt_info>.*?</rt_info>", "", text, flags=re.DOTALL).replace("<dim>3</dim>", "<dim>-1</dim>")
    assert not irshape.check(text.encode(), weights=net.bin).diagnostics


def test_sizes_that_contradict_each_other_name_the_layer_that_gives_one() -> None:
    pool = "MaxPool(kernel=[3], strides=[3], pads_begin=[0], pads_end=[0])"
    net = Net(f"x: f32[1,4,?] -> p: {pool} -> ReLU -> Add(x, _, auto_broadcast=none) -> Result")
    [fault] = [one for one in irshape.check(net.xml.encode()).diagnostics if one.code == "R401"]
    assert fault.message == (
        "no sizes fulfil these conditions together: L >= 3 (line 10), L == L//3 (line 27); L//3 comes from MaxPool 'p' (line 10)"
    )
    assert fault.related[-1].layer_name == "p"


# A file of a few hundred layers takes the time of twenty small ones.
SMALL = [path for path in WITH_WEIGHTS if path.stat().st_size < 60_000]


def drawn(count: int, seed: int) -> Iterator[tuple[Edit, Source, bytes]]:
    """Edits of sound files, each with the file and the weights that it leaves."""
    random, sources = Random(seed), dict[Path, Source | None]()
    while count:
        path, kind = random.choice(SMALL), random.choice(list(KINDS))
        if path not in sources:
            is_sound = not listed(irshape.check(str(path)))
            sources[path] = Source(path) if is_sound else None
        if (source := sources[path]) is not None:
            for edit in edits(source, kind, Random(random.random())):
                count -= 1
                yield edit, source, source.weights if edit.weights is None else edit.weights


def examined(count: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int, int]:
    """How many edits have lines, how many of these have a first line about their place, and how many lines there are."""
    found = right = lines = 0
    for edit, source, weights in drawn(count, seed):
        inference = irshape.check(edit.xml, weights=weights)
        report = listed(inference)
        found, lines = found + bool(report), lines + len(report)
        right += bool(report) and is_about(report[0], edit.places)
        with monkeypatch.context() as patched:
            patched.setattr(linking, "find_causes", lambda *_: (set(), set(), {}))
            assert irshape.check(edit.xml, weights=weights).ok == inference.ok, edit.text
        if any(one.fix and one.fix.is_safe for one in report):
            fixed: Any = mended_file(inference._inference)
            after = listed(irshape.check(fixed, weights=weights))
            is_restored = canonical(fixed) == canonical(source.copied().xml())
            assert is_restored or any(is_about(one, edit.places) for one in after), edit.text
    return found, right, lines


def test_single_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    found, right, lines = examined(120, 1, monkeypatch)
    assert found > 60
    assert right >= 0.95 * found
    assert lines <= 1.2 * found


@pytest.mark.slow("take long")
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_single_edits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found, right, lines = examined(400, seed, monkeypatch)
    assert right >= 0.95 * found
    assert lines <= 1.2 * found
