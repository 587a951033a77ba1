"""The names of `typing` for modules that a check loads: `typing` takes longer to load than ten modules of irshape.

To a type checker they are those of `typing`. At run time only `Annotated`, `Literal`, `ClassVar` and `NamedTuple` mean something, and the
others stand in annotations that nobody reads.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO as IO
    from typing import Annotated as Annotated
    from typing import Any as Any
    from typing import ClassVar as ClassVar
    from typing import Final as Final
    from typing import Literal as Literal
    from typing import NamedTuple as NamedTuple
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import Self as Self
    from typing import SupportsIndex as SupportsIndex
    from typing import TextIO as TextIO
    from typing import TypeAlias as TypeAlias
    from typing import TypeGuard as TypeGuard
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import get_args as get_args
    from typing import get_origin as get_origin

    _Class = TypeVar("_Class", bound=type[tuple[object, ...]])
else:
    import sys
    from types import GenericAlias, UnionType

    class _Form:
        """A name that is followed by arguments in brackets: `Literal["max", "min"]`."""

        __slots__ = ("name",)

        def __init__(self, name):
            self.name = name

        def __repr__(self):
            return self.name

        def __getitem__(self, arguments):
            return GenericAlias(self, arguments)

    class _Annotated(_Form):
        """`Annotated`, of which one inside another becomes one."""

        def __getitem__(self, arguments):
            first, *marks = arguments
            return GenericAlias(self, (*(get_args(first) if get_origin(first) is self else (first,)), *marks))

    Annotated = _Annotated("Annotated")
    ClassVar, Final, Literal, TypeGuard = map(_Form, ("ClassVar", "Final", "Literal", "TypeGuard"))
    IO = NoReturn = Self = SupportsIndex = TextIO = TypeAlias = Any = Protocol = object

    def TypeVar(name, *constraints, **options):  # noqa: N802
        """Stand for a type variable."""
        return object

    def cast(type, value):
        """Give the value."""
        return value

    def get_origin(annotation):
        """The form, as here, of an annotation of this module or of `typing`, or the generic class; None for others."""
        if hasattr(annotation, "__metadata__"):
            return Annotated
        origin = UnionType if isinstance(annotation, UnionType) else getattr(annotation, "__origin__", None)
        typing = sys.modules.get("typing")
        return origin if typing is None else {typing.Literal: Literal, typing.ClassVar: ClassVar}.get(origin, origin)

    def get_args(annotation):
        """The arguments of an annotation of this module or of `typing`."""
        metadata = getattr(annotation, "__metadata__", None)
        return getattr(annotation, "__args__", ()) if metadata is None else (annotation.__origin__, *metadata)

    class _Maker(type):
        """Makes a named tuple of a class with annotated fields."""

        def __new__(cls, name, bases, members):
            if "__annotations__" not in members:  # from Python 3.14 on, a class has a function that gives them
                members["__annotations__"] = members.pop("__annotate_func__")(1)
            fields = tuple(members["__annotations__"])
            members["_field_defaults"] = {field: members.pop(field) for field in fields if field in members}
            return record(type(name, (_Named,), {"__slots__": (), "_fields": fields, **members}))

    class _Named(tuple):
        """The base of named tuples, which are those of `collections` and made much faster: no code is compiled for a class."""

        __slots__ = ()

        def __new__(cls, *values, **named):
            if named or len(values) != len(cls._fields):
                values = cls._completed(values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _completed(cls, values, named):
            """Give all values in their order. Raises TypeError as a function with these parameters would."""
            known = {**cls._field_defaults, **named}
            later = cls._fields[len(values) :]
            if wrong := [*(name for name in named if name not in later), *(name for name in later if name not in known)]:
                raise TypeError(f"{cls.__name__}() does not take, or lacks, the argument {wrong[0]!r}")
            if len(values) > len(cls._fields):
                raise TypeError(f"{cls.__name__}() takes {len(cls._fields)} arguments, got {len(values)}")
            return (*values, *(known[name] for name in later))

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **named):
            return type(self)(**{**self._asdict(), **named})

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in self._asdict().items()])})"

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})


def record(cls: _Class) -> _Class:
    """Let the items of a class of tuples be read by the names that its annotations give them."""
    for index, name in enumerate(names(cls)):
        setattr(cls, name, _tuplegetter(index, ""))
    return cls


def names(cls: type) -> list[str]:
    """The names that the annotations of a class give to its items; mypyc annotates `__slots__`, too."""
    return [name for name in cls.__annotations__ if name != "__slots__"]
