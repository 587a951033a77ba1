"""The pages of the documentation site: all are there, what they show runs, and a built site is searched for faults."""

import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import irshape
import irshape.typing
from irshape.cli.arguments import COMMANDS
from irshape.cli.main import main
from irshape.cli.parser import parser
from irshape.settings.read import read_configuration
from irshape.settings.schema import Configuration
from tests.support.places import EXAMPLES, ROOT
from tools import documentation, generate

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
PYTHON = {
    f"{guide.stem.replace('-', '_')}_{number}": block
    for guide in GUIDES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL))
}
YAML = [
    (guide, number, block)
    for guide in GUIDES
    for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL))
]


def test_the_navigation_lists_every_page_once() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = [*documentation.sources().values(), *documentation.REFERENCE]
    assert sorted(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE)) == sorted(pages)


def test_no_page_is_longer_than_a_person_reads() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *EXAMPLES.glob("*.md"), *ROOT.glob("[CRS]*[DGY].md")]
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in pages}
    assert {page: length for page, length in lengths.items() if length > 400} == {}


def test_the_list_of_commands_names_each() -> None:
    listed = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert sorted(set(re.findall(r"^    irshape ([a-z]+)\b", listed, re.MULTILINE))) == sorted(COMMANDS)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_example_of_a_guide_runs(guide: Path) -> None:
    """What it prints is derived (tests/test_generated.py); an example without output would not be run."""
    text = guide.read_text(encoding="utf-8")
    run = list(generate.BLOCK.finditer(text))
    assert len(run) == len(re.findall("^```(?:console|python)$", text, re.MULTILINE)) > 0
    assert f"docs/guides/{guide.name}" in generate.FILES


SHOWN = re.findall(r"```text\n((\w+\.xml)  IR v.*?)```", (ROOT / "docs" / "guides" / "signature.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.skipif(not os.environ.get("IRSHAPE_CORPUS"), reason="IRSHAPE_CORPUS names no folder")
@pytest.mark.parametrize(("report", "name"), SHOWN, ids=[name for _, name in SHOWN])
def test_exported_models_have_the_signatures_that_the_guide_shows(report: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = Path(os.environ["IRSHAPE_CORPUS"]).glob(f"**/{name}")
    assert main(["signature", str(path)]) == 0
    assert capsys.readouterr().out.replace(str(path), name) == report


@pytest.mark.slow("need type checkers or linters")
def test_a_type_checker_accepts_every_script_of_a_guide(tmp_path: Path) -> None:
    """And it refuses what no function takes."""
    wrong = {
        "irshape.infer(3)": "arg-type",
        "irshape.read(None)": "arg-type",
        "irshape.check('m.xml', weights=1)": "arg-type",
        "irshape.infer('m.xml', inputs={'x': 3.5})": "dict-item",
        "irshape.Session('m.xml').reshape(x=3)": "arg-type",
        "irshape.read('m.xml')['x'].inputs[0].source.node": "union-attr",
    }
    refused = "".join(f"{line}  # type: ignore[{code}]\n" for line, code in wrong.items())  # strict: an unused one is an error
    scripts = {**PYTHON, "wrong": f"import irshape\n\n{refused}"}
    for name, text in scripts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n[mypy-openvino.*]\nignore_missing_imports = true\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(tmp_path / "mypy.ini"), *map(str, sorted(tmp_path.glob("*.py")))]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow("need type checkers or linters")
@pytest.mark.parametrize(("guide", "number", "block"), YAML, ids=[f"{guide.stem} {number}" for guide, number, _ in YAML])
def test_the_configurations_of_a_guide_have_their_form(guide: Path, number: int, block: str, tmp_path: Path) -> None:
    path = tmp_path / "block.yml"
    path.write_text(block, encoding="utf-8")
    if block.startswith("repos:"):
        pytest.importorskip("pre_commit", reason="pre-commit is not installed")
        command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        return
    schema = "vendor.github-workflows" if "\njobs:\n" in block else "vendor.gitlab-ci"
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(("guide", "number", "block"), YAML, ids=[f"{guide.stem} {number}" for guide, number, _ in YAML])
def test_the_commands_of_a_configuration_exist(guide: Path, number: int, block: str) -> None:
    commands = re.findall(r"run: irshape ([a-z]+ [^>\n]+)", block)
    assert commands or "irshape check" not in block
    for command in commands:
        words = shlex.split(command)
        assert parser(words).parse_args(words).command == words[0]


@pytest.mark.parametrize("page", ["docs/configuration.md", "docs/guides/continuous-integration.md"])
def test_the_configurations_of_irshape_are_right(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        path = tmp_path / ("pyproject.toml" if "[tool.irshape]\n" in block else "irshape.toml")
        path.write_text(block, encoding="utf-8")
        assert read_configuration(str(path)).ignore


def test_the_example_of_a_configuration_is_the_file() -> None:
    page = (ROOT / "docs" / "guides" / "continuous-integration.md").read_text(encoding="utf-8")
    assert f"```toml\n{(EXAMPLES / 'checks.toml').read_text(encoding='utf-8')}```" in page


def test_every_key_of_a_configuration_is_explained() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    keys = [name.replace("_", "-") for name in Configuration.model_fields]
    assert [key for key in keys if f"| `{key}` |" not in page] == []


def members(name: str) -> Iterator[tuple[str, str]]:
    """The public members of a documented name, each with the text that must describe it."""
    home, _, own = name.rpartition(".")
    value = getattr(import_module(home), own)
    if not inspect.isclass(value):
        yield name, inspect.getdoc(value) or ""
        return
    about = inspect.getdoc(value) or ""
    assigned = re.findall(r"^        self\.([a-z]\w*)(?:: [^=\n]+)? = ", inspect.getsource(value), re.MULTILINE)
    for member in sorted({*vars(value), *assigned}):
        if member.startswith("_"):
            continue
        found = vars(value).get(member)
        found = getattr(found, "__func__", getattr(found, "fget", getattr(found, "func", found)))
        if inspect.isfunction(found):
            yield f"{name}.{member}", inspect.getdoc(found) or ""
        elif found is None or inspect.ismemberdescriptor(found):  # a field, which the docstring of the class describes
            yield f"{name}.{member}", about if f"`{member}`" in about or f"`{member}=" in about else ""


PUBLIC = [f"irshape.{name}" for name in irshape.__all__] + [
    name for one in irshape.typing.__all__ if (name := f"irshape.typing.{one}") not in documentation.TYPES
]


@pytest.mark.parametrize("name", PUBLIC)
def test_the_reference_describes_every_member(name: str) -> None:
    """A member without a description would not be on the page."""
    assert [member for member, text in members(name) if not text] == []
    assert f"\n::: {name}\n" in documentation.api_page()


def test_the_page_of_commands_has_every_option() -> None:
    sections = documentation.commands_page().split("\n## irshape ")[1:]
    assert [section.split("\n")[0] for section in sections] == list(COMMANDS)
    check, infer = sections[0], sections[1]
    assert "| `-t POLICY`, `--target POLICY` |" in check
    assert "| `-o OUT.xml`, `--output OUT.xml` |" in infer
    assert "&lt;layer>" in infer
    assert "<layer>" not in infer
    assert "| `--color {auto,always,never}` |" in infer  # a rare one


def test_the_page_of_the_api_names_what_exists() -> None:
    names = re.findall(r"^::: (\S+)$", documentation.api_page(), re.MULTILINE)
    assert {"irshape.infer", "irshape.Session", "irshape.extend.Op"} <= set(names)
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"irshape\.((extend|testing|typing)\.)?\w+", name)] == []
    assert {f"irshape.typing.{name}" for name in irshape.typing.__all__} <= set(names)
    for name in names:
        module, _, member = name.rpartition(".")
        assert hasattr(import_module(module), member), name


def test_the_page_of_schemas_has_the_keys_of_objects_in_objects() -> None:
    page = documentation.schemas_page()
    assert "| `diagnostics` | array of [diagnostic](#diagnostics) |" in page
    assert "| `layer.name` | string or null |" in page
    assert "| `changes[].kind` | one of `added`, " in page


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("README.md", "docs/command-line.md#fixes", "command-line.md#fixes"),
        ("README.md", "CONTRIBUTING.md", "contributing.md"),
        ("README.md", "schemas", "reference/schemas.md"),
        ("README.md", "LICENSE", "files/LICENSE"),
        ("docs/guides/npu.md", "../../SECURITY.md", "../security.md"),
        ("docs/guides/npu.md", "../diagnostics.md", "../diagnostics.md"),
        ("docs/command-line.md", "../schemas/info.schema.json", "files/schemas/info.schema.json"),
        ("examples/README.md", "../README.md#python", "index.md#python"),
        ("README.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("README.md", "#python", "#python"),
    ],
)
def test_links_follow_their_pages(page: str, link: str, expected: str) -> None:
    moved = documentation.moved(f"see [it]({link}).", page, documentation.sources(), lambda file: f"files/{file}")
    assert moved == f"see [it]({expected})."


