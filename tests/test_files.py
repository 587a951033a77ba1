"""Files are opened, written and removed by `irshape.files` alone, so that what it promises holds for the whole program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.support.places import ROOT

PACKAGE = ROOT / "irshape"

# Calls that open, make, rename or remove a file, by the name of the function or of the method.
FUNCTIONS = {
    "open", "fdopen", "NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile", "mkstemp", "mkdtemp", "savefig",
    "ParquetWriter",
}  # fmt: skip
OF_OS = {"open", "replace", "rename", "renames", "unlink", "remove", "rmdir", "link", "symlink", "truncate", "mkfifo", "mkdir", "makedirs"}
METHODS = {"write_text", "write_bytes", "read_text", "read_bytes", "touch", "mmap", "rmtree", "copyfile", "copy2"}

# What opens no file that somebody names, or whose file is gone when it is closed.
ALLOWED = {
    ("answers/cost/cost.py", "savefig"): "draws into memory",
    ("cli/main.py", "open"): "the null device",
    ("cli/main.py", "os.open"): "the null device",
    ("cli/workers.py", "os.open"): "the null device",
    ("cli/scan.py", "os.open"): "the null device",
    ("cli/scan.py", "os.fdopen"): "standard output",
    ("cli/outputs.py", "os.makedirs"): "the folders below -o FOLDER/",
    ("cli/folders.py", "os.makedirs"): "the folders of --write-reference DIR/",
    ("cli/reduce.py", "os.makedirs"): "the folder of -o OUT/",
    ("cli/reduce.py", "os.unlink"): "the answers of a run that is not taken up",
    ("cli/view.py", "mkdtemp"): "the folder of a page for the browser",
    ("ops/tokenizers.py", "open"): "a file of irshape",
    ("page/html.py", "open"): "a file of irshape",
    ("cli/reduce.py", "os.rmdir"): "the folder that this run has made, and that holds nothing",
    ("editing/trial.py", "TemporaryDirectory"): "a command reads the model that it is tried on",
    ("running/comparison.py", "TemporaryDirectory"): "OpenVINO reads the models that are compared",
    ("running/process.py", "os.fdopen"): "standard input and output",
    ("running/process.py", "os.open"): "the null device",
    ("scanning/archive.py", "TemporaryFile"): "what an archive unpacks to",
    ("scanning/places.py", "TemporaryFile"): "the places of a scan",
    ("scanning/remote.py", "TemporaryFile"): "an archive of a server without ranges",
    ("scanning/results.py", "ParquetWriter"): "writes into a file that is open",
    ("xml/openvino_model.py", "NamedTemporaryFile"): "OpenVINO writes to paths alone",
    ("xml/openvino_model.py", "TemporaryDirectory"): "OpenVINO writes to paths alone",
    ("xml/openvino_model.py", "open"): "what OpenVINO wrote",
    ("xml/writer.py", "os.link"): "a temporary name of the weights, which the writer takes",
}


def calls(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The calls that open, write or remove a file, each with its line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id in FUNCTIONS | METHODS:
            yield function.id, node.lineno
        elif isinstance(function, ast.Attribute):
            owner = function.value.id if isinstance(function.value, ast.Name) else ""
            if owner == "os" and function.attr in OF_OS | {"fdopen"}:
                yield f"os.{function.attr}", node.lineno
            elif (
                function.attr in METHODS
                or (function.attr in FUNCTIONS - {"open", "fdopen"})
                or (owner in ("io", "codecs") and "open" in function.attr)
            ):
                yield function.attr, node.lineno


def test_no_other_module_opens_files_and_each_exception_is_needed() -> None:
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items() if not name.startswith("files/")}
    used = {(name, call): f"{name}:{line}: {call}: use irshape.files" for name, tree in trees.items() for call, line in calls(tree)}
    assert [used[one] for one in used.keys() - ALLOWED.keys()] == []
    assert ALLOWED.keys() - used.keys() == set()
