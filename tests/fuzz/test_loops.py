"""Random Loops give in OpenVINO's CPU plugin what irshape infers, also if no iteration runs."""

import pytest

from tests.fuzz.apart import found

pytestmark = pytest.mark.slow("take long")


@pytest.mark.oracle
@pytest.mark.parametrize("first", range(0, 160, 40))
def test_random_loops_in_the_cpu_plugin(first: int) -> None:
    assert list(found("tests.fuzz.loops", first, 40)) == []
