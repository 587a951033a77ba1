"""The attributes of a node as programs see them."""

from __future__ import annotations

from typing import Any, NoReturn


class Attributes(dict[str, Any]):
    """The attributes of an operation, by name. A model does not change, so neither do they; `irshape.edit` makes a draft that does."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError('the attributes of a model do not change: edit a draft, irshape.edit(model)["layer"].set(attribute=value)')

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Attributes, (dict(self),)
