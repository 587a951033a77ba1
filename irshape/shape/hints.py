"""The names of `typing` for modules that a check loads: `typing` takes longer to load than ten modules of irshape.

To a type checker they are those of `typing`. At run time only `Annotated`, `Literal`, `ClassVar` and `NamedTuple` mean something, and the
others stand in annotations that nobody reads.
"""

from __future__ import annotations

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
else:
    import sys
    from collections import namedtuple
    from types import GenericAlias

    class _Form:
        """A name that is followed by arguments in brackets: `Literal["max", "min"]`."""

        __slots__ = ("name",)

        def __init__(self, name):
            self.name = name

        def __repr__(self):
            return self.name

        def __getitem__(self, arguments):
            return GenericAlias(self, arguments)

    Annotated, ClassVar, Final, Literal, TypeGuard = map(_Form, ("Annotated", "ClassVar", "Final", "Literal", "TypeGuard"))
    IO = NoReturn = Self = SupportsIndex = TextIO = TypeAlias = Any = Protocol = object

    def TypeVar(name, *constraints, **options):  # noqa: N802
        """Stand for a type variable."""
        return object

    def cast(type, value):
        """Give the value."""
        return value

    def get_origin(annotation):
        """The form, as here, of an annotation of this module or of `typing`, or the generic class; None for others."""
        origin = getattr(annotation, "__origin__", None)
        if hasattr(annotation, "__metadata__"):
            return Annotated
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
            fields = members["__annotations__"]
            made = namedtuple(name, fields, defaults=[members.pop(one) for one in fields if one in members], module=members["__module__"])
            for key, member in members.items():
                if key not in ("__module__", "__qualname__"):
                    setattr(made, key, member)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
