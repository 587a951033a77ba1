"""Marks for mypyc, which compiles some modules of some wheels; the interpreter ignores them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
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
