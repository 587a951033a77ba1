"""Which class stands for a type at a version, as OpenVINO 2026.4.1 resolves it.

The modules of the categories register their classes when they are imported, and are imported when a model needs them:
`irshape.ops.index`, generated from them, says which module holds a type.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import ModuleType
from typing import Any, Final, TypeVar

from irshape.ops.op import Op, OpClass
from irshape.shape.compilation import NamedTuple

_C = TypeVar("_C", bound=type[Op])

NEWEST: Final = 17
# The last opset that inherits the operations of the one before it; opset17 holds only what its classes name.
LAST_FULL: Final = 16
# The XML calls Constant by this name; its case matters, unlike the case of any other type.
CONST: Final = "Const"
# The first release of OpenVINO with each opset, as its documentation lists them; it does not list the last two yet.
_LISTED: Final = "2020.1 2020.2 2020.4 2021.1 2021.2 2021.3 2021.4 2022.1 2022.2 2022.3 2023.0 2023.1 2023.2 2024.0 2024.5"
RELEASES: Final = dict(enumerate(_LISTED.split(), start=1))
TENSORFLOW: Final = "tensorflow"
_OPSETS: Final = {f"opset{number}": number for number in range(1, NEWEST + 1)}
# The least similarity of two types that resemble each other.
_LIKENESS: Final = 0.8
# The most words for which the answer is kept.
_MOST_WORDS: Final = 1_000


def _may_resemble(word: str, known: str) -> bool:
    """Whether two types may be alike, by their lengths and letters; this tells most types apart at little cost."""
    least = _LIKENESS * (len(word) + len(known)) / 2
    if min(len(word), len(known)) < least:
        return False
    letters, others = set(word), set(known)
    return len(word) - len(letters - others) >= least and len(known) - len(others - letters) >= least


class ExtensionError(ValueError):
    """An extension cannot be loaded. Each line of the message is about one operation, and names the file or module and the next step."""


class Clash(TypeError):
    """A class is registered for a type and version that is known."""


class _Entry(NamedTuple):
    """A class with its versions. `module` is the module that was being imported then: an import that is broken off leaves another one."""

    op: OpClass
    module: ModuleType | None
    since: str
    until: str | None
    without: list[str]
    also: list[str]


def opset(version: str) -> int | None:
    """The number of an opset OpenVINO's reader knows; None for any other version."""
    return _OPSETS.get(version)


class Registry:
    """The classes by type and version.

    The case of a version matters. The case of a type matters under a version that is no opset, and under a version that a class names
    besides its opsets. A registry with a `base` has the classes of that one, too: so the extensions of one model are no concern of
    another.
    """

    def __init__(self, base: Registry | None = None) -> None:
        self._base = base
        # The extensions that a registry of `extensions.registry_of` holds, so that it can be made again in another process.
        self.sources: tuple[str, ...] = ()
        self._entries: dict[str, list[_Entry]] = {}
        self._versions: dict[str, dict[str, OpClass]] = {}
        self._similar: dict[str, str | None] = {}

    def add(self, op: OpClass, type: str, since: str, until: str | None, without: list[str], also: list[str]) -> None:
        """Register a class, in place of the one that the same definition gave before.

        Raises `Clash` if another class of this type and version is registered, or irshape has one.
        """
        key = type.lower()
        entries = self._entries.setdefault(key, [])
        before = next((entry for entry in entries if entry.since == since), None)
        if before is not None:
            if not _is_again(op, before):
                raise Clash(f"{type} is registered twice from {since} on")
            entries.remove(before)
            self._versions.pop(key, None)
        if not op.is_own and since in self.versions(type):
            raise Clash(f"{type} of version {since} is known already; give the operation another type or version")
        entries.append(_Entry(op, sys.modules.get(op.__module__), since, until, without, also))
        self._versions.pop(key, None)
        self._similar.clear()

    def versions(self, type: str) -> dict[str, OpClass]:
        """Every version the type is accepted under, with its class; empty for an unknown type."""
        key = "constant" if type == CONST else type.lower()
        known = self._versions.get(key)
        if known is None:
            own = self._entries.get(key, [])
            if self._base is not None:  # which may get more classes
                return {**self._base.versions(type), **_resolve(own)}
            from irshape.ops.index import MODULES

            if key in MODULES:
                __import__(f"irshape.ops.{MODULES[key]}")
            known = self._versions[key] = _resolve(self._entries.get(key, []))
        return known

    def find(self, type: str, version: str) -> OpClass | None:
        """The class of a type at a version; None where OpenVINO has none."""
        found = self.versions(type).get(version)
        return None if found is not None and type != found.TYPE and self._is_exact(type, version) else found

    def _is_exact(self, type: str, version: str) -> bool:
        """Whether OpenVINO takes a type under a version only as its specification spells it."""
        number = opset(version)
        if number is None:
            return True
        entries = self._entries.get(type.lower(), ())
        is_exact = number != NEWEST and any(version in entry.also for entry in entries)
        return is_exact or (self._base is not None and self._base._is_exact(type, version))

    def similar(self, type: str) -> str | None:
        """The known type that an unknown one resembles, or that ONNX and PyTorch call so. A word is sought once: that takes time."""
        word = type.lower()
        if word not in self._similar:
            if len(self._similar) == _MOST_WORDS:
                self._similar.clear()
            self._similar[word] = self._closest(word)
        return self._similar[word]

    def _closest(self, word: str) -> str | None:
        from difflib import get_close_matches

        from irshape.ops.foreign import meant
        from irshape.ops.index import MODULES

        if found := meant(word):
            return found
        likely = [known for known in dict.fromkeys((*MODULES, *self._keys(), CONST.lower())) if _may_resemble(word, known)]
        swapped = [known for known in likely if sorted(known) == sorted(word)]  # Tahn is Tanh rather than Tan
        close = swapped or (get_close_matches(word, likely, 1, _LIKENESS) if likely else [])
        if close and close[0] == CONST.lower():
            return CONST
        return next(iter(self.versions(close[0]).values())).TYPE if close else None

    def homes(self) -> dict[str, OpClass]:
        """The first class of each type registered so far; its module is where the type lives."""
        return {type: entries[0].op for type, entries in self._entries.items()}

    def types(self) -> list[str]:
        """Every type, by the name its class gives it."""
        from irshape.ops.index import MODULES

        for module in sorted(set(MODULES.values())):
            __import__(f"irshape.ops.{module}")
        return sorted({next(iter(self.versions(key).values())).TYPE for key in self._keys()})

    def classes(self) -> list[OpClass]:
        """Every class, by type and version."""
        types = self.types()
        below = self._base.classes() if self._base is not None else []
        return below + [entry.op for type in types for entry in self._entries.get(type.lower(), ())]

    def own(self) -> list[OpClass]:
        """The classes that are registered so far in this registry itself."""
        return [entry.op for entries in self._entries.values() for entry in entries]

    def _keys(self) -> list[str]:
        """The types of the classes that are registered so far, in lower case."""
        return [*(self._base._keys() if self._base is not None else ()), *self._entries]


