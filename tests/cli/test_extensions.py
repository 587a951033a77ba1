"""Operations that irshape does not know, on the command line: --extensions and --opaque."""

from pathlib import Path

import pytest

from tests.support.commands import Start
from tests.support.places import EXAMPLES

MODEL = str(EXAMPLES / "extension.xml")
PATCHES = str(EXAMPLES / "patches.toml")
IMAGE = ("--input", "image[1,3,448,448]")


COMMANDS = [
    ("check", ()),
    ("infer", ()),
    ("reshape", IMAGE),
    ("explain", ("embed:1:1",)),
    ("sizes", ("--input", "image[1,3,S,S]")),
    ("info", ()),
    ("diff", (MODEL,)),
]


@pytest.mark.parametrize(("command", "more"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_every_command_loads_extensions(command: str, more: tuple[str, ...], run: Start) -> None:
    text = run(command, MODEL, *more, "--extensions", PATCHES, code=0).out
    assert "G110" not in text
    assert "not known" not in text


def test_operations_of_an_extension_are_described(run: Start) -> None:
    assert "OpenVINO needs acme-vision to run it" in run("ops", "PatchEmbed", "--extensions", PATCHES, code=0).out
    assert "  PatchEmbed " in run("ops", "--extensions", PATCHES, code=0).out
    assert "PatchEmbed" not in run("ops", code=0).out


@pytest.mark.parametrize("command", ["check", "infer", "ops", "diff"])
def test_an_extension_that_cannot_be_loaded_is_one_line(command: str, tmp_path: Path, run: Start) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text('[Op]\ninputs = ["data: f33[N]"]\noutputs = ["f32[N]"]\n', encoding="utf-8")
    files = [] if command == "ops" else [MODEL, MODEL]
    done = run(command, *files, "--extensions", file, code=2)
    assert done.out == "" and done.err.count("\n") == 1
    assert done.err.startswith(f"irshape: {file}:2: Op: 'f33' is not an element type; write any, number, integer, float, or a type")


def test_workers_load_extensions(tmp_path: Path, run: Start) -> None:
    for number in range(3):
        (tmp_path / f"{number}.xml").write_text(Path(MODEL).read_text(encoding="utf-8"), encoding="utf-8")
    text = run("check", str(tmp_path), "--jobs", "2", "--extensions", PATCHES, code=0).out
    assert "3 files, 12 layers: 3 notes" in text


def test_a_misspelt_type_has_the_hint_that_fits(tmp_path: Path, run: Start) -> None:
    text = Path(MODEL).read_text(encoding="utf-8")
    hints = {
        ("PatchEmbed", "extension"): "describe it with --extensions FILE, or trust its recorded ports with --opaque PatchEmbed",
        ("SoftMaxx", "opset1"): "did you mean Softmax?",
        ("SoftMaxx", "extension"): "did you mean Softmax? Otherwise describe it with --extensions FILE, or trust its recorded ports",
    }
    for (type, version), hint in hints.items():
        file = tmp_path / "model.xml"
        file.write_text(text.replace('"PatchEmbed" version="extension"', f'"{type}" version="{version}"'), encoding="utf-8")
        assert f"hint: {hint}" in run("check", str(file), code=1).out


@pytest.mark.parametrize(("pattern", "fits"), [("PatchEmbed", True), ("Patch*", True), ("*", True), ("patch*", False), ("Embed", False)])
def test_opaque_takes_patterns(pattern: str, fits: bool, run: Start) -> None:
    assert ("G117" in run("check", MODEL, "--opaque", pattern, code=int(not fits)).out) is fits


def test_an_opaque_operation_keeps_no_sizes_for_other_inputs(tmp_path: Path, run: Start) -> None:
    written = str(tmp_path / "out.xml")
    text = run("reshape", MODEL, *IMAGE, "--opaque", "PatchEmbed", "-o", written, code=0).out
    assert "f32[?,?,?]" in text
    assert "the file does not record its outputs for these inputs; their sizes are unknown" in text
    assert "hint: describe the operation with --extensions FILE" in text
    text = run("infer", written, "--opaque", "PatchEmbed", code=0).out
    assert "f32[?,?,?]" in text
    same = run("infer", MODEL, "--input", "image[1,3,224,224]", "--opaque", "PatchEmbed", code=0).out
    assert "f32[1,196,768]" in same
    assert "its recorded ports are trusted" in same


def test_sizes_claim_nothing_through_an_opaque_operation(run: Start) -> None:
    text = run("sizes", MODEL, "--input", "image[1,3,S,S]", "--set", "S=1..4", "--opaque", "PatchEmbed", code=0).out
    assert "(as far as formulas tell)" in text
    assert "the operation is unknown, and so are the sizes that it takes; describe it with --extensions" in text


def test_a_configuration_names_files_of_operations_and_no_code(tmp_path: Path, run: Start) -> None:
    for name, source in (("model.xml", MODEL), ("patches.toml", PATCHES)):
        (tmp_path / name).write_text(Path(source).read_text(encoding="utf-8"), encoding="utf-8")
    configuration = tmp_path / "irshape.toml"
    configuration.write_text('extensions = ["patches.toml"]\n', encoding="utf-8")
    assert "1 file, 4 layers: 1 note" in run("check", str(tmp_path / "model.xml"), code=0).out
    assert "1 file, 4 layers: 1 note" in run("check", str(tmp_path / "model.xml"), "--fix", code=0).out
    configuration.write_text('extensions = ["patches.py"]\n', encoding="utf-8")
    done = run("check", str(tmp_path / "model.xml"), code=2)
    assert "'patches.py' is not a .toml file; name Python files and modules on the command line" in done.err
    configuration.write_text('extensions = ["missing.toml"]\n', encoding="utf-8")
    assert "missing.toml: No such file or directory" in run("check", str(tmp_path / "model.xml"), code=2).err
