"""Random Loops give in OpenVINO's CPU plugin what irshape infers, also if no iteration runs."""

import pytest


@pytest.mark.oracle
@pytest.mark.parametrize("first", range(0, 160, 40))
def test_random_loops_in_the_cpu_plugin(first: int) -> None:
    from tests.fuzz.loops import found

    assert list(found(first, 40)) == []
