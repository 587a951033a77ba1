"""Exports small nets of PyTorch as static IRs, each by its trace and by torch.export: `tests/data/exports.tar.xz`.

    python tools/exports.py [ARCHIVE]

It needs torch, transformers and openvino. The archive holds `NET.trace.xml` and `NET.export.xml` with their weights, and `NET.npz` with
what PyTorch computes at two other sizes; `tests/reshaping/test_exports.py` compares with it. Weights are multiples of 1/16, so that they
take few bytes.
"""

import io
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openvino as ov
import torch
import torch.nn.functional as F  # noqa: N812
import transformers
from torch import Tensor, nn

ARCHIVE = Path(__file__).parent.parent / "tests" / "data" / "exports.tar.xz"
# A net gives so many elements at most for the comparison: these are taken at equal distances.
MOST_ELEMENTS = 256


class UNet(nn.Module):
    """Upsamples to the size of the skip."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.u, self.v = nn.Conv2d(16, 4, 3, padding=1), nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Any:
        a = F.relu(self.a(x))
        b = F.relu(self.b(a))
        c = F.relu(self.c(b))
        y = F.relu(self.u(torch.cat([F.interpolate(c, size=b.shape[2:], mode="bilinear"), b], 1)))
        return self.v(torch.cat([F.interpolate(y, size=a.shape[2:], mode="nearest"), a], 1))


class Yolo(nn.Module):
    """Two heads; the anchors and the strides are made of the shape, so a static export holds them as constants."""

    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.classes = classes
        self.stem = nn.Conv2d(3, 8, 3, 4, 1)
        self.levels = nn.ModuleList([nn.Conv2d(8, 8, 3, 2, 1) for _ in range(2)])
        self.heads = nn.ModuleList([nn.Conv2d(8, 4 + classes, 1) for _ in range(2)])

    def forward(self, x: Tensor) -> Any:
        x = F.relu(self.stem(x))
        outputs, anchors, strides = [], [], []
        for at in range(2):
            x = F.relu(self.levels[at](x))
            y = self.heads[at](x)
            h, w = y.shape[2:]
            outputs.append(y.view(y.shape[0], 4 + self.classes, -1))
            rows, columns = torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="ij")
            anchors.append(torch.stack((columns, rows), -1).view(-1, 2))
            strides.append(torch.full((h * w, 1), 8.0 * 2**at))
        box, classes = torch.cat(outputs, 2).split((4, self.classes), 1)
        centre, stride = torch.cat(anchors).T, torch.cat(strides).T
        low, high = box.chunk(2, 1)
        return torch.cat(((centre - low + centre + high) / 2 * stride, (high - low) * stride, classes.sigmoid()), 1)


class Detr(nn.Module):
    """A transformer over the cells of an image, with learned positions of rows and columns, and with queries."""

    def __init__(self, width: int = 8, queries: int = 5) -> None:
        super().__init__()
        self.cells = nn.Conv2d(3, width, 8, 8)
        self.transformer = nn.Transformer(width, 2, 1, 1, 16, dropout=0.0)
        self.queries = nn.Parameter(torch.rand(queries, width))
        self.rows, self.columns = nn.Parameter(torch.rand(24, width // 2)), nn.Parameter(torch.rand(24, width // 2))
        self.head = nn.Linear(width, 6)

    def forward(self, x: Tensor) -> Any:
        y = self.cells(x)
        h, w = y.shape[-2:]
        columns, rows = self.columns[:w].unsqueeze(0).repeat(h, 1, 1), self.rows[:h].unsqueeze(1).repeat(1, w, 1)
        positions = torch.cat([columns, rows], -1).flatten(0, 1).unsqueeze(1)
        queries = self.queries.unsqueeze(1).repeat(1, x.shape[0], 1)
        return self.head(self.transformer(positions + y.flatten(2).permute(2, 0, 1), queries).transpose(0, 1))


class Lstm(nn.Module):
    """Two layers, and a linear one."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 8, 2, batch_first=True), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Any:
        return self.head(self.lstm(x)[0])


class First(nn.Module):
    """The first output of a model of transformers."""

    def __init__(self, name: str, config: str, **values: Any) -> None:
        super().__init__()
        self.model = getattr(transformers, name)(getattr(transformers, config)(**values))
        self.options = {"use_cache": False} if name in ("GPT2LMHeadModel", "T5ForConditionalGeneration") else {}
        self.decodes = name == "T5ForConditionalGeneration"

    def forward(self, x: Tensor) -> Any:
        more = {"decoder_input_ids": x} if self.decodes else {}
        return self.model(x, **more, **self.options)[0]


class Net(NamedTuple):
    """A net: what makes it, its input with symbols, and values of the symbols, the recorded ones first."""

    make: Callable[[], nn.Module]
    input: str
    sizes: list[dict[str, int]]
    kind: str = "f4"


