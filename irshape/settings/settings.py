"""The settings of each file of a run: its configuration under the options of the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from irshape.settings.read import find, read_configuration
from irshape.shape.compilation import NamedTuple

if TYPE_CHECKING:
    from irshape.report.selection import Choice, Selection
    from irshape.settings.schema import Configuration


class FileSettings(NamedTuple):
    """The settings of a configuration for one file, and the selection that follows from it and from the command line.

    `configuration` is the path of the configuration, empty without one. `tables` are the globs of `per-file` that name the file. `weights`,
    `extensions` and `baseline` are paths from the working folder; `weights` is False where no weights are read.
    """

    configuration: str = ""
    tables: tuple[str, ...] = ()
    selection: Selection | None = None
    inputs: Mapping[str, str] = {}
    symbols: Mapping[str, str] = {}
    opaque: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    limits: Mapping[str, int] = {}
    weights: str | Literal[False] | None = None
    extensions: tuple[str, ...] = ()
    baseline: str | None = None


class Settings:
    """The settings of a run.

    `config` is a configuration file to use for every file; without one, each file has the nearest one upwards, and none with
    `is_isolated`. The paths that a configuration names stay in its folder unless it `is_trusted`. `choice` holds the codes that the command
    line selects, `severity` the severities that it sets. `exclude` are its globs, relative to the working folder, and `follow_links` tells
    whether it allows links to folders, and to weights outside of a model's folder; a configuration may allow the former alone.
    """

    def __init__(
        self,
        *,
        config: str | None = None,
        is_isolated: bool = False,
        choice: Choice | None = None,
        severity: Mapping[str, str] = {},
        exclude: Sequence[str] = (),
        follow_links: bool = False,
        is_trusted: bool = False,
    ) -> None:
        self._config = os.path.abspath(config) if config is not None else None
        self._is_isolated = is_isolated
        self._choice = choice
        self._severity = severity
        self._exclude = exclude
        self._is_trusted = is_trusted
        self.follow_links = follow_links
        self._found: dict[str, str | None] = {}
        self._read: dict[str, Configuration] = {}
        self._files: dict[tuple[str, tuple[int, ...]], FileSettings] = {}
        self._used: dict[str, set[int]] = {}  # the tables of `per-file` that have named a file
        self._default = self._combined(None, ()) if choice is not None or severity else FileSettings()

    def configuration(self, folder: str) -> Configuration | None:
        """The configuration of a folder. Raises `ConfigurationError` if it cannot be used."""
        path = self._config
        if path is None:
            path = None if self._is_isolated else find(os.path.abspath(folder), self._found)
        if path is None:
            return None
        if path not in self._read:
            self._read[path] = read_configuration(path, is_trusted=self._is_trusted, is_found=self._config is None)
        return self._read[path]

    def of(self, path: str) -> FileSettings:
        """The settings of a file. Raises `ConfigurationError` if its configuration cannot be used."""
        configuration = self.configuration(os.path.dirname(path))
        if configuration is None:
            return self._default
        tables: tuple[int, ...] = ()
        if configuration.per_file:
            from irshape.settings.globs import globs_of, relative

            tables = globs_of(tuple(configuration.per_file)).covering(relative(path, os.path.dirname(configuration.path)))
            self._used.setdefault(configuration.path, set()).update(tables)
        key = (configuration.path, tables)
        if key not in self._files:
            self._files[key] = self._combined(configuration, tables)
        return self._files[key]

    def idle(self, folders: Iterable[str]) -> Iterator[str]:
        """A remark on each glob of `per-file` that names none of the files so far.

        A configuration above these folders is for other files, too: there, a glob is told whose folder is missing. There is no remark where
        the command line excludes files, which a glob may name.
        """
        roots = [os.path.join(os.path.abspath(folder), "") for folder in folders]
        for path, used in self._used.items() if not self._exclude else ():
            from irshape.settings.globs import place

            is_whole = any(path.startswith(root) for root in roots)
            for glob in [glob for number, glob in enumerate(self._read[path].per_file) if number not in used]:
                start = place(glob)
                reason = "" if os.path.exists(os.path.join(os.path.dirname(path), start)) else f": there is no {start!r}"
                if is_whole or reason:
                    yield f"{os.path.relpath(path)}: the glob {glob!r} of per-file names none of the files{reason}"

    def follows_links(self, folder: str) -> bool:
        if self.follow_links:
            return True
        configuration = self.configuration(folder)
        return configuration is not None and configuration.follow_links

    def excludes(self, path: str, *, is_found: bool) -> bool:
        """Whether a file or folder is passed over. One that was found in a folder is judged by its own path, not by the folders above."""
        configuration = self.configuration(os.path.dirname(path))
        globs = [(tuple(self._exclude), os.getcwd())] if self._exclude else []
        if configuration is not None and configuration.exclude:
            globs.append((tuple(configuration.exclude), os.path.dirname(configuration.path)))
        if not globs:
            return False
        from irshape.settings.globs import globs_of, relative

        for own, folder in globs:
            matcher, place = globs_of(own), relative(path, folder)
            if matcher.names(place) if is_found else matcher.covering(place):
                return True
        return False

    def _combined(self, configuration: Configuration | None, tables: tuple[int, ...]) -> FileSettings:
        """The settings from a configuration and its tables for a file, in their order, and from the command line."""
        from irshape.report.selection import Choice, Selection

        choices = [] if self._choice is None else [self._choice]
        if configuration is None:
            return FileSettings(selection=Selection(choices, [self._severity]))
        folder, several = os.path.dirname(configuration.path), list(configuration.per_file.items())
        special = [several[number][1] for number in tables]
        layers = [configuration, *special]
        # As in ruff, the codes that are ignored in some files stay ignored there, whatever the command line selects.
        choices = [Choice(configuration.select, configuration.ignore, configuration.extend_select), *choices]
        choices += [Choice(None, one.ignore, one.extend_select) for one in special]
        weights = next((one.weights for one in reversed(layers) if one.weights is not None), None)
        files = dict.fromkeys(file for one in layers for file in one.extensions)
        return FileSettings(
            configuration=os.path.relpath(configuration.path),
            tables=tuple([several[number][0] for number in tables]),
            selection=Selection(choices, [*(one.severity for one in layers), self._severity]),
            inputs={name: shape for one in layers for name, shape in one.inputs.items()},
            symbols={name: range for one in layers for name, range in one.symbols.items()},
            opaque=tuple(type for one in layers for type in one.opaque),
            targets=tuple(dict.fromkeys(target for one in layers for target in one.targets)),
            limits={name: number for one in layers for name, number in one.limits.items()},
            weights=os.path.relpath(os.path.join(folder, weights)) if weights else weights,
            extensions=tuple(os.path.relpath(os.path.join(folder, file)) for file in files),
            baseline=configuration.baseline and os.path.relpath(os.path.join(folder, configuration.baseline)),
        )


def settings_text(path: str, settings: Settings) -> str:
    """The settings of a file as TOML: the configuration, its tables for the file, and the options of the command line, in one."""
    from irshape.report.catalogue import CATALOGUE
    from irshape.report.selection import ALL, OFF

    own = settings.of(path)
    source = own.configuration or "no configuration"
    tables = "".join(f", per-file {_toml(glob)}" for glob in own.tables)
    codes = list(CATALOGUE) if own.selection is None else own.selection.codes
    changed = {} if own.selection is None else {code: own.selection.severity(code, "") for code in CATALOGUE}
    levels = {code: level or OFF for code, level in changed.items() if level and level != CATALOGUE[code].severity}
    others = [code for code in CATALOGUE if code not in codes]
    has_most = len(others) < len(codes)
    rows = {
        "select": [ALL] if has_most else codes,
        "ignore": others if has_most else [],
        "opaque": list(own.opaque),
        "targets": list(own.targets),
        "weights": own.weights,
        "extensions": list(own.extensions),
        "baseline": own.baseline,
        "severity": levels,
        "inputs": own.inputs,
        "symbols": own.symbols,
        "limits": own.limits,
    }
    lines = [f"# {path}: {source}{tables}", *(f"{key} = {_toml(value)}" for key, value in rows.items() if value or value is False)]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML; strings are written as in JSON, which TOML reads."""
    import json

    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)
