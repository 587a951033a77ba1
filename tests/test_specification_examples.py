"""Examples of the specification: ours in every form that occurs, and a folder of the published ones."""

import os
from pathlib import Path

import pytest

from tools.specification_examples import ROOT, examine, examples, faults, page_text

OURS = sorted((Path(__file__).parent / "data" / "examples").glob("*.xml"))
FOLDER = os.environ.get("IRSHAPE_SPECIFICATION")


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_an_example_of_ours_is_inferred_as_recorded(path: Path) -> None:
    result = examine(path.read_bytes())
    assert result.faults == result.differences == []
    assert result.compared


# Examples of ours after a change, and what is said of them.
CHANGES = [
    ("scalar", '<port id="2">', '<port id="2"><dim>1</dim>', "line 9 records [1], inferred is []"),
    ("value_beside_dim", "[2, 0, 1]", "[2, 0]", "line 13 records [4,2,3], inferred is [2..4,2..4,2..4]"),
    ("value_after_port", "axis: -1", "axis: 3", "line 6: axis must be in [-3, 2], got 3"),
    ("version_by_outputs", "I32", "I64", "line 9 records I64, inferred is I32"),
    ("value_without_dims", "FP16", "F16", "line 10: 'F16' is no element type"),
    ("several_layers", 'num_splits="2"', 'num_splits="5"', "line 15: axis 1 must be a multiple of num_splits"),
    ("version_stated", "opset1", "opset5", "line 4: data must have at least rank 2, got rank 1"),
    ("ellipsis", "</input>", "", "line 10: <input> of line 2 is never closed"),
    ("reused_port_ids", "</dim></port>\n        <port", "</dim></port></input><input><port", "line 3: the layer has a second <input>"),
]


@pytest.mark.parametrize(("name", "old", "new", "said"), CHANGES, ids=[f"{name}-{new}" for name, _, new, _ in CHANGES])
def test_what_is_wrong_with_an_example_is_said(name: str, old: str, new: str, said: str) -> None:
    source = (Path(__file__).parent / "data" / "examples" / f"{name}.xml").read_text(encoding="utf-8")
    assert old in source
    result = examine(source.replace(old, new, 1).encode())
    assert any(text.startswith(said) for text in result.faults + result.differences), result


@pytest.mark.skipif(not FOLDER, reason="IRSHAPE_SPECIFICATION names no folder")
def test_every_published_example_is_equal_or_remarked_on() -> None:
    assert FOLDER is not None
    found = list(examples(Path(FOLDER)))
    assert faults(found) == []
    assert page_text(found) == (ROOT / "docs" / "specification-examples.md").read_text(encoding="utf-8")
