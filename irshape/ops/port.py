"""The ports of an operation, as its class declares them and as its rule sees them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import ClassVar, Literal, TypeVar, cast

from irshape.shape.dim import Size, are_known
from irshape.shape.element_type import ANY, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Ends, Unreadable


class UnknownRank(Exception):
    """A rule reads the shape of an input of unknown rank, so it cannot tell the shapes of its outputs. That is no fault."""


class In:
    """An input port.

    `types` are the element types that it takes. `rank` or `min_rank` bound its rank. `value=True` says that the rule reads the
    elements of the tensor, so they are read from the weights or followed through the graph. An `optional` port may be absent; then
    its parameter is None. An optional port that is there only together with another one names that one as `along`. OpenVINO feeds a
    `filled` one by itself, so it may also be listed without an edge. A `variadic` port may be repeated; its parameter is
    a tuple, and all of them have one element type, unless the port is `mixed`. Several variadic ports in a row are repeated together.
    `like` names a port that has the same element type. `ranked=True` says that the rule is not asked if the rank of the tensor is not
    known; then no output has a known rank, unless `Out(rank=…)` says it. `pieces=True` says that OpenVINO reads each constant that a
    Concat before the port takes. `packed=True` says that OpenVINO unpacks elements of fewer than 8 bits; at other ports it reads them as
    whole bytes, or not at all. `ends=True` says that the rule reads the least and the greatest element of a Const, `ends="tuples"` that it
    reads them for each position on the last axis.

    The class of the operation sets `name` and `index`, the position among its inputs; `group`, the name that inputs of one element type
    share; and `stride`, the number of ports that are repeated together, of which this is one.
    """

    # A compiled class has no `__slots__`.
    FIELDS: ClassVar[tuple[str, ...]] = (
        "along", "ends", "filled", "group", "index", "like", "min_rank", "mixed", "name", "optional", "packed", "pieces", "rank", "ranked",
        "stride", "types", "value", "variadic",
    )  # fmt: skip
    __slots__ = FIELDS

    def __init__(
        self,
        types: frozenset[ElementType] = ANY,
        *,
        rank: int | None = None,
        min_rank: int = 0,
        value: bool = False,
        optional: bool = False,
        filled: bool = False,
        variadic: bool = False,
        like: str | None = None,
        ranked: bool = False,
        pieces: bool = False,
        packed: bool = False,
        ends: bool | Literal["tuples"] = False,
        along: str | None = None,
        mixed: bool = False,
    ) -> None:
        self.name = ""
        self.index = -1
        self.group = ""
        self.stride = 1
        self.types = types
        self.rank = rank
        self.min_rank = min_rank
        self.value = value
        self.optional = optional or filled
        self.filled = filled
        self.variadic = variadic
        self.like = like
        self.ranked = ranked
        self.pieces = pieces
        self.packed = packed
        self.ends = ends
        self.along = along
        self.mixed = mixed

    def label(self, position: int) -> str:
        """The name of the port, with its number if the port is variadic, for the input at a position of the layer."""
        return f"{self.name}[{(position - self.index) // self.stride}]" if self.variadic else self.name


class Out:
    """An output port.

    Its element type is `type`, or the type of the input `like`, or the value of the attribute `attribute`. Where the type of the input
    `like` is not known, another input of the same type tells it, unless `alone=True`. `rank` is the rank of the output if the rule ends
    because an input has no known rank. A `variadic` port stands for all further outputs.

    The class of the operation sets `name` and `index`, the position among its outputs, and `sources`, the positions of the inputs that may
    tell the element type.
    """

    FIELDS: ClassVar[tuple[str, ...]] = ("alone", "attribute", "index", "like", "name", "rank", "sources", "type", "variadic")
    __slots__ = FIELDS

    def __init__(
        self,
        type: ElementType | None = None,
        *,
        like: str | None = None,
        alone: bool = False,
        attribute: str | None = None,
        rank: int | None = None,
        variadic: bool = False,
    ) -> None:
        self.name = ""
        self.index = -1
        self.sources: tuple[int, ...] = ()
        self.type = type
        self.like = like
        self.alone = alone
        self.attribute = attribute
        self.rank = rank
        self.variadic = variadic


_Port = TypeVar("_Port", In, Out)


def placed(port: _Port, name: str, index: int) -> _Port:
    """The port under a name and at a position: the port itself, or a copy if a class has it already."""
    if port.name:
        original, port = port, type(port)()
        for field in original.FIELDS:
            setattr(port, field, getattr(original, field))
    port.name, port.index = name, index
    return port


class Input:
    """One input of a layer, as its rule sees it.

    `port` is its declaration, `index` its position in the layer, and `element_type` the type of its tensor.
    `partial_shape` is None where the rank is unknown, and `elements` where the values are. `source` identifies the tensor, and
    `is_literal` tells that it is a Const. `numbers` are the elements that the rule has read by `ctx.values`. `unreadable` is set where
    OpenVINO cannot read or compute the elements.

    A rule that reads `shape` or `rank` of an input of unknown rank ends there: no output has a known rank, unless `Out(rank=…)`
    says it. If the port declares its rank, `In(rank=…)`, the rule goes on with unknown sizes.
    """

    __slots__ = (
        "_assumed", "_ends", "_unknown_shape", "element_type", "elements", "index", "is_literal", "numbers", "partial_shape", "port",
        "source", "unreadable",
    )  # fmt: skip

    def __init__(
        self,
        port: In,
        index: int,
        source: int,
        element_type: ElementType,
        partial_shape: Shape,
        elements: Elements | None,
        is_literal: bool,
        unknown_shape: Callable[[int], tuple[Size, ...]],
        ends: Ends | None = None,
    ) -> None:
        self.port = port
        self.index = index
        self.source = source
        self.element_type = element_type
        self.partial_shape = partial_shape
        self.elements = elements
        self.is_literal = is_literal
        self.numbers: tuple[Size, ...] = ()
        self.unreadable: Unreadable | None = None
        self._unknown_shape = unknown_shape
        self._assumed: tuple[Size, ...] | None = None
        self._ends = ends

    @property
    def name(self) -> str:
        """The name of the port, with its number if the port is variadic."""
        return self.port.label(self.index)

    @property
    def is_ranked(self) -> bool:
        """Whether the number of axes is known."""
        return self.partial_shape is not None

    @property
    def shape(self) -> tuple[Size, ...]:
        """The size of each axis. Ends the rule if neither the tensor nor its port tells the rank."""
        if self.partial_shape is not None:
            return self.partial_shape
        if self.port.rank is None:
            raise UnknownRank
        return self.dims(self.port.rank)

    @property
    def rank(self) -> int:
        """The number of axes. Ends the rule if it is not known."""
        if self.partial_shape is None:
            raise UnknownRank
        return len(self.partial_shape)

    @property
    def axis_count(self) -> int:
        """The rank, for an operation at which OpenVINO takes a scalar for a tensor of one axis."""
        return max(self.rank, 1)

    @property
    def known_rank(self) -> int | None:
        """The number of axes, None if it is not known."""
        return None if self.partial_shape is None else len(self.partial_shape)

    def dims(self, rank: int) -> tuple[Size, ...]:
        """The size of each axis; if the rank is not known, `rank` unknown sizes."""
        if self.partial_shape is not None:
            return self.partial_shape
        if self._assumed is None or len(self._assumed) != rank:
            self._assumed = self._unknown_shape(rank)
        return self._assumed

    @property
    def count(self) -> int | None:
        """How many elements the tensor holds, None if its shape is not static."""
        shape = self.partial_shape
        return prod(shape) if shape is not None and are_known(shape) else None

    @property
    def ends(self) -> Ends | None:
        """The least and the greatest element of a constant, as the port asks for them; None if they are not known."""
        elements = self.elements
        if self._ends is None and elements and self.is_literal and not self.element_type.is_real:
            length = self.static_shape[-1] if self.port.ends == "tuples" and self.rank else 1
            self._ends = tuple([(min(elements[at::length]), max(elements[at::length])) for at in range(length)])
        return self._ends

    @property
    def values(self) -> Elements:
        """The elements, if they are known, as they are for `propagate`."""
        assert self.elements is not None, f"{self.name} has no known elements"
        return self.elements

    @property
    def static_shape(self) -> tuple[int, ...]:
        """The shape, if the elements are known; then it is static."""
        return cast("tuple[int, ...]", self.shape)
