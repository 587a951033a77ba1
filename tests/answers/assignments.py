"""Sizes for the symbols of a signature, drawn near those that are often valid."""

from random import Random

from irshape.answers.signature.signature import Signature

ASSIGNMENTS = 20
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
