"""Operations that irshape does not know, on the command line: --extensions and --opaque."""

from pathlib import Path

import pytest

from irshape.cli.main import main

ROOT = Path(__file__).parent.parent.parent
MODEL = str(ROOT / "examples" / "extension.xml")
PATCHES = str(ROOT / "examples" / "patches.toml")
IMAGE = ("--input", "image[1,3,448,448]")


def out(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code
    return capsys.readouterr().out


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
def test_every_command_loads_extensions(command: str, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, command, MODEL, *more, "--extensions", PATCHES)
    assert "G110" not in text
    assert "not known" not in text


def test_operations_of_an_extension_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert "OpenVINO needs acme-vision to run it" in out(capsys, "ops", "PatchEmbed", "--extensions", PATCHES)
    assert "  PatchEmbed " in out(capsys, "ops", "--extensions", PATCHES)
    assert "PatchEmbed" not in out(capsys, "ops")


@pytest.mark.parametrize("command", ["check", "infer", "ops", "diff"])
def test_an_extension_that_cannot_be_loaded_is_one_line(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text('[Op]\ninputs = ["data: f33[N]"]\noutputs = ["f32[N]"]\n', encoding="utf-8")
    files = [] if command == "ops" else [MODEL, MODEL]
    assert main([command, *files, "--extensions", str(file)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"irshape: {file}:2: Op: 'f33' is not an element type; write any, number, integer, float, or a type")
    assert captured.err.count("\n") == 1


def test_workers_load_extensions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        (tmp_path / f"{number}.xml").write_text(Path(MODEL).read_text(encoding="utf-8"), encoding="utf-8")
    text = out(capsys, "check", str(tmp_path), "--jobs", "2", "--extensions", PATCHES)
    assert "3 files, 12 layers: 3 notes" in text


def test_a_misspelt_type_has_the_hint_that_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(MODEL).read_text(encoding="utf-8")
    hints = {
        ("PatchEmbed", "extension"): "describe it with --extensions FILE, or trust its recorded ports with --opaque PatchEmbed",
        ("SoftMaxx", "opset1"): "did you mean Softmax?",
        ("SoftMaxx", "extension"): "did you mean Softmax? Otherwise describe it with --extensions FILE, or trust its recorded ports",
    }
    for (type, version), hint in hints.items():
        file = tmp_path / "model.xml"
        file.write_text(text.replace('"PatchEmbed" version="extension"', f'"{type}" version="{version}"'), encoding="utf-8")
        assert f"hint: {hint}" in out(capsys, "check", str(file), code=1)


@pytest.mark.parametrize(("pattern", "fits"), [("PatchEmbed", True), ("Patch*", True), ("*", True), ("patch*", False), ("Embed", False)])
def test_opaque_takes_patterns(pattern: str, fits: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert ("G117" in out(capsys, "check", MODEL, "--opaque", pattern, code=int(not fits))) is fits


def test_an_opaque_operation_keeps_no_sizes_for_other_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = str(tmp_path / "out.xml")
    text = out(capsys, "reshape", MODEL, *IMAGE, "--opaque", "PatchEmbed", "-o", written)
    assert "f32[?,?,?]" in text
    assert "the file does not record its outputs for these inputs; their sizes are unknown" in text
    assert "hint: describe the operation with --extensions FILE" in text
    text = out(capsys, "infer", written, "--opaque", "PatchEmbed")
    assert "f32[?,?,?]" in text
    same = out(capsys, "infer", MODEL, "--input", "image[1,3,224,224]", "--opaque", "PatchEmbed")
    assert "f32[1,196,768]" in same
    assert "its recorded ports are trusted" in same


def test_sizes_claim_nothing_through_an_opaque_operation(capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "sizes", MODEL, "--input", "image[1,3,S,S]", "--set", "S=1..4", "--opaque", "PatchEmbed")
    assert "(as far as formulas tell)" in text
    assert "the operation is unknown, and so are the sizes that it takes; describe it with --extensions" in text


def test_a_configuration_names_files_of_operations_and_no_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, source in (("model.xml", MODEL), ("patches.toml", PATCHES)):
        (tmp_path / name).write_text(Path(source).read_text(encoding="utf-8"), encoding="utf-8")
    configuration = tmp_path / "irshape.toml"
    configuration.write_text('extensions = ["patches.toml"]\n', encoding="utf-8")
    assert "1 file, 4 layers: 1 note" in out(capsys, "check", str(tmp_path / "model.xml"))
    assert "1 file, 4 layers: 1 note" in out(capsys, "check", str(tmp_path / "model.xml"), "--fix")
    configuration.write_text('extensions = ["patches.py"]\n', encoding="utf-8")
    assert main(["check", str(tmp_path / "model.xml")]) == 2
    assert "'patches.py' is not a .toml file; name Python files and modules on the command line" in capsys.readouterr().err
    configuration.write_text('extensions = ["missing.toml"]\n', encoding="utf-8")
    assert main(["check", str(tmp_path / "model.xml")]) == 2
    assert "missing.toml: No such file or directory" in capsys.readouterr().err
