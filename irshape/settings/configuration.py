"""A configuration as plain data, after it was read and found right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple


class Table(NamedTuple):
    """The settings of a configuration for some files."""

    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    severity: Mapping[str, str] = {}
    inputs: Mapping[str, str] = {}
    symbols: Mapping[str, str] = {}
    opaque: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    limits: Mapping[str, int] = {}
    weights: str | Literal[False] | None = None
    extensions: tuple[str, ...] = ()


class Configuration(NamedTuple):
    """A configuration file. `table` applies to every file, `per_file` are tables for the files that a glob names.

    Globs and paths are relative to the folder of `path`, which is absolute.
    """

    path: str
    table: Table = Table()
    select: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    follow_links: bool = False
    baseline: str | None = None
    per_file: tuple[tuple[str, Table], ...] = ()
