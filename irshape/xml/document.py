"""A file as it stands: layers, ports and edges with the offset of each, before anything is checked against an op.

Offsets count bytes of `Document.source` from 0. `Document.position` turns one into line and column, and
`Document.attribute_offset` finds an attribute inside a start tag, so that neither costs anything until it is printed.
"""

from irshape.report.diagnostic import Diagnostic


class Port:
    """A `<port>`: `dims` as recorded (-1 is unknown), `None` where the port has no `<dim>`.

    `offset` is that of `<port`, `end` that of the first byte after the port. `value` holds the numbers a specification
    example gives in a comment, flat, and the shape of their nesting in `value_shape`.
    """

    __slots__ = ("dims", "end", "id", "names", "offset", "precision", "value", "value_shape")

    def __init__(self, id: int, precision: str | None, offset: int) -> None:
        self.id = id
        self.precision = precision
        self.names: str | None = None
        self.dims: tuple[int, ...] | None = None
        self.offset = offset
        self.end = offset
        self.value: tuple[int | float, ...] | None = None
        self.value_shape: tuple[int, ...] | None = None


class Layer:
    """A `<layer>`: `attributes` are those of its first `<data>`, as text; -1 marks an offset of something absent."""

    __slots__ = ("attributes", "bodies", "data_offset", "end", "id", "inputs", "name", "offset", "outputs", "port_maps", "type", "version")

    def __init__(self, id: int, name: str, type: str, version: str, offset: int) -> None:
        self.id = id
        self.name = name
        self.type = type
        self.version = version
        self.offset = offset
        self.end = offset
        self.data_offset = -1
        self.attributes: dict[str, str] = {}
        self.inputs: list[Port] = []
        self.outputs: list[Port] = []
        self.bodies: dict[str, Graph] | None = None
        self.port_maps: list[PortMap] | None = None


class Edge:
    """An `<edge>` between the ports of two layers, by their ids in the file."""

    __slots__ = ("from_layer", "from_port", "offset", "to_layer", "to_port")

    def __init__(self, from_layer: int, from_port: int, to_layer: int, to_port: int, offset: int) -> None:
        self.from_layer = from_layer
        self.from_port = from_port
        self.to_layer = to_layer
        self.to_port = to_port
        self.offset = offset


class PortMap:
    """One child of a `port_map`, `then_port_map`, `else_port_map` or `back_edges`: its tag, attributes and place."""

    __slots__ = ("attributes", "map", "offset", "tag")

    def __init__(self, map: str, tag: str, attributes: dict[str, str], offset: int) -> None:
        self.map = map
        self.tag = tag
        self.attributes = attributes
        self.offset = offset


class Graph:
    """The layers and edges of a net or a body."""

    __slots__ = ("edges", "end", "layers", "offset")

    def __init__(self, offset: int) -> None:
        self.layers: list[Layer] = []
        self.edges: list[Edge] = []
        self.offset = offset
        self.end = offset


class Document:
    """A file that was read: its bytes, its graph and what was wrong with its XML.

    `version` is the IR version (10 or 11; 0 for a specification example, which has none), `is_example` tells a bare
    `<layer>` from a `<net>`. `folder` holds the path the `.bin` is looked for beside, or None for bytes and trees.
    """

    __slots__ = ("diagnostics", "encoding", "graph", "is_example", "name", "path", "source", "version")

    def __init__(self, source: bytes, path: str | None) -> None:
        self.source = source
        self.path = path
        self.encoding = "utf-8"
        self.version = 0
        self.name = ""
        self.is_example = False
        self.graph = Graph(0)
        self.diagnostics: list[Diagnostic] = []

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset, both from 1, the column in characters."""
        raise NotImplementedError

    def attribute_offset(self, tag_offset: int, name: str) -> int:
        """Where attribute `name` stands in the start tag at `tag_offset`; the tag's own offset if it is not there."""
        raise NotImplementedError
