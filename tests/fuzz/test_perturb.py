"""Rows that have been changed at random have the verdict, the element types and the shapes of OpenVINO."""

import os

import pytest

from tests.fuzz.apart import found

pytestmark = pytest.mark.slow("take long")

# `IRSHAPE_PERTURBED=20000` compares as many rows as that.
COUNT = int(os.environ.get("IRSHAPE_PERTURBED", "300"))


@pytest.mark.oracle
def test_perturbed_rows_beside_openvino() -> None:
    assert list(found("tests.fuzz.perturb", 0, COUNT)) == []
