"""Files made to do harm are refused with a code and a place, or accepted; nothing in between."""

import pytest

import irshape
from irshape.report.diagnostic import ERROR
from tests.fuzz.hostile import all_of
from tests.fuzz.mutate import Mutant, findings

pytestmark = pytest.mark.slow("take long")

FILES = all_of()


@pytest.mark.parametrize("name", FILES)
def test_hostile_files(name: str) -> None:
    file = FILES[name]
    assert findings(Mutant(file.xml, file.weights), seconds=10) == []
    inference = irshape.check(file.xml, weights=file.weights or b"\0")
    errors = {diagnostic.code for diagnostic in inference.diagnostics if diagnostic.severity == ERROR}
    assert file.code in errors if file.code else not errors, inference.diagnostics
