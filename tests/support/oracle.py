"""OpenVINO as the tests ask it."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# Versions of operations that openvino-tokenizers has.
EXTENDED = ("extension", "openvino_tokenizers")


@cache
def core(version: str = "opset1") -> Any:
    """A core of OpenVINO; for operations of openvino-tokenizers it has this extension loaded, and the test skips without it.

    The core outlives its models: the library of an extension is unloaded with it.
    """
    import openvino

    own = openvino.Core()
    own.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})  # a CPU with bf16 computes in bf16 else
    if version in EXTENDED:
        # The package itself would load its library into every core of the process.
        package = find_spec("openvino_tokenizers")
        if package is None or package.origin is None:
            pytest.skip("openvino-tokenizers is not installed: pip install -e '.[dev]'")
        own.add_extension(str(next(Path(package.origin).parent.glob("lib/*openvino_tokenizers.*"))))
    return own


def partial_shape(of: Any) -> Any:
    """A shape as OpenVINO has it."""
    import openvino

    return openvino.PartialShape(of)


def reads(model: str | bytes | Path, weights: bytes = b"", version: str = "opset1") -> bool:
    """Whether OpenVINO reads an IR: the text of one with its weights, or a path."""
    try:
        core(version).read_model(model, *([weights] if isinstance(model, bytes) else []))
    except RuntimeError:
        return False
    return True


def core_of(source: bytes) -> Any:
    """A core that can read an IR."""
    return core(next((version for version in EXTENDED if f'version="{version}"'.encode() in source), "opset1"))