def test_all_pages_are_gathered(tmp_path: Path) -> None:
    documentation.gather(tmp_path / "pages")
    gathered = {path.relative_to(tmp_path / "pages").as_posix() for path in (tmp_path / "pages").rglob("*.md")}
    assert gathered == {*documentation.sources().values(), *documentation.REFERENCE}
    assert (tmp_path / "pages" / "performance.png").exists()
    assert (tmp_path / "pages" / "assets" / "site.css").exists()


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<h2 id="here">A</h2><a href="#here">a</a><a href="other.html#there">b</a><a href="https://example.org">c</a>', None),
        ('<img src="picture.png"><link rel="canonical" href="https://example.org">', None),
        ('<a href="#nowhere">a</a>', "page.html links to #nowhere, but that page has no such heading"),
        ('<a href="other.html#here">a</a>', "page.html links to other.html#here, but that page has no such heading"),
        ('<a href="missing.html">a</a>', "page.html links to missing.html, which does not exist"),
        ('<script src="https://example.org/a.js"></script>', "page.html loads https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "page.html loads //example.org/a.css"),
        ("<style>@import 'https://example.org/a.css';</style>", "page.html loads https://example.org/a.css"),
    ],
)
def test_faults_of_a_site_are_found(html: str, fault: str | None, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there"></p>', encoding="utf-8")
    assert list(documentation.faults(tmp_path)) == ([fault] if fault else [])


def test_faults_of_styles_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("a{background:url(b.png)} b{background:url('https://example.org/c.woff')}", encoding="utf-8")
    assert list(documentation.faults(tmp_path)) == ["a.css loads https://example.org/c.woff"]


def test_the_guide_shows_the_example_file() -> None:
    guide = (ROOT / "docs" / "guides" / "extension-operations.md").read_text(encoding="utf-8")
    assert f"```toml\n{(EXAMPLES / 'patches.toml').read_text(encoding='utf-8')}```" in guide
