"""An interrupt while the modules of operations are imported leaves a process that imports them again and gives the same answers."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.places import EXAMPLES, ROOT

# One fresh process for each file; a fork of it for each moment, which is broken off there and asked again.
SCRIPT = """
import json, os, random, sys
import irshape
from tests.support.interrupts import interrupted

path, most, ops = sys.argv[1], int(sys.argv[2]), os.path.join(os.path.dirname(irshape.__file__), "ops")

def of_a_definition(code):
    return code.co_name == "decorate" and code.co_filename.startswith(ops)  # around the registration of a class

def answer():
    return irshape.check(path).to_dict()

def in_a_fork(moment):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            count = interrupted(answer, moment, where=of_a_definition)
            said = [count, answer()]
        except BaseException as error:
            said = [0, repr(error)]
        os.close(read)
        with os.fdopen(write, "w") as file:
            json.dump(said, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        said = json.load(file)
    os.waitpid(child, 0)
    return said

count, expected = in_a_fork(0)
chance = random.Random(path)  # one moment of each of `most` equal parts of the import
moments = [chance.randint(1 + count * part // most, count * (part + 1) // most) for part in range(most)]
print(json.dumps([count, expected["ok"], [moment for moment in moments if in_a_fork(moment)[1] != expected]]))
"""


def others(name: str, most: int) -> list[int]:
    """The moments after which the answers are not those of a fresh process."""
    command = [sys.executable, "-c", SCRIPT, str(EXAMPLES / f"{name}.xml"), str(most)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    count, is_ok, found = json.loads(run.stdout)
    assert is_ok and count > 100
    return list(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("name", ["sums"])
def test_an_import_that_is_broken_off_is_made_again(name: str) -> None:
    assert others(name, 4) == []


@pytest.mark.slow("take long")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("name", ["atrous", "sums", "detector", "decoder", "detokenizer", "translator"])
def test_every_import_that_is_broken_off_is_made_again(name: str) -> None:
    assert others(name, 15) == []
