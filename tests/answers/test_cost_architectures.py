"""The MACs of thirteen architectures against counters that know nothing of irshape.

`tests/data/architectures.json.xz` holds IRs that OpenVINO 2026.4.1 converted from torchvision 0.28 and transformers (BERT with the default
configuration, without its pooler), and from a U-Net with 64 to 1,024 channels: the XML, the size of the `.bin`, and the bytes of the
constants that are no reals. The figures were counted once, on the PyTorch models in PyTorch 2.13: `torch` by
`torch.utils.flop_counter.FlopCounterMode` (its FLOPs halved), `fvcore` by `FlopCountAnalysis` of fvcore 0.1.5 (convolutions and products of
matrices), `parameters` by summing up `Module.parameters()`. Images were 224*224, the video of r3d_18 8*64*64, the sides of the U-Net 256,
and the text of BERT 128 tokens.
"""

import base64
import json
import lzma
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import irshape
from irshape.answers.cost.cost import Cost
from irshape.answers.cost.formula import Formula
from tests.support.places import DATA, ROOT

FIGURES = {
    "alexnet": (714_188_480, 714_188_480, 61_100_840),
    "resnet18": (1_814_073_344, 1_814_073_344, 11_689_512),
    "resnext50_32x4d": (4_230_479_872, 4_230_479_872, 25_028_904),
    "mobilenet_v2": (300_774_272, 300_774_272, 3_504_872),
    "efficientnet_b0": (385_814_752, 385_814_752, 5_288_548),
    "mnasnet0_5": (104_455_968, 104_455_968, 2_218_512),
    "squeezenet1_1": (349_151_936, 349_151_936, 1_235_496),
    "shufflenet_v2_x0_5": (40_476_448, 40_476_448, 1_366_792),
    "fcn_resnet50": (26_484_498_432, 26_484_498_432, 32_957_013),
    "r3d_18": (6_644_506_624, 6_644_506_624, 33_371_472),
    "maxvit_t": (5_558_046_720, 5_558_047_792, 30_919_624),
    "bert_base": (11_173_625_856, 11_173_625_856, 108_891_648),
    "unet": (48_096_083_968, 48_096_083_968, 31_030_658),
}
# The sizes of the models with open sizes.
SIZES = {"bert_base": {"B": 1, "S": 128}, "unet": {"B": 1, "H": 256, "W": 256}}
# PyTorch's counter and fvcore count these; neither counts the MACs of an Interpolate.
PRODUCTS = {
    "Convolution", "GroupConvolution", "ConvolutionBackpropData", "MatMul", "ScaledDotProductAttention", "Einsum",
}  # fmt: skip


@cache
def carried() -> dict[str, Any]:
    """The IRs by name."""
    found: dict[str, Any] = json.loads(lzma.decompress((DATA / "architectures.json.xz").read_bytes()))
    return found


def cost_of(name: str, folder: Path) -> Cost:
    """The cost of an architecture; its `.bin` is a file with holes for the weights."""
    one = carried()[name]
    with open(folder / "model.bin", "wb") as file:
        for offset, values in one["values"].items():
            file.seek(int(offset))
            file.write(base64.b64decode(values))
        file.truncate(one["size"])
    return irshape.cost(one["xml"].encode(), weights=str(folder / "model.bin"))


@pytest.mark.parametrize("name", FIGURES)
def test_macs_are_those_of_independent_counters(name: str, tmp_path: Path) -> None:
    """Equal where all count; within 0.5 % altogether."""
    torch, fvcore, _ = FIGURES[name]
    found = cost_of(name, tmp_path)
    assert found._inference.ok, found.diagnostics
    assert found.uncounted == []
    sizes = SIZES.get(name, {})
    counted = sum(found.at(layer.macs, sizes) for layer in found.layers if layer.type in PRODUCTS)
    assert counted == torch
    assert abs(found.at(found.macs, sizes) - torch) <= 0.005 * torch
    assert abs(found.at(found.macs, sizes) - fvcore) <= 0.005 * fvcore


def test_the_parameters_of_a_model_without_normalization_are_those_of_pytorch(tmp_path: Path) -> None:
    """Converting a model leaves out batch normalization, and adds scalars; where there is none, all parameters are there."""
    for name, scalars in (("alexnet", 4), ("unet", 0)):
        found = cost_of(name, tmp_path)
        assert found.parameters_by_type["f32"][0] - FIGURES[name][2] <= scalars
        assert found.parameters >= FIGURES[name][2]


def test_the_guide_shows_what_is_counted(tmp_path: Path) -> None:
    """The table of the guide: MACs and peak memory as formulas or numbers, and the parameters in millions."""
    guide = (ROOT / "docs" / "guides" / "cost.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| ([\d.]+) M \| `([^`]+)` \|$", guide, re.MULTILINE)
    assert {name for name, *_ in rows} == set(FIGURES)
    for name, macs, parameters, peak in rows:
        found = cost_of(name, tmp_path)
        assert macs == str(found.macs), name
        assert parameters == f"{found.parameters / 1e6:.2f}", name
        formula = found.peak.formula(found.near)
        assert peak == (str(formula) if isinstance(formula, Formula) else str(found.peak_memory)), name
