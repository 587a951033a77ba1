"""Makes the files that are derived from the code: run with `make generate`; `--check` says which are stale."""

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from textwrap import dedent, fill, indent
from typing import Annotated, Any, Literal, get_args, get_origin

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))


def op_index() -> str:
    """The source of `irshape/ops/index.py`: which module holds a type."""
    import irshape.ops
    from irshape.ops.registry import REGISTRY

    for module in walk_packages(irshape.ops.__path__, "irshape.ops."):
        import_module(module.name)
    types: dict[str, list[str]] = {}
    for type, op in sorted(REGISTRY.homes().items()):
        types.setdefault(op.__module__.removeprefix("irshape.ops."), []).append(type)
    title = '"""Which module holds a type, in lower case. Made by `make generate`."""'
    lines = ""
    for home, names in sorted(types.items()):
        text = fill(" ".join(names), 131)
        lines += f'    "{home}": "{text}",\n' if len(home) + len(text) < 126 else f'    "{home}": """\n{indent(text, " " * 8)}\n    """,\n'
    made = "MODULES: Final = {type: module for module, types in _TYPES.items() for type in types.split()}"
    return f"{title}\n\nfrom typing import Final\n\n_TYPES: Final = {{\n{lines}}}\n{made}\n"


def schema(path: str, title: str = "") -> str:
    """A schema that a function makes, or that of the form of an answer; both are named by module and name."""
    from irshape.answers.cost.formula import AMOUNT
    from irshape.report.form import DIAGNOSTIC

    module, _, name = path.partition(":")
    found = getattr(import_module(module), name)
    if not title:
        return json.dumps(found(), indent=2) + "\n"
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **found.schema}
    text = json.dumps(whole)
    shared = {name: one.schema for name, one in (("amount", AMOUNT), ("diagnostic", DIAGNOSTIC)) if f"#/$defs/{name}" in text}
    return json.dumps({**whole, "$defs": shared} if shared else whole, indent=2) + "\n"


def operations_schema() -> str:
    """The attributes of every operation, one definition on a line."""
    from irshape.report.form import readable
    from tools.schemas.operations import operations_schema

    return readable(operations_schema()) + "\n"


# The most codes of a page, and the name of the pages of each family.
CODES_OF_A_PAGE = 10
SLUGS = {
    "X": "xml", "G": "graph", "A": "attributes", "T": "types", "S": "shapes", "V": "values", "W": "weights",
    "R": "accepted", "P": "targets", "N": "notes", "I": "irshape",
}  # fmt: skip


