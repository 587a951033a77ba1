"""Classes of `typing` that cost little when a run starts, and marks for mypyc, which compiles some modules of some wheels.

The modules that every check loads take `NamedTuple` and `TypedDict` from here.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import TypedDict as TypedDict

    from mypy_extensions import mypyc_attr as mypyc_attr
else:
    # mypy_extensions need not be installed where irshape runs.
    _Class = TypeVar("_Class", bound=type)

    def mypyc_attr(**marks: Any) -> Callable[[_Class], _Class]:
        """Mark a class.

        `allow_interpreted_subclasses` is for the base of a class that is not compiled, `serializable` for a class whose objects are pickled
        as they are, `native_class=False` for a tuple. mypyc 2.4 makes objects of a class that is only `serializable` without `__init__`, so
        such a class and each class that extends it have both marks.
        """
        return lambda cls: cls

    # The classes of `typing` compile each annotation that is text, and the first compilation of a process takes a millisecond.

    class _Fields(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = body.get("__annotations__", {})
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Fields, "NamedTuple", (), {})

    class TypedDict(dict[str, Any]):
        """A dict whose keys are annotated; the annotations stay text."""

        def __init_subclass__(cls, total: bool = True) -> None:
            super().__init_subclass__()
