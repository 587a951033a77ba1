"""Every assignment of sizes to the symbols of a signature gives shapes that OpenVINO reads.

The same holds over the folder of IRs in IRSHAPE_CORPUS, in place of those that the tests carry.
"""

from pathlib import Path
from random import Random
from typing import Any

import pytest

import irshape
from irshape.answers.signature.signature import Signature
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of, partial_shape

EXAMPLES = [Path(__file__).parents[2] / "examples" / name for name in ("atrous.xml", "decoder.xml", "decoder_stateful.xml")]
ASSIGNMENTS = 20
# So many sizes are tried to find those that the conditions admit.
ATTEMPTS = 300
# Sizes of windows, patches and strides, and what is added to their multiples: valid sizes are often near these.
STEPS = (1, 1, 2, 7, 8, 16, 32, 64, 112, 224)
OFFSETS = (0, 0, 0, 1, 2, 3, -1, -3)


def sizes(signature: Signature, random: Random) -> dict[str, int]:
    """Sizes of the symbols in their ranges."""
    found = {}
    for name, (low, high, modulus, remainder) in signature.symbols.items():
        size = max(random.choice(STEPS) * random.randint(1, 8) + random.choice(OFFSETS), int(low), 1)
        size -= (size - remainder) % modulus
        found[name] = int(min(size if size >= low else size + modulus, high))
    return found


def is_read(model: Any, shapes: dict[str, tuple[int, ...]]) -> bool:
    """Whether OpenVINO reads the model with these shapes of its inputs."""
    wanted = {node.output(0): partial_shape(list(shapes[node.get_friendly_name()])) for node in model.get_parameters()}
    try:
        model.reshape(wanted)
    except RuntimeError:
        return False
    return True


@pytest.mark.oracle
@pytest.mark.parametrize("path", [*EXAMPLES, *WITH_WEIGHTS], ids=named)
def test_openvino_reads_every_assignment(path: Path) -> None:
    signature = irshape.signature(path)
    if not signature.ok or not signature.symbols or "[...]" in signature.inputs.values():
        pytest.skip("no symbols, or an input of unknown rank")
    random = Random(path.stem)
    model = core_of(path.read_bytes()).read_model(path)
    found = 0
    for _ in range(ATTEMPTS):
        wanted = sizes(signature, random)
        shapes = signature.assign(wanted)
        if shapes is not None:
            found += 1
            assert is_read(model, shapes), (wanted, shapes)
        if found == ASSIGNMENTS:
            break
    assert found, "some sizes are admitted"
