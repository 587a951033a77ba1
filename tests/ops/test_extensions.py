"""Extensions are loaded from files, modules and packages, and serve the models that name them."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import irshape
from irshape import ExtensionError
from irshape.ops import extensions
from irshape.ops.extensions import registry_of
from irshape.ops.registry import REGISTRY, Registry
from tests.support.ir import Net
from tests.support.places import ROOT

TOML = '[{type}]\ninputs = ["data: any[N, S...]"]\noutputs = ["like data[N]"]\n'
PYTHON = """
import irshape
from irshape.extend import Context, In, Input, Op, Out, Shape, op

@op("{type}", "extension")
class Own(Op):
    data = In(min_rank=1)
    output = Out(like="data")

    def infer(self, ctx: Context, data: Input) -> Shape:
        return data.shape[:1]
"""


def net(type: str, version: str = "extension") -> bytes:
    """A model of one layer."""
    return Net(f"f32[4,5] -> {type}-{version.removeprefix('opset')} -> Result").xml.encode()


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path, whose modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def codes(inference: irshape.Inference) -> list[str]:
    return [found.code for found in inference.diagnostics]


def test_a_file_serves_the_models_that_name_it(tmp_path: Path) -> None:
    file = written(tmp_path, "ops.toml", TOML.format(type="OfAFile"))
    inference = irshape.infer(net("OfAFile"), extensions=file)
    assert codes(inference) == ["N107"]
    assert repr(inference.layer(1).outputs[0]) == "f32[4]"
    assert codes(irshape.infer(net("OfAFile"))) == ["G110"]
    assert REGISTRY.find("OfAFile", "extension") is None


def test_a_python_file_serves_the_models_that_name_it(tmp_path: Path) -> None:
    file = written(tmp_path, "ops.py", PYTHON.format(type="OfAPythonFile"))
    for _ in range(2):
        assert codes(irshape.infer(net("OfAPythonFile"), extensions=[str(file)])) == ["N107"]
    assert REGISTRY.find("OfAPythonFile", "extension") is None


def test_a_module_serves_the_models_that_name_it(importable: Path) -> None:
    written(importable, "acme_ops.py", PYTHON.format(type="OfAModule"))
    assert codes(irshape.infer(net("OfAModule"), extensions=["acme_ops"])) == ["N107"]
    assert codes(irshape.infer(net("OfAModule"))) == ["G110"]


def test_a_module_that_the_program_imports_serves_all_models(importable: Path) -> None:
    """The registry of the process keeps its classes, so this runs in a process of its own."""
    written(importable, "acme_all.py", PYTHON.format(type="OfAProgram"))
    written(importable, "model.xml", net("OfAProgram").decode())
    code = (
        "import acme_all, irshape\n"
        "for extensions in ([], ['acme_all']):\n"
        "    print([found.code for found in irshape.infer('model.xml', extensions=extensions).diagnostics])"
    )
    path = os.pathsep.join([str(importable), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path}
    run = subprocess.run([sys.executable, "-c", code], cwd=importable, capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.splitlines() == ["['N107']", "['N107']"]


def test_a_module_may_use_the_classes_of_irshape(importable: Path) -> None:
    """Modules of irshape that an extension imports register their classes for all models."""
    text = "from irshape.extend import op\nfrom irshape.ops.detection.heads import ReorgYolo\n\n"
    text += "@op('Mine', 'extension')\nclass Mine(ReorgYolo):"
    written(importable, "acme_uses.py", f"{text} ...\n")
    own = registry_of(["acme_uses"])
    assert [op.TYPE for op in own.own()] == ["Mine"]
    assert REGISTRY.find("ReorgYolo", "opset2") is not None


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = written(tmp_path, "ops.toml", TOML.format(type="First"))
    assert codes(irshape.infer(net("First"), extensions=file)) == ["N107"]
    written(tmp_path, "ops.toml", TOML.format(type="Second") + "\n")
    assert codes(irshape.infer(net("First"), extensions=file)) == ["G110"]
    assert codes(irshape.infer(net("Second"), extensions=file)) == ["N107"]


def test_extensions_add_up(tmp_path: Path) -> None:
    files = [written(tmp_path, f"{name}.toml", TOML.format(type=name)) for name in ("A1", "B1")]
    registry = registry_of(files)
    assert {"A1", "B1", "Add"} <= set(registry.types())
    assert registry.find("a1", "extension") is None, "the case of a type of an extension matters"
    assert registry.similar("A1x") in ("A1", None)
    assert registry_of(files) is registry
    assert registry_of([]) is REGISTRY


REFUSED = [
    (
        "known.toml",
        TOML.format(type="Truncate"),
        "known.toml: Truncate of version extension is known already; give the operation another type",
    ),
    ("known.py", PYTHON.format(type="CaseFold"), "known.py: the file cannot be run: CaseFold of version extension is known already"),
    ("twice.py", PYTHON.format(type="Two") * 2, "twice.py: the file cannot be run: Two is registered twice from extension on"),
    ("fails.py", "1 / 0", "fails.py: the file cannot be run: ZeroDivisionError: division by zero"),
    ("empty.py", "", 'empty.py: the module registers no operation; write @op("TYPE", "extension") of irshape.extend above a class'),
    ("wrong.toml", "[Op]\n", "wrong.toml:1: Op: the operation has no output; declare one"),
    ("ops.json", "{}", "ops.json: an extension is a .toml file, a .py file, or a module that can be imported"),
]


@pytest.mark.parametrize(("name", "text", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_an_extension_that_cannot_be_loaded(name: str, text: str, message: str, tmp_path: Path) -> None:
    file = written(tmp_path, name, text)
    for _ in range(2):
        with pytest.raises(ExtensionError) as caught:
            irshape.read(net("Op"), extensions=file)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.toml", "missing.toml: No such file or directory"),
        (
            "no_such_module",
            "no_such_module: the module cannot be imported: ModuleNotFoundError: No module named 'no_such_module'; for a file",
        ),
        ("..ops", "..ops: it is neither a file that ends with .toml or .py nor the whole name of a module"),
        ("irshape.shape.dim", "irshape.shape.dim: the module registers no operation"),
    ],
)
def test_an_extension_that_does_not_exist(name: str, message: str) -> None:
    with pytest.raises(ExtensionError) as caught:
        irshape.check(net("Op"), extensions=[name])
    assert message in str(caught.value)


def test_two_extensions_with_one_operation(tmp_path: Path) -> None:
    files = [written(tmp_path, f"{name}.toml", TOML.format(type="Same")) for name in ("a", "b")]
    with pytest.raises(ExtensionError, match=r"b\.toml: Same is registered twice from extension on"):
        registry_of(files)


def test_a_type_of_openvino_under_another_version(tmp_path: Path) -> None:
    text = '[Add]\nversion = "acme"\ninputs = ["data: any[N, S...]"]\noutputs = ["like data[N]"]\n'
    file = written(tmp_path, "ops.toml", text)
    assert codes(irshape.infer(net("Add", "acme"), extensions=file)) == ["N107"]
    assert codes(irshape.infer(net("Add", "acme"))) == ["G112"]


class Points:
    """The entry points of installed packages, as `importlib.metadata` gives them."""

    def __init__(self, **values: str) -> None:
        self.points = [metadata.EntryPoint(name, value, "irshape.ops") for name, value in values.items()]

    def __call__(self, *, group: str) -> list[metadata.EntryPoint]:
        assert group == "irshape.ops"
        return self.points


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The registry of a process that has not looked at packages yet; the real one is untouched."""
    own = Registry(REGISTRY)
    monkeypatch.setattr(extensions, "_plugins", set())
    monkeypatch.setattr("irshape.ops.registry.REGISTRY", own)
    monkeypatch.setattr("irshape.model.build.REGISTRY", own)
    monkeypatch.setattr("irshape.model.load.REGISTRY", own)
    monkeypatch.setattr(extensions, "register", lambda op: own.add(op, op.TYPE, op.VERSION, None, [], []))
    return own


