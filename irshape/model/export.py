"""A node and a graph in forms for other programs: attributes, records, a picture, a graph of NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from irshape.model.model import Model, OutputPort
from irshape.shape.element_type import ElementType

if TYPE_CHECKING:
    from irshape.report.diagram import Diagram


class Attributes(dict[str, Any]):
    """The attributes of an operation, by name. A model does not change, so neither do they; `irshape.edit` makes a draft that does."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError('the attributes of a model do not change: edit a draft, irshape.edit(model)["layer"].set(attribute=value)')

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Attributes, (dict(self),)


Facts: TypeAlias = Callable[[OutputPort], tuple[str, str, str]]
"""The element type, the shape in OpenVINO's notation and the shape with formulas, of a port."""


def records(model: Model, facts: Facts) -> list[dict[str, Any]]:
    """A record for each output port, bodies included, with the facts of each port from `facts`."""
    return [
        {
            "layer": node.key, "name": node.name, "type": node.type, "version": node.version, "path": node.model.path, "port": port.id,
            "element_type": element_type, "shape": shape, "formula": formula,
        }
        for graph in model.graphs()
        for node in graph
        for port in node.outputs
        for element_type, shape, formula in [facts(port)]
    ]  # fmt: skip


def diagram(model: Model, facts: Facts, faulty: Container[str] = ()) -> Diagram:
    """The layers and connections, with the facts of each port from `facts`; `faulty` holds the keys of layers with faults."""
    from irshape.report.diagram import Arrow, Box, Diagram

    nodes = [node for graph in model.graphs() for node in graph]
    boxes = [Box(one.key, one.name, one.type, one.version, one.model.path, one.key in faulty) for one in nodes]
    ends = ((source, port) for node in nodes for port in node.inputs if (source := port.source) is not None)
    arrows = (Arrow(source.node.key, source.id, port.node.key, port.id, *facts(source)) for source, port in ends)
    return Diagram(model.name, boxes, arrows)


def recorded(port: OutputPort) -> tuple[str, str, str]:
    """The element type and the shape that the file records for a port; the shape is empty without `<dim>`."""
    record = port.record
    element_type = ElementType.from_precision(record.precision) if record.precision else None
    shape = "" if record.dims is None else f"[{','.join(['?' if dim < 0 else str(dim) for dim in record.dims])}]"
    return element_type.name if element_type else "dynamic", shape, shape