def diagnostics_pages() -> dict[str, list[str]]:
    """The pages of diagnostics and the codes of each: a page for each family, and several for a large one."""
    from irshape.report.catalogue import CATALOGUE, FAMILIES

    pages = {}
    for letter in FAMILIES:
        codes = [code for code in CATALOGUE if code.startswith(letter)]
        count = -(-len(codes) // CODES_OF_A_PAGE)
        size = -(-len(codes) // count)
        for number in range(count):
            pages[f"docs/diagnostics/{SLUGS[letter]}{f'-{number + 1}' if count > 1 else ''}.md"] = codes[
                number * size : (number + 1) * size
            ]
    return pages


def diagnostics_index() -> str:
    """All codes, each with its page."""
    from irshape.report.catalogue import CATALOGUE, FAMILIES

    lines = [
        "# Diagnostics",
        "",
        "Every code that `irshape` reports. An error is a fault for which OpenVINO 2026.4.1 refuses the file, crashes or computes",
        "nonsense. A warning is a fault that OpenVINO accepts. In a layer that reaches no Result or Assign, an error of the operation",
        "is a warning, because OpenVINO drops such layers unread. A note is not a fault. A code never changes its meaning.",
        "",
        "The page of a code has an example: a command with its output, and the file `model.xml`. Lines that begin with `-` are the",
        "fault; lines that begin with `+` replace them in a file without the fault. An example that is a single `<layer>` is a whole",
        "file: irshape reads it as it stands.",
        "`irshape rule CODE` shows the same.",
        "",
        "Made by `tools/generate.py` from `irshape/report/catalogue.py` and `irshape/report/snippets.py`.",
    ]
    pages = {code: page for page, codes in diagnostics_pages().items() for code in codes}
    for letter, title in FAMILIES.items():
        lines += ["", f"## {letter}: {title}", "", "| code | severity | title |", "|---|---|---|"]
        for code in CATALOGUE.values():
            if code.code.startswith(letter):
                link = f"{pages[code.code].removeprefix('docs/')}#{anchor(f'{code.code} {code.title}')}"
                lines.append(f"| [{code.code}]({link}) | {code.severity} | {escaped(code.title)} |")
    return "\n".join(lines) + "\n"


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def diagnostics_page(name: str) -> str:
    """Codes with their meaning, why each matters, how to correct the fault, and an example."""
    from irshape.diagnosis.fixes import BY_HAND, MENDED
    from irshape.report.catalogue import CATALOGUE, FAMILIES
    from irshape.report.snippets import SNIPPETS
    from tools.snippets import snippet_markdown

    fixes = {
        **dict.fromkeys(MENDED, ("*Fix:* `irshape check --fix` corrects the file where there is one way to do so.",)),
        **dict.fromkeys(BY_HAND, ("*Fix:* `irshape check` proposes a fix. Check that it is the one you want.",)),
    }
    codes = diagnostics_pages()[name]
    some = f", {codes[0]} to {codes[-1]}" if name[-4].isdecimal() else ""
    lines = [f"# {FAMILIES[codes[0][0]]}{some}", "", "[All codes](../diagnostics.md) says how to read the examples."]
    for code in map(CATALOGUE.__getitem__, codes):
        texts = (code.meaning, f"*Why it matters:* {code.why}", f"*What to do:* {code.fix}", *fixes.get(code.code, ()))
        lines += ["", f"## {code.code} {code.title}", "", f"**{code.severity.capitalize()}.** {escaped(' '.join(texts))}"]
        lines += ["", *snippet_markdown(SNIPPETS[code.code])]
    return "\n".join(lines) + "\n"


# The categories that have a page of their own.
APART = ("tokenizers",)


def operations_page(category_apart: str | None = None) -> str:
    """Every operation by category, with versions, ports and attributes; or those of one category that has a page of its own."""
    from irshape.ops.describe import category, describe
    from irshape.ops.registry import REGISTRY

    categories: dict[str, list[dict[str, Any]]] = {}
    for type in REGISTRY.types():
        described = describe(type)
        assert described is not None
        categories.setdefault(category(REGISTRY.homes()[type.lower()]), []).append(described)
    links = ", ".join(f"[{one}](operations-{one}.md)" for one in APART)
    lines = [
        "# Operations" if category_apart is None else f"# Operations of {category_apart}",
        "",
        f"The {sum(map(len, categories.values()))} types `irshape` knows, by OpenVINO's categories. `irshape ops TYPE` describes one."
        f" The operations of {links} have a page of their own."
        if category_apart is None
        else "The operations of this extension; [Operations](operations.md) has the others. `irshape ops TYPE` describes one.",
        "",
        "Ports in square brackets are optional. `*` marks a port that may be repeated. Rules read the values of *italic* inputs.",
        "Attributes in **bold** are required; OpenVINO takes the default beside one if the attribute is missing.",
        "",
        "Made by `tools/generate.py` from the classes in `irshape/ops`.",
    ]
    for name, found in sorted(categories.items()):
        if name != category_apart and (category_apart or name in APART):
            continue
        lines += ["", f"## {name}", "", "| operation | versions | inputs | outputs | attributes |", "|---|---|---|---|---|"]
        lines += [operation_row(described["type"], one) for described in found for one in described["versions"]]
    return "\n".join(lines) + "\n"


def operation_row(type: str, one: dict[str, Any]) -> str:
    """A row of the table of operations: one class."""
    from irshape.ops.describe import version_ranges

    def port(port: dict[str, Any]) -> str:
        text = f"*{port['name']}*" if port.get("reads_value") else port["name"]
        text += r"\*" if port["variadic"] else ""
        return f"[{text}]" if port.get("optional") else text

    def attribute(attribute: dict[str, Any]) -> str:
        default = "" if attribute["default"] is None else f" = {json.dumps(attribute['default'])}"
        mark = "**" if attribute["required"] else ""
        return f"{mark}`{attribute['name']}`{mark}: {escaped(attribute['type'])}{escaped(default)}"

    title = f"[{type}]({one['page']})" if one["page"] else type
    cells = [title, version_ranges(one["versions"])]
    cells += [", ".join(map(port, one[ports])) for ports in ("inputs", "outputs")]
    return "| " + " | ".join([*cells, "; ".join(map(attribute, one["attributes"]))]) + " |"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return text.replace("|", r"\|").replace("<", r"\<")


BLOCK = re.compile(r"```console\n(?P<console>.*?)```|```python\n(?P<python>[^`]*)```(?P<between>[^`]*)```text\n.*?```", re.DOTALL)


def with_outputs(name: str) -> str:
    """A page whose console blocks hold what their commands print, and whose text after a Python block is what that prints.

    The blocks run from the first to the last in a folder that has the examples, so one may use a file that another has written.
    """
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")

        def ran(block: re.Match[str]) -> str:
            if block["console"] is None:
                return f"```python\n{block['python']}```{block['between']}```text\n{run_python(folder, '-c', block['python'])}```"
            commands = [line for line in block["console"].splitlines() if line.startswith("$ ")]
            printed = "".join(f"{command}\n{run_command(folder, command)}" for command in commands)
            return f"```console\n{printed}```"

        return BLOCK.sub(ran, (ROOT / name).read_text(encoding="utf-8"))


def run_command(folder: str, command: str) -> str:
    """What a command of a console block prints; only irshape itself runs everywhere."""
    program, *arguments = shlex.split(command.removeprefix("$ "))
    if program != "irshape":
        raise ValueError(f"a console block runs {program!r}, and can run irshape only")
    return run_python(folder, "-m", "irshape", *arguments)


def run_python(folder: str, *arguments: str) -> str:
    """What a run of Python in a folder prints, errors included."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    if "Traceback (most recent call last)" in run.stdout or "already exists (--force" in run.stdout:
        raise ValueError(f"an example of a page fails: {' '.join(arguments)}\n{run.stdout}")
    return run.stdout


SOURCE = re.compile(r'^( *)```python\n *(@op)?\("(\w+)", "(\w+)".*?^ *```$', re.DOTALL | re.MULTILINE)


def with_sources(name: str) -> str:
    """A page whose Python blocks that begin with `@op("TYPE", "VERSION"` or `("TYPE", "VERSION"` hold that class, or its rows."""
    from irshape.ops.registry import REGISTRY

    def source(block: re.Match[str]) -> str:
        before, is_class, type, version = block.groups()
        lines = inspect.getsource(REGISTRY.versions(type)[version]) if is_class else rows_source(type, version)
        return indent(f"```python\n{dedent(lines).rstrip()}\n```", before)

    return SOURCE.sub(source, (ROOT / name).read_text(encoding="utf-8"))


def rows_source(type: str, version: str) -> str:
    """The rows of a version in the tests, as they are written there."""
    rows = re.compile(rf'^ *\("{type}", "{version}"\): \[\n.*?^    \],$', re.DOTALL | re.MULTILINE)
    found = [match[0] for path in (ROOT / "tests" / "ops").rglob("test_*.py") if (match := rows.search(path.read_text(encoding="utf-8")))]
    if len(found) != 1:
        raise ValueError(f"{len(found)} files of tests/ops hold rows of {type} {version}, expected one")
    return found[0]


STUBS = '''"""The operations as methods of `Graph.op` and `Body.op`. Made by `make generate`."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, Unpack

from numpy.typing import NDArray

from irshape.editing.layers import Layer, Tensor
from irshape.shape.element_type import ElementType

_Input = Tensor | Layer | float | NDArray[Any] | Sequence[Any]

class _Own(TypedDict, total=False):
    name: str
    version: str
    after: Layer

class Operations:
    def __init__(self, add: Callable[..., Any]) -> None: ...
'''
# Constants, inputs and outputs have methods of their own, and layers with bodies come from files alone.
NO_METHODS = ("Constant", "Parameter", "Result", "If", "Loop", "TensorIterator")


def operation_stubs() -> str:
    """The types of the operations as methods, which take what any version takes; the inputs are those of the newest."""
    from irshape.ops.registry import REGISTRY

    return STUBS + "".join(operation_stub(type) for type in REGISTRY.types() if type not in NO_METHODS)


def operation_stub(type: str) -> str:
    """The method of one operation."""
    from irshape.ops.registry import REGISTRY

    versions = list(dict.fromkeys(REGISTRY.versions(type).values()))
    ports = versions[-1].inputs
    is_odd = any((port.optional and not after.optional and not after.variadic) or port.variadic for port, after in pairwise(ports))
    if is_odd:  # Python has no such parameters
        given = ["*inputs: _Input"]
    else:
        given = [f"*{port.name}: _Input" if port.variadic else f"{port.name}: _Input{' = ...' * port.optional}" for port in ports]
        given += ["/"] if ports and not ports[-1].variadic else []
    names = {port.name for port in ports}
    attributes = {name: one for version in versions for name, one in version.attributes.items() if name not in names}
    required = {name for name in attributes if all(name in one.attributes and one.attributes[name].required for one in versions)}
    given += ["*"] if attributes and not any(one.startswith("*") for one in given) else []
    given += [f"{name}: {attribute_type(one.annotation)}{'' if name in required else ' = ...'}" for name, one in attributes.items()]
    return f"    def {type}(self, {', '.join([*given, '**own: Unpack[_Own]'])}) -> Layer: ...\n"


def attribute_type(annotation: Any) -> str:
    """The annotation of an attribute for those who give it."""
    if get_origin(annotation) is Annotated:
        return attribute_type(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return f"Literal[{', '.join(map(repr, get_args(annotation)))}]"
    if get_origin(annotation) is tuple and get_args(annotation)[1:] == (...,):
        return f"Sequence[{attribute_type(get_args(annotation)[0])}]"
    if annotation.__class__ is not type:
        return "str | Sequence[int]"  # a shape
    return "ElementType | str" if annotation.__name__ == "ElementType" else str(annotation.__name__)


# The pages with examples that run.
SHOWN = ["README.md", "examples/README.md", *(f"docs/guides/{path.name}" for path in sorted((ROOT / "docs" / "guides").glob("*.md")))]

# Each schema: the function that makes it, or the form of an answer and the title.
SCHEMAS = {
    "report": ("irshape.inference.forms:REPORT", "The report of irshape on an OpenVINO IR"),
    "diagnostics": ("irshape.report.form:DIAGNOSTIC", "A fault of an OpenVINO IR, as irshape reports it"),
    "cost": ("irshape.answers.cost.cost:COST", "What an OpenVINO IR costs: operations, parameters, memory and traffic"),
    "comparison": ("irshape.running.results:COMPARISON", "The outputs of two OpenVINO IRs that were run on equal inputs"),
    "diff": ("irshape.running.results:DIFFERENCE_AND_RUN", "The difference of two OpenVINO IRs"),
    "folders": ("irshape.running.results:FOLDERS", "The differences of the OpenVINO IRs of two folders"),
    "extension": ("tools.schemas.extension:extension_schema",),
    "info": ("irshape.answers.info:INFO", "The summary of an OpenVINO IR"),
    "explanation": (
        "irshape.answers.explain.explanation:EXPLANATION",
        "Why a port of an OpenVINO IR is what it is, as irshape explains it",
    ),
    "signature": (
        "irshape.answers.signature.signature:SIGNATURE",
        "The signature of an OpenVINO IR: its inputs and outputs in few symbols",
    ),
    "scan": ("tools.schemas.scan:row_schema",),
    "sizes": ("irshape.answers.sizes:SIZES", "For which input sizes an OpenVINO IR is valid"),
    "summary": ("irshape.answers.summary:SUMMARY", "The modules of an OpenVINO IR, with shapes, parameters, work and memory"),
    "configuration": ("tools.schemas.configuration:configuration_schema",),
}

FILES = {
    "irshape/ops/index.py": op_index,
    "irshape/editing/operations.pyi": operation_stubs,
    **{f"schemas/{name}.schema.json": partial(schema, *made) for name, made in SCHEMAS.items()},
    "schemas/operations.schema.json": operations_schema,
    "docs/diagnostics.md": diagnostics_index,
    **{name: partial(diagnostics_page, name) for name in diagnostics_pages()},
    "docs/operations.md": operations_page,
    **{f"docs/operations-{one}.md": partial(operations_page, one) for one in APART},
    **{name: partial(with_outputs, name) for name in SHOWN},
    "CONTRIBUTING.md": partial(with_sources, "CONTRIBUTING.md"),
}


def main() -> int:
    """Write every file, or with `--check` only name those that would change."""
    stale = []
    for name, make in FILES.items():
        path, text = ROOT / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if stale:
        print(("stale: " if "--check" in sys.argv else "written: ") + ", ".join(stale))
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
