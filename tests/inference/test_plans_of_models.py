"""Architectures that have a plan which leaves nothing to a rule: those that the tests carry, and for the long run real ones."""

import base64
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from irshape import verbs
from irshape.inference.inputs import described_shape
from irshape.inference.session import Session
from irshape.model.model import Model
from tests.answers.nets import stem, windows
from tests.answers.test_cost_architectures import carried
from tests.answers.test_signature_soundness import sizes
from tests.inference.test_plan import said

ROOT = Path(__file__).parents[2]
CORPUS = os.environ.get("IRSHAPE_CORPUS")
ARCHITECTURES = (
    "alexnet", "resnet18", "resnext50_32x4d", "mobilenet_v2", "efficientnet_b0", "mnasnet0_5", "squeezenet1_1",
    "fcn_resnet50", "r3d_18", "bert_base", "unet", "decoder", "decoder_stateful", "atrous", "windows", "stem",
)  # fmt: skip
REAL = (
    "transformers/llama_16", "transformers/llama_48", "transformers/gpt2", "transformers/bert_base", "transformers/detr",
    "transformers/mistral", "transformers/t5_encdec", "transformers/llama_kv", "transformers/bloom", "transformers/dinov2",
    "transformers/beit", "transformers/yolos", "timm/twins", "timm/xcit", "diffusers/sd_unet_dyn",
    "transformers/gpt2_kv_stateful", "transformers/llama_kv_stateful", "llm/gemma2_model", "llm/opt_model", "llm/qwen2_model",
    "tensorflow/atrous_dyn",
)  # fmt: skip


def assigned(signature: Any, count: int) -> list[dict[str, tuple[int, ...]]]:
    """Different shapes of the inputs that a signature admits."""
    random, found = Random(1), list[dict[str, tuple[int, ...]]]()
    for _ in range(400):
        shapes = signature.assign(sizes(signature, random))
        if shapes is not None and shapes not in found:
            found.append(shapes)
        if len(found) == count:
            break
    return found


def batches(model: Model) -> list[dict[str, tuple[int, ...]]]:
    """The shapes of the inputs with other batches, where the file has no open size."""
    shapes = {node.name: tuple([size.low for size in described_shape(node) or ()]) for node in model.parameters}
    return [{name: (batch, *shape[1:]) for name, shape in shapes.items()} for batch in (1, 2, 3, 5)]


def check(source: Any, weights: Any) -> None:
    """A session makes a plan that leaves nothing open and says what a pass says."""
    session = Session(source, weights=weights)
    signature = verbs.signature(session.model)
    several = assigned(signature, 5) if signature.symbols else batches(session.model)
    assert len(several) >= 3
    for shapes in several:
        session.reshape(shapes)
    assert session.plan is not None
    assert not session.plan.open
    for shapes in several:
        assert said(session.reshape(shapes)) == said(verbs.infer(source, inputs=shapes, weights=weights))


@pytest.mark.slow("take long")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_has_a_plan(name: str, tmp_path: Path) -> None:
    if name in ("decoder", "decoder_stateful", "atrous"):
        check(ROOT / "examples" / f"{name}.xml", None)
        return
    if name in ("windows", "stem"):
        net = windows() if name == "windows" else stem()
        check(net.xml.encode(), net.bin)
        return
    one = carried()[name]
    weights = tmp_path / "model.bin"
    with weights.open("wb") as file:
        for offset, values in one["values"].items():
            file.seek(int(offset))
            file.write(base64.b64decode(values))
        file.truncate(one["size"])
    check(one["xml"].encode(), str(weights))


@pytest.mark.skipif(not CORPUS, reason="IRSHAPE_CORPUS names no folder")
@pytest.mark.parametrize("name", REAL)
def test_a_real_model_has_a_plan(name: str) -> None:
    path = Path(str(CORPUS)) / f"{name}.xml"
    if not path.exists():
        pytest.skip(f"IRSHAPE_CORPUS has no {name}.xml")
    check(path, None)
