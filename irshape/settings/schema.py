"""The form of a configuration: `[tool.irshape]` of `pyproject.toml`, or `irshape.toml`. Imported where there is a configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError
from typing_extensions import TypeAliasType

from irshape.answers.policies import find_policies
from irshape.report.selection import PREFIXES, checked_prefix
from irshape.shape.limits import DEFAULT, LIMITS
from irshape.shape.notation import parse_shape, parse_symbol_range


def _shape(value: object) -> object:
    """A shape as text: a list of sizes is written as one."""
    if isinstance(value, list) and all(isinstance(size, str | int) and not isinstance(size, bool) for size in value):
        value = "[" + ",".join(map(str, value)) + "]"
    if isinstance(value, str):
        parse_shape(value)
    return value


def _range(value: object) -> object:
    if isinstance(value, str):
        parse_symbol_range(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(f'expected a string, found {value}; write "{value}"')
    return value


def _policy(value: str) -> str:
    find_policies([value])
    return value


def _operations(file: str) -> str:
    if not file.endswith(".toml"):
        raise ValueError(f"{file!r} is not a .toml file; name Python files and modules on the command line, with --extensions")
    return file


def _weights(value: object) -> object:
    if value is None or value is False or isinstance(value, str):
        return value
    raise ValueError(f"expected the path of a .bin file, or false, found {value!r}")


def _limit(limits: dict[str, int]) -> dict[str, int]:
    for name, number in limits.items():
        if name not in LIMITS:
            raise ValueError(f"there is no limit {name!r}; {_nearest(name, LIMITS, 'limits')}")
        DEFAULT.changed(f"{name}={number}")
    return limits


def _nearest(name: str, known: Sequence[str], kind: str) -> str:
    """The known name that is nearest to a name, as a question; if none is near, all of them."""
    close = get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else f"the {kind} are {', '.join(known)}"


Code = TypeAliasType(
    "Code",
    Annotated[
        str,
        AfterValidator(checked_prefix),
        Field(description="a code or the beginning of codes", json_schema_extra={"enum": list(PREFIXES)}),
    ],
)
Shape = Annotated[str, BeforeValidator(_shape, json_schema_input_type=str | list[int | str])]
SymbolRange = Annotated[str, BeforeValidator(_range)]
Target = Annotated[str, AfterValidator(_policy)]
Level = Literal["error", "warning", "note", "off"]
WeightsFile = Annotated[str | Literal[False] | None, BeforeValidator(_weights, json_schema_input_type=str | Literal[False] | None)]
OperationsFile = Annotated[str, AfterValidator(_operations)]
Limits = Annotated[
    dict[str, Annotated[int, Field(ge=1)]], AfterValidator(_limit), Field(json_schema_extra={"propertyNames": {"enum": list(LIMITS)}})
]


class FileTable(BaseModel):
    """Settings for some files."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=lambda name: name.replace("_", "-"))

    ignore: Annotated[list[Code], Field(description="codes that are not reported")] = []
    extend_select: Annotated[list[Code], Field(description="codes that are reported beside the selected ones")] = []
    severity: Annotated[dict[Code, Level], Field(description="the severity of codes; `off` does not report them")] = {}
    inputs: Annotated[dict[str, Shape], Field(description='shapes of inputs by name, as in --input: image = "[1,3,H,W]"')] = {}
    symbols: Annotated[dict[str, SymbolRange], Field(description='ranges of symbols by name, as in --set: H = "32..1024"')] = {}
    opaque: Annotated[list[str], Field(description="unknown operations whose recorded ports are trusted")] = []
    targets: Annotated[
        list[Target], Field(description="policies that the model must meet: static-shapes, bounded, ranked, max-rank=6, npu, named-outputs")
    ] = []
    limits: Annotated[Limits, Field(description="limits of what a file may demand, by name: depth = 128")] = {}
    weights: Annotated[WeightsFile, Field(description="the .bin file, relative to the configuration; false reads no weights")] = None
    extensions: Annotated[
        list[OperationsFile], Field(description=".toml files that describe operations of extensions, relative to the configuration")
    ] = []


class Configuration(FileTable):
    """The keys of a configuration. Those that a table of `per-file` has, too, apply to every file."""

    model_config = ConfigDict(title="The configuration of irshape: irshape.toml, or [tool.irshape] of pyproject.toml")

    select: Annotated[list[Code] | None, Field(description="the codes that are reported; by default all")] = None
    exclude: Annotated[list[str], Field(description="globs of files and folders that are passed over")] = []
    follow_links: Annotated[bool, Field(description="follow links to folders")] = False
    baseline: Annotated[str | None, Field(description="a file of known faults, relative to the configuration")] = None
    per_file: Annotated[dict[str, FileTable], Field(description='tables for the files that a glob names, such as "detectors/*.xml"')] = {}
    _path: str = PrivateAttr("")

    @property
    def path(self) -> str:
        """The absolute path of the file, to whose folder its globs and paths are relative."""
        return self._path


def configuration(path: str, table: dict[str, Any]) -> Configuration:
    """The configuration in a table of a file. Raises pydantic's `ValidationError`, which `faults` puts in words."""
    found = Configuration.model_validate(table)
    found._path = path
    return found


def faults(error: ValidationError) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every fault of a table: the keys that lead to it, and what is wrong there."""
    for one in error.errors(include_url=False):
        keys = tuple(str(part) for part in one["loc"] if part != "[key]")
        if one["type"] == "extra_forbidden":
            known = Configuration if len(keys) == 1 else FileTable
            names = [field.alias or name for name, field in known.model_fields.items()]
            yield keys, f"there is no such key; {_nearest(keys[-1].replace('_', '-'), names, 'keys')}"
        elif one["type"] == "value_error":
            yield keys, str(one["ctx"]["error"])
        else:
            found = repr(one["input"])
            message = one["msg"].removeprefix("Input should be ").replace("a valid i", "an i").replace("a valid ", "a ")
            yield keys, f"expected {message}, found {found if len(found) <= 60 else found[:59] + '…'}"
