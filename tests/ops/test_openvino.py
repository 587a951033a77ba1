"""A rule is the specification: what OpenVINO does otherwise stands in the hooks of the operation."""

import ast
from pathlib import Path

import pytest

import irshape.ops

FOLDER = Path(irshape.ops.__file__).parent
MODULES = {path.relative_to(FOLDER).with_suffix("").as_posix(): path.read_text("utf-8") for path in sorted(FOLDER.rglob("*.py"))}
# Rules that open a scope of OpenVINO's checks themselves, each because the condition is a number that only the rule has computed.
SCOPED = {
    "convolution": "the channels that a group of filters takes",
    "declared/formula": "the sizes that a formula of a description names",
    "detection/detection_output": "the first input that tells the number of prior boxes",
    "movement/patches": "the blocks that the window leaves",
    "sequence/recurrent": "the first input that tells a size",
    "shape": "the sizes that Reshape has left to multiply",
    "signals/short_time": "the frame that a number of either sign gives",
    "sort/top_k": "whether k is a premise",
}


def test_rules_open_no_scope_of_openvino() -> None:
    assert {module for module, text in MODULES.items() if ".openvino_checks(" in text} == set(SCOPED)


@pytest.mark.parametrize("module", MODULES)
def test_the_hooks_of_openvino_stand_together(module: str) -> None:
    for tree in ast.walk(ast.parse(MODULES[module])):
        if isinstance(tree, ast.ClassDef):
            names = [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
            hooks = [index for index, name in enumerate(names) if name.startswith("openvino_")]
            assert not hooks or hooks == list(range(hooks[0], hooks[-1] + 1)), tree.name