IMAGE, TEXT = "[1,3,H,W]", "[1,S]"
SIDES = [{"H": 64, "W": 96}, {"H": 96, "W": 128}, {"H": 128, "W": 64}]
LENGTHS = [{"S": 12}, {"S": 5}, {"S": 9}]
ENCODER = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
STAGES = {"depths": [1, 1], "num_attention_heads": [1, 2], "hidden_sizes": [8, 8], "decoder_hidden_size": 8, "num_encoder_blocks": 2}
SHRINKS = {"sr_ratios": [2, 1], "patch_sizes": [7, 3], "strides": [4, 2], "mlp_ratios": [2, 2]}
WINDOWS = {"image_size": [64, 96], "embed_dim": 8, "depths": [2, 1], "num_heads": [1, 2], "window_size": 4, "mlp_ratio": 2.0}
MOBILE = {"hidden_sizes": [8, 8, 8], "neck_hidden_sizes": [4, 4, 8, 8, 8, 8, 16], "num_attention_heads": 2, "mlp_ratio": 1.0}
T5 = {"d_model": 8, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2, "vocab_size": 40}

NETS = {
    "vit": Net(lambda: First("ViTModel", "ViTConfig", image_size=[64, 96], **ENCODER), IMAGE, SIDES),
    "swin": Net(lambda: First("SwinModel", "SwinConfig", **WINDOWS), IMAGE, SIDES),
    "unet": Net(UNet, IMAGE, [SIDES[0], {"H": 93, "W": 130}, {"H": 50, "W": 41}]),
    "detr": Net(Detr, IMAGE, SIDES),
    "yolo": Net(Yolo, IMAGE, SIDES),
    "segformer": Net(lambda: First("SegformerForSemanticSegmentation", "SegformerConfig", **STAGES, **SHRINKS), IMAGE, SIDES),
    "mobilevit": Net(
        lambda: First("MobileViTModel", "MobileViTConfig", **MOBILE),
        IMAGE,
        [{"H": 128, "W": 192}, {"H": 192, "W": 320}, {"H": 64, "W": 128}],
    ),
    "bert": Net(lambda: First("BertModel", "BertConfig", vocab_size=40, max_position_embeddings=16, **ENCODER), TEXT, LENGTHS, "i8"),
    "gpt2": Net(
        lambda: First("GPT2LMHeadModel", "GPT2Config", n_embd=8, n_layer=1, n_head=2, vocab_size=40, n_positions=16), TEXT, LENGTHS, "i8"
    ),
    "t5": Net(lambda: First("T5ForConditionalGeneration", "T5Config", **T5), TEXT, LENGTHS, "i8"),
    "lstm": Net(Lstm, "[1,S,6]", [{"S": 7}, {"S": 3}, {"S": 12}]),
}


def data(net: Net, seed: int) -> np.ndarray:
    """The input at the sizes of a number; `tests/reshaping/test_exports.py` makes the same one."""
    values = net.sizes[seed]
    shape = [int(values.get(one, one)) for one in net.input.strip("[]").split(",")]
    chance = np.random.default_rng(seed)
    return chance.integers(1, 40, shape) if net.kind == "i8" else chance.standard_normal(shape).astype("f4")


def made(net: Net) -> nn.Module:
    """The net with its weights."""
    torch.manual_seed(0)
    module = net.make().eval()
    with torch.no_grad():
        for one in module.parameters():
            one.copy_((torch.randn(one.shape) * 5).round().clamp(-12, 12) / 16)
        for name, one in module.named_buffers():
            if name.endswith("running_var"):
                one.fill_(1.5)
    return module


def exported(net: Net, module: nn.Module, kind: str) -> ov.Model:
    """The static model of OpenVINO."""
    x = torch.from_numpy(data(net, 0))
    with torch.no_grad():
        source = torch.export.export(module, (x,)) if kind == "export" else module
        found = ov.convert_model(source, example_input=None if kind == "export" else x)
    found.inputs[0].get_tensor().set_names({"x"})
    found.reshape({found.inputs[0]: list(x.shape)})
    return found


def main(archive: Path) -> None:
    """Write the archive."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive, "w:xz", preset=9) as out:
        for name, net in NETS.items():
            module = made(net)
            wanted = {}
            for seed in (1, 2):
                try:
                    with torch.no_grad():
                        wanted[str(seed)] = module(torch.from_numpy(data(net, seed))).numpy()
                except (RuntimeError, ValueError, IndexError) as error:
                    print(f"{name} has no answer at {net.sizes[seed]}: {error}", file=sys.stderr)
            shapes = {f"shape_{seed}": np.array(one.shape) for seed, one in wanted.items()}
            parts = {seed: one.reshape(-1)[:: max(1, one.size // MOST_ELEMENTS)] for seed, one in wanted.items()}
            held = io.BytesIO()
            np.savez(held, sizes=np.array(repr(net.sizes)), input=np.array(f"{net.input} {net.kind}"), **parts, **shapes)
            (Path(folder) / f"{name}.npz").write_bytes(held.getvalue())
            for kind in ("trace", "export"):
                try:
                    ov.save_model(exported(net, module, kind), Path(folder) / f"{name}.{kind}.xml", compress_to_fp16=False)
                except Exception as error:
                    print(f"{name}.{kind}: {error}", file=sys.stderr)
            print(name, [one.shape for one in wanted.values()], flush=True)
        for path in sorted(Path(folder).iterdir(), key=lambda one: (one.suffix, one.name)):
            entry = tarfile.TarInfo(path.name)
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                out.addfile(entry, file)
            print(path.name, entry.size)
    print(archive, archive.stat().st_size)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(Path(sys.argv[1]) if sys.argv[1:] else ARCHIVE)
