"""The JSON of every answer stays what it is, byte for byte, for the examples and some of the carried files.

`python -m tests.answers.test_records` writes the digests anew, where an answer changes on purpose.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

import irshape
from irshape.inference.inputs import InputError
from tests.support.places import DATA, DECODER, EXAMPLES, IRS, ROOT

DIGESTS: Final = DATA / "answers.json"
FILES: Final = [*sorted(EXAMPLES.glob("*.xml")), *sorted(IRS.glob("**/*.xml"))[::4]]


def explained(path: Path) -> list[Any]:
    """The explanation of the last layer with an output, and of one in the middle."""
    inference = irshape.infer(path)
    nodes = [node for node in inference.model.nodes if node.outputs]
    return [inference.explain(nodes[at].id).to_dict() for at in (-1, len(nodes) // 2)]


ANSWERS: Final[dict[str, Callable[[Path], Any]]] = {
    "check": lambda path: irshape.check(path).to_dict(),
    "named": lambda path: irshape.infer(path).to_dict(named=True),
    "explain": explained,
    "signature": lambda path: irshape.signature(path).to_dict(),
    "sizes": lambda path: irshape.sizes(path).to_dict(),
    "cost": lambda path: irshape.cost(path).to_dict(),
    "info": lambda path: irshape.info(path).to_dict(),
    "summary": lambda path: irshape.summary(path).to_dict(),
    "diff": lambda path: irshape.diff(DECODER, path, cost=True).to_dict(),
}


def digests(path: Path) -> dict[str, str]:
    """A digest of each answer about a file, which does not depend on the place of the repository; of a refusal, its message."""
    found = {}
    for name, answer in ANSWERS.items():
        try:
            text = json.dumps(answer(path))
        except InputError as error:
            text = str(error)
        found[name] = sha256(text.replace(f"{ROOT}/", "").encode()).hexdigest()[:8]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_answer_is_what_it_was(path: Path) -> None:
    assert digests(path) == json.loads(DIGESTS.read_text())[path.relative_to(ROOT).as_posix()]


if __name__ == "__main__":
    rows = {path.relative_to(ROOT).as_posix(): digests(path) for path in FILES}
    DIGESTS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()) + "\n}\n")
