"""The errors of public functions and objects for arguments and names that they do not have."""

from __future__ import annotations

import builtins
import collections.abc
import sys
import typing
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from types import FunctionType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, ParamSpec, SupportsIndex, TypeVar, Union, get_args, get_origin

from irshape.report.guesses import hint, names
from irshape.report.text import counted

_P = ParamSpec("_P")
_R = TypeVar("_R")
# The longest value that a message shows, in characters.
_LONGEST: Final = 60


def knowing(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function name its arguments: all where a call gives an unknown one, and the one of a wrong kind where a call fails.

    The kinds are those of the annotations; a call that succeeds is not compared with them. The errors are `TypeError`.
    """
    arguments = _Arguments(function)

    @wraps(function)
    def call(*given: _P.args, **named: _P.kwargs) -> _R:
        if len(given) > arguments.most or not arguments.own.issuperset(named):
            arguments.refuse(given, named)
        try:
            return function(*given, **named)
        except (AttributeError, OverflowError, TypeError, ValueError) as error:
            if type(error).__module__ == "builtins" and (misfit := arguments.misfit(given, named)):
                raise TypeError(misfit) from error
            raise

    return call


class _Arguments:
    """What a function takes: `own` are the names of its arguments, `most` is how many values it takes without a name."""

    __slots__ = ("_function", "_more", "_names", "_rest", "most", "own")

    def __init__(self, function: Callable[..., Any]) -> None:
        code, self._function = function.__code__, function
        count = code.co_argcount + code.co_kwonlyargcount
        self._names = code.co_varnames[:count]
        self.own = frozenset(self._names)
        # The names of *more and **rest. The flags are CO_VARARGS and CO_VARKEYWORDS of inspect, which is slow to import.
        names = iter(code.co_varnames[count:])
        self._more, self._rest = [next(names) if code.co_flags & flag else "" for flag in (0x04, 0x08)]
        self.most = sys.maxsize if self._more else code.co_argcount

    def refuse(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Raise `TypeError` for a name that the function does not take, or for one value too many without a name."""
        further = self._further()
        known = [name for name in (*self._names, *(further or ())) if name != "self"]
        title = self._title(given)
        for name in named:
            if name not in known and further is not None:
                from difflib import get_close_matches

                close = get_close_matches(name, known, 1, 0.8)
                begin = " For" if close else "; for"
                as_input = f"{begin} an input of this name, give inputs={{{name!r}: SHAPE}}" if "inputs" in known else ""
                lead = hint("argument", name) or (f"; did you mean {close[0]}?" if close else "") + as_input
                raise TypeError(f"there is no argument {name!r}{lead}; {title} takes {', '.join(known) or 'none'}")
        if len(given) > self.most:
            hidden = "self" in self.own
            most = counted(self.most - hidden, "argument")
            others = ", ".join(known[self.most - hidden :])
            by_name = f"; give the others by their names: {others}" if others else ""
            raise TypeError(f"{title} takes {most} without a name, not {len(given) - hidden}{by_name}")

    def misfit(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> str:
        """The complaint about an argument that is missing, or the first of a kind that its annotation excludes; empty if there is none."""
        home = self._function.__module__
        notes = {**{name: (note, home) for name, note in self._function.__annotations__.items()}, **(self._further() or {})}
        count, by_name = self._function.__code__.co_argcount, self._function.__kwdefaults__ or {}
        for name, value in zip(self._names[:count], given, strict=False):
            if name in named:
                order = ", ".join(one for one in self._names[:count] if one != "self")
                twice = f"{self._title(given)} gets {name} twice: {value!r} and {named[name]!r}"
                return f"{twice}; values without a name are, in this order: {order}"
        needed = (*self._names[len(given) : count - len(self._function.__defaults__ or ())], *self._names[count:])
        lead = _lead(given[0], self._function.__name__) if "self" in self.own else ""
        if missing := [name for name in needed if name not in named and name not in by_name]:
            return f"{self._title(given)} needs the argument {' and '.join(missing)}{lead}"
        further = ((self._more, one) for one in given[count:])
        for name, value in (*zip(self._names[:count], given, strict=False), *further, *named.items()):
            note, module = notes.get(name, (None, home) if name == "self" else notes.get(self._rest, (None, home)))
            if isinstance(note, str) and not _fits(value, self._meant(note, module)):
                try:
                    shown = repr(value)
                except ValueError:  # Python writes no number of so many digits
                    shown = "\n"
                shown = shown if len(shown) <= _LONGEST and "\n" not in shown else f"a value of the class {type(value).__name__}"
                told = f"{self._title(given)} takes {note.replace(' | ', ' or ')} as {name}, not {shown}"
                return f"{told}{lead}"
        return ""

    def _title(self, given: tuple[Any, ...]) -> str:
        name = self._function.__name__
        return f"{type(given[0]).__name__}.{name}" if given and "self" in self.own else name

    def _further(self) -> Mapping[str, tuple[Any, str]] | None:
        """The arguments that are keys of a `TypedDict`: the annotation and the module of each. None if the function takes any name."""
        note = self._function.__annotations__.get(self._rest, "")
        if not note.startswith("Unpack["):
            return None if self._rest else {}
        classes = self._meant(note.removeprefix("Unpack[")[:-1], self._function.__module__).__mro__[::-1]
        return {name: (one, cls.__module__) for cls in classes for name, one in getattr(cls, "__annotations__", {}).items()}

    def _meant(self, note: str, module: str) -> Any:
        """The type that an annotation means, with `Any` for a name that only type checkers know."""
        names = (builtins, typing, collections.abc, sys.modules[module])
        try:
            return eval(note, {}, defaultdict(lambda: Any, {name: known for one in names for name, known in vars(one).items()}))
        except (AttributeError, TypeError):
            return Any


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind that an annotation allows; a type variable and a protocol allow every value."""
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        # The function itself tells of a word that it does not know.
        return any(value is part or (isinstance(value, type(part)) and (value == part or isinstance(part, str))) for part in parts)
    if origin in (int, float):
        return hasattr(type(value), "__index__" if origin is int else "__float__")
    if origin in (None, bool):
        return value is None if origin is None else type(value).__name__.startswith("bool")
    try:
        is_one = isinstance(value, origin)
    except TypeError:  # a type variable, a protocol
        return True
    if not is_one or not isinstance(value, Collection) or isinstance(value, str):
        return is_one
    try:
        if isinstance(value, Mapping) and len(parts) == 2:
            return all(_fits(one, part) for pair in value.items() for one, part in zip(pair, parts, strict=True))
        if origin is tuple and parts and Ellipsis not in parts:
            return len(value) == len(parts) and all(map(_fits, value, parts))
        return len(parts) != 1 or all(_fits(one, parts[0]) for one in value)
    except TypeError:  # an array without axes
        return False


class Guessed:
    """A public object whose errors lead on: from an unknown name to the name for it, from an unknown argument to those of the method."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            if isinstance(member, FunctionType) and (not name.startswith("_") or name == "__getitem__"):
                setattr(cls, name, knowing(member))

    if not TYPE_CHECKING:  # which knows the names

        def __getattr__(self, name: str) -> NoReturn:
            lead = _lead(self, name)
            text = f"{type(self).__name__!r} has no attribute {name!r}{lead or ('' if name[0] == '_' else names(dir(self)))}"
            raise AttributeError(text, name=name, obj=None if lead else self)  # for an object, Python adds a guess of its own

        def __setattr__(self, name: str, value: Any) -> None:
            try:
                super().__setattr__(name, value)
            except AttributeError as error:
                raise AttributeError(f"{error}{_lead(self, f'{name}=')}", name=name, obj=self) from None


def _lead(of: object, name: str) -> str:
    """What stands for a name, by the class of an object and those above it."""
    return next(filter(None, [hint(cls.__name__, name) for cls in type(of).__mro__]), "")


class ByName(dict[str, str]):
    """Texts by name. A number finds one by its position, as OpenVINO's `model.outputs[0]` does."""

    def __missing__(self, key: object) -> str:
        if isinstance(key, SupportsIndex):
            return [*self.values()][key]
        raise KeyError(f"no name {key!r}; there are {', '.join(map(repr, self)) or 'none'}")