def _is_again(op: OpClass, before: _Entry) -> bool:
    """Whether a definition runs again: in a cell of a notebook, or in a module whose import an exception has broken off, such as Ctrl-C."""
    if op.__module__ != before.op.__module__ or op.__qualname__ != before.op.__qualname__:
        return False
    return op.__module__ == "__main__" or sys.modules.get(op.__module__) is not before.module


def _resolve(entries: list[_Entry]) -> dict[str, OpClass]:
    versions: dict[str, OpClass] = {}
    for entry in entries:  # in the order of their opsets: a later class takes over
        entry.op.collect()
        first = opset(entry.since)
        if first is None:
            versions[entry.since] = entry.op
        else:
            last = opset(entry.until) if entry.until else max(LAST_FULL, first)
            assert last is not None
            for number in range(first, last + 1):
                if f"opset{number}" not in entry.without:
                    versions[f"opset{number}"] = entry.op
        for version in entry.also:
            versions[version] = entry.op
    return versions


REGISTRY: Final = Registry()

# The registry that takes the classes of a module that is being loaded as an extension; None takes them for the whole process.
_SCOPE: Final[ContextVar[Registry | None]] = ContextVar("scope", default=None)


def register(cls: type[Op], until: str | None = None, without: str = "", also: str = "") -> None:
    """Register a class by its `TYPE` and `VERSION`: for the models that load the extension that is being imported, or else for all."""
    registry = None if cls.is_own else scope()
    (registry or REGISTRY).add(cls, cls.TYPE, cls.VERSION, until, without.split(), also.split())


def scope() -> Registry | None:
    """The registry that takes the classes that are registered now in this thread; None for that of the process."""
    return _SCOPE.get()


def scoped(registry: Registry | None) -> None:
    """Let `registry` take the classes that are registered from now on in this thread."""
    _SCOPE.set(registry)


def op(type: str, since: str, *, until: str | None = None, without: str = "", also: str = "") -> Callable[[_C], _C]:
    """Register a class as the operation `type` from the opset `since` on.

    The last opset that holds it is `until`; if that is not given, the one before the next class of the type, or else opset16.
    `without` names opsets in between that lack it, and `also` names further versions that hold it, both separated by blanks.
    """

    def decorate(cls: _C) -> _C:
        if not cls.is_own:
            cls.check_methods()
        cls.TYPE = type
        cls.VERSION = since
        register(cls, until, without, also)
        return cls

    return decorate


def declare(module: dict[str, Any], base: type[Op], types: Mapping[str, tuple[str, str, *tuple[Mapping[str, Any], ...]]]) -> None:
    """Add operations of one family to a module: each type with the opset that has it first, what it is, and what it has beyond `base`."""
    for name, (since, about, *own) in types.items():  # a pickle finds a class by its name in the module
        module[name] = op(name, since)(type(name, (base,), {"__doc__": about, "__module__": module["__name__"], **dict(*own)}))
