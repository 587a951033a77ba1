"""Nets whose layers have names and can be edited, written out with ids in any order."""

from random import Random
from typing import Any, NamedTuple

from tests.support.ir import Net, Ref


class Layer:
    """A layer by name: its type and attributes, and the names of the layers it reads."""

    def __init__(self, type: str, *inputs: str, version: str = "opset1", value: Any = None, of: str = "i64", **attributes: Any) -> None:
        self.type = type
        self.inputs = list(inputs)
        self.version = version
        self.value = value
        self.of = of
        self.attributes = attributes


class Written(NamedTuple):
    """The text of an IR and the bytes of its weights."""

    xml: bytes
    weights: bytes


class Sketch:
    """Layers by name, each with one output of f32 (a Const: of its own type)."""

    def __init__(self, **layers: Layer) -> None:
        self.layers = layers

    def write(self, seed: int | None = None) -> Written:
        """The IR, its layers in the order of the sketch or in another; a seed also moves the constants."""
        random = Random(seed)
        net, refs = Net(), {}
        waiting = list(self.layers)
        if seed is not None:
            random.shuffle(waiting)
            net.weights += bytes(random.randrange(64))
        while waiting:
            name = next(name for name in waiting if all(one in refs for one in self.layers[name].inputs))
            waiting.remove(name)
            refs[name] = self._add(net, self.layers[name], [refs[one] for one in self.layers[name].inputs])
            net.layers[-1] = net.layers[-1].replace(f'name="{self.layers[name].type.lower()}_{len(net.layers) - 1}"', f'name="{name}"', 1)
        return Written(net.xml.encode(), net.bin)

    @staticmethod
    def _add(net: Net, layer: Layer, inputs: list[Ref]) -> Ref | None:
        if layer.type == "Parameter":
            return net.parameter(layer.value)
        if layer.type == "Const":
            return net.const(layer.value, layer.of)
        outputs = [] if layer.type == "Result" else ["FP32"]
        return next(iter(net.layer(layer.type, inputs, outputs, layer.version, **layer.attributes)), None)
