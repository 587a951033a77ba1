"""The operations. The package can be called: `irshape.ops("Relu")` describes one, as the command does."""

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A package whose name is a verb, too."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Takes and returns what `irshape.ops.describe.ops` does."""
        from irshape.ops.describe import ops

        return ops(*arguments, **named)


sys.modules[__name__].__class__ = _Package