def test_a_package_adds_operations_to_all_models(importable: Path, process: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    written(importable, "acme/__init__.py", "")
    written(importable, "acme/ops.py", PYTHON.format(type="OfAPackage"))
    written(importable, "acme/more.toml", TOML.format(type="OfItsFile"))
    monkeypatch.setattr(metadata, "entry_points", Points(a="acme.ops", b="acme:more.toml"))
    assert codes(irshape.infer(net("OfAPackage"))) == ["N107"]
    assert codes(irshape.infer(net("OfItsFile"))) == ["N107"]
    assert sorted(op.TYPE for op in process.own()) == ["OfAPackage", "OfItsFile"]


def test_packages_are_looked_at_for_an_unknown_operation_alone(process: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(*, group: str) -> list[metadata.EntryPoint]:
        raise AssertionError("looked at packages")

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    assert codes(irshape.infer(net("ReLU", "opset1"))) == []
    assert codes(irshape.infer(net("Reluu", "opset1"))) == ["G110"]


def test_a_package_that_cannot_be_loaded(importable: Path, process: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    written(importable, "broken.py", "import no_such_library")
    monkeypatch.setattr(metadata, "entry_points", Points(broken="broken"))
    for _ in range(2):
        with pytest.raises(ExtensionError) as caught:
            irshape.infer(net("Unheard"))
    assert "its entry point irshape.ops: broken = broken, which cannot be loaded: ModuleNotFoundError" in str(caught.value)
    assert "mend or remove the package" in str(caught.value)


def test_a_model_of_an_extension_is_pickled(tmp_path: Path) -> None:
    file = written(tmp_path, "ops.toml", TOML.format(type="Pickled"))
    again = pickle.loads(pickle.dumps(irshape.read(net("Pickled"), extensions=file)))
    assert codes(irshape.infer(again)) == ["N107"]
    inference = pickle.loads(pickle.dumps(irshape.infer(net("Pickled"), extensions=file)))
    assert repr(inference.layer(1).outputs[0]) == "f32[4]"
