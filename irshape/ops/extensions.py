"""Operations of extensions: loading them from files, modules and installed packages.

The classes of a file or a module that a caller names serve the models that name it. The classes of a package, and those of a module
that a program imports by itself, serve all models of the process.
"""

from __future__ import annotations

import copyreg
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeAlias

from irshape.ops.op import DefinitionError, Op
from irshape.ops.registry import REGISTRY, Clash, ExtensionError, Registry, register, scope, scoped

Extensions: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""Files (`ops.toml`, `ops.py`) and modules (`package.ops`) of operations."""

# The entry points of packages that add operations: each names a module.
GROUP: Final = "irshape.ops"


# The classes that each file or module has declared, by its name, and for a file by its state.
_loaded: Final[dict[object, list[type[Op]]]] = {}
_registries: Final[dict[tuple[object, ...], Registry]] = {}
# The entry points that are loaded, and the name of the group when all are.
_plugins: Final[set[str]] = set()


def registry_of(extensions: Extensions) -> Registry:
    """The registry of models that load these extensions: irshape's own classes and those of the extensions.

    Raises `ExtensionError` if one cannot be loaded or has an operation that is known already.
    """
    names = names_of(extensions)
    if not names:
        return REGISTRY
    keys = tuple(map(_key, names))
    registry = _registries.get(keys)
    if registry is None:
        registry = Registry(REGISTRY)
        for name, key in zip(names, keys, strict=True):
            if key not in _loaded:
                _loaded[key] = _load(name)
            for op in _loaded[key]:
                if registry.find(op.TYPE, op.VERSION) is not op:
                    _add(registry, op, name)
        registry.sources = tuple([os.path.abspath(name) if _is_file(name) else name for name in names])
        _registries[keys] = registry
    return registry


def names_of(extensions: Extensions) -> list[str]:
    """The extensions as texts. Raises `TypeError` for what is no file and no name."""
    try:
        return [os.fspath(one) for one in ([extensions] if isinstance(extensions, str | os.PathLike) else extensions)]
    except TypeError:
        raise TypeError(f"extensions are files and names of modules, not a value of the class {type(extensions).__name__}") from None


def _is_file(name: str) -> bool:
    return name.endswith((".toml", ".py")) or "/" in name or os.sep in name


def _key(name: str) -> object:
    """The name of an extension; for a file also its state, so that a changed file is read again."""
    if not _is_file(name):
        return name
    try:
        status = os.stat(name)
    except OSError as error:
        raise ExtensionError(f"{name}: {error.strerror}") from None
    return os.path.abspath(name), status.st_mtime_ns, status.st_size


def _add(registry: Registry, op: type[Op], name: str) -> None:
    try:
        registry.add(op, op.TYPE, op.VERSION, None, [], [])
    except Clash as error:
        raise ExtensionError(f"{name}: {error}") from None


def _load(name: str) -> list[type[Op]]:
    """The classes that a file or a module declares."""
    if name.endswith(".toml"):
        return _read(name, "extension", os.path.abspath(name))
    if _is_file(name) and not name.endswith(".py"):
        raise ExtensionError(f"{name}: an extension is a .toml file, a .py file, or a module that can be imported")
    own = Registry(REGISTRY)
    before = scope()
    try:
        scoped(own)
        module = _run(name) if name.endswith(".py") else _import(name)
    finally:
        scoped(before)
    ops = own.own()
    # A module that the program has imported by itself has registered its operations for all models.
    if not ops and not any(f"{op.__module__}.".startswith(f"{module}.") for op in REGISTRY.own()):
        raise ExtensionError(f'{name}: the module registers no operation; write @op("TYPE", "extension") of irshape.extend above a class')
    return ops


def _read(path: str, module: str, named: str = "") -> list[type[Op]]:
    """The classes that a TOML file declares; `named` is the path if a caller names the file, and no package."""
    from irshape.files.reading import MOST_OF_SETTINGS, read_whole
    from irshape.ops.declared.file import FileFault, read_ops

    try:
        declared = read_ops(read_whole(path, MOST_OF_SETTINGS), path, module)
    except OSError as error:
        raise ExtensionError(f"{path}: {error.strerror}") from None
    except FileFault as error:
        raise ExtensionError(str(error)) from None
    for op in declared:  # no module holds the class, so a pickle finds it by the file
        copyreg.pickle(op, partial(_reduced, named))
    return declared


def _reduced(file: str, op: Op) -> tuple[Callable[..., Op], tuple[Any, ...]]:
    return _again, (file, op.TYPE, op.VERSION, vars(op))


def _again(file: str, type: str, version: str, state: dict[str, object]) -> Op:
    """An operation that a file declares, out of a pickle. Raises `ExtensionError` if the file does not declare it any more."""
    found = registry_of(file or ()).find(type, version)
    if found is None:
        raise ExtensionError(f"{file or 'the installed packages'}: no operation {type} of version {version} is declared any more")
    op = found.__new__(found)
    vars(op).update(state)
    return op


def _import(name: str) -> str:
    if name.startswith("."):
        raise ExtensionError(f"{name}: it is neither a file that ends with .toml or .py nor the whole name of a module")
    try:
        import_module(name)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name is not None and f"{name}.".startswith(f"{error.name}.")
        hint = "; for a file, write its path with its ending: ops.toml or ops.py" if missing else ""
        raise ExtensionError(f"{name}: the module cannot be imported: {_text(error)}{hint}") from error
    return name


def _run(path: str) -> str:
    """Run a Python file as a module, and return the name of the module."""
    from importlib.util import module_from_spec, spec_from_file_location
    from zlib import crc32

    name = f"irshape_extension_{crc32(os.path.abspath(path).encode()):08x}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ExtensionError(f"{path}: the file cannot be run: {_text(error)}") from error
    return name


def _text(error: Exception) -> str:
    known = isinstance(error, DefinitionError | Clash | ExtensionError)
    return str(error) if known else f"{type(error).__name__}: {error}"


def load_plugins() -> bool:
    """Load the operations of installed packages, once in a process; True if there are any that were not loaded before.

    A package names a module in the entry point group `irshape.ops`, or a TOML file of a module: `package.module:ops.toml`. Raises
    `ExtensionError` if one cannot be loaded.
    """
    if GROUP in _plugins:
        return False
    from importlib.metadata import entry_points

    found = False
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if point.value in _plugins:
            continue
        owner = f"the package {point.dist.name}" if point.dist is not None else "a package"
        try:
            module = import_module(point.module)
            file = point.attr or ""
            if file.endswith(".toml"):
                if point.value not in _loaded:
                    _loaded[point.value] = _read(os.path.join(os.path.dirname(module.__file__ or ""), file), point.module)
                for op in _loaded[point.value]:
                    if REGISTRY.find(op.TYPE, op.VERSION) is not op:  # else a run that was broken off has registered it
                        register(op)
        except Exception as error:
            raise ExtensionError(
                f"{owner} adds operations by its entry point {GROUP}: {point.name} = {point.value}, which cannot be loaded: "
                f"{_text(error)}; mend or remove the package"
            ) from error
        _plugins.add(point.value)
        found = True
    _plugins.add(GROUP)
    return found
