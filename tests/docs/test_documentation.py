"""The pages of the documentation site: all are there, what they show runs, and a built site is searched for faults."""

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from irshape.cli.main import COMMANDS, parser
from irshape.settings.configuration import Configuration, Table
from irshape.settings.read import read
from tools import documentation, generate

ROOT = Path(__file__).parent.parent.parent
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
YAML = [
    (guide, number, block)
    for guide in GUIDES
    for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL))
]


def test_the_navigation_lists_every_page_once() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = [*documentation.sources().values(), *documentation.REFERENCE]
    assert sorted(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE)) == sorted(pages)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_example_of_a_guide_runs(guide: Path) -> None:
    """What it prints is derived (tests/test_generated.py); an example without output would not be run."""
    text = guide.read_text(encoding="utf-8")
    run = list(generate.BLOCK.finditer(text))
    assert len(run) == len(re.findall("^```(?:console|python)$", text, re.MULTILINE)) > 0
    assert f"docs/guides/{guide.name}" in generate.FILES


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
        assert read(str(path)).table.ignore


def test_the_example_of_a_configuration_is_the_file() -> None:
    page = (ROOT / "docs" / "guides" / "continuous-integration.md").read_text(encoding="utf-8")
    assert f"```toml\n{(ROOT / 'examples' / 'checks.toml').read_text(encoding='utf-8')}```" in page


def test_every_key_of_a_configuration_is_explained() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    keys = [name.replace("_", "-") for name in (*Configuration._fields[2:], *Table._fields)]
    assert [key for key in keys if f"| `{key}` |" not in page] == []


def test_the_page_of_commands_has_every_option() -> None:
    sections = documentation.commands_page().split("\n## irshape ")[1:]
    assert [section.split("\n")[0] for section in sections] == list(COMMANDS)
    check, infer = sections[0], sections[1]
    assert "| `--target POLICY` |" in check
    assert "| `-o OUT.xml`, `--output OUT.xml` |" in infer
    assert "&lt;layer>" in infer
    assert "<layer>" not in infer


def test_the_page_of_the_api_names_what_exists() -> None:
    names = re.findall(r"^::: (\S+)$", documentation.api_page(), re.MULTILINE)
    assert {"irshape.infer", "irshape.Session", "irshape.ops.op.Op"} <= set(names)
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
